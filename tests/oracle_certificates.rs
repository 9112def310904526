//! Every certificate of the stock store, of each certifi and of cryptography-vectors: `castore audit` says of it what
//! `openssl x509` says, and both see the same certificates. Where they differ on purpose, a table says why.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use support::{OpensslView, in_two_threads};

/// "Now": nothing here depends on it.
const NOW: &str = "2026-11-30";

/// What castore says otherwise than OpenSSL: file below the directory of the vectors, number of the block in it, what
/// differs, why. An entry that does not come true any more fails as well.
const DEVIATIONS: &[(&str, usize, &str, &str)] = &[
    (
        "custom/invalid_utf8_common_name.pem",
        0,
        "refused",
        "OpenSSL refuses names that are no UTF-8; castore counts and keeps what it refuses, without a hash",
    ),
    (
        "custom/long-form-name-attribute.pem",
        0,
        "refused",
        "OpenSSL refuses values of a type that no name may have (here tag 7F20); counted and kept, without a hash",
    ),
];

/// `castore audit --format json PATH`.
fn audit(path: &Path) -> Value {
    let output = support::castore()
        .args(["audit", "--format", "json", "--at", NOW])
        .arg(path)
        .output()
        .expect("castore starts");
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}: {}",
        path.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

/// A field that may be `null`.
fn perhaps(value: &Value) -> Option<String> {
    (!value.is_null()).then(|| text(value))
}

fn rows(report: &Value) -> &Vec<Value> {
    report["certificates"].as_array().expect("certificates is a list")
}

/// A row of castore's report in the form of OpenSSL's answer.
fn as_view(row: &Value) -> OpensslView {
    OpensslView {
        sha256: text(&row["sha256"]),
        subject_hash: perhaps(&row["subject_hash"]).unwrap_or_default(),
        subject_hash_old: text(&row["subject_hash_old"]),
        start_date: perhaps(&row["not_before"]),
        end_date: perhaps(&row["not_after"]),
        subject: text(&row["subject"]),
        issuer: text(&row["issuer"]),
        serial: text(&row["serial"]),
    }
}

/// The occurrences of one file in its order: offset, length and row.
fn occurrences<'a>(report: &'a Value, path: &Path) -> Vec<(u64, u64, &'a Value)> {
    let mut found: Vec<(u64, u64, &Value)> = rows(report)
        .iter()
        .flat_map(|row| row["occurrences"].as_array().expect("a list").iter().map(move |place| (row, place)))
        .filter(|(_, place)| Path::new(&text(&place["path"])) == path)
        .map(|(row, place)| {
            (place["offset"].as_u64().expect("a number"), place["length"].as_u64().expect("a number"), row)
        })
        .collect();
    found.sort_by_key(|(offset, ..)| *offset);
    found
}

/// Names and values of the fields in which two answers differ.
fn differing_fields(openssl: &OpensslView, castore: &OpensslView) -> Vec<(&'static str, String)> {
    let optional = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    [
        ("sha256", openssl.sha256.clone(), castore.sha256.clone()),
        ("subject_hash", openssl.subject_hash.clone(), castore.subject_hash.clone()),
        ("subject_hash_old", openssl.subject_hash_old.clone(), castore.subject_hash_old.clone()),
        ("not_before", optional(&openssl.start_date), optional(&castore.start_date)),
        ("not_after", optional(&openssl.end_date), optional(&castore.end_date)),
        ("subject", openssl.subject.clone(), castore.subject.clone()),
        ("issuer", openssl.issuer.clone(), castore.issuer.clone()),
        ("serial", openssl.serial.clone(), castore.serial.clone()),
    ]
    .into_iter()
    .filter(|(_, openssl, castore)| openssl != castore)
    .map(|(name, openssl, castore)| (name, format!("openssl {openssl:?}, castore {castore:?}")))
    .collect()
}

/// A block of a PEM file, or a whole file, with its place in it.
struct Piece {
    bytes: Vec<u8>,
    pem: bool,
    span: std::ops::Range<u64>,
}

impl Piece {
    fn view(&self) -> Result<OpensslView, String> {
        if self.pem { support::openssl_view(&self.bytes) } else { support::openssl_view_der(&self.bytes) }
    }
}

/// What OpenSSL is asked about: each certificate block of a PEM file; the whole of any other file.
fn pieces(bytes: &[u8]) -> Vec<Piece> {
    if memchr::memmem::find(bytes, b"-----BEGIN ").is_none() {
        return vec![Piece { bytes: bytes.to_owned(), pem: false, span: 0..bytes.len() as u64 }];
    }
    let mut from = 0;
    support::certificate_blocks(bytes)
        .into_iter()
        .map(|block| {
            // Without its last newline, which the factory of blocks may have added.
            let body = block.trim_ascii_end();
            let start = from + memchr::memmem::find(&bytes[from..], body).expect("the block is in the file");
            from = start + body.len();
            Piece { span: start as u64..from as u64, bytes: block, pem: true }
        })
        .collect()
}

/// All differences between the two in one file: block, field, both values. `seen` counts what both agree on entirely.
fn compare(path: &Path, openssl_in_threads: bool, seen: &mut usize) -> Vec<(usize, String, String)> {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let pieces = pieces(&bytes);
    let views: Vec<Result<OpensslView, String>> = if openssl_in_threads {
        in_two_threads(&pieces, |_, piece| piece.view())
    } else {
        pieces.iter().map(Piece::view).collect()
    };
    let report = audit(path);
    let mut castore: BTreeMap<u64, (u64, OpensslView)> = BTreeMap::new();
    for (offset, length, row) in occurrences(&report, path) {
        castore.insert(offset, (length, as_view(row)));
    }
    let mut differences = Vec::new();
    for (number, (piece, view)) in pieces.iter().zip(views).enumerate() {
        // An indented block starts behind its blanks; nothing here is.
        match (view, castore.remove(&piece.span.start)) {
            (Ok(view), Some((length, own))) => {
                let mut fields: Vec<_> = differing_fields(&view, &own)
                    .into_iter()
                    .map(|(field, values)| (number, field.to_owned(), values))
                    .collect();
                if piece.pem && length != piece.span.end - piece.span.start {
                    fields.push((
                        number,
                        "length".into(),
                        format!("castore {length}, block {:?}", piece.span),
                    ));
                }
                *seen += usize::from(fields.is_empty());
                differences.append(&mut fields);
            }
            (Ok(view), None) => differences.push((number, "missed".into(), format!("openssl {view:?}"))),
            (Err(complaint), Some((_, own))) => {
                // Nobody looks up what OpenSSL cannot load.
                assert_eq!(own.subject_hash, "", "{}, block {number}", path.display());
                differences.push((
                    number,
                    "refused".into(),
                    format!("openssl {complaint:?}, castore {own:?}"),
                ));
            }
            (Err(_), None) => {}
        }
    }
    for (offset, (_, own)) in castore {
        differences.push((usize::MAX, "extra".into(), format!("castore, at {offset}: {own:?}")));
    }
    differences
}

/// Fails unless a well-formed bundle gives no difference, and every certificate of it was compared.
fn assert_equal(path: &Path) {
    let mut seen = 0;
    let differences = compare(path, true, &mut seen);
    assert!(differences.is_empty(), "{}: {differences:#?}", path.display());
    let blocks = support::certificate_blocks(&fs::read(path).expect("the file can be read")).len();
    assert!(blocks > 100, "{}: {blocks} certificates make no bundle", path.display());
    assert_eq!(seen, blocks, "{}", path.display());
}

fn files_below(directory: &Path, files: &mut Vec<PathBuf>) {
    for name in support::names_in(directory) {
        let path = directory.join(name);
        if path.is_dir() { files_below(&path, files) } else { files.push(path) }
    }
}

#[test]
fn stock_bundle() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let Some(store) = support::stock_store() else { return };
    assert_equal(&store.join("ca-certificates.crt"));
}

/// The directory as a whole: each member's certificate is what OpenSSL reads in that file, and is reachable by exactly
/// the links that lead to it.
#[test]
fn stock_directory() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let Some(store) = support::stock_store() else { return };
    let report = audit(&store);
    let mut links: BTreeMap<OsString, BTreeSet<String>> = BTreeMap::new();
    let mut members = Vec::new();
    for name in support::names_in(&store) {
        if name.as_bytes().ends_with(b".pem") {
            members.push(name);
        } else if name != "ca-certificates.crt" {
            let target = fs::read_link(store.join(&name)).expect("everything else is a hash link");
            links
                .entry(target.into_os_string())
                .or_default()
                .insert(name.into_string().expect("a hash link"));
        }
    }
    assert!(members.len() > 100, "{} members", members.len());
    let views = in_two_threads(&members, |_, name| {
        support::openssl_view(&fs::read(store.join(name)).expect("a member")).expect("OpenSSL reads a member")
    });
    for (name, view) in members.iter().zip(views) {
        let found = occurrences(&report, &store.join(name));
        assert_eq!(found.len(), 1, "{name:?}");
        let row = found[0].2;
        assert_eq!(as_view(row), view, "{name:?}");
        let place = row["occurrences"]
            .as_array()
            .expect("a list")
            .iter()
            .find(|place| Path::new(&text(&place["path"])) == store.join(name));
        let reachable: BTreeSet<String> =
            place.expect("just found")["reachable_as"].as_array().expect("a list").iter().map(text).collect();
        assert_eq!(Some(&reachable), links.get(name), "{name:?}");
    }
    // Nothing beside what OpenSSL was asked about.
    let bundle = support::bundle_fingerprints(&store.join("ca-certificates.crt"));
    let all: BTreeSet<String> = rows(&report).iter().map(|row| text(&row["sha256"])).collect();
    let expected: BTreeSet<String> = members
        .iter()
        .map(|name| {
            let blocks = support::certificate_blocks(&fs::read(store.join(name)).expect("a member"));
            support::sha256_hex(&support::block_der(&blocks[0]))
        })
        .chain(bundle)
        .collect();
    assert_eq!(all, expected);
}

#[test]
fn certifi() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    for (_, bundle) in support::certifi() {
        assert_equal(&bundle);
    }
}

#[test]
fn vectors() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let Some(vectors) = support::vectors() else { return };
    let mut files = Vec::new();
    files_below(&vectors, &mut files);
    let results = in_two_threads(&files, |_, path| {
        let mut seen = 0;
        let differences = compare(path, false, &mut seen);
        (seen, differences)
    });
    let mut agreed = 0;
    let mut expected: BTreeMap<(&str, usize, &str), &str> =
        DEVIATIONS.iter().map(|(file, block, what, reason)| ((*file, *block, *what), *reason)).collect();
    let mut unexpected = Vec::new();
    for (path, (seen, differences)) in files.iter().zip(&results) {
        agreed += seen;
        let name = path.strip_prefix(&vectors).expect("below").to_str().expect("an ASCII name");
        for (block, what, values) in differences {
            if expected.remove(&(name, *block, what.as_str())).is_none() {
                unexpected.push(format!("{name}, block {block}, {what}: {values}"));
            }
        }
    }
    assert!(unexpected.is_empty(), "{} differences:\n{}", unexpected.len(), unexpected.join("\n"));
    assert!(expected.is_empty(), "no difference any more: {expected:#?}");
    // PKITS alone holds 405 certificates.
    assert!(agreed > 500, "only {agreed} certificates were compared");
}

/// The digest of the public key, of every tenth certificate.
#[test]
fn public_keys() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let Some(store) = support::stock_store() else { return };
    let mut bundles = vec![store.join("ca-certificates.crt")];
    bundles.extend(support::certifi().into_iter().map(|(_, bundle)| bundle));
    for bundle in bundles {
        let report = audit(&bundle);
        let by_fingerprint: BTreeMap<String, &Value> =
            rows(&report).iter().map(|row| (text(&row["sha256"]), row)).collect();
        let blocks = support::certificate_blocks(&fs::read(&bundle).expect("the bundle"));
        let sample: Vec<Vec<u8>> = blocks.into_iter().step_by(10).collect();
        let digests = in_two_threads(&sample, |_, block| support::openssl_spki_sha256(block));
        for (block, digest) in sample.iter().zip(digests) {
            let row = by_fingerprint[&support::sha256_hex(&support::block_der(block))];
            assert_eq!(Some(text(&row["spki_sha256"])), digest, "{}: {}", bundle.display(), row["subject"]);
        }
    }
}

/// What `openssl x509 -text` says: name of the key's algorithm, bits, name of the signature's algorithm.
fn key_and_signature(pem: &[u8]) -> (String, u64, String) {
    let mut command = support::openssl_x509();
    let output = support::run_with_input(command.args(["-noout", "-text"]), pem);
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout);
    let behind = |mark: &str| {
        text.lines()
            .find_map(|line| line.trim_start().strip_prefix(mark))
            .unwrap_or_else(|| panic!("no {mark:?}"))
    };
    // 1.1.1 writes "RSA Public-Key: (2048 bit)".
    let bits = text.lines().find_map(|line| line.split_once("Public-Key: (")).expect("a size").1;
    let bits = bits.split(' ').next().and_then(|digits| digits.parse().ok()).expect("a number of bits");
    (behind("Public Key Algorithm: ").to_owned(), bits, behind("Signature Algorithm: ").to_owned())
}

#[test]
fn keys_and_signatures_of_the_stock_store() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let Some(store) = support::stock_store() else { return };
    let bundle = store.join("ca-certificates.crt");
    let report = audit(&bundle);
    let by_fingerprint: BTreeMap<String, &Value> =
        rows(&report).iter().map(|row| (text(&row["sha256"]), row)).collect();
    let blocks = support::certificate_blocks(&fs::read(&bundle).expect("the bundle"));
    let answers = in_two_threads(&blocks, |_, block| key_and_signature(block));
    for (block, (algorithm, bits, signature)) in blocks.iter().zip(answers) {
        let row = by_fingerprint[&support::sha256_hex(&support::block_der(block))];
        // castore names keys as people do; OpenSSL prints the names of the object identifiers.
        let algorithm = match algorithm.as_str() {
            "rsaEncryption" => "RSA",
            "id-ecPublicKey" => "EC",
            other => other,
        };
        assert_eq!(text(&row["key"]["algorithm"]), algorithm, "{}", row["subject"]);
        assert_eq!(row["key"]["bits"].as_u64(), Some(bits), "{}", row["subject"]);
        assert_eq!(text(&row["signature"]), signature, "{}", row["subject"]);
    }
}

/// No certificate of a real bundle is one that x509-parser refuses: each has a key, a signature and its kind.
#[test]
fn real_bundles_parse_entirely() {
    let Some(store) = support::stock_store() else { return };
    let mut bundles = vec![store.join("ca-certificates.crt")];
    bundles.extend(support::certifi().into_iter().map(|(_, bundle)| bundle));
    for bundle in bundles {
        for row in rows(&audit(&bundle)) {
            assert!(row["parse_error"].is_null(), "{}: {}", bundle.display(), row["subject"]);
            assert_eq!(row["ca"], Value::Bool(true), "{}: {}", bundle.display(), row["subject"]);
        }
    }
}
