//! A plan's steps, in order.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::atomic::{Directory, Staged};
use super::lock::{self, Lock};
use crate::certificate::fingerprint::Fingerprint;
use crate::error::{Error, Result};
use crate::plan::{Plan, Step};
use crate::store::content;
use crate::store::root::Root;

/// How many staged files are open at once: flushed together, the file system writes them in one go.
const TOGETHER: usize = 64;

/// How a plan is carried out.
pub struct Applying<'a> {
    /// The directories that are written in, locked since before what the plan was made from was read.
    pub lock: &'a Lock,
    /// Whether a file whose name cannot be given to another one is written through: something is mounted on it.
    pub in_place: bool,
    /// Asked when all is staged, and nothing has taken its name: whether the plan still is about what is there.
    pub unchanged: &'a dyn Fn() -> Result<()>,
}

/// Carries out a plan.
///
/// All files are written, flushed and read back before the first one takes its name. A directory that is new is made
/// under another name, filled, and renamed. What is new is flushed before anything old goes.
///
/// # Errors
/// [`Error::Stopped`] where some steps were done, each whole, and a second run does the rest; after every other error
/// nothing was changed, but for [`Error::WriteThrough`].
pub fn apply(root: &Root, plan: &Plan, applying: &Applying<'_>) -> Result<()> {
    let steps = plan.steps.as_slice();
    let Applying { in_place, .. } = *applying;
    let made = steps.iter().find_map(|step| match step {
        Step::MakeDirectory { path } => Some(path),
        _ => None,
    });
    let Some(path) = made else {
        let steps: Vec<&Step> = steps.iter().collect();
        let open = open_directories(root, &steps, applying, None)?;
        let staged = stage(&steps, &open, applying)?;
        (applying.unchanged)()?;
        return place(&steps, staged, &open, &Progress { before: 0, of: steps.len(), in_place });
    };
    // What is made inside the new directory is made in the staged one; the rest waits until it has its name.
    let (inside, outside): (Vec<&Step>, Vec<&Step>) = steps
        .iter()
        .filter(|step| !matches!(step, Step::MakeDirectory { .. }))
        .partition(|step| parent(step.path()) == path.as_path());
    let name = name(path)?;
    let above = Directory::open_to_write(root, parent(path))?;
    let open = open_directories(root, &outside, applying, None)?;
    let staged = stage(&outside, &open, applying)?;
    let hidden = above.make_stage_directory()?;
    let made = || -> Result<()> {
        let moved = Some((path.as_path(), above.open_inside(&hidden)?));
        let open = open_directories(root, &inside, applying, moved)?;
        let staged = stage(&inside, &open, applying)?;
        place(&inside, staged, &open, &Progress { before: 0, of: steps.len(), in_place: false })?;
        (applying.unchanged)()?;
        above.place_directory(&hidden, &name)
    };
    if let Err(error) = made() {
        above.remove_stage_directory(&hidden);
        // Steps inside a directory that nobody has seen: nothing was changed.
        return Err(match error {
            Error::Stopped { source, .. } => *source,
            error => error,
        });
    }
    let done = inside.len() + 1;
    above.sync().map_err(|error| stopped(done, steps.len(), error))?;
    place(&outside, staged, &open, &Progress { before: done, of: steps.len(), in_place })
}

/// Gives what a plan has written one time: files, links and a directory that it made. What stood before and only had
/// entries added keeps its own.
///
/// # Errors
/// [`Error::Io`]; everything is in place all the same.
pub fn stamp(root: &Root, plan: &Plan, seconds: i64) -> Result<()> {
    let mut steps: Vec<&Step> = plan.steps.iter().filter(|step| !step.removes()).collect();
    // A directory last: what happens in it sets its time.
    steps.sort_by_key(|step| matches!(step, Step::MakeDirectory { .. }));
    for step in &steps {
        Directory::open(root, parent(step.path()))?.set_time(&name(step.path())?, seconds)?;
    }
    Ok(())
}

/// Writes one file that is no store: locked, staged, flushed, read back, renamed.
///
/// # Errors
/// [`Error::Io`], [`Error::ReadBack`] and [`Error::Locked`]; then the file is as it was.
pub fn write_file(root: &Root, path: &Path, bytes: &[u8]) -> Result<()> {
    let _lock = Lock::take(root, &[parent(path).to_owned()], lock::LIMIT)?;
    write_file_locked(root, path, bytes)
}

/// The same, in a directory that this process has locked.
///
/// # Errors
/// [`Error::Io`] and [`Error::ReadBack`]; then the file is as it was.
pub fn write_file_locked(root: &Root, path: &Path, bytes: &[u8]) -> Result<()> {
    let directory = Directory::open_to_write(root, parent(path))?;
    let name = name(path)?;
    let mut staged = directory.stage(bytes, &name)?;
    if staged.finish()? != bytes {
        return Err(Error::ReadBack { path: staged.path() });
    }
    staged.place(&name)?;
    directory.sync()
}

fn parent(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn name(path: &Path) -> Result<OsString> {
    path.file_name().map(OsStr::to_owned).ok_or_else(|| Error::NotADirectory { path: path.to_owned() })
}

/// Directories that steps work in, open, by the path that the steps name.
type Directories = Vec<(PathBuf, Directory)>;

/// Opens what steps work in; a directory that is planned to stand at a path, and stands elsewhere for now, is given.
fn open_directories(
    root: &Root,
    steps: &[&Step],
    applying: &Applying<'_>,
    moved: Option<(&Path, Directory)>,
) -> Result<Directories> {
    let mut open: Directories =
        moved.map(|(path, directory)| (path.to_owned(), directory)).into_iter().collect();
    for step in steps {
        let path = parent(step.path());
        if open.iter().any(|(known, _)| known == path) {
            continue;
        }
        // The very directory that was locked before anything was read.
        let directory = match applying.lock.directory(root, path)? {
            Some(locked) => locked.try_clone()?,
            None => Directory::open(root, path)?,
        };
        directory.refuse_others()?;
        open.push((path.to_owned(), directory));
    }
    Ok(open)
}

fn directory_of<'a>(open: &'a Directories, step: &Step) -> Result<&'a Directory> {
    let path = parent(step.path());
    let found = open.iter().find(|(known, _)| known == path);
    found.map(|(_, directory)| directory).ok_or_else(|| Error::NotADirectory { path: path.to_owned() })
}

/// Stages the files among steps; `None` for every other step, and for a file that must be written through.
fn stage<'a>(
    steps: &[&Step],
    open: &'a Directories,
    applying: &Applying<'_>,
) -> Result<Vec<Option<Staged<'a>>>> {
    let mut all = Vec::with_capacity(steps.len());
    for some in steps.chunks(TOGETHER) {
        let start = all.len();
        for step in some {
            all.push(match step {
                Step::WriteFile { path, bytes, .. } => {
                    match directory_of(open, step)?.stage(bytes, &name(path)?) {
                        Ok(staged) => Some(staged),
                        Err(error) if applying.in_place && takes_no_new_file(&error) => None,
                        Err(error) => return Err(error),
                    }
                }
                _ => None,
            });
        }
        for (step, file) in some.iter().zip(&mut all[start..]) {
            if let (Step::WriteFile { bytes, holds, others, .. }, Some(file)) = (step, file) {
                let back = file.finish()?;
                if back != *bytes || !reads_as(&back, holds, *others) {
                    return Err(Error::ReadBack { path: file.path() });
                }
            }
        }
    }
    Ok(all)
}

/// Whether a directory takes no new file, though a file in it may be writable: read-only below a mounted file.
fn takes_no_new_file(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if matches!(
        Errno::from_io_error(source),
        Some(Errno::ROFS | Errno::ACCESS | Errno::PERM)
    ))
}

/// Whether a name cannot be given to another file, since something is mounted on it.
fn is_mounted_on(error: &Error) -> bool {
    matches!(error, Error::Io { source, .. } if Errno::from_io_error(source) == Some(Errno::BUSY))
}

/// Whether bytes hold exactly these certificates, in order, and as many other blocks.
fn reads_as(bytes: &[u8], holds: &[Fingerprint], others: usize) -> bool {
    let content = content::read(bytes);
    content.others.len() == others
        && content.certificates.iter().map(|found| found.fingerprint).eq(holds.iter().copied())
}

/// Which steps of a plan are to be done.
struct Progress {
    /// How many were done before.
    before: usize,
    /// Of how many.
    of: usize,
    in_place: bool,
}

/// Does the steps, of which others were done before. What is staged and not placed in the end is removed.
fn place(
    steps: &[&Step],
    staged: Vec<Option<Staged<'_>>>,
    open: &Directories,
    progress: &Progress,
) -> Result<()> {
    let Progress { before, of, in_place } = *progress;
    let flush = || open.iter().try_for_each(|(_, directory)| directory.sync());
    let mut removing = false;
    for (at, (step, file)) in steps.iter().zip(staged).enumerate() {
        let done = || -> Result<()> {
            // What is new lasts before anything old goes: after a loss of power there is one or the other.
            if step.removes() && !removing {
                flush()?;
            }
            one(step, file, directory_of(open, step)?, in_place)
        };
        done().map_err(|error| stopped(before + at, of, error))?;
        removing = step.removes();
    }
    flush().map_err(|error| stopped(before + steps.len(), of, error))
}

fn one(step: &Step, file: Option<Staged<'_>>, directory: &Directory, in_place: bool) -> Result<()> {
    let name = name(step.path())?;
    match step {
        Step::MakeDirectory { .. } => Ok(()),
        Step::WriteFile { bytes, .. } => match file {
            Some(file) => match file.place(&name) {
                Err(error) if in_place && is_mounted_on(&error) => directory.write_through(&name, bytes),
                placed => placed,
            },
            None => directory.write_through(&name, bytes),
        },
        Step::Link { target, replaces, .. } => directory.link(&name, target, *replaces),
        Step::Unlink { .. } | Step::RemoveFile { .. } => directory.remove(&name),
    }
}

fn stopped(done: usize, of: usize, error: Error) -> Error {
    match done {
        0 => error,
        _ => Error::Stopped { done, of, source: Box::new(error) },
    }
}
