//! What OpenSSL refuses in a certificate, its trust settings, and a CRL: `d2i_X509`, `d2i_X509_AUX`, `d2i_X509_CRL`
//! (crypto/x509/x_x509.c, x_x509a.c, x_crl.c, x_name.c, x_exten.c) on the raw bytes.

use super::Version;
use super::asn1::{Class, Walk, number::*};
use crate::readers::reading::{Fault, Part};

/// `X509_NAME_MAX`.
const LONGEST_NAME: usize = 1024 * 1024;

type Refusal = (Part, Fault);

/// Whether OpenSSL refuses the certificate at the start of `der`; else where it ends. Bytes behind it do not matter.
pub(super) fn certificate(der: &[u8], version: Version) -> Result<usize, Refusal> {
    let mut whole = Walk::new(der, version);
    let mut outer = whole.sequence().map_err(at(Part::Outer))?;
    let mut tbs = outer.sequence().map_err(at(Part::Tbs))?;
    if tbs.next_is(Class::Context, 0).map_err(at(Part::Version))? {
        let mut inside = tbs.inside(Class::Context, 0).map_err(at(Part::Version))?;
        inside.primitive(INTEGER).and_then(|_| inside.end()).map_err(at(Part::Version))?;
    }
    tbs.primitive(INTEGER).map_err(at(Part::Serial))?;
    algorithm(&mut tbs).map_err(at(Part::InnerAlgorithm))?;
    name(&mut tbs, version).map_err(at(Part::Issuer))?;
    validity(&mut tbs).map_err(at(Part::Validity))?;
    name(&mut tbs, version).map_err(at(Part::Subject))?;
    key(&mut tbs).map_err(at(Part::Key))?;
    for number in [1, 2] {
        if tbs.next_is(Class::Context, number).map_err(at(Part::UniqueId))? {
            let item = tbs.item().map_err(at(Part::UniqueId))?;
            super::asn1::value(item, BIT_STRING, version).map_err(at(Part::UniqueId))?;
        }
    }
    if tbs.next_is(Class::Context, 3).map_err(at(Part::Extensions))? {
        let mut inside = tbs.inside(Class::Context, 3).map_err(at(Part::Extensions))?;
        extensions(&mut inside).and_then(|()| inside.end()).map_err(at(Part::Extensions))?;
    }
    tbs.end().map_err(at(Part::Tbs))?;
    algorithm(&mut outer).map_err(at(Part::OuterAlgorithm))?;
    outer.primitive(BIT_STRING).map_err(at(Part::Signature))?;
    outer.end().map_err(at(Part::Outer))?;
    Ok(der.len() - whole.rest().len())
}

/// The same with trust settings behind it, where there is anything behind it (`X509_CERT_AUX`).
pub(super) fn trusted(der: &[u8], version: Version) -> Result<(), Refusal> {
    let end = certificate(der, version)?;
    if end < der.len() {
        settings(Walk::new(&der[end..], version)).map_err(at(Part::Trust))?;
    }
    Ok(())
}

fn settings(mut whole: Walk<'_>) -> Result<(), Fault> {
    let mut inside = whole.sequence()?;
    let identifiers = |list: &mut Walk<'_>| list.each(|list| list.primitive(OBJECT).map(drop));
    if inside.next_is(Class::Universal, SEQUENCE)? {
        identifiers(&mut inside.sequence()?)?;
    }
    if inside.next_is(Class::Context, 0)? {
        identifiers(&mut inside.inside(Class::Context, 0)?)?;
    }
    for string in [UTF8_STRING, OCTET_STRING] {
        if inside.next_is(Class::Universal, string)? {
            inside.primitive(string)?;
        }
    }
    if inside.next_is(Class::Context, 1)? {
        inside.inside(Class::Context, 1)?.each(algorithm)?;
    }
    inside.end()
}

/// Whether OpenSSL refuses a certificate revocation list.
pub(super) fn list(der: &[u8], version: Version) -> Result<(), Fault> {
    let mut outer = Walk::new(der, version).sequence()?;
    let mut info = outer.sequence()?;
    if info.next_is(Class::Universal, INTEGER)? {
        info.primitive(INTEGER)?;
    }
    algorithm(&mut info)?;
    name(&mut info, version)?;
    info.one_of(is_time)?;
    if info.next_is(Class::Universal, UTC_TIME)? || info.next_is(Class::Universal, GENERALIZED_TIME)? {
        info.one_of(is_time)?;
    }
    let mut names_issuers = false;
    if info.next_is(Class::Universal, SEQUENCE)? {
        info.sequence()?.each(|revoked| {
            let mut entry = revoked.sequence()?;
            entry.primitive(INTEGER)?;
            entry.one_of(is_time)?;
            if entry.next_is(Class::Universal, SEQUENCE)? {
                names_issuers |=
                    extension_value(entry, CERTIFICATE_ISSUER).is_some_and(|names| is_list(&names, version));
                extensions(&mut entry)?;
            }
            entry.end()
        })?;
    }
    let mut indirect = false;
    if info.next_is(Class::Context, 0)? {
        let mut inside = info.inside(Class::Context, 0)?;
        indirect = is_indirect(inside);
        extensions(&mut inside)?;
        inside.end()?;
    }
    info.end()?;
    algorithm(&mut outer)?;
    outer.primitive(BIT_STRING)?;
    outer.end()?;
    // 4.0: an entry that names an issuer in a list that is not indirect.
    if version >= Version::V4_0 && names_issuers && !indirect { Err(Fault::Value) } else { Ok(()) }
}

/// 2.5.29.29 and 2.5.29.28 (RFC 5280 sections 5.3.3 and 5.2.5).
const CERTIFICATE_ISSUER: &[u8] = &[0x55, 0x1D, 0x1D];
const ISSUING_DISTRIBUTION_POINT: &[u8] = &[0x55, 0x1D, 0x1C];

/// The value of an extension in the list that comes next.
fn extension_value<'a>(list: Walk<'a>, wanted: &[u8]) -> Option<std::borrow::Cow<'a, [u8]>> {
    let mut list = { list }.sequence().ok()?;
    while !list.is_empty() {
        let mut extension = list.sequence().ok()?;
        let identifier = extension.primitive(OBJECT).ok()?;
        if extension.next_is(Class::Universal, BOOLEAN).ok()? {
            extension.item().ok()?;
        }
        if *identifier == *wanted {
            return extension.primitive(OCTET_STRING).ok();
        }
    }
    None
}

/// `GENERAL_NAMES`, as far as matters here: elements with tags of the choice.
fn is_list(names: &[u8], version: Version) -> bool {
    let mut inside = match Walk::new(names, version).sequence() {
        Ok(inside) => inside,
        Err(_) => return false,
    };
    inside
        .each(|names| match names.item()? {
            name if name.class == Class::Context && name.number <= 8 => Ok(()),
            _ => Err(Fault::Structure),
        })
        .is_ok()
}

/// `indirectCRL [4] BOOLEAN` of the issuing distribution point.
fn is_indirect(list: Walk<'_>) -> bool {
    let Some(value) = extension_value(list, ISSUING_DISTRIBUTION_POINT) else { return false };
    let Ok(mut point) = Walk::new(&value, Version::V4_0).sequence() else { return false };
    while !point.is_empty() {
        let Ok(item) = point.item() else { return false };
        if item.class == Class::Context && item.number == 4 {
            return item.content.first().is_some_and(|&value| value != 0);
        }
    }
    false
}

fn at(part: Part) -> impl Fn(Fault) -> Refusal {
    move |fault| (part, fault)
}

/// `X509_ALGOR`.
fn algorithm(walk: &mut Walk<'_>) -> Result<(), Fault> {
    let mut inside = walk.sequence()?;
    inside.primitive(OBJECT)?;
    if !inside.is_empty() {
        inside.any()?;
    }
    inside.end()
}

/// `X509_VAL`.
fn validity(walk: &mut Walk<'_>) -> Result<(), Fault> {
    let mut inside = walk.sequence()?;
    for _ in 0..2 {
        inside.one_of(is_time).map_err(|fault| match fault {
            Fault::StringType => Fault::Structure,
            other => other,
        })?;
    }
    inside.end()
}

fn is_time(number: u32) -> bool {
    number == UTC_TIME || number == GENERALIZED_TIME
}

/// `X509_PUBKEY`: a key that nobody can use loads.
fn key(walk: &mut Walk<'_>) -> Result<(), Fault> {
    let mut inside = walk.sequence()?;
    algorithm(&mut inside)?;
    inside.primitive(BIT_STRING)?;
    inside.end()
}

/// `X509_EXTENSIONS`: the values are not looked at.
fn extensions(walk: &mut Walk<'_>) -> Result<(), Fault> {
    walk.sequence()?.each(|list| {
        let mut extension = list.sequence()?;
        extension.primitive(OBJECT)?;
        if extension.next_is(Class::Universal, BOOLEAN)? {
            extension.primitive(BOOLEAN)?;
        }
        extension.primitive(OCTET_STRING)?;
        extension.end()
    })
}

/// `X509_NAME` (`x509_name_ex_d2i`): what cannot be made canonical is refused.
fn name(walk: &mut Walk<'_>, version: Version) -> Result<(), Fault> {
    let before = walk.rest().len();
    let mut inside = walk.list(SEQUENCE)?;
    if before - walk.rest().len() > LONGEST_NAME {
        return Err(Fault::TooLarge);
    }
    inside.each(|names| {
        names.list(SET)?.each(|set| {
            let mut attribute = set.sequence()?;
            attribute.primitive(OBJECT)?;
            let (number, text) = attribute.one_of(|number| may_stand_in_a_name(number, version))?;
            attribute.end()?;
            if is_text(&text, number, version) { Ok(()) } else { Err(Fault::Characters) }
        })
    })
}

/// `B_ASN1_PRINTABLE` by `ASN1_tag2bit`: numbers that no type has are "unknown", and unknown ones may stand there.
fn may_stand_in_a_name(number: u32, version: Version) -> bool {
    match number {
        BIT_STRING | UTF8_STRING | SEQUENCE | 18..=20 | IA5_STRING | UNIVERSAL_STRING | BMP_STRING => true,
        // 1.1.1 does not know ENUMERATED there.
        ENUMERATED => version == Version::V1_1_1,
        7..=9 | 11 | 13..=15 | 29 => true,
        _ => false,
    }
}

/// `ASN1_STRING_to_UTF8` of `asn1_string_canon`, for the types that are made canonical.
fn is_text(text: &[u8], number: u32, version: Version) -> bool {
    let old = version == Version::V1_1_1;
    match number {
        UTF8_STRING if old => is_old_utf8(text),
        UTF8_STRING => std::str::from_utf8(text).is_ok(),
        BMP_STRING | UNIVERSAL_STRING if old => true,
        BMP_STRING => text.chunks(2).all(is_character),
        UNIVERSAL_STRING => text.chunks(4).all(is_character),
        _ => true,
    }
}

fn is_character(unit: &[u8]) -> bool {
    char::from_u32(unit.iter().fold(0, |code, &byte| code << 8 | u32::from(byte))).is_some()
}

/// `UTF8_getc` of 1.1.1: as long as the original UTF-8 may be, six bytes, and surrogates too.
fn is_old_utf8(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(&first) = rest.first() {
        let (count, least) = match first {
            0..=0x7F => (1, 0),
            0xC0..=0xDF => (2, 0x80),
            0xE0..=0xEF => (3, 0x800),
            0xF0..=0xF7 => (4, 0x1_0000),
            0xF8..=0xFB => (5, 0x20_0000),
            0xFC..=0xFD => (6, 0x400_0000),
            _ => return false,
        };
        let Some(bytes) = rest.get(..count) else { return false };
        if bytes[1..].iter().any(|byte| byte & 0xC0 != 0x80) {
            return false;
        }
        let start = if count == 1 { u32::from(first) } else { u32::from(first) & (0x7F >> count) };
        let code = bytes[1..].iter().fold(start, |code, byte| code << 6 | u32::from(byte & 0x3F));
        if code < least {
            return false;
        }
        rest = &rest[count..];
    }
    true
}
