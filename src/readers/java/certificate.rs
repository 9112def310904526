//! Whether Java reads one certificate: `sun.security.x509.X509CertImpl.parse` and `X509CertInfo.parse`.

use super::element::{Element, Input};
use super::{extension, key};
use crate::der::tag;
use crate::readers::reading::{Fault, Part};

pub(super) type Checked<T = ()> = Result<T, (Part, Fault)>;

/// What `new X509CertImpl(byte[])` makes of these bytes, which must be one element and no more.
pub(super) fn check(der: &[u8]) -> Checked {
    let at = |part| move |fault| (part, fault);
    let mut input = Input::new(der);
    let whole = input.any().map_err(at(Part::Outer))?;
    if !input.is_empty() {
        return Err((Part::Outer, Fault::TrailingBytes));
    }
    let mut inside = whole.sequence().map_err(at(Part::Outer))?;
    let tbs = inside.any().map_err(at(Part::Tbs))?;
    let outer = inside.any().map_err(at(Part::OuterAlgorithm))?;
    let signature = inside.any().map_err(at(Part::Signature))?;
    if !inside.is_empty() {
        return Err((Part::Outer, Fault::TrailingBytes));
    }
    let tbs = tbs.sequence().map_err(at(Part::Tbs))?;
    let outer = key::algorithm(&outer).map_err(at(Part::OuterAlgorithm))?;
    signature.bits().map_err(at(Part::Signature))?;
    if info(tbs)? == outer { Ok(()) } else { Err((Part::OuterAlgorithm, Fault::Differs)) }
}

/// The fields of a TBSCertificate, and its signature algorithm. What stands behind the extensions is passed over.
fn info(mut tbs: Input<'_>) -> Checked<key::Algorithm> {
    let at = |part| move |fault| (part, fault);
    let mut element = tbs.any().map_err(at(Part::Serial))?;
    let mut version = 0;
    if element.is_context(0) {
        // One that is not constructed counts as none; what is behind the number is not looked at.
        if element.is_constructed() {
            version = element.inside().small_integer().map_err(at(Part::Version))?;
        }
        element = tbs.any().map_err(at(Part::Serial))?;
    }
    element.integer().map_err(at(Part::Serial))?;
    let algorithm =
        tbs.any().and_then(|element| key::algorithm(&element)).map_err(at(Part::InnerAlgorithm))?;
    if name(&mut tbs).map_err(at(Part::Issuer))? {
        return Err((Part::Issuer, Fault::Value));
    }
    tbs.any().and_then(|element| validity(&element)).map_err(at(Part::Validity))?;
    let has_no_subject = name(&mut tbs).map_err(at(Part::Subject))?;
    if has_no_subject && version == 0 {
        return Err((Part::Subject, Fault::Value));
    }
    tbs.any().and_then(|element| key::check(&element)).map_err(at(Part::Key))?;
    if tbs.is_empty() {
        return Ok(algorithm);
    }
    if version == 0 {
        return Err((Part::Tbs, Fault::TrailingBytes));
    }
    let mut element = tbs.any().map_err(at(Part::Extensions))?;
    for number in 1..=2 {
        if element.is_context(number) {
            super::element::bits(&element.content).map_err(at(Part::UniqueId))?;
            if tbs.is_empty() {
                return Ok(algorithm);
            }
            element = tbs.any().map_err(at(Part::Extensions))?;
        }
    }
    if version != 2 {
        return Err((Part::Extensions, Fault::Unknown));
    }
    let mut names_subject = false;
    if element.is_context(3) && element.is_constructed() {
        names_subject = extension::all(element.inside())?;
    }
    // `verifyCert`, which is only come to where something stands behind the key.
    if has_no_subject && !names_subject { Err((Part::Subject, Fault::Value)) } else { Ok(algorithm) }
}

/// `CertificateValidity`.
fn validity(element: &Element<'_>) -> Result<(), Fault> {
    let element = element.alone();
    let times = element.sequence()?.all()?;
    match &times[..] {
        [from, to] => from.time().and(to.time()),
        _ => Err(Fault::Structure),
    }
}

/// `X500Name.parseDER`, and whether there is nothing in the name. Where no SEQUENCE can be read, all that is left is
/// taken for what is in it.
pub(super) fn name(input: &mut Input<'_>) -> Result<bool, Fault> {
    let rest = *input;
    let element = input.any();
    let inside = element.as_ref().map_err(|fault| *fault).and_then(Element::sequence);
    let relative = match inside.and_then(Input::all) {
        Ok(relative) => relative,
        Err(fault) => rest.all().map_err(|_| fault)?,
    };
    let mut empty = true;
    for relative in relative {
        if relative.tag != tag::SET {
            return Err(Fault::Structure);
        }
        empty &= self::relative(&relative)? == 0;
    }
    Ok(empty)
}

/// `RDN`, and how many attributes are in it.
pub(super) fn relative(element: &Element<'_>) -> Result<usize, Fault> {
    let element = element.alone();
    let attributes = element.inside().all()?;
    for attribute in &attributes {
        let mut inside = attribute.sequence()?;
        inside.identifier()?;
        let value = inside.any()?;
        if !inside.is_empty() {
            return Err(Fault::TrailingBytes);
        }
        if value.tag == tag::BMP_STRING && has_surrogates(&value.content) {
            return Err(Fault::Characters);
        }
    }
    Ok(attributes.len())
}

/// `validateBMPString`: characters above FFFF. What is no UTF-16 at all has been replaced by then, and passes.
fn has_surrogates(content: &[u8]) -> bool {
    let mut pairs = content
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0_u16, |unit, byte| unit << 8 | u16::from(*byte)));
    while let Some(unit) = pairs.next() {
        // A wrong second half goes with the first.
        if matches!(unit, 0xD800..=0xDBFF) && matches!(pairs.next(), Some(0xDC00..=0xDFFF)) {
            return true;
        }
    }
    false
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::der::write_header;

    /// A certificate with parts to choose.
    #[derive(Clone)]
    pub(in super::super) struct Made {
        version: Vec<u8>,
        serial: Vec<u8>,
        inner: Vec<u8>,
        issuer: Vec<u8>,
        not_after: Vec<u8>,
        subject: Vec<u8>,
        key: Vec<u8>,
        extensions: Vec<u8>,
        outer: Vec<u8>,
        signature: Vec<u8>,
    }

    fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        write_header(tag, content.len(), &mut out);
        [out, content.to_vec()].concat()
    }

    fn named(tag: u8, content: &[u8]) -> Vec<u8> {
        tlv(0x30, &tlv(0x31, &tlv(0x30, &[&[6, 3, 0x55, 4, 3][..], &tlv(tag, content)].concat())))
    }

    fn extension(name: &[u8], critical: bool, value: &[u8]) -> Vec<u8> {
        let critical: &[u8] = if critical { &[1, 1, 0xFF] } else { &[] };
        tlv(0x30, &[&tlv(6, name)[..], critical, &tlv(4, value)].concat())
    }

    const BASIC: &[u8] = &[0x55, 0x1D, 19];
    const SUBJECT_NAMES: &[u8] = &[0x55, 0x1D, 17];

    impl Made {
        pub(in super::super) fn new() -> Self {
            let algorithm = tlv(0x30, &[6, 3, 0x2B, 0x65, 0x70]);
            Self {
                version: vec![0xA0, 3, 2, 1, 2],
                serial: vec![2, 1, 1],
                inner: algorithm.clone(),
                issuer: named(0x0C, b"a"),
                not_after: tlv(0x17, b"450101000000Z"),
                subject: named(0x0C, b"a"),
                key: tlv(0x30, &[&algorithm[..], &tlv(3, &[0; 33])].concat()),
                extensions: extension(BASIC, true, &[0x30, 3, 1, 1, 0xFF]),
                outer: algorithm,
                signature: vec![3, 2, 0, 1],
            }
        }

        pub(in super::super) fn der(&self) -> Vec<u8> {
            let extensions = match self.extensions.as_slice() {
                [] => vec![],
                list => tlv(0xA3, &tlv(0x30, list)),
            };
            let validity = tlv(0x30, &[tlv(0x17, b"200101000000Z"), self.not_after.clone()].concat());
            let tbs = [
                &self.version[..],
                &self.serial,
                &self.inner,
                &self.issuer,
                &validity,
                &self.subject,
                &self.key,
                &extensions,
            ];
            tlv(0x30, &[&tlv(0x30, &tbs.concat())[..], &self.outer, &self.signature].concat())
        }
    }

    /// In small, and with reasons, what `tests/oracle_java.rs` holds to Java itself.
    #[test]
    fn parts() {
        let base = Made::new();
        let refused = |part, fault| Err((part, fault));
        let with = |change: &dyn Fn(&mut Made)| {
            let mut made = base.clone();
            change(&mut made);
            made
        };
        let broken = extension(BASIC, false, &[0x31, 0]);
        let names = |critical| extension(SUBJECT_NAMES, critical, &[0x30, 3, 0x82, 1, b'a']);
        let cases: Vec<(&str, Made, Checked)> = vec![
            ("as it should be", base.clone(), Ok(())),
            ("padded serial", with(&|made| made.serial = vec![2, 2, 0, 1]), Ok(())),
            ("negative serial", with(&|made| made.serial = vec![2, 1, 0xFF]), Ok(())),
            ("empty serial", with(&|made| made.serial = vec![2, 0]), refused(Part::Serial, Fault::Padding)),
            ("version 4", with(&|made| made.version[4] = 3), refused(Part::Extensions, Fault::Unknown)),
            ("no version", with(&|made| made.version.clear()), refused(Part::Tbs, Fault::TrailingBytes)),
            ("no issuer", with(&|made| made.issuer = vec![0x30, 0]), refused(Part::Issuer, Fault::Value)),
            ("no subject", with(&|made| made.subject = vec![0x30, 0]), refused(Part::Subject, Fault::Value)),
            (
                "no subject and no extensions",
                with(&|made| (made.subject, made.extensions) = (vec![0x30, 0], vec![])),
                Ok(()),
            ),
            (
                "no subject but names",
                with(&|made| (made.subject, made.extensions) = (vec![0x30, 0], names(true))),
                Ok(()),
            ),
            (
                "no subject but names that are not critical",
                with(&|made| (made.subject, made.extensions) = (vec![0x30, 0], names(false))),
                refused(Part::Subject, Fault::Value),
            ),
            ("bad UTF-8", with(&|made| made.subject = named(0x0C, &[0xFF])), Ok(())),
            ("odd BMPString", with(&|made| made.subject = named(0x1E, &[0, 65, 0])), Ok(())),
            (
                "characters of two halves",
                with(&|made| made.subject = named(0x1E, &[0xD8, 0x3D, 0xDD, 0x12])),
                refused(Part::Subject, Fault::Characters),
            ),
            ("30 February", with(&|made| made.not_after = tlv(0x17, b"450230000000Z")), Ok(())),
            ("no seconds", with(&|made| made.not_after = tlv(0x17, b"4501010000Z")), Ok(())),
            ("a fraction", with(&|made| made.not_after = tlv(0x18, b"20450101000000.5Z")), Ok(())),
            (
                "month 13",
                with(&|made| made.not_after = tlv(0x17, b"451301000000Z")),
                refused(Part::Validity, Fault::Time),
            ),
            (
                "a key cut short",
                with(&|made| made.key = tlv(0x30, &[&base.inner[..], &tlv(3, &[0; 32])].concat())),
                refused(Part::Key, Fault::Value),
            ),
            (
                "an unknown key",
                with(&|made| made.key = tlv(0x30, &[&[0x30, 3, 6, 1, 42][..], &[3, 1, 0]].concat())),
                Ok(()),
            ),
            (
                "the same twice",
                with(&|made| made.extensions = base.extensions.repeat(2)),
                refused(Part::Extensions, Fault::Repeated),
            ),
            ("broken and not critical", with(&|made| made.extensions = broken.repeat(2)), Ok(())),
            (
                "broken and critical",
                with(&|made| made.extensions = extension(BASIC, true, &[0x31, 0])),
                refused(Part::ExtensionValue, Fault::Structure),
            ),
            (
                "another algorithm outside",
                with(&|made| made.outer = vec![0x30, 3, 6, 1, 42]),
                refused(Part::OuterAlgorithm, Fault::Differs),
            ),
            (
                "NULL outside",
                with(&|made| made.outer = [&[0x30, 7], &base.inner[2..], &[5, 0]].concat()),
                Ok(()),
            ),
            ("no signature", with(&|made| made.signature = vec![3, 1, 0]), Ok(())),
            (
                "no bits",
                with(&|made| made.signature = vec![3, 0]),
                refused(Part::Signature, Fault::Structure),
            ),
            (
                "an element too many",
                with(&|made| made.signature = vec![3, 1, 0, 5, 0]),
                refused(Part::Outer, Fault::TrailingBytes),
            ),
        ];
        for (what, made, expected) in cases {
            assert_eq!(check(&made.der()), expected, "{what}");
        }
        assert_eq!(check(&[base.der(), vec![0]].concat()), refused(Part::Outer, Fault::TrailingBytes));
    }
}
