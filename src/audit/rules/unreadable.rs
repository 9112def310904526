//! `unreadable`: a member that cannot be read.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{Store, Trouble};

/// A member that cannot be read.
pub const RULE: Rule = Rule {
    id: "unreadable",
    severity: Severity::Error,
    title: "a member that cannot be read",
    why: "What cannot be read cannot be judged: the report is incomplete, and nothing is written on that ground.",
    example: "/etc/ssl/certs/site.pem with mode 0600, read by a user who is not its owner",
    help: "run as a user who may read it, or mend its permissions",
    source: "open(2)",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for entry in store.odd_entries() {
        if let Trouble::Unreadable(reason) = &entry.trouble {
            findings.push(Finding::at(
                RULE.id,
                Detail::Unreadable { reason: reason.clone() },
                vec![Place::Path(entry.path.clone())],
            ));
        }
    }
}
