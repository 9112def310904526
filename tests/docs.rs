//! The documents say what the program does: the README's outputs are printed by the commands above them, the manual
//! pages are those of `castore man`, and the rules are counted right.
//!
//! `UPDATE_DOCS=1 cargo test --test docs` writes both anew.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests read files and say what they skip"
)]

mod support;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Held by whoever reads or writes the README: parts of it are written by different tests.
static README: Mutex<()> = Mutex::new(());

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn update() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// Runs a README command in a namespace in which /etc/ssl/certs is the stock store.
fn in_stock_machine(image: &Path, folder: &Path, command: &str) -> Option<String> {
    let binary = option_env!("CARGO_BIN_EXE_castore")?;
    // What is not there on this machine cannot be covered, and is not read either.
    let script = format!(
        "set -e; for path in /etc/ssl/certs /usr/share/ca-certificates /usr/local/share/ca-certificates \
         /etc/ca-certificates.conf; do test ! -e $path || mount --bind {image}$path $path; done; \
         PATH={path}:$PATH; cd {folder}; {command} 2>&1",
        image = image.display(),
        folder = folder.display(),
        path = Path::new(binary).parent()?.display(),
    );
    let mut unshare = support::tool("unshare")?;
    let output = unshare
        .args(["-m", "--propagation", "private", "sh", "-c", &script])
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stdout));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The README with each ```console block made anew.
fn rendered(readme: &str, mut run: impl FnMut(&str) -> String) -> String {
    let mut out = String::new();
    let mut inside = false;
    for line in readme.lines() {
        if inside && line != "```" {
            if let Some(command) = line.strip_prefix("$ ") {
                let _ = write!(out, "$ {command}\n{}", run(command));
            }
            continue;
        }
        inside = line == "```console";
        let _ = writeln!(out, "{line}");
    }
    out
}

/// Stores of `fixtures/cases` in which libraries differ, and what is odd about each.
const ODD_FILES: &[(&str, &str)] = &[
    ("END and BEGIN on one line", "glued-markers-a"),
    ("a byte order mark", "utf8-bom-a"),
    ("a blank line in the base64", "blank-lines-a"),
    ("a header in a block", "pem-headers-a"),
    ("the last block is cut off", "truncated-a"),
    ("an END is missing in the middle", "missing-end-a"),
    ("a character that is not base64", "bad-base64-a"),
    ("BEGIN and END name other labels", "marker-typo-a"),
    ("bytes behind a certificate", "trailing-bytes-a"),
    ("a BER length around a certificate", "ber-a"),
    ("a serial number with a zero too many", "poison-a"),
    ("a negative serial number", "serial-a"),
    ("a certificate request in front", "other-blocks-a"),
    ("TRUSTED CERTIFICATE beside CERTIFICATE", "trusted-cert-a"),
    ("X509 CERTIFICATE", "x509-label-a"),
];
const LIBRARIES: &[(&str, &str)] = &[
    ("openssl-3.0", "OpenSSL 3.0"),
    ("gnutls", "GnuTLS"),
    ("go", "Go"),
    ("rustls", "rustls"),
    ("java", "Java's keytool"),
];

/// What each library loads of each of them, as `castore audit` says it.
fn table() -> String {
    let titles: Vec<&str> = LIBRARIES.iter().map(|(_, title)| *title).collect();
    let mut out =
        format!("| | certificates | {} |\n|---|---|{}\n", titles.join(" | "), "---|".repeat(titles.len()));
    let names: Vec<&str> = LIBRARIES.iter().map(|(name, _)| *name).collect();
    for (what, case) in ODD_FILES {
        let output = support::castore()
            .args(["audit", "--format", "json", "--at", "2026-01-01", "--reader", &names.join(",")])
            .arg(root().join("fixtures/cases").join(case).join("bundle.pem"))
            .output()
            .unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let _ = write!(out, "| {what} | {} |", report["summary"]["certificates"]);
        for (name, _) in LIBRARIES {
            let rows = report["readers"].as_array().unwrap();
            let row = rows.iter().find(|row| row["reader"] == *name).unwrap();
            let refused = if row["stopped_by"].is_null() { "" } else { "!" };
            let _ = write!(out, " {}{refused} |", row["loads"]);
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_readme_says_what_libraries_load() {
    let _alone = README.lock().unwrap_or_else(PoisonError::into_inner);
    let path = root().join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (head, rest) = readme.split_once("<!-- written by tests/docs.rs -->\n").unwrap();
    let (old, tail) = rest.split_once("<!-- end -->").unwrap();
    let new = table();
    if update() {
        fs::write(&path, format!("{head}<!-- written by tests/docs.rs -->\n{new}<!-- end -->{tail}"))
            .unwrap();
    } else {
        assert_eq!(old, new, "UPDATE_DOCS=1 cargo test --test docs writes it anew");
    }
}

#[test]
fn the_readme_prints_what_the_commands_print() {
    let (Some(image), Some(version)) = (support::stock_image(), support::stock_version()) else { return };
    if !rustix_is_root() {
        eprintln!("skipped: the README's store is laid over /etc/ssl/certs in a namespace, which takes root");
        return;
    }
    let _alone = README.lock().unwrap_or_else(PoisonError::into_inner);
    let path = root().join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::copy(root().join("fixtures/cases/glued-markers-a/bundle.pem"), folder.path().join("glued.pem"))
        .unwrap();
    let new = rendered(&readme, |command| in_stock_machine(&image, folder.path(), command).unwrap());
    let named =
        readme.split("ca-certificates, version ").nth(1).and_then(|rest| rest.split(':').next()).unwrap();
    if update() {
        let new = new.replace(&format!("version {named}:"), &format!("version {}:", version.trim()));
        fs::write(&path, new).unwrap();
    } else if named == version.trim() {
        assert_eq!(readme, new, "UPDATE_DOCS=1 cargo test --test docs writes it anew");
    } else {
        eprintln!(
            "the README's outputs are of version {named}; {} is here: only run, not compared",
            version.trim()
        );
    }
}

fn rustix_is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n")
}

#[test]
fn the_manual_pages_are_those_of_the_program() {
    let pages =
        ["", "audit", "compact", "rehash", "measure", "tune", "hook", "explain", "completions", "man"];
    for command in pages {
        let (arguments, file) = match command {
            "" => (vec!["man"], "castore.1".to_owned()),
            name => (vec!["man", name], format!("castore-{name}.1")),
        };
        let output = support::castore().args(&arguments).output().unwrap();
        assert!(output.status.success());
        let path = root().join("man").join(&file);
        if update() {
            fs::write(&path, &output.stdout).unwrap();
        }
        let committed = fs::read(&path).unwrap();
        assert!(
            committed == output.stdout,
            "man/{file}: UPDATE_DOCS=1 cargo test --test docs writes it anew"
        );
    }
    let count = fs::read_dir(root().join("man")).unwrap().count();
    assert_eq!(count, pages.len(), "a page for each command and none beside");
}

#[test]
fn the_changelog_counts_the_rules() {
    let changelog = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let number = castore::audit::rules::RULES.len();
    assert!(changelog.contains(&format!("{number} rules")), "there are {number} rules");
}
