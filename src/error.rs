//! [`Error`]: an operation that has no result.
//!
//! What is wrong *inside* a store (a damaged block, a dangling link, an unreadable member) is not an error but a
//! finding: it is data, and the run goes on.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;

use crate::escape::visible_path;

/// The result of an operation of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation has no result. Nothing was changed, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call on a path failed.
    #[error("cannot {verb} {}: {source}{}", visible_path(path), advice(source))]
    Io {
        /// What was tried: `read`, `write`, `rename`.
        verb: &'static str,
        /// The path it was tried on.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A path that must be a directory is something else.
    #[error("{} is not a directory", visible_path(path))]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// A plan would do what is never done; the text says what and to which path.
    #[error("{0}")]
    Refused(#[from] Refusal),
    /// What was written does not read back as planned. The target was not touched.
    #[error("{} does not read back as it was written; nothing was replaced", visible_path(path))]
    ReadBack {
        /// The staged file.
        path: PathBuf,
    },
    /// Something changed between the reading of a store and the writing of its plan, of which nothing was done.
    #[error("{} changed while it was worked on; nothing was changed; run again", visible_path(path))]
    Changed {
        /// The path that changed.
        path: PathBuf,
    },
    /// A plan was carried out in part.
    #[error(
        "{source}; {done} of {of} changes were made before, each of them whole: run again, and the rest is made"
    )]
    Stopped {
        /// How many steps were done.
        done: usize,
        /// Of how many.
        of: usize,
        /// Why not the next one.
        source: Box<Error>,
    },
    /// Another process works on the same directory, and did not end in time.
    #[error(
        "{} is locked by {}, and still was after {} s (--lock-timeout); nothing was changed",
        visible_path(path),
        holder.as_ref().map_or_else(|| "another process".to_owned(), ToString::to_string),
        limit.as_secs()
    )]
    Locked {
        /// The directory.
        path: PathBuf,
        /// Who has the lock, where the system tells.
        holder: Option<Holder>,
        /// How long it was waited for.
        limit: Duration,
    },
    /// Root would write where anybody may put another file in the place of the one that is written.
    #[error(
        "others may write in {}, which is not sticky: root writes nothing there (chmod o-w it, or choose another)",
        visible_path(path)
    )]
    OthersMayWrite {
        /// The directory.
        path: PathBuf,
    },
    /// A file has an owner, a group or an attribute that a new file in its place cannot be given.
    #[error(
        "cannot give a new {} the {what} of the one that is there: {source}; that file was not replaced (run as its owner or as root, or remove it first)",
        visible_path(path)
    )]
    NotCarried {
        /// The file.
        path: PathBuf,
        /// What could not be carried over, safe to print.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// Writing through an existing file failed in the middle.
    #[error("cannot write through {}: {source}; {}", visible_path(path), if *restored {
        "what it held before is in it again"
    } else {
        "it may hold part of each: restore it from elsewhere"
    })]
    WriteThrough {
        /// The file.
        path: PathBuf,
        /// Whether the old bytes are back.
        restored: bool,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// An I/O error with what was tried, and on what.
    pub fn io(verb: &'static str, path: impl AsRef<Path>, source: impl Into<io::Error>) -> Self {
        Self::Io { verb, path: path.as_ref().to_owned(), source: source.into() }
    }
}

/// A process that has a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its number.
    pub process: i32,
    /// The name of its program, safe to print; empty where the system does not tell.
    pub name: String,
    /// Whose it is.
    pub user: Option<u32>,
}

impl fmt::Display for Holder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "process {}", self.process)?;
        if !self.name.is_empty() {
            write!(out, " ({})", self.name)?;
        }
        Ok(())
    }
}

/// What can be done about an error of the system, where its own words do not say.
fn advice(error: &io::Error) -> &'static str {
    let Some(code) = error.raw_os_error() else { return "" };
    match Errno::from_raw_os_error(code) {
        Errno::NOSPC => " (make room, or free inodes: df -i)",
        Errno::DQUOT => " (the quota of the file system is used up)",
        Errno::BUSY => {
            " (something is mounted on it, as container engines do with single files: mount its directory instead, \
             or see compact --in-place)"
        }
        Errno::MFILE => " (raise the limit of this process: ulimit -n)",
        Errno::NFILE => " (the system has no more: fs.file-max)",
        Errno::PERM => " (it belongs to somebody else, or is marked immutable: lsattr)",
        Errno::IO => " (the device or its file system is damaged: dmesg)",
        Errno::XDEV => " (it lies on two file systems, as in a layer of a container image)",
        _ => "",
    }
}

/// Why no plan was made. Each is a matter of policy: the user can name another one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No certificate would be left in an output.
    #[error("no certificate is left for {output}")]
    Empty {
        /// Which output, in words.
        output: String,
    },
    /// Inputs hold blocks that cannot be read without a guess, or certificates that readers refuse.
    #[error("{} malformed: {}", count(.places.len(), "block"), .places.join("; "))]
    Malformed {
        /// `path:line: what`, one for each.
        places: Vec<String>,
    },
    /// The existing output lacks certificates that it would gain.
    #[error("{output} would gain {} that it lacks: {}", count(.certificates.len(), "certificate"), .certificates.join("; "))]
    Gain {
        /// The output.
        output: String,
        /// Fingerprint and subject of each.
        certificates: Vec<String>,
    },
    /// A TRUSTED CERTIFICATE block stands in an input, and the policy says to refuse these.
    #[error("{} with trust attributes: {}", count(.places.len(), "block"), .places.join("; "))]
    Trusted {
        /// `path:line`, one for each.
        places: Vec<String>,
    },
    /// An input could not be read.
    #[error("an input cannot be read: {}", .places.join("; "))]
    Unreadable {
        /// `path: why`, one for each.
        places: Vec<String>,
    },
    /// More of the distinct certificates would go than a policy allows.
    #[error("{gone} of {of} distinct certificates would go without being named, more than {limit} per cent")]
    Shrinks {
        /// How many would go.
        gone: usize,
        /// Of how many.
        of: usize,
        /// The limit, in per cent.
        limit: u8,
    },
    /// A removal names what no input holds, and the policy says that each must.
    #[error("no input holds {}", .entries.join(", "))]
    Unmatched {
        /// The entries.
        entries: Vec<String>,
    },
    /// A name that a link needs is taken by something that must not be replaced.
    #[error("{path} is in the way: {what}")]
    InTheWay {
        /// The path.
        path: String,
        /// What stands there.
        what: &'static str,
    },
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
