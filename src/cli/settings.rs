//! What was typed, and what the machine says, as values that the library takes.
#![allow(clippy::disallowed_methods, reason = "this module reads the clock and the environment")]

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::Failure;
use super::args::{Audit, Color, Compact, Inside, Output};
use crate::audit::OpensslDefaults;
use crate::audit::finding::Severity;
use crate::audit::ignore::Ignore;
use crate::audit::rules;
use crate::certificate::validity::parse_instant;
use crate::cost::estimate::{Openssl, VARIABLES};
use crate::error::{Error, Refusal, Result};
use crate::escape::{path_text, visible, visible_path};
use crate::openssl::locations::{CERT_DIR, CERT_FILE, DISTRIBUTION_BUNDLES, OPENSSL_DIRS, REGENERATED};
use crate::openssl::release::{NotARelease, Release};
use crate::plan::policy::{Policy, PrunePolicy, UnmatchedRemoval};
use crate::readers::openssl::Version;
use crate::readers::{NotAReader, Reader};
use crate::report::text::Look;

use crate::store::model::Store;
use crate::store::root::Root;
use crate::store::{installed, read};
use rustix::fs::{Access, AtFlags, FileType, OFlags};
use rustix::io::Errno;

/// Which findings make `audit` end with status 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailOn {
    /// Those of this severity and above.
    Severity(Severity),
    /// Those of these rules.
    Rules(Vec<&'static str>),
}

impl FailOn {
    /// Whether a finding counts.
    pub fn includes(&self, id: &str) -> bool {
        match self {
            Self::Severity(least) => rules::find(id).is_some_and(|rule| rule.severity >= *least),
            Self::Rules(ids) => ids.contains(&id),
        }
    }
}

/// `--fail-on`.
pub fn parse_fail_on(text: &str) -> std::result::Result<FailOn, String> {
    Ok(match text {
        "error" => FailOn::Severity(Severity::Error),
        "warning" => FailOn::Severity(Severity::Warning),
        "notice" => FailOn::Severity(Severity::Notice),
        _ => FailOn::Rules(
            text.split(',')
                .map(|id| {
                    rules::find(id.trim()).map(|rule| rule.id).ok_or_else(|| {
                        format!("no severity and no rule is called '{id}' (one severity, or a list of ids)")
                    })
                })
                .collect::<std::result::Result<_, _>>()?,
        ),
    })
}

/// The lines of a list with their numbers, without comments and blank lines.
fn text_lines(path: &Path) -> std::result::Result<Vec<(usize, String)>, Failure> {
    let bytes = read::pipe(&Root::host(), path)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::Usage(format!("{} is not UTF-8 text", visible_path(path))))?;
    let lines = text.lines().enumerate().map(|(index, line)| {
        // A glob may hold a '#'; a comment stands behind a blank or at the start.
        let line = line.split_once(" #").map_or(line, |(entry, _)| entry).trim();
        (index + 1, line.to_owned())
    });
    Ok(lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).collect())
}

/// The entries of `--ignore` and of every `--ignore-file`.
pub fn ignore(arguments: &Audit) -> std::result::Result<Vec<Ignore>, Failure> {
    let mut entries = arguments.ignore.clone();
    for path in &arguments.ignore_file {
        for (number, line) in text_lines(path)? {
            let entry = line
                .parse()
                .map_err(|error| Failure::Usage(format!("{}:{number}: {error}", visible_path(path))))?;
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// `--label`.
pub fn parse_label(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("not of the form KEY=VALUE".to_owned()),
    }
}

/// `--at`.
pub fn parse_time(text: &str) -> std::result::Result<i64, String> {
    parse_instant(text)
        .ok_or_else(|| "neither RFC 3339 (2026-01-31T12:00:00Z) nor a date (2026-01-31)".to_owned())
}

/// `--expiring-within`.
pub fn parse_duration(text: &str) -> std::result::Result<i64, String> {
    let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err("a number and one of s, m, h, d, w: 30d".to_owned()),
    };
    let number: i64 = digits.parse().map_err(|_| "a number and one of s, m, h, d, w: 30d".to_owned())?;
    number.checked_mul(unit).filter(|seconds| *seconds >= 0).ok_or_else(|| "too long, or negative".to_owned())
}

/// `--time-limit`: a time, and not none.
pub fn parse_limit(text: &str) -> std::result::Result<i64, String> {
    parse_duration(text).and_then(|seconds| match seconds {
        0 => Err("no time at all".to_owned()),
        seconds => Ok(seconds),
    })
}

/// `--max-size`: bytes, or with a unit of 1000 (kB, MB, GB) or 1024 (KiB, MiB, GiB).
pub fn parse_size(text: &str) -> std::result::Result<u64, String> {
    const USAGE: &str = "a number of bytes, or with one of kB, MB, GB, KiB, MiB, GiB";
    let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "B" => 1,
        "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(USAGE.to_owned()),
    };
    digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).ok_or_else(|| USAGE.to_owned())
}

/// Seconds since 1970, by the clock.
pub fn now() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_secs()).unwrap_or(i64::MAX),
    }
}

/// The root that was named, or the machine's.
pub fn root(inside: &Inside) -> Result<Root> {
    inside.root.as_deref().map_or_else(|| Ok(Root::host()), Root::inside)
}

/// What OpenSSL's defaults lead to inside a root; with `environment`, on the machine itself, what its variables make of
/// them.
pub fn openssl_defaults(root: &Root, environment: bool) -> Option<OpensslDefaults> {
    let identity = |path: PathBuf| root.look(&path).ok().map(|seen| seen.identity);
    let variable = |name: &str| set_variable(name, root).filter(|_| environment);
    let file = variable("SSL_CERT_FILE").map(|path| identity(path.into()));
    let directory = variable("SSL_CERT_DIR").map(|list| std::env::split_paths(&list).find_map(identity));
    let compiled_in = compiled_in_defaults(root);
    if file.is_none() && directory.is_none() {
        return compiled_in;
    }
    Some(OpensslDefaults {
        directory: directory.unwrap_or_else(|| compiled_in.and_then(|defaults| defaults.directory)),
        file: file.unwrap_or_else(|| compiled_in.and_then(|defaults| defaults.file)),
    })
}

/// A variable of the environment, which is a matter of the machine itself, where it is set to something.
fn set_variable(name: &str, root: &Root) -> Option<OsString> {
    std::env::var_os(name).filter(|value| root.is_host() && !value.is_empty())
}

/// SOURCE_DATE_EPOCH, the time that a reproducible build gives to what it writes: seconds since 1970, as
/// <https://reproducible-builds.org/specs/source-date-epoch/> has it. That asks for a failure where it is no number.
pub fn source_date_epoch() -> std::result::Result<Option<i64>, Failure> {
    let Some(value) = std::env::var_os("SOURCE_DATE_EPOCH").filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let digits = value.to_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|text| text.parse().ok()).map(Some).ok_or_else(|| {
        let value = visible(&value.to_string_lossy()).to_string();
        Failure::Usage(format!("SOURCE_DATE_EPOCH is no number of seconds since 1970: '{value}'"))
    })
}

/// The OpenSSL that is installed in a root, looked for when it is first asked for, and once.
pub struct OnDisk<'a> {
    root: &'a Root,
    release: OnceCell<Option<Release>>,
}

impl<'a> OnDisk<'a> {
    /// That of this root.
    pub fn new(root: &'a Root) -> Self {
        Self { root, release: OnceCell::new() }
    }

    fn release(&self) -> Option<Release> {
        *self.release.get_or_init(|| installed::openssl(self.root).map(|library| library.release))
    }

    /// The OpenSSL whose cost is estimated: the release that was named, else this one.
    pub fn priced(&self, named: Option<Release>) -> Openssl {
        Openssl::new(named.or_else(|| self.release()))
    }
}

/// `openssl-3.0`, `openssl-3.5.4`.
pub fn parse_library(text: &str) -> std::result::Result<Release, String> {
    let release = text.strip_prefix("openssl-").unwrap_or(text);
    release.parse().map_err(|error: NotARelease| error.to_string())
}

/// The variables that lead to a store, or all of them where it is the machine's own that is looked at.
pub fn variables(root: &Root, store: &Store, all: bool) -> Vec<(&'static str, String)> {
    let leads_to_it = |value: &OsStr| {
        let there = root.look(Path::new(value)).ok().map(|seen| seen.identity);
        there.is_some() && store.files().iter().any(|file| file.identity == there)
    };
    let mut out = Vec::new();
    for (name, _) in VARIABLES {
        if let Some(value) = set_variable(name, root).filter(|value| all || leads_to_it(value)) {
            out.push((*name, path_text(Path::new(&value)).0));
        }
    }
    out
}

/// All variables that name a CAfile and are set here, with what they say.
pub fn named_variables() -> Vec<(&'static str, OsString)> {
    let set = VARIABLES.iter().filter_map(|(name, _)| Some((*name, std::env::var_os(name)?)));
    set.filter(|(_, value)| !value.is_empty()).collect()
}

/// The first bundle of a distribution that is there.
pub fn default_bundle(root: &Root) -> Result<Option<PathBuf>> {
    for path in DISTRIBUTION_BUNDLES.iter().map(Path::new) {
        if root.has(path)? {
            return root.follow(path).map(Some).map_err(|error| Error::io("follow the link", path, error));
        }
    }
    Ok(None)
}

/// What OpenSSL's defaults lead to when no variable is set.
fn compiled_in_defaults(root: &Root) -> Option<OpensslDefaults> {
    let identity = |path: PathBuf| root.look(&path).ok().map(|seen| seen.identity);
    OPENSSL_DIRS.iter().find_map(|directory| {
        let directory = Path::new(directory);
        let certificates = identity(directory.join(CERT_DIR))?;
        Some(OpensslDefaults { directory: Some(certificates), file: identity(directory.join(CERT_FILE)) })
    })
}

/// A path that is looked at although nobody named it, and why.
pub struct Default {
    /// The path, as seen from inside the root.
    pub path: PathBuf,
    /// Why.
    pub why: String,
    /// Whether it is only told, as nothing is there.
    pub skipped: bool,
}

/// What OpenSSL would use: the environment's variables where they are set (on the machine itself), else OPENSSLDIR's
/// file and directory, and the distribution's bundle.
pub fn default_paths(root: &Root) -> Vec<Default> {
    let mut out: Vec<Default> = Vec::new();
    let mut add = |path: &Path, why: String| {
        // A link is named by what it leads to: that is what people know.
        let path = root.follow(path).unwrap_or_else(|_| path.to_owned());
        // OpenSSL follows a variable wherever it leads; who set it must hear that nothing is there.
        // A list of directories often names some that are not there.
        let there = root.look(&path).is_ok();
        if (there || why.starts_with("SSL_CERT_")) && !out.iter().any(|known| known.path == path) {
            let skipped = !there && why == "SSL_CERT_DIR";
            out.push(Default { path, why, skipped });
        }
    };
    let variable = |name: &str| set_variable(name, root);
    let directory = OPENSSL_DIRS.iter().map(Path::new).find(|path| root.look(&path.join(CERT_DIR)).is_ok());
    match variable("SSL_CERT_DIR") {
        Some(list) => {
            for path in std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()) {
                add(&path, "SSL_CERT_DIR".to_owned());
            }
        }
        None => {
            if let Some(directory) = directory {
                add(&directory.join(CERT_DIR), format!("{CERT_DIR} in OPENSSLDIR {}", directory.display()));
            }
        }
    }
    match variable("SSL_CERT_FILE") {
        Some(path) => add(Path::new(&path), "SSL_CERT_FILE".to_owned()),
        None => {
            if let Some(directory) = directory {
                add(&directory.join(CERT_FILE), format!("{CERT_FILE} in OPENSSLDIR {}", directory.display()));
            }
        }
    }
    for bundle in DISTRIBUTION_BUNDLES {
        if root.look(Path::new(bundle)).is_ok() {
            add(Path::new(bundle), "the distribution's bundle".to_owned());
            break;
        }
    }
    out
}

/// What one context of OpenSSL's defaults loads here (`SSL_CTX_set_default_verify_paths`).
pub struct Loads {
    /// The CAfile.
    pub cafile: Option<OsString>,
    /// The CApath, or several with colons.
    pub capath: Option<OsString>,
    /// Why these, in words.
    pub notes: Vec<String>,
}

/// The environment's variables where they are set, else OPENSSLDIR's file and directory, as in [`default_paths`]; what is
/// not there is passed over, as OpenSSL does.
pub fn openssl_loads(root: &Root) -> Loads {
    let mut loads = Loads { cafile: None, capath: None, notes: Vec::new() };
    let directory = OPENSSL_DIRS.iter().map(Path::new).find(|path| root.look(&path.join(CERT_DIR)).is_ok());
    let mut choose = |variable: &str, name: &str| {
        let (value, why) = match std::env::var_os(variable).filter(|value| !value.is_empty()) {
            Some(value) => (value, variable.to_owned()),
            None => {
                let directory = directory?;
                (
                    directory.join(name).into_os_string(),
                    format!("{name} in OPENSSLDIR {}", directory.display()),
                )
            }
        };
        let is_list = variable == "SSL_CERT_DIR";
        // Of a wrong kind OpenSSL gets nothing, and goes on as well.
        let kind = if is_list { FileType::Directory } else { FileType::RegularFile };
        let there = |path: PathBuf| root.look(&path).is_ok_and(|seen| seen.kind == kind);
        let any =
            if is_list { std::env::split_paths(&value).any(there) } else { there(PathBuf::from(&value)) };
        let verb = if any { "measuring" } else { "nothing to load:" };
        loads.notes.push(format!("{verb} {}: {why}", visible_path(&value)));
        any.then_some(value)
    };
    let (cafile, capath) = (choose("SSL_CERT_FILE", CERT_FILE), choose("SSL_CERT_DIR", CERT_DIR));
    Loads { cafile, capath, ..loads }
}

/// The directories of `SSL_CERT_DIR`, which is a matter of the machine itself; `None` where it is not set. An empty one
/// names no directory, or counts as not set.
pub fn certificate_directories(root: &Root, empty_counts: bool) -> Option<Vec<PathBuf>> {
    let list = std::env::var_os("SSL_CERT_DIR").filter(|_| root.is_host())?;
    if list.is_empty() && !empty_counts {
        return None;
    }
    Some(std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect())
}

/// The directory in which OpenSSL looks by default.
pub fn default_directory(root: &Root) -> Option<PathBuf> {
    let mut candidates = OPENSSL_DIRS.iter().map(|directory| Path::new(directory).join(CERT_DIR));
    candidates.find(|path| root.look(path).is_ok())
}

/// Whether names in a directory may be changed.
///
/// # Errors
/// Where they may not.
pub fn may_write(root: &Root, path: &Path) -> Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fail = |error: io::Error| Error::io("write in", path, error);
    let handle = root.open(path, flags).map_err(fail)?;
    match rustix::fs::accessat(&handle, ".", Access::WRITE_OK, AtFlags::EACCESS) {
        // A system that cannot say so will say no when it is tried.
        Ok(()) | Err(Errno::NOSYS | Errno::INVAL) => Ok(()),
        Err(error) => Err(fail(error.into())),
    }
}

/// The paths of `audit`: those named, and those of `--files0-from`.
pub fn paths(arguments: &Audit) -> std::result::Result<Vec<PathBuf>, Failure> {
    let mut paths = arguments.paths.clone();
    if let Some(list) = &arguments.files0_from {
        let bytes =
            if list.as_os_str() == "-" { read::standard_input()? } else { read::pipe(&Root::host(), list)? };
        let names = bytes.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        paths.extend(names.map(|name| PathBuf::from(OsStr::from_bytes(name))));
        if list.as_os_str() == "-" && paths.iter().any(|path| path.as_os_str() == "-") {
            return Err(Failure::Usage(
                "standard input cannot be the list of paths and one of them".to_owned(),
            ));
        }
        if paths.is_empty() {
            return Err(Failure::Usage(format!("{} names no path", visible_path(list))));
        }
    }
    Ok(paths)
}

/// How text is to look on standard output.
pub fn look(output: &Output) -> Look {
    let color = match output.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
    };
    Look { width: width(), verbose: output.verbose, color }
}

/// How many columns standard output has; `None` for a file or pipe.
pub fn width() -> Option<usize> {
    if io::stdout().is_terminal() {
        Some(terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0)))
    } else {
        // Shells do not export COLUMNS: who sets it for a pipe means it.
        std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok())
    }
}

/// `compact`'s policy.
///
/// # Errors
/// A removal list that cannot be read.
pub fn policy(arguments: &Compact) -> std::result::Result<Policy, Failure> {
    let mut remove = arguments.remove.clone();
    for path in &arguments.remove_list {
        for (number, line) in text_lines(path)? {
            let entry = line
                .parse()
                .map_err(|error| Failure::Usage(format!("{}:{number}: {error}", visible_path(path))))?;
            remove.push(entry);
        }
    }
    let unmatched = if arguments.require_match { UnmatchedRemoval::Refuse } else { UnmatchedRemoval::Tell };
    Ok(Policy {
        unreachable: arguments.unreachable.into(),
        comments: arguments.comments.into(),
        output_links: arguments.output_links.into(),
        remove,
        unmatched,
        expired: arguments.expired.into(),
        malformed: arguments.malformed.into(),
        not_ca: arguments.not_ca.into(),
        trust: arguments.trust.into(),
        order: arguments.order.into(),
        gain: arguments.gain.into(),
        prune: if arguments.prune { PrunePolicy::Prune } else { PrunePolicy::Keep },
        max_shrink: arguments.max_shrink,
    })
}

/// Where a file is written: a link is followed, so that the file behind it changes and the link stays. The second value
/// says whether a file is there.
pub fn resolve_output(root: &Root, path: &Path) -> Result<(PathBuf, bool)> {
    if path.as_os_str().as_bytes().ends_with(b"/") {
        return Err(Error::io(
            "write",
            path,
            io::Error::other("its name ends with a slash: it would be a directory"),
        ));
    }
    let real = root.follow(path).map_err(|error| Error::io("follow the link", path, error))?;
    match root.look_at_link(&real) {
        Ok(seen) if seen.kind == FileType::RegularFile => Ok((real, true)),
        Ok(_) => Err(Error::io("write", path, io::Error::other("it is no regular file"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound && real == path => Ok((real, false)),
        // Whoever made a link to nothing meant a file to be there: castore does not guess which.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::io("follow the link", path, error))
        }
        Err(error) => Err(Error::io("look at", path, error)),
    }
}

/// Whether a file's directory is this one, whatever names lead to it.
pub fn is_inside(root: &Root, path: &Path, directory: &Path) -> bool {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let identity = |path: &Path| root.look(path).ok().map(|seen| seen.identity);
    identity(parent).is_some_and(|parent| identity(directory) == Some(parent))
}

/// Whether a directory is there.
pub fn is_directory(root: &Root, path: &Path) -> Result<bool> {
    match root.look(path) {
        Ok(seen) if seen.kind == FileType::Directory => Ok(true),
        Ok(_) => Err(Error::NotADirectory { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match root.look_at_link(path) {
            Ok(_) => Err(Error::io("follow the link", path, error)),
            Err(_) => Ok(false),
        },
        Err(error) => Err(Error::io("look at", path, error)),
    }
}

/// The tool of the distribution that writes this path anew, if it is such a path.
pub fn regenerated_by(root: &Root, path: &Path) -> Option<&'static str> {
    let real = root.follow(path).unwrap_or_else(|_| path.to_owned());
    REGENERATED.iter().find(|(known, _)| Path::new(known) == real).map(|(_, tool)| *tool)
}

/// What to do about an error.
pub fn hint(error: &Error) -> Option<&'static str> {
    let Error::Refused(refusal) = error else { return None };
    Some(match refusal {
        Refusal::Malformed { .. } => {
            "nothing was written; mend the blocks, or say --malformed drop or --malformed repair"
        }
        Refusal::Gain { .. } => "nothing was written; --gain accept lets it trust them",
        Refusal::Trusted { .. } => "nothing was written; --trust plain or --trust keep takes them",
        Refusal::Shrinks { .. } => "nothing was written; look at the inputs, or raise --max-shrink",
        Refusal::Empty { .. } => "nothing was written; a bundle without a certificate breaks every client",
        Refusal::Unreadable { .. } => "nothing was written; run as a user who may read all inputs",
        Refusal::Unmatched { .. } => "nothing was written; look at the list, or leave out --require-match",
        Refusal::InTheWay { .. } => "nothing was written; move it out of the directory, and run again",
    })
}

/// The readers that `--reader` names; those of [`Reader::DEFAULT`] where it does not, with the OpenSSL that is installed.
pub fn readers(names: &[String], on_disk: &OnDisk<'_>) -> std::result::Result<Vec<Reader>, Failure> {
    let openssl = || {
        let version = on_disk.release().map_or(Version::V3_0, Version::of);
        Reader::OpenSsl(version)
    };
    let mut out: Vec<Reader> = Vec::new();
    for name in names {
        match name.as_str() {
            "all" => out.extend(Reader::ALL),
            "openssl" => out.push(openssl()),
            name => out.push(name.parse().map_err(|error: NotAReader| {
                let known: Vec<&str> = Reader::ALL.iter().map(|reader| reader.name()).collect();
                Failure::Usage(format!("--reader: {error}; there are all, openssl, {}", known.join(", ")))
            })?),
        }
    }
    if names.is_empty() {
        out.push(openssl());
        out.extend(Reader::DEFAULT.iter().filter(|reader| !matches!(reader, Reader::OpenSsl(_))));
    }
    // In the order of the reports, each once.
    Ok(Reader::ALL.iter().copied().filter(|reader| out.contains(reader)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(parse_duration("30d"), Ok(2_592_000));
        assert_eq!(parse_duration("2w"), Ok(1_209_600));
        for bad in ["", "d", "30", "30y", "-1d", "99999999999999999d", "3 d"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("1MiB"), Ok(1_048_576));
        assert_eq!(parse_size("500kB"), Ok(500_000));
        assert_eq!(parse_size("4096"), Ok(4096));
        for bad in ["", "MiB", "1mib", "-1", "99999999999999999999"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn fail_on() {
        assert!(parse_fail_on("warning").is_ok_and(|on| on.includes("expired") && !on.includes("leftover")));
        assert!(
            parse_fail_on("leftover,expired")
                .is_ok_and(|on| on.includes("leftover") && !on.includes("duplicate"))
        );
        assert!(parse_fail_on("errors").is_err());
    }
}
