//! Dates, by a reader of our own: what is not written as RFC 5280 demands is still read where it means one instant.

use time::{Date, Month, OffsetDateTime, PrimitiveDateTime, Time as Clock, UtcOffset};

use crate::der::tag;

/// One of the two times of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// Seconds since 1970-01-01T00:00:00Z; `None` where nobody can tell the instant.
    pub instant: Option<i64>,
    /// Whether it is written as RFC 5280 sections 4.1.2.5.1 and 4.1.2.5.2 demand: `YYMMDDHHMMSSZ` or
    /// `YYYYMMDDHHMMSSZ`. OpenSSL's `X509_cmp_time` compares no other form, so that such a certificate never verifies.
    pub strict: bool,
}

/// notBefore and notAfter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    /// The first instant of validity.
    pub not_before: Time,
    /// The last instant of validity.
    pub not_after: Time,
}

/// How a validity stands to an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValidityState {
    /// Within its dates.
    Valid,
    /// notAfter is past.
    Expired,
    /// notBefore is to come.
    NotYetValid,
    /// A date that cannot be read decides. Never taken for "expired".
    Unknown,
}

impl Validity {
    /// Reads both times; each is a tag and its content.
    #[must_use]
    pub fn read(not_before: (u8, &[u8]), not_after: (u8, &[u8])) -> Self {
        Self { not_before: Time::read(not_before), not_after: Time::read(not_after) }
    }

    /// The state at an instant (seconds since 1970).
    #[must_use]
    pub fn at(&self, now: i64) -> ValidityState {
        match (self.not_before.instant, self.not_after.instant) {
            (_, Some(end)) if end < now => ValidityState::Expired,
            (Some(start), _) if start > now => ValidityState::NotYetValid,
            (Some(_), Some(_)) => ValidityState::Valid,
            _ => ValidityState::Unknown,
        }
    }

    /// Whether notAfter lies before notBefore.
    #[must_use]
    pub fn is_reversed(&self) -> bool {
        matches!((self.not_before.instant, self.not_after.instant), (Some(start), Some(end)) if end < start)
    }
}

impl Time {
    fn read((tag, content): (u8, &[u8])) -> Self {
        let unreadable = Self { instant: None, strict: false };
        let Some((year_digits, rest)) = (match tag {
            tag::UTC_TIME => content.split_at_checked(2),
            tag::GENERALIZED_TIME => content.split_at_checked(4),
            _ => None,
        }) else {
            return unreadable;
        };
        let Some((fields, zone)) = rest.split_at_checked(10) else { return unreadable };
        let Some(mut year) = number(year_digits) else { return unreadable };
        if tag == tag::UTC_TIME {
            // RFC 5280 section 4.1.2.5.1: 50 to 99 are in the twentieth century.
            year += if year < 50 { 2000 } else { 1900 };
        }
        let mut parts = fields.chunks(2).map(number);
        let (Some(Some(month)), Some(Some(day)), Some(Some(hour)), Some(Some(minute)), Some(Some(second))) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return unreadable;
        };
        let Some(offset) = offset(tag, zone) else { return unreadable };
        let instant = (|| {
            let month = Month::try_from(month as u8).ok()?;
            let date = Date::from_calendar_date(year, month, day as u8).ok()?;
            let clock = Clock::from_hms(hour as u8, minute as u8, second as u8).ok()?;
            Some(PrimitiveDateTime::new(date, clock).assume_offset(offset).unix_timestamp())
        })();
        Self { instant, strict: instant.is_some() && zone == b"Z" }
    }
}

/// `Z`, `+hhmm`, `-hhmm`; for GeneralizedTime with a fraction of a second before it, which is dropped.
fn offset(tag: u8, zone: &[u8]) -> Option<UtcOffset> {
    let mut zone = zone;
    if tag == tag::GENERALIZED_TIME && (zone.first() == Some(&b'.') || zone.first() == Some(&b',')) {
        let digits = zone[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        zone = &zone[1 + digits..];
    }
    if zone == b"Z" {
        return Some(UtcOffset::UTC);
    }
    let (&sign, digits) = zone.split_first()?;
    if digits.len() != 4 {
        return None;
    }
    let (hours, minutes) = (number(&digits[..2])? as i8, number(&digits[2..])? as i8);
    if hours > 14 || minutes > 59 {
        return None;
    }
    match sign {
        b'+' => UtcOffset::from_hms(hours, minutes, 0).ok(),
        b'-' => UtcOffset::from_hms(-hours, -minutes, 0).ok(),
        _ => None,
    }
}

/// A number of at most four decimal digits.
fn number(digits: &[u8]) -> Option<i32> {
    digits
        .iter()
        .try_fold(0, |value, byte| byte.is_ascii_digit().then(|| value * 10 + i32::from(byte - b'0')))
}

/// An instant as RFC 3339 in UTC: `2026-11-30T00:00:00Z`.
#[must_use]
pub fn rfc3339(instant: i64) -> String {
    // Four-digit years only come in, so that the range is never left.
    OffsetDateTime::from_unix_timestamp(instant)
        .ok()
        .and_then(|time| time.format(&time::format_description::well_known::Rfc3339).ok())
        .unwrap_or_else(|| instant.to_string())
}

/// Reads RFC 3339, or a date alone, which means 00:00 UTC. Seconds since 1970.
#[must_use]
pub fn parse_instant(text: &str) -> Option<i64> {
    if let Ok(time) = OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339) {
        // With its offset taken away it may lie in a year that RFC 3339 cannot write.
        let utc = time.checked_to_utc()?;
        return (0..=9999).contains(&utc.year()).then(|| utc.unix_timestamp());
    }
    let mut parts = text.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if year.len() != 4 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let month = Month::try_from(number(month.as_bytes())? as u8).ok()?;
    let date =
        Date::from_calendar_date(number(year.as_bytes())?, month, number(day.as_bytes())? as u8).ok()?;
    Some(date.midnight().assume_utc().unix_timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(text: &str) -> Time {
        Time::read((tag::UTC_TIME, text.as_bytes()))
    }
    fn generalized(text: &str) -> Time {
        Time::read((tag::GENERALIZED_TIME, text.as_bytes()))
    }

    // Expected numbers are those of `date -u -d ... +%s`.
    #[test]
    fn rfc_5280_forms() {
        assert_eq!(utc("700101000000Z"), Time { instant: Some(0), strict: true });
        assert_eq!(utc("491231235959Z").instant, Some(2_524_607_999));
        assert_eq!(utc("500101000000Z").instant, Some(-631_152_000));
        assert_eq!(generalized("20500101000000Z"), Time { instant: Some(2_524_608_000), strict: true });
        assert_eq!(generalized("99991231235959Z").instant, Some(253_402_300_799));
        assert_eq!(generalized("20240229000000Z").instant, Some(1_709_164_800));
    }

    #[test]
    fn other_forms_that_mean_one_instant_are_read_and_not_strict() {
        assert_eq!(utc("700101010000+0100"), Time { instant: Some(0), strict: false });
        assert_eq!(generalized("19691231233000-0030"), Time { instant: Some(0), strict: false });
        assert_eq!(generalized("19700101000000.5Z"), Time { instant: Some(0), strict: false });
    }

    #[test]
    fn what_is_no_instant_is_unknown() {
        for text in [
            "7001010000Z",
            "700101000000",
            "701301000000Z",
            "700230000000Z",
            "700101240000Z",
            "700101000060Z",
            "",
            "garbage",
            "700101000000z",
            "70010100000\u{0}Z",
            "+10101000000Z",
        ] {
            assert_eq!(utc(text), Time { instant: None, strict: false }, "{text}");
        }
        assert_eq!(generalized("19700101000000.Z").instant, None);
        assert_eq!(Time::read((tag::OCTET_STRING, b"700101000000Z")).instant, None);
    }

    #[test]
    fn states() {
        let day = |start, end| Validity {
            not_before: Time { instant: start, strict: true },
            not_after: Time { instant: end, strict: true },
        };
        assert_eq!(day(Some(0), Some(10)).at(10), ValidityState::Valid);
        assert_eq!(day(Some(0), Some(10)).at(11), ValidityState::Expired);
        assert_eq!(day(Some(12), Some(20)).at(11), ValidityState::NotYetValid);
        assert_eq!(day(None, Some(20)).at(11), ValidityState::Unknown);
        assert_eq!(day(None, Some(10)).at(11), ValidityState::Expired);
        assert_eq!(day(Some(0), None).at(11), ValidityState::Unknown);
        assert!(day(Some(2), Some(1)).is_reversed());
    }

    #[test]
    fn instants_are_read_and_written() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(parse_instant("1970-01-02"), Some(86_400));
        assert_eq!(parse_instant("1970-01-01T01:00:00+01:00"), Some(0));
        for bad in ["", "1970", "1970-1-1", "1970-13-01", "yesterday", "+970-01-01"] {
            assert_eq!(parse_instant(bad), None, "{bad}");
        }
    }
}
