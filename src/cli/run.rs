//! What each command does: load, judge or plan, write, tell.
#![allow(clippy::disallowed_methods, reason = "this module prints the answer")]

use std::io::{self, BufWriter, Write};
use std::path::Path;

use clap::CommandFactory as _;

use super::args::{
    Arguments, Audit, Command, Compact, Completions, Explain, Format, Output, Rehash, Writing,
};
use super::{Failure, Status, complain, man, note, settings};
use crate::audit::{self, Context, rules};
use crate::cost::estimate::{self, Layout, OPENSSL_3_0};
use crate::error::Error;
use crate::escape::{visible, visible_path};
use crate::plan::compact::{BundleOutput, CapathOutput, Outputs};
use crate::plan::policy::CommentPolicy;
use crate::plan::{Plan, compact, rehash};
use crate::report::model::Report;
use crate::report::text::Look;
use crate::report::{json, text};
use crate::store::model::Store;
use crate::store::source::SourceId;
use crate::store::{load, read};
use crate::wording::count;
use crate::write::apply::{apply, write_file};

type Outcome = Result<Status, Failure>;

/// Runs a command.
pub fn run(arguments: Arguments) -> Outcome {
    match arguments.command {
        Command::Audit(arguments) => audit(&arguments),
        Command::Compact(arguments) => compact(&arguments),
        Command::Rehash(arguments) => rehash(&arguments),
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
    let mut store = load::load(&arguments.paths);
    let failures = store.take_failures();
    let context = Context {
        now: arguments.when.at.unwrap_or_else(settings::now),
        expiring_within: arguments.when.expiring_within,
        max_size: arguments.max_size,
        ignore: settings::ignore(arguments)?,
        openssl_defaults: settings::openssl_defaults(),
    };
    let findings = audit::run(&store, &context);
    if !store.sources().is_empty() {
        let report = Report::new("audit", &store, &context, &findings, None, &OPENSSL_3_0);
        tell(&report, &arguments.output)?;
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

fn compact(arguments: &Compact) -> Outcome {
    let policy = settings::policy(arguments)?;
    let store = if policy.comments == CommentPolicy::Keep {
        checked(load::load_with_comments(&arguments.paths))?
    } else {
        load_all(&arguments.paths)?
    };
    let context = Context {
        now: arguments.at.unwrap_or_else(settings::now),
        expiring_within: 0,
        max_size: None,
        ignore: Vec::new(),
        openssl_defaults: settings::openssl_defaults(),
    };
    let bundle = match &arguments.bundle {
        None => None,
        Some(path) => {
            let (path, exists) = settings::resolve_output(path)?;
            let existing = if exists { Some(read::regular(&path)?) } else { None };
            Some(BundleOutput { path, existing })
        }
    };
    let existing = match &arguments.capath {
        Some(path) if settings::is_directory(path)? => Some(load_all(std::slice::from_ref(path))?),
        _ => None,
    };
    let capath = arguments
        .capath
        .as_ref()
        .map(|path| CapathOutput { path: path.clone(), existing: existing.as_ref() });
    let outputs = Outputs { bundle, capath };
    let mut plan = compact::compact(&store, &context, &policy, &outputs).map_err(Error::from)?;
    for path in [&arguments.bundle, &arguments.capath].into_iter().flatten() {
        if let Some(tool) = settings::regenerated_by(path) {
            plan.notes.push(format!("{tool} writes {} anew at its next run", visible_path(path)));
        }
    }
    let parsed = |layout| {
        let rows = estimate::eager(&store, &context);
        rows.iter().find(|row| row.layout == layout).map(|row| row.certificates)
    };
    if parsed(Layout::Now).is_some_and(|now| now > 0 && parsed(Layout::Compacted) == Some(now)) {
        plan.notes.push(
            "no bundle holds a duplicate or an expired certificate: compact wins no time here".to_owned(),
        );
    }
    let status = carry_out(&plan, &arguments.writing)?;
    let report = Report::new("compact", &store, &context, &[], Some(&plan), &OPENSSL_3_0);
    if let Some(path) = &arguments.report {
        write_report(path, &report, arguments.output.format)?;
    }
    finish(&report, &plan, &arguments.output, &arguments.writing, || {
        let outputs: Vec<String> =
            [&arguments.bundle, &arguments.capath].into_iter().flatten().map(visible_path).collect();
        format!("{} in {}", count(plan.certificates, "certificate"), outputs.join(" and "))
    })?;
    Ok(status)
}

fn rehash(arguments: &Rehash) -> Outcome {
    let mut status = Status::Done;
    // All directories are planned before the first one is changed.
    let mut planned = Vec::new();
    for path in &arguments.directories {
        if !settings::is_directory(path)? {
            return Err(Error::io("read", path, io::Error::from(io::ErrorKind::NotFound)).into());
        }
        let store = load_all(std::slice::from_ref(path))?;
        let plan = rehash::rehash(&store, SourceId(0)).map_err(Error::from)?;
        planned.push((path, store, plan));
    }
    let context = Context {
        now: settings::now(),
        expiring_within: 0,
        max_size: None,
        ignore: Vec::new(),
        openssl_defaults: None,
    };
    for (path, store, plan) in &planned {
        if carry_out(plan, &arguments.writing)? == Status::Differs {
            status = Status::Differs;
        }
        let mut report = Report::new("rehash", store, &context, &[], Some(plan), &OPENSSL_3_0);
        // What a context costs is no matter of links.
        report.cost.clear();
        finish(&report, plan, &arguments.output, &arguments.writing, || {
            format!(
                "{}: {} with a file of their own",
                visible_path(path),
                count(plan.certificates, "certificate")
            )
        })?;
    }
    Ok(status)
}

/// Loads paths of which each must be readable.
fn load_all(paths: &[std::path::PathBuf]) -> Result<Store, Failure> {
    checked(load::load(paths))
}

fn checked(mut store: Store) -> Result<Store, Failure> {
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
    let (path, _) = settings::resolve_output(path)?;
    write_file(&path, &bytes)?;
    Ok(())
}

/// Applies a plan, unless the user wants to see it only.
fn carry_out(plan: &Plan, writing: &Writing) -> Outcome {
    if writing.check {
        return Ok(if plan.steps.is_empty() { Status::Done } else { Status::Differs });
    }
    if !writing.dry_run {
        apply(plan)?;
    }
    Ok(Status::Done)
}

fn finish(
    report: &Report,
    plan: &Plan,
    output: &Output,
    writing: &Writing,
    what: impl Fn() -> String,
) -> Result<(), Failure> {
    if output.format == Format::Text && !output.quiet {
        let done = match (plan.steps.is_empty(), writing.dry_run || writing.check) {
            (true, _) => "nothing to do",
            (false, true) => "would change; nothing was written",
            (false, false) => "done",
        };
        writeln!(io::stdout(), "{}: {done}", what())?;
    }
    tell(report, output)?;
    if !output.quiet {
        plan.notes.iter().for_each(|text| note(text));
    }
    Ok(())
}

fn tell(report: &Report, output: &Output) -> Result<(), Failure> {
    if output.quiet {
        return Ok(());
    }
    let mut out = BufWriter::new(io::stdout().lock());
    match output.format {
        Format::Text => text::render(report, settings::look(output), &mut out)?,
        Format::Json => json::render(report, &mut out)?,
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
