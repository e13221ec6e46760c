//! The parts of a network as they run: what a model says of each, and the state of its copies.

use super::calendar_queue::{CalendarQueue, End};
use super::numbers::seed_of_part;
use super::series::{Lane, Series};
use super::station::{EventStation, Rules, Service};
use super::wait_queue::WaitQueue;
use crate::balance::Chooser;
use crate::failure::{BreakerState, BudgetBucket, FaultClock};
use headway_base::Nanos;
use headway_base::random::{Draws, Stream};
use headway_base::station::{Admission, Stalls, Station};
use headway_workload::Plan;
use headway_workload::model::{Cable, Hedge, Retry, Timeout, UnderWay, WhileDown};
use headway_workload::redact::Cleared;

/// A part, all its copies.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub name: Cleared,
    /// Number of its first copy among the nodes, and how many there are.
    pub first: u32,
    pub copies: u32,
    /// Nothing stands around it.
    pub plain: bool,
    pub does: PartKind,
    pub retry: Option<Retry>,
    /// By copy, where retries have a budget.
    pub buckets: Vec<BudgetBucket>,
    pub hedge: Option<Hedge>,
    pub timeout: Option<Timeout>,
    /// By copy, if there are any.
    pub breakers: Vec<BreakerState>,
    pub cable: Option<Cable>,
    pub faults: Option<Faulty>,
    pub draws: PartDraws,
    pub series: Series,
}

/// What a part does with a request.
#[derive(Clone, Debug)]
pub(super) enum PartKind {
    /// Hands it on.
    Forward(Way),
    Balancer(Box<Balancing>),
    /// Serves in FIFO order, by next-free times.
    FifoStation(Box<Line>),
    /// A station that acts by events.
    EventStation(Box<EventStations>),
}

/// Copies of a part that a part leads to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// The first of them, for copy 0.
    pub first: u32,
    /// By how much that moves on with each copy: 0 where they are shared.
    pub stride: u32,
    /// How many there are for each copy.
    pub copies: u32,
    /// Targets up to and with these.
    pub upto: u32,
}

impl Way {
    pub(super) fn is_shared(&self) -> bool {
        self.stride == 0
    }
}

/// A balancer.
#[derive(Clone, Debug)]
pub(super) struct Balancing {
    pub ways: Vec<Way>,
    /// By copy; one for all where all know the same.
    pub choosers: Vec<Chooser>,
    /// Jobs that no target can take, by chooser.
    pub waiting: Vec<WaitQueue>,
    pub limit: Option<usize>,
    pub hold: Option<Nanos>,
    /// Time from one exchange to the next, and its cost.
    pub exchange: Option<(Nanos, Nanos)>,
    /// Number of the last exchange.
    pub exchanged: i64,
    /// Whether an event of the next one is set.
    pub armed: bool,
    /// What it counts on the direct way.
    pub due: CalendarQueue,
    /// Whether a choice depends on what is outstanding, which it therefore counts.
    pub counts: bool,
    /// Whether it may keep a request until a target is free or an exchange is over.
    pub keeps: bool,
    pub policy: String,
}

impl Balancing {
    /// Index of the chooser of a copy.
    #[inline]
    pub(super) fn chooser(&self, copy: u32) -> usize {
        if self.choosers.len() == 1 { 0 } else { copy as usize }
    }

    /// The node that is target number `target` of a copy.
    #[inline]
    pub(super) fn node(&self, copy: u32, target: u32) -> u32 {
        let at = if self.ways.len() == 1 { 0 } else { self.ways.partition_point(|way| way.upto <= target) };
        let way = &self.ways[at];
        way.first + copy * way.stride + (target - (way.upto - way.copies))
    }

    /// Until when an exchange keeps it from handing on, if one does.
    #[inline]
    pub(super) fn exchanging(&self, now: Nanos) -> Option<Nanos> {
        let (every, cost) = self.exchange.filter(|_| self.exchanged > 0)?;
        Some(Nanos(self.exchanged * every.0 + cost.0)).filter(|over| *over > now)
    }

    /// Those whose answers have come by `now` are outstanding no more (the direct way).
    #[inline]
    pub(super) fn let_go(&mut self, now: Nanos) {
        while self.let_one_go(now).is_some() {}
    }

    /// The first whose answer has come by `now` is outstanding no more: when, and what it was.
    #[inline]
    pub(super) fn let_one_go(&mut self, now: Nanos) -> Option<(Nanos, End)> {
        let (at, end) = self.due.pop(now)?;
        self.keep_up(at);
        let chooser = self.chooser(end.copy);
        self.choosers[chooser].ended(end.target, at, Some(end.took));
        Some((at, end))
    }

    /// Makes good the exchange that is due by `now`, if one is: counts have not changed since it was.
    #[inline]
    pub(super) fn keep_up(&mut self, now: Nanos) {
        if let Some((every, _)) = self.exchange {
            let number = now.0 / every.0;
            if number > self.exchanged {
                self.exchanged = number;
                let ways = &self.ways;
                let common = |target: u32| ways[ways.partition_point(|way| way.upto <= target)].is_shared();
                Chooser::exchange(&mut self.choosers, common);
            }
        }
    }
}

/// Stations that are first come first served.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub service: Service,
    /// By copy.
    pub stations: Vec<Station>,
    /// Requests that were not turned away, by copy; empty where it does not matter.
    pub served: Vec<u64>,
    pub stalls: Option<Stalls>,
    pub servers: u32,
}

impl Line {
    /// What a request of that step needs of a copy.
    #[inline(always)]
    pub(super) fn demand(&self, copy: usize, step: u16, draws: &mut Draws) -> Nanos {
        let served = self.served.get(copy).copied().unwrap_or(0);
        self.service.demand(step, served, draws)
    }

    /// A request comes to a copy: when its service begins and when it leaves; none if the queue is full.
    #[inline(always)]
    pub(super) fn arrive(&mut self, copy: usize, now: Nanos, demand: Nanos) -> Option<(Nanos, Nanos)> {
        let Admission::Departs(departs) = self.stations[copy].arrive(now, demand) else { return None };
        if let Some(served) = self.served.get_mut(copy) {
            *served += 1;
        }
        let begins = match self.stalls {
            None => departs - demand,
            // What is under way in a stall is suspended, and holds its server all the same.
            Some(stalls) => stalls.instant(stalls.worked(departs) - demand).max(now),
        };
        Some((begins, departs))
    }
}

/// Stations that act by events.
#[derive(Clone, Debug)]
pub(super) struct EventStations {
    pub service: Service,
    pub rules: Rules,
    pub word: &'static str,
    /// By copy.
    pub stations: Vec<EventStation>,
}

/// When copies are down.
#[derive(Clone, Debug)]
pub(super) struct Faulty {
    pub while_down: WhileDown,
    pub under_way: UnderWay,
    /// By copy; one for all where the requests of all turn it.
    pub clocks: Vec<FaultClock>,
    /// Since when each clock has been down; MAX while it is up.
    pub since: Vec<Nanos>,
    /// Copies for each clock.
    pub weight: i64,
    /// Jobs that are in each copy and would be lost, where that is not a station.
    pub inside: Vec<WaitQueue>,
}

impl Faulty {
    #[inline]
    fn clock(&self, copy: u32) -> usize {
        if self.clocks.len() == 1 { 0 } else { copy as usize }
    }

    /// Whether a copy is up at `now`; what it was until then goes into the series.
    #[inline]
    pub(super) fn is_up(&mut self, copy: u32, now: Nanos, series: &mut Series) -> bool {
        let clock = self.clock(copy);
        let (state, since) = (&mut self.clocks[clock], &mut self.since[clock]);
        let mut turn = |up: bool, at: Nanos| {
            if up && *since < Nanos::MAX {
                series.spells(Lane::Down, *since, at, self.weight);
                *since = Nanos::MAX;
            } else if !up && *since == Nanos::MAX {
                *since = at;
            }
        };
        while state.next_change() <= now {
            let at = state.next_change();
            turn(state.is_up(at), at);
        }
        let up = state.is_up(now);
        turn(up, now);
        up
    }

    /// Whether a copy is up at `now`, without a request that comes to it.
    pub(super) fn is_still_up(&mut self, copy: u32, now: Nanos, series: &mut Series) -> bool {
        if self.next_change(copy) <= now {
            return self.is_up(copy, now, series);
        }
        self.clocks[self.clock(copy)].was_up()
    }

    /// When a copy changes next without being asked.
    pub(super) fn next_change(&self, copy: u32) -> Nanos {
        self.clocks[self.clock(copy)].next_change()
    }
}

/// The streams of a part, by group.
#[derive(Clone, Debug)]
pub(super) struct PartDraws {
    pub route: Vec<Stream>,
    pub out: Vec<Stream>,
    pub back: Vec<Stream>,
    pub jitter: Vec<Stream>,
}

impl PartDraws {
    pub(super) fn new(plan: &Plan, part: usize) -> PartDraws {
        let seeds: Vec<u64> =
            (0..plan.groups.len()).map(|group| seed_of_part(plan.group_seed(group), part)).collect();
        let streams = |name: &str| seeds.iter().map(|&seed| Stream::new(seed, name)).collect();
        PartDraws {
            route: streams("route"),
            out: streams("cable"),
            back: streams("cable-back"),
            jitter: streams("jitter"),
        }
    }
}

/// What is counted of a copy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Attempts that came to it, of requests that came in the measured phase.
    pub came: u64,
    /// Those that failed.
    pub failed: u64,
    /// Integral of the number in it over the measured phase, in ns.
    pub area: i128,
    /// Busy time of its servers in the measured phase, in ns.
    pub busy: i128,
}
