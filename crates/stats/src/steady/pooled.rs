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
//! would grow for the queue of one server in heavy traffic: a stay beyond a level, of a Brownian motion with reflection, makes the
//! relative variance of the share q beyond proportional to (1 - q + q ln q) / q. The share of a compound
//! Poisson sum of crowds, with a relative variance of V, lies within (1 -+ z sqrt(V) / 2)^2 of its mean in 95 %, nearly; where the lower end
//! reaches zero there is no interval.
//!
//! For comparisons run by run each run gives what it adds to the quantile, in the linear
//! approximation of Bahadur (1966).

use super::Histogram;
use super::histogram::{borders, index};
use crate::intervals::{astride, ratio_half_width_over};
use crate::summary::Interval;

/// So many observations lie beyond a quantile that has an interval, and on this side of it: in a queue they come together, so that ten
/// may all be of one crowd. (In how many runs there are any must not decide: it would choose those with long queues.)
const BEYOND: f64 = 50.0;

/// Shares beyond up to this are told from those of a level at which so many times as many lie beyond, at most the last.
const FAR: f64 = 0.05;
const NEARER: f64 = 10.0;
const NEAREST: f64 = 0.25;

/// By this, times V at another level over that of the other level, the relative variance of the share `q` beyond follows.
fn growth(q: f64) -> f64 {
    (1.0 - q + q * q.ln()) / q
}

/// Shares beyond that may be those of chance where `q` is the true one: from the share `nearer` beyond another level, and half the
/// width of its interval. None where the lower end would be zero, or that level lies as far out.
fn doubtful(q: f64, nearer: f64, half: f64) -> Option<Interval> {
    let h = half / nearer * (growth(q) / growth(nearer)).sqrt() / 2.0;
    (nearer > q && h < 1.0).then(|| [q * (1.0 - h).powi(2), q * (1.0 + h).powi(2)])
}

/// The observations of one run, counted up: ten bytes for each bucket that holds something.
#[derive(Clone, Debug)]
pub struct Shares {
    /// Buckets that hold something, in order.
    buckets: Box<[u16]>,
    /// Observations up to the end of each.
    up_to: Box<[u64]>,
    min: u64,
    max: u64,
}

impl Shares {
    /// Of these observations.
    pub fn of(histogram: &Histogram) -> Shares {
        let buckets = histogram.buckets().map(|bucket| index::<7>(bucket.low) as u16).collect();
        let mut n = 0;
        let counts = histogram.buckets().map(|bucket| {
            n += bucket.count;
            n
        });
        let up_to = counts.collect();
        let (min, max) = (histogram.min().unwrap_or(u64::MAX), histogram.max().unwrap_or(0));
        Shares { buckets, up_to, min, max }
    }

    /// How many there are.
    pub fn n(&self) -> u64 {
        self.up_to.last().copied().unwrap_or(0)
    }

    /// How many lie in that bucket or below.
    fn up_to(&self, bucket: u16) -> u64 {
        let place = self.buckets.partition_point(|&own| own <= bucket);
        place.checked_sub(1).map_or(0, |last| self.up_to[last])
    }
}

/// A quantile of several runs together.
#[derive(Clone, PartialEq, Debug)]
pub struct Pooled {
    /// The smallest x with F(x) >= p, as the middle of its bucket, in nanoseconds.
    pub value: f64,
    /// Its 95 % interval, and what each run makes of the quantile: their mean is `value`, and their differences from those of
    /// the same runs of another model are the difference of the two. None where too few observations lie beyond, or the
    /// upper end does beyond the greatest.
    pub by_runs: Option<(Interval, Vec<f64>)>,
}

/// The quantile `p` (above 0, below 1) of all observations of these runs; none of nothing.
pub fn pooled(runs: &[&Shares], p: f64) -> Option<Pooled> {
    let n: u64 = runs.iter().map(|run| run.n()).sum();
    let mut holds = vec![false; usize::from(u16::MAX) + 1];
    runs.iter().flat_map(|run| &run.buckets).for_each(|&bucket| holds[usize::from(bucket)] = true);
    let buckets: Vec<u16> = (0..=u16::MAX).filter(|&bucket| holds[usize::from(bucket)]).collect();
    let up_to = |bucket: u16| -> u64 { runs.iter().map(|run| run.up_to(bucket)).sum() };
    let place = |p: f64| {
        let rank = (p * n as f64 * (1.0 - 1e-12)).ceil().max(1.0) as u64;
        buckets.partition_point(|&bucket| up_to(bucket) < rank.min(n))
    };
    let at = place(p);
    let min = runs.iter().map(|run| run.min).min()?;
    let max = runs.iter().map(|run| run.max).max()?;
    let told = |place: usize| -> Option<f64> {
        let (low, high) = borders::<7>(usize::from(*buckets.get(place)?));
        Some((low + (high - low) / 2).clamp(min, max) as f64)
    };
    let value = told(at)?;
    let interval = || -> Option<(Interval, Vec<f64>)> {
        if n as f64 * p.min(1.0 - p) < BEYOND - 1e-6 || runs.len() < 2 {
            return None;
        }
        let share = |&bucket: &u16| {
            let of = |run: &&Shares| (run.up_to(bucket) as f64, run.n() as f64);
            let all: Vec<(f64, f64)> = runs.iter().map(of).collect();
            let half = ratio_half_width_over(&all, 2)?;
            Some((up_to(bucket) as f64 / n as f64, half))
        };
        let narrow = astride(p, &buckets, None, share);
        let q = 1.0 - p;
        let [low, high] = if q > FAR + 1e-9 {
            narrow
        } else {
            let (nearer, half) = share(&buckets[place(1.0 - (NEARER * q).min(NEAREST))])?;
            astride(p, &buckets, Some(doubtful(q, 1.0 - nearer, half)?), share)
        };
        // All lie up to the last bucket, whatever p: reached only for want of a larger observation.
        let before_last = if let [.., before, _] = buckets[..] { up_to(before) } else { 0 };
        if high + 1 >= buckets.len() && before_last as f64 >= p * n as f64 {
            return None;
        }
        let interval = [told(low)?, told(high)?];
        let [from, to] = narrow;
        let between = (up_to(buckets[to]) - up_to(buckets[from])) as f64 / n as f64;
        let slope = if between > 0.0 { (told(to)? - told(from)?) / between } else { 0.0 };
        let (all, size) = (up_to(buckets[at]) as f64 / n as f64, n as f64 / runs.len() as f64);
        let adds = |run: &&Shares| {
            let (n, up_to) = (run.n() as f64, run.up_to(buckets[at]) as f64);
            value + (all * n - up_to) / size * slope
        };
        Some((interval, runs.iter().map(adds).collect()))
    };
    Some(Pooled { value, by_runs: interval() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::random::Stream;
    use base::special::exponential;

    fn of(values: impl Iterator<Item = u64>) -> Shares {
        let mut histogram = Histogram::new();
        values.for_each(|value| histogram.push(value));
        Shares::of(&histogram)
    }

    #[test]
    fn it_is_the_quantile_of_all_together() {
        let runs = [of(1..=100), of(101..=200), of(201..=240)];
        let all: Vec<&Shares> = runs.iter().collect();
        for (p, expected) in [(0.1, 24.0), (0.5, 120.0), (0.75, 180.0), (1.0 / 240.0, 1.0), (0.99, 238.0)] {
            assert_eq!(pooled(&all, p).unwrap().value, expected, "{p}");
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
                let ([low, high], by_runs) = pooled(&all, p).unwrap().by_runs.unwrap();
                let (truth, slack) = (-1e6 * (1.0 - p).ln(), 1.0 + 2.0 * Histogram::<7>::RELATIVE_ERROR);
                *held += u32::from(low / slack <= truth && truth <= high * slack);
                let mean = by_runs.iter().sum::<f64>() / f64::from(runs);
                assert!((mean / pooled(&all, p).unwrap().value - 1.0).abs() < 1e-9);
            }
            assert_eq!(pooled(&all, 0.9999).unwrap().by_runs, None);
        }
        // 95 % of 400: 380, standard error 4.4; the buckets make them a little wide.
        assert!(held.iter().all(|held| (366..=400).contains(held)), "{held:?}");
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
        let runs = told.each_ref().map(|of| of.by_runs.clone().unwrap().1);
        let paired = super::super::paired(&runs[1], &runs[0]).unwrap();
        assert!((paired.difference - (told[1].value - told[0].value)).abs() < 1.0, "{paired:?}");
        assert!(paired.correlation.unwrap() > 0.9 && paired.sharpened.unwrap() > 2.0, "{paired:?}");
        assert!(runs[0].iter().any(|&run| run != told[0].value));
    }
}
