//! What rustls loads of files: the argument is a file with one path a line; for each, one line is printed: `ok` or
//! `refused`, then the SHA-256 of each certificate that a `RootCertStore` takes. Without an argument it loads the
//! machine's store, where SSL_CERT_FILE and SSL_CERT_DIR say that it is, and prints how many certificates it takes.
#![allow(clippy::disallowed_methods, reason = "castore's fence is not for this program")]

use std::io::{BufWriter, Write as _};
use std::path::Path;

use rustls::RootCertStore;
use sha2::{Digest as _, Sha256};

fn main() {
    let Some(list) = std::env::args_os().nth(1) else {
        let found = rustls_native_certs::load_native_certs();
        println!("{}", RootCertStore::empty().add_parsable_certificates(found.certs).0);
        return;
    };
    let list = std::fs::read_to_string(list).expect("the list can be read");
    let mut out = BufWriter::new(std::io::stdout().lock());
    for path in list.lines() {
        let found = rustls_native_certs::load_certs_from_paths(Some(Path::new(path)), None);
        // The store does not say which ones it takes: it is given one at a time, and then all of them.
        let taken: Vec<_> = found
            .certs
            .iter()
            .filter(|certificate| {
                RootCertStore::empty().add_parsable_certificates([(*certificate).clone()]) == (1, 0)
            })
            .collect();
        let counts = RootCertStore::empty().add_parsable_certificates(found.certs.iter().cloned());
        assert_eq!(counts, (taken.len(), found.certs.len() - taken.len()), "{path}");
        write!(out, "{}", if taken.is_empty() { "refused" } else { "ok" }).unwrap();
        for certificate in taken {
            write!(out, " ").unwrap();
            for byte in Sha256::digest(certificate) {
                write!(out, "{byte:02x}").unwrap();
            }
        }
        writeln!(out).unwrap();
    }
    out.flush().unwrap();
}
