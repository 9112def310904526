//! `audit --root R --fail-on error` as the gate of an image build: what it stops, what it lets pass, and that nothing
//! outside R is opened.
//!
//! The roots are made of Debian's package (its own `update-ca-certificates` runs in them), of p11-kit's `trust extract`,
//! and by hand after what Alpine, FreeBSD and Kubernetes lay out.
#![cfg(feature = "cli")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that makes files and runs the program"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use support::Trust;
use support::cases::{self, make_directory, set_mode};
use support::der::{Certificate, basic_constraints};

/// Dates are not what is tried here; those of the stock stores pass by, as warnings.
const AT: &str = "2026-06-01";
const CERTS: &str = "/etc/ssl/certs";
const BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";
const LOCAL: &str = "/usr/local/share/ca-certificates";
const SHARED: &str = "/usr/share/ca-certificates";

fn corp() -> Certificate {
    Certificate::root("Corp Root", 1)
}

fn other_corp() -> Certificate {
    Certificate::root("Other Corp Root", 2)
}

/// What `openssl x509 -fingerprint -sha256` says of a certificate.
fn sha256(pem: &str) -> String {
    support::openssl_view(pem.as_bytes()).unwrap().sha256
}

/// The name `openssl x509 -subject_hash` gives to a certificate's first link.
fn hash_name(pem: &[u8]) -> String {
    format!("{}.0", support::openssl_view(pem).unwrap().subject_hash)
}

// ---- Roots -----------------------------------------------------------------------------------------------------

/// A root in a folder of its own.
struct Root {
    folder: TempDir,
    path: PathBuf,
}

/// What `audit` said of a root.
struct Audited {
    status: Option<i32>,
    report: Value,
    text: String,
    stderr: String,
}

impl Root {
    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        set_mode(folder.path(), 0o755);
        let path = folder.path().join("root");
        make_directory(&path);
        Self { folder, path }
    }

    fn copy(image: &Path) -> Self {
        let root = Self::empty();
        support::copy_tree(image, &root.path);
        root
    }

    /// A copy of the stock image.
    fn stock() -> Option<Self> {
        if support::skip_without(&["openssl"]) {
            return None;
        }
        support::stock_image().map(|image| Self::copy(&image))
    }

    /// Where a path of the root is on this machine. Links on the way are not for this.
    fn at(&self, inside: &str) -> PathBuf {
        self.path.join(inside.strip_prefix('/').expect("paths are absolute"))
    }

    fn write(&self, inside: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(inside);
        make_directories(&self.path, path.parent().unwrap());
        fs::write(&path, bytes).unwrap();
        set_mode(&path, 0o644);
    }

    fn append(&self, inside: &str, bytes: impl AsRef<[u8]>) {
        fs::OpenOptions::new().append(true).open(self.at(inside)).unwrap().write_all(bytes.as_ref()).unwrap();
    }

    fn link(&self, inside: &str, target: &str) {
        let path = self.at(inside);
        make_directories(&self.path, path.parent().unwrap());
        symlink(target, path).unwrap();
    }

    fn directory(&self, inside: &str) {
        make_directories(&self.path, &self.at(inside));
    }

    /// The links of the store that lead below `old` lead below `new`.
    fn relink(&self, old: &str, new: &str) {
        for name in support::names_in(&self.at(CERTS)) {
            let path = self.at(CERTS).join(name);
            let Ok(target) = fs::read_link(&path) else { continue };
            if let Some(rest) = target.to_str().unwrap().strip_prefix(old)
                && rest.starts_with('/')
            {
                fs::remove_file(&path).unwrap();
                symlink(format!("{new}{rest}"), &path).unwrap();
            }
        }
    }

    /// Runs the package's own script on this root. The links it makes lead to the root as this machine names it: whole
    /// for other tools. [`Root::settle`] makes them what they are in an image.
    fn update_unsettled(&self) {
        let at = |inside: &str| self.at(inside);
        let output = support::required("sh")
            .arg(at("/usr/sbin/update-ca-certificates"))
            .arg("--certsconf")
            .arg(at("/etc/ca-certificates.conf"))
            .arg("--certsdir")
            .arg(at(SHARED))
            .arg("--localcertsdir")
            .arg(at(LOCAL))
            .args(["--certbundle", "ca-certificates.crt", "--etccertsdir"])
            .arg(at(CERTS))
            .args(["--hooksdir", ""])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("done."), "the script did its work");
    }

    fn settle(&self) {
        self.relink(self.path.to_str().unwrap(), "");
    }

    fn update(&self) {
        self.update_unsettled();
        self.settle();
    }

    fn audit(&self, arguments: &[&str]) -> Audited {
        let mut command = support::castore();
        self.audit_as(&mut command, arguments)
    }

    /// Text and JSON, which must agree.
    fn audit_as(&self, command: &mut Command, arguments: &[&str]) -> Audited {
        command.args(["audit", "--fail-on", "error", "--at", AT, "--root"]).arg(&self.path).args(arguments);
        let text = command.output().unwrap();
        let json = command.args(["--format", "json"]).output().unwrap();
        let stderr = String::from_utf8(text.stderr).unwrap();
        assert_eq!(text.status.code(), json.status.code(), "{stderr}");
        let report = serde_json::from_slice(&json.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&json.stderr)));
        let text = String::from_utf8(text.stdout).unwrap();
        // Reports give paths as seen from inside. The root itself is told, and stands in what to type next.
        for output in [&text, &stderr, &String::from_utf8(json.stdout).unwrap()] {
            let told =
                |line: &&str| line.starts_with("next: ") || line.trim_start().starts_with("\"root\": ");
            let rest: Vec<&str> = output.lines().filter(|line| !told(line)).collect();
            assert!(!rest.join("\n").contains(self.folder.path().to_str().unwrap()), "{output}");
        }
        Audited { status: json.status.code(), report, text, stderr }
    }

    fn bundle_fingerprints(&self) -> Vec<String> {
        support::bundle_fingerprints(&self.at(BUNDLE))
    }
}

/// Mode 0755 whatever the umask.
fn make_directories(root: &Path, path: &Path) {
    if path != root && !path.exists() {
        make_directories(root, path.parent().unwrap());
        make_directory(path);
    }
}

impl Audited {
    fn findings(&self) -> &[Value] {
        self.report["findings"].as_array().unwrap()
    }

    fn ids(&self, severity: &str) -> BTreeSet<&str> {
        let of = self.findings().iter().filter(|finding| finding["severity"] == severity);
        of.map(|finding| finding["id"].as_str().unwrap()).collect()
    }

    /// Path and line of each place of a finding.
    fn places(&self, id: &str) -> BTreeSet<(&str, u64)> {
        let of = self.findings().iter().filter(|finding| finding["id"] == id);
        of.flat_map(|finding| finding["occurrences"].as_array().unwrap())
            .map(|place| (place["path"].as_str().unwrap(), place["line"].as_u64().unwrap_or(0)))
            .collect()
    }

    fn paths(&self, id: &str) -> BTreeSet<&str> {
        self.places(id).into_iter().map(|(path, _)| path).collect()
    }

    /// The certificates that a finding is about.
    fn about(&self, id: &str) -> BTreeSet<String> {
        let of = self.findings().iter().filter(|finding| finding["id"] == id);
        of.filter_map(|finding| finding["sha256"].as_str()).map(str::to_owned).collect()
    }

    fn certificates(&self) -> BTreeSet<&str> {
        let all = self.report["certificates"].as_array().unwrap().iter();
        all.map(|certificate| certificate["sha256"].as_str().unwrap()).collect()
    }

    /// The gate is shut, for these errors and no other.
    #[track_caller]
    fn stops_for(&self, ids: &[&str]) {
        let expected: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(self.ids("error"), expected, "{}{}", self.stderr, self.text);
        assert_eq!(self.status, Some(1), "{}{}", self.stderr, self.text);
        for id in ids {
            assert!(self.text.contains(&format!("error[{id}]")), "{id} is not said:\n{}", self.text);
        }
    }

    /// The gate is open.
    #[track_caller]
    fn passes(&self) {
        assert_eq!(self.ids("error"), BTreeSet::new(), "{}{}", self.stderr, self.text);
        assert_eq!(self.status, Some(0), "{}{}", self.stderr, self.text);
        assert!(self.report["summary"]["certificates"].as_u64() > Some(0), "{}{}", self.stderr, self.text);
    }
}

// ---- What the gate stops ---------------------------------------------------------------------------------------

#[test]
fn an_anchor_that_the_updater_ignores() {
    let Some(root) = Root::stock() else { return };
    root.audit(&[]).passes();
    root.write(&format!("{LOCAL}/corp.pem"), corp().pem());
    root.write(&format!("{LOCAL}/team/other.CRT"), other_corp().pem());
    // Before the update, and after it: the script takes neither.
    for _ in 0..2 {
        for paths in [&[][..], &[CERTS], &[BUNDLE]] {
            let audited = root.audit(paths);
            audited.stops_for(&["ignored-anchor"]);
            let files = [format!("{LOCAL}/corp.pem"), format!("{LOCAL}/team/other.CRT")];
            assert_eq!(audited.paths("ignored-anchor"), files.iter().map(String::as_str).collect());
        }
        root.update();
        assert!(!root.bundle_fingerprints().contains(&sha256(&corp().pem())));
    }
    // What the help says helps.
    for (old, new) in [("corp.pem", "corp.crt"), ("team/other.CRT", "team/other.crt")] {
        fs::rename(root.at(LOCAL).join(old), root.at(LOCAL).join(new)).unwrap();
    }
    root.update();
    root.audit(&[]).passes();
    let bundle = root.bundle_fingerprints();
    assert!(bundle.contains(&sha256(&corp().pem())) && bundle.contains(&sha256(&other_corp().pem())));
}

#[test]
fn an_ignored_file_that_the_bundle_has_anyway() {
    let Some(root) = Root::stock() else { return };
    let file = fs::read(root.at(&format!("{SHARED}/mozilla/ISRG_Root_X1.crt"))).unwrap();
    root.write(&format!("{LOCAL}/isrg.pem"), file);
    root.write(&format!("{LOCAL}/README"), "Put certificates here.\n");
    root.write(&format!("{LOCAL}/corp.key"), "no certificate\n");
    root.audit(&[]).passes();
}

#[test]
fn two_certificates_in_one_crt_get_no_hash_link() {
    let Some(root) = Root::stock() else { return };
    root.write(&format!("{LOCAL}/two.crt"), corp().pem() + &other_corp().pem());
    root.update_unsettled();
    // What OpenSSL finds: both in the bundle, none in the directory. A single one would be found.
    let both: Vec<Vec<u8>> = [corp(), other_corp()].iter().map(|one| one.pem().into_bytes()).collect();
    let (certs, bundle) = (root.at(CERTS), root.at(BUNDLE));
    assert_eq!(support::openssl_verify_each(Trust::CaFile(&bundle), &both).len(), 2);
    assert_eq!(support::openssl_verify_each(Trust::CaPath(&certs), &both).len(), 0);
    root.settle();
    let expected = BTreeSet::from([sha256(&corp().pem()), sha256(&other_corp().pem())]);
    for paths in [&[][..], &[CERTS]] {
        let audited = root.audit(paths);
        audited.stops_for(&["unreachable"]);
        assert_eq!(audited.about("unreachable"), expected);
        assert_eq!(audited.paths("unreachable"), BTreeSet::from(["/etc/ssl/certs/two.pem"]));
    }
    // Split, they are found.
    fs::remove_file(root.at(&format!("{LOCAL}/two.crt"))).unwrap();
    fs::remove_file(root.at("/etc/ssl/certs/two.pem")).unwrap();
    root.write(&format!("{LOCAL}/one.crt"), corp().pem());
    root.write(&format!("{LOCAL}/two.crt"), other_corp().pem());
    root.update_unsettled();
    assert_eq!(support::openssl_verify_each(Trust::CaPath(&certs), &both).len(), 2);
    root.settle();
    root.audit(&[]).passes();
}

#[test]
fn der_in_the_bundle() {
    let Some(root) = Root::stock() else { return };
    let lines = fs::read_to_string(root.at(BUNDLE)).unwrap().lines().count() as u64;
    root.append(BUNDLE, corp().der());
    let found = support::openssl_verify_each(Trust::CaFile(&root.at(BUNDLE)), &[corp().pem().into_bytes()]);
    assert!(found.is_empty(), "OpenSSL does not see it");
    for paths in [&[][..], &[CERTS], &[BUNDLE]] {
        let audited = root.audit(paths);
        // That nobody regenerates it is true as well.
        audited.stops_for(&["der-in-bundle", "not-regenerated"]);
        assert_eq!(audited.places("der-in-bundle"), BTreeSet::from([(BUNDLE, lines + 1)]));
        assert!(audited.certificates().contains(sha256(&corp().pem()).as_str()));
    }
}

#[test]
fn der_that_the_updater_puts_into_the_bundle() {
    let Some(root) = Root::stock() else { return };
    root.write(&format!("{LOCAL}/corp.crt"), corp().der());
    root.update();
    let bytes = fs::read(root.at(BUNDLE)).unwrap();
    let der = corp().der();
    assert!(bytes.windows(der.len()).any(|window| window == der), "the script copies it as it is");
    let audited = root.audit(&[]);
    // And `openssl rehash` makes no link for it.
    audited.stops_for(&["der-in-bundle", "unreachable"]);
    assert_eq!(audited.about("unreachable"), BTreeSet::from([sha256(&corp().pem())]));
}

#[test]
fn the_directory_copied_without_what_its_links_name() {
    let Some(stock) = Root::stock() else { return };
    for bundle in [true, false] {
        let root = Root::empty();
        root.directory("/etc/ssl");
        support::copy_tree(&stock.at(CERTS), &root.at(CERTS));
        if !bundle {
            fs::remove_file(root.at(BUNDLE)).unwrap();
        }
        for paths in [&[][..], &[CERTS]] {
            let audited = root.audit(paths);
            // Without a bundle, the directory that was named has no certificate at all.
            let also: &[&str] = if bundle { &[] } else { &["no-certificates"] };
            audited.stops_for(&[&["dead-capath"], also].concat());
            assert_eq!(audited.paths("dead-capath"), BTreeSet::from([CERTS]));
            let links = audited.report["links"].as_array().unwrap();
            // A second link of one hash may also be said to stand behind a dead one.
            let dangling =
                |link: &Value| link["states"].as_array().unwrap().iter().any(|state| state == "dangling");
            assert!(links.len() > 100 && links.iter().all(dangling));
        }
    }
}

#[test]
fn a_certificate_that_the_next_update_loses() {
    let Some(root) = Root::stock() else { return };
    let (fingerprint, before) = (sha256(&corp().pem()), root.bundle_fingerprints());
    root.append(BUNDLE, corp().pem());
    assert!(root.bundle_fingerprints().contains(&fingerprint));
    for paths in [&[][..], &[CERTS], &[BUNDLE]] {
        let audited = root.audit(paths);
        audited.stops_for(&["not-regenerated"]);
        assert_eq!(audited.about("not-regenerated"), BTreeSet::from([fingerprint.clone()]));
    }
    root.update();
    assert_eq!(root.bundle_fingerprints(), before, "the script loses it");
    root.audit(&[]).passes();
}

#[test]
fn a_deselected_certificate_is_lost_by_the_next_update() {
    let Some(root) = Root::stock() else { return };
    let pem = fs::read_to_string(root.at(&format!("{SHARED}/mozilla/ISRG_Root_X1.crt"))).unwrap();
    let configuration = root.at("/etc/ca-certificates.conf");
    let text = fs::read_to_string(&configuration).unwrap();
    let changed = text.replace("\nmozilla/ISRG_Root_X1.crt", "\n!mozilla/ISRG_Root_X1.crt");
    assert_ne!(text, changed);
    fs::write(&configuration, changed).unwrap();
    let audited = root.audit(&[]);
    audited.stops_for(&["not-regenerated"]);
    assert_eq!(audited.about("not-regenerated"), BTreeSet::from([sha256(&pem)]));
    root.update();
    assert!(!root.bundle_fingerprints().contains(&sha256(&pem)));
    root.audit(&[]).passes();
}

#[test]
fn a_bundle_behind_a_hash_link() {
    let Some(root) = Root::stock() else { return };
    let first = support::certificate_blocks(&fs::read(root.at(BUNDLE)).unwrap()).remove(0);
    let hash = support::openssl_view(&first).unwrap().subject_hash;
    // Where the hash has a link already, where it is the bundle's alone, and by another path.
    for (name, target) in [
        (format!("{hash}.1"), "ca-certificates.crt"),
        ("deadbeef.0".to_owned(), "ca-certificates.crt"),
        ("deadbeef.0".to_owned(), BUNDLE),
        ("deadbeef.0".to_owned(), "/usr/lib/ssl/cert.pem"),
    ] {
        let path = format!("{CERTS}/{name}");
        root.link(&path, target);
        for paths in [&[][..], &[CERTS]] {
            let audited = root.audit(paths);
            audited.stops_for(&["link-to-bundle"]);
            assert_eq!(audited.paths("link-to-bundle"), BTreeSet::from([path.as_str()]), "{target}");
        }
        fs::remove_file(root.at(&path)).unwrap();
    }
}

#[test]
fn links_that_lead_out_of_the_root() {
    let Some(root) = Root::stock() else { return };
    let outside = root.folder.path().join("outside.pem");
    fs::write(&outside, corp().pem()).unwrap();
    set_mode(&outside, 0o644);
    let name = hash_name(corp().pem().as_bytes());
    root.link("/opt/hop.pem", "../../outside.pem");
    for (link, target) in [
        ("corp.pem", "../../../../outside.pem"),
        ("corp.pem", "/../outside.pem"),
        (name.as_str(), "../../../../outside.pem"),
        // The second link of a chain.
        ("corp.pem", "/opt/hop.pem"),
    ] {
        let path = format!("{CERTS}/{link}");
        root.link(&path, target);
        let audited = root.audit(&[]);
        audited.stops_for(&["link-out-of-root"]);
        assert_eq!(audited.paths("link-out-of-root"), BTreeSet::from([path.as_str()]), "{target}");
        assert!(!audited.certificates().contains(sha256(&corp().pem()).as_str()), "{target}");
        fs::remove_file(root.at(&path)).unwrap();
    }
    // The absolute path of a file outside means a file inside, which is not there.
    root.link(&format!("{CERTS}/corp.pem"), outside.to_str().unwrap());
    let mut command = support::castore();
    command.args(["audit", "--at", AT, "--format", "json", "--root"]).arg(&root.path);
    let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(!output.contains(&sha256(&corp().pem())));
}

#[test]
fn a_link_in_a_directory_behind_a_link_is_counted_from_where_it_is() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    // /etc/ssl/certs is /usr/share/pki/tls/certs: four steps up are inside.
    let root = Root::empty();
    root.write("/etc/corp.pem", corp().pem());
    root.directory("/usr/share/pki/tls/certs");
    root.link(CERTS, "/usr/share/pki/tls/certs");
    let name = hash_name(corp().pem().as_bytes());
    symlink("../../../../../etc/corp.pem", root.at("/usr/share/pki/tls/certs/corp.pem")).unwrap();
    symlink("corp.pem", root.at("/usr/share/pki/tls/certs").join(name)).unwrap();
    for path in [CERTS, "/usr/share/pki/tls/certs"] {
        root.audit(&[path]).passes();
    }
    // One more leads out, and from where the directory is.
    fs::remove_file(root.at("/usr/share/pki/tls/certs/corp.pem")).unwrap();
    symlink("../../../../../../etc/corp.pem", root.at("/usr/share/pki/tls/certs/corp.pem")).unwrap();
    for path in [CERTS, "/usr/share/pki/tls/certs"] {
        root.audit(&[path]).stops_for(&["link-out-of-root"]);
    }
}

#[test]
fn a_damaged_bundle() {
    let Some(root) = Root::stock() else { return };
    let good = fs::read_to_string(root.at(BUNDLE)).unwrap();
    let blocks = support::certificate_blocks(good.as_bytes());
    let last = String::from_utf8(blocks.last().unwrap().clone()).unwrap();
    let head = good.strip_suffix(&last).expect("the bundle ends with its last block");
    let line = head.lines().count() as u64;
    // A certificate of its own, so that nothing but the damage is wrong.
    let cases = [
        (&["bundle-refused", "glued-boundary"][..], format!("{}{last}", head.trim_end()), line),
        (
            &["private-key"],
            format!("{good}{}", support::der::pem("PRIVATE KEY", &pkcs8())),
            good.lines().count() as u64 + 1,
        ),
        (&["distrust-flattened"], format!("{head}# Explicitly Distrust this one\n{last}"), line + 2),
    ];
    for (ids, text, line) in cases {
        // The damage itself comes last.
        let id = ids.last().unwrap();
        fs::write(root.at(BUNDLE), text).unwrap();
        for paths in [&[][..], &[CERTS], &[BUNDLE]] {
            let audited = root.audit(paths);
            audited.stops_for(ids);
            assert_eq!(audited.places(id), BTreeSet::from([(BUNDLE, line)]), "{id}");
        }
    }
}

/// An Ed25519 key after RFC 8410, section 7.
fn pkcs8() -> Vec<u8> {
    use support::der::{integer, octet_string, oid, oids, sequence};
    let algorithm = sequence(&[oid(oids::ED25519)]);
    sequence(&[integer(&[0]), algorithm, octet_string(&octet_string(&[0x42; 32]))])
}

// ---- What it lets pass -----------------------------------------------------------------------------------------

/// The images of the versions of Debian's package that are at hand.
fn images() -> Vec<PathBuf> {
    let older = support::material().join("older/image");
    support::stock_image().into_iter().chain(older.exists().then_some(older)).collect()
}

#[test]
fn the_stock_stores() {
    for image in images() {
        let root = Root { folder: tempfile::tempdir().unwrap(), path: image };
        let all = root.bundle_fingerprints();
        for paths in
            [&[][..], &[CERTS], &[BUNDLE], &[CERTS, BUNDLE], &["-R", "/etc/ssl"], &["/usr/lib/ssl/cert.pem"]]
        {
            let audited = root.audit(paths);
            audited.passes();
            assert_eq!(audited.certificates(), all.iter().map(String::as_str).collect());
        }
        // It says what it took, and why.
        let stderr = root.audit(&[]).stderr;
        assert!(
            stderr.contains(CERTS) && stderr.contains(BUNDLE) && stderr.contains("OPENSSLDIR"),
            "{stderr}"
        );
    }
}

#[test]
fn a_store_with_local_certificates() {
    for image in images() {
        if support::skip_without(&["openssl"]) {
            return;
        }
        let root = Root::copy(&image);
        root.write(&format!("{LOCAL}/corp.crt"), corp().pem());
        root.write(&format!("{LOCAL}/team (new)/other, corp.crt"), other_corp().pem());
        // Through a link, and a copy of one of the package's.
        root.write("/opt/corp/third.pem", Certificate::root("Third Corp Root", 3).pem());
        root.link(&format!("{LOCAL}/third.crt"), "../../../../opt/corp/third.pem");
        let file = fs::read(root.at(&format!("{SHARED}/mozilla/ISRG_Root_X1.crt"))).unwrap();
        root.write(&format!("{LOCAL}/isrg.crt"), file);
        root.update();
        assert_eq!(
            root.bundle_fingerprints().len(),
            support::bundle_fingerprints(&image.join(&BUNDLE[1..])).len() + 3
        );
        root.audit(&[]).passes();
        root.audit(&[CERTS]).passes();
    }
}

#[test]
fn a_store_copied_with_its_links_followed() {
    let Some(stock) = Root::stock() else { return };
    let root = Root::empty();
    stock.relink(SHARED, stock.at(SHARED).to_str().unwrap());
    root.directory("/etc/ssl");
    let copied = support::required("cp").arg("-rL").args([stock.at(CERTS), root.at(CERTS)]).status().unwrap();
    assert!(copied.success());
    root.audit(&[]).passes();
    // And the bundle alone, as images from scratch take it.
    let root = Root::empty();
    root.write(BUNDLE, fs::read(stock.at(BUNDLE)).unwrap());
    root.audit(&[]).passes();
    root.audit(&[CERTS]).passes();
}

#[test]
fn trees_made_with_umask_002() {
    let Some(root) = Root::stock() else { return };
    for entry in walkdir::WalkDir::new(&root.path) {
        let entry = entry.unwrap();
        if !entry.path_is_symlink() {
            set_mode(entry.path(), entry.metadata().unwrap().mode() & 0o7777 | 0o020);
        }
    }
    let audited = root.audit(&[]);
    audited.passes();
    assert!(audited.ids("notice").contains("group-writable"), "{}", audited.text);
    assert!(!audited.ids("warning").contains("writable-by-others"), "{}", audited.text);
}

#[test]
fn alpine() {
    let Some(stock) = Root::stock() else { return };
    let root = Root::empty();
    root.write(BUNDLE, fs::read(stock.at(BUNDLE)).unwrap());
    root.link("/etc/ssl/cert.pem", "certs/ca-certificates.crt");
    root.link("/etc/ssl1.1/cert.pem", "/etc/ssl/cert.pem");
    root.link("/etc/ssl1.1/certs", "/etc/ssl/certs");
    for paths in [&[][..], &[CERTS], &["/etc/ssl/cert.pem"], &["-R", "/etc/ssl"], &["/etc/ssl1.1/certs"]] {
        let audited = root.audit(paths);
        audited.passes();
        assert_eq!(audited.certificates().len(), stock.bundle_fingerprints().len());
        // "a directory whose only members are bundles is no CApath"
        assert!(!audited.ids("warning").contains("no-hash-links"), "{}", audited.text);
    }
}

#[test]
fn freebsd() {
    let Some(stock) = Root::stock() else { return };
    let root = Root::empty();
    let blocks = support::certificate_blocks(&fs::read(stock.at(BUNDLE)).unwrap());
    let mut taken = BTreeSet::new();
    for (block, view) in blocks.iter().zip(support::openssl_views(&stock.at(BUNDLE))) {
        let name = (0..)
            .map(|number| format!("{}.{number}", view.subject_hash))
            .find(|name| taken.insert(name.clone()));
        let path = format!("{CERTS}/{}", name.unwrap());
        root.write(&path, block);
        set_mode(&root.at(&path), 0o444);
    }
    root.write("/etc/ssl/untrusted/8d86cdd1.0", Certificate::root("Distrusted Root", 9).pem());
    root.write("/etc/ssl/cert.pem", fs::read(stock.at(BUNDLE)).unwrap());
    for paths in [&[][..], &[CERTS], &["/etc/ssl/cert.pem"]] {
        let audited = root.audit(paths);
        audited.passes();
        assert_eq!(audited.certificates().len(), blocks.len());
    }
    let links = root.audit(&[CERTS]).report["links"].as_array().unwrap().len();
    assert_eq!(links, blocks.len());
}

/// A self-issued certificate that is no CA, as package ssl-cert makes it.
fn snakeoil() -> Certificate {
    let mut certificate = Certificate::root("localhost", 20);
    certificate.extensions = vec![basic_constraints(false, None)];
    certificate
}

#[test]
fn a_server() {
    let Some(root) = Root::stock() else { return };
    let issuer = Certificate::root("Public Root", 30);
    let intermediate = Certificate::intermediate("Public Intermediate", &issuer, 31);
    let chain = Certificate::leaf("www.example.test", &intermediate, 32).pem() + &intermediate.pem();
    let at = |name: &str| format!("{CERTS}/{name}");
    root.write(&at("ssl-cert-snakeoil.pem"), snakeoil().pem());
    root.link(&at(&hash_name(snakeoil().pem().as_bytes())), "ssl-cert-snakeoil.pem");
    root.write("/etc/ssl/private/ssl-cert-snakeoil.key", support::der::pem("PRIVATE KEY", &pkcs8()));
    root.write(&at("site.pem"), Certificate::leaf("site.example.test", &intermediate, 33).pem());
    root.write(&at("www.pem"), &chain);
    root.write(&at("www-intermediate.pem"), intermediate.pem());
    // The magic of a JKS, as package ca-certificates-java has it there.
    root.write(
        &at("java/cacerts"),
        [&[0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2, 0, 0, 0, 0][..], &[0; 20]].concat(),
    );
    for rehashed in [false, true] {
        for paths in [&[][..], &[CERTS], &["-R", CERTS]] {
            root.audit(paths).passes();
        }
        if !rehashed {
            // `openssl rehash` runs in it: links for all but the chain.
            root.update();
            assert!(root.at(&at(&hash_name(intermediate.pem().as_bytes()))).exists());
        }
    }
}

#[test]
fn a_mounted_configmap() {
    let Some(stock) = Root::stock() else { return };
    let bundle = fs::read(stock.at(BUNDLE)).unwrap();
    for files in [&["ca-certificates.crt"][..], &["corp-ca.crt"], &["ca.pem", "tls.crt"]] {
        let root = Root::empty();
        for file in files {
            let bytes = if *file == "tls.crt" { corp().pem().into_bytes() } else { bundle.clone() };
            root.write(&format!("{CERTS}/..2026_01_01_00_00_00.1234567890/{file}"), bytes);
            root.link(&format!("{CERTS}/{file}"), &format!("..data/{file}"));
        }
        root.link(&format!("{CERTS}/..data"), "..2026_01_01_00_00_00.1234567890");
        for directory in [CERTS, &format!("{CERTS}/..2026_01_01_00_00_00.1234567890")] {
            set_mode(&root.at(directory), 0o777);
        }
        for paths in [&[][..], &[CERTS], &["-R", CERTS]] {
            root.audit(paths).passes();
        }
        // The pod sees it mounted read-only: nobody can write there, whatever the modes say.
        if let Some(mut command) = on_a_read_only_mount(&root.at(CERTS)) {
            let audited = root.audit_as(&mut command, &[CERTS]);
            audited.passes();
            assert!(!audited.ids("warning").contains("writable-by-others"), "{}", audited.text);
        }
        let named = format!("{CERTS}/{}", files[0]);
        root.audit(&[&named]).passes();
    }
}

/// castore in a namespace in which this directory is mounted read-only. `None` where nobody may make one.
fn on_a_read_only_mount(directory: &Path) -> Option<Command> {
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && exec \"$@\"";
    let command = |arguments: &[&Path]| {
        let mut command = support::optional("unshare")?;
        command.args(["-m", "--propagation", "private", "sh", "-c", script, "sh"]).arg(directory);
        command.args(arguments);
        Some(command)
    };
    let works = command(&[Path::new("true")])?.output().is_ok_and(|output| output.status.success());
    if works { command(&[support::program()]) } else { None }
}

// ---- Fedora ----------------------------------------------------------------------------------------------------

/// p11-kit's `trust`, which knows the files below `sources` and nothing else. Its user configuration is not read for
/// the superuser, who runs it as nobody.
fn trust(home: &Path, sources: &Path) -> Option<impl Fn() -> Command> {
    if support::skip_without(&["trust"]) {
        return None;
    }
    let configuration = home.join(".config/pkcs11");
    make_directories(home, &configuration.join("modules"));
    fs::write(configuration.join("pkcs11.conf"), "user-config: only\n").unwrap();
    let module = format!(
        "module: p11-kit-trust.so\ntrust-policy: yes\nx-init-reserved: paths={}\n",
        sources.display()
    );
    fs::write(configuration.join("modules/private.module"), module).unwrap();
    for file in ["pkcs11.conf", "modules/private.module"] {
        set_mode(&configuration.join(file), 0o644);
    }
    let home = home.to_owned();
    let superuser = fs::metadata("/proc/self").unwrap().uid() == 0;
    Some(move || {
        let mut command = support::required("trust");
        command.env("HOME", &home);
        if superuser {
            command.uid(cases::NOBODY).gid(cases::NOBODY);
        }
        command
    })
}

/// A root as Fedora's `update-ca-trust` leaves it: anchors for all purposes, one for TLS servers alone, one for mail
/// alone, one that is distrusted. `None` where `trust` is missing.
fn fedora() -> Option<(Root, usize)> {
    let stock = Root::stock()?;
    let root = Root::empty();
    let home = root.folder.path().join("home");
    let sources = root.folder.path().join("sources");
    make_directory(&home);
    make_directory(&sources.join("anchors"));
    make_directory(&sources.join("blocklist"));
    let mut count = 0;
    for name in support::names_in(&stock.at(&format!("{SHARED}/mozilla"))) {
        let from = stock.at(&format!("{SHARED}/mozilla")).join(&name);
        let to = sources.join("anchors").join(&name);
        let purpose = match name.to_str().unwrap() {
            "GTS_Root_R1.crt" => {
                fs::copy(&from, sources.join("blocklist").join(&name)).unwrap();
                continue;
            }
            "GTS_Root_R2.crt" => "emailProtection",
            "GTS_Root_R3.crt" => "serverAuth",
            _ => {
                fs::copy(&from, &to).unwrap();
                count += 1;
                continue;
            }
        };
        count += usize::from(purpose == "serverAuth");
        let mut command = support::openssl_x509();
        command.args(["-trustout", "-addtrust", purpose, "-in"]).arg(&from).arg("-out").arg(&to);
        assert!(command.status().unwrap().success());
        set_mode(&to, 0o644);
    }
    let trust = trust(&home, &sources)?;

    let extracted = "/etc/pki/ca-trust/extracted";
    for directory in ["openssl", "pem", "java", "edk2"] {
        root.directory(&format!("{extracted}/{directory}"));
        // Whoever runs `trust` writes there. It makes `pem/directory-hash` itself.
        set_mode(&root.at(&format!("{extracted}/{directory}")), 0o777);
    }
    for (format, filter, purpose, to) in [
        ("openssl-bundle", "certificates", None, "openssl/ca-bundle.trust.crt"),
        ("pem-bundle", "ca-anchors", Some("server-auth"), "pem/tls-ca-bundle.pem"),
        ("pem-bundle", "ca-anchors", Some("email"), "pem/email-ca-bundle.pem"),
        ("pem-bundle", "ca-anchors", Some("code-signing"), "pem/objsign-ca-bundle.pem"),
        ("pem-directory-hash", "ca-anchors", Some("server-auth"), "pem/directory-hash"),
    ] {
        let mut command = trust();
        command.args(["extract", "--overwrite", "--comment", "--format", format, "--filter", filter]);
        command.args(purpose.map(|purpose| format!("--purpose={purpose}")));
        let output = command.arg(root.at(&format!("{extracted}/{to}"))).output().unwrap();
        assert!(output.status.success(), "{to}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let hashed = format!("{extracted}/pem/directory-hash");
    assert_eq!(fs::metadata(root.at(&hashed)).unwrap().permissions().mode() & 0o777, 0o555);
    set_mode(&root.at(&hashed), 0o755);
    for name in ["ca-certificates.crt", "ca-bundle.crt"] {
        root.link(&format!("{hashed}/{name}"), &format!("{extracted}/pem/tls-ca-bundle.pem"));
    }
    for directory in ["openssl", "pem", "java", "edk2"] {
        set_mode(&root.at(&format!("{extracted}/{directory}")), 0o755);
    }
    set_mode(&root.at(&hashed), 0o555);
    for (link, target) in [
        ("/etc/pki/tls/cert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"),
        ("/etc/pki/tls/certs/ca-bundle.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"),
        ("/etc/pki/tls/certs/ca-bundle.trust.crt", "/etc/pki/ca-trust/extracted/openssl/ca-bundle.trust.crt"),
        ("/etc/ssl/certs", "/etc/pki/tls/certs"),
        ("/etc/ssl/cert.pem", "/etc/pki/tls/cert.pem"),
    ] {
        root.link(link, target);
    }

    // Nothing of this machine's own store: what was put in, less what is distrusted and what is for mail alone.
    let tls = support::bundle_fingerprints(&root.at(&format!("{extracted}/pem/tls-ca-bundle.pem")));
    assert_eq!(tls.len(), count);
    let trusted = support::bundle_fingerprints(&root.at(&format!("{extracted}/openssl/ca-bundle.trust.crt")));
    assert_eq!(trusted.len(), count + 2, "the distrusted one and the one for mail alone are in there");
    Some((root, count))
}

#[test]
fn a_fedora_root() {
    let Some((root, count)) = fedora() else { return };
    for paths in [
        &[][..],
        &["/etc/pki/tls/cert.pem"],
        &["/etc/pki/tls/certs"],
        &["/etc/ssl/certs"],
        &["/etc/pki/ca-trust/extracted/pem"],
        &["/etc/pki/ca-trust/extracted/pem/directory-hash"],
        &[
            "/etc/pki/ca-trust/extracted/openssl/ca-bundle.trust.crt",
            "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        ],
    ] {
        let audited = root.audit(paths);
        audited.passes();
        assert!(audited.certificates().len() >= count, "{paths:?}: {}", audited.text);
    }
}

/// `java` and `edk2` are empty, and what was named holds directories alone.
#[test]
fn a_fedora_root_from_its_top() {
    let Some((root, _)) = fedora() else { return };
    for path in ["/etc/pki/ca-trust/extracted", "/etc/pki"] {
        root.audit(&["-R", path]).passes();
    }
    // Where nothing lies below either, the answer is another.
    root.audit(&["-R", "/etc/pki/ca-trust/extracted/java"]).stops_for(&["no-certificates"]);
    root.audit(&["/etc/pki/ca-trust/extracted/java"]).stops_for(&["no-certificates"]);
}

/// A bundle may have names in two directories: it is a CAfile beside each of them.
#[test]
fn a_bundle_with_a_name_in_two_directories() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let root = Root::empty();
    root.write("/etc/a/ca-bundle.crt", corp().pem() + &other_corp().pem());
    root.write("/etc/b/corp.pem", corp().pem());
    root.link(&format!("/etc/b/{}", hash_name(corp().pem().as_bytes())), "corp.pem");
    root.link("/etc/b/ca-bundle.crt", "../a/ca-bundle.crt");
    for paths in
        [&["/etc/b"][..], &["/etc/b", "/etc/a"], &["/etc/a", "/etc/b"], &["/etc/a/ca-bundle.crt", "/etc/b"]]
    {
        root.audit(paths).passes();
    }
    assert!(root.audit(&["/etc/b"]).ids("warning").contains("one-sided"));
}

/// Newer releases put the hash links of `directory-hash` into /etc/pki/tls/certs as well.
#[test]
fn a_newer_fedora_root() {
    let Some((root, count)) = fedora() else { return };
    let hashed = "/etc/pki/ca-trust/extracted/pem/directory-hash";
    for name in support::names_in(&root.at(hashed)) {
        let Ok(target) = fs::read_link(root.at(hashed).join(&name)) else { continue };
        if target.is_relative() {
            let link = format!("/etc/pki/tls/certs/{}", name.to_str().unwrap());
            root.link(&link, &format!("{hashed}/{}", target.to_str().unwrap()));
        }
    }
    for paths in [&[][..], &["/etc/pki/tls/certs"], &["/etc/ssl/certs"], &["-R", "/etc/pki"]] {
        let audited = root.audit(paths);
        audited.passes();
        assert!(audited.certificates().len() >= count);
    }
}

// ---- Nothing outside -------------------------------------------------------------------------------------------

/// A root with links of each kind, and beside it what they would reach if anybody followed them from outside. The last
/// value is what must not be seen.
fn rooms() -> Root {
    let root = Root::stock().unwrap_or_else(Root::empty);
    let outside = root.folder.path().join("outside");
    make_directory(&outside);
    fs::write(outside.join("corp.pem"), corp().pem()).unwrap();
    let outside_text = outside.to_str().unwrap();
    let name = hash_name(corp().pem().as_bytes());
    root.write("/opt/other.pem", other_corp().pem());
    for (link, target) in [
        // Absolute, in chains, by `..`, in loops, to nothing.
        ("a.pem".to_owned(), "/opt/other.pem".to_owned()),
        ("b.pem".to_owned(), "/opt/one".to_owned()),
        ("c.pem".to_owned(), "../../../opt/./../opt/other.pem".to_owned()),
        ("d.pem".to_owned(), "../../../../outside/corp.pem".to_owned()),
        ("e.pem".to_owned(), "/../../outside/corp.pem".to_owned()),
        ("f.pem".to_owned(), format!("{outside_text}/corp.pem")),
        ("g.pem".to_owned(), "h.pem".to_owned()),
        ("h.pem".to_owned(), "/etc/ssl/certs/g.pem".to_owned()),
        ("i.pem".to_owned(), "i.pem".to_owned()),
        (name, format!("{outside_text}/corp.pem")),
        ("j.pem".to_owned(), "/proc/self/root/etc/passwd".to_owned()),
        ("k.pem".to_owned(), "/opt/loop/loop/loop/other.pem".to_owned()),
        ("m.pem".to_owned(), "/opt/up/outside/corp.pem".to_owned()),
        ("below".to_owned(), outside_text.to_owned()),
    ] {
        root.link(&format!("{CERTS}/{link}"), &target);
    }
    root.link("/opt/one", "two");
    root.link("/opt/two", "/opt/three");
    root.link("/opt/three", "../opt/other.pem");
    root.link("/opt/loop", ".");
    root.link("/opt/up", "../..");
    root.link(&format!("{LOCAL}/out.crt"), &format!("{outside_text}/corp.pem"));
    root.link(&format!("{LOCAL}/out"), outside_text);
    root.link(&format!("{LOCAL}/up.pem"), "../../../../../outside/corp.pem");
    root
}

/// The calls of castore that take a path, once it has opened its root: what `strace` printed, without the process id.
fn calls_after_opening(root: &Root, arguments: &[&str]) -> Vec<String> {
    let log = root.folder.path().join("calls");
    let mut command = support::required("strace");
    command.args(["-f", "-y", "-s", "4096", "-e", "trace=%file", "-o"]).arg(&log);
    command.arg(support::program()).args(arguments).current_dir(root.folder.path());
    // Its status is no matter here: a path that leads nowhere gives 2, and calls all the same.
    let output = command.output().unwrap();
    assert!(output.status.code().is_some(), "{}", String::from_utf8_lossy(&output.stderr));
    // Names are not UTF-8 alone on a hostile disk; strace escapes them.
    let text = fs::read_to_string(log).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once(' ')).map(|(_, call)| call.trim_start());
    let opened = format!("\"{}\"", root.path.display());
    let calls: Vec<String> = lines
        .skip_while(|line| !(line.starts_with("open") && line.contains(&opened)))
        .skip(1)
        .map(str::to_owned)
        .collect();
    assert!(!calls.is_empty(), "the root is opened: {text}");
    calls
}

/// Whether this call cannot reach outside: it starts at a handle inside, and either the kernel keeps it inside or it has
/// no way to leave.
fn stays_inside(call: &str, root: &Path) -> bool {
    let below = |text: &str| {
        // `3</path>`, perhaps with `(deleted)`.
        let path = text.split_once('<').and_then(|(_, rest)| rest.split_once('>')).map(|(path, _)| path);
        path.is_some_and(|path| Path::new(path).starts_with(root))
    };
    let Some((name, rest)) = call.split_once('(') else { return false };
    let handle = rest.split(',').next().unwrap_or_default();
    // What an open gave: strace names the file by its real path.
    if let Some((_, result)) = call.rsplit_once(" = ")
        && result.contains('<')
        && !below(result)
    {
        return false;
    }
    let path = rest.split('"').nth(1).unwrap_or_default();
    match name {
        "openat2" => below(handle) && rest.contains("RESOLVE_IN_ROOT"),
        // The handle itself, or a name in it that is not followed.
        "readlinkat" | "unlinkat" | "mkdirat" | "fchmodat" => below(handle) && !path.contains('/'),
        // What the link says comes first, then where it is made.
        "symlinkat" => {
            let mut rest = rest.split('"').skip(2);
            below(rest.next().unwrap_or_default()) && rest.next().is_some_and(|name| !name.contains('/'))
        }
        // Whether the directory that is open may be written.
        "faccessat2" => below(handle) && path == ".",
        "renameat" | "renameat2" => below(handle) && !path.contains('/'),
        "openat" => {
            below(handle)
                && (path == "." || !path.contains('/') && path != ".." && rest.contains("O_NOFOLLOW"))
        }
        "newfstatat" | "fstatat64" | "statx" => {
            // Without a path, what is open already; standard output, for one.
            path.is_empty() && rest.contains("AT_EMPTY_PATH")
                || below(handle) && !path.contains('/') && rest.contains("AT_SYMLINK_NOFOLLOW")
        }
        _ => false,
    }
}

/// What the run-time asks of the system beside the store: how many processors there are.
fn about_the_machine(call: &str) -> bool {
    let path = call.split('"').nth(1).unwrap_or_default();
    call.contains("O_RDONLY") && (path.starts_with("/proc/self/") || path.starts_with("/sys/fs/cgroup"))
        || call.starts_with("exit")
        || call.starts_with("+++")
        || call.starts_with("---")
}

#[test]
fn nothing_outside_the_root_is_opened() {
    if support::skip_without(&["strace", "openssl"]) {
        return;
    }
    let root = rooms();
    let path = root.path.to_str().unwrap();
    let real = fs::canonicalize(&root.path).unwrap();
    for arguments in [
        &["audit", "--root", path][..],
        &["audit", "--root", path, CERTS],
        &["audit", "--root", path, "-R", CERTS],
        &["audit", "--root", path, "-R", "/"],
        &["audit", "--root", path, "etc/ssl/certs", "/../../etc/ssl/certs/ca-certificates.crt"],
        &["audit", "--root", path, CERTS, "/usr/lib/ssl/cert.pem", "--format", "json"],
        &[
            "audit",
            "--root",
            path,
            "/etc/ssl/certs/d.pem",
            "/etc/ssl/certs/f.pem",
            "/opt/up/outside/corp.pem",
        ],
        &["rehash", "--root", path, CERTS, "--dry-run"],
        &["rehash", "--root", path, CERTS],
        &["rehash", "--root", path, "-compat", "-v"],
        &["rehash", "--root", path, "-old", CERTS, "/gone", "/etc"],
        &["compact", "--root", path, CERTS, "--bundle", "/opt/new.pem"],
        &["compact", "--root", path, CERTS, "--capath", "/opt/new"],
        &["compact", "--root", path, CERTS, "--bundle", "/opt/new.pem", "--capath", "/opt/new"],
    ] {
        let calls = calls_after_opening(&root, arguments);
        assert!(calls.iter().any(|call| call.starts_with("openat2(")), "{arguments:?}: {calls:?}");
        let leaving: Vec<&String> =
            calls.iter().filter(|call| !stays_inside(call, &real) && !about_the_machine(call)).collect();
        assert!(leaving.is_empty(), "{arguments:?}: {leaving:#?}");
    }
    let outside = root.folder.path().join("outside");
    assert_eq!(support::names_in(&outside), ["corp.pem"]);
    assert_eq!(fs::read_to_string(outside.join("corp.pem")).unwrap(), corp().pem());
}

#[test]
fn what_lies_outside_is_in_no_report() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let root = rooms();
    for paths in [&[][..], &[CERTS], &["-R", "/"]] {
        let mut command = support::castore();
        command.args(["audit", "--at", AT, "--format", "json", "--root"]).arg(&root.path).args(paths);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(!text.contains(&sha256(&corp().pem())), "{paths:?}");
        assert!(text.contains(&sha256(&other_corp().pem())), "{paths:?}");
    }
    // A named path does not lead out either.
    for path in
        ["../outside/corp.pem", "/../outside/corp.pem", "/etc/ssl/certs/d.pem", "/etc/ssl/certs/f.pem"]
    {
        let output = support::castore().args(["audit", "--root"]).arg(&root.path).arg(path).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{path}");
    }
}

#[test]
fn a_root_needs_no_privileges() {
    let Some(root) = Root::stock() else { return };
    let Some(program) = cases::copy_for_nobody(root.folder.path()) else { return };
    let mut command = Command::new(program);
    command.env_clear().uid(cases::NOBODY).gid(cases::NOBODY);
    let audited = root.audit_as(&mut command, &[]);
    audited.passes();
    assert_eq!(audited.certificates().len(), root.bundle_fingerprints().len());
}
