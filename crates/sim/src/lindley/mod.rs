//! The fast path (Lindley's recursion): where nothing later can change when a response comes, each request is played to its
//! end as it arrives, with neither client nor calendar.
//!
//! That holds where arrivals do not wait and routing does not depend on responses: open plans with
//! [`Direct`] models (Kiefer and Wolfowitz 1955: the waits of a queue are a recursion over its arrivals). The client
//! could still act in two ways, by a timeout and by its connection cap: the recursion detects when it might have
//! ([`NeedsEventLoop`]), and the caller starts again with the calendar, which is always right.
//!
//! There are two. One ([`play`]) interprets the model by itself and sees nothing of its inside: it is the fastest. The other
//! ([`play_through`]) asks a [`Network`] that knows its responses at once, including balancers that count, and which makes all
//! its usual observations, in half the time of the calendar.
//!
//! The records are those of the calendar, with two differences: they come in the order of arrival and not of
//! completion, and they have no connections.
//!
//! Deliberately absent: generators with defects, connections that take time, shards.

mod direct;
mod presence;

use crate::network::{Network, REJECTION};
use crate::simulation::Played;
use direct::Direct;
use headway_base::station::Admission;
use headway_base::{Nanos, Outcome, Record, RecordSink, Start};
use headway_workload::arrivals::{Arrival, Arrivals, BLOCK};
use headway_workload::client::GRACE;
use headway_workload::journey::Node;
use headway_workload::model::Model;
use headway_workload::plan::{Connections, Source};
use headway_workload::{Limits, Plan, RequestKey, Shard};
use presence::Presence;
use std::fmt;

/// The client would have acted, or might have: a timeout, the connection cap, the end of the plan. The records in the sink
/// are invalid then; the calendar has to play.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NeedsEventLoop;

impl fmt::Display for NeedsEventLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the client would have acted, or what it plays is not for a recursion: this takes a calendar",
        )
    }
}

impl std::error::Error for NeedsEventLoop {}

/// Whether a plan can be played against a model by recursion, unless the client acts.
///
/// The plan: all its groups arrive by a process, each arrival is one request, and connections are shared. The model: no
/// pauses of the generator and no accept rate; parts are FIFO stations, balancers whose choice does not depend
/// on responses (random, round-robin, consistent-hash without a bound) and that know of each other at once or not
/// at all, and parts that hand on; without retries, timeouts, faults or cables.
pub fn supports(plan: &Plan, model: &Model) -> bool {
    steps(plan).is_some_and(|steps| Direct::new(plan, model, &steps).is_some())
}

/// The step of each group's requests; none if the plan is none of those.
fn steps(plan: &Plan) -> Option<Vec<u16>> {
    let step = |group: &headway_workload::plan::Group| match group.journey.nodes() {
        &[Node::Ask { step, repeat: 1, .. }]
            if matches!(group.source, Source::Arrivals { .. })
                && group.connections == Connections::Shared =>
        {
            Some(step)
        }
        _ => None,
    };
    plan.groups.iter().map(step).collect()
}

/// Plays the whole plan against a model, to the end or until the sink has enough; the sink gets everything, also the end.
///
/// # Errors
/// Where the plan or the model is not supported (the sink is untouched then) and where the client would have acted.
pub fn play<S: RecordSink>(
    plan: &Plan,
    model: &Model,
    limits: Limits,
    sink: &mut S,
) -> Result<Played, NeedsEventLoop> {
    let steps = steps(plan).ok_or(NeedsEventLoop)?;
    let direct = Direct::new(plan, model, &steps).ok_or(NeedsEventLoop)?;
    let recursion = Recursion::new(plan, limits, sink)?;
    match direct.one() {
        Some(one) => recursion.play(plan, &steps, one),
        None => recursion.play(plan, &steps, direct),
    }
}

/// Whether a plan can be played against a network by [`play_through`], unless the client acts. The network may be any whose
/// answers are known as requests come: balancers that count, constant cables and parts that are down and say so are such
/// too, patience and discipline beyond first come first served are not.
pub fn supports_network(plan: &Plan, network: &Network) -> bool {
    steps(plan).is_some() && network.answers_at_once()
}

/// Plays the whole plan against a network in its first state, which sees what happens inside it; see [`supports_network`].
///
/// # Errors
/// Where the plan or the network is not supported (the sink is untouched then) and where the client would have acted;
/// the network is invalid then too.
pub fn play_through<S: RecordSink>(
    plan: &Plan,
    network: &mut Network,
    limits: Limits,
    sink: &mut S,
) -> Result<Played, NeedsEventLoop> {
    let steps = steps(plan).filter(|_| network.answers_at_once()).ok_or(NeedsEventLoop)?;
    Recursion::new(plan, limits, sink)?.play(plan, &steps, network)
}

/// The highest rate of arrivals of all groups together, or more.
fn peak_rate(plan: &Plan) -> f64 {
    let peak = |group: &headway_workload::plan::Group| match &group.source {
        Source::Arrivals { profile, .. } => {
            profile.phases().map(|phase| phase.from.0.max(phase.to.0)).fold(0.0, f64::max)
        }
        _ => 0.0,
    };
    plan.groups.iter().map(peak).sum()
}

/// Computes the response to a request as it arrives.
trait Answers {
    /// `count` requests of the first group, from number `first` on, will come next: their draws can be made at once.
    fn prepare(&mut self, first: u64, count: usize);
    /// Request number `k` of a group, of that step, comes at `now`: when it is answered, its outcome and status. Calls come
    /// in the order of time.
    fn arrive(&mut self, now: Nanos, group: usize, step: u16, k: u64) -> (Nanos, Outcome, u16);
}

/// The response of a station, which knows the departure or rejects the request.
#[inline(always)]
fn told(now: Nanos, admission: Admission) -> (Nanos, Outcome, u16) {
    match admission {
        Admission::Departs(at) => (at, Outcome::Ok, 200),
        Admission::Rejected => (now.saturating_add(REJECTION), Outcome::Status, 503),
    }
}

impl Answers for &mut Network {
    fn prepare(&mut self, _: u64, _: usize) {}

    #[inline]
    fn arrive(&mut self, now: Nanos, group: usize, step: u16, k: u64) -> (Nanos, Outcome, u16) {
        self.answer_at_once(
            now,
            &RequestKey { k, user: k, step, group: group as u16, ..RequestKey::default() },
        )
    }
}

struct Recursion<'a, S> {
    presence: Presence,
    timeout: Nanos,
    /// Last instant at which the client starts something.
    last_start: Nanos,
    requests: u64,
    ended: Nanos,
    stopped: bool,
    sink: &'a mut S,
}

impl<'a, S: RecordSink> Recursion<'a, S> {
    fn new(plan: &Plan, limits: Limits, sink: &'a mut S) -> Result<Recursion<'a, S>, NeedsEventLoop> {
        if limits.connect_timeout <= Nanos::ZERO {
            return Err(NeedsEventLoop);
        }
        Ok(Recursion {
            presence: Presence::new(limits.connections, limits.timeout, peak_rate(plan)),
            timeout: limits.timeout,
            last_start: plan.end().saturating_add(GRACE),
            requests: 0,
            ended: Nanos::ZERO,
            stopped: false,
            sink,
        })
    }

    /// Plays the whole plan, whose groups ask for these steps.
    fn play(
        mut self,
        plan: &Plan,
        steps: &[u16],
        mut target: impl Answers,
    ) -> Result<Played, NeedsEventLoop> {
        match (steps, &plan.groups[0].source) {
            (&[step], Source::Arrivals { process, profile }) => {
                let arrivals = Arrivals::new(plan.group_seed(0), *process, profile.clone(), Shard::WHOLE);
                self.play_group(target, step, arrivals)?;
            }
            _ => {
                let whole = Plan { shard: Shard::WHOLE, ..plan.clone() };
                for (group, arrival) in whole.sessions() {
                    self.stopped = self.sink.has_enough();
                    if self.stopped {
                        break;
                    }
                    self.request(&mut target, group, steps[group], arrival)?;
                }
            }
        }
        self.sink.finish(self.ended);
        Ok(Played { ended: self.ended, requests: self.requests, most_held: 0, stopped: self.stopped })
    }

    /// Plays the arrivals of the only group, in blocks.
    fn play_group(
        &mut self,
        mut target: impl Answers,
        step: u16,
        mut arrivals: Arrivals,
    ) -> Result<(), NeedsEventLoop> {
        let mut block = Vec::with_capacity(BLOCK);
        loop {
            arrivals.fill(&mut block);
            let Some(first) = block.first() else { return Ok(()) };
            self.stopped = self.sink.has_enough();
            if self.stopped {
                return Ok(());
            }
            target.prepare(first.k, block.len());
            for &arrival in &block {
                self.request(&mut target, 0, step, arrival)?;
            }
        }
    }

    /// Plays one request.
    #[inline(always)]
    fn request(
        &mut self,
        target: &mut impl Answers,
        group: usize,
        step: u16,
        Arrival { k, intended: now }: Arrival,
    ) -> Result<(), NeedsEventLoop> {
        let (done, outcome, status) = target.arrive(now, group, step, k);
        // A response at the very instant of the timeout may be delivered after it.
        if now > self.last_start || done - now >= self.timeout || !self.presence.admits(now, done) {
            return Err(NeedsEventLoop);
        }
        self.requests += 1;
        self.ended = self.ended.max(done);
        self.sink.tick(now);
        self.sink.start(Start::arrival(now, now, step));
        self.sink.record(Record {
            started: now.into(),
            sent: now.into(),
            first_byte: done.into(),
            group: group as u16,
            step,
            status,
            ..Record::never_started(k, now, done, outcome)
        });
        Ok(())
    }
}
