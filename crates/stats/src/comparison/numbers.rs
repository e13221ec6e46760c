//! The numbers of one run with intervals of any confidence: from its records, or from a document which tells intervals of 95 %.

use super::document::Number;
use crate::intervals::{FEWEST_SEGMENTS, clopper_pearson_at, ratio_error, t975};
use crate::metric::{Aggregate, Metric, NumberOf, Taken};
use crate::responses::Sample;
use crate::study::Point;
use crate::summary::{
    CurvePoint, Interval, NotComputed, PERCENTILES, Stated, Summary, Why, mean_is_lower_bound,
};
use std::collections::BTreeMap;

/// A cell of the histogram that percentiles are read from is at most this share of its value wide.
pub(super) const CELL: f64 = 0.001;

/// Mean response times that fixed work must take for its percentiles to be compared: two in each twentieth of it. Of 300 pairs of equal
/// systems 272 to 292 show no difference in any number where it takes 20 of them (50 users, 1,000 requests), 285 are right; from 50 on 288
/// or more (the tests play them).
const LEAST_WORK: f64 = 40.0;

/// Whole nanoseconds in a second.
const NS: f64 = 1e9;

/// The numbers of a run, or of one step of it.
#[derive(Debug)]
pub struct Numbers(Of);

#[derive(Debug)]
enum Of {
    Records(Box<Records>),
    Document(Told),
}

struct Records {
    /// By metric; response times first.
    times: Vec<(Metric, Sample)>,
    /// Failed and all, and answered, by segment.
    failures: Vec<(u64, u64)>,
    answered: Vec<u64>,
    filled: usize,
    seconds: f64,
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").field("n", &self.response().n()).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Told {
    n: u64,
    numbers: BTreeMap<String, Number>,
    why: BTreeMap<String, Stated<Why>>,
    /// Degrees of freedom of its intervals.
    degrees: f64,
    /// By the names of numbers, what each replication of a study adds to them.
    by_replication: BTreeMap<String, Vec<f64>>,
    curve: Vec<CurvePoint>,
}

/// The upper limit of the mean of a Poisson count of none, at one end of a two-sided interval of that confidence (Garwood 1936).
pub(super) fn most_of_none(confidence: f64) -> f64 {
    -((1.0 - confidence) / 2.0).max(f64::MIN_POSITIVE).ln()
}

/// An estimate and how sure it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sure {
    pub interval: Interval,
    /// Degrees of freedom; infinite where the interval is exact.
    pub degrees: f64,
}

impl Numbers {
    pub(super) fn observed(
        times: Vec<(Metric, Sample)>,
        failures: Vec<(u64, u64)>,
        answered: Vec<u64>,
        filled: usize,
        seconds: f64,
    ) -> Numbers {
        Numbers(Of::Records(Box::new(Records { times, failures, answered, filled, seconds })))
    }

    /// Those of a run that kept no records, by its summary; its intervals are of 20 segments.
    pub fn of_summary(summary: &Summary) -> Numbers {
        let mut numbers = BTreeMap::new();
        let mut why = BTreeMap::new();
        for metric in Metric::all() {
            let Some(spread) = summary.spread(metric) else { continue };
            let percentiles = PERCENTILES.map(Aggregate::Percentile);
            for aggregate in [Aggregate::Mean].into_iter().chain(percentiles) {
                let of = NumberOf { metric, aggregate };
                let Some((value, ci95)) = spread.number(aggregate) else { continue };
                let lower_bound = spread.lower_bound.contains_key(&aggregate.key());
                numbers.insert(of.key(), Number { value, ci95, lower_bound, n: spread.n });
                let reason = summary.not_computed.get(&metric.interval_path(&aggregate.key()));
                why.extend(reason.map(|reason| (of.key(), reason.clone())));
            }
        }
        let n = summary.response.n;
        let failed: u64 = summary.failures.iter().map(|failure| failure.n).sum();
        let all: u64 = summary.outcomes.values().sum();
        let share = (all > 0).then(|| failed as f64 / all as f64);
        numbers.insert("failed".into(), Number { value: share, n: all, ..Number::default() });
        let rate = Number { value: summary.rate.throughput, n: all, ..Number::default() };
        numbers.insert("rate".into(), rate);
        Numbers(Of::Document(Told {
            n,
            numbers,
            why,
            degrees: (crate::intervals::SEGMENTS - 1) as f64,
            by_replication: BTreeMap::new(),
            curve: summary.curves.percentiles.response.clone(),
        }))
    }

    /// Those of a point of a study with so many replications.
    pub fn of_point(point: &Point, replications: u64) -> Numbers {
        let of = |estimate: &crate::study::Estimate| Number {
            value: Some(estimate.mean),
            ci95: estimate.ci95,
            lower_bound: estimate.lower_bound,
            n: point.n,
        };
        let mut numbers: BTreeMap<String, Number> =
            point.response.iter().map(|(name, estimate)| (name.clone(), of(estimate))).collect();
        numbers.insert("failed".into(), of(&point.failed));
        numbers.extend(point.goodput.as_ref().map(|goodput| ("rate".to_owned(), of(goodput))));
        let why = point.not_computed.iter().filter_map(|(path, why)| {
            let name = path.strip_prefix("response.")?.strip_suffix(".ci95")?;
            Some((name.to_owned(), why.clone()))
        });
        let degrees = match replications {
            0 | 1 => crate::intervals::SEGMENTS - 1,
            several => several as usize - 1,
        };
        let curve = point.curve.iter().map(|&(p, value)| CurvePoint {
            percentile: 100.0 * p,
            value,
            ..CurvePoint::default()
        });
        let (why, curve) = (why.collect(), curve.collect());
        let by_replication = point.by_replication.clone();
        Numbers(Of::Document(Told {
            n: point.n,
            numbers,
            why,
            degrees: degrees as f64,
            by_replication,
            curve,
        }))
    }

    /// Requests behind them.
    pub fn n(&self) -> u64 {
        match &self.0 {
            Of::Records(records) => records.response().n(),
            Of::Document(told) => told.n,
        }
    }

    pub(super) fn curve(&self) -> Vec<CurvePoint> {
        match &self.0 {
            Of::Records(records) => records.response().curve(NS),
            Of::Document(told) => told.curve.clone(),
        }
    }

    /// The number without an interval.
    pub(super) fn number(&self, of: NumberOf) -> Number {
        let records = match &self.0 {
            Of::Records(records) => records,
            Of::Document(told) => return told.numbers.get(&of.key()).cloned().unwrap_or_default(),
        };
        match of.metric.taken {
            Taken::Responses => {
                let answered: u64 = records.answered.iter().sum();
                let value = (records.seconds > 0.0).then(|| answered as f64 / records.seconds);
                Number { value, n: answered, ..Number::default() }
            }
            Taken::Failures => {
                let (bad, all) = records.failures.iter().fold((0, 0), |a, s| (a.0 + s.0, a.1 + s.1));
                let value = (all > 0).then(|| bad as f64 / all as f64);
                Number { value, n: all, ..Number::default() }
            }
            _ => records.times(of.metric).map_or_else(Number::default, |times| of_times(times, of)),
        }
    }

    /// The interval of a number: of 95 %, or with so many standard errors on either side and of that confidence.
    pub(super) fn interval(&self, of: NumberOf, at: Option<(f64, f64)>) -> Result<Sure, Stated<Why>> {
        match &self.0 {
            Of::Records(records) => records.interval(of, at).map_err(Stated::from),
            Of::Document(told) => told.interval(of, at),
        }
    }

    /// Why the interval of that number is not to be used, by what the summary withholds. Fixed work is one transient, whose numbers are those of
    /// no steady state; but twice the same work is compared by what its records show.
    pub(super) fn withheld(&self, of: NumberOf, not_computed: &NotComputed) -> Option<Stated<Why>> {
        let why = withheld(of, not_computed)?;
        let Of::Records(records) = &self.0 else { return Some(why) };
        if why.why != Why::FixedWork {
            return Some(why);
        }
        let took = records.seconds * NS / records.response().mean()?;
        let short = of.aggregate.quantile().is_some() && took < LEAST_WORK;
        short.then(|| Why::ShortWork { took, needed: LEAST_WORK }.into())
    }

    /// The standard error of a number's logarithm; none of shares, and where there are no records.
    pub(super) fn log_error(&self, of: NumberOf) -> Option<f64> {
        let records = match &self.0 {
            Of::Records(records) => records,
            Of::Document(told) => return told.log_error(of),
        };
        match of.aggregate.quantile() {
            _ if of.is_share() => None,
            Some(p) => records.times(of.metric)?.log_error(p),
            None => {
                let [low, high] = records.interval(of, Some((1.0, 0.0))).ok()?.interval;
                (low > 0.0).then(|| (high / low).ln() / 2.0)
            }
        }
    }

    /// Why a percentile that has an interval is not compared: what lies beyond it does so in a few bursts.
    ///
    /// One burst of slow requests is one observation of the tail, however many requests it holds. Where those beyond a percentile lie in
    /// fewer than half of 20 segments there were some 14 bursts at most, and the spread between segments does not tell how large the next
    /// is.
    pub(super) fn few_bursts(&self, of: NumberOf) -> Option<Why> {
        let Of::Records(records) = &self.0 else { return None };
        let (p, times) = (of.aggregate.quantile()?, records.times(of.metric)?);
        let value = times.quantile(p)?.value;
        // With those in its own cell of the histogram, where all may be that take equally long.
        let cells = if p < 0.5 { 1.0 + CELL } else { 1.0 - 2.0 * CELL };
        let segments = times.up_to((value * cells) as u64);
        let beyond = |(below, n): &&(f64, f64)| if p < 0.5 { *below > 0.0 } else { below < n };
        let seen = segments.iter().filter(beyond).count();
        let (all, needed) = (segments.len(), segments.len().div_ceil(2));
        (seen < needed).then_some(Why::FewBursts { seen, of: all, needed })
    }

    /// What each segment of the run, or each replication of a study, adds to the number, up to a factor which is common to all; none where
    /// it is not known.
    pub(super) fn by_segment(&self, of: NumberOf) -> Option<Vec<f64>> {
        let records = match &self.0 {
            Of::Records(records) => records,
            Of::Document(told) => return told.by_replication.get(&of.key()).cloned(),
        };
        let off = |parts: Vec<(f64, f64)>, of_all: f64| -> Vec<f64> {
            parts.iter().map(|(part, n)| part - of_all * n).collect()
        };
        Some(match (of.metric.taken, of.aggregate.quantile()) {
            (Taken::Responses, _) => off(records.completed(), self.number(of).value?),
            (Taken::Failures, _) => off(records.failed(), self.number(of).value?),
            (_, None) => {
                let times = records.times(of.metric)?;
                off(times.totals(), times.mean()?)
            }
            (_, Some(p)) => {
                let times = records.times(of.metric)?;
                let up_to = times.up_to(times.quantile(p)?.value as u64);
                let (sum, n) = up_to.iter().fold((0.0, 0.0), |a, s| (a.0 + s.0, a.1 + s.1));
                // Where more lie below, the percentile is smaller.
                off(up_to, sum / n).into_iter().map(|off: f64| -off).collect()
            }
        })
    }
}

/// A number of these values, without an interval.
fn of_times(times: &Sample, of: NumberOf) -> Number {
    let (n, unit) = (times.n(), of.metric.scale());
    match of.aggregate.quantile() {
        None => Number {
            value: times.mean().map(|mean| mean / unit),
            lower_bound: mean_is_lower_bound(times.censored(), n),
            n,
            ..Number::default()
        },
        Some(p) => {
            let quantile = times.quantile(p);
            Number {
                value: quantile.map(|q| q.value / unit),
                lower_bound: quantile.is_some_and(|q| q.lower_bound),
                n,
                ..Number::default()
            }
        }
    }
}

impl Records {
    /// Response times.
    fn response(&self) -> &Sample {
        &self.times[0].1
    }

    /// The values of a metric, where they were kept.
    fn times(&self, metric: Metric) -> Option<&Sample> {
        self.times.iter().find(|(of, _)| *of == metric).map(|(_, times)| times)
    }

    /// Answers and seconds of each segment that was complete.
    fn completed(&self) -> Vec<(f64, f64)> {
        let length = self.seconds / self.filled.max(1) as f64;
        self.answered[..self.filled].iter().map(|&n| (n as f64, length)).collect()
    }

    fn failed(&self) -> Vec<(f64, f64)> {
        self.failures[..self.filled].iter().map(|&(bad, all)| (bad as f64, all as f64)).collect()
    }

    fn degrees(&self) -> f64 {
        let filled = self.failures[..self.filled].iter().filter(|(_, all)| *all > 0).count();
        filled.saturating_sub(1) as f64
    }

    fn interval(&self, of: NumberOf, at: Option<(f64, f64)>) -> Result<Sure, Why> {
        let (errors, degrees) = (at.map(|(errors, _)| errors), self.degrees());
        let unit = of.metric.scale();
        let scaled = |[low, high]: Interval| [low / unit, high / unit];
        let of_parts = |parts: &[(f64, f64)], value: f64| -> Result<Interval, Why> {
            let (error, degrees) = ratio_error(parts, FEWEST_SEGMENTS).ok_or(Why::EmptySegments)?;
            let half = error * errors.unwrap_or_else(|| t975(degrees));
            Ok([(value - half).max(0.0), value + half])
        };
        let nothing = Why::NoObservations;
        let interval = match of.metric.taken {
            Taken::Responses => {
                let answered: u64 = self.answered.iter().sum();
                if answered == 0 && self.seconds > 0.0 {
                    // Segments without a response have no spread.
                    let high = most_of_none(at.map_or(0.95, |(_, confidence)| confidence)) / self.seconds;
                    return Ok(Sure { interval: [0.0, high], degrees: f64::INFINITY });
                }
                of_parts(&self.completed(), answered as f64 / self.seconds)?
            }
            Taken::Failures => {
                let (bad, all) = self.failures.iter().fold((0, 0), |a, s| (a.0 + s.0, a.1 + s.1));
                if all == 0 {
                    return Err(nothing);
                }
                let [low, high] = of_parts(&self.failed(), bad as f64 / all as f64)?;
                // Twenty segments without a failure have no spread, and prove little where there are few requests.
                let exact = clopper_pearson_at(bad, all, at.map_or(0.95, |(_, confidence)| confidence));
                [low.min(exact[0]), high.max(exact[1]).min(1.0)]
            }
            _ => {
                let times = self.times(of.metric).ok_or(nothing)?;
                match of.aggregate.quantile() {
                    None => {
                        let mean = times.mean().ok_or(Why::NoObservations)?;
                        scaled(times.mean_interval_of(mean, errors)?)
                    }
                    // Crowds that were not seen are allowed for by a rule of its own: `few_bursts`.
                    Some(p) => {
                        let errors = errors.unwrap_or_else(|| t975(degrees as usize));
                        scaled(times.interval_of(p, Some(errors))?.0)
                    }
                }
            }
        };
        Ok(Sure { interval, degrees })
    }
}

impl Told {
    /// The standard error of the logarithm over replications, by their relative spread (delta method).
    fn log_error(&self, of: NumberOf) -> Option<f64> {
        let value = self.numbers.get(&of.key())?.value.filter(|value| *value > 0.0)?;
        let each = self.by_replication.get(&of.key()).filter(|_| !of.is_share())?;
        let n = each.len() as f64;
        let mean = each.iter().sum::<f64>() / n;
        let squares: f64 = each.iter().map(|one| (one - mean).powi(2)).sum();
        Some((squares / (n * (n - 1.0))).sqrt() / value)
    }

    fn interval(&self, of: NumberOf, at: Option<(f64, f64)>) -> Result<Sure, Stated<Why>> {
        let key = of.key();
        let number = self.numbers.get(&key);
        let why = || self.why.get(&key).cloned().unwrap_or_else(|| Why::NoRecords.into());
        let number = number.ok_or_else(why)?;
        let (value, [low, high]) = number.value.zip(number.ci95).ok_or_else(why)?;
        let scale = at.map_or(1.0, |(errors, _)| errors / t975(self.degrees as usize));
        let interval = match () {
            () if of.is_share() => {
                let [down, up] = [value - low, high - value].map(|arm| arm * scale);
                // Replications without a failure have no spread, and prove little where there are few requests.
                let bad = (value * number.n as f64).round() as u64;
                let exact = clopper_pearson_at(bad, number.n, at.map_or(0.95, |(_, confidence)| confidence));
                [(value - down).max(0.0).min(exact[0]), (value + up).max(exact[1]).min(1.0)]
            }
            // Times and rates on the logarithm, on which their errors are least skewed.
            () if low > 0.0 => [value * (low / value).powf(scale), value * (high / value).powf(scale)],
            () => [(value - (value - low) * scale).max(0.0), value + (high - value) * scale],
        };
        Ok(Sure { interval, degrees: self.degrees })
    }
}

/// Why a summary withholds the interval of that number: a run without a steady state, or too short for it. Of a percentile that the
/// summary does not tell, the reason of the next smaller one that it does.
fn withheld(of: NumberOf, not_computed: &NotComputed) -> Option<Stated<Why>> {
    let name = match of.aggregate {
        // Where there is no steady state, no number has an interval.
        _ if !of.metric.is_distribution() => {
            let mut reason = not_computed.get(&Metric::RESPONSE.interval_path(&Aggregate::Mean.key()));
            let none = reason.take_if(|why| why.why == Why::FixedWork || why.why.is_against_a_steady_state());
            return none.cloned();
        }
        Aggregate::Percentile(percent) => {
            let told = PERCENTILES.into_iter().rfind(|told| *told <= percent);
            Aggregate::Percentile(told.unwrap_or(50.0)).key()
        }
        other => other.key(),
    };
    let metric = of.metric;
    let why = not_computed.get(&metric.interval_path(&name)).or_else(|| not_computed.get(&metric.path()))?;
    // What chance keeps from having an interval is decided anew.
    let of_chance = matches!(
        why.why,
        Why::OneSide { .. } | Why::BeyondLargest { .. } | Why::EndBeyondLargest { .. } | Why::EndGivenUp
    );
    (!of_chance).then(|| why.clone())
}
