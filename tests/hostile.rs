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

/// What is removed by name is trusted by no look-up afterwards, wherever its link leads: OpenSSL loads a file whole.
#[test]
fn what_is_removed_is_found_by_no_link() {
    let Some(stage) = Stage::new() else { return };
    fs::create_dir(stage.at("elsewhere")).unwrap();
    let (alpha, other) = (hash(&stage.alpha), hash(&stage.other));
    let removal = format!("sha256:{}", support::sha256_hex(&stage.other.der()));
    let pruned = ["D", "--capath", "D", "--prune", "--remove", &removal];
    for layout in ["outside", "together", "bundle"] {
        let _ = fs::remove_dir_all(stage.at("D"));
        fs::create_dir(stage.at("D")).unwrap();
        let both = stage.alpha.pem() + &stage.other.pem();
        match layout {
            "outside" => {
                stage.write("D/alpha.pem", &stage.alpha.pem());
                stage.write("elsewhere/other.pem", &stage.other.pem());
                symlink("alpha.pem", stage.at(&format!("D/{alpha}.0"))).unwrap();
                symlink("../elsewhere/other.pem", stage.at(&format!("D/{other}.0"))).unwrap();
            }
            name => {
                let file = if name == "together" { "two.pem" } else { "ca-certificates.crt" };
                stage.write(&format!("D/{file}"), &both);
                for hash in [&alpha, &other] {
                    symlink(file, stage.at(&format!("D/{hash}.0"))).unwrap();
                }
            }
        }
        assert_eq!(stage.trusted(), fingerprints(&[&stage.alpha, &stage.other]), "{layout}");
        // Without --prune nothing goes, and what stays trusted is named.
        let output = stage.compact(&["D", "--capath", "D", "--remove", &removal]);
        assert!(text(&output).contains("not in the plan"), "{layout}: {}", text(&output));
        assert_eq!(stage.trusted(), fingerprints(&[&stage.alpha, &stage.other]), "{layout}");

        let output = stage.compact(&pruned);
        assert!(output.status.success(), "{layout}: {}", text(&output));
        assert_eq!(stage.trusted(), fingerprints(&[&stage.alpha]), "{layout}: {}", text(&output));
        let again = stage.compact(&[&pruned[..], &["--check"]].concat());
        assert_eq!(again.status.code(), Some(0), "{layout}: {}", text(&again));
    }
}

/// Who reads a directory without hash links reads all of it: none of that goes unnamed.
#[test]
fn a_directory_without_links_is_guarded_too() {
    let Some(stage) = Stage::new() else { return };
    stage.write("D/alpha.pem", &stage.alpha.pem());
    stage.write("in.pem", &stage.other.pem());
    let gain = stage.compact(&["in.pem", "--capath", "D", "--prune"]);
    assert_eq!(gain.status.code(), Some(2), "{}", text(&gain));
    let shrink = stage.compact(&["in.pem", "--capath", "D", "--prune", "--gain", "accept"]);
    assert_eq!(shrink.status.code(), Some(2), "{}", text(&shrink));
    assert_eq!(entries(&stage.at("D")), ["alpha.pem"]);
}

/// Trust attributes that only reject are limits as well: losing them is a gain.
#[test]
fn a_lost_rejection_is_a_gain() {
    let Some(stage) = Stage::new() else { return };
    let limited = stage.alpha.trusted_pem(&[], &[support::der::oids::CLIENT_AUTH]);
    stage.write("in.pem", &limited);
    let output = stage.compact(&["in.pem", "--bundle", "out.pem"]);
    let said = text(&output);
    assert!(output.status.success() && said.contains("Gained (1)"), "{said}");
    assert!(said.contains("the input rejects it for 1.3.6.1.5.5.7.3.2"), "{said}");
    stage.write("plain.pem", &stage.alpha.pem());
    let refused = stage.compact(&["plain.pem", "--bundle", "in.pem"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert_eq!(fs::read_to_string(stage.at("in.pem")).unwrap(), limited);
    // A member stays as it is, and nothing is said to be gained.
    stage.write(&format!("D/{}.0", hash(&stage.alpha)), &limited);
    let output = stage.compact(&["D", "--capath", "D"]);
    let said = text(&output);
    assert!(output.status.success() && !said.contains("Gained"), "{said}");
    assert!(said.contains("with its trust attributes"), "{said}");
}

/// A private key is not written, and no file that holds one goes.
#[test]
fn private_keys_stay_where_they_are() {
    let Some(stage) = Stage::new() else { return };
    let key = support::der::pem("PRIVATE KEY", &[0x5a; 300]);
    let (alpha, other) = (stage.alpha.pem(), stage.other.pem());
    stage.write("in.pem", &alpha);
    for (name, held) in
        [("alone", key.clone()), ("first", format!("{key}{alpha}")), ("last", format!("{alpha}{key}"))]
    {
        stage.write("out.pem", &held);
        let output = stage.compact(&["in.pem", "--bundle", "out.pem"]);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", text(&output));
        assert_eq!(fs::read_to_string(stage.at("out.pem")).unwrap(), held, "{name}");
    }
    stage.write("D/alpha.pem", &alpha);
    stage.write("D/server.pem", &format!("{other}{key}"));
    symlink("alpha.pem", stage.at(&format!("D/{}.0", hash(&stage.alpha)))).unwrap();
    symlink("server.pem", stage.at(&format!("D/{}.0", hash(&stage.other)))).unwrap();
    let output = stage.compact(&["in.pem", "--capath", "D", "--prune", "--max-shrink", "100"]);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(fs::read_to_string(stage.at("D/server.pem")).unwrap(), format!("{other}{key}"));
    assert_eq!(stage.trusted(), fingerprints(&[&stage.alpha]));
    assert!(text(&output).contains("holds a private key"), "{}", text(&output));
}

/// What is left out is listed: a CRL, a request, parameters.
#[test]
fn blocks_that_are_no_certificates_are_listed() {
    let Some(stage) = Stage::new() else { return };
    let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";
    stage.write("in.pem", &(stage.alpha.pem() + parameters));
    let output = stage.compact(&["in.pem", "--bundle", "in.pem"]);
    let said = text(&output);
    assert!(output.status.success() && said.contains("in.pem: line 9: "), "{said}");
    assert_eq!(said.matches("certificates alone are written").count(), 1, "{said}");
    stage.write("out.pem", &(stage.alpha.pem() + parameters));
    stage.write("in.pem", &stage.alpha.pem());
    let output = stage.compact(&["in.pem", "--bundle", "out.pem"]);
    assert!(text(&output).contains("out.pem: line 9: "), "{}", text(&output));
}

/// A link behind a gap finds nothing: what it leads to elsewhere is nobody's trust, and does not become it.
#[test]
fn rehash_trusts_nothing_new_elsewhere() {
    let Some(stage) = Stage::new() else { return };
    fs::create_dir(stage.at("elsewhere")).unwrap();
    stage.write("elsewhere/alpha.pem", &stage.alpha.pem());
    symlink("../elsewhere/alpha.pem", stage.at(&format!("D/{}.1", hash(&stage.alpha)))).unwrap();
    assert_eq!(stage.trusted(), BTreeSet::new());
    let output = support::castore().arg("rehash").arg(stage.at("D")).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(stage.trusted(), BTreeSet::new());
}

/// Two runs at once on one bundle: the second waits for the first, and keeps what that one wrote.
#[test]
fn no_run_undoes_what_another_has_just_done() {
    let Some(stage) = Stage::new() else { return };
    if support::skip_without(&["strace"]) {
        return;
    }
    stage.write("X.pem", &stage.alpha.pem());
    stage.write("in.pem", &stage.other.pem());
    stage.write("twin.pem", &stage.twin.pem());
    let words =
        |input| ["compact", "--at", "2026-01-01", "X.pem", input, "--bundle", "X.pem", "--gain", "accept"];
    let mut slow = support::required("strace");
    slow.args(["-qq", "-o", "/dev/null", "-e", "trace=renameat", "-e", "inject=renameat:delay_enter=700000"]);
    slow.current_dir(stage.folder.path()).arg(support::program()).args(words("in.pem"));
    let mut slow = slow.stdout(std::process::Stdio::null()).spawn().unwrap();
    // Its lock is had when what it stages is there.
    while !entries(stage.folder.path()).iter().any(|name| name.to_string_lossy().starts_with(".castore-")) {
        assert_eq!(slow.try_wait().unwrap(), None, "it ended before it wrote");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let second =
        support::castore().current_dir(stage.folder.path()).args(words("twin.pem")).output().unwrap();
    assert!(second.status.success(), "{}", text(&second));
    assert!(slow.wait().unwrap().success());
    let all = fingerprints(&[&stage.alpha, &stage.other, &stage.twin]);
    assert_eq!(BTreeSet::from_iter(support::bundle_fingerprints(&stage.at("X.pem"))), all);
}

/// What came by a pipe is read once: where the output changes under the run, it ends, and does not go on with what is left.
#[test]
fn an_input_by_a_pipe_is_not_read_twice() {
    let Some(stage) = Stage::new() else { return };
    if support::skip_without(&["strace", "sh"]) {
        return;
    }
    stage.write("out.pem", &stage.alpha.pem());
    stage.write("other.pem", &stage.other.pem());
    stage.write("in.pem", &stage.alpha.pem());
    // The output is touched when everything is read and staged: at the flush of what is staged.
    let script = "mkfifo pipe; cat other.pem >pipe & \
                  strace -qq -o /dev/null -e trace=fsync -e inject=fsync:delay_enter=700000:when=1 \"$castore\" compact \
                  --at 2026-01-01 in.pem pipe --bundle out.pem --gain accept & run=$!; \
                  while ! ls -A | grep -q '^[.]castore-'; do sleep 0.01; done; echo '# changed' >>out.pem; wait $run";
    let mut shell = support::required("sh");
    shell.args(["-c", script]).current_dir(stage.folder.path()).env("castore", support::program());
    let output = shell.output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("out.pem changed while it was worked on"), "{}", text(&output));
    assert_eq!(fs::read_to_string(stage.at("out.pem")).unwrap(), stage.alpha.pem() + "# changed\n");
}
