//! Starts per interval: how often each count came, beside Poisson counts of the same mean.
//!
//! Deliberately absent: a test of it; the index of dispersion at all windows is in the document's arrivals.

use crate::moments::Sums;
use crate::summary::{CountBin, CountCurve};
use headway_base::Nanos;
use statrs::function::gamma::ln_gamma;
use std::ops::Range;

/// Most bins; the first and the last hold what lies beyond.
const MOST_BINS: usize = 200;
/// Counts that are told apart; above, all are one.
const MOST_COUNTED: u64 = 1 << 16;
/// The interval unless asked for, in mean headways.
const MEANS: f64 = 2.0;
/// On stamps too coarse for headways an interval holds at least so many steps of their grid.
const FEWEST_STEPS: i64 = 10;

/// Counts starts in the order of time.
#[derive(Debug)]
pub(super) struct Counts {
    start: i64,
    interval: i64,
    /// Whole intervals within the stretch.
    whole: u64,
    current: u64,
    edge: i64,
    count: u64,
    /// Intervals by their count.
    intervals: Vec<u64>,
    sums: Sums,
}

impl Counts {
    /// `interval` is rounded to whole steps of the stamps' grid. None where neither it nor a rate is known.
    pub fn new(
        measured: &Range<Nanos>,
        grid: Nanos,
        rate: Option<f64>,
        interval: Option<Nanos>,
    ) -> Option<Counts> {
        let grid = grid.0.max(1);
        let rate = rate.filter(|&r| r > 0.0 && r.is_finite());
        let coarse = grid > 1 && rate.is_some_and(|r| r * grid as f64 / 1e9 > 0.5);
        let asked = interval.or_else(|| rate.map(|r| Nanos::from_secs_f64(MEANS / r)))?;
        let least = if coarse { grid.saturating_mul(FEWEST_STEPS) } else { grid };
        let interval = (asked.0.saturating_add(grid / 2) / grid * grid).max(least);
        let start = measured.start.0;
        Some(Counts {
            start,
            interval,
            whole: (measured.end.0.saturating_sub(start).max(0) / interval) as u64,
            current: 0,
            edge: start.saturating_add(interval),
            count: 0,
            intervals: Vec::new(),
            sums: Sums::default(),
        })
    }

    #[inline]
    pub fn push(&mut self, at: Nanos) {
        if at.0 >= self.edge {
            self.close_until(((at.0 - self.start) / self.interval) as u64);
        }
        self.count += 1;
    }

    fn close_until(&mut self, next: u64) {
        let last = next.min(self.whole);
        if self.current < last {
            self.add(self.count, 1);
            self.add(0, last - self.current - 1);
        }
        self.current = next;
        self.edge = self.start.saturating_add((next as i64 + 1).saturating_mul(self.interval));
        self.count = 0;
    }

    fn add(&mut self, count: u64, intervals: u64) {
        let i = count.min(MOST_COUNTED) as usize;
        if i >= self.intervals.len() {
            self.intervals.resize(i + 1, 0);
        }
        self.intervals[i] += intervals;
        self.sums.push(count, intervals);
    }

    /// The curve; none without a whole interval.
    pub fn finish(mut self) -> Option<CountCurve> {
        self.close_until(self.whole);
        let (n, mean) = (self.sums.n, self.sums.mean()?);
        Some(CountCurve {
            interval_s: self.interval as f64 / 1e9,
            n,
            mean,
            vmr: self.sums.variance().filter(|_| mean > 0.0).map_or(0.0, |v| v / mean),
            empty: self.intervals[0],
            bins: self.bins(n as f64, mean),
        })
    }

    fn bins(&self, n: f64, mean: f64) -> Vec<CountBin> {
        let expected = |k: usize| n * poisson(k as u64, mean);
        let first = (mean - MOST_BINS as f64 / 2.0).max(0.0) as usize;
        let observed = self.intervals.len();
        // Beyond the mean the expectation only falls.
        let told = (first..)
            .take(MOST_BINS)
            .take_while(|&k| k < observed || (k as f64) < mean || expected(k) >= 1.0);
        let mut bins: Vec<CountBin> = told
            .map(|k| CountBin {
                count: k as u64,
                observed: self.intervals.get(k).copied().unwrap_or(0),
                expected: expected(k),
            })
            .collect();
        // The rest goes to the ends.
        let end = first + bins.len();
        let below = (0..first).map(expected).sum::<f64>();
        if let Some(bin) = bins.first_mut() {
            bin.observed += self.intervals.iter().take(first).sum::<u64>();
            bin.expected += below;
        }
        let inner: f64 = bins.iter().map(|b| b.expected).sum();
        if let Some(bin) = bins.last_mut() {
            bin.observed += self.intervals.iter().skip(end).sum::<u64>();
            bin.expected += (n - inner).max(0.0);
        }
        bins
    }
}

/// Probability of a count `k` of mean `mean`.
fn poisson(k: u64, mean: f64) -> f64 {
    if mean <= 0.0 {
        return if k == 0 { 1.0 } else { 0.0 };
    }
    (k as f64 * mean.ln() - mean - ln_gamma(k as f64 + 1.0)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(starts: &[i64], interval: i64, seconds: i64) -> CountCurve {
        let ms = Nanos::from_millis;
        let mut counts =
            Counts::new(&(Nanos::ZERO..Nanos::from_secs(seconds)), ms(1), None, Some(ms(interval))).unwrap();
        starts.iter().for_each(|&at| counts.push(ms(at)));
        counts.finish().unwrap()
    }

    #[test]
    fn every_interval_and_every_expectation_is_in_one_bin() {
        let starts: Vec<i64> = (0..5_000).map(|i: i64| i * 2 - i * 7 % 2).collect();
        let curve = counts(&starts, 10, 10);
        assert_eq!((curve.n, curve.mean, curve.empty), (1_000, 5.0, 0));
        assert_eq!(curve.bins.iter().map(|b| b.observed).sum::<u64>(), 1_000);
        assert!((curve.bins.iter().map(|b| b.expected).sum::<f64>() - 1_000.0).abs() < 1e-6);
        // Poisson counts of mean 5: e^-5 of them are 0.
        assert!((curve.bins[0].expected - 6.737_947).abs() < 1e-6);
        let last = curve.bins[curve.bins.len() - 2];
        assert!(last.expected >= 1.0 && curve.bins.len() < 20, "{last:?}");
    }

    #[test]
    fn large_counts_are_told_around_their_mean_and_empty_stretches_are_counted() {
        let starts: Vec<i64> = (0..2_000).collect();
        let curve = counts(&starts, 1_000, 10);
        assert_eq!((curve.n, curve.mean, curve.empty), (10, 200.0, 8));
        assert_eq!((curve.bins[0].count, curve.bins[0].observed), (100, 8));
        let last = curve.bins.last().unwrap();
        assert_eq!((curve.bins.len(), last.count, last.observed), (200, 299, 2));
        assert!((curve.bins.iter().map(|b| b.expected).sum::<f64>() - 10.0).abs() < 1e-6);
    }

    #[test]
    fn the_interval_suits_the_rate_and_the_grid() {
        let interval = |grid: i64, rate: f64| {
            let measured = Nanos::ZERO..Nanos::from_secs(100);
            Counts::new(&measured, Nanos::from_millis(grid), Some(rate), None).unwrap().interval / 1_000_000
        };
        assert_eq!((interval(1, 31.7), interval(50, 31.7), interval(1_000, 31.7)), (63, 500, 10_000));
        assert!(Counts::new(&(Nanos::ZERO..Nanos(5)), Nanos(1), None, None).is_none());
    }
}
