//! `weak-key`: a key that is too small.

use super::each_certificate;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{Certificate, Store};

/// A key that is too small.
pub const RULE: Rule = Rule {
    id: "weak-key",
    severity: Severity::Warning,
    title: "a key that is too small",
    why: "Distributions refuse such keys at their default security level, and others will.",
    example: "RSA 1024 from the nineties",
    help: "ask the CA for a certificate with RSA of 2048 bits or more, or a curve of 224 bits or more",
    source: "NIST SP 800-57 part 1; SSL_CTX_set_security_level(3): level 2 refuses RSA below 2048",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    each_certificate(store, RULE.id, findings, detail);
}

fn detail(certificate: &Certificate) -> Option<Detail> {
    let facts = certificate.facts().ok()?;
    let least = match facts.key_algorithm.as_str() {
        "RSA" | "RSA-PSS" | "DSA" => 2048,
        "EC" => 224,
        _ => return None,
    };
    match facts.key_bits {
        Some(bits) if bits < least => {
            Some(Detail::WeakKey { algorithm: facts.key_algorithm.clone(), bits: Some(bits) })
        }
        // A curve that nobody knows.
        None if facts.key_algorithm == "EC" => {
            Some(Detail::WeakKey { algorithm: "EC".to_owned(), bits: None })
        }
        _ => None,
    }
}
