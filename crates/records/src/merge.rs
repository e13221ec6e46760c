//! Several logs in the order of time: shards of one machine, machines of one test.
//!
//! A k-way merge over sources that are each in order, or are put in order by a bounded heap, or were cut into sorted
//! runs on disk beforehand. The result depends on the rows alone, not on the order of the logs
//! nor of the rows in them.
//!
//! Deliberately absent: any judgement whether the logs belong together. Different zeros are reconciled, because the
//! rows would otherwise be wrong; all else is the caller's.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::{Path, PathBuf};

use headway_base::{Nanos, Record};

use crate::atomic_file::{PendingFile, folder_of};
use crate::error::Error;
use crate::metadata::{self, Metadata};
use crate::reader::LogReader;
use crate::runs::Runs;
use crate::sort::{By, Limits, Ordered, Source, survey};
use crate::stream::Ending;
use crate::writer::{BATCH_ROWS, LogWriter};

/// What a merge or an export took in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Merged {
    /// Rows read and given on.
    pub rows: u64,
    /// Logs that were too far out of order for the memory and were sorted on disk.
    pub sorted_on_disk: usize,
    /// Logs without an end mark, and how they ended.
    pub truncated: Vec<(PathBuf, Ending)>,
}

impl Merged {
    pub(crate) fn note(&mut self, path: &Path, ending: Option<Ending>) {
        if let Some(ending @ Ending::Truncated { .. }) = ending {
            self.truncated.push((path.to_path_buf(), ending));
        }
    }
}

/// Rows handed on at a time: a row alone costs a call per column.
const BLOCK_ROWS: usize = 512;

/// Merges `logs` into a new log at `out`, which appears complete or not at all.
///
/// # Errors
/// [`Error::Exists`] if `out` exists; the errors of reading; [`Error::Write`] and [`Error::Io`] of writing, also of
/// temporary files, which stand beside `out`.
pub fn merge(logs: &[PathBuf], out: &Path, by: By, limits: Limits) -> Result<Merged, Error> {
    merge_as(logs, out, by, limits, None)
}

/// The same; the new log says `metadata` about itself, if there are any, and not what the first log does.
///
/// # Errors
/// As [`merge()`].
pub fn merge_as(
    logs: &[PathBuf],
    out: &Path,
    by: By,
    limits: Limits,
    metadata: Option<&Metadata>,
) -> Result<Merged, Error> {
    let (pending, file) = PendingFile::beside(out)?;
    let mut merge = Merge::open(logs, by, limits, folder_of(out))?;
    let metadata = metadata.unwrap_or(merge.metadata());
    let mut writer = LogWriter::over(Box::new(file), out, metadata, BATCH_ROWS)?;
    let mut rows = Vec::with_capacity(BLOCK_ROWS);
    while merge.next_block(&mut rows)? {
        writer.append(&rows)?;
    }
    writer.finish()?;
    pending.persist()?;
    Ok(merge.merged())
}

/// The rows of several logs in the order of time, one by one.
pub struct Merge {
    metadata: Metadata,
    by: By,
    /// The sources, with the paths of those that are logs themselves and not runs.
    sources: Vec<(Option<PathBuf>, Source)>,
    /// The next row of each source that has one.
    heads: BinaryHeap<Reverse<(Ordered, usize)>>,
    merged: Merged,
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
        let heap_rows = limits.rows_in_memory / logs.len().max(1);
        let mut first = First::default();
        let mut merge = Merge {
            metadata: Metadata::new(),
            by,
            sources: Vec::new(),
            heads: BinaryHeap::new(),
            merged: Merged::default(),
        };
        let mut runs = Runs::new(spill_folder, by, limits);
        for path in logs {
            let reader = LogReader::open(path)?;
            let shift = first.admit(&reader)?;
            let shift = if Nanos(shift.0.abs()) <= limits.same_zero { Nanos::ZERO } else { shift };
            let sorted_by = survey(path, by, heap_rows)?;
            let mut source = Source::new(reader, by, shift, sorted_by.unwrap_or(0));
            if sorted_by.is_some() {
                merge.sources.push((Some(path.clone()), source));
            } else {
                runs.cut(&mut source)?;
                merge.merged.sorted_on_disk += 1;
                merge.merged.note(path, source.ending());
            }
        }
        merge.sources.extend(runs.into_sources().map(|source| (None, source)));
        merge.metadata = first.metadata;
        (0..merge.sources.len()).try_for_each(|at| merge.advance(at))?;
        Ok(merge)
    }

    /// The metadata of the first log that has any; the rows of all count from its zero.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
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
        let Some(Reverse((next, at))) = self.heads.pop() else { return Ok(None) };
        self.advance(at)?;
        self.merged.rows += 1;
        Ok(Some(next.row))
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

    fn advance(&mut self, at: usize) -> Result<(), Error> {
        let (path, source) = &mut self.sources[at];
        match source.pop()? {
            Some(row) => self.heads.push(Reverse((row, at))),
            None => {
                if let Some(path) = path.take() {
                    self.merged.note(&path, source.ending());
                }
            }
        }
        Ok(())
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
