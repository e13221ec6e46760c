//! Holds the records of all shards to the plan, bit for bit, while they pass by in the order of their starts.
//!
//! The plan is drawn once, and each arrival waits with its shard until its record comes: a plan for each shard would take a time that
//! grows with the number of shards. What cannot be settled so in bounded memory is left open: `Run::held_to` then reads the log of that shard
//! again, in the order of the plan.

use super::{Tally, measured};
use headway_base::random::Stream;
use headway_base::record::Trigger;
use headway_base::{Kind, Nanos, Record};
use headway_workload::arrivals::Arrival;
use headway_workload::plan::SessionsOf;
use headway_workload::{Plan, Shard};
use std::collections::VecDeque;
use std::ops::Range;

/// Arrivals that wait together, over all groups and shards, at 24 bytes each: 40 s at 100,000 a second.
const ROOM: usize = 4_000_000;

/// Whether a record is of an arrival that the plan has, where the groups that `arrives` names are those with arrivals.
pub(super) fn is_planned(row: &Record, arrives: &[bool]) -> bool {
    let is_arrival = row.kind == Kind::Request && row.due == Trigger::Arrival && row.attempt == 0;
    is_arrival && arrives.get(usize::from(row.group)).is_some_and(|arrives| *arrives)
}

/// Which groups of a plan have arrivals.
pub(super) fn arriving(plan: &Plan) -> Vec<bool> {
    plan.groups.iter().map(|group| group.arrives()).collect()
}

/// The arrivals of a plan, and which of them have left a record.
pub(super) struct Held {
    arrives: Vec<bool>,
    measured: Range<Nanos>,
    groups: Vec<Group>,
    /// How many arrivals wait, over all groups and shards, and how many may.
    waiting: usize,
    room: usize,
    /// By number of the shard.
    tallies: Vec<Tally>,
}

struct Group {
    /// Of all shards.
    planned: SessionsOf,
    draws: Stream,
    /// By number; none for a shard that is not held, or is left open.
    shards: Vec<Option<Awaited>>,
    /// By number: from when on an arrival that left no record was not planned any more.
    until: Vec<Nanos>,
}

/// The arrivals of a shard that were drawn so far.
#[derive(Default)]
struct Awaited {
    drawn: u64,
    /// From the first on that has no record; whether each has one.
    waiting: VecDeque<(Arrival, bool)>,
}

impl Held {
    /// Holds these of `count` shards to that plan, each until it was stopped ([`Nanos::MAX`] if it was not).
    pub(super) fn new(plan: &Plan, count: u32, shards: &[(u32, Nanos)]) -> Held {
        Held::within(plan, count, shards, ROOM)
    }

    fn within(plan: &Plan, count: u32, shards: &[(u32, Nanos)], room: usize) -> Held {
        let group = |group| {
            let mut of: Vec<Option<Awaited>> = (0..count).map(|_| None).collect();
            let mut until = vec![Nanos::MAX; of.len()];
            for &(shard, stop) in shards {
                (of[shard as usize], until[shard as usize]) = (Some(Awaited::default()), stop);
            }
            let (planned, draws) = (plan.sessions_of(group, Shard::WHOLE), plan.shard_draws(group));
            Group { planned, draws, shards: of, until }
        };
        Held {
            arrives: arriving(plan),
            measured: measured(plan),
            groups: (0..plan.groups.len()).map(group).collect(),
            waiting: 0,
            room,
            tallies: vec![Tally::default(); count as usize],
        }
    }

    /// Takes the next record of a shard, whose instants were moved by `shift`; whether all of that shard is settled so far. If not, it is
    /// left open, and none of its records should come any more.
    #[must_use]
    pub(super) fn take(&mut self, shard: u32, row: &Record, shift: Nanos) -> bool {
        let own = |at: Nanos| Nanos(at.0.wrapping_sub(shift.0));
        self.tallies[shard as usize].count(row, own(row.arrived), row.arrived, &self.measured);
        let settled = !is_planned(row, &self.arrives)
            || self.mark(row.group.into(), shard, row.k, own(row.intended), row.count).is_some();
        if !settled {
            self.leave(shard);
        }
        settled
    }

    /// Marks `count` arrivals of a group and a shard from number `k` on, which was due at `intended`; none if they are not the plan's, or had a
    /// record.
    fn mark(&mut self, group: usize, shard: u32, k: u64, intended: Nanos, count: u32) -> Option<()> {
        while self.groups[group].of(shard)?.waiting.back().is_none_or(|(last, _)| last.k < k) {
            self.draw(group, shard)?;
        }
        let waiting = &self.groups[group].of(shard)?.waiting;
        let at = match waiting.front() {
            Some((first, _)) if first.k == k => 0,
            _ => waiting.partition_point(|(arrival, _)| arrival.k < k),
        };
        if waiting[at].0 != (Arrival { k, intended }) {
            return None;
        }
        for place in at..at + count as usize {
            while place >= self.groups[group].of(shard)?.waiting.len() {
                self.draw(group, shard)?;
            }
            let (_, seen) = &mut self.groups[group].of(shard)?.waiting[place];
            if std::mem::replace(seen, true) {
                return None;
            }
        }
        let of = self.groups[group].of(shard)?;
        while of.waiting.front().is_some_and(|(_, seen)| *seen) {
            of.waiting.pop_front();
            self.waiting -= 1;
        }
        Some(())
    }

    /// Draws arrivals of a group up to the next one of that shard, if there is one and it is still held.
    fn draw(&mut self, group: usize, shard: u32) -> Option<()> {
        loop {
            if self.waiting >= self.room {
                self.make_room();
                self.groups[group].of(shard)?;
            }
            let drawn = &mut self.groups[group];
            let next = drawn.planned.next()?;
            let owner = Shard::owner(drawn.draws, next.k, drawn.shards.len() as u32);
            if let Some(of) = drawn.of(owner) {
                of.drawn += 1;
                of.waiting.push_back((next, false));
                self.waiting += 1;
            }
            if owner == shard {
                return Some(());
            }
        }
    }

    /// Leaves the shard open of which most arrivals wait: one that was killed, or began later than the others.
    fn make_room(&mut self) {
        let most = (0..self.tallies.len() as u32)
            .max_by_key(|&shard| self.groups.iter().map(|group| group.waiting(shard)).sum::<usize>());
        if let Some(most) = most {
            self.leave(most);
        }
    }

    fn leave(&mut self, shard: u32) {
        for group in &mut self.groups {
            self.waiting -= group.waiting(shard);
            group.shards[shard as usize] = None;
        }
    }

    /// What there was of each shard, by number; none of one that is left open, or was not held.
    pub(super) fn tallies(self) -> Vec<Option<Tally>> {
        let mut tallies: Vec<Option<Tally>> = self.tallies.into_iter().map(Some).collect();
        for (group, arrives) in self.groups.into_iter().zip(self.arrives) {
            // Of a group without arrivals, none waits.
            let of_each = group.end(arrives);
            for (tally, of) in tallies.iter_mut().zip(of_each) {
                *tally = tally.zip(of).map(|(tally, (planned, without_record))| Tally {
                    planned: tally.planned + planned,
                    without_record: tally.without_record + without_record,
                    ..tally
                });
            }
        }
        tallies
    }
}

impl Group {
    fn of(&mut self, shard: u32) -> Option<&mut Awaited> {
        self.shards[shard as usize].as_mut()
    }

    /// How many arrivals of that shard wait.
    fn waiting(&self, shard: u32) -> usize {
        self.shards[shard as usize].as_ref().map_or(0, |of| of.waiting.len())
    }

    /// Of each shard that is held: how many arrivals it has, and how many of them left no record.
    fn end(mut self, arrives: bool) -> Vec<Option<(u64, u64)>> {
        let counts = |of: &Awaited, until: Nanos| {
            let unseen = || of.waiting.iter().filter(|(_, seen)| !seen).map(|(arrival, _)| arrival.intended);
            let not_due = unseen().filter(|due| *due >= until).count() as u64;
            (of.drawn - not_due, unseen().count() as u64 - not_due)
        };
        let held = self.shards.iter().zip(&self.until);
        let mut ended: Vec<Option<(u64, u64)>> =
            held.map(|(of, until)| of.as_ref().map(|of| counts(of, *until))).collect();
        let last = self.until.iter().copied().max().unwrap_or(Nanos::MAX);
        let rest = arrives.then_some(&mut self.planned).into_iter().flatten();
        for arrival in rest.take_while(|arrival| arrival.intended < last) {
            let owner = Shard::owner(self.draws, arrival.k, ended.len() as u32);
            if arrival.intended < self.until[owner as usize]
                && let Some((planned, without_record)) = &mut ended[owner as usize]
            {
                *planned += 1;
                *without_record += 1;
            }
        }
        ended
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

    /// These shards, none of them stopped.
    fn whole(shards: &[u32]) -> Vec<(u32, Nanos)> {
        shards.iter().map(|&shard| (shard, Nanos::MAX)).collect()
    }

    /// Shard 1 of 3.
    fn shard() -> Shard {
        Shard::new(1, 3).unwrap()
    }

    /// How many of shard 1 have left no record, unless it was left open.
    fn held(rows: &[Record], shift: Nanos) -> Option<u64> {
        let mut held = Held::new(&plan(), 3, &whole(&[1]));
        let all = rows.iter().all(|row| held.take(1, row, shift));
        all.then(|| {
            let tally = held.tallies()[1].unwrap();
            assert_eq!(tally.rows, rows.len() as u64);
            assert_eq!(tally.planned, self::rows(shard()).len() as u64);
            tally.without_record
        })
    }

    #[test]
    fn each_planned_arrival_is_settled_once_in_whatever_order_they_come() {
        let all = rows(shard());
        assert!(all.len() > 800);
        assert_eq!(held(&all, Nanos::ZERO), Some(0));
        let backwards: Vec<Record> = all.iter().rev().copied().collect();
        assert_eq!(held(&backwards, Nanos::ZERO), Some(0));
        let some: Vec<Record> = all.iter().copied().filter(|row| row.k % 7 != 0).take(500).collect();
        assert_eq!(held(&some, Nanos::ZERO), Some((all.len() - 500) as u64));
        // A row may stand for several.
        let mut few = all.clone();
        few.drain(11..20);
        few[10].count = 10;
        assert_eq!(held(&few, Nanos::ZERO), Some(0));
        let moved = |row: &Record| Record { intended: row.intended + Nanos(7), ..*row };
        assert_eq!(held(&all.iter().map(moved).collect::<Vec<_>>(), Nanos(7)), Some(0));
        // What the plan's arrivals do not cause is not looked at.
        let mut step = all.clone();
        step.insert(3, Record { due: Trigger::Step, ..all[3] });
        assert_eq!(held(&step, Nanos::ZERO), Some(0));
    }

    #[test]
    fn what_is_not_of_the_plan_is_left_open() {
        let all = rows(shard());
        let with = |change: &dyn Fn(&mut Vec<Record>)| {
            let mut rows = all.clone();
            change(&mut rows);
            held(&rows, Nanos::ZERO)
        };
        assert_eq!(with(&|rows| rows.push(rows[4])), None, "an arrival twice");
        assert_eq!(with(&|rows| rows[4].intended.0 += 1), None, "another instant");
        assert_eq!(with(&|rows| rows[4].k += 1), None, "another number");
        assert_eq!(with(&|rows| rows[4].count = 2), None, "an arrival twice, once in a count");
        assert_eq!(with(&|rows| rows.last_mut().unwrap().count = 2), None, "more than the plan has");
        let other = rows(Shard::new(2, 3).unwrap())[0];
        assert_eq!(with(&|rows| rows.insert(0, other)), None, "of another shard");
    }

    #[test]
    fn shards_pass_by_together_and_each_has_what_it_would_have_alone() {
        let of = |i| rows(Shard::new(i, 3).unwrap());
        let (zero, two) = (of(0), of(2));
        let mut held = Held::new(&plan(), 3, &whole(&[0, 2]));
        let mut all: Vec<(u32, Record)> = zero.iter().map(|row| (0, *row)).collect();
        // Of shard 2, which was killed, the first 300.
        all.extend(two.iter().take(300).map(|row| (2, *row)));
        all.sort_by_key(|(_, row)| row.intended);
        assert!(all.iter().all(|(shard, row)| held.take(*shard, row, Nanos::ZERO)));
        let tallies = held.tallies();
        let counts =
            |tally: Option<Tally>| tally.map(|tally| (tally.planned, tally.without_record, tally.rows));
        let n = |rows: &[Record]| rows.len() as u64;
        assert_eq!(counts(tallies[0]), Some((n(&zero), 0, n(&zero))));
        assert_eq!(counts(tallies[2]), Some((n(&two), n(&two) - 300, 300)));
        assert_eq!(counts(tallies[1]), None, "a shard that is not here");
    }

    /// What was due after a shard was stopped, and left no record, was not planned any more; what was due before is missing.
    #[test]
    fn of_a_shard_that_was_stopped_only_what_was_due_before_is_looked_for() {
        let (all, stop) = (rows(shard()), Nanos::from_secs(1));
        let before = all.iter().filter(|row| row.intended < stop).count();
        let counts = |rows: &[Record]| {
            let mut held = Held::new(&plan(), 3, &[(1, stop)]);
            assert!(rows.iter().all(|row| held.take(1, row, Nanos::ZERO)));
            let tally = held.tallies()[1].unwrap();
            (tally.planned, tally.without_record)
        };
        assert!(before > 200 && before + 200 < all.len());
        assert_eq!(counts(&all[..before]), (before as u64, 0));
        assert_eq!(counts(&all[..before - 10]), (before as u64, 10));
        // A few that it still sent while it came to a stop were planned.
        assert_eq!(counts(&all[..before + 3]), (before as u64 + 3, 0));
        let mut gap = all[..before + 3].to_vec();
        gap.remove(before);
        assert_eq!(counts(&gap), (before as u64 + 2, 0));
    }

    #[test]
    fn all_groups_have_one_room() {
        let mut plan = plan();
        plan.groups.push(plan.groups[0].clone());
        let mut held = Held::within(&plan, 3, &whole(&[0, 1, 2]), 100);
        let of_group = |group: u16| {
            let row = move |a: Arrival| Record {
                group,
                ..Record::never_started(a.k, a.intended, a.intended, Outcome::Ok)
            };
            plan.sessions_of(group.into(), Shard::new(0, 3).unwrap()).map(row)
        };
        let mut all: Vec<Record> = of_group(0).chain(of_group(1)).collect();
        all.sort_by_key(|row| row.intended);
        for row in &all {
            assert!(held.take(0, row, Nanos::ZERO));
            let waiting = |group: &Group| (0..3).map(|shard| group.waiting(shard)).sum::<usize>();
            assert_eq!(held.groups.iter().map(waiting).sum::<usize>(), held.waiting);
            assert!(held.waiting <= 100);
        }
        let tallies = held.tallies();
        assert_eq!(tallies[0].unwrap().planned, all.len() as u64);
        assert_eq!((tallies[1], tallies[2]), (None, None), "both have no records, and are left open");
    }

    #[test]
    fn where_room_ends_the_shard_that_most_arrivals_wait_for_is_left_open_alone() {
        let mut held = Held::within(&plan(), 3, &whole(&[0, 1, 2]), 100);
        let mut all: Vec<(u32, Record)> = Vec::new();
        for i in [0, 1, 2] {
            let rows = rows(Shard::new(i, 3).unwrap());
            let n = if i == 1 { 50 } else { rows.len() };
            all.extend(rows.into_iter().take(n).map(|row| (i, row)));
        }
        all.sort_by_key(|(_, row)| row.intended);
        assert!(all.iter().all(|(shard, row)| held.take(*shard, row, Nanos::ZERO)));
        assert!(held.waiting <= 100);
        let tallies = held.tallies();
        let open: Vec<bool> = tallies.iter().map(Option::is_none).collect();
        assert_eq!(open, [false, true, false]);
        assert_eq!(tallies[0].unwrap().without_record + tallies[2].unwrap().without_record, 0);
        // One that comes on after it was left open is told so.
        let late = rows(Shard::new(1, 3).unwrap())[50];
        let mut again = Held::within(&plan(), 3, &whole(&[0, 1]), 100);
        for row in rows(Shard::new(0, 3).unwrap()) {
            assert!(again.take(0, &row, Nanos::ZERO));
        }
        assert!(!again.take(1, &late, Nanos::ZERO));
    }
}
