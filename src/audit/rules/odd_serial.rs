//! `odd-serial`: a serial number that is zero, negative or longer than 20 bytes.

use super::each_certificate;
use crate::audit::Context;
use crate::audit::finding::{Detail, Finding, OddSerial, Severity};
use crate::audit::rule::Rule;
use crate::store::model::{Certificate, Store};

/// A serial number that is zero, negative or longer than 20 bytes.
pub const RULE: Rule = Rule {
    id: "odd-serial",
    severity: Severity::Notice,
    title: "a serial number that is zero, negative or longer than 20 bytes",
    why: "RFC 5280 demands positive numbers of at most 20 bytes; newer libraries refuse others.",
    example: "EC-ACC: a negative serial number",
    help: "nothing, while it loads; the CA must issue anew",
    source: "RFC 5280 section 4.1.2.2; Go 1.23: x509negativeserial",
    check,
};

fn check(store: &Store, _: &Context, findings: &mut Vec<Finding>) {
    each_certificate(store, RULE.id, findings, detail);
}

fn detail(certificate: &Certificate) -> Option<Detail> {
    let fields = certificate.der.fields();
    let first = *fields.serial.first()?;
    let what = if fields.serial.iter().all(|&byte| byte == 0) {
        OddSerial::Zero
    } else if first & 0x80 != 0 {
        OddSerial::Negative
    } else if fields.serial.len() - usize::from(first == 0) > 20 {
        OddSerial::Long(fields.serial.len())
    } else {
        return None;
    };
    Some(Detail::OddSerial(what))
}
