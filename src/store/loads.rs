//! What readers load of the files, bundles and directories of a store.

use std::collections::BTreeSet;
use std::ops::Range;

use super::model::{FileId, OccurrenceId, Store};
use super::source::{SourceId, SourceKind};
use crate::certificate::fingerprint::Fingerprint;
use crate::readers::Reader;
use crate::readers::reading::{Fault, Framing, Miss, Part, Reading, Reason};

/// What a reader loads of a file that is named as CAfile.
#[derive(Debug, Clone, Default)]
pub struct FileLoads {
    /// The occurrences that it loads.
    pub occurrences: Vec<OccurrenceId>,
    /// Distinct certificates that it loads; also such as castore would have to guess, and does not count.
    pub certificates: BTreeSet<Fingerprint>,
    /// Occurrences that it passes over, and why.
    pub passed_over: Vec<(OccurrenceId, Reason)>,
    /// Other places that it passes over.
    pub unseen: Vec<Miss>,
    /// Why it refuses the file.
    pub refused: Option<Miss>,
}

/// What a reader loads of a source.
#[derive(Debug, Clone, Default)]
pub struct SourceLoads {
    /// Distinct certificates that it loads.
    pub loads: usize,
    /// Of how many.
    pub of: usize,
    /// What makes it refuse the file, and which file that is.
    pub refused: Option<(FileId, Miss)>,
}

impl Store {
    /// What a reader loads of a file.
    #[must_use]
    pub fn file_loads(&self, id: FileId, reader: Reader) -> FileLoads {
        let file = self.file(id);
        let reading = file.views.readings.iter().find(|(asked, _)| *asked == reader);
        match (reading, file.plain) {
            (Some((_, reading)), false) => self.as_read(id, reading),
            _ => self.as_plain(id, reader),
        }
    }

    /// Whether every reader that was asked for loads all of a file, so that nothing need be asked about it.
    #[must_use]
    pub fn is_whole(&self, id: FileId) -> bool {
        self.file(id).plain
            && self
                .occurrences_of_file(id)
                .all(|(_, occurrence)| self.certificate(occurrence.certificate).refused_by.is_empty())
    }

    /// A file of which every reader sees every block.
    fn as_plain(&self, id: FileId, reader: Reader) -> FileLoads {
        let mut out = FileLoads::default();
        for (occurrence, at) in self.occurrences_of_file(id) {
            let certificate = self.certificate(at.certificate);
            let refusal = certificate.refused_by.iter().find(|(asked, _)| *asked == reader);
            let Some((_, (part, fault))) = refusal else {
                out.occurrences.push(occurrence);
                out.certificates.insert(certificate.fingerprint);
                continue;
            };
            let reason = Reason::Certificate(*part, *fault);
            if reader.refuses_files() {
                let refused = Some(Miss { offset: at.span.start, line: at.line, reason });
                return FileLoads { refused, ..FileLoads::default() };
            }
            out.passed_over.push((occurrence, reason));
        }
        if out.occurrences.is_empty() {
            out.refused = Some(Miss { offset: 0, line: 1, reason: Reason::Nothing });
        }
        out
    }

    fn as_read(&self, id: FileId, reading: &Reading) -> FileLoads {
        let mut out = FileLoads {
            certificates: reading.loads.iter().map(|loaded| loaded.fingerprint).collect(),
            refused: reading.refused,
            unseen: reading.misses.clone(),
            ..FileLoads::default()
        };
        let loaded: BTreeSet<usize> = reading.loads.iter().map(|loaded| loaded.offset).collect();
        for (occurrence, at) in self.occurrences_of_file(id) {
            if loaded.range(at.span.clone()).next().is_some() {
                out.occurrences.push(occurrence);
                continue;
            }
            // A refusal says nothing of the blocks behind it.
            let stopped = out.refused.as_ref().is_some_and(|miss| miss.reason != Reason::Nothing);
            match miss_inside(&reading.misses, &at.span).map(|miss| miss.reason) {
                Some(reason) => out.passed_over.push((occurrence, reason)),
                None if stopped => {}
                None => out.passed_over.push((occurrence, Reason::Framing(Framing::BadBegin))),
            }
        }
        // Both in the order of the file.
        out.unseen.retain(|miss| {
            let behind =
                out.passed_over.partition_point(|(id, _)| self.occurrence(*id).span.start <= miss.offset);
            let before = behind.checked_sub(1).map(|last| self.occurrence(out.passed_over[last].0));
            !before.is_some_and(|occurrence| occurrence.span.contains(&miss.offset))
        });
        out
    }

    /// What a reader loads of a source; `None` where it does not read such a source.
    ///
    /// A directory is looked into by hash by OpenSSL; GnuTLS, Go and rustls read every file in it.
    #[must_use]
    pub fn source_loads(&self, id: SourceId, reader: Reader) -> Option<SourceLoads> {
        let own: BTreeSet<Fingerprint> = self
            .occurrences_of(id)
            .map(|(_, occurrence)| self.certificate(occurrence.certificate).fingerprint)
            .collect();
        match (self.source(id).kind, reader) {
            (SourceKind::CaPath | SourceKind::Directory, Reader::OpenSsl(_)) => {
                let loads = self
                    .certificate_ids()
                    .filter(|(_, certificate)| own.contains(&certificate.fingerprint))
                    .filter(|(certificate, _)| self.is_reachable(id, *certificate))
                    .count();
                Some(SourceLoads { loads, of: own.len(), refused: None })
            }
            (SourceKind::CaPath | SourceKind::Directory, reader) if reader.reads_directories() => {
                let loads: BTreeSet<Fingerprint> = self
                    .members_of(id)
                    .flat_map(|(file, _)| self.file_loads(file, reader).certificates)
                    .filter(|fingerprint| own.contains(fingerprint))
                    .collect();
                Some(SourceLoads { loads: loads.len(), of: own.len(), refused: None })
            }
            (SourceKind::CaPath | SourceKind::Directory | SourceKind::Keystore, _) => None,
            _ => {
                let mut loads = BTreeSet::new();
                let mut refused = None;
                for (file, _) in self.files_of(id) {
                    let of_file = self.file_loads(file, reader);
                    loads.extend(of_file.certificates);
                    refused = refused.or(of_file.refused.map(|miss| (file, miss)));
                }
                let of = own.union(&loads).count();
                Some(SourceLoads { loads: loads.len(), of, refused })
            }
        }
    }

    /// The readers that refuse an occurrence's certificate, or what stands in its block beside it.
    #[must_use]
    pub fn refusals(&self, id: OccurrenceId) -> Vec<(Reader, Reason)> {
        let occurrence = self.occurrence(id);
        let file = self.file(occurrence.file);
        let mut out: Vec<(Reader, Reason)> = Vec::new();
        let mut note = |reader: Reader, (part, fault): (Part, Fault)| {
            if !out.iter().any(|(known, _)| *known == reader) {
                out.push((reader, Reason::Certificate(part, fault)));
            }
        };
        for (reader, refusal) in
            self.certificate(occurrence.certificate).refused_by.iter().chain(&occurrence.refused_by)
        {
            note(*reader, *refusal);
        }
        for (reader, reading) in &file.views.readings {
            let refused = reading.refused.iter().filter(|miss| occurrence.span.contains(&miss.offset));
            for miss in refused.chain(miss_inside(&reading.misses, &occurrence.span)) {
                if let Reason::Certificate(part, fault) = miss.reason {
                    note(*reader, (part, fault));
                }
            }
        }
        out
    }
}

/// The first of some misses, which are in the order of the file, that lies in a range.
fn miss_inside<'a>(misses: &'a [Miss], range: &Range<usize>) -> Option<&'a Miss> {
    let first = misses.partition_point(|miss| miss.offset < range.start);
    misses.get(first).filter(|miss| range.contains(&miss.offset))
}
