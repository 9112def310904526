//! What OpenSSL loads of a CAfile: `X509_load_cert_crl_file_ex` (crypto/x509/by_file.c), which reads all blocks by
//! `PEM_X509_INFO_read_bio_ex` (crypto/pem/pem_info.c) and takes nothing where one of them cannot be read.

mod asn1;
mod certificate;
mod key;
mod pem;

use self::key::Kind;
use self::pem::{Blocks, Cipher, Stop};
use super::reading::{Fault, Framing, Loaded, Miss, OtherBlock, Part, Reading, Reason, identity};
use crate::openssl::release::Release;
use crate::pem::scan::{self, DefectKind, Noise};

/// The versions that differ in what they load. Measured: 1.1.1l; 3.0.7, 3.0.19, 3.1.4 and 3.2.2, which agree; 3.5.6;
/// 4.0.3; and where the differences begin, 3.3.2, 3.4.1, 3.5.2 and 4.0.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    /// 1.1.1: no byte order mark, only keys of named kinds are read, any code point in names.
    V1_1_1,
    /// 3.0 to 3.2.
    V3_0,
    /// 3.3 to 3.5: times must have seconds and an end.
    V3_5,
    /// 4.0: as 3.5, and lists of other issuers must say that they are indirect.
    V4_0,
}

impl Version {
    /// The version that reads as a release does.
    #[must_use]
    pub fn of(release: Release) -> Self {
        match (release.major, release.minor) {
            (0..=2, _) => Self::V1_1_1,
            (3, 0..=2) => Self::V3_0,
            (3, _) => Self::V3_5,
            _ => Self::V4_0,
        }
    }
}

/// What OpenSSL loads of a file that is named as CAfile.
#[must_use]
pub fn read(bytes: &[u8], version: Version) -> Reading {
    let mut reading = Reading::default();
    let mut ends = Vec::new();
    let mut lists = 0;
    let mut blocks = Blocks::new(bytes, version);
    let stopped_at = loop {
        let block = match blocks.next() {
            Ok(block) => block,
            Err(Stop::End(at)) => break at,
            Err(Stop::Error(offset, framing)) => {
                return Reading::refuse(offset, Reason::Framing(framing)).finish(bytes);
            }
        };
        let refused = match kind(block.label, version) {
            Block::Certificate { trusted } => {
                let answer = if trusted {
                    certificate::trusted(&block.data, version)
                } else {
                    certificate::certificate(&block.data, version).map(drop)
                };
                match answer {
                    // A header that is none of an encrypted block is an error, and nobody is there for a password.
                    _ if pem::cipher(&block.header) != Cipher::None => Some(Reason::Framing(Framing::Header)),
                    Ok(()) => {
                        reading
                            .loads
                            .push(Loaded { offset: block.offset, fingerprint: identity(&block.data) });
                        ends.push(block.end);
                        None
                    }
                    Err((part, fault)) => Some(Reason::Certificate(part, fault)),
                }
            }
            Block::List => {
                lists += 1;
                let readable = pem::cipher(&block.header) == Cipher::None
                    && certificate::list(&block.data, version).is_ok();
                (!readable).then_some(Reason::Other(OtherBlock::Crl))
            }
            Block::Key(kind) => {
                let readable = match pem::cipher(&block.header) {
                    Cipher::None => kind.is_none_or(|kind| key::is_readable(&block.data, kind, version)),
                    // Kept as it is, for whoever knows the password.
                    Cipher::Encrypted => true,
                    Cipher::Refused => false,
                };
                (!readable).then_some(Reason::Other(OtherBlock::PrivateKey))
            }
            Block::Other => None,
        };
        if let Some(reason) = refused {
            return Reading::refuse(block.offset, reason).finish(bytes);
        }
    };
    reading.misses = misses(bytes, &reading.loads, &ends, stopped_at);
    if reading.loads.is_empty() && lists == 0 {
        reading.refused = Some(Miss::at(0, Reason::Nothing));
    }
    reading.finish(bytes)
}

/// What OpenSSL's look-up by hash loads of a file, and whether it gets to its end: `X509_load_cert_file_ex`, by
/// `PEM_read_bio_X509_AUX`. What stands before a block that it cannot read is loaded; what stands behind a certificate
/// must be trust settings, whatever the label.
#[must_use]
pub fn look_up(bytes: &[u8], version: Version) -> (Vec<Loaded>, bool) {
    let mut loads = Vec::new();
    let mut blocks = Blocks::new(bytes, version);
    loop {
        let block = match blocks.next() {
            Ok(block) => block,
            Err(Stop::End(_)) => break,
            Err(Stop::Error(..)) => return (loads, false),
        };
        if !matches!(kind(block.label, version), Block::Certificate { .. }) {
            continue;
        }
        let refused =
            pem::cipher(&block.header) != Cipher::None || certificate::trusted(&block.data, version).is_err();
        if refused {
            return (loads, false);
        }
        loads.push(Loaded { offset: block.offset, fingerprint: identity(&block.data) });
    }
    let complete = !loads.is_empty();
    (loads, complete)
}

/// Whether OpenSSL refuses a certificate, and with it any file that it stands in. Bytes behind its end do not matter.
///
/// # Errors
/// The part that `d2i_X509` stops at, and what is wrong there.
pub fn certificate(der: &[u8], version: Version) -> Result<(), (Part, Fault)> {
    certificate::certificate(der, version).map(drop)
}

enum Block {
    Certificate {
        trusted: bool,
    },
    List,
    /// `None`: kept without a look.
    Key(Option<Kind>),
    Other,
}

fn kind(label: &[u8], version: Version) -> Block {
    match label {
        b"CERTIFICATE" | b"X509 CERTIFICATE" => Block::Certificate { trusted: false },
        b"TRUSTED CERTIFICATE" => Block::Certificate { trusted: true },
        b"X509 CRL" => Block::List,
        b"RSA PRIVATE KEY" => Block::Key(Some(Kind::Rsa)),
        b"DSA PRIVATE KEY" => Block::Key(Some(Kind::Dsa)),
        b"EC PRIVATE KEY" => Block::Key(Some(Kind::Ec)),
        _ if version == Version::V1_1_1 => Block::Other,
        b"ENCRYPTED PRIVATE KEY" => Block::Key(None),
        _ if memchr::memmem::find(label, b"PRIVATE KEY").is_some() => Block::Key(Some(Kind::Any)),
        _ => Block::Other,
    }
}

/// The blocks with a certificate's label that are in the file and not among those loaded.
fn misses(bytes: &[u8], loads: &[Loaded], ends: &[usize], stopped_at: usize) -> Vec<Miss> {
    let mut out = Vec::new();
    for block in scan::scan(bytes) {
        let span = block.span();
        if !block.label().is_certificate() || block.defects().iter().any(|defect| defect.kind.is_text()) {
            continue;
        }
        let next = loads.partition_point(|loaded| loaded.offset <= span.start);
        if next.checked_sub(1).is_some_and(|before| loads[before].offset == span.start) {
            continue;
        }
        let swallowed = next.checked_sub(1).is_some_and(|before| span.start < ends[before]);
        let noise = block.noise();
        let framing = if swallowed {
            Framing::Swallowed
        } else if span.start >= stopped_at {
            Framing::Nul
        } else if noise.has(Noise::BYTE_ORDER_MARK) {
            Framing::ByteOrderMark
        } else if noise.has(Noise::TEXT_BEFORE_BEGIN) {
            Framing::TextBeforeBegin
        } else if noise.has(Noise::TEXT_AFTER_BEGIN) {
            Framing::TextAfterBegin
        } else if block.defects().iter().any(|defect| defect.kind == DefectKind::GluedBoundary) {
            Framing::Glued
        } else {
            Framing::BadBegin
        };
        out.push(Miss::at(span.start, Reason::Framing(framing)));
    }
    out
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        crate::der::write_header(tag, content.len(), &mut out);
        [out, content.to_vec()].concat()
    }

    /// The smallest certificate that `openssl x509` reads, with a serial number, a time and a subject to choose.
    fn small(serial: &[u8], time: &[u8], subject: &[u8]) -> Vec<u8> {
        let algorithm = tlv(0x30, &tlv(0x06, &[0x2A, 3]));
        let validity = tlv(0x30, &[tlv(0x17, time), tlv(0x17, b"491231235959Z")].concat());
        let key = tlv(0x30, &[algorithm.clone(), tlv(0x03, &[0])].concat());
        let tbs = tlv(
            0x30,
            &[tlv(0x02, serial), algorithm.clone(), tlv(0x30, &[]), validity, tlv(0x30, subject), key]
                .concat(),
        );
        tlv(0x30, &[tbs, algorithm, tlv(0x03, &[0])].concat())
    }

    fn attribute(tag: u8, value: &[u8]) -> Vec<u8> {
        tlv(0x31, &tlv(0x30, &[tlv(0x06, &[0x55, 4, 3]), tlv(tag, value)].concat()))
    }

    fn plain() -> Vec<u8> {
        small(&[1], b"260101000000Z", &attribute(0x13, b"A"))
    }

    fn pem() -> String {
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", {
            let base64 = STANDARD.encode(plain());
            base64
                .as_bytes()
                .chunks(64)
                .map(|line| String::from_utf8_lossy(line))
                .collect::<Vec<_>>()
                .join("\n")
        })
    }

    /// Offsets of what is loaded; or the reason of the refusal.
    fn loads(text: &str) -> Result<Vec<usize>, Reason> {
        let reading = read(text.as_bytes(), Version::V3_0);
        match reading.refused {
            Some(miss) => Err(miss.reason),
            None => Ok(reading.loads.iter().map(|loaded| loaded.offset).collect()),
        }
    }

    /// As `X509_STORE_load_locations` of 3.0.19 answers for the same bytes.
    #[test]
    fn framings() {
        let a = pem();
        let size = a.len();
        assert_eq!(loads(&format!("# x\n{a}{a}")), Ok(vec![4, 4 + size]));
        assert_eq!(loads(&format!("\u{feff}{a}")), Ok(vec![3]));
        assert_eq!(loads(&format!("{}{a}", "x".repeat(254))), Ok(vec![254]));
        assert_eq!(loads(&a.replace('\n', "\r\r\n")), Ok(vec![0]));
        assert_eq!(loads(&a.replacen("-----\n", "-----\n\n", 1)), Ok(vec![0]));
        assert_eq!(loads(&format!("{a}-----BEGIN OTHER-----\nAAAA\n-----END OTHER-----\n")), Ok(vec![0]));
        for hidden in [format!(" {a}"), format!("x{a}"), format!("# x\n\u{feff}{a}"), format!("\0\n{a}")] {
            assert_eq!(loads(&format!("{a}{hidden}")), Ok(vec![0]), "{hidden:?}");
            assert_eq!(loads(&hidden), Err(Reason::Nothing), "{hidden:?}");
        }
        // A block without END swallows the next one.
        let open = a.replace("-----END CERTIFICATE-----\n", "");
        let reading = read(format!("{open}{a}{a}").as_bytes(), Version::V3_0);
        assert_eq!(
            reading.loads.iter().map(|loaded| loaded.offset).collect::<Vec<_>>(),
            [0, open.len() + size]
        );
        assert_eq!(reading.misses[0].reason, Reason::Framing(Framing::Swallowed));
        for (refused, framing) in [
            (a.replace("-----END", " -----END"), Framing::MissingEnd),
            (format!("{}{a}", a.trim_end()), Framing::Glued),
            (a.replacen("-----\n", "-----\n\n\n", 1), Framing::BlankLine),
            (a.replacen("-----\n", "-----\nComment: x\n\n", 1), Framing::Header),
            (a.replace("END CERTIFICATE", "END OTHER"), Framing::BadEnd),
            (a.replacen('M', "!", 1), Framing::Base64),
            (format!("{a}-----BEGIN CERTIFICATE-----\n"), Framing::MissingEnd),
            (format!("-----BEGIN OTHER-----\n!\n-----END OTHER-----\n{a}"), Framing::Base64),
        ] {
            assert_eq!(loads(&refused), Err(Reason::Framing(framing)), "{refused:?}");
        }
    }

    /// As `openssl x509 -inform DER` of 3.0.19 answers, where no version is named.
    #[test]
    fn certificates() {
        let time = b"260101000000Z";
        let name = attribute(0x13, b"A");
        assert_eq!(certificate(&plain(), Version::V3_0), Ok(()));
        for serial in [&[0][..], &[0x00, 0x80], &[0xFF], &[0xFF, 0x7F], &[0x80, 0]] {
            assert_eq!(certificate(&small(serial, time, &name), Version::V3_0), Ok(()), "{serial:x?}");
        }
        for serial in [&[][..], &[0, 0], &[0, 1], &[0xFF, 0xFF], &[0xFF, 0x80]] {
            let answer = certificate(&small(serial, time, &name), Version::V3_0);
            assert_eq!(answer, Err((Part::Serial, Fault::Padding)), "{serial:x?}");
        }
        let short = small(&[1], b"2601010000Z", &name);
        assert_eq!(certificate(&short, Version::V3_0), Ok(()));
        assert_eq!(certificate(&short, Version::V3_5), Err((Part::Validity, Fault::Time)));
        for (tag, value, fault) in [
            (0x1A, &b"A"[..], Fault::StringType),
            (0x0A, &[1], Fault::StringType),
            (0x1E, &[0], Fault::Characters),
            (0x1E, &[0xD8, 0], Fault::Characters),
            (0x0C, &[0xC0, 0xAF], Fault::Characters),
            (0x03, &[8, 0], Fault::Value),
        ] {
            let answer = certificate(&small(&[1], time, &attribute(tag, value)), Version::V3_0);
            assert_eq!(answer, Err((Part::Subject, fault)), "{tag:02x} {value:x?}");
        }
        let surrogate = small(&[1], time, &attribute(0x1E, &[0xD8, 0]));
        assert_eq!(certificate(&surrogate, Version::V1_1_1), Ok(()));
    }

    #[test]
    fn every_part_of_a_file_is_read_without_panic() {
        let a = pem();
        let text = format!("\u{feff}{a}\0x\r\n-----BEGIN PRIVATE KEY-----\n:\n\n-----END PRIVATE KEY-----z");
        for end in 0..text.len() {
            for start in (0..end).step_by(7) {
                let _ = read(&text.as_bytes()[start..end], Version::V4_0);
            }
        }
        let der = plain();
        for at in 0..der.len() {
            for byte in [0, 1, 0x1F, 0x30, 0x7F, 0x80, 0x84, 0xFF] {
                let mut changed = der.clone();
                changed[at] = byte;
                let _ = certificate(&changed, Version::V1_1_1);
                let _ = certificate(&changed[..at], Version::V4_0);
            }
        }
    }
}
