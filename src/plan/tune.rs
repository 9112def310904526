//! The *split* layout: OpenSSL's own default file goes away, so that its defaults look certificates up by hash when a
//! connection needs them; the public bundle stays whole. What must hold before, and what may stand in for the file.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::PathBuf;

use crate::certificate::validity::ValidityState;
use crate::openssl::name_hash;
use crate::store::model::{CertificateId, FileId, Store};
use crate::store::source::SourceId;

/// Whether OpenSSL finds by hash what a CAfile holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Distinct certificates of the CAfile.
    pub of: usize,
    /// Those that no look-up finds: without the file OpenSSL would not trust them any more.
    pub missing: Vec<CertificateId>,
}

impl Coverage {
    /// Whether nothing is lost without the file. A CAfile without a certificate proves nothing.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.of > 0 && self.missing.is_empty()
    }
}

/// Looks each certificate of a CAfile up in a directory, as OpenSSL's `by_dir.c` does.
#[must_use]
pub fn coverage(store: &Store, bundle: SourceId, directory: SourceId) -> Coverage {
    let mut all: Vec<CertificateId> =
        store.occurrences_of(bundle).map(|(_, occurrence)| occurrence.certificate).collect();
    all.sort_unstable();
    all.dedup();
    let missing = all.iter().copied().filter(|&id| !store.is_reachable(directory, id)).collect();
    Coverage { of: all.len(), missing }
}

/// The member of a directory that stands in best for a CAfile of one certificate: valid the longest, a CA, the only
/// certificate of its subject (OpenSSL asks the directory for no subject that the file has), alone in its file, found by
/// a look-up. `before`: its name must sort before this one, as `openssl rehash` links the first file of a certificate.
#[must_use]
pub fn stub(store: &Store, directory: SourceId, now: i64, before: Option<&OsStr>) -> Option<FileId> {
    let path = store.source(directory).path.as_path();
    let sorts = |name: &PathBuf| {
        before.is_none_or(|before| {
            name.parent() == Some(path) && name.file_name().is_some_and(|name| name < before)
        })
    };
    let fitting = stubs(store, directory, now).into_iter();
    let fitting = fitting.filter(|&id| store.file(id).names.iter().any(sorts));
    fitting.max_by_key(|&id| {
        let occurrence = store.occurrences_of_file(id).next();
        let end = occurrence.and_then(|(_, at)| store.certificate(at.certificate).validity.not_after.instant);
        (end, Reverse(store.file(id).path()))
    })
}

/// The member with this certificate (SHA-256 in hex), where it is still one that can stand in for a CAfile.
#[must_use]
pub fn stub_like(store: &Store, directory: SourceId, now: i64, fingerprint: &str) -> Option<FileId> {
    stubs(store, directory, now).into_iter().find(|&id| {
        let mut occurrences = store.occurrences_of_file(id);
        occurrences.any(|(_, at)| store.certificate(at.certificate).fingerprint.to_string() == fingerprint)
    })
}

/// The members that can stand in for a CAfile.
fn stubs(store: &Store, directory: SourceId, now: i64) -> Vec<FileId> {
    let mut subjects: HashMap<Option<Vec<u8>>, usize> = HashMap::new();
    for certificate in store.certificates() {
        *subjects.entry(name_hash::canonical(certificate.der.fields().subject)).or_default() += 1;
    }
    let members = store.members_of(directory);
    let fits = members.filter(|(id, file)| {
        let mut occurrences = store.occurrences_of_file(*id);
        let (Some((_, occurrence)), None) = (occurrences.next(), occurrences.next()) else { return false };
        let certificate = store.certificate(occurrence.certificate);
        let subject = name_hash::canonical(certificate.der.fields().subject);
        file.plain
            && certificate.refused_by.is_empty()
            && certificate.ca == Some(true)
            && certificate.self_issued
            && certificate.validity.at(now) == ValidityState::Valid
            && subject.is_some()
            && subjects.get(&subject) == Some(&1)
            && store.is_reachable(directory, occurrence.certificate)
    });
    fits.map(|(id, _)| id).collect()
}
