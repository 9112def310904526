//! Which OpenSSL is installed, told by its files. They are read, never loaded: loading costs more than an audit.

use std::path::{Path, PathBuf};

use super::read;
use super::root::Root;
use crate::openssl::release::Release;

/// A library on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its file.
    pub path: PathBuf,
    /// What the text in it says; what its name says where there is none.
    pub release: Release,
}

/// The names of libcrypto, newest first, and the release that each stands for where no text in the file names another.
const LIBRARIES: &[(&str, Release)] = &[
    ("libcrypto.so.4", Release { major: 4, minor: 0, patch: 0, letter: None }),
    ("libcrypto.so.3", Release { major: 3, minor: 0, patch: 0, letter: None }),
    ("libcrypto.so.1.1", Release { major: 1, minor: 1, patch: 1, letter: None }),
];

/// Where distributions keep libraries: Debian's multiarch, `/usr/lib64` of Fedora and SUSE, `/usr/lib` of Alpine and
/// Arch, and what was installed by hand.
const ARCHITECTURES: &[&str] =
    &["x86_64", "aarch64", "arm", "i386", "riscv64", "powerpc64le", "s390x", "loongarch64"];
const DIRECTORIES: &[&str] =
    &["/usr/lib64", "/usr/lib", "/lib64", "/lib", "/usr/local/lib64", "/usr/local/lib"];

/// The newest OpenSSL whose libcrypto lies in one of the usual directories.
#[must_use]
pub fn openssl(root: &Root) -> Option<Installed> {
    let multiarch = ARCHITECTURES.iter().flat_map(|&name| {
        let abi = if name == "arm" { "gnueabihf" } else { "gnu" };
        ["/usr/lib", "/lib"].map(|directory| format!("{directory}/{name}-linux-{abi}"))
    });
    let directories: Vec<String> =
        multiarch.chain(DIRECTORIES.iter().map(|&directory| directory.to_owned())).collect();
    LIBRARIES.iter().find_map(|&(name, otherwise)| {
        let path = directories
            .iter()
            .map(|directory| Path::new(directory).join(name))
            .find(|path| root.look(path).is_ok())?;
        let release = read::find_last(root, &path, Release::find).ok().flatten().unwrap_or(otherwise);
        Some(Installed { path, release })
    })
}
