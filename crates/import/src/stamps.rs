//! Instants as tools write them: numbers since the Unix epoch (or the tool's own zero) in s, ms, us or ns, and dates.
//!
//! Dates are read by shape and not by a pattern: three groups of digits for the day, then hours, minutes, seconds, a
//! fraction perhaps, a zone perhaps. That covers ISO 8601, RFC 3339 and the patterns people set in Java tools
//! (`yyyy/MM/dd HH:mm:ss.SSS`, `dd.MM.yyyy HH:mm:ss`). Month names are left to the formats that use them.

use crate::format::Clock;
use crate::numbers::{decimal, int, places};
use headway_base::Nanos;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// 1990-01-01 and 2200-01-01, UTC: what lies outside is not when a load test ran.
const EARLIEST: i64 = 631_152_000 * 1_000_000_000;
const LATEST: i64 = 7_258_118_400 * 1_000_000_000;
/// Ten years after a tool's own zero.
const LATEST_RELATIVE: i64 = 315_576_000 * 1_000_000_000;

/// A longer span is not one request.
const LONGEST: Nanos = Nanos::from_secs(24 * 3600);

/// The span if it is not negative and at most a day.
#[inline]
pub(crate) fn span(nanos: i64) -> Option<Nanos> {
    (0..=LONGEST.0).contains(&nanos).then_some(Nanos(nanos))
}

/// The instant of that number of nanoseconds since 1970, if it is possible.
#[inline]
pub(crate) fn unix(nanos: i64) -> Option<Nanos> {
    (EARLIEST..LATEST).contains(&nanos).then_some(Nanos(nanos))
}

/// What counts as an instant, for messages.
pub(crate) const EXPECTED: &str = "a time between 1990 and 2200";

/// Unit of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl Unit {
    pub(crate) const ALL: [Unit; 4] = [Unit::S, Unit::Ms, Unit::Us, Unit::Ns];

    /// Its symbol.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Unit::S => "s",
            Unit::Ms => "ms",
            Unit::Us => "us",
            Unit::Ns => "ns",
        }
    }

    /// Ten to this power nanoseconds.
    pub(crate) const fn power(self) -> u32 {
        match self {
            Unit::S => 9,
            Unit::Ms => 6,
            Unit::Us => 3,
            Unit::Ns => 0,
        }
    }

    /// A span written in this unit, not negative and at most a day; cut off at nanoseconds.
    #[inline]
    pub(crate) fn span(self, text: &[u8]) -> Option<Nanos> {
        let nanos = match int(text) {
            Some(n) => n.checked_mul(10_i64.pow(self.power())),
            None => decimal(text, self.power()),
        };
        nanos.and_then(span)
    }

    /// What the last of so many digits behind the point is worth; 1 ns at least.
    pub(crate) fn resolution(self, places: u32) -> Nanos {
        Nanos(10_i64.pow(self.power().saturating_sub(places)))
    }
}

/// How an instant is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// A number.
    Number(Unit),
    /// A date and a time of day.
    Date(Day),
    /// A time of day alone.
    Time,
}

/// Order of the three numbers of a day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Day {
    /// 2012-03-15
    Ymd,
    /// 15.03.2012
    Dmy,
    /// 03/15/2012
    Mdy,
}

impl Shape {
    /// By the look of one value: a number's unit by its size, a date's order by which number can be what.
    pub(crate) fn guess(text: &[u8]) -> Option<Shape> {
        if let Some(fields) = Split::of(text) {
            let [a, _, _] = fields.day;
            return Some(Shape::Date(match () {
                () if fields.year_first => Day::Ymd,
                () if fields.separator == b'/' && a <= 12 => Day::Mdy,
                () => Day::Dmy,
            }));
        }
        if time_of_day(text).is_some() {
            return Some(Shape::Time);
        }
        let number = decimal(text, 0)?;
        let unit = match number {
            ..10_000_000_000 => Unit::S,
            10_000_000_000..10_000_000_000_000 => Unit::Ms,
            10_000_000_000_000..10_000_000_000_000_000 => Unit::Us,
            _ => Unit::Ns,
        };
        unix(decimal(text, unit.power())?).map(|_| Shape::Number(unit))
    }
}

/// Year, month, day, hour, minute; and seconds east of UTC, if they are written beside.
type Minute = ([i16; 5], Option<i64>);

/// Reads instants of one shape.
#[derive(Clone, Debug)]
pub(crate) struct StampReader {
    shape: Shape,
    clock: Clock,
    zone: LocalTime,
    /// A minute of a day in a zone, and when it began.
    minute: Option<(Minute, i64)>,
    /// Most digits behind the point so far.
    places: u32,
    /// Of times of day: when the day began, counted from the midnight before the first of them, and the time before.
    day: i64,
    before: Option<i64>,
    /// Of dates whose order only their look tells: the last one.
    guessed: Option<[i16; 3]>,
}

impl StampReader {
    /// Instants of that shape, local ones in that zone. `first` is one of them: if it is a number too small to be a
    /// time of this age, they count from the tool's own zero.
    pub(crate) fn new(shape: Shape, zone: TimeZone, first: &[u8]) -> StampReader {
        let small = |unit: Unit| decimal(first, unit.power()).is_some_and(|at| (0..EARLIEST).contains(&at));
        let clock = match shape {
            Shape::Number(unit) if small(unit) => Clock::Relative,
            Shape::Time => Clock::Relative,
            _ => Clock::Unix,
        };
        StampReader::of_clock(shape, zone, clock)
    }

    /// Instants of that shape that count from there.
    pub(crate) fn of_clock(shape: Shape, zone: TimeZone, clock: Clock) -> StampReader {
        let zone = LocalTime::new(zone);
        StampReader { shape, clock, zone, minute: None, places: 0, day: DAY, before: None, guessed: None }
    }

    /// The same of a shape that was guessed: what contradicts the order of a date is not read.
    pub(crate) fn guessed(shape: Shape, zone: TimeZone, first: &[u8]) -> StampReader {
        let date = Split::of(first).filter(|date| shape == Shape::Date(Day::Mdy) && date.day[1] <= 12);
        StampReader { guessed: date.map(|date| date.day), ..StampReader::new(shape, zone, first) }
    }

    /// The instant; none if it is not of the shape, or absurd.
    #[inline]
    pub(crate) fn read(&mut self, text: &[u8]) -> Option<Nanos> {
        let at = match self.shape {
            Shape::Number(unit) => match int(text) {
                Some(n) => n.checked_mul(10_i64.pow(unit.power()))?,
                None => self.fraction(unit, text)?,
            },
            Shape::Date(day) => self.date(day, text)?,
            Shape::Time => self.time(text)?,
        };
        match self.clock {
            Clock::Unix => unix(at),
            Clock::Relative => (0..LATEST_RELATIVE).contains(&at).then_some(Nanos(at)),
        }
    }

    fn fraction(&mut self, unit: Unit, text: &[u8]) -> Option<i64> {
        let at = decimal(text, unit.power())?;
        self.places = self.places.max(places(text));
        Some(at)
    }

    /// Midnight passes where the time falls by more than half a day; rows may be a little out of order around it.
    fn time(&mut self, text: &[u8]) -> Option<i64> {
        let (at, places) = time_of_day(text)?;
        self.places = self.places.max(places);
        let since = at - self.before.unwrap_or(at);
        if since > DAY / 2 {
            return Some(self.day - DAY + at);
        }
        self.day += if since < -DAY / 2 { DAY } else { 0 };
        self.before = Some(at);
        Some(self.day + at)
    }

    fn date(&mut self, order: Day, text: &[u8]) -> Option<i64> {
        let fields = Split::of(text)?;
        if self.guessed.is_some_and(|before| before != fields.day) {
            self.next_day(fields.day)?;
        }
        let [a, b, c] = fields.day;
        let (year, month, day) = match order {
            Day::Ymd => (a, b, c),
            Day::Dmy => (c, b, a),
            Day::Mdy => (c, a, b),
        };
        let century = if year < 100 { 2000 } else { 0 };
        let [hour, minute, second] = fields.time;
        let local = [year + century, month, day, hour, minute];
        let began = match self.minute {
            Some((known, began)) if known == (local, fields.offset) => began,
            _ => {
                let began = self.begin(local, fields.offset)?;
                self.minute = Some(((local, fields.offset), began));
                began
            }
        };
        self.places = self.places.max(fields.places);
        // 60 is a leap second.
        if !(0..=60).contains(&second) {
            return None;
        }
        began.checked_add(i64::from(second))?.checked_mul(1_000_000_000)?.checked_add(fields.nanos)
    }

    /// Another date: none if it follows the last one day first, and lies weeks from it month first.
    #[cold]
    fn next_day(&mut self, date: [i16; 3]) -> Option<()> {
        let before = self.guessed.unwrap_or(date);
        let jump = |month: usize, day: usize| {
            // About: months of 31 days.
            let days = |d: [i16; 3]| (i32::from(d[2]) * 12 + i32::from(d[month])) * 31 + i32::from(d[day]);
            (days(date) - days(before)).abs()
        };
        const WEEKS: i32 = 20;
        if jump(0, 1) > WEEKS && jump(1, 0) <= 4 {
            return None;
        }
        // A day above the twelfth shows that the look was right.
        self.guessed = (date[1] <= 12).then_some(date);
        Some(())
    }

    /// When a minute began, in seconds since 1970.
    fn begin(&mut self, [year, month, day, hour, minute]: [i16; 5], offset: Option<i64>) -> Option<i64> {
        let small = |n: i16| i8::try_from(n).ok();
        let local =
            DateTime::new(year, small(month)?, small(day)?, small(hour)?, small(minute)?, 0, 0).ok()?;
        match offset {
            Some(offset) => Some(TimeZone::UTC.to_timestamp(local).ok()?.as_second() - offset),
            None => self.zone.instant(local).map(|at| at.as_second()),
        }
    }

    /// Whether only the look of dates tells their order.
    pub(crate) fn is_guessed(&self) -> bool {
        self.guessed.is_some()
    }

    /// What they count from.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// What the last digit seen is worth.
    pub(crate) fn resolution(&self) -> Nanos {
        match self.shape {
            Shape::Number(unit) => unit.resolution(self.places),
            Shape::Date(_) | Shape::Time => Unit::S.resolution(self.places),
        }
    }

    /// The shape in words.
    pub(crate) fn words(&self) -> String {
        match (self.shape, self.clock) {
            (Shape::Number(unit), Clock::Unix) => format!("{} since 1970", unit.name()),
            (Shape::Number(unit), Clock::Relative) => format!("{} since the tool's own zero", unit.name()),
            (Shape::Time, _) => "times of day without a date".to_owned(),
            (Shape::Date(day), _) => {
                let order = match day {
                    Day::Ymd => "year first",
                    Day::Dmy => "day first",
                    Day::Mdy => "month first",
                };
                let zone = self.zone.zone.iana_name().unwrap_or("the zone given");
                let by_look = if self.guessed.is_some() { " by their look" } else { "" };
                format!("dates, {order}{by_look}, in {zone} where they name no zone")
            }
        }
    }
}

/// Local times without an offset, in the order of rows: of an hour that comes twice, when summer time ends, the order tells which one it
/// is.
#[derive(Clone, Debug)]
pub(crate) struct LocalTime {
    zone: TimeZone,
    /// The latest instant so far.
    latest: Option<Timestamp>,
}

impl LocalTime {
    pub(crate) fn new(zone: TimeZone) -> LocalTime {
        LocalTime { zone, latest: None }
    }

    /// When it is that time in the zone.
    pub(crate) fn instant(&mut self, local: DateTime) -> Option<Timestamp> {
        let both = self.zone.to_ambiguous_timestamp(local);
        let again = both.is_ambiguous().then(|| both.later().ok()).flatten();
        let at = both.compatible().ok()?;
        let at = match (again, self.latest) {
            // The nearer to the row before.
            (Some(again), Some(latest)) if again.duration_since(latest) <= latest.duration_since(at) => again,
            _ => at,
        };
        self.latest = self.latest.max(Some(at));
        Some(at)
    }
}

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;

/// Nanoseconds since midnight of `22:13:20` or `22:13:20.015`, and the digits behind its point.
fn time_of_day(text: &[u8]) -> Option<(i64, u32)> {
    let end = text.iter().position(|b| matches!(b, b'.' | b',')).unwrap_or(text.len());
    let mut parts = text[..end].split(|&b| b == b':');
    let mut part = |most: i64| {
        let digits = parts.next().filter(|digits| (1..=2).contains(&digits.len()))?;
        int(digits).filter(|n| (0..=most).contains(n) && digits[0].is_ascii_digit())
    };
    // 60 is a leap second.
    let (hour, minute, second) = (part(23)?, part(59)?, part(60)?);
    let fraction = text.get(end + 1..).unwrap_or_default();
    let digits = fraction.len().min(9);
    if parts.next().is_some() || !fraction.iter().all(u8::is_ascii_digit) || end + 1 == text.len() {
        return None;
    }
    let part = if digits > 0 { int(&fraction[..digits])? * 10_i64.pow(9 - digits as u32) } else { 0 };
    Some((((hour * 60 + minute) * 60 + second) * 1_000_000_000 + part, digits as u32))
}

/// A date and time of day, cut into numbers.
struct Split {
    day: [i16; 3],
    year_first: bool,
    separator: u8,
    time: [i16; 3],
    nanos: i64,
    places: u32,
    /// Seconds east of UTC.
    offset: Option<i64>,
}

impl Split {
    fn of(text: &[u8]) -> Option<Split> {
        let mut rest = text;
        let mut numbers = [0; 6];
        let mut separator = 0;
        let mut year_first = false;
        for (i, number) in numbers.iter_mut().enumerate() {
            if i > 0 {
                let &b = rest.first()?;
                let fits = match i {
                    1 | 2 => matches!(b, b'-' | b'/' | b'.'),
                    3 => matches!(b, b'T' | b't' | b' ' | b'_'),
                    _ => b == b':',
                };
                if !fits {
                    return None;
                }
                separator = if i == 1 { b } else { separator };
                rest = &rest[1..];
            }
            let digits = rest.iter().take(5).take_while(|b| b.is_ascii_digit()).count();
            if !(1..=4).contains(&digits) || (digits > 2 && i != 0 && i != 2) {
                return None;
            }
            year_first |= i == 0 && digits == 4;
            *number = int(&rest[..digits]).and_then(|n| i16::try_from(n).ok())?;
            rest = &rest[digits..];
        }
        let (mut nanos, mut digits) = (0, 0);
        if let Some((b'.' | b',', fraction)) = rest.split_first() {
            digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            if digits == 0 {
                return None;
            }
            let kept = digits.min(9);
            nanos = int(&fraction[..kept])? * 10_i64.pow(9 - kept as u32);
            rest = &fraction[digits..];
        }
        let [a, b, c, hour, minute, second] = numbers;
        Some(Split {
            day: [a, b, c],
            year_first,
            separator,
            time: [hour, minute, second],
            nanos,
            places: digits as u32,
            offset: offset(rest)?,
        })
    }
}

/// `Z`, `+01:00`, `-0330`, or nothing.
fn offset(text: &[u8]) -> Option<Option<i64>> {
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let (sign, digits) = match text {
        [] => return Some(None),
        b"Z" | b"z" | b"UTC" | b"GMT" => return Some(Some(0)),
        [b'+', digits @ ..] => (1, digits),
        [b'-', digits @ ..] => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits {
        [h1, h2] => ([*h1, *h2], *b"00"),
        [h1, h2, b':', m1, m2] | [h1, h2, m1, m2] => ([*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    let (hours, minutes) = (int(&hours)?, int(&minutes)?);
    ((0..24).contains(&hours) && (0..60).contains(&minutes))
        .then_some(Some(sign * (hours * 3600 + minutes * 60)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str, zone: &str) -> Option<(i64, i64)> {
        let zone = TimeZone::get(zone).unwrap();
        let mut stamps = StampReader::new(Shape::guess(text.as_bytes())?, zone, text.as_bytes());
        let at = stamps.read(text.as_bytes())?;
        Some((at.0, stamps.resolution().0))
    }

    #[test]
    fn shapes_are_guessed() {
        const AT: i64 = 1_331_861_403_100_000_000;
        for (text, zone, resolution) in [
            ("1331861403.1", "UTC", 100_000_000),
            ("1331861403.100000", "UTC", 1000),
            ("1331861403100", "UTC", 1_000_000),
            ("1331861403100.0", "UTC", 100_000),
            ("1331861403100000", "UTC", 1000),
            ("1331861403100000000", "UTC", 1),
            ("2012-03-16T01:30:03.100Z", "Asia/Tokyo", 1_000_000),
            ("2012-03-16T01:30:03.1", "UTC", 100_000_000),
            ("2012-03-16 01:30:03,100000", "UTC", 1000),
            ("2012-03-15T18:30:03.1-07:00", "UTC", 100_000_000),
            ("2012-03-16T07:00:03.1 +0530", "UTC", 100_000_000),
            ("2012/03/15 18:30:03.100", "America/Los_Angeles", 1_000_000),
            ("16.03.2012 01:30:03.100", "UTC", 1_000_000),
            ("03/16/2012 01:30:03.100", "UTC", 1_000_000),
            ("16/03/12 01:30:03.100", "UTC", 1_000_000),
        ] {
            assert_eq!(read(text, zone), Some((AT, resolution)), "{text}");
        }
        assert_eq!(read("2012/03/16 01:30:03", "UTC"), Some((AT - 100_000_000, 1_000_000_000)));
        for no in
            ["", "0.5", "12", "631151999", "-1331861403100", "2012-13-01 00:00:00", "2012-03-16", "true"]
        {
            assert_eq!(read(no, "UTC"), None, "{no:?}");
        }
    }

    #[test]
    fn a_relative_clock_is_one_that_begins_small() {
        let mut stamps = StampReader::new(Shape::Number(Unit::S), TimeZone::UTC, b"0.25");
        assert_eq!((stamps.clock(), stamps.read(b"0.25")), (Clock::Relative, Some(Nanos(250_000_000))));
        assert_eq!((stamps.read(b"-1"), stamps.read(b"1700000000")), (None, None));
        assert_eq!(stamps.words(), "s since the tool's own zero");
    }

    /// A date that follows the one before if days come first, and lies a month from it if months do, is not read month first.
    #[test]
    fn dates_that_contradict_their_look_are_not_read() {
        let read = |texts: &[&str]| {
            let first = texts[0].as_bytes();
            let mut stamps = StampReader::guessed(Shape::guess(first).unwrap(), TimeZone::UTC, first);
            (
                texts.iter().map(|text| stamps.read(text.as_bytes()).is_some()).collect::<Vec<_>>(),
                stamps.words(),
            )
        };
        let (all, words) = read(&["04/03/2023 23:59:59", "05/03/2023 00:00:00", "04/03/2023 23:59:59"]);
        assert_eq!(all, [true, false, true]);
        assert!(words.starts_with("dates, month first by their look"), "{words}");
        for fine in [
            ["03/04/2023 23:59:59", "03/05/2023 00:00:00"],
            ["03/12/2023 23:59:59", "03/13/2023 00:00:00"],
            ["12/31/2023 23:59:59", "01/01/2024 00:00:00"],
            ["01/31/2023 23:59:59", "02/01/2023 00:00:00"],
            ["31/01/2023 23:59:59", "01/02/2023 00:00:00"],
        ] {
            assert_eq!(read(&fine).0, [true, true], "{fine:?}");
        }
    }

    /// Summer time ended in Berlin at 03:00 on 29 October 2023, which was 02:00 again.
    #[test]
    fn the_order_of_rows_tells_the_hour_that_comes_twice() {
        const AGAIN: i64 = 1_698_541_200;
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        let first = b"2023-10-29 01:59:59";
        let mut stamps = StampReader::new(Shape::guess(first).unwrap(), zone.clone(), first);
        for (text, since) in [
            ("2023-10-29 01:59:59", -3601),
            ("2023-10-29 02:00:00", -3600),
            ("2023-10-29 02:40:00", -1200),
            ("2023-10-29 02:59:59", -1),
            ("2023-10-29 02:00:01", 1),
            // A row that comes late.
            ("2023-10-29 02:59:58", -2),
            ("2023-10-29 02:30:00", 1800),
            ("2023-10-29 02:59:00", 3540),
            ("2023-10-29 03:00:00", 3600),
        ] {
            let at = stamps.read(text.as_bytes()).map(|at| at.0 / 1_000_000_000 - AGAIN);
            assert_eq!(at, Some(since), "{text}");
        }
        // A gap in spring is no hour that comes twice.
        let mut local = LocalTime::new(zone);
        let noon: DateTime = "2023-03-26T12:00:00".parse().unwrap();
        local.instant(noon);
        let gap: DateTime = "2023-03-26T02:30:00".parse().unwrap();
        assert_eq!(local.instant(gap).unwrap().to_string(), "2023-03-26T01:30:00Z");
    }

    #[test]
    fn times_of_day_pass_midnight() {
        let texts = ["23:59:58", "23:59:59.5", "00:00:01", "23:59:59", "0:00:02,25", "12:00:00"];
        let mut stamps = StampReader::new(Shape::guess(b"23:59:58").unwrap(), TimeZone::UTC, b"23:59:58");
        let read = texts.map(|text| stamps.read(text.as_bytes()).unwrap().0 / 1_000_000);
        let first = read[0];
        assert_eq!(read.map(|at| at - first), [0, 1_500, 3_000, 1_000, 4_250, 43_202_000]);
        assert_eq!((stamps.clock(), stamps.resolution()), (Clock::Relative, Nanos::from_millis(10)));
        for no in ["24:00:00", "1:2", "1:2:3:4", "01:02:61", "-1:00:00", "01:02:03.", "01:02:0x", "::"] {
            assert_eq!(Shape::guess(no.as_bytes()), None, "{no}");
        }
    }

    proptest! {
        #[test]
        fn dates_are_read_as_jiff_does(ms in 631_152_000_000_i64..4_000_000_000_000, zone in 0usize..3) {
            let zone = TimeZone::get(["UTC", "Europe/Berlin", "Australia/Lord_Howe"][zone]).unwrap();
            let at = Timestamp::from_millisecond(ms).unwrap();
            let local = at.to_zoned(zone.clone()).datetime();
            let expected = zone.to_timestamp(local).unwrap().as_nanosecond() as i64;
            let text = local.strftime("%Y/%m/%d %H:%M:%S%.3f").to_string();
            let mut stamps = StampReader::new(Shape::Date(Day::Ymd), zone, text.as_bytes());
            prop_assert_eq!(stamps.read(text.as_bytes()), Some(Nanos(expected)));
            prop_assert_eq!(stamps.read(text.as_bytes()), Some(Nanos(expected)));
            let utc = at.to_string();
            prop_assert_eq!(stamps.read(utc.as_bytes()), Some(Nanos(ms * 1_000_000)));
        }

        #[test]
        fn nothing_panics(text in "[0-9:/. TZ+-]{0,32}") {
            read(&text, "Europe/Berlin");
        }
    }
}
