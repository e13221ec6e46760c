//! Models in which every part on the way knows at once where a request goes and when it is answered.

use super::{Answers, told};
use crate::balance::Chooser;
use crate::network::numbers::{Numbers, item, seed_of_part};
use crate::network::{LEAST, Service};
use headway_base::dist::Dist;
use headway_base::random::{Stream, streams};
use headway_base::station::{Admission, Station};
use headway_base::{Nanos, Outcome};
use headway_workload::arrivals::BLOCK;
use headway_workload::model::{self, Balancer, Discipline, Kind, Knows, Model, Part, Policy};
use headway_workload::{Plan, RequestKey};

/// Most copies of a part.
const MOST_NODES: u64 = 1_000_000;

/// Such a model, as it runs.
#[derive(Clone, Debug)]
pub(super) struct Direct {
    parts: Vec<PartKind>,
    /// What the demands of each group are drawn from. Each request is a session, so that its number is its session's.
    demands: Vec<Stream>,
    numbers: Numbers,
    /// The law of the only station part, of single servers before a single group; none for others.
    only: Option<Dist>,
    drawn: Drawn,
}

/// Demands that were drawn before their time: those of requests `first` on.
#[derive(Clone, Debug)]
struct Drawn {
    first: u64,
    demands: [Nanos; BLOCK],
}

impl Drawn {
    const NONE: Drawn = Drawn { first: 0, demands: [Nanos::ZERO; BLOCK] };

    /// One after the other, but none waits for the one before it.
    #[inline]
    fn draw(&mut self, law: &Dist, draws: Stream, first: u64, count: usize) {
        self.first = first;
        let count = count.min(BLOCK);
        let mut seconds = [0.0; BLOCK];
        law.sample_items(draws, first, &mut seconds[..count]);
        for (demand, seconds) in self.demands.iter_mut().zip(&seconds[..count]) {
            *demand = Nanos::from_secs_f64(*seconds).max(LEAST);
        }
    }

    #[inline]
    fn demand(&self, k: u64) -> Nanos {
        self.demands[(k - self.first) as usize % BLOCK]
    }
}

/// What a part does, for all its copies.
#[derive(Clone, Debug)]
enum PartKind {
    HandOn(Way),
    Choose(Box<Choice>),
    /// One server and nothing else.
    Serve(Single),
    /// Servers with a queue limit, with stalls or with a cold start.
    Admit(Box<Line>),
}

/// Copies of a part that a part leads to.
#[derive(Clone, Copy, Debug)]
struct Way {
    part: usize,
    /// How far those of a copy are from those of the copy before it: 0 where they are shared.
    stride: usize,
    /// Targets before these.
    before: u32,
}

#[derive(Clone, Debug)]
struct Choice {
    /// By copy; one for all where all know the same.
    choosers: Vec<Chooser>,
    ways: Vec<Way>,
    /// By group.
    draws: Vec<Stream>,
    /// Whether the user's key matters.
    by_user: bool,
}

#[derive(Clone, Debug)]
struct Single {
    /// By group.
    laws: Vec<Dist>,
    /// When the server of each copy is next free.
    free: Vec<Nanos>,
}

#[derive(Clone, Debug)]
struct Line {
    service: Service,
    /// By copy, with how many it has served.
    copies: Vec<(Station, u64)>,
}

/// A single server before a single group: nothing is to be looked up.
#[derive(Clone, Debug)]
pub(super) struct One {
    law: Dist,
    demands: Stream,
    drawn: Drawn,
    /// When it is next free.
    free: Nanos,
}

/// A request that arrives at `now` is served by the server that is free at `free`.
#[inline(always)]
fn serve(demand: Nanos, free: &mut Nanos, now: Nanos) -> Admission {
    *free = (*free).max(now).saturating_add(demand);
    Admission::Departs(*free)
}

impl Answers for One {
    #[inline]
    fn prepare(&mut self, first: u64, count: usize) {
        self.drawn.draw(&self.law, self.demands, first, count);
    }

    #[inline(always)]
    fn arrive(&mut self, now: Nanos, _: usize, _: u16, k: u64) -> (Nanos, Outcome, u16) {
        told(now, serve(self.drawn.demand(k), &mut self.free, now))
    }
}

impl Direct {
    /// The model as it runs, for groups that ask for these steps; none if it is none of these. What
    /// [`suits`](super::suits) says of models is decided here.
    pub(super) fn new(plan: &Plan, model: &Model, steps: &[u16]) -> Option<Direct> {
        if model.pauses.is_some()
            || model.accept.is_some()
            || model.events.is_some()
            || !model.parts.iter().all(is_bare)
        {
            return None;
        }
        let nodes = nodes(model)?;
        let does = |(number, part): (usize, &Part)| match &part.kind {
            Kind::Pass(to) => Some(PartKind::HandOn(way(model, *to, 0))),
            Kind::Balancer(balancer) => choice(plan, model, number, balancer, nodes[number]),
            Kind::Station(station) => stations(station, steps, nodes[number]),
        };
        let parts = model.parts.iter().enumerate().map(does).collect::<Option<Vec<PartKind>>>()?;
        let stream = |group| Stream::new(plan.group_seed(group), streams::SERVICE);
        let demands: Vec<Stream> = (0..steps.len()).map(stream).collect();
        let mut stations =
            parts.iter().filter(|does| matches!(does, PartKind::Serve(_) | PartKind::Admit(_)));
        let only = match (stations.next(), stations.next(), demands.len()) {
            (Some(PartKind::Serve(single)), None, 1) => single.laws.first().cloned(),
            _ => None,
        };
        Some(Direct { parts, demands, numbers: Numbers::new(plan), only, drawn: Drawn::NONE })
    }

    /// The single server that it is, if it is that and there is one group.
    pub(super) fn one(&self) -> Option<One> {
        match (self.parts.first()?, self.demands.as_slice()) {
            (PartKind::Serve(Single { laws, free }), &[demands]) => {
                let (law, free) = (laws.first()?.clone(), *free.first()?);
                Some(One { law, demands, drawn: Drawn::NONE, free })
            }
            _ => None,
        }
    }
}

impl Answers for Direct {
    #[inline]
    fn prepare(&mut self, first: u64, count: usize) {
        if let (Some(law), Some(demands)) = (&self.only, self.demands.first()) {
            self.drawn.draw(law, *demands, first, count);
        }
    }

    #[inline]
    fn arrive(&mut self, now: Nanos, group: usize, step: u16, k: u64) -> (Nanos, Outcome, u16) {
        told(now, self.admit(now, group, step, k))
    }
}

impl Direct {
    #[inline(always)]
    fn admit(&mut self, now: Nanos, group: usize, step: u16, k: u64) -> Admission {
        let demands = self.demands[group];
        let (mut part, mut copy) = (0, 0);
        loop {
            match &mut self.parts[part] {
                PartKind::Serve(Single { laws, free }) => {
                    let demand = match &self.only {
                        Some(_) => self.drawn.demand(k),
                        None => laws[group].sample_time(&mut demands.item(k)).max(LEAST),
                    };
                    return serve(demand, &mut free[copy], now);
                }
                PartKind::Choose(choice) => {
                    let key = if choice.by_user {
                        self.numbers.user(&RequestKey {
                            user: k,
                            group: group as u16,
                            ..RequestKey::default()
                        })
                    } else {
                        0
                    };
                    let chooser = if choice.choosers.len() == 1 { 0 } else { copy };
                    let mut draws = choice.draws[group].item(item(k, 0));
                    let Some(target) = choice.choosers[chooser].choose(now, key, &mut draws) else {
                        return Admission::Rejected;
                    };
                    let at = match choice.ways.len() {
                        1 => 0,
                        _ => choice.ways.partition_point(|way| way.before <= target) - 1,
                    };
                    let way = choice.ways[at];
                    (part, copy) = (way.part, copy * way.stride + (target - way.before) as usize);
                }
                PartKind::Admit(line) => {
                    let (station, served) = &mut line.copies[copy];
                    let demand = line.service.demand(step, *served, &mut demands.item(k));
                    let admission = station.arrive(now, demand);
                    *served += u64::from(admission != Admission::Rejected);
                    return admission;
                }
                PartKind::HandOn(way) => (part, copy) = (way.part, copy * way.stride),
            }
        }
    }
}

/// Whether nothing stands around a part.
fn is_bare(part: &Part) -> bool {
    part.retry.is_none()
        && part.hedge.is_none()
        && part.timeout.is_none()
        && part.breaker.is_none()
        && part.cable.is_none()
        && part.faults.is_none()
}

/// How many copies of each part there are in all; none where that is unknown or too many.
fn nodes(model: &Model) -> Option<Vec<usize>> {
    let mut nodes = vec![0_u64; model.parts.len()];
    *nodes.first_mut()? = u64::from(model.parts.first()?.copies);
    for (number, part) in model.parts.iter().enumerate() {
        for to in part.leads_to() {
            let next = model.parts.get(to).filter(|_| to > number)?;
            // A part that is not shared has one way to it.
            if !next.shared && nodes[to] > 0 {
                return None;
            }
            nodes[to] = u64::from(next.copies) * if next.shared { 1 } else { nodes[number] };
            if nodes[to] > MOST_NODES {
                return None;
            }
        }
    }
    nodes.into_iter().map(|n| usize::try_from(n).ok().filter(|&n| n > 0)).collect()
}

fn way(model: &Model, part: usize, before: u32) -> Way {
    let Part { shared, copies, .. } = model.parts[part];
    Way { part, stride: if shared { 0 } else { copies as usize }, before }
}

fn choice(plan: &Plan, model: &Model, number: usize, balancer: &Balancer, copies: usize) -> Option<PartKind> {
    let by_user = match balancer.policy {
        Policy::Random | Policy::RoundRobin => false,
        Policy::ConsistentHash { bound: None } => true,
        _ => return None,
    };
    let choosers = match balancer.knows {
        Knows::Own => copies,
        Knows::All => 1,
        Knows::Shared { .. } => return None,
    };
    let (mut ways, mut weights) = (Vec::new(), Vec::new());
    for branch in &balancer.to {
        ways.push(way(model, branch.part, weights.len() as u32));
        weights.resize(weights.len() + model.parts[branch.part].copies as usize, branch.weight);
    }
    let chooser = Chooser::new(balancer, &weights).ok()?;
    let draws = |group| Stream::new(seed_of_part(plan.group_seed(group), number), "route");
    Some(PartKind::Choose(Box::new(Choice {
        choosers: vec![chooser; choosers],
        ways,
        draws: (0..plan.groups.len()).map(draws).collect(),
        by_user,
    })))
}

fn stations(station: &model::Station, steps: &[u16], copies: usize) -> Option<PartKind> {
    if station.discipline != Discipline::Fifo || !station.speed.is_empty() || station.servers == 0 {
        return None;
    }
    let model::Station { servers, queue, stalls, cold, .. } = station;
    if *servers == 1 && queue.is_none() && stalls.is_none() && cold.is_none() {
        let law = |step: &u16| {
            let own = station.steps.iter().rev().find(|(of, _)| of == step);
            own.map_or(&station.service, |(_, law)| law).clone()
        };
        let laws = steps.iter().map(law).collect();
        return Some(PartKind::Serve(Single { laws, free: vec![Nanos(i64::MIN); copies] }));
    }
    let service = Service::new(station).ok()?;
    let copies = vec![(Station::new(*servers, *queue, *stalls), 0); copies];
    Some(PartKind::Admit(Box::new(Line { service, copies })))
}
