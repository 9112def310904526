//! The whole audit of a file of any bytes, in each form: no panic, JSON that parses, nothing that a terminal obeys.
#![no_main]
use castore::audit::{self, Context};
use castore::cost::estimate::Prices;
use castore::report::model::Report;
use castore::report::text::Look;
use castore::report::{json, ndjson, text};
use castore::store::load::load_bytes;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let store = load_bytes("x.pem", bytes);
    let context = Context::at(1_764_547_200);
    let findings = audit::run(&store, &context);
    let report = Report::new("audit", &store, &context, &findings, None, &Prices::default());
    let mut out = Vec::new();
    text::render(&report, Look { verbose: true, ..Look::default() }, &mut out).expect("memory takes it");
    let shown = String::from_utf8(out).expect("text is UTF-8");
    assert!(!shown.chars().any(|character| character.is_control() && character != '\n'), "{shown:?}");
    let mut out = Vec::new();
    json::render(&report, &mut out).expect("memory takes it");
    let parsed: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
    assert_eq!(parsed["summary"]["certificates"], store.certificates().len());
    let mut out = Vec::new();
    ndjson::render(&report, &mut out).expect("memory takes it");
    for line in out.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        serde_json::from_slice::<serde_json::Value>(line).expect("JSON");
    }
});
