//! `leftover`: a file that a tool or an editor left behind.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{Store, Trouble};

/// A file that a tool or an editor left behind.
pub const RULE: Rule = Rule {
    id: "leftover",
    severity: Severity::Notice,
    title: "a file that a tool or an editor left behind",
    why: "castore does not read it as trust; readers of whole directories (GnuTLS, Go) may.",
    example: "ca-certificates.crt.new of an interrupted update-ca-certificates",
    help: "remove it",
    source: "dpkg(1), rpm(8), update-ca-certificates(8): names of their copies and temporary files",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for entry in store.odd_entries().iter().filter(|entry| entry.trouble == Trouble::Leftover) {
        findings.push(Finding::at(RULE.id, Detail::Leftover, vec![Place::Path(entry.path.clone())]));
    }
}
