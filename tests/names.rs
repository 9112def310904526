//! Subject hashes and the text of names, against values that the real `openssl` gave: `fixtures/names/names.json`,
//! written by `fixtures/names/make.py` (`make.py --check` compares it with the openssl at hand).
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads its golden values from a file"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use castore::certificate::name::to_rfc2253;
use castore::openssl::name_hash::{subject_hash, subject_hash_old};
use serde::Deserialize;

/// Rows whose text castore writes otherwise, on purpose: it knows the names of attribute types, not of all the
/// thousand objects that OpenSSL has names for, and it does not cut a long type off after 79 characters.
const OTHER_TEXT: &[&str] = &[
    "attribute/oid-of-an-extension",
    "attribute/oid-of-a-purpose",
    "attribute/oid-of-an-algorithm",
    "attribute/oid-one-octet",
    "attribute/oid-two-arcs",
    "attribute/oid-of-40-arcs",
];

/// One name, and what openssl makes of it: nothing where it refuses the certificate.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    row: String,
    subject_der_hex: String,
    subject_hash: Option<String>,
    subject_hash_old: Option<String>,
    subject_text: Option<String>,
}

impl Row {
    fn subject(&self) -> Vec<u8> {
        let digits = self.subject_der_hex.as_bytes();
        assert!(digits.len().is_multiple_of(2), "{}", self.row);
        digits
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }
}

fn rows() -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/names/names.json");
    serde_json::from_slice(&fs::read(path).unwrap()).expect("fixtures/names/names.json")
}

/// Compares what two sides say of each row, and lists every difference.
fn compare(openssl: impl Fn(&Row) -> Option<String>, castore: impl Fn(&Row) -> Option<String>) {
    let rows = rows();
    let mut table = String::new();
    let mut differences = 0;
    for row in &rows {
        let (theirs, ours) = (openssl(row), castore(row));
        if theirs != ours {
            differences += 1;
            let [theirs, ours] = [theirs, ours].map(|side| side.unwrap_or_else(|| "(refused)".to_owned()));
            writeln!(table, "{:40}  openssl {theirs}\n{:40}  castore {ours}", row.row, "").unwrap();
        }
    }
    assert_eq!(differences, 0, "of {} names:\n{table}", rows.len());
}

#[test]
fn subject_hashes_are_those_of_openssl() {
    compare(
        |row| row.subject_hash.clone(),
        |row| subject_hash(&row.subject()).map(|hash| format!("{hash:08x}")),
    );
}

#[test]
fn old_subject_hashes_are_those_of_openssl() {
    compare(
        |row| row.subject_hash_old.clone(),
        // Where openssl refuses the certificate there is nothing to compare with.
        |row| row.subject_hash_old.as_ref().map(|_| format!("{:08x}", subject_hash_old(&row.subject()))),
    );
}

#[test]
fn texts_are_those_of_openssl() {
    let other = |row: &Row| OTHER_TEXT.contains(&row.row.as_str());
    compare(
        |row| row.subject_text.clone().filter(|_| !other(row)),
        |row| row.subject_text.as_ref().filter(|_| !other(row)).map(|_| to_rfc2253(&row.subject())),
    );
    for row in rows().iter().filter(|row| other(row)) {
        let text = to_rfc2253(&row.subject());
        assert!(text.ends_with("=#0C0178"), "{}: {text}", row.row);
        assert_ne!(Some(text), row.subject_text, "{} is as openssl writes it", row.row);
    }
}

#[test]
fn names_that_openssl_refuses_have_a_text() {
    for row in rows().iter().filter(|row| row.subject_text.is_none()) {
        let text = to_rfc2253(&row.subject());
        assert!(!text.is_empty(), "{}", row.row);
        assert!(!text.contains(char::is_control), "{}: {text:?}", row.row);
    }
}

#[test]
fn every_rule_of_the_hash_has_rows() {
    let rows = rows();
    let groups: BTreeSet<&str> = rows.iter().filter_map(|row| row.row.split('/').next()).collect();
    let expected = [
        "attribute",
        "blank",
        "bmp",
        "case",
        "empty",
        "latin1",
        "length",
        "nul",
        "rdn",
        "structure",
        "text",
        "type",
        "universal",
        "utf8",
    ];
    assert_eq!(groups, BTreeSet::from(expected));
    let names: BTreeSet<&str> = rows.iter().map(|row| row.row.as_str()).collect();
    assert_eq!(names.len(), rows.len(), "a row stands twice");
    assert!(rows.len() >= 120, "{} rows", rows.len());
}
