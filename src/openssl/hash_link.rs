//! Names like `002c0b4f.0`: how OpenSSL's directory look-up finds a certificate or a CRL.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// What a hash link leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LinkKind {
    /// `HASH.N`
    Certificate,
    /// `HASH.rN`
    Crl,
}

/// The name of a hash link, as OpenSSL looks it up (`by_dir.c`: `"%08lx.%s%d"`).
///
/// `Display` and `FromStr` are inverse: eight lower-case hexadecimal digits, a decimal number without leading zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HashLink {
    /// The hash of the subject (of the issuer, for a CRL).
    pub hash: u32,
    /// Certificate or CRL.
    pub kind: LinkKind,
    /// Counted from 0 without a gap; a look-up stops at the first number that is missing.
    pub number: u32,
}

/// A file name that has the shape of a hash link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkName {
    /// OpenSSL looks it up.
    Proper(HashLink),
    /// It looks like one and is never looked up: upper case, leading zeros. The value is what it seems to mean.
    Improper(HashLink),
}

impl fmt::Display for HashLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.kind == LinkKind::Crl { "r" } else { "" };
        write!(f, "{:08x}.{mark}{}", self.hash, self.number)
    }
}

/// A name that is no hash link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a hash link: eight lower-case hexadecimal digits, a dot, a number")]
pub struct NotAHashLink;

impl FromStr for HashLink {
    type Err = NotAHashLink;

    fn from_str(name: &str) -> Result<Self, NotAHashLink> {
        match LinkName::parse(name.as_bytes()) {
            Some(LinkName::Proper(link)) => Ok(link),
            _ => Err(NotAHashLink),
        }
    }
}

impl LinkName {
    /// A file name that `openssl rehash` takes for a hash link: eight hexadecimal digits in either case, a dot,
    /// perhaps `r` or `R`, a decimal number.
    #[must_use]
    pub fn parse(name: &[u8]) -> Option<Self> {
        let (digits, rest) = name.split_at_checked(8)?;
        let rest = rest.strip_prefix(b".")?;
        let (kind, number) = match rest.strip_prefix(b"r").or_else(|| rest.strip_prefix(b"R")) {
            Some(number) => (LinkKind::Crl, number),
            None => (LinkKind::Certificate, rest),
        };
        // by_dir.c counts in an int.
        if number.is_empty() || number.len() > 10 || !number.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let hash = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        if digits[0] == b'+' {
            return None;
        }
        let number: i32 = std::str::from_utf8(number).ok()?.parse().ok()?;
        let number = number.unsigned_abs();
        let link = HashLink { hash, kind, number };
        Some(if link.to_string().as_bytes() == name { Self::Proper(link) } else { Self::Improper(link) })
    }
}

/// The numbers of a directory's hash links: for each hash and kind 0..n without a gap.
///
/// Takes what stands already, then gives every further file the lowest free number, as `openssl rehash` does.
#[derive(Debug, Default)]
pub struct LinkSet<T> {
    slots: BTreeMap<(u32, LinkKind), Slots<T>>,
}

#[derive(Debug)]
struct Slots<T> {
    wanted: Vec<(Option<u32>, T)>,
}

impl<T> LinkSet<T> {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self { slots: BTreeMap::new() }
    }

    /// Wants a link to `target`; `standing` is the number that it has already.
    ///
    /// Of two that claim one standing number the first keeps it.
    pub fn want(&mut self, hash: u32, kind: LinkKind, standing: Option<u32>, target: T) {
        self.slots
            .entry((hash, kind))
            .or_insert_with(|| Slots { wanted: Vec::new() })
            .wanted
            .push((standing, target));
    }

    /// All links, in order of their names.
    ///
    /// A standing number below the count stays; the others fill the lowest free numbers in the order wanted.
    #[must_use]
    pub fn into_links(self) -> Vec<(HashLink, T)> {
        let mut out = Vec::new();
        for ((hash, kind), slots) in self.slots {
            let count = slots.wanted.len();
            let mut places: Vec<Option<T>> = std::iter::repeat_with(|| None).take(count).collect();
            let mut homeless = Vec::new();
            for (standing, target) in slots.wanted {
                match standing.and_then(|number| places.get_mut(number as usize)) {
                    Some(place) if place.is_none() => *place = Some(target),
                    _ => homeless.push(target),
                }
            }
            let mut homeless = homeless.into_iter();
            for (number, place) in places.into_iter().enumerate() {
                if let Some(target) = place.or_else(|| homeless.next()) {
                    out.push((HashLink { hash, kind, number: number as u32 }, target));
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_openssl_looks_up() {
        for name in ["002c0b4f.0", "ffffffff.12", "00000000.r0", "a7d666e7.r256"] {
            let link: HashLink = name.parse().unwrap();
            assert_eq!(link.to_string(), name);
        }
    }

    #[test]
    fn names_that_only_look_like_it() {
        for name in ["A7D666E7.0", "a7d666e7.00", "a7d666e7.R0", "a7d666e7.r01"] {
            assert!(matches!(LinkName::parse(name.as_bytes()), Some(LinkName::Improper(_))), "{name}");
        }
        for name in [
            "a7d666e.0",
            "a7d666e7",
            "a7d666e7.",
            "a7d666e7.x",
            "a7d666e7.0.pem",
            "g7d666e7.0",
            "+7d666e7.0",
            "a7d666e7.-1",
            "a7d666e7.9999999999",
            "é7d666e.0",
        ] {
            assert_eq!(LinkName::parse(name.as_bytes()), None, "{name}");
        }
    }

    #[test]
    fn numbers_are_gap_free_and_standing_ones_stay() {
        let mut set = LinkSet::new();
        for (standing, target) in [(Some(1), "a"), (None, "b"), (Some(7), "c"), (Some(1), "d")] {
            set.want(5, LinkKind::Certificate, standing, target);
        }
        set.want(5, LinkKind::Crl, Some(3), "crl");
        let links: Vec<_> =
            set.into_links().into_iter().map(|(link, target)| (link.to_string(), target)).collect();
        assert_eq!(
            links,
            [
                ("00000005.0", "b"),
                ("00000005.1", "a"),
                ("00000005.2", "c"),
                ("00000005.3", "d"),
                ("00000005.r0", "crl")
            ]
            .map(|(link, target)| (link.to_owned(), target))
        );
    }
}
