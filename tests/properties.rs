//! What holds of every input: no certificate is lost by scanning, `compact` and `rehash` are done after one run and
//! lose nothing on the way, output depends on nothing but the input, and no bytes make the program panic.
//!
//! `PROPTEST_CASES` says how many cases each property is tried with; 64 where nobody says.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that makes files and looks at what became of them"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use castore::audit::{self, Context};
use castore::certificate::CertificateDer;
use castore::certificate::name::to_rfc2253;
use castore::cost::estimate::Prices;
use castore::error::Refusal;
use castore::openssl::name_hash::HashStyle;
use castore::openssl::name_hash::{subject_hash, subject_hash_old};
use castore::pem::decode::decode;
use castore::pem::encode::encode;
use castore::pem::label::Label;
use castore::pem::scan::scan;
use castore::plan::compact::{BundleOutput, CapathOutput, Outputs, compact};
use castore::plan::links::Stale;
use castore::plan::policy::{ExpiredPolicy, GainPolicy, Order, Policy, PrunePolicy};
use castore::plan::rehash::{Manner, rehash};
use castore::plan::{Plan, Step};
use castore::report::model::Report;
use castore::report::text::Look;
use castore::report::{json, text};
use castore::store::content;
use castore::store::load::{load, load_bytes};
use castore::store::model::Store;
use castore::store::root::Root;
use castore::store::source::SourceId;
use castore::write::apply::{Applying, apply};
use castore::write::lock::Lock;
use proptest::prelude::*;
use proptest::sample::Index;
use support::der::{Certificate, pem};

/// Nobody else is at these stores: no lock, and nothing that could change meanwhile.
fn carry_out(plan: &Plan) -> castore::error::Result<()> {
    let root = Root::host();
    let lock = &Lock::take(&root, &[], std::time::Duration::ZERO)?;
    apply(&root, plan, &Applying { lock, in_place: false, unchanged: &|| Ok(()) })
}

/// 2026-11-30, by `date -u -d 2026-11-30 +%s`.
const NOW: i64 = 1_795_996_800;
/// Inputs of the mutation loop.
const MUTATIONS: usize = 20_000;

fn config() -> ProptestConfig {
    let mut config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 64;
    }
    config
}

fn context() -> Context {
    Context::at(NOW)
}

// ---- Certificates --------------------------------------------------------------------------------------------

/// A certificate of the pool.
#[derive(Debug)]
struct Made {
    der: Vec<u8>,
    fingerprint: String,
    subject: usize,
    expired: bool,
}

impl Made {
    fn pem(&self) -> String {
        pem("CERTIFICATE", &self.der)
    }
}

const SUBJECTS: usize = 4;

/// Certificates of a few subjects, some of them expired. What is generated are numbers in this pool.
static POOL: LazyLock<Vec<Made>> = LazyLock::new(|| {
    (0..24)
        .map(|number| {
            let subject = number % SUBJECTS;
            let expired = number % 5 == 0;
            let certificate = Certificate::root(&format!("Castore Test Root {subject}"), number as u64);
            let certificate =
                if expired { certificate.valid("100101000000Z", "200101000000Z") } else { certificate };
            let der = certificate.der();
            Made { fingerprint: support::sha256_hex(&der), der, subject, expired }
        })
        .collect()
});

fn hash_of(made: &Made) -> u32 {
    // Held to OpenSSL's values by tests/names.rs and tests/oracle_certificates.rs.
    let reading = CertificateDer::read(&made.der).expect("a certificate");
    subject_hash(reading.der.fields().subject).expect("a name that OpenSSL takes")
}

fn members() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..24_usize, 1..14)
}

// ---- Scanning ------------------------------------------------------------------------------------------------

/// How a certificate is written.
#[derive(Debug, Clone)]
struct Framing {
    /// Lines before it; no dashes among them.
    preamble: Vec<String>,
    label: &'static str,
    columns: usize,
    indentation: usize,
    trailing_blanks: usize,
    blank_lines_between: usize,
    blank_line_behind_begin: bool,
    blank_line_before_end: bool,
    header: bool,
    byte_order_mark: bool,
    crlf: bool,
    /// The next block starts on the line of this one's END.
    glued: bool,
}

fn framing() -> impl Strategy<Value = Framing> {
    (
        (
            prop::collection::vec("[ -,.-~é\u{a0}]{0,80}", 0..4),
            prop::sample::select(vec!["CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE"]),
            prop_oneof![4 => Just(64_usize), 1 => Just(76_usize), 1 => 1..200_usize, 1 => Just(100_000_usize)],
            prop_oneof![3 => Just(0_usize), 1 => 1..9_usize],
            prop_oneof![3 => Just(0_usize), 1 => 1..4_usize],
            prop_oneof![3 => Just(0_usize), 1 => 1..4_usize],
        ),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(|((preamble, label, columns, indentation, trailing_blanks, blank_lines_between), flags)| {
            let (blank_line_behind_begin, blank_line_before_end, header, byte_order_mark, crlf, glued) = flags;
            Framing {
                preamble,
                label,
                columns,
                indentation,
                trailing_blanks,
                blank_lines_between,
                blank_line_behind_begin,
                blank_line_before_end,
                header,
                byte_order_mark,
                crlf,
                glued,
            }
        })
}

fn framed(der: &[u8], framing: &Framing, glued_to: bool) -> String {
    let clean = pem(framing.label, der);
    let mut lines: Vec<&str> = clean.lines().collect();
    let end = lines.pop().expect("END");
    let body = lines[1..].concat();
    let mut out: Vec<String> = Vec::new();
    let indent = " ".repeat(framing.indentation);
    let trail = " ".repeat(framing.trailing_blanks);
    if !glued_to {
        out.extend(framing.preamble.iter().cloned());
        out.extend((0..framing.blank_lines_between).map(|_| String::new()));
    }
    let mark = if framing.byte_order_mark && !glued_to { "\u{feff}" } else { "" };
    // Behind the mark or another block's END nothing else stands.
    let first = if mark.is_empty() && !glued_to { indent.as_str() } else { mark };
    out.push(format!("{first}{}{trail}", lines[0]));
    if framing.header {
        out.extend(["Proc-Note: made up".to_owned(), String::new()]);
    }
    if framing.blank_line_behind_begin {
        out.push(String::new());
    }
    for line in body.as_bytes().chunks(framing.columns) {
        let line = std::str::from_utf8(line).expect("base64 is ASCII");
        out.push(format!("{indent}{line}{trail}"));
    }
    if framing.blank_line_before_end {
        out.push(String::new());
    }
    out.push(format!("{indent}{end}"));
    let newline = if framing.crlf { "\r\n" } else { "\n" };
    let mut text = out.join(newline);
    if !framing.glued {
        text.push_str(newline);
    }
    text
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn scan_of_encode_is_the_same(
        blocks in prop::collection::vec(
            (
                prop::sample::select(vec![
                    Label::Certificate,
                    Label::TrustedCertificate,
                    Label::X509Certificate,
                    Label::Crl,
                ]),
                prop::collection::vec(any::<u8>(), 1..400),
            ),
            1..6,
        )
    ) {
        let text: String = blocks.iter().map(|(label, der)| encode(*label, der)).collect();
        let found: Vec<_> = scan(text.as_bytes()).collect();
        prop_assert_eq!(found.len(), blocks.len());
        let mut line = 1;
        for (block, (label, der)) in found.iter().zip(&blocks) {
            let body = decode(text.as_bytes(), block);
            prop_assert_eq!(block.label(), *label);
            prop_assert_eq!(&body.der, der);
            prop_assert!(block.defects().is_empty() && body.defects.is_empty());
            prop_assert!(block.noise().is_none() && body.noise.is_none());
            prop_assert_eq!(block.line(), line);
            line += encode(*label, der).lines().count();
            let again: Vec<_> = scan(&text.as_bytes()[block.span()]).collect();
            prop_assert_eq!(again.len(), 1);
            prop_assert_eq!(&decode(&text.as_bytes()[block.span()], &again[0]).der, der);
        }
    }

    #[test]
    fn no_certificate_is_lost_in_noise(
        parts in prop::collection::vec((0..24_usize, framing()), 1..8),
        tail in "[ -,.-~]{0,60}",
    ) {
        let mut text = String::new();
        let mut glued_to = false;
        for (number, framing) in &parts {
            text.push_str(&framed(&POOL[*number].der, framing, glued_to));
            glued_to = framing.glued;
        }
        if !glued_to {
            text.push_str(&tail);
        }
        let content = content::read(text.as_bytes());
        let found: Vec<String> =
            content.certificates.iter().map(|found| found.fingerprint.to_string()).collect();
        let expected: Vec<String> =
            parts.iter().map(|(number, _)| POOL[*number].fingerprint.clone()).collect();
        prop_assert_eq!(found, expected, "{}", text);
        prop_assert!(content.others.is_empty(), "{:?}\n{}", content.others, text);
        // Each span, alone, is the same certificate again.
        for found in &content.certificates {
            let again = content::read(&text.as_bytes()[found.span.clone()]);
            prop_assert_eq!(again.certificates.len(), 1);
            prop_assert_eq!(again.certificates[0].fingerprint, found.fingerprint);
        }
        // And what is loaded and reported counts them all.
        let store = load_bytes("bundle.pem", text.as_bytes());
        let distinct: BTreeSet<usize> = parts.iter().map(|(number, _)| *number).collect();
        prop_assert_eq!(store.occurrences().len(), parts.len());
        prop_assert_eq!(store.certificates().len(), distinct.len());
    }
}

// ---- Directories ---------------------------------------------------------------------------------------------

fn blocks_in(path: &Path) -> Vec<String> {
    let Ok(bytes) = fs::read(path) else { return Vec::new() };
    support::certificate_blocks(&bytes)
        .iter()
        .map(|block| support::sha256_hex(&support::block_der(block)))
        .collect()
}

/// What a look-up finds in a directory, as by_dir.c does it: `HASH.0`, `HASH.1`, and so on to the first that is missing.
fn found_in(directory: &Path) -> BTreeSet<String> {
    let by_hash: BTreeMap<u32, Vec<&Made>> = POOL.iter().fold(BTreeMap::new(), |mut map, made| {
        map.entry(HASHES[made.subject]).or_insert_with(Vec::new).push(made);
        map
    });
    let mut found = BTreeSet::new();
    for (hash, all) in by_hash {
        for number in 0.. {
            let fingerprints = blocks_in(&directory.join(format!("{hash:08x}.{number}")));
            if fingerprints.is_empty() {
                break;
            }
            found.extend(
                fingerprints.into_iter().filter(|one| all.iter().any(|made| made.fingerprint == *one)),
            );
        }
    }
    found
}

static HASHES: LazyLock<Vec<u32>> =
    LazyLock::new(|| (0..SUBJECTS).map(|subject| hash_of(&POOL[subject])).collect());

/// Names of hash links: lower case, decimal, gap-free.
fn assert_gap_free(directory: &Path) -> Result<(), TestCaseError> {
    let mut numbers: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for name in support::names_in(directory) {
        let name = name.into_string().expect("names here are ASCII");
        let Some((hash, number)) = name.split_once('.') else { continue };
        if hash.len() != 8 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            continue;
        }
        prop_assert_eq!(hash, hash.to_ascii_lowercase());
        let Ok(value) = number.parse::<u32>() else { continue };
        prop_assert_eq!(number, value.to_string());
        numbers.entry(hash.to_owned()).or_default().insert(value);
    }
    for (hash, numbers) in numbers {
        prop_assert_eq!(numbers.last().copied(), Some(numbers.len() as u32 - 1), "{}: {:?}", hash, numbers);
    }
    Ok(())
}

/// One step after the other; what `kept` names is found before and after each.
fn apply_watched(plan: &Plan, directory: &Path, kept: &BTreeSet<String>) -> Result<(), TestCaseError> {
    for step in &plan.steps {
        prop_assert!(!matches!(step, Step::MakeDirectory { .. }), "{:?}", step);
        carry_out(&Plan { steps: vec![step.clone()], ..Plan::default() }).expect("the step is done");
        let found = found_in(directory);
        prop_assert!(
            found.is_superset(kept),
            "{:?} takes {:?} away",
            step,
            kept.difference(&found).collect::<Vec<_>>()
        );
    }
    Ok(())
}

fn load_one(path: &Path) -> Store {
    let store = load(&[path.to_owned()]);
    assert!(store.failures().is_empty());
    store
}

/// Where a link leads.
#[derive(Debug, Clone)]
enum Target {
    Member(Index),
    MemberByALongerWay(Index),
    Gone,
    Notes,
    Outside,
    Itself,
}

#[derive(Debug, Clone)]
struct RandomLink {
    /// The hash of a subject, or another one.
    hash: Option<usize>,
    upper_case: bool,
    zeros: bool,
    crl: bool,
    number: u32,
    target: Target,
}

fn random_link() -> impl Strategy<Value = RandomLink> {
    let target = prop_oneof![
        6 => any::<Index>().prop_map(Target::Member),
        1 => any::<Index>().prop_map(Target::MemberByALongerWay),
        2 => Just(Target::Gone),
        1 => Just(Target::Notes),
        2 => Just(Target::Outside),
        1 => Just(Target::Itself),
    ];
    (
        prop_oneof![5 => (0..SUBJECTS).prop_map(Some), 1 => Just(None)],
        prop::bool::weighted(0.15),
        prop::bool::weighted(0.1),
        prop::bool::weighted(0.1),
        0..6_u32,
        target,
    )
        .prop_map(|(hash, upper_case, zeros, crl, number, target)| RandomLink {
            hash,
            upper_case,
            zeros,
            crl,
            number,
            target,
        })
}

/// A directory of members, one certificate each, and any links. The file outside holds the pool's last one.
fn fill(base: &Path, members: &[usize], hash_named: &[usize], links: &[RandomLink]) -> PathBuf {
    let directory = base.join("certs");
    fs::create_dir(&directory).expect("a directory");
    fs::write(base.join("outside.pem"), POOL[23].pem()).expect("a file");
    fs::write(directory.join("notes.txt"), "no certificate\n").expect("a file");
    for (place, number) in members.iter().enumerate() {
        fs::write(directory.join(format!("{place:02}.pem")), POOL[*number].pem()).expect("a file");
    }
    // As FreeBSD's stores: regular files with the right names, from 0 on.
    let mut next: BTreeMap<usize, u32> = BTreeMap::new();
    for number in hash_named {
        let made = &POOL[*number];
        let place = next.entry(made.subject).or_default();
        let name = format!("{:08x}.{place}", HASHES[made.subject]);
        fs::write(directory.join(name), made.pem()).expect("a file");
        *place += 1;
    }
    for link in links {
        let hash = link.hash.map_or(0xabad_cafe, |subject| HASHES[subject]);
        let digits = if link.upper_case { format!("{hash:08X}") } else { format!("{hash:08x}") };
        let zeros = if link.zeros { "0" } else { "" };
        let mark = if link.crl { "r" } else { "" };
        let name = format!("{digits}.{mark}{zeros}{}", link.number);
        let member = |index: &Index| format!("{:02}.pem", index.index(members.len()));
        let target = match &link.target {
            Target::Member(index) => member(index),
            Target::MemberByALongerWay(index) => format!("../certs/{}", member(index)),
            Target::Gone => "gone.pem".to_owned(),
            Target::Notes => "notes.txt".to_owned(),
            Target::Outside => "../outside.pem".to_owned(),
            Target::Itself => name.clone(),
        };
        // A name that is taken stays what it is.
        let _ = symlink(target, directory.join(name));
    }
    directory
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn rehash_is_done_after_one_run_and_loses_nothing(
        members in members(),
        hash_named in prop::collection::btree_set(0..24_usize, 0..3),
        links in prop::collection::vec(random_link(), 0..12),
        styles in prop::sample::select(vec![
            &[HashStyle::Canonical][..],
            &[HashStyle::Canonical, HashStyle::Old][..],
        ]),
        stale in prop::sample::select(vec![Stale::Remove, Stale::Keep]),
    ) {
        let manner = Manner { styles, stale };
        let base = tempfile::tempdir().expect("a directory");
        let hash_named: Vec<usize> = hash_named.into_iter().collect();
        let directory = fill(base.path(), &members, &hash_named, &links);
        let before = found_in(&directory);
        let names_before = support::names_in(&directory);
        let plan = rehash(&load_one(&directory), SourceId(0), manner).expect("nothing is in the way").plan;
        apply_watched(&plan, &directory, &before)?;

        if stale == Stale::Remove {
            assert_gap_free(&directory)?;
        } else {
            let names = support::names_in(&directory);
            prop_assert!(names_before.iter().all(|name| names.contains(name)), "a name has gone");
        }
        let found = found_in(&directory);
        let wanted: BTreeSet<String> =
            members.iter().chain(&hash_named).map(|number| POOL[*number].fingerprint.clone()).collect();
        prop_assert!(found.is_superset(&wanted), "lost {:?}", wanted.difference(&found).collect::<Vec<_>>());
        // What was found beside the members, outside, is found still; nothing else is.
        let expected: BTreeSet<String> = wanted.union(&before).cloned().collect();
        prop_assert!(found.is_subset(&expected) || found.contains(&POOL[23].fingerprint));

        let state = support::tree_state(&directory);
        let again = rehash(&load_one(&directory), SourceId(0), manner).expect("nothing is in the way").plan;
        prop_assert!(again.steps.is_empty(), "{:?}", again.steps);
        carry_out(&again).expect("nothing is done");
        prop_assert_eq!(support::tree_state(&directory), state);
    }

    #[test]
    fn compact_is_done_after_one_run(
        bundle_members in members(),
        directory_members in members(),
        order in prop::sample::select(vec![Order::FirstSeen, Order::Subject, Order::Fingerprint]),
        expired in prop::sample::select(vec![ExpiredPolicy::Drop, ExpiredPolicy::Keep]),
    ) {
        let base = tempfile::tempdir().expect("a directory");
        let text: String = bundle_members.iter().map(|number| POOL[*number].pem()).collect();
        let input = base.path().join("in.pem");
        fs::write(&input, text).expect("a file");
        let directory = fill(base.path(), &directory_members, &[], &[]);
        let inputs = [input, directory];
        let (bundle, capath) = (base.path().join("B.pem"), base.path().join("D"));
        let policy = Policy { order, expired, ..Policy::default() };
        let met: Vec<usize> = bundle_members.iter().chain(&directory_members).copied().collect();
        let mut seen = BTreeSet::new();
        let chosen: Vec<usize> = met
            .into_iter()
            .filter(|number| seen.insert(*number))
            .filter(|number| expired == ExpiredPolicy::Keep || !POOL[*number].expired)
            .collect();

        let run = || -> Result<Plan, Refusal> {
            let existing = capath.is_dir().then(|| load_one(&capath));
            let outputs = Outputs {
                bundle: Some(BundleOutput { path: bundle.clone(), existing: fs::read(&bundle).ok() }),
                capath: Some(CapathOutput { path: capath.clone(), existing: existing.as_ref() }),
            };
            compact(&load(&inputs), &context(), &policy, &outputs)
        };
        let plan = match run() {
            Ok(plan) => plan,
            Err(refusal) => {
                prop_assert!(matches!(refusal, Refusal::Empty { .. }), "{}", refusal);
                prop_assert!(chosen.is_empty());
                return Ok(());
            }
        };
        carry_out(&plan).expect("the plan is carried out");

        let written = blocks_in(&bundle);
        let wanted: BTreeSet<String> =
            chosen.iter().map(|number| POOL[*number].fingerprint.clone()).collect();
        prop_assert_eq!(written.len(), wanted.len());
        prop_assert_eq!(&written.iter().cloned().collect::<BTreeSet<_>>(), &wanted);
        prop_assert_eq!(&found_in(&capath), &wanted);
        assert_gap_free(&capath)?;
        // Whatever the order, certificates of one subject keep theirs, in the file and in the directory.
        for (subject, hash) in HASHES.iter().enumerate() {
            let group: Vec<&String> = chosen
                .iter()
                .map(|number| &POOL[*number])
                .filter(|made| made.subject == subject)
                .map(|made| &made.fingerprint)
                .collect();
            let in_file: Vec<&String> = written.iter().filter(|one| group.contains(one)).collect();
            prop_assert_eq!(&in_file, &group);
            for (number, one) in group.into_iter().enumerate() {
                let link = capath.join(format!("{hash:08x}.{number}"));
                prop_assert_eq!(blocks_in(&link), vec![one.clone()]);
            }
        }

        let state = support::tree_state(base.path());
        let again = run().expect("as before");
        prop_assert!(again.steps.is_empty(), "{:?}", again.steps);
        carry_out(&again).expect("nothing is done");
        prop_assert_eq!(support::tree_state(base.path()), state);
    }

    /// Onto a directory in use: what stays in the plan is found at every step.
    #[test]
    fn compact_onto_a_directory_loses_nothing_on_the_way(
        existing in members(),
        links in prop::collection::vec(random_link(), 0..10),
        input in members(),
        prune in prop::sample::select(vec![PrunePolicy::Keep, PrunePolicy::Prune]),
    ) {
        let base = tempfile::tempdir().expect("a directory");
        let directory = fill(base.path(), &existing, &[], &links);
        let bundle = base.path().join("in.pem");
        fs::write(&bundle, input.iter().map(|number| POOL[*number].pem()).collect::<String>()).expect("a file");
        let policy = Policy { prune, gain: GainPolicy::Accept, max_shrink: 100, ..Policy::default() };
        let chosen: BTreeSet<String> = input
            .iter()
            .filter(|number| !POOL[**number].expired)
            .map(|number| POOL[*number].fingerprint.clone())
            .collect();
        let run = || {
            let store = load_one(&directory);
            let outputs = Outputs {
                bundle: None,
                capath: Some(CapathOutput { path: directory.clone(), existing: Some(&store) }),
            };
            compact(&load(std::slice::from_ref(&bundle)), &context(), &policy, &outputs)
        };
        let plan = match run() {
            Ok(plan) => plan,
            Err(refusal) => {
                prop_assert!(matches!(refusal, Refusal::Empty { .. }), "{}", refusal);
                prop_assert!(chosen.is_empty());
                return Ok(());
            }
        };
        let before = found_in(&directory);
        let kept: BTreeSet<String> = match prune {
            PrunePolicy::Keep => before.clone(),
            PrunePolicy::Prune => before.intersection(&chosen).cloned().collect(),
        };
        apply_watched(&plan, &directory, &kept)?;
        let found = found_in(&directory);
        prop_assert!(found.is_superset(&chosen), "lost {:?}", chosen.difference(&found).collect::<Vec<_>>());

        let state = support::tree_state(&directory);
        let again = run().expect("as before");
        prop_assert!(again.steps.is_empty(), "{:?}", again.steps);
        carry_out(&again).expect("nothing is done");
        prop_assert_eq!(support::tree_state(&directory), state);
    }

    /// The same files, made in two orders: the same report, byte by byte, and the same plan.
    #[test]
    fn output_does_not_depend_on_the_order_of_entries(
        members in members(),
        links in prop::collection::vec(random_link(), 0..8),
    ) {
        let base = tempfile::tempdir().expect("a directory");
        let whole = fill(base.path(), &members, &[], &links);
        let directory = base.path().join("copy");
        let mut answers = Vec::new();
        for backwards in [false, true] {
            let mut names: Vec<OsString> = support::names_in(&whole);
            if backwards {
                names.reverse();
            }
            fs::create_dir(&directory).expect("a directory");
            for name in names {
                let (from, to) = (whole.join(&name), directory.join(&name));
                match fs::read_link(&from) {
                    Ok(target) => symlink(target, to).expect("a link"),
                    Err(_) => drop(fs::copy(&from, &to).expect("a file")),
                }
            }
            answers.push(answer(&directory));
            fs::remove_dir_all(&directory).expect("it is ours");
        }
        prop_assert_eq!(&answers[0], &answers[1]);
    }
}

/// A link may lead to another copy than the one that gets a link: its certificate is found at every step all the same.
#[test]
fn a_certificate_found_by_another_copy_stays_found() {
    let base = tempfile::tempdir().expect("a directory");
    // Two of one subject, the second one twice; the link leads to its second copy.
    let directory = fill(base.path(), &[1, 5 + SUBJECTS, 5 + SUBJECTS], &[], &[]);
    symlink("02.pem", directory.join(format!("{:08x}.0", HASHES[1]))).expect("a link");
    let before = found_in(&directory);
    assert_eq!(before, BTreeSet::from([POOL[5 + SUBJECTS].fingerprint.clone()]));
    let plan =
        rehash(&load_one(&directory), SourceId(0), Manner::default()).expect("nothing is in the way").plan;
    apply_watched(&plan, &directory, &before).expect("found at every step");
    assert_eq!(found_in(&directory).len(), 2);
}

/// Of two links to one file, one that is looked up and one that is not, the first keeps its number: what it finds is
/// found at every step.
#[test]
fn a_link_that_is_looked_up_keeps_its_number() {
    let base = tempfile::tempdir().expect("a directory");
    let directory = fill(base.path(), &[11], &[3], &[]);
    for number in ["00", "1"] {
        let name = format!("{:08x}.{number}", HASHES[3]);
        symlink("../outside.pem", directory.join(name)).expect("a link");
    }
    let before = found_in(&directory);
    assert_eq!(before.len(), 2);
    let plan =
        rehash(&load_one(&directory), SourceId(0), Manner::default()).expect("nothing is in the way").plan;
    apply_watched(&plan, &directory, &before).expect("found at every step");
    assert_eq!(found_in(&directory).len(), 3);
}

/// The report and the plan for a directory.
fn answer(directory: &Path) -> (String, Plan) {
    let store = load_one(directory);
    let plan = rehash(&store, SourceId(0), Manner::default()).expect("nothing is in the way").plan;
    let findings = audit::run(&store, &context());
    let report = Report::new("audit", &store, &context(), &findings, Some(&plan), &Prices::default());
    let mut out = Vec::new();
    json::render(&report, &mut out).expect("a vector takes everything");
    (String::from_utf8(out).expect("JSON is UTF-8"), plan)
}

/// A store so large that several threads read it.
#[test]
fn output_does_not_depend_on_threads() {
    let base = tempfile::tempdir().expect("a directory");
    let members: Vec<usize> = (0..24).chain(3..9).collect();
    let directory = fill(base.path(), &members, &[], &[]);
    let long = POOL[5].pem() + &"\n".repeat(5 << 20) + &POOL[6].pem();
    fs::write(directory.join("10.pem"), long).expect("a file");
    let answers: Vec<(String, Plan)> = [1, 2, 3, 7]
        .into_iter()
        .map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| answer(&directory))
        })
        .collect();
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
}

// ---- No bytes make it panic ------------------------------------------------------------------------------------

/// xorshift64*: the same numbers at each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit.max(1)
    }
}

/// Pieces that mean something to a reader of PEM or DER.
const PIECES: &[&[u8]] = &[
    b"-----BEGIN CERTIFICATE-----\n",
    b"-----END CERTIFICATE-----\n",
    b"-----BEGIN TRUSTED CERTIFICATE-----",
    b"-----BEGIN X509 CRL-----",
    b"-----BEGIN PRIVATE KEY-----",
    b"-----END",
    b"-----",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\0",
    b"\xef\xbb\xbf",
    b"=",
    b"Proc-Type: 4,ENCRYPTED\n\n",
    b"\x30\x80",
    b"\x30\x84\xff\xff\xff\xff",
    b"\x30\x82\xff\xff",
    b"\x00\x00",
    b"\x17\x0d991332250061Z",
    b"\x1e\x03\xd8\x00\xdc",
    b"\x1c\x04\x00\x11\x00\x00",
    b"\x0c\x02\xc3\x28",
    b"\x02\x00",
    b"\x06\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\x03\x01\x08",
    b"\x31\x00",
    b"\xa0\x03\x02\x01\x7f",
];

fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len() + 1);
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => bytes.truncate(at),
            3 => {
                let end = (at + random.below(40)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let piece = PIECES[random.below(PIECES.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
            5 => {
                let piece = PIECES[random.below(PIECES.len())];
                let end = (at + piece.len()).min(bytes.len());
                bytes.splice(at..end, piece.iter().copied());
            }
            _ => {
                let from = random.below(bytes.len() + 1);
                let copy = bytes[from..(from + random.below(200)).min(bytes.len())].to_vec();
                bytes.splice(at..at, copy);
            }
        }
    }
}

/// Everything that happens to a file between its bytes and the report.
fn run_through(bytes: &[u8]) {
    let content = content::read(bytes);
    for found in &content.certificates {
        let fields = found.der.fields();
        let _ = (subject_hash(fields.subject), subject_hash_old(fields.subject), to_rfc2253(fields.subject));
        let _ = (subject_hash(fields.issuer), to_rfc2253(fields.issuer), fields.serial_text());
        assert!(found.span.end <= bytes.len() && found.line >= 1);
    }
    let store = load_bytes("bundle.pem", bytes);
    assert_eq!(store.occurrences().len(), content.certificates.len());
    let findings = audit::run(&store, &context());
    let report = Report::new("audit", &store, &context(), &findings, None, &Prices::default());
    let mut out = Vec::new();
    text::render(&report, Look { width: Some(80), verbose: true, color: false }, &mut out).expect("text");
    // What certificates and paths say must not reach a terminal as it is.
    assert!(!out.iter().any(|byte| *byte < 0x20 && *byte != b'\n' || *byte == 0x7f), "control characters");
    std::str::from_utf8(&out).expect("text is UTF-8");
    out.clear();
    json::render(&report, &mut out).expect("JSON");
    serde_json::from_slice::<serde_json::Value>(&out).expect("JSON that parses");
    // And whatever policy says, planning ends.
    let outputs = Outputs {
        bundle: Some(BundleOutput { path: "out.pem".into(), existing: None }),
        capath: Some(CapathOutput { path: "out".into(), existing: None }),
    };
    let _ = compact(&store, &context(), &Policy::default(), &outputs);
}

fn corpus() -> Vec<Vec<u8>> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases")];
    let mut corpus = Vec::new();
    while let Some(folder) = folders.pop() {
        for name in support::names_in(&folder) {
            let path = folder.join(name);
            let metadata = fs::symlink_metadata(&path).expect("a fixture");
            if metadata.is_dir() {
                folders.push(path);
            } else if metadata.is_file() && path.extension().is_none_or(|ending| ending != "json") {
                let bytes = fs::read(&path).expect("a fixture");
                // Long ones say nothing that short ones do not, and take their time.
                if bytes.len() < 16_000 {
                    corpus.push(bytes);
                }
            }
        }
    }
    assert!(corpus.len() > 50, "{} inputs", corpus.len());
    corpus
}

#[test]
fn no_bytes_make_it_panic() {
    let corpus = corpus();
    corpus.iter().for_each(|bytes| run_through(bytes));
    let ders: Vec<Vec<u8>> = corpus
        .iter()
        .flat_map(|bytes| content::read(bytes).certificates)
        .map(|found| found.der.as_bytes().to_vec())
        .collect();
    let seeds: Vec<u64> = (0..MUTATIONS as u64).collect();
    let failed: Vec<u64> = support::in_two_threads(&seeds, |_, seed| {
        let mut random = Random((*seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let bytes = if random.below(2) == 0 {
            let mut bytes = corpus[random.below(corpus.len())].clone();
            mutate(&mut bytes, &mut random);
            bytes
        } else {
            // Inside the base64, where changes to the text do not get.
            let mut der = ders[random.below(ders.len())].clone();
            mutate(&mut der, &mut random);
            match random.below(3) {
                0 => der,
                1 => pem("CERTIFICATE", &der).into_bytes(),
                _ => pem("TRUSTED CERTIFICATE", &der).into_bytes(),
            }
        };
        let result = std::panic::catch_unwind(|| run_through(&bytes));
        if result.is_err() {
            let text = String::from_utf8_lossy(&bytes);
            println!("seed {seed}: {text:?}");
        }
        result.is_err().then_some(*seed)
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(failed.is_empty(), "it panics on the inputs of these seeds: {failed:?}");
}
