//! The longest lateness that is forgiven where lateness itself is judged, and not what it did to the numbers.
//!
//! Deliberately absent: the statistics (`stats`).

use crate::time::Nanos;
use crate::units::{UnitError, parse_time};
use std::fmt;
use std::str::FromStr;

/// A span of time above 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lateness(Nanos);

/// A delay matters where it is more than this part of what it delays.
const PART: i64 = 20;

impl Lateness {
    /// 1 ms.
    pub const DEFAULT: Lateness = Lateness(Nanos::from_millis(1));

    /// The longest that is taken without being asked for.
    const LONGEST: Lateness = Lateness(Nanos::from_millis(100));

    /// What is accepted, in words that follow "is not".
    pub const WANTED: &str = "a lateness: write a span of time above 0, as 1ms or 500us";

    /// That many seconds, if there are any.
    pub fn of_seconds(seconds: f64) -> Option<Lateness> {
        let length = Nanos::from_secs_f64(seconds);
        (length > Nanos::ZERO).then_some(Lateness(length))
    }

    /// Its length.
    pub const fn length(self) -> Nanos {
        self.0
    }

    /// Of what takes so long: a twentieth of it, at least 1 ms and at most 100 ms.
    pub fn of(long: Nanos) -> Lateness {
        Lateness(Nanos(long.0 / PART)).clamp(Lateness::DEFAULT, Lateness::LONGEST)
    }
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness::DEFAULT
    }
}

impl FromStr for Lateness {
    type Err = UnitError;

    /// A span of time: `5ms`, `0.1s`.
    ///
    /// # Errors
    /// Anything else, and no time at all.
    fn from_str(text: &str) -> Result<Lateness, UnitError> {
        let length = parse_time(text).ok().filter(|length| *length > Nanos::ZERO);
        length.map(Lateness).ok_or_else(|| UnitError::new(text, Lateness::WANTED))
    }
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0.0 {
            ns if ns % 1_000_000 == 0 => (ns / 1_000_000, "ms"),
            ns if ns % 1_000 == 0 => (ns / 1_000, "us"),
            ns => (ns, "ns"),
        };
        write!(f, "{value}{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twentieth_within_bounds() {
        let of = |us: i64| Lateness::of(Nanos::from_micros(us)).to_string();
        let cases = [(-5, "1ms"), (0, "1ms"), (10_000, "1ms"), (50_000, "2500us"), (60_000_000, "100ms")];
        for (us, lateness) in cases {
            assert_eq!(of(us), lateness, "{us} us");
        }
    }

    #[test]
    fn what_is_printed_is_read_and_no_time_is_refused() {
        for text in ["1ms", "500us", "20ms", "1200ms", "7ns"] {
            let read: Lateness = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
            assert_eq!(Lateness::of_seconds(read.length().as_secs_f64()), Some(read));
        }
        assert_eq!("0.005s".parse::<Lateness>().unwrap().to_string(), "5ms");
        for wrong in ["0", "0ms", "5", "-1ms", "", "ms"] {
            let told = wrong.parse::<Lateness>().unwrap_err().to_string();
            assert!(told.contains("1ms or 500us"), "{told}");
        }
        assert_eq!(Lateness::of_seconds(0.0), None);
    }
}
