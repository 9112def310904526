//! `not-yet-valid`: a certificate that is not valid yet.

use super::everywhere;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Severity};
use crate::audit::rule::Rule;
use crate::certificate::validity::ValidityState;
use crate::store::model::Store;

/// A certificate that is not valid yet.
pub const RULE: Rule = Rule {
    id: "not-yet-valid",
    severity: Severity::Warning,
    title: "a certificate that is not valid yet",
    why: "Until then no library trusts what it signed. Often the clock is wrong.",
    example: "a root made for next year, or a machine whose clock says 1970",
    help: "look at the clock of the machine; else wait",
    source: "RFC 5280 section 4.1.2.5",
    check,
};

fn check(store: &Store, context: &Context, findings: &mut Vec<Finding>) {
    for (id, certificate) in store.certificate_ids() {
        let Some(not_before) = certificate.validity.not_before.instant else { continue };
        if certificate.validity.at(context.now) == ValidityState::NotYetValid {
            findings.push(Finding::about(
                RULE.id,
                Detail::NotYetValid { not_before },
                id,
                everywhere(certificate),
            ));
        }
    }
}
