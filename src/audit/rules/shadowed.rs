//! `shadowed`: a twin with fewer rights that a library takes instead of a good certificate.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::same_subject;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity, Shadow};
use crate::audit::rule::Rule;
use crate::certificate::extensions;
use crate::certificate::validity::ValidityState;
use crate::openssl::name_hash;
use crate::readers::Reader;
use crate::store::model::{Certificate, CertificateId, OccurrenceId, Store};
use crate::store::source::{SourceId, SourceKind};

/// A twin with fewer rights that a library takes instead of a good certificate.
pub const RULE: Rule = Rule {
    id: "shadowed",
    severity: Severity::Warning,
    title: "a twin with fewer rights that a library takes instead of a good certificate",
    why: "Of two certificates of one subject and key OpenSSL takes the first, GnuTLS the last. Where that one is no CA, has a shorter path length or name constraints, or (to OpenSSL) was issued by one that the store lacks or is for other purposes, connections fail that the other would allow. A certificate in the CAfile also hides every other of its subject that only the CApath has.",
    example: "a CA's old certificate with pathlen:0 before its new one without: OpenSSL refuses every chain with an intermediate",
    help: "remove the twin that is named, or put the good one where that library looks first",
    source: "OpenSSL X509_STORE_CTX_get1_issuer (crypto/x509/x509_lu.c); GnuTLS verify-high.c; measured",
    check,
};

fn check(store: &Store, context: &Context, findings: &mut Vec<Finding>) {
    let groups = same_subject::groups(store);
    if groups.is_empty() {
        return;
    }
    let issuers = Issuers::of(store, context);
    let kind = |id: SourceId| store.source(id).kind;
    let directories: Vec<SourceId> =
        store.source_ids().map(|(id, _)| id).filter(|&id| kind(id) == SourceKind::CaPath).collect();
    let mut found: BTreeMap<SourceId, Vec<Finding>> = BTreeMap::new();
    for group in groups {
        let group: BTreeSet<CertificateId> = group.into_iter().collect();
        for (source, members) in sources(store, &directories, &group) {
            let findings = found.entry(source).or_default();
            let ordered = in_order(store, source, &members);
            let mut by_key: BTreeMap<_, Vec<CertificateId>> = BTreeMap::new();
            for &certificate in &ordered {
                by_key.entry(store.certificate(certificate).spki).or_default().push(certificate);
            }
            for twins in by_key.values().filter(|twins| twins.len() > 1) {
                twins_in_one_place(store, context, &issuers, source, twins, findings);
            }
            if store.source(source).kind == SourceKind::CaFile
                && let Some(directory) = store.source(source).inside
            {
                let file = (source, ordered.as_slice());
                hidden_by_the_file(store, context, &issuers, file, directory, &group, findings);
            }
        }
    }
    findings.extend(found.into_values().flatten());
}

/// The names of the valid CA certificates of a store.
struct Issuers(HashSet<Vec<u8>>);

impl Issuers {
    fn of(store: &Store, context: &Context) -> Self {
        let usable = |certificate: &&Certificate| {
            certificate.ca == Some(true) && certificate.validity.at(context.now) == ValidityState::Valid
        };
        let name = |certificate: &Certificate| name_hash::canonical(certificate.der.fields().subject);
        Self(store.certificates().iter().filter(usable).filter_map(name).collect())
    }

    /// Whether OpenSSL can end a chain at a certificate, or go on from it: it takes no certificate for an anchor that
    /// another one has issued, unless it is told to (X509_V_FLAG_PARTIAL_CHAIN).
    fn lead_on_from(&self, certificate: &Certificate) -> bool {
        certificate.self_issued
            || name_hash::canonical(certificate.der.fields().issuer)
                .is_some_and(|name| self.0.contains(&name))
    }
}

/// The sources in which some of these certificates stand, and the directories in which a look-up finds them.
fn sources(
    store: &Store,
    directories: &[SourceId],
    group: &BTreeSet<CertificateId>,
) -> BTreeMap<SourceId, BTreeSet<CertificateId>> {
    let mut out: BTreeMap<SourceId, BTreeSet<CertificateId>> = BTreeMap::new();
    for &certificate in group {
        for &occurrence in &store.certificate(certificate).occurrences {
            let file = store.file(store.occurrence(occurrence).file);
            out.entry(file.source).or_default().insert(certificate);
        }
        // What a link finds may lie anywhere.
        for &directory in directories {
            if store.is_reachable(directory, certificate) {
                out.entry(directory).or_default().insert(certificate);
            }
        }
    }
    out
}

/// Certificates that stand in a source, in the order in which it is searched.
fn in_order(store: &Store, id: SourceId, members: &BTreeSet<CertificateId>) -> Vec<CertificateId> {
    let mut out: Vec<(usize, CertificateId)> = members
        .iter()
        .filter_map(|&certificate| {
            let first = if store.source(id).kind == SourceKind::CaPath {
                let links = store.reachable_as(id, certificate);
                links.first()?.hash_link().number as usize
            } else {
                let occurrences = store.certificate(certificate).occurrences.iter();
                let mut own = occurrences.filter(|at| store.file(store.occurrence(**at).file).source == id);
                own.next()?.0
            };
            Some((first, certificate))
        })
        .collect();
    out.sort_unstable();
    out.into_iter().map(|(_, certificate)| certificate).collect()
}

fn twins_in_one_place(
    store: &Store,
    context: &Context,
    issuers: &Issuers,
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
    // Both pass over what is not valid now, where something valid stands beside it.
    let valid = || twins.iter().copied().filter(|&id| is_valid(store.certificate(id), context));
    let (Some(first), Some(last)) = (valid().next(), valid().next_back()) else { return };
    for (taken, by_openssl) in [(first, true), (last, false)] {
        let readers = asked(by_openssl);
        if readers.is_empty() {
            continue;
        }
        let issuers = by_openssl.then_some(issuers);
        let shadow = valid().filter(|&other| other != taken).find_map(|good| {
            let lacks = lacks(store.certificate(taken), store.certificate(good), issuers)?;
            Some((good, lacks))
        });
        if let Some((good, shadow)) = shadow {
            let places = places(store, source, taken);
            let detail = Detail::Shadowed { readers, good, shadow };
            findings.push(Finding::about(RULE.id, detail, taken, places));
        }
    }
}

/// Whether certificates below may take either for their issuer: they name its key by an identifier, and pass over the
/// one that has another.
fn are_alike(one: &Certificate, other: &Certificate) -> bool {
    let (one, other) = (one.der.fields(), other.der.fields());
    let identifiers = (extensions::subject_key_identifier(&one), extensions::subject_key_identifier(&other));
    !matches!(identifiers, (Some(one), Some(other)) if one != other)
}

fn is_valid(certificate: &Certificate, context: &Context) -> bool {
    certificate.validity.at(context.now) == ValidityState::Valid
}

/// What the certificate that is taken lacks of what another one gives; `None` where it lacks nothing. Both are valid.
/// `issuers`: those that OpenSSL asks for; GnuTLS takes what another has issued for an anchor as well.
fn lacks(taken: &Certificate, good: &Certificate, issuers: Option<&Issuers>) -> Option<Shadow> {
    if good.ca != Some(true) || issuers.is_some_and(|issuers| !issuers.lead_on_from(good)) {
        return None;
    }
    let (taken_fields, good_fields) = (taken.der.fields(), good.der.fields());
    if !are_alike(taken, good) {
        return None;
    }
    // GnuTLS takes an anchor without basic constraints for a CA.
    let asked = issuers.is_some() || extensions::has_basic_constraints(&taken_fields);
    if taken.ca == Some(false) && asked {
        return Some(Shadow::NotACa);
    }
    if let Some(issuers) = issuers {
        if !issuers.lead_on_from(taken) {
            return Some(Shadow::NoIssuer);
        }
        let serves = extensions::may_stand_above_servers;
        if !serves(&taken_fields) && serves(&good_fields) {
            return Some(Shadow::OtherPurposes);
        }
    }
    let (taken, good) = (extensions::limits(&taken_fields), extensions::limits(&good_fields));
    match (taken.path_length, good.path_length) {
        (Some(short), long) if long.is_none_or(|long| short < long) => {
            return Some(Shadow::PathLength(short));
        }
        _ => {}
    }
    let constrained = taken.name_constraints.is_some() && taken.name_constraints != good.name_constraints;
    constrained.then_some(Shadow::NameConstraints)
}

/// OpenSSL asks the directory only for subjects that no certificate of the CAfile has. `file`: the CAfile, and those of
/// the group that stand in it, in order.
fn hidden_by_the_file(
    store: &Store,
    context: &Context,
    issuers: &Issuers,
    (source, file): (SourceId, &[CertificateId]),
    directory: SourceId,
    group: &BTreeSet<CertificateId>,
    findings: &mut Vec<Finding>,
) {
    let readers: Vec<Reader> =
        store.readers().iter().copied().filter(|reader| matches!(reader, Reader::OpenSsl(_))).collect();
    let (false, Some(&first)) = (readers.is_empty(), file.first()) else { return };
    let in_file: BTreeSet<CertificateId> = file.iter().copied().collect();
    // Of each key the one that is taken.
    let mut by_key = HashMap::new();
    for &id in file {
        let twin = store.certificate(id);
        if is_valid(twin, context) {
            by_key.entry(twin.spki).or_insert(id);
        }
    }
    for &good in group {
        let certificate = store.certificate(good);
        let usable = certificate.ca == Some(true) && is_valid(certificate, context);
        if !usable || in_file.contains(&good) || !store.is_reachable(directory, good) {
            continue;
        }
        // One of the same key that gives all that the other would is as good.
        let taken = by_key.get(&certificate.spki).copied();
        let does = |id: CertificateId| {
            let twin = store.certificate(id);
            are_alike(twin, certificate) && lacks(twin, certificate, Some(issuers)).is_none()
        };
        if taken.is_some_and(does) {
            continue;
        }
        let detail = Detail::Shadowed { readers: readers.clone(), good, shadow: Shadow::OnlyInDirectory };
        let taken = taken.unwrap_or(first);
        findings.push(Finding::about(RULE.id, detail, taken, places(store, source, taken)));
    }
}

fn places(store: &Store, source: SourceId, certificate: CertificateId) -> Vec<Place> {
    let own = |id: &&OccurrenceId| store.file(store.occurrence(**id).file).source == source;
    store.certificate(certificate).occurrences.iter().filter(own).copied().map(Place::Occurrence).collect()
}
