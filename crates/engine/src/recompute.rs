//! The summary of a recorded run from its records and its manifest. What the generator said of itself is not in them.

use crate::analysis_setup::of_manifest;
use crate::manifest::{Apart, Manifest};
use crate::merge::{SAME_ZERO, missing, say_missing};
use crate::reasons::explain;
use anyhow::{Result, ensure};
use headway_base::{Batch, Kind, Nanos, Record, ResponseEvent};
use headway_records::{By, Limits, Merge, RunFolder, events_of, folder};
use headway_stats::summary::evidence::Run;
use headway_stats::summary::{FailureReasons, Finding, FindingId, Generator, Severity, ShardCoverage, Stall};
use headway_stats::{Analysis, Facts, Summary, Threshold};
use headway_workload::redact::clear;
use headway_workload::{Plan, Shard};
use std::path::Path;

/// Rows handed to the statistics at a time.
const ROWS: usize = 4_096;

/// What the machines said of themselves, which no log holds.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// How the generator fared, if that is known.
    pub generator: Option<Generator>,
    /// When generators stood still, if how they fared is not to be shown.
    pub stalls: Vec<Stall>,
    /// Why requests failed, as each source reports it.
    pub reasons: Vec<FailureReasons>,
    /// What a merge found of the shards.
    pub shards: Vec<ShardCoverage>,
    /// When the run was stopped before its plan had ended, from the plan's zero: for logs whose end mark does not tell.
    pub stopped_at: Option<Nanos>,
}

impl Told {
    /// When the run of that summary was stopped, if it was.
    pub fn stopped(summary: &Summary) -> Option<Nanos> {
        summary.measured.interrupted.then(|| Nanos::from_secs_f64(summary.measured.to_s))
    }
}

/// The summary of the records in `log`, held to `thresholds`; `told` is what is known from elsewhere.
///
/// # Errors
/// The log cannot be read, or the manifest's plan is none that this version makes.
pub fn recompute(log: &Path, manifest: Manifest, thresholds: Vec<Threshold>, told: Told) -> Result<Summary> {
    let plan = manifest.plan_beside(log)?;
    let mut recomputed = Recomputed::new(manifest, plan, thresholds)?;
    recomputed.held_up(&told);
    let mut merge = Merge::of_log(log, By::Started)?;
    while let Some(row) = merge.next_row()? {
        recomputed.push(row);
    }
    let events = events_of(&[log.to_owned()], Limits::default(), |events| -> Result<()> {
        recomputed.events(events);
        Ok(())
    })?;
    let whole = merge.merged().truncated.is_empty() && events.is_empty();
    let stopped_at = merge.stopped_at().or(told.stopped_at);
    let mut summary = recomputed.finish(Told { stopped_at, ..told }, whole);
    if !whole {
        summary.verdict.findings.push(cut_short(log.parent().unwrap_or(log)));
    }
    Ok(summary)
}

/// A summary in the making, of records in the order of their starts.
pub(crate) struct Recomputed {
    manifest: Manifest,
    plan: Plan,
    shards: Vec<Shard>,
    workers: Workers,
    /// Records of the workers that the statistics have not seen yet.
    waiting: usize,
    thresholds: Vec<Threshold>,
    /// When the generators stood still, which no log holds.
    stalls: Vec<Stall>,
    /// None before the first records are handed over: it must know how many workers there are.
    analysis: Option<Analysis>,
}

impl Recomputed {
    /// Of no records yet; `plan` is the manifest's, with what stands beside it.
    ///
    /// # Errors
    /// The manifest names shards that cannot be.
    pub(crate) fn new(manifest: Manifest, plan: Plan, thresholds: Vec<Threshold>) -> Result<Recomputed> {
        let (shards, workers) = (manifest.shards()?, Workers::new(manifest.asked.threads));
        Ok(Recomputed {
            manifest,
            plan,
            shards,
            workers,
            waiting: 0,
            thresholds,
            stalls: Vec::new(),
            analysis: None,
        })
    }

    /// The generators stood still then, as they said of themselves; told before the first record.
    pub(crate) fn held_up(&mut self, told: &Told) {
        self.stalls = told.generator.as_ref().map_or(&told.stalls, |generator| &generator.stalls).clone();
    }

    /// Takes the next record.
    pub(crate) fn push(&mut self, record: Record) {
        self.workers.push(record);
        self.waiting += 1;
        if self.waiting == ROWS {
            self.waiting = 0;
            self.hand_over(false);
        }
    }

    /// Takes events of responses, in any order, after the records.
    pub(crate) fn events(&mut self, events: &[ResponseEvent]) {
        self.hand_over(false);
        if let Some(analysis) = &mut self.analysis {
            events.iter().for_each(|event| analysis.event(event));
        }
    }

    fn hand_over(&mut self, last: bool) {
        let Recomputed { manifest, plan, shards, workers, thresholds, stalls, analysis, .. } = self;
        // By the time of the first records every worker of a log of several shards has been met.
        let analysis = analysis.get_or_insert_with(|| {
            let setup = of_manifest(manifest, plan, shards, workers.batches.len());
            let mut analysis = Analysis::new(setup).judging(std::mem::take(thresholds));
            analysis.held_up(&std::mem::take(stalls));
            analysis
        });
        workers.hand_over(analysis, last);
    }

    /// How the shards of these records began, which is known in full after the last one.
    pub(crate) fn began(&mut self, apart: Option<Apart>) {
        self.manifest.apart = apart;
    }

    /// The summary; the log of the records has its end mark if `whole`.
    pub(crate) fn finish(mut self, told: Told, whole: bool) -> Summary {
        self.hand_over(true);
        let Recomputed { manifest, plan, workers, analysis, .. } = self;
        let last = workers.last_done;
        let facts = Facts {
            interrupted_at: told.stopped_at.or((!whole && last < plan.end()).then_some(last)),
            generator: told.generator,
            ..manifest.facts(manifest.source())
        };
        let mut summary = analysis.map(|analysis| analysis.finish(facts)).unwrap_or_default();
        summary.shards = told.shards;
        summary.verdict.findings.extend(began_apart(manifest.apart.as_ref()));
        explain(&mut summary, &told.reasons);
        say_missing(&mut summary, &missing(&plan, &manifest.shards));
        summary
    }
}

/// Lets the summary of the run in that folder show these percentiles, if there are any; those that it lacks are computed from the
/// records.
///
/// # Errors
/// There are no records to compute one from, or they cannot be read.
pub fn show_percentiles(summary: &mut Summary, percentiles: &[f64], run: &Path) -> Result<()> {
    if percentiles.is_empty() {
        return Ok(());
    }
    let response = &summary.response;
    let lacks = |p: &&f64| response.n > 0 && response.percentile(**p).is_none();
    if let Some(lacking) = percentiles.iter().find(lacks) {
        ensure!(
            run.join(folder::RECORDS).is_file(),
            "--percentiles: the summary does not hold {lacking}, and the run kept no records to compute it from; it holds \
             50, 90, 95, 99 and 99.9"
        );
        let folder = RunFolder::open(run)?;
        let mut manifest = Manifest::read(&folder.plan())?;
        manifest.asked.percentiles = percentiles.to_vec();
        summary.take_percentiles(recompute(&folder.records(), manifest, Vec::new(), Told::default())?);
    }
    summary.plan.get_or_insert_default().percentiles = percentiles.to_vec();
    Ok(())
}

/// The records of a log by the worker that wrote them, each a shard of the plan: only within one worker do requests start in the
/// order in which they were due.
pub(crate) struct Workers {
    pub(crate) batches: Vec<Batch>,
    /// The shard of each, as far as it was met.
    shards: Vec<u16>,
    /// When the last request started.
    reached: Nanos,
    /// When the last one ended.
    last_done: Nanos,
}

impl Workers {
    pub(crate) fn new(threads: Option<u32>) -> Workers {
        let batch = |source| Batch { source, ..Batch::default() };
        let count = threads.and_then(|n| u16::try_from(n).ok()).unwrap_or(1).max(1);
        Workers {
            batches: (0..count).map(batch).collect(),
            shards: Vec::new(),
            reached: Nanos::ZERO,
            last_done: Nanos::ZERO,
        }
    }

    /// The batch of the worker that wrote the rows of that shard.
    pub(crate) fn of(&mut self, shard: u16) -> &mut Batch {
        let place = self.shards.iter().position(|&met| met == shard).unwrap_or_else(|| {
            self.shards.push(shard);
            self.shards.len() - 1
        });
        if place == self.batches.len() {
            self.batches.push(Batch { source: place as u16, ..Batch::default() });
        }
        &mut self.batches[place]
    }

    fn push(&mut self, record: Record) {
        self.last_done = self.last_done.max(record.done);
        let mut reached = self.reached;
        let batch = self.of(record.shard);
        // A session's row stands for requests that have rows of their own.
        if let Some(start) = record.start().filter(|_| record.kind == Kind::Request) {
            reached = start.started;
            batch.starts.push(start);
        }
        batch.records.push(record);
        self.reached = reached;
    }

    fn hand_over(&mut self, analysis: &mut Analysis, last: bool) {
        for batch in &mut self.batches {
            (batch.watermark, batch.last) = (if last { Nanos::MAX } else { self.reached }, last);
            analysis.batch(batch);
            batch.starts.clear();
            batch.records.clear();
        }
    }
}

/// That the shards did not begin together.
fn began_apart(apart: Option<&Apart>) -> Option<Finding> {
    let apart = apart?;
    let (apart_s, Apart { behind_ns, requests, outside, .. }) = (apart.spread()?.as_secs_f64(), apart);
    Some(Finding {
        id: FindingId::ShardsApart,
        severity: Severity::Warning,
        evidence: vec![Run::ShardsApart { apart_s, outside: *outside, of: *requests }.into()],
        value: Some(apart_s),
        limit: Some(SAME_ZERO.as_secs_f64()),
        n: behind_ns.len() as u64,
        ..Finding::default()
    })
}

/// That the log in that run folder has no end mark.
pub(crate) fn cut_short(folder: &Path) -> Finding {
    Finding {
        id: FindingId::LogCutShort,
        severity: Severity::Warning,
        evidence: vec![Run::LogCutShort { folder: clear(&folder.display().to_string()) }.into()],
        ..Finding::default()
    }
}
