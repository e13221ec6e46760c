//! Start or end? Two witnesses, where a tool can stamp either.
//!
//! A *thread* sends one request after the other. If the stamps are starts, none lies before the end of the request
//! before; if they are ends, none does so after its time taken is subtracted. The wrong reading makes requests of a thread
//! overlap wherever it paused for less than a request takes.
//!
//! The *rows* are written when requests are over. If they are in the order of stamp + time taken, the stamps are starts;
//! if they are in the order of the stamps themselves although those differ in how long they took, the stamps are ends. A
//! file that somebody has sorted by its stamps looks like one of ends, so the threads are heard first.
//!
//! Where neither tells, the tool's default is taken: starts.

use base::{Record, Stamp};
use std::collections::HashMap;

/// Evidence, gathered over the first rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    before: Option<Row>,
    rows: Contest,
    /// The row before of each thread, by generator and user.
    threads: HashMap<(u16, u32), Row>,
    requests: Contest,
}

/// One row as it would be read: its stamp taken for the start.
#[derive(Clone, Copy, Debug)]
struct Row {
    stamp: i64,
    taken: i64,
}

/// What speaks against one reading and not against the other as well.
#[derive(Clone, Copy, Debug, Default)]
struct Against {
    times: u64,
    nanos: i128,
}

/// What a witness says of each pair of rows.
#[derive(Clone, Copy, Debug, Default)]
struct Contest {
    pairs: u64,
    starts: Against,
    ends: Against,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Says {
    Starts,
    Ends,
    Nothing,
}

/// One reading must be contradicted this many times as often, and by as much in sum, as the other for the other to be
/// believed: under the right one rows are out of order by no more than the time between an end and its writing.
const CLEARLY: u64 = 4;
/// And at least so often.
const FEWEST: u64 = 5;

impl Contest {
    /// By how many ns the pair contradicts each reading; not at all if negative or zero.
    fn push(&mut self, starts: i64, ends: i64) {
        self.pairs += 1;
        let (reading, by) = match (starts > 0, ends > 0) {
            (true, false) => (&mut self.starts, starts),
            (false, true) => (&mut self.ends, ends),
            _ => return,
        };
        reading.times += 1;
        reading.nanos += i128::from(by);
    }

    fn says(&self) -> Says {
        let clear = |less: Against, more: Against| {
            more.times >= FEWEST
                && less.times * CLEARLY < more.times
                && less.nanos * i128::from(CLEARLY) < more.nanos
        };
        if clear(self.starts, self.ends) {
            Says::Starts
        } else if clear(self.ends, self.starts) {
            Says::Ends
        } else {
            Says::Nothing
        }
    }
}

impl Order {
    /// Hears more rows. `users`: whether they name their threads.
    pub(crate) fn push(&mut self, records: &[Record], users: bool) {
        for r in records {
            let Some(stamp) = r.started.get() else { continue };
            let row = Row { stamp: stamp.0, taken: (r.done - stamp).0 };
            if let Some(before) = self.before.replace(row) {
                let (now, then) = (row.stamp + row.taken, before.stamp + before.taken);
                self.rows.push(then - now, before.stamp - row.stamp);
            }
            if users && let Some(before) = self.threads.insert((r.shard, r.user), row) {
                let (end_before, start_now) = (before.stamp + before.taken, row.stamp - row.taken);
                self.requests.push(end_before - row.stamp, before.stamp - start_now);
            }
        }
    }

    /// Whether the stamps are ends.
    pub(crate) fn says_ends(&self) -> bool {
        match self.requests.says() {
            Says::Nothing => self.rows.says() == Says::Ends,
            says => says == Says::Ends,
        }
    }

    /// How it was decided: a clause that goes in brackets behind the decision.
    pub(crate) fn words(&self) -> String {
        let Contest { pairs, starts, ends } = self.requests;
        let (starts, ends) = (starts.times, ends.times);
        let read_so = |these: u64, other: &str, those: u64| {
            format!(
                "read so, {these} of {pairs} requests begin before the one before in their thread is over; read as {other}, \
                 {those} do"
            )
        };
        match self.requests.says() {
            Says::Starts => return read_so(starts, "ends", ends),
            Says::Ends => return read_so(ends, "starts", starts),
            Says::Nothing => {}
        }
        let Contest { pairs, starts, ends } = self.rows;
        let (starts, ends) = (starts.times, ends.times);
        match self.rows.says() {
            Says::Ends => format!(
                "rows are in the order of the stamps ({ends} of {pairs} fall back), not of stamp + elapsed ({starts} do); a \
                 file sorted by its stamps looks the same"
            ),
            Says::Starts => format!(
                "rows are in the order of stamp + elapsed ({starts} of {pairs} fall back), not of the stamps ({ends} do)"
            ),
            Says::Nothing => format!(
                "the tool's default: neither the threads nor the order of the rows tell ({ends} of {pairs} stamps fall back, \
                 {starts} of stamp + elapsed)"
            ),
        }
    }
}

/// The same row with its stamp read as the end.
pub(crate) fn to_starts(record: &mut Record) {
    let shift = record.started.get().map_or(base::Nanos::ZERO, |started| record.done - started);
    let back = |stamp: Stamp| stamp.get().map_or(Stamp::NONE, |at| (at - shift).into());
    record.intended -= shift;
    record.arrived -= shift;
    record.started = back(record.started);
    record.sent = back(record.sent);
    record.first_byte = back(record.first_byte);
    record.done -= shift;
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Nanos, Outcome};

    /// Requests of `threads` threads with varying times taken, each pausing `pause`, in the order of their ends.
    fn requests(threads: u32, pause: i64) -> Vec<Record> {
        let mut records = Vec::new();
        for user in 0..threads {
            let mut at = i64::from(user) * 3;
            for i in 0..200_i64 {
                let taken = 5 + (i * 37 + i64::from(user) * 11) % 50;
                let mut record = Record::never_started(0, Nanos(at), Nanos(at + taken), Outcome::Ok);
                record.started = Nanos(at).into();
                record.first_byte = Nanos(at + 1).into();
                record.user = user;
                records.push(record);
                at += taken + pause;
            }
        }
        records.sort_by_key(|r| r.done);
        records
    }

    /// As a file that stamps ends is read before it is known that it does.
    fn as_ends(records: &[Record]) -> Vec<Record> {
        let mut records = records.to_vec();
        for r in &mut records {
            let taken = r.done - r.started.get().unwrap();
            r.intended += taken;
            r.started = r.done.into();
            r.done += taken;
        }
        records
    }

    /// Whether they are ends, and how the words on it begin.
    fn decided(records: &[Record], users: bool) -> (bool, String) {
        let mut order = Order::default();
        records.chunks(7).for_each(|chunk| order.push(chunk, users));
        let words = order.words();
        let beginning = words.split([',', ':', '(']).next().unwrap().trim_end();
        assert!(
            words.contains("read as starts, ") == (beginning == "read so" && order.says_ends()),
            "{words}"
        );
        (order.says_ends(), beginning.to_owned())
    }

    #[test]
    fn threads_tell_whatever_the_order_of_rows() {
        let starts = requests(5, 2);
        let ends = as_ends(&starts);
        assert_eq!(decided(&starts, true), (false, "read so".into()));
        assert_eq!(decided(&ends, true), (true, "read so".into()));
        let sorted = |records: &[Record]| {
            let mut records = records.to_vec();
            records.sort_by_key(|r| r.started.get());
            records
        };
        assert_eq!(decided(&sorted(&starts), true), (false, "read so".into()));
        assert_eq!(decided(&sorted(&ends), true), (true, "read so".into()));
    }

    #[test]
    fn the_order_of_rows_tells_where_threads_do_not() {
        let starts = requests(5, 1000);
        let ends = as_ends(&starts);
        for users in [true, false] {
            assert_eq!(decided(&starts, users), (false, "rows are in the order of stamp + elapsed".into()));
            assert_eq!(decided(&ends, users), (true, "rows are in the order of the stamps".into()));
        }
    }

    #[test]
    fn nothing_tells_of_one_thread_that_pauses() {
        for records in [requests(1, 1000), as_ends(&requests(1, 1000)), Vec::new()] {
            assert_eq!(decided(&records, true), (false, "the tool's default".into()));
        }
    }

    #[test]
    fn ends_become_starts() {
        let started = requests(2, 5);
        let mut ends = as_ends(&started);
        ends.iter_mut().for_each(to_starts);
        let times = |r: &Record| (r.intended, r.started, r.done);
        assert!(ends.iter().map(times).eq(started.iter().map(times)));
    }
}
