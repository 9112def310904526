//! What it costs to load a store.

pub mod estimate;
pub mod libssl;
pub mod measure;
pub mod model;
pub mod timing;
