//! A single simulated run: the same client, the same statistics and the same run folder as a live one.

use super::Play;
use super::course::OutputSeries;
use super::inside::{looked_at_until, simulation};
use super::loads::Loads;
use super::order::{How, InOrder};
use super::period::Period;
use super::steady_state::{SteadyEvidence, fastest, why_not};
use crate::collect::{Collector, Observer};
use crate::spec::Kept;
use crate::{Control, Error, Manifest, RunResult, RunSpec};
use headway_base::{Batch, Batcher, Kind, Nanos, Record, RecordSink, ResponseEvent, Start};
use headway_sim::Network;
use headway_stats::steady::{Cut, Prefix};
use headway_stats::summary::{ModelPart, Simulation, Source, Steady, Unsteady};
use headway_stats::{Facts, Growth};
use headway_workload::client::Streamed;
use headway_workload::model::Model;
use headway_workload::{Limits, Plan};
use std::cell::RefCell;
use std::ops::Range;

/// Rows that are handed to the statistics at once.
const ROWS: usize = 4_096;

/// What a simulated run needs besides its specification.
#[derive(Clone, Debug)]
pub struct Sim {
    /// What stands in the target's place.
    pub model: Model,
    /// Whether the connection cap was asked for: a simulated generator has none of its own, and then shows none.
    pub capped: bool,
    /// What is wanted of the responses to each step, by its number.
    pub streamed: Vec<Streamed>,
}

impl Sim {
    /// A run against that model.
    pub fn new(model: Model) -> Sim {
        Sim { model, capped: false, streamed: Vec::new() }
    }

    /// That plan against its model.
    pub(crate) fn of(&self, plan: Plan, limits: Limits) -> Play {
        Play { plan, limits, model: self.model.clone(), streamed: self.streamed.clone() }
    }

    pub(crate) fn play(
        &self,
        spec: &RunSpec,
        cancel: &Control,
        observers: &mut [&mut dyn Observer],
    ) -> Result<RunResult, Error> {
        let plan = &spec.plan;
        let mut manifest = Manifest::new(spec, None, None, 0);
        if !self.capped {
            manifest.asked.connections = None;
        }
        let play = self.of(plan.clone(), spec.limits);
        let generator = play.generator().map_err(Error::usage)?;
        let mut network = Network::new(&play.model, plan).map_err(Error::usage)?;
        let kept = Kept::make(spec, None)?;
        let log = kept.begin(spec, &manifest)?;
        let collector = Kept::collector(spec, &manifest, log, 1, observers);
        let taking = RefCell::new(Taking { collector, warm_up: InTheCourse::new(plan) });
        let mut sink = Until { to: Batcher::new(0, ROWS, |batch| taking.borrow_mut().take(batch)), cancel };
        let played = play.play_to(&mut network, generator, &mut sink);
        drop(sink);
        let (ended, interrupted) = (played.ended, played.stopped);
        let until = if interrupted { ended } else { looked_at_until(plan, ended) };
        let Taking { collector, warm_up } = taking.into_inner();
        let loads = Loads::of(plan, &play.model);
        let inside = simulation(&network.observed(until), &loads);
        let steady = match interrupted {
            true => Steady { why_not: Some(Unsteady::Interrupted.into()), ..Steady::default() },
            false => steady(plan, &self.model, &warm_up, &loads, &inside.parts),
        };
        let collected = collector.finish(ended, interrupted.then_some(ended));
        let facts = Facts {
            interrupted_at: interrupted.then_some(ended),
            simulation: Some(Simulation { steady, ..inside }),
            ..manifest.facts(Source::Sim)
        };
        Ok(kept.close(collected, facts, None, |_| ()))
    }
}

/// A sink that has enough when the run is cancelled.
struct Until<'a, S> {
    to: S,
    cancel: &'a Control,
}

impl<S: RecordSink> RecordSink for Until<'_, S> {
    #[inline]
    fn start(&mut self, start: Start) {
        self.to.start(start);
    }

    #[inline]
    fn record(&mut self, record: Record) {
        self.to.record(record);
    }

    fn event(&mut self, event: ResponseEvent) {
        self.to.event(event);
    }

    fn users(&mut self, at: Nanos, change: i32) {
        self.to.users(at, change);
    }

    fn stood_still(&mut self, from: Nanos, to: Nanos) {
        self.to.stood_still(from, to);
    }

    fn tick(&mut self, now: Nanos) {
        self.to.tick(now);
    }

    #[inline]
    fn has_enough(&self) -> bool {
        self.cancel.asked() > 0
    }

    fn finish(&mut self, now: Nanos) {
        self.to.finish(now);
    }
}

/// Where batches go.
struct Taking<'a, 'b> {
    collector: Collector<'a, 'b>,
    warm_up: InTheCourse,
}

/// The course of the measured phase, from records in the order in which they end.
struct InTheCourse {
    measured: Range<Nanos>,
    order: InOrder,
    course: OutputSeries,
    /// Of the response times, those that are censored.
    censored: u64,
}

impl InTheCourse {
    fn new(plan: &Plan) -> InTheCourse {
        // An arrival may be due at the very end, as the last of evenly spaced ones is.
        let measured = plan.measured_from..plan.end() + Nanos(1);
        InTheCourse { measured, order: InOrder::default(), course: OutputSeries::default(), censored: 0 }
    }

    fn take(&mut self, batch: &Batch) {
        batch.starts.iter().for_each(|start| self.order.start(start));
        for record in batch.records.iter().filter(|record| record.kind == Kind::Request) {
            self.order.record(record, |ended| {
                if self.measured.contains(&ended.arrived) {
                    self.censored += u64::from(ended.how == How::Censored);
                    self.course.push(ended);
                }
            });
        }
    }
}

/// Whether the run reached a steady state, and its mean there; with too few requests it has no numbers.
fn steady(plan: &Plan, model: &Model, seen: &InTheCourse, loads: &Loads, parts: &[ModelPart]) -> Steady {
    let course = &seen.course;
    let period = Period::of(plan, model);
    let period_s = period.map(|period| period.length.as_secs_f64());
    let cut = course.cut(period);
    let prefix = match cut {
        Cut::Found(prefix) | Cut::NotFound(prefix) => prefix,
        Cut::TooFew => Prefix { batches: 0, observations: 0, share: 0.0 },
    };
    let means = course.means(&cut, period);
    let cut_s = course.due_in(prefix.observations).map_or(0.0, Nanos::as_secs_f64);
    let (from, to) = (plan.measured_from.as_secs_f64(), plan.end().as_secs_f64());
    let kept = if matches!(cut, Cut::Found(_)) { cut_s.max(from) } else { from };
    let why_not = why_not(&SteadyEvidence {
        plan,
        model,
        loads,
        n: course.n(),
        censored: seen.censored,
        cut,
        kept_s: to - kept,
        period: period.map(|period| period.length),
        lag1: means.map(|means| (means.lag1, means.segments)),
        growing: fastest(parts.iter().map(|part| Growth::of(part, kept, to, period_s))),
    });
    let found = why_not.is_none();
    let looked_at = match cut {
        Cut::TooFew => 0,
        _ => course.n(),
    };
    if plan.is_fixed_work() || looked_at == 0 {
        return Steady { n: looked_at, why_not: why_not.map(Unsteady::into), ..Steady::default() };
    }
    Steady {
        n: looked_at,
        found,
        why_not: why_not.map(Unsteady::into),
        cut: prefix.observations,
        cut_s,
        mean: if found { course.mean_after(prefix.observations) } else { None },
        lower_bound: found && seen.censored > 0,
        ci95: means.filter(|_| found).map(|means| means.interval),
        batch_lag1: means.map(|means| means.lag1),
        relaxation_s: loads.relaxation_s,
        trusted_s: loads.trusted_s,
        skewed: loads.skewed,
        relaxations: loads.relaxation_s.map(|relaxation| (to - from) / relaxation),
        period_s,
    }
}

impl Taking<'_, '_> {
    fn take(&mut self, mut batch: Batch) -> Batch {
        self.collector.take(&batch);
        self.warm_up.take(&batch);
        if !batch.last {
            self.collector.show(batch.watermark);
        }
        batch.starts.clear();
        batch.records.clear();
        batch.users.clear();
        batch
    }
}
