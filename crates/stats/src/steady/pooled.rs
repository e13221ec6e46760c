//! Quantiles of all observations of several independent runs together, with intervals by the runs.
//!
//! The mean of the runs' own quantiles is not that of a long run: far out a short run has few observations, and its quantile is
//! biased, so that more runs only narrow the interval about the wrong value. Of all of them together it is not.
//!
//! The interval is the set of all q for which p lies within the interval of F(q) by the runs (a ratio of sums, since runs
//! have different numbers of observations; Student's t), on the scale of the logit: what [`crate::responses`] does with the
//! segments of one run.
//!
//! In the tail that is not enough. What lies beyond comes in crowds, and the fewer were seen, the more often both their share and its
//! spread come out too small. So far out the spread is told from a level at which ten times as many lie beyond, by how it
//! would grow for the queue of one server in heavy traffic, as far as it is more than that of independent observations: a stay beyond a level, of a Brownian motion with reflection, makes the
//! relative variance of the share q beyond proportional to (1 - q + q ln q) / q. The share of a compound
//! Poisson sum of crowds, with a relative variance of V, lies within (1 -+ z sqrt(V) / 2)^2 of its mean in 95 %, nearly; where the lower end
//! reaches zero there is no interval.
//!
//! For comparisons run by run each run gives what it adds to the quantile, in the linear approximation of Bahadur (1966). Where one
//! value holds a large part of the interval's shares (an atom, or a sample too thin for the level) that does not apply, and the
//! interval holds the truth more often than in 95 %: such a quantile is marked as stepped, and its difference from another is
//! bounded by the ends of both ([`apart`]).
//!
//! Values are exact ([`Shares`]): the grid of the histogram only finds the bucket.

use super::Shares;
use super::shares::{BUCKETS, Within, rank};
use crate::intervals::{astride, ratio_half_width_over, t975};
use crate::summary::Interval;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// So many observations lie beyond a quantile that has an interval, and on this side of it: in a queue they come together, so that ten
/// may all be of one crowd. (In how many runs there are any must not decide: it would choose those with long queues.)
const BEYOND: f64 = 50.0;

/// Shares beyond up to this are told from those of a level at which so many times as many lie beyond, at most the last.
pub(crate) const FAR: f64 = 0.05;
const NEARER: f64 = 10.0;
pub(crate) const NEAREST: f64 = 0.25;

/// A quantile is stepped where the share of one value is more than this part of the interval of its share.
const STEP: f64 = 0.2;

/// By this, times V at another level over that of the other level, the relative variance of the share `q` beyond follows.
fn growth(q: f64) -> f64 {
    (1.0 - q + q * q.ln()) / q
}

/// The 95 % point of the normal distribution.
const Z95: f64 = 1.645;

/// A share beyond a level of which more is known: half the width of its interval, relative to it, and what that would be were all
/// observations independent.
pub(crate) struct Known {
    pub beyond: f64,
    pub half: f64,
    pub independent: f64,
}

impl Known {
    /// What crowds add to the squared half width. Nothing where independent observations of so many runs would be spread as widely one time in
    /// twenty: the standard error of their variance is sqrt(2 / (R - 1)) of it, and the rest would grow with the level as crowds do.
    fn crowds(&self, runs: usize) -> f64 {
        let [own, independent] = [self.half, self.independent].map(|half| half * half);
        let chance = 1.0 + Z95 * (2.0 / (runs - 1) as f64).sqrt();
        if own > chance * independent { own - independent } else { 0.0 }
    }
}

/// Shares beyond that may be those of chance where `q` is the true one, from what is known of a nearer level. What independent
/// observations would make of the spread, `own`, grows as (1 - q) / q, the rest as crowds do. None where the lower end would be zero, or
/// the nearer level lies as far out.
pub(crate) fn doubtful(q: f64, own: f64, nearer: &Known, runs: usize) -> Option<Interval> {
    let crowds = match nearer.crowds(runs) {
        0.0 => 0.0,
        crowds => crowds * growth(q) / growth(nearer.beyond),
    };
    let h = (own.powi(2) + crowds).sqrt() / 2.0;
    (nearer.beyond > q && h < 1.0).then(|| [q * (1.0 - h).powi(2), q * (1.0 + h).powi(2)])
}

/// A quantile of several runs together.
#[derive(Clone, PartialEq, Debug)]
pub struct Pooled {
    /// The smallest x with F(x) >= p, in nanoseconds.
    pub value: f64,
    /// None where too few observations lie beyond, or the upper end does beyond the greatest.
    pub by_runs: Option<ByRuns>,
}

/// What the runs tell of a quantile.
#[derive(Clone, PartialEq, Debug)]
pub struct ByRuns {
    /// Its 95 % interval.
    pub interval: Interval,
    /// What each run makes of the quantile: their mean is the quantile, and their differences from those of the same runs of another
    /// model are the difference of the two. Of a stepped one they are the quantile itself.
    pub runs: Vec<f64>,
    /// How many times as wide the interval is as the runs alone tell, for crowds beyond it that were not seen: at least 1. The difference of two
    /// quantiles needs the larger of theirs.
    pub allowance: f64,
    /// Whether single values hold so much that the interval holds the truth more often than in 95 %.
    pub stepped: bool,
}

/// The difference of two quantiles of which one is stepped, first less second: no nearer than the ends of their intervals allow.
pub fn apart([a, b]: Interval, [c, d]: Interval) -> Interval {
    [a - d, b - c]
}

/// The quantile `p` (above 0, below 1) of all observations of these runs; none of nothing.
pub fn pooled(runs: &[&Shares], p: f64) -> Option<Pooled> {
    let n: u64 = runs.iter().map(|run| run.n()).sum();
    if n == 0 {
        return None;
    }
    let mut holds = vec![false; BUCKETS];
    runs.iter().flat_map(|run| &run.buckets).for_each(|&bucket| holds[usize::from(bucket)] = true);
    let buckets: Vec<u16> = (0..BUCKETS as u16).filter(|&bucket| holds[usize::from(bucket)]).collect();
    let up_to = |bucket: u16| -> u64 { runs.iter().map(|run| run.up_to(bucket)).sum() };
    let rank = rank(p, n);
    let at = buckets.partition_point(|&bucket| (up_to(bucket) as f64) < rank);
    // A narrow law has all that is asked for in one bucket, and in it a million values.
    let kept = RefCell::new(BTreeMap::new());
    let within_of = |bucket: u16| -> Rc<Within> {
        let mut kept = kept.borrow_mut();
        Rc::clone(kept.entry(bucket).or_insert_with(|| Rc::new(Within::of(runs, bucket))))
    };
    let within = within_of(*buckets.get(at)?);
    let together = |within: &Within, x: u64| within.up_to(x).iter().map(|run| run.0).sum::<f64>();
    let place = within.values.partition_point(|&x| together(&within, x) < rank - 1e-6);
    let value = match within.values[..] {
        [low, high] if within.blind => low + (high - low) / 2,
        ref values => *values.get(place).or(values.last())?,
    };
    let interval = || -> Option<ByRuns> {
        if n as f64 * p.min(1.0 - p) < BEYOND - 1e-6 || runs.len() < 2 {
            return None;
        }
        let by_bucket = |&bucket: &u16| {
            let of = |run: &&Shares| (run.up_to(bucket) as f64, run.n() as f64);
            share(&runs.iter().map(of).collect::<Vec<_>>())
        };
        let q = 1.0 - p;
        // Half the width of an interval of a share q of independent observations, relative to it.
        let filled = runs.iter().filter(|run| run.n() > 0).count();
        let independent = |q: f64| t975(filled - 1) * ((1.0 - q) / (q * n as f64)).sqrt();
        let doubt = if q > FAR + 1e-9 {
            None
        } else {
            let level = 1.0 - (NEARER * q).min(NEAREST);
            let within =
                within_of(buckets[buckets.partition_point(|&b| (up_to(b) as f64) < level * n as f64)]);
            let place = within.values.partition_point(|&x| together(&within, x) < level * n as f64);
            // Where one value reaches from there beyond `p`, the level is just below it.
            let known =
                |place: usize| share(&within.values.get(place).map_or(within.before(), |&x| within.up_to(x)));
            let (mut nearer, mut half) = known(place)?;
            if 1.0 - nearer <= q + 1e-9 {
                (nearer, half) = known(place.wrapping_sub(1))?;
            }
            let beyond = 1.0 - nearer;
            let known = Known { beyond, half: half / beyond, independent: independent(beyond) };
            Some(doubtful(q, independent(q), &known, filled)?)
        };
        let ends = |doubt: Option<Interval>| -> Option<[End; 2]> {
            let [low, high] = astride(p, &buckets, doubt, by_bucket);
            let end = |bucket: usize, upper: bool| {
                let within = within_of(*buckets.get(bucket)?);
                let of = |&x: &u64| share(&within.up_to(x));
                let place = match (within.blind, upper) {
                    (true, _) => usize::from(upper),
                    (false, _) => astride(p, &within.values, doubt, of)[usize::from(upper)],
                };
                let place = place.min(within.values.len() - 1);
                let x = within.values[place];
                let up_to = together(&within, x);
                let before =
                    place.checked_sub(1).map_or(within.below(), |i| together(&within, within.values[i]));
                let last = bucket + 1 == buckets.len() && place + 1 == within.values.len();
                Some(End { x, up_to, step: up_to - before, last })
            };
            Some([end(low, false)?, end(high, true)?])
        };
        let narrow = ends(None)?;
        let [low, high] = match doubt {
            Some(_) => ends(doubt)?,
            None => narrow,
        };
        // All lie up to the greatest, whatever p: reached only for want of a larger observation.
        if high.last && high.up_to - high.step >= rank - 1e-6 {
            return None;
        }
        let here = within.up_to(value);
        let (all, half) = share(&here)?;
        let step = together(&within, value)
            - place.checked_sub(1).map_or(within.below(), |i| together(&within, within.values[i]));
        let most = step.max(narrow[0].step).max(narrow[1].step);
        let stepped = most > STEP * 2.0 * half * n as f64;
        let between = narrow[1].up_to - narrow[0].up_to;
        let width = (narrow[1].x - narrow[0].x) as f64;
        let slope = if stepped || between <= 0.0 { 0.0 } else { width / between * n as f64 };
        let size = n as f64 / runs.len() as f64;
        let adds = |&(up_to, n): &(f64, f64)| value as f64 + (all * n - up_to) / size * slope;
        let runs = here.iter().map(adds).collect();
        let allowance = if width > 0.0 { ((high.x - low.x) as f64 / width).max(1.0) } else { 1.0 };
        Some(ByRuns { interval: [low.x as f64, high.x as f64], runs, allowance, stepped })
    };
    Some(Pooled { value: value as f64, by_runs: interval() })
}

/// An end of an interval: where, how many observations lie up to there and just there, and whether it is the greatest value known.
#[derive(Clone, Copy)]
struct End {
    x: u64,
    up_to: f64,
    step: f64,
    last: bool,
}

/// The share of all, and half the width of its interval, from (up to, of all) of each run.
fn share(runs: &[(f64, f64)]) -> Option<(f64, f64)> {
    let (up_to, n) = runs.iter().fold((0.0, 0.0), |a, run| (a.0 + run.0, a.1 + run.1));
    Some((up_to / n, ratio_half_width_over(runs, 2)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steady::Histogram;
    use headway_base::random::Stream;
    use headway_base::special::exponential;

    fn of(values: impl Iterator<Item = u64>) -> Shares {
        let mut histogram = Histogram::new();
        let values: Vec<u64> = values.collect();
        values.iter().for_each(|&value| histogram.push(value));
        Shares::of(&histogram, values.into_iter())
    }

    #[test]
    fn it_is_the_quantile_of_all_together() {
        let runs = [of(1..=100), of(101..=200), of(201..=240)];
        let all: Vec<&Shares> = runs.iter().collect();
        for (p, expected) in [(0.1, 24.0), (0.5, 120.0), (0.75, 180.0), (1.0 / 240.0, 1.0), (0.99, 238.0)] {
            assert_eq!(pooled(&all, p).unwrap().value, expected, "{p}");
        }
        for percent in 1..=100 {
            assert_eq!(runs[0].quantile(f64::from(percent) / 100.0), Some(percent as u64), "{percent}");
        }
        assert_eq!(pooled(&[], 0.5), None);
        assert_eq!(pooled(&[&of(0..0)], 0.5), None);
        let one = pooled(&all[..1], 0.5).unwrap();
        assert_eq!((one.value, one.by_runs), (50.0, None));
        assert_eq!(
            (runs[1].n(), runs[1].up_to(99), runs[1].up_to(150), runs[1].up_to(9_999)),
            (100, 0, 50, 100)
        );
    }

    /// Runs of few observations: the mean of their own p99 is far too low, and where nothing lies beyond there is no interval.
    #[test]
    fn intervals_hold_the_truth_in_the_tail_of_short_runs() {
        let (trials, runs, n) = (400, 40, 200);
        let mut held = [0, 0];
        for trial in 0..trials {
            let mut draws = Stream::new(trial, "pooled").item(0);
            let all: Vec<Shares> = (0..runs)
                .map(|_| {
                    of((0..n).map(|_| (1e6 * exponential(&mut draws)) as u64).collect::<Vec<_>>().into_iter())
                })
                .collect();
            let all: Vec<&Shares> = all.iter().collect();
            for (held, p) in held.iter_mut().zip([0.5, 0.99]) {
                let ByRuns { interval: [low, high], runs: of_runs, .. } =
                    pooled(&all, p).unwrap().by_runs.unwrap();
                let truth = -1e6 * (1.0 - p).ln();
                *held += u32::from(low <= truth && truth <= high);
                let mean = of_runs.iter().sum::<f64>() / f64::from(runs);
                assert!((mean / pooled(&all, p).unwrap().value - 1.0).abs() < 1e-9);
            }
            assert_eq!(pooled(&all, 0.9999).unwrap().by_runs, None);
        }
        // 95 % of 400: 380, standard error 4.4.
        assert!(held.iter().all(|held| (366..=396).contains(held)), "{held:?}");
    }

    /// Two models on the same draws, the second ten per cent slower: the difference is told by the runs.
    #[test]
    fn differences_are_those_of_the_runs() {
        let mut draws = Stream::new(1, "pooled-pairs").item(0);
        let values: Vec<Vec<f64>> =
            (0..30).map(|_| (0..2_000).map(|_| 1e6 * exponential(&mut draws)).collect()).collect();
        let of_factor = |factor: f64| -> Vec<Shares> {
            values.iter().map(|run| of(run.iter().map(|x| (x * factor) as u64))).collect()
        };
        let told = [1.0, 1.1].map(|factor| {
            let all = of_factor(factor);
            pooled(&all.iter().collect::<Vec<_>>(), 0.9).unwrap()
        });
        let runs = told.each_ref().map(|of| of.by_runs.clone().unwrap().runs);
        let paired = super::super::paired(&runs[1], &runs[0]).unwrap();
        assert!((paired.difference - (told[1].value - told[0].value)).abs() < 1.0, "{paired:?}");
        assert!(paired.correlation.unwrap() > 0.9 && paired.sharpened.unwrap() > 2.0, "{paired:?}");
        assert!(runs[0].iter().any(|&run| run != told[0].value));
    }
}
