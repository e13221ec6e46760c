//! Sorting on disk what memory cannot: a log cut into sorted runs, and the runs merged until few are left.
//!
//! Runs are made by replacement selection (Knuth, The Art of Computer Programming 3, 5.4.1), which makes them twice as
//! long as the memory on average, and longer the more the log is sorted already.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use headway_base::{Nanos, Record};

use crate::error::Error;
use crate::metadata::Metadata;
use crate::reader::LogReader;
use crate::sort::{By, Limits, Ordered, Source};
use crate::writer::{LogWriter, Medium};

/// Rows in a batch of a run. Small, because as many are in memory as there are runs being merged.
const RUN_BATCH_ROWS: usize = 512;

/// Sorted runs on disk, never more than may be open at once.
pub(crate) struct Runs {
    folder: PathBuf,
    by: By,
    limits: Limits,
    /// Each with its rows.
    runs: Vec<(u64, LogReader)>,
}

impl Runs {
    /// No runs yet; their files will stand in `folder`.
    pub(crate) fn new(folder: &Path, by: By, limits: Limits) -> Runs {
        Runs { folder: folder.to_path_buf(), by, limits, runs: Vec::new() }
    }

    /// Cuts the rest of `source` into runs.
    pub(crate) fn cut(&mut self, source: &mut Source) -> Result<(), Error> {
        let mut cut = Cut::default();
        while let Some(rows) = source.read()? {
            for row in rows {
                cut.heap.push(Reverse((cut.number_of(row), row)));
                if cut.heap.len() > self.limits.rows_in_memory {
                    cut.give_one(self)?;
                }
            }
        }
        while !cut.heap.is_empty() {
            cut.give_one(self)?;
        }
        cut.run.map_or(Ok(()), |full| self.push(full))
    }

    /// The runs as sources, ready to be merged.
    pub(crate) fn into_sources(self) -> impl Iterator<Item = Source> {
        self.runs.into_iter().map(move |(_, run)| Source::new(run, self.by, Nanos::ZERO, 0))
    }

    fn push(&mut self, run: Run) -> Result<(), Error> {
        self.runs.push(run.into_reader()?);
        let at_once = self.limits.runs_at_once.max(2);
        if self.runs.len() <= at_once {
            return Ok(());
        }
        // The shortest half becomes one: like this runs of about equal length meet, and none is copied at every turn.
        self.runs.sort_by_key(|(rows, _)| Reverse(*rows));
        let shortest = self.runs.split_off(self.runs.len() - at_once.div_ceil(2).max(2));
        let mut sources: Vec<Source> =
            shortest.into_iter().map(|(_, run)| Source::new(run, self.by, Nanos::ZERO, 0)).collect();
        let mut heads = BinaryHeap::new();
        for (at, source) in sources.iter_mut().enumerate() {
            heads.extend(source.pop()?.map(|row| Reverse((row, at))));
        }
        let mut longer = Run::new(&self.folder)?;
        while let Some(Reverse((next, at))) = heads.pop() {
            heads.extend(sources[at].pop()?.map(|row| Reverse((row, at))));
            longer.append(next.row)?;
        }
        self.runs.push(longer.into_reader()?);
        Ok(())
    }
}

/// A log being cut into runs.
#[derive(Default)]
struct Cut {
    /// Rows that are in no run yet, with the number of the run that they are for.
    heap: BinaryHeap<Reverse<(usize, Ordered)>>,
    /// The row that went last into a run.
    last: Option<(usize, Ordered)>,
    run: Option<Run>,
}

impl Cut {
    /// The run that a row is for: one that comes too late for the current run waits for the next.
    fn number_of(&self, row: Ordered) -> usize {
        self.last.map_or(0, |(number, last)| if row < last { number + 1 } else { number })
    }

    /// Moves the first row to its run.
    fn give_one(&mut self, runs: &mut Runs) -> Result<(), Error> {
        let Some(Reverse((number, row))) = self.heap.pop() else { return Ok(()) };
        if self.last.is_some_and(|(current, _)| current != number)
            && let Some(full) = self.run.take()
        {
            runs.push(full)?;
        }
        match &mut self.run {
            Some(run) => run.append(row.row)?,
            None => self.run.insert(Run::new(&runs.folder)?).append(row.row)?,
        }
        self.last = Some((number, row));
        Ok(())
    }
}

/// A sorted run being written: a log in a file without a name, which vanishes with its last handle.
struct Run {
    writer: LogWriter,
    file: File,
    rows: Vec<Record>,
    appended: u64,
}

impl Run {
    fn new(folder: &Path) -> Result<Run, Error> {
        let io = |source| Error::io(folder, "sort on disk in it", source);
        let file = tempfile::tempfile_in(folder).map_err(io)?;
        let medium: Box<dyn Medium> = Box::new(file.try_clone().map_err(io)?);
        let writer = LogWriter::over(medium, folder, &Metadata::new(), RUN_BATCH_ROWS)?;
        Ok(Run { writer, file, rows: Vec::with_capacity(RUN_BATCH_ROWS), appended: 0 })
    }

    fn append(&mut self, row: Record) -> Result<(), Error> {
        self.rows.push(row);
        self.appended += 1;
        if self.rows.len() < RUN_BATCH_ROWS {
            return Ok(());
        }
        self.writer.append(&self.rows)?;
        self.rows.clear();
        Ok(())
    }

    /// How many rows it has, and they.
    fn into_reader(mut self) -> Result<(u64, LogReader), Error> {
        self.writer.append(&self.rows)?;
        self.writer.finish_unsynced()?;
        let path = self.writer.path().to_path_buf();
        self.file
            .seek(SeekFrom::Start(0))
            .map_err(|source| Error::io(&path, "sort on disk in it", source))?;
        Ok((self.appended, LogReader::stream(Box::new(BufReader::new(self.file)), &path)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Outcome;

    /// A log in descending order is cut into runs of equal length, the most that there can be.
    #[test]
    fn many_runs_are_copied_a_few_times_each() {
        let folder = tempfile::tempdir().unwrap();
        let limits = Limits { runs_at_once: 16, ..Limits::default() };
        let mut runs = Runs::new(folder.path(), By::Started, limits);
        let (many, mut copied) = (1_000, 0);
        for k in (0..many).rev() {
            let before = runs.runs.len();
            let mut run = Run::new(folder.path()).unwrap();
            run.append(Record::never_started(k, Nanos(k as i64), Nanos(k as i64), Outcome::Ok)).unwrap();
            runs.push(run).unwrap();
            if runs.runs.len() <= before {
                copied += runs.runs.last().unwrap().0;
            }
        }
        assert_eq!(runs.runs.iter().map(|(rows, _)| rows).sum::<u64>(), many);
        // Eight become one at a time. Were the newest taken, each would be copied some 70 times.
        assert!(copied <= 8 * many, "{copied} rows were copied");
    }
}
