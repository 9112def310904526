//! What OpenSSL loads of a file: the model against libssl itself, in several versions.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test that reads files and runs programs"
)]

mod support;

use support::inputs;

#[test]
fn there_is_much_to_read() {
    let Some(inputs) = inputs::inputs() else { return };
    assert!(inputs.len() > 2_000, "{} inputs", inputs.len());
}
