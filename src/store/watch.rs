//! Whether what was read is still what is there: asked before a plan is carried out.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::model::Store;
use super::root::{Root, Seen};
use super::source::{SourceId, SourceKind, is_staged};
use crate::error::{Error, Result};

/// Looks at every file, every directory and every hash link of a store again. What castore itself has staged in a
/// directory is no change. Of what was read from a pipe nothing can be said.
///
/// # Errors
/// [`Error::Changed`] with the first path at which something else stands now, or nothing.
pub fn unchanged(root: &Root, store: &Store) -> Result<()> {
    let changed = |path: &Path| Error::Changed { path: path.to_owned() };
    for file in store.files() {
        if let Some(before) = &file.seen {
            is_still(root, file.path(), before)?;
        }
    }
    for (id, source) in store.source_ids() {
        if !matches!(source.kind, SourceKind::CaPath | SourceKind::Directory) {
            continue;
        }
        let entries = root.entries(&source.path).map_err(|_| changed(&source.path))?;
        let now: BTreeSet<&OsStr> = entries
            .iter()
            .map(|entry| entry.name.as_os_str())
            .filter(|name| !is_staged(name.as_bytes()))
            .collect();
        let before = names(store, id, &source.path);
        if !now.into_iter().eq(before.iter().map(OsString::as_os_str)) {
            return Err(changed(&source.path));
        }
        for link in store.links_of(id) {
            let path = source.path.join(&link.name);
            if link.target.is_some() && root.read_link(&path).ok() != link.target {
                return Err(changed(&path));
            }
        }
    }
    Ok(())
}

/// Looks at one file again.
///
/// # Errors
/// [`Error::Changed`].
pub fn is_still(root: &Root, path: &Path, before: &Seen) -> Result<()> {
    match root.look(path) {
        Ok(now) if now.is_still(before) => Ok(()),
        _ => Err(Error::Changed { path: path.to_owned() }),
    }
}

/// The entries that a directory had.
fn names(store: &Store, directory: SourceId, path: &Path) -> BTreeSet<OsString> {
    let files = store.files().iter().flat_map(|file| &file.names).map(|name| name.as_path());
    let odd = store.odd_entries().iter().map(|entry| entry.path.as_path());
    let named = files.chain(odd).filter(|name| name.parent() == Some(path)).filter_map(Path::file_name);
    let links = store.links_of(directory).map(|link| link.name.as_os_str());
    named.chain(links).filter(|name| !is_staged(name.as_bytes())).map(OsStr::to_owned).collect()
}
