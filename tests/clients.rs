//! Real TLS clients accept in every layout that castore makes what they accepted before, and nothing else: asked by
//! `benches/clients/run --accept`, which has the clients, the layouts and the exceptions.

#![allow(
    clippy::disallowed_methods,
    reason = "a test that reads the environment, and says that it is skipped"
)]

mod support;

use std::io::Write as _;
use std::path::Path;

/// Those that the other tests need as well, or that take a moment to install. With RUN_FULL=1 it is all of them.
const QUICK: &str = "python-handshake,python-cafile,python-capath,python-openssl-cafile,openssl,curl,curl-cacert,wget,\
                     gnutls-cli,perl";

#[test]
fn every_client_accepts_what_it_accepted() {
    // Mount namespaces are root's.
    if !rustix::process::geteuid().is_root() {
        assert!(!support::in_ci(), "must be root");
        let _ = writeln!(std::io::stderr(), "skipped: must be root");
        return;
    }
    if support::skip_without(&["python3", "openssl", "unshare", "curl", "wget", "certtool"]) {
        return;
    }
    if support::stock_image().is_none() {
        return;
    }
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/clients/run");
    let mut ask = support::required("python3");
    ask.arg("-B").arg(run).arg(support::program()).args(["--accept", "--check"]);
    ask.env("CASTORE_TEST_MATERIAL", support::material());
    if !support::is_full() {
        ask.args(["--clients", QUICK]);
    } else {
        // The Rust client is built: cargo finds its registry by these.
        for name in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME"] {
            if let Some(value) = std::env::var_os(name) {
                ask.env(name, value);
            }
        }
    }
    let output = ask.output().expect("python3 starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", support::complaint(&output));
    // As many rows as clients were asked for; what is not installed is named, and left out.
    let rows = said.lines().filter(|line| line.starts_with("| ")).count();
    let asked = if support::is_full() { 24 } else { QUICK.split(',').count() };
    assert_eq!(rows, asked + 1, "{said}{}", support::complaint(&output));
}
