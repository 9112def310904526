//! `no-certificates`: a named input without any certificate.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;
use crate::store::source::{Source, SourceId, SourceKind};

/// A named input without any certificate.
pub const RULE: Rule = Rule {
    id: "no-certificates",
    severity: Severity::Error,
    title: "a named input without any certificate",
    why: "OpenSSL, GnuTLS and curl fail on a CAfile without a certificate, or trust nobody.",
    example: "`curl -o ca.pem https://...` that saved the HTML of an error page",
    help: "name the file that was meant, or make it again from its source",
    source: "OpenSSL X509_load_cert_crl_file (crypto/x509/by_file.c): X509_R_NO_CERTIFICATE_OR_CRL_FOUND",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (id, source) in store.source_ids().filter(|(_, source)| source.named) {
        let detail = match source.kind {
            SourceKind::Other => {
                let Some((_, file)) = store.files_of(id).next() else { continue };
                Detail::NoCertificates { shape: file.shape }
            }
            SourceKind::Directory | SourceKind::CaPath if !holds_any(store, id) => {
                Detail::NoCertificates { shape: None }
            }
            _ => continue,
        };
        findings.push(Finding::at(RULE.id, detail, vec![Place::Source(id)]));
    }
}

/// Whether the directory holds a certificate, or one that was looked into below it does.
fn holds_any(store: &Store, directory: SourceId) -> bool {
    let top = &store.source(directory).path;
    let below = |source: &Source| !source.named && source.inside.is_none() && source.path.starts_with(top);
    let mut sources = store.source_ids().filter(|(id, source)| *id == directory || below(source));
    sources.any(|(id, _)| {
        store.bundles_inside(id).next().is_some()
            || store.members_of(id).any(|(_, file)| !file.occurrences.is_empty())
    })
}
