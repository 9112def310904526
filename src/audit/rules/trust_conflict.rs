//! `trust-conflict`: copies of one certificate that give different answers for TLS servers.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::certificate::trust::TrustAttributes;
use crate::openssl::locations::is_for_other_purposes;
use crate::store::model::{OccurrenceId, Store};
use std::os::unix::ffi::OsStrExt as _;

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
        if certificate.occurrences.len() < 2 {
            continue;
        }
        let rejects = |occurrence: &OccurrenceId| {
            store.occurrence(*occurrence).trust.as_ref().is_some_and(TrustAttributes::rejects_server_auth)
        };
        // A bundle for mail or code says nothing about servers.
        let speaks = |occurrence: &OccurrenceId| {
            let path = store.file(store.occurrence(*occurrence).file).path();
            !path.file_name().is_some_and(|name| is_for_other_purposes(name.as_bytes()))
        };
        let copies: Vec<OccurrenceId> = certificate.occurrences.iter().copied().filter(speaks).collect();
        let rejecting = copies.iter().filter(|occurrence| rejects(occurrence)).count();
        if rejecting > 0 && rejecting < copies.len() {
            let detail = Detail::TrustConflict { rejecting, of: copies.len() };
            let places = copies.into_iter().map(Place::Occurrence).collect();
            findings.push(Finding::about(RULE.id, detail, id, places));
        }
    }
}
