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
use support::der::{Certificate, common_name, generalized_time, integer, oids, pem, tlv, utc_time};

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
            "dead-capath",
            "der-in-bundle",
            "glued-boundary",
            "malformed-block",
            "malformed-certificate",
            "no-certificates",
            "private-key",
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
            "duplicate",
            "duplicate-across",
            "eager-and-on-demand",
            "expired",
            "expires-soon",
            "link-loop",
            "no-hash-links",
            "not-a-ca",
            "not-regular",
            "not-yet-valid",
            "one-sided",
            "wrong-hash-link",
        ],
    ),
    ("notice", &["leftover", "reissued", "same-subject", "unlinked"]),
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
    /// What is named on the command line.
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
