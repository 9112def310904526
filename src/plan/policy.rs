//! What a user decides, as named values.

use std::fmt;
use std::str::FromStr;

use crate::certificate::fingerprint::{Fingerprint, SpkiDigest};

/// What becomes of expired certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExpiredPolicy {
    /// They go, each one listed.
    #[default]
    Drop,
    /// They stay.
    Keep,
    /// They go where a valid certificate of the same subject and key stays.
    Superseded,
}

/// What becomes of blocks that cannot be read without a guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MalformedPolicy {
    /// Nothing is written.
    #[default]
    Refuse,
    /// They are left out, each one listed.
    Drop,
    /// The guess is taken, each one listed; where there is none, nothing is written.
    Repair,
}

/// What becomes of certificates that may not issue others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NotCaPolicy {
    /// They stay where they are.
    #[default]
    Keep,
    /// They go, each one listed.
    Drop,
}

/// What becomes of trust attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TrustPolicy {
    /// TRUSTED blocks become plain ones; what that widens is listed.
    #[default]
    Plain,
    /// TRUSTED blocks stay such.
    Keep,
    /// Nothing is written where there is one.
    Refuse,
}

/// In which order certificates are written. Those of one subject always keep their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// As they were met.
    #[default]
    FirstSeen,
    /// By subject, as text.
    Subject,
    /// By fingerprint.
    Fingerprint,
}

/// Whether an existing output may gain anchors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GainPolicy {
    /// Nothing is written where it would.
    #[default]
    Refuse,
    /// It may; each one is listed.
    Accept,
}

/// Whether entries of an existing directory that the plan does not want are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrunePolicy {
    /// They stay, and are listed.
    #[default]
    Keep,
    /// They go.
    Prune,
}

/// What becomes of CApath members that no look-up finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnreachablePolicy {
    /// They are left out and listed: OpenSSL does not trust them now.
    #[default]
    List,
    /// They go in, each one listed as gained.
    Include,
}

/// What stands before each block of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CommentPolicy {
    /// Nothing.
    #[default]
    None,
    /// `# ` and what the certificate is called by.
    Label,
    /// The comment lines that stood before the block it was taken from.
    Keep,
}

/// How a directory's names by hash are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputLinks {
    /// A file with a name for people, and a link `HASH.N` to it.
    #[default]
    Symbolic,
    /// A regular file `HASH.N`, as FreeBSD's stores are made: one name for readers of whole directories.
    Copy,
}

/// A certificate or key that is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Removal {
    /// The certificate with this fingerprint.
    Certificate(Fingerprint),
    /// Every certificate with this key.
    Key(SpkiDigest),
}

/// A text that is neither `sha256:HEX` nor `spki:HEX`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is neither sha256:HEX nor spki:HEX (64 hexadecimal digits, colons allowed)")]
pub struct NotARemoval(String);

impl FromStr for Removal {
    type Err = NotARemoval;

    fn from_str(text: &str) -> Result<Self, NotARemoval> {
        let wrong = || NotARemoval(text.to_owned());
        match text.split_once(':') {
            Some(("sha256", digits)) => digits.parse().map(Self::Certificate).map_err(|_| wrong()),
            Some(("spki", digits)) => digits.parse().map(Self::Key).map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Removal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Certificate(fingerprint) => write!(f, "sha256:{fingerprint}"),
            Self::Key(digest) => write!(f, "spki:{digest}"),
        }
    }
}

/// Whether every removal must meet a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnmatchedRemoval {
    /// One that meets none is told.
    #[default]
    Tell,
    /// Nothing is written.
    Refuse,
}

/// How `compact` decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Expired certificates.
    pub expired: ExpiredPolicy,
    /// Damaged blocks.
    pub malformed: MalformedPolicy,
    /// Leaves.
    pub not_ca: NotCaPolicy,
    /// Trust attributes.
    pub trust: TrustPolicy,
    /// Order.
    pub order: Order,
    /// New anchors in an existing output.
    pub gain: GainPolicy,
    /// Unwanted entries of an existing directory.
    pub prune: PrunePolicy,
    /// Members that no look-up finds.
    pub unreachable: UnreachablePolicy,
    /// Text before blocks.
    pub comments: CommentPolicy,
    /// Names of a directory.
    pub output_links: OutputLinks,
    /// What is to go.
    pub remove: Vec<Removal>,
    /// Removals that meet no certificate.
    pub unmatched: UnmatchedRemoval,
    /// How many per cent of an existing output's distinct certificates may go without being named.
    pub max_shrink: u8,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            expired: ExpiredPolicy::default(),
            malformed: MalformedPolicy::default(),
            not_ca: NotCaPolicy::default(),
            trust: TrustPolicy::default(),
            order: Order::default(),
            gain: GainPolicy::default(),
            prune: PrunePolicy::default(),
            unreachable: UnreachablePolicy::default(),
            comments: CommentPolicy::default(),
            output_links: OutputLinks::default(),
            remove: Vec::new(),
            unmatched: UnmatchedRemoval::default(),
            max_shrink: 20,
        }
    }
}
