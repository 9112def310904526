//! GnuTLS 3.7 and later: `gnutls_certificate_set_x509_trust_file` with `GNUTLS_X509_FMT_PEM`, which is
//! `gnutls_x509_trust_list_add_trust_file` (lib/x509/verify-high2.c).
//!
//! `gnutls_x509_crt_list_import` (lib/x509/x509.c) looks for `-----BEGIN CERTIFICATE`, wherever it stands and however
//! the label goes on; only behind the last of these for `-----BEGIN X509 CERTIFICATE`. One block that cannot be read, or
//! one certificate that cannot be imported, and the whole file is lost. A file without a block is no error: nothing is
//! loaded (`gnutls_x509_trust_list_add_trust_file` itself says then that it found no certificate).

mod asn1;
mod certificate;

use std::collections::HashSet;

use memchr::memmem;

pub use self::certificate::certificate;
use super::reading::{Framing, Loaded, Miss, OtherBlock, Reading, Reason, identity};
use crate::pem::label::Label;
use crate::pem::scan::scan;

/// `PEM_CERT_SEP` of lib/x509.h.
const CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE";
/// `PEM_CERT_SEP2`.
const X509_CERTIFICATE: &[u8] = b"-----BEGIN X509 CERTIFICATE";
const BEGIN: &[u8] = b"-----BEGIN ";
const DASHES: &[u8] = b"-----";
const END: &[u8] = b"-----END ";
/// How far before BEGIN a sign is looked for that the lines are quoted.
const MARGIN: usize = 64;

/// What GnuTLS loads of a file.
#[must_use]
pub fn read(bytes: &[u8]) -> Reading {
    let file = File::new(bytes);
    let mut reading = Reading::default();
    let mut told = HashSet::new();
    for start in file.starts() {
        let (at, der) = match (file.decode(start), file.instead_of(start)) {
            // Loaded before, instead of another. GnuTLS has it twice then.
            (Ok(_), _) if told.contains(&start) => continue,
            (Ok(der), _) => (start, der),
            (Err(framing), None) => return Reading::refuse(start, Reason::Framing(framing)).finish(bytes),
            (Err(framing), Some(next)) => {
                reading.misses.push(Miss::at(start, Reason::Framing(framing)));
                told.insert(start);
                if !told.insert(next) {
                    continue;
                }
                match file.decode(next) {
                    Ok(der) => (next, der),
                    Err(_) => return Reading::refuse(start, Reason::Framing(framing)).finish(bytes),
                }
            }
        };
        if let Err((part, fault)) = certificate(&der) {
            let reason = file.other_block(at).map_or(Reason::Certificate(part, fault), Reason::Other);
            return Reading::refuse(at, reason).finish(bytes);
        }
        told.insert(at);
        reading.loads.push(Loaded { offset: at, fingerprint: identity(&der) });
    }
    reading.misses.extend(unseen(bytes, &told));
    reading.finish(bytes)
}

/// Blocks of certificates that GnuTLS does not find.
fn unseen(bytes: &[u8], told: &HashSet<usize>) -> impl Iterator<Item = Miss> {
    scan(bytes)
        .filter(|block| block.label().is_certificate())
        .filter(|block| !block.defects().iter().any(|defect| defect.kind.is_text()))
        .map(|block| (block.span().start, block.label()))
        .filter(|(start, _)| !told.contains(start))
        .map(|(start, label)| {
            // A plain label is always found where BEGIN is spelled right.
            let reason = match label {
                Label::Certificate => Reason::Framing(Framing::BadBegin),
                _ => Reason::Label,
            };
            Miss::at(start, reason)
        })
}

/// A file, and where the boundaries stand in it: each is looked for once.
struct File<'a> {
    bytes: &'a [u8],
    certificates: Vec<usize>,
    x509_certificates: Vec<usize>,
    ends: Vec<usize>,
}

impl<'a> File<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let places = |boundary| memmem::find_iter(bytes, boundary).collect();
        Self {
            bytes,
            certificates: places(CERTIFICATE),
            x509_certificates: places(X509_CERTIFICATE),
            ends: places(END),
        }
    }

    /// The blocks that GnuTLS comes to, in its order.
    fn starts(&self) -> impl Iterator<Item = usize> {
        let last = self.certificates.last().copied().unwrap_or(0);
        let behind = self.x509_certificates.partition_point(|&start| start < last);
        self.certificates.iter().chain(&self.x509_certificates[behind..]).copied()
    }

    /// `gnutls_x509_crt_import` tries both labels, each from this block to the end of the file. So a CERTIFICATE that
    /// cannot be decoded is replaced by the next X509 CERTIFICATE, however far.
    fn instead_of(&self, start: usize) -> Option<usize> {
        let next = self.x509_certificates.partition_point(|&other| other < start);
        self.x509_certificates.get(next).copied().filter(|&next| next != start)
    }

    /// From behind `-----BEGIN ` to the next five dashes, and where those end.
    fn label(&self, start: usize) -> Option<(&'a [u8], usize)> {
        let length = memmem::find(&self.bytes[start + 1..], DASHES)?;
        let end = start + 1 + length;
        Some((&self.bytes[start + BEGIN.len()..end], end + DASHES.len()))
    }

    /// `_gnutls_fbase64_decode` (lib/x509_b64.c): the label goes to the next five dashes, the text to the next
    /// `-----END `, wherever these stand.
    fn decode(&self, start: usize) -> Result<Vec<u8>, Framing> {
        let (label, body) = self.label(start).ok_or(Framing::MissingEnd)?;
        let end = self.ends[self.ends.partition_point(|&end| end < body)..].first();
        let text = &self.bytes[body..*end.ok_or(Framing::MissingEnd)?];
        if text.len() < 4 {
            return Err(Framing::Empty);
        }
        // `cpydata` stops at a dash, without a complaint.
        let text = &text[..memchr::memchr(b'-', text).unwrap_or(text.len())];
        base64(text).map_err(|framing| self.suspect(start, label, text).unwrap_or(framing))
    }

    /// What is odd about the BEGIN boundary of a block whose base64 cannot be read.
    fn suspect(&self, start: usize, label: &[u8], text: &[u8]) -> Option<Framing> {
        let is_line_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        let line = text.split(is_line_end).next()?;
        let before = self.bytes[..start].iter().rev().take_while(|byte| !is_line_end(byte));
        if label.iter().any(is_line_end) {
            Some(Framing::BadBegin)
        } else if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
            Some(Framing::TextAfterBegin)
        } else if before.take(MARGIN).any(|byte| b"#>;/".contains(byte)) {
            Some(Framing::Quoted)
        } else {
            None
        }
    }

    /// What a block is by its label, which is more than the one that was looked for.
    fn other_block(&self, start: usize) -> Option<OtherBlock> {
        let (label, _) = self.label(start)?;
        match label {
            b"CERTIFICATE" | b"X509 CERTIFICATE" => None,
            _ if label.ends_with(b"REQUEST") => Some(OtherBlock::Request),
            _ => Some(OtherBlock::Any),
        }
    }
}

/// `_gnutls_base64_decode`, and Nettle's `base64_decode_update` and `base64_decode_final` (base64-decode.c): blanks are
/// dropped anywhere, bits behind the last byte must be zero, and there may be a third `=`.
fn base64(text: &[u8]) -> Result<Vec<u8>, Framing> {
    let bad = |byte| match byte {
        0 => Framing::Nul,
        b':' => Framing::Header,
        _ => Framing::Base64,
    };
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut word, mut bits, mut padding) = (0_u32, 0_u32, 0);
    for &byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'\t'..=b'\r' | b' ' => continue,
            b'=' if bits > 0 && padding <= 2 && word & ((1 << bits) - 1) == 0 => {
                padding += 1;
                bits -= 2;
                continue;
            }
            _ => return Err(bad(byte)),
        };
        if padding > 0 {
            return Err(Framing::Base64);
        }
        word = word << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((word >> bits) as u8);
        }
    }
    match bits {
        0 if out.is_empty() => Err(Framing::Empty),
        0 => Ok(out),
        _ => Err(Framing::Base64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least that GnuTLS takes for a certificate: both names and the key are empty.
    fn der(serial: u8) -> Vec<u8> {
        const TIME: &[u8] = b"\x17\x0D260101000000Z";
        const ALGORITHM: &[u8] = b"\x30\x04\x06\x02\x2A\x03";
        [
            b"\x30\x39\x30\x2F\x02\x01",
            &[serial][..],
            ALGORITHM,
            b"\x30\0\x30\x1E",
            TIME,
            TIME,
            b"\x30\0\x30\0",
            ALGORITHM,
            b"\x03\0",
        ]
        .concat()
    }

    fn block(label: &str, serial: u8) -> String {
        const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for three in der(serial).chunks(3) {
            let word = three.iter().fold(0_usize, |word, &byte| word << 8 | usize::from(byte));
            let word = word << (8 * (3 - three.len()));
            for digit in 0..4 {
                let is_digit = digit <= three.len();
                text.push(if is_digit { char::from(ALPHABET[word >> (18 - 6 * digit) & 63]) } else { '=' });
            }
        }
        format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n")
    }

    // What is loaded and what is refused is that of GnuTLS 3.7.9; the reasons are ours.
    #[test]
    fn framing() {
        let (one, two) = (block("CERTIFICATE", 1), block("CERTIFICATE", 2));
        let old = block("X509 CERTIFICATE", 3);
        let bad = one.replacen("\nM", "\n!M", 1);
        let refused = |framing| Err(Reason::Framing(framing));
        for (name, text, expected) in [
            ("nothing", String::new(), Ok(0)),
            ("no block", "text\n".to_owned(), Ok(0)),
            ("two", format!("{one}{two}"), Ok(2)),
            ("the same twice", format!("{one}{one}"), Ok(2)),
            ("glued", format!("{}{two}", one.trim_end()), Ok(2)),
            ("carriage returns", one.replace('\n', "\r"), Ok(1)),
            ("on one line, behind text", format!("x{}", one.replace('\n', "")), Ok(1)),
            ("blanks of all kinds", one.replacen("\nM", "\n \t\x0B\x0CM", 1), Ok(1)),
            ("another label at END", one.replace("END CERTIFICATE", "END x"), Ok(1)),
            ("a longer label", block("CERTIFICATE CHAIN", 1), Ok(1)),
            ("TRUSTED", block("TRUSTED CERTIFICATE", 1), Ok(0)),
            ("X509", old.clone(), Ok(1)),
            ("X509 last", format!("{one}{old}"), Ok(2)),
            ("X509 first", format!("{old}{one}"), Ok(1)),
            ("X509 instead of one that cannot be read", format!("{bad}{two}{old}"), Ok(2)),
            ("X509 before it", format!("{old}{bad}"), refused(Framing::Base64)),
            ("a bad character", one.replacen("\nM", "\nM!", 1), refused(Framing::Base64)),
            ("a NUL byte", one.replacen("\nM", "\n\0M", 1), refused(Framing::Nul)),
            ("a header", one.replacen("\nM", "\nName: x\n\nM", 1), refused(Framing::Header)),
            ("no END", one[..60].to_owned(), refused(Framing::MissingEnd)),
            ("empty", "-----BEGIN CERTIFICATE-----\n-----END x".to_owned(), refused(Framing::Empty)),
            ("a comment", format!("# -----BEGIN CERTIFICATE-----\n# x\n{one}"), refused(Framing::Quoted)),
            ("text behind BEGIN", one.replacen("-\nM", "- a\nM", 1), refused(Framing::TextAfterBegin)),
            (
                "a request",
                block("CERTIFICATE REQUEST", 1).replacen("\nM", "\nA", 1),
                Err(Reason::Other(OtherBlock::Request)),
            ),
        ] {
            let reading = read(text.as_bytes());
            let outcome = reading.refused.map_or(Ok(reading.loads.len()), |miss| Err(miss.reason));
            assert_eq!(outcome, expected, "{name}");
        }
    }

    #[test]
    fn bits_behind_the_last_byte() {
        for (text, expected) in [
            ("QUI=", Ok(&b"AB"[..])),
            ("QUJ=", Err(Framing::Base64)),
            ("QUI", Err(Framing::Base64)),
            ("QQ==", Ok(b"A")),
            ("QQ=", Err(Framing::Base64)),
            ("QQ===", Err(Framing::Base64)),
            ("QUJDA===", Ok(b"ABC")),
            ("QUJDA==", Err(Framing::Base64)),
            ("QQ==QQ==", Err(Framing::Base64)),
            ("====", Err(Framing::Base64)),
            (" \t", Err(Framing::Empty)),
        ] {
            assert_eq!(base64(text.as_bytes()).as_deref(), expected.as_ref().copied(), "{text}");
        }
    }

    #[test]
    fn what_is_passed_over_is_told() {
        let one = block("CERTIFICATE", 1);
        let (old, trusted) = (block("X509 CERTIFICATE", 2), block("TRUSTED CERTIFICATE", 3));
        let bad = one.replacen("\nM", "\nM!", 1);
        let misses = |text: &str| -> Vec<(usize, Reason)> {
            read(text.as_bytes()).misses.iter().map(|miss| (miss.line, miss.reason)).collect()
        };
        assert_eq!(misses(&one), []);
        assert_eq!(misses(&format!("{old}{trusted}{one}")), [(1, Reason::Label), (4, Reason::Label)]);
        assert_eq!(misses(&format!("{bad}{old}")), [(1, Reason::Framing(Framing::Base64))]);
    }

    #[test]
    fn no_text_is_a_panic() {
        let text = format!("x{}{}", block("CERTIFICATE", 1), block("X509 CERTIFICATE", 2));
        for place in 0..text.len() {
            let _ = read(&text.as_bytes()[place..]);
            let _ = read(&text.as_bytes()[..place]);
        }
    }

    #[test]
    fn boundaries_without_number_take_no_time() {
        // Each of these is looked at from each BEGIN where the reading is not linear.
        let many = "-----BEGIN CERTIFICATE-----".repeat(100_000);
        let old = block("X509 CERTIFICATE", 1);
        assert_eq!(read(many.as_bytes()).refused.map(|miss| miss.offset), Some(0));
        assert_eq!(read(format!("{many}{old}").as_bytes()).loads.len(), 1);
        let many = "-----BEGIN CERTIFICATES".repeat(100_000);
        assert_eq!(read(format!("{many}-----!{old}").as_bytes()).loads.len(), 1);
    }
}
