//! What Go's `crypto/x509` loads of a file: `CertPool.AppendCertsFromPEM`, which the system's roots go through as well.
//!
//! Go never refuses a file for what is in it. It takes the next block that `encoding/pem` sees, passes over those that
//! are no `CERTIFICATE`, that have headers or that `ParseCertificate` refuses, and says at the end whether it got any.
//!
//! Two versions are modelled, since the readers of both PEM and certificates changed much between them.

mod certificate;
mod curve;
mod element;
mod names;

use std::collections::BTreeSet;

use memchr::memmem;

use super::reading::{Fault, Framing, Loaded, Miss, Part, Reading, Reason, identity};

/// Which Go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// Go 1.19, as Debian 12 has it: it takes negative serial numbers and identifiers with padding, and refuses names
    /// with string types that it does not know.
    Go1_19,
    /// Go 1.27: it looks for a block's end before its beginning, and is stricter with certificates, other than with
    /// string types in names. As a program has it whose go.mod has that version too.
    Go1_27,
}

impl Version {
    /// Whether this is the one that is stricter with certificates.
    fn is_strict(self) -> bool {
        self == Self::Go1_27
    }
}

/// What `CertPool.AppendCertsFromPEM` (`crypto/x509/cert_pool.go`) loads of a file.
#[must_use]
pub fn read(bytes: &[u8], version: Version) -> Reading {
    let mut decoder = Decoder::new(bytes, version);
    let mut reading = Reading::default();
    while let Some(block) = decoder.next_block() {
        let reason = if block.label != b"CERTIFICATE" {
            Reason::Label
        } else if block.has_headers {
            Reason::Framing(Framing::Header)
        } else if block.der.is_empty() {
            Reason::Framing(Framing::Empty)
        } else if let Err((part, fault)) = certificate(&block.der, version) {
            Reason::Certificate(part, fault)
        } else {
            reading.loads.push(Loaded { offset: block.offset, fingerprint: identity(&block.der) });
            continue;
        };
        reading.misses.push(Miss::at(block.offset, reason));
    }
    decoder.add_unseen(&reading.loads, &mut reading.misses);
    if reading.loads.is_empty() {
        reading.refused = Some(Miss::at(0, Reason::Nothing));
    }
    reading.finish(bytes)
}

/// Whether `ParseCertificate` (`crypto/x509/parser.go`) takes these bytes.
///
/// # Errors
/// The part of the certificate at which Go stops, and what is wrong there.
pub fn certificate(der: &[u8], version: Version) -> Result<(), (Part, Fault)> {
    certificate::check(der, version)
}

const BEGIN: &[u8] = b"-----BEGIN ";
const LINE_BEGIN: &[u8] = b"\n-----BEGIN ";
const LINE_END: &[u8] = b"\n-----END ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

/// One block as `pem.Decode` gives it.
struct Block<'a> {
    /// Where its BEGIN is.
    offset: usize,
    label: &'a [u8],
    has_headers: bool,
    der: Vec<u8>,
}

/// `pem.Decode` (`encoding/pem/pem.go`) over and over.
///
/// Go reads on behind the BEGIN of a block that is none, and searches END anew: in time that is the square of the
/// file. Here positions only grow, and what was searched is kept.
struct Decoder<'a> {
    bytes: &'a [u8],
    version: Version,
    /// From where the next call reads; `None` when it would find nothing any more.
    at: Option<usize>,
    /// The END that was found last and the place from which on it is the first one; see [`Decoder::end_from`].
    end: Option<Found>,
    /// The last line of an END that was looked at.
    tail: Option<Tail>,
    /// What was no block.
    misses: Vec<Miss>,
}

/// The first [`LINE_END`] from a place on.
#[derive(Clone, Copy)]
struct Found {
    from: usize,
    end: Option<usize>,
}

/// The line of an END: from where, until where it has more than blanks, and where the next one starts.
#[derive(Clone, Copy)]
struct Tail {
    from: usize,
    text_end: usize,
    next: usize,
}

impl<'a> Decoder<'a> {
    fn new(bytes: &'a [u8], version: Version) -> Self {
        Self { bytes, version, at: Some(0), end: None, tail: None, misses: Vec::new() }
    }

    /// The next block; `None` when Go sees no other.
    fn next_block(&mut self) -> Option<Block<'a>> {
        let at = self.at.take()?;
        match self.version {
            Version::Go1_19 => self.begin_first(at),
            Version::Go1_27 => self.end_first(at),
        }
    }

    /// Go 1.19: the next BEGIN at the start of a line, and the next END behind it.
    fn begin_first(&mut self, mut at: usize) -> Option<Block<'a>> {
        loop {
            let offset = if self.rest(at).starts_with(BEGIN) {
                at
            } else {
                at + memmem::find(self.rest(at), LINE_BEGIN)? + 1
            };
            let (line, next) = line(self.bytes, offset + BEGIN.len());
            at = next;
            let Some(label) = line.strip_suffix(DASHES) else {
                self.miss(offset, bad_begin(line));
                continue;
            };
            let (next, has_headers, ended) = self.headers(at);
            at = next;
            if ended {
                self.miss(offset, Framing::MissingEnd);
                return None;
            }
            // Without headers, END may stand at once where base64 is expected.
            let body_end = if !has_headers && self.rest(at).starts_with(END) {
                Some((at, at + END.len()))
            } else {
                self.end_from(at).map(|end| (end, end + LINE_END.len()))
            };
            let Some((body_end, trailer)) = body_end else {
                self.miss(offset, Framing::MissingEnd);
                continue;
            };
            match self.finish(label, at..body_end, trailer) {
                Ok(der) => return Some(Block { offset, label, has_headers, der }),
                Err(framing) => self.miss(offset, framing),
            }
        }
    }

    /// Go 1.27: the next END, and the last BEGIN before it.
    fn end_first(&mut self, mut at: usize) -> Option<Block<'a>> {
        loop {
            let end = self.end_from(at)?;
            let trailer = end + LINE_END.len();
            let window = self.bytes.get(at..end).unwrap_or_default();
            // Whatever stands where Go begins to look counts as the start of a line.
            let begin = memmem::rfind(window, BEGIN);
            let start = at;
            at = trailer;
            let Some(begin) = begin else { continue };
            let offset = start + begin;
            if begin > 0 && self.bytes.get(offset - 1) != Some(&b'\n') {
                continue;
            }
            let (line, body) = line(self.bytes, offset + BEGIN.len());
            let Some(label) = line.strip_suffix(DASHES) else {
                self.miss(offset, bad_begin(line));
                continue;
            };
            let (body, has_headers, ended) = self.headers(body);
            // Lines with a colon were taken for headers: END too, or the line end before it.
            if ended || has_headers && body > trailer {
                self.miss(offset, Framing::MissingEnd);
                return None;
            }
            if has_headers && body > end {
                self.miss(offset, Framing::Header);
                continue;
            }
            // An empty block has given its line end away with BEGIN.
            match self.finish(label, body..end.max(body), trailer) {
                Ok(der) => return Some(Block { offset, label, has_headers, der }),
                Err(framing) => self.miss(offset, framing),
            }
        }
    }

    /// What is behind the headers, whether there are any, and whether the file ends with them. A header is a line with
    /// a colon.
    fn headers(&self, mut at: usize) -> (usize, bool, bool) {
        let start = at;
        while at < self.bytes.len() {
            let (text, next) = line(self.bytes, at);
            if memchr::memchr(b':', text).is_none() {
                return (at, at > start, false);
            }
            at = next;
        }
        (at, at > start, true)
    }

    /// The content of the block, when its END is right; `trailer` is where the label of END starts.
    fn finish(
        &mut self,
        label: &[u8],
        body: std::ops::Range<usize>,
        trailer: usize,
    ) -> Result<Vec<u8>, Framing> {
        let rest = self.rest(trailer);
        if !rest.strip_prefix(label).is_some_and(|rest| rest.starts_with(DASHES)) {
            return Err(Framing::BadEnd);
        }
        let (text_end, next) = self.tail(trailer);
        let label_end = trailer + label.len() + DASHES.len();
        if label_end < text_end {
            let behind = self.bytes.get(label_end..text_end).unwrap_or_default();
            let glued = behind.starts_with(BEGIN);
            return Err(if glued { Framing::Glued } else { Framing::TextAfterEnd });
        }
        let body = self.bytes.get(body).unwrap_or_default();
        let der = base64(body).map_err(|at| match body.get(at..) {
            Some([0, ..]) => Framing::Nul,
            // A BEGIN in it: the END is that of another block.
            Some(bad) if bad.starts_with(BEGIN) => Framing::MissingEnd,
            Some(bad) if bad.starts_with(END) => Framing::TextBeforeEnd,
            _ => Framing::Base64,
        })?;
        self.at = Some(next);
        Ok(der)
    }

    fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    fn miss(&mut self, offset: usize, framing: Framing) {
        self.misses.push(Miss::at(offset, Reason::Framing(framing)));
    }

    /// The first [`LINE_END`] from `at` on, by the search before where that one answers it.
    fn end_from(&mut self, at: usize) -> Option<usize> {
        match self.end {
            Some(Found { from, end }) if from <= at && end.is_none_or(|end| at <= end) => end,
            _ => {
                let end = memmem::find(self.rest(at), LINE_END).map(|found| at + found);
                self.end = Some(Found { from: at, end });
                end
            }
        }
    }

    /// Where the text of the line around `at` ends, and where the next one starts. Many BEGIN may come to one END.
    fn tail(&mut self, at: usize) -> (usize, usize) {
        match self.tail {
            Some(tail) if tail.from == at => (tail.text_end, tail.next),
            _ => {
                let (text, next) = line(self.bytes, at);
                let text_end = at + text.len();
                self.tail = Some(Tail { from: at, text_end, next });
                (text_end, next)
            }
        }
    }

    /// Adds what was no block, and each BEGIN that Go did not even try.
    fn add_unseen(self, loads: &[Loaded], misses: &mut Vec<Miss>) {
        misses.extend(self.misses);
        let seen: BTreeSet<usize> =
            loads.iter().map(|loaded| loaded.offset).chain(misses.iter().map(|miss| miss.offset)).collect();
        for offset in memmem::find_iter(self.bytes, BEGIN).filter(|offset| !seen.contains(offset)) {
            let before = self.bytes.get(..offset).unwrap_or_default();
            let framing = match before {
                [] | [.., b'\n'] if self.version == Version::Go1_27 => Framing::MissingEnd,
                [] | [.., b'\n'] => Framing::Swallowed,
                [0xEF, 0xBB, 0xBF] => Framing::ByteOrderMark,
                [.., b'\r'] => Framing::CarriageReturn,
                [.., 0] => Framing::Nul,
                [.., b'-'] if before.ends_with(DASHES) => Framing::Glued,
                _ => Framing::TextBeforeBegin,
            };
            misses.push(Miss::at(offset, Reason::Framing(framing)));
        }
    }
}

/// A BEGIN line that does not end in five dashes.
fn bad_begin(line: &[u8]) -> Framing {
    if memmem::find(line, DASHES).is_some() { Framing::TextAfterBegin } else { Framing::BadBegin }
}

/// The line at `at`, without its end and the blanks before that, and where the next one starts (`getLine`).
fn line(bytes: &[u8], at: usize) -> (&[u8], usize) {
    let rest = bytes.get(at..).unwrap_or_default();
    let (text, next) = match memchr::memchr(b'\n', rest) {
        Some(end) => {
            let text = rest.get(..end).unwrap_or_default();
            (text.strip_suffix(b"\r").unwrap_or(text), at + end + 1)
        }
        None => (rest, bytes.len()),
    };
    let blanks = text.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    (text.get(..text.len() - blanks).unwrap_or_default(), next)
}

/// `base64.StdEncoding.Decode` without blanks, or where it stops. Line ends may stand anywhere, also between the
/// signs of padding; bits behind the last byte may be anything.
fn base64(text: &[u8]) -> Result<Vec<u8>, usize> {
    // Not for all of the text: what Go tries may be far longer than what it takes.
    let mut out = Vec::with_capacity((text.len() / 4 * 3).min(4096));
    let (mut bits, mut count, mut padding) = (0_u32, 0, 0);
    for (at, &byte) in text.iter().enumerate() {
        let value = match byte {
            b'\r' | b'\n' | b' ' | b'\t' => continue,
            b'=' if count + padding < 4 && count >= 2 => {
                padding += 1;
                continue;
            }
            _ if padding > 0 => return Err(at),
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return Err(at),
        };
        bits = bits << 6 | u32::from(value);
        count += 1;
        if count == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, count) = (0, 0);
        }
    }
    match (count, padding) {
        (0, 0) => {}
        (2, 2) => out.push((bits >> 4 & 0xFF) as u8),
        (3, 1) => out.extend_from_slice(&((bits >> 2 & 0xFFFF) as u16).to_be_bytes()),
        _ => return Err(text.len()),
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOTH: [Version; 2] = [Version::Go1_19, Version::Go1_27];

    /// Label and bytes of each block.
    type Labels<'a> = &'a [(&'a str, usize)];

    /// The labels of the blocks that Go sees, with `*` where there are headers, and the bytes in them.
    fn blocks(text: &str, version: Version) -> Vec<(String, usize)> {
        let mut decoder = Decoder::new(text.as_bytes(), version);
        std::iter::from_fn(|| decoder.next_block())
            .map(|block| {
                let star = if block.has_headers { "*" } else { "" };
                (String::from_utf8_lossy(block.label).into_owned() + star, block.der.len())
            })
            .collect()
    }

    #[test]
    fn frames() {
        let cases: &[(&str, Labels<'_>, Labels<'_>)] = &[
            ("", &[], &[]),
            ("-----BEGIN A-----\nAAAA\n-----END A-----", &[("A", 3)], &[("A", 3)]),
            ("-----BEGIN A----- \t\r\nAA\r\nA A\r\n-----END A-----\t\n", &[("A", 3)], &[("A", 3)]),
            ("x-----BEGIN A-----\nAAAA\n-----END A-----\n", &[], &[]),
            ("x\n-----BEGIN A-----\nAAAA\n-----END A-----\n", &[("A", 3)], &[("A", 3)]),
            ("-----BEGIN A-----x\nAAAA\n-----END A-----\n", &[], &[]),
            ("-----BEGIN A-----\nAAAA\n-----END A-----x\n", &[], &[]),
            ("-----BEGIN A-----\nAAAA\n-----END B-----\n", &[], &[]),
            ("-----BEGIN A-----\n-----END A-----\n", &[("A", 0)], &[("A", 0)]),
            ("-----BEGIN A-----\na: b\n\nAAAA\n-----END A-----\n", &[("A*", 3)], &[("A*", 3)]),
            ("-----BEGIN A-----\na: b\n-----END A-----\n", &[], &[]),
            // Base64 behind a BEGIN that has no END of its own: the new one goes back to the last BEGIN.
            ("-----BEGIN A-----\n-----BEGIN A-----\nAAAA\n-----END A-----\n", &[("A", 3)], &[("A", 3)]),
            // An END with a colon, behind base64 and where headers may be: there the new one gives up.
            (
                "-----BEGIN A-----\nAAAA\n-----END A-----:\n-----BEGIN B-----\nAAAA\n-----END B-----\n",
                &[("B", 3)],
                &[("B", 3)],
            ),
            (
                "-----BEGIN A-----\n-----END A-----:\n-----BEGIN B-----\nAAAA\n-----END B-----\n",
                &[("B", 3)],
                &[],
            ),
            (
                "-----BEGIN A-----\nb:\n-----END A-----:\n-----BEGIN B-----\nAAAA\n-----END B-----\n",
                &[("B", 3)],
                &[],
            ),
            // A quoted BEGIN inside a block hides the block's own from the new one.
            (
                "-----BEGIN A-----\nx -----BEGIN A-----\n-----END A-----\n-----BEGIN B-----\nAAAA\n-----END B-----",
                &[("B", 3)],
                &[("B", 3)],
            ),
            ("-----BEGIN A-----\nAA==\n\n-----END A-----\n", &[("A", 1)], &[("A", 1)]),
        ];
        for (text, old, new) in cases {
            for (version, expected) in [(Version::Go1_19, old), (Version::Go1_27, new)] {
                let found = blocks(text, version);
                let found: Vec<(&str, usize)> =
                    found.iter().map(|(label, length)| (label.as_str(), *length)).collect();
                assert_eq!(found, *expected, "{text:?} {version:?}");
            }
        }
    }

    #[test]
    fn base64_as_go_reads_it() {
        for (text, length) in [
            ("", Some(0)),
            ("AAAA", Some(3)),
            ("A A\tA\r\nA", Some(3)),
            ("AA==", Some(1)),
            ("AA=\n=\n", Some(1)),
            ("AAA=", Some(2)),
            ("AB==", Some(1)),
            ("AA=", None),
            ("AAA", None),
            ("AA", None),
            ("A===", None),
            ("=", None),
            ("====", None),
            ("AAAA=", None),
            ("AA==AAAA", None),
            ("AA===", None),
            ("AA=A", None),
            ("AA-A", None),
            ("AA\0A", None),
        ] {
            assert_eq!(base64(text.as_bytes()).ok().map(|bytes| bytes.len()), length, "{text:?}");
        }
    }

    #[test]
    fn reasons() {
        for (text, expected) in [
            ("-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n", Reason::Label),
            (
                "-----BEGIN CERTIFICATE-----\na:b\n\nAAAA\n-----END CERTIFICATE-----\n",
                Reason::Framing(Framing::Header),
            ),
            ("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n", Reason::Framing(Framing::Empty)),
            ("-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n", Reason::Framing(Framing::Base64)),
            (
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----x\n",
                Reason::Framing(Framing::TextAfterEnd),
            ),
            (
                "-----BEGIN CERTIFICATE-----x\nAAAA\n-----END CERTIFICATE-----\n",
                Reason::Framing(Framing::TextAfterBegin),
            ),
            (
                "-----BEGIN CERTIFICATE----\nAAAA\n-----END CERTIFICATE-----\n",
                Reason::Framing(Framing::BadBegin),
            ),
            (
                "\u{feff}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                Reason::Framing(Framing::ByteOrderMark),
            ),
            (
                "# -----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                Reason::Framing(Framing::TextBeforeBegin),
            ),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n", Reason::Framing(Framing::MissingEnd)),
            (
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                Reason::Certificate(Part::Outer, Fault::Structure),
            ),
        ] {
            for version in BOTH {
                let reading = read(text.as_bytes(), version);
                let reasons: Vec<Reason> = reading.misses.iter().map(|miss| miss.reason).collect();
                assert_eq!(reasons, [expected], "{text:?} {version:?}");
                assert_eq!(reading.refused.map(|miss| miss.reason), Some(Reason::Nothing));
            }
        }
    }
    #[test]
    fn nothing_panics() {
        let text = "-----BEGIN A-----\r\na: b\n\nAA=\n=\n-----END A-----\n-----BEGIN A-----\n-----END A-----:\n\
                    -----BEGIN -----BEGIN \n-----END -----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE----- \t";
        for start in 0..text.len() {
            for end in start..=text.len() {
                for version in BOTH {
                    let _ = read(&text.as_bytes()[start..end], version);
                }
            }
        }
    }

    /// Each of these is the square of its size for Go.
    #[test]
    fn time_is_linear() {
        let begins = "-----BEGIN A-----\n".repeat(100_000);
        let blanks = " ".repeat(1_000_000);
        for text in [
            begins.clone(),
            format!("{begins}-----END A-----{blanks}x\n"),
            format!("{begins}-----END A-----{blanks}\n"),
            "-----BEGIN A-----\na:\n-----END A-----\n".repeat(50_000),
            "\n-----END ".repeat(100_000),
        ] {
            for version in BOTH {
                let reading = read(text.as_bytes(), version);
                assert!(reading.loads.is_empty());
            }
        }
    }
}
