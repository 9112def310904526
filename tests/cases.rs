//! Every case of `fixtures/cases`: the program is run on it as a user would, and its JSON report is held to what
//! `cases.json` expects. How a case is laid out: `support/cases.rs`. To look at the cases by hand:
//! `CASTORE_CASES_DIR=/some/new/directory cargo test --test cases` leaves them there.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that makes files and runs the program"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::Value;

use support::cases::{AsRoot, Case, Class, NOBODY, copy_for_nobody, folder, lay_out, load, set_mode};

/// No case may take longer: whoever opens a FIFO plainly, waits for ever.
const LIMIT: Duration = Duration::from_secs(20);

/// Cases run at a time.
const THREADS: usize = 2;

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
        if case.class == Class::NoCertificates && !case.findings.contains("no-certificates") {
            wrong.push(format!("{id}: no-certificates is a finding too"));
        }
        if case.class == Class::Clean && !case.findings.is_empty() {
            wrong.push(format!("{id}: clean, with findings"));
        }
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
        if case.findings.contains("size-limit") {
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
    for id in expected.findings.iter().filter(|id| !found.contains_key(id.as_str())) {
        wrong.push(format!("{id} is missing"));
    }

    let (least, most) = expected.class.bounds();
    let worst = found.values().max().copied();
    if worst > most {
        let above: Vec<_> =
            found.iter().filter(|(_, severity)| Some(**severity) > most).map(|(id, _)| *id).collect();
        wrong.push(format!("{} above class {:?}", above.join(", "), expected.class));
    }
    if worst < least {
        let worst = worst.map_or("none".to_owned(), |worst| format!("{worst:?}"));
        wrong.push(format!("worst severity {worst}, below class {:?}", expected.class));
    }
    wrong
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
