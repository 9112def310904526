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
        if let Some((_, value)) = tbs.extensions.iter().find(|(text, _)| text == alternative_name) {
            general_names(value).in_part(Part::ExtensionValue)?;
        }
    }
    tbs.check()
}

/// What is looked at again after the walk.
struct Tbs<'a> {
    version: Option<&'a [u8]>,
    algorithm: Option<Algorithm<'a>>,
    /// notBefore and notAfter, tag and content; `None` where the SEQUENCE is empty.
    validity: Option<[(Tag, &'a [u8]); 2]>,
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

    /// `_gnutls_check_cert_sanity`, and what reading the extensions takes.
    fn check(&self) -> Result<(), Refusal> {
        if self.extensions.iter().any(|(text, _)| !fits(text)) {
            return Err((Part::Extensions, Fault::TooLarge));
        }
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

fn validity<'a>(walk: &mut Walk<'a>) -> Result<Option<[(Tag, &'a [u8]); 2]>, Fault> {
    let Some(end) = walk.open(Tag::SEQUENCE)? else { return Ok(None) };
    let times = [time(walk)?, time(walk)?];
    walk.close(end)?;
    Ok(Some(times))
}

/// A time: digits and Z, in GeneralizedTime one dot as well (`_asn1_get_time_der`).
fn time<'a>(walk: &mut Walk<'a>) -> Result<(Tag, &'a [u8]), Fault> {
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
