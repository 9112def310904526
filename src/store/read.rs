//! The bytes of files: opened without blocking, checked on the handle, each inode once.
#![allow(clippy::disallowed_methods, reason = "this module is where files are read")]

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::root::{Root, Seen};

use crate::error::{Error, Result};

/// How often a file that changes under the reading is read again.
const ATTEMPTS: u32 = 3;

/// Reads a regular file. Never waits: a FIFO that took its place meanwhile is an error.
///
/// # Errors
/// [`Error::Io`], also where the path is no regular file any more; [`Error::Changed`] where it changed each time that
/// it was read.
pub fn regular(root: &Root, path: &Path) -> Result<Vec<u8>> {
    regular_seen(root, path).map(|(bytes, _)| bytes)
}

/// The same, with what the file was when it was read: [`watch`](super::watch) asks later whether it still is.
///
/// # Errors
/// Those of [`regular`].
pub fn regular_seen(root: &Root, path: &Path) -> Result<(Vec<u8>, Seen)> {
    for _ in 0..ATTEMPTS {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let handle = root.open(path, flags).map_err(|error| Error::io("open", path, error))?;
        let look = |file: &File| Seen::through(file).map_err(|error| Error::io("read", path, error));
        let mut file = File::from(handle);
        let before = look(&file)?;
        if before.kind != FileType::RegularFile {
            return Err(Error::io("read", path, io::Error::other("not a regular file")));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(before.size).unwrap_or(0).saturating_add(1));
        file.read_to_end(&mut bytes).map_err(|error| Error::io("read", path, error))?;
        let after = look(&file)?;
        // Not the time of the last change: a link to it may have been made or gone, which is no matter of its bytes.
        let state = |seen: &Seen| (seen.size, seen.modified);
        if state(&before) == state(&after) && bytes.len() as u64 == after.size {
            return Ok((bytes, after));
        }
    }
    Err(Error::Changed { path: path.to_owned() })
}

/// How much of a file [`find_last`] holds at a time, and how much of that it sees twice, so that no text is cut.
const STRETCH: usize = 64 * 1024;
const OVERLAP: usize = 256;

/// Asks for something in a regular file, stretch by stretch from its end: a library's text stands behind its code. What
/// is looked for must be shorter than 256 bytes. `None` where it is not there, and where the path is no regular file.
///
/// # Errors
/// [`Error::Io`].
pub fn find_last<T>(root: &Root, path: &Path, find: impl Fn(&[u8]) -> Option<T>) -> Result<Option<T>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fail = |error: Errno| Error::io("read", path, error);
    let handle = root.open(path, flags).map_err(|error| Error::io("open", path, error))?;
    let stat = rustix::fs::fstat(&handle).map_err(fail)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    let mut stretch = vec![0; STRETCH + OVERLAP];
    let mut start = u64::try_from(stat.st_size).unwrap_or(0);
    while start > 0 {
        start = start.saturating_sub(STRETCH as u64);
        let mut filled = 0;
        while filled < stretch.len() {
            match rustix::io::pread(&handle, &mut stretch[filled..], start + filled as u64) {
                Ok(0) => break,
                Ok(length) => filled += length,
                Err(Errno::INTR) => {}
                Err(error) => return Err(fail(error)),
            }
        }
        if let Some(found) = find(&stretch[..filled]) {
            return Ok(Some(found));
        }
    }
    Ok(None)
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
