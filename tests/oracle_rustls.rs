//! What a program on rustls loads of a file: the model against rustls-native-certs and rustls themselves, on every
//! input. `tests/oracle/rustls` is that program, a project of its own.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use castore::readers::rustls;
use support::der;
use support::inputs::{self, Answer, Input};
use support::mutate::Dice;

/// Where the model is not the library: name of the input, and why.
const DEVIATIONS: &[(&str, &str)] = &[];

fn compare(inputs: &[Input]) {
    let folder = tempfile::tempdir().unwrap();
    let list = inputs::lay_out(inputs, folder.path());
    let output = support::at(support::rustls_oracle()).arg(list).output().expect("it starts");
    assert!(output.status.success(), "{}", support::complaint(&output));
    let answers = inputs::answers(&output.stdout, inputs);
    inputs::compare("rustls", inputs, &answers, |bytes| Answer::of(&rustls::read(bytes)), DEVIATIONS);
}

#[test]
fn the_model_loads_what_rustls_loads() {
    let Some(inputs) = inputs::inputs() else { return };
    compare(&inputs);
}

/// One of these.
fn one<T: Copy>(dice: &mut Dice, from: &[T]) -> T {
    *dice.pick(from)
}

/// Three certificates, in base64 with two, one and no signs of padding.
fn padded() -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for padding in ["A==", "=", ""] {
        let certificate = (1..20).map(|length| {
            let mut made = der::Certificate::root(&"x".repeat(length), 7);
            made.extensions.clear();
            made.pem()
        });
        let body = certificate
            .map(|pem| {
                pem.lines().filter(|line| !line.starts_with('-')).map(|line| format!("{line}\n")).collect()
            })
            .find(|body: &String| match padding {
                "A==" => body.trim_end().ends_with("=="),
                "=" => body.trim_end().ends_with('=') && !body.trim_end().ends_with("=="),
                _ => !body.contains('='),
            });
        out.push(body.expect("one length in three"));
    }
    out
}

/// Base64 that is written in an unusual way, or wrong.
fn rewritten(dice: &mut Dice, body: &str) -> String {
    let mut text = body.to_owned();
    for _ in 0..dice.roll(3) {
        let place = dice.roll(text.len() + 1);
        let end = text.len() - dice.roll(5).min(text.len());
        match dice.roll(8) {
            0 => text = text.replace('=', ""),
            1 => text = text.replacen('=', "", 1),
            2 => {
                text = text.replace('\n', one(dice, &["\r\n", "\r", "", "\n\n", " \n", "\x0b", "\x0c", "\0"]))
            }
            3 => text.insert_str(end, one(dice, &["=", "==", "===", "A", "AA", "AAA=", "AA==", "!"])),
            4 => text.insert_str(place, one(dice, &[" ", "\t", "\x0b", "\x0c", "\x1c", "\0", "-", "\u{a0}"])),
            5 => text = text.replace('=', one(dice, &[" =", "=\n", "\n="])),
            6 => {
                // Bits behind the last byte, where there are any.
                let at = text.trim_end().trim_end_matches('=').len() - 1;
                text.replace_range(at..=at, one(dice, &["A", "B", "E", "Q", "/"]));
            }
            _ => text.insert(place, '\n'),
        }
    }
    text
}

/// Lines of frames in any order, and ways to write base64.
#[test]
fn the_model_frames_as_rustls_does() {
    let bodies = padded();
    let lines: &[&str] = &[
        "-----BEGIN CERTIFICATE-----",
        "-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE-----",
        "-----END CERTIFICATE-----",
        "-----BEGIN CERTIFICATE - ---- ",
        "-----BEGIN CERTIFICATE- - - - -",
        "-----BEGIN CERTIFICATE -----",
        "-----BEGIN CERTIFICATE------",
        "-----BEGIN CERTIFICATE----",
        "-----BEGIN CERTIFICATE-----\t",
        "-----BEGIN CERTIFICATE-----x",
        "-----BEGIN  CERTIFICATE-----",
        "------BEGIN CERTIFICATE-----",
        " -----BEGIN CERTIFICATE-----",
        "\u{feff}-----BEGIN CERTIFICATE-----",
        "-----END CERTIFICATE------",
        "-----END CERTIFICATE----",
        "-----END CERTIFICATE -----",
        "-----END CERTIFICATE-----x",
        "-----END CERTIFICATE-----=",
        " -----END CERTIFICATE-----",
        "-----END X509 CRL-----",
        "-----BEGIN X509 CRL-----",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "-----BEGIN A-----",
        "-----END A-----",
        "-----BEGIN -----",
        "-----END -----",
        "-----BEGIN ",
        "-----END ",
        "name: value",
        "=",
        "",
        " ",
    ];
    let mut dice = Dice::new(5);
    let inputs: Vec<Input> = (0..inputs::mutations() * 5)
        .map(|number| {
            let mut text = String::new();
            for _ in 0..1 + dice.roll(12) {
                let body = dice.pick(&bodies).clone();
                let body = if dice.roll(2) == 0 { rewritten(&mut dice, &body) } else { body };
                match dice.roll(6) {
                    0 | 1 => text
                        .push_str(&format!("-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----")),
                    2 => text.push_str(&body),
                    _ => text.push_str(one(&mut dice, lines)),
                }
                text.push_str(one(
                    &mut dice,
                    &["\n", "\n", "\n", "\n", "\r\n", "\r", " \n", "\n\n", "", "x"],
                ));
            }
            Input { name: format!("frames/{number}"), bytes: text.into_bytes() }
        })
        .collect();
    compare(&inputs);
}

/// An element, now and then with another tag, another form of its length, or something behind its content.
fn element(dice: &mut Dice, tag: u8, content: &[u8]) -> Vec<u8> {
    let mut content = content.to_vec();
    match dice.roll(60) {
        0 => content.extend(one(dice, &[&[0][..], &[5, 0], &[0x30, 0]])),
        1 => content.clear(),
        _ => {}
    }
    let tag = match dice.roll(60) {
        0 => one(dice, &[tag ^ 0x20, 0x1F, 0x3F, 0x04, 0x30, 0x02, 0x00]),
        _ => tag,
    };
    if dice.roll(60) > 0 {
        return der::tlv(tag, &content);
    }
    let size = content.len();
    let header = match dice.roll(6) {
        0 => vec![tag, 0x80],
        1 => vec![tag, 0x81, size as u8],
        2 => [&[tag, 0x82], &(size as u16).to_be_bytes()[..]].concat(),
        3 => [&[tag, 0x84], &(size as u32).to_be_bytes()[..]].concat(),
        4 => [&[tag, 0x88], &(size as u64).to_be_bytes()[..]].concat(),
        _ => vec![tag, (size as u8).wrapping_add(1)],
    };
    [header, content].concat()
}

/// An extension, right or nearly so.
fn extension(dice: &mut Dice) -> Vec<u8> {
    let sct = &der::oid("1.3.6.1.4.1.11129.2.4.2")[2..];
    let last = one(dice, &[14, 15, 17, 19, 30, 31, 32, 37, 54]);
    let standard = [0x55, 0x1D, last];
    let id: &[u8] = if dice.roll(12) == 0 {
        one(dice, &[sct, sct, &[], &[0x55, 0x1D], &[0x55, 0x1D, 19, 0]])
    } else {
        &standard
    };
    let tag = if id == sct { 0x04 } else { 0x30 };
    let value = match dice.roll(12) {
        0 => one(dice, &[&[][..], &[0x30], &[0x30, 0, 0], &[3, 2, 1, 6], &[0x04, 0], &[0x30, 0x80, 0, 0]])
            .to_vec(),
        _ => element(dice, tag, &[0x01, 0x01, 0xFF]),
    };
    let critical = match dice.roll(8) {
        0 => der::tlv(0x01, one(dice, &[&[0xFF][..], &[0], &[1], &[], &[0xFF, 0xFF]])),
        1 => der::boolean(true),
        _ => Vec::new(),
    };
    let parts = [element(dice, 0x06, id), critical, element(dice, 0x04, &value)].concat();
    element(dice, 0x30, &parts)
}

/// A certificate in outline, right or nearly so.
fn outline(dice: &mut Dice) -> Vec<u8> {
    let algorithm = element(dice, 0x30, &der::oid("1.2.3"));
    let other = if dice.roll(20) == 0 { element(dice, 0x30, &der::oid("1.2.4")) } else { algorithm.clone() };
    let mut tbs = Vec::new();
    let number: &[u8] = if dice.roll(8) == 0 {
        one(dice, &[&[0][..], &[1], &[3], &[], &[0, 2], &[0, 0x82], &[0x82]])
    } else {
        &[2]
    };
    if dice.roll(6) > 0 {
        let number = element(dice, 0x02, number);
        tbs.extend(element(dice, 0xA0, &number));
    }
    let serial = one(dice, &[&[1][..], &[0], &[], &[0xFF], &[0, 1]]);
    tbs.extend(element(dice, 0x02, serial));
    tbs.extend(algorithm);
    for content in [&[][..], &[5, 0], &[0x31, 0], &[0x30, 0, 3, 1, 0]] {
        tbs.extend(element(dice, 0x30, content));
    }
    if dice.roll(20) == 0 {
        tbs.extend(der::tlv(one(dice, &[0x81, 0x82, 0xA1, 0xA2]), &[0, 1]));
    }
    if dice.roll(3) > 0 {
        let list: Vec<u8> = (0..dice.roll(4)).flat_map(|_| extension(dice)).collect();
        let list = element(dice, 0x30, &list);
        tbs.extend(element(dice, 0xA3, &list));
    }
    let unused = one(dice, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 7, 8]);
    let outer = [element(dice, 0x30, &tbs), other, element(dice, 0x03, &[unused, 0x80])].concat();
    let mut out = element(dice, 0x30, &outer);
    if dice.roll(60) == 0 {
        out.push(0);
    }
    out
}

/// Made certificates that are right or nearly so: what single changes to real ones do not reach.
#[test]
fn the_model_parses_as_webpki_does() {
    let mut dice = Dice::new(6);
    let mut inputs: Vec<Input> = (0..inputs::mutations() * 10)
        .map(|number| Input {
            name: format!("made/{number}"),
            bytes: der::pem("CERTIFICATE", &outline(&mut dice)).into_bytes(),
        })
        .collect();
    // Around what an element may have at most.
    let mut made = der::Certificate::root("Castore Test Root 01", 7);
    made.extensions.clear();
    let short = made.der().len();
    for length in (65_535 - short - 40..65_536 - short).chain([65_520, 65_534, 65_535, 65_536, 70_000]) {
        made.extensions = vec![der::extension("1.2.3", false, &vec![0; length])];
        inputs.push(Input { name: format!("long/{length}"), bytes: made.pem().into_bytes() });
    }
    compare(&inputs);
}
