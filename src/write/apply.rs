//! A plan's steps, in order.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::atomic::{Directory, Staged};
use crate::certificate::fingerprint::Fingerprint;
use crate::error::{Error, Result};
use crate::plan::{Plan, Step};
use crate::store::content;
use crate::store::root::Root;

/// Carries out a plan.
///
/// All files are written and read back before the first one takes its name. A directory that is new is made under
/// another name, filled, and renamed.
///
/// # Errors
/// [`Error::Io`] and [`Error::ReadBack`]. Where staging fails nothing was changed; where a later step fails, the steps
/// before it stand, each file whole, and a second run does the rest.
pub fn apply(root: &Root, plan: &Plan) -> Result<()> {
    let (new_directory, steps) =
        match plan.steps.iter().position(|step| matches!(step, Step::MakeDirectory { .. })) {
            None => (None, plan.steps.as_slice()),
            Some(at) => (Some(at), plan.steps.as_slice()),
        };
    let Some(at) = new_directory else { return run(root, steps, None) };
    let Step::MakeDirectory { path } = &steps[at] else { return run(root, steps, None) };
    // What is made inside the new directory is made in the staged one; the rest waits until it has its name.
    let (inside, outside): (Vec<Step>, Vec<Step>) = steps
        .iter()
        .filter(|step| !matches!(step, Step::MakeDirectory { .. }))
        .cloned()
        .partition(|step| step_path(step).parent() == Some(path.as_path()));
    let name = path.file_name().ok_or_else(|| Error::NotADirectory { path: path.clone() })?;
    let parent = Directory::open(root, path.parent().unwrap_or(Path::new("")))?;
    let stage = parent.make_stage_directory()?;
    let made = parent
        .open_inside(&stage)
        .and_then(|staged| run(root, &inside, Some((path, staged))))
        .and_then(|()| run_all_but_placing(root, &outside))
        .and_then(|()| parent.place_directory(&stage, name));
    if let Err(error) = made {
        parent.remove_stage_directory(&stage);
        return Err(error);
    }
    parent.sync()?;
    run(root, &outside, None)
}

/// Gives what a plan has written one time: files, links and a directory that it made. What stood before and only had
/// entries added keeps its own.
///
/// # Errors
/// [`Error::Io`]; everything is in place all the same.
pub fn stamp(root: &Root, plan: &Plan, seconds: i64) -> Result<()> {
    let written = |step: &&Step| !matches!(step, Step::Unlink { .. } | Step::RemoveFile { .. });
    let mut steps: Vec<Step> = plan.steps.iter().filter(written).cloned().collect();
    let open = open_directories(root, &steps, None)?;
    // A directory last: what happens in it sets its time.
    steps.sort_by_key(|step| matches!(step, Step::MakeDirectory { .. }));
    for step in &steps {
        directory(&open, step)?.set_time(&name(step)?, seconds)?;
    }
    Ok(())
}

/// Writes one file that is no store: staged, flushed, read back, renamed.
///
/// # Errors
/// [`Error::Io`] and [`Error::ReadBack`].
pub fn write_file(root: &Root, path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.file_name().ok_or_else(|| Error::NotADirectory { path: path.to_owned() })?;
    let directory = Directory::open(root, path.parent().unwrap_or(Path::new("")))?;
    let staged = directory.stage(bytes)?;
    staged.sync()?;
    if staged.read_back()? != bytes {
        return Err(Error::ReadBack { path: staged.path() });
    }
    staged.place(name)?;
    directory.sync()
}

/// Tries whether the files of the other steps can be written, before the directory takes its name.
fn run_all_but_placing(root: &Root, steps: &[Step]) -> Result<()> {
    let directories = open_directories(root, steps, None)?;
    stage_files(steps, &directories).map(drop)
}

fn step_path(step: &Step) -> &Path {
    match step {
        Step::MakeDirectory { path }
        | Step::WriteFile { path, .. }
        | Step::Link { path, .. }
        | Step::Unlink { path }
        | Step::RemoveFile { path } => path,
    }
}

/// A directory that is planned to stand at a path, and stands elsewhere for now.
type Moved<'a> = Option<(&'a PathBuf, Directory)>;

/// The directories that steps work in, open.
fn open_directories(root: &Root, steps: &[Step], moved: Moved<'_>) -> Result<Vec<(PathBuf, Directory)>> {
    let mut open: Vec<(PathBuf, Directory)> = Vec::new();
    open.extend(moved.map(|(planned, staged)| (planned.clone(), staged)));
    for step in steps {
        let parent = step_path(step).parent().unwrap_or(Path::new(""));
        if !open.iter().any(|(path, _)| path == parent) {
            open.push((parent.to_owned(), Directory::open(root, parent)?));
        }
    }
    Ok(open)
}

fn directory<'a>(open: &'a [(PathBuf, Directory)], step: &Step) -> Result<&'a Directory> {
    let parent = step_path(step).parent().unwrap_or(Path::new(""));
    open.iter()
        .find(|(path, _)| path == parent)
        .map(|(_, directory)| directory)
        .ok_or_else(|| Error::NotADirectory { path: parent.to_owned() })
}

fn name(step: &Step) -> Result<OsString> {
    let path = step_path(step);
    path.file_name().map(OsStr::to_owned).ok_or_else(|| Error::NotADirectory { path: path.to_owned() })
}

fn stage_files<'a>(steps: &[Step], open: &'a [(PathBuf, Directory)]) -> Result<Vec<Option<Staged<'a>>>> {
    let mut staged = Vec::with_capacity(steps.len());
    for step in steps {
        staged.push(match step {
            Step::WriteFile { bytes, .. } => Some(directory(open, step)?.stage(bytes)?),
            _ => None,
        });
    }
    // Flushed together, after all is written: the file system can write them in one go.
    for (step, file) in steps.iter().zip(&staged) {
        if let (Step::WriteFile { bytes, holds, .. }, Some(file)) = (step, file) {
            file.sync()?;
            let back = file.read_back()?;
            if back != *bytes || !reads_as(&back, holds) {
                return Err(Error::ReadBack { path: file.path() });
            }
        }
    }
    Ok(staged)
}

/// Whether bytes hold exactly these certificates, in order, and nothing else.
fn reads_as(bytes: &[u8], holds: &[Fingerprint]) -> bool {
    let content = content::read(bytes);
    content.others.is_empty()
        && content.certificates.iter().map(|found| found.fingerprint).eq(holds.iter().copied())
}

fn run(root: &Root, steps: &[Step], moved: Moved<'_>) -> Result<()> {
    let open = open_directories(root, steps, moved)?;
    let staged = stage_files(steps, &open)?;
    for (step, file) in steps.iter().zip(staged) {
        let directory = directory(&open, step)?;
        let name = name(step)?;
        match step {
            Step::MakeDirectory { .. } => {}
            Step::WriteFile { .. } => {
                if let Some(file) = file {
                    file.place(&name)?;
                }
            }
            Step::Link { target, replaces, .. } => directory.link(&name, target, *replaces)?,
            Step::Unlink { .. } | Step::RemoveFile { .. } => directory.remove(&name)?,
        }
    }
    open.iter().try_for_each(|(_, directory)| directory.sync())
}
