//! The order of rows in time, and putting a nearly sorted log in order as it is read.
//!
//! A log is in the order in which requests ended, so by any other time it is nearly sorted: no row is further from
//! its place than the rows that ended while it was open. A heap of that many rows sorts it in passing, without a
//! temporary file. Whether the heap is large enough shows only in trying, so a log is read once to find out
//! ([`survey`]) and, only if it is not, sorted on disk (module `runs`).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::path::Path;

use headway_base::{Nanos, Record, Stamp};

use crate::error::Error;
use crate::reader::LogReader;
use crate::stream::Ending;

/// The time to sort by. Rows of equal time follow in the order of `k` and then of their other fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum By {
    /// When the request was due.
    Intended,
    /// When it started; one that never did stands at the time when it was due.
    Started,
}

/// Bounds on what a merge may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Rows held in memory for sorting, over all logs; at about 140 bytes each. At least one per log.
    pub rows_in_memory: usize,
    /// Sorted runs merged at a time, at about 200 KB of memory and one descriptor each; at least 2.
    pub runs_at_once: usize,
    /// Zeros of logs which differ by at most this are one: their rows stay as they are.
    pub same_zero: Nanos,
}

/// 500,000 rows (70 MB) sort a log of 10,000 requests a second with answers of up to 50 s in passing.
impl Default for Limits {
    fn default() -> Limits {
        Limits { rows_in_memory: 500_000, runs_at_once: 100, same_zero: Nanos::ZERO }
    }
}

/// A row in its order: the time asked for, then everything else, so that equal keys are equal rows and the order of a
/// merge does not depend on the order of its inputs.
#[derive(Clone, Copy)]
pub(crate) struct Ordered {
    at: Nanos,
    pub(crate) row: Record,
}

impl Ordered {
    pub(crate) fn new(row: Record, by: By) -> Ordered {
        let at = match by {
            By::Intended => row.intended,
            // One that never started stands where it should have.
            By::Started => row.started.get().unwrap_or(row.intended),
        };
        Ordered { at, row }
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> Ordering {
        self.at.cmp(&other.at).then_with(|| compare_rows(&self.row, &other.row))
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Ordered) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ordered {}

fn compare_rows(a: &Record, b: &Record) -> Ordering {
    let stamps = |r: &Record| [r.started, r.sent, r.first_byte, r.connect, r.tls].map(Stamp::get);
    let keys = |r: &Record| (r.group, r.k, r.kind, r.step, r.repeat, r.attempt, r.shard, r.user);
    let ends = |r: &Record| (r.intended, r.arrived, r.due, r.done, r.wait, r.outcome, r.status, r.reused);
    let sizes = |r: &Record| (r.bytes_received, r.bytes_sent, r.count, r.connection);
    keys(a)
        .cmp(&keys(b))
        .then_with(|| ends(a).cmp(&ends(b)))
        .then_with(|| stamps(a).cmp(&stamps(b)))
        .then_with(|| sizes(a).cmp(&sizes(b)))
}

/// Rows of one log or run, each moved in time and put in order as far as a heap of `heap_rows` can.
pub(crate) struct Source {
    reader: LogReader,
    by: By,
    shift: Nanos,
    batch: Vec<Record>,
    next: usize,
    heap: BinaryHeap<Reverse<Ordered>>,
    heap_rows: usize,
}

impl Source {
    pub(crate) fn new(reader: LogReader, by: By, shift: Nanos, heap_rows: usize) -> Source {
        Source { reader, by, shift, batch: Vec::new(), next: 0, heap: BinaryHeap::new(), heap_rows }
    }

    pub(crate) fn ending(&self) -> Option<Ending> {
        self.reader.ending()
    }

    /// The next row as it stands in the file.
    pub(crate) fn read(&mut self) -> Result<Option<Ordered>, Error> {
        if self.next == self.batch.len() {
            self.batch.clear();
            self.next = 0;
            match self.reader.next_batch()? {
                Some(rows) => self.batch.extend_from_slice(rows),
                None => return Ok(None),
            }
        }
        let row = moved(self.batch[self.next], self.shift);
        self.next += 1;
        Ok(Some(Ordered::new(row, self.by)))
    }

    /// The next row in order.
    pub(crate) fn pop(&mut self) -> Result<Option<Ordered>, Error> {
        while self.heap.len() <= self.heap_rows {
            match self.read()? {
                Some(row) => self.heap.push(Reverse(row)),
                None => break,
            }
        }
        Ok(self.heap.pop().map(|Reverse(row)| row))
    }
}

/// The row as a log with another zero would have it: instants move, spans do not.
pub(crate) fn moved(row: Record, shift: Nanos) -> Record {
    if shift == Nanos::ZERO {
        return row;
    }
    let stamp = |stamp: Stamp| Stamp::from(stamp.get().map(|at| at.saturating_add(shift)));
    Record {
        intended: row.intended.saturating_add(shift),
        arrived: row.arrived.saturating_add(shift),
        started: stamp(row.started),
        sent: stamp(row.sent),
        first_byte: stamp(row.first_byte),
        done: row.done.saturating_add(shift),
        ..row
    }
}

/// The smallest heap, of no rows or `heap_rows`, through which the log comes out sorted; none if neither does.
pub(crate) fn survey(path: &Path, by: By, heap_rows: usize) -> Result<Option<usize>, Error> {
    // One pass for both questions: the heap's output is watched, and so is its input.
    let mut source = Source::new(LogReader::open(path)?, by, Nanos::ZERO, 0);
    let mut heap: BinaryHeap<Reverse<Ordered>> = BinaryHeap::new();
    let (mut last_in, mut last_out): (Option<Ordered>, Option<Ordered>) = (None, None);
    let mut in_order = true;
    while let Some(row) = source.read()? {
        in_order &= last_in.is_none_or(|last| last <= row);
        last_in = Some(row);
        // While the log is in order, the heap would be filled for nothing; but it must hold the last rows once the
        // first one is out of order, so it is filled all the same.
        heap.push(Reverse(row));
        if heap.len() > heap_rows {
            let out = heap.pop().map(|Reverse(row)| row);
            if out < last_out {
                return Ok(None);
            }
            last_out = out;
        }
    }
    Ok(Some(if in_order { 0 } else { heap_rows }))
}
