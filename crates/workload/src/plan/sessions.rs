//! The sessions that arrive at a shard, in order.

use crate::arrivals::{Arrival, Arrivals};
use crate::shard::Shard;
use headway_base::Nanos;
use headway_base::random::Stream;
use std::sync::Arc;

/// The sessions of one group that arrive at one shard.
#[derive(Clone, Debug)]
pub struct SessionsOf(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Drawn(Drawn),
    AtOnce { next: u64, sessions: u64, from: Nanos, keep: Stream, shard: Shard },
    Logged { next: u64, instants: Arc<[Nanos]>, keep: Stream, shard: Shard },
}

/// Arrivals, drawn in blocks.
#[derive(Clone, Debug)]
struct Drawn {
    arrivals: Arrivals,
    block: Vec<Arrival>,
    /// Place in the block of the next.
    next: usize,
}

impl Drawn {
    #[inline]
    fn next(&mut self) -> Option<Arrival> {
        if self.next == self.block.len() {
            self.refill();
        }
        let arrival = *self.block.get(self.next)?;
        self.next += 1;
        Some(arrival)
    }

    #[inline(never)]
    fn refill(&mut self) {
        self.arrivals.fill(&mut self.block);
        self.next = 0;
    }
}

impl SessionsOf {
    pub(super) fn drawn(arrivals: Arrivals) -> SessionsOf {
        SessionsOf(Kind::Drawn(Drawn { arrivals, block: Vec::new(), next: 0 }))
    }

    pub(super) fn at_once(sessions: u64, seed: u64, shard: Shard) -> SessionsOf {
        let keep = Shard::stream(seed);
        SessionsOf(Kind::AtOnce { next: 0, sessions, from: Nanos::ZERO, keep, shard })
    }

    /// Sessions that all arrive at once do so at that instant, and whether these are such.
    pub(crate) fn arrive_at(&mut self, at: Nanos) -> bool {
        match &mut self.0 {
            Kind::Drawn(_) | Kind::Logged { .. } => false,
            Kind::AtOnce { from, .. } => {
                *from = at;
                true
            }
        }
    }

    pub(super) fn logged(instants: Arc<[Nanos]>, seed: u64, shard: Shard) -> SessionsOf {
        SessionsOf(Kind::Logged { next: 0, instants, keep: Shard::stream(seed), shard })
    }

    pub(super) fn none() -> SessionsOf {
        SessionsOf::at_once(0, 0, Shard::WHOLE)
    }
}

impl Iterator for SessionsOf {
    type Item = Arrival;

    #[inline]
    fn next(&mut self) -> Option<Arrival> {
        match &mut self.0 {
            Kind::Drawn(drawn) => drawn.next(),
            Kind::AtOnce { next, sessions, from, keep, shard } => {
                while *next < *sessions {
                    let k = *next;
                    *next += 1;
                    if shard.keeps(*keep, k) {
                        return Some(Arrival { k, intended: *from });
                    }
                }
                None
            }
            Kind::Logged { next, instants, keep, shard } => {
                while let Some(&intended) = instants.get(*next as usize) {
                    let k = *next;
                    *next += 1;
                    if shard.keeps(*keep, k) {
                        return Some(Arrival { k, intended });
                    }
                }
                None
            }
        }
    }
}

/// The sessions of several groups, merged by time; with each the number of its group.
#[derive(Clone, Debug)]
pub struct Sessions {
    groups: Vec<(SessionsOf, Option<Arrival>)>,
}

impl Sessions {
    pub(super) fn new(groups: Vec<SessionsOf>) -> Sessions {
        let head = |mut of: SessionsOf| {
            let first = of.next();
            (of, first)
        };
        Sessions { groups: groups.into_iter().map(head).collect() }
    }
}

impl Iterator for Sessions {
    type Item = (usize, Arrival);

    fn next(&mut self) -> Option<(usize, Arrival)> {
        let due = |(g, (_, next)): (usize, &(SessionsOf, Option<Arrival>))| next.map(|a| (a.intended, g));
        let (_, group) = self.groups.iter().enumerate().filter_map(due).min()?;
        let (of, next) = &mut self.groups[group];
        let arrival = next.take()?;
        *next = of.next();
        Some((group, arrival))
    }
}
