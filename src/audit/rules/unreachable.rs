//! `unreachable`: a trust anchor that no look-up by hash finds.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity, Unreachable};
use crate::audit::rule::Rule;
use crate::openssl::hash_link::LinkKind;
use crate::openssl::hash_link::LinkName;
use crate::openssl::locations::is_bundle_name;
use crate::store::model::{CertificateId, FileId, Link, LinkState, OccurrenceId, Store};
use crate::store::source::{SourceId, SourceKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::ffi::OsStrExt as _;

/// A trust anchor that no look-up by hash finds.
pub const RULE: Rule = Rule {
    id: "unreachable",
    severity: Severity::Error,
    title: "a trust anchor that no look-up by hash finds",
    why: "Programs that use the CApath (all that use the defaults of OpenSSL where cert.pem is absent) do not trust it.",
    example: "two certificates in /usr/local/share/ca-certificates/corp.crt: openssl rehash makes no link for such a file",
    help: "castore rehash DIR; of a file with several certificates, or in DER, make one PEM file for each certificate first",
    source: "OpenSSL get_cert_by_subject (crypto/x509/by_dir.c): HASH.0, HASH.1, ... up to the first that is missing; openssl-rehash(1)",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (directory, source) in store.source_ids() {
        if source.kind != SourceKind::CaPath {
            continue;
        }
        for missed in missed(store, directory) {
            if let Some(why) = missed.why {
                findings.push(Finding::about(
                    RULE.id,
                    Detail::Unreachable(why),
                    missed.certificate,
                    missed.places.into_iter().map(Place::Occurrence).collect(),
                ));
            }
        }
    }
}

/// A certificate of a directory's member that no look-up finds.
pub(super) struct Missed {
    pub(super) certificate: CertificateId,
    /// Its places in the directory.
    pub(super) places: Vec<OccurrenceId>,
    /// Why it should be found; `None` where it is nobody's anchor (rule `unlinked`).
    pub(super) why: Option<Unreachable>,
}

/// All that a directory's look-ups miss.
pub(super) fn missed(store: &Store, directory: SourceId) -> Vec<Missed> {
    let unfound = unfound(store, directory);
    if unfound.is_empty() {
        return Vec::new();
    }
    let mut links: HashMap<FileId, Vec<&Link>> = HashMap::new();
    for link in store.links_of(directory).filter(|link| link.hash_link().kind == LinkKind::Certificate) {
        if let Ok(file) = link.leads_to {
            links.entry(file).or_default().push(link);
        }
    }
    unfound
        .into_iter()
        .map(|(certificate, places)| {
            let why = why_it_matters(store, directory, certificate, &places, &links);
            Missed { certificate, places, why }
        })
        .collect()
}

/// The certificates of a directory's members that no look-up finds, with their places there.
pub(super) fn unfound(store: &Store, directory: SourceId) -> BTreeMap<CertificateId, Vec<OccurrenceId>> {
    let mut out: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (file, content) in store.members_of(directory) {
        // A CAfile beside the directory is no member of it, whichever directory it was met in first.
        let own = |name: &&std::path::PathBuf| name.parent() == Some(store.source(directory).path.as_path());
        let is_bundle = content
            .names
            .iter()
            .filter(own)
            .any(|name| name.file_name().is_some_and(|name| is_bundle_name(name.as_bytes())));
        if is_bundle || store.source(content.source).inside == Some(directory) {
            continue;
        }
        for (id, occurrence) in store.occurrences_of_file(file) {
            if !store.is_reachable(directory, occurrence.certificate) {
                out.entry(occurrence.certificate).or_default().push(id);
            }
        }
    }
    out
}

fn why_it_matters(
    store: &Store,
    directory: SourceId,
    certificate: CertificateId,
    places: &[OccurrenceId],
    links: &HashMap<FileId, Vec<&Link>>,
) -> Option<Unreachable> {
    let facts = store.certificate(certificate);
    let why = broken_link(store, certificate, places, links);
    let self_issued_ca = facts.self_issued && facts.ca != Some(false);
    let in_bundle = || {
        facts.occurrences.iter().any(|&occurrence| {
            let source = store.file(store.occurrence(occurrence).file).source;
            store.source(source).inside == Some(directory)
        })
    };
    match why {
        Some(why) => Some(why),
        None if self_issued_ca || in_bundle() => {
            let largest =
                places.iter().map(|&id| store.file(store.occurrence(id).file).occurrences.len()).max()?;
            Some(if largest > 1 { Unreachable::SeveralInFile(largest) } else { Unreachable::NoLink })
        }
        None => None,
    }
}

/// The hash link that leads to the certificate's file, or is meant to, and fails.
fn broken_link(
    store: &Store,
    certificate: CertificateId,
    places: &[OccurrenceId],
    links: &HashMap<FileId, Vec<&Link>>,
) -> Option<Unreachable> {
    let facts = store.certificate(certificate);
    let mut reasons: BTreeMap<u8, Unreachable> = BTreeMap::new();
    let files: BTreeSet<FileId> = places.iter().map(|&id| store.occurrence(id).file).collect();
    for link in files.iter().filter_map(|file| links.get(file)).flatten() {
        if let Some((rank, why)) = reason(store, link, facts.subject_hash) {
            reasons.entry(rank).or_insert(why);
        }
    }
    reasons.into_values().next()
}

fn reason(store: &Store, link: &Link, hash: Option<u32>) -> Option<(u8, Unreachable)> {
    let name = link.hash_link();
    let right = Some(name.hash) == hash;
    let has = |state| link.states.contains(&state);
    let several = link.leads_to.as_ref().is_ok_and(|&file| store.file(file).occurrences.len() > 1);
    Some(match link.link {
        LinkName::Improper(_) if right => (2, Unreachable::Case(link.name.to_string_lossy().into_owned())),
        LinkName::Proper(_) if right && has(LinkState::Gap) => (0, Unreachable::Gap(name)),
        LinkName::Proper(_) if right && has(LinkState::Shadowed) => (1, Unreachable::Shadowed(name)),
        LinkName::Proper(_) if right => (3, Unreachable::NotLoadable(name)),
        _ if has(LinkState::Legacy) => (5, Unreachable::Legacy(name)),
        // The link may be right for another certificate of the same file.
        _ if several => return None,
        _ => (4, Unreachable::WrongHash(name)),
    })
}
