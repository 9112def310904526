//! `link-outside`: a hash link to a file outside the directory.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{LinkState, Store};

/// A hash link to a file outside the directory.
pub const RULE: Rule = Rule {
    id: "link-outside",
    severity: Severity::Notice,
    title: "a hash link to a file outside the directory",
    why: "It works; openssl rehash and c_rehash delete it, and the certificate is not found any more.",
    example: "a7d666e7.0 -> ../share/corp.pem",
    help: "castore rehash keeps it",
    source: "OpenSSL apps/rehash.c: links whose target is no entry of the directory are stale to it",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for link in store.links().iter().filter(|link| link.states.contains(&LinkState::Outside)) {
        findings.push(Finding::at(
            RULE.id,
            Detail::LinkOutside { target: link.target.clone().unwrap_or_default() },
            vec![Place::Path(store.source(link.source).path.join(&link.name))],
        ));
    }
}
