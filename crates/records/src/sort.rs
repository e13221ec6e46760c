//! The order of rows in time, and putting a nearly sorted log in order as it is read.
//!
//! A log is in the order in which requests ended, so by any other time it is nearly sorted: no row is further from
//! its place than the rows that ended while it was open. A window of that many rows sorts it in passing, without a
//! temporary file. Whether the window is large enough shows only in trying: [`Source::pop`] refuses a row that comes too
//! late for it, and the log is then sorted on disk (module `runs`). Who cannot begin again asks [`is_nearly_sorted`] first.

use std::cmp::Ordering;
use std::collections::VecDeque;
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
    /// Rows held in memory for sorting, over all logs, at about 150 bytes each; a batch of each log comes on top.
    pub rows_in_memory: usize,
    /// Sorted runs merged at a time, at about 200 KB of memory and one descriptor each; at least 2.
    pub runs_at_once: usize,
    /// Zeros of logs which differ by at most this are one: their rows stay as they are.
    pub same_zero: Nanos,
}

/// 500,000 rows (75 MB) sort a log of 10,000 requests a second with answers of up to 50 s in passing.
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

/// Rows of one log or run, each moved in time and put in order as far as a window of `ahead` rows can.
pub(crate) struct Source {
    reader: LogReader,
    by: By,
    shift: Nanos,
    window: Window,
    ahead: usize,
}

impl Source {
    pub(crate) fn new(reader: LogReader, by: By, shift: Nanos, ahead: usize) -> Source {
        Source { reader, by, shift, window: Window::default(), ahead }
    }

    pub(crate) fn ending(&self) -> Option<Ending> {
        self.reader.ending()
    }

    /// How far its rows are moved.
    pub(crate) fn shift(&self) -> Nanos {
        self.shift
    }

    /// The next rows as they stand in the file; not to be mixed with [`pop`](Source::pop).
    pub(crate) fn read(&mut self) -> Result<Option<impl Iterator<Item = Ordered> + '_>, Error> {
        let (by, shift) = (self.by, self.shift);
        let rows = self.reader.next_batch()?;
        Ok(rows.map(|rows| rows.iter().map(move |row| Ordered::new(moved(*row, shift), by))))
    }

    /// The next row in order.
    ///
    /// # Errors
    /// The errors of reading; [`Error::Disorder`] if a row comes too late for the window.
    pub(crate) fn pop(&mut self) -> Result<Option<Ordered>, Error> {
        while self.window.order.len() <= self.ahead {
            let Some(rows) = self.reader.next_batch()? else { break };
            let rows = rows.iter().map(|row| Ordered::new(moved(*row, self.shift), self.by));
            if !self.window.take(rows) {
                return Err(Error::Disorder { path: self.reader.path().to_path_buf() });
            }
        }
        Ok(self.window.pop())
    }
}

/// Rows that were read and not given on yet. They stay where they are: what is sorted is their places.
#[derive(Default)]
struct Window {
    rows: Vec<Record>,
    /// Places in `rows` to be used again, the one that has been free longest in front.
    free: VecDeque<u32>,
    /// Where the rows are, in their order.
    order: VecDeque<Place>,
    /// Where the row is that was given on last.
    last: Option<Place>,
}

/// Where a row is, with the time that it is sorted by.
#[derive(Clone, Copy)]
struct Place {
    at: Nanos,
    row: u32,
}

impl Window {
    /// Takes rows in; whether none of them comes before the row that was given on last.
    fn take(&mut self, rows: impl Iterator<Item = Ordered>) -> bool {
        let last = self.last.take().map(|Place { at, row }| Ordered { at, row: self.rows[row as usize] });
        let mut fresh: Vec<Place> = rows.map(|row| self.keep(row)).collect();
        let kept = &self.rows;
        let row = |place: &Place| &kept[place.row as usize];
        let compare = |a: &Place, b: &Place| a.at.cmp(&b.at).then_with(|| compare_rows(row(a), row(b)));
        fresh.sort_unstable_by(compare);
        let Some(first) = fresh.first().copied() else { return true };
        if last.is_some_and(|last| Ordered { at: first.at, row: *row(&first) } < last) {
            return false;
        }
        // Of the rows that are there only the last few lie among those that came.
        let later = self.order.partition_point(|place| compare(place, &first) != Ordering::Greater);
        let mut later = self.order.split_off(later).into_iter().peekable();
        for place in fresh {
            while let Some(before) = later.next_if(|other| compare(other, &place) == Ordering::Less) {
                self.order.push_back(before);
            }
            self.order.push_back(place);
        }
        self.order.extend(later);
        true
    }

    fn keep(&mut self, Ordered { at, row }: Ordered) -> Place {
        let place = self.free.pop_front();
        match place {
            Some(place) => self.rows[place as usize] = row,
            None => self.rows.push(row),
        }
        Place { at, row: place.unwrap_or(self.rows.len() as u32 - 1) }
    }

    fn pop(&mut self) -> Option<Ordered> {
        let place = self.order.pop_front()?;
        self.free.push_back(place.row);
        self.last = Some(place);
        Some(Ordered { at: place.at, row: self.rows[place.row as usize] })
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

/// Whether the log comes out sorted through a window of `ahead` rows. Reads all of it.
pub(crate) fn is_nearly_sorted(path: &Path, by: By, ahead: usize) -> Result<bool, Error> {
    let mut source = Source::new(LogReader::open(path)?, by, Nanos::ZERO, ahead);
    loop {
        match source.pop() {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(true),
            Err(Error::Disorder { .. }) => return Ok(false),
            Err(other) => return Err(other),
        }
    }
}
