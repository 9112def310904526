//! The cases of `fixtures/cases`: the table that describes them, and how one is laid out in a directory. What the
//! words in `cases.json` mean stands at its top.
//!
//! Links, odd file names, FIFOs, sockets, modes and two large stores are made here, in a copy of the case.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde::Deserialize;
use serde_json::Value;

/// Debian's `nobody` and `nogroup`.
pub const NOBODY: u32 = 65534;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    pub now: String,
    pub words: BTreeMap<String, String>,
    pub cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub id: String,
    pub what: String,
    pub cafile: Option<String>,
    pub capath: Option<String>,
    pub occurrences: u64,
    pub certificates: u64,
    pub expired: u64,
    pub recoverable: u64,
    pub class: Class,
    pub findings: BTreeSet<String>,
    #[serde(default, rename = "note")]
    pub _note: String,
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
    #[serde(default)]
    pub fifos: Vec<String>,
    #[serde(default)]
    pub sockets: Vec<String>,
    #[serde(default)]
    pub modes: BTreeMap<String, String>,
    pub generate: Option<Generate>,
    pub as_root: Option<AsRoot>,
    #[serde(default, rename = "observed")]
    pub _observed: Value,
}

/// What holds instead where nobody can be found who may not read everything.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct AsRoot {
    pub occurrences: u64,
    pub certificates: u64,
    pub class: Class,
    pub findings: BTreeSet<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Generate {
    OneSubject,
    LargeBundle,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    Clean,
    CleanOrNote,
    Note,
    Warning,
    WarningOrError,
    Error,
    NoCertificates,
    CannotRead,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases")
}

pub fn load() -> Cases {
    let text = fs::read(folder().join("cases.json")).unwrap();
    serde_json::from_slice(&text).expect("fixtures/cases/cases.json")
}

/// Copies the stored files of a case and makes what cannot be stored. Modes are the same whatever the umask.
pub fn lay_out(case: &Case, folder: &Path) {
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

pub fn make_directory(path: &Path) {
    fs::create_dir_all(path).unwrap();
    set_mode(path, 0o755);
}

pub fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Copies the program to where nobody can run it, and tries whether nobody can.
pub fn copy_for_nobody(root: &Path) -> Option<PathBuf> {
    let program = root.join("castore");
    fs::copy(super::program(), &program).unwrap();
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

    use super::super::der::{Certificate, extension, octet_string};

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
