//! `less-readable`: a member that fewer may read than the directory.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::content::OtherKind;
use crate::store::model::Store;
use crate::store::source::SourceKind;

/// A member that fewer may read than the directory.
pub const RULE: Rule = Rule {
    id: "less-readable",
    severity: Severity::Warning,
    title: "a member that not everybody may read",
    why: "A look-up by hash opens it as the user of each program: who may not read it does not trust it, and finds \
          nothing that is linked behind it by the same hash. Root's own tests pass all the same.",
    example: "a local CA that was copied with umask 077",
    help: "chmod a+r; nothing in a CA certificate is secret",
    source: "OpenSSL crypto/x509/by_dir.c: a file that cannot be opened ends the look-up",
    check,
};

/// To list a directory and to enter it.
const OTHERS_READ_AND_SEARCH: u32 = 0o005;
const OTHERS_READ: u32 = 0o004;

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (id, source) in store.source_ids() {
        let public = source.mode.is_some_and(|mode| mode & OTHERS_READ_AND_SEARCH == OTHERS_READ_AND_SEARCH);
        if source.kind != SourceKind::CaPath || !public {
            continue;
        }
        for (_, file) in store.members_of(id) {
            let closed = file.seen.is_some_and(|seen| seen.mode & OTHERS_READ == 0);
            // That nobody else may read a key is right.
            let key = file.others.iter().any(|block| matches!(block.kind, OtherKind::PrivateKey));
            if closed && !key && !file.occurrences.is_empty() {
                let place = Place::Path(file.path().to_owned());
                findings.push(Finding::at(RULE.id, Detail::LessReadable, vec![place]));
            }
        }
    }
}
