//! [`Report`]: everything that any form of a report tells. `castore.report/1` in JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use super::measured::{MeasureRow, MeasurementRow};
use super::words;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rules;
use crate::certificate::name;
use crate::certificate::trust::TrustAttributes;
use crate::certificate::validity::{Time, ValidityState, rfc3339};
use crate::cost::estimate::{self, Layout, Per, Prices};
use crate::escape::path_text;
use crate::plan::Plan;
use crate::store::content::Encoding;
use crate::store::digest;
use crate::store::model::{CertificateId, LinkState, Occurrence, Store};
use crate::store::source::{SourceId, SourceKind};

/// The name of this form of report. Fields are added, never renamed.
pub const SCHEMA: &str = "castore.report/1";

/// A path or name. The text is the name itself where that is UTF-8; else `bytes` holds the name, in base64.
#[derive(Debug, Clone, Serialize, PartialEq, Eq)]
pub struct Name {
    /// The text; bytes that are not UTF-8 as `\xHH`.
    pub text: String,
    /// The exact bytes, in base64.
    pub bytes: Option<String>,
}

impl Name {
    fn new(path: impl AsRef<OsStr>) -> Self {
        let (text, bytes) = path_text(path);
        Self { text, bytes: bytes.map(|bytes| STANDARD.encode(bytes)) }
    }
}

/// A report on a run.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Version of castore.
    pub version: &'static str,
    /// `audit`, `compact`, `rehash`, `measure`.
    pub command: &'static str,
    /// "Now", RFC 3339.
    pub now: String,
    /// What the user calls this run (`--label`).
    pub labels: BTreeMap<String, String>,
    /// The directory inside which paths were resolved; `null` for the machine's own root.
    pub root: Option<String>,
    /// What was named, or found inside it.
    pub sources: Vec<SourceRow>,
    /// One an inode, all its names.
    pub files: Vec<FileRow>,
    /// One a distinct certificate.
    pub certificates: Vec<CertificateRow>,
    /// Names in CApath directories that are, or look like, hash links.
    pub links: Vec<LinkRow>,
    /// What is wrong, and what is worth knowing.
    pub findings: Vec<FindingRow>,
    /// What each library loads.
    pub readers: Vec<ReaderRow>,
    /// What a writing command does.
    pub changes: Vec<ChangeRow>,
    /// How many contexts are made a day: `--contexts-per-day`.
    pub contexts_per_day: Option<u64>,
    /// Variables of the environment that lead to this store.
    pub variables: Vec<VariableRow>,
    /// What a load costs.
    pub cost: Vec<CostRow>,
    /// What `measure` found; of no other command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<MeasureRow>,
    /// The totals.
    pub summary: Summary,
}

/// A source.
#[derive(Debug, Clone, Serialize)]
pub struct SourceRow {
    /// Its number.
    pub id: usize,
    /// Its path.
    pub path: String,
    /// The path's bytes in base64, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
    /// `bundle`, `capath`, `directory`, `certificate`, `other`.
    pub kind: &'static str,
    /// The directory that it lies in, where that is a source.
    pub inside: Option<usize>,
    /// Occurrences of certificates.
    pub certificates: usize,
    /// Distinct certificates.
    pub unique: usize,
    /// Of a CApath: distinct certificates that a look-up by hash finds in it. Of a CAfile that lies in a CApath: how
    /// many of its distinct certificates such a look-up finds there. Else `null`.
    pub reachable: Option<usize>,
    /// Of a CApath with a CAfile inside: the certificates of its own files that no such CAfile has. Else empty.
    pub only_here: Vec<String>,
    /// Its digest.
    pub digest: String,
}

/// A file.
#[derive(Debug, Clone, Serialize)]
pub struct FileRow {
    /// Its number.
    pub id: usize,
    /// The source that it belongs to.
    pub source: usize,
    /// What it is called by.
    pub path: String,
    /// The path's bytes in base64, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
    /// All its names.
    pub names: Vec<String>,
    /// The names' bytes in base64, where one of them is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names_bytes: Option<Vec<String>>,
    /// Its size.
    pub bytes: u64,
}

/// A distinct certificate.
#[derive(Debug, Clone, Serialize)]
pub struct CertificateRow {
    /// Fingerprint.
    pub sha256: String,
    /// Subject, RFC 2253.
    pub subject: String,
    /// Issuer, RFC 2253.
    pub issuer: String,
    /// Serial number, signed hexadecimal.
    pub serial: String,
    /// notBefore, RFC 3339; `null` where nobody can read it.
    pub not_before: Option<String>,
    /// notAfter.
    pub not_after: Option<String>,
    /// `valid`, `expired`, `not-yet-valid`, `unknown`.
    pub validity: &'static str,
    /// Public key; `null` where x509-parser refuses the certificate.
    pub key: Option<KeyRow>,
    /// Signature algorithm.
    pub signature: Option<String>,
    /// Whether it may issue certificates.
    pub ca: Option<bool>,
    /// Whether subject and issuer are one name.
    pub self_issued: bool,
    /// Subject hash, eight digits; `null` where OpenSSL refuses the name.
    pub subject_hash: Option<String>,
    /// Subject hash of OpenSSL 0.9.8.
    pub subject_hash_old: String,
    /// SHA-256 of the public key.
    pub spki_sha256: String,
    /// Why x509-parser refuses it.
    pub parse_error: Option<String>,
    /// Where it stands.
    pub occurrences: Vec<OccurrenceRow>,
}

/// A public key.
#[derive(Debug, Clone, Serialize)]
pub struct KeyRow {
    /// Algorithm.
    pub algorithm: String,
    /// Size in bits.
    pub bits: Option<u32>,
}

/// A certificate at a place.
#[derive(Debug, Clone, Serialize)]
pub struct OccurrenceRow {
    /// The file's number.
    pub file: usize,
    /// The file's path.
    pub path: String,
    /// The path's bytes in base64, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
    /// Line, from 1.
    pub line: usize,
    /// Byte offset.
    pub offset: usize,
    /// Length in bytes.
    pub length: usize,
    /// The PEM label, or `DER`.
    pub label: String,
    /// Trust attributes.
    pub trust: Option<TrustRow>,
    /// The hash links by which a look-up finds it in the file's own directory.
    pub reachable_as: Vec<String>,
}

/// Trust attributes of a TRUSTED CERTIFICATE block.
#[derive(Debug, Clone, Serialize, PartialEq, Eq, Hash)]
pub struct TrustRow {
    /// Trusted purposes, dotted OIDs.
    pub trusted: Vec<String>,
    /// Rejected purposes.
    pub rejected: Vec<String>,
    /// Alias.
    pub alias: Option<String>,
    /// Whether it is no anchor for TLS servers.
    pub rejects_server_auth: bool,
}

/// A hash link.
#[derive(Debug, Clone, Serialize)]
pub struct LinkRow {
    /// The directory's path.
    pub capath: String,
    /// The path's bytes in base64, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capath_bytes: Option<String>,
    /// Its name.
    pub name: String,
    /// Where it points; `null` for a file of such a name.
    pub target: Option<String>,
    /// The target's bytes in base64, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_bytes: Option<String>,
    /// The first certificate that it leads to.
    pub sha256: Option<String>,
    /// `ok`, or what is the matter.
    pub states: Vec<&'static str>,
}

/// A finding.
#[derive(Debug, Clone, Serialize)]
pub struct FindingRow {
    /// The rule's id.
    pub id: &'static str,
    /// `error`, `warning`, `notice`.
    pub severity: &'static str,
    /// What it is.
    pub message: String,
    /// What to do.
    pub help: &'static str,
    /// Whether the user said to ignore it.
    pub ignored: bool,
    /// The certificate that it is about.
    pub sha256: Option<String>,
    /// The readers that stumble.
    pub readers: Vec<&'static str>,
    /// Where.
    pub occurrences: Vec<PlaceRow>,
}

/// A place of a finding.
#[derive(Debug, Clone, Serialize, PartialEq, Eq)]
pub struct PlaceRow {
    /// Path.
    pub path: String,
    /// The path's bytes in base64, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
    /// Line, from 1; `null` where the finding is about a path.
    pub line: Option<usize>,
    /// Byte offset.
    pub offset: Option<usize>,
}

/// What a library loads.
#[derive(Debug, Clone, Serialize)]
pub struct ReaderRow {
    /// Library and version.
    pub reader: &'static str,
    /// The source's number.
    pub source: usize,
    /// Certificates loaded.
    pub loads: usize,
    /// Of how many.
    pub of: usize,
    /// What stopped it.
    pub stopped_by: Option<StopRow>,
}

impl ReaderRow {
    /// Whether two libraries do the same.
    #[must_use]
    pub fn loads_as(&self, other: &Self) -> bool {
        (self.source, self.loads, self.of, &self.stopped_by)
            == (other.source, other.loads, other.of, &other.stopped_by)
    }
}

/// The place at which a library gives up, and why.
#[derive(Debug, Clone, Serialize, PartialEq, Eq)]
pub struct StopRow {
    /// Where.
    #[serde(flatten)]
    pub place: PlaceRow,
    /// Why.
    pub reason: String,
}

/// One thing that a writing command does or does not do.
#[derive(Debug, Clone, Serialize)]
pub struct ChangeRow {
    /// `drop`, `keep`, `repair`, `gain`, `link`, `unlink`, `write`.
    pub action: &'static str,
    /// Where.
    pub path: String,
    /// The path's bytes in base64, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
    /// Which certificate.
    pub sha256: Option<String>,
    /// Why.
    pub reason: String,
}

/// A variable of the environment that names a CAfile or a directory.
#[derive(Debug, Clone, Serialize)]
pub struct VariableRow {
    /// The variable.
    pub name: &'static str,
    /// What it says.
    pub value: String,
    /// Who reads it.
    pub read_by: &'static str,
}

/// What one family of programs pays in one layout.
#[derive(Debug, Clone, Serialize)]
pub struct CostRow {
    /// The library whose model prices it: `openssl-3.0`, `gnutls`.
    pub reader: &'static str,
    /// Who loads the store: `openssl-defaults`, `libcurl-gnutls`.
    pub family: &'static str,
    /// The family in words. Text only.
    #[serde(skip)]
    pub title: &'static str,
    /// `now`, `compacted`, `split`.
    pub layout: &'static str,
    /// Files opened.
    pub files: usize,
    /// Certificates parsed, each time that it stands somewhere.
    pub certificates: usize,
    /// Distinct certificates among them.
    pub unique: usize,
    /// The sources that are read at once.
    pub sources: Vec<usize>,
    /// Whether more is looked up by hash when a connection needs it.
    pub on_demand: bool,
    /// `context`, `connection`, `process`.
    pub per: &'static str,
    /// What a model says.
    pub estimate: EstimateRow,
    /// What was measured.
    pub measurement: Option<MeasurementRow>,
}

/// An estimate and its model.
#[derive(Debug, Clone, Serialize)]
pub struct EstimateRow {
    /// The model in words.
    pub model: String,
    /// The version of the library that the machine has, or that was named; `None` where it is not known.
    pub version: Option<String>,
    /// Milliseconds of CPU time.
    pub milliseconds: f64,
    /// Seconds of CPU time a day, where one of them is made for each of so many requests.
    pub seconds_per_day: Option<f64>,
}

/// Totals.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// SHA-256 over the CA certificates that some reader loads.
    pub digest: String,
    /// Sources.
    pub sources: usize,
    /// Files.
    pub files: usize,
    /// Certificates found, one a block or DER file.
    pub occurrences: usize,
    /// Distinct fingerprints.
    pub certificates: usize,
    /// Occurrences less certificates.
    pub duplicates: usize,
    /// Distinct certificates that are expired.
    pub expired: usize,
    /// Findings of severity error.
    pub errors: usize,
    /// Findings of severity warning.
    pub warnings: usize,
    /// Findings of severity notice.
    pub notices: usize,
    /// Findings that the user said to ignore.
    pub ignored: usize,
}

impl Report {
    /// Puts together what was found, judged and planned.
    #[must_use]
    pub fn new(
        command: &'static str,
        store: &Store,
        context: &Context,
        findings: &[Finding],
        plan: Option<&Plan>,
        prices: &Prices,
    ) -> Self {
        let findings: Vec<FindingRow> =
            findings.iter().map(|finding| finding_row(store, context, finding)).collect();
        let tally = |severity: Severity| {
            findings
                .iter()
                .filter(|finding| !finding.ignored && finding.severity == severity.as_str())
                .count()
        };
        let summary = Summary {
            digest: digest::of_store(store).to_string(),
            sources: store.sources().len(),
            files: store.files().len(),
            occurrences: store.occurrences().len(),
            certificates: store.certificates().len(),
            duplicates: store.occurrences().len() - store.certificates().len(),
            expired: store
                .certificates()
                .iter()
                .filter(|certificate| certificate.validity.at(context.now) == ValidityState::Expired)
                .count(),
            errors: tally(Severity::Error),
            warnings: tally(Severity::Warning),
            notices: tally(Severity::Notice),
            ignored: findings.iter().filter(|finding| finding.ignored).count(),
        };
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            command,
            now: rfc3339(context.now),
            labels: BTreeMap::new(),
            root: None,
            sources: source_rows(store),
            files: file_rows(store),
            certificates: store
                .certificate_ids()
                .map(|(id, _)| certificate_row(store, context, id))
                .collect(),
            links: link_rows(store),
            findings,
            readers: reader_rows(store),
            changes: plan.map(change_rows).unwrap_or_default(),
            contexts_per_day: prices.contexts_per_day,
            variables: variable_rows(prices),
            cost: cost_rows(store, context, prices),
            measure: None,
            summary,
        }
    }
}

fn variable_rows(prices: &Prices) -> Vec<VariableRow> {
    let readers = |name: &str| estimate::VARIABLES.iter().find(|(known, _)| *known == name);
    prices
        .variables
        .iter()
        .map(|(name, value)| VariableRow {
            name,
            value: value.clone(),
            read_by: readers(name).map_or("", |(_, readers)| readers),
        })
        .collect()
}

fn cost_rows(store: &Store, context: &Context, prices: &Prices) -> Vec<CostRow> {
    let rounded = |number: f64| (number * 1000.0).round() / 1000.0;
    estimate::loads(store, context)
        .into_iter()
        .map(|load| {
            let model = load.family.model(&prices.openssl);
            let milliseconds = rounded(model.milliseconds(load.certificates, load.distinct, load.files));
            let per = load.family.per();
            let release = prices.openssl.release.filter(|_| model == prices.openssl.model);
            CostRow {
                reader: model.library,
                family: load.family.name(),
                title: load.family.title(),
                layout: match load.layout {
                    Layout::Now => "now",
                    Layout::Compacted => "compacted",
                    Layout::Split => "split",
                },
                files: load.files,
                certificates: load.certificates,
                unique: load.distinct,
                sources: load.sources.iter().map(|id| id.0).collect(),
                on_demand: load.on_demand,
                per: match per {
                    Per::Context => "context",
                    Per::Connection => "connection",
                    Per::Process => "process",
                },
                estimate: EstimateRow {
                    model: model.to_string(),
                    version: release.map(|release| release.to_string()),
                    milliseconds,
                    seconds_per_day: prices
                        .contexts_per_day
                        .filter(|_| per != Per::Process)
                        .map(|number| rounded(milliseconds * number as f64 / 1000.0)),
                },
                measurement: None,
            }
        })
        .collect()
}

fn source_rows(store: &Store) -> Vec<SourceRow> {
    store
        .source_ids()
        .map(|(id, source)| {
            let path = Name::new(&source.path);
            let own: BTreeSet<CertificateId> =
                store.occurrences_of(id).map(|(_, occurrence)| occurrence.certificate).collect();
            SourceRow {
                id: id.0,
                path: path.text,
                path_bytes: path.bytes,
                kind: match source.kind {
                    SourceKind::CaFile => "bundle",
                    SourceKind::CaPath => "capath",
                    SourceKind::Directory => "directory",
                    SourceKind::Certificate => "certificate",
                    SourceKind::Pkcs7 => "pkcs7",
                    SourceKind::Keystore => "keystore",
                    SourceKind::Other => "other",
                },
                inside: source.inside.map(|directory| directory.0),
                certificates: store.occurrences_of(id).count(),
                unique: own.len(),
                reachable: match (source.kind, source.inside) {
                    (SourceKind::CaPath, _) => Some(store.reachable_count(id)),
                    (_, Some(directory)) if store.source(directory).kind == SourceKind::CaPath => Some(
                        own.iter().filter(|&&certificate| store.is_reachable(directory, certificate)).count(),
                    ),
                    _ => None,
                },
                only_here: only_here(store, id, &own),
                digest: digest::of_source(store, id).to_string(),
            }
        })
        .collect()
}

fn reader_rows(store: &Store) -> Vec<ReaderRow> {
    let mut rows = Vec::new();
    for (id, _) in store.source_ids() {
        for &reader in store.readers() {
            let Some(loads) = store.source_loads(id, reader) else { continue };
            rows.push(ReaderRow {
                reader: reader.name(),
                source: id.0,
                loads: loads.loads,
                of: loads.of,
                stopped_by: loads.refused.map(|(file, miss)| StopRow {
                    place: place_row(store, &Place::File { file, line: miss.line, offset: miss.offset }),
                    reason: miss.reason.to_string(),
                }),
            });
        }
    }
    rows
}

/// The readers that a finding is about.
fn stumbling(detail: &Detail) -> Vec<&'static str> {
    match detail {
        Detail::BundleRefused { readers, .. }
        | Detail::HiddenBlock { readers, .. }
        | Detail::Shadowed { readers, .. } => readers.iter().map(|reader| reader.name()).collect(),
        Detail::RefusedCertificate { by } | Detail::SkippedCertificate { by } => {
            by.iter().map(|(reader, _)| reader.name()).collect()
        }
        _ => Vec::new(),
    }
}

fn only_here(store: &Store, directory: SourceId, own: &BTreeSet<CertificateId>) -> Vec<String> {
    let mut bundles = store.bundles_inside(directory).peekable();
    if store.source(directory).kind != SourceKind::CaPath || bundles.peek().is_none() {
        return Vec::new();
    }
    let there: BTreeSet<CertificateId> = bundles
        .flat_map(|bundle| store.occurrences_of(bundle))
        .map(|(_, occurrence)| occurrence.certificate)
        .collect();
    own.difference(&there).map(|&id| store.certificate(id).fingerprint.to_string()).collect()
}

fn file_rows(store: &Store) -> Vec<FileRow> {
    store
        .files()
        .iter()
        .enumerate()
        .map(|(id, file)| {
            let names: Vec<Name> = file.names.iter().map(Name::new).collect();
            let path = Name::new(file.path());
            let odd = names.iter().any(|name| name.bytes.is_some());
            FileRow {
                id,
                source: file.source.0,
                path: path.text,
                path_bytes: path.bytes,
                names_bytes: odd.then(|| {
                    names
                        .iter()
                        .map(|name| name.bytes.clone().unwrap_or_else(|| STANDARD.encode(&name.text)))
                        .collect()
                }),
                names: names.into_iter().map(|name| name.text).collect(),
                bytes: file.bytes,
            }
        })
        .collect()
}

fn certificate_row(store: &Store, context: &Context, id: CertificateId) -> CertificateRow {
    let certificate = store.certificate(id);
    let fields = certificate.der.fields();
    let time = |time: Time| time.instant.map(rfc3339);
    let (key, signature, parse_error) = match certificate.facts() {
        Ok(facts) => (
            Some(KeyRow { algorithm: facts.key_algorithm.clone(), bits: facts.key_bits }),
            Some(facts.signature.clone()),
            None,
        ),
        Err(error) => (None, None, Some(error.to_string())),
    };
    CertificateRow {
        sha256: certificate.fingerprint.to_string(),
        subject: name::to_rfc2253(fields.subject),
        issuer: name::to_rfc2253(fields.issuer),
        serial: fields.serial_text(),
        not_before: time(certificate.validity.not_before),
        not_after: time(certificate.validity.not_after),
        validity: match certificate.validity.at(context.now) {
            ValidityState::Valid => "valid",
            ValidityState::Expired => "expired",
            ValidityState::NotYetValid => "not-yet-valid",
            ValidityState::Unknown => "unknown",
        },
        key,
        signature,
        ca: certificate.ca,
        self_issued: certificate.self_issued,
        subject_hash: certificate.subject_hash.map(|hash| format!("{hash:08x}")),
        subject_hash_old: format!("{:08x}", certificate.subject_hash_old),
        spki_sha256: certificate.spki.to_string(),
        parse_error,
        occurrences: certificate
            .occurrences
            .iter()
            .map(|&id| occurrence_row(store, store.occurrence(id)))
            .collect(),
    }
}

fn occurrence_row(store: &Store, occurrence: &Occurrence) -> OccurrenceRow {
    let file = store.file(occurrence.file);
    let path = Name::new(file.path());
    // The file's own directory, or the one that a CAfile lies in.
    let directories = [Some(file.source), store.source(file.source).inside];
    let reachable: Vec<_> = directories
        .into_iter()
        .flatten()
        .flat_map(|directory| store.reachable_as(directory, occurrence.certificate))
        .collect();
    OccurrenceRow {
        file: occurrence.file.0,
        path: path.text,
        path_bytes: path.bytes,
        line: occurrence.line,
        offset: occurrence.span.start,
        length: occurrence.span.len(),
        label: match occurrence.encoding {
            Encoding::Pem(label) => label.to_string(),
            Encoding::Der | Encoding::DerInPem => "DER".to_owned(),
            Encoding::Pkcs7 => "PKCS7".to_owned(),
        },
        trust: occurrence.trust.as_ref().map(trust_row),
        reachable_as: reachable
            .iter()
            .filter(|link| link.leads_to == Ok(occurrence.file))
            .map(|link| link.hash_link().to_string())
            .collect(),
    }
}

fn trust_row(trust: &TrustAttributes) -> TrustRow {
    TrustRow {
        trusted: trust.trusted(),
        rejected: trust.rejected(),
        alias: trust.alias().map(str::to_owned),
        rejects_server_auth: trust.rejects_server_auth(),
    }
}

fn link_rows(store: &Store) -> Vec<LinkRow> {
    store
        .links()
        .iter()
        .map(|link| {
            let capath = Name::new(&store.source(link.source).path);
            let target = link.target.as_ref().map(Name::new);
            let first = link.leads_to.as_ref().ok().and_then(|&file| store.occurrences_of_file(file).next());
            LinkRow {
                capath: capath.text,
                capath_bytes: capath.bytes,
                name: Name::new(&link.name).text,
                target_bytes: target.as_ref().and_then(|target| target.bytes.clone()),
                target: target.map(|target| target.text),
                sha256: first
                    .map(|(_, occurrence)| store.certificate(occurrence.certificate).fingerprint.to_string()),
                states: link.states.iter().map(|&state| state_word(state)).collect(),
            }
        })
        .collect()
}

fn state_word(state: LinkState) -> &'static str {
    match state {
        LinkState::Ok => "ok",
        LinkState::Dangling => "dangling",
        LinkState::Loop => "loop",
        LinkState::Unusable => "unusable",
        LinkState::WrongHash => "wrong-hash",
        LinkState::Gap => "gap",
        LinkState::Shadowed => "shadowed",
        LinkState::Case => "case",
        LinkState::Legacy => "legacy",
        LinkState::Outside => "outside",
        LinkState::ToBundle => "to-bundle",
        LinkState::Crl => "crl",
    }
}

fn finding_row(store: &Store, context: &Context, finding: &Finding) -> FindingRow {
    let rule = rules::find(finding.rule);
    FindingRow {
        id: finding.rule,
        severity: rule.map_or(Severity::Notice, |rule| rule.severity).as_str(),
        message: words::message(store, context, finding),
        help: rule.map_or("", |rule| rule.help),
        ignored: finding.ignored,
        sha256: finding.certificate.map(|id| store.certificate(id).fingerprint.to_string()),
        readers: stumbling(&finding.detail),
        occurrences: finding.places.iter().map(|place| place_row(store, place)).collect(),
    }
}

fn place_row(store: &Store, place: &Place) -> PlaceRow {
    let (path, line, offset) = match place {
        Place::Occurrence(id) => {
            let occurrence = store.occurrence(*id);
            (store.file(occurrence.file).path(), Some(occurrence.line), Some(occurrence.span.start))
        }
        Place::File { file, line, offset } => (store.file(*file).path(), Some(*line), Some(*offset)),
        Place::Path(path) => (path.as_path(), None, None),
        Place::Source(id) => (store.source(*id).path.as_path(), None, None),
    };
    let path = Name::new(path);
    PlaceRow { path: path.text, path_bytes: path.bytes, line, offset }
}

fn change_rows(plan: &Plan) -> Vec<ChangeRow> {
    plan.changes
        .iter()
        .map(|change| {
            let path = Name::new(&change.path);
            ChangeRow {
                action: change.action.as_str(),
                path: path.text,
                path_bytes: path.bytes,
                sha256: change.certificate.map(|fingerprint| fingerprint.to_string()),
                reason: change.reason.clone(),
            }
        })
        .collect()
}
