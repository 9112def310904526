//! Which of several certificates of one subject a library takes: `shadowed` against `openssl verify` and
//! `certtool --verify`, on twins that `tests/oracle/twins.py` makes.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Twins with other keys. Whether a library passes over the wrong one depends on what the peer's certificate says of its
/// issuer's key, which no store tells: the report says which is taken, and does not warn.
const OTHER_KEYS: &[&str] = &["re-keyed", "re-keyed-and-identified", "re-keyed-no-ca"];

struct Scenario {
    name: String,
    folder: PathBuf,
}

impl Scenario {
    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.pem"))
    }

    /// A bundle of some of its files, in this order.
    fn bundle(&self, parts: &[&str]) -> PathBuf {
        let path = self.folder.join(format!("store-{}.pem", parts.join("-")));
        let bytes: Vec<u8> =
            parts.iter().chain(&["more"]).flat_map(|part| fs::read(self.file(part)).unwrap()).collect();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// A CApath of some of its files, numbered in this order.
    fn directory(&self, parts: &[&str]) -> PathBuf {
        let path = self.folder.join(format!("store-{}", parts.join("-")));
        fs::create_dir(&path).unwrap();
        let add = |part: &str, number: usize| {
            fs::copy(self.file(part), path.join(format!("{}.{number}", hash(&self.file(part))))).unwrap();
        };
        parts.iter().enumerate().for_each(|(number, part)| add(part, number));
        if fs::metadata(self.file("more")).unwrap().len() > 0 {
            add("more", 0);
        }
        path
    }

    fn openssl_accepts(&self, file: Option<&Path>, directory: Option<&Path>) -> bool {
        let mut command = support::required("openssl");
        command.args(["verify", "-purpose", "sslserver", "-no-CAstore"]);
        match file {
            Some(path) => command.arg("-CAfile").arg(path),
            None => command.arg("-no-CAfile"),
        };
        match directory {
            Some(path) => command.arg("-CApath").arg(path),
            None => command.arg("-no-CApath"),
        };
        if fs::metadata(self.file("sent")).unwrap().len() > 0 {
            command.arg("-untrusted").arg(self.file("sent"));
        }
        succeeds(command.arg(self.file("leaf")))
    }

    fn gnutls_accepts(&self, store: &Path) -> bool {
        let chain = self.folder.join("chain.pem");
        fs::write(
            &chain,
            [fs::read(self.file("leaf")).unwrap(), fs::read(self.file("sent")).unwrap()].concat(),
        )
        .unwrap();
        let mut command = support::required("certtool");
        succeeds(command.arg("--verify").arg("--load-ca-certificate").arg(store).arg("--infile").arg(chain))
    }
}

/// Both programs say what they think of a chain by their status.
fn succeeds(command: &mut Command) -> bool {
    let output = command.output().expect("it starts");
    assert!(output.status.code().is_some(), "{}", support::complaint(&output));
    output.status.success()
}

fn hash(path: &Path) -> String {
    let output =
        support::required("openssl").args(["x509", "-noout", "-hash", "-in"]).arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn scenarios(folder: &Path) -> Option<Vec<Scenario>> {
    let packages = support::material_at("openssl/4.0.3")?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/twins.py");
    let output = support::required("python3")
        .args(["-W", "ignore"])
        .arg(script)
        .arg(folder)
        .env("PYTHONPATH", packages)
        .output()
        .expect("python3 starts");
    assert!(output.status.success(), "{}", support::complaint(&output));
    let mut names = support::names_in(folder);
    names.sort_unstable();
    assert!(names.len() > 12, "{names:?}");
    let scenario =
        |name: std::ffi::OsString| Scenario { folder: folder.join(&name), name: name.into_string().unwrap() };
    Some(names.into_iter().map(scenario).collect())
}

/// The findings of one id in an audit.
fn findings(store: &Path, id: &str) -> Vec<Value> {
    let output = support::castore()
        .args(["audit", "--format", "json", "--reader", "openssl-3.0,gnutls"])
        .arg(store)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", support::complaint(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = report["findings"].as_array().unwrap();
    all.iter().filter(|finding| finding["id"] == id).cloned().collect()
}

/// The readers that a `shadowed` finding names.
fn shadowed(store: &Path) -> BTreeSet<String> {
    let readers = |finding: Value| finding["readers"].as_array().unwrap().clone();
    let names = findings(store, "shadowed").into_iter().flat_map(readers);
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// `openssl verify` may be any release here; they agree in this.
const OPENSSL: &str = "openssl-3.0";

#[test]
fn a_twin_is_named_where_it_costs_a_library_the_chain() {
    if support::skip_without(&["python3", "openssl", "certtool"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(scenarios) = scenarios(folder.path()) else { return };
    let (mut openssl_refused, mut gnutls_refused) = (0, 0);
    for scenario in &scenarios {
        let name = &scenario.name;
        let alone = scenario.bundle(&["right"]);
        assert!(scenario.openssl_accepts(Some(&alone), None) && scenario.gnutls_accepts(&alone), "{name}");
        for order in [["twin", "right"], ["right", "twin"]] {
            let file = scenario.bundle(&order);
            let by_openssl = scenario.openssl_accepts(Some(&file), None);
            let by_gnutls = scenario.gnutls_accepts(&file);
            let directory = scenario.directory(&order);
            assert_eq!(
                scenario.openssl_accepts(None, Some(&directory)),
                by_openssl,
                "{name}, {order:?}: a directory is not as a file"
            );
            let said = shadowed(&file);
            if OTHER_KEYS.contains(&name.as_str()) {
                assert!(said.is_empty(), "{name}, {order:?}: {said:?}");
                continue;
            }
            openssl_refused += usize::from(!by_openssl);
            gnutls_refused += usize::from(!by_gnutls);
            assert_eq!(said.contains(OPENSSL), !by_openssl, "{name}, {order:?}: OpenSSL, said {said:?}");
            assert_eq!(said.contains("gnutls"), !by_gnutls, "{name}, {order:?}: GnuTLS, said {said:?}");
            // Look-ups take the number for the order; what reads whole directories has none.
            let said = shadowed(&directory);
            assert_eq!(said.contains(OPENSSL), !by_openssl, "{name}, {order:?}: a directory, said {said:?}");
            assert!(!said.contains("gnutls"), "{name}, {order:?}");
        }
    }
    assert!(openssl_refused >= 5 && gnutls_refused >= 4, "{openssl_refused}, {gnutls_refused}");
}

/// OpenSSL looks into the directory for a subject that no certificate of the CAfile has.
#[test]
fn a_twin_in_the_file_hides_what_the_directory_has() {
    if support::skip_without(&["python3", "openssl"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(scenarios) = scenarios(folder.path()) else { return };
    let mut accepted = 0;
    for scenario in &scenarios {
        let name = &scenario.name;
        let directory = scenario.directory(&["right"]);
        let accepts = scenario.openssl_accepts(Some(&scenario.file("twin")), Some(&directory));
        accepted += usize::from(accepts);
        fs::copy(scenario.file("twin"), directory.join("ca-certificates.crt")).unwrap();
        assert_eq!(shadowed(&directory).contains(OPENSSL), !accepts, "{name}");
    }
    assert!(accepted >= 2 && accepted < scenarios.len(), "{accepted}");
}

/// The report names the one that is taken. Of two keys the library that takes the wrong one refuses the chain.
#[test]
fn the_first_is_openssl_s_and_the_last_is_gnutls_s() {
    if support::skip_without(&["python3", "openssl", "certtool"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let Some(scenarios) = scenarios(folder.path()) else { return };
    let scenario = scenarios.iter().find(|scenario| scenario.name == "re-keyed").unwrap();
    let fingerprint = |name: &str| {
        let blocks = support::certificate_blocks(&fs::read(scenario.file(name)).unwrap());
        support::sha256_hex(&support::block_der(&blocks[0]))
    };
    for (order, openssl, gnutls) in
        [(["twin", "right"], "twin", "right"), (["right", "twin"], "right", "twin")]
    {
        let file = scenario.bundle(&order);
        assert_eq!(scenario.openssl_accepts(Some(&file), None), openssl == "right");
        assert_eq!(scenario.gnutls_accepts(&file), gnutls == "right");
        let [finding] = &findings(&file, "same-subject")[..] else { panic!("one finding") };
        let message = finding["message"].as_str().unwrap();
        let taken = |name: &str| fingerprint(name)[..8].to_owned();
        assert!(message.contains(&format!("OpenSSL takes the first ({})", taken(openssl))), "{message}");
        assert!(message.contains(&format!("GnuTLS the last ({})", taken(gnutls))), "{message}");
    }
    // And in what they differ.
    for (name, field) in [
        ("expired", "dates"),
        ("no-ca", "CA flag"),
        ("path-length", "path length"),
        ("name-constraints", "name constraints"),
    ] {
        let scenario = scenarios.iter().find(|scenario| scenario.name == name).unwrap();
        let [finding] = &findings(&scenario.bundle(&["twin", "right"]), "reissued")[..] else {
            panic!("{name}")
        };
        let message = finding["message"].as_str().unwrap();
        let (_, differing) = message.split_once("they differ in ").expect("fields that differ");
        assert_eq!(differing.split(';').next(), Some(field), "{name}: {message}");
    }
}
