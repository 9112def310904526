//! `castore tune` and `castore hook` in roots of their own: Debian's layout with and without dpkg's table, others, and
//! runs that were killed on the way. dpkg-divert is the real one.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use support::{EntryKind, EntryState};

const CERT_FILE: &str = "usr/lib/ssl/cert.pem";
const AWAY: &str = "usr/lib/ssl/cert.pem.castore";
const STORE: &str = "etc/ssl/certs";
const BUNDLE: &str = "etc/ssl/certs/ca-certificates.crt";
const RECORD: &str = "var/lib/castore/undo.json";
const HOOK: &str = "etc/ca-certificates/update.d/zz-castore";

/// A copy of the stock image.
struct Root {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Root {
    /// `None` where the image is missing.
    fn new(system: &str, dpkg: bool) -> Option<Self> {
        let image = support::stock_image()?;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("root");
        support::copy_tree(&image, &path);
        let root = Self { _folder: folder, path };
        root.write("etc/os-release", system.as_bytes());
        fs::create_dir_all(root.path.join("var/lib")).unwrap();
        if dpkg {
            for directory in ["info", "updates"] {
                fs::create_dir_all(root.path.join("var/lib/dpkg").join(directory)).unwrap();
            }
            for file in ["status", "available", "diversions"] {
                root.write(&format!("var/lib/dpkg/{file}"), b"");
            }
        }
        Some(root)
    }

    fn debian(dpkg: bool) -> Option<Self> {
        if dpkg && support::skip_without(&["dpkg-divert"]) {
            return None;
        }
        Self::new("PRETTY_NAME=\"Debian\"\nID=debian\n", dpkg)
    }

    /// Leaves a handful of certificates, for what is done many times.
    fn shrink(&self) {
        let store = self.at(STORE);
        let mut members: Vec<_> = support::names_in(&store);
        members.sort_unstable();
        let is_member = |name: &&std::ffi::OsString| name.to_string_lossy().ends_with(".pem");
        let kept: Vec<_> = members.iter().filter(is_member).take(4).cloned().collect();
        let mut bundle = Vec::new();
        for name in &members {
            let leads_to = fs::read_link(store.join(name)).unwrap_or_default();
            if kept.contains(name) {
                let member =
                    self.at("usr/share/ca-certificates/mozilla").join(Path::new(name).with_extension("crt"));
                bundle.extend(fs::read(member).unwrap());
            } else if !kept.iter().any(|name| leads_to == Path::new(name)) {
                fs::remove_file(store.join(name)).unwrap();
            }
        }
        fs::write(self.at(BUNDLE), bundle).unwrap();
    }

    fn at(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn has(&self, path: &str) -> bool {
        fs::symlink_metadata(self.at(path)).is_ok()
    }

    fn run(&self, words: &[&str]) -> Output {
        support::castore().args(words).arg("--root").arg(&self.path).output().expect("castore starts")
    }

    fn tune(&self, words: &[&str]) -> Output {
        self.run(&[&["tune"], words].concat())
    }

    fn done(&self, words: &[&str]) -> String {
        let output = self.tune(words);
        assert!(output.status.success(), "{words:?}: {}", support::complaint(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    fn refused(&self, words: &[&str]) -> String {
        let before = self.state();
        let output = self.tune(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", support::complaint(&output));
        assert_eq!(self.state(), before, "{words:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn diverts(&self) -> bool {
        fs::read_to_string(self.at("var/lib/dpkg/diversions")).is_ok_and(|table| table.contains("castore"))
    }

    /// The hook and its policy, as the package installs them.
    fn install_hook(&self, mode: &str) {
        self.write(HOOK, b"#!/bin/sh\n");
        fs::set_permissions(self.at(HOOK), fs::Permissions::from_mode(0o755)).unwrap();
        self.write("etc/castore/hook.conf", format!("# What castore does\nmode = {mode}\n").as_bytes());
    }

    fn hook(&self) -> Output {
        self.run(&["hook"])
    }

    /// Everything that is to be as before: kind, target, content, mode, owner; of links also when they were made.
    /// Directories that hold the state change their times, and dpkg keeps the table before the last one.
    fn state(&self) -> BTreeMap<PathBuf, EntryState> {
        let mut state = support::tree_state(&self.path);
        state.retain(|path, _| !path.ends_with("diversions-old"));
        for entry in state.values_mut().filter(|entry| entry.kind != EntryKind::Link) {
            entry.mtime_ns = 0;
        }
        state
    }
}

const WITHOUT_HOOK: &[&str] = &["apply", "--without-hook"];

#[test]
fn apply_and_undo() {
    for dpkg in [true, false] {
        let Some(root) = Root::debian(dpkg) else { return };
        let before = root.state();
        assert!(root.done(&["status"]).contains("next: castore tune apply"));
        root.done(&["apply", "--without-hook", "--dry-run"]);
        root.done(&["undo"]);
        assert_eq!(root.state(), before, "nothing was to be done");

        let said = root.done(WITHOUT_HOOK);
        assert!(said.contains("castore tune undo"), "{said}");
        assert!(!root.has(CERT_FILE) && root.has(AWAY));
        assert_eq!(root.diverts(), dpkg);
        let applied = root.state();
        root.done(WITHOUT_HOOK);
        assert_eq!(root.state(), applied, "a second run changes nothing");
        assert!(root.done(&["status"]).contains("by castore"));

        root.done(&["undo", "--dry-run"]);
        assert_eq!(root.state(), applied);
        root.done(&["undo"]);
        assert_eq!(root.state(), before, "dpkg: {dpkg}");
        root.done(&["undo"]);
        assert_eq!(root.state(), before);
    }
}

#[test]
fn a_stub_stands_in() {
    for dpkg in [true, false] {
        let Some(root) = Root::debian(dpkg) else { return };
        let before = root.state();
        root.done(&["apply", "--without-hook", "--cert-file", "stub"]);
        let stub = fs::read(root.at(CERT_FILE)).unwrap();
        let blocks = support::certificate_blocks(&stub);
        assert_eq!(blocks.len(), 1);
        let same = |entry: &fs::DirEntry| {
            entry.path().extension().is_some_and(|extension| extension == "pem")
                && fs::read(
                    root.at("usr/share/ca-certificates/mozilla")
                        .join(entry.file_name())
                        .with_extension("crt"),
                )
                .is_ok_and(|bytes| bytes == stub)
        };
        let members: Vec<_> = fs::read_dir(root.at(STORE)).unwrap().map(Result::unwrap).collect();
        assert_eq!(
            members.iter().filter(|entry| same(entry)).count(),
            1,
            "it is a member of the directory, byte by byte"
        );
        assert!(root.has(AWAY));

        // From one to the other and back.
        root.done(WITHOUT_HOOK);
        assert!(!root.has(CERT_FILE));
        root.done(&["apply", "--without-hook", "--cert-file", "stub"]);
        assert_eq!(fs::read(root.at(CERT_FILE)).unwrap(), stub);

        // Somebody else's file in its place is not overwritten.
        fs::write(root.at(CERT_FILE), "theirs\n").unwrap();
        assert!(root.refused(&["undo"]).contains("not as castore left it"));
        assert!(root.refused(WITHOUT_HOOK).contains("somebody else"));
        fs::write(root.at(CERT_FILE), &stub).unwrap();
        root.done(&["undo"]);
        assert_eq!(root.state(), before, "dpkg: {dpkg}");
    }
}

/// The openssl of this machine says which certificate no look-up finds any more.
#[test]
fn apply_refuses_what_a_look_up_does_not_find() {
    let Some(root) = Root::debian(true) else { return };
    let link = support::names_in(&root.at(STORE))
        .into_iter()
        .find(|name| name.to_string_lossy().ends_with(".0"))
        .unwrap();
    let target = fs::read_link(root.at(STORE).join(&link)).unwrap();
    fs::remove_file(root.at(STORE).join(&link)).unwrap();
    let member = root.at("usr/share/ca-certificates/mozilla").join(target.with_extension("crt"));
    let fingerprint = support::bundle_fingerprints(&member).remove(0);
    let said = root.refused(WITHOUT_HOOK);
    assert!(said.contains(&fingerprint), "{said}");
    assert!(root.done(&["status"]).contains(&fingerprint));
    assert_eq!(root.tune(&["env"]).status.code(), Some(2));
    symlink(target, root.at(STORE).join(link)).unwrap();
    root.done(WITHOUT_HOOK);
}

#[test]
fn apply_wants_the_hook() {
    let Some(root) = Root::debian(true) else { return };
    assert!(root.refused(&["apply"]).contains("--without-hook"));
    root.install_hook("report");
    assert!(root.refused(&["apply"]).contains("mode = split"));
    root.install_hook("split");
    root.done(&["apply"]);
    assert!(!root.has(CERT_FILE));
}

/// Where the clients were not tried nothing is changed, and status says why.
#[test]
fn other_layouts_are_told_and_left() {
    for system in
        ["ID=fedora\n", "ID=alpine\n", "ID=arch\n", "ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n"]
    {
        let Some(root) = Root::new(system, false) else { return };
        let id = system.trim_end().lines().next().unwrap().trim_start_matches("ID=").trim_matches('"');
        let said = root.refused(WITHOUT_HOOK);
        assert!(said.contains(id), "{said}");
        assert!(root.done(&["status"]).contains("next: nothing"));
    }
    // A derivative with Debian's layout is Debian's layout.
    let Some(root) = Root::new("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n", false) else { return };
    root.done(WITHOUT_HOOK);
    // OPENSSLDIR is /etc/ssl: its cert.pem is the bundle that everybody reads.
    let Some(root) = Root::new("ID=debian\n", false) else { return };
    fs::remove_file(root.at("usr/lib/ssl/certs")).unwrap();
    fs::rename(root.at(BUNDLE), root.at("etc/ssl/cert.pem")).unwrap();
    assert!(root.done(&["status"]).contains("public bundle"));
    root.refused(WITHOUT_HOOK);
    // Debian before 2022.
    let Some(root) = Root::debian(true) else { return };
    fs::remove_file(root.at(CERT_FILE)).unwrap();
    let before = root.state();
    assert!(root.done(WITHOUT_HOOK).contains("not there already"));
    assert_eq!(root.state(), before);
    // A link that leads elsewhere is an administrator's.
    symlink("/etc/ssl/certs/ACCVRAIZ1.pem", root.at(CERT_FILE)).unwrap();
    root.refused(WITHOUT_HOOK);
}

/// What a killed run leaves is finished by the next, in either direction.
#[test]
fn torn_states_are_finished() {
    let Some(root) = Root::debian(true) else { return };
    root.shrink();
    let before = root.state();
    root.done(WITHOUT_HOOK);
    let applied = root.state();
    let record = fs::read(root.at(RECORD)).unwrap();
    let diversions = fs::read(root.at("var/lib/dpkg/diversions")).unwrap();
    let tear = |record_there: bool, diverted: bool, moved: bool| {
        root.tune(&["undo"]);
        assert_eq!(root.state(), before);
        if record_there {
            root.write(RECORD, &record);
        }
        if diverted {
            root.write("var/lib/dpkg/diversions", &diversions);
        }
        if moved {
            fs::rename(root.at(CERT_FILE), root.at(AWAY)).unwrap();
        }
    };
    for (diverted, moved) in [(false, false), (true, false), (true, true), (false, true)] {
        tear(true, diverted, moved);
        root.done(WITHOUT_HOOK);
        assert_eq!(root.state(), applied, "diverted {diverted}, moved {moved}");
        tear(true, diverted, moved);
        root.done(&["undo"]);
        assert_eq!(root.state(), before, "diverted {diverted}, moved {moved}");
    }
    // The record is lost.
    tear(false, true, true);
    root.done(&["undo"]);
    assert_eq!(root.state(), before);
    // An upgrade of package openssl has put its new link under the diverted name while the old one was not moved yet.
    tear(true, true, false);
    symlink("/etc/ssl/certs/ca-certificates.crt", root.at(AWAY)).unwrap();
    root.done(WITHOUT_HOOK);
    assert!(!root.has(CERT_FILE) && root.has(AWAY));
    root.done(&["undo"]);
    assert!(root.has(CERT_FILE) && !root.has(AWAY) && !root.diverts());
}

/// Killed at each system call that changes a name or makes one last: OpenSSL finds all meanwhile, and the next run ends
/// it in either direction.
#[test]
fn killed_at_every_change() {
    if support::skip_without(&["strace"]) {
        return;
    }
    let Some(root) = Root::debian(true) else { return };
    root.shrink();
    let before = root.state();
    let trace = |words: &[&str], fault: &str| {
        let mut strace = support::required("strace");
        strace.args(["-f", "-qq", "-o", "/dev/null", "-e", fault]);
        strace.arg(support::program()).args(words).arg("--root").arg(&root.path);
        strace.output().expect("strace starts")
    };
    let probe = trace(&["tune", "status"], "trace=renameat");
    if !probe.status.success() && !support::in_ci() {
        let _ = writeln!(std::io::stderr(), "skipped: strace may not trace here");
        return;
    }
    let mut killed = 0;
    for call in ["rename", "renameat", "renameat2", "fsync", "mkdirat", "unlinkat", "link", "unlink"] {
        for number in 1..=6 {
            for direction in ["apply", "undo"] {
                root.done(&["undo"]);
                if direction == "undo" {
                    root.done(WITHOUT_HOOK);
                }
                let words: &[&str] = if direction == "apply" {
                    &["tune", "apply", "--without-hook"]
                } else {
                    &["tune", "undo"]
                };
                let output = trace(words, &format!("inject={call}:signal=KILL:when={number}"));
                if output.status.success() {
                    continue;
                }
                killed += 1;
                let what = format!("{direction}, {call} {number}");
                // Never both gone.
                assert!(root.has(CERT_FILE) || root.has(AWAY), "{what}");
                root.done(WITHOUT_HOOK);
                assert!(!root.has(CERT_FILE) && root.has(AWAY) && root.diverts(), "{what}");
                root.done(&["undo"]);
                let mut after = root.state();
                // What a killed run was staging, and dpkg's own.
                after.retain(|path, _| {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    !(name.starts_with(".castore-")
                        || name.ends_with(".dpkg-divert.tmp")
                        || name == "diversions-new")
                });
                after.retain(|path, _| path != Path::new("var/lib/castore"));
                assert_eq!(after, before, "{what}");
            }
        }
    }
    assert!(killed >= 10, "{killed}");
}

#[test]
fn the_hook_reports() {
    let Some(root) = Root::debian(true) else { return };
    let report = "var/lib/castore/report.json";
    root.install_hook("off");
    let before = root.state();
    assert!(root.hook().status.success());
    assert_eq!(root.state(), before);
    root.install_hook("report");
    let output = root.hook();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    let said: serde_json::Value = serde_json::from_slice(&fs::read(root.at(report)).unwrap()).unwrap();
    assert_eq!(said["schema"], "castore.report/1");
    let bundle = support::certificate_blocks(&fs::read(root.at(BUNDLE)).unwrap());
    assert_eq!(said["summary"]["certificates"], bundle.len());
    // Without a policy it is this one; a policy that cannot be read is no policy.
    fs::remove_file(root.at("etc/castore/hook.conf")).unwrap();
    assert!(root.hook().status.success());
    for wrong in ["mode = splat\n", "mode\n", "made = split\n"] {
        root.write("etc/castore/hook.conf", wrong.as_bytes());
        let before = root.state();
        let output = root.hook();
        assert_eq!(output.status.code(), Some(2), "{wrong}");
        assert!(
            String::from_utf8_lossy(&output.stderr).contains("hook.conf:1"),
            "{}",
            support::complaint(&output)
        );
        assert_eq!(root.state(), before);
    }
}

/// Exact duplicates go from the bundle, and nothing else: neither what has expired nor what is no CA.
#[test]
fn the_hook_takes_duplicates_out() {
    let Some(root) = Root::debian(true) else { return };
    root.install_hook("dedupe");
    let bundle = fs::read(root.at(BUNDLE)).unwrap();
    let about = fs::metadata(root.at(BUNDLE)).unwrap();
    assert!(root.hook().status.success());
    assert_eq!(fs::read(root.at(BUNDLE)).unwrap(), bundle);
    assert_eq!(fs::metadata(root.at(BUNDLE)).unwrap().ino(), about.ino(), "no duplicate, nothing written");
    let twice = [&bundle[..], &bundle[..]].concat();
    fs::write(root.at(BUNDLE), &twice).unwrap();
    let output = root.hook();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", support::complaint(&output));
    let left = support::bundle_fingerprints(&root.at(BUNDLE));
    fs::write(root.at("once.pem"), &bundle).unwrap();
    assert_eq!(left, support::bundle_fingerprints(&root.at("once.pem")));
    // Its own output is no duplicate's.
    let about = fs::metadata(root.at(BUNDLE)).unwrap();
    assert!(root.hook().status.success());
    assert_eq!(fs::metadata(root.at(BUNDLE)).unwrap().ino(), about.ino());
    // A bundle that OpenSSL refuses is not written anew behind anybody's back.
    let torn = [&bundle[..], &bundle[..], b"-----BEGIN CERTIFICATE-----\nAAAA\n"].concat();
    fs::write(root.at(BUNDLE), &torn).unwrap();
    let output = root.hook();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read(root.at(BUNDLE)).unwrap(), torn);
}

/// A two-certificate `.crt` of an administrator: `openssl rehash` makes no link for it, and the hook gives OpenSSL its
/// file back before anything is lost; when the file is split, it goes again.
#[test]
fn the_hook_gives_the_file_back_where_the_proof_fails() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    for stub in [false, true] {
        let Some(root) = Root::debian(true) else { return };
        let before = root.state();
        root.install_hook("split");
        root.done(if stub { &["apply", "--cert-file", "stub"] } else { &["apply"] });
        let quiet = root.hook();
        assert!(quiet.status.success() && quiet.stderr.is_empty(), "{}", support::complaint(&quiet));
        assert_eq!(root.has(CERT_FILE), stub);

        let (first, second) = (local(1), local(2));
        let both = [&first[..], &second[..]].concat();
        fs::write(root.at(STORE).join("corp.pem"), &both).unwrap();
        let bundle = [fs::read(root.at(BUNDLE)).unwrap(), both].concat();
        fs::write(root.at(BUNDLE), &bundle).unwrap();
        let output = root.hook();
        assert!(output.status.success(), "{}", support::complaint(&output));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("Castore Test Local"), "{said}");
        assert_eq!(
            fs::read_link(root.at(CERT_FILE)).unwrap(),
            Path::new("/etc/ssl/certs/ca-certificates.crt")
        );
        assert!(root.diverts(), "dpkg is not called");
        let restored = root.state();
        assert!(root.hook().status.success());
        let ours = |state: BTreeMap<PathBuf, EntryState>| {
            state.into_iter().filter(|(path, _)| !path.ends_with("report.json")).collect::<Vec<_>>()
        };
        assert_eq!(ours(root.state()), ours(restored), "the same again changes nothing");

        // In two files, with links.
        fs::remove_file(root.at(STORE).join("corp.pem")).unwrap();
        for (name, bytes) in [("corp1.pem", &first), ("corp2.pem", &second)] {
            fs::write(root.at(STORE).join(name), bytes).unwrap();
        }
        let rehash = root.run(&["rehash", "--quiet", "/etc/ssl/certs"]);
        assert!(rehash.status.success(), "{}", support::complaint(&rehash));
        let output = root.hook();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", support::complaint(&output));
        assert_eq!(root.has(CERT_FILE), stub);
        if stub {
            assert!(fs::symlink_metadata(root.at(CERT_FILE)).unwrap().is_file());
        }
        root.done(&["undo"]);
        assert_eq!(root.state().get(Path::new(CERT_FILE)), before.get(Path::new(CERT_FILE)));
        assert!(!root.diverts() && !root.has(AWAY));
    }
}

/// Somebody has removed the link that is away: the hook still knows what it was.
#[test]
fn the_hook_gives_a_file_back_that_was_removed_while_away() {
    let Some(root) = Root::debian(true) else { return };
    root.shrink();
    root.install_hook("split");
    root.done(&["apply"]);
    fs::remove_file(root.at(AWAY)).unwrap();
    fs::write(root.at(BUNDLE), [fs::read(root.at(BUNDLE)).unwrap(), local(1)].concat()).unwrap();
    let output = root.hook();
    assert!(output.status.success(), "{}", support::complaint(&output));
    assert_eq!(fs::read_link(root.at(CERT_FILE)).unwrap(), Path::new("/etc/ssl/certs/ca-certificates.crt"));
    root.done(&["undo"]);
    assert!(root.has(CERT_FILE) && !root.diverts());
}

/// A CA of somebody's own.
fn local(number: u64) -> Vec<u8> {
    support::der::Certificate::root(&format!("Castore Test Local {number}"), number).pem().into_bytes()
}

/// The variables lead to what OpenSSL then loads: one certificate, and the rest by hash.
#[test]
fn env_names_one_certificate() {
    let Some(root) = Root::debian(false) else { return };
    let said = root.done(&["env"]);
    let value = |name: &str| {
        let line = said.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.unwrap_or_else(|| panic!("{name} is not in {said}")).to_owned()
    };
    assert_eq!(value("SSL_CERT_DIR"), "/etc/ssl/certs");
    let file = value("SSL_CERT_FILE");
    let member = root
        .at("usr/share/ca-certificates/mozilla")
        .join(Path::new(&file).with_extension("crt").file_name().unwrap());
    assert_eq!(support::bundle_fingerprints(&member).len(), 1);
}

/// The layout that breaks others is made only by who says twice that it is wanted.
#[test]
fn the_stub_bundle_wants_consent() {
    let Some(root) = Root::debian(true) else { return };
    root.write("usr/bin/wget", b"");
    root.write("etc/environment", b"AWS_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt\n");
    let before = root.state();
    let output = root.tune(&["apply", "--stub-bundle"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("wget") && said.contains("/etc/environment:1"), "{said}");
    assert_eq!(root.state(), before);
    root.done(&["apply", "--stub-bundle", "--accept-breakage"]);
    let left = support::bundle_fingerprints(&root.at(BUNDLE));
    assert_eq!(left.len(), 1);
    // `openssl rehash` links the first file of a certificate, by name: not the bundle.
    if let Some(mut openssl) = support::tool("openssl") {
        let flat = root.at("flat");
        fs::create_dir(&flat).unwrap();
        for name in support::names_in(&root.at(STORE)) {
            let from = root.at(STORE).join(&name);
            let member =
                root.at("usr/share/ca-certificates/mozilla").join(Path::new(&name).with_extension("crt"));
            let from = if name == "ca-certificates.crt" { from } else { member };
            if fs::metadata(&from).is_ok() {
                fs::copy(&from, flat.join(&name)).unwrap();
            }
        }
        assert!(openssl.arg("rehash").arg(&flat).output().unwrap().status.success());
        let links = fs::read_dir(&flat)
            .unwrap()
            .map(Result::unwrap)
            .filter_map(|entry| fs::read_link(entry.path()).ok());
        let targets: Vec<PathBuf> = links.collect();
        assert!(targets.len() > 100);
        assert!(!targets.contains(&PathBuf::from("ca-certificates.crt")), "a hash leads to the bundle");
    }
}

/// A root with one certificate more, in the bundle and found by hash, and a file of it that a test puts there.
fn with_local(member: impl Fn(&support::der::Certificate) -> String) -> Option<Root> {
    if support::skip_without(&["openssl"]) {
        return None;
    }
    let root = Root::debian(false)?;
    root.shrink();
    let local = support::der::Certificate::root("Castore Test Local", 7);
    let hash = support::openssl_view(local.pem().as_bytes()).unwrap().subject_hash;
    let bundle = [&fs::read(root.at(BUNDLE)).unwrap()[..], local.pem().as_bytes()].concat();
    fs::write(root.at(BUNDLE), bundle).unwrap();
    root.write(&format!("{STORE}/local.pem"), member(&local).as_bytes());
    symlink("local.pem", root.at(STORE).join(format!("{hash}.0"))).unwrap();
    Some(root)
}

/// The proof is about what every program finds, and nothing more: refused are members that others may not read, or that
/// have other trust attributes than the bundle has, and certificates that the bundle hides now.
#[test]
fn apply_refuses_what_would_change_trust() {
    let Some(root) = with_local(|local| local.pem()) else { return };
    root.done(WITHOUT_HOOK);
    root.done(&["undo"]);
    let member = root.at(STORE).join("local.pem");
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&member, 0o600);
    assert!(root.refused(WITHOUT_HOOK).contains("Castore Test Local in /etc/ssl/certs/local.pem"));
    mode(&member, 0o644);
    // Readable, in a directory that is not to be entered.
    fs::create_dir_all(root.at("etc/corp")).unwrap();
    fs::rename(&member, root.at("etc/corp/local.pem")).unwrap();
    symlink("/etc/corp/local.pem", &member).unwrap();
    root.done(WITHOUT_HOOK);
    root.done(&["undo"]);
    mode(&root.at("etc/corp"), 0o700);
    assert!(root.refused(WITHOUT_HOOK).contains("Castore Test Local"));

    let rejected =
        |local: &support::der::Certificate| local.trusted_pem(&[], &[support::der::oids::SERVER_AUTH]);
    let Some(root) = with_local(rejected) else { return };
    assert!(root.refused(WITHOUT_HOOK).contains("other trust attributes"));

    let Some(root) = with_local(|local| local.pem()) else { return };
    let twin = support::der::Certificate::root("Castore Test Local", 8);
    let hash = support::openssl_view(twin.pem().as_bytes()).unwrap().subject_hash;
    root.write(&format!("{STORE}/twin.pem"), twin.pem().as_bytes());
    symlink("twin.pem", root.at(STORE).join(format!("{hash}.1"))).unwrap();
    assert!(root.refused(WITHOUT_HOOK).contains("hides now: Castore Test Local in /etc/ssl/certs/twin.pem"));
}

/// Somebody else has a hand in it: the file that was away is gone, or is not castore's, or the record is lost.
#[test]
fn undo_and_hook_without_all_of_their_pieces() {
    let Some(root) = Root::debian(false) else { return };
    root.done(&["apply", "--without-hook", "--cert-file", "stub"]);
    fs::remove_file(root.at(AWAY)).unwrap();
    root.done(&["undo"]);
    assert_eq!(fs::read_link(root.at(CERT_FILE)).unwrap(), Path::new("/etc/ssl/certs/ca-certificates.crt"));
    assert!(!root.has(RECORD));

    let Some(root) = Root::debian(false) else { return };
    root.write(AWAY, b"somebody else's");
    assert!(root.refused(WITHOUT_HOOK).contains("cert.pem.castore is there"));
    root.done(&["undo"]);
    assert_eq!(fs::read(root.at(AWAY)).unwrap(), b"somebody else's");
    assert!(fs::symlink_metadata(root.at(CERT_FILE)).unwrap().is_symlink());

    let Some(root) = Root::debian(false) else { return };
    root.install_hook("split");
    root.done(&["apply"]);
    fs::remove_dir_all(root.at("var/lib/castore")).unwrap();
    let links = fs::read_dir(root.at(STORE)).unwrap().map(|entry| entry.unwrap().path());
    let link = links.filter(|path| path.extension().is_some_and(|number| number == "0")).min().unwrap();
    let target = fs::read_link(&link).unwrap();
    fs::remove_file(&link).unwrap();
    let output = root.hook();
    assert!(output.status.success(), "{}", support::complaint(&output));
    assert_eq!(fs::read_link(root.at(CERT_FILE)).unwrap(), Path::new("/etc/ssl/certs/ca-certificates.crt"));
    symlink(target, link).unwrap();
    root.done(&["undo"]);
    assert!(!root.has(AWAY) && !root.has(RECORD));
    assert_eq!(fs::read_link(root.at(CERT_FILE)).unwrap(), Path::new("/etc/ssl/certs/ca-certificates.crt"));
}

/// Where dpkg's table cannot be written, nothing is done, and nothing remembered.
#[test]
fn a_diversion_that_fails_leaves_no_record() {
    let Some(root) = Root::debian(true) else { return };
    let before = root.state();
    let words = ["tune", "apply", "--without-hook", "--root"];
    let output = support::castore().env("PATH", "/nonexistent").args(words).arg(&root.path).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", support::complaint(&output));
    assert_eq!(root.state(), before);
}

/// The hook cuts repeats out, byte by byte: other blocks, trust attributes, owner and mode stay.
#[test]
fn the_hook_changes_nothing_but_repeats() {
    use support::der::{Certificate, oids};
    let Some(root) = Root::debian(false) else { return };
    root.install_hook("dedupe");
    let (one, two, three) = (1, 2, 3);
    let [one, two, three] =
        [one, two, three].map(|key| Certificate::root(&format!("Castore Test {key}"), key));
    let parts = [
        format!("# one\n{}", one.trusted_pem(&[oids::SERVER_AUTH], &[])),
        two.trusted_pem(&[oids::EMAIL_PROTECTION], &[]),
        "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n".to_owned(),
        three.pem(),
    ];
    let once = parts.concat();
    fs::write(root.at(BUNDLE), once.clone() + &three.pem() + &parts[0][6..]).unwrap();
    fs::set_permissions(root.at(BUNDLE), fs::Permissions::from_mode(0o640)).unwrap();
    let about = fs::metadata(root.at(BUNDLE)).unwrap();
    let output = root.hook();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", support::complaint(&output));
    assert_eq!(fs::read_to_string(root.at(BUNDLE)).unwrap(), once);
    let now = fs::metadata(root.at(BUNDLE)).unwrap();
    assert_eq!((now.mode(), now.uid(), now.gid()), (about.mode(), about.uid(), about.gid()));
}
