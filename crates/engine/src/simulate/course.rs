//! How response times went in the course of one run, in memory that does not grow with it: enough to leave out the
//! warm-up afterwards, when it is known how long it was, from means and from percentiles alike.
//!
//! Means come from [`Batches`]. For percentiles the first 65,535 values are kept as they are; of a longer run there are at most
//! 64 histograms of equally many values each, so that a warm-up is left out in steps of a 32nd of the run or finer, and a sample of
//! exact values, which tells how values lie within a bucket.
//!
//! Times without an answer are censored at the time they were given up, and told apart from the others all along: see
//! [`CensoredHistogram`].

use super::order::{Ended, How};
use super::period::Period;
use super::times::CensoredHistogram;
use headway_base::Nanos;
use headway_stats::intervals::share;
use headway_stats::steady::{
    BatchMeans, Batches, Cut, MOST_BATCHES, MOST_SAMPLED, Replications, Sample, Shares, at_most,
    batch_means_of_periods, mser_of_periods, mser_of_runs,
};
use headway_stats::summary::Interval;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Most histograms of a run.
const MOST_PARTS: usize = 64;
/// Fewest batches in a period, so that it ends nearly where one of them does.
const BATCHES_OF_A_PERIOD: i64 = 10;
/// Parts into which what is left of a single run is cut for intervals; fewer are enough where the warm-up has left fewer.
const SEGMENTS: usize = 20;
const FEWEST_SEGMENTS: usize = 10;

/// The course of one run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OutputSeries {
    batches: Batches,
    /// When the last request of each full batch was due.
    #[serde(with = "super::stored::times")]
    due: Vec<Nanos>,
    values: Values,
}

/// Values in their order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Values {
    exact: Sample<Value>,
    /// None while all of them are kept.
    counted: Option<Counted>,
}

/// Parts of so many values each, the last with fewer.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Counted {
    length: u64,
    parts: Vec<CensoredHistogram>,
}

/// A time in nanoseconds, its last two bits being how the request ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Value(u64);

impl Value {
    #[inline]
    fn new(ended: &Ended) -> Value {
        Value((ended.response.0.max(0) as u64) << 2 | ended.how as u64)
    }

    #[inline]
    fn ns(self) -> u64 {
        self.0 >> 2
    }

    #[inline]
    fn how(self) -> How {
        match self.0 & 3 {
            0 => How::Well,
            1 => How::Answered,
            _ => How::Censored,
        }
    }
}

/// Some of a run.
#[derive(Clone, Debug)]
struct Part {
    times: CensoredHistogram,
    exact: Vec<Value>,
}

/// What is left of a run without its warm-up.
#[derive(Clone, Debug)]
pub struct Trimmed {
    /// All that is left.
    pub all: CensoredHistogram,
    /// Exact values of some of it.
    exact: Vec<Value>,
    /// The same in parts of about equal size, in order; none where they were not asked for.
    segments: Vec<Part>,
}

impl Default for OutputSeries {
    fn default() -> OutputSeries {
        OutputSeries { batches: Batches::new(), due: Vec::new(), values: Values::default() }
    }
}

impl OutputSeries {
    /// The next request, in the order in which they started.
    #[inline]
    pub fn push(&mut self, ended: Ended) {
        self.batches.push(ended.response.as_secs_f64());
        if self.batches.rest().1 == 0 {
            self.due.push(ended.due);
            // The batches merge in the same way.
            if self.due.len() == MOST_BATCHES {
                let seconds = self.due.iter().skip(1).step_by(2).copied();
                self.due = seconds.collect();
            }
        }
        self.values.push(Value::new(&ended));
    }

    /// How many there were.
    pub fn n(&self) -> u64 {
        self.batches.n()
    }

    /// Where its warm-up ends, by MSER; of a model that repeats itself by its whole periods.
    pub fn cut(&self, period: Option<Period>) -> Cut {
        OutputSeries::cut_of([self], period)
    }

    /// Mean after that cut, with its interval by batch means; none where there is no steady state, or too little after it.
    pub fn means(&self, cut: &Cut, period: Option<Period>) -> Option<BatchMeans> {
        batch_means_of_periods(&self.batches, cut, &self.borders(period)).ok()
    }

    /// Where the warm-up of several runs of one model ends, one point for all.
    pub fn cut_of<'a>(runs: impl IntoIterator<Item = &'a OutputSeries>, period: Option<Period>) -> Cut {
        let runs: Vec<&OutputSeries> = runs.into_iter().collect();
        if period.is_none() {
            return mser_of_runs(&runs.iter().map(|run| run.batches.clone()).collect::<Vec<_>>());
        }
        let borders: Vec<Vec<usize>> = runs.iter().map(|run| run.borders(period)).collect();
        let periods = runs.iter().zip(&borders).map(|(run, borders)| (&run.batches, &borders[..]));
        mser_of_periods(&periods.collect::<Vec<_>>())
    }

    /// The batches at which whole periods begin and end, in order; none without a period. Where a period holds few batches it is
    /// several.
    fn borders(&self, period: Option<Period>) -> Vec<usize> {
        let (Some(period), Some(&last)) = (period, self.due.last()) else { return Vec::new() };
        let whole = period.whole(last);
        let several = 1 + BATCHES_OF_A_PERIOD * whole / self.due.len() as i64;
        let border = |i: i64| {
            let at = period.from + Nanos(period.length.0 * several * i);
            self.due.partition_point(|&due| due < at)
        };
        (0..=whole / several).map(border).collect()
    }

    /// Mean of what comes after the first so many requests, in whole batches.
    pub fn mean_after(&self, requests: u64) -> Option<f64> {
        self.batches.mean_after(self.batches.holding(requests))
    }

    /// When the last of the first so many requests was due, in whole batches; none of none.
    pub fn due_in(&self, requests: u64) -> Option<Nanos> {
        self.due.get(self.batches.holding(requests).checked_sub(1)?).copied()
    }

    /// What comes after the first `cut` requests; in parts too if `parts` is set, without which there are no intervals.
    pub fn after(&self, cut: u64, parts: bool) -> Trimmed {
        let most = if parts { SEGMENTS } else { 0 };
        let Values { exact, counted } = &self.values;
        let n = self.n();
        match counted {
            None => {
                let left = exact.of(cut.min(n)..n);
                let of = |part: &[Value]| {
                    let mut times = CensoredHistogram::default();
                    part.iter().for_each(|value| times.push(value.ns(), value.how()));
                    times
                };
                let part = |range: Range<usize>| Part {
                    times: of(&left[range.clone()]),
                    exact: left[range].to_vec(),
                };
                Trimmed { all: of(left), exact: left.to_vec(), segments: segments(left.len(), most, part) }
            }
            Some(Counted { length, parts }) => {
                let first = (cut.div_ceil(*length) as usize).min(parts.len());
                let left = &parts[first..];
                let places = |range: Range<usize>| {
                    (first + range.start) as u64 * length..(first + range.end) as u64 * length
                };
                let part = |range: Range<usize>| Part {
                    times: merged(&left[range.clone()]),
                    exact: exact.of(places(range)).to_vec(),
                };
                let kept = exact.of(places(0..left.len())).to_vec();
                Trimmed { all: merged(left), exact: kept, segments: segments(left.len(), most, part) }
            }
        }
    }
}

impl Values {
    #[inline]
    fn push(&mut self, value: Value) {
        match &mut self.counted {
            Some(counted) => counted.push(value),
            None if self.exact.is_full() => {
                let mut counted = Counted {
                    length: (MOST_SAMPLED / MOST_PARTS) as u64,
                    parts: Vec::with_capacity(MOST_PARTS),
                };
                self.exact
                    .of(0..MOST_SAMPLED as u64)
                    .iter()
                    .chain([&value])
                    .for_each(|&value| counted.push(value));
                self.counted = Some(counted);
            }
            None => {}
        }
        self.exact.push(value);
    }
}

impl Counted {
    #[inline]
    fn push(&mut self, value: Value) {
        match self.parts.last_mut().filter(|last| last.n() < self.length) {
            Some(last) => last.push(value.ns(), value.how()),
            None => {
                if self.parts.len() == MOST_PARTS {
                    halve(&mut self.parts);
                    self.length *= 2;
                }
                let mut part = CensoredHistogram::default();
                part.push(value.ns(), value.how());
                self.parts.push(part);
            }
        }
    }
}

/// `n` things in so many parts at most.
fn segments(n: usize, most: usize, of: impl Fn(Range<usize>) -> Part) -> Vec<Part> {
    let m = n.min(most);
    (0..m).map(|i| of(i * n / m..(i + 1) * n / m)).collect()
}

/// Merges neighbours.
fn halve(parts: &mut Vec<CensoredHistogram>) {
    for i in 0..parts.len() / 2 {
        parts[i] = merged(&parts[2 * i..2 * i + 2]);
    }
    parts.truncate(parts.len() / 2);
}

fn merged(parts: &[CensoredHistogram]) -> CensoredHistogram {
    let mut all = CensoredHistogram::default();
    parts.iter().for_each(|part| all.merge(part));
    all
}

impl Part {
    fn shares(&self, of_well: bool) -> Shares {
        shares(&self.times, &self.exact, of_well)
    }
}

/// The times counted up, with the exact values that are known; of the requests that ended well alone if `of_well` is set.
fn shares(times: &CensoredHistogram, exact: &[Value], of_well: bool) -> Shares {
    let kept = exact.iter().filter(|value| !of_well || value.how() == How::Well).map(|value| value.ns());
    if of_well { Shares::of(times.well(), kept) } else { Shares::of(&times.all(), kept) }
}

impl Trimmed {
    /// Share of the requests that did not end well, and its 95 % interval by the parts of the run.
    pub fn failed(&self) -> Option<(f64, Interval)> {
        let parts = self.segments.iter().map(|Part { times, .. }| (times.n() - times.well().n(), times.n()));
        share(&parts.collect::<Vec<_>>())
    }

    /// The 95 % interval about `middle` of a mean that `of` tells of each part of the run, by how it differs among them
    /// (Student's t); none where one of them cannot tell it.
    pub fn interval(&self, middle: f64, of: impl Fn(&CensoredHistogram) -> Option<f64>) -> Option<Interval> {
        let values: Vec<f64> = self.segments.iter().map(|part| of(&part.times)).collect::<Option<_>>()?;
        if values.len() < FEWEST_SEGMENTS {
            return None;
        }
        let [low, high] = Replications::of(values)?.interval()?;
        let half = (high - low) / 2.0;
        Some([middle - half, middle + half])
    }

    /// All that is left counted up, with at most so many exact values; see [`Part::shares`].
    pub fn shares(&self, of_well: bool, most: usize) -> Shares {
        if self.exact.len() <= most {
            return shares(&self.all, &self.exact, of_well);
        }
        shares(&self.all, &at_most(&self.exact, most), of_well)
    }

    /// The parts of it counted up, as if each were a run; none where there are too few for an interval.
    pub fn segments(&self, of_well: bool) -> impl Iterator<Item = Shares> + '_ {
        let enough = self.segments.len() >= FEWEST_SEGMENTS;
        self.segments.iter().filter(move |_| enough).map(move |part| part.shares(of_well))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;
    use headway_stats::steady::pooled;

    fn course(values: impl IntoIterator<Item = u64>) -> OutputSeries {
        let mut course = OutputSeries::default();
        for (k, ns) in values.into_iter().enumerate() {
            let due = Nanos(k as i64 * 1_000);
            course.push(Ended {
                due,
                arrived: due,
                response: Nanos(ns as i64),
                how: How::Well,
                connected: true,
            });
        }
        course
    }

    #[test]
    fn what_was_cut_is_in_no_percentile() {
        for n in [1_000u64, 60_000, 65_535, 65_536, 65_537, 1_000_000] {
            let warm = n / 10;
            let course = course((0..n).map(|k| if k < warm { 1 << 40 } else { 1_000 + k % 100 }));
            let Cut::Found(prefix) = course.cut(None) else { panic!("{n}: no steady state") };
            assert!(prefix.observations >= warm && prefix.observations < warm + n / 20, "{n}: {prefix:?}");
            let after = course.after(prefix.observations, true);
            assert_eq!(after.all.max().map(|(max, _)| max), Some(1_099e-9), "{n}");
            assert!(after.all.n() + prefix.observations + n / 32 >= n, "{n}: {} are left", after.all.n());
            // The batch's last request: number `observations` - 1, one each microsecond.
            assert_eq!(
                course.due_in(prefix.observations),
                Some(Nanos((prefix.observations as i64 - 1) * 1_000)),
                "{n}"
            );
            assert_eq!(course.after(0, true).all.n(), n, "nothing is lost");
        }
        let short = course([5, 6, 7]);
        assert_eq!((short.n(), short.cut(None), short.due_in(0)), (3, Cut::TooFew, None));
        assert_eq!(short.after(0, true).segments(false).count(), 0);
        assert_eq!(short.after(3, true).all.quantiles([0.5]), [None]);
    }

    /// Independent exponential values of mean 1 ms: p99 is ln(100) ms. Of 100 runs the intervals of 95 are expected to
    /// hold each percentile; four standard errors (2.2 each) below are 86.
    #[test]
    fn intervals_of_percentiles_hold_what_they_promise() {
        for n in [30_000u64, 70_000] {
            let mut held = [0; 2];
            for seed in 1..=100 {
                let mut draws = Stream::new(seed, "test").item(0);
                let values = (0..n).map(|_| (-1e6 * draws.open01().ln()) as u64);
                let after = course(values).after(0, true);
                let segments: Vec<Shares> = after.segments(false).collect();
                let segments: Vec<&Shares> = segments.iter().collect();
                for (held, p) in held.iter_mut().zip([0.5f64, 0.99]) {
                    let [low, high] = pooled(&segments, p).unwrap().by_runs.unwrap().interval;
                    *held += u32::from((low..=high).contains(&(-(1.0 - p).ln() * 1e6)));
                }
            }
            assert!(held.iter().all(|held| *held >= 86), "{held:?} of 100 at {n}");
        }
    }
}
