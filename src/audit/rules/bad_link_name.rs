//! `bad-link-name`: a name like a hash link that OpenSSL never looks up.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{LinkState, Store};

/// A name like a hash link that OpenSSL never looks up.
pub const RULE: Rule = Rule {
    id: "bad-link-name",
    severity: Severity::Warning,
    title: "a name like a hash link that OpenSSL never looks up",
    why: "Look-ups ask for eight lower-case digits and a number without leading zeros; openssl rehash takes the name for a link that is there, and does not repair it.",
    example: "A7D666E7.0 from a file system that knows no case",
    help: "castore rehash DIR",
    source: "OpenSSL by_dir.c: the name is printed with \"%08lx.%s%d\"",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for link in store.links().iter().filter(|link| link.states.contains(&LinkState::Case)) {
        findings.push(Finding::at(
            RULE.id,
            Detail::BadLinkName { meant: link.hash_link() },
            vec![Place::Path(store.source(link.source).path.join(&link.name))],
        ));
    }
}
