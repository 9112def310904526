//! The rules of the audit, one file each.

mod bad_link_name;
mod bad_validity;
mod dangling_link;
mod dead_capath;
mod der_in_bundle;
mod duplicate;
mod duplicate_across;
pub(crate) mod eager_and_on_demand;
mod expired;
mod expires_soon;
mod glued_boundary;
mod leftover;
mod link_loop;
mod malformed_block;
mod malformed_certificate;
mod no_certificates;
mod no_hash_links;
mod not_a_ca;
mod not_regular;
mod not_yet_valid;
mod one_sided;
mod private_key;
mod reissued;
mod same_subject;
mod unlinked;
mod unreachable;
mod unreadable;
mod wrong_hash_link;

use super::rule::Rule;

/// Every rule, in the order in which findings are reported within a severity.
pub static RULES: &[Rule] = &[
    no_certificates::RULE,
    unreadable::RULE,
    private_key::RULE,
    malformed_block::RULE,
    glued_boundary::RULE,
    der_in_bundle::RULE,
    malformed_certificate::RULE,
    dead_capath::RULE,
    unreachable::RULE,
    unlinked::RULE,
    no_hash_links::RULE,
    dangling_link::RULE,
    link_loop::RULE,
    wrong_hash_link::RULE,
    bad_link_name::RULE,
    eager_and_on_demand::RULE,
    one_sided::RULE,
    duplicate::RULE,
    duplicate_across::RULE,
    expired::RULE,
    expires_soon::RULE,
    not_yet_valid::RULE,
    bad_validity::RULE,
    not_a_ca::RULE,
    not_regular::RULE,
    leftover::RULE,
    reissued::RULE,
    same_subject::RULE,
];

/// The rule of an id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}
