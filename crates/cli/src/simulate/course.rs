//! How response times went in the course of one run, in memory that does not grow with it: enough to leave out the
//! warm-up afterwards, when it is known how long it was, from means and from percentiles alike.
//!
//! Means come from [`Batches`]. For percentiles the first 65,536 values are kept as they are; of a longer run there are at most
//! 64 histograms of equally many values each, so that a warm-up is left out in steps of a 32nd of the run or finer.
//!
//! Times without an answer are censored at the time they were given up, and told apart from the others all along: see
//! [`Times`].

use super::order::{Ended, How};
use super::times::Times;
use base::Nanos;
use stats::intervals::share;
use stats::steady::{BatchMeans, Batches, Cut, MOST_BATCHES, Replications, batch_means, mser, mser_of_runs};
use stats::summary::Interval;

/// So many values are kept as they are.
const KEPT: usize = 65_536;
/// Most histograms of a run.
const MOST_PARTS: usize = 64;
/// Parts into which what is left of a run is cut for the interval of a percentile; fewer are enough where the warm-up has
/// left fewer.
const SEGMENTS: usize = 20;
const FEWEST_SEGMENTS: usize = 10;
/// So many values beyond a percentile a part must have, for its percentile to be told.
const BEYOND: f64 = 10.0;

/// The course of one run.
#[derive(Clone, Debug)]
pub struct Course {
    batches: Batches,
    /// When the last request of each full batch was due.
    due: Vec<Nanos>,
    values: Values,
}

/// Values in their order.
#[derive(Clone, Debug)]
enum Values {
    Kept(Vec<Value>),
    Counted { length: u64, parts: Vec<Times> },
}

/// A time in nanoseconds, its last two bits being how the request ended.
#[derive(Clone, Copy, Debug)]
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

/// What is left of a run without its warm-up.
#[derive(Clone, Debug)]
pub struct After {
    /// All that is left.
    pub all: Times,
    /// The same in parts of about equal size, in order; none where they were not asked for.
    segments: Vec<Times>,
}

impl Default for Course {
    fn default() -> Course {
        Course { batches: Batches::new(), due: Vec::new(), values: Values::Kept(Vec::new()) }
    }
}

impl Course {
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

    /// Where its warm-up ends, by MSER.
    pub fn cut(&self) -> Cut {
        mser(&self.batches)
    }

    /// Mean after that cut, with its interval by batch means; none where there is no steady state, or too little after it.
    pub fn means(&self, cut: &Cut) -> Option<BatchMeans> {
        batch_means(&self.batches, cut).ok()
    }

    /// Where the warm-up of several runs of one model ends, one point for all.
    pub fn cut_of<'a>(runs: impl IntoIterator<Item = &'a Course>) -> Cut {
        mser_of_runs(&runs.into_iter().map(|run| run.batches.clone()).collect::<Vec<_>>())
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
    pub fn after(&self, cut: u64, parts: bool) -> After {
        let most = if parts { SEGMENTS } else { 0 };
        match &self.values {
            Values::Kept(values) => {
                let left = values.get(cut as usize..).unwrap_or_default();
                let of = |part: &[Value]| {
                    let mut times = Times::default();
                    part.iter().for_each(|value| times.push(value.ns(), value.how()));
                    times
                };
                After { all: of(left), segments: segments(left, most, of) }
            }
            Values::Counted { length, parts } => {
                let left = parts.get(cut.div_ceil(*length) as usize..).unwrap_or_default();
                After { all: merged(left), segments: segments(left, most, merged) }
            }
        }
    }
}

impl Values {
    #[inline]
    fn push(&mut self, value: Value) {
        match self {
            Values::Kept(values) if values.len() < KEPT => values.push(value),
            Values::Kept(values) => {
                let length = (KEPT / MOST_PARTS) as u64;
                let parts = Vec::with_capacity(MOST_PARTS);
                let mut counted = Values::Counted { length, parts };
                values.iter().chain([&value]).for_each(|&value| counted.push(value));
                *self = counted;
            }
            Values::Counted { length, parts } => match parts.last_mut().filter(|last| last.n() < *length) {
                Some(last) => last.push(value.ns(), value.how()),
                None => {
                    if parts.len() == MOST_PARTS {
                        halve(parts);
                        *length *= 2;
                    }
                    let mut part = Times::default();
                    part.push(value.ns(), value.how());
                    parts.push(part);
                }
            },
        }
    }
}

/// What is left, in so many parts at most.
fn segments<T>(left: &[T], most: usize, of: impl Fn(&[T]) -> Times) -> Vec<Times> {
    let (n, m) = (left.len(), left.len().min(most));
    (0..m).map(|i| of(&left[i * n / m..(i + 1) * n / m])).collect()
}

/// Merges neighbours.
fn halve(parts: &mut Vec<Times>) {
    for i in 0..parts.len() / 2 {
        parts[i] = merged(&parts[2 * i..2 * i + 2]);
    }
    parts.truncate(parts.len() / 2);
}

fn merged(parts: &[Times]) -> Times {
    let mut all = Times::default();
    parts.iter().for_each(|part| all.merge(part));
    all
}

impl After {
    /// Share of the requests that did not end well, and its 95 % interval by the parts of the run.
    pub fn failed(&self) -> Option<(f64, Interval)> {
        let parts = self.segments.iter().map(|part| (part.n() - part.well().n(), part.n()));
        share(&parts.collect::<Vec<_>>())
    }

    /// The 95 % interval about `middle` of a number that `of` tells of each part of the run, by how it differs among them
    /// (Student's t); none where one of them cannot tell it.
    pub fn interval(&self, middle: f64, of: impl Fn(&Times) -> Option<f64>) -> Option<Interval> {
        let values: Vec<f64> = self.segments.iter().map(of).collect::<Option<_>>()?;
        if values.len() < FEWEST_SEGMENTS {
            return None;
        }
        let [low, high] = Replications::of(values)?.interval()?;
        let half = (high - low) / 2.0;
        Some([middle - half, middle + half])
    }
}

/// Whether so many values are enough for the percentile of that share to be told.
pub fn enough(n: u64, p: f64) -> bool {
    n as f64 * (1.0 - p) >= BEYOND
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::random::Stream;

    fn course(values: impl IntoIterator<Item = u64>) -> Course {
        let mut course = Course::default();
        for (k, ns) in values.into_iter().enumerate() {
            let due = Nanos(k as i64 * 1_000);
            course.push(Ended { due, arrived: due, response: Nanos(ns as i64), how: How::Well });
        }
        course
    }

    #[test]
    fn what_was_cut_is_in_no_percentile() {
        for n in [1_000u64, 60_000, 65_536, 65_537, 1_000_000] {
            let warm = n / 10;
            let course = course((0..n).map(|k| if k < warm { 1 << 40 } else { 1_000 + k % 100 }));
            let Cut::Found(prefix) = course.cut() else { panic!("{n}: no steady state") };
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
        assert_eq!((short.n(), short.cut(), short.due_in(0)), (3, Cut::TooFew, None));
        assert_eq!(short.after(0, true).interval(1.0, |times| times.quantile(0.5)), None);
        assert_eq!(short.after(3, true).all.quantile(0.5), None);
    }

    /// Independent exponential values of mean 1 ms: p99 is ln(100) ms. Of 100 runs the intervals of 93 to 97 are expected to
    /// hold it; four standard errors (2.2 each) below 95 are 86.
    #[test]
    fn intervals_of_percentiles_hold_what_they_promise() {
        for n in [30_000u64, 70_000] {
            let mut held = 0;
            for seed in 1..=100 {
                let mut draws = Stream::new(seed, "test").item(0);
                let values = (0..n).map(|_| (-1e6 * draws.open01().ln()) as u64);
                let after = course(values).after(0, true);
                let told = |times: &Times| times.quantile(0.99).filter(|_| enough(times.n(), 0.99));
                let [low, high] = after.interval(after.all.quantile(0.99).unwrap(), told).unwrap();
                let exact = 100f64.ln() / 1e3;
                held += u32::from((low..=high).contains(&exact));
            }
            assert!(held >= 86, "{held} of 100 at {n}");
        }
    }
}
