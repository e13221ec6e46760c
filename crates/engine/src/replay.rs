//! A recorded run, shown to observers as it went: each start and each end at its time, faster or slower than it was.
//!
//! The records go through the collector, as those of a run do. What has started and not ended yet waits here, so that memory is bounded
//! by the requests that were in flight. Deliberately absent: what the generator said of itself, which no log holds.

use crate::analysis_setup::of_manifest;
use crate::collect::{Collector, Observer};
use crate::manifest::Manifest;
use crate::recompute::Workers;
use anyhow::Result;
use headway_base::{Batch, Kind, Nanos, Record};
use headway_live::Control;
use headway_records::{By, Merge};
use headway_stats::{Analysis, Summary, Threshold};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Rows that are read ahead to meet every worker.
const AHEAD: usize = 4_096;
/// The observed time goes on in steps of this much of the clock's.
const STEP: Duration = Duration::from_millis(100);

/// Slowest and fastest replay, as a multiple of the recorded run's pace.
pub const SPEEDS: [f64; 2] = [0.01, 10_000.0];

/// Replays the records in `log` to `observers`, `speed` times as fast as they came (see [`SPEEDS`]), judged by `thresholds`. Returns
/// their summary, as [`recompute`](crate::recompute()) has it of a whole log; none if `control` stopped it before their end.
///
/// # Errors
/// The log cannot be read, or the manifest's plan is none that this version makes.
pub fn replay(
    log: &Path,
    manifest: &Manifest,
    thresholds: Vec<Threshold>,
    speed: f64,
    control: &Control,
    observers: &mut [&mut dyn Observer],
) -> Result<Option<Summary>> {
    let plan = manifest.plan_beside(log)?;
    let mut rows = Rows { merge: Merge::of_log(log, By::Started)?, ahead: VecDeque::new() };
    let mut workers = Workers::new(manifest.asked.threads);
    rows.fill(AHEAD)?;
    for row in &rows.ahead {
        workers.of(row.shard);
    }
    let labels = &manifest.asked.steps;
    let setup = of_manifest(manifest, &plan, &manifest.shards()?, workers.batches.len());
    let analysis = Analysis::new(setup).judging(thresholds);
    let facts = manifest.facts(manifest.source());
    let mut collector = Collector::new(analysis, None, labels, facts.clone(), observers);

    let begun = Instant::now();
    let mut in_flight: BTreeMap<(Nanos, u64), Record> = BTreeMap::new();
    let (mut at, mut number) = (Nanos::ZERO, 0);
    loop {
        at += Nanos((STEP.as_nanos() as f64 * speed) as i64).max(Nanos(1));
        while let Some(row) = rows.before(at)? {
            // A session's row stands for requests that have rows of their own.
            if let Some(start) = row.start().filter(|_| row.kind == Kind::Request) {
                workers.of(row.shard).starts.push(start);
            }
            in_flight.insert((row.done, number), row);
            number += 1;
        }
        while let Some(entry) = in_flight.first_entry().filter(|entry| entry.key().0 <= at) {
            let row = entry.remove();
            workers.of(row.shard).records.push(row);
        }
        let last = rows.is_empty()? && in_flight.is_empty();
        for batch in &mut workers.batches {
            (batch.watermark, batch.last) = (if last { Nanos::MAX } else { at }, last);
            collector.take(batch);
            *batch = Batch { source: batch.source, ..Batch::default() };
        }
        collector.show(at);
        if last {
            let collected = collector.finish(at, None);
            return Ok(Some(collected.analysis.finish(facts)));
        }
        let due = begun + Duration::from_secs_f64(at.as_secs_f64() / speed);
        loop {
            if control.asked() > 0 {
                return Ok(None);
            }
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            thread::sleep(left.min(STEP));
        }
    }
}

/// Rows in the order of their starts, some of them read ahead.
struct Rows {
    merge: Merge,
    ahead: VecDeque<Record>,
}

impl Rows {
    fn fill(&mut self, n: usize) -> Result<()> {
        while self.ahead.len() < n
            && let Some(row) = self.merge.next_row()?
        {
            self.ahead.push_back(row);
        }
        Ok(())
    }

    /// The next row, if it comes before that instant.
    fn before(&mut self, at: Nanos) -> Result<Option<Record>> {
        self.fill(1)?;
        let is_due = |row: &Record| row.started.get().unwrap_or(row.intended) < at;
        Ok(if self.ahead.front().is_some_and(is_due) { self.ahead.pop_front() } else { None })
    }

    fn is_empty(&mut self) -> Result<bool> {
        self.fill(1)?;
        Ok(self.ahead.is_empty())
    }
}
