//! Start or end? Three witnesses, where a tool can stamp either, and a prior.
//!
//! *Overlap*: a thread sends one request after the other. The wrong reading makes its requests overlap wherever it paused for
//! less than a request takes. *Slope*: the time between two stamps of a thread does not depend on how long the second request
//! took if the stamps are starts, and contains that time if they are ends: a regression on it has slope 0 or 1. *Rows*: they
//! are written when requests are over. In the order of stamp + elapsed, the stamps are starts; in that of the stamps but for
//! a few small steps back, ends. Without any step back a file may as well have been sorted, which tells nothing.
//!
//! Where no witness is sure, the stamps are starts: JMeter has shipped with `sampleresult.timestamp.start=true` since 2006.

use crate::slope::{Pair, Slope, slope};
use headway_base::{Nanos, Record, Stamp};

/// How it is known whether stamps are starts or ends.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum StampsHow {
    /// The format says so.
    #[default]
    Format,
    /// The format says that they are ends, and the times taken are subtracted.
    Subtracted,
    /// The format says that they are ends, and has no times taken: ends stand for starts.
    NoTimes,
    /// Requests of a thread do not overlap as they are read.
    Overlap {
        /// Whether they are ends.
        ends: bool,
        /// Requests that begin before the one before in their thread is over.
        overlapping: u64,
        /// As many by the other reading.
        otherwise: u64,
        /// Out of this number.
        pairs: u64,
    },
    /// The time between two stamps of a thread, by the elapsed time of the second request.
    Slope {
        /// Whether they are ends: the slope is 1 and not 0.
        ends: bool,
        /// The slope.
        slope: f64,
        /// Its standard error.
        se: f64,
        /// Pairs of stamps.
        n: u64,
    },
    /// Rows are in the order of stamp + elapsed, and so the stamps are starts.
    ByElapsed {
        /// Rows that come before the one above by stamp + elapsed.
        back: u64,
        /// As many by their stamps.
        stamps_back: u64,
        /// Out of this number.
        pairs: u64,
    },
    /// Rows are in the order of the stamps but for a few, and so the stamps are ends.
    ByStamps {
        /// Rows that come before the one above by stamp + elapsed.
        elapsed_back: u64,
        /// As many by their stamps.
        back: u64,
        /// Out of this number.
        pairs: u64,
    },
    /// Not shown, and so what the tool writes by default: rows are in the order of the stamps, and the threads do not tell.
    Sorted {
        /// Rows that come before the one above by their stamps.
        back: u64,
        /// Out of this number.
        pairs: u64,
    },
    /// Not shown, and so what the tool writes by default: neither the threads nor the order of the rows tell.
    Untold {
        /// Rows that come before the one above by stamp + elapsed.
        elapsed_back: u64,
        /// As many by their stamps.
        back: u64,
        /// Out of this number.
        pairs: u64,
    },
}

/// What the rows say of ambiguous stamps.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Decision {
    pub ends: bool,
    /// Whether a witness was sure; else it is the tool's default.
    pub sure: bool,
    /// How it was decided.
    pub how: StampsHow,
}

/// One row as it would be read: its stamp taken for the start.
#[derive(Clone, Copy, Debug)]
struct Row {
    thread: (u16, u32),
    step: u16,
    stamp: i64,
    taken: i64,
}

/// What speaks against one reading and not against the other as well.
#[derive(Clone, Copy, Debug, Default)]
struct Against {
    times: u64,
    nanos: i128,
    /// Pairs that contradict this reading, whatever they say of the other; and those by little.
    all: u64,
    small: u64,
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
/// Share of a thread's requests that may overlap before it is taken for one which sends several at a time.
const OVERLAPPING: f64 = 0.05;
/// Between the end of a request and the writing of its row.
const SMALL: i64 = 100_000_000;
/// No grid of the stamps is taken for coarser than this: a load on a schedule keeps to its period.
const COARSEST: i64 = 1_000_000_000;

impl Contest {
    /// By how many ns the pair contradicts each reading, beyond what the stamps resolve; not at all if negative or zero.
    fn push(&mut self, starts: i64, ends: i64) {
        self.pairs += 1;
        self.starts.all += u64::from(starts > 0);
        self.ends.all += u64::from(ends > 0);
        self.ends.small += u64::from((1..=SMALL).contains(&ends));
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

    /// Whether requests follow one another, by both readings.
    fn one_at_a_time(&self) -> bool {
        let most = (OVERLAPPING * self.pairs as f64) as u64;
        self.starts.all <= most && self.ends.all <= most
    }
}

/// Up to this, rounding contradicts either reading as often as the other, and by little.
const FINE: i64 = 1_000_000;

/// What the stamps resolve: their last digit, or the grid that all of them lie on; 0 where it is too fine to matter.
fn grid(rows: &[Row], digit: Nanos) -> i64 {
    let first = rows.first().map_or(0, |row| row.stamp);
    let mut grid = 0u64;
    for row in rows {
        let (mut a, mut b) = (grid, row.stamp.abs_diff(first));
        while b != 0 {
            (a, b) = (b, a % b);
        }
        grid = a;
    }
    let grid = i64::try_from(grid).unwrap_or(i64::MAX).min(COARSEST).max(digit.0);
    if grid > FINE { grid } else { 0 }
}

/// Hears the witnesses. `users`: whether rows name their threads; `digit`: what the last digit of a stamp is worth.
pub(crate) fn decide(records: &[Record], users: bool, digit: Nanos) -> Decision {
    let mut rows: Vec<Row> = records
        .iter()
        .filter_map(|r| {
            let stamp = r.started.get()?;
            let thread = if users { (r.shard, r.user) } else { (0, 0) };
            Some(Row { thread, step: r.step, stamp: stamp.0, taken: (r.done - stamp).0 })
        })
        .collect();
    let grid = grid(&rows, digit);
    let mut order = Contest::default();
    for pair in rows.windows(2) {
        let [before, now] = pair else { continue };
        let fall = before.stamp - now.stamp - grid;
        order.push(fall + before.taken - now.taken, fall);
    }
    // Rows of one thread by time, those of one instant as they stand.
    rows.sort_by_key(|row| (row.thread, row.stamp));
    let mut overlap = Contest::default();
    let mut pairs = Vec::new();
    for pair in rows.windows(2) {
        let [before, now] = pair else { continue };
        if before.thread != now.thread {
            continue;
        }
        let apart = now.stamp - before.stamp;
        overlap.push(before.taken - apart - grid, now.taken - apart - grid);
        let steps = (before.step, now.step);
        pairs.push(Pair { apart: apart as f64, first: before.taken as f64, second: now.taken as f64, steps });
    }
    // Rows that name no thread overlap as they like.
    if !users {
        let Contest { pairs, starts, ends } = overlap;
        overlap =
            Contest { pairs, starts: Against { times: 0, ..starts }, ends: Against { times: 0, ..ends } };
    }
    let slope = if overlap.one_at_a_time() { slope(pairs) } else { None };
    conclude(&overlap, slope, &order)
}

/// The witnesses in the order of their weight.
fn conclude(overlap: &Contest, slope: Option<Slope>, order: &Contest) -> Decision {
    let decided = |ends: bool, how: StampsHow| Decision { ends, sure: true, how };
    let open = |how: StampsHow| Decision { ends: false, sure: false, how };
    let Contest { pairs, starts, ends } = overlap;
    let (pairs, starts, ends) = (*pairs, starts.times, ends.times);
    let overlapping =
        |ends, overlapping, otherwise| StampsHow::Overlap { ends, overlapping, otherwise, pairs };
    match overlap.says() {
        Says::Starts => return decided(false, overlapping(false, starts, ends)),
        Says::Ends => return decided(true, overlapping(true, ends, starts)),
        Says::Nothing => {}
    }
    if let Some(slope) = slope {
        for (ends, value) in [(false, 0.0), (true, 1.0)] {
            if slope.is(value) {
                let how = StampsHow::Slope { ends, slope: slope.value, se: slope.se, n: slope.n };
                return decided(ends, how);
            }
        }
    }
    let Contest { pairs, starts, ends } = order;
    let (pairs, back, small) = (*pairs, ends.all, ends.small);
    let (starts, ends) = (starts.times, ends.times);
    match order.says() {
        Says::Starts => decided(false, StampsHow::ByElapsed { back: starts, stamps_back: ends, pairs }),
        // As a tool writes them: nearly in order. A file in perfect order may have been sorted by its stamps.
        Says::Ends if small >= FEWEST && 5 * small >= 4 * back => {
            decided(true, StampsHow::ByStamps { back: ends, elapsed_back: starts, pairs })
        }
        Says::Ends => open(StampsHow::Sorted { back, pairs }),
        Says::Nothing => open(StampsHow::Untold { back, elapsed_back: starts, pairs }),
    }
}

/// The same row with its stamp read as the end.
pub(crate) fn to_starts(record: &mut Record) {
    let shift = record.started.get().map_or(headway_base::Nanos::ZERO, |started| record.done - started);
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
    use headway_base::{Nanos, Outcome};

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

    /// Whether they are ends, whether that is sure, and what tells.
    fn decided(records: &[Record], users: bool) -> (bool, bool, &'static str) {
        let Decision { ends, sure, how } = decide(records, users, Nanos(1));
        let tells = match how {
            StampsHow::Overlap { ends: so, .. } => {
                assert_eq!(so, ends);
                "overlap"
            }
            StampsHow::Slope { ends: so, slope, .. } => {
                assert!(so == ends && (slope - f64::from(u8::from(ends))).abs() < 0.3, "{slope}");
                "slope"
            }
            StampsHow::ByElapsed { .. } => "by elapsed",
            StampsHow::ByStamps { .. } => "by stamps",
            StampsHow::Sorted { .. } | StampsHow::Untold { .. } => "default",
            StampsHow::Format | StampsHow::Subtracted | StampsHow::NoTimes => "format",
        };
        (ends, sure, tells)
    }

    fn sorted(records: &[Record]) -> Vec<Record> {
        let mut records = records.to_vec();
        records.sort_by_key(|r| r.started.get());
        records
    }

    #[test]
    fn threads_tell_whatever_the_order_of_rows() {
        let starts = requests(5, 2);
        let ends = as_ends(&starts);
        let read_so = |ends: bool| (ends, true, "overlap");
        let backwards = |records: &[Record]| records.iter().rev().copied().collect::<Vec<_>>();
        for change in [<[Record]>::to_vec as fn(&[Record]) -> Vec<Record>, sorted, backwards] {
            assert_eq!(decided(&change(&starts), true), read_so(false));
            assert_eq!(decided(&change(&ends), true), read_so(true));
        }
    }

    #[test]
    fn the_slope_tells_of_threads_that_pause() {
        for threads in [1, 5] {
            let starts = requests(threads, 1000);
            let ends = as_ends(&starts);
            assert_eq!(decided(&sorted(&starts), true), (false, true, "slope"));
            assert_eq!(decided(&sorted(&ends), true), (true, true, "slope"));
        }
    }

    #[test]
    fn the_order_of_rows_tells_where_threads_do_not() {
        let mut starts = requests(5, 1000);
        starts.iter_mut().zip(0..).for_each(|(r, user)| r.user = user);
        let mut ends = as_ends(&starts);
        assert_eq!(decided(&starts, true), (false, true, "by elapsed"));
        // In perfect order: sorted, or ends.
        assert_eq!(decided(&ends, true), (false, false, "default"));
        assert_eq!(decided(&sorted(&starts), true), (false, false, "default"));
        // As they are written, some a little late.
        for k in (10..ends.len() - 1).step_by(40) {
            ends.swap(k, k + 1);
        }
        assert_eq!(decided(&ends, true), (true, true, "by stamps"));
    }

    #[test]
    fn nothing_tells_of_few_rows_or_of_equal_times() {
        let few = |records: Vec<Record>| records[..20].to_vec();
        let default = (false, false, "default");
        for records in [few(requests(1, 1000)), as_ends(&few(requests(1, 1000))), Vec::new()] {
            assert_eq!(decided(&records, true), default);
        }
        let mut equal = requests(3, 1000);
        for r in &mut equal {
            r.done = r.started.get().unwrap() + Nanos(7);
        }
        equal.sort_by_key(|r| r.done);
        assert_eq!(decided(&equal, true), default);
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
