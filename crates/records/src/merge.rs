//! Several logs in the order of time: shards of one machine, machines of one test.
//!
//! A k-way merge over sources that are each in order, or are put in order by a bounded window, or were cut into sorted
//! runs on disk beforehand. The result depends on the rows alone, not on the order of the logs
//! nor of the rows in them.
//!
//! Deliberately absent: any judgement whether the logs belong together. Different zeros are reconciled, because the
//! rows would otherwise be wrong; all else is the caller's.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::path::{Path, PathBuf};

use headway_base::{Nanos, Record};

use crate::atomic_file::{PendingFile, folder_of};
use crate::error::Error;
use crate::metadata::{self, Metadata};
use crate::reader::LogReader;
use crate::runs::Runs;
use crate::schema::Row;
use crate::sort::{By, Limits, Ordered, Source, is_nearly_sorted};
use crate::stream::Ending;
use crate::writer::{BATCH_ROWS, Writer};

/// What a merge or an export took in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    /// Rows read and given on.
    pub rows: u64,
    /// Logs that were too far out of order for the memory and were sorted on disk.
    pub sorted_on_disk: usize,
    /// Logs without an end mark, and how they ended.
    pub truncated: Vec<(PathBuf, Ending)>,
    /// Where the events of responses were exported to, and how many rows; none where there are none, or nothing was exported.
    pub events: Option<(PathBuf, u64)>,
}

impl Merged {
    pub(crate) fn note(&mut self, path: &Path, ending: Option<Ending>) {
        if let Some(ending @ Ending::Truncated { .. }) = ending {
            self.truncated.push((path.to_path_buf(), ending));
        }
    }

    /// Of a log that has been read to its end; a run has no news.
    fn note_log(&mut self, log: &Option<(usize, PathBuf)>, source: &Source) {
        if let Some((_, path)) = log {
            self.note(path, source.ending());
        }
    }
}

/// Rows of each log that are looked at ahead of the one that is given on.
fn ahead(logs: &[PathBuf], limits: Limits) -> usize {
    limits.rows_in_memory / logs.len().max(1)
}

/// Rows handed on at a time: a row alone costs a call per column.
const BLOCK_ROWS: usize = 512;

/// Merges `logs` into a new log at `out`, which appears complete or not at all. The metadata are those of the first log that has any.
///
/// # Errors
/// [`Error::Exists`] if `out` exists; the errors of reading; [`Error::Write`] and [`Error::Io`] of writing, also of
/// temporary files, which stand beside `out`.
pub fn merge(logs: &[PathBuf], out: &Path, by: By, limits: Limits) -> Result<Merged, Error> {
    let mut merge = Merge::open(logs, by, limits, folder_of(out))?;
    let mut log: NewLog = NewLog::beside(out, merge.metadata())?;
    let mut rows = Vec::with_capacity(BLOCK_ROWS);
    while merge.next_block(&mut rows)? {
        log.append(&rows)?;
    }
    if let Some(at) = merge.stopped_at() {
        log.stopped(at);
    }
    log.finish()?;
    Ok(merge.merged())
}

/// A log that appears complete or not at all. It has a passing name until it is finished; dropped before, it is removed.
pub struct NewLog<R: Row = Record> {
    pending: PendingFile,
    writer: Writer<R>,
}

impl<R: Row> NewLog<R> {
    /// An empty log, to appear at `out`.
    ///
    /// # Errors
    /// [`Error::Exists`] if `out` exists; [`Error::Io`] if no file can be made beside it.
    pub fn beside(out: &Path, metadata: &Metadata) -> Result<NewLog<R>, Error> {
        let (pending, file) = PendingFile::beside(out)?;
        let writer = Writer::over(Box::new(file), out, metadata, BATCH_ROWS)?;
        Ok(NewLog { pending, writer })
    }

    /// Appends rows.
    ///
    /// # Errors
    /// [`Error::Write`]: the log is not complete then, and is of no use.
    pub fn append(&mut self, rows: &[R]) -> Result<(), Error> {
        self.writer.append(rows)
    }

    /// Notes that the run was stopped then, from the plan's zero.
    pub fn stopped(&mut self, at: Nanos) {
        self.writer.stopped(at);
    }

    /// Finishes the log and gives it its name.
    ///
    /// # Errors
    /// [`Error::Write`], [`Error::Io`]; [`Error::Exists`] if the name was taken meanwhile.
    pub fn finish(mut self) -> Result<(), Error> {
        self.writer.finish()?;
        self.pending.persist()
    }
}

impl<R: Row> std::fmt::Debug for NewLog<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewLog").field("writer", &self.writer).finish_non_exhaustive()
    }
}

/// Where a row of a merge comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// Which of the logs, from 0.
    pub log: usize,
    /// How far its instants were moved, so that they count from the first log's zero.
    pub shift: Nanos,
}

/// The rows of several logs in the order of time, one by one.
pub struct Merge {
    metadata: Metadata,
    by: By,
    sources: Vec<Branch>,
    /// The next row of each source that has one.
    heads: BinaryHeap<Reverse<(Ordered, usize)>>,
    merged: Merged,
    stopped_at: Option<Nanos>,
}

/// A log that is sorted in passing, or a sorted run.
struct Branch {
    source: Source,
    /// Which of the logs; none of a run.
    log: Option<(usize, PathBuf)>,
}

impl Merge {
    /// The rows of one log in the order of that time; those of a log too far out of order for the memory are sorted in the system's
    /// folder for temporary files.
    ///
    /// # Errors
    /// See [`Merge::open`].
    pub fn of_log(log: &Path, by: By) -> Result<Merge, Error> {
        Merge::open(&[log.to_owned()], by, Limits::default(), &std::env::temp_dir())
    }

    /// Prepares the merge: reads every log once, and sorts those on disk, in unnamed files in `spill_folder`, that
    /// are too far out of order for the memory.
    ///
    /// # Errors
    /// The errors of reading, and of writing temporary files.
    pub fn open(logs: &[PathBuf], by: By, limits: Limits, spill_folder: &Path) -> Result<Merge, Error> {
        let disordered = Merge::disordered(logs, by, limits)?;
        Merge::in_one_pass(logs, by, limits, spill_folder, &disordered)
    }

    /// Those of `logs` that are too far out of order for the memory. Reads every log once.
    ///
    /// # Errors
    /// The errors of reading.
    pub fn disordered(logs: &[PathBuf], by: By, limits: Limits) -> Result<Vec<PathBuf>, Error> {
        let mut found = Vec::new();
        for path in logs {
            if !is_nearly_sorted(path, by, ahead(logs, limits))? {
                found.push(path.clone());
            }
        }
        Ok(found)
    }

    /// The same without a look at the logs beforehand: those in `disordered` alone are sorted on disk. If another one turns out to
    /// be too far out of order, giving rows ends in [`Error::Disorder`], which names it: it must be among them next time.
    ///
    /// # Errors
    /// The errors of reading, and of writing temporary files; [`Error::Disorder`].
    pub fn in_one_pass(
        logs: &[PathBuf],
        by: By,
        limits: Limits,
        spill_folder: &Path,
        disordered: &[PathBuf],
    ) -> Result<Merge, Error> {
        let mut first = First::default();
        let mut merge = Merge {
            metadata: Metadata::new(),
            by,
            sources: Vec::new(),
            heads: BinaryHeap::new(),
            merged: Merged::default(),
            stopped_at: None,
        };
        let mut stops = Vec::with_capacity(logs.len());
        let mut runs = Runs::new(spill_folder, by, limits);
        for (number, path) in logs.iter().enumerate() {
            let reader = LogReader::open(path)?;
            let shift = first.admit(&reader)?;
            let shift = if Nanos(shift.0.abs()) <= limits.same_zero { Nanos::ZERO } else { shift };
            stops.push(reader.stopped_at().map(|at| at + shift));
            let mut source = Source::new(reader, by, shift, ahead(logs, limits));
            if disordered.contains(path) {
                runs.cut(&mut source)?;
                merge.merged.sorted_on_disk += 1;
                merge.merged.note(path, source.ending());
            } else {
                merge.sources.push(Branch { source, log: Some((number, path.clone())) });
            }
        }
        merge.sources.extend(runs.into_sources().map(|source| Branch { source, log: None }));
        merge.metadata = first.metadata;
        merge.stopped_at = stop_of_all(&stops);
        for at in 0..merge.sources.len() {
            let Branch { source, log } = &mut merge.sources[at];
            match source.pop()? {
                Some(row) => merge.heads.push(Reverse((row, at))),
                None => merge.merged.note_log(log, source),
            }
        }
        Ok(merge)
    }

    /// The metadata of the first log that has any; the rows of all count from its zero.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// When the run was stopped, by the end marks of all logs ([`stop_of_all`]).
    pub fn stopped_at(&self) -> Option<Nanos> {
        self.stopped_at
    }

    /// The time by which the rows are sorted.
    pub fn by(&self) -> By {
        self.by
    }

    /// The next row, none at the end.
    ///
    /// # Errors
    /// The errors of reading.
    pub fn next_row(&mut self) -> Result<Option<Record>, Error> {
        Ok(self.next_with_origin()?.map(|(row, _)| row))
    }

    /// The next row, and where it comes from: not known of a row that was sorted on disk. None at the end.
    ///
    /// # Errors
    /// The errors of reading.
    pub fn next_with_origin(&mut self) -> Result<Option<(Record, Option<Origin>)>, Error> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Branch { source, log } = &mut self.sources[head.0.1];
        let origin = log.as_ref().map(|(log, _)| Origin { log: *log, shift: source.shift() });
        let row = match source.pop()? {
            Some(next) => std::mem::replace(&mut head.0.0, next).row,
            None => {
                self.merged.note_log(log, source);
                PeekMut::pop(head).0.0.row
            }
        };
        self.merged.rows += 1;
        Ok(Some((row, origin)))
    }

    /// Fills `rows` with the next ones; whether there are any.
    pub(crate) fn next_block(&mut self, rows: &mut Vec<Record>) -> Result<bool, Error> {
        rows.clear();
        while rows.len() < BLOCK_ROWS
            && let Some(row) = self.next_row()?
        {
            rows.push(row);
        }
        Ok(!rows.is_empty())
    }

    /// What was taken in; complete once the last row has been given.
    pub fn merged(&self) -> Merged {
        self.merged.clone()
    }
}

impl Iterator for Merge {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_row().transpose()
    }
}

impl std::fmt::Debug for Merge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merge").field("by", &self.by).field("merged", &self.merged).finish_non_exhaustive()
    }
}

/// When a run ended whose shards were stopped at these instants: on average, so that requests per second are those of each shard until it was
/// stopped. None where one of them is not known, or there are none.
pub fn stop_of_all(stops: &[Option<Nanos>]) -> Option<Nanos> {
    let stops = stops.iter().copied().collect::<Option<Vec<Nanos>>>()?;
    let sum: i128 = stops.iter().map(|stop| i128::from(stop.0)).sum();
    // The mean of instants lies between them.
    Some(Nanos(sum.checked_div(stops.len() as i128)? as i64))
}

/// What the first of several logs says, which then holds for all.
#[derive(Default)]
pub(crate) struct First {
    /// The metadata of the first log that has any: one killed before its head was written has none.
    pub(crate) metadata: Metadata,
}

impl First {
    /// Takes in the next log; how far its rows must be moved to count from the first one's zero.
    pub(crate) fn admit(&mut self, log: &LogReader) -> Result<Nanos, Error> {
        if self.metadata.is_empty() {
            self.metadata.clone_from(log.metadata());
        }
        Ok(match (zero_of(&self.metadata, log.path())?, zero_of(log.metadata(), log.path())?) {
            (Some(first), Some(own)) => Nanos(own.saturating_sub(first)),
            // A log that names no zero, as an imported one, is taken to count from the same.
            _ => Nanos::ZERO,
        })
    }
}

/// The plan's zero in nanoseconds since 1970, if the log names it.
fn zero_of(metadata: &Metadata, path: &Path) -> Result<Option<i64>, Error> {
    let Some(text) = metadata.get(metadata::ZERO_UNIX_NS) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| {
        let why = format!("`{}` in its metadata is `{text}`, not a number", metadata::ZERO_UNIX_NS);
        Error::not_a_log(path, why)
    })
}
