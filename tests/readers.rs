//! What the store says of a reader is what the reader says: the short way for plain files included.
#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a test that reads files")]

mod support;

use std::collections::BTreeSet;

use castore::certificate::fingerprint::Fingerprint;
use castore::readers::Reader;
use castore::store::load::load_bytes;
use castore::store::model::FileId;
use support::inputs;

#[test]
fn the_view_of_a_store_is_the_readers_own() {
    let Some(inputs) = inputs::inputs() else { return };
    let (mut plain, mut odd) = (0, 0);
    for input in inputs {
        let store = load_bytes("b.pem", &input.bytes);
        let file = store.file(FileId(0));
        if file.occurrences.is_empty() {
            continue;
        }
        if file.plain {
            plain += 1;
        } else {
            odd += 1;
        }
        for &reader in Reader::DEFAULT {
            let reading = reader.read(&input.bytes);
            let loads: BTreeSet<Fingerprint> =
                reading.loads.iter().map(|loaded| loaded.fingerprint).collect();
            let view = store.file_loads(FileId(0), reader);
            assert_eq!(view.certificates, loads, "{}: {reader}", input.name);
            assert_eq!(
                view.refused.map(|miss| (miss.offset, miss.line, miss.reason)),
                reading.refused.map(|miss| (miss.offset, miss.line, miss.reason)),
                "{}: {reader}",
                input.name
            );
        }
    }
    // Both ways were taken.
    assert!(plain > 300 && odd > 100, "{plain} plain, {odd} odd");
}
