//! `der-file`: a certificate in DER where PEM readers look.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::content::Encoding;
use crate::store::model::{OccurrenceId, Store};

/// A certificate in DER where PEM readers look.
pub const RULE: Rule = Rule {
    id: "der-file",
    severity: Severity::Warning,
    title: "a certificate in DER where PEM readers look",
    why: "OpenSSL, GnuTLS, Go and rustls read PEM from a CAfile or CApath and see nothing in it.",
    example: "corp.crt as Windows exports it (\"DER encoded binary\")",
    help: "openssl x509 -inform DER -in FILE -out FILE.pem, or castore compact FILE --bundle FILE.pem",
    source: "OpenSSL X509_load_cert_file with X509_FILETYPE_PEM; measured: keytool alone reads it",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (index, occurrence) in store.occurrences().iter().enumerate() {
        if occurrence.encoding == Encoding::Der {
            findings.push(Finding::about(
                RULE.id,
                Detail::DerFile,
                occurrence.certificate,
                vec![Place::Occurrence(OccurrenceId(index))],
            ));
        }
    }
}
