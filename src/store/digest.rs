//! The digest of a set of anchors: equal digests, equal trust.

use std::collections::BTreeSet;

use super::content::Encoding;
use super::model::{Occurrence, Store};
use super::source::SourceId;
use crate::certificate::fingerprint::Fingerprint;
use crate::certificate::trust::TrustAttributes;

/// SHA-256 over the sorted distinct items: each the fingerprint's bytes, followed by the DER of its trust attributes
/// where there are any.
pub fn of<'a>(occurrences: impl Iterator<Item = &'a Occurrence>, store: &Store) -> Fingerprint {
    let items: BTreeSet<(Fingerprint, Option<&TrustAttributes>)> = occurrences
        .map(|occurrence| (store.certificate(occurrence.certificate).fingerprint, occurrence.trust.as_ref()))
        .collect();
    let mut bytes = Vec::with_capacity(items.len() * 32);
    for (fingerprint, trust) in items {
        bytes.extend_from_slice(fingerprint.as_bytes());
        bytes.extend_from_slice(trust.map_or(&[], TrustAttributes::der));
    }
    Fingerprint::of(&bytes)
}

/// The digest of one source. A CApath's covers its own files, not the CAfile beside it.
#[must_use]
pub fn of_source(store: &Store, source: SourceId) -> Fingerprint {
    of(store.occurrences_of(source).map(|(_, occurrence)| occurrence), store)
}

/// The digest of a whole store: the CA certificates that some reader loads as anchors. A host's own leaf, or DER that
/// nobody reads, does not make it differ.
#[must_use]
pub fn of_store(store: &Store) -> Fingerprint {
    let counts = |occurrence: &&Occurrence| {
        matches!(occurrence.encoding, Encoding::Pem(_))
            && store.certificate(occurrence.certificate).ca != Some(false)
            && !occurrence.trust.as_ref().is_some_and(TrustAttributes::rejects_server_auth)
    };
    of(store.occurrences().iter().filter(counts), store)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_the_digest_of_nothing() {
        let store = Store::default();
        // SHA-256 of no bytes, FIPS 180-4.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(of_store(&store).to_string(), empty);
    }
}
