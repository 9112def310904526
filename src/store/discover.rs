//! From arguments to files: directories listed, links resolved, nothing opened, nothing followed in a circle.
#![allow(clippy::disallowed_methods, reason = "this module is where directories are listed")]

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::read::Identity;
use super::source::{SourceId, is_leftover};
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

/// An entry of a directory that is no member.
#[derive(Debug, Clone)]
pub struct OddEntry {
    /// The directory.
    pub source: SourceId,
    /// Its path.
    pub path: PathBuf,
    /// What it is.
    pub trouble: Trouble,
    /// Where it points, if it is a link.
    pub target: Option<PathBuf>,
}

/// Why an entry cannot be a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// A link to nothing.
    Dangling,
    /// A link that leads back to itself.
    Loop,
    /// A directory, or a link to one.
    Directory,
    /// A FIFO, a device or a socket, or a link to one.
    NotRegular(Special),
    /// A name that tools leave behind.
    Leftover,
    /// The system does not let us look, for this reason.
    Unreadable(String),
}

/// What stands where a file belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// A named pipe; opening it waits for a writer.
    Fifo,
    /// A character or block device.
    Device,
    /// A socket.
    Socket,
}

/// Who beside the owner may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writable {
    /// Everybody.
    Others,
    /// The group.
    Group,
}

/// A named path.
#[derive(Debug, Clone)]
pub struct Place {
    /// As it was named.
    pub path: PathBuf,
    /// Whether it is a directory.
    pub directory: bool,
    /// Device and inode of a directory.
    pub identity: Option<Identity>,
    /// Who beside the owner may write the directory.
    pub writable: Option<Writable>,
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
    known: HashMap<Identity, usize>,
}

/// Looks at the named paths. `-` is standard input.
#[must_use]
pub fn discover(paths: &[PathBuf]) -> Discovery {
    let mut discovery = Discovery::default();
    for path in paths {
        if let Err(error) = discovery.named(path) {
            discovery.failures.push(error);
        }
    }
    discovery
}

impl Discovery {
    fn named(&mut self, path: &Path) -> Result<()> {
        let source = SourceId(self.places.len());
        let place = || Place { path: path.to_owned(), directory: false, identity: None, writable: None };
        if path.as_os_str() == "-" {
            self.places.push(place());
            self.member(source, path.to_owned(), None, Access::StandardInput);
            return Ok(());
        }
        let metadata = fs::metadata(path).map_err(|error| Error::io("read", path, error))?;
        let kind = metadata.file_type();
        if kind.is_dir() {
            // A directory that cannot be listed gives no source: nothing is known of it.
            let entries = list(path)?;
            self.places.push(Place {
                directory: true,
                identity: Some(identity(&metadata)),
                writable: writable(path, &metadata),
                ..place()
            });
            self.directory(source, entries);
        } else if kind.is_file() {
            self.places.push(place());
            self.member(source, path.to_owned(), Some(Regular::of(path, &metadata)), Access::Regular);
        } else if kind.is_fifo() {
            self.places.push(place());
            self.member(source, path.to_owned(), None, Access::Pipe);
        } else {
            let what = if kind.is_socket() { "it is a socket" } else { "it is a device" };
            return Err(Error::io("read", path, io::Error::other(what)));
        }
        Ok(())
    }

    fn member(&mut self, source: SourceId, path: PathBuf, file: Option<Regular>, access: Access) -> usize {
        let identity = file.map(|file| file.identity);
        if let Some(&index) = identity.as_ref().and_then(|identity| self.known.get(identity)) {
            let names = &mut self.members[index].names;
            if !names.contains(&path) {
                names.push(path);
            }
            return index;
        }
        let index = self.members.len();
        if let Some(identity) = identity {
            self.known.insert(identity, index);
        }
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

    fn directory(&mut self, source: SourceId, entries: Vec<Entry>) {
        // Hash links come last, so that a file is called by its own name.
        let (links, files): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.target.is_some() && entry.hash.is_some());
        let mut leftovers = Vec::new();
        for entry in files {
            let state = entry.state();
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
            let state = entry.state();
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
            if let Ok(metadata) = &entry.metadata
                && metadata.is_file()
                && let Some(&index) = self.known.get(&identity(metadata))
            {
                self.members[index].names.push(entry.path.clone());
            } else if entry.metadata.as_ref().is_ok_and(Metadata::is_file) {
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
    metadata: std::result::Result<Metadata, io::Error>,
}

impl Entry {
    fn state(&self) -> std::result::Result<Regular, Trouble> {
        match &self.metadata {
            Ok(metadata) => {
                let kind = metadata.file_type();
                if kind.is_file() {
                    Ok(Regular::of(&self.path, metadata))
                } else if kind.is_dir() {
                    Err(Trouble::Directory)
                } else if kind.is_fifo() {
                    Err(Trouble::NotRegular(Special::Fifo))
                } else if kind.is_socket() {
                    Err(Trouble::NotRegular(Special::Socket))
                } else {
                    Err(Trouble::NotRegular(Special::Device))
                }
            }
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

/// The entries of a directory, by name.
fn list(path: &Path) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let walk = WalkDir::new(path).min_depth(1).max_depth(1).follow_root_links(true).sort_by_file_name();
    for found in walk {
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let source = error
                    .into_io_error()
                    .unwrap_or_else(|| io::Error::other("the directory cannot be walked"));
                return Err(Error::io("read", path, source));
            }
        };
        let is_link = found.path_is_symlink();
        let target = if is_link { fs::read_link(found.path()).ok() } else { None };
        // `metadata` of a link must follow it; walkdir gives the link's own.
        let metadata = fs::metadata(found.path());
        entries.push(Entry {
            hash: LinkName::parse(found.file_name().as_bytes()),
            name: found.file_name().to_owned(),
            path: found.into_path(),
            target: if is_link { Some(target.unwrap_or_default()) } else { None },
            metadata,
        });
    }
    Ok(entries)
}

fn identity(metadata: &Metadata) -> Identity {
    Identity { device: metadata.dev(), inode: metadata.ino() }
}

/// What the directory says of a regular file.
#[derive(Debug, Clone, Copy)]
struct Regular {
    identity: Identity,
    size: u64,
    writable: Option<Writable>,
}

impl Regular {
    fn of(path: &Path, metadata: &Metadata) -> Self {
        Self { identity: identity(metadata), size: metadata.len(), writable: writable(path, metadata) }
    }
}

/// Who beside the owner may write; nobody on a file system that is mounted read-only, or in a sticky directory.
fn writable(path: &Path, metadata: &Metadata) -> Option<Writable> {
    let mode = metadata.mode();
    let who = match (mode & 0o002 != 0, mode & 0o020 != 0) {
        (true, _) => Writable::Others,
        (false, true) => Writable::Group,
        (false, false) => return None,
    };
    let sticky = metadata.is_dir() && mode & 0o1000 != 0;
    let read_only = || {
        rustix::fs::statvfs(path)
            .is_ok_and(|system| system.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
    };
    if sticky || read_only() { None } else { Some(who) }
}
