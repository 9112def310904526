//! PKCS#7 messages and Netscape's sequences of certificates, which Java looks for in the first block of a file:
//! `sun.security.pkcs.PKCS7`.

use super::certificate;
use super::element::{Element, Input};
use super::key;
use crate::der::tag;
use crate::readers::reading::{Fault, Part};

/// 1.2.840.113549.1.7.2
const SIGNED_DATA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2];
/// 1.2.840.1113549.1.7.2: a slip of the first versions of Java.
const OLD_SIGNED_DATA: &[u8] = &[0x2A, 0x86, 0x48, 0xC3, 0xFB, 0x4D, 1, 7, 2];
/// 2.16.840.1.113730.2.5
const NETSCAPE_SEQUENCE: &[u8] = &[0x60, 0x86, 0x48, 1, 0x86, 0xF8, 0x42, 2, 5];

type Certificates = Result<Vec<Vec<u8>>, (Part, Fault)>;

/// Whether this is a message, since it begins with what kind it is; a certificate does not. Its certificates, or why
/// they cannot be read: then the whole is tried as one certificate, which it is not.
pub(super) fn certificates(bytes: &[u8]) -> Option<Certificates> {
    let fields = Input::new(bytes).any().ok()?;
    let fields = fields.sequence().and_then(Input::all).ok()?;
    let (kind, rest) = fields.split_first()?;
    let kind = kind.clone().identifier().ok()?;
    let [content] = rest else { return Some(Err((Part::Outer, Fault::Structure))) };
    // The content under a tag, as it should be, or without one.
    let tagged = content.alone();
    let inside = tagged.inside().all();
    let new = match inside.as_deref() {
        Ok([inside]) => read(&kind, inside),
        _ => Err((Part::Outer, Fault::Structure)),
    };
    Some(new.or_else(|fault| read(&kind, content).map_err(|_| fault)))
}

fn read(kind: &[u8], content: &Element<'_>) -> Certificates {
    let at = |fault| (Part::Outer, fault);
    match kind {
        SIGNED_DATA => signed(content.inside(), content.tag),
        OLD_SIGNED_DATA => old_signed(content.inside(), content.tag),
        NETSCAPE_SEQUENCE => {
            content.sequence().and_then(Input::all).map_err(at)?.iter().map(read_one).collect()
        }
        _ => Err(at(Fault::Unknown)),
    }
}

fn read_one(element: &Element<'_>) -> Result<Vec<u8>, (Part, Fault)> {
    let der = element.encoded();
    certificate::check(&der).map(|()| der)
}

/// `parseSignedData`. Revocation lists and signers in it are not read here, other than by Java.
fn signed(mut inside: Input<'_>, outer: u8) -> Certificates {
    let at = |fault| (Part::Outer, fault);
    if !matches!(outer, tag::SEQUENCE | tag::SET) {
        return Err(at(Fault::Structure));
    }
    head(&mut inside).map_err(at)?;
    let mut certificates = Vec::new();
    if inside.next_tag() == Some(0xA0) {
        let list = inside.any().map_err(at)?;
        // Other kinds of certificates are passed over.
        for element in list.inside().all().map_err(at)?.iter().filter(|element| element.tag == tag::SEQUENCE)
        {
            certificates.push(read_one(element)?);
        }
    }
    if inside.next_tag() == Some(0xA1) {
        inside.any().map_err(at)?;
    }
    set(&mut inside).map_err(at)?;
    Ok(certificates)
}

/// `parseOldSignedData`.
fn old_signed(mut inside: Input<'_>, outer: u8) -> Certificates {
    let at = |fault| (Part::Outer, fault);
    if !matches!(outer, tag::SEQUENCE | tag::SET) {
        return Err(at(Fault::Structure));
    }
    head(&mut inside).map_err(at)?;
    let list = inside.any().map_err(at)?;
    if list.tag != tag::SET {
        return Err(at(Fault::Structure));
    }
    let certificates = list.inside().all().map_err(at)?.iter().map(read_one).collect();
    set(&mut inside).and_then(|()| set(&mut inside)).map_err(at)?;
    certificates
}

/// Version, digest algorithms and what was signed.
fn head(inside: &mut Input<'_>) -> Result<(), Fault> {
    inside.any()?.integer()?;
    let algorithms = inside.any()?;
    if algorithms.tag != tag::SET {
        return Err(Fault::Structure);
    }
    for algorithm in algorithms.inside().all()? {
        key::algorithm(&algorithm)?;
    }
    let signed = inside.any()?;
    let fields = signed.sequence()?.all()?;
    let (kind, rest) = fields.split_first().ok_or(Fault::Structure)?;
    kind.clone().identifier()?;
    match rest {
        [] => Ok(()),
        [content] if content.inside().all()?.len() == 1 => Ok(()),
        _ => Err(Fault::Structure),
    }
}

/// A SET, whatever is in it.
fn set(inside: &mut Input<'_>) -> Result<(), Fault> {
    let element = inside.any()?;
    if element.tag != tag::SET {
        return Err(Fault::Structure);
    }
    element.inside().all().map(drop)
}
