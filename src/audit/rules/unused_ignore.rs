//! `unused-ignore`: an entry of the ignore list that matches nothing.

use crate::audit::Context;
use crate::audit::finding::{Finding, Severity};
use crate::audit::rule::Rule;
use crate::store::model::Store;

/// An entry of the ignore list that matches nothing.
pub const RULE: Rule = Rule {
    id: "unused-ignore",
    severity: Severity::Notice,
    title: "an entry of the ignore list that matches nothing",
    why: "What it was for is gone, or it has a slip of the pen and hides less than was meant.",
    example: "--ignore expired:sha256:... of a certificate that the distribution has dropped since",
    help: "take the entry out of the list",
    source: "castore-audit(1)",
    check,
};

/// What an entry matches is known when all other rules have spoken: `audit::run` adds these findings itself.
fn check(_: &Store, _: &Context, _: &mut Vec<Finding>) {}
