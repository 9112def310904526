//! `castore compact` over real and made-up stores: `openssl verify`, `openssl rehash`, Python's ssl and certtool see
//! exactly the certificates that its inputs hold, less those that a policy names; and a run that refuses touches
//! nothing.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that makes files and runs programs"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use support::der::{Certificate, basic_constraints, key_usage, oids, pem, usage};
use support::{EntryKind, OpensslView, Trust, in_two_threads};

/// "Now": several certificates of every store here expire before it.
const NOW: &str = "2026-11-30";
/// The same, as OpenSSL's dates are compared with it.
const NOW_RFC3339: &str = "2026-11-30T00:00:00Z";

// ---- Runs ----------------------------------------------------------------------------------------------------

/// One run of `castore compact`.
struct Compact {
    command: Command,
}

impl Compact {
    fn of<P: AsRef<OsStr>>(inputs: &[P]) -> Self {
        let mut command = support::castore();
        command.args(["compact", "--at", NOW]).args(inputs);
        Self { command }
    }
    fn bundle(mut self, path: &Path) -> Self {
        self.command.arg("--bundle").arg(path);
        self
    }
    fn capath(mut self, path: &Path) -> Self {
        self.command.arg("--capath").arg(path);
        self
    }
    fn with(mut self, arguments: &[&str]) -> Self {
        self.command.args(arguments);
        self
    }
    fn output(mut self) -> Output {
        self.command.output().expect("castore starts")
    }
    /// Ends with this status.
    fn ends(self, status: i32) -> Output {
        let output = self.output();
        assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
        output
    }
    fn done(self) {
        self.ends(0);
    }
    /// Ends with status 2 and a message with this text, and changes nothing below `root`.
    fn refused(self, root: &Path, message: &str) {
        let before = support::tree_state(root);
        let output = self.ends(2);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains(message), "{text}");
        assert_eq!(support::tree_state(root), before, "a refused run touched something");
    }
    /// The changes of the JSON report: action and certificate.
    fn changes(self) -> Vec<(String, Option<String>)> {
        let output = self.with(&["--format", "json"]).ends(0);
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        report["changes"]
            .as_array()
            .expect("changes is a list")
            .iter()
            .map(|change| {
                let action = change["action"].as_str().expect("a word").to_owned();
                (action, change["sha256"].as_str().map(str::to_owned))
            })
            .collect()
    }
}

// ---- What is expected ----------------------------------------------------------------------------------------

fn blocks_of(path: &Path) -> Vec<Vec<u8>> {
    support::certificate_blocks(&fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

fn fingerprint(block: &[u8]) -> String {
    support::sha256_hex(&support::block_der(block))
}

fn fingerprints<B: AsRef<[u8]>>(blocks: &[B]) -> Vec<String> {
    blocks.iter().map(|block| fingerprint(block.as_ref())).collect()
}

/// The certificate as `openssl x509` writes it.
fn written_by_openssl(block: &[u8]) -> Vec<u8> {
    let output = support::run_with_input(&mut support::openssl_x509(), block);
    assert!(output.status.success(), "{}", support::complaint(&output));
    output.stdout
}

/// Certificates with OpenSSL's view of each, without copies, in the order in which they are first met.
fn distinct(blocks: &[Vec<u8>]) -> Vec<(Vec<u8>, OpensslView)> {
    let views =
        in_two_threads(blocks, |_, block| support::openssl_view(block).expect("OpenSSL reads the block"));
    let mut seen = BTreeSet::new();
    blocks.iter().cloned().zip(views).filter(|(_, view)| seen.insert(view.sha256.clone())).collect()
}

/// Without those that OpenSSL says expired before now.
fn unexpired(certificates: &[(Vec<u8>, OpensslView)]) -> Vec<(Vec<u8>, OpensslView)> {
    certificates
        .iter()
        .filter(|(_, view)| view.end_date.as_deref().expect("a date") >= NOW_RFC3339)
        .cloned()
        .collect()
}

fn names_of(certificates: &[(Vec<u8>, OpensslView)]) -> Vec<String> {
    certificates.iter().map(|(_, view)| view.sha256.clone()).collect()
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}

/// A bundle holds exactly these, in this order, as OpenSSL writes them; and OpenSSL, Python and GnuTLS load them.
fn assert_bundle(bundle: &Path, expected: &[(Vec<u8>, OpensslView)]) {
    let written = in_two_threads(expected, |_, (block, _)| written_by_openssl(block)).concat();
    let bytes = fs::read(bundle).expect("the bundle");
    assert_eq!(fingerprints(&blocks_of(bundle)), names_of(expected));
    assert!(bytes == written, "the bundle is not what `openssl x509` writes");
    assert_eq!(support::python_ssl_loaded(bundle), Ok(sorted(names_of(expected))));
    assert_eq!(support::python_ssl_count(bundle), Ok(expected.len()));
    assert_eq!(support::certtool_fingerprints(bundle), Ok(names_of(expected)));
}

/// Of `all`, OpenSSL finds exactly `expected` in a store.
fn assert_found(store: Trust, all: &[(Vec<u8>, OpensslView)], expected: &[(Vec<u8>, OpensslView)]) {
    // Others are accepted where their issuer is found.
    let self_issued = |list: &[(Vec<u8>, OpensslView)]| -> Vec<(Vec<u8>, OpensslView)> {
        list.iter().filter(|(_, view)| view.subject == view.issuer).cloned().collect()
    };
    let asked: Vec<Vec<u8>> = self_issued(all).into_iter().map(|(block, _)| block).collect();
    assert!(!asked.is_empty());
    let expected: BTreeSet<String> = names_of(&self_issued(expected)).into_iter().collect();
    assert_eq!(support::openssl_verify_each(store, &asked), expected, "{store:?}");
}

/// Every certificate has a regular file of its own and a link by its hash, every link a bare file name: and then
/// `openssl rehash` finds nothing to do.
fn assert_capath(directory: &Path, expected: &[(Vec<u8>, OpensslView)]) {
    let state = support::tree_state(directory);
    let mut files = BTreeMap::new();
    let mut links: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    for (name, entry) in state.iter().filter(|(name, _)| name.as_os_str() != ".") {
        match entry.kind {
            EntryKind::File => {
                let bytes = fs::read(directory.join(name)).expect("a member");
                let blocks = support::certificate_blocks(&bytes);
                assert_eq!(blocks.len(), 1, "{name:?}");
                assert!(bytes == written_by_openssl(&blocks[0]), "{name:?}");
                assert_eq!(entry.mode, 0o644, "{name:?}");
                files.insert(fingerprint(&blocks[0]), name.as_path());
            }
            EntryKind::Link => {
                let target = entry.target.as_deref().expect("a link has a target");
                assert_eq!(target.components().count(), 1, "{name:?} -> {target:?}");
                links.entry(target).or_default().push(name);
            }
            other => panic!("{name:?}: {other:?}"),
        }
    }
    assert_eq!(state[Path::new(".")].mode, 0o755);
    let wanted: BTreeSet<String> = names_of(expected).into_iter().collect();
    assert_eq!(files.keys().cloned().collect::<BTreeSet<_>>(), wanted);
    for (_, view) in expected {
        let own = &links[files[&view.sha256]];
        assert_eq!(own.len(), 1, "{own:?}");
        let name = own[0].to_str().expect("a hash link");
        assert!(name.starts_with(&format!("{}.", view.subject_hash)), "{name} for {}", view.subject);
    }
    assert_openssl_rehash_idle(directory);
}

fn assert_openssl_rehash_idle(directory: &Path) {
    let before = support::tree_state(directory);
    let output =
        support::required("openssl").arg("rehash").arg(directory).output().expect("openssl rehash starts");
    assert!(output.status.success(), "{}", support::complaint(&output));
    assert_eq!(support::tree_state(directory), before, "openssl rehash changed something");
}

/// A second run writes nothing, not even times; `--check` says so.
fn assert_settled(root: &Path, run: impl Fn() -> Compact) {
    let before = support::tree_state(root);
    run().done();
    assert_eq!(support::tree_state(root), before, "the second run wrote");
    run().with(&["--check"]).ends(0);
    assert_eq!(support::tree_state(root), before);
}

const TOOLS: &[&str] = &["openssl", "python3", "certtool"];

fn root() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

fn write(path: PathBuf, bytes: impl AsRef<[u8]>) -> PathBuf {
    fs::write(&path, bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}

/// Certificates 1 to `number`, valid in 2026.
fn made(number: u64) -> Vec<String> {
    (1..=number).map(|seed| Certificate::root(&format!("Castore Test Root {seed:02}"), seed).pem()).collect()
}

// ---- Real stores ---------------------------------------------------------------------------------------------

#[test]
fn stock_store() {
    if support::skip_without(TOOLS) {
        return;
    }
    let Some(store) = support::stock_store() else { return };
    let root = root();
    let (bundle, capath) = (root.path().join("B.pem"), root.path().join("D"));

    // The bundle's order first, then members by name: there each certificate is known already.
    let mut blocks = blocks_of(&store.join("ca-certificates.crt"));
    for name in support::names_in(&store) {
        if Path::new(&name).extension() == Some(OsStr::new("pem")) {
            blocks.extend(blocks_of(&store.join(name)));
        }
    }
    let all = distinct(&blocks);
    let expected = unexpired(&all);
    assert!(expected.len() < all.len(), "nothing expires before {NOW}: this test shows less than it should");

    let before = support::tree_state(&store);
    let run = || Compact::of(&[&store]).bundle(&bundle).capath(&capath);
    // What is only shown is not done.
    run().with(&["--dry-run"]).done();
    run().with(&["--check"]).ends(1);
    assert!(support::names_in(root.path()).is_empty());

    let changes = run().changes();
    assert_bundle(&bundle, &expected);
    assert_capath(&capath, &expected);
    assert_found(Trust::CaFile(&bundle), &all, &expected);
    assert_found(Trust::CaPath(&capath), &all, &expected);
    assert_eq!(fs::metadata(&bundle).expect("the bundle").mode() & 0o7777, 0o644);
    // Each expired one is listed, once.
    let dropped: Vec<String> =
        changes.into_iter().filter(|(action, _)| action == "drop").filter_map(|(_, name)| name).collect();
    let gone: Vec<String> =
        names_of(&all).into_iter().filter(|name| !names_of(&expected).contains(name)).collect();
    assert_eq!(sorted(dropped), sorted(gone));

    assert_settled(root.path(), run);
    assert_eq!(support::tree_state(&store), before, "the input was touched");

    // Its own output as input: nothing to do either.
    assert_settled(root.path(), || Compact::of(&[&bundle]).bundle(&bundle));
    assert_settled(root.path(), || Compact::of(&[&capath]).capath(&capath));
}

#[test]
fn certifi_of_all_years_together() {
    if support::skip_without(TOOLS) {
        return;
    }
    let inputs: Vec<PathBuf> = support::certifi().into_iter().map(|(_, bundle)| bundle).collect();
    if inputs.is_empty() {
        return;
    }
    let root = root();
    let (bundle, capath) = (root.path().join("B.pem"), root.path().join("D"));
    let blocks: Vec<Vec<u8>> = inputs.iter().flat_map(|path| blocks_of(path)).collect();
    let all = distinct(&blocks);
    let expected = unexpired(&all);
    assert!(all.len() < blocks.len() && expected.len() < all.len());

    let run = || Compact::of(&inputs).bundle(&bundle).capath(&capath);
    run().done();
    assert_bundle(&bundle, &expected);
    assert_capath(&capath, &expected);
    assert_found(Trust::CaPath(&capath), &all, &expected);
    assert_settled(root.path(), run);
}

#[test]
fn expired_ones_kept() {
    if support::skip_without(TOOLS) {
        return;
    }
    let inputs: Vec<PathBuf> = support::certifi().into_iter().map(|(_, bundle)| bundle).take(2).collect();
    if inputs.is_empty() {
        return;
    }
    let root = root();
    let (bundle, capath) = (root.path().join("B.pem"), root.path().join("D"));
    let blocks: Vec<Vec<u8>> = inputs.iter().flat_map(|path| blocks_of(path)).collect();
    let all = distinct(&blocks);
    assert!(unexpired(&all).len() < all.len());
    let run = || Compact::of(&inputs).bundle(&bundle).capath(&capath).with(&["--expired", "keep"]);
    run().done();
    assert_bundle(&bundle, &all);
    assert_capath(&capath, &all);
    assert_found(Trust::CaPath(&capath), &all, &all);
    assert_settled(root.path(), run);
}

/// certifi 2022.12.7 has a certificate that was issued anew under one name.
#[test]
fn orders() {
    if support::skip_without(TOOLS) {
        return;
    }
    let Some((_, input)) = support::certifi().into_iter().find(|(version, _)| version == "2022.12.7") else {
        return;
    };
    let root = root();
    let all = distinct(&blocks_of(&input));
    // Certificates of one subject, by OpenSSL's hash of it, where the first one stands.
    let mut groups: Vec<Vec<(Vec<u8>, OpensslView)>> = Vec::new();
    for one in &all {
        match groups.iter_mut().find(|group| group[0].1.subject_hash == one.1.subject_hash) {
            Some(group) => group.push(one.clone()),
            None => groups.push(vec![one.clone()]),
        }
    }
    assert!(groups.iter().any(|group| group.len() > 1), "no two of one subject");
    for order in ["first-seen", "subject", "fingerprint"] {
        let bundle = root.path().join(format!("{order}.pem"));
        let capath = root.path().join(order);
        let run = || {
            Compact::of(&[&input]).bundle(&bundle).capath(&capath).with(&[
                "--order",
                order,
                "--expired",
                "keep",
            ])
        };
        let expected = match order {
            "first-seen" => all.clone(),
            _ => {
                let mut groups = groups.clone();
                groups.sort_by_key(|group| {
                    let first = &group[0].1;
                    if order == "subject" { first.subject.clone() } else { first.sha256.clone() }
                });
                groups.concat()
            }
        };
        run().done();
        assert_bundle(&bundle, &expected);
        assert_capath(&capath, &expected);
        // In the directory as well the first one of a subject has the lowest number.
        for group in groups.iter().filter(|group| group.len() > 1) {
            for (number, (block, _)) in group.iter().enumerate() {
                let link = capath.join(format!("{}.{number}", group[0].1.subject_hash));
                assert_eq!(fingerprints(&blocks_of(&link)), [fingerprint(block)], "{}", link.display());
            }
        }
        assert_settled(root.path(), run);
    }
}

#[test]
fn no_real_store_has_an_error() {
    let Some(store) = support::stock_store() else { return };
    let mut inputs = vec![store.join("ca-certificates.crt"), store];
    let certifi = support::certifi();
    assert!(certifi.is_empty() || certifi.len() >= 5, "five years of certifi");
    inputs.extend(certifi.into_iter().map(|(_, bundle)| bundle));
    for input in inputs {
        let output = support::castore()
            .args(["audit", "--format", "json", "--at", NOW, "--fail-on", "error"])
            .arg(&input)
            .output()
            .expect("castore starts");
        let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
        let errors: Vec<&Value> = report["findings"]
            .as_array()
            .expect("findings is a list")
            .iter()
            .filter(|finding| finding["severity"] == "error")
            .collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", input.display());
        assert_eq!(report["summary"]["errors"], 0);
        assert_eq!(output.status.code(), Some(0), "{}", input.display());
    }
}

// ---- Shapes of inputs ----------------------------------------------------------------------------------------

#[test]
fn every_certificate_twice() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let once = made(30);
    let block_by_block: String = once.iter().map(|block| format!("{block}{block}")).collect();
    let behind: String = [once.concat(), once.concat()].concat();
    let expected = distinct(&once.iter().map(|block| block.clone().into_bytes()).collect::<Vec<_>>());
    for (name, text) in [("pairs", block_by_block), ("behind", behind)] {
        let input = write(root.path().join(format!("{name}.crt")), text);
        let (bundle, capath) =
            (root.path().join(format!("{name}-B.pem")), root.path().join(format!("{name}-D")));
        let run = || Compact::of(&[&input]).bundle(&bundle).capath(&capath);
        run().done();
        assert_bundle(&bundle, &expected);
        assert_capath(&capath, &expected);
        assert_found(Trust::CaFile(&bundle), &expected, &expected);
        assert_settled(root.path(), run);
    }
}

#[test]
fn directory_of_files_without_links() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let input = root.path().join("in");
    fs::create_dir(&input).expect("a directory");
    let all = made(12);
    // By name, not in the order of making; one of them under two names and once as a copy.
    let mut expected = Vec::new();
    for (number, block) in all.iter().enumerate().rev() {
        write(input.join(format!("{number:02}.crt")), block);
    }
    fs::hard_link(input.join("03.crt"), input.join("zz.pem")).expect("a second name");
    symlink("04.crt", input.join("yy.pem")).expect("a link");
    write(input.join("xx.pem"), &all[5]);
    write(input.join("notes.txt"), "no certificate\n");
    write(input.join("old.pem~"), Certificate::root("Castore Test Leftover", 99).pem());
    expected.extend(all.iter().map(|block| block.clone().into_bytes()));
    let expected = distinct(&expected);
    let (bundle, capath) = (root.path().join("B.pem"), root.path().join("D"));
    let run = || Compact::of(&[&input]).bundle(&bundle).capath(&capath);
    run().done();
    assert_bundle(&bundle, &expected);
    assert_capath(&capath, &expected);
    assert_found(Trust::CaPath(&capath), &expected, &expected);
    assert_settled(root.path(), run);
}

/// Of a CApath counts what OpenSSL finds in it now.
#[test]
fn what_no_look_up_finds_is_left_out() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let input = root.path().join("in");
    fs::create_dir(&input).expect("a directory");
    let all = made(6);
    for (number, block) in all.iter().enumerate() {
        write(input.join(format!("{number}.pem")), block);
    }
    let output = support::required("openssl").arg("rehash").arg(&input).output().expect("openssl starts");
    assert!(output.status.success());
    // One loses its link, another's stands behind a gap.
    let views = distinct(&all.iter().map(|block| block.clone().into_bytes()).collect::<Vec<_>>());
    let link = |number: usize, place: u32| input.join(format!("{}.{place}", views[number].1.subject_hash));
    fs::remove_file(link(1, 0)).expect("a link");
    fs::rename(link(2, 0), link(2, 1)).expect("a link");
    let found = support::openssl_verify_each(
        Trust::CaPath(&input),
        &views.iter().map(|(block, _)| block.clone()).collect::<Vec<_>>(),
    );
    assert_eq!(found.len(), 4);
    let expected: Vec<_> = views.iter().filter(|(_, view)| found.contains(&view.sha256)).cloned().collect();
    let (bundle, capath) = (root.path().join("B.pem"), root.path().join("D"));
    let run = || Compact::of(&[&input]).bundle(&bundle).capath(&capath);
    run().done();
    assert_bundle(&bundle, &expected);
    assert_capath(&capath, &expected);
    assert_settled(root.path(), run);
}

/// A leaf that stands in a CApath alone goes into the directory, not into the bundle.
#[test]
fn leaves_of_a_capath() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let input = root.path().join("in");
    fs::create_dir(&input).expect("a directory");
    let issuer = Certificate::root("Castore Test Root 01", 1);
    let leaf = Certificate::leaf("site.castore.test", &issuer, 2);
    write(input.join("root.pem"), issuer.pem());
    write(input.join("site.pem"), leaf.pem());
    let output = support::required("openssl").arg("rehash").arg(&input).output().expect("openssl starts");
    assert!(output.status.success());
    let all = distinct(&[issuer.pem().into_bytes(), leaf.pem().into_bytes()]);
    let (bundle, capath) = (root.path().join("B.pem"), root.path().join("D"));
    let run = || Compact::of(&[&input]).bundle(&bundle).capath(&capath);
    run().done();
    assert_bundle(&bundle, &all[..1]);
    assert_capath(&capath, &all);
    assert_settled(root.path(), run);
    // In a bundle it stays in a bundle, unless a policy says otherwise.
    let both = write(root.path().join("both.crt"), issuer.pem() + &leaf.pem());
    let out = root.path().join("both-B.pem");
    Compact::of(&[&both]).bundle(&out).done();
    assert_eq!(fingerprints(&blocks_of(&out)), names_of(&all));
    Compact::of(&[&both]).bundle(&out).with(&["--not-ca", "drop"]).done();
    assert_eq!(fingerprints(&blocks_of(&out)), names_of(&all[..1]));
}

#[test]
fn superseded_ones_alone_go() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let old = Certificate::root("Castore Test Root 01", 1).valid("100101000000Z", "200101000000Z");
    // The same subject and key, issued anew.
    let new =
        Certificate { serial: support::der::integer(&[5]), ..Certificate::root("Castore Test Root 01", 1) };
    let alone = Certificate::root("Castore Test Root 02", 2).valid("100101000000Z", "200101000000Z");
    // The same subject, but another key.
    let other_key = Certificate::root("Castore Test Root 03", 3).valid("100101000000Z", "200101000000Z");
    let other = Certificate::root("Castore Test Root 03", 4);
    let all = distinct(&[&old, &new, &alone, &other_key, &other].map(|one| one.pem().into_bytes()));
    let input = write(
        root.path().join("in.crt"),
        all.iter().flat_map(|(block, _)| block.clone()).collect::<Vec<u8>>(),
    );
    let bundle = root.path().join("B.pem");
    Compact::of(&[&input]).bundle(&bundle).with(&["--expired", "superseded"]).done();
    assert_bundle(&bundle, &all[1..]);
    let bundle = root.path().join("dropped.pem");
    Compact::of(&[&input]).bundle(&bundle).done();
    assert_bundle(&bundle, &unexpired(&all));
}

// ---- Noise ---------------------------------------------------------------------------------------------------

#[test]
fn noise_is_normalised() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let clean = made(4);
    let expected = distinct(&clean.iter().map(|block| block.clone().into_bytes()).collect::<Vec<_>>());
    let written: Vec<u8> = clean.iter().flat_map(|block| written_by_openssl(block.as_bytes())).collect();
    let each = |change: &dyn Fn(&str) -> String| clean.iter().map(|block| change(block)).collect::<String>();
    let ders: Vec<Vec<u8>> = clean.iter().map(|block| support::block_der(block.as_bytes())).collect();
    let one_line = |block: &str| {
        let lines: Vec<&str> = block.lines().collect();
        let last = lines.len() - 1;
        format!("{}\n{}\n{}\n", lines[0], lines[1..last].concat(), lines[last])
    };
    let width = |block: &str, columns: usize| {
        let text = one_line(block);
        let lines: Vec<&str> = text.lines().collect();
        let body: Vec<&str> = lines[1]
            .as_bytes()
            .chunks(columns)
            .map(|line| std::str::from_utf8(line).expect("base64 is ASCII"))
            .collect();
        format!("{}\n{}\n{}\n", lines[0], body.join("\n"), lines[2])
    };
    let shapes: Vec<(&str, String)> = vec![
        ("clean", clean.concat()),
        ("crlf", clean.concat().replace('\n', "\r\n")),
        ("byte-order-mark", format!("\u{feff}{}", clean.concat())),
        ("a-mark-each", each(&|block| format!("\u{feff}{block}"))),
        ("indented", each(&|block| block.lines().map(|line| format!("    {line}\n")).collect())),
        ("tabs", each(&|block| block.lines().map(|line| format!("\t{line}\t \n")).collect())),
        ("glued", each(&|block| block.trim_end().to_owned())),
        ("no-final-newline", clean.concat().trim_end().to_owned()),
        ("blank-lines-between", each(&|block| format!("\n\n{block}\n"))),
        ("blank-line-after-begin", each(&|block| block.replacen("-----\n", "-----\n\n", 1))),
        ("blank-line-inside", each(&|block| block.replacen("=\n", "=\n\n", 1).replacen("\nM", "\n\nM", 1))),
        ("blank-line-before-end", each(&|block| block.replace("-----END", "\n-----END"))),
        ("headers", each(&|block| block.replacen("-----\n", "-----\nComment: a root\nX: y\n\n", 1))),
        ("comments", each(&|block| format!("# Issuer: CN=x\n# MD5: ab:cd\n{block}# end\n"))),
        (
            "text-of-openssl",
            each(&|block| format!("Certificate:\n    Data:\n        Version: 3 (0x2)\n{block}")),
        ),
        ("one-line", each(&one_line)),
        ("76-columns", each(&|block| width(block, 76))),
        ("48-columns", each(&|block| width(block, 48))),
        ("x509-label", clean.concat().replace("CERTIFICATE", "X509 CERTIFICATE")),
        ("trusted-label", ders.iter().map(|der| pem("TRUSTED CERTIFICATE", der)).collect()),
        ("text-before-begin", each(&|block| format!("root: {block}"))),
        ("trailing-blanks", each(&|block| block.lines().map(|line| format!("{line}   \n")).collect())),
        ("quoted-marker", each(&|block| format!("see -----BEGIN CERTIFICATE----- below\n{block}"))),
        ("commented-marker", each(&|block| format!("# -----BEGIN CERTIFICATE-----\n{block}"))),
        ("carriage-returns", clean.concat().replace('\n', "\r")),
        (
            "trailing-bytes",
            ders.iter().map(|der| pem("CERTIFICATE", &[der, &[0u8; 3][..]].concat())).collect(),
        ),
        ("a-crl-between", {
            let list = "-----BEGIN PUBLIC KEY-----\nMAAA\n-----END PUBLIC KEY-----\n";
            each(&|block| format!("{list}{block}"))
        }),
    ];
    let mut refused = Vec::new();
    for (name, text) in shapes {
        let input = write(root.path().join(format!("{name}.crt")), &text);
        let (bundle, capath) =
            (root.path().join(format!("{name}-B.pem")), root.path().join(format!("{name}-D")));
        let output = Compact::of(&[&input]).bundle(&bundle).capath(&capath).output();
        if output.status.code() != Some(0) {
            refused.push(format!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
            continue;
        }
        println!("{name}");
        assert!(fs::read(&bundle).expect("the bundle") == written, "the bundle is not what OpenSSL writes");
        assert_capath(&capath, &expected);
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert_bundle(&root.path().join("clean-B.pem"), &expected);
    // DER, alone and behind PEM blocks.
    let der = write(root.path().join("one.der"), &ders[0]);
    let mixed = write(
        root.path().join("mixed.crt"),
        [clean[1].as_bytes(), b"\n", &ders[2], b"\n", clean[3].as_bytes()].concat(),
    );
    let bundle = root.path().join("der-B.pem");
    Compact::of(&[&der, &mixed]).bundle(&bundle).done();
    assert_bundle(&bundle, &expected);
}

#[test]
fn private_keys_are_skipped() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let output = support::required("openssl")
        .args(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
        .output()
        .expect("openssl starts");
    assert!(output.status.success());
    let key = String::from_utf8(output.stdout).expect("PEM is ASCII");
    assert!(key.starts_with("-----BEGIN PRIVATE KEY-----\n"));
    let clean = made(2);
    let input = root.path().join("in");
    fs::create_dir(&input).expect("a directory");
    write(input.join("a.pem"), format!("{key}{}", clean[0]));
    write(input.join("b.pem"), &clean[1]);
    write(input.join("b.key"), &key);
    write(input.join("key.pem"), &key);
    let expected = distinct(&clean.iter().map(|block| block.clone().into_bytes()).collect::<Vec<_>>());
    let (bundle, capath) = (root.path().join("B.pem"), root.path().join("D"));
    let run = || Compact::of(&[&input]).bundle(&bundle).capath(&capath);
    let output = run().with(&["--verbose"]).ends(0);
    assert_bundle(&bundle, &expected);
    assert_capath(&capath, &expected);
    // Nothing of it is in what was written or said.
    let secret = key.lines().nth(1).expect("a line of the key");
    for text in [fs::read(&bundle).expect("the bundle"), output.stdout, output.stderr] {
        assert!(!String::from_utf8_lossy(&text).contains(secret));
    }
    assert_settled(root.path(), run);
}

// ---- Damage --------------------------------------------------------------------------------------------------

#[test]
fn malformed_blocks() {
    if support::skip_without(TOOLS) {
        return;
    }
    let clean = made(3);
    let all = distinct(&clean.iter().map(|block| block.clone().into_bytes()).collect::<Vec<_>>());
    let ends = [all[0].clone(), all[2].clone()];
    let middle = &clean[1];
    let lines: Vec<&str> = middle.lines().collect();
    let without_end: String = lines[..lines.len() - 1].join("\n") + "\n";
    // Shape, the damaged block, and whether a repair brings it back.
    let shapes = [
        ("missing-end", without_end, true),
        ("label-mismatch", middle.replace("END CERTIFICATE", "END TRUSTED CERTIFICATE"), true),
        ("bad-base64", middle.replacen(lines[2], &lines[2].replacen(&lines[2][3..4], "!", 1), 1), false),
        (
            "truncated",
            format!("{}\n{}\n{}\n", lines[0], lines[1..3].join("\n"), lines[lines.len() - 1]),
            false,
        ),
        ("no-certificate", pem("CERTIFICATE", &[0x30, 0x03, 0x02, 0x01, 0x01]), false),
        ("empty", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n".to_owned(), false),
    ];
    for (name, damaged, repairable) in shapes {
        let root = root();
        let input = write(root.path().join("in.crt"), format!("{}{damaged}{}", clean[0], clean[2]));
        let (bundle, capath) = (root.path().join("B.pem"), root.path().join("D"));
        let run = |policy: &str| {
            Compact::of(&[&input]).bundle(&bundle).capath(&capath).with(&["--malformed", policy])
        };
        println!("{name}");
        // The default is to refuse.
        Compact::of(&[&input]).bundle(&bundle).capath(&capath).refused(root.path(), "malformed");
        run("refuse").refused(root.path(), "malformed");
        if !repairable {
            run("repair").refused(root.path(), "malformed");
        }
        run("drop").done();
        assert_bundle(&bundle, &ends);
        assert_capath(&capath, &ends);
        assert_settled(root.path(), || run("drop"));
        if repairable {
            fs::remove_file(&bundle).expect("the bundle");
            fs::remove_dir_all(&capath).expect("the directory");
            run("repair").done();
            // Where in the order a repaired one stands is open: it is the content that counts.
            assert_eq!(fingerprints(&blocks_of(&bundle)), names_of(&all));
            assert_bundle(&bundle, &all);
            assert_capath(&capath, &all);
            assert_settled(root.path(), || run("repair"));
        }
    }
}

// ---- Trust attributes ----------------------------------------------------------------------------------------

/// The block as `openssl x509 -trustout` writes it with these options.
fn trusted(block: &str, options: &[&str]) -> String {
    let mut command = support::openssl_x509();
    let output = support::run_with_input(command.args(options).arg("-trustout"), block.as_bytes());
    assert!(output.status.success(), "{}", support::complaint(&output));
    let text = String::from_utf8(output.stdout).expect("PEM is ASCII");
    assert!(text.starts_with("-----BEGIN TRUSTED CERTIFICATE-----\n"));
    text
}

#[test]
fn trust_attributes() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let clean = made(4);
    let all = distinct(&clean.iter().map(|block| block.clone().into_bytes()).collect::<Vec<_>>());
    let blocks = [
        trusted(&clean[0], &["-addtrust", "serverAuth", "-addreject", "emailProtection"]),
        clean[1].clone(),
        trusted(&clean[2], &["-setalias", "a name"]),
        trusted(&clean[3], &["-addtrust", "anyExtendedKeyUsage"]),
    ];
    let input = write(root.path().join("in.crt"), blocks.concat());
    let (bundle, capath) = (root.path().join("B.pem"), root.path().join("D"));
    let run =
        |policy: &str| Compact::of(&[&input]).bundle(&bundle).capath(&capath).with(&["--trust", policy]);
    run("refuse").refused(root.path(), "trust attributes");
    let changes = run("plain").changes();
    assert_bundle(&bundle, &all);
    assert_capath(&capath, &all);
    // serverAuth alone became everything.
    assert!(changes.contains(&("gain".to_owned(), Some(all[0].1.sha256.clone()))), "{changes:?}");
    assert_settled(root.path(), || run("plain"));

    let kept = root.path().join("kept.pem");
    let run = || Compact::of(&[&input]).bundle(&kept).with(&["--trust", "keep"]);
    run().done();
    assert_eq!(fs::read_to_string(&kept).expect("the bundle"), blocks.concat());
    assert_settled(root.path(), run);
    let kept = root.path().join("kept");
    let run = || Compact::of(&[&input]).capath(&kept).with(&["--trust", "keep"]);
    run().done();
    for ((_, view), block) in all.iter().zip(&blocks) {
        let link = kept.join(format!("{}.0", view.subject_hash));
        assert_eq!(&fs::read_to_string(&link).expect("a link"), block);
    }
    assert_openssl_rehash_idle(&kept);
    assert_settled(root.path(), run);
}

/// A rejection anywhere removes every copy, whatever becomes of trust attributes otherwise. That it *is* a rejection
/// is what `openssl verify -purpose sslserver` says.
#[test]
fn rejections() {
    if support::skip_without(TOOLS) {
        return;
    }
    let mut clean = made(3);
    // With a key usage that fits a server, or its purpose alone is reason enough to refuse it.
    let usage = usage::DIGITAL_SIGNATURE | usage::KEY_CERT_SIGN;
    let extensions = vec![basic_constraints(true, None), key_usage(usage)];
    clean[1] = Certificate { extensions, ..Certificate::root("Castore Test Root 02", 2) }.pem();
    let all = distinct(&clean.iter().map(|block| block.clone().into_bytes()).collect::<Vec<_>>());
    let shapes: [(&[&str], bool); 6] = [
        (&["-addreject", "serverAuth"], true),
        (&["-addreject", "anyExtendedKeyUsage"], true),
        (&["-addtrust", "emailProtection"], true),
        (&["-addtrust", "serverAuth", "-addreject", "serverAuth"], true),
        (&["-addtrust", "serverAuth"], false),
        (&["-addreject", "emailProtection"], false),
    ];
    for (options, rejects) in shapes {
        let root = root();
        let block = trusted(&clean[1], options);
        let store = write(root.path().join("store.pem"), &block);
        let mut command = support::required("openssl");
        command.args(["verify", "-no-CApath", "-no-CAstore", "-no_check_time", "-partial_chain"]);
        command.args(["-purpose", "sslserver", "-CAfile"]).arg(&store);
        let accepted = support::run_with_input(&mut command, clean[1].as_bytes()).status.success();
        assert_eq!(accepted, !rejects, "openssl verify with {options:?}");

        let first = write(root.path().join("1.crt"), clean.concat());
        let second = write(root.path().join("2.crt"), &block);
        let third = write(root.path().join("3.crt"), clean[1].repeat(2));
        for trust in ["plain", "keep"] {
            let bundle = root.path().join(format!("{trust}.pem"));
            let capath = root.path().join(trust);
            let run = || {
                Compact::of(&[&first, &second, &third])
                    .bundle(&bundle)
                    .capath(&capath)
                    .with(&["--trust", trust])
            };
            run().done();
            let written: BTreeSet<String> = fingerprints(&blocks_of(&bundle)).into_iter().collect();
            let expected: BTreeSet<String> =
                names_of(&all).into_iter().filter(|name| !rejects || *name != all[1].1.sha256).collect();
            assert_eq!(written, expected, "{options:?}, --trust {trust}");
            assert_eq!(
                support::names_in(&capath)
                    .iter()
                    .filter(|name| name.to_string_lossy().ends_with(".pem"))
                    .count(),
                expected.len(),
                "{options:?}, --trust {trust}"
            );
            assert_settled(root.path(), run);
        }
    }
}

// ---- Onto what is there --------------------------------------------------------------------------------------

#[test]
fn gains_are_accepted_by_name_only() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let clean = made(5);
    let all = distinct(&clean.iter().map(|block| block.clone().into_bytes()).collect::<Vec<_>>());
    let four = write(root.path().join("four.crt"), clean[..4].concat());
    let five = write(root.path().join("five.crt"), clean.concat());
    let (bundle, capath) = (root.path().join("B.pem"), root.path().join("D"));
    Compact::of(&[&four]).bundle(&bundle).capath(&capath).done();
    Compact::of(&[&five]).bundle(&bundle).refused(root.path(), &all[4].1.sha256);
    Compact::of(&[&five]).capath(&capath).refused(root.path(), &all[4].1.sha256);
    Compact::of(&[&five])
        .bundle(&bundle)
        .capath(&capath)
        .with(&["--gain", "refuse"])
        .refused(root.path(), &all[4].1.sha256);
    let run = || Compact::of(&[&five]).bundle(&bundle).capath(&capath).with(&["--gain", "accept"]);
    run().done();
    assert_bundle(&bundle, &all);
    assert_capath(&capath, &all);
    assert_settled(root.path(), run);
}

#[test]
fn prune() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let clean = made(5);
    let all = distinct(&clean.iter().map(|block| block.clone().into_bytes()).collect::<Vec<_>>());
    let five = write(root.path().join("five.crt"), clean.concat());
    let three = write(root.path().join("three.crt"), clean[..3].concat());
    let capath = root.path().join("D");
    Compact::of(&[&five]).capath(&capath).done();
    write(capath.join("README"), "ours\n");
    let outside = write(root.path().join("outside.pem"), Certificate::root("Castore Outside", 50).pem());
    symlink("../outside.pem", capath.join("linked.pem")).expect("a link");
    let rehash =
        support::required("openssl").arg("rehash").arg(&capath).output().expect("openssl rehash starts");
    assert!(rehash.status.success());
    let mut there = all.clone();
    there.extend(distinct(&blocks_of(&outside)));
    assert_found(Trust::CaPath(&capath), &there, &there);

    // Without the word nothing goes.
    let run = || Compact::of(&[&three]).capath(&capath);
    let before = support::tree_state(&capath);
    run().done();
    assert_eq!(support::tree_state(&capath), before);
    assert_found(Trust::CaPath(&capath), &there, &there);

    // Three of six is more than goes unnamed.
    Compact::of(&[&three]).capath(&capath).with(&["--prune"]).refused(root.path(), "3 of 6");
    let run = || Compact::of(&[&three]).capath(&capath).with(&["--prune", "--max-shrink", "50"]);
    run().with(&["--dry-run"]).done();
    assert_eq!(support::tree_state(&capath), before);
    run().with(&["--check"]).ends(1);
    assert_eq!(support::tree_state(&capath), before);
    run().done();
    assert_found(Trust::CaPath(&capath), &there, &all[..3]);
    assert_eq!(fs::read(capath.join("README")).expect("it stays"), b"ours\n");
    assert_eq!(fingerprints(&blocks_of(&outside)), [there[5].1.sha256.clone()], "the target is not ours");
    assert_settled(root.path(), run);
    fs::remove_file(capath.join("README")).expect("a file");
    assert_capath(&capath, &all[..3]);
}

/// A directory in use: certificates keep the files and links that they have.
#[test]
fn existing_members_keep_their_files() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let clean = made(4);
    let all = distinct(&clean.iter().map(|block| block.clone().into_bytes()).collect::<Vec<_>>());
    let capath = root.path().join("D");
    fs::create_dir(&capath).expect("a directory");
    for (number, block) in clean[..3].iter().enumerate() {
        write(capath.join(format!("mine {number}.pem")), block);
    }
    let rehash =
        support::required("openssl").arg("rehash").arg(&capath).output().expect("openssl rehash starts");
    assert!(rehash.status.success());
    let before = support::tree_state(&capath);
    let input = write(root.path().join("in.crt"), clean.concat());
    let run = || Compact::of(&[&input]).capath(&capath).with(&["--gain", "accept"]);
    run().done();
    let after = support::tree_state(&capath);
    for (name, state) in before.iter().filter(|(name, _)| name.as_os_str() != ".") {
        assert_eq!(after.get(name), Some(state), "{name:?}");
    }
    assert_eq!(after.len(), before.len() + 2, "one file, one link");
    assert_found(Trust::CaPath(&capath), &all, &all);
    assert_openssl_rehash_idle(&capath);
    assert_settled(root.path(), run);
}

#[test]
fn max_shrink() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let clean = made(10);
    let all = distinct(&clean.iter().map(|block| block.clone().into_bytes()).collect::<Vec<_>>());
    let expired = Certificate::root("Castore Test Expired", 77).valid("100101000000Z", "200101000000Z").pem();
    let bundle = root.path().join("B.pem");
    let fill = || {
        // Expired ones do not count, neither as gone nor as there.
        write(bundle.clone(), clean.concat() + &expired);
    };
    let of = |number: usize| write(root.path().join(format!("{number}.crt")), clean[..number].concat());
    fill();
    // 3 of 10 are more than the default of 20 per cent, 2 are not.
    let seven = of(7);
    Compact::of(&[&seven]).bundle(&bundle).refused(root.path(), "3 of 10");
    Compact::of(&[&seven]).bundle(&bundle).with(&["--max-shrink", "29"]).refused(root.path(), "3 of 10");
    let eight = of(8);
    Compact::of(&[&eight]).bundle(&bundle).done();
    assert_bundle(&bundle, &all[..8]);
    fill();
    Compact::of(&[&seven]).bundle(&bundle).with(&["--max-shrink", "30"]).done();
    assert_bundle(&bundle, &all[..7]);
    fill();
    Compact::of(&[&eight]).bundle(&bundle).with(&["--max-shrink", "0"]).refused(root.path(), "2 of 10");
}

#[test]
fn nothing_left_or_nothing_to_read_is_refused() {
    let root = root();
    let clean = made(2);
    let good = write(root.path().join("good.crt"), clean.concat());
    let expired = Certificate::root("Castore Test Expired", 77).valid("100101000000Z", "200101000000Z").pem();
    let expired = write(root.path().join("expired.crt"), expired);
    let empty = write(root.path().join("empty.crt"), "# nothing\n");
    let (bundle, capath) = (root.path().join("B.pem"), root.path().join("D"));
    for existing in [false, true] {
        if existing {
            Compact::of(&[&good]).bundle(&bundle).capath(&capath).done();
        }
        for input in [&expired, &empty] {
            Compact::of(&[input]).bundle(&bundle).refused(root.path(), "no certificate is left");
            Compact::of(&[input]).capath(&capath).refused(root.path(), "no certificate is left");
            Compact::of(&[input])
                .bundle(&bundle)
                .capath(&capath)
                .with(&["--prune", "--max-shrink", "100"])
                .refused(root.path(), "no certificate is left");
        }
        let missing = root.path().join("missing.crt");
        Compact::of(&[&good, &missing]).bundle(&bundle).capath(&capath).refused(root.path(), "missing.crt");
    }
    // Where the output cannot stand.
    let into_nothing = root.path().join("no/such/directory/B.pem");
    Compact::of(&[&good]).bundle(&into_nothing).refused(root.path(), "no/such/directory");
    Compact::of(&[&good]).bundle(&capath).refused(root.path(), "no regular file");
    Compact::of(&[&good]).capath(&bundle).refused(root.path(), "not a directory");
    let dangling = root.path().join("dangling.pem");
    symlink("nowhere.pem", &dangling).expect("a link");
    Compact::of(&[&good]).bundle(&dangling).refused(root.path(), "dangling.pem");
}

#[test]
fn an_output_link_stays_a_link() {
    if support::skip_without(TOOLS) {
        return;
    }
    let root = root();
    let clean = made(3);
    let all = distinct(&clean.iter().map(|block| block.clone().into_bytes()).collect::<Vec<_>>());
    let input = write(root.path().join("in.crt"), [clean.concat(), clean.concat()].concat());
    fs::create_dir(root.path().join("real")).expect("a directory");
    let real = write(root.path().join("real/bundle.crt"), [clean.concat(), clean.concat()].concat());
    symlink("real/bundle.crt", root.path().join("middle.crt")).expect("a link");
    let link = root.path().join("link.crt");
    symlink("middle.crt", &link).expect("a link");
    let run = || Compact::of(&[&input]).bundle(&link);
    run().done();
    assert_eq!(fs::read_link(&link).expect("still a link"), Path::new("middle.crt"));
    assert_eq!(
        fs::read_link(root.path().join("middle.crt")).expect("still a link"),
        Path::new("real/bundle.crt")
    );
    assert_bundle(&real, &all);
    assert!(fs::symlink_metadata(&real).expect("the file").is_file());
    assert_settled(root.path(), run);
    // In place, through the link.
    write(real.clone(), [clean.concat(), clean.concat()].concat());
    Compact::of(&[&link]).bundle(&link).done();
    assert_bundle(&real, &all);

    // A directory by a link as well.
    let capath = root.path().join("D");
    Compact::of(&[&input]).capath(&capath).done();
    symlink("D", root.path().join("linked")).expect("a link");
    let linked = root.path().join("linked");
    assert_settled(root.path(), || Compact::of(&[&input]).capath(&linked));
    assert_eq!(fs::read_link(&linked).expect("still a link"), Path::new("D"));
}

#[test]
fn modes_do_not_follow_the_umask() {
    let root = root();
    let input = write(root.path().join("in.crt"), made(3).concat());
    for umask in ["077", "000", "027"] {
        let (bundle, capath) =
            (root.path().join(format!("B{umask}.pem")), root.path().join(format!("D{umask}")));
        let mut shell = support::required("sh");
        shell.arg("-c").arg(format!("umask {umask}; exec \"$@\"")).arg("sh").arg(support::program());
        shell.args(["compact", "--at", NOW]).arg(&input);
        shell.arg("--bundle").arg(&bundle).arg("--capath").arg(&capath);
        let output = shell.output().expect("a shell");
        assert!(output.status.success(), "{}", support::complaint(&output));
        assert_eq!(fs::metadata(&bundle).expect("the bundle").mode() & 0o7777, 0o644, "umask {umask}");
        let state = support::tree_state(&capath);
        assert_eq!(state[Path::new(".")].mode, 0o755, "umask {umask}");
        let files: Vec<u32> =
            state.values().filter(|entry| entry.kind == EntryKind::File).map(|entry| entry.mode).collect();
        assert_eq!(files, [0o644; 3], "umask {umask}");
    }
}

#[test]
fn unwritable_directories() {
    let root = root();
    let input = write(root.path().join("in.crt"), [made(3).concat(), made(3).concat()].concat());
    let closed = root.path().join("closed");
    fs::create_dir(&closed).expect("a directory");
    let bundle = write(closed.join("B.pem"), fs::read(&input).expect("the input"));
    let capath = closed.join("D");
    fs::create_dir(&capath).expect("a directory");
    write(capath.join("a.pem"), &made(1)[0]);
    for path in [&capath, &closed] {
        fs::set_permissions(path, Permissions::from_mode(0o555)).expect("a mode");
    }
    fs::set_permissions(root.path(), Permissions::from_mode(0o755)).expect("a mode");
    // Root may write anywhere: then nobody runs it, where that works.
    let aside = tempfile::tempdir().expect("a directory");
    let as_root = rustix::process::geteuid().is_root();
    let program = if as_root {
        fs::set_permissions(aside.path(), Permissions::from_mode(0o755)).expect("a mode");
        let Some(program) = support::cases::copy_for_nobody(aside.path()) else { return };
        program
    } else {
        support::program().to_owned()
    };
    let new = closed.join("new");
    for outputs in [
        vec![OsStr::new("--bundle"), bundle.as_os_str()],
        vec![OsStr::new("--capath"), capath.as_os_str(), OsStr::new("--gain"), OsStr::new("accept")],
        vec![OsStr::new("--capath"), new.as_os_str()],
    ] {
        let before = support::tree_state(root.path());
        let mut command = Command::new(&program);
        command.env_clear().args(["compact", "--at", NOW]).arg(&input).args(&outputs);
        if as_root {
            command.uid(support::cases::NOBODY).gid(support::cases::NOBODY);
        }
        let output = command.output().expect("castore starts");
        assert_eq!(output.status.code(), Some(2), "{outputs:?}");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(text.contains("Permission denied"), "{text}");
        assert_eq!(support::tree_state(root.path()), before, "{outputs:?}");
    }
    for path in [&closed, &capath] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).expect("a mode");
    }
}

/// The factory's trust attributes are those that OpenSSL writes for its words.
#[test]
fn made_up_trust_blocks_are_those_of_openssl() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let certificate = Certificate::root("Castore Test Root 01", 1);
    assert_eq!(
        certificate.trusted_pem(&[oids::SERVER_AUTH], &[oids::EMAIL_PROTECTION]),
        trusted(&certificate.pem(), &["-addtrust", "serverAuth", "-addreject", "emailProtection"])
    );
}
