//! `duplicate-across`: the same certificate in several files.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{CertificateId, OccurrenceId, Store};
use crate::store::source::SourceId;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The same certificate in several files.
pub const RULE: Rule = Rule {
    id: "duplicate-across",
    severity: Severity::Warning,
    title: "the same certificate in several files",
    why: "Readers of whole directories (GnuTLS, Go, rustls) parse it once a file.",
    example: "rd-0.pem, rd-1.pem, rd-2.pem: one more copy at each start of a service",
    help: "keep one file of each: castore compact PATH... --capath NEW",
    source: "measured: libcurl-gnutls and git parse every file and every name of a directory",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    // The source whose file repeats a certificate, and where.
    let mut repeated: BTreeMap<SourceId, (BTreeSet<CertificateId>, Vec<OccurrenceId>)> = BTreeMap::new();
    for (id, certificate) in store.certificate_ids() {
        if certificate.occurrences.len() < 2 {
            continue;
        }
        // One place for each file and trust: copies inside a file are another rule's.
        let mut earlier: Vec<OccurrenceId> = Vec::new();
        let mut known = HashSet::new();
        for &later in &certificate.occurrences {
            if earlier.iter().any(|&place| repeats(store, place, later)) {
                let source = store.file(store.occurrence(later).file).source;
                let entry = repeated.entry(source).or_default();
                entry.0.insert(id);
                entry.1.push(later);
            }
            let place = store.occurrence(later);
            if known.insert((place.file, &place.trust)) {
                earlier.push(later);
            }
        }
    }
    for (source, (certificates, mut places)) in repeated {
        places.sort_unstable();
        findings.push(Finding::at(
            RULE.id,
            Detail::DuplicateAcross { source, certificates: certificates.len() },
            places.into_iter().map(Place::Occurrence).collect(),
        ));
    }
}

/// Whether two occurrences are copies in different files, of which neither is the CAfile beside the other's directory.
fn repeats(store: &Store, earlier: OccurrenceId, later: OccurrenceId) -> bool {
    let (a, b) = (store.occurrence(earlier), store.occurrence(later));
    if a.file == b.file || a.trust != b.trust {
        return false;
    }
    let (first, second) = (store.file(a.file).source, store.file(b.file).source);
    let beside = |bundle: SourceId, member| {
        store
            .source(bundle)
            .inside
            .is_some_and(|directory| store.lies_in(member, directory) && bundle != store.file(member).source)
    };
    !beside(first, b.file) && !beside(second, a.file)
}
