//! `subdirectory`: a directory inside a CApath.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;
use crate::store::model::Trouble;

/// A directory inside a CApath.
pub const RULE: Rule = Rule {
    id: "subdirectory",
    severity: Severity::Notice,
    title: "a directory inside a CApath",
    why: "OpenSSL does not look into it, and neither does castore.",
    example: "/etc/ssl/certs/java/",
    help: "nothing; name it by itself to have it read",
    source: "OpenSSL by_dir.c looks up names in the directory alone",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for entry in store.odd_entries().iter().filter(|entry| entry.trouble == Trouble::Directory) {
        findings.push(Finding::at(
            RULE.id,
            Detail::Subdirectory { link: entry.target.is_some() },
            vec![Place::Path(entry.path.clone())],
        ));
    }
}
