//! Certificates: their bytes, their identity, and what can be read of them.

mod attribute_types;
pub mod extensions;
pub mod facts;
pub mod fields;
pub mod fingerprint;
pub mod name;
pub mod pkcs7;
pub mod trust;
pub mod validity;

use std::borrow::Cow;

use crate::der::{self, DerError, tag};

/// The DER of one certificate: one SEQUENCE with a minimal header, nothing after it.
///
/// This is what `openssl x509 -outform DER` writes (it re-encodes the outer header and keeps the inner bytes), and so
/// what `openssl x509 -fingerprint` hashes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CertificateDer<'a>(Cow<'a, [u8]>);

/// A certificate read from the start of some bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading<'a> {
    /// The certificate.
    pub der: CertificateDer<'a>,
    /// How many of the bytes its encoding took.
    pub length: usize,
    /// Whether its outer header was DER already. If not, `der` differs from the bytes.
    pub minimal: bool,
}

impl<'a> CertificateDer<'a> {
    /// The certificate at the start of `bytes`.
    ///
    /// Bytes behind it are left alone: [`Reading::length`] tells where they start. The outer header may be BER.
    ///
    /// # Errors
    /// Where a light walk does not get through the structure of RFC 5280 section 4.1.
    pub fn read(bytes: &'a [u8]) -> Result<Reading<'a>, DerError> {
        match bytes.first() {
            None => return Err(DerError::Empty),
            Some(&tag::SEQUENCE) => {}
            Some(&found) => return Err(DerError::Tag { expected: tag::SEQUENCE, found }),
        }
        let length = der::element_length(bytes)?;
        let minimal = der::header_is_minimal(bytes);
        let der = if minimal {
            Cow::Borrowed(&bytes[..length])
        } else {
            let content = der::content(bytes)?;
            let mut out = Vec::with_capacity(content.len() + 6);
            der::write_header(tag::SEQUENCE, content.len(), &mut out);
            out.extend_from_slice(content);
            Cow::Owned(out)
        };
        fields::Fields::walk(&der)?;
        Ok(Reading { der: Self(der), length, minimal })
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// What the light walk sees.
    #[must_use]
    pub fn fields(&self) -> fields::Fields<'_> {
        // The constructor walked the same bytes.
        fields::Fields::walk(&self.0).unwrap_or_default()
    }

    /// SHA-256 over the bytes.
    #[must_use]
    pub fn fingerprint(&self) -> fingerprint::Fingerprint {
        fingerprint::Fingerprint::of(&self.0)
    }

    /// The same certificate with bytes of its own.
    #[must_use]
    pub fn into_owned(self) -> CertificateDer<'static> {
        CertificateDer(Cow::Owned(self.0.into_owned()))
    }
}
