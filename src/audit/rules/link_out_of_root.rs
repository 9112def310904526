//! `link-out-of-root`: a link that leads out of the root.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;

/// A link that leads out of the root.
pub const RULE: Rule = Rule {
    id: "link-out-of-root",
    severity: Severity::Error,
    title: "a link that leads out of the root",
    why: "Inside the image or chroot it leads elsewhere than where it was made, or nowhere.",
    example: "ln -s ../../../../build/corp.pem /image/etc/ssl/certs/corp.pem",
    help: "copy the file into the tree, and link it from there",
    source: "path_resolution(7): '..' in the root directory stays there; openat2(2) RESOLVE_IN_ROOT",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (link, target) in store.leading_out() {
        findings.push(Finding::at(
            RULE.id,
            Detail::LinkOutOfRoot { target: target.clone() },
            vec![Place::Path(link.clone())],
        ));
    }
}
