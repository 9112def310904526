//! [`Store`]: everything that was found, in an order that depends on nothing but the input.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::content::{Distrust, Encoding, OtherBlock, OtherKind, Shape};
use super::root::Seen;
use super::source::{Identity, Source, SourceId, SourceKind, Writable};
use crate::certificate::CertificateDer;
use crate::certificate::extensions;
use crate::certificate::facts::{Facts, FactsError};
use crate::certificate::fingerprint::{Fingerprint, SpkiDigest};
use crate::certificate::trust::TrustAttributes;
use crate::certificate::validity::Validity;
use crate::error::Error;
use crate::openssl::hash_link::{HashLink, LinkKind, LinkName};
use crate::openssl::name_hash;
use crate::pem::scan::{Defect, Noise};
use crate::readers::reading::{Fault, Loaded, Part, Reading};
use crate::readers::{self, Reader};

/// Number of a file in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub usize);
/// Number of a distinct certificate in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CertificateId(pub usize);
/// Number of an occurrence in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OccurrenceId(pub usize);

/// One inode (or pipe) that was read, with all its names.
#[derive(Debug, Clone)]
pub struct File {
    /// The source that it belongs to.
    pub source: SourceId,
    /// Its names; the first one is what it is called by.
    pub names: Vec<PathBuf>,
    /// Device and inode, where there are.
    pub identity: Option<Identity>,
    /// Who beside the owner may write it.
    pub writable: Option<Writable>,
    /// What it was when it was read; a pipe is gone then.
    pub seen: Option<Seen>,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its certificates, in order.
    pub occurrences: Range<usize>,
    /// Its other blocks, in order.
    pub others: Vec<OtherBlock>,
    /// What it looks like, where it has no certificate.
    pub shape: Option<Shape>,
    /// Whether every reader sees every block of it ([`super::content::Content::plain`]).
    pub plain: bool,
    /// What readers make of it, where it is not plain.
    pub views: Views,
}

/// What readers make of a file that is not plain.
#[derive(Debug, Clone, Default)]
pub struct Views {
    /// Each reader that was asked for, as if the file were named as CAfile.
    pub readings: Vec<(Reader, Reading)>,
    /// What OpenSSL's look-up by hash loads of it.
    pub look_up: Vec<Loaded>,
    /// Whether that look-up gets to the end of the file.
    pub look_up_complete: bool,
}

impl Views {
    /// Asks the readers.
    #[must_use]
    pub fn of(bytes: &[u8], readers: &[Reader]) -> Self {
        let (look_up, look_up_complete) = readers::openssl::look_up(bytes, readers::openssl_among(readers));
        let readings = readers.iter().map(|&reader| (reader, reader.read(bytes))).collect();
        Self { readings, look_up, look_up_complete }
    }
}

impl File {
    /// What it is called by.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.names.first().map_or(Path::new("-"), PathBuf::as_path)
    }
}

/// One certificate at one place.
#[derive(Debug, Clone)]
pub struct Occurrence {
    /// The file.
    pub file: FileId,
    /// Which certificate.
    pub certificate: CertificateId,
    /// Where in the file, in bytes.
    pub span: Range<usize>,
    /// On which line, counted from 1.
    pub line: usize,
    /// How it is written.
    pub encoding: Encoding,
    /// Its trust attributes.
    pub trust: Option<TrustAttributes>,
    /// Defects that leave the certificate beyond doubt.
    pub defects: Vec<Defect>,
    /// Odd framing.
    pub noise: Noise,
    /// Bytes behind the certificate inside its block.
    pub trailing: usize,
    /// Whether its outer header is not DER.
    pub ber: bool,
    /// The readers asked for that refuse what stands in its block, because of what is around the certificate.
    pub refused_by: Vec<(Reader, (Part, Fault))>,
    /// Text before it that distrusts it.
    pub distrust: Option<Distrust>,
    /// The comment lines before it, where they were asked for.
    pub comment: Option<String>,
}

/// A file that a tool left behind, with the certificates in it. No trust of this store.
#[derive(Debug, Clone)]
pub struct Leftover {
    /// Its path.
    pub path: PathBuf,
    /// What it holds.
    pub certificates: Vec<Fingerprint>,
}

/// One distinct certificate.
#[derive(Debug, Clone)]
pub struct Certificate {
    /// Its bytes.
    pub der: CertificateDer<'static>,
    /// SHA-256 of them.
    pub fingerprint: Fingerprint,
    /// SHA-256 of its public key.
    pub spki: SpkiDigest,
    /// Its dates.
    pub validity: Validity,
    /// The subject hash; `None` where OpenSSL refuses the name.
    pub subject_hash: Option<u32>,
    /// The subject hash of OpenSSL 0.9.8.
    pub subject_hash_old: u32,
    /// Whether subject and issuer are the same name to OpenSSL.
    pub self_issued: bool,
    /// Why OpenSSL's look-up refuses it.
    pub refused: Option<(Part, Fault)>,
    /// The readers asked for that refuse it, whatever stands around it.
    pub refused_by: Vec<(Reader, (Part, Fault))>,
    /// Whether it may issue certificates; `None` where that cannot be read.
    pub ca: Option<bool>,
    /// Where it stands.
    pub occurrences: Vec<OccurrenceId>,
    facts: OnceLock<Result<Facts, FactsError>>,
}

impl Certificate {
    /// Everything that follows from the bytes.
    #[must_use]
    pub fn new(der: CertificateDer<'static>, fingerprint: Fingerprint, readers: &[Reader]) -> Self {
        let openssl = Reader::OpenSsl(readers::openssl_among(readers));
        let refused_by = refused_by(readers, der.as_bytes());
        let refused = if readers.contains(&openssl) {
            refused_by.iter().find(|(reader, _)| *reader == openssl).map(|(_, refusal)| *refusal)
        } else {
            openssl.certificate(der.as_bytes()).err()
        };
        let fields = der.fields();
        let self_issued = fields.subject == fields.issuer
            || name_hash::canonical(fields.subject)
                .is_some_and(|subject| name_hash::canonical(fields.issuer) == Some(subject));
        Self {
            fingerprint,
            spki: SpkiDigest::of(fields.spki),
            validity: Validity::read(fields.not_before, fields.not_after),
            subject_hash: name_hash::subject_hash(fields.subject),
            subject_hash_old: name_hash::subject_hash_old(fields.subject),
            self_issued,
            refused,
            refused_by,
            ca: extensions::is_ca(&fields, self_issued),
            occurrences: Vec::new(),
            facts: OnceLock::new(),
            der,
        }
    }

    /// Public key and signature, read once and only when somebody asks.
    ///
    /// # Errors
    /// Where x509-parser refuses the certificate.
    pub fn facts(&self) -> Result<&Facts, &FactsError> {
        self.facts.get_or_init(|| Facts::read(self.der.as_bytes())).as_ref()
    }
}

/// The readers that refuse a certificate, and why.
#[must_use]
pub(super) fn refused_by(readers: &[Reader], der: &[u8]) -> Vec<(Reader, (Part, Fault))> {
    readers.iter().filter_map(|&reader| Some((reader, reader.certificate(der).err()?))).collect()
}

/// An entry of a directory that is no member.
#[derive(Debug, Clone)]
pub struct OddEntry {
    /// The directory.
    pub source: SourceId,
    /// Its path.
    pub path: PathBuf,
    /// What it is.
    pub trouble: Trouble,
    /// Where it points, if it is a link.
    pub target: Option<PathBuf>,
}

/// Why an entry cannot be a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// A link to nothing.
    Dangling,
    /// A link that leads back to itself.
    Loop,
    /// A directory, or a link to one.
    Directory,
    /// A FIFO, a device or a socket, or a link to one.
    NotRegular(Special),
    /// A name that tools leave behind.
    Leftover,
    /// The system does not let us look, for this reason.
    Unreadable(String),
}

/// What stands where a file belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// A named pipe; opening it waits for a writer.
    Fifo,
    /// A character or block device.
    Device,
    /// A socket.
    Socket,
}

/// What is the matter with a hash link. `Ok` stands alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LinkState {
    /// A look-up finds a certificate (or CRL) of this hash behind it.
    Ok,
    /// Leads to nothing.
    Dangling,
    /// Leads back to itself.
    Loop,
    /// Leads to something that is no file with a certificate.
    Unusable,
    /// What it leads to has another hash.
    WrongHash,
    /// A lower number is missing: the look-up stops before it.
    Gap,
    /// A lower number leads to nothing that loads: the look-up stops there.
    Shadowed,
    /// Never looked up: upper case or leading zeros.
    Case,
    /// The hash of OpenSSL 0.9.8.
    Legacy,
    /// Leads to a file outside the directory.
    Outside,
    /// Leads to a CAfile.
    ToBundle,
    /// A link for a CRL.
    Crl,
}

/// A name in a CApath that is, or looks like, a hash link.
#[derive(Debug, Clone)]
pub struct Link {
    /// The directory.
    pub source: SourceId,
    /// The directory entry.
    pub name: OsString,
    /// What the name says.
    pub link: LinkName,
    /// Where it points; `None` for a file with such a name.
    pub target: Option<PathBuf>,
    /// What it leads to.
    pub leads_to: Result<FileId, Trouble>,
    /// What is the matter with it.
    pub states: Vec<LinkState>,
}

impl Link {
    /// What the name says, proper or not.
    #[must_use]
    pub fn hash_link(&self) -> HashLink {
        match self.link {
            LinkName::Proper(link) | LinkName::Improper(link) => link,
        }
    }
}

/// Everything that was found.
///
/// Order is by source as named, then by file name, then by offset. It never depends on threads or directories.
#[derive(Debug, Default)]
pub struct Store {
    pub(super) readers: Vec<Reader>,
    pub(super) sources: Vec<Source>,
    pub(super) files: Vec<File>,
    pub(super) certificates: Vec<Certificate>,
    pub(super) occurrences: Vec<Occurrence>,
    pub(super) links: Vec<Link>,
    pub(super) odd: Vec<OddEntry>,
    pub(super) leftovers: Vec<Leftover>,
    pub(super) leading_out: Vec<(PathBuf, PathBuf)>,
    pub(super) failures: Vec<Error>,
    pub(super) reachable: BTreeMap<(SourceId, CertificateId), Vec<usize>>,
    pub(super) by_fingerprint: HashMap<Fingerprint, CertificateId>,
    /// For each source its files, in order.
    pub(super) files_by_source: Vec<Vec<FileId>>,
    /// For each directory the files that have a name in it, whichever source they belong to.
    pub(super) members_by_directory: Vec<Vec<FileId>>,
    /// For each source the range of its links.
    pub(super) links_by_source: Vec<Range<usize>>,
}

impl Store {
    /// The libraries whose view was asked for.
    #[must_use]
    pub fn readers(&self) -> &[Reader] {
        &self.readers
    }
    /// What was named, and CAfiles found inside it.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }
    /// All files.
    #[must_use]
    pub fn files(&self) -> &[File] {
        &self.files
    }
    /// All distinct certificates, in order of their first occurrence.
    #[must_use]
    pub fn certificates(&self) -> &[Certificate] {
        &self.certificates
    }
    /// All occurrences.
    #[must_use]
    pub fn occurrences(&self) -> &[Occurrence] {
        &self.occurrences
    }
    /// All names that are, or look like, hash links.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }
    /// Entries of directories that are no members.
    #[must_use]
    pub fn odd_entries(&self) -> &[OddEntry] {
        &self.odd
    }
    /// Links whose text leads above the root, with their target.
    #[must_use]
    pub fn leading_out(&self) -> &[(PathBuf, PathBuf)] {
        &self.leading_out
    }
    /// Files that tools left behind, where they hold certificates.
    #[must_use]
    pub fn leftovers(&self) -> &[Leftover] {
        &self.leftovers
    }
    /// Named paths that could not be read.
    #[must_use]
    pub fn failures(&self) -> &[Error] {
        &self.failures
    }
    /// Takes the failures, to report them.
    pub fn take_failures(&mut self) -> Vec<Error> {
        std::mem::take(&mut self.failures)
    }
    /// A source by number.
    #[must_use]
    pub fn source(&self, id: SourceId) -> &Source {
        &self.sources[id.0]
    }
    /// A file by number.
    #[must_use]
    pub fn file(&self, id: FileId) -> &File {
        &self.files[id.0]
    }
    /// A certificate by number.
    #[must_use]
    pub fn certificate(&self, id: CertificateId) -> &Certificate {
        &self.certificates[id.0]
    }
    /// A certificate by its fingerprint.
    #[must_use]
    pub fn find(&self, fingerprint: Fingerprint) -> Option<CertificateId> {
        self.by_fingerprint.get(&fingerprint).copied()
    }
    /// An occurrence by number.
    #[must_use]
    pub fn occurrence(&self, id: OccurrenceId) -> &Occurrence {
        &self.occurrences[id.0]
    }
    /// All sources with their numbers.
    pub fn source_ids(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.sources.iter().enumerate().map(|(index, source)| (SourceId(index), source))
    }
    /// All certificates with their numbers.
    pub fn certificate_ids(&self) -> impl Iterator<Item = (CertificateId, &Certificate)> {
        self.certificates.iter().enumerate().map(|(index, certificate)| (CertificateId(index), certificate))
    }
    /// The occurrences of a file, with their numbers.
    pub fn occurrences_of_file(&self, id: FileId) -> impl Iterator<Item = (OccurrenceId, &Occurrence)> {
        let range = self.files[id.0].occurrences.clone();
        range.map(|index| (OccurrenceId(index), &self.occurrences[index]))
    }
    /// The files of a source, with their numbers. Files that another source named first are not among them.
    pub fn files_of(&self, id: SourceId) -> impl Iterator<Item = (FileId, &File)> {
        self.files_by_source[id.0].iter().map(|&file| (file, &self.files[file.0]))
    }
    /// The occurrences of a source, in order.
    pub fn occurrences_of(&self, id: SourceId) -> impl Iterator<Item = (OccurrenceId, &Occurrence)> {
        self.files_of(id).flat_map(move |(file, _)| self.occurrences_of_file(file))
    }
    /// The hash links of a directory.
    pub fn links_of(&self, id: SourceId) -> impl Iterator<Item = &Link> {
        self.links[self.links_by_source[id.0].clone()].iter()
    }
    /// The files that have a name directly inside a named directory, whichever source they belong to.
    pub fn members_of(&self, directory: SourceId) -> impl Iterator<Item = (FileId, &File)> {
        self.members_by_directory[directory.0].iter().map(|&file| (file, &self.files[file.0]))
    }
    /// The links by which OpenSSL's look-up in a directory finds a certificate; empty where it does not.
    #[must_use]
    pub fn reachable_as(&self, source: SourceId, certificate: CertificateId) -> Vec<&Link> {
        self.reachable
            .get(&(source, certificate))
            .map(|links| links.iter().map(|&index| &self.links[index]).collect())
            .unwrap_or_default()
    }
    /// Whether OpenSSL's look-up in a directory finds a certificate.
    #[must_use]
    pub fn is_reachable(&self, source: SourceId, certificate: CertificateId) -> bool {
        self.reachable.contains_key(&(source, certificate))
    }
    /// How many distinct certificates OpenSSL's look-up in a directory finds.
    #[must_use]
    pub fn reachable_count(&self, source: SourceId) -> usize {
        self.reachable.range((source, CertificateId(0))..(SourceId(source.0 + 1), CertificateId(0))).count()
    }
    /// The CAfiles that lie in a directory.
    pub fn bundles_inside(&self, directory: SourceId) -> impl Iterator<Item = SourceId> {
        self.source_ids()
            .filter(move |(_, source)| source.inside == Some(directory) && source.kind == SourceKind::CaFile)
            .map(|(id, _)| id)
    }
    /// Whether a file has a name directly inside a named directory.
    #[must_use]
    pub fn lies_in(&self, file: FileId, directory: SourceId) -> bool {
        let directory = &self.sources[directory.0].path;
        self.files[file.0].names.iter().any(|name| name.parent() == Some(directory.as_path()))
    }

    /// What OpenSSL's look-up by hash loads of a file, and whether it gets to its end
    /// ([`readers::openssl::look_up`]).
    #[must_use]
    pub fn loads_by_directory(&self, file: FileId) -> (Vec<OccurrenceId>, bool) {
        let file = &self.files[file.0];
        let mut occurrences = file.occurrences.clone();
        if !file.plain {
            let views = &file.views;
            let seen = occurrences.filter(|&index| {
                let start = self.occurrences[index].span.start;
                views.look_up.binary_search_by_key(&start, |loaded| loaded.offset).is_ok()
            });
            return (seen.map(OccurrenceId).collect(), views.look_up_complete);
        }
        let refused = occurrences
            .find(|&index| self.certificates[self.occurrences[index].certificate.0].refused.is_some());
        let loaded: Vec<_> =
            (file.occurrences.start..refused.unwrap_or(file.occurrences.end)).map(OccurrenceId).collect();
        let complete = refused.is_none() && !loaded.is_empty();
        (loaded, complete)
    }

    /// Follows every hash link as OpenSSL's `by_dir` look-up does, and notes what it finds and what is the matter.
    pub(super) fn resolve_links(&mut self) {
        let mut links = std::mem::take(&mut self.links);
        let mut chains: BTreeMap<(SourceId, u32, LinkKind), BTreeMap<u32, usize>> = BTreeMap::new();
        for (index, link) in links.iter().enumerate() {
            if let LinkName::Proper(name) = link.link {
                chains.entry((link.source, name.hash, name.kind)).or_default().insert(name.number, index);
            }
        }
        for (&(source, hash, kind), chain) in &chains {
            let mut expected = 0;
            let mut stopped = false;
            for (&number, &index) in chain {
                let gap = number != expected;
                expected = number.saturating_add(1);
                if gap && !stopped {
                    stopped = true;
                    links[index].states.push(LinkState::Gap);
                } else if stopped {
                    let state = if gap { LinkState::Gap } else { LinkState::Shadowed };
                    links[index].states.push(state);
                }
                let complete = match (&links[index].leads_to, kind) {
                    (Err(_), _) => false,
                    (Ok(_), LinkKind::Crl) => true,
                    (Ok(file), LinkKind::Certificate) => {
                        let (loaded, complete) = self.loads_by_directory(*file);
                        if !stopped {
                            for id in loaded {
                                let certificate = self.occurrences[id.0].certificate;
                                if self.certificates[certificate.0].subject_hash == Some(hash) {
                                    let places = self.reachable.entry((source, certificate)).or_default();
                                    if places.last() != Some(&index) {
                                        places.push(index);
                                    }
                                }
                            }
                        }
                        complete
                    }
                };
                stopped |= !complete;
            }
        }
        let mut inside = HashMap::new();
        for link in &mut links {
            self.judge(link, &mut inside);
        }
        self.links = links;
    }

    fn judge(&self, link: &mut Link, known: &mut HashMap<(SourceId, FileId), bool>) {
        let name = link.hash_link();
        let mut states = std::mem::take(&mut link.states);
        if matches!(link.link, LinkName::Improper(_)) {
            states.push(LinkState::Case);
        }
        if name.kind == LinkKind::Crl {
            states.push(LinkState::Crl);
        }
        match &link.leads_to {
            Err(Trouble::Dangling) => states.push(LinkState::Dangling),
            Err(Trouble::Loop) => states.push(LinkState::Loop),
            Err(_) => states.push(LinkState::Unusable),
            Ok(file) => {
                let file_id = *file;
                let file = &self.files[file_id.0];
                let (right, old, any) = match name.kind {
                    LinkKind::Certificate => {
                        let certificates = || {
                            self.occurrences[file.occurrences.clone()]
                                .iter()
                                .map(|occurrence| &self.certificates[occurrence.certificate.0])
                        };
                        (
                            certificates().any(|certificate| certificate.subject_hash == Some(name.hash)),
                            certificates().any(|certificate| certificate.subject_hash_old == name.hash),
                            certificates().next().is_some(),
                        )
                    }
                    LinkKind::Crl => {
                        let lists = || {
                            file.others.iter().filter_map(|block| match block.kind {
                                OtherKind::Crl { issuer_hash, issuer_hash_old, .. } => {
                                    Some((issuer_hash, issuer_hash_old))
                                }
                                _ => None,
                            })
                        };
                        (
                            lists().any(|(hash, _)| hash == Some(name.hash)),
                            lists().any(|(_, old)| old == Some(name.hash)),
                            lists().next().is_some(),
                        )
                    }
                };
                if !right {
                    states.push(match (old, any) {
                        (true, _) => LinkState::Legacy,
                        (false, true) => LinkState::WrongHash,
                        (false, false) => LinkState::Unusable,
                    });
                }
                let inside = |path: &PathBuf| {
                    path.parent() == Some(self.sources[link.source.0].path.as_path())
                        && !path.file_name().is_some_and(|name| {
                            use std::os::unix::ffi::OsStrExt as _;
                            LinkName::parse(name.as_bytes()).is_some()
                        })
                };
                let mut inside =
                    || *known.entry((link.source, file_id)).or_insert_with(|| file.names.iter().any(inside));
                if link.target.is_some() && !inside() {
                    states.push(LinkState::Outside);
                }
                if self.sources[file.source.0].kind == SourceKind::CaFile && file.occurrences.len() > 1 {
                    states.push(LinkState::ToBundle);
                }
            }
        }
        if !states
            .iter()
            .any(|state| !matches!(state, LinkState::Crl | LinkState::Outside | LinkState::ToBundle))
        {
            states.insert(0, LinkState::Ok);
        }
        link.states = states;
    }
}
