//! [`Error`]: an operation that has no result.
//!
//! What is wrong *inside* a store (a damaged block, a dangling link, an unreadable member) is not an error but a
//! finding: it is data, and the run goes on.

use std::io;
use std::path::{Path, PathBuf};

use crate::escape::visible_path;

/// The result of an operation of this library.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation has no result. Nothing was changed, unless the variant says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call on a path failed.
    #[error("cannot {verb} {}: {source}", visible_path(path))]
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
    /// Something changed between the reading of a store and the writing of its plan. What was done before stays.
    #[error("{} changed while it was worked on; run again", visible_path(path))]
    Changed {
        /// The path that changed.
        path: PathBuf,
    },
}

impl Error {
    /// An I/O error with what was tried, and on what.
    pub fn io(verb: &'static str, path: impl AsRef<Path>, source: impl Into<io::Error>) -> Self {
        Self::Io { verb, path: path.as_ref().to_owned(), source: source.into() }
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
