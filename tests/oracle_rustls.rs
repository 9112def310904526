//! What a program on rustls loads of a file: the model against rustls-native-certs and rustls themselves, on every
//! input. `tests/oracle/rustls` is that program, a project of its own.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use std::path::Path;
use std::process::Command;

use castore::readers::rustls;
use support::inputs::{self, Answer};

/// Where the model is not the library: name of the input, and why.
const DEVIATIONS: &[(&str, &str)] = &[];

fn model(bytes: &[u8]) -> Answer {
    let reading = rustls::read(bytes);
    Answer {
        loads: reading.loads.iter().map(|loaded| loaded.fingerprint.to_string()).collect(),
        refused: reading.refused.is_some(),
    }
}

#[test]
fn the_model_is_rustls() {
    let Some(inputs) = inputs::inputs() else { return };
    let target = support::material().join("rustls");
    // In cargo's own environment: registry, proxies and toolchain are its matter.
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/rustls/Cargo.toml"))
        .env("CARGO_TARGET_DIR", &target)
        .output()
        .expect("cargo starts");
    assert!(built.status.success(), "{}", support::complaint(&built));
    let folder = tempfile::tempdir().unwrap();
    let list = inputs::lay_out(&inputs, folder.path());
    let output =
        support::at(&target.join("debug/castore-oracle-rustls")).arg(list).output().expect("it starts");
    assert!(output.status.success(), "{}", support::complaint(&output));
    let answers = inputs::answers(&output.stdout, &inputs);
    inputs::compare("rustls", &inputs, &answers, model, DEVIATIONS);
}
