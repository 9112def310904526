//! DER as `golang.org/x/crypto/cryptobyte` reads it: tags of one byte, lengths as short as they can be and of four
//! bytes at most, nothing indefinite.

use std::borrow::Cow;

use super::Version;
use crate::readers::reading::Fault;

/// What is left to read (`cryptobyte.String`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a>(pub(super) &'a [u8]);

/// One element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'a> {
    pub(super) tag: u8,
    pub(super) content: &'a [u8],
    /// With its header.
    pub(super) raw: &'a [u8],
}

impl<'a> Input<'a> {
    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Whether the next element has this tag (`PeekASN1Tag`).
    pub(super) fn is_next(self, tag: u8) -> bool {
        self.0.first() == Some(&tag)
    }

    /// The next element, whatever it is (`readASN1`).
    pub(super) fn any(&mut self) -> Result<Element<'a>, Fault> {
        let [tag, first, after @ ..] = self.0 else { return Err(Fault::Structure) };
        if tag & 0x1F == 0x1F {
            return Err(Fault::Structure);
        }
        let (header, length) = if first & 0x80 == 0 {
            (2, usize::from(*first))
        } else {
            let count = usize::from(first & 0x7F);
            if count == 0 || count > 4 {
                return Err(Fault::Length);
            }
            let field = after.get(..count).ok_or(Fault::Structure)?;
            let length = field.iter().fold(0_u32, |length, byte| length << 8 | u32::from(*byte));
            if length < 0x80 || field.first() == Some(&0) {
                return Err(Fault::Length);
            }
            (2 + count, usize::try_from(length).map_err(|_| Fault::Length)?)
        };
        let end = length.checked_add(header).ok_or(Fault::Length)?;
        let (raw, rest) = self.0.split_at_checked(end).ok_or(Fault::Structure)?;
        self.0 = rest;
        Ok(Element { tag: *tag, content: raw.get(header..).unwrap_or_default(), raw })
    }

    /// The next element, which must have this tag.
    pub(super) fn element(&mut self, tag: u8) -> Result<Element<'a>, Fault> {
        let element = self.any()?;
        if element.tag == tag { Ok(element) } else { Err(Fault::Structure) }
    }

    /// The content of the next element, which must have this tag (`ReadASN1`).
    pub(super) fn read(&mut self, tag: u8) -> Result<&'a [u8], Fault> {
        self.element(tag).map(|element| element.content)
    }

    /// The same, to be read on.
    pub(super) fn inside(&mut self, tag: u8) -> Result<Input<'a>, Fault> {
        self.read(tag).map(Input)
    }

    /// The same, where the next element has this tag (`ReadOptionalASN1`).
    pub(super) fn optional(&mut self, tag: u8) -> Result<Option<Input<'a>>, Fault> {
        if self.is_next(tag) { self.inside(tag).map(Some) } else { Ok(None) }
    }
}

/// Whether an INTEGER is as short as it can be (`checkASN1Integer`).
pub(super) fn integer(content: &[u8]) -> Result<(), Fault> {
    match content {
        [] => Err(Fault::Padding),
        [0, second, ..] if second & 0x80 == 0 => Err(Fault::Padding),
        [0xFF, second, ..] if second & 0x80 != 0 => Err(Fault::Padding),
        _ => Ok(()),
    }
}

/// An INTEGER of at most 64 bits, with its sign (`readASN1Int64`).
pub(super) fn int64(content: &[u8]) -> Result<i64, Fault> {
    integer(content)?;
    if content.len() > 8 {
        return Err(Fault::TooLarge);
    }
    let start = if is_negative(content) { -1 } else { 0 };
    Ok(content.iter().fold(start, |value, byte| value << 8 | i64::from(*byte)))
}

pub(super) fn is_negative(content: &[u8]) -> bool {
    content.first().is_some_and(|first| first & 0x80 != 0)
}

/// Whether an INTEGER of any length is above zero.
pub(super) fn is_positive(content: &[u8]) -> bool {
    !is_negative(content) && content.iter().any(|byte| *byte != 0)
}

/// The numbers in an OBJECT IDENTIFIER, the first two still in one (`ReadASN1ObjectIdentifier`). Each has 31 bits at
/// most. In new versions none may begin with 80; in old ones an identifier can be written in several ways.
pub(super) fn identifier(content: &[u8], version: Version) -> Result<Vec<u32>, Fault> {
    let mut out = Vec::with_capacity(content.len());
    let (mut value, mut length) = (0_u32, 0);
    for &byte in content {
        let padded = version.is_strict() && length == 0 && byte == 0x80;
        if padded || length == 5 || value >= 1 << 24 {
            return Err(Fault::ObjectIdentifier);
        }
        value = value << 7 | u32::from(byte & 0x7F);
        length += 1;
        if byte & 0x80 == 0 {
            out.push(value);
            (value, length) = (0, 0);
        }
    }
    if out.is_empty() || length > 0 { Err(Fault::ObjectIdentifier) } else { Ok(out) }
}

/// The bytes of a BIT STRING and how many bits at their end are not used (`ReadASN1BitString`).
pub(super) fn bits(content: &[u8]) -> Result<(&[u8], u8), Fault> {
    let Some((&unused, bytes)) = content.split_first() else { return Err(Fault::Structure) };
    let last = bytes.last().copied().unwrap_or_default();
    let fits = unused <= 7 && (unused == 0 || !bytes.is_empty()) && last & ((1 << (unused & 7)) - 1) == 0;
    if fits { Ok((bytes, unused)) } else { Err(Fault::Value) }
}

/// The bits moved so that the unused ones stand at the front (`BitString.RightAlign`): this is what Go reads keys of.
pub(super) fn right_align(bytes: &[u8], unused: u8) -> Cow<'_, [u8]> {
    if unused == 0 {
        return Cow::Borrowed(bytes);
    }
    let mut carried = 0_u16;
    Cow::Owned(
        bytes
            .iter()
            .map(|byte| {
                let pair = carried << 8 | u16::from(*byte);
                carried = u16::from(*byte);
                (pair >> unused & 0xFF) as u8
            })
            .collect(),
    )
}

/// A BOOLEAN (`ReadASN1Boolean`).
pub(super) fn boolean(content: &[u8]) -> Result<bool, Fault> {
    match content {
        [0] => Ok(false),
        [0xFF] => Ok(true),
        _ => Err(Fault::Value),
    }
}

/// A UTCTime or a GeneralizedTime, after its tag (`ReadASN1UTCTime`, `ReadASN1GeneralizedTime`): what `time.Parse`
/// takes and prints again in the same way, so neither fractions nor an offset of zero.
pub(super) fn time(content: &[u8], generalized: bool, version: Version) -> Result<(), Fault> {
    let digits = content.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (text, zone) = content.split_at(digits);
    // Pairs of digits: a century where there is one, then year, month, day, hour, minute, second.
    let pairs: Vec<u32> = text
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
        .collect();
    let (century, rest) = match (generalized, digits) {
        (true, 14) => (pairs.first().copied(), pairs.get(1..)),
        // Go falls back to minutes for UTCTime alone.
        (false, 10 | 12) => (None, pairs.get(..)),
        _ => return Err(Fault::Time),
    };
    let Some([year, month, day, hour, minute, seconds @ ..]) = rest else { return Err(Fault::Time) };
    // Of the years that UTCTime can mean only 2000 ends in 00, and that is a leap year.
    let leap = year % 4 == 0 && (*year != 0 || century.is_none_or(|century| century % 4 == 0));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return Err(Fault::Time),
    };
    let fits = (1..=days).contains(day)
        && *hour < 24
        && *minute < 60
        && seconds.iter().all(|second| *second < 60)
        && offset(zone, version);
    if fits { Ok(()) } else { Err(Fault::Time) }
}

/// `Z`, or an offset other than zero. `time.Parse` of new versions has a limit of 24 hours.
fn offset(zone: &[u8], version: Version) -> bool {
    let [b'+' | b'-', digits @ ..] = zone else { return zone == b"Z" };
    let [a, b, c, d] = digits else { return false };
    let limit = if version.is_strict() { 24 } else { 99 };
    digits.iter().all(u8::is_ascii_digit)
        && (a - b'0') * 10 + (b - b'0') <= limit
        && *c < b'6'
        && [a, b, c, d].iter().any(|digit| **digit != b'0')
}
