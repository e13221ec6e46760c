//! The direct path: where every part that a request meets knows its fate at once, the response is computed when the request
//! arrives, without a job.
//!
//! This holds where stations are FIFO, balancers keep no queue, cables lead in with one constant delay
//! on every way to a part (so that requests reach each part in the order of time), parts that are down answer with an error,
//! and nothing times out. A balancer that counts its connections learns of the end of one when the next request
//! arrives: all ends up to that instant are processed first, in the order of time. The balancer where requests enter has to record those ends
//! anyway, and the response with them: the simulation then gets the response when it is due, and need not store it again. The same holds where requests
//! enter at a single server, whose responses come in the order of its requests.

use super::calendar_queue::End;
use super::in_order::Served;
use super::job::{NONE, Verdict};
use super::part::{Part, PartKind};
use super::pending::{Request, Stay};
use super::{LEAST, Network, REJECTION, Tells};
use crate::target::{Answer, Answered};
use headway_base::dist::{Dist, Law};
use headway_base::random::Stream;
use headway_base::{Nanos, Outcome};
use headway_workload::RequestKey;
use headway_workload::model::{Model, UnderWay, WhileDown};

/// Places for the last requests where there are no connections.
const PLACES: u64 = 1 << 10;

/// A part on the way to a station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    node: u32,
    since: Nanos,
    /// When a balancer handed on, and to which target, if it counts.
    handed: Nanos,
    target: u32,
}

/// Whether the answers of a network are known as requests come.
pub(super) fn qualifies(model: &Model, parts: &[Part]) -> bool {
    let mut delays: Vec<Option<Nanos>> = vec![None; parts.len()];
    delays[0] = Some(Nanos::ZERO);
    for (id, part) in parts.iter().enumerate() {
        let Some(delay) = delays[id] else { continue };
        let does = match &part.does {
            PartKind::Forward(_) | PartKind::FifoStation(_) => true,
            PartKind::Balancer(balancing) => !balancing.keeps,
            PartKind::EventStation(_) => false,
        };
        let patient = part.retry.is_none()
            && part.hedge.is_none()
            && part.timeout.is_none()
            && part.breakers.is_empty();
        let speaks = part.faults.as_ref().is_none_or(|faults| {
            faults.while_down == WhileDown::Error && faults.under_way == UnderWay::Finish
        });
        let out = match part.cable.as_ref().map(|cable| &cable.out) {
            None => Some(Nanos::ZERO),
            Some(Dist::Constant(out)) => Some(Nanos::from_secs_f64(out.mean())),
            Some(_) => None,
        };
        let Some(out) = out.filter(|_| does && patient && speaks) else { return false };
        let inside = delay.saturating_add(out);
        for to in model.parts[id].leads_to() {
            if *delays[to].get_or_insert(inside) != inside {
                return false;
            }
        }
    }
    true
}

impl Network {
    /// The first answer that was to come later and has by `now`.
    #[inline]
    pub(super) fn first_due(&mut self, now: Nanos) -> Option<(Nanos, Answered)> {
        if self.due_at > now {
            return None;
        }
        let (at, slot) = match self.tells {
            Tells::Server => self.first_of_server(now),
            Tells::Balancer | Tells::Nobody => self.first_of_balancer(now),
        }?;
        let (outcome, status) = Verdict::Ok.answer();
        Some((at, Answered { slot, outcome, status }))
    }

    #[inline]
    fn first_of_server(&mut self, now: Nanos) -> Option<(Nanos, u32)> {
        while self.due_at <= now {
            let served = self.in_order.pop()?;
            self.due_at = self.in_order.next_at();
            self.add_served(&served, served.done);
            if served.slot != NONE {
                return Some((served.done, served.slot));
            }
        }
        None
    }

    fn first_of_balancer(&mut self, now: Nanos) -> Option<(Nanos, u32)> {
        while self.due_at <= now {
            let PartKind::Balancer(balancing) = &mut self.parts[0].does else { return None };
            let (at, end) = balancing.let_one_go(now)?;
            self.due_at = balancing.due.next_at();
            if end.slot != NONE {
                self.pending.has_ended(end.slot);
                return Some((at, end.slot));
            }
        }
        None
    }

    /// Responses that are due by `now` move to the outbox.
    #[inline]
    pub(super) fn tell_due(&mut self, now: Nanos) {
        while let Some((at, answered)) = self.first_due(now) {
            self.outbox.add(at, answered);
        }
    }

    /// Nobody waits at `now` for the answer on that connection any more.
    pub(super) fn forget(&mut self, now: Nanos, slot: u32) {
        self.in_order.forget(slot);
        if let (Some(end), PartKind::Balancer(balancing)) =
            (self.pending.given_up(slot, now), &mut self.parts[0].does)
        {
            balancing.due.forget(end);
        }
    }

    /// What becomes of a request that comes at `now` on that connection.
    #[inline]
    pub(super) fn answer(&mut self, now: Nanos, slot: u32, sending: &RequestKey) -> Answer {
        let (request, verdict) = self.follow(now, slot, sending);
        if self.tells == Tells::Server && verdict == Verdict::Ok {
            let Request { came, begins, departs, done, .. } = request;
            self.in_order.add(Served { came, begins, departs, done, slot });
            self.due_at = self.due_at.min(done);
            return Answer::Later;
        }
        self.record_departure(slot, request);
        if request.end != NONE {
            return Answer::Later;
        }
        let ((outcome, status), after) = (verdict.answer(), request.done - now);
        Answer::Comes { first_byte: after, done: after, outcome, status, reusable: true }
    }

    /// Whether the answer to each request is known as it comes, without a client and its connections.
    pub(crate) fn answers_at_once(&self) -> bool {
        self.direct && self.accept.is_none() && self.pieces.is_none()
    }

    /// When a request that comes at `now`, without a client and its connections, is answered, and how.
    #[inline]
    pub(crate) fn answer_at_once(&mut self, now: Nanos, sending: &RequestKey) -> (Nanos, Outcome, u16) {
        self.now = now;
        let (request, verdict) = self.follow(now, NONE, sending);
        self.record_departure((sending.k % PLACES) as u32, request);
        let (outcome, status) = verdict.answer();
        (request.done, outcome, status)
    }

    /// Follows a request on its way. Its response comes with an end, and is delivered then, where that is so and there is a
    /// connection ([`NONE`] for none).
    #[inline(always)]
    fn follow(&mut self, now: Nanos, slot: u32, sending: &RequestKey) -> (Request, Verdict) {
        if self.pending.is_full() {
            self.settle_told(now);
        }
        match self.tells {
            Tells::Server => self.serve(now, sending),
            Tells::Balancer | Tells::Nobody => self.follow_on(now, slot, sending),
        }
    }

    /// [`follow`](Network::follow), part by part.
    #[inline(always)]
    fn follow_on(&mut self, now: Nanos, slot: u32, sending: &RequestKey) -> (Request, Verdict) {
        let (mut end_of, mut served) = (NONE, None);
        let counted = u64::from(self.measured.counts(now));
        let id = self.numbers.id(sending);
        let group = usize::from(sending.group);
        let (mut at, mut node, mut verdict) = (now, 0, Verdict::Ok);
        self.path.clear();
        let mut done = loop {
            let (number, copy) = self.nodes[node as usize];
            let (part, tally) = (&mut self.parts[number as usize], &mut self.tallies[node as usize]);
            let since = at;
            tally.came += counted;
            if !part.plain {
                at += out(part);
                if let Some(faults) = &mut part.faults
                    && !faults.is_up(copy, at, &mut part.series)
                {
                    (verdict, tally.failed) = (Verdict::Refused, tally.failed + counted);
                    let done = at.saturating_add(back(part, group, id));
                    if node != 0 && matches!(part.does, PartKind::Forward(_) | PartKind::Balancer(_)) {
                        self.pending.stay(Stay { node, from: since, to: done });
                    }
                    break done;
                }
            }
            match &mut part.does {
                PartKind::Forward(way) => {
                    self.path.push(Passed { node, since, handed: at, target: NONE });
                    node = way.first + copy * way.stride;
                }
                PartKind::Balancer(balancing) => {
                    let key = if self.keyed { self.numbers.user(sending) } else { 0 };
                    let mut draws = part.draws.route[group].item(super::numbers::item(id, 0));
                    balancing.let_go(at);
                    balancing.keep_up(at);
                    let chooser = balancing.chooser(copy);
                    let chooser = &mut balancing.choosers[chooser];
                    // None of these keeps a request.
                    let target = chooser.choose(at, key, &mut draws).unwrap_or(0);
                    if balancing.counts {
                        chooser.started(target);
                    }
                    let outstanding = if balancing.counts { target } else { NONE };
                    self.path.push(Passed { node, since, handed: at, target: outstanding });
                    node = balancing.node(copy, target);
                }
                PartKind::FifoStation(line) => {
                    let mut draws = self.numbers.demand(sending.group, id, 0);
                    let demand = line.demand(copy as usize, sending.step, &mut draws);
                    let Some((begins, departs)) = line.arrive(copy as usize, at, demand) else {
                        (verdict, tally.failed) = (Verdict::Refused, tally.failed + counted);
                        break at.saturating_add(REJECTION).saturating_add(back(part, group, id));
                    };
                    served = Some((node, number, at, begins, departs));
                    break departs.saturating_add(back(part, group, id));
                }
                PartKind::EventStation(_) => break at,
            }
        };
        while let Some(Passed { node, since, handed, target }) = self.path.pop() {
            let (part, copy) = self.nodes[node as usize];
            let part = &mut self.parts[part as usize];
            if let PartKind::Balancer(balancing) = &mut part.does
                && target != NONE
            {
                let tells = self.tells == Tells::Balancer && node == 0 && slot != NONE;
                let later = tells && verdict == Verdict::Ok;
                let hold = balancing.hold.filter(|_| verdict != Verdict::Ok).unwrap_or(Nanos::ZERO);
                let on_time = done.saturating_add(hold);
                let end = End { copy, target, took: done - handed, slot: if later { slot } else { NONE } };
                let entry = balancing.due.add(on_time, end);
                if later {
                    end_of = entry;
                }
                if tells {
                    self.due_at = self.due_at.min(on_time);
                }
            }
            done = done.saturating_add(back(part, group, id));
            if verdict != Verdict::Ok {
                self.tallies[node as usize].failed += counted;
            }
            if node != 0 {
                self.pending.stay(Stay { node, from: since, to: done });
            }
        }
        let least = if verdict == Verdict::Ok { LEAST } else { REJECTION };
        let inside = done;
        done = done.max(now.saturating_add(least));
        self.little.came(now);
        let mut told = Request { done, inside, end: end_of, ..Request::at_once(now) };
        if let Some((node, part, at, begins, departs)) = served {
            told = Request { at, begins, departs, node, part, ..told };
        }
        (told, verdict)
    }

    /// [`follow`](Network::follow), where the way is into a single server with nothing around it, and out.
    #[inline(always)]
    fn serve(&mut self, now: Nanos, sending: &RequestKey) -> (Request, Verdict) {
        let counted = u64::from(self.measured.counts(now));
        let mut draws = self.numbers.demand(sending.group, self.numbers.id(sending), 0);
        let (part, tally) = (&mut self.parts[0], &mut self.tallies[0]);
        tally.came += counted;
        self.little.came(now);
        let stay = match &mut part.does {
            PartKind::FifoStation(line) => {
                let demand = line.demand(0, sending.step, &mut draws);
                line.arrive(0, now, demand)
            }
            _ => None,
        };
        let told = Request::at_once(now);
        match stay {
            Some((begins, departs)) => {
                let done = departs.max(now.saturating_add(LEAST));
                (Request { done, inside: done, begins, departs, node: 0, ..told }, Verdict::Ok)
            }
            None => {
                tally.failed += counted;
                (Request { done: now.saturating_add(REJECTION), ..told }, Verdict::Refused)
            }
        }
    }
}

/// How long a request takes into a part.
fn out(part: &Part) -> Nanos {
    match &part.cable {
        Some(cable) => cable.out.sample_time(&mut Stream::new(0, "constant").item(0)),
        None => Nanos::ZERO,
    }
}

/// How long its answer takes back.
#[inline(always)]
fn back(part: &Part, group: usize, id: u64) -> Nanos {
    match &part.cable {
        Some(cable) => cable.back.sample_time(&mut part.draws.back[group].item(super::numbers::item(id, 0))),
        None => Nanos::ZERO,
    }
}
