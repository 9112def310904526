//! `expires-soon`: a certificate that expires soon.

use super::everywhere;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Severity};
use crate::audit::rule::Rule;
use crate::certificate::validity::ValidityState;
use crate::store::model::Store;

/// A certificate that expires soon.
pub const RULE: Rule = Rule {
    id: "expires-soon",
    severity: Severity::Warning,
    title: "a certificate that expires soon",
    why: "From that day on OpenSSL and GnuTLS trust nothing below it.",
    example: "a root that ends within --expiring-within (30 days)",
    help: "see whether the distribution has a newer ca-certificates, or ask the CA for its next root",
    source: "RFC 5280 section 4.1.2.5",
    check,
};

fn check(store: &Store, context: &Context, findings: &mut Vec<Finding>) {
    for (id, certificate) in store.certificate_ids() {
        let Some(not_after) = certificate.validity.not_after.instant else { continue };
        let left = not_after.saturating_sub(context.now);
        if certificate.validity.at(context.now) == ValidityState::Valid && left <= context.expiring_within {
            findings.push(Finding::about(
                RULE.id,
                Detail::ExpiresSoon { not_after, days: left / 86_400 },
                id,
                everywhere(certificate),
            ));
        }
    }
}
