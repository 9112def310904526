//! `link-to-bundle`: a hash link whose target is the CAfile.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{LinkState, Store};

/// A hash link whose target is the CAfile.
pub const RULE: Rule = Rule {
    id: "link-to-bundle",
    severity: Severity::Error,
    title: "a hash link whose target is the CAfile",
    why: "Each look-up of this hash parses the whole bundle.",
    example: "a bundle cut to one certificate, then openssl rehash: a7d666e7.0 -> ca-certificates.crt, which grew again",
    help: "castore rehash DIR makes the links that are needed, and takes this one away",
    source: "OpenSSL get_cert_by_subject (crypto/x509/by_dir.c) loads the file whole",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for link in store.links().iter().filter(|link| link.states.contains(&LinkState::ToBundle)) {
        let certificates = link.leads_to.as_ref().map_or(0, |&file| store.file(file).occurrences.len());
        findings.push(Finding::at(
            RULE.id,
            Detail::LinkToBundle { certificates },
            vec![Place::Path(store.source(link.source).path.join(&link.name))],
        ));
    }
}
