//! `weak-signature`: MD5 or SHA-1 in a signature that counts.

use super::each_certificate;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{Certificate, Store};

/// MD5 or SHA-1 in a signature that counts.
pub const RULE: Rule = Rule {
    id: "weak-signature",
    severity: Severity::Warning,
    title: "MD5 or SHA-1 in a signature that counts",
    why: "OpenSSL 3 refuses it at its default security level where the certificate is not the anchor itself.",
    example: "an intermediate signed with sha1WithRSAEncryption",
    help: "ask the CA for a certificate with a SHA-2 signature",
    source: "SSL_CTX_set_security_level(3); RFC 9155; a self-signed anchor's own signature is never checked",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    each_certificate(store, RULE.id, findings, detail);
}

fn detail(certificate: &Certificate) -> Option<Detail> {
    if certificate.self_issued {
        return None;
    }
    let signature = &certificate.facts().ok()?.signature;
    let weak = ["md2", "md5", "sha1", "SHA1"].iter().any(|digest| signature.contains(digest));
    weak.then(|| Detail::WeakSignature { algorithm: signature.clone() })
}
