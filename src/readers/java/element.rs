//! BER as `sun.security.util.DerValue` and `DerInputStream` read it: tags of one byte, lengths of four bytes at most
//! that need not be short, indefinite lengths turned into definite ones first.

use std::borrow::Cow;

use crate::der::{self, tag};
use crate::readers::reading::Fault;

/// What is left to read (`DerInputStream`).
///
/// Behind an element of indefinite length Java looks for the next one too far along: as far as there are bytes behind
/// the end of what it reads, in the array that it reads from. The model must know how many those are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    rest: &'a [u8],
    /// How many bytes stand behind the end in the same array.
    behind: usize,
    /// Whether it went beyond the end. Then there is neither more nor an end.
    is_over: bool,
}

/// One element (`DerValue`).
#[derive(Debug, Clone)]
pub(super) struct Element<'a> {
    pub(super) tag: u8,
    pub(super) content: Cow<'a, [u8]>,
    behind: usize,
}

/// Longest OBJECT IDENTIFIER (`ObjectIdentifier.MAXIMUM_OID_SIZE`).
const LONGEST_IDENTIFIER: usize = 4096;

/// How deep OCTET STRINGs in pieces may stand in each other (`DerValue.MAX_CONSTRUCTED_NEST`).
const DEEPEST_STRING: usize = 30;

impl<'a> Input<'a> {
    /// A whole array.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, behind: 0, is_over: false }
    }

    /// Whether exactly all has been read (`available() == 0`).
    pub(super) fn is_empty(self) -> bool {
        self.rest.is_empty() && !self.is_over
    }

    /// The tag of the next element (`peekByte`).
    pub(super) fn next_tag(self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// The next element, whatever it is (`getDerValue`).
    pub(super) fn any(&mut self) -> Result<Element<'a>, Fault> {
        let [tag, first, ..] = self.rest else { return Err(Fault::Structure) };
        if tag & 0x1F == 0x1F {
            return Err(Fault::Structure);
        }
        if *first == 0x80 {
            if tag & 0x20 == 0 {
                return Err(Fault::Length);
            }
            let (converted, size) = definite(self.rest)?;
            let (range, _) = header(&converted)?;
            let content = converted.get(range).unwrap_or_default().to_vec();
            let behind = self.rest.len() - size;
            let next = size + self.behind;
            self.is_over = next > self.rest.len();
            self.rest = self.rest.get(next..).unwrap_or_default();
            return Ok(Element { tag: *tag, content: Cow::Owned(content), behind });
        }
        let (range, end) = header(self.rest)?;
        let content = self.rest.get(range).unwrap_or_default();
        self.rest = self.rest.get(end..).unwrap_or_default();
        Ok(Element { tag: *tag, content: Cow::Borrowed(content), behind: self.rest.len() + self.behind })
    }

    /// All elements to the end (`DerValue.subs`).
    pub(super) fn all(mut self) -> Result<Vec<Element<'a>>, Fault> {
        let mut out = Vec::new();
        while !self.rest.is_empty() {
            out.push(self.any()?);
        }
        Ok(out)
    }

    /// `getOID`.
    pub(super) fn identifier(&mut self) -> Result<Cow<'a, [u8]>, Fault> {
        self.any()?.identifier()
    }

    /// `getInteger`.
    pub(super) fn small_integer(&mut self) -> Result<i64, Fault> {
        self.any()?.small_integer()
    }
}

/// Where the content of an element of definite length is.
fn header(bytes: &[u8]) -> Result<(std::ops::Range<usize>, usize), Fault> {
    let [_, first, after @ ..] = bytes else { return Err(Fault::Structure) };
    let (start, length) = if first & 0x80 == 0 {
        (2, usize::from(*first))
    } else {
        let count = usize::from(first & 0x7F);
        if count == 0 || count > 4 {
            return Err(Fault::Length);
        }
        let digits = after.get(..count).ok_or(Fault::Structure)?;
        let length = digits.iter().fold(0_u32, |length, digit| length << 8 | u32::from(*digit));
        let length = i32::try_from(length).map_err(|_| Fault::Length)?;
        (2 + count, usize::try_from(length).map_err(|_| Fault::Length)?)
    };
    let end = start.checked_add(length).ok_or(Fault::Length)?;
    if end > bytes.len() { Err(Fault::Structure) } else { Ok((start..end, end)) }
}

/// The element of indefinite length at the start of `bytes` with definite lengths, and how many bytes it had
/// (`DerIndefLenConverter`). Elements of definite length are not looked into, but their lengths become short; the
/// lengths around them do not follow, which leaves zeros at the end: so it is there.
fn definite(bytes: &[u8]) -> Result<(Vec<u8>, usize), Fault> {
    let u31 = |digits: &[u8]| {
        let length = digits.iter().fold(0_u32, |length, digit| length << 8 | u32::from(*digit));
        i32::try_from(length).ok().and_then(|length| usize::try_from(length).ok()).ok_or(Fault::Length)
    };
    // For each indefinite length, in the order of the file: where its content starts, then how long that is.
    let mut lengths: Vec<usize> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    // How many bytes of length the closed ones need, against the three that they had, before each open one.
    let mut grown: Vec<isize> = Vec::new();
    let (mut at, mut total) = (0_usize, 0_isize);
    loop {
        let [first, second, ..] = bytes.get(at..).unwrap_or_default() else { return Err(Fault::Length) };
        at += 1;
        let length = if [*first, *second] == [0, 0] {
            let (Some(number), Some(inner)) = (open.pop(), grown.pop()) else { return Err(Fault::Length) };
            let Some(start) = lengths.get_mut(number) else { return Err(Fault::Length) };
            let section = isize::try_from(at - 1 - *start).unwrap_or_default() + inner;
            *start = usize::try_from(section).map_err(|_| Fault::Length)?;
            let change = isize::try_from(size_of_length(*start)).unwrap_or_default() - 3;
            total += change;
            if let Some(outer) = grown.last_mut() {
                *outer += inner + change;
            }
            at += 1;
            if open.is_empty() {
                break;
            }
            0
        } else if *second == 0x80 {
            at += 1;
            open.push(lengths.len());
            lengths.push(at);
            grown.push(0);
            0
        } else if second & 0x80 == 0 {
            at += 1;
            usize::from(*second)
        } else {
            at += 1;
            let count = usize::from(second & 0x7F);
            if count > 4 || bytes.len() - at < count + 1 {
                return Err(Fault::Length);
            }
            let length = u31(bytes.get(at..at + count).unwrap_or_default())?;
            at += count;
            length
        };
        at = at.checked_add(length).filter(|at| *at <= bytes.len()).ok_or(Fault::Length)?;
    }
    let size = at;
    let room = isize::try_from(size).unwrap_or_default() + total;
    let room = usize::try_from(room).map_err(|_| Fault::Length)?;
    let mut out = Vec::with_capacity(room);
    let mut next = lengths.iter();
    at = 0;
    while let [tag, first, ..] = bytes.get(at..size).unwrap_or_default() {
        at += 2;
        if [*tag, *first] == [0, 0] {
            continue;
        }
        if *first == 0x80 {
            der::write_header(*tag, next.next().copied().unwrap_or_default(), &mut out);
            continue;
        }
        let mut length = usize::from(*first);
        if first & 0x80 != 0 {
            let count = usize::from(first & 0x7F);
            length = u31(bytes.get(at..at + count).unwrap_or_default())?;
            at += count;
        }
        der::write_header(*tag, length, &mut out);
        out.extend_from_slice(bytes.get(at..at + length).unwrap_or_default());
        at += length;
    }
    out.resize(room.max(out.len()), 0);
    Ok((out, size))
}

/// `getNumOfLenBytes`.
fn size_of_length(length: usize) -> usize {
    match length {
        0..=0x7F => 1,
        0x80..=0xFF => 2,
        0x100..=0xFFFF => 3,
        0x1_0000..=0xFF_FFFF => 4,
        _ => 5,
    }
}

impl<'a> Element<'a> {
    /// To read on in it.
    pub(super) fn inside(&self) -> Input<'_> {
        Input { rest: &self.content, behind: self.behind, is_over: false }
    }

    /// The same in an array of its own, as `toByteArray` makes it.
    pub(super) fn alone(&self) -> Element<'_> {
        Element { tag: self.tag, content: Cow::Borrowed(&self.content), behind: 0 }
    }

    /// The same under another tag (`resetTag`).
    pub(super) fn under(&self, tag: u8) -> Element<'_> {
        Element { tag, content: Cow::Borrowed(&self.content), behind: self.behind }
    }

    /// The same for as long as one likes.
    pub(super) fn into_owned(self) -> Element<'static> {
        Element { tag: self.tag, content: Cow::Owned(self.content.into_owned()), behind: self.behind }
    }

    pub(super) fn is_constructed(&self) -> bool {
        self.tag & 0x20 != 0
    }

    /// `isContextSpecific`, primitive or constructed.
    pub(super) fn is_context(&self, number: u8) -> bool {
        self.tag & 0xC0 == 0x80 && self.tag & 0x1F == number
    }

    /// Whether it is a SEQUENCE; what is in it.
    pub(super) fn sequence(&self) -> Result<Input<'_>, Fault> {
        if self.tag == tag::SEQUENCE { Ok(self.inside()) } else { Err(Fault::Structure) }
    }

    /// As `toByteArray` has it: the header is short.
    pub(super) fn encoded(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.content.len() + 6);
        der::write_header(self.tag, self.content.len(), &mut out);
        out.extend_from_slice(&self.content);
        out
    }

    /// `getOID`.
    pub(super) fn identifier(self) -> Result<Cow<'a, [u8]>, Fault> {
        if self.tag != tag::OID {
            return Err(Fault::Structure);
        }
        identifier(&self.content)?;
        Ok(self.content)
    }

    /// `getBigInteger`: empty is wrong, padded is not.
    pub(super) fn integer(&self) -> Result<&[u8], Fault> {
        match &*self.content {
            _ if self.tag != tag::INTEGER => Err(Fault::Structure),
            [] => Err(Fault::Padding),
            content => Ok(content),
        }
    }

    /// `getInteger`: of 32 bits.
    pub(super) fn small_integer(&self) -> Result<i64, Fault> {
        self.integer().and_then(small)
    }

    /// `getBoolean`: anything but zero is true.
    pub(super) fn boolean(&self) -> Result<bool, Fault> {
        match &*self.content {
            [value] if self.tag == tag::BOOLEAN => Ok(*value != 0),
            _ => Err(Fault::Value),
        }
    }

    /// `getUnalignedBitString`.
    pub(super) fn bits(&self) -> Result<(&[u8], u8), Fault> {
        if self.tag == tag::BIT_STRING { bits(&self.content) } else { Err(Fault::Structure) }
    }

    /// `getOctetString`: the pieces of one in pieces are joined.
    pub(super) fn octets(&self) -> Result<Cow<'_, [u8]>, Fault> {
        let is_pieces = |tag: u8| tag & 0x3F == 0x24;
        if self.tag == tag::OCTET_STRING {
            return Ok(Cow::Borrowed(&self.content));
        }
        if !is_pieces(self.tag) {
            return Err(Fault::Structure);
        }
        let mut out = Vec::new();
        // What is being read, from the outside inwards, and where in it.
        let mut open = vec![(self.clone().into_owned(), 0)];
        while let Some((pieces, at)) = open.last_mut() {
            let length = pieces.content.len();
            let mut input = pieces.inside();
            input.rest = input.rest.get(*at..).unwrap_or_default();
            if input.rest.is_empty() {
                open.pop();
                continue;
            }
            let piece = input.any()?;
            let left = input.rest.len();
            let piece = piece.into_owned();
            *at = length - left;
            if open.len() == DEEPEST_STRING {
                return Err(Fault::TooLarge);
            }
            match piece.tag {
                tag::OCTET_STRING => out.extend_from_slice(&piece.content),
                tag if is_pieces(tag) => open.push((piece, 0)),
                _ => return Err(Fault::Structure),
            }
        }
        Ok(Cow::Owned(out))
    }

    /// `getUTCTime` or `getGeneralizedTime`, by its tag.
    pub(super) fn time(&self) -> Result<(), Fault> {
        let right = match self.tag {
            tag::UTC_TIME => (11..=17).contains(&self.content.len()) && is_time(&self.content, 2),
            tag::GENERALIZED_TIME => is_time(&self.content, 4),
            _ => false,
        };
        if right { Ok(()) } else { Err(Fault::Time) }
    }
}

/// `ObjectIdentifier.check`: no part may begin with 80, and the last one ends.
pub(super) fn identifier(content: &[u8]) -> Result<(), Fault> {
    let mut starts = true;
    for byte in content {
        if starts && *byte == 0x80 {
            return Err(Fault::ObjectIdentifier);
        }
        starts = byte & 0x80 == 0;
    }
    let right = starts && (1..=LONGEST_IDENTIFIER).contains(&content.len());
    if right { Ok(()) } else { Err(Fault::ObjectIdentifier) }
}

/// A number of 32 bits, with its sign.
pub(super) fn small(content: &[u8]) -> Result<i64, Fault> {
    let negative = content.first().ok_or(Fault::Padding)? & 0x80 != 0;
    let padding = if negative { 0xFF } else { 0 };
    let zeros = content.iter().take_while(|byte| **byte == padding).count();
    let digits = content.get(zeros..).unwrap_or_default();
    if digits.len() > 4 {
        return Err(Fault::TooLarge);
    }
    let start = if negative { -1 } else { 0 };
    let value = digits.iter().fold(start, |value, byte| value << 8 | i64::from(*byte));
    if i32::try_from(value).is_ok() { Ok(value) } else { Err(Fault::TooLarge) }
}

/// The bytes of a BIT STRING and how many bits at their end are not used (`checkPaddedBits`). Those may be set.
pub(super) fn bits(content: &[u8]) -> Result<(&[u8], u8), Fault> {
    let (unused, bytes) = content.split_first().ok_or(Fault::Structure)?;
    if *unused > 7 || *unused > 0 && bytes.is_empty() { Err(Fault::Value) } else { Ok((bytes, *unused)) }
}

/// `getTimeInternal`: no month has fewer than 31 days. Seconds may be missing where `Z` follows; GeneralizedTime may
/// have a fraction.
fn is_time(content: &[u8], year: usize) -> bool {
    let minutes = year + 8;
    let (Some(digits), Some(mut rest)) = (content.get(..minutes), content.get(minutes..)) else {
        return false;
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let pair = |bytes: &[u8]| match bytes {
        [a @ b'0'..=b'9', b @ b'0'..=b'9', ..] => Some((a - b'0') * 10 + (b - b'0')),
        _ => None,
    };
    if rest.len() > 2 {
        if pair(rest).is_none_or(|second| second >= 60) {
            return false;
        }
        rest = rest.get(2..).unwrap_or_default();
        if let [b'.' | b',', fraction @ ..] = rest
            && year == 4
        {
            let count = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if count == 0 {
                return false;
            }
            rest = fraction.get(count..).unwrap_or_default();
        }
    }
    let fields: Vec<u8> = digits.get(year..).unwrap_or_default().chunks(2).filter_map(pair).collect();
    let [month, day, hour, minute] = fields[..] else { return false };
    let zone = match rest {
        b"Z" => true,
        [b'+' | b'-', offset @ ..] if offset.len() == 4 => {
            let minute = pair(offset.get(2..).unwrap_or_default());
            pair(offset).is_some_and(|hour| hour < 24) && minute.is_some_and(|minute| minute < 60)
        }
        _ => false,
    };
    (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && zone
}
