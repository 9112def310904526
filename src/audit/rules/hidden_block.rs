//! `hidden-block`: a block that OpenSSL or GnuTLS does not see.

use std::collections::BTreeMap;

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::readers::Reader;
use crate::readers::reading::Reason;
use crate::store::content::Encoding;
use crate::store::model::{FileId, Store};

/// A block that OpenSSL or GnuTLS does not see.
pub const RULE: Rule = Rule {
    id: "hidden-block",
    severity: Severity::Error,
    title: "a certificate block that OpenSSL or GnuTLS does not see",
    why: "The file loads without an error, and the certificate is not there: text before BEGIN, a NUL byte, or a block before it that has no END hides it.",
    example: "`# root -----BEGIN CERTIFICATE-----`: text and boundary on one line",
    help: "put BEGIN and END on lines of their own; castore compact FILE --bundle FILE writes the block so",
    source: "OpenSSL PEM_read_bio_ex (crypto/pem/pem_lib.c): get_name, sanitize_line; RFC 7468 section 3",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (index, file) in store.files().iter().enumerate() {
        if file.plain {
            continue;
        }
        let id = FileId(index);
        // Where and why; who.
        let mut hidden: BTreeMap<(usize, Reason), (Place, Vec<Reader>)> = BTreeMap::new();
        for &reader in store.readers().iter().filter(|reader| reader.is_strict()) {
            let loads = store.file_loads(id, reader);
            let seen_by_nobody = |encoding| !matches!(encoding, Encoding::Pem(_));
            let occurrences = loads.passed_over.iter().filter_map(|&(id, reason)| {
                let occurrence = store.occurrence(id);
                (!seen_by_nobody(occurrence.encoding)).then_some((
                    Place::Occurrence(id),
                    occurrence.span.start,
                    reason,
                ))
            });
            let others = loads.unseen.iter().map(|miss| {
                (Place::File { file: id, line: miss.line, offset: miss.offset }, miss.offset, miss.reason)
            });
            for (place, offset, reason) in occurrences.chain(others) {
                if !matches!(reason, Reason::Framing(_)) {
                    continue;
                }
                hidden.entry((offset, reason)).or_insert_with(|| (place, Vec::new())).1.push(reader);
            }
        }
        for ((_, reason), (place, readers)) in hidden {
            let certificate = match place {
                Place::Occurrence(id) => Some(store.occurrence(id).certificate),
                _ => None,
            };
            let detail = Detail::HiddenBlock { readers, reason };
            findings.push(Finding { certificate, ..Finding::at(RULE.id, detail, vec![place]) });
        }
    }
}
