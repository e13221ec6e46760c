//! The time scale of a target: the longest lateness that cannot matter to it.
//!
//! A ladder of seven values, so that statistics can be kept for each of them while a run lasts: which one applies is known at its
//! end. Deliberately absent: the statistics (`stats`).

use crate::time::Nanos;
use crate::units::{UnitError, parse_time};
use std::fmt;
use std::str::FromStr;

/// One of 1, 2, 5, 10, 20, 50 and 100 ms.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TimeScale(u8);

/// The ladder, shortest first, in milliseconds.
const MILLIS: [i64; TimeScale::COUNT] = [1, 2, 5, 10, 20, 50, 100];

/// A delay matters where it is more than this part of a short service time.
const PART: i64 = 20;

impl TimeScale {
    /// How many there are.
    pub const COUNT: usize = 7;

    /// 1 ms.
    pub const SHORTEST: TimeScale = TimeScale(0);

    /// What is accepted, in words that follow "is not".
    pub const WANTED: &str = "a time scale: write 1ms, 2ms, 5ms, 10ms, 20ms, 50ms or 100ms";

    /// All of them, shortest first.
    pub fn all() -> impl DoubleEndedIterator<Item = TimeScale> + ExactSizeIterator {
        (0..TimeScale::COUNT as u8).map(TimeScale)
    }

    /// The step of the ladder with that length in seconds, if there is one.
    pub fn of_seconds(seconds: f64) -> Option<TimeScale> {
        TimeScale::all().find(|scale| scale.length() == Nanos::from_secs_f64(seconds))
    }

    /// Its length.
    pub const fn length(self) -> Nanos {
        Nanos::from_millis(MILLIS[self.0 as usize])
    }

    /// Its place on the ladder, from 0.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Of a target with that 10th percentile of service time: the largest that is at most a twentieth of that, and
    /// at least 1 ms.
    pub fn of_service(p10: Nanos) -> TimeScale {
        let fits = |scale: &TimeScale| scale.length().0.saturating_mul(PART) <= p10.0;
        TimeScale::all().rfind(fits).unwrap_or(TimeScale::SHORTEST)
    }
}

impl FromStr for TimeScale {
    type Err = UnitError;

    /// A span of time on the ladder: `5ms`, `0.1s`.
    ///
    /// # Errors
    /// Anything else.
    fn from_str(text: &str) -> Result<TimeScale, UnitError> {
        let length = parse_time(text).ok();
        let scale = TimeScale::all().find(|scale| Some(scale.length()) == length);
        scale.ok_or_else(|| UnitError::new(text, TimeScale::WANTED))
    }
}

impl fmt::Display for TimeScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", MILLIS[self.index()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_up_to_a_twentieth_of_the_service_time() {
        let of = |us: i64| TimeScale::of_service(Nanos::from_micros(us)).to_string();
        let cases = [(0, "1ms"), (10_000, "1ms"), (39_999, "1ms"), (40_000, "2ms"), (200_000, "10ms")];
        let cases =
            cases.into_iter().chain([(1_999_999, "50ms"), (2_000_000, "100ms"), (60_000_000, "100ms")]);
        for (us, scale) in cases {
            assert_eq!(of(us), scale, "{us} us");
        }
        assert_eq!(TimeScale::of_service(Nanos(-5)), TimeScale::SHORTEST);
    }

    #[test]
    fn what_is_printed_is_read_and_nothing_between_is() {
        for scale in TimeScale::all() {
            assert_eq!(scale.to_string().parse(), Ok(scale));
            assert_eq!(TimeScale::of_seconds(scale.length().as_secs_f64()), Some(scale));
        }
        assert_eq!("0.005s".parse(), Ok(TimeScale(2)));
        for wrong in ["3ms", "0", "5", "200ms", "-1ms", "", "ms"] {
            let told = wrong.parse::<TimeScale>().unwrap_err().to_string();
            assert!(told.contains("1ms, 2ms, 5ms, 10ms, 20ms, 50ms or 100ms"), "{told}");
        }
    }
}
