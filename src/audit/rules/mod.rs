//! The rules of the audit, one file each.

mod bad_link_name;
mod bad_validity;
mod bundle_refused;
mod dangling_link;
mod dead_capath;
mod der_file;
mod der_in_bundle;
mod distrust_flattened;
mod duplicate;
mod duplicate_across;
pub(crate) mod eager_and_on_demand;
mod expired;
mod expires_soon;
mod glued_boundary;
mod group_writable;
mod hidden_block;
mod ignored_anchor;
mod intermediate;
mod keystore;
mod leftover;
mod leftover_trusted;
mod legacy_label;
mod legacy_link;
mod legacy_version;
mod less_readable;
mod link_loop;
mod link_out_of_root;
mod link_outside;
mod link_to_bundle;
mod malformed_block;
mod malformed_certificate;
mod no_certificates;
mod no_hash_links;
mod not_a_ca;
mod not_regenerated;
mod not_regular;
mod not_yet_valid;
mod odd_encoding;
mod odd_framing;
mod odd_serial;
mod one_sided;
mod other_block;
mod pkcs7_block;
mod private_key;
mod reissued;
mod same_key;
mod same_subject;
mod second_name;
mod shadowed;
mod size_limit;
mod skipped_certificate;
mod subdirectory;
mod trust_conflict;
mod unlinked;
mod unreachable;
mod unreadable;
mod unused_ignore;
mod weak_key;
mod weak_signature;
mod writable_by_others;
mod wrong_hash_link;

use super::finding::{Detail, Finding, Place};
use super::rule::Rule;
use crate::store::model::{Certificate, Store};

/// Every rule, in the order in which findings are reported within a severity.
pub static RULES: &[Rule] = &[
    no_certificates::RULE,
    unreadable::RULE,
    private_key::RULE,
    bundle_refused::RULE,
    hidden_block::RULE,
    malformed_block::RULE,
    glued_boundary::RULE,
    der_in_bundle::RULE,
    malformed_certificate::RULE,
    dead_capath::RULE,
    unreachable::RULE,
    link_to_bundle::RULE,
    link_out_of_root::RULE,
    trust_conflict::RULE,
    distrust_flattened::RULE,
    ignored_anchor::RULE,
    not_regenerated::RULE,
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
    shadowed::RULE,
    skipped_certificate::RULE,
    weak_key::RULE,
    weak_signature::RULE,
    der_file::RULE,
    pkcs7_block::RULE,
    legacy_label::RULE,
    leftover_trusted::RULE,
    writable_by_others::RULE,
    less_readable::RULE,
    size_limit::RULE,
    not_regular::RULE,
    leftover::RULE,
    unlinked::RULE,
    reissued::RULE,
    same_key::RULE,
    same_subject::RULE,
    intermediate::RULE,
    link_outside::RULE,
    second_name::RULE,
    legacy_link::RULE,
    legacy_version::RULE,
    odd_serial::RULE,
    odd_encoding::RULE,
    odd_framing::RULE,
    group_writable::RULE,
    subdirectory::RULE,
    other_block::RULE,
    keystore::RULE,
    unused_ignore::RULE,
];

/// The rule of an id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

/// A finding for every certificate that `detail` says something of, at all its places.
fn each_certificate(
    store: &Store,
    rule: &'static str,
    findings: &mut Vec<Finding>,
    detail: impl Fn(&Certificate) -> Option<Detail>,
) {
    for (id, certificate) in store.certificate_ids() {
        if let Some(detail) = detail(certificate) {
            findings.push(Finding::about(rule, detail, id, everywhere(certificate)));
        }
    }
}

/// All places of a certificate.
fn everywhere(certificate: &Certificate) -> Vec<Place> {
    certificate.occurrences.iter().copied().map(Place::Occurrence).collect()
}
