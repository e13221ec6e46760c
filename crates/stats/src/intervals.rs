//! 95 % intervals from batch means: 20 equal segments of the measured phase, Student's t.
//!
//! Responses of a queue depend on each other over many requests; the segments are long against that, so their means
//! are nearly independent. Sources: batch means with fixed batches, Conway (1963) and Law and Kelton (2000), section
//! 9.5.3; the ratio form for batches of unequal size, Cochran (1977), section 6.3; a quantile by batch means of the
//! indicator inverted through the sample, Iglehart (1976); exact limits of a share, Clopper and Pearson (1934). Student's t
//! (1908): with v degrees of freedom, v / (v + t^2) has the beta distribution of v/2 and 1/2, whose inverse `statrs` finds by
//! algorithms AS 64 (Majumder and Bhattacharjee 1973) and AS 109 (Cran, Martin and Thomas 1977). Skewed differences: Hall (1992), "On the
//! removal of skewness by transformation", J. R. Statist. Soc. B 54.
//! Deliberately absent: intervals for independent observations, except as a floor under a share's.

use crate::summary::Interval;
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;
use std::sync::LazyLock;

/// Number of segments of the measured phase.
pub const SEGMENTS: usize = 20;

/// Fewest filled segments that carry an interval.
pub(crate) const FEWEST_SEGMENTS: usize = 5;

/// Those that segments need, computed once.
static T975: LazyLock<[f64; SEGMENTS]> = LazyLock::new(|| std::array::from_fn(inverse));

/// The 97.5 % point of Student's t with that many degrees of freedom; infinite with none.
pub fn t975(degrees: usize) -> f64 {
    T975.get(degrees).copied().unwrap_or_else(|| inverse(degrees))
}

fn inverse(degrees: usize) -> f64 {
    two_sided_t(degrees as f64, 0.95)
}

/// The point which Student's t with that many degrees of freedom (above 0, not necessarily whole) exceeds in absolute value with
/// probability 1 - `confidence`; infinite with none.
pub fn two_sided_t(degrees: f64, confidence: f64) -> f64 {
    // Refused with no degrees of freedom.
    StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + confidence / 2.0))
}

/// The probability that Student's t with that many degrees of freedom (above 0) does not exceed the point in absolute value.
pub fn two_sided_confidence(point: f64, degrees: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees).map_or(0.0, |t| 2.0 * t.cdf(point.abs()) - 1.0)
}

/// The confidence of each of so many intervals which hold together with that of `confidence`, however they depend on each other if
/// their estimators are jointly normal: Sidak (1967), "Rectangular confidence regions for the means of multivariate normal
/// distributions", J. Am. Stat. Assoc. 62.
pub fn each_of(intervals: usize, confidence: f64) -> f64 {
    confidence.powf(1.0 / intervals.max(1) as f64)
}

/// Half the width of the 95 % interval of the mean of these values, taken as independent; none for fewer than
/// [`FEWEST_SEGMENTS`].
pub(crate) fn half_width(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < FEWEST_SEGMENTS {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    Some(t975(n - 1) * (squares / (n * (n - 1)) as f64).sqrt())
}

/// Half the width of the 95 % interval of a ratio of sums, from (numerator, denominator) of each segment. Segments
/// whose denominator is 0 held nothing and are left out.
pub(crate) fn ratio_half_width(segments: &[(f64, f64)]) -> Option<f64> {
    ratio_half_width_over(segments, FEWEST_SEGMENTS)
}

/// The same, of so many segments (at least 2) or more.
pub(crate) fn ratio_half_width_over(segments: &[(f64, f64)], fewest: usize) -> Option<f64> {
    let (error, degrees) = ratio_error(segments, fewest)?;
    Some(t975(degrees) * error)
}

/// The standard error of that ratio, and its degrees of freedom.
pub(crate) fn ratio_error(segments: &[(f64, f64)], fewest: usize) -> Option<(f64, usize)> {
    let filled: Vec<_> = segments.iter().filter(|s| s.1 > 0.0).collect();
    let b = filled.len();
    if b < fewest {
        return None;
    }
    let (top, bottom) = filled.iter().fold((0.0, 0.0), |a, s| (a.0 + s.0, a.1 + s.1));
    let (ratio, size) = (top / bottom, bottom / b as f64);
    let squares: f64 = filled.iter().map(|s| (s.0 - ratio * s.1) * (s.0 - ratio * s.1)).sum();
    Some(((squares / (b * (b - 1)) as f64).sqrt() / size, b - 1))
}

/// The correlation of neighbouring segments from which on they are taken to hang together: that of 20 independent ones is 0 on average, with a
/// standard deviation of 0.22.
const LINKED: f64 = 0.1;

/// The largest that is allowed for: what 20 segments tell of a larger one is too little.
const MOST_LINKED: f64 = 0.8;

/// By what factor the standard error of a ratio is to be enlarged, from (numerator, denominator) of segments in the order of time: that of a mean
/// of values which follow each other as in an autoregression of order one, with the correlation of neighbours (Bartlett 1946; its bias, about
/// -1/n, is put right). Segments that are short against what they measure look alike: those of a queue at 0.95 which was seen for 20 relaxation
/// times had intervals of the mean that held in 88 %, and hold in 92 % with it. 1 of too few segments.
pub(crate) fn linked(segments: &[(f64, f64)]) -> f64 {
    let (top, bottom) = segments.iter().fold((0.0, 0.0), |a, s| (a.0 + s.0, a.1 + s.1));
    let off: Vec<f64> = segments.iter().map(|s| s.0 - top / bottom * s.1).collect();
    let squares: f64 = off.iter().map(|d| d * d).sum();
    if segments.len() < FEWEST_SKEWED || !(bottom > 0.0 && squares > 0.0) {
        return 1.0;
    }
    let neighbours: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
    match neighbours / squares + 1.0 / segments.len() as f64 {
        r if r < LINKED => 1.0,
        r => ((1.0 + r.min(MOST_LINKED)) / (1.0 - r.min(MOST_LINKED))).sqrt(),
    }
}

/// Fewest values whose skewness is allowed for in a mean: that of fewer says little.
const FEWEST_SKEWED: usize = 10;

/// By what factor skewness widens either side of the interval of a mean at most: the skewness of twenty values is itself uncertain, and without a
/// limit such intervals were twice as wide at times without holding more often.
const MOST_SKEWED: f64 = 2.0;

/// The interval of a value whose estimator has an error that is the mean of these values about their mean, `half` being half its width by
/// Student's t: widened to that of Hall's transformation (1992), a monotone cubic of Student's t which takes out the skewness, by a factor of
/// `most` at most. Where few large values make most of the spread, as rare hold-ups and long services do, the symmetric interval lies too low: it
/// held the truth in 80 to 90 % of runs, and nearly all that missed lay below it.
fn for_skew(value: f64, half: f64, off: &[f64], most: f64) -> Interval {
    let n = off.len() as f64;
    let mean = off.iter().sum::<f64>() / n;
    let power = |p: i32| off.iter().map(|d| (d - mean).powi(p)).sum::<f64>() / n;
    let sd = (power(2) * n / (n - 1.0)).sqrt();
    if sd == 0.0 {
        return [value - half, value + half];
    }
    let skewness = power(3) / sd.powi(3) * n * n / ((n - 1.0) * (n - 2.0));
    // The inverse of t + g t^2/3 + g^2 t^3/27 + g/(6 n), of a statistic without the factor sqrt(n).
    let inverse = |t: f64| match skewness {
        g if g.abs() < 1e-6 => t,
        g => 3.0 / g * ((1.0 + g * (t - g / (6.0 * n))).cbrt() - 1.0),
    };
    let t = half / sd;
    let [low, high] = [t, -t].map(|t| (sd * inverse(t)).clamp(-most * half, most * half));
    [(value - low).min(value - half), (value - high).max(value + half)]
}

/// The 95 % interval of a value that the mean of these differences estimates, taken as independent, with the allowance for skew; none for
/// fewer than [`FEWEST_SEGMENTS`].
pub(crate) fn difference_interval(value: f64, differences: &[f64]) -> Option<Interval> {
    Some(for_skew(value, half_width(differences)?, differences, f64::INFINITY))
}

/// The 95 % interval of the mean of these values, taken as independent, with the allowance for skew; none of fewer than two.
pub(crate) fn mean_interval(values: &[f64]) -> Option<Interval> {
    let pairs: Vec<(f64, f64)> = values.iter().map(|&value| (value, 1.0)).collect();
    ratio_interval(&pairs, 2, None)
}

/// The interval of a ratio of sums, from (numerator, denominator) of each segment, with the allowance for skew: of so many standard errors to
/// either side (95 % where none is given). None of fewer filled segments than `fewest` (at least 2).
pub(crate) fn ratio_interval(
    segments: &[(f64, f64)],
    fewest: usize,
    errors: Option<f64>,
) -> Option<Interval> {
    let (error, degrees) = ratio_error(segments, fewest)?;
    let filled = || segments.iter().filter(|s| s.1 > 0.0);
    let (top, bottom) = filled().fold((0.0, 0.0), |a, s| (a.0 + s.0, a.1 + s.1));
    let (ratio, size) = (top / bottom, bottom / (degrees + 1) as f64);
    let off: Vec<f64> = filled().map(|s| (s.0 - ratio * s.1) / size).collect();
    let half = error * errors.unwrap_or_else(|| t975(degrees));
    if off.len() < FEWEST_SKEWED || !half.is_finite() {
        return Some([ratio - half, ratio + half]);
    }
    Some(for_skew(ratio, half, &off, MOST_SKEWED))
}

/// What each run adds to the ratio of the sums of these values, each weighted by its share of the whole: linear in the run (delta method), so that
/// the mean of what they add is the ratio and their spread is that of it. Weights are not negative; the values themselves where all are zero.
pub fn contributions(values: &[f64], weights: &[f64]) -> Vec<f64> {
    let all: f64 = weights.iter().sum();
    if all <= 0.0 {
        return values.to_vec();
    }
    let pairs = || values.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
    let ratio = pairs().map(|(value, weight)| value * weight).sum::<f64>() / all;
    let size = all / weights.len() as f64;
    let adds = |(&value, &weight): (&f64, &f64)| match weight > 0.0 {
        true => ratio + (value - ratio) * weight / size,
        false => ratio,
    };
    values.iter().zip(weights).map(adds).collect()
}

fn logit(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

/// The interval of a quantile from those of shares: of cells in order, of each of which `share` tells what share of all lies
/// up to its end and half the width of its 95 % interval, the first whose share is not certainly below `p` and the first whose
/// share is certainly above. By bisection, shares being monotone, and on the scale of the logit: in the tail a share's error is skewed, and
/// where few bursts were seen both the share beyond and its spread come out too small together. A share beyond that lies within
/// `doubtful` is not certain either way, whatever its own interval says.
pub(crate) fn astride<T>(
    p: f64,
    cells: &[T],
    doubtful: Option<Interval>,
    share: impl Fn(&T) -> Option<(f64, f64)>,
) -> [usize; 2] {
    let [least, most] = doubtful.unwrap_or([1.0 - p; 2]);
    let certainly = |above: bool| {
        cells.partition_point(|cell| {
            let (share, half) = share(cell).unwrap_or((0.0, 1.0));
            let odds = share * (1.0 - share);
            let (distance, half) =
                if odds > 0.0 { (logit(share) - logit(p), half / odds) } else { (share - p, 0.0) };
            let beyond = 1.0 - share;
            if above { distance < half || beyond > least } else { distance < -half && beyond > most }
        })
    };
    [certainly(false), certainly(true)]
}

/// Exact 95 % limits of a share of which `hits` in `n` independent trials were seen.
pub fn clopper_pearson(hits: u64, n: u64) -> Interval {
    clopper_pearson_at(hits, n, 0.95)
}

/// The same limits of another confidence.
pub fn clopper_pearson_at(hits: u64, n: u64, confidence: f64) -> Interval {
    if n == 0 {
        return [0.0, 1.0];
    }
    let tail = (1.0 - confidence) / 2.0;
    let (x, n_f) = (hits as f64, n as f64);
    // P(X >= hits) grows with the share and P(X <= hits) falls: both limits by bisection.
    let low = if hits == 0 { 0.0 } else { solve(|p| beta_reg(x, n_f - x + 1.0, p) >= tail) };
    let high = if hits == n { 1.0 } else { solve(|p| beta_reg(x + 1.0, n_f - x, p) >= 1.0 - tail) };
    [low, high]
}

fn solve(reached: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if reached(middle) { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

/// A share over independent runs of (hits, trials): its value and 95 % interval; none without trials or with fewer than two runs. What is rare
/// comes in crowds, whose number in all runs is like that of a Poisson law: its interval is symmetric on the scale of the square root. Never narrower
/// than by Student's t with its allowance for skew, nor than the exact limits of independent trials: runs without a hit do not prove that there
/// are none.
pub fn share_over_runs(runs: &[(u64, u64)]) -> Option<(f64, Interval)> {
    let (hits, n) = runs.iter().fold((0, 0), |a, run| (a.0 + run.0, a.1 + run.1));
    if n == 0 {
        return None;
    }
    let value = hits as f64 / n as f64;
    let pairs: Vec<_> = runs.iter().map(|run| (run.0 as f64, run.1 as f64)).collect();
    let [low, high] = ratio_interval(&pairs, 2, None)?;
    let exact = clopper_pearson(hits, n);
    let root =
        |share: f64, half: f64| if share > 0.0 { share * (1.0 + half / share / 2.0).powi(2) } else { 0.0 };
    let half = ratio_half_width_over(&pairs, 2)?;
    // Of a share near 1 it is the rest that is rare.
    let most = if value <= 0.5 { root(value, half) } else { high };
    let least = if value > 0.5 { 1.0 - root(1.0 - value, half) } else { low };
    Some((value, [low.min(least).min(exact[0]).max(0.0), high.max(most).max(exact[1]).min(1.0)]))
}

/// A share over segments of (hits, trials): its value and 95 % interval. The interval is that of the segments, and
/// never narrower than the exact limits for independent trials: 20 segments without a single hit have no spread, yet
/// 50 trials without a hit do not prove a share under 1 %. None without trials or with too few segments.
pub fn share(segments: &[(u64, u64)]) -> Option<(f64, Interval)> {
    let (hits, n) = segments.iter().fold((0, 0), |a, s| (a.0 + s.0, a.1 + s.1));
    if n == 0 {
        return None;
    }
    let value = hits as f64 / n as f64;
    let as_floats: Vec<_> = segments.iter().map(|s| (s.0 as f64, s.1 as f64)).collect();
    let half = ratio_half_width(&as_floats)?;
    let exact = clopper_pearson(hits, n);
    Some((value, [(value - half).min(exact[0]).max(0.0), (value + half).max(exact[1]).min(1.0)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of differences that are not skewed it is the interval of Student's t; of skewed ones it reaches farther to the side of the few
    /// large ones, and nowhere less far.
    #[test]
    fn an_interval_of_differences_reaches_farther_where_they_are_skewed() {
        let even: Vec<f64> = (0..20).map(|i| f64::from(i % 2) - 0.5).collect();
        let half = half_width(&even).unwrap();
        let [low, high] = difference_interval(0.3, &even).unwrap();
        assert!((low - 0.3 + half).abs() < 1e-12 && (high - 0.3 - half).abs() < 1e-12);
        let mut rare = [0.0; 20];
        (rare[3], rare[11]) = (2.0, 1.0);
        let half = half_width(&rare).unwrap();
        let [low, high] = difference_interval(0.15, &rare).unwrap();
        assert!((low - 0.15 + half).abs() < 1e-12, "{low}");
        assert!(high > 0.15 + 1.2 * half && high < 0.15 + 5.0 * half, "{high} {half}");
        let mirrored = difference_interval(-0.15, &rare.map(|d| -d)).unwrap();
        assert!((mirrored[0] + high).abs() < 1e-12 && (mirrored[1] + low).abs() < 1e-12);
        assert_eq!(difference_interval(0.0, &[0.0; 20]), Some([0.0, 0.0]));
        assert_eq!(difference_interval(0.0, &[0.0; 4]), None);
    }

    /// Twenty means of which one is far above the others: the interval reaches farther up, by a factor of two at most, and down as far as before. Of few
    /// values it is that of Student's t.
    #[test]
    fn the_interval_of_a_mean_reaches_farther_where_values_are_skewed() {
        let mut values: Vec<f64> = (0..20).map(|i| 1.0 + f64::from(i % 3) / 10.0).collect();
        let t = |values: &[f64]| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            (
                mean,
                t975(values.len() - 1)
                    * ratio_error(&values.iter().map(|v| (*v, 1.0)).collect::<Vec<_>>(), 2).unwrap().0,
            )
        };
        let (mean, half) = t(&values);
        let [low, high] = mean_interval(&values).unwrap();
        assert!(
            (low - mean + half).abs() < 0.02 * half && (high - mean - half).abs() < 0.02 * half,
            "{low} {high}"
        );
        values[7] = 3.0;
        let (mean, half) = t(&values);
        let [low, high] = mean_interval(&values).unwrap();
        assert!((low - mean + half).abs() < 1e-12, "{low}");
        assert!((high - mean) > 1.2 * half && high - mean <= 2.0 * half + 1e-12, "{} of {half}", high - mean);
        let (mean, half) = t(&values[5..10]);
        let [low, high] = mean_interval(&values[5..10]).unwrap();
        assert!((low - mean + half).abs() < 1e-12 && (high - mean - half).abs() < 1e-12);
        assert_eq!(mean_interval(&values[..1]), None);
    }

    /// What runs add has the ratio as its mean, and the spread that the delta method gives it.
    #[test]
    fn contributions_are_those_to_the_ratio_of_sums() {
        let (values, weights) = ([0.2, 0.5, 0.8], [10.0, 20.0, 0.0]);
        let adds = contributions(&values, &weights);
        assert!((adds.iter().sum::<f64>() / 3.0 - 0.4).abs() < 1e-12, "{adds:?}");
        assert!((adds[0] - 0.2).abs() < 1e-12 && (adds[1] - 0.6).abs() < 1e-12 && adds[2] == 0.4, "{adds:?}");
        let (values, weights) = ([0.2, 0.5, 0.8, 0.1], [10.0, 20.0, 5.0, 7.0]);
        let pairs: Vec<(f64, f64)> = values.iter().zip(&weights).map(|(v, w)| (v * w, *w)).collect();
        let error = ratio_error(&pairs, 2).unwrap().0;
        let adds: Vec<(f64, f64)> = contributions(&values, &weights).into_iter().map(|v| (v, 1.0)).collect();
        assert!((ratio_error(&adds, 2).unwrap().0 / error - 1.0).abs() < 1e-12);
        assert_eq!(contributions(&[0.3, 0.7], &[0.0, 0.0]), [0.3, 0.7]);
    }

    #[test]
    fn a_rare_share_over_runs_ends_above_nothing_and_below_one() {
        let mut runs = [(0, 1_000); 20];
        let (none, [low, high]) = share_over_runs(&runs).unwrap();
        assert!(none == 0.0 && low == 0.0 && (high - clopper_pearson(0, 20_000)[1]).abs() < 1e-12);
        // One crowd of twenty: independent requests alone would end at 0.0015.
        runs[3].0 = 20;
        let (one, [low, high]) = share_over_runs(&runs).unwrap();
        assert!(one == 0.001 && low == 0.0 && high > 0.004, "{low} {high}");
        let (most, [low, high]) = share_over_runs(&[(1_000, 1_000), (998, 1_000), (1_000, 1_000)]).unwrap();
        assert!((most - 0.999_333).abs() < 1e-6 && low > 0.9 && low < 0.998 && high <= 1.0, "{low} {high}");
        assert_eq!(share_over_runs(&[(1, 10)]), None);
        assert_eq!(share_over_runs(&[(0, 0), (0, 0)]), None);
    }

    /// Tables of Student's t, to three decimals.
    #[test]
    fn t_is_that_of_the_tables() {
        let table = [
            (1, 12.706),
            (2, 4.303),
            (5, 2.571),
            (19, 2.093),
            (20, 2.086),
            (30, 2.042),
            (60, 2.000),
            (120, 1.980),
            (1_000, 1.962),
        ];
        for (degrees, published) in table {
            assert!((t975(degrees) - published).abs() < 5e-4, "{degrees}: {}", t975(degrees));
        }
        assert_eq!(t975(0), f64::INFINITY);
    }

    #[test]
    fn the_confidence_of_a_point_is_that_whose_point_it_is() {
        for (degrees, confidence) in [(4.0, 0.95), (19.0, 0.9936), (38.5, 0.99)] {
            let back = two_sided_confidence(two_sided_t(degrees, confidence), degrees);
            assert!((back - confidence).abs() < 1e-9, "{degrees}, {confidence}: {back}");
        }
    }

    /// Fisher and Cornish (1960): the normal point and powers of 1/v. What follows the last here is 1.6/v^4.
    #[test]
    fn t_nears_the_normal_point_as_its_expansion_does() {
        let z = 1.959_963_984_540_054_f64;
        let power = |n: i32| z.powi(n);
        for degrees in 20..3_000 {
            let v = degrees as f64;
            let expanded = z
                + (power(3) + z) / (4.0 * v)
                + (5.0 * power(5) + 16.0 * power(3) + 3.0 * z) / (96.0 * v.powi(2))
                + (3.0 * power(7) + 19.0 * power(5) + 17.0 * power(3) - 15.0 * z) / (384.0 * v.powi(3));
            let off = (t975(degrees) - expanded).abs();
            assert!(off < 2.0 / v.powi(4) + 1e-9, "{degrees}: {} is not {expanded}", t975(degrees));
        }
    }

    #[test]
    fn no_hit_in_a_few_trials_proves_little() {
        let (value, interval) = share(&[(0, 3); 17]).unwrap();
        assert_eq!(value, 0.0);
        assert!((interval[1] - (1.0 - 0.025f64.powf(1.0 / 51.0))).abs() < 1e-12, "{interval:?}");
        assert!(share(&[(0, 1000); 20]).unwrap().1[1] < 0.001);
        assert!(share(&[(0, 1000); 4]).is_none());
        assert!(share(&[(0, 0); 20]).is_none());
    }

    #[test]
    fn hits_in_one_segment_widen_the_interval_beyond_independence() {
        let mut segments = [(0, 1000); 20];
        segments[7].0 = 400;
        let (value, interval) = share(&segments).unwrap();
        let exact = clopper_pearson(400, 20_000);
        assert_eq!(value, 0.02);
        assert!(interval[0] == 0.0 && interval[1] > 0.06, "{interval:?}");
        assert!(exact[0] > 0.018 && exact[1] < 0.0221, "{exact:?}");
    }
}
