//! A certificate factory: enough DER to build any X.509 certificate, right or wrong, thousands a second.
//!
//! The signatures are none: loading a trust anchor does not look at its signature. The keys are sound, though nobody
//! has their private halves: Go refuses a whole certificate for a point off its curve, and `openssl verify` refuses
//! one whose key it cannot read. Every part of [`Certificate`] is finished DER, so that a test can put anything in
//! its place.

use sha2::{Digest, Sha256};

/// Tags, by the names that X.680 and OpenSSL give them.
pub mod tag {
    pub const BOOLEAN: u8 = 0x01;
    pub const INTEGER: u8 = 0x02;
    pub const BIT_STRING: u8 = 0x03;
    pub const OCTET_STRING: u8 = 0x04;
    pub const NULL: u8 = 0x05;
    pub const OID: u8 = 0x06;
    pub const UTF8_STRING: u8 = 0x0c;
    pub const NUMERIC_STRING: u8 = 0x12;
    pub const PRINTABLE_STRING: u8 = 0x13;
    pub const T61_STRING: u8 = 0x14;
    pub const IA5_STRING: u8 = 0x16;
    pub const UTC_TIME: u8 = 0x17;
    pub const GENERALIZED_TIME: u8 = 0x18;
    pub const VISIBLE_STRING: u8 = 0x1a;
    pub const UNIVERSAL_STRING: u8 = 0x1c;
    pub const BMP_STRING: u8 = 0x1e;
    pub const SEQUENCE: u8 = 0x30;
    pub const SET: u8 = 0x31;
}

/// Object identifiers, dotted.
pub mod oids {
    pub const COMMON_NAME: &str = "2.5.4.3";
    pub const SERIAL_NUMBER: &str = "2.5.4.5";
    pub const COUNTRY: &str = "2.5.4.6";
    pub const LOCALITY: &str = "2.5.4.7";
    pub const ORGANIZATION: &str = "2.5.4.10";
    pub const ORGANIZATIONAL_UNIT: &str = "2.5.4.11";
    pub const DOMAIN_COMPONENT: &str = "0.9.2342.19200300.100.1.25";
    pub const EMAIL: &str = "1.2.840.113549.1.9.1";
    pub const BASIC_CONSTRAINTS: &str = "2.5.29.19";
    pub const KEY_USAGE: &str = "2.5.29.15";
    pub const EXT_KEY_USAGE: &str = "2.5.29.37";
    pub const SUBJECT_KEY_ID: &str = "2.5.29.14";
    pub const AUTHORITY_KEY_ID: &str = "2.5.29.35";
    pub const SERVER_AUTH: &str = "1.3.6.1.5.5.7.3.1";
    pub const CLIENT_AUTH: &str = "1.3.6.1.5.5.7.3.2";
    pub const EMAIL_PROTECTION: &str = "1.3.6.1.5.5.7.3.4";
    pub const ECDSA_SHA256: &str = "1.2.840.10045.4.3.2";
    pub const RSA_MD5: &str = "1.2.840.113549.1.1.4";
    pub const RSA_SHA1: &str = "1.2.840.113549.1.1.5";
    pub const RSA_SHA256: &str = "1.2.840.113549.1.1.11";
    pub const RSA: &str = "1.2.840.113549.1.1.1";
    pub const EC: &str = "1.2.840.10045.2.1";
    pub const P256: &str = "1.2.840.10045.3.1.7";
    pub const ED25519: &str = "1.3.101.112";
}

/// Bits of the key usage extension, as [`key_usage`] takes them.
pub mod usage {
    pub const DIGITAL_SIGNATURE: u16 = 1 << 15;
    pub const KEY_CERT_SIGN: u16 = 1 << 10;
    pub const CRL_SIGN: u16 = 1 << 9;
}

// ---- Elements ------------------------------------------------------------------------------------------------

/// One element with the shortest length octets.
pub fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut der = vec![tag];
    let length = content.len();
    if length < 0x80 {
        der.push(length as u8);
    } else {
        let octets: Vec<u8> = length.to_be_bytes().into_iter().skip_while(|octet| *octet == 0).collect();
        der.push(0x80 | octets.len() as u8);
        der.extend(octets);
    }
    der.extend_from_slice(content);
    der
}

/// A SEQUENCE of finished elements.
pub fn sequence(elements: &[Vec<u8>]) -> Vec<u8> {
    tlv(tag::SEQUENCE, &elements.concat())
}

/// A SET of finished elements, in the order given: DER wants them sorted, and a test may want them otherwise.
pub fn set(elements: &[Vec<u8>]) -> Vec<u8> {
    tlv(tag::SET, &elements.concat())
}

/// `[number] EXPLICIT` around a finished element.
pub fn explicit(number: u8, element: &[u8]) -> Vec<u8> {
    tlv(0xa0 | number, element)
}

/// An INTEGER of exactly these octets: none, negative and overlong ones included.
pub fn integer(octets: &[u8]) -> Vec<u8> {
    tlv(tag::INTEGER, octets)
}

/// An OBJECT IDENTIFIER from its dotted form.
pub fn oid(dotted: &str) -> Vec<u8> {
    let arcs: Vec<u64> = dotted.split('.').map(|arc| arc.parse().expect("a dotted identifier")).collect();
    let mut content = Vec::new();
    let first = arcs[0] * 40 + arcs[1];
    for arc in std::iter::once(first).chain(arcs[2..].iter().copied()) {
        let groups = (1..=10).find(|groups| arc >> (7 * groups) == 0).expect("an arc of 64 bits");
        for group in (0..groups).rev() {
            let more = if group > 0 { 0x80 } else { 0 };
            content.push(more | (arc >> (7 * group)) as u8 & 0x7f);
        }
    }
    tlv(tag::OID, &content)
}

/// A BIT STRING of whole octets.
pub fn bit_string(octets: &[u8]) -> Vec<u8> {
    tlv(tag::BIT_STRING, &[&[0], octets].concat())
}

/// An OCTET STRING.
pub fn octet_string(octets: &[u8]) -> Vec<u8> {
    tlv(tag::OCTET_STRING, octets)
}

/// A BOOLEAN, as DER writes it.
pub fn boolean(value: bool) -> Vec<u8> {
    tlv(tag::BOOLEAN, &[if value { 0xff } else { 0 }])
}

/// An AlgorithmIdentifier with the given parameters (a finished element, or nothing).
pub fn algorithm(dotted: &str, parameters: &[u8]) -> Vec<u8> {
    sequence(&[oid(dotted), parameters.to_vec()])
}

/// A UTCTime, for instance `250101000000Z`. Taken as it is, so that a test may write a bad one.
pub fn utc_time(text: &str) -> Vec<u8> {
    tlv(tag::UTC_TIME, text.as_bytes())
}

/// A GeneralizedTime, for instance `20500101000000Z`. Taken as it is.
pub fn generalized_time(text: &str) -> Vec<u8> {
    tlv(tag::GENERALIZED_TIME, text.as_bytes())
}

// ---- Names ---------------------------------------------------------------------------------------------------

/// One attribute of a name: its type, the tag of its string, the octets of its string.
pub fn attribute(dotted: &str, string_tag: u8, octets: &[u8]) -> Vec<u8> {
    sequence(&[oid(dotted), tlv(string_tag, octets)])
}

/// A name of relative distinguished names, each of one or several attributes.
pub fn name(rdns: &[Vec<Vec<u8>>]) -> Vec<u8> {
    let sets: Vec<Vec<u8>> = rdns.iter().map(|attributes| set(attributes)).collect();
    sequence(&sets)
}

/// The name of one common name, a UTF8String.
pub fn common_name(text: &str) -> Vec<u8> {
    name(&[vec![attribute(oids::COMMON_NAME, tag::UTF8_STRING, text.as_bytes())]])
}

// ---- Keys ----------------------------------------------------------------------------------------------------

/// As many octets as wanted, the same ones for the same seed.
fn octets(purpose: &str, seed: u64, length: usize) -> Vec<u8> {
    let mut octets = Vec::with_capacity(length + 32);
    let mut counter = 0u32;
    while octets.len() < length {
        octets.extend(Sha256::digest(format!("{purpose} {seed} {counter}")));
        counter += 1;
    }
    octets.truncate(length);
    octets
}

/// A SubjectPublicKeyInfo for P-256. Takes about a quarter of a millisecond in a debug build: for tens of thousands of
/// certificates take [`spki_ed25519`].
pub fn spki_p256(seed: u64) -> Vec<u8> {
    let point = p256::point(|attempt| octets("P-256", seed, 32 * (attempt + 1))[32 * attempt..].to_vec());
    sequence(&[algorithm(oids::EC, &oid(oids::P256)), bit_string(&point)])
}

/// A SubjectPublicKeyInfo for Ed25519: any 32 octets are one, for OpenSSL, GnuTLS and Go.
pub fn spki_ed25519(seed: u64) -> Vec<u8> {
    sequence(&[algorithm(oids::ED25519, &[]), bit_string(&octets("Ed25519", seed, 32))])
}

/// A SubjectPublicKeyInfo for RSA of exactly `bits` bits (a multiple of 8), exponent 65537. The modulus is odd,
/// and no product of two primes.
pub fn spki_rsa(seed: u64, bits: usize) -> Vec<u8> {
    assert!(bits >= 16 && bits.is_multiple_of(8), "RSA keys are made of whole octets");
    let mut modulus = octets("RSA", seed, bits / 8);
    modulus[0] |= 0x80;
    *modulus.last_mut().expect("two octets at least") |= 1;
    // The leading zero keeps the number positive.
    let key = sequence(&[integer(&[vec![0], modulus].concat()), integer(&[0x01, 0x00, 0x01])]);
    sequence(&[algorithm(oids::RSA, &tlv(tag::NULL, &[])), bit_string(&key)])
}

// ---- Extensions ----------------------------------------------------------------------------------------------

/// An extension around a finished value.
pub fn extension(dotted: &str, critical: bool, value: &[u8]) -> Vec<u8> {
    let flag = if critical { boolean(true) } else { Vec::new() };
    sequence(&[oid(dotted), flag, octet_string(value)])
}

/// Basic constraints, critical. `ca: false` is the empty SEQUENCE, as DER leaves out the default.
pub fn basic_constraints(ca: bool, path_length: Option<u8>) -> Vec<u8> {
    let flag = if ca { boolean(true) } else { Vec::new() };
    let length = path_length.map_or_else(Vec::new, |length| integer(&[length]));
    extension(oids::BASIC_CONSTRAINTS, true, &sequence(&[flag, length]))
}

/// Key usage, critical, from the bits of [`usage`].
pub fn key_usage(bits: u16) -> Vec<u8> {
    // A named bit list: no trailing zero bits, and so no trailing zero octets.
    let mut content = bits.to_be_bytes().to_vec();
    while content.last() == Some(&0) {
        content.pop();
    }
    let unused = content.last().map_or(0, |octet| octet.trailing_zeros() as u8);
    content.insert(0, unused);
    extension(oids::KEY_USAGE, true, &tlv(tag::BIT_STRING, &content))
}

/// Extended key usage of these purposes.
pub fn ext_key_usage(purposes: &[&str]) -> Vec<u8> {
    let purposes: Vec<Vec<u8>> = purposes.iter().map(|purpose| oid(purpose)).collect();
    extension(oids::EXT_KEY_USAGE, false, &sequence(&purposes))
}

/// Subject key identifier.
pub fn subject_key_id(octets: &[u8]) -> Vec<u8> {
    extension(oids::SUBJECT_KEY_ID, false, &octet_string(octets))
}

// ---- Certificates --------------------------------------------------------------------------------------------

/// The parts of a certificate. Each is DER, or left out where it is empty.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// `[0] INTEGER`; empty for a certificate of version 1.
    pub version: Vec<u8>,
    /// The INTEGER of the serial number.
    pub serial: Vec<u8>,
    /// The AlgorithmIdentifier, which stands in the signed part and beside the signature.
    pub signature_algorithm: Vec<u8>,
    pub issuer: Vec<u8>,
    /// A time; see [`utc_time`] and [`generalized_time`].
    pub not_before: Vec<u8>,
    /// A time.
    pub not_after: Vec<u8>,
    pub subject: Vec<u8>,
    pub spki: Vec<u8>,
    pub extensions: Vec<Vec<u8>>,
    /// The octets of the signature: never a true one.
    pub signature: Vec<u8>,
}

impl Certificate {
    /// A self-issued CA certificate, valid from 2020 to 2045. Another seed gives another key and serial number;
    /// equal arguments give equal octets.
    pub fn root(common_name: &str, seed: u64) -> Self {
        let name = self::common_name(common_name);
        Self {
            version: explicit(0, &integer(&[2])),
            // One octet before the seed keeps the number positive and its length fixed.
            serial: integer(&[&[0x01], &seed.to_be_bytes()[..]].concat()),
            signature_algorithm: algorithm(oids::ECDSA_SHA256, &[]),
            issuer: name.clone(),
            not_before: utc_time("200101000000Z"),
            not_after: utc_time("450101000000Z"),
            subject: name,
            spki: spki_p256(seed),
            extensions: vec![
                basic_constraints(true, None),
                key_usage(usage::KEY_CERT_SIGN | usage::CRL_SIGN),
            ],
            signature: sequence(&[integer(&[1]), integer(&[1])]),
        }
    }

    /// A certificate that is not a CA, issued by `issuer`.
    pub fn leaf(common_name: &str, issuer: &Self, seed: u64) -> Self {
        let mut leaf = Self::root(common_name, seed);
        leaf.issuer = issuer.subject.clone();
        leaf.extensions = vec![basic_constraints(false, None), key_usage(usage::DIGITAL_SIGNATURE)];
        leaf
    }

    /// A CA certificate issued by `issuer`.
    pub fn intermediate(common_name: &str, issuer: &Self, seed: u64) -> Self {
        let mut intermediate = Self::root(common_name, seed);
        intermediate.issuer = issuer.subject.clone();
        intermediate
    }

    /// The same with other days; see [`utc_time`].
    pub fn valid(mut self, not_before: &str, not_after: &str) -> Self {
        self.not_before = utc_time(not_before);
        self.not_after = utc_time(not_after);
        self
    }

    /// The certificate.
    pub fn der(&self) -> Vec<u8> {
        let mut signed = vec![
            self.version.clone(),
            self.serial.clone(),
            self.signature_algorithm.clone(),
            self.issuer.clone(),
            sequence(&[self.not_before.clone(), self.not_after.clone()]),
            self.subject.clone(),
            self.spki.clone(),
        ];
        if !self.extensions.is_empty() {
            signed.push(explicit(3, &sequence(&self.extensions)));
        }
        sequence(&[sequence(&signed), self.signature_algorithm.clone(), bit_string(&self.signature)])
    }

    /// The certificate as a PEM block.
    pub fn pem(&self) -> String {
        pem("CERTIFICATE", &self.der())
    }

    /// The certificate as OpenSSL's TRUSTED CERTIFICATE, with the purposes that it trusts and rejects.
    /// An empty list is left out.
    pub fn trusted_pem(&self, trust: &[&str], reject: &[&str]) -> String {
        let list =
            |purposes: &[&str]| purposes.iter().map(|purpose| oid(purpose)).collect::<Vec<_>>().concat();
        let mut attributes = Vec::new();
        if !trust.is_empty() {
            attributes.push(tlv(tag::SEQUENCE, &list(trust)));
        }
        if !reject.is_empty() {
            attributes.push(tlv(0xa0, &list(reject)));
        }
        pem("TRUSTED CERTIFICATE", &[self.der(), sequence(&attributes)].concat())
    }
}

/// A PEM block: 64 columns, LF.
pub fn pem(label: &str, der: &[u8]) -> String {
    use base64::Engine as _;
    let body = base64::engine::general_purpose::STANDARD.encode(der);
    let mut text = format!("-----BEGIN {label}-----\n");
    for line in body.as_bytes().chunks(64) {
        text.push_str(std::str::from_utf8(line).expect("base64 is ASCII"));
        text.push('\n');
    }
    text.push_str(&format!("-----END {label}-----\n"));
    text
}

/// Points on the curve P-256: y^2 = x^3 - 3x + b over the field of p elements. About half of all x have a y.
mod p256 {
    /// A number below p, four limbs, the lowest first.
    type Number = [u64; 4];

    const P: Number = [0xffff_ffff_ffff_ffff, 0x0000_0000_ffff_ffff, 0, 0xffff_ffff_0000_0001];
    const B: Number =
        [0x3bce_3c3e_27d2_604b, 0x651d_06b0_cc53_b0f6, 0xb3eb_bd55_7698_86bc, 0x5ac6_35d8_aa3a_93e7];
    /// 2^512 modulo p: takes a number into Montgomery form.
    const R_SQUARED: Number = [3, 0xffff_fffb_ffff_ffff, 0xffff_ffff_ffff_fffe, 0x0000_0004_ffff_fffd];

    /// The uncompressed point of the first attempt whose 32 octets are the x of one.
    pub fn point(x_octets: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
        for attempt in 0.. {
            let octets = x_octets(attempt);
            let x = from_octets(&octets);
            if !less(&x, &P) {
                continue;
            }
            let x = multiply(&x, &R_SQUARED);
            let cube = multiply(&multiply(&x, &x), &x);
            let line = subtract(&multiply(&B, &R_SQUARED), &add(&add(&x, &x), &x));
            let square = add(&cube, &line);
            let y = root(&square);
            if multiply(&y, &y) == square {
                let y = multiply(&y, &[1, 0, 0, 0]);
                return [vec![0x04], octets, to_octets(&y)].concat();
            }
        }
        unreachable!("half of all attempts are points")
    }

    fn from_octets(octets: &[u8]) -> Number {
        std::array::from_fn(|limb| {
            let start = 8 * (3 - limb);
            octets[start..start + 8].iter().fold(0, |number, octet| number << 8 | u64::from(*octet))
        })
    }

    fn to_octets(number: &Number) -> Vec<u8> {
        number.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect()
    }

    fn less(a: &Number, b: &Number) -> bool {
        a.iter().rev().lt(b.iter().rev())
    }

    /// `a - b` modulo 2^256, and whether it went below zero.
    fn difference(a: &Number, b: &Number) -> (Number, bool) {
        let mut borrow = false;
        let limbs = std::array::from_fn(|limb| {
            let (rest, under) = a[limb].overflowing_sub(b[limb]);
            let (rest, under_again) = rest.overflowing_sub(u64::from(borrow));
            borrow = under || under_again;
            rest
        });
        (limbs, borrow)
    }

    fn subtract(a: &Number, b: &Number) -> Number {
        match difference(a, b) {
            (rest, false) => rest,
            // Below zero: p comes back on top, and the carry out of it cancels the borrow.
            (rest, true) => sum(&rest, &P).0,
        }
    }

    fn sum(a: &Number, b: &Number) -> (Number, bool) {
        let mut carry = false;
        let limbs = std::array::from_fn(|limb| {
            let (total, over) = a[limb].overflowing_add(b[limb]);
            let (total, over_again) = total.overflowing_add(u64::from(carry));
            carry = over || over_again;
            total
        });
        (limbs, carry)
    }

    fn add(a: &Number, b: &Number) -> Number {
        let (total, over) = sum(a, b);
        match difference(&total, &P) {
            (_, true) if !over => total,
            (rest, _) => rest,
        }
    }

    /// The Montgomery product: `a * b / 2^256` modulo p. Since p is -1 modulo 2^64, the multiple of p that clears the
    /// lowest limb is that limb itself.
    fn multiply(a: &Number, b: &Number) -> Number {
        let mut total = [0u64; 6];
        let mut limb = 0;
        while limb < 4 {
            multiply_add(&mut total, a[limb], b);
            let lowest = total[0];
            multiply_add(&mut total, lowest, &P);
            total = [total[1], total[2], total[3], total[4], total[5], 0];
            limb += 1;
        }
        let number = [total[0], total[1], total[2], total[3]];
        match difference(&number, &P) {
            (_, true) if total[4] == 0 => number,
            (rest, _) => rest,
        }
    }

    /// `total += factor * number`; the two limbs above take the carry. Index loops and wrapping operations (nothing
    /// can overflow) make a debug build several times faster here.
    fn multiply_add(total: &mut [u64; 6], factor: u64, number: &Number) {
        let mut carry = 0u128;
        let mut limb = 0;
        while limb < 4 {
            let product = u128::from(factor).wrapping_mul(u128::from(number[limb]));
            carry = carry.wrapping_add(product).wrapping_add(u128::from(total[limb]));
            total[limb] = carry as u64;
            carry >>= 64;
            limb += 1;
        }
        carry = carry.wrapping_add(u128::from(total[4]));
        total[4] = carry as u64;
        total[5] += (carry >> 64) as u64;
    }

    /// The square root, if there is one: the power (p + 1) / 4, which is 2^254 - 2^222 + 2^190 + 2^94.
    fn root(square: &Number) -> Number {
        let mut root = *square;
        for bit in (0..253).rev() {
            root = multiply(&root, &root);
            if bit >= 222 || bit == 190 || bit == 94 {
                root = multiply(&root, square);
            }
        }
        root
    }
}
