//! One figure of each of several independent runs: its mean, its spread, and the difference of two models.
//!
//! Means of independent runs are independent, so Student's t applies (Law and Kelton 2000, section 9.4), with an allowance for their skew
//! (`intervals`); two models under common random numbers are compared run by run (there, sections 10.2 and 11.2). Absent: more than two
//! models at once, for which the intervals would have to be widened.

use crate::intervals::mean_interval;
use crate::summary::Interval;

/// The values of one figure, one of each run.
#[derive(Clone, PartialEq, Debug)]
pub struct Replications {
    sorted: Vec<f64>,
    mean: f64,
    /// Sum of squares about the mean.
    squares: f64,
}

impl Replications {
    /// Of these values, in any order, finite; none if there are none.
    pub fn of(mut values: Vec<f64>) -> Option<Replications> {
        if values.is_empty() {
            return None;
        }
        // Sorted first, so that the same values give the same bits in whatever order the runs ended.
        values.sort_unstable_by(f64::total_cmp);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let squares = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        Some(Replications { sorted: values, mean, squares })
    }

    /// How many, at least 1.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// Their mean.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// Standard deviation with R - 1; none of a single run.
    pub fn sd(&self) -> Option<f64> {
        let degrees = self.count() - 1;
        (degrees > 0).then(|| (self.squares / degrees as f64).sqrt())
    }

    /// 95 % interval of the mean, by Student's t with an allowance for skew; none of a single run.
    pub fn interval(&self) -> Option<Interval> {
        mean_interval(&self.sorted)
    }

    /// The smallest value that a share `p` of the runs does not exceed.
    pub fn quantile(&self, p: f64) -> f64 {
        // The slack undoes rounding in p x n: 0.07 x 100 must be 7.
        let rank = (p * self.count() as f64 * (1.0 - 1e-12)).ceil() as usize;
        self.sorted[rank.clamp(1, self.count()) - 1]
    }

    /// Share of the runs below `x`, those equal to it counted half.
    pub fn rank(&self, x: f64) -> f64 {
        let below = self.sorted.partition_point(|v| *v < x);
        let up_to = self.sorted.partition_point(|v| *v <= x);
        (below + up_to) as f64 / (2 * self.count()) as f64
    }
}

/// Two models compared run by run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Paired {
    /// Mean of first minus second.
    pub difference: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// Correlation of the two over the runs; none when one of them is always the same.
    pub correlation: Option<f64>,
    /// How many times wider the interval would be had the runs been independent: sqrt of (variance + variance) over the
    /// variance of the difference. None when the difference is always the same.
    pub sharpened: Option<f64>,
}

/// Compares the values of run 1 with those of run 1, of run 2 with those of run 2, and so on; none unless there are equally
/// many, and at least two.
pub fn paired(first: &[f64], second: &[f64]) -> Option<Paired> {
    if first.len() != second.len() {
        return None;
    }
    let [a, b] = [first, second].map(|values| Replications::of(values.to_vec()));
    let (a, b) = (a?, b?);
    let off = Replications::of(first.iter().zip(second).map(|(a, b)| a - b).collect())?;
    let interval = off.interval()?;
    let products: f64 = first.iter().zip(second).map(|(x, y)| (x - a.mean) * (y - b.mean)).sum();
    let both = a.squares * b.squares;
    Some(Paired {
        difference: off.mean,
        interval,
        correlation: (both > 0.0).then(|| products / both.sqrt()),
        sharpened: (off.squares > 0.0).then(|| ((a.squares + b.squares) / off.squares).sqrt()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1, 2, 3, 4, 10 have mean 4 and variance 12.5.
    #[test]
    fn five_values_by_hand() {
        let five = Replications::of(vec![10.0, 3.0, 1.0, 4.0, 2.0]).unwrap();
        assert_eq!((five.count(), five.mean(), five.sd()), (5, 4.0, Some(12.5f64.sqrt())));
        let half = 2.776_445 * (12.5f64 / 5.0).sqrt();
        let [low, high] = five.interval().unwrap();
        assert!((low - 4.0 + half).abs() < 1e-5 && (high - 4.0 - half).abs() < 1e-5);
        assert_eq!(
            [0.0, 0.2, 0.21, 0.5, 0.95, 1.0].map(|p| five.quantile(p)),
            [1.0, 1.0, 2.0, 3.0, 10.0, 10.0]
        );
        assert_eq!([0.0, 1.0, 2.5, 10.0, 11.0].map(|x| five.rank(x)), [0.0, 0.1, 0.4, 0.9, 1.0]);
        let one = Replications::of(vec![7.0]).unwrap();
        assert_eq!((one.sd(), one.interval(), one.quantile(0.5)), (None, None, 7.0));
        assert_eq!(Replications::of(Vec::new()), None);
    }

    #[test]
    fn quantiles_are_those_of_rounded_ranks() {
        let hundred = Replications::of((1..=100).rev().map(f64::from).collect()).unwrap();
        for percent in 1..=100 {
            assert_eq!(hundred.quantile(f64::from(percent) / 100.0), f64::from(percent));
        }
    }

    /// Differences 1, 2, 3: mean 2, sd 1; the correlation and the sharpening from sums by hand.
    #[test]
    fn common_numbers_sharpen_a_difference() {
        let (first, second) = ([11.0, 22.0, 33.0], [10.0, 20.0, 30.0]);
        let compared = paired(&first, &second).unwrap();
        let half = 4.302_653 / 3.0f64.sqrt();
        assert_eq!(compared.difference, 2.0);
        assert!((compared.interval[1] - 2.0 - half).abs() < 1e-5);
        assert!((compared.correlation.unwrap() - 1.0).abs() < 1e-12);
        // Variances 121 and 100, of the difference 1.
        assert!((compared.sharpened.unwrap() - 221.0f64.sqrt()).abs() < 1e-12);
        let equal = paired(&first, &first).unwrap();
        assert_eq!((equal.difference, equal.interval, equal.sharpened), (0.0, [0.0, 0.0], None));
        assert_eq!(paired(&first, &[5.0, 5.0, 5.0]).unwrap().correlation, None);
        assert_eq!(paired(&first, &second[..2]), None);
        assert_eq!(paired(&first[..1], &second[..1]), None);
    }
}
