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

/// What GnuTLS loads of a file.
#[must_use]
pub fn read(bytes: &[u8]) -> Reading {
    let ends: Vec<usize> = memmem::find_iter(bytes, END).collect();
    let file = File { bytes, ends: &ends };
    let certificates: Vec<usize> = memmem::find_iter(bytes, CERTIFICATE).collect();
    let others: Vec<usize> = memmem::find_iter(bytes, X509_CERTIFICATE).collect();
    let behind = certificates.last().map_or(0, |&last| others.partition_point(|&other| other < last));

    let mut reading = Reading::default();
    let mut taken = HashSet::new();
    let mut instead: Option<(usize, Option<Vec<u8>>)> = None;
    for &start in certificates.iter().chain(&others[behind..]) {
        let (mut at, mut der) = (start, file.decode(start));
        if let Err(framing) = der {
            // `gnutls_x509_crt_import` tries both labels, each from here to the end of the file: a block that cannot be
            // read is replaced by the next one of the older label.
            let next = others.get(others.partition_point(|&other| other < start)).copied();
            if let Some(next) = next.filter(|&next| next != start) {
                if instead.as_ref().is_none_or(|(known, _)| *known != next) {
                    instead = Some((next, file.decode(next).ok()));
                }
                if let Some((_, Some(other))) = &instead {
                    reading.misses.push(Miss::at(start, Reason::Framing(framing)));
                    if taken.contains(&next) {
                        continue;
                    }
                    (at, der) = (next, Ok(other.clone()));
                }
            }
        }
        if !taken.insert(at) {
            continue;
        }
        let der = match der {
            Ok(der) => der,
            Err(framing) => return Reading::refuse(start, Reason::Framing(framing)).finish(bytes),
        };
        if let Err((part, fault)) = certificate(&der) {
            let reason = file.other_block(at).map_or(Reason::Certificate(part, fault), Reason::Other);
            return Reading::refuse(at, reason).finish(bytes);
        }
        reading.loads.push(Loaded { offset: at, fingerprint: identity(&der) });
    }
    reading.misses.extend(unseen(bytes, &taken));
    reading.finish(bytes)
}

/// Blocks of certificates that GnuTLS does not find.
fn unseen(bytes: &[u8], taken: &HashSet<usize>) -> impl Iterator<Item = Miss> {
    scan(bytes)
        .filter(|block| block.label().is_certificate())
        .filter(|block| !block.defects().iter().any(|defect| defect.kind.is_text()))
        .map(|block| (block.span().start, block.label()))
        .filter(|(start, _)| !taken.contains(start))
        .map(|(start, label)| {
            // A plain label is always found where BEGIN is spelled right.
            let reason = match label {
                Label::Certificate => Reason::Framing(Framing::BadBegin),
                _ => Reason::Label,
            };
            Miss::at(start, reason)
        })
}

/// A file, and where END boundaries stand in it.
struct File<'a> {
    bytes: &'a [u8],
    ends: &'a [usize],
}

impl<'a> File<'a> {
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
        base64(text).map_err(|framing| {
            let line = text.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
            let before = self.bytes[..start].iter().rev().take_while(|&&byte| byte != b'\n');
            if label.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
                Framing::BadBegin
            } else if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
                Framing::TextAfterBegin
            } else if before.take(64).any(|byte| b"#>;/".contains(byte)) {
                Framing::Quoted
            } else {
                framing
            }
        })
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

/// `_gnutls_base64_decode`, which drops blanks and stops at the first dash, and Nettle's `base64_decode_update`
/// (base64-decode.c) and `base64_decode_final`: bits behind the last byte must be zero, but there may be a third `=`.
fn base64(text: &[u8]) -> Result<Vec<u8>, Framing> {
    let text = &text[..memchr::memchr(b'-', text).unwrap_or(text.len())];
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
