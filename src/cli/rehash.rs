//! `castore rehash`, also where it is called `c_rehash`.
#![allow(clippy::disallowed_methods, reason = "this module prints the answer")]

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::args::{Color, Format, Inside, Locking, Output, Rehash, Writing};
use super::run::{Outcome, carry_out, finish, load_all, lock, persistently, root_text};
use super::spelling::{C_REHASH_HELP, CRehash};
use super::{Failure, Status, failed, note, settings, warn};
use crate::audit::Context;
use crate::cost::estimate::Prices;
use crate::error::Error;
use crate::escape::visible_path;
use crate::openssl::hash_link::LinkKind;
use crate::openssl::name_hash::HashStyle;
use crate::plan::links::Stale;
use crate::plan::rehash::{self, Manner, Skip};
use crate::plan::{Plan, Step};
use crate::report::model::Report;
use crate::store::discover::Reach;
use crate::store::load::{self, Loading};
use crate::store::model::Store;
use crate::store::root::Root;
use crate::store::source::SourceId;
use crate::store::watch;
use crate::write::apply::Applying;
use crate::write::lock::LIMIT;

/// As what the program was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Called {
    Castore,
    CRehash,
}

/// How a directory is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As other commands tell what they did.
    Report,
    /// The lines of `openssl rehash -v`.
    Lines {
        /// Links too, not the directory alone.
        links: bool,
    },
}

/// `castore rehash`.
pub fn rehash(arguments: &Rehash) -> Outcome {
    if arguments.verbose && arguments.format == Format::Json {
        return Err(Failure::Usage(
            "--verbose prints lines and --format json one document: choose one of them".to_owned(),
        ));
    }
    let form = if arguments.verbose { Form::Lines { links: true } } else { Form::Report };
    all(arguments, Called::Castore, form)
}

/// `c_rehash`.
pub fn c_rehash(asked: CRehash) -> Outcome {
    let (keep, verbose, directories) = match asked {
        CRehash::Help => {
            io::stdout().write_all(C_REHASH_HELP.as_bytes())?;
            return Ok(Status::Done);
        }
        CRehash::Run { keep, verbose, directories } => (keep, verbose, directories),
    };
    let arguments = Rehash {
        inside: Inside { root: None },
        directories,
        old: false,
        compat: true,
        keep,
        locking: Locking { lock_timeout: LIMIT.as_secs() },
        dry_run: false,
        check: false,
        format: Format::Text,
        verbose,
        quiet: false,
        color: Color::Auto,
    };
    all(&arguments, Called::CRehash, Form::Lines { links: verbose })
}

/// One directory after the other; one that cannot be done does not stop those behind it.
fn all(arguments: &Rehash, called: Called, form: Form) -> Outcome {
    let root = settings::root(&arguments.inside)?;
    let directories = if arguments.directories.is_empty() {
        defaults(&root, arguments, called, form)?
    } else {
        arguments.directories.clone()
    };
    // A report for programs is one document, whatever the number of directories.
    let together = (arguments.format == Format::Json && directories.len() > 1).then(|| {
        let there = |path: &&PathBuf| settings::is_directory(&root, path).is_ok_and(|there| there);
        let there: Vec<PathBuf> = directories.iter().filter(there).cloned().collect();
        // Those that cannot be read are told when it is their turn.
        load::load_with(&there, &Loading { reach: reach(&root), comments: false, readers: Vec::new() })
    });
    let run = Run { root: &root, arguments, called, form, alone: together.is_none() };
    let mut status = Status::Done;
    let mut plans = Vec::new();
    let mut unheard = None;
    for path in &directories {
        match persistently(|| run.one(path)) {
            Ok(Some((ended, plan))) => {
                status = status.max(ended);
                plans.push(plan);
            }
            Ok(None) => {}
            // Nobody listens any more: that is no reason to leave directories undone.
            Err(Failure::Output(error)) => unheard = unheard.or(Some(error)),
            Err(failure) => status = status.max(failed(failure)),
        }
    }
    if let (Some(store), false) = (together, plans.is_empty()) {
        let mut all = Plan::default();
        for plan in plans {
            all.changes.extend(plan.changes);
            all.notes.extend(plan.notes);
        }
        run.report(&store, &all)?;
    }
    match unheard {
        Some(error) if status != Status::Failed => Err(error.into()),
        _ => Ok(status),
    }
}

/// The directories where none is named.
fn defaults(root: &Root, arguments: &Rehash, called: Called, form: Form) -> Result<Vec<PathBuf>, Failure> {
    // `openssl rehash` takes an empty variable for a list of none, `c_rehash` for none that is set.
    if let Some(list) = settings::certificate_directories(root, called == Called::Castore) {
        if list.is_empty() && !arguments.quiet {
            note("SSL_CERT_DIR is set and names no directory: nothing to do");
        }
        return Ok(list);
    }
    match settings::default_directory(root) {
        Some(path) => {
            if form == Form::Report && !arguments.quiet {
                note(&format!("no DIR is named: {}, where OpenSSL looks", visible_path(&path)));
            }
            Ok(vec![path])
        }
        None => {
            let text = "no DIR is named, and no directory is where OpenSSL looks for one";
            if called == Called::Castore {
                return Err(Failure::Usage(text.to_owned()));
            }
            note(text);
            Ok(Vec::new())
        }
    }
}

fn reach(root: &Root) -> Reach {
    Reach { root: root.clone(), recursive: false }
}

struct Run<'a> {
    root: &'a Root,
    arguments: &'a Rehash,
    called: Called,
    form: Form,
    /// Each directory has a report of its own.
    alone: bool,
}

impl Run<'_> {
    /// Does one directory; `None` where it is passed over.
    fn one(&self, path: &Path) -> Result<Option<(Status, Plan)>, Failure> {
        let Self { root, arguments, .. } = *self;
        let there = settings::is_directory(root, path);
        if self.called == Called::CRehash && !matches!(there, Ok(true)) {
            // That program passes over it in silence, and images count on the status.
            note(&format!("{} is no directory: passed over", visible_path(path)));
            return Ok(None);
        }
        if !there? {
            return Err(Error::io("read", path, rustix::io::Errno::NOENT).into());
        }
        let writes = !arguments.check && !arguments.dry_run;
        // From before the reading to after the writing: what is planned is what is there.
        let locked = match writes {
            true => Some(lock(root, &[path.to_owned()], arguments.locking.limit())?),
            false => None,
        };
        let store = load_all(root, std::slice::from_ref(&path.to_owned()))?;
        let planned = rehash::rehash(&store, SourceId(0), self.manner()).map_err(Error::from)?;
        // What is right already needs no permission.
        if writes && !planned.plan.steps.is_empty() {
            match settings::may_write(root, path) {
                Err(_) if self.called == Called::CRehash => {
                    // Whether or not anybody reads it: the status says it, too.
                    let _ = writeln!(io::stdout(), "Skipping {}, can't write", visible_path(path));
                    return Ok(Some((Status::Failed, Plan::default())));
                }
                may => may?,
            }
        }
        let unchanged = || watch::unchanged(root, &store);
        let applying = locked.as_ref().map(|lock| Applying { lock, in_place: false, unchanged: &unchanged });
        let status = carry_out(root, &planned.plan, &self.writing(), applying.as_ref())?;
        drop(locked);
        match self.form {
            Form::Report if self.alone => self.report(&store, &planned.plan)?,
            Form::Report => {}
            Form::Lines { links } => {
                self.warn_of(&planned);
                io::stdout().write_all(lines(path, &planned, links).as_bytes())?;
            }
        }
        Ok(Some((status, planned.plan)))
    }

    fn manner(&self) -> Manner {
        let Rehash { old, compat, keep, .. } = *self.arguments;
        Manner {
            styles: match (old, compat) {
                (false, false) => &[HashStyle::Canonical],
                (true, _) => &[HashStyle::Old],
                (false, true) => &[HashStyle::Canonical, HashStyle::Old],
            },
            stale: if keep { Stale::Keep } else { Stale::Remove },
        }
    }

    fn writing(&self) -> Writing {
        Writing { dry_run: self.arguments.dry_run, check: self.arguments.check }
    }

    fn report(&self, store: &Store, plan: &Plan) -> Result<(), Failure> {
        let Rehash { format, quiet, color, .. } = *self.arguments;
        let context = Context::at(settings::now());
        let mut report = Report::new("rehash", store, &context, &[], Some(plan), &Prices::default());
        // What a context costs is no matter of links.
        report.cost.clear();
        report.root = root_text(&self.arguments.inside);
        let output = Output { verbose: false, quiet, color };
        finish(&report, plan, format, &output, &self.writing())
    }

    /// Members without a link, in the words of `openssl rehash`: scripts look for them. Behind castore's own name, so
    /// that nobody takes it for the other program.
    fn warn_of(&self, planned: &rehash::Rehash) {
        for member in &planned.skipped {
            let name = visible_path(&member.name);
            warn(&match &member.why {
                Skip::Duplicate(LinkKind::Certificate) => format!("skipping duplicate certificate in {name}"),
                Skip::Duplicate(LinkKind::Crl) => format!("skipping duplicate CRL in {name}"),
                Skip::NotOne(why) => {
                    format!("skipping {name}, it does not contain exactly one certificate or CRL: {why}")
                }
            });
        }
    }
}

/// The lines of `openssl rehash -v`: a `link` for each link that is wanted, also where it stands already, and an
/// `unlink` for each that goes, in the order in which it is done.
fn lines(path: &Path, planned: &rehash::Rehash, links: bool) -> String {
    let mut out = format!("Doing {}\n", visible_path(path));
    if links {
        for (name, target) in &planned.links {
            out += &format!("link {} -> {}\n", visible_path(target), visible_path(name));
        }
        for step in &planned.plan.steps {
            if let Step::Unlink { path } = step {
                out += &format!("unlink {}\n", path.file_name().map(visible_path).unwrap_or_default());
            }
        }
    }
    out
}
