//! `shadowed`: a twin with fewer rights that a library takes instead of a good certificate.

use std::collections::{BTreeMap, BTreeSet};

use super::same_subject;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity, Shadow};
use crate::audit::rule::Rule;
use crate::certificate::extensions;
use crate::certificate::validity::ValidityState;
use crate::readers::Reader;
use crate::store::model::{Certificate, CertificateId, OccurrenceId, Store};
use crate::store::source::{SourceId, SourceKind};

/// A twin with fewer rights that a library takes instead of a good certificate.
pub const RULE: Rule = Rule {
    id: "shadowed",
    severity: Severity::Warning,
    title: "a twin with fewer rights that a library takes instead of a good certificate",
    why: "Of two certificates of one subject and key OpenSSL takes the first, GnuTLS the last. Where that one is no CA, or has a shorter path length or name constraints, connections fail that the other would allow. A certificate in the CAfile also hides every other of its subject that only the CApath has.",
    example: "a CA's old certificate with pathlen:0 before its new one without: OpenSSL refuses every chain with an intermediate",
    help: "remove the twin that is named, or put the good one where that library looks first",
    source: "OpenSSL X509_STORE_CTX_get1_issuer (crypto/x509/x509_lu.c); GnuTLS verify-high.c; measured",
    check,
};

fn check(store: &Store, context: &Context, findings: &mut Vec<Finding>) {
    let groups = same_subject::groups(store);
    for (id, source) in store.source_ids() {
        for group in &groups {
            let mut by_key: BTreeMap<_, Vec<CertificateId>> = BTreeMap::new();
            for certificate in in_order(store, id, group) {
                by_key.entry(store.certificate(certificate).spki).or_default().push(certificate);
            }
            for twins in by_key.values().filter(|twins| twins.len() > 1) {
                twins_in_one_place(store, context, id, twins, findings);
            }
        }
        if source.kind == SourceKind::CaFile
            && let Some(directory) = source.inside
        {
            for group in &groups {
                hidden_by_the_file(store, context, id, directory, group, findings);
            }
        }
    }
}

/// The certificates of a group that stand in a source, in the order in which it is searched.
fn in_order(store: &Store, id: SourceId, group: &[CertificateId]) -> Vec<CertificateId> {
    let mut out: Vec<CertificateId> = Vec::new();
    let mut add = |certificate: CertificateId| {
        if group.contains(&certificate) && !out.contains(&certificate) {
            out.push(certificate);
        }
    };
    if store.source(id).kind == SourceKind::CaPath {
        let mut numbered: Vec<(u32, CertificateId)> = group
            .iter()
            .filter_map(|&certificate| {
                let number = store.reachable_as(id, certificate).first()?.hash_link().number;
                Some((number, certificate))
            })
            .collect();
        numbered.sort_unstable();
        numbered.into_iter().for_each(|(_, certificate)| add(certificate));
    } else {
        let mut mine: Vec<OccurrenceId> = group
            .iter()
            .flat_map(|&certificate| store.certificate(certificate).occurrences.iter().copied())
            .filter(|&occurrence| store.file(store.occurrence(occurrence).file).source == id)
            .collect();
        mine.sort_unstable();
        mine.into_iter().for_each(|occurrence| add(store.occurrence(occurrence).certificate));
    }
    out
}

fn twins_in_one_place(
    store: &Store,
    context: &Context,
    source: SourceId,
    twins: &[CertificateId],
    findings: &mut Vec<Finding>,
) {
    let asked = |first: bool| -> Vec<Reader> {
        let takes = |reader: &&Reader| match reader {
            Reader::OpenSsl(_) => first,
            // In a directory its order is that of the file system.
            Reader::GnuTls => !first && store.source(source).kind != SourceKind::CaPath,
            _ => false,
        };
        store.readers().iter().filter(takes).copied().collect()
    };
    let (Some(&first), Some(&last)) = (twins.first(), twins.last()) else { return };
    for (taken, readers) in [(first, asked(true)), (last, asked(false))] {
        if readers.is_empty() {
            continue;
        }
        let shadow = twins.iter().filter(|&&other| other != taken).find_map(|&good| {
            let lacks = lacks(store.certificate(taken), store.certificate(good), context)?;
            Some((good, lacks))
        });
        if let Some((good, shadow)) = shadow {
            let places = places(store, source, taken);
            let detail = Detail::Shadowed { readers, good, shadow };
            findings.push(Finding::about(RULE.id, detail, taken, places));
        }
    }
}

/// What the certificate that is taken lacks of what another one gives; `None` where it lacks nothing.
///
/// An expired twin is passed over where a valid one stands beside it.
fn lacks(taken: &Certificate, good: &Certificate, context: &Context) -> Option<Shadow> {
    let valid = |certificate: &Certificate| certificate.validity.at(context.now) == ValidityState::Valid;
    if !valid(taken) || !valid(good) || good.ca != Some(true) {
        return None;
    }
    if taken.ca == Some(false) {
        return Some(Shadow::NotACa);
    }
    let (taken, good) = (taken.der.fields(), good.der.fields());
    let (taken, good) = (extensions::limits(&taken), extensions::limits(&good));
    match (taken.path_length, good.path_length) {
        (Some(short), long) if long.is_none_or(|long| short < long) => {
            return Some(Shadow::PathLength(short));
        }
        _ => {}
    }
    let constrained = taken.name_constraints.is_some() && taken.name_constraints != good.name_constraints;
    constrained.then_some(Shadow::NameConstraints)
}

/// OpenSSL asks the directory only for subjects that no certificate of the CAfile has.
fn hidden_by_the_file(
    store: &Store,
    context: &Context,
    file: SourceId,
    directory: SourceId,
    group: &[CertificateId],
    findings: &mut Vec<Finding>,
) {
    let readers: Vec<Reader> =
        store.readers().iter().copied().filter(|reader| matches!(reader, Reader::OpenSsl(_))).collect();
    let in_file: BTreeSet<CertificateId> = in_order(store, file, group).into_iter().collect();
    let (false, Some(&taken)) = (readers.is_empty(), in_file.first()) else { return };
    for &good in group {
        let certificate = store.certificate(good);
        let usable =
            certificate.ca == Some(true) && certificate.validity.at(context.now) == ValidityState::Valid;
        if usable && !in_file.contains(&good) && store.is_reachable(directory, good) {
            let detail = Detail::Shadowed { readers: readers.clone(), good, shadow: Shadow::OnlyInDirectory };
            findings.push(Finding::about(RULE.id, detail, taken, places(store, file, taken)));
        }
    }
}

fn places(store: &Store, source: SourceId, certificate: CertificateId) -> Vec<Place> {
    let own = |id: &&OccurrenceId| store.file(store.occurrence(**id).file).source == source;
    store.certificate(certificate).occurrences.iter().filter(own).copied().map(Place::Occurrence).collect()
}
