//! How OpenSSL's default file is taken away and given back, and the record from which a run that was killed on the way
//! is finished in the right direction.
//!
//! On systems with dpkg the name is diverted, so that an upgrade of package openssl does not bring the file back. The
//! diversion is only a line in dpkg's table (`dpkg-divert --no-rename`); the name is changed here, by rename(2), which
//! puts the old link back over whatever stands there at once.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use super::apply::write_file;
use super::atomic::Directory;
use crate::error::{Error, Result};
use crate::store::read;
use crate::store::root::Root;

/// The directory of what castore remembers.
pub const STATE: &str = "/var/lib/castore";
/// The record's name in it.
pub const RECORD: &str = "undo.json";
/// What the default file is called while it is away.
pub const AWAY: &str = "cert.pem.castore";
/// The form of the record.
const SCHEMA: &str = "castore.undo/1";

/// Which way a run was going.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// The file is taken away, or is away.
    Applied,
    /// The hook has put a link back, as the directory did not have all; the diversion stands.
    Restored,
    /// The file is given back.
    Undoing,
}

/// What is to be restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The form of the record.
    pub schema: String,
    /// Which way.
    pub direction: Direction,
    /// OpenSSL's default file.
    pub cert_file: PathBuf,
    /// Where it is while it is away.
    pub away: PathBuf,
    /// Where the link points.
    pub target: PathBuf,
    /// Its owner and group.
    pub owner: (u32, u32),
    /// Whether dpkg's table has a line about it.
    pub diverted: bool,
    /// The file that stands in the place of the default file: SHA-256 of its certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stub: Option<String>,
}

impl Record {
    /// A record of a link that is about to go.
    #[must_use]
    pub fn new(cert_file: &Path, target: &Path, owner: (u32, u32), diverted: bool) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            direction: Direction::Applied,
            cert_file: cert_file.to_owned(),
            away: cert_file.with_file_name(AWAY),
            target: target.to_owned(),
            owner,
            diverted,
            stub: None,
        }
    }

    /// Reads the record; `None` where there is none.
    ///
    /// # Errors
    /// [`Error::Io`], also where it is no record that this version can read.
    pub fn read(root: &Root) -> Result<Option<Self>> {
        let path = Path::new(STATE).join(RECORD);
        if matches!(root.look_at_link(&path), Err(error) if error.kind() == io::ErrorKind::NotFound) {
            return Ok(None);
        }
        let bytes = read::regular(root, &path)?;
        let record: Self = serde_json::from_slice(&bytes)
            .map_err(|error| Error::io("read", &path, io::Error::other(error)))?;
        if record.schema != SCHEMA {
            let reason = io::Error::other(format!("its form is {}, not {SCHEMA}", record.schema));
            return Err(Error::io("read", &path, reason));
        }
        Ok(Some(record))
    }

    /// Writes the record, and its directory where there is none.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::ReadBack`].
    pub fn write(&self, root: &Root) -> Result<()> {
        Directory::make_all(root, Path::new(STATE))?;
        let path = Path::new(STATE).join(RECORD);
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::io("write", &path, io::Error::other(error)))?;
        bytes.push(b'\n');
        write_file(root, &path, &bytes)
    }

    /// Removes the record, and its directory where nothing else is in it.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn forget(root: &Root) -> Result<()> {
        let path = Path::new(STATE);
        match Directory::open(root, path) {
            Ok(directory) => directory.remove(OsStr::new(RECORD))?,
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
        let parent = Directory::open(root, path.parent().unwrap_or(Path::new("/")))?;
        parent.remove_empty(path.file_name().unwrap_or_default())
    }
}

/// dpkg's table of diversions, inside a root.
#[derive(Debug, Clone)]
pub struct Dpkg {
    /// The root as dpkg takes it; `None` for the machine itself.
    root: Option<PathBuf>,
}

impl Dpkg {
    /// The table of a system that has dpkg; `None` where there is no such system.
    ///
    /// # Errors
    /// [`Error::Io`] where that cannot be seen.
    pub fn of(root: &Root, path: Option<&Path>) -> Result<Option<Self>> {
        let there = root.has(Path::new("/var/lib/dpkg/status"))?;
        Ok(there.then(|| Self { root: path.map(Path::to_owned) }))
    }

    fn run(&self, arguments: &[&OsStr]) -> Result<Vec<u8>> {
        let fail = |reason: io::Error| Error::io("run", Path::new("dpkg-divert"), reason);
        let mut command = Command::new("dpkg-divert");
        // Set by dpkg for the scripts of a package, whose name would be taken for the diverting one.
        command.env_remove("DPKG_MAINTSCRIPT_PACKAGE").env("LC_ALL", "C");
        if let Some(root) = &self.root {
            command.env_remove("DPKG_ROOT").arg("--root").arg(root);
        }
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(fail)?;
        // Not `Command::output`, which panics where a pipe cannot be read. What dpkg-divert says fits into a pipe.
        let (mut answer, mut complaint) = (Vec::new(), Vec::new());
        let read = child.stdout.take().map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut answer));
        let read =
            read.and_then(|_| child.stderr.take().map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut complaint)));
        let status = child.wait().map_err(fail)?;
        read.map_err(fail)?;
        if status.success() {
            return Ok(answer);
        }
        let said = String::from_utf8_lossy(&complaint);
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gives no reason");
        Err(fail(io::Error::other(crate::escape::visible(line.trim()).into_owned())))
    }

    /// Where a name is diverted to; `None` where it is not.
    ///
    /// # Errors
    /// [`Error::Io`] where dpkg-divert cannot be asked.
    pub fn diverted_to(&self, path: &Path) -> Result<Option<PathBuf>> {
        let said = self.run(&["--truename".as_ref(), path.as_os_str()])?;
        // Anything but a path is no answer, whatever the status was.
        let line = said.strip_suffix(b"\n").filter(|line| line.starts_with(b"/")).ok_or_else(|| {
            Error::io("run", Path::new("dpkg-divert"), io::Error::other("its answer is no path"))
        })?;
        let name = PathBuf::from(OsStr::from_bytes(line));
        Ok((name != path).then_some(name))
    }

    /// Diverts a name. Nothing is moved. Done already, it is done.
    ///
    /// # Errors
    /// [`Error::Io`], also where the name is diverted elsewhere.
    pub fn add(&self, path: &Path, to: &Path) -> Result<()> {
        let words =
            ["--local", "--no-rename", "--divert"].map(OsStr::new).into_iter().chain([to.as_os_str()]);
        let words: Vec<&OsStr> = words.chain([OsStr::new("--add"), path.as_os_str()]).collect();
        self.run(&words).map(drop)
    }

    /// Takes the line out of the table. Nothing is moved.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn remove(&self, path: &Path) -> Result<()> {
        self.run(&["--local".as_ref(), "--no-rename".as_ref(), "--remove".as_ref(), path.as_os_str()])
            .map(drop)
    }
}

/// The names of a path's directory and of itself.
fn split(path: &Path) -> Result<(&Path, OsString)> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok((parent, name.to_owned())),
        _ => Err(Error::NotADirectory { path: path.to_owned() }),
    }
}

/// Takes the default file away: record, diversion, rename. Each step that was done before is passed over.
///
/// # Errors
/// [`Error::Io`]. The record then says which way a later run must go.
pub fn take_away(root: &Root, dpkg: Option<&Dpkg>, record: &Record) -> Result<()> {
    record.write(root)?;
    if let Some(dpkg) = dpkg.filter(|_| record.diverted)
        && let Err(error) = dpkg.add(&record.cert_file, &record.away)
    {
        // Nothing was done: nothing is to be undone.
        if !is_there(root, &record.away)? {
            Record::forget(root)?;
        }
        return Err(error);
    }
    let (parent, name) = split(&record.cert_file)?;
    let directory = Directory::open_to_write(root, parent)?;
    let (_, away) = split(&record.away)?;
    if is_there(root, &record.cert_file)? {
        // Where both are there, an upgrade has put the new link under the diverted name meanwhile.
        if is_there(root, &record.away)? {
            directory.remove(&name)?;
        } else {
            directory.rename(&name, &away)?;
        }
        directory.sync()?;
    }
    Ok(())
}

/// Gives the default file back over whatever stands in its place, takes the diversion back, and forgets. Each step that
/// was done before is passed over.
///
/// # Errors
/// [`Error::Io`]. The record then says which way a later run must go.
pub fn give_back(root: &Root, dpkg: Option<&Dpkg>, record: &Record) -> Result<()> {
    Record { direction: Direction::Undoing, ..record.clone() }.write(root)?;
    let (parent, name) = split(&record.cert_file)?;
    let directory = Directory::open_to_write(root, parent)?;
    if is_there(root, &record.away)? {
        let (_, away) = split(&record.away)?;
        directory.replace(&away, &name)?;
    } else if root.link_at(&record.cert_file)?.as_ref() != Some(&record.target) {
        // Somebody else has removed the file that was away: there is nothing in its place, or a stub.
        let replaces = is_there(root, &record.cert_file)?;
        directory.link(&name, record.target.as_os_str(), replaces)?;
        directory.give(&name, record.owner)?;
    }
    directory.sync()?;
    if let Some(dpkg) = dpkg
        && dpkg.diverted_to(&record.cert_file)?.as_deref() == Some(&record.away)
    {
        dpkg.remove(&record.cert_file)?;
    }
    Record::forget(root)
}

/// Whether there is anything of a name, a link to nothing included.
///
/// # Errors
/// [`Error::Io`] where the system does not say: that is not absence.
pub fn is_there(root: &Root, path: &Path) -> Result<bool> {
    match root.look_at_link(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::io("look at", path, error)),
    }
}
