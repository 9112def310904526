//! `legacy-version`: a version 1 certificate.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
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
    for (id, certificate) in store.certificate_ids() {
        let Some(detail) = detail(certificate) else { continue };
        findings.push(Finding {
            rule: RULE.id,
            detail,
            certificate: Some(id),
            ignored: false,
            places: certificate.occurrences.iter().copied().map(Place::Occurrence).collect(),
        });
    }
}

fn detail(certificate: &Certificate) -> Option<Detail> {
    (certificate.der.fields().version == 0).then_some(Detail::LegacyVersion)
}
