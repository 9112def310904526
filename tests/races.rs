//! Twenty writers at once with readers at the store, and castore beside `update-ca-certificates`, by `benches/races`; files
//! that change and vanish under the scan.
#![allow(clippy::disallowed_methods, reason = "a test that writes files")]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use support::der::Certificate;

#[test]
fn writers_at_once_and_readers() {
    if support::skip_without(&["python3", "openssl", "update-ca-certificates"])
        || support::stock_image().is_none()
    {
        return;
    }
    let races = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/races");
    let mut run = support::required("python3");
    run.arg("-B").arg(races).arg(support::program()).env("CASTORE_TEST_MATERIAL", support::material());
    if !support::is_full() {
        run.args(["--polls", "3000"]);
    }
    let output = run.output().expect("python3 starts");
    assert!(output.status.success(), "{}", support::complaint(&output));
}

/// A reader takes what is there: no file that comes, goes, grows or changes its kind under it ends a run without an
/// answer, or makes it panic.
#[test]
fn files_that_change_under_the_scan() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("d");
    fs::create_dir(&store).unwrap();
    let certificates: Vec<Vec<u8>> =
        (0..8).map(|key| Certificate::root(&format!("Castore {key}"), key).pem().into_bytes()).collect();
    for (number, pem) in certificates.iter().enumerate() {
        fs::write(store.join(format!("{number}.pem")), pem).unwrap();
    }
    let stop = AtomicBool::new(false);
    let runs = if support::is_full() { 600 } else { 60 };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut turn = 0_usize;
            while !stop.load(Ordering::Relaxed) {
                turn += 1;
                let path = store.join(format!("{}.pem", turn % 8));
                let _ = fs::remove_file(&path);
                let _ = match turn % 7 {
                    0 => symlink("nothing", &path),
                    1 => fs::create_dir(&path).and_then(|()| fs::remove_dir(&path)),
                    2 => symlink(&path, &path),
                    3 => fs::write(&path, &certificates[turn % 8][..200]),
                    _ => fs::write(&path, &certificates[turn % 8]),
                };
            }
        });
        for _ in 0..runs {
            let mut audit = support::castore();
            let output = audit.args(["audit", "--format", "json"]).arg(&store).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}", support::complaint(&output));
            let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert!(report["summary"]["certificates"].as_u64().unwrap() <= 8);
            for command in
                [&["rehash", "d"][..], &["compact", "d", "--bundle", "out.pem", "--gain", "accept"]]
            {
                let output = support::castore().current_dir(folder.path()).args(command).output().unwrap();
                // Refused, since it changes all the time, or done; nothing else.
                assert!(matches!(output.status.code(), Some(0 | 2)), "{}", support::complaint(&output));
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}
