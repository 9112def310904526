//! What x509-parser reads: public key and signature, for text.
//!
//! A certificate that x509-parser refuses has no facts; it is still fingerprinted, hashed, compared and kept.

use x509_parser::prelude::{FromDer, X509Certificate};
use x509_parser::public_key::PublicKey;

use super::trust::dotted;
use crate::der::{Reader, tag};

/// Public key and signature of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// `RSA`, `EC`, `Ed25519`, or a dotted OID.
    pub key_algorithm: String,
    /// Size of the key in bits, where the algorithm is known.
    pub key_bits: Option<u32>,
    /// The name of the signature algorithm as OpenSSL prints it, or a dotted OID.
    pub signature: String,
}

/// Why x509-parser refused a certificate, in its words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FactsError(pub String);

impl Facts {
    /// Reads a certificate's DER.
    ///
    /// # Errors
    /// Where x509-parser does.
    pub fn read(der: &[u8]) -> Result<Self, FactsError> {
        let (_, certificate) =
            X509Certificate::from_der(der).map_err(|error| FactsError(error.to_string()))?;
        let spki = certificate.public_key();
        let oid = spki.algorithm.algorithm.as_bytes();
        let key_algorithm = KEY_ALGORITHMS
            .iter()
            .find(|(bytes, _)| *bytes == oid)
            .map_or_else(|| dotted(oid), |(_, name)| (*name).to_owned());
        let key_bits = match (key_algorithm.as_str(), spki.parsed()) {
            ("Ed25519", _) => Some(256),
            ("Ed448", _) => Some(456),
            (_, Ok(PublicKey::RSA(key))) => Some(bits(key.modulus)),
            ("DSA", _) => dsa_bits(&spki.algorithm),
            ("EC", _) => curve_bits(&spki.algorithm),
            _ => None,
        };
        let oid = certificate.signature_algorithm.algorithm.as_bytes();
        let signature = SIGNATURES
            .iter()
            .find(|(bytes, _)| *bytes == oid)
            .map_or_else(|| dotted(oid), |(_, name)| (*name).to_owned());
        Ok(Self { key_algorithm, key_bits, signature })
    }
}

/// Bits of a big-endian number.
fn bits(number: &[u8]) -> u32 {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    number.get(zeros).map_or(0, |first| (number.len() - zeros) as u32 * 8 - first.leading_zeros())
}

/// The size of p, the first of the parameters (RFC 3279 section 2.3.2).
fn dsa_bits(algorithm: &x509_parser::x509::AlgorithmIdentifier<'_>) -> Option<u32> {
    let parameters = algorithm.parameters.as_ref()?;
    Some(bits(Reader::new(parameters.data).expect(tag::INTEGER).ok()?.content))
}

fn curve_bits(algorithm: &x509_parser::x509::AlgorithmIdentifier<'_>) -> Option<u32> {
    let oid = algorithm.parameters.as_ref()?.as_oid().ok()?;
    CURVES.iter().find(|(bytes, _)| *bytes == oid.as_bytes()).map(|&(_, size)| size)
}

/// Content bytes of key algorithms (RFC 3279, RFC 5480, RFC 8410).
const KEY_ALGORITHMS: &[(&[u8], &str)] = &[
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1], "RSA"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 10], "RSA-PSS"),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1], "EC"),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x38, 4, 1], "DSA"),
    (&[0x2B, 0x65, 0x70], "Ed25519"),
    (&[0x2B, 0x65, 0x71], "Ed448"),
];

/// Content bytes of curves, and the bits of their order (RFC 5480, RFC 5639).
const CURVES: &[(&[u8], u32)] = &[
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 1], 192),
    (&[0x2B, 0x81, 4, 0, 33], 224),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7], 256),
    (&[0x2B, 0x81, 4, 0, 10], 256),
    (&[0x2B, 0x81, 4, 0, 34], 384),
    (&[0x2B, 0x81, 4, 0, 35], 521),
    (&[0x2B, 0x24, 3, 3, 2, 8, 1, 1, 7], 256),
    (&[0x2B, 0x24, 3, 3, 2, 8, 1, 1, 11], 384),
    (&[0x2B, 0x24, 3, 3, 2, 8, 1, 1, 13], 512),
];

/// Content bytes of signature algorithms, and OpenSSL's long names for them.
const SIGNATURES: &[(&[u8], &str)] = &[
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 2], "md2WithRSAEncryption"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 4], "md5WithRSAEncryption"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 5], "sha1WithRSAEncryption"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 10], "rsassaPss"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 11], "sha256WithRSAEncryption"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 12], "sha384WithRSAEncryption"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 13], "sha512WithRSAEncryption"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 14], "sha224WithRSAEncryption"),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 1], "ecdsa-with-SHA1"),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 1], "ecdsa-with-SHA224"),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2], "ecdsa-with-SHA256"),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 3], "ecdsa-with-SHA384"),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 4], "ecdsa-with-SHA512"),
    (&[0x2A, 0x86, 0x48, 0xCE, 0x38, 4, 3], "dsaWithSHA1"),
    (&[0x2B, 0x65, 0x70], "ED25519"),
    (&[0x2B, 0x65, 0x71], "ED448"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_of_numbers() {
        assert_eq!(bits(&[0, 0x80, 0]), 16);
        assert_eq!(bits(&[1]), 1);
        assert_eq!(bits(&[]), 0);
    }

    #[test]
    fn what_is_no_certificate_has_no_facts() {
        assert!(Facts::read(&[0x30, 0]).is_err());
    }
}
