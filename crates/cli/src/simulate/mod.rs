//! Plays resolved settings against a model, in virtual time: a single run with the same client, the same statistics and the
//! same run folder as a live one, or a study of several plays.
//!
//! ```text
//! one run:   records ──> Analysis, log            ──> Summary
//!                    └──> order ──> course (warm-up) ──┘
//! a study:   each play: records ──> sink (counts, order ──> course) ──> Replication
//!            each point: its replications ──> Point; points of several models ──> Difference
//! ```

mod beside;
mod course;
mod demands;
mod differs;
mod estimates;
mod inside;
mod loads;
mod notes;
mod order;
mod period;
mod point;
mod pooled;
mod replication;
mod sink;
mod state;
mod study;
mod times;

#[cfg(test)]
mod tests;

pub use beside::{Other, Own};
pub use study::{Studied, study};

use crate::execute::{log_finding, run_folder};
use crate::exit::Failure;
use crate::output::render;
use crate::repeat;
use crate::settings::SimSettings;
use course::Course;
use headway_base::{Batch, Batcher, Kind, Nanos, Record, RecordSink, Start};
use headway_engine::{Manifest, RunSpec, analysis_setup};
use headway_records::{LogWriter, RunFolder};
use headway_sim::Network;
use headway_stats::steady::{Cut, Prefix};
use headway_stats::summary::{ModelPart, Simulation, Source, Steady};
use headway_stats::{Analysis, Facts, Growth, Summary};
use headway_workload::Plan;
use inside::{looked_at_until, simulation};
use loads::Loads;
use order::How;
use order::InOrder;
use period::Period;
use sink::{abandon, unless_abandoned};
use state::{Looked, fastest, why_not};
use std::cell::RefCell;
use std::ops::Range;

/// Rows that are handed to the statistics at once.
const ROWS: usize = 4_096;

/// What a simulation came to.
#[derive(Debug)]
pub struct Simulated {
    /// The document.
    pub summary: Summary,
    /// Where its results are, if they were to be kept.
    pub folder: Option<RunFolder>,
    /// What of its results could not be written, if anything.
    pub failures: Vec<headway_records::Error>,
    /// Whether it was given up before its end.
    pub interrupted: bool,
}

/// Plays it to its end, or until `stop` holds: it is asked often.
///
/// # Errors
/// A model that cannot be, or a folder that is taken.
pub fn simulate(settings: &SimSettings, stop: &dyn Fn() -> bool) -> Result<Simulated, Failure> {
    let plan = &settings.load.plan;
    let spec = RunSpec {
        name: &settings.name,
        command: repeat::command(&settings.words, plan.seed),
        target: None,
        labels: &settings.labels,
        plan,
        shown: settings.load.summary(),
        limits: &settings.limits,
        thresholds: &settings.thresholds,
    };
    let mut document = Manifest::new(spec, None, 0);
    if !settings.capped {
        document.asked.connections = None;
    }
    let play = settings.play();
    let generator = play.generator().map_err(Failure::usage)?;
    let mut network = Network::new(&play.model, plan).map_err(Failure::usage)?;
    let out = settings.output.out.as_deref();
    let folder = (out.is_some() || settings.log).then(|| run_folder(out, &settings.name)).transpose()?;
    let mut log = None;
    if let Some(folder) = &folder {
        folder.write_new(headway_records::folder::PLAN, &document.json()?)?;
        folder.write_new(headway_records::folder::SCENARIO, settings.scenario.as_bytes())?;
        if settings.log {
            log = Some(LogWriter::create(&folder.records(), &document.log_metadata()?)?);
        }
    }
    let analysis =
        Analysis::new(analysis_setup(plan, &settings.labels, 1)).judging(settings.thresholds.clone());
    let warm_up = InTheCourse::new(plan);
    let keep = RefCell::new(Keep { analysis, log, failure: None, warm_up });
    let to = Batcher::new(0, ROWS, |batch| keep.borrow_mut().take(batch));
    let mut sink = Until { to, stop, now: Nanos::ZERO };
    let played = unless_abandoned(|| {
        headway_sim::play(plan, plan.shard, settings.limits, &mut network, generator, &mut sink)
    });
    let interrupted = played.is_none();
    if interrupted {
        sink.to.finish(sink.now);
    }
    let ended = played.map_or(sink.now, |played| played.ended);
    let until = if interrupted { ended } else { looked_at_until(plan, ended) };
    drop(sink);
    let Keep { analysis, mut log, failure, warm_up } = keep.into_inner();
    let loads = Loads::of(plan, &play.model);
    let inside = simulation(&network.observed(until), &loads);
    let steady = match interrupted {
        true => Steady { why_not: Some("the simulation was interrupted".into()), ..Steady::default() },
        false => steady(settings, &warm_up, &loads, &inside.parts),
    };
    let finished = log.as_mut().map_or(Ok(()), LogWriter::finish);
    let mut summary = analysis.finish(Facts {
        source: Source::Sim,
        name: settings.name.clone(),
        seed: Some(plan.seed),
        command: Some(document.command.clone()),
        plan: Some(document.asked.clone()),
        resolution: Some(Nanos(1)),
        interrupted_at: interrupted.then_some(ended),
        simulation: Some(Simulation { steady, ..inside }),
        ..Facts::default()
    });
    let own = Own { scenario: &settings.name, plan, steps: &settings.labels, limits: &settings.limits };
    summary.beside = settings.beside.as_ref().map(|other| other.beside(&own, &summary));
    let (written, lost) = log.as_ref().map_or((0, 0), |log| (log.rows_written(), log.rows_lost()));
    // The first error tells of its own rows; what is said at the end is the sum.
    let mut log_failure = failure.or(finished.err());
    if let Some(headway_records::Error::Write { rows_lost, .. }) = &mut log_failure {
        *rows_lost = lost;
    }
    if let Some(error) = &log_failure {
        summary.verdict.findings.push(log_finding(error, lost, written));
    }
    let mut failures: Vec<headway_records::Error> = log_failure.into_iter().collect();
    if let Some(folder) = &folder {
        let style = headway_report::Style::default();
        let files = [
            (headway_records::folder::SUMMARY, render("json", &summary, &style)),
            (headway_records::folder::REPORT, render("html", &summary, &style)),
        ];
        failures.extend(files.iter().filter_map(|(name, bytes)| folder.write_new(name, bytes).err()));
    }
    Ok(Simulated { summary, folder, failures, interrupted })
}

/// A sink that gives up the play when `stop` holds.
struct Until<'a, S> {
    to: S,
    stop: &'a dyn Fn() -> bool,
    now: Nanos,
}

impl<S> Until<'_, S> {
    #[inline]
    fn at(&mut self, now: Nanos) {
        if (self.stop)() {
            abandon();
        }
        self.now = self.now.max(now);
    }
}

impl<S: RecordSink> RecordSink for Until<'_, S> {
    #[inline]
    fn start(&mut self, start: Start) {
        self.at(start.started);
        self.to.start(start);
    }

    #[inline]
    fn record(&mut self, record: Record) {
        self.at(record.done);
        self.to.record(record);
    }

    fn users(&mut self, at: Nanos, change: i32) {
        self.to.users(at, change);
    }

    fn tick(&mut self, now: Nanos) {
        self.to.tick(now);
    }

    fn finish(&mut self, now: Nanos) {
        self.to.finish(now);
    }
}

/// Where batches go.
struct Keep {
    analysis: Analysis,
    log: Option<LogWriter>,
    failure: Option<headway_records::Error>,
    warm_up: InTheCourse,
}

/// The course of the measured phase, from records in the order in which they end.
struct InTheCourse {
    measured: Range<Nanos>,
    order: InOrder,
    course: Course,
    /// Of the response times, those that are censored.
    censored: u64,
}

impl InTheCourse {
    fn new(plan: &Plan) -> InTheCourse {
        // An arrival may be due at the very end, as the last of evenly spaced ones is.
        let measured = plan.measured_from..plan.end() + Nanos(1);
        InTheCourse { measured, order: InOrder::default(), course: Course::default(), censored: 0 }
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

/// Whether the run reached a steady state, and its mean there; of too few requests nothing is told.
fn steady(settings: &SimSettings, seen: &InTheCourse, loads: &Loads, parts: &[ModelPart]) -> Steady {
    let (plan, course) = (&settings.load.plan, &seen.course);
    let period = Period::of(plan, &settings.model);
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
    let why_not = why_not(&Looked {
        plan,
        model: &settings.model,
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
        return Steady { n: looked_at, why_not, ..Steady::default() };
    }
    Steady {
        n: looked_at,
        found,
        why_not,
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

impl Keep {
    fn take(&mut self, mut batch: Batch) -> Batch {
        self.analysis.batch(&batch);
        self.warm_up.take(&batch);
        if let Some(Err(error)) = self.log.as_mut().map(|log| log.append(&batch.records)) {
            self.failure.get_or_insert(error);
        }
        batch.starts.clear();
        batch.records.clear();
        batch.users.clear();
        batch
    }
}
