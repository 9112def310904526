//! What an encapsulation boundary says that its block holds.

use std::fmt;

/// The label of a PEM block, as RFC 7468 sections 5 to 13 and OpenSSL's `PEM_STRING_*` name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Label {
    /// `CERTIFICATE`
    Certificate,
    /// `TRUSTED CERTIFICATE`: a certificate followed by OpenSSL's trust attributes (`PEM_STRING_X509_TRUSTED`).
    TrustedCertificate,
    /// `X509 CERTIFICATE`: the old name (`PEM_STRING_X509_OLD`).
    X509Certificate,
    /// `X509 CRL`
    Crl,
    /// `PKCS7`, `PKCS #7 SIGNED DATA`, `CMS`
    Pkcs7,
    /// A private key of any kind.
    PrivateKey(PrivateKey),
    /// Anything else: requests, parameters, public keys, unknown labels.
    Other,
}

/// The kind of a private key block. Its content is never decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PrivateKey {
    /// `PRIVATE KEY` (PKCS#8)
    Pkcs8,
    /// `ENCRYPTED PRIVATE KEY` (PKCS#8, RFC 7468 section 11)
    Encrypted,
    /// `RSA PRIVATE KEY`, `EC PRIVATE KEY`, `DSA PRIVATE KEY`
    Traditional,
    /// `OPENSSH PRIVATE KEY` and any other label that ends in `PRIVATE KEY`
    Other,
}

impl Label {
    /// The label between `-----BEGIN ` and the closing dashes.
    #[must_use]
    pub fn from_bytes(label: &[u8]) -> Self {
        match label {
            b"CERTIFICATE" => Self::Certificate,
            b"TRUSTED CERTIFICATE" => Self::TrustedCertificate,
            b"X509 CERTIFICATE" => Self::X509Certificate,
            b"X509 CRL" => Self::Crl,
            b"PKCS7" | b"PKCS #7 SIGNED DATA" | b"CMS" => Self::Pkcs7,
            b"PRIVATE KEY" => Self::PrivateKey(PrivateKey::Pkcs8),
            b"ENCRYPTED PRIVATE KEY" => Self::PrivateKey(PrivateKey::Encrypted),
            b"RSA PRIVATE KEY" | b"EC PRIVATE KEY" | b"DSA PRIVATE KEY" => {
                Self::PrivateKey(PrivateKey::Traditional)
            }
            other if other.ends_with(b"PRIVATE KEY") => Self::PrivateKey(PrivateKey::Other),
            _ => Self::Other,
        }
    }

    /// Whether a block of this label holds one certificate that OpenSSL would load from a CAfile.
    #[must_use]
    pub fn is_certificate(self) -> bool {
        matches!(self, Self::Certificate | Self::TrustedCertificate | Self::X509Certificate)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Certificate => "CERTIFICATE",
            Self::TrustedCertificate => "TRUSTED CERTIFICATE",
            Self::X509Certificate => "X509 CERTIFICATE",
            Self::Crl => "X509 CRL",
            Self::Pkcs7 => "PKCS7",
            Self::PrivateKey(PrivateKey::Encrypted) => "ENCRYPTED PRIVATE KEY",
            Self::PrivateKey(_) => "PRIVATE KEY",
            Self::Other => "other",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_exact() {
        assert_eq!(Label::from_bytes(b"CERTIFICATE"), Label::Certificate);
        assert_eq!(Label::from_bytes(b"CERTIFICATES"), Label::Other);
        assert_eq!(Label::from_bytes(b"CERTIFICATE REQUEST"), Label::Other);
        assert_eq!(Label::from_bytes(b"certificate"), Label::Other);
        assert_eq!(Label::from_bytes(b"OPENSSH PRIVATE KEY"), Label::PrivateKey(PrivateKey::Other));
        assert!(!Label::from_bytes(b"ANY PRIVATE KEY").is_certificate());
    }
}
