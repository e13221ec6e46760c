//! Where the rows that are judged begin: so long after the first start, or at a date or a time of day.

use super::files::instant_in;
use crate::Error;
use anyhow::anyhow;
use headway_base::Nanos;
use headway_base::units::{self, UnitError};
use headway_import::Clock;
use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;

/// Where the judged rows begin.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Begin {
    /// So long after the first start of all.
    After(Nanos),
    /// At that instant.
    At(Timestamp),
    /// At that date and time, in the zone of the files.
    On(DateTime),
    /// At that time of day, in the zone of the files: the first one between the first start and the last.
    Daily(Time),
}

impl Default for Begin {
    fn default() -> Begin {
        Begin::After(Nanos::ZERO)
    }
}

const EXPECTED: &str = "a time after the first start, such as 30s, or a date or a time of day: write for example 14:05, \
                        2026-11-28T14:05 or '2026-11-28 14:05:30'";

impl Begin {
    /// Reads `30s`, `14:05`, `14:05:30.5`, `2026-11-28`, `2026-11-28T14:05`, `2026-11-28 14:05:30`, `2026-11-28T14:05Z`.
    ///
    /// # Errors
    /// What is none of these.
    pub fn parse(text: &str) -> Result<Begin, UnitError> {
        let trimmed = text.trim();
        let digits = |part: &str| part.bytes().next().is_some_and(|b| b.is_ascii_digit());
        let begin = match trimmed.split_once(['-', ':']) {
            None => return units::parse_time(text).map(Begin::After),
            Some((before, after)) if !digits(before) || !digits(after) => None,
            Some(_) if !trimmed.contains('-') && !trimmed.contains('T') => {
                trimmed.parse().ok().map(Begin::Daily)
            }
            Some(_) => match trimmed.parse() {
                Ok(at) => Some(Begin::At(at)),
                Err(_) => trimmed.parse().ok().map(Begin::On),
            },
        };
        begin.ok_or_else(|| UnitError::new(text, EXPECTED))
    }

    /// How long after `zero` that is, if the first and the last of all rows start then; negative before it.
    pub(super) fn after(
        self,
        zero: Nanos,
        (first, last): (Nanos, Nanos),
        clock: Clock,
        zone: &TimeZone,
    ) -> Result<Nanos, Error> {
        let local = |at: DateTime| at.to_zoned(zone.clone()).ok().map(|at| at.timestamp());
        let at = match self {
            Begin::After(time) => return Ok(time),
            _ if clock == Clock::Relative => {
                return Err(Error::usage(anyhow!(
                    "--from: the times in these files have no date; write how long after the first start, such as --from 30s"
                )));
            }
            Begin::At(at) => Some(at),
            Begin::On(at) => local(at),
            Begin::Daily(time) => {
                let day = Timestamp::from_nanosecond(i128::from(first.0)).ok();
                let day = day.map(|first| first.to_zoned(zone.clone()).date());
                let on = |day: jiff::civil::Date| local(day.to_datetime(time));
                let next = day.and_then(|day| day.tomorrow().ok()).and_then(on);
                let today = day.and_then(on);
                let within =
                    |at: &Timestamp| (i128::from(first.0)..=i128::from(last.0)).contains(&at.as_nanosecond());
                today.filter(within).or(next.filter(within)).or(today)
            }
        };
        let at = at.and_then(|at| i64::try_from(at.as_nanosecond()).ok()).map(Nanos);
        match at {
            Some(at) if at <= last => Ok(at - zero),
            _ => {
                let [first, last] = [first, last].map(|at| instant_in(clock, at, zone).unwrap_or_default());
                Err(Error::usage(anyhow!(
                    "--from is after the last start: the first is at {first} and the last at {last}; --zone says in which zone it is"
                )))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;
    /// 2026-11-28T13:00:00Z.
    const FIRST: i64 = 1_795_870_800 * SECOND;

    fn after(text: &str, hours: i64, zone: &str) -> Result<i64, String> {
        let begin = Begin::parse(text).map_err(|e| e.to_string())?;
        let span = (Nanos(FIRST), Nanos(FIRST + hours * 3600 * SECOND));
        let zone = TimeZone::get(zone).unwrap();
        let after = begin.after(Nanos(FIRST), span, Clock::Unix, &zone).map_err(|e| e.to_string())?;
        Ok(after.0 / SECOND)
    }

    #[test]
    fn dates_and_times_of_day() {
        for (text, zone, expected) in [
            ("30s", "UTC", 30),
            ("0", "UTC", 0),
            ("1m30s", "UTC", 90),
            ("13:05", "UTC", 300),
            ("13:05:30.5", "UTC", 330),
            ("14:05", "Europe/Berlin", 300),
            ("2026-11-28T13:05", "UTC", 300),
            ("2026-11-28 14:05:30", "Europe/Berlin", 330),
            ("2026-11-28T14:05+01:00", "UTC", 300),
            ("2026-11-28T13:05:00Z", "Europe/Berlin", 300),
            ("2026-11-29", "UTC", 11 * 3600),
            // The next day's, if the rows go on until then.
            ("01:00", "UTC", 12 * 3600),
            // A little before the first row.
            ("12:59", "UTC", -60),
            ("2026-11-28T12:59", "UTC", -60),
        ] {
            assert_eq!(after(text, 20, zone), Ok(expected), "{text} {zone}");
        }
    }

    #[test]
    fn what_is_no_beginning_is_said() {
        for text in
            ["13:5x", "2026-13-01", "28.11.2026 13:05", "-5s", "yesterday", "25:00", "13:05 pm", "T13:05"]
        {
            assert!(after(text, 20, "UTC").is_err(), "{text}");
        }
        let message = after("25:00", 1, "UTC").unwrap_err();
        assert!(message.contains("write for example 14:05, 2026-11-28T14:05"), "{message}");
        let message = after("15:05", 1, "Europe/Berlin").unwrap_err();
        assert!(
            message.contains("at 2026-11-28T14:00:00+01:00 and the last at 2026-11-28T15:00:00+01:00"),
            "{message}"
        );
        let begin = Begin::parse("14:05").unwrap();
        let error = begin.after(Nanos(0), (Nanos(0), Nanos(9)), Clock::Relative, &TimeZone::UTC).unwrap_err();
        assert!(error.to_string().contains("--from 30s"), "{error}");
    }
}
