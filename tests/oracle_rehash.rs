//! `castore rehash` beside `openssl rehash`, over directories of many shapes: the same links name by name wherever
//! OpenSSL makes them right, and where it does not, links by which `openssl verify -CApath` finds every certificate.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that makes files and runs programs"
)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use support::capath::{
    all_wrong, contents, crl, hash, key, link, links, numbered, old_hash, put, root, same, wait,
};
use support::der::{self, Certificate, oids};
use support::{EntryKind, Trust};

/// `openssl rehash` waits for ever where a FIFO has a member's name.
const PATIENCE: Duration = Duration::from_secs(3);

// ---- Shapes --------------------------------------------------------------------------------------------------

/// What is held to what.
enum Expect {
    /// Every link, name by name, is as `openssl rehash` makes it.
    AsOpenssl,
    /// OpenSSL does something else, for this reason; and in castore's directory `openssl verify` finds just these.
    Found(&'static str, fn() -> Vec<Certificate>),
}
use Expect::{AsOpenssl, Found};

struct Shape {
    name: &'static str,
    /// Whether there is something to do.
    changes: bool,
    expect: Expect,
    /// Whether all that is found is found by the old hash as well, where links of that kind are asked for.
    by_old: bool,
    build: fn(&Path),
}

const fn shape(name: &'static str, build: fn(&Path)) -> Shape {
    Shape { name, changes: true, expect: AsOpenssl, by_old: true, build }
}

/// Nothing is to be done, for OpenSSL neither.
const fn settled(name: &'static str, build: fn(&Path)) -> Shape {
    Shape { name, changes: false, expect: AsOpenssl, by_old: true, build }
}

const fn otherwise(
    name: &'static str,
    reason: &'static str,
    found: fn() -> Vec<Certificate>,
    build: fn(&Path),
) -> Shape {
    Shape { name, changes: true, expect: Found(reason, found), by_old: true, build }
}

/// What a file or link finds that has a name by the new hash alone gets none by the old one: it is no member.
const fn not_by_old(shape: Shape) -> Shape {
    Shape { by_old: false, ..shape }
}

/// `do_dir` of apps/rehash.c keeps each link whose number lies below the count of its hash, whatever it leads to.
const BELOW_THE_COUNT: &str = "a link that nobody wants stays where its number lies below the count";

/// The directory stands beside a directory `outside`.
const SHAPES: &[Shape] = &[
    settled("empty", |_| {}),
    shape("fresh", |d| numbered(d, (1..=5).map(root))),
    settled("right already", |d| {
        numbered(d, [root(1), same(1), same(2)]);
        link(d, format!("{}.0", hash(&root(1))), "001.pem");
        // In another order than that of the names: numbers that stand stay.
        link(d, format!("{}.1", hash(&same(1))), "002.pem");
        link(d, format!("{}.0", hash(&same(1))), "003.pem");
    }),
    shape("copies under two names", |d| {
        put(d, "b.pem", root(1).pem());
        put(d, "a.pem", root(1).pem());
        put(d, "c.crt", root(1).pem());
        put(d, "d.pem", root(2).pem());
    }),
    shape("a link to a member has a member's name", |d| {
        put(d, "a.pem", root(1).pem());
        link(d, "z.pem", "a.pem");
        put(d, "n.pem", root(2).pem());
        link(d, "b.pem", "n.pem");
    }),
    shape("hard links", |d| {
        put(d, "m.pem", root(1).pem());
        fs::hard_link(d.join("m.pem"), d.join("a.pem")).expect("a second name");
        fs::hard_link(d.join("m.pem"), d.join("z.pem")).expect("a third name");
    }),
    shape("two of one subject", |d| numbered(d, (1..=2).map(same))),
    shape("three of one subject", |d| numbered(d, (1..=3).map(same))),
    shape("twelve of one subject", |d| numbered(d, (1..=12).map(same))),
    shape("names alike to OpenSSL, not in bytes", |d| {
        let name = |text: &str, string_tag| {
            der::name(&[vec![der::attribute(oids::COMMON_NAME, string_tag, text.as_bytes())]])
        };
        for (number, (text, string_tag)) in [
            ("Castore  Alike", der::tag::UTF8_STRING),
            ("castore alike ", der::tag::PRINTABLE_STRING),
            ("CASTORE ALIKE", der::tag::T61_STRING),
        ]
        .into_iter()
        .enumerate()
        {
            let subject = name(text, string_tag);
            let certificate = Certificate { issuer: subject.clone(), subject, ..root(number as u64 + 1) };
            put(d, format!("{number}.pem"), certificate.pem());
        }
    }),
    shape("CRLs", |d| {
        put(d, "ca.pem", root(1).pem());
        put(d, "b.crl", crl(&root(1), 1));
        put(d, "a.crl", crl(&root(1), 2));
        put(d, "c.pem", crl(&root(2), 3));
        // A copy.
        put(d, "d.crl", crl(&root(2), 3));
        link(d, format!("{}.r0", hash(&root(1))), "b.crl");
        link(d, format!("{}.r5", hash(&root(3))), "b.crl");
    }),
    shape("certificate and CRL in one file", |d| {
        put(d, "a.pem", root(1).pem() + &crl(&root(1), 1));
        put(d, "b.pem", crl(&root(2), 1) + &root(2).pem());
    }),
    shape("several certificates in one file", |d| {
        put(d, "chain.pem", root(1).pem() + &root(2).pem());
        put(d, "a.pem", root(1).pem());
        put(d, "twice.pem", root(3).pem().repeat(2));
    }),
    shape("a bundle inside", |d| {
        numbered(d, (1..=4).map(root));
        let all: String = (1..=4).map(|number| root(number).pem()).collect();
        put(d, "ca-certificates.crt", all);
        put(d, "tls-ca-bundle.pem", root(9).pem());
    }),
    shape("stale links", |d| {
        put(d, "a.pem", root(1).pem());
        put(d, "b.pem", root(2).pem());
        put(d, "notes.txt", "no certificate\n");
        link(d, "12345678.0", "gone.pem");
        link(d, "12345678.1", "a.pem");
        link(d, "0badcafe.r0", "a.pem");
        link(d, "87654321.0", "notes.txt");
    }),
    shape("a link to a file outside, of the subject of a member", |d| {
        put(d, "a.pem", same(1).pem());
        put(&d.join("../outside"), "b", same(2).pem());
        link(d, format!("{}.0", hash(&same(2))), "../outside/b");
    }),
    shape("a gap that a third one fills", |d| {
        numbered(d, (1..=3).map(same));
        link(d, format!("{}.0", hash(&same(1))), "001.pem");
        link(d, format!("{}.2", hash(&same(1))), "003.pem");
    }),
    shape("old-style links", |d| {
        numbered(d, (1..=2).map(root));
        link(d, format!("{}.0", old_hash(&root(1))), "001.pem");
        link(d, format!("{}.0", old_hash(&root(2))), "002.pem");
        link(d, format!("{}.0", hash(&root(2))), "002.pem");
    }),
    shape("odd names", |d| {
        let names: [&[u8]; 14] = [
            b"with space.pem",
            b" leading.pem",
            b"quote'.pem",
            b"double\".pem",
            b"dollar$HOME.pem",
            b"`touch x`.pem",
            b"-dash.pem",
            b"--help.pem",
            b"new\nline.pem",
            b"tab\t.pem",
            b"back\\slash.pem",
            b"star*.pem",
            b"not-utf8-\xff\xfe.pem",
            "Certinomis \u{e9}\u{202e}.pem".as_bytes(),
        ];
        for (number, name) in names.into_iter().enumerate() {
            put(d, OsStr::from_bytes(name), root(number as u64 + 1).pem());
        }
    }),
    shape("endings", |d| {
        let names = [
            "a.PEM",
            "b.Crt",
            "c.cer",
            "d.CRL",
            "e.txt",
            "f.cert",
            "pem",
            "g.pem.bak",
            "h.der",
            "i.pem.crt",
            "12345678.pem",
            "j",
            "k.",
        ];
        for (number, name) in names.into_iter().enumerate() {
            put(d, name, root(number as u64 + 1).pem());
        }
    }),
    shape("keys", |d| {
        put(d, "key.pem", key());
        put(d, "both.pem", root(1).pem() + &key());
        put(d, "turned.pem", key() + &root(2).pem());
    }),
    settled("DER", |d| {
        put(d, "a.crt", root(1).der());
        put(d, "b.cer", root(2).der());
    }),
    shape("trust attributes", |d| {
        put(d, "a.pem", root(1).trusted_pem(&[oids::SERVER_AUTH], &[]));
        put(d, "b.pem", root(1).pem());
        put(d, "c.pem", root(2).pem());
        put(d, "d.pem", root(2).trusted_pem(&[], &[oids::SERVER_AUTH]));
        put(d, "e.pem", der::pem("X509 CERTIFICATE", &root(3).der()));
    }),
    shape("noise that OpenSSL takes", |d| {
        put(d, "a.pem", format!("# a comment\nsubject=x\n{}# end\n", root(1).pem()));
        put(d, "b.pem", root(2).pem().replace('\n', "\r\n"));
        put(d, "c.pem", format!("\u{feff}\n{}", root(3).pem()));
        put(d, "d.pem", root(4).pem().trim_end());
        put(d, "e.pem", root(5).pem().replace('\n', "  \n"));
    }),
    shape("a byte order mark before BEGIN", |d| {
        put(d, "a.pem", format!("\u{feff}{}", root(1).pem()));
        put(d, "b.pem", root(2).pem());
    }),
    shape("damaged members", |d| {
        put(d, "good.pem", root(9).pem());
        let block = root(1).pem();
        put(d, "truncated.pem", &block[..block.len() / 2]);
        put(d, "no-end.pem", block.replace("-----END CERTIFICATE-----\n", ""));
        put(d, "bad-base64.pem", root(2).pem().replacen("\nM", "\n!", 1));
        put(d, "label.pem", root(3).pem().replace("END CERT", "END X509 CERT"));
        put(d, "blank-line.pem", root(4).pem().replace("-----END", "\n-----END"));
        put(d, "html.pem", "<html>\n");
        put(d, "empty.pem", "");
        put(d, "no-certificate.pem", der::pem("CERTIFICATE", &[0x30, 0x03, 0x02, 0x01, 0x01]));
        put(d, "good-and-bad.pem", root(5).pem() + "-----BEGIN CERTIFICATE-----\nAAAA\n");
    }),
    shape("other blocks", |d| {
        put(d, "public.pem", der::pem("PUBLIC KEY", &der::spki_ed25519(1)));
        put(d, "before.pem", der::pem("PUBLIC KEY", &der::spki_ed25519(1)) + &root(1).pem());
        put(d, "behind.pem", root(2).pem() + &der::pem("EC PARAMETERS", &der::oid(oids::P256)));
    }),
    shape("leaves and intermediates", |d| {
        put(d, "leaf.pem", Certificate::leaf("site.castore.test", &root(1), 2).pem());
        put(d, "intermediate.pem", Certificate::intermediate("Castore Test Sub", &root(1), 3).pem());
        put(d, "expired.pem", root(4).valid("100101000000Z", "200101000000Z").pem());
    }),
    shape("directories and links to nothing", |d| {
        put(d, "good.pem", root(1).pem());
        fs::create_dir(d.join("sub.pem")).expect("a directory");
        put(d, "sub.pem/inner.pem", root(2).pem());
        link(d, "dangling.pem", "nowhere.pem");
        link(d, "loop.pem", "loop.pem");
        link(d, "12345678.0", "12345678.0");
        link(d, "87654321.0", "sub.pem");
    }),
    shape("members outside", |d| {
        put(&d.join("../outside"), "a.pem", root(1).pem());
        put(&d.join("../outside"), "b.pem", root(2).pem());
        link(d, "a.pem", "../outside/a.pem");
        let real = fs::canonicalize(d.join("../outside/b.pem")).expect("the file");
        link(d, "b.pem", real);
    }),
    settled("files named like links alone", |d| {
        put(d, format!("{}.0", hash(&root(1))), root(1).pem());
        put(d, format!("{}.0", hash(&same(1))), same(1).pem());
        put(d, format!("{}.1", hash(&same(1))), same(2).pem());
    }),
    // ---- where OpenSSL is wrong
    otherwise(
        "wrong links below the count",
        BELOW_THE_COUNT,
        || vec![root(1), root(2), root(3), root(4)],
        |d| {
            numbered(d, (1..=4).map(root));
            put(d, "notes.txt", "no certificate\n");
            link(d, format!("{}.0", hash(&root(1))), "002.pem");
            link(d, format!("{}.0", hash(&root(2))), "001.pem");
            link(d, format!("{}.0", hash(&root(3))), "gone.pem");
            link(d, format!("{}.0", hash(&root(4))), "notes.txt");
        },
    ),
    otherwise(
        "a link to the second copy",
        BELOW_THE_COUNT,
        || vec![root(1)],
        |d| {
            put(d, "a.pem", root(1).pem());
            put(d, "b.pem", root(1).pem());
            link(d, format!("{}.0", hash(&root(1))), "b.pem");
        },
    ),
    otherwise(
        "hash links by long paths to members",
        BELOW_THE_COUNT,
        || vec![root(1), root(2)],
        |d| {
            put(d, "a.pem", root(1).pem());
            put(d, "b.pem", root(2).pem());
            link(d, format!("{}.0", hash(&root(1))), "./a.pem");
            let real = fs::canonicalize(d.join("b.pem")).expect("the file");
            link(d, format!("{}.0", hash(&root(2))), real);
        },
    ),
    otherwise(
        "a hash link by way of another name",
        BELOW_THE_COUNT,
        || vec![root(1)],
        |d| {
            put(d, "a.pem", root(1).pem());
            link(d, "b.pem", "a.pem");
            link(d, format!("{}.0", hash(&root(1))), "b.pem");
        },
    ),
    otherwise(
        "a dangling .0 before a live .1",
        "the .1 is left: beyond the count",
        || vec![root(1)],
        |d| {
            put(d, "a.pem", root(1).pem());
            link(d, format!("{}.0", hash(&root(1))), "gone.pem");
            link(d, format!("{}.1", hash(&root(1))), "a.pem");
        },
    ),
    otherwise(
        "an upper-case link",
        "it counts as there, so that the one that is looked up is never made",
        || vec![root(1), root(2)],
        |d| {
            // Hashes with a letter.
            numbered(d, [root(1), root(2)]);
            let mut upper = 0;
            for (name, certificate) in [("001.pem", root(1)), ("002.pem", root(2))] {
                let hash = hash(&certificate);
                upper += usize::from(hash.to_ascii_uppercase() != hash);
                link(d, format!("{}.0", hash.to_ascii_uppercase()), name);
            }
            assert!(upper > 0);
        },
    ),
    otherwise(
        "leading zeros",
        "it counts as there, so that the one that is looked up is never made",
        || vec![root(1)],
        |d| {
            put(d, "a.pem", root(1).pem());
            link(d, format!("{}.00", hash(&root(1))), "a.pem");
        },
    ),
    otherwise(
        "a gap",
        "the number beyond the count is left for ever",
        || vec![same(1), same(2)],
        |d| {
            numbered(d, (1..=2).map(same));
            link(d, format!("{}.0", hash(&same(1))), "001.pem");
            link(d, format!("{}.2", hash(&same(1))), "002.pem");
        },
    ),
    otherwise(
        "a number far beyond the count",
        "it is left for ever",
        || vec![root(1)],
        |d| {
            put(d, "a.pem", root(1).pem());
            link(d, format!("{}.7", hash(&root(1))), "a.pem");
        },
    ),
    not_by_old(otherwise(
        "a regular file has the name of a link",
        "the file is overwritten without a word, and its certificate lost",
        || vec![same(1), same(2)],
        |d| {
            put(d, format!("{}.0", hash(&same(1))), same(1).pem());
            put(d, "a.pem", same(2).pem());
        },
    )),
    not_by_old(otherwise(
        "links to files outside",
        "they are deleted as stale",
        || vec![root(1), root(2), root(3)],
        |d| {
            put(d, "a.pem", root(1).pem());
            put(&d.join("../outside"), "b", root(2).pem());
            put(&d.join("../outside"), "c", root(3).pem());
            link(d, format!("{}.0", hash(&root(2))), "../outside/b");
            let real = fs::canonicalize(d.join("../outside/c")).expect("the file");
            link(d, format!("{}.0", hash(&root(3))), real);
        },
    )),
    otherwise(
        "three hundred of one subject",
        "it has 256 places for one hash",
        || (1..=300).map(same).collect(),
        |d| numbered(d, (1..=300).map(same)),
    ),
    otherwise(
        "a FIFO",
        "it waits for a writer",
        || vec![root(1)],
        |d| {
            put(d, "z.pem", root(1).pem());
            mknodat(CWD, d.join("a.pem"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).expect("a FIFO");
        },
    ),
    not_by_old(otherwise(
        "what tools leave behind",
        "a dot file is taken for a member; castore takes one only where a link names it",
        || vec![root(1), root(3)],
        |d| {
            put(d, "a.pem", root(1).pem());
            put(d, ".b.pem", root(2).pem());
            put(d, ".c.pem", root(3).pem());
            link(d, format!("{}.0", hash(&root(3))), ".c.pem");
        },
    )),
];

// ---- Runs ----------------------------------------------------------------------------------------------------

fn rehash(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = support::castore();
    command.arg("rehash").args(arguments).arg(directory);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("castore starts");
    child.wait_with_output().expect("castore ends")
}

fn ends(directory: &Path, arguments: &[&str], status: i32) {
    let output = rehash(directory, arguments);
    assert_eq!(
        output.status.code(),
        Some(status),
        "{arguments:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs `openssl rehash`; its status is the number of what it takes for errors, so no matter. `false`: it had to be
/// stopped.
fn openssl_rehash(directory: &Path) -> bool {
    openssl_rehash_with(directory, &[])
}

fn openssl_rehash_with(directory: &Path, arguments: &[&str]) -> bool {
    let mut child = support::required("openssl")
        .arg("rehash")
        .args(arguments)
        .arg(directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("openssl starts");
    let ended = wait(&mut child, PATIENCE);
    if !ended {
        child.kill().expect("the child is ours");
        child.wait().expect("it ends");
    }
    ended
}

/// Whether the hash links are numbered without a gap, and only such names as OpenSSL looks up stand there.
fn assert_no_gaps(directory: &Path) {
    let mut numbers: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for name in support::names_in(directory) {
        let Some(name) = name.to_str() else { continue };
        let Some((hash, number)) = name.split_once('.') else { continue };
        let (kind, digits) = match number.strip_prefix('r') {
            Some(digits) => ("r", digits),
            None => ("", number),
        };
        if hash.len() == 8
            && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
            && let Ok(number) = digits.parse::<u32>()
        {
            assert_eq!(hash, hash.to_ascii_lowercase(), "{name}");
            assert_eq!(digits, number.to_string(), "{name}");
            assert!(numbers.entry(format!("{hash}.{kind}")).or_default().insert(number), "{name}");
        }
    }
    for (hash, numbers) in numbers {
        assert_eq!(numbers.last(), Some(&(numbers.len() as u32 - 1)), "{hash}: {numbers:?}");
    }
}

fn build(shape: &Shape, base: &Path) -> PathBuf {
    let directory = base.join("certs");
    fs::create_dir_all(base.join("outside")).expect("a directory");
    fs::create_dir(&directory).expect("a directory");
    (shape.build)(&directory);
    directory
}

/// Everything about one shape, or what is wrong.
fn hold(shape: &Shape) {
    let root = tempfile::tempdir().expect("a directory");
    let own = build(shape, &root.path().join("own"));
    let theirs = build(shape, &root.path().join("theirs"));
    let content = contents(&own);

    let before = support::tree_state(&own);
    ends(&own, &["--check"], i32::from(shape.changes));
    assert_eq!(support::tree_state(&own), before, "--check changed something");
    ends(&own, &["--dry-run"], 0);
    assert_eq!(support::tree_state(&own), before, "--dry-run changed something");

    ends(&own, &[], 0);
    let after = support::tree_state(&own);
    assert_eq!(after == before, !shape.changes, "whether something is to be done");
    assert_eq!(contents(&own), content, "something else than links was changed");
    assert_no_gaps(&own);
    ends(&own, &[], 0);
    assert_eq!(support::tree_state(&own), after, "the second run wrote");
    ends(&own, &["--check"], 0);
    assert_eq!(support::tree_state(&own), after, "--check changed something");

    let ended = openssl_rehash(&theirs);
    match &shape.expect {
        AsOpenssl => {
            assert!(ended, "openssl rehash does not end");
            assert_eq!(links(&own), links(&theirs), "castore's links beside OpenSSL's");
        }
        Found(reason, found) => {
            assert!(
                !ended || links(&own) != links(&theirs) || contents(&theirs) != content,
                "OpenSSL does the same now: {reason}"
            );
            let expected = found();
            // All that there are, of which some may be meant to stay hidden.
            let mut asked: Vec<Vec<u8>> = expected.iter().map(|one| one.pem().into_bytes()).collect();
            for (name, state) in &after {
                if state.kind == EntryKind::File {
                    let bytes = fs::read(own.join(name)).expect("a member");
                    asked.extend(support::certificate_blocks(&bytes));
                }
            }
            asked.sort();
            asked.dedup();
            let expected: BTreeSet<String> =
                expected.iter().map(|certificate| support::sha256_hex(&certificate.der())).collect();
            assert_eq!(support::openssl_verify_each(Trust::CaPath(&own), &asked), expected);
        }
    }
}

#[test]
fn shapes() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let names: BTreeSet<&str> = SHAPES.iter().map(|shape| shape.name).collect();
    assert_eq!(names.len(), SHAPES.len(), "a name twice");
    all_wrong(SHAPES, |shape| shape.name.to_owned(), hold);
}

/// The options of `openssl rehash`, alone and together.
const MANNERS: &[&[&str]] = &[
    &["-compat"],
    &["-old"],
    &["-n"],
    &["-compat", "-n"],
    &["-old", "-n"],
    // The last one of two counts.
    &["-old", "-compat"],
    &["-compat", "-old"],
];

/// All certificates in the files of a directory that a look-up by OpenSSL 0.9.8's hash finds.
fn found_by_old(directory: &Path, asked: &[Certificate]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for certificate in asked {
        let (fingerprint, hash) = (support::sha256_hex(&certificate.der()), old_hash(certificate));
        for number in 0.. {
            let Ok(bytes) = fs::read(directory.join(format!("{hash}.{number}"))) else { break };
            let mut blocks = support::certificate_blocks(&bytes).into_iter();
            if blocks.any(|block| support::sha256_hex(&support::block_der(&block)) == fingerprint) {
                out.insert(fingerprint.clone());
            }
        }
    }
    out
}

/// One shape under one set of options, in the spelling of `openssl rehash`.
fn hold_manner(shape: &Shape, manner: &[&str]) {
    let root = tempfile::tempdir().expect("a directory");
    let own = build(shape, &root.path().join("own"));
    let theirs = build(shape, &root.path().join("theirs"));
    let content = contents(&own);
    let before = links(&own);
    ends(&own, manner, 0);
    let after = support::tree_state(&own);
    assert_eq!(contents(&own), content, "something else than links was changed");
    ends(&own, &[manner, &["--check"]].concat(), 0);
    ends(&own, manner, 0);
    assert_eq!(support::tree_state(&own), after, "the second run wrote");
    if manner.contains(&"-n") {
        let gone: Vec<_> = before.keys().filter(|name| !links(&own).contains_key(*name)).collect();
        assert_eq!(gone, Vec::<&OsString>::new(), "links were removed");
    } else {
        assert_no_gaps(&own);
    }
    match &shape.expect {
        AsOpenssl => {
            assert!(openssl_rehash_with(&theirs, manner), "openssl rehash does not end");
            assert_eq!(links(&own), links(&theirs), "castore's links beside OpenSSL's");
        }
        Found(_, found) => {
            // Where OpenSSL is wrong without options it is no judge with them.
            let found = found();
            let expected: BTreeSet<String> =
                found.iter().map(|certificate| support::sha256_hex(&certificate.der())).collect();
            let old = manner.iter().rev().find(|option| ["-old", "-compat"].contains(option));
            if old != Some(&"-old") {
                let asked: Vec<Vec<u8>> = found.iter().map(|one| one.pem().into_bytes()).collect();
                assert_eq!(support::openssl_verify_each(Trust::CaPath(&own), &asked), expected);
            }
            if old.is_some() && shape.by_old {
                assert_eq!(found_by_old(&own, &found), expected);
            }
        }
    }
}

#[test]
fn shapes_under_the_options_of_openssl() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let all: Vec<(&Shape, &[&str])> = SHAPES
        .iter()
        .enumerate()
        .flat_map(|(index, shape)| MANNERS.iter().map(move |manner| (index, shape, *manner)))
        // Which of two options counts, few shapes show; what many files show, one set of options.
        .filter(|(index, shape, manner)| match shape.name {
            "three hundred of one subject" => *manner == ["-compat"],
            _ => *index < 6 || !(manner.contains(&"-old") && manner.contains(&"-compat")),
        })
        .map(|(_, shape, manner)| (shape, manner))
        .collect();
    all_wrong(
        &all,
        |(shape, manner)| format!("{} {manner:?}", shape.name),
        |(shape, manner)| hold_manner(shape, manner),
    );
}

/// Links of both kinds at once, over a real store that somebody damaged.
#[test]
fn stock_store_repaired() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let Some(store) = support::stock_store() else { return };
    let root = tempfile::tempdir().expect("a directory");
    let copy = root.path().join("certs");
    support::copy_tree(&store, &copy);
    let whole = links(&copy);
    // As the distribution's own openssl made them.
    let before = support::tree_state(&copy);
    ends(&copy, &["--check"], 0);
    ends(&copy, &[], 0);
    assert_eq!(support::tree_state(&copy), before);
    let names: Vec<OsString> =
        whole.keys().filter(|name| !name.as_bytes().ends_with(b".pem")).cloned().collect();
    // Every third link away: so far OpenSSL repairs as well.
    for name in names.iter().step_by(3) {
        fs::remove_file(copy.join(name)).expect("a link");
    }
    let theirs = root.path().join("theirs");
    support::copy_tree(&copy, &theirs);
    ends(&copy, &["--check"], 1);
    ends(&copy, &[], 0);
    assert!(openssl_rehash(&theirs));
    assert_eq!(links(&copy), links(&theirs));
    assert_eq!(links(&copy), whole);
    // And every fifth to nothing, every seventh to another.
    for (number, name) in names.iter().enumerate() {
        let target = match number {
            _ if number % 3 == 0 => None,
            _ if number % 5 == 0 => Some(Path::new("gone.pem")),
            _ if number % 7 == 0 => Some(whole[&names[0]].as_path()),
            _ => continue,
        };
        fs::remove_file(copy.join(name)).expect("a link");
        if let Some(target) = target {
            link(&copy, name, target);
        }
    }
    ends(&copy, &["--check"], 1);
    ends(&copy, &[], 0);
    assert_eq!(links(&copy), whole);
}

/// Several directories in one run: one that cannot be done does not stop the others.
#[test]
fn several_directories() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let base = tempfile::tempdir().expect("a directory");
    let (one, two) = (base.path().join("one"), base.path().join("two"));
    for directory in [&one, &two] {
        fs::create_dir(directory).expect("a directory");
        // The same certificate in both: each has its link.
        numbered(directory, [root(1)]);
    }
    let theirs = tempfile::tempdir().expect("a directory");
    support::copy_tree(base.path(), theirs.path());
    for (program, folder, status) in
        [(support::castore(), base.path(), 2), (support::required("openssl"), theirs.path(), 1)]
    {
        let mut program = program;
        let output = program.args(["rehash", "one", "gone", "two"]).current_dir(folder).output();
        let output = output.expect("it starts");
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("gone"), "{output:?}");
    }
    for name in ["one", "two"] {
        let expected = BTreeMap::from([(OsString::from(format!("{}.0", hash(&root(1)))), "001.pem".into())]);
        assert_eq!(links(&base.path().join(name)), expected);
        assert_eq!(links(&theirs.path().join(name)), expected);
    }
    // Named twice, by two names: the second time there is nothing to do.
    fs::remove_file(one.join(format!("{}.0", hash(&root(1))))).expect("the link");
    let dotted = base.path().join("./one/.");
    let output = support::castore().arg("rehash").args([&one, &dotted]).output().expect("castore starts");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(links(&one).len(), 1);
}

/// A name that a link needs, taken by what is no link and no certificate: refused, and nothing touched.
#[test]
fn what_stands_in_the_way() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let makes: [fn(&Path); 3] = [
        |path| fs::create_dir(path).expect("a directory"),
        |path| fs::write(path, "notes\n").expect("a file"),
        |path| fs::write(path, root(2).pem()).expect("a file"),
    ];
    for make in makes {
        let base = tempfile::tempdir().expect("a directory");
        numbered(base.path(), [root(1), root(3)]);
        let name = format!("{}.0", hash(&root(1)));
        make(&base.path().join(&name));
        let before = support::tree_state(base.path());
        let output = rehash(base.path(), &[]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(&name), "{output:?}");
        assert_eq!(support::tree_state(base.path()), before, "a refused run touched something");
    }
}

/// Base64 of a block in lines of this width.
fn width(block: &str, columns: usize) -> String {
    let lines: Vec<&str> = block.lines().collect();
    let (first, last) = (lines[0], lines[lines.len() - 1]);
    let body = lines[1..lines.len() - 1].concat();
    let body: Vec<&str> = body
        .as_bytes()
        .chunks(columns)
        .map(|line| std::str::from_utf8(line).expect("base64 is ASCII"))
        .collect();
    format!("{first}\n{}\n{last}\n", body.join("\n"))
}

/// Ways to write one certificate, and things to stand beside it, by what they are. Some of them OpenSSL loads.
fn framings(clean: &str) -> Vec<(&'static str, String)> {
    let begin = "-----BEGIN CERTIFICATE-----\n";
    let end = "-----END CERTIFICATE-----\n";
    let behind_begin = |text: &str| clean.replacen(begin, &format!("-----BEGIN CERTIFICATE-----{text}"), 1);
    let before_end = |text: &str| clean.replacen(end, &format!("{text}{end}"), 1);
    let lines = |change: &dyn Fn(&str) -> String| clean.lines().map(change).collect::<String>();
    let block = |label: &str, body: &str| format!("-----BEGIN {label}-----\n{body}-----END {label}-----\n");
    vec![
        ("clean", clean.to_owned()),
        ("blank before BEGIN", format!(" {clean}")),
        ("all lines indented", lines(&|line| format!("  {line}\n"))),
        ("body indented", clean.replacen('\n', "\n  ", 1)),
        ("blank before END", before_end(" ")),
        ("text before BEGIN", format!("root: {clean}")),
        ("a sixth dash before BEGIN", format!("-{clean}")),
        ("a sixth dash before END", before_end("-")),
        ("text behind BEGIN", behind_begin("x\n")),
        ("blanks behind BEGIN", behind_begin("   \n")),
        ("text behind END", format!("{} end\n", clean.trim_end())),
        ("END behind the body", clean.replacen("\n-----END", "-----END", 1)),
        ("the body behind BEGIN", behind_begin("")),
        ("one line", width(clean, 10_000)),
        ("76 columns", width(clean, 76)),
        ("48 columns", width(clean, 48)),
        ("1 column", width(clean, 1)),
        ("253 columns", width(clean, 253)),
        ("254 columns", width(clean, 254)),
        ("255 columns", width(clean, 255)),
        ("256 columns", width(clean, 256)),
        ("blank line behind BEGIN", behind_begin("\n\n")),
        ("two blank lines behind BEGIN", behind_begin("\n\n\n")),
        ("a line of blanks behind BEGIN", behind_begin("\n   \n")),
        ("blank line before END", before_end("\n")),
        ("a header", behind_begin("\nComment: x\n\n")),
        ("a header without a blank line", behind_begin("\nComment: x\n")),
        ("trailing blanks", lines(&|line| format!("{line}  \n"))),
        ("blanks inside a line", clean.replacen("\nMII", "\nM II", 1)),
        ("carriage returns", clean.replace('\n', "\r")),
        ("CRLF", clean.replace('\n', "\r\n")),
        ("two carriage returns each", clean.replace('\n', "\r\r\n")),
        ("a byte order mark", format!("\u{feff}{clean}")),
        ("a byte order mark inside the file", format!("# x\n\u{feff}{clean}")),
        ("a NUL before", format!("x\0y\n{clean}")),
        ("a line of a NUL before", format!("\0\n{clean}")),
        ("a long line before", format!("{}\n{clean}", "x".repeat(300))),
        ("253 characters before BEGIN", format!("{}{clean}", "x".repeat(253))),
        ("254 characters before BEGIN", format!("{}{clean}", "x".repeat(254))),
        ("255 characters before BEGIN", format!("{}{clean}", "x".repeat(255))),
        ("508 characters before BEGIN", format!("{}{clean}", "x".repeat(508))),
        ("no final newline", clean.trim_end().to_owned()),
        ("a quoted marker before", format!("see -----BEGIN CERTIFICATE----- below\n{clean}")),
        ("a commented marker before", format!("# -----BEGIN CERTIFICATE-----\n{clean}")),
        ("an END before", format!("{end}{clean}")),
        ("an END behind", format!("{clean}{end}")),
        ("a BEGIN before", format!("-----BEGIN OTHER-----\n{clean}")),
        ("a BEGIN behind", format!("{clean}{begin}")),
        ("another block before", block("OTHER", "AAAA\n") + clean),
        ("another block behind", clean.to_owned() + &block("OTHER", "AAAA\n")),
        ("an empty block before", block("OTHER", "") + clean),
        ("an empty block behind", clean.to_owned() + &block("OTHER", "")),
        ("another block with bad base64 before", block("OTHER", "!!!!\n") + clean),
        ("another block with bad base64 behind", clean.to_owned() + &block("OTHER", "!!!!\n")),
        ("a broken key behind", clean.to_owned() + &block("PRIVATE KEY", "AAAA\n")),
        ("a broken CRL behind", clean.to_owned() + &block("X509 CRL", "AAAA\n")),
        ("a request behind", clean.to_owned() + &block("CERTIFICATE REQUEST", "AAAA\n")),
        ("a broken certificate behind", clean.to_owned() + &block("CERTIFICATE", "AAAA\n")),
        ("label X509 CERTIFICATE", clean.replace("CERTIFICATE", "X509 CERTIFICATE")),
        ("label TRUSTED CERTIFICATE", clean.replace("CERTIFICATE", "TRUSTED CERTIFICATE")),
        ("label CERTIFICATE CHAIN", clean.replace("CERTIFICATE", "CERTIFICATE CHAIN")),
        ("END in lower case", clean.replace("-----END", "-----end")),
        ("END of another label", clean.replace("END CERT", "END X509 CERT")),
        ("END without a label", clean.replace("END CERTIFICATE", "END")),
        (
            "a header of an encrypted block",
            behind_begin("\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n"),
        ),
        ("hidden, then whole", format!("root: {clean}{clean}")),
        ("whole, then hidden", format!("{clean}root: {clean}")),
        ("no END", clean.replace(end, "")),
        ("twice, glued", format!("{}{clean}", clean.trim_end())),
        ("no padding", clean.replace('=', "")),
        ("zeros behind the certificate", {
            let der = support::block_der(clean.as_bytes());
            der::pem("CERTIFICATE", &[&der[..], &[0, 0, 0]].concat())
        }),
    ]
}

/// However a member is written: castore says that a look-up finds its certificate exactly where OpenSSL does find it,
/// and makes a link exactly there. A link that finds nothing would hide what has a higher number, and a link that is
/// taken away from a certificate that is found takes trust away.
#[test]
fn framings_as_openssl_reads_them() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let base = tempfile::tempdir().expect("a directory");
    // Its base64 ends in padding, so that there is some to take away.
    let certificate = (1..)
        .map(root)
        .find(|certificate| certificate.der().len() % 3 == 1 && certificate.pem().contains("\nMII"))
        .expect("every third one is");
    let clean = certificate.pem();
    let fingerprint = support::sha256_hex(&certificate.der());
    let hash = hash(&certificate);
    let framings = framings(&clean);
    let found_in = |directory: &Path| {
        let asked = [clean.clone().into_bytes()];
        support::openssl_verify_each(Trust::CaPath(directory), &asked).contains(&fingerprint)
    };
    let wrong: Vec<String> = support::in_two_threads(&framings, |number, (name, text)| {
        let directory = base.path().join(number.to_string());
        fs::create_dir(&directory).expect("a directory");
        put(&directory, "a.pem", text);
        link(&directory, format!("{hash}.0"), "a.pem");
        let found = found_in(&directory);
        let mut wrong = Vec::new();

        let mut command = support::castore();
        let output = command.args(["audit", "--format", "json"]).arg(&directory).output().expect("it starts");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
        let said = report["certificates"].as_array().expect("a list").iter().any(|row| {
            row["sha256"] == fingerprint.as_str()
                && row["occurrences"]
                    .as_array()
                    .expect("a list")
                    .iter()
                    .any(|place| place["reachable_as"].as_array().is_some_and(|links| !links.is_empty()))
        });
        if said != found {
            wrong.push(format!("{name}: OpenSSL finds it: {found}; castore says: {said}"));
        }
        // A link that works is not taken away.
        ends(&directory, &[], 0);
        if found && !found_in(&directory) {
            wrong.push(format!("{name}: rehash took its link away"));
        }
        // Without any link: one is made where it finds something, unless OpenSSL makes none either.
        for name in links(&directory).keys() {
            fs::remove_file(directory.join(name)).expect("a link");
        }
        let theirs = base.path().join(format!("{number}-theirs"));
        support::copy_tree(&directory, &theirs);
        assert!(openssl_rehash(&theirs));
        ends(&directory, &[], 0);
        match (links(&directory).is_empty(), links(&theirs).is_empty()) {
            (false, _) if !found => wrong.push(format!("{name}: rehash makes a link that finds nothing")),
            (true, false) if found => wrong.push(format!("{name}: rehash makes no link, OpenSSL does")),
            _ => {}
        }
        wrong
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// While castore repairs a directory, every name that was right is there at every moment.
#[test]
fn no_moment_without_a_link() {
    const CERTIFICATES: u64 = 145;
    const ROUNDS: usize = 50;
    if support::skip_without(&["openssl"]) {
        return;
    }
    let base = tempfile::tempdir().expect("a directory");
    let directory = base.path();
    numbered(
        directory,
        (1..=CERTIFICATES).map(|number| if number % 5 == 0 { same(number) } else { root(number) }),
    );
    assert!(openssl_rehash(directory));
    let whole = links(directory);
    assert_eq!(whole.len(), CERTIFICATES as usize);
    let names: Vec<PathBuf> = whole.keys().map(|name| directory.join(name)).collect();

    let stop = AtomicBool::new(false);
    let (polls, missing) = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let (mut polls, mut missing) = (0_u64, BTreeSet::new());
            while !stop.load(Ordering::Relaxed) {
                // `metadata` follows: the link must lead somewhere, too.
                missing.extend(names.iter().filter(|name| fs::metadata(name).is_err()).cloned());
                polls += 1;
            }
            (polls, missing)
        });
        // Caught, or a failure here would leave the watch running for ever.
        let result = std::panic::catch_unwind(|| {
            for round in 0..ROUNDS {
                damage(directory, round, &names[round % names.len()]);
                ends(directory, &["--quiet"], 0);
                assert_eq!(links(directory), whole, "round {round}");
            }
        });
        stop.store(true, Ordering::Relaxed);
        let watched = watch.join().expect("the watch ends");
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
        watched
    });
    assert!(polls > 0);
    assert!(missing.is_empty(), "not there at some moment of {polls}: {missing:?}");
}

/// Something for `rehash` to put right that takes nothing away.
fn damage(directory: &Path, round: usize, right: &Path) {
    let target = fs::read_link(right).expect("a right link");
    let name = right.file_name().expect("a name").to_str().expect("a hash link");
    let hash = &name[..8];
    match round % 5 {
        0 => link(directory, format!("{round:08x}.0"), "gone.pem"),
        1 => link(directory, format!("{hash}.300"), &target),
        2 => link(directory, format!("{hash}.00"), &target),
        3 => link(directory, format!("{round:08x}.0"), &target),
        // The same file by a longer way, in one step.
        _ => {
            let other = Path::new("..").join(directory.file_name().expect("a name")).join(&target);
            link(directory, "next", other);
            fs::rename(directory.join("next"), right).expect("the link is replaced");
        }
    }
}
