//! Trust attributes: what OpenSSL writes behind the certificate in a TRUSTED CERTIFICATE block.
//!
//! `X509_CERT_AUX` of OpenSSL (crypto/x509/x_x509a.c, manual x509(1) "Trust Settings"):
//! `SEQUENCE { trust SEQUENCE OF OID OPTIONAL, reject [0] SEQUENCE OF OID OPTIONAL, alias UTF8String OPTIONAL,
//! keyid OCTET STRING OPTIONAL, other [1] OPTIONAL }`.

use std::fmt::Write as _;

use crate::der::{DerError, Reader, tag};

/// Content bytes of id-kp-serverAuth, 1.3.6.1.5.5.7.3.1.
const SERVER_AUTH: &[u8] = &[0x2B, 6, 1, 5, 5, 7, 3, 1];
/// Content bytes of anyExtendedKeyUsage, 2.5.29.37.0.
const ANY: &[u8] = &[0x55, 0x1D, 0x25, 0];

/// The trust attributes of one TRUSTED CERTIFICATE block.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrustAttributes {
    der: Vec<u8>,
    trusted: Vec<Vec<u8>>,
    rejected: Vec<Vec<u8>>,
    alias: Option<String>,
}

impl TrustAttributes {
    /// Reads the attributes that follow a certificate.
    ///
    /// # Errors
    /// Where the bytes are not `X509_CERT_AUX`; OpenSSL then refuses the block (and the file with it).
    pub fn read(bytes: &[u8]) -> Result<Self, DerError> {
        let outer = Reader::new(bytes).expect_ber(tag::SEQUENCE)?;
        let mut reader = Reader::new(outer.content);
        let trusted =
            reader.optional_ber(tag::SEQUENCE)?.map_or(Ok(Vec::new()), |list| oids(list.content))?;
        let rejected = reader.optional_ber(0xA0)?.map_or(Ok(Vec::new()), |list| oids(list.content))?;
        let alias =
            reader.optional(tag::UTF8_STRING)?.map(|text| String::from_utf8_lossy(text.content).into_owned());
        // keyid and other; nothing else.
        reader.optional_ber(tag::OCTET_STRING)?;
        reader.optional_ber(0xA1)?;
        if let Some(found) = reader.peek() {
            return Err(DerError::Tag { expected: 0xA1, found });
        }
        Ok(Self { der: outer.raw.to_vec(), trusted, rejected, alias })
    }

    /// The attributes' DER.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }
    /// The purposes that are trusted, as dotted OIDs. Empty: no trust list.
    #[must_use]
    pub fn trusted(&self) -> Vec<String> {
        self.trusted.iter().map(|oid| dotted(oid)).collect()
    }
    /// The purposes that are rejected, as dotted OIDs.
    #[must_use]
    pub fn rejected(&self) -> Vec<String> {
        self.rejected.iter().map(|oid| dotted(oid)).collect()
    }
    /// The name that somebody gave the certificate.
    #[must_use]
    pub fn alias(&self) -> Option<&str> {
        self.alias.as_deref()
    }

    /// Whether OpenSSL does not take this as an anchor for TLS servers: serverAuth (or any purpose) is rejected, or
    /// there is a trust list without it (`obj_trust` in crypto/x509/x509_trust.c).
    #[must_use]
    pub fn rejects_server_auth(&self) -> bool {
        let names = |list: &[Vec<u8>]| list.iter().any(|oid| oid == SERVER_AUTH || oid == ANY);
        names(&self.rejected) || (!self.trusted.is_empty() && !names(&self.trusted))
    }
}

fn oids(list: &[u8]) -> Result<Vec<Vec<u8>>, DerError> {
    let mut reader = Reader::new(list);
    let mut out = Vec::new();
    while !reader.is_empty() {
        out.push(reader.expect(tag::OID)?.content.to_vec());
    }
    Ok(out)
}

/// An OID's content bytes in dotted form; arcs that 128 bits do not hold are given as hexadecimal bytes.
#[must_use]
pub fn dotted(content: &[u8]) -> String {
    let mut text = String::new();
    let mut arc = 0_u128;
    let mut first = true;
    for &byte in content {
        if arc >> 121 != 0 {
            return content.iter().fold(String::from("0x"), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            });
        }
        arc = arc << 7 | u128::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            if first {
                let top = (arc / 40).min(2);
                let _ = write!(text, "{top}.{}", arc - 40 * top);
                first = false;
            } else {
                let _ = write!(text, ".{arc}");
            }
            arc = 0;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by `openssl x509 -addtrust serverAuth -addreject emailProtection -setalias "x y" -trustout`.
    const AUX: &[u8] = &[
        0x30, 0x1D, 0x30, 0x0A, 6, 8, 0x2B, 6, 1, 5, 5, 7, 3, 1, 0xA0, 0x0A, 6, 8, 0x2B, 6, 1, 5, 5, 7, 3, 4,
        0x0C, 3, b'x', b' ', b'y',
    ];

    #[test]
    fn lists_and_alias() {
        let trust = TrustAttributes::read(AUX).unwrap();
        assert_eq!(trust.trusted(), ["1.3.6.1.5.5.7.3.1"]);
        assert_eq!(trust.rejected(), ["1.3.6.1.5.5.7.3.4"]);
        assert_eq!(trust.alias(), Some("x y"));
        assert_eq!(trust.der(), AUX);
        assert!(!trust.rejects_server_auth());
    }

    #[test]
    fn rejection() {
        let only_email = [0x30, 0x0C, 0x30, 0x0A, 6, 8, 0x2B, 6, 1, 5, 5, 7, 3, 4];
        assert!(TrustAttributes::read(&only_email).unwrap().rejects_server_auth());
        let rejects_server = [0x30, 0x0C, 0xA0, 0x0A, 6, 8, 0x2B, 6, 1, 5, 5, 7, 3, 1];
        assert!(TrustAttributes::read(&rejects_server).unwrap().rejects_server_auth());
        assert!(!TrustAttributes::read(&[0x30, 0]).unwrap().rejects_server_auth());
        assert!(TrustAttributes::read(&[0x31, 0]).is_err());
    }

    #[test]
    fn dotted_forms() {
        assert_eq!(dotted(&[0x55, 0x1D, 0x25, 0]), "2.5.29.37.0");
        assert_eq!(dotted(&[0x88, 0x37]), "2.999");
        assert!(dotted(&[0xFF; 30]).starts_with("0x"));
    }
}
