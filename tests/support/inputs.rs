//! The files that every library and its model read: the handed cases, cryptography-vectors, certifi of several years,
//! and changed certificates and bundles. And the comparison.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use castore::readers::reading::Reading;

use super::der::{self, pem};
use super::{block_der, certificate_blocks, mutate};

/// One file that a library is given.
pub struct Input {
    /// What it is called in tables of differences.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// What a library did with a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// SHA-256 of each certificate that it loaded, lower-case hexadecimal.
    pub loads: BTreeSet<String>,
    /// Whether it refused the file.
    pub refused: bool,
}

impl Answer {
    /// What a model says.
    pub fn of(reading: &Reading) -> Self {
        Self {
            loads: reading.loads.iter().map(|loaded| loaded.fingerprint.to_string()).collect(),
            refused: reading.refused.is_some(),
        }
    }
}

/// How many changed certificates, and how many bundles: 200, or what CASTORE_MUTATIONS says (`make test-full`).
pub fn mutations() -> usize {
    std::env::var("CASTORE_MUTATIONS")
        .ok()
        .map_or(200, |count| count.parse().expect("CASTORE_MUTATIONS is a number"))
}

/// Another list of changes than the usual one, for a look further (CASTORE_SEED).
fn seed() -> u64 {
    std::env::var("CASTORE_SEED").ok().map_or(0, |seed| seed.parse().expect("CASTORE_SEED is a number"))
}

/// All inputs, in an order that is the same at each run; `None` where the material is missing.
pub fn inputs() -> Option<Vec<Input>> {
    let vectors = super::vectors()?;
    let certifi = super::certifi();
    let mut out = Vec::new();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cases");
    for (prefix, folder) in [("case", &cases), ("vector", &vectors)] {
        for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap) {
            if entry.file_type().is_file() && entry.file_name() != "cases.json" {
                let name = entry.path().strip_prefix(folder).unwrap().to_string_lossy();
                out.push(Input { name: format!("{prefix}/{name}"), bytes: fs::read(entry.path()).unwrap() });
            }
        }
    }
    for (year, path) in &certifi {
        out.push(Input { name: format!("certifi/{year}"), bytes: fs::read(path).unwrap() });
    }
    out.extend(changed(&vectors, &certifi, mutations()));
    Some(out)
}

/// Changed certificates and bundles alone.
pub fn mutated() -> Option<Vec<Input>> {
    Some(changed(&super::vectors()?, &super::certifi(), mutations()))
}

fn changed(vectors: &Path, certifi: &[(String, PathBuf)], count: usize) -> Vec<Input> {
    let bases = bases(vectors, certifi);
    let extras = mutate::Extras { blocks: extras(vectors, &bases) };
    let certificates = mutate::certificates(&bases, seed(), count).into_iter().map(|mutation| Input {
        name: format!("certificate/{}", mutation.what),
        bytes: pem("CERTIFICATE", &mutation.bytes).into_bytes(),
    });
    let bundles = mutate::bundles(&bases[..8], &extras, seed(), count)
        .into_iter()
        .map(|mutation| Input { name: format!("bundle/{}", mutation.what), bytes: mutation.bytes });
    certificates.chain(bundles).collect()
}

/// Real certificates: eight roots of a certifi that does not change, and some from the vectors with many extensions.
fn bases(vectors: &Path, certifi: &[(String, PathBuf)]) -> Vec<Vec<u8>> {
    let (_, path) = certifi.iter().find(|(version, _)| version.starts_with("2024")).expect("certifi of 2024");
    let blocks = certificate_blocks(&fs::read(path).unwrap());
    // RSA and EC, SHA-1 and SHA-2, UTCTime and GeneralizedTime, v3 with few and with many extensions.
    let roots = [0, 3, 10, 17, 42, 71, 98, 120];
    let mut out: Vec<Vec<u8>> = roots.iter().map(|&number| block_der(&blocks[number])).collect();
    for name in [
        "custom/san_rfc822_names.pem",
        "custom/nc_permitted_excluded.pem",
        "custom/pc_inhibit_require.pem",
        "custom/cp_user_notice_with_notice_reference.pem",
        "custom/cdp_all_reasons.pem",
        "custom/aia_ocsp_ca_issuers.pem",
        "custom/all_key_usages.pem",
        "custom/authority_key_identifier.pem",
        "v1_cert.pem",
        "cryptography.io.pem",
        "ed25519/root-ed25519.pem",
        "ecdsa_root.pem",
    ] {
        let file = vectors.join(name);
        let bytes = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        out.push(block_der(&certificate_blocks(&bytes)[0]));
    }
    out
}

/// Blocks that are no certificates.
fn extras(vectors: &Path, bases: &[Vec<u8>]) -> Vec<(String, String)> {
    let read = |name: &str| {
        let bytes = fs::read(vectors.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        String::from_utf8(bytes).unwrap()
    };
    let key = der::sequence(&[
        der::integer(&[0]),
        der::sequence(&[der::oid("1.3.101.112")]),
        der::octet_string(&der::octet_string(&[7; 32])),
    ]);
    vec![
        ("a CRL".to_owned(), read("custom/crl_all_reasons.pem")),
        ("a request".to_owned(), read("requests/rsa_sha256.pem")),
        ("a key".to_owned(), pem("PRIVATE KEY", &key)),
        ("a key of a wrong kind".to_owned(), pem("RSA PRIVATE KEY", &key)),
        ("a key that is none".to_owned(), pem("PRIVATE KEY", b"no key at all")),
        ("an encrypted key that is none".to_owned(), pem("ENCRYPTED PRIVATE KEY", b"no key at all")),
        ("an OpenSSH key that is none".to_owned(), pem("OPENSSH PRIVATE KEY", b"openssh-key-v1")),
        ("parameters".to_owned(), pem("EC PARAMETERS", &der::oid("1.2.840.10045.3.1.7"))),
        ("a public key".to_owned(), pem("PUBLIC KEY", &der::spki_p256(5))),
        ("an X509 CERTIFICATE".to_owned(), pem("X509 CERTIFICATE", &bases[9])),
        ("a TRUSTED CERTIFICATE".to_owned(), pem("TRUSTED CERTIFICATE", &bases[9])),
        ("a request that is none".to_owned(), pem("CERTIFICATE REQUEST", &bases[9])),
        ("a list that is none".to_owned(), pem("X509 CRL", &bases[9])),
        ("PKCS#7 that is none".to_owned(), pem("PKCS7", &bases[9])),
    ]
}

/// Writes the inputs to numbered files, and the list of their paths, one a line.
pub fn lay_out(inputs: &[Input], folder: &Path) -> PathBuf {
    let mut list = String::new();
    for (number, input) in inputs.iter().enumerate() {
        let path = folder.join(format!("{number:05}.pem"));
        fs::write(&path, &input.bytes).unwrap();
        list.push_str(&format!("{}\n", path.display()));
    }
    let path = folder.join("list");
    fs::write(&path, list).unwrap();
    path
}

/// Reads the answers of an oracle: one line a file, in the order of the list: `ok` or `refused`, then fingerprints.
pub fn answers(stdout: &[u8], inputs: &[Input]) -> Vec<Answer> {
    let text = String::from_utf8(stdout.to_vec()).expect("an oracle prints ASCII");
    let answers: Vec<Answer> = text
        .lines()
        .map(|line| {
            let mut words = line.split(' ');
            let refused = match words.next() {
                Some("ok") => false,
                Some("refused") => true,
                other => panic!("an oracle said {other:?}"),
            };
            Answer { refused, loads: words.map(str::to_owned).collect() }
        })
        .collect();
    assert_eq!(answers.len(), inputs.len(), "an oracle answers once for each file");
    answers
}

/// Holds the model to the library: each difference must stand in the table, and each entry of the table must be one,
/// as far as its input is among these.
pub fn compare(
    library: &str,
    inputs: &[Input],
    answers: &[Answer],
    model: impl Fn(&[u8]) -> Answer,
    table: &[(&str, &str)],
) {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for (input, answer) in inputs.iter().zip(answers) {
        let predicted = model(&input.bytes);
        let entry = table.iter().find(|(name, _)| *name == input.name);
        if let Some((name, _)) = entry {
            seen.insert(*name);
        }
        match (predicted == *answer, entry) {
            (true, Some(_)) => {
                wrong.push(format!("{}: no difference any more: take it off the table", input.name))
            }
            (false, None) => wrong.push(format!(
                "{}: {library} {}; the model {}",
                input.name,
                in_words(answer, &predicted),
                in_words(&predicted, answer)
            )),
            _ => {}
        }
    }
    for (name, _) in table {
        assert!(
            seen.contains(name)
                || mutations() != 200
                || name.starts_with("certificate/")
                || name.starts_with("bundle/"),
            "{name}: no such input"
        );
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), inputs.len(), wrong.join("\n"));
}

fn in_words(answer: &Answer, other: &Answer) -> String {
    let more: Vec<&str> = answer.loads.difference(&other.loads).map(|sha256| &sha256[..8]).collect();
    let verb = if answer.refused { "refuses".to_owned() } else { format!("loads {}", answer.loads.len()) };
    if more.is_empty() { verb } else { format!("{verb} (+ {})", more.join(" ")) }
}
