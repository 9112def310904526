//! `distrust-flattened`: a distrusted certificate that stands as a trusted one.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{OccurrenceId, Store};

/// A distrusted certificate that stands as a trusted one.
pub const RULE: Rule = Rule {
    id: "distrust-flattened",
    severity: Severity::Error,
    title: "a distrusted certificate that stands as a trusted one",
    why: "The text before the block says that it is distrusted; OpenSSL, GnuTLS, Go and rustls read no text and trust it.",
    example: "# Explicitly Distrust DigiNotar Root CA, before a plain CERTIFICATE block",
    help: "remove the block, or write it as a TRUSTED CERTIFICATE that rejects (openssl x509 -addreject serverAuth -trustout)",
    source: "p11-kit: x-distrusted, and the comments of its extractors; NSS certdata.txt: CKT_NSS_NOT_TRUSTED",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (index, occurrence) in store.occurrences().iter().enumerate() {
        // Trust attributes say it in a form that OpenSSL obeys and the others skip.
        if let (Some(distrust), None) = (occurrence.distrust, &occurrence.trust) {
            findings.push(Finding::about(
                RULE.id,
                Detail::DistrustFlattened(distrust),
                occurrence.certificate,
                vec![Place::Occurrence(OccurrenceId(index))],
            ));
        }
    }
}
