//! The hash links of a directory: which there should be, and the steps from those that are.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{Action, Plan, Step};
use crate::certificate::fingerprint::Fingerprint;
use crate::error::Refusal;
use crate::escape::visible_path;
use crate::openssl::hash_link::{HashLink, LinkKind, LinkName, LinkSet};
use crate::openssl::name_hash::{self, HashStyle};
use crate::store::content::OtherKind;
use crate::store::model::{FileId, Link, LinkState, Store};
use crate::store::source::SourceId;

/// A file that wants a link: its name in the directory, and what a look-up would ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The bare file name, the link's target.
    pub name: OsString,
    /// Certificate or CRL.
    pub kind: LinkKind,
    /// Subject hash (issuer hash of a CRL).
    pub hash: u32,
    /// What it holds.
    pub fingerprint: Fingerprint,
}

/// What a directory holds now.
#[derive(Debug, Clone, Copy)]
pub struct Current<'a> {
    /// A store in which the directory is a source.
    pub store: &'a Store,
    /// The directory.
    pub directory: SourceId,
}

/// Which links there should be.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// Files that want a link, in the order in which numbers are given.
    pub wanted: &'a [Wanted],
    /// Which of OpenSSL's hashes count: a link of another one finds nothing.
    pub styles: &'a [HashStyle],
    /// What becomes of links that nobody wants.
    pub stale: Stale,
    /// Names in the directory that go.
    pub removed: &'a HashSet<OsString>,
    /// Hashes of certificates that get files named by hash afterwards, one entry a file.
    pub copies: &'a [u32],
    /// What may become reachable that is not now; `None`: anything in the directory.
    pub allowed: Option<&'a HashSet<Fingerprint>>,
    /// What may be found at all: a link to a file with anything else goes, and what is wanted of that file needs another
    /// one. `None`: whatever is found now.
    pub only: Option<&'a HashSet<Fingerprint>>,
}

/// Which links stay that nobody wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    /// They go: dangling ones, wrong hashes, numbers beyond the count, old hashes.
    Remove,
    /// They stay, unless a right link needs the name.
    Keep,
}

/// The target of a link that should be.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    /// A link with this text.
    Text(OsString),
    /// The file of that name itself, which is no link.
    Itself(OsString),
}

/// Plans the links of a directory.
///
/// A working link keeps its number where that lies below the count, so that nothing that is found now is lost at any
/// moment. A link whose target nobody wants stays as long as what it leads to is not found otherwise.
///
/// Gives back the links that stand afterwards, and the numbers that come next.
///
/// # Errors
/// [`Refusal::InTheWay`] where a name is taken by something that is no link.
pub fn plan(
    directory: &Path,
    current: Option<Current<'_>>,
    wish: &Wish<'_>,
    plan: &mut Plan,
) -> Result<Linked, Refusal> {
    let Wish { stale, removed, .. } = *wish;
    let links: Vec<&Link> =
        current.map(|current| current.store.links_of(current.directory).collect()).unwrap_or_default();
    let desired = desired(current, &links, wish);

    let standing: HashMap<&OsStr, &Link> = links.iter().map(|link| (link.name.as_os_str(), *link)).collect();
    let others = current.map(|current| other_names(current, directory)).unwrap_or_default();
    let mut names = BTreeSet::new();
    let mut standing_links = Vec::new();
    let mut free = Free { next: BTreeMap::new(), taken: HashSet::new() };
    for (link, target) in &desired {
        let name = OsString::from(link.to_string());
        *free.next.entry((link.hash, link.kind)).or_default() += 1;
        match target {
            Target::Itself(own) if *own == name => {}
            Target::Itself(text) | Target::Text(text) => {
                let there = standing.get(name.as_os_str());
                let same = there.is_some_and(|there| {
                    there.target.as_deref().map(Path::as_os_str) == Some(text.as_os_str())
                });
                if !same {
                    if there.is_some_and(|there| there.target.is_none()) && !removed.contains(&name) {
                        return Err(in_the_way(directory, &name, "a file with another hash"));
                    }
                    if others.contains(&name) {
                        return Err(in_the_way(directory, &name, "no link"));
                    }
                    // A link, or a file that goes: moved over, so that the number is never free in between.
                    let replaces = there.is_some();
                    let path = directory.join(&name);
                    plan.change(Action::Link, &path, None, format!("to {}", visible_path(text)));
                    plan.steps.push(Step::Link { path, target: text.clone(), replaces });
                }
                standing_links.push((name.clone(), text.clone()));
            }
        }
        names.insert(name);
    }
    let mut end = free.next.clone();
    for &hash in wish.copies {
        *end.entry((hash, LinkKind::Certificate)).or_default() += 1;
    }
    refuse_to_wake(directory, current, &links, wish, &names, &end)?;
    // From the highest number down: no gap opens below a link that stays.
    let mut unwanted: Vec<&&Link> = links
        .iter()
        .filter(|link| link.target.is_some() && !names.contains(&link.name))
        .filter(|link| {
            stale == Stale::Remove
                || wish.allowed.is_some() && would_come_alive(link, &end)
                || leads_to_removed(link, current, directory, removed)
        })
        .collect();
    unwanted.sort_by_key(|link| {
        let name = link.hash_link();
        (name.hash, name.kind, std::cmp::Reverse(name.number))
    });
    for link in unwanted {
        let path = directory.join(&link.name);
        let left_out = |only| link.leads_to.as_ref().is_ok_and(|&file| holds_other(current, file, only));
        let why = match wish.only {
            Some(only) if left_out(only) => "it finds what the plan leaves out",
            _ => "nothing is found through it that is not found otherwise",
        };
        plan.change(Action::Unlink, &path, None, why);
        plan.steps.push(Step::Unlink { path });
    }
    // A file that is named like a link, and is none of this hash, keeps its name.
    free.taken = links
        .iter()
        .filter(|link| link.target.is_none() && !names.contains(&link.name) && !removed.contains(&link.name))
        .map(|link| link.name.clone())
        .collect();
    Ok(Linked { links: standing_links, free })
}

/// What [`plan`] comes to, beside its steps.
#[derive(Debug)]
pub struct Linked {
    /// The links that are wanted, those that stand already among them: name and target, in order of their names.
    pub links: Vec<(OsString, OsString)>,
    /// The numbers that come next.
    pub free: Free,
}

/// The numbers that come next for each hash.
#[derive(Debug)]
pub struct Free {
    next: BTreeMap<(u32, LinkKind), u32>,
    taken: HashSet<OsString>,
}

impl Free {
    /// Takes the next name for a hash.
    ///
    /// # Errors
    /// [`Refusal::InTheWay`] where a file of another hash has it.
    pub fn take(&mut self, directory: &Path, hash: u32, kind: LinkKind) -> Result<OsString, Refusal> {
        let number = self.next.entry((hash, kind)).or_default();
        let name = OsString::from(HashLink { hash, kind, number: *number }.to_string());
        *number += 1;
        if self.taken.contains(&name) {
            return Err(in_the_way(directory, &name, "a file with another hash"));
        }
        Ok(name)
    }
}

fn in_the_way(directory: &Path, name: &OsStr, what: &'static str) -> Refusal {
    Refusal::InTheWay { path: visible_path(directory.join(name)), what }
}

/// Whether a link that no look-up follows now would be followed once the numbers below it are filled.
fn would_come_alive(link: &Link, end: &BTreeMap<(u32, LinkKind), u32>) -> bool {
    let name = link.hash_link();
    matches!(link.link, LinkName::Proper(_))
        && !link.states.contains(&LinkState::Ok)
        && end.get(&(name.hash, name.kind)).is_some_and(|&end| name.number >= end)
}

/// A file that is named like a link, and that no look-up finds now, must not become one that finds what the plan leaves
/// out: once the numbers below it are filled, it would.
fn refuse_to_wake(
    directory: &Path,
    current: Option<Current<'_>>,
    links: &[&Link],
    wish: &Wish<'_>,
    names: &BTreeSet<OsString>,
    end: &BTreeMap<(u32, LinkKind), u32>,
) -> Result<(), Refusal> {
    let (Some(current), Some(allowed)) = (current, wish.allowed) else { return Ok(()) };
    for link in links.iter().filter(|link| link.target.is_none()) {
        let (LinkName::Proper(name), Ok(file)) = (link.link, &link.leads_to) else { continue };
        let stays = !wish.removed.contains(&link.name) && !names.contains(&link.name);
        let next = end.get(&(name.hash, name.kind)) == Some(&name.number);
        let wakes = || holds(current, *file, name, wish.styles).iter().any(|one| !allowed.contains(one));
        if stays && next && !link.states.contains(&LinkState::Ok) && wakes() {
            let what = "a file that no look-up finds now, and that would be found then";
            return Err(in_the_way(directory, &link.name, what));
        }
    }
    Ok(())
}

/// Whether a link's target is one of the files that go.
fn leads_to_removed(
    link: &Link,
    current: Option<Current<'_>>,
    directory: &Path,
    removed: &HashSet<OsString>,
) -> bool {
    if removed.is_empty() {
        return false;
    }
    let (Some(current), Ok(file)) = (current, &link.leads_to) else { return false };
    let file = current.store.file(*file);
    let mut own =
        file.names.iter().filter(|name| name.parent() == Some(directory)).filter_map(|name| name.file_name());
    own.any(|name| removed.contains(name))
}

/// All names in the directory that are not hash links: a link cannot take them.
fn other_names(current: Current<'_>, directory: &Path) -> HashSet<OsString> {
    let names = current.store.files().iter().flat_map(|file| &file.names).map(PathBuf::as_path);
    let odd = current
        .store
        .odd_entries()
        .iter()
        .filter(|entry| entry.target.is_none())
        .map(|entry| entry.path.as_path());
    names
        .chain(odd)
        .filter(|path| path.parent() == Some(directory))
        .filter_map(|path| path.file_name())
        .filter(|name| LinkName::parse(name.as_bytes()).is_none())
        .map(OsStr::to_owned)
        .collect()
}

fn desired(current: Option<Current<'_>>, links: &[&Link], wish: &Wish<'_>) -> Vec<(HashLink, Target)> {
    let Wish { wanted, styles, removed, allowed, only, .. } = *wish;
    let mut set = LinkSet::new();
    let mut found: HashSet<(u32, LinkKind, Fingerprint)> = HashSet::new();
    // Files that are named like a link hold their numbers: they are content, and never overwritten.
    for link in links.iter().filter(|link| link.target.is_none() && !removed.contains(&link.name)) {
        let (LinkName::Proper(name), Ok(file), Some(current)) = (link.link, &link.leads_to, current) else {
            continue;
        };
        let holds = holds(current, *file, name, styles);
        // What the plan leaves out, and no look-up finds now, gets no number that one finds.
        let permitted = link.states.contains(&LinkState::Ok)
            || allowed.is_none_or(|allowed| holds.iter().all(|one| allowed.contains(one)));
        if !holds.is_empty() && permitted {
            found.extend(holds.into_iter().map(|fingerprint| (name.hash, name.kind, fingerprint)));
            set.want(name.hash, name.kind, Some(name.number), Target::Itself(link.name.clone()));
        }
    }
    // The number of a link that leads to the wanted file by its bare name.
    let mut numbers: BTreeMap<(u32, LinkKind, &OsStr), u32> = BTreeMap::new();
    for link in links {
        if let (LinkName::Proper(name), Some(target)) = (link.link, &link.target) {
            numbers
                .entry((name.hash, name.kind, target.as_os_str()))
                .and_modify(|number| *number = name.number.min(*number))
                .or_insert(name.number);
        }
    }
    let mut found_by: HashMap<(u32, LinkKind, Fingerprint), u32> = HashMap::new();
    for link in links.iter().filter(|link| link.target.is_some()) {
        if let (LinkName::Proper(name), Ok(file), Some(current)) = (link.link, &link.leads_to, current) {
            for fingerprint in holds(current, *file, name, styles) {
                let number = found_by.entry((name.hash, name.kind, fingerprint)).or_insert(name.number);
                *number = name.number.min(*number);
            }
        }
    }
    for file in wanted {
        if found.insert((file.hash, file.kind, file.fingerprint)) {
            // Else the number by which the same is found now: its link is moved over, never lost in between.
            let standing = numbers
                .get(&(file.hash, file.kind, file.name.as_os_str()))
                .or_else(|| found_by.get(&(file.hash, file.kind, file.fingerprint)))
                .copied();
            set.want(file.hash, file.kind, standing, Target::Text(file.name.clone()));
        }
    }
    // A link that works stays, wherever it leads, as long as it is the only way to what it finds. Those that are looked
    // up now come first: they keep their numbers.
    let (looked_up, others): (Vec<&Link>, Vec<&Link>) =
        links.iter().partition(|link| is_looked_up(link, styles));
    for link in looked_up.into_iter().chain(others) {
        let (Some(target), Ok(file), Some(current)) = (&link.target, &link.leads_to, current) else {
            continue;
        };
        if leads_to_removed(link, Some(current), &current.store.source(current.directory).path, removed) {
            continue;
        }
        // One look-up loads a file whole: each certificate in it is found from then on.
        if only.is_some_and(|only| !holds_only(current.store, *file, only)) {
            continue;
        }
        // What no look-up gets to is not trusted now. Elsewhere it is nobody's member, and stays so.
        if !is_looked_up(link, styles) && link.states.contains(&LinkState::Outside) {
            continue;
        }
        let name = link.hash_link();
        // A link that no look-up follows now must not become one that finds what the plan leaves out.
        let permitted = |fingerprint: &Fingerprint| {
            link.states.contains(&LinkState::Ok)
                || allowed.is_none_or(|allowed| allowed.contains(fingerprint))
        };
        let new: Vec<_> = may_hold(current, *file, name, styles)
            .into_iter()
            .map(|fingerprint| (name.hash, name.kind, fingerprint))
            .filter(|(_, _, fingerprint)| permitted(fingerprint))
            .filter(|key| !found.contains(key))
            .collect();
        if !new.is_empty() {
            found.extend(new);
            let standing = matches!(link.link, LinkName::Proper(_)).then_some(name.number);
            set.want(name.hash, name.kind, standing, Target::Text(target.as_os_str().to_owned()));
        }
    }
    set.into_links()
}

fn holds_other(current: Option<Current<'_>>, file: FileId, only: &HashSet<Fingerprint>) -> bool {
    current.is_some_and(|current| !holds_only(current.store, file, only))
}

/// Whether a file holds no other certificates than these.
pub fn holds_only(store: &Store, file: FileId, only: &HashSet<Fingerprint>) -> bool {
    let mut occurrences = store.occurrences_of_file(file);
    occurrences.all(|(_, occurrence)| only.contains(&store.certificate(occurrence.certificate).fingerprint))
}

/// What a look-up for a name's hash finds in a file, or may find: where it is doubtful how far OpenSSL gets in a file,
/// its link is not taken away.
fn may_hold(current: Current<'_>, file: FileId, name: HashLink, styles: &[HashStyle]) -> Vec<Fingerprint> {
    if name.kind == LinkKind::Crl {
        return holds(current, file, name, styles);
    }
    let store = current.store;
    let whole = store
        .occurrences_of_file(file)
        .map(|(_, occurrence)| store.certificate(occurrence.certificate))
        .filter(|certificate| {
            is_named(name, styles, certificate.subject_hash, Some(certificate.subject_hash_old))
        })
        .map(|certificate| certificate.fingerprint);
    let damaged = store.file(file).others.iter().filter_map(|block| match &block.kind {
        OtherKind::Malformed { guess: Some(der), .. } => {
            let subject = der.fields().subject;
            let (new, old) = (name_hash::subject_hash(subject), name_hash::subject_hash_old(subject));
            is_named(name, styles, new, Some(old)).then(|| der.fingerprint())
        }
        _ => None,
    });
    whole.chain(damaged).collect()
}

/// What a look-up for a name's hash finds in a file.
fn holds(current: Current<'_>, file: FileId, name: HashLink, styles: &[HashStyle]) -> Vec<Fingerprint> {
    let store = current.store;
    match name.kind {
        LinkKind::Certificate => {
            let (loaded, _) = store.loads_by_directory(file);
            loaded
                .into_iter()
                .map(|id| store.certificate(store.occurrence(id).certificate))
                .filter(|certificate| {
                    is_named(name, styles, certificate.subject_hash, Some(certificate.subject_hash_old))
                })
                .map(|certificate| certificate.fingerprint)
                .collect()
        }
        LinkKind::Crl => store
            .file(file)
            .others
            .iter()
            .filter_map(|block| match block.kind {
                OtherKind::Crl { issuer_hash, issuer_hash_old, fingerprint } => {
                    is_named(name, styles, issuer_hash, issuer_hash_old).then_some(fingerprint)
                }
                _ => None,
            })
            .collect(),
    }
}

/// Whether a link's hash is one of those that count of something with these two.
fn is_named(name: HashLink, styles: &[HashStyle], canonical: Option<u32>, old: Option<u32>) -> bool {
    styles.iter().any(|style| match style {
        HashStyle::Canonical => canonical == Some(name.hash),
        HashStyle::Old => old == Some(name.hash),
    })
}

/// Whether a look-up by one of the hashes that count gets to a link.
fn is_looked_up(link: &Link, styles: &[HashStyle]) -> bool {
    let old = |state: &LinkState| {
        matches!(state, LinkState::Legacy | LinkState::Crl | LinkState::Outside | LinkState::ToBundle)
    };
    link.states.contains(&LinkState::Ok) || styles.contains(&HashStyle::Old) && link.states.iter().all(old)
}
