//! `link-loop`: a link that leads back to itself.

use super::dangling_link::links_in_trouble;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{Store, Trouble};

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
    links_in_trouble(store, &Trouble::Loop, |target| Detail::LinkLoop { target }, RULE.id, findings);
}
