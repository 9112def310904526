//! `duplicate`: the same certificate twice in one file.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::certificate::trust::TrustAttributes;
use crate::store::model::{CertificateId, FileId, OccurrenceId, Store};
use std::collections::BTreeMap;

/// The same certificate twice in one file.
pub const RULE: Rule = Rule {
    id: "duplicate",
    severity: Severity::Warning,
    title: "the same certificate twice in one file",
    why: "Every reader parses it twice: the time that a bundle costs grows with its blocks.",
    example: "a corporate root appended to the bundle by two configuration tools",
    help: "castore compact FILE --bundle FILE keeps the first of each",
    source: "measured: a bundle with every certificate twice costs OpenSSL, GnuTLS and PHP twice the time",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for index in 0..store.files().len() {
        let mut seen: BTreeMap<(CertificateId, Option<&TrustAttributes>), Vec<OccurrenceId>> =
            BTreeMap::new();
        for (id, occurrence) in store.occurrences_of_file(FileId(index)) {
            seen.entry((occurrence.certificate, occurrence.trust.as_ref())).or_default().push(id);
        }
        for ((certificate, _), places) in seen {
            if places.len() > 1 {
                findings.push(Finding::about(
                    RULE.id,
                    Detail::Duplicate,
                    certificate,
                    places.into_iter().map(Place::Occurrence).collect(),
                ));
            }
        }
    }
}
