//! `trust-conflict`: copies of one certificate that give different answers for TLS servers.

use super::everywhere;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;

/// Copies of one certificate that give different answers for TLS servers.
pub const RULE: Rule = Rule {
    id: "trust-conflict",
    severity: Severity::Error,
    title: "copies of one certificate that give different answers for TLS servers",
    why: "Which copy a library meets first decides whether it trusts the certificate.",
    example: "a CERTIFICATE block, and a TRUSTED CERTIFICATE block of the same certificate that rejects serverAuth",
    help: "decide which copy is right, and remove the other; castore compact takes the rejection",
    source: "OpenSSL X509_add1_reject_object, x509(1) \"Trust Settings\"",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (id, certificate) in store.certificate_ids() {
        let rejects = |occurrence| {
            let trust = &store.occurrence(occurrence).trust;
            trust.as_ref().is_some_and(crate::certificate::trust::TrustAttributes::rejects_server_auth)
        };
        let rejecting = certificate.occurrences.iter().filter(|&&occurrence| rejects(occurrence)).count();
        if rejecting > 0 && rejecting < certificate.occurrences.len() {
            findings.push(Finding::about(
                RULE.id,
                Detail::TrustConflict { rejecting, of: certificate.occurrences.len() },
                id,
                everywhere(certificate),
            ));
        }
    }
}
