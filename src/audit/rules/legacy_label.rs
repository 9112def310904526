//! `legacy-label`: certificates under the labels X509 CERTIFICATE or TRUSTED CERTIFICATE.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::pem::label::Label;
use crate::store::content::Encoding;
use crate::store::model::{FileId, Store};

/// Certificates under the labels X509 CERTIFICATE or TRUSTED CERTIFICATE.
pub const RULE: Rule = Rule {
    id: "legacy-label",
    severity: Severity::Warning,
    title: "certificates under the labels X509 CERTIFICATE or TRUSTED CERTIFICATE",
    why: "GnuTLS (TRUSTED), Go and rustls (both) skip such blocks; OpenSSL reads them.",
    example: "-----BEGIN TRUSTED CERTIFICATE----- from openssl x509 -trustout",
    help: "castore compact FILE --bundle FILE writes them as CERTIFICATE",
    source: "OpenSSL PEM_STRING_X509_OLD, PEM_STRING_X509_TRUSTED; RFC 7468 section 5.1",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for index in 0..store.files().len() {
        let places: Vec<Place> = store
            .occurrences_of_file(FileId(index))
            .filter(|(_, occurrence)| {
                matches!(
                    occurrence.encoding,
                    Encoding::Pem(Label::X509Certificate | Label::TrustedCertificate)
                )
            })
            .map(|(id, _)| Place::Occurrence(id))
            .collect();
        if !places.is_empty() {
            findings.push(Finding::at(RULE.id, Detail::LegacyLabel { blocks: places.len() }, places));
        }
    }
}
