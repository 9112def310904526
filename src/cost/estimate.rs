//! Who loads a store, what they read of it, and when they pay: counted from the store, and priced by a model.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{self, Model};
use crate::audit::Context;
use crate::audit::rules::eager_and_on_demand::defaults_lead_to_both;
use crate::certificate::validity::ValidityState;
use crate::openssl::release::Release;
use crate::readers::Reader;
use crate::store::model::{CertificateId, FileId, Store};
use crate::store::source::{Source, SourceId, SourceKind};

/// Programs that load a store in the same way. What each opens was seen with `strace` on Debian 12
/// (`benches/clients`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// `SSL_CTX_set_default_verify_paths`: Python, Ruby, PHP, Perl, `openssl`. The default file at once, the directory
    /// on demand.
    OpensslDefaults,
    /// A program on OpenSSL that is told of the CAfile: by an argument, or by a variable ([`VARIABLES`]).
    NamedFile,
    /// curl and libcurl on OpenSSL: the CAfile that was compiled in at once, the directory on demand.
    Curl,
    /// libcurl-gnutls, and git with it: every name in the directory, so a certificate in the bundle, as a file and as
    /// the link to that file.
    LibcurlGnutls,
    /// Other programs on GnuTLS: wget, gnutls-cli, lynx, aria2. The bundle alone.
    Gnutls,
    /// Go's `SystemCertPool`: the bundle and each file of the directories; links inside one directory are passed over.
    Go,
    /// rustls-native-certs: the bundle and each file of the directories, each inode once (as of 0.8.5).
    Rustls,
    /// Node with `--use-system-ca`: the bundle, and every name in the directory. Without it Node reads no store.
    Node,
}

/// Variables that name a CAfile, and who reads it then.
pub const VARIABLES: &[(&str, &str)] = &[
    ("SSL_CERT_FILE", "OpenSSL's defaults, Go, rustls-native-certs"),
    ("CURL_CA_BUNDLE", "curl, Python's requests"),
    ("REQUESTS_CA_BUNDLE", "Python's requests"),
    ("PIP_CERT", "pip"),
    ("AWS_CA_BUNDLE", "the AWS command line and SDKs"),
    ("GIT_SSL_CAINFO", "git"),
    ("NODE_EXTRA_CA_CERTS", "Node"),
    ("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "gRPC"),
    ("HTTPLIB2_CA_CERTS", "Python's httplib2"),
    ("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", "the Google Cloud command line"),
    ("HEX_CACERTS_PATH", "Erlang's hex"),
    ("NIX_SSL_CERT_FILE", "Nix"),
    ("DENO_CERT", "Deno"),
    ("CARGO_HTTP_CAINFO", "cargo"),
];

/// How often a family pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// For each context (`SSL_CTX`, a credential of GnuTLS).
    Context,
    /// For each connection that is not made with an earlier one's handle.
    Connection,
    /// Once a process.
    Process,
}

impl Family {
    /// All of them, in the order of the reports.
    pub const ALL: &[Self] = &[
        Self::OpensslDefaults,
        Self::NamedFile,
        Self::Curl,
        Self::LibcurlGnutls,
        Self::Gnutls,
        Self::Go,
        Self::Rustls,
        Self::Node,
    ];

    /// Its name in machine-readable reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpensslDefaults => "openssl-defaults",
            Self::NamedFile => "named-file",
            Self::Curl => "curl",
            Self::LibcurlGnutls => "libcurl-gnutls",
            Self::Gnutls => "gnutls",
            Self::Go => "go",
            Self::Rustls => "rustls-native-certs",
            Self::Node => "node",
        }
    }

    /// Its name in words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::OpensslDefaults => "OpenSSL's defaults",
            Self::NamedFile => "CAfile named to OpenSSL",
            Self::Curl => "curl",
            Self::LibcurlGnutls => "libcurl-gnutls, git",
            Self::Gnutls => "GnuTLS, wget",
            Self::Go => "Go",
            Self::Rustls => "rustls-native-certs",
            Self::Node => "Node, system CAs",
        }
    }

    /// When it pays.
    #[must_use]
    pub fn per(self) -> Per {
        match self {
            Self::OpensslDefaults | Self::NamedFile | Self::Gnutls => Per::Context,
            Self::Curl | Self::LibcurlGnutls => Per::Connection,
            Self::Go | Self::Rustls | Self::Node => Per::Process,
        }
    }

    /// What it pays, with the OpenSSL that is there. Node carries an OpenSSL of its own, 3.x since Node 17.
    #[must_use]
    pub fn model(self, openssl: &Openssl) -> Model {
        match self {
            Self::OpensslDefaults | Self::NamedFile | Self::Curl => openssl.model,
            Self::LibcurlGnutls | Self::Gnutls => model::GNUTLS,
            Self::Go => model::GO,
            Self::Rustls => model::RUSTLS,
            Self::Node => model::NODE,
        }
    }
}

/// The OpenSSL whose cost is estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct Openssl {
    /// What it is; `None` where none was found and none was named.
    pub release: Option<Release>,
    /// Its model.
    pub model: Model,
}

impl Openssl {
    /// A release of OpenSSL; 3.0 where it is not known.
    #[must_use]
    pub fn new(release: Option<Release>) -> Self {
        Self { release, model: release.map_or(model::OPENSSL_3_0, model::openssl) }
    }
}

/// How a report prices loads.
#[derive(Debug, Clone, PartialEq)]
pub struct Prices {
    /// The OpenSSL whose cost is estimated.
    pub openssl: Openssl,
    /// How many contexts are made a day.
    pub contexts_per_day: Option<u64>,
    /// Variables of the environment that name a CAfile or a directory, and what they say.
    pub variables: Vec<(&'static str, String)>,
}

impl Default for Prices {
    fn default() -> Self {
        Self { openssl: Openssl::new(None), contexts_per_day: None, variables: Vec::new() }
    }
}

/// The three layouts that a report compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// The files as they are.
    Now,
    /// Without duplicates and expired certificates.
    Compacted,
    /// Without OpenSSL's own default file: look-ups on demand.
    Split,
}

/// What a family reads for one load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    /// Who.
    pub family: Family,
    /// In which layout.
    pub layout: Layout,
    /// Files opened.
    pub files: usize,
    /// PEM blocks parsed, repetitions included.
    pub certificates: usize,
    /// Distinct certificates among them.
    pub distinct: usize,
    /// The sources that it reads at once; none after the split layout, for those that it helps.
    pub sources: Vec<SourceId>,
    /// Whether more is looked up in a directory when a connection needs it.
    pub on_demand: bool,
}

/// Files of a store, and what is parsed of them.
#[derive(Debug, Clone, Default)]
struct Reads {
    files: usize,
    certificates: usize,
    distinct: BTreeSet<CertificateId>,
}

impl std::ops::AddAssign for Reads {
    fn add_assign(&mut self, mut other: Self) {
        self.files += other.files;
        self.certificates += other.certificates;
        self.distinct.append(&mut other.distinct);
    }
}

/// What each family reads now, after `compact`, and after the split layout (where that would lose nothing).
///
/// A load is taken to cover every CAfile that was named, and of a directory with a CAfile inside both; a store that is
/// not this machine's own is judged as if it were to become it. A family is left out where there is nothing for it to
/// read, and where its library refuses one of the files: then there is no context.
#[must_use]
pub fn loads(store: &Store, context: &Context) -> Vec<Load> {
    let counts = Counts { store, context };
    let mut bundles = BTreeSet::new();
    // Those of them that OpenSSL's defaults lead to.
    let mut defaults = BTreeSet::new();
    let mut directories = Vec::new();
    let mut splits = true;
    let mut looked_up = false;
    for (id, source) in store.source_ids() {
        match source.kind {
            SourceKind::CaFile | SourceKind::Certificate if source.named => {
                // A stub in the place of OpenSSL's default file is nobody else's bundle.
                if !counts.is_default_beside_a_bundle(id) {
                    bundles.insert(id);
                }
                let is_default = match source.inside {
                    Some(directory) => defaults_lead_to_both(store, context, directory, id),
                    None => counts.may_be_default(id),
                };
                if is_default {
                    defaults.insert(id);
                    splits &= source.inside.is_some_and(|directory| covers(store, directory, id));
                }
            }
            SourceKind::CaPath => {
                directories.push(id);
                looked_up = true;
                // One file is the default; several names of bundles in one directory are rare.
                if let Some(bundle) = store.bundles_inside(id).next() {
                    bundles.insert(bundle);
                    if defaults_lead_to_both(store, context, id, bundle) {
                        defaults.insert(bundle);
                        splits &= covers(store, id, bundle);
                    }
                }
            }
            SourceKind::Directory => {
                directories.push(id);
                let inside = store.bundles_inside(id).next();
                bundles.extend(inside);
                defaults.extend(inside);
            }
            _ => {}
        }
    }
    let refused = |family: Family| {
        let strict = |reader: &&Reader| match family {
            Family::OpensslDefaults | Family::NamedFile | Family::Curl => {
                matches!(reader, Reader::OpenSsl(_))
            }
            Family::LibcurlGnutls | Family::Gnutls => **reader == Reader::GnuTls,
            Family::Go | Family::Rustls | Family::Node => false,
        };
        let read = if family == Family::OpensslDefaults { &defaults } else { &bundles };
        store.readers().iter().find(strict).is_some_and(|&reader| {
            read.iter()
                .flat_map(|&id| store.files_of(id))
                .any(|(file, _)| !store.is_whole(file) && store.file_loads(file, reader).refused.is_some())
        })
    };
    let mut out = Vec::new();
    for &family in Family::ALL {
        let named = if family == Family::OpensslDefaults { &defaults } else { &bundles };
        let names = match family {
            Family::OpensslDefaults | Family::NamedFile | Family::Curl | Family::Gnutls => None,
            Family::Go => Some(Names::LinksOut),
            Family::Rustls => Some(Names::One),
            Family::LibcurlGnutls | Family::Node => Some(Names::All),
        };
        let (mut now, mut compacted) = (Reads::default(), Reads::default());
        let mut sources = Vec::new();
        // To libcurl-gnutls the bundle of a directory is one of the names in it.
        if family != Family::LibcurlGnutls || directories.is_empty() {
            (now, compacted) = counts.files(named);
            sources.extend(named);
        }
        if let Some(names) = names {
            let (also_now, also_compacted) = counts.directories(&directories, names, named);
            now += also_now;
            compacted += also_compacted;
            sources.extend(&directories);
        }
        let on_demand = looked_up && matches!(family, Family::OpensslDefaults | Family::Curl);
        if (now.files == 0 && !on_demand) || refused(family) {
            continue;
        }
        let load = |layout, reads: &Reads, sources: &[SourceId]| Load {
            family,
            layout,
            files: reads.files,
            certificates: reads.certificates,
            distinct: reads.distinct.len(),
            sources: sources.to_vec(),
            on_demand,
        };
        out.push(load(Layout::Now, &now, &sources));
        if now.files > 0 {
            out.push(load(Layout::Compacted, &compacted, &sources));
        }
        // Only OpenSSL's own default goes away; every other file stays.
        if !defaults.is_empty() && splits && looked_up {
            out.push(match family {
                Family::OpensslDefaults => load(Layout::Split, &Reads::default(), &[]),
                _ => load(Layout::Split, &now, &sources),
            });
        }
    }
    out
}

/// Which names of a directory are opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Each.
    All,
    /// All but links to a file of the same directory.
    LinksOut,
    /// One of each file that was not read before.
    One,
}

/// Counts what is read, as it is and as `compact` would leave it.
struct Counts<'a> {
    store: &'a Store,
    context: &'a Context,
}

impl Counts<'_> {
    /// Some CAfiles, each once; and the one file that `compact` makes of them.
    fn files(&self, sources: &BTreeSet<SourceId>) -> (Reads, Reads) {
        if sources.is_empty() {
            return Default::default();
        }
        let store = self.store;
        let occurrences = || sources.iter().flat_map(|&id| store.occurrences_of(id)).map(|(_, at)| at);
        let distinct: BTreeSet<_> = occurrences().map(|at| at.certificate).collect();
        let kept: BTreeSet<_> = distinct.iter().copied().filter(|&id| self.stays(id)).collect();
        (
            Reads { files: sources.len(), certificates: occurrences().count(), distinct },
            Reads { files: 1, certificates: kept.len(), distinct: kept },
        )
    }

    /// Directories of which every file is read; and what `compact` makes of one: for each certificate a file and a
    /// link to it, and the bundle where it lay there.
    fn directories(
        &self,
        sources: &[SourceId],
        names: Names,
        read_before: &BTreeSet<SourceId>,
    ) -> (Reads, Reads) {
        let store = self.store;
        let (mut now, mut compacted) = (Reads::default(), Reads::default());
        for &id in sources {
            let (mut kept, mut kept_in_bundles) = (BTreeSet::new(), BTreeSet::new());
            let path = store.source(id).path.as_path();
            let links = if names == Names::LinksOut { self.links_inside(id) } else { BTreeMap::new() };
            let mut bundles = 0;
            for (file, member) in store.members_of(id) {
                let all = member.names.iter().filter(|name| name.parent() == Some(path)).count();
                let again = names == Names::One && read_before.contains(&member.source);
                let opened = match names {
                    Names::All => all,
                    Names::LinksOut => all.saturating_sub(links.get(&file).copied().unwrap_or(0)),
                    Names::One => usize::from(!again),
                };
                now.files += opened;
                now.certificates += opened * member.occurrences.len();
                let own: BTreeSet<_> =
                    store.occurrences_of_file(file).map(|(_, at)| at.certificate).collect();
                let is_bundle = store.source(member.source).kind == SourceKind::CaFile;
                if again {
                    continue;
                }
                bundles += usize::from(is_bundle);
                let into = if is_bundle { &mut kept_in_bundles } else { &mut kept };
                into.extend(own.iter().copied().filter(|&certificate| self.stays(certificate)));
                now.distinct.extend(own);
            }
            let each = if names == Names::All { 2 } else { 1 };
            compacted += Reads {
                files: each * kept.len() + usize::from(bundles > 0),
                certificates: each * kept.len() + kept_in_bundles.len(),
                distinct: kept.union(&kept_in_bundles).copied().collect(),
            };
        }
        (now, compacted)
    }

    /// How many hash links lead to each file without leaving the directory.
    fn links_inside(&self, directory: SourceId) -> BTreeMap<FileId, usize> {
        let mut out = BTreeMap::new();
        for link in self.store.links_of(directory) {
            let inside = link.target.as_deref().is_some_and(|target| target.components().count() == 1);
            if let (true, Ok(file)) = (inside, &link.leads_to) {
                *out.entry(*file).or_default() += 1;
            }
        }
        out
    }

    /// Whether a CAfile outside the directories is OpenSSL's default file, and the default directory has another bundle.
    fn is_default_beside_a_bundle(&self, id: SourceId) -> bool {
        let Some(defaults) = self.context.openssl_defaults else { return false };
        let store = self.store;
        let is_default = |id| store.files_of(id).any(|(_, file)| file.identity == defaults.file);
        let mut directories = store.source_ids().filter(|(_, source)| source.identity == defaults.directory);
        defaults.file.is_some()
            && store.source(id).inside.is_none()
            && is_default(id)
            && directories.any(|(directory, _)| store.bundles_inside(directory).next().is_some())
    }

    /// Whether a CAfile outside the directories can be OpenSSL's default: it is that file, or the store is not this
    /// machine's own.
    fn may_be_default(&self, id: SourceId) -> bool {
        let Some(defaults) = self.context.openssl_defaults else { return true };
        let own = |(_, source): (SourceId, &Source)| {
            source.identity.is_some() && source.identity == defaults.directory
        };
        if !self.store.source_ids().any(own) {
            return true;
        }
        defaults.file.is_some() && self.store.files_of(id).any(|(_, file)| file.identity == defaults.file)
    }

    /// Whether `compact` keeps a certificate.
    fn stays(&self, id: CertificateId) -> bool {
        self.store.certificate(id).validity.at(self.context.now) != ValidityState::Expired
    }
}

/// Whether every certificate of a CAfile is found by hash in the directory.
fn covers(store: &Store, directory: SourceId, bundle: SourceId) -> bool {
    store.occurrences_of(bundle).all(|(_, occurrence)| store.is_reachable(directory, occurrence.certificate))
}
