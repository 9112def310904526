//! `rehash`: the hash links of a directory, made right in place.
//!
//! The same links as `openssl rehash` makes for what it handles right (openssl-rehash(1); apps/rehash.c), without its
//! faults: see [`links`].

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use super::links::{self, Current, Stale, Wanted, Wish};
use super::{Action, Plan};
use crate::certificate::fingerprint::Fingerprint;
use crate::error::Refusal;
use crate::escape::visible_path;
use crate::openssl::hash_link::{LinkKind, LinkName};
use crate::openssl::locations;
use crate::openssl::name_hash::HashStyle;
use crate::store::content::OtherKind;
use crate::store::model::{File, FileId, Store, Trouble};
use crate::store::source::{SourceId, is_leftover};

/// Which links a directory is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// By which hashes. A link by another one is stale.
    pub styles: &'static [HashStyle],
    /// What becomes of links that nobody wants.
    pub stale: Stale,
}

impl Default for Manner {
    /// What a directory of today needs, as `openssl rehash` without options.
    fn default() -> Self {
        Self { styles: &[HashStyle::Canonical], stale: Stale::Remove }
    }
}

/// A plan, and what it leaves as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rehash {
    /// What is done.
    pub plan: Plan,
    /// The links that stand afterwards, those that were right before among them: name and target, in order of their
    /// names. Stale ones that stay are not among them.
    pub links: Vec<(OsString, OsString)>,
    /// Members that get no link, by name.
    pub skipped: Vec<Skipped>,
}

/// A member that gets no link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Its name in the directory.
    pub name: OsString,
    /// Why.
    pub why: Skip,
}

/// Why a member gets no link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Skip {
    /// Another name leads to the same certificate or CRL.
    Duplicate(LinkKind),
    /// It has not one certificate or CRL; why, in words that are safe to print.
    NotOne(String),
}

/// Plans the links of a directory.
///
/// # Errors
/// [`Refusal::InTheWay`]; [`Refusal::Unreadable`] where a member cannot be read, as its link would be lost.
pub fn rehash(store: &Store, directory: SourceId, manner: Manner) -> Result<Rehash, Refusal> {
    let path = store.source(directory).path.clone();
    let mut plan = Plan::default();
    refuse_unreadable(store, directory)?;
    let (wanted, mut skipped) = wanted(store, directory, &HashSet::new(), manner.styles);
    for member in &skipped {
        if let Skip::NotOne(why) = &member.why {
            plan.change(Action::Keep, path.join(&member.name), None, format!("no link: {why}"));
        }
    }
    skipped.extend(duplicates(&wanted));
    skipped.sort_by(|a, b| a.name.cmp(&b.name));
    let current = Some(Current { store, directory });
    let removed = HashSet::new();
    let wish = Wish {
        wanted: &wanted,
        styles: manner.styles,
        stale: manner.stale,
        removed: &removed,
        copies: &[],
        allowed: None,
        only: None,
    };
    let links = links::plan(&path, current, &wish, &mut plan)?.links;
    let found: HashSet<&OsStr> = wanted
        .iter()
        .filter(|file| file.kind == LinkKind::Certificate)
        .map(|file| file.name.as_os_str())
        .collect();
    plan.outputs.push((path, found.len()));
    Ok(Rehash { plan, links, skipped })
}

/// Members whose certificate or CRL an earlier one holds too.
fn duplicates(wanted: &[Wanted]) -> Vec<Skipped> {
    let mut first: HashMap<(LinkKind, Fingerprint), &OsStr> = HashMap::new();
    let mut out: Vec<Skipped> = Vec::new();
    for file in wanted {
        let known = *first.entry((file.kind, file.fingerprint)).or_insert(&file.name);
        let told = out.last().is_some_and(|last| last.name == file.name);
        if known != file.name && !told {
            out.push(Skipped { name: file.name.clone(), why: Skip::Duplicate(file.kind) });
        }
    }
    out
}

/// Members and inputs that could not be read, with their source. Keys are not trust, and often unreadable on purpose.
pub(crate) fn unreadable(store: &Store) -> impl Iterator<Item = (SourceId, String)> {
    store.odd_entries().iter().filter_map(|entry| match &entry.trouble {
        Trouble::Unreadable(reason) if entry.path.extension() != Some(OsStr::new("key")) => {
            Some((entry.source, format!("{}: {reason}", visible_path(&entry.path))))
        }
        _ => None,
    })
}

/// A member that cannot be read may hold the only copy of what a link leads to.
pub(super) fn refuse_unreadable(store: &Store, directory: SourceId) -> Result<(), Refusal> {
    let places: Vec<String> =
        unreadable(store).filter(|(source, _)| *source == directory).map(|(_, text)| text).collect();
    if places.is_empty() { Ok(()) } else { Err(Refusal::Unreadable { places }) }
}

/// The files of a directory that want a link, by name: those that `openssl rehash` looks at, with exactly one
/// certificate or CRL. And those that it looks at and that get none.
pub(super) fn wanted(
    store: &Store,
    directory: SourceId,
    removed: &HashSet<OsString>,
    styles: &[HashStyle],
) -> (Vec<Wanted>, Vec<Skipped>) {
    let path = &store.source(directory).path;
    let mut names: Vec<(OsString, FileId)> = Vec::new();
    for (id, file) in store.members_of(directory) {
        let own = file
            .names
            .iter()
            .filter(|name| name.parent() == Some(path.as_path()))
            .filter_map(|name| name.file_name());
        names.extend(
            own.filter(|name| is_content(name.as_bytes()) && !removed.contains(*name))
                .map(|name| (name.to_owned(), id)),
        );
    }
    names.sort();
    let mut out = Vec::new();
    let mut skipped = Vec::new();
    for (name, id) in names {
        let file = store.file(id);
        match content(store, id) {
            Some((kind, hashes, fingerprint)) => {
                for style in styles {
                    let hash = match style {
                        HashStyle::Canonical => hashes.canonical,
                        HashStyle::Old => hashes.old,
                    };
                    out.push(Wanted { name: name.clone(), kind, hash, fingerprint });
                }
            }
            // A CAfile beside the members. Only the name makes one: of any other file with several certificates it must
            // be said that it gets no link.
            None if file.occurrences.len() > 1 && is_bundle(&name) => {}
            None => skipped.push(Skipped { name, why: Skip::NotOne(why_not(file)) }),
        }
    }
    (out, skipped)
}

/// Whether a file of this name is one that tools write for readers of whole files.
fn is_bundle(name: &OsStr) -> bool {
    locations::is_bundle_name(name.as_bytes()) || locations::is_for_other_purposes(name.as_bytes())
}

/// What a look-up asks for, by either hash.
struct Hashes {
    canonical: u32,
    old: u32,
}

/// A name that `openssl rehash` reads: it ends in .pem, .crt, .cer or .crl, in any case, and is no hash link.
fn is_content(name: &[u8]) -> bool {
    let Some(dot) = memchr::memrchr(b'.', name) else { return false };
    let ending = name[dot + 1..].to_ascii_lowercase();
    [&b"pem"[..], b"crt", b"cer", b"crl"].contains(&ending.as_slice())
        && LinkName::parse(name).is_none()
        && !is_leftover(name)
}

/// The one certificate or CRL of a file; a certificate goes before a CRL in the same file.
fn content(store: &Store, id: FileId) -> Option<(LinkKind, Hashes, Fingerprint)> {
    let file = store.file(id);
    let damaged = file
        .others
        .iter()
        .any(|block| matches!(block.kind, OtherKind::Malformed { .. } | OtherKind::NotACertificate(_)));
    let mut lists = file.others.iter().filter_map(|block| match block.kind {
        OtherKind::Crl { issuer_hash, issuer_hash_old, fingerprint } => {
            Some((issuer_hash, issuer_hash_old, fingerprint))
        }
        _ => None,
    });
    // What OpenSSL sees of the file: a block hidden behind text is none to it.
    let (loaded, complete) = store.loads_by_directory(id);
    match (file.occurrences.len(), loaded.as_slice()) {
        (_, [one]) if complete => {
            let certificate = store.certificate(store.occurrence(*one).certificate);
            // OpenSSL refuses a certificate whose name has no canonical form, so it is not found by the old hash either.
            let hashes = Hashes { canonical: certificate.subject_hash?, old: certificate.subject_hash_old };
            Some((LinkKind::Certificate, hashes, certificate.fingerprint))
        }
        (0, _) if !damaged => {
            let (canonical, old, fingerprint) = lists.next()?;
            let hashes = Hashes { canonical: canonical?, old: old? };
            if lists.next().is_some() { None } else { Some((LinkKind::Crl, hashes, fingerprint)) }
        }
        _ => None,
    }
}

fn why_not(file: &File) -> String {
    match file.occurrences.len() {
        0 => "it holds no certificate and no single CRL".into(),
        1 => "OpenSSL does not see one certificate in it (DER, or framing that it does not read)".into(),
        number => format!("it holds {number} certificates; a link finds only one subject"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_content() {
        for name in ["a.pem", "a.CRT", "a.b.Cer", "x.crl"] {
            assert!(is_content(name.as_bytes()), "{name}");
        }
        for name in ["a", "pem", "a.pem.bak", "a.cert", "a7d666e7.0", "README.txt", ".castore-1.pem"] {
            assert!(!is_content(name.as_bytes()), "{name}");
        }
    }
}
