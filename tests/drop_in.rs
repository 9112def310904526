//! castore in the place of `openssl rehash` and of `c_rehash`: command lines, directories, lines and status beside
//! those of the real programs, and each fault of theirs that it does not have.
#![cfg(feature = "cli")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that makes files and runs programs"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, FlockOperation, Mode, mknodat};
use support::capath::{
    all_wrong, contents, crl, hash, key, link, links, numbered, old_hash, put, root, same, wait,
};
use support::der::{self, Certificate, oids};
use support::{EntryKind, Trust, cases};
use tempfile::TempDir;

// ---- Runs ------------------------------------------------------------------------------------------------------

/// The two that are compared, or the two of the other pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Program {
    /// `castore rehash`
    Castore,
    /// `openssl rehash`
    Openssl,
    /// castore, called `c_rehash`
    CastoreAsScript,
    /// OpenSSL's script
    Script,
}
use Program::{Castore, CastoreAsScript, Openssl, Script};

fn command(program: Program) -> Command {
    let mut command = match program {
        Castore | CastoreAsScript => support::castore(),
        Openssl => support::required("openssl"),
        Script => support::required("c_rehash"),
    };
    match program {
        Castore | Openssl => {
            command.arg("rehash");
        }
        CastoreAsScript => {
            command.arg0("c_rehash");
        }
        Script => {}
    }
    command
}

struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

fn ran(output: Output) -> Ran {
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn run(program: Program, folder: &Path, arguments: &[&str]) -> Ran {
    ran(command(program).args(arguments).current_dir(folder).output().expect("it starts"))
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// A folder with a directory `d` and one `outside` beside it.
fn folder(build: fn(&Path)) -> TempDir {
    let folder = tempfile::tempdir().expect("a directory");
    for name in ["d", "outside"] {
        fs::create_dir(folder.path().join(name)).expect("a directory");
    }
    build(&folder.path().join("d"));
    folder
}

fn d(folder: &TempDir) -> PathBuf {
    folder.path().join("d")
}

fn one_and_two(directory: &Path) {
    numbered(directory, [root(1), root(2)]);
}

/// Certificates that `openssl verify` finds in a directory.
fn found(directory: &Path, asked: &[Certificate]) -> usize {
    let asked: Vec<Vec<u8>> = asked.iter().map(|one| one.pem().into_bytes()).collect();
    support::openssl_verify_each(Trust::CaPath(directory), &asked).len()
}

// ---- openssl rehash: lines and words ---------------------------------------------------------------------------

/// A directory by its name, and what makes it.
type Shape = (&'static str, fn(&Path));

/// Directories that `openssl rehash` handles right.
const RIGHT: &[Shape] = &[
    ("empty", |_| {}),
    ("fresh", one_and_two),
    ("right already", |d| {
        one_and_two(d);
        link(d, format!("{}.0", hash(&root(1))), "001.pem");
        link(d, format!("{}.0", hash(&root(2))), "002.pem");
    }),
    ("half of it there", |d| {
        numbered(d, [root(1), same(1), same(2)]);
        link(d, format!("{}.0", hash(&same(2))), "003.pem");
        link(d, format!("{}.0", old_hash(&root(1))), "001.pem");
    }),
    ("stale", |d| {
        one_and_two(d);
        link(d, "12345678.0", "gone.pem");
        link(d, "12345678.1", "001.pem");
        link(d, "0badcafe.r0", "001.pem");
    }),
    ("lists", |d| {
        put(d, "ca.pem", root(1).pem());
        put(d, "a.crl", crl(&root(1), 1));
        put(d, "b.crl", crl(&root(1), 2));
        link(d, format!("{}.r0", hash(&root(1))), "b.crl");
    }),
    ("names with blanks", |d| put(d, "a root.pem", root(1).pem())),
];

/// What a run prints, and makes, is what the real one does: the order aside, which there is that of a hash table.
#[test]
fn lines_of_openssl_rehash() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    const MANNERS: &[&[&str]] =
        &[&["-v"], &["-compat", "-v"], &["-v", "-old"], &["-n", "-v"], &["-v", "-n", "-old"]];
    let all: Vec<_> =
        RIGHT.iter().flat_map(|shape| MANNERS.iter().map(move |manner| (shape, *manner))).collect();
    all_wrong(
        &all,
        |((name, _), manner)| format!("{name} {manner:?}"),
        |((_, build), manner)| {
            let (own, theirs) = (folder(*build), folder(*build));
            let arguments = [manner, &["d"][..]].concat();
            let before = support::tree_state(own.path());
            let dry = run(Castore, own.path(), &[&arguments[..], &["--dry-run"]].concat());
            let check = run(Castore, own.path(), &[&arguments[..], &["--check"]].concat());
            assert_eq!(support::tree_state(own.path()), before, "something was changed");
            let real = run(Openssl, theirs.path(), &arguments);
            let changed = links(&d(&own)) != links(&d(&theirs));
            let ours = run(Castore, own.path(), &arguments);
            assert_eq!((real.status, ours.status, dry.status), (Some(0), Some(0), Some(0)));
            assert_eq!(check.status, Some(i32::from(changed)));
            assert_eq!(sorted(&ours.stdout), sorted(&real.stdout));
            assert_eq!((&dry.stdout, &check.stdout), (&ours.stdout, &ours.stdout));
            assert_eq!((ours.stderr.as_str(), real.stderr.as_str()), ("", ""));
            assert_eq!(links(&d(&own)), links(&d(&theirs)));
            // And once more, where nothing changes: the links that stand are printed all the same.
            let (ours, real) =
                (run(Castore, own.path(), &arguments), run(Openssl, theirs.path(), &arguments));
            assert_eq!(sorted(&ours.stdout), sorted(&real.stdout));
        },
    );
}

/// Members that get no link, as kind and name: `warning: skipping duplicate certificate in F`, `warning: skipping F,`.
fn skipped(stderr: &str) -> BTreeSet<(String, String)> {
    stderr
        .lines()
        .map(|line| {
            let (_, text) = line.split_once(": warning: skipping ").unwrap_or_else(|| panic!("{line}"));
            match text.split_once(" in ") {
                Some((kind, name)) if kind.starts_with("duplicate") => (kind.to_owned(), name.to_owned()),
                _ => {
                    let (name, why) = text.split_once(',').unwrap_or_else(|| panic!("{line}"));
                    assert!(why.contains("it does not contain exactly one certificate or CRL"), "{line}");
                    ("not one".to_owned(), name.to_owned())
                }
            }
        })
        .collect()
}

#[test]
fn warnings_of_openssl_rehash() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let build = |d: &Path| {
        put(d, "a.pem", root(1).pem());
        put(d, "b.pem", root(1).pem());
        put(d, "c.crt", root(1).trusted_pem(&[oids::SERVER_AUTH], &[]));
        link(d, "e.cer", "a.pem");
        put(d, "chain.pem", root(2).pem() + &root(3).pem());
        put(d, "page.pem", "<html>\n");
        put(d, "empty.crt", "");
        put(d, "der.cer", root(4).der());
        put(d, "a.crl", crl(&root(1), 1));
        put(d, "b.crl", crl(&root(1), 1));
        put(d, "lists.crl", crl(&root(1), 1) + &crl(&root(1), 2));
        put(d, "notes.txt", "nothing");
    };
    for option in ["-n", "-old", "-compat"] {
        let (own, theirs) = (folder(build), folder(build));
        let (ours, real) = (
            run(Castore, own.path(), &["-v", option, "d"]),
            run(Openssl, theirs.path(), &["-v", option, "d"]),
        );
        assert_eq!(skipped(&ours.stderr), skipped(&real.stderr), "{option}: {}", ours.stderr);
        // Once a file, also where both hashes are asked for.
        assert_eq!(ours.stderr.lines().count(), skipped(&ours.stderr).len(), "{}", ours.stderr);
        assert_eq!(sorted(&ours.stdout), sorted(&real.stdout));
        assert_eq!((ours.status, real.status), (Some(0), Some(0)));
    }
    // A CAfile under a name that distributions give it is no member, and castore says nothing of it.
    let bundle = folder(|d| put(d, "ca-certificates.crt", root(2).pem() + &root(3).pem()));
    let real = run(Openssl, bundle.path(), &["-v", "d"]);
    assert_eq!(skipped(&real.stderr).len(), 1, "{}", real.stderr);
    assert_eq!(run(Castore, bundle.path(), &["-v", "d"]).stderr, "");
    // Without -v the report says it.
    let own = folder(build);
    let ours = run(Castore, own.path(), &["d"]);
    assert_eq!((ours.status, ours.stderr.as_str()), (Some(0), ""));
    assert!(ours.stdout.contains("chain.pem: no link: it holds 2 certificates"), "{}", ours.stdout);
}

/// A name cannot write to the terminal, nor look like another line.
#[test]
fn names_in_lines_are_escaped() {
    let own = folder(|d| {
        put(d, "a\u{1b}[31m.pem", root(1).pem());
        put(d, "b\nunlink 00000000.0.pem", root(2).pem());
        put(d, "c\u{202e}.pem", root(2).pem());
        put(d, "d\n.pem", "nothing");
        put(d, OsStr::from_bytes(b"e\xff.pem"), root(3).pem());
    });
    fs::rename(d(&own), own.path().join("d\u{1b}[2J\n")).expect("a name");
    for program in [Castore, CastoreAsScript] {
        let ours = run(program, own.path(), &["-v", "--", "d\u{1b}[2J\n"]);
        assert_eq!(ours.status, Some(0), "{}", ours.stderr);
        for text in [&ours.stdout, &ours.stderr] {
            assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{fffd}']), "{text:?}");
        }
        assert_eq!(sorted(&ours.stdout)[0], r"Doing d\x1b[2J\n");
        assert!(ours.stdout.contains(r"link b\nunlink 00000000.0.pem -> "), "{}", ours.stdout);
        assert!(ours.stdout.contains(r"link e\xff.pem -> "), "{}", ours.stdout);
        assert_eq!(ours.stdout.lines().filter(|line| line.starts_with("unlink")).count(), 0);
    }
}

// ---- openssl rehash: the command line --------------------------------------------------------------------------

#[test]
fn command_lines_of_openssl_rehash() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let build = |d: &Path| {
        one_and_two(d);
        let dashed = d.join("../-old");
        fs::create_dir(&dashed).expect("a directory");
        numbered(&dashed, [root(3)]);
    };
    for arguments in [
        &["-h"][..],
        &["-help"],
        &["-help", "d"],
        &["d"],
        &["--", "d"],
        &["-v", "-v", "-n", "-n", "d"],
        &["--old", "--v", "d"],
        &["--compat", "--n", "d"],
        &["-old", "-old", "d"],
        &["-compat", "-old", "d", "d"],
        &["-old", "-compat", "d"],
        &["-v", "--", "-old"],
        &["-compat", "--", "-old", "d"],
    ] {
        let (own, theirs) = (folder(build), folder(build));
        let (ours, real) = (run(Castore, own.path(), arguments), run(Openssl, theirs.path(), arguments));
        assert_eq!((ours.status, real.status), (Some(0), Some(0)), "{arguments:?}: {}", ours.stderr);
        for name in ["d", "-old"] {
            let (own, theirs) = (own.path().join(name), theirs.path().join(name));
            assert_eq!(links(&own), links(&theirs), "{arguments:?}");
        }
        if arguments.iter().any(|word| ["-v", "--v"].contains(word)) {
            assert_eq!(sorted(&ours.stdout), sorted(&real.stdout), "{arguments:?}");
        }
        // Help is all that there is then.
        assert_eq!(ours.stdout.contains("Usage:"), arguments[0].starts_with("-h"), "{arguments:?}");
    }
    // What openssl does not know: it says so and ends with 0; castore with 2. Neither does anything.
    for arguments in [&["-bogus", "d"][..], &["-v=1", "d"], &["-provider"], &["-olde", "d"]] {
        let (own, theirs) = (folder(build), folder(build));
        let (before, theirs_before) = (links(&d(&own)), links(&d(&theirs)));
        let (ours, real) = (run(Castore, own.path(), arguments), run(Openssl, theirs.path(), arguments));
        assert_eq!((ours.status, real.status), (Some(2), Some(0)), "{arguments:?}");
        assert!(!ours.stderr.is_empty() && ours.stdout.is_empty());
        assert_eq!((links(&d(&own)), links(&d(&theirs))), (before, theirs_before));
    }
    // Options that could do nothing here.
    for arguments in [
        &["-provider", "default", "d"][..],
        &["-provider-path", "/", "d"],
        &["-propquery", "fips=yes", "d"],
        &["--provider=default", "d"],
    ] {
        let own = folder(build);
        let ours = run(Castore, own.path(), arguments);
        assert_eq!(ours.status, Some(2), "{arguments:?}");
        assert!(ours.stderr.contains("by no provider"), "{}", ours.stderr);
        assert!(links(&d(&own)).is_empty());
    }
}

/// An option behind a directory is a directory to `openssl rehash`; here it is the option.
#[test]
fn options_behind_a_directory() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let (own, theirs) = (folder(one_and_two), folder(one_and_two));
    let (ours, real) =
        (run(Castore, own.path(), &["d", "-compat"]), run(Openssl, theirs.path(), &["d", "-compat"]));
    assert_eq!((ours.status, real.status), (Some(0), Some(1)));
    assert_eq!((links(&d(&own)).len(), links(&d(&theirs)).len()), (4, 2));
}

// ---- Which directories -----------------------------------------------------------------------------------------

/// A folder of three directories, each with a certificate.
fn three() -> TempDir {
    let folder = tempfile::tempdir().expect("a directory");
    for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
        let directory = folder.path().join(name);
        fs::create_dir(&directory).expect("a directory");
        numbered(&directory, [root(number as u64 + 1)]);
    }
    folder
}

/// Which of them have links now.
fn done(folder: &TempDir) -> Vec<&'static str> {
    ["a", "b", "c"].into_iter().filter(|name| !links(&folder.path().join(name)).is_empty()).collect()
}

#[test]
fn directories_of_the_environment() {
    if support::skip_without(&["openssl", "c_rehash"]) {
        return;
    }
    for (variable, arguments, statuses, script_statuses) in [
        ("a", &[][..], (0, 0), (0, 0)),
        ("a:c", &[], (0, 0), (0, 0)),
        (":a::b:", &[], (0, 0), (0, 0)),
        (":", &[], (0, 0), (0, 0)),
        // One that is missing: said, and the others done. The script says nothing, with status 0.
        ("a:gone:c", &[], (2, 1), (0, 0)),
        ("a:c", &["b"], (0, 0), (0, 0)),
        ("a:c", &["b", "gone", "a"], (2, 1), (0, 0)),
    ] {
        for (own_program, program, (own_status, status)) in
            [(Castore, Openssl, statuses), (CastoreAsScript, Script, script_statuses)]
        {
            let case = format!("{program:?} SSL_CERT_DIR={variable} {arguments:?}");
            let (own, theirs) = (three(), three());
            let run = |program, folder: &TempDir| {
                let mut command = command(program);
                command.args(arguments).env("SSL_CERT_DIR", variable).current_dir(folder.path());
                ran(command.output().expect("it starts"))
            };
            let (ours, real) = (run(own_program, &own), run(program, &theirs));
            assert_eq!(
                (ours.status, real.status),
                (Some(own_status), Some(status)),
                "{case}: {}",
                ours.stderr
            );
            assert_eq!(done(&own), done(&theirs), "{case}");
            let gone = variable.contains("gone") || arguments.contains(&"gone");
            assert_eq!(ours.stderr.contains("gone"), gone, "{case}: {}", ours.stderr);
        }
    }
    // Set and empty: no directory to `openssl rehash`. (What it is to the script, the next test says.)
    for program in [Castore, Openssl] {
        let folder = three();
        let output = command(program).env("SSL_CERT_DIR", "").current_dir(folder.path()).output();
        let ran = ran(output.expect("it starts"));
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), ""), "{program:?}");
    }
}

/// Where the lines cannot be written, the links are made all the same, in all directories.
#[test]
fn nobody_listens() {
    for program in [Castore, CastoreAsScript] {
        let folder = three();
        let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("the device");
        let mut command = command(program);
        let output = command.args(["-v", "a", "b", "c"]).current_dir(folder.path()).stdout(full).output();
        assert_eq!(output.expect("it starts").status.code(), Some(2), "{program:?}");
        assert_eq!(done(&folder), ["a", "b", "c"], "{program:?}");
    }
}

/// Without a name and a variable: certs in OPENSSLDIR. All of this inside a namespace where that is a directory made here.
#[test]
fn the_default_directory() {
    if support::skip_without(&["openssl", "c_rehash", "unshare"]) {
        return;
    }
    let lay = "set -e; real=$(readlink -f /usr/lib/ssl/certs); test -d \"$real\"; mount --bind \"$1\" \"$real\"; \
               test -e \"$real/here\"; shift; ";
    for (variable, program) in [
        (None, Castore),
        (None, Openssl),
        (None, CastoreAsScript),
        (None, Script),
        (Some(""), CastoreAsScript),
        (Some(""), Script),
    ] {
        let folder = folder(one_and_two);
        put(&d(&folder), "here", "");
        let words = match program {
            Castore => "exec castore rehash -v",
            Openssl => "exec openssl rehash -v",
            CastoreAsScript => "exec ./c_rehash",
            Script => "exec c_rehash",
        };
        symlink(support::program(), folder.path().join("c_rehash")).expect("a link");
        let path = std::env::join_paths(
            [support::program().parent().expect("a directory").to_owned()]
                .into_iter()
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        );
        let mut unshare = support::required("unshare");
        unshare.args(["-m", "--propagation", "private", "sh", "-c", &format!("{lay}{words}"), "sh"]);
        unshare.arg(d(&folder)).env("PATH", path.expect("a PATH")).current_dir(folder.path());
        if let Some(variable) = variable {
            unshare.env("SSL_CERT_DIR", variable);
        }
        let ran = ran(unshare.output().expect("it starts"));
        if ran.status != Some(0) && links(&d(&folder)).is_empty() && !ran.stdout.contains("Doing") {
            // Not root, or no such directory on this machine.
            let _ = writeln!(std::io::stderr(), "skipped: no namespace here: {}", ran.stderr.trim());
            return;
        }
        assert_eq!(ran.status, Some(0), "{program:?}: {}", ran.stderr);
        assert!(ran.stdout.starts_with("Doing /usr/lib/ssl/certs\n"), "{program:?}: {}", ran.stdout);
        let both = matches!(program, CastoreAsScript | Script);
        assert_eq!(links(&d(&folder)).len(), if both { 4 } else { 2 }, "{program:?}");
    }
}

/// Inside a root it is that root's default, whatever the variable says of the machine.
#[test]
fn the_default_directory_of_a_root() {
    let folder = folder(one_and_two);
    let root_folder = folder.path().join("root");
    let certs = root_folder.join("etc/ssl/certs");
    fs::create_dir_all(&certs).expect("directories");
    fs::create_dir_all(root_folder.join("usr/lib/ssl")).expect("directories");
    symlink("/etc/ssl/certs", root_folder.join("usr/lib/ssl/certs")).expect("a link");
    numbered(&certs, [root(1)]);
    let ran = ran(command(Castore)
        .args(["-v", "--root", "root"])
        .env("SSL_CERT_DIR", d(&folder))
        .current_dir(folder.path())
        .output()
        .expect("it starts"));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.starts_with("Doing /usr/lib/ssl/certs\nlink 001.pem -> "), "{}", ran.stdout);
    assert_eq!((links(&certs).len(), links(&d(&folder)).len()), (1, 0));
    // A root without any.
    fs::remove_dir_all(&root_folder).expect("the root goes");
    fs::create_dir(&root_folder).expect("a directory");
    let ran = run(Castore, folder.path(), &["--root", "root"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
}

/// What cannot be written is said in both programs' way, and the next directory is done.
#[test]
fn a_directory_that_may_not_be_written() {
    if support::skip_without(&["openssl", "c_rehash"]) {
        return;
    }
    let is_root = rustix::process::geteuid().is_root();
    for (program, said, status) in [
        (Castore, "cannot write in a", 2),
        (Openssl, "Skipping a, can't write", 1),
        (CastoreAsScript, "Skipping a, can't write\n", 2),
        (Script, "Skipping a, can't write\n", 1),
    ] {
        let folder = three();
        cases::set_mode(folder.path(), 0o755);
        for (name, mode) in [("a", 0o555), ("b", 0o777)] {
            cases::set_mode(&folder.path().join(name), mode);
        }
        let mut command = command(program);
        if is_root {
            if let Castore | CastoreAsScript = program {
                let Some(copy) = cases::copy_for_nobody(folder.path()) else {
                    let _ = writeln!(std::io::stderr(), "skipped: root cannot become nobody here");
                    return;
                };
                command = Command::new(copy);
                command.env_clear().stdin(Stdio::null());
                match program {
                    Castore => command.arg("rehash"),
                    _ => command.arg0("/usr/bin/c_rehash"),
                };
            }
            command.uid(cases::NOBODY).gid(cases::NOBODY);
        }
        let ran = ran(command.args(["a", "b"]).current_dir(folder.path()).output().expect("it starts"));
        assert_eq!(ran.status, Some(status), "{program:?}: {} {}", ran.stdout, ran.stderr);
        let text = if let CastoreAsScript | Script = program { &ran.stdout } else { &ran.stderr };
        assert!(text.contains(said), "{program:?}: {text}");
        assert_eq!(done(&folder), ["b"], "{program:?}");
    }
}

// ---- c_rehash --------------------------------------------------------------------------------------------------

/// Directories that `c_rehash` handles right, or that castore handles alike. The script numbers anew at each run, so
/// there is no more than one link by a hash where links stand already.
const SCRIPT_RIGHT: &[Shape] = &[
    ("empty", |_| {}),
    ("fresh", |d| numbered(d, (1..=5).map(root))),
    ("three of one subject", |d| numbered(d, (1..=3).map(same))),
    ("twelve of one subject", |d| numbered(d, (1..=12).map(same))),
    ("copies", |d| {
        put(d, "b.pem", root(1).pem());
        put(d, "a.pem", root(1).pem());
        put(d, "c.crt", root(1).pem());
    }),
    ("all endings", |d| {
        for (number, ending) in ["pem", "crt", "cer"].into_iter().enumerate() {
            put(d, format!("a.{ending}"), root(number as u64 + 1).pem());
        }
        put(d, "a.crl", crl(&root(4), 1));
    }),
    ("a certificate called crl", |d| put(d, "a.crl", root(1).pem())),
    ("other endings", |d| {
        for (number, name) in ["a.txt", "a.der", "README", "b", "c.pe"].into_iter().enumerate() {
            put(d, name, root(number as u64 + 1).pem());
        }
    }),
    ("lists", |d| {
        put(d, "ca.pem", root(1).pem());
        put(d, "a.crl", crl(&root(1), 1));
        put(d, "b.crl", crl(&root(1), 2));
        put(d, "c.pem", crl(&root(2), 3));
    }),
    ("copies of lists", |d| {
        put(d, "a.crl", crl(&root(1), 1));
        put(d, "b.crl", crl(&root(1), 1));
    }),
    ("right already", |d| {
        put(d, "a.pem", root(1).pem());
        link(d, format!("{}.0", hash(&root(1))), "a.pem");
        link(d, format!("{}.0", old_hash(&root(1))), "a.pem");
    }),
    ("new links alone", |d| {
        one_and_two(d);
        link(d, format!("{}.0", hash(&root(1))), "001.pem");
        link(d, format!("{}.0", hash(&root(2))), "002.pem");
    }),
    ("old links alone", |d| {
        one_and_two(d);
        link(d, format!("{}.0", old_hash(&root(1))), "001.pem");
    }),
    ("stale links", |d| {
        one_and_two(d);
        link(d, "12345678.0", "gone.pem");
        link(d, "12345678.1", "001.pem");
        link(d, "0badcafe.r0", "001.pem");
    }),
    ("wrong links", |d| {
        one_and_two(d);
        link(d, format!("{}.0", hash(&root(1))), "002.pem");
        link(d, format!("{}.0", hash(&root(2))), "001.pem");
    }),
    ("a number beyond the count", |d| {
        one_and_two(d);
        link(d, format!("{}.7", hash(&root(1))), "001.pem");
    }),
    ("leading zeros", |d| {
        one_and_two(d);
        link(d, format!("{}.00", hash(&root(1))), "001.pem");
    }),
    ("members that are links", |d| {
        put(&d.join("../outside"), "a", root(1).pem());
        link(d, "a.pem", "../outside/a");
        put(d, "n.crt", root(2).pem());
        link(d, "b.pem", "n.crt");
    }),
    ("odd names", |d| {
        let names =
            ["with space.pem", "quote'.pem", "dollar$HOME.pem", "`touch x`.pem", "double\".pem", "a|b.pem"];
        for (number, name) in names.into_iter().enumerate() {
            put(d, name, root(number as u64 + 1).pem());
        }
    }),
    ("other labels", |d| {
        put(d, "a.pem", root(1).trusted_pem(&[oids::SERVER_AUTH], &[]));
        put(d, "b.pem", der::pem("X509 CERTIFICATE", &root(2).der()));
    }),
    ("text before and CRLF", |d| {
        put(d, "a.pem", format!("# a comment\n{}", root(1).pem()));
        put(d, "b.pem", root(2).pem().replace('\n', "\r\n"));
    }),
    ("a key beside", |d| {
        put(d, "a.pem", root(1).pem() + &key());
        put(d, "key.pem", key());
    }),
    ("no certificate", |d| {
        put(d, "a.pem", "<html>\n");
        put(d, "b.pem", "");
        put(d, "c.pem", root(1).pem());
    }),
    ("leaves and expired ones", |d| {
        put(d, "leaf.pem", Certificate::leaf("site.castore.test", &root(1), 2).pem());
        put(d, "expired.pem", root(4).valid("100101000000Z", "200101000000Z").pem());
    }),
];

#[test]
fn links_and_lines_of_c_rehash() {
    if support::skip_without(&["openssl", "c_rehash"]) {
        return;
    }
    assert!(SCRIPT_RIGHT.len() >= 20);
    all_wrong(
        SCRIPT_RIGHT,
        |(name, _)| (*name).to_owned(),
        |(_, build)| {
            let (own, theirs) = (folder(*build), folder(*build));
            let content = contents(&d(&own));
            let before: BTreeSet<OsString> = links(&d(&own)).into_keys().collect();
            let (ours, real) =
                (run(CastoreAsScript, own.path(), &["-v", "d"]), run(Script, theirs.path(), &["-v", "d"]));
            assert_eq!((ours.status, real.status), (Some(0), Some(0)), "{}", ours.stderr);
            assert_eq!(links(&d(&own)), links(&d(&theirs)));
            assert_eq!(contents(&d(&own)), content);
            // The script takes all links away and makes them anew; castore takes away what is wrong. What it links is
            // the same.
            let linked = |text: &str| -> Vec<String> {
                sorted(text)
                    .into_iter()
                    .filter(|line| !line.starts_with("unlink "))
                    .map(str::to_owned)
                    .collect()
            };
            assert_eq!(linked(&ours.stdout), linked(&real.stdout));
            let gone: Vec<String> = before
                .iter()
                .filter(|name| !links(&d(&own)).contains_key(*name))
                .filter_map(|name| Some(format!("unlink {}", name.to_str()?)))
                .filter(|line| real.stdout.lines().any(|other| other == line))
                .collect();
            let unlinked: BTreeSet<&str> =
                ours.stdout.lines().filter(|line| line.starts_with("unlink ")).collect();
            assert_eq!(unlinked, gone.iter().map(String::as_str).collect());
            // A second run writes nothing.
            let state = support::tree_state(own.path());
            let quiet = run(CastoreAsScript, own.path(), &["d"]);
            assert_eq!((quiet.status, quiet.stdout.as_str()), (Some(0), "Doing d\n"));
            assert_eq!(support::tree_state(own.path()), state);
        },
    );
}

#[test]
fn command_lines_of_c_rehash() {
    if support::skip_without(&["openssl", "c_rehash"]) {
        return;
    }
    let build = |d: &Path| {
        one_and_two(d);
        link(d, "12345678.0", "001.pem");
        fs::create_dir(d.join("../-v")).expect("a directory");
        numbered(&d.join("../-v"), [root(3)]);
    };
    for (arguments, own_status, status) in [
        (&["-h"][..], 0, 0),
        (&["-help"], 0, 0),
        (&["d"], 0, 0),
        (&["-n", "d"], 0, 0),
        (&["-v", "-n", "--", "d"], 0, 0),
        (&["--", "-v"], 0, 0),
        (&["d", "-v"], 0, 0),
        (&["d", "-n"], 0, 0),
        // What is no directory is passed over.
        (&["gone", "d/001.pem", "d"], 0, 0),
        // Usage: the script's own help names -old.
        (&["-old", "d"], 2, 1),
        (&["--help"], 2, 1),
        (&["-nv", "d"], 2, 1),
        (&["-compat", "d"], 2, 1),
        (&["-bogus"], 2, 1),
    ] {
        let (own, theirs) = (folder(build), folder(build));
        let (ours, real) =
            (run(CastoreAsScript, own.path(), arguments), run(Script, theirs.path(), arguments));
        assert_eq!(
            (ours.status, real.status),
            (Some(own_status), Some(status)),
            "{arguments:?}: {}",
            ours.stderr
        );
        for name in ["d", "-v"] {
            let (own, theirs) = (own.path().join(name), theirs.path().join(name));
            assert_eq!(links(&own), links(&theirs), "{arguments:?}");
        }
        if status == 0 {
            let doing = |text: &str| text.lines().filter(|line| line.starts_with("Doing ")).count();
            assert_eq!(doing(&ours.stdout), doing(&real.stdout), "{arguments:?}: {}", ours.stdout);
        }
        let help = arguments[0].starts_with("-h");
        assert_eq!(
            (ours.stdout.contains("Usage:"), real.stdout.contains("Usage:")),
            (help, help),
            "{arguments:?}"
        );
        assert_eq!(ours.stdout.is_empty(), status != 0, "{arguments:?}: {}", ours.stdout);
    }
}

/// By a link of that name, as it is installed.
#[test]
fn a_link_called_c_rehash() {
    let folder = folder(one_and_two);
    symlink(support::program(), folder.path().join("c_rehash")).expect("a link");
    let mut command = Command::new(folder.path().join("c_rehash"));
    let ran = ran(command.arg("d").env_clear().current_dir(folder.path()).output().expect("it starts"));
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "Doing d\n", ""));
    assert_eq!(links(&d(&folder)).len(), 4);
}

/// What the script does wrong.
#[test]
fn faults_of_c_rehash() {
    if support::skip_without(&["openssl", "c_rehash"]) {
        return;
    }
    // It knows across directories what it has linked: the second one lacks it.
    for (program, expected) in [(CastoreAsScript, [2, 2]), (Script, [2, 0])] {
        let folder = folder(|d| {
            put(d, "a.pem", root(1).pem());
            put(&d.join("../outside"), "a.pem", root(1).pem());
        });
        assert_eq!(run(program, folder.path(), &["d", "outside"]).status, Some(0));
        let made = ["d", "outside"].map(|name| links(&folder.path().join(name)).len());
        assert_eq!(made, expected, "{program:?}");
    }
    // It takes names that only hold such letters, and the first certificate of several; and takes away links of its own
    // shape with any number of digits. And it does not take an ending in capitals.
    for (program, expected) in
        [(CastoreAsScript, &["beef.0", "e.PEM"][..]), (Script, &["chain.pem", "scrt-notes.txt", "x.pem.bak"])]
    {
        let folder = folder(|d| {
            put(d, "x.pem.bak", root(1).pem());
            put(d, "scrt-notes.txt", root(2).pem());
            put(d, "chain.pem", root(3).pem() + &root(4).pem());
            put(d, "e.PEM", root(5).pem());
            link(d, "beef.0", "x.pem.bak");
        });
        assert_eq!(run(program, folder.path(), &["d"]).status, Some(0));
        let mut linked: Vec<String> = links(&d(&folder))
            .into_iter()
            .map(|(name, target)| if name == "beef.0" { name.into() } else { target })
            .map(|target| target.to_string_lossy().into_owned())
            .collect();
        linked.sort();
        linked.dedup();
        assert_eq!(linked, expected, "{program:?}");
    }
    // It links a file for the certificate and for the CRL in it; `openssl rehash` and castore for the certificate.
    for (program, arguments, expected) in
        [(CastoreAsScript, &["d"][..], 2), (Openssl, &["-compat", "d"], 2), (Script, &["d"], 4)]
    {
        let folder = folder(|d| put(d, "a.pem", root(1).pem() + &crl(&root(1), 1)));
        assert_eq!(run(program, folder.path(), arguments).status, Some(0));
        assert_eq!(links(&d(&folder)).len(), expected, "{program:?}");
    }
    // A regular file with a link's name stands in its way without a word: the certificate has no link.
    for (program, expected) in [(CastoreAsScript, 2), (Script, 1)] {
        let folder = folder(|d| {
            put(d, format!("{}.0", hash(&same(1))), same(1).pem());
            put(d, "a.pem", same(2).pem());
        });
        assert_eq!(run(program, folder.path(), &["d"]).status, Some(0));
        assert_eq!(found(&d(&folder), &[same(1), same(2)]), expected, "{program:?}");
    }
    // A link to a file elsewhere is taken away.
    for (program, expected) in [(CastoreAsScript, 1), (Script, 0)] {
        let folder = folder(|d| {
            put(&d.join("../outside"), "b", root(2).pem());
            link(d, format!("{}.0", hash(&root(2))), "../outside/b");
        });
        assert_eq!(run(program, folder.path(), &["d"]).status, Some(0));
        assert_eq!(found(&d(&folder), &[root(2)]), expected, "{program:?}");
    }
}

// ---- The list of faults ----------------------------------------------------------------------------------------

/// Both programs on the same directory, and how many of these certificates are found in it afterwards.
fn beside(build: fn(&Path), asked: &[Certificate]) -> [(TempDir, usize); 2] {
    [Castore, Openssl].map(|program| {
        let folder = folder(build);
        run(program, folder.path(), &["d"]);
        let found = found(&d(&folder), asked);
        (folder, found)
    })
}

/// (a) An upper-case link counts as there, and the one that is looked up is never made.
#[test]
fn a_upper_case_links() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let build = |d: &Path| {
        one_and_two(d);
        for (name, certificate) in [("001.pem", root(1)), ("002.pem", root(2))] {
            link(d, format!("{}.0", hash(&certificate).to_ascii_uppercase()), name);
        }
    };
    // Only hashes with a letter show it.
    let lettered = [root(1), root(2)]
        .into_iter()
        .filter(|one| hash(one).bytes().any(|byte| byte.is_ascii_alphabetic()))
        .count();
    assert!(lettered > 0);
    let [(_, ours), (_, theirs)] = beside(build, &[root(1), root(2)]);
    assert_eq!((ours, theirs), (2, 2 - lettered));
}

/// (b) A number beyond the count is left for ever.
#[test]
fn b_numbers_beyond_the_count() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let build = |d: &Path| {
        put(d, "a.pem", root(1).pem());
        link(d, format!("{}.7", hash(&root(1))), "a.pem");
    };
    let [(own, _), (theirs, _)] = beside(build, &[root(1)]);
    let seventh = OsString::from(format!("{}.7", hash(&root(1))));
    assert!(!links(&d(&own)).contains_key(&seventh));
    assert!(links(&d(&theirs)).contains_key(&seventh));
}

/// (c) A regular file with the name of a link is overwritten without a word.
#[test]
fn c_regular_files_with_the_name_of_a_link() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let build = |d: &Path| {
        put(d, format!("{}.0", hash(&same(1))), same(1).pem());
        put(d, "a.pem", same(2).pem());
    };
    let [(own, ours), (theirs, found)] = beside(build, &[same(1), same(2)]);
    assert_eq!((ours, found), (2, 1));
    let files = |folder: &TempDir| {
        support::tree_state(&d(folder)).values().filter(|state| state.kind == EntryKind::File).count()
    };
    assert_eq!((files(&own), files(&theirs)), (2, 1));
}

/// The system calls of a program that change names, lock or flush; `None` where nothing may be traced.
fn traced(program: Program, folder: &TempDir, arguments: &[&str]) -> Option<Vec<String>> {
    let log = folder.path().join("log");
    let inner = command(program);
    let mut strace = support::required("strace");
    strace.args(["-f", "-qq", "-s", "4096", "-e"]);
    strace.args(["trace=unlink,unlinkat,symlink,symlinkat,rename,renameat,renameat2,flock,fsync", "-o"]);
    strace.arg(&log).arg(inner.get_program()).args(inner.get_args()).args(arguments);
    let output = strace.current_dir(folder.path()).output().expect("strace starts");
    if !output.status.success() {
        let _ = writeln!(std::io::stderr(), "skipped: strace may not trace here");
        return None;
    }
    let text = fs::read_to_string(log).expect("the log");
    let calls = text.lines().map(|line| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' '));
    Some(calls.map(str::to_owned).collect())
}

/// A certificate has gone whose subject another one has: a plain state of things.
fn one_of_two_has_gone(d: &Path) {
    put(d, "b.pem", same(2).pem());
    put(d, "c.pem", same(3).pem());
    link(d, format!("{}.0", hash(&same(1))), "c.pem");
    link(d, format!("{}.1", hash(&same(1))), "a.pem");
    link(d, format!("{}.2", hash(&same(1))), "b.pem");
    link(d, "12345678.0", "gone.pem");
}

/// (d) A name is removed, then made anew: in between it is not there. castore moves over it, and removes only what is
/// not wanted. (That nobody sees a gap, the polling test says.)
#[test]
fn d_names_that_are_gone_for_a_moment() {
    if support::skip_without(&["openssl", "c_rehash", "strace"]) {
        return;
    }
    for (program, expected) in [(Castore, 0), (Openssl, 1), (Script, 2)] {
        let folder = folder(one_of_two_has_gone);
        let Some(calls) = traced(program, &folder, &["d"]) else { return };
        // Removed and made again, both with success.
        let ok = |call: &&String| call.ends_with("= 0");
        let name = |call: &str| {
            call.rsplit('"').nth(1).map(|path| path.rsplit('/').next().unwrap_or(path).to_owned())
        };
        let removed: BTreeSet<String> = calls
            .iter()
            .filter(ok)
            .filter(|call| call.starts_with("unlink"))
            .filter_map(|call| name(call))
            .collect();
        let made: BTreeSet<String> = calls
            .iter()
            .filter(ok)
            .filter(|call| call.starts_with("symlink"))
            .filter_map(|call| name(call))
            .collect();
        assert_eq!(removed.intersection(&made).count(), expected, "{program:?}: {calls:#?}");
        if program == Castore {
            assert!(calls.iter().any(|call| call.starts_with("rename")), "{calls:#?}");
        }
    }
}

/// (e) Nothing is locked, nothing flushed.
#[test]
fn e_lock_and_flush() {
    if support::skip_without(&["openssl", "c_rehash", "strace"]) {
        return;
    }
    for (program, expected) in [(Castore, true), (Openssl, false), (Script, false)] {
        let folder = folder(one_and_two);
        let Some(calls) = traced(program, &folder, &["d"]) else { return };
        let at = |name: &str| calls.iter().position(|call| call.starts_with(name) && call.ends_with("= 0"));
        assert_eq!(at("flock").is_some(), expected, "{program:?}: {calls:#?}");
        assert_eq!(at("fsync").is_some(), expected, "{program:?}: {calls:#?}");
        if expected {
            assert!(at("flock") < at("symlink") && at("symlink") < at("fsync"), "{calls:#?}");
        }
    }
}

/// castore waits a while for another writer, says who it is, and changes nothing.
#[test]
fn a_lock_that_is_never_given_back() {
    let folder = folder(one_and_two);
    let held = fs::File::open(d(&folder)).expect("the directory");
    rustix::fs::flock(&held, FlockOperation::LockExclusive).expect("nobody else has it");
    // What only looks does not wait.
    let ran = run(Castore, folder.path(), &["--check", "d"]);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(1), ""));
    let ran = run(Castore, folder.path(), &["--quiet", "--lock-timeout", "0", "d"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    // By /proc/locks, which names processes of this PID namespace.
    let own = format!("d is locked by process {} (", std::process::id());
    assert!(ran.stderr.contains(&own) && ran.stderr.contains("nothing was changed"), "{}", ran.stderr);
    assert_eq!(links(&d(&folder)).len(), 0);
    rustix::fs::flock(&held, FlockOperation::Unlock).expect("it is ours");
    assert_eq!(run(Castore, folder.path(), &["--quiet", "--lock-timeout", "0", "d"]).status, Some(0));
    assert_eq!(links(&d(&folder)).len(), 2);
}

/// (f) There are 256 places for one subject. (g) Whether a certificate is known is asked of a list; here it is asked of a
/// table, so that thousands are a matter of reading them. (i) The status is the number of errors.
#[test]
fn f_g_i_many_of_one_subject() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let build = |d: &Path| numbered(d, (1..=300).map(same));
    let (own, theirs) = (folder(build), folder(build));
    let (ours, real) = (run(Castore, own.path(), &["d"]), run(Openssl, theirs.path(), &["d"]));
    assert_eq!((ours.status, real.status), (Some(0), Some(44)));
    assert_eq!((links(&d(&own)).len(), links(&d(&theirs)).len()), (300, 256));

    let many = folder(|d| numbered(d, (1..=3000).map(same)));
    assert_eq!(run(Castore, many.path(), &["--compat", "d"]).status, Some(0));
    assert_eq!(links(&d(&many)).len(), 6000);
}

/// (i) once more: 256 errors are status 0 there, and nobody says a word.
#[test]
fn i_a_status_that_is_no_number() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    for (keys, status) in [(3, 3), (256, 0)] {
        let folder = folder(one_and_two);
        for number in 0..keys {
            put(&d(&folder), format!("key{number}.pem"), key());
        }
        let real = run(Openssl, folder.path(), &["d"]);
        assert_eq!((real.status, real.stderr.as_str()), (Some(status), ""));
        let ours = run(Castore, folder.path(), &["-v", "d"]);
        assert_eq!(ours.status, Some(0));
        assert_eq!(ours.stderr.lines().count(), keys, "each is named");
    }
}

/// (h) Links to files elsewhere are taken for stale ones.
#[test]
fn h_links_to_files_elsewhere() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let build = |d: &Path| {
        put(&d.join("../outside"), "b", root(2).pem());
        put(&d.join("../outside"), "c", root(3).pem());
        link(d, format!("{}.0", hash(&root(2))), "../outside/b");
        let real = fs::canonicalize(d.join("../outside/c")).expect("the file");
        link(d, format!("{}.0", hash(&root(3))), real);
        // Not with a wrong hash.
        link(d, "12345678.0", "../outside/b");
    };
    let [(own, ours), (theirs, found)] = beside(build, &[root(2), root(3)]);
    assert_eq!((ours, found), (2, 0));
    assert_eq!((links(&d(&own)).len(), links(&d(&theirs)).len()), (2, 0));
}

/// (j) A FIFO with a member's name: it waits for a writer.
#[test]
fn j_a_fifo() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let build = |d: &Path| {
        put(d, "z.pem", root(1).pem());
        mknodat(CWD, d.join("a.pem"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).expect("a FIFO");
    };
    let (own, theirs) = (folder(build), folder(build));
    assert_eq!(run(Castore, own.path(), &["d"]).status, Some(0));
    assert_eq!(links(&d(&own)).len(), 1);
    let mut child = command(Openssl);
    child.arg(d(&theirs)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = child.spawn().expect("openssl starts");
    let ended = wait(&mut child, Duration::from_secs(2));
    if !ended {
        child.kill().expect("the child is ours");
        child.wait().expect("it ends");
    }
    assert!(!ended && links(&d(&theirs)).is_empty());
}

/// (k) CRLs have `.rN`, by either hash, as those of `openssl rehash`.
#[test]
fn k_lists() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let build = |d: &Path| {
        put(d, "a.crl", crl(&root(1), 1));
        put(d, "b.crl", crl(&root(1), 2));
    };
    for (arguments, number) in [(&["d"][..], 2), (&["-old", "d"], 2), (&["-compat", "d"], 4)] {
        let (own, theirs) = (folder(build), folder(build));
        run(Castore, own.path(), arguments);
        run(Openssl, theirs.path(), arguments);
        assert_eq!(links(&d(&own)), links(&d(&theirs)), "{arguments:?}");
        assert_eq!(links(&d(&own)).len(), number, "{arguments:?}");
        let shaped = |name: &OsString| name.to_string_lossy()[8..].starts_with(".r");
        assert!(links(&d(&own)).keys().all(shaped));
    }
}

// ---- No moment without a link ----------------------------------------------------------------------------------

/// One round: a change of the directory, and options under which all watched names stay wanted.
type Rounds = &'static [&'static [&'static str]];

/// The stock store's members as regular files; made-up ones where there is no material.
fn members(directory: &Path) {
    match support::stock_store() {
        Some(store) => {
            let names =
                support::names_in(&store).into_iter().filter(|name| name.as_bytes().ends_with(b".pem"));
            for name in names.take(145) {
                fs::copy(store.join(&name), directory.join(&name)).expect("a member");
            }
        }
        None => numbered(directory, (1..=145).map(root)),
    }
}

/// While rehash runs again and again, by one hash, the other, or both, and a certificate comes and goes, every name that
/// all of these runs want is there at every moment.
#[test]
fn no_moment_without_a_wanted_link() {
    const NEW: Rounds = &[&["--compat"], &[], &["-old", "-n"], &["-compat", "-n"], &[]];
    const OLD: Rounds = &[&["--compat"], &["-old"], &["-n"], &["-compat", "-old"], &["--old"]];
    if support::skip_without(&["openssl"]) {
        return;
    }
    for (option, rounds) in [("-compat", NEW), ("-old", OLD)] {
        let folder = folder(members);
        let directory = d(&folder);
        // What is watched, as the real program names it: by the new hash without options, by the old one with -old.
        let real = folder.path().join("real");
        support::copy_tree(&directory, &real);
        let wanted = if option == "-old" { &["-old", "real"][..] } else { &["real"] };
        run(Openssl, folder.path(), wanted);
        let names: Vec<PathBuf> = links(&real).into_keys().map(|name| directory.join(name)).collect();
        assert!(names.len() >= 100, "{}", names.len());
        assert_eq!(run(Castore, folder.path(), &["-compat", "d"]).status, Some(0));
        // One that is of a watched subject, and goes before it by its name, so that it wants a number, too.
        let extra =
            fs::read(directory.join(links(&real).into_values().next().expect("a link"))).expect("a member");
        let extra = Certificate { subject: subject_of(&extra), ..root(999) };

        let (stop, runs) = (AtomicBool::new(false), AtomicUsize::new(0));
        let (polls, missing) = std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let (mut polls, mut missing) = (0_u64, BTreeMap::new());
                while !stop.load(Ordering::Relaxed) {
                    for name in &names {
                        // `metadata` follows: the link must lead somewhere, too.
                        if fs::metadata(name).is_err() {
                            missing.entry(name.clone()).or_insert_with(|| runs.load(Ordering::Relaxed));
                        }
                    }
                    polls += 1;
                }
                (polls, missing)
            });
            // Caught, or a failure here would leave the watch running for ever.
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let start = Instant::now();
                for options in rounds.iter().cycle() {
                    let number = runs.fetch_add(1, Ordering::Relaxed);
                    match number % 3 {
                        0 => put(&directory, "000-extra.pem", extra.pem()),
                        1 => put(&directory, "000-other.pem", root(998).pem()),
                        _ => {
                            for name in ["000-extra.pem", "000-other.pem"] {
                                fs::remove_file(directory.join(name)).expect("it is there");
                            }
                        }
                    }
                    let ran = run(Castore, folder.path(), &[*options, &["--quiet", "d"][..]].concat());
                    assert_eq!(ran.status, Some(0), "{options:?}: {}", ran.stderr);
                    // Every change has met every set of options, and some time has gone by.
                    if number >= 3 * rounds.len() && start.elapsed() > Duration::from_millis(2500) {
                        break;
                    }
                }
            }));
            stop.store(true, Ordering::Relaxed);
            let watched = watch.join().expect("the watch ends");
            if let Err(panic) = result {
                std::panic::resume_unwind(panic);
            }
            watched
        });
        assert!(polls > 0);
        assert!(missing.is_empty(), "{option}: not there at some moment of {polls}, in round: {missing:?}");
    }
}

/// The subject of a certificate in PEM, as DER.
fn subject_of(pem: &[u8]) -> Vec<u8> {
    use x509_parser::prelude::*;
    let der = support::block_der(&support::certificate_blocks(pem)[0]);
    let (_, certificate) = X509Certificate::from_der(&der).expect("a certificate of the stock store");
    certificate.subject().as_raw().to_vec()
}
