//! The real clock, counted from a plan's zero.

use headway_base::Nanos;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long before a due instant a thread is up, to poll for the rest: sleeping is good to some 20-50 us.
pub const UP_BEFORE: Nanos = Nanos::from_micros(50);

/// A tick of this kernel's timers, by the resolution of its coarse clock: 1, 4 or 10 ms in most kernels; none where it does not say.
#[expect(unsafe_code, reason = "rustix wraps it behind a feature that nothing else needs")]
pub fn tick() -> Option<Nanos> {
    let mut resolution = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that lives through the call.
    let ended = unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut resolution) };
    let tick = Nanos::from_secs(resolution.tv_sec) + Nanos(resolution.tv_nsec);
    (ended == 0 && tick > Nanos::ZERO).then_some(tick)
}

/// Monotonic time since a plan's zero, which may lie ahead. Copies agree with each other.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    zero: Instant,
    /// Wall time of the zero, nanoseconds since the Unix epoch.
    zero_unix: i128,
}

impl Clock {
    /// A clock whose zero is `ahead` from now.
    pub fn starting_in(ahead: Nanos) -> Clock {
        let ahead_ns = ahead.0.max(0) as u64;
        // The two clocks are read as close together as can be; the offset is good to well under a microsecond.
        let zero = Instant::now() + Duration::from_nanos(ahead_ns);
        let zero_unix = unix_now() + i128::from(ahead_ns);
        Clock { zero, zero_unix }
    }

    /// A clock whose zero is at that instant, nanoseconds since the Unix epoch, be it ahead or past. The wall clock is read once, here: what becomes of
    /// it later does not matter. None if it is more than 292 years off.
    pub fn zero_at(zero_unix: i128) -> Option<Clock> {
        let (now, unix) = (Instant::now(), unix_now());
        let ahead = i64::try_from(zero_unix - unix).ok()?;
        let by = Duration::from_nanos(ahead.unsigned_abs());
        let zero = if ahead < 0 { now.checked_sub(by) } else { now.checked_add(by) };
        Some(Clock { zero: zero?, zero_unix })
    }

    /// Time since the zero; negative before it.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.at(Instant::now())
    }

    /// An instant of the system's monotonic clock on this one.
    #[inline]
    pub fn at(&self, instant: Instant) -> Nanos {
        match instant.checked_duration_since(self.zero) {
            Some(since) => Nanos(since.as_nanos() as i64),
            None => Nanos(-((self.zero - instant).as_nanos() as i64)),
        }
    }

    /// An instant of this clock as nanoseconds since the Unix epoch, by the offset at its making.
    pub fn unix_nanos(&self, at: Nanos) -> i128 {
        self.zero_unix + i128::from(at.0)
    }
}

/// Wall time, nanoseconds since the Unix epoch.
pub fn unix_now() -> i128 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_may_be_past_and_is_where_it_was_asked_to_be() {
        let asked = unix_now();
        for off in [-3_600_000_000_000_i128, -1, 0, 5_000_000_000] {
            let clock = Clock::zero_at(asked + off).unwrap();
            assert_eq!(clock.unix_nanos(Nanos::ZERO), asked + off);
            let now = i128::from(clock.now().0);
            assert!((-off..-off + 60_000_000_000).contains(&now), "{now} at {off}");
        }
        assert!(Clock::zero_at(i128::MAX / 2).is_none());
    }
}
