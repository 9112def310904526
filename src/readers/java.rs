//! What Java reads from a file of certificates: `CertificateFactory.generateCertificates` of the provider SUN
//! (`sun.security.provider.X509Factory.parseX509orPKCS7Cert`), as OpenJDK 17 has it.
//!
//! `keytool -printcert -file` calls the same. Java takes whatever stands between boundaries at the start of a line,
//! under any label, for a certificate. One that it cannot read costs the whole file, and so does any other line that
//! begins with five hyphens.
//!
//! Of the updates of 17 this is the one that is stricter with names in critical extensions and with pieces of OCTET
//! STRINGs, 17.0.21. Later releases have another reader of PEM: that of 25 finds boundaries anywhere in a line, and
//! stops without a word where one has no end.

mod certificate;
mod element;
mod extension;
mod key;
mod message;
mod uri;

use memchr::memmem;

use super::reading::{Fault, Framing, Loaded, Miss, OtherBlock, Part, Reading, Reason, identity};
use crate::der::tag;

/// What `generateCertificates` returns for the bytes of a file.
#[must_use]
pub fn read(bytes: &[u8]) -> Reading {
    let mut blocks = Blocks { bytes, at: 0 };
    let mut reading = Reading::default();
    // Where the blocks are, and whether the first one is a message.
    let mut spans = Vec::new();
    let mut is_message = false;
    loop {
        let block = match blocks.next_block() {
            Ok(Some(block)) => block,
            Ok(None) => break,
            Err((offset, reason)) => return Reading::refuse(offset, reason).finish(bytes),
        };
        // A message is looked for in the first block alone, and nothing is read behind it.
        let message = if spans.is_empty() { message::certificates(&block.der) } else { None };
        is_message = message.is_some();
        let ders = message.unwrap_or_else(|| certificate(&block.der).map(|()| vec![block.der.clone()]));
        match ders {
            Ok(ders) => reading
                .loads
                .extend(ders.iter().map(|der| Loaded { offset: block.offset, fingerprint: identity(der) })),
            Err(error) => {
                return Reading::refuse(block.offset, refusal(&block, error)).finish(bytes);
            }
        }
        spans.push(block.offset..blocks.at);
        if is_message {
            break;
        }
    }
    reading.misses = unseen(bytes, &spans, is_message);
    if reading.loads.is_empty() {
        reading.refused = Some(Miss::at(0, Reason::Nothing));
    }
    reading.finish(bytes)
}

/// Whether `new X509CertImpl(byte[])` (`sun.security.x509.X509CertImpl.parse`) takes these bytes.
///
/// # Errors
/// The part of the certificate at which Java stops, and what is wrong there.
pub fn certificate(der: &[u8]) -> Result<(), (Part, Fault)> {
    certificate::check(der)
}

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";

/// How deep indefinite lengths may stand in each other (`X509Factory.BER_ITERATION_COUNT`).
const DEEPEST: usize = 128;

/// Why a block is none of a certificate.
fn refusal(block: &Block<'_>, (part, fault): (Part, Fault)) -> Reason {
    if block.der.is_empty() {
        return Reason::Framing(Framing::Empty);
    }
    match block.label {
        None | Some(b"CERTIFICATE" | b"X509 CERTIFICATE" | b"PKCS7" | b"CMS" | b"PKCS #7 SIGNED DATA") => {}
        Some(b"TRUSTED CERTIFICATE") => {
            // What stands behind the certificate there are the settings.
            if (part, fault) == (Part::Outer, Fault::TrailingBytes) {
                return Reason::Certificate(Part::Trust, fault);
            }
        }
        Some(label) => {
            return Reason::Other(match label {
                b"X509 CRL" => OtherBlock::Crl,
                b"CERTIFICATE REQUEST" | b"NEW CERTIFICATE REQUEST" => OtherBlock::Request,
                _ if label.ends_with(b"PRIVATE KEY") => OtherBlock::PrivateKey,
                _ => OtherBlock::Any,
            });
        }
    }
    Reason::Certificate(part, fault)
}

/// One block as `readOneBlock` gives it.
struct Block<'a> {
    /// Where its BEGIN is, or its first byte.
    offset: usize,
    /// `None` for DER.
    label: Option<&'a [u8]>,
    der: Vec<u8>,
}

/// `X509Factory.readOneBlock` over and over.
struct Blocks<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Blocks<'a> {
    fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    /// The next block; `None` where there is none; where and why reading ends for good.
    fn next_block(&mut self) -> Result<Option<Block<'a>>, (usize, Reason)> {
        let start = self.at;
        // The digit 0 where a block may start is taken for DER too.
        if self.rest(start).first() == Some(&tag::SEQUENCE) {
            let end = ber_end(self.bytes, start)
                .map_err(|fault| (start, Reason::Certificate(Part::Outer, fault)))?;
            self.at = end;
            let der = self.bytes.get(start..end).unwrap_or_default().to_vec();
            return Ok(Some(Block { offset: start, label: None, der }));
        }
        let Some(offset) = self.boundary(start) else {
            self.at = self.bytes.len();
            return Ok(None);
        };
        let bytes = self.bytes;
        let stop = |framing| {
            let (offset, framing) = blame(bytes, start, offset, framing);
            Err((offset, Reason::Framing(framing)))
        };

        // The rest of the line. After a carriage return alone, END ends with one as well.
        let header_end = self.line_end(offset);
        let header = trimmed(self.bytes.get(offset..header_end).unwrap_or_default());
        let label = header.strip_prefix(BEGIN).and_then(|label| label.strip_suffix(DASHES));
        let Some(label) = label else { return stop(bad_begin(header)) };
        let mut data = Vec::new();
        let (mut at, end) = match self.rest(header_end) {
            [b'\n', ..] => (header_end + 1, b'\n'),
            [b'\r', b'\n', ..] => (header_end + 2, b'\n'),
            [b'\r', next, ..] => {
                // Read as data already, be it a hyphen.
                data.extend((!is_blank(*next)).then_some(*next));
                (header_end + 2, b'\r')
            }
            _ => return stop(Framing::MissingEnd),
        };

        // All to the next hyphen.
        let Some(length) = memchr::memchr(b'-', self.rest(at)) else { return stop(Framing::MissingEnd) };
        let body = self.bytes.get(at..at + length).unwrap_or_default();
        data.extend(body.iter().filter(|byte| !is_blank(**byte)));
        at += length;
        let length = memchr::memchr2(end, b'\n', self.rest(at)).unwrap_or(self.bytes.len() - at);
        let footer = self.bytes.get(at..at + length).unwrap_or_default();
        self.at = (at + length + 1).min(self.bytes.len());
        let footer: Vec<u8> = footer.iter().copied().filter(|byte| *byte != b'\r').collect();
        let footer = trimmed(&footer);
        match footer.strip_prefix(END).map(|found| found.strip_suffix(DASHES)) {
            Some(Some(found)) if found == label => {}
            Some(Some(found)) if memmem::find(found, BEGIN).is_some() => return stop(Framing::Glued),
            Some(None) if memmem::find(footer, BEGIN).is_some() => return stop(Framing::Glued),
            Some(None)
                if footer.len() > END.len() && memmem::find(&footer[END.len()..], DASHES).is_some() =>
            {
                return stop(Framing::TextAfterEnd);
            }
            Some(_) => return stop(Framing::BadEnd),
            None if footer.starts_with(BEGIN) => return stop(Framing::MissingEnd),
            None if data.contains(&b':') => return stop(Framing::Header),
            None if footer.starts_with(DASHES) => return stop(Framing::BadEnd),
            None => return stop(Framing::Base64),
        }
        match base64(&data) {
            Some(der) => Ok(Some(Block { offset, label: Some(label), der })),
            None if data.contains(&0) => stop(Framing::Nul),
            None if data.contains(&b':') => stop(Framing::Header),
            None => stop(Framing::Base64),
        }
    }

    /// The next line that begins with five hyphens.
    fn boundary(&self, start: usize) -> Option<usize> {
        let mut at = start;
        loop {
            let found = at + memmem::find(self.rest(at), DASHES)?;
            let before = self.bytes.get(start..found).unwrap_or_default();
            if matches!(before, [] | [.., b'\r' | b'\n']) {
                return Some(found);
            }
            at = found + self.rest(found).iter().take_while(|byte| **byte == b'-').count();
        }
    }

    /// Where the line ends, before its line end.
    fn line_end(&self, at: usize) -> usize {
        memchr::memchr2(b'\r', b'\n', self.rest(at)).map_or(self.bytes.len(), |length| at + length)
    }
}

/// Where the error lies. What is no BEGIN is often the END of one that Java has not seen, since it is not at the start
/// of its line.
fn blame(bytes: &[u8], start: usize, offset: usize, framing: Framing) -> (usize, Framing) {
    let passed = bytes.get(start..offset).unwrap_or_default();
    if bytes.get(offset..).unwrap_or_default().starts_with(END)
        && let Some(begin) = memmem::rfind(passed, BEGIN)
    {
        return (start + begin, hidden(bytes, start + begin));
    }
    (offset, framing)
}

/// Why a BEGIN is not seen: what stands before it.
fn hidden(bytes: &[u8], begin: usize) -> Framing {
    let before = bytes.get(..begin).unwrap_or_default();
    match before {
        [0xEF, 0xBB, 0xBF] => Framing::ByteOrderMark,
        [.., 0] => Framing::Nul,
        _ if before.ends_with(DASHES) => Framing::Glued,
        _ => Framing::TextBeforeBegin,
    }
}

/// What is wrong with a line that begins with five hyphens and is no BEGIN.
fn bad_begin(line: &[u8]) -> Framing {
    match line.strip_prefix(BEGIN) {
        Some(rest) if memmem::find(rest, DASHES).is_some() => Framing::TextAfterBegin,
        _ => Framing::BadBegin,
    }
}

/// Each BEGIN that Java passed over and loaded something all the same.
fn unseen(bytes: &[u8], spans: &[std::ops::Range<usize>], is_message: bool) -> Vec<Miss> {
    let mut spans = spans.iter().peekable();
    let mut end = 0;
    let mut misses = Vec::new();
    for begin in memmem::find_iter(bytes, BEGIN) {
        while let Some(span) = spans.next_if(|span| span.start <= begin) {
            end = span.end;
        }
        if begin < end {
            continue;
        }
        // Behind a message nothing is read.
        let framing = if is_message { Framing::Swallowed } else { hidden(bytes, begin) };
        misses.push(Miss::at(begin, Reason::Framing(framing)));
    }
    misses
}

/// `String.stripTrailing`, of bytes.
fn trimmed(line: &[u8]) -> &[u8] {
    let kept = line.iter().rposition(|byte| !matches!(byte, 9..=13 | 28..=32)).map_or(0, |last| last + 1);
    line.get(..kept).unwrap_or_default()
}

/// What may stand in base64.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b' ')
}

/// `Base64.getDecoder().decode`: padding may be missing; where there is some, it is whole and at the end. Bits behind
/// the last byte may be anything.
fn base64(data: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(data.len() / 4 * 3 + 3);
    let (mut bits, mut count, mut at) = (0_u32, 0, 0);
    while let Some(&byte) = data.get(at) {
        at += 1;
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                let rest = data.get(at..).unwrap_or_default();
                let fits = matches!((count, rest), (2, [b'=']) | (3, []));
                if fits {
                    break;
                }
                return None;
            }
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 1;
        if count == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, count) = (0, 0);
        }
    }
    match count {
        0 => {}
        2 => out.push((bits >> 4 & 0xFF) as u8),
        3 => out.extend_from_slice(&((bits >> 2 & 0xFFFF) as u16).to_be_bytes()),
        _ => return None,
    }
    Some(out)
}

/// Where the element that starts at `at` ends (`X509Factory.readBERInternal`).
fn ber_end(bytes: &[u8], mut at: usize) -> Result<usize, Fault> {
    let mut next = || {
        let byte = bytes.get(at).copied().ok_or(Fault::Structure);
        at += 1;
        byte
    };
    let mut open = 0_usize;
    loop {
        let tag = next()?;
        if tag & 0x1F == 0x1F {
            return Err(Fault::Structure);
        }
        let length = match next()? {
            0x80 if tag & 0x20 == 0 => return Err(Fault::Length),
            0x80 => {
                open += 1;
                if open == DEEPEST {
                    return Err(Fault::TooLarge);
                }
                continue;
            }
            short @ 0..=0x7F => usize::from(short),
            long @ 0x81..=0x84 => {
                let mut length = 0_u32;
                for _ in 0..long & 0x7F {
                    length = length << 8 | u32::from(next()?);
                }
                let length = i32::try_from(length).map_err(|_| Fault::Length)?;
                usize::try_from(length).map_err(|_| Fault::Length)?
            }
            _ => return Err(Fault::Length),
        };
        // The tag alone makes an end of contents.
        for _ in 0..length {
            next()?;
        }
        if tag == 0 {
            open = open.saturating_sub(1);
        }
        if open == 0 {
            return Ok(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::certificate::tests::Made;
    use super::*;

    fn pem(label: &str, der: &[u8]) -> String {
        let lines: Vec<String> = STANDARD
            .encode(der)
            .as_bytes()
            .chunks(64)
            .map(|line| String::from_utf8_lossy(line).into_owned())
            .collect();
        format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
    }

    /// Offsets of what is loaded and of what is passed over; or where and why all of it is refused.
    type Offsets = Result<(Vec<usize>, Vec<usize>), (usize, Reason)>;

    fn offsets(bytes: &[u8]) -> Offsets {
        let reading = read(bytes);
        match reading.refused {
            Some(miss) => Err((miss.offset, miss.reason)),
            None => Ok((
                reading.loads.iter().map(|loaded| loaded.offset).collect(),
                reading.misses.iter().map(|miss| miss.offset).collect(),
            )),
        }
    }

    /// In small, and with reasons, what `tests/oracle_java.rs` holds to Java itself.
    #[test]
    fn frames() {
        let a = pem("CERTIFICATE", &Made::new().der());
        let size = a.len();
        let framing = |offset, framing| Err((offset, Reason::Framing(framing)));
        let loads = |offsets: &[usize]| Ok((offsets.to_vec(), vec![]));
        let cases: Vec<(String, Offsets)> = vec![
            (String::new(), Err((0, Reason::Nothing))),
            ("# nothing\n".to_owned(), Err((0, Reason::Nothing))),
            (format!("{a}{a}"), loads(&[0, size])),
            (format!("# a\n{a}\n\n# b\n{a}"), loads(&[4, size + 10])),
            (a.replace('\n', "\r\n"), loads(&[0])),
            (a.replace('\n', "\r"), loads(&[0])),
            (a.replace("=\n", "\n").replace("=\n", "\n"), loads(&[0])),
            (a.replace("CERTIFICATE", "ANY"), loads(&[0])),
            (a.replace("-----\n", "----- \t\n"), loads(&[0])),
            (a.replace("\n-----END", " -----END"), loads(&[0])),
            (format!("{a} {a}"), framing(size + 1, Framing::TextBeforeBegin)),
            (format!("{a}# -----BEGIN CERTIFICATE-----\n"), Ok((vec![0], vec![size + 2]))),
            (format!("\u{feff}{a}"), framing(3, Framing::ByteOrderMark)),
            (
                format!("{a}{}", a.trim_end()).replace("-----\n-----B", "----------B"),
                framing(0, Framing::Glued),
            ),
            (format!("------\n{a}"), framing(0, Framing::BadBegin)),
            (
                a.replace("BEGIN CERTIFICATE-----", "BEGIN CERTIFICATE----- x"),
                framing(0, Framing::TextAfterBegin),
            ),
            (a.replace("END CERTIFICATE-----", "END CERTIFICATE----- x"), framing(0, Framing::TextAfterEnd)),
            (a.replace("END CERTIFICATE", "END certificate"), framing(0, Framing::BadEnd)),
            (a.replace("-----END CERTIFICATE-----\n", ""), framing(0, Framing::MissingEnd)),
            (format!("{}{a}", a.replace("-----END CERTIFICATE-----\n", "")), framing(0, Framing::MissingEnd)),
            (a.replace("-----\nM", "-----\nName: value\n\nM"), framing(0, Framing::Header)),
            (a.replace("-----\nM", "-----\n!M"), framing(0, Framing::Base64)),
            (a.replace("-----\nM", "-----\n\0M"), framing(0, Framing::Nul)),
            (pem("CERTIFICATE", b""), framing(0, Framing::Empty)),
            (
                format!("{a}{}", pem("PRIVATE KEY", &[0x30, 0])),
                Err((size, Reason::Other(OtherBlock::PrivateKey))),
            ),
            (
                pem("TRUSTED CERTIFICATE", &[Made::new().der(), vec![0x30, 0]].concat()),
                Err((0, Reason::Certificate(Part::Trust, Fault::TrailingBytes))),
            ),
            // A digit where a block may start.
            (format!("{a}0"), Err((size, Reason::Certificate(Part::Outer, Fault::Structure)))),
        ];
        for (text, expected) in cases {
            assert_eq!(offsets(text.as_bytes()), expected, "{text:?}");
        }
        let der = Made::new().der();
        assert_eq!(
            offsets(&[&der[..], &der, b"\n", a.as_bytes()].concat()),
            Ok((vec![0, der.len(), 2 * der.len() + 1], vec![]))
        );
    }

    #[test]
    fn messages() {
        let der = Made::new().der();
        let tlv = |tag, content: &[u8]| {
            let mut out = Vec::new();
            crate::der::write_header(tag, content.len(), &mut out);
            [out, content.to_vec()].concat()
        };
        let fields =
            [&[2, 1, 1, 0x31, 0, 0x30, 3, 6, 1, 42][..], &tlv(0xA0, &der.repeat(2)), &[0x31, 0]].concat();
        let kind = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2];
        let message = tlv(0x30, &[tlv(6, &kind), tlv(0xA0, &tlv(0x30, &fields))].concat());
        let text = pem("PKCS7", &message);
        assert_eq!(offsets(text.as_bytes()), Ok((vec![0, 0], vec![])));
        // What stands behind it is passed over; behind a certificate it is none.
        let a = pem("CERTIFICATE", &der);
        assert_eq!(offsets(format!("{text}{a}").as_bytes()), Ok((vec![0, 0], vec![text.len()])));
        let refused = offsets(format!("{a}{text}").as_bytes());
        assert!(
            matches!(refused, Err((offset, Reason::Certificate(..))) if offset == a.len()),
            "{refused:?}"
        );
    }

    #[test]
    fn no_slice_makes_it_panic() {
        let certificate = Made::new().der();
        let indefinite = [&[0x30, 0x80][..], &certificate[4..], &[0, 0]].concat();
        for der in [certificate, indefinite] {
            let text = pem("CERTIFICATE", &der);
            for cut in 0..text.len() {
                let _ = read(&text.as_bytes()[cut..]);
                let _ = read(&text.as_bytes()[..cut]);
            }
            for cut in 0..der.len() {
                let _ = certificate_and_file(&der[..cut]);
                let mut changed = der.clone();
                for byte in [0, 0x1F, 0x24, 0x30, 0x7F, 0x80, 0x81, 0x84, 0x85, 0xA0, 0xFF] {
                    changed[cut] = byte;
                    let _ = certificate_and_file(&changed);
                }
            }
        }
    }

    fn certificate_and_file(der: &[u8]) -> (bool, Reading) {
        (certificate(der).is_ok(), read(der))
    }
}
