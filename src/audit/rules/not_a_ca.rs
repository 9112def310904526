//! `not-a-ca`: a certificate in a bundle that may not issue others.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;
use crate::store::source::SourceKind;

/// A certificate in a bundle that may not issue others.
pub const RULE: Rule = Rule {
    id: "not-a-ca",
    severity: Severity::Warning,
    title: "a certificate in a bundle that may not issue others",
    why: "As an anchor it vouches for itself alone; more often it got there by mistake.",
    example: "a self-signed server certificate with CA:FALSE in ca-certificates.crt",
    help: "take it out, unless a program pins this very certificate",
    source: "OpenSSL check_ca (crypto/x509/v3_purp.c); RFC 5280 section 4.2.1.9",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (id, certificate) in store.certificate_ids() {
        if certificate.ca != Some(false) {
            continue;
        }
        let places: Vec<Place> = certificate
            .occurrences
            .iter()
            .filter(|&&occurrence| {
                let source = store.file(store.occurrence(occurrence).file).source;
                store.source(source).kind == SourceKind::CaFile
            })
            .map(|&occurrence| Place::Occurrence(occurrence))
            .collect();
        if !places.is_empty() {
            findings.push(Finding::about(RULE.id, Detail::NotACa, id, places));
        }
    }
}
