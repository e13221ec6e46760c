//! Coming back: what an answer meets on its way out, and stations that finish.

use super::Network;
use super::events::What;
use super::flight::{From, NONE, State, Verdict};
use super::flow::Step;
use super::part::Does;
use super::series::Lane;
use super::{LEAST, REJECTION};
use crate::target::Answered;
use headway_base::Nanos;
use headway_workload::model::WhileDown;

impl Network {
    /// A copy of a station goes on as fast as its faults let it.
    pub(super) fn keep_pace(&mut self, number: usize, copy: usize) {
        let part = &mut self.parts[number];
        let (Some(faults), Does::Desk(desks)) = (&mut part.faults, &mut part.does) else { return };
        let WhileDown::Slow(times) = faults.while_down else { return };
        let up = faults.is_still_up(copy as u32, self.now, &mut part.series);
        let pace = if up { 1.0 } else { times.recip() };
        if desks.desks[copy].pace() == pace {
            return;
        }
        // Where one clock is that of all, they change together.
        let all = if faults.clocks.len() == 1 { 0..desks.desks.len() } else { copy..copy + 1 };
        let first = part.first;
        for copy in all.clone() {
            desks.desks[copy].keep_pace(&desks.rules, self.now, pace);
        }
        for copy in all {
            self.settle_desk(first + copy as u32);
        }
    }

    /// A station has finished with the flight.
    #[inline]
    pub(super) fn served(&mut self, f: u32) -> Option<(u32, Step)> {
        let (node, part, _) = self.place(f);
        let (part, tally) = (&mut self.parts[part], &mut self.tallies[node as usize]);
        let flight = self.flights.of(f);
        tally.number(self.measured, flight.at, self.now);
        part.series.spell(Lane::Number, flight.at, self.now);
        if matches!(part.does, Does::Line(_)) {
            flight.busy += self.now.0 - flight.begins.0;
            tally.busy(self.measured, flight.begins, self.now, 1);
            part.series.spell(Lane::Busy, flight.begins, self.now);
        }
        flight.verdict = Verdict::Ok;
        self.back(f)
    }

    /// The answer comes back from the part itself.
    #[inline]
    pub(super) fn back(&mut self, f: u32) -> Option<(u32, Step)> {
        let (_, part, copy) = self.place(f);
        self.flights.of(f).state = State::Bound;
        if matches!(self.parts[part].does, Does::Balancer(_)) {
            let verdict = self.flights.get(f).verdict;
            self.give_back(f, part, copy, Some(verdict));
        }
        let part = &mut self.parts[part];
        if part.plain {
            if self.flights.get(f).verdict != Verdict::Ok {
                let node = self.flights.top(f).node;
                self.tallies[node as usize].failed += self.counted(f);
            }
            return self.leave(f);
        }
        if self.flights.top(f).from == From::Inside {
            return self.finish_attempt(f);
        }
        if let Some(cable) = &part.cable {
            let (number, group) = self.flights.number(f);
            let takes = cable.back.sample_time(&mut part.draws.back[group].item(number));
            if takes > Nanos::ZERO {
                self.go(f, takes, State::Bound, Step::BackToBreaker);
                return None;
            }
        }
        Some((f, Step::BackToBreaker))
    }

    /// What a balancer chose for the flight is outstanding no more, or will not be when the hold is over; the verdict is
    /// none for one that was called back.
    pub(super) fn give_back(&mut self, f: u32, part: usize, copy: usize, verdict: Option<Verdict>) {
        let frame = self.flights.top(f);
        let target = std::mem::replace(&mut frame.target, NONE);
        let took = self.now - frame.handed;
        if target == NONE {
            return;
        }
        let Does::Balancer(balancing) = &mut self.parts[part].does else { return };
        let took = verdict.map(|_| took);
        match balancing.hold {
            Some(hold) if verdict.is_some_and(|verdict| verdict != Verdict::Ok) => {
                let release = Release { part: part as u32, copy: copy as u32, target, took };
                let entry = self.keep(release);
                self.events.add(self.now.saturating_add(hold), What::Release, entry, 0);
            }
            _ => self.release(Release { part: part as u32, copy: copy as u32, target, took }),
        }
    }

    /// Puts a release down for later: its entry.
    #[inline]
    pub(super) fn keep(&mut self, release: Release) -> u32 {
        match self.free_releases.pop() {
            Some(entry) => {
                self.releases[entry as usize] = release;
                entry
            }
            None => {
                self.releases.push(release);
                (self.releases.len() - 1) as u32
            }
        }
    }

    /// A target of a balancer has one request less outstanding.
    #[inline]
    pub(super) fn release(&mut self, release: Release) {
        let Release { part, copy, target, took } = release;
        let Does::Balancer(balancing) = &mut self.parts[part as usize].does else { return };
        balancing.keep_up(self.now);
        let at = balancing.chooser(copy);
        balancing.choosers[at].ended(target, self.now, took);
        if balancing.waiting[at].len() > 0 {
            self.hand_on(part as usize, copy as usize);
        }
    }

    pub(super) fn back_to_breaker(&mut self, f: u32) -> Option<(u32, Step)> {
        let (_, part, copy) = self.place(f);
        let verdict = self.flights.get(f).verdict;
        let frame = self.flights.top(f);
        let from = frame.from;
        if let Some(pass) = frame.pass.take() {
            let breaker = &mut self.parts[part].breakers[copy];
            match verdict {
                Verdict::Ok => breaker.succeeded(pass),
                Verdict::Refused | Verdict::Late => breaker.failed(pass, self.now),
            }
        }
        if from == From::Attempt {
            return self.finish_attempt(f);
        }
        if verdict != Verdict::Ok {
            let node = self.flights.top(f).node;
            self.tallies[node as usize].failed += self.counted(f);
        }
        Some((f, Step::Tried))
    }

    /// An attempt is over, whatever came of it: another is made, or the answer goes on.
    pub(super) fn tried(&mut self, f: u32) -> Option<(u32, Step)> {
        let (_, part, copy) = self.place(f);
        let part = &mut self.parts[part];
        let flight = self.flights.get(f);
        if flight.verdict != Verdict::Ok
            && !flight.called
            && let Some(retry) = &part.retry
        {
            let (number, group) = self.flights.number(f);
            let mut draws = part.draws.jitter[group].item(number);
            let mut attempts = self.flights.top(f).attempts;
            let wait = attempts.again(retry, part.buckets.get_mut(copy), &mut draws);
            self.flights.top(f).attempts = attempts;
            if let Some(wait) = wait {
                let number = self.flights.next_attempt(f);
                let flight = self.flights.of(f);
                (flight.attempt, flight.verdict) = (number, Verdict::Ok);
                if wait > Nanos::ZERO {
                    self.go(f, wait, State::Going, Step::Attempt);
                    return None;
                }
                return Some((f, Step::Attempt));
            }
        }
        Some((f, Step::Leave))
    }

    /// The answer leaves the part.
    #[inline]
    pub(super) fn leave(&mut self, f: u32) -> Option<(u32, Step)> {
        let frame = self.flights.pop(f);
        let part = &mut self.parts[self.nodes[frame.node as usize].0 as usize];
        if !matches!(part.does, Does::Line(_) | Does::Desk(_)) {
            self.tallies[frame.node as usize].number(self.measured, frame.since, self.now);
            part.series.spell(Lane::Number, frame.since, self.now);
        }
        if self.flights.get(f).depth > 0 {
            return Some((f, Step::Back));
        }
        // Nobody asks and hears in no time, and who is refused not at once.
        let least = if self.flights.get(f).verdict == Verdict::Ok { LEAST } else { REJECTION };
        let early = least - (self.now - self.flights.asked(f).came);
        if early > Nanos::ZERO {
            self.go(f, early, State::Bound, Step::Out);
            return None;
        }
        self.out(f)
    }

    /// The answer leaves the network.
    #[inline]
    pub(super) fn out(&mut self, f: u32) -> Option<(u32, Step)> {
        let (on, came) = {
            let asked = self.flights.asked(f);
            (asked.on, asked.came)
        };
        self.is_spent(f, on == NONE);
        if on != NONE {
            let flight = self.flights.get(f);
            let (outcome, status) = flight.verdict.answer();
            self.outbox.add(self.now, Answered { on, outcome, status });
            self.connections[on as usize] = NONE;
        }
        self.little.left(came, self.now);
        self.flights.end(f);
        None
    }

    /// After something has happened at a station: how many serve, and when it is to be looked at again.
    pub(super) fn settle_desk(&mut self, node: u32) {
        let (part, copy) = self.nodes[node as usize];
        let part = &mut self.parts[part as usize];
        let Does::Desk(desks) = &mut part.does else { return };
        let desk = &mut desks.desks[copy as usize];
        let busy = desks.rules.busy(desk.in_service());
        if busy != desk.busy {
            if desk.busy > 0 {
                self.tallies[node as usize].busy(self.measured, desk.since, self.now, desk.busy);
                part.series.spells(Lane::Busy, desk.since, self.now, i64::from(desk.busy));
            }
            (desk.busy, desk.since) = (busy, self.now);
        }
        let next = desk.next(&desks.rules, &self.flights);
        if next < Nanos::MAX {
            let next = desks.rules.real(next);
            if next < desk.armed {
                desk.armed = next;
                self.events.add(next, What::Check, node, 0);
            }
        }
    }

    /// A station may have finished somebody.
    pub(super) fn check_desk(&mut self, node: u32) {
        let (part, copy) = self.nodes[node as usize];
        let (part_number, copy) = (part as usize, copy as usize);
        let Does::Desk(desks) = &mut self.parts[part_number].does else { return };
        let desk = &mut desks.desks[copy];
        if desk.armed <= self.now {
            desk.armed = Nanos::MAX;
        }
        while let Some(done) = desk.finish(&desks.rules, &mut self.flights, self.now) {
            self.flights.of(done).state = State::Bound;
            desk.fill(&desks.rules, &mut self.flights);
            self.ready.push_back((self.flights.ticket(done), Step::Served));
        }
        self.settle_desk(node);
    }
}

impl Network {
    /// Servers of a station that came free take what waits.
    pub(super) fn fill_desk(&mut self, node: u32) {
        let (part, copy) = self.nodes[node as usize];
        let Does::Desk(desks) = &mut self.parts[part as usize].does else { return };
        desks.desks[copy as usize].fill(&desks.rules, &mut self.flights);
        self.settle_desk(node);
    }
}

/// A request that is outstanding no more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    pub part: u32,
    pub copy: u32,
    pub target: u32,
    /// How long its answer took; none for one that was called back.
    pub took: Option<Nanos>,
}
