//! What the report says that each family of programs opens and parses, against the libraries themselves: `strace` counts
//! what they open, and they say how much they have loaded.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const AT: &str = "2026-11-30";

/// The rows of a report, by family and layout.
fn costs(command: &mut Command) -> BTreeMap<(String, String), Value> {
    let output = command.output().expect("castore starts");
    assert!(output.status.success(), "{}", support::complaint(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let word = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    let rows = report["cost"].as_array().unwrap().iter();
    rows.map(|row| ((word(row, "family"), word(row, "layout")), row.clone())).collect()
}

fn audit(store: &Path) -> BTreeMap<(String, String), Value> {
    costs(support::castore().args(["audit", "--format", "json", "--at", AT]).arg(store))
}

fn number(costs: &BTreeMap<(String, String), Value>, family: &str, layout: &str, field: &str) -> u64 {
    let row = costs.get(&(family.to_owned(), layout.to_owned()));
    row.unwrap_or_else(|| panic!("no row for {family}, {layout}"))[field].as_u64().unwrap()
}

fn python(script: &str, arguments: &[&Path]) -> u64 {
    let output =
        support::required("python3").args(["-I", "-c", script]).args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{}", support::complaint(&output));
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

/// How many certificates GnuTLS has of a file or a directory.
fn gnutls_loads(what: &str, path: &Path) -> u64 {
    let script = format!(
        "import ctypes, sys, os\n\
         gnutls = ctypes.CDLL('libgnutls.so.30')\n\
         credentials = ctypes.c_void_p()\n\
         gnutls.gnutls_certificate_allocate_credentials(ctypes.byref(credentials))\n\
         print(gnutls.gnutls_certificate_set_x509_trust_{what}(credentials, os.fsencode(sys.argv[1]), 1))"
    );
    python(&script, &[path])
}

/// How many certificates a default context of Python has before its first handshake.
fn openssl_loads(file: &Path, directory: &Path) -> u64 {
    let script = "import ssl, sys, os\n\
         os.environ['SSL_CERT_FILE'], os.environ['SSL_CERT_DIR'] = sys.argv[1:]\n\
         print(len(ssl.create_default_context().get_ca_certs()))";
    python(script, &[file, directory])
}

/// How many files below a directory a program opens that reads the store of the two variables; `None` where nothing may
/// be traced here.
fn opened(program: &Path, file: &Path, directory: &Path) -> Option<u64> {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let output = support::required("strace")
        .args(["-f", "-qq", "-s", "4096", "-e", "trace=open,openat", "-o"])
        .arg(&log)
        .arg(program)
        .env("SSL_CERT_FILE", file)
        .env("SSL_CERT_DIR", directory)
        .output()
        .expect("strace starts");
    if !output.status.success() && !support::in_ci() {
        let _ = writeln!(std::io::stderr(), "skipped: strace may not trace here");
        return None;
    }
    assert!(output.status.success(), "{}", support::complaint(&output));
    let log = fs::read_to_string(&log).unwrap();
    let start = format!("\"{}/", directory.display());
    let files = log.lines().filter(|line| line.contains(&start) && !line.contains("O_DIRECTORY"));
    Some(files.filter(|line| !line.contains(" = -1 ")).count() as u64)
}

#[test]
fn families_read_what_the_report_says() {
    if support::skip_without(&["python3", "certtool", "strace"]) {
        return;
    }
    let Some(store) = support::stock_store() else { return };
    let bundle = store.join("ca-certificates.crt");
    let costs = audit(&store);
    let now = |family: &str, field: &str| number(&costs, family, "now", field);
    assert_eq!(gnutls_loads("dir", &store), now("libcurl-gnutls", "certificates"));
    assert_eq!(gnutls_loads("file", &bundle), now("gnutls", "certificates"));
    assert_eq!(openssl_loads(&bundle, &store), now("openssl-defaults", "certificates"));
    assert_eq!(openssl_loads(&bundle, Path::new("/nonexistent")), now("named-file", "certificates"));
    if let Some(files) = opened(support::rustls_oracle(), &bundle, &store) {
        assert_eq!(files, now("rustls-native-certs", "files"));
    }
    for version in ["1.19", "1.27"] {
        let Some(mut go) = support::go(version) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("pool");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/models/go");
        let output = go
            .env("GO111MODULE", "off")
            .env("GOFLAGS", "")
            .args(["build", "-o"])
            .arg(&program)
            .arg("main.go")
            .current_dir(source)
            .output()
            .expect("go starts");
        assert!(output.status.success(), "{}", support::complaint(&output));
        if let Some(files) = opened(&program, &bundle, &store) {
            assert_eq!(files, now("go", "files"), "Go {version}");
        }
    }
}

/// A directory that castore has written, with its bundle inside, is what the report said that it would be.
#[test]
fn compact_leaves_what_the_report_said() {
    if support::skip_without(&["python3", "certtool"]) {
        return;
    }
    let Some(store) = support::stock_store() else { return };
    let said = audit(&store);
    let folder = tempfile::tempdir().unwrap();
    let written = folder.path().join("certs");
    let output = support::castore()
        .args(["compact", "--at", AT])
        .arg(&store)
        .arg("--capath")
        .arg(&written)
        .arg("--bundle")
        .arg(folder.path().join("ca-certificates.crt"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", support::complaint(&output));
    fs::rename(folder.path().join("ca-certificates.crt"), written.join("ca-certificates.crt")).unwrap();
    assert_eq!(gnutls_loads("dir", &written), number(&said, "libcurl-gnutls", "compacted", "certificates"));
    let bundle = written.join("ca-certificates.crt");
    assert_eq!(gnutls_loads("file", &bundle), number(&said, "gnutls", "compacted", "certificates"));
    assert_eq!(
        openssl_loads(&bundle, &written),
        number(&said, "openssl-defaults", "compacted", "certificates")
    );
    for ((family, layout), row) in audit(&written) {
        if layout == "now" {
            for field in ["files", "certificates", "unique"] {
                let said = number(&said, &family, "compacted", field);
                assert_eq!(row[field].as_u64(), Some(said), "{family}: {field}");
            }
        }
    }
}

/// Without OpenSSL's default file nothing is parsed before it is needed: older Debian and Ubuntu, and tuned machines.
#[test]
fn nothing_is_eager_without_the_default_file() {
    if support::skip_without(&["python3"]) {
        return;
    }
    let Some(store) = support::stock_store() else { return };
    let gone = Path::new("/nonexistent");
    assert_eq!(openssl_loads(gone, &store), 0);
    let Some(image) = support::stock_image() else { return };
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    support::copy_tree(&image, &root);
    let both = costs(support::castore().args(["audit", "--format", "json", "--at", AT, "--root"]).arg(&root));
    fs::remove_file(root.join("usr/lib/ssl/cert.pem")).unwrap();
    let absent =
        costs(support::castore().args(["audit", "--format", "json", "--at", AT, "--root"]).arg(&root));
    for (costs, eager) in [(&both, true), (&absent, false)] {
        let all = number(costs, "named-file", "now", "certificates");
        assert!(all > 100);
        assert_eq!(number(costs, "openssl-defaults", "now", "certificates"), if eager { all } else { 0 });
        assert_eq!(number(costs, "gnutls", "now", "certificates"), all);
        let row = &costs[&("openssl-defaults".to_owned(), "now".to_owned())];
        assert_eq!(row["on_demand"], Value::Bool(true));
        assert_eq!(costs.contains_key(&("openssl-defaults".to_owned(), "split".to_owned())), eager);
    }
}

/// The variables of OpenSSL say what its defaults are, where no path is named.
#[test]
fn variables_move_the_defaults() {
    let Some(store) = support::stock_store() else { return };
    let bundle = store.join("ca-certificates.crt");
    let costs_with = |file: &Path, directory: &Path| {
        let mut command = support::castore();
        command.args(["audit", "--format", "json", "--at", AT]);
        costs(command.env("SSL_CERT_FILE", file).env("SSL_CERT_DIR", directory))
    };
    let eager = costs_with(&bundle, &store);
    assert_eq!(number(&eager, "openssl-defaults", "now", "certificates"), openssl_loads(&bundle, &store));
    let folder = tempfile::tempdir().unwrap();
    let one = folder.path().join("one.pem");
    let block = support::certificate_blocks(&fs::read(&bundle).unwrap()).swap_remove(0);
    fs::write(&one, block).unwrap();
    let stub = costs_with(&one, &store);
    assert_eq!(number(&stub, "openssl-defaults", "now", "certificates"), 1);
    assert_eq!(openssl_loads(&one, &store), 1);
}
