//! From arguments to files: directories listed, links resolved, nothing opened, nothing followed in a circle.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use super::model::{OddEntry, Special, Trouble};
use super::root::{Root, Seen};
use super::source::{Identity, SourceId, Writable, is_leftover};
use crate::error::{Error, Result};
use crate::openssl::hash_link::LinkName;

/// How the bytes of a file are had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A regular file.
    Regular,
    /// A pipe named by the user, read once.
    Pipe,
    /// Standard input.
    StandardInput,
}

/// A file to read, with every name it has.
#[derive(Debug, Clone)]
pub struct Member {
    /// The source that named it first.
    pub source: SourceId,
    /// Its names, the first one being what it is called by.
    pub names: Vec<PathBuf>,
    /// Device and inode; none for standard input and pipes.
    pub identity: Option<Identity>,
    /// How to read it.
    pub access: Access,
    /// Size in bytes, as the directory said.
    pub size: u64,
    /// Who beside the owner may write it.
    pub writable: Option<Writable>,
}

/// A name in a directory that OpenSSL's look-up by hash may take, or seems meant for it.
#[derive(Debug, Clone)]
pub struct HashName {
    /// The directory.
    pub source: SourceId,
    /// The directory entry.
    pub name: OsString,
    /// What it says.
    pub link: LinkName,
    /// Where it points; `None` for a file that has such a name itself.
    pub target: Option<PathBuf>,
    /// The member that it leads to, or what is there instead.
    pub leads_to: std::result::Result<usize, Trouble>,
}

/// A named path.
#[derive(Debug, Clone)]
pub struct Place {
    /// As it was named.
    pub path: PathBuf,
    /// Whether it is a directory.
    pub directory: bool,
    /// Whether the user named it; else it lies below a directory that was named.
    pub named: bool,
    /// Device and inode of a directory.
    pub identity: Option<Identity>,
    /// Who beside the owner may write the directory.
    pub writable: Option<Writable>,
    /// The directory's mode.
    pub mode: Option<u32>,
}

/// Everything that was found, in order: paths as named, entries by name.
#[derive(Debug, Default)]
pub struct Discovery {
    /// What was named and is there. Its index is the [`SourceId`].
    pub places: Vec<Place>,
    /// Files to read.
    pub members: Vec<Member>,
    /// Names of hash links.
    pub hash_names: Vec<HashName>,
    /// Entries that are no members.
    pub odd: Vec<OddEntry>,
    /// Regular files that tools left behind: read apart, never as trust.
    pub leftovers: Vec<PathBuf>,
    /// Named paths that cannot be looked at.
    pub failures: Vec<Error>,
    /// Links whose text leads above the root, with their target.
    pub leading_out: Vec<(PathBuf, PathBuf)>,
    known: HashMap<Identity, usize>,
    known_directories: HashSet<Identity>,
    names: HashSet<(usize, PathBuf)>,
}

/// How discovery goes.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// Where absolute paths start.
    pub root: Root,
    /// Whether directories inside named directories are looked into; links to directories are not followed.
    pub recursive: bool,
}

/// Looks at the named paths. `-` is standard input.
#[must_use]
pub fn discover(paths: &[PathBuf], reach: &Reach) -> Discovery {
    let mut discovery = Discovery::default();
    for path in paths {
        if let Err(error) = discovery.named(path, reach) {
            discovery.failures.push(error);
        }
    }
    discovery
}

impl Discovery {
    fn named(&mut self, path: &Path, reach: &Reach) -> Result<()> {
        let source = SourceId(self.places.len());
        let place = || Place {
            path: path.to_owned(),
            directory: false,
            named: true,
            identity: None,
            writable: None,
            mode: None,
        };
        if path.as_os_str() == "-" {
            self.places.push(place());
            self.member(source, path.to_owned(), None, Access::StandardInput);
            return Ok(());
        }
        let seen = reach.root.look(path).map_err(|error| Error::io("read", path, error))?;
        match seen.kind {
            FileType::Directory => self.named_directory(path, &seen, true, reach)?,
            FileType::RegularFile => {
                if let Some(&index) = self.known.get(&seen.identity) {
                    let member = &mut self.members[index];
                    if !self.places[member.source.0].directory {
                        // Named before, perhaps by another name.
                        if self.names.insert((index, path.to_owned())) {
                            member.names.push(path.to_owned());
                        }
                        return Ok(());
                    }
                    // A directory that was named before has it; who names a file means the file.
                    member.source = source;
                }
                self.places.push(place());
                self.member(
                    source,
                    path.to_owned(),
                    Some(Regular::of(&reach.root, path, &seen)),
                    Access::Regular,
                );
            }
            FileType::Fifo => {
                self.places.push(place());
                self.member(source, path.to_owned(), None, Access::Pipe);
            }
            kind => {
                let what = if kind == FileType::Socket { "it is a socket" } else { "it is a device" };
                return Err(Error::io("read", path, io::Error::other(what)));
            }
        }
        Ok(())
    }

    fn named_directory(&mut self, path: &Path, seen: &Seen, named: bool, reach: &Reach) -> Result<()> {
        if !self.known_directories.insert(seen.identity) {
            return Ok(());
        }
        // A directory that cannot be listed gives no source: nothing is known of it.
        let (entries, below) = list(&reach.root, path)?;
        let source = SourceId(self.places.len());
        self.places.push(Place {
            path: path.to_owned(),
            directory: true,
            named,
            identity: Some(seen.identity),
            writable: writable(&reach.root, path, seen),
            mode: Some(seen.mode),
        });
        for entry in &entries {
            if let Some(target) = &entry.target
                && reach.root.leads_out(&entry.path)
            {
                self.leading_out.push((entry.path.clone(), target.clone()));
            }
        }
        let descend = if reach.recursive { below } else { Vec::new() };
        self.directory(source, entries, &descend, &reach.root);
        for path in descend {
            let found = reach.root.look_at_link(&path).map_err(|error| Error::io("read", &path, error));
            // What cannot be read below is a member that cannot be read, not a path that was named.
            if let Err(error) = found.and_then(|seen| self.named_directory(&path, &seen, false, reach)) {
                let reason = match error {
                    Error::Io { source, .. } => source.to_string(),
                    other => other.to_string(),
                };
                self.odd.push(OddEntry { source, path, trouble: Trouble::Unreadable(reason), target: None });
            }
        }
        Ok(())
    }

    fn member(&mut self, source: SourceId, path: PathBuf, file: Option<Regular>, access: Access) -> usize {
        let identity = file.map(|file| file.identity);
        if let Some(&index) = identity.as_ref().and_then(|identity| self.known.get(identity)) {
            if self.names.insert((index, path.clone())) {
                self.members[index].names.push(path);
            }
            return index;
        }
        let index = self.members.len();
        if let Some(identity) = identity {
            self.known.insert(identity, index);
        }
        self.names.insert((index, path.clone()));
        self.members.push(Member {
            source,
            names: vec![path],
            identity,
            access,
            size: file.map_or(0, |file| file.size),
            writable: file.and_then(|file| file.writable),
        });
        index
    }

    fn directory(&mut self, source: SourceId, entries: Vec<Entry>, descend: &[PathBuf], root: &Root) {
        // Hash links come last, so that a file is called by its own name.
        let (links, files): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.target.is_some() && entry.hash.is_some());
        let mut leftovers = Vec::new();
        for entry in files.into_iter().filter(|entry| !descend.contains(&entry.path)) {
            let state = entry.state(root);
            if is_leftover(entry.name.as_bytes()) && !matches!(state, Err(Trouble::Directory)) {
                leftovers.push(entry);
                continue;
            }
            let found = self.entry(source, &entry, state);
            if let (Some(link), found) = (entry.hash, found) {
                self.hash_names.push(HashName {
                    source,
                    name: entry.name,
                    link,
                    target: None,
                    leads_to: found,
                });
            }
        }
        for entry in links {
            let state = entry.state(root);
            let leads_to = self.entry(source, &entry, state);
            if let Some(link) = entry.hash {
                self.hash_names.push(HashName {
                    source,
                    name: entry.name,
                    link,
                    target: entry.target,
                    leads_to,
                });
            }
        }
        // A leftover that a hash link leads to is a member all the same, and only gets another name.
        for entry in leftovers {
            if let Ok(seen) = &entry.seen
                && seen.kind == FileType::RegularFile
                && let Some(&index) = self.known.get(&seen.identity)
            {
                self.members[index].names.push(entry.path.clone());
            } else if entry.seen.as_ref().is_ok_and(|seen| seen.kind == FileType::RegularFile) {
                self.leftovers.push(entry.path.clone());
            }
            self.odd.push(OddEntry {
                source,
                path: entry.path,
                trouble: Trouble::Leftover,
                target: entry.target,
            });
        }
        self.hash_names.sort_by(|a, b| (a.source, &a.name).cmp(&(b.source, &b.name)));
        self.odd.sort_by(|a, b| (a.source, &a.path).cmp(&(b.source, &b.path)));
    }

    fn entry(
        &mut self,
        source: SourceId,
        entry: &Entry,
        state: std::result::Result<Regular, Trouble>,
    ) -> std::result::Result<usize, Trouble> {
        match state {
            Ok(file) => Ok(self.member(source, entry.path.clone(), Some(file), Access::Regular)),
            Err(trouble) => {
                self.odd.push(OddEntry {
                    source,
                    path: entry.path.clone(),
                    trouble: trouble.clone(),
                    target: entry.target.clone(),
                });
                Err(trouble)
            }
        }
    }
}

/// One entry of a directory, with what stands behind its links.
struct Entry {
    name: OsString,
    path: PathBuf,
    hash: Option<LinkName>,
    target: Option<PathBuf>,
    seen: std::result::Result<Seen, io::Error>,
}

impl Entry {
    fn state(&self, root: &Root) -> std::result::Result<Regular, Trouble> {
        match &self.seen {
            Ok(seen) => match seen.kind {
                FileType::RegularFile => Ok(Regular::of(root, &self.path, seen)),
                FileType::Directory => Err(Trouble::Directory),
                FileType::Fifo => Err(Trouble::NotRegular(Special::Fifo)),
                FileType::Socket => Err(Trouble::NotRegular(Special::Socket)),
                _ => Err(Trouble::NotRegular(Special::Device)),
            },
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                Err(Trouble::Loop)
            }
            Err(error)
                if self.target.is_some()
                    && matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
            {
                Err(Trouble::Dangling)
            }
            Err(error) => Err(Trouble::Unreadable(error.to_string())),
        }
    }
}

/// The entries of a directory, by name, and the directories among them.
fn list(root: &Root, path: &Path) -> Result<(Vec<Entry>, Vec<PathBuf>)> {
    let found = root.entries(path).map_err(|error| Error::io("read", path, error))?;
    let mut entries = Vec::with_capacity(found.len());
    let mut below = Vec::new();
    for entry in found {
        let path = path.join(&entry.name);
        if entry.is_directory {
            below.push(path.clone());
        }
        entries.push(Entry {
            hash: LinkName::parse(entry.name.as_bytes()),
            target: entry.is_link.then(|| root.read_link(&path).unwrap_or_default()),
            seen: root.look(&path),
            name: entry.name,
            path,
        });
    }
    Ok((entries, below))
}

/// What the directory says of a regular file.
#[derive(Debug, Clone, Copy)]
struct Regular {
    identity: Identity,
    size: u64,
    writable: Option<Writable>,
}

impl Regular {
    fn of(root: &Root, path: &Path, seen: &Seen) -> Self {
        Self { identity: seen.identity, size: seen.size, writable: writable(root, path, seen) }
    }
}

/// Who beside the owner may write; nobody on a file system that is mounted read-only, or in a sticky directory.
fn writable(root: &Root, path: &Path, seen: &Seen) -> Option<Writable> {
    let who = match (seen.mode & 0o002 != 0, seen.mode & 0o020 != 0) {
        (true, _) => Writable::Others,
        (false, true) => Writable::Group,
        (false, false) => return None,
    };
    let sticky = seen.kind == FileType::Directory && seen.mode & 0o1000 != 0;
    if sticky || root.is_read_only(path) { None } else { Some(who) }
}
