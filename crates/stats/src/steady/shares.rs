//! The observations of one run, counted by bucket, with as many of them exactly as are known.
//!
//! A bucket is up to 0.8 % wide: too wide for a percentile of a million observations, and one bucket may hold all of a narrow
//! law or the only two values of another. How the observations of a bucket lie within it is read from those of which the exact
//! value is kept (all of a short run, a stratified sample of a long one). No shape is assumed, so that values which many
//! observations share stay exact.

use super::Histogram;
use super::histogram::{borders, index};

/// Buckets there are.
pub(super) const BUCKETS: usize = (65 - 7) << 7;

/// Exact values in a bucket from which on they are sorted once, and not each time that they are asked for: a narrow law has all of its
/// values in a few buckets.
const MUCH: u32 = 512;

/// The observations of one run: ten bytes for each bucket that holds something, eight for each exact value.
#[derive(Clone, Debug)]
pub struct Shares {
    /// Buckets that hold something, in order.
    pub(super) buckets: Box<[u16]>,
    /// Observations up to the end of each.
    up_to: Box<[u64]>,
    /// Exact values, those of one bucket together, in the order of the buckets.
    exact: Box<[u64]>,
    /// Where those of each bucket end.
    ends: Box<[u32]>,
    pub(super) min: u64,
    pub(super) max: u64,
}

/// Which of `n` observations in order is the quantile `p`, counted from 1.
pub(super) fn rank(p: f64, n: u64) -> f64 {
    // The slack undoes rounding in p x n: 0.07 x 100 must be 7.
    (p * n as f64 * (1.0 - 1e-12)).ceil().clamp(1.0, n.max(1) as f64)
}

/// What one run has in one bucket.
pub(super) struct Inside {
    /// Observations in the buckets below, in this one, and in all.
    pub below: u64,
    pub count: u64,
    pub n: u64,
    /// Exact values in it, sorted.
    pub exact: Vec<u64>,
}

impl Shares {
    /// Of these observations, of which the exact values are known of some or all: of at most 2^32, in any order, in nanoseconds. They
    /// must be a fair sample of the observations in each bucket; those in buckets that hold nothing are not used.
    pub fn of(histogram: &Histogram, exact: impl Iterator<Item = u64> + Clone) -> Shares {
        let buckets: Box<[u16]> = histogram.buckets().map(|bucket| index::<7>(bucket.low) as u16).collect();
        let mut n = 0;
        let counts = histogram.buckets().map(|bucket| {
            n += bucket.count;
            n
        });
        let up_to = counts.collect();
        // Sorted by bucket alone, by counting: what is within a bucket is sorted where it is needed, but for buckets that hold much.
        let mut of_bucket = vec![0u32; BUCKETS];
        exact.clone().for_each(|ns| of_bucket[index::<7>(ns)] += 1);
        let mut next = vec![u32::MAX; BUCKETS];
        let mut held = 0;
        for &bucket in &buckets {
            next[usize::from(bucket)] = held;
            held += of_bucket[usize::from(bucket)];
        }
        let mut values = vec![0; held as usize].into_boxed_slice();
        for ns in exact {
            let at = &mut next[index::<7>(ns)];
            if *at != u32::MAX {
                values[*at as usize] = ns;
                *at += 1;
            }
        }
        let ends: Box<[u32]> = buckets.iter().map(|&bucket| next[usize::from(bucket)]).collect();
        let mut begin = 0;
        for &end in &ends {
            if end - begin >= MUCH {
                values[begin as usize..end as usize].sort_unstable();
            }
            begin = end;
        }
        let (min, max) = (histogram.min().unwrap_or(u64::MAX), histogram.max().unwrap_or(0));
        Shares { buckets, up_to, exact: values, ends, min, max }
    }

    /// How many there are.
    pub fn n(&self) -> u64 {
        self.up_to.last().copied().unwrap_or(0)
    }

    /// The smallest x with F(x) >= p, in nanoseconds, as far as exact values are known; none of nothing.
    pub fn quantile(&self, p: f64) -> Option<u64> {
        let rank = rank(p, self.n());
        let bucket = *self.buckets.get(self.up_to.partition_point(|&up_to| (up_to as f64) < rank))?;
        let Inside { below, count, exact, .. } = self.inside(bucket);
        let (low, high) = borders::<7>(usize::from(bucket));
        // Of the exact values the share that the missing ones have of the bucket; the slack undoes rounding.
        let missing = (rank - below as f64) / count as f64 * exact.len() as f64;
        let place = (missing * (1.0 - 1e-12)).ceil().max(1.0) as usize;
        let value = exact.get(place.min(exact.len()).wrapping_sub(1)).copied();
        Some(value.unwrap_or(low + (high - low) / 2).clamp(self.min, self.max))
    }

    /// How many lie in that bucket or below.
    pub(super) fn up_to(&self, bucket: u16) -> u64 {
        let place = self.buckets.partition_point(|&own| own <= bucket);
        place.checked_sub(1).map_or(0, |last| self.up_to[last])
    }

    /// What lies in that bucket.
    pub(super) fn inside(&self, bucket: u16) -> Inside {
        let place = self.buckets.partition_point(|&own| own < bucket);
        let below = place.checked_sub(1).map_or(0, |last| self.up_to[last]);
        let n = self.n();
        if self.buckets.get(place) != Some(&bucket) {
            return Inside { below, count: 0, n, exact: Vec::new() };
        }
        let begin = place.checked_sub(1).map_or(0, |last| self.ends[last]);
        let mut exact = self.exact[begin as usize..self.ends[place] as usize].to_vec();
        exact.sort_unstable();
        Inside { below, count: self.up_to[place] - below, n, exact }
    }
}

/// One bucket of several runs: the values at which their shares are known.
pub(super) struct Within {
    runs: Vec<Inside>,
    /// Distinct exact values of all runs, in order; where there are none, the bucket's ends.
    pub values: Vec<u64>,
    /// Whether no exact value is known in it.
    pub blind: bool,
}

impl Within {
    pub fn of(runs: &[&Shares], bucket: u16) -> Within {
        let (min, max) = runs.iter().fold((u64::MAX, 0), |(a, b), run| (a.min(run.min), b.max(run.max)));
        let runs: Vec<Inside> = runs.iter().map(|run| run.inside(bucket)).collect();
        let mut values: Vec<u64> = runs.iter().flat_map(|run| &run.exact).copied().collect();
        // They come in sorted stretches, which a stable sort merges.
        values.sort();
        values.dedup();
        let blind = values.is_empty();
        if blind {
            let (low, high) = borders::<7>(usize::from(bucket));
            values = vec![low.clamp(min, max), high.clamp(min, max)];
        }
        Within { runs, values, blind }
    }

    /// Observations in the buckets below, of all runs.
    pub fn below(&self) -> f64 {
        self.runs.iter().map(|run| run.below).sum::<u64>() as f64
    }

    /// The same of each run, and how many observations it has.
    pub fn before(&self) -> Vec<(f64, f64)> {
        self.runs.iter().map(|run| (run.below as f64, run.n as f64)).collect()
    }

    /// Of each run, how many observations are at most `x`, a value in the bucket, and how many there are. A run whose own values
    /// in the bucket are not known has them as the others have; where none is known, all lie at its upper end.
    pub fn up_to(&self, x: u64) -> Vec<(f64, f64)> {
        let known = |run: &Inside| (run.exact.partition_point(|&own| own <= x), run.exact.len());
        let (hits, of) = self.runs.iter().map(known).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
        let at_end = self.values.last().is_none_or(|&last| x >= last);
        let others = if of > 0 { hits as f64 / of as f64 } else { f64::from(u8::from(at_end)) };
        let of_run = |run: &Inside| {
            let (hits, of) = known(run);
            let share = if of > 0 { hits as f64 / of as f64 } else { others };
            (run.below as f64 + run.count as f64 * share, run.n as f64)
        };
        self.runs.iter().map(of_run).collect()
    }
}
