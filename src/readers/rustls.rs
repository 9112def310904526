//! What a program on rustls loads of a file: what rustls-native-certs reads of it (`load_certs_from_paths`, by the PEM
//! reader of rustls-pki-types), as far as `RootCertStore` takes it (webpki `anchor_from_trusted_cert`).
//!
//! Neither refuses a file: an error costs one section, and most programs do not look at the errors.

mod certificate;

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

pub use self::certificate::certificate;
use super::reading::{Framing, Loaded, Miss, Reading, Reason, identity};
use crate::pem::label::Label;
use crate::pem::scan::{self, Noise};

/// `base64::decode_public` of rustls-pki-types does not look at spare bits, and asks for no padding.
const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::RequireNone);
static BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
/// `MAX_PEM_SECTION_SIZE`
const LARGEST_SECTION: usize = 256 << 20;

/// What a program on rustls loads of a file.
#[must_use]
pub fn read(bytes: &[u8]) -> Reading {
    let mut reading = Reading::default();
    let mut taken = BTreeSet::new();
    let mut section: Option<Section<'_>> = None;
    let mut base64 = Vec::new();
    for line in (Lines { bytes, at: 0 }) {
        let text = &bytes[line.start..line.end];
        if text.starts_with(BEGIN) {
            // A section that is still open is forgotten; what was read of it stays in the buffer.
            section = label(text).map(|label| Section { offset: line.start, label });
            if section.is_none() {
                base64.clear();
                reading.misses.push(Miss::at(line.start, Reason::Framing(Framing::TextAfterBegin)));
                taken.insert(line.start);
            }
            continue;
        }
        let Some(open) = &section else { continue };
        if !open.ends_with(text) {
            base64.extend_from_slice(text);
            if base64.len() > LARGEST_SECTION {
                base64.clear();
                section = None;
            }
            continue;
        }
        let offset = open.offset;
        if open.label == b"CERTIFICATE" {
            taken.insert(offset);
            match decode(&base64).map(|der| (certificate(&der), der)) {
                Some((Ok(()), der)) => reading.loads.push(Loaded { offset, fingerprint: identity(&der) }),
                Some((Err((part, fault)), der)) => {
                    let empty = Reason::Framing(Framing::Empty);
                    let reason = if der.is_empty() { empty } else { Reason::Certificate(part, fault) };
                    reading.misses.push(Miss::at(offset, reason));
                }
                None => reading.misses.push(Miss::at(offset, Reason::Framing(Framing::Base64))),
            }
        }
        base64.clear();
        section = None;
    }
    unseen(bytes, &taken, &mut reading.misses);
    if reading.loads.is_empty() {
        reading.refused = Some(Miss::at(0, Reason::Nothing));
    }
    reading.finish(bytes)
}

/// A section of which BEGIN was seen.
struct Section<'a> {
    offset: usize,
    label: &'a [u8],
}

impl Section<'_> {
    /// `SectionLabel::is_end`: what stands behind the dashes does not matter.
    fn ends_with(&self, line: &[u8]) -> bool {
        let rest = line.strip_prefix(END).and_then(|rest| rest.strip_prefix(self.label));
        rest.is_some_and(|rest| rest.starts_with(b"-----"))
    }
}

/// The label of a BEGIN line: exactly five dashes behind it, then blanks at most.
///
/// The dashes are counted from the end over blanks between them, as `pem::read` does.
fn label(line: &[u8]) -> Option<&[u8]> {
    let (mut dashes, mut position) = (0, line.len());
    for (at, byte) in line.iter().enumerate().rev() {
        match byte {
            b'-' => (dashes, position) = (dashes + 1, at),
            b'\n' | b'\r' | b' ' => {}
            _ => break,
        }
    }
    if dashes == 5 { line.get(BEGIN.len()..position) } else { None }
}

/// `base64::decode` of rustls-pki-types: padding may be missing, and stands at the end where it is.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\t'..=b'\r' | b' ')).collect();
    let end = digits.iter().position(|&byte| byte == b'=').unwrap_or(digits.len());
    let pads = digits.len() - end;
    if pads > 2 || pads > 0 && !digits.len().is_multiple_of(4) {
        return None;
    }
    // What stands between two pads is no pad.
    BASE64.decode(&digits[..end]).ok().filter(|_| digits[end..].iter().all(|&byte| byte == b'='))
}

/// Lines with their ends: a line feed or a carriage return, each alone.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Lines<'_> {
    type Item = std::ops::Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        let rest = &self.bytes[start..];
        if rest.is_empty() {
            return None;
        }
        self.at = start + memchr::memchr2(b'\n', b'\r', rest).map_or(rest.len(), |end| end + 1);
        Some(start..self.at)
    }
}

/// Blocks with a certificate's label that are in the file, and of which nothing is said yet.
fn unseen(bytes: &[u8], taken: &BTreeSet<usize>, misses: &mut Vec<Miss>) {
    for block in scan::scan(bytes) {
        let start = block.span().start;
        if !block.label().is_certificate()
            || taken.contains(&start)
            || block.defects().iter().any(|defect| defect.kind.is_text())
        {
            continue;
        }
        let noise = block.noise();
        let reason = if noise.has(Noise::BYTE_ORDER_MARK) {
            Reason::Framing(Framing::ByteOrderMark)
        } else if noise.has(Noise::TEXT_BEFORE_BEGIN) {
            Reason::Framing(Framing::TextBeforeBegin)
        } else if start > 0 && !matches!(bytes[start - 1], b'\n' | b'\r') {
            Reason::Framing(Framing::Glued)
        } else if block.label() != Label::Certificate {
            Reason::Label
        } else {
            Reason::Framing(Framing::BadEnd)
        };
        misses.push(Miss::at(start, reason));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As rustls-pki-types 1.16 answers for the same bytes.
    #[test]
    fn labels() {
        for (line, expected) in [
            ("-----BEGIN A-----\n", Some("A")),
            ("-----BEGIN A-----  \r", Some("A")),
            ("-----BEGIN A- - - --", Some("A")),
            ("-----BEGIN -----", Some("")),
            ("-----BEGIN A------", None),
            ("-----BEGIN A----", None),
            ("-----BEGIN A-----x", None),
            ("-----BEGIN A-----\t", None),
        ] {
            assert_eq!(label(line.as_bytes()), expected.map(str::as_bytes), "{line:?}");
        }
    }

    /// As rustls-pki-types 1.16 answers.
    #[test]
    fn base64_of_every_kind() {
        for (text, expected) in [
            ("", Some(0)),
            ("QUI=", Some(2)),
            ("QUI", Some(2)),
            ("QQ==", Some(1)),
            ("QQ", Some(1)),
            ("QR==", Some(1)),
            (" Q\tU\x0bI\x0cD\r\n", Some(3)),
            ("Q", None),
            ("Q===", None),
            ("QQ=", None),
            ("QQ==QQ==", None),
            ("Q=Q=", None),
            ("QU!D", None),
            ("QUI-", None),
        ] {
            assert_eq!(decode(text.as_bytes()).map(|bytes| bytes.len()), expected, "{text:?}");
        }
    }

    #[test]
    fn every_part_of_a_file_is_read_without_panic() {
        let text = "x-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n-----BEGIN -----\r\n-----END -----\
                    -----BEGIN CERTIFICATE-----\n====\n-----END CERTIFICATE-----";
        for end in 0..text.len() {
            for start in 0..end {
                let _ = read(&text.as_bytes()[start..end]);
            }
        }
    }
}
