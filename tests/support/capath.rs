//! Directories of certificates and hash links, as tests build them and look at them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::der::{self, Certificate, oids};
use super::{EntryKind, in_two_threads, openssl_view, tree_state};

pub fn root(number: u64) -> Certificate {
    Certificate::root(&format!("Castore Test Root {number:03}"), number)
}

/// Another certificate of one subject.
pub fn same(number: u64) -> Certificate {
    Certificate::root("Castore Test One Subject", number)
}

/// A CRL of an issuer; another number gives another list.
pub fn crl(issuer: &Certificate, number: u8) -> String {
    let algorithm = der::algorithm(oids::ECDSA_SHA256, &[]);
    let signed = der::sequence(&[
        der::integer(&[1]),
        algorithm.clone(),
        issuer.subject.clone(),
        der::utc_time(&format!("2601010000{number:02}Z")),
        der::utc_time("450101000000Z"),
    ]);
    let signature = der::bit_string(&der::sequence(&[der::integer(&[1]), der::integer(&[1])]));
    der::pem("X509 CRL", &der::sequence(&[signed, algorithm, signature]))
}

/// A key that belongs to nothing: OpenSSL reads it as an Ed25519 key (RFC 8410 section 7).
pub fn key() -> String {
    let inner = der::octet_string(&[7; 32]);
    let algorithm = der::algorithm(oids::ED25519, &[]);
    der::pem("PRIVATE KEY", &der::sequence(&[der::integer(&[0]), algorithm, der::octet_string(&inner)]))
}

pub fn hash(certificate: &Certificate) -> String {
    hashes(certificate).0
}

pub fn old_hash(certificate: &Certificate) -> String {
    hashes(certificate).1
}

/// Both hashes, by OpenSSL, which is asked once a subject.
pub fn hashes(certificate: &Certificate) -> (String, String) {
    static KNOWN: Mutex<BTreeMap<Vec<u8>, (String, String)>> = Mutex::new(BTreeMap::new());
    let known = KNOWN.lock().expect("no thread panicked").get(&certificate.subject).cloned();
    known.unwrap_or_else(|| {
        let view = openssl_view(certificate.pem().as_bytes()).expect("OpenSSL reads it");
        let hashes = (view.subject_hash, view.subject_hash_old);
        let mut known = KNOWN.lock().expect("no thread panicked");
        known.insert(certificate.subject.clone(), hashes.clone());
        hashes
    })
}

pub fn put(directory: &Path, name: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
    fs::write(directory.join(name.as_ref()), content).expect("the file can be written");
}

pub fn link(directory: &Path, name: impl AsRef<OsStr>, target: impl AsRef<Path>) {
    symlink(target, directory.join(name.as_ref())).expect("the link can be made");
}

/// `1.pem` and so on.
pub fn numbered(directory: &Path, certificates: impl IntoIterator<Item = Certificate>) {
    for (number, certificate) in certificates.into_iter().enumerate() {
        put(directory, format!("{:03}.pem", number + 1), certificate.pem());
    }
}

/// Waits for a program to end; `false` where it does not.
pub fn wait(child: &mut Child, patience: Duration) -> bool {
    let start = Instant::now();
    loop {
        if child.try_wait().expect("the child is ours").is_some() {
            return true;
        }
        if start.elapsed() > patience {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// All links of a directory: name and target. Paths that differ between two directories are written alike.
pub fn links(directory: &Path) -> BTreeMap<OsString, PathBuf> {
    let base = fs::canonicalize(directory.join("..")).expect("the directory");
    tree_state(directory)
        .into_iter()
        .filter_map(|(name, state)| Some((name.into_os_string(), state.target?)))
        .map(|(name, target)| match target.strip_prefix(&base) {
            Ok(rest) => (name, Path::new("BASE").join(rest)),
            Err(_) => (name, target),
        })
        .collect()
}

/// Contents of all that is no link, by name; a directory has none.
pub fn contents(directory: &Path) -> BTreeMap<PathBuf, (Option<String>, u32)> {
    tree_state(directory)
        .into_iter()
        .filter(|(_, state)| state.kind != EntryKind::Link)
        .map(|(name, state)| (name, (state.sha256, state.mode)))
        .collect()
}

/// `work` on each item; panics with all that panicked.
pub fn all_wrong<T: Sync>(items: &[T], name: impl Fn(&T) -> String + Sync, work: impl Fn(&T) + Sync) {
    let wrong: Vec<String> = in_two_threads(items, |_, item| {
        // What the closure holds is not looked at again after a panic.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(item)));
        result.err().map(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            format!("{}: {}", name(item), text.unwrap_or_default())
        })
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{} of {}:\n\n{}", wrong.len(), items.len(), wrong.join("\n\n"));
}
