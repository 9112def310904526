//! `compact`: which certificates go into a bundle and a CApath, and which not, each with its reason.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::links::{self, Current, Stale, Wanted, Wish};
use super::policy::{
    CommentPolicy, ExpiredPolicy, GainPolicy, MalformedPolicy, NotCaPolicy, Order, OutputLinks, Policy,
    PrunePolicy, Removal, TrustPolicy, UnmatchedRemoval, UnreachablePolicy,
};
use super::{Action, Plan, Step, rehash};
use crate::audit::Context;
use crate::certificate::fingerprint::Fingerprint;
use crate::certificate::name;
use crate::certificate::trust::TrustAttributes;
use crate::certificate::validity::ValidityState;
use crate::certificate::{CertificateDer, fields::Fields};
use crate::error::Refusal;
use crate::escape::{is_unsafe, visible, visible_path};
use crate::openssl::hash_link::{LinkKind, LinkName};
use crate::openssl::name_hash::{self, HashStyle};
use crate::pem::encode::encode;
use crate::pem::label::Label;
use crate::readers::Reader;
use crate::readers::reading::Reason;
use crate::store::content::{Distrust, Encoding, OtherBlock, OtherKind};
use crate::store::model::{
    Certificate, CertificateId, FileId, Link, LinkState, Occurrence, OccurrenceId, Store,
};
use crate::store::source::{SourceId, SourceKind};
use crate::wording::{block_defects, block_place, called, called_by, count, defect, refusals};

/// Where the result goes, and what is there already.
#[derive(Debug, Default)]
pub struct Outputs<'a> {
    /// The bundle, its path with links followed.
    pub bundle: Option<BundleOutput>,
    /// The directory.
    pub capath: Option<CapathOutput<'a>>,
}

/// A bundle to write.
#[derive(Debug)]
pub struct BundleOutput {
    /// Where.
    pub path: PathBuf,
    /// The bytes that are there.
    pub existing: Option<Vec<u8>>,
}

/// A directory to write.
#[derive(Debug)]
pub struct CapathOutput<'a> {
    /// Where.
    pub path: PathBuf,
    /// What is there: a store whose first source is the directory.
    pub existing: Option<&'a Store>,
}

/// A certificate that goes in.
#[derive(Debug, Clone)]
struct Selected {
    fingerprint: Fingerprint,
    der: CertificateDer<'static>,
    /// Written as a TRUSTED block with these attributes.
    trust: Option<TrustAttributes>,
    /// The comment lines before the block it was taken from.
    comment: Option<String>,
    /// Whether it goes into a bundle: a leaf that stands in a CApath alone does not.
    bundle: bool,
}

/// Plans the outputs.
///
/// # Errors
/// Every [`Refusal`]; then nothing is to be written.
pub fn compact(
    store: &Store,
    context: &Context,
    policy: &Policy,
    outputs: &Outputs<'_>,
) -> Result<Plan, Refusal> {
    let unreadable: Vec<String> = rehash::unreadable(store).map(|(_, text)| text).collect();
    if !unreadable.is_empty() {
        return Err(Refusal::Unreadable { places: unreadable });
    }
    let mut plan = Plan::default();
    for (id, source) in store.source_ids().filter(|(_, source)| source.named) {
        let is_file = matches!(source.kind, SourceKind::Other | SourceKind::Keystore);
        if is_file && store.files_of(id).all(|(_, file)| file.occurrences.is_empty()) {
            plan.notes.push(format!("{} gives no certificate", visible_path(&source.path)));
        }
    }
    // What policy drops is named; what no look-up finds is not.
    let (mut selected, named) = Selection::new(store, context, policy).run(&mut plan)?;
    sort(&mut selected, policy.order);
    refuse_collision(outputs, policy)?;
    // The directory first: what it gains is found before the bundle changes.
    if let Some(capath) = &outputs.capath {
        capath_steps(capath, &selected, context, policy, &named, bundle_name(outputs), &mut plan)?;
    }
    if let Some(bundle) = &outputs.bundle {
        bundle_steps(bundle, store, &selected, context, policy, &named, &mut plan)?;
    }
    // Everything new stands before anything old goes.
    plan.steps.sort_by_key(Step::removes);
    Ok(plan)
}

/// Goes through the inputs in order, once.
struct Selection<'a> {
    store: &'a Store,
    context: &'a Context,
    policy: &'a Policy,
    /// Certificates that some input rejects for server authentication.
    rejected: BTreeSet<CertificateId>,
    /// A valid certificate of this key and subject is among the inputs.
    valid: HashSet<(crate::certificate::fingerprint::SpkiDigest, Option<u32>)>,
    done: BTreeMap<(CertificateId, Option<TrustAttributes>), usize>,
    guessed: HashSet<Fingerprint>,
    /// Certificates of a CApath that no look-up finds, with their first place.
    missed: BTreeMap<CertificateId, OccurrenceId>,
    /// Whether some reader opens the file at hand.
    opened: bool,
    dropped: BTreeSet<CertificateId>,
    matched: HashSet<Removal>,
    malformed: Vec<String>,
    trusted: Vec<String>,
    out: Vec<Selected>,
}

impl<'a> Selection<'a> {
    fn new(store: &'a Store, context: &'a Context, policy: &'a Policy) -> Self {
        let rejected = store
            .occurrences()
            .iter()
            .filter(|occurrence| {
                // p11-kit's sections are attributes, no remarks.
                occurrence.distrust == Some(Distrust::P11Kit)
                    || occurrence.trust.as_ref().is_some_and(TrustAttributes::rejects_server_auth)
            })
            .map(|occurrence| occurrence.certificate)
            .collect();
        let valid = if policy.expired == ExpiredPolicy::Superseded {
            store
                .certificates()
                .iter()
                .filter(|certificate| certificate.validity.at(context.now) == ValidityState::Valid)
                .map(|certificate| (certificate.spki, certificate.subject_hash))
                .collect()
        } else {
            HashSet::new()
        };
        Self {
            store,
            context,
            policy,
            rejected,
            valid,
            done: BTreeMap::new(),
            guessed: HashSet::new(),
            missed: BTreeMap::new(),
            opened: true,
            dropped: BTreeSet::new(),
            matched: HashSet::new(),
            malformed: Vec::new(),
            trusted: Vec::new(),
            out: Vec::new(),
        }
    }

    fn run(mut self, plan: &mut Plan) -> Result<(Vec<Selected>, HashSet<Fingerprint>), Refusal> {
        for (id, source) in
            self.store.source_ids().filter(|(_, source)| source.named || source.inside.is_none())
        {
            match source.kind {
                SourceKind::CaPath | SourceKind::Directory => self.directory(id, plan),
                _ => self.store.files_of(id).for_each(|(file, _)| self.file(file, None, true, plan)),
            }
        }
        self.list_missed(plan);
        self.unmatched(plan)?;
        if !self.malformed.is_empty() {
            return Err(Refusal::Malformed { places: self.malformed });
        }
        if !self.trusted.is_empty() {
            return Err(Refusal::Trusted { places: self.trusted });
        }
        let named = self.dropped.iter().map(|&id| self.store.certificate(id).fingerprint).collect();
        Ok((self.out, named))
    }

    /// The removal that names a certificate.
    fn removal(&self, certificate: &Certificate) -> Option<Removal> {
        self.policy.remove.iter().copied().find(|removal| match removal {
            Removal::Certificate(fingerprint) => *fingerprint == certificate.fingerprint,
            Removal::Key(digest) => *digest == certificate.spki,
        })
    }

    /// Removals that met no certificate: a slip of the pen, or done already.
    fn unmatched(&self, plan: &mut Plan) -> Result<(), Refusal> {
        // A certificate may be named twice, by its fingerprint and by its key.
        let met = |removal: &Removal| {
            self.matched.contains(removal)
                || self.store.certificates().iter().any(|certificate| match removal {
                    Removal::Certificate(fingerprint) => *fingerprint == certificate.fingerprint,
                    Removal::Key(digest) => *digest == certificate.spki,
                })
        };
        let entries: Vec<String> =
            self.policy.remove.iter().filter(|removal| !met(removal)).map(Removal::to_string).collect();
        if self.policy.unmatched == UnmatchedRemoval::Refuse && !entries.is_empty() {
            return Err(Refusal::Unmatched { entries });
        }
        plan.notes.extend(
            entries.into_iter().map(|entry| format!("no input holds {entry}, which was to be removed")),
        );
        Ok(())
    }

    /// What no look-up finds is not trusted now; it is listed unless another input gives it.
    fn list_missed(&self, plan: &mut Plan) {
        let done: BTreeSet<CertificateId> = self.done.keys().map(|(certificate, _)| *certificate).collect();
        for (id, &place) in
            self.missed.iter().filter(|(id, _)| !done.contains(id) && !self.dropped.contains(id))
        {
            let certificate = self.store.certificate(*id);
            let path = self.store.file(self.store.occurrence(place).file).path();
            let reason = format!(
                "{}: no look-up by hash finds it, so that OpenSSL does not trust it now",
                called(certificate)
            );
            plan.change(Action::Drop, path, Some(certificate.fingerprint), reason);
        }
    }

    /// The CAfiles inside a directory first, then its members by name.
    fn directory(&mut self, directory: SourceId, plan: &mut Plan) {
        let store = self.store;
        let bundles: Vec<SourceId> = store.bundles_inside(directory).collect();
        for &bundle in &bundles {
            store.files_of(bundle).for_each(|(file, _)| self.file(file, None, true, plan));
        }
        let hashed = store.source(directory).kind == SourceKind::CaPath;
        let mut members: Vec<FileId> = store
            .members_of(directory)
            .filter(|(_, file)| !bundles.contains(&file.source))
            .map(|(file, _)| file)
            .collect();
        members.sort_by(|&a, &b| store.file(a).path().cmp(store.file(b).path()));
        if hashed {
            in_link_order(store, directory, &mut members);
        }
        let linked: HashSet<FileId> =
            store.links_of(directory).filter_map(|link| link.leads_to.as_ref().ok().copied()).collect();
        for file in members {
            // A file that no look-up opens is no input; what it holds is listed.
            self.opened = !hashed || linked.contains(&file);
            self.file(file, hashed.then_some(directory), false, plan);
        }
        self.opened = true;
    }

    /// `looked_up` is the CApath whose look-ups decide what counts; `None` takes every certificate.
    fn file(&mut self, id: FileId, looked_up: Option<SourceId>, bundle: bool, plan: &mut Plan) {
        let store = self.store;
        let file = store.file(id);
        let mut blocks: Vec<(usize, Result<OccurrenceId, &OtherBlock>)> = store
            .occurrences_of_file(id)
            .map(|(id, occurrence)| (occurrence.span.start, Ok(id)))
            .chain(file.others.iter().map(|block| (block.span.start, Err(block))))
            .collect();
        blocks.sort_by_key(|(offset, _)| *offset);
        for (_, block) in blocks {
            match block {
                Ok(occurrence) => self.occurrence(occurrence, looked_up, bundle, plan),
                Err(block) => self.other(file.path(), block, bundle, plan),
            }
        }
    }

    fn occurrence(&mut self, id: OccurrenceId, looked_up: Option<SourceId>, bundle: bool, plan: &mut Plan) {
        let store = self.store;
        let occurrence = store.occurrence(id);
        let certificate = store.certificate(occurrence.certificate);
        let path = store.file(occurrence.file).path();
        let drop = |this: &mut Self, plan: &mut Plan, reason: String| {
            if this.dropped.insert(occurrence.certificate) {
                plan.change(
                    Action::Drop,
                    path,
                    Some(certificate.fingerprint),
                    format!("{}: {reason}", called(certificate)),
                );
            }
        };
        if self.rejected.contains(&occurrence.certificate) {
            return drop(self, plan, "trust attributes reject it for TLS servers".into());
        }
        let refused = refused_by(certificate, Reader::is_strict);
        if !refused.is_empty() {
            // One such certificate makes these libraries refuse a whole CAfile.
            let why = format!("refused by {}", refusals(&refused));
            match self.policy.malformed {
                MalformedPolicy::Drop => return drop(self, plan, why),
                _ => {
                    let name = called(certificate);
                    self.malformed.push(format!("{}:{}: {name}: {why}", visible_path(path), occurrence.line));
                    return;
                }
            }
        }
        if let Some(removal) = self.removal(certificate) {
            self.matched.insert(removal);
            return drop(self, plan, format!("removed as {removal}"));
        }
        let unreachable =
            looked_up.is_some_and(|directory| !store.is_reachable(directory, occurrence.certificate));
        if unreachable && self.policy.unreachable == UnreachablePolicy::List {
            self.missed.entry(occurrence.certificate).or_insert(id);
            return;
        }
        if self.guessed.contains(&certificate.fingerprint) {
            return;
        }
        if certificate.validity.at(self.context.now) == ValidityState::Expired {
            let superseded = self.valid.contains(&(certificate.spki, certificate.subject_hash));
            match self.policy.expired {
                ExpiredPolicy::Drop => {
                    return drop(
                        self,
                        plan,
                        "expired; rustls and Java still accept an expired anchor, no other reader does"
                            .into(),
                    );
                }
                ExpiredPolicy::Superseded if superseded => {
                    return drop(
                        self,
                        plan,
                        "expired, and a valid certificate of its subject and key stays".into(),
                    );
                }
                ExpiredPolicy::Keep | ExpiredPolicy::Superseded => {}
            }
        }
        if self.policy.not_ca == NotCaPolicy::Drop && certificate.ca == Some(false) {
            return drop(self, plan, "may not issue certificates".into());
        }
        if occurrence.trust.is_some() && self.policy.trust == TrustPolicy::Refuse {
            self.trusted.push(format!("{}:{}", visible_path(path), occurrence.line));
            return;
        }
        let trust = occurrence.trust.clone().filter(|_| self.policy.trust == TrustPolicy::Keep);
        let into_bundle = bundle || certificate.ca != Some(false);
        if let Some(&place) = self.done.get(&(occurrence.certificate, trust.clone())) {
            self.out[place].bundle |= into_bundle;
            return;
        }
        if let Some(limits) = occurrence.trust.as_ref().and_then(limits).filter(|_| trust.is_none()) {
            let reason =
                format!("{}: trusted for every purpose, where the input {limits}", called(certificate));
            plan.change(Action::Gain, path, Some(certificate.fingerprint), reason);
        }
        if occurrence.distrust == Some(Distrust::Comment) {
            // A comment is no statement that a program may act on; a person should see it.
            let reason = format!(
                "{}: the comment before it distrusts it; --remove sha256:{} leaves it out",
                called(certificate),
                certificate.fingerprint
            );
            plan.change(Action::Keep, path, Some(certificate.fingerprint), reason);
        }
        if let Some(reason) = repaired(occurrence) {
            plan.change(
                Action::Repair,
                path,
                Some(certificate.fingerprint),
                format!("{}: {reason}", called(certificate)),
            );
        }
        if unreachable {
            let reason = format!("{}: no look-up by hash finds it in the input", called(certificate));
            plan.change(Action::Gain, path, Some(certificate.fingerprint), reason);
        }
        let passed_over = refused_by(certificate, |reader| !reader.is_strict());
        if !passed_over.is_empty() {
            // It costs nobody else anything.
            let reason = format!("{}: passed over by {}", called(certificate), refusals(&passed_over));
            plan.change(Action::Keep, path, Some(certificate.fingerprint), reason);
        }
        if !into_bundle {
            let reason = format!(
                "{}: may not issue certificates; it goes into the directory, not into the bundle",
                called(certificate)
            );
            plan.change(Action::Keep, path, Some(certificate.fingerprint), reason);
        }
        self.done.insert((occurrence.certificate, trust.clone()), self.out.len());
        self.out.push(Selected {
            fingerprint: certificate.fingerprint,
            der: certificate.der.clone(),
            trust,
            comment: occurrence.comment.clone(),
            bundle: into_bundle,
        });
    }

    fn other(&mut self, path: &Path, block: &OtherBlock, bundle: bool, plan: &mut Plan) {
        let opened = self.opened;
        let place = block_place(path, block);
        match &block.kind {
            OtherKind::PrivateKey => plan.change(
                Action::Drop,
                path,
                None,
                format!("line {}: a private key is no trust", block.line),
            ),
            OtherKind::Malformed { defects, guess } if block.label.is_certificate() && opened => {
                // A boundary in a text holds nothing.
                if defects.iter().all(|defect| defect.kind.is_text()) {
                    return;
                }
                match (self.policy.malformed, guess) {
                    (MalformedPolicy::Repair, Some(der)) => self.guess(path, block, der, bundle, plan),
                    (MalformedPolicy::Drop, _) => {
                        plan.change(
                            Action::Drop,
                            path,
                            None,
                            format!("line {}: {}", block.line, block_defects(block)),
                        );
                    }
                    (MalformedPolicy::Repair, None) => {
                        self.malformed.push(format!("{place} (no repair is possible: drop it)"))
                    }
                    (MalformedPolicy::Refuse, _) => self.malformed.push(place),
                }
            }
            OtherKind::NotACertificate(_) if opened => match self.policy.malformed {
                MalformedPolicy::Drop => {
                    plan.change(
                        Action::Drop,
                        path,
                        None,
                        format!("line {}: {}", block.line, block_defects(block)),
                    );
                }
                _ => self.malformed.push(place),
            },
            OtherKind::Malformed { .. } | OtherKind::NotACertificate(_)
                if !block.label.is_certificate() || !opened =>
            {
                plan.change(
                    Action::Drop,
                    path,
                    None,
                    format!("line {}: {}", block.line, block_defects(block)),
                );
            }
            // Its certificates are inputs of their own.
            OtherKind::Pkcs7 { .. } => {}
            OtherKind::Malformed { .. } | OtherKind::NotACertificate(_) => {}
            OtherKind::Crl { .. } | OtherKind::Other => {
                plan.change(Action::Drop, path, None, not_written(block));
            }
        }
    }

    /// The certificate of a damaged block, as if its boundaries were right.
    fn guess(
        &mut self,
        path: &Path,
        block: &OtherBlock,
        der: &CertificateDer<'static>,
        bundle: bool,
        plan: &mut Plan,
    ) {
        let fingerprint = der.fingerprint();
        let settled = self.store.find(fingerprint).is_some_and(|id| {
            let done = self.done.range((id, None)..).next().is_some_and(|((done, _), _)| *done == id);
            done || self.rejected.contains(&id) || self.dropped.contains(&id)
        });
        if settled || !self.guessed.insert(fingerprint) {
            return;
        }
        let certificate = Certificate::new(der.clone(), fingerprint, self.store.readers());
        let refused = refused_by(&certificate, Reader::is_strict);
        if !refused.is_empty() {
            let reason = format!("refused by {}", refusals(&refused));
            self.malformed.push(format!("{}: {reason}", block_place(path, block)));
            return;
        }
        let expired = certificate.validity.at(self.context.now) == ValidityState::Expired;
        let superseded = self.policy.expired == ExpiredPolicy::Superseded
            && self.valid.contains(&(certificate.spki, certificate.subject_hash));
        let removal = self.removal(&certificate);
        self.matched.extend(removal);
        let unwanted = removal.is_some()
            || expired && (self.policy.expired == ExpiredPolicy::Drop || superseded)
            || self.policy.not_ca == NotCaPolicy::Drop && certificate.ca == Some(false);
        if unwanted {
            let reason = format!("{}: repaired, and removed, expired or no CA", called(&certificate));
            plan.change(Action::Drop, path, Some(fingerprint), reason);
            return;
        }
        let reason = format!("{}: line {}: {}", called(&certificate), block.line, block_defects(block));
        plan.change(Action::Repair, path, Some(fingerprint), reason);
        self.out.push(Selected {
            fingerprint,
            der: der.clone(),
            trust: None,
            comment: None,
            bundle: bundle || certificate.ca != Some(false),
        });
    }
}

fn not_written(block: &OtherBlock) -> String {
    format!("line {}: {}: certificates alone are written", block.line, block_defects(block))
}

/// Puts files of one hash into the order of their links: OpenSSL takes the first that it finds. All others stay.
fn in_link_order(store: &Store, directory: SourceId, members: &mut [FileId]) {
    let mut first_link: HashMap<FileId, (u32, u32)> = HashMap::new();
    for link in store.links_of(directory).filter(|link| link.states.contains(&LinkState::Ok)) {
        let (Ok(file), name) = (&link.leads_to, link.hash_link()) else { continue };
        if name.kind == LinkKind::Certificate {
            first_link.entry(*file).or_insert((name.hash, name.number));
        }
    }
    let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (place, file) in members.iter().enumerate() {
        if let Some(&(hash, _)) = first_link.get(file) {
            places.entry(hash).or_default().push(place);
        }
    }
    for places in places.into_values().filter(|places| places.len() > 1) {
        let mut files: Vec<FileId> = places.iter().map(|&place| members[place]).collect();
        files.sort_by_key(|file| first_link.get(file).map(|&(_, number)| number));
        for (place, file) in places.into_iter().zip(files) {
            members[place] = file;
        }
    }
}

/// What about an occurrence is put right by writing it anew; odd framing that every reader takes is no matter.
fn repaired(occurrence: &Occurrence) -> Option<String> {
    let mut reasons = Vec::new();
    match occurrence.encoding {
        Encoding::Der | Encoding::DerInPem => reasons.push("DER, written as PEM".to_owned()),
        Encoding::Pkcs7 => reasons.push("PKCS#7, written as PEM".to_owned()),
        Encoding::Pem(Label::X509Certificate) => reasons.push("label X509 CERTIFICATE".to_owned()),
        Encoding::Pem(_) => {}
    }
    reasons.extend(occurrence.defects.iter().map(|found| defect(found.kind)));
    if occurrence.trailing > 0 {
        reasons.push(format!("{} bytes behind it are cut", occurrence.trailing));
    }
    if occurrence.ber {
        reasons.push("its outer header is written as DER".to_owned());
    }
    if reasons.is_empty() { None } else { Some(reasons.join(", ")) }
}

/// Sorts, but leaves certificates of one subject in their order: the first one meets the others' place.
fn sort(selected: &mut Vec<Selected>, order: Order) {
    if order == Order::FirstSeen {
        return;
    }
    let canonical = |der: &CertificateDer<'_>| name_hash::canonical(der.fields().subject);
    let mut groups: Vec<(Option<Vec<u8>>, Vec<Selected>)> = Vec::new();
    let mut places: HashMap<Option<Vec<u8>>, usize> = HashMap::new();
    for one in selected.drain(..) {
        let subject = canonical(&one.der);
        let place = *places.entry(subject.clone()).or_insert_with(|| {
            groups.push((subject, Vec::new()));
            groups.len() - 1
        });
        groups[place].1.push(one);
    }
    match order {
        Order::FirstSeen => {}
        Order::Subject => {
            groups.sort_by_cached_key(|(_, group)| name::to_rfc2253(group[0].der.fields().subject))
        }
        Order::Fingerprint => groups.sort_by_key(|(_, group)| group[0].fingerprint),
    }
    selected.extend(groups.into_iter().flat_map(|(_, group)| group));
}

fn block_of(selected: &Selected) -> String {
    match &selected.trust {
        Some(trust) => encode(Label::TrustedCertificate, &[selected.der.as_bytes(), trust.der()].concat()),
        None => encode(Label::Certificate, selected.der.as_bytes()),
    }
}

/// Lines before a block. Nothing in them can be taken for a boundary, a header or a control character.
fn comment_of(selected: &Selected, policy: CommentPolicy) -> String {
    match policy {
        CommentPolicy::None => String::new(),
        CommentPolicy::Label => {
            let name = called_by(&selected.der, selected.fingerprint);
            format!("# {}\n", harmless(&name))
        }
        CommentPolicy::Keep => {
            let lines = selected.comment.as_deref().unwrap_or_default().lines();
            lines.map(|line| format!("# {}\n", harmless(line.trim_start_matches('#').trim()))).collect()
        }
    }
}

/// A comment's text without what a reader could take for a boundary: GnuTLS refuses a file for a quoted one.
///
/// A backslash stays as it is, or a comment that is kept would grow with every run.
fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(is_unsafe) {
        match piece.char_indices().next_back() {
            Some((at, last)) if is_unsafe(last) => {
                out.push_str(&piece[..at]);
                out.push_str(&visible(&piece[at..]));
            }
            _ => out.push_str(piece),
        }
    }
    // What follows a run of dashes may complete the next one.
    while out.contains("-----") {
        out = out.replace("-----", "- - -");
    }
    out
}

/// The bundle's name where it goes into the directory that is written as well.
fn bundle_name<'a>(outputs: &'a Outputs<'_>) -> Option<&'a OsStr> {
    let (bundle, capath) = (outputs.bundle.as_ref()?, outputs.capath.as_ref()?);
    if bundle.path.parent() == Some(capath.path.as_path()) { bundle.path.file_name() } else { None }
}

/// A bundle must not take the place of the directory, or of a member that a link leads to.
fn refuse_collision(outputs: &Outputs<'_>, policy: &Policy) -> Result<(), Refusal> {
    let (Some(bundle), Some(capath)) = (&outputs.bundle, &outputs.capath) else { return Ok(()) };
    let in_the_way = |what| Refusal::InTheWay { path: visible_path(&bundle.path), what };
    if bundle.path == capath.path {
        return Err(in_the_way("bundle and directory have one name"));
    }
    let (Some(name), Some(existing)) = (bundle_name(outputs), capath.existing) else { return Ok(()) };
    let path = capath.path.join(name);
    let linked = existing.links_of(SourceId(0)).any(|link| {
        // A link to nothing leads to the bundle once that is written.
        let wakes = link.target.as_deref() == Some(Path::new(name)) && policy.prune == PrunePolicy::Keep;
        link.name == name
            || wakes
            || link.leads_to.as_ref().is_ok_and(|&file| existing.file(file).names.contains(&path))
    });
    if linked { Err(in_the_way("a member that a hash link leads to")) } else { Ok(()) }
}

fn bundle_steps(
    output: &BundleOutput,
    store: &Store,
    selected: &[Selected],
    context: &Context,
    policy: &Policy,
    named: &HashSet<Fingerprint>,
    plan: &mut Plan,
) -> Result<(), Refusal> {
    let chosen: Vec<&Selected> = selected.iter().filter(|selected| selected.bundle).collect();
    if chosen.is_empty() {
        return Err(Refusal::Empty { output: visible_path(&output.path) });
    }
    plan.outputs.push((output.path.clone(), chosen.len()));
    let bytes: Vec<u8> = chosen
        .iter()
        .flat_map(|selected| [comment_of(selected, policy.comments), block_of(selected)])
        .flat_map(String::into_bytes)
        .collect();
    if let Some(existing) = &output.existing {
        if *existing == bytes {
            return Ok(());
        }
        let before = crate::store::load::load_bytes("existing", existing);
        let others = || before.files().iter().flat_map(|file| &file.others);
        if others().any(|block| matches!(block.kind, OtherKind::PrivateKey)) {
            let path = visible_path(&output.path);
            return Err(Refusal::InTheWay { path, what: "it holds a private key, which would be lost" });
        }
        gains(&output.path, &trusted(&before), &limited(&before), &chosen, policy, plan)?;
        shrinks(&output.path, &before, &chosen, context, policy, named, plan)?;
        // Where the output is an input under this name, they are listed already.
        let listed = store.files().iter().any(|file| file.names.contains(&output.path));
        let lost =
            |block: &&OtherBlock| !listed && matches!(block.kind, OtherKind::Crl { .. } | OtherKind::Other);
        for block in others().filter(lost) {
            plan.change(Action::Drop, &output.path, None, not_written(block));
        }
    }
    let holds = chosen.iter().map(|selected| selected.fingerprint).collect();
    plan.change(Action::Write, &output.path, None, format!("{} certificates", chosen.len()));
    plan.steps.push(Step::WriteFile { path: output.path.clone(), bytes, holds, others: 0 });
    Ok(())
}

/// The certificates of a store that none of their copies rejects.
fn trusted(store: &Store) -> HashSet<Fingerprint> {
    let rejects = |&id: &OccurrenceId| {
        store.occurrence(id).trust.as_ref().is_some_and(TrustAttributes::rejects_server_auth)
    };
    store
        .certificates()
        .iter()
        .filter(|certificate| !certificate.occurrences.iter().any(rejects))
        .map(|certificate| certificate.fingerprint)
        .collect()
}

/// What trust attributes keep a certificate from, in words; `None` where they do not.
fn limits(attributes: &TrustAttributes) -> Option<String> {
    let (trusted, rejected) = (attributes.trusted(), attributes.rejected());
    match (trusted.is_empty(), rejected.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("trusts it for {}", trusted.join(", "))),
        (true, false) => Some(format!("rejects it for {}", rejected.join(", "))),
        (false, false) => {
            Some(format!("trusts it for {} and rejects it for {}", trusted.join(", "), rejected.join(", ")))
        }
    }
}

/// The certificates of a store that trust attributes keep from some purpose, in each of their copies.
fn limited(store: &Store) -> HashSet<Fingerprint> {
    let limits = |&id: &OccurrenceId| store.occurrence(id).trust.as_ref().and_then(limits).is_some();
    let all = store.certificates().iter();
    all.filter(|certificate| certificate.occurrences.iter().all(limits))
        .map(|certificate| certificate.fingerprint)
        .collect()
}

/// Refuses, or lists, what an output would trust that it did not: certificates that it lacks, and those that it has with
/// trust attributes and would have without.
fn gains(
    path: &Path,
    had: &HashSet<Fingerprint>,
    limited: &HashSet<Fingerprint>,
    chosen: &[&Selected],
    policy: &Policy,
    plan: &mut Plan,
) -> Result<(), Refusal> {
    let widened = |selected: &Selected| selected.trust.is_none() && limited.contains(&selected.fingerprint);
    let gained: Vec<&&Selected> =
        chosen.iter().filter(|selected| !had.contains(&selected.fingerprint) || widened(selected)).collect();
    // An output without any certificate trusts nobody; filling it is what it is for.
    if gained.is_empty() || had.is_empty() {
        return Ok(());
    }
    let called = |selected: &Selected| called_by(&selected.der, selected.fingerprint);
    if policy.gain == GainPolicy::Refuse {
        let certificates = gained
            .iter()
            .map(|selected| format!("{} ({})", called(selected), selected.fingerprint))
            .collect();
        return Err(Refusal::Gain { output: visible_path(path), certificates });
    }
    for selected in gained {
        let why = match had.contains(&selected.fingerprint) {
            true => "it was there with trust attributes, and is without",
            false => "it was not there before",
        };
        let reason = format!("{}: {why}", called(selected));
        plan.change(Action::Gain, path, Some(selected.fingerprint), reason);
    }
    Ok(())
}

/// Lists what an existing bundle loses, and refuses to lose much of it that nothing names.
fn shrinks(
    path: &Path,
    before: &Store,
    chosen: &[&Selected],
    context: &Context,
    policy: &Policy,
    named: &HashSet<Fingerprint>,
    plan: &mut Plan,
) -> Result<(), Refusal> {
    let stays: HashSet<Fingerprint> = chosen.iter().map(|selected| selected.fingerprint).collect();
    let alive = |certificate: &&Certificate| certificate.validity.at(context.now) != ValidityState::Expired;
    let of = before.certificates().iter().filter(alive).count();
    let gone: Vec<&Certificate> = before
        .certificates()
        .iter()
        .filter(|certificate| {
            !stays.contains(&certificate.fingerprint) && !named.contains(&certificate.fingerprint)
        })
        .collect();
    let gone_alive = gone.iter().copied().filter(alive).count();
    if gone_alive * 100 > of * usize::from(policy.max_shrink) {
        return Err(Refusal::Shrinks { gone: gone_alive, of, limit: policy.max_shrink });
    }
    for certificate in gone {
        let reason = format!("{}: it was in the output, and is in no input", called(certificate));
        plan.change(Action::Drop, path, Some(certificate.fingerprint), reason);
    }
    Ok(())
}

fn capath_steps(
    output: &CapathOutput<'_>,
    selected: &[Selected],
    context: &Context,
    policy: &Policy,
    named: &HashSet<Fingerprint>,
    bundle_name: Option<&OsStr>,
    plan: &mut Plan,
) -> Result<(), Refusal> {
    if selected.is_empty() {
        return Err(Refusal::Empty { output: visible_path(&output.path) });
    }
    // One file a certificate, whatever trust attributes its copies have: the first one's.
    let mut seen = HashSet::new();
    let selected: Vec<&Selected> =
        selected.iter().filter(|selected| seen.insert(selected.fingerprint)).collect();
    let chosen: HashSet<Fingerprint> = selected.iter().map(|selected| selected.fingerprint).collect();
    plan.outputs.push((output.path.clone(), selected.len()));
    let mut removed = HashSet::new();
    let mut taken = BTreeSet::new();
    let lower = |name: &OsStr| OsString::from_vec(name.as_bytes().to_ascii_lowercase());
    let mut wanted = Vec::new();
    let mut has_file: HashSet<Fingerprint> = HashSet::new();
    let mut removals = Vec::new();
    let mut only = None;
    match output.existing {
        None => plan.steps.push(Step::MakeDirectory { path: output.path.clone() }),
        Some(existing) => {
            let directory = SourceId(0);
            rehash::refuse_unreadable(existing, directory)?;
            let trusted = trusted(existing);
            let found: HashSet<Fingerprint> = existing
                .certificate_ids()
                .filter(|(_, certificate)| trusted.contains(&certificate.fingerprint))
                .filter(|(id, _)| existing.is_reachable(directory, *id))
                .map(|(_, certificate)| certificate.fingerprint)
                .collect();
            // Without any hash link, who reads the directory reads all of it.
            let hashed = existing.source(directory).kind == SourceKind::CaPath;
            let had = if hashed { &found } else { &trusted };
            // Files that stand keep their trust attributes.
            gains(&output.path, had, &HashSet::new(), &selected, policy, plan)?;
            if bundle_name.is_none() {
                keep_limits(existing, &selected, plan);
            }
            // Beside a file that rejects it, a certificate is not trusted, whatever is written.
            let rejecting = existing.occurrences().iter().find(|occurrence| {
                let one = existing.certificate(occurrence.certificate).fingerprint;
                occurrence.trust.as_ref().is_some_and(TrustAttributes::rejects_server_auth)
                    && chosen.contains(&one)
            });
            if let Some(occurrence) = rejecting {
                return Err(Refusal::InTheWay {
                    path: visible_path(existing.file(occurrence.file).path()),
                    what: "its trust attributes reject a certificate that is to be trusted",
                });
            }
            taken = names_taken(existing, &output.path);
            if policy.prune == PrunePolicy::Prune {
                let alive: Vec<Fingerprint> = existing
                    .certificates()
                    .iter()
                    .filter(|certificate| had.contains(&certificate.fingerprint))
                    .filter(|certificate| certificate.validity.at(context.now) != ValidityState::Expired)
                    .map(|certificate| certificate.fingerprint)
                    .collect();
                let (of, limit) = (alive.len(), policy.max_shrink);
                let gone = alive.iter().filter(|one| !chosen.contains(one) && !named.contains(one)).count();
                if gone * 100 > of * usize::from(limit) {
                    return Err(Refusal::Shrinks { gone, of, limit });
                }
            }
            let prune = policy.prune == PrunePolicy::Prune;
            let mut unlinked = HashSet::new();
            for member in unwanted_members(existing, directory, &output.path, &chosen) {
                let path = output.path.join(&member.name);
                match member.listed(existing, &chosen, prune, &path, plan) {
                    Fate::Stays => {}
                    Fate::Goes => {
                        removals.push(Step::RemoveFile { path });
                        removed.insert(member.name);
                    }
                    Fate::StaysUnlinked if LinkName::parse(member.name.as_bytes()).is_some() => {
                        let what =
                            "it is named like a link, and holds a private key or wanted certificates as well";
                        return Err(Refusal::InTheWay { path: visible_path(&path), what });
                    }
                    Fate::StaysUnlinked => {
                        unlinked.insert(member.name);
                    }
                }
            }
            list_left(existing, directory, &output.path, &chosen, prune, bundle_name, plan);
            (wanted, _) = rehash::wanted(existing, directory, &removed, &[HashStyle::Canonical]);
            // What the plan leaves out gets no link that it does not have: that would be a gain.
            wanted.retain(|file| {
                file.kind == LinkKind::Crl
                    || chosen.contains(&file.fingerprint)
                    || !prune && found.contains(&file.fingerprint)
            });
            wanted.retain(|file| !unlinked.contains(&file.name));
            only = prune.then_some(&chosen);
            has_file = wanted
                .iter()
                .filter(|file| file.kind == LinkKind::Certificate)
                .map(|file| file.fingerprint)
                .collect();
            has_file.extend(found_otherwise(existing, directory, only));
        }
    }
    taken.extend(bundle_name.map(lower));
    let new: Vec<&Selected> =
        selected.iter().copied().filter(|selected| !has_file.contains(&selected.fingerprint)).collect();
    let current = output.existing.map(|store| Current { store, directory: SourceId(0) });
    let stale = match policy.prune {
        PrunePolicy::Prune => Stale::Remove,
        PrunePolicy::Keep => Stale::Keep,
    };
    let hash = |selected: &Selected| name_hash::subject_hash(selected.der.fields().subject);
    let copies: Vec<u32> = match policy.output_links {
        OutputLinks::Symbolic => Vec::new(),
        OutputLinks::Copy => new.iter().copied().filter_map(hash).collect(),
    };
    let wish = |wanted| Wish {
        wanted,
        styles: &[HashStyle::Canonical],
        stale,
        removed: &removed,
        copies: &copies,
        allowed: Some(&chosen),
        only,
    };
    let write = |plan: &mut Plan, selected: &Selected, name: &OsStr| {
        let path = output.path.join(name);
        plan.change(Action::Write, &path, Some(selected.fingerprint), "a file of its own");
        let bytes = block_of(selected).into_bytes();
        plan.steps.push(Step::WriteFile { path, bytes, holds: vec![selected.fingerprint], others: 0 });
    };
    match policy.output_links {
        OutputLinks::Symbolic => {
            for (selected, name) in new.iter().zip(file_names(&new, &taken)) {
                write(plan, selected, &name);
                if let Some(hash) = hash(selected) {
                    let fingerprint = selected.fingerprint;
                    wanted.push(Wanted { name, kind: LinkKind::Certificate, hash, fingerprint });
                }
            }
            links::plan(&output.path, current, &wish(&wanted), plan)?;
        }
        OutputLinks::Copy => {
            let mut free = links::plan(&output.path, current, &wish(&wanted), plan)?.free;
            for selected in new {
                // A name that OpenSSL refuses has no hash, and OpenSSL refuses the certificate: nothing to look up.
                let name = match hash(selected) {
                    Some(hash) => free.take(&output.path, hash, LinkKind::Certificate)?,
                    None => OsString::from(format!("{}.pem", selected.fingerprint)),
                };
                write(plan, selected, &name);
            }
        }
    }
    // A name that the plan gives to something new was moved over: what had it is gone already.
    let given: HashSet<PathBuf> = plan
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::WriteFile { path, .. } | Step::Link { path, .. } => Some(path.clone()),
            _ => None,
        })
        .collect();
    let gone = |step: &Step| matches!(step, Step::RemoveFile { path } if given.contains(path));
    plan.steps.extend(removals.into_iter().filter(|step| !gone(step)));
    Ok(())
}

/// Certificates that a look-up finds through a name that stays: a file named like a hash link (FreeBSD's stores are made
/// of these), a file with another ending, a file elsewhere. A link to a CAfile is no file of one's own.
/// Where only some may be found, a file that holds another as well does not count.
fn found_otherwise(
    store: &Store,
    directory: SourceId,
    only: Option<&HashSet<Fingerprint>>,
) -> impl Iterator<Item = Fingerprint> {
    let counts = move |link: &&Link| {
        let fits = |only| link.leads_to.as_ref().is_ok_and(|&file| links::holds_only(store, file, only));
        !link.states.contains(&LinkState::ToBundle) && only.is_none_or(fits)
    };
    store
        .certificate_ids()
        .filter(move |(id, _)| store.reachable_as(directory, *id).iter().any(counts))
        .map(|(_, certificate)| certificate.fingerprint)
}

/// Every name in a directory, in lower case: file systems may not tell cases apart.
fn names_taken(store: &Store, directory: &Path) -> BTreeSet<OsString> {
    let files = store.files().iter().flat_map(|file| &file.names).map(PathBuf::as_path);
    let odd = store.odd_entries().iter().map(|entry| entry.path.as_path());
    files
        .chain(odd)
        .filter(|path| path.parent() == Some(directory))
        .filter_map(|path| path.file_name())
        .map(|name| OsString::from_vec(name.as_bytes().to_ascii_lowercase()))
        .collect()
}

/// A directory's files with trust attributes are not written anew: what a plan without a bundle says it would gain by
/// that, it does not.
fn keep_limits(existing: &Store, selected: &[&Selected], plan: &mut Plan) {
    let limited = limited(existing);
    for selected in selected.iter().filter(|selected| selected.trust.is_none()) {
        let fingerprint = selected.fingerprint;
        let Some(id) = existing.find(fingerprint).filter(|_| limited.contains(&fingerprint)) else {
            continue;
        };
        plan.changes
            .retain(|change| change.action != Action::Gain || change.certificate != Some(fingerprint));
        let certificate = existing.certificate(id);
        let Some(&place) = certificate.occurrences.first() else { continue };
        let path = existing.file(existing.occurrence(place).file).path();
        let reason = format!("{}: the file stays, with its trust attributes", called(certificate));
        plan.change(Action::Keep, path, Some(fingerprint), reason);
    }
}

/// Lists what stays trusted although the plan leaves it out: by a link to a file elsewhere or with several
/// certificates, or in a CAfile that this run does not write.
fn list_left(
    existing: &Store,
    directory: SourceId,
    path: &Path,
    chosen: &HashSet<Fingerprint>,
    prune: bool,
    bundle_name: Option<&OsStr>,
    plan: &mut Plan,
) {
    let listed: HashSet<Fingerprint> = plan
        .changes
        .iter()
        .filter(|change| {
            matches!(change.action, Action::Keep | Action::Remove) && change.path.parent() == Some(path)
        })
        .filter_map(|change| change.certificate)
        .collect();
    let left_out = |one: &Fingerprint| !chosen.contains(one) && !listed.contains(one);
    for (id, certificate) in existing.certificate_ids().filter(|_| !prune) {
        if let Some(link) = existing.reachable_as(directory, id).first()
            && left_out(&certificate.fingerprint)
        {
            let name = called(certificate);
            let reason = format!("{name}: not in the plan, and found by this link; --prune removes that");
            plan.change(Action::Keep, path.join(&link.name), Some(certificate.fingerprint), reason);
        }
    }
    for bundle in existing.bundles_inside(directory).filter(|_| prune) {
        let source = &existing.source(bundle).path;
        if source.file_name() == bundle_name {
            continue;
        }
        let left: HashSet<Fingerprint> = existing
            .occurrences_of(bundle)
            .map(|(_, occurrence)| existing.certificate(occurrence.certificate).fingerprint)
            .filter(|one| !chosen.contains(one))
            .collect();
        if !left.is_empty() {
            let reason = format!(
                "{} not in the plan stay in it: name it with --bundle",
                count(left.len(), "certificate")
            );
            plan.change(Action::Keep, source, None, reason);
        }
    }
}

/// A file of a directory with certificates that the plan leaves out.
struct Unwanted {
    file: FileId,
    /// A name of it that is no hash link.
    name: OsString,
    /// Whether it holds wanted ones as well.
    mixed: bool,
}

/// What becomes of such a file.
enum Fate {
    /// It goes.
    Goes,
    /// It stays as it is.
    Stays,
    /// It stays, and no link leads to it.
    StaysUnlinked,
}

impl Unwanted {
    /// Decides, and lists each certificate.
    fn listed(
        &self,
        store: &Store,
        chosen: &HashSet<Fingerprint>,
        prune: bool,
        path: &Path,
        plan: &mut Plan,
    ) -> Fate {
        let others = &store.file(self.file).others;
        let key = others.iter().any(|block| matches!(block.kind, OtherKind::PrivateKey));
        let (fate, why) = match (prune, key, self.mixed) {
            (true, false, false) => (Fate::Goes, "not in the plan"),
            (true, true, _) => (
                Fate::StaysUnlinked,
                "not in the plan; its file holds a private key, and stays without a link",
            ),
            (true, false, true) => {
                (Fate::StaysUnlinked, "not in the plan; its file holds others too, and stays without a link")
            }
            (false, _, false) => (Fate::Stays, "not in the plan; --prune removes it"),
            // Told of the link that finds it, where there is one.
            (false, _, true) => return Fate::Stays,
        };
        let action = if matches!(fate, Fate::Goes) { Action::Remove } else { Action::Keep };
        for (_, occurrence) in store.occurrences_of_file(self.file) {
            let certificate = store.certificate(occurrence.certificate);
            if !chosen.contains(&certificate.fingerprint) {
                let reason = format!("{}: {why}", called(certificate));
                plan.change(action, path, Some(certificate.fingerprint), reason);
            }
        }
        if matches!(fate, Fate::Goes) {
            for block in others.iter().filter(|block| matches!(block.kind, OtherKind::Crl { .. })) {
                plan.change(action, path, None, format!("line {}: {}", block.line, block_defects(block)));
            }
        }
        fate
    }
}

/// Members of an existing directory of which a certificate is not wanted, under each name that is no hash link.
fn unwanted_members(
    store: &Store,
    directory: SourceId,
    path: &Path,
    chosen: &HashSet<Fingerprint>,
) -> Vec<Unwanted> {
    let links: HashSet<&OsStr> = store
        .links_of(directory)
        .filter(|link| link.target.is_some())
        .map(|link| link.name.as_os_str())
        .collect();
    let mut out = Vec::new();
    for (id, file) in store.members_of(directory) {
        let beside = store.source(file.source).inside == Some(directory);
        let wanted =
            |occurrence: &Occurrence| chosen.contains(&store.certificate(occurrence.certificate).fingerprint);
        let mixed = store.occurrences_of_file(id).any(|(_, occurrence)| wanted(occurrence));
        let all = store.occurrences_of_file(id).all(|(_, occurrence)| wanted(occurrence));
        if beside || all {
            continue;
        }
        // A name that a tool left behind is not ours to remove, and a link to another place goes with the links.
        for name in
            file.names.iter().filter(|name| name.parent() == Some(path)).filter_map(|name| name.file_name())
        {
            if !links.contains(name) && !crate::store::source::is_leftover(name.as_bytes()) {
                out.push(Unwanted { file: id, name: name.to_owned(), mixed });
            }
        }
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out
}

/// A name for each certificate's file: its CN, else OU, O, fingerprint; unique whatever the case of letters.
///
/// The files of one subject sort in the order given, so that a later `openssl rehash` numbers them alike.
fn file_names(selected: &[&Selected], taken: &BTreeSet<OsString>) -> Vec<OsString> {
    let mut taken = taken.clone();
    let mut by_subject: BTreeMap<Option<Vec<u8>>, Vec<usize>> = BTreeMap::new();
    for (index, selected) in selected.iter().enumerate() {
        by_subject.entry(name_hash::canonical(selected.der.fields().subject)).or_default().push(index);
    }
    let group_of: HashMap<usize, Vec<usize>> =
        by_subject.into_values().map(|group| (group[0], group)).collect();
    let mut names = vec![OsString::new(); selected.len()];
    let mut attempts: HashMap<(String, bool), usize> = HashMap::new();
    for (first, selected) in selected.iter().enumerate() {
        let Some(group) = group_of.get(&first) else { continue };
        let base = base_name(&selected.der.fields(), selected.fingerprint);
        let attempts = attempts.entry((base.to_ascii_lowercase(), group.len() > 1)).or_insert(0);
        let mut attempt = *attempts;
        loop {
            let candidates: Vec<String> =
                (0..group.len()).map(|number| numbered(&base, attempt, number, group.len())).collect();
            let free = |name: &String| !taken.contains(OsStr::new(&name.to_ascii_lowercase()));
            if candidates.iter().all(free) {
                for (&index, name) in group.iter().zip(candidates) {
                    taken.insert(OsString::from(name.to_ascii_lowercase()));
                    names[index] = OsString::from(name);
                }
                *attempts = attempt + 1;
                break;
            }
            attempt += 1;
        }
    }
    names
}

/// `BASE.pem`, `BASE_2.pem`; in a group `BASE_01.pem` and so on, as wide as the group is large.
fn numbered(base: &str, attempt: usize, number: usize, of: usize) -> String {
    let attempt = if attempt == 0 { String::new() } else { format!("_{}", attempt + 1) };
    if of == 1 {
        return format!("{base}{attempt}.pem");
    }
    let width = of.to_string().len();
    format!("{base}{attempt}_{:0width$}.pem", number + 1)
}

/// ASCII letters, digits, dots, hyphens and underscores; no leading dot or hyphen; at most 100 characters.
fn base_name(fields: &Fields<'_>, fingerprint: Fingerprint) -> String {
    let text = [name::COMMON_NAME, name::ORGANIZATIONAL_UNIT, name::ORGANIZATION].iter().find_map(|oid| {
        name::find(fields.subject, oid).filter(|text| text.bytes().any(|byte| byte.is_ascii_alphanumeric()))
    });
    let Some(text) = text else { return fingerprint.to_string() };
    let mut out = String::new();
    for character in text.trim().chars().take(100) {
        match character {
            c if c.is_ascii_alphanumeric() || ".-".contains(c) => out.push(c),
            _ if out.ends_with('_') => {}
            _ => out.push('_'),
        }
    }
    let out = out.trim_start_matches(['.', '-']).trim_end_matches('_');
    let file = format!("{out}.pem");
    if out.is_empty() || crate::store::source::is_leftover(file.as_bytes()) {
        return fingerprint.to_string();
    }
    // The name of a bundle would make it one.
    if crate::openssl::locations::is_bundle_name(file.to_ascii_lowercase().as_bytes()) {
        return format!("{out}_CA");
    }
    out.to_owned()
}

/// The readers of a kind that refuse a certificate, and why.
fn refused_by(certificate: &Certificate, kind: impl Fn(Reader) -> bool) -> Vec<(Reader, Reason)> {
    let refusals = certificate.refused_by.iter().filter(|(reader, _)| kind(*reader));
    refusals.map(|&(reader, (part, fault))| (reader, Reason::Certificate(part, fault))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_groups_sort_in_order() {
        let names: Vec<_> = (0..12).map(|number| numbered("Root", 0, number, 12)).collect();
        assert!(names.is_sorted());
        assert_eq!(names[0], "Root_01.pem");
        assert_eq!(numbered("Root", 0, 0, 1), "Root.pem");
        assert_eq!(numbered("Root", 1, 0, 1), "Root_2.pem");
    }
}
