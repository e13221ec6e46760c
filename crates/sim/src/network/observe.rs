//! What a network has seen: its parts, attempts, work for nobody, and Little's law.

use super::Network;
use super::flight::State;
use super::part::Does;
use super::series::Lane;
use base::Nanos;

/// Copies of a part that are told one by one, at most.
pub const MOST_COPIES: usize = 1_000;

/// What happened in a network up to an instant.
#[derive(Clone, PartialEq, Debug)]
pub struct Observed {
    /// Up to when.
    pub until: Nanos,
    /// Its parts, in the order of the model.
    pub parts: Vec<PartObserved>,
    /// Requests that came to the network.
    pub requests: u64,
    /// Requests that came to parts with retries or hedges.
    pub came: u64,
    /// Attempts that those parts made; `came` and those that were made again.
    pub attempts: u64,
    /// Busy time of all servers, in ns.
    pub busy_ns: i128,
    /// What of it went into what nobody waited for any more, in ns.
    pub wasted_ns: i128,
    /// Little's law: integral of the number of requests in the network, kept at each change, in ns.
    pub area_ns: i128,
    /// Little's law: sum of the times that requests spent in it, each its own, in ns.
    pub sum_ns: i128,
}

/// A part, all its copies together.
#[derive(Clone, PartialEq, Debug)]
pub struct PartObserved {
    /// Its name.
    pub name: String,
    /// `balancer`, `station` or `pass`; the first two with their policy or discipline.
    pub kind: String,
    /// How many there are.
    pub copies: u64,
    /// Servers of each; none unless it is a station.
    pub servers: Option<u64>,
    /// What all did.
    pub all: CopyObserved,
    /// Each: at most the first [`MOST_COPIES`].
    pub by_copy: Vec<CopyObserved>,
    /// Over time, all together.
    pub series: Vec<Window>,
}

/// What a copy of a part did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CopyObserved {
    /// Requests that came to it, each attempt of its own.
    pub came: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Busy time of its servers, in ns; one that is held by a request in a stall is busy.
    pub busy_ns: i128,
    /// Integral of the number in it, in ns: waiting or served; of a part that serves nobody, also further on.
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
}

impl Network {
    /// What has happened up to `until`, or up to the last thing that did if that was later.
    pub fn observed(&self, until: Nanos) -> Observed {
        let until = until.max(self.now);
        let mut still = self.clone();
        still.close(until);
        let parts: Vec<PartObserved> = (0..still.parts.len()).map(|part| still.part(part, until)).collect();
        Observed {
            until,
            busy_ns: parts.iter().map(|part| part.all.busy_ns).sum(),
            parts,
            requests: still.little.requests,
            came: still.made_again.0,
            attempts: still.made_again.1,
            wasted_ns: still.wasted,
            area_ns: still.little.steps + i128::from(still.little.inside) * i128::from(until.0),
            sum_ns: still.little.sum,
        }
    }

    /// Requests and attempts that are in the network.
    pub fn under_way(&self) -> usize {
        self.flights.under_way()
    }

    /// What is going on counts up to `until`.
    fn close(&mut self, until: Nanos) {
        let alive: Vec<u32> = self.flights.all().collect();
        for f in alive {
            let flight = *self.flights.get(f);
            for frame in self.flights.frames(f).to_vec() {
                let part = &mut self.parts[self.nodes[frame.node as usize].0 as usize];
                let inside = !matches!(part.does, Does::Line(_) | Does::Desk(_));
                if frame.from == super::flight::From::Door && inside {
                    self.tallies[frame.node as usize].area += i128::from(until.0 - frame.since.0);
                    part.series.spell(Lane::Number, frame.since, until);
                }
            }
            if flight.root {
                self.little.sum += i128::from(until.0 - self.flights.asked(f).came.0);
            }
            let in_line = flight.state == State::Bound && flight.next == super::flow::Step::Served;
            if !matches!(flight.state, State::Waiting | State::Served) && !in_line {
                continue;
            }
            let node = self.flights.top(f).node as usize;
            let part = &mut self.parts[self.nodes[node].0 as usize];
            self.tallies[node].area += i128::from(until.0 - flight.at.0);
            part.series.spell(Lane::Number, flight.at, until);
            if in_line && flight.begins < until {
                self.tallies[node].busy += i128::from(until.0 - flight.begins.0);
                part.series.spell(Lane::Busy, flight.begins, until);
            }
        }
        for part in &mut self.parts {
            if let Some(faults) = &mut part.faults {
                for copy in 0..faults.clocks.len() as u32 {
                    faults.is_still_up(copy, until, &mut part.series);
                }
                for since in faults.since.iter().filter(|since| **since < until) {
                    part.series.spells(Lane::Down, *since, until, faults.weight);
                }
            }
            let Does::Desk(desks) = &part.does else { continue };
            for (copy, desk) in desks.desks.iter().enumerate().filter(|(_, desk)| desk.busy > 0) {
                let (time, busy) = (until.0 - desk.since.0, i64::from(desk.busy));
                self.tallies[part.first as usize + copy].busy += i128::from(time) * i128::from(busy);
                part.series.spells(Lane::Busy, desk.since, until, busy);
            }
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
        let mut all = copies.clone().fold(CopyObserved::default(), |sum, copy| CopyObserved {
            came: sum.came + copy.came,
            failed: sum.failed + copy.failed,
            busy_ns: sum.busy_ns + copy.busy_ns,
            area_ns: sum.area_ns + copy.area_ns,
        });
        // On the direct way what was told may be still to come, if nobody waits for it.
        if self.latest > until {
            all.busy_ns -= i128::from(of.series.after(Lane::Busy, until));
            all.area_ns -= i128::from(of.series.after(Lane::Number, until));
        }
        let (kind, servers) = match &of.does {
            Does::Pass(_) => ("pass".to_owned(), None),
            Does::Balancer(balancing) => (format!("balancer {}", balancing.policy), None),
            Does::Line(line) => ("station fifo".to_owned(), Some(u64::from(line.servers))),
            Does::Desk(desks) => (format!("station {}", desks.word), Some(u64::from(desks.rules.servers))),
        };
        let window = |(from, to, sums): (Nanos, Nanos, [i64; 3])| Window {
            from,
            to,
            busy_ns: i128::from(sums[Lane::Busy as usize]),
            area_ns: i128::from(sums[Lane::Number as usize]),
            up_ns: of.faults.as_ref().map(|_| {
                i128::from(to.0 - from.0) * i128::from(of.copies) - i128::from(sums[Lane::Down as usize])
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
