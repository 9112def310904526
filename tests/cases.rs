//! Every case of `fixtures/cases`: the program is run on it as a user would, and its JSON report is held to what
//! `cases.json` expects. What the words in that file mean stands at its top.
//!
//! Links, odd file names, FIFOs, sockets, modes and two large stores are made here, in a copy of the case. To look
//! at the cases by hand: `CASTORE_CASES_DIR=/some/new/directory cargo test --test cases` leaves them there.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that makes files and runs the program"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde::Deserialize;
use serde_json::Value;

/// What `cases.json` demands and the program does not know yet. This list may only shrink: an id that the program
/// reports while it stands here fails the test. `ID/PART` is a part of an id that is otherwise known.
const IMPLEMENTED_LATER: &[&str] =
    &["bundle-refused", "hidden-block", "malformed-certificate/refused", "skipped-certificate"];

/// No case may take longer: whoever opens a FIFO plainly, waits for ever.
const LIMIT: Duration = Duration::from_secs(20);

/// Cases run at a time.
const THREADS: usize = 2;

/// Debian's `nobody` and `nogroup`.
const NOBODY: u32 = 65534;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    now: String,
    words: BTreeMap<String, String>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    what: String,
    cafile: Option<String>,
    capath: Option<String>,
    occurrences: u64,
    certificates: u64,
    expired: u64,
    recoverable: u64,
    class: Class,
    findings: BTreeSet<String>,
    #[serde(default)]
    class_needs: BTreeSet<String>,
    #[serde(default, rename = "note")]
    _note: String,
    #[serde(default)]
    links: BTreeMap<String, String>,
    #[serde(default)]
    rename: BTreeMap<String, String>,
    #[serde(default)]
    fifos: Vec<String>,
    #[serde(default)]
    sockets: Vec<String>,
    #[serde(default)]
    modes: BTreeMap<String, String>,
    generate: Option<Generate>,
    as_root: Option<AsRoot>,
    #[serde(default, rename = "observed")]
    _observed: Value,
}

/// What holds instead where nobody can be found who may not read everything.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct AsRoot {
    occurrences: u64,
    certificates: u64,
    class: Class,
    findings: BTreeSet<String>,
    class_needs: BTreeSet<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Generate {
    OneSubject,
    LargeBundle,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
enum Class {
    Clean,
    CleanOrNote,
    Note,
    Warning,
    WarningOrError,
    Error,
    NoCertificates,
    CannotRead,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Severity {
    Notice,
    Warning,
    Error,
}

impl Class {
    /// The least and the greatest that the worst finding may be.
    fn bounds(self) -> (Option<Severity>, Option<Severity>) {
        use Severity::{Error, Notice, Warning};
        match self {
            Class::Clean | Class::CannotRead => (None, None),
            Class::CleanOrNote => (None, Some(Notice)),
            Class::Note => (Some(Notice), Some(Notice)),
            Class::Warning => (Some(Warning), Some(Warning)),
            Class::WarningOrError => (Some(Warning), Some(Error)),
            Class::Error | Class::NoCertificates => (Some(Error), Some(Error)),
        }
    }
}

/// What one run of the program gave.
struct Run {
    status: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
}

#[test]
fn every_case_is_as_expected() {
    let cases = load();
    let stage = Stage::new();
    let queue = Mutex::new(cases.cases.iter());
    let rows = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let Some(case) = queue.lock().unwrap().next() else { break };
                    let wrong = stage.try_case(case, &cases.now);
                    if !wrong.is_empty() {
                        rows.lock().unwrap().push((case, wrong));
                    }
                }
            });
        }
    });
    let mut rows = rows.into_inner().unwrap();
    rows.sort_by(|(a, _), (b, _)| a.id.cmp(&b.id));
    let width = rows.iter().map(|(case, _)| case.id.len()).max().unwrap_or(0);
    let mut table = String::new();
    for (case, wrong) in &rows {
        writeln!(table, "{:width$}  {}", case.id, wrong.join("; ")).unwrap();
    }
    assert!(
        rows.is_empty(),
        "{} of {} cases differ\n\n{:width$}  difference\n{table}",
        rows.len(),
        cases.cases.len(),
        "case",
    );
}

#[test]
fn the_table_of_cases_is_sound() {
    let cases = load();
    let mut wrong = Vec::new();
    let mut ids = BTreeSet::new();
    let mut demanded = BTreeSet::new();
    for case in &cases.cases {
        let id = &case.id;
        if !ids.insert(id.as_str()) {
            wrong.push(format!("{id}: twice"));
        }
        if !case.what.ends_with('.') {
            wrong.push(format!("{id}: `what` is not a sentence"));
        }
        if case.cafile.is_none() && case.capath.is_none() {
            wrong.push(format!("{id}: names no path"));
        }
        if case.certificates > case.occurrences
            || case.expired > case.certificates
            || case.recoverable < case.occurrences
        {
            wrong.push(format!("{id}: counts that cannot be"));
        }
        if !case.class_needs.is_subset(&case.findings) {
            wrong.push(format!("{id}: class_needs names what findings does not"));
        }
        if case.class == Class::NoCertificates && !case.findings.contains("no-certificates") {
            wrong.push(format!("{id}: no-certificates is a finding too"));
        }
        if case.class == Class::Clean && !case.findings.is_empty() {
            wrong.push(format!("{id}: clean, with findings"));
        }
        demanded.extend(case.findings.iter().map(String::as_str));
        demanded.extend(case.as_root.iter().flat_map(|root| root.findings.iter()).map(String::as_str));
    }
    for later in IMPLEMENTED_LATER.iter().filter(|later| !demanded.contains(*later)) {
        wrong.push(format!("IMPLEMENTED_LATER: no case demands {later}"));
    }
    for entry in fs::read_dir(folder()).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() && !ids.contains(name.as_str()) {
            wrong.push(format!("{name}: a folder without a case"));
        }
    }
    for entry in walkdir::WalkDir::new(folder()).into_iter().map(Result::unwrap) {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._- ".contains(c);
        let name = entry.file_name().to_str().unwrap_or("\u{FFFD}");
        if entry.file_type().is_symlink() || !name.chars().all(plain) || name.starts_with('-') {
            wrong.push(format!(
                "{}: archives refuse or flatten it; make it at run time",
                entry.path().display()
            ));
        }
    }
    if !cases.words.contains_key("class") {
        wrong.push("words: class is not explained".to_owned());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where the cases are laid out and run.
struct Stage {
    root: PathBuf,
    /// The program where nobody may reach it, when this is root and becoming nobody works.
    for_nobody: Option<PathBuf>,
    root_user: bool,
    _remove: Option<tempfile::TempDir>,
}

impl Stage {
    fn new() -> Self {
        let (root, remove) = match std::env::var_os("CASTORE_CASES_DIR") {
            Some(kept) => {
                fs::create_dir(&kept).expect("CASTORE_CASES_DIR names a directory that is not there yet");
                (fs::canonicalize(kept).unwrap(), None)
            }
            None => {
                let dir = tempfile::tempdir().unwrap();
                (dir.path().to_owned(), Some(dir))
            }
        };
        set_mode(&root, 0o755);
        let root_user = rustix::process::geteuid().is_root();
        let for_nobody = root_user.then(|| copy_for_nobody(&root)).flatten();
        Self { root, for_nobody, root_user, _remove: remove }
    }

    /// Lays a case out, runs the program on it, and says what differs.
    fn try_case(&self, case: &Case, now: &str) -> Vec<String> {
        let folder = self.root.join(&case.id);
        lay_out(case, &folder);
        let mut arguments: Vec<OsString> =
            ["audit", "--format", "json", "--at", now].map(OsString::from).to_vec();
        if case.findings.contains("size-limit") && known("size-limit") {
            arguments.extend(["--max-size", "1MiB"].map(OsString::from));
        }
        arguments.extend(case.cafile.iter().chain(&case.capath).map(OsString::from));

        let mut command = support::castore();
        let mut instead = None;
        if !case.modes.is_empty() && self.root_user {
            if let Some(program) = &self.for_nobody {
                command = Command::new(program);
                command.env_clear().uid(NOBODY).gid(NOBODY);
            } else {
                instead = case.as_root.as_ref();
            }
        }
        command.args(arguments).current_dir(&folder);
        let run = match run(command, &self.root.join(format!("{}.out", case.id))) {
            Ok(run) => run,
            Err(trouble) => return vec![trouble],
        };
        if case.class == Class::CannotRead {
            return match run.status {
                Some(2) => Vec::new(),
                status => vec![format!("status {status:?}, expected 2")],
            };
        }
        match serde_json::from_slice(&run.stdout) {
            Ok(report) => {
                let mut wrong = judge(case, instead, &report);
                if run.status != Some(0) {
                    wrong.push(format!("status {:?}, expected 0", run.status));
                }
                wrong
            }
            Err(trouble) => {
                let last = run.stderr.lines().last().unwrap_or_default().to_owned();
                vec![format!("no JSON ({trouble}); status {:?}; {last}", run.status)]
            }
        }
    }
}

/// The differences between a report and what the case expects.
fn judge(case: &Case, instead: Option<&AsRoot>, report: &Value) -> Vec<String> {
    let expected = instead.cloned().unwrap_or_else(|| AsRoot {
        occurrences: case.occurrences,
        certificates: case.certificates,
        class: case.class,
        findings: case.findings.clone(),
        class_needs: case.class_needs.clone(),
    });
    let mut wrong = Vec::new();

    for (field, number) in [
        ("occurrences", expected.occurrences),
        ("certificates", expected.certificates),
        ("duplicates", expected.occurrences - expected.certificates),
        ("expired", case.expired),
    ] {
        let found = &report["summary"][field];
        if found.as_u64() != Some(number) {
            wrong.push(format!("{field} {found}, expected {number}"));
        }
    }

    let mut found: BTreeMap<&str, Severity> = BTreeMap::new();
    for finding in report["findings"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let severity = match finding["severity"].as_str() {
            Some("notice") => Severity::Notice,
            Some("warning") => Severity::Warning,
            Some("error") => Severity::Error,
            _ => {
                wrong.push(format!("a finding with severity {}", finding["severity"]));
                continue;
            }
        };
        let id = finding["id"].as_str().unwrap_or("(no id)");
        found.entry(id).and_modify(|worst| *worst = severity.max(*worst)).or_insert(severity);
    }
    for id in expected.findings.iter().filter(|id| known(id)) {
        let id = id.split('/').next().unwrap_or_default();
        if !found.contains_key(id) {
            wrong.push(format!("{id} is missing"));
        }
    }
    for id in found.keys().filter(|id| !known(id)) {
        wrong.push(format!("{id} is reported: take it out of IMPLEMENTED_LATER"));
    }

    let (least, most) = expected.class.bounds();
    let worst = found.values().max().copied();
    let demanded = expected.class_needs.is_empty() || expected.class_needs.iter().any(|id| known(id));
    if worst > most {
        let above: Vec<_> =
            found.iter().filter(|(_, severity)| Some(**severity) > most).map(|(id, _)| *id).collect();
        wrong.push(format!("{} above class {:?}", above.join(", "), expected.class));
    }
    if demanded && worst < least {
        let worst = worst.map_or("none".to_owned(), |worst| format!("{worst:?}"));
        wrong.push(format!("worst severity {worst}, below class {:?}", expected.class));
    }
    wrong
}

/// Whether the program knows a finding already.
fn known(id: &str) -> bool {
    !IMPLEMENTED_LATER.contains(&id)
}

/// Runs a command, and kills it when it takes too long.
fn run(mut command: Command, output: &Path) -> Result<Run, String> {
    let errors = output.with_extension("err");
    let mut child = command
        .stdin(Stdio::null())
        .stdout(File::create(output).unwrap())
        .stderr(File::create(&errors).unwrap())
        .spawn()
        .map_err(|trouble| format!("does not start: {trouble}"))?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > LIMIT {
            child.kill().unwrap();
            child.wait().unwrap();
            return Err(format!("no answer in {} s", LIMIT.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    Ok(Run {
        status: status.code(),
        stdout: fs::read(output).unwrap(),
        stderr: String::from_utf8_lossy(&fs::read(&errors).unwrap()).into_owned(),
    })
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases")
}

fn load() -> Cases {
    let text = fs::read(folder().join("cases.json")).unwrap();
    serde_json::from_slice(&text).expect("fixtures/cases/cases.json")
}

/// Copies the stored files of a case and makes what cannot be stored. Modes are the same whatever the umask.
fn lay_out(case: &Case, folder: &Path) {
    make_directory(folder);
    let stored = self::folder().join(&case.id);
    if stored.is_dir() {
        for entry in
            walkdir::WalkDir::new(&stored).min_depth(1).sort_by_file_name().into_iter().map(Result::unwrap)
        {
            let name = entry.path().strip_prefix(&stored).unwrap();
            let target =
                folder.join(name.to_str().and_then(|name| case.rename.get(name)).map_or(name, Path::new));
            if entry.file_type().is_dir() {
                make_directory(&target);
            } else {
                fs::copy(entry.path(), &target).unwrap();
                set_mode(&target, 0o644);
            }
        }
    }
    match case.generate {
        Some(Generate::OneSubject) => generated::one_subject(&folder.join("certs")),
        Some(Generate::LargeBundle) => generated::large_bundle(&folder.join("bundle.pem")),
        None => {}
    }
    for (name, target) in &case.links {
        let link = folder.join(name);
        make_directory(link.parent().unwrap());
        symlink(target, link).unwrap();
    }
    for (names, kind) in [(&case.fifos, FileType::Fifo), (&case.sockets, FileType::Socket)] {
        for name in names {
            mknodat(CWD, folder.join(name), kind, Mode::from_raw_mode(0o644), 0).unwrap();
        }
    }
    for (name, mode) in &case.modes {
        set_mode(&folder.join(name), u32::from_str_radix(mode, 8).unwrap());
    }
}

fn make_directory(path: &Path) {
    fs::create_dir_all(path).unwrap();
    set_mode(path, 0o755);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Copies the program to where nobody can run it, and tries whether nobody can.
fn copy_for_nobody(root: &Path) -> Option<PathBuf> {
    let program = root.join("castore");
    fs::copy(env!("CARGO_BIN_EXE_castore"), &program).unwrap();
    set_mode(&program, 0o755);
    let mut command = Command::new(&program);
    command.arg("--version").uid(NOBODY).gid(NOBODY);
    let works = command
        .env_clear()
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    works.then_some(program)
}

/// Stores too large to be kept as files.
mod generated {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::support::der::{Certificate, extension, octet_string};

    /// More than the 256 places that `openssl rehash` has for one hash.
    const CERTIFICATES: u64 = 257;
    const SUBJECT: &str = "One Subject";
    /// What `openssl x509 -subject_hash` says of that common name.
    const SUBJECT_HASH: &str = "56ec1c0e";

    pub fn one_subject(certs: &Path) {
        super::make_directory(certs);
        for number in 0..CERTIFICATES {
            let name = format!("one-{number:03}.pem");
            write(&certs.join(&name), &Certificate::root(SUBJECT, number).pem());
            symlink(name, certs.join(format!("{SUBJECT_HASH}.{number}"))).unwrap();
        }
    }

    pub fn large_bundle(bundle: &Path) {
        let large = |number| {
            let mut root = Certificate::root(&format!("Large Root {number:02}"), number);
            root.extensions.push(extension("1.3.6.1.4.1.99999.3", false, &octet_string(&[0x5A; 30_000])));
            root.pem()
        };
        let text: String = (0..30).map(large).collect();
        assert!(text.len() > 1 << 20, "{} bytes are not more than 1 MiB", text.len());
        write(bundle, &text);
    }

    fn write(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        super::set_mode(path, 0o644);
    }
}
