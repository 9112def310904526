//! What [`castore::readers::go`] says that Go loads of a file is what Go loads: the real `crypto/x509` of Go 1.19 and
//! of Go 1.27 (`tests/oracle/go`) reads every input.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use std::path::{Path, PathBuf};

use castore::readers::go::{self, Version};
use support::inputs::{self, Answer, Input};
use support::mutate::Dice;

/// Where the model is otherwise than Go: input, why. None is.
const DEVIATIONS: &[(&str, &str)] = &[];

/// Each Go, and the version of the model that is held to it.
const VERSIONS: [(&str, Version); 2] = [("1.19", Version::Go1_19), ("1.27", Version::Go1_27)];

/// The oracle for a Go, built in `folder`; `None` where that Go is missing.
fn oracle(number: &str, folder: &Path) -> Option<PathBuf> {
    let mut go = support::go(number)?;
    let program = folder.join("oracle");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/go");
    let output =
        go.args(["build", "-o"]).arg(&program).arg(".").current_dir(source).output().expect("go starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

fn compare(inputs: &[Input]) {
    for (number, version) in VERSIONS {
        let folder = tempfile::tempdir().unwrap();
        let Some(oracle) = oracle(number, folder.path()) else { continue };
        let list = inputs::lay_out(inputs, folder.path());
        let output = support::at(&oracle).arg(list).output().expect("the oracle starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answers = inputs::answers(&output.stdout, inputs);
        let model = |bytes: &[u8]| {
            let reading = go::read(bytes, version);
            Answer {
                loads: reading.loads.iter().map(|loaded| loaded.fingerprint.to_string()).collect(),
                refused: reading.refused.is_some(),
            }
        };
        inputs::compare(&format!("Go {number}"), inputs, &answers, model, DEVIATIONS);
    }
}

#[test]
fn the_model_loads_what_go_loads() {
    let Some(inputs) = inputs::inputs() else { return };
    compare(&inputs);
}

/// Lines of frames in any order: what Go makes of boundaries that do not fit is hard to think of.
#[test]
fn the_model_frames_as_go_does() {
    let Some(bundle) = support::certifi().pop() else { return };
    let bundle = std::fs::read(bundle.1).unwrap();
    let ders: Vec<Vec<u8>> =
        support::certificate_blocks(&bundle).iter().take(3).map(|block| support::block_der(block)).collect();
    let bodies: Vec<String> = ders
        .iter()
        .map(|der| {
            let block = support::der::pem("CERTIFICATE", der);
            block.lines().filter(|line| !line.starts_with('-')).map(|line| format!("{line}\n")).collect()
        })
        .collect();
    let lines: &[&str] = &[
        "-----BEGIN CERTIFICATE-----",
        "-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----",
        "-----END CERTIFICATE-----",
        "-----BEGIN A-----",
        "-----END A-----",
        "-----BEGIN A: -----",
        "-----END A: -----",
        "-----BEGIN -----",
        "-----END -----",
        "-----BEGIN CERTIFICATE",
        "-----END CERTIFICATE",
        "-----BEGIN ",
        "-----END ",
        "name: value",
        "AAAA",
        "=",
        ":",
        "",
    ];
    let mut dice = Dice::new(3);
    let inputs: Vec<Input> = (0..inputs::mutations() * 5)
        .map(|number| {
            let mut text = String::new();
            for _ in 0..1 + dice.roll(12) {
                match dice.roll(6) {
                    0 | 1 => {
                        let body = dice.pick(&bodies);
                        text.push_str(&format!(
                            "-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----"
                        ));
                    }
                    2 => text.push_str(dice.pick(&bodies).as_str()),
                    _ => text.push_str(*dice.pick(lines)),
                }
                text.push_str(*dice.pick(&["\n", "\n", "\n", "\n", "\r\n", " \n", "\n\n", "", "\r", "x"]));
            }
            Input { name: format!("frames/{number}"), bytes: text.into_bytes() }
        })
        .collect();
    compare(&inputs);
}
