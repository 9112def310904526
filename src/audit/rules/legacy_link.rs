//! `legacy-link`: hash links of OpenSSL 0.9.8.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{LinkState, Store};

/// Hash links of OpenSSL 0.9.8.
pub const RULE: Rule = Rule {
    id: "legacy-link",
    severity: Severity::Notice,
    title: "hash links of OpenSSL 0.9.8",
    why: "OpenSSL 1.0.0 and later never look for these names (MD5 of the subject).",
    example: "links made by c_rehash, which always makes both kinds",
    help: "castore rehash DIR removes them",
    source: "X509_NAME_hash_old; openssl-rehash(1) -old, -compat",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (id, source) in store.source_ids() {
        let places: Vec<Place> = store
            .links_of(id)
            .filter(|link| link.states.contains(&LinkState::Legacy))
            .map(|link| Place::Path(source.path.join(&link.name)))
            .collect();
        if !places.is_empty() {
            findings.push(Finding::at(RULE.id, Detail::LegacyLink { links: places.len() }, places));
        }
    }
}
