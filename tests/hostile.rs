//! Ways in which a writer once gained or lost trust in silence. What a directory or bundle trusts is asked of `openssl`.
#![allow(clippy::disallowed_methods, reason = "tests write files")]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;

use support::der::Certificate;

/// A directory of its own, and two certificates of one subject with different keys, and one of another subject.
struct Stage {
    folder: tempfile::TempDir,
    alpha: Certificate,
    twin: Certificate,
    other: Certificate,
}

impl Stage {
    fn new() -> Option<Self> {
        if support::skip_without(&["openssl"]) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("D")).unwrap();
        let alpha = Certificate::root("Castore Test Alpha", 1);
        let twin = Certificate::root("Castore Test Alpha", 2);
        let other = Certificate::root("Castore Test Other", 3);
        Some(Self { folder, alpha, twin, other })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    fn compact(&self, arguments: &[&str]) -> Output {
        support::castore()
            .current_dir(self.folder.path())
            .args(["compact", "--at", "2026-01-01"])
            .args(arguments)
            .output()
            .unwrap()
    }

    /// What a look-up in `D` trusts.
    fn trusted(&self) -> BTreeSet<String> {
        let blocks = [&self.alpha, &self.twin, &self.other].map(|one| one.pem().into_bytes());
        support::openssl_verify_each(support::Trust::CaPath(&self.at("D")), &blocks)
    }
}

fn hash(certificate: &Certificate) -> String {
    support::openssl_view(certificate.pem().as_bytes()).unwrap().subject_hash
}

fn fingerprints(certificates: &[&Certificate]) -> BTreeSet<String> {
    certificates.iter().map(|one| support::sha256_hex(&one.der())).collect()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn entries(folder: &Path) -> Vec<std::ffi::OsString> {
    support::names_in(folder)
}

#[test]
fn what_the_plan_leaves_out_gets_no_link() {
    let Some(stage) = Stage::new() else { return };
    stage.write("D/x.pem", &stage.other.pem());
    stage.write("in.pem", &stage.alpha.pem());
    let output = stage.compact(&["in.pem", "--capath", "D", "--gain", "accept"]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(stage.trusted(), fingerprints(&[&stage.alpha]));
}

#[test]
fn a_dead_name_by_hash_does_not_wake() {
    let Some(stage) = Stage::new() else { return };
    // Behind a gap: nothing finds the twin.
    stage.write("x.pem", &stage.twin.pem());
    symlink("../x.pem", stage.at(&format!("D/{}.1", hash(&stage.alpha)))).unwrap();
    stage.write("in.pem", &stage.alpha.pem());
    assert_eq!(stage.trusted(), BTreeSet::new());
    for layout in ["symbolic", "copy"] {
        let output =
            stage.compact(&["in.pem", "--capath", "D", "--gain", "accept", "--output-links", layout]);
        assert!(output.status.success(), "{}", text(&output));
        assert_eq!(stage.trusted(), fingerprints(&[&stage.alpha]), "{layout}");
    }
}

#[test]
fn prune_does_not_remove_what_it_wrote() {
    let Some(stage) = Stage::new() else { return };
    stage.write(&format!("D/{}.0", hash(&stage.alpha)), &stage.twin.pem());
    stage.write("in.pem", &stage.alpha.pem());
    let prune = ["in.pem", "--capath", "D", "--prune", "--gain", "accept", "--max-shrink", "100"];
    let output = stage.compact(&[&prune[..], &["--output-links", "copy"]].concat());
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(stage.trusted(), fingerprints(&[&stage.alpha]));
    let again = stage.compact(&[&prune[..], &["--output-links", "copy", "--check"]].concat());
    assert_eq!(again.status.code(), Some(0), "{}", text(&again));
}

#[test]
fn a_rejected_certificate_does_not_come_back() {
    let Some(stage) = Stage::new() else { return };
    let rejecting = stage.other.trusted_pem(&[], &[support::der::oids::SERVER_AUTH]);
    // Whole, damaged in its boundaries, under another label.
    let damaged = rejecting.replace("-----END TRUSTED CERTIFICATE-----", "-----END CERTIFICATE-----");
    let plain = rejecting.replace("TRUSTED CERTIFICATE", "CERTIFICATE");
    for (name, block) in [("whole", rejecting), ("damaged", damaged), ("label", plain)] {
        stage.write("in.pem", &format!("{}{block}", stage.alpha.pem()));
        for malformed in ["repair", "drop"] {
            let output = stage.compact(&["in.pem", "--bundle", "out.pem", "--malformed", malformed]);
            let bundle = fs::read_to_string(stage.at("out.pem")).unwrap_or_default();
            assert!(!bundle.contains(&stage.other.pem()), "{name}, {malformed}: {}", text(&output));
            // A damaged block may stop the run; a whole one leaves the other certificate alone.
            if name != "damaged" {
                assert_eq!(bundle, stage.alpha.pem(), "{name}, {malformed}: {}", text(&output));
            }
            let _ = fs::remove_file(stage.at("out.pem"));
        }
    }
}

#[test]
fn distrust_in_text_is_never_passed_over() {
    let Some(stage) = Stage::new() else { return };
    let section = format!("[p11-kit-object-v1]\nx-distrusted: true\n{}", stage.other.pem());
    stage.write("in.pem", &format!("{}{section}", stage.alpha.pem()));
    let output = stage.compact(&["in.pem", "--bundle", "out.pem"]);
    assert_eq!(
        support::bundle_fingerprints(&stage.at("out.pem")),
        Vec::from_iter(fingerprints(&[&stage.alpha]))
    );
    assert!(text(&output).contains("Castore Test Other"), "{}", text(&output));

    let comment = format!("# Explicitly Distrust Castore Test Other\n{}", stage.other.pem());
    stage.write("in.pem", &format!("{}{comment}", stage.alpha.pem()));
    let output = stage.compact(&["in.pem", "--bundle", "second.pem"]);
    assert!(
        text(&output).contains("Castore Test Other: the comment before it distrusts it"),
        "{}",
        text(&output)
    );
}

#[test]
fn no_output_stands_on_another() {
    let Some(stage) = Stage::new() else { return };
    stage.write("in.pem", &stage.alpha.pem());
    stage.write("D/Alpha.pem", &stage.alpha.pem());
    symlink("Alpha.pem", stage.at(&format!("D/{}.0", hash(&stage.alpha)))).unwrap();
    symlink("D", stage.at("L")).unwrap();
    let before = support::tree_state(stage.folder.path());
    for outputs in [
        &["--bundle", "D/Alpha.pem", "--capath", "D"][..],
        &["--bundle", "./D/Alpha.pem", "--capath", "D"],
        &["--bundle", "L/Alpha.pem", "--capath", "D"],
        &["--bundle", "D", "--capath", "D"],
        &["--bundle", "out.pem", "--report", "out.pem"],
        &["--bundle", "out.pem", "--report", "in.pem"],
    ] {
        let output = stage.compact(&[&["in.pem"], outputs].concat());
        assert_eq!(output.status.code(), Some(2), "{outputs:?}: {}", text(&output));
        assert!(support::tree_state(stage.folder.path()) == before, "{outputs:?} changed something");
    }
    assert!(entries(&stage.at("D")).len() == 2);
}

#[test]
fn a_bundle_behind_a_linked_directory_is_the_right_file() {
    let Some(stage) = Stage::new() else { return };
    fs::create_dir_all(stage.at("real/deep")).unwrap();
    stage.write("real/a.pem", &stage.other.pem());
    stage.write("a.pem", &stage.twin.pem());
    symlink("../a.pem", stage.at("real/deep/x.pem")).unwrap();
    symlink("real/deep", stage.at("S")).unwrap();
    stage.write("in.pem", &(stage.alpha.pem() + &stage.other.pem()));
    let output = stage.compact(&["in.pem", "--bundle", "S/x.pem", "--gain", "accept"]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(fs::read_to_string(stage.at("a.pem")).unwrap(), stage.twin.pem());
    let expected = fingerprints(&[&stage.alpha, &stage.other]);
    assert_eq!(support::bundle_fingerprints(&stage.at("real/a.pem")), Vec::from_iter(expected));
}
