//! Does something trend through the measured phase, and where would it have been steady?
//!
//! The trend is the least-squares slope over the means of the segments with Student's t (Draper and Smith 1998, section
//! 1.4), told as the change from the first to the last segment. Where to cut is MSER (White 1997, "An effective truncation
//! heuristic for bias reduction in simulation output"): the beginning whose removal gives the remaining mean the least
//! standard error, if it lies in the first half.

use crate::intervals::{FEWEST_SEGMENTS, t975};
use crate::summary::Interval;

/// A change over the measured phase.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Trend {
    pub mean: f64,
    /// Change from the first to the last segment, as a share of the mean.
    pub change: f64,
    /// Its 95 % interval.
    pub interval: Interval,
}

impl Trend {
    /// The trend of these means of segments, by their numbers; none for fewer than five, or if their mean is 0.
    pub fn of(points: &[(f64, f64)]) -> Option<Trend> {
        let b = points.len();
        if b < FEWEST_SEGMENTS {
            return None;
        }
        let n = b as f64;
        let (mx, my) = points.iter().fold((0.0, 0.0), |a, p| (a.0 + p.0 / n, a.1 + p.1 / n));
        let sxx: f64 = points.iter().map(|p| (p.0 - mx).powi(2)).sum();
        let sxy: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
        if my <= 0.0 || sxx <= 0.0 {
            return None;
        }
        let slope = sxy / sxx;
        let rest: f64 = points.iter().map(|p| (p.1 - my - slope * (p.0 - mx)).powi(2)).sum();
        let half = t975(b - 2) * (rest / (n - 2.0) / sxx).sqrt();
        let over = (points[b - 1].0 - points[0].0) / my;
        Some(Trend {
            mean: my,
            change: slope * over,
            interval: [(slope - half) * over, (slope + half) * over],
        })
    }

    /// Whether it is shown to rise by more than this share of the mean.
    pub fn rises(&self, least: f64) -> bool {
        self.interval[0] > least
    }

    /// Whether it is shown to change, either way, by more than this share of the mean.
    pub fn moves(&self, least: f64) -> bool {
        self.interval[0] > least || self.interval[1] < -least
    }
}

/// How many of the first values to leave out; none if it would be more than half of them, or if there are fewer than ten.
pub(crate) fn mser(values: &[f64]) -> Option<usize> {
    let n = values.len();
    if n < 10 {
        return None;
    }
    let (mut sum, mut squares) = (0.0, 0.0);
    // Around a value of the end, so that little cancels.
    let shift = values[n - 1];
    let mut best = (f64::INFINITY, 0);
    for (d, value) in values.iter().enumerate().rev() {
        let (x, kept) = (value - shift, (n - d) as f64);
        sum += x;
        squares += x * x;
        // The last few agree by chance.
        if kept >= 5.0 {
            let statistic = (squares - sum * sum / kept).max(0.0) / (kept * kept);
            if statistic <= best.0 {
                best = (statistic, d);
            }
        }
    }
    (best.1 <= n / 2).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;
    use headway_base::special::exponential;

    /// Means of 100 exponential values, growing by `rise` of their mean over the twenty.
    fn segments(seed: u64, rise: f64) -> Vec<(f64, f64)> {
        let mut draws = Stream::new(seed, "test").item(0);
        let mut mean = || (0..100).map(|_| exponential(&mut draws)).sum::<f64>() / 100.0;
        (0..20).map(|i| (f64::from(i), mean() * (1.0 + rise * (f64::from(i) / 19.0 - 0.5)))).collect()
    }

    #[test]
    fn the_interval_of_a_trend_covers_it() {
        for rise in [0.0, 0.5] {
            let covers = |seed: &u64| {
                let [low, high] = Trend::of(&segments(*seed, rise)).unwrap().interval;
                (low..=high).contains(&rise)
            };
            let covered = (0..1_000).filter(covers).count();
            // 950 and four standard errors of 6.9 either way.
            assert!((922..=978).contains(&covered), "{rise}: {covered}");
        }
        assert_eq!(Trend::of(&segments(1, 0.0)[..4]), None);
        assert_eq!(Trend::of(&[(0.0, 0.0); 20]), None);
    }

    #[test]
    fn the_cut_is_where_the_cold_start_ends() {
        let mut draws = Stream::new(3, "test").item(0);
        let mut values = |cold: f64, length: f64| -> Vec<f64> {
            let noise = |draws: &mut headway_base::random::Draws| 0.9 + 0.2 * draws.open01();
            (0..120).map(|i| noise(&mut draws) * (1.0 + cold * (-f64::from(i) / length).exp())).collect()
        };
        let cut = mser(&values(5.0, 6.0)).unwrap();
        // At 18 seconds a quarter is left, at 36 a hundredth.
        assert!((15..=40).contains(&cut), "{cut}");
        assert!(mser(&values(0.0, 1.0)).unwrap() < 40);
        // What grows to the end is nowhere steady.
        let growing: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(mser(&growing), None);
        assert_eq!(mser(&[1.0; 9]), None);
        assert_eq!(mser(&[1.0; 20]), Some(0));
    }
}
