//! How many of something there were over time (requests in flight, users, sessions), from when each came and went, told in
//! any order.
//!
//! A level is the sum of its changes so far. What is kept is, for each stretch of time, the sum of the changes within it
//! and the sum of each one times what was left of the stretch: both are whole numbers that add up in any order, and the
//! mean level of a stretch follows from them exactly. Deliberately absent: the instants themselves.

use crate::intervals::SEGMENTS;
use crate::phase::Measured;
use headway_base::Nanos;

/// The changes within one stretch of time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Changes {
    sum: i64,
    /// Sum of change x time left in the stretch, in nanoseconds.
    area: i128,
}

impl Changes {
    #[inline]
    pub fn push(&mut self, by: i64, left: i64) {
        self.sum += by;
        self.area += i128::from(by) * i128::from(left);
    }

    /// This stretch and the one after it, which is `width` long, as one.
    pub fn join(&mut self, next: &Changes, width: i64) {
        self.area += i128::from(self.sum) * i128::from(width) + next.area;
        self.sum += next.sum;
    }

    /// The mean level of the stretch; `level` goes from that at its beginning to that at its end.
    pub fn mean(&self, level: &mut i64, width: i64) -> f64 {
        let mean = (*level as f64) + self.area as f64 / width as f64;
        *level += self.sum;
        mean
    }
}

/// A level over the segments of the measured phase, and how high it rose.
#[derive(Clone, Debug)]
pub(crate) struct Levels {
    measured: Measured,
    before: i64,
    segments: [Changes; SEGMENTS],
    /// None where nobody asks how high it rose.
    peaks: Option<Peaks>,
    /// How often it changed.
    pub n: u64,
}

impl Levels {
    pub fn new(measured: Measured) -> Levels {
        Levels { peaks: Some(Peaks::new()), ..Levels::means_alone(measured) }
    }

    /// A level of which only the means are kept.
    pub fn means_alone(measured: Measured) -> Levels {
        Levels { measured, before: 0, segments: Default::default(), peaks: None, n: 0 }
    }

    #[inline]
    pub fn change(&mut self, at: Nanos, by: i64) {
        self.n += 1;
        if let Some(peaks) = &mut self.peaks {
            peaks.change(at.0, by);
        }
        if at < self.measured.start {
            self.before += by;
        } else if let Some(segment) = self.measured.segment(at) {
            self.segments[segment].push(by, self.border(segment + 1) - at.0);
        }
    }

    /// When a segment begins; number 20 is the end of the phase.
    fn border(&self, segment: usize) -> i64 {
        let Measured { start, end, .. } = self.measured;
        let length = i128::from(end.0) - i128::from(start.0);
        start.0 + (length * segment as i128 / SEGMENTS as i128) as i64
    }

    /// The mean level in each segment.
    pub fn means(&self) -> [f64; SEGMENTS] {
        let mut level = self.before;
        std::array::from_fn(|s| self.segments[s].mean(&mut level, self.border(s + 1) - self.border(s)))
    }

    /// The mean level over the phase: over its complete segments, or until `until` if the level is 0 from then on.
    pub fn mean_until(&self, until: Nanos, filled: usize) -> Option<f64> {
        let means = self.means();
        if filled > 0 {
            return Some(means[..filled].iter().sum::<f64>() / filled as f64);
        }
        let area: f64 = (0..SEGMENTS).map(|s| means[s] * (self.border(s + 1) - self.border(s)) as f64).sum();
        let length = (until - self.measured.start).0;
        (length > 0 && self.at_end() == 0).then(|| area / length as f64)
    }

    /// The level at the end of the measured phase.
    pub fn at_end(&self) -> i64 {
        self.before + self.segments.iter().map(|s| s.sum).sum::<i64>()
    }

    fn looks(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        self.peaks.iter().flat_map(Peaks::all)
    }

    /// Highest level, as seen every few milliseconds.
    pub fn highest(&self) -> u64 {
        self.looks().map(|(_, level)| level).max().unwrap_or(0).max(0) as u64
    }

    /// Share of the looks within a stretch of time at which the level was at least so high.
    pub fn share_at_least(&self, least: f64, from: Nanos, to: Nanos) -> Option<f64> {
        let looks = self.looks().filter(|&(at, _)| at >= from.0 && at < to.0);
        let (n, high) = looks
            .fold((0u64, 0u64), |(n, high), (_, level)| (n + 1, high + u64::from(level as f64 >= least)));
        (n > 0).then(|| high as f64 / n as f64)
    }
}

/// The level at instants a fixed time apart: 1 ms, doubled as often as it takes to keep their number.
#[derive(Clone, Debug)]
struct Peaks {
    width: i64,
    /// Change since the look before, the look itself included.
    changes: Vec<i64>,
}

/// Most looks.
const MOST: usize = 1 << 14;

impl Peaks {
    fn new() -> Peaks {
        Peaks { width: 1_000_000, changes: Vec::new() }
    }

    #[inline]
    fn change(&mut self, at: i64, by: i64) {
        // The first look at or after the change.
        let mut look = (at.max(0).saturating_add(self.width - 1) / self.width) as usize;
        while look >= MOST {
            self.halve();
            look = look.div_ceil(2);
        }
        if look >= self.changes.len() {
            self.changes.resize(look + 1, 0);
        }
        self.changes[look] += by;
    }

    fn halve(&mut self) {
        self.width = self.width.saturating_mul(2);
        let merged = self.changes.len().div_ceil(2) + 1;
        let mut looks = vec![0; merged];
        for (look, by) in self.changes.iter().enumerate() {
            looks[look.div_ceil(2)] += by;
        }
        self.changes = looks;
    }

    /// Each look: when, and the level.
    fn all(&self) -> impl Iterator<Item = (i64, i64)> + '_ {
        let mut level = 0;
        self.changes.iter().enumerate().map(move |(look, by)| {
            level += by;
            (look as i64 * self.width, level)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_means_over_time_in_any_order() {
        let s = Nanos::from_secs;
        let mut changes = [(Nanos(0), 3), (s(5), 2), (s(13), -1), (s(29), -4), (s(31), 7)];
        for _ in 0..5 {
            changes.rotate_left(1);
            let mut levels = Levels::new(Measured::new(&(s(10)..s(30))));
            changes.iter().for_each(|&(at, by)| levels.change(at, by));
            let means = levels.means();
            assert_eq!((means[0], means[2], means[3], means[18]), (5.0, 5.0, 4.0, 4.0));
            assert_eq!((means[19], levels.at_end(), levels.highest()), (0.0, 0, 7));
            assert_eq!(levels.share_at_least(5.0, s(10), s(30)), Some(0.15));
        }
        let mut half = Levels::new(Measured::new(&(s(0)..s(20))));
        half.change(Nanos::from_millis(250), 4);
        assert_eq!(half.means()[..2], [3.0, 4.0]);
    }

    #[test]
    fn looks_stay_few_and_keep_the_level() {
        let mut levels = Levels::new(Measured::new(&(Nanos::ZERO..Nanos::from_secs(1))));
        for s in 0..100_000 {
            levels.change(Nanos::from_secs(s), if s < 60_000 { 1 } else { -1 });
        }
        assert!(levels.peaks.as_ref().unwrap().changes.len() <= MOST);
        // Looks are 8 s apart by then.
        assert!((59_992..=60_000).contains(&levels.highest()), "{}", levels.highest());
        // A crowd that comes at once is seen whole, though some go within the first millisecond.
        let mut crowd = Levels::new(Measured::new(&(Nanos::ZERO..Nanos::from_secs(1))));
        (0..1_000).for_each(|_| crowd.change(Nanos::ZERO, 1));
        (0..400).for_each(|i| crowd.change(Nanos::from_micros(1 + i), -1));
        assert_eq!(crowd.highest(), 1_000);
    }

    #[test]
    fn joined_stretches_have_the_mean_of_both() {
        let (mut a, mut b) = (Changes::default(), Changes::default());
        a.push(4, 50);
        b.push(-2, 25);
        let (mut level, mut apart) = (1, 1);
        let means = [a.mean(&mut apart, 100), b.mean(&mut apart, 100)];
        a.join(&b, 100);
        assert_eq!(a.mean(&mut level, 200), (means[0] + means[1]) / 2.0);
        assert_eq!(level, apart);
    }
}
