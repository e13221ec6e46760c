//! Plays resolved settings against a model, in virtual time on one thread: the same client, the same statistics, and a run
//! folder if one is asked for.

use crate::execute::{log_metadata, run_folder};
use crate::exit::Failure;
use crate::output::render;
use crate::rundoc::{self, RunDocument, What};
use crate::settings::SimSettings;
use base::{Batch, Batcher, Nanos};
use records::{LogWriter, RunFolder};
use sim::Network;
use stats::summary::Source;
use stats::{Analysis, Facts, Summary};
use std::cell::RefCell;

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
    let network = Network::new(&settings.model, plan).map_err(Failure::usage)?;
    let out = settings.output.out.as_deref();
    let folder = out.map(|out| run_folder(Some(out), &settings.name)).transpose()?;
    let mut log = None;
    if let Some(folder) = &folder {
        folder.write_new(records::folder::PLAN, &document.json()?)?;
        folder.write_new(records::folder::SCENARIO, settings.scenario.as_bytes())?;
        if !settings.output.no_log {
            log = Some(LogWriter::create(&folder.records(), &log_metadata(&document)?)?);
        }
    }
    let analysis =
        Analysis::new(rundoc::setup(plan, &settings.labels, 1)).judging(settings.thresholds.clone());
    let keep = RefCell::new(Keep { analysis, log, failure: None });
    let mut sink = Batcher::new(0, ROWS, |batch| keep.borrow_mut().take(batch));
    sim::play(plan, plan.shard, settings.limits, network, settings.generator.clone(), &mut sink);
    drop(sink);
    let Keep { analysis, mut log, failure } = keep.into_inner();
    let finished = log.as_mut().map_or(Ok(()), LogWriter::finish);
    let summary = analysis.finish(Facts {
        source: Source::Sim,
        name: settings.name.clone(),
        seed: Some(plan.seed),
        command: Some(document.command.clone()),
        plan: Some(document.asked.clone()),
        resolution: Some(Nanos(1)),
        ..Facts::default()
    });
    let mut failures: Vec<records::Error> = failure.into_iter().chain(finished.err()).collect();
    if let Some(folder) = &folder {
        for (name, output) in [(records::folder::SUMMARY, "json"), (records::folder::REPORT, "html")] {
            failures
                .extend(folder.write_new(name, &render(output, &summary, &report::Style::default())).err());
        }
    }
    Ok(Simulated { summary, folder, failures })
}

/// Where batches go.
struct Keep {
    analysis: Analysis,
    log: Option<LogWriter>,
    failure: Option<records::Error>,
}

impl Keep {
    fn take(&mut self, mut batch: Batch) -> Batch {
        self.analysis.batch(&batch);
        if let Some(Err(error)) = self.log.as_mut().map(|log| log.append(&batch.records)) {
            self.failure.get_or_insert(error);
        }
        batch.starts.clear();
        batch.records.clear();
        batch.users.clear();
        batch
    }
}
