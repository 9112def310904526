//! `second-name`: certificates under two file names in one directory.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;
use crate::store::source::SourceKind;

/// Certificates under two file names in one directory.
pub const RULE: Rule = Rule {
    id: "second-name",
    severity: Severity::Notice,
    title: "certificates under two file names in one directory",
    why: "libcurl-gnutls and git parse a certificate once for every name: a .pem link and a hash link cost twice.",
    example: "a7d666e7.0 -> corp.pem, and corp.pem itself",
    help: "castore compact --capath NEW --output-links copy makes a directory with one name each",
    source: "measured with libcurl-gnutls 7.88: 428 certificates loaded of 143 on Debian's layout",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (directory, source) in store.source_ids() {
        if source.kind != SourceKind::CaPath {
            continue;
        }
        let mut places = Vec::new();
        for (id, file) in store.members_of(directory) {
            let names = file.names.iter().filter(|name| name.parent() == Some(source.path.as_path())).count();
            if names > 1 && store.source(file.source).inside != Some(directory) {
                places.extend(store.occurrences_of_file(id).map(|(id, _)| Place::Occurrence(id)));
            }
        }
        if !places.is_empty() {
            findings.push(Finding::at(RULE.id, Detail::SecondName { certificates: places.len() }, places));
        }
    }
}
