//! PEM (RFC 7468): labels, a scanner that loses nothing, one block to DER and back.

pub mod decode;
pub mod encode;
pub mod label;
pub mod scan;
