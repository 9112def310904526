//! The blocks that OpenSSL sees in a file, and where it gives up: `PEM_read_bio` (crypto/pem/pem_lib.c).
//!
//! `get_name` looks for a boundary that stands alone on its line, `get_header_and_data` takes all up to an END of
//! exactly that label. Lines are read by `BIO_gets` in pieces of 254 bytes, each up to its first NUL.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::Version;
use crate::readers::reading::Framing;

/// `LINESIZE` less the terminator: the most that one `BIO_gets` gives.
const PIECE: usize = 254;
const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const TAIL: &[u8] = b"-----";
/// `EVP_DecodeUpdate` does not look at spare bits.
const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::RequireCanonical);
static BASE64: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);

/// One block, as OpenSSL took it from the file.
#[derive(Debug)]
pub(super) struct Block<'a> {
    /// Where BEGIN stands.
    pub offset: usize,
    /// Behind the line of END.
    pub end: usize,
    /// What stands between BEGIN and the dashes.
    pub label: &'a [u8],
    /// The header lines; empty where there are none.
    pub header: Vec<u8>,
    /// The decoded bytes.
    pub data: Vec<u8>,
}

/// Why there is no further block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// `PEM_R_NO_START_LINE`: the end, as OpenSSL sees it. So far it read.
    End(usize),
    /// Any other error: the block at this offset.
    Error(usize, Framing),
}

/// The blocks of a file, one after the other.
#[derive(Debug)]
pub(super) struct Blocks<'a> {
    bytes: &'a [u8],
    at: usize,
    version: Version,
}

/// What one `BIO_gets` gave.
struct Piece<'a> {
    start: usize,
    text: &'a [u8],
    /// As many bytes as there is room for, and no line feed among them.
    partial: bool,
}

impl<'a> Blocks<'a> {
    pub fn new(bytes: &'a [u8], version: Version) -> Self {
        Self { bytes, at: 0, version }
    }

    /// The next block.
    pub fn next(&mut self) -> Result<Block<'a>, Stop> {
        let Some((offset, label)) = self.name() else { return Err(Stop::End(self.at)) };
        let (header, data) = self.body(label).map_err(|framing| Stop::Error(offset, framing))?;
        Ok(Block { offset, end: self.at, label, header, data })
    }

    /// `None` at the end of the file, and for a line that starts with a NUL: its length is 0.
    fn piece(&mut self) -> Option<Piece<'a>> {
        let start = self.at;
        let rest = &self.bytes[start..];
        let room = &rest[..rest.len().min(PIECE)];
        let length = memchr::memchr(b'\n', room).map_or(room.len(), |feed| feed + 1);
        self.at = start + length;
        let text = &room[..length];
        let text = &text[..memchr::memchr(0, text).unwrap_or(length)];
        if text.is_empty() {
            return None;
        }
        Some(Piece { start, text, partial: text.len() == PIECE && text.last() != Some(&b'\n') })
    }

    /// The next BEGIN boundary: where it starts, and its label.
    fn name(&mut self) -> Option<(usize, &'a [u8])> {
        let mut first = self.version > Version::V1_1_1;
        loop {
            let Piece { mut start, mut text, .. } = self.piece()?;
            // Only on the first line that each look-out reads.
            if first && text.len() > 3 && text.starts_with(b"\xEF\xBB\xBF") {
                start += 3;
                text = &text[3..];
            }
            first = false;
            if let Some(label) = sanitized(text).strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(TAIL))
            {
                return Some((start, label));
            }
        }
    }

    /// Takes the body up to END: header and data.
    fn body(&mut self, label: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Framing> {
        #[derive(PartialEq)]
        enum Header {
            Maybe,
            Inside,
            Behind,
        }
        let mut state = Header::Maybe;
        let mut header = Vec::new();
        let mut data = Vec::new();
        let mut partial = false;
        // A short line behind a header must be the last.
        let mut short = false;
        loop {
            let Some(piece) = self.piece() else {
                // BIO_gets gives nothing: the end of the file, or a line that starts with a NUL.
                let nul = self.at > 0 && self.bytes[..self.at].ends_with(b"\0") || self.at < self.bytes.len();
                return Err(if nul { Framing::Nul } else { Framing::MissingEnd });
            };
            let before_was_partial = std::mem::replace(&mut partial, piece.partial);
            if state == Header::Maybe && memchr::memchr(b':', piece.text).is_some() {
                state = Header::Inside;
            }
            let line = sanitized(piece.text);
            if line.is_empty() {
                if !before_was_partial {
                    if state == Header::Behind {
                        return Err(Framing::BlankLine);
                    }
                    state = Header::Behind;
                }
                continue;
            }
            if let Some(rest) = line.strip_prefix(END) {
                // The label, then the dashes at the end of the line.
                match rest.strip_prefix(label).and_then(|rest| rest.strip_prefix(TAIL)) {
                    Some([]) => break,
                    Some(rest) if memchr::memmem::find(rest, BEGIN).is_some() => return Err(Framing::Glued),
                    Some(_) => return Err(Framing::TextAfterEnd),
                    None => return Err(Framing::BadEnd),
                }
            }
            if short {
                return Err(Framing::BlankLine);
            }
            if state == Header::Behind {
                data.extend_from_slice(line);
                data.push(b'\n');
                if line.len() > 64 {
                    return Err(Framing::LongLine);
                }
                short = line.len() < 64;
            } else {
                header.extend_from_slice(line);
                header.push(b'\n');
            }
        }
        if state == Header::Maybe {
            std::mem::swap(&mut header, &mut data);
        }
        // `EVP_DecodeUpdate` skips blanks, and takes a hyphen for the end.
        data.truncate(memchr::memchr(b'-', &data).unwrap_or(data.len()));
        data.retain(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
        let decoded = BASE64.decode(&data).map_err(|_| Framing::Base64)?;
        if decoded.is_empty() {
            return Err(if header.is_empty() { Framing::Empty } else { Framing::Header });
        }
        Ok((header, decoded))
    }
}

/// `sanitize_line` with `PEM_FLAG_EAY_COMPATIBLE`: all that is no more than a blank goes from the end, and with a
/// signed `char` all that is above 7F.
fn sanitized(text: &[u8]) -> &[u8] {
    let kept = text.iter().rposition(|&byte| byte > b' ' && byte < 0x80).map_or(0, |last| last + 1);
    &text[..kept]
}

/// What `PEM_get_EVP_CIPHER_INFO` makes of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cipher {
    /// No header, nothing encrypted.
    None,
    /// `Proc-Type: 4,ENCRYPTED` and a `DEK-Info` line: a password would be asked for.
    Encrypted,
    /// An error.
    Refused,
}

pub(super) fn cipher(header: &[u8]) -> Cipher {
    if header.is_empty() {
        return Cipher::None;
    }
    match dek_info(header) {
        Some(true) => Cipher::Encrypted,
        _ => Cipher::Refused,
    }
}

/// Whether the initialisation vector of the named cipher is whole; `None` where the header is not of that form.
fn dek_info(header: &[u8]) -> Option<bool> {
    let rest = blanks(header.strip_prefix(b"Proc-Type:")?);
    let rest = blanks(rest.strip_prefix(b"4,")?).strip_prefix(b"ENCRYPTED")?;
    let line = memchr::memchr(b'\n', rest)?;
    if !rest[..line].iter().all(|&byte| matches!(byte, b' ' | b'\t' | b'\r')) {
        return None;
    }
    let rest = blanks(rest[line + 1..].strip_prefix(b"DEK-Info:")?);
    let (name, rest) = rest.split_at(rest.iter().position(|byte| b" \t,".contains(byte))?);
    let vector = blanks(rest).strip_prefix(b",").map(blanks)?;
    let name = name.to_ascii_uppercase();
    // The block size of the cipher, in bytes.
    let size = if name.starts_with(b"AES") || name.starts_with(b"CAMELLIA") || name.starts_with(b"ARIA") {
        16
    } else if name.starts_with(b"DES") {
        8
    } else {
        return None;
    };
    Some(vector.len() >= 2 * size && vector[..2 * size].iter().all(u8::is_ascii_hexdigit))
}

fn blanks(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count()..]
}
