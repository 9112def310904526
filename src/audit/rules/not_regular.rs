//! `not-regular`: a FIFO, device or socket among the certificates.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{Store, Trouble};

/// A FIFO, device or socket among the certificates.
pub const RULE: Rule = Rule {
    id: "not-regular",
    severity: Severity::Warning,
    title: "a FIFO, device or socket among the certificates",
    why: "Tools that open every entry wait for ever on a FIFO: openssl rehash does.",
    example: "mkfifo /etc/ssl/certs/pipe.pem",
    help: "remove it",
    source: "fifo(7); measured: openssl rehash and c_rehash do not return",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for entry in store.odd_entries() {
        if let Trouble::NotRegular(special) = entry.trouble {
            findings.push(Finding::at(
                RULE.id,
                Detail::NotRegular(special),
                vec![Place::Path(entry.path.clone())],
            ));
        }
    }
}
