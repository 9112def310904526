//! Plans carried out: staged beside the target, flushed, read back, renamed.

pub mod apply;
pub mod atomic;
pub mod lock;
pub mod undo;
