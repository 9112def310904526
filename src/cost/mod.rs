//! What it costs to load a store.

pub mod estimate;
pub mod model;
