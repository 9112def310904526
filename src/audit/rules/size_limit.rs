//! `size-limit`: a file larger than --max-size.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;

/// A file larger than --max-size.
pub const RULE: Rule = Rule {
    id: "size-limit",
    severity: Severity::Warning,
    title: "a file larger than --max-size",
    why: "Kubernetes refuses a ConfigMap or Secret over 1 MiB, and what mounts it gets no store.",
    example: "a bundle of 1.2 MiB for a ConfigMap, with --max-size 1MiB",
    help: "castore compact, or fewer roots",
    source: "Kubernetes: MaxSecretSize; etcd's request limit",
    check,
};

fn check(store: &Store, context: &Context, findings: &mut Vec<Finding>) {
    let Some(limit) = context.max_size else { return };
    for file in store.files() {
        if file.bytes > limit && !file.occurrences.is_empty() {
            findings.push(Finding::at(
                RULE.id,
                Detail::SizeLimit { bytes: file.bytes, limit },
                vec![Place::Path(file.path().to_owned())],
            ));
        }
    }
}
