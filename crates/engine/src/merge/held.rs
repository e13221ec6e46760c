//! Holds the records of a shard to its plan, bit for bit, while they pass by in the order of their starts.
//!
//! Every planned arrival is awaited from the first record of a later one on, until its own comes. What this cannot
//! settle in bounded memory it leaves open: `Run::held_to` then reads the log again, in the order of the plan.

use super::{Tally, measured};
use headway_base::record::Trigger;
use headway_base::{Kind, Nanos, Record};
use headway_workload::arrivals::Arrival;
use headway_workload::plan::SessionsOf;
use headway_workload::{Plan, Shard};
use std::collections::VecDeque;
use std::ops::Range;

/// Arrivals of a group that are looked at together, at 24 bytes each: 50 s at 10,000 a second.
const AWAITED: usize = 500_000;

/// Whether a record is of an arrival that the plan has, where the groups that `arrives` names are those with arrivals.
pub(super) fn is_planned(row: &Record, arrives: &[bool]) -> bool {
    let is_arrival = row.kind == Kind::Request && row.due == Trigger::Arrival && row.attempt == 0;
    is_arrival && arrives.get(usize::from(row.group)).is_some_and(|arrives| *arrives)
}

/// Which groups of a plan have arrivals.
pub(super) fn arriving(plan: &Plan) -> Vec<bool> {
    plan.groups.iter().map(|group| group.arrives()).collect()
}

/// The arrivals of one shard, and which of them have left a record.
pub(super) struct Held {
    arrives: Vec<bool>,
    groups: Vec<Group>,
    tally: Tally,
    measured: Range<Nanos>,
}

struct Group {
    planned: SessionsOf,
    /// How many of them have been looked at.
    taken: u64,
    /// Arrivals up to the latest one of which there is a record, from the first on that has none; whether each has one.
    awaited: VecDeque<(Arrival, bool)>,
}

impl Held {
    pub(super) fn new(plan: &Plan, shard: Shard) -> Held {
        let group =
            |group| Group { planned: plan.sessions_of(group, shard), taken: 0, awaited: VecDeque::new() };
        let groups = (0..plan.groups.len()).map(group).collect();
        Held { arrives: arriving(plan), groups, tally: Tally::default(), measured: measured(plan) }
    }

    /// Takes the next record, whose instants were moved by `shift`; whether all is settled so far.
    #[must_use]
    pub(super) fn take(&mut self, row: &Record, shift: Nanos) -> bool {
        self.tally.count(row, Nanos(row.arrived.0.wrapping_sub(shift.0)), row.arrived, &self.measured);
        !is_planned(row, &self.arrives) || {
            let intended = Nanos(row.intended.0.wrapping_sub(shift.0));
            self.groups[usize::from(row.group)].take(row.k, intended, row.count)
        }
    }

    /// What there was.
    pub(super) fn tally(self) -> Tally {
        let mut tally = self.tally;
        for (group, _) in self.groups.into_iter().zip(self.arrives).filter(|(_, arrives)| *arrives) {
            let passed = group.awaited.iter().filter(|(_, seen)| !seen).count() as u64;
            let rest = group.planned.count() as u64;
            tally.planned += group.taken + rest;
            tally.without_record += passed + rest;
        }
        tally
    }
}

impl Group {
    /// `count` arrivals from number `k` on, which was due at `intended`.
    fn take(&mut self, k: u64, intended: Nanos, count: u32) -> bool {
        while self.awaited.back().is_none_or(|(last, _)| last.k < k) {
            if !self.await_next() {
                return false;
            }
        }
        let at = match self.awaited.front() {
            Some((first, _)) if first.k == k => 0,
            _ => self.awaited.partition_point(|(arrival, _)| arrival.k < k),
        };
        if self.awaited[at].0 != (Arrival { k, intended }) {
            return false;
        }
        for place in at..at + count as usize {
            if place == self.awaited.len() && !self.await_next() {
                return false;
            }
            let (_, seen) = &mut self.awaited[place];
            if std::mem::replace(seen, true) {
                return false;
            }
        }
        while self.awaited.front().is_some_and(|(_, seen)| *seen) {
            self.awaited.pop_front();
        }
        true
    }

    /// Whether there is another arrival, and room for it.
    fn await_next(&mut self) -> bool {
        let next = if self.awaited.len() < AWAITED { self.planned.next() } else { None };
        self.taken += u64::from(next.is_some());
        self.awaited.extend(next.map(|arrival| (arrival, false)));
        next.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::{Outcome, Rate};
    use headway_workload::Process;

    fn plan() -> Plan {
        let zero = Nanos::ZERO;
        Plan::ramp_and_hold(5, Process::Poisson, Rate(1_000.0), zero, zero, Nanos::from_secs(3))
    }

    fn rows(shard: Shard) -> Vec<Record> {
        let row = |a: Arrival| Record::never_started(a.k, a.intended, a.intended, Outcome::Ok);
        plan().sessions_of(0, shard).map(row).collect()
    }

    /// How many have left no record, unless it was left open.
    fn held(shard: Shard, rows: &[Record], shift: Nanos) -> Option<u64> {
        let mut held = Held::new(&plan(), shard);
        let all = rows.iter().all(|row| held.take(row, shift));
        all.then(|| {
            let tally = held.tally();
            assert_eq!(tally.rows, rows.len() as u64);
            assert_eq!(tally.planned, self::rows(shard).len() as u64);
            tally.without_record
        })
    }

    #[test]
    fn each_planned_arrival_is_settled_once_in_whatever_order_they_come() {
        let shard = Shard::new(1, 3).unwrap();
        let all = rows(shard);
        assert!(all.len() > 800);
        assert_eq!(held(shard, &all, Nanos::ZERO), Some(0));
        let backwards: Vec<Record> = all.iter().rev().copied().collect();
        assert_eq!(held(shard, &backwards, Nanos::ZERO), Some(0));
        let some: Vec<Record> = all.iter().copied().filter(|row| row.k % 7 != 0).take(500).collect();
        assert_eq!(held(shard, &some, Nanos::ZERO), Some((all.len() - 500) as u64));
        // A row may stand for several.
        let mut few = all.clone();
        few.drain(11..20);
        few[10].count = 10;
        assert_eq!(held(shard, &few, Nanos::ZERO), Some(0));
        let moved = |row: &Record| Record { intended: row.intended + Nanos(7), ..*row };
        assert_eq!(held(shard, &all.iter().map(moved).collect::<Vec<_>>(), Nanos(7)), Some(0));
        // What the plan's arrivals do not cause is not looked at.
        let mut step = all.clone();
        step.insert(3, Record { due: Trigger::Step, ..all[3] });
        assert_eq!(held(shard, &step, Nanos::ZERO), Some(0));
    }

    #[test]
    fn what_is_not_of_the_plan_is_left_open() {
        let shard = Shard::new(1, 3).unwrap();
        let all = rows(shard);
        let with = |change: &dyn Fn(&mut Vec<Record>)| {
            let mut rows = all.clone();
            change(&mut rows);
            held(shard, &rows, Nanos::ZERO)
        };
        assert_eq!(with(&|rows| rows.push(rows[4])), None, "an arrival twice");
        assert_eq!(with(&|rows| rows[4].intended.0 += 1), None, "another instant");
        assert_eq!(with(&|rows| rows[4].k += 1), None, "another number");
        assert_eq!(with(&|rows| rows[4].count = 2), None, "an arrival twice, once in a count");
        assert_eq!(with(&|rows| rows.last_mut().unwrap().count = 2), None, "more than the plan has");
        let other = rows(Shard::new(2, 3).unwrap())[0];
        assert_eq!(with(&|rows| rows.insert(0, other)), None, "of another shard");
    }
}
