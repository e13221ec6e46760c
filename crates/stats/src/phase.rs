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

/// At most 64 stretches of time, sorted and apart, in whatever order they arrive. Neighbours closer than a gap are one; when
/// there are too many, the gap doubles.
#[derive(Clone, Debug)]
pub(crate) struct Ranges {
    /// Each begins more than `gap` after the end of the one before.
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
    /// Adds a stretch in nanoseconds; one that ends before it begins is taken as the instant at which it begins.
    pub fn push(&mut self, from: i64, to: i64) {
        self.insert(from, to.max(from));
        // Ends: the gap reaches i64::MAX within 37 rounds, and no more than three stretches of i64 are farther apart than that.
        while self.ranges.len() > MOST_RANGES {
            self.gap = self.gap.saturating_mul(2);
            let gap = self.gap;
            self.ranges.dedup_by(|next, last| {
                let one = next.0 <= last.1.saturating_add(gap);
                if one {
                    last.1 = last.1.max(next.1);
                }
                one
            });
        }
    }

    fn insert(&mut self, from: i64, to: i64) {
        // Those that the new one joins: neighbours, as all are sorted and apart.
        let first = self.ranges.partition_point(|r| r.1.saturating_add(self.gap) < from);
        let past = self.ranges.partition_point(|r| r.0 <= to.saturating_add(self.gap)).max(first);
        let (mut joined, touched) = ((from, to), first..past);
        if let (Some(&(begin, _)), Some(&(_, end))) =
            (self.ranges.get(first), self.ranges[touched.clone()].last())
        {
            joined = (joined.0.min(begin), joined.1.max(end));
        }
        self.ranges.splice(touched, [joined]);
    }

    /// In seconds, sorted.
    pub fn seconds(&self) -> Vec<[f64; 2]> {
        self.ranges.iter().map(|&(from, to)| [from as f64 / 1e9, to as f64 / 1e9]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::{Phase, Rate};
    use proptest::prelude::*;

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

    #[test]
    fn ranges_that_arrive_newest_first_stay_few() {
        let mut ranges = Ranges::default();
        for i in (0..66).rev() {
            ranges.push(i, i);
        }
        assert_eq!(ranges.seconds(), [[0.0, 65e-9]]);
        let mut ranges = Ranges::default();
        // Ever farther apart: a gap that joins the first ones leaves the last ones apart.
        for i in 0..850 {
            let at = (849 * 849 - i * i) * 1_000_000_000;
            ranges.push(at, at + 5);
        }
        assert!((2..=MOST_RANGES).contains(&ranges.seconds().len()));
        assert_eq!(ranges.seconds()[0][0], 0.0);
    }

    /// Stretches in orders that an adversary would choose.
    fn stretches() -> impl Strategy<Value = Vec<(i64, i64)>> {
        let instant = prop_oneof![
            4 => -1_000_000_000_000..1_000_000_000_000_i64,
            1 => any::<i64>(),
            1 => prop::sample::select(vec![i64::MIN, i64::MIN + 1, -1, 0, 1, i64::MAX - 1, i64::MAX]),
        ];
        let length =
            prop_oneof![3 => Just(0), 3 => 0..2_000_000_000_i64, 1 => any::<i64>(), 1 => Just(i64::MAX)];
        let drawn = prop::collection::vec((instant, length), 1..300);
        (drawn, 0..5_u8).prop_map(|(mut all, order)| {
            match order {
                0 => all.sort_unstable(),
                1 => all.sort_unstable_by(|a, b| b.cmp(a)),
                2 => {
                    all.sort_unstable();
                    let (low, high) = all.split_at(all.len() / 2);
                    let pairs = low.iter().zip(high.iter().rev());
                    all = pairs.flat_map(|(&l, &h)| [h, l]).chain(high.first().copied()).collect();
                }
                3 => all = vec![all[0]; all.len()],
                _ => {}
            }
            all.into_iter().map(|(from, length)| (from, from.saturating_add(length))).collect()
        })
    }

    proptest! {
        #[test]
        fn ranges_hold_what_was_pushed_in_any_order(pushed in stretches()) {
            let mut ranges = Ranges::default();
            for (n, &(from, to)) in pushed.iter().enumerate() {
                ranges.push(from, to);
                let (kept, gap) = (&ranges.ranges, ranges.gap);
                prop_assert!(kept.len() <= MOST_RANGES);
                prop_assert!(kept.iter().all(|r| r.0 <= r.1));
                prop_assert!(kept.windows(2).all(|w| w[0].1.saturating_add(gap) < w[1].0));
                for &(from, to) in &pushed[..=n] {
                    let to = to.max(from);
                    prop_assert!(kept.iter().any(|r| r.0 <= from && to <= r.1));
                }
                // Each begins and ends where something pushed does.
                let pushed = &pushed[..=n];
                prop_assert!(kept.iter().all(|r| pushed.iter().any(|p| p.0 == r.0)
                    && pushed.iter().any(|p| p.1.max(p.0) == r.1)));
            }
        }
    }
}
