//! One writer at a time: an advisory lock on each directory that is written in.
//!
//! flock(2) on the directory itself: nothing is left behind, and the kernel gives it back however a process ends. Who
//! only reads takes none.
#![allow(clippy::disallowed_methods, reason = "who has a lock stands in /proc")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, major, minor};
use rustix::io::Errno;

use super::atomic::Directory;
use crate::error::{Error, Holder, Result};
use crate::escape::visible;
use crate::store::root::Root;
use crate::store::source::Identity;

/// How long a lock is waited for where nobody says otherwise: twenty runs one after the other take a second or two.
pub const LIMIT: Duration = Duration::from_secs(10);
/// How long between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Directories in which no other castore writes as long as this lives.
#[derive(Debug)]
pub struct Lock {
    directories: Vec<Directory>,
    ignored: Vec<(PathBuf, Holder)>,
}

impl Lock {
    /// Locks directories, and removes what killed runs have left in them. Waits for whoever has a lock, up to a limit for
    /// all of them together.
    ///
    /// Whoever may read a directory may lock it. Where the one who does is a user who may not write there (neither root,
    /// nor the directory's owner, nor this process's user), the lock keeps nothing safe, and would keep a store from ever
    /// being mended: it is passed over, see [`Lock::ignored`].
    ///
    /// # Errors
    /// [`Error::Io`] where a directory cannot be opened, [`Error::Locked`] where somebody has a lock for too long.
    pub fn take(root: &Root, paths: &[PathBuf], limit: Duration) -> Result<Self> {
        let mut open = Vec::new();
        for path in paths {
            let directory = Directory::open(root, path)?;
            open.push((directory.identity()?, directory));
        }
        // In one order, whoever asks: two runs that want the same two cannot wait for each other.
        open.sort_by_key(|(identity, _)| *identity);
        let mut lock = Self { directories: Vec::new(), ignored: Vec::new() };
        let mut left = limit;
        let mut before = None;
        for (identity, directory) in open {
            // A second handle on the same directory would wait for the first one.
            if before.replace(identity) != Some(identity) {
                if wait(&directory, identity, limit, &mut left, &mut lock.ignored)? {
                    directory.remove_staged();
                }
                lock.directories.push(directory);
            }
        }
        Ok(lock)
    }

    /// Locks that were passed over: the directory, and who has it.
    #[must_use]
    pub fn ignored(&self) -> &[(PathBuf, Holder)] {
        &self.ignored
    }

    /// The locked directory that stands at a path now.
    ///
    /// # Errors
    /// [`Error::Changed`] where another one took its place since.
    pub(super) fn directory(&self, root: &Root, path: &Path) -> Result<Option<&Directory>> {
        let now =
            root.look(super::atomic::or_here(path)).map_err(|error| Error::io("look at", path, error))?;
        for directory in &self.directories {
            if directory.identity()? == now.identity {
                return Ok(Some(directory));
            }
            if directory.path() == super::atomic::or_here(path) {
                return Err(Error::Changed { path: path.to_owned() });
            }
        }
        Ok(None)
    }
}

/// Whether the lock was had; not where it was passed over, or the file system knows no locks.
fn wait(
    directory: &Directory,
    identity: Identity,
    limit: Duration,
    left: &mut Duration,
    ignored: &mut Vec<(PathBuf, Holder)>,
) -> Result<bool> {
    loop {
        match rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::INTR) => continue,
            Err(Errno::WOULDBLOCK) => {}
            // Without locks nobody has one.
            Err(_) => return Ok(false),
        }
        let holder = holder(identity);
        if let Some(holder) = holder.clone().filter(|holder| !may_write(holder, directory)) {
            ignored.push((directory.path().to_owned(), holder));
            return Ok(false);
        }
        if left.is_zero() {
            return Err(Error::Locked { path: directory.path().to_owned(), holder, limit });
        }
        let pause = PAUSE.min(*left);
        std::thread::sleep(pause);
        *left -= pause;
    }
}

fn may_write(holder: &Holder, directory: &Directory) -> bool {
    let owner = directory.owner().ok();
    holder.user.is_none_or(|user| {
        user == 0 || user == rustix::process::geteuid().as_raw() || owner.is_none_or(|owner| user == owner)
    })
}

/// Who has a directory locked, by /proc/locks (proc_locks(5)); `None` where that does not tell: without /proc, from
/// another PID namespace, on a file system whose device has two numbers.
fn holder(identity: Identity) -> Option<Holder> {
    let text = fs::read_to_string("/proc/locks").ok()?;
    let device = identity.device;
    let place = format!("{:02x}:{:02x}:{}", major(device), minor(device), identity.inode);
    let process: i32 = text.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["FLOCK", _, "WRITE", process, at] = words.get(1..6)? else { return None };
        if *at == place { process.parse().ok() } else { None }
    })?;
    if process <= 0 {
        return None;
    }
    let told = PathBuf::from(format!("/proc/{process}"));
    let name = fs::read(told.join("comm")).unwrap_or_default();
    Some(Holder {
        process,
        name: visible(String::from_utf8_lossy(&name).trim_end()).into_owned(),
        user: rustix::fs::stat(&told).ok().map(|stat| stat.st_uid),
    })
}
