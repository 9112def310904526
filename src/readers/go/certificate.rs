//! Whether Go reads one certificate: `ParseCertificate` and what it calls in `crypto/x509/parser.go`. What stands
//! behind the last element that Go looks for in a sequence is passed over there, so it is here.

use std::collections::HashSet;

use super::element::{Element, Input, bits, boolean, identifier, int64, integer, is_negative, is_positive};
use super::element::{right_align, time};
use super::{Version, curve, names};
use crate::der::tag;
use crate::readers::reading::{Fault, Part};

type Checked<T = ()> = Result<T, (Part, Fault)>;

/// Context tags, primitive and constructed.
const CONTEXT: u8 = 0x80;
const CONSTRUCTED: u8 = 0xA0;

/// What `ParseCertificate` makes of these bytes.
pub(super) fn check(der: &[u8], version: Version) -> Checked {
    let at = |part| move |fault| (part, fault);
    let mut input = Input(der);
    let mut certificate = input.inside(tag::SEQUENCE).map_err(at(Part::Outer))?;
    let mut tbs = certificate.inside(tag::SEQUENCE).map_err(at(Part::Tbs))?;

    // v1 is 0.
    let number = match tbs.optional(CONSTRUCTED).map_err(at(Part::Version))? {
        None => 0,
        Some(mut inner) => {
            let number = inner.read(tag::INTEGER).and_then(int64).map_err(at(Part::Version))?;
            if !inner.is_empty() {
                return Err((Part::Version, Fault::TrailingBytes));
            }
            number
        }
    };
    if !(0..=2).contains(&number) {
        return Err((Part::Version, Fault::Value));
    }
    let serial = tbs.read(tag::INTEGER).map_err(at(Part::Serial))?;
    integer(serial).map_err(at(Part::Serial))?;
    // Refused since Go 1.23, but for GODEBUG=x509negativeserial=1, which is also what a program gets whose go.mod has
    // an older version.
    if version.is_strict() && is_negative(serial) {
        return Err((Part::Serial, Fault::Value));
    }
    let algorithm = tbs.read(tag::SEQUENCE).map_err(at(Part::InnerAlgorithm))?;
    let outer = certificate.read(tag::SEQUENCE).map_err(at(Part::OuterAlgorithm))?;
    if algorithm != outer {
        return Err((Part::OuterAlgorithm, Fault::Differs));
    }
    algorithm_identifier(Input(algorithm), version).map_err(at(Part::InnerAlgorithm))?;
    tbs.inside(tag::SEQUENCE).and_then(|names| name(names, version)).map_err(at(Part::Issuer))?;
    tbs.inside(tag::SEQUENCE).and_then(|times| validity(times, version)).map_err(at(Part::Validity))?;
    tbs.inside(tag::SEQUENCE).and_then(|names| name(names, version)).map_err(at(Part::Subject))?;
    tbs.inside(tag::SEQUENCE).and_then(|info| public_key(info, version)).map_err(at(Part::Key))?;
    if number > 0 {
        // Its bits are not looked at.
        tbs.optional(CONTEXT | 1).map_err(at(Part::UniqueId))?;
        tbs.optional(CONTEXT | 2).map_err(at(Part::UniqueId))?;
    }
    // In v1 and v2, extensions are bytes behind the end.
    if number == 2
        && let Some(mut list) = tbs.optional(CONSTRUCTED | 3).map_err(at(Part::Extensions))?
    {
        let list = list.inside(tag::SEQUENCE).map_err(at(Part::Extensions))?;
        extensions(list, version)?;
    }
    certificate.read(tag::BIT_STRING).and_then(bits).map_err(at(Part::Signature))?;
    if input.is_empty() { Ok(()) } else { Err((Part::Outer, Fault::TrailingBytes)) }
}

/// The numbers of an algorithm and the whole element of its parameters, empty where there is none (`parseAI`).
fn algorithm_identifier(mut input: Input<'_>, version: Version) -> Result<(Vec<u32>, &[u8]), Fault> {
    let algorithm = identifier(input.read(tag::OID)?, version)?;
    let parameters = if input.is_empty() { &[][..] } else { input.any()?.raw };
    Ok((algorithm, parameters))
}

/// `parseName`.
fn name(mut input: Input<'_>, version: Version) -> Result<(), Fault> {
    while !input.is_empty() {
        let mut set = input.inside(tag::SET)?;
        while !set.is_empty() {
            let mut attribute = set.inside(tag::SEQUENCE)?;
            identifier(attribute.read(tag::OID)?, version)?;
            attribute_value(attribute.any()?, version)?;
        }
    }
    Ok(())
}

/// The value of an attribute. The old version knows six types of string and no other (`parseASN1String`); the new one
/// reads other types too, and takes those that it does not know as they are (`readASN1Any`).
fn attribute_value(value: Element<'_>, version: Version) -> Result<(), Fault> {
    let content = value.content;
    let all = |good: fn(&u8) -> bool| if content.iter().all(good) { Ok(()) } else { Err(Fault::Characters) };
    match value.tag {
        tag::T61_STRING => Ok(()),
        // `*` and `&` are none of PrintableString's, but certificates have them.
        tag::PRINTABLE_STRING => all(|byte| byte.is_ascii_alphanumeric() || b" '()+,-./:=?*&".contains(byte)),
        tag::UTF8_STRING => std::str::from_utf8(content).map(drop).map_err(|_| Fault::Characters),
        tag::BMP_STRING => bmp_string(content, version),
        tag::IA5_STRING => all(u8::is_ascii),
        tag::NUMERIC_STRING => all(|byte| byte.is_ascii_digit() || *byte == b' '),
        _ if !version.is_strict() => Err(Fault::StringType),
        tag::INTEGER => int64(content).map(drop),
        tag::BIT_STRING => bits(content).map(drop),
        tag::OID => identifier(content, version).map(drop),
        tag::UTC_TIME => time(content, false, version),
        tag::GENERALIZED_TIME => time(content, true, version),
        tag::BOOLEAN => boolean(content).map(drop),
        _ => Ok(()),
    }
}

fn bmp_string(content: &[u8], version: Version) -> Result<(), Fault> {
    if !content.len().is_multiple_of(2) {
        return Err(Fault::Characters);
    }
    let character = |pair: &[u8]| pair.iter().fold(0_u16, |value, byte| value << 8 | u16::from(*byte));
    // Surrogates, and what is no character and never will be.
    let wrong = |pair| matches!(character(pair), 0xD800..=0xDFFF | 0xFDD0..=0xFDEF | 0xFFFE | 0xFFFF);
    if version.is_strict() && content.chunks_exact(2).any(wrong) { Err(Fault::Characters) } else { Ok(()) }
}

/// `parseValidity`.
fn validity(mut input: Input<'_>, version: Version) -> Result<(), Fault> {
    for _ in 0..2 {
        let element = input.any()?;
        match element.tag {
            tag::UTC_TIME => time(element.content, false, version)?,
            tag::GENERALIZED_TIME => time(element.content, true, version)?,
            _ => return Err(Fault::Time),
        }
    }
    Ok(())
}

/// Algorithms of keys that Go has, the first two numbers in one.
const RSA: &[u32] = &[42, 840, 113549, 1, 1, 1];
const DSA: &[u32] = &[42, 840, 10040, 4, 1];
const EC: &[u32] = &[42, 840, 10045, 2, 1];
const ED25519: &[u32] = &[43, 101, 112];
/// ML-DSA-44, -65 and -87, without their last number (FIPS 204).
const ML_DSA: &[u32] = &[96, 840, 1, 101, 3, 4, 3];

/// SubjectPublicKeyInfo and the key in it (`parsePublicKey`). A key whose algorithm Go does not know is not looked at.
fn public_key(mut input: Input<'_>, version: Version) -> Result<(), Fault> {
    let (algorithm, parameters) = algorithm_identifier(input.inside(tag::SEQUENCE)?, version)?;
    let (bytes, unused) = bits(input.read(tag::BIT_STRING)?)?;
    let bytes = right_align(bytes, unused);
    let mut key = Input(&bytes);
    let accept = |good: bool| if good { Ok(()) } else { Err(Fault::Value) };
    match algorithm.as_slice() {
        RSA => {
            accept(parameters == [5, 0])?;
            let mut numbers = key.inside(tag::SEQUENCE)?;
            let modulus = numbers.read(tag::INTEGER)?;
            integer(modulus)?;
            let exponent = int64(numbers.read(tag::INTEGER)?)?;
            accept(is_positive(modulus) && exponent > 0)
        }
        EC => {
            let name = identifier(Input(parameters).read(tag::OID)?, version)?;
            let curve = curve::named(&name).ok_or(Fault::Unknown)?;
            accept(curve.has(&bytes))
        }
        ED25519 => accept(parameters.is_empty() && bytes.len() == 32),
        DSA => {
            let y = key.read(tag::INTEGER)?;
            let mut numbers = Input(parameters).inside(tag::SEQUENCE)?;
            let mut good = true;
            for number in
                [Ok(y), numbers.read(tag::INTEGER), numbers.read(tag::INTEGER), numbers.read(tag::INTEGER)]
            {
                let number = number?;
                integer(number)?;
                good &= is_positive(number);
            }
            accept(good)
        }
        [base @ .., last @ 17..=19] if base == ML_DSA && version.is_strict() => {
            let size = match last {
                17 => 1312,
                18 => 1952,
                _ => 2592,
            };
            accept(parameters.is_empty() && bytes.len() == size)
        }
        _ => Ok(()),
    }
}

/// The list of extensions: first each one's frame, and whether one is there twice, then what is in them.
fn extensions(mut list: Input<'_>, version: Version) -> Checked {
    let wrong = |fault| (Part::Extensions, fault);
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    while !list.is_empty() {
        let mut extension = list.inside(tag::SEQUENCE).map_err(wrong)?;
        let name = extension.read(tag::OID).and_then(|bytes| identifier(bytes, version)).map_err(wrong)?;
        let critical = match extension.optional(tag::BOOLEAN).map_err(wrong)? {
            Some(content) => boolean(content.0).map_err(wrong)?,
            None => false,
        };
        let value = extension.inside(tag::OCTET_STRING).map_err(wrong)?;
        if !seen.insert(name.clone()) {
            return Err(wrong(Fault::Repeated));
        }
        found.push((name, critical, value));
    }
    for (name, critical, value) in found {
        extension(&name, critical, value, version).map_err(|fault| (Part::ExtensionValue, fault))?;
    }
    Ok(())
}

/// One extension (`processExtensions`). What Go does not know it does not read; whether that is critical matters only
/// when a chain is verified.
fn extension(name: &[u32], critical: bool, value: Input<'_>, version: Version) -> Result<(), Fault> {
    let mut value = value;
    let strict = version.is_strict();
    // As RFC 5280 says; the old version does not ask.
    let never_critical = || if critical && strict { Err(Fault::Value) } else { Ok(()) };
    match name {
        // subjectKeyIdentifier
        [85, 29, 14] => {
            never_critical()?;
            value.read(tag::OCTET_STRING).map(drop)
        }
        // keyUsage
        [85, 29, 15] => value.read(tag::BIT_STRING).and_then(bits).map(drop),
        [85, 29, 17] => alternative_names(value, version),
        [85, 29, 19] => basic_constraints(value, version),
        [85, 29, 30] => name_constraints(value, version),
        [85, 29, 31] => distribution_points(value),
        [85, 29, 32] => policies(value, version),
        [85, 29, 33] if strict => {
            // policyMappings; the bytes of the identifiers are not looked at.
            let mut mappings = value.inside(tag::SEQUENCE)?;
            while !mappings.is_empty() {
                let mut mapping = mappings.inside(tag::SEQUENCE)?;
                mapping.read(tag::OID)?;
                mapping.read(tag::OID)?;
            }
            Ok(())
        }
        [85, 29, 35] => {
            // authorityKeyIdentifier
            never_critical()?;
            value.inside(tag::SEQUENCE)?.optional(CONTEXT).map(drop)
        }
        [85, 29, 36] if strict => {
            // policyConstraints
            let mut constraints = value.inside(tag::SEQUENCE)?;
            for number in [CONTEXT, CONTEXT | 1] {
                if let Some(content) = constraints.optional(number)? {
                    int64(content.0)?;
                }
            }
            Ok(())
        }
        [85, 29, 37] => {
            // extKeyUsage
            let mut usages = value.inside(tag::SEQUENCE)?;
            while !usages.is_empty() {
                identifier(usages.read(tag::OID)?, version)?;
            }
            Ok(())
        }
        // inhibitAnyPolicy
        [85, 29, 54] if strict => int64(value.read(tag::INTEGER)?).map(drop),
        [43, 6, 1, 5, 5, 7, 1, 1] => {
            // authorityInfoAccess
            never_critical()?;
            let mut list = value.inside(tag::SEQUENCE)?;
            while !list.is_empty() {
                let mut access = list.inside(tag::SEQUENCE)?;
                identifier(access.read(tag::OID)?, version)?;
                access.optional(CONTEXT | 6)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// `parseBasicConstraintsExtension`. A path length below zero is refused since it is read as a `uint`.
fn basic_constraints(mut value: Input<'_>, version: Version) -> Result<(), Fault> {
    let mut constraints = value.inside(tag::SEQUENCE)?;
    if let Some(content) = constraints.optional(tag::BOOLEAN)? {
        boolean(content.0)?;
    }
    if let Some(content) = constraints.optional(tag::INTEGER)? {
        let length = int64(content.0)?;
        if version.is_strict() && length < 0 {
            return Err(Fault::Value);
        }
    }
    Ok(())
}

/// `parseSANExtension`.
fn alternative_names(mut value: Input<'_>, version: Version) -> Result<(), Fault> {
    let mut list = value.inside(tag::SEQUENCE)?;
    while !list.is_empty() {
        let Element { tag, content, .. } = list.any()?;
        match tag {
            // rfc822Name, dNSName, uniformResourceIdentifier
            0x81 | 0x82 | 0x86 if !content.is_ascii() => return Err(Fault::Characters),
            0x86 if !names::uri(content, version) => return Err(Fault::Value),
            // iPAddress
            0x87 if !matches!(content.len(), 4 | 16) || is_mapped(content, version) => {
                return Err(Fault::Value);
            }
            _ => {}
        }
    }
    Ok(())
}

/// An IPv4 address written as one of IPv6, which new versions refuse.
fn is_mapped(address: &[u8], version: Version) -> bool {
    version.is_strict()
        && address.len() == 16
        && address.starts_with(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF])
}

/// `parseNameConstraintsExtension`.
fn name_constraints(mut value: Input<'_>, version: Version) -> Result<(), Fault> {
    let mut constraints = value.inside(tag::SEQUENCE)?;
    if !value.is_empty() {
        return Err(Fault::TrailingBytes);
    }
    let permitted = constraints.optional(CONSTRUCTED)?;
    let excluded = constraints.optional(CONSTRUCTED | 1)?;
    if !constraints.is_empty() {
        return Err(Fault::TrailingBytes);
    }
    let trees = [permitted, excluded].map(|tree| tree.unwrap_or(Input(&[])));
    if trees.iter().all(|tree| tree.is_empty()) {
        return Err(Fault::Structure);
    }
    for mut tree in trees {
        while !tree.is_empty() {
            let Element { tag, content, .. } = tree.inside(tag::SEQUENCE)?.any()?;
            let good = match tag {
                // rfc822Name, dNSName, uniformResourceIdentifier
                0x81 | 0x82 | 0x86 if !content.is_ascii() => return Err(Fault::Characters),
                0x81 if content.contains(&b'@') => names::mailbox(content, version),
                0x81 | 0x82 => names::domain(content, true, version),
                0x86 => !names::address(content, version) && names::domain(content, true, version),
                // iPAddress: an address and a mask.
                0x87 => {
                    let (address, mask) = content.split_at(content.len() / 2);
                    matches!(content.len(), 8 | 32) && is_mask(mask) && !is_mapped(address, version)
                }
                _ => true,
            };
            if !good {
                return Err(Fault::Value);
            }
        }
    }
    Ok(())
}

/// Ones, then zeros (`isValidIPMask`).
fn is_mask(mask: &[u8]) -> bool {
    let mut rest = mask.iter().skip_while(|byte| **byte == 0xFF);
    rest.next().is_none_or(|byte| byte.leading_ones() + byte.trailing_zeros() == 8)
        && rest.all(|byte| *byte == 0)
}

/// CRLDistributionPoints: the URIs at the start of each full name.
fn distribution_points(mut value: Input<'_>) -> Result<(), Fault> {
    let mut points = value.inside(tag::SEQUENCE)?;
    while !points.is_empty() {
        let mut point = points.inside(tag::SEQUENCE)?;
        let Some(mut name) = point.optional(CONSTRUCTED)? else { continue };
        let mut full = name.inside(CONSTRUCTED)?;
        while full.optional(CONTEXT | 6)?.is_some() {}
    }
    Ok(())
}

/// `parseCertificatePoliciesExtension`. New versions take identifiers with numbers of any size, but none twice.
fn policies(mut value: Input<'_>, version: Version) -> Result<(), Fault> {
    let mut list = value.inside(tag::SEQUENCE)?;
    let mut seen = HashSet::new();
    while !list.is_empty() {
        let policy = list.inside(tag::SEQUENCE)?.read(tag::OID)?;
        if !version.is_strict() {
            identifier(policy, version)?;
            continue;
        }
        if !seen.insert(policy) {
            return Err(Fault::Repeated);
        }
        let mut starts = true;
        for byte in policy {
            if starts && *byte == 0x80 {
                return Err(Fault::ObjectIdentifier);
            }
            starts = byte & 0x80 == 0;
        }
        if policy.is_empty() || !starts {
            return Err(Fault::ObjectIdentifier);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
        let mut out = vec![tag];
        match content.len() {
            length @ 0..=0x7F => out.push(length as u8),
            length @ 0x80..=0xFF => out.extend([0x81, length as u8]),
            length => out.extend([0x82, (length >> 8) as u8, length as u8]),
        }
        out.extend_from_slice(content);
        out
    }

    /// What a certificate is made of; each part is a finished element.
    #[derive(Clone)]
    struct Made {
        version: Vec<u8>,
        serial: Vec<u8>,
        inner: Vec<u8>,
        subject: Vec<u8>,
        not_after: Vec<u8>,
        key: Vec<u8>,
        behind_key: Vec<u8>,
        extensions: Vec<u8>,
        outer: Vec<u8>,
        signature: Vec<u8>,
        behind: Vec<u8>,
    }

    impl Made {
        fn new() -> Self {
            let algorithm = tlv(0x30, &[6, 3, 0x2B, 0x65, 0x70]);
            Self {
                version: tlv(0xA0, &[2, 1, 2]),
                serial: vec![2, 1, 1],
                inner: algorithm.clone(),
                subject: attribute(0x13, b"Castore Test Root 01"),
                not_after: tlv(0x17, b"450101000000Z"),
                key: tlv(0x30, &[&algorithm[..], &tlv(3, &[0; 33])].concat()),
                behind_key: vec![],
                extensions: vec![],
                outer: algorithm,
                signature: vec![3, 2, 0, 1],
                behind: vec![],
            }
        }

        fn with(value: &[u8], critical: bool, name: &[u8]) -> Self {
            Self { extensions: extension(name, critical, value), ..Self::new() }
        }

        fn der(&self) -> Vec<u8> {
            let extensions = match self.extensions.as_slice() {
                [] => vec![],
                list => tlv(0xA3, &tlv(0x30, list)),
            };
            let validity = tlv(0x30, &[tlv(0x17, b"200101000000Z"), self.not_after.clone()].concat());
            let tbs = [
                &self.version[..],
                &self.serial,
                &self.inner,
                &self.subject,
                &validity,
                &self.subject,
                &self.key,
                &self.behind_key,
                &extensions,
            ];
            let tbs = tlv(0x30, &tbs.concat());
            let mut out = tlv(0x30, &[&tbs[..], &self.outer, &self.signature].concat());
            out.extend_from_slice(&self.behind);
            out
        }
    }

    fn attribute(tag: u8, content: &[u8]) -> Vec<u8> {
        let attribute = tlv(0x30, &[&[6, 3, 0x55, 4, 3][..], &tlv(tag, content)].concat());
        tlv(0x30, &tlv(0x31, &attribute))
    }

    fn extension(name: &[u8], critical: bool, value: &[u8]) -> Vec<u8> {
        let critical: &[u8] = if critical { &[1, 1, 0xFF] } else { &[] };
        tlv(0x30, &[&tlv(6, name)[..], critical, &tlv(4, value)].concat())
    }

    const BASIC: &[u8] = &[0x55, 0x1D, 19];
    const SUBJECT_KEY: &[u8] = &[0x55, 0x1D, 14];
    const POLICIES: &[u8] = &[0x55, 0x1D, 32];

    #[test]
    fn parts() {
        let refused = |part, fault| Err((part, fault));
        let base = Made::new();
        let cases: Vec<(&str, Made, Checked, Checked)> = vec![
            ("as it should be", base.clone(), Ok(()), Ok(())),
            (
                "bytes behind it",
                Made { behind: vec![0], ..base.clone() },
                refused(Part::Outer, Fault::TrailingBytes),
                refused(Part::Outer, Fault::TrailingBytes),
            ),
            (
                "an element behind the signature",
                Made { signature: vec![3, 2, 0, 1, 5, 0], ..base.clone() },
                Ok(()),
                Ok(()),
            ),
            (
                "version 4",
                Made { version: vec![0xA0, 3, 2, 1, 3], ..base.clone() },
                refused(Part::Version, Fault::Value),
                refused(Part::Version, Fault::Value),
            ),
            (
                "a negative serial number",
                Made { serial: vec![2, 1, 0x80], ..base.clone() },
                Ok(()),
                refused(Part::Serial, Fault::Value),
            ),
            (
                "a serial number with padding",
                Made { serial: vec![2, 2, 0, 1], ..base.clone() },
                refused(Part::Serial, Fault::Padding),
                refused(Part::Serial, Fault::Padding),
            ),
            (
                "two algorithms",
                Made { outer: tlv(0x30, &[6, 3, 0x2B, 0x65, 0x71]), ..base.clone() },
                refused(Part::OuterAlgorithm, Fault::Differs),
                refused(Part::OuterAlgorithm, Fault::Differs),
            ),
            (
                "a VisibleString",
                Made { subject: attribute(0x1A, b"a"), ..base.clone() },
                refused(Part::Issuer, Fault::StringType),
                Ok(()),
            ),
            (
                "@ in a PrintableString",
                Made { subject: attribute(0x13, b"a@b"), ..base.clone() },
                refused(Part::Issuer, Fault::Characters),
                refused(Part::Issuer, Fault::Characters),
            ),
            (
                "surrogates",
                Made { subject: attribute(0x1E, &[0xD8, 0x3D, 0xDD, 0x12]), ..base.clone() },
                Ok(()),
                refused(Part::Issuer, Fault::Characters),
            ),
            (
                "February 30",
                Made { not_after: tlv(0x17, b"450230000000Z"), ..base.clone() },
                refused(Part::Validity, Fault::Time),
                refused(Part::Validity, Fault::Time),
            ),
            ("no seconds", Made { not_after: tlv(0x17, b"4501010000Z"), ..base.clone() }, Ok(()), Ok(())),
            (
                "an offset of 25 hours",
                Made { not_after: tlv(0x17, b"450101000000+2500"), ..base.clone() },
                Ok(()),
                refused(Part::Validity, Fault::Time),
            ),
            (
                "a short key",
                Made { key: tlv(0x30, &[&base.inner[..], &[3, 2, 0, 1]].concat()), ..base.clone() },
                refused(Part::Key, Fault::Value),
                refused(Part::Key, Fault::Value),
            ),
            (
                "bits that are not used and not zero",
                Made { signature: vec![3, 2, 1, 1], ..base.clone() },
                refused(Part::Signature, Fault::Value),
                refused(Part::Signature, Fault::Value),
            ),
            (
                "an extension twice",
                Made { extensions: extension(BASIC, false, &[0x30, 0]).repeat(2), ..base.clone() },
                refused(Part::Extensions, Fault::Repeated),
                refused(Part::Extensions, Fault::Repeated),
            ),
            (
                "extensions in v1",
                Made { version: vec![], extensions: vec![1], ..base.clone() },
                Ok(()),
                Ok(()),
            ),
            (
                "a path length of -1",
                Made::with(&[0x30, 3, 2, 1, 0xFF], true, BASIC),
                Ok(()),
                refused(Part::ExtensionValue, Fault::Value),
            ),
            (
                "a critical key identifier",
                Made::with(&[4, 1, 1], true, SUBJECT_KEY),
                Ok(()),
                refused(Part::ExtensionValue, Fault::Value),
            ),
            (
                "a policy twice",
                Made::with(&[0x30, 10, 0x30, 3, 6, 1, 0x2A, 0x30, 3, 6, 1, 0x2A], false, POLICIES),
                Ok(()),
                refused(Part::ExtensionValue, Fault::Repeated),
            ),
            (
                "a policy with a number of 35 bits",
                Made::with(&[0x30, 9, 0x30, 7, 6, 5, 0x90, 0x80, 0x80, 0x80, 0], false, POLICIES),
                refused(Part::ExtensionValue, Fault::ObjectIdentifier),
                Ok(()),
            ),
            (
                "an identifier with padding",
                Made { extensions: extension(&[0x80, 0x2A], false, &[]), ..base.clone() },
                Ok(()),
                refused(Part::Extensions, Fault::ObjectIdentifier),
            ),
            (
                "a length that is not the shortest",
                Made { behind_key: vec![0x81, 0x81, 1, 0], ..base.clone() },
                refused(Part::UniqueId, Fault::Length),
                refused(Part::UniqueId, Fault::Length),
            ),
        ];
        for (what, made, old, new) in cases {
            assert_eq!(check(&made.der(), Version::Go1_19), old, "{what}, 1.19");
            assert_eq!(check(&made.der(), Version::Go1_27), new, "{what}, 1.27");
        }
    }

    #[test]
    fn nothing_panics() {
        let trees = [0x30, 12, 0xA0, 10, 0x30, 8, 0x87, 6, 0, 0, 0, 0, 0, 0];
        for made in [Made::new(), Made::with(&trees, false, &[0x55, 0x1D, 30])] {
            let der = made.der();
            for at in 0..der.len() {
                let mut changed = der.clone();
                for byte in [0, 1, 0x7F, 0x80, 0x84, 0xFF] {
                    changed[at] = byte;
                    for version in [Version::Go1_19, Version::Go1_27] {
                        let _ = check(&changed, version);
                        let _ = check(&der[..at], version);
                        let _ = check(&der[at..], version);
                    }
                }
            }
        }
    }
}
