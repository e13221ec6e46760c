//! One pass over the logs of all shards: in the order of starts they are held to the plan, written into one log, and counted,
//! each on a thread of its own.
//!
//! A log that turns out to be too far out of order for memory begins the pass again, and is sorted on disk.

use super::held::Held;
use super::{Error, Run, Shards, Tally, unwritable};
use crate::manifest::{Apart, Manifest};
use crate::recompute::Recomputed;
use headway_base::{Nanos, Record};
use headway_records::{By, Limits, Merge, NewLog, Origin, RunFolder};
use headway_stats::{Summary, Threshold};
use headway_workload::Plan;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, ScopedJoinHandle};

/// Rows handed on at a time.
const ROWS: usize = 4_096;

/// Blocks of rows that wait to be taken.
const WAITING: usize = 8;

/// What one pass found.
pub(super) struct Passed {
    pub(super) summary: Summary,
    /// Logs without an end mark.
    pub(super) truncated: Vec<PathBuf>,
    /// What the log of each shard holds.
    pub(super) tallies: Vec<Tally>,
    /// How the shards began, if not together.
    pub(super) apart: Option<Apart>,
}

/// Merges the logs of these shards into that of `out`.
pub(super) fn merge(
    shards: &Shards,
    out: &RunFolder,
    limits: Limits,
    manifest: &Manifest,
    thresholds: &[Threshold],
) -> Result<Passed, Error> {
    let mut disordered = Vec::new();
    loop {
        match pass(shards, out, limits, manifest, thresholds.to_vec(), &disordered) {
            Err(Stopped::Disorder(log)) if !disordered.contains(&log) => disordered.push(log),
            Err(Stopped::Disorder(log)) => {
                return Err(Error::Unreadable(headway_records::Error::Disorder { path: log }.into()));
            }
            Err(Stopped::Refused(error)) => return Err(error),
            Ok(passed) => return Ok(passed),
        }
    }
}

/// Why a pass came to nothing.
enum Stopped {
    /// That log is too far out of order for memory.
    Disorder(PathBuf),
    Refused(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Stopped {
        Stopped::Refused(error)
    }
}

fn unreadable(error: headway_records::Error) -> Stopped {
    match error {
        headway_records::Error::Disorder { path } => Stopped::Disorder(path),
        other => Stopped::Refused(Error::Unreadable(other.into())),
    }
}

fn pass(
    shards: &Shards,
    out: &RunFolder,
    limits: Limits,
    manifest: &Manifest,
    thresholds: Vec<Threshold>,
    disordered: &[PathBuf],
) -> Result<Passed, Stopped> {
    let mut recomputed =
        Recomputed::new(manifest.clone(), shards.plan.clone(), thresholds).map_err(Error::Unreadable)?;
    let metadata = manifest.log_metadata().map_err(Error::Unwritable)?;
    let mut log = NewLog::beside(&out.records(), &metadata).map_err(unwritable)?;
    let (to_log, for_log) = sync_channel::<Arc<Vec<Record>>>(WAITING);
    let (to_count, for_count) = sync_channel::<Arc<Vec<Record>>>(WAITING);
    let (read, written) = thread::scope(|scope| {
        let reading = scope.spawn(|| read(shards, out, limits, disordered, [to_log, to_count]));
        let writing = scope.spawn(|| write(&mut log, for_log));
        for block in for_count {
            block.iter().for_each(|row| recomputed.push(*row));
        }
        (joined(reading), joined(writing))
    });
    written.map_err(unwritable)?;
    let (truncated, tallies) = read?;
    for (run, tally) in shards.runs.iter().zip(&tallies) {
        if let Some(done) = run.played.as_ref().and_then(|played| played.done.as_ref()) {
            run.is_as_said("rows", tally.rows, done.records)?;
        }
    }
    log.finish().map_err(unwritable)?;
    // The log that was made has its end mark, whatever it was made of.
    let apart = manifest.apart.clone().map(|apart| Apart {
        requests: tallies.iter().map(|tally| tally.measured).sum(),
        outside: tallies.iter().map(|tally| tally.outside).sum(),
        lacking: tallies.iter().map(|tally| tally.lacking).sum::<i64>().max(0) as u64,
        ..apart
    });
    recomputed.began(apart.clone());
    Ok(Passed { summary: recomputed.finish(shards.told(), true), truncated, tallies, apart })
}

/// What a thread came to; its panic goes on here.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Writes what comes, until nothing does or the disk refuses.
fn write(log: &mut NewLog, rows: Receiver<Arc<Vec<Record>>>) -> Result<(), headway_records::Error> {
    rows.into_iter().try_for_each(|block| log.append(&block))
}

/// Reads all logs, holds them to the plan and hands their rows on; the logs without an end mark, and what each holds.
fn read(
    shards: &Shards,
    out: &RunFolder,
    limits: Limits,
    disordered: &[PathBuf],
    takers: [SyncSender<Arc<Vec<Record>>>; 2],
) -> Result<(Vec<PathBuf>, Vec<Tally>), Stopped> {
    let logs: Vec<PathBuf> = shards.runs.iter().map(|run| run.folder.records()).collect();
    let mut merge =
        Merge::in_one_pass(&logs, By::Started, limits, out.path(), disordered).map_err(unreadable)?;
    let check = |(run, log): (&Run, &PathBuf)| {
        Check::new(run, &shards.plan, shards.moved(run, limits), disordered.contains(log))
    };
    let mut checks = shards.runs.iter().zip(&logs).map(check).collect::<Result<Vec<_>, _>>()?;
    let mut block = Vec::with_capacity(ROWS);
    loop {
        let next = merge.next_with_origin().map_err(unreadable)?;
        let is_last = next.is_none();
        if let Some((row, origin)) = next {
            if let Some(Origin { log, shift }) = origin {
                checks[log].take(&row, shift, &shards.runs[log], &shards.plan)?;
            }
            block.push(row);
        }
        if block.len() == ROWS || is_last {
            let full = Arc::new(std::mem::replace(&mut block, Vec::with_capacity(ROWS)));
            // Who takes no more has failed, and says why.
            if takers.iter().any(|taker| taker.send(full.clone()).is_err()) || is_last {
                break;
            }
        }
    }
    let truncated = merge.merged().truncated.into_iter().map(|(log, _)| log).collect();
    Ok((truncated, checks.into_iter().map(Check::tally).collect()))
}

/// How a shard is held to its plan.
enum Check {
    /// While its records pass by.
    Passing(Box<Held>),
    /// It was, in a pass of its own.
    Done(Tally),
}

impl Check {
    fn new(run: &Run, plan: &Plan, behind: Nanos, disordered: bool) -> Result<Check, Error> {
        Ok(match disordered {
            true => Check::Done(run.held_to(plan, behind)?),
            false => Check::Passing(Box::new(Held::new(plan, run.shard))),
        })
    }

    fn take(&mut self, row: &Record, shift: Nanos, run: &Run, plan: &Plan) -> Result<(), Error> {
        if let Check::Passing(held) = self
            && !held.take(row, shift)
        {
            *self = Check::Done(run.held_to(plan, shift)?);
        }
        Ok(())
    }

    fn tally(self) -> Tally {
        match self {
            Check::Passing(held) => held.tally(),
            Check::Done(tally) => tally,
        }
    }
}
