//! `odd-framing`: PEM framing that is not the usual one.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::pem::scan::Noise;
use crate::store::model::{FileId, Store};

/// PEM framing that is not the usual one.
pub const RULE: Rule = Rule {
    id: "odd-framing",
    severity: Severity::Notice,
    title: "PEM framing that is not the usual one",
    why: "castore and OpenSSL read it; some readers lose a block for less.",
    example: "a bundle saved by Notepad: byte order mark and CRLF",
    help: "castore compact FILE --bundle FILE writes it in the usual form",
    source: "RFC 7468 sections 2 and 3",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for index in 0..store.files().len() {
        let odd: Vec<_> = store
            .occurrences_of_file(FileId(index))
            // A glued END has a rule of its own, a NUL is told once.
            .map(|(id, occurrence)| (id, occurrence.noise.without(Noise::GLUED_END)))
            .filter(|(_, noise)| !noise.is_none())
            .collect();
        if !odd.is_empty() {
            let noise = odd.iter().fold(Noise::NONE, |all, (_, noise)| all.with(*noise));
            findings.push(Finding::at(
                RULE.id,
                Detail::OddFraming(noise),
                odd.into_iter().map(|(id, _)| Place::Occurrence(id)).collect(),
            ));
        }
    }
}
