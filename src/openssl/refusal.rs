//! Certificates that OpenSSL refuses although their structure can be walked.
//!
//! One such certificate makes OpenSSL refuse a whole CAfile. Checked against 1.1.1 to 4.0; the list holds what real
//! stores are known to have been broken by, and is not complete.

use super::name_hash;
use crate::certificate::fields::Fields;

/// Why OpenSSL refuses a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refused {
    /// The serial number has no bytes, or more than it needs (`ossl_c2i_ASN1_INTEGER`: illegal padding).
    Serial,
    /// A value in the subject (`x509_name_ex_d2i`).
    Subject,
    /// A value in the issuer.
    Issuer,
}

/// Whether OpenSSL refuses a certificate, as far as is checked here.
#[must_use]
pub fn refused(fields: &Fields<'_>) -> Option<Refused> {
    let padded = match fields.serial {
        [] => true,
        [0x00, second, ..] => second & 0x80 == 0,
        [0xFF, second, ..] => second & 0x80 != 0,
        _ => false,
    };
    if padded {
        Some(Refused::Serial)
    } else if name_hash::canonical(fields.subject).is_none() {
        Some(Refused::Subject)
    } else if fields.issuer != fields.subject && name_hash::canonical(fields.issuer).is_none() {
        Some(Refused::Issuer)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_serials() {
        let name = [0x30, 0];
        let serial = |serial| refused(&Fields { serial, subject: &name, issuer: &name, ..Fields::default() });
        // As `openssl x509` answers for the same bytes.
        for good in [&[0][..], &[1], &[0x00, 0x80], &[0xFF], &[0xFF, 0x7F], &[0x80, 0]] {
            assert_eq!(serial(good), None, "{good:x?}");
        }
        for bad in [&[][..], &[0, 0], &[0, 1], &[0xFF, 0xFF], &[0xFF, 0x80]] {
            assert_eq!(serial(bad), Some(Refused::Serial), "{bad:x?}");
        }
    }
}
