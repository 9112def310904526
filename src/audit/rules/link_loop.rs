//! `link-loop`: a link that leads back to itself.

use super::dead_capath;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::openssl::hash_link::LinkName;
use crate::store::model::{Store, Trouble};
use std::os::unix::ffi::OsStrExt as _;

/// A link that leads back to itself.
pub const RULE: Rule = Rule {
    id: "link-loop",
    severity: Severity::Warning,
    title: "a link that leads back to itself",
    why: "Nothing can be read through it; `openssl rehash` counts it as an error.",
    example: "a.pem -> b.pem, b.pem -> a.pem",
    help: "remove it",
    source: "OpenSSL get_cert_by_subject (crypto/x509/by_dir.c); symlink(7)",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for entry in store.odd_entries().iter().filter(|entry| entry.trouble == Trouble::Loop) {
        let is_hash_link =
            entry.path.file_name().is_some_and(|name| LinkName::parse(name.as_bytes()).is_some());
        // Of a dead directory one finding says it all.
        if is_hash_link && dead_capath::is_dead(store, entry.source) {
            continue;
        }
        findings.push(Finding {
            rule: RULE.id,
            detail: Detail::LinkLoop { target: entry.target.clone().unwrap_or_default() },
            certificate: None,
            ignored: false,
            places: vec![Place::Path(entry.path.clone())],
        });
    }
}
