//! `audit --format ndjson`: a row for each occurrence, with the names and values of the JSON report, and a row for each
//! block that gives no certificate.
#![allow(clippy::disallowed_methods, reason = "tests write files")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;
use support::der::Certificate;

fn audit(folder: &Path, format: &str, arguments: &[&str]) -> Vec<Value> {
    let output = support::castore()
        .current_dir(folder)
        .args(["audit", "--at", "2026-01-01", "--format", format])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    if format == "json" {
        return vec![serde_json::from_str(&text).unwrap()];
    }
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A bundle with a copy, a damaged block between, and a directory with a link.
fn store(folder: &Path) {
    let (alpha, bravo) = (Certificate::root("Alpha", 1), Certificate::root("Bravo", 2));
    let broken = alpha.pem().replace("-----END CERTIFICATE-----", "-----END TRUSTED CERTIFICATE-----");
    fs::write(folder.join("ca.pem"), [alpha.pem(), broken, bravo.pem(), alpha.pem()].concat()).unwrap();
    fs::create_dir(folder.join("certs")).unwrap();
    fs::write(folder.join("certs/bravo.pem"), bravo.pem()).unwrap();
    let view = support::openssl_view(bravo.pem().as_bytes()).unwrap();
    std::os::unix::fs::symlink("bravo.pem", folder.join(format!("certs/{}.0", view.subject_hash))).unwrap();
}

#[test]
fn a_row_for_each_occurrence_and_each_block() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    store(folder.path());
    let labels = ["--label", "host=h1", "--label", "role=a=b", "ca.pem", "certs"];
    let rows = audit(folder.path(), "ndjson", &labels);
    let report = audit(folder.path(), "json", &labels).remove(0);

    let read: Vec<&Value> = rows.iter().filter(|row| !row["sha256"].is_null()).collect();
    assert_eq!(read.len() as u64, report["summary"]["occurrences"].as_u64().unwrap());
    let places: Vec<_> =
        read.iter().map(|row| (row["path"].as_str().unwrap(), row["line"].as_u64().unwrap())).collect();
    let lines = Certificate::root("Alpha", 1).pem().lines().count() as u64;
    assert_eq!(places[0], ("ca.pem", 1));
    assert_eq!(places.last(), Some(&("certs/bravo.pem", 1)));
    // The second copy names the first, whichever file it stands in.
    let dups: BTreeMap<_, _> =
        places.iter().zip(&read).map(|(place, row)| (*place, row["dup_of"].clone())).collect();
    let bravo_line = 2 * lines + 1;
    assert_eq!(dups[&("ca.pem", 1)], Value::Null);
    assert_eq!(dups[&("ca.pem", bravo_line)], Value::Null);
    assert_eq!(dups[&("ca.pem", 3 * lines + 1)], "ca.pem:1");
    assert_eq!(dups[&("certs/bravo.pem", 1)], format!("ca.pem:{bravo_line}"));

    let unread: Vec<&Value> = rows.iter().filter(|row| row["sha256"].is_null()).collect();
    assert_eq!(unread.len(), 1);
    assert_eq!(unread[0]["path"], "ca.pem");
    assert!(unread[0]["block_error"].as_str().unwrap().contains("another label"), "{}", unread[0]);

    for row in &rows {
        assert_eq!(row["labels"], serde_json::json!({ "host": "h1", "role": "a=b" }));
        let source = row["source"].as_str().unwrap();
        let digest = report["sources"].as_array().unwrap().iter().find(|one| one["path"] == source).unwrap();
        assert_eq!((&row["digest"], &row["kind"]), (&digest["digest"], &digest["kind"]));
        assert!(row["path"].as_str().unwrap().ends_with(row["path_in_source"].as_str().unwrap()));
    }
    // The same names, the same values.
    for row in read {
        let certificates = report["certificates"].as_array().unwrap();
        let certificate = certificates.iter().find(|one| one["sha256"] == row["sha256"]).unwrap();
        let fields = [
            "subject",
            "issuer",
            "serial",
            "not_before",
            "not_after",
            "validity",
            "signature",
            "ca",
            "self_issued",
        ];
        for field in
            fields.into_iter().chain(["subject_hash", "subject_hash_old", "spki_sha256", "parse_error"])
        {
            assert_eq!(row[field], certificate[field], "{field}");
        }
        assert_eq!(row["key_algorithm"], certificate["key"]["algorithm"]);
        assert_eq!(row["key_bits"], certificate["key"]["bits"]);
        let occurrences = certificate["occurrences"].as_array().unwrap();
        let place = |one: &&Value| one["path"] == row["path"] && one["offset"] == row["offset"];
        let occurrence = occurrences.iter().find(place).unwrap();
        for field in ["line", "length", "label", "trust", "reachable_as"] {
            assert_eq!(row[field], occurrence[field], "{field}");
        }
    }
}

#[test]
fn labels_are_checked_and_told_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.pem"), Certificate::root("Alpha", 1).pem()).unwrap();
    for bad in ["host", "=h1", ""] {
        let output = support::castore().args(["audit", "--label", bad, "a.pem"]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{bad:?}");
    }
    let arguments = ["audit", "--at", "2026-01-01", "--label", "host=\u{1b}[31m", "a.pem"];
    let text = support::castore().current_dir(folder.path()).args(arguments).output().unwrap().stdout;
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("labels host=\\x1b[31m") && !text.contains('\u{1b}'), "{text}");
    let report = audit(folder.path(), "json", &["--label", "host=h1", "a.pem"]).remove(0);
    assert_eq!(report["labels"], serde_json::json!({ "host": "h1" }));
}
