//! The certificates of a PKCS#7 message (`openssl crl2pkcs7 -nocrl -certfile`, `.p7b`, `.p7c`).

use super::CertificateDer;
use crate::der::{Reader, tag};

/// Content bytes of id-signedData, 1.2.840.113549.1.7.2.
const SIGNED_DATA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2];

/// The certificates of a SignedData (RFC 2315 section 9.1, RFC 5652 section 5.1), in order; `None` for anything else.
///
/// Lengths may be BER, as Windows and Java write them. Members that are no certificates are passed over.
#[must_use]
pub fn certificates(message: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let mut info = Reader::new(Reader::new(message).expect_ber(tag::SEQUENCE).ok()?.content);
    if info.expect_ber(tag::OID).ok()?.content != SIGNED_DATA {
        return None;
    }
    let content = info.expect_ber(0xA0).ok()?.content;
    let mut signed = Reader::new(Reader::new(content).expect_ber(tag::SEQUENCE).ok()?.content);
    signed.expect_ber(tag::INTEGER).ok()?;
    signed.expect_ber(tag::SET).ok()?;
    signed.expect_ber(tag::SEQUENCE).ok()?;
    let mut out = Vec::new();
    if let Some(set) = signed.optional_ber(0xA0).ok()? {
        let mut members = Reader::new(set.content);
        while let Ok(member) = members.any_ber() {
            if let Ok(reading) = CertificateDer::read(member.raw) {
                out.push(reading.der.into_owned());
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_signed_data_is_none() {
        for bytes in [&[][..], &[0x30, 0], &[0x30, 3, 6, 1, 0x2A]] {
            assert_eq!(certificates(bytes), None);
        }
    }

    #[test]
    fn a_message_may_hold_no_certificate() {
        let mut inner = vec![2, 1, 1, 0x31, 0, 0x30, 0];
        let mut signed = vec![0x30, inner.len() as u8];
        signed.append(&mut inner);
        let mut content = vec![0xA0, signed.len() as u8];
        content.append(&mut signed);
        let mut info = vec![6, SIGNED_DATA.len() as u8];
        info.extend_from_slice(SIGNED_DATA);
        info.append(&mut content);
        let mut message = vec![0x30, info.len() as u8];
        message.append(&mut info);
        assert_eq!(certificates(&message), Some(Vec::new()));
    }
}
