//! What OpenSSL does with names: subject hashes and the links made of them.

pub mod hash_link;
pub mod locations;
pub mod name_hash;
pub mod release;
