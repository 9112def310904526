//! The *split* layout: OpenSSL's own default file goes away, so that its defaults look certificates up by hash when a
//! connection needs them; the public bundle stays whole. What must hold before, and what may stand in for the file.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::PathBuf;

use crate::certificate::trust::TrustAttributes;
use crate::certificate::validity::ValidityState;
use crate::openssl::hash_link::LinkKind;
use crate::openssl::name_hash;
use crate::store::model::{CertificateId, File, FileId, LinkState, Store};
use crate::store::source::SourceId;

/// Whether OpenSSL's defaults trust the same by hash as with a CAfile beside the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    /// Distinct certificates of the CAfile.
    pub of: usize,
    /// What would change without the file, and for which certificate.
    pub obstacles: Vec<(CertificateId, Obstacle)>,
}

/// What would change without a CAfile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// No look-up finds it: OpenSSL would not trust it any more.
    Missing,
    /// A look-up finds it in this file, where its trust attributes are others.
    OtherTrust(FileId),
    /// A look-up of its subject opens this file, which not everybody may read who may read the CAfile.
    Private(FileId),
    /// The directory alone holds it, and the CAfile hides it now: OpenSSL asks the directory for no subject that the
    /// file has.
    Gained(FileId),
}

impl Coverage {
    /// Whether nothing is lost or won without the file. A CAfile without a certificate proves nothing.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.of > 0 && self.obstacles.is_empty()
    }
}

/// Looks each certificate of a CAfile up in a directory, as OpenSSL's `by_dir.c` does.
#[must_use]
pub fn coverage(store: &Store, bundle: SourceId, directory: SourceId, now: i64) -> Coverage {
    let mut held: BTreeMap<CertificateId, BTreeSet<Option<&TrustAttributes>>> = BTreeMap::new();
    for (_, occurrence) in store.occurrences_of(bundle) {
        held.entry(occurrence.certificate).or_default().insert(occurrence.trust.as_ref());
    }
    let hash = |id: CertificateId| store.certificate(id).subject_hash;
    let hashes: HashSet<u32> = held.keys().filter_map(|&id| hash(id)).collect();
    let readable = store.files_of(bundle).fold(0, |bits, (_, file)| bits | read_bits(file));
    let looked_up: Vec<(u32, FileId)> = store
        .links_of(directory)
        .filter(|link| link.states.contains(&LinkState::Ok) && link.hash_link().kind == LinkKind::Certificate)
        .filter_map(|link| Some((link.hash_link().hash, *link.leads_to.as_ref().ok()?)))
        .filter(|(hash, _)| hashes.contains(hash))
        .collect();
    let mut obstacles = Vec::new();
    for (&id, attributes) in &held {
        if !store.is_reachable(directory, id) {
            obstacles.push((id, Obstacle::Missing));
            continue;
        }
        let files = || looked_up.iter().filter(|(of, _)| Some(*of) == hash(id)).map(|&(_, file)| file);
        let loaded =
            |file: FileId| store.loads_by_directory(file).0.into_iter().map(|at| store.occurrence(at));
        let found: BTreeSet<Option<&TrustAttributes>> = files()
            .flat_map(loaded)
            .filter(|occurrence| occurrence.certificate == id)
            .map(|occurrence| occurrence.trust.as_ref())
            .collect();
        if found != *attributes
            && let Some(file) =
                files().find(|&file| loaded(file).any(|occurrence| occurrence.certificate == id))
        {
            obstacles.push((id, Obstacle::OtherTrust(file)));
        }
        // A file that cannot be opened ends the look-up: those behind it are not found either.
        if let Some(file) = files().find(|&file| readable & !read_bits(store.file(file)) != 0) {
            obstacles.push((id, Obstacle::Private(file)));
        }
    }
    let subject = |id: CertificateId| name_hash::canonical(store.certificate(id).der.fields().subject);
    let subjects: HashSet<Option<Vec<u8>>> = held.keys().map(|&id| subject(id)).collect();
    for (id, certificate) in store.certificate_ids() {
        let hidden = !held.contains_key(&id)
            && certificate.validity.at(now) != ValidityState::Expired
            && subjects.contains(&subject(id));
        if hidden
            && let Some(file) =
                store.reachable_as(directory, id).iter().find_map(|link| link.leads_to.clone().ok())
        {
            obstacles.push((id, Obstacle::Gained(file)));
        }
    }
    Coverage { of: held.len(), obstacles }
}

/// Who may read a file, as mode bits; everybody where that is not known.
fn read_bits(file: &File) -> u32 {
    file.seen.map_or(0o444, |seen| seen.mode & 0o444)
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
