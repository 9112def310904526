//! `odd-encoding`: an encoding that RFC 5280 or DER does not have.

use super::everywhere;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, OddEncoding, Severity};
use crate::audit::rule::Rule;
use crate::certificate::name;
use crate::der::tag;
use crate::store::model::{Certificate, Store};

/// An encoding that RFC 5280 or DER does not have.
pub const RULE: Rule = Rule {
    id: "odd-encoding",
    severity: Severity::Notice,
    title: "an encoding that RFC 5280 or DER does not have",
    why: "It loads in the libraries that castore knows; others, and later versions, may refuse it.",
    example: "a subject in T61String, or a notBefore of 20240101000000Z",
    help: "nothing, while it loads; the CA must issue anew",
    source: "RFC 5280 sections 4.1.2.4 to 4.1.2.6; X.690 section 10",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (id, certificate) in store.certificate_ids() {
        let mut kinds = kinds(certificate);
        let occurrences = || certificate.occurrences.iter().map(|&occurrence| store.occurrence(occurrence));
        if occurrences().any(|occurrence| occurrence.ber) {
            kinds.push(OddEncoding::Ber);
        }
        if let Some(trailing) =
            occurrences().map(|occurrence| occurrence.trailing).find(|&trailing| trailing > 0)
        {
            kinds.push(OddEncoding::Trailing(trailing));
        }
        if !kinds.is_empty() {
            findings.push(Finding::about(RULE.id, Detail::OddEncoding(kinds), id, everywhere(certificate)));
        }
    }
}

fn kinds(certificate: &Certificate) -> Vec<OddEncoding> {
    let fields = certificate.der.fields();
    let mut out = Vec::new();
    let names = [fields.subject, fields.issuer].map(name::attributes);
    if names.iter().any(|name| name.as_ref().is_some_and(Vec::is_empty)) {
        out.push(OddEncoding::EmptyName);
    }
    let odd = |tag: u8| {
        !matches!(tag, tag::UTF8_STRING | tag::PRINTABLE_STRING | tag::IA5_STRING | tag::NUMERIC_STRING)
    };
    if names.iter().flatten().flatten().any(|attribute| odd(attribute.value.tag)) {
        out.push(OddEncoding::StringType);
    }
    let early = |(kind, content): (u8, &[u8])| {
        kind == tag::GENERALIZED_TIME && content.get(..4).is_some_and(|year| year < &b"2050"[..])
    };
    if early(fields.not_before) || early(fields.not_after) {
        out.push(OddEncoding::GeneralizedTime);
    }
    out
}
