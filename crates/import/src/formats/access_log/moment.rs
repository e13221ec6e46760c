//! Instants as logs write them: whole (`21/Nov/2026:12:55:40 +0000`, `2026-11-21T12:55:40.622Z`, `1795265740.622`) or
//! piece by piece (strftime). Deliberately absent: names of months in other languages than English.

use crate::numbers;
use crate::stamps::{self, LocalTime};
use headway_base::Nanos;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::Offset;

const S: i64 = 1_000_000_000;

/// One way of writing an instant, or a piece of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Notation {
    /// `21/Nov/2026:12:55:40 +0000`.
    Clf,
    /// `2026-11-21T12:55:40.622Z`, `2026-11-21T12:55:40+01:00`.
    Iso,
    /// A number since the Unix epoch in units of so many nanoseconds, with decimals if `decimals`.
    Epoch { unit_ns: i64, decimals: bool },
    /// The digits behind the second's point, so many of them.
    Fraction { digits: usize },
    /// The field of that strftime letter.
    Piece(u8),
}

/// An instant while it is put together.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Moment {
    /// Nanoseconds since the epoch, and what the last digit is worth.
    whole: Option<(i64, i64)>,
    fraction: Option<(i64, i64)>,
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    hour: Option<i64>,
    minute: Option<i64>,
    second: Option<i64>,
    afternoon: Option<bool>,
    offset_s: Option<i64>,
}

impl Moment {
    /// Reads what stands at the beginning of `text` into its place; how many bytes that was, none if it is not there.
    pub(super) fn take(&mut self, notation: Notation, text: &[u8]) -> Option<usize> {
        match notation {
            Notation::Clf => {
                let text = text.get(..26)?;
                let [b'/', b'/', b':', b':', b':', b' '] = [2, 6, 11, 14, 17, 20].map(|i: usize| text[i])
                else {
                    return None;
                };
                let date = [number(&text[7..11])?, month(&text[3..6])?, number(&text[..2])?];
                let time = [number(&text[12..14])?, number(&text[15..17])?, number(&text[18..20])?];
                self.keep(instant(civil(date, time)?, offset(&text[21..])?)?, S);
                Some(26)
            }
            Notation::Iso => self.iso(text),
            Notation::Epoch { unit_ns, decimals } => {
                // So many digits has the unit in our time: a field of digits may follow without a gap.
                let most = 19 - unit_ns.ilog10() as usize;
                let whole = digits(text).min(most);
                let point = decimals && text.get(whole) == Some(&b'.');
                let behind = if point { digits(&text[whole + 1..]).min(9) } else { 0 };
                let n = numbers::int(&text[..whole])?.checked_mul(unit_ns)?;
                let digit = unit_ns.checked_div(10_i64.pow(behind as u32)).filter(|&digit| digit > 0)?;
                let part = if behind > 0 { number(&text[whole + 1..][..behind])? * digit } else { 0 };
                self.keep(n.checked_add(part)?, digit);
                Some(whole + if behind > 0 { 1 + behind } else { 0 })
            }
            Notation::Fraction { digits } => {
                let digit = S / 10_i64.pow(digits as u32);
                let part = number(text.get(..digits)?)? * digit;
                if self.fraction.is_none_or(|(_, known)| digit < known) {
                    self.fraction = Some((part, digit));
                }
                Some(digits)
            }
            Notation::Piece(letter) => self.piece(letter, text),
        }
    }

    fn iso(&mut self, text: &[u8]) -> Option<usize> {
        let n = text.iter().take_while(|b| b.is_ascii_digit() || b"TZ:.+-".contains(b)).count();
        let at = DateTimeParser::new().parse_timestamp(&text[..n]).ok()?;
        self.keep(
            i64::try_from(at.as_nanosecond()).ok()?,
            S / 10_i64.pow(numbers::places(&text[..n]).min(9)),
        );
        Some(n)
    }

    fn piece(&mut self, letter: u8, text: &[u8]) -> Option<usize> {
        let n = match letter {
            b'Y' => 4,
            b'b' => 3,
            b'z' => zone_length(text)?,
            b'Z' => [&b"UTC"[..], b"GMT"].contains(&text.get(..3)?).then_some(3)?,
            _ => 2,
        };
        let field = text.get(..n)?;
        // `%e` and `%k` pad with a blank.
        let value = || number(field.strip_prefix(b" ").unwrap_or(field));
        match letter {
            b'Y' => self.year = Some(value()?),
            b'y' => self.year = Some(2000 + value()?),
            b'm' => self.month = Some(value()?),
            b'b' => self.month = Some(month(field)?),
            b'd' => self.day = Some(value()?),
            b'H' | b'I' => self.hour = Some(value()?),
            b'M' => self.minute = Some(value()?),
            b'S' => self.second = Some(value()?),
            b'p' => self.afternoon = Some(field.eq_ignore_ascii_case(b"pm")),
            b'z' => self.offset_s = Some(offset(field)?),
            b'Z' => self.offset_s = Some(0),
            _ => return None,
        }
        Some(n)
    }

    /// The finest whole instant stays.
    fn keep(&mut self, ns: i64, digit: i64) {
        if self.whole.is_none_or(|(_, known)| digit < known) {
            self.whole = Some((ns, digit));
        }
    }

    /// The instant and what its last digit is worth, if there is enough of it. `zone` is that of times without one.
    pub(super) fn finish(&self, zone: &mut LocalTime) -> Option<(Nanos, Nanos)> {
        let (mut ns, mut digit) = match self.whole {
            Some(whole) => whole,
            None => (self.put_together(zone)?, S),
        };
        if let Some((part, finer)) = self.fraction
            && finer < digit
        {
            ns = ns.div_euclid(S).checked_mul(S)?.checked_add(part)?;
            digit = finer;
        }
        stamps::unix(ns).map(|at| (at, Nanos(digit)))
    }

    fn put_together(&self, zone: &mut LocalTime) -> Option<i64> {
        let hour = match (self.hour?, self.afternoon) {
            (hour, None) => hour,
            (hour @ 1..=12, Some(afternoon)) => hour % 12 + if afternoon { 12 } else { 0 },
            _ => return None,
        };
        // A log without minutes or seconds is too coarse to say anything about requests.
        let local = civil([self.year?, self.month?, self.day?], [hour, self.minute?, self.second?])?;
        match self.offset_s {
            Some(east) => instant(local, east),
            None => i64::try_from(zone.instant(local)?.as_nanosecond()).ok(),
        }
    }
}

/// How many digits stand at the beginning.
pub(super) fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// A number without a sign.
fn number(text: &[u8]) -> Option<i64> {
    text.first().filter(|b| b.is_ascii_digit())?;
    numbers::int(text)
}

fn month(name: &[u8]) -> Option<i64> {
    const NAMES: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
    NAMES.chunks(3).position(|n| n == name).map(|i| i as i64 + 1)
}

fn civil(date: [i64; 3], time: [i64; 3]) -> Option<DateTime> {
    let [year, month, day] = date;
    // A leap second has no number of its own since the epoch.
    let [hour, minute, second] = [time[0], time[1], if time[2] == 60 { 59 } else { time[2] }];
    let date = Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    let time = Time::new(hour.try_into().ok()?, minute.try_into().ok()?, second.try_into().ok()?, 0).ok()?;
    Some(date.to_datetime(time))
}

/// Nanoseconds since the epoch of that local time, so many seconds east of Greenwich.
fn instant(local: DateTime, east_s: i64) -> Option<i64> {
    let offset = Offset::from_seconds(east_s.try_into().ok()?).ok()?;
    i64::try_from(offset.to_timestamp(local).ok()?.as_nanosecond()).ok()
}

/// Bytes of `Z`, `+0100` or `+01:00`.
fn zone_length(text: &[u8]) -> Option<usize> {
    match text {
        [b'Z', ..] => Some(1),
        [b'+' | b'-', _, _, b':', ..] => Some(6),
        [b'+' | b'-', ..] => Some(5),
        _ => None,
    }
}

/// Seconds east of UTC.
fn offset(text: &[u8]) -> Option<i64> {
    let (sign, h, m) = match text {
        b"Z" => return Some(0),
        [sign, h1, h2, m1, m2] | [sign, h1, h2, b':', m1, m2] => (sign, [*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    let s = number(&h)? * 3600 + number(&m)? * 60;
    match sign {
        b'+' => Some(s),
        b'-' => Some(-s),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    fn read(parts: &[(Notation, &str)]) -> Option<(i64, i64)> {
        let mut moment = Moment::default();
        for (notation, text) in parts {
            assert_eq!(moment.take(*notation, text.as_bytes())?, text.len(), "{text}");
        }
        moment.finish(&mut LocalTime::new(TimeZone::UTC)).map(|(at, digit)| (at.0, digit.0))
    }

    const AT: i64 = 1_795_265_740;

    #[test]
    fn whole_instants() {
        let epoch = |unit_ns, decimals| Notation::Epoch { unit_ns, decimals };
        for (notation, text, ns, digit) in [
            (Notation::Clf, "21/Nov/2026:12:55:40 +0000", 0, S),
            (Notation::Clf, "21/Nov/2026:14:25:40 +0130", 0, S),
            (Notation::Clf, "20/Nov/2026:23:55:40 -1300", 0, S),
            (Notation::Iso, "2026-11-21T12:55:40Z", 0, S),
            (Notation::Iso, "2026-11-21T13:55:40.622+01:00", 622_000_000, 1_000_000),
            (Notation::Iso, "2026-11-21T12:55:40.000000007Z", 7, 1),
            (epoch(S, true), "1795265740.622", 622_000_000, 1_000_000),
            (epoch(1000, false), "1795265740622249", 622_249_000, 1000),
        ] {
            assert_eq!(read(&[(notation, text)]), Some((AT * S + ns, digit)), "{text}");
        }
        for text in [
            "21/Nov/2026:12:55:40",
            "21/Nov/2026:24:55:40 +0000",
            "31/Nov/2026:12:55:40 +0000",
            "29/Feb/2026:00:00:00 +0000",
        ] {
            assert_eq!(read(&[(Notation::Clf, text)]), None, "{text}");
        }
        assert_eq!(read(&[(epoch(S, false), "9999999999999")]), None);
        assert_eq!(read(&[(epoch(S, false), "0")]), None);
    }

    #[test]
    fn pieces() {
        let pieces = [
            (b'd', "21"),
            (b'b', "Nov"),
            (b'Y', "2026"),
            (b'I', "12"),
            (b'p', "PM"),
            (b'M', "55"),
            (b'S', "40"),
        ];
        let mut parts: Vec<_> = pieces.map(|(letter, text)| (Notation::Piece(letter), text)).to_vec();
        assert_eq!(read(&parts), Some((AT * S, S)));
        parts.push((Notation::Fraction { digits: 6 }, "622249"));
        assert_eq!(read(&parts), Some((AT * S + 622_249_000, 1000)));
        parts.push((Notation::Piece(b'z'), "-0100"));
        assert_eq!(read(&parts), Some(((AT + 3600) * S + 622_249_000, 1000)));
        assert_eq!(read(&parts[1..]), None, "no day");
    }

    #[test]
    fn times_without_a_zone_are_in_the_given_one() {
        let mut moment = Moment::default();
        for (letter, text) in
            [(b'Y', "2026"), (b'm', "07"), (b'd', "01"), (b'H', "02"), (b'M', "00"), (b'S', "00")]
        {
            moment.take(Notation::Piece(letter), text.as_bytes()).unwrap();
        }
        let at = |zone: &TimeZone| moment.finish(&mut LocalTime::new(zone.clone())).unwrap().0;
        let east = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(at(&TimeZone::UTC) - at(&east), Nanos::from_secs(7200));
    }
}
