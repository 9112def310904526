//! The command line: arguments, exit status, what is printed where, and what is written.
//!
//! Snapshots stand in `tests/cli/`; `SNAPSHOTS=overwrite cargo test --test cli` writes them anew. They are made of
//! `fixtures/` and of certificates made here, as of a fixed instant.
#![cfg(feature = "cli")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that makes files and runs the program"
)]

mod support;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use castore::audit::rules::RULES;
use castore::cli::args::Arguments;
use clap::CommandFactory as _;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;
use snapbox::{Data, assert_data_eq};
use tempfile::TempDir;

use support::cases;
use support::der::{Certificate, attribute, name, oids, pem, spki_ed25519, tag};

const AT: &str = "2026-01-01";
/// What `openssl x509 -subject_hash` says of the common name "Alpha Root".
const ALPHA: &str = "743aa637";

fn alpha() -> Certificate {
    Certificate::root("Alpha Root", 1)
}
fn bravo() -> Certificate {
    Certificate::root("Bravo Root", 2)
}
fn expired() -> Certificate {
    Certificate::root("Expired Root", 3).valid("200101000000Z", "250101000000Z")
}

/// A directory with `a.pem` (two certificates, one of them expired, and a copy), and a CApath `d`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    cases::set_mode(folder.path(), 0o755);
    let write = |name: &str, text: String| {
        fs::write(folder.path().join(name), text).unwrap();
        cases::set_mode(&folder.path().join(name), 0o644);
    };
    write("a.pem", alpha().pem() + &expired().pem() + &alpha().pem());
    cases::make_directory(&folder.path().join("d"));
    write("d/alpha.pem", alpha().pem());
    write("d/bravo.pem", bravo().pem());
    symlink("alpha.pem", folder.path().join(format!("d/{ALPHA}.0"))).unwrap();
    folder
}

fn castore(folder: &TempDir, arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = support::castore();
    command.args(arguments).current_dir(folder.path());
    command
}

struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

fn ran(output: Output) -> Ran {
    let text = |bytes: Vec<u8>| match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => panic!("output is not UTF-8: {:?}", String::from_utf8_lossy(error.as_bytes())),
    };
    Ran { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn run(folder: &TempDir, arguments: &[&str]) -> Ran {
    ran(castore(folder, arguments).output().unwrap())
}

/// Runs a line of shell with `castore` in its PATH; killed when it takes too long.
fn shell(folder: &TempDir, name: &str, line: &str) -> Ran {
    let path = std::env::join_paths(
        [support::program().parent().unwrap().to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .unwrap();
    let mut command = support::required("timeout");
    ran(command.args(["20", name, "-c", line]).env("PATH", path).current_dir(folder.path()).output().unwrap())
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stdout))
}

fn snapshot(name: &str) -> Data {
    Data::read_from(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli").join(name), None)
}

// ---- Help ------------------------------------------------------------------------------------------------------

fn commands() -> Vec<String> {
    Arguments::command().get_subcommands().map(|command| command.get_name().to_owned()).collect()
}

#[test]
fn help_lists_every_option() {
    let folder = folder();
    let ran = run(&folder, &["--help"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    for command in commands() {
        assert!(ran.stdout.contains(&format!("\n  {command} ")), "{command} is not listed");
    }
    assert_data_eq!(ran.stdout, snapshot("help.txt"));
    for command in Arguments::command().get_subcommands_mut() {
        // For `--help` itself.
        command.build();
        let own = command.get_name();
        let long = run(&folder, &[own, "--help"]);
        let short = run(&folder, &[own, "-h"]);
        for ran in [&long, &short] {
            assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
            for argument in command.get_arguments() {
                if let Some(option) = argument.get_long() {
                    assert!(ran.stdout.contains(&format!("--{option}")), "{own}: --{option} is not listed");
                    assert!(argument.get_help().is_some(), "{own}: --{option} says nothing");
                }
            }
        }
        assert_data_eq!(long.stdout, snapshot(&format!("help-{own}.txt")));
    }
}

#[test]
fn version() {
    let ran = run(&folder(), &["--version"]);
    assert_eq!(ran.status, Some(0));
    assert_eq!(ran.stdout, format!("castore {}\n", env!("CARGO_PKG_VERSION")));
}

// ---- Usage -----------------------------------------------------------------------------------------------------

#[test]
fn bad_usage_gives_2_and_says_so_on_standard_error_alone() {
    let folder = folder();
    let before = support::tree_state(folder.path());
    for arguments in [
        &[][..],
        &["frobnicate"],
        &["--nope"],
        &["audit", "--nope", "a.pem"],
        &["audit", "--max-size", "1M", "a.pem"],
        &["audit", "--ignore", "expird", "a.pem"],
        &["audit", "--ignore", "expired:sha256:12", "a.pem"],
        &["audit", "--ignore", "", "a.pem"],
        &["audit", "--ignore-file", "gone", "a.pem"],
        &["audit", "--files0-from", "gone"],
        &["audit", "--root", "gone", "a.pem"],
        &["audit", "--root", ".", "--root", ".", "a.pem"],
        &["audit", "--format", "yaml", "a.pem"],
        &["audit", "--color", "maybe", "a.pem"],
        &["audit", "--quiet", "--verbose", "a.pem"],
        &["audit", "--fail-on", "fatal", "a.pem"],
        &["audit", "--fail-on", "", "a.pem"],
        &["audit", "--fail-on", "expired,nope", "a.pem"],
        &["audit", "--fail-on", "expired,", "a.pem"],
        &["audit", "--expiring-within", "30", "a.pem"],
        &["audit", "--expiring-within", "-1d", "a.pem"],
        &["audit", "--expiring-within", "99999999999999999999w", "a.pem"],
        &["compact", "a.pem"],
        &["compact", "--bundle", "out.pem"],
        &["compact", "a.pem", "--bundle", "out.pem", "--expired", "maybe"],
        &["compact", "a.pem", "--bundle", "out.pem", "--max-shrink", "101"],
        &["compact", "a.pem", "--bundle", "out.pem", "--comments", "all"],
        &["compact", "a.pem", "--bundle", "out.pem", "--unreachable", "keep"],
        &["compact", "a.pem", "--capath", "out", "--output-links", "hard"],
        &["compact", "a.pem", "--bundle", "out.pem", "--remove", "sha256:12"],
        &["compact", "a.pem", "--bundle", "out.pem", "--remove-list", "gone"],
        &["compact", "a.pem", "--bundle", "out.pem", "--root", "gone"],
        &["compact", "a.pem", "--bundle", "out.pem", "--check", "--dry-run"],
        &["compact", "a.pem", "--bundle", "out.pem", "--bundle", "other.pem"],
        &["rehash", "--check", "--dry-run", "d"],
        &["rehash", "--quiet", "-v", "d"],
        &["rehash", "--verbose", "--format", "json", "d"],
        &["rehash", "-bogus", "d"],
        &["rehash", "-provider", "legacy", "d"],
        &["rehash", "--old=yes", "d"],
        &["explain", "nope"],
        &["explain", "expired", "duplicate"],
        &["completions"],
        &["completions", "tcsh"],
        &["man", "frobnicate"],
        &["man", "audit", "compact"],
    ] {
        let ran = run(&folder, arguments);
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(
            ran.stderr.contains("error") || ran.stderr.contains("Usage"),
            "{arguments:?}: {}",
            ran.stderr
        );
    }
    assert_eq!(support::tree_state(folder.path()), before);
}

#[test]
fn forms_of_at() {
    let folder = folder();
    for (at, now) in [
        ("2026-01-01", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01t12:30:05z", "2026-01-01T12:30:05Z"),
        ("2026-01-01T12:30:05+02:00", "2026-01-01T10:30:05Z"),
        ("2026-01-01T00:00:00-00:30", "2026-01-01T00:30:00Z"),
        ("2026-01-01T12:30:05.999Z", "2026-01-01T12:30:05Z"),
        ("2024-02-29", "2024-02-29T00:00:00Z"),
        ("1969-12-31", "1969-12-31T00:00:00Z"),
        ("2100-06-15", "2100-06-15T00:00:00Z"),
    ] {
        let ran = run(&folder, &["audit", "--format", "json", "--at", at, "a.pem"]);
        assert_eq!(ran.status, Some(0), "{at}: {}", ran.stderr);
        assert_eq!(json(&ran)["now"], now, "{at}");
    }
    let mut accepted = Vec::new();
    for at in [
        "",
        "yesterday",
        "2026",
        "2026-01",
        "2026-1-1",
        "2026-13-01",
        "2026-00-01",
        "2026-02-29",
        "2026-01-00",
        "+026-01-01",
        "2026-+1-01",
        "2026-01-+1",
        "26-01-01",
        " 2026-01-01",
        "2026-01-01 ",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:00+25:00",
        "1767225600",
        "@1767225600",
    ] {
        let ran = run(&folder, &["audit", "--at", at, "a.pem"]);
        if ran.status != Some(2) || !ran.stdout.is_empty() || !ran.stderr.contains("--at") {
            accepted.push(at);
        }
    }
    assert!(accepted.is_empty(), "accepted as a time: {accepted:?}");
}

#[test]
fn forms_of_fail_on() {
    let folder = folder();
    // `a.pem` has the warnings duplicate and expired, and nothing else; `d` has the error unreachable.
    for (paths, on, status) in [
        (&["a.pem"][..], "error", 0),
        (&["a.pem"], "warning", 1),
        (&["a.pem"], "notice", 1),
        (&["a.pem"], "expired", 1),
        (&["a.pem"], "duplicate", 1),
        (&["a.pem"], "unreachable", 0),
        (&["a.pem"], "unreachable,expired", 1),
        (&["a.pem"], "unreachable, expired", 1),
        (&["a.pem"], "unreachable,leftover", 0),
        (&["d"], "error", 1),
        (&["d"], "warning", 1),
        (&["d"], "expired", 0),
        (&["d", "a.pem"], "expired", 1),
    ] {
        for more in [&[][..], &["--quiet"], &["--format", "json"], &["--verbose"]] {
            let arguments = [&["audit", "--at", AT, "--fail-on", on][..], more, paths].concat();
            let ran = run(&folder, &arguments);
            assert_eq!((ran.status, ran.stderr.as_str()), (Some(status), ""), "{arguments:?}");
            assert_eq!(ran.stdout.is_empty(), more == ["--quiet"], "{arguments:?}");
        }
    }
    // Without it findings change nothing.
    assert_eq!(run(&folder, &["audit", "d", "a.pem"]).status, Some(0));
    // A date in time, and the same finding is gone.
    let arguments = ["audit", "--at", "2024-01-01", "--fail-on", "expired", "a.pem"];
    assert_eq!(run(&folder, &arguments).status, Some(0));
    let soon = ["audit", "--at", "2024-12-20", "--fail-on", "expires-soon", "a.pem"];
    assert_eq!(run(&folder, &soon).status, Some(1));
    assert_eq!(run(&folder, &[&soon[..], &["--expiring-within", "1w"]].concat()).status, Some(0));
}

// ---- What is read ----------------------------------------------------------------------------------------------

#[test]
fn a_missing_path_gives_2_and_the_others_are_reported() {
    let folder = folder();
    for more in [&[][..], &["--fail-on", "error"], &["--fail-on", "warning"]] {
        let ran = run(&folder, &[&["audit", "--at", AT, "gone.pem", "a.pem"][..], more].concat());
        assert_eq!(ran.status, Some(2), "{more:?}");
        assert!(ran.stdout.starts_with("a.pem: 0 errors, 2 warnings, 0 notices\n"), "{}", ran.stdout);
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("gone.pem") && ran.stderr.contains("No such file"), "{}", ran.stderr);
    }
    let both = json(&run(&folder, &["audit", "--format", "json", "a.pem", "gone.pem", "d"]));
    assert_eq!(both["summary"]["sources"], 2);
    let ran = run(&folder, &["audit", "gone.pem", "gone"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert_eq!(ran.stderr.lines().count(), 2, "{}", ran.stderr);
    let quiet = run(&folder, &["audit", "--quiet", "gone.pem"]);
    assert_eq!((quiet.status, quiet.stdout.as_str()), (Some(2), ""));
    assert!(quiet.stderr.contains("gone.pem"));
}

#[test]
fn a_writer_needs_all_its_paths() {
    let folder = folder();
    let before = support::tree_state(folder.path());
    for arguments in [
        &["compact", "a.pem", "gone.pem", "--bundle", "out.pem"][..],
        &["compact", "a.pem", "--bundle", "gone/out.pem"],
        &["compact", "a.pem", "--capath", "gone/out"],
        &["compact", "a.pem", "--bundle", "d"],
        &["compact", "a.pem", "--capath", "a.pem"],
        &["rehash", "gone"],
        &["rehash", "a.pem"],
    ] {
        let ran = run(&folder, arguments);
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("castore: error: "), "{arguments:?}: {}", ran.stderr);
        assert!(support::tree_state(folder.path()) == before, "{arguments:?} changed something");
    }
}

#[test]
fn pipes_that_the_user_names() {
    let folder = folder();
    let fifo = folder.path().join("pipe");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    let text = alpha().pem() + &bravo().pem();
    let ran = std::thread::scope(|scope| {
        scope.spawn(|| File::options().write(true).open(&fifo).unwrap().write_all(text.as_bytes()).unwrap());
        shell(&folder, "sh", "castore audit --format json pipe")
    });
    assert_eq!(json(&ran)["summary"]["certificates"], 2, "{}", ran.stderr);

    for line in [
        "castore audit --format json <(cat d/alpha.pem d/bravo.pem)",
        "castore audit --format json /dev/fd/3 3<a.pem",
        "cat d/alpha.pem d/bravo.pem | castore audit --format json -",
        "castore audit --format json - <a.pem",
        "castore audit --format json /dev/stdin <a.pem",
        "cat a.pem | castore audit --format json /dev/stdin",
        "castore audit --format json /dev/fd/0 <a.pem",
    ] {
        let ran = shell(&folder, "bash", line);
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{line}");
        let report = json(&ran);
        assert_eq!(report["summary"]["certificates"], 2, "{line}");
        assert_eq!(report["sources"].as_array().unwrap().len(), 1, "{line}");
    }
    // A file named `-` takes another name.
    fs::copy(folder.path().join("d/alpha.pem"), folder.path().join("-")).unwrap();
    assert_eq!(json(&run(&folder, &["audit", "--format", "json", "./-"]))["summary"]["certificates"], 1);
    // Standard input is /dev/null here, and empty.
    let ran = run(&folder, &["audit", "--fail-on", "no-certificates", "-"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(1), ""), "{}", ran.stdout);
}

#[test]
fn a_file_named_twice_is_one_file() {
    let folder = folder();
    symlink("a.pem", folder.path().join("link.pem")).unwrap();
    fs::write(folder.path().join("d/ca-certificates.crt"), alpha().pem() + &bravo().pem()).unwrap();
    let mut wrong = Vec::new();
    for paths in [
        &["a.pem", "a.pem"][..],
        &["link.pem", "a.pem"],
        &["a.pem", "./a.pem"],
        &["d", "d/ca-certificates.crt"],
        &["d/ca-certificates.crt", "d"],
        &["d", "d/alpha.pem"],
        &["d", "d/"],
    ] {
        let once = json(&run(&folder, &["audit", "--format", "json", "--at", AT, paths[0]]));
        let twice = json(&run(&folder, &[&["audit", "--format", "json", "--at", AT], paths].concat()));
        for field in ["occurrences", "certificates", "duplicates", "digest"] {
            if paths[0] != "d/ca-certificates.crt" && once["summary"][field] != twice["summary"][field] {
                wrong.push(format!("{paths:?}: {field} {}", twice["summary"][field]));
            }
        }
        // Nobody is told that a file with certificates has none.
        for source in twice["sources"].as_array().unwrap() {
            if source["kind"] == "other" || source["certificates"] == 0 {
                wrong.push(format!("{paths:?}: {} is {}, with none", source["path"], source["kind"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_no_store_is_an_error_with_its_name() {
    let folder = folder();
    let socket = folder.path().join("socket");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    symlink("loop", folder.path().join("loop")).unwrap();
    for path in ["socket", "/dev/null", "/dev/zero", "loop", "a.pem/b", "nothing/"] {
        let ran = shell(&folder, "sh", &format!("castore audit {path}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{path}");
        assert!(ran.stderr.starts_with("castore: error: ") && ran.stderr.contains(path), "{}", ran.stderr);
    }
}

#[test]
fn a_file_that_may_not_be_read() {
    let folder = folder();
    let secret = folder.path().join("secret.pem");
    fs::write(&secret, bravo().pem()).unwrap();
    cases::set_mode(&secret, 0o000);
    cases::make_directory(&folder.path().join("closed"));
    cases::set_mode(&folder.path().join("closed"), 0o000);
    let mut program = support::program().to_owned();
    let root = rustix::process::geteuid().is_root();
    if root {
        let Some(copy) = cases::copy_for_nobody(folder.path()) else {
            eprintln!("skipped: root cannot become nobody here");
            return;
        };
        program = copy;
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.env_clear().stdin(Stdio::null()).args(arguments).current_dir(folder.path());
        if root {
            command.uid(cases::NOBODY).gid(cases::NOBODY);
        }
        ran(command.output().unwrap())
    };
    let ran = run(&["audit", "--at", AT, "secret.pem", "a.pem", "closed"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("secret.pem: Permission denied"), "{}", ran.stderr);
    assert!(ran.stderr.contains("closed: Permission denied"), "{}", ran.stderr);
    assert!(ran.stdout.contains("a.pem: CAfile, 3 certificates (2 distinct)"), "{}", ran.stdout);
    // What was named and cannot be read is no source: nothing is known of it.
    assert!(!ran.stdout.contains("secret.pem: "), "{}", ran.stdout);

    // A bundle that may not be written, in a directory that may not be written.
    let ran = run(&["compact", "a.pem", "--at", AT, "--bundle", "a.pem"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("Permission denied"), "{}", ran.stderr);
    let ran = run(&["rehash", "d"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert_eq!(support::names_in(folder.path()).len(), 4 + usize::from(root), "nothing is left behind");
    cases::set_mode(&folder.path().join("closed"), 0o755);
}

// ---- What is printed -------------------------------------------------------------------------------------------

#[test]
fn quiet_prints_nothing_on_success() {
    let folder = folder();
    for arguments in [
        &["audit", "-q", "a.pem", "d"][..],
        &["audit", "-q", "--format", "json", "a.pem"],
        &["compact", "-q", "a.pem", "--bundle", "out.pem", "--capath", "out"],
        &["compact", "-q", "a.pem", "--bundle", "out.pem", "--capath", "out"],
        &["rehash", "-q", "d"],
        &["rehash", "-q", "d"],
    ] {
        let ran = run(&folder, arguments);
        let printed = (ran.status, ran.stdout.as_str(), ran.stderr.as_str());
        assert_eq!(printed, (Some(0), "", ""), "{arguments:?}");
    }
    let ran = run(&folder, &["compact", "-q", "a.pem", "--bundle", "other.pem", "--check"]);
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (Some(1), "", ""));
}

#[test]
fn colour_where_it_is_wanted() {
    let folder = folder();
    let colored = |more: &[&str], variables: &[(&str, &str)]| {
        let mut command = castore(&folder, &["audit", "--at", AT, "a.pem", "d"]);
        command.args(more).envs(variables.iter().copied());
        ran(command.output().unwrap()).stdout.contains('\u{1b}')
    };
    assert!(!colored(&[], &[]), "a pipe is no terminal");
    assert!(!colored(&["--color", "auto"], &[]));
    assert!(!colored(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(colored(&["--color", "always"], &[]));
    // The flag is nearer than the variable.
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!colored(&["--color", "always", "--format", "json"], &[]));
    // Colour and nothing else.
    let plain = run(&folder, &["audit", "--at", AT, "a.pem", "d"]).stdout;
    let color = run(&folder, &["audit", "--at", AT, "--color", "always", "a.pem", "d"]).stdout;
    let mut stripped = String::new();
    for (index, part) in color.split('\u{1b}').enumerate() {
        stripped.push_str(if index == 0 { part } else { part.split_once('m').unwrap().1 });
    }
    assert_eq!(stripped, plain);
}

#[test]
fn colour_on_a_terminal() {
    if support::skip_without(&["script", "timeout"]) {
        return;
    }
    let folder = folder();
    let colored = |variables: &str, more: &str| {
        let line = format!("{variables} castore audit --at {AT} {more} a.pem");
        shell(&folder, "sh", &format!("script -qec '{line}' /dev/null")).stdout.contains('\u{1b}')
    };
    assert!(colored("TERM=xterm", ""));
    assert!(!colored("TERM=xterm NO_COLOR=1", ""));
    assert!(!colored("TERM=dumb", ""));
    assert!(!colored("TERM=xterm", "--color never"));
    assert!(!colored("TERM=xterm", "--format json"));
}

/// Every command that prints, once, with a good deal to print.
fn printing() -> Vec<Vec<&'static str>> {
    vec![
        vec!["audit", "many.pem"],
        vec!["audit", "-v", "many.pem", "d"],
        vec!["audit", "--format", "json", "many.pem"],
        vec!["compact", "-n", "many.pem", "--bundle", "out.pem"],
        vec!["compact", "-n", "-v", "many.pem", "--capath", "out"],
        vec!["compact", "-n", "--format", "json", "many.pem", "--capath", "out"],
        vec!["rehash", "--dry-run", "d"],
        vec!["rehash", "--dry-run", "-v", "d"],
        vec!["rehash", "--dry-run", "--format", "json", "d"],
        vec!["explain"],
        vec!["explain", "unreachable"],
        vec!["completions", "bash"],
        vec!["man"],
        vec!["man", "compact"],
        vec!["--help"],
        vec!["compact", "--help"],
        vec!["--version"],
    ]
}

fn folder_with_much() -> TempDir {
    let folder = folder();
    let many = |seed| Certificate {
        spki: spki_ed25519(seed),
        ..Certificate::root(&format!("Root {seed}"), 0).valid("200101000000Z", "250101000000Z")
    };
    let text: String = (0..600).map(|seed| many(seed).pem()).collect();
    fs::write(folder.path().join("many.pem"), alpha().pem() + &text).unwrap();
    folder
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = folder_with_much();
    for arguments in printing() {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = castore(&folder, &arguments).stdout(writer).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), stderr.as_ref()), (Some(0), ""), "{arguments:?}");
    }
    // One that goes away in the middle.
    let ran = shell(&folder, "bash", "castore audit -v many.pem | head -n 1; echo ${PIPESTATUS[0]}");
    assert!(ran.stdout.ends_with("\n0\n") && ran.stderr.is_empty(), "{} {}", ran.stdout, ran.stderr);
}

#[test]
fn a_full_disk_is_an_error() {
    let folder = folder_with_much();
    let mut wrong = Vec::new();
    for arguments in printing() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = castore(&folder, &arguments).stdout(full).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        if output.status.code() != Some(2) || !stderr.contains("No space left") {
            wrong.push(format!("{arguments:?}: status {:?}, {stderr:?}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn closed_descriptors() {
    let folder = folder_with_much();
    for arguments in printing() {
        for closed in [">&-", "2>&-", ">&- 2>&-", "<&-", "<&- >&- 2>&-"] {
            let line = format!("castore {} {closed}", arguments.join(" "));
            let ran = shell(&folder, "sh", &line);
            assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{line}");
        }
    }
    for line in ["castore audit gone.pem", "castore --nope", "castore man nope", "castore compact a.pem"] {
        for closed in ["2>&-", ">&- 2>&-", "2>/dev/full"] {
            let ran = shell(&folder, "sh", &format!("{line} {closed}"));
            assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{line} {closed}");
        }
    }
    // A file that is opened while standard output is closed must not become standard output.
    let ran = shell(&folder, "sh", "castore compact d/bravo.pem --bundle out.pem --capath out >&- 2>&- <&-");
    assert_eq!(ran.status, Some(0));
    assert_eq!(fs::read_to_string(folder.path().join("out.pem")).unwrap(), bravo().pem());
}

#[test]
fn every_report_can_be_json() {
    let folder = folder();
    for (arguments, command) in [
        (&["audit", "a.pem"][..], "audit"),
        (&["audit", "--verbose", "a.pem"], "audit"),
        (&["compact", "a.pem", "--bundle", "out.pem", "--dry-run"], "compact"),
        (&["compact", "a.pem", "--bundle", "out.pem"], "compact"),
        (&["rehash", "--dry-run", "d"], "rehash"),
        (&["rehash", "d"], "rehash"),
    ] {
        let ran = run(&folder, &[arguments, &["--format", "json"]].concat());
        assert_eq!(ran.status, Some(0), "{arguments:?}");
        assert_eq!(json(&ran)["command"], command);
        assert!(ran.stdout.starts_with("{\n  \"schema\": \"castore.report/1\",\n"), "{arguments:?}");
        assert!(ran.stdout.ends_with("\n}\n"), "{arguments:?}");
        // Colour is for text.
        let color = run(&folder, &[arguments, &["--format", "json", "--color", "always"]].concat());
        assert!(!color.stdout.contains('\u{1b}'));
    }
}

/// The names of the readers in a report.
fn readers(ran: &Ran) -> BTreeSet<String> {
    let rows = json(ran)["readers"].as_array().unwrap().clone();
    rows.iter().map(|row| row["reader"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn readers_are_chosen_by_name() {
    let folder = folder();
    let audit = |list: &[&str]| run(&folder, &[&["audit", "a.pem", "--format", "json"][..], list].concat());
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(readers(&audit(&["--reader", "gnutls,go-1.19"])), set(&["gnutls", "go-1.19"]));
    assert_eq!(
        readers(&audit(&["--reader", "gnutls", "--reader", "openssl-4.0"])),
        set(&["gnutls", "openssl-4.0"])
    );
    let all = readers(&audit(&["--reader", "all"]));
    for name in ["openssl-1.1.1", "openssl-3.0", "openssl-3.5", "openssl-4.0", "gnutls", "go", "go-1.19"] {
        assert!(all.contains(name), "{name}: {all:?}");
    }
    for list in ["openssl-2.0", "", "gnutls,", "GnuTLS"] {
        let ran = audit(&["--reader", list]);
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{list:?}");
        assert!(ran.stderr.contains("--reader"), "{list:?}: {}", ran.stderr);
    }
}

#[test]
fn the_openssl_of_a_root_is_the_one_inside_it() {
    let folder = folder();
    let library = "root/usr/lib/aarch64-linux-gnu";
    fs::create_dir_all(folder.path().join(library)).unwrap();
    fs::create_dir_all(folder.path().join("root/usr/lib64")).unwrap();
    fs::copy(folder.path().join("a.pem"), folder.path().join("root/a.pem")).unwrap();
    let found = || {
        let ran = run(&folder, &["audit", "--root", "root", "/a.pem", "--format", "json"]);
        readers(&ran).into_iter().find(|name| name.starts_with("openssl")).unwrap()
    };
    assert_eq!(found(), "openssl-3.0");
    for (name, text, expected) in [
        (format!("{library}/libcrypto.so.1.1"), "OpenSSL 1.1.1w  11 Sep 2023", "openssl-1.1.1"),
        (format!("{library}/libcrypto.so.3"), "x\0OpenSSL 3.2.2 4 Jun 2024\0", "openssl-3.0"),
        (format!("{library}/libcrypto.so.3"), "OpenSSL 3.x\0OpenSSL 3.5.6 7 Apr 2026\0", "openssl-3.5"),
        ("root/usr/lib64/libcrypto.so.4".to_owned(), "", "openssl-4.0"),
    ] {
        fs::write(folder.path().join(&name), text).unwrap();
        assert_eq!(found(), expected, "{name}");
    }
}

/// Whatever is installed here.
const CHOSEN: &[&str] = &["--reader", "openssl-3.0,gnutls,go,rustls", "--library", "openssl-3.0"];

#[test]
fn texts_as_they_are_printed() {
    let folder = tempfile::tempdir().unwrap();
    let all = cases::load();
    for id in ["glued-markers-a", "stale-link-a", "dup-in-file-a", "private-key-a"] {
        let case = all.cases.iter().find(|case| case.id == id).unwrap();
        cases::lay_out(case, &folder.path().join(id));
    }
    let at = ["--at", all.now.as_str()];
    for (name, arguments) in [
        ("audit-glued", &["audit", "glued-markers-a/bundle.pem"][..]),
        ("audit-stale-link", &["audit", "stale-link-a/certs"]),
        ("audit-duplicate", &["audit", "dup-in-file-a/bundle.pem"]),
        ("audit-duplicate-verbose", &["audit", "--verbose", "dup-in-file-a/bundle.pem"]),
        ("audit-private-key", &["audit", "private-key-a/bundle.pem"]),
        ("compact-glued", &["compact", "--dry-run", "glued-markers-a/bundle.pem", "--bundle", "new.pem"]),
        ("compact-private-key", &["compact", "--dry-run", "private-key-a/bundle.pem", "--capath", "new"]),
    ] {
        // Whatever OpenSSL is installed here.
        let readers: &[&str] = if name.starts_with("audit") { CHOSEN } else { &[] };
        let ran = run_in(folder.path(), &[arguments, &at, readers].concat());
        assert_data_eq!(ran, snapshot(&format!("{name}.txt")));
    }
    let ran = run_in(folder.path(), &["rehash", "--dry-run", "stale-link-a/certs"]);
    assert_data_eq!(ran, snapshot("rehash-stale-link.txt"));
}

/// Everything that a run says, as a snapshot holds it.
fn run_in(folder: &Path, arguments: &[&str]) -> String {
    let ran = ran(support::castore().args(arguments).current_dir(folder).output().unwrap());
    let stderr: String = ran.stderr.lines().map(|line| format!("stderr: {line}\n")).collect();
    format!("$ castore {}\n{}{stderr}status: {}\n", arguments.join(" "), ran.stdout, ran.status.unwrap())
}

#[test]
fn key_material_is_never_printed() {
    let folder = folder();
    let key = pem("PRIVATE KEY", &[0x5a; 300]);
    let body: Vec<&str> = key.lines().filter(|line| !line.starts_with('-')).collect();
    // Whole, and damaged in ways that make the program say something about the block.
    let texts = [
        key.clone(),
        key.replace("-----END PRIVATE KEY-----\n", ""),
        key.replacen("Wlpa", "Wl!a", 1),
        key.replace(
            "-----BEGIN PRIVATE KEY-----\n",
            "-----BEGIN PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n",
        ),
        key.trim_end().to_owned(),
    ];
    for (index, text) in texts.iter().enumerate() {
        fs::write(folder.path().join("k.pem"), format!("{}{text}{}", alpha().pem(), bravo().pem())).unwrap();
        for arguments in [
            &["audit", "-v", "k.pem"][..],
            &["audit", "--format", "json", "k.pem"],
            &["compact", "k.pem", "--bundle", "out.pem", "-v", "--malformed", "repair"],
            &["compact", "k.pem", "--bundle", "out.pem", "-v", "--malformed", "drop"],
            &["compact", "k.pem", "--capath", "out", "--format", "json", "--malformed", "drop"],
        ] {
            let ran = run(&folder, arguments);
            for line in body.iter().filter(|line| line.len() > 20) {
                let line = &line[8..20];
                assert!(!ran.stdout.contains(line) && !ran.stderr.contains(line), "{index}: {arguments:?}");
            }
        }
        for written in walkdir::WalkDir::new(folder.path()).into_iter().map(Result::unwrap) {
            let name = written.file_name();
            if written.file_type().is_file() && name != "k.pem" {
                let text = fs::read(written.path()).unwrap();
                assert!(!String::from_utf8_lossy(&text).contains(&body[1][8..40]), "{index}: {name:?}");
            }
        }
    }
}

// ---- What is written -------------------------------------------------------------------------------------------

/// Names with what they are: `name`, `name -> target`, `name/`, with the mode of what is no link.
fn tree(folder: &Path) -> Vec<String> {
    support::tree_state(folder)
        .into_iter()
        .map(|(path, state)| match state.target {
            Some(target) => format!("{} -> {}", path.display(), target.display()),
            None => format!("{} {:o}", path.display(), state.mode),
        })
        .collect()
}

#[test]
fn compact_writes_what_it_says() {
    let folder = folder();
    let before = support::tree_state(folder.path());
    let arguments = ["compact", "a.pem", "--at", AT, "--bundle", "out.pem", "--capath", "out"];
    let planned = run(&folder, &[&arguments[..], &["--dry-run"]].concat());
    assert_eq!(planned.status, Some(0));
    let checked = run(&folder, &[&arguments[..], &["--check"]].concat());
    assert_eq!(checked.status, Some(1));
    assert_eq!(support::tree_state(folder.path()), before);

    // A umask that forbids nearly everything changes no mode of what is written.
    let ran = shell(&folder, "sh", &format!("umask 077; castore {}", arguments.join(" ")));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(folder.path().join("out.pem")).unwrap(), alpha().pem());
    assert_eq!(
        tree(&folder.path().join("out")),
        [". 755".to_owned(), format!("{ALPHA}.0 -> Alpha_Root.pem"), "Alpha_Root.pem 644".to_owned()]
    );
    assert_eq!(support::tree_state(folder.path())[Path::new("out.pem")].mode, 0o644);
    assert!(ran.stdout.contains("Expired Root"), "what is left out is named: {}", ran.stdout);

    let before = support::tree_state(folder.path());
    let again = run(&folder, &arguments);
    assert_eq!(again.status, Some(0));
    assert!(again.stdout.contains("nothing to do"), "{}", again.stdout);
    assert_eq!(support::tree_state(folder.path()), before, "not even a time stamp changes");
    assert_eq!(run(&folder, &[&arguments[..], &["--check"]].concat()).status, Some(0));
}

#[test]
fn compact_refuses_with_2_and_touches_nothing() {
    let folder = folder();
    fs::write(folder.path().join("broken.pem"), alpha().pem() + "-----BEGIN CERTIFICATE-----\n!\n").unwrap();
    fs::write(folder.path().join("old.pem"), expired().pem()).unwrap();
    fs::write(folder.path().join("bravo.pem"), bravo().pem()).unwrap();
    let five: String = (10..15).map(|seed| Certificate::root(&format!("Root {seed}"), seed).pem()).collect();
    fs::write(folder.path().join("five.pem"), &five).unwrap();
    let before = support::tree_state(folder.path());
    for (arguments, word) in [
        (&["compact", "broken.pem", "--bundle", "out.pem"][..], "--malformed"),
        (&["compact", "old.pem", "--at", AT, "--bundle", "out.pem"], "old.pem"),
        (&["compact", "a.pem", "--at", AT, "--bundle", "bravo.pem"], "--gain"),
        (&["compact", "bravo.pem", "--bundle", "five.pem", "--gain", "accept"], "--max-shrink"),
    ] {
        for more in [&[][..], &["--dry-run"], &["--check"], &["--quiet"], &["--format", "json"]] {
            let arguments = [arguments, more].concat();
            let ran = run(&folder, &arguments);
            assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", ran.stderr);
            assert!(ran.stderr.starts_with("castore: error: "), "{arguments:?}: {}", ran.stderr);
            if word.starts_with("--") {
                assert!(ran.stderr.contains(word), "{arguments:?} does not say what to do: {}", ran.stderr);
            }
            assert!(support::tree_state(folder.path()) == before, "{arguments:?} changed something");
        }
    }
}

#[test]
fn rehash_makes_links() {
    let folder = folder();
    symlink("gone.pem", folder.path().join("d/00000001.0")).unwrap();
    let before = support::tree_state(folder.path());
    assert_eq!(run(&folder, &["rehash", "--dry-run", "d"]).status, Some(0));
    assert_eq!(run(&folder, &["rehash", "--check", "d"]).status, Some(1));
    assert_eq!(support::tree_state(folder.path()), before);
    assert_eq!(run(&folder, &["rehash", "d"]).status, Some(0));
    assert_eq!(
        tree(&folder.path().join("d"))[1..],
        ["4f1516a8.0 -> bravo.pem", "743aa637.0 -> alpha.pem", "alpha.pem 644", "bravo.pem 644"]
    );
    let before = support::tree_state(folder.path());
    let again = run(&folder, &["rehash", "d"]);
    assert_eq!(again.status, Some(0));
    assert!(again.stdout.contains("nothing to do"), "{}", again.stdout);
    assert_eq!(run(&folder, &["rehash", "--check", "d"]).status, Some(0));
    assert_eq!(support::tree_state(folder.path()), before);
}

// ---- Hostile names ---------------------------------------------------------------------------------------------

/// Texts that play tricks on a terminal, a log or a parser.
const HOSTILE: &[&str] = &[
    "esc \u{1b}[31m\u{1b}]0;title\u{7}",
    "csi \u{9b}31m",
    "bidi \u{202e}lanosrep\u{202c} \u{2066}x\u{2069} \u{200f}\u{200e}\u{61c}",
    "line\nfeed\rreturn\ttab",
    "separators \u{2028}\u{2029}\u{85}",
    "quotes \" ' ` $(reboot) \\ \\x41 \\u{41}",
    "zero\u{200b}width\u{feff}",
];

/// Whether a terminal would do something else than show this character.
fn tricky(character: char) -> bool {
    let invisible = matches!(character, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}');
    let bidi = matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || bidi || invisible || matches!(character, '\u{2028}' | '\u{2029}')
}

/// A store in which all names are hostile: files, links, targets, subjects, issuers, aliases, labels.
fn hostile() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let directory = folder.path().join(hostile_directory());
    fs::create_dir(&directory).unwrap();
    for (index, text) in HOSTILE.iter().enumerate() {
        let seed = index as u64;
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let latin: Vec<u8> = text.chars().map(|character| u8::try_from(character).unwrap_or(0x9b)).collect();
        let subject = name(&[
            vec![attribute(oids::ORGANIZATION, tag::BMP_STRING, &wide)],
            vec![attribute(oids::ORGANIZATIONAL_UNIT, tag::T61_STRING, &latin)],
            vec![attribute(oids::COMMON_NAME, tag::UTF8_STRING, text.as_bytes())],
        ]);
        let root = Certificate { issuer: subject.clone(), subject, ..Certificate::root("x", seed) };
        let other =
            Certificate { spki: bravo().spki, ..root.clone() }.valid("200101000000Z", "210101000000Z");
        let label = text.replace(['\n', '\r'], "");
        let text_of_file = format!(
            "{text}\n{}-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n-----BEGIN CERTIFICATE-----\n{text}\n",
            root.pem()
        );
        fs::write(directory.join(format!("{text}.pem").replace('/', "_")), text_of_file).unwrap();
        fs::write(directory.join(format!("{text}.crt")), root.pem() + &other.pem() + &root.pem()).unwrap();
        fs::write(directory.join(format!("{text}~")), "").unwrap();
        symlink(text, directory.join(format!("0000000{index}.0"))).unwrap();
        symlink(format!("/nonexistent/{text}"), directory.join(format!("{text} link"))).unwrap();
        let bytes = [text.as_bytes(), b"\xff\x1b\xfe"].concat();
        fs::write(directory.join(OsString::from_vec(bytes.clone())), other.pem()).unwrap();
        symlink(OsStr::from_bytes(&bytes), directory.join(format!("0000001{index}.0"))).unwrap();
    }
    // What is no UTF-8, and a name that looks like the escape for it.
    fs::write(directory.join(OsStr::from_bytes(b"a\xff.pem")), alpha().pem()).unwrap();
    fs::write(directory.join("a\\xff.pem"), bravo().pem()).unwrap();
    folder
}

fn hostile_directory() -> OsString {
    OsString::from_vec(b"d\x1b[31m\xe2\x80\xae\n\xff".to_vec())
}

#[test]
fn hostile_names_do_not_reach_the_terminal() {
    let folder = hostile();
    let directory = hostile_directory();
    let bundle = Path::new(&directory).join(format!("{}.crt", HOSTILE[0]));
    let word = OsString::from;
    let runs: Vec<Vec<OsString>> = vec![
        vec![word("audit"), directory.clone()],
        vec![word("audit"), word("-v"), directory.clone()],
        vec![word("audit"), word("-v"), bundle.clone().into()],
        vec![word("audit"), word("--format"), word("json"), directory.clone(), bundle.clone().into()],
        vec![word("audit"), word("gone\u{1b}[31m\u{202e}\n.pem")],
        vec![word("rehash"), word("--dry-run"), directory.clone()],
        vec![word("rehash"), word("--dry-run"), word("-v"), directory.clone()],
        vec![word("rehash"), word("--dry-run"), word("--format"), word("json"), directory.clone()],
        vec![word("rehash"), word("gone\u{9b}31m")],
        vec![word("compact"), directory.clone(), word("--bundle"), word("b"), word("-n")],
        vec![word("compact"), directory.clone(), word("--bundle=b"), word("--malformed=drop"), word("-vn")],
        vec![
            word("compact"),
            bundle.clone().into(),
            word("--capath=c"),
            word("--at=2020-06-01"),
            word("-vn"),
        ],
        vec![word("compact"), bundle.into(), word("--bundle=b"), word("--format=json"), word("-n")],
        vec![word("compact"), word("a\u{1b}[31m"), word("--bundle"), word("b\u{1b}[31m")],
        vec![word("man"), word("x\u{1b}[31m\u{202e}")],
        vec![word("audit"), word("--root=gone\u{1b}[31m\u{202e}\n"), word("x")],
        vec![word("audit"), word("-vR"), word("--root=."), word("/")],
        vec![word("audit"), word("--files0-from=gone\u{1b}[31m\u{202e}\n")],
        vec![word("audit"), word("--ignore-file=gone\u{1b}[31m\u{202e}\n"), word("x")],
        vec![
            word("audit"),
            word("-v"),
            word("--ignore=leftover:path:\u{1b}[31m\u{202e}\n"),
            directory.clone(),
        ],
        vec![word("compact"), directory.clone(), word("--bundle=b"), word("--remove=\u{1b}[31m\u{202e}")],
    ];
    let mut wrong = Vec::new();
    for arguments in runs {
        let what = format!("{arguments:?}");
        let ran = ran(castore(&folder, &arguments).output().unwrap());
        for text in [&ran.stdout, &ran.stderr] {
            if let Some(bad) = text.chars().find(|&character| character != '\n' && tricky(character)) {
                let line = text.lines().find(|line| line.contains(bad));
                wrong.push(format!("{what}: {bad:?} in {line:?}"));
            }
        }
        // A newline in a name must not look like a line of the report.
        assert!(!ran.stdout.lines().any(|line| line.starts_with("feed")), "{what}");
        assert!(!ran.stdout.is_empty() || !ran.stderr.is_empty(), "{what}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn hostile_arguments_do_not_reach_the_terminal() {
    let folder = folder();
    let mut wrong = Vec::new();
    // Shells expand `*` to file names, and a file name may look like an option.
    for arguments in [
        ["audit", "--x\u{1b}[31m\u{202e}\u{9b}31m"],
        ["audit", "--at=\u{1b}[31m\u{202e}"],
        ["\u{202e}x", "y"],
    ] {
        let ran = run(&folder, &arguments);
        assert_eq!(ran.status, Some(2));
        let bad = ran.stderr.chars().find(|&character| character != '\n' && tricky(character));
        wrong.extend(bad.map(|bad| format!("{arguments:?}: {bad:?}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn base64(text: &Value) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text.as_str().expect("base64 is text")).unwrap()
}

#[test]
fn json_keeps_hostile_names_exactly() {
    let folder = hostile();
    let directory = hostile_directory();
    let arguments = [OsString::from("audit"), "--format".into(), "json".into(), directory.clone()];
    let report = json(&ran(castore(&folder, &arguments).output().unwrap()));
    assert_eq!(base64(&report["sources"][0]["path_bytes"]), directory.as_bytes());
    assert_eq!(report["sources"][0]["path"], "d\u{1b}[31m\u{202e}\n\\xff");

    // Every file under exactly its name.
    let mut read: Vec<OsString> = Vec::new();
    for file in report["files"].as_array().unwrap() {
        let bytes = base64(&file["path_bytes"]);
        let path = PathBuf::from(OsString::from_vec(bytes));
        read.push(path.file_name().unwrap().to_owned());
        let names = file["names_bytes"].as_array().unwrap();
        assert_eq!(names.len(), file["names"].as_array().unwrap().len());
        for name in names {
            let path = folder.path().join(OsString::from_vec(base64(name)));
            assert!(fs::symlink_metadata(&path).is_ok(), "{path:?} is not there");
        }
    }
    let mut there = support::names_in(&folder.path().join(&directory));
    let entry = |name: &OsString| folder.path().join(&directory).join(name);
    there.retain(|name| {
        fs::symlink_metadata(entry(name)).unwrap().is_file() && !name.as_bytes().ends_with(b"~")
    });
    read.sort();
    assert_eq!(read, there);

    for link in report["links"].as_array().unwrap() {
        let path = folder.path().join(&directory).join(link["name"].as_str().unwrap());
        let target = fs::read_link(&path).unwrap();
        match link.get("target_bytes") {
            Some(bytes) => assert_eq!(base64(bytes), target.as_os_str().as_bytes()),
            None => assert_eq!(link["target"].as_str(), target.to_str()),
        }
        assert_eq!(base64(&link["capath_bytes"]), directory.as_bytes());
    }
    for finding in report["findings"].as_array().unwrap() {
        for place in finding["occurrences"].as_array().unwrap() {
            assert!(base64(&place["path_bytes"]).starts_with(directory.as_bytes()));
        }
    }
    // Where a name is UTF-8, the text is the name, and nothing stands beside it.
    let plain = tempfile::tempdir().unwrap();
    fs::write(plain.path().join("a\\xff \u{202e}\u{1b}.pem"), alpha().pem()).unwrap();
    let report = json(&run(&plain, &["audit", "--format", "json", "a\\xff \u{202e}\u{1b}.pem"]));
    assert_eq!(report["files"][0]["path"], "a\\xff \u{202e}\u{1b}.pem");
    assert_eq!(report["files"][0].get("path_bytes"), None);
    assert_eq!(report["files"][0].get("names_bytes"), None);
}

#[test]
fn hostile_subjects_do_not_become_file_names() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(5000);
    let more = ["../../../escape", "..", ".", "-rf", "/etc/passwd", "", " ", "a/b\0c", "nul\0", "CON", &long];
    let names: Vec<&str> = HOSTILE.iter().copied().chain(more).collect();
    let certificate = |(seed, text): (usize, &&str)| Certificate::root(text, seed as u64).pem();
    fs::write(folder.path().join("b.pem"), names.iter().enumerate().map(certificate).collect::<String>())
        .unwrap();
    let ran = run(&folder, &["compact", "b.pem", "--capath", "out"]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(support::names_in(folder.path()), ["b.pem", "out"]);
    let written = support::names_in(&folder.path().join("out"));
    let files: Vec<&str> =
        written.iter().filter_map(|name| name.to_str()).filter(|name| name.ends_with(".pem")).collect();
    assert_eq!(files.len(), names.len());
    for name in files {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        assert!(name.bytes().all(plain) && !name.starts_with(['.', '-']) && name.len() < 256, "{name:?}");
    }
}

// ---- explain ---------------------------------------------------------------------------------------------------

/// The words of a text, whatever the line breaks.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_finding_is_explained() {
    let folder = folder();
    let list = run(&folder, &["explain"]);
    assert_eq!((list.status, list.stderr.as_str()), (Some(0), ""));
    assert_eq!(list.stdout.lines().count(), RULES.len());
    for rule in RULES {
        let line = list.stdout.lines().find(|line| line.split_whitespace().next() == Some(rule.id));
        let line = line.unwrap_or_else(|| panic!("{} is not listed", rule.id));
        assert!(line.contains(rule.severity.as_str()) && line.ends_with(rule.title), "{line}");

        let page = run(&folder, &["explain", rule.id]);
        assert_eq!((page.status, page.stderr.as_str()), (Some(0), ""), "{}", rule.id);
        let first = page.stdout.lines().next().unwrap();
        assert!(first.starts_with(rule.id) && first.contains(rule.severity.as_str()), "{first}");
        let mut rest = words(&page.stdout);
        for (heading, text) in [
            ("", rule.title),
            ("Why", rule.why),
            ("Example", rule.example),
            ("What to do", rule.help),
            ("Source", rule.source),
        ] {
            if !heading.is_empty() {
                assert!(page.stdout.lines().any(|line| line == heading), "{}: no {heading}", rule.id);
            }
            let part = words(&format!("{heading} {text}"));
            let (_, tail) =
                rest.split_once(&part).unwrap_or_else(|| panic!("{}: no {part:?} in {rest:?}", rule.id));
            rest = tail.to_owned();
        }
    }
    for unknown in ["nope", "", "Expired", "expired ", "x\u{1b}[31m\u{202e}"] {
        let ran = run(&folder, &["explain", unknown]);
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{unknown:?}");
        assert!(ran.stderr.contains("castore explain"), "where to look: {}", ran.stderr);
        assert!(!ran.stderr.chars().any(|character| character != '\n' && tricky(character)));
    }
}

// ---- What is accepted ------------------------------------------------------------------------------------------

fn fingerprint(certificate: &Certificate) -> String {
    support::sha256_hex(&certificate.der())
}

/// The ids of the findings that are ignored, and of those that are not.
fn ignored_and_not(report: &Value) -> (Vec<&str>, Vec<&str>) {
    let rows = report["findings"].as_array().unwrap();
    let ids = |ignored: bool| {
        rows.iter().filter(|row| row["ignored"] == ignored).map(|row| row["id"].as_str().unwrap()).collect()
    };
    (ids(true), ids(false))
}

#[test]
fn what_is_ignored_is_listed_and_does_not_count() {
    let folder = folder();
    // `a.pem` has the warnings duplicate and expired, and nothing else.
    let of_expired = format!("expired:sha256:{}", fingerprint(&expired()));
    let of_alpha = format!("expired:sha256:{}", fingerprint(&alpha()));
    for (entry, matches) in [
        ("expired", true),
        (of_expired.as_str(), true),
        ("expired:path:a.pem", true),
        ("expired:path:*.pem", true),
        ("expired:path:{a,b}.pem", true),
        (of_alpha.as_str(), false),
        ("expired:path:b.pem", false),
        ("expired:path:*", true),
        ("expired:path:x/*", false),
    ] {
        let arguments = ["audit", "--at", AT, "--ignore", entry, "--fail-on", "expired", "a.pem"];
        let ran = run(&folder, &arguments);
        assert_eq!(ran.status, Some(i32::from(!matches)), "{entry}: {}", ran.stdout);
        let warnings = if matches { "1 warning," } else { "2 warnings," };
        assert!(ran.stdout.lines().next().unwrap().contains(warnings), "{entry}: {}", ran.stdout);
        // An entry that hides nothing is told, and says so.
        assert_eq!(ran.stdout.contains("unused-ignore"), !matches, "{entry}: {}", ran.stdout);
        let told = ran.stdout.lines().any(|line| line.contains("ignored: ") && line.contains("expired"));
        assert_eq!(told, matches, "{entry}: {}", ran.stdout);

        let report = json(&run(&folder, &[&arguments[..], &["--format", "json"]].concat()));
        let (ignored, others) = ignored_and_not(&report);
        let summary = &report["summary"];
        if matches {
            assert_eq!((ignored, others), (vec!["expired"], vec!["duplicate"]), "{entry}");
            assert_eq!((&summary["ignored"], &summary["warnings"]), (&1.into(), &1.into()), "{entry}");
        } else {
            assert!(ignored.is_empty(), "{entry}: {ignored:?}");
            assert!(others.contains(&"unused-ignore") && others.contains(&"expired"), "{entry}: {others:?}");
            assert_eq!((&summary["ignored"], &summary["notices"]), (&0.into(), &1.into()), "{entry}");
        }
        // The certificate is what it is.
        assert_eq!(summary["expired"], 1);
    }
    // With --verbose each one stands there whole.
    let ran = run(&folder, &["audit", "-v", "--at", AT, "--ignore", "expired", "a.pem"]);
    assert!(ran.stdout.contains("[expired]") && ran.stdout.contains("Expired Root"), "{}", ran.stdout);
    // A severity does not count it either, and an unused entry is a notice.
    let both = ["audit", "--at", AT, "--ignore", "expired", "--ignore", "duplicate", "a.pem"];
    assert_eq!(run(&folder, &[&both[..], &["--fail-on", "notice"]].concat()).status, Some(0));
    let unused = [&both[..], &["--ignore", "leftover", "--fail-on"]].concat();
    assert_eq!(run(&folder, &[&unused[..], &["notice"]].concat()).status, Some(1));
    assert_eq!(run(&folder, &[&unused[..], &["unused-ignore"]].concat()).status, Some(1));
    assert_eq!(run(&folder, &[&unused[..], &["warning"]].concat()).status, Some(0));
    // A star stops at a slash; two do not.
    let paths = |entry| ["audit", "--ignore", entry, "--fail-on", "unreachable", "d"];
    assert_eq!(run(&folder, &paths("unreachable:path:*.pem")).status, Some(1));
    assert_eq!(run(&folder, &paths("unreachable:path:**/*.pem")).status, Some(0));
    assert_eq!(run(&folder, &paths("unreachable:path:d/*.pem")).status, Some(0));
}

#[test]
fn a_list_of_what_is_ignored() {
    let folder = folder();
    let write = |text: &str| fs::write(folder.path().join("list"), text).unwrap();
    let audit = ["audit", "--at", AT, "--fail-on", "notice", "--ignore-file", "list", "a.pem"];
    let of_expired = format!("expired:sha256:{}", fingerprint(&expired()));
    write(&format!(
        "# accepted until June\n\n  {of_expired} # the old root\r\n\tduplicate:path:a.pem\n#expired\n"
    ));
    let ran = run(&folder, &audit);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
    // Together with the option.
    write("duplicate\n");
    assert_eq!(run(&folder, &audit).status, Some(1));
    assert_eq!(run(&folder, &[&audit[..], &["--ignore", "expired"]].concat()).status, Some(0));
    // Who mistypes an entry must not believe that it works.
    for (text, line) in [
        ("expird\n", 1),
        ("# one\n\nexpired\nduplicate:path\n", 4),
        ("expired:sha256:abc\n", 1),
        ("duplicate\nexpired:name:x", 2),
        ("expired:path:[\n", 1),
        ("unheard-of:path:a\n", 1),
    ] {
        write(text);
        let ran = run(&folder, &audit);
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{text:?}");
        assert!(ran.stderr.contains(&format!("list:{line}: ")), "{text:?}: {}", ran.stderr);
    }
    fs::write(folder.path().join("list"), b"expired\xff\n").unwrap();
    assert_eq!(run(&folder, &audit).status, Some(2));
    let ran = run(&folder, &["audit", "--ignore-file", "gone", "a.pem"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("gone"), "{}", ran.stderr);
    // An empty list ignores nothing.
    write("");
    assert_eq!(run(&folder, &audit).status, Some(1));
}

// ---- Which paths -----------------------------------------------------------------------------------------------

fn paths_of(report: &Value) -> Vec<&str> {
    report["sources"].as_array().unwrap().iter().map(|source| source["path"].as_str().unwrap()).collect()
}

#[test]
fn paths_from_a_list() {
    let folder = folder();
    let odd = "a name\nwith a newline.pem";
    fs::write(folder.path().join(odd), bravo().pem()).unwrap();
    let list = format!("a.pem\0{odd}\0");
    fs::write(folder.path().join("list"), &list).unwrap();
    fs::write(folder.path().join("open list"), list.trim_end_matches('\0')).unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    fs::write(folder.path().join("zeros"), "\0\0").unwrap();
    let mut wrong = Vec::new();
    for (line, paths) in [
        ("--files0-from list", &["a.pem", odd][..]),
        ("--files0-from 'open list'", &["a.pem", odd]),
        ("--files0-from - <list", &["a.pem", odd]),
        ("--files0-from - < <(cat list)", &["a.pem", odd]),
        ("--files0-from <(cat list)", &["a.pem", odd]),
        ("--files0-from /dev/stdin < <(cat list)", &["a.pem", odd]),
        ("d/alpha.pem --files0-from list", &["d/alpha.pem", "a.pem", odd]),
    ] {
        let ran = shell(&folder, "bash", &format!("castore audit --format json {line}"));
        if ran.status != Some(0) || paths_of(&json(&ran)) != paths {
            wrong.push(format!("{line}: {}", ran.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (list, more) in [("empty", ""), ("zeros", ""), ("/dev/null", ""), ("gone", "a.pem"), ("d", "a.pem")] {
        let ran = shell(&folder, "sh", &format!("castore audit --files0-from {list} {more}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{list}: {}", ran.stderr);
        assert!(ran.stderr.contains(list), "{list}: {}", ran.stderr);
    }
    // One that is not there does not stop the others.
    fs::write(folder.path().join("list"), "gone.pem\0a.pem\0").unwrap();
    let ran = run(&folder, &["audit", "--files0-from", "list"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stdout.starts_with("a.pem: ") && ran.stderr.contains("gone.pem"), "{}", ran.stderr);
}

#[test]
fn directories_below_are_read_when_asked() {
    let folder = folder();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        cases::make_directory(path.parent().unwrap());
        fs::write(path, text).unwrap();
    };
    let root = |seed: u64| Certificate::root(&format!("Root {seed}"), seed);
    write("tree/one.pem", root(11).pem());
    write("tree/sub/two.pem", root(12).pem());
    write("tree/sub/deep/er/three.pem", root(13).pem());
    write("outside/four.pem", root(14).pem());
    // Links to directories are not followed: no circle, and nothing outside.
    symlink("../outside", folder.path().join("tree/link")).unwrap();
    symlink("..", folder.path().join("tree/sub/up")).unwrap();
    // A link to a file is a member.
    symlink("../../outside/four.pem", folder.path().join("tree/sub/four.pem")).unwrap();
    let flat = json(&run(&folder, &["audit", "--format", "json", "tree"]));
    assert_eq!((&flat["summary"]["certificates"], paths_of(&flat)), (&1.into(), vec!["tree"]));
    for option in ["--recursive", "-R"] {
        let deep = json(&run(&folder, &["audit", "--format", "json", option, "tree"]));
        assert_eq!(deep["summary"]["certificates"], 4, "{option}");
        let directories = ["tree", "tree/sub", "tree/sub/deep", "tree/sub/deep/er"];
        assert_eq!(paths_of(&deep), directories, "{option}");
        // An empty directory in between is nothing that anybody named.
        let ids: Vec<&str> =
            deep["findings"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert!(!ids.contains(&"no-certificates"), "{ids:?}");
        assert_eq!(ids.iter().filter(|id| **id == "subdirectory").count(), 2, "the links: {ids:?}");
    }
    // Named twice, from above and by itself, it is read once.
    let twice = json(&run(&folder, &["audit", "--format", "json", "-R", "tree/sub", "tree"]));
    assert_eq!(twice["summary"]["occurrences"], 4);
}

#[test]
fn sizes_over_a_limit() {
    let folder = folder();
    let length = fs::metadata(folder.path().join("a.pem")).unwrap().len();
    for (size, status) in [
        (length.to_string(), 0),
        ((length - 1).to_string(), 1),
        ("1kB".to_owned(), i32::from(length > 1000)),
        ("1KiB".to_owned(), i32::from(length > 1024)),
        ("1MiB".to_owned(), 0),
        ("0".to_owned(), 1),
    ] {
        let arguments = ["audit", "--at", AT, "--max-size", &size, "--fail-on", "size-limit", "a.pem"];
        assert_eq!(run(&folder, &arguments).status, Some(status), "{size}");
    }
    for bad in ["", "1M", "1mib", "-1", "1.5MiB", "MiB", "99999999999999999999GiB"] {
        let ran = run(&folder, &["audit", &format!("--max-size={bad}"), "a.pem"]);
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{bad:?}");
        assert!(ran.stderr.contains("--max-size"), "{bad:?}: {}", ran.stderr);
    }
}

#[test]
fn without_a_path_it_is_what_openssl_would_use() {
    let folder = folder();
    cases::make_directory(&folder.path().join("e"));
    fs::write(folder.path().join("e/bravo.pem"), bravo().pem()).unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, d, e) = (path("a.pem"), path("d"), path("e"));
    let with = |variables: &[(&str, &str)], more: &[&str]| {
        let mut command = castore(&folder, &["audit", "--format", "json"]);
        ran(command.args(more).envs(variables.iter().copied()).output().unwrap())
    };
    let list = format!("{d}:{e}");
    let both = with(&[("SSL_CERT_FILE", &file), ("SSL_CERT_DIR", &list)], &[]);
    let report = json(&both);
    for path in [&file, &d, &e] {
        assert!(paths_of(&report).contains(&path.as_str()), "{path} is not in {:?}", paths_of(&report));
    }
    // Which, and why.
    for (path, why) in [(&file, "SSL_CERT_FILE"), (&d, "SSL_CERT_DIR"), (&e, "SSL_CERT_DIR")] {
        let note = both.stderr.lines().find(|line| line.contains(path.as_str()));
        assert!(note.is_some_and(|line| line.contains(why)), "{path}: {}", both.stderr);
    }
    // The machine's own directory and file are not OpenSSL's then.
    assert!(!both.stderr.contains("OPENSSLDIR"), "{}", both.stderr);
    let one = with(&[("SSL_CERT_DIR", &d)], &[]);
    assert!(one.stderr.lines().all(|line| !line.contains("certs in OPENSSLDIR")), "{}", one.stderr);
    // A variable that leads nowhere is what OpenSSL follows all the same: who set it must hear of it.
    let gone = path("gone.pem");
    let ran = with(&[("SSL_CERT_FILE", &gone), ("SSL_CERT_DIR", &d)], &[]);
    assert!(ran.stderr.contains(&gone), "nothing is said of SSL_CERT_FILE={gone}: {}", ran.stderr);
    // A path that is named is all.
    let ran = with(&[("SSL_CERT_FILE", &file), ("SSL_CERT_DIR", &d)], &[&e]);
    assert_eq!((paths_of(&json(&ran)), ran.stderr.as_str()), (vec![e.as_str()], ""));
    let quiet = with(&[("SSL_CERT_FILE", &file), ("SSL_CERT_DIR", &d)], &["--quiet"]);
    assert_eq!((quiet.status, quiet.stdout.as_str(), quiet.stderr.as_str()), (Some(0), "", ""));

    // Inside a root the variables of this machine mean nothing.
    let root = folder.path().join("root");
    cases::make_directory(&root.join("etc/ssl/certs"));
    cases::make_directory(&root.join("usr/lib/ssl"));
    fs::write(root.join("etc/ssl/certs/ca-certificates.crt"), alpha().pem() + &bravo().pem()).unwrap();
    fs::write(root.join("etc/ssl/certs/alpha.pem"), alpha().pem()).unwrap();
    symlink("alpha.pem", root.join(format!("etc/ssl/certs/{ALPHA}.0"))).unwrap();
    symlink("/etc/ssl/certs", root.join("usr/lib/ssl/certs")).unwrap();
    symlink("/etc/ssl/certs/ca-certificates.crt", root.join("usr/lib/ssl/cert.pem")).unwrap();
    let inside = with(&[("SSL_CERT_FILE", &file), ("SSL_CERT_DIR", &d)], &["--root", root.to_str().unwrap()]);
    let report = json(&inside);
    assert_eq!(paths_of(&report), ["/etc/ssl/certs", "/etc/ssl/certs/ca-certificates.crt"]);
    assert!(
        !inside.stderr.contains("SSL_CERT") && inside.stderr.contains("/usr/lib/ssl"),
        "{}",
        inside.stderr
    );
    // Nothing there at all is an error with a reason.
    let empty = folder.path().join("empty");
    cases::make_directory(&empty);
    let ran = with(&[], &["--root", empty.to_str().unwrap()]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("PATH"), "{}", ran.stderr);
}

// ---- Inside a root ---------------------------------------------------------------------------------------------

/// A root with links of every kind, beside a directory of which nothing must be seen. The outside is also inside, under
/// the same absolute path, with other content.
struct Rooted {
    folder: TempDir,
    root: PathBuf,
    /// As it is outside, and as a path inside means it.
    outside: PathBuf,
}

fn delta() -> Certificate {
    Certificate::root("Delta Root", 21)
}

fn rooted() -> Rooted {
    let folder = tempfile::tempdir().unwrap();
    cases::set_mode(folder.path(), 0o755);
    let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
    let write = |path: PathBuf, text: String| {
        let mut missing: Vec<&Path> = path.ancestors().skip(1).take_while(|path| !path.exists()).collect();
        while let Some(directory) = missing.pop() {
            cases::make_directory(directory);
        }
        fs::write(&path, text).unwrap();
        cases::set_mode(&path, 0o644);
    };
    let link = |target: &str, name: &str| symlink(target, root.join(name)).unwrap();
    let mirrored = root.join(outside.strip_prefix("/").unwrap());
    write(outside.join("secret.pem"), Certificate::root("Outside", 20).pem());
    write(outside.join("bundle.pem"), Certificate::root("Outside", 20).pem());
    write(mirrored.join("secret.pem"), delta().pem());
    write(root.join("etc/ssl/certs/alpha.pem"), alpha().pem());
    write(root.join("usr/share/bravo.crt"), bravo().pem());
    let outside_text = outside.to_str().unwrap();
    link("alpha.pem", &format!("etc/ssl/certs/{ALPHA}.0"));
    // Absolute, up, a chain through directories, up beyond the root, in a circle, through a circle.
    link("/usr/share/bravo.crt", "etc/ssl/certs/bravo.pem");
    link("../../../usr/share/bravo.crt", "etc/ssl/certs/up.pem");
    link("/step", "etc/ssl/certs/chain.pem");
    link("etc/../usr/share/bravo.crt", "step");
    link(&format!("{outside_text}/secret.pem"), "etc/ssl/certs/absolute.pem");
    link(&format!("../../../../../../../../../../{outside_text}/secret.pem"), "etc/ssl/certs/far.pem");
    link("/etc/ssl/certs/loop.pem", "etc/ssl/certs/loop.pem");
    link("/dir/x.pem", "etc/ssl/certs/through.pem");
    link("/dir", "dir");
    link("/proc/self/root/etc/passwd", "etc/ssl/certs/magic.pem");
    link("/etc/ssl", "ssl");
    Rooted { folder, root, outside }
}

#[test]
fn paths_start_inside_the_root() {
    let Rooted { folder, root, outside } = rooted();
    let root_text = root.to_str().unwrap();
    let audit = |paths: &[&str]| {
        let arguments = [&["audit", "--format", "json", "--at", AT, "--root", root_text], paths].concat();
        json(&run(&folder, &arguments))
    };
    let report = audit(&["/etc/ssl/certs"]);
    let found: Vec<&str> = report["certificates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["subject"].as_str().unwrap())
        .collect();
    assert_eq!(found.len(), 3, "{found:?}");
    for subject in ["CN=Alpha Root", "CN=Bravo Root", "CN=Delta Root"] {
        assert!(found.contains(&subject), "{subject} is not in {found:?}");
    }
    // Paths are those of the inside; where that is, is said once.
    assert_eq!(report["root"], root_text);
    assert_eq!(paths_of(&report), ["/etc/ssl/certs"]);
    for file in report["files"].as_array().unwrap() {
        assert!(file["path"].as_str().unwrap().starts_with("/etc/ssl/certs/"), "{}", file["path"]);
    }
    assert!(!serde_json::to_string(&report["findings"]).unwrap().contains(root_text));
    let place = |id: &str| -> Vec<&str> {
        let rows = report["findings"].as_array().unwrap().iter().filter(|row| row["id"] == id);
        rows.map(|row| row["occurrences"][0]["path"].as_str().unwrap()).collect()
    };
    assert_eq!(place("link-loop"), ["/etc/ssl/certs/loop.pem", "/etc/ssl/certs/through.pem"]);
    assert_eq!(place("link-out-of-root"), ["/etc/ssl/certs/far.pem"]);
    // However the directory is named.
    for name in ["etc/ssl/certs", "/ssl/certs", "/../etc/ssl/certs", "/etc/../../etc/ssl/certs/"] {
        assert_eq!(audit(&[name])["summary"]["digest"], report["summary"]["digest"], "{name}");
    }
    // What is there outside alone is not there.
    let bundle = outside.join("bundle.pem");
    let ran = run(&folder, &["audit", "--root", root_text, bundle.to_str().unwrap()]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    for gone in ["gone", "root/etc/ssl/certs/alpha.pem"] {
        let ran = run(&folder, &["audit", "--root", gone, "/etc/ssl/certs"]);
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{gone}");
        assert!(ran.stderr.contains(gone), "{}", ran.stderr);
    }
}

/// The commands that take a root, with paths of [`rooted`].
fn rooted_commands(outside: &Path) -> Vec<Vec<String>> {
    let out = outside.to_str().unwrap();
    [
        "audit /etc/ssl/certs",
        "audit -R /",
        "audit",
        "audit --format json /ssl/certs",
        &format!("audit {out}/secret.pem"),
        "compact /etc/ssl/certs --gain accept --bundle /ssl/bundle.pem --capath /ssl/new",
        &format!("compact /etc/ssl/certs --bundle {out}/bundle.pem"),
        "rehash /ssl/certs",
    ]
    .iter()
    .map(|line| line.split(' ').map(str::to_owned).collect())
    .collect()
}

#[test]
fn no_path_outside_the_root_is_opened() {
    if support::skip_without(&["strace"]) {
        return;
    }
    let Rooted { folder, root, outside } = rooted();
    let traced = support::required("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    if !traced.is_ok_and(|status| status.success()) {
        eprintln!("skipped: strace may not trace here");
        return;
    }
    let mut wrong = Vec::new();
    for command in rooted_commands(&outside) {
        let log = folder.path().join("log");
        let (name, rest) = command.split_first().unwrap();
        let output = support::required("strace")
            .args(["-f", "-qq", "-s", "4096", "-e", "trace=%file,openat2,statx,fstatfs", "-o"])
            .arg(&log)
            .arg(support::program())
            .args([name, "--root"])
            .arg(&root)
            .args(rest)
            .current_dir(folder.path())
            .output()
            .unwrap();
        let text = fs::read_to_string(&log).unwrap();
        let mut calls =
            text.lines().map(|line| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' '));
        // Up to here the loader has worked; from here on all paths are the store's.
        let opened = format!("\"{}\"", root.display());
        let first = calls.find(|call| call.contains(&opened) && call.contains("O_PATH"));
        let handle = first.and_then(|call| call.rsplit("= ").next()).expect("the root is opened").to_owned();
        let inside = format!("openat2({handle}, ");
        let mut seen = 0;
        for call in calls {
            if call.starts_with(&inside) {
                seen += 1;
                if !call.contains("RESOLVE_IN_ROOT") {
                    wrong.push(format!("{command:?}: {call}"));
                }
                continue;
            }
            // A handle alone, or a plain name in a directory that is held open, which no link leads away from.
            let (function, arguments) = call.split_once('(').unwrap_or((call, ""));
            let (at, path) = arguments.split_once(", \"").unwrap_or((arguments, ""));
            let path = path.split('"').next().unwrap_or_default();
            let by_handle = at.bytes().all(|byte| byte.is_ascii_digit()) && !at.is_empty();
            let follows = function.starts_with("open") && !call.contains("O_NOFOLLOW") && path != ".";
            let plain = by_handle && !path.contains('/') && path != ".." && !follows;
            let renames = function.starts_with("renameat") && !arguments.contains('/');
            let links = function == "symlinkat" && !arguments.contains("AT_FDCWD");
            let ended = call.starts_with("+++") || call.starts_with("---") || function == "exit_group";
            // How many threads the machine has room for.
            let machine = ["\"/proc/self/", "\"/sys/fs/cgroup", "\"/proc/sys/"]
                .iter()
                .any(|start| call.contains(start));
            if !(plain || renames || links || ended || machine) {
                wrong.push(format!("{command:?}: {call}"));
            }
        }
        assert!(seen > 1, "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        let said = [output.stdout, output.stderr].concat();
        assert!(!String::from_utf8_lossy(&said).contains("CN=Outside"), "{command:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_written_outside_the_root() {
    let Rooted { folder, root, outside } = rooted();
    let before = support::tree_state(&outside);
    for command in rooted_commands(&outside) {
        let (name, rest) = command.split_first().unwrap();
        let mut words: Vec<&str> = vec![name, "--root", root.to_str().unwrap()];
        words.extend(rest.iter().map(String::as_str));
        let ran = run(&folder, &words);
        assert_eq!(ran.status, Some(0), "{command:?}: {}", ran.stderr);
        assert_eq!(support::tree_state(&outside), before, "{command:?}");
    }
    // It went where the same path leads inside.
    let mirrored = root.join(outside.strip_prefix("/").unwrap()).join("bundle.pem");
    assert!(mirrored.is_file());
    let bundle = fs::read_to_string(root.join("etc/ssl/bundle.pem")).unwrap();
    assert!(bundle.contains(&alpha().pem()));
    let state = support::tree_state(&root.join("etc/ssl/new"));
    assert_eq!(state[Path::new(".")].mode, 0o755);
    assert_eq!(state[Path::new(&format!("{ALPHA}.0"))].target.as_deref(), Some(Path::new("Alpha_Root.pem")));
    // The links that rehash makes lead to members by their bare names.
    let links = support::tree_state(&root.join("etc/ssl/certs"));
    assert!(links.contains_key(Path::new("4f1516a8.0")), "{:?}", links.keys());
    let bare = links[Path::new("4f1516a8.0")].target.clone().unwrap();
    assert_eq!(bare.components().count(), 1, "{bare:?}");
}

#[test]
fn a_root_needs_no_privilege() {
    let Rooted { folder, root, .. } = rooted();
    let mut program = support::program().to_owned();
    let superuser = rustix::process::geteuid().is_root();
    if superuser {
        let Some(copy) = cases::copy_for_nobody(folder.path()) else {
            eprintln!("skipped: root cannot become nobody here");
            return;
        };
        program = copy;
        for path in ["etc/ssl", "etc/ssl/certs"] {
            rustix::fs::chown(
                root.join(path),
                Some(rustix::fs::Uid::from_raw(cases::NOBODY)),
                Some(rustix::fs::Gid::from_raw(cases::NOBODY)),
            )
            .unwrap();
        }
    }
    for line in [
        "audit --root root /etc/ssl/certs",
        "rehash --root root /etc/ssl/certs",
        "compact --root root /etc/ssl/certs --bundle /ssl/b.pem --capath /ssl/new",
    ] {
        let mut command = Command::new(&program);
        command.env_clear().stdin(Stdio::null()).args(line.split(' ')).current_dir(folder.path());
        if superuser {
            command.uid(cases::NOBODY).gid(cases::NOBODY);
        }
        let ran = ran(command.output().unwrap());
        assert_eq!(ran.status, Some(0), "{line}: {}", ran.stderr);
    }
    assert!(root.join("etc/ssl/b.pem").is_file() && root.join("etc/ssl/new").is_dir());
}

// ---- What compact leaves out, and how it writes ------------------------------------------------------------------

fn spki_digest(certificate: &Certificate) -> String {
    support::sha256_hex(&certificate.spki)
}

/// The subjects of what is written, by their place.
fn subjects(path: &Path) -> Vec<String> {
    support::openssl_views(path).into_iter().map(|view| view.subject).collect()
}

#[test]
fn compact_removes_what_is_named() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let folder = folder();
    // Another name of Bravo's key.
    let renamed = Certificate { spki: bravo().spki, ..Certificate::root("Charlie Root", 9) };
    let three = alpha().pem() + &bravo().pem() + &renamed.pem();
    fs::write(folder.path().join("three.pem"), &three).unwrap();
    let compact = |more: &[&str]| {
        let out = folder.path().join("out.pem");
        let _ = fs::remove_file(&out);
        let ran =
            run(&folder, &[&["compact", "three.pem", "--at", AT, "--bundle", "out.pem"], more].concat());
        let left = if out.exists() { subjects(&out) } else { Vec::new() };
        (ran, left)
    };
    let (alpha_text, bravo_text, charlie_text) = ("CN=Alpha Root", "CN=Bravo Root", "CN=Charlie Root");
    let by_fingerprint = format!("sha256:{}", fingerprint(&bravo()));
    let by_key = format!("spki:{}", spki_digest(&bravo()));
    let of_nobody = format!("sha256:{}", "0".repeat(64));

    let (ran, left) = compact(&["--remove", &by_fingerprint]);
    assert_eq!((ran.status, left), (Some(0), vec![alpha_text.to_owned(), charlie_text.to_owned()]));
    assert!(ran.stdout.contains("Bravo Root"), "what goes is named: {}", ran.stdout);
    // As openssl prints fingerprints.
    let colons: Vec<String> = fingerprint(&bravo())
        .as_bytes()
        .chunks(2)
        .map(|pair| String::from_utf8_lossy(pair).to_ascii_uppercase())
        .collect();
    assert_eq!(compact(&["--remove", &format!("sha256:{}", colons.join(":"))]).1.len(), 2);
    let (ran, left) = compact(&["--remove", &by_key]);
    assert_eq!((ran.status, left), (Some(0), vec![alpha_text.to_owned()]));
    assert!(ran.stdout.contains("Bravo Root") && ran.stdout.contains("Charlie Root"), "{}", ran.stdout);

    // A list, and what it names twice.
    let list = format!("# distrusted in 2024\n\n{by_fingerprint}  # Bravo\r\n\t{by_key}\n#{of_nobody}\n");
    fs::write(folder.path().join("list"), list).unwrap();
    let (ran, left) = compact(&["--remove-list", "list", "--require-match"]);
    assert_eq!((ran.status, left), (Some(0), vec![alpha_text.to_owned()]), "{}", ran.stderr);

    // What meets nothing is a warning, or status 2.
    let (ran, left) = compact(&["--remove", &of_nobody]);
    assert_eq!((ran.status, left.len()), (Some(0), 3));
    assert!(ran.stderr.contains(&of_nobody), "{}", ran.stderr);
    let (ran, left) = compact(&["--remove", &of_nobody, "--remove", &by_key, "--require-match"]);
    assert_eq!((ran.status, ran.stdout.as_str(), left.len()), (Some(2), "", 0));
    assert!(ran.stderr.contains(&of_nobody), "{}", ran.stderr);
    // All gone is refused.
    let of_alpha = format!("sha256:{}", fingerprint(&alpha()));
    assert_eq!(compact(&["--remove", &of_alpha, "--remove", &by_key]).0.status, Some(2));

    for bad in ["", "sha256:", "sha256:abcd", "sha1:aaaa", &fingerprint(&bravo()), bravo_text] {
        let (ran, left) = compact(&["--remove", bad]);
        assert_eq!((ran.status, ran.stdout.as_str(), left.len()), (Some(2), "", 0), "{bad:?}");
        assert!(ran.stderr.contains("--remove"), "{bad:?}: {}", ran.stderr);
        if !bad.is_empty() {
            fs::write(folder.path().join("list"), format!("# one\n{by_key}\n{bad}\n")).unwrap();
            let (ran, left) = compact(&["--remove-list", "list"]);
            assert_eq!((ran.status, left.len()), (Some(2), 0), "{bad:?}");
            assert!(ran.stderr.contains("list:3"), "{bad:?}: {}", ran.stderr);
        }
    }
    // What goes by name does not count for --max-shrink, in a bundle and in a directory.
    fs::write(folder.path().join("out.pem"), &three).unwrap();
    let again = ["compact", "out.pem", "--bundle", "out.pem", "--remove", &by_key, "--max-shrink", "0"];
    let ran = run(&folder, &again);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert_eq!(subjects(&folder.path().join("out.pem")), [alpha_text]);
}

#[test]
fn comments_before_blocks() {
    if support::skip_without(&["openssl", "certtool"]) {
        return;
    }
    let folder = folder();
    let input = format!(
        "# Alpha, first line\n#second line\n{}stray text\n# -----BEGIN CERTIFICATE----- quoted\n# esc \u{1b}[31m\n{}{}",
        alpha().pem(),
        bravo().pem(),
        Certificate::root("-----BEGIN CERTIFICATE-----", 31).pem(),
    );
    fs::write(folder.path().join("in.pem"), input).unwrap();
    let out = folder.path().join("out.pem");
    for (policy, comments) in [("none", 0), ("label", 3), ("keep", 3)] {
        let _ = fs::remove_file(&out);
        let arguments = ["compact", "in.pem", "--bundle", "out.pem", "--comments", policy];
        let ran = run(&folder, &arguments);
        assert_eq!(ran.status, Some(0), "{policy}: {}", ran.stderr);
        let text = fs::read_to_string(&out).unwrap();
        let lines: Vec<&str> =
            text.lines().filter(|line| line.starts_with('#') && !line.contains("quoted")).collect();
        assert_eq!(lines.len(), comments, "{policy}: {lines:?}");
        match policy {
            "label" => {
                assert!(lines[0].contains("Alpha Root") && lines[1].contains("Bravo Root"), "{lines:?}")
            }
            "keep" => assert!(lines[0].contains("Alpha, first line") && lines[1].contains("second line")),
            _ => {}
        }
        // No comment is a boundary or plays tricks, and no reader loses a block for it.
        assert_eq!(text.matches("-----BEGIN").count(), 3, "{policy}: {text}");
        assert!(!text.chars().any(|character| character != '\n' && tricky(character)), "{policy}");
        assert!(!text.contains("stray"), "{policy}");
        assert_eq!(support::openssl_views(&out).len(), 3, "{policy}");
        assert_eq!(support::certtool_count(&out), Ok(3), "{policy}");
        // Twice the same input, and its own output.
        let before = support::tree_state(folder.path());
        assert_eq!(run(&folder, &[&arguments[..], &["--check"]].concat()).status, Some(0), "{policy}");
        for input in ["in.pem", "out.pem"] {
            let ran = run(&folder, &["compact", input, "--bundle", "out.pem", "--comments", policy]);
            assert_eq!(ran.status, Some(0), "{policy}, {input}");
            assert_eq!(support::tree_state(folder.path()), before, "{policy}, {input}: {}", ran.stdout);
        }
    }
}

#[test]
fn unreachable_members_go_in_when_asked() {
    let folder = folder();
    // `d` has Alpha with a link, and Bravo without.
    let ran = run(&folder, &["compact", "d", "--bundle", "list.pem"]);
    assert_eq!(ran.status, Some(0));
    assert_eq!(fs::read_to_string(folder.path().join("list.pem")).unwrap(), alpha().pem());
    assert!(ran.stdout.contains("Bravo Root"), "what is left out is listed: {}", ran.stdout);
    let arguments = ["compact", "d", "--bundle", "all.pem", "--unreachable", "include", "--format", "json"];
    let report = json(&run(&folder, &arguments));
    assert_eq!(fs::read_to_string(folder.path().join("all.pem")).unwrap(), alpha().pem() + &bravo().pem());
    let changes = report["changes"].as_array().unwrap();
    let gain = changes.iter().find(|change| change["action"] == "gain").expect("it is a gain");
    assert_eq!(gain["sha256"], fingerprint(&bravo()));
    // Onto an existing output it is a gain that must be accepted.
    let onto = ["compact", "d", "--bundle", "list.pem", "--unreachable", "include"];
    assert_eq!(run(&folder, &onto).status, Some(2));
    assert_eq!(run(&folder, &[&onto[..], &["--gain", "accept"]].concat()).status, Some(0));
}

#[test]
fn a_directory_of_regular_files_alone() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let folder = folder();
    let rekeyed = Certificate::root("Alpha Root", 41);
    let chosen = [alpha(), bravo(), rekeyed];
    fs::write(folder.path().join("in.pem"), chosen.iter().map(Certificate::pem).collect::<String>()).unwrap();
    let arguments = ["compact", "in.pem", "--capath", "out", "--output-links", "copy"];
    let ran = run(&folder, &arguments);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let out = folder.path().join("out");
    assert_eq!(tree(&out), [". 755", "4f1516a8.0 644", "743aa637.0 644", "743aa637.1 644"]);
    // In the order of the input: OpenSSL uses the first of a subject.
    assert_eq!(fs::read_to_string(out.join("743aa637.0")).unwrap(), alpha().pem());
    let blocks: Vec<Vec<u8>> = chosen.iter().map(|certificate| certificate.pem().into_bytes()).collect();
    let found = support::openssl_verify_each(support::Trust::CaPath(&out), &blocks);
    assert_eq!(found, chosen.iter().map(fingerprint).collect());
    let before = support::tree_state(folder.path());
    assert_eq!(run(&folder, &[&arguments[..], &["--check"]].concat()).status, Some(0));
    let again = run(&folder, &arguments);
    assert!(again.status == Some(0) && again.stdout.contains("nothing to do"), "{}", again.stdout);
    assert_eq!(support::tree_state(folder.path()), before);
    // No certificate has two names there, and rehash has nothing to do.
    let report = json(&run(&folder, &["audit", "--format", "json", "--at", AT, "out"]));
    assert_eq!(
        report["findings"].as_array().unwrap().iter().filter(|row| row["id"] != "same-subject").count(),
        0
    );
    assert_eq!(run(&folder, &["rehash", "--check", "out"]).status, Some(0));
}

#[test]
fn a_report_in_a_file() {
    let folder = folder();
    let compact = ["compact", "a.pem", "--at", AT, "--bundle", "out.pem"];
    let ran = run(&folder, &[&compact[..], &["--report", "r.json", "--format", "json"]].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let report: Value = serde_json::from_slice(&fs::read(folder.path().join("r.json")).unwrap()).unwrap();
    assert_eq!(report, json(&ran));
    let actions: Vec<&str> = report["changes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|change| change["sha256"] == fingerprint(&expired()))
        .map(|change| change["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["drop"]);
    fs::remove_file(folder.path().join("out.pem")).unwrap();
    // A hook is quiet, and has its report all the same; as everything that is written: 0644, whole, over an old one.
    fs::write(folder.path().join("r.txt"), "old").unwrap();
    let line = format!("umask 077; castore {} --quiet --report r.txt", compact.join(" "));
    let ran = shell(&folder, "sh", &line);
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
    let text = fs::read_to_string(folder.path().join("r.txt")).unwrap();
    assert!(text.contains("Expired Root") && text.contains("a.pem") && !text.contains("old\n"), "{text}");
    assert!(!text.contains('\u{1b}'));
    assert_eq!(support::tree_state(folder.path())[Path::new("r.txt")].mode, 0o644);
    // One that cannot be written is no success, and then nothing is written at all.
    fs::remove_file(folder.path().join("out.pem")).unwrap();
    let before = support::tree_state(folder.path());
    let ran = run(&folder, &[&compact[..], &["--report", "gone/r.txt"]].concat());
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("gone"), "{}", ran.stderr);
    assert!(support::tree_state(folder.path()) == before, "something was written");
}

#[test]
fn a_directory_does_not_shrink_by_surprise() {
    let folder = folder();
    let roots: Vec<Certificate> =
        (50..60).map(|seed| Certificate::root(&format!("Root {seed}"), seed)).collect();
    let bundle = |name: &str, chosen: &[Certificate]| {
        let text: String = chosen.iter().map(Certificate::pem).collect();
        fs::write(folder.path().join(name), text).unwrap();
    };
    bundle("ten.pem", &roots);
    bundle("eight.pem", &roots[2..]);
    bundle("seven.pem", &roots[3..]);
    assert_eq!(run(&folder, &["compact", "ten.pem", "--capath", "out"]).status, Some(0));
    let before = support::tree_state(folder.path());
    // Three of ten are more than 20 per cent; without --prune nothing goes.
    let prune = ["compact", "seven.pem", "--capath", "out", "--prune"];
    let ran = run(&folder, &prune);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("--max-shrink"), "{}", ran.stderr);
    assert_eq!(support::tree_state(folder.path()), before);
    assert_eq!(run(&folder, &prune[..4]).status, Some(0));
    assert_eq!(support::tree_state(folder.path()), before);
    // Two of ten are not more; a larger limit takes three; what is named counts for nothing.
    assert_eq!(run(&folder, &["compact", "eight.pem", "--capath", "out", "--prune", "-n"]).status, Some(0));
    assert_eq!(run(&folder, &[&prune[..], &["--max-shrink", "30", "-n"]].concat()).status, Some(0));
    assert_eq!(run(&folder, &[&prune[..], &["--max-shrink", "29", "-n"]].concat()).status, Some(2));
    let ids: Vec<String> = roots[..3].iter().map(|root| format!("sha256:{}", fingerprint(root))).collect();
    let removes = ["--remove", &ids[0], "--remove", &ids[1], "--remove", &ids[2]];
    let named =
        [&["compact", "ten.pem", "--capath", "out", "--prune", "--max-shrink", "0"], &removes[..]].concat();
    assert_eq!(run(&folder, &named).status, Some(0));
    assert_eq!(support::names_in(&folder.path().join("out")).len(), 14);
}

// ---- Completions and manual pages ------------------------------------------------------------------------------

#[test]
fn completions_are_sound() {
    let folder = folder();
    for name in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(&folder, &["completions", name]);
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{name}");
        for command in commands() {
            assert!(ran.stdout.contains(&command), "{name}: {command} is not completed");
        }
        assert!(ran.stdout.contains("fail-on") && ran.stdout.contains("malformed"), "{name}");
        // zsh and fish are not everywhere; bash is.
        if !["bash", "zsh", "fish"].contains(&name) {
            continue;
        }
        let Some(mut command) = support::optional(name) else { continue };
        let script = folder.path().join(name);
        fs::write(&script, &ran.stdout).unwrap();
        let output = command.arg("-n").arg(&script).output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{name}: {}",
            support::complaint(&output)
        );
    }
    let ran = shell(
        &folder,
        "bash",
        "source <(castore completions bash) && COMP_WORDS=(castore audit --f) COMP_CWORD=2 \
         && _castore castore --f audit && echo \"${COMPREPLY[*]}\"",
    );
    assert_eq!((ran.stdout.trim(), ran.stderr.as_str()), ("--files0-from --format --fail-on", ""));
}

#[test]
fn manual_pages_have_no_faults() {
    support::skip_without(&["groff"]);
    let folder = folder();
    let mut pages = vec![String::new()];
    pages.extend(commands());
    for page in &pages {
        let arguments: Vec<&str> = ["man", page].into_iter().filter(|word| !word.is_empty()).collect();
        let ran = run(&folder, &arguments);
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""), "{page:?}");
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] {
            assert!(ran.stdout.contains(&format!(".SH {section}\n")), "{page:?} has no {section}");
        }
        let odd = ran.stdout.lines().find(|line| !line.is_ascii());
        assert_eq!(odd, None, "{page:?}: what is not ASCII, man shows as it likes");
        // Name, section, date, source, manual. An empty field without quotes shifts those behind it.
        let title = ran.stdout.lines().find_map(|line| line.strip_prefix(".TH ")).unwrap();
        let fields = title.split('"').enumerate().map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().count(),
            _ => 1,
        });
        assert_eq!(fields.sum::<usize>(), 5, "{page:?}: .TH {title}");
        let path = folder.path().join("page.1");
        fs::write(&path, &ran.stdout).unwrap();
        // mandoc calls paragraphs of clap_mangen superfluous: no error.
        for (name, options) in
            [("groff", &["-man", "-ww", "-z", "-Tutf8"][..]), ("mandoc", &["-T", "lint", "-W", "error"])]
        {
            let Some(mut command) = support::optional(name) else { continue };
            let output = command.args(options).arg(&path).output().unwrap();
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(output.status.success() && said.is_empty(), "{name}, {page:?}: {said}");
        }
    }
}
