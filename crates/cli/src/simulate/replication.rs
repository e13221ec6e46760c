//! One play of a study: what is known of it when it has ended, and its numbers once it is known what to leave out.
//!
//! Deliberately absent: plays by recursion (`sim::recursion`), which would be faster where they can be had but see nothing of
//! the model's inside: a point tells how busy it is, what grows in it, and whether Little's law holds.

use super::course::Course;
use super::inside::Seen;
use super::sink::{Counts, Sink, unless_abandoned};
use crate::settings::Play;
use base::Nanos;
use base::random::{Stream, streams};
use sim::{Network, Observed, Played};
use stats::steady::{Cut, Histogram, Prefix};
use stats::study::WarmUp;
use stats::summary::Interval;
use workload::Plan;

/// Numbers of the response time that are told, and the shares of those that are percentiles.
pub const NUMBERS: [(&str, Option<f64>); 7] = [
    ("mean", None),
    ("p50", Some(0.5)),
    ("p90", Some(0.9)),
    ("p95", Some(0.95)),
    ("p99", Some(0.99)),
    ("p999", Some(0.999)),
    ("max", None),
];

/// Numbers of a run, in the order of [`NUMBERS`].
pub type Numbers = [Number; NUMBERS.len()];

/// A number of one run, and its interval within the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Number {
    /// In seconds.
    pub value: f64,
    /// By the parts of the run; none where that cannot be had.
    pub interval: Option<Interval>,
}

/// One play.
#[derive(Clone, Debug)]
pub struct Replication {
    /// Requests.
    pub counts: Counts,
    /// Length of the measured phase, of fixed work until its last answer, in seconds.
    pub seconds: f64,
    /// Whether a steady state was found, by MSER; none where there is none to be found, or too little to tell.
    pub steady: Option<bool>,
    /// What the model saw of itself.
    pub seen: Seen,
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
    /// Plays it. None if it was given up because `stop` holds.
    ///
    /// # Errors
    /// A model that cannot be.
    pub fn play(
        what: &Play,
        seed: u64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> anyhow::Result<Option<(Replication, Course)>> {
        let play = Play { plan: Plan { seed, ..what.plan.clone() }, ..what.clone() };
        let generator = play.generator()?;
        let mut network = Network::new(&play.model, &play.plan)?;
        let mut sink = Sink::new(&play.plan, stop);
        let played = unless_abandoned(|| {
            sim::play(&play.plan, play.plan.shard, play.limits, &mut network, generator, &mut sink)
        });
        let of = |played: Played| Replication::of(&play.plan, sink, &network.observed(played.ended));
        Ok(played.map(of))
    }

    fn of(plan: &Plan, sink: Sink<'_>, observed: &Observed) -> (Replication, Course) {
        let Sink { course, counts, .. } = sink;
        let end = if plan.is_fixed_work() { counts.last.min(plan.end()) } else { plan.end() };
        let steady = match course.cut() {
            _ if plan.is_fixed_work() => None,
            Cut::Found(_) => Some(true),
            Cut::NotFound(_) => Some(false),
            Cut::TooFew => None,
        };
        let seen = Seen::of(observed, &(plan.measured_from..end));
        (Replication { counts, seconds: (end - plan.measured_from).as_secs_f64(), steady, seen }, course)
    }

    /// So many per second of the measured phase.
    pub fn per_second(&self, n: u64) -> Option<f64> {
        (self.seconds > 0.0).then(|| n as f64 / self.seconds)
    }

    /// Share of the requests that did not end well.
    pub fn failed(&self) -> f64 {
        let Counts { n, ok, .. } = self.counts;
        if n == 0 { 0.0 } else { (n - ok) as f64 / n as f64 }
    }

    /// Share of its requests that is left out, `left_out` of the measured phase among them.
    pub fn cut_share(&self, left_out: u64) -> f64 {
        let Counts { n, before, .. } = self.counts;
        if n + before == 0 { 0.0 } else { (before + left_out.min(n)) as f64 / (before + n) as f64 }
    }
}

/// The numbers of a run without its first requests as far as `cut` says, and the response times that they are of; none
/// where nothing is left. Intervals within the run are told if `intervals` is set, and none without a steady state.
pub fn numbers(course: &Course, left_out: &Cut, intervals: bool) -> Option<(Numbers, Histogram)> {
    let prefix = match left_out {
        Cut::Found(prefix) => *prefix,
        Cut::NotFound(_) | Cut::TooFew => Prefix { batches: 0, observations: 0, share: 0.0 },
    };
    let intervals = intervals && matches!(left_out, Cut::Found(_));
    let after = course.after(prefix.observations);
    let mean = course.mean_after(prefix.observations)?;
    let max = after.all.max()? as f64 / 1e9;
    let mut numbers = [Number { value: max, interval: None }; NUMBERS.len()];
    for (number, (name, share)) in numbers.iter_mut().zip(NUMBERS) {
        if let Some(p) = share {
            let interval = if intervals { after.quantile_interval(p) } else { None };
            *number = Number { value: after.quantile(p)?, interval };
        } else if name == "mean" {
            let means = if intervals { course.means(left_out) } else { None };
            *number = Number { value: mean, interval: means.map(|means| means.interval) };
        }
    }
    Some((numbers, after.all))
}
