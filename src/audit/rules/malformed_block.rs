//! `malformed-block`: a damaged PEM block.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::pem::scan::DefectKind;
use crate::store::content::OtherKind;
use crate::store::model::FileId;
use crate::store::model::Store;

/// A damaged PEM block.
pub const RULE: Rule = Rule {
    id: "malformed-block",
    severity: Severity::Error,
    title: "a damaged PEM block",
    why: "One bad block makes OpenSSL refuse the whole CAfile, the good certificates before it included; Python says nothing.",
    example: "a bundle cut off by a full disk: the last block has no END",
    help: "put the block in order by hand, or leave it out: castore compact --malformed drop|repair",
    source: "OpenSSL PEM_read_bio_ex (crypto/pem/pem_lib.c), X509_load_cert_crl_file; RFC 7468 sections 2 and 3",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (index, file) in store.files().iter().enumerate() {
        let id = FileId(index);
        let start = findings.len();
        for block in &file.others {
            let OtherKind::Malformed { defects, .. } = &block.kind else { continue };
            // One finding a block: the first defect that costs the certificate, which the others follow from.
            let Some(defect) = defects.iter().find(|defect| defect.kind.needs_guess()).or(defects.first())
            else {
                continue;
            };
            let place = Place::File { file: id, line: defect.line, offset: defect.offset };
            let detail = Detail::MalformedBlock { label: block.label, kind: defect.kind, counted: false };
            findings.push(Finding::at(RULE.id, detail, vec![place]));
        }
        for (_, occurrence) in store.occurrences_of_file(id) {
            for defect in occurrence.defects.iter().filter(|defect| defect.kind != DefectKind::GluedBoundary)
            {
                let crate::store::content::Encoding::Pem(label) = occurrence.encoding else { continue };
                findings.push(Finding::about(
                    RULE.id,
                    Detail::MalformedBlock { label, kind: defect.kind, counted: true },
                    occurrence.certificate,
                    vec![Place::File { file: id, line: defect.line, offset: defect.offset }],
                ));
            }
        }
        findings[start..].sort_by_key(|finding| match finding.places.first() {
            Some(Place::File { offset, .. }) => *offset,
            _ => 0,
        });
    }
}
