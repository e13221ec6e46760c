//! What a trial has seen so far, batch by batch: response times counted by level, and failures.
//!
//! Memory does not grow with the trial: whenever all batches are full, neighbours are joined. Deliberately absent: what is
//! concluded from it (`evidence`).

use headway_base::Nanos;

/// Batches that are kept at most; half of that after neighbours were joined.
const MOST: usize = 128;
/// Observations of a batch at the beginning.
const SMALLEST: u64 = 4;
/// Levels of the ladder, a factor of the square root of two apart, from [`LOWEST_NS`] on: to 65 s.
pub(super) const LEVELS: usize = 41;
/// The lowest level, nanoseconds.
const LOWEST_NS: f64 = 62_500.0;
/// Levels that are exact: half the limit, the limit, twice the limit.
pub(super) const EXACT: usize = 3;
/// Parts into which what is looked at is cut: at least this many, and less than twice as many.
pub(super) const FEWEST_PARTS: usize = 24;

/// One observation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// How long it took; [`Nanos::MAX`] if it was given up without a response.
    pub time: Nanos,
    /// Whether it failed.
    pub failed: bool,
}

/// Counts of some observations in a row.
#[derive(Clone, Copy, Debug)]
struct Counts {
    n: u64,
    failed: u64,
    /// Sum of the natural logarithms of the times in seconds; of what was given up, that of the highest level.
    logarithms: f64,
    /// Beyond half the limit, the limit, and twice the limit.
    exact: [u64; EXACT],
    /// By the highest level which they are beyond; the first: beyond none.
    levels: [u32; LEVELS + 1],
}

impl Counts {
    const NONE: Counts =
        Counts { n: 0, failed: 0, logarithms: 0.0, exact: [0; EXACT], levels: [0; LEVELS + 1] };

    fn add(&mut self, other: &Counts) {
        self.n += other.n;
        self.failed += other.failed;
        self.logarithms += other.logarithms;
        self.exact.iter_mut().zip(other.exact).for_each(|(own, other)| *own += other);
        self.levels.iter_mut().zip(other.levels).for_each(|(own, other)| *own += other);
    }
}

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// Failures.
    Failed,
    /// Response times beyond an exact level.
    Exact(usize),
    /// Response times beyond a level of the ladder.
    Level(usize),
}

/// The batches of a trial.
#[derive(Clone, Debug)]
pub(super) struct Batches {
    pub(super) limits: [Nanos; EXACT],
    full: Vec<Counts>,
    coming: Counts,
    size: u64,
    n: u64,
}

impl Batches {
    /// Of response times with that limit.
    pub(super) fn new(limit: Nanos) -> Batches {
        let limits = [Nanos(limit.0 / 2), limit, Nanos(limit.0.saturating_mul(2))];
        Batches { limits, full: Vec::with_capacity(MOST), coming: Counts::NONE, size: SMALLEST, n: 0 }
    }

    /// Observations so far.
    pub(super) fn n(&self) -> u64 {
        self.n
    }

    /// Takes one observation; they come in the order in which the requests were due.
    #[inline]
    pub(super) fn take(&mut self, seen: Seen) {
        let (counts, time) = (&mut self.coming, seen.time);
        counts.n += 1;
        counts.failed += u64::from(seen.failed);
        counts.logarithms += ((time.0.max(1) as f64).min(level_ns(LEVELS - 1)) / 1e9).ln();
        for (count, limit) in counts.exact.iter_mut().zip(self.limits) {
            *count += u64::from(time > limit);
        }
        counts.levels[level(time)] += 1;
        self.n += 1;
        if counts.n == self.size {
            self.full.push(std::mem::replace(counts, Counts::NONE));
            if self.full.len() == MOST {
                self.join();
            }
        }
    }

    fn join(&mut self) {
        let joined = self.full.chunks(2).map(|pair| {
            let mut sum = Counts::NONE;
            pair.iter().for_each(|counts| sum.add(counts));
            sum
        });
        self.full = joined.collect();
        self.size *= 2;
    }

    /// All but the first part of them, which is warm-up, in [`FEWEST_PARTS`] to twice as many parts of one size. None while
    /// there are too few.
    pub(super) fn parts(&self, warm_up: f64) -> Option<Parts> {
        let cut = (self.full.len() as f64 * warm_up).ceil() as usize;
        let kept = self.full.len() - cut;
        let joined = kept / FEWEST_PARTS;
        if joined == 0 {
            return None;
        }
        // What does not fill a part is left out at the beginning.
        let parts = self.full[cut + kept % joined..].chunks(joined).map(|chunk| {
            let mut sum = Counts::NONE;
            chunk.iter().for_each(|counts| sum.add(counts));
            // How many are beyond each level.
            for level in (0..LEVELS).rev() {
                sum.levels[level] += sum.levels[level + 1];
            }
            sum
        });
        Some(Parts { parts: parts.collect() })
    }
}

/// The highest level that a time is beyond, counted from 1; 0: none.
#[inline]
fn level(time: Nanos) -> usize {
    let ratio = time.0 as f64 / LOWEST_NS;
    if ratio <= 1.0 {
        return 0;
    }
    // Exponent and mantissa of a double: whole powers of two, and whether it is past the square root.
    let bits = ratio.to_bits();
    let exponent = (bits >> 52) as usize - 1_023;
    let half =
        usize::from(f64::from_bits((bits & ((1 << 52) - 1)) | (1_023 << 52)) > std::f64::consts::SQRT_2);
    (2 * exponent + half + 1).min(LEVELS)
}

/// Level of the ladder, in nanoseconds.
pub(super) fn level_ns(level: usize) -> f64 {
    LOWEST_NS * (level as f64 / 2.0).exp2()
}

/// Parts of one size.
pub(super) struct Parts {
    parts: Vec<Counts>,
}

impl Parts {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Observations in all of them.
    pub(super) fn n(&self) -> u64 {
        self.parts.iter().map(|part| part.n).sum()
    }

    /// How many took longer than `time` nanoseconds, between the levels whose counts are known (`limits` are the exact ones): by a line through
    /// the logarithms of the counts.
    pub(super) fn beyond(&self, limits: [Nanos; EXACT], time: f64) -> f64 {
        let exact = limits.iter().enumerate().map(|(which, limit)| (limit.0 as f64, Event::Exact(which)));
        let ladder = (0..LEVELS).map(|level| (level_ns(level), Event::Level(level)));
        let known = || exact.clone().chain(ladder.clone());
        let below = known().filter(|(at, _)| *at <= time).max_by(|a, b| a.0.total_cmp(&b.0));
        let above = known().filter(|(at, _)| *at >= time).min_by(|a, b| a.0.total_cmp(&b.0));
        match (below, above) {
            (Some((low, event)), Some((high, other))) if low < high => {
                let [most, least] = [event, other].map(|event| (self.sum(event) as f64 + 0.5).ln());
                let part = (time - low) / (high - low);
                ((most + part * (least - most)).exp() - 0.5).max(0.0)
            }
            (_, Some((_, event))) if time > 0.0 => self.sum(event) as f64,
            (Some((_, event)), None) => self.sum(event) as f64,
            _ => self.n() as f64,
        }
    }

    /// The same in about so many parts, each of neighbours; what fills none is left out at the beginning.
    pub(super) fn joined(&self, count: usize) -> Parts {
        let each = (self.parts.len() / count).max(1);
        let join = |chunk: &[Counts]| {
            let mut sum = Counts::NONE;
            chunk.iter().for_each(|counts| sum.add(counts));
            sum
        };
        let rest = self.parts.len() % each;
        Parts { parts: self.parts[rest..].chunks(each).map(join).collect() }
    }

    /// Observations in each.
    pub(super) fn sizes(&self) -> impl Iterator<Item = u64> + '_ {
        self.parts.iter().map(|part| part.n)
    }

    /// How often that happened in each.
    pub(super) fn of(&self, event: Event) -> impl Iterator<Item = u64> + Clone + '_ {
        self.parts.iter().map(move |part| match event {
            Event::Failed => part.failed,
            Event::Exact(which) => part.exact[which],
            Event::Level(level) => u64::from(part.levels[level + 1]),
        })
    }

    /// The mean natural logarithm of all times, in seconds.
    pub(super) fn pace(&self) -> f64 {
        self.parts.iter().map(|part| part.logarithms).sum::<f64>() / self.n() as f64
    }

    /// How often it happened.
    pub(super) fn sum(&self, event: Event) -> u64 {
        self.of(event).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(ns: f64) -> Seen {
        Seen { time: Nanos(ns as i64), failed: false }
    }

    #[test]
    fn levels_are_half_powers_of_two() {
        for step in 0..LEVELS {
            let at = level_ns(step);
            assert_eq!(level(Nanos((at * 0.999) as i64)), step, "below {at}");
            assert_eq!(level(Nanos((at * 1.001) as i64)), step + 1, "above {at}");
        }
        assert_eq!((level(Nanos::ZERO), level(Nanos::MAX)), (0, LEVELS));
    }

    #[test]
    fn nothing_is_lost_but_the_warm_up_and_what_fills_no_part() {
        let mut batches = Batches::new(Nanos::from_millis(100));
        assert!(batches.parts(0.25).is_none());
        for i in 0..100_000u64 {
            batches.take(Seen {
                time: Nanos::from_millis(if i % 100 == 0 { 150 } else { 60 }),
                failed: i % 50 == 0,
            });
        }
        let parts = batches.parts(0.25).unwrap();
        assert!((FEWEST_PARTS..2 * FEWEST_PARTS).contains(&parts.len()), "{}", parts.len());
        let n = parts.n();
        assert!((70_000..=75_000).contains(&n), "{n}");
        let share = |event| parts.sum(event) as f64 / n as f64;
        assert_eq!(share(Event::Exact(0)), 1.0);
        assert!((share(Event::Exact(1)) - 0.01).abs() < 2e-4);
        assert_eq!(share(Event::Exact(2)), 0.0);
        assert!((share(Event::Failed) - 0.02).abs() < 4e-4);
        let at = (0..LEVELS).find(|&level| level_ns(level) > 6.1e7).unwrap();
        assert_eq!(share(Event::Level(at - 1)), 1.0);
        assert!((share(Event::Level(at)) - 0.01).abs() < 2e-4);
    }

    #[test]
    fn counts_between_levels_lie_between_theirs() {
        let mut batches = Batches::new(Nanos::from_millis(60));
        // Exponential with mean 13 ms: a per cent are beyond 60 ms.
        (0..100_000u64).for_each(|i| {
            let place = (i * 61_803 % 100_000) as f64 / 1e5;
            batches.take(seen(-13e6 * (1.0 - place).ln()));
        });
        let parts = batches.parts(0.1).unwrap();
        let share = |ms: f64| parts.beyond(batches.limits, ms * 1e6) / parts.n() as f64;
        for ms in [31.0, 45.0, 58.0, 60.0, 61.0, 75.0] {
            let truth = (-ms / 13.0f64).exp();
            assert!((share(ms) / truth - 1.0).abs() < 0.05, "{ms}: {} {truth}", share(ms));
        }
        assert_eq!((share(-1.0), share(1e9)), (1.0, 0.0));
        assert_eq!(share(60.0), parts.sum(Event::Exact(1)) as f64 / parts.n() as f64);
    }
}
