//! The hashes by which OpenSSL finds a certificate in a CApath.
//!
//! `X509_NAME_hash_ex` is SHA-1 over the canonical encoding of the subject (`x509_name_canon` in
//! crypto/x509/x_name.c); `X509_NAME_hash_old` is MD5 over its DER. Both take the first four bytes, little-endian.

use md5::{Digest as _, Md5};
use sha1::Sha1;

use crate::certificate::name::Value;
use crate::der::{self, Element, Reader, tag};

/// Which of the two hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HashStyle {
    /// OpenSSL 1.0.0 and later.
    Canonical,
    /// OpenSSL 0.9.8 and before.
    Old,
}

/// The subject hash of a Name (its whole TLV).
///
/// `None` where OpenSSL refuses the name, and the certificate with it: then no link can lead to it.
#[must_use]
pub fn subject_hash(name: &[u8]) -> Option<u32> {
    Some(first_four(&Sha1::digest(canonical(name)?)))
}

/// The subject hash of OpenSSL 0.9.8, over the bytes of the Name as they stand.
#[must_use]
pub fn subject_hash_old(name: &[u8]) -> u32 {
    first_four(&Md5::digest(name))
}

fn first_four(digest: &[u8]) -> u32 {
    u32::from_le_bytes([digest[0], digest[1], digest[2], digest[3]])
}

/// The canonical encoding of a Name: two names are the same to OpenSSL when these bytes are equal.
///
/// The relative distinguished names as SETs, one behind the other, without the header of the SEQUENCE; strings as
/// UTF-8, ASCII letters in lower case, blanks trimmed and folded.
#[must_use]
pub fn canonical(name: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(name.len() + 16);
    let mut rdns = Reader::new(Reader::new(name).expect_list(tag::SEQUENCE).ok()?.content);
    let mut set_content = Vec::new();
    while !rdns.is_empty() {
        let set = rdns.expect_list(tag::SET).ok()?.content;
        let mut members: Vec<Vec<u8>> = Vec::with_capacity(1);
        let mut attributes = Reader::new(set);
        while !attributes.is_empty() {
            let mut pair = Reader::new(attributes.expect_ber(tag::SEQUENCE).ok()?.content);
            let oid = pair.expect(tag::OID).ok()?;
            let value = pair.any_ber().ok()?;
            if !pair.is_empty() {
                return None;
            }
            members.push(member(oid, value)?);
        }
        if members.is_empty() {
            continue;
        }
        // DER sorts a SET OF by its encodings; OpenSSL does so after the folding.
        members.sort_unstable();
        set_content.clear();
        members.iter().for_each(|member| set_content.extend_from_slice(member));
        der::write_header(tag::SET, set_content.len(), &mut out);
        out.extend_from_slice(&set_content);
    }
    Some(out)
}

/// One attribute, canonical.
fn member(oid: Element<'_>, value: Element<'_>) -> Option<Vec<u8>> {
    if !is_object_identifier(oid.content) {
        return None;
    }
    let value = Value::read(value)?;
    let encoded_value = match utf8(&value)? {
        Some(text) => encode(tag::UTF8_STRING, &fold(&text)),
        None => value.encoded(),
    };
    Some(encode(tag::SEQUENCE, &[encode(tag::OID, oid.content), encoded_value].concat()))
}

fn encode(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len() + 6);
    der::write_header(tag, content.len(), &mut out);
    out.extend_from_slice(content);
    out
}

/// What `ossl_c2i_ASN1_OBJECT` accepts: each arc in as few bytes as possible, the last one whole.
fn is_object_identifier(content: &[u8]) -> bool {
    content.last().is_some_and(|last| last & 0x80 == 0)
        && (0..content.len()).all(|i| content[i] != 0x80 || i > 0 && content[i - 1] & 0x80 != 0)
}

/// The UTF-8 of a string type that OpenSSL converts (`ASN1_MASK_CANON`), `Some(None)` for a type that it leaves alone,
/// `None` for a value that it refuses.
fn utf8(value: &Value<'_>) -> Option<Option<Vec<u8>>> {
    let (number, content) = value.parts();
    Some(Some(match number {
        tag::UTF8_STRING => {
            std::str::from_utf8(content).ok()?;
            content.to_vec()
        }
        // Eight-bit types: each byte is a code point of Latin-1.
        tag::PRINTABLE_STRING | tag::T61_STRING | tag::IA5_STRING => {
            content.iter().map(|&byte| char::from(byte)).collect::<String>().into_bytes()
        }
        tag::BMP_STRING => wide::<2>(content)?,
        tag::UNIVERSAL_STRING => wide::<4>(content)?,
        _ => return Some(None),
    }))
}

fn wide<const SIZE: usize>(content: &[u8]) -> Option<Vec<u8>> {
    if !content.len().is_multiple_of(SIZE) {
        return None;
    }
    let mut text = String::with_capacity(content.len());
    for unit in content.chunks(SIZE) {
        text.push(char::from_u32(unit.iter().fold(0, |code, &byte| code << 8 | u32::from(byte)))?);
    }
    Some(text.into_bytes())
}

/// Blanks (space and 09 to 0D) trimmed, inner runs made one space, ASCII letters in lower case.
fn fold(text: &[u8]) -> Vec<u8> {
    let is_blank = |byte: u8| byte == b' ' || (0x09..=0x0D).contains(&byte);
    let mut out = Vec::with_capacity(text.len());
    let mut pending_blank = false;
    for &byte in text {
        if is_blank(byte) {
            pending_blank = !out.is_empty();
        } else {
            if pending_blank {
                out.push(b' ');
                pending_blank = false;
            }
            out.push(byte.to_ascii_lowercase());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding() {
        assert_eq!(fold(b"  A \t b\x0B\x0Cc  "), b"a b c");
        assert_eq!(fold(b" \t "), b"");
        assert_eq!(fold(b"a\x1Cb\xC2\xA0c"), b"a\x1Cb\xC2\xA0c");
        assert_eq!(fold("ÉÀß".as_bytes()), "ÉÀß".as_bytes());
    }

    #[test]
    fn the_empty_name_has_a_hash() {
        // SHA-1 of nothing is da39a3ee...
        assert_eq!(subject_hash(&[0x30, 0]), Some(0xeea3_39da));
    }
}
