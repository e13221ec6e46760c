//! A histogram for simulations: one shift and one add per value, over all 64 bits of nanoseconds.
//!
//! Log-linear: 2^BITS buckets of equal width per octave, found by counting leading zeros; whole numbers below
//! 2^(BITS + 1) have a bucket each. With the 7 bits of [`Histogram::new`] it takes 58 KiB. `hdrhistogram`, which the
//! analysis of records uses, has the same buckets but grows, checks and saturates as it records; see
//! `tests/it/steady/speed.rs` for what that costs. Count, sum, least and greatest are exact.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// Counts of whole nanoseconds in buckets whose width is at most 1/2^BITS of their values; BITS is 1 to 12.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Histogram<const BITS: u32 = 7> {
    counts: Box<[u64]>,
    n: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// A histogram as it is written down: the buckets that hold something.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// Number of the bucket, and its count.
    counts: Vec<(u32, u64)>,
    sum: u128,
    min: u64,
    max: u64,
}

/// A bucket of that number, which a histogram does not have.
#[derive(Debug)]
struct NoBucket(u32);

impl fmt::Display for NoBucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no bucket {} in a histogram", self.0)
    }
}

impl<const BITS: u32> From<Histogram<BITS>> for Stored {
    fn from(all: Histogram<BITS>) -> Stored {
        let full = (0u32..).zip(&all.counts).filter(|(_, count)| **count > 0);
        Stored {
            counts: full.map(|(i, &count)| (i, count)).collect(),
            sum: all.sum,
            min: all.min,
            max: all.max,
        }
    }
}

impl<const BITS: u32> TryFrom<Stored> for Histogram<BITS> {
    type Error = NoBucket;

    fn try_from(stored: Stored) -> Result<Self, NoBucket> {
        let mut all = Histogram { sum: stored.sum, min: stored.min, max: stored.max, ..Histogram::default() };
        for (i, count) in stored.counts {
            *all.counts.get_mut(i as usize).ok_or(NoBucket(i))? += count;
            all.n += count;
        }
        Ok(all)
    }
}

/// A bucket that holds something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// Least whole number in it.
    pub low: u64,
    /// Greatest whole number in it.
    pub high: u64,
    /// Observations.
    pub count: u64,
}

impl Bucket {
    /// Its middle, as which its observations are told.
    pub fn middle(&self) -> u64 {
        self.low + (self.high - self.low) / 2
    }
}

impl Histogram {
    /// 128 buckets per octave.
    pub fn new() -> Histogram {
        Histogram::default()
    }
}

impl<const BITS: u32> Default for Histogram<BITS> {
    fn default() -> Self {
        const { assert!(BITS >= 1 && BITS <= 12) }
        let counts = vec![0; (65 - BITS as usize) << BITS].into_boxed_slice();
        Histogram { counts, n: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl<const BITS: u32> Histogram<BITS> {
    /// A quantile is off by at most this share of its value.
    pub const RELATIVE_ERROR: f64 = 0.5 / (1u64 << BITS) as f64;

    /// Counts a time in nanoseconds.
    #[inline]
    pub fn push(&mut self, ns: u64) {
        self.counts[index::<BITS>(ns)] += 1;
        self.n += 1;
        self.sum += u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    /// Adds what another one counted.
    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.n += other.n;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Observations.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Sum in nanoseconds, exact.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Mean in nanoseconds; none of nothing.
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / self.n as f64)
    }

    /// Least, exact; none of nothing.
    pub fn min(&self) -> Option<u64> {
        (self.n > 0).then_some(self.min)
    }

    /// Greatest, exact; none of nothing.
    pub fn max(&self) -> Option<u64> {
        (self.n > 0).then_some(self.max)
    }

    /// The smallest x with F(x) >= p, told as the middle of its bucket; none of nothing.
    pub fn quantile(&self, p: f64) -> Option<u64> {
        // The slack undoes rounding in p x n: 0.07 x 100 must be 7.
        let rank = ((p * self.n as f64) * (1.0 - 1e-12)).ceil().max(1.0) as u64;
        let rank = rank.min(self.n);
        let mut up_to = 0;
        let bucket = self.buckets().find(|bucket| {
            up_to += bucket.count;
            up_to >= rank
        })?;
        Some(bucket.middle().clamp(self.min, self.max))
    }

    /// Observations beyond `ns`, each taken for the middle of its bucket; exact from the greatest on, and below the least.
    pub fn beyond(&self, ns: u64) -> u64 {
        if ns >= self.max {
            return 0;
        }
        if ns < self.min {
            return self.n;
        }
        self.buckets().filter(|bucket| bucket.middle() > ns).map(|bucket| bucket.count).sum()
    }

    /// The buckets that hold something, in order.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> {
        let filled = match self.n {
            0 => Range::default(),
            _ => index::<BITS>(self.min)..index::<BITS>(self.max) + 1,
        };
        filled.filter(|&i| self.counts[i] > 0).map(|i| {
            let (low, high) = borders::<BITS>(i);
            Bucket { low, high, count: self.counts[i] }
        })
    }
}

/// Bucket of a value: its leading BITS + 1 bits, after as many steps of 2^BITS as bits were shifted out.
#[inline]
pub(super) fn index<const BITS: u32>(ns: u64) -> usize {
    let shift = 63 - BITS - (ns | 1 << BITS).leading_zeros();
    ((shift as usize) << BITS) + (ns >> shift) as usize
}

/// Least and greatest value of a bucket.
pub(super) fn borders<const BITS: u32>(index: usize) -> (u64, u64) {
    let shift = (index >> BITS).saturating_sub(1);
    let low = ((index - (shift << BITS)) as u64) << shift;
    (low, low + ((1 << shift) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;
    use proptest::prelude::*;

    #[test]
    fn what_is_written_down_is_read_back_and_a_bucket_that_is_not_there_is_refused() {
        let mut all: Histogram = Histogram::new();
        [0, 7, 129, 1_000_003, u64::MAX].into_iter().for_each(|value| all.push(value));
        let text = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), all);
        let beyond = r#"{"counts":[[4000000,1]],"sum":1,"min":1,"max":1}"#;
        let error = serde_json::from_str::<Histogram>(beyond).unwrap_err().to_string();
        assert!(error.contains("no bucket 4000000 in a histogram"), "{error}");
    }

    #[test]
    fn buckets_cover_all_values_without_gap_and_are_narrow() {
        let mut next = 0u64;
        let last = Histogram::new().counts.len() - 1;
        for i in 0..=last {
            let (low, high) = borders::<7>(i);
            assert_eq!(low, next, "{i}");
            assert!((high - low) as f64 <= low as f64 / 128.0, "{i}: {low} {high}");
            assert_eq!((index::<7>(low), index::<7>(high)), (i, i));
            next = high.wrapping_add(1);
        }
        assert_eq!((next, index::<7>(u64::MAX)), (0, last));
        assert_eq!(index::<10>(u64::MAX), Histogram::<10>::default().counts.len() - 1);
    }

    proptest! {
        /// Against the sorted values themselves.
        #[test]
        fn quantiles_are_within_the_stated_error(
            values in prop::collection::vec((0u32..64, any::<u64>()).prop_map(|(s, v)| v >> s), 1..400),
            p in 0.0..=1.0f64,
            cut in 0usize..400,
        ) {
            let (mut whole, mut parts) = (Histogram::new(), [Histogram::new(), Histogram::new()]);
            for (i, &v) in values.iter().enumerate() {
                whole.push(v);
                parts[usize::from(i < cut)].push(v);
            }
            let [mut first, second] = parts;
            first.merge(&second);
            prop_assert_eq!(&first, &whole);
            let mut sorted = values;
            sorted.sort_unstable();
            let rank = ((p * sorted.len() as f64) * (1.0 - 1e-12)).ceil().max(1.0) as usize;
            let (exact, told) = (sorted[rank - 1], whole.quantile(p).unwrap());
            prop_assert!(told.abs_diff(exact) as f64 <= exact as f64 * Histogram::<7>::RELATIVE_ERROR, "{} {}", told, exact);
            prop_assert_eq!((whole.min(), whole.max()), (sorted.first().copied(), sorted.last().copied()));
            prop_assert_eq!(whole.sum(), sorted.iter().map(|&v| u128::from(v)).sum::<u128>());
            prop_assert_eq!(whole.buckets().map(|b| b.count).sum::<u64>(), whole.n());
            // What counts as beyond has its bucket's middle beyond: no value off by more than the error counts wrongly.
            let slack = (exact as f64 * 2.0 * Histogram::<7>::RELATIVE_ERROR) as u64;
            let surely = sorted.iter().filter(|&&v| v > exact.saturating_add(slack)).count() as u64;
            let perhaps = sorted.iter().filter(|&&v| v > exact.saturating_sub(slack)).count() as u64;
            prop_assert!((surely..=perhaps).contains(&whole.beyond(exact)));
        }
    }

    #[test]
    fn small_numbers_are_exact_and_nothing_has_no_quantile() {
        let mut histogram = Histogram::new();
        assert_eq!((histogram.quantile(0.5), histogram.mean(), histogram.max()), (None, None, None));
        assert_eq!((histogram.beyond(0), histogram.buckets().count()), (0, 0));
        let mut draws = Stream::new(1, "test").item(0);
        let mut values: Vec<u64> = (0..1000).map(|_| draws.bits() % 256).collect();
        values.iter().for_each(|&v| histogram.push(v));
        values.sort_unstable();
        for p in 1..=100 {
            let (exact, share) = (values[p * 10 - 1], p as f64 / 100.0);
            assert_eq!(histogram.quantile(share), Some(exact));
            assert_eq!(histogram.beyond(exact), values.iter().filter(|&&v| v > exact).count() as u64);
        }
        let mut far = Histogram::new();
        far.push(i64::MAX as u64);
        assert_eq!(far.quantile(0.5), Some(i64::MAX as u64));
        assert!(std::mem::size_of_val(&*far.counts) < 60 * 1024);
    }
}
