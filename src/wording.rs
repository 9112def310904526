//! Names of things in words, safe to print: for messages, plans and reports alike.

use std::path::Path;

use crate::certificate::fingerprint::Fingerprint;
use crate::certificate::validity::rfc3339;
use crate::certificate::{CertificateDer, name};
use crate::escape::{visible, visible_path};
use crate::pem::scan::DefectKind;
use crate::readers::Reader;
use crate::readers::reading::Reason;
use crate::store::content::{OtherBlock, OtherKind};
use crate::store::model::Certificate;

/// What people call a certificate: CN, else OU, else O, else the whole subject, else the start of its fingerprint.
/// Escaped for print.
#[must_use]
pub fn called(certificate: &Certificate) -> String {
    called_by(&certificate.der, certificate.fingerprint)
}

/// The same, of a certificate that is in no store.
#[must_use]
pub fn called_by(der: &CertificateDer<'_>, fingerprint: Fingerprint) -> String {
    let fields = der.fields();
    let found = [name::COMMON_NAME, name::ORGANIZATIONAL_UNIT, name::ORGANIZATION]
        .iter()
        .find_map(|oid| name::find(fields.subject, oid).filter(|text| !text.trim().is_empty()));
    let text = found.unwrap_or_else(|| match name::to_rfc2253(fields.subject) {
        subject if subject.is_empty() => format!("sha256:{}", &fingerprint.to_string()[..16]),
        subject => subject,
    });
    visible(&text).into_owned()
}

/// The date of an instant.
#[must_use]
pub fn date(instant: i64) -> String {
    let mut text = rfc3339(instant);
    text.truncate(text.find('T').unwrap_or(text.len()));
    text
}

/// `1 certificate`, `2 certificates`.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A defect in words.
#[must_use]
pub fn defect(kind: DefectKind) -> String {
    match kind {
        DefectKind::MissingEnd => "no END boundary before the next BEGIN or the end of the file".into(),
        DefectKind::MissingBegin => "an END boundary without a BEGIN".into(),
        DefectKind::StrayEnd => "an END boundary that ends nothing".into(),
        DefectKind::LabelMismatch => "END names another label than BEGIN".into(),
        DefectKind::GluedBoundary => "END and BEGIN on one line".into(),
        DefectKind::QuotedBoundary => "a BEGIN boundary quoted in a line of text".into(),
        DefectKind::BlankLine => "a blank line inside the base64".into(),
        DefectKind::Header => "a header (Name: value) inside the block".into(),
        DefectKind::BareCarriageReturn => "carriage returns alone as line ends".into(),
        DefectKind::BadBase64(byte @ 0x21..=0x7E) => format!("'{}' is not base64", char::from(byte)),
        DefectKind::BadBase64(byte) => format!("byte {byte:02x} is not base64"),
        DefectKind::BadPadding => "the base64 has the wrong length or padding".into(),
        DefectKind::EscapedNewline => "newlines written as \\n, as in JSON or an environment variable".into(),
        DefectKind::Empty => "nothing between BEGIN and END".into(),
    }
}

/// What is wrong with a block that gives no certificate.
#[must_use]
pub fn block_defects(block: &OtherBlock) -> String {
    let what = match &block.kind {
        OtherKind::Malformed { defects, .. } => {
            defects.iter().map(|found| defect(found.kind)).collect::<Vec<_>>().join(", ")
        }
        OtherKind::NotACertificate(error) => format!("no certificate: {error}"),
        OtherKind::PrivateKey => "a private key".into(),
        OtherKind::Pkcs7 { .. } => "a PKCS#7 message".into(),
        OtherKind::Crl { .. } => "a CRL".into(),
        OtherKind::Other => "no certificate".into(),
    };
    format!("{} block: {what}", block.label)
}

/// `path:line: what is wrong`.
#[must_use]
pub fn block_place(path: &Path, block: &OtherBlock) -> String {
    format!("{}:{}: {}", visible_path(path), block.line, block_defects(block))
}

/// Readers in a row: `OpenSSL 3.0 and GnuTLS`.
#[must_use]
pub fn readers(readers: &[Reader]) -> String {
    let titles: Vec<&str> = readers.iter().map(|reader| reader.title()).collect();
    match titles.as_slice() {
        [] => "no library".to_owned(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Who stumbles over what: `OpenSSL 3.0 (serial number: ...), GnuTLS (...)`, one reason for those that share it.
#[must_use]
pub fn refusals(by: &[(Reader, Reason)]) -> String {
    let mut groups: Vec<(Reason, Vec<Reader>)> = Vec::new();
    for (reader, reason) in by {
        match groups.iter_mut().find(|(known, _)| known == reason) {
            Some((_, readers)) => readers.push(*reader),
            None => groups.push((*reason, vec![*reader])),
        }
    }
    let words = groups.iter().map(|(reason, by)| format!("{} ({reason})", readers(by)));
    words.collect::<Vec<_>>().join(", ")
}
