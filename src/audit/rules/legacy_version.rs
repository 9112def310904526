//! `legacy-version`: a version 1 certificate.

use super::each_certificate;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{Certificate, Store};

/// A version 1 certificate.
pub const RULE: Rule = Rule {
    id: "legacy-version",
    severity: Severity::Notice,
    title: "a version 1 certificate",
    why: "It has no extensions, and so no word on whether it is a CA; libraries take it as an anchor only.",
    example: "a root of 1999 without extensions",
    help: "nothing, while the CA has no newer root",
    source: "RFC 5280 section 4.1.2.1; OpenSSL check_ca: a self-signed v1 certificate counts as a CA",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    each_certificate(store, RULE.id, findings, detail);
}

fn detail(certificate: &Certificate) -> Option<Detail> {
    (certificate.der.fields().version == 0).then_some(Detail::LegacyVersion)
}
