//! Algorithm identifiers and public keys: `sun.security.x509.AlgorithmId` and `X509Key.parse`, and the key factories
//! of the providers that come with Java. An algorithm that none of them knows is no fault. The parameters of ciphers,
//! which Java would read where a certificate named one, are not looked at.

use super::element::{Element, Input};
use crate::der::tag;
use crate::readers::reading::Fault;

/// The content of an OBJECT IDENTIFIER and its parameters, which are `None` for NULL as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Algorithm {
    identifier: Vec<u8>,
    parameters: Option<Vec<u8>>,
}

/// What Java has code for (`sun.security.util.KnownOIDs`): there, several identifiers lead to one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Rsa,
    Pss,
    Dsa,
    Dh,
    Ec,
    /// Edwards and Montgomery curves, with the bytes of their keys.
    Fixed(usize),
    /// RSA for encryption alone: its parameters are read, its keys are not.
    Oaep,
    Other,
}

fn kind(identifier: &[u8]) -> Kind {
    match identifier {
        // 1.2.840.113549.1.1.1, 1.2.840.113549.1.1, 2.5.8.1.1
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1] | [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1] => {
            Kind::Rsa
        }
        [0x55, 8, 1, 1] => Kind::Rsa,
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 10] => Kind::Pss,
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 7] => Kind::Oaep,
        // 1.2.840.10040.4.1, 1.3.14.3.2.12
        [0x2A, 0x86, 0x48, 0xCE, 0x38, 4, 1] | [0x2B, 14, 3, 2, 12] => Kind::Dsa,
        // 1.2.840.113549.1.3.1, 1.2.840.10046.2.1
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 3, 1] | [0x2A, 0x86, 0x48, 0xCE, 0x3E, 2, 1] => Kind::Dh,
        // 1.2.840.10045.2.1
        [0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1] => Kind::Ec,
        [0x2B, 101, 110 | 112] => Kind::Fixed(32),
        [0x2B, 101, 111] => Kind::Fixed(56),
        [0x2B, 101, 113] => Kind::Fixed(57),
        _ => Kind::Other,
    }
}

/// `AlgorithmId.parse`, `decodeParams`.
pub(super) fn algorithm(element: &Element<'_>) -> Result<Algorithm, Fault> {
    let mut inside = element.sequence()?;
    let identifier = inside.identifier()?.into_owned();
    let mut parameters = None;
    if !inside.is_empty() {
        let element = inside.any()?;
        if !inside.is_empty() {
            return Err(Fault::TrailingBytes);
        }
        match element.tag {
            NULL if element.content.is_empty() => {}
            NULL => return Err(Fault::Value),
            _ => {
                // `AlgorithmParameters.init`; no parameters of RSA keys are known.
                let element = element.alone();
                match kind(&identifier) {
                    Kind::Ec => drop(curve(&element)?),
                    Kind::Pss => pss(&element)?,
                    Kind::Oaep => oaep(&element)?,
                    Kind::Dsa => numbers(&element, 3, 3)?,
                    Kind::Dh => numbers(&element, 2, 3)?,
                    _ => {}
                }
                parameters = Some(element.encoded());
            }
        }
    }
    Ok(Algorithm { identifier, parameters })
}

const NULL: u8 = 5;

/// `DSAParameters`, `DHParameters`: so many INTEGERs, of which a third one of Diffie-Hellman has 32 bits.
fn numbers(element: &Element<'_>, least: usize, most: usize) -> Result<(), Fault> {
    let numbers = element.sequence()?.all()?;
    if !(least..=most).contains(&numbers.len()) {
        return Err(Fault::Structure);
    }
    for number in &numbers {
        number.integer()?;
    }
    match &numbers[..] {
        [_, _, length] if least == 2 => length.small_integer().map(drop),
        _ => Ok(()),
    }
}

/// MGF1 with SHA-1 or one of the first so many hash functions of 2.16.840.1.101.3.4.2.
fn mask(element: &Element<'_>, hashes: u8) -> Result<(), Fault> {
    let (identifier, parameters) = plain_algorithm(element)?;
    let hash = parameters.ok_or(Fault::Structure)?;
    let (hash, _) = plain_algorithm(&hash.alone())?;
    let is_known = match &hash[..] {
        [0x2B, 14, 3, 2, 26] => true,
        [0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, number] => (1..=hashes).contains(number),
        _ => false,
    };
    if identifier == MGF1 && is_known { Ok(()) } else { Err(Fault::Value) }
}

/// 1.2.840.113549.1.1.8
const MGF1: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 8];

/// `PSSParameters.engineInit`.
fn pss(element: &Element<'_>) -> Result<(), Fault> {
    for field in element.sequence()?.all()? {
        if field.tag & 0xC0 != 0x80 {
            return Err(Fault::Structure);
        }
        let value = field.inside().any()?;
        match field.tag & 0x1F {
            0 => drop(plain_algorithm(&value)?),
            1 => mask(&value, 10)?,
            2 if value.small_integer()? < 0 => return Err(Fault::Value),
            2 => {}
            3 if value.small_integer()? != 1 => return Err(Fault::Value),
            3 => {}
            _ => return Err(Fault::Structure),
        }
    }
    Ok(())
}

/// 1.2.840.113549.1.1.9
const LABEL: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 9];

/// `OAEPParameters.engineInit`.
fn oaep(element: &Element<'_>) -> Result<(), Fault> {
    for field in element.sequence()?.all()? {
        if field.tag & 0xC0 != 0x80 {
            return Err(Fault::Structure);
        }
        let value = field.inside().any()?;
        match field.tag & 0x1F {
            0 => drop(plain_algorithm(&value)?),
            1 => mask(&value, 6)?,
            2 => {
                let (identifier, parameters) = plain_algorithm(&value)?;
                let label = parameters.ok_or(Fault::Structure)?;
                if identifier != LABEL || label.tag != tag::OCTET_STRING {
                    return Err(Fault::Value);
                }
            }
            _ => return Err(Fault::Structure),
        }
    }
    Ok(())
}

/// An algorithm in the parameters of another one. Its own are not followed: they could go on for ever.
fn plain_algorithm(element: &Element<'_>) -> Result<(Vec<u8>, Option<Element<'static>>), Fault> {
    let mut inside = element.sequence()?;
    let identifier = inside.identifier()?.into_owned();
    if inside.is_empty() {
        return Ok((identifier, None));
    }
    let parameters = inside.any()?;
    let parameters = parameters.into_owned();
    match parameters.tag {
        _ if !inside.is_empty() => Err(Fault::TrailingBytes),
        NULL if !parameters.content.is_empty() => Err(Fault::Value),
        NULL => Ok((identifier, None)),
        _ => Ok((identifier, Some(parameters))),
    }
}

/// The bits of a coordinate of a named curve (`ECParameters.engineInit`, `CurveDB`).
fn curve(element: &Element<'_>) -> Result<usize, Fault> {
    // Parameters that spell the curve out are not read.
    if element.tag != tag::OID {
        return Err(Fault::Value);
    }
    super::element::identifier(&element.content)?;
    let bits = match &*element.content {
        // 1.2.840.10045.3.0
        [0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 0, number] => match number {
            1..=3 => 163,
            4 => 176,
            5..=7 => 191,
            10 => 208,
            11..=13 => 239,
            16 => 272,
            17 => 304,
            18 => 359,
            19 => 368,
            20 => 431,
            _ => 0,
        },
        // 1.2.840.10045.3.1
        [0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, number] => match number {
            1..=3 => 192,
            4..=6 => 239,
            7 => 256,
            _ => 0,
        },
        // 1.3.132.0
        [0x2B, 0x81, 4, 0, number] => match number {
            1 | 2 | 15 => 163,
            3 => 239,
            4 | 5 => 113,
            6 | 7 => 112,
            8 | 9 | 30 => 160,
            10 => 256,
            16 | 17 => 283,
            22 | 23 => 131,
            24 | 25 => 193,
            26 | 27 => 233,
            28 | 29 => 128,
            31 => 192,
            32 | 33 => 224,
            34 => 384,
            35 => 521,
            36 | 37 => 409,
            38 | 39 => 571,
            _ => 0,
        },
        // 1.3.36.3.3.2.8.1.1
        [0x2B, 0x24, 3, 3, 2, 8, 1, 1, number] => match number {
            1 => 160,
            3 => 192,
            5 => 224,
            7 => 256,
            9 => 320,
            11 => 384,
            13 => 512,
            _ => 0,
        },
        _ => 0,
    };
    if bits > 0 { Ok(bits) } else { Err(Fault::Unknown) }
}

/// `X509Key.parse`, and what the key factory of the algorithm makes of the bits.
pub(super) fn check(element: &Element<'_>) -> Result<(), Fault> {
    let mut inside = element.sequence()?;
    let algorithm = algorithm(&inside.any()?)?;
    let value = inside.any()?;
    let (bytes, unused) = value.bits()?;
    let mut bytes = bytes.to_vec();
    // Bits that are not used are cleared (`BitArray`).
    if let Some(last) = bytes.last_mut() {
        *last &= 0xFF << unused;
    }
    match kind(&algorithm.identifier) {
        Kind::Rsa | Kind::Pss => rsa(&bytes)?,
        // The number is read, what is behind it is not.
        Kind::Dsa => Input::new(&bytes).any()?.integer().map(drop)?,
        Kind::Dh if algorithm.parameters.is_none() => return Err(Fault::Structure),
        Kind::Dh => Input::new(&bytes).any()?.integer().map(drop)?,
        Kind::Ec => {
            let parameters = algorithm.parameters.ok_or(Fault::Structure)?;
            point(&bytes, curve(&Input::new(&parameters).any()?)?)?;
        }
        Kind::Fixed(size) if size != bytes.len() || unused != 0 => return Err(Fault::Value),
        Kind::Fixed(_) | Kind::Oaep | Kind::Other => {}
    }
    if inside.is_empty() { Ok(()) } else { Err(Fault::TrailingBytes) }
}

/// `ECUtil.decodePoint`: an uncompressed point. Whether it is one of the curve nobody asks, and a byte too many is
/// rounded away.
fn point(bytes: &[u8], bits: usize) -> Result<(), Fault> {
    match bytes {
        [4, coordinates @ ..] if coordinates.len() / 2 == bits.div_ceil(8) => Ok(()),
        _ => Err(Fault::Value),
    }
}

/// `RSAPublicKeyImpl`: modulus and exponent, taken for positive whatever their sign, of bearable size
/// (`RSAKeyFactory.checkKeyLengths`).
fn rsa(bytes: &[u8]) -> Result<(), Fault> {
    let mut input = Input::new(bytes);
    let whole = input.any()?;
    if !input.is_empty() {
        return Err(Fault::TrailingBytes);
    }
    let mut inside = whole.sequence()?;
    let (modulus, exponent) = (inside.any()?, inside.any()?);
    if !inside.is_empty() {
        return Err(Fault::TrailingBytes);
    }
    let (modulus, exponent) = (magnitude(modulus.integer()?), magnitude(exponent.integer()?));
    let size = modulus.len() * 8;
    if size < 512 {
        return Err(Fault::Value);
    }
    if size > 16384 || size > 3072 && bit_length(exponent) > 64 {
        return Err(Fault::TooLarge);
    }
    let too_small = matches!(exponent, [] | [0..=2]);
    let too_large = (exponent.len(), exponent) >= (modulus.len(), modulus);
    if too_small || too_large { Err(Fault::Value) } else { Ok(()) }
}

/// A number without zeros at its front.
fn magnitude(content: &[u8]) -> &[u8] {
    let zeros = content.iter().take_while(|byte| **byte == 0).count();
    content.get(zeros..).unwrap_or_default()
}

fn bit_length(magnitude: &[u8]) -> usize {
    magnitude.first().map_or(0, |first| magnitude.len() * 8 - first.leading_zeros() as usize)
}
