//! Thresholds of a study: what they speak of in one run, and what follows from it over the replications of a point.
//!
//! A study keeps response times, how requests ended and whether they started, of all steps together; thresholds on anything
//! else are not among those that come here (`settings::study`).

use super::course::Trimmed;
use super::estimates::{estimate, of_values};
use super::pooled::PooledSample;
use super::replication::{Number, Numbers, Replication};
use super::sink::Counts;
use super::times::CensoredHistogram;
use headway_stats::Threshold;
use headway_stats::intervals::{clopper_pearson, share_over_runs};
use headway_stats::metric::{Aggregate, Metric, Taken};
use headway_stats::summary::{Infinite, Interval, Stated, ThresholdResult, Unsteady, Why};
use headway_stats::thresholds::judge_runs;

/// What a threshold speaks of in one run; none where there was nothing to observe. `mean` is that of the response time; intervals
/// of means and shares are those within the run, if `intervals` is set; those of percentiles are [`PooledSample`]'s.
pub fn demanded(
    threshold: &Threshold,
    run: &Replication,
    after: &Trimmed,
    mean: Number,
    intervals: bool,
) -> Option<Number> {
    let plain = |value: f64| Number { value, interval: None, lower_bound: false };
    let bound = |(value, lower_bound): (f64, bool)| Number { lower_bound, ..plain(value) };
    let counts = &run.counts;
    match (threshold.metric.taken, threshold.aggregate) {
        (Taken::Failures, aggregate) => {
            let (bad, n) = failures(counts)?;
            let share = bad as f64 / n as f64;
            let interval = if intervals { around(share, after.failed()) } else { None };
            let times = if aggregate == Aggregate::Count { n as f64 } else { 1.0 };
            let interval = interval.map(|[low, high]| [low * times, high * times]);
            Some(Number { interval, ..plain(share * times) })
        }
        (Taken::Starts, Aggregate::Count) => Some(plain(counts.started as f64)),
        (Taken::Starts, _) => run.per_second(counts.started).map(plain),
        (Taken::Response { successes: true }, Aggregate::Count) => Some(plain(counts.ok as f64)),
        (_, Aggregate::Count) => Some(plain(counts.n as f64)),
        (Taken::Response { successes: true }, aggregate) => {
            let value = of_well(aggregate, &after.all)?;
            let has = intervals && aggregate == Aggregate::Mean;
            let interval = if has { after.interval(value, |part| of_well(aggregate, part)) } else { None };
            Some(Number { interval, ..plain(value) })
        }
        (_, Aggregate::Mean | Aggregate::Rate) => Some(mean),
        (_, Aggregate::Min) => after.all.min().map(bound),
        (_, Aggregate::Max) => after.all.max().map(bound),
        (_, Aggregate::Percentile(percentile)) => after.all.quantiles([percentile / 100.0])[0].map(bound),
    }
}

/// That number of the requests that ended well, in seconds.
fn of_well(aggregate: Aggregate, times: &CensoredHistogram) -> Option<f64> {
    let well = times.well();
    let ns = match aggregate {
        Aggregate::Percentile(percentile) => well.quantile(percentile / 100.0)? as f64,
        Aggregate::Min => well.min()? as f64,
        Aggregate::Max => well.max()? as f64,
        Aggregate::Mean | Aggregate::Rate | Aggregate::Count => well.mean()?,
    };
    Some(ns / 1e9)
}

/// Requests that failed, and of how many; none of none. What was never sent has not failed.
fn failures(counts: &Counts) -> Option<(u64, u64)> {
    let n = counts.n - counts.unsent;
    (n > 0).then_some((n - counts.ok, n))
}

/// The interval of a share, moved to another value of it.
fn around(value: f64, known: Option<(f64, Interval)>) -> Option<Interval> {
    let (middle, [low, high]) = known?;
    Some([(value + low - middle).max(0.0), (value + high - middle).min(1.0)])
}

/// What the runs of a point came to, as far as its thresholds ask.
pub struct Runs<'a> {
    /// All of them.
    pub runs: &'a [&'a Replication],
    /// Numbers of those that have any.
    pub numbers: &'a [&'a Numbers],
    /// Why there is no steady state.
    pub unsteady: Option<Stated<Unsteady>>,
    /// Whether service times are too skewed for an interval of the mean of a single run.
    pub skewed: bool,
    /// What leaves the mean response time without an interval, if anything does.
    pub no_mean: Option<Infinite>,
    /// The response times of all of them.
    pub together: &'a PooledSample,
    /// Whether all of them together are too short for the interval of a percentile of the response times, or of their mean.
    pub short: &'a dyn Fn(Option<f64>) -> bool,
}

/// The thresholds of a point, judged by their intervals over its runs, of a single one by those within it.
pub fn judged(thresholds: &[Threshold], of: &Runs<'_>) -> Vec<ThresholdResult> {
    thresholds.iter().enumerate().map(|(i, threshold)| result(threshold, i, of)).collect()
}

fn result(threshold: &Threshold, i: usize, of: &Runs<'_>) -> ThresholdResult {
    let mut result = threshold.blank();
    let counted: fn(&Counts) -> u64 = match threshold.metric.taken {
        Taken::Response { successes: true } => |counts| counts.ok,
        Taken::Starts => |counts| counts.started,
        Taken::Failures => |counts| counts.n - counts.unsent,
        _ => |counts| counts.n,
    };
    result.n = of.runs.iter().map(|run| counted(&run.counts)).sum();
    let all: Vec<Number> = of.numbers.iter().filter_map(|numbers| *numbers.demanded.get(i)?).collect();
    // A mean over some of the runs is that of others.
    if all.len() == of.runs.len() {
        let over_runs = match threshold.aggregate {
            Aggregate::Mean => estimate(&all, &requests(threshold, of.numbers)),
            _ => of_values(all.iter().map(|number| number.value).collect()),
        };
        result.lower_bound = all.iter().any(|number| number.lower_bound);
        result.value = over_runs.map(|estimate| estimate.mean);
        result.interval = match all[..] {
            [one] => one.interval.filter(|_| !of.skewed || threshold.aggregate != Aggregate::Mean),
            _ => over_runs.and_then(|estimate| estimate.ci95),
        };
        match threshold.aggregate {
            Aggregate::Percentile(percentile) => of_percentile(&mut result, percentile / 100.0, of),
            Aggregate::Mean if is_of_responses(threshold) && (of.short)(None) => result.interval = None,
            Aggregate::Min | Aggregate::Max => of_extreme(&mut result, threshold.aggregate, &all),
            _ => {}
        }
        if threshold.metric == Metric::FAILED {
            of_failures(&mut result, threshold.aggregate, of.runs);
        }
    }
    // Of each run by itself, where all have the number.
    let values: Vec<f64> = match all.len() == of.runs.len() {
        true => all.iter().map(|number| number.value).collect(),
        false => Vec::new(),
    };
    judge_runs(&mut result, &values, against(threshold, of));
    result
}

fn is_of_responses(threshold: &Threshold) -> bool {
    matches!(threshold.metric.taken, Taken::Response { .. })
}

/// Percentiles whose intervals bound others: one of a larger share is at least as large.
const BOUNDS: [f64; 5] = [0.5, 0.9, 0.95, 0.99, 0.999];

/// A percentile of all requests together. Where it has no interval, or is a lower bound, what bounds it is the lower end of the
/// largest percentile below it that has one.
fn of_percentile(result: &mut ThresholdResult, p: f64, of: &Runs<'_>) {
    let of_well = result.number().is_some_and(|number| number.metric == Metric::RESPONSE_OK);
    let Some(percentile) = of.together.percentile(p, of_well) else { return };
    (result.value, result.lower_bound) = (Some(percentile.value), percentile.lower_bound);
    let short = (of.short)(Some(p));
    result.interval = percentile.by_runs.filter(|_| !short).map(|of| of.interval);
    if result.interval.is_none() {
        let below = BOUNDS.iter().rev().filter(|&&below| below < p && !(of.short)(Some(below)));
        let mut known = below.filter_map(|&below| of.together.percentile(below, of_well)?.at_least);
        result.at_least = percentile.at_least.filter(|_| !short).or_else(|| known.next());
    }
}

/// The smallest or largest of all replications: a fact of these runs, which has no interval.
fn of_extreme(result: &mut ThresholdResult, aggregate: Aggregate, all: &[Number]) {
    let by_value = |a: &&Number, b: &&Number| a.value.total_cmp(&b.value);
    let extreme =
        if aggregate == Aggregate::Max { all.iter().max_by(by_value) } else { all.iter().min_by(by_value) };
    (result.value, result.interval) = (extreme.map(|number| number.value), None);
    result.lower_bound = extreme.is_some_and(|number| number.lower_bound);
}

/// Why the threshold is not to be judged.
fn against(threshold: &Threshold, of: &Runs<'_>) -> Option<Why> {
    if let Some(why) = of.unsteady.as_ref().filter(|_| threshold.metric.hangs_on_length(threshold.aggregate))
    {
        return Some(Why::NotSteady { because: Some(Box::new(why.clone())) });
    }
    let what = of.no_mean.filter(|_| threshold.aggregate == Aggregate::Mean)?;
    Some(what.against_the_mean())
}

/// Over how many requests the mean of each run is.
fn requests(threshold: &Threshold, numbers: &[&Numbers]) -> Vec<u64> {
    let of_well = threshold.metric == Metric::RESPONSE_OK;
    numbers.iter().map(|of| if of_well { of.n_well } else { of.n }).collect()
}

/// The share of all requests that failed, or how many did in a run. Over several runs as every share is ([`share_over_runs`]); of a single one
/// by its parts, and never narrower than the exact limits of independent requests: a run without a failure does not prove that there are none.
fn of_failures(result: &mut ThresholdResult, aggregate: Aggregate, runs: &[&Replication]) {
    let all: Vec<(u64, u64)> = runs.iter().filter_map(|run| failures(&run.counts)).collect();
    let (bad, n) = all.iter().fold((0, 0), |(bad, n), (b, m)| (bad + b, n + m));
    let times = if aggregate == Aggregate::Count { n as f64 / runs.len().max(1) as f64 } else { 1.0 };
    if let Some((value, interval)) = share_over_runs(&all) {
        let [low, high] = interval.map(|end| end * times);
        // How many there are hangs on how many requests there are too.
        let [least, most] = result.interval.filter(|_| aggregate == Aggregate::Count).unwrap_or([low, high]);
        (result.value, result.interval) =
            (Some(value * times), Some([low.min(least).max(0.0), high.max(most)]));
        return;
    }
    let [least, most] = clopper_pearson(bad, n).map(|share| share * times);
    result.interval = result.interval.map(|[low, high]| [low.min(least).max(0.0), high.max(most)]);
}
