//! Coming back: what an answer meets on its way out, and stations that finish.

use super::Network;
use super::events::EventKind;
use super::flow::Step;
use super::job::{NONE, Origin, State, Verdict};
use super::part::PartKind;
use super::series::Lane;
use super::{LEAST, REJECTION};
use crate::target::Answered;
use headway_base::Nanos;
use headway_workload::model::WhileDown;

impl Network {
    /// A copy of a station goes on as fast as its faults let it.
    pub(super) fn keep_pace(&mut self, number: usize, copy: usize) {
        let part = &mut self.parts[number];
        let (Some(faults), PartKind::EventStation(stations)) = (&mut part.faults, &mut part.does) else {
            return;
        };
        let WhileDown::Slow(times) = faults.while_down else { return };
        let up = faults.is_still_up(copy as u32, self.now, &mut part.series);
        let pace = if up { 1.0 } else { times.recip() };
        if stations.stations[copy].pace() == pace {
            return;
        }
        // Where one clock is that of all, they change together.
        let all = if faults.clocks.len() == 1 { 0..stations.stations.len() } else { copy..copy + 1 };
        let first = part.first;
        for copy in all.clone() {
            stations.stations[copy].keep_pace(&stations.rules, self.now, pace);
        }
        for copy in all {
            self.settle_desk(first + copy as u32);
        }
    }

    /// A station has finished with the job.
    #[inline]
    pub(super) fn served(&mut self, f: u32) -> Option<(u32, Step)> {
        let (node, part, _) = self.place(f);
        let (part, tally) = (&mut self.parts[part], &mut self.tallies[node as usize]);
        let job = self.jobs.of(f);
        tally.number(self.measured, job.at, self.now);
        part.series.spell(Lane::Number, job.at, self.now);
        if matches!(part.does, PartKind::FifoStation(_)) {
            job.busy += self.now.0 - job.begins.0;
            tally.busy(self.measured, job.begins, self.now, 1);
            part.series.spell(Lane::Busy, job.begins, self.now);
        }
        job.verdict = Verdict::Ok;
        self.back(f)
    }

    /// The answer comes back from the part itself.
    #[inline]
    pub(super) fn back(&mut self, f: u32) -> Option<(u32, Step)> {
        let (_, part, copy) = self.place(f);
        self.jobs.of(f).state = State::Bound;
        if matches!(self.parts[part].does, PartKind::Balancer(_)) {
            let verdict = self.jobs.get(f).verdict;
            self.give_back(f, part, copy, Some(verdict));
        }
        let part = &mut self.parts[part];
        if part.plain {
            if self.jobs.get(f).verdict != Verdict::Ok {
                let node = self.jobs.top(f).node;
                self.tallies[node as usize].failed += self.counted(f);
            }
            return self.leave(f);
        }
        if self.jobs.top(f).from == Origin::Inside {
            return self.finish_attempt(f);
        }
        if let Some(cable) = &part.cable {
            let (number, group) = self.jobs.number(f);
            let takes = cable.back.sample_time(&mut part.draws.back[group].item(number));
            if takes > Nanos::ZERO {
                self.go(f, takes, State::Bound, Step::BackToBreaker);
                return None;
            }
        }
        Some((f, Step::BackToBreaker))
    }

    /// What a balancer chose for the job is outstanding no more, or will not be when the hold is over; the verdict is
    /// none for one that was cancelled.
    pub(super) fn give_back(&mut self, f: u32, part: usize, copy: usize, verdict: Option<Verdict>) {
        let frame = self.jobs.top(f);
        let target = std::mem::replace(&mut frame.target, NONE);
        let took = self.now - frame.handed;
        if target == NONE {
            return;
        }
        let PartKind::Balancer(balancing) = &mut self.parts[part].does else { return };
        let took = verdict.map(|_| took);
        match balancing.hold {
            Some(hold) if verdict.is_some_and(|verdict| verdict != Verdict::Ok) => {
                let release = Release { part: part as u32, copy: copy as u32, target, took };
                let entry = self.keep(release);
                self.events.add(self.now.saturating_add(hold), EventKind::Release, entry, 0);
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
        let PartKind::Balancer(balancing) = &mut self.parts[part as usize].does else { return };
        balancing.keep_up(self.now);
        let at = balancing.chooser(copy);
        balancing.choosers[at].ended(target, self.now, took);
        if balancing.waiting[at].len() > 0 {
            self.hand_on(part as usize, copy as usize);
        }
    }

    pub(super) fn back_to_breaker(&mut self, f: u32) -> Option<(u32, Step)> {
        let (_, part, copy) = self.place(f);
        let verdict = self.jobs.get(f).verdict;
        let frame = self.jobs.top(f);
        let from = frame.from;
        if let Some(pass) = frame.pass.take() {
            let breaker = &mut self.parts[part].breakers[copy];
            match verdict {
                Verdict::Ok => breaker.succeeded(pass),
                Verdict::Refused | Verdict::Late => breaker.failed(pass, self.now),
            }
        }
        if from == Origin::Attempt {
            return self.finish_attempt(f);
        }
        if verdict != Verdict::Ok {
            let node = self.jobs.top(f).node;
            self.tallies[node as usize].failed += self.counted(f);
        }
        Some((f, Step::Tried))
    }

    /// An attempt is over, whatever came of it: another is made, or the answer goes on.
    pub(super) fn tried(&mut self, f: u32) -> Option<(u32, Step)> {
        let (_, part, copy) = self.place(f);
        let part = &mut self.parts[part];
        let job = self.jobs.get(f);
        if job.verdict != Verdict::Ok
            && !job.called
            && let Some(retry) = &part.retry
        {
            let (number, group) = self.jobs.number(f);
            let mut draws = part.draws.jitter[group].item(number);
            let mut attempts = self.jobs.top(f).attempts;
            let wait = attempts.again(retry, part.buckets.get_mut(copy), &mut draws);
            self.jobs.top(f).attempts = attempts;
            if let Some(wait) = wait {
                let number = self.jobs.next_attempt(f);
                let job = self.jobs.of(f);
                (job.attempt, job.verdict) = (number, Verdict::Ok);
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
        let frame = self.jobs.pop(f);
        let part = &mut self.parts[self.nodes[frame.node as usize].0 as usize];
        if !matches!(part.does, PartKind::FifoStation(_) | PartKind::EventStation(_)) {
            self.tallies[frame.node as usize].number(self.measured, frame.since, self.now);
            part.series.spell(Lane::Number, frame.since, self.now);
        }
        if self.jobs.get(f).depth > 0 {
            return Some((f, Step::Back));
        }
        // A response takes time, and a rejection takes more.
        let least = if self.jobs.get(f).verdict == Verdict::Ok { LEAST } else { REJECTION };
        let early = least - (self.now - self.jobs.asked(f).came);
        if early > Nanos::ZERO {
            self.go(f, early, State::Bound, Step::Out);
            return None;
        }
        self.out(f)
    }

    /// The answer leaves the network.
    #[inline]
    pub(super) fn out(&mut self, f: u32) -> Option<(u32, Step)> {
        let (slot, came) = {
            let asked = self.jobs.asked(f);
            (asked.slot, asked.came)
        };
        self.is_spent(f, slot == NONE);
        if slot != NONE {
            let job = self.jobs.get(f);
            let (outcome, status) = job.verdict.answer();
            self.outbox.add(self.now, Answered { slot, outcome, status });
            self.connections[slot as usize] = NONE;
        }
        self.little.left(came, self.now);
        self.jobs.end(f);
        None
    }

    /// After something has happened at a station: how many serve, and when it is to be looked at again.
    pub(super) fn settle_desk(&mut self, node: u32) {
        let (part, copy) = self.nodes[node as usize];
        let part = &mut self.parts[part as usize];
        let PartKind::EventStation(stations) = &mut part.does else { return };
        let station = &mut stations.stations[copy as usize];
        let busy = stations.rules.busy(station.in_service());
        if busy != station.busy {
            if station.busy > 0 {
                self.tallies[node as usize].busy(self.measured, station.since, self.now, station.busy);
                part.series.spells(Lane::Busy, station.since, self.now, i64::from(station.busy));
            }
            (station.busy, station.since) = (busy, self.now);
        }
        let next = station.next(&stations.rules, &self.jobs);
        if next < Nanos::MAX {
            let next = stations.rules.real(next);
            if next < station.armed {
                station.armed = next;
                self.events.add(next, EventKind::Check, node, 0);
            }
        }
    }

    /// A station may have finished a request.
    pub(super) fn check_desk(&mut self, node: u32) {
        let (part, copy) = self.nodes[node as usize];
        let (part_number, copy) = (part as usize, copy as usize);
        let PartKind::EventStation(stations) = &mut self.parts[part_number].does else { return };
        let station = &mut stations.stations[copy];
        if station.armed <= self.now {
            station.armed = Nanos::MAX;
        }
        while let Some(done) = station.finish(&stations.rules, &mut self.jobs, self.now) {
            self.jobs.of(done).state = State::Bound;
            station.fill(&stations.rules, &mut self.jobs);
            self.ready.push_back((self.jobs.ticket(done), Step::Served));
        }
        self.settle_desk(node);
    }
}

impl Network {
    /// Servers of a station that came free take what waits.
    pub(super) fn fill_desk(&mut self, node: u32) {
        let (part, copy) = self.nodes[node as usize];
        let PartKind::EventStation(stations) = &mut self.parts[part as usize].does else { return };
        stations.stations[copy as usize].fill(&stations.rules, &mut self.jobs);
        self.settle_desk(node);
    }
}

/// A request that is outstanding no more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Release {
    pub part: u32,
    pub copy: u32,
    pub target: u32,
    /// How long its answer took; none for one that was cancelled.
    pub took: Option<Nanos>,
}
