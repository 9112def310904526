//! `glued-boundary`: END and BEGIN on one line.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::pem::scan::DefectKind;
use crate::store::content::OtherKind;
use crate::store::model::FileId;
use crate::store::model::Store;

/// END and BEGIN on one line.
pub const RULE: Rule = Rule {
    id: "glued-boundary",
    severity: Severity::Error,
    title: "END and BEGIN on one line",
    why: "OpenSSL loads nothing from such a file. It comes from joining files of which one has no final newline.",
    example: "printf %s \"$(cat a.pem)\" > ca.pem; cat b.pem >> ca.pem",
    help: "put a newline between the two boundaries: castore compact does",
    source: "OpenSSL PEM_read_bio_ex (crypto/pem/pem_lib.c): PEM_R_BAD_END_LINE; measured with 1.1.1 to 4.0",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (index, file) in store.files().iter().enumerate() {
        let id = FileId(index);
        let of_certificates = store.occurrences_of_file(id).flat_map(|(_, occurrence)| &occurrence.defects);
        let of_others = file.others.iter().flat_map(|block| match &block.kind {
            OtherKind::Malformed { defects, .. } => defects.as_slice(),
            _ => &[],
        });
        let mut places: Vec<_> = of_certificates
            .chain(of_others)
            .filter(|defect| defect.kind == DefectKind::GluedBoundary)
            .map(|defect| (defect.offset, defect.line))
            .collect();
        places.sort_unstable();
        if !places.is_empty() {
            findings.push(Finding::at(
                RULE.id,
                Detail::GluedBoundary { times: places.len() },
                places.into_iter().map(|(offset, line)| Place::File { file: id, line, offset }).collect(),
            ));
        }
    }
}
