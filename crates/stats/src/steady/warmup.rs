//! Where the warm-up ends: the marginal standard error rule.
//!
//! MSER: leave out the first d batches, with d such that the squared standard error of the mean of the others, taken as
//! independent, is least: sum of (x - mean)^2 / k^2 over the k that remain (White 1997; MSER-5, with batches of five
//! observations, White, Cobb and Spratt 2000). Here the batches are those that collapse, and hold five observations at
//! least. A least value in the second half of the run means that no steady state was found (Hoad, Robinson and Davies
//! 2010).
//!
//! The rule looks at what it cuts: a bad spell in the middle of a run makes everything up to its end the best cut, although the
//! run began as it went on. So a cut stands only where the beginning is shown to differ: its first quarter lies outside the
//! 99 % prediction interval of blocks of that length in what is kept. Else nothing is left out. A best cut in the second half
//! means no steady state only where the twentieths of the run hang together beyond chance; else it is such a spell too.
//! Several runs are cut at one point, found in their average (as Welch 1983 averages before he looks). docs/trust.md has
//! what this does to bias and coverage.

use super::Batches;
use super::means::lag1;
use crate::intervals::SEGMENTS;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Observations in a batch at least, as in MSER-5.
const FEWEST_OBSERVATIONS: u64 = 5;
/// Fewest batches worth looking at.
const FEWEST_BATCHES: usize = 20;
/// The last tenth is no place to begin: a few batches that happen to be alike have a small standard error.
const ALWAYS_KEPT: usize = 10;
/// A whole period is a batch of its own; fewer are taken as they are, for nothing is learned of them.
const FEWEST_PERIODS: usize = 5;
/// Part of a cut that must differ from what is kept.
const FIRST: usize = 4;
/// Upper end of the interval outside of which it must lie.
const SURE: f64 = 0.995;
/// The 99.5 % point of the normal distribution.
const Z: f64 = 2.576;
/// A relative standard deviation that is only the rounding of sums.
pub(super) const EQUAL: f64 = 1e-9;

/// The beginning of a run, in whole batches.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Prefix {
    /// Batches as the run holds them; of several runs, as that one does whose batches are longest.
    pub batches: usize,
    /// Observations.
    pub observations: u64,
    /// Share of the run's observations; of several runs, of the shortest one's.
    pub share: f64,
}

/// What to leave out of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cut {
    /// This beginning, which may be empty.
    Found(Prefix),
    /// No steady state was found: the best cut lies in the second half of the run.
    NotFound(Prefix),
    /// There are too few observations to tell: fewer than 100.
    TooFew,
}

/// The truncation point of White's MSER for one run.
pub fn mser(batches: &Batches) -> Cut {
    mser_of_runs(std::slice::from_ref(batches))
}

/// One truncation point for several runs of the same model, found in their average, observation by observation; runs
/// longer than the shortest are looked at as far as that.
pub fn mser_of_runs(runs: &[Batches]) -> Cut {
    let longest_batch = runs.iter().map(Batches::length).max().unwrap_or(1);
    let length = longest_batch * FEWEST_OBSERVATIONS.div_ceil(longest_batch);
    let m = runs.iter().map(|run| run.sums().len() / (length / run.length()) as usize).min().unwrap_or(0);
    if m < FEWEST_BATCHES {
        return Cut::TooFew;
    }
    let mut sums = vec![0.0; m];
    for run in runs {
        let groups = run.sums().chunks_exact((length / run.length()) as usize);
        sums.iter_mut().zip(groups).for_each(|(sum, group)| *sum += group.iter().sum::<f64>());
    }
    let (cut, settles) = settled(&sums);
    let observations = cut as u64 * length;
    let shortest = runs.iter().map(Batches::n).min().unwrap_or(0);
    let batches = (observations / longest_batch) as usize;
    let prefix = Prefix { batches, observations, share: observations as f64 / shortest as f64 };
    if settles { Cut::Found(prefix) } else { Cut::NotFound(prefix) }
}

/// The same of runs whose model repeats itself: each with the batches at which its whole periods begin and end, in order. A cut
/// lies between two periods, and nothing before the first of them is kept; the number of observations is the average of the
/// runs'.
pub fn mser_of_periods(runs: &[(&Batches, &[usize])]) -> Cut {
    let shortest = runs.iter().map(|(run, _)| run.n()).min().unwrap_or(0);
    let borders = runs.iter().map(|(_, borders)| borders.len()).min().unwrap_or(0);
    if shortest < FEWEST_OBSERVATIONS * FEWEST_BATCHES as u64 || borders == 0 {
        return Cut::TooFew;
    }
    let period = |i: usize| {
        let of = |(run, borders): &(&Batches, &[usize])| {
            let part = run.sums().get(borders[i]..borders[i + 1]).unwrap_or_default();
            (part.iter().sum::<f64>(), part.len() as u64 * run.length())
        };
        let (sum, n) = runs.iter().map(of).fold((0.0, 0), |(sum, n), (s, m)| (sum + s, n + m));
        sum / n.max(1) as f64
    };
    let means: Vec<f64> = (0..borders - 1).map(period).collect();
    let (cut, settles) = if means.len() < FEWEST_PERIODS { (0, true) } else { settled(&means) };
    let before = |(run, borders): &(&Batches, &[usize])| borders[cut] as u64 * run.length();
    let observations = runs.iter().map(before).sum::<u64>() / runs.len() as u64;
    let longest_batch = runs.iter().map(|(run, _)| run.length()).max().unwrap_or(1);
    let batches = (observations / longest_batch) as usize;
    let prefix = Prefix { batches, observations, share: observations as f64 / shortest as f64 };
    if settles { Cut::Found(prefix) } else { Cut::NotFound(prefix) }
}

/// How many of these to leave out, and whether the rest is steady.
fn settled(values: &[f64]) -> (usize, bool) {
    let mut cut = least_error(values, values.len().div_ceil(ALWAYS_KEPT));
    if 2 * cut > values.len() {
        if drifts(values) {
            return (cut, false);
        }
        cut = least_error(values, values.len().div_ceil(2));
    }
    (if begins_otherwise(values, cut) { cut } else { 0 }, true)
}

/// Whether the first quarter of the cut lies outside the prediction interval of blocks of that length in what is kept (Student's
/// t).
fn begins_otherwise(values: &[f64], cut: usize) -> bool {
    let length = cut.div_ceil(FIRST);
    let (first, kept) = (&values[..length], &values[cut..]);
    let blocks = kept.len().checked_div(length).unwrap_or(0);
    if blocks < 2 {
        return false;
    }
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    // Blocks of whole values, as long as they go: their variance is that of longer ones.
    let long = kept.len() / blocks;
    let means: Vec<f64> = kept.chunks_exact(long).take(blocks).map(mean).collect();
    let (middle, n) = (mean(&means), blocks as f64);
    let squares: f64 = means.iter().map(|m| (m - middle) * (m - middle)).sum();
    let variance = squares / (n - 1.0) * long as f64 / length as f64;
    let off = (mean(first) - middle).abs();
    off > EQUAL * middle.abs() && off > sure(blocks - 1) * (variance * (1.0 + 1.0 / n)).sqrt()
}

/// The upper end of Student's t with that many degrees of freedom, at least one.
fn sure(degrees: usize) -> f64 {
    StudentsT::new(0.0, 1.0, degrees as f64).map_or(f64::INFINITY, |t| t.inverse_cdf(SURE))
}

/// Whether neighbouring twentieths have a correlation that independent ones exceed once in 200 times.
fn drifts(values: &[f64]) -> bool {
    let n = values.len().min(SEGMENTS);
    let part = |i: usize| {
        let part = &values[i * values.len() / n..(i + 1) * values.len() / n];
        (part.iter().sum(), part.len() as f64)
    };
    let parts: Vec<(f64, f64)> = (0..n).map(part).collect();
    lag1(&parts, values.iter().sum::<f64>() / values.len() as f64) > most_correlated(n)
}

/// Correlation of neighbours among `n` values that independent ones exceed once in 200 times: the mean of what is seen of them
/// is -1/n, its standard error 1/sqrt(n) (Kendall 1954; Bartlett 1946). 0.53 of 20.
pub fn most_correlated(n: usize) -> f64 {
    let n = n as f64;
    Z / n.sqrt() - 1.0 / n
}

/// How many to leave out; the first such number where several are as good. From the end, one more each time. Sums are as
/// good as means, for all are of equally many.
fn least_error(sums: &[f64], kept_at_least: usize) -> usize {
    let m = sums.len();
    let (mut mean, mut squares, mut least, mut cut) = (0.0, 0.0, f64::INFINITY, 0);
    for (i, x) in sums.iter().rev().enumerate() {
        let kept = (i + 1) as f64;
        let delta = x - mean;
        mean += delta / kept;
        squares += delta * (x - mean);
        let alike = squares <= kept * (EQUAL * mean) * (EQUAL * mean);
        let error = if alike { 0.0 } else { squares / (kept * kept) };
        if i + 1 >= kept_at_least && error <= least {
            (least, cut) = (error, m - 1 - i);
        }
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;
    use headway_base::special::normal;

    fn noise(n: u64, seed: u64, level: impl Fn(u64) -> f64) -> Batches {
        let mut draws = Stream::new(seed, "test").item(0);
        let mut batches = Batches::new();
        (0..n).for_each(|k| batches.push(level(k) + normal(&mut draws)));
        batches
    }

    /// A level of 3 standard deviations for the first tenth of 1,000, 10,000, and a million observations: cut at its end, give
    /// or take a few batches.
    #[test]
    fn a_step_is_cut_where_it_ends() {
        for n in [1000, 10_000, 1_000_000u64] {
            let batches = noise(n, n, |k| if k < n / 10 { 13.0 } else { 10.0 });
            let Cut::Found(prefix) = mser(&batches) else { panic!("{n}") };
            let slack = 3 * batches.length().max(5);
            assert!(prefix.observations.abs_diff(n / 10) <= slack, "{n}: {prefix:?}");
            assert_eq!(prefix.batches as u64 * batches.length(), prefix.observations);
            assert!((prefix.share - prefix.observations as f64 / n as f64).abs() < 1e-12);
        }
    }

    /// The definition itself, in two passes per truncation point.
    #[test]
    fn the_point_is_the_least_by_definition() {
        let batches = noise(2000, 3, |k| 10.0 + 5.0 * (-(k as f64) / 100.0).exp());
        let groups: Vec<f64> = batches.sums().chunks_exact(5).map(|g| g.iter().sum::<f64>() / 5.0).collect();
        let error = |d: usize| {
            let kept = &groups[d..];
            let mean = kept.iter().sum::<f64>() / kept.len() as f64;
            kept.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (kept.len() as f64).powi(2)
        };
        let best = (0..=360).min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap();
        assert!(best > 0);
        let Cut::Found(prefix) = mser(&batches) else { panic!() };
        assert_eq!(prefix.observations, 5 * best as u64);
    }

    /// Runs whose batches differ in length are averaged observation by observation: with the noise of one run the end of a
    /// faint step is lost, in the average of 50 it shows.
    #[test]
    fn several_runs_are_cut_where_their_average_settles() {
        let level = |k: u64| if k < 2000 { 10.2 } else { 10.0 };
        let runs: Vec<Batches> = (1..=50).map(|seed| noise(8000 + 20 * seed, seed, level)).collect();
        assert!(runs[0].length() == 1 && runs[49].length() == 2);
        let Cut::Found(prefix) = mser_of_runs(&runs) else { panic!() };
        assert!(prefix.observations.abs_diff(2000) <= 100, "{prefix:?}");
        assert!((prefix.share - prefix.observations as f64 / 8020.0).abs() < 1e-12);
        assert_eq!(mser_of_runs(&runs[..1]), mser(&runs[0]));
        assert_eq!(mser_of_runs(&[]), Cut::TooFew);
    }

    #[test]
    fn a_run_that_grows_has_no_steady_state_and_a_constant_one_no_warm_up() {
        assert!(matches!(mser(&noise(20_000, 1, |k| k as f64 / 100.0)), Cut::NotFound(p) if p.share > 0.5));
        let mut constant = Batches::new();
        (0..50_000).for_each(|_| constant.push(0.2));
        assert!(matches!(mser(&constant), Cut::Found(Prefix { observations: 0, .. })));
        assert_eq!(mser(&noise(99, 1, |_| 0.0)), Cut::TooFew);
        assert_ne!(mser(&noise(100, 1, |_| 0.0)), Cut::TooFew);
    }

    /// A spell of ten standard deviations: without it the rest is calmer, and it is no warm-up all the same, nor does one in the
    /// second half mean that there is no steady state.
    #[test]
    fn a_bad_spell_is_no_warm_up() {
        for (from, to) in [(3000, 3500), (7000, 7400), (200, 500)] {
            let batches = noise(10_000, from, |k| if (from..to).contains(&k) { 20.0 } else { 10.0 });
            let alone = least_error(batches.sums(), batches.sums().len() / 10) as u64 * batches.length();
            assert!(alone >= to - 4, "MSER alone would leave it out: {alone}");
            assert!(matches!(mser(&batches), Cut::Found(Prefix { observations: 0, .. })), "{from}");
        }
    }

    /// Bad spells in the middle of each of twenty periods, and a beginning of two periods at twice the level.
    #[test]
    fn a_model_that_repeats_itself_is_cut_between_periods() {
        let run = |seed, warm: u64| {
            let level = |k: u64| {
                let spell = if (200..250).contains(&(k % 500)) { 30.0 } else { 10.0 };
                if k < warm { 2.0 * spell } else { spell }
            };
            noise(10_250, seed, level)
        };
        let borders = |batches: &Batches| -> Vec<usize> {
            (0..=20).map(|i| (500 * i / batches.length()) as usize).collect()
        };
        let cut = |warm| {
            let runs: Vec<Batches> = (1..=3).map(|seed| run(seed, warm)).collect();
            let borders: Vec<Vec<usize>> = runs.iter().map(borders).collect();
            let all: Vec<(&Batches, &[usize])> =
                runs.iter().zip(&borders).map(|(b, at)| (b, &at[..])).collect();
            [mser_of_periods(&all), mser_of_periods(&all[..1])]
        };
        for found in cut(0) {
            assert!(matches!(found, Cut::Found(Prefix { observations: 0, .. })), "{found:?}");
        }
        for found in cut(1000) {
            // Of twenty values the best cut may lie a few later.
            assert!(matches!(found, Cut::Found(Prefix { observations: 1000..=5000, .. })), "{found:?}");
        }
        let (batches, few) = (run(1, 0), [0, 250]);
        assert!(matches!(mser_of_periods(&[(&batches, &few)]), Cut::Found(Prefix { observations: 0, .. })));
        assert_eq!(mser_of_periods(&[(&noise(99, 1, |_| 0.0), &few)]), Cut::TooFew);
        let ramp = noise(10_250, 1, |k| k as f64 / 100.0);
        assert!(matches!(mser_of_periods(&[(&ramp, &borders(&ramp))]), Cut::NotFound(_)));
    }
}
