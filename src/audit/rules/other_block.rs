//! `other-block`: PEM blocks that are no certificates.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::store::content::OtherKind;
use crate::store::model::{FileId, Store};

/// PEM blocks that are no certificates.
pub const RULE: Rule = Rule {
    id: "other-block",
    severity: Severity::Notice,
    title: "PEM blocks that are no certificates",
    why: "They are no trust. A request makes GnuTLS refuse the file, an unknown block with bad base64 makes OpenSSL do so.",
    example: "dhparam.pem among the certificates",
    help: "take them out of a trust store; castore compact does",
    source: "RFC 7468; measured with GnuTLS 3.7 and OpenSSL 3.0",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (index, file) in store.files().iter().enumerate() {
        let blocks: Vec<_> = file
            .others
            .iter()
            .filter(|block| matches!(block.kind, OtherKind::Other | OtherKind::Crl { .. }))
            .collect();
        if !blocks.is_empty() {
            let mut labels: Vec<String> = blocks.iter().map(|block| block.label_text.clone()).collect();
            labels.dedup();
            findings.push(Finding::at(
                RULE.id,
                Detail::OtherBlock { labels },
                blocks
                    .into_iter()
                    .map(|block| Place::File {
                        file: FileId(index),
                        line: block.line,
                        offset: block.span.start,
                    })
                    .collect(),
            ));
        }
    }
}
