//! The text report on a terminal: a stock store takes at most 40 lines of 80 columns, nothing is cut, and a wide
//! terminal is used.
#![cfg(feature = "cli")]
#![allow(clippy::disallowed_methods, reason = "tests run programs")]

mod support;

use std::path::Path;

/// What counts as the present: fixed, so that no certificate of the store expires under the test.
const AT: &str = "2026-01-01";

/// What a terminal of so many columns and 40 lines shows of `castore ARGUMENTS`, run in `folder`. `script` makes the
/// terminal, `stty` its size. `None` where one of them is missing.
fn on_terminal(folder: &Path, columns: usize, arguments: &str) -> Option<String> {
    if support::skip_without(&["script", "stty", "timeout"]) {
        return None;
    }
    let program = support::program().display();
    let line = format!("stty cols {columns} rows 40 && NO_COLOR=1 '{program}' {arguments}");
    let output = support::required("timeout")
        .args(["20", "script", "-qec", &line, "/dev/null"])
        .env("TERM", "xterm")
        .env("SHELL", "/bin/sh")
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", support::complaint(&output));
    // The terminal turns a line feed into two characters.
    Some(String::from_utf8(output.stdout).expect("UTF-8").replace("\r\n", "\n"))
}

/// The text with the breaks that the width made taken out again: continuations are indented further.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn the_stock_store_fits_a_terminal() {
    // From its root, so that paths are as short as on a machine.
    let Some(root) = support::stock_root() else { return };
    let arguments = format!("audit --at {AT} etc/ssl/certs");
    let Some(narrow) = on_terminal(&root, 80, &arguments) else { return };
    let wide = on_terminal(&root, 200, &arguments).unwrap();
    let file = support::castore().args(arguments.split(' ')).current_dir(&root).output().unwrap();
    let file = String::from_utf8(file.stdout).unwrap();

    for (text, columns) in [(&narrow, 80), (&wide, 200)] {
        let lines = text.lines().count();
        assert!(lines <= 40, "{lines} lines at {columns} columns\n{text}");
        for line in text.lines() {
            // The names of Debian's roots are of letters that take one column each.
            assert!(line.chars().count() <= columns, "{} columns: {line}", line.chars().count());
            assert_eq!(line, line.trim_end(), "blanks at the end of a line");
        }
        // Wrapping changes where lines break and nothing else.
        assert_eq!(words(text), words(&file));
    }
    assert!(wide.lines().count() < narrow.lines().count(), "a wide terminal saves lines");

    // First the verdict and the next command.
    let mut lines = narrow.lines();
    assert!(lines.next().unwrap().starts_with("etc/ssl/certs: 0 errors, "), "{narrow}");
    assert!(lines.next().unwrap().starts_with("next: "), "{narrow}");
}

#[test]
fn a_store_full_of_trouble_fits_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for seed in 0..300 {
        let root = support::der::Certificate {
            spki: support::der::spki_ed25519(seed % 250),
            ..support::der::Certificate::root(
                &format!("A Certification Authority of Some Length {seed}"),
                seed,
            )
        };
        let root = if seed % 3 == 0 { root.valid("200101000000Z", "250101000000Z") } else { root };
        text.push_str(&root.pem());
        if seed % 7 == 0 {
            text.push_str(&root.pem());
        }
        if seed % 50 == 0 {
            text.push_str("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n");
        }
        if seed % 60 == 0 {
            text.push_str(&support::der::pem("PRIVATE KEY", b"not one"));
        }
    }
    std::fs::write(folder.path().join("b.pem"), text).unwrap();
    let Some(text) = on_terminal(folder.path(), 80, &format!("audit --at {AT} b.pem")) else { return };
    assert!(text.lines().count() <= 60, "{} lines\n{text}", text.lines().count());
    for id in ["malformed-block", "private-key", "duplicate", "expired"] {
        let lines = text.lines().filter(|line| line.contains(&format!("[{id}]"))).count();
        assert!((1..=3).contains(&lines), "{lines} lines of {id}\n{text}");
        assert!(text.contains(&format!(" more {id} (-v shows them)")), "{id}\n{text}");
    }
    let all = on_terminal(folder.path(), 80, &format!("audit -v --at {AT} b.pem")).unwrap();
    assert!(!all.contains("-v shows them"));
    assert_eq!(all.matches("[expired]").count(), 100);
}

#[test]
fn words_are_not_broken_on_a_narrow_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let long = "a-name-".repeat(12) + ".pem";
    let root = support::der::Certificate::root("Root", 1).pem();
    std::fs::write(folder.path().join(&long), root.repeat(2)).unwrap();
    for columns in [20, 40, 60] {
        let Some(text) = on_terminal(folder.path(), columns, &format!("audit --at {AT} {long}")) else {
            return;
        };
        // A path that is longer than the terminal stays whole, to be copied from the screen.
        assert!(text.contains(&long), "{text}");
        for line in text.lines().filter(|line| !line.contains(&long)) {
            // Below 40 columns a report is read by scrolling. The digest is one word.
            let digest = line.starts_with("  digest ");
            assert!(digest || line.chars().count() <= columns.max(80), "{line}");
        }
    }
}
