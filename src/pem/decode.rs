//! One PEM block to DER, with everything that is odd about its body.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, Simd};

use super::scan::{Block, Defect, DefectKind, Noise};

/// Spare bits at the padding are taken as OpenSSL and Go take them, and reported; padding must be right.
const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::RequireCanonical);
static ENGINE: LazyLock<Simd> = LazyLock::new(|| Simd::standard(CONFIG));
/// Tells whether spare bits are zero.
static STRICT: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, GeneralPurposeConfig::new());

/// What the body of a block holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The decoded bytes; empty where the base64 cannot be read.
    pub der: Vec<u8>,
    /// What is wrong with the body.
    pub defects: Vec<Defect>,
    /// What is odd about the body.
    pub noise: Noise,
}

/// Decodes the body of `block`, which was scanned in `bytes`.
///
/// Indentation, blanks, widths, CRLF, blank lines and RFC 1421 headers are taken off; each is reported. A byte that
/// is not base64, wrong padding and an empty body leave `der` empty.
#[must_use]
pub fn decode(bytes: &[u8], block: &Block) -> Body {
    let body = &bytes[block.body()];
    if let Some(der) = strict(body) {
        return Body { der, defects: Vec::new(), noise: Noise::NONE };
    }
    lenient(bytes, block)
}

/// The body that nearly all blocks have: LF, 64 columns, nothing else. `None` says: look closer.
fn strict(body: &[u8]) -> Option<Vec<u8>> {
    let lines = body.strip_prefix(b"\n")?.strip_suffix(b"\n")?;
    let mut base64 = Vec::with_capacity(lines.len());
    let mut rest = lines;
    while rest.len() > 64 {
        if rest[64] != b'\n' {
            return None;
        }
        base64.extend_from_slice(&rest[..64]);
        rest = &rest[65..];
    }
    if rest.is_empty() {
        return None;
    }
    base64.extend_from_slice(rest);
    let der = ENGINE.decode(&base64).ok()?;
    spare_bits_are_zero(&base64).then_some(der)
}

/// Whether the last quantum is canonical; the rest was decoded already.
fn spare_bits_are_zero(base64: &[u8]) -> bool {
    base64.len() < 4 || base64[base64.len() - 1] != b'=' || STRICT.decode(&base64[base64.len() - 4..]).is_ok()
}

fn lenient(bytes: &[u8], block: &Block) -> Body {
    let start = block.body().start;
    let body = &bytes[block.body()];
    let mut reading = Reading {
        start,
        first_line: block.line(),
        body,
        base64: Vec::with_capacity(body.len()),
        base64_at: 0,
        defects: Vec::new(),
        noise: Noise::NONE,
    };
    reading.lines();
    reading.decode()
}

struct Reading<'a> {
    /// The body's offset in the file.
    start: usize,
    /// The line on which the body starts.
    first_line: usize,
    body: &'a [u8],
    base64: Vec<u8>,
    /// Where in the body the first base64 line starts.
    base64_at: usize,
    defects: Vec<Defect>,
    noise: Noise,
}

impl Reading<'_> {
    fn defect(&mut self, kind: DefectKind, at: usize) {
        if !self.defects.iter().any(|defect| defect.kind == kind) {
            let line = self.first_line + memchr::memchr_iter(b'\n', &self.body[..at]).count();
            self.defects.push(Defect { kind, offset: self.start + at, line });
        }
    }

    fn noise(&mut self, noise: Noise) {
        self.noise = self.noise.with(noise);
    }

    fn lines(&mut self) {
        let body = self.body;
        let mut at = 0;
        // The text behind BEGIN on its own line is the first "line"; it is empty in an ordinary block.
        let mut behind_begin = true;
        let mut blank_at = None;
        let mut in_headers = false;
        let mut short_at = false;
        while at < body.len() {
            let end = memchr::memchr(b'\n', &body[at..]).map_or(body.len(), |length| at + length);
            let mut line = &body[at..end];
            if line.ends_with(b"\r") {
                // Several carriage returns are blanks at the end of a line to OpenSSL.
                let text = &line[..line.len() - line.iter().rev().take_while(|&&byte| byte == b'\r').count()];
                // END may stand behind a last line that has no line feed.
                if end < body.len() || !text.is_empty() {
                    self.noise(Noise::CRLF);
                }
                line = text;
            }
            if let Some(carriage_return) = memchr::memchr(b'\r', line) {
                self.defect(DefectKind::BareCarriageReturn, at + carriage_return);
            }
            // OpenSSL strips whatever is no more than a blank at the end of a line: a vertical tab, say.
            let end_of_text = line.iter().rposition(|&byte| byte > b' ').map_or(0, |last| last + 1);
            let text = line[..end_of_text].trim_ascii_start();
            if text.len() < line.trim_ascii().len() {
                self.defect(DefectKind::BadBase64(line[end_of_text]), at + end_of_text);
            }
            if text.is_empty() {
                if in_headers {
                    in_headers = false;
                } else if behind_begin && at == 0 {
                    // The end of the BEGIN line itself.
                } else if self.base64.is_empty() {
                    if end < body.len() && self.noise.has(Noise::BLANK_AFTER_BEGIN) {
                        // OpenSSL takes the first blank line for the end of the headers, the second for an error.
                        self.defect(DefectKind::BlankLine, at);
                    } else if end < body.len() {
                        self.noise(Noise::BLANK_AFTER_BEGIN);
                    }
                } else if end < body.len() || !line.is_empty() {
                    blank_at.get_or_insert(at);
                }
            } else if in_headers && (line[0] == b' ' || line[0] == b'\t') {
                // A folded header goes on.
            } else if self.base64.is_empty() && memchr::memchr(b':', text).is_some() {
                self.defect(DefectKind::Header, at);
                in_headers = true;
            } else {
                in_headers = false;
                if let Some(blank) = blank_at.take() {
                    self.defect(DefectKind::BlankLine, blank);
                }
                if line[0] == b' ' || line[0] == b'\t' {
                    self.noise(Noise::INDENTATION);
                }
                if line.last().is_some_and(|&byte| byte == b' ' || byte == b'\t') {
                    self.noise(Noise::TRAILING_BLANKS);
                }
                if short_at || text.len() > 64 {
                    self.noise(Noise::WIDTH);
                }
                short_at = text.len() < 64;
                if self.base64.is_empty() {
                    self.base64_at = at;
                }
                self.base64.extend(text.iter().filter(|byte| !byte.is_ascii_whitespace()));
            }
            behind_begin = false;
            at = end + 1;
        }
        if let Some(blank) = blank_at {
            self.defect(DefectKind::BlankLine, blank);
        }
    }

    fn decode(mut self) -> Body {
        let mut der = Vec::new();
        if self.base64.is_empty() {
            self.defect(DefectKind::Empty, 0);
        } else if let Ok(decoded) = ENGINE.decode(&self.base64) {
            if !spare_bits_are_zero(&self.base64) {
                self.noise(Noise::SPARE_BITS);
            }
            der = decoded;
        } else {
            match self.first_foreign_byte() {
                Some((at, b'\\')) if self.body[at + 1..].starts_with(b"n") => {
                    self.defect(DefectKind::EscapedNewline, at);
                }
                Some((at, byte)) => self.defect(DefectKind::BadBase64(byte), at),
                None => self.defect(DefectKind::BadPadding, self.body.trim_ascii_end().len()),
            }
        }
        Body { der, defects: self.defects, noise: self.noise }
    }

    /// The first byte of the body, headers apart, that base64 does not have.
    fn first_foreign_byte(&self) -> Option<(usize, u8)> {
        let from = self.base64_at;
        let foreign = self.body[from..].iter().position(|&byte| {
            !(byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=".contains(&byte))
        })?;
        Some((from + foreign, self.body[from + foreign]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::scan::scan;
    use super::*;

    fn body(text: &str) -> Body {
        let block = scan(text.as_bytes()).next().unwrap();
        decode(text.as_bytes(), &block)
    }

    fn block(body: &str) -> String {
        format!("-----BEGIN CERTIFICATE-----{body}-----END CERTIFICATE-----\n")
    }

    /// 50 zero bytes: a line of 64 columns and one of 4.
    fn zeros() -> (String, String) {
        ("A".repeat(64), "AAA=".to_owned())
    }

    #[test]
    fn noise_is_taken_off_and_named() {
        let (a, b) = zeros();
        for (text, noise) in [
            (format!("\n{a}\n{b}\n"), Noise::NONE),
            (format!("\r\n{a}\r\n{b}\r\n"), Noise::CRLF),
            (format!("\n {a}\n {b}\n"), Noise::INDENTATION),
            (format!("\n{a} \n{b}\t\n"), Noise::TRAILING_BLANKS),
            (format!("\n{a}{b}\n"), Noise::WIDTH),
            (format!("\n{b_less}\n{rest}{b}\n", b_less = &a[..60], rest = &a[60..]), Noise::WIDTH),
            (format!("\n\n{a}\n{b}\n"), Noise::BLANK_AFTER_BEGIN),
            (format!("\n{a}\nAAB=\n"), Noise::SPARE_BITS),
            (format!("{a}{b}"), Noise::WIDTH),
        ] {
            let body = body(&block(&text));
            assert_eq!((body.der.len(), body.noise), (50, noise), "{text:?}");
            assert!(body.defects.is_empty(), "{text:?} {:?}", body.defects);
        }
    }

    #[test]
    fn defects_have_a_place_and_keep_what_is_beyond_doubt() {
        use DefectKind::*;
        let (a, b) = zeros();
        for (text, kind, line, length) in [
            (format!("\n{a}\n\n{b}\n"), BlankLine, 3, 50),
            (format!("\n{a}\n{b}\n\n"), BlankLine, 4, 50),
            (format!("\nX-Note: a\n\n{a}\n{b}\n"), Header, 2, 50),
            (format!("\nX-Note: a\n  folded\n{a}\n{b}\n"), Header, 2, 50),
            (format!("\r{a}\r{b}\r"), BareCarriageReturn, 1, 50),
            (format!("\n{a}\nAA!=\n"), BadBase64(b'!'), 3, 0),
            (format!("\nX: y\n\n{a}\nAA!=\n"), BadBase64(b'!'), 5, 0),
            (format!("\n{a}\nAAA\n"), BadPadding, 3, 0),
            (format!("\n{a}\nA=AA\n"), BadPadding, 3, 0),
            (format!("\\n{a}\\n{b}\\n"), EscapedNewline, 1, 0),
            ("\n".to_owned(), Empty, 1, 0),
            (String::new(), Empty, 1, 0),
        ] {
            let body = body(&block(&text));
            let found = body.defects.iter().find(|defect| defect.kind == kind);
            assert_eq!(found.map(|defect| defect.line), Some(line), "{text:?} {:?}", body.defects);
            assert_eq!(body.der.len(), length, "{text:?}");
        }
    }

    #[test]
    fn encode_and_decode_are_inverse_at_every_length() {
        for length in 1..200 {
            let der: Vec<u8> = (0..length).map(|value| value as u8).collect();
            let text = super::super::encode::encode(super::super::label::Label::Certificate, &der);
            let body = body(&text);
            assert_eq!((body.der, body.defects, body.noise), (der, Vec::new(), Noise::NONE));
        }
    }
}
