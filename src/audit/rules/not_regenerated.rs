//! `not-regenerated`: a certificate of the bundle that the next update loses.

use std::collections::BTreeMap;

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{CertificateId, Store};

/// A certificate of the bundle that the next update loses.
pub const RULE: Rule = Rule {
    id: "not-regenerated",
    severity: Severity::Error,
    title: "a certificate of the bundle that the next update loses",
    why: "It was put into ca-certificates.crt by hand; update-ca-certificates writes the file anew from its own inputs.",
    example: "cat corp-root.pem >> /etc/ssl/certs/ca-certificates.crt",
    help: "put it into /usr/local/share/ca-certificates as a .crt file, and run update-ca-certificates",
    source: "update-ca-certificates(8)",
    check,
};

fn check(store: &Store, context: &Context, findings: &mut Vec<Finding>) {
    let Some(updater) = &context.updater else { return };
    let mut lost: BTreeMap<CertificateId, Vec<Place>> = BTreeMap::new();
    for (id, occurrence) in store.occurrences_of(updater.bundle) {
        if !updater.kept.contains(&store.certificate(occurrence.certificate).fingerprint) {
            lost.entry(occurrence.certificate).or_default().push(Place::Occurrence(id));
        }
    }
    for (certificate, places) in lost {
        findings.push(Finding::about(RULE.id, Detail::NotRegenerated, certificate, places));
    }
}
