//! Instants and spans of time as integer nanoseconds, and rates per second.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

/// A span of time, or an instant counted from the plan's zero, in nanoseconds. Range: about +-292 years.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Nanos(pub i64);

impl Nanos {
    /// The plan's zero, or the empty span.
    pub const ZERO: Nanos = Nanos(0);
    /// The latest instant that can be represented; stands for "never".
    pub const MAX: Nanos = Nanos(i64::MAX);

    /// A span of whole microseconds.
    pub const fn from_micros(us: i64) -> Nanos {
        Nanos(us * 1_000)
    }

    /// A span of whole milliseconds.
    pub const fn from_millis(ms: i64) -> Nanos {
        Nanos(ms * 1_000_000)
    }

    /// A span of whole seconds.
    pub const fn from_secs(s: i64) -> Nanos {
        Nanos(s * 1_000_000_000)
    }

    /// A span of `s` seconds, rounded to the nearest nanosecond; beyond the range it saturates, NaN gives zero.
    #[inline]
    pub fn from_secs_f64(s: f64) -> Nanos {
        // Up to 2^51 ns (26 days) adding 2^52 leaves no fraction: the last bits of the sum are the number, halves to even.
        // What that takes off is exact, and a half of it was rounded down. One comparison, since the bits of numbers that
        // are not negative are in their order.
        const MOST: f64 = 2_251_799_813_685_248.0;
        const SHIFT: f64 = 4_503_599_627_370_496.0;
        let ns = s * 1e9;
        if ns.to_bits() < MOST.to_bits() {
            let shifted = ns + SHIFT;
            let half_down = ns - (shifted - SHIFT) >= 0.5;
            return Nanos((shifted.to_bits() - SHIFT.to_bits()) as i64 + i64::from(half_down));
        }
        Nanos(libm::round(ns) as i64)
    }

    /// This span in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The sum, or the nearest end of the range where it does not fit.
    pub const fn saturating_add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl SubAssign for Nanos {
    fn sub_assign(&mut self, other: Nanos) {
        self.0 -= other.0;
    }
}

impl Neg for Nanos {
    type Output = Nanos;
    fn neg(self) -> Nanos {
        Nanos(-self.0)
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(iter: I) -> Nanos {
        iter.fold(Nanos::ZERO, Add::add)
    }
}

impl fmt::Debug for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Prints with the unit that leaves one to three digits before the point: `250us`, `10ms`, `1.5s`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.unsigned_abs();
        let (unit, size) = match magnitude {
            0 => return f.write_str("0s"),
            m if m < 1_000 => ("ns", 1),
            m if m < 1_000_000 => ("us", 1_000),
            m if m < 1_000_000_000 => ("ms", 1_000_000),
            _ => ("s", 1_000_000_000),
        };
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, rest) = (magnitude / size, magnitude % size);
        write!(f, "{sign}{whole}")?;
        if rest > 0 {
            let width = size.ilog10() as usize;
            let digits = format!("{rest:0width$}");
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        f.write_str(unit)
    }
}

/// A rate in events per second. Finite and not negative where it was parsed; constructors do not check.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Rate(pub f64);

impl Rate {
    /// Events per second.
    pub const fn per_second(self) -> f64 {
        self.0
    }
}

/// Per second; a whole number per minute or hour where that is shorter, and reads back as the same rate.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |seconds: f64, unit| {
            let n = (self.0 * seconds).round();
            (n / seconds == self.0).then(|| format!("{n}/{unit}"))
        };
        let all = [Some(format!("{}/s", self.0)), whole(60.0, "min"), whole(3_600.0, "h")];
        f.write_str(&all.into_iter().flatten().min_by_key(String::len).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_print_with_a_unit_a_person_would_choose() {
        let check = |ns: i64, text: &str| assert_eq!(Nanos(ns).to_string(), text);
        check(0, "0s");
        check(7, "7ns");
        check(250_000, "250us");
        check(10_000_000, "10ms");
        check(1_500_000_000, "1.5s");
        check(-1_000_000_001, "-1.000000001s");
        check(5_025_000, "5.025ms");
        check(90_000_000_000, "90s");
    }

    #[test]
    fn rates_print_per_minute_or_hour_where_that_is_shorter() {
        let check = |per_second: f64, text: &str| assert_eq!(Rate(per_second).to_string(), text);
        check(200.0, "200/s");
        check(0.0, "0/s");
        check(0.1, "0.1/s");
        check(2_000.0 / 60.0, "2000/min");
        check(0.5, "0.5/s");
        check(5.0 / 60.0, "5/min");
        check(100.0 / 3_600.0, "100/h");
        check(1_000_000.0, "1000000/s");
        check(0.123_456_789, "0.123456789/s");
    }

    #[test]
    fn seconds_round_to_the_nearest_nanosecond() {
        assert_eq!(Nanos::from_secs_f64(1.234_567_891_4), Nanos(1_234_567_891));
        assert_eq!(Nanos::from_secs_f64(f64::INFINITY), Nanos::MAX);
        assert_eq!(Nanos::from_secs_f64(f64::NAN), Nanos::ZERO);
    }

    /// Against the library's rounding: over all exponents, around halves, and at the ends of the range.
    #[test]
    fn rounding_is_that_of_the_library() {
        let check = |s: f64| assert_eq!(Nanos::from_secs_f64(s).0, libm::round(s * 1e9) as i64, "{s:e}");
        let stream = crate::random::Stream::new(1, "rounding");
        for k in 0..100_000 {
            check(f64::from_bits(stream.bits(k, 0)));
            let halves = (stream.bits(k, 1) >> (k % 64)) as f64 * 0.5e-9;
            for s in [halves, halves.next_up(), halves.next_down()] {
                check(s);
                check(-s);
            }
        }
        for s in
            [0.0, 0.5e-9, 2f64.powi(63) / 1e9, -(2f64.powi(63)) / 1e9, f64::MAX, f64::MIN, f64::NEG_INFINITY]
        {
            check(s);
        }
    }
}
