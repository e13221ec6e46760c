//! The modelled target: a network of parts that requests go through.
//!
//! # How it works
//!
//! [`Network::new`] expands a [`Model`](headway_workload::model::Model) into nodes, one for each copy of each part (`build`), with
//! numbers instead of pointers. There are two paths, by what the model holds:
//!
//! - The direct path (`direct`): where every part knows the fate of a request at once (balancers; FIFO stations, by
//!   next-free times; cables; parts that are down and answer with an error) the response is computed when the request
//!   arrives. M/M/1 is such a model, which keeps only the last request of each connection; so is least connections over many servers, which
//!   counts outstanding requests.
//! - By events: otherwise a request is a job (`job`) that goes through the nodes step by step, in (`flow`) and back
//!   (`answer`). A job waits for events of the network's own calendar (`events`), for a place at a station or balancer
//!   (`wait_queue`), or, where there are timeouts, hedges and parts that lose their contents, for attempts, which are jobs
//!   of their own (`split`). A FIFO station that cannot be interrupted costs one event per
//!   request here too; the others act by events (`station::event_station`).
//!
//! Both paths use the same random numbers (`numbers`): a model with an added timeout that never acts gives the same responses.
//!
//! # What holds
//!
//! - Events happen in the order of time, and at one instant in the order in which they were added. A request that
//!   arrives at an instant comes after the events of that instant.
//! - No step of a job calls another: depth costs no stack.
//! - Memory is bounded by the requests in flight. Slots of jobs are reused; void entries of queues and timers are swept.
//! - A request costs at most the logarithm of the number of copies and of requests in flight, and no allocation once the slots
//!   are there; what it did is added to sums and to windows over time whose number is bounded (`series`).
//!
//! Deliberately absent: policies ([`balance`](crate::balance)), the state of clocks, budgets and breakers
//! ([`failure`](crate::failure)), and statistics of response times, which are the records'.

mod accept;
mod answer;
mod build;
mod calendar_queue;
mod direct;
mod events;
mod flow;
mod in_order;
mod job;
mod measured;
pub(crate) mod numbers;
mod observe;
mod outbox;
mod part;
mod pending;
mod series;
#[cfg(test)]
mod simultaneous_arrivals_tests;
mod split;
mod station;
#[cfg(test)]
mod tests;
mod wait_queue;

pub(crate) use build::copies;
pub use observe::{CopyObserved, MOST_COPIES, Observed, PartObserved, Window};
pub(crate) use station::{LEAST, Service};

use crate::target::{Answer, Answered, Connect, Target};
use accept::Accept;
use answer::Release;
use direct::Passed;
use events::{Event, EventKind, Events};
use flow::Step;
use headway_base::Nanos;
use headway_base::pieces::Pieces;
use headway_workload::RequestKey;
use headway_workload::client::RequestId;
use in_order::InOrder;
use job::{Asked, Jobs, NONE, Ticket};
use measured::{Measured, Spent};
use numbers::Numbers;
use observe::Little;
use outbox::Outbox;
use part::{Part, PartKind, Tally};
use pending::PendingDepartures;
use std::collections::VecDeque;

/// Time of a rejection: what a server needs for it over a loopback. Without it, users that retry at once would
/// do so a thousand million times a second.
pub(crate) const REJECTION: Nanos = Nanos::from_micros(10);

/// The modelled target.
///
/// A request is served (200), fails (503: a part that is down, a full queue, an open breaker; 504: a timeout) or is never
/// answered. No answer takes less than a nanosecond, and none of a failure less than 10 us.
#[derive(Clone, Debug)]
pub struct Network {
    parts: Vec<Part>,
    /// Part and copy of each node.
    nodes: Vec<(u32, u32)>,
    tallies: Vec<Tally>,
    /// Whether every answer is known as its request comes.
    direct: bool,
    /// Whether requests enter by a part that does not serve (a balancer, a forward), in which they are until they leave.
    leads_on: bool,
    /// On the direct path: which responses are delivered when they are due, and when the next one is.
    tells: Tells,
    due_at: Nanos,
    /// Those of the server where requests enter.
    in_order: InOrder,
    /// Responses computed before they are due.
    pending: PendingDepartures,
    /// Parts on the current request's way, on the direct path.
    path: Vec<Passed>,
    /// Time of the last event.
    now: Nanos,
    jobs: Jobs,
    events: Events,
    /// Jobs that can go on.
    ready: VecDeque<(Ticket, Step)>,
    /// Responses that the simulation has not collected yet.
    outbox: Outbox,
    /// The request that a connection waits for, by events.
    connections: Vec<u32>,
    /// Failed requests that count as outstanding for a while.
    releases: Vec<Release>,
    free_releases: Vec<u32>,
    /// Scratch space: jobs to be visited.
    scratch: Vec<u32>,
    numbers: Numbers,
    /// Whether any part uses the user's key.
    keyed: bool,
    /// In which pieces responses come that were served.
    pieces: Option<Pieces>,
    accept: Option<Accept>,
    little: Little,
    /// Requests that came to parts that make them again, and attempts there.
    made_again: (u64, u64),
    measured: Measured,
    spent: Spent,
}

/// The part that keeps responses on the direct path until they are due, because it knows their order anyway. Other
/// responses are given to the simulation at once, with the time when they are due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tells {
    Nobody,
    /// The balancer where requests enter, which counts.
    Balancer,
    /// The single server where they enter.
    Server,
}

impl Network {
    /// Node, part and copy that a job is at.
    #[inline]
    fn place(&mut self, f: u32) -> (u32, usize, usize) {
        let node = self.jobs.top(f).node;
        let (part, copy) = self.nodes[node as usize];
        (node, part as usize, copy as usize)
    }

    /// Something happens.
    #[inline]
    fn take_place(&mut self, event: Event) {
        self.now = event.at;
        let Event { who, life, round, .. } = event;
        match event.what {
            EventKind::Go => {
                if self.jobs.lives(who, life) {
                    let next = self.jobs.get(who).next;
                    self.drive(who, next);
                }
                return;
            }
            EventKind::Late if self.jobs.lives(who, life) => self.late(who),
            EventKind::Hedge if self.jobs.hedges(Ticket { job: who, life, round }) => self.hedge(who),
            EventKind::Late | EventKind::Hedge => self.events.void_came_up(),
            EventKind::Check => self.check_desk(who),
            EventKind::Release => {
                self.free_releases.push(who);
                self.release(self.releases[who as usize]);
            }
            EventKind::Change => self.change(who),
            EventKind::Exchange => self.exchange(who as usize),
        }
        self.settle();
    }

    /// Copies of a balancer tell each other what they have outstanding, and those that wait may go on.
    fn exchange(&mut self, part: usize) {
        let now = self.now;
        let copies = {
            let PartKind::Balancer(balancing) = &mut self.parts[part].does else { return };
            balancing.keep_up(now);
            balancing.armed = false;
            balancing.waiting.len()
        };
        for copy in 0..copies {
            self.hand_on(part, copy);
        }
        let PartKind::Balancer(balancing) = &mut self.parts[part].does else { return };
        if let Some((every, _)) = balancing.exchange.filter(|_| !balancing.armed)
            && balancing.waiting.iter().any(|waiting| waiting.len() > 0)
        {
            balancing.armed = true;
            let next = Nanos((balancing.exchanged + 1).saturating_mul(every.0));
            self.events.add(next, EventKind::Exchange, part as u32, 0);
        }
    }

    /// Everything that happens by `now` has.
    #[inline]
    fn catch_up(&mut self, now: Nanos) {
        while let Some(event) = self.events.pop(now) {
            self.take_place(event);
        }
        self.now = now;
    }
}

impl Target for Network {
    fn connect(&mut self, now: Nanos) -> Connect {
        self.accept.as_mut().map_or(Connect::After(Nanos::ZERO), |accept| accept.connect(now))
    }

    fn pieces(&self) -> Option<&Pieces> {
        self.pieces.as_ref()
    }

    #[inline]
    fn request(&mut self, now: Nanos, _: u64, slot: RequestId, sending: &RequestKey) -> Answer {
        if self.direct {
            self.tell_due(now);
            self.now = now;
            return self.answer(now, slot, sending);
        }
        self.catch_up(now);
        let asked = Asked {
            id: self.numbers.id(sending),
            key: if self.keyed { self.numbers.user(sending) } else { 0 },
            came: now,
            slot,
            job: NONE,
            jobs: 0,
            attempts: 0,
            step: sending.step,
            group: sending.group,
        };
        let job = self.jobs.begin(asked);
        if self.connections.len() <= slot as usize {
            self.connections.resize(slot as usize + 1, NONE);
        }
        self.connections[slot as usize] = self.jobs.get(job).request;
        self.little.came(now);
        self.drive(job, Step::Enter(0));
        Answer::Later
    }

    #[inline]
    fn next_at(&self) -> Nanos {
        match self.outbox.first_at() {
            Some(at) => at,
            None if self.direct => self.due_at,
            None => self.events.next_at(),
        }
    }

    #[inline]
    fn step(&mut self, now: Nanos) -> Option<Answered> {
        loop {
            if let Some(answered) = self.outbox.take() {
                return Some(answered);
            }
            if self.direct {
                return self.first_due(now).map(|(_, answered)| answered);
            }
            let event = self.events.pop(now)?;
            self.take_place(event);
        }
    }

    fn gone(&mut self, now: Nanos, slot: RequestId) {
        if self.direct {
            self.tell_due(now);
            self.forget(now, slot);
        } else {
            self.catch_up(now);
            self.client_is_gone(slot);
        }
        self.outbox.gone(slot);
    }
}
