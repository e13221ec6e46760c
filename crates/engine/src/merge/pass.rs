//! One pass over the logs of all shards: in the order of starts they are held to the plan, written into one log, and counted,
//! each on a thread of its own.
//!
//! If a log turns out to be too far out of order for memory, all such logs are looked for, and the pass begins again: they are sorted on disk.

use super::held::Held;
use super::{Error, Run, Shards, Tally, unwritable};
use crate::manifest::{Apart, Manifest};
use crate::recompute::{Recomputed, Told};
use headway_base::{Nanos, Record, ResponseEvent};
use headway_records::{By, Limits, Merge, Metadata, NewLog, Origin, RunFolder, events_of};
use headway_stats::{Summary, Threshold};
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
    let passed =
        |disordered: &[PathBuf]| pass(shards, out, limits, manifest, thresholds.to_vec(), disordered);
    let again = match passed(&[]) {
        Err(Stopped::Disorder(_)) => {
            let disordered = Merge::disordered(&shards.logs(), By::Started, limits);
            passed(&disordered.map_err(|error| Error::Unreadable(error.into()))?)
        }
        first => first,
    };
    again.map_err(|stopped| match stopped {
        Stopped::Disorder(path) => Error::Unreadable(headway_records::Error::Disorder { path }.into()),
        Stopped::Refused(error) => error,
    })
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
    recomputed.held_up(&shards.told());
    let metadata = manifest.log_metadata().map_err(Error::Unwritable)?;
    let mut log: NewLog = NewLog::beside(&out.records(), &metadata).map_err(unwritable)?;
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
            run.has_as_many_rows_as_said(tally.rows, done.records)?;
        }
    }
    let mut truncated = truncated;
    truncated.extend(events(shards, out, limits, &metadata, &mut recomputed)?);
    let stopped_at = shards.stopped_at(limits);
    if let Some(at) = stopped_at {
        log.stopped(at);
    }
    if let Err(error) = log.finish() {
        let _ = std::fs::remove_file(out.events());
        return Err(unwritable(error).into());
    }
    // The log that was made has its end mark, whatever it was made of.
    let apart = manifest.apart.clone().map(|apart| Apart {
        requests: tallies.iter().map(|tally| tally.measured).sum(),
        outside: tallies.iter().map(|tally| tally.outside).sum(),
        lacking: tallies.iter().map(|tally| tally.lacking).sum::<i64>().max(0) as u64,
        ..apart
    });
    recomputed.began(apart.clone());
    let told = Told { stopped_at, ..shards.told() };
    Ok(Passed { summary: recomputed.finish(told, true), truncated, tallies, apart })
}

/// Writes the events of all shards into one table, if there are any, and counts them; the logs of those whose table has no end mark.
fn events(
    shards: &Shards,
    out: &RunFolder,
    limits: Limits,
    metadata: &Metadata,
    recomputed: &mut Recomputed,
) -> Result<Vec<PathBuf>, Stopped> {
    let mut table: Option<NewLog<ResponseEvent>> = None;
    let cut_short = events_of(&shards.logs(), limits, |events| -> Result<(), EventsFailed> {
        let table = match &mut table {
            Some(table) => table,
            None => table.insert(NewLog::beside(&out.events(), metadata).map_err(EventsFailed::Written)?),
        };
        table.append(events).map_err(EventsFailed::Written)?;
        recomputed.events(events);
        Ok(())
    });
    let cut_short = cut_short.map_err(|failed| match failed {
        EventsFailed::Written(error) => Stopped::Refused(unwritable(error)),
        EventsFailed::Read(error) => unreadable(error),
    })?;
    if let Some(table) = table {
        table.finish().map_err(unwritable)?;
    }
    let of = |table: PathBuf| table.with_file_name(headway_records::folder::RECORDS);
    Ok(cut_short.into_iter().map(of).collect())
}

/// Why events were not merged.
enum EventsFailed {
    Read(headway_records::Error),
    Written(headway_records::Error),
}

impl From<headway_records::Error> for EventsFailed {
    fn from(error: headway_records::Error) -> EventsFailed {
        EventsFailed::Read(error)
    }
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
    let mut merge = Merge::in_one_pass(&shards.logs(), By::Started, limits, out.path(), disordered)
        .map_err(unreadable)?;
    let mut checks = Checks::new(shards, limits, disordered)?;
    let mut block = Vec::with_capacity(ROWS);
    loop {
        let next = merge.next_with_origin().map_err(unreadable)?;
        let is_last = next.is_none();
        if let Some((row, origin)) = next {
            if let Some(Origin { log, shift }) = origin {
                checks.take(log, &row, shift)?;
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
    Ok((truncated, checks.tallies()?))
}

/// Holds the shards to the plan.
struct Checks<'a> {
    shards: &'a Shards,
    limits: Limits,
    /// While their records pass by.
    held: Held,
    /// By log: what it holds, where that was found in a pass of its own.
    alone: Vec<Option<Tally>>,
}

impl Checks<'_> {
    fn new<'a>(shards: &'a Shards, limits: Limits, disordered: &[PathBuf]) -> Result<Checks<'a>, Error> {
        let is_disordered = |run: &Run| disordered.contains(&run.folder.records());
        let alone = |run: &Run| is_disordered(run).then(|| shards.held_alone(run, limits)).transpose();
        let passing = shards.runs.iter().filter(|run| !is_disordered(run));
        let passing: Vec<(u32, Nanos)> =
            passing.map(|run| (run.shard.index(), shards.until(run, limits))).collect();
        Ok(Checks {
            shards,
            limits,
            held: Held::new(&shards.plan, shards.count(), &passing),
            alone: shards.runs.iter().map(alone).collect::<Result<_, _>>()?,
        })
    }

    /// Takes the next record of that log.
    fn take(&mut self, log: usize, row: &Record, shift: Nanos) -> Result<(), Error> {
        let run = &self.shards.runs[log];
        if self.alone[log].is_none() && !self.held.take(run.shard.index(), row, shift) {
            self.alone[log] = Some(self.shards.held_alone(run, self.limits)?);
        }
        Ok(())
    }

    /// What each log holds. One that was left open after its last record is read once more.
    fn tallies(self) -> Result<Vec<Tally>, Error> {
        let Checks { shards, limits, held, alone } = self;
        let held = held.tallies();
        let of = |(run, alone): (&Run, Option<Tally>)| {
            let found = alone.or(held[run.shard.index() as usize]);
            found.map_or_else(|| shards.held_alone(run, limits), Ok)
        };
        shards.runs.iter().zip(alone).map(of).collect()
    }
}
