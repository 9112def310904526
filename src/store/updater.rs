//! What the next run of Debian's `update-ca-certificates` makes of a root's bundle.
//!
//! The script reads `/etc/ca-certificates.conf` (one file below `/usr/share/ca-certificates` a line, `!` deselects,
//! `#` comments) and every `*.crt` below `/usr/local/share/ca-certificates`, through links. Nothing else.

use std::collections::{HashMap, HashSet};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::content;
use super::model::{FileId, Store};
use super::read;
use super::root::Root;
use super::source::Identity;
use super::source::SourceId;
use crate::certificate::fingerprint::Fingerprint;

/// The bundle that the updater writes.
const BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";
/// Its configuration.
const CONFIGURATION: &str = "/etc/ca-certificates.conf";
/// Where the configuration's files lie.
const SHARED: &str = "/usr/share/ca-certificates";
/// Where the administrator's files lie.
const LOCAL: &str = "/usr/local/share/ca-certificates";
/// Directories below the administrator's that are looked into.
const DEEPEST: usize = 16;

/// What the updater will put into the bundle, and what it passes over.
#[derive(Debug, Clone)]
pub struct Updater {
    /// The bundle, a source of the store.
    pub bundle: SourceId,
    /// What the next run puts into it.
    pub kept: HashSet<Fingerprint>,
    /// Files of the administrator that it ignores for their name, with the certificates in them.
    pub ignored: Vec<(PathBuf, Vec<Fingerprint>)>,
}

/// Looks at the updater's inputs inside a root. `None` where the store does not hold that root's own bundle, or where
/// the inputs are not at hand (an image without them regenerates nothing).
#[must_use]
pub fn survey(root: &Root, store: &Store) -> Option<Updater> {
    let identity = root.look(Path::new(BUNDLE)).ok()?.identity;
    let file = store.files().iter().find(|file| file.identity == Some(identity))?;
    let configuration = read::regular(root, Path::new(CONFIGURATION)).ok()?;
    let numbered = store.files().iter().enumerate();
    let files = numbered.filter_map(|(index, file)| Some((file.identity?, FileId(index)))).collect();
    let mut survey = Survey { root, store, kept: HashSet::new(), ignored: Vec::new(), files, selected: 0 };
    for line in configuration.split(|&byte| byte == b'\n') {
        if !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"!") {
            let path = Path::new(SHARED).join(std::ffi::OsStr::from_bytes(line));
            survey.selected(&path);
        }
    }
    if survey.selected == 0 {
        return None;
    }
    survey.local(Path::new(LOCAL), 0);
    Some(Updater { bundle: file.source, kept: survey.kept, ignored: survey.ignored })
}

struct Survey<'a> {
    root: &'a Root,
    store: &'a Store,
    kept: HashSet<Fingerprint>,
    ignored: Vec<(PathBuf, Vec<Fingerprint>)>,
    /// The store's files by inode.
    files: HashMap<Identity, FileId>,
    /// Files of the configuration that are there.
    selected: usize,
}

impl Survey<'_> {
    fn selected(&mut self, path: &Path) {
        if let Some(certificates) = self.certificates(path) {
            self.selected += 1;
            self.kept.extend(certificates);
        }
    }

    fn local(&mut self, directory: &Path, depth: usize) {
        let Ok(entries) = self.root.entries(directory) else { return };
        for entry in entries {
            let path = directory.join(&entry.name);
            match self.root.look(&path).map(|seen| seen.kind) {
                Ok(FileType::Directory) if depth < DEEPEST => self.local(&path, depth + 1),
                Ok(FileType::RegularFile) => {
                    let Some(certificates) = self.certificates(&path) else { continue };
                    if entry.name.as_bytes().ends_with(b".crt") {
                        self.kept.extend(certificates);
                    } else if !certificates.is_empty() {
                        self.ignored.push((path, certificates));
                    }
                }
                _ => {}
            }
        }
    }

    /// The certificates of a file: from the store, where it has read the same inode already.
    fn certificates(&self, path: &Path) -> Option<Vec<Fingerprint>> {
        let identity: Identity = self.root.look(path).ok()?.identity;
        if let Some(&file) = self.files.get(&identity) {
            let occurrences = self.store.occurrences_of_file(file);
            return Some(
                occurrences
                    .map(|(_, occurrence)| self.store.certificate(occurrence.certificate).fingerprint)
                    .collect(),
            );
        }
        let bytes = read::regular(self.root, path).ok()?;
        Some(content::read(&bytes).certificates.iter().map(|found| found.fingerprint).collect())
    }
}
