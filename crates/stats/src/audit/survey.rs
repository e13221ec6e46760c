//! The first pass: what must be known of a load before its headways can be judged.

use crate::divisor::Divisor;
use headway_base::{Kind, Nanos, Record};
use std::ops::Range;

/// A step of the clock that Windows has: 64 a second. Its stamps, cut off to milliseconds, share no common divisor.
const STEP: Nanos = Nanos(15_625_000);
/// What the last digit of such stamps is worth, in nanoseconds.
const DIGIT: u64 = 1_000_000;
/// Parts of two steps, of 1/8 ms each.
const PARTS: usize = 250;
const PART: i64 = 2 * STEP.0 / PARTS as i64;
/// Stamps of one clock lie within so many of them: what is cut off is 1 ms at most, and the clock may be set by as much.
const WITHIN: usize = 16;

/// Which parts of two steps hold stamps.
#[derive(Clone, Copy, Debug, Default)]
struct Steps([u64; PARTS.div_ceil(64)]);

impl Steps {
    #[inline]
    fn push(&mut self, at: Nanos) {
        let part = (at.0.rem_euclid(2 * STEP.0) / PART) as usize;
        self.0[part / 64] |= 1 << (part % 64);
    }

    /// Where within a step the stamps begin, if they keep to it, and not to every other step alone.
    fn begin(&self) -> Option<Nanos> {
        const HALF: usize = PARTS / 2;
        let has = |part: usize| self.0[part / 64] >> (part % 64) & 1 == 1;
        // After how many empty parts of a step stamps begin.
        let either = |part: usize| has(part % HALF) || has(part % HALF + HALF);
        let begin = (0..HALF).find(|&part| either(part) && (WITHIN..HALF).all(|i| !either(part + i)))?;
        let both = |half: usize| (0..WITHIN).any(|i| has((begin + half + i) % PARTS));
        (both(0) && both(HALF)).then_some(Nanos(begin as i64 * PART))
    }
}

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
    starts: Divisor,
    ends: Divisor,
    /// Whether starts, and ends, keep to the steps of a clock of 64 a second.
    starts_step: Steps,
    ends_step: Steps,
    /// Start and end of the first row.
    first_seen: Option<(Nanos, Nanos)>,
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
        self.starts.push(at.0.abs_diff(first.0.0));
        self.ends.push(record.done.0.abs_diff(first.1.0));
        self.starts_step.push(at);
        self.ends_step.push(record.done);
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
        self.last_done = Some(self.last_done.map_or(record.done, |done| done.max(record.done)));
    }

    /// What the clock of the stamps resolves: every distance between two starts is a whole multiple of it, or between two ends
    /// where the rows are stamped at their ends. How finely times taken are told says nothing of that: tools take them by
    /// another clock. A load that keeps to the ticks of a timer as exactly as its stamps are written cannot be told from one whose
    /// clock goes in such steps. At least 1 ns.
    pub fn grid(&self, ends: bool) -> Nanos {
        let column = if ends { self.ends } else { self.starts };
        let grid = Nanos(column.get().clamp(1, i64::MAX as u64) as i64);
        if self.step(ends).is_some() { grid.max(STEP) } else { grid }
    }

    /// Where in a step of 1/64 s stamps begin that keep to a clock of such steps and are written in finer digits; none if they do not.
    pub fn step(&self, ends: bool) -> Option<Nanos> {
        let (column, steps) =
            if ends { (self.ends, self.ends_step) } else { (self.starts, self.starts_step) };
        // Finer digits would tell the steps exactly.
        steps.begin().filter(|_| column.get().is_multiple_of(DIGIT))
    }

    /// What the clock of two streams of one file resolves: sessions may keep to a schedule that their requests do not.
    pub fn grid_with(&self, other: &Survey, ends: bool) -> Nanos {
        if self.step(ends).is_some() && other.step(ends).is_some() {
            return self.grid(ends).max(other.grid(ends));
        }
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
    fn stamps_of_a_clock_of_64_steps_a_second_are_as_coarse_as_it() {
        let of = |steps: &mut dyn Iterator<Item = i64>, begin: i64| {
            let mut survey = Survey::default();
            for step in steps {
                let at = Nanos((step * STEP.0 + begin) / 1_000_000 * 1_000_000);
                survey.push(&Record { started: at.into(), ..Record::never_started(0, at, at, Outcome::Ok) });
            }
            (survey.grid(false), survey.step(false).is_some())
        };
        for begin in [0, 300_000, 7_800_000, 15_500_000] {
            assert_eq!(of(&mut (0..500).map(|k| k * k % 10_007), begin), (STEP, true), "{begin}");
        }
        // A timer of every other step, and one of 16 ms.
        assert_eq!(of(&mut (0..500).map(|k| 2 * (k * k % 10_007)), 0), (Nanos::from_millis(1), false));
        let mut survey = Survey::default();
        for k in 0..500 {
            let at = Nanos(k * 16_000_000);
            survey.push(&Record { started: at.into(), ..Record::never_started(0, at, at, Outcome::Ok) });
        }
        assert_eq!((survey.grid(false), survey.step(false)), (Nanos(16_000_000), None));
    }
}
