//! The light walk over a certificate (RFC 5280 section 4.1): borrowed slices, nothing judged.

use std::fmt::Write as _;

use crate::der::{DerError, Element, Reader, tag};

/// What stands where in a certificate.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fields<'a> {
    /// TBSCertificate, whole.
    pub tbs: &'a [u8],
    /// The version field's number; 0 is v1. Numbers that nobody uses are kept as they are, up to four bytes.
    pub version: i64,
    /// Content of serialNumber, two's complement.
    pub serial: &'a [u8],
    /// `signature` inside TBSCertificate, whole.
    pub inner_algorithm: &'a [u8],
    /// Issuer Name, whole.
    pub issuer: &'a [u8],
    /// Tag and content of notBefore.
    pub not_before: (u8, &'a [u8]),
    /// Tag and content of notAfter.
    pub not_after: (u8, &'a [u8]),
    /// Subject Name, whole.
    pub subject: &'a [u8],
    /// SubjectPublicKeyInfo, whole.
    pub spki: &'a [u8],
    /// Content of the SEQUENCE of extensions, where there is one.
    pub extensions: Option<&'a [u8]>,
    /// `signatureAlgorithm`, whole.
    pub outer_algorithm: &'a [u8],
    /// Content of the signature BIT STRING.
    pub signature: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Walks a certificate. Lengths may be BER.
    ///
    /// # Errors
    /// Where the structure is not that of a certificate. Elements that a library would refuse for their content
    /// (times, serials, strings) are no reason; elements behind the known ones are none either.
    pub fn walk(der: &'a [u8]) -> Result<Self, DerError> {
        // OpenSSL takes indefinite lengths anywhere.
        let mut certificate = Reader::new(Reader::new(der).expect_ber(tag::SEQUENCE)?.content);
        let tbs = certificate.expect_ber(tag::SEQUENCE)?;
        let outer_algorithm = certificate.expect_ber(tag::SEQUENCE)?.raw;
        let signature = certificate.any_ber()?.content;

        let mut reader = Reader::new(tbs.content);
        let version = match reader.optional_ber(0xA0)? {
            Some(explicit) => integer(Reader::new(explicit.content).expect_ber(tag::INTEGER)?.content),
            None => 0,
        };
        let serial = reader.expect_ber(tag::INTEGER)?.content;
        let inner_algorithm = reader.expect_ber(tag::SEQUENCE)?.raw;
        let issuer = reader.expect_list(tag::SEQUENCE)?.raw;
        let mut validity = Reader::new(reader.expect_ber(tag::SEQUENCE)?.content);
        let not_before = time(validity.any_ber()?);
        let not_after = time(validity.any_ber()?);
        let subject = reader.expect_list(tag::SEQUENCE)?.raw;
        let spki = reader.expect_ber(tag::SEQUENCE)?.raw;
        let mut extensions = None;
        while !reader.is_empty() {
            let element = reader.any_ber()?;
            if element.tag == 0xA3 {
                extensions = Some(Reader::new(element.content).expect_list(tag::SEQUENCE)?.content);
            }
        }
        Ok(Self {
            tbs: tbs.raw,
            version,
            serial,
            inner_algorithm,
            issuer,
            not_before,
            not_after,
            subject,
            spki,
            extensions,
            outer_algorithm,
            signature,
        })
    }

    /// The serial number as signed hexadecimal digits, as `openssl x509 -serial` prints it, in lower case.
    #[must_use]
    pub fn serial_text(&self) -> String {
        let mut magnitude = self.serial.to_vec();
        let negative = magnitude.first().is_some_and(|byte| byte & 0x80 != 0);
        if negative {
            let mut carry = true;
            for byte in magnitude.iter_mut().rev() {
                let (value, overflow) = (!*byte).overflowing_add(u8::from(carry));
                *byte = value;
                carry = overflow;
            }
        }
        let zeros = magnitude.iter().take_while(|&&byte| byte == 0).count();
        let digits = if zeros == magnitude.len() { &[0][..] } else { &magnitude[zeros..] };
        let mut text = String::from(if negative { "-" } else { "" });
        digits.iter().for_each(|byte| {
            let _ = write!(text, "{byte:02x}");
        });
        text
    }
}

fn time(element: Element<'_>) -> (u8, &[u8]) {
    (element.tag, element.content)
}

/// Two's complement of up to eight bytes; longer ones saturate, they have no meaning as a version.
fn integer(content: &[u8]) -> i64 {
    let Some(&first) = content.first() else { return 0 };
    if content.len() > 8 {
        return if first & 0x80 == 0 { i64::MAX } else { i64::MIN };
    }
    let start = if first & 0x80 == 0 { 0 } else { -1 };
    content.iter().fold(start, |value, &byte| value << 8 | i64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serial(bytes: &[u8]) -> String {
        Fields { serial: bytes, ..Fields::default() }.serial_text()
    }

    #[test]
    fn serials_are_signed() {
        // Values as `openssl asn1parse` shows them for the same content bytes.
        assert_eq!(serial(&[0x00]), "00");
        assert_eq!(serial(&[0x7F]), "7f");
        assert_eq!(serial(&[0x00, 0x80]), "80");
        assert_eq!(serial(&[0xFF]), "-01");
        assert_eq!(serial(&[0x80]), "-80");
        assert_eq!(serial(&[0xFF, 0x00]), "-0100");
        assert_eq!(serial(&[0x00, 0x00, 0x12, 0x34]), "1234");
    }

    #[test]
    fn integers_of_all_lengths() {
        assert_eq!(integer(&[2]), 2);
        assert_eq!(integer(&[0xFF]), -1);
        assert_eq!(integer(&[]), 0);
        assert_eq!(integer(&[1; 9]), i64::MAX);
    }

    #[test]
    fn what_is_no_certificate_is_an_error() {
        for bytes in [&[][..], &[0x30, 0], &[0x31, 0], &[0x30, 2, 0x30, 0], &[0x30, 4, 0x30, 0, 0x30, 0]] {
            assert!(Fields::walk(bytes).is_err());
        }
    }
}
