//! The bytes of one file, taken apart: certificates, other blocks, and what is wrong with them.

use std::ops::Range;

use crate::certificate::CertificateDer;
use crate::certificate::fingerprint::Fingerprint;
use crate::certificate::pkcs7;
use crate::certificate::trust::TrustAttributes;
use crate::der::{self, DerError, Reader, tag};
use crate::openssl::name_hash;
use crate::pem::decode::decode;
use crate::pem::label::Label;
use crate::pem::scan::{Block, Defect, DefectKind, Noise, scan};

/// How a certificate is written in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// A PEM block with this label.
    Pem(Label),
    /// The bytes themselves; the whole file is no PEM.
    Der,
    /// The bytes themselves, inside a file of PEM blocks.
    DerInPem,
    /// Inside a PKCS#7 message, in a file that has no certificate otherwise.
    Pkcs7,
}

/// One certificate found in a file.
#[derive(Debug, Clone)]
pub struct Found {
    /// Its bytes.
    pub der: CertificateDer<'static>,
    /// SHA-256 of them.
    pub fingerprint: Fingerprint,
    /// How it is written.
    pub encoding: Encoding,
    /// Where, in bytes.
    pub span: Range<usize>,
    /// On which line it starts.
    pub line: usize,
    /// Attributes of a TRUSTED CERTIFICATE block.
    pub trust: Option<TrustAttributes>,
    /// Defects that leave the certificate beyond doubt.
    pub defects: Vec<Defect>,
    /// Odd framing.
    pub noise: Noise,
    /// Bytes behind the certificate's encoding, inside the block.
    pub trailing: usize,
    /// Whether the outer header was not DER.
    pub ber: bool,
    /// What the block holds, where that is more, or otherwise written, than the certificate.
    pub raw: Option<Vec<u8>>,
    /// Text before the block that distrusts it.
    pub distrust: Option<Distrust>,
    /// The comment lines before the block, where [`read_with_comments`] read it.
    pub comment: Option<String>,
}

/// How text before a block says that its certificate is distrusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Distrust {
    /// A comment: `# Explicitly Distrust ...`.
    Comment,
    /// A section of p11-kit's persistent form: `x-distrusted: true`.
    P11Kit,
}

/// The kind of a keystore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Keystore {
    /// Java's own form.
    Jks,
    /// Java's form with encrypted keys.
    Jceks,
    /// PKCS#12.
    Pkcs12,
}

/// A block that gives no certificate.
#[derive(Debug, Clone)]
pub struct OtherBlock {
    /// Its label.
    pub label: Label,
    /// Its label as it is written.
    pub label_text: String,
    /// Where, in bytes.
    pub span: Range<usize>,
    /// On which line it starts.
    pub line: usize,
    /// Whether its base64 can be read. OpenSSL stops at a block of any label where it cannot.
    pub base64: bool,
    /// What it is.
    pub kind: OtherKind,
}

/// What a block without a certificate is.
#[derive(Debug, Clone)]
pub enum OtherKind {
    /// A private key. Whether its base64 can be read is checked; nothing of it is kept.
    PrivateKey,
    /// A certificate revocation list; the hash of its issuer where that can be read.
    Crl {
        /// `X509_NAME_hash_ex` of the issuer.
        issuer_hash: Option<u32>,
        /// `X509_NAME_hash_old` of the issuer.
        issuer_hash_old: Option<u32>,
        /// SHA-256 of the list's DER.
        fingerprint: Fingerprint,
    },
    /// A damaged block whose certificate, if it holds one, takes a guess.
    Malformed {
        /// What is wrong with it; at least one.
        defects: Vec<Defect>,
        /// What a guess gives: the certificate as if the boundaries were right.
        guess: Option<CertificateDer<'static>>,
    },
    /// A block that decodes to something that is not a certificate.
    NotACertificate(DerError),
    /// A PKCS#7 message with these certificates. No TLS library reads them.
    Pkcs7 {
        /// The certificates.
        certificates: Vec<CertificateDer<'static>>,
    },
    /// Anything else: requests, parameters, unknown labels.
    Other,
}

/// What a file without any certificate looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shape {
    /// No bytes, or blanks only.
    Empty,
    /// HTML.
    Html,
    /// UTF-16, as Windows' shells write it.
    Utf16,
    /// PEM that was encoded in base64 again.
    DoubleBase64,
    /// Newlines written as a backslash and `n`.
    EscapedNewlines,
    /// Private keys alone.
    OnlyKeys,
    /// Certificate blocks, all damaged.
    OnlyMalformed,
    /// Other PEM blocks.
    OnlyOtherBlocks,
    /// Text without a boundary.
    Text,
    /// Bytes that are neither text nor a certificate.
    Binary,
    /// A keystore.
    Keystore(Keystore),
}

/// What a file holds.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// Its certificates, in order.
    pub certificates: Vec<Found>,
    /// Its other blocks, in order.
    pub others: Vec<OtherBlock>,
    /// What it looks like, where it has no certificate.
    pub shape: Option<Shape>,
    /// Whether there is nothing but `CERTIFICATE` blocks in it, each framed as OpenSSL writes them, with text between
    /// them at most: then every reader sees every block.
    pub plain: bool,
    keep_comments: bool,
}

/// Takes a file apart.
#[must_use]
pub fn read(bytes: &[u8]) -> Content {
    take_apart(bytes, Content::default())
}

/// Takes a file apart, and keeps the comment lines before each block.
#[must_use]
pub fn read_with_comments(bytes: &[u8]) -> Content {
    take_apart(bytes, Content { keep_comments: true, ..Content::default() })
}

fn take_apart(bytes: &[u8], content: Content) -> Content {
    let mut content = content;
    let mut scanner = scan(bytes);
    let mut lines = Lines { bytes, at: 0, line: 1 };
    let mut pem = false;
    // A file that starts with an element is DER, whatever its later bytes look like.
    let whole = bytes.first() == Some(&tag::SEQUENCE) && CertificateDer::read(bytes).is_ok();
    if whole {
        der_between(bytes, 0..bytes.len(), Encoding::Der, &mut lines, &mut content);
    } else {
        // Whether the text at hand belongs to a section of p11-kit's form, which may name the certificate first.
        let mut section = false;
        for block in scanner.by_ref() {
            pem = true;
            let text = Text::of(&bytes[block.preamble()]);
            if section && text.before_header == Some(Distrust::P11Kit) {
                mark_last(&mut content, Distrust::P11Kit);
            }
            section = text.section.unwrap_or(section);
            der_between(bytes, block.preamble(), Encoding::DerInPem, &mut lines, &mut content);
            one_block(bytes, &block, text.last, &mut content);
        }
        if pem {
            let tail = scanner.end()..bytes.len();
            if section && Text::of(&bytes[tail.clone()]).before_header == Some(Distrust::P11Kit) {
                mark_last(&mut content, Distrust::P11Kit);
            }
            der_between(bytes, tail, Encoding::DerInPem, &mut lines, &mut content);
        }
    }
    if content.certificates.is_empty() {
        if !pem && let Some(certificates) = pkcs7::certificates(bytes) {
            content.others.push(OtherBlock {
                label: Label::Pkcs7,
                label_text: "PKCS7".to_owned(),
                span: 0..bytes.len(),
                line: 1,
                base64: true,
                kind: OtherKind::Pkcs7 { certificates },
            });
        }
        content.certificates = from_pkcs7(&content.others);
    }
    if content.certificates.is_empty() {
        content.shape = Some(shape(bytes, &content));
    }
    content.plain = content.others.is_empty()
        && content.certificates.iter().all(is_plain)
        && is_plain_text(bytes, &content);
    content
}

/// Whether nothing in the text between the blocks is a line end, or the beginning of a boundary, to some reader alone.
fn is_plain_text(bytes: &[u8], content: &Content) -> bool {
    let boundaries = |word: &[u8]| memchr::memmem::find_iter(bytes, word).count();
    memchr::memchr(b'\r', bytes).is_none()
        && boundaries(b"-----BEGIN") == content.certificates.len()
        && boundaries(b"-----END") == content.certificates.len()
}

fn is_plain(found: &Found) -> bool {
    found.encoding == Encoding::Pem(Label::Certificate)
        && found.noise.without(Noise::NO_FINAL_NEWLINE).is_none()
        && found.defects.is_empty()
        && found.trailing == 0
        && found.trust.is_none()
        && !found.ber
}

/// The certificates of a file that is nothing but PKCS#7: it was named for them.
fn from_pkcs7(others: &[OtherBlock]) -> Vec<Found> {
    let mut out = Vec::new();
    for block in others {
        let OtherKind::Pkcs7 { certificates } = &block.kind else { continue };
        out.extend(certificates.iter().map(|der| Found {
            fingerprint: der.fingerprint(),
            encoding: Encoding::Pkcs7,
            span: block.span.clone(),
            line: block.line,
            trust: None,
            defects: Vec::new(),
            noise: Noise::NONE,
            trailing: 0,
            ber: false,
            raw: None,
            distrust: None,
            comment: None,
            der: der.clone(),
        }));
    }
    out
}

/// Counts lines while offsets go forward.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn of(&mut self, offset: usize) -> usize {
        self.line += memchr::memchr_iter(b'\n', &self.bytes[self.at..offset]).count();
        self.at = offset;
        self.line
    }
}

/// Certificates in DER between PEM blocks (or in a file of DER).
fn der_between(
    bytes: &[u8],
    range: Range<usize>,
    encoding: Encoding,
    lines: &mut Lines<'_>,
    content: &mut Content,
) {
    let mut at = range.start;
    let mut tries = 64_usize;
    while let Some(found) = memchr::memchr(tag::SEQUENCE, &bytes[at..range.end]) {
        let start = at + found;
        at = start + 1;
        // '0' is text nearly always; a certificate is longer than 127 bytes, so that a long length follows.
        if !matches!(bytes.get(at), Some(0x80..=0x84)) {
            continue;
        }
        // Each try of an indefinite length may walk to the end of the file.
        let indefinite = bytes[at] == 0x80;
        if indefinite && tries == 0 {
            continue;
        }
        let Ok(reading) = CertificateDer::read(&bytes[start..range.end]) else {
            tries -= usize::from(indefinite);
            continue;
        };
        let end = start + reading.length;
        let fingerprint = reading.der.fingerprint();
        content.certificates.push(Found {
            fingerprint,
            encoding,
            span: start..end,
            line: lines.of(start),
            trust: None,
            defects: Vec::new(),
            noise: Noise::NONE,
            trailing: 0,
            ber: !reading.minimal,
            raw: None,
            distrust: None,
            comment: None,
            der: reading.der.into_owned(),
        });
        at = end;
    }
    if encoding == Encoding::Der
        && let Some(last) = content.certificates.last_mut()
    {
        last.trailing = range.end - last.span.end;
    }
}

fn one_block(bytes: &[u8], block: &Block, distrust: Option<Distrust>, content: &mut Content) {
    let label_text = || String::from_utf8_lossy(&bytes[block.label_span()]).into_owned();
    let other = |kind| OtherBlock {
        label: block.label(),
        label_text: label_text(),
        span: block.span(),
        line: block.line(),
        base64: true,
        kind,
    };
    let damaged = block.defects().iter().any(|defect| defect.kind.needs_guess());
    if let Label::PrivateKey(_) = block.label() {
        // The check alone: what is decoded is not kept.
        let base64 = !damaged && !decode(bytes, block).der.is_empty();
        content.others.push(OtherBlock { base64, ..other(OtherKind::PrivateKey) });
        return;
    }
    if !block.label().is_certificate() {
        let body = decode(bytes, block);
        let kind = if damaged || body.der.is_empty() {
            let defects = block.defects().iter().copied().chain(body.defects).collect();
            OtherKind::Malformed { defects, guess: None }
        } else {
            match block.label() {
                Label::Crl => OtherKind::Crl {
                    issuer_hash: crl_issuer(&body.der).and_then(name_hash::subject_hash),
                    issuer_hash_old: crl_issuer(&body.der).map(name_hash::subject_hash_old),
                    fingerprint: Fingerprint::of(&body.der),
                },
                Label::Pkcs7 => pkcs7::certificates(&body.der)
                    .filter(|certificates| !certificates.is_empty())
                    .map_or(OtherKind::Other, |certificates| OtherKind::Pkcs7 { certificates }),
                _ => OtherKind::Other,
            }
        };
        content.others.push(other(kind));
        return;
    }
    if block.defects().iter().any(|defect| defect.kind.is_text() || defect.kind == DefectKind::MissingBegin) {
        content.others.push(other(OtherKind::Malformed { defects: block.defects().to_vec(), guess: None }));
        return;
    }
    let body = decode(bytes, block);
    let mut defects = block.defects().to_vec();
    defects.extend(body.defects);
    let reading = if body.der.is_empty() { Err(DerError::Empty) } else { CertificateDer::read(&body.der) };
    if defects.iter().any(|defect| defect.kind.needs_guess()) {
        // A guess has no trust attributes: where the block has some, or may have lost them, there is none.
        let plain = |reading: &crate::certificate::Reading<'_>| {
            block.label() != Label::TrustedCertificate && reading.length == body.der.len()
        };
        let guess = reading.ok().filter(plain).map(|reading| reading.der.into_owned());
        content.others.push(other(OtherKind::Malformed { defects, guess }));
        return;
    }
    let reading = match reading {
        Ok(reading) => reading,
        Err(error) => {
            content.others.push(other(OtherKind::NotACertificate(error)));
            return;
        }
    };
    let mut trailing = body.der.len() - reading.length;
    let mut trust = None;
    // OpenSSL's directory look-up reads attributes behind a certificate whatever the label (PEM_read_bio_X509_AUX).
    if trailing > 0 {
        match TrustAttributes::read(&body.der[reading.length..]) {
            Ok(attributes) => {
                trailing -= attributes.der().len();
                trust = Some(attributes);
            }
            // Attributes that cannot be read may reject: never taken for none.
            Err(error) if block.label() == Label::TrustedCertificate => {
                content.others.push(other(OtherKind::NotACertificate(error)));
                return;
            }
            Err(_) => {}
        }
    }
    let odd = reading.length < body.der.len() || !reading.minimal;
    content.certificates.push(Found {
        fingerprint: reading.der.fingerprint(),
        encoding: Encoding::Pem(block.label()),
        span: block.span(),
        line: block.line(),
        trust,
        defects,
        noise: block.noise().with(body.noise),
        trailing,
        ber: !reading.minimal,
        distrust,
        comment: if content.keep_comments { comment(&bytes[block.preamble()]) } else { None },
        raw: (odd && block.label() == Label::Certificate).then(|| body.der.clone()),
        der: reading.der.into_owned(),
    });
}

/// What the text between two blocks says of them.
#[derive(Debug, Clone, Copy, Default)]
struct Text {
    /// Distrust before the first section header: it may still be about the block before.
    before_header: Option<Distrust>,
    /// Distrust behind the last section header, or anywhere where there is none: it is about the next block.
    last: Option<Distrust>,
    /// Whether the last section header is p11-kit's; `None` without a header.
    section: Option<bool>,
}

impl Text {
    fn of(text: &[u8]) -> Self {
        let mut out = Self::default();
        // Most preambles are a line end.
        if text.len() < 12 {
            return out;
        }
        for line in text.split(|&byte| byte == b'\n') {
            let line = line.trim_ascii();
            if line.starts_with(b"[") {
                out.section = Some(line.starts_with(b"[p11-kit-object-"));
                out.last = None;
                continue;
            }
            let Some(distrust) = distrust(line) else { continue };
            out.last = out.last.or(Some(distrust));
            if out.section.is_none() {
                out.before_header = out.before_header.or(Some(distrust));
            }
        }
        out
    }
}

/// Whether a line of text distrusts.
fn distrust(line: &[u8]) -> Option<Distrust> {
    // Bundles with text dumps have many lines: none is copied.
    let starts = |text: &[u8], mark: &[u8]| {
        text.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark))
    };
    if let Some(comment) = line.strip_prefix(b"#") {
        let comment = comment.trim_ascii();
        let marks = [&b"explicitly distrust"[..], b"distrusted"];
        marks.iter().any(|mark| starts(comment, mark)).then_some(Distrust::Comment)
    } else if starts(line, P11_KIT_DISTRUSTED) {
        line[P11_KIT_DISTRUSTED.len()..]
            .trim_ascii()
            .eq_ignore_ascii_case(b"true")
            .then_some(Distrust::P11Kit)
    } else {
        None
    }
}

/// The attribute of p11-kit's persistent form that distrusts.
const P11_KIT_DISTRUSTED: &[u8] = b"x-distrusted:";

/// The certificate of the block before is distrusted by what stands behind it.
fn mark_last(content: &mut Content, distrust: Distrust) {
    if let Some(last) = content.certificates.last_mut() {
        last.distrust = last.distrust.or(Some(distrust));
    }
}

/// The comment lines (`# ...`) of the text between two blocks.
fn comment(preamble: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(preamble);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| line.starts_with('#')).collect();
    if lines.is_empty() { None } else { Some(lines.join("\n")) }
}

/// What a keystore starts with.
fn keystore(bytes: &[u8]) -> Option<Keystore> {
    match bytes.get(..4)? {
        [0xFE, 0xED, 0xFE, 0xED] => return Some(Keystore::Jks),
        [0xCE, 0xCE, 0xCE, 0xCE] => return Some(Keystore::Jceks),
        _ => {}
    }
    // PFX ::= SEQUENCE { version INTEGER (3), authSafe ContentInfo, ... } (RFC 7292 section 4)
    let mut pfx = Reader::new(der::content(bytes).ok().filter(|_| bytes[0] == tag::SEQUENCE)?);
    let version = pfx.expect(tag::INTEGER).ok()?;
    (version.content == [3] && pfx.peek() == Some(tag::SEQUENCE)).then_some(Keystore::Pkcs12)
}

/// The issuer of a CRL (RFC 5280 section 5.1), whole.
#[must_use]
pub fn crl_issuer(der: &[u8]) -> Option<&[u8]> {
    let list = Reader::new(der::content(der).ok()?).expect(tag::SEQUENCE).ok()?;
    let mut tbs = Reader::new(list.content);
    tbs.optional(tag::INTEGER).ok()?;
    tbs.expect(tag::SEQUENCE).ok()?;
    Some(tbs.expect(tag::SEQUENCE).ok()?.raw)
}

fn shape(bytes: &[u8], content: &Content) -> Shape {
    let malformed = |kind: DefectKind| {
        content.others.iter().any(|block| match &block.kind {
            OtherKind::Malformed { defects, .. } => defects.iter().any(|defect| defect.kind == kind),
            _ => false,
        })
    };
    if let Some(kind) = keystore(bytes) {
        return Shape::Keystore(kind);
    }
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start();
    if text.is_empty() {
        return Shape::Empty;
    }
    if malformed(DefectKind::EscapedNewline) {
        return Shape::EscapedNewlines;
    }
    if !content.others.is_empty() {
        let keys = content.others.iter().all(|block| matches!(block.kind, OtherKind::PrivateKey));
        let bad = content.others.iter().any(|block| {
            block.label.is_certificate()
                && matches!(block.kind, OtherKind::Malformed { .. } | OtherKind::NotACertificate(_))
        });
        return if bad {
            Shape::OnlyMalformed
        } else if keys {
            Shape::OnlyKeys
        } else {
            Shape::OnlyOtherBlocks
        };
    }
    let wide = bytes.len() > 3 && (bytes[0] == 0 && bytes[2] == 0 || bytes[1] == 0 && bytes[3] == 0);
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) || wide {
        return Shape::Utf16;
    }
    // Base64 of "-----BEGIN", at each of the three alignments that base64 has.
    if ["LS0tLS1CRUdJT", "0tLS0tQkVHSU", "tLS0tLUJFR0lO"]
        .iter()
        .any(|text| memchr::memmem::find(bytes, text.as_bytes()).is_some())
    {
        return Shape::DoubleBase64;
    }
    let start = text[..text.len().min(256)].to_ascii_lowercase();
    if start.starts_with(b"<")
        && [&b"<html"[..], b"<!doctype html", b"<head", b"<body"]
            .iter()
            .any(|mark| memchr::memmem::find(&start, mark).is_some())
    {
        return Shape::Html;
    }
    if memchr::memchr(0, &bytes[..bytes.len().min(4096)]).is_some() { Shape::Binary } else { Shape::Text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_what_is_no_bundle() {
        for (bytes, expected) in [
            (&b""[..], Shape::Empty),
            (b"\xEF\xBB\xBF \n", Shape::Empty),
            (b"# nothing here\n", Shape::Text),
            (b"<!DOCTYPE html><html>", Shape::Html),
            (b"\xFF\xFE-\0-\0", Shape::Utf16),
            (b"-\0-\0-\0", Shape::Utf16),
            (b"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==", Shape::DoubleBase64),
            (b"\x00\x01\x02\x03\x04", Shape::Binary),
            (b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", Shape::OnlyKeys),
            (b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", Shape::OnlyOtherBlocks),
            (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", Shape::OnlyMalformed),
            (b"-----BEGIN CERTIFICATE-----\\nAAAA\\n-----END CERTIFICATE-----\\n", Shape::EscapedNewlines),
        ] {
            assert_eq!(read(bytes).shape, Some(expected), "{bytes:?}");
        }
    }

    #[test]
    fn a_private_key_is_not_decoded() {
        let content = read(b"-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n");
        assert!(matches!(content.others[0].kind, OtherKind::PrivateKey));
    }
}
