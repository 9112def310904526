//! `expired`: an expired certificate.

use super::everywhere;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Severity};
use crate::audit::rule::Rule;
use crate::certificate::validity::ValidityState;
use crate::store::model::{Certificate, Store};
use std::collections::HashSet;

/// An expired certificate.
pub const RULE: Rule = Rule {
    id: "expired",
    severity: Severity::Warning,
    title: "an expired certificate",
    why: "OpenSSL and GnuTLS trust nothing below it, and it can hide a valid certificate of its subject; rustls and Java still accept an expired anchor.",
    example: "DST Root CA X3, since 2021-09-30",
    help: "castore compact drops it and lists it; --expired keep keeps it",
    source: "RFC 5280 section 6.1.3; measured: OpenSSL, GnuTLS, Go and NSS refuse, rustls and Java accept",
    check,
};

fn check(store: &Store, context: &Context, findings: &mut Vec<Finding>) {
    let state = |certificate: &Certificate| certificate.validity.at(context.now);
    let expired =
        || store.certificate_ids().filter(|(_, certificate)| state(certificate) == ValidityState::Expired);
    if expired().next().is_none() {
        return;
    }
    let valid: HashSet<_> = store
        .certificates()
        .iter()
        .filter(|certificate| state(certificate) == ValidityState::Valid)
        .map(|certificate| (certificate.spki, certificate.subject_hash))
        .collect();
    for (id, certificate) in expired() {
        let Some(not_after) = certificate.validity.not_after.instant else { continue };
        let superseded = valid.contains(&(certificate.spki, certificate.subject_hash));
        findings.push(Finding::about(
            RULE.id,
            Detail::Expired { not_after, superseded },
            id,
            everywhere(certificate),
        ));
    }
}
