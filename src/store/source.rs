//! [`Source`]: a place that certificates come from.

use std::path::PathBuf;

/// Who beside the owner may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writable {
    /// Everybody.
    Others,
    /// The group.
    Group,
}

/// Number of a source in its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub usize);

/// Device and inode: one file, whatever its names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    /// Device.
    pub device: u64,
    /// Inode.
    pub inode: u64,
}

/// What a source is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceKind {
    /// A CAfile: certificates one behind the other.
    CaFile,
    /// A CApath: a directory with names by which OpenSSL looks certificates up.
    CaPath,
    /// A directory without any such name.
    Directory,
    /// A file with one certificate.
    Certificate,
    /// A file that is nothing but PKCS#7.
    Pkcs7,
    /// A Java or PKCS#12 keystore.
    Keystore,
    /// A file without a certificate.
    Other,
}

/// A file or directory that was named, or a CAfile found inside a named directory.
#[derive(Debug, Clone)]
pub struct Source {
    /// The path as it was named (`-` for standard input).
    pub path: PathBuf,
    /// What it is.
    pub kind: SourceKind,
    /// The directory that a CAfile lies in, where that is a source too.
    pub inside: Option<SourceId>,
    /// Device and inode of a directory.
    pub identity: Option<Identity>,
    /// Who beside the owner may write the directory.
    pub writable: Option<Writable>,
    /// The directory's mode.
    pub mode: Option<u32>,
    /// Whether the user named it.
    pub named: bool,
}

/// The largest suffix list of names that tools leave behind; never read as trust.
const LEFTOVER_ENDINGS: &[&[u8]] =
    &[b"~", b".new", b".tmp", b".bak", b".orig", b".rej", b".rpmsave", b".rpmnew", b".rpmorig"];

/// Whether a file name is one that an interrupted or careful tool leaves: editors' and package managers' copies,
/// temporary bundles (`bundleXXXXXX`), dot files. Listed, never read as trust.
#[must_use]
pub fn is_leftover(name: &[u8]) -> bool {
    let contains = |needle: &[u8]| memchr::memmem::find(name, needle).is_some();
    name.starts_with(b".")
        || LEFTOVER_ENDINGS.iter().any(|ending| name.ends_with(ending))
        || contains(b".dpkg-")
        || contains(b".ucf-")
        || name
            .strip_prefix(b"bundle")
            .is_some_and(|rest| rest.len() == 6 && rest.iter().all(u8::is_ascii_alphanumeric))
}

/// What the names begin and end with under which castore stages what it writes.
pub const STAGED: (&str, &str) = (".castore-", ".tmp");

/// Whether a file name is one under which castore stages: `.castore-PROCESS-NUMBER.tmp`.
#[must_use]
pub fn is_staged(name: &[u8]) -> bool {
    let inside = name
        .strip_prefix(STAGED.0.as_bytes())
        .and_then(|rest| rest.strip_suffix(STAGED.1.as_bytes()))
        .and_then(|inside| std::str::from_utf8(inside).ok());
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    inside.and_then(|inside| inside.split_once('-')).is_some_and(|(process, n)| number(process) && number(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staged() {
        assert!(is_staged(b".castore-12-0.tmp"));
        for name in
            [".castore-12.tmp", ".castore--1.tmp", ".castore-12-0", "castore-12-0.tmp", ".castore-a-0.tmp"]
        {
            assert!(!is_staged(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn leftovers() {
        for name in [
            "a.pem~",
            "ca-certificates.crt.new",
            "x.pem.dpkg-old",
            "x.ucf-dist",
            "bundleAbC123",
            ".hidden.pem",
            "a.rpmsave",
        ] {
            assert!(is_leftover(name.as_bytes()), "{name}");
        }
        for name in ["a.pem", "bundle.pem", "bundle", "bundle-123456", "new", "tmp.pem", "a7d666e7.0"] {
            assert!(!is_leftover(name.as_bytes()), "{name}");
        }
    }
}
