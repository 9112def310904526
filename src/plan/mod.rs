//! What would be written: decided beforehand, pure, ordered, printable. `--dry-run` prints what a run applies.

pub mod compact;
pub mod dedupe;
pub mod links;
pub mod policy;
pub mod rehash;
pub mod tune;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::certificate::fingerprint::Fingerprint;

/// What happens to a certificate or a path, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Action {
    /// A certificate does not go into the output.
    Drop,
    /// Something stays although the plan would not have put it there.
    Keep,
    /// A certificate goes in, in another form than it stood in.
    Repair,
    /// The output trusts something that it did not trust before.
    Gain,
    /// A hash link is made or changed.
    Link,
    /// A hash link goes.
    Unlink,
    /// A file is written.
    Write,
    /// A file goes.
    Remove,
}

impl Action {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Keep => "keep",
            Self::Repair => "repair",
            Self::Gain => "gain",
            Self::Link => "link",
            Self::Unlink => "unlink",
            Self::Write => "write",
            Self::Remove => "remove",
        }
    }
}

/// One line of what a plan does, or leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What.
    pub action: Action,
    /// Where.
    pub path: PathBuf,
    /// Which certificate, if it is about one.
    pub certificate: Option<Fingerprint>,
    /// Why, in words that are safe to print.
    pub reason: String,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Makes a directory, mode 0755.
    MakeDirectory {
        /// Its path.
        path: PathBuf,
    },
    /// Writes a file beside its place and moves it there, mode 0644.
    WriteFile {
        /// Its path.
        path: PathBuf,
        /// Its bytes.
        bytes: Vec<u8>,
        /// The certificates that it must read back as, in order.
        holds: Vec<Fingerprint>,
        /// And how many blocks that are no certificates.
        others: usize,
    },
    /// Makes a symbolic link, or puts another in its place.
    Link {
        /// The link.
        path: PathBuf,
        /// What it points to.
        target: OsString,
        /// Whether a link of this name stands there.
        replaces: bool,
    },
    /// Removes a symbolic link.
    Unlink {
        /// The link.
        path: PathBuf,
    },
    /// Removes a file.
    RemoveFile {
        /// The file.
        path: PathBuf,
    },
}

impl Step {
    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::MakeDirectory { path }
            | Self::WriteFile { path, .. }
            | Self::Link { path, .. }
            | Self::Unlink { path }
            | Self::RemoveFile { path } => path,
        }
    }

    /// Whether it only takes something away.
    #[must_use]
    pub fn removes(&self) -> bool {
        matches!(self, Self::Unlink { .. } | Self::RemoveFile { .. })
    }
}

/// What a run does, in order.
///
/// At every step each certificate that was reachable and stays in the plan is still reachable. Applying a plan twice
/// equals applying it once, and planning again afterwards gives no steps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// What is done. Empty: nothing is to be done.
    pub steps: Vec<Step>,
    /// What that means, and what is left as it is.
    pub changes: Vec<Change>,
    /// What people should know beside.
    pub notes: Vec<String>,
    /// What is written to, and how many certificates are in it afterwards by this plan.
    pub outputs: Vec<(PathBuf, usize)>,
}

impl Plan {
    pub(crate) fn change(
        &mut self,
        action: Action,
        path: impl Into<PathBuf>,
        certificate: Option<Fingerprint>,
        reason: impl Into<String>,
    ) {
        self.changes.push(Change { action, path: path.into(), certificate, reason: reason.into() });
    }
}
