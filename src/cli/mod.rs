//! The command line: what was typed becomes what is meant, is run, and becomes an exit status.
#![allow(clippy::disallowed_methods, reason = "the command line reads arguments and prints")]

pub mod args;
mod hook;
mod man;
mod measure;
mod rehash;
mod run;
mod settings;
mod spelling;
mod tune;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::Parser as _;

use crate::error::Error;
use crate::escape::{is_unsafe, visible};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    /// Done, findings included.
    Done = 0,
    /// Findings at or above `--fail-on`; `--check` would change something.
    Differs = 1,
    /// No answer. Nothing was changed, of `rehash`'s directories that one.
    Failed = 2,
}

/// Why a run has no answer.
#[derive(Debug)]
enum Failure {
    /// An error of the library, with what to do about it.
    Castore(Error, Option<&'static str>),
    /// Bad usage that the argument parser does not see.
    Usage(String),
    /// There is no measurement.
    Measure(Box<crate::cost::measure::Failure>),
    /// The answer could not be printed.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let hint = settings::hint(&error);
        Self::Castore(error, hint)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Runs the program with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if words.first().is_some_and(|program| spelling::is_c_rehash(program)) {
        let asked = spelling::c_rehash(words.into_iter().skip(1)).map_err(Failure::Usage);
        return ExitCode::from(asked.and_then(rehash::c_rehash).unwrap_or_else(failed) as u8);
    }
    if words.get(1).is_some_and(|word| word == measure::CHILD) {
        return measure::child();
    }
    let words = match spelling::openssl(words) {
        Ok(words) => words,
        Err(text) => return ExitCode::from(failed(Failure::Usage(text)) as u8),
    };
    let arguments = match args::Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        // Help and version go to standard output with status 0, usage to standard error with status 2.
        Err(error) if error.use_stderr() => {
            print_usage(&error);
            return ExitCode::from(Status::Failed as u8);
        }
        Err(error) => {
            return ExitCode::from(match error.print().and_then(|()| io::stdout().flush()) {
                Ok(()) => Status::Done as u8,
                Err(error) => failed(Failure::Output(error)) as u8,
            });
        }
    };
    ExitCode::from(run::run(arguments).unwrap_or_else(failed) as u8)
}

/// Says why there is no answer.
fn failed(failure: Failure) -> Status {
    match failure {
        // The reader went away: that is its right.
        Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return Status::Done,
        Failure::Output(error) => complain(&format!("cannot write the answer: {error}")),
        Failure::Usage(text) => complain(&text),
        Failure::Measure(failure) => {
            complain(&failure.to_string());
            if let Some(hint) = failure.hint() {
                note(hint);
            }
        }
        Failure::Castore(error, hint) => {
            complain(&error.to_string());
            if let Some(hint) = hint {
                note(hint);
            }
        }
    }
    Status::Failed
}

/// Usage, as clap words it. An argument may be a hostile file name that a shell put there for `*`.
fn print_usage(error: &clap::Error) {
    let plain = error.render().to_string();
    if plain.chars().any(|character| character != '\n' && is_unsafe(character)) {
        for line in plain.lines() {
            let _ = writeln!(io::stderr(), "{}", visible(line));
        }
    } else {
        let _ = error.print();
    }
}

/// Standard error may be closed: then nobody is to be told.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "castore: error: {text}");
}

fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "castore: warning: {text}");
}

fn note(text: &str) {
    let _ = writeln!(io::stderr(), "castore: {text}");
}
