//! The extensions of a certificate: `sun.security.x509.CertificateExtensions` and the class of each extension. One
//! that cannot be read costs the certificate where it is critical, and only there.

use std::collections::HashSet;

use super::certificate::{Checked, name, relative};
use super::element::{Element, Input, bits};
use super::uri;
use crate::der::tag;
use crate::readers::reading::{Fault, Part};

/// Reads all extensions, and says whether a critical one names the subject.
pub(super) fn all(mut input: Input<'_>) -> Checked<bool> {
    let at = |part| move |fault| (part, fault);
    let list = input.any().map_err(at(Part::Extensions))?;
    let list = list.sequence().and_then(Input::all).map_err(at(Part::Extensions))?;
    let mut seen = HashSet::new();
    let mut names_subject = false;
    for extension in &list {
        // `toDerInputStream` takes a SET for a SEQUENCE; what is behind the value is passed over.
        if !matches!(extension.tag, tag::SEQUENCE | tag::SET) {
            return Err((Part::Extensions, Fault::Structure));
        }
        let mut inside = extension.inside();
        let identifier = inside.identifier().map_err(at(Part::Extensions))?.into_owned();
        let mut element = inside.any().map_err(at(Part::Extensions))?;
        let mut critical = false;
        if element.tag == tag::BOOLEAN {
            critical = element.boolean().map_err(at(Part::Extensions))?;
            element = inside.any().map_err(at(Part::Extensions))?;
        }
        let content = element.octets().map_err(at(Part::Extensions))?;
        let read = value(&identifier, critical, &content);
        if let (Err(fault), true) = (read, critical) {
            return Err((Part::ExtensionValue, fault));
        }
        names_subject |= read.is_ok() && critical && *identifier == [0x55, 0x1D, 17];
        // Those that cannot be read may stand there twice.
        if read.is_ok() && !seen.insert(identifier) {
            return Err((Part::Extensions, Fault::Repeated));
        }
    }
    Ok(names_subject)
}

/// Whether Java has a class for this extension (`OIDMap`).
fn is_known(identifier: &[u8]) -> bool {
    match identifier {
        [0x55, 0x1D, number] => {
            matches!(number, 14..=21 | 27..=33 | 35..=37 | 46 | 54)
        }
        [0x2B, 6, 1, 5, 5, 7, 1, 1 | 11] | [0x2B, 6, 1, 5, 5, 7, 48, 1, 5] => true,
        _ => identifier == NETSCAPE_TYPE,
    }
}

/// 2.16.840.1.113730.1.1
const NETSCAPE_TYPE: &[u8] = &[0x60, 0x86, 0x48, 1, 0x86, 0xF8, 0x42, 1, 1];

/// What the constructor of the extension's class makes of its value.
fn value(identifier: &[u8], critical: bool, content: &[u8]) -> Result<(), Fault> {
    // OCSPNoCheckExtension looks at nothing.
    if !is_known(identifier) || identifier.starts_with(&[0x2B, 6, 1, 5, 5, 7, 48]) {
        return Ok(());
    }
    let number = match identifier {
        [0x55, 0x1D, number] => *number,
        _ => 0,
    };
    let mut input = Input::new(content);
    // A wrapped key usage is unwrapped (`KeyUsageExtension`).
    if number == 15 && content.first() == Some(&tag::OCTET_STRING) {
        let outer = input.any()?;
        return if input.is_empty() { bit_string(&outer.content) } else { Err(Fault::TrailingBytes) };
    }
    let element = input.any()?;
    if !input.is_empty() && number != 16 {
        return Err(Fault::TrailingBytes);
    }
    match number {
        14 => element.octets().map(drop),
        15 => element.bits().map(drop),
        16 => private_key_usage(&element),
        17 | 18 | 29 => general_names(&element),
        19 => basic_constraints(&element),
        20 | 27 => element.integer().map(drop),
        21 => enumerated(&element),
        28 => issuing_distribution_point(&element),
        30 => name_constraints(&element),
        31 | 46 => each(&element, distribution_point),
        32 => each(&element, policy),
        33 => each(&element, |element| {
            let mut inside = element.sequence()?;
            inside.identifier()?;
            inside.identifier().map(drop)
        }),
        35 => authority_key(&element),
        36 => policy_constraints(&element),
        37 => each(&element, |element| element.clone().identifier().map(drop)),
        54 if !critical => Err(Fault::Value),
        54 if element.small_integer()? < -1 => Err(Fault::Value),
        54 => Ok(()),
        _ if identifier == NETSCAPE_TYPE => element.bits().map(drop),
        // Authority and subject information access.
        _ => each(&element, |element| {
            let mut inside = element.inside();
            inside.identifier()?;
            inside.any().and_then(|element| general_name(&element, false))
        }),
    }
}

/// A BIT STRING and no more.
fn bit_string(content: &[u8]) -> Result<(), Fault> {
    let mut input = Input::new(content);
    let element = input.any()?;
    element.bits()?;
    if input.is_empty() { Ok(()) } else { Err(Fault::TrailingBytes) }
}

/// Each element of a SEQUENCE.
fn each(element: &Element<'_>, check: impl Fn(&Element<'_>) -> Result<(), Fault>) -> Result<(), Fault> {
    let mut inside = element.sequence()?;
    while !inside.is_empty() {
        check(&inside.any()?)?;
    }
    Ok(())
}

/// A value with an implicit tag of these numbers, none of them twice.
fn once(seen: &mut u32, element: &Element<'_>) -> Result<u8, Fault> {
    if element.tag & 0xC0 != 0x80 {
        return Err(Fault::Structure);
    }
    let number = element.tag & 0x1F;
    if *seen & 1 << number != 0 {
        return Err(Fault::Repeated);
    }
    *seen |= 1 << number;
    Ok(number)
}

/// The content of an INTEGER under an implicit tag.
fn number_inside(element: &Element<'_>) -> Result<i64, Fault> {
    super::element::small(&element.content)
}

/// `BasicConstraintsExtension`.
fn basic_constraints(element: &Element<'_>) -> Result<(), Fault> {
    let mut inside = element.sequence()?;
    if inside.is_empty() {
        return Ok(());
    }
    let authority = inside.any()?;
    if authority.tag != tag::BOOLEAN {
        return Ok(());
    }
    authority.boolean()?;
    if inside.is_empty() { Ok(()) } else { inside.small_integer().map(drop) }
}

/// `PrivateKeyUsageExtension`; bytes behind the SEQUENCE are passed over.
fn private_key_usage(element: &Element<'_>) -> Result<(), Fault> {
    let mut seen = 0;
    for field in element.sequence()?.all()? {
        let number = once(&mut seen, &field)?;
        if number > 1 || field.is_constructed() {
            return Err(Fault::Structure);
        }
        field.under(tag::GENERALIZED_TIME).time()?;
    }
    Ok(())
}

/// `CRLReasonCodeExtension`.
fn enumerated(element: &Element<'_>) -> Result<(), Fault> {
    if element.tag == 0x0A {
        super::element::small(&element.content).map(drop)
    } else {
        Err(Fault::Structure)
    }
}

/// `IssuingDistributionPointExtension`.
fn issuing_distribution_point(element: &Element<'_>) -> Result<(), Fault> {
    each(element, |field| match (field.tag & 0xC0, field.tag & 0x1F, field.is_constructed()) {
        (0x80, 0, true) => distribution_point_name(&field.inside().any()?),
        (0x80, 1 | 2 | 4 | 5, false) if field.content.len() == 1 => Ok(()),
        (0x80, 3, false) => bits(&field.content).map(drop),
        _ => Err(Fault::Structure),
    })
}

/// `DistributionPoint`.
fn distribution_point(element: &Element<'_>) -> Result<(), Fault> {
    let mut inside = element.sequence()?;
    let mut seen = 0;
    while !inside.is_empty() {
        let field = inside.any()?;
        match (once(&mut seen, &field)?, field.is_constructed()) {
            (0, true) => distribution_point_name(&field.inside().any()?)?,
            (1, false) => bits(&field.content).map(drop)?,
            (2, true) => general_names_in(field.inside())?,
            _ => return Err(Fault::Structure),
        }
    }
    if seen & 0b101 == 0 { Err(Fault::Structure) } else { Ok(()) }
}

/// `DistributionPointName`.
fn distribution_point_name(element: &Element<'_>) -> Result<(), Fault> {
    match element.tag {
        0xA0 => general_names_in(element.inside()),
        0xA1 => relative(element).map(drop),
        _ => Err(Fault::Structure),
    }
}

/// `PolicyInformation`.
fn policy(element: &Element<'_>) -> Result<(), Fault> {
    let mut inside = element.sequence()?;
    inside.identifier()?;
    if inside.is_empty() {
        return Ok(());
    }
    let qualifiers = inside.any()?;
    if qualifiers.sequence()?.is_empty() {
        return Err(Fault::Structure);
    }
    each(&qualifiers, |qualifier| qualifier.sequence()?.identifier().map(drop))
}

/// `AuthorityKeyIdentifierExtension`.
fn authority_key(element: &Element<'_>) -> Result<(), Fault> {
    let mut inside = element.sequence()?;
    let mut seen = 0;
    while !inside.is_empty() {
        let field = inside.any()?;
        match (once(&mut seen, &field)?, field.is_constructed()) {
            (0, false) => {}
            (1, true) => general_names_in(field.inside())?,
            (2, false) if !field.content.is_empty() => {}
            _ => return Err(Fault::Structure),
        }
    }
    Ok(())
}

/// `PolicyConstraintsExtension`. That −1 stands for none there lets it stand twice.
fn policy_constraints(element: &Element<'_>) -> Result<(), Fault> {
    let mut seen = 0;
    let mut inside = element.sequence()?;
    while !inside.is_empty() {
        let field = inside.any()?;
        let number = once(&mut seen, &field)?;
        if number > 1 || field.is_constructed() {
            return Err(Fault::Structure);
        }
        if number_inside(&field)? == -1 {
            seen &= !(1 << number);
        }
    }
    Ok(())
}

/// `NameConstraintsExtension`, `GeneralSubtrees`.
fn name_constraints(element: &Element<'_>) -> Result<(), Fault> {
    let mut seen = 0;
    let mut inside = element.sequence()?;
    while !inside.is_empty() {
        let field = inside.any()?;
        if once(&mut seen, &field)? > 1 || !field.is_constructed() {
            return Err(Fault::Structure);
        }
        let mut trees = field.inside();
        while !trees.is_empty() {
            let tree = trees.any()?;
            let mut inside = tree.sequence()?;
            general_name(&inside.any()?, true)?;
            while !inside.is_empty() {
                let distance = inside.any()?;
                if !matches!(distance.tag, 0x80 | 0x81) {
                    return Err(Fault::Structure);
                }
                number_inside(&distance)?;
            }
        }
    }
    Ok(())
}

/// `GeneralNames`.
fn general_names(element: &Element<'_>) -> Result<(), Fault> {
    element.sequence().and_then(general_names_in)
}

fn general_names_in(mut inside: Input<'_>) -> Result<(), Fault> {
    if inside.is_empty() {
        return Err(Fault::Structure);
    }
    while !inside.is_empty() {
        general_name(&inside.any()?, false)?;
    }
    Ok(())
}

/// `GeneralName`.
fn general_name(element: &Element<'_>, constraint: bool) -> Result<(), Fault> {
    let content = &*element.content;
    match element.tag {
        0xA0 => {
            let mut inside = element.inside();
            let identifier = inside.identifier()?;
            inside.any()?;
            // Java takes the class of that extension for one of a name, and fails (`OtherName.getGNI`).
            if is_known(&identifier) { Err(Fault::Unknown) } else { Ok(()) }
        }
        0x81 => {
            let at = memchr::memchr(b'@', content).map_or(0, |at| at + 1);
            let domain = content.get(at..).unwrap_or_default();
            if domain.is_empty() || domain == b"." { Err(Fault::Value) } else { Ok(()) }
        }
        0x82 | 0xA3 => Ok(()),
        0xA4 => name(&mut element.inside()).map(drop),
        0xA5 => edi_party(&element.alone()),
        0x86 if constraint => uri::constraint(content),
        0x86 => uri::name(content),
        0x87 => address(content),
        0x88 => super::element::identifier(content),
        _ => Err(Fault::Structure),
    }
}

/// `IPAddressName`: with an address of IPv4 that is written as one of IPv6, the mask must be of that kind as well.
fn address(content: &[u8]) -> Result<(), Fault> {
    match content {
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, ..] if content.len() == 32 => {
            let mask = content.get(16..28).unwrap_or_default();
            if mask.iter().all(|byte| *byte == 0xFF) { Ok(()) } else { Err(Fault::TooLarge) }
        }
        _ if matches!(content.len(), 4 | 8 | 16 | 32) => Ok(()),
        _ => Err(Fault::Value),
    }
}

/// `EDIPartyName`.
fn edi_party(element: &Element<'_>) -> Result<(), Fault> {
    let fields = element.inside().all()?;
    if !matches!(fields.len(), 1 | 2) {
        return Err(Fault::Structure);
    }
    let mut seen = Vec::new();
    for field in fields.iter().filter(|field| matches!(field.tag, 0x80 | 0x81)) {
        // A type that is none of its strings counts as nothing, and may come again.
        let value = field.inside().any()?;
        if seen.contains(&field.tag) {
            return Err(Fault::Repeated);
        }
        if matches!(value.tag, 0x0C | 0x13 | 0x14 | 0x16 | 0x1B | 0x1C | 0x1E) {
            seen.push(field.tag);
        }
    }
    Ok(())
}
