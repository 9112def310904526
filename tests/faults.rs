//! Every command that writes, killed at its system calls and with errors for them, one a run, by `benches/faults`: what is
//! left is the old store or the new one, or whole in between, and the next run finishes. With `RUN_FULL=1` every call.

mod support;

use std::path::Path;

#[test]
fn a_killed_or_failed_write_leaves_a_whole_store() {
    if support::skip_without(&["python3", "openssl", "strace", "dpkg-divert"]) {
        return;
    }
    let faults = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/faults");
    let mut run = support::required("python3");
    run.arg("-B").arg(faults).arg(support::program()).arg("--check");
    if !support::is_full() {
        run.args(["--every", "40"]);
    }
    let output = run.output().expect("python3 starts");
    assert!(output.status.success(), "{}", support::complaint(&output));
    // A row for each command, and the head of the table.
    let table = String::from_utf8_lossy(&output.stdout);
    assert_eq!(table.lines().filter(|line| line.starts_with("| ")).count(), 10, "{table}");
}
