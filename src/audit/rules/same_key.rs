//! `same-key`: certificates of one key under different subjects.

use super::same_subject;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Severity};
use crate::audit::rule::Rule;
use crate::openssl::name_hash;
use crate::store::model::{CertificateId, Store};
use std::collections::{BTreeMap, BTreeSet};

/// Certificates of one key under different subjects.
pub const RULE: Rule = Rule {
    id: "same-key",
    severity: Severity::Notice,
    title: "certificates of one key under different subjects",
    why: "They are no duplicates: a renamed CA, or a cross-certificate.",
    example: "a CA that changed its name and kept its key",
    help: "nothing; castore keeps them",
    source: "RFC 5280 section 4.2.1.1",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    let mut by_key: BTreeMap<_, Vec<CertificateId>> = BTreeMap::new();
    for (id, certificate) in store.certificate_ids() {
        by_key.entry(certificate.spki).or_default().push(id);
    }
    let mut groups: Vec<_> = by_key.into_values().filter(|group| group.len() > 1).collect();
    groups.sort_unstable();
    for group in groups {
        let subjects: BTreeSet<_> = group
            .iter()
            .map(|&id| name_hash::canonical(store.certificate(id).der.fields().subject))
            .collect();
        // One subject is `reissued`.
        if subjects.len() > 1 {
            let places = same_subject::places(store, &group);
            findings.push(Finding::at(RULE.id, Detail::SameKey { group }, places));
        }
    }
}
