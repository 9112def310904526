//! Distinguished names as text, as `openssl x509 -nameopt RFC2253,utf8,-esc_msb` writes them.
//!
//! Source: `X509_NAME_print_ex` and `ASN1_STRING_print_ex` of OpenSSL (crypto/asn1/a_strex.c), which follow RFC 2253
//! but for small things: see the tests.

use std::fmt::Write as _;

use super::trust::dotted;
use crate::der::{Element, Reader, tag};

/// One attribute of a name.
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'a> {
    /// The relative distinguished name that it belongs to, counted from 0.
    pub rdn: usize,
    /// Content bytes of its type.
    pub oid: &'a [u8],
    /// Its value.
    pub value: Element<'a>,
}

/// Content bytes of id-at-commonName.
pub const COMMON_NAME: &[u8] = &[0x55, 4, 3];
/// Content bytes of id-at-organizationName.
pub const ORGANIZATION: &[u8] = &[0x55, 4, 10];
/// Content bytes of id-at-organizationalUnitName.
pub const ORGANIZATIONAL_UNIT: &[u8] = &[0x55, 4, 11];

/// The attributes of a Name (the whole TLV), in order. `None` where the structure is not that of a name.
#[must_use]
pub fn attributes(name: &[u8]) -> Option<Vec<Attribute<'_>>> {
    let mut rdns = Reader::new(Reader::new(name).expect(tag::SEQUENCE).ok()?.content);
    let mut out = Vec::new();
    let mut rdn = 0;
    while !rdns.is_empty() {
        let mut set = Reader::new(rdns.expect(tag::SET).ok()?.content);
        while !set.is_empty() {
            let mut pair = Reader::new(set.expect(tag::SEQUENCE).ok()?.content);
            let oid = pair.expect(tag::OID).ok()?.content;
            out.push(Attribute { rdn, oid, value: pair.any().ok()? });
        }
        rdn += 1;
    }
    Some(out)
}

/// The text of the last attribute of a type, where it is a character string: what people call the certificate by.
#[must_use]
pub fn find(name: &[u8], oid: &[u8]) -> Option<String> {
    let attributes = attributes(name)?;
    let value = attributes.iter().rev().find(|attribute| attribute.oid == oid)?.value;
    characters(value)
        .map(|characters| characters.into_iter().map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// A Name (the whole TLV) as RFC 2253 text; a name that cannot be walked as `#` and its bytes.
#[must_use]
pub fn to_rfc2253(name: &[u8]) -> String {
    let Some(attributes) = attributes(name) else { return hexadecimal(name) };
    let mut text = String::new();
    let mut previous = None;
    for attribute in attributes.iter().rev() {
        match previous {
            None => {}
            Some(rdn) if rdn == attribute.rdn => text.push('+'),
            Some(_) => text.push(','),
        }
        previous = Some(attribute.rdn);
        let known = SHORT_NAMES.iter().find(|(oid, _)| *oid == attribute.oid);
        match known {
            Some((_, short)) => text.push_str(short),
            None => text.push_str(&dotted(attribute.oid)),
        }
        text.push('=');
        match known.and_then(|_| characters(attribute.value)) {
            Some(value) => push_escaped(&mut text, &value),
            None => text.push_str(&hexadecimal(attribute.value.raw)),
        }
    }
    text
}

/// The characters of a string value; `Err` holds a byte that is no part of one. `None` for a type without characters.
fn characters(value: Element<'_>) -> Option<Vec<Result<char, u8>>> {
    Some(match value.tag {
        tag::UTF8_STRING => {
            let mut out = Vec::with_capacity(value.content.len());
            for piece in value.content.utf8_chunks() {
                out.extend(piece.valid().chars().map(Ok));
                out.extend(piece.invalid().iter().map(|&byte| Err(byte)));
            }
            out
        }
        tag::NUMERIC_STRING
        | tag::PRINTABLE_STRING
        | tag::T61_STRING
        | tag::IA5_STRING
        | tag::UTC_TIME
        | tag::GENERALIZED_TIME
        | tag::VISIBLE_STRING => value.content.iter().map(|&byte| Ok(char::from(byte))).collect(),
        tag::BMP_STRING => wide::<2>(value.content),
        tag::UNIVERSAL_STRING => wide::<4>(value.content),
        _ => return None,
    })
}

fn wide<const SIZE: usize>(content: &[u8]) -> Vec<Result<char, u8>> {
    let mut out = Vec::with_capacity(content.len() / SIZE);
    for unit in content.chunks(SIZE) {
        let code = unit.iter().fold(0_u32, |code, &byte| code << 8 | u32::from(byte));
        match char::from_u32(code) {
            Some(character) if unit.len() == SIZE => out.push(Ok(character)),
            _ => out.extend(unit.iter().map(|&byte| Err(byte))),
        }
    }
    out
}

fn push_escaped(text: &mut String, value: &[Result<char, u8>]) {
    for (index, character) in value.iter().enumerate() {
        let last = index + 1 == value.len();
        // OpenSSL forgets that the first character is the first when it is the last as well.
        let first = index == 0 && !last;
        match *character {
            Ok(c) if ",+\"<>;\\".contains(c) || c == ' ' && (first || last) || c == '#' && first => {
                text.push('\\');
                text.push(c);
            }
            Ok(c) if u32::from(c) < 0x20 || c == '\u{7F}' => {
                let _ = write!(text, "\\{:02X}", u32::from(c));
            }
            Ok(c) => text.push(c),
            Err(byte) => {
                let _ = write!(text, "\\{byte:02X}");
            }
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::from("#"), |mut text, byte| {
        let _ = write!(text, "{byte:02X}");
        text
    })
}

/// Content bytes of attribute types and OpenSSL's short names for them (crypto/objects/objects.txt).
const SHORT_NAMES: &[(&[u8], &str)] = &[
    (COMMON_NAME, "CN"),
    (&[0x55, 4, 4], "SN"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 9], "street"),
    (ORGANIZATION, "O"),
    (ORGANIZATIONAL_UNIT, "OU"),
    (&[0x55, 4, 12], "title"),
    (&[0x55, 4, 13], "description"),
    (&[0x55, 4, 14], "searchGuide"),
    (&[0x55, 4, 15], "businessCategory"),
    (&[0x55, 4, 16], "postalAddress"),
    (&[0x55, 4, 17], "postalCode"),
    (&[0x55, 4, 18], "postOfficeBox"),
    (&[0x55, 4, 19], "physicalDeliveryOfficeName"),
    (&[0x55, 4, 20], "telephoneNumber"),
    (&[0x55, 4, 31], "member"),
    (&[0x55, 4, 32], "owner"),
    (&[0x55, 4, 34], "seeAlso"),
    (&[0x55, 4, 41], "name"),
    (&[0x55, 4, 42], "GN"),
    (&[0x55, 4, 43], "initials"),
    (&[0x55, 4, 44], "generationQualifier"),
    (&[0x55, 4, 45], "x500UniqueIdentifier"),
    (&[0x55, 4, 46], "dnQualifier"),
    (&[0x55, 4, 49], "distinguishedName"),
    (&[0x55, 4, 51], "houseIdentifier"),
    (&[0x55, 4, 54], "dmdName"),
    (&[0x55, 4, 65], "pseudonym"),
    (&[0x55, 4, 72], "role"),
    (&[0x55, 4, 97], "organizationIdentifier"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 1], "emailAddress"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 2], "unstructuredName"),
    (&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 8], "unstructuredAddress"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 1, 1], "UID"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 1, 3], "mail"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 1, 25], "DC"),
    (&[0x2B, 6, 1, 4, 1, 0x82, 0x37, 0x3C, 2, 1, 1], "jurisdictionL"),
    (&[0x2B, 6, 1, 4, 1, 0x82, 0x37, 0x3C, 2, 1, 2], "jurisdictionST"),
    (&[0x2B, 6, 1, 4, 1, 0x82, 0x37, 0x3C, 2, 1, 3], "jurisdictionC"),
];
