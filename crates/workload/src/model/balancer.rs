//! Balancers: which of several parts gets the next request, and what a balancer knows when it chooses.

use super::PartId;
use headway_base::Nanos;

/// Chooses among the copies of the parts that it leads to.
#[derive(Clone, PartialEq, Debug)]
pub struct Balancer {
    /// How.
    pub policy: Policy,
    /// Where to, in the order in which ties and turns go; at least one.
    pub to: Vec<Branch>,
    /// How long a request that failed still counts as outstanding, so that a part that fails fast does not look idle. None: not at all.
    pub hold: Option<Nanos>,
    /// What it knows of the connections of others.
    pub knows: Knows,
    /// How many may wait in the balancer itself ([`Policy::OneConnection`] alone); none: no limit.
    pub queue: Option<usize>,
}

/// A part that a balancer leads to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Branch {
    /// Which part; all copies of it.
    pub part: PartId,
    /// Weight of each copy: its share of the requests (random, round-robin, consistent-hash; join-idle-queue where none is
    /// idle) or what its connections are divided by (the others). Above zero; of no effect where the policy does not
    /// [weigh](Policy::weighs).
    pub weight: f64,
}

/// A balancing policy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Policy {
    /// Any of them.
    Random,
    /// One after the other.
    RoundRobin,
    /// The fewest outstanding requests.
    LeastConnections {
        /// Which of several that have as few.
        ties: Ties,
    },
    /// The fewest outstanding requests of `choices` drawn at random (Mitzenmacher 2001).
    PowerOfD {
        /// At least 1.
        choices: u32,
    },
    /// The one that has been idle the longest, or any if none is idle (Lu et al. 2011).
    JoinIdleQueue,
    /// The smaller product of outstanding requests and recent latency, of two drawn at random (Finagle's Peak EWMA).
    PeakEwma {
        /// Time constant of the average; above zero.
        decay: Nanos,
    },
    /// By the hash of the user (or session) on a ring (Karger et al. 1997).
    ConsistentHash {
        /// None gets more than this times the mean of outstanding requests (Mirrokni et al. 2018); above 1. None: no bound.
        bound: Option<f64>,
    },
    /// One outstanding request each; others wait in the balancer, first come first served.
    OneConnection,
}

/// Which of several that are equally good.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ties {
    /// The first in order.
    First,
    /// Any of them.
    #[default]
    Random,
    /// The next in turn.
    RoundRobin,
}

/// What a balancer knows of outstanding requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Knows {
    /// Its own alone.
    #[default]
    Own,
    /// Those of all copies, at once.
    All,
    /// Its own at once, and those of the other copies of it as of the last exchange.
    Shared {
        /// From one exchange to the next; above zero.
        every: Nanos,
        /// For how long after each exchange it hands nothing on.
        cost: Nanos,
    },
}

impl Policy {
    /// Whether it looks at outstanding requests, so that it matters what a balancer knows of them.
    pub fn counts(&self) -> bool {
        !matches!(self, Policy::Random | Policy::RoundRobin | Policy::ConsistentHash { bound: None })
    }

    /// Whether it uses weights: a single choice is compared with none, and one request at a time needs no weight.
    pub fn weighs(&self) -> bool {
        !matches!(self, Policy::OneConnection | Policy::PowerOfD { choices: 0..=1 })
    }
}

impl Balancer {
    /// Over the copies of these parts, all of weight 1; it knows its own requests, and failures count no longer than others.
    pub fn new(policy: Policy, to: &[PartId]) -> Balancer {
        let to = to.iter().map(|&part| Branch { part, weight: 1.0 }).collect();
        Balancer { policy, to, hold: None, knows: Knows::Own, queue: None }
    }
}
