//! `castore hook`: what `update.d` and package hooks call. One policy; the store is never left worse than it was.
#![allow(clippy::disallowed_methods, reason = "this module reads the clock by way of the settings")]

use std::io::IsTerminal as _;
use std::path::Path;

use super::args::{Hook, Inside};
use super::run::{Outcome, lock, persistently};
use super::tune::{DefaultFile, System};
use super::{Failure, Status, note, settings};
use crate::audit::{self, Context};
use crate::cost::estimate::Prices;
use crate::escape::{visible, visible_path};
use crate::plan::dedupe::{self, Deduplicated};
use crate::plan::{Plan, Step, tune};
use crate::report::json;
use crate::report::model::Report;
use crate::store::discover::Reach;
use crate::store::load::{self, Loading};
use crate::store::root::Root;
use crate::store::{read, updater, watch};
use crate::write::apply::{Applying, apply, write_file, write_file_locked};
use crate::write::atomic::Directory;
use crate::write::lock::LIMIT;
use crate::write::undo::{Direction, Record, STATE};

/// The policy.
pub const CONFIG: &str = "/etc/castore/hook.conf";
/// The last report, in [`STATE`].
const REPORT: &str = "report.json";

/// What the hook does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Nothing.
    Off,
    /// Writes a report.
    Report,
    /// Takes exact duplicates out of the bundle.
    Dedupe,
    /// Looks after the split layout.
    Split,
}

/// The mode of the usual policy file; `None` where it cannot be read.
pub fn mode(root: &Root) -> Option<Mode> {
    policy(root, Path::new(CONFIG)).ok()
}

/// Reads `mode = WORD`; `#` starts a comment. A file that is not there says `report`.
fn policy(root: &Root, path: &Path) -> Result<Mode, Failure> {
    if matches!(root.look(path), Err(error) if error.kind() == std::io::ErrorKind::NotFound) {
        return Ok(Mode::Report);
    }
    let bytes = read::regular(root, path)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut mode = Mode::Report;
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let place = || format!("{}:{}", visible_path(path), number + 1);
        let wrong = || {
            Failure::Usage(format!(
                "{}: {}: expected mode = off, report, dedupe or split",
                place(),
                visible(line)
            ))
        };
        let (name, value) = line.split_once('=').ok_or_else(wrong)?;
        if name.trim() != "mode" {
            return Err(wrong());
        }
        mode = match value.trim() {
            "off" => Mode::Off,
            "report" => Mode::Report,
            "dedupe" => Mode::Dedupe,
            "split" => Mode::Split,
            _ => return Err(wrong()),
        };
    }
    Ok(mode)
}

/// `castore hook`.
pub fn hook(arguments: &Hook) -> Outcome {
    drain();
    let root = settings::root(&arguments.inside)?;
    let mode = policy(&root, &arguments.config)?;
    if mode == Mode::Off {
        return Ok(Status::Done);
    }
    let split = if mode == Mode::Split { split(&arguments.inside)? } else { Status::Done };
    if mode == Mode::Dedupe {
        persistently(|| dedupe(&root))?;
    }
    report(&root)?;
    Ok(split)
}

/// `update-ca-certificates` tells the changed files on standard input; who does not read them may end it by a broken
/// pipe. A terminal is nobody's list.
fn drain() {
    if !std::io::stdin().is_terminal() {
        let _ = read::standard_input();
    }
}

/// Judges the store and keeps the report.
fn report(root: &Root) -> Result<(), Failure> {
    let paths: Vec<_> = settings::default_paths(root)
        .into_iter()
        .filter(|default| !default.skipped)
        .map(|default| default.path)
        .collect();
    let reach = Reach { root: root.clone(), recursive: false };
    let on_disk = settings::OnDisk::new(root);
    let readers = settings::readers(&[], &on_disk)?;
    let store = load::load_with(&paths, &Loading { reach, comments: false, readers });
    let context = Context {
        updater: updater::survey(root, &store),
        openssl_defaults: settings::openssl_defaults(root, false),
        ..Context::at(settings::now())
    };
    let findings = audit::run(&store, &context);
    let prices = Prices { openssl: on_disk.priced(None), ..Prices::default() };
    let report = Report::new("audit", &store, &context, &findings, None, &prices);
    let mut bytes = Vec::new();
    json::render(&report, &mut bytes)?;
    Directory::make_all(root, Path::new(STATE))?;
    write_file(root, &Path::new(STATE).join(REPORT), &bytes)?;
    Ok(())
}

/// Takes exact duplicates out of the bundle, and nothing else: neither what has expired, nor what is no CA.
fn dedupe(root: &Root) -> Result<(), Failure> {
    let Some(bundle) = settings::default_bundle(root)? else { return Ok(()) };
    let parent = bundle.parent().unwrap_or(Path::new("/"));
    let lock = &lock(root, &[parent.to_owned()], LIMIT)?;
    let (bytes, seen) = read::regular_seen(root, &bundle)?;
    // Without a repeat the file stays as the distribution writes it.
    let left = dedupe::dedupe(&bytes).map_err(|damaged| {
        Failure::Usage(format!("{}: {damaged}; nothing was changed", visible_path(&bundle)))
    })?;
    let Some(Deduplicated { bytes, holds, others }) = left else { return Ok(()) };
    let unchanged = || watch::is_still(root, &bundle, &seen);
    let steps = vec![Step::WriteFile { path: bundle.clone(), bytes, holds, others }];
    let plan = Plan { steps, ..Plan::default() };
    apply(root, &plan, &Applying { lock, in_place: false, unchanged: &unchanged })?;
    Ok(())
}

/// After an update of the store: OpenSSL still finds all by hash, or gets its file back.
fn split(inside: &Inside) -> Outcome {
    let _lock = super::tune::lock_default_file(inside, LIMIT)?;
    let system = System::survey(inside)?;
    // The hook adds no diversion: what was never applied is not its matter.
    let Some(record) = system.known()?.filter(|record| record.direction != Direction::Undoing) else {
        note("hook: mode = split, but castore tune apply was never run");
        return Ok(Status::Done);
    };
    // Where the file was taken away, a link is to be had even if somebody has removed the one that is away.
    if !system.is_away() && system.default_file != DefaultFile::Absent {
        return Ok(Status::Done);
    }
    if !system.is_as_left(&record) {
        note(&format!("hook: {} is somebody else's file, and stays", visible_path(&record.cert_file)));
        return Ok(Status::Done);
    }
    let restore = |why: &str| -> Outcome {
        match system.default_file {
            DefaultFile::Link(_) if record.direction == Direction::Restored => {}
            // A run that was killed may have put the link back, and not have said so.
            DefaultFile::Link(_) => restored(&system.root, &record)?,
            _ => put_back(&system.root, &record)?,
        }
        note(&format!("hook: {} is a link to the bundle again: {why}", visible_path(&record.cert_file)));
        Ok(Status::Done)
    };
    let read = match system.read() {
        Ok(read) => read,
        Err(_) => return restore("the store cannot be read"),
    };
    if let Err(why) = read.proof() {
        return restore(&why);
    }
    take_again(&system, &record, &read)?;
    Ok(Status::Done)
}

/// Puts a link to the bundle where the default file was. dpkg is not called: its diversion stands.
fn put_back(root: &Root, record: &Record) -> Result<(), Failure> {
    let parent = record.cert_file.parent().unwrap_or(Path::new("/"));
    let name = record.cert_file.file_name().unwrap_or_default();
    let directory = Directory::open_to_write(root, parent)?;
    let replaces = crate::write::undo::is_there(root, &record.cert_file)?;
    directory.link(name, record.target.as_os_str(), replaces)?;
    directory.sync()?;
    restored(root, record)
}

fn restored(root: &Root, record: &Record) -> Result<(), Failure> {
    Record { direction: Direction::Restored, ..record.clone() }.write(root)?;
    Ok(())
}

/// The proof holds: no link that the hook has put back, and a stub that is still a good one.
fn take_again(system: &System, record: &Record, read: &super::tune::Read) -> Result<(), Failure> {
    let wanted = match &record.stub {
        None => None,
        Some(stub) => Some(good_stub(read, stub).ok_or_else(|| {
            Failure::Usage("no certificate of the directory can stand for OpenSSL's default file".to_owned())
        })?),
    };
    let stands = match (&wanted, &system.default_file) {
        (None, DefaultFile::Absent) => true,
        (Some((_, fingerprint)), DefaultFile::File) => record.stub.as_ref() == Some(fingerprint),
        _ => false,
    };
    if stands && record.direction == Direction::Applied {
        return Ok(());
    }
    let stub = wanted.as_ref().map(|(_, fingerprint)| fingerprint.clone());
    let record = Record { direction: Direction::Applied, stub, ..record.clone() };
    match wanted {
        Some((bytes, _)) => {
            // The record first: a stub that no record tells of is somebody else's file.
            record.write(&system.root)?;
            write_file_locked(&system.root, &record.cert_file, &bytes)?;
        }
        None => {
            let parent = record.cert_file.parent().unwrap_or(Path::new("/"));
            let directory = Directory::open_to_write(&system.root, parent)?;
            directory.remove(record.cert_file.file_name().unwrap_or_default())?;
            directory.sync()?;
            record.write(&system.root)?;
        }
    }
    Ok(())
}

/// The stub that stands, where it is still a good one, else another.
fn good_stub(read: &super::tune::Read, stub: &str) -> Option<(Vec<u8>, String)> {
    let directory = read.directory?;
    let now = settings::now();
    let file = tune::stub_like(&read.store, directory, now, stub)
        .or_else(|| tune::stub(&read.store, directory, now, None))?;
    let (_, occurrence) = read.store.occurrences_of_file(file).next()?;
    let certificate = read.store.certificate(occurrence.certificate);
    let bytes = crate::pem::encode::encode(crate::pem::label::Label::Certificate, certificate.der.as_bytes());
    Some((bytes.into_bytes(), certificate.fingerprint.to_string()))
}
