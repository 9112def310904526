//! `intermediate`: an intermediate CA in a trust store.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{Certificate, Store};

/// An intermediate CA in a trust store.
pub const RULE: Rule = Rule {
    id: "intermediate",
    severity: Severity::Notice,
    title: "an intermediate CA in a trust store",
    why: "OpenSSL does not take it for an anchor unless told to accept partial chains; GnuTLS, Go and rustls do.",
    example: "\"Example Issuing CA 3\" beside \"Example Root CA\"",
    help: "put its root into the store; let servers send the intermediate",
    source: "OpenSSL X509_V_FLAG_PARTIAL_CHAIN; measured: OpenSSL refuses where GnuTLS, Go, rustls and NSS accept",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (id, certificate) in store.certificate_ids() {
        let Some(detail) = detail(certificate) else { continue };
        findings.push(Finding {
            rule: RULE.id,
            detail,
            certificate: Some(id),
            ignored: false,
            places: certificate.occurrences.iter().copied().map(Place::Occurrence).collect(),
        });
    }
}

fn detail(certificate: &Certificate) -> Option<Detail> {
    (certificate.ca == Some(true) && !certificate.self_issued).then_some(Detail::Intermediate)
}
