//! `one-sided`: CA certificates in the CAfile alone, or in the CApath alone.

use super::unreachable;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{CertificateId, OccurrenceId, Store};
use crate::store::source::{SourceId, SourceKind};
use std::collections::{BTreeMap, BTreeSet};

/// CA certificates in the CAfile alone, or in the CApath alone.
pub const RULE: Rule = Rule {
    id: "one-sided",
    severity: Severity::Warning,
    title: "CA certificates in the CAfile alone, or in the CApath alone",
    why: "Programs that read only the one trust other CAs than programs that read only the other.",
    example: "a root copied into /etc/ssl/certs by hand and rehashed, not given to update-ca-certificates",
    help: "put them in both, or in neither: castore compact DIR --bundle FILE --capath NEW makes both from all",
    source: "SSL_CTX_load_verify_locations(3): curl, Python and others are told one, the other, or both",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (directory, source) in store.source_ids() {
        if source.kind != SourceKind::CaPath {
            continue;
        }
        let bundles: Vec<SourceId> = store.bundles_inside(directory).collect();
        if bundles.is_empty() {
            continue;
        }
        // A member that look-ups miss is an error of its own.
        let unfound = unreachable::unfound(store, directory);
        let mut in_bundles = BTreeSet::new();
        for &bundle in &bundles {
            let mut missing: BTreeMap<CertificateId, OccurrenceId> = BTreeMap::new();
            for (id, occurrence) in store.occurrences_of(bundle) {
                let certificate = occurrence.certificate;
                in_bundles.insert(certificate);
                let is_ca = store.certificate(certificate).ca != Some(false);
                if is_ca && !store.is_reachable(directory, certificate) && !unfound.contains_key(&certificate)
                {
                    missing.entry(certificate).or_insert(id);
                }
            }
            report(bundle, directory, missing, findings);
        }
        let mut only_here: BTreeMap<CertificateId, OccurrenceId> = BTreeMap::new();
        for (file, content) in store.members_of(directory) {
            if store.source(content.source).inside == Some(directory) {
                continue;
            }
            for (id, occurrence) in store.occurrences_of_file(file) {
                let certificate = occurrence.certificate;
                let is_ca = store.certificate(certificate).ca != Some(false);
                if is_ca && store.is_reachable(directory, certificate) && !in_bundles.contains(&certificate) {
                    only_here.entry(certificate).or_insert(id);
                }
            }
        }
        report(directory, bundles[0], only_here, findings);
    }
}

fn report(
    here: SourceId,
    missing_from: SourceId,
    certificates: BTreeMap<CertificateId, OccurrenceId>,
    findings: &mut Vec<Finding>,
) {
    if !certificates.is_empty() {
        findings.push(Finding::at(
            RULE.id,
            Detail::OneSided { here, missing_from, certificates: certificates.len() },
            certificates.into_values().map(Place::Occurrence).collect(),
        ));
    }
}
