//! SHA-256 identities.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// SHA-256 over exactly the certificate's TLV (trust attributes and trailing bytes excluded).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

/// SHA-256 over the SubjectPublicKeyInfo TLV: one key, whatever its certificates (the `pin-sha256` of RFC 7469).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpkiDigest([u8; 32]);

/// A text that is not 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256 digest: 64 hexadecimal digits, colons allowed")]
pub struct NotADigest;

macro_rules! digest {
    ($name:ident) => {
        impl $name {
            /// The digest of some bytes.
            #[must_use]
            pub fn of(bytes: &[u8]) -> Self {
                Self(Sha256::digest(bytes).into())
            }
            /// A digest that was made elsewhere.
            #[must_use]
            pub fn from_bytes(bytes: [u8; 32]) -> Self {
                Self(bytes)
            }
            /// The digest's 32 bytes.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8; 32] {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }

        impl FromStr for $name {
            type Err = NotADigest;

            /// Hexadecimal digits in either case, with or without the colons of `openssl x509 -fingerprint`.
            fn from_str(text: &str) -> Result<Self, NotADigest> {
                let digits: Vec<u8> = text.bytes().filter(|&byte| byte != b':').collect();
                if digits.len() != 64 {
                    return Err(NotADigest);
                }
                let mut bytes = [0; 32];
                for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
                    let high = char::from(pair[0]).to_digit(16).ok_or(NotADigest)?;
                    let low = char::from(pair[1]).to_digit(16).ok_or(NotADigest)?;
                    *byte = (high << 4 | low) as u8;
                }
                Ok(Self(bytes))
            }
        }
    };
}

digest!(Fingerprint);
digest!(SpkiDigest);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_and_from_str_are_inverse() {
        // FIPS 180-4, SHA-256 of "abc".
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Fingerprint::of(b"abc").to_string(), text);
        assert_eq!(text.parse(), Ok(Fingerprint::of(b"abc")));
        let colons: Vec<String> = text
            .to_uppercase()
            .as_bytes()
            .chunks(2)
            .map(|pair| String::from_utf8_lossy(pair).into_owned())
            .collect();
        assert_eq!(colons.join(":").parse(), Ok(Fingerprint::of(b"abc")));
        for bad in ["", "ba", &"g".repeat(64), &"a".repeat(63), &"a".repeat(66)] {
            assert_eq!(bad.parse::<Fingerprint>(), Err(NotADigest));
        }
    }
}
