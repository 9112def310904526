//! `der-in-bundle`: DER bytes inside a PEM file.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::content::Encoding;
use crate::store::model::Store;

/// DER bytes inside a PEM file.
pub const RULE: Rule = Rule {
    id: "der-in-bundle",
    severity: Severity::Error,
    title: "DER bytes inside a PEM file",
    why: "PEM readers see no certificate there, and the bytes may hide the block behind them.",
    example: "cp root.der /usr/local/share/ca-certificates/root.crt; update-ca-certificates",
    help: "encode it as PEM (openssl x509 -inform DER), or let castore compact do so",
    source: "RFC 7468 section 2; update-ca-certificates(8) copies a DER .crt into the bundle as it is",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (index, occurrence) in store.occurrences().iter().enumerate() {
        if occurrence.encoding == Encoding::DerInPem {
            findings.push(Finding::about(
                RULE.id,
                Detail::DerInBundle { length: occurrence.span.len() },
                occurrence.certificate,
                vec![Place::Occurrence(crate::store::model::OccurrenceId(index))],
            ));
        }
    }
}
