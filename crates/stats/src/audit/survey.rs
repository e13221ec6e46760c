//! The first pass: what must be known of a load before its headways can be judged.

use crate::divisor::Divisor;
use headway_base::{Kind, Nanos, Record};
use std::ops::Range;

/// Counts and extremes over rows in any order.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// First start, if there was any.
    pub first: Option<Nanos>,
    /// Last start.
    pub last: Option<Nanos>,
    /// Latest end.
    pub last_done: Option<Nanos>,
    /// Requests.
    pub requests: u64,
    /// Sessions.
    pub sessions: u64,
    /// Requests by label.
    pub by_label: Vec<u64>,
    /// The longest time from when a row was due until it started.
    pub behind: Nanos,
    /// Of all distances between starts, in nanoseconds, and between ends.
    starts: Column,
    ends: Column,
    /// Start and end of the first row.
    first_seen: Option<(Nanos, Nanos)>,
}

/// What the stamps of one column have in common.
#[derive(Clone, Debug, Default)]
struct Column {
    grid: Divisor,
    /// Places within a period of [`CLOCK`] that stamps fall on, one bit for each of its parts.
    places: u128,
    n: u64,
}

/// A clock that goes in steps of no whole number of milliseconds: that of Windows ticks 64 times a second.
const CLOCK: i64 = 15_625_000;
/// Parts of a step, each 125 us long.
const PLACES: i64 = 125;
/// Stamps of 1 ms on such a clock lie within so many parts of it; others, of which there are so many, do not.
const WITHIN: u32 = 9;
const FEWEST_STAMPS: u64 = 100;

impl Column {
    #[inline]
    fn push(&mut self, from_first: i64) {
        self.grid.push(from_first.unsigned_abs());
        self.places |= 1 << (from_first.rem_euclid(CLOCK) / (CLOCK / PLACES));
        self.n += 1;
    }

    /// Whether all stamps lie within so short a part of a step that they come from a clock of such steps.
    fn ticks(&self) -> bool {
        let empty = |from: i64| {
            let at = |k: i64| self.places >> ((from + k) % PLACES) & 1 == 0;
            (0..PLACES - i64::from(WITHIN)).all(at)
        };
        self.n >= FEWEST_STAMPS && (0..PLACES).any(empty)
    }

    fn grid(&self) -> i64 {
        let grid = self.grid.get().clamp(1, i64::MAX as u64) as i64;
        if grid < CLOCK && self.ticks() { CLOCK } else { grid }
    }
}

impl Survey {
    /// Takes a row.
    #[inline]
    pub fn push(&mut self, record: &Record) {
        match record.kind {
            Kind::Session => self.sessions += 1,
            Kind::Attempt => return,
            Kind::Request => {
                self.requests += 1;
                let step = usize::from(record.step);
                if step >= self.by_label.len() {
                    self.by_label.resize(step + 1, 0);
                }
                self.by_label[step] += 1;
            }
        }
        let at = record.started.get().unwrap_or(record.intended);
        self.behind = self.behind.max(at - record.intended);
        let first = *self.first_seen.get_or_insert((at, record.done));
        self.starts.push(at.0 - first.0.0);
        self.ends.push(record.done.0 - first.1.0);
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
        self.last_done = Some(self.last_done.map_or(record.done, |done| done.max(record.done)));
    }

    /// What the clock of the stamps resolves: every distance between two starts is a whole multiple of it, or between two ends
    /// where the rows are stamped at their ends. How finely times taken are told says nothing of that: tools take them by
    /// another clock. A load that keeps to the ticks of a timer as exactly as its stamps are written cannot be told from one whose
    /// clock goes in such steps. At least 1 ns.
    pub fn grid(&self, ends: bool) -> Nanos {
        Nanos(if ends { self.ends.grid() } else { self.starts.grid() })
    }

    /// What the clock of two streams of one file resolves: sessions may keep to a schedule that their requests do not.
    pub fn grid_with(&self, other: &Survey, ends: bool) -> Nanos {
        let mut both = Divisor::default();
        [self.grid(ends), other.grid(ends)].iter().for_each(|g| both.push(g.0.unsigned_abs()));
        if let (Some(a), Some(b)) = (self.first_seen, other.first_seen) {
            let distance = if ends { a.1 - b.1 } else { a.0 - b.0 };
            both.push(distance.0.unsigned_abs());
        }
        Nanos(both.get().clamp(1, i64::MAX as u64) as i64)
    }

    /// From the first start to just after the last; none without any.
    pub fn span(&self) -> Option<Range<Nanos>> {
        Some(self.first?..self.last? + Nanos(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Outcome;

    #[test]
    fn the_grid_is_what_all_distances_share() {
        let mut survey = Survey::default();
        for at in [1_000_003_i64, 1_050_003, 980_003, 1_120_003] {
            let at = Nanos(at);
            let row = Record { started: at.into(), step: 2, ..Record::never_started(0, at, at, Outcome::Ok) };
            survey.push(&row);
        }
        assert_eq!(survey.grid(false), Nanos(10_000));
        let at = Nanos(1_000_003);
        survey.push(&Record {
            started: at.into(),
            ..Record::never_started(0, at, at + Nanos(2_500), Outcome::Ok)
        });
        assert_eq!(survey.grid(false), Nanos(10_000), "what took 2.5 us was timed by another clock");
        assert_eq!(survey.grid(true), Nanos(2_500));
        assert_eq!(survey.span(), Some(Nanos(980_003)..Nanos(1_120_004)));
        assert_eq!(survey.by_label, [1, 0, 4]);
        assert_eq!(Survey::default().grid(false), Nanos(1));
    }

    #[test]
    fn a_clock_of_64_ticks_a_second_is_seen_in_stamps_of_a_millisecond() {
        let grid = |stamp: fn(i64) -> i64| {
            let mut survey = Survey::default();
            for k in 0..200 {
                let at = Nanos(stamp(k * k * 7 % 1_000));
                survey.push(&Record {
                    started: at.into(),
                    ..Record::never_started(0, at, at, Outcome::Ok)
                });
            }
            survey.grid(false)
        };
        assert_eq!(grid(|k| k * 15_625 / 1_000 * 1_000_000), Nanos(CLOCK));
        assert_eq!(grid(|k| k * 14_000 / 1_000 * 1_000_000), Nanos(14_000_000));
        assert_eq!(grid(|k| (k * 15_625 / 1_000 + k % 3) * 1_000_000), Nanos(1_000_000));
    }
}
