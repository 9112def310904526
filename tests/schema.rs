//! The JSON report is what `schema/castore.report-1.json` says, for every case, the stock store and the commands that
//! write; and the text report has no number that the JSON lacks.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that makes files and runs the program"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use support::cases::{self, Case, Class};

/// What counts as the present for the stock store: fixed, so that a run of next year gives the same report.
const AT: &str = "2026-01-01";

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/castore.report-1.json");
    serde_json::from_slice(&fs::read(path).unwrap()).expect("the schema is JSON")
}

fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&schema()).expect("the schema is one")
}

/// What the schema has against a report, at most three things.
fn complaints(validator: &jsonschema::Validator, report: &Value) -> Vec<String> {
    validator
        .iter_errors(report)
        .take(3)
        .map(|error| {
            let mut text = error.to_string();
            if text.len() > 200 {
                text = text.chars().take(200).collect::<String>() + "...";
            }
            format!("{}: {text}", error.instance_path())
        })
        .collect()
}

fn run(folder: &Path, arguments: &[OsString]) -> Output {
    support::castore().args(arguments).current_dir(folder).output().expect("castore starts")
}

fn arguments(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// The one JSON document that a run prints, which ends as it should.
fn report(folder: &Path, words: &[&str], status: i32) -> Value {
    let output = run(folder, &arguments(words));
    assert_eq!(output.status.code(), Some(status), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().unwrap_or_else(|| panic!("{field} is no list"))
}

fn number(value: &Value, field: &str) -> usize {
    value[field].as_u64().unwrap_or_else(|| panic!("{field} is no number: {}", value[field])) as usize
}

/// What no schema can say: ids lead to what they name, and the totals are those of the lists.
fn inconsistencies(report: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    for field in ["sources", "files"] {
        for (place, row) in list(report, field).iter().enumerate() {
            if number(row, "id") != place {
                wrong.push(format!("{field}/{place}: id {}", row["id"]));
            }
        }
    }
    let sources = list(report, "sources");
    let files = list(report, "files");
    for file in files {
        if number(file, "source") >= sources.len() {
            wrong.push(format!("file {} of a source that is not there", file["id"]));
        }
        if file["names"][0] != file["path"] {
            wrong.push(format!("file {}: its path is not its first name", file["id"]));
        }
        if file.get("path_bytes").is_some() && file.get("names_bytes").is_none() {
            wrong.push(format!("file {}: path_bytes without names_bytes", file["id"]));
        }
    }
    let mut occurrences = 0;
    let mut by_source: BTreeMap<usize, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for certificate in list(report, "certificates") {
        let sha256 = certificate["sha256"].as_str().unwrap();
        for occurrence in list(certificate, "occurrences") {
            occurrences += 1;
            let Some(file) = files.get(number(occurrence, "file")) else {
                wrong.push(format!("{sha256} in a file that is not there"));
                continue;
            };
            if file["path"] != occurrence["path"] || file.get("path_bytes") != occurrence.get("path_bytes") {
                wrong.push(format!("{sha256}: {} is not {}", occurrence["path"], file["path"]));
            }
            if number(occurrence, "offset") + number(occurrence, "length") > number(file, "bytes") {
                wrong.push(format!("{sha256}: ends behind the end of {}", file["path"]));
            }
            let entry = by_source.entry(number(file, "source")).or_default();
            entry.0 += 1;
            entry.1.insert(sha256);
        }
    }
    for source in sources {
        let found = by_source.remove(&number(source, "id")).unwrap_or_default();
        let said = (number(source, "certificates"), number(source, "unique"));
        if said != (found.0, found.1.len()) {
            wrong.push(format!(
                "{}: {said:?}, but {:?} stand there",
                source["path"],
                (found.0, found.1.len())
            ));
        }
    }
    let severity = |word: &str| {
        list(report, "findings")
            .iter()
            .filter(|row| row["severity"] == word && row["ignored"] == false)
            .count()
    };
    let expired = list(report, "certificates").iter().filter(|row| row["validity"] == "expired").count();
    let certificates = list(report, "certificates").len();
    for (field, expected) in [
        ("sources", sources.len()),
        ("files", files.len()),
        ("occurrences", occurrences),
        ("certificates", certificates),
        ("duplicates", occurrences - certificates),
        ("expired", expired),
        ("errors", severity("error")),
        ("warnings", severity("warning")),
        ("notices", severity("notice")),
        ("ignored", list(report, "findings").iter().filter(|row| row["ignored"] == true).count()),
    ] {
        if number(&report["summary"], field) != expected {
            wrong.push(format!("summary/{field} {}, expected {expected}", report["summary"][field]));
        }
    }
    wrong
}

/// The reports that the stock store gives: command and report.
fn stock_reports() -> Option<Vec<(String, Value)>> {
    let store = support::stock_store()?;
    let store = store.to_str().expect("a path of plain characters");
    let bundle = format!("{store}/ca-certificates.crt");
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let copy = folder.join("rehash");
    support::copy_tree(Path::new(store), &copy);
    let mut links = support::names_in(&copy);
    links.retain(|name| fs::symlink_metadata(copy.join(name)).unwrap().is_symlink());
    // Some links to make, one to take away.
    for name in links.iter().step_by(7) {
        fs::remove_file(copy.join(name)).unwrap();
    }
    std::os::unix::fs::symlink("nowhere.pem", copy.join("00000001.0")).unwrap();
    let copy = copy.to_str().unwrap();

    let json = ["--format", "json"];
    let at = ["--at", AT];
    let mut out = Vec::new();
    let mut add = |words: &[&str], status: i32| out.push((words.join(" "), report(folder, words, status)));
    add(&[&["audit", store], &json[..], &at].concat(), 0);
    add(&[&["audit", store, &bundle, copy], &json[..], &at].concat(), 0);
    let compact = [&["compact", store, "--bundle", "b.pem", "--capath", "d"], &json[..], &at].concat();
    add(&[&compact[..], &["--dry-run"]].concat(), 0);
    add(&[&compact[..], &["--check"]].concat(), 1);
    add(&compact, 0);
    add(&compact, 0);
    let rehash = [&["rehash", copy], &json[..]].concat();
    add(&[&rehash[..], &["--dry-run"]].concat(), 0);
    add(&[&rehash[..], &["--check"]].concat(), 1);
    add(&rehash, 0);
    add(&rehash, 0);
    Some(out)
}

#[test]
fn the_schema_holds_for_the_stock_store() {
    let Some(reports) = stock_reports() else { return };
    let validator = validator();
    for (command, report) in &reports {
        let wrong = [complaints(&validator, report), inconsistencies(report)].concat();
        assert!(wrong.is_empty(), "{command}: {}", wrong.join("\n"));
    }
    let changes = |index: usize| list(&reports[index].1, "changes").to_vec();
    // What is planned is what is done, whether or not it is.
    assert_eq!(changes(2), changes(3));
    assert_eq!(changes(2), changes(4));
    assert!(changes(4).iter().any(|change| change["action"] == "write"));
    assert!(changes(5).iter().all(|change| change["action"] != "write"), "the second run writes nothing");
    assert_eq!(changes(6), changes(8));
    assert!(changes(8).iter().any(|change| change["action"] == "link"));
    assert!(changes(9).iter().all(|change| change["action"] != "link"), "the second run links nothing");
}

#[test]
fn the_schema_holds_for_every_case() {
    let cases = cases::load();
    let stage = tempfile::tempdir().unwrap();
    let validator = validator();
    let results = support::in_two_threads(&cases.cases, |_, case| {
        let folder = stage.path().join(&case.id);
        cases::lay_out(case, &folder);
        try_case(case, &folder, &cases.now, &validator)
    });
    let wrong: Vec<String> = results.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn try_case(case: &Case, folder: &Path, now: &str, validator: &jsonschema::Validator) -> Vec<String> {
    let mut wrong = Vec::new();
    let paths: Vec<&str> = case.cafile.iter().chain(&case.capath).map(String::as_str).collect();
    let json = ["--format", "json"];
    let at = ["--at", now];
    let mut runs = vec![[&["audit"], &json[..], &at, &paths].concat()];
    // Both may refuse a case, with nothing printed. Outputs lie beside the inputs: a case is not read twice.
    for word in ["--dry-run", "--expired=keep"] {
        let outputs = ["--malformed", "repair", "--bundle", "out.pem", "--capath", "out", word];
        runs.push([&["compact"], &json[..], &at, &outputs, &paths].concat());
    }
    if let Some(capath) = &case.capath {
        runs.push([&["rehash", "--dry-run", capath], &json[..]].concat());
        runs.push([&["rehash", capath], &json[..]].concat());
    }
    for words in runs {
        let output = run(folder, &arguments(&words));
        let command = format!("{}: {}", case.id, words.join(" "));
        if output.stdout.is_empty() {
            let must = words[0] == "audit" && case.class != Class::CannotRead;
            if must || output.status.code() != Some(2) {
                wrong.push(format!("{command}: nothing printed, status {:?}", output.status.code()));
            }
            continue;
        }
        match serde_json::from_slice(&output.stdout) {
            Err(error) => wrong.push(format!("{command}: {error}")),
            Ok(report) => {
                let found = [complaints(validator, &report), inconsistencies(&report)].concat();
                wrong.extend(found.into_iter().map(|what| format!("{command}: {what}")));
            }
        }
    }
    wrong
}

/// The first object of each shape: of a list the first element that is an object, of an object all fields.
fn objects(value: &Value, pointer: String, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                objects(field, format!("{pointer}/{name}"), out);
            }
            out.push(pointer);
        }
        Value::Array(elements) => {
            if let Some(first) = elements.first() {
                objects(first, format!("{pointer}/0"), out);
            }
        }
        _ => {}
    }
}

#[test]
fn a_field_removed_renamed_added_or_of_another_type_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = support::der::Certificate::root("Root", 1);
    // With trust attributes, a link, a finding, a change and a cost.
    fs::create_dir(folder.path().join("d")).unwrap();
    fs::write(folder.path().join("d/a.pem"), root.pem()).unwrap();
    std::os::unix::fs::symlink("a.pem", folder.path().join("d/00000000.0")).unwrap();
    let trusted = support::der::Certificate::root("Other", 2)
        .trusted_pem(&[support::der::oids::SERVER_AUTH], &[support::der::oids::EMAIL_PROTECTION]);
    fs::write(folder.path().join("b.pem"), trusted + &root.pem() + &root.pem()).unwrap();
    let words = ["--format", "json", "--at", AT];
    let audit = report(folder.path(), &[&["audit", "b.pem", "d"], &words[..]].concat(), 0);
    let compact =
        report(folder.path(), &[&["compact", "b.pem", "--bundle", "c.pem", "-n"], &words[..]].concat(), 0);
    let mut whole = audit;
    whole["changes"] = compact["changes"].clone();

    let validator = validator();
    assert_eq!(complaints(&validator, &whole), Vec::<String>::new());
    let mut pointers = Vec::new();
    objects(&whole, String::new(), &mut pointers);
    for shape in ["", "/sources/0", "/files/0", "/certificates/0", "/certificates/0/key", "/links/0"] {
        assert!(pointers.iter().any(|pointer| pointer == shape), "{shape:?} is not in the example");
    }
    let trust = "/certificates/0/occurrences/0/trust";
    for shape in [trust, "/findings/0/occurrences/0", "/changes/0", "/cost/0/estimate", "/summary"] {
        assert!(pointers.iter().any(|pointer| pointer == shape), "{shape:?} is not in the example");
    }
    let mut accepted = Vec::new();
    for pointer in &pointers {
        let fields: Vec<String> =
            whole.pointer(pointer).unwrap().as_object().unwrap().keys().cloned().collect();
        let mut refuse = |what: String, change: &dyn Fn(&mut serde_json::Map<String, Value>)| {
            let mut changed = whole.clone();
            change(changed.pointer_mut(pointer).unwrap().as_object_mut().unwrap());
            if validator.is_valid(&changed) {
                accepted.push(format!("{pointer}: {what}"));
            }
        };
        refuse("a field more".to_owned(), &|object| {
            object.insert("a_field_more".to_owned(), Value::Null);
        });
        for field in &fields {
            refuse(format!("without {field}"), &|object| {
                object.remove(field);
            });
            refuse(format!("{field} renamed"), &|object| {
                let value = object.remove(field).unwrap();
                object.insert(format!("{field}_"), value);
            });
            refuse(format!("{field} of another type"), &|object| {
                object.insert(field.clone(), json!([[]]));
            });
        }
    }
    assert!(accepted.is_empty(), "the schema accepts\n{}", accepted.join("\n"));
}

#[test]
fn words_and_forms_that_are_not_the_contract_s_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = support::der::Certificate::root("Root", 1).pem();
    fs::write(folder.path().join("b.pem"), root.repeat(2)).unwrap();
    let words = ["audit", "--format", "json", "--at", AT, "b.pem"];
    let whole = report(folder.path(), &words, 0);
    let validator = validator();
    let mut accepted = Vec::new();
    for (pointer, bad) in [
        ("/schema", json!("castore.report/2")),
        ("/command", json!("remove")),
        ("/now", json!("2026-01-01")),
        ("/now", json!("2026-01-01T00:00:00+01:00")),
        ("/sources/0/kind", json!("cafile")),
        ("/sources/0/digest", json!("ABCD")),
        ("/certificates/0/sha256", json!("0".repeat(63))),
        ("/certificates/0/sha256", json!("A".repeat(64))),
        ("/certificates/0/serial", json!("123")),
        ("/certificates/0/serial", json!("0xff")),
        ("/certificates/0/validity", json!("fresh")),
        ("/certificates/0/subject_hash", json!("1234567")),
        ("/certificates/0/not_after", json!("soon")),
        ("/certificates/0/occurrences/0/line", json!(0)),
        ("/certificates/0/occurrences/0/label", json!("PRIVATE KEY")),
        ("/certificates/0/occurrences/0/label", json!("CMS")),
        ("/findings/0/id", json!("Two words")),
        ("/findings/0/id", json!("-word")),
        ("/findings/0/occurrences", json!([])),
        ("/findings/0/ignored", json!("yes")),
        ("/findings/0/severity", json!("fatal")),
        ("/cost/0/layout", json!("later")),
        ("/cost/0/per", json!("year")),
        ("/cost/0/estimate/milliseconds", json!(-1)),
        ("/summary/errors", json!(-1)),
        ("/summary/errors", json!(0.5)),
    ] {
        let mut changed = whole.clone();
        *changed.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}")) = bad.clone();
        if validator.is_valid(&changed) {
            accepted.push(format!("{pointer} {bad}"));
        }
    }
    assert!(accepted.is_empty(), "the schema accepts\n{}", accepted.join("\n"));
}

/// What no case of `fixtures/cases` has: other kinds of sources, accepted findings, an entry that matches nothing.
#[test]
fn the_schema_holds_for_other_files_and_for_what_is_ignored() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let roots = [1, 2].map(|seed| support::der::Certificate::root(&format!("Root {seed}"), seed).pem());
    fs::write(path("two.pem"), roots.concat()).unwrap();
    fs::write(path("copies.pem"), roots[0].repeat(2)).unwrap();
    for (form, name) in [("PEM", "message.pem"), ("DER", "message.p7b")] {
        let output = support::required("openssl")
            .args(["crl2pkcs7", "-nocrl", "-certfile", "two.pem", "-outform", form, "-out", name])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", support::complaint(&output));
    }
    let output = support::required("openssl")
        .args(["pkcs12", "-export", "-nokeys", "-in", "two.pem", "-passout", "pass:", "-out", "store.p12"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", support::complaint(&output));
    fs::write(path("cacerts"), [&[0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2, 0, 0, 0, 0][..], &[0; 20]].concat())
        .unwrap();
    fs::write(path("nothing.txt"), "nothing\n").unwrap();

    let validator = validator();
    let ignore = ["--ignore", "duplicate", "--ignore", "keystore:path:cacerts", "--ignore", "expired:path:x"];
    let paths =
        ["message.pem", "message.p7b", "store.p12", "cacerts", "nothing.txt", "two.pem", "copies.pem"];
    let words = [&["audit", "--format", "json", "--at", AT], &ignore[..], &paths].concat();
    let report = report(folder.path(), &words, 0);
    let wrong = [complaints(&validator, &report), inconsistencies(&report)].concat();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let kinds: Vec<&str> =
        list(&report, "sources").iter().map(|source| source["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["pkcs7", "pkcs7", "keystore", "keystore", "other", "bundle", "bundle"]);
    // A keystore is named, and not read.
    let counts: Vec<usize> =
        list(&report, "sources").iter().map(|source| number(source, "certificates")).collect();
    assert_eq!(counts, [2, 2, 0, 0, 0, 2, 2]);
    let labels: BTreeSet<&str> = list(&report, "certificates")
        .iter()
        .flat_map(|row| list(row, "occurrences"))
        .filter(|row| row["path"].as_str().unwrap().starts_with("message"))
        .map(|row| row["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, BTreeSet::from(["PKCS7"]));
    assert_eq!(number(&report["summary"], "ignored"), 2);
    let unused = list(&report, "findings").iter().find(|row| row["id"] == "unused-ignore");
    assert_eq!(unused.expect("an entry matches nothing")["occurrences"], json!([]));
}

#[test]
fn the_end_of_time_is_still_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut root = support::der::Certificate::root("Root", 1);
    root.not_before = support::der::generalized_time("00000101000000Z");
    root.not_after = support::der::generalized_time("99991231235959Z");
    fs::write(folder.path().join("b.pem"), root.pem()).unwrap();
    let validator = validator();
    let mut wrong = Vec::new();
    for at in ["0000-01-01", "9999-12-31", "9999-12-31T23:59:59Z"] {
        let words = ["audit", "--format", "json", "--at", at, "b.pem"];
        let report = report(folder.path(), &words, 0);
        wrong.extend(complaints(&validator, &report).into_iter().map(|what| format!("--at {at}: {what}")));
    }
    // Instants whose year in UTC has no four digits: refused as usage, or reported as a time, nothing else.
    for at in ["9999-12-31T23:59:59-01:00", "0000-01-01T00:00:00+01:00"] {
        let output = run(folder.path(), &arguments(&["audit", "--format", "json", "--at", at, "b.pem"]));
        if output.status.code() == Some(2) && output.stdout.is_empty() {
            continue;
        }
        let report = serde_json::from_slice(&output.stdout).unwrap();
        wrong.extend(complaints(&validator, &report).into_iter().map(|what| format!("--at {at}: {what}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn several_directories_give_one_document() {
    let folder = tempfile::tempdir().unwrap();
    for (name, seed) in [("one", 1), ("two", 2)] {
        fs::create_dir(folder.path().join(name)).unwrap();
        let root = support::der::Certificate::root(name, seed);
        fs::write(folder.path().join(name).join("a.pem"), root.pem()).unwrap();
    }
    let output = run(folder.path(), &arguments(&["rehash", "--format", "json", "one", "two"]));
    assert_eq!(output.status.code(), Some(0));
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("not one JSON document: {error}"));
    assert_eq!(complaints(&validator(), &report), Vec::<String>::new());
    assert_eq!(list(&report, "sources").len(), 2);

    // Of those that can be done, where one cannot; by other options.
    let several = ["rehash", "--format", "json", "--compat", "one", "gone", "two/a.pem", "two"];
    let output = run(folder.path(), &arguments(&several));
    assert_eq!(output.status.code(), Some(2));
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("not one JSON document: {error}"));
    assert_eq!(complaints(&validator(), &report), Vec::<String>::new());
    assert_eq!((list(&report, "sources").len(), list(&report, "changes").len()), (2, 2));
    // Of none there is no document.
    let output = run(folder.path(), &arguments(&["rehash", "--format", "json", "gone", "none"]));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}

// ---- The text and the JSON of one store ------------------------------------------------------------------------

/// The numbers in a text: runs of digits, with a fraction where there is one.
fn numbers(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut current = String::new();
    let characters: Vec<char> = text.chars().chain(['\n']).collect();
    for pair in characters.windows(2) {
        let (here, next) = (pair[0], pair[1]);
        let point = here == '.' && !current.is_empty() && !current.contains('.') && next.is_ascii_digit();
        if here.is_ascii_digit() || point {
            current.push(here);
        } else if !current.is_empty() {
            out.push(std::mem::take(&mut current));
        }
    }
    out.extend((!current.is_empty()).then_some(current));
    out
}

/// Every number that a report gives: as a number, inside a string, or as the length of a list.
fn numbers_of(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Number(number) => {
            out.insert(number.to_string());
            out.insert(format!("{:.2}", number.as_f64().unwrap()));
        }
        Value::String(text) => out.extend(numbers(text)),
        Value::Array(elements) => {
            out.insert(elements.len().to_string());
            elements.iter().for_each(|element| numbers_of(element, out));
        }
        Value::Object(fields) => fields.values().for_each(|field| numbers_of(field, out)),
        _ => {}
    }
}

/// `text` with the one number that follows `before`.
fn number_after(text: &str, before: &str) -> Option<usize> {
    let (_, rest) = text.split_once(before)?;
    numbers(rest).first()?.parse().ok()
}

#[test]
fn the_text_says_what_the_json_says() {
    let Some(store) = support::stock_store() else { return };
    let folder = tempfile::tempdir().unwrap();
    // Beside the stock store one with all kinds of trouble.
    let odd = folder.path().join("odd");
    fs::create_dir(&odd).unwrap();
    let bytes = fs::read(store.join("ca-certificates.crt")).unwrap();
    let blocks = support::certificate_blocks(&bytes);
    fs::write(odd.join("ca-certificates.crt"), [&blocks[..9].concat()[..], &blocks[..5].concat()].concat())
        .unwrap();
    for (index, block) in blocks[3..12].iter().enumerate() {
        fs::write(odd.join(format!("{index}.pem")), block).unwrap();
    }
    std::os::unix::fs::symlink("gone.pem", odd.join("01234567.0")).unwrap();
    std::os::unix::fs::symlink("0.pem", odd.join("01234567.1")).unwrap();
    for at in [AT, "2033-01-01"] {
        for paths in [vec![store.clone()], vec![odd.clone()], vec![store.clone(), odd.clone()]] {
            compare(&paths, at);
        }
    }
}

fn compare(paths: &[PathBuf], at: &str) {
    let command = |more: &[&str]| {
        let words = ["audit", "--at", at, "--contexts-per-day", "1000"];
        let output = support::castore().args(words).args(more).args(paths).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stdout).unwrap()
    };
    let report: Value = serde_json::from_str(&command(&["--format", "json"])).unwrap();
    let summary = &report["summary"];
    let mut known = BTreeSet::new();
    numbers_of(&report, &mut known);
    // What another layout saves is a difference.
    let costs: Vec<f64> =
        list(&report, "cost").iter().map(|row| row["estimate"]["milliseconds"].as_f64().unwrap()).collect();
    known.extend(costs.iter().map(|cost| format!("{:.2}", costs[0] - cost)));
    let mut groups: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for finding in list(&report, "findings") {
        let group = groups
            .entry(finding["id"].as_str().unwrap())
            .or_insert((0, finding["severity"].as_str().unwrap()));
        group.0 += 1;
        known.insert(group.0.to_string());
    }
    let text = command(&[]);
    let long = command(&["--verbose"]);
    for (text, verbose) in [(&text, false), (&long, true)] {
        // The verdict.
        let verdict = text.lines().next().unwrap();
        let counted = |field: &str, noun: &str| {
            let count = number(summary, field);
            format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
        };
        let tally = [("errors", "error"), ("warnings", "warning"), ("notices", "notice")]
            .map(|(field, noun)| counted(field, noun))
            .join(", ");
        assert!(verdict.ends_with(&format!(": {tally}")), "{verdict:?}, expected {tally}");

        // Each store.
        for source in list(&report, "sources") {
            let start = format!("  {}: ", source["path"].as_str().unwrap());
            let line = text.lines().find(|line| line.starts_with(&start) && !line.contains('['));
            let line = line.unwrap_or_else(|| panic!("no line for {}", source["path"]));
            let line = &line[start.len()..];
            let certificates = number(source, "certificates");
            match source["kind"].as_str().unwrap() {
                "capath" => {
                    assert_eq!(number_after(line, "CApath, "), Some(certificates), "{line}");
                    let found = line.split(" found by hash").next().and_then(|text| numbers(text).pop());
                    assert_eq!(found.unwrap(), source["reachable"].to_string(), "{line}");
                }
                "bundle" => assert_eq!(number_after(line, "CAfile, "), Some(certificates), "{line}"),
                _ => {}
            }
        }

        // Each group of findings, and each notice.
        for (id, (count, severity)) in &groups {
            let mark = format!(": {severity}[{id}]: ");
            let lines = text.lines().filter(|line| line.contains(&mark)).count();
            if verbose {
                assert_eq!(lines, *count, "{id}");
            } else if *severity == "notice" {
                assert_eq!(lines, 0, "{id}");
                assert!(text.contains(&format!("{count} {id}")), "{id} is not among the notices");
            } else {
                assert_eq!(lines, (*count).min(3), "{id}");
                let them = if *count == 4 { "it" } else { "them" };
                let more = format!("    and {} more {id} (-v shows {them})", count.saturating_sub(3));
                assert_eq!(text.contains(&more), *count > 3, "{more}");
                known.insert(count.saturating_sub(3).to_string());
            }
        }

        // Each family, layout by layout.
        let mut lines = text.lines().skip_while(|line| !line.starts_with("Cost of a load")).skip(1);
        let costs = list(&report, "cost");
        let shown = |now: &&Value| {
            now["layout"] == "now"
                && (verbose || now["family"] == costs[0]["family"] || number(now, "certificates") >= 10)
        };
        for now in costs.iter().filter(shown) {
            let line = lines.next().expect("a line for each family");
            let rows = || costs.iter().filter(|row| row["family"] == now["family"]);
            let expected: Vec<String> = rows()
                .map(|row| format!("{:.2}", row["estimate"]["milliseconds"].as_f64().unwrap()))
                .collect();
            assert_eq!(numbers(line), expected, "{line}");
            assert!(
                line.trim_end_matches(|c: char| !c.is_alphabetic()).ends_with(now["per"].as_str().unwrap())
            );
            if verbose {
                let line = lines.next().expect("a line about what is read");
                let reads = rows().map(|row| {
                    let of = |field: &str, noun: &str| {
                        let count = number(row, field);
                        format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
                    };
                    let layout = row["layout"].as_str().unwrap();
                    format!("{layout} {} in {}", of("certificates", "certificate"), of("files", "file"))
                });
                for part in reads {
                    assert!(line.contains(&part), "{part}: {line}");
                }
                assert!(line.contains(now["estimate"]["model"].as_str().unwrap()), "{line}");
                assert_eq!(line.contains("on demand"), now["on_demand"] == true, "{line}");
            }
        }
        if !costs.is_empty() {
            let day = report["contexts_per_day"].as_u64().expect("it was asked for");
            let line = lines.next().expect("a line about a day");
            assert!(line.starts_with(&format!("  {day} contexts a day: ")), "{line}");
            for row in costs.iter().filter(|row| row["family"] == costs[0]["family"]) {
                let estimate = &row["estimate"];
                let seconds = estimate["seconds_per_day"].as_f64().unwrap();
                // Both are rounded to a thousandth.
                assert!(
                    (seconds - estimate["milliseconds"].as_f64().unwrap() * day as f64 / 1e3).abs() < 0.001
                );
                assert!(
                    line.contains(&format!("{seconds:.2} s {}", row["layout"].as_str().unwrap())),
                    "{line}"
                );
            }
        }

        // The totals.
        let totals = text.lines().skip_while(|line| *line != "Totals").nth(1).unwrap();
        let mut expected: Vec<String> = ["certificates", "occurrences", "duplicates", "expired"]
            .map(|field| summary[field].to_string())
            .to_vec();
        expected.extend(numbers(report["now"].as_str().unwrap()));
        assert_eq!(numbers(totals), expected, "{totals}");
        assert!(text.contains(summary["digest"].as_str().unwrap()));

        // And no number beside.
        for line in text.lines() {
            for number in numbers(line) {
                assert!(known.contains(&number), "{number} is in the text alone: {line}");
            }
        }
    }
}
