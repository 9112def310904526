//! `ignored-anchor`: a local CA that update-ca-certificates ignores.

use std::collections::HashSet;

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;

/// A local CA that update-ca-certificates ignores.
pub const RULE: Rule = Rule {
    id: "ignored-anchor",
    severity: Severity::Error,
    title: "a local CA that update-ca-certificates ignores",
    why: "The administrator put it there to be trusted; only names that end in .crt are read, and nobody is told.",
    example: "cp corp-root.pem /usr/local/share/ca-certificates/; update-ca-certificates",
    help: "rename the file to .crt, and run update-ca-certificates",
    source: "update-ca-certificates(8)",
    check,
};

fn check(store: &Store, context: &Context, findings: &mut Vec<Finding>) {
    let Some(updater) = &context.updater else { return };
    let there: HashSet<_> = store
        .occurrences_of(updater.bundle)
        .map(|(_, occurrence)| store.certificate(occurrence.certificate).fingerprint)
        .collect();
    for (path, certificates) in &updater.ignored {
        let lacking = certificates.iter().filter(|fingerprint| !there.contains(fingerprint)).count();
        if lacking > 0 {
            findings.push(Finding::at(
                RULE.id,
                Detail::IgnoredAnchor { certificates: lacking },
                vec![Place::Path(path.clone())],
            ));
        }
    }
}
