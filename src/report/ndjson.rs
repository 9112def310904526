//! A report as rows: one JSON object a line and occurrence, for fleets. Blocks that cannot be read are rows too.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use serde::Serialize;

use super::json;
use super::model::{CertificateRow, OccurrenceRow, Report, TrustRow};

/// The name of this form of row. Fields are added, never renamed.
pub const SCHEMA: &str = "castore.occurrence/1";

/// One certificate at one place, or a block that gives none. The names are those of the report.
#[derive(Debug, Serialize)]
struct Row<'a> {
    schema: &'static str,
    version: &'a str,
    now: &'a str,
    labels: &'a BTreeMap<String, String>,
    source: Option<&'a str>,
    kind: Option<&'a str>,
    digest: Option<&'a str>,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<&'a str>,
    path_in_source: &'a str,
    line: Option<usize>,
    offset: Option<usize>,
    length: Option<usize>,
    label: Option<&'a str>,
    sha256: Option<&'a str>,
    dup_of: Option<String>,
    subject: Option<&'a str>,
    issuer: Option<&'a str>,
    serial: Option<&'a str>,
    not_before: Option<&'a str>,
    not_after: Option<&'a str>,
    validity: Option<&'a str>,
    key_algorithm: Option<&'a str>,
    key_bits: Option<u32>,
    signature: Option<&'a str>,
    ca: Option<bool>,
    self_issued: Option<bool>,
    subject_hash: Option<&'a str>,
    subject_hash_old: Option<&'a str>,
    spki_sha256: Option<&'a str>,
    trust: Option<&'a TrustRow>,
    reachable_as: &'a [String],
    parse_error: Option<&'a str>,
    /// What is wrong with a block that gives no certificate.
    block_error: Option<&'a str>,
}

/// Writes the rows: occurrences in the order of the files, then the blocks that give no certificate.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let mut occurrences: Vec<(&CertificateRow, &OccurrenceRow)> = report
        .certificates
        .iter()
        .flat_map(|certificate| {
            certificate.occurrences.iter().map(move |occurrence| (certificate, occurrence))
        })
        .collect();
    occurrences.sort_by_key(|(_, occurrence)| (occurrence.file, occurrence.offset));
    // Same certificate and same trust: a copy of the first one.
    let mut first: HashMap<(&str, Option<&TrustRow>), String> = HashMap::new();
    for (certificate, occurrence) in occurrences {
        let place = format!("{}:{}", occurrence.path, occurrence.line);
        let key = (certificate.sha256.as_str(), occurrence.trust.as_ref());
        let dup_of = first.get(&key).cloned();
        first.entry(key).or_insert(place);
        let mut row =
            place_row(report, &occurrence.path, report.files.get(occurrence.file).map(|file| file.source));
        row.path_bytes = occurrence.path_bytes.as_deref();
        row.line = Some(occurrence.line);
        row.offset = Some(occurrence.offset);
        row.length = Some(occurrence.length);
        row.label = Some(&occurrence.label);
        row.dup_of = dup_of;
        row.trust = occurrence.trust.as_ref();
        row.reachable_as = &occurrence.reachable_as;
        describe(&mut row, certificate);
        write_row(&row, out)?;
    }
    let sources: HashMap<&str, usize> =
        report.files.iter().map(|file| (file.path.as_str(), file.source)).collect();
    let unread = ["malformed-block", "malformed-certificate"];
    for finding in
        report.findings.iter().filter(|finding| unread.contains(&finding.id) && finding.sha256.is_none())
    {
        for place in &finding.occurrences {
            let mut row = place_row(report, &place.path, sources.get(place.path.as_str()).copied());
            row.path_bytes = place.path_bytes.as_deref();
            row.line = place.line;
            row.offset = place.offset;
            row.block_error = Some(&finding.message);
            write_row(&row, out)?;
        }
    }
    Ok(())
}

fn write_row(row: &Row<'_>, out: &mut dyn Write) -> io::Result<()> {
    json::compact(row, out)?;
    out.write_all(b"\n")
}

/// A row that knows its place alone.
fn place_row<'a>(report: &'a Report, path: &'a str, source: Option<usize>) -> Row<'a> {
    let source = source.and_then(|id| report.sources.get(id));
    let top = source.and_then(|source| match source.inside {
        Some(directory) => report.sources.get(directory),
        None => Some(source),
    });
    let inside =
        top.and_then(|top| path.strip_prefix(top.path.as_str())).map(|rest| rest.trim_start_matches('/'));
    let name = path.rsplit('/').next().unwrap_or(path);
    Row {
        schema: SCHEMA,
        version: report.version,
        now: &report.now,
        labels: &report.labels,
        source: source.map(|source| source.path.as_str()),
        kind: source.map(|source| source.kind),
        digest: source.map(|source| source.digest.as_str()),
        path,
        path_bytes: None,
        path_in_source: inside.filter(|rest| !rest.is_empty()).unwrap_or(name),
        line: None,
        offset: None,
        length: None,
        label: None,
        sha256: None,
        dup_of: None,
        subject: None,
        issuer: None,
        serial: None,
        not_before: None,
        not_after: None,
        validity: None,
        key_algorithm: None,
        key_bits: None,
        signature: None,
        ca: None,
        self_issued: None,
        subject_hash: None,
        subject_hash_old: None,
        spki_sha256: None,
        trust: None,
        reachable_as: &[],
        parse_error: None,
        block_error: None,
    }
}

fn describe<'a>(row: &mut Row<'a>, certificate: &'a CertificateRow) {
    row.sha256 = Some(&certificate.sha256);
    row.subject = Some(&certificate.subject);
    row.issuer = Some(&certificate.issuer);
    row.serial = Some(&certificate.serial);
    row.not_before = certificate.not_before.as_deref();
    row.not_after = certificate.not_after.as_deref();
    row.validity = Some(certificate.validity);
    row.key_algorithm = certificate.key.as_ref().map(|key| key.algorithm.as_str());
    row.key_bits = certificate.key.as_ref().and_then(|key| key.bits);
    row.signature = certificate.signature.as_deref();
    row.ca = certificate.ca;
    row.self_issued = Some(certificate.self_issued);
    row.subject_hash = certificate.subject_hash.as_deref();
    row.subject_hash_old = Some(&certificate.subject_hash_old);
    row.spki_sha256 = Some(&certificate.spki_sha256);
    row.parse_error = certificate.parse_error.as_deref();
}
