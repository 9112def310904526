//! What decides whether a certificate may issue others, read without allocation.

use super::fields::Fields;
use crate::der::{Reader, tag};

/// Content bytes of id-ce-basicConstraints, 2.5.29.19.
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1D, 0x13];
/// Content bytes of id-ce-keyUsage, 2.5.29.15.
const KEY_USAGE: &[u8] = &[0x55, 0x1D, 0x0F];
/// Content bytes of netscape-cert-type, 2.16.840.1.113730.1.1.
const NETSCAPE_CERT_TYPE: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x86, 0xF8, 0x42, 0x01, 0x01];
/// Content bytes of id-ce-nameConstraints, 2.5.29.30.
const NAME_CONSTRAINTS: &[u8] = &[0x55, 0x1D, 0x1E];
/// Content bytes of id-ce-subjectKeyIdentifier, 2.5.29.14.
const SUBJECT_KEY_IDENTIFIER: &[u8] = &[0x55, 0x1D, 0x0E];
/// Content bytes of id-ce-extKeyUsage, 2.5.29.37.
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1D, 0x25];
/// Content bytes of the purposes that let a CA stand above a TLS server to OpenSSL: id-kp-serverAuth, 1.3.6.1.5.5.7.3.1,
/// and the two step-up OIDs of Netscape and Microsoft (`XKU_SSL_SERVER | XKU_SGC` in crypto/x509/v3_purp.c).
const SERVER_PURPOSES: [&[u8]; 3] = [
    &[0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01],
    &[0x60, 0x86, 0x48, 0x01, 0x86, 0xF8, 0x42, 0x04, 0x01],
    &[0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0x37, 0x0A, 0x03, 0x03],
];
/// keyCertSign is bit 5 of the key usage, counted from the top.
const KEY_CERT_SIGN: u8 = 0x04;
/// The three CA bits of the Netscape certificate type.
const NETSCAPE_CA: u8 = 0x07;

/// Content of an extension's value, by the content bytes of its OID. The first of several is taken.
#[must_use]
pub fn find<'a>(fields: &Fields<'a>, oid: &[u8]) -> Option<&'a [u8]> {
    let mut list = Reader::new(fields.extensions?);
    while let Ok(extension) = list.expect(tag::SEQUENCE) {
        let mut parts = Reader::new(extension.content);
        if parts.expect(tag::OID).ok()?.content != oid {
            continue;
        }
        parts.optional(tag::BOOLEAN).ok()?;
        return Some(parts.expect(tag::OCTET_STRING).ok()?.content);
    }
    None
}

/// Whether OpenSSL would let the certificate issue others: `check_ca` in crypto/x509/v3_purp.c.
///
/// `None` where an extension that decides cannot be read.
#[must_use]
pub fn is_ca(fields: &Fields<'_>, self_issued: bool) -> Option<bool> {
    let key_usage = match find(fields, KEY_USAGE) {
        None => None,
        // A BIT STRING: the number of unused bits, then the bits.
        Some(value) => {
            Some(Reader::new(value).expect(tag::BIT_STRING).ok()?.content.get(1).copied().unwrap_or(0))
        }
    };
    if key_usage.is_some_and(|bits| bits & KEY_CERT_SIGN == 0) {
        return Some(false);
    }
    if let Some(value) = find(fields, BASIC_CONSTRAINTS) {
        let mut constraints = Reader::new(Reader::new(value).expect(tag::SEQUENCE).ok()?.content);
        let flag = constraints.optional(tag::BOOLEAN).ok()?;
        return Some(flag.is_some_and(|flag| flag.content.iter().any(|&byte| byte != 0)));
    }
    if fields.version == 0 && self_issued || key_usage.is_some() {
        return Some(true);
    }
    let netscape = find(fields, NETSCAPE_CERT_TYPE)
        .and_then(|value| Reader::new(value).expect(tag::BIT_STRING).ok()?.content.get(1).copied());
    Some(netscape.is_some_and(|bits| bits & NETSCAPE_CA != 0))
}

/// The value of the subject key identifier, by which the certificates below may name their issuer's key.
#[must_use]
pub fn subject_key_identifier<'a>(fields: &Fields<'a>) -> Option<&'a [u8]> {
    find(fields, SUBJECT_KEY_IDENTIFIER)
}

/// Whether there are basic constraints, whatever they say.
#[must_use]
pub fn has_basic_constraints(fields: &Fields<'_>) -> bool {
    find(fields, BASIC_CONSTRAINTS).is_some()
}

/// Whether extended key usages, where there are any, let OpenSSL take a CA for one of TLS servers
/// (`check_purpose_ssl_server`). anyExtendedKeyUsage does not.
#[must_use]
pub fn may_stand_above_servers(fields: &Fields<'_>) -> bool {
    let Some(value) = find(fields, EXTENDED_KEY_USAGE) else { return true };
    let Ok(list) = Reader::new(value).expect(tag::SEQUENCE) else { return true };
    let mut list = Reader::new(list.content);
    while let Ok(purpose) = list.expect(tag::OID) {
        if SERVER_PURPOSES.contains(&purpose.content) {
            return true;
        }
    }
    false
}

/// What a CA certificate limits in the chains below it (RFC 5280 sections 4.2.1.9 and 4.2.1.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits<'a> {
    /// pathLenConstraint; one beyond 64 bits is no limit.
    pub path_length: Option<u64>,
    /// The value of the name constraints.
    pub name_constraints: Option<&'a [u8]>,
}

/// The limits of a certificate, as far as they can be read.
#[must_use]
pub fn limits<'a>(fields: &Fields<'a>) -> Limits<'a> {
    let path_length = || {
        let value = find(fields, BASIC_CONSTRAINTS)?;
        let mut constraints = Reader::new(Reader::new(value).expect(tag::SEQUENCE).ok()?.content);
        constraints.optional(tag::BOOLEAN).ok()?;
        let number = constraints.optional(tag::INTEGER).ok()??.content;
        let digits = number.strip_prefix(&[0]).unwrap_or(number);
        (digits.len() <= 8).then(|| digits.iter().fold(0, |value, &digit| value << 8 | u64::from(digit)))
    };
    Limits { path_length: path_length(), name_constraints: find(fields, NAME_CONSTRAINTS) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ca(extensions: Option<&[u8]>, version: i64, self_issued: bool) -> Option<bool> {
        is_ca(&Fields { extensions, version, ..Fields::default() }, self_issued)
    }

    #[test]
    fn the_table_of_check_ca() {
        let constraints_true = [0x30, 12, 6, 3, 0x55, 0x1D, 0x13, 4, 5, 0x30, 3, 1, 1, 0xFF];
        let constraints_empty = [0x30, 9, 6, 3, 0x55, 0x1D, 0x13, 4, 2, 0x30, 0];
        let usage_sign = [0x30, 11, 6, 3, 0x55, 0x1D, 0x0F, 4, 4, 3, 2, 1, 0x06];
        let usage_none = [0x30, 11, 6, 3, 0x55, 0x1D, 0x0F, 4, 4, 3, 2, 7, 0x80];
        let garbage = [0x30, 9, 6, 3, 0x55, 0x1D, 0x13, 4, 2, 0x05, 0];
        assert_eq!(ca(Some(&constraints_true), 2, false), Some(true));
        assert_eq!(ca(Some(&constraints_empty), 2, true), Some(false));
        assert_eq!(ca(Some(&usage_sign), 2, false), Some(true));
        assert_eq!(ca(Some(&[&usage_none[..], &constraints_true].concat()), 2, true), Some(false));
        assert_eq!(ca(Some(&[&usage_sign[..], &constraints_true].concat()), 2, true), Some(true));
        assert_eq!(ca(Some(&garbage), 2, true), None);
        assert_eq!(ca(None, 0, true), Some(true));
        assert_eq!(ca(None, 0, false), Some(false));
        assert_eq!(ca(None, 2, true), Some(false));
    }
}
