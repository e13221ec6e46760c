//! The measured phase and its twenty segments, and bounded lists of "when".

use crate::intervals::SEGMENTS;
use headway_base::{Nanos, Profile};
use std::ops::Range;

/// The measured phase, cut into equal segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub start: Nanos,
    pub end: Nanos,
    per_nano: f64,
    pub in_pause: u64,
}

impl Measured {
    pub fn new(range: &Range<Nanos>) -> Measured {
        let length = (range.end.0.saturating_sub(range.start.0)).max(0);
        Measured {
            start: range.start,
            end: range.end,
            per_nano: SEGMENTS as f64 / length as f64,
            in_pause: 0,
        }
    }

    /// Which segment an instant lies in; none outside of the phase.
    #[inline]
    pub fn segment(&self, at: Nanos) -> Option<usize> {
        if at < self.start || at >= self.end {
            return None;
        }
        let segment = ((at.0 - self.start.0) as f64 * self.per_nano) as usize;
        Some(segment.min(SEGMENTS - 1))
    }

    /// Which segment a request counts to: none if it arrived outside of the phase, else that in which it was due, which may
    /// be the last one's later.
    #[inline]
    pub fn place(&self, arrived: Nanos, intended: Nanos) -> Option<usize> {
        let segment = self.segment(arrived)?;
        if arrived == intended {
            return Some(segment);
        }
        Some(self.segment(intended).unwrap_or(SEGMENTS - 1))
    }

    /// Seconds at which a segment begins; segment 20 is the end of the phase.
    pub fn segment_start(&self, segment: usize) -> f64 {
        let length = self.end.0.saturating_sub(self.start.0) as f64;
        (self.start.0 as f64 + length * segment as f64 / SEGMENTS as f64) / 1e9
    }

    /// Number of segments that are complete at `until`.
    pub fn filled(&self, until: Nanos) -> usize {
        (1..=SEGMENTS).take_while(|&s| self.segment_start(s) <= until.as_secs_f64() + 1e-9).count()
    }

    /// Arrivals per second that the profile expects on average over the phase, if it expects any.
    pub fn mean_rate(&self, profile: &Profile) -> Option<f64> {
        let expected = profile.cumulative(self.end) - profile.cumulative(self.start);
        let rate = expected / (self.end - self.start).as_secs_f64();
        (rate > 0.0 && rate.is_finite()).then_some(rate)
    }

    /// Whether the profile's rate is the same throughout the phase.
    pub fn has_constant_rate(&self, profile: &Profile) -> bool {
        let (mut begins, mut rate, mut constant) = (Nanos::ZERO, None, true);
        for phase in profile.phases() {
            let ends = begins + phase.length;
            if begins < self.end && ends > self.start {
                constant &= phase.from == phase.to && *rate.get_or_insert(phase.from) == phase.from;
            }
            begins = ends;
        }
        constant
    }
}

/// At most 64 stretches of time, in order of arrival. Neighbours closer than a gap are one; when there are too many,
/// the gap doubles.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    ranges: Vec<(i64, i64)>,
    gap: i64,
}

const MOST_RANGES: usize = 64;

impl Default for Ranges {
    fn default() -> Ranges {
        Ranges { ranges: Vec::new(), gap: 100_000_000 }
    }
}

impl Ranges {
    pub fn push(&mut self, from: i64, to: i64) {
        self.join(from, to);
        while self.ranges.len() > MOST_RANGES {
            self.gap = self.gap.saturating_mul(2);
            for (from, to) in std::mem::take(&mut self.ranges) {
                self.join(from, to);
            }
        }
    }

    fn join(&mut self, from: i64, to: i64) {
        match self.ranges.last_mut() {
            Some(last) if from >= last.0 && from <= last.1.saturating_add(self.gap) => {
                last.1 = last.1.max(to)
            }
            _ => self.ranges.push((from, to)),
        }
    }

    /// In seconds, sorted.
    pub fn seconds(&self) -> Vec<[f64; 2]> {
        let mut ranges = self.ranges.clone();
        ranges.sort_unstable();
        let mut merged = Ranges { ranges: Vec::new(), gap: self.gap };
        ranges.into_iter().for_each(|(from, to)| merged.join(from, to));
        merged.ranges.iter().map(|&(from, to)| [from as f64 / 1e9, to as f64 / 1e9]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::{Phase, Rate};

    #[test]
    fn segments_cover_the_phase_and_nothing_else() {
        let s = Nanos::from_secs;
        let phase = Measured::new(&(s(10)..s(30)));
        assert_eq!(phase.segment(Nanos(s(10).0 - 1)), None);
        assert_eq!((phase.segment(s(10)), phase.segment(s(11))), (Some(0), Some(1)));
        assert_eq!((phase.segment(Nanos(s(30).0 - 1)), phase.segment(s(30))), (Some(19), None));
        assert_eq!((phase.filled(s(30)), phase.filled(s(15)), phase.filled(s(9))), (20, 5, 0));
        assert_eq!(Measured::new(&(s(1)..s(1))).segment(s(1)), None);
        // A step of a session counts where it was due, if the session arrived within.
        assert_eq!((phase.place(s(11), s(20)), phase.place(s(11), s(99))), (Some(10), Some(19)));
        assert_eq!((phase.place(s(9), s(11)), phase.place(s(30), s(31))), (None, None));
    }

    #[test]
    fn a_ramp_before_the_phase_does_not_make_its_rate_vary() {
        let s = Nanos::from_secs;
        let profile =
            Profile::new(&[Phase::ramp(s(5), Rate(0.0), Rate(10.0)), Phase::hold(s(20), Rate(10.0))]);
        assert!(Measured::new(&(s(5)..s(25))).has_constant_rate(&profile));
        assert!(!Measured::new(&(s(4)..s(25))).has_constant_rate(&profile));
        assert_eq!(Measured::new(&(s(5)..s(25))).mean_rate(&profile), Some(10.0));
    }

    #[test]
    fn ranges_merge_and_stay_few() {
        let mut ranges = Ranges::default();
        ranges.push(0, 10);
        ranges.push(5, 30);
        ranges.push(10_000_000_000, 10_000_000_100);
        assert_eq!(ranges.seconds(), [[0.0, 3e-8], [10.0, 10.0000001]]);
        for i in 0..100_000 {
            ranges.push(i * 1_000_000_000, i * 1_000_000_000 + 5);
        }
        assert!(ranges.seconds().len() <= MOST_RANGES);
    }
}
