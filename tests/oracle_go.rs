//! What [`castore::readers::go`] says that Go loads of a file is what Go loads: the real `crypto/x509` of Go 1.19 and
//! of Go 1.27 (`tests/oracle/go`) reads every input.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use std::path::{Path, PathBuf};

use castore::readers::go::{self, Version};
use support::der;
use support::inputs::{self, Answer, Input};
use support::mutate::Dice;

/// Where the model is otherwise than Go: input, why. None is.
const DEVIATIONS: &[(&str, &str)] = &[];

/// Each Go, and the version of the model that is held to it.
const VERSIONS: [(&str, Version); 2] = [("1.19", Version::Go1_19), ("1.27", Version::Go1_27)];

/// The oracle for a Go, built in `folder`; `None` where that Go is missing.
fn oracle(number: &str, folder: &Path) -> Option<PathBuf> {
    let mut go = support::go(number)?;
    let program = folder.join("oracle");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/go");
    let output =
        go.args(["build", "-o"]).arg(&program).arg(".").current_dir(source).output().expect("go starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

fn compare(inputs: &[Input]) {
    for (number, version) in VERSIONS {
        let folder = tempfile::tempdir().unwrap();
        let Some(oracle) = oracle(number, folder.path()) else { continue };
        let list = inputs::lay_out(inputs, folder.path());
        let output = support::at(&oracle).arg(list).output().expect("the oracle starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answers = inputs::answers(&output.stdout, inputs);
        let model = |bytes: &[u8]| Answer::of(&go::read(bytes, version));
        inputs::compare(&format!("Go {number}"), inputs, &answers, model, DEVIATIONS);
    }
}

#[test]
fn the_model_loads_what_go_loads() {
    let Some(inputs) = inputs::inputs() else { return };
    compare(&inputs);
}

/// Lines of frames in any order: what Go makes of boundaries that do not fit is hard to think of.
#[test]
fn the_model_frames_as_go_does() {
    let Some(bundle) = support::certifi().pop() else { return };
    let bundle = std::fs::read(bundle.1).unwrap();
    let ders: Vec<Vec<u8>> =
        support::certificate_blocks(&bundle).iter().take(3).map(|block| support::block_der(block)).collect();
    let bodies: Vec<String> = ders
        .iter()
        .map(|der| {
            let block = der::pem("CERTIFICATE", der);
            block.lines().filter(|line| !line.starts_with('-')).map(|line| format!("{line}\n")).collect()
        })
        .collect();
    let lines: &[&str] = &[
        "-----BEGIN CERTIFICATE-----",
        "-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----",
        "-----END CERTIFICATE-----",
        "-----BEGIN A-----",
        "-----END A-----",
        "-----BEGIN A: -----",
        "-----END A: -----",
        "-----BEGIN -----",
        "-----END -----",
        "-----BEGIN CERTIFICATE",
        "-----END CERTIFICATE",
        "-----BEGIN ",
        "-----END ",
        "name: value",
        "AAAA",
        "=",
        ":",
        "",
    ];
    let mut dice = Dice::new(3);
    let inputs: Vec<Input> = (0..inputs::mutations() * 5)
        .map(|number| {
            let mut text = String::new();
            for _ in 0..1 + dice.roll(12) {
                match dice.roll(6) {
                    0 | 1 => {
                        let body = dice.pick(&bodies);
                        text.push_str(&format!(
                            "-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----"
                        ));
                    }
                    2 => text.push_str(dice.pick(&bodies).as_str()),
                    _ => text.push_str(one(&mut dice, lines)),
                }
                text.push_str(one(
                    &mut dice,
                    &["\n", "\n", "\n", "\n", "\r\n", " \n", "\n\n", "", "\r", "x"],
                ));
            }
            Input { name: format!("frames/{number}"), bytes: text.into_bytes() }
        })
        .collect();
    compare(&inputs);
}

/// One of these.
fn one<T: Copy>(dice: &mut Dice, from: &[T]) -> T {
    *dice.pick(from)
}

/// Some of these one behind the other.
fn text(dice: &mut Dice, pieces: &[&str], most: usize) -> Vec<u8> {
    (0..dice.roll(most + 1)).map(|_| one(dice, pieces)).collect::<String>().into_bytes()
}

/// A URI, right or nearly so.
fn uri(dice: &mut Dice) -> Vec<u8> {
    const SCHEMES: &[&str] = &["http:", "https:", "HTTP:", "ldap:", "mailto:", "1:", ":", "a+b:", "", "a_b:"];
    const SLASHES: &[&str] = &["//", "//", "//", "//", "///", "/", ""];
    const USERS: &[&str] = &["", "", "", "", "u@", "u:p@", "@", "u@v@", "u%20@", "u%2@", "u|@", "u/@"];
    const HOSTS: &[&str] = &[
        "a.b",
        "a",
        ".a",
        "a.",
        "a..b",
        "",
        "1.2.3.4",
        "a b",
        "a%C3%A9",
        "a%41",
        "a%25",
        "a%",
        "[::1]",
        "[::1%25en0]",
        "[::1%25]",
        "[::1%25e%20n]",
        "[::1%25%41]",
        "[::1%25%7C]",
        "[1.2.3.4]",
        "[::ffff:1.2.3.4]",
        "[x]",
        "[::1",
        "::1]",
        "::1",
        "a[::1]",
        "[[::1]",
        "[::1]]",
        "[]",
        "[1:2:3:4:5:6:7:8]",
        "[00001::]",
        "a|b",
        "a<b",
        "a\\b",
        "a*b",
        "a_b",
        "a@b",
        "é",
    ];
    const PORTS: &[&str] = &["", "", "", ":80", ":", ":a", ":1:2", "::", ":8%30", "x"];
    const PATHS: &[&str] = &[
        "", "", "/", "/a b", "/%41", "/%4", "?%4", "?", "??", "#%41", "#%4", "#", "/a:b", "\t", "#\t",
        "\u{7f}", "/#/?%",
    ];
    let parts = [SCHEMES, SLASHES, USERS, HOSTS, PORTS, PATHS];
    let mut out: Vec<&str> = parts.iter().map(|pieces| pieces[dice.roll(pieces.len())]).collect();
    if dice.roll(2) == 0 {
        (out[0], out[1]) = ("http:", "//");
    }
    out.concat().into_bytes()
}

/// A name of a kind that Go parses: general name tags 1, 2, 6 and 7, and others.
fn general_name(dice: &mut Dice) -> Vec<u8> {
    const MAILBOXES: &[&str] = &[
        "a", "b.c", ".", "..", "@", "\"", "\\", " ", "é", "\t", "\r", "\0", "[", "(", "1.2.3.4", "x@y.z",
        "_", "-", "~",
    ];
    const ADDRESSES: &[&str] = &[
        "1", "0", "00001", "255", "256", ".", ":", "::", "ffff", "1.2.3.4", "a", "g", "%", "x", "12345",
        "00000",
    ];
    let content = match dice.roll(7) {
        0..=2 => return der::tlv(0x86, &uri(dice)),
        3 => text(dice, MAILBOXES, 6),
        4 => [&b"a@"[..], &text(dice, MAILBOXES, 4)].concat(),
        5 => text(dice, ADDRESSES, 10),
        _ => {
            let mut octets: Vec<u8> =
                vec![one(dice, &[0, 0xFF, 0xF0, 0x0F]); one(dice, &[0, 4, 5, 8, 16, 32])];
            if octets.len() >= 16 && dice.roll(2) == 0 {
                octets[..12].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]);
            }
            if let Some(at) = (octets.len()).checked_sub(2) {
                octets[at] = one(dice, &[0, 0xFF, 0xF0, 0xC0, 0x0F]);
                octets[at + 1] = one(dice, &[0, 0, 0xFF, 0xF0]);
            }
            return der::tlv(one(dice, &[0x87, 0x87, 0x87, 0x82]), &octets);
        }
    };
    der::tlv(one(dice, &[0x81, 0x82, 0x86, 0x86, 0x86, 0x88, 0xA0]), &content)
}

/// An extension that Go knows, or nearly.
fn extension(dice: &mut Dice) -> Vec<u8> {
    let number = der::integer(one(
        dice,
        &[
            &[0][..],
            &[5],
            &[0xFF],
            &[0, 1],
            &[],
            &[0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            &[0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ],
    ));
    let tagged = |tag: u8, element: &[u8]| der::tlv(tag, &element[2..]);
    let identifier = |dice: &mut Dice| {
        der::tlv(
            0x06,
            one(
                dice,
                &[
                    &[0x2A, 3][..],
                    &[0x55, 0x1D, 0x20, 0],
                    &[0x80, 1],
                    &[],
                    &[0x2A, 0x80, 3],
                    &[0x2A, 0x83],
                    &[0x2A, 0x88, 0x80, 0x80, 0x80, 0],
                    &[0x2A, 0x87, 0xFF, 0xFF, 0xFF, 0x7F],
                    &[0x2A, 0x90, 0x80, 0x80, 0x80, 0x80, 0],
                ],
            ),
        )
    };
    let names = |dice: &mut Dice| (0..1 + dice.roll(2)).map(|_| general_name(dice)).collect::<Vec<_>>();
    let trees =
        |dice: &mut Dice| names(dice).into_iter().map(|name| der::sequence(&[name])).collect::<Vec<_>>();
    let (oid, value) = match dice.roll(14) {
        0..=3 => ("2.5.29.17", der::sequence(&names(dice))),
        4..=6 => {
            let tree = der::tlv(one(dice, &[0xA0, 0xA1]), &trees(dice).concat());
            ("2.5.29.30", der::sequence(&[tree]))
        }
        7 => {
            let boolean = der::tlv(0x01, one(dice, &[&[0xFF][..], &[0], &[1], &[]]));
            ("2.5.29.19", der::sequence(&[boolean, number]))
        }
        8 => {
            let list: Vec<Vec<u8>> = (0..dice.roll(3)).map(|_| der::sequence(&[identifier(dice)])).collect();
            ("2.5.29.32", der::sequence(&list))
        }
        9 => {
            let tags: &[u8] = one(dice, &[&[0x80][..], &[0x80, 0x81], &[0x81], &[0x82], &[0xA0]]);
            ("2.5.29.36", der::sequence(&tags.iter().map(|tag| tagged(*tag, &number)).collect::<Vec<_>>()))
        }
        10 => ("2.5.29.54", number),
        11 => {
            let mapping = der::sequence(&[identifier(dice), identifier(dice)]);
            ("2.5.29.33", der::sequence(&[mapping]))
        }
        12 => {
            let inner = general_name(dice);
            let access = der::sequence(&[identifier(dice), inner]);
            ("1.3.6.1.5.5.7.1.1", der::sequence(&[access]))
        }
        _ => (one(dice, &["2.5.29.14", "2.5.29.35", "2.5.29.37", "2.5.29.31", "2.5.29.15", "2.5.29.99"]), {
            let inner = der::tlv(one(dice, &[0x80, 0x04, 0x06, 0x30, 0xA0]), &[0x2A, 3]);
            if dice.roll(2) == 0 { der::sequence(&[inner]) } else { inner }
        }),
    };
    let mut out = der::extension(oid, dice.roll(4) == 0, &value);
    if dice.roll(20) == 0 {
        out.push(0);
    }
    out
}

/// A key in one of the ways that Go has, right or wrong.
fn key(dice: &mut Dice) -> Vec<u8> {
    const CURVES: &[&str] =
        &["1.3.132.0.33", "1.2.840.10045.3.1.7", "1.3.132.0.34", "1.3.132.0.35", "1.3.132.0.10"];
    let null: &[u8] = one(dice, &[&[5, 0][..], &[5, 0], &[], &[5, 1, 0]]);
    let number = |dice: &mut Dice| {
        der::integer(one(dice, &[&[3][..], &[1, 0, 1], &[0], &[0xFF], &[0, 1], &[0x11; 9]]))
    };
    let (algorithm, bits) = match dice.roll(6) {
        0 => (der::algorithm("1.2.840.113549.1.1.1", null), der::sequence(&[number(dice), number(dice)])),
        1 => {
            let parameters = der::sequence(&[number(dice), number(dice), number(dice)]);
            (der::algorithm("1.2.840.10040.4.1", &parameters), number(dice))
        }
        2 => {
            let point = vec![4; one(dice, &[57, 65, 97, 133, 33])];
            (der::algorithm("1.2.840.10045.2.1", &der::oid(one(dice, CURVES))), point)
        }
        3 => {
            (der::algorithm("1.3.101.112", one(dice, &[&[][..], &[5, 0]])), vec![7; one(dice, &[31, 32, 33])])
        }
        4 => {
            let oid =
                one(dice, &["2.16.840.1.101.3.4.3.17", "2.16.840.1.101.3.4.3.18", "2.16.840.1.101.3.4.3.19"]);
            let size = one(dice, &[1312, 1952, 2592, 2591]);
            (der::algorithm(oid, one(dice, &[&[][..], &[], &[5, 0]])), vec![7; size])
        }
        _ => (der::algorithm(one(dice, &["1.3.101.110", "1.2.3.4", "1.3.101.113"]), null), vec![7; 31]),
    };
    let unused = if dice.roll(5) == 0 { 1 } else { 0 };
    der::sequence(&[
        algorithm,
        der::tlv(0x03, &[&[unused], &bits[..], &vec![0; usize::from(unused)]].concat()),
    ])
}

/// Made certificates whose names, times, extensions and keys are right or nearly so: what single changes to real ones
/// do not reach.
#[test]
fn the_model_parses_as_go_does() {
    let mut dice = Dice::new(4);
    let inputs: Vec<Input> = (0..inputs::mutations() * 10)
        .map(|number| {
            let mut made = der::Certificate::root("Castore Test Root 01", 7);
            let what = match dice.roll(10) {
                0..=5 => {
                    made.extensions = (0..1 + dice.roll(2)).map(|_| extension(&mut dice)).collect();
                    "extensions"
                }
                6 | 7 => {
                    let digits = one(
                        &mut dice,
                        &[
                            "2602281200",
                            "260228120000",
                            "20260228120000",
                            "000229235959",
                            "010229000000",
                            "19000229000000",
                            "20000229000000",
                            "00000229000000",
                            "260431000000",
                            "260430235960",
                            "260430240000",
                            "260430006000",
                            "261301000000",
                            "260001000000",
                            "260100000000",
                            "690101000000",
                            "490101000000",
                            "260101",
                        ],
                    );
                    let zone = one(
                        &mut dice,
                        &[
                            "Z", "Z", "+0100", "-0100", "+0000", "-0000", "+2400", "+2401", "-2500", "+9959",
                            "+0060", "+0160", "+01", "+010", "z", "", ".5Z", " Z", "ZZ", "+01:00", "+-100",
                            "0Z", "5",
                        ],
                    );
                    let tag = if digits.len() == 14 { 0x18 } else { 0x17 };
                    made.not_before = der::tlv(
                        tag ^ one(&mut dice, &[0, 0, 0, 0x0F]),
                        format!("{digits}{zone}").as_bytes(),
                    );
                    "time"
                }
                8 => {
                    let texts: &[&[u8]] = &[
                        b"",
                        b"a",
                        b"a@b",
                        b"\xC3\xA9",
                        b"\xFF",
                        b"a\0",
                        b"12 3",
                        b"a*b&c",
                        b"a_b",
                        b"'()+,-./:=?",
                    ];
                    let wide: &[&[u8]] = &[
                        b"\0a",
                        b"\xFF\xFE",
                        b"\xFF\xFD",
                        b"\xFD\xD0",
                        b"\xFD\xEF",
                        b"\xFD\xF0",
                        b"\xD8\0",
                        b"a",
                        b"\0\0",
                    ];
                    let numbers: &[&[u8]] = &[
                        b"",
                        b"\0",
                        b"\0\x01",
                        b"\xFF",
                        b"\x7F1234567",
                        b"\x7F12345678",
                        b"\0\xFF1234567",
                        b"\x01\x80",
                        b"\x01\xFF",
                        b"\x2A\x80\x01",
                    ];
                    let times: &[&[u8]] =
                        &[b"200101000000Z", b"20200101000000Z", b"2001010000Z", b"200101000000"];
                    let kinds: [(&[u8], &[&[u8]]); 5] = [
                        (&[12, 18, 19, 20, 22], texts),
                        (&[30], wide),
                        (&[1, 2, 3, 6], numbers),
                        (&[23, 24], times),
                        (&[4, 5, 10, 26, 27, 28, 31, 48, 128], texts),
                    ];
                    let (tags, values) = one(&mut dice, &kinds);
                    let (tag, octets) = (one(&mut dice, tags), one(&mut dice, values));
                    made.subject = der::name(&[vec![der::attribute("2.5.4.3", tag, octets)]]);
                    "name"
                }
                _ => {
                    made.spki = key(&mut dice);
                    "key"
                }
            };
            Input { name: format!("made/{number} {what}"), bytes: made.pem().into_bytes() }
        })
        .collect();
    compare(&inputs);
}
