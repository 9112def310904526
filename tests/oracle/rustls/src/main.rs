//! Reads a list of paths, one a line, and prints for each what a rustls program has of it: `ok` and the SHA-256 of each
//! certificate that `RootCertStore` takes of what rustls-native-certs reads, or `refused` where that is none.

use std::collections::BTreeSet;
use std::path::Path;

use rustls::RootCertStore;
use sha2::{Digest, Sha256};

fn main() {
    let list = std::env::args_os().nth(1).expect("a file with paths");
    for path in std::fs::read_to_string(list).expect("the list can be read").lines() {
        let read = rustls_native_certs::load_certs_from_paths(Some(Path::new(path)), None);
        let taken: BTreeSet<String> = read
            .certs
            .into_iter()
            .filter(|certificate| RootCertStore::empty().add(certificate.clone()).is_ok())
            .map(|certificate| {
                Sha256::digest(&certificate).iter().map(|byte| format!("{byte:02x}")).collect()
            })
            .collect();
        let word = if taken.is_empty() { "refused" } else { "ok" };
        let line: Vec<String> = std::iter::once(word.to_owned()).chain(taken).collect();
        println!("{}", line.join(" "));
    }
}
