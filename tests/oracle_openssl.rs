//! What OpenSSL loads of a file: the model against libssl itself, the system's and those inside the wheels of PyPI's
//! `cryptography`, on every input. Python's `ssl` is asked in the same run as the system's libcrypto.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use castore::der;
use castore::pem::decode::decode;
use castore::pem::scan::scan;
use castore::readers::openssl::{self, Version};
use support::inputs::{self, Answer};

/// Where the model differs on purpose: input, reason.
const DEVIATIONS: &[(&str, &str)] = &[];

/// SHA-256 of the TBSCertificate of the block at an offset.
fn tbs_certificate(bytes: &[u8], offset: usize) -> Option<String> {
    let block = scan(bytes).find(|block| block.span().start == offset)?;
    let der = decode(bytes, &block).der;
    let tbs = der::Reader::new(der::content(&der).ok()?).any().ok()?;
    Some(support::sha256_hex(tbs.raw))
}

/// The version that is modelled, of one that is installed.
fn modelled(name: &str) -> Version {
    let number = name.strip_prefix("OpenSSL ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    let mut parts = number.split('.').map_while(|part| part.parse::<u32>().ok());
    match (parts.next(), parts.next()) {
        (Some(1), _) => Version::V1_1_1,
        (Some(3), Some(0..=2)) => Version::V3_0,
        (Some(3), _) => Version::V3_5,
        _ => Version::V4_0,
    }
}

/// `beginning` is that of the version's name; `wheel` is where it lies.
fn hold(beginning: &str, wheel: Option<&str>) {
    if support::skip_without(&["python3"]) {
        return;
    }
    let Some(inputs) = inputs::inputs() else { return };
    let folder = tempfile::tempdir().unwrap();
    let list = inputs::lay_out(&inputs, folder.path());
    let mut command = support::required("python3");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/openssl.py")).arg(list);
    if let Some(wheel) = wheel {
        let Some(packages) = support::material_at(&format!("openssl/{wheel}")) else { return };
        command.env("PYTHONPATH", packages).arg("wheel");
    }
    let output = command.output().expect("python3 starts");
    assert!(output.status.success(), "{}", support::complaint(&output));
    let end = output.stdout.iter().position(|&byte| byte == b'\n').expect("a line with the version");
    let name = String::from_utf8_lossy(&output.stdout[..end]).into_owned();
    assert!(name.starts_with(beginning), "{name} is not {beginning}");
    let version = modelled(&name);
    let mut answers = inputs::answers(&output.stdout[end + 1..], &inputs);
    // An outer algorithm or signature that is not DER: i2d_X509 writes it anew, and the certificate is the same.
    for (input, answer) in inputs.iter().zip(&mut answers) {
        let reading = openssl::read(&input.bytes, version);
        let ours: BTreeSet<String> = Answer::of(&reading).loads;
        let same = |inner: &str| {
            let mut others = reading.loads.iter().filter(|loaded| {
                tbs_certificate(&input.bytes, loaded.offset).is_some_and(|digest| digest == inner)
            });
            others.next().map(|loaded| loaded.fingerprint.to_string())
        };
        answer.loads = std::mem::take(&mut answer.loads)
            .iter()
            .map(|pair| {
                let (outer, inner) = pair.split_once(':').expect("two digests");
                if ours.contains(outer) { outer.to_owned() } else { same(inner).unwrap_or(outer.to_owned()) }
            })
            .collect();
    }
    inputs::compare(&name, &inputs, &answers, |bytes| Answer::of(&openssl::read(bytes, version)), DEVIATIONS);
}

#[test]
fn the_systems_own_and_python() {
    hold("OpenSSL ", None);
}

#[test]
fn openssl_1_1_1() {
    hold("OpenSSL 1.1.1l", Some("1.1.1l"));
}

#[test]
fn openssl_3_0_7() {
    hold("OpenSSL 3.0.7", Some("3.0.7"));
}

#[test]
fn openssl_3_1() {
    hold("OpenSSL 3.1.4", Some("3.1.4"));
}

#[test]
fn openssl_3_2() {
    hold("OpenSSL 3.2.2", Some("3.2.2"));
}

#[test]
fn openssl_3_5() {
    hold("OpenSSL 3.5.6", Some("3.5.6"));
}

#[test]
fn openssl_4_0() {
    hold("OpenSSL 4.0.3", Some("4.0.3"));
}
