//! `bad-validity`: dates that are reversed or cannot be read.

use super::everywhere;
use crate::audit::Context;
use crate::audit::finding::{BadValidity, Detail, Finding, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;

/// Dates that are reversed or cannot be read.
pub const RULE: Rule = Rule {
    id: "bad-validity",
    severity: Severity::Warning,
    title: "dates that are reversed or cannot be read",
    why: "OpenSSL compares no date that is not written as RFC 5280 demands: such a certificate never verifies, and OpenSSL 4.0 refuses the whole file for some of them.",
    example: "notAfter 2401010000Z, without seconds",
    help: "ask the CA for a certificate with proper dates; castore keeps it and never takes it for expired",
    source: "OpenSSL X509_cmp_time (crypto/x509/x509_vfy.c); RFC 5280 sections 4.1.2.5.1 and 4.1.2.5.2",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (id, certificate) in store.certificate_ids() {
        let validity = &certificate.validity;
        let times = [validity.not_before, validity.not_after];
        let what = if times.iter().any(|time| time.instant.is_none()) {
            BadValidity::Unreadable
        } else if validity.is_reversed() {
            BadValidity::Reversed
        } else if times.iter().any(|time| !time.strict) {
            BadValidity::NotStrict
        } else {
            continue;
        };
        findings.push(Finding::about(RULE.id, Detail::BadValidity(what), id, everywhere(certificate)));
    }
}
