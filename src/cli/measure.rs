//! `measure`: what was named becomes a job for a child process, and what that measured a report.
#![allow(clippy::disallowed_methods, reason = "this module talks with its parent, and finds the program")]

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use rustix::fs::{FileType, OFlags};

use super::args::{AuditFormat, Format, Measure};
use super::run::{Outcome, checked, tell};
use super::{Failure, Status, failed, note, settings};
use crate::audit::Context;
use crate::certificate::fingerprint::Fingerprint;
use crate::cost::estimate::Prices;
use crate::cost::measure::{self, Job, Place, Worker};
use crate::error::Error;
use crate::escape::visible_path;
use crate::openssl::locations::BUNDLE_NAMES;
use crate::report::measured::{MeasureRow, MeasurementRow, Named};
use crate::report::model::Report;
use crate::store::discover::Reach;
use crate::store::load::{self, Loading};
use crate::store::model::Store;
use crate::store::root::Root;
use crate::store::source::{SourceId, SourceKind};

/// The one argument of a child.
pub const CHILD: &str = "--measure-child";

/// The child's side.
pub fn child() -> ExitCode {
    let status = match measure::serve(&mut io::stdin().lock(), &mut io::stdout().lock()) {
        Ok(()) => Status::Done,
        Err(error) => failed(Failure::Output(error)),
    };
    ExitCode::from(status as u8)
}

impl From<measure::Failure> for Failure {
    fn from(failure: measure::Failure) -> Self {
        Self::Measure(Box::new(failure))
    }
}

/// The command.
pub fn measure(arguments: &Measure) -> Outcome {
    let root = Root::host();
    let mut asked: Vec<Asked> =
        arguments.stores.iter().map(|word| Asked::named(&root, word)).collect::<Result<_, _>>()?;
    if asked.is_empty() && (arguments.key.is_none() || arguments.vs.is_some()) {
        asked.push(Asked::defaults(&root, arguments.output.quiet)?);
    }
    if let Some(word) = &arguments.vs {
        asked.push(Asked::named(&root, word)?);
    }
    if let Some(path) = &arguments.key {
        match root.look(path) {
            Ok(seen) if seen.kind == FileType::RegularFile => {}
            Ok(_) => return Err(Error::io("read", path, io::Error::other("not a regular file")).into()),
            Err(error) => return Err(Error::io("read", path, error).into()),
        }
        // Opened, to say why it cannot be; it is the library that reads it.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        root.open(path, flags).map_err(|error| Error::io("read", path, error))?;
    }
    let mut known = asked.iter().map(|one| Known::of(&root, one)).collect::<Result<Vec<_>, _>>()?;
    choose_subjects(&mut known);
    if !arguments.output.quiet {
        for (one, _) in asked.iter().zip(&known).filter(|(_, known)| known.dead) {
            let path = one.capath.as_ref().map(visible_path).unwrap_or_default();
            note(&format!("{path} has no hash link: no look-up finds anything there"));
        }
    }
    let places = asked.iter().zip(&known).map(|(one, known)| Place {
        cafile: one.cafile.clone(),
        capath: one.capath.clone(),
        subject: known.subject.clone(),
    });
    let job = Job {
        libssl: arguments.libssl.clone(),
        key: arguments.key.as_ref().map(|path| path.as_os_str().to_owned()),
        runs: arguments.runs.map(|runs| runs as usize),
        limit: Duration::from_secs(arguments.time_limit.unsigned_abs()),
        ..Job::new(places.collect())
    };
    let measured = measure::run(&worker()?, &job)?;

    let paths: Vec<PathBuf> = asked.iter().flat_map(|one| one.paths(&root)).collect();
    let store = load_quickly(&root, &paths)?;
    let mut report =
        Report::new("measure", &store, &Context::at(settings::now()), &[], None, &Prices::default());
    // Estimates stand beside no measurement.
    report.cost.clear();
    let named: Vec<Named> = asked
        .into_iter()
        .zip(known)
        .map(|(one, known)| Named {
            path: one.path,
            cafile: one.cafile,
            capath: one.capath,
            blocks: known.blocks,
        })
        .collect();
    report.measure = Some(MeasureRow::new(&measured, &named, job.key.as_deref(), arguments.vs.is_some()));
    let format = match arguments.format {
        Format::Text => AuditFormat::Text,
        Format::Json => AuditFormat::Json,
    };
    tell(&report, format, &arguments.output)?;
    Ok(Status::Done)
}

/// Puts beside the estimates of an audit what the libssl of this machine takes, where OpenSSL is what loads the store: as
/// it is, and without OpenSSL's default file.
pub fn beside_estimates(report: &mut Report, store: &Store) -> Result<(), Failure> {
    let capath = store.sources().iter().find(|source| source.kind == SourceKind::CaPath);
    let capath = capath.map(|source| source.path.clone().into_os_string());
    let mut wanted = Vec::new();
    for (index, row) in report.cost.iter().enumerate() {
        let split = row.layout == "split" && row.family == "openssl-defaults";
        if !(row.reader.starts_with("openssl-") && (row.layout == "now" || split)) {
            continue;
        }
        // One file at most is a default; several that were named are loaded by nobody at once.
        let mut files = row.sources.iter().map(|&id| &store.source(SourceId(id)).path);
        let cafile = files.next().map(|path| path.clone().into_os_string());
        if files.next().is_some() || cafile.as_deref() == Some(OsStr::new("-")) {
            continue;
        }
        let capath = capath.clone().filter(|_| row.on_demand);
        if cafile.is_some() || capath.is_some() {
            wanted.push((index, Place { cafile, capath, subject: None }));
        }
    }
    // Each place once: several families do the same.
    let mut places: Vec<Place> = Vec::new();
    for (_, place) in &wanted {
        if !places.contains(place) {
            places.push(place.clone());
        }
    }
    if places.is_empty() {
        return Ok(());
    }
    let measured = measure::run(&worker()?, &Job::new(places.clone()))?;
    for (index, place) in wanted {
        let at = places.iter().position(|known| *known == place);
        let times = at.and_then(|at| measured.places.get(at));
        report.cost[index].measurement = times.and_then(|times| MeasurementRow::of(&measured.library, times));
    }
    Ok(())
}

/// This program once more.
fn worker() -> Result<Worker, Failure> {
    let program = std::env::current_exe()
        .map_err(|source| measure::Failure::Start { program: "castore".into(), source })?;
    Ok(Worker { program, argument: CHILD.into(), library_path: std::env::var_os("LD_LIBRARY_PATH") })
}

/// One store, as it was asked for.
struct Asked {
    /// `None` for what OpenSSL would use.
    path: Option<OsString>,
    cafile: Option<OsString>,
    capath: Option<OsString>,
}

impl Asked {
    fn named(root: &Root, word: &OsStr) -> Result<Self, Failure> {
        let path = Some(word.to_owned());
        let rest = |prefix: &str| word.as_bytes().strip_prefix(prefix.as_bytes()).map(OsStr::from_bytes);
        if let Some(file) = rest("cafile:") {
            return match look(root, Path::new(file))? {
                FileType::Directory => Err(Failure::Usage(format!(
                    "{} is a directory: capath:DIR loads that",
                    visible_path(file)
                ))),
                _ => Ok(Self { path, cafile: Some(file.to_owned()), capath: None }),
            };
        }
        if let Some(list) = rest("capath:") {
            for directory in std::env::split_paths(list) {
                if look(root, &directory)? != FileType::Directory {
                    return Err(Error::NotADirectory { path: directory }.into());
                }
            }
            return Ok(Self { path, cafile: None, capath: Some(list.to_owned()) });
        }
        if word == "-" {
            return Err(Failure::Usage(
                "standard input cannot be measured: a library opens its store by name; write it into a file"
                    .to_owned(),
            ));
        }
        Ok(match look(root, Path::new(word))? {
            FileType::Directory => {
                let bundles = BUNDLE_NAMES.iter().map(|name| Path::new(word).join(name));
                let is_file =
                    |path: &PathBuf| root.look(path).is_ok_and(|seen| seen.kind == FileType::RegularFile);
                let cafile = bundles.into_iter().find(is_file).map(PathBuf::into_os_string);
                // A colon would part it in two.
                if word.as_bytes().contains(&b':') {
                    return Err(Failure::Usage(format!(
                        "{}: OpenSSL takes a colon for the end of a directory's name; name it by a link without one",
                        visible_path(word)
                    )));
                }
                Self { path, cafile, capath: Some(word.to_owned()) }
            }
            _ => Self { cafile: path.clone(), path, capath: None },
        })
    }

    /// What OpenSSL would use here.
    fn defaults(root: &Root, quiet: bool) -> Result<Self, Failure> {
        let defaults = settings::openssl_loads(root);
        if !quiet {
            defaults.notes.iter().for_each(|text| note(text));
        }
        if defaults.cafile.is_none() && defaults.capath.is_none() {
            return Err(Failure::Usage(
                "no STORE is named, and no store is where OpenSSL has one".to_owned(),
            ));
        }
        Ok(Self { path: None, cafile: defaults.cafile, capath: defaults.capath })
    }

    /// What is there of it: a list of directories often names some that are not.
    fn paths(&self, root: &Root) -> Vec<PathBuf> {
        let directories = self.capath.iter().flat_map(std::env::split_paths);
        let directories = directories.filter(|path| root.look(path).is_ok());
        self.cafile.iter().map(PathBuf::from).chain(directories).collect()
    }
}

/// A regular file or a directory: what a library can load over and over.
fn look(root: &Root, path: &Path) -> Result<FileType, Failure> {
    match root.look(path) {
        Ok(seen) if matches!(seen.kind, FileType::RegularFile | FileType::Directory) => Ok(seen.kind),
        Ok(_) => {
            let reason = io::Error::other("neither a regular file nor a directory");
            Err(Error::io("measure", path, reason).into())
        }
        Err(error) => Err(Error::io("read", path, error).into()),
    }
}

fn load_quickly(root: &Root, paths: &[PathBuf]) -> Result<Store, Failure> {
    let reach = Reach { root: root.clone(), recursive: false };
    checked(load::load_with(paths, &Loading { reach, comments: false, readers: Vec::new() }))
}

/// What castore knows of a store that is to be measured.
struct Known {
    /// Certificates in the CAfile, one a block.
    blocks: Option<usize>,
    /// What a look-up finds, and its subject.
    found: Vec<(Fingerprint, Vec<u8>)>,
    /// What is looked up.
    subject: Option<Vec<u8>>,
    /// Whether it is a directory without any hash link, and nothing else.
    dead: bool,
}

impl Known {
    fn of(root: &Root, asked: &Asked) -> Result<Self, Failure> {
        let store = load_quickly(root, &asked.paths(root))?;
        let identity = asked.cafile.as_ref().and_then(|path| root.look(Path::new(path)).ok());
        let cafile = identity.and_then(|seen| {
            (0..store.files().len())
                .map(crate::store::model::FileId)
                .find(|&id| store.file(id).identity == Some(seen.identity))
        });
        let in_memory: BTreeSet<_> = cafile
            .iter()
            .flat_map(|&id| store.occurrences_of_file(id))
            .map(|(_, occurrence)| occurrence.certificate)
            .collect();
        let directories: Vec<_> = store
            .source_ids()
            .filter(|(_, source)| source.kind == SourceKind::CaPath)
            .map(|(source, _)| source)
            .collect();
        let found = store
            .certificate_ids()
            .filter(|(id, _)| {
                in_memory.contains(id) || directories.iter().any(|&source| store.is_reachable(source, *id))
            })
            .map(|(_, certificate)| (certificate.fingerprint, certificate.der.fields().subject.to_vec()))
            .collect();
        Ok(Self {
            blocks: cafile.map(|id| store.occurrences_of_file(id).count()),
            found,
            subject: None,
            dead: asked.capath.is_some() && asked.cafile.is_none() && directories.is_empty(),
        })
    }
}

/// The same certificate is looked up in every store, where there is one that each has.
fn choose_subjects(known: &mut [Known]) {
    let sets: Vec<BTreeSet<Fingerprint>> =
        known.iter().map(|one| one.found.iter().map(|(fingerprint, _)| *fingerprint).collect()).collect();
    let common = known.first().and_then(|first| {
        let everywhere = |entry: &&(Fingerprint, Vec<u8>)| sets.iter().all(|set| set.contains(&entry.0));
        first.found.iter().find(everywhere).map(|(_, subject)| subject.clone())
    });
    for one in known {
        one.subject = common.clone().or_else(|| one.found.first().map(|(_, subject)| subject.clone()));
    }
}
