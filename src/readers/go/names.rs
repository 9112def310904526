//! The names in a certificate that Go parses: domains, mailboxes and URIs. One that it cannot parse is the end of the
//! certificate.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Version;

/// A domain (`domainToReverseLabels`, in new versions `domainNameValid`): labels of visible ASCII with dots between
/// them. Nothing at all is one too. New versions let a dot stand before the first label of a constraint alone.
pub(super) fn domain(name: &[u8], constraint: bool, version: Version) -> bool {
    let mut name = name;
    // The old ones take a dot off a constraint, and the function that they give it to does not see another one.
    let dots = if version.is_strict() { usize::from(constraint) } else { 1 + usize::from(constraint) };
    for number in 0..dots {
        // A dot alone counts as an empty name for a constraint of the old versions, never elsewhere.
        let taken = name.strip_prefix(b".");
        let last = number + 1 == dots;
        match taken {
            Some([]) if last => return false,
            Some(rest) => name = rest,
            None => {}
        }
    }
    name.is_empty()
        || name
            .split(|byte| *byte == b'.')
            .all(|label| !label.is_empty() && label.iter().all(u8::is_ascii_graphic))
}

/// A mailbox in a constraint (`parseRFC2821Mailbox`).
pub(super) fn mailbox(text: &[u8], version: Version) -> bool {
    let rest = match text.strip_prefix(b"\"") {
        Some(quoted) => quoted_local_part(quoted),
        None => local_part(text),
    };
    let Some([b'@', host @ ..]) = rest else { return false };
    domain(host, false, version) && !(version.is_strict() && host.contains(&b'@'))
}

/// What is behind a quoted local part, its first quote taken.
fn quoted_local_part(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text;
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = match byte {
            b'"' => return Some(after),
            b'\\' => match after.split_first()? {
                (1..=9 | 11 | 12 | 14..=127, after) => after,
                _ => return None,
            },
            1..=8 | 11 | 12 | 14..=33 | 35..=91 | 93..=127 => after,
            _ => return None,
        };
    }
}

/// What is behind a local part: atoms with single dots between them, and any byte behind a backslash.
fn local_part(text: &[u8]) -> Option<&[u8]> {
    let mut rest = text;
    let mut previous = b'.';
    while let Some((&byte, after)) = rest.split_first() {
        let (taken, after) = match byte {
            b'\\' => after.split_first()?,
            _ if byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~.".contains(&byte) => (&byte, after),
            _ => break,
        };
        // Whether it was escaped makes no difference.
        if *taken == b'.' && previous == b'.' {
            return None;
        }
        (previous, rest) = (*taken, after);
    }
    // Nothing at all ends as a dot would.
    (previous != b'.').then_some(rest)
}

/// An address that may not be a domain of URIs (`net.ParseIP`).
pub(super) fn address(text: &[u8], version: Version) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    // Before `net/netip`, a group could have any number of zeros in front.
    let group = |group: &str| {
        let short = group.trim_start_matches('0');
        let long = group.len() > 4 && !version.is_strict();
        if long { format!("{:0>1}", short) } else { group.to_owned() }
    };
    text.parse::<Ipv4Addr>().is_ok()
        || text.contains(':')
            && text.split(':').map(group).collect::<Vec<_>>().join(":").parse::<Ipv6Addr>().is_ok()
}

/// A URI among the alternative names: `url.Parse`, and its host a domain.
pub(super) fn uri(text: &[u8], version: Version) -> bool {
    let (url, fragment) = cut(text, b'#').unwrap_or((text, b""));
    if url.iter().any(u8::is_ascii_control) || !escapes(fragment) {
        return false;
    }
    let Some((scheme, rest)) = scheme(url) else { return false };
    // `*` alone needs no case of its own: it is a path.
    let rest = cut(rest, b'?').map_or(rest, |(rest, _)| rest);
    if !rest.starts_with(b"/") {
        // Opaque behind a scheme; without one the first segment may have no colon.
        let segment = cut(rest, b'/').map_or(rest, |(segment, _)| segment);
        return !scheme.is_empty() || !segment.contains(&b':') && escapes(rest);
    }
    let named = !scheme.is_empty() || !rest.starts_with(b"///");
    match rest.strip_prefix(b"//") {
        Some(behind) if named => {
            let end = memchr::memchr(b'/', behind).unwrap_or(behind.len());
            let (authority, path) = behind.split_at(end);
            let (user, host) = match memchr::memrchr(b'@', authority) {
                Some(at) => (authority.get(..at), authority.get(at + 1..).unwrap_or_default()),
                None => (None, authority),
            };
            user.is_none_or(userinfo)
                && escapes(path)
                && host_of(scheme, host, version)
                    .is_some_and(|host| host.is_empty() || domain(&host, false, version))
        }
        _ => escapes(rest),
    }
}

fn cut(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(byte, text)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

/// The scheme, empty where there is none, and what is behind it; `None` for a colon at the start (`getScheme`).
fn scheme(url: &[u8]) -> Option<(&[u8], &[u8])> {
    let letters = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let end = url.iter().take_while(|byte| letters(byte)).count();
    match (url.first(), url.get(end)) {
        (Some(b':'), _) => None,
        (Some(first), Some(b':')) if first.is_ascii_alphabetic() => {
            Some((url.get(..end)?, url.get(end + 1..)?))
        }
        _ => Some((b"", url)),
    }
}

/// Whether each `%` has two digits behind it (`unescape`).
fn escapes(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'%', rest) {
        let Some([_, high, low, after @ ..]) = rest.get(at..) else { return false };
        if !high.is_ascii_hexdigit() || !low.is_ascii_hexdigit() {
            return false;
        }
        rest = after;
    }
    true
}

fn userinfo(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte))
        && escapes(text)
}

/// The host with its port, unescaped (`parseHost`).
fn host_of(scheme: &[u8], host: &[u8], version: Version) -> Option<Vec<u8>> {
    let bracket = memchr::memrchr(b'[', host);
    if version.is_strict() && bracket.is_some_and(|at| at > 0) {
        return None;
    }
    if !host.starts_with(b"[") {
        let first = memchr::memchr(b':', host);
        let last = memchr::memrchr(b':', host);
        let web = scheme.eq_ignore_ascii_case(b"http") || scheme.eq_ignore_ascii_case(b"https");
        let colon = if version.is_strict() && web { first } else { last };
        if colon.is_some_and(|colon| !host.get(colon..).is_some_and(port)) {
            return None;
        }
        return unescape(host, false);
    }
    let end = memchr::memrchr(b']', host)?;
    let (address, behind) = host.split_at_checked(end)?;
    if !behind.get(1..).is_some_and(port) {
        return None;
    }
    // What follows `%25` is a zone, which has rules of its own.
    let zone = memchr::memmem::find(address, b"%25").unwrap_or(address.len());
    let (address, zone) = address.split_at_checked(zone)?;
    let out = [unescape(address, false)?, unescape(zone, true)?, unescape(behind, false)?].concat();
    if version.is_strict() {
        // `netip.ParseAddr` of what is in the brackets.
        let inner = out.get(1..out.len().checked_sub(behind.len())?)?;
        let (address, zone) = cut(inner, b'%').map_or((inner, None), |(address, zone)| (address, Some(zone)));
        let address = std::str::from_utf8(address).ok()?;
        if address.parse::<Ipv6Addr>().is_err() || zone.is_some_and(<[u8]>::is_empty) {
            return None;
        }
    }
    Some(out)
}

/// Nothing, or a colon and digits or nothing (`validOptionalPort`).
fn port(text: &[u8]) -> bool {
    match text {
        [] => true,
        [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// A host, or the zone of an address, unescaped. In a host only what is not ASCII and `%` may be escaped.
fn unescape(text: &[u8], zone: bool) -> Option<Vec<u8>> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!$&'()*+,;=:[]<>\"-_.~".contains(&byte);
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            if byte < 0x80 && !plain(byte) {
                return None;
            }
            out.push(byte);
            continue;
        }
        let [high, low, after @ ..] = after else { return None };
        let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let value = digit(high)? << 4 | digit(low)?;
        let allowed = value == b'%' || if zone { value == b' ' || plain(value) } else { value >= 0x80 };
        if !allowed {
            return None;
        }
        out.push(value);
        rest = after;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains() {
        for (name, old, new, old_constraint, new_constraint) in [
            ("", true, true, true, true),
            ("a.b", true, true, true, true),
            (".a", true, false, true, true),
            ("..a", false, false, true, false),
            ("...a", false, false, false, false),
            (".", false, false, true, false),
            ("..", false, false, false, false),
            ("a.", false, false, false, false),
            ("a..b", false, false, false, false),
            ("a b", false, false, false, false),
            ("[::1]:80", true, true, true, true),
            ("\u{e9}", false, false, false, false),
        ] {
            let check = |constraint, version| domain(name.as_bytes(), constraint, version);
            assert_eq!(check(false, Version::Go1_19), old, "{name:?}");
            assert_eq!(check(false, Version::Go1_27), new, "{name:?}");
            assert_eq!(check(true, Version::Go1_19), old_constraint, "{name:?}");
            assert_eq!(check(true, Version::Go1_27), new_constraint, "{name:?}");
        }
    }

    #[test]
    fn mailboxes() {
        for (text, valid) in [
            ("a@b", true),
            ("a.b@c.d", true),
            ("a..b@c", false),
            (".a@b", false),
            ("a.@b", false),
            ("@b", false),
            ("a", false),
            ("", false),
            ("\"a b\"@c", true),
            ("\"a\\\"b\"@c", true),
            ("\"\"@c", true),
            ("\"a", false),
            ("a\\@b@c", true),
            ("a\\", false),
            ("a b@c", false),
            ("a@b.", false),
            ("a@", true),
        ] {
            for version in [Version::Go1_19, Version::Go1_27] {
                assert_eq!(mailbox(text.as_bytes(), version), valid, "{text:?}");
            }
        }
        assert!(mailbox(b"a@b@c", Version::Go1_19) && !mailbox(b"a@b@c", Version::Go1_27));
    }

    #[test]
    fn uris() {
        for (text, old, new) in [
            ("", true, true),
            ("http://a.b/c?d#e", true, true),
            ("http://a.b./", false, false),
            ("http://a b/", false, false),
            ("http://a/%zz", false, false),
            ("http://a/#%zz", false, false),
            ("http://a/?%zz", true, true),
            ("http://a:b/", false, false),
            ("http://a:/", true, true),
            ("http://a:1:2/", true, false),
            ("ldap://a:1:2/", true, true),
            ("http://[::1]:80/", true, true),
            ("http://[::1%25en0]/", true, true),
            ("http://[::1%25e%20n]/", false, false),
            ("http://[1.2.3.4]/", true, false),
            ("http://[x]/", true, false),
            ("http://[::1/", false, false),
            ("http://a[::1]/", false, false),
            ("http://%C3%A9/", false, false),
            ("http://%41/", false, false),
            ("http://u:p@a/", true, true),
            ("http://u p@a/", false, false),
            ("ldap:///CN=x", true, true),
            ("mailto:a b", true, true),
            ("1:b", false, false),
            (":b", false, false),
            ("a/b:c", true, true),
            ("///a b", true, true),
            ("//a b", false, false),
            ("*", true, true),
            ("a\tb", false, false),
            ("http://.a/", true, false),
        ] {
            assert_eq!(uri(text.as_bytes(), Version::Go1_19), old, "{text:?} 1.19");
            assert_eq!(uri(text.as_bytes(), Version::Go1_27), new, "{text:?} 1.27");
        }
    }

    #[test]
    fn addresses() {
        for (text, old, new) in [
            ("1.2.3.4", true, true),
            ("01.2.3.4", false, false),
            ("::1", true, true),
            ("::1%x", false, false),
            ("00001::1", true, false),
            ("00000::1", true, false),
            ("a.b", false, false),
            ("::ffff:1.2.3.4", true, true),
        ] {
            assert_eq!(address(text.as_bytes(), Version::Go1_19), old, "{text:?}");
            assert_eq!(address(text.as_bytes(), Version::Go1_27), new, "{text:?}");
        }
    }
}
