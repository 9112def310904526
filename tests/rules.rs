//! For every rule a store that it is about (a hit), one that is nearly so (a near miss), and one to which it does not
//! apply. What is expected follows from the meaning of the rule, not from what the program said.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that makes files and runs the program"
)]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use castore::audit::rules::RULES;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::Value;

use support::cases;
use support::der::{
    Certificate, algorithm, attribute, bit_string, common_name, explicit, generalized_time, integer, name,
    octet_string, oid, oids, pem, sequence, spki_ed25519, spki_rsa, tag, tlv, utc_time,
};

/// Every example is judged as of this instant.
const NOW: &str = "2026-01-01T00:00:00Z";

// What `openssl x509 -subject_hash` and `-subject_hash_old` say of these common names.
const ALPHA: &str = "743aa637";
const ALPHA_OLD: &str = "a16d1582";
const BRAVO: &str = "4f1516a8";

/// The severity of each finding, as the documentation promises it.
const SEVERITIES: &[(&str, &[&str])] = &[
    (
        "error",
        &[
            "bundle-refused",
            "dead-capath",
            "der-in-bundle",
            "distrust-flattened",
            "glued-boundary",
            "hidden-block",
            "ignored-anchor",
            "link-out-of-root",
            "link-to-bundle",
            "malformed-block",
            "malformed-certificate",
            "no-certificates",
            "not-regenerated",
            "private-key",
            "trust-conflict",
            "unreachable",
            "unreadable",
        ],
    ),
    (
        "warning",
        &[
            "bad-link-name",
            "bad-validity",
            "dangling-link",
            "der-file",
            "duplicate",
            "duplicate-across",
            "eager-and-on-demand",
            "expired",
            "expires-soon",
            "leftover-trusted",
            "legacy-label",
            "less-readable",
            "link-loop",
            "no-hash-links",
            "not-a-ca",
            "not-regular",
            "not-yet-valid",
            "one-sided",
            "pkcs7-block",
            "shadowed",
            "size-limit",
            "skipped-certificate",
            "weak-key",
            "weak-signature",
            "writable-by-others",
            "wrong-hash-link",
        ],
    ),
    (
        "notice",
        &[
            "group-writable",
            "intermediate",
            "keystore",
            "leftover",
            "legacy-link",
            "legacy-version",
            "link-outside",
            "odd-encoding",
            "odd-framing",
            "odd-serial",
            "other-block",
            "reissued",
            "same-key",
            "same-subject",
            "second-name",
            "subdirectory",
            "unlinked",
            "unused-ignore",
        ],
    ),
];

fn alpha() -> Certificate {
    Certificate::root("Alpha Root", 1)
}
fn bravo() -> Certificate {
    Certificate::root("Bravo Root", 2)
}
fn charlie() -> Certificate {
    Certificate::root("Charlie Root", 3)
}
fn leaf() -> Certificate {
    Certificate::leaf("delta.example", &alpha(), 4)
}
/// The same subject and key as [`alpha`], another serial number.
fn alpha_reissued() -> Certificate {
    Certificate { serial: integer(&[0x77]), ..alpha() }
}
/// The same subject as [`alpha`], another key.
fn alpha_rekeyed() -> Certificate {
    Certificate::root("Alpha Root", 5)
}
fn until(not_after: &str) -> Certificate {
    alpha().valid("200101000000Z", not_after)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Hit,
    NearMiss,
    NotApplicable,
}
use Kind::{Hit, NearMiss, NotApplicable};

/// A store, and whether a rule is about it.
struct Example {
    id: &'static str,
    kind: Kind,
    what: &'static str,
    /// What is named on the command line, with the options that it takes.
    paths: &'static [&'static str],
    make: Box<dyn Fn(&Folder) + Sync>,
    /// Of a hit: all places of all findings of this id, `path` or `path:line`. Empty: not compared.
    places: &'static [&'static str],
}

/// A directory in the making.
struct Folder(PathBuf);

impl Folder {
    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        cases::make_directory(path.parent().unwrap());
        fs::write(&path, bytes).unwrap();
        cases::set_mode(&path, 0o644);
    }
    fn link(&self, name: &str, target: &str) {
        let path = self.0.join(name);
        cases::make_directory(path.parent().unwrap());
        symlink(target, path).unwrap();
    }
    /// A CApath `d` of Alpha Root, whole.
    fn capath(&self) {
        self.file("d/alpha.pem", alpha().pem());
        self.link(&format!("d/{ALPHA}.0"), "alpha.pem");
    }
}

/// All examples, in the order of the rules' names.
struct Examples(Vec<Example>);

impl Examples {
    fn add(
        &mut self,
        id: &'static str,
        kind: Kind,
        what: &'static str,
        paths: &'static [&'static str],
        make: impl Fn(&Folder) + Sync + 'static,
    ) -> &mut Self {
        self.0.push(Example { id, kind, what, paths, make: Box::new(make), places: &[] });
        self
    }
    /// Where the last example has its findings.
    fn at(&mut self, places: &'static [&'static str]) -> &mut Self {
        self.0.last_mut().expect("an example before").places = places;
        self
    }
}

const FILE: &[&str] = &["b.pem"];
const DIRECTORY: &[&str] = &["d"];

fn examples() -> Vec<Example> {
    let mut all = Examples(Vec::new());
    links(&mut all);
    directories(&mut all);
    dates(&mut all);
    blocks(&mut all);
    groups(&mut all);
    entries(&mut all);
    roots(&mut all);
    trust(&mut all);
    strength(&mut all);
    forms(&mut all);
    oddities(&mut all);
    names(&mut all);
    reading(&mut all);
    twins(&mut all);
    all.0
}

/// Names in a CApath.
fn links(all: &mut Examples) {
    all.add("bad-link-name", Hit, "a hash in upper case", DIRECTORY, |d| {
        d.capath();
        d.link("d/743AA637.1", "alpha.pem");
    })
    .at(&["d/743AA637.1"])
    .add("bad-link-name", Hit, "a number with a leading zero", DIRECTORY, |d| {
        d.capath();
        d.link("d/743aa637.01", "alpha.pem");
    })
    .at(&["d/743aa637.01"])
    .add("bad-link-name", NearMiss, "a hash of lower-case letters and digits", DIRECTORY, Folder::capath)
    .add(
        "bad-link-name",
        NotApplicable,
        "a name with a letter that is no hexadecimal digit",
        DIRECTORY,
        |d| {
            d.capath();
            d.link("d/G43AA637.0", "alpha.pem");
        },
    );

    all.add("dangling-link", Hit, "a hash link to nothing, beside one that resolves", DIRECTORY, |d| {
        d.capath();
        d.link("d/00000001.0", "gone.pem");
    })
    .at(&["d/00000001.0"])
    .add("dangling-link", Hit, "a member that is a link to nothing", DIRECTORY, |d| {
        d.capath();
        d.link("d/gone.pem", "/nonexistent/gone.pem");
    })
    .at(&["d/gone.pem"])
    .add("dangling-link", NearMiss, "a link to a file elsewhere that is there", DIRECTORY, |d| {
        d.capath();
        d.file("elsewhere/bravo.pem", bravo().pem());
        d.link("d/bravo.pem", "../elsewhere/bravo.pem");
    })
    .add("dangling-link", NotApplicable, "no link at all", DIRECTORY, |d| d.file("d/a.pem", alpha().pem()));

    all.add("link-loop", Hit, "two links that lead to each other", DIRECTORY, |d| {
        d.capath();
        d.link("d/x.pem", "y.pem");
        d.link("d/y.pem", "x.pem");
    })
    .at(&["d/x.pem", "d/y.pem"])
    .add("link-loop", Hit, "a hash link to itself", DIRECTORY, |d| {
        d.capath();
        d.link("d/00000001.0", "00000001.0");
    })
    .at(&["d/00000001.0"])
    .add("link-loop", NearMiss, "a chain of links that ends at a file", DIRECTORY, |d| {
        d.file("d/alpha.pem", alpha().pem());
        d.link("d/x.pem", "y.pem");
        d.link("d/y.pem", "alpha.pem");
        d.link(&format!("d/{ALPHA}.0"), "x.pem");
    })
    .add("link-loop", NotApplicable, "a link to the directory itself", DIRECTORY, |d| {
        d.capath();
        d.link("d/self", ".");
    });

    all.add("wrong-hash-link", Hit, "the name of another hash", DIRECTORY, |d| {
        d.capath();
        d.link("d/00000001.0", "alpha.pem");
    })
    .at(&["d/00000001.0"])
    .add("wrong-hash-link", NearMiss, "the hash of OpenSSL 0.9.8", DIRECTORY, |d| {
        d.capath();
        d.link(&format!("d/{ALPHA_OLD}.0"), "alpha.pem");
    })
    .add("wrong-hash-link", NearMiss, "the right hash, the second number", DIRECTORY, |d| {
        d.capath();
        d.file("d/again.pem", alpha_rekeyed().pem());
        d.link(&format!("d/{ALPHA}.1"), "again.pem");
    })
    .add(
        "wrong-hash-link",
        NotApplicable,
        "a link that is not named like a hash link",
        DIRECTORY,
        |d| {
            d.capath();
            d.link("d/00000001.pem", "alpha.pem");
        },
    );
}

/// Directories as a whole.
fn directories(all: &mut Examples) {
    all.add("dead-capath", Hit, "links copied without their targets", DIRECTORY, |d| {
        d.link(&format!("d/{ALPHA}.0"), "alpha.pem");
        d.link(&format!("d/{BRAVO}.0"), "bravo.pem");
    })
    .at(&["d"])
    .add("dead-capath", NearMiss, "one of two links resolves", DIRECTORY, |d| {
        d.capath();
        d.link(&format!("d/{BRAVO}.0"), "bravo.pem");
    })
    .add("dead-capath", NotApplicable, "no hash link", DIRECTORY, |d| {
        d.file("d/alpha.pem", alpha().pem());
        d.link("d/gone.pem", "nothing.pem");
    });

    all.add("no-hash-links", Hit, "certificates, and no hash link", DIRECTORY, |d| {
        d.file("d/alpha.pem", alpha().pem());
        d.file("d/bravo.pem", bravo().pem());
    })
    .at(&["d"])
    .add("no-hash-links", NearMiss, "one hash link among them", DIRECTORY, |d| {
        d.capath();
        d.file("d/bravo.pem", bravo().pem());
    })
    .add(
        "no-hash-links",
        NotApplicable,
        "nothing but a bundle, as in Alpine's or a ConfigMap's",
        DIRECTORY,
        |d| {
            d.file("d/ca-certificates.crt", alpha().pem() + &bravo().pem());
        },
    );

    all.add("unreachable", Hit, "a root without a link in a CApath", DIRECTORY, |d| {
        d.capath();
        d.file("d/bravo.pem", bravo().pem());
    })
    .at(&["d/bravo.pem:1"])
    .add("unreachable", Hit, "its number comes after a gap", DIRECTORY, |d| {
        d.capath();
        d.file("d/bravo.pem", bravo().pem());
        d.link(&format!("d/{BRAVO}.1"), "bravo.pem");
    })
    .at(&["d/bravo.pem:1"])
    .add("unreachable", Hit, "the number before it leads to nothing", DIRECTORY, |d| {
        d.capath();
        d.file("d/bravo.pem", bravo().pem());
        d.link(&format!("d/{BRAVO}.0"), "gone.pem");
        d.link(&format!("d/{BRAVO}.1"), "bravo.pem");
    })
    .at(&["d/bravo.pem:1"])
    .add("unreachable", Hit, "its link is in upper case", DIRECTORY, |d| {
        d.file("d/bravo.pem", bravo().pem());
        d.link("d/4F1516A8.0", "bravo.pem");
    })
    .at(&["d/bravo.pem:1"])
    .add("unreachable", Hit, "its link has the wrong hash", DIRECTORY, |d| {
        d.capath();
        d.file("d/bravo.pem", bravo().pem());
        d.link("d/00000001.0", "bravo.pem");
    })
    .at(&["d/bravo.pem:1"])
    .add("unreachable", Hit, "the second certificate of a member", DIRECTORY, |d| {
        d.file("d/two.pem", alpha().pem() + &bravo().pem());
        d.link(&format!("d/{ALPHA}.0"), "two.pem");
    })
    .add("unreachable", Hit, "an intermediate that the bundle beside it holds too", DIRECTORY, |d| {
        d.capath();
        let intermediate = Certificate::intermediate("Charlie CA", &alpha(), 7);
        d.file("d/ca-certificates.crt", alpha().pem() + &intermediate.pem());
        d.file("d/charlie.pem", intermediate.pem());
    })
    .add("unreachable", NearMiss, "a site's certificate without a link", DIRECTORY, |d| {
        d.capath();
        d.file("d/site.pem", leaf().pem());
    })
    .add("unreachable", NearMiss, "a second certificate that has a link of its own", DIRECTORY, |d| {
        d.file("d/two.pem", alpha().pem() + &bravo().pem());
        d.link(&format!("d/{ALPHA}.0"), "two.pem");
        d.link(&format!("d/{BRAVO}.0"), "two.pem");
    })
    .add("unreachable", NotApplicable, "a directory without any hash link", DIRECTORY, |d| {
        d.file("d/alpha.pem", alpha().pem());
    });

    all.add("unlinked", Hit, "a site's certificate without a link", DIRECTORY, |d| {
        d.capath();
        d.file("d/site.pem", leaf().pem());
    })
    .at(&["d/site.pem:1"])
    .add("unlinked", Hit, "an intermediate CA that stands nowhere else", DIRECTORY, |d| {
        d.capath();
        d.file("d/chain.pem", Certificate::intermediate("Charlie CA", &alpha(), 7).pem());
    })
    .at(&["d/chain.pem:1"])
    .add("unlinked", NearMiss, "a root without a link, which is `unreachable`", DIRECTORY, |d| {
        d.capath();
        d.file("d/bravo.pem", bravo().pem());
    })
    .add("unlinked", NotApplicable, "a directory without any hash link", DIRECTORY, |d| {
        d.file("d/site.pem", leaf().pem());
    });

    all.add("eager-and-on-demand", Hit, "all of the CAfile is found by hash as well", DIRECTORY, |d| {
        d.capath();
        d.file("d/bravo.pem", bravo().pem());
        d.link(&format!("d/{BRAVO}.0"), "bravo.pem");
        d.file("d/ca-certificates.crt", alpha().pem() + &bravo().pem());
    })
    .at(&["d/ca-certificates.crt"])
    .add("eager-and-on-demand", NearMiss, "all but one", DIRECTORY, |d| {
        d.capath();
        d.file("d/ca-certificates.crt", alpha().pem() + &bravo().pem());
    })
    .add("eager-and-on-demand", NotApplicable, "a bundle that lies elsewhere", &["d", "b.pem"], |d| {
        d.capath();
        d.file("b.pem", alpha().pem() + &alpha_reissued().pem());
    });

    all.add("one-sided", Hit, "a root in the CAfile alone", DIRECTORY, |d| {
        d.capath();
        d.file("d/ca-certificates.crt", alpha().pem() + &bravo().pem());
    })
    .add("one-sided", Hit, "a root in the CApath alone", DIRECTORY, |d| {
        d.capath();
        d.file("d/bravo.pem", bravo().pem());
        d.link(&format!("d/{BRAVO}.0"), "bravo.pem");
        d.file("d/ca-certificates.crt", alpha().pem());
    })
    .at(&["d/bravo.pem:1"])
    .add("one-sided", NearMiss, "what stands on one side is no CA", DIRECTORY, |d| {
        d.capath();
        d.file("d/ca-certificates.crt", alpha().pem() + &leaf().pem());
    })
    .add("one-sided", NearMiss, "both sides alike", DIRECTORY, |d| {
        d.capath();
        d.file("d/ca-certificates.crt", alpha().pem());
    })
    .add("one-sided", NotApplicable, "a CApath without a CAfile", DIRECTORY, Folder::capath);
}

fn dates(all: &mut Examples) {
    all.add("expired", Hit, "notAfter a second ago", FILE, |d| d.file("b.pem", until("251231235959Z").pem()))
        .at(&["b.pem:1"])
        .add("expired", NearMiss, "notAfter is this very second, which is still valid", FILE, |d| {
            d.file("b.pem", until("260101000000Z").pem());
        })
        .add("expired", NotApplicable, "a notAfter that is no date", FILE, |d| {
            d.file("b.pem", until("251331235959Z").pem());
        });

    all.add("expires-soon", Hit, "in 30 days to the second", FILE, |d| {
        d.file("b.pem", until("260131000000Z").pem());
    })
    .at(&["b.pem:1"])
    .add("expires-soon", Hit, "this very second", FILE, |d| d.file("b.pem", until("260101000000Z").pem()))
    .add("expires-soon", NearMiss, "a second later than in 30 days", FILE, |d| {
        d.file("b.pem", until("260131000001Z").pem());
    })
    .add("expires-soon", NotApplicable, "expired already", FILE, |d| {
        d.file("b.pem", until("251231235959Z").pem());
    });

    all.add("not-yet-valid", Hit, "notBefore in a second", FILE, |d| {
        d.file("b.pem", alpha().valid("260101000001Z", "450101000000Z").pem());
    })
    .at(&["b.pem:1"])
    .add("not-yet-valid", NearMiss, "notBefore is this very second", FILE, |d| {
        d.file("b.pem", alpha().valid("260101000000Z", "450101000000Z").pem());
    })
    .add("not-yet-valid", NotApplicable, "a notBefore that is no date", FILE, |d| {
        d.file("b.pem", alpha().valid("271331000000Z", "450101000000Z").pem());
    });

    all.add("bad-validity", Hit, "notAfter before notBefore", FILE, |d| {
        d.file("b.pem", alpha().valid("250102000000Z", "250101000000Z").pem());
    })
    .at(&["b.pem:1"])
    .add("bad-validity", Hit, "a month that is none", FILE, |d| {
        d.file("b.pem", alpha().valid("251301000000Z", "450101000000Z").pem());
    })
    .at(&["b.pem:1"])
    .add("bad-validity", Hit, "an empty date", FILE, |d| {
        d.file("b.pem", Certificate { not_after: utc_time(""), ..alpha() }.pem());
    })
    .at(&["b.pem:1"])
    .add("bad-validity", NearMiss, "the 29th of February of a leap year", FILE, |d| {
        d.file("b.pem", alpha().valid("240229000000Z", "480229000000Z").pem());
    })
    .add("bad-validity", NearMiss, "RFC 5280's date for `never`", FILE, |d| {
        d.file("b.pem", Certificate { not_after: generalized_time("99991231235959Z"), ..alpha() }.pem());
    })
    .add("bad-validity", NotApplicable, "expired long ago", FILE, |d| {
        d.file("b.pem", alpha().valid("960101000000Z", "990101000000Z").pem());
    });

    all.add("not-a-ca", Hit, "a server's certificate in a bundle", FILE, |d| {
        d.file("b.pem", alpha().pem() + &leaf().pem());
    })
    .add("not-a-ca", NearMiss, "a self-issued certificate of version 1", FILE, |d| {
        let old = Certificate { version: Vec::new(), extensions: Vec::new(), ..bravo() };
        d.file("b.pem", alpha().pem() + &old.pem());
    })
    .add("not-a-ca", NearMiss, "an intermediate CA", FILE, |d| {
        d.file("b.pem", alpha().pem() + &Certificate::intermediate("Charlie CA", &alpha(), 7).pem());
    })
    .add("not-a-ca", NotApplicable, "a server's certificate in a CApath", DIRECTORY, |d| {
        d.capath();
        d.file("d/site.pem", leaf().pem());
        d.link("d/c627d9c9.0", "site.pem");
    });
}

/// A block with something put in or out: `lines` gets the lines of a block, boundaries included.
fn changed(change: impl Fn(&mut Vec<String>)) -> String {
    let mut lines: Vec<String> = bravo().pem().lines().map(str::to_owned).collect();
    change(&mut lines);
    lines.join("\n") + "\n"
}

fn blocks(all: &mut Examples) {
    all.add("private-key", Hit, "a key behind a certificate", FILE, |d| {
        let lines = alpha().pem().lines().count();
        let comment = "# a comment\n".repeat(20 - 1 - lines);
        d.file("b.pem", alpha().pem() + &comment + &pem("PRIVATE KEY", b"not one"));
    })
    .at(&["b.pem:20"])
    .add("private-key", Hit, "an encrypted key, an old key and OpenSSH's", FILE, |d| {
        let labels = ["ENCRYPTED PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY"];
        let keys: String = labels.iter().map(|label| pem(label, b"not one")).collect();
        d.file("b.pem", keys + &alpha().pem());
    })
    .at(&["b.pem:1", "b.pem:4", "b.pem:7"])
    .add("private-key", NearMiss, "a public key", FILE, |d| {
        d.file("b.pem", alpha().pem() + &pem("PUBLIC KEY", b"not one"));
    })
    .add("private-key", NotApplicable, "certificates alone", FILE, |d| {
        d.file("b.pem", alpha().pem() + &bravo().pem());
    });

    all.add("malformed-block", Hit, "a character that is not base64", FILE, |d| {
        d.file("b.pem", changed(|lines| lines[2].replace_range(5..6, "!")) + &alpha().pem());
    })
    .at(&["b.pem:3"])
    .add("malformed-block", Hit, "no END at the end of the file", FILE, |d| {
        d.file("b.pem", alpha().pem() + &changed(|lines| drop(lines.pop())));
    })
    .add("malformed-block", Hit, "no END before the next BEGIN", FILE, |d| {
        d.file("b.pem", changed(|lines| drop(lines.pop())) + &alpha().pem());
    })
    .add("malformed-block", Hit, "an END with a dash too few", FILE, |d| {
        d.file(
            "b.pem",
            changed(|lines| *lines.last_mut().unwrap() = "-----END CERTIFICATE----".to_owned())
                + &alpha().pem(),
        );
    })
    .add("malformed-block", Hit, "END names another label than BEGIN", FILE, |d| {
        let end = "-----END X509 CERTIFICATE-----";
        d.file("b.pem", changed(|lines| *lines.last_mut().unwrap() = end.to_owned()) + &alpha().pem());
    })
    .add("malformed-block", Hit, "a blank line in the base64", FILE, |d| {
        d.file("b.pem", alpha().pem() + &changed(|lines| lines.insert(3, String::new())));
    })
    .add("malformed-block", Hit, "a header in the block", FILE, |d| {
        let headers = ["Comment: mine".to_owned(), String::new()];
        d.file("b.pem", alpha().pem() + &changed(|lines| drop(lines.splice(1..1, headers.clone()))));
    })
    .add("malformed-block", Hit, "carriage returns alone as line ends", FILE, |d| {
        d.file("b.pem", alpha().pem() + &bravo().pem().replace('\n', "\r"));
    })
    .add("malformed-block", NearMiss, "CRLF, and blanks at the ends of lines", FILE, |d| {
        d.file("b.pem", alpha().pem().replace('\n', "\r\n") + &bravo().pem().replace('\n', " \n"));
    })
    .add("malformed-block", NearMiss, "no newline at the end of the file", FILE, |d| {
        d.file("b.pem", alpha().pem().trim_end());
    })
    .add("malformed-block", NotApplicable, "comments with dashes between the blocks", FILE, |d| {
        d.file("b.pem", format!("-- one\n{}\n----- two -----\n{}", alpha().pem(), bravo().pem()));
    });

    all.add("glued-boundary", Hit, "a final newline is missing before the next BEGIN", FILE, |d| {
        d.file("b.pem", alpha().pem().trim_end().to_owned() + &bravo().pem());
    })
    .add("glued-boundary", NearMiss, "a final newline is missing at the end", FILE, |d| {
        d.file("b.pem", alpha().pem() + bravo().pem().trim_end());
    })
    .add("glued-boundary", NotApplicable, "a block alone", FILE, |d| d.file("b.pem", alpha().pem()));

    all.add("der-in-bundle", Hit, "DER between two blocks", FILE, |d| {
        let bytes = [alpha().pem().as_bytes(), &bravo().der(), b"\n", charlie().pem().as_bytes()].concat();
        d.file("b.pem", bytes);
    })
    .add("der-in-bundle", Hit, "DER behind the last block", FILE, |d| {
        d.file("b.pem", [alpha().pem().as_bytes(), &bravo().der()].concat());
    })
    .add("der-in-bundle", NearMiss, "a file of DER alone", FILE, |d| d.file("b.pem", bravo().der()))
    .add("der-in-bundle", NotApplicable, "a comment that begins as DER does", FILE, |d| {
        d.file("b.pem", [b"0\x82\x01\x00 is no certificate\n", alpha().pem().as_bytes()].concat());
    });

    all.add("malformed-certificate", Hit, "a block of a SEQUENCE that is no certificate", FILE, |d| {
        let block = pem("CERTIFICATE", &tlv(0x30, &integer(&[1])));
        d.file("b.pem", alpha().pem() + &block);
    })
    .add("malformed-certificate", Hit, "a certificate that is cut off", FILE, |d| {
        let der = bravo().der();
        d.file("b.pem", pem("CERTIFICATE", &der[..der.len() - 40]) + &alpha().pem());
    })
    .at(&["b.pem:1"])
    .add("malformed-certificate", NearMiss, "a critical extension that nobody knows", FILE, |d| {
        let mut odd = bravo();
        odd.extensions.push(support::der::extension("1.3.6.1.4.1.99999.1", true, &integer(&[1])));
        d.file("b.pem", alpha().pem() + &odd.pem());
    })
    .add("malformed-certificate", NotApplicable, "a request that is none", FILE, |d| {
        d.file("b.pem", alpha().pem() + &pem("CERTIFICATE REQUEST", &tlv(0x30, &integer(&[1]))));
    });

    all.add("no-certificates", Hit, "an empty file", FILE, |d| d.file("b.pem", ""))
        .at(&["b.pem"])
        .add("no-certificates", Hit, "a page of HTML", FILE, |d| {
            d.file("b.pem", "<!DOCTYPE html>\n<html><body>404</body></html>\n");
        })
        .at(&["b.pem"])
        .add("no-certificates", Hit, "only a key", FILE, |d| d.file("b.pem", pem("PRIVATE KEY", b"not one")))
        .at(&["b.pem"])
        .add("no-certificates", Hit, "newlines written as \\n", FILE, |d| {
            d.file("b.pem", alpha().pem().replace('\n', "\\n"));
        })
        .add("no-certificates", Hit, "UTF-16", FILE, |d| {
            let wide: Vec<u8> = alpha().pem().encode_utf16().flat_map(u16::to_le_bytes).collect();
            d.file("b.pem", [&[0xff, 0xfe][..], &wide].concat());
        })
        .at(&["b.pem"])
        .add("no-certificates", Hit, "an empty directory", DIRECTORY, |d| {
            cases::make_directory(&d.0.join("d"))
        })
        .at(&["d"])
        .add("no-certificates", Hit, "one of two named files", &["a.pem", "b.pem"], |d| {
            d.file("a.pem", alpha().pem());
            d.file("b.pem", "# none\n");
        })
        .at(&["b.pem"])
        .add("no-certificates", NearMiss, "one certificate after much text", FILE, |d| {
            d.file("b.pem", "# a line of text\n".repeat(500) + &alpha().pem());
        })
        .add("no-certificates", NotApplicable, "an empty file that nobody named", DIRECTORY, |d| {
            d.capath();
            d.file("d/empty.pem", "");
        });
}

fn groups(all: &mut Examples) {
    all.add("duplicate", Hit, "the same block three times", FILE, |d| {
        d.file("b.pem", format!("{}\n{}# again\n{}", alpha().pem(), bravo().pem(), alpha().pem().repeat(2)));
    })
    .add("duplicate", Hit, "the same certificate in two widths", FILE, |d| {
        let one_line = alpha().pem().lines().collect::<Vec<_>>().join("");
        let one_line =
            one_line.replace("CERTIFICATE-----M", "CERTIFICATE-----\nM").replace("-----END", "\n-----END");
        d.file("b.pem", alpha().pem() + &one_line + "\n");
    })
    .add("duplicate", NearMiss, "the same subject and key, another serial number", FILE, |d| {
        d.file("b.pem", alpha().pem() + &alpha_reissued().pem());
    })
    .add("duplicate", NearMiss, "the same certificate with other trust", FILE, |d| {
        d.file("b.pem", alpha().pem() + &alpha().trusted_pem(&[oids::EMAIL_PROTECTION], &[]));
    })
    .add("duplicate", NotApplicable, "one block in a file of two names", &["b.pem", "c.pem"], |d| {
        d.file("b.pem", alpha().pem());
        fs::hard_link(d.0.join("b.pem"), d.0.join("c.pem")).unwrap();
    });

    all.add("duplicate-across", Hit, "copies in two named files", &["a.pem", "b.pem"], |d| {
        d.file("a.pem", alpha().pem() + &bravo().pem());
        d.file("b.pem", charlie().pem() + &bravo().pem());
    })
    .add("duplicate-across", Hit, "copies in two members of a directory", DIRECTORY, |d| {
        d.capath();
        d.file("d/copy.pem", alpha().pem());
    })
    .add("duplicate-across", NearMiss, "two names of one inode, and a link", DIRECTORY, |d| {
        d.capath();
        fs::hard_link(d.0.join("d/alpha.pem"), d.0.join("d/hard.pem")).unwrap();
        d.link("d/soft.pem", "alpha.pem");
    })
    .add("duplicate-across", NearMiss, "a CAfile and the CApath that it lies in", DIRECTORY, |d| {
        d.capath();
        d.file("d/ca-certificates.crt", alpha().pem());
    })
    .add("duplicate-across", NotApplicable, "copies in one file", FILE, |d| {
        d.file("b.pem", alpha().pem().repeat(2));
    });

    all.add("reissued", Hit, "the same subject and key, another serial number", FILE, |d| {
        d.file("b.pem", alpha().pem() + &bravo().pem() + &alpha_reissued().pem());
    })
    .add("reissued", NearMiss, "the same subject, another key", FILE, |d| {
        d.file("b.pem", alpha().pem() + &alpha_rekeyed().pem());
    })
    .add("reissued", NearMiss, "the same key, another subject", FILE, |d| {
        d.file("b.pem", alpha().pem() + &Certificate { spki: alpha().spki, ..bravo() }.pem());
    })
    .add("reissued", NotApplicable, "copies", FILE, |d| d.file("b.pem", alpha().pem().repeat(2)));

    all.add("same-subject", Hit, "the same subject, another key", FILE, |d| {
        d.file("b.pem", alpha().pem() + &bravo().pem() + &alpha_rekeyed().pem());
    })
    .add("same-subject", Hit, "a subject that differs in case and blanks alone", FILE, |d| {
        d.file("b.pem", alpha().pem() + &Certificate::root("ALPHA   root ", 6).pem());
    })
    .add("same-subject", NearMiss, "the same key too, which is `reissued` alone", FILE, |d| {
        d.file("b.pem", alpha().pem() + &alpha_reissued().pem());
    })
    .add("same-subject", NearMiss, "the same issuer", FILE, |d| {
        d.file("b.pem", Certificate { issuer: common_name("Alpha Root"), ..bravo() }.pem() + &alpha().pem());
    })
    .add("same-subject", NotApplicable, "one certificate", FILE, |d| d.file("b.pem", alpha().pem()));
}

/// What stands in a directory beside certificates.
fn entries(all: &mut Examples) {
    let fifo = |d: &Folder, name: &str| {
        mknodat(CWD, d.0.join(name), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
    };
    all.add("not-regular", Hit, "a FIFO with a member's name", DIRECTORY, move |d| {
        d.capath();
        fifo(d, "d/pipe.pem");
    })
    .at(&["d/pipe.pem"])
    .add("not-regular", Hit, "a hash link to a device", DIRECTORY, |d| {
        d.capath();
        d.link(&format!("d/{BRAVO}.0"), "/dev/zero");
    })
    .add("not-regular", NearMiss, "a link to a regular file", DIRECTORY, Folder::capath)
    .add("not-regular", NotApplicable, "a directory", DIRECTORY, |d| {
        d.capath();
        cases::make_directory(&d.0.join("d/sub.pem"));
    });

    all.add("leftover", Hit, "copies of dpkg, of an editor and of a killed run", DIRECTORY, |d| {
        d.capath();
        for name in ["a.pem.dpkg-old", "b.pem~", "bundleAbC123"] {
            d.file(&format!("d/{name}"), bravo().pem());
        }
    })
    .at(&["d/a.pem.dpkg-old", "d/b.pem~", "d/bundleAbC123"])
    .add("leftover", NearMiss, "names that only sound like it", DIRECTORY, |d| {
        d.capath();
        d.file("d/new.pem", bravo().pem());
        d.file("d/dpkg-old.pem", charlie().pem());
    })
    .add("leftover", NotApplicable, "a directory of such a name", DIRECTORY, |d| {
        d.capath();
        cases::make_directory(&d.0.join("d/old.bak"));
    });

    all.add("unreadable", Hit, "a member that this user may not read", DIRECTORY, |d| {
        d.capath();
        d.file("d/secret.pem", bravo().pem());
        cases::set_mode(&d.0.join("d/secret.pem"), 0o000);
    })
    .at(&["d/secret.pem"])
    .add("unreadable", NearMiss, "one that nobody may write", DIRECTORY, |d| {
        d.capath();
        d.file("d/fixed.pem", bravo().pem());
        cases::set_mode(&d.0.join("d/fixed.pem"), 0o444);
    })
    .add("unreadable", NotApplicable, "a link to nothing", DIRECTORY, |d| {
        d.capath();
        d.link("d/gone.pem", "nothing.pem");
    });
}

/// A store as Debian's updater makes it, with its inputs.
fn updater_root(d: &Folder) {
    d.file("etc/ca-certificates.conf", "# a comment\n!mozilla/bravo.crt\nmozilla/alpha.crt\n");
    d.file("usr/share/ca-certificates/mozilla/alpha.crt", alpha().pem());
    d.file("usr/share/ca-certificates/mozilla/bravo.crt", bravo().pem());
    d.file("etc/ssl/certs/ca-certificates.crt", alpha().pem());
}

const ROOT: &[&str] = &["--root=.", "/etc/ssl/certs"];
const IN_ROOT: &[&str] = &["--root=.", "/d"];

/// What depends on a root.
fn roots(all: &mut Examples) {
    all.add("ignored-anchor", Hit, "a .pem among the administrator's files", ROOT, |d| {
        updater_root(d);
        d.file("usr/local/share/ca-certificates/corp.pem", charlie().pem());
    })
    .at(&["/usr/local/share/ca-certificates/corp.pem"])
    .add("ignored-anchor", Hit, "find -name '*.crt' knows no .CRT", ROOT, |d| {
        updater_root(d);
        d.file("usr/local/share/ca-certificates/corp/Corp.CRT", charlie().pem());
    })
    .at(&["/usr/local/share/ca-certificates/corp/Corp.CRT"])
    .add("ignored-anchor", NearMiss, "a .crt", ROOT, |d| {
        updater_root(d);
        d.file("usr/local/share/ca-certificates/corp.crt", charlie().pem());
    })
    .add("ignored-anchor", NearMiss, "a .pem whose certificate the bundle has", ROOT, |d| {
        updater_root(d);
        d.file("usr/local/share/ca-certificates/corp.pem", alpha().pem());
    })
    .add("ignored-anchor", NearMiss, "a file without a certificate", ROOT, |d| {
        updater_root(d);
        d.file("usr/local/share/ca-certificates/README.txt", "Put .crt files here.\n");
    })
    .add("ignored-anchor", NotApplicable, "a store that is not this root's", IN_ROOT, |d| {
        updater_root(d);
        d.capath();
        d.file("usr/local/share/ca-certificates/corp.pem", charlie().pem());
    });

    all.add("not-regenerated", Hit, "appended to the bundle", ROOT, |d| {
        updater_root(d);
        d.file("etc/ssl/certs/ca-certificates.crt", alpha().pem() + "# by hand\n" + &charlie().pem());
    })
    .add("not-regenerated", Hit, "a certificate that the configuration deselects", ROOT, |d| {
        updater_root(d);
        d.file("etc/ssl/certs/ca-certificates.crt", bravo().pem() + &alpha().pem());
    })
    .at(&["/etc/ssl/certs/ca-certificates.crt:1"])
    .add("not-regenerated", Hit, "the administrator's file has a name that is ignored", ROOT, |d| {
        updater_root(d);
        d.file("etc/ssl/certs/ca-certificates.crt", charlie().pem() + &alpha().pem());
        d.file("usr/local/share/ca-certificates/corp.pem", charlie().pem());
    })
    .at(&["/etc/ssl/certs/ca-certificates.crt:1"])
    .add("not-regenerated", NearMiss, "a .crt of the administrator with two certificates", ROOT, |d| {
        updater_root(d);
        d.file("etc/ssl/certs/ca-certificates.crt", alpha().pem() + &charlie().pem() + &bravo().pem());
        d.file("usr/local/share/ca-certificates/corp/two.crt", charlie().pem() + &bravo().pem());
    })
    .add("not-regenerated", NotApplicable, "without the configuration", ROOT, |d| {
        updater_root(d);
        fs::remove_file(d.0.join("etc/ca-certificates.conf")).unwrap();
        d.file("etc/ssl/certs/ca-certificates.crt", alpha().pem() + &charlie().pem());
    })
    .add("not-regenerated", NotApplicable, "without the files that the configuration names", ROOT, |d| {
        updater_root(d);
        fs::remove_dir_all(d.0.join("usr/share/ca-certificates")).unwrap();
        d.file("etc/ssl/certs/ca-certificates.crt", alpha().pem() + &charlie().pem());
    })
    .add("not-regenerated", NotApplicable, "a bundle elsewhere", &["--root=.", "/b.pem"], |d| {
        updater_root(d);
        d.file("b.pem", charlie().pem());
    });

    all.add("link-out-of-root", Hit, "more .. than there are directories", IN_ROOT, |d| {
        d.capath();
        d.link("d/out.pem", "../../elsewhere/bravo.pem");
        d.file("elsewhere/bravo.pem", bravo().pem());
    })
    .at(&["/d/out.pem"])
    .add("link-out-of-root", Hit, "a hash link that goes up and leads to nothing", IN_ROOT, |d| {
        d.capath();
        d.link(&format!("d/{BRAVO}.0"), "/../../build/bravo.pem");
    })
    .at(&["/d/4f1516a8.0"])
    .add("link-out-of-root", NearMiss, "an absolute link and a link up, inside", IN_ROOT, |d| {
        d.capath();
        d.file("elsewhere/bravo.pem", bravo().pem());
        d.link("d/absolute.pem", "/elsewhere/bravo.pem");
        d.link("d/relative.pem", "../elsewhere/bravo.pem");
    })
    .add("link-out-of-root", NearMiss, "a directory that is deeper than its name", IN_ROOT, |d| {
        d.file("a/b/c/alpha.pem", alpha().pem());
        d.link(&format!("a/b/c/{ALPHA}.0"), "alpha.pem");
        d.link("a/b/c/bravo.pem", "../../bravo.pem");
        d.file("a/bravo.pem", bravo().pem());
        d.link("d", "a/b/c");
    })
    .add("link-out-of-root", NotApplicable, "no root is named", DIRECTORY, |d| {
        d.capath();
        d.link("d/out.pem", "../../../../../../../../../../nonexistent/bravo.pem");
    });
}

/// Who trusts what.
fn trust(all: &mut Examples) {
    all.add("trust-conflict", Hit, "a plain block, and one that rejects", FILE, |d| {
        d.file("b.pem", alpha().trusted_pem(&[], &[oids::SERVER_AUTH]) + &alpha().pem());
    })
    .add("trust-conflict", Hit, "a plain block, and one that trusts it for mail alone", FILE, |d| {
        d.file("b.pem", alpha().pem() + &alpha().trusted_pem(&[oids::EMAIL_PROTECTION], &[]));
    })
    .add("trust-conflict", Hit, "in two files", &["a.pem", "b.pem"], |d| {
        d.file("a.pem", alpha().trusted_pem(&[oids::SERVER_AUTH], &[]));
        d.file("b.pem", alpha().trusted_pem(&[], &[oids::SERVER_AUTH]));
    })
    .at(&["a.pem:1", "b.pem:1"])
    .add("trust-conflict", NearMiss, "other words, one answer for servers", FILE, |d| {
        let both = alpha().trusted_pem(&[oids::SERVER_AUTH, oids::EMAIL_PROTECTION], &[oids::CLIENT_AUTH]);
        d.file("b.pem", alpha().pem() + &both);
    })
    .add("trust-conflict", NearMiss, "all copies reject", FILE, |d| {
        let mail = alpha().trusted_pem(&[oids::EMAIL_PROTECTION], &[]);
        d.file("b.pem", alpha().trusted_pem(&[], &[oids::SERVER_AUTH]) + &mail);
    })
    .add("trust-conflict", NotApplicable, "one copy", FILE, |d| {
        d.file("b.pem", alpha().trusted_pem(&[], &[oids::SERVER_AUTH]) + &bravo().pem());
    });

    all.add("distrust-flattened", Hit, "a comment that distrusts", FILE, |d| {
        d.file("b.pem", format!("# Explicitly Distrust Alpha Root\n{}", alpha().pem()));
    })
    .add("distrust-flattened", Hit, "a section of p11-kit's form", FILE, |d| {
        let section = "[p11-kit-object-v1]\nlabel: \"Alpha Root\"\nx-distrusted: true\n";
        d.file("b.pem", format!("{}\n{section}{}", bravo().pem(), alpha().pem()));
    })
    .add("distrust-flattened", Hit, "such a section with the certificate first", FILE, |d| {
        d.file("b.pem", format!("[p11-kit-object-v1]\n{}x-distrusted: true\n", alpha().pem()));
    })
    .add("distrust-flattened", NearMiss, "x-distrusted: false", FILE, |d| {
        let section = "[p11-kit-object-v1]\nlabel: \"Alpha Root\"\nx-distrusted: false\n";
        d.file("b.pem", format!("{section}{}", alpha().pem()));
    })
    .add("distrust-flattened", NearMiss, "a section before, without a certificate, distrusts", FILE, |d| {
        let blocked =
            "[p11-kit-object-v1]\nlabel: \"Blocked\"\nserial-number: \"%02%01%05\"\nx-distrusted: true\n";
        let section = "\n[p11-kit-object-v1]\nlabel: \"Alpha Root\"\ntrusted: true\n";
        d.file("b.pem", format!("{blocked}{section}{}", alpha().pem()));
    })
    .add("distrust-flattened", NearMiss, "a comment about somebody else's distrust", FILE, |d| {
        d.file("b.pem", format!("# never distrusted by Example Ltd\n{}", alpha().pem()));
    })
    .add("distrust-flattened", NearMiss, "a block that itself rejects", FILE, |d| {
        let block = alpha().trusted_pem(&[], &[oids::SERVER_AUTH]);
        d.file("b.pem", format!("# Explicitly Distrust Alpha Root\n{block}{}", bravo().pem()));
    })
    .add("distrust-flattened", NotApplicable, "no word about distrust", FILE, |d| {
        d.file("b.pem", format!("# Alpha Root\n{}", alpha().pem()));
    });

    all.add("leftover-trusted", Hit, "what the new version took away", DIRECTORY, |d| {
        d.capath();
        d.file("d/corp.pem.dpkg-old", bravo().pem() + &alpha().pem());
    })
    .at(&["d/corp.pem.dpkg-old"])
    .add("leftover-trusted", NearMiss, "a copy of what the store has", DIRECTORY, |d| {
        d.capath();
        d.file("d/alpha.pem~", alpha().pem());
    })
    .add("leftover-trusted", NearMiss, "a leftover without a certificate", DIRECTORY, |d| {
        d.capath();
        d.file("d/notes.bak", "nothing\n");
    })
    .add("leftover-trusted", NotApplicable, "no leftover", DIRECTORY, Folder::capath);

    all.add("less-readable", Hit, "a CA that was copied with umask 077", DIRECTORY, |d| {
        d.capath();
        cases::set_mode(&d.0.join("d/alpha.pem"), 0o600);
    })
    .at(&["d/alpha.pem"])
    .add("less-readable", Hit, "what a link leads to", DIRECTORY, |d| {
        d.file("elsewhere/alpha.pem", alpha().pem());
        cases::set_mode(&d.0.join("elsewhere/alpha.pem"), 0o640);
        d.link(&format!("d/{ALPHA}.0"), "../elsewhere/alpha.pem");
    })
    .add("less-readable", NearMiss, "a directory that is not everybody's either", DIRECTORY, |d| {
        d.capath();
        cases::set_mode(&d.0.join("d/alpha.pem"), 0o600);
        cases::set_mode(&d.0.join("d"), 0o750);
    })
    .add("less-readable", NearMiss, "a file with a private key", DIRECTORY, |d| {
        d.capath();
        d.file("d/alpha.pem", alpha().pem() + &pem("PRIVATE KEY", &[0x5a; 64]));
        cases::set_mode(&d.0.join("d/alpha.pem"), 0o600);
    })
    .add("less-readable", NotApplicable, "a bundle of one's own", FILE, |d| {
        d.file("b.pem", alpha().pem());
        cases::set_mode(&d.0.join("b.pem"), 0o600);
    });

    all.add("writable-by-others", Hit, "a bundle", FILE, |d| {
        d.file("b.pem", alpha().pem());
        cases::set_mode(&d.0.join("b.pem"), 0o666);
    })
    .add("writable-by-others", Hit, "a directory", DIRECTORY, |d| {
        d.capath();
        cases::set_mode(&d.0.join("d"), 0o777);
    })
    .at(&["d"])
    .add("writable-by-others", Hit, "what a link leads to", DIRECTORY, |d| {
        d.file("elsewhere/alpha.pem", alpha().pem());
        cases::set_mode(&d.0.join("elsewhere/alpha.pem"), 0o602);
        d.link(&format!("d/{ALPHA}.0"), "../elsewhere/alpha.pem");
    })
    .add("writable-by-others", NearMiss, "a sticky directory; links, whose mode is 0777", DIRECTORY, |d| {
        d.capath();
        cases::set_mode(&d.0.join("d"), 0o1777);
    })
    .add("writable-by-others", NearMiss, "the group's", DIRECTORY, |d| {
        d.capath();
        cases::set_mode(&d.0.join("d"), 0o775);
    })
    .add("writable-by-others", NotApplicable, "the owner's alone", FILE, |d| {
        d.file("b.pem", alpha().pem());
        cases::set_mode(&d.0.join("b.pem"), 0o600);
    });

    all.add("group-writable", Hit, "a tree made with umask 002", DIRECTORY, |d| {
        d.capath();
        cases::set_mode(&d.0.join("d"), 0o775);
    })
    .at(&["d"])
    .add("group-writable", Hit, "a bundle", FILE, |d| {
        d.file("b.pem", alpha().pem());
        cases::set_mode(&d.0.join("b.pem"), 0o664);
    })
    .add("group-writable", NearMiss, "everybody's, which is `writable-by-others`", FILE, |d| {
        d.file("b.pem", alpha().pem());
        cases::set_mode(&d.0.join("b.pem"), 0o666);
    })
    .add("group-writable", NearMiss, "the group may read and search", DIRECTORY, |d| {
        d.capath();
        cases::set_mode(&d.0.join("d"), 0o755);
    })
    .add("group-writable", NotApplicable, "the owner's alone", FILE, |d| {
        d.file("b.pem", alpha().pem());
        cases::set_mode(&d.0.join("b.pem"), 0o600);
    });
}

fn spki_ec(curve: &str, point: usize) -> Vec<u8> {
    let mut octets = vec![0x5a; point];
    octets[0] = 4;
    sequence(&[algorithm(oids::EC, &oid(curve)), bit_string(&octets)])
}

fn signed(dotted: &str, parameters: &[u8]) -> Certificate {
    let mut certificate = Certificate::intermediate("Delta CA", &alpha(), 8);
    certificate.signature_algorithm = algorithm(dotted, parameters);
    certificate
}

/// Keys and signatures.
fn strength(all: &mut Examples) {
    for (what, spki) in [
        ("RSA 1024", spki_rsa(1, 1024)),
        ("RSA 2040", spki_rsa(1, 2040)),
        ("secp112r1", spki_ec("1.3.132.0.6", 29)),
        ("prime192v1", spki_ec("1.2.840.10045.3.1.1", 49)),
        ("a curve that nobody knows", spki_ec("1.3.6.1.4.1.99999.7", 65)),
    ] {
        all.add("weak-key", Hit, what, FILE, move |d| {
            d.file("b.pem", Certificate { spki: spki.clone(), ..alpha() }.pem());
        })
        .at(&["b.pem:1"]);
    }
    for (what, spki) in [
        ("RSA 2048", spki_rsa(1, 2048)),
        ("P-256", alpha().spki),
        ("P-384", spki_ec("1.3.132.0.34", 97)),
        ("P-521", spki_ec("1.3.132.0.35", 133)),
        ("secp256k1", spki_ec("1.3.132.0.10", 65)),
        ("brainpoolP256r1", spki_ec("1.3.36.3.3.2.8.1.1.7", 65)),
    ] {
        all.add("weak-key", NearMiss, what, FILE, move |d| {
            d.file("b.pem", Certificate { spki: spki.clone(), ..alpha() }.pem());
        });
    }
    all.add("weak-key", NotApplicable, "Ed25519, of 256 bits", FILE, |d| {
        d.file("b.pem", Certificate { spki: spki_ed25519(1), ..alpha() }.pem());
    });

    let null = || tlv(0x05, &[]);
    for (what, dotted, parameters) in [
        ("RSA with MD5", oids::RSA_MD5, null()),
        ("RSA with SHA-1", oids::RSA_SHA1, null()),
        ("ECDSA with SHA-1", "1.2.840.10045.4.1", Vec::new()),
        ("DSA with SHA-1", "1.2.840.10040.4.3", Vec::new()),
    ] {
        all.add("weak-signature", Hit, what, FILE, move |d| {
            d.file("b.pem", signed(dotted, &parameters).pem() + &alpha().pem());
        })
        .at(&["b.pem:1"]);
    }
    all.add("weak-signature", NearMiss, "a root's own signature", FILE, |d| {
        let md5 = algorithm(oids::RSA_MD5, &tlv(0x05, &[]));
        d.file("b.pem", Certificate { signature_algorithm: md5, ..alpha() }.pem());
    })
    .add("weak-signature", NearMiss, "SHA-256", FILE, |d| {
        d.file("b.pem", signed(oids::RSA_SHA256, &tlv(0x05, &[])).pem());
    })
    .add("weak-signature", NotApplicable, "Ed25519, whose digest is no choice", FILE, |d| {
        d.file("b.pem", signed(oids::ED25519, &[]).pem());
    });
}

/// A PKCS#7 SignedData of certificates alone (RFC 2315 sections 7 and 9.1).
fn pkcs7(certificates: &[Certificate]) -> Vec<u8> {
    let data = oid("1.2.840.113549.1.7.1");
    let members: Vec<Vec<u8>> = certificates.iter().map(Certificate::der).collect();
    let empty = tlv(0x31, &[]);
    let signed =
        sequence(&[integer(&[1]), empty.clone(), sequence(&[data]), tlv(0xa0, &members.concat()), empty]);
    sequence(&[oid("1.2.840.113549.1.7.2"), explicit(0, &signed)])
}

/// A PFX (RFC 7292 section 4) of nothing.
fn pkcs12() -> Vec<u8> {
    let data = sequence(&[oid("1.2.840.113549.1.7.1"), explicit(0, &octet_string(&sequence(&[])))]);
    sequence(&[integer(&[3]), data])
}

/// Files and blocks that hold something else, or hold it in another form.
fn forms(all: &mut Examples) {
    for (what, label) in [("as OpenSSL labels it", "PKCS7"), ("with the label CMS", "CMS")] {
        all.add("pkcs7-block", Hit, what, FILE, move |d| {
            d.file("b.pem", pem(label, &pkcs7(&[alpha(), bravo()])));
        })
        .at(&["b.pem:1"]);
    }
    all.add("pkcs7-block", Hit, "among certificates", FILE, |d| {
        d.file("b.pem", pem("PKCS7", &pkcs7(&[alpha()])) + &bravo().pem());
    })
    .at(&["b.pem:1"])
    .add("pkcs7-block", Hit, "in DER", FILE, |d| d.file("b.pem", pkcs7(&[alpha(), bravo()])))
    .add("pkcs7-block", NearMiss, "a message without certificates", FILE, |d| {
        d.file("b.pem", alpha().pem() + &pem("PKCS7", &pkcs7(&[])));
    })
    .add("pkcs7-block", NearMiss, "the label around something else", FILE, |d| {
        d.file("b.pem", alpha().pem() + &pem("PKCS7", &sequence(&[integer(&[1])])));
    })
    .add("pkcs7-block", NotApplicable, "certificates alone", FILE, |d| d.file("b.pem", alpha().pem()));

    all.add("der-file", Hit, "a file of one certificate", FILE, |d| d.file("b.pem", alpha().der()))
        .at(&["b.pem:1"])
        .add("der-file", Hit, "a member", DIRECTORY, |d| {
            d.capath();
            d.file("d/bravo.crt", bravo().der());
        })
        .at(&["d/bravo.crt:1"])
        .add("der-file", NearMiss, "DER behind PEM, which is `der-in-bundle`", FILE, |d| {
            d.file("b.pem", [alpha().pem().as_bytes(), &bravo().der()].concat());
        })
        .add("der-file", NearMiss, "PKCS#7 in DER", FILE, |d| d.file("b.pem", pkcs7(&[alpha()])))
        .add("der-file", NotApplicable, "PEM", FILE, |d| d.file("b.pem", alpha().pem()));

    all.add("legacy-label", Hit, "X509 CERTIFICATE", FILE, |d| {
        d.file("b.pem", pem("X509 CERTIFICATE", &alpha().der()) + &bravo().pem());
    })
    .at(&["b.pem:1"])
    .add("legacy-label", Hit, "TRUSTED CERTIFICATE", FILE, |d| {
        d.file("b.pem", alpha().trusted_pem(&[oids::SERVER_AUTH], &[]) + &bravo().pem());
    })
    .at(&["b.pem:1"])
    .add("legacy-label", NearMiss, "a list, whose label begins with X509", FILE, |d| {
        d.file("b.pem", pem("X509 CRL", &crl()) + &bravo().pem());
    })
    .add("legacy-label", NotApplicable, "CERTIFICATE", FILE, |d| d.file("b.pem", alpha().pem()));

    for (what, label, der) in [
        ("a list of revoked certificates", "X509 CRL", crl()),
        ("a request", "CERTIFICATE REQUEST", sequence(&[integer(&[0])])),
        ("parameters", "DH PARAMETERS", sequence(&[integer(&[23]), integer(&[5])])),
        ("a label that nobody knows", "FOO BAR", sequence(&[integer(&[1])])),
    ] {
        all.add("other-block", Hit, what, FILE, move |d| {
            d.file("b.pem", pem(label, &der) + &alpha().pem());
        })
        .at(&["b.pem:1"]);
    }
    all.add("other-block", NearMiss, "a key, which is `private-key`", FILE, |d| {
        d.file("b.pem", alpha().pem() + &pem("PRIVATE KEY", b"not one"));
    })
    .add("other-block", NearMiss, "PKCS#7, which is `pkcs7-block`", FILE, |d| {
        d.file("b.pem", alpha().pem() + &pem("PKCS7", &pkcs7(&[bravo()])));
    })
    .add("other-block", NotApplicable, "certificates with comments", FILE, |d| {
        d.file("b.pem", format!("# CRL\n{}", alpha().pem()));
    });

    all.add("keystore", Hit, "Java's", FILE, |d| {
        d.file("b.pem", [&[0xfe, 0xed, 0xfe, 0xed, 0, 0, 0, 2, 0, 0, 0, 0][..], &[0; 20]].concat());
    })
    .add("keystore", Hit, "PKCS#12, inside a directory", DIRECTORY, |d| {
        d.capath();
        d.file("d/corp.p12", pkcs12());
    })
    .add("keystore", NearMiss, "a certificate and a PKCS#7 message in DER", &["a.der", "b.p7b"], |d| {
        d.file("a.der", alpha().der());
        d.file("b.p7b", pkcs7(&[bravo()]));
    })
    .add("keystore", NotApplicable, "one in a directory below", DIRECTORY, |d| {
        d.capath();
        d.file("d/java/cacerts", pkcs12());
    });

    for (what, name) in [("at its limit and one more", 4097), ("far more", 10_000)] {
        all.add("size-limit", Hit, what, &["--max-size=4KiB", "b.pem"], move |d| {
            d.file(
                "b.pem",
                format!("{:-<width$}\n", "#", width = name - 1 - alpha().pem().len()) + &alpha().pem(),
            );
        });
    }
    all.add("size-limit", NearMiss, "exactly the limit", &["--max-size=4KiB", "b.pem"], |d| {
        let text = format!("{:-<width$}\n", "#", width = 4096 - 1 - alpha().pem().len()) + &alpha().pem();
        assert_eq!(text.len(), 4096);
        d.file("b.pem", text);
    })
    .add("size-limit", NotApplicable, "no limit is given", FILE, |d| {
        d.file("b.pem", "# a line of text\n".repeat(100_000) + &alpha().pem());
    });

    all.add("subdirectory", Hit, "Java's", DIRECTORY, |d| {
        d.capath();
        d.file("d/java/cacerts", pkcs12());
    })
    .at(&["d/java"])
    .add("subdirectory", Hit, "a link to a directory", DIRECTORY, |d| {
        d.capath();
        d.file("elsewhere/bravo.pem", bravo().pem());
        d.link("d/more", "../elsewhere");
    })
    .at(&["d/more"])
    .add("subdirectory", NearMiss, "one that is looked into", &["--recursive", "d"], |d| {
        d.capath();
        d.file("d/more/bravo.pem", bravo().pem());
    })
    .add("subdirectory", NotApplicable, "files alone", DIRECTORY, Folder::capath);
}

/// A CRL (RFC 5280 section 5.1) of Alpha Root.
fn crl() -> Vec<u8> {
    let algorithm = algorithm(oids::ECDSA_SHA256, &[]);
    let list =
        sequence(&[integer(&[1]), algorithm.clone(), common_name("Alpha Root"), utc_time("200101000000Z")]);
    sequence(&[list, algorithm, bit_string(&sequence(&[integer(&[1]), integer(&[1])]))])
}

/// What is odd about a certificate or its framing.
fn oddities(all: &mut Examples) {
    all.add("legacy-version", Hit, "version 1", FILE, |d| {
        d.file("b.pem", Certificate { version: Vec::new(), extensions: Vec::new(), ..alpha() }.pem());
    })
    .at(&["b.pem:1"])
    .add("legacy-version", NearMiss, "version 3 without extensions", FILE, |d| {
        d.file("b.pem", Certificate { extensions: Vec::new(), ..alpha() }.pem());
    })
    .add("legacy-version", NotApplicable, "version 3", FILE, |d| d.file("b.pem", alpha().pem()));

    for (what, serial) in [
        ("zero", vec![0]),
        ("negative", vec![0x80]),
        ("negative, of many octets", vec![0xfe, 1, 2, 3, 4, 5, 6, 7]),
        ("21 octets", vec![1; 21]),
    ] {
        all.add("odd-serial", Hit, what, FILE, move |d| {
            d.file("b.pem", Certificate { serial: integer(&serial), ..alpha() }.pem());
        })
        .at(&["b.pem:1"]);
    }
    for (what, serial) in [("20 octets", vec![1; 20]), ("a zero before a high bit", vec![0, 0x80])] {
        all.add("odd-serial", NearMiss, what, FILE, move |d| {
            d.file("b.pem", Certificate { serial: integer(&serial), ..alpha() }.pem());
        });
    }
    all.add("odd-serial", NotApplicable, "one", FILE, |d| {
        d.file("b.pem", Certificate { serial: integer(&[1]), ..alpha() }.pem());
    });

    let named = |tag: u8, octets: &[u8]| {
        let subject = name(&[vec![attribute(oids::COMMON_NAME, tag, octets)]]);
        Certificate { issuer: subject.clone(), subject, ..alpha() }
    };
    for (what, certificate) in [
        ("T61String", named(tag::T61_STRING, b"Alpha")),
        ("BMPString", named(tag::BMP_STRING, &[0, b'A'])),
        ("UniversalString", named(tag::UNIVERSAL_STRING, &[0, 0, 0, b'A'])),
        (
            "a GeneralizedTime before 2050",
            Certificate { not_after: generalized_time("20491231235959Z"), ..alpha() },
        ),
        ("a name without attributes", Certificate { subject: name(&[]), issuer: name(&[]), ..alpha() }),
    ] {
        all.add("odd-encoding", Hit, what, FILE, move |d| d.file("b.pem", certificate.pem()))
            .at(&["b.pem:1"]);
    }
    all.add("odd-encoding", Hit, "an outer length of more octets than it needs", FILE, |d| {
        let der = alpha().der();
        assert_eq!(der[..2], [0x30, 0x82]);
        let loose = [&[0x30, 0x83, 0x00], &der[2..]].concat();
        d.file("b.pem", pem("CERTIFICATE", &loose));
    })
    .at(&["b.pem:1"])
    .add("odd-encoding", Hit, "bytes behind the certificate", FILE, |d| {
        d.file("b.pem", pem("CERTIFICATE", &[alpha().der(), vec![0, 0, 0]].concat()));
    })
    .at(&["b.pem:1"])
    .add("odd-encoding", NearMiss, "RFC 5280's string types", FILE, |d| {
        let subject = name(&[
            vec![attribute(oids::COUNTRY, tag::PRINTABLE_STRING, b"DE")],
            vec![attribute(oids::DOMAIN_COMPONENT, tag::IA5_STRING, b"example")],
            vec![attribute(oids::EMAIL, tag::IA5_STRING, b"ca@example.org")],
            vec![attribute(oids::COMMON_NAME, tag::UTF8_STRING, "\u{e4}".as_bytes())],
        ]);
        d.file("b.pem", Certificate { issuer: subject.clone(), subject, ..alpha() }.pem());
    })
    .add("odd-encoding", NearMiss, "a GeneralizedTime from 2050", FILE, |d| {
        d.file("b.pem", Certificate { not_after: generalized_time("20500101000000Z"), ..alpha() }.pem());
    })
    .add(
        "odd-encoding",
        NotApplicable,
        "attributes of trust are not behind the certificate",
        FILE,
        |d| {
            d.file("b.pem", alpha().trusted_pem(&[oids::SERVER_AUTH], &[]));
        },
    );

    let widths = |width: usize| {
        let lines: Vec<String> = alpha().pem().lines().map(str::to_owned).collect();
        let body = lines[1..lines.len() - 1].concat();
        let mut out = lines[0].clone() + "\n";
        for line in body.as_bytes().chunks(width) {
            out += std::str::from_utf8(line).unwrap();
            out.push('\n');
        }
        out + lines.last().unwrap() + "\n"
    };
    let lines = |change: fn(&str) -> String| alpha().pem().lines().map(change).collect::<String>();
    for (what, text) in [
        ("CRLF", alpha().pem().replace('\n', "\r\n")),
        ("a byte order mark", format!("\u{feff}{}", alpha().pem())),
        ("76 columns", widths(76)),
        ("one line", widths(100_000)),
        ("blanks at the ends of lines", lines(|line| format!("{line}  \n"))),
        ("indentation", lines(|line| format!("    {line}\n"))),
        ("no final newline", alpha().pem().trim_end().to_owned()),
    ] {
        all.add("odd-framing", Hit, what, FILE, move |d| d.file("b.pem", &text)).at(&["b.pem:1"]);
    }
    all.add("odd-framing", NearMiss, "comments and blank lines between blocks", FILE, |d| {
        d.file("b.pem", format!("# one\n{}\n\n# two\n{}\n# end\n", alpha().pem(), bravo().pem()));
    })
    .add("odd-framing", NotApplicable, "DER has no framing", FILE, |d| d.file("b.pem", alpha().der()));

    all.add("intermediate", Hit, "a CA that another one issued", FILE, |d| {
        d.file("b.pem", Certificate::intermediate("Delta CA", &alpha(), 8).pem() + &alpha().pem());
    })
    .at(&["b.pem:1"])
    .add("intermediate", NearMiss, "a root and a server's certificate", FILE, |d| {
        d.file("b.pem", alpha().pem() + &leaf().pem());
    })
    .add("intermediate", NotApplicable, "a root", FILE, |d| d.file("b.pem", alpha().pem()));

    all.add("same-key", Hit, "a CA that changed its name", FILE, |d| {
        d.file("b.pem", alpha().pem() + &Certificate { spki: alpha().spki, ..bravo() }.pem());
    })
    .add("same-key", NearMiss, "the same subject too, which is `reissued` alone", FILE, |d| {
        d.file("b.pem", alpha().pem() + &alpha_reissued().pem());
    })
    .add("same-key", NearMiss, "the same subject, another key", FILE, |d| {
        d.file("b.pem", alpha().pem() + &alpha_rekeyed().pem());
    })
    .add("same-key", NotApplicable, "copies", FILE, |d| d.file("b.pem", alpha().pem().repeat(2)));

    all.add("unused-ignore", Hit, "nothing has expired", &["--ignore=expired", "b.pem"], |d| {
        d.file("b.pem", alpha().pem());
    })
    .add("unused-ignore", Hit, "only another file", &["--ignore=expired:path:c.pem", "b.pem"], |d| {
        d.file("b.pem", until("250101000000Z").pem());
    })
    .add("unused-ignore", NearMiss, "an entry that is used", &["--ignore=expired:path:*.pem", "b.pem"], |d| {
        d.file("b.pem", until("250101000000Z").pem());
    })
    .add("unused-ignore", NotApplicable, "nothing is ignored", FILE, |d| d.file("b.pem", alpha().pem()));
}

/// Names in a CApath that work, and are worth knowing.
fn names(all: &mut Examples) {
    all.add("link-to-bundle", Hit, "the CAfile inside", DIRECTORY, |d| {
        d.file("d/ca-certificates.crt", alpha().pem() + &bravo().pem());
        d.link(&format!("d/{ALPHA}.0"), "ca-certificates.crt");
    })
    .at(&["d/743aa637.0"])
    .add("link-to-bundle", Hit, "a CAfile elsewhere that is named too", &["d", "ca-bundle.crt"], |d| {
        d.capath();
        d.file("ca-bundle.crt", alpha().pem() + &bravo().pem());
        d.link(&format!("d/{BRAVO}.0"), "../ca-bundle.crt");
    })
    .at(&["d/4f1516a8.0"])
    .add("link-to-bundle", NearMiss, "a member with two certificates", DIRECTORY, |d| {
        d.file("d/two.pem", alpha().pem() + &bravo().pem());
        d.link(&format!("d/{ALPHA}.0"), "two.pem");
        d.link(&format!("d/{BRAVO}.0"), "two.pem");
    })
    .add(
        "link-to-bundle",
        NearMiss,
        "another name of the CAfile, which no look-up asks for",
        DIRECTORY,
        |d| {
            d.capath();
            d.file("d/ca-certificates.crt", alpha().pem() + &bravo().pem());
            d.link("d/all.pem", "ca-certificates.crt");
        },
    )
    .add("link-to-bundle", NotApplicable, "no CAfile", DIRECTORY, Folder::capath);

    all.add("link-outside", Hit, "a hash link to a file outside", DIRECTORY, |d| {
        d.file("elsewhere/alpha.pem", alpha().pem());
        d.link(&format!("d/{ALPHA}.0"), "../elsewhere/alpha.pem");
    })
    .at(&["d/743aa637.0"])
    .add("link-outside", NearMiss, "a hash link to a member that is a link, as Debian's", DIRECTORY, |d| {
        d.file("elsewhere/alpha.pem", alpha().pem());
        d.link("d/alpha.pem", "../elsewhere/alpha.pem");
        d.link(&format!("d/{ALPHA}.0"), "alpha.pem");
    })
    .add("link-outside", NotApplicable, "a link of another name", DIRECTORY, |d| {
        d.capath();
        d.file("elsewhere/bravo.pem", bravo().pem());
        d.link("d/bravo.pem", "../elsewhere/bravo.pem");
    });

    all.add("second-name", Hit, "NAME.pem and a hash link", DIRECTORY, Folder::capath)
        .at(&["d/alpha.pem:1"])
        .add("second-name", Hit, "a hard link", DIRECTORY, |d| {
            d.file(&format!("d/{ALPHA}.0"), alpha().pem());
            fs::hard_link(d.0.join(format!("d/{ALPHA}.0")), d.0.join("d/alpha.pem")).unwrap();
        })
        .add("second-name", NearMiss, "regular files of a hash's name", DIRECTORY, |d| {
            d.file(&format!("d/{ALPHA}.0"), alpha().pem());
            d.file(&format!("d/{BRAVO}.0"), bravo().pem());
        })
        .add("second-name", NearMiss, "a hash link to a file outside", DIRECTORY, |d| {
            d.file("elsewhere/alpha.pem", alpha().pem());
            d.link(&format!("d/{ALPHA}.0"), "../elsewhere/alpha.pem");
        })
        .add("second-name", NotApplicable, "a file", FILE, |d| d.file("b.pem", alpha().pem()));

    all.add("legacy-link", Hit, "the hash of OpenSSL 0.9.8", DIRECTORY, |d| {
        d.capath();
        d.link(&format!("d/{ALPHA_OLD}.0"), "alpha.pem");
    })
    .at(&["d/a16d1582.0"])
    .add("legacy-link", NearMiss, "a hash that is neither", DIRECTORY, |d| {
        d.capath();
        d.link("d/00000001.0", "alpha.pem");
    })
    .add("legacy-link", NotApplicable, "no hash link", DIRECTORY, |d| d.file("d/alpha.pem", alpha().pem()));

    let refused = || Certificate { serial: integer(&[0, 1]), ..bravo() };
    all.add("malformed-certificate", Hit, "a serial number with a zero too many", FILE, move |d| {
        d.file("b.pem", refused().pem() + &alpha().pem());
    })
    .at(&["b.pem:1"])
    .add("malformed-certificate", Hit, "a serial number without octets", FILE, |d| {
        d.file("b.pem", Certificate { serial: integer(&[]), ..bravo() }.pem() + &alpha().pem());
    })
    .at(&["b.pem:1"])
    .add("malformed-certificate", Hit, "a subject that is not UTF-8 where it says so", FILE, |d| {
        d.file("b.pem", bad_utf8(tag::UTF8_STRING).pem() + &alpha().pem());
    })
    .at(&["b.pem:1"])
    .add("malformed-certificate", Hit, "such an issuer", FILE, |d| {
        let issuer = bad_utf8(tag::UTF8_STRING).issuer;
        d.file("b.pem", Certificate { issuer, ..bravo() }.pem() + &alpha().pem());
    })
    .at(&["b.pem:1"])
    .add("malformed-certificate", NearMiss, "a zero that the sign needs", FILE, |d| {
        d.file("b.pem", Certificate { serial: integer(&[0, 0x80]), ..bravo() }.pem() + &alpha().pem());
    })
    .add("malformed-certificate", NearMiss, "the same octets as T61String", FILE, |d| {
        d.file("b.pem", bad_utf8(tag::T61_STRING).pem() + &alpha().pem());
    });
}

/// What libraries load of a file.
fn reading(all: &mut Examples) {
    all.add("bundle-refused", Hit, "a character that is not base64, in the second block", FILE, |d| {
        d.file("b.pem", alpha().pem() + &bravo().pem().replacen("MII", "M!I", 1));
    })
    .at(&["b.pem:9"])
    .add("bundle-refused", Hit, "a certificate that OpenSSL refuses, behind a good one", FILE, |d| {
        d.file("b.pem", alpha().pem() + &Certificate { serial: integer(&[0, 1]), ..bravo() }.pem());
    })
    .at(&["b.pem:9"])
    .add("bundle-refused", Hit, "a block of another label whose base64 cannot be read", FILE, |d| {
        d.file("b.pem", format!("-----BEGIN FOO-----\n!\n-----END FOO-----\n{}", alpha().pem()));
    })
    .at(&["b.pem:1"])
    .add("bundle-refused", Hit, "every block behind text on its line", FILE, |d| {
        d.file("b.pem", format!("alpha {}", alpha().pem()));
    })
    .add("bundle-refused", NearMiss, "a block of another label that can be read", FILE, |d| {
        d.file("b.pem", format!("-----BEGIN FOO-----\nAAAA\n-----END FOO-----\n{}", alpha().pem()));
    })
    .add("bundle-refused", NearMiss, "labels that GnuTLS does not know", FILE, |d| {
        d.file("b.pem", alpha().trusted_pem(&[], &[]));
    })
    .add("bundle-refused", NotApplicable, "a member of a CApath", DIRECTORY, |d| {
        d.capath();
        d.file("d/b.pem", alpha().pem() + &bravo().pem().replacen("MII", "M!I", 1));
    })
    .add("bundle-refused", NotApplicable, "DER", FILE, |d| d.file("b.pem", alpha().der()));

    all.add("hidden-block", Hit, "text before BEGIN on its line", FILE, |d| {
        d.file("b.pem", format!("{}bravo {}", alpha().pem(), bravo().pem()));
    })
    .at(&["b.pem:9"])
    .add("hidden-block", Hit, "a line that starts with a NUL", FILE, |d| {
        d.file("b.pem", format!("{}\0\n{}", alpha().pem(), bravo().pem()));
    })
    .add("hidden-block", Hit, "the END before it is missing", FILE, |d| {
        let open = alpha().pem().replace("-----END CERTIFICATE-----\n", "");
        d.file("b.pem", open + &bravo().pem() + &charlie().pem());
    })
    .add("hidden-block", NearMiss, "text on the line before BEGIN", FILE, |d| {
        d.file("b.pem", format!("{}bravo\n{}", alpha().pem(), bravo().pem()));
    })
    .add("hidden-block", NotApplicable, "a file of DER", FILE, |d| d.file("b.pem", alpha().der()));

    let negative = || Certificate { serial: integer(&[0x80]), ..bravo() };
    all.add("skipped-certificate", Hit, "a negative serial number", FILE, move |d| {
        d.file("b.pem", alpha().pem() + &negative().pem());
    })
    .at(&["b.pem:9"])
    .add("skipped-certificate", Hit, "a byte order mark", FILE, |d| {
        d.file("b.pem", format!("\u{feff}{}{}", alpha().pem(), bravo().pem()));
    })
    .at(&["b.pem:1"])
    .add("skipped-certificate", NearMiss, "serial number zero", FILE, |d| {
        d.file("b.pem", Certificate { serial: integer(&[0]), ..bravo() }.pem());
    })
    .add(
        "skipped-certificate",
        NotApplicable,
        "a certificate that OpenSSL refuses as well",
        FILE,
        |d| {
            d.file("b.pem", alpha().pem() + &Certificate { serial: integer(&[0, 1]), ..bravo() }.pem());
        },
    );
}

/// Certificates of one subject and key, of which one has fewer rights.
fn twins(all: &mut Examples) {
    let limited = || {
        let mut twin = alpha_reissued();
        twin.extensions[0] = support::der::basic_constraints(true, Some(0));
        twin
    };
    let no_ca = || {
        let mut twin = alpha_reissued();
        twin.extensions = vec![support::der::basic_constraints(false, None)];
        twin
    };
    all.add("shadowed", Hit, "a twin with pathlen:0 before the one without", FILE, move |d| {
        d.file("b.pem", limited().pem() + &alpha().pem());
    })
    .at(&["b.pem:1"])
    .add("shadowed", Hit, "a twin that is no CA first", FILE, move |d| {
        d.file("b.pem", no_ca().pem() + &alpha().pem());
    })
    .at(&["b.pem:1"])
    .add("shadowed", Hit, "a twin that is no CA last", FILE, move |d| {
        d.file("b.pem", alpha().pem() + &no_ca().pem());
    })
    .add(
        "shadowed",
        Hit,
        "another key of the subject in the CAfile, the good one in the CApath alone",
        DIRECTORY,
        |d| {
            d.capath();
            d.file("d/ca-certificates.crt", alpha_rekeyed().pem() + &bravo().pem());
        },
    )
    .at(&["d/ca-certificates.crt:1"])
    .add("shadowed", NearMiss, "an expired twin first", FILE, |d| {
        d.file("b.pem", alpha_reissued().valid("200101000000Z", "210101000000Z").pem() + &alpha().pem());
    })
    .add("shadowed", NearMiss, "twins with equal rights", FILE, |d| {
        d.file("b.pem", alpha_reissued().pem() + &alpha().pem());
    })
    .add("shadowed", NotApplicable, "another key", FILE, |d| {
        d.file("b.pem", alpha_rekeyed().pem() + &alpha().pem());
    });
}

fn bad_utf8(string: u8) -> Certificate {
    let subject = name(&[vec![attribute(oids::COMMON_NAME, string, b"Root \xff\xfe")]]);
    Certificate { issuer: subject.clone(), subject, ..bravo() }
}

/// Runs the program on an example and gives the findings of its report.
fn findings(example: &Example, folder: &Path, mut command: Command) -> Result<Vec<Value>, String> {
    cases::make_directory(folder);
    (example.make)(&Folder(folder.to_owned()));
    let output = command
        .args(["audit", "--format", "json", "--at", NOW])
        .args(example.paths)
        .current_dir(folder)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.code() != Some(0) {
        return Err(format!("status {:?}: {}", output.status.code(), support::complaint(&output)));
    }
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    Ok(report["findings"].as_array().ok_or("no findings")?.clone())
}

fn severity(id: &str) -> Option<&'static str> {
    SEVERITIES.iter().find(|(_, ids)| ids.contains(&id)).map(|(severity, _)| *severity)
}

/// What is wrong with an example's findings.
fn judge(example: &Example, findings: &[Value]) -> Vec<String> {
    let own: Vec<&Value> = findings.iter().filter(|finding| finding["id"] == example.id).collect();
    let mut wrong = Vec::new();
    if example.kind != Hit {
        wrong.extend(own.iter().map(|finding| format!("reported: {}", finding["message"])));
        return wrong;
    }
    if own.is_empty() {
        let ids: Vec<&str> = findings.iter().filter_map(|finding| finding["id"].as_str()).collect();
        return vec![format!("not reported, but [{}]", ids.join(", "))];
    }
    let mut places = Vec::new();
    for finding in own {
        if finding["severity"].as_str() != severity(example.id) {
            wrong.push(format!("severity {}", finding["severity"]));
        }
        for place in finding["occurrences"].as_array().into_iter().flatten() {
            let path = place["path"].as_str().unwrap_or_default();
            places.push(match place["line"].as_u64() {
                Some(line) => format!("{path}:{line}"),
                None => path.to_owned(),
            });
        }
    }
    if !example.places.is_empty() && places != example.places {
        wrong.push(format!("at {places:?}, expected {:?}", example.places));
    }
    wrong
}

#[test]
fn every_example_is_judged_right() {
    let stage = tempfile::tempdir().unwrap();
    cases::set_mode(stage.path(), 0o755);
    let root_user = rustix::process::geteuid().is_root();
    let for_nobody = root_user.then(|| cases::copy_for_nobody(stage.path())).flatten();
    let examples = examples();
    let wrong = support::in_two_threads(&examples, |index, example| {
        let mut command = support::castore();
        if example.id == "unreadable" && root_user {
            let Some(program) = &for_nobody else {
                eprintln!("skipped: {}, which takes a user who may not read everything", example.what);
                return Vec::new();
            };
            command = Command::new(program);
            command.env_clear().uid(cases::NOBODY).gid(cases::NOBODY);
        }
        let folder = stage.path().join(index.to_string());
        let wrong = match findings(example, &folder, command) {
            Ok(findings) => judge(example, &findings),
            Err(error) => vec![error],
        };
        let name = format!("{} {:?}, {}", example.id, example.kind, example.what);
        wrong.into_iter().map(|what| format!("{name}: {what}")).collect::<Vec<_>>()
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_a_hit_a_near_miss_and_a_not_applicable() {
    let mut kinds: BTreeMap<&str, Vec<Kind>> = BTreeMap::new();
    for example in examples() {
        kinds.entry(example.id).or_default().push(example.kind);
    }
    for rule in RULES {
        let kinds = kinds.remove(rule.id).unwrap_or_default();
        for kind in [Hit, NearMiss, NotApplicable] {
            assert!(kinds.contains(&kind), "{}: no example of kind {kind:?}", rule.id);
        }
        assert_eq!(severity(rule.id), Some(rule.severity.as_str()), "{}", rule.id);
    }
    assert!(kinds.is_empty(), "examples of rules that are not there: {:?}", kinds.keys());
}

#[test]
fn the_hashes_are_those_of_openssl() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let view = |certificate: Certificate| support::openssl_view(certificate.pem().as_bytes()).unwrap();
    assert_eq!(
        (view(alpha()).subject_hash.as_str(), view(alpha()).subject_hash_old.as_str()),
        (ALPHA, ALPHA_OLD)
    );
    assert_eq!(view(bravo()).subject_hash, BRAVO);
    assert_eq!(view(leaf()).subject_hash, "c627d9c9");
}

/// What `malformed-certificate` says of serial numbers and strings, OpenSSL says too; GnuTLS may differ.
#[test]
fn what_openssl_refuses() {
    if support::skip_without(&["openssl"]) {
        return;
    }
    let serial = |octets: &[u8]| Certificate { serial: integer(octets), ..bravo() };
    let issuer = Certificate { issuer: bad_utf8(tag::UTF8_STRING).issuer, ..bravo() };
    for (certificate, refused) in [
        (serial(&[0, 1]), true),
        (serial(&[]), true),
        (serial(&[0, 0x80]), false),
        (serial(&[0x80]), false),
        (serial(&[0]), false),
        (bad_utf8(tag::UTF8_STRING), true),
        (issuer, true),
        (bad_utf8(tag::T61_STRING), false),
    ] {
        let view = support::openssl_view(certificate.pem().as_bytes());
        assert_eq!(view.is_err(), refused, "{:x?}: {view:?}", certificate.serial);
    }
}
