//! `reissued`: certificates of one subject and key.

use super::same_subject;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;
use std::collections::BTreeMap;

/// Certificates of one subject and key.
pub const RULE: Rule = Rule {
    id: "reissued",
    severity: Severity::Notice,
    title: "certificates of one subject and key",
    why: "They are no duplicates: dates, constraints or serials differ. OpenSSL uses the first that it meets, GnuTLS the last.",
    example: "a root renewed with the same key: one until 2030, one until 2036",
    help: "nothing, as long as one of them is valid; castore never merges them",
    source: "OpenSSL X509_STORE_CTX_get1_issuer; measured with GnuTLS 3.7: the last of a list wins",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for group in same_subject::groups(store) {
        let mut by_key: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for &id in &group {
            by_key.entry(store.certificate(id).spki).or_default().push(id);
        }
        let mut same_key: Vec<_> = by_key.into_values().filter(|group| group.len() > 1).collect();
        same_key.sort_unstable();
        for group in same_key {
            let places = same_subject::places(store, &group);
            findings.push(Finding::at(RULE.id, Detail::Reissued { group }, places));
        }
    }
}
