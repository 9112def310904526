//! Certificates and bundles with one thing changed, made from real ones. Fixed seed: the same list at every run, and
//! the first 200 of 2,000 are the 200.

#![allow(clippy::explicit_auto_deref, reason = "without it, the type that is picked is not found")]

use super::der::pem;

/// A generator of numbers that needs no crate (xorshift64*, Vigna 2016).
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        // Never zero, and near seeds far apart.
        Self((seed.wrapping_add(1)).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Less than `sides`.
    pub fn roll(&mut self, sides: usize) -> usize {
        usize::try_from((self.next() >> 33) % sides as u64).unwrap()
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.roll(from.len())]
    }
}

/// One changed thing: what was changed, and the result.
pub struct Mutation {
    pub what: String,
    pub bytes: Vec<u8>,
}

// ---- Certificates --------------------------------------------------------------------------------------------

/// An element and what is inside it.
#[derive(Clone)]
struct Node {
    tag: u8,
    /// Bytes before the children: the unused bits of a BIT STRING that holds DER.
    before: Vec<u8>,
    inside: Inside,
    /// How its length is written.
    length: Length,
    /// Bytes behind it that belong to nothing.
    after: Vec<u8>,
}

#[derive(Clone)]
enum Inside {
    Children(Vec<Node>),
    Content(Vec<u8>),
}

#[derive(Clone, Copy, PartialEq)]
enum Length {
    Minimal,
    /// One byte more than needed.
    Long,
    Indefinite,
    /// One more than there is.
    OneMore,
    /// One less than there is.
    OneLess,
}

/// The elements of `bytes`, or `None` where they are no DER.
fn parse(bytes: &[u8]) -> Option<Vec<Node>> {
    let mut nodes = Vec::new();
    let mut rest = bytes;
    while let [tag, first, ..] = *rest {
        let (header, length) = match first {
            0..=0x7F => (2, usize::from(first)),
            0x81 => (3, usize::from(*rest.get(2)?)),
            0x82 => (4, usize::from(*rest.get(2)?) << 8 | usize::from(*rest.get(3)?)),
            _ => return None,
        };
        if tag & 0x1F == 0x1F || tag == 0 {
            return None;
        }
        let content = rest.get(header..header + length)?;
        let (before, inside) = match tag {
            _ if tag & 0x20 != 0 => (vec![], parse(content).map(Inside::Children)),
            // What an extension holds; keys and signatures of elliptic curves.
            0x04 if content.len() > 1 => (vec![], parse(content).map(Inside::Children)),
            0x03 if content.first() == Some(&0) && content.get(1) == Some(&0x30) => {
                (vec![0], parse(&content[1..]).map(Inside::Children))
            }
            _ => (vec![], None),
        };
        let (before, inside) = match inside {
            Some(inside) => (before, inside),
            None => (vec![], Inside::Content(content.to_vec())),
        };
        nodes.push(Node { tag, before, inside, length: Length::Minimal, after: vec![] });
        rest = &rest[header + length..];
    }
    rest.is_empty().then_some(nodes)
}

fn write(nodes: &[Node], out: &mut Vec<u8>) {
    for node in nodes {
        let mut content = node.before.clone();
        match &node.inside {
            Inside::Children(children) => write(children, &mut content),
            Inside::Content(bytes) => content.extend_from_slice(bytes),
        }
        out.push(node.tag);
        let length = match node.length {
            Length::OneMore => content.len() + 1,
            Length::OneLess => content.len().saturating_sub(1),
            _ => content.len(),
        };
        match node.length {
            Length::Indefinite => out.push(0x80),
            Length::Long => match length {
                0..=0x7F => out.extend([0x81, length as u8]),
                0x80..=0xFF => out.extend([0x82, 0, length as u8]),
                _ => out.extend([0x83, 0, (length >> 8) as u8, length as u8]),
            },
            _ => match length {
                0..=0x7F => out.push(length as u8),
                0x80..=0xFF => out.extend([0x81, length as u8]),
                _ => out.extend([0x82, (length >> 8) as u8, length as u8]),
            },
        }
        out.extend(content);
        if node.length == Length::Indefinite {
            out.extend([0, 0]);
        }
        out.extend(&node.after);
    }
}

/// The way to each element: numbers of children from the top.
fn paths(nodes: &[Node], base: &[usize], out: &mut Vec<Vec<usize>>) {
    for (number, node) in nodes.iter().enumerate() {
        let mut path = base.to_vec();
        path.push(number);
        if let Inside::Children(children) = &node.inside {
            paths(children, &path, out);
        }
        out.push(path);
    }
}

/// The list in which an element stands, and its place there.
fn list<'a>(nodes: &'a mut Vec<Node>, path: &[usize]) -> (&'a mut Vec<Node>, usize) {
    let (&first, rest) = path.split_first().expect("a path has a step");
    if rest.is_empty() {
        return (nodes, first);
    }
    let Inside::Children(children) = &mut nodes[first].inside else { panic!("no children") };
    list(children, rest)
}

const TAGS: &[u8] = &[
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x09, 0x0A, 0x0C, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
    0x19, 0x1A, 0x1B, 0x1C, 0x1E, 0x30, 0x31, 0x80, 0x82, 0xA0, 0xA1, 0xA3, 0x41,
];

const TIMES: &[(u8, &[u8])] = &[
    (0x17, b"2601010000Z"),
    (0x17, b"260101000000"),
    (0x17, b"260101000000+0100"),
    (0x17, b"260101000000-0000"),
    (0x17, b"261301000000Z"),
    (0x17, b"260001000000Z"),
    (0x17, b"260230000000Z"),
    (0x17, b"260101240000Z"),
    (0x17, b"260101006000Z"),
    (0x17, b"260101000060Z"),
    (0x17, b"260101 00000Z"),
    (0x17, b""),
    (0x17, b"garbage"),
    (0x17, b"500101000000Z"),
    (0x17, b"490101000000Z"),
    (0x17, b"260101000000Z\0"),
    (0x17, b"260101000000z"),
    (0x17, b"20260101000000Z"),
    (0x18, b"20260101000000Z"),
    (0x18, b"20500101000000Z"),
    (0x18, b"20500101000000"),
    (0x18, b"20500101000000.5Z"),
    (0x18, b"20500101000000+0100"),
    (0x18, b"205001010000Z"),
    (0x18, b"00000101000000Z"),
    (0x18, b"99991231235959Z"),
    (0x18, b"20501301000000Z"),
    (0x18, b"20500230000000Z"),
    (0x18, b"20500101240000Z"),
    (0x18, b""),
    (0x18, b"260101000000Z"),
    (0x16, b"260101000000Z"),
    (0x04, b"260101000000Z"),
];

const STRINGS: &[(u8, &[u8])] = &[
    (0x0C, b"\xC3\xA9"),
    (0x0C, b"\xC3"),
    (0x0C, b"\xC0\xAF"),
    (0x0C, b"\xED\xA0\x80"),
    (0x0C, b"\xF4\x90\x80\x80"),
    (0x0C, b"\xF0\x9F\x94\x92"),
    (0x0C, b"a\0b"),
    (0x0C, b""),
    (0x13, b"a@b"),
    (0x13, b"a*b"),
    (0x13, b"a&b"),
    (0x13, b"a\xE9b"),
    (0x13, b"a\0b"),
    (0x13, b""),
    (0x13, b" a  b "),
    (0x14, b"a\xE9b"),
    (0x14, b"a\0b"),
    (0x16, b"a\xE9b"),
    (0x16, b"a_b"),
    (0x12, b"12 3"),
    (0x12, b"12a"),
    (0x1E, b"\0a\0b"),
    (0x1E, b"\0a\0"),
    (0x1E, b"\xD8\x3D\xDD\x12"),
    (0x1E, b"\xD8\x3D"),
    (0x1E, b"\xFE\xFF\0a"),
    (0x1E, b"\0a\0\0"),
    (0x1E, b""),
    (0x1C, b"\0\0\0a"),
    (0x1C, b"\0\0a"),
    (0x1C, b"\0\x11\0\0"),
    (0x1C, b"\0\0\xD8\0"),
    (0x1A, b"abc"),
    (0x1B, b"abc"),
    (0x19, b"abc"),
    (0x15, b"abc"),
    (0x1D, b"abc"),
    (0x04, b"abc"),
    (0x03, b"\0abc"),
    (0x02, b"\x01"),
    (0x05, b""),
    (0x01, b"\xFF"),
    (0x0A, b"\x01"),
    (0x06, b"\x2A\x03"),
    (0x80, b"abc"),
    (0x30, b""),
    (0x31, b""),
    (0x07, b"abc"),
];

const IDENTIFIERS: &[&[u8]] = &[
    b"",
    b"\x2A",
    b"\x2A\x80",
    b"\x80\x2A\x03",
    b"\x2A\x80\x01",
    b"\x2A\x86\x48\x86",
    b"\x2A\x82\x80\x80\x80\x80\x80\x80\x80\x80\x00",
    b"\x2A\x87\xFF\xFF\xFF\x7F",
    b"\x2A\x88\x80\x80\x80\x00",
    b"\x2A\x90\x80\x80\x80\x00",
    b"\x2A\x81\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F",
    b"\xFF\x7F",
    b"\x2A\x86\x48\x86\xF7\x0D\x01\x01\x0B",
    b"\x55\x04\x03",
    b"\x2B\x65\x70",
    b"\x00",
];

const INTEGERS: &[&[u8]] = &[
    b"",
    b"\x00",
    b"\x00\x00",
    b"\x00\x01",
    b"\x01",
    b"\x02",
    b"\x03",
    b"\x7F",
    b"\x80",
    b"\xFF",
    b"\xFF\xFF",
    b"\xFF\x7F",
    b"\x00\x80",
    b"\x00\xFF\xFF\xFF\xFF",
    b"\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF",
    b"\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11\x11",
];

/// One thing changed in a certificate; `None` where the die fell on something that cannot be done there.
fn change(base: &[u8], dice: &mut Dice) -> Option<Mutation> {
    let mut nodes = parse(base)?;
    let mut all = Vec::new();
    paths(&nodes, &[], &mut all);
    let path = dice.pick(&all).clone();
    let (siblings, place) = list(&mut nodes, &path);
    let node = &mut siblings[place];
    let tag = node.tag;
    let name = |text: &str| format!("{path:?} tag {tag:02x}: {text}");
    let what = match dice.roll(22) {
        // What belongs to the kind of element comes up most often.
        0..=9 => match tag {
            0x17 | 0x18 => {
                let (tag, text) = *dice.pick(TIMES);
                (node.tag, node.inside) = (tag, Inside::Content(text.to_vec()));
                name(&format!("time {tag:02x} {:?}", String::from_utf8_lossy(text)))
            }
            0x0C | 0x13 | 0x14 | 0x16 | 0x1E | 0x82 | 0x86 => {
                let (tag, text) = *dice.pick(STRINGS);
                if node.tag < 0x80 {
                    node.tag = tag;
                }
                node.inside = Inside::Content(text.to_vec());
                name(&format!("string {tag:02x} {text:02x?}"))
            }
            0x06 => {
                let bytes = *dice.pick(IDENTIFIERS);
                node.inside = Inside::Content(bytes.to_vec());
                name(&format!("identifier {bytes:02x?}"))
            }
            0x02 | 0x0A | 0x80 | 0x81 => {
                let bytes = *dice.pick(INTEGERS);
                node.inside = Inside::Content(bytes.to_vec());
                name(&format!("number {bytes:02x?}"))
            }
            0x01 => {
                let bytes = *dice.pick::<&[u8]>(&[&b""[..], b"\0", b"\x01", b"\xFE", b"\xFF\xFF"]);
                node.inside = Inside::Content(bytes.to_vec());
                name(&format!("boolean {bytes:02x?}"))
            }
            0x03 => {
                let bytes = *dice.pick::<&[u8]>(&[
                    &b""[..],
                    b"\0",
                    b"\x01\x80",
                    b"\x07\x80",
                    b"\x07\xFF",
                    b"\x08\x80",
                    b"\x01",
                    b"\0\0",
                ]);
                node.before = vec![];
                node.inside = Inside::Content(bytes.to_vec());
                name(&format!("bits {bytes:02x?}"))
            }
            _ => {
                let Inside::Children(children) = &mut node.inside else { return None };
                let tag = *dice.pick(&[0x05, 0x02, 0x04, 0x30, 0xA0, 0x13]);
                let content = if tag == 0x02 { vec![1] } else { vec![] };
                let extra = Node {
                    tag,
                    before: vec![],
                    inside: Inside::Content(content),
                    length: Length::Minimal,
                    after: vec![],
                };
                let at = *dice.pick(&[0, children.len()]);
                children.insert(at, extra);
                name(&format!("with an element {tag:02x} at {at}"))
            }
        },
        10 => {
            let tag = *dice.pick(TAGS);
            node.tag = tag;
            name(&format!("becomes tag {tag:02x}"))
        }
        11 => {
            node.before = vec![];
            node.inside = Inside::Content(vec![]);
            name("emptied")
        }
        12 => {
            let Inside::Content(content) = &mut node.inside else { return None };
            content.pop()?;
            name("one byte less")
        }
        13 => {
            let Inside::Content(content) = &mut node.inside else { return None };
            content.push(*dice.pick(&[0, 0x80, 0xFF, b'x']));
            name("one byte more")
        }
        14 => {
            let Inside::Content(content) = &mut node.inside else { return None };
            let (at, bit) = (dice.roll(content.len().max(1)), dice.roll(8));
            *content.get_mut(at)? ^= 1 << bit;
            name(&format!("bit {bit} of byte {at}"))
        }
        15 => {
            let Inside::Content(content) = &mut node.inside else { return None };
            let byte = *dice.pick(&[0, 0xFF, 0x80]);
            content.insert(0, byte);
            name(&format!("{byte:02x} before it"))
        }
        16 => {
            siblings.remove(place);
            name("removed")
        }
        17 => {
            let again = node.clone();
            siblings.insert(place, again);
            name("twice")
        }
        18 => {
            let other = (place + 1) % siblings.len();
            siblings.swap(place, other);
            name("changes places with the next one")
        }
        19 => {
            let length = *dice.pick(&[Length::Long, Length::OneMore, Length::OneLess]);
            node.length = length;
            name(match length {
                Length::Long => "length one byte too long",
                Length::OneMore => "length one too many",
                _ => "length one too few",
            })
        }
        20 => {
            node.length = Length::Indefinite;
            if node.tag & 0x20 == 0 && dice.roll(4) > 0 {
                return None;
            }
            name("indefinite length")
        }
        _ => {
            let bytes = *dice.pick::<&[u8]>(&[&b"\0"[..], b"\x05\0", b"x", b"\0\0"]);
            node.after = bytes.to_vec();
            name(&format!("followed by {bytes:02x?}"))
        }
    };
    let mut bytes = Vec::new();
    write(&nodes, &mut bytes);
    (bytes != base).then_some(Mutation { what, bytes })
}

/// `count` changed certificates, DER.
pub fn certificates(bases: &[Vec<u8>], seed: u64, count: usize) -> Vec<Mutation> {
    let mut dice = Dice::new(2 * seed + 1);
    let mut out = Vec::new();
    while out.len() < count {
        let number = dice.roll(bases.len());
        if let Some(mut mutation) = change(&bases[number], &mut dice) {
            mutation.what = format!("{:04} base {number} {}", out.len(), mutation.what);
            out.push(mutation);
        }
    }
    out
}

// ---- Bundles -------------------------------------------------------------------------------------------------

/// What stands in a bundle besides certificates.
pub struct Extras {
    /// PEM blocks that are no certificates: keys, lists, requests; each with a name.
    pub blocks: Vec<(String, String)>,
}

/// `count` bundles of three certificates with one thing changed.
pub fn bundles(bases: &[Vec<u8>], extras: &Extras, seed: u64, count: usize) -> Vec<Mutation> {
    let mut dice = Dice::new(2 * seed + 2);
    let mut out = Vec::new();
    while out.len() < count {
        let mut blocks: Vec<String> = Vec::new();
        while blocks.len() < 3 {
            let block = pem("CERTIFICATE", &bases[dice.roll(bases.len())]);
            if !blocks.contains(&block) {
                blocks.push(block);
            }
        }
        let place = dice.roll(3);
        if let Some((what, bytes)) = reframe(&blocks, place, extras, &mut dice) {
            out.push(Mutation { what: format!("{:04} block {place} {what}", out.len()), bytes });
        }
    }
    out
}

/// Wraps the base64 of a block anew.
fn wrapped(block: &str, width: impl FnMut(usize) -> usize, end: &str) -> String {
    let mut lines = block.lines();
    let begin = lines.next().unwrap();
    let mut body: Vec<&str> = lines.collect();
    let last = body.pop().unwrap();
    let base64 = body.concat();
    let mut out = format!("{begin}{end}");
    let mut rest = base64.as_str();
    let (mut width, mut number) = (width, 0);
    while !rest.is_empty() {
        let (line, tail) = rest.split_at(width(number).clamp(1, rest.len()));
        out.push_str(line);
        out.push_str(end);
        (rest, number) = (tail, number + 1);
    }
    out + last + end
}

#[allow(clippy::too_many_lines, reason = "a list of ways to frame")]
fn reframe(blocks: &[String], place: usize, extras: &Extras, dice: &mut Dice) -> Option<(String, Vec<u8>)> {
    let block = &blocks[place];
    let lines = block.lines().count();
    // A line of base64, counted from 0; the first and the last one often.
    let inner = *dice.pick(&[1, 2, lines / 2, lines - 3, lines - 2]);
    let edit = |change: &mut dyn FnMut(&mut Vec<String>)| -> String {
        let mut list: Vec<String> = block.lines().map(str::to_owned).collect();
        change(&mut list);
        list.join("\n") + "\n"
    };
    let bytes = |changed: String| -> Vec<u8> {
        let mut out = String::new();
        for (number, other) in blocks.iter().enumerate() {
            out.push_str(if number == place { &changed } else { other });
        }
        out.into_bytes()
    };
    let begin = "-----BEGIN CERTIFICATE-----";
    let end = "-----END CERTIFICATE-----";
    let text = |dice: &mut Dice| {
        let long = "y".repeat(*dice.pick(&[64, 65, 76, 253, 254, 255, 256, 300, 508, 510, 1023, 1024, 2000]));
        (*dice.pick(&[
            "x",
            " ",
            "\t",
            "#",
            "# comment ",
            "-",
            "--",
            "\u{feff}",
            "\u{0b}",
            "> ",
            "\"",
            "é",
            &long,
        ]))
        .to_owned()
    };
    Some(match dice.roll(34) {
        0 => {
            let text = text(dice);
            (format!("{text:?} before BEGIN"), bytes(format!("{text}{block}")))
        }
        1 => {
            let text = text(dice);
            (format!("{text:?} after BEGIN"), bytes(edit(&mut |list| list[0].push_str(&text))))
        }
        2 => {
            let text = text(dice);
            (format!("{text:?} before END"), bytes(edit(&mut |list| list[lines - 1].insert_str(0, &text))))
        }
        3 => {
            let text = text(dice);
            (format!("{text:?} after END"), bytes(edit(&mut |list| list[lines - 1].push_str(&text))))
        }
        4 => {
            let text = text(dice);
            (
                format!("{text:?} before line {inner}"),
                bytes(edit(&mut |list| list[inner].insert_str(0, &text))),
            )
        }
        5 => {
            let text = text(dice);
            (format!("{text:?} after line {inner}"), bytes(edit(&mut |list| list[inner].push_str(&text))))
        }
        6 => {
            let text = text(dice);
            (format!("line {text:?} before the block"), bytes(format!("{text}\n{block}")))
        }
        7 => {
            let count = 1 + dice.roll(3);
            let at = *dice.pick(&[1, inner, lines - 1]);
            let blank = *dice.pick(&["", " ", "\t", "\r"]);
            let change = &mut |list: &mut Vec<String>| {
                for _ in 0..count {
                    list.insert(at, blank.to_owned());
                }
            };
            (format!("{count} lines {blank:?} at {at}"), bytes(edit(change)))
        }
        8 => {
            let header = *dice.pick(&[
                "Proc-Type: 4,ENCRYPTED",
                "Proc-Type: 4,CLEAR",
                "Comment: x",
                "a:b",
                "x: y\nz: w",
                "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00000000000000000000000000000000",
                "no colon here",
                "friendlyName: root",
            ]);
            let blank = *dice.pick(&["", "\n", "\n\n"]);
            let at = *dice.pick(&[1, 1, 1, inner]);
            let change = &mut |list: &mut Vec<String>| list.insert(at, format!("{header}{blank}"));
            (format!("header {header:?}{blank:?} at {at}"), bytes(edit(change)))
        }
        9 => {
            let width = *dice.pick(&[
                1, 3, 4, 48, 60, 63, 65, 66, 72, 76, 80, 128, 200, 253, 254, 255, 256, 300, 512, 1024, 5000,
            ]);
            (format!("width {width}"), bytes(wrapped(block, |_| width, "\n")))
        }
        10 => {
            let (one, other) = (1 + dice.roll(80), 1 + dice.roll(80));
            let changed = wrapped(block, |number| if number.is_multiple_of(2) { one } else { other }, "\n");
            (format!("widths {one} and {other}"), bytes(changed))
        }
        11 => {
            let end = *dice.pick(&[
                "\r\n", "\r", "\n\n", "\r\r\n", " \n", "\t\n", "\n ", "\n\t", "\0\n", "\u{0b}\n", "\u{0c}\n",
            ]);
            (format!("lines end with {end:?}"), bytes(wrapped(block, |_| 64, end)))
        }
        12 => {
            let byte = *dice.pick(b"!-_.:=\0\xFF\x0B\x80*,~ ");
            let column = *dice.pick(&[0, 1, 31, 62, 63]);
            let mut whole = bytes(block.clone());
            let start: usize = blocks[..place].iter().map(String::len).sum();
            let at = start + block.lines().take(inner).map(|line| line.len() + 1).sum::<usize>() + column;
            if matches!(whole.get(at)?, b'\n' | b'-') {
                return None;
            }
            whole[at] = byte;
            (format!("byte {byte:02x} in line {inner}, column {column}"), whole)
        }
        13 => {
            let spelling = *dice.pick(&[
                "-----BEGIN CERTIFICATE ----",
                "----BEGIN CERTIFICATE-----",
                "-----BEGIN CERTIFICATE----",
                "------BEGIN CERTIFICATE-----",
                "-----BEGIN CERTIFICATE------",
                "-----begin certificate-----",
                "-----Begin Certificate-----",
                "-----BEGIN  CERTIFICATE-----",
                "-----BEGIN CERTIFICATE -----",
                "----- BEGIN CERTIFICATE -----",
                "-----BEGINCERTIFICATE-----",
                "-----BEGIN CERTIFICATES-----",
                "-----BEGIN CERT-----",
                "-----BEGIN -----",
                "-----BEGIN-----",
                "",
                "-----BEGIN\nCERTIFICATE-----",
                "-----BEGIN CERTIFICATE",
                "-----BEGIN CERTIFICATE\n-----",
                "\u{2014}\u{2014}BEGIN CERTIFICATE\u{2014}\u{2014}",
            ]);
            (format!("BEGIN as {spelling:?}"), bytes(block.replacen(begin, spelling, 1)))
        }
        14 => {
            let spelling = *dice.pick(&[
                "-----END CERTIFICATE ----",
                "----END CERTIFICATE-----",
                "-----END CERTIFICATE----",
                "------END CERTIFICATE-----",
                "-----END CERTIFICATE------",
                "-----end certificate-----",
                "-----END  CERTIFICATE-----",
                "-----END CERTIFICATE -----",
                "-----END X509 CERTIFICATE-----",
                "-----END TRUSTED CERTIFICATE-----",
                "-----END CERTIFICATES-----",
                "-----END -----",
                "-----END-----",
                "-----END FOO-----",
                "",
                "-----END\nCERTIFICATE-----",
                "-----END CERTIFICATE",
                "-----BEGIN CERTIFICATE-----",
            ]);
            let spelled = format!("{spelling}\n");
            (
                format!("END as {spelling:?}"),
                bytes(block.replacen(
                    &format!("{end}\n"),
                    if spelling.is_empty() { "" } else { &spelled },
                    1,
                )),
            )
        }
        15 => {
            let label = *dice.pick(&[
                "X509 CERTIFICATE",
                "TRUSTED CERTIFICATE",
                "CERTIFICATES",
                "CERTIFICATE CHAIN",
                "CERTIFICATE REQUEST",
                "NEW CERTIFICATE REQUEST",
                "X.509 CERTIFICATE",
                "PKCS7",
                "CMS",
                "FOO",
                "PUBLIC KEY",
                "PRIVATE KEY",
                "RSA PRIVATE KEY",
                "EC PRIVATE KEY",
                "ENCRYPTED PRIVATE KEY",
                "ANY PRIVATE KEY",
                "X509 CRL",
                "CERTIFICATE PAIR",
                "certificate",
                "OLD CERTIFICATE",
                "DH PARAMETERS",
            ]);
            (format!("label {label}"), bytes(block.replace("CERTIFICATE", label)))
        }
        16 => {
            // Glued: the newline behind END is missing.
            let glue = *dice.pick(&["", " ", "\t", "\r", "\0", "\\n", "\u{feff}"]);
            (format!("glued with {glue:?}"), bytes(format!("{}{glue}", block.trim_end())))
        }
        17 => {
            let keep = *dice.pick(&[
                block.len() - 2,
                block.len() - 26,
                block.len() - 27,
                block.len() / 2,
                40,
                28,
                27,
                12,
            ]);
            (format!("cut behind byte {keep}"), bytes(block[..keep].to_owned()))
        }
        18 => {
            let keep = *dice.pick(&[
                block.len() - 2,
                block.len() - 26,
                block.len() - 27,
                block.len() / 2,
                40,
                28,
                27,
                12,
            ]);
            let mut whole: Vec<u8> = blocks[..place].concat().into_bytes();
            whole.extend_from_slice(&block.as_bytes()[..keep]);
            (format!("the file ends behind byte {keep} of it"), whole)
        }
        19 => {
            let (name, extra) = dice.pick(&extras.blocks).clone();
            (format!("{name} before it"), bytes(format!("{extra}{block}")))
        }
        20 => {
            let (name, extra) = dice.pick(&extras.blocks).clone();
            let damage = *dice.pick(&["=", "!", "AA", "\n"]);
            let middle = extra.len() / 2;
            if !extra.is_char_boundary(middle) {
                return None;
            }
            let (head, tail) = extra.split_at(middle);
            (
                format!("{name} with {damage:?} inside before it"),
                bytes(format!("{head}{damage}{tail}{block}")),
            )
        }
        21 => {
            let nul = *dice.pick(&["\0\n", "a\0b\n", "\0", "\n\0\n", "\0\0\0\0", "abc\0"]);
            (format!("{nul:?} before the block"), bytes(format!("{nul}{block}")))
        }
        22 => {
            let quoted = *dice.pick(&[
                "# -----BEGIN CERTIFICATE-----\n",
                "-----BEGIN CERTIFICATE----- is what begins a block\n",
                "# -----BEGIN CERTIFICATE----- x\n",
                "# -----END CERTIFICATE-----\n",
                "-----END CERTIFICATE-----\n",
                "-----BEGIN FOO-----\n",
                "# -----BEGIN FOO-----\n",
                "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n",
                "-----BEGIN CERTIFICATE-----\n",
                "-----BEGIN FOO-----\nAAAA\n-----END FOO-----\n",
                "-----BEGIN FOO-----\n!!!!\n-----END FOO-----\n",
                "-----BEGIN FOO-----\n-----END FOO-----\n",
                "-----\n",
                "-----BEGIN \n",
                "----------\n",
            ]);
            (format!("{quoted:?} before the block"), bytes(format!("{quoted}{block}")))
        }
        23 => {
            let prefix = *dice.pick(&["  ", "\t", "> ", "# ", "+", "    ", "\u{a0}"]);
            let change = &mut |list: &mut Vec<String>| {
                for line in list {
                    line.insert_str(0, prefix);
                }
            };
            (format!("each line behind {prefix:?}"), bytes(edit(change)))
        }
        24 => {
            let joined = *dice.pick(&["", " ", "\\n", "\r", ","]);
            (
                format!("on one line, joined by {joined:?}"),
                bytes(block.lines().collect::<Vec<_>>().join(joined) + "\n"),
            )
        }
        25 => {
            let mut whole = bytes(block.clone());
            let form = dice.roll(4);
            match form {
                0 => whole = whole.iter().flat_map(|&byte| [byte, 0]).collect(),
                1 => whole.splice(0..0, *b"\xEF\xBB\xBF").for_each(drop),
                2 => whole.splice(0..0, *b"\xFF\xFE").for_each(drop),
                _ => {
                    whole.pop();
                }
            }
            (format!("the whole file in form {form}"), whole)
        }
        26 => {
            // Bits behind the last byte, and padding that is not right.
            let last = block.lines().nth(lines - 2)?;
            let pads = last.bytes().filter(|&byte| byte == b'=').count();
            let changed = match dice.roll(5) {
                0 if pads > 0 => {
                    let at = last.len() - pads - 1;
                    let next = char::from(last.as_bytes()[at] + 1);
                    format!("{}{next}{}", &last[..at], &last[at + 1..])
                }
                1 => last.replace('=', ""),
                2 => format!("{last}="),
                3 => format!("{last}===="),
                _ => format!("{last}AAAA"),
            };
            if changed == *last {
                return None;
            }
            (format!("last line {changed:?}"), bytes(block.replacen(last, &changed, 1)))
        }
        27 => {
            let extra = *dice.pick(&[&b"\0"[..], b"\x05\0", b"x", b"\x30\0", b"\x30\x03\x02\x01\x01"]);
            let base = super::block_der(block.as_bytes());
            let label = *dice.pick(&["CERTIFICATE", "CERTIFICATE", "TRUSTED CERTIFICATE"]);
            (
                format!("{label} with {extra:02x?} behind its DER"),
                bytes(pem(label, &[&base[..], extra].concat())),
            )
        }
        28 => {
            let again = *dice.pick(&[0, 1, 2]);
            (format!("block {again} before it"), bytes(format!("{}{block}", blocks[again])))
        }
        29 => {
            let change = &mut |list: &mut Vec<String>| {
                list.remove(inner);
            };
            (format!("without line {inner}"), bytes(edit(change)))
        }
        30 => {
            let change = &mut |list: &mut Vec<String>| {
                let line = list[inner].clone();
                list.insert(inner, line);
            };
            (format!("line {inner} twice"), bytes(edit(change)))
        }
        31 => {
            let comment = *dice.pick(&[
                "# ISRG Root X1\n",
                "\n\n\n",
                "Certificate:\n    Data:\n        Version: 3 (0x2)\n",
                "\u{e9}\u{1f512}\n",
                "subject=/CN=x\r\n",
                "\r\r\r\n",
                "=====\n",
                "AAAA\n",
                "-\n",
            ]);
            (format!("{comment:?} before the block"), bytes(format!("{comment}{block}")))
        }
        32 => {
            let number = dice.roll(4);
            let der = super::block_der(block.as_bytes());
            let whole = match number {
                0 => der,
                1 => [&der[..], block.as_bytes()].concat(),
                2 => [block.as_bytes(), &der[..]].concat(),
                _ => [b"\x30\x82", block.as_bytes()].concat(),
            };
            (format!("DER, form {number}"), whole)
        }
        _ => {
            let change = &mut |list: &mut Vec<String>| {
                let line = &mut list[inner];
                let middle = line.len() / 2;
                line.insert(middle, '\n');
            };
            (format!("line {inner} in two"), bytes(edit(change)))
        }
    })
}
