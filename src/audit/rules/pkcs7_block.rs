//! `pkcs7-block`: certificates inside a PKCS#7 message.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::content::OtherKind;
use crate::store::model::{FileId, Store};

/// Certificates inside a PKCS#7 message.
pub const RULE: Rule = Rule {
    id: "pkcs7-block",
    severity: Severity::Warning,
    title: "certificates inside a PKCS#7 message",
    why: "No TLS library reads them from a CAfile or CApath.",
    example: "a .p7b that Windows exported, renamed to .pem",
    help: "openssl pkcs7 -print_certs -in FILE, or castore compact FILE --bundle NEW where the file holds nothing else",
    source: "RFC 2315; OpenSSL X509_load_cert_crl_file takes certificates and CRLs alone",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (index, file) in store.files().iter().enumerate() {
        for block in &file.others {
            if let OtherKind::Pkcs7 { certificates } = &block.kind {
                findings.push(Finding::at(
                    RULE.id,
                    Detail::Pkcs7Block { certificates: certificates.len() },
                    vec![Place::File { file: FileId(index), line: block.line, offset: block.span.start }],
                ));
            }
        }
    }
}
