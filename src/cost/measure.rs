//! Measures what a context costs with the machine's libssl, in a child process.
//!
//! A library that is chosen at run time may be broken, and is not let into this process: the program starts itself once
//! more ([`Worker`]), gives the [`Job`] to the child's standard input, and reads messages from its standard output, one
//! JSON value a line. The child ([`serve`]) loads the library, and may die.

use std::ffi::OsString;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{DumpableBehavior, Signal};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::libssl::{self, Libssl, NoKey, Unusable, c_path};
use super::timing::{GOOD_PAIRS, LEAST_PAIRS, Sample};
use crate::escape::{visible, visible_path};
use crate::store::read;
use crate::store::root::Root;

/// How long the timed runs of one child take together, warm-up excluded, where no number is asked for and the machine is
/// quiet.
pub const BUDGET: Duration = Duration::from_secs(2);
/// A busy machine, or a large store: so long for [`GOOD_PAIRS`], where stores are compared.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// A store that is larger still: so long for [`LEAST_PAIRS`].
const MORE_PATIENCE: Duration = Duration::from_secs(30);
/// Then so many are enough, and there is no verdict.
const FEW: usize = 3;
/// No more than so many, however fast they are.
const MOST: usize = 10_000;
/// Runs before those that count: pages are read, memory is allocated, the library has set itself up.
const WARM_UP: usize = 5;
/// The time after which there is no further warm-up run.
const WARM: Duration = Duration::from_millis(200);
/// How much of what a library writes to standard error is kept.
const KEPT: usize = 2048;
/// A line longer than this is no message: it is not kept.
const LONGEST: usize = 256 << 20;

/// What one context loads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The CAfile, parsed for every context.
    pub cafile: Option<OsString>,
    /// The CApath, or several with colons between them, asked on demand.
    pub capath: Option<OsString>,
    /// The DER of a subject that is looked up in every context; without it there is no look-up.
    pub subject: Option<Vec<u8>>,
}

/// What is to be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The library: a path, or a name that the loader finds. Without one, the first of [`libssl::NAMES`] there is.
    pub libssl: Option<OsString>,
    /// What is loaded, in turns: in every second round in the other direction.
    pub places: Vec<Place>,
    /// A private key (PEM) that is loaded and checked.
    pub key: Option<OsString>,
    /// How many runs of each; without a number as many as go into [`BUDGET`].
    pub runs: Option<usize>,
    /// When to give up.
    pub limit: Duration,
}

impl Job {
    /// The time after which a child is killed, where nobody says another one.
    pub const LIMIT: Duration = Duration::from_secs(60);

    /// A job for the default library and number of runs.
    #[must_use]
    pub fn new(places: Vec<Place>) -> Self {
        Self { libssl: None, places, key: None, runs: None, limit: Self::LIMIT }
    }
}

/// How to start a child that calls [`serve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// The program.
    pub program: PathBuf,
    /// What makes it call [`serve`].
    pub argument: OsString,
    /// `LD_LIBRARY_PATH`, the only variable that the child gets: it says which libraries this user's programs load.
    ///
    /// Everything else would change what is measured, or nothing: `OPENSSL_CONF`, `SSL_CERT_FILE` and `SSL_CERT_DIR` (the
    /// paths are given), `LD_PRELOAD`, `MALLOC_*`, `GLIBC_TUNABLES`. The library reads its own `openssl.cnf`.
    pub library_path: Option<OsString>,
}

/// The library that was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryFound {
    /// `OpenSSL 3.0.19 27 Jan 2026`, as the library says it.
    pub version: String,
    /// The file of libssl; as it was asked for, where the system does not tell.
    pub libssl: PathBuf,
    /// The file of libcrypto.
    pub libcrypto: Option<PathBuf>,
}

/// The times of one [`Place`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceTimes {
    /// How many certificates the library holds in memory once the place is loaded, each once; `None` where it has no way
    /// to say.
    pub certificates: Option<usize>,
    /// `SSL_CTX_new`, `SSL_CTX_load_verify_locations` and `SSL_CTX_free`.
    pub context: Vec<Sample>,
    /// The first look-up in a new context; `None` where there was no subject, or the library does not find it.
    pub look_up: Option<Vec<Sample>>,
}

impl PlaceTimes {
    /// CPU time of each context with its first look-up, in nanoseconds: what one handshake pays at least.
    #[must_use]
    pub fn totals(&self) -> Vec<u64> {
        let context = self.context.iter().map(|sample| sample.cpu);
        match &self.look_up {
            None => context.collect(),
            Some(look_ups) => context.zip(look_ups).map(|(time, look_up)| time + look_up.cpu).collect(),
        }
    }
}

/// The times of a private key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyTimes {
    /// Opening the file and `PEM_read_bio_PrivateKey`.
    pub load: Vec<Sample>,
    /// The same and `EVP_PKEY_check`; `None` where the library cannot check such a key.
    pub checked: Option<Vec<Sample>>,
    /// What the check has against the key.
    pub fault: Option<String>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// By what.
    pub library: LibraryFound,
    /// One for each [`Job::places`].
    pub places: Vec<PlaceTimes>,
    /// Of [`Job::key`].
    pub key: Option<KeyTimes>,
}

/// Why there is no measurement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// No child could be started, or talked with.
    #[error("cannot start a process that measures ({}): {source}", visible_path(program))]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The loader finds no library.
    #[error("no libssl can be loaded: {}", .0.iter().map(|text| visible(text)).collect::<Vec<_>>().join("; "))]
    NotLoaded(Vec<String>),
    /// It is not libssl, or too old.
    #[error("{} cannot be measured: it has no function {symbol}", visible_path(library))]
    Lacks {
        /// As it was asked for.
        library: OsString,
        /// The function.
        symbol: String,
    },
    /// The library makes no context.
    #[error("{} makes no context: {}", visible(library), visible(text))]
    NoContext {
        /// Its version.
        library: String,
        /// Its text.
        text: String,
    },
    /// The library refuses a store.
    #[error("{} loads nothing from {}: {}", visible(library), visible_path(path), visible(text))]
    Refused {
        /// Its version.
        library: String,
        /// The CAfile, or the CApath where there is none.
        path: OsString,
        /// Its text.
        text: String,
    },
    /// The private key is encrypted.
    #[error("{} is encrypted, and castore asks for no password", visible_path(path))]
    EncryptedKey {
        /// The key.
        path: OsString,
    },
    /// The library refuses the private key.
    #[error("{} loads no private key from {}: {}", visible(library), visible_path(path), visible(text))]
    KeyRefused {
        /// Its version.
        library: String,
        /// The key.
        path: OsString,
        /// Its text.
        text: String,
    },
    /// The library killed its process.
    #[error("{} died by {} {stage}{}", visible(library), signal_name(*.signal), last_words(.said))]
    Died {
        /// Its file, or what was asked for.
        library: String,
        /// The number of the signal.
        signal: i32,
        /// While it did what.
        stage: Stage,
        /// The last line that it wrote to standard error.
        said: String,
    },
    /// It ended its process, or closed its output.
    #[error("{} ended its process ({status}) {stage}{}", visible(library), last_words(.said))]
    Ended {
        /// Its file, or what was asked for.
        library: String,
        /// How.
        status: ExitStatus,
        /// While it did what.
        stage: Stage,
        /// The last line that it wrote to standard error.
        said: String,
    },
    /// It took too long.
    #[error("no answer from {} after {} s {stage}", visible(library), limit.as_secs())]
    TimedOut {
        /// Its file, or what was asked for.
        library: String,
        /// The time.
        limit: Duration,
        /// While it did what.
        stage: Stage,
    },
}

impl Failure {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NotLoaded(_) if cfg!(target_feature = "crt-static") => {
                "this castore is linked statically and cannot load libraries; use one that is linked dynamically"
            }
            Self::NotLoaded(_) => "install OpenSSL's libssl, or name a library with --libssl FILE",
            Self::Lacks { .. } => "OpenSSL 1.1.1 or newer is needed; --libssl FILE names another library",
            Self::Refused { .. } => "a context with this store fails; castore audit names the block",
            Self::EncryptedKey { .. } => "its load cannot be timed without the password; decrypt a copy",
            Self::KeyRefused { .. } => {
                "a private key in PEM is needed: PRIVATE KEY, RSA PRIVATE KEY, EC PRIVATE KEY"
            }
            Self::Died { .. } | Self::Ended { .. } => {
                "castore itself is unharmed; --libssl FILE names another library"
            }
            Self::TimedOut { .. } => "--time-limit gives it longer, --runs asks for fewer",
            Self::Start { .. } | Self::NoContext { .. } => return None,
        })
    }
}

fn last_words(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("; it said: {}", visible(text)) }
}

/// `signal 11 (SIGSEGV)`.
fn signal_name(signal: i32) -> String {
    // The signals that a faulty library gets; their numbers are not everywhere the same.
    let name = [
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::ILL, "SIGILL"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::SYS, "SIGSYS"),
        (Signal::TERM, "SIGTERM"),
        (Signal::TRAP, "SIGTRAP"),
    ]
    .into_iter()
    .find(|(known, _)| known.as_raw() == signal);
    match name {
        Some((_, name)) => format!("signal {signal} ({name})"),
        None => format!("signal {signal}"),
    }
}

/// What a child is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stage {
    /// It loads the library.
    Loading,
    /// It makes a first context, with this store.
    FirstContext(OsString),
    /// It loads the private key.
    FirstKey(OsString),
    /// It takes times.
    Timing,
}

impl std::fmt::Display for Stage {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Loading => out.write_str("while it was loaded"),
            Self::FirstContext(path) => write!(out, "in a context with {}", visible_path(path)),
            Self::FirstKey(path) => write!(out, "with the private key {}", visible_path(path)),
            Self::Timing => out.write_str("while it was timed"),
        }
    }
}

/// What a child says, one a line. A line that is none of these was written by the library, and is passed over.
#[derive(Debug, Serialize, Deserialize)]
enum Message {
    /// What comes next.
    Stage(Stage),
    /// The library is loaded.
    Library(LibraryFound),
    /// The end: everything.
    Done(Measured),
    /// The end.
    NotLoaded(Vec<String>),
    Lacks(OsString, String),
    NoContext(String),
    Refused(OsString, String),
    EncryptedKey,
    KeyRefused(String),
}

// ---- The parent ------------------------------------------------------------------------------------------------

/// Measures one pair of a CAfile and a CApath, as OpenSSL's defaults have them.
///
/// # Errors
/// [`Failure`].
pub fn pair(worker: &Worker, cafile: Option<&Path>, capath: Option<&Path>) -> Result<Measured, Failure> {
    let text = |path: &Path| path.as_os_str().to_owned();
    let place = Place { cafile: cafile.map(text), capath: capath.map(text), subject: None };
    run(worker, &Job::new(vec![place]))
}

/// Measures in a child process.
///
/// # Errors
/// [`Failure`]: of the child, of the library, of the stores.
pub fn run(worker: &Worker, job: &Job) -> Result<Measured, Failure> {
    let start = |source: io::Error| Failure::Start { program: worker.program.clone(), source };
    let deadline = now() + job.limit;
    let mut command = Command::new(&worker.program);
    command.arg(&worker.argument).env_clear();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(path) = &worker.library_path {
        command.env("LD_LIBRARY_PATH", path);
    }
    let mut child = Running(command.spawn().map_err(start)?);
    let mut text = serde_json::to_vec(job).map_err(|error| start(error.into()))?;
    text.push(b'\n');
    if let Some(mut input) = child.0.stdin.take() {
        // A child that is gone already says more by how it went.
        let _ = input.write_all(&text);
    }
    let asked = job.libssl.as_ref().map_or_else(|| "libssl".to_owned(), visible_path);
    let mut listening =
        Listening { asked, library: None, stage: Stage::Loading, said: Vec::new(), key: &job.key };
    let end = listening.listen(&mut child.0, deadline, job.limit).map_err(start)?;
    match end {
        End::Answer(answer) => *answer,
        End::Silence => {
            let status = child.0.wait().map_err(start)?;
            Err(listening.ended(status))
        }
    }
}

/// A child that does not outlive its parent's interest.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It has nothing to lose, and a faulty library may hang at exit as well. One that is gone cannot be killed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How listening ended.
enum End {
    /// With an answer, or after the time.
    Answer(Box<Result<Measured, Failure>>),
    /// The child closed its output.
    Silence,
}

/// What has been heard.
struct Listening<'a> {
    asked: String,
    library: Option<LibraryFound>,
    stage: Stage,
    said: Vec<u8>,
    key: &'a Option<OsString>,
}

impl Listening<'_> {
    fn listen(&mut self, child: &mut Child, deadline: Duration, limit: Duration) -> io::Result<End> {
        let (Some(mut output), Some(mut complaints)) = (child.stdout.take(), child.stderr.take()) else {
            return Ok(End::Silence);
        };
        let mut heard: Vec<u8> = Vec::new();
        let mut complains = true;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let left = deadline.saturating_sub(now());
            if left.is_zero() {
                let failure = Failure::TimedOut { library: self.library(), limit, stage: self.stage.clone() };
                return Ok(End::Answer(Box::new(Err(failure))));
            }
            let (output_ready, complaints_ready) = {
                let mut fds = vec![PollFd::from_borrowed_fd(output.as_fd(), PollFlags::IN)];
                if complains {
                    fds.push(PollFd::from_borrowed_fd(complaints.as_fd(), PollFlags::IN));
                }
                match poll(&mut fds, Timespec::try_from(left).ok().as_ref()) {
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
                let ready = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
                (ready(0), ready(1))
            };
            if complaints_ready {
                let number = complaints.read(&mut buffer)?;
                complains = number > 0;
                self.said.extend_from_slice(&buffer[..number]);
                self.said.drain(..self.said.len().saturating_sub(KEPT));
            }
            if output_ready {
                let number = output.read(&mut buffer)?;
                if number == 0 {
                    // What it said last may still be in the other pipe; it is gone, or about to go.
                    return Ok(End::Silence);
                }
                let new = heard.len();
                heard.extend_from_slice(&buffer[..number]);
                let mut start = 0;
                for at in memchr::memchr_iter(b'\n', &heard[new..]).map(|at| at + new) {
                    if let Some(answer) = self.hear(&heard[start..at]) {
                        return Ok(End::Answer(Box::new(answer)));
                    }
                    start = at + 1;
                }
                heard.drain(..start);
                if heard.len() > LONGEST {
                    heard.clear();
                }
            }
        }
    }

    fn hear(&mut self, line: &[u8]) -> Option<Result<Measured, Failure>> {
        let key = || self.key.clone().unwrap_or_default();
        Some(Err(match serde_json::from_slice(line).ok()? {
            Message::Stage(stage) => {
                self.stage = stage;
                return None;
            }
            Message::Library(library) => {
                self.library = Some(library);
                return None;
            }
            Message::Done(measured) => return Some(Ok(measured)),
            Message::NotLoaded(complaints) => Failure::NotLoaded(complaints),
            Message::Lacks(library, symbol) => Failure::Lacks { library, symbol },
            Message::NoContext(text) => Failure::NoContext { library: self.version(), text },
            Message::Refused(path, text) => Failure::Refused { library: self.version(), path, text },
            Message::EncryptedKey => Failure::EncryptedKey { path: key() },
            Message::KeyRefused(text) => Failure::KeyRefused { library: self.version(), path: key(), text },
        }))
    }

    /// The library's file, or what was asked for.
    fn library(&self) -> String {
        self.library
            .as_ref()
            .map_or_else(|| self.asked.clone(), |library| library.libssl.display().to_string())
    }

    /// What it calls itself; a library that says nothing, by its file.
    fn version(&self) -> String {
        let version = self.library.as_ref().map(|library| library.version.clone());
        version.filter(|text| !text.is_empty()).unwrap_or_else(|| self.library())
    }

    fn ended(&self, status: ExitStatus) -> Failure {
        let said = String::from_utf8_lossy(&self.said);
        let said =
            said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned();
        let (library, stage) = (self.library(), self.stage.clone());
        match status.signal() {
            Some(signal) => Failure::Died { library, signal, stage, said },
            None => Failure::Ended { library, status, stage, said },
        }
    }
}

// ---- The child -------------------------------------------------------------------------------------------------

/// The child's side: reads a [`Job`], loads the library, measures, and says how it went.
///
/// # Errors
/// Those of the two streams; what becomes of the job is said, not returned.
pub fn serve(input: &mut dyn Read, output: &mut dyn Write) -> io::Result<()> {
    // No image of a crash is written: it could hold a private key. And nobody waits for a child without a parent.
    let _ = rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
    let mut line = String::new();
    BufReader::new(input).read_line(&mut line)?;
    let job: Job = serde_json::from_str(&line)?;
    let mut say = |message: &Message| -> io::Result<()> {
        let mut text = serde_json::to_vec(message)?;
        text.push(b'\n');
        output.write_all(&text)?;
        output.flush()
    };
    let end = match measure(&job, &mut say) {
        Ok(measured) => Message::Done(measured),
        Err(Stop::Message(message)) => *message,
        Err(Stop::Output(error)) => return Err(error),
    };
    say(&end)
}

/// Why the child goes no further.
enum Stop {
    Message(Box<Message>),
    Output(io::Error),
}

fn stop(message: Message) -> Stop {
    Stop::Message(Box::new(message))
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// A moment on both clocks.
#[derive(Clone, Copy)]
struct Moment {
    cpu: u64,
    wall: u64,
}

impl Moment {
    fn now() -> Self {
        Self { cpu: nanoseconds(ClockId::ThreadCPUTime), wall: nanoseconds(ClockId::Monotonic) }
    }

    fn since(self, earlier: Self) -> Sample {
        Sample { cpu: self.cpu.saturating_sub(earlier.cpu), wall: self.wall.saturating_sub(earlier.wall) }
    }
}

fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

fn now() -> Duration {
    Duration::from_nanos(nanoseconds(ClockId::Monotonic))
}

fn measure(job: &Job, say: &mut dyn FnMut(&Message) -> io::Result<()>) -> Result<Measured, Stop> {
    let names: Vec<OsString> = match &job.libssl {
        Some(name) => vec![name.clone()],
        None => libssl::NAMES.iter().map(OsString::from).collect(),
    };
    say(&Message::Stage(Stage::Loading))?;
    let library = Libssl::load(&names).map_err(|unusable| {
        stop(match unusable {
            Unusable::NotLoaded(complaints) => Message::NotLoaded(complaints),
            Unusable::Lacks(name, symbol) => Message::Lacks(name, symbol.to_owned()),
        })
    })?;
    let found = identify(&library, &names);
    say(&Message::Library(found.clone()))?;

    let mut places = Vec::with_capacity(job.places.len());
    for place in &job.places {
        say(&Message::Stage(Stage::FirstContext(place.path())))?;
        places.push(Bench::new(&library, place)?);
    }
    let mut key = None;
    if let Some(path) = &job.key {
        say(&Message::Stage(Stage::FirstKey(path.clone())))?;
        key = Some(KeyBench::new(&library, path)?);
    }
    say(&Message::Stage(Stage::Timing))?;
    let begin = now();
    for round in 0..WARM_UP {
        if now() - begin >= WARM {
            break;
        }
        turn(&mut places, &mut key, round)?;
    }
    places.iter_mut().for_each(Bench::forget);
    if let Some(key) = &mut key {
        key.forget();
    }
    let good = if places.len() > 1 { GOOD_PAIRS } else { LEAST_PAIRS };
    let begin = now();
    for round in 0.. {
        let enough = match job.runs {
            Some(runs) => round >= runs,
            None => {
                let passed = now() - begin;
                round >= MOST
                    || (passed >= BUDGET && round >= good)
                    || (passed >= PATIENCE && round >= LEAST_PAIRS)
                    || (passed >= MORE_PATIENCE && round >= FEW)
            }
        };
        if enough {
            break;
        }
        turn(&mut places, &mut key, round)?;
    }
    Ok(Measured {
        library: found,
        places: places.into_iter().map(|bench| bench.times).collect(),
        key: key.map(|bench| bench.times),
    })
}

/// One run of each. A B, then B A: whatever comes after something else comes as often before it.
fn turn(places: &mut [Bench<'_>], key: &mut Option<KeyBench<'_>>, round: usize) -> Result<(), Stop> {
    let number = places.len();
    for index in 0..number {
        places[if round.is_multiple_of(2) { index } else { number - 1 - index }].run()?;
    }
    key.as_mut().map_or(Ok(()), KeyBench::run)
}

/// The version, and the files in which two of its functions lie.
fn identify(library: &Libssl, names: &[OsString]) -> LibraryFound {
    let maps = read::pipe(&Root::host(), Path::new("/proc/self/maps")).unwrap_or_default();
    let (ssl, crypto) = library.addresses();
    let asked = || names.first().map(PathBuf::from).unwrap_or_default();
    LibraryFound {
        version: library.version(),
        libssl: mapped(&maps, ssl).unwrap_or_else(asked),
        libcrypto: mapped(&maps, crypto),
    }
}

/// The file in which an address lies, by the text of `/proc/self/maps` (proc(5)).
fn mapped(maps: &[u8], address: usize) -> Option<PathBuf> {
    maps.split(|&byte| byte == b'\n').find_map(|line| {
        let text = std::str::from_utf8(line.get(..line.iter().position(|&byte| byte == b' ')?)?).ok()?;
        let (start, end) = text.split_once('-')?;
        let number = |text| usize::from_str_radix(text, 16).ok();
        if !(number(start)?..number(end)?).contains(&address) {
            return None;
        }
        let path = line.iter().position(|&byte| byte == b'/')?;
        Some(PathBuf::from(std::ffi::OsStr::from_bytes(&line[path..])))
    })
}

impl Place {
    fn path(&self) -> OsString {
        self.cafile.clone().or_else(|| self.capath.clone()).unwrap_or_default()
    }
}

/// One place, ready to be loaded over and over.
struct Bench<'a> {
    library: &'a Libssl,
    path: OsString,
    cafile: Option<std::ffi::CString>,
    capath: Option<std::ffi::CString>,
    subject: Option<libssl::Name<'a>>,
    times: PlaceTimes,
}

impl<'a> Bench<'a> {
    /// Loads it once, and finds out what there is to be timed.
    fn new(library: &'a Libssl, place: &Place) -> Result<Self, Stop> {
        let refused = |text: String| stop(Message::Refused(place.path(), text));
        let c_text = |path: &Option<OsString>| match path {
            None => Ok(None),
            Some(path) => c_path(path).map(Some).ok_or_else(|| refused("a NUL in its path".to_owned())),
        };
        let mut bench = Self {
            library,
            path: place.path(),
            cafile: c_text(&place.cafile)?,
            capath: c_text(&place.capath)?,
            // What the library does not read as a name cannot be looked up.
            subject: place.subject.as_ref().and_then(|der| library.name(der).ok()),
            times: PlaceTimes { certificates: None, context: Vec::new(), look_up: None },
        };
        let context = bench.context()?;
        let certificates = context.certificates();
        let found = bench.subject.as_ref().is_some_and(|name| context.look_up(name));
        drop(context);
        bench.times.certificates = certificates;
        if found {
            bench.times.look_up = Some(Vec::new());
        } else {
            bench.subject = None;
        }
        Ok(bench)
    }

    fn context(&self) -> Result<libssl::Context<'a>, Stop> {
        let context = self.library.context().map_err(|text| stop(Message::NoContext(text)))?;
        context
            .load(self.cafile.as_deref(), self.capath.as_deref())
            .map_err(|text| stop(Message::Refused(self.path.clone(), text)))?;
        Ok(context)
    }

    fn run(&mut self) -> Result<(), Stop> {
        let start = Moment::now();
        let context = self.context()?;
        let loaded = Moment::now();
        if let Some(subject) = &self.subject {
            let _ = context.look_up(subject);
        }
        let looked = Moment::now();
        drop(context);
        let end = Moment::now();
        let (load, free) = (loaded.since(start), end.since(looked));
        self.times.context.push(Sample { cpu: load.cpu + free.cpu, wall: load.wall + free.wall });
        if let Some(look_ups) = &mut self.times.look_up {
            look_ups.push(looked.since(loaded));
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.times.context.clear();
        if let Some(look_ups) = &mut self.times.look_up {
            look_ups.clear();
        }
    }
}

/// A private key, ready to be loaded over and over.
struct KeyBench<'a> {
    library: &'a Libssl,
    path: std::ffi::CString,
    times: KeyTimes,
}

impl<'a> KeyBench<'a> {
    fn new(library: &'a Libssl, path: &OsString) -> Result<Self, Stop> {
        let text = c_path(path).ok_or_else(|| stop(Message::KeyRefused("a NUL in its path".to_owned())))?;
        let times = KeyTimes { load: Vec::new(), checked: None, fault: None };
        let mut bench = Self { library, path: text, times };
        match bench.key()?.check() {
            None => {}
            Some(Ok(())) => bench.times.checked = Some(Vec::new()),
            Some(Err(text)) => bench.times.fault = Some(text),
        }
        Ok(bench)
    }

    fn key(&self) -> Result<libssl::Key<'a>, Stop> {
        self.library.private_key(&self.path).map_err(|error| {
            stop(match error {
                NoKey::Encrypted => Message::EncryptedKey,
                NoKey::Refused(text) => Message::KeyRefused(text),
            })
        })
    }

    fn run(&mut self) -> Result<(), Stop> {
        let start = Moment::now();
        drop(self.key()?);
        self.times.load.push(Moment::now().since(start));
        if let Some(checked) = &mut self.times.checked {
            let start = Moment::now();
            let key = self.library.private_key(&self.path);
            let _ = key.as_ref().map(libssl::Key::check);
            drop(key);
            checked.push(Moment::now().since(start));
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.times.load.clear();
        if let Some(checked) = &mut self.times.checked {
            checked.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_of_a_process() {
        let maps = b"7f0000000000-7f0000001000 r--p 00000000 fe:00 12  /lib/with space/libssl.so.3\n\
            7f0000001000-7f0000002000 r-xp 00001000 fe:00 12  /lib/with space/libssl.so.3\n\
            7f0000002000-7f0000003000 rw-p 00000000 00:00 0\n\
            not a line\n7f-\n-\n";
        let path = Some(PathBuf::from("/lib/with space/libssl.so.3"));
        assert_eq!(mapped(maps, 0x7f00_0000_0fff), path);
        assert_eq!(mapped(maps, 0x7f00_0000_1000), path);
        assert_eq!(mapped(maps, 0x7f00_0000_2000), None, "memory of no file");
        assert_eq!(mapped(maps, 0x7f00_0000_3000), None, "the end is outside");
        assert_eq!(mapped(b"", 1), None);
    }

    #[test]
    fn signals_have_names() {
        assert_eq!(signal_name(11), "signal 11 (SIGSEGV)");
        assert_eq!(signal_name(60), "signal 60");
    }

    #[test]
    fn what_is_no_message_is_passed_over() {
        let mut listening = Listening {
            asked: "x".into(),
            library: None,
            stage: Stage::Loading,
            said: Vec::new(),
            key: &None,
        };
        for line in ["", "hello from a library", "{", "{\"Done\":3}", "null", "{\"Nonsense\":{}}"] {
            assert!(listening.hear(line.as_bytes()).is_none(), "{line}");
        }
        let text = serde_json::to_vec(&Message::Stage(Stage::Timing)).unwrap();
        assert!(listening.hear(&text).is_none());
        assert_eq!(listening.stage, Stage::Timing);
        let text = serde_json::to_vec(&Message::EncryptedKey).unwrap();
        assert!(matches!(listening.hear(&text), Some(Err(Failure::EncryptedKey { .. }))));
    }

    #[test]
    fn a_job_that_is_none_is_an_error_and_no_panic() {
        for job in ["", "\n", "nonsense\n", "{}\n", "[1,2"] {
            assert!(serve(&mut job.as_bytes(), &mut Vec::new()).is_err(), "{job:?}");
        }
    }

    #[test]
    fn a_context_counts_with_its_look_up() {
        let sample = |cpu| Sample { cpu, wall: 1 };
        let times = PlaceTimes {
            certificates: None,
            context: vec![sample(5), sample(6)],
            look_up: Some(vec![sample(1), sample(2)]),
        };
        assert_eq!(times.totals(), [6, 8]);
        assert_eq!(PlaceTimes { look_up: None, ..times }.totals(), [5, 6]);
    }
}
