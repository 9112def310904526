//! `no-hash-links`: a directory of certificates without any hash link.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;
use crate::store::source::SourceKind;

/// A directory of certificates without any hash link.
pub const RULE: Rule = Rule {
    id: "no-hash-links",
    severity: Severity::Warning,
    title: "a directory of certificates without any hash link",
    why: "As a CApath it is empty to OpenSSL; readers of whole directories (GnuTLS, Go, rustls) see its files.",
    example: "mkdir ca; cp *.pem ca; curl --capath ca https://...",
    help: "castore rehash DIR",
    source: "openssl-rehash(1); OpenSSL get_cert_by_subject (crypto/x509/by_dir.c)",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (id, source) in store.source_ids() {
        // A directory of nothing but CAfiles (mounted ConfigMaps, Alpine's) is no CApath.
        if source.kind != SourceKind::Directory {
            continue;
        }
        let certificates = store.occurrences_of(id).count();
        if certificates > 0 {
            findings.push(Finding::at(
                RULE.id,
                Detail::NoHashLinks { certificates },
                vec![Place::Source(id)],
            ));
        }
    }
}
