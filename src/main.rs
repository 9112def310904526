//! castore
fn main() {}
