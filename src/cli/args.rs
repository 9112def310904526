//! The arguments, as clap reads them; help, manual pages and completions are made of the same tree.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use crate::audit::ignore::Ignore;
use crate::openssl::release::Release;
use crate::plan::policy;

/// Audits, deduplicates and rehashes CA trust stores: CAfile bundles and CApath directories
#[derive(Debug, Parser)]
#[command(name = "castore", version, max_term_width = 100, disable_help_subcommand = true)]
pub struct Arguments {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Report what a store holds, what is wrong with it, and what a TLS context pays for it
    Audit(Audit),
    /// Write a store's certificates without duplicates and expired ones, as a bundle, a hashed directory, or both
    Compact(Compact),
    /// Make the hash links of directories right, in place
    Rehash(Rehash),
    /// Take OpenSSL's own default file away, so that its look-ups are on demand, and give it back
    Tune(Tune),
    /// Keep the system's store as /etc/castore/hook.conf says; for update.d and package hooks
    Hook(Hook),
    /// Time what a TLS context pays for a store, with the libssl of this machine
    Measure(Measure),
    /// Explain a finding: what it means, why it matters, what to do, where the knowledge comes from
    Explain(Explain),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print a manual page
    Man(Man),
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs: one object, schema castore.report/1
    Json,
}

/// Forms of an audit's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AuditFormat {
    /// For people
    Text,
    /// For programs: one object, schema castore.report/1
    Json,
    /// For fleets: one object a line and place of a certificate
    Ndjson,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What all commands that report have.
#[derive(Debug, Args)]
pub struct Output {
    /// Show every line, not the first few of each kind
    #[arg(short, long)]
    pub verbose: bool,
    /// Print nothing on success
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// When to use colour
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
}

/// Where paths start.
#[derive(Debug, Args)]
pub struct Inside {
    /// Resolve every path, and every link on the way, inside this directory, and never outside it
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
}

/// What "now" is.
#[derive(Debug, Args)]
pub struct When {
    /// Judge dates as of this time: RFC 3339, or a date (00:00 UTC) [default: the clock]
    #[arg(long, value_name = "TIME", value_parser = super::settings::parse_time)]
    pub at: Option<i64>,
    /// Report certificates that expire within this time (30d, 12h, 8w)
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = super::settings::parse_duration)]
    pub expiring_within: i64,
}

/// Arguments of `audit`.
#[derive(Debug, Args)]
pub struct Audit {
    /// Bundles, single certificates, CApath directories; - is standard input [default: what OpenSSL would use here]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Read more paths from a file, separated by NUL bytes; - is standard input
    #[arg(long, value_name = "FILE")]
    pub files0_from: Option<PathBuf>,
    /// Look into the directories below named ones as well; links to directories are not followed
    #[arg(short = 'R', long)]
    pub recursive: bool,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub inside: Inside,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = AuditFormat::Text, value_name = "FORMAT")]
    pub format: AuditFormat,
    /// Call this run something: goes into the report, and into every ndjson row
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::settings::parse_label)]
    pub label: Vec<(String, String)>,
    /// End with status 1 on findings of this severity and above, or of these ids
    #[arg(long, value_name = "error|warning|notice|ID[,ID]", value_parser = super::settings::parse_fail_on)]
    pub fail_on: Option<super::settings::FailOn>,
    /// List a finding, and do not count it: ID, ID:sha256:HEX or ID:path:GLOB
    #[arg(long, value_name = "ENTRY")]
    pub ignore: Vec<Ignore>,
    /// Read such entries from a file, one a line, # starts a comment
    #[arg(long, value_name = "FILE")]
    pub ignore_file: Vec<PathBuf>,
    /// Say what these libraries load: openssl (the version installed), openssl-1.1.1, openssl-3.0, openssl-3.5,
    /// openssl-4.0, gnutls, go, go-1.19, rustls, java, or all [default: openssl,gnutls,go,rustls]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub reader: Vec<String>,
    /// Estimate what this release of OpenSSL pays (openssl-3.0, openssl-3.5.4) [default: the one installed, else 3.0]
    #[arg(long, value_name = "LIBRARY", value_parser = super::settings::parse_library)]
    pub library: Option<Release>,
    /// Say what so many contexts or connections cost a day
    #[arg(long, value_name = "N")]
    pub contexts_per_day: Option<u64>,
    /// Measure as well, beside the estimate, what the libssl of this machine pays (some seconds)
    #[arg(long, conflicts_with = "root")]
    pub measure: bool,
    /// Report files larger than this (1MiB, 500kB, 4096)
    #[arg(long, value_name = "SIZE", value_parser = super::settings::parse_size)]
    pub max_size: Option<u64>,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub when: When,
    #[command(flatten)]
    #[allow(missing_docs, reason = "as above")]
    pub output: Output,
}

/// Arguments of `tune`.
#[derive(Debug, Args)]
pub struct Tune {
    /// What to do
    #[command(subcommand)]
    pub action: TuneAction,
}

/// What `tune` does.
#[derive(Debug, Subcommand)]
pub enum TuneAction {
    /// Say where OpenSSL looks, what a load costs each family of programs, and whether apply would lose nothing
    Status(TuneStatus),
    /// Take OpenSSL's default file away, after proof that every certificate of it is found by hash
    Apply(TuneApply),
    /// Give it back as it was
    Undo(TuneUndo),
    /// Print variables that do the same for one user or service, and who obeys them
    Env(TuneEnv),
}

/// Arguments of `tune status`.
#[derive(Debug, Args)]
pub struct TuneStatus {
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub inside: Inside,
}

/// What stands in the place of OpenSSL's default file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CertFile {
    /// Nothing
    Absent,
    /// A file of one certificate, for programs that insist on the file
    Stub,
}

/// Arguments of `tune apply`.
#[derive(Debug, Args)]
pub struct TuneApply {
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub inside: Inside,
    /// What stands in its place then
    #[arg(long, value_enum, default_value = "absent", value_name = "WHAT", conflicts_with = "stub_bundle")]
    pub cert_file: CertFile,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub locking: Locking,
    /// Do so although no hook looks after the store when it is updated
    #[arg(long)]
    pub without_hook: bool,
    /// Instead cut the public bundle to one certificate, which breaks programs that read it alone
    #[arg(long)]
    pub stub_bundle: bool,
    /// Accept what --stub-bundle breaks
    #[arg(long, requires = "stub_bundle")]
    pub accept_breakage: bool,
    /// Say what would be done, and do nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Print nothing on success
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `tune undo`.
#[derive(Debug, Args)]
pub struct TuneUndo {
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub inside: Inside,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub locking: Locking,
    /// Say what would be done, and do nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Print nothing on success
    #[arg(short, long)]
    pub quiet: bool,
}

/// Arguments of `tune env`.
#[derive(Debug, Args)]
pub struct TuneEnv {
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub inside: Inside,
}

/// Arguments of `hook`.
#[derive(Debug, Args)]
pub struct Hook {
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub inside: Inside,
    /// Read this policy
    #[arg(long, value_name = "FILE", default_value = "/etc/castore/hook.conf")]
    pub config: PathBuf,
}

/// Arguments of `compact`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("outputs").required(true).multiple(true).args(["bundle", "capath"]))]
pub struct Compact {
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub inside: Inside,
    /// Bundles, single certificates, CApath directories; - is standard input
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Write the certificates into this file, as PEM
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
    /// Write the certificates into this directory, one a file, with hash links
    #[arg(long, value_name = "DIR")]
    pub capath: Option<PathBuf>,
    /// What becomes of expired certificates
    #[arg(long, value_enum, default_value = "drop", value_name = "POLICY")]
    pub expired: Expired,
    /// What becomes of blocks that cannot be read without a guess
    #[arg(long, value_enum, default_value = "refuse", value_name = "POLICY")]
    pub malformed: Malformed,
    /// What becomes of certificates that may not issue others
    #[arg(long, value_enum, default_value = "keep", value_name = "POLICY")]
    pub not_ca: NotCa,
    /// What becomes of trust attributes (TRUSTED CERTIFICATE blocks)
    #[arg(long, value_enum, default_value = "plain", value_name = "POLICY")]
    pub trust: Trust,
    /// The order of the certificates; those of one subject always keep theirs
    #[arg(long, value_enum, default_value = "first-seen", value_name = "ORDER")]
    pub order: Order,
    /// Whether an existing output may gain certificates that it lacks
    #[arg(long, value_enum, default_value = "refuse", value_name = "POLICY")]
    pub gain: Gain,
    /// Remove files of an existing directory whose certificates are not in the plan, and links that find nothing
    #[arg(long)]
    pub prune: bool,
    /// What becomes of a CApath's members that no look-up by hash finds
    #[arg(long, value_enum, default_value = "list", value_name = "POLICY")]
    pub unreachable: Unreachable,
    /// What stands before each block of the bundle
    #[arg(long, value_enum, default_value = "none", value_name = "WHAT")]
    pub comments: Comments,
    /// How the names by hash in the directory are made
    #[arg(long, value_enum, default_value = "symbolic", value_name = "HOW")]
    pub output_links: Links,
    /// Leave out a certificate (sha256:HEX) or all certificates of a key (spki:HEX)
    #[arg(long, value_name = "sha256:HEX|spki:HEX")]
    pub remove: Vec<policy::Removal>,
    /// Read such entries from a file, one a line, # starts a comment
    #[arg(long, value_name = "FILE")]
    pub remove_list: Vec<PathBuf>,
    /// Write nothing where an entry to remove meets no certificate
    #[arg(long)]
    pub require_match: bool,
    /// Write a report into this file as well, in the form of --format
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// How many per cent of an existing output's certificates may go without being named (a directory's with --prune)
    #[arg(long, default_value_t = 20, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub max_shrink: u8,
    /// Write into the existing bundle itself where something is mounted on it; readers may see part of each for a moment
    #[arg(long, requires = "bundle")]
    pub in_place: bool,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub locking: Locking,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub writing: Writing,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub format: Format,
    /// Judge dates as of this time: RFC 3339, or a date (00:00 UTC) [default: the clock]
    #[arg(long, value_name = "TIME", value_parser = super::settings::parse_time)]
    pub at: Option<i64>,
    #[command(flatten)]
    #[allow(missing_docs, reason = "as above")]
    pub output: Output,
}

/// How long other writers are waited for.
#[derive(Debug, Clone, Args)]
pub struct Locking {
    /// How many seconds to wait for another castore that writes in the same directory
    #[arg(long, default_value_t = 10, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=86_400))]
    pub lock_timeout: u64,
}

impl Locking {
    /// As the library takes it.
    #[must_use]
    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.lock_timeout)
    }
}

/// What all commands that write have.
#[derive(Debug, Args)]
pub struct Writing {
    /// Write nothing; report what would be done
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// Write nothing; end with status 1 if anything would be done
    #[arg(long, conflicts_with = "dry_run")]
    pub check: bool,
}

impl Writing {
    /// Whether anything is written at all.
    #[must_use]
    pub fn writes(&self) -> bool {
        !self.dry_run && !self.check
    }
}

/// Arguments of `rehash`. Its short options are those of `openssl rehash`, which take repeating.
#[derive(Debug, Args)]
pub struct Rehash {
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub inside: Inside,
    /// Directories [default: those of SSL_CERT_DIR, a list with colons, where it is set; else certs in OPENSSLDIR]
    #[arg(value_name = "DIR")]
    pub directories: Vec<PathBuf>,
    /// Make links by the hash of OpenSSL 0.9.8 (MD5) alone, as -old of openssl rehash; others go
    #[arg(long, overrides_with_all = ["old", "compat"])]
    pub old: bool,
    /// Make links by both hashes, as -compat of openssl rehash
    #[arg(long, overrides_with_all = ["old", "compat"])]
    pub compat: bool,
    /// Remove no link, as -n of openssl rehash; one that takes a number from a right link is still replaced
    #[arg(short = 'n', long, overrides_with = "keep")]
    pub keep: bool,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub locking: Locking,
    /// Write nothing; report what would be done
    #[arg(long)]
    pub dry_run: bool,
    /// Write nothing; end with status 1 if anything would be done
    #[arg(long, conflicts_with = "dry_run")]
    pub check: bool,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub format: Format,
    /// Print the lines of openssl rehash -v instead of a report: Doing DIR, link FILE -> HASH.N, unlink HASH.N
    #[arg(short, long, overrides_with = "verbose")]
    pub verbose: bool,
    /// Print nothing on success
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// When to use colour
    #[arg(long, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
}

/// Arguments of `measure`.
#[derive(Debug, Args)]
pub struct Measure {
    /// A CAfile, or a CApath with the bundle inside it, as OpenSSL's defaults have both; cafile:FILE and capath:DIR mean
    /// that one alone [default: what OpenSSL would use here; with --key nothing]
    #[arg(value_name = "STORE")]
    pub stores: Vec<OsString>,
    /// Compare with this one, in turns: is it faster, slower, or is that noise?
    #[arg(long, value_name = "STORE")]
    pub vs: Option<OsString>,
    /// Time the load of a private key in PEM, and its check; the key is not shown
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Measure with this library: a path, or a name that the loader finds [default: libssl.so.3, .so.4 or .so.1.1]
    #[arg(long, value_name = "FILE")]
    pub libssl: Option<OsString>,
    /// How often everything is done [default: what goes into two seconds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub runs: Option<u32>,
    /// Give up after this time (60s, 5m)
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = super::settings::parse_limit)]
    pub time_limit: i64,
    /// The form of the report
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    pub format: Format,
    #[command(flatten)]
    #[allow(missing_docs, reason = "a doc comment would become the help of a group")]
    pub output: Output,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The finding's id, as audit prints it in brackets; without one, all ids with their titles
    #[arg(value_name = "ID")]
    pub id: Option<String>,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub struct Man {
    /// The command whose page to print [default: castore itself]
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

macro_rules! policy {
    ($(#[$doc:meta])* $name:ident => $target:path { $($(#[$variant_doc:meta])* $variant:ident => $value:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
        pub enum $name { $($(#[$variant_doc])* $variant),+ }
        impl From<$name> for $target {
            fn from(value: $name) -> Self {
                match value { $($name::$variant => Self::$value),+ }
            }
        }
    };
}

policy!(
    /// Values of `--expired`.
    Expired => policy::ExpiredPolicy {
        /// They go, each one listed
        Drop => Drop,
        /// They stay
        Keep => Keep,
        /// They go where a valid certificate of the same subject and key stays
        Superseded => Superseded,
    }
);
policy!(
    /// Values of `--malformed`.
    Malformed => policy::MalformedPolicy {
        /// Nothing is written
        Refuse => Refuse,
        /// They are left out, each one listed
        Drop => Drop,
        /// Boundaries are guessed, each guess listed; what cannot be guessed is refused
        Repair => Repair,
    }
);
policy!(
    /// Values of `--not-ca`.
    NotCa => policy::NotCaPolicy {
        /// They stay
        Keep => Keep,
        /// They go, each one listed
        Drop => Drop,
    }
);
policy!(
    /// Values of `--trust`.
    Trust => policy::TrustPolicy {
        /// They become plain CERTIFICATE blocks; what that widens is listed
        Plain => Plain,
        /// They stay TRUSTED CERTIFICATE blocks
        Keep => Keep,
        /// Nothing is written
        Refuse => Refuse,
    }
);
policy!(
    /// Values of `--order`.
    Order => policy::Order {
        /// As they were met
        FirstSeen => FirstSeen,
        /// By subject
        Subject => Subject,
        /// By SHA-256 fingerprint
        Fingerprint => Fingerprint,
    }
);
policy!(
    /// Values of `--unreachable`.
    Unreachable => policy::UnreachablePolicy {
        /// They are left out and listed: OpenSSL does not trust them now
        List => List,
        /// They go in, each one listed as gained
        Include => Include,
    }
);
policy!(
    /// Values of `--comments`.
    Comments => policy::CommentPolicy {
        /// Nothing
        None => None,
        /// What the certificate is called by
        Label => Label,
        /// The comment lines that stood before it in the input
        Keep => Keep,
    }
);
policy!(
    /// Values of `--output-links`.
    Links => policy::OutputLinks {
        /// A file with a name for people, and a link HASH.N to it
        Symbolic => Symbolic,
        /// A regular file HASH.N alone
        Copy => Copy,
    }
);
policy!(
    /// Values of `--gain`.
    Gain => policy::GainPolicy {
        /// Nothing is written
        Refuse => Refuse,
        /// It may; each one is listed
        Accept => Accept,
    }
);

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_tree_is_sound() {
        Arguments::command().debug_assert();
    }
}
