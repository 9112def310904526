//! A light walk over DER: tags, lengths, borrowed slices. No allocation, no judgement.
//!
//! Lengths may be longer than needed (BER); where only DER will do, [`Element::minimal`] tells. Indefinite lengths
//! are stepped over by [`element_length`], without recursion, so that nesting costs no stack.

/// Universal class tags that certificates use (X.690 section 8).
pub mod tag {
    /// BOOLEAN
    pub const BOOLEAN: u8 = 0x01;
    /// INTEGER
    pub const INTEGER: u8 = 0x02;
    /// BIT STRING
    pub const BIT_STRING: u8 = 0x03;
    /// OCTET STRING
    pub const OCTET_STRING: u8 = 0x04;
    /// OBJECT IDENTIFIER
    pub const OID: u8 = 0x06;
    /// UTF8String
    pub const UTF8_STRING: u8 = 0x0C;
    /// NumericString
    pub const NUMERIC_STRING: u8 = 0x12;
    /// PrintableString
    pub const PRINTABLE_STRING: u8 = 0x13;
    /// T61String (TeletexString)
    pub const T61_STRING: u8 = 0x14;
    /// IA5String
    pub const IA5_STRING: u8 = 0x16;
    /// UTCTime
    pub const UTC_TIME: u8 = 0x17;
    /// GeneralizedTime
    pub const GENERALIZED_TIME: u8 = 0x18;
    /// VisibleString
    pub const VISIBLE_STRING: u8 = 0x1A;
    /// UniversalString
    pub const UNIVERSAL_STRING: u8 = 0x1C;
    /// BMPString
    pub const BMP_STRING: u8 = 0x1E;
    /// SEQUENCE, constructed
    pub const SEQUENCE: u8 = 0x30;
    /// SET, constructed
    pub const SET: u8 = 0x31;
}

/// What a walk stumbled over. The walk goes no further; the bytes are as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DerError {
    /// The bytes end inside an element.
    #[error("truncated: an element goes on behind the last byte")]
    Truncated,
    /// A length field that no size of memory holds, or the reserved value FF.
    #[error("a length that cannot be")]
    Length,
    /// Another tag than the structure has at this place.
    #[error("tag {found:02x} where {expected:02x} belongs")]
    Tag {
        /// The tag that belongs there.
        expected: u8,
        /// The tag that is there.
        found: u8,
    },
    /// The structure ends early.
    #[error("an element is missing")]
    Missing,
    /// An indefinite length where only definite ones are walked.
    #[error("indefinite length (BER)")]
    Indefinite,
    /// Nothing there.
    #[error("no bytes")]
    Empty,
}

/// One element: identifier, length, content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element<'a> {
    /// The first identifier byte. High tag numbers keep 1F in its low bits.
    pub tag: u8,
    /// The content.
    pub content: &'a [u8],
    /// Identifier, length and content.
    pub raw: &'a [u8],
    /// Whether the length is written in as few bytes as possible (DER).
    pub minimal: bool,
}

/// Reads elements one after the other.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What is not read yet.
    #[must_use]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether all is read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The tag of the next element.
    #[must_use]
    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// The next element, whatever its tag.
    ///
    /// # Errors
    /// [`DerError::Missing`] at the end, [`DerError::Truncated`], [`DerError::Length`], [`DerError::Indefinite`].
    pub fn any(&mut self) -> Result<Element<'a>, DerError> {
        if self.rest.is_empty() {
            return Err(DerError::Missing);
        }
        let header = Header::parse(self.rest)?;
        let length = header.length.ok_or(DerError::Indefinite)?;
        let end = header.size.checked_add(length).ok_or(DerError::Length)?;
        let raw = self.rest.get(..end).ok_or(DerError::Truncated)?;
        self.rest = &self.rest[end..];
        Ok(Element { tag: raw[0], content: &raw[header.size..], raw, minimal: header.minimal })
    }

    /// The next element, of indefinite length too: its content is then without the end-of-contents.
    ///
    /// # Errors
    /// As [`Reader::any`], but never [`DerError::Indefinite`].
    pub fn any_ber(&mut self) -> Result<Element<'a>, DerError> {
        match self.any() {
            Err(DerError::Indefinite) => {}
            other => return other,
        }
        let end = element_length(self.rest)?;
        let (raw, rest) = self.rest.split_at(end);
        let element = Element { tag: raw[0], content: content(raw)?, raw, minimal: header_is_minimal(raw) };
        self.rest = rest;
        Ok(element)
    }

    /// The next element, of indefinite length too, which must have this tag.
    ///
    /// # Errors
    /// As [`Reader::any_ber`], and [`DerError::Tag`].
    pub fn expect_ber(&mut self, tag: u8) -> Result<Element<'a>, DerError> {
        match self.peek() {
            None => Err(DerError::Missing),
            Some(found) if found != tag => Err(DerError::Tag { expected: tag, found }),
            Some(_) => self.any_ber(),
        }
    }

    /// The next element, of indefinite length too, which must be a SEQUENCE OF or SET OF. OpenSSL takes these by class and
    /// number: not marked as constructed, and in the long form of identifiers too (`asn1_template_noexp_d2i` in
    /// crypto/asn1/tasn_dec.c).
    ///
    /// # Errors
    /// As [`Reader::any_ber`], and [`DerError::Tag`].
    pub fn expect_list(&mut self, tag: u8) -> Result<Element<'a>, DerError> {
        let found = self.peek().ok_or(DerError::Missing)?;
        if found & CLASS != 0 || tag_number(self.rest) != Some(u32::from(tag & NUMBER)) {
            return Err(DerError::Tag { expected: tag, found });
        }
        self.any_ber()
    }

    /// The next element, which must have this tag.
    ///
    /// # Errors
    /// As [`Reader::any`], and [`DerError::Tag`].
    pub fn expect(&mut self, tag: u8) -> Result<Element<'a>, DerError> {
        match self.peek() {
            None => Err(DerError::Missing),
            Some(found) if found != tag => Err(DerError::Tag { expected: tag, found }),
            Some(_) => self.any(),
        }
    }

    /// The next element, of indefinite length too, if it has this tag.
    ///
    /// # Errors
    /// As [`Reader::any_ber`].
    pub fn optional_ber(&mut self, tag: u8) -> Result<Option<Element<'a>>, DerError> {
        if self.peek() == Some(tag) { self.any_ber().map(Some) } else { Ok(None) }
    }

    /// The next element if it has this tag.
    ///
    /// # Errors
    /// As [`Reader::any`].
    pub fn optional(&mut self, tag: u8) -> Result<Option<Element<'a>>, DerError> {
        if self.peek() == Some(tag) { self.any().map(Some) } else { Ok(None) }
    }
}

/// Bits of an identifier.
const CLASS: u8 = 0xC0;
const CONSTRUCTED: u8 = 0x20;
const NUMBER: u8 = 0x1F;

/// Identifier and length of an element.
#[derive(Debug, Clone, Copy)]
struct Header {
    /// Bytes of identifier and length.
    size: usize,
    /// Bytes of content; `None` for the indefinite form.
    length: Option<usize>,
    minimal: bool,
}

impl Header {
    fn parse(bytes: &[u8]) -> Result<Self, DerError> {
        let first = *bytes.first().ok_or(DerError::Empty)?;
        let mut size = 1;
        if first & 0x1F == 0x1F {
            // High tag number: seven bits a byte, the last one has its top bit clear.
            loop {
                let byte = *bytes.get(size).ok_or(DerError::Truncated)?;
                size += 1;
                if byte & 0x80 == 0 {
                    break;
                }
            }
        }
        let byte = *bytes.get(size).ok_or(DerError::Truncated)?;
        size += 1;
        match byte {
            0..=0x7F => Ok(Self { size, length: Some(usize::from(byte)), minimal: true }),
            // Of a primitive element nobody would know the end (X.690, 8.1.3.2).
            0x80 if first & CONSTRUCTED == 0 => Err(DerError::Length),
            0x80 => Ok(Self { size, length: None, minimal: false }),
            0xFF => Err(DerError::Length),
            _ => {
                let count = usize::from(byte & 0x7F);
                let field = bytes.get(size..size + count).ok_or(DerError::Truncated)?;
                let mut length = 0_usize;
                for &byte in field {
                    if length >> (usize::BITS - 8) != 0 {
                        return Err(DerError::Length);
                    }
                    length = length << 8 | usize::from(byte);
                }
                let minimal = field[0] != 0 && length > 0x7F;
                Ok(Self { size: size + count, length: Some(length), minimal })
            }
        }
    }
}

/// The number of bytes of the element at the start of `bytes`, indefinite lengths included.
///
/// # Errors
/// [`DerError::Truncated`] and [`DerError::Length`].
pub fn element_length(bytes: &[u8]) -> Result<usize, DerError> {
    let header = Header::parse(bytes)?;
    if let Some(length) = header.length {
        let end = header.size.checked_add(length).ok_or(DerError::Length)?;
        return if end <= bytes.len() { Ok(end) } else { Err(DerError::Truncated) };
    }
    // Indefinite: elements up to the matching end-of-contents. The depth is a number, not a stack.
    let mut at = header.size;
    let mut depth = 1_usize;
    while depth > 0 {
        let rest = bytes.get(at..).ok_or(DerError::Truncated)?;
        if rest.starts_with(&[0, 0]) {
            depth -= 1;
            at += 2;
            continue;
        }
        if rest.is_empty() {
            return Err(DerError::Truncated);
        }
        let header = Header::parse(rest)?;
        match header.length {
            None => {
                depth += 1;
                at += header.size;
            }
            Some(length) => {
                at = at
                    .checked_add(header.size)
                    .and_then(|at| at.checked_add(length))
                    .ok_or(DerError::Length)?;
                if at > bytes.len() {
                    return Err(DerError::Truncated);
                }
            }
        }
    }
    Ok(at)
}

/// The content of the element at the start of `bytes`, with the end-of-contents of an indefinite length cut.
///
/// # Errors
/// As [`element_length`].
pub fn content(bytes: &[u8]) -> Result<&[u8], DerError> {
    let end = element_length(bytes)?;
    let header = Header::parse(bytes)?;
    Ok(match header.length {
        Some(_) => &bytes[header.size..end],
        None => &bytes[header.size..end - 2],
    })
}

/// Whether identifier and length at the start of `bytes` are DER: definite and as short as possible.
#[must_use]
pub fn header_is_minimal(bytes: &[u8]) -> bool {
    Header::parse(bytes).is_ok_and(|header| header.minimal)
}

/// The tag number at the start of `bytes`, whatever form it is written in.
#[must_use]
pub fn tag_number(bytes: &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    if first & 0x1F != 0x1F {
        return Some(u32::from(first & 0x1F));
    }
    let mut number = 0_u32;
    for &byte in rest {
        number = number.checked_mul(128)? | u32::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Writes identifier and minimal length for `length` bytes of content.
pub fn write_header(tag: u8, length: usize, out: &mut Vec<u8>) {
    out.push(tag);
    if length < 0x80 {
        out.push(length as u8);
        return;
    }
    let bytes = length.to_be_bytes();
    let skip = bytes.iter().take_while(|&&byte| byte == 0).count();
    out.push(0x80 | (bytes.len() - skip) as u8);
    out.extend_from_slice(&bytes[skip..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_every_form() {
        assert_eq!(element_length(&[0x30, 0]), Ok(2));
        assert_eq!(element_length(&[0x30, 0x81, 1, 0]), Ok(4));
        assert_eq!(element_length(&[0x30, 0x80, 0, 0, 9]), Ok(4));
        assert_eq!(element_length(&[0x30, 0x80, 0x30, 0x80, 0, 0, 2, 1, 5, 0, 0]), Ok(11));
        assert_eq!(element_length(&[0x1F, 0x81, 0x01, 1, 7]), Ok(5));
        for bad in
            [&[0x30][..], &[0x30, 2, 0], &[0x30, 0x80, 0], &[0x30, 0x80], &[0x30, 0x82, 1], &[0x1F, 0x81]]
        {
            assert_eq!(element_length(bad), Err(DerError::Truncated), "{bad:x?}");
        }
        assert_eq!(element_length(&[0x30, 0xFF]), Err(DerError::Length));
        assert_eq!(element_length(&[0x30, 0x89, 1, 0, 0, 0, 0, 0, 0, 0, 0]), Err(DerError::Length));
        let huge = [0x30, 0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
        assert_eq!(element_length(&huge), Err(DerError::Length));
    }

    #[test]
    fn minimal_means_der() {
        assert!(header_is_minimal(&[0x30, 0x7F]));
        assert!(header_is_minimal(&[0x30, 0x81, 0x80]));
        assert!(!header_is_minimal(&[0x30, 0x81, 0x7F]));
        assert!(!header_is_minimal(&[0x30, 0x82, 0, 0x80]));
        assert!(!header_is_minimal(&[0x30, 0x80]));
    }

    #[test]
    fn written_headers_read_back() {
        for length in [0, 1, 0x7F, 0x80, 0xFF, 0x100, 0xFFFF, 0x10000] {
            let mut out = Vec::new();
            write_header(tag::SEQUENCE, length, &mut out);
            assert!(header_is_minimal(&out));
            out.resize(out.len() + length, 0);
            assert_eq!(element_length(&out), Ok(out.len()));
        }
    }

    #[test]
    fn nesting_costs_no_stack() {
        let mut deep = vec![0x30; 2_000_000];
        deep.iter_mut().skip(1).step_by(2).for_each(|byte| *byte = 0x80);
        assert_eq!(element_length(&deep), Err(DerError::Truncated));
    }
}
