//! `castore tune`: OpenSSL's own default file away, and back.
#![allow(clippy::disallowed_methods, reason = "this module prints the answer")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::args::{CertFile, Inside, Tune, TuneAction, TuneApply, TuneEnv, TuneStatus, TuneUndo};
use super::run::{Outcome, lock};
use super::{Failure, Status, settings};
use crate::audit::{Context, OpensslDefaults};
use crate::cost::estimate::{self, Family, Layout, Load, Openssl};
use crate::error::Error;
use crate::escape::visible_path;
use crate::openssl::locations::{CERT_DIR, CERT_FILE, DISTRIBUTION_BUNDLES, OPENSSL_DIRS};
use crate::pem::encode::encode;
use crate::pem::label::Label;
use crate::plan::rehash;
use crate::plan::tune::{self, Coverage, Obstacle};
use crate::store::discover::Reach;
use crate::store::load::{self, Loading};
use crate::store::model::{CertificateId, FileId, Store};
use crate::store::read;
use crate::store::root::Root;
use crate::store::source::{SourceId, SourceKind};
use crate::wording::{called, count, date};
use crate::write::apply::{write_file, write_file_locked};
use crate::write::atomic::Directory;
use crate::write::lock::Lock;
use crate::write::undo::{self, Direction, Dpkg, Record};

/// Where Debian's OpenSSL looks, and what its packages put there: the layout whose clients were tried.
const OPENSSLDIR: &str = "/usr/lib/ssl";
const STORE: &str = "/etc/ssl/certs";
const BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";
/// The hook of ca-certificates that castore's package brings.
pub const HOOK: &str = "/etc/ca-certificates/update.d/zz-castore";

/// `castore tune`.
pub fn tune(arguments: &Tune) -> Outcome {
    match &arguments.action {
        TuneAction::Status(arguments) => status(arguments),
        TuneAction::Apply(arguments) => apply(arguments),
        TuneAction::Undo(arguments) => undo(arguments),
        TuneAction::Env(arguments) => env(arguments),
    }
}

/// What stands in the place of OpenSSL's default file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultFile {
    Absent,
    /// A link, and what it says.
    Link(PathBuf),
    File,
    Other,
}

/// A system, as far as `tune` is concerned.
pub struct System {
    pub root: Root,
    /// Its path, for dpkg.
    root_path: Option<PathBuf>,
    /// The words of /etc/os-release: ID and ID_LIKE.
    distribution: Vec<String>,
    /// OPENSSLDIR.
    pub openssl_dir: Option<PathBuf>,
    /// What stands at its cert.pem.
    pub default_file: DefaultFile,
    pub dpkg: Option<Dpkg>,
    pub record: Option<Record>,
}

impl System {
    pub fn survey(inside: &Inside) -> Result<Self, Failure> {
        let root = settings::root(inside)?;
        let openssl_dir = openssl_dir(&root)?;
        let default_file = match &openssl_dir {
            Some(directory) => default_file(&root, &directory.join(CERT_FILE))?,
            None => DefaultFile::Absent,
        };
        let dpkg = Dpkg::of(&root, inside.root.as_deref())?;
        let record = Record::read(&root)?;
        let distribution = distribution(&root);
        let root_path = inside.root.clone();
        Ok(Self { root, root_path, distribution, openssl_dir, default_file, dpkg, record })
    }

    pub fn cert_file(&self) -> PathBuf {
        self.openssl_dir.as_deref().unwrap_or(Path::new(OPENSSLDIR)).join(CERT_FILE)
    }

    fn name(&self) -> &str {
        self.distribution.first().map_or("an unknown system", String::as_str)
    }

    /// Whether this is the layout of Debian and Ubuntu, the only one that is changed; else why not.
    fn is_tried(&self) -> Result<(), String> {
        let Some(directory) = &self.openssl_dir else {
            return Err("OpenSSL's directory of certificates is nowhere that castore knows".to_owned());
        };
        let debian = self.distribution.iter().any(|word| matches!(word.as_str(), "debian" | "ubuntu"));
        if directory != Path::new(OPENSSLDIR) || !debian {
            return Err(format!(
                "the layout of {} (OPENSSLDIR {}) was not tried with clients: only that of Debian and Ubuntu is changed",
                self.name(),
                visible_path(directory),
            ));
        }
        let certificates = self.root.follow(&directory.join(CERT_DIR));
        if !certificates.is_ok_and(|path| path == Path::new(STORE)) {
            return Err(format!("{OPENSSLDIR}/{CERT_DIR} does not lead to {STORE}"));
        }
        Ok(())
    }

    /// The record; where it is lost, what can still be told: by the diversion that castore made, or by the link under the
    /// name that castore gives it.
    pub fn known(&self) -> Result<Option<Record>, Failure> {
        if let Some(record) = &self.record {
            return Ok(Some(record.clone()));
        }
        let file = self.cert_file();
        let diverted = match &self.dpkg {
            Some(dpkg) => dpkg.diverted_to(&file)? == Some(self.away()),
            None => false,
        };
        let link = self.root.link_at(&self.away())?;
        if !diverted && link.is_none() {
            return Ok(None);
        }
        let owner = match link {
            Some(_) => owner(&self.root, &self.away())?,
            None => (0, 0),
        };
        let target = link.unwrap_or_else(|| PathBuf::from(BUNDLE));
        Ok(Some(Record::new(&file, &target, owner, diverted)))
    }

    /// Whether the default file is away by castore's doing.
    pub fn is_away(&self) -> bool {
        self.record.is_some() && undo::is_there(&self.root, &self.away()).is_ok_and(|there| there)
    }

    /// Whether what stands in the place of the default file is castore's doing: nothing, its stub, or the link.
    pub fn is_as_left(&self, record: &Record) -> bool {
        match &self.default_file {
            DefaultFile::Absent => true,
            DefaultFile::Link(target) => *target == record.target,
            DefaultFile::File => is_own_stub(self, record),
            DefaultFile::Other => false,
        }
    }

    fn away(&self) -> PathBuf {
        self.cert_file().with_file_name(undo::AWAY)
    }

    /// Where the default file leads to: now, or when it was there.
    fn bundle(&self) -> PathBuf {
        let known = self.root.follow(&self.cert_file()).ok().filter(|path| self.root.look(path).is_ok());
        let known = match self.default_file {
            DefaultFile::Link(_) => known,
            _ => None,
        };
        known
            .or_else(|| {
                let distribution = DISTRIBUTION_BUNDLES.iter().map(PathBuf::from);
                distribution.into_iter().find(|path| self.root.look(path).is_ok())
            })
            .unwrap_or_else(|| PathBuf::from(BUNDLE))
    }

    /// Reads the bundle and the directory.
    pub fn read(&self) -> Result<Read, Failure> {
        let directory = self.openssl_dir.as_deref().unwrap_or(Path::new(OPENSSLDIR)).join(CERT_DIR);
        let directory = self.root.follow(&directory).unwrap_or(directory);
        let bundle = self.bundle();
        let reach = Reach { root: self.root.clone(), recursive: false };
        let readers = settings::readers(&[], &settings::OnDisk::new(&self.root))?;
        let mut paths = vec![directory, bundle.clone()];
        // A stub is what OpenSSL's defaults load then.
        if self.default_file == DefaultFile::File {
            paths.push(self.cert_file());
        }
        let mut store = load::load_with(&paths, &Loading { reach, comments: false, readers });
        if let Some(failure) = store.take_failures().into_iter().next() {
            return Err(failure.into());
        }
        // What is not known to be there cannot be counted on, nor stand in for anything.
        if let Some((_, text)) = rehash::unreadable(&store).next() {
            return Err(Failure::Usage(text));
        }
        let directory =
            store.source_ids().find(|(_, source)| source.kind == SourceKind::CaPath).map(|(id, _)| id);
        let identity = self.root.look(&bundle).ok().map(|seen| seen.identity);
        let bundle_source = store
            .files()
            .iter()
            .find(|file| file.identity.is_some() && file.identity == identity)
            .map(|file| file.source);
        let mut coverage = match (bundle_source, directory) {
            (Some(bundle), Some(directory)) => {
                Some(tune::coverage(&store, bundle, directory, settings::now()))
            }
            _ => None,
        };
        let public = self.root.look(&bundle).is_ok_and(|seen| seen.mode & 0o004 != 0);
        if let (Some(coverage), Some(directory), true) = (&mut coverage, directory, public) {
            coverage.obstacles.extend(self.behind_closed_doors(&store, directory));
        }
        Ok(Read { store, directory, bundle, coverage })
    }

    /// What a look-up finds in directories that not everybody may enter.
    fn behind_closed_doors(&self, store: &Store, directory: SourceId) -> Vec<(CertificateId, Obstacle)> {
        let mut known: BTreeMap<PathBuf, bool> = BTreeMap::new();
        let mut out = Vec::new();
        for (id, _) in store.certificate_ids() {
            for link in store.reachable_as(directory, id) {
                let Ok(file) = link.leads_to else { continue };
                let real = self.root.follow(store.file(file).path()).unwrap_or_default();
                let parent = real.parent().unwrap_or(Path::new("/")).to_owned();
                let open = *known.entry(parent).or_insert_with_key(|parent| {
                    let enters = |path: &Path| self.root.look(path).is_ok_and(|seen| seen.mode & 0o001 != 0);
                    parent.ancestors().all(|path| path.as_os_str().is_empty() || enters(path))
                });
                if !open {
                    out.push((id, Obstacle::Private(file)));
                    break;
                }
            }
        }
        out
    }

    fn hook(&self) -> HookState {
        let executable = self.root.look(Path::new(HOOK)).is_ok_and(|seen| seen.mode & 0o111 != 0);
        match (executable, super::hook::mode(&self.root)) {
            (false, _) => HookState::Missing,
            (true, Some(super::hook::Mode::Split)) => HookState::Ready,
            (true, _) => HookState::OtherMode,
        }
    }
}

/// Whether an update of the store is looked after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookState {
    Ready,
    OtherMode,
    Missing,
}

/// The store that OpenSSL's defaults lead to.
pub struct Read {
    pub store: Store,
    pub directory: Option<SourceId>,
    pub bundle: PathBuf,
    pub coverage: Option<Coverage>,
}

impl Read {
    fn named(&self, id: CertificateId, obstacle: Obstacle) -> String {
        let certificate = self.store.certificate(id);
        let place = match obstacle {
            Obstacle::Missing => String::new(),
            Obstacle::OtherTrust(file) | Obstacle::Private(file) | Obstacle::Gained(file) => {
                format!(" in {}", visible_path(self.store.file(file).path()))
            }
        };
        format!("{}{place} (sha256:{})", called(certificate), certificate.fingerprint)
    }

    /// Whether OpenSSL finds by hash all that the bundle holds; else what it would lose.
    pub fn proof(&self) -> Result<usize, String> {
        let Some(coverage) = &self.coverage else {
            return Err(format!(
                "{} and a directory with hash links are not both there",
                visible_path(&self.bundle)
            ));
        };
        if coverage.holds() {
            return Ok(coverage.of);
        }
        let bundle = visible_path(&self.bundle);
        let Some(&(_, first)) = coverage.obstacles.first() else {
            return Err(format!("{bundle} holds no certificate"));
        };
        // One kind of trouble at a time: those that have it in common.
        let alike = |obstacle: &Obstacle| std::mem::discriminant(obstacle) == std::mem::discriminant(&first);
        let those: Vec<_> = coverage.obstacles.iter().filter(|(_, obstacle)| alike(obstacle)).collect();
        let names: Vec<String> =
            those.iter().take(3).map(|(id, obstacle)| self.named(*id, *obstacle)).collect();
        let more = those.len().saturating_sub(names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (some, of) = (those.len(), coverage.of);
        let what = match first {
            Obstacle::Missing => format!("no look-up by hash finds {some} of {of} certificates of {bundle}"),
            Obstacle::OtherTrust(_) => {
                format!("a look-up by hash finds other trust attributes than {bundle} has for {some} of {of}")
            }
            Obstacle::Private(_) => {
                format!(
                    "not everybody who may read {bundle} may read what a look-up by hash opens for {some} of {of}"
                )
            }
            Obstacle::Gained(_) => format!(
                "a look-up by hash would find {} of a subject that {bundle} has, and that it hides now",
                count(some, "certificate"),
            ),
        };
        Err(format!("{what}: {}{more}", names.join(", ")))
    }
}

fn openssl_dir(root: &Root) -> Result<Option<PathBuf>, Failure> {
    for directory in OPENSSL_DIRS.iter().map(PathBuf::from) {
        if root.has(&directory.join(CERT_DIR))? {
            return Ok(Some(directory));
        }
    }
    Ok(None)
}

/// The user and group of a link.
fn owner(root: &Root, path: &Path) -> Result<(u32, u32), Failure> {
    let seen = root.look_at_link(path).map_err(|error| Error::io("look at", path, error))?;
    Ok((seen.user, seen.group))
}

fn default_file(root: &Root, path: &Path) -> Result<DefaultFile, Failure> {
    if !undo::is_there(root, path)? {
        return Ok(DefaultFile::Absent);
    }
    if let Ok(target) = root.read_link(path) {
        return Ok(DefaultFile::Link(target));
    }
    let regular = root.look_at_link(path).is_ok_and(|seen| seen.kind == rustix::fs::FileType::RegularFile);
    Ok(if regular { DefaultFile::File } else { DefaultFile::Other })
}

/// ID and ID_LIKE of /etc/os-release (os-release(5)).
fn distribution(root: &Root) -> Vec<String> {
    let bytes = ["/etc/os-release", "/usr/lib/os-release"]
        .iter()
        .find_map(|path| read::regular(root, Path::new(path)).ok())
        .unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))?;
        Some(line.trim().trim_matches(['"', '\'']).to_owned())
    };
    let words = value("ID").into_iter().chain(value("ID_LIKE"));
    words.flat_map(|words| words.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// Prints lines, unless nothing is to be said.
fn say(quiet: bool, lines: &[String]) -> Result<(), Failure> {
    if !quiet {
        let mut out = io::stdout().lock();
        for line in lines {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
    }
    Ok(())
}

/// What a load costs OpenSSL's defaults in two layouts.
fn costs(system: &System, read: &Read) -> (Vec<Load>, Openssl) {
    let identity = |path: &Path| system.root.look(path).ok().map(|seen| seen.identity);
    let context = Context {
        openssl_defaults: Some(OpensslDefaults {
            directory: read.directory.and_then(|id| read.store.source(id).identity),
            file: identity(&system.cert_file()),
        }),
        ..Context::at(settings::now())
    };
    (estimate::loads(&read.store, &context), settings::OnDisk::new(&system.root).priced(None))
}

fn milliseconds(load: &Load, openssl: &Openssl) -> f64 {
    load.family.model(openssl).milliseconds(load.certificates, load.distinct, load.files)
}

fn state(system: &System) -> String {
    let file = visible_path(system.cert_file());
    match &system.default_file {
        DefaultFile::Absent if system.is_away() => {
            format!("{file} is away, by castore: OpenSSL's defaults look certificates up on demand")
        }
        DefaultFile::Absent => {
            format!("{file} is not there: OpenSSL's defaults look certificates up on demand")
        }
        DefaultFile::Link(target) => format!("{file} is a link to {}", visible_path(target)),
        DefaultFile::File if system.is_away() => format!("{file} is a stub, by castore"),
        DefaultFile::File => format!("{file} is a file"),
        DefaultFile::Other => format!("{file} is no file"),
    }
}

fn status(arguments: &TuneStatus) -> Outcome {
    let system = System::survey(&arguments.inside)?;
    let read = system.read()?;
    let mut lines = vec![state(&system)];
    let directory = system.openssl_dir.as_deref().map(|path| path.join(CERT_DIR));
    if let Some(directory) = directory {
        let there = system.root.follow(&directory).unwrap_or_else(|_| directory.clone());
        lines.push(format!("{} is {}", visible_path(&directory), visible_path(&there)));
    }
    if system.openssl_dir.as_deref() == Some(Path::new("/etc/ssl")) {
        lines.push("that file is the public bundle: every program reads it, and it stays".to_owned());
    }
    match read.proof() {
        Ok(of) => lines.push(format!(
            "proof: a look-up by hash finds each of {} of {}",
            count(of, "certificate"),
            visible_path(&read.bundle)
        )),
        Err(why) => lines.push(format!("no proof: {why}")),
    }
    lines.push(match system.hook() {
        HookState::Ready => format!("hook: {HOOK} keeps it so"),
        HookState::OtherMode => {
            format!("hook: {HOOK} is there; {} does not say mode = split", super::hook::CONFIG)
        }
        HookState::Missing => format!("hook: {HOOK} is not there"),
    });
    if let Some(Record { direction: Direction::Restored, .. }) = system.record {
        lines.push("the hook has put the link back, as the directory did not have all".to_owned());
    }
    let (loads, openssl) = costs(&system, &read);
    lines.push("Cost of a load, CPU ms (estimate)".to_owned());
    for &family in Family::ALL {
        let of = |layout| loads.iter().find(|load| load.family == family && load.layout == layout);
        let Some(now) = of(Layout::Now) else { continue };
        let reads = match (now.files, now.on_demand) {
            (0, _) => "nothing at once".to_owned(),
            (files, _) => format!("{} of {}", count(now.certificates, "certificate"), count(files, "file")),
        };
        let demand = if now.on_demand { ", the rest on demand" } else { "" };
        let then = match of(Layout::Split) {
            Some(split) if family == Family::OpensslDefaults => {
                format!("; {:.2} after tune apply", milliseconds(split, &openssl))
            }
            _ => String::new(),
        };
        let now_costs = milliseconds(now, &openssl);
        lines.push(format!("  {:<26}{now_costs:>8.2}: {reads}{demand}{then}", family.title()));
    }
    let next = match (&system.default_file, system.is_tried(), read.proof()) {
        (_, Err(why), _) => format!("next: nothing; {why}"),
        (DefaultFile::Link(_), Ok(()), Ok(_)) => "next: castore tune apply".to_owned(),
        (DefaultFile::Link(_), Ok(()), Err(_)) => {
            format!("next: castore rehash {STORE}, and see why a certificate is not found: castore audit")
        }
        _ if system.record.is_some() => "next: nothing; castore tune undo goes back".to_owned(),
        _ => "next: nothing".to_owned(),
    };
    lines.push(next);
    say(false, &lines)?;
    Ok(Status::Done)
}

/// Locks OPENSSLDIR, so that one run after the other takes the default file away or gives it back; `None` where there is
/// no such directory.
pub fn lock_default_file(inside: &Inside, limit: Duration) -> Result<Option<Lock>, Failure> {
    let root = settings::root(inside)?;
    openssl_dir(&root)?.map(|directory| lock(&root, &[directory], limit)).transpose()
}

fn apply(arguments: &TuneApply) -> Outcome {
    let _lock = match arguments.dry_run {
        true => None,
        false => lock_default_file(&arguments.inside, arguments.locking.limit())?,
    };
    let system = System::survey(&arguments.inside)?;
    system.is_tried().map_err(Failure::Usage)?;
    if arguments.stub_bundle {
        return stub_bundle(&system, arguments);
    }
    let refuse = |why: String| Failure::Usage(format!("{why}; nothing was changed"));
    let read = system.read()?;
    let file = system.cert_file();
    let shown = visible_path(&file);
    let of = read.proof().map_err(refuse)?;
    match system.hook() {
        _ if arguments.without_hook => {}
        HookState::Ready => {}
        HookState::OtherMode => {
            return Err(refuse(format!(
                "the hook does not look after this: say mode = split in {}, or --without-hook",
                super::hook::CONFIG
            )));
        }
        HookState::Missing => {
            return Err(refuse(format!(
                "no hook looks after the store when it is updated: a certificate that `openssl rehash` leaves without \
                 a link would be lost to OpenSSL. Install {HOOK}, or say --without-hook"
            )));
        }
    }
    let wanted_stub = match arguments.cert_file {
        CertFile::Absent => None,
        CertFile::Stub => Some(stub_bytes(&read, None).map_err(refuse)?),
    };
    let record = match (&system.default_file, system.known()?) {
        (DefaultFile::Link(target), _) => {
            if system.root.follow(&file).ok().as_deref() != Some(Path::new(BUNDLE)) {
                return Err(refuse(format!(
                    "{shown} does not lead to {BUNDLE}, but to {}",
                    visible_path(target)
                )));
            }
            if system.record.is_none() && undo::is_there(&system.root, &system.away())? {
                return Err(refuse(format!(
                    "{} is there, and no record of castore's tells of it: castore tune undo gives a link back; move \
                     anything else away",
                    visible_path(system.away())
                )));
            }
            let owner = owner(&system.root, &file)?;
            Record::new(&file, target, owner, system.dpkg.is_some())
        }
        (DefaultFile::Absent, Some(record)) => record,
        (DefaultFile::Absent, None) => {
            let line =
                format!("{shown} is not there already: OpenSSL's defaults look certificates up on demand");
            say(arguments.quiet, &[line])?;
            return Ok(Status::Done);
        }
        (DefaultFile::File, Some(record)) if is_own_stub(&system, &record) => record,
        _ => return Err(refuse(format!("{shown} is a file of somebody else; move it away"))),
    };
    let record = Record {
        direction: Direction::Applied,
        stub: wanted_stub.as_ref().map(|(_, fingerprint)| fingerprint.clone()),
        ..record
    };
    let before = costs(&system, &read);
    if !arguments.dry_run {
        carry_out(&system, &record, wanted_stub.as_ref().map(|(bytes, _)| bytes.as_slice()))?;
    }
    let would = if arguments.dry_run { "would be" } else { "is" };
    let how = if record.diverted { format!(" (diverted by dpkg to {})", undo::AWAY) } else { String::new() };
    let mut lines = vec![match &wanted_stub {
        None => format!("{shown} {would} away{how}: OpenSSL's defaults look certificates up on demand"),
        Some((_, fingerprint)) => {
            format!("{shown} {would} a stub of one certificate, sha256:{fingerprint}{how}")
        }
    }];
    lines.push(format!("a look-up by hash finds each of {} of {BUNDLE}", count(of, "certificate")));
    let (loads, openssl) = before;
    let cost = |layout| {
        let mut own = loads.iter().filter(|load| load.family == Family::OpensslDefaults);
        own.find(|load| load.layout == layout).map(|load| milliseconds(load, &openssl))
    };
    if let (Some(now), Some(then)) = (cost(Layout::Now), cost(Layout::Split)) {
        lines.push(format!(
            "a context of OpenSSL's defaults: {now:.2} ms before, {then:.2} ms then (CPU, estimate)"
        ));
    }
    lines.push("back: castore tune undo".to_owned());
    lines.extend(warnings(&system, &file));
    say(arguments.quiet, &lines)?;
    Ok(Status::Done)
}

/// Takes the file away and, where one is wanted, puts a stub in its place.
fn carry_out(system: &System, record: &Record, stub: Option<&[u8]>) -> Result<(), Failure> {
    if stub.is_none() && system.default_file == DefaultFile::File {
        // From stub to absent. The file that is away stays away.
        record.write(&system.root)?;
        let parent = record.cert_file.parent().unwrap_or(Path::new("/"));
        let directory = Directory::open_to_write(&system.root, parent)?;
        directory.remove(record.cert_file.file_name().unwrap_or_default())?;
        directory.sync()?;
    } else if system.default_file != DefaultFile::File {
        undo::take_away(&system.root, system.dpkg.as_ref(), record)?;
    }
    if let Some(bytes) = stub {
        record.write(&system.root)?;
        let same = read::regular(&system.root, &record.cert_file).is_ok_and(|there| there == bytes);
        if !same {
            write_file_locked(&system.root, &record.cert_file, bytes)?;
        }
    }
    if stub.is_none() && undo::is_there(&system.root, &record.cert_file)? {
        return Err(Failure::Usage(format!(
            "{} is still there; castore tune undo puts everything back",
            visible_path(&record.cert_file)
        )));
    }
    if let Some(dpkg) = system.dpkg.as_ref().filter(|_| record.diverted)
        && dpkg.diverted_to(&record.cert_file)?.as_deref() != Some(&record.away)
    {
        return Err(Failure::Usage(format!(
            "dpkg's table does not divert {}; castore tune undo puts everything back",
            visible_path(&record.cert_file)
        )));
    }
    Ok(())
}

/// A file of one certificate, and the certificate's fingerprint.
fn stub_bytes(read: &Read, before: Option<&OsStr>) -> Result<(Vec<u8>, String), String> {
    let none =
        || "no certificate of the directory can stand for the file: valid, a CA, the only one of its subject";
    let directory = read.directory.ok_or_else(none)?;
    let file: FileId = tune::stub(&read.store, directory, settings::now(), before).ok_or_else(none)?;
    let (_, occurrence) = read.store.occurrences_of_file(file).next().ok_or_else(none)?;
    let certificate = read.store.certificate(occurrence.certificate);
    let bytes = encode(Label::Certificate, certificate.der.as_bytes()).into_bytes();
    Ok((bytes, certificate.fingerprint.to_string()))
}

/// Whether the file in the place of the default file is the stub that the record tells of.
fn is_own_stub(system: &System, record: &Record) -> bool {
    let Some(stub) = &record.stub else { return false };
    let reach = Reach { root: system.root.clone(), recursive: false };
    let paths = [record.cert_file.clone()];
    let store = load::load_with(&paths, &Loading { reach, comments: false, readers: Vec::new() });
    store.occurrences().len() == 1
        && store
            .certificates()
            .first()
            .is_some_and(|certificate| certificate.fingerprint.to_string() == *stub)
}

fn undo(arguments: &TuneUndo) -> Outcome {
    let _lock = match arguments.dry_run {
        true => None,
        false => lock_default_file(&arguments.inside, arguments.locking.limit())?,
    };
    let system = System::survey(&arguments.inside)?;
    let Some(record) = system.known()? else {
        // A run that was killed at its very end leaves an empty directory.
        if !arguments.dry_run {
            Record::forget(&system.root)?;
        }
        say(arguments.quiet, &["nothing is to be undone".to_owned()])?;
        return Ok(Status::Done);
    };
    let shown = visible_path(&record.cert_file);
    if !system.is_as_left(&record) {
        return Err(Failure::Usage(format!(
            "{shown} is not as castore left it: move it away, and run castore tune undo again; nothing was changed"
        )));
    }
    if !arguments.dry_run {
        undo::give_back(&system.root, system.dpkg.as_ref(), &record)?;
    }
    let would = if arguments.dry_run { "would be" } else { "is" };
    say(arguments.quiet, &[format!("{shown} {would} again a link to {}", visible_path(&record.target))])?;
    Ok(Status::Done)
}

/// What on-demand look-ups change, by name, and what on this system names the very file.
fn warnings(system: &System, file: &Path) -> Vec<String> {
    let shown = visible_path(file);
    let mut lines = vec![
        "Programs that then fail, if they are so made:".to_owned(),
        "  those that chroot, give up privileges below a directory of mode 700, or have no free file descriptor before"
            .to_owned(),
        "  their first handshake: what is looked up on demand is out of their reach (name the bundle to them)".to_owned(),
        format!("  those that name {shown} itself: Ruby's OpenSSL::X509::DEFAULT_CERT_FILE, PHP's"),
        "  openssl_get_cert_locations()[\"default_cert_file\"], Python's get_default_verify_paths().openssl_cafile,".to_owned(),
        format!("  curl --cacert {shown}"),
    ];
    for place in named_in(system, &[file]) {
        lines.push(format!("  here: {place}"));
    }
    lines
}

/// Configuration in which a path of a store often stands.
const CONFIGURATION: &[&str] = &[
    "/etc/environment",
    "/etc/profile",
    "/etc/bash.bashrc",
    "/etc/wgetrc",
    "/etc/curlrc",
    "/etc/gitconfig",
    "/etc/pip.conf",
    "/etc/ldap/ldap.conf",
    "/etc/aria2.conf",
    "/etc/lynx/lynx.cfg",
    "/etc/npmrc",
    "/root/.curlrc",
    "/root/.wgetrc",
    "/root/.gitconfig",
    "/etc/mail.rc",
    "/etc/msmtprc",
];
const CONFIGURATION_DIRECTORIES: &[&str] = &[
    "/etc/profile.d",
    "/etc/default",
    "/etc/environment.d",
    "/etc/systemd/system",
    "/etc/apt/apt.conf.d",
    "/etc/ssl",
];
/// A file larger than this is no configuration.
const LARGEST: u64 = 1 << 20;

/// `file:line` and variables in which one of these paths stands.
fn named_in(system: &System, paths: &[&Path]) -> Vec<String> {
    use std::os::unix::ffi::OsStrExt as _;
    let root = &system.root;
    let mut files: Vec<PathBuf> = CONFIGURATION.iter().map(PathBuf::from).collect();
    for directory in CONFIGURATION_DIRECTORIES.iter().map(Path::new) {
        let entries = root.entries(directory).unwrap_or_default();
        files.extend(
            entries.iter().filter(|entry| !entry.is_directory).map(|entry| directory.join(&entry.name)),
        );
    }
    let mut out = Vec::new();
    for file in files {
        let small = |seen: &crate::store::root::Seen| {
            seen.kind == rustix::fs::FileType::RegularFile && seen.size <= LARGEST
        };
        if !root.look(&file).ok().as_ref().is_some_and(small) {
            continue;
        }
        let Ok(bytes) = read::regular(root, &file) else { continue };
        for (number, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
            let names = |path: &&Path| memchr::memmem::find(line, path.as_os_str().as_bytes()).is_some();
            if paths.iter().any(names) && !line.trim_ascii_start().starts_with(b"#") {
                out.push(format!("{}:{}", visible_path(&file), number + 1));
            }
        }
    }
    if system.root_path.is_none() {
        for (name, value) in settings::named_variables() {
            if paths.iter().any(|path| Path::new(&value) == *path) {
                out.push(format!("the variable {name}"));
            }
        }
    }
    out
}

/// Programs that read the bundle alone, and where they are when they are installed.
const READERS_OF_THE_BUNDLE: &[(&str, &str)] = &[
    ("/usr/bin/wget", "wget"),
    ("/usr/bin/gnutls-cli", "gnutls-cli"),
    ("/usr/bin/lynx", "lynx"),
    ("/usr/bin/aria2c", "aria2"),
    ("/usr/lib/x86_64-linux-gnu/pkcs11/p11-kit-trust.so", "NSS through p11-kit"),
    ("/usr/lib/aarch64-linux-gnu/pkcs11/p11-kit-trust.so", "NSS through p11-kit"),
];

/// The layout that breaks others: the public bundle cut to one certificate.
fn stub_bundle(system: &System, arguments: &TuneApply) -> Outcome {
    let read = system.read()?;
    let refuse = |why: String| Failure::Usage(format!("{why}; nothing was changed"));
    let of = read.proof().map_err(refuse)?;
    let before = Path::new(BUNDLE).file_name();
    let (bytes, fingerprint) = stub_bytes(&read, before).map_err(refuse)?;
    let mut broken: Vec<String> = READERS_OF_THE_BUNDLE
        .iter()
        .filter(|(path, _)| system.root.look(Path::new(path)).is_ok())
        .map(|(path, name)| format!("{name} ({path})"))
        .collect();
    broken.extend(named_in(system, &[Path::new(BUNDLE)]));
    broken.push(
        "whatever names the bundle by an argument: curl --cacert, Python's cafile=, requests' verify="
            .to_owned(),
    );
    let mut lines = vec!["What reads the bundle alone, and trusts one certificate then:".to_owned()];
    lines.extend(broken.iter().map(|what| format!("  {what}")));
    if !arguments.accept_breakage {
        say(arguments.quiet, &lines)?;
        return Err(refuse(format!(
            "cutting {BUNDLE} to one certificate breaks {}; say --accept-breakage, or better leave --stub-bundle out",
            count(broken.len(), "program or place")
        )));
    }
    if !arguments.dry_run {
        write_file(&system.root, Path::new(BUNDLE), &bytes)?;
    }
    let would = if arguments.dry_run { "would be" } else { "is" };
    lines.insert(0, format!("{BUNDLE} {would} one certificate of {of}, sha256:{fingerprint}"));
    lines.push("back: update-ca-certificates, which writes the bundle anew at its next run".to_owned());
    say(arguments.quiet, &lines)?;
    Ok(Status::Done)
}

fn env(arguments: &TuneEnv) -> Outcome {
    let system = System::survey(&arguments.inside)?;
    let read = system.read()?;
    read.proof().map_err(Failure::Usage)?;
    let none = || Failure::Usage("no certificate of the directory can stand for the file".to_owned());
    let directory = read.directory.ok_or_else(none)?;
    let file = tune::stub(&read.store, directory, settings::now(), None).ok_or_else(none)?;
    let path = read.store.source(directory).path.clone();
    let names = &read.store.file(file).names;
    // The name that people know, not the hash.
    let name =
        names.iter().filter(|name| name.parent() == Some(&path)).max_by_key(|name| name.as_os_str().len());
    let (_, occurrence) = read.store.occurrences_of_file(file).next().ok_or_else(none)?;
    let certificate = read.store.certificate(occurrence.certificate);
    let until = certificate
        .validity
        .not_after
        .instant
        .map_or_else(String::new, |end| format!(" until {}", date(end)));
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "# On-demand look-ups for one user or service. The file is one certificate of the directory{until},"
    )?;
    writeln!(out, "# which spares OpenSSL the bundle; every other is looked up when a connection needs it.")?;
    writeln!(
        out,
        "# Obeyed by: OpenSSL's defaults (Python, Ruby, PHP, Perl, openssl), curl on OpenSSL, Go, rustls-native-certs."
    )?;
    writeln!(
        out,
        "# Not by: GnuTLS (wget, git, gnutls-cli), NSS, Java, Python's requests, programs that name the bundle."
    )?;
    writeln!(out, "SSL_CERT_FILE={}", shell(name.unwrap_or(&path)))?;
    writeln!(out, "SSL_CERT_DIR={}", shell(&path))?;
    writeln!(out, "export SSL_CERT_FILE SSL_CERT_DIR")?;
    out.flush()?;
    Ok(Status::Done)
}

/// A path as one word of a shell.
fn shell(path: &Path) -> String {
    let text = visible_path(path);
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%=:,".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
