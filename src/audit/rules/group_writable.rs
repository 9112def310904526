//! `group-writable`: a store that its group may write.

use super::writable_by_others::by_mode;
use crate::audit::Context;
use crate::audit::finding::{Finding, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;
use crate::store::source::Writable;

/// A store that its group may write.
pub const RULE: Rule = Rule {
    id: "group-writable",
    severity: Severity::Notice,
    title: "a store that its group may write",
    why: "With a group of one, as umask 002 makes it, nothing is wrong; with a larger group all its members decide whom the machine trusts.",
    example: "a tree unpacked with umask 002",
    help: "chmod g-w, where the group has other members",
    source: "chmod(1); CWE-732",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    by_mode(store, Writable::Group, RULE.id, findings);
}
