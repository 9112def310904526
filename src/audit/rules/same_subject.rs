//! `same-subject`: certificates of one subject with different keys.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::openssl::name_hash;
use crate::store::model::{CertificateId, Store};
use std::collections::{BTreeMap, BTreeSet};

/// Certificates of one subject with different keys.
pub const RULE: Rule = Rule {
    id: "same-subject",
    severity: Severity::Notice,
    title: "certificates of one subject with different keys",
    why: "All of them are needed. In a CApath they share one hash: HASH.0, HASH.1, and so on.",
    example: "two generations of a CA under one name, with different keys",
    help: "nothing; castore keeps them, and their order",
    source: "OpenSSL get_cert_by_subject (crypto/x509/by_dir.c); X509_NAME_cmp(3)",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for group in groups(store) {
        let keys: BTreeSet<_> = group.iter().map(|&id| store.certificate(id).spki).collect();
        // A group of one key is `reissued` and nothing else.
        if keys.len() > 1 {
            let places = places(store, &group);
            findings.push(Finding::at(RULE.id, Detail::SameSubject { group }, places));
        }
    }
}

/// The certificates whose subjects are the same name to OpenSSL, where there are several.
pub(super) fn groups(store: &Store) -> Vec<Vec<CertificateId>> {
    let mut by_hash: BTreeMap<u32, Vec<CertificateId>> = BTreeMap::new();
    for (id, certificate) in store.certificate_ids() {
        if let Some(hash) = certificate.subject_hash {
            by_hash.entry(hash).or_default().push(id);
        }
    }
    let mut groups = Vec::new();
    for candidates in by_hash.into_values().filter(|group| group.len() > 1) {
        // Four bytes of hash may agree by chance.
        let mut by_name: BTreeMap<Option<Vec<u8>>, Vec<CertificateId>> = BTreeMap::new();
        for id in candidates {
            let name = name_hash::canonical(store.certificate(id).der.fields().subject);
            by_name.entry(name).or_default().push(id);
        }
        groups.extend(by_name.into_values().filter(|group| group.len() > 1));
    }
    groups.sort_unstable();
    groups
}

/// The first place of each.
pub(super) fn places(store: &Store, group: &[CertificateId]) -> Vec<Place> {
    group
        .iter()
        .filter_map(|&id| store.certificate(id).occurrences.first().copied())
        .map(Place::Occurrence)
        .collect()
}
