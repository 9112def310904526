//! What the test programs share: the built binary, other people's tools in a clean environment, the material that
//! `tests/setup.sh` prepares, what those tools say about it, and a certificate factory ([`der`]).
//!
//! Nothing here uses castore's library: expected values come from outside.

#![allow(dead_code, reason = "each test program uses its own part of this module")]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "tests read and write files, run programs and say what they skip; the fence is for the library"
)]

pub mod capath;
pub mod cases;
pub mod der;
pub mod inputs;
pub mod mutate;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest as _, Sha256};

// ---- Programs ------------------------------------------------------------------------------------------------

/// `program` with an environment of PATH, HOME and LC_ALL alone. What is set on a developer's machine
/// (SSL_CERT_FILE, SSL_CERT_DIR, NO_COLOR, SOURCE_DATE_EPOCH, OPENSSL_CONF) must not change a test.
fn clean(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))
        .env("HOME", "/nonexistent")
        .env("LC_ALL", "C")
        .stdin(Stdio::null());
    command
}

/// The built castore, in a clean environment.
pub fn castore() -> Command {
    clean(program())
}

/// Where the built castore is.
pub fn program() -> &'static Path {
    // `option_env!`: without the feature `cli` there is no binary, and this module must still compile.
    match option_env!("CARGO_BIN_EXE_castore") {
        Some(path) => Path::new(path),
        None => panic!("the binary is only built with the feature `cli`"),
    }
}

/// Whether this is a run in which nothing may be missing.
pub fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// Whether what takes minutes is to run as well (`make test-full`).
pub fn is_full() -> bool {
    std::env::var_os("RUN_FULL").is_some_and(|value| value == "1")
}

/// Says that something is missing: a failure in CI, a line elsewhere.
fn missing(what: &str) {
    assert!(!in_ci(), "CI=true, but missing: {what} (tests/setup.sh brings it)");
    // Not `eprintln!`: the harness keeps that to itself for a test that passes, and a skip is to be seen.
    let _ = writeln!(std::io::stderr(), "skipped: {what} missing");
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|candidate| {
        fs::metadata(candidate).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    })
}

/// Another program in a clean environment. Where it is missing: `None` and a line, in CI a panic.
pub fn tool(name: &str) -> Option<Command> {
    match find_program(name) {
        Some(path) => Some(clean(path)),
        None => {
            missing(name);
            None
        }
    }
}

/// Whether one of these programs is missing, so that the test should return. Says so; in CI it panics.
///
/// ```ignore
/// if support::skip_without(&["openssl", "certtool"]) { return; }
/// ```
pub fn skip_without(tools: &[&str]) -> bool {
    let absent: Vec<&str> = tools.iter().copied().filter(|name| find_program(name).is_none()).collect();
    if absent.is_empty() {
        return false;
    }
    missing(&absent.join(", "));
    true
}

/// Another program in a clean environment, for a test that goes on without it, in CI too.
pub fn optional(name: &str) -> Option<Command> {
    find_program(name).map(clean)
}

/// A program by its path, in a clean environment.
pub fn at(path: &Path) -> Command {
    clean(path)
}

/// The `go` of this version, which builds without a network and writes below the material alone. Where it is missing:
/// `None` and a line, in CI a panic.
pub fn go(version: &str) -> Option<Command> {
    let path = match version {
        // Debian's package, wherever another `go` comes first in PATH.
        "1.19" => PathBuf::from("/usr/lib/go-1.19/bin/go"),
        _ => material_at("go")?.join(version).join("bin/go"),
    };
    if !path.exists() {
        missing(&path.display().to_string());
        return None;
    }
    let mut command = clean(path);
    command
        .env("GOCACHE", material().join("go/cache"))
        // Whether git likes the checkout is no matter of this build.
        .env("GOFLAGS", "-mod=mod -buildvcs=false")
        .env("GOPROXY", "off")
        .env("GOTOOLCHAIN", "local")
        .env("CGO_ENABLED", "0");
    Some(command)
}

/// `tests/oracle/rustls`, built once a test program.
pub fn rustls_oracle() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let target = material().join("rustls");
        // In cargo's own environment: registry, proxies and toolchain are its matter.
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--locked", "--manifest-path"])
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/rustls/Cargo.toml"))
            .env("CARGO_TARGET_DIR", &target)
            .output()
            .expect("cargo starts");
        assert!(built.status.success(), "{}", complaint(&built));
        target.join("debug/castore-oracle-rustls")
    })
}

/// A program that must be there: the test has asked [`skip_without`] before.
pub fn required(name: &str) -> Command {
    clean(
        find_program(name)
            .unwrap_or_else(|| panic!("{name} is missing: ask skip_without(&[{name:?}]) first")),
    )
}

/// Runs a command with `input` on its standard input.
pub fn run_with_input(command: &mut Command, input: &[u8]) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    std::thread::scope(|scope| {
        // Written beside the reading, or both sides wait once a pipe is full. A program that stops reading early
        // is judged by its status, not here.
        scope.spawn(move || {
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().expect("the program ends")
    })
}

/// `work` on each item, by two threads, the results in the order of the items. Most of the time goes into waiting
/// for small programs; the machine of a test run has few cores.
pub fn in_two_threads<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = work(index, item);
                    results.lock().expect("no thread panicked").insert(index, result);
                }
            });
        }
    });
    results.into_inner().expect("no thread panicked").into_values().collect()
}

// ---- Material ------------------------------------------------------------------------------------------------

/// Where `tests/setup.sh` puts what it prepares.
pub fn material() -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    match std::env::var_os("CASTORE_TEST_MATERIAL") {
        // A relative path is meant from the repository, as the script takes it.
        Some(path) if !path.is_empty() => repository.join(path),
        _ => repository.join("target/material"),
    }
}

pub fn material_at(path: &str) -> Option<PathBuf> {
    let path = material().join(path);
    if path.exists() {
        return Some(path);
    }
    missing(&path.display().to_string());
    None
}

fn read_version(directory: &Path) -> Option<String> {
    let text = fs::read_to_string(directory.join("VERSION")).ok()?;
    Some(text.trim().to_owned())
}

/// The stock store: `etc/ssl/certs` of Debian's package ca-certificates. Its links lead to files in the same root
/// by their absolute path, so it is whole when read where it is. Below [`stock_root`].
pub fn stock_store() -> Option<PathBuf> {
    material_at("stock/root/etc/ssl/certs")
}

/// The root around [`stock_store`].
pub fn stock_root() -> Option<PathBuf> {
    material_at("stock/root")
}

/// The same root, but with the links of its store as they read on a machine (`/usr/share/ca-certificates/...`), and
/// `/usr/lib/ssl/cert.pem` and `certs` as package openssl makes them: whole for `--root` alone.
pub fn stock_image() -> Option<PathBuf> {
    material_at("stock/image")
}

/// The version of the package ca-certificates that the stock store is made of.
pub fn stock_version() -> Option<String> {
    read_version(&material_at("stock")?)
}

/// The bundles of PyPI's certifi: version and path, the oldest first, the newest last. Empty where there is none.
pub fn certifi() -> Vec<(String, PathBuf)> {
    let Some(directory) = material_at("certifi") else { return Vec::new() };
    // The names are four digits or "newest", which sorts after them.
    names_in(&directory)
        .into_iter()
        .filter_map(|name| {
            let directory = directory.join(name);
            Some((read_version(&directory)?, directory.join("cacert.pem")))
        })
        .collect()
}

/// The directory `x509` of PyPI's cryptography-vectors: odd certificates, PEM and DER, and other things.
pub fn vectors() -> Option<PathBuf> {
    material_at("vectors/x509")
}

// ---- PEM and DER, only as far as the tools' answers need it ----------------------------------------------------

/// The certificate blocks of a well-formed bundle, each with its boundary lines: labels CERTIFICATE,
/// X509 CERTIFICATE and TRUSTED CERTIFICATE. Not a reader for damaged files.
pub fn certificate_blocks(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut blocks = Vec::new();
    let mut block: Option<Vec<u8>> = None;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii();
        if text.starts_with(b"-----BEGIN ") && text.ends_with(b"CERTIFICATE-----") {
            block = Some(Vec::new());
        }
        let Some(open) = &mut block else { continue };
        open.extend_from_slice(line);
        if text.starts_with(b"-----END ") {
            if !open.ends_with(b"\n") {
                open.push(b'\n');
            }
            blocks.extend(block.take());
        }
    }
    blocks
}

/// The certificate in a block: its first TLV, so without the trust attributes of a TRUSTED CERTIFICATE.
pub fn block_der(block: &[u8]) -> Vec<u8> {
    let mut der = block_octets(block);
    der.truncate(tlv_length(&der).expect("the block holds DER"));
    der
}

fn block_octets(block: &[u8]) -> Vec<u8> {
    use base64::Engine as _;
    let body: Vec<u8> = block
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.starts_with(b"-----"))
        .flatten()
        .copied()
        .collect();
    base64::engine::general_purpose::STANDARD.decode(body).expect("the block is base64")
}

fn tlv_length(der: &[u8]) -> Option<usize> {
    let first = usize::from(*der.get(1)?);
    if first < 0x80 {
        return Some(2 + first);
    }
    let octets = der.get(2..2 + (first & 0x7f))?;
    let length = octets.iter().fold(0, |length, octet| length << 8 | usize::from(*octet));
    Some(2 + octets.len() + length)
}

/// Lower-case hex of the SHA-256.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The sorted, distinct fingerprints of a well-formed bundle, by this module's own reading: the expected value where
/// another tool is asked what it loads.
pub fn bundle_fingerprints(bundle: &Path) -> Vec<String> {
    let bytes = fs::read(bundle).expect("the bundle can be read");
    let distinct: BTreeSet<String> =
        certificate_blocks(&bytes).iter().map(|block| sha256_hex(&block_der(block))).collect();
    distinct.into_iter().collect()
}

// ---- OpenSSL -------------------------------------------------------------------------------------------------

/// What `openssl x509` says about one certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpensslView {
    /// Fingerprint, lower-case hex without colons.
    pub sha256: String,
    pub subject_hash: String,
    pub subject_hash_old: String,
    /// RFC 3339; `None` where OpenSSL cannot read the time.
    pub start_date: Option<String>,
    /// RFC 3339; `None` where OpenSSL cannot read the time.
    pub end_date: Option<String>,
    /// As `-nameopt RFC2253,utf8,-esc_msb` writes it.
    pub subject: String,
    pub issuer: String,
    /// Hex, lower-case, with the sign where it is negative; always whole octets, `00` for zero.
    pub serial: String,
}

/// What OpenSSL says about each certificate of a bundle, in the order of the file. Panics on one that OpenSSL refuses.
pub fn openssl_views(pem_path: &Path) -> Vec<OpensslView> {
    let bytes = fs::read(pem_path).unwrap_or_else(|error| panic!("{}: {error}", pem_path.display()));
    in_two_threads(&certificate_blocks(&bytes), |index, block| {
        openssl_view(block).unwrap_or_else(|error| panic!("{}, block {index}: {error}", pem_path.display()))
    })
}

/// `openssl x509`, which loads the machine's default CAfile before anything else, needed or not: 25 ms a process with
/// OpenSSL 3.0, against 3 without. So it is shown a place where there is none.
pub fn openssl_x509() -> Command {
    let mut command = required("openssl");
    command.arg("x509").env("SSL_CERT_FILE", "/nonexistent").env("SSL_CERT_DIR", "/nonexistent");
    command
}

/// What OpenSSL says about the first certificate of this PEM text, or its complaint.
pub fn openssl_view(pem: &[u8]) -> Result<OpensslView, String> {
    view(pem, "PEM")
}

/// What OpenSSL says about this DER, or its complaint.
pub fn openssl_view_der(der: &[u8]) -> Result<OpensslView, String> {
    view(der, "DER")
}

fn view(input: &[u8], form: &str) -> Result<OpensslView, String> {
    // `openssl x509` reads one certificate, so one process each; everything in one, since starting it is what costs.
    let mut command = openssl_x509();
    command.args([
        "-inform",
        form,
        "-noout",
        "-fingerprint",
        "-sha256",
        "-subject_hash",
        "-subject_hash_old",
    ]);
    command.args([
        "-startdate",
        "-enddate",
        "-subject",
        "-issuer",
        "-serial",
        "-nameopt",
        "RFC2253,utf8,-esc_msb",
    ]);
    let output = run_with_input(&mut command, input);
    if !output.status.success() {
        return Err(complaint(&output));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.map(str::to_owned).ok_or_else(|| format!("no {name} in {text:?}"))
    };
    // 1.1.1 writes SHA256, 3.0 sha256. The hashes stand alone on their lines, in the order of the options.
    let fingerprint = field("sha256 Fingerprint").or_else(|_| field("SHA256 Fingerprint"))?;
    let mut hashes =
        text.lines().filter(|line| line.len() == 8 && line.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let mut hash = || hashes.next().map(str::to_owned).ok_or_else(|| format!("no subject hash in {text:?}"));
    Ok(OpensslView {
        sha256: fingerprint.replace(':', "").to_ascii_lowercase(),
        subject_hash: hash()?,
        subject_hash_old: hash()?,
        start_date: rfc3339(&field("notBefore")?),
        end_date: rfc3339(&field("notAfter")?),
        subject: field("subject")?,
        issuer: field("issuer")?,
        serial: field("serial")?.to_ascii_lowercase(),
    })
}

/// `Jan  2 03:04:05 2030 GMT`, as OpenSSL prints times, in RFC 3339. (`-dateopt iso_8601` is not in 1.1.1.)
fn rfc3339(text: &str) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let [month, day, time, year, "GMT"] = text.split_whitespace().collect::<Vec<_>>()[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let (day, year): (u8, u16) = (day.parse().ok()?, year.parse().ok()?);
    Some(format!("{year:04}-{month:02}-{day:02}T{time}Z"))
}

/// SHA-256 of the public key (SubjectPublicKeyInfo) of this PEM certificate; `None` where OpenSSL cannot read the key.
pub fn openssl_spki_sha256(pem: &[u8]) -> Option<String> {
    let mut command = openssl_x509();
    command.args(["-noout", "-pubkey"]);
    let output = run_with_input(&mut command, pem);
    output.status.success().then(|| sha256_hex(&block_octets(&output.stdout)))
}

/// A store that OpenSSL is to look in, and in nothing else.
#[derive(Clone, Copy, Debug)]
pub enum Trust<'a> {
    CaFile(&'a Path),
    CaPath(&'a Path),
}

/// The fingerprints of those certificates (PEM blocks) that `openssl verify` accepts with this store alone, whatever
/// their dates.
///
/// For a self-issued certificate this says exactly whether OpenSSL finds it in the store: one of the same subject and
/// key does not do. Any other is accepted too where its issuer is found and has signed it, so ask only about
/// self-issued ones (`subject == issuer`) when the answer is to mean "is in the store".
pub fn openssl_verify_each(trust: Trust, certificates: &[Vec<u8>]) -> BTreeSet<String> {
    let accepted = in_two_threads(certificates, |_, block| {
        // A process each: within one, a certificate that an earlier look-up came across stays in the cache, and
        // a wrong hash link would seem to lead to it.
        let mut command = required("openssl");
        command.args(["verify", "-no-CAstore", "-no_check_time", "-partial_chain", "-ignore_critical"]);
        match trust {
            Trust::CaFile(file) => command.arg("-no-CApath").arg("-CAfile").arg(file),
            Trust::CaPath(directory) => command.arg("-no-CAfile").arg("-CApath").arg(directory),
        };
        let output = run_with_input(&mut command, block);
        output.status.success().then(|| sha256_hex(&block_der(block)))
    });
    accepted.into_iter().flatten().collect()
}

/// The last line of what a program wrote to stderr.
pub fn complaint(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    text.trim().lines().last().unwrap_or("no message").to_owned()
}

// ---- Python and GnuTLS -----------------------------------------------------------------------------------------

/// The sorted fingerprints of what Python's ssl loads of a CAfile, or why it refuses. CA certificates only: Python
/// lists no others, although OpenSSL loads them; [`python_ssl_count`] counts them too. Copies count once.
pub fn python_ssl_loaded(cafile: &Path) -> Result<Vec<String>, String> {
    const PROGRAM: &str = "\
import hashlib, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.load_verify_locations(cafile=sys.argv[1])
for der in context.get_ca_certs(binary_form=True):
    print(hashlib.sha256(der).hexdigest())
";
    let mut loaded: Vec<String> = python(PROGRAM, cafile)?.lines().map(str::to_owned).collect();
    loaded.sort();
    Ok(loaded)
}

/// How many certificates, CA or not, Python's ssl loads of a CAfile, or why it refuses. Copies count once.
pub fn python_ssl_count(cafile: &Path) -> Result<usize, String> {
    const PROGRAM: &str = "\
import ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.load_verify_locations(cafile=sys.argv[1])
print(context.cert_store_stats()['x509'])
";
    let text = python(PROGRAM, cafile)?;
    text.trim().parse().map_err(|_| format!("no number: {text:?}"))
}

fn python(program: &str, cafile: &Path) -> Result<String, String> {
    let output =
        required("python3").args(["-I", "-c", program]).arg(cafile).output().expect("python3 starts");
    if !output.status.success() {
        return Err(complaint(&output));
    }
    Ok(String::from_utf8(output.stdout).expect("hex and numbers are ASCII"))
}

/// The fingerprints that GnuTLS's certtool lists for a bundle, in the order of the file, copies included; or why it
/// refuses the file.
pub fn certtool_fingerprints(bundle: &Path) -> Result<Vec<String>, String> {
    let mut command = required("certtool");
    let output =
        command.args(["--certificate-info", "--infile"]).arg(bundle).output().expect("certtool starts");
    if !output.status.success() {
        return Err(complaint(&output));
    }
    // "Fingerprint:" and "Public Key ID:" each head a list that has a "sha256:". (`--fingerprint` takes one
    // certificate alone.) Lossy: subjects are printed as they are.
    let text = String::from_utf8_lossy(&output.stdout);
    let mut fingerprints = Vec::new();
    let mut in_fingerprint = false;
    for line in text.lines() {
        match line.strip_prefix("\t\t") {
            None => in_fingerprint = line == "\tFingerprint:",
            Some(item) if in_fingerprint => {
                fingerprints.extend(item.strip_prefix("sha256:").map(str::to_owned))
            }
            Some(_) => {}
        }
    }
    Ok(fingerprints)
}

/// How many certificates GnuTLS's certtool finds in a bundle, copies included.
pub fn certtool_count(bundle: &Path) -> Result<usize, String> {
    certtool_fingerprints(bundle).map(|fingerprints| fingerprints.len())
}

// ---- Trees ---------------------------------------------------------------------------------------------------

/// What stands under one name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryState {
    pub kind: EntryKind,
    /// Where a link leads.
    pub target: Option<PathBuf>,
    /// Permission bits.
    pub mode: u32,
    /// User and group.
    pub owner: (u32, u32),
    /// Nanoseconds since 1970.
    pub mtime_ns: i128,
    /// Of a regular file's content.
    pub sha256: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Directory,
    Link,
    Other,
}

/// Everything in a directory, by its path from there; `.` is the directory itself. Two equal states mean that nothing
/// was written in between, not even to the same effect: the time stamps are in it.
pub fn tree_state(directory: &Path) -> BTreeMap<PathBuf, EntryState> {
    let mut states = BTreeMap::new();
    let mut pending = vec![PathBuf::from(".")];
    while let Some(relative) = pending.pop() {
        let path = directory.join(&relative);
        let meta = fs::symlink_metadata(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let kind = match meta.file_type() {
            kind if kind.is_symlink() => EntryKind::Link,
            kind if kind.is_dir() => EntryKind::Directory,
            kind if kind.is_file() => EntryKind::File,
            _ => EntryKind::Other,
        };
        if kind == EntryKind::Directory {
            pending.extend(names_in(&path).into_iter().map(|name| match relative.as_os_str() == "." {
                true => PathBuf::from(name),
                false => relative.join(name),
            }));
        }
        let state = EntryState {
            kind,
            target: (kind == EntryKind::Link).then(|| fs::read_link(&path).expect("the link can be read")),
            mode: meta.mode() & 0o7777,
            owner: (meta.uid(), meta.gid()),
            mtime_ns: i128::from(meta.mtime()) * 1_000_000_000 + i128::from(meta.mtime_nsec()),
            sha256: (kind == EntryKind::File)
                .then(|| sha256_hex(&fs::read(&path).expect("the file can be read"))),
        };
        states.insert(relative, state);
    }
    states
}

/// A copy of a directory: links stay links, modes stay, times are new. Pipes and devices are left out.
pub fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the directory can be made");
    for name in names_in(from) {
        let (source, copy) = (from.join(&name), to.join(&name));
        let meta = fs::symlink_metadata(&source).expect("the entry is there");
        if meta.is_symlink() {
            let target = fs::read_link(&source).expect("the link can be read");
            std::os::unix::fs::symlink(target, &copy).expect("the link can be made");
        } else if meta.is_dir() {
            copy_tree(&source, &copy);
        } else if meta.is_file() {
            // Takes the mode along.
            fs::copy(&source, &copy).expect("the file can be copied");
        }
    }
    // Last: a directory without write permission could not be filled.
    fs::set_permissions(to, fs::metadata(from).expect("the directory is there").permissions())
        .expect("its mode is set");
}

/// The names in a directory, sorted.
pub fn names_in(directory: &Path) -> Vec<std::ffi::OsString> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("the directory can be read").file_name()).collect();
    names.sort();
    names
}
