//! `bundle-refused`: a file from which OpenSSL or GnuTLS loads nothing.

use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Place, Severity};
use crate::audit::rule::Rule;
use crate::readers::Reader;
use crate::readers::reading::{Miss, Reason};
use crate::store::content::Encoding;
use crate::store::model::{File, FileId, Store};
use crate::store::source::SourceKind;

/// A file from which OpenSSL or GnuTLS loads nothing.
pub const RULE: Rule = Rule {
    id: "bundle-refused",
    severity: Severity::Error,
    title: "a file from which OpenSSL or GnuTLS loads nothing",
    why: "One block that cannot be read costs the whole file, the good certificates before it included: every connection fails, and Python does not say why.",
    example: "a certificate request in front of the certificate: GnuTLS loads nothing from the file",
    help: "mend or remove the block that is named; castore compact FILE --bundle FILE --malformed drop writes what is whole",
    source: "OpenSSL X509_load_cert_crl_file_ex (crypto/x509/by_file.c), PEM_X509_INFO_read_bio_ex (crypto/pem/pem_info.c); GnuTLS gnutls_certificate_set_x509_trust_file",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    for (index, file) in store.files().iter().enumerate() {
        let id = FileId(index);
        if store.is_whole(id) {
            continue;
        }
        // What only a look-up by hash reads has its own findings.
        if matches!(
            store.source(file.source).kind,
            SourceKind::CaPath | SourceKind::Directory | SourceKind::Keystore
        ) {
            continue;
        }
        let mut refusals: Vec<(Miss, Vec<Reader>)> = Vec::new();
        for &reader in store.readers().iter().filter(|reader| reader.is_strict()) {
            let loads = store.file_loads(id, reader);
            let Some(miss) = loads.refused else { continue };
            if miss.reason == Reason::Nothing {
                // Labels, DER and PKCS#7 have their own findings, and so has a file without any certificate.
                let others = |(_, reason): &(_, Reason)| *reason != Reason::Label;
                let pem = |encoding| matches!(encoding, Encoding::Pem(_));
                let hidden = loads.passed_over.iter().any(others)
                    && store.occurrences_of_file(id).any(|(_, occurrence)| pem(occurrence.encoding));
                if !hidden {
                    continue;
                }
            }
            match refusals.iter_mut().find(|(known, _)| *known == miss) {
                Some((_, readers)) => readers.push(reader),
                None => refusals.push((miss, vec![reader])),
            }
        }
        for (miss, readers) in refusals {
            let detail = Detail::BundleRefused {
                readers,
                block: block_number(store, id, file, miss),
                reason: miss.reason,
            };
            let place = Place::File { file: id, line: miss.line, offset: miss.offset };
            findings.push(Finding::at(RULE.id, detail, vec![place]));
        }
    }
}

/// Which block of the file stands at a place, counted from 1; `None` where none does.
fn block_number(store: &Store, id: FileId, file: &File, miss: Miss) -> Option<usize> {
    let starts = || {
        let occurrences = store.occurrences_of_file(id).map(|(_, occurrence)| occurrence.span.start);
        occurrences.chain(file.others.iter().map(|block| block.span.start))
    };
    starts().any(|start| start == miss.offset).then(|| starts().filter(|&start| start <= miss.offset).count())
}
