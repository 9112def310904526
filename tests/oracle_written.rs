//! Whatever goes in: what `castore compact` writes is loaded whole by OpenSSL, the oldest and the newest, and by GnuTLS.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::in_two_threads;
use support::inputs::{self, Answer, Input};

fn oracle(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle").join(name)
}

/// What an oracle says of files, its first lines left out.
fn ask(mut command: Command, heading: usize, written: &[Input]) -> Vec<Answer> {
    let output = command.output().expect("python3 starts");
    assert!(output.status.success(), "{}", support::complaint(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: String = text.lines().skip(heading).map(|line| format!("{line}\n")).collect();
    let mut answers = inputs::answers(lines.as_bytes(), written);
    for answer in &mut answers {
        // The digest of the whole certificate, where there are two.
        answer.loads = answer.loads.iter().map(|print| print.split(':').next().unwrap().to_owned()).collect();
    }
    answers
}

#[test]
fn what_is_written_loads_everywhere() {
    if support::skip_without(&["python3", "certtool"]) {
        return;
    }
    let (Some(inputs), Some(newest), Some(oldest)) =
        (inputs::mutated(), support::material_at("openssl/4.0.3"), support::material_at("openssl/1.1.1l"))
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let list = inputs::lay_out(&inputs, folder.path());
    let paths: Vec<PathBuf> = fs::read_to_string(list).unwrap().lines().map(PathBuf::from).collect();
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let bundles = in_two_threads(&paths, |number, path| {
        let bundle = out.join(format!("{number:05}.crt"));
        let output = support::castore()
            .args(["compact", "--quiet", "--at", "2026-11-30", "--expired", "keep", "--malformed", "drop"])
            .arg(path)
            .arg("--bundle")
            .arg(&bundle)
            .output()
            .expect("castore starts");
        // Nothing left is a refusal, and then there is no file.
        let status = output.status.code();
        assert!(matches!(status, Some(0 | 2)), "{}: {}", path.display(), support::complaint(&output));
        assert_eq!(status == Some(0), bundle.exists(), "{}", path.display());
        (status == Some(0)).then_some(bundle)
    });
    let mut written = Vec::new();
    for (input, bundle) in inputs.iter().zip(bundles) {
        if let Some(bundle) = bundle {
            written.push(Input { name: input.name.clone(), bytes: fs::read(bundle).unwrap() });
        }
    }
    assert!(written.len() > inputs.len() / 2, "{} of {} were written", written.len(), inputs.len());
    let target = folder.path().join("again");
    fs::create_dir(&target).unwrap();
    let list = inputs::lay_out(&written, &target);

    let openssl = |packages: Option<&Path>| {
        let mut command = support::required("python3");
        command.arg(oracle("openssl.py")).arg(&list);
        if let Some(packages) = packages {
            command.env("PYTHONPATH", packages).arg("wheel");
        }
        ask(command, 1, &written)
    };
    let mut gnutls = support::required("python3");
    gnutls.arg("-I").arg(oracle("gnutls.py")).arg(&list);
    for (library, answers) in [
        ("the system's OpenSSL", openssl(None)),
        ("OpenSSL 4.0.3", openssl(Some(&newest))),
        ("OpenSSL 1.1.1l", openssl(Some(&oldest))),
        ("GnuTLS", ask(gnutls, 0, &written)),
    ] {
        for (input, answer) in written.iter().zip(answers) {
            let blocks = support::certificate_blocks(&input.bytes);
            assert!(!answer.refused, "{library} refuses what was written of {}", input.name);
            assert_eq!(answer.loads.len(), blocks.len(), "{library}, {}", input.name);
        }
    }
}
