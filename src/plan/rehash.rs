//! `rehash`: the hash links of a directory, made right in place.
//!
//! The same links as `openssl rehash` makes for what it handles right (openssl-rehash(1); apps/rehash.c), without its
//! faults: see [`links`].

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use super::links::{self, Current, Stale, Wanted, Wish};
use super::{Action, Plan};
use crate::error::Refusal;
use crate::escape::visible_path;
use crate::openssl::hash_link::{LinkKind, LinkName};
use crate::openssl::name_hash::HashStyle;
use crate::store::content::OtherKind;
use crate::store::model::{File, FileId, Store, Trouble};
use crate::store::source::{SourceId, is_leftover};

/// Plans the links of a directory.
///
/// # Errors
/// [`Refusal::InTheWay`]; [`Refusal::Unreadable`] where a member cannot be read, as its link would be lost.
pub fn rehash(store: &Store, directory: SourceId) -> Result<Plan, Refusal> {
    let path = store.source(directory).path.clone();
    let mut plan = Plan::default();
    refuse_unreadable(store, directory)?;
    let wanted = wanted(store, directory, &HashSet::new(), &mut plan);
    let current = Some(Current { store, directory });
    let removed = HashSet::new();
    let wish = Wish {
        wanted: &wanted,
        style: HashStyle::Canonical,
        stale: Stale::Remove,
        removed: &removed,
        copies: &[],
        allowed: None,
    };
    links::plan(&path, current, &wish, &mut plan)?;
    let found = wanted.iter().filter(|file| file.kind == LinkKind::Certificate).count();
    plan.outputs.push((path, found));
    Ok(plan)
}

/// Members and inputs that could not be read, with their source. Keys are not trust, and often unreadable on purpose.
pub(super) fn unreadable(store: &Store) -> impl Iterator<Item = (SourceId, String)> {
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
/// certificate or CRL.
pub(super) fn wanted(
    store: &Store,
    directory: SourceId,
    removed: &HashSet<OsString>,
    plan: &mut Plan,
) -> Vec<Wanted> {
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
    for (name, id) in names {
        let file = store.file(id);
        match content(store, id) {
            Some((kind, hash, fingerprint)) => out.push(Wanted { name, kind, hash, fingerprint }),
            None if store.source(file.source).inside == Some(directory) && file.occurrences.len() > 1 => {
                // A CAfile in the directory is no member of it.
            }
            None => {
                let reason = format!("no link: {}", why_not(file));
                plan.change(Action::Keep, path.join(&name), None, reason);
            }
        }
    }
    out
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
fn content(
    store: &Store,
    id: FileId,
) -> Option<(LinkKind, u32, crate::certificate::fingerprint::Fingerprint)> {
    let file = store.file(id);
    let damaged = file
        .others
        .iter()
        .any(|block| matches!(block.kind, OtherKind::Malformed { .. } | OtherKind::NotACertificate(_)));
    let mut lists = file.others.iter().filter_map(|block| match block.kind {
        OtherKind::Crl { issuer_hash, fingerprint, .. } => Some((issuer_hash, fingerprint)),
        _ => None,
    });
    // What OpenSSL sees of the file: a block hidden behind text is none to it.
    let (loaded, complete) = store.loads_by_directory(id);
    match (file.occurrences.len(), loaded.as_slice()) {
        (_, [one]) if complete => {
            let certificate = store.certificate(store.occurrence(*one).certificate);
            Some((LinkKind::Certificate, certificate.subject_hash?, certificate.fingerprint))
        }
        (0, _) if !damaged => {
            let (hash, fingerprint) = lists.next()?;
            if lists.next().is_some() { None } else { Some((LinkKind::Crl, hash?, fingerprint)) }
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
