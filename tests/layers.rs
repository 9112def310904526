//! The house: a module uses only rooms above its own, files are touched in few places, and a rule stands in the file
//! of its name. The order of the rooms is that of `src/lib.rs`.
#![allow(clippy::disallowed_methods, reason = "a test that reads the source")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use castore::audit::rules::RULES;

/// The order inside rooms that have one: each module uses only those before it.
const INSIDE: &[(&str, &[&str])] = &[
    ("pem", &["label", "scan", "decode", "encode"]),
    ("readers", &["reading", "openssl", "gnutls", "go", "rustls", "java"]),
    (
        "store",
        &[
            "source",
            "root",
            "content",
            "model",
            "loads",
            "digest",
            "watch",
            "read",
            "installed",
            "discover",
            "load",
            "updater",
        ],
    ),
    ("cost", &["model", "estimate", "timing", "libssl", "measure"]),
    ("audit", &["finding", "rule", "rules", "ignore"]),
    ("plan", &["policy", "links", "rehash", "compact", "dedupe", "tune"]),
    ("write", &["atomic", "lock", "apply", "undo"]),
    ("report", &["words", "measured", "model", "text", "json", "ndjson"]),
];

/// Where files are touched, beside the command line.
const TOUCH_FILES: &[&str] = &["store/read.rs", "store/root.rs", "write/atomic.rs", "write/lock.rs"];

/// The one module with `unsafe`.
const CALLS_C: &str = "cost/libssl.rs";

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// One file of the library.
struct Module {
    /// Its path below `src`.
    file: String,
    /// Its module path: `["store", "model"]`; a `mod.rs` is its directory.
    path: Vec<String>,
    /// Its code, without comments, strings and unit tests.
    code: String,
    /// As it is.
    text: String,
}

fn modules() -> Vec<Module> {
    let mut modules = Vec::new();
    for entry in walkdir::WalkDir::new(source()).sort_by_file_name().into_iter().map(Result::unwrap) {
        if entry.path().extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let file = entry.path().strip_prefix(source()).unwrap().to_str().unwrap().to_owned();
        let mut path: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if path.last().is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str())) {
            path.pop();
        }
        let text = fs::read_to_string(entry.path()).unwrap();
        modules.push(Module { code: code(&text), file, path, text });
    }
    assert!(modules.len() > 30, "src has {} files", modules.len());
    modules
}

/// The code alone: strings emptied, comments gone, and the unit tests at the end of the file, which may use anything.
fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("#[cfg(test)]\nmod tests") {
            break;
        } else if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("r#\"") {
            rest = rest[3..].split_once("\"#").map_or("", |(_, rest)| rest);
        } else if rest.starts_with("'\"'") || rest.starts_with("b'\"'") {
            rest = rest.trim_start_matches('b').get(3..).unwrap_or_default();
        } else if first == '"' {
            let mut escaped = false;
            let end = rest[1..].find(|character| {
                let ends = character == '"' && !escaped;
                escaped = character == '\\' && !escaped;
                ends
            });
            rest = end.map_or("", |end| &rest[end + 2..]);
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// The rooms in order, as `src/lib.rs` lists them.
fn rooms(modules: &[Module]) -> Vec<String> {
    let library = &modules.iter().find(|module| module.file == "lib.rs").unwrap().text;
    let (_, list) = library.split_once("// Rooms in order").expect("lib.rs says where the rooms are listed");
    list.lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect()
}

/// The paths that a module's code names from the root of the crate, `crate::` and `super::` resolved.
fn paths(module: &Module) -> BTreeSet<Vec<String>> {
    let mut out = BTreeSet::new();
    for start in ["crate::", "super::"] {
        for (at, _) in module.code.match_indices(start) {
            let before = module.code[..at].chars().next_back();
            if before.is_some_and(|before| {
                before.is_alphanumeric() || before == '_' || before == ':' || before == '$'
            }) {
                continue;
            }
            let mut base = Vec::new();
            let mut rest = &module.code[at..];
            if let Some(tail) = rest.strip_prefix("crate::") {
                rest = tail;
            } else {
                // The parent of a file is its path without the last word; that of a `mod.rs` as well.
                base.clone_from(&module.path);
                while let Some(tail) = rest.strip_prefix("super::") {
                    base.pop();
                    rest = tail;
                }
            }
            tree(&base, rest, &mut out);
        }
    }
    out
}

/// Reads one path, or a tree of paths in braces, and gives what is left of the text.
fn tree<'a>(base: &[String], text: &'a str, out: &mut BTreeSet<Vec<String>>) -> &'a str {
    let mut path = base.to_vec();
    let mut rest = text.trim_start();
    loop {
        if let Some(inner) = rest.strip_prefix('{') {
            rest = inner.trim_start();
            while !rest.starts_with('}') {
                assert!(!rest.is_empty(), "braces that do not close");
                rest = tree(&path, rest, out).trim_start();
                rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
            }
            return &rest[1..];
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = &rest[..end];
        rest = &rest[end..];
        if word != "self" && !word.is_empty() {
            path.push(word.to_owned());
        }
        match rest.strip_prefix("::") {
            Some(tail) if !word.is_empty() => rest = tail,
            _ => {
                out.insert(path);
                // `as NAME` and `*`: nothing that matters here. At least one character, or the reading stands still.
                let next = rest.find([',', '}', ';', '\n']).unwrap_or(rest.len());
                return if rest.starts_with(" as ") || rest.starts_with('*') { &rest[next..] } else { rest };
            }
        }
    }
}

/// The modules that a module uses: the longest beginning of each path that is a module.
fn uses<'a>(module: &Module, all: &'a BTreeMap<Vec<String>, String>) -> BTreeSet<&'a [String]> {
    paths(module)
        .iter()
        .filter_map(|path| (1..=path.len()).rev().find_map(|length| all.get_key_value(&path[..length])))
        .map(|(path, _)| path.as_slice())
        .filter(|path| *path != module.path.as_slice())
        .collect()
}

#[test]
fn every_room_is_listed_once() {
    let modules = modules();
    let rooms = rooms(&modules);
    let listed: BTreeSet<&str> = rooms.iter().map(String::as_str).collect();
    assert_eq!(listed.len(), rooms.len(), "{rooms:?}");
    let there: BTreeSet<&str> =
        modules.iter().filter_map(|module| module.path.first()).map(String::as_str).collect();
    assert_eq!(listed, there);
    for (room, inside) in INSIDE {
        let there: BTreeSet<&str> = modules
            .iter()
            .filter(|module| module.path.first().is_some_and(|first| first == room))
            .filter_map(|module| module.path.get(1))
            .map(String::as_str)
            .collect();
        assert_eq!(there, BTreeSet::from_iter(inside.iter().copied()), "INSIDE, {room}");
    }
}

#[test]
fn a_module_uses_only_rooms_above_it() {
    let modules = modules();
    let rooms = rooms(&modules);
    let all: BTreeMap<Vec<String>, String> = modules
        .iter()
        .filter(|module| !module.path.is_empty())
        .map(|m| (m.path.clone(), m.file.clone()))
        .collect();
    let room = |path: &[String]| rooms.iter().position(|room| *room == path[0]).expect("a listed room");
    let place = |path: &[String]| {
        let (_, inside) = INSIDE.iter().find(|(room, _)| *room == path[0])?;
        inside.iter().position(|name| path.get(1).is_some_and(|word| word == name))
    };
    let mut seen = 0;
    let mut wrong = Vec::new();
    for module in modules.iter().filter(|module| !module.path.is_empty()) {
        for used in uses(module, &all) {
            seen += 1;
            let (own, other) = (room(&module.path), room(used));
            let below = match (place(&module.path), place(used)) {
                _ if own != other => own < other,
                (Some(own), Some(other)) => own < other,
                // The door of a room (its `mod.rs`) may know all of it, and be known in all of it.
                _ => false,
            };
            if below {
                wrong.push(format!("{} uses {}, which stands below it", module.file, used.join("::")));
            }
        }
    }
    assert!(seen > 150, "only {seen} uses were found: the reading of paths is broken");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_are_touched_in_few_places() {
    let modules = modules();
    let touching: Vec<&str> = modules
        .iter()
        .filter(|module| module.text.contains("allow(clippy::disallowed_"))
        .map(|module| module.file.as_str())
        .collect();
    let elsewhere: Vec<&str> = touching.iter().copied().filter(|file| !file.starts_with("cli/")).collect();
    assert_eq!(elsewhere, TOUCH_FILES);
    for module in &modules {
        let unsafe_code = module.text.contains("allow(unsafe_code");
        assert_eq!(unsafe_code, module.file == CALLS_C, "{}", module.file);
    }
    // Each call says why it is sound.
    let library = &modules.iter().find(|module| module.file == CALLS_C).unwrap().text;
    let lines: Vec<&str> = library.lines().collect();
    for (index, _) in lines.iter().enumerate().filter(|(_, line)| line.contains("unsafe {")) {
        let before = &lines[index.saturating_sub(4)..index];
        assert!(before.iter().any(|line| line.contains("// SAFETY:")), "{CALLS_C}:{}", index + 1);
    }
}

#[test]
fn a_library_without_its_command_line_does_not_know_clap() {
    for module in modules().iter().filter(|module| module.path.first().is_none_or(|room| room != "cli")) {
        for name in ["clap", "anstream", "terminal_size"] {
            assert!(!module.code.contains(&format!("{name}::")), "{} uses {name}", module.file);
        }
    }
}

#[test]
fn the_reading_of_paths_works() {
    let module = |code: &str, path: &[&str]| Module {
        file: "x.rs".to_owned(),
        path: path.iter().map(|word| (*word).to_owned()).collect(),
        code: self::code(code),
        text: String::new(),
    };
    let read = |text: &str| -> Vec<String> {
        paths(&module(text, &["store", "model"])).iter().map(|path| path.join("::")).collect()
    };
    assert_eq!(
        read("use crate::der::{self, DerError, tag::{A, B as C}};"),
        ["der", "der::DerError", "der::tag::A", "der::tag::B"]
    );
    assert_eq!(
        read("use super::read::Identity;\nlet x = super::super::error::Error::io();"),
        ["error::Error::io", "store::read::Identity"]
    );
    assert_eq!(read("crate::a::f(crate::b::G)"), ["a::f", "b::G"]);
    assert_eq!(read("use crate::a::*; use crate::{b, c::D};"), ["a", "b", "c::D"]);
    assert_eq!(read("// crate::a\n\"crate::b \\\" crate::c\" r#\"crate::d\"# '\"' crate::e"), ["e"]);
    assert_eq!(read("#[cfg(test)]\nmod tests { use crate::a; }"), Vec::<String>::new());
}

#[test]
fn a_rule_stands_in_the_file_of_its_name() {
    let modules = modules();
    let files: BTreeMap<String, &Module> = modules
        .iter()
        .filter(|module| module.path.starts_with(&["audit".to_owned(), "rules".to_owned()]))
        .filter_map(|module| Some((module.path.get(2)?.replace('_', "-"), module)))
        .collect();
    for (id, module) in &files {
        let ids: Vec<&str> =
            module.text.split("\n    id: \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(ids, [id.as_str()], "{}", module.file);
        assert!(
            module.text.starts_with(&format!("//! `{id}`: ")),
            "{} does not begin with its id",
            module.file
        );
    }
    let registered: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    let distinct: BTreeSet<&str> = registered.iter().copied().collect();
    assert_eq!(distinct.len(), registered.len(), "a rule is registered twice: {registered:?}");
    assert_eq!(distinct, files.keys().map(String::as_str).collect());
}

#[test]
fn every_rule_says_why_what_to_do_and_how_it_is_known() {
    for rule in RULES {
        let id = rule.id;
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(id.bytes().all(plain) && id.starts_with(|first: char| first.is_ascii_lowercase()), "{id}");
        for (field, text) in [
            ("title", rule.title),
            ("why", rule.why),
            ("example", rule.example),
            ("help", rule.help),
            ("source", rule.source),
        ] {
            assert!(!text.trim().is_empty() && text.trim() == text, "{id}: {field} {text:?}");
            assert!(!text.contains('\n'), "{id}: {field} has a line break");
        }
        assert!(rule.why.ends_with('.'), "{id}: why is no sentence");
        // Both are printed inside a line that goes on or ends by itself.
        assert!(
            !rule.title.ends_with('.') && !rule.help.ends_with('.'),
            "{id}: title or help ends with a dot"
        );
    }
}
