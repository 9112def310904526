//! `unlinked`: members of a CApath without a hash link.

use super::unreachable;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;
use crate::store::source::SourceKind;

/// Members of a CApath without a hash link.
pub const RULE: Rule = Rule {
    id: "unlinked",
    severity: Severity::Notice,
    title: "members of a CApath without a hash link",
    why: "OpenSSL does not look them up. That is as it should be for site certificates and chains.",
    example: "/etc/ssl/certs/www.example.org.pem, a site certificate",
    help: "castore rehash DIR, if they are meant as trust anchors",
    source: "OpenSSL get_cert_by_subject (crypto/x509/by_dir.c)",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (directory, source) in store.source_ids() {
        if source.kind != SourceKind::CaPath {
            continue;
        }
        let unlinked: Vec<_> =
            unreachable::missed(store, directory).into_iter().filter(|missed| missed.why.is_none()).collect();
        if !unlinked.is_empty() {
            findings.push(Finding::at(
                RULE.id,
                Detail::Unlinked { directory, certificates: unlinked.len() },
                unlinked.into_iter().flat_map(|missed| missed.places).map(Place::Occurrence).collect(),
            ));
        }
    }
}
