//! `dead-capath`: a directory of hash links of which none resolves.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;
use crate::store::source::SourceKind;

/// A directory of hash links of which none resolves.
pub const RULE: Rule = Rule {
    id: "dead-capath",
    severity: Severity::Error,
    title: "a directory of hash links of which none resolves",
    why: "OpenSSL finds no certificate in it. It comes from copying the directory without the files that its links point to.",
    example: "COPY --from=build /etc/ssl/certs /etc/ssl/certs, without /usr/share/ca-certificates",
    help: "copy with the links followed (cp -L), or copy the files that the links name as well",
    source: "OpenSSL get_cert_by_subject (crypto/x509/by_dir.c)",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (id, source) in store.source_ids() {
        if source.kind == SourceKind::CaPath && is_dead(store, id) {
            findings.push(Finding::at(
                RULE.id,
                Detail::DeadCapath { links: store.links_of(id).count() },
                vec![Place::Source(id)],
            ));
        }
    }
}

/// Whether none of a directory's hash links leads to a file.
pub(super) fn is_dead(store: &Store, directory: crate::store::source::SourceId) -> bool {
    let mut links = store.links_of(directory).peekable();
    links.peek().is_some() && links.all(|link| link.leads_to.is_err())
}
