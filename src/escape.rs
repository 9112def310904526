//! Text from certificates and file names, made safe to print.
//!
//! A subject or a file name may hold terminal escapes, newlines and bidirectional overrides. Nothing of that kind
//! reaches a terminal: see [`visible`].

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

/// Whether a character changes what a terminal shows beyond itself, or is not seen at all.
///
/// Control characters (C0, DEL, C1), bidirectional controls, zero-width and line-breaking characters, and the
/// characters that Unicode reserves for tags and private escapes in terminals.
#[must_use]
pub fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// The text with unsafe characters and the backslash escaped: `\n`, `\x1b`, `\u{202e}`, `\\`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| c == '\\' || is_unsafe(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        push_visible(&mut out, character);
    }
    Cow::Owned(out)
}

fn push_visible(out: &mut String, character: char) {
    match character {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_unsafe(c) && u32::from(c) < 0x80 => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        c if is_unsafe(c) => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// A file name or path for people: as [`visible`], bytes that are not UTF-8 as `\xHH`.
#[must_use]
pub fn visible_path(path: impl AsRef<OsStr>) -> String {
    let mut out = String::new();
    for piece in path.as_ref().as_bytes().utf8_chunks() {
        out.push_str(&visible(piece.valid()));
        for byte in piece.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// A file name or path for machine formats: itself where it is UTF-8, else with `\xHH` for the other bytes.
///
/// The second value is the exact bytes, given where the text is not the name itself.
#[must_use]
pub fn path_text(path: impl AsRef<OsStr>) -> (String, Option<Vec<u8>>) {
    let bytes = path.as_ref().as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), None),
        Err(_) => {
            let mut out = String::new();
            for piece in bytes.utf8_chunks() {
                out.push_str(piece.valid());
                for byte in piece.invalid() {
                    let _ = write!(out, "\\x{byte:02x}");
                }
            }
            (out, Some(bytes.to_vec()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_escapes_and_overrides_become_visible() {
        assert_eq!(visible("a\u{1b}[31mb"), "a\\x1b[31mb");
        assert_eq!(visible("\u{202e}abc\u{2069}"), "\\u{202e}abc\\u{2069}");
        assert_eq!(visible("one\ntwo\r\ttab\u{7f}\u{9b}"), "one\\ntwo\\r\\ttab\\x7f\\u{9b}");
        assert_eq!(visible("C:\\dir"), "C:\\\\dir");
    }

    #[test]
    fn ordinary_text_is_borrowed() {
        assert!(matches!(visible("Főtanúsítvány (Class Gold)"), Cow::Borrowed(_)));
    }

    #[test]
    fn bytes_that_are_not_utf8_keep_their_value() {
        let name = OsStr::from_bytes(b"a\xffb\n");
        assert_eq!(visible_path(name), "a\\xffb\\n");
        assert_eq!(path_text(name), ("a\\xffb\n".to_owned(), Some(b"a\xffb\n".to_vec())));
    }
}
