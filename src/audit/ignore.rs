//! What the user accepts: findings that are listed, and do not count.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::str::FromStr;

use super::finding::{Finding, Place};
use super::rules;
use crate::certificate::fingerprint::Fingerprint;
use crate::store::model::Store;

/// One entry of `--ignore`: `ID`, `ID:sha256:HEX` or `ID:path:GLOB`.
#[derive(Debug, Clone)]
pub struct Ignore {
    text: String,
    rule: &'static str,
    limit: Limit,
}

#[derive(Debug, Clone)]
enum Limit {
    /// Every finding of the rule.
    Rule,
    /// Those about one certificate.
    Certificate(Fingerprint),
    /// Those whose every place matches this glob, in which a star stops at a slash, as in a shell.
    Path(String),
}

/// An entry that means nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IgnoreError {
    /// No rule has this id.
    #[error("no finding is called '{0}'; castore explain lists all ids")]
    Rule(String),
    /// Neither of the forms.
    #[error("'{0}' is none of ID, ID:sha256:HEX, ID:path:GLOB")]
    Form(String),
    /// The glob does not parse.
    #[error("in the glob '{0}': {1}")]
    Glob(String, fast_glob::Error),
}

impl FromStr for Ignore {
    type Err = IgnoreError;

    fn from_str(text: &str) -> Result<Self, IgnoreError> {
        let (id, rest) = text.split_once(':').map_or((text, None), |(id, rest)| (id, Some(rest)));
        let rule = rules::find(id).ok_or_else(|| IgnoreError::Rule(id.to_owned()))?.id;
        let form = || IgnoreError::Form(text.to_owned());
        let limit = match rest.map(|rest| rest.split_once(':').ok_or_else(form)).transpose()? {
            None => Limit::Rule,
            Some(("sha256", digest)) => Limit::Certificate(digest.parse().map_err(|_| form())?),
            Some(("path", glob)) => {
                fast_glob::validate(glob).map_err(|error| IgnoreError::Glob(glob.to_owned(), error))?;
                Limit::Path(glob.to_owned())
            }
            Some(_) => return Err(form()),
        };
        Ok(Self { text: text.to_owned(), rule, limit })
    }
}

impl Ignore {
    /// The entry as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    fn matches(&self, store: &Store, finding: &Finding) -> bool {
        if finding.rule != self.rule {
            return false;
        }
        match &self.limit {
            Limit::Rule => true,
            Limit::Certificate(fingerprint) => match finding.certificate {
                Some(id) => store.certificate(id).fingerprint == *fingerprint,
                None => {
                    !finding.places.is_empty()
                        && finding.places.iter().all(|place| match place {
                            Place::Occurrence(id) => {
                                store.certificate(store.occurrence(*id).certificate).fingerprint
                                    == *fingerprint
                            }
                            _ => false,
                        })
                }
            },
            Limit::Path(glob) => {
                !finding.places.is_empty()
                    && finding
                        .places
                        .iter()
                        .all(|place| fast_glob::glob_match(glob, path(store, place).as_os_str().as_bytes()))
            }
        }
    }
}

fn path<'a>(store: &'a Store, place: &'a Place) -> &'a Path {
    match place {
        Place::Occurrence(id) => store.file(store.occurrence(*id).file).path(),
        Place::File { file, .. } => store.file(*file).path(),
        Place::Path(path) => path,
        Place::Source(id) => &store.source(*id).path,
    }
}

/// Marks the findings that entries match; gives back the entries that match none.
pub(super) fn mark<'a>(store: &Store, findings: &mut [Finding], entries: &'a [Ignore]) -> Vec<&'a Ignore> {
    let mut unused = Vec::new();
    for entry in entries {
        let mut used = false;
        for finding in findings.iter_mut().filter(|finding| finding.rule == entry.rule) {
            if entry.matches(store, finding) {
                finding.ignored = true;
                used = true;
            }
        }
        if !used {
            unused.push(entry);
        }
    }
    unused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let digest = "a".repeat(64);
        for good in ["expired", &format!("expired:sha256:{digest}"), "leftover:path:/etc/ssl/certs/*.bak"] {
            assert!(good.parse::<Ignore>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "expird",
            "expired:",
            "expired:sha256",
            "expired:sha256:12",
            "expired:name:x",
            "expired:path:[",
        ] {
            assert!(bad.parse::<Ignore>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_matches_is_marked_and_what_matches_nothing_is_told() {
        let store = crate::store::load::load_bytes("x.pem", b"");
        let context = crate::audit::Context {
            ignore: vec!["no-certificates:path:*.pem".parse().unwrap(), "expired".parse().unwrap()],
            ..crate::audit::Context::at(0)
        };
        let findings = crate::audit::run(&store, &context);
        let seen: Vec<_> = findings.iter().map(|finding| (finding.rule, finding.ignored)).collect();
        assert_eq!(seen, [("no-certificates", true), ("unused-ignore", false)]);
    }
}
