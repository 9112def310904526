//! Distinguished names as text, as `openssl x509 -nameopt RFC2253,utf8,-esc_msb` writes them.
//!
//! Source: `X509_NAME_print_ex` and `ASN1_STRING_print_ex` of OpenSSL (crypto/asn1/a_strex.c), which follow RFC 2253
//! but for small things: see the tests.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::attribute_types::SHORT_NAMES;
use super::trust::dotted;
use crate::der::{self, Element, Reader, tag};

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

/// The value of an attribute as OpenSSL keeps it (`ASN1_PRINTABLE`; `asn1_d2i_ex_primitive` in crypto/asn1/tasn_dec.c).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value<'a> {
    /// The number of its universal tag.
    number: u8,
    /// The content, put together where BER has it in pieces; for a SEQUENCE the whole element.
    content: Cow<'a, [u8]>,
}

/// Tag numbers that `ASN1_PRINTABLE` has (`ASN1_tag2bit`): BIT STRING, those that OpenSSL calls unknown, SEQUENCE, the
/// strings.
const ACCEPTED: &[u32] =
    &[3, 7, 8, 9, 0x0B, 0x0C, 0x0D, 0x0E, 0x0F, 0x10, 0x12, 0x13, 0x14, 0x16, 0x1C, 0x1D, 0x1E];

impl<'a> Value<'a> {
    /// `None` for what OpenSSL refuses.
    #[must_use]
    pub fn read(element: Element<'a>) -> Option<Self> {
        let number = der::tag_number(element.raw)?;
        let constructed = element.tag & 0x20 != 0;
        if element.tag & 0xC0 != 0 || !ACCEPTED.contains(&number) {
            return None;
        }
        let number = u8::try_from(number).ok()?;
        let content = match (number, constructed) {
            (0x10, false) => return None,
            (0x10, true) => Cow::Borrowed(element.raw),
            (_, true) => {
                let mut pieces = Vec::with_capacity(element.content.len());
                collect(element.content, 0, &mut pieces)?;
                Cow::Owned(pieces)
            }
            (_, false) => Cow::Borrowed(element.content),
        };
        let content = if number == tag::BIT_STRING { bits(content)? } else { content };
        Some(Self { number, content })
    }

    /// The value in DER (a SEQUENCE stays as it is).
    #[must_use]
    pub fn encoded(&self) -> Vec<u8> {
        if self.number == 0x10 { self.content.to_vec() } else { encode(self.number, &self.content) }
    }

    /// The number of its tag, and its content.
    #[must_use]
    pub fn parts(&self) -> (u8, &[u8]) {
        (self.number, &self.content)
    }
}

/// The pieces of a constructed string, whatever their tags, five levels deep (`asn1_collect`).
fn collect(content: &[u8], depth: u8, out: &mut Vec<u8>) -> Option<()> {
    let mut pieces = Reader::new(content);
    while !pieces.is_empty() {
        let piece = pieces.any_ber().ok()?;
        if piece.tag & 0x20 == 0 {
            out.extend_from_slice(piece.content);
        } else if depth < 5 {
            collect(piece.content, depth + 1, out)?;
        } else {
            return None;
        }
    }
    Some(())
}

/// A BIT STRING as OpenSSL keeps it: unused bits are cleared (`ossl_c2i_ASN1_BIT_STRING`).
fn bits(content: Cow<'_, [u8]>) -> Option<Cow<'_, [u8]>> {
    let unused = *content.first()?;
    if unused > 7 {
        return None;
    }
    if content.len() == 1 {
        return Some(Cow::Borrowed(&[0]));
    }
    let mut content = content.into_owned();
    *content.last_mut()? &= 0xFF << unused;
    Some(Cow::Owned(content))
}

fn encode(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + 6);
    der::write_header(tag, content.len(), &mut out);
    out.extend_from_slice(content);
    out
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
    let mut rdns = Reader::new(Reader::new(name).expect_ber(tag::SEQUENCE).ok()?.content);
    let mut out = Vec::new();
    let mut rdn = 0;
    while !rdns.is_empty() {
        let mut set = Reader::new(rdns.expect_ber(tag::SET).ok()?.content);
        while !set.is_empty() {
            let mut pair = Reader::new(set.expect_ber(tag::SEQUENCE).ok()?.content);
            let oid = pair.expect(tag::OID).ok()?.content;
            out.push(Attribute { rdn, oid, value: pair.any_ber().ok()? });
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
        let Some(value) = Value::read(attribute.value) else {
            text.push_str(&hexadecimal(attribute.value.raw));
            continue;
        };
        let (number, content) = value.parts();
        let as_string = Element { tag: number, content, raw: content, minimal: true };
        match known.and_then(|_| characters(as_string)) {
            Some(value) => push_escaped(&mut text, &value),
            None => text.push_str(&hexadecimal(&value.encoded())),
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
