//! URIs in names, as `java.net.URI` (RFC 2396) and `sun.security.x509.URIName` read them. Only few certificates come
//! to grief over this: those where a critical extension has such a name.

use std::net::Ipv6Addr;

use crate::readers::reading::Fault;

/// `new URIName(String)`: it must have a scheme, and a host, if it has one, that is a name or an address.
pub(super) fn name(text: &[u8]) -> Result<(), Fault> {
    let uri = parse(text)?;
    let right = match uri.host {
        Some([b'[', ..]) | None => true,
        // Updates before 17.0.21 asked the network about what is no name.
        Some(host) => is_dns_name(host),
    };
    match (uri.has_scheme, right) {
        (false, _) => Err(Fault::Value),
        (_, false) => Err(Fault::Characters),
        _ => Ok(()),
    }
}

/// `URIName.nameConstraint`: a host or, with a dot before it, a domain, and no scheme.
pub(super) fn constraint(text: &[u8]) -> Result<(), Fault> {
    if parse(text)?.has_scheme {
        return Err(Fault::Value);
    }
    let end = memchr::memchr(b'#', text).unwrap_or(text.len());
    let host = unescaped(text.get(..end).unwrap_or_default());
    let host = host.strip_prefix(b".").unwrap_or(&host);
    if is_dns_name(host) { Ok(()) } else { Err(Fault::Characters) }
}

/// `new DNSName(String)`.
fn is_dns_name(text: &[u8]) -> bool {
    let is_label = |label: &[u8]| {
        (1..=63).contains(&label.len())
            && !label.starts_with(b"-")
            && !label.ends_with(b"-")
            && label.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
    };
    text.len() <= 253 && text.split(|byte| *byte == b'.').all(is_label)
}

/// Without escapes, which are known to be whole.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        let mut digit = || bytes.next().and_then(|byte| char::from(*byte).to_digit(16)).unwrap_or_default();
        out.push(if *byte == b'%' { ((digit() << 4 | digit()) & 0xFF) as u8 } else { *byte });
    }
    out
}

/// What is asked of a URI.
struct Uri<'a> {
    has_scheme: bool,
    host: Option<&'a [u8]>,
}

/// A part of a URI: which characters it may have, and whether escapes and what is not ASCII.
#[derive(Clone, Copy)]
struct Part {
    marks: &'static [u8],
    escapes: bool,
}

const ANY: Part = Part { marks: b"-_.!~*'();/?:@&=+$,[]", escapes: true };
const PATH: Part = Part { marks: b"-_.!~*'():@&=+$,;/", escapes: true };
const USER: Part = Part { marks: b"-_.!~*'();:&=+$,", escapes: true };
const REGISTRY: Part = Part { marks: b"-_.!~*'()$,;:@&=+", escapes: true };
const SERVER: Part = Part { marks: b"-_.!~*'();:&=+$,@[]", escapes: true };
const SERVER_WITH_SCOPE: Part = Part { marks: b"-_.!~*'();:&=+$,@[]%", escapes: true };
const SCHEME: Part = Part { marks: b"+-.", escapes: false };
const SCOPE: Part = Part { marks: b"_.", escapes: false };

impl Part {
    /// Whether all of the text is of this part. A broken escape is an error by itself.
    fn has(self, text: &[u8]) -> Result<bool, Fault> {
        let mut rest = text;
        while let [first, after @ ..] = rest {
            rest = match first {
                _ if first.is_ascii_alphanumeric() || self.marks.contains(first) => after,
                b'%' if self.escapes => match after {
                    [a, b, after @ ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => after,
                    _ => return Err(Fault::Value),
                },
                0x80.. if self.escapes => after,
                _ => return Ok(false),
            };
        }
        Ok(true)
    }

    fn must_have(self, text: &[u8]) -> Result<(), Fault> {
        if self.has(text)? { Ok(()) } else { Err(Fault::Value) }
    }
}

/// The text before the first of these bytes, and the rest.
fn split<'a>(text: &'a [u8], stop: &[u8]) -> (&'a [u8], &'a [u8]) {
    text.split_at(text.iter().position(|byte| stop.contains(byte)).unwrap_or(text.len()))
}

/// `URI.Parser.parse`.
fn parse(text: &[u8]) -> Result<Uri<'_>, Fault> {
    let (scheme, rest) = split(text, b"/?#:");
    let mut has_scheme = false;
    let mut rest = rest;
    let mut host = None;
    if let [b':', after @ ..] = rest {
        has_scheme = true;
        if !scheme.first().is_some_and(u8::is_ascii_alphabetic) {
            return Err(Fault::Value);
        }
        SCHEME.must_have(scheme)?;
        if after.starts_with(b"/") {
            (host, rest) = hierarchical(after)?;
        } else {
            let (opaque, behind) = split(after, b"#");
            if opaque.is_empty() {
                return Err(Fault::Value);
            }
            ANY.must_have(opaque)?;
            rest = behind;
        }
    } else {
        (host, rest) = hierarchical(text)?;
    }
    if let [b'#', fragment @ ..] = rest {
        ANY.must_have(fragment)?;
    }
    Ok(Uri { has_scheme, host })
}

/// `parseHierarchical`: the host, and what is left from the fragment on.
fn hierarchical(text: &[u8]) -> Result<(Option<&[u8]>, &[u8]), Fault> {
    let mut rest = text;
    let mut host = None;
    if let Some(after) = text.strip_prefix(b"//") {
        let (authority, behind) = split(after, b"/?#");
        if !authority.is_empty() {
            host = self::authority(authority)?;
        } else if behind.is_empty() {
            return Err(Fault::Value);
        }
        rest = behind;
    }
    let (path, mut rest) = split(rest, b"?#");
    PATH.must_have(path)?;
    if let [b'?', query @ ..] = rest {
        let (query, behind) = split(query, b"#");
        ANY.must_have(query)?;
        rest = behind;
    }
    Ok((host, rest))
}

/// `parseAuthority`: a server, or a name of any other registry, which has no host.
fn authority(text: &[u8]) -> Result<Option<&[u8]>, Fault> {
    let server = if text.contains(&b']') { SERVER_WITH_SCOPE } else { SERVER };
    let (may_be_server, may_be_name) = (server.has(text)?, REGISTRY.has(text)?);
    match if may_be_server { self::server(text) } else { Err(Fault::Value) } {
        Ok(host) => Ok(Some(host)),
        Err(_) if may_be_name => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// `parseServer`: the host.
fn server(text: &[u8]) -> Result<&[u8], Fault> {
    let mut rest = text;
    if let Some(at) = memchr::memchr(b'@', text) {
        USER.must_have(text.get(..at).unwrap_or_default())?;
        rest = text.get(at + 1..).unwrap_or_default();
    }
    let (host, port) = if let Some(inside) = rest.strip_prefix(b"[") {
        let end = memchr::memchr(b']', inside).ok_or(Fault::Value)?;
        let (address, scope) = split(inside.get(..end).unwrap_or_default(), b"%");
        if let [b'%', scope @ ..] = scope {
            if scope.is_empty() {
                return Err(Fault::Value);
            }
            SCOPE.must_have(scope)?;
        }
        std::str::from_utf8(address)
            .ok()
            .and_then(|text| text.parse::<Ipv6Addr>().ok())
            .ok_or(Fault::Value)?;
        rest.split_at(end + 2)
    } else {
        let (host, port) = split(rest, b":");
        if !is_ipv4_address(host) {
            host_name(host)?;
        }
        (host, port)
    };
    match port {
        [] => Ok(host),
        [b':', digits @ ..] => {
            let digits = std::str::from_utf8(digits).map_err(|_| Fault::Value)?;
            let right = digits.bytes().all(|byte| byte.is_ascii_digit());
            if digits.is_empty() || right && digits.parse::<i32>().is_ok() {
                Ok(host)
            } else {
                Err(Fault::Value)
            }
        }
        _ => Err(Fault::Value),
    }
}

/// `scanIPv4Address`.
fn is_ipv4_address(text: &[u8]) -> bool {
    let numbers: Vec<&[u8]> = text.split(|byte| *byte == b'.').collect();
    numbers.len() == 4
        && numbers.iter().all(|number| {
            let value = std::str::from_utf8(number).ok().and_then(|text| text.parse::<i32>().ok());
            number.iter().all(u8::is_ascii_digit) && value.is_some_and(|value| value < 256)
        })
}

/// `parseHostname`: labels, the last of which begins with a letter where there are several. A dot may follow.
fn host_name(text: &[u8]) -> Result<(), Fault> {
    let labels: Vec<&[u8]> = text.strip_suffix(b".").unwrap_or(text).split(|byte| *byte == b'.').collect();
    let is_label = |label: &&[u8]| match label {
        [first, .., last] => {
            first.is_ascii_alphanumeric()
                && *last != b'-'
                && label.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
        }
        [only] => only.is_ascii_alphanumeric(),
        [] => false,
    };
    let begins_right = match labels[..] {
        [_, .., last] => last.first().is_some_and(u8::is_ascii_alphabetic),
        _ => true,
    };
    if begins_right && labels.iter().all(is_label) { Ok(()) } else { Err(Fault::Value) }
}
