//! What `RootCertStore::add` takes: webpki's `anchor_from_trusted_cert` (trust_anchor.rs, cert.rs, der.rs).
//!
//! It reads names, dates and keys as they stand, and cares for lengths: DER alone, nothing of 64 KiB or more.

use crate::readers::reading::{Fault, Part};

const BOOLEAN: u8 = 0x01;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
const OCTET_STRING: u8 = 0x04;
const OID: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
/// `TWO_BYTE_DER_SIZE`: every length stays below.
const TOO_LARGE: usize = 0xFFFF;

/// Signed certificate timestamps, 1.3.6.1.4.1.11129.2.4.2 (RFC 6962 section 3.3).
const TIMESTAMPS: &[u8] = &[0x2B, 6, 1, 4, 1, 0xD6, 0x79, 2, 4, 2];
/// The extensions below 2.5.29 that webpki remembers: each may stand once, and holds what it must.
const REMEMBERED: [u8; 6] = [15, 17, 19, 30, 31, 37];
const KEY_USAGE: u8 = 15;

type Refusal = (Part, Fault);

/// Whether rustls refuses a certificate as a root.
///
/// # Errors
/// The part that webpki stops at, and what is wrong there.
pub fn certificate(der: &[u8]) -> Result<(), Refusal> {
    let mut whole = Walk(der);
    let mut outer = Walk(whole.expect(SEQUENCE).map_err(at(Part::Outer))?);
    if !whole.0.is_empty() {
        return Err((Part::Outer, Fault::TrailingBytes));
    }
    let mut tbs = Walk(outer.expect(SEQUENCE).map_err(at(Part::Tbs))?);
    let algorithm = outer.expect(SEQUENCE).map_err(at(Part::OuterAlgorithm))?;
    let signature = outer.expect(BIT_STRING).map_err(at(Part::Signature))?;
    outer.end().map_err(at(Part::Outer))?;

    // Without a version, or with another one than 3, it is tried as one of version 1.
    let first = { tbs }.expect(0xA0).ok();
    let version = match first.map(Walk) {
        None => None,
        Some(mut inside) => {
            let version = inside.expect(INTEGER).map_err(at(Part::Version))?;
            match version {
                // `u8::from_der`: one byte, not negative.
                [value @ 0..=0x7F] => Some((*value, inside.0.is_empty())),
                [0, value @ 0x80..=0xFF] => Some((*value, inside.0.is_empty())),
                _ => return Err((Part::Version, Fault::Value)),
            }
        }
    };
    let version_3 = version == Some((2, true));
    if version_3 {
        tbs.expect(0xA0).map_err(at(Part::Version))?;
        if signature.first() != Some(&0) {
            return Err((Part::Signature, Fault::Value));
        }
    } else if version.is_some() {
        return Err((Part::Version, Fault::Value));
    } else if signature.first() != Some(&0) {
        // It is looked at before the version is.
        return Err((Part::Signature, Fault::Value));
    }
    tbs.expect(INTEGER).map_err(at(Part::Serial))?;
    let inner = tbs.expect(SEQUENCE).map_err(at(Part::InnerAlgorithm))?;
    if version_3 && inner != algorithm {
        return Err((Part::InnerAlgorithm, Fault::Differs));
    }
    for part in [Part::Issuer, Part::Validity, Part::Subject, Part::Key] {
        tbs.expect(SEQUENCE).map_err(at(part))?;
    }
    if version_3 && !tbs.0.is_empty() {
        extensions(tbs.expect(0xA3).map_err(at(Part::Extensions))?)?;
    }
    tbs.end().map_err(at(Part::Tbs))
}

fn extensions(tagged: &[u8]) -> Result<(), Refusal> {
    let mut tagged = Walk(tagged);
    let mut list = Walk(tagged.expect(SEQUENCE).map_err(at(Part::Extensions))?);
    let mut seen = Vec::new();
    while !list.0.is_empty() {
        let mut extension = Walk(list.expect(SEQUENCE).map_err(at(Part::Extensions))?);
        let (id, value) = extension.extension().map_err(at(Part::Extensions))?;
        let kind = match id {
            TIMESTAMPS => 0,
            [0x55, 0x1D, last] if REMEMBERED.contains(last) => *last,
            _ => continue,
        };
        if seen.contains(&kind) {
            return Err((Part::Extensions, Fault::Repeated));
        }
        seen.push(kind);
        let mut value = Walk(value);
        let inside = match kind {
            0 => value.expect(OCTET_STRING).map(drop),
            KEY_USAGE => continue,
            _ => value.expect(SEQUENCE).map(drop),
        };
        inside.and_then(|()| value.end()).map_err(at(Part::ExtensionValue))?;
    }
    tagged.end().map_err(at(Part::Extensions))
}

fn at(part: Part) -> impl Fn(Fault) -> Refusal {
    move |fault| (part, fault)
}

/// Elements one after the other (`untrusted::Reader`, der.rs).
#[derive(Debug, Clone, Copy)]
struct Walk<'a>(&'a [u8]);

impl<'a> Walk<'a> {
    /// The content of the next element, which must have this tag (`expect_tag`).
    fn expect(&mut self, tag: u8) -> Result<&'a [u8], Fault> {
        let [found, first, rest @ ..] = self.0 else { return Err(Fault::Structure) };
        if found & 0x1F == 0x1F {
            return Err(Fault::Structure);
        }
        // Each form only where the one before it is too short.
        let (length, rest) = match (first, rest) {
            (0..=0x7F, _) => (usize::from(*first), rest),
            (0x81, [a, rest @ ..]) if *a >= 0x80 => (usize::from(*a), rest),
            (0x82, [a @ 1..=0xFF, b, rest @ ..]) => (usize::from(*a) << 8 | usize::from(*b), rest),
            (0x83, [1..=0xFF, _, _, ..]) | (0x84, [1..=0xFF, _, _, _, ..]) => return Err(Fault::TooLarge),
            _ => return Err(Fault::Length),
        };
        if length >= TOO_LARGE {
            return Err(Fault::TooLarge);
        }
        if length > rest.len() {
            return Err(Fault::Length);
        }
        if *found != tag {
            return Err(Fault::Structure);
        }
        let (content, rest) = rest.split_at(length);
        self.0 = rest;
        Ok(content)
    }

    fn end(&self) -> Result<(), Fault> {
        if self.0.is_empty() { Ok(()) } else { Err(Fault::Structure) }
    }

    /// An extension: identifier and value.
    fn extension(&mut self) -> Result<(&'a [u8], &'a [u8]), Fault> {
        let id = self.expect(OID)?;
        if self.0.first() == Some(&BOOLEAN) && !matches!(self.expect(BOOLEAN)?, [0x00 | 0xFF]) {
            return Err(Fault::Value);
        }
        let value = self.expect(OCTET_STRING)?;
        self.end()?;
        Ok((id, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        let long = |length: usize| {
            let header = [SEQUENCE, 0x82, (length >> 8) as u8, length as u8];
            [&header[..], &vec![0; length]].concat()
        };
        assert_eq!(Walk(&[SEQUENCE, 0]).expect(SEQUENCE), Ok(&[][..]));
        assert_eq!(Walk(&long(0xFFFE)).expect(SEQUENCE).map(<[u8]>::len), Ok(0xFFFE));
        assert_eq!(Walk(&long(0xFFFF)).expect(SEQUENCE), Err(Fault::TooLarge));
        for bytes in [
            &[SEQUENCE][..],
            &[SEQUENCE, 1],
            &[SEQUENCE, 0x80, 0, 0],
            &[SEQUENCE, 0x81, 0],
            &[SEQUENCE, 0x81, 0x7F],
            &[SEQUENCE, 0x82, 0, 0x80],
            &[SEQUENCE, 0x83, 0, 1, 0],
            &[SEQUENCE, 0x85, 1, 0, 0, 0, 0],
            &[INTEGER, 0],
            &[0x3F, 0x10, 0],
        ] {
            assert!(Walk(bytes).expect(SEQUENCE).is_err(), "{bytes:x?}");
        }
    }

    #[test]
    fn every_part_is_read_without_panic() {
        let inside = [&[0xA0, 3, 2, 1, 2, 2, 1, 1][..], &[0x30, 0].repeat(5), &[0xA3, 2, 0x30, 0]].concat();
        let tbs = [&[0x30, inside.len() as u8][..], &inside].concat();
        let outer = [&tbs[..], &[0x30, 0, 3, 1, 0]].concat();
        let der = [&[0x30, outer.len() as u8][..], &outer].concat();
        assert_eq!(certificate(&der), Ok(()));
        for at in 0..der.len() {
            for byte in [0, 1, 0x1F, 0x30, 0x7F, 0x80, 0x82, 0x84, 0xFF] {
                let mut changed = der.clone();
                changed[at] = byte;
                let _ = certificate(&changed);
                let _ = certificate(&changed[..at]);
            }
        }
    }
}
