//! What TLS libraries load of a file: one module a library, each a model of that library's own reading, held to it by
//! the tests (`tests/oracle_*.rs`).
//!
//! A reader takes the bytes of a file and says which certificates the library gets, what it passes over without a
//! word, and what makes it refuse the file. None of them decides what castore does.

pub mod gnutls;
pub mod go;
pub mod java;
pub mod openssl;
pub mod reading;
pub mod rustls;

use std::fmt;
use std::str::FromStr;

use self::reading::{Fault, Part, Reading};

/// A TLS library, in a version that loads differently from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reader {
    /// OpenSSL, and all that is built on it: Python, Ruby, PHP, Perl, curl on most systems.
    OpenSsl(openssl::Version),
    /// GnuTLS: wget, git and curl with it, lynx, aria2.
    GnuTls,
    /// Go's `crypto/x509`.
    Go(go::Version),
    /// rustls, with the roots that rustls-native-certs gives it.
    Rustls,
    /// Java's `keytool`, and what else calls `CertificateFactory.generateCertificates`.
    Java,
}

/// A name that is none of a reader.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no reader is called '{0}'")]
pub struct NotAReader(pub String);

impl Reader {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::OpenSsl(openssl::Version::V1_1_1),
        Self::OpenSsl(openssl::Version::V3_0),
        Self::OpenSsl(openssl::Version::V3_5),
        Self::OpenSsl(openssl::Version::V4_0),
        Self::GnuTls,
        Self::Go(go::Version::Go1_19),
        Self::Go(go::Version::Go1_27),
        Self::Rustls,
        Self::Java,
    ];

    /// Those that are asked when nobody names others.
    pub const DEFAULT: &[Self] =
        &[Self::OpenSsl(openssl::Version::V3_0), Self::GnuTls, Self::Go(go::Version::Go1_27), Self::Rustls];

    /// Those for which castore writes: what a strict one of them refuses goes into no output, whatever library is
    /// installed here.
    pub const WRITTEN_FOR: &[Self] = &[
        Self::OpenSsl(openssl::Version::V3_0),
        Self::OpenSsl(openssl::Version::V3_5),
        Self::OpenSsl(openssl::Version::V4_0),
        Self::GnuTls,
        Self::Go(go::Version::Go1_27),
        Self::Rustls,
    ];

    /// Its name on the command line and in machine-readable reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenSsl(openssl::Version::V1_1_1) => "openssl-1.1.1",
            Self::OpenSsl(openssl::Version::V3_0) => "openssl-3.0",
            Self::OpenSsl(openssl::Version::V3_5) => "openssl-3.5",
            Self::OpenSsl(openssl::Version::V4_0) => "openssl-4.0",
            Self::GnuTls => "gnutls",
            Self::Go(go::Version::Go1_19) => "go-1.19",
            Self::Go(go::Version::Go1_27) => "go",
            Self::Rustls => "rustls",
            Self::Java => "java",
        }
    }

    /// Its name in sentences.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::OpenSsl(openssl::Version::V1_1_1) => "OpenSSL 1.1.1",
            Self::OpenSsl(openssl::Version::V3_0) => "OpenSSL 3.0",
            Self::OpenSsl(openssl::Version::V3_5) => "OpenSSL 3.5",
            Self::OpenSsl(openssl::Version::V4_0) => "OpenSSL 4.0",
            Self::GnuTls => "GnuTLS",
            Self::Go(go::Version::Go1_19) => "Go 1.19",
            Self::Go(go::Version::Go1_27) => "Go",
            Self::Rustls => "rustls",
            Self::Java => "Java",
        }
    }

    /// Whether a file from which it loads nothing, or a block that it does not see, is an error to the audit: OpenSSL
    /// and GnuTLS, on which most programs stand, and Java where it is asked. The others pass over single blocks.
    #[must_use]
    pub fn is_strict(self) -> bool {
        match self {
            Self::OpenSsl(_) | Self::GnuTls | Self::Java => true,
            Self::Go(_) | Self::Rustls => false,
        }
    }

    /// Whether one certificate that it refuses costs the file.
    #[must_use]
    pub fn refuses_files(self) -> bool {
        self.is_strict()
    }

    /// Whether it reads the files of a directory, when it is told of one. OpenSSL looks into it by hash instead.
    #[must_use]
    pub fn reads_directories(self) -> bool {
        matches!(self, Self::GnuTls | Self::Go(_) | Self::Rustls)
    }

    /// What it loads of the bytes of a file.
    #[must_use]
    pub fn read(self, bytes: &[u8]) -> Reading {
        match self {
            Self::OpenSsl(version) => openssl::read(bytes, version),
            Self::GnuTls => gnutls::read(bytes),
            Self::Go(version) => go::read(bytes, version),
            Self::Rustls => rustls::read(bytes),
            Self::Java => java::read(bytes),
        }
    }

    /// Whether it refuses a certificate, whatever stands around it.
    ///
    /// # Errors
    /// The part at which it stops, and what is wrong there.
    pub fn certificate(self, der: &[u8]) -> Result<(), (Part, Fault)> {
        match self {
            Self::OpenSsl(version) => openssl::certificate(der, version),
            Self::GnuTls => gnutls::certificate(der),
            Self::Go(version) => go::certificate(der, version),
            Self::Rustls => rustls::certificate(der),
            Self::Java => java::certificate(der),
        }
    }
}

impl fmt::Display for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

impl FromStr for Reader {
    type Err = NotAReader;

    fn from_str(name: &str) -> Result<Self, NotAReader> {
        let found = Self::ALL.iter().find(|reader| reader.name() == name);
        found.copied().ok_or_else(|| NotAReader(name.to_owned()))
    }
}

/// The version of OpenSSL among some readers; 3.0 where there is none.
#[must_use]
pub fn openssl_among(readers: &[Reader]) -> openssl::Version {
    let version = |reader: &Reader| match reader {
        Reader::OpenSsl(version) => Some(*version),
        _ => None,
    };
    readers.iter().find_map(version).unwrap_or(openssl::Version::V3_0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_reader() {
        for &reader in Reader::ALL {
            assert_eq!(reader.name().parse(), Ok(reader));
        }
        assert!("openssl-2.0".parse::<Reader>().is_err());
    }
}
