//! Observations of a network: its parts, attempts, wasted work, and Little's law.

use super::Network;
use super::job::State;
use super::part::PartKind;
use super::series::Lane;
use headway_base::Nanos;
use headway_workload::redact::Cleared;
use std::ops::Range;

/// Copies of a part that are reported one by one, at most.
pub const MOST_COPIES: usize = 1_000;

/// What happened in a network up to an instant.
#[derive(Clone, PartialEq, Debug)]
pub struct Observed {
    /// Up to when.
    pub until: Nanos,
    /// As much of the plan's measured phase as there has been by then.
    pub measured: Range<Nanos>,
    /// Its parts, in the order of the model.
    pub parts: Vec<PartObserved>,
    /// Requests that came to the network, in the whole run.
    pub requests: u64,
    /// Requests of the measured phase that came to parts with retries or hedges.
    pub came: u64,
    /// Attempts that those parts made for them; `came` and those that were made again.
    pub attempts: u64,
    /// Server time that requests took which came in the measured phase, whenever they were served, in ns. Under sharing that
    /// of each is rounded.
    pub busy_ns: i128,
    /// Wasted work: server time spent on abandoned requests, in ns.
    pub wasted_ns: i128,
    /// Little's law, over the whole run: integral of the number of requests in the network in ns, from the instants at which
    /// they were counted in and out, and as many as are counted in and not out until now.
    pub area_ns: i128,
    /// Little's law: sum of the times that requests spent in it in ns, from what is written down of each: of those that left
    /// when they did, of those that are found in it now until now. A request that is forgotten, let out twice, or let out at
    /// another instant than its own makes the two differ.
    pub sum_ns: i128,
}

/// A part, all its copies together.
#[derive(Clone, PartialEq, Debug)]
pub struct PartObserved {
    /// Its name.
    pub name: Cleared,
    /// `balancer`, `station` or `pass`; the first two with their policy or discipline.
    pub kind: String,
    /// How many there are.
    pub copies: u64,
    /// Servers of each; none unless it is a station.
    pub servers: Option<u64>,
    /// What all did in the measured phase.
    pub all: CopyObserved,
    /// Each: at most the first [`MOST_COPIES`].
    pub by_copy: Vec<CopyObserved>,
    /// Over the whole run, all together: windows without gaps from zero until now.
    pub series: Vec<Window>,
}

/// What a copy of a part did, in the measured phase.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CopyObserved {
    /// Attempts that came to it, of requests that came to the network in the measured phase.
    pub came: u64,
    /// Those of them that failed, whenever they did.
    pub failed: u64,
    /// Busy time of its servers, in ns; one that is held by a request in a stall is busy.
    pub busy_ns: i128,
    /// Integral of the number in it, in ns: waiting or served; for a part that does not serve, also behind it.
    pub area_ns: i128,
}

/// A stretch of time of a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// Its beginning.
    pub from: Nanos,
    /// Its end.
    pub to: Nanos,
    /// Busy time of its servers in it, in ns.
    pub busy_ns: i128,
    /// Integral of the number in it, in ns.
    pub area_ns: i128,
    /// Time that its copies were up, in ns; none where nothing fails.
    pub up_ns: Option<i128>,
}

/// Little's law (Little 1961), both sides. The integral of a number that changes by steps is the sum of its steps, each times
/// the time from it to the end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Little {
    requests: u64,
    pub inside: i64,
    /// Minus the sum of the steps times their instants.
    steps: i128,
    sum: i128,
}

impl Little {
    #[inline]
    pub(super) fn came(&mut self, at: Nanos) {
        self.requests += 1;
        self.inside += 1;
        self.steps -= i128::from(at.0);
    }

    #[inline]
    pub(super) fn left(&mut self, came: Nanos, at: Nanos) {
        self.inside -= 1;
        self.steps += i128::from(at.0);
        self.sum += i128::from(at.0 - came.0);
    }

    /// One is found in the network at `until`.
    #[inline]
    pub(super) fn is_inside(&mut self, came: Nanos, until: Nanos) {
        self.sum += i128::from(until.0 - came.0);
    }

    /// Both sides at `until`.
    pub(super) fn sides(&self, until: Nanos) -> (i128, i128) {
        (self.steps + i128::from(self.inside) * i128::from(until.0), self.sum)
    }
}

impl Network {
    /// What has happened up to `until`, or up to the last thing that did if that was later; what is still to happen before
    /// `until` does, as if nothing arrived until then.
    pub fn observed(&self, until: Nanos) -> Observed {
        let until = until.max(self.now);
        let mut still = self.clone();
        if !still.direct {
            still.catch_up(until);
        }
        still.close(until);
        let parts: Vec<PartObserved> = (0..still.parts.len()).map(|part| still.part(part, until)).collect();
        let (area_ns, sum_ns) = still.little.sides(until);
        Observed {
            until,
            measured: still.measured.by(until),
            busy_ns: still.spent.all,
            parts,
            requests: still.little.requests,
            came: still.made_again.0,
            attempts: still.made_again.1,
            wasted_ns: still.spent.for_nobody,
            area_ns,
            sum_ns,
        }
    }

    /// Requests and attempts that are in the network.
    pub fn under_way(&self) -> usize {
        self.jobs.under_way()
    }

    /// What is going on counts up to `until`.
    fn close(&mut self, until: Nanos) {
        self.close_told(until);
        let alive: Vec<u32> = self.jobs.all().collect();
        for f in alive {
            let job = *self.jobs.get(f);
            for frame in self.jobs.frames(f).to_vec() {
                let part = &mut self.parts[self.nodes[frame.node as usize].0 as usize];
                let inside = !matches!(part.does, PartKind::FifoStation(_) | PartKind::EventStation(_));
                if frame.from == super::job::Origin::Door && inside {
                    self.tallies[frame.node as usize].number(self.measured, frame.since, until);
                    part.series.spell(Lane::Number, frame.since, until);
                }
            }
            if job.root {
                self.little.is_inside(self.jobs.asked(f).came, until);
            }
            let in_line = job.state == State::Bound && job.next == super::flow::Step::Served;
            if matches!(job.state, State::Waiting | State::Served) || in_line {
                self.close_service(f, in_line, until);
            }
            self.is_spent(f, self.is_for_nobody(f));
        }
        for part in &mut self.parts {
            part.series.reach(until);
            if let Some(faults) = &mut part.faults {
                for copy in 0..faults.clocks.len() as u32 {
                    faults.is_still_up(copy, until, &mut part.series);
                }
                for since in faults.since.iter().filter(|since| **since < until) {
                    part.series.spells(Lane::Down, *since, until, faults.weight);
                }
            }
            let PartKind::EventStation(stations) = &part.does else { continue };
            for (copy, station) in
                stations.stations.iter().enumerate().filter(|(_, station)| station.busy > 0)
            {
                let tally = &mut self.tallies[part.first as usize + copy];
                tally.busy(self.measured, station.since, until, station.busy);
                part.series.spells(Lane::Busy, station.since, until, i64::from(station.busy));
            }
        }
    }

    /// What a job has done in the station that it is in counts up to `until`.
    fn close_service(&mut self, f: u32, in_line: bool, until: Nanos) {
        let job = *self.jobs.get(f);
        let (node, part, copy) = self.place(f);
        let (part, tally) = (&mut self.parts[part], &mut self.tallies[node as usize]);
        tally.number(self.measured, job.at, until);
        part.series.spell(Lane::Number, job.at, until);
        if in_line && job.begins < until {
            tally.busy(self.measured, job.begins, until, 1);
            part.series.spell(Lane::Busy, job.begins, until);
            self.jobs.of(f).busy += until.0 - job.begins.0;
        } else if let PartKind::EventStation(stations) = &mut part.does
            && job.state == State::Served
        {
            self.jobs.of(f).busy += stations.stations[copy].had_by(&stations.rules, &job, until);
        }
    }

    fn part(&self, part: usize, until: Nanos) -> PartObserved {
        let of = &self.parts[part];
        let first = of.first as usize;
        let tallies = &self.tallies[first..first + of.copies as usize];
        let copies = tallies.iter().map(|tally| CopyObserved {
            came: tally.came,
            failed: tally.failed,
            busy_ns: tally.busy,
            area_ns: tally.area,
        });
        let all = copies.clone().fold(CopyObserved::default(), |sum, copy| CopyObserved {
            came: sum.came + copy.came,
            failed: sum.failed + copy.failed,
            busy_ns: sum.busy_ns + copy.busy_ns,
            area_ns: sum.area_ns + copy.area_ns,
        });
        let (kind, servers) = match &of.does {
            PartKind::Forward(_) => ("pass".to_owned(), None),
            PartKind::Balancer(balancing) => (format!("balancer {}", balancing.policy), None),
            PartKind::FifoStation(line) => ("station fifo".to_owned(), Some(u64::from(line.servers))),
            PartKind::EventStation(stations) => {
                (format!("station {}", stations.word), Some(u64::from(stations.rules.servers)))
            }
        };
        let window = |(from, to, sums): (Nanos, Nanos, [i64; 3])| Window {
            from,
            to,
            busy_ns: i128::from(sums[Lane::Busy as usize]),
            area_ns: i128::from(sums[Lane::Number as usize]),
            up_ns: of.faults.as_ref().map(|_| {
                let all = i128::from(to.0 - from.0) * i128::from(of.copies);
                // Who is on its way in when all is over may have seen what comes after.
                (all - i128::from(sums[Lane::Down as usize])).max(0)
            }),
        };
        PartObserved {
            name: of.name.clone(),
            kind,
            copies: u64::from(of.copies),
            servers,
            all,
            by_copy: copies.take(MOST_COPIES).collect(),
            series: of.series.windows(until).map(window).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Target;
    use headway_base::{Phase, Profile, Rate};
    use headway_workload::model::{Discipline, Model, Station};
    use headway_workload::plan::Group;
    use headway_workload::{Plan, Process, RequestKey};

    const MS: fn(i64) -> Nanos = Nanos::from_millis;

    /// Four requests of 10 ms at one server, at 0, 1, 2 and 3 ms; the client of the second is gone at 5 ms.
    fn network(discipline: Discipline) -> Network {
        let law = headway_base::dist::parse("10ms", &|_| Err(String::new())).unwrap();
        let profile = Profile::new(&[Phase::hold(MS(100), Rate(1.0))]);
        let plan = Plan::of(1, Group::open(Process::Constant, profile), Nanos::ZERO, MS(100));
        let model = Model::station(Station { discipline, ..Station::new(1, law) });
        let mut network = Network::new(&model, &plan).unwrap();
        for k in 0..4u32 {
            let sending = RequestKey { k: u64::from(k), ..RequestKey::default() };
            network.request(MS(i64::from(k)), u64::from(k), k, &sending);
        }
        network.gone(MS(5), 1);
        network
    }

    fn holds(network: &Network, until: Nanos) -> bool {
        let observed = network.observed(until);
        observed.area_ns == observed.sum_ns
    }

    /// Both ways; a request that is forgotten, one that is let out twice, and one that is let out with a wrong time of
    /// coming.
    #[test]
    fn littles_identity_fails_if_the_books_are_wrong() {
        for discipline in [Discipline::Fifo, Discipline::Lifo] {
            let right = network(discipline.clone());
            assert_eq!(right.direct, discipline == Discipline::Fifo);
            assert!((5..60).all(|ms| holds(&right, MS(ms))));

            let mut forgotten = right.clone();
            if forgotten.direct {
                forgotten.in_order.answers.pop_back();
            } else {
                let last = forgotten.jobs.all().last().unwrap();
                forgotten.jobs.end(last);
            }
            // By events, before anybody misses it.
            let upto = if forgotten.direct { 60 } else { 10 };
            assert!((5..upto).all(|ms| !holds(&forgotten, MS(ms))));

            let mut twice = right.clone();
            twice.little.left(MS(0), MS(5));
            assert!((6..60).all(|ms| !holds(&twice, MS(ms))));

            let mut shifted = right;
            if shifted.direct {
                shifted.in_order.answers[3].came = MS(2);
            } else {
                let last = shifted.jobs.all().last().unwrap();
                shifted.jobs.asked_mut(last).came = MS(2);
            }
            assert!((5..60).all(|ms| !holds(&shifted, MS(ms))));
        }
    }

    /// The second is served from 10 to 20 ms as wasted work (LIFO: from 30 to 40 ms).
    #[test]
    fn what_is_observed_early_is_as_much_as_there_has_been() {
        let network = network(Discipline::Fifo);
        let seen = [5, 15, 30, 60].map(|ms| {
            let observed = network.observed(MS(ms));
            assert_eq!(observed.parts[0].by_copy, [observed.parts[0].all]);
            assert_eq!(observed.parts[0].all.busy_ns, observed.busy_ns);
            let series: i128 = observed.parts[0].series.iter().map(|window| window.area_ns).sum();
            assert_eq!(series, observed.parts[0].all.area_ns);
            (observed.busy_ns / 1_000_000, observed.wasted_ns / 1_000_000, observed.area_ns / 1_000_000)
        });
        // Answers at 10, 20, 30 and 40 ms: 10 + 19 + 28 + 37 ms in all.
        assert_eq!(seen, [(5, 0, 14), (15, 5, 49), (30, 10, 84), (40, 10, 94)]);
    }
}
