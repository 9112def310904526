//! `wrong-hash-link`: a hash link whose target has another hash.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::openssl::hash_link::LinkKind;
use crate::store::content::OtherKind;
use crate::store::model::{Link, LinkState, Store};

/// A hash link whose target has another hash.
pub const RULE: Rule = Rule {
    id: "wrong-hash-link",
    severity: Severity::Warning,
    title: "a hash link whose target has another hash",
    why: "A look-up opens the file in vain: what it is meant to lead to is not found by this name.",
    example: "a7d666e7.0 -> corp.pem, after corp.pem was replaced by another root",
    help: "castore rehash DIR",
    source: "X509_NAME_hash(3); openssl-rehash(1)",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for link in store.links() {
        let state =
            link.states.iter().find(|state| matches!(state, LinkState::WrongHash | LinkState::Unusable));
        let (Some(&state), true) = (state, link.target.is_some()) else { continue };
        let path = store.source(link.source).path.join(&link.name);
        findings.push(Finding::at(
            RULE.id,
            Detail::WrongHashLink { link: link.hash_link(), right: right_hash(store, link), state },
            vec![Place::Path(path)],
        ));
    }
}

/// The hash of the first certificate (or CRL issuer) in the target.
fn right_hash(store: &Store, link: &Link) -> Option<u32> {
    let &file = link.leads_to.as_ref().ok()?;
    match link.hash_link().kind {
        LinkKind::Certificate => {
            let (_, occurrence) = store.occurrences_of_file(file).next()?;
            store.certificate(occurrence.certificate).subject_hash
        }
        LinkKind::Crl => store.file(file).others.iter().find_map(|block| match block.kind {
            OtherKind::Crl { issuer_hash, .. } => issuer_hash,
            _ => None,
        }),
    }
}
