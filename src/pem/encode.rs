//! DER to one PEM block, in the form that every reader takes.

use pem::{EncodeConfig, LineEnding, Pem};

use super::label::Label;

/// One block: 64 columns, LF, final newline (RFC 7468 section 2; the strict form that all readers load).
#[must_use]
pub fn encode(label: Label, der: &[u8]) -> String {
    let config = EncodeConfig::new().set_line_ending(LineEnding::LF).set_line_wrap(64);
    pem::encode_config(&Pem::new(label, der), config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_64_wide_and_end_in_lf() {
        let text = encode(Label::Certificate, &[0; 49]);
        let lines: Vec<_> = text.split_terminator('\n').collect();
        assert_eq!(
            lines,
            ["-----BEGIN CERTIFICATE-----", &"A".repeat(64), "AA==", "-----END CERTIFICATE-----"]
        );
        assert!(text.ends_with('\n') && !text.contains('\r'));
    }
}
