//! Models of what a library pays to load a store. An estimate names its model, and is never a measurement.

use std::fmt;

use crate::openssl::release::Release;

/// What one load costs a library, in milliseconds of CPU time: with `n` certificates, `d` of them distinct, in `f` files
/// beside the first `base + certificate * n + growth * d² + file * f`.
///
/// The numbers are from `benches/models/run`, which prints them anew: lines through the minima of many runs over files
/// of 1, 10, 50, 144, 500 and 1,000 certificates and, for those that read directories, over Debian's store. The machine
/// was a virtual one with two cores of an Intel Xeon, in December 2026; another will be faster or slower as a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// The library and the first version that costs this, as `--library` and reports name it.
    pub library: &'static str,
    /// Without a certificate: the context itself, the first file.
    pub base: f64,
    /// A certificate.
    pub certificate: f64,
    /// What each certificate adds to all the others: OpenSSL and GnuTLS look whether they have it,
    /// in a list that grows.
    pub growth: f64,
    /// A further file.
    pub file: f64,
}

impl Model {
    /// Milliseconds of CPU time for a load of so many certificates, so many of them distinct, in so many files.
    #[must_use]
    pub fn milliseconds(&self, certificates: usize, distinct: usize, files: usize) -> f64 {
        let (all, distinct) = (certificates as f64, distinct as f64);
        let further = files.saturating_sub(1) as f64;
        self.base + self.certificate * all + self.growth * distinct * distinct + self.file * further
    }
}

/// `0.16 + 0.1720 n + 0.000030 d² ms`.
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} + {:.4} n", self.base, self.certificate)?;
        if self.growth > 0.0 {
            write!(f, " + {:.6} d²", self.growth)?;
        }
        if self.file > 0.0 {
            write!(f, " + {:.3} f", self.file)?;
        }
        f.write_str(" ms")
    }
}

/// OpenSSL 1.1.1; measured with 1.1.1l.
pub const OPENSSL_1_1_1: Model =
    Model { library: "openssl-1.1.1", base: 0.06, certificate: 0.029, growth: 0.000_024, file: 0.0 };
/// OpenSSL 3.0, whose decoders are looked up for each public key; measured with 3.0.19 of Debian 12, and 3.0.7.
pub const OPENSSL_3_0: Model =
    Model { library: "openssl-3.0", base: 0.16, certificate: 0.172, growth: 0.000_03, file: 0.0 };
/// OpenSSL 3.1; measured with 3.1.4.
pub const OPENSSL_3_1: Model =
    Model { library: "openssl-3.1", base: 0.17, certificate: 0.069, growth: 0.000_023, file: 0.0 };
/// OpenSSL 3.2 to 3.x; measured with 3.2.2 and 3.5.6.
pub const OPENSSL_3_2: Model =
    Model { library: "openssl-3.2", base: 0.15, certificate: 0.038, growth: 0.000_006, file: 0.0 };
/// OpenSSL 4.0; measured with 4.0.3.
pub const OPENSSL_4_0: Model =
    Model { library: "openssl-4.0", base: 0.15, certificate: 0.042, growth: 0.000_002, file: 0.0 };
/// GnuTLS; measured with 3.7.9 of Debian 12.
pub const GNUTLS: Model =
    Model { library: "gnutls", base: 0.05, certificate: 0.036, growth: 0.000_113, file: 0.045 };
/// Go's `x509.SystemCertPool`; measured with Go 1.19.8.
pub const GO: Model = Model { library: "go", base: 0.13, certificate: 0.024, growth: 0.0, file: 0.013 };
/// rustls-native-certs and the root store of rustls; measured with 0.8.5 and 0.23.46.
pub const RUSTLS: Model =
    Model { library: "rustls", base: 0.03, certificate: 0.0057, growth: 0.0, file: 0.01 };
/// Node's `--use-system-ca`, at the first context of a process; measured with Node 24.
pub const NODE: Model = Model { library: "node", base: 13.00, certificate: 0.05, growth: 0.0, file: 0.033 };

/// The models of OpenSSL, oldest first, and the first release of each.
pub const OPENSSL: &[(Release, Model)] = &[
    (Release { major: 1, minor: 1, patch: 1, letter: None }, OPENSSL_1_1_1),
    (Release { major: 3, minor: 0, patch: 0, letter: None }, OPENSSL_3_0),
    (Release { major: 3, minor: 1, patch: 0, letter: None }, OPENSSL_3_1),
    (Release { major: 3, minor: 2, patch: 0, letter: None }, OPENSSL_3_2),
    (Release { major: 4, minor: 0, patch: 0, letter: None }, OPENSSL_4_0),
];

/// The model of a release of OpenSSL: the newest one that is not newer than it.
#[must_use]
pub fn openssl(release: Release) -> Model {
    OPENSSL.iter().rev().find(|(first, _)| *first <= release).map_or(OPENSSL_1_1_1, |(_, model)| *model)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `benches/models/run` measured: release, and milliseconds for 1, 10, 144 and 1,000 certificates.
    const MEASURED: &[(&str, [f64; 4])] = &[
        ("1.1.1l", [0.083, 0.346, 5.412, 58.352]),
        ("3.0.7", [0.341, 1.881, 22.809, 184.267]),
        ("3.0.19", [0.397, 2.190, 27.901, 238.167]),
        // `castore audit --measure` on a quieter machine, the same library.
        ("3.0.19", [0.296, 1.858, 24.032, 192.366]),
        ("3.1.4", [0.228, 0.826, 9.875, 90.338]),
        ("3.2.2", [0.190, 0.502, 5.608, 44.690]),
        ("3.5.6", [0.195, 0.546, 5.502, 44.501]),
        ("4.0.3", [0.196, 0.608, 6.465, 49.548]),
    ];

    #[test]
    fn a_model_is_near_what_was_measured() {
        for (release, measured) in MEASURED {
            let model = openssl(release.parse().unwrap());
            for (number, milliseconds) in [1, 10, 144, 1000].into_iter().zip(measured) {
                let said = model.milliseconds(number, number, 1);
                let error = (said / milliseconds - 1.0).abs();
                assert!(error < 0.25, "{release}, {number} certificates: {said} is not {milliseconds}");
            }
        }
    }

    #[test]
    fn a_release_has_the_model_of_the_newest_one_before_it() {
        let cases = [
            ("1.0.2u", "openssl-1.1.1"),
            ("1.1.1w", "openssl-1.1.1"),
            ("3.0.0", "openssl-3.0"),
            ("3.0.19", "openssl-3.0"),
            ("3.1.4", "openssl-3.1"),
            ("3.2.0", "openssl-3.2"),
            ("3.6.1", "openssl-3.2"),
            ("4.0.3", "openssl-4.0"),
            ("4.1.0", "openssl-4.0"),
        ];
        for (release, library) in cases {
            assert_eq!(openssl(release.parse().unwrap()).library, library, "{release}");
        }
    }

    #[test]
    fn a_model_says_what_it_is_made_of() {
        assert_eq!(OPENSSL_3_0.to_string(), "0.16 + 0.1720 n + 0.000030 d² ms");
        assert_eq!(GO.to_string(), "0.13 + 0.0240 n + 0.013 f ms");
        assert!((GO.milliseconds(100, 100, 3) - (0.13 + 2.4 + 0.026)).abs() < 1e-9);
    }
}
