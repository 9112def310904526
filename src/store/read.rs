//! The bytes of files: opened without blocking, checked on the handle, each inode once.
#![allow(clippy::disallowed_methods, reason = "this module is where files are read")]

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{FileType, OFlags};

use super::root::Root;

use crate::error::{Error, Result};

/// How often a file that changes under the reading is read again.
const ATTEMPTS: u32 = 3;

/// Reads a regular file. Never waits: a FIFO that took its place meanwhile is an error.
///
/// # Errors
/// [`Error::Io`], also where the path is no regular file any more; [`Error::Changed`] where it changed each time that
/// it was read.
pub fn regular(root: &Root, path: &Path) -> Result<Vec<u8>> {
    for _ in 0..ATTEMPTS {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let handle = root.open(path, flags).map_err(|error| Error::io("open", path, error))?;
        let stat = |handle: &File| rustix::fs::fstat(handle).map_err(|error| Error::io("read", path, error));
        let mut file = File::from(handle);
        let before = stat(&file)?;
        if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
            return Err(Error::io("read", path, io::Error::other("not a regular file")));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(before.st_size).unwrap_or(0).saturating_add(1));
        file.read_to_end(&mut bytes).map_err(|error| Error::io("read", path, error))?;
        let after = stat(&file)?;
        let state = |stat: &rustix::fs::Stat| (stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
        if state(&before) == state(&after) && bytes.len() as u64 == after.st_size as u64 {
            return Ok(bytes);
        }
    }
    Err(Error::Changed { path: path.to_owned() })
}

/// Reads a pipe, or a list that may be one, that the user named, to its end.
///
/// # Errors
/// [`Error::Io`].
pub fn pipe(root: &Root, path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    root.open(path, OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC)
        .and_then(|handle| File::from(handle).read_to_end(&mut bytes))
        .map_err(|error| Error::io("read", path, error))?;
    Ok(bytes)
}

/// Reads standard input to its end.
///
/// # Errors
/// [`Error::Io`].
pub fn standard_input() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::stdin().lock().read_to_end(&mut bytes).map_err(|error| Error::io("read", "-", error))?;
    Ok(bytes)
}
