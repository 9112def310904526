//! `leftover-trusted`: a leftover with a certificate that the store lacks.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;

/// A leftover with a certificate that the store lacks.
pub const RULE: Rule = Rule {
    id: "leftover-trusted",
    severity: Severity::Warning,
    title: "a leftover with a certificate that the store lacks",
    why: "Readers of whole directories (GnuTLS, Go, rustls) trust it, although it was meant to go.",
    example: "corp.pem.dpkg-old with the root that the new version took away",
    help: "remove the file",
    source: "Go crypto/x509 root_unix.go and GnuTLS gnutls_x509_trust_list_add_trust_dir read every file",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for leftover in store.leftovers() {
        let lacking =
            leftover.certificates.iter().filter(|fingerprint| store.find(**fingerprint).is_none()).count();
        if lacking > 0 {
            findings.push(Finding::at(
                RULE.id,
                Detail::LeftoverTrusted { certificates: lacking },
                vec![Place::Path(leftover.path.clone())],
            ));
        }
    }
}
