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
    /// Of all distances between starts, in nanoseconds.
    grid: Divisor,
    /// Of all times taken.
    clock: Divisor,
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
        let first = *self.first.get_or_insert(at);
        self.grid.push(at.0.abs_diff(first.0));
        self.clock.push(record.done.0.abs_diff(at.0));
        self.first = Some(first.min(at));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
        self.last_done = Some(self.last_done.map_or(record.done, |done| done.max(record.done)));
    }

    /// What the stamps' clock resolves: every distance between two starts and every time taken is a whole multiple of
    /// it. A load whose starts keep to a coarser grid than its ends keeps to the ticks of a timer: that is the load and not
    /// the clock. At least 1 ns.
    pub fn grid(&self) -> Nanos {
        let mut both = self.grid;
        both.push(self.clock.get());
        Nanos(both.get().clamp(1, i64::MAX as u64) as i64)
    }

    /// What the clock of two streams of one file resolves: sessions may keep to a schedule that their requests do not.
    pub fn grid_with(&self, other: &Survey) -> Nanos {
        let mut both = Divisor::default();
        [self.grid(), other.grid()].iter().for_each(|g| both.push(g.0.unsigned_abs()));
        if let (Some(a), Some(b)) = (self.first, other.first) {
            both.push(a.0.abs_diff(b.0));
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
        assert_eq!(survey.grid(), Nanos(10_000));
        let at = Nanos(1_000_003);
        survey.push(&Record {
            started: at.into(),
            ..Record::never_started(0, at, at + Nanos(2_500), Outcome::Ok)
        });
        assert_eq!(survey.grid(), Nanos(2_500), "what took 2.5 us was timed by a finer clock");
        assert_eq!(survey.span(), Some(Nanos(980_003)..Nanos(1_120_004)));
        assert_eq!(survey.by_label, [1, 0, 4]);
        assert_eq!(Survey::default().grid(), Nanos(1));
    }
}
