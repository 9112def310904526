//! `skipped-certificate`: a certificate that readers of single blocks pass over.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::pem::label::Label;
use crate::pem::scan::Noise;
use crate::readers::Reader;
use crate::readers::reading::Reason;
use crate::store::content::Encoding;
use crate::store::model::{CertificateId, FileId, OccurrenceId, Store};

/// A certificate that readers of single blocks pass over.
pub const RULE: Rule = Rule {
    id: "skipped-certificate",
    severity: Severity::Warning,
    title: "a certificate that Go, rustls or another reader of single blocks passes over",
    why: "OpenSSL and GnuTLS load it, and a program on the library that is named does not trust it: the same connection works with curl and fails there.",
    example: "a negative serial number: Go 1.23 and later skip the certificate",
    help: "framing is put right by castore compact; a certificate with such an encoding must be issued anew",
    source: "Go crypto/x509 ParseCertificate and encoding/pem; rustls-pki-types pem; webpki",
    check,
};

/// Who passes over a certificate, and why.
type Reasons = Vec<(Reader, Reason)>;

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    let others: Vec<Reader> = store.readers().iter().copied().filter(|reader| !reader.is_strict()).collect();
    let strict: Vec<Reader> = store.readers().iter().copied().filter(|reader| reader.is_strict()).collect();
    // One finding for a certificate that is passed over for the same reasons everywhere.
    let mut places: BTreeMap<(CertificateId, Reasons), Vec<Place>> = BTreeMap::new();
    for index in 0..store.files().len() {
        let id = FileId(index);
        if store.is_whole(id) {
            continue;
        }
        let mut skips: BTreeMap<OccurrenceId, Reasons> = BTreeMap::new();
        for &reader in &others {
            for (occurrence, reason) in store.file_loads(id, reader).passed_over {
                if reason != Reason::Label {
                    skips.entry(occurrence).or_default().push((reader, reason));
                }
            }
        }
        if skips.is_empty() {
            continue;
        }
        // What the strict readers lose as well is an error of its own.
        let hidden: BTreeSet<OccurrenceId> = strict
            .iter()
            .flat_map(|&reader| store.file_loads(id, reader).passed_over)
            .filter(|(_, reason)| *reason != Reason::Label)
            .map(|(occurrence, _)| occurrence)
            .collect();
        for (occurrence, reasons) in skips {
            let at = store.occurrence(occurrence);
            let refused = store.refusals(occurrence).iter().any(|(reader, _)| reader.is_strict());
            if refused
                || !at.defects.is_empty()
                || at.noise.has(Noise::GLUED_END)
                || hidden.contains(&occurrence)
                || at.encoding != Encoding::Pem(Label::Certificate)
            {
                continue;
            }
            places.entry((at.certificate, reasons)).or_default().push(Place::Occurrence(occurrence));
        }
    }
    for ((certificate, by), places) in places {
        findings.push(Finding::about(RULE.id, Detail::SkippedCertificate { by }, certificate, places));
    }
}
