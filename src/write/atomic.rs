//! One file or link put in place at once: there is the old one, or the new one, never less.
#![allow(clippy::disallowed_methods, reason = "this module is where files are written")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, RenameFlags, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;

use crate::error::{Error, Result};
use crate::store::root::Root;

/// Names that are tried before staging gives up: each is one that somebody else has.
const ATTEMPTS: u32 = 100;
/// How often a lock is asked for, and how long between.
const LOCK_ATTEMPTS: u32 = 60;
const LOCK_PAUSE: Duration = Duration::from_millis(50);
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A directory that is written in, held open, so that it stays the same one.
#[derive(Debug)]
pub struct Directory {
    handle: OwnedFd,
    path: PathBuf,
}

/// A file that is written and flushed, and has no name that anybody reads yet. Dropped, it is removed.
#[derive(Debug)]
pub struct Staged<'a> {
    directory: &'a Directory,
    name: OsString,
    armed: bool,
}

/// A directory in which no other castore makes links as long as this lives: flock(2) on the directory itself, which
/// leaves nothing behind.
#[derive(Debug)]
pub struct Lock {
    _handle: OwnedFd,
}

impl Lock {
    /// Waits for whoever has the lock, up to three seconds; `None` where that one still has it then. Whoever may read
    /// a directory may lock it: a lock that was waited for without end would let anybody keep a store from ever being
    /// mended.
    ///
    /// # Errors
    /// [`Error::Io`] where the directory cannot be opened.
    pub fn take(root: &Root, path: &Path) -> Result<Option<Self>> {
        let Directory { handle, .. } = Directory::open(root, path)?;
        for _ in 0..LOCK_ATTEMPTS {
            match rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(Self { _handle: handle })),
                Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(LOCK_PAUSE),
                // A file system without locks: nobody holds one.
                Err(_) => return Ok(Some(Self { _handle: handle })),
            }
        }
        Ok(None)
    }
}

impl Directory {
    /// Opens a directory.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(root: &Root, path: &Path) -> Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = root.open(path, flags).map_err(|error| Error::io("open", path, error))?;
        Ok(Self { handle, path: path.to_owned() })
    }

    /// Opens a directory inside, which must be no link.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open_inside(&self, name: &OsStr) -> Result<Self> {
        let path = self.path.join(name);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(&self.handle, name, flags, Mode::empty())
            .map_err(|error| Error::io("open", &path, error))?;
        Ok(Self { handle, path })
    }

    /// Removes a directory that a run has made and filled with files and links. What cannot be removed stays.
    pub fn remove_stage_directory(&self, name: &OsStr) {
        if let Ok(stage) = self.open_inside(name)
            && let Ok(entries) = rustix::fs::Dir::read_from(&stage.handle)
        {
            for entry in entries.flatten() {
                let _ = rustix::fs::unlinkat(&stage.handle, entry.file_name(), AtFlags::empty());
            }
        }
        let _ = rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR);
    }

    /// A name that no `rehash` reads and that castore knows again.
    fn stage_name() -> OsString {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let process = rustix::process::getpid().as_raw_nonzero();
        OsString::from(format!(".castore-{process}-{number}.tmp"))
    }

    /// Writes bytes under a name of its own, mode 0644 whatever the umask.
    ///
    /// # Errors
    /// [`Error::Io`]; nothing is left behind.
    pub fn stage(&self, bytes: &[u8]) -> Result<Staged<'_>> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS {
            let name = Self::stage_name();
            let handle = match rustix::fs::openat(&self.handle, &name, flags, Mode::from_raw_mode(0o600)) {
                Ok(handle) => handle,
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(Error::io("write in", &self.path, error)),
            };
            let staged = Staged { directory: self, name, armed: true };
            let fail = |error: io::Error| Error::io("write", self.path.join(&staged.name), error);
            let mut file = File::from(handle);
            file.write_all(bytes).map_err(fail)?;
            rustix::fs::fchmod(&file, Mode::from_raw_mode(0o644)).map_err(|error| fail(error.into()))?;
            return Ok(staged);
        }
        Err(Error::io("write in", &self.path, io::Error::from(Errno::EXIST)))
    }

    /// Makes a symbolic link, or moves a new one over the one that is there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn link(&self, name: &OsStr, target: &OsStr, replaces: bool) -> Result<()> {
        let fail = |error: Errno| Error::io("link", self.path.join(name), error);
        if !replaces {
            return rustix::fs::symlinkat(target, &self.handle, name).map_err(fail);
        }
        for _ in 0..ATTEMPTS {
            let stage = Self::stage_name();
            match rustix::fs::symlinkat(target, &self.handle, &stage) {
                Ok(()) => {}
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(fail(error)),
            }
            return rustix::fs::renameat(&self.handle, &stage, &self.handle, name).map_err(|error| {
                let _ = rustix::fs::unlinkat(&self.handle, &stage, AtFlags::empty());
                fail(error)
            });
        }
        Err(fail(Errno::EXIST))
    }

    /// Opens a directory, which is made where it is missing, with those above it; mode 0755 whatever the umask.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn make_all(root: &Root, path: &Path) -> Result<Self> {
        let mut directory = Self::open(root, Path::new("/"))?;
        let mut so_far = PathBuf::from("/");
        for part in path.components().filter(|part| matches!(part, std::path::Component::Normal(_))) {
            so_far.push(part);
            let name = part.as_os_str();
            match rustix::fs::mkdirat(&directory.handle, name, Mode::from_raw_mode(0o755)) {
                Ok(()) => {
                    let mode = Mode::from_raw_mode(0o755);
                    rustix::fs::chmodat(&directory.handle, name, mode, AtFlags::empty())
                        .map_err(|error| Error::io("make", &so_far, error))?;
                    directory.sync()?;
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(Error::io("make", &so_far, error)),
            }
            directory = Self::open(root, &so_far)?;
        }
        Ok(directory)
    }

    /// Gives a file or link another name, never over anything that is there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        let fail = |error: Errno| Error::io("rename", self.path.join(from), error);
        match rustix::fs::renameat_with(&self.handle, from, &self.handle, to, RenameFlags::NOREPLACE) {
            // Not every file system knows the flag.
            Err(Errno::INVAL | Errno::NOSYS) => {
                match rustix::fs::statat(&self.handle, to, AtFlags::SYMLINK_NOFOLLOW) {
                    Err(Errno::NOENT) => {
                        rustix::fs::renameat(&self.handle, from, &self.handle, to).map_err(fail)
                    }
                    Ok(_) => Err(fail(Errno::EXIST)),
                    Err(error) => Err(fail(error)),
                }
            }
            other => other.map_err(fail),
        }
    }

    /// Gives a file or link another name; what had it is gone.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn replace(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        rustix::fs::renameat(&self.handle, from, &self.handle, to)
            .map_err(|error| Error::io("rename", self.path.join(from), error))
    }

    /// Gives a file or link to an owner and a group; where they are so already, nothing is asked of the system.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn give(&self, name: &OsStr, (user, group): (u32, u32)) -> Result<()> {
        let fail = |error: Errno| Error::io("give away", self.path.join(name), error);
        let stat = rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).map_err(fail)?;
        if (stat.st_uid, stat.st_gid) == (user, group) {
            return Ok(());
        }
        let (user, group) = (rustix::fs::Uid::from_raw(user), rustix::fs::Gid::from_raw(group));
        rustix::fs::chownat(&self.handle, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)
            .map_err(fail)
    }

    /// Removes a directory inside, if nothing is in it.
    pub fn remove_empty(&self, name: &OsStr) {
        let _ = rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR);
    }

    /// Removes a name. One that is gone already is no error.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn remove(&self, name: &OsStr) -> Result<()> {
        match rustix::fs::unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(Error::io("remove", self.path.join(name), error)),
        }
    }

    /// Makes the names last.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sync(&self) -> Result<()> {
        match rustix::fs::fsync(&self.handle) {
            // Some file systems have no fsync for directories.
            Ok(()) | Err(Errno::INVAL) => Ok(()),
            Err(error) => Err(Error::io("flush", &self.path, error)),
        }
    }

    /// Makes a directory inside, mode 0755 whatever the umask.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn make_stage_directory(&self) -> Result<OsString> {
        for _ in 0..ATTEMPTS {
            let name = Self::stage_name();
            match rustix::fs::mkdirat(&self.handle, &name, Mode::from_raw_mode(0o700)) {
                Ok(()) => return Ok(name),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(Error::io("make a directory in", &self.path, error)),
            }
        }
        Err(Error::io("make a directory in", &self.path, io::Error::from(Errno::EXIST)))
    }

    /// Gives a directory inside its name; never over anything that is there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn place_directory(&self, stage: &OsStr, name: &OsStr) -> Result<()> {
        let fail = |error: Errno| Error::io("make", self.path.join(name), error);
        let mode = Mode::from_raw_mode(0o755);
        rustix::fs::chmodat(&self.handle, stage, mode, AtFlags::empty()).map_err(fail)?;
        match rustix::fs::renameat_with(&self.handle, stage, &self.handle, name, RenameFlags::NOREPLACE) {
            // Not every file system knows the flag. A plain rename replaces an empty directory at most.
            Err(Errno::INVAL | Errno::NOSYS) => {
                rustix::fs::renameat(&self.handle, stage, &self.handle, name).map_err(fail)
            }
            other => other.map_err(fail),
        }
    }

    /// The path it was opened by.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says when an entry was last changed, in seconds since 1970; of a link it is said of the link itself.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn set_time(&self, name: &OsStr, seconds: i64) -> Result<()> {
        let times = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
            last_modification: Timespec { tv_sec: seconds, tv_nsec: 0 },
        };
        rustix::fs::utimensat(&self.handle, name, &times, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| Error::io("set the time of", self.path.join(name), error))
    }
}

impl Staged<'_> {
    fn open(&self) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.directory.handle, &self.name, flags, Mode::empty())
            .map(File::from)
            .map_err(|error| Error::io("read back", self.path(), error))
    }

    /// Where it is staged.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.path.join(&self.name)
    }

    /// What it holds, read anew.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn read_back(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open()?.read_to_end(&mut bytes).map_err(|error| Error::io("read back", self.path(), error))?;
        Ok(bytes)
    }

    /// Makes its bytes last.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sync(&self) -> Result<()> {
        self.open()?.sync_all().map_err(|error| Error::io("flush", self.path(), error))
    }

    /// Gives it its name; what had the name before is gone.
    ///
    /// # Errors
    /// [`Error::Io`]; then the old file is still there.
    pub fn place(mut self, name: &OsStr) -> Result<()> {
        let directory = self.directory;
        rustix::fs::renameat(&directory.handle, &self.name, &directory.handle, name)
            .map_err(|error| Error::io("replace", directory.path.join(name), error))?;
        self.armed = false;
        Ok(())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if self.armed {
            let _ = rustix::fs::unlinkat(&self.directory.handle, &self.name, AtFlags::empty());
        }
    }
}
