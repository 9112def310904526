//! [`Reading`]: what one library takes from one file, and the words for what it stumbles over.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::certificate::fingerprint::Fingerprint;
use crate::der;

/// What a library takes from one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reading {
    /// The certificates that it loads, in its order. A certificate that stands twice is here twice, although a store
    /// may keep it once. Empty where the file is refused.
    pub loads: Vec<Loaded>,
    /// What it passes over and says nothing about, in the order of the file.
    pub misses: Vec<Miss>,
    /// Why it refuses the file as a whole.
    pub refused: Option<Miss>,
}

/// One certificate that a library loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// Where its block starts in the file, in bytes.
    pub offset: usize,
    /// Which certificate.
    pub fingerprint: Fingerprint,
}

/// One place that a library passes over, or stops at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Miss {
    /// Where in the file, in bytes.
    pub offset: usize,
    /// On which line, counted from 1; 0 until [`Reading::finish`] has counted.
    pub line: usize,
    /// Why.
    pub reason: Reason,
}

impl Miss {
    /// A place whose line is not known yet.
    #[must_use]
    pub fn at(offset: usize, reason: Reason) -> Self {
        Self { offset, line: 0, reason }
    }
}

impl Reading {
    /// The reading of a file that is refused.
    #[must_use]
    pub fn refuse(offset: usize, reason: Reason) -> Self {
        Self { refused: Some(Miss::at(offset, reason)), ..Self::default() }
    }

    /// Counts the lines of all misses, in one pass over the file.
    #[must_use]
    pub fn finish(mut self, bytes: &[u8]) -> Self {
        self.misses.sort_by_key(|miss| miss.offset);
        let (mut line, mut counted) = (1, 0);
        for miss in &mut self.misses {
            let offset = miss.offset.min(bytes.len());
            line += memchr::memchr_iter(b'\n', &bytes[counted..offset]).count();
            counted = offset;
            miss.line = line;
        }
        if let Some(miss) = &mut self.refused {
            let offset = miss.offset.min(bytes.len());
            miss.line = 1 + memchr::memchr_iter(b'\n', &bytes[..offset]).count();
        }
        self
    }
}

/// The identity of the certificate at the start of `der`, as [`crate::certificate::CertificateDer`] has it, also for
/// one whose inside castore cannot walk: SHA-256 of the outer element with a minimal header, without what is behind it.
#[must_use]
pub fn identity(der: &[u8]) -> Fingerprint {
    let Ok(length) = der::element_length(der) else {
        return Fingerprint::of(der);
    };
    if der::header_is_minimal(der) {
        return Fingerprint::of(&der[..length]);
    }
    match der::content(der) {
        Ok(content) => {
            let mut header = Vec::with_capacity(6);
            der::write_header(der[0], content.len(), &mut header);
            let digest: [u8; 32] =
                Sha256::new().chain_update(&header).chain_update(content).finalize().into();
            Fingerprint::from_bytes(digest)
        }
        Err(_) => Fingerprint::of(&der[..length]),
    }
}

/// Why a library does not load a block, or a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reason {
    /// Boundaries, lines, base64.
    Framing(Framing),
    /// Its label is none from which this library takes certificates.
    Label,
    /// The certificate: where, and what is wrong there.
    Certificate(Part, Fault),
    /// Another kind of block that the library insists on reading: a key, a CRL, a request.
    Other(OtherBlock),
    /// Nothing in the file that the library takes for a certificate.
    Nothing,
}

/// What is wrong with the frame of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Framing {
    /// Text before BEGIN on its line.
    TextBeforeBegin,
    /// Text behind BEGIN on its line.
    TextAfterBegin,
    /// Text or blanks before END on its line.
    TextBeforeEnd,
    /// Text behind END on its line.
    TextAfterEnd,
    /// END and the next BEGIN on one line.
    Glued,
    /// A BEGIN boundary that is not spelled as it must be.
    BadBegin,
    /// An END boundary that is not spelled as it must be, or of another label than BEGIN.
    BadEnd,
    /// No END boundary.
    MissingEnd,
    /// The block before it has no END that this library sees, and swallows this one.
    Swallowed,
    /// A boundary quoted in a text.
    Quoted,
    /// A blank line inside the base64.
    BlankLine,
    /// `Name: value` lines inside the block.
    Header,
    /// A line that is longer than the library reads.
    LongLine,
    /// A byte that is not base64, wrong padding, or bits behind the last byte.
    Base64,
    /// No content.
    Empty,
    /// A NUL byte.
    Nul,
    /// A byte order mark.
    ByteOrderMark,
    /// Carriage returns alone as line ends.
    CarriageReturn,
}

/// A part of a certificate (RFC 5280 section 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Part {
    /// Certificate.
    Outer,
    /// TBSCertificate.
    Tbs,
    /// Version.
    Version,
    /// Serial number.
    Serial,
    /// The signature algorithm inside the TBSCertificate.
    InnerAlgorithm,
    /// Issuer.
    Issuer,
    /// Validity.
    Validity,
    /// Subject.
    Subject,
    /// SubjectPublicKeyInfo.
    Key,
    /// issuerUniqueID or subjectUniqueID.
    UniqueId,
    /// The list of extensions.
    Extensions,
    /// The value of an extension.
    ExtensionValue,
    /// The signature algorithm outside the TBSCertificate.
    OuterAlgorithm,
    /// The signature value.
    Signature,
    /// The trust settings behind the certificate in a TRUSTED block.
    Trust,
}

/// What is wrong with a part of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Fault {
    /// The elements are not those that the standard names: tag, length, number or order.
    Structure,
    /// Lengths that are not DER.
    Length,
    /// A number that is empty or longer than it needs to be.
    Padding,
    /// A value that this library does not accept.
    Value,
    /// A string type that this library does not accept.
    StringType,
    /// Characters that the string type does not have.
    Characters,
    /// An object identifier that is not well-formed.
    ObjectIdentifier,
    /// A time that is not written as it must be.
    Time,
    /// The same again.
    Repeated,
    /// Different from its twin.
    Differs,
    /// Bytes behind the end.
    TrailingBytes,
    /// Too large.
    TooLarge,
    /// Not known to this library.
    Unknown,
}

/// Another kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum OtherBlock {
    /// A private key.
    PrivateKey,
    /// A certificate revocation list.
    Crl,
    /// A certificate request.
    Request,
    /// Any other.
    Any,
}

impl Reason {
    /// Whether the certificate's own bytes are the matter.
    #[must_use]
    pub fn is_certificate(self) -> bool {
        matches!(self, Self::Certificate(..))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Framing(framing) => framing.fmt(f),
            Self::Label => f.write_str("a label from which it takes no certificates"),
            Self::Certificate(part, fault) => write!(f, "{part}: {fault}"),
            Self::Other(block) => write!(f, "{block} that it cannot read"),
            Self::Nothing => f.write_str("no certificate in it"),
        }
    }
}

impl fmt::Display for Framing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TextBeforeBegin => "text before BEGIN on its line",
            Self::TextAfterBegin => "text behind BEGIN on its line",
            Self::TextBeforeEnd => "text or blanks before END on its line",
            Self::TextAfterEnd => "text behind END on its line",
            Self::Glued => "END and the next BEGIN on one line",
            Self::BadBegin => "a BEGIN boundary that is not spelled right",
            Self::BadEnd => "END is not spelled right, or has another label than BEGIN",
            Self::MissingEnd => "no END boundary",
            Self::Swallowed => "the block before it has no END and swallows it",
            Self::Quoted => "a boundary quoted in a text",
            Self::BlankLine => "a blank line inside the block",
            Self::Header => "header lines inside the block",
            Self::LongLine => "a line that is too long",
            Self::Base64 => "the base64 cannot be read",
            Self::Empty => "an empty block",
            Self::Nul => "a NUL byte",
            Self::ByteOrderMark => "a byte order mark before BEGIN",
            Self::CarriageReturn => "carriage returns alone as line ends",
        })
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Outer => "certificate",
            Self::Tbs => "TBSCertificate",
            Self::Version => "version",
            Self::Serial => "serial number",
            Self::InnerAlgorithm => "inner signature algorithm",
            Self::Issuer => "issuer",
            Self::Validity => "validity",
            Self::Subject => "subject",
            Self::Key => "public key",
            Self::UniqueId => "unique identifier",
            Self::Extensions => "extensions",
            Self::ExtensionValue => "value of an extension",
            Self::OuterAlgorithm => "signature algorithm",
            Self::Signature => "signature",
            Self::Trust => "trust settings",
        })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Structure => "not the elements that belong there",
            Self::Length => "a length that is not DER",
            Self::Padding => "empty, or longer than it needs to be",
            Self::Value => "a value that it does not accept",
            Self::StringType => "a string type that it does not accept",
            Self::Characters => "characters that the string type does not have",
            Self::ObjectIdentifier => "an object identifier that is not well-formed",
            Self::Time => "a time that is not written as it must be",
            Self::Repeated => "the same again",
            Self::Differs => "not the same inside and outside",
            Self::TrailingBytes => "bytes behind the end",
            Self::TooLarge => "too large",
            Self::Unknown => "not known to it",
        })
    }
}

impl fmt::Display for OtherBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PrivateKey => "a private key",
            Self::Crl => "a CRL",
            Self::Request => "a certificate request",
            Self::Any => "another block",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted() {
        let reading = Reading {
            misses: vec![Miss::at(4, Reason::Label), Miss::at(0, Reason::Label)],
            refused: Some(Miss::at(100, Reason::Nothing)),
            ..Reading::default()
        };
        let reading = reading.finish(b"a\nb\nc\n");
        assert_eq!(reading.misses.iter().map(|miss| miss.line).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(reading.refused.map(|miss| miss.line), Some(4));
    }

    #[test]
    fn the_identity_is_that_of_the_outer_element() {
        let plain = Fingerprint::of(&[0x30, 2, 5, 0]);
        assert_eq!(identity(&[0x30, 2, 5, 0, 9]), plain);
        assert_eq!(identity(&[0x30, 0x81, 2, 5, 0]), plain);
        assert_eq!(identity(&[0x30, 0x80, 5, 0, 0, 0]), plain);
    }
}
