//! What is wrong with a store, and what is worth knowing.

pub mod finding;
pub mod ignore;
pub mod rule;
pub mod rules;

use crate::store::model::Store;
use crate::store::source::Identity;
use crate::store::updater::Updater;
use finding::{Detail, Finding};
use ignore::Ignore;

/// What a judgement depends on beside the store. Nothing here is read from the clock or the environment.
#[derive(Debug, Clone)]
pub struct Context {
    /// "Now", in seconds since 1970.
    pub now: i64,
    /// How long before notAfter a certificate counts as expiring, in seconds.
    pub expiring_within: i64,
    /// The size in bytes over which a file is reported.
    pub max_size: Option<u64>,
    /// What the distribution's updater makes of the bundle next time.
    pub updater: Option<Updater>,
    /// What the user accepts.
    pub ignore: Vec<Ignore>,
    /// What OpenSSL's defaults lead to on this system.
    pub openssl_defaults: Option<OpensslDefaults>,
}

impl Context {
    /// A judgement at an instant that knows nothing of a machine: certificates expire soon within 30 days.
    #[must_use]
    pub fn at(now: i64) -> Self {
        Self {
            now,
            expiring_within: 30 * 86_400,
            max_size: None,
            updater: None,
            ignore: Vec::new(),
            openssl_defaults: None,
        }
    }
}

/// The directory and the file that OpenSSL loads when nobody names another (OPENSSLDIR/certs, OPENSSLDIR/cert.pem).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpensslDefaults {
    /// The directory.
    pub directory: Option<Identity>,
    /// The file; `None` where it is absent.
    pub file: Option<Identity>,
}

/// Judges a store by every rule. Findings come in the order of the rules, then of the store.
#[must_use]
pub fn run(store: &Store, context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in rules::RULES {
        let start = findings.len();
        (rule.check)(store, context, &mut findings);
        debug_assert!(findings[start..].iter().all(|finding| finding.rule == rule.id));
    }
    for entry in ignore::mark(store, &mut findings, &context.ignore) {
        findings.push(Finding {
            rule: "unused-ignore",
            detail: Detail::UnusedIgnore { entry: entry.text().to_owned() },
            certificate: None,
            places: Vec::new(),
            ignored: false,
        });
    }
    findings
}
