//! `intermediate`: an intermediate CA in a trust store.

use super::each_certificate;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Severity};
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
    each_certificate(store, RULE.id, findings, detail);
}

fn detail(certificate: &Certificate) -> Option<Detail> {
    (certificate.ca == Some(true) && !certificate.self_issued).then_some(Detail::Intermediate)
}
