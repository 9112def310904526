//! DER and BER as OpenSSL's template decoder reads them (crypto/asn1/tasn_dec.c, asn1_lib.c): lengths of every form,
//! strings in pieces, values checked by `asn1_ex_c2i`.

use std::borrow::Cow;

use super::Version;
use crate::readers::reading::Fault;

/// Universal tag numbers.
pub(super) mod number {
    pub const BOOLEAN: u32 = 1;
    pub const INTEGER: u32 = 2;
    pub const BIT_STRING: u32 = 3;
    pub const OCTET_STRING: u32 = 4;
    pub const NULL: u32 = 5;
    pub const OBJECT: u32 = 6;
    pub const ENUMERATED: u32 = 10;
    pub const UTF8_STRING: u32 = 12;
    pub const SEQUENCE: u32 = 16;
    pub const SET: u32 = 17;
    pub const IA5_STRING: u32 = 22;
    pub const UTC_TIME: u32 = 23;
    pub const GENERALIZED_TIME: u32 = 24;
    pub const UNIVERSAL_STRING: u32 = 28;
    pub const BMP_STRING: u32 = 30;
}
use number::*;

/// `ASN1_MAX_STRING_NEST`: strings in pieces of pieces, no deeper.
const DEEPEST_STRING: usize = 5;

/// The class of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Universal,
    Context,
    Other,
}

/// One element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub class: Class,
    pub number: u32,
    pub constructed: bool,
    pub content: &'a [u8],
}

/// Reads elements one after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk<'a> {
    rest: &'a [u8],
    version: Version,
}

/// Identifier and length (`ASN1_get_object`).
struct Header {
    class: Class,
    number: u32,
    constructed: bool,
    size: usize,
    /// `None`: indefinite.
    length: Option<usize>,
}

fn header(bytes: &[u8], version: Version) -> Result<Header, Fault> {
    let structure = Fault::Structure;
    let first = *bytes.first().ok_or(structure)?;
    let mut at = 1;
    let mut number = u32::from(first & 0x1F);
    if number == 0x1F {
        number = 0;
        loop {
            let byte = *bytes.get(at).ok_or(structure)?;
            at += 1;
            number = number << 7 | u32::from(byte & 0x7F);
            if byte & 0x80 == 0 {
                break;
            }
            if number > i32::MAX as u32 >> 7 {
                return Err(structure);
            }
        }
    }
    let constructed = first & 0x20 != 0;
    let byte = *bytes.get(at).ok_or(structure)?;
    at += 1;
    let length = match byte {
        0x80 if constructed => None,
        0x80 => return Err(Fault::Length),
        0..=0x7F => Some(usize::from(byte)),
        _ => {
            let count = usize::from(byte & 0x7F);
            let left = bytes.len() - at;
            // Before 4.0 a byte must follow the length, even where there is no content (`asn1_get_length`).
            if left < count + usize::from(version < Version::V4_0) {
                return Err(Fault::Length);
            }
            let digits = &bytes[at..at + count];
            at += count;
            let digits = &digits[digits.iter().take_while(|&&digit| digit == 0).count()..];
            if digits.len() > 8 {
                return Err(Fault::Length);
            }
            let length = digits.iter().fold(0_u64, |length, &digit| length << 8 | u64::from(digit));
            Some(usize::try_from(length).map_err(|_| Fault::Length)?)
        }
    };
    if length.is_some_and(|length| length > bytes.len() - at) {
        return Err(Fault::Length);
    }
    let class = match first >> 6 {
        0 => Class::Universal,
        2 => Class::Context,
        _ => Class::Other,
    };
    Ok(Header { class, number, constructed, size: at, length })
}

impl<'a> Walk<'a> {
    pub fn new(rest: &'a [u8], version: Version) -> Self {
        Self { rest, version }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next element, whatever it is.
    pub fn item(&mut self) -> Result<Item<'a>, Fault> {
        if self.rest.starts_with(&[0, 0]) {
            // `UNEXPECTED_EOC`
            return Err(Fault::Structure);
        }
        let header = header(self.rest, self.version)?;
        let (content, end) = match header.length {
            Some(length) => (&self.rest[header.size..header.size + length], header.size + length),
            None => {
                let end = self.end_of_contents(header.size)?;
                (&self.rest[header.size..end - 2], end)
            }
        };
        self.rest = &self.rest[end..];
        Ok(Item { class: header.class, number: header.number, constructed: header.constructed, content })
    }

    /// Behind the end-of-contents that ends the element whose content starts at `at` (`asn1_find_end`).
    fn end_of_contents(&self, mut at: usize) -> Result<usize, Fault> {
        let mut depth = 1_usize;
        loop {
            let rest = &self.rest[at..];
            if rest.starts_with(&[0, 0]) {
                at += 2;
                depth -= 1;
                if depth == 0 {
                    return Ok(at);
                }
                continue;
            }
            let header = header(rest, self.version)?;
            at += header.size;
            match header.length {
                Some(length) => at += length,
                None => depth += 1,
            }
        }
    }

    /// Whether the next element has this class and number; `false` at the end.
    pub fn next_is(&self, class: Class, number: u32) -> Result<bool, Fault> {
        if self.rest.is_empty() {
            return Ok(false);
        }
        let header = header(self.rest, self.version)?;
        Ok(header.class == class && header.number == number)
    }

    /// A constructed element: SEQUENCE, SET, or an explicit tag. What is inside it.
    pub fn inside(&mut self, class: Class, number: u32) -> Result<Walk<'a>, Fault> {
        let item = self.item()?;
        if item.class != class || item.number != number || !item.constructed {
            return Err(Fault::Structure);
        }
        Ok(Walk { rest: item.content, version: self.version })
    }

    /// A SEQUENCE OF or SET OF, whose elements are looked at. It need not be marked as constructed
    /// (`asn1_template_noexp_d2i`).
    pub fn list(&mut self, number: u32) -> Result<Walk<'a>, Fault> {
        let item = self.item()?;
        if item.class != Class::Universal || item.number != number {
            return Err(Fault::Structure);
        }
        Ok(Walk { rest: item.content, version: self.version })
    }

    /// A SEQUENCE.
    pub fn sequence(&mut self) -> Result<Walk<'a>, Fault> {
        self.inside(Class::Universal, SEQUENCE)
    }

    /// `SEQUENCE_LENGTH_MISMATCH`: nothing may be left.
    pub fn end(&self) -> Result<(), Fault> {
        if self.rest.is_empty() { Ok(()) } else { Err(Fault::Structure) }
    }

    /// A primitive type of this number.
    pub fn primitive(&mut self, number: u32) -> Result<Cow<'a, [u8]>, Fault> {
        let item = self.item()?;
        if item.class != Class::Universal || item.number != number {
            return Err(Fault::Structure);
        }
        value(item, number, self.version)
    }

    /// One of several types (`ASN1_ITYPE_MSTRING`).
    pub fn one_of(&mut self, accepted: impl Fn(u32) -> bool) -> Result<(u32, Cow<'a, [u8]>), Fault> {
        let item = self.item()?;
        if item.class != Class::Universal || !accepted(item.number) {
            return Err(Fault::StringType);
        }
        let content = match item.number {
            // Left as they are.
            SEQUENCE | SET if item.constructed => Cow::Borrowed(item.content),
            SEQUENCE | SET => return Err(Fault::Structure),
            number => value(item, number, self.version)?,
        };
        Ok((item.number, content))
    }

    /// `ASN1_ANY`.
    pub fn any(&mut self) -> Result<(), Fault> {
        let item = self.item()?;
        match (item.class, item.number) {
            (Class::Universal, SEQUENCE | SET) if !item.constructed => Err(Fault::Structure),
            (Class::Universal, SEQUENCE | SET) | (Class::Context | Class::Other, _) => Ok(()),
            (Class::Universal, number) => value(item, number, self.version).map(drop),
        }
    }

    /// Elements until the end, each read by `read`.
    pub fn each(&mut self, mut read: impl FnMut(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        while !self.rest.is_empty() {
            read(self)?;
        }
        Ok(())
    }
}

/// The content of a primitive type: joined where it stands in pieces, then checked (`asn1_d2i_ex_primitive`).
pub(super) fn value(item: Item<'_>, number: u32, version: Version) -> Result<Cow<'_, [u8]>, Fault> {
    let content = if item.constructed {
        if [NULL, BOOLEAN, OBJECT, INTEGER, ENUMERATED].contains(&number) {
            return Err(Fault::Structure);
        }
        let mut joined = Vec::new();
        join(Walk::new(item.content, version), 0, &mut joined)?;
        Cow::Owned(joined)
    } else {
        Cow::Borrowed(item.content)
    };
    check(&content, number, version)?;
    Ok(content)
}

/// `asn1_collect`: pieces of any type.
fn join(mut pieces: Walk<'_>, depth: usize, out: &mut Vec<u8>) -> Result<(), Fault> {
    while !pieces.is_empty() {
        let piece = pieces.item()?;
        if !piece.constructed {
            out.extend_from_slice(piece.content);
        } else if depth < DEEPEST_STRING {
            join(Walk::new(piece.content, pieces.version), depth + 1, out)?;
        } else {
            return Err(Fault::Structure);
        }
    }
    Ok(())
}

/// `asn1_ex_c2i`, `ossl_c2i_ASN1_INTEGER`, `ossl_c2i_ASN1_OBJECT`, `ossl_c2i_ASN1_BIT_STRING`.
fn check(content: &[u8], number: u32, version: Version) -> Result<(), Fault> {
    let wrong = |bad: bool, fault: Fault| if bad { Err(fault) } else { Ok(()) };
    match number {
        BOOLEAN => wrong(content.len() != 1, Fault::Value),
        NULL => wrong(!content.is_empty(), Fault::Value),
        INTEGER | ENUMERATED => wrong(is_padded(content), Fault::Padding),
        OBJECT => wrong(!is_object_identifier(content), Fault::ObjectIdentifier),
        BIT_STRING => wrong(content.first().is_none_or(|&unused| unused > 7), Fault::Value),
        BMP_STRING => wrong(!content.len().is_multiple_of(2), Fault::Characters),
        UNIVERSAL_STRING => wrong(!content.len().is_multiple_of(4), Fault::Characters),
        // 3.3.2 looks, 3.2.2 does not.
        UTC_TIME => wrong(version >= Version::V3_5 && content.len() < 13, Fault::Time),
        GENERALIZED_TIME => wrong(version >= Version::V3_5 && content.len() < 15, Fault::Time),
        _ => Ok(()),
    }
}

/// Whether a number has no bytes, or more than it needs.
fn is_padded(content: &[u8]) -> bool {
    match content {
        [] => true,
        [0x00, second, ..] => second & 0x80 == 0,
        [0xFF, second, ..] => second & 0x80 != 0,
        _ => false,
    }
}

/// Each arc in as few bytes as possible, the last one whole.
fn is_object_identifier(content: &[u8]) -> bool {
    content.last().is_some_and(|last| last & 0x80 == 0)
        && (0..content.len()).all(|i| content[i] != 0x80 || i > 0 && content[i - 1] & 0x80 != 0)
}
