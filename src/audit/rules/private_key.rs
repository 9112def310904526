//! `private-key`: a private key in a trust store.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::content::OtherKind;
use crate::store::model::FileId;
use crate::store::model::Store;

/// A private key in a trust store.
pub const RULE: Rule = Rule {
    id: "private-key",
    severity: Severity::Error,
    title: "a private key in a trust store",
    why: "A trust store is readable by everybody; a key in it is no secret any more.",
    example: "cat server.key server.crt >> ca-bundle.pem",
    help: "take it out, and treat the key as disclosed: revoke its certificate and make a new one",
    source: "RFC 5280 section 9; CA/Browser Forum Baseline Requirements 6.1.2",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (index, file) in store.files().iter().enumerate() {
        for block in file.others.iter().filter(|block| matches!(block.kind, OtherKind::PrivateKey)) {
            findings.push(Finding::at(
                RULE.id,
                Detail::PrivateKey,
                vec![Place::File { file: FileId(index), line: block.line, offset: block.span.start }],
            ));
        }
    }
}
