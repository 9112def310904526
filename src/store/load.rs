//! Paths to a [`Store`]: discover, read, take apart, relate. The only place with threads.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::content::{self, Content, Encoding, Shape};
use super::discover::{Access, Discovery, Member, Reach, discover};
use super::model::{
    Certificate, CertificateId, File, FileId, Leftover, Link, Occurrence, OccurrenceId, OddEntry, Store,
    Trouble, Views, refused_by,
};
use super::read;
use super::root::{Root, Seen};
use super::source::{Source, SourceId, SourceKind};
use crate::error::Result;
use crate::openssl::hash_link::LinkName;
use crate::openssl::locations::is_bundle_name;
use crate::readers::Reader;

/// Below this many bytes a pool of threads costs more than it gains.
const WORTH_THREADS: u64 = 4 << 20;

/// How a store is loaded.
#[derive(Debug, Clone)]
pub struct Loading {
    /// Where paths start, and how far discovery goes.
    pub reach: Reach,
    /// Whether the comment lines before each block are kept.
    pub comments: bool,
    /// The libraries whose view is wanted.
    pub readers: Vec<Reader>,
}

impl Default for Loading {
    fn default() -> Self {
        Self { reach: Reach::default(), comments: false, readers: Reader::DEFAULT.to_vec() }
    }
}

/// What is kept of a file's bytes.
struct Taken {
    seen: Option<Seen>,
    bytes: u64,
    content: Content,
    views: Views,
}

impl Taken {
    fn of(bytes: &[u8], seen: Option<Seen>, content: Content, readers: &[Reader]) -> Self {
        let views = if content.plain { Views::default() } else { Views::of(bytes, readers) };
        Self { seen, bytes: bytes.len() as u64, content, views }
    }
}

/// Loads everything that the paths name, on this machine. Trouble inside becomes findings; a named path that cannot be
/// read is among [`Store::failures`].
#[must_use]
pub fn load(paths: &[PathBuf]) -> Store {
    load_with(paths, &Loading::default())
}

/// Loads everything that the paths name, in one of several ways.
#[must_use]
pub fn load_with(paths: &[PathBuf], loading: &Loading) -> Store {
    let discovery = discover(paths, &loading.reach);
    let take_apart = if loading.comments { content::read_with_comments } else { content::read };
    let read_one = |member: &Member| {
        let path = &member.names[0];
        let (bytes, seen) = match member.access {
            Access::Regular => {
                let (bytes, seen) = read::regular_seen(&loading.reach.root, path)?;
                (bytes, Some(seen))
            }
            Access::Pipe => (read::pipe(&loading.reach.root, path)?, None),
            Access::StandardInput => (read::standard_input()?, None),
        };
        let content = take_apart(&bytes);
        Ok(Taken::of(&bytes, seen, content, &loading.readers))
    };
    let total: u64 = discovery.members.iter().map(|member| member.size).sum();
    let contents: Vec<Loaded> = if total < WORTH_THREADS {
        discovery.members.iter().map(read_one).collect()
    } else {
        discovery.members.par_iter().map(read_one).collect()
    };
    Assembly::new(&loading.readers).run(discovery, contents, &loading.reach.root)
}

/// Loads bytes as if they were a file of this name; for tests and for libraries that have no file.
#[must_use]
pub fn load_bytes(name: &str, bytes: &[u8]) -> Store {
    let mut discovery = Discovery::default();
    discovery.places.push(super::discover::Place {
        path: name.into(),
        directory: false,
        named: true,
        identity: None,
        writable: None,
        mode: None,
    });
    discovery.members.push(Member {
        source: SourceId(0),
        names: vec![name.into()],
        identity: None,
        access: Access::StandardInput,
        size: bytes.len() as u64,
        writable: None,
    });
    let taken = Taken::of(bytes, None, content::read(bytes), Reader::DEFAULT);
    Assembly::new(Reader::DEFAULT).run(discovery, vec![Ok(taken)], &Root::host())
}

type Loaded = Result<Taken>;

/// A store in the making.
struct Assembly {
    store: Store,
}

impl Assembly {
    fn new(readers: &[Reader]) -> Self {
        Self { store: Store { readers: readers.to_vec(), ..Store::default() } }
    }

    fn run(mut self, discovery: Discovery, contents: Vec<Loaded>, root: &Root) -> Store {
        let Discovery { places, members, hash_names, odd, failures, leftovers, leading_out, .. } = discovery;
        self.store.leading_out = leading_out;
        self.store.failures = failures;
        self.store.odd = odd;
        self.store.sources = places
            .iter()
            .map(|place| Source {
                path: place.path.clone(),
                kind: if place.directory { SourceKind::Directory } else { SourceKind::Other },
                inside: None,
                identity: place.identity,
                writable: place.writable,
                mode: place.mode,
                named: place.named,
            })
            .collect();
        for name in &hash_names {
            self.store.sources[name.source.0].kind = SourceKind::CaPath;
        }

        let mut numbers = Vec::with_capacity(members.len());
        for (member, content) in members.into_iter().zip(contents) {
            match content {
                Ok(taken) => numbers.push(Ok(self.file(member, taken))),
                Err(error) => numbers.push(Err(self.unreadable(member, error, &places))),
            }
        }
        for name in hash_names {
            let leads_to = match name.leads_to {
                Ok(member) => numbers[member].clone(),
                Err(trouble) => Err(trouble),
            };
            self.store.links.push(Link {
                source: name.source,
                name: name.name,
                link: name.link,
                target: name.target,
                leads_to,
                states: Vec::new(),
            });
        }
        self.store.leftovers = leftovers.into_iter().filter_map(|path| leftover(root, path)).collect();
        self.name_kinds();
        self.bundles_inside();
        self.drop_empty();
        self.store.odd.sort_by(|a, b| (a.source, &a.path).cmp(&(b.source, &b.path)));
        self.index();
        self.store.resolve_links();
        self.store
    }

    fn file(&mut self, member: Member, taken: Taken) -> FileId {
        let Taken { seen, bytes, content, views } = taken;
        let id = FileId(self.store.files.len());
        let start = self.store.occurrences.len();
        for found in content.certificates {
            let occurrence = OccurrenceId(self.store.occurrences.len());
            let (certificates, readers) = (&mut self.store.certificates, &self.store.readers);
            let certificate = *self.store.by_fingerprint.entry(found.fingerprint).or_insert_with(|| {
                certificates.push(Certificate::new(found.der, found.fingerprint, readers));
                CertificateId(certificates.len() - 1)
            });
            certificates[certificate.0].occurrences.push(occurrence);
            self.store.occurrences.push(Occurrence {
                file: id,
                certificate,
                span: found.span,
                line: found.line,
                encoding: found.encoding,
                trust: found.trust,
                defects: found.defects,
                noise: found.noise,
                trailing: found.trailing,
                ber: found.ber,
                refused_by: found.raw.map_or_else(Vec::new, |raw| refused_by(&self.store.readers, &raw)),
                distrust: found.distrust,
                comment: found.comment,
            });
        }
        self.store.files.push(File {
            source: member.source,
            names: member.names,
            // What was opened, where another file took the name after it was looked at.
            identity: seen.map_or(member.identity, |seen| Some(seen.identity)),
            writable: member.writable,
            seen,
            bytes,
            occurrences: start..self.store.occurrences.len(),
            others: content.others,
            shape: content.shape,
            plain: content.plain,
            views,
        });
        id
    }

    fn unreadable(
        &mut self,
        member: Member,
        error: crate::error::Error,
        places: &[super::discover::Place],
    ) -> Trouble {
        let reason = match &error {
            crate::error::Error::Io { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        let trouble = Trouble::Unreadable(reason);
        if places[member.source.0].directory {
            let path = member.names.into_iter().next().unwrap_or_default();
            self.store.odd.push(OddEntry {
                source: member.source,
                path,
                trouble: trouble.clone(),
                target: None,
            });
        } else {
            self.store.failures.push(error);
        }
        trouble
    }

    /// What a named file is follows from what it holds.
    fn name_kinds(&mut self) {
        for file in &self.store.files {
            let source = &mut self.store.sources[file.source.0];
            if source.kind != SourceKind::Other {
                continue;
            }
            let mut occurrences = self.store.occurrences[file.occurrences.clone()].iter();
            source.kind = match file.occurrences.len() {
                1.. if occurrences.all(|occurrence| occurrence.encoding == Encoding::Pkcs7) => {
                    SourceKind::Pkcs7
                }
                0 if matches!(file.shape, Some(Shape::Keystore(_))) => SourceKind::Keystore,
                0 => SourceKind::Other,
                1 if !file.path().file_name().is_some_and(named_like_a_bundle) => SourceKind::Certificate,
                _ => SourceKind::CaFile,
            };
        }
    }

    /// A CAfile inside a directory becomes a source of its own, beside the directory.
    fn bundles_inside(&mut self) {
        let directories: HashMap<PathBuf, SourceId> = self
            .store
            .sources
            .iter()
            .enumerate()
            .filter(|(_, source)| matches!(source.kind, SourceKind::CaPath | SourceKind::Directory))
            .map(|(index, source)| (source.path.clone(), SourceId(index)))
            .collect();
        if directories.is_empty() {
            return;
        }
        for index in 0..self.store.files.len() {
            let file = &self.store.files[index];
            if file.occurrences.is_empty() {
                continue;
            }
            let Some(&directory) = file.names.iter().find_map(|name| directories.get(name.parent()?)) else {
                continue;
            };
            let path = &self.store.sources[directory.0].path;
            let own: Vec<&PathBuf> =
                file.names.iter().filter(|name| name.parent() == Some(path.as_path())).collect();
            let bundle_name = own.iter().find(|name| name.file_name().is_some_and(named_like_a_bundle));
            // What only a hash link leads to is a member of the look-up, whatever it holds.
            let own_name = own
                .iter()
                .find(|name| name.file_name().is_some_and(|name| LinkName::parse(name.as_bytes()).is_none()));
            let hashed = self.store.sources[directory.0].kind == SourceKind::CaPath;
            let several = file.occurrences.len() > 1;
            let owner = file.source;
            if owner != directory {
                // Named by itself as well: the two are related all the same.
                let owner = &mut self.store.sources[owner.0];
                if owner.inside.is_none() && owner.kind == SourceKind::CaFile && own_name.is_some() {
                    owner.inside = Some(directory);
                }
            } else if let Some(&name) = bundle_name.or(own_name)
                && (bundle_name.is_some() || several && !hashed)
            {
                let id = SourceId(self.store.sources.len());
                let source = Source {
                    path: name.clone(),
                    kind: SourceKind::CaFile,
                    inside: Some(directory),
                    identity: None,
                    writable: None,
                    mode: None,
                    named: false,
                };
                self.store.sources.push(source);
                self.store.files[index].source = id;
            }
        }
    }

    /// A named file that could not be read gives no source: nothing is known of it. Neither does a second name of a
    /// file that is there already.
    fn drop_empty(&mut self) {
        let read: BTreeSet<SourceId> = self.store.files.iter().map(|file| file.source).collect();
        let stays = |id: SourceId, source: &Source| source.kind != SourceKind::Other || read.contains(&id);
        let mut numbers = Vec::with_capacity(self.store.sources.len());
        let mut sources = Vec::with_capacity(self.store.sources.len());
        for (index, source) in std::mem::take(&mut self.store.sources).into_iter().enumerate() {
            numbers.push(SourceId(sources.len()));
            if stays(SourceId(index), &source) {
                sources.push(source);
            }
        }
        for source in &mut sources {
            source.inside = source.inside.map(|directory| numbers[directory.0]);
        }
        self.store.sources = sources;
        self.store.files.iter_mut().for_each(|file| file.source = numbers[file.source.0]);
        self.store.links.iter_mut().for_each(|link| link.source = numbers[link.source.0]);
        self.store.odd.iter_mut().for_each(|entry| entry.source = numbers[entry.source.0]);
    }

    /// Indices by source, for everybody who asks later.
    fn index(&mut self) {
        let count = self.store.sources.len();
        self.store.files_by_source = vec![Vec::new(); count];
        for (index, file) in self.store.files.iter().enumerate() {
            self.store.files_by_source[file.source.0].push(FileId(index));
        }
        let directories: HashMap<&Path, usize> = self
            .store
            .sources
            .iter()
            .enumerate()
            .filter(|(_, source)| matches!(source.kind, SourceKind::CaPath | SourceKind::Directory))
            .map(|(index, source)| (source.path.as_path(), index))
            .collect();
        let mut members = vec![Vec::new(); count];
        for (index, file) in self.store.files.iter().enumerate() {
            let mut own: Vec<usize> =
                file.names.iter().filter_map(|name| directories.get(name.parent()?)).copied().collect();
            own.sort_unstable();
            own.dedup();
            own.into_iter().for_each(|directory| members[directory].push(FileId(index)));
        }
        self.store.members_by_directory = members;
        self.store.links.sort_by(|a, b| (a.source, &a.name).cmp(&(b.source, &b.name)));
        self.store.links_by_source = vec![0..0; count];
        for (index, link) in self.store.links.iter().enumerate() {
            let range = &mut self.store.links_by_source[link.source.0];
            if range.start == range.end {
                *range = index..index + 1;
            } else {
                range.end = index + 1;
            }
        }
    }
}

/// What a leftover holds; one that cannot be read is nobody's trust either.
fn leftover(root: &Root, path: PathBuf) -> Option<Leftover> {
    let bytes = read::regular(root, &path).ok()?;
    let certificates: Vec<_> =
        content::read(&bytes).certificates.into_iter().map(|found| found.fingerprint).collect();
    if certificates.is_empty() { None } else { Some(Leftover { path, certificates }) }
}

fn named_like_a_bundle(name: &OsStr) -> bool {
    is_bundle_name(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_without_a_certificate_make_an_empty_store() {
        let store = load_bytes("x.pem", b"# nothing\n");
        assert_eq!((store.sources().len(), store.files().len(), store.certificates().len()), (1, 1, 0));
        assert_eq!(store.sources()[0].kind, SourceKind::Other);
    }
}
