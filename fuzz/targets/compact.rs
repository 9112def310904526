//! `compact` on trees: what an input holds and the plan does not name is in the output, OpenSSL loads all of it, and a second
//! run has nothing to do.
#![no_main]
#[allow(dead_code)]
#[path = "../../tests/support/der.rs"]
mod der;

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use castore::audit::Context;
use castore::certificate::CertificateDer;
use castore::error::Refusal;
use castore::openssl::name_hash::subject_hash;
use castore::plan::compact::{BundleOutput, CapathOutput, Outputs, compact};
use castore::plan::policy::{
    ExpiredPolicy, GainPolicy, MalformedPolicy, OutputLinks, Policy, PrunePolicy, TrustPolicy,
    UnreachablePolicy,
};
use castore::plan::{Action, Plan};
use castore::readers::Reader;
use castore::store::content;
use castore::store::load::{Loading, load_with};
use castore::store::model::Store;
use castore::store::root::Root;
use castore::write::apply::{Applying, apply};
use castore::write::lock::Lock;
use castore_fuzz::crypto;
use der::Certificate;
use libfuzzer_sys::{Corpus, fuzz_target};

const NOW: i64 = 1_764_547_200;

struct One {
    pem: String,
    limited: String,
    rejecting: String,
    hash: u32,
}

/// Two of one subject among them, one expired.
static POOL: LazyLock<Vec<One>> = LazyLock::new(|| {
    let names = ["Alpha", "Alpha", "Bravo", "Charlie", "Delta"];
    let one = |(key, name): (usize, &&str)| {
        let certificate = Certificate::root(name, key as u64 + 1);
        let bytes = certificate.der();
        let reading = CertificateDer::read(&bytes).expect("a certificate");
        One {
            pem: certificate.pem(),
            limited: certificate.trusted_pem(&[der::oids::SERVER_AUTH], &[]),
            rejecting: certificate.trusted_pem(&[], &[der::oids::SERVER_AUTH]),
            hash: subject_hash(reading.der.fields().subject).expect("a name"),
        }
    };
    names.iter().enumerate().map(one).collect()
});

/// Reads choices from the input; zeros where it has ended.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn of(&mut self, number: usize) -> usize {
        let Some((&byte, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(byte) % number
    }

    fn text(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.of(4) {
            let one = &POOL[self.of(POOL.len())];
            match self.of(10) {
                0 => text += &one.pem.replace('\n', "\r\n"),
                1 => text += one.pem.trim_end(),
                2 => text += &one.limited,
                3 => text += &one.rejecting,
                4 => text += &one.pem[..one.pem.len() / 2],
                5 => text += "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
                6 => text += "# a comment\n\n",
                7 => text += &one.pem.replacen("\n", "\n\n", 2),
                _ => text += &one.pem,
            }
        }
        text
    }
}

fn tree(folder: &Path, choices: &mut Choices<'_>) {
    for directory in ["in", "out"] {
        let path = folder.join(directory);
        fs::create_dir(&path).expect("a directory");
        for number in 0..choices.of(5) {
            let hash = POOL[choices.of(POOL.len())].hash;
            let name = match choices.of(5) {
                0 => "ca-certificates.crt".to_owned(),
                1 => format!("{hash:08x}.{}", choices.of(3)),
                _ => format!("{number}.pem"),
            };
            let _ = fs::write(path.join(name), choices.text());
        }
        for _ in 0..choices.of(6) {
            let hash = POOL[choices.of(POOL.len())].hash;
            let target = match choices.of(6) {
                0 => "../in/0.pem".to_owned(),
                1 => "ca-certificates.crt".to_owned(),
                number => format!("{}.pem", number - 2),
            };
            let _ = symlink(target, path.join(format!("{hash:08x}.{}", choices.of(3))));
        }
    }
}

fn policy(choices: &mut Choices<'_>) -> Policy {
    Policy {
        expired: [ExpiredPolicy::Drop, ExpiredPolicy::Keep, ExpiredPolicy::Superseded][choices.of(3)],
        malformed: [MalformedPolicy::Drop, MalformedPolicy::Repair, MalformedPolicy::Refuse][choices.of(3)],
        gain: [GainPolicy::Accept, GainPolicy::Refuse][choices.of(2)],
        prune: [PrunePolicy::Prune, PrunePolicy::Keep][choices.of(2)],
        trust: [TrustPolicy::Plain, TrustPolicy::Keep][choices.of(2)],
        output_links: [OutputLinks::Symbolic, OutputLinks::Copy][choices.of(2)],
        unreachable: [UnreachablePolicy::List, UnreachablePolicy::Include][choices.of(2)],
        max_shrink: 100,
        ..Policy::default()
    }
}

fn load(path: &Path) -> Store {
    load_with(&[path.to_owned()], &Loading { readers: Reader::WRITTEN_FOR.to_vec(), ..Loading::default() })
}

struct Run<'a> {
    input: &'a Path,
    bundle: &'a Path,
    capath: Option<&'a Path>,
    policy: Policy,
}

impl Run<'_> {
    fn plan(&self) -> Result<(Store, Plan), Refusal> {
        let store = load(self.input);
        let existing = self.capath.filter(|path| path.is_dir()).map(load);
        let outputs = Outputs {
            bundle: Some(BundleOutput { path: self.bundle.to_owned(), existing: fs::read(self.bundle).ok() }),
            capath: self
                .capath
                .map(|path| CapathOutput { path: path.to_owned(), existing: existing.as_ref() }),
        };
        let plan = compact(&store, &Context::at(NOW), &self.policy, &outputs)?;
        Ok((store, plan))
    }
}

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let folder = tempfile::tempdir_in("/dev/shm").expect("a directory");
    let mut choices = Choices(bytes);
    tree(folder.path(), &mut choices);
    let out = folder.path().join("out");
    let new = folder.path().join("new");
    let (bundle, capath) = match choices.of(4) {
        0 => (folder.path().join("bundle.crt"), None),
        1 => (folder.path().join("bundle.crt"), Some(&new)),
        2 => (out.join("ca-certificates.crt"), Some(&out)),
        _ => (folder.path().join("bundle.crt"), Some(&out)),
    };
    let input = folder.path().join("in");
    let run = Run {
        input: &input,
        bundle: &bundle,
        capath: capath.map(|path| path.as_path()),
        policy: policy(&mut choices),
    };
    // A refusal changes nothing: there is nothing to look at.
    let Ok((store, plan)) = run.plan() else { return Corpus::Reject };
    let root = Root::host();
    let lock = &Lock::take(&root, &[], Duration::ZERO).expect("no lock is asked for");
    apply(&root, &plan, &Applying { lock, in_place: false, unchanged: &|| Ok(()) }).expect("it is written");

    let written = fs::read(&bundle).expect("the bundle");
    let content = content::read(&written);
    assert!(content.others.is_empty(), "something else is in it");
    let held: HashSet<_> = content.certificates.iter().map(|found| found.fingerprint).collect();
    assert_eq!(crypto().file(&written), Some(content.certificates.len()), "OpenSSL loads all of it");
    let named: HashSet<_> = plan
        .changes
        .iter()
        .filter(|change| matches!(change.action, Action::Drop))
        .filter_map(|change| change.certificate)
        .collect();
    for certificate in store.certificates() {
        let one = &certificate.fingerprint;
        assert!(held.contains(one) || named.contains(one), "{one} is neither in the bundle nor named");
    }
    let (_, again) = run.plan().expect("its own output is no reason to refuse");
    assert!(again.steps.is_empty(), "a second run would do {:?}", again.steps);
    Corpus::Keep
});
