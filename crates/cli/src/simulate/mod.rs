//! Plays resolved settings against a model, in virtual time: a single run with the same client, the same statistics and the
//! same run folder as a live one, or a study of several plays.
//!
//! ```text
//! one run:   records ──> Analysis, log            ──> Summary
//!                    └──> order ──> course (warm-up) ──┘
//! a study:   each play: records ──> sink (counts, order ──> course) ──> Replication
//!            each point: its replications ──> Point; points of several models ──> Difference
//! ```

mod course;
mod estimates;
mod inside;
mod loads;
mod notes;
mod order;
mod point;
mod replication;
mod sink;
mod study;

#[cfg(test)]
mod tests;

pub use study::{Studied, study};

use crate::execute::{log_metadata, run_folder};
use crate::exit::Failure;
use crate::output::render;
use crate::rundoc::{self, RunDocument, What};
use crate::settings::SimSettings;
use base::{Batch, Batcher, Kind, Nanos};
use course::Course;
use inside::simulation;
use loads::Loads;
use order::InOrder;
use records::{LogWriter, RunFolder};
use sim::Network;
use stats::steady::Cut;
use stats::summary::{Simulation, Source, Steady};
use stats::{Analysis, Facts, Summary};
use std::cell::RefCell;
use std::ops::Range;
use workload::Plan;

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
    pub failures: Vec<records::Error>,
}

/// Plays it to its end.
///
/// # Errors
/// A model that cannot be, or a folder that is taken.
pub fn simulate(settings: &SimSettings) -> Result<Simulated, Failure> {
    let plan = &settings.load.plan;
    let what = What {
        name: &settings.name,
        words: &settings.words,
        target: None,
        labels: &settings.labels,
        load: &settings.load,
        limits: &settings.limits,
        thresholds: &settings.thresholds,
    };
    let mut document = RunDocument::new(&what, None, 0);
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
        folder.write_new(records::folder::PLAN, &document.json()?)?;
        folder.write_new(records::folder::SCENARIO, settings.scenario.as_bytes())?;
        if settings.log {
            log = Some(LogWriter::create(&folder.records(), &log_metadata(&document)?)?);
        }
    }
    let analysis =
        Analysis::new(rundoc::setup(plan, &settings.labels, 1)).judging(settings.thresholds.clone());
    let warm_up = InTheCourse::new(plan);
    let keep = RefCell::new(Keep { analysis, log, failure: None, warm_up });
    let mut sink = Batcher::new(0, ROWS, |batch| keep.borrow_mut().take(batch));
    let played = sim::play(plan, plan.shard, settings.limits, &mut network, generator, &mut sink);
    drop(sink);
    let Keep { analysis, mut log, failure, warm_up } = keep.into_inner();
    let loads = Loads::of(plan, &play.model);
    let finished = log.as_mut().map_or(Ok(()), LogWriter::finish);
    let summary = analysis.finish(Facts {
        source: Source::Sim,
        name: settings.name.clone(),
        seed: Some(plan.seed),
        command: Some(document.command.clone()),
        plan: Some(document.asked.clone()),
        resolution: Some(Nanos(1)),
        simulation: Some(Simulation {
            steady: steady(plan, &warm_up.course, &loads),
            ..simulation(&network.observed(played.ended), &loads)
        }),
        ..Facts::default()
    });
    let mut failures: Vec<records::Error> = failure.into_iter().chain(finished.err()).collect();
    if let Some(folder) = &folder {
        let style = report::Style::default();
        let page = report::html::page(&summary, &style, settings.beside.as_ref());
        let files =
            [(records::folder::SUMMARY, render("json", &summary, &style)), (records::folder::REPORT, page)];
        failures.extend(files.iter().filter_map(|(name, bytes)| folder.write_new(name, bytes).err()));
    }
    Ok(Simulated { summary, folder, failures })
}

/// Where batches go.
struct Keep {
    analysis: Analysis,
    log: Option<LogWriter>,
    failure: Option<records::Error>,
    warm_up: InTheCourse,
}

/// The course of the measured phase, from records in the order in which they end.
struct InTheCourse {
    measured: Range<Nanos>,
    order: InOrder,
    course: Course,
}

impl InTheCourse {
    fn new(plan: &Plan) -> InTheCourse {
        // An arrival may be due at the very end, as the last of evenly spaced ones is.
        let measured = plan.measured_from..plan.end() + Nanos(1);
        InTheCourse { measured, order: InOrder::default(), course: Course::default() }
    }

    fn take(&mut self, batch: &Batch) {
        batch.starts.iter().for_each(|start| self.order.start(start));
        for record in batch.records.iter().filter(|record| record.kind == Kind::Request) {
            self.order.record(record, |ended| {
                if self.measured.contains(&ended.arrived) {
                    self.course.push(ended);
                }
            });
        }
    }
}

/// Whether the run reached a steady state, and its mean there. Fixed work has none, and of fewer than 100 requests nothing can
/// be told: neither is looked at.
fn steady(plan: &Plan, course: &Course, loads: &Loads) -> Steady {
    let cut = course.cut();
    let prefix = match cut {
        _ if plan.is_fixed_work() => return Steady::default(),
        Cut::TooFew => return Steady::default(),
        Cut::Found(prefix) | Cut::NotFound(prefix) => prefix,
    };
    let found = matches!(cut, Cut::Found(_)) && loads.busiest().is_none_or(|(_, load)| load < 1.0);
    let length = (plan.end() - plan.measured_from).as_secs_f64();
    let means = if found { course.means(&cut) } else { None };
    Steady {
        n: course.n(),
        found,
        cut: prefix.observations,
        cut_s: course.due_in(prefix.observations).map_or(0.0, Nanos::as_secs_f64),
        mean: if found { course.mean_after(prefix.observations) } else { None },
        ci95: means.map(|means| means.interval),
        batch_lag1: means.map(|means| means.lag1),
        relaxation_s: loads.relaxation_s,
        relaxations: loads.relaxation_s.map(|relaxation| length / relaxation),
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
