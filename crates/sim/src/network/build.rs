//! From a model to its network: copies become nodes, and what can be known at arrival is found out.
//!
//! Nodes are numbered by part, so that a part's are together; in a group of copies that belong to one copy of the part
//! before, they are together too. So the way from a copy to its targets is a first number and a stride.

use super::accept::Accept;
use super::calendar_queue::CalendarQueue;
use super::direct::qualifies;
use super::events::{EventKind, Events};
use super::in_order::InOrder;
use super::job::Jobs;
use super::measured::{Measured, Spent};
use super::numbers::{Numbers, seed_of_part};
use super::observe::Little;
use super::outbox::Outbox;
use super::part::{Balancing, EventStations, Faulty, Line, Part, PartDraws, PartKind, Way};
use super::pending::PendingDepartures;
use super::series::Series;
use super::station::{EventStation, Rules, Service};
use super::wait_queue::WaitQueue;
use super::{Network, Tally, Tells};
use crate::balance::Chooser;
use crate::failure::{BreakerState, BudgetBucket, FaultClock};
use headway_base::Nanos;
use headway_base::random::Stream;
use headway_base::units::UnitError;
use headway_workload::Plan;
use headway_workload::model::{
    Cancel, Discipline, Faults, Kind, Knows, Model, Part as Asked, PartId, Policy, Station, UnderWay, When,
    WhileDown,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// Copies of all parts together at most.
const MOST_NODES: u64 = 1_000_000;
/// Parts on one way at most: each job has room for as many.
const MOST_DEEP: usize = 500;

impl Network {
    /// The network of that model, for requests of that plan.
    ///
    /// # Errors
    /// A model that cannot be: no part, no server or copy, parts that do not lead to later ones, more than a million copies,
    /// a number that is out of its range.
    pub fn new(model: &Model, plan: &Plan) -> Result<Network, UnitError> {
        let layout = Layout::new(model)?;
        let mut parts = Vec::with_capacity(model.parts.len());
        for (id, asked) in model.parts.iter().enumerate() {
            parts.push(layout.part(model, plan, id, asked)?);
        }
        let nodes: Vec<(u32, u32)> = (0u32..)
            .zip(&parts)
            .flat_map(|(part, of)| (0..of.copies).map(move |copy| (part, copy)))
            .collect();
        let mut events = Events::default();
        for part in &parts {
            let changes = |faults: &&Faulty| {
                faults.under_way == UnderWay::Lost || matches!(faults.while_down, WhileDown::Slow(_))
            };
            let interrupts = part.faults.as_ref().filter(changes);
            for copy in interrupts.map_or(0..0, |_| 0..part.copies) {
                let next = interrupts.map_or(Nanos::MAX, |faults| faults.next_change(copy));
                if next < Nanos::MAX {
                    events.add(next, EventKind::Change, part.first + copy, 0);
                }
            }
        }
        let direct = qualifies(model, &parts);
        let tells = match &parts[0].does {
            PartKind::Balancer(first) if first.counts && parts[0].cable.is_none() => Tells::Balancer,
            PartKind::FifoStation(line) if line.servers == 1 && parts[0].plain && nodes.len() == 1 => {
                Tells::Server
            }
            _ => Tells::Nobody,
        };
        let leads_on = matches!(&parts[0].does, PartKind::Forward(_) | PartKind::Balancer(_));
        Ok(Network {
            tallies: vec![Tally::default(); nodes.len()],
            nodes,
            jobs: Jobs::new(layout.depth[0]),
            parts,
            direct,
            leads_on,
            tells,
            due_at: Nanos::MAX,
            in_order: InOrder::default(),
            pending: PendingDepartures::new(),
            path: Vec::new(),
            now: Nanos::ZERO,
            events,
            ready: VecDeque::new(),
            outbox: Outbox::default(),
            connections: Vec::new(),
            releases: Vec::new(),
            free_releases: Vec::new(),
            scratch: Vec::new(),
            numbers: Numbers::new(plan),
            keyed: keyed(model),
            pieces: model.events.clone(),
            accept: model.accept.map(Accept::new).transpose()?,
            little: Little::default(),
            made_again: (0, 0),
            measured: Measured::new(plan),
            spent: Spent::default(),
        })
    }
}

/// How many copies of each part there are, in the order of the model.
///
/// # Errors
/// A model that cannot be laid out.
pub(crate) fn copies(model: &Model) -> Result<Vec<u32>, UnitError> {
    Layout::new(model).map(|layout| layout.copies)
}

/// Whether any part uses the user's key.
fn keyed(model: &Model) -> bool {
    let hashes = |part: &Asked| matches!(&part.kind, Kind::Balancer(balancer) if matches!(balancer.policy, Policy::ConsistentHash { .. }));
    model.parts.iter().any(hashes)
}

/// How many copies each part has, and where.
struct Layout {
    /// Number of the first node of each part.
    first: Vec<u32>,
    /// Nodes of each part.
    copies: Vec<u32>,
    /// Parts on the longest way from each on, with itself.
    depth: Vec<usize>,
}

fn wrong(given: impl ToString, wanted: &str) -> UnitError {
    UnitError::new(&given.to_string(), wanted)
}

impl Layout {
    fn new(model: &Model) -> Result<Layout, UnitError> {
        if model.parts.is_empty() {
            return Err(wrong("no part", "a model: it has at least one"));
        }
        let n = model.parts.len();
        let mut copies = vec![0u64; n];
        copies[0] = u64::from(model.parts[0].copies);
        for (id, part) in model.parts.iter().enumerate() {
            if part.copies == 0 {
                return Err(wrong(0, "a number of copies: at least 1"));
            }
            for to in part.leads_to() {
                let Some(next) = model.parts.get(to).filter(|_| to > id) else {
                    return Err(wrong(to, "a part that comes later: parts do not lead in a circle"));
                };
                let own = u64::from(next.copies);
                copies[to] = match next.shared {
                    true if copies[id] == 0 => copies[to],
                    true => own,
                    false => copies[to].saturating_add(copies[id].saturating_mul(own)),
                };
            }
            let all = copies.iter().fold(0u64, |sum, &copies| sum.saturating_add(copies));
            if all > MOST_NODES {
                return Err(wrong(all, "a number of copies of all parts together: at most 1000000"));
            }
        }
        let mut first = Vec::with_capacity(n);
        let mut sum = 0;
        for &copies in &copies {
            first.push(sum);
            sum += copies as u32;
        }
        let mut depth = vec![1; n];
        for id in (0..n).rev() {
            depth[id] = 1 + model.parts[id].leads_to().map(|to| depth[to]).max().unwrap_or(0);
        }
        if depth[0] > MOST_DEEP {
            return Err(wrong(depth[0], "a number of parts on one way: at most 500"));
        }
        Ok(Layout { first, copies: copies.iter().map(|&c| c as u32).collect(), depth })
    }

    /// The ways from a part to those that it leads to, in order.
    fn ways(&self, model: &Model, id: PartId) -> Vec<Way> {
        let mut upto = 0;
        let to: Vec<PartId> = model.parts[id].leads_to().collect();
        let way = |at: usize| {
            let (part, own) = (to[at], model.parts[to[at]].copies);
            upto += own;
            if model.parts[part].shared {
                return Way { first: self.first[part], stride: 0, copies: own, upto };
            }
            // Groups of copies lie in the order of what leads to them: parts, then branches, then copies.
            let group = |from: PartId| self.copies[from] * own;
            let parts = (0..id).map(|from| {
                model.parts[from].leads_to().filter(|&to| to == part).count() as u32 * group(from)
            });
            let before = to[..at].iter().filter(|&&other| other == part).count() as u32 * group(id);
            Way { first: self.first[part] + parts.sum::<u32>() + before, stride: own, copies: own, upto }
        };
        (0..to.len()).map(way).collect()
    }

    fn part(&self, model: &Model, plan: &Plan, id: PartId, asked: &Asked) -> Result<Part, UnitError> {
        let copies = self.copies[id];
        let n = copies as usize;
        let does = match &asked.kind {
            Kind::Pass(_) => match self.ways(model, id).first() {
                Some(&way) => PartKind::Forward(way),
                None => return Err(wrong(&asked.name, "a part that leads anywhere")),
            },
            Kind::Balancer(_) => self.balancing(model, id)?,
            Kind::Station(station) => self.station(model, id, station)?,
        };
        let slows = |faults: &&Faults| matches!(faults.while_down, WhileDown::Slow(_));
        if asked.faults.as_ref().filter(slows).is_some() && !matches!(asked.kind, Kind::Station(_)) {
            return Err(wrong(&asked.name, "a station: nothing else can be slow"));
        }
        // A lazy clock changes when it is asked: nothing is lost to it in between.
        let lazy = |faults: &&Faults| matches!(faults.when, When::Alternating { lazy: true, .. });
        if asked.faults.as_ref().filter(lazy).is_some_and(|faults| faults.under_way == UnderWay::Lost) {
            let wanted = "a part whose faults are lazy and let finish what is under way, or are not lazy";
            return Err(wrong(&asked.name, wanted));
        }
        let bucket =
            asked.retry.as_ref().and_then(|retry| retry.budget).map(|budget| BudgetBucket::new(&budget));
        let breaker = asked.breaker.as_ref().map(BreakerState::new);
        let plain = asked.retry.is_none()
            && asked.hedge.is_none()
            && asked.timeout.is_none()
            && asked.breaker.is_none()
            && asked.cable.is_none()
            && asked.faults.is_none();
        Ok(Part {
            name: asked.name.clone(),
            first: self.first[id],
            copies,
            plain,
            does,
            retry: asked.retry.clone(),
            buckets: bucket.map_or(Vec::new(), |bucket| vec![bucket; n]),
            hedge: asked.hedge,
            timeout: asked.timeout,
            breakers: breaker.map_or(Vec::new(), |breaker| vec![breaker; n]),
            cable: asked.cable.clone(),
            faults: asked.faults.as_ref().map(|faults| faulty(faults, plan, id, copies)),
            draws: PartDraws::new(plan, id),
            series: Series::new(),
        })
    }

    fn balancing(&self, model: &Model, id: PartId) -> Result<PartKind, UnitError> {
        let Kind::Balancer(balancer) = &model.parts[id].kind else { return Err(wrong(id, "a balancer")) };
        let ways = self.ways(model, id);
        let weights = balancer
            .to
            .iter()
            .flat_map(|branch| std::iter::repeat_n(branch.weight, model.parts[branch.part].copies as usize));
        let chooser = Chooser::new(balancer, &weights.collect::<Vec<f64>>())?;
        let shared = ways.iter().filter(|way| way.is_shared()).count();
        if balancer.knows == Knows::All && shared > 0 && shared < ways.len() {
            let wanted = "a balancer whose copies can know all: it leads to shared parts alone, or to none";
            return Err(wrong(&model.parts[id].name, wanted));
        }
        let exchange = match balancer.knows {
            Knows::Shared { every, cost } if every <= Nanos::ZERO || cost < Nanos::ZERO || cost >= every => {
                let wanted = "an exchange: it takes less time than there is from one to the next";
                return Err(wrong(format!("every: {every}, cost: {cost}"), wanted));
            }
            Knows::Shared { every, cost } => Some((every, cost)),
            Knows::Own | Knows::All => None,
        };
        let one = balancer.knows == Knows::All && shared > 0;
        let choosers = vec![chooser; if one { 1 } else { self.copies[id] as usize }];
        let counts = match balancer.policy {
            Policy::Random | Policy::RoundRobin | Policy::ConsistentHash { bound: None } => false,
            Policy::LeastConnections { .. }
            | Policy::PowerOfD { .. }
            | Policy::JoinIdleQueue
            | Policy::PeakEwma { .. }
            | Policy::ConsistentHash { bound: Some(_) }
            | Policy::OneConnection => true,
        };
        let costs = exchange.is_some_and(|(_, cost)| cost > Nanos::ZERO);
        Ok(PartKind::Balancer(Box::new(Balancing {
            waiting: vec![WaitQueue::new(1); choosers.len()],
            ways,
            choosers,
            limit: balancer.queue,
            hold: balancer.hold.filter(|hold| *hold > Nanos::ZERO),
            exchange,
            exchanged: 0,
            armed: false,
            due: CalendarQueue::default(),
            counts,
            keeps: costs || balancer.policy == Policy::OneConnection,
            policy: balancer.policy.to_string(),
        })))
    }

    fn station(&self, model: &Model, id: PartId, station: &Station) -> Result<PartKind, UnitError> {
        if station.servers == 0 {
            return Err(wrong(0, "a number of servers: at least 1"));
        }
        let (service, rules) = (Service::new(station)?, Rules::new(station)?);
        let copies = self.copies[id] as usize;
        if station.discipline == Discipline::Fifo && station.speed.is_empty() && !interrupted(model, id) {
            let new = headway_base::station::Station::new(station.servers, station.queue, station.stalls);
            let stations = vec![new; copies];
            let served = if service.begins_cold() { vec![0; copies] } else { Vec::new() };
            let (stalls, servers) = (station.stalls, station.servers);
            return Ok(PartKind::FifoStation(Box::new(Line { service, stations, served, stalls, servers })));
        }
        let word = match &station.discipline {
            Discipline::Fifo => "fifo",
            Discipline::Lifo => "lifo",
            Discipline::Sharing => "sharing",
            Discipline::Priority { .. } => "priority",
        };
        let stations = vec![EventStation::new(&rules); copies];
        Ok(PartKind::EventStation(Box::new(EventStations { service, rules, word, stations })))
    }
}

/// Whether what waits in that station may be cancelled, lost, or served slower.
fn interrupted(model: &Model, id: PartId) -> bool {
    let interrupts = |f: &Faults| f.under_way == UnderWay::Lost || matches!(f.while_down, WhileDown::Slow(_));
    if model.parts[id].faults.as_ref().is_some_and(interrupts) {
        return true;
    }
    // Who leads to it, from near to far.
    let mut leads = vec![false; model.parts.len()];
    leads[id] = true;
    for from in (0..=id).rev() {
        let part = &model.parts[from];
        leads[from] |= part.leads_to().any(|to| leads[to]);
        let calls = part.timeout.is_some_and(|t| t.cancel != Cancel::Never)
            || part.hedge.is_some_and(|h| h.cancel != Cancel::Never);
        if leads[from] && calls {
            return true;
        }
    }
    false
}

fn faulty(faults: &Faults, plan: &Plan, part: PartId, copies: u32) -> Faulty {
    let seed = seed_of_part(plan.seed, part);
    let when = Arc::new(faults.when.clone());
    let lazy = matches!(faults.when, When::Alternating { lazy: true, .. });
    let one = lazy && faults.together;
    let clock = |copy: u32| {
        let copy = if faults.together { 0 } else { copy };
        FaultClock::new(when.clone(), Stream::new(seed_of_part(seed, copy as usize), "fault"))
    };
    let clocks: Vec<FaultClock> = (0..if one { 1 } else { copies }).map(clock).collect();
    Faulty {
        while_down: faults.while_down,
        under_way: faults.under_way,
        since: vec![Nanos::MAX; clocks.len()],
        clocks,
        weight: if one { i64::from(copies) } else { 1 },
        inside: match faults.under_way {
            UnderWay::Lost => vec![WaitQueue::new(1); copies as usize],
            UnderWay::Finish => Vec::new(),
        },
    }
}
