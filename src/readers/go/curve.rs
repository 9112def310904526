//! Whether a point lies on one of the elliptic curves that `crypto/elliptic` has. Go refuses a certificate whose key is
//! no point of its curve, so the answer is needed; it is arithmetic of a few lines, and nothing here is secret.

/// 576 bits, the lowest first: P-521 needs 521 and one more while it adds.
type Number = [u64; 9];

/// y² = x³ − 3x + b over the numbers modulo p (FIPS 186-4, D.1.2).
pub(super) struct Curve {
    /// Bytes of a coordinate.
    size: usize,
    p: &'static str,
    b: &'static str,
}

/// The curves by the OBJECT IDENTIFIER of their name, its first two numbers in one (`namedCurveFromOID`).
const CURVES: &[(&[u32], Curve)] = &[
    (
        &[43, 132, 0, 33],
        Curve {
            size: 28,
            p: "ffffffffffffffffffffffffffffffff000000000000000000000001",
            b: "b4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4",
        },
    ),
    (
        &[42, 840, 10045, 3, 1, 7],
        Curve {
            size: 32,
            p: "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff",
            b: "5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604b",
        },
    ),
    (
        &[43, 132, 0, 34],
        Curve {
            size: 48,
            p: "fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeffffffff0000000000000000ffffffff",
            b: "b3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aef",
        },
    ),
    (
        &[43, 132, 0, 35],
        Curve {
            size: 66,
            p: "1ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            b: "51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00",
        },
    ),
];

/// The curve of this name.
pub(super) fn named(identifier: &[u32]) -> Option<&'static Curve> {
    CURVES.iter().find(|(name, _)| *name == identifier).map(|(_, curve)| curve)
}

impl Curve {
    /// Whether these bytes are a point of the curve in its uncompressed form, the only one that Go reads.
    pub(super) fn has(&self, point: &[u8]) -> bool {
        let Some((4, coordinates)) = point.split_first() else { return false };
        if coordinates.len() != 2 * self.size {
            return false;
        }
        let (x, y) = coordinates.split_at(self.size);
        let (x, y, p, b) = (from_bytes(x), from_bytes(y), from_hex(self.p), from_hex(self.b));
        if !is_less(&x, &p) || !is_less(&y, &p) {
            return false;
        }
        let minus_three = subtract(&p, &from_hex("3"));
        let square = multiply(&x, &x, &p);
        let right = add(&multiply(&add(&square, &minus_three, &p), &x, &p), &b, &p);
        multiply(&y, &y, &p) == right
    }
}

fn from_bytes(bytes: &[u8]) -> Number {
    let mut out = Number::default();
    for (limb, chunk) in out.iter_mut().zip(bytes.rchunks(8)) {
        *limb = chunk.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
    }
    out
}

fn from_hex(digits: &str) -> Number {
    let mut out = Number::default();
    for (limb, chunk) in out.iter_mut().zip(digits.as_bytes().rchunks(16)) {
        let digit = |byte: &u8| char::from(*byte).to_digit(16).map_or(0, u64::from);
        *limb = chunk.iter().fold(0, |value, byte| value << 4 | digit(byte));
    }
    out
}

fn is_less(one: &Number, other: &Number) -> bool {
    one.iter().rev().lt(other.iter().rev())
}

/// `one - other`, where that is not below zero.
fn subtract(one: &Number, other: &Number) -> Number {
    let mut out = Number::default();
    let mut borrow = false;
    for (out, (a, b)) in out.iter_mut().zip(one.iter().zip(other)) {
        let (difference, first) = a.overflowing_sub(*b);
        let (difference, second) = difference.overflowing_sub(u64::from(borrow));
        (*out, borrow) = (difference, first || second);
    }
    out
}

/// `one + other` modulo `p`, both below it.
fn add(one: &Number, other: &Number, p: &Number) -> Number {
    let mut sum = Number::default();
    let mut carry = false;
    for (sum, (a, b)) in sum.iter_mut().zip(one.iter().zip(other)) {
        let (total, first) = a.overflowing_add(*b);
        let (total, second) = total.overflowing_add(u64::from(carry));
        (*sum, carry) = (total, first || second);
    }
    if is_less(&sum, p) { sum } else { subtract(&sum, p) }
}

/// `one · other` modulo `p`, both below it: doubles and adds, bit by bit.
fn multiply(one: &Number, other: &Number, p: &Number) -> Number {
    let mut out = Number::default();
    for limb in one.iter().rev() {
        for bit in (0..u64::BITS).rev() {
            out = add(&out, &out, p);
            if limb >> bit & 1 == 1 {
                out = add(&out, other, p);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The generators of FIPS 186-4, D.1.2.
    const GENERATORS: &[(&[u32], &str)] = &[
        (
            &[43, 132, 0, 33],
            "b70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21\
             bd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34",
        ),
        (
            &[42, 840, 10045, 3, 1, 7],
            "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296\
             4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5",
        ),
        (
            &[43, 132, 0, 34],
            "aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7\
             3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f",
        ),
        (
            &[43, 132, 0, 35],
            "00c6858e06b70404e9cd9e3ecb662395b4429c648139053fb521f828af606b4d3dbaa14b5e77efe75928fe1dc127a2ff\
             a8de3348b3c1856a429bf97e7e31c2e5bd66\
             011839296a789a3bc0045c8a5fb42c7d1bd998f54449579b446817afbd17273e662c97ee72995ef42640c550b9013fad\
             0761353c7086a272c24088be94769fd16650",
        ),
    ];

    #[test]
    fn generators_are_points_and_their_neighbours_are_not() {
        for (name, digits) in GENERATORS {
            let curve = named(name).unwrap();
            let mut point = vec![4];
            for pair in digits.as_bytes().chunks(2) {
                point.push(u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap());
            }
            assert!(curve.has(&point), "{name:?}");
            assert!(!curve.has(&point[..point.len() - 1]), "{name:?}");
            for at in [0, 1, point.len() / 2, point.len() - 1] {
                let mut other = point.clone();
                other[at] ^= 1;
                assert!(!curve.has(&other), "{name:?} {at}");
            }
            assert!(!curve.has(&vec![0xFF; point.len()]) && !curve.has(&[]));
            let mut nothing = vec![0; point.len()];
            nothing[0] = 4;
            assert!(!curve.has(&nothing));
        }
        assert!(named(&[43, 132, 0, 10]).is_none());
    }
}
