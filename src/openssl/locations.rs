//! Where OpenSSL and the distributions keep their stores.

/// Names that distributions give to the CAfile. A file of such a name inside a directory is a CAfile beside it;
/// another file with several certificates is a member that no look-up can find whole.
pub const BUNDLE_NAMES: &[&str] = &[
    "ca-certificates.crt", // Debian, Ubuntu, Alpine, Arch
    "ca-bundle.crt",       // Fedora, RHEL
    "ca-bundle.trust.crt", // Fedora, RHEL: TRUSTED blocks
    "ca-bundle.pem",       // SUSE
    "tls-ca-bundle.pem",   // Fedora's extracted form
    "ca-certificates.pem",
    "cacert.pem", // curl, certifi
    "cert.pem",   // OPENSSLDIR's own name (`X509_CERT_FILE`)
];

/// Bundles that p11-kit extracts for other purposes than TLS servers. What they hold says nothing about servers.
pub const OTHER_PURPOSES: &[&str] = &["email-ca-bundle.pem", "objsign-ca-bundle.pem"];

/// Whether a file of this name is a bundle for other purposes than TLS servers.
#[must_use]
pub fn is_for_other_purposes(name: &[u8]) -> bool {
    OTHER_PURPOSES.iter().any(|bundle| bundle.as_bytes() == name)
}

/// Whether a file of this name is a CAfile by its name.
#[must_use]
pub fn is_bundle_name(name: &[u8]) -> bool {
    BUNDLE_NAMES.iter().any(|bundle| bundle.as_bytes() == name)
}

/// OPENSSLDIR of the distributions (`openssl version -d`), most specific first.
pub const OPENSSL_DIRS: &[&str] =
    &["/usr/lib/ssl", "/etc/pki/tls", "/etc/ssl", "/var/lib/ca-certificates/openssl"];

/// `X509_CERT_FILE` inside OPENSSLDIR.
pub const CERT_FILE: &str = "cert.pem";
/// `X509_CERT_DIR` inside OPENSSLDIR.
pub const CERT_DIR: &str = "certs";

/// The bundles of the distributions, in the order in which Go's crypto/x509 looks for them (root_linux.go).
pub const DISTRIBUTION_BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Bundles that some tool of the distribution writes anew: what another program writes there lasts until its next run.
pub const REGENERATED: &[(&str, &str)] = &[
    ("/etc/ssl/certs/ca-certificates.crt", "update-ca-certificates"),
    ("/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "update-ca-trust"),
    ("/etc/pki/ca-trust/extracted/openssl/ca-bundle.trust.crt", "update-ca-trust"),
    ("/var/lib/ca-certificates/ca-bundle.pem", "update-ca-certificates"),
    ("/etc/ssl/certs", "update-ca-certificates"),
];
