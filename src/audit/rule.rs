//! [`Rule`]: an id, a severity, a page of explanation, and a check.

use super::Context;
use super::finding::{Finding, Severity};
use crate::store::model::Store;

/// One rule of the audit. Its id is stable: scripts filter by it.
#[derive(Debug)]
pub struct Rule {
    /// Lower-case words with hyphens.
    pub id: &'static str,
    /// One severity for all its findings.
    pub severity: Severity,
    /// What it is, in one line.
    pub title: &'static str,
    /// Why it matters.
    pub why: &'static str,
    /// How it comes about, or what it looks like.
    pub example: &'static str,
    /// What to do about it; printed behind the first finding.
    pub help: &'static str,
    /// Where the knowledge comes from: OpenSSL function or manual, RFC section, a measurement.
    pub source: &'static str,
    /// Looks at a store.
    pub check: fn(&Store, &Context, &mut Vec<Finding>),
}
