//! `castore measure`: what it says of the machine's libssl, of libraries that are none, and of such that break; and that
//! nothing of that takes the program down. No time is held to a value here: `benches/measure_verdicts.py` does that.
#![cfg(feature = "cli")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that makes files and runs the program"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use support::der::Certificate;

struct Ran {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run_with(command: &mut Command) -> Ran {
    let output = command.output().expect("castore starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("output is UTF-8");
    Ran { status: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// `castore measure`, few runs: nobody looks at the times.
fn measure(arguments: &[&str]) -> Ran {
    run_with(support::castore().args(["measure", "--runs", "2"]).args(arguments))
}

/// The JSON report of a run that has one, which is what the schema says.
fn report(arguments: &[&str]) -> Value {
    let ran = measure(&[&["--format", "json"], arguments].concat());
    assert_eq!(ran.status, Some(0), "{arguments:?}: {}", ran.stderr);
    let report = valid(&ran.stdout, arguments);
    assert_eq!((&report["command"], &report["cost"]), (&"measure".into(), &Value::Array(Vec::new())));
    report
}

/// A report that is what the schema says.
fn valid(text: &str, arguments: &[&str]) -> Value {
    let report = serde_json::from_str(text).expect("the report is JSON");
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/castore.report-1.json");
    let schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).expect("the schema is one");
    let wrong: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{arguments:?}: {wrong:?}");
    report
}

/// Status 2, nothing on standard output, and these words on standard error.
#[track_caller]
fn refuses(ran: &Ran, words: &[&str]) {
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with("castore: error: ") || ran.stderr.starts_with("error: "),
        "{}",
        ran.stderr
    );
    for word in words {
        assert!(ran.stderr.contains(word), "{word:?} is not in {:?}", ran.stderr);
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the path is UTF-8")
}

/// A directory with `ca.pem` (two certificates) and a CApath `d` with a link for each.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (alpha, bravo) = (Certificate::root("Alpha Root", 1), Certificate::root("Bravo Root", 2));
    fs::write(folder.path().join("ca.pem"), alpha.pem() + &bravo.pem()).unwrap();
    fs::create_dir(folder.path().join("d")).unwrap();
    fs::write(folder.path().join("d/alpha.pem"), alpha.pem()).unwrap();
    fs::write(folder.path().join("d/bravo.pem"), bravo.pem()).unwrap();
    let made = support::castore().args(["rehash", "-q"]).arg(folder.path().join("d")).status().unwrap();
    assert!(made.success());
    folder
}

// ---- The machine's library ---------------------------------------------------------------------------------------

/// How many certificates OpenSSL finds in a file.
fn openssl_counts(file: &Path) -> Option<u64> {
    let output = support::tool("openssl")?.args(["storeutl", "-noout", "-certs"]).arg(file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(text.lines().find_map(|line| line.strip_prefix("Total found: ")).expect("a total").parse().unwrap())
}

#[test]
fn the_library_and_the_number_of_certificates_are_what_openssl_says() {
    let Some(image) = support::stock_root() else { return };
    let bundle = image.join("etc/ssl/certs/ca-certificates.crt");
    let Some(number) = openssl_counts(&bundle) else { return };
    let report = report(&[text(&bundle)]);
    let measured = &report["measure"];
    let store = &measured["stores"][0];
    assert_eq!((&store["certificates"], &store["blocks"]), (&number.into(), &number.into()));
    assert_eq!((&store["context"]["runs"], &store["look_up"]["runs"]), (&2.into(), &2.into()));
    let version = support::required("openssl").arg("version").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let library = measured["library"]["version"].as_str().unwrap();
    // `OpenSSL 3.0.19 27 Jan 2026 (Library: OpenSSL 3.0.19 27 Jan 2026)`
    assert!(version.contains(library), "{version} is not of {library}");
    let file = measured["library"]["libssl"].as_str().unwrap();
    assert!(file.starts_with('/') && file.contains("libssl.so"), "{file}");
    let file = measured["library"]["libcrypto"].as_str().unwrap();
    assert!(file.starts_with('/') && file.contains("libcrypto.so"), "{file}");
    assert_eq!(report["summary"]["certificates"], number);
}

#[test]
fn each_certificate_twice_is_parsed_twice_and_kept_once() {
    let folder = folder();
    let (one, two) = (folder.path().join("ca.pem"), folder.path().join("two.pem"));
    fs::write(&two, fs::read_to_string(&one).unwrap().repeat(2)).unwrap();
    let report = report(&[text(&one), "--vs", text(&two)]);
    let stores = &report["measure"]["stores"];
    assert_eq!((&stores[0]["certificates"], &stores[0]["blocks"]), (&2.into(), &2.into()));
    assert_eq!((&stores[1]["certificates"], &stores[1]["blocks"]), (&2.into(), &4.into()));
    // Two pairs are none too many.
    let comparison = &report["measure"]["comparisons"][0];
    assert_eq!((&comparison["verdict"], &comparison["pairs"]), (&"too-few-runs".into(), &2.into()));
    assert_eq!((&comparison["store"], &comparison["vs"]), (&0.into(), &1.into()));
    let ran = measure(&[text(&one), "--vs", text(&two)]);
    assert!(ran.stdout.contains("B against A: undecided, too few runs"), "{}", ran.stdout);
    assert!(ran.stdout.contains("2 certificates in memory, of 4 parsed"), "{}", ran.stdout);
}

#[test]
fn a_file_is_a_cafile_and_a_directory_a_capath() {
    let folder = folder();
    let (file, directory) = (folder.path().join("ca.pem"), folder.path().join("d"));
    let report_of = |word: &str| report(&[word])["measure"]["stores"][0].clone();
    let store = report_of(text(&file));
    assert_eq!((&store["cafile"], &store["capath"]), (&text(&file).into(), &Value::Null));
    assert!(store["look_up"].is_object());
    let store = report_of(text(&directory));
    assert_eq!((&store["cafile"], &store["capath"]), (&Value::Null, &text(&directory).into()));
    // Nothing is parsed before the look-up, and that finds a link.
    assert_eq!((&store["certificates"], &store["blocks"]), (&0.into(), &Value::Null));
    assert!(store["look_up"].is_object());
    // As OpenSSL's defaults on Debian: the bundle inside, and the directory.
    let bundle = directory.join("ca-certificates.crt");
    fs::copy(&file, &bundle).unwrap();
    let store = report_of(text(&directory));
    assert_eq!((&store["cafile"], &store["capath"]), (&text(&bundle).into(), &text(&directory).into()));
    assert_eq!(store["certificates"], 2);
    let words = format!("  {}: CAfile ca-certificates.crt, CApath, 2 certificates parsed", text(&directory));
    let ran = measure(&[text(&directory)]);
    assert!(ran.stdout.contains(&words), "{}", ran.stdout);
    let alone = format!("capath:{}", text(&directory));
    let store = report_of(&alone);
    assert_eq!((&store["path"], &store["cafile"]), (&alone.as_str().into(), &Value::Null));
    assert_eq!(store["certificates"], 0);
    let store = report_of(&format!("cafile:{}", text(&bundle)));
    assert_eq!((&store["cafile"], &store["capath"]), (&text(&bundle).into(), &Value::Null));
    // Every STORE is a row of its own.
    let report = report(&[text(&file), text(&directory), "--vs", &alone]);
    assert_eq!(report["measure"]["stores"].as_array().unwrap().len(), 3);
    let pairs: Vec<_> = report["measure"]["comparisons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["store"].as_u64(), row["vs"].as_u64()))
        .collect();
    assert_eq!(pairs, [(Some(0), Some(2)), (Some(1), Some(2))]);
}

#[test]
fn a_directory_without_links_is_measured_and_said_to_be_dead() {
    let folder = folder();
    let directory = folder.path().join("plain");
    fs::create_dir(&directory).unwrap();
    fs::copy(folder.path().join("ca.pem"), directory.join("some.pem")).unwrap();
    let ran = measure(&[text(&directory)]);
    assert_eq!(ran.status, Some(0));
    assert!(ran.stderr.contains("has no hash link: no look-up finds anything there"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("look-up"), "{}", ran.stdout);
    let ran = measure(&["--quiet", text(&directory)]);
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", ""));
}

#[test]
fn without_a_store_what_openssl_would_use() {
    let folder = folder();
    let (file, directory) = (folder.path().join("ca.pem"), folder.path().join("d"));
    let run = |file: &str, directory: &str| {
        let mut command = support::castore();
        command.args(["measure", "--runs", "2", "--format", "json"]);
        run_with(command.env("SSL_CERT_FILE", file).env("SSL_CERT_DIR", directory))
    };
    let gone = folder.path().join("gone");
    let list = format!("{}:{}", text(&gone), text(&directory));
    let ran = run(text(&file), &list);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("measuring") && ran.stderr.contains("SSL_CERT_FILE"), "{}", ran.stderr);
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let store = &report["measure"]["stores"][0];
    assert_eq!(store["path"], Value::Null);
    assert_eq!((&store["cafile"], &store["capath"]), (&text(&file).into(), &list.as_str().into()));
    // What is not there is passed over, as OpenSSL does, and named.
    let ran = run(text(&gone), text(&directory));
    assert!(
        ran.stderr.contains(&format!("nothing to load: {}: SSL_CERT_FILE", text(&gone))),
        "{}",
        ran.stderr
    );
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(report["measure"]["stores"][0]["cafile"], Value::Null);
    // Nor is one a file, the other a directory.
    for (file, directory) in [(text(&gone), text(&gone)), (text(&directory), text(&file))] {
        let ran = run(file, directory);
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
        assert!(ran.stderr.contains("castore: error: no STORE is named"), "{}", ran.stderr);
    }
}

#[test]
fn a_store_that_openssl_refuses_has_no_cost() {
    let folder = folder();
    let whole = fs::read_to_string(folder.path().join("ca.pem")).unwrap();
    let file = folder.path().join("bad.pem");
    fs::write(&file, whole.clone() + "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n")
        .unwrap();
    refuses(&measure(&[text(&file)]), &["loads nothing from", "bad.pem", "base64", "castore audit"]);
    fs::write(&file, "nothing\n").unwrap();
    refuses(&measure(&[text(&file)]), &["loads nothing from", "bad.pem"]);
    // Beside a good one as well.
    refuses(&measure(&[text(&folder.path().join("ca.pem")), "--vs", text(&file)]), &["bad.pem"]);
}

#[test]
fn what_cannot_be_measured_is_said() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path("fifo"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    fs::create_dir(path("a:b")).unwrap();
    for (arguments, words) in [
        (&["-"][..], &["standard input"][..]),
        (&[&path("gone")], &["cannot read", "gone"]),
        (&[&path("ca.pem"), "--vs", &path("gone")], &["cannot read", "gone"]),
        (&[&path("fifo")], &["fifo", "neither a regular file nor a directory"]),
        (&[&path("a:b")], &["colon"]),
        (&[&format!("cafile:{}", path("d"))], &["is a directory"]),
        (&[&format!("capath:{}", path("ca.pem"))], &["is not a directory"]),
        (&["--key", &path("gone")], &["cannot read", "gone"]),
        (&["--key", &path("fifo")], &["fifo", "not a regular file"]),
        (&["--key", &path("d")], &["not a regular file"]),
    ] {
        refuses(&measure(arguments), words);
    }
    for arguments in [&["--runs", "0"][..], &["--time-limit", "0s"], &["--time-limit", "5"], &["--nope"]] {
        refuses(&run_with(support::castore().args(["measure", &path("ca.pem")]).args(arguments)), &[]);
    }
}

// ---- Other libraries ---------------------------------------------------------------------------------------------

#[test]
fn what_is_no_libssl_is_said() {
    let folder = folder();
    let store = folder.path().join("ca.pem");
    refuses(
        &measure(&[text(&store), "--libssl", "/nonexistent/libssl.so.3"]),
        &["no libssl can be loaded", "/nonexistent/libssl.so.3", "--libssl FILE"],
    );
    refuses(&measure(&[text(&store), "--libssl", text(&store)]), &["no libssl can be loaded", "ca.pem"]);
    refuses(
        &measure(&[text(&store), "--libssl", "libc.so.6"]),
        &["libc.so.6 cannot be measured: it has no function TLS_client_method", "1.1.1"],
    );
}

/// Every function that castore asks for; `TLS_client_method` and an initialiser are the test's own.
const FUNCTIONS: &[&str] = &[
    "SSL_CTX_new",
    "SSL_CTX_free",
    "SSL_CTX_load_verify_locations",
    "SSL_CTX_get_cert_store",
    "X509_STORE_CTX_new",
    "X509_STORE_CTX_init",
    "X509_STORE_CTX_get_by_subject",
    "X509_STORE_CTX_free",
    "X509_OBJECT_new",
    "X509_OBJECT_free",
    "X509_NAME_free",
    "d2i_X509_NAME",
    "BIO_new_file",
    "BIO_free",
    "PEM_read_bio_PrivateKey",
    "EVP_PKEY_free",
    "EVP_PKEY_CTX_new",
    "EVP_PKEY_CTX_free",
    "ERR_get_error",
    "ERR_error_string_n",
    "ERR_clear_error",
    "OpenSSL_version",
];

/// A library with all these functions, which do nothing, and this code.
fn fake(folder: &TempDir, name: &str, method: &str, initialiser: &str) -> Option<PathBuf> {
    let mut source = String::from(
        "#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n",
    );
    for function in FUNCTIONS {
        source += &format!("void *{function}(void) {{ return 0; }}\n");
    }
    source += &format!("void *TLS_client_method(void) {{ {method} return 0; }}\n");
    source += &format!("__attribute__((constructor)) static void start(void) {{ {initialiser} }}\n");
    let (input, output) = (folder.path().join("fake.c"), folder.path().join(name));
    fs::write(&input, source).unwrap();
    let built = support::tool("cc")?
        .args(["-shared", "-fPIC", "-w", "-o"])
        .arg(&output)
        .arg(&input)
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(output)
}

#[test]
fn a_library_that_breaks_takes_nothing_down() {
    let folder = folder();
    let store = folder.path().join("ca.pem");
    let limit = Duration::from_secs(40);
    for (name, method, initialiser, words) in [
        (
            "abort.so",
            "abort();",
            "",
            &["abort.so died by signal 6 (SIGABRT) in a context with", "ca.pem"][..],
        ),
        ("killed.so", "kill(getpid(), SIGKILL);", "", &["killed.so died by signal 9 (SIGKILL)"]),
        ("null.so", "*(volatile int *)0 = 1;", "", &["null.so died by signal 11 (SIGSEGV)"]),
        ("init.so", "", "abort();", &["init.so died by signal 6 (SIGABRT) while it was loaded"]),
        ("exit.so", "_exit(3);", "", &["exit.so ended its process (exit status: 3)"]),
        ("quiet.so", "_exit(0);", "", &["quiet.so ended its process (exit status: 0)"]),
        ("shut.so", "close(1); abort();", "", &["shut.so died by signal 6"]),
        (
            "words.so",
            "fputs(\"first\\nlast words\\033[31m\\n\", stderr); abort();",
            "",
            &["signal 6", "it said: last words\\x1b[31m"],
        ),
        // It makes no context, and no error either; what it prints is no message.
        (
            "noise.so",
            "puts(\"{\\\"Done\\\": null}\\nhello\"); fflush(stdout);",
            "",
            &["noise.so makes no context: no reason given"],
        ),
        (
            "flood.so",
            "for (int i = 0; i < 100000; i++) fputs(\"flood\\n\", stderr);",
            "",
            &["makes no context"],
        ),
        (
            "hang.so",
            "for (;;) pause();",
            "",
            &["no answer from", "hang.so after 2 s in a context with", "--time-limit"],
        ),
        (
            "hanging.so",
            "",
            "for (;;) pause();",
            &["no answer from", "hanging.so after 2 s while it was loaded"],
        ),
    ] {
        let Some(library) = fake(&folder, name, method, initialiser) else { return };
        let start = Instant::now();
        // A busy machine takes its time to start a process: only what hangs is waited for so shortly.
        let time = if name.starts_with("hang") { "2s" } else { "50s" };
        let ran = measure(&[text(&store), "--time-limit", time, "--libssl", text(&library)]);
        assert!(start.elapsed() < limit, "{name}");
        refuses(&ran, words);
        assert!(!ran.stderr.contains('\x1b'), "{name}: {:?}", ran.stderr);
    }
}

#[test]
fn the_child_has_a_clean_environment() {
    let folder = folder();
    let store = folder.path().join("ca.pem");
    let tell = "extern char **environ; int n = 0; while (environ[n]) n++; \
        fprintf(stderr, \"%d variables, LD_LIBRARY_PATH=%s\\n\", n, getenv(\"LD_LIBRARY_PATH\")); abort();";
    let Some(library) = fake(&folder, "libssl.so.3", "", tell) else { return };
    let mut command = support::castore();
    command.args(["measure", text(&store), "--libssl", text(&library)]);
    command
        .env("LD_LIBRARY_PATH", folder.path())
        .env("OPENSSL_CONF", "/dev/null")
        .env("SSL_CERT_FILE", text(&store));
    let words = format!("it said: 1 variables, LD_LIBRARY_PATH={}", text(folder.path()));
    refuses(&run_with(&mut command), &[&words]);
    // That variable says which library is found by name.
    let mut command = support::castore();
    command.args(["measure", text(&store)]).env("LD_LIBRARY_PATH", folder.path());
    refuses(&run_with(&mut command), &[&words]);
}

#[test]
fn no_image_of_a_crash_is_left() {
    let folder = folder();
    let store = folder.path().join("ca.pem");
    let Some(library) = fake(&folder, "abort.so", "abort();", "") else { return };
    let work = tempfile::tempdir().unwrap();
    let mut command = support::tool("sh").expect("a shell");
    let line = "ulimit -c unlimited 2>/dev/null; exec \"$0\" measure \"$1\" --libssl \"$2\"";
    command.args(["-c", line]).arg(support::program()).args([&store, &library]).current_dir(work.path());
    refuses(&run_with(&mut command), &["signal 6"]);
    assert_eq!(support::names_in(work.path()), Vec::<std::ffi::OsString>::new());
}

// ---- Keys --------------------------------------------------------------------------------------------------------

/// Runs `openssl` with these words; it writes into a file that is named among them.
fn openssl(words: &[&str]) -> bool {
    let Some(mut command) = support::tool("openssl") else { return false };
    let output = command.args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn keys_are_loaded_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, words) in [
        ("rsa.pem", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"][..]),
        ("ec.pem", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]),
        ("ed25519.pem", &["-algorithm", "ED25519"]),
    ] {
        let file = path(name);
        if !openssl(&[&["genpkey", "-out", &file], words].concat()) {
            return;
        }
        let report = report(&["--key", &file]);
        let key = &report["measure"]["key"];
        assert_eq!((&key["path"], &key["load"]["runs"]), (&file.as_str().into(), &2.into()));
        assert_eq!((&key["sound"], &key["fault"]), (&true.into(), &Value::Null), "{name}");
        // No store was asked for.
        assert_eq!(report["measure"]["stores"], Value::Array(Vec::new()));
        let ran = measure(&["--key", &file]);
        assert!(ran.stdout.contains("load and check") && !ran.stdout.contains("context"), "{}", ran.stdout);
        let secret = fs::read_to_string(&file).unwrap();
        for line in secret.lines().filter(|line| line.len() > 8) {
            assert!(!(ran.stdout.clone() + &ran.stderr + &report.to_string()).contains(line), "{name}");
        }
    }
    // With a store, both.
    let store = path("ca.pem");
    fs::write(&store, Certificate::root("Alpha Root", 1).pem()).unwrap();
    let report = report(&[&store, "--key", &path("ec.pem")]);
    assert_eq!(report["measure"]["stores"].as_array().unwrap().len(), 1);
    assert!(report["measure"]["key"].is_object());
}

#[test]
fn a_key_that_is_none_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let key = path("key.pem");
    if !openssl(&["genrsa", "-out", &key, "2048"]) {
        return;
    }
    for (name, words) in [
        ("pkcs8.pem", &["pkcs8", "-topk8", "-in", &key, "-passout", "pass:secret", "-out"][..]),
        ("old.pem", &["rsa", "-in", &key, "-aes128", "-traditional", "-passout", "pass:secret", "-out"]),
    ] {
        let file = path(name);
        assert!(openssl(&[words, &[&file]].concat()));
        refuses(&measure(&["--key", &file]), &[name, "is encrypted", "asks for no password"]);
    }
    let file = path("no.pem");
    fs::write(&file, Certificate::root("Alpha Root", 1).pem()).unwrap();
    refuses(&measure(&["--key", &file]), &["loads no private key from", "no.pem"]);
    fs::write(&file, "").unwrap();
    refuses(&measure(&["--key", &file]), &["loads no private key from", "no.pem"]);
}

#[test]
fn a_key_whose_numbers_do_not_fit_is_told() {
    use base64::Engine as _;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let key = path("key.der");
    if !openssl(&["genrsa", "-out", &path("key.pem"), "2048"])
        || !openssl(&["rsa", "-in", &path("key.pem"), "-traditional", "-outform", "DER", "-out", &key])
    {
        return;
    }
    let mut der = fs::read(&key).unwrap();
    // RSAPrivateKey: version, n (4 + 257 octets), e (65537), then d of about 256: one bit of it.
    der[4 + 3 + 261 + 5 + 100] ^= 1;
    let body = base64::engine::general_purpose::STANDARD.encode(&der);
    let lines: Vec<&str> =
        body.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let file = path("bent.pem");
    let pem =
        format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n", lines.join("\n"));
    fs::write(&file, pem).unwrap();
    let key = report(&["--key", &file])["measure"]["key"].clone();
    assert_eq!((&key["sound"], &key["load_and_check"]), (&false.into(), &Value::Null), "{key}");
    assert!(key["fault"].is_string());
    let ran = measure(&["--key", &file]);
    assert!(ran.status == Some(0) && ran.stdout.contains("the check fails: "), "{}", ran.stdout);
}

// ---- The text ----------------------------------------------------------------------------------------------------

#[test]
fn the_text_keeps_to_eighty_columns() {
    let folder = folder();
    let mut command = support::castore();
    command.args(["measure", "--runs", "9", "ca.pem", "--vs", "d", "-v"]).current_dir(folder.path());
    let ran = run_with(command.env("COLUMNS", "80"));
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    for line in ran.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for word in [
        "CPU time, ms",
        "runs",
        "min",
        "median",
        "spread",
        "wall",
        "  A ca.pem: CAfile, 2 certificates parsed",
    ] {
        assert!(ran.stdout.contains(word), "{word} is not in {}", ran.stdout);
    }
    assert!(ran.stdout.contains("  B d: CApath, 0 certificates parsed"), "{}", ran.stdout);
    assert!(ran.stdout.contains("ratio B/A"), "{}", ran.stdout);
}

/// `audit --measure`: beside each estimate of OpenSSL what was measured, and nothing beside the others.
#[test]
fn an_audit_measures_beside_its_estimates() {
    let folder = folder();
    let bundle = folder.path().join("ten.pem");
    let blocks: Vec<String> = (1..=10).map(|n| Certificate::root(&format!("Root {n}"), n).pem()).collect();
    fs::write(&bundle, blocks.concat()).unwrap();
    let audit = |words: &[&str]| run_with(support::castore().arg("audit").args(words));
    let ran = audit(&["--measure", "--format", "json", text(&bundle)]);
    // The machine's libssl is what a run without it measures as well.
    let Value::Object(measured) = report(&[text(&bundle)])["measure"].clone() else { panic!("an object") };
    let library = &measured["library"]["version"];
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let report = valid(&ran.stdout, &["audit", "--measure"]);
    let mut seen = (0, 0);
    for row in report["cost"].as_array().unwrap() {
        let by_openssl = row["reader"].as_str().unwrap().starts_with("openssl-");
        let now = row["layout"] == "now";
        assert_eq!(row["measurement"].is_object(), by_openssl && now, "{row}");
        if by_openssl && now {
            seen.0 += 1;
            assert_eq!(&row["measurement"]["library"], library);
            assert!(row["measurement"]["min_ms"].as_f64().unwrap() > 0.0);
        } else {
            seen.1 += 1;
        }
    }
    assert!(seen.0 == 3 && seen.1 > 5, "{seen:?}");
    let told = audit(&["--measure", text(&bundle)]);
    assert!(told.stdout.contains("    measured now: "), "{}", told.stdout);

    // The library would follow links out of a root.
    refuses(&audit(&["--measure", "--root", text(folder.path()), "/ten.pem"]), &["--root"]);
    // Where OpenSSL loads nothing there is no context to be measured.
    let torn = folder.path().join("torn.pem");
    fs::write(&torn, format!("{}-----BEGIN CERTIFICATE-----\nAAAA\n", blocks[0])).unwrap();
    let ran = audit(&["--measure", "--format", "json", text(&torn)]);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let report = valid(&ran.stdout, &["audit", "--measure"]);
    let rows = report["cost"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["measurement"].is_null()), "{rows:?}");
}
