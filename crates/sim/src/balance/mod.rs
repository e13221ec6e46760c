//! Balancing policies: which of several targets gets the next request. One file per policy; a [`Chooser`] is a balancer's
//! state under one of them.
//!
//! A chooser picks a target ([`choose`](Chooser::choose)) and is notified of the outcome ([`started`](Chooser::started),
//! [`ended`](Chooser::ended)). Choosing by itself counts nothing; it only advances the turn of policies
//! that have one. The caller decides what a chooser knows:
//!
//! - [`Knows::Own`](headway_workload::model::Knows::Own): one chooser for each copy of the balancer.
//! - [`Knows::All`](headway_workload::model::Knows::All): one chooser for all copies that lead to the same targets. They have
//!   turns, latencies and queues of idle targets in common then, too.
//! - [`Knows::Shared`](headway_workload::model::Knows::Shared): one chooser for each copy, and [`Chooser::exchange`] at
//!   intervals, which gives each the sum of the others' requests at that instant.
//!
//! A target is idle for a chooser while nothing that the chooser knows of is outstanding there: under `Own`, an idle
//! target reports to the balancer whose request it was, and to no other.
//!
//! No choice costs more than the logarithm of the number of targets, however many requests are outstanding. Copies of a
//! balancer are best cloned from one chooser: what does not change (weights, rings, tables) is then in memory once.
//!
//! Deliberately absent: events, the queue of requests that no target can take, how long a failed request counts (the caller
//! calls `ended` later) and the time that an exchange costs.

mod buckets;
mod consistent_hash;
mod counts;
mod draw;
mod idle;
mod join_idle_queue;
mod least_connections;
mod levels;
mod one_connection;
mod peak_ewma;
mod power_of_d;
mod random;
mod round_robin;
#[cfg(test)]
mod tests;
mod tournament;

use self::consistent_hash::ConsistentHash;
use self::counts::Counts;
use self::join_idle_queue::JoinIdleQueue;
use self::least_connections::LeastConnections;
use self::one_connection::OneConnection;
use self::peak_ewma::PeakEwma;
use self::power_of_d::PowerOfD;
use self::random::Random;
use self::round_robin::RoundRobin;
use headway_base::Nanos;
use headway_base::random::Draws;
use headway_base::units::UnitError;
use headway_workload::model::{Balancer, Policy};
use std::sync::Arc;

/// A balancer's state: what it believes to be outstanding at each target, and the state of its policy.
///
/// Targets are numbered from 0 in the order of the balancer's branches, and of the copies within each.
#[derive(Clone, Debug)]
pub struct Chooser {
    counts: Counts,
    how: How,
}

/// What each policy keeps.
#[derive(Clone, Debug)]
enum How {
    Random(Random),
    RoundRobin(RoundRobin),
    LeastConnections(LeastConnections),
    PowerOfD(PowerOfD),
    JoinIdleQueue(JoinIdleQueue),
    PeakEwma(PeakEwma),
    ConsistentHash(ConsistentHash),
    OneConnection(OneConnection),
}

impl How {
    /// A target of which `before` requests were known has one more.
    #[inline]
    fn rose(&mut self, target: u32, before: u32) {
        match self {
            How::LeastConnections(how) => how.rose(target, before),
            How::JoinIdleQueue(how) => how.idle.remove(target),
            How::OneConnection(how) => how.idle.remove(target),
            How::Random(_)
            | How::RoundRobin(_)
            | How::PowerOfD(_)
            | How::PeakEwma(_)
            | How::ConsistentHash(_) => {}
        }
    }

    /// A target has one request less: `after`.
    #[inline]
    fn fell(&mut self, target: u32, after: u32) {
        match self {
            How::LeastConnections(how) => how.fell(target, after),
            How::JoinIdleQueue(how) if after == 0 => how.idle.push(target),
            How::OneConnection(how) if after == 0 => how.idle.push(target),
            How::Random(_)
            | How::RoundRobin(_)
            | How::PowerOfD(_)
            | How::JoinIdleQueue(_)
            | How::PeakEwma(_)
            | How::ConsistentHash(_)
            | How::OneConnection(_) => {}
        }
    }
}

impl Chooser {
    /// A balancer before targets of these weights, with nothing outstanding.
    ///
    /// # Errors
    /// No target, a weight that is not above zero, or a parameter of the policy out of its range.
    pub fn new(balancer: &Balancer, weights: &[f64]) -> Result<Chooser, UnitError> {
        let n = u32::try_from(weights.len()).ok().filter(|&n| n > 0 && n < u32::MAX);
        let Some(n) = n else {
            let wanted = "a number of targets to balance over: from 1 to 4294967294";
            return Err(UnitError::new(&weights.len().to_string(), wanted));
        };
        if let Some(weight) = weights.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
            return Err(UnitError::new(&weight.to_string(), "a weight: a number above 0"));
        }
        let weights: Arc<[f64]> = weights.into();
        let how = match balancer.policy {
            Policy::Random => How::Random(Random::new(&weights)),
            Policy::RoundRobin => How::RoundRobin(RoundRobin::new(weights)),
            Policy::LeastConnections { ties } => How::LeastConnections(LeastConnections::new(weights, ties)),
            Policy::PowerOfD { choices } => How::PowerOfD(PowerOfD::new(weights, choices)?),
            Policy::JoinIdleQueue => How::JoinIdleQueue(JoinIdleQueue::new(&weights)),
            Policy::PeakEwma { decay } => How::PeakEwma(PeakEwma::new(weights, decay)?),
            Policy::ConsistentHash { bound } => How::ConsistentHash(ConsistentHash::new(weights, bound)?),
            Policy::OneConnection => How::OneConnection(OneConnection::new(n)),
        };
        Ok(Chooser { counts: Counts::new(n), how })
    }

    /// How many targets there are.
    pub fn targets(&self) -> u32 {
        self.counts.targets()
    }

    /// The target of the request that arrives at `now`. `key` is the hash of its user, and `draws` are its own. None: no target may
    /// have it now ([`Policy::OneConnection`] alone, while all are busy); ask again after [`ended`](Chooser::ended) or
    /// [`exchange`](Chooser::exchange).
    #[inline(always)]
    pub fn choose(&mut self, now: Nanos, key: u64, draws: &mut Draws) -> Option<u32> {
        let counts = &self.counts;
        match &mut self.how {
            How::Random(how) => Some(how.choose(draws)),
            How::RoundRobin(how) => Some(how.choose()),
            How::LeastConnections(how) => Some(how.choose(counts, draws)),
            How::PowerOfD(how) => Some(how.choose(counts, draws)),
            How::JoinIdleQueue(how) => Some(how.choose(draws)),
            How::PeakEwma(how) => Some(how.choose(counts, now, draws)),
            How::ConsistentHash(how) => Some(how.choose(counts, key)),
            How::OneConnection(how) => how.choose(),
        }
    }

    /// One more request is outstanding at `target`.
    #[inline(always)]
    pub fn started(&mut self, target: u32) {
        let before = self.counts.started(target);
        self.how.rose(target, before);
    }

    /// One request at `target` is outstanding no more as of `now`; its answer had come after `took`. An answer that never
    /// came (given up, cancelled) has none, and teaches no latency.
    ///
    /// # Panics
    /// In debug builds, if none of this chooser's requests was outstanding there.
    #[inline(always)]
    pub fn ended(&mut self, target: u32, now: Nanos, took: Option<Nanos>) {
        let after = self.counts.ended(target);
        self.how.fell(target, after);
        if let (How::PeakEwma(how), Some(took)) = (&mut self.how, took) {
            how.observe(target, now, took);
        }
    }

    /// What it believes to be outstanding at `target`: its own requests, and the others' as of the last exchange.
    #[inline]
    pub fn known(&self, target: u32) -> u32 {
        self.counts.known(target)
    }

    /// Its own requests that are outstanding at `target`.
    #[inline]
    pub fn own(&self, target: u32) -> u32 {
        self.counts.own(target)
    }

    /// All copies of a balancer tell each other what they have outstanding: each knows its own at once from then on, and
    /// the sum of the others' as of now. `common` says which targets are the same for all copies (those of a shared part);
    /// of the rest each has its own, and nothing is exchanged. Always the same copies exchange, about the same targets.
    ///
    /// It costs as many steps as there are copies for each target at which anything began or ended since the last exchange,
    /// whatever number of targets there are; and at most as many as copies times targets.
    pub fn exchange(copies: &mut [Chooser], common: impl Fn(u32) -> bool) {
        let mut changed = Vec::new();
        let mut told = true;
        for copy in &mut *copies {
            told &= copy.counts.take_changes(&mut changed);
        }
        if !told {
            let targets = copies.iter().map(Chooser::targets).min().unwrap_or(0);
            changed = (0..targets).collect();
        }
        changed.sort_unstable();
        changed.dedup();
        changed.retain(|&target| common(target));
        let mut sums: Vec<(u32, u32)> = changed.into_iter().map(|target| (target, 0)).collect();
        for copy in &*copies {
            sums.iter_mut().for_each(|(target, sum)| *sum += copy.own(*target));
        }
        for copy in copies {
            copy.hear(&sums);
        }
    }

    /// So many requests of all copies are outstanding at these targets, which are in order.
    fn hear(&mut self, sums: &[(u32, u32)]) {
        // Steps of one keep an order up to date as long as sorting all anew is not less work.
        let mut steps = self.counts.targets() as usize;
        let mut stepwise = true;
        for &(target, sum) in sums {
            let (before, after) = self.counts.set_others(target, sum - self.counts.own(target));
            let distance = before.abs_diff(after) as usize;
            stepwise &= distance <= steps;
            if stepwise {
                steps -= distance;
                (before..after).for_each(|before| self.how.rose(target, before));
                (after..before).rev().for_each(|after| self.how.fell(target, after));
            }
        }
        if !stepwise {
            self.refresh();
        }
    }

    /// The counts have changed as a whole.
    fn refresh(&mut self) {
        match &mut self.how {
            How::LeastConnections(how) => how.refresh(&self.counts),
            How::JoinIdleQueue(how) => how.idle.refresh(&self.counts),
            How::OneConnection(how) => how.idle.refresh(&self.counts),
            How::Random(_)
            | How::RoundRobin(_)
            | How::PowerOfD(_)
            | How::PeakEwma(_)
            | How::ConsistentHash(_) => {}
        }
    }
}
