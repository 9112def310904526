//! `malformed-certificate`: a certificate that OpenSSL or GnuTLS refuses.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::readers::Reader;
use crate::readers::reading::Reason;
use crate::store::content::OtherKind;
use crate::store::model::{FileId, OccurrenceId, Store};

/// A certificate that OpenSSL or GnuTLS refuses.
pub const RULE: Rule = Rule {
    id: "malformed-certificate",
    severity: Severity::Error,
    title: "a certificate that OpenSSL or GnuTLS refuses",
    why: "OpenSSL and GnuTLS refuse the certificate, and the whole file with it.",
    example: "-----BEGIN CERTIFICATE----- around the base64 of something else",
    help: "get the certificate again from its source, or leave the block out: castore compact --malformed drop",
    source: "OpenSSL X509_load_cert_crl_file (crypto/x509/by_file.c); RFC 5280 section 4.1",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (index, file) in store.files().iter().enumerate() {
        for block in &file.others {
            if let OtherKind::NotACertificate(error) = block.kind {
                findings.push(Finding::at(
                    RULE.id,
                    Detail::MalformedCertificate { error },
                    vec![Place::File { file: FileId(index), line: block.line, offset: block.span.start }],
                ));
            }
        }
    }
    for (index, occurrence) in store.occurrences().iter().enumerate() {
        let id = OccurrenceId(index);
        let by: Vec<(Reader, Reason)> =
            store.refusals(id).into_iter().filter(|(reader, _)| reader.is_strict()).collect();
        if !by.is_empty() {
            findings.push(Finding::about(
                RULE.id,
                Detail::RefusedCertificate { by },
                occurrence.certificate,
                vec![Place::Occurrence(id)],
            ));
        }
    }
}
