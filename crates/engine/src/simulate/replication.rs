//! One play of a study: what is known of it when it has ended, and its numbers once it is known what to leave out.
//!
//! It is played by recursion where that is the same and can be had, in half the time.

use super::Play;
use super::course::{OutputSeries, Trimmed};
use super::demands::demanded;
use super::inside::{Seen, looked_at_until, simulation};
use super::loads::Loads;
use super::period::Period;
use super::pooled::Run;
use super::sink::{Counts, Sink};
use super::times::CensoredHistogram;
use headway_base::Nanos;
use headway_base::random::{Stream, streams};
use headway_sim::{Network, Observed, Played, lindley};
use headway_stats::steady::{Cut, Prefix};
use headway_stats::study::WarmUp;
use headway_stats::summary::Interval;
use headway_stats::{Growth, Threshold};
use headway_workload::{Plan, Shard};
use serde::{Deserialize, Serialize};

/// Numbers of the response time that are told, and the shares of those that are percentiles.
pub const NUMBERS: [(&str, Option<f64>); 7] = [
    ("mean", None),
    ("p50", Some(0.5)),
    ("p90", Some(0.9)),
    ("p95", Some(0.95)),
    ("p99", Some(0.99)),
    ("p999", Some(0.999)),
    (MAX, None),
];

/// The largest response time.
pub const MAX: &str = "max";

/// Those that are told of the requests that ended well alone.
pub const OF_WELL: [(&str, Option<f64>); 3] = [("mean", None), ("p50", Some(0.5)), ("p99", Some(0.99))];

/// Numbers of a run without its warm-up.
#[derive(Clone, PartialEq, Debug)]
pub struct Numbers {
    /// Of all requests, in the order of [`NUMBERS`].
    pub all: [Number; NUMBERS.len()],
    /// How many these were.
    pub n: u64,
    /// Of those that ended well, in the order of [`OF_WELL`]; none where there was none.
    pub well: Option<[Number; OF_WELL.len()]>,
    /// How many ended well.
    pub n_well: u64,
    /// Correlation of neighbouring batches, and how many there are; none where there are too few of them.
    pub lag1: Option<(f64, usize)>,
    /// What thresholds speak of, in their order; none where there was nothing to observe.
    pub demanded: Vec<Option<Number>>,
}

/// A number of one run, and its interval within the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Number {
    /// In seconds; of a threshold in its unit.
    pub value: f64,
    /// By the parts of the run; none where that cannot be had.
    pub interval: Option<Interval>,
    /// Whether it is only known to be at least this; it has no interval then.
    pub lower_bound: bool,
}

/// One play.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Replication {
    /// Requests.
    pub counts: Counts,
    /// Length of the measured phase, of fixed work until its last answer, in seconds.
    pub seconds: f64,
    /// Whether a steady state was found, by MSER; none where there is none to be found, or too little to tell.
    pub steady: Option<bool>,
    /// What the model saw of itself.
    pub seen: Seen,
    /// By which the number of requests in each part grew in the second half of the measured phase, where no warm-up reaches;
    /// none of fixed work, or of too short a time.
    pub growth: Vec<Option<Growth>>,
}

/// Seed of replication `r`: the study's own for the first, so that it is what a single run plays. All below 2^53, so that each
/// can be played alone.
pub fn seed(own: u64, r: u64) -> u64 {
    if r == 0 { own } else { Stream::new(own, streams::DERIVED).bits(r, 0) >> 11 }
}

/// Whose word on the warm-up counts.
pub fn warm_up(plan: &Plan) -> WarmUp {
    match () {
        () if plan.is_fixed_work() => WarmUp::Nothing,
        () if plan.measured_from > Nanos::ZERO => WarmUp::Phases,
        () => WarmUp::Mser,
    }
}

impl Replication {
    /// Plays it. None if it was stopped because `stop` holds.
    ///
    /// # Errors
    /// A model that cannot be.
    pub fn play(
        what: &Play,
        seed: u64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> anyhow::Result<Option<(Replication, OutputSeries)>> {
        let play = Play { plan: Plan { seed, ..what.plan.clone() }, ..what.clone() };
        let generator = play.generator()?;
        let Play { plan, limits, .. } = &play;
        let mut network = Network::new(&play.model, plan)?;
        let mut sink = Sink::new(plan, stop);
        let suits =
            generator.is_ideal() && plan.shard == Shard::WHOLE && lindley::supports_network(plan, &network);
        let by_recursion = suits.then(|| lindley::play_through(plan, &mut network, *limits, &mut sink));
        let played = match by_recursion {
            Some(Ok(played)) => played,
            acted_or_unsuited => {
                if acted_or_unsuited.is_some() {
                    network = Network::new(&play.model, plan)?;
                    sink = Sink::new(plan, stop);
                }
                play.play_to(&mut network, generator, &mut sink)
            }
        };
        if played.stopped {
            return Ok(None);
        }
        let seen = |played: Played| network.observed(looked_at_until(plan, played.ended));
        let period = Period::of(plan, &play.model);
        Ok(Some(Replication::of(plan, period, sink, &seen(played))))
    }

    fn of(
        plan: &Plan,
        period: Option<Period>,
        sink: Sink<'_>,
        observed: &Observed,
    ) -> (Replication, OutputSeries) {
        let Sink { course, counts, .. } = sink;
        let end = if plan.is_fixed_work() { counts.last.min(plan.end()) } else { plan.end() };
        let steady = match course.cut(period) {
            _ if plan.is_fixed_work() => None,
            Cut::Found(_) => Some(true),
            Cut::NotFound(_) => Some(false),
            Cut::TooFew => None,
        };
        let seen = Seen::of(observed);
        let seconds = (end - plan.measured_from).as_secs_f64();
        let until = end.as_secs_f64();
        let parts = simulation(observed, &Loads::default()).parts;
        let period_s = period.map(|period| period.length.as_secs_f64());
        let growth = parts.iter().map(|part| Growth::of(part, until - seconds / 2.0, until, period_s));
        let growth = if plan.is_fixed_work() { Vec::new() } else { growth.collect() };
        (Replication { counts, seconds, steady, seen, growth }, course)
    }

    /// So many per second of the measured phase.
    pub fn per_second(&self, n: u64) -> Option<f64> {
        (self.seconds > 0.0).then(|| n as f64 / self.seconds)
    }

    /// Requests that did not end well, and all.
    pub fn failed(&self) -> (u64, u64) {
        let Counts { n, ok, .. } = self.counts;
        (n - ok, n)
    }

    /// Share of its requests that is left out, `left_out` of the measured phase among them.
    pub fn cut_share(&self, left_out: u64) -> f64 {
        let Counts { n, before, .. } = self.counts;
        if n + before == 0 { 0.0 } else { (before + left_out.min(n)) as f64 / (before + n) as f64 }
    }
}

/// The numbers of one of so many runs without its first requests as far as `cut` says, and what is left of it; none
/// where nothing is. Intervals of means within the run are told of a single one, and none without a steady state; what the
/// thresholds speak of is told of this `run`.
pub fn numbers(
    course: &OutputSeries,
    left_out: &Cut,
    period: Option<Period>,
    replications: u64,
    thresholds: &[Threshold],
    run: &Replication,
) -> Option<(Numbers, Trimmed, Run)> {
    let nothing = Prefix { batches: 0, observations: 0, share: 0.0 };
    let prefix = match left_out {
        Cut::Found(prefix) => *prefix,
        Cut::NotFound(_) | Cut::TooFew => nothing,
    };
    let intervals = replications == 1 && matches!(left_out, Cut::Found(_));
    let after = course.after(prefix.observations, intervals);
    let mean = course.mean_after(prefix.observations)?;
    let max = after.all.max()?;
    let means = course.means(&Cut::Found(prefix), period);
    let within = means.filter(|_| intervals).map(|means| means.interval);
    let mean = Number { value: mean, interval: within, lower_bound: after.all.mean_is_lower_bound() };
    let quantiles = after.all.quantiles(NUMBERS.map(|(_, share)| share.unwrap_or(1.0)));
    let exact = Run::of(&after, replications);
    let mut all = [Number { value: max.0, interval: None, lower_bound: max.1 }; NUMBERS.len()];
    for ((number, (name, share)), quantile) in all.iter_mut().zip(NUMBERS).zip(quantiles) {
        if let Some(p) = share {
            *number = Number { value: exact.percentile(p, false)?, interval: None, lower_bound: quantile?.1 };
        } else if name == "mean" {
            *number = mean;
        }
    }
    let demanded = thresholds.iter().map(|threshold| demanded(threshold, run, &after, mean, intervals));
    let numbers = Numbers {
        all,
        // What does not fill a batch belongs to the mean too.
        n: course.n() - prefix.observations.min(course.n()),
        n_well: after.all.well().n(),
        well: of_well(&after, &exact, intervals),
        lag1: means.map(|means| (means.lag1, means.segments)),
        demanded: demanded.collect(),
    };
    Some((numbers, after, exact))
}

/// The same of the requests that ended well.
fn of_well(after: &Trimmed, exact: &Run, intervals: bool) -> Option<[Number; OF_WELL.len()]> {
    let mut all = [Number { value: 0.0, interval: None, lower_bound: false }; OF_WELL.len()];
    for (number, (_, share)) in all.iter_mut().zip(OF_WELL) {
        let mean = |times: &CensoredHistogram| times.well().mean().map(|ns| ns / 1e9);
        number.value = match share {
            Some(p) => exact.percentile(p, true)?,
            None => mean(&after.all)?,
        };
        number.interval =
            if intervals && share.is_none() { after.interval(number.value, mean) } else { None };
    }
    Some(all)
}
