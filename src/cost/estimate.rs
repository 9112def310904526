//! Estimates: a model of a library's cost, never a measurement.

use std::collections::BTreeSet;

use crate::audit::Context;
use crate::audit::rules::eager_and_on_demand::defaults_lead_to_both;
use crate::certificate::validity::ValidityState;
use crate::readers::Reader;
use crate::store::model::Store;
use crate::store::source::{SourceId, SourceKind};

/// What a library pays for one context that loads `n` certificates: `base + n * slope`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// The library and its version, as reports name it.
    pub reader: &'static str,
    /// The model in words.
    pub name: &'static str,
    /// Milliseconds without a certificate.
    pub base: f64,
    /// Milliseconds a certificate.
    pub slope: f64,
}

/// OpenSSL 3.0: CPU time of a context on the machine of the first measurements (Debian 12, 3.0.19; 143 certificates
/// 24 ms, none 0.2 ms).
pub const OPENSSL_3_0: Model =
    Model { reader: "openssl-3.0", name: "0.15 + 0.166 n ms with OpenSSL 3.0", base: 0.15, slope: 0.166 };

impl Model {
    /// Milliseconds for one context that parses `certificates`.
    #[must_use]
    pub fn milliseconds(&self, certificates: usize) -> f64 {
        self.base + self.slope * certificates as f64
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

/// What one context of OpenSSL's defaults parses before its first handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Eager {
    /// The layout.
    pub layout: Layout,
    /// Files opened.
    pub files: usize,
    /// PEM blocks parsed, duplicates included.
    pub certificates: usize,
}

/// What a context parses now, after `compact`, and after the split layout (where that would lose nothing).
///
/// A context is taken to load every CAfile that was named, and of a directory with a CAfile inside both; empty where
/// there is nothing to load, and where OpenSSL refuses one of the files: then there is no context.
#[must_use]
pub fn eager(store: &Store, context: &Context) -> Vec<Eager> {
    let mut eager = BTreeSet::new();
    let mut splits = true;
    let mut directories = 0;
    for (id, source) in store.source_ids() {
        match source.kind {
            SourceKind::CaFile | SourceKind::Certificate if source.named => {
                eager.insert(id);
                splits &= source.inside.is_some_and(|directory| covers(store, directory, id));
            }
            SourceKind::CaPath => {
                directories += 1;
                // One file is OpenSSL's default; several names of bundles in one directory are rare.
                if let Some(bundle) = store.bundles_inside(id).next()
                    && defaults_lead_to_both(store, context, id, bundle)
                {
                    eager.insert(bundle);
                    splits &= covers(store, id, bundle);
                }
            }
            SourceKind::Directory => eager.extend(store.bundles_inside(id).take(1)),
            _ => {}
        }
    }
    if eager.is_empty() && directories == 0 {
        return Vec::new();
    }
    let openssl = store.readers().iter().copied().find(|reader| matches!(reader, Reader::OpenSsl(_)));
    let refused = |reader: Reader, id: SourceId| {
        store.files_of(id).any(|(file, _)| store.file_loads(file, reader).refused.is_some())
    };
    if openssl.is_some_and(|reader| eager.iter().any(|&id| refused(reader, id))) {
        return Vec::new();
    }
    let files = eager.len();
    let occurrences =
        || eager.iter().flat_map(|&id| store.occurrences_of(id)).map(|(_, occurrence)| occurrence);
    let kept: BTreeSet<_> = occurrences()
        .map(|occurrence| occurrence.certificate)
        .filter(|&id| store.certificate(id).validity.at(context.now) != ValidityState::Expired)
        .collect();
    let mut out = vec![Eager { layout: Layout::Now, files, certificates: occurrences().count() }];
    if files > 0 {
        out.push(Eager { layout: Layout::Compacted, files: 1, certificates: kept.len() });
        if splits && directories > 0 {
            out.push(Eager { layout: Layout::Split, files: 0, certificates: 0 });
        }
    }
    out
}

/// Whether every certificate of a CAfile is found by hash in the directory.
fn covers(store: &Store, directory: SourceId, bundle: SourceId) -> bool {
    store.occurrences_of(bundle).all(|(_, occurrence)| store.is_reachable(directory, occurrence.certificate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_near_the_first_measurements() {
        // Debian 12, OpenSSL 3.0.19: 24.1 ms for 143 certificates, 0.206 ms for none.
        assert!((OPENSSL_3_0.milliseconds(143) - 24.1).abs() < 2.0);
        assert!((OPENSSL_3_0.milliseconds(0) - 0.206).abs() < 0.1);
    }
}
