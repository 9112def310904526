//! What each command does: load, judge or plan, write, tell.
#![allow(clippy::disallowed_methods, reason = "this module prints the answer")]

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::CommandFactory as _;
use rustix::fs::FileType;

use super::args::{
    Arguments, Audit, AuditFormat, Command, Compact, Completions, Explain, Format, Inside, Output, Writing,
};
use super::{Failure, Status, complain, hook, man, measure, note, rehash, settings, tune};
use crate::audit::{self, Context, rules};
use crate::cost::estimate::{self, Family, Layout, Prices};
use crate::error::Error;
use crate::escape::{path_text, visible, visible_path};
use crate::plan::compact::{BundleOutput, CapathOutput, Outputs};
use crate::plan::policy::CommentPolicy;
use crate::plan::{Plan, compact};
use crate::readers::Reader;
use crate::report::model::Report;
use crate::report::text::Look;
use crate::report::{json, ndjson, text};
use crate::store::discover::Reach;
use crate::store::load::Loading;
use crate::store::model::Store;
use crate::store::root::Root;
use crate::store::{load, read, updater, watch};
use crate::wording::count;
use crate::write::apply::{Applying, apply, stamp, write_file};
use crate::write::lock::Lock;

/// How a command ends.
pub(super) type Outcome = Result<Status, Failure>;

/// Runs a command.
pub fn run(arguments: Arguments) -> Outcome {
    match arguments.command {
        Command::Audit(arguments) => audit(&arguments),
        Command::Compact(arguments) => compact(&arguments),
        Command::Rehash(arguments) => rehash::rehash(&arguments),
        Command::Tune(arguments) => tune::tune(&arguments),
        Command::Hook(arguments) => hook::hook(&arguments),
        Command::Measure(arguments) => measure::measure(&arguments),
        Command::Explain(arguments) => explain(&arguments),
        Command::Completions(arguments) => completions(&arguments),
        Command::Man(arguments) => {
            let page = man::page(arguments.command.as_deref()).map_err(Failure::Usage)?;
            io::stdout().write_all(&page)?;
            Ok(Status::Done)
        }
    }
}

fn audit(arguments: &Audit) -> Outcome {
    // A slip in a list is told before a store is read.
    let ignore = settings::ignore(arguments)?;
    let root = settings::root(&arguments.inside)?;
    let mut paths = settings::paths(arguments)?;
    let by_default = paths.is_empty();
    if by_default {
        for default in settings::default_paths(&root) {
            if !arguments.output.quiet {
                let verb = if default.skipped { "not there:" } else { "looking at" };
                note(&format!("{verb} {}: {}", visible_path(&default.path), default.why));
            }
            if !default.skipped {
                paths.push(default.path);
            }
        }
        if paths.is_empty() {
            return Err(Failure::Usage(
                "no PATH is named, and no store is where OpenSSL or a distribution has one".to_owned(),
            ));
        }
    }
    let reach = Reach { root: root.clone(), recursive: arguments.recursive };
    let on_disk = settings::OnDisk::new(&root);
    let readers = settings::readers(&arguments.reader, &on_disk)?;
    let mut store = load::load_with(&paths, &Loading { reach, comments: false, readers });
    let failures = store.take_failures();
    let context = Context {
        now: arguments.when.at.unwrap_or_else(settings::now),
        expiring_within: arguments.when.expiring_within,
        max_size: arguments.max_size,
        ignore,
        updater: updater::survey(&root, &store),
        openssl_defaults: settings::openssl_defaults(&root, by_default),
    };
    let findings = audit::run(&store, &context);
    if !store.sources().is_empty() {
        let prices = Prices {
            openssl: on_disk.priced(arguments.library),
            contexts_per_day: arguments.contexts_per_day,
            variables: settings::variables(&root, &store, by_default),
        };
        let mut report = Report::new("audit", &store, &context, &findings, None, &prices);
        report.root = root_text(&arguments.inside);
        report.labels = arguments.label.iter().cloned().collect();
        if arguments.measure {
            measure::beside_estimates(&mut report, &store)?;
        }
        tell(&report, arguments.format, &arguments.output)?;
    }
    for failure in &failures {
        complain(&failure.to_string());
    }
    let failed =
        |on: &settings::FailOn| findings.iter().any(|finding| !finding.ignored && on.includes(finding.rule));
    Ok(if !failures.is_empty() {
        Status::Failed
    } else if arguments.fail_on.as_ref().is_some_and(failed) {
        Status::Differs
    } else {
        Status::Done
    })
}

/// How often a run whose inputs changed under it begins anew.
const ATTEMPTS: u32 = 3;

/// Runs what reads, plans and writes, and again where what it had read is not there any more when it is to write.
pub(super) fn persistently<T>(mut run: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    for _ in 1..ATTEMPTS {
        match run() {
            Err(Failure::Castore(Error::Changed { .. }, _)) => {}
            ended => return ended,
        }
    }
    run()
}

/// Locks the directories that are written in.
pub(super) fn lock(root: &Root, paths: &[PathBuf], limit: Duration) -> Result<Lock, Failure> {
    let lock = Lock::take(root, paths, limit)?;
    for (path, holder) in lock.ignored() {
        note(&format!(
            "{} is locked by {holder}, whose user may not write there: not waiting for that",
            visible_path(path)
        ));
    }
    Ok(lock)
}

fn compact(arguments: &Compact) -> Outcome {
    let root = settings::root(&arguments.inside)?;
    // What came from a pipe is gone: a second reading would find nothing, and take it for an empty input.
    let stays = |path: &PathBuf| {
        let kind = root.look(path).map(|seen| seen.kind);
        path.as_os_str() != "-" && !matches!(kind, Ok(FileType::Fifo))
    };
    match arguments.paths.iter().all(stays) {
        true => persistently(|| compact_once(arguments, &root)),
        false => compact_once(arguments, &root),
    }
}

/// The directories that `compact` writes in: where one is to be made, the one above it.
fn written_in(root: &Root, arguments: &Compact) -> Result<Vec<PathBuf>, Failure> {
    let above = |path: &Path| path.parent().unwrap_or(Path::new("")).to_owned();
    let mut paths = Vec::new();
    if let Some(capath) = &arguments.capath {
        let there = settings::is_directory(root, capath)?;
        paths.push(if there { capath.clone() } else { above(capath) });
    }
    if let Some(bundle) = &arguments.bundle {
        let (bundle, _) = settings::resolve_output(root, bundle)?;
        // In a directory that this run makes, nobody else writes.
        if arguments.capath.as_deref() != bundle.parent() {
            paths.push(above(&bundle));
        }
    }
    Ok(paths)
}

fn compact_once(arguments: &Compact, root: &Root) -> Outcome {
    let policy = settings::policy(arguments)?;
    // From before the reading to after the writing: what is planned is about what is there.
    let locked = match arguments.writing.writes() {
        true => Some(lock(root, &written_in(root, arguments)?, arguments.locking.limit())?),
        false => None,
    };
    let reach = Reach { root: root.clone(), recursive: false };
    let comments = policy.comments == CommentPolicy::Keep;
    let readers = Reader::WRITTEN_FOR.to_vec();
    let store = checked(load::load_with(&arguments.paths, &Loading { reach, comments, readers }))?;
    let context = Context {
        openssl_defaults: settings::openssl_defaults(root, false),
        ..Context::at(arguments.at.unwrap_or_else(settings::now))
    };
    let mut bundle_seen = None;
    let bundle = match &arguments.bundle {
        None => None,
        Some(path) => {
            let (path, exists) = settings::resolve_output(root, path)?;
            let existing = if exists {
                let (bytes, seen) = read::regular_seen(root, &path)?;
                bundle_seen = Some((path.clone(), seen));
                Some(bytes)
            } else {
                None
            };
            // However it is spelled: a bundle in the directory that is written as well is known by that name.
            let path = match (&arguments.capath, path.file_name()) {
                (Some(capath), Some(name)) if settings::is_inside(root, &path, capath) => capath.join(name),
                _ => path,
            };
            Some(BundleOutput { path, existing })
        }
    };
    let existing = match &arguments.capath {
        Some(path) if settings::is_directory(root, path)? => {
            Some(load_all(root, std::slice::from_ref(path))?)
        }
        _ => None,
    };
    let capath = arguments
        .capath
        .as_ref()
        .map(|path| CapathOutput { path: path.clone(), existing: existing.as_ref() });
    let outputs = Outputs { bundle, capath };
    let mut plan = compact::compact(&store, &context, &policy, &outputs).map_err(Error::from)?;
    for path in [&arguments.bundle, &arguments.capath].into_iter().flatten() {
        if let Some(tool) = settings::regenerated_by(root, path) {
            plan.notes.push(format!("{tool} writes {} anew at its next run", visible_path(path)));
        }
    }
    let loads = estimate::loads(&store, &context);
    let parsed = |layout| {
        let mut named = loads.iter().filter(|load| load.family == Family::NamedFile);
        named.find(|load| load.layout == layout).map(|load| load.certificates)
    };
    if parsed(Layout::Now).is_some_and(|now| now > 0 && parsed(Layout::Compacted) == Some(now)) {
        plan.notes.push(
            "no bundle holds a duplicate or an expired certificate: compact wins no time here".to_owned(),
        );
    }
    // A report that cannot be written is found out before anything else is.
    let report_path = arguments.report.as_deref().map(report_place).transpose()?;
    if let Some(path) = &report_path {
        refuse_report_on_store(path, root, &outputs, &store)?;
    }
    let unchanged = || {
        watch::unchanged(root, &store)?;
        existing.as_ref().map_or(Ok(()), |existing| watch::unchanged(root, existing))?;
        match &bundle_seen {
            Some((path, seen)) => watch::is_still(root, path, seen),
            None => Ok(()),
        }
    };
    let applying =
        locked.as_ref().map(|lock| Applying { lock, in_place: arguments.in_place, unchanged: &unchanged });
    let status = carry_out(root, &plan, &arguments.writing, applying.as_ref())?;
    drop(locked);
    let prices = Prices { openssl: settings::OnDisk::new(root).priced(None), ..Prices::default() };
    let mut report = Report::new("compact", &store, &context, &[], Some(&plan), &prices);
    report.root = root_text(&arguments.inside);
    if let Some(path) = &report_path {
        write_report(path, &report, arguments.format)?;
    }
    finish(&report, &plan, arguments.format, &arguments.output, &arguments.writing)?;
    Ok(status)
}

/// `--root` as a report tells it.
pub(super) fn root_text(inside: &Inside) -> Option<String> {
    inside.root.as_ref().map(|root| path_text(root).0)
}

/// What a plan writes to, and how much is in it.
fn outputs(plan: &Plan) -> String {
    let outputs = plan.outputs.iter().map(|(path, certificates)| {
        format!("{}: {}", visible_path(path), count(*certificates, "certificate"))
    });
    outputs.collect::<Vec<_>>().join("; ")
}

/// Loads paths of which each must be readable.
pub(super) fn load_all(root: &Root, paths: &[PathBuf]) -> Result<Store, Failure> {
    let reach = Reach { root: root.clone(), recursive: false };
    // Links depend on the look-up by hash alone.
    checked(load::load_with(paths, &Loading { reach, comments: false, readers: Vec::new() }))
}

pub(super) fn checked(mut store: Store) -> Result<Store, Failure> {
    let mut failures = store.take_failures().into_iter();
    let Some(first) = failures.next() else { return Ok(store) };
    for failure in failures {
        complain(&failure.to_string());
    }
    Err(first.into())
}

/// Writes a report into a file: staged and renamed, as everything is that castore writes.
fn write_report(path: &Path, report: &Report, format: Format) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    match format {
        Format::Text => text::render(report, Look { verbose: true, ..Look::default() }, &mut bytes)?,
        Format::Json => json::render(report, &mut bytes)?,
    }
    write_file(&Root::host(), path, &bytes)?;
    Ok(())
}

/// A report must not take the place of an output, or of a file that was read.
fn refuse_report_on_store(
    path: &Path,
    root: &Root,
    outputs: &Outputs<'_>,
    store: &Store,
) -> Result<(), Failure> {
    let host = Root::host();
    let there = host.look(path).ok().map(|seen| seen.identity);
    let existing = outputs.capath.as_ref().and_then(|capath| capath.existing);
    let mut files = store.files().iter().chain(existing.into_iter().flat_map(Store::files));
    let read = there.is_some() && files.any(|file| file.identity == there);
    // A bundle need not be there yet: its directory and its name say where it goes.
    let written = outputs.bundle.as_ref().is_some_and(|bundle| {
        let directory = |root: &Root, path: &Path| {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            root.look(parent.unwrap_or(Path::new("."))).ok().map(|seen| seen.identity)
        };
        bundle.path.file_name() == path.file_name() && directory(root, &bundle.path) == directory(&host, path)
    });
    if read || written {
        let reason = io::Error::other("it is an input or an output of this run");
        return Err(Error::io("write the report to", path, reason).into());
    }
    Ok(())
}

/// Where a report is written: the user's file, not the store's, so outside every root. Its directory must be there.
fn report_place(path: &Path) -> Result<PathBuf, Failure> {
    let host = Root::host();
    let (path, _) = settings::resolve_output(&host, path)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !settings::is_directory(&host, directory)? {
        return Err(Error::io("open", directory, rustix::io::Errno::NOENT).into());
    }
    Ok(path)
}

/// Applies a plan, unless the user wants to see it only.
pub(super) fn carry_out(
    root: &Root,
    plan: &Plan,
    writing: &Writing,
    applying: Option<&Applying<'_>>,
) -> Outcome {
    if writing.check {
        return Ok(if plan.steps.is_empty() { Status::Done } else { Status::Differs });
    }
    if let Some(applying) = applying {
        let time = settings::source_date_epoch()?;
        apply(root, plan, applying)?;
        if let Some(seconds) = time {
            stamp(root, plan, seconds)?;
        }
    }
    Ok(Status::Done)
}

/// Tells what a plan was, or would be.
pub(super) fn finish(
    report: &Report,
    plan: &Plan,
    format: Format,
    output: &Output,
    writing: &Writing,
) -> Result<(), Failure> {
    if format == Format::Text && !output.quiet {
        let done = match (plan.steps.is_empty(), writing.dry_run || writing.check) {
            (true, _) => "nothing to do",
            (false, true) => "would change; nothing was written",
            (false, false) => "done",
        };
        writeln!(io::stdout(), "{}: {done}", outputs(plan))?;
    }
    let format = match format {
        Format::Text => AuditFormat::Text,
        Format::Json => AuditFormat::Json,
    };
    tell(report, format, output)?;
    if !output.quiet {
        plan.notes.iter().for_each(|text| note(text));
    }
    Ok(())
}

pub(super) fn tell(report: &Report, format: AuditFormat, output: &Output) -> Result<(), Failure> {
    if output.quiet {
        return Ok(());
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match format {
        AuditFormat::Text => text::render(report, settings::look(output), &mut out)?,
        AuditFormat::Json => json::render(report, &mut out)?,
        AuditFormat::Ndjson => ndjson::render(report, &mut out)?,
    }
    out.flush()?;
    Ok(())
}

fn explain(arguments: &Explain) -> Outcome {
    let mut out = Vec::new();
    match &arguments.id {
        None => {
            for rule in rules::RULES {
                writeln!(out, "{:<22}{:<9}{}", rule.id, rule.severity.as_str(), rule.title)?;
            }
        }
        Some(id) => {
            let rule = rules::find(id).ok_or_else(|| {
                let known = "castore explain lists all ids";
                Failure::Usage(format!("no finding is called '{}'; {known}", visible(id)))
            })?;
            text::explain(rule, settings::width(), &mut out)?;
        }
    }
    io::stdout().write_all(&out)?;
    Ok(Status::Done)
}

fn completions(arguments: &Completions) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "castore", &mut script);
    io::stdout().write_all(&script)?;
    Ok(Status::Done)
}
