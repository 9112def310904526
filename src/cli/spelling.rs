//! How other programs spell it: the options of `openssl rehash`, and the command line of `c_rehash`.
//!
//! Words in, words out: nothing here reads the process's own arguments.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::escape::visible_path;

/// The options of `openssl rehash` that name a provider of cryptography.
const PROVIDERS: &[&str] = &["provider", "provider-path", "propquery"];

/// The arguments with the options of `openssl rehash` in castore's spelling: that program takes each with one dash or
/// with two. Only for the command `rehash`, only words that it knows, and only up to `--`.
///
/// # Errors
/// An option of `openssl rehash` that could have no effect here.
pub fn openssl(arguments: Vec<OsString>) -> Result<Vec<OsString>, String> {
    if arguments.get(1).is_none_or(|command| command != "rehash") {
        return Ok(arguments);
    }
    let mut ended = false;
    arguments
        .into_iter()
        .enumerate()
        .map(|(index, word)| {
            ended |= word == "--";
            if index < 2 || ended {
                return Ok(word);
            }
            let Some(name) = word.as_bytes().strip_prefix(b"-") else { return Ok(word) };
            let name = name.strip_prefix(b"-").unwrap_or(name);
            let spelled = match name {
                b"old" => "--old",
                b"compat" => "--compat",
                b"help" => "--help",
                b"h" => "-h",
                b"n" => "-n",
                b"v" => "-v",
                _ => {
                    let bare = name.split(|&byte| byte == b'=').next().unwrap_or(name);
                    if PROVIDERS.iter().any(|known| known.as_bytes() == bare) {
                        // To take it and do nothing would say that the hashes come from that provider.
                        return Err(format!(
                            "castore rehash has no option {}: it computes the hashes itself, by no provider",
                            visible_path(OsStr::from_bytes(
                                &word.as_bytes()[..word.len() - (name.len() - bare.len())]
                            ))
                        ));
                    }
                    return Ok(word);
                }
            };
            Ok(spelled.into())
        })
        .collect()
}

/// Whether the program was called `c_rehash`.
pub fn is_c_rehash(program: &OsStr) -> bool {
    Path::new(program).file_name().is_some_and(|name| name == "c_rehash")
}

/// What `c_rehash` was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CRehash {
    /// Its help.
    Help,
    /// To make links.
    Run {
        /// Remove no link (`-n`).
        keep: bool,
        /// Print what is linked and removed (`-v`).
        verbose: bool,
        /// Those that are named.
        directories: Vec<PathBuf>,
    },
}

/// Reads the words behind the name `c_rehash` as that program does: options stand first, `--` or a word without a dash
/// ends them.
///
/// # Errors
/// An option that `c_rehash` does not take. Its help names `-old`; it has never taken that.
pub fn c_rehash(words: impl IntoIterator<Item = OsString>) -> Result<CRehash, String> {
    let (mut keep, mut verbose) = (false, false);
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next_if(|word| word.as_bytes().starts_with(b"-")) {
        match word.as_bytes() {
            b"--" => break,
            b"-h" | b"-help" => return Ok(CRehash::Help),
            b"-n" => keep = true,
            b"-v" => verbose = true,
            b"-old" => {
                return Err(
                    "c_rehash takes no -old, it makes links by both hashes; castore rehash --old makes \
                            those of OpenSSL 0.9.8 alone"
                        .to_owned(),
                );
            }
            _ => return Err(format!("c_rehash has no option {}; try -h", visible_path(&word))),
        }
    }
    Ok(CRehash::Run { keep, verbose, directories: words.map(PathBuf::from).collect() })
}

/// What `c_rehash -h` prints.
pub const C_REHASH_HELP: &str = "\
Usage: c_rehash [-h] [-help] [-n] [-v] [--] [DIR...]

Makes the hash links of directories, by the hash of OpenSSL 1.0.0 and that of 0.9.8. This is castore under another
name: castore rehash --compat does the same, and castore man rehash says what differs from OpenSSL's script.

  -h, -help  Print this help
  -n         Do not remove existing links
  -v         Print links that are made, kept and removed

Without DIR: the directories of SSL_CERT_DIR, a list with colons; where it is not set or empty, certs in OPENSSLDIR.
";

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    fn words(list: &[&str]) -> Vec<OsString> {
        list.iter().map(OsString::from).collect()
    }

    #[test]
    fn options_of_openssl_rehash() {
        for (typed, meant) in [
            (
                &["castore", "rehash", "-old", "-n", "-v", "d"][..],
                &["castore", "rehash", "--old", "-n", "-v", "d"][..],
            ),
            (&["castore", "rehash", "-compat", "d"], &["castore", "rehash", "--compat", "d"]),
            (
                &["castore", "rehash", "--compat", "--n", "--v"],
                &["castore", "rehash", "--compat", "-n", "-v"],
            ),
            (&["castore", "rehash", "-help"], &["castore", "rehash", "--help"]),
            (&["castore", "rehash", "--h"], &["castore", "rehash", "-h"]),
            // After `--` there are names, also such names.
            (
                &["castore", "rehash", "-v", "--", "-old", "--", "-provider"],
                &["castore", "rehash", "-v", "--", "-old", "--", "-provider"],
            ),
            // Only what openssl knows.
            (
                &["castore", "rehash", "-older", "-nv", "-", "--keep", "--check", "--root=-old", "-v=1"],
                &["castore", "rehash", "-older", "-nv", "-", "--keep", "--check", "--root=-old", "-v=1"],
            ),
            (&["castore", "compact", "-old", "rehash"], &["castore", "compact", "-old", "rehash"]),
            (&["castore", "-old", "rehash"], &["castore", "-old", "rehash"]),
            (&["castore"], &["castore"]),
            (&[], &[]),
        ] {
            assert_eq!(openssl(words(typed)), Ok(words(meant)), "{typed:?}");
        }
        // A name that is no text comes through.
        let odd = OsString::from_vec(b"-\xff".to_vec());
        let typed = vec!["castore".into(), "rehash".into(), odd.clone()];
        assert_eq!(openssl(typed.clone()), Ok(typed));
    }

    #[test]
    fn providers_are_refused_and_not_ignored() {
        for word in ["-provider", "--provider", "-provider-path", "-propquery=fips=yes", "--propquery"] {
            let complaint = openssl(words(&["castore", "rehash", word, "x", "d"])).unwrap_err();
            let option = word.split('=').next().unwrap();
            assert!(complaint.contains(&format!("option {option}:")), "{word}: {complaint}");
        }
        assert!(openssl(words(&["castore", "rehash", "-providers"])).is_ok());
    }

    #[test]
    fn the_name() {
        for name in ["c_rehash", "/usr/bin/c_rehash", "./c_rehash"] {
            assert!(is_c_rehash(OsStr::new(name)), "{name}");
        }
        for name in ["castore", "", "/", "c_rehash/castore", "xc_rehash", "c_rehash.pl"] {
            assert!(!is_c_rehash(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn command_lines_of_c_rehash() {
        let run = |keep, verbose, directories: &[&str]| {
            let directories = directories.iter().map(PathBuf::from).collect();
            Ok(CRehash::Run { keep, verbose, directories })
        };
        for (typed, meant) in [
            (&[][..], run(false, false, &[])),
            (&["d", "e"], run(false, false, &["d", "e"])),
            (&["-n", "-v", "-v", "d"], run(true, true, &["d"])),
            (&["-v", "--", "-n"], run(false, true, &["-n"])),
            // The first word without a dash ends the options.
            (&["d", "-v"], run(false, false, &["d", "-v"])),
            (&["-n", "-help", "-bogus"], Ok(CRehash::Help)),
            (&["-h"], Ok(CRehash::Help)),
        ] {
            assert_eq!(c_rehash(words(typed)), meant, "{typed:?}");
        }
        for typed in [&["-old", "d"][..], &["-nv"], &["--help"], &["-"], &["-v", "-x"], &["--n"]] {
            assert!(c_rehash(words(typed)).is_err(), "{typed:?}");
        }
    }
}
