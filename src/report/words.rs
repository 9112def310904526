//! Findings in words.

use crate::audit::Context;
use crate::audit::finding::{BadValidity, Detail, Finding, OddEncoding, OddSerial, Shadow, Unreachable};
use crate::certificate::extensions;
use crate::certificate::validity::{Time, ValidityState};
use crate::escape::{visible, visible_path};
use crate::pem::scan::Noise;
use crate::store::content::{Distrust, Keystore, Shape};
use crate::store::model::{Certificate, CertificateId, LinkState, Special, Store};
use crate::store::source::SourceId;
use crate::store::source::Writable;
use crate::wording::{self, called, count, date, defect, refusals};

/// What a finding says, in one line without its place.
#[must_use]
pub fn message(store: &Store, context: &Context, finding: &Finding) -> String {
    let subject = || finding.certificate.map_or_else(String::new, |id| called(store.certificate(id)));
    let source = |id: SourceId| visible_path(&store.source(id).path);
    match &finding.detail {
        Detail::Duplicate => match finding.places.len() {
            2 => format!("{} stands here twice", subject()),
            times => format!("{} stands here {times} times", subject()),
        },
        Detail::DuplicateAcross { certificates, .. } => {
            format!("{} that another file holds as well", count(*certificates, "certificate"))
        }
        Detail::EagerAndOnDemand { certificates, directory, .. } => format!(
            "OpenSSL parses all {certificates} for every context, and would find each in {} on demand",
            source(*directory)
        ),
        Detail::OneSided { missing_from, certificates, .. } => format!(
            "{} that {} does not give: {}",
            count(*certificates, "CA certificate"),
            source(*missing_from),
            names_of_places(store, finding)
        ),
        Detail::Expired { not_after, superseded } => {
            let rest = if *superseded { " (a valid one of the same subject and key is here)" } else { "" };
            format!("{} expired on {}{rest}", subject(), date(*not_after))
        }
        Detail::ExpiresSoon { not_after, days } => {
            format!("{} expires on {}, in {}", subject(), date(*not_after), count(*days as usize, "day"))
        }
        Detail::NotYetValid { not_before } => {
            format!("{} is not valid before {}", subject(), date(*not_before))
        }
        Detail::BadValidity(what) => {
            let what = match what {
                BadValidity::Reversed => "ends before it begins to be valid",
                BadValidity::Unreadable => {
                    "has a date that means no instant; it counts as neither valid nor expired"
                }
                BadValidity::NotStrict => {
                    "has a date that RFC 5280 does not allow, and OpenSSL does not compare"
                }
            };
            format!("{} {what}", subject())
        }
        Detail::Unreachable(why) => format!("OpenSSL does not find {}: {}", subject(), unreachable(why)),
        Detail::Unlinked { certificates, .. } => format!(
            "{} without a hash link: {}",
            count(*certificates, "certificate"),
            names_of_places(store, finding)
        ),
        Detail::DeadCapath { links } => {
            format!("none of its {} leads to a file: OpenSSL finds nothing here", count(*links, "hash link"))
        }
        Detail::NoHashLinks { certificates } => {
            format!(
                "{} and no hash link: as a CApath OpenSSL finds nothing here",
                count(*certificates, "certificate")
            )
        }
        Detail::DanglingLink { target } => format!("leads to {}, which is not there", visible_path(target)),
        Detail::LinkLoop { target } => format!("leads to {} and back to itself", visible_path(target)),
        Detail::WrongHashLink { link, right, state } => match (right, state) {
            (Some(right), LinkState::WrongHash) => {
                format!("the hash of its target is {right:08x}, not {:08x}", link.hash)
            }
            (None, LinkState::WrongHash) => {
                "OpenSSL refuses the name of its target: no hash leads there".into()
            }
            _ => "its target holds nothing that a look-up could find".into(),
        },
        Detail::BadLinkName { meant } => format!("OpenSSL looks for {meant}, never for this name"),
        Detail::DerInBundle { length } => {
            format!("{} stands here as {length} bytes of DER, between PEM blocks", subject())
        }
        Detail::GluedBoundary { times: 1 } => {
            "END and BEGIN stand on one line: OpenSSL loads nothing from the file".into()
        }
        Detail::GluedBoundary { times } => {
            format!("END and BEGIN stand on one line, {times} times: OpenSSL loads nothing from the file")
        }
        Detail::MalformedBlock { label, kind, counted } => {
            let rest = if *counted { "; the certificate itself is whole" } else { "" };
            format!("{label} block: {}{rest}", defect(*kind))
        }
        Detail::MalformedCertificate { error } => format!("what the block holds is no certificate: {error}"),
        Detail::RefusedCertificate { by } => {
            format!("{} is refused, and the file with it, by {}", subject(), refusals(by))
        }
        Detail::BundleRefused { readers, block, reason } => {
            let verb = if readers.len() == 1 { "loads" } else { "load" };
            let block = block.map_or_else(String::new, |block| format!("block {block}: "));
            format!("{} {verb} nothing from this file: {block}{reason}", wording::readers(readers))
        }
        Detail::HiddenBlock { readers, reason } => {
            let verb = if readers.len() == 1 { "does" } else { "do" };
            let what = finding
                .certificate
                .map_or_else(|| "this block".to_owned(), |id| called(store.certificate(id)));
            format!("{} {verb} not see {what}: {reason}", wording::readers(readers))
        }
        Detail::SkippedCertificate { by } => format!("{} is passed over by {}", subject(), refusals(by)),
        Detail::Shadowed { readers, good, shadow } => {
            let verb = if readers.len() == 1 { "takes" } else { "take" };
            let good = store.certificate(*good);
            let why = match shadow {
                Shadow::NotACa => "which may not issue certificates".to_owned(),
                Shadow::PathLength(length) => format!("which has pathlen:{length}"),
                Shadow::NameConstraints => "which has name constraints".to_owned(),
                Shadow::OtherPurposes => "whose extended key usage is not for TLS servers".to_owned(),
                Shadow::NoIssuer => "whose issuer is not in the store".to_owned(),
                Shadow::OnlyInDirectory => "which stands in the CAfile".to_owned(),
            };
            let place = if *shadow == Shadow::OnlyInDirectory { " in the CApath" } else { "" };
            let taken = finding.certificate.map_or_else(String::new, |id| short(store.certificate(id)));
            format!(
                "{} {verb} {} ({taken}), {why}, and never the other one{place} ({})",
                wording::readers(readers),
                subject(),
                short(good)
            )
        }
        Detail::PrivateKey => "a private key stands here (its content is not shown)".into(),
        Detail::NoCertificates { shape } => {
            format!("no certificate: {}", shape.map_or("the directory has none", shape_words))
        }
        Detail::Unreadable { reason } => format!("cannot be read: {}", visible(reason)),
        Detail::NotRegular(special) => match special {
            Special::Fifo => "is a FIFO: opening it waits for ever".into(),
            Special::Device => "is a device".into(),
            Special::Socket => "is a socket".into(),
        },
        Detail::NotACa => format!("{} may not issue certificates", subject()),
        Detail::Leftover => "was left by a tool or an editor; castore does not read it".into(),
        Detail::Reissued { group } => {
            format!(
                "{} of one subject and key: {}",
                count(group.len(), "certificate"),
                group_words(store, context, group)
            )
        }
        Detail::SameSubject { group } => {
            format!(
                "{} of one subject, with different keys: {}",
                count(group.len(), "certificate"),
                group_words(store, context, group)
            )
        }
        Detail::TrustConflict { rejecting, of } => {
            format!("{rejecting} of {of} copies of {} reject it for TLS servers", subject())
        }
        Detail::DistrustFlattened(distrust) => {
            let what = match distrust {
                Distrust::Comment => "the comment before it",
                Distrust::P11Kit => "the p11-kit section before it",
            };
            format!("{what} distrusts {}; readers of PEM trust it", subject())
        }
        Detail::LinkToBundle { certificates } => {
            format!("leads to a bundle: each look-up parses its {}", count(*certificates, "certificate"))
        }
        Detail::Pkcs7Block { certificates } => {
            format!("a PKCS#7 message with {}", count(*certificates, "certificate"))
        }
        Detail::DerFile => format!("{} is in DER", subject()),
        Detail::LegacyLabel { blocks } => format!("{} with an old label", count(*blocks, "block")),
        Detail::LeftoverTrusted { certificates } => {
            format!("holds {} that the store lacks", count(*certificates, "certificate"))
        }
        Detail::WeakKey { algorithm, bits: Some(bits) } => {
            format!("{} has an {algorithm} key of {bits} bits", subject())
        }
        Detail::WeakKey { algorithm, bits: None } => {
            format!("{} has an {algorithm} key on an unknown curve", subject())
        }
        Detail::WeakSignature { algorithm } => format!("{} is signed with {}", subject(), visible(algorithm)),
        Detail::LessReadable => {
            "everybody may read the directory, and not this file: programs of other users do not find it"
                .to_owned()
        }
        Detail::WritableBy { kind, directory } => {
            let what = if *directory { "directory" } else { "file" };
            match kind {
                Writable::Others => format!("everybody may write this {what}"),
                Writable::Group => format!("the group may write this {what}"),
            }
        }
        Detail::SizeLimit { bytes, limit } => format!("{bytes} bytes, more than {limit}"),
        Detail::LinkOutside { target } => format!("leads out of the directory, to {}", visible_path(target)),
        Detail::LinkOutOfRoot { target } => format!("leads out of the root, to {}", visible_path(target)),
        Detail::IgnoredAnchor { certificates } => format!(
            "update-ca-certificates does not read it for its name: {} that the bundle lacks",
            count(*certificates, "certificate")
        ),
        Detail::NotRegenerated => {
            format!("{} is none of update-ca-certificates' inputs: the next run drops it", subject())
        }
        Detail::SecondName { certificates } => {
            format!("{} under two file names", count(*certificates, "certificate"))
        }
        Detail::Intermediate => format!("{} is no root: another CA issued it", subject()),
        Detail::SameKey { group } => {
            let names: Vec<String> = group.iter().take(3).map(|&id| called(store.certificate(id))).collect();
            let more = if group.len() > 3 { ", ..." } else { "" };
            format!("{} of one key: {}{more}", count(group.len(), "certificate"), names.join(", "))
        }
        Detail::LegacyLink { links } => format!("{} for OpenSSL 0.9.8", count(*links, "hash link")),
        Detail::LegacyVersion => format!("{} is a version 1 certificate", subject()),
        Detail::OddSerial(what) => match what {
            OddSerial::Zero => format!("{} has the serial number zero", subject()),
            OddSerial::Negative => format!("{} has a negative serial number", subject()),
            OddSerial::Long(bytes) => format!("{} has a serial number of {bytes} bytes", subject()),
        },
        Detail::OddEncoding(kinds) => {
            let kinds: Vec<String> = kinds.iter().map(|&kind| odd_encoding(kind)).collect();
            format!("{}: {}", subject(), kinds.join(", "))
        }
        Detail::OddFraming(noise) => framing(*noise),
        Detail::Subdirectory { link: true } => "is a link to a directory; nobody looks into it".into(),
        Detail::Subdirectory { link: false } => "is a directory; nobody looks into it".into(),
        Detail::OtherBlock { labels } => {
            let labels: Vec<_> = labels.iter().take(3).map(|label| visible(label)).collect();
            format!("holds what is no certificate: {}", labels.join(", "))
        }
        Detail::UnusedIgnore { entry } => format!("'{}' matches nothing", visible(entry)),
        Detail::Keystore(kind) => match kind {
            Keystore::Jks => "is a Java keystore".into(),
            Keystore::Jceks => "is a Java keystore (JCEKS)".into(),
            Keystore::Pkcs12 => "is a PKCS#12 keystore".into(),
        },
    }
}

fn unreachable(why: &Unreachable) -> String {
    match why {
        Unreachable::NoLink => "no hash link leads to it".into(),
        Unreachable::Gap(link) => format!("{link} leads to it, and a lower number is missing"),
        Unreachable::Shadowed(link) => {
            format!("{link} leads to it, and the look-up stops at a lower number that does not load")
        }
        Unreachable::Case(name) => format!("it is never looked up as {}", visible(name)),
        Unreachable::WrongHash(link) => format!("{link}, which leads to it, has another hash"),
        Unreachable::Legacy(link) => format!("{link}, which leads to it, is a name for OpenSSL 0.9.8"),
        Unreachable::SeveralInFile(number) => {
            format!("its file holds {number} certificates, and no link has its hash")
        }
        Unreachable::NotLoadable(link) => format!("{link} leads to a file that OpenSSL cannot read up to it"),
    }
}

fn shape_words(shape: Shape) -> &'static str {
    match shape {
        Shape::Empty => "the file is empty",
        Shape::Html => "the file is an HTML page",
        Shape::Utf16 => "the file is UTF-16, which no TLS library reads (write it again as ASCII)",
        Shape::DoubleBase64 => "the file is PEM encoded in base64 once more (decode it once)",
        Shape::EscapedNewlines => "its newlines are written as \\n, as in JSON or an environment variable",
        Shape::OnlyKeys => "the file holds a private key alone",
        Shape::OnlyMalformed => "every block in the file is damaged",
        Shape::OnlyOtherBlocks => "the file holds PEM blocks of other kinds alone",
        Shape::Text => "the file is text without a PEM block",
        Shape::Keystore(_) => "the file is a keystore",
        Shape::Binary => "the file is binary, and no DER certificate",
    }
}

/// The names of the certificates that a finding points to: a few, then how many more.
fn names_of_places(store: &Store, finding: &Finding) -> String {
    let mut names = Vec::new();
    for place in &finding.places {
        if let crate::audit::finding::Place::Occurrence(id) = place {
            let name = called(store.certificate(store.occurrence(*id).certificate));
            if !names.contains(&name) {
                names.push(name);
            }
            if names.len() > 3 {
                break;
            }
        }
    }
    let more = names.len() > 3 || names.len() < finding.places.len() && finding.places.len() > 3;
    names.truncate(3);
    let mut text = names.join(", ");
    if more {
        text.push_str(", ...");
    }
    text
}

/// The differing facts of a same-subject group, and who picks which.
fn group_words(store: &Store, context: &Context, group: &[CertificateId]) -> String {
    // Both pass over what is not valid now, where something else is.
    let is_valid =
        |id: &&CertificateId| store.certificate(**id).validity.at(context.now) == ValidityState::Valid;
    let first = group.iter().find(is_valid).or(group.first());
    let last = group.iter().rev().find(is_valid).or(group.last());
    let (Some(first), Some(last)) = (first, last) else { return String::new() };
    let dates: Vec<String> = group.iter().take(4).map(|&id| until(store.certificate(id), context)).collect();
    let more = if group.len() > 4 { ", ..." } else { "" };
    let differing = differing(store, group);
    let differing = if differing.is_empty() {
        String::new()
    } else {
        format!("; they differ in {}", differing.join(", "))
    };
    format!(
        "{} ({}{more}); OpenSSL takes the first ({}), GnuTLS the last ({}){differing}",
        called(store.certificate(*group.first().unwrap_or(first))),
        dates.join(", "),
        short(store.certificate(*first)),
        short(store.certificate(*last)),
    )
}

/// What differs in a group and decides which chains its members allow.
fn differing(store: &Store, group: &[CertificateId]) -> Vec<&'static str> {
    let members = || group.iter().map(|&id| store.certificate(id));
    let limits = || members().map(|certificate| extensions::limits(&certificate.der.fields()));
    fn all_same<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
        let first = values.next();
        values.all(|value| Some(value) == first)
    }
    [
        ("dates", all_same(members().map(|certificate| certificate.validity))),
        ("CA flag", all_same(members().map(|certificate| certificate.ca))),
        ("path length", all_same(limits().map(|limits| limits.path_length))),
        ("name constraints", all_same(limits().map(|limits| limits.name_constraints))),
    ]
    .into_iter()
    .filter(|(_, same)| !same)
    .map(|(what, _)| what)
    .collect()
}

fn until(certificate: &Certificate, context: &Context) -> String {
    let Time { instant: Some(end), .. } = certificate.validity.not_after else {
        return "until an unreadable date".into();
    };
    if end < context.now { format!("expired {}", date(end)) } else { format!("until {}", date(end)) }
}

fn short(certificate: &Certificate) -> String {
    certificate.fingerprint.to_string()[..8].to_owned()
}

fn odd_encoding(kind: OddEncoding) -> String {
    match kind {
        OddEncoding::EmptyName => "an empty name".into(),
        OddEncoding::StringType => "an old string type in a name".into(),
        OddEncoding::GeneralizedTime => "GeneralizedTime for a date before 2050".into(),
        OddEncoding::Ber => "its outer header is BER, not DER".into(),
        OddEncoding::Trailing(bytes) => format!("{} behind it", count(bytes, "byte")),
    }
}

fn framing(noise: Noise) -> String {
    let kinds: Vec<&str> = [
        (Noise::BYTE_ORDER_MARK, "a byte order mark (Go and rustls lose the block behind it)"),
        (Noise::CRLF, "CRLF line ends"),
        (Noise::WIDTH, "lines that are not 64 columns wide"),
        (Noise::TRAILING_BLANKS, "blanks at the end of lines"),
        (Noise::INDENTATION, "indented lines"),
        (Noise::TEXT_BEFORE_BEGIN, "text before BEGIN on its line"),
        (Noise::TEXT_AFTER_BEGIN, "text behind BEGIN on its line"),
        (Noise::TEXT_BEFORE_END, "text before END on its line"),
        (Noise::TEXT_AFTER_END, "text behind END on its line"),
        (Noise::NUL_IN_PREAMBLE, "NUL bytes between blocks"),
        (Noise::NO_FINAL_NEWLINE, "no final newline"),
        (Noise::BLANK_AFTER_BEGIN, "a blank line behind BEGIN"),
        (Noise::SPARE_BITS, "spare bits at the base64 padding"),
    ]
    .into_iter()
    .filter(|(kind, _)| noise.has(*kind))
    .map(|(_, text)| text)
    .collect();
    kinds.join(", ")
}
