//! What is told: one model, several forms.

pub mod json;
pub mod measured;
pub mod model;
pub mod ndjson;
pub mod text;
pub mod words;
