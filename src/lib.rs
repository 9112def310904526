//! castore: the care of CA trust stores.
//!
//! Reads CAfile bundles and hashed CApath directories without losing a block, says what is wrong with them and what
//! they cost, and writes a minimal bundle or a rehashed directory that loses no trust.
//!
//! The way of the bytes: [`store`] finds and reads files, [`pem`] and [`der`] take them apart, [`certificate`] names
//! what is found, [`audit`] judges, [`plan`] decides, [`mod@write`] acts, [`report`] tells. Nothing decides while it
//! writes, and nothing writes while it scans.

// Rooms in order: each uses only those above it (tests/layers.rs).
pub mod escape;

pub mod error;

pub mod pem;

pub mod der;

pub mod certificate;

pub mod openssl;

pub mod readers;

pub mod store;

pub mod wording;

pub mod audit;

pub mod cost;

pub mod plan;

pub mod write;

pub mod report;

#[cfg(feature = "cli")]
pub mod cli;

pub use error::{Error, Refusal, Result};
