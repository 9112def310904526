//! DER as libtasn1 reads it: `asn1_der_decoding2` with `ASN1_DECODE_FLAG_STRICT_DER` (lib/decoding.c, 4.19).
//!
//! It is stricter than BER and laxer than DER. Lengths may be longer than needed, high tag numbers may be written for
//! low ones; indefinite lengths and strings in pieces may not be. An element is held to the bytes that are left, not to
//! the one around it: that it was too long shows at the end of the outer one. The length of an explicit tag is read and
//! forgotten.

use crate::readers::reading::Fault;

/// Bits of the class and of "constructed" in an identifier byte: libtasn1 compares both at once.
const CLASS: u8 = 0xE0;
/// `INT_MAX`: a length that does not fit is an error.
const LARGEST: u64 = 0x7FFF_FFFF;
/// The buffer in which libtasn1 puts the text of an identifier together, less the NUL: what is longer is cut.
const LONGEST_TEXT: usize = 127;

/// An identifier as libtasn1 compares it: class with the bit for "constructed", and number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag(pub u8, pub u32);

impl Tag {
    pub(super) const BOOLEAN: Self = Self(0x00, 1);
    pub(super) const INTEGER: Self = Self(0x00, 2);
    pub(super) const BIT_STRING: Self = Self(0x00, 3);
    pub(super) const OCTET_STRING: Self = Self(0x00, 4);
    pub(super) const OID: Self = Self(0x00, 6);
    pub(super) const SEQUENCE: Self = Self(0x20, 16);
    pub(super) const SET: Self = Self(0x20, 17);
    pub(super) const UTC_TIME: Self = Self(0x00, 23);
    pub(super) const GENERALIZED_TIME: Self = Self(0x00, 24);

    /// Context-specific, primitive.
    pub(super) const fn implicit(number: u32) -> Self {
        Self(0x80, number)
    }
    /// Context-specific, constructed.
    pub(super) const fn explicit(number: u32) -> Self {
        Self(0xA0, number)
    }
}

/// A place in an encoding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn is_before(&self, end: usize) -> bool {
        self.at < end
    }

    pub(super) fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The identifier here and its size (`asn1_get_tag_der`).
    fn tag(&self) -> Option<(Tag, usize)> {
        let rest = self.rest();
        let (&[first, _], _) = rest.split_first_chunk()?;
        if first & 0x1F != 0x1F {
            return Some((Tag(first & CLASS, u32::from(first & 0x1F)), 1));
        }
        let mut number = 0_u32;
        for (index, &byte) in rest.iter().enumerate().skip(1) {
            number = number.checked_mul(128)?.checked_add(u32::from(byte & 0x7F))?;
            if byte & 0x80 == 0 {
                return Some((Tag(first & CLASS, number), index + 1));
            }
        }
        None
    }

    /// Whether the element here has this tag.
    pub(super) fn is(&self, tag: Tag) -> bool {
        self.tag().is_some_and(|(found, _)| found == tag)
    }

    /// Steps over the identifier, which must be this one.
    pub(super) fn expect(&mut self, tag: Tag) -> Result<(), Fault> {
        match self.tag() {
            Some((found, size)) if found == tag => {
                self.at += size;
                Ok(())
            }
            _ => Err(Fault::Structure),
        }
    }

    /// Steps over a length and gives it (`asn1_get_length_der`). The content is there.
    fn length(&mut self) -> Result<usize, Fault> {
        let rest = self.rest();
        // An identifier of two bytes may be the last thing there is: libtasn1 takes that for an empty element.
        let Some(&first) = rest.first() else { return Ok(0) };
        let mut size = 1;
        let mut length = u64::from(first);
        if first & 0x80 != 0 {
            let count = usize::from(first & 0x7F);
            if count == 0 {
                return Err(Fault::Length);
            }
            length = 0;
            for &byte in rest.iter().skip(1).take(count) {
                length = length << 8 | u64::from(byte);
                size += 1;
                if length > u64::from(u32::MAX) {
                    return Err(Fault::Length);
                }
            }
        }
        if length >= LARGEST || length + size as u64 > rest.len() as u64 {
            return Err(Fault::Length);
        }
        self.at += size;
        Ok(length as usize)
    }

    /// Steps over length and content, and gives the content.
    pub(super) fn content(&mut self) -> Result<&'a [u8], Fault> {
        let length = self.length()?;
        let content = &self.bytes[self.at..self.at + length];
        self.at += length;
        Ok(content)
    }

    /// The content of the element here, which must have this tag.
    pub(super) fn value(&mut self, tag: Tag) -> Result<&'a [u8], Fault> {
        self.expect(tag)?;
        self.content()
    }

    /// Steps into an element of this tag and gives its end; `None` for an empty one, whose elements libtasn1 takes
    /// for absent, whatever the standard demands.
    pub(super) fn open(&mut self, tag: Tag) -> Result<Option<usize>, Fault> {
        self.expect(tag)?;
        let length = self.length()?;
        Ok((length > 0).then_some(self.at + length))
    }

    /// The end of an element that was opened must be here.
    pub(super) fn close(&self, end: usize) -> Result<(), Fault> {
        if self.at == end { Ok(()) } else { Err(Fault::Structure) }
    }

    /// What is behind an explicit tag, where that is what stands here. Where it ends is nowhere checked.
    pub(super) fn explicit(&self, number: u32) -> Option<Self> {
        let mut inner = *self;
        inner.expect(Tag::explicit(number)).ok()?;
        inner.length().ok()?;
        Some(inner)
    }

    /// One element of any kind, whole.
    pub(super) fn any(&mut self) -> Result<&'a [u8], Fault> {
        let start = self.at;
        let (_, size) = self.tag().ok_or(Fault::Structure)?;
        self.at += size;
        self.content()?;
        Ok(&self.bytes[start..self.at])
    }

    /// A BOOLEAN: the length is one byte, 01, and nothing else.
    pub(super) fn boolean(&mut self) -> Result<(), Fault> {
        self.expect(Tag::BOOLEAN)?;
        match self.rest() {
            [1, _, ..] => {
                self.at += 2;
                Ok(())
            }
            _ => Err(Fault::Length),
        }
    }

    /// An OBJECT IDENTIFIER under this tag.
    pub(super) fn identifier(&mut self, tag: Tag) -> Result<Identifier<'a>, Fault> {
        let content = self.value(tag)?;
        Identifier::read(content).ok_or(Fault::ObjectIdentifier)
    }
}

/// The content of an OBJECT IDENTIFIER that libtasn1 accepts (`asn1_get_object_id_der`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Identifier<'a>(&'a [u8]);

impl<'a> Identifier<'a> {
    /// Not empty, no number with leading zeros or above 64 bits. The last one need not end.
    fn read(content: &'a [u8]) -> Option<Self> {
        let (mut number, mut leading) = (0_u64, true);
        for &byte in content {
            if leading && byte == 0x80 || number > u64::MAX >> 7 {
                return None;
            }
            number = number << 7 | u64::from(byte & 0x7F);
            leading = byte & 0x80 == 0;
            if leading {
                number = 0;
            }
        }
        (!content.is_empty()).then_some(Self(content))
    }

    /// Its text, by which GnuTLS compares: cut after 127 characters, and without a last number that does not end.
    pub(super) fn text(self) -> String {
        let mut text = String::new();
        let mut number = 0_u64;
        for (index, &byte) in self.0.iter().enumerate() {
            number = number << 7 | u64::from(byte & 0x7F);
            let is_last = index + 1 == self.0.len();
            if byte & 0x80 != 0 && !(is_last && text.is_empty()) {
                continue;
            }
            // libtasn1 prints the numbers with a sign.
            if text.is_empty() {
                let (first, second) = match number {
                    0..=39 => (0, number),
                    40..=79 => (1, number - 40),
                    _ => (2, number - 80),
                };
                text = format!("{first}.{}", second.cast_signed());
            } else {
                text.push('.');
                text.push_str(&number.cast_signed().to_string());
            }
            number = 0;
            if text.len() >= LONGEST_TEXT {
                text.truncate(LONGEST_TEXT);
                break;
            }
        }
        text
    }
}

/// Whether GnuTLS has room for the text of an identifier (`MAX_OID_SIZE`, less two NULs).
pub(super) fn fits(text: &str) -> bool {
    text.len() < LONGEST_TEXT
}
