//! What `measure` tells: rows for machines, made of samples.

use std::ffi::{OsStr, OsString};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;

use crate::cost::measure::{KeyTimes, LibraryFound, Measured, PlaceTimes};
use crate::cost::timing::{self, Comparison, Sample, Statistics};
use crate::escape::path_text;

/// A measurement. Never an estimate: those stand in a report's `cost`.
#[derive(Debug, Clone, Serialize)]
pub struct MeasureRow {
    /// By which library.
    pub library: LibraryRow,
    /// What was measured, in the order in which it was named; that of `--vs` is the last.
    pub stores: Vec<MeasuredRow>,
    /// Every other store against that of `--vs`.
    pub comparisons: Vec<ComparisonRow>,
    /// The private key of `--key`.
    pub key: Option<KeyTimesRow>,
}

/// A library.
#[derive(Debug, Clone, Serialize)]
pub struct LibraryRow {
    /// As it names itself.
    pub version: String,
    /// The file of libssl.
    pub libssl: String,
    /// The file of libcrypto.
    pub libcrypto: Option<String>,
}

/// A store that was measured.
#[derive(Debug, Clone, Serialize)]
pub struct MeasuredRow {
    /// As it was named; `null` for what OpenSSL would use.
    pub path: Option<String>,
    /// The path's bytes in base64, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
    /// The CAfile that each context loaded.
    pub cafile: Option<String>,
    /// Its bytes, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cafile_bytes: Option<String>,
    /// The CApath, or several with colons.
    pub capath: Option<String>,
    /// Its bytes, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capath_bytes: Option<String>,
    /// Certificates in memory after that, each once; `null` where the library cannot say.
    pub certificates: Option<usize>,
    /// Certificates in the CAfile, one a block.
    pub blocks: Option<usize>,
    /// Making a context, loading, freeing.
    pub context: TimesRow,
    /// The first look-up of a subject in it; `null` where there was none.
    pub look_up: Option<TimesRow>,
}

/// A series of runs. Milliseconds of CPU time, unless said otherwise.
#[derive(Debug, Clone, Serialize)]
pub struct TimesRow {
    /// How many.
    pub runs: usize,
    /// The least.
    pub min_ms: f64,
    /// The median.
    pub median_ms: f64,
    /// The interquartile range.
    pub spread_ms: f64,
    /// The median of the time that passed.
    pub wall_median_ms: f64,
}

/// One store against another, a context with its first look-up.
#[derive(Debug, Clone, Serialize)]
pub struct ComparisonRow {
    /// The place of the one in `stores`.
    pub store: usize,
    /// The place of that of `--vs`.
    pub vs: usize,
    /// How many pairs of runs.
    pub pairs: usize,
    /// CPU time of `vs` by that of `store`.
    pub ratio: f64,
    /// The interval that holds the true median of ratios.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// How surely: 0.99.
    pub confidence: f64,
    /// The share below which a change is called noise: 0.03.
    pub threshold: f64,
    /// `faster`, `slower`, `within-noise`, `too-few-runs`: what `vs` is.
    pub verdict: &'static str,
}

/// What was measured of a layout of which a report gives an estimate: one context.
#[derive(Debug, Clone, Serialize)]
pub struct MeasurementRow {
    /// The library, as it names itself.
    pub library: String,
    /// What its times were.
    #[serde(flatten)]
    pub times: TimesRow,
}

impl MeasurementRow {
    /// Of one place that was measured.
    #[must_use]
    pub fn of(library: &LibraryFound, place: &PlaceTimes) -> Option<Self> {
        Some(Self { library: library.version.clone(), times: times_row(&place.context)? })
    }
}

/// A private key that was measured.
#[derive(Debug, Clone, Serialize)]
pub struct KeyTimesRow {
    /// Its file.
    pub path: String,
    /// The path's bytes in base64, where it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
    /// Opening the file and loading the key.
    pub load: TimesRow,
    /// Loading and checking; `null` where that fails, or the library cannot check such a key.
    pub load_and_check: Option<TimesRow>,
    /// Whether the check finds the key sound; `null` where it cannot be checked.
    pub sound: Option<bool>,
    /// What the check has against it.
    pub fault: Option<String>,
}

/// What was measured, by its names.
#[derive(Debug, Clone, Default)]
pub struct Named {
    /// As it was named.
    pub path: Option<OsString>,
    /// The CAfile.
    pub cafile: Option<OsString>,
    /// The CApath.
    pub capath: Option<OsString>,
    /// Certificates in the CAfile, one a block.
    pub blocks: Option<usize>,
}

impl MeasureRow {
    /// Of a measurement and the names of what was measured, in the same order; `vs`: the last is compared with each.
    #[must_use]
    pub fn new(measured: &Measured, named: &[Named], key: Option<&OsStr>, vs: bool) -> Self {
        let stores: Vec<MeasuredRow> =
            named.iter().zip(&measured.places).filter_map(|(named, times)| store_row(named, times)).collect();
        let comparisons = match measured.places.split_last() {
            Some((other, ones)) if vs => ones
                .iter()
                .enumerate()
                .filter_map(|(index, one)| {
                    let comparison = Comparison::of(&one.totals(), &other.totals())?;
                    Some(comparison_row(index, ones.len(), &comparison))
                })
                .collect(),
            _ => Vec::new(),
        };
        let key = key.zip(measured.key.as_ref()).and_then(|(path, times)| key_row(path, times));
        Self { library: library_row(&measured.library), stores, comparisons, key }
    }
}

fn library_row(library: &LibraryFound) -> LibraryRow {
    LibraryRow {
        version: library.version.clone(),
        libssl: path_text(&library.libssl).0,
        libcrypto: library.libcrypto.as_ref().map(|path| path_text(path).0),
    }
}

fn store_row(named: &Named, times: &PlaceTimes) -> Option<MeasuredRow> {
    let text = |path: &Option<OsString>| path.as_ref().map_or((None, None), |path| name(path));
    let (path, path_bytes) = text(&named.path);
    let (cafile, cafile_bytes) = text(&named.cafile);
    let (capath, capath_bytes) = text(&named.capath);
    Some(MeasuredRow {
        path,
        path_bytes,
        cafile,
        cafile_bytes,
        capath,
        capath_bytes,
        certificates: times.certificates,
        blocks: named.blocks,
        context: times_row(&times.context)?,
        look_up: times.look_up.as_deref().and_then(times_row),
    })
}

/// A name, and its bytes in base64 where it is not UTF-8.
fn name(path: &OsStr) -> (Option<String>, Option<String>) {
    let (text, bytes) = path_text(path);
    (Some(text), bytes.map(|bytes| STANDARD.encode(bytes)))
}

fn times_row(samples: &[Sample]) -> Option<TimesRow> {
    let statistics = Statistics::of(samples)?;
    Some(TimesRow {
        runs: statistics.runs,
        min_ms: rounded(statistics.min_ms, 6),
        median_ms: rounded(statistics.median_ms, 6),
        spread_ms: rounded(statistics.spread_ms, 6),
        wall_median_ms: rounded(statistics.wall_median_ms, 6),
    })
}

fn comparison_row(store: usize, vs: usize, comparison: &Comparison) -> ComparisonRow {
    ComparisonRow {
        store,
        vs,
        pairs: comparison.pairs,
        ratio: rounded(comparison.ratio, 4),
        low: rounded(comparison.low, 4),
        high: rounded(comparison.high, 4),
        confidence: timing::CONFIDENCE,
        threshold: timing::NOTICEABLE,
        verdict: comparison.verdict.as_str(),
    }
}

fn key_row(path: &OsStr, times: &KeyTimes) -> Option<KeyTimesRow> {
    let load_and_check = times.checked.as_deref().and_then(times_row);
    let (path, path_bytes) = name(path);
    Some(KeyTimesRow {
        path: path?,
        path_bytes,
        load: times_row(&times.load)?,
        sound: if times.fault.is_some() { Some(false) } else { load_and_check.as_ref().map(|_| true) },
        load_and_check,
        fault: times.fault.clone(),
    })
}

/// Digits beyond what a clock can tell say nothing.
fn rounded(value: f64, digits: i32) -> f64 {
    let unit = 10_f64.powi(digits);
    (value * unit).round() / unit
}
