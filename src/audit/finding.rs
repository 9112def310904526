//! [`Finding`]: one thing that a rule saw, as data. Words are made where it is reported.

use std::path::PathBuf;

use crate::der::DerError;
use crate::openssl::hash_link::HashLink;
use crate::pem::label::Label;
use crate::pem::scan::{DefectKind, Noise};
use crate::readers::Reader;
use crate::readers::reading::Reason;
use crate::store::content::{Distrust, Keystore, Shape};
use crate::store::model::{CertificateId, FileId, LinkState, OccurrenceId, Special};
use crate::store::source::SourceId;
use crate::store::source::Writable;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Notice,
    /// Costs time or space, or will break.
    Warning,
    /// OpenSSL or GnuTLS loads less than, or other than, what the store holds; look-ups fail; a secret is exposed.
    Error,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Where a finding points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A certificate in a file.
    Occurrence(OccurrenceId),
    /// A place in a file.
    File {
        /// The file.
        file: FileId,
        /// Line, counted from 1.
        line: usize,
        /// Byte offset.
        offset: usize,
    },
    /// A directory entry.
    Path(PathBuf),
    /// A source as a whole.
    Source(SourceId),
}

/// One thing that a rule saw.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// What it saw.
    pub detail: Detail,
    /// The certificate that it is about, if it is about one.
    pub certificate: Option<CertificateId>,
    /// Where.
    pub places: Vec<Place>,
    /// Whether the user accepts it: it is listed, and does not count.
    pub ignored: bool,
}

impl Finding {
    /// A finding at some places, about no one certificate.
    pub(crate) fn at(rule: &'static str, detail: Detail, places: Vec<Place>) -> Self {
        Self { rule, detail, certificate: None, places, ignored: false }
    }

    /// A finding about one certificate, at some of its places.
    pub(crate) fn about(rule: &'static str, detail: Detail, id: CertificateId, places: Vec<Place>) -> Self {
        Self { rule, detail, certificate: Some(id), places, ignored: false }
    }
}

/// Why a look-up does not find a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreachable {
    /// No hash link leads to it.
    NoLink,
    /// A link leads to it, and a lower number is missing.
    Gap(HashLink),
    /// A link leads to it, and a lower number leads to nothing that loads.
    Shadowed(HashLink),
    /// The link's name is in upper case, or has leading zeros.
    Case(String),
    /// The link's name has another hash.
    WrongHash(HashLink),
    /// Only a link of OpenSSL 0.9.8's kind leads to it.
    Legacy(HashLink),
    /// It stands with others in one file, and no link has its hash.
    SeveralInFile(usize),
    /// A link leads to it, and OpenSSL cannot read the file (DER, or a damaged block before it).
    NotLoadable(HashLink),
}

/// Which of two dates a finding is about, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadValidity {
    /// notAfter lies before notBefore.
    Reversed,
    /// A date means no instant.
    Unreadable,
    /// A date is not written as RFC 5280 demands, so that OpenSSL compares it with nothing.
    NotStrict,
}

/// What is odd about a serial number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OddSerial {
    /// It is zero.
    Zero,
    /// It is negative.
    Negative,
    /// It has this many bytes.
    Long(usize),
}

/// What is odd about an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OddEncoding {
    /// Subject or issuer has no attribute.
    EmptyName,
    /// A name has a string type that RFC 5280 does not want any more.
    StringType,
    /// A date before 2050 is a GeneralizedTime.
    GeneralizedTime,
    /// The outer header is BER.
    Ber,
    /// So many bytes stand behind the certificate in its block.
    Trailing(usize),
}

/// What a certificate that is taken instead of a good one lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shadow {
    /// It may not issue certificates.
    NotACa,
    /// It allows so many intermediates alone.
    PathLength(u64),
    /// It allows some names alone.
    NameConstraints,
    /// Its extended key usages name other purposes than TLS servers alone.
    OtherPurposes,
    /// Another one has issued it, which is not in the store.
    NoIssuer,
    /// It stands in the CAfile, the good one in the CApath alone.
    OnlyInDirectory,
}

/// What was seen; the payload is what words need.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Detail {
    /// Not everybody may read a member of a directory that everybody may read.
    LessReadable,
    /// The same certificate and trust again in one file.
    Duplicate,
    /// Certificates that other files have as well.
    DuplicateAcross {
        /// The source whose files repeat them.
        source: SourceId,
        /// How many distinct certificates.
        certificates: usize,
    },
    /// All of a CAfile is also found by hash.
    EagerAndOnDemand {
        /// The CAfile.
        bundle: SourceId,
        /// The CApath.
        directory: SourceId,
        /// Distinct certificates of the CAfile.
        certificates: usize,
    },
    /// Certificates on one side only.
    OneSided {
        /// Where they are.
        here: SourceId,
        /// Where they are not.
        missing_from: SourceId,
        /// How many.
        certificates: usize,
    },
    /// notAfter is past.
    Expired {
        /// notAfter.
        not_after: i64,
        /// A valid certificate of the same subject and key is in the store.
        superseded: bool,
    },
    /// notAfter is near.
    ExpiresSoon {
        /// notAfter.
        not_after: i64,
        /// Whole days until then.
        days: i64,
    },
    /// notBefore is to come.
    NotYetValid {
        /// notBefore.
        not_before: i64,
    },
    /// Dates that mean nothing.
    BadValidity(BadValidity),
    /// No look-up finds it.
    Unreachable(Unreachable),
    /// Members without a hash link.
    Unlinked {
        /// The directory.
        directory: SourceId,
        /// How many certificates.
        certificates: usize,
    },
    /// No hash link resolves.
    DeadCapath {
        /// How many hash links.
        links: usize,
    },
    /// A directory without hash links.
    NoHashLinks {
        /// Certificates in it.
        certificates: usize,
    },
    /// A link to nothing.
    DanglingLink {
        /// Where it points.
        target: PathBuf,
    },
    /// A link in a circle.
    LinkLoop {
        /// Where it points.
        target: PathBuf,
    },
    /// A hash link whose target has another hash, or none.
    WrongHashLink {
        /// What the name says.
        link: HashLink,
        /// The hash that the target's certificate has.
        right: Option<u32>,
        /// Whether the target holds anything that has a hash.
        state: LinkState,
    },
    /// A name that OpenSSL never looks up.
    BadLinkName {
        /// What the name should be.
        meant: HashLink,
    },
    /// DER inside a PEM file.
    DerInBundle {
        /// Bytes.
        length: usize,
    },
    /// END and BEGIN on one line.
    GluedBoundary {
        /// How often.
        times: usize,
    },
    /// A damaged block.
    MalformedBlock {
        /// Its label.
        label: Label,
        /// What is wrong.
        kind: DefectKind,
        /// Whether the certificate in it is beyond doubt all the same.
        counted: bool,
    },
    /// A block that holds no certificate although it says so.
    MalformedCertificate {
        /// What the walk stumbled over.
        error: DerError,
    },
    /// A certificate whose structure can be walked, and that a library refuses.
    RefusedCertificate {
        /// Who, and why.
        by: Vec<(Reader, Reason)>,
    },
    /// A file from which a library loads nothing.
    BundleRefused {
        /// Who.
        readers: Vec<Reader>,
        /// At which block, counted from 1; `None` where no block is to blame.
        block: Option<usize>,
        /// Why.
        reason: Reason,
    },
    /// A block that a library does not see.
    HiddenBlock {
        /// Who.
        readers: Vec<Reader>,
        /// Why.
        reason: Reason,
    },
    /// A certificate that readers of single blocks pass over.
    SkippedCertificate {
        /// Who, and why.
        by: Vec<(Reader, Reason)>,
    },
    /// A certificate that a library takes instead of another one.
    Shadowed {
        /// Who.
        readers: Vec<Reader>,
        /// The one that is not taken.
        good: CertificateId,
        /// What the one that is taken lacks.
        shadow: Shadow,
    },
    /// A private key.
    PrivateKey,
    /// No certificate in what was named.
    NoCertificates {
        /// What it looks like; `None` for a directory.
        shape: Option<Shape>,
    },
    /// The system does not let us read it.
    Unreadable {
        /// What the system said.
        reason: String,
    },
    /// No regular file.
    NotRegular(Special),
    /// A leaf in a bundle.
    NotACa,
    /// A name that tools leave behind.
    Leftover,
    /// One subject and key, several certificates.
    Reissued {
        /// All of them, in the order of the store.
        group: Vec<CertificateId>,
    },
    /// One subject, several keys.
    SameSubject {
        /// All of them, in the order of the store.
        group: Vec<CertificateId>,
    },
    /// Copies that differ in trust.
    TrustConflict {
        /// Copies that reject.
        rejecting: usize,
        /// Copies in all.
        of: usize,
    },
    /// Text that distrusts before a block that trusts.
    DistrustFlattened(Distrust),
    /// A hash link to a CAfile.
    LinkToBundle {
        /// Certificates in it.
        certificates: usize,
    },
    /// PKCS#7.
    Pkcs7Block {
        /// Certificates in it.
        certificates: usize,
    },
    /// A DER file.
    DerFile,
    /// Old labels.
    LegacyLabel {
        /// Blocks.
        blocks: usize,
    },
    /// A leftover that is more than a copy.
    LeftoverTrusted {
        /// Certificates that the store lacks.
        certificates: usize,
    },
    /// A small key.
    WeakKey {
        /// Algorithm.
        algorithm: String,
        /// Bits; `None` for an unknown curve.
        bits: Option<u32>,
    },
    /// A weak digest.
    WeakSignature {
        /// Algorithm.
        algorithm: String,
    },
    /// A mode that lets others write.
    WritableBy {
        /// Who.
        kind: Writable,
        /// A directory, or a file.
        directory: bool,
    },
    /// A large file.
    SizeLimit {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A hash link that leads elsewhere.
    LinkOutside {
        /// Where.
        target: PathBuf,
    },
    /// A link that leads above the root.
    LinkOutOfRoot {
        /// Where.
        target: PathBuf,
    },
    /// A file that the updater does not read.
    IgnoredAnchor {
        /// Certificates that the bundle lacks.
        certificates: usize,
    },
    /// Not among the updater's inputs.
    NotRegenerated,
    /// Two names in one directory.
    SecondName {
        /// How many certificates.
        certificates: usize,
    },
    /// A CA that is not self-issued.
    Intermediate,
    /// One key, several subjects.
    SameKey {
        /// All of them, in the order of the store.
        group: Vec<CertificateId>,
    },
    /// Links of OpenSSL 0.9.8.
    LegacyLink {
        /// How many.
        links: usize,
    },
    /// Version 1.
    LegacyVersion,
    /// An odd serial number.
    OddSerial(OddSerial),
    /// Odd encodings.
    OddEncoding(Vec<OddEncoding>),
    /// Odd framing.
    OddFraming(Noise),
    /// A directory inside.
    Subdirectory {
        /// Through a link.
        link: bool,
    },
    /// Blocks that are no certificates.
    OtherBlock {
        /// Their labels.
        labels: Vec<String>,
    },
    /// A keystore.
    Keystore(Keystore),
    /// An entry that matches nothing.
    UnusedIgnore {
        /// The entry.
        entry: String,
    },
}
