//! `dangling-link`: a link to nothing.

use super::dead_capath;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::openssl::hash_link::LinkName;
use crate::store::model::{Store, Trouble};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// A link to nothing.
pub const RULE: Rule = Rule {
    id: "dangling-link",
    severity: Severity::Warning,
    title: "a link to nothing",
    why: "It is what is left of a certificate that went. A hash link to nothing also hides the links with higher numbers from OpenSSL.",
    example: "Swisscom_Root_CA_1.pem -> /usr/share/ca-certificates/mozilla/Swisscom_Root_CA_1.crt, after an upgrade removed it",
    help: "remove it, or run castore rehash DIR where it is a hash link",
    source: "OpenSSL get_cert_by_subject (crypto/x509/by_dir.c); symlink(7)",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    links_in_trouble(store, &Trouble::Dangling, |target| Detail::DanglingLink { target }, RULE.id, findings);
}

/// Links that lead nowhere, for one reason.
pub(super) fn links_in_trouble(
    store: &Store,
    trouble: &Trouble,
    detail: impl Fn(PathBuf) -> Detail,
    rule: &'static str,
    findings: &mut Vec<Finding>,
) {
    for entry in store.odd_entries().iter().filter(|entry| entry.trouble == *trouble) {
        let is_hash_link =
            entry.path.file_name().is_some_and(|name| LinkName::parse(name.as_bytes()).is_some());
        // Of a dead directory one finding says it all.
        if is_hash_link && dead_capath::is_dead(store, entry.source) {
            continue;
        }
        let detail = detail(entry.target.clone().unwrap_or_default());
        findings.push(Finding::at(rule, detail, vec![Place::Path(entry.path.clone())]));
    }
}
