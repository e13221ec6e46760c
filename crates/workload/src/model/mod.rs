//! What stands in the target's place in a simulation: a network of parts that requests go through. Plain data, checked;
//! a scenario's `model:` describes it, `sim` interprets it.
//!
//! Requests enter the first part. A part does its own to them and hands them on, until a station serves them; the answer
//! comes back the same way. Parts lead only to later ones, so that there is no cycle. A part has copies: those of a shared
//! part (one that has a name of its own) are there once, for all that lead to it; of any other part, each copy of the part
//! before it has copies of its own. Ten balancers over one pool and ten balancers over ten pools differ in that alone.
//!
//! Deliberately absent: how any of it behaves over time (`sim`), and how it is written (`scenario`).

mod balancer;
mod failure;
pub mod policies;
mod station;
pub mod words;

pub use balancer::{Balancer, Branch, Knows, Policy, Ties};
pub use failure::{
    Backoff, Breaker, Budget, Cable, Cancel, Faults, Hedge, Jitter, Retry, Timeout, Trip, UnderWay, When,
    WhileDown,
};
pub use station::{Cold, Discipline, Station};

use crate::redact::Cleared;
use headway_base::Rate;
use headway_base::dist::Dist;
use headway_base::pieces::Pieces;

/// Index of a part in its model.
pub type PartId = usize;

/// A network of parts.
#[derive(Clone, PartialEq, Debug)]
pub struct Model {
    /// The parts; requests enter the first, and a part leads to later ones only. At least one.
    pub parts: Vec<Part>,
    /// Connections to the target are accepted one after the other at this rate; none: at once. Above zero.
    pub accept: Option<Rate>,
    /// When the generator itself does not run.
    pub pauses: Option<Pauses>,
    /// A response that was served (200) comes in these pieces; none: whole, as its service ends.
    pub events: Option<Pieces>,
}

/// A part, or several that are alike.
///
/// What stands around it, a request meets in this order: retries, hedging, timeout, breaker, cable, faults, and then the
/// part itself. Another order takes parts of kind [`Kind::Pass`].
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// Its name, for reports: as written, else by its kind and place.
    pub name: Cleared,
    /// How many there are; at least 1.
    pub copies: u32,
    /// Whether all that lead to it share its copies; else each copy of what leads to it has copies of its own.
    pub shared: bool,
    /// Requests that fail are made again.
    pub retry: Option<Retry>,
    /// Requests that take long are made twice.
    pub hedge: Option<Hedge>,
    /// Requests that take too long are given up.
    pub timeout: Option<Timeout>,
    /// After failures nothing more is asked for a while.
    pub breaker: Option<Breaker>,
    /// The way to it, and back.
    pub cable: Option<Cable>,
    /// When it is down.
    pub faults: Option<Faults>,
    /// What it is.
    pub kind: Kind,
}

/// What a part is.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// Nothing but what stands around it: it hands requests on to the (first copy of the) part.
    Pass(PartId),
    /// It chooses among the copies of the parts that it leads to.
    Balancer(Balancer),
    /// It serves.
    Station(Station),
}

/// When the generator itself does not run.
#[derive(Clone, PartialEq, Debug)]
pub struct Pauses {
    /// Time from the beginning of one to that of the next; its mean is above zero.
    pub every: Dist,
    /// How long one lasts.
    pub length: Dist,
}

impl Model {
    /// One station.
    pub fn station(station: Station) -> Model {
        Model::of(vec![Part::new("target", Kind::Station(station))])
    }

    /// These parts; connections are accepted at once, and the generator does not pause.
    pub fn of(parts: Vec<Part>) -> Model {
        Model { parts, accept: None, pauses: None, events: None }
    }

    /// A balancer before that number of stations.
    pub fn balanced(balancer: Policy, copies: u32, station: Station) -> Model {
        let pool = Part { copies, ..Part::new("pool", Kind::Station(station)) };
        Model::of(vec![Part::new("balancer", Kind::Balancer(Balancer::new(balancer, &[1]))), pool])
    }
}

impl Part {
    /// One part of that kind with nothing around it, not shared.
    pub fn new(name: impl Into<Cleared>, kind: Kind) -> Part {
        Part {
            name: name.into(),
            copies: 1,
            shared: false,
            retry: None,
            hedge: None,
            timeout: None,
            breaker: None,
            cable: None,
            faults: None,
            kind,
        }
    }

    /// The parts that it leads to.
    pub fn leads_to(&self) -> impl Iterator<Item = PartId> + '_ {
        let (pass, branches) = match &self.kind {
            Kind::Pass(to) => (Some(*to), &[][..]),
            Kind::Balancer(balancer) => (None, &balancer.to[..]),
            Kind::Station(_) => (None, &[][..]),
        };
        pass.into_iter().chain(branches.iter().map(|branch| branch.part))
    }
}
