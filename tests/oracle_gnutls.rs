//! What GnuTLS loads of a file: the model against libgnutls itself, on every input.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use std::path::Path;

use castore::readers::gnutls;
use support::inputs::{self, Answer};

/// Where the model is not the library: name of the input, and why.
const DEVIATIONS: &[(&str, &str)] = &[];

#[test]
fn the_model_is_libgnutls() {
    // The library comes with certtool's package.
    if support::skip_without(&["python3", "certtool"]) {
        return;
    }
    let Some(inputs) = inputs::inputs() else { return };
    let folder = tempfile::tempdir().unwrap();
    let list = inputs::lay_out(&inputs, folder.path());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/gnutls.py");
    let output =
        support::required("python3").arg("-I").arg(script).arg(list).output().expect("python3 starts");
    assert!(output.status.success(), "{}", support::complaint(&output));
    let answers = inputs::answers(&output.stdout, &inputs);
    inputs::compare("GnuTLS", &inputs, &answers, |bytes| Answer::of(&gnutls::read(bytes)), DEVIATIONS);
}
