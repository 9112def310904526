//! What [`castore::readers::java`] says that Java reads from a file is what Java reads: the JDK itself
//! (`tests/oracle/ReadCertificates.java`) is given every input.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use std::io::Write as _;
use std::path::Path;

use castore::readers::java;
use castore::readers::reading::{Fault, Reason};
use support::der;
use support::inputs::{self, Answer, Input};
use support::mutate::Dice;

/// Where the model is otherwise than Java: input, why. None is.
const DEVIATIONS: &[(&str, &str)] = &[];

/// The update of Java 17 from which on it is as the model says.
const NEWEST_CHANGE: u32 = 21;

fn compare(inputs: Vec<Input>) {
    compare_as(inputs, |answer| answer);
}

/// Compares what is left of the answers.
fn compare_as(inputs: Vec<Input>, seen: impl Fn(Answer) -> Answer) {
    // A file of source alone is compiled as it is run, which needs a JDK.
    if support::skip_without(&["java", "javac"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let list = inputs::lay_out(&inputs, folder.path());
    let mut command = support::required("java");
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/ReadCertificates.java")).arg(list);
    let output = command.output().expect("java starts");
    assert!(output.status.success(), "{}", support::complaint(&output));
    let end = output.stdout.iter().position(|&byte| byte == b'\n').expect("a line with the version");
    let version = String::from_utf8_lossy(&output.stdout[..end]).into_owned();
    let (release, update) = version.split_once(' ').expect("two numbers");
    if release != "17" {
        assert!(!support::in_ci(), "CI=true, but this is Java {release}: the model is of Java 17");
        let _ = writeln!(std::io::stderr(), "skipped: Java 17 missing, this is {release}");
        return;
    }
    let update: u32 = update.parse().expect("the number of an update");
    let answers = inputs::answers(&output.stdout[end + 1..], &inputs).into_iter().map(&seen).collect();
    // An early update, as a machine has it that installed it long ago, takes some characters and depths that the model
    // refuses.
    let (mut inputs, mut answers): (Vec<Input>, Vec<Answer>) = (inputs, answers);
    if update < NEWEST_CHANGE {
        let refused = |input: &Input| java::read(&input.bytes).refused.map(|miss| miss.reason);
        let differs = |input: &Input| {
            matches!(refused(input), Some(Reason::Certificate(_, Fault::Characters | Fault::TooLarge)))
        };
        (inputs, answers) = inputs.into_iter().zip(answers).filter(|(input, _)| !differs(input)).unzip();
    }
    let model = |bytes: &[u8]| seen(Answer::of(&java::read(bytes)));
    inputs::compare(&format!("Java 17.0.{update}"), &inputs, &answers, model, DEVIATIONS);
}

#[test]
fn the_model_reads_what_java_reads() {
    let Some(inputs) = inputs::inputs() else { return };
    compare(inputs);
}

/// One of these.
fn one<T: Copy>(dice: &mut Dice, from: &[T]) -> T {
    *dice.pick(from)
}

/// Some of these one behind the other.
fn text(dice: &mut Dice, pieces: &[&str], most: usize) -> Vec<u8> {
    (0..dice.roll(most + 1)).map(|_| one(dice, pieces)).collect::<String>().into_bytes()
}

/// Lines of frames in any order.
#[test]
fn the_model_frames_as_java_does() {
    let bodies: Vec<String> = (0..3)
        .map(|seed| {
            let block = der::Certificate::root("frames", seed).pem();
            block.lines().filter(|line| !line.starts_with('-')).map(|line| format!("{line}\n")).collect()
        })
        .collect();
    let binary = |seed| der::Certificate::root("frames", seed).der();
    let lines: &[&str] = &[
        "-----BEGIN CERTIFICATE-----",
        "-----END CERTIFICATE-----",
        "-----BEGIN -----",
        "-----END -----",
        "-----BEGIN CERTIFICATE",
        "-----END CERTIFICATE",
        "------",
        "----",
        "a----- b",
        "name: value",
        "AAAA",
        "0",
        "=",
        "",
    ];
    let mut dice = Dice::new(5);
    let inputs = (0..inputs::mutations() * 5)
        .map(|number| {
            let mut bytes = Vec::new();
            for _ in 0..1 + dice.roll(5) {
                match dice.roll(10) {
                    0..=5 => {
                        let begin =
                            one(&mut dice, &["\n", "\n", "\n", "\r\n", "\r", " \n", "\x1c\n", "\x01\n"]);
                        let mut body = dice.pick(&bodies).clone();
                        match dice.roll(8) {
                            0 => body = body.replace('\n', "\r"),
                            1 => body = body.trim_end_matches(['=', '\n']).to_owned(),
                            2 => body.push_str(one(
                                &mut dice,
                                &["=", "A", "AA==", "AAAA", " ", "\t", "\x0b", "-"],
                            )),
                            _ => {}
                        }
                        let end = one(&mut dice, &["", "", "", "", " ", "x", "-"]);
                        let block =
                            format!("-----BEGIN CERTIFICATE-----{begin}{body}-----END CERTIFICATE-----{end}");
                        bytes.extend_from_slice(block.as_bytes());
                    }
                    6 => bytes.extend_from_slice(&binary(1)),
                    _ => bytes.extend_from_slice(one(&mut dice, lines).as_bytes()),
                }
                let end: &[&str] =
                    &["\n", "\n", "\n", "\n", "\r\n", " \n", "\n\n", "", "\r", "x", "\u{feff}"];
                bytes.extend_from_slice(one(&mut dice, end).as_bytes());
            }
            Input { name: format!("frames/{number}"), bytes }
        })
        .collect();
    compare(inputs);
}

/// A URI, right or nearly so.
fn uri(dice: &mut Dice) -> Vec<u8> {
    const SCHEMES: &[&str] = &["http:", "http:", "HTTP:", "mailto:", "1:", ":", "a+b:", "", "", "a_b:"];
    const SLASHES: &[&str] = &["//", "//", "//", "//", "///", "/", ""];
    const USERS: &[&str] = &["", "", "", "", "u@", "u:p@", "@", "u@v@", "u%20@", "u%2@", "u|@"];
    const HOSTS: &[&str] = &[
        "a.b",
        "a",
        ".a",
        "a.b.c",
        "a-",
        "a-.b",
        "-a",
        "a.1",
        "1.a",
        "1",
        "1.2.3.4",
        "1.2.3",
        "1.2.3.256",
        "a_b",
        "a*b",
        "[::1]",
        "[1::2%1]",
        "[1::2%]",
        "[",
        "[1]",
        "[1:2:3:4:5:6:7:8]",
        "[::1.2.3.4]",
        "a%41",
        "%2E",
        "ü",
        "",
    ];
    const ENDS: &[&str] = &[
        "",
        "",
        "",
        ":",
        ":1",
        ":x",
        ":99999999999",
        "/",
        "/a b",
        "/%41",
        "/%4",
        "?a",
        "#a",
        "#a#",
        "/ü",
        "/[",
        "?[",
        "\\",
    ];
    let parts = [SCHEMES, SLASHES, USERS, HOSTS, ENDS].map(|part| one(dice, part));
    parts.concat().into_bytes()
}

/// A name, right or nearly so.
fn general_name(dice: &mut Dice) -> Vec<u8> {
    let directory = der::common_name("a");
    let content = match dice.roll(8) {
        0..=3 => return der::tlv(0x86, &uri(dice)),
        4 => text(dice, &["a", "@", ".", "ü"], 4),
        5 => {
            let mut octets = vec![one(dice, &[7, 0xFF]); one(dice, &[0, 4, 5, 8, 16, 32])];
            if octets.len() >= 16 && dice.roll(2) == 0 {
                octets[..12].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]);
            }
            octets
        }
        6 => {
            let party = der::tlv(one(dice, &[0x80, 0x81, 0x82, 0xA1]), &directory);
            return der::tlv(0xA5, &party.repeat(dice.roll(3)));
        }
        _ => {
            let inner = match dice.roll(4) {
                0 => [der::oid(one(dice, &["1.2.3", "2.5.29.17", "2.5.29.9"])), directory].concat(),
                1 => directory[2..].to_vec(),
                2 => Vec::new(),
                _ => directory,
            };
            return der::tlv(one(dice, &[0xA0, 0xA4, 0xA4, 0xA3, 0x84]), &inner);
        }
    };
    der::tlv(one(dice, &[0x81, 0x82, 0x87, 0x87, 0x88, 0xA0, 0x89]), &content)
}

/// An extension that Java knows, or nearly.
fn extension(dice: &mut Dice) -> Vec<u8> {
    let number = one(
        dice,
        &[&[0][..], &[5], &[0xFF], &[0xFE], &[0, 1], &[], &[0x7F; 4], &[0x7F; 5], &[0, 0, 0, 0, 0, 0x7F]],
    );
    let bits = one(dice, &[&[0][..], &[0, 1], &[7, 0xFF], &[8, 1], &[1], &[]]);
    let identifier = |dice: &mut Dice| {
        der::tlv(0x06, one(dice, &[&[0x2A, 3][..], &[0x2A, 3], &[0x80, 1], &[], &[0x2A, 0x83]]))
    };
    let names = |dice: &mut Dice| (0..dice.roll(3)).map(|_| general_name(dice)).collect::<Vec<_>>();
    let (oid, value) = match dice.roll(16) {
        0..=2 => (one(dice, &["2.5.29.17", "2.5.29.18", "2.5.29.29"]), der::sequence(&names(dice))),
        3..=5 => {
            let distance =
                if dice.roll(3) == 0 { der::tlv(one(dice, &[0x80, 0x81, 0x82]), number) } else { vec![] };
            let trees: Vec<Vec<u8>> =
                names(dice).into_iter().map(|name| der::sequence(&[name, distance.clone()])).collect();
            let tree = der::tlv(one(dice, &[0xA0, 0xA1, 0xA1, 0x81]), &trees.concat());
            ("2.5.29.30", der::sequence(&vec![tree; 1 + dice.roll(8) / 7]))
        }
        6 => {
            let boolean = der::tlv(one(dice, &[1, 1, 2]), one(dice, &[&[0xFF][..], &[0], &[1], &[]]));
            ("2.5.29.19", der::sequence(&[boolean, der::integer(number)]))
        }
        7 => {
            let qualifier = der::sequence(&[identifier(dice), der::tlv(0x16, b"a")]);
            let qualifiers = der::sequence(&vec![qualifier; dice.roll(3)]);
            ("2.5.29.32", der::sequence(&[der::sequence(&[identifier(dice), qualifiers])]))
        }
        8 => {
            let tags = one(dice, &[&[0x80][..], &[0x80, 0x81], &[0x81, 0x81], &[0x82], &[0xA0]]);
            let fields: Vec<Vec<u8>> = tags.iter().map(|tag| der::tlv(*tag, number)).collect();
            (one(dice, &["2.5.29.36", "2.5.29.36", "2.5.29.35"]), der::sequence(&fields))
        }
        9 => {
            let oid = one(dice, &["2.5.29.54", "2.5.29.20", "2.5.29.27", "2.5.29.21"]);
            (oid, der::tlv(one(dice, &[2, 2, 10]), number))
        }
        10 => ("2.5.29.33", der::sequence(&[der::sequence(&[identifier(dice), identifier(dice)])])),
        11 => {
            let access = der::sequence(&[identifier(dice), general_name(dice)]);
            (one(dice, &["1.3.6.1.5.5.7.1.1", "1.3.6.1.5.5.7.1.11"]), der::sequence(&[access]))
        }
        12 => {
            let point =
                der::tlv(0xA0, &der::tlv(one(dice, &[0xA0, 0xA0, 0xA1, 0x80]), &names(dice).concat()));
            let reasons = der::tlv(0x81, bits);
            let issuer = der::tlv(0xA2, &names(dice).concat());
            let fields =
                [point, reasons, issuer].into_iter().filter(|_| dice.roll(2) == 0).collect::<Vec<_>>();
            let oid = one(dice, &["2.5.29.31", "2.5.29.46", "2.5.29.28"]);
            (
                oid,
                if oid.ends_with("28") {
                    der::sequence(&fields)
                } else {
                    der::sequence(&[der::sequence(&fields)])
                },
            )
        }
        13 => {
            let value = der::tlv(one(dice, &[3, 3, 4]), bits);
            let value = if dice.roll(3) == 0 { der::octet_string(&value) } else { value };
            (one(dice, &["2.5.29.15", "2.16.840.1.113730.1.1", "2.5.29.14"]), value)
        }
        14 => {
            let time =
                one(dice, &[&b"20200101000000Z"[..], b"202001010000Z", b"2020", b"20200101000000.1+0100"]);
            ("2.5.29.16", der::sequence(&vec![der::tlv(one(dice, &[0x80, 0x81]), time); dice.roll(3)]))
        }
        _ => {
            let inner = der::tlv(one(dice, &[0x80, 0x04, 0x06, 0x30, 0xA0]), &[0x2A, 3]);
            let oid =
                one(dice, &["2.5.29.14", "2.5.29.35", "2.5.29.37", "1.3.6.1.5.5.7.48.1.5", "2.5.29.99"]);
            (oid, if dice.roll(2) == 0 { der::sequence(&[inner]) } else { inner })
        }
    };
    let value = if dice.roll(12) == 0 { [value, vec![0]].concat() } else { value };
    let critical = match dice.roll(8) {
        0 => vec![],
        1 => der::tlv(1, &[0]),
        2 => der::tlv(1, &[1]),
        3 => der::tlv(one(dice, &[1, 2]), one(dice, &[&[0xFF][..], &[], &[0, 0]])),
        _ => der::boolean(true),
    };
    let value = match dice.roll(10) {
        0 => der::tlv(0x24, &[der::octet_string(&value[..1]), der::octet_string(&value[1..])].concat()),
        1 => der::tlv(0xE4, &der::tlv(0x24, &der::octet_string(&value))),
        2 => [&[0x24, 0x80][..], &der::octet_string(&value), &[0, 0]].concat(),
        3 if dice.roll(3) == 0 => {
            (0..28 + dice.roll(3)).fold(der::octet_string(&value), |inner, _| der::tlv(0x24, &inner))
        }
        _ => der::octet_string(&value),
    };
    let behind = if dice.roll(10) == 0 { vec![5, 0] } else { vec![] };
    der::tlv(one(dice, &[0x30, 0x30, 0x30, 0x30, 0x31]), &[der::oid(oid), critical, value, behind].concat())
}

/// A key in one of the ways that Java has, right or wrong.
fn key(dice: &mut Dice) -> Vec<u8> {
    const CURVES: &[&str] = &[
        "1.3.132.0.33",
        "1.2.840.10045.3.1.7",
        "1.3.132.0.34",
        "1.3.132.0.35",
        "1.3.132.0.10",
        "1.3.132.0.11",
        "1.3.36.3.3.2.8.1.1.7",
        "1.2.840.10045.3.0.18",
        "1.2.840.10045.3.1.8",
    ];
    let null: &[u8] = one(dice, &[&[5, 0][..], &[5, 0], &[], &[5, 1, 0], &[4, 0]]);
    let number = |dice: &mut Dice| {
        let modulus: &[u8] =
            one(dice, &[&[0x7F; 64][..], &[0x7F; 63], &[0xFF; 64], &[1; 385], &[1; 2049], &[0; 70]]);
        der::integer(one(
            dice,
            &[modulus, modulus, modulus, &[3], &[1, 0, 1], &[2], &[0xFF], &[0, 3], &[7; 9], &[]],
        ))
    };
    let (algorithm, bits) = match dice.roll(7) {
        0 | 1 => {
            let hash = der::algorithm(one(dice, &["2.16.840.1.101.3.4.2.1", "1.3.14.3.2.26", "1.2.3"]), null);
            let mask = der::algorithm(one(dice, &["1.2.840.113549.1.1.8", "1.2.3"]), &hash);
            let fields =
                [(0, hash), (1, mask), (2, number(dice)), (3, der::integer(&[one(dice, &[1, 1, 2])]))];
            let fields: Vec<Vec<u8>> = fields
                .into_iter()
                .filter(|_| dice.roll(2) == 0)
                .map(|(number, field)| der::explicit(number, &field))
                .collect();
            let algorithm = match dice.roll(3) {
                0 => der::algorithm("1.2.840.113549.1.1.10", &der::sequence(&fields)),
                1 => der::algorithm("1.2.840.113549.1.1.10", null),
                _ => der::algorithm(one(dice, &["1.2.840.113549.1.1.1", "2.5.8.1.1"]), null),
            };
            (algorithm, der::sequence(&[number(dice), number(dice)]))
        }
        2 => {
            let parameters = der::sequence(&(0..1 + dice.roll(4)).map(|_| number(dice)).collect::<Vec<_>>());
            let oid = one(
                dice,
                &["1.2.840.10040.4.1", "1.3.14.3.2.12", "1.2.840.113549.1.3.1", "1.2.840.10046.2.1"],
            );
            (der::algorithm(oid, if dice.roll(4) == 0 { null } else { &parameters }), number(dice))
        }
        3 | 4 => {
            let point = vec![one(dice, &[4, 4, 4, 2]); one(dice, &[57, 65, 66, 67, 97, 133, 33, 91, 0])];
            let curve = der::oid(one(dice, CURVES));
            (der::algorithm("1.2.840.10045.2.1", if dice.roll(5) == 0 { null } else { &curve }), point)
        }
        5 => {
            let oid = one(dice, &["1.3.101.110", "1.3.101.111", "1.3.101.112", "1.3.101.113"]);
            (der::algorithm(oid, null), vec![7; one(dice, &[0, 31, 32, 32, 33, 56, 56, 57, 57])])
        }
        _ => {
            let hash = der::algorithm(one(dice, &["2.16.840.1.101.3.4.2.6", "2.16.840.1.101.3.4.2.7"]), null);
            let mask = der::algorithm("1.2.840.113549.1.1.8", &hash);
            let label = der::algorithm("1.2.840.113549.1.1.9", &der::octet_string(b"a"));
            let field = one(dice, &[&hash, &mask, &label]).clone();
            let oaep = der::sequence(&[der::explicit(dice.roll(4) as u8, &field)]);
            (
                der::algorithm(
                    one(dice, &["1.2.840.113549.1.1.7", "1.2.3.4"]),
                    if dice.roll(2) == 0 { null } else { &oaep },
                ),
                vec![7; 31],
            )
        }
    };
    let unused = if dice.roll(5) == 0 { 1 } else { 0 };
    let behind = if dice.roll(20) == 0 { vec![5, 0] } else { vec![] };
    der::sequence(&[algorithm, der::tlv(0x03, &[&[unused], &bits[..]].concat()), behind])
}

/// Names, times, numbers, keys and extensions that few certificates have.
#[test]
fn the_model_reads_values_as_java_does() {
    let mut dice = Dice::new(7);
    let inputs = (0..inputs::mutations() * 10)
        .map(|number| {
            let mut certificate = der::Certificate::root("values", 1);
            match dice.roll(6) {
                0 | 1 => certificate.spki = key(&mut dice),
                2..=4 => {
                    certificate.extensions = (0..1 + dice.roll(2)).map(|_| extension(&mut dice)).collect();
                    if dice.roll(5) == 0 {
                        certificate.subject = der::sequence(&[]);
                    }
                }
                _ => {
                    let units: Vec<u8> = (0..dice.roll(5))
                        .flat_map(|_| {
                            one(&mut dice, &[[0xD8, 0], [0xDC, 0], [0, 0x41], [0xFF, 0xFE], [0xDB, 0xFF]])
                        })
                        .collect();
                    let attribute = match dice.roll(4) {
                        0 => der::attribute("2.5.4.3", 0x1E, &[&units[..], &vec![1; dice.roll(2)]].concat()),
                        1 => der::attribute(
                            "2.5.4.3",
                            one(&mut dice, &[0x0C, 2, 0xA0, 0x30, 0x1F]),
                            &[0xFF, 0xFF],
                        ),
                        _ => der::attribute("2.5.4.3", 0x0C, b"a"),
                    };
                    let set = der::set(&vec![attribute; dice.roll(3)]);
                    let name = der::sequence(&vec![set; dice.roll(3)]);
                    if dice.roll(3) == 0 {
                        certificate.issuer = name
                    } else {
                        certificate.subject = name
                    }
                    let time = text(
                        &mut dice,
                        &["20", "01", "13", "31", "24", "0", "Z", "+0100", ".", ",", "5"],
                        10,
                    );
                    let right: &[&[u8]] = &[
                        b"20200101000000Z",
                        b"202001010000Z",
                        b"20200231235959.123-2359",
                        b"20200101000000,Z",
                        b"00000101000000.5Z",
                        b"20200101000000+2400",
                        b"202001010000+0100",
                        b"20200101000060Z",
                    ];
                    let time = if dice.roll(2) == 0 { one(&mut dice, right).to_vec() } else { time };
                    if dice.roll(2) == 0 {
                        let (tag, skip) = one(&mut dice, &[(0x18, 0), (0x17, 2), (0x17, 0)]);
                        certificate.not_after = der::tlv(tag, &time[skip.min(time.len())..]);
                    }
                    if dice.roll(3) == 0 {
                        let version =
                            one(&mut dice, &[&[0][..], &[1], &[2], &[3], &[0xFF], &[], &[0, 0, 0, 0, 0, 2]]);
                        certificate.version =
                            der::tlv(one(&mut dice, &[0xA0, 0xA0, 0x80, 0xA4]), &der::integer(version));
                        if dice.roll(2) == 0 {
                            certificate.extensions.clear();
                        }
                    }
                }
            }
            Input { name: format!("values/{number}"), bytes: certificate.pem().into_bytes() }
        })
        .collect();
    compare(inputs);
}

/// PKCS#7 messages, which Java takes for the whole file where one is its first block.
#[test]
fn the_model_reads_messages_as_java_does() {
    const SIGNED: &str = "1.2.840.113549.1.7.2";
    const DATA: &str = "1.2.840.113549.1.7.1";
    let mut dice = Dice::new(11);
    let certificates: Vec<Vec<u8>> =
        (0..3).map(|seed| der::Certificate::root("messages", seed).der()).collect();
    let broken = [&certificates[0][..], &[5, 0]].concat();
    let inputs = (0..inputs::mutations() * 3)
        .map(|number| {
            let oid = one(
                &mut dice,
                &[SIGNED, SIGNED, SIGNED, "1.2.840.1113549.1.7.2", "2.16.840.1.113730.2.5", DATA],
            );
            let mut list: Vec<Vec<u8>> =
                (0..dice.roll(4)).map(|_| dice.pick(&certificates).clone()).collect();
            match dice.roll(10) {
                0 => list.push(broken.clone()),
                1 => list.push(der::integer(&[1])),
                2 => list.push(der::tlv(0xA0, b"")),
                _ => {}
            }
            let list = der::tlv(one(&mut dice, &[0xA0, 0xA0, 0xA0, 0x31, 0x30]), &list.concat());
            let algorithms = match dice.roll(6) {
                0 => der::set(&[der::algorithm("1.2.3", &[5, 0])]),
                1 => der::set(&[der::integer(&[1])]),
                2 => der::sequence(&[]),
                _ => der::set(&[]),
            };
            let inner = match dice.roll(6) {
                0 => der::sequence(&[der::oid(DATA), der::explicit(0, &der::octet_string(b"a"))]),
                1 => der::sequence(&[der::oid(DATA), der::octet_string(b"a"), der::integer(&[1])]),
                2 => der::sequence(&[]),
                _ => der::sequence(&[der::oid(DATA)]),
            };
            let mut fields =
                vec![der::integer(one(&mut dice, &[&[1][..], &[1], &[]])), algorithms, inner, list.clone()];
            fields.extend((0..one(&mut dice, &[0, 1, 1, 1, 1, 2])).map(|_| der::set(&[])));
            if dice.roll(10) == 0 {
                fields.remove(3);
            }
            let body = if oid.starts_with("2.16") { list } else { der::sequence(&fields) };
            let content = match dice.roll(8) {
                0 => body,
                1 => vec![],
                2 => der::tlv(0xA0, &body.repeat(2)),
                _ => der::explicit(0, &body),
            };
            let mut message = der::sequence(&[der::oid(oid), content]);
            if dice.roll(12) == 0 {
                message.push(0);
            }
            let blocks = [
                der::pem("PKCS7", &message),
                der::pem("CERTIFICATE", &message),
                der::pem("CERTIFICATE", &certificates[1]),
            ];
            let mut bytes = if dice.roll(4) == 0 { message } else { Vec::new() };
            for _ in 0..1 + dice.roll(2) {
                bytes.extend_from_slice(dice.pick(&blocks).as_bytes());
            }
            Input { name: format!("messages/{number}"), bytes }
        })
        .collect();
    compare(inputs);
}

/// These elements again, some with lengths that are not DER.
fn ber(dice: &mut Dice, mut elements: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while !elements.is_empty() {
        let length = castore::der::element_length(elements).expect("a whole element");
        let (element, rest) = elements.split_at(length);
        elements = rest;
        let content = castore::der::content(element).expect("a whole element");
        let is_constructed = element[0] & 0x20 != 0;
        let content = if is_constructed { ber(dice, content) } else { content.to_vec() };
        match dice.roll(80) {
            0..=2 if is_constructed => {
                out.extend_from_slice(&[element[0], 0x80]);
                out.extend_from_slice(&content);
                out.extend_from_slice(&[0, 0]);
            }
            3 => {
                let length = u32::try_from(content.len()).unwrap().to_be_bytes();
                let skip = if content.len() < 0x1_0000 { dice.roll(3) } else { 0 };
                out.extend_from_slice(&[element[0], 0x84 - skip as u8]);
                out.extend_from_slice(&length[skip..]);
                out.extend_from_slice(&content);
            }
            _ => out.extend_from_slice(&der::tlv(element[0], &content)),
        }
    }
    out
}

/// Lengths that are not DER, also in each other. What Java gives as the bytes of such a certificate is not compared: it
/// writes those anew that stand in an element of indefinite length.
#[test]
fn the_model_reads_lengths_as_java_does() {
    let mut dice = Dice::new(13);
    let inputs = (0..inputs::mutations() * 10)
        .map(|number| {
            let root = der::Certificate::root("lengths", 1);
            let der = ber(&mut dice, &root.der());
            let bytes = if dice.roll(8) == 0 { der } else { der::pem("CERTIFICATE", &der).into_bytes() };
            Input { name: format!("lengths/{number}"), bytes }
        })
        .collect();
    compare_as(inputs, |answer| Answer { loads: Default::default(), ..answer });
}
