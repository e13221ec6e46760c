//! The mean after the warm-up and its interval by batch means: 20 segments, Student's t with an allowance for skew (see `intervals`).

use super::warmup::EQUAL;
use super::{Batches, Cut};
use crate::intervals::{FEWEST_SEGMENTS, SEGMENTS, ratio_interval};
use crate::summary::Interval;

/// The mean of one run after its warm-up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BatchMeans {
    /// Seconds.
    pub mean: f64,
    /// Its 95 % interval.
    pub interval: Interval,
    /// Observations that went in.
    pub observations: u64,
    /// Segments: 20, or fewer where they are whole periods.
    pub segments: usize,
    /// Autocorrelation of neighbouring segments' means: near 0 when the segments are long against the queue's memory.
    pub lag1: f64,
}

impl BatchMeans {
    /// Whether the segments' means look independent: the autocorrelation is not above the 95 % point of that of
    /// independent ones, -1/n + 1.645/sqrt(n) (Kendall 1954; Bartlett 1946). If they do not, the interval is too narrow;
    /// that they do is no proof.
    pub fn independent(&self) -> bool {
        let n = self.segments as f64;
        self.lag1 <= 1.645 / n.sqrt() - 1.0 / n
    }
}

/// Why there is no mean of the long run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Withheld {
    /// The run shows no steady state.
    NoSteadyState,
    /// What is left after the cut are so many batches, fewer than the 20 segments that the interval needs.
    TooFew {
        /// Full batches after the cut.
        batches: usize,
    },
}

/// Mean and 95 % interval of what is left after the cut.
pub fn batch_means(batches: &Batches, cut: &Cut) -> Result<BatchMeans, Withheld> {
    batch_means_of_periods(batches, cut, &[])
}

/// The same by segments of whole periods, given the batches at which these begin and end, in order; without any, by segments of
/// equally many batches.
pub fn batch_means_of_periods(
    batches: &Batches,
    cut: &Cut,
    periods: &[usize],
) -> Result<BatchMeans, Withheld> {
    let prefix = match cut {
        Cut::Found(prefix) => prefix,
        Cut::NotFound(_) => return Err(Withheld::NoSteadyState),
        Cut::TooFew => return Err(Withheld::TooFew { batches: batches.sums().len() }),
    };
    let from = batches.holding(prefix.observations);
    let kept = batches.sums().get(from..).unwrap_or_default();
    let m = kept.len();
    if m < SEGMENTS {
        return Err(Withheld::TooFew { batches: m });
    }
    // Segments of whole batches, one batch (or period) longer than the others where the number does not divide; what does not
    // fill one belongs to the last.
    let borders: Vec<usize> = periods.iter().filter_map(|at| at.checked_sub(from)).collect();
    let borders = if periods.is_empty() { (0..=m).collect() } else { borders };
    let whole = borders.len().saturating_sub(1);
    let count = whole.min(SEGMENTS);
    let mut segments: Vec<(f64, f64)> = (0..count)
        .map(|i| {
            let begins = if i == 0 { 0 } else { borders[i * whole / count] };
            let ends = if i + 1 == count { m } else { borders[(i + 1) * whole / count] };
            let part = &kept[begins..ends];
            (part.iter().sum(), (part.len() as u64 * batches.length()) as f64)
        })
        .collect();
    let (rest, last) = batches.rest();
    if let Some(segment) = segments.last_mut() {
        *segment = (segment.0 + rest, segment.1 + last as f64);
    }
    let interval = ratio_interval(&segments, FEWEST_SEGMENTS, None).ok_or(Withheld::TooFew { batches: m })?;
    let observations = m as u64 * batches.length() + last;
    let mean = segments.iter().map(|s| s.0).sum::<f64>() / observations as f64;
    let lag1 = lag1(&segments, mean);
    Ok(BatchMeans { mean, interval, observations, segments: count, lag1 })
}

/// Autocorrelation of lag 1 of the segments' means about the mean; 0 when they are all equal.
pub(super) fn lag1(segments: &[(f64, f64)], mean: f64) -> f64 {
    let off: Vec<f64> = segments.iter().map(|(sum, count)| sum / count - mean).collect();
    let squares: f64 = off.iter().map(|d| d * d).sum();
    let rounding = segments.len() as f64 * (EQUAL * mean) * (EQUAL * mean);
    if squares <= rounding { 0.0 } else { off.windows(2).map(|d| d[0] * d[1]).sum::<f64>() / squares }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steady::{Prefix, mser};
    use headway_base::random::Stream;
    use headway_base::special::normal;

    fn of(values: impl IntoIterator<Item = f64>) -> Batches {
        let mut batches = Batches::new();
        values.into_iter().for_each(|v| batches.push(v));
        batches
    }

    const NOTHING: Cut = Cut::Found(Prefix { batches: 0, observations: 0, share: 0.0 });

    /// Values 1 to 40 in pairs: segment means 1.5, 3.5, ... 39.5, whose standard deviation is 2 sqrt(35); t of 19 degrees
    /// is 2.0930 (tables).
    #[test]
    fn the_interval_is_students() {
        let means = batch_means(&of((1..=40).map(f64::from)), &NOTHING).unwrap();
        let half = 2.093_02 * 2.0 * 35.0f64.sqrt() / 20.0f64.sqrt();
        assert_eq!((means.mean, means.observations), (20.5, 40));
        assert!(
            (means.interval[1] - 20.5 - half).abs() < 1e-4 && (20.5 - means.interval[0] - half).abs() < 1e-4
        );
        assert!(means.lag1 > 0.8 && !means.independent(), "a trend is correlated: {}", means.lag1);
    }

    #[test]
    fn every_observation_after_the_cut_counts_once() {
        let batches = of((0..20_011).map(f64::from));
        let cut = Cut::Found(Prefix { batches: 1000, observations: 4000, share: 0.2 });
        let means = batch_means(&batches, &cut).unwrap();
        assert_eq!(means.observations, 16_011);
        assert!((means.mean - (4000.0 + 20_010.0) / 2.0).abs() < 1e-9);
    }

    #[test]
    fn independent_values_pass_the_check_and_too_few_are_refused() {
        let mut passed = 0;
        for seed in 1..=100 {
            let mut draws = Stream::new(seed, "test").item(0);
            let batches = of((0..2000).map(|_| normal(&mut draws)));
            passed += usize::from(batch_means(&batches, &NOTHING).unwrap().independent());
        }
        // 95 of 100 expected, standard error 2.2.
        assert!(passed >= 86, "{passed}");
        assert_eq!(batch_means(&of([1.0; 19]), &NOTHING), Err(Withheld::TooFew { batches: 19 }));
        let growing = of((0..5000).map(f64::from));
        assert_eq!(batch_means(&growing, &mser(&growing)), Err(Withheld::NoSteadyState));
        let constant = batch_means(&of([0.2; 5000]), &NOTHING).unwrap();
        assert!((constant.interval[1] - constant.interval[0]).abs() < 1e-12 && constant.independent());
    }
}
