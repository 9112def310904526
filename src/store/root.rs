//! Where paths start: the machine's root, or a directory that stands for one (an image, a chroot, a mounted disk).
//!
//! Inside such a directory absolute links and `..` never lead out: the kernel resolves each path with
//! `RESOLVE_IN_ROOT` (openat2(2), Linux 5.6).
#![allow(clippy::disallowed_methods, reason = "this module is where paths are resolved")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, StatVfsMountFlags};
use rustix::io::{Errno, retry_on_intr};
use walkdir::WalkDir;

use super::source::Identity;
use crate::error::{Error, Result};

/// How many links are followed by hand; the kernel's own limit.
const MOST_LINKS: usize = 40;

/// How often a path is resolved again where the kernel could not be sure.
const MOST_ATTEMPTS: u32 = 100;

/// The directory in which absolute paths start.
#[derive(Debug, Clone, Default)]
pub struct Root(Option<Arc<OwnedFd>>);

/// What stands at a path.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// Device and inode.
    pub identity: Identity,
    /// What it is.
    pub kind: FileType,
    /// Permission bits.
    pub mode: u32,
    /// Size in bytes.
    pub size: u64,
    /// Its owner.
    pub user: u32,
    /// Its group.
    pub group: u32,
    /// When its bytes last changed: seconds since 1970, and nanoseconds.
    pub modified: (i64, i64),
    /// When its bytes, its owner, its mode or its names last changed.
    pub changed: (i64, i64),
}

/// An entry of a directory.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// Whether it is a symbolic link.
    pub is_link: bool,
    /// Whether it is a directory itself, not a link to one.
    pub is_directory: bool,
}

impl Root {
    /// The machine's own root.
    #[must_use]
    pub fn host() -> Self {
        Self(None)
    }

    /// A directory that stands for a root.
    ///
    /// # Errors
    /// Where it cannot be opened, or the system cannot resolve paths inside it.
    pub fn inside(path: &Path) -> Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|error| Error::io("open the root", path, error))?;
        let root = Self(Some(Arc::new(handle)));
        match root.look(Path::new("/")) {
            Ok(_) => Ok(root),
            Err(error) if matches!(error.raw_os_error(), Some(code) if code == Errno::NOSYS.raw_os_error()) =>
            {
                let reason =
                    io::Error::other("this kernel has no openat2 (Linux 5.6), which keeps links inside");
                Err(Error::io("resolve paths in", path, reason))
            }
            Err(error) => Err(Error::io("resolve paths in", path, error)),
        }
    }

    /// Whether this is the machine's own root.
    #[must_use]
    pub fn is_host(&self) -> bool {
        self.0.is_none()
    }

    /// Opens a path.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let Some(root) = &self.0 else {
            return Ok(retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?);
        };
        // An absolute path starts at the root as well: RESOLVE_IN_ROOT sees to that.
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let mut attempts = 0;
        loop {
            match retry_on_intr(|| rustix::fs::openat2(root, path, flags, Mode::empty(), resolve)) {
                // A name was changed somewhere while the kernel followed `..`: openat2(2) asks to try again.
                Err(Errno::AGAIN) if attempts < MOST_ATTEMPTS => attempts += 1,
                opened => return Ok(opened?),
            }
        }
    }

    /// Whether there is anything at a path, links followed.
    ///
    /// # Errors
    /// [`Error::Io`] where the system does not say: that is not absence.
    pub fn has(&self, path: &Path) -> Result<bool> {
        present(self.look(path)).map_err(|error| Error::io("look at", path, error))
    }

    /// Where a link points; `None` where there is nothing, or no link.
    ///
    /// # Errors
    /// [`Error::Io`] where the system does not say.
    pub fn link_at(&self, path: &Path) -> Result<Option<PathBuf>> {
        match self.read_link(path) {
            Ok(target) => Ok(Some(target)),
            Err(error)
                if matches!(
                    Errno::from_io_error(&error),
                    Some(Errno::INVAL | Errno::NOENT | Errno::NOTDIR)
                ) =>
            {
                Ok(None)
            }
            Err(error) => Err(Error::io("look at", path, error)),
        }
    }

    /// What stands at a path, links followed.
    ///
    /// # Errors
    /// What the system says: not found for a link to nothing, too many links for a circle.
    pub fn look(&self, path: &Path) -> io::Result<Seen> {
        Ok(Seen::of(&match &self.0 {
            None => rustix::fs::stat(path)?,
            Some(_) => rustix::fs::fstat(self.open(path, OFlags::PATH | OFlags::CLOEXEC)?)?,
        }))
    }

    /// What stands at a path, the last link not followed.
    ///
    /// # Errors
    /// What the system says.
    pub fn look_at_link(&self, path: &Path) -> io::Result<Seen> {
        Ok(Seen::of(&match &self.0 {
            None => rustix::fs::lstat(path)?,
            Some(_) => {
                rustix::fs::fstat(self.open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)?)?
            }
        }))
    }

    /// Where a link points.
    ///
    /// # Errors
    /// What the system says.
    pub fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        if self.is_host() {
            return fs::read_link(path);
        }
        let handle = self.open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)?;
        let target = rustix::fs::readlinkat(&handle, "", Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.as_bytes())))
    }

    /// The entries of a directory, by name.
    ///
    /// # Errors
    /// What the system says.
    pub fn entries(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        if self.is_host() {
            for found in WalkDir::new(path).min_depth(1).max_depth(1).follow_root_links(true) {
                let found = found.map_err(|error| {
                    error
                        .into_io_error()
                        .unwrap_or_else(|| io::Error::other("the directory cannot be walked"))
                })?;
                entries.push(Entry {
                    name: found.file_name().to_owned(),
                    is_link: found.path_is_symlink(),
                    is_directory: found.file_type().is_dir(),
                });
            }
        } else {
            let handle = self.open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC)?;
            for found in rustix::fs::Dir::read_from(&handle)? {
                let found = found?;
                let name = OsStr::from_bytes(found.file_name().to_bytes());
                if name == "." || name == ".." {
                    continue;
                }
                let kind = match found.file_type() {
                    FileType::Unknown => {
                        let stat = rustix::fs::statat(&handle, name, AtFlags::SYMLINK_NOFOLLOW)?;
                        FileType::from_raw_mode(stat.st_mode)
                    }
                    kind => kind,
                };
                entries.push(Entry {
                    name: name.to_owned(),
                    is_link: kind == FileType::Symlink,
                    is_directory: kind == FileType::Directory,
                });
            }
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Whether a path lies on a file system that is mounted read-only.
    #[must_use]
    pub fn is_read_only(&self, path: &Path) -> bool {
        self.open(path, OFlags::PATH | OFlags::CLOEXEC)
            .and_then(|handle| Ok(rustix::fs::fstatvfs(handle)?))
            .is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::RDONLY))
    }

    /// The path that a link at the end of `path` leads to in the end, as seen from inside; the path itself where there
    /// is none. What stands there need not exist.
    ///
    /// # Errors
    /// What the system says; too many links for a circle.
    pub fn follow(&self, path: &Path) -> io::Result<PathBuf> {
        let mut path = path.to_owned();
        for _ in 0..MOST_LINKS {
            match self.look_at_link(&path) {
                Ok(seen) if seen.kind == FileType::Symlink => {
                    let target = self.read_link(&path)?;
                    path = self.tidied(path.parent().unwrap_or(Path::new("")).join(target));
                }
                Ok(_) => return Ok(path),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path),
                Err(error) => return Err(error),
            }
        }
        Err(Errno::LOOP.into())
    }

    /// A path without `..`, where that leads to the same directory: a name before `..` may be a link, and `..` then leads
    /// elsewhere.
    fn tidied(&self, path: PathBuf) -> PathBuf {
        let tidy = tidy(&path);
        let directory = |path: &Path| {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            self.look(parent.unwrap_or(Path::new("."))).ok().map(|seen| seen.identity)
        };
        match (directory(&path), directory(&tidy)) {
            (Some(one), Some(other)) if one == other && path.file_name() == tidy.file_name() => tidy,
            _ => path,
        }
    }

    /// Whether a link leads above the root, by its own text or by that of a link on its way: harmless inside, where `..`
    /// stops there, and a sign that the tree was made for another place. Only a root that is not the machine's has an
    /// outside. Counted from where the directories really are, not from the names that lead to them.
    #[must_use]
    pub fn leads_out(&self, link: &Path) -> bool {
        if self.is_host() {
            return false;
        }
        let mut ahead = steps(link);
        let mut at = PathBuf::new();
        let mut followed = 0;
        while let Some(step) = ahead.pop() {
            let Some(name) = step else {
                if !at.pop() {
                    return true;
                }
                continue;
            };
            at.push(name);
            let Ok(target) = self.read_link(&at) else { continue };
            followed += 1;
            if followed > MOST_LINKS {
                return false;
            }
            if target.is_absolute() {
                at = PathBuf::new();
            } else {
                at.pop();
            }
            ahead.extend(steps(&target));
        }
        false
    }
}

fn present(seen: io::Result<Seen>) -> io::Result<bool> {
    match seen {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// The names of a path, the first one last; `None` for `..`.
fn steps(path: &Path) -> Vec<Option<OsString>> {
    let names = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(Some(name.to_owned())),
        Component::ParentDir => Some(None),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    names.collect()
}

/// A path without `.` and without the `..` that a name before it answers.
fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

impl Seen {
    fn of(stat: &Stat) -> Self {
        Self {
            identity: Identity { device: stat.st_dev, inode: stat.st_ino },
            kind: FileType::from_raw_mode(stat.st_mode),
            mode: stat.st_mode & 0o7777,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            user: stat.st_uid,
            group: stat.st_gid,
            modified: (stat.st_mtime, stat.st_mtime_nsec.try_into().unwrap_or_default()),
            changed: (stat.st_ctime, stat.st_ctime_nsec.try_into().unwrap_or_default()),
        }
    }

    /// What a handle is open on.
    ///
    /// # Errors
    /// What the system says.
    pub fn through(handle: impl AsFd) -> io::Result<Self> {
        Ok(Self::of(&rustix::fs::fstat(handle)?))
    }

    /// Whether this is what was seen before, with the same bytes.
    #[must_use]
    pub fn is_still(&self, before: &Self) -> bool {
        let state = |seen: &Self| (seen.identity, seen.size, seen.modified, seen.changed);
        state(self) == state(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_tidied() {
        assert_eq!(tidy(Path::new("/etc/ssl/../pki/./a")), Path::new("/etc/pki/a"));
        assert_eq!(tidy(Path::new("../a")), Path::new("../a"));
    }
}
