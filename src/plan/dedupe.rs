//! Exact repeats cut out of a bundle, and nothing else changed: what the hook does to a file that belongs to a
//! distribution.

use std::collections::HashSet;

use crate::certificate::fingerprint::Fingerprint;
use crate::readers::Reader;
use crate::store::content::{self, Content, Encoding, OtherKind};

/// A bundle without its repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deduplicated {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its certificates, in order.
    pub holds: Vec<Fingerprint>,
    /// How many blocks it has that are no certificates.
    pub others: usize,
}

/// A bundle from which nothing can be cut without a doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is damaged: what readers load of it could change")]
pub struct Damaged;

/// Cuts out every block that repeats an earlier one, its trust attributes included: the lines from BEGIN to END, no
/// others. `None` where nothing is repeated.
///
/// # Errors
/// [`Damaged`] where the file has defects, or a reader would load something else of what is left than of what was there:
/// such a file is left to people.
pub fn dedupe(bytes: &[u8]) -> Result<Option<Deduplicated>, Damaged> {
    let before = content::read(bytes);
    let mut seen = HashSet::new();
    let mut left = Vec::with_capacity(bytes.len());
    let mut holds = Vec::new();
    let mut from = 0;
    for found in &before.certificates {
        let repeats = !seen.insert((found.fingerprint, found.trust.clone()));
        if !repeats || !matches!(found.encoding, Encoding::Pem(_)) || found.span.start < from {
            holds.push(found.fingerprint);
            continue;
        }
        left.extend_from_slice(&bytes[from..found.span.start]);
        // The end of its last line as well, where it began a line.
        let starts_line = found.span.start == 0 || bytes[found.span.start - 1] == b'\n';
        let rest = &bytes[found.span.end..];
        let end = [&b"\r\n"[..], b"\n"].into_iter().find(|end| starts_line && rest.starts_with(end));
        from = found.span.end + end.map_or(0, <[u8]>::len);
    }
    if from == 0 {
        return Ok(None);
    }
    left.extend_from_slice(&bytes[from..]);
    let after = content::read(&left);
    let whole = before.others.iter().all(|block| !matches!(block.kind, OtherKind::Malformed { .. }));
    let same = after.certificates.iter().map(|found| found.fingerprint).eq(holds.iter().copied())
        && blocks(&before) == blocks(&after)
        && Reader::WRITTEN_FOR.iter().all(|&reader| loads(reader, bytes) == loads(reader, &left));
    let others = after.others.len();
    if whole && same { Ok(Some(Deduplicated { bytes: left, holds, others })) } else { Err(Damaged) }
}

/// The labels of the blocks that are no certificates.
fn blocks(content: &Content) -> Vec<String> {
    content.others.iter().map(|block| block.label.to_string()).collect()
}

/// The distinct certificates that a library loads of a file, and whether it refuses the file.
fn loads(reader: Reader, bytes: &[u8]) -> (HashSet<Fingerprint>, bool) {
    let reading = reader.read(bytes);
    (reading.loads.iter().map(|loaded| loaded.fingerprint).collect(), reading.refused.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_cut_where_nothing_repeats() {
        assert_eq!(dedupe(b""), Ok(None));
        assert_eq!(dedupe(b"# a comment\n"), Ok(None));
    }
}
