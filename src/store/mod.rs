//! Stores: what was named, the files that were found, the certificates in them.

pub mod content;
pub mod digest;
pub mod discover;
pub mod installed;
pub mod load;
pub mod loads;
pub mod model;
pub mod read;
pub mod root;
pub mod source;
pub mod updater;
pub mod watch;
