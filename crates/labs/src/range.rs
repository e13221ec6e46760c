//! A number over replications: its mean, its spread, and what can be said of its mean.

use headway_stats::intervals::t975;
use serde::Serialize;

/// Fewer replications have no range of nine in ten: its ends would be their extremes, or all of it one number.
pub const FEWEST: u64 = 20;

/// A number over replications.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Range {
    /// Number of replications.
    pub n: u64,
    /// Mean.
    pub mean: f64,
    /// 5th percentile: smallest x with F(x) >= 0.05; none of fewer than [`FEWEST`].
    pub p05: Option<f64>,
    /// 95th percentile, likewise.
    pub p95: Option<f64>,
    /// Standard deviation (n - 1) of one replication; none of a single one.
    pub sd: Option<f64>,
    /// 95 % interval of the mean by Student's t; none of a single replication.
    pub ci: Option<[f64; 2]>,
}

impl Range {
    /// Of these values; none of none.
    pub fn of(mut values: Vec<f64>) -> Option<Range> {
        if values.is_empty() {
            return None;
        }
        values.sort_by(f64::total_cmp);
        let n = values.len();
        let percentile = |p: f64| {
            let place = ((p * n as f64).ceil() as usize).clamp(1, n) - 1;
            (n as u64 >= FEWEST).then(|| values[place])
        };
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        let sd = (n > 1).then(|| (squares / (n - 1) as f64).sqrt());
        let ci = sd.map(|sd| {
            let half = t975(n - 1) * sd / (n as f64).sqrt();
            [mean - half, mean + half]
        });
        Some(Range { n: n as u64, mean, p05: percentile(0.05), p95: percentile(0.95), sd, ci })
    }

    /// Of the number that `of` takes out of each replication.
    pub fn over<T>(all: &[T], of: impl Fn(&T) -> f64) -> Option<Range> {
        Range::of(all.iter().map(of).collect())
    }

    /// The two percentiles, where there are any.
    pub fn spread(&self) -> Option<[f64; 2]> {
        self.p05.zip(self.p95).map(|(low, high)| [low, high])
    }

    /// Whether the value lies between the two percentiles; none where there are none.
    pub fn holds(&self, value: f64) -> Option<bool> {
        self.holds_within(value, 0.0)
    }

    /// The same of a value that was rounded by that much.
    pub fn holds_within(&self, value: f64, rounding: f64) -> Option<bool> {
        self.spread().map(|[low, high]| (low - rounding..=high + rounding).contains(&value))
    }

    /// Whether the mean is known to be above that value: the whole of its interval is.
    pub fn above(&self, value: f64) -> bool {
        self.ci.is_some_and(|ci| ci[0] > value)
    }

    /// Whether the mean is known to be below that value.
    pub fn below(&self, value: f64) -> bool {
        self.ci.is_some_and(|ci| ci[1] < value)
    }

    /// Whether the mean is known to be above the other's: the intervals do not touch.
    pub fn exceeds(&self, other: &Range) -> bool {
        self.ci.zip(other.ci).is_some_and(|(mine, others)| mine[0] > others[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range() {
        let range = Range::of((1..=100).rev().map(f64::from).collect()).unwrap();
        assert_eq!((range.n, range.mean, range.p05, range.p95), (100, 50.5, Some(5.0), Some(95.0)));
        assert_eq!([5.0, 4.9].map(|x| range.holds(x)), [Some(true), Some(false)]);
        assert_eq!(range.holds_within(4.9, 0.1), Some(true));
        assert_eq!(Range::of(Vec::new()), None);
    }

    #[test]
    fn few_replications_have_no_percentiles() {
        let range = |n: u32| Range::of((1..=n).map(f64::from).collect()).unwrap();
        assert_eq!(range(20).spread(), Some([1.0, 19.0]));
        for n in [1, 2, 19] {
            assert_eq!((range(n).spread(), range(n).holds(1.0)), (None, None), "{n}");
            let json = serde_json::to_value(range(n)).unwrap();
            assert!(json["p05"].is_null() && json["p95"].is_null() && json["mean"].is_number(), "{json}");
            assert_eq!(
                json.as_object().unwrap().len(),
                serde_json::to_value(range(20)).unwrap().as_object().unwrap().len()
            );
        }
    }

    /// n = 4: sd of 1, 2, 3, 6 is sqrt(14/3), t at 3 degrees 3.1824.
    #[test]
    fn what_is_known_of_a_mean() {
        let range = Range::of(vec![1.0, 6.0, 2.0, 3.0]).unwrap();
        let half = 3.182_446 * (14.0_f64 / 3.0).sqrt() / 2.0;
        let [low, high] = range.ci.unwrap();
        assert!((low - 3.0 + half).abs() < 1e-5 && (high - 3.0 - half).abs() < 1e-5);
        assert!(range.above(-0.5) && !range.above(0.0) && range.below(6.5) && !range.below(6.0));
        let far = Range::of(vec![99.0, 100.0]).unwrap();
        assert!(far.exceeds(&range) && !range.exceeds(&far));
        let single = Range::of(vec![5.0]).unwrap();
        assert!(!single.above(0.0) && !single.below(9.0) && !far.exceeds(&single) && single.sd.is_none());
    }
}
