//! The rate of arrivals over time: a sequence of ramps, holds and pauses, its integral, and the inverse of that.
//!
//! Arrivals of unit rate become arrivals of this rate when passed through the inverse of the cumulative rate
//! (Çinlar 1975, time change of a renewal or Poisson process). The inverse is the right-continuous generalised one,
//! so a pause contributes nothing: an arrival that falls on its border comes at its end.

use crate::time::{Nanos, Rate};

/// A stretch of time over which the rate changes linearly.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Phase {
    /// How long it lasts; positive.
    pub length: Nanos,
    /// Rate at its beginning; finite, not negative.
    pub from: Rate,
    /// Rate at its end; finite, not negative.
    pub to: Rate,
}

impl Phase {
    /// The same rate throughout.
    pub const fn hold(length: Nanos, rate: Rate) -> Phase {
        Phase { length, from: rate, to: rate }
    }

    /// From one rate to another, linearly.
    pub const fn ramp(length: Nanos, from: Rate, to: Rate) -> Phase {
        Phase { length, from, to }
    }

    /// No arrivals.
    pub const fn pause(length: Nanos) -> Phase {
        Phase::hold(length, Rate(0.0))
    }
}

/// Piecewise-linear rate from time zero on.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    pieces: Vec<Piece>,
    end_s: f64,
    total: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Piece {
    phase: Phase,
    /// Seconds at which it begins.
    start_s: f64,
    length_s: f64,
    /// Expected arrivals before it begins.
    before: f64,
}

impl Piece {
    /// The instant within it at which the cumulative rate reaches `expected`.
    #[inline]
    fn inverse(&self, expected: f64) -> Nanos {
        let need = (expected - self.before).max(0.0);
        let (r0, r1) = (self.phase.from.0, self.phase.to.0);
        let x = if r0 == r1 {
            if r0 > 0.0 { need / r0 } else { self.length_s }
        } else {
            // Root of r0 x + slope x^2 / 2 = need in the form that does not cancel when the slope is small.
            let slope = (r1 - r0) / self.length_s;
            2.0 * need / (r0 + libm::sqrt((r0 * r0 + 2.0 * slope * need).max(0.0)))
        };
        // NaN (0/0 at the foot of a ramp from zero) means that nothing is needed.
        let x = if x.is_nan() { 0.0 } else { x.min(self.length_s) };
        Nanos::from_secs_f64(self.start_s + x)
    }
}

impl Profile {
    /// The profile of these phases, one after the other; phases of no length are left out.
    pub fn new(phases: &[Phase]) -> Profile {
        let mut pieces = Vec::with_capacity(phases.len());
        let (mut start, mut before) = (Nanos::ZERO, 0.0);
        for &phase in phases.iter().filter(|p| p.length > Nanos::ZERO) {
            let length_s = phase.length.as_secs_f64();
            pieces.push(Piece { phase, start_s: start.as_secs_f64(), length_s, before });
            before += 0.5 * (phase.from.0 + phase.to.0) * length_s;
            start += phase.length;
        }
        Profile { pieces, end_s: start.as_secs_f64(), total: before }
    }

    /// The same profile with `share` of its rates.
    pub fn scaled(&self, share: f64) -> Profile {
        let scaled = |rate: Rate| Rate(rate.0 * share);
        let phases: Vec<Phase> =
            self.phases().map(|p| Phase { from: scaled(p.from), to: scaled(p.to), ..p }).collect();
        Profile::new(&phases)
    }

    /// The rates of several profiles added up, until the last of them ends.
    pub fn sum(profiles: &[&Profile]) -> Profile {
        // Each phase with when it begins.
        let placed = |profile: &Profile| -> Vec<(Nanos, Phase)> {
            let mut begins = Nanos::ZERO;
            let place = |phase: Phase| {
                let at = begins;
                begins += phase.length;
                (at, phase)
            };
            profile.phases().map(place).collect()
        };
        let placed: Vec<_> = profiles.iter().flat_map(|profile| placed(profile)).collect();
        let mut cuts: Vec<Nanos> = placed.iter().map(|(begins, phase)| *begins + phase.length).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let (mut from, mut phases) = (Nanos::ZERO, Vec::with_capacity(cuts.len()));
        for to in cuts {
            let (mut first, mut last) = (0.0, 0.0);
            for (begins, phase) in &placed {
                if *begins <= from && from < *begins + phase.length {
                    let length_s = phase.length.as_secs_f64();
                    let rate = |at: Nanos| {
                        phase.from.0 + (phase.to.0 - phase.from.0) * (at - *begins).as_secs_f64() / length_s
                    };
                    first += rate(from);
                    last += rate(to);
                }
            }
            phases.push(Phase::ramp(to - from, Rate(first), Rate(last)));
            from = to;
        }
        Profile::new(&phases)
    }

    /// The phases, in order.
    pub fn phases(&self) -> impl Iterator<Item = Phase> + '_ {
        self.pieces.iter().map(|p| p.phase)
    }

    /// When the last phase ends.
    pub fn end(&self) -> Nanos {
        Nanos::from_secs_f64(self.end_s)
    }

    /// Expected number of arrivals over the whole profile.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// The rate at an instant; zero before the beginning and after the end.
    pub fn rate_at(&self, at: Nanos) -> Rate {
        let t = at.as_secs_f64();
        match self.pieces.iter().rev().find(|p| p.start_s <= t) {
            Some(p) if t < p.start_s + p.length_s => {
                Rate(p.phase.from.0 + (p.phase.to.0 - p.phase.from.0) * (t - p.start_s) / p.length_s)
            }
            _ => Rate(0.0),
        }
    }

    /// Expected number of arrivals from zero to `at`. After the end the cumulative rate continues at the last positive
    /// rate, so that arrivals that started late keep a place on the scale.
    pub fn cumulative(&self, at: Nanos) -> f64 {
        self.cumulative_s(at.as_secs_f64())
    }

    fn cumulative_s(&self, t: f64) -> f64 {
        if t >= self.end_s {
            return self.total + self.last_rate() * (t - self.end_s);
        }
        let after = self.pieces.partition_point(|p| p.start_s <= t);
        let Some(p) = after.checked_sub(1).map(|i| &self.pieces[i]) else { return 0.0 };
        let (x, slope) = (t - p.start_s, (p.phase.to.0 - p.phase.from.0) / p.length_s);
        p.before + x * (p.phase.from.0 + 0.5 * slope * x)
    }

    /// The last positive rate of the profile, 0 if it has none.
    fn last_rate(&self) -> f64 {
        self.pieces
            .iter()
            .rev()
            .flat_map(|p| [p.phase.to.0, p.phase.from.0])
            .find(|&r| r > 0.0)
            .unwrap_or(0.0)
    }

    /// The instant at which the cumulative rate first exceeds `expected`, in nanoseconds rounded to the nearest; the
    /// end of the profile if it never does.
    pub fn inverse(&self, expected: f64) -> Nanos {
        self.inverse_from(&mut 0, expected)
    }

    /// [`inverse`](Profile::inverse) for a non-decreasing sequence: `hint` remembers the phase between calls (start
    /// it at 0).
    #[inline]
    pub fn inverse_from(&self, hint: &mut usize, expected: f64) -> Nanos {
        while self.pieces.get(*hint + 1).is_some_and(|next| next.before <= expected) {
            *hint += 1;
        }
        self.pieces.get(*hint).map_or(Nanos::ZERO, |piece| piece.inverse(expected))
    }

    /// The beginning of the pause that `at` lies strictly inside of, if it does: a start there belongs to its beginning.
    pub fn pause_around(&self, at: Nanos) -> Option<Nanos> {
        // In whole nanoseconds: in seconds a pause may seem to end after the instant at which the next phase begins.
        let mut begins = Nanos::ZERO;
        for phase in self.phases() {
            let ends = begins + phase.length;
            if phase.from.0 == 0.0 && phase.to.0 == 0.0 && begins < at && at < ends {
                return Some(begins);
            }
            begins = ends;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.179 + 1.455 is more than 1.634 in floating point.
    #[test]
    fn what_begins_with_the_phase_after_a_pause_is_not_inside_it() {
        let (ramp, pause) = (Nanos::from_millis(179), Nanos::from_millis(1_455));
        let profile = Profile::new(&[
            Phase::pause(ramp),
            Phase::pause(pause),
            Phase::hold(Nanos::from_millis(1), Rate(117.0)),
        ]);
        assert_eq!(profile.pause_around(ramp + pause), None);
        assert_eq!(profile.pause_around(ramp + pause - Nanos(1)), Some(ramp));
        assert_eq!(profile.pause_around(ramp), None);
    }

    fn bumpy() -> Profile {
        let s = Nanos::from_secs;
        Profile::new(&[
            Phase::ramp(s(4), Rate(0.0), Rate(10.0)), // 20
            Phase::hold(s(5), Rate(10.0)),            // 70
            Phase::pause(s(2)),                       // 70
            Phase::ramp(s(2), Rate(6.0), Rate(2.0)),  // 78
            Phase::ramp(s(1), Rate(2.0), Rate(0.0)),  // 79
        ])
    }

    #[test]
    fn the_inverse_undoes_the_integral() {
        let profile = bumpy();
        assert_eq!(profile.total(), 79.0);
        assert_eq!(profile.end(), Nanos::from_secs(14));
        let mut hint = 0;
        for i in 0..7900 {
            let expected = f64::from(i) / 100.0;
            let at = profile.inverse_from(&mut hint, expected);
            assert_eq!(at, profile.inverse(expected));
            assert!((profile.cumulative(at) - expected).abs() < 1e-7, "{expected}: {at}");
        }
    }

    #[test]
    fn a_sum_has_the_phases_of_all() {
        let s = Nanos::from_secs;
        let other = Profile::new(&[Phase::hold(s(3), Rate(1.0)), Phase::ramp(s(20), Rate(0.0), Rate(5.0))]);
        let sum = Profile::sum(&[&bumpy(), &other]);
        assert_eq!(sum.end(), s(23));
        for ms in (500..23_000).step_by(1_000) {
            let at = Nanos::from_millis(ms);
            let rates = bumpy().rate_at(at).0 + other.rate_at(at).0;
            assert!((sum.rate_at(at).0 - rates).abs() < 1e-9, "{at}");
        }
        assert!((sum.total() - bumpy().total() - other.total()).abs() < 1e-9);
        assert_eq!(Profile::sum(&[]).total(), 0.0);
    }

    #[test]
    fn a_pause_contributes_nothing_and_its_border_is_its_end() {
        let profile = bumpy();
        assert_eq!(profile.inverse(70.0), Nanos::from_secs(11));
        assert!(profile.inverse(70.0 - 1e-6) < Nanos::from_secs(9));
        assert_eq!(profile.cumulative(Nanos::from_secs(10)), 70.0);
        assert_eq!(profile.pause_around(Nanos::from_secs(10)), Some(Nanos::from_secs(9)));
        assert_eq!(profile.pause_around(Nanos::from_secs(11)), None);
    }

    #[test]
    fn the_foot_of_a_ramp_and_what_lies_beyond_the_end() {
        let profile = bumpy();
        assert_eq!(profile.inverse(0.0), Nanos::ZERO);
        assert_eq!(profile.inverse(79.0), Nanos::from_secs(14));
        assert_eq!(profile.inverse(1e9), Nanos::from_secs(14));
        // The last positive rate is 2/s.
        assert_eq!(profile.cumulative(Nanos::from_secs(17)), 79.0 + 6.0);
        assert_eq!(profile.rate_at(Nanos::from_secs(2)), Rate(5.0));
        assert_eq!(profile.rate_at(Nanos::from_secs(14)), Rate(0.0));
        assert_eq!(Profile::new(&[]).inverse(3.0), Nanos::ZERO);
    }

    #[test]
    fn constant_arrivals_at_any_rate_fill_the_hold_exactly() {
        for (rate, seconds, n) in [(1000.0, 10, 10_000), (0.1, 30, 3), (0.7, 10, 7), (333.3, 3, 999)] {
            let profile = Profile::new(&[Phase::hold(Nanos::from_secs(seconds), Rate(rate))]);
            let floor = (profile.total() * (1.0 + 1e-12)).floor();
            assert_eq!(floor as u64, n);
            assert!(profile.inverse(n as f64) <= profile.end());
        }
    }
}
