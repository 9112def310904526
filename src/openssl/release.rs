//! Releases of OpenSSL, as `OpenSSL_version` prints them.

use std::fmt;
use std::str::FromStr;

use memchr::memmem;

/// A release: `1.1.1w`, `3.0.19`, `4.0.3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// The first number.
    pub major: u32,
    /// The second.
    pub minor: u32,
    /// The third: what was mended since the second.
    pub patch: u32,
    /// The letter of releases before 3.0.
    pub letter: Option<char>,
}

/// A text that names no release.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no release of OpenSSL: it is written as 3.0 or 3.0.19")]
pub struct NotARelease(pub String);

impl Release {
    /// The first release that some bytes of libcrypto name: `OpenSSL 3.0.19 27 Jan 2026` (`OPENSSL_VERSION_TEXT` in
    /// opensslv.h). The date tells it from other text with such a start.
    #[must_use]
    pub fn find(bytes: &[u8]) -> Option<Self> {
        const NAME: &[u8] = b"OpenSSL ";
        memmem::find_iter(bytes, NAME).find_map(|at| {
            let rest = &bytes[at + NAME.len()..];
            let length = rest.iter().take(24).position(|&byte| byte == b' ')?;
            let (word, rest) = (std::str::from_utf8(&rest[..length]).ok()?, &rest[length..]);
            let date = rest.iter().take(3).find(|&&byte| byte != b' ')?;
            // Builds for distributions append to the number: 3.2.2-dev, 3.0.7+quic.
            let number = word.split(['-', '+']).next()?;
            (date.is_ascii_digit() && number.split('.').count() == 3).then(|| number.parse().ok())?
        })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        self.letter.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}

/// Reads `3.0.19`, `1.1.1w`, and `3.0`, which is `3.0.0`.
impl FromStr for Release {
    type Err = NotARelease;

    fn from_str(text: &str) -> Result<Self, NotARelease> {
        let no = || NotARelease(text.to_owned());
        let letter = text.chars().last().filter(char::is_ascii_lowercase);
        let numbers = letter.map_or(text, |_| &text[..text.len() - 1]);
        let number = |part: &str| {
            let plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| part.parse().ok()).flatten().ok_or_else(no)
        };
        let parts = numbers.split('.').map(number).collect::<Result<Vec<u32>, _>>()?;
        let (major, minor, patch) = match parts[..] {
            [major, minor] if letter.is_none() => (major, minor, 0),
            [major, minor, patch] => (major, minor, patch),
            _ => return Err(no()),
        };
        Ok(Self { major, minor, patch, letter })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_and_printed() {
        for text in ["1.1.1w", "3.0.19", "4.0.3", "3.5.0"] {
            assert_eq!(text.parse::<Release>().map(|release| release.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("3.0".parse::<Release>(), "3.0.0".parse());
        for text in ["", "3", "3.", "3.0.", "3.0.1.2", "3.0w", "+3.0", "3.0.x", "3.0.99999999999", "w"] {
            assert!(text.parse::<Release>().is_err(), "{text}");
        }
        assert!(Release::from_str("3.0.19").unwrap() < Release::from_str("3.5.0").unwrap());
    }

    /// The texts of the real libraries.
    #[test]
    fn a_release_is_found_in_a_library() {
        let cases: &[(&[u8], Option<&str>)] = &[
            (b"\0OpenSSL 3.0.19 27 Jan 2026\0", Some("3.0.19")),
            (b"\0OpenSSL 1.1.1l  24 Aug 2021\0", Some("1.1.1l")),
            (b"OpenSSL 3.5 or so\0OpenSSL 4.0.3 1 Sep 2026\0", Some("4.0.3")),
            (b"OpenSSL 3.0.7+quic 1 Nov 2022\0", Some("3.0.7")),
            (b"OpenSSL 3.0.19", None),
            (b"OpenSSL 3.0.19 ", None),
            (b"OpenSSL CMAC operation\0OpenSSL 3.0 is old ", None),
            (b"", None),
        ];
        for (bytes, expected) in cases {
            let found = Release::find(bytes).map(|release| release.to_string());
            assert_eq!(found.as_deref(), *expected, "{}", bytes.escape_ascii());
        }
    }
}
