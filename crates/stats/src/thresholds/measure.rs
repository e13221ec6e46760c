//! What thresholds need beyond the summary, and their values: all that is kept of a request once more for each step that
//! a threshold names, and any percentile of it.
//!
//! Deliberately absent: what follows from a value (`judge`).

use super::ends::{EndsFrom, Known, Vouch};
use super::evaluate::judge;
use super::sessions::OverBounds;
use super::{Aggregate, Threshold};
use crate::arrivals::ArrivalsKept;
use crate::cells::{Cells, Fine};
use crate::delays::Ended;
use crate::effect::Found;
use crate::events::EventsKept;
use crate::intervals;
use crate::metric::{Taken, threshold_interval};
use crate::requests::Requests;
use crate::responses::Sample;
use crate::summary::{
    Ends, Interval, NotComputed, Open, ThresholdOutcome, ThresholdResult, Why, mean_is_lower_bound,
};
use headway_base::{Nanos, Record};
use headway_redact::Cleared;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The thresholds of a run and what they need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Thresholds {
    all: Vec<Threshold>,
    steps: Vec<Cleared>,
    /// By index of the step; none where no threshold names it, or where it is the only one.
    by_step: Vec<Option<Box<Requests>>>,
    over: OverBounds,
    /// Which threshold was crossed while the run lasted, and when.
    ended: Option<(usize, Nanos)>,
}

/// What thresholds are measured on.
pub(crate) struct MetricsView<'a> {
    requests: &'a Requests,
    arrivals: &'a ArrivalsKept,
    filled: usize,
    seconds: f64,
    /// What is known of what the generator added to response times.
    known: Known,
    /// What the load rules say of the generator.
    vouch: Vouch,
    /// What the generator's delays did to the numbers of all steps, where that is told.
    effect: Option<&'a Found>,
    /// Share of the plan that may be unsent.
    tolerated: f64,
    timeout: Option<Nanos>,
    /// Whether the run is a simulation, which does not have every metric.
    simulated: bool,
    /// The events of its responses.
    events: Option<&'a EventsKept>,
}

impl<'a> MetricsView<'a> {
    /// With so many complete segments, in so many seconds of the measured phase.
    pub fn new(
        requests: &'a Requests,
        arrivals: &'a ArrivalsKept,
        filled: usize,
        seconds: f64,
    ) -> MetricsView<'a> {
        let vouch = Vouch::default();
        MetricsView {
            requests,
            arrivals,
            filled,
            seconds,
            known: Known::Nothing,
            vouch,
            effect: None,
            tolerated: 1.0,
            timeout: None,
            simulated: false,
            events: None,
        }
    }

    /// With both ends of response times, by what is `known`, of a load of which the rules say that.
    pub fn with_ends(self, known: Known, vouch: Vouch, tolerated: f64) -> MetricsView<'a> {
        MetricsView { known, vouch, tolerated, ..self }
    }

    /// With what the generator's delays did to the numbers of all steps together.
    pub fn with_effect(self, effect: Option<&'a Found>) -> MetricsView<'a> {
        MetricsView { effect, ..self }
    }

    /// With the time after which a request without a response fails.
    pub fn with_timeout(self, timeout: Option<Nanos>) -> MetricsView<'a> {
        MetricsView { timeout, ..self }
    }

    /// With the events of responses.
    pub fn with_events(self, events: &'a EventsKept) -> MetricsView<'a> {
        MetricsView { events: Some(events), ..self }
    }

    /// Of a simulation, if it is one.
    pub fn of_simulation(self, simulated: bool) -> MetricsView<'a> {
        MetricsView { simulated, ..self }
    }

    fn ends_of<'b>(&'b self, requests: &'b Requests) -> EndsFrom<'b> {
        let late = self.arrivals.segments.iter().map(|segment| segment.late).sum();
        EndsFrom {
            requests,
            vouch: self.vouch,
            known: self.known,
            effect: self.effect,
            whole: std::ptr::eq(requests, self.requests),
            late,
            tolerated: self.tolerated,
            timeout: self.timeout,
        }
    }
}

/// A value with all that is known of it.
struct Statistic {
    value: Option<f64>,
    lower_bound: bool,
    /// None where the aggregate has none at all.
    interval: Option<Result<Interval, Why>>,
    /// Between what the number of the planned load lies, where that is known.
    ends: Option<Ends>,
    /// Where it has no interval: what it is at least and at most.
    bounds: [Option<f64>; 2],
    n: u64,
}

impl Statistic {
    fn plain(value: Option<f64>, n: u64) -> Statistic {
        Statistic {
            value,
            lower_bound: false,
            interval: None,
            ends: value.map(Ends::exactly),
            bounds: [None; 2],
            n,
        }
    }
}

/// Samples are costly to lay out, and thresholds like to ask for several numbers of one.
type Samples = BTreeMap<(&'static str, Option<usize>), Sample>;

impl Thresholds {
    /// For a load with `sessions` of several requests, or without.
    pub fn new(all: Vec<Threshold>, labels: &[Cleared], compares: bool, sessions: bool) -> Thresholds {
        let named = |label: &Cleared| all.iter().any(|t| t.step.as_ref() == Some(label));
        let kept = |label| named(label).then(|| Box::new(Requests::new(0, compares)));
        let by_step = if labels.len() > 1 && labels.iter().any(named) {
            labels.iter().map(kept).collect()
        } else {
            Vec::new()
        };
        let over = if sessions { OverBounds::new(&all, labels) } else { OverBounds::default() };
        Thresholds { steps: labels.to_vec(), by_step, all, over, ended: None }
    }

    /// Takes a request, whenever it was due.
    #[inline]
    pub fn of_session(&mut self, record: &Record) {
        self.over.request(record);
    }

    /// Takes the row of a session; whether it is counted.
    pub fn session(&mut self, record: &Record, counted: bool) {
        self.over.session(record, counted);
    }

    #[inline]
    pub fn push(&mut self, record: &Record, segment: usize) {
        if let Some(Some(kept)) = self.by_step.get_mut(usize::from(record.step)) {
            kept.push(record, segment);
        }
    }

    /// See [`Requests::push_least`].
    #[inline]
    pub fn push_least(&mut self, ended: &Ended, least: Nanos) {
        if let Some(Some(kept)) = self.by_step.get_mut(usize::from(ended.step)) {
            kept.push_least(ended, least);
        }
    }

    /// Whether one was crossed while the run lasted.
    pub fn ended_run(&self) -> bool {
        self.ended.is_some()
    }

    /// See [`crate::Analysis::crossed`]; `since` is the time since the measured phase began.
    pub fn crossed(&mut self, sight: &MetricsView, now: Nanos, since: Nanos) -> Option<ThresholdResult> {
        let mut samples = Samples::new();
        for (i, threshold) in self.all.iter().enumerate() {
            if threshold.abort_after.is_none_or(|delay| since < delay) || threshold.may_recover() {
                continue;
            }
            let mut result = self.measure(threshold, sight, &mut samples).0;
            judge(&mut result, Vouch::default(), 0.0);
            if result.outcome == ThresholdOutcome::Crossed {
                self.ended = Some((i, now));
                return Some(result);
            }
        }
        None
    }

    /// Every threshold judged for a load with this verdict; why an interval is missing goes to `not_computed`.
    pub fn results(
        &self,
        sight: &MetricsView,
        cut_short: bool,
        not_computed: &mut NotComputed,
    ) -> Vec<ThresholdResult> {
        let mut samples = Samples::new();
        let of = |(i, threshold): (usize, &Threshold)| {
            let ended = self.ended.filter(|&(ended, _)| cut_short && ended == i);
            let ended_run_at = ended.map(|(_, at)| at.as_secs_f64());
            let events = sight.events.is_some_and(|events| !events.is_empty());
            if let Some(why) = threshold.metric.not_in_simulation(events).filter(|_| sight.simulated) {
                let (open, reason) = (Some(Open::Data), Some(why.into()));
                let sessions_over = self.over.of(i);
                return ThresholdResult { open, reason, sessions_over, ended_run_at, ..threshold.blank() };
            }
            let (mut result, missing) = self.measure(threshold, sight, &mut samples);
            if let Some(reason) = missing {
                not_computed.insert(threshold_interval(i), reason.into());
            }
            result.sessions_over = self.over.of(i);
            result.ended_run_at = ended_run_at;
            judge(&mut result, sight.vouch, self.unsent(threshold, sight));
            result
        };
        self.all.iter().enumerate().map(of).collect()
    }

    /// The numbers of a threshold, and why it has no interval where it could have had one.
    fn measure(
        &self,
        threshold: &Threshold,
        sight: &MetricsView,
        samples: &mut Samples,
    ) -> (ThresholdResult, Option<Why>) {
        let statistic = self.statistic(threshold, sight, samples);
        let mut result = threshold.blank();
        result.value = statistic.value;
        result.lower_bound = statistic.lower_bound;
        result.ends = statistic.ends;
        [result.at_least, result.at_most] = statistic.bounds;
        result.n = statistic.n;
        let missing = match statistic.interval {
            Some(Ok(interval)) => {
                result.interval = Some(interval);
                None
            }
            Some(Err(reason)) => Some(reason),
            None => None,
        };
        (result, missing)
    }

    fn statistic(&self, threshold: &Threshold, sight: &MetricsView, samples: &mut Samples) -> Statistic {
        let Some((step, requests)) = self.requests(threshold, sight) else {
            return Statistic::plain(None, 0);
        };
        let ends = sight.ends_of(requests);
        let metric = threshold.metric;
        match metric.taken {
            Taken::Failures => failed(&ends, threshold.aggregate, sight.filled),
            Taken::Starts => started(requests, threshold.aggregate, sight.seconds),
            Taken::Lag => whole(&sight.arrivals.lag, threshold.aggregate),
            Taken::Blocked => whole(&requests.blocked, threshold.aggregate),
            Taken::Responses => Statistic::plain(None, 0),
            Taken::Response { .. } | Taken::Row(_) | Taken::Event(_) => {
                let laid_out = || match metric.taken {
                    Taken::Event(time) => sight.events.map(|events| events.sample(time, step, sight.filled)),
                    _ => requests.sample(metric, sight.filled),
                };
                let sample = match samples.entry((metric.name, step)) {
                    Entry::Occupied(laid) => laid.into_mut(),
                    Entry::Vacant(place) => match laid_out() {
                        Some(laid) => place.insert(laid),
                        None => return Statistic::plain(None, 0),
                    },
                };
                let unit = metric.scale();
                let mut statistic = of_sample(sample, threshold.aggregate, unit);
                if let Some(value) = statistic.value {
                    statistic.ends = ends.of_sample(metric, threshold.aggregate, sample, value, unit);
                    // What the number without delays keeps to, the number as measured does by as much more.
                    let low = statistic.ends.map_or(value, |ends| ends.low);
                    let raised = if low > 0.0 { value / low } else { 1.0 };
                    if !matches!(statistic.interval, Some(Ok(_))) {
                        statistic.bounds = bounds(sample, threshold, unit, raised);
                    }
                }
                statistic
            }
        }
    }

    /// The step of a threshold, and its requests; none of a step that is not there.
    fn requests<'b>(
        &'b self,
        threshold: &Threshold,
        sight: &'b MetricsView,
    ) -> Option<(Option<usize>, &'b Requests)> {
        let Some(label) = &threshold.step else { return Some((None, sight.requests)) };
        let step = self.steps.iter().position(|known| known == label)?;
        let kept = self.by_step.get(step).and_then(|kept| kept.as_deref());
        Some((Some(step), kept.unwrap_or(sight.requests)))
    }

    /// Share of the requests of a threshold that this machine did not send.
    fn unsent(&self, threshold: &Threshold, sight: &MetricsView) -> f64 {
        self.requests(threshold, sight).map_or(0.0, |(_, requests)| sight.ends_of(requests).unsent())
    }
}

fn of_sample(sample: &Sample, aggregate: Aggregate, unit: f64) -> Statistic {
    let n = sample.n();
    let scaled = |[low, high]: Interval| [low / unit, high / unit];
    match aggregate {
        Aggregate::Percentile(percentile) => {
            let p = percentile / 100.0;
            let Some(quantile) = sample.quantile(p) else { return Statistic::plain(None, n) };
            Statistic {
                value: Some(quantile.value / unit),
                lower_bound: quantile.lower_bound,
                interval: Some(sample.interval(p).map(|(interval, _)| scaled(interval))),
                ends: None,
                bounds: [None; 2],
                n,
            }
        }
        Aggregate::Mean => {
            let Some(mean) = sample.mean() else { return Statistic::plain(None, n) };
            Statistic {
                value: Some(mean / unit),
                lower_bound: mean_is_lower_bound(sample.censored(), n),
                interval: Some(sample.mean_interval(mean).map(scaled)),
                ends: None,
                bounds: [None; 2],
                n,
            }
        }
        Aggregate::Min => Statistic::plain(sample.min().map(|x| x / unit), n),
        Aggregate::Max => {
            let max = sample.max();
            let lower_bound = max.is_some_and(|q| q.lower_bound);
            Statistic { lower_bound, ..Statistic::plain(max.map(|q| q.value / unit), n) }
        }
        Aggregate::Rate | Aggregate::Count => Statistic::plain(Some(n as f64), n),
    }
}

/// Of a histogram over the whole phase: no intervals, for it is not kept by segment.
fn whole(kept: &Fine, aggregate: Aggregate) -> Statistic {
    let cells = kept.cells();
    let n = cells.n();
    let value = match aggregate {
        _ if n == 0 => None,
        Aggregate::Percentile(p) => cells.quantile(p / 100.0).map(|x| x.min(kept.max) as f64 / 1e9),
        Aggregate::Mean => Some(mean(&cells) / 1e9),
        Aggregate::Min => cells.iter().next().map(|cell| cell.low as f64 / 1e9),
        Aggregate::Max => Some(kept.max as f64 / 1e9),
        Aggregate::Rate | Aggregate::Count => Some(n as f64),
    };
    Statistic::plain(value, n)
}

/// By the cells' middles, to 0.05 %.
fn mean(cells: &Cells) -> f64 {
    let sum: f64 = cells.iter().map(|c| (c.low + (c.high - c.low) / 2) as f64 * c.count as f64).sum();
    sum / cells.n() as f64
}

/// Percentiles that bound larger ones from below.
const SMALLER: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// What a percentile without an interval is at least and at most, as far as its limit asks: by the share of the requests up to the limit
/// (for the lower side, up to the limit `raised` as much as the generator may have raised the number), and by the lower end of a smaller
/// percentile.
fn bounds(sample: &Sample, threshold: &Threshold, unit: f64, raised: f64) -> [Option<f64>; 2] {
    let Aggregate::Percentile(percentile) = threshold.aggregate else { return [None; 2] };
    let limit = threshold.limit * unit;
    let at = |x: f64| if x.is_finite() && x >= 0.0 { x.min(u64::MAX as f64) as u64 } else { u64::MAX };
    let beyond = at(limit * raised).saturating_add(1);
    let surely = sample.share_interval(beyond).is_some_and(|[_, high]| high < percentile / 100.0);
    let mut smaller = SMALLER.into_iter().rev().filter(|&below| below < percentile);
    let of_smaller = smaller.find_map(|below| sample.interval(below / 100.0).ok()).map(|([low, _], _)| low);
    let at_least = [surely.then_some(beyond as f64), of_smaller].into_iter().flatten().reduce(f64::max);
    let within = at(limit).saturating_sub(1);
    let kept = sample.censored() == 0
        && sample.share_interval(within).is_some_and(|[low, _]| low >= percentile / 100.0);
    [at_least, kept.then_some(within as f64)].map(|bound| bound.map(|x| x / unit))
}

/// So sure is a share of too few segments for an interval, as of independent requests, which they may not be.
pub(super) const SURE: f64 = 0.999;

fn failed(ends: &EndsFrom, aggregate: Aggregate, filled: usize) -> Statistic {
    let r = ends.requests;
    // What was never sent has not failed: the load rules speak of it.
    let all = (0..intervals::SEGMENTS).map(|segment| r.failures(segment));
    let (failures, n) = all.fold((0, 0), |sum, (bad, n)| (sum.0 + bad, sum.1 + n));
    if n == 0 {
        return Statistic::plain(None, 0);
    }
    let ends = ends.of_failures(failures, n, aggregate);
    if aggregate == Aggregate::Count {
        return Statistic { ends, ..Statistic::plain(Some(failures as f64), n) };
    }
    let segments: Vec<(u64, u64)> = (0..filled).map(|segment| r.failures(segment)).collect();
    let interval = intervals::share(&segments).map(|(_, interval)| interval);
    let few = || Why::Incomplete { filled, of: intervals::SEGMENTS };
    let bounds = match interval {
        Some(_) => [None; 2],
        None => intervals::clopper_pearson_at(failures, n, SURE).map(Some),
    };
    Statistic {
        value: Some(failures as f64 / n as f64),
        lower_bound: false,
        interval: Some(interval.ok_or_else(few)),
        ends,
        bounds,
        n,
    }
}

fn started(r: &Requests, aggregate: Aggregate, seconds: f64) -> Statistic {
    let n = r.sent();
    let value = match aggregate {
        Aggregate::Count => Some(n as f64),
        _ => (seconds > 0.0).then(|| n as f64 / seconds),
    };
    Statistic::plain(value, n)
}
