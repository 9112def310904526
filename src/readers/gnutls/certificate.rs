//! Which certificates GnuTLS takes: `gnutls_x509_crt_import` (lib/x509/x509.c), in its order: libtasn1's walk over
//! `PKIX1.Certificate` (lib/pkix.asn), the comparison of the two signature algorithms, the alternative names, and
//! `_gnutls_check_cert_sanity`.

use std::collections::HashSet;

use super::asn1::{Identifier, Tag, Walk, fits};
use crate::readers::reading::{Fault, Part};

type Refusal = (Part, Fault);

/// Names the part in which a fault lies.
trait In<T> {
    fn in_part(self, part: Part) -> Result<T, Refusal>;
}

impl<T> In<T> for Result<T, Fault> {
    fn in_part(self, part: Part) -> Result<T, Refusal> {
        self.map_err(|fault| (part, fault))
    }
}

/// Whether GnuTLS takes these bytes for a certificate.
///
/// # Errors
/// The part that it refuses, and why.
pub fn certificate(der: &[u8]) -> Result<(), Refusal> {
    let mut walk = Walk::new(der);
    // An empty element is no fault to libtasn1; what is then missing is one to GnuTLS.
    let end = walk.open(Tag::SEQUENCE).in_part(Part::Outer)?.ok_or((Part::Outer, Fault::Structure))?;
    let tbs = Tbs::walk(&mut walk)?;
    let outer = algorithm(&mut walk).in_part(Part::OuterAlgorithm)?;
    walk.value(Tag::BIT_STRING).in_part(Part::Signature)?;
    walk.close(end).in_part(Part::Outer)?;
    if !walk.is_empty() {
        return Err((Part::Outer, Fault::TrailingBytes));
    }

    let inner = tbs.algorithm.ok_or((Part::InnerAlgorithm, Fault::Structure))?;
    let outer = outer.ok_or((Part::OuterAlgorithm, Fault::Structure))?;
    if inner.parameters() != outer.parameters() || inner.identifier.text() != outer.identifier.text() {
        return Err((Part::OuterAlgorithm, Fault::Differs));
    }
    for alternative_name in ["2.5.29.17", "2.5.29.18"] {
        if let Some(value) = tbs.extension(alternative_name)? {
            general_names(value).in_part(Part::ExtensionValue)?;
        }
    }
    tbs.check()
}

/// What is looked at again after the walk.
struct Tbs<'a> {
    version: Option<&'a [u8]>,
    algorithm: Option<Algorithm<'a>>,
    /// notBefore and notAfter; `None` where the SEQUENCE is empty.
    validity: Option<[Time<'a>; 2]>,
    unique_ids: Vec<&'a [u8]>,
    has_extensions: bool,
    /// Identifier as text, and content of the OCTET STRING. GnuTLS reads them up to the first that is an empty SEQUENCE.
    extensions: Vec<(String, &'a [u8])>,
}

impl<'a> Tbs<'a> {
    fn walk(walk: &mut Walk<'a>) -> Result<Self, Refusal> {
        let end = walk.open(Tag::SEQUENCE).in_part(Part::Tbs)?.ok_or((Part::Tbs, Fault::Structure))?;
        let mut version = None;
        // DEFAULT and OPTIONAL: what does not match is absent, and stands in the way of the next.
        if let Some(mut inner) = walk.explicit(0).filter(|inner| inner.is(Tag::INTEGER)) {
            version = Some(inner.value(Tag::INTEGER).in_part(Part::Version)?);
            *walk = inner;
        }
        walk.value(Tag::INTEGER).in_part(Part::Serial)?;
        let algorithm = algorithm(walk).in_part(Part::InnerAlgorithm)?;
        rdn_sequence(walk, &mut |_| {}).in_part(Part::Issuer)?;
        let validity = validity(walk).in_part(Part::Validity)?;
        rdn_sequence(walk, &mut |_| {}).in_part(Part::Subject)?;
        key(walk).in_part(Part::Key)?;
        let mut unique_ids = Vec::new();
        for number in [1, 2] {
            if walk.is_before(end) && walk.is(Tag::implicit(number)) {
                unique_ids.push(walk.value(Tag::implicit(number)).in_part(Part::UniqueId)?);
            }
        }
        let mut extensions = None;
        let inner = walk.explicit(3).filter(|inner| inner.is(Tag::SEQUENCE));
        if let Some(mut inner) = inner.filter(|_| walk.is_before(end)) {
            extensions = Some(self::extensions(&mut inner).in_part(Part::Extensions)?);
            *walk = inner;
        }
        walk.close(end).in_part(Part::Tbs)?;
        Ok(Self {
            version,
            algorithm,
            validity,
            unique_ids,
            has_extensions: extensions.is_some(),
            extensions: extensions.unwrap_or_default(),
        })
    }

    /// The value of an extension (`_gnutls_x509_crt_get_extension`). A long identifier on the way to it is an error.
    fn extension(&self, wanted: &str) -> Result<Option<&'a [u8]>, Refusal> {
        match self.extensions.iter().find(|(text, _)| text == wanted || !fits(text)) {
            Some((text, _)) if !fits(text) => Err((Part::Extensions, Fault::TooLarge)),
            found => Ok(found.map(|&(_, value)| value)),
        }
    }

    /// `_gnutls_check_cert_sanity`.
    fn check(&self) -> Result<(), Refusal> {
        let version = match self.version {
            None => 1,
            Some(&[number @ 0..=0x7F]) => number + 1,
            Some(_) => return Err((Part::Version, Fault::Value)),
        };
        if version < 3 && self.has_extensions {
            return Err((Part::Version, Fault::Value));
        }
        let mut seen = HashSet::new();
        if !self.extensions.iter().all(|(text, _)| seen.insert(text)) {
            return Err((Part::Extensions, Fault::Repeated));
        }
        if version < 2 && self.unique_ids.iter().any(|bits| has_bits(bits)) {
            return Err((Part::Version, Fault::Value));
        }
        let times = self.validity.ok_or((Part::Validity, Fault::Structure))?;
        if times.iter().all(|&(tag, text)| is_instant(tag, text)) {
            Ok(())
        } else {
            Err((Part::Validity, Fault::Time))
        }
    }
}

/// Whether GnuTLS gets the value of a BIT STRING: there is a byte behind the number of unused bits, and not more bits
/// are unused than there are.
fn has_bits(content: &[u8]) -> bool {
    matches!(content, [unused, bytes @ ..] if !bytes.is_empty() && bytes.len() * 8 >= usize::from(*unused))
}

#[derive(Clone, Copy)]
struct Algorithm<'a> {
    identifier: Identifier<'a>,
    parameters: Option<&'a [u8]>,
}

impl<'a> Algorithm<'a> {
    /// NULL is as good as nothing (`compare_sig_algorithm`).
    fn parameters(&self) -> Option<&'a [u8]> {
        self.parameters.filter(|&parameters| parameters != [5, 0])
    }
}

/// AlgorithmIdentifier; `None` where it is empty.
fn algorithm<'a>(walk: &mut Walk<'a>) -> Result<Option<Algorithm<'a>>, Fault> {
    let Some(end) = walk.open(Tag::SEQUENCE)? else { return Ok(None) };
    let identifier = walk.identifier(Tag::OID)?;
    let parameters = if walk.is_before(end) { Some(walk.any()?) } else { None };
    walk.close(end)?;
    Ok(Some(Algorithm { identifier, parameters }))
}

/// SubjectPublicKeyInfo. The key itself is not looked at.
fn key(walk: &mut Walk<'_>) -> Result<(), Fault> {
    let Some(end) = walk.open(Tag::SEQUENCE)? else { return Ok(()) };
    algorithm(walk)?;
    walk.value(Tag::BIT_STRING)?;
    walk.close(end)
}

/// What stands in a name.
enum InName<'a> {
    /// A relative distinguished name begins.
    Rdn,
    /// An attribute, unless its SEQUENCE is empty: identifier, and value whole.
    Attribute(Option<(Identifier<'a>, &'a [u8])>),
}

/// RDNSequence, all of which is shown to `visit`.
fn rdn_sequence<'a>(walk: &mut Walk<'a>, visit: &mut dyn FnMut(InName<'a>)) -> Result<(), Fault> {
    let Some(end) = walk.open(Tag::SEQUENCE)? else { return Ok(()) };
    while walk.is_before(end) {
        visit(InName::Rdn);
        let Some(rdn_end) = walk.open(Tag::SET)? else { continue };
        while walk.is_before(rdn_end) {
            let Some(end) = walk.open(Tag::SEQUENCE)? else {
                visit(InName::Attribute(None));
                continue;
            };
            let identifier = walk.identifier(Tag::OID)?;
            let value = walk.any()?;
            walk.close(end)?;
            visit(InName::Attribute(Some((identifier, value))));
        }
        walk.close(rdn_end)?;
    }
    walk.close(end)
}

/// Tag and content of a time.
type Time<'a> = (Tag, &'a [u8]);

fn validity<'a>(walk: &mut Walk<'a>) -> Result<Option<[Time<'a>; 2]>, Fault> {
    let Some(end) = walk.open(Tag::SEQUENCE)? else { return Ok(None) };
    let times = [time(walk)?, time(walk)?];
    walk.close(end)?;
    Ok(Some(times))
}

/// A time: digits and Z, in GeneralizedTime one dot as well (`_asn1_get_time_der`).
fn time<'a>(walk: &mut Walk<'a>) -> Result<Time<'a>, Fault> {
    let tag = [Tag::UTC_TIME, Tag::GENERALIZED_TIME].into_iter().find(|&tag| walk.is(tag));
    let tag = tag.ok_or(Fault::Structure)?;
    let text = walk.value(tag)?;
    let dots = text.iter().filter(|&&byte| byte == b'.').count();
    let allowed = usize::from(tag == Tag::GENERALIZED_TIME);
    match text {
        [body @ .., b'Z']
            if (8..=127).contains(&text.len())
                && dots <= allowed
                && body.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') =>
        {
            Ok((tag, text))
        }
        _ => Err(Fault::Time),
    }
}

/// Whether `_gnutls_x509_get_time` (lib/x509/time.c) makes an instant of a time that the walk has let pass. Seconds may
/// be missing, every month has 31 days, a minute 61 seconds; before 1970 nothing is looked at.
fn is_instant(tag: Tag, text: &[u8]) -> bool {
    let is_utc = tag == Tag::UTC_TIME;
    let (shortest, year_digits) = if is_utc { (10, 2) } else { (12, 4) };
    if !(shortest..=62).contains(&text.len()) || text.contains(&b'.') {
        return false;
    }
    let (year, rest) = text.split_at(year_digits);
    let mut year = number(year);
    if is_utc {
        year += if year > 49 { 1900 } else { 2000 };
    }
    let field = |index: usize| rest.get(index * 2..index * 2 + 2).map_or(0, number);
    year < 1970
        || (1..=12).contains(&field(0))
            && (1..=31).contains(&field(1))
            && field(2) <= 23
            && field(3) <= 59
            && field(4) <= 60
}

/// The digits at the start (`atoi`). Four bytes at most.
fn number(text: &[u8]) -> u32 {
    text.iter()
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0, |number, byte| number * 10 + u32::from(byte - b'0'))
}

/// Extensions: those before the first that is empty.
fn extensions<'a>(walk: &mut Walk<'a>) -> Result<Vec<(String, &'a [u8])>, Fault> {
    let mut out = Vec::new();
    let Some(end) = walk.open(Tag::SEQUENCE)? else { return Ok(out) };
    let mut seen_empty = false;
    while walk.is_before(end) {
        let Some(end) = walk.open(Tag::SEQUENCE)? else {
            seen_empty = true;
            continue;
        };
        let identifier = walk.identifier(Tag::OID)?;
        if walk.is_before(end) && walk.is(Tag::BOOLEAN) {
            walk.boolean()?;
        }
        let value = walk.value(Tag::OCTET_STRING)?;
        walk.close(end)?;
        if !seen_empty {
            out.push((identifier.text(), value));
        }
    }
    walk.close(end)?;
    Ok(out)
}

/// The value of an extension with alternative names (`gnutls_x509_ext_import_subject_alt_names`).
fn general_names(value: &[u8]) -> Result<(), Fault> {
    let mut walk = Walk::new(value);
    if let Some(end) = walk.open(Tag::SEQUENCE)? {
        // Behind an empty directory name nothing is read any more, though all is decoded.
        let mut is_read = true;
        while walk.is_before(end) {
            let content = general_name(&mut walk)?;
            is_read &= content != Name::Last;
            if is_read && content == Name::Bad {
                return Err(Fault::Value);
            }
        }
        walk.close(end)?;
    }
    if walk.is_empty() { Ok(()) } else { Err(Fault::TrailingBytes) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Good,
    /// Well-formed, but not for GnuTLS.
    Bad,
    /// The list ends here for GnuTLS.
    Last,
}

/// GeneralName (`_gnutls_parse_general_name2`).
fn general_name(walk: &mut Walk<'_>) -> Result<Name, Fault> {
    let not = |bad| if bad { Name::Bad } else { Name::Good };
    if walk.is(Tag::explicit(0)) {
        let Some(end) = walk.open(Tag::explicit(0))? else { return Ok(Name::Bad) };
        walk.identifier(Tag::OID)?;
        *walk = walk.explicit(0).ok_or(Fault::Structure)?;
        walk.any()?;
        walk.close(end)?;
        return Ok(Name::Good);
    }
    for number in [1, 2, 6, 7] {
        if walk.is(Tag::implicit(number)) {
            return Ok(not(walk.value(Tag::implicit(number))?.is_empty()));
        }
    }
    // ANY under an implicit tag: the tag is taken away, and what follows is read as an element with a tag of its own.
    for number in [3, 5] {
        if walk.is(Tag::implicit(number)) {
            walk.expect(Tag::implicit(number))?;
            walk.any()?;
            return Ok(Name::Bad);
        }
    }
    if walk.is(Tag::implicit(8)) {
        walk.identifier(Tag::implicit(8))?;
        return Ok(Name::Good);
    }
    *walk = walk.explicit(4).ok_or(Fault::Structure)?;
    directory_name(walk)
}

/// Attributes that are read as `PKIX1.DirectoryString` (`_oid2str` of lib/x509/common.c).
const DIRECTORY_STRINGS: &[&str] = &[
    "1.3.6.1.5.5.7.9.2",
    "2.5.4.3",
    "2.5.4.4",
    "2.5.4.7",
    "2.5.4.8",
    "2.5.4.9",
    "2.5.4.10",
    "2.5.4.11",
    "2.5.4.12",
    "2.5.4.13",
    "2.5.4.15",
    "2.5.4.17",
    "2.5.4.41",
    "2.5.4.42",
    "2.5.4.43",
    "2.5.4.44",
    "2.5.4.65",
    "0.9.2342.19200300.100.1.1",
    "1.2.840.113556.1.4.656",
    "1.3.6.1.4.1.311.60.2.1.1",
    "1.3.6.1.4.1.311.60.2.1.2",
];

/// A directory name that GnuTLS makes a text of (`_gnutls_x509_get_dn`); that may fail, and must not be empty.
fn directory_name(walk: &mut Walk<'_>) -> Result<Name, Fault> {
    let (mut rdns, mut is_bad, mut has_text, mut is_read) = (0_usize, false, false, true);
    rdn_sequence(walk, &mut |what| {
        match what {
            InName::Rdn => {
                rdns += 1;
                is_read = true;
            }
            // The rest of this relative name is passed over.
            InName::Attribute(None) => is_read = false,
            InName::Attribute(Some((identifier, value))) if is_read => {
                let text = identifier.text();
                has_text = true;
                is_bad |= !fits(&text) || value.len() == 2 && DIRECTORY_STRINGS.contains(&text.as_str());
            }
            InName::Attribute(Some(_)) => {}
        }
    })?;
    Ok(match rdns {
        0 => Name::Last,
        _ if is_bad || !has_text => Name::Bad,
        _ => Name::Good,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::der::write_header;

    fn tlv(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
        let content = parts.concat();
        let mut out = Vec::new();
        write_header(tag, content.len(), &mut out);
        out.extend(content);
        out
    }

    /// Elements of a certificate that the tests change.
    struct Made {
        version: Vec<u8>,
        serial: Vec<u8>,
        inner: Vec<u8>,
        not_before: Vec<u8>,
        subject: Vec<u8>,
        key: Vec<u8>,
        unique_id: Vec<u8>,
        extensions: Vec<u8>,
        outer: Vec<u8>,
    }

    const ALGORITHM: &[u8] = b"\x30\x06\x06\x02\x2A\x03\x05\0";
    const NAME: &[u8] = b"\x30\x0C\x31\x0A\x30\x08\x06\x03\x55\x04\x03\x0C\x01x";
    const TIME: &[u8] = b"\x17\x0D260101000000Z";

    impl Made {
        fn new() -> Self {
            Self {
                version: b"\xA0\x03\x02\x01\x02".to_vec(),
                serial: b"\x02\x01\x01".to_vec(),
                inner: ALGORITHM.to_vec(),
                not_before: TIME.to_vec(),
                subject: NAME.to_vec(),
                key: tlv(0x30, &[ALGORITHM, b"\x03\x02\0a"]),
                unique_id: vec![],
                extensions: vec![],
                outer: ALGORITHM.to_vec(),
            }
        }

        fn der(&self) -> Vec<u8> {
            let validity = tlv(0x30, &[&self.not_before, TIME]);
            let before = [&self.version[..], &self.serial, &self.inner, NAME, &validity].concat();
            let behind = [&self.subject[..], &self.key, &self.unique_id, &self.extensions].concat();
            tlv(0x30, &[&tlv(0x30, &[&before, &behind]), &self.outer, b"\x03\x02\0a"])
        }
    }

    /// Holds certificates with one change each to what GnuTLS 3.7.9 does with them; the faults are ours.
    fn hold<T>(change: impl Fn(&mut Made, &T), table: &[(&str, T, Result<(), Refusal>)]) {
        for (name, what, expected) in table {
            let mut made = Made::new();
            change(&mut made, what);
            assert_eq!(certificate(&made.der()), *expected, "{name}");
        }
    }

    fn not(part: Part, fault: Fault) -> Result<(), Refusal> {
        Err((part, fault))
    }

    #[test]
    fn lengths_and_tags() {
        hold::<&[u8]>(
            |made, serial| made.serial = serial.to_vec(),
            &[
                ("plain", b"\x02\x01\x01", Ok(())),
                ("empty", b"\x02\0", Ok(())),
                ("padded", b"\x02\x02\0\x01", Ok(())),
                ("a length longer than needed", b"\x02\x82\0\x01\x01", Ok(())),
                ("a low tag written as a high one", b"\x1F\x02\x01\x01", Ok(())),
                ("another tag", b"\x0A\x01\x01", not(Part::Serial, Fault::Structure)),
                ("a length of no end", b"\x02\x80\0\0", not(Part::Serial, Fault::Length)),
                ("a length of too many bytes", b"\x02\x85\x01\0\0\0\0", not(Part::Serial, Fault::Length)),
            ],
        );
        let der = Made::new().der();
        assert_eq!(certificate(&der), Ok(()));
        assert_eq!(certificate(&[&der[..], b"\0"].concat()), not(Part::Outer, Fault::TrailingBytes));
        assert_eq!(certificate(b"\x30\0"), not(Part::Outer, Fault::Structure));
        assert_eq!(certificate(b""), not(Part::Outer, Fault::Structure));
    }

    #[test]
    fn empty_elements() {
        hold::<&[u8]>(
            |made, subject| made.subject = subject.to_vec(),
            &[
                ("no name", b"\x30\0", Ok(())),
                ("an empty set", b"\x30\x02\x31\0", Ok(())),
                ("an empty attribute", b"\x30\x04\x31\x02\x30\0", Ok(())),
                (
                    "a type alone",
                    b"\x30\x08\x31\x06\x30\x04\x06\x02\x2A\x03",
                    not(Part::Subject, Fault::Structure),
                ),
            ],
        );
        hold::<&[u8]>(
            |made, key| made.key = key.to_vec(),
            &[
                ("no key", b"\x30\0", Ok(())),
                ("no algorithm", b"\x30\x04\x30\0\x03\0", Ok(())),
                ("an algorithm alone", b"\x30\x02\x30\0", not(Part::Key, Fault::Structure)),
            ],
        );
    }

    #[test]
    fn versions() {
        let refused = not(Part::Version, Fault::Value);
        let extensions: &[u8] = b"\xA3\x0B\x30\x09\x30\x07\x06\x02\x2A\x03\x04\x01x";
        let (with, without): (&[u8], &[u8]) = (b"\x81\x02\0a", b"\x82\x01\0");
        hold::<(&[u8], &[u8], &[u8])>(
            |made, (version, unique_id, extensions)| {
                (made.version, made.unique_id) = (version.to_vec(), unique_id.to_vec());
                made.extensions = extensions.to_vec();
            },
            &[
                ("v1", (b"", b"", b""), Ok(())),
                ("v1 with an identifier", (b"", with, b""), refused),
                ("v1 with one without bits", (b"", without, b""), Ok(())),
                ("v1 with extensions", (b"", b"", extensions), refused),
                ("v1 with no extensions", (b"", b"", b"\xA3\x02\x30\0"), refused),
                ("v2 with an identifier", (b"\xA0\x03\x02\x01\x01", with, b""), Ok(())),
                ("v2 with extensions", (b"\xA0\x03\x02\x01\x01", b"", extensions), refused),
                ("v128", (b"\xA0\x03\x02\x01\x7F", with, extensions), Ok(())),
                ("a negative one", (b"\xA0\x03\x02\x01\xFF", b"", b""), refused),
                ("two bytes", (b"\xA0\x04\x02\x02\0\x02", b"", b""), refused),
                ("an explicit tag around nothing", (b"\xA0\0\x02\x01\x02", b"", extensions), Ok(())),
            ],
        );
    }

    #[test]
    fn algorithms() {
        hold::<(&[u8], &[u8])>(
            |made, (inner, outer)| {
                made.inner = tlv(0x30, &[inner]);
                made.outer = tlv(0x30, &[outer]);
            },
            &[
                ("NULL and nothing", (b"\x06\x02\x2A\x03\x05\0", b"\x06\x02\x2A\x03"), Ok(())),
                ("the same parameters", (b"\x06\x01\x2A\x04\0", b"\x06\x01\x2A\x04\0"), Ok(())),
                (
                    "other parameters",
                    (b"\x06\x01\x2A\x04\0", b"\x06\x01\x2A"),
                    not(Part::OuterAlgorithm, Fault::Differs),
                ),
                (
                    "other identifiers",
                    (b"\x06\x02\x2A\x03", b"\x06\x02\x2A\x04"),
                    not(Part::OuterAlgorithm, Fault::Differs),
                ),
                ("none", (b"", b""), not(Part::InnerAlgorithm, Fault::Structure)),
            ],
        );
    }

    #[test]
    fn identifiers() {
        let refused = not(Part::Subject, Fault::ObjectIdentifier);
        hold::<&[u8]>(
            |made, identifier| {
                let attribute = tlv(0x30, &[&tlv(6, &[identifier]), b"\x05\0"]);
                made.subject = tlv(0x30, &[&tlv(0x31, &[&attribute])]);
            },
            &[
                ("empty", b"", refused),
                ("leading zeros", b"\x2A\x80\x01", refused),
                ("no end", b"\x2A\x86", Ok(())),
                ("64 bits", b"\x2A\x81\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", Ok(())),
                ("65 bits", b"\x2A\x82\x80\x80\x80\x80\x80\x80\x80\x80\0", refused),
            ],
        );
        // As `gnutls_x509_crt_get_extension_oid` prints them.
        for (content, text) in [
            (&b"\x55\x1D\x11"[..], "2.5.29.17"),
            (b"\x2A\x86", "1.2"),
            (b"\x2A\x86\x01", "1.2.769"),
            (b"\xFF", "2.47"),
            (b"\x81", "0.1"),
            (b"\x81\0", "2.48"),
            (b"\x81\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F", "2.-81"),
        ] {
            let element = tlv(6, &[content]);
            let identifier = Walk::new(&element).identifier(Tag::OID).unwrap();
            assert_eq!(identifier.text(), text);
        }
    }

    fn extension(identifier: &[u8], value: &[u8]) -> Vec<u8> {
        tlv(0x30, &[&tlv(6, &[identifier]), &tlv(4, &[value])])
    }

    fn set_extensions(made: &mut Made, list: &[Vec<u8>]) {
        made.extensions = tlv(0xA3, &[&tlv(0x30, &[&list.concat()])]);
    }

    #[test]
    fn extensions() {
        let one = extension(b"\x2A\x03", b"x");
        let empty = b"\x30\0".to_vec();
        let long = |numbers: usize| extension(&[0x2A; 64][..numbers], b"");
        let names = |last: u8| extension(&[0x55, 0x1D, last], b"\x30\x03\x82\x01a");
        hold(
            |made, list: &Vec<Vec<u8>>| set_extensions(made, list),
            &[
                ("none", vec![], Ok(())),
                ("one", vec![one.clone()], Ok(())),
                ("twice", vec![one.clone(), one.clone()], not(Part::Extensions, Fault::Repeated)),
                ("twice behind an empty one", vec![empty, one.clone(), one.clone()], Ok(())),
                (
                    "twice, but for a number without an end",
                    vec![one, extension(b"\x2A\x03\x81", b"")],
                    not(Part::Extensions, Fault::Repeated),
                ),
                ("126 characters", vec![long(42)], Ok(())),
                ("129 characters", vec![long(43)], not(Part::Extensions, Fault::TooLarge)),
                (
                    "129 characters where nothing is looked for any more",
                    vec![names(0x11), names(0x12), long(43)],
                    Ok(()),
                ),
                (
                    "two that differ behind 127 characters",
                    vec![names(0x11), names(0x12), long(43), long(44)],
                    not(Part::Extensions, Fault::Repeated),
                ),
                (
                    "a value in pieces",
                    vec![b"\x30\x07\x06\x02\x2A\x03\x24\x01x".to_vec()],
                    not(Part::Extensions, Fault::Structure),
                ),
                (
                    "issuer names that are none",
                    vec![extension(b"\x55\x1D\x12", b"x")],
                    not(Part::ExtensionValue, Fault::Structure),
                ),
            ],
        );
    }

    #[test]
    fn alternative_names() {
        let refused = not(Part::ExtensionValue, Fault::Value);
        let structure = not(Part::ExtensionValue, Fault::Structure);
        let organization = |value: &[u8]| {
            let attribute = tlv(0x30, &[b"\x06\x03\x55\x04\x0A", value]);
            tlv(0xA4, &[&tlv(0x30, &[&tlv(0x31, &[&attribute])])])
        };
        hold(
            |made, names: &Vec<u8>| set_extensions(made, &[extension(b"\x55\x1D\x11", &tlv(0x30, &[names]))]),
            &[
                ("none", vec![], Ok(())),
                (
                    "a host, an address of one byte, an identifier",
                    b"\x82\x01a\x87\x01a\x88\x01\x2A".to_vec(),
                    Ok(()),
                ),
                ("an empty one", b"\x82\0".to_vec(), refused),
                ("another name", b"\xA0\x07\x06\x01\x2A\xA0\x02\x05\0".to_vec(), Ok(())),
                ("another name, empty", b"\xA0\0".to_vec(), refused),
                ("an X.400 address", b"\xA3\x02\x30\0".to_vec(), structure),
                ("one under a primitive tag", b"\x83\x01\0".to_vec(), refused),
                ("unknown", b"\x89\x01a".to_vec(), structure),
                ("an empty directory name, which ends the list", b"\xA4\x02\x30\0\x82\0".to_vec(), Ok(())),
                ("a directory name without text", b"\xA4\x04\x30\x02\x31\0".to_vec(), refused),
                ("an organization", organization(b"\x0C\x01x"), Ok(())),
                ("an organization that is a number", organization(b"\x02\x01x"), Ok(())),
                ("an empty organization", organization(b"\x0C\0"), refused),
            ],
        );
    }

    #[test]
    fn times() {
        let refused = not(Part::Validity, Fault::Time);
        hold(
            |made, (tag, text): &(u8, &str)| made.not_before = tlv(*tag, &[text.as_bytes()]),
            &[
                ("plain", (0x18, "20260101000000Z"), Ok(())),
                ("before 2050 or not", (0x18, "99991231235959Z"), Ok(())),
                ("no seconds", (0x17, "2601010000Z"), Ok(())),
                ("no minutes", (0x17, "26010100Z"), refused),
                ("no Z", (0x17, "260101000000"), refused),
                ("30 February", (0x17, "260230000000Z"), Ok(())),
                ("32 January", (0x17, "260132000000Z"), refused),
                ("second 60", (0x17, "260101000060Z"), Ok(())),
                ("second 61", (0x17, "260101000061Z"), refused),
                ("hour 24", (0x17, "260101240000Z"), refused),
                ("month 13", (0x17, "261301000000Z"), refused),
                ("month 13 of 1969", (0x17, "691301000000Z"), Ok(())),
                ("an offset", (0x18, "20260101000000+0100"), refused),
                ("a fraction", (0x18, "20260101000000.5Z"), refused),
                ("another type", (0x16, "260101000000Z"), not(Part::Validity, Fault::Structure)),
            ],
        );
    }

    #[test]
    fn no_bytes_are_a_panic() {
        let mut made = Made::new();
        made.unique_id = b"\x81\x02\0a\x82\x02\0b".to_vec();
        let names = b"\x30\x0D\xA0\x07\x06\x01\x2A\xA0\x02\x05\0\x83\x02\x05\0";
        set_extensions(&mut made, &[extension(b"\x55\x1D\x11", names)]);
        let der = made.der();
        for place in 0..der.len() {
            let _ = certificate(&der[place..]);
            let _ = certificate(&der[..place]);
            for byte in [0, 0x1F, 0x80, 0x84, 0xFF] {
                let mut changed = der.clone();
                changed[place] = byte;
                let _ = certificate(&changed);
            }
        }
    }
}
