//! `writable-by-others`: a store that everybody may write.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;
use crate::store::source::Writable;

/// A store that everybody may write.
pub const RULE: Rule = Rule {
    id: "writable-by-others",
    severity: Severity::Warning,
    title: "a store that everybody may write",
    why: "Who can write the store decides whom the machine trusts.",
    example: "chmod -R 777 /etc/ssl/certs in a container build",
    help: "chmod o-w",
    source: "chmod(1); CWE-732",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    by_mode(store, Writable::Others, RULE.id, findings);
}

/// Files and directories of a store with this kind of permission.
pub(super) fn by_mode(store: &Store, kind: Writable, rule: &'static str, findings: &mut Vec<Finding>) {
    for (id, _) in store.source_ids().filter(|(_, source)| source.writable == Some(kind)) {
        let detail = Detail::WritableBy { kind, directory: true };
        findings.push(Finding::at(rule, detail, vec![Place::Source(id)]));
    }
    for file in store.files() {
        if file.writable == Some(kind) && !file.occurrences.is_empty() {
            let place = Place::Path(file.path().to_owned());
            let detail = Detail::WritableBy { kind, directory: false };
            findings.push(Finding::at(rule, detail, vec![place]));
        }
    }
}
