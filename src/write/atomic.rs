//! One file or link put in place at once: there is the old one, or the new one, never less.
#![allow(clippy::disallowed_methods, reason = "this module is where files are written")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Timespec, Timestamps, UTIME_OMIT, Uid, XattrFlags,
};
use rustix::io::{Errno, retry_on_intr};

use crate::error::{Error, Result};
use crate::escape::visible;
use crate::store::root::{Root, Seen};
use crate::store::source::{Identity, STAGED, is_staged};

/// Names that are tried before staging gives up: each is one that somebody else has.
const ATTEMPTS: u32 = 100;
/// Attributes whose value is about the bytes of a file: a new file's own would be wrong.
const ABOUT_BYTES: &[&str] = &["security.ima", "security.evm"];
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A directory that is written in, held open, so that it stays the same one.
#[derive(Debug)]
pub struct Directory {
    handle: OwnedFd,
    path: PathBuf,
}

/// A file that is written, and has no name that anybody reads yet. Dropped, it is removed.
#[derive(Debug)]
pub struct Staged<'a> {
    directory: &'a Directory,
    name: OsString,
    /// Open until it is flushed: an error of the device is told to the handle that wrote.
    file: Option<File>,
    armed: bool,
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// The path of a directory as the system takes it.
pub(super) fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

impl Directory {
    /// Opens a directory.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open(root: &Root, path: &Path) -> Result<Self> {
        let path = or_here(path);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = root.open(path, flags).map_err(|error| Error::io("open", path, error))?;
        Ok(Self { handle, path: path.to_owned() })
    }

    /// The same directory once more.
    ///
    /// # Errors
    /// [`Error::Io`] where there is no free file descriptor.
    pub(super) fn try_clone(&self) -> Result<Self> {
        let handle = self.handle.try_clone().map_err(|error| Error::io("open", &self.path, error))?;
        Ok(Self { handle, path: self.path.clone() })
    }

    /// Opens a directory to write in it.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::OthersMayWrite`].
    pub fn open_to_write(root: &Root, path: &Path) -> Result<Self> {
        let directory = Self::open(root, path)?;
        directory.refuse_others()?;
        Ok(directory)
    }

    /// Root does not write where anybody may put something else under the name that is written.
    ///
    /// # Errors
    /// [`Error::OthersMayWrite`].
    pub(super) fn refuse_others(&self) -> Result<()> {
        let seen = self.seen()?;
        let sticky = seen.mode & 0o1000 != 0;
        if rustix::process::geteuid().is_root() && seen.mode & 0o002 != 0 && !sticky {
            return Err(Error::OthersMayWrite { path: self.path.clone() });
        }
        Ok(())
    }

    fn seen(&self) -> Result<Seen> {
        Seen::through(&self.handle).map_err(|error| Error::io("look at", &self.path, error))
    }

    /// Device and inode.
    pub(super) fn identity(&self) -> Result<Identity> {
        self.seen().map(|seen| seen.identity)
    }

    /// The user whose it is.
    pub(super) fn owner(&self) -> Result<u32> {
        self.seen().map(|seen| seen.user)
    }

    /// Removes what runs that were killed have staged here. Whoever stages here has the lock: nobody is at it now.
    pub(super) fn remove_staged(&self) {
        let Ok(entries) = rustix::fs::Dir::read_from(&self.handle) else { return };
        let names: Vec<OsString> = entries
            .flatten()
            .map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned())
            .filter(|name| is_staged(name.as_bytes()))
            .collect();
        for name in names {
            // A file or a link; else a directory, which holds no other directory.
            if self.remove(&name).is_err() {
                self.remove_stage_directory(&name);
            }
        }
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
        let (start, end) = STAGED;
        OsString::from(format!("{start}{process}-{number}{end}"))
    }

    /// Writes bytes under a name of its own. It gets owner, mode and extended attributes of the file that it is to
    /// replace; where there is none, mode 0644 whatever the umask.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::NotCarried`]; nothing is left behind.
    pub(super) fn stage(&self, bytes: &[u8], replaces: &OsStr) -> Result<Staged<'_>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS {
            let name = Self::stage_name();
            let mode = Mode::from_raw_mode(0o600);
            let handle = match retry_on_intr(|| rustix::fs::openat(&self.handle, &name, flags, mode)) {
                Ok(handle) => handle,
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(Error::io("write in", &self.path, error)),
            };
            let mut file = File::from(handle);
            let mut staged = Staged { directory: self, name, file: None, armed: true };
            let fail = |error: io::Error| Error::io("write", self.path.join(&staged.name), error);
            file.write_all(bytes).map_err(fail)?;
            match self.open_existing(replaces)? {
                Some(existing) => carry_over(&existing, &file, &self.path.join(replaces))?,
                None => {
                    let mode = Mode::from_raw_mode(0o644);
                    retry_on_intr(|| rustix::fs::fchmod(&file, mode)).map_err(|error| fail(error.into()))?;
                }
            }
            staged.file = Some(file);
            return Ok(staged);
        }
        Err(Error::io("write in", &self.path, io::Error::from(Errno::EXIST)))
    }

    /// The regular file of a name; `None` where there is nothing, or something else.
    fn open_existing(&self, name: &OsStr) -> Result<Option<File>> {
        let fail = |error: Errno| Error::io("open", self.path.join(name), error);
        let stat = match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(fail(error)),
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        retry_on_intr(|| rustix::fs::openat(&self.handle, name, flags, Mode::empty()))
            .map(|handle| Some(File::from(handle)))
            .map_err(fail)
    }

    /// Writes into the existing file itself, not beside it: for one that something is mounted on, whose name nobody can
    /// give to another file. Readers may see part of each for a moment; where it fails, the old bytes are put back.
    ///
    /// # Errors
    /// [`Error::Io`] where nothing was written yet, else [`Error::WriteThrough`].
    pub fn write_through(&self, name: &OsStr, bytes: &[u8]) -> Result<()> {
        let path = self.path.join(name);
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mut file = retry_on_intr(|| rustix::fs::openat(&self.handle, name, flags, Mode::empty()))
            .map(File::from)
            .map_err(|error| Error::io("write through", &path, error))?;
        let mut before = Vec::new();
        file.read_to_end(&mut before).map_err(|error| Error::io("read", &path, error))?;
        overwrite(&mut file, bytes).map_err(|source| {
            let restored = overwrite(&mut file, &before).is_ok();
            Error::WriteThrough { path, restored, source }
        })
    }

    /// Makes a symbolic link, or moves a new one over the one that is there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn link(&self, name: &OsStr, target: &OsStr, replaces: bool) -> Result<()> {
        let fail = |error: Errno| Error::io("link", self.path.join(name), error);
        if !replaces {
            return retry_on_intr(|| rustix::fs::symlinkat(target, &self.handle, name)).map_err(fail);
        }
        for _ in 0..ATTEMPTS {
            let stage = Self::stage_name();
            match retry_on_intr(|| rustix::fs::symlinkat(target, &self.handle, &stage)) {
                Ok(()) => {}
                Err(Errno::EXIST) => continue,
                Err(error) => return Err(fail(error)),
            }
            let place = || rustix::fs::renameat(&self.handle, &stage, &self.handle, name);
            return retry_on_intr(place).map_err(|error| {
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
            match retry_on_intr(|| rustix::fs::mkdirat(&directory.handle, name, Mode::from_raw_mode(0o755))) {
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
        retry_on_intr(|| rustix::fs::renameat(&self.handle, from, &self.handle, to))
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
        let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
        rustix::fs::chownat(&self.handle, name, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW)
            .map_err(fail)
    }

    /// Removes a directory inside, if nothing is in it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn remove_empty(&self, name: &OsStr) -> Result<()> {
        match retry_on_intr(|| rustix::fs::unlinkat(&self.handle, name, AtFlags::REMOVEDIR)) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(()),
            Err(error) => Err(Error::io("remove", self.path.join(name), error)),
        }
    }

    /// Removes a name. One that is gone already is no error.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn remove(&self, name: &OsStr) -> Result<()> {
        match retry_on_intr(|| rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(Error::io("remove", self.path.join(name), error)),
        }
    }

    /// Makes the names last.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn sync(&self) -> Result<()> {
        match retry_on_intr(|| rustix::fs::fsync(&self.handle)) {
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
            match retry_on_intr(|| rustix::fs::mkdirat(&self.handle, &name, Mode::from_raw_mode(0o700))) {
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

/// Gives a new file what the old one of its name has: owner, group, mode, extended attributes (SELinux's label and access
/// control lists among them).
fn carry_over(old: &File, new: &File, path: &Path) -> Result<()> {
    let fail = |what: &str, source: Errno| Error::NotCarried {
        path: path.to_owned(),
        what: what.to_owned(),
        source: source.into(),
    };
    let look = |file: &File| Seen::through(file).map_err(|error| Error::io("look at", path, error));
    let (had, has) = (look(old)?, look(new)?);
    if (had.user, had.group) != (has.user, has.group) {
        let (user, group) = (Uid::from_raw(had.user), Gid::from_raw(had.group));
        retry_on_intr(|| rustix::fs::fchown(new, Some(user), Some(group)))
            .map_err(|error| fail("owner and group", error))?;
    }
    // After the owner, whose change takes set-ID bits away; a list of who may read replaces the group's bits after this.
    let mode = Mode::from_raw_mode(had.mode);
    retry_on_intr(|| rustix::fs::fchmod(new, mode)).map_err(|error| fail("mode", error))?;
    let names = attributes(old, path)?;
    for name in attributes(new, path)?.iter().filter(|name| !names.contains(name)) {
        // Inherited from the directory. A label that the system gives to everything cannot be taken away.
        let _ = rustix::fs::fremovexattr(new, name.as_os_str());
    }
    for name in names.iter().filter(|name| !ABOUT_BYTES.iter().any(|one| name.as_os_str() == *one)) {
        let shown = || visible(&name.to_string_lossy()).into_owned();
        let value = attribute(old, name).map_err(|error| fail(&shown(), error))?;
        if attribute(new, name).is_ok_and(|there| there == value) {
            continue;
        }
        rustix::fs::fsetxattr(new, name.as_os_str(), &value, XattrFlags::empty())
            .map_err(|error| fail(&shown(), error))?;
    }
    Ok(())
}

/// The names of a file's extended attributes; none on a file system without any.
fn attributes(file: &File, path: &Path) -> Result<Vec<OsString>> {
    let mut names: Vec<u8> = Vec::with_capacity(1024);
    loop {
        match rustix::fs::flistxattr(file, rustix::buffer::spare_capacity(&mut names)) {
            Ok(_) => break,
            Err(Errno::RANGE) => names.reserve(names.capacity() * 2),
            Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("list the attributes of", path, error)),
        }
    }
    let named = names.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Ok(named.map(|name| OsStr::from_bytes(name).to_owned()).collect())
}

fn attribute(file: &File, name: &OsStr) -> rustix::io::Result<Vec<u8>> {
    let mut value: Vec<u8> = Vec::with_capacity(256);
    loop {
        match rustix::fs::fgetxattr(file, name, rustix::buffer::spare_capacity(&mut value)) {
            Ok(_) => return Ok(value),
            Err(Errno::RANGE) => value.reserve(value.capacity() * 2),
            Err(error) => return Err(error),
        }
    }
}

/// Puts bytes in the place of what a file holds, and makes them last.
fn overwrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()?;
    let mut back = Vec::with_capacity(bytes.len() + 1);
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut back)?;
    if back == bytes { Ok(()) } else { Err(io::Error::other("it does not read back as it was written")) }
}

impl Staged<'_> {
    /// Where it is staged.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.path.join(&self.name)
    }

    /// Makes its bytes last, and gives them back as they are read then.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(&mut self) -> Result<Vec<u8>> {
        let Some(mut file) = self.file.take() else { return Ok(Vec::new()) };
        retry_on_intr(|| rustix::fs::fsync(&file)).map_err(|error| Error::io("flush", self.path(), error))?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0))
            .and_then(|_| file.read_to_end(&mut bytes))
            .map_err(|error| Error::io("read back", self.path(), error))?;
        Ok(bytes)
    }

    /// Gives it its name; what had the name before is gone.
    ///
    /// # Errors
    /// [`Error::Io`]; then the old file is still there.
    pub fn place(mut self, name: &OsStr) -> Result<()> {
        let directory = self.directory;
        retry_on_intr(|| rustix::fs::renameat(&directory.handle, &self.name, &directory.handle, name))
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
