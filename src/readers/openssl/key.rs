//! Whether OpenSSL can read a private key (`d2i_AutoPrivateKey`, `d2i_PrivateKey`), as far as its structure tells: one
//! that it cannot read makes it refuse the file. Nothing of a key is kept.

use super::Version;
use super::asn1::{Class, Walk, number::*};
use crate::readers::reading::Fault;

/// The algorithm that a label names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `PRIVATE KEY`: whatever it is.
    Any,
    /// `RSA PRIVATE KEY`.
    Rsa,
    /// `DSA PRIVATE KEY`.
    Dsa,
    /// `EC PRIVATE KEY`.
    Ec,
}

pub(super) fn is_readable(der: &[u8], kind: Kind, version: Version) -> bool {
    let walk = Walk::new(der, version);
    let traditional = match kind {
        Kind::Rsa => integers(walk, 9),
        Kind::Dsa => integers(walk, 6),
        Kind::Ec => elliptic(walk),
        Kind::Any => integers(walk, 9).or_else(|_| integers(walk, 6)).or_else(|_| elliptic(walk)),
    };
    traditional.is_ok() || pkcs8(walk, kind, version).is_ok()
}

/// `RSAPrivateKey` of RFC 8017 and the like: numbers alone, the first one 0.
fn integers(mut walk: Walk<'_>, count: usize) -> Result<(), Fault> {
    let mut inside = walk.sequence()?;
    if *inside.primitive(INTEGER)? != [0] {
        return Err(Fault::Value);
    }
    for _ in 1..count {
        inside.primitive(INTEGER)?;
    }
    inside.end()
}

/// `ECPrivateKey` of RFC 5915.
fn elliptic(mut walk: Walk<'_>) -> Result<(), Fault> {
    let mut inside = walk.sequence()?;
    if *inside.primitive(INTEGER)? != [1] {
        return Err(Fault::Value);
    }
    inside.primitive(OCTET_STRING)?;
    for number in [0, 1] {
        if inside.next_is(Class::Context, number)? {
            inside.inside(Class::Context, number)?.any()?;
        }
    }
    inside.end()
}

const RSA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01];
const RSA_PSS: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A];
const EC: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01];
const DSA: &[u8] = &[0x2A, 0x86, 0x48, 0xCE, 0x38, 0x04, 0x01];
/// X25519, X448, Ed25519, Ed448 (RFC 8410) and how long their keys are.
const CURVES: [(&[u8], usize); 4] = [
    (&[0x2B, 0x65, 0x6E], 32),
    (&[0x2B, 0x65, 0x6F], 56),
    (&[0x2B, 0x65, 0x70], 32),
    (&[0x2B, 0x65, 0x71], 57),
];

/// `PrivateKeyInfo` of RFC 5208.
fn pkcs8(mut walk: Walk<'_>, kind: Kind, version: Version) -> Result<(), Fault> {
    let mut inside = walk.sequence()?;
    inside.primitive(INTEGER)?;
    let identifier = inside.sequence()?.primitive(OBJECT)?;
    let key = inside.primitive(OCTET_STRING)?;
    let key = Walk::new(&key, version);
    let (is, readable) = match &*identifier {
        RSA | RSA_PSS => (Kind::Rsa, integers(key, 9)),
        EC => (Kind::Ec, elliptic(key)),
        DSA => (Kind::Dsa, { key }.primitive(INTEGER).map(drop)),
        other => {
            let length = CURVES.iter().find(|(curve, _)| *curve == other).ok_or(Fault::Unknown)?.1;
            let right = { key }.primitive(OCTET_STRING)?.len() == length;
            (Kind::Any, if right { Ok(()) } else { Err(Fault::Value) })
        }
    };
    readable?;
    if kind == Kind::Any || kind == is { Ok(()) } else { Err(Fault::Differs) }
}
