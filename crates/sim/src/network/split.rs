//! Attempts under observation: timeouts, hedges, parts that lose their contents, and clients that are gone.
//!
//! An abandoned attempt either keeps running (wasted work) or is cancelled: wherever it waits it is removed
//! at once; if it is in service, the service stops (`cancel: always`) or runs to its end as wasted work, and until then it counts as outstanding for every
//! balancer which sent it there. A cancelled job makes no further attempts. A hedged request takes the first good response, and a failure
//! only when no other attempt is in flight.

use super::Network;
use super::events::EventKind;
use super::flow::Step;
use super::job::{Frame, Job, NONE, Origin, State, Ticket, Verdict};
use super::part::PartKind;
use super::series::Lane;
use headway_base::Nanos;
use headway_workload::model::{Cancel, UnderWay};

impl Network {
    /// The job waits where it is for an attempt: that attempt.
    pub(super) fn split(&mut self, f: u32, attempt: u32, from: Origin) -> u32 {
        let node = self.jobs.top(f).node;
        let job = self.jobs.of(f);
        if job.state != State::Split {
            (job.state, job.hedges) = (State::Split, 0);
        }
        let frame = Frame::entering(node, self.now, from);
        self.jobs.attempt(f, attempt, frame)
    }

    /// Sets the timeout of an attempt, if its part has one.
    pub(super) fn watch(&mut self, child: u32) {
        let (_, part, _) = self.place(child);
        if let Some(timeout) = self.parts[part].timeout {
            let job = self.jobs.of(child);
            job.timed = true;
            let life = job.life;
            self.events.add(self.now.saturating_add(timeout.after), EventKind::Late, child, life);
        }
    }

    /// An attempt is over: the job that waits for it continues, if there is one.
    pub(super) fn finish_attempt(&mut self, child: u32) -> Option<(u32, Step)> {
        let job = *self.jobs.get(child);
        let from = self.jobs.top(child).from;
        if job.parent != NONE {
            self.jobs.detach(child);
        }
        if job.parent == NONE {
            self.is_spent(child, true);
            self.end(child);
            return None;
        }
        self.end(child);
        let parent = self.jobs.of(job.parent);
        parent.busy += job.busy;
        // What is drawn from here on is drawn as if one job had made the attempts.
        parent.attempt = job.attempt;
        self.hear(job.parent, job.verdict, from)
    }

    /// Sets the timer for another attempt.
    pub(super) fn watch_to_hedge(&mut self, f: u32, after: Nanos) {
        let job = self.jobs.of(f);
        job.hedging = true;
        let (life, round) = (job.life, job.round);
        self.events.add_in_round(self.now.saturating_add(after), EventKind::Hedge, f, life, round);
    }

    /// The job's slot is free; its timers are void.
    fn end(&mut self, f: u32) {
        let Job { timed, hedging, .. } = *self.jobs.get(f);
        self.jobs.end(f);
        for _ in 0..u8::from(timed) + u8::from(hedging) {
            self.timer_is_void();
        }
    }

    /// The job makes no other attempt in this round.
    fn hedge_no_more(&mut self, f: u32) {
        if std::mem::take(&mut self.jobs.of(f).hedging) {
            self.timer_is_void();
        }
    }

    fn timer_is_void(&mut self) {
        let jobs = &self.jobs;
        self.events.is_void(|event| match event.what {
            EventKind::Late => jobs.lives(event.who, event.life),
            EventKind::Hedge => jobs.hedges(Ticket { job: event.who, life: event.life, round: event.round }),
            _ => true,
        });
    }

    /// Who waits hears how an attempt went.
    fn hear(&mut self, f: u32, verdict: Verdict, from: Origin) -> Option<(u32, Step)> {
        let (node, part, copy) = self.place(f);
        if from == Origin::Inside {
            self.resume(f, verdict);
            if let Some(faults) = &mut self.parts[part].faults {
                faults.inside[copy].gone(&self.jobs);
            }
            return Some((f, Step::Back));
        }
        if verdict != Verdict::Ok {
            self.tallies[node as usize].failed += self.counted(f);
            if self.jobs.get(f).child != NONE {
                self.fell_silent(f);
                return None;
            }
        }
        let cancel = self.parts[part].hedge.map_or(Cancel::Never, |hedge| hedge.cancel);
        while self.jobs.get(f).child != NONE {
            self.leave_alone(self.jobs.get(f).child, cancel);
        }
        self.resume(f, verdict);
        Some((f, Step::Tried))
    }

    /// It waits no more.
    fn resume(&mut self, f: u32, verdict: Verdict) {
        self.hedge_no_more(f);
        let job = self.jobs.of(f);
        job.round = job.round.wrapping_add(1);
        (job.state, job.verdict, job.inside) = (State::Bound, verdict, false);
    }

    /// An attempt has taken too long.
    pub(super) fn late(&mut self, child: u32) {
        self.jobs.of(child).timed = false;
        let parent = self.jobs.get(child).parent;
        if parent == NONE {
            return;
        }
        let (_, part, copy) = self.place(parent);
        if let Some(pass) = self.jobs.bottom(child).pass.take() {
            self.parts[part].breakers[copy].failed(pass, self.now);
        }
        let cancel = self.parts[part].timeout.map_or(Cancel::Never, |timeout| timeout.cancel);
        self.leave_alone(child, cancel);
        if let Some((f, step)) = self.hear(parent, Verdict::Late, Origin::Attempt) {
            self.make_ready(f, step);
        }
    }

    /// The attempts of a job take long: it makes another.
    pub(super) fn hedge(&mut self, f: u32) {
        let (node, part, _) = self.place(f);
        self.jobs.of(f).hedging = false;
        let Some(hedge) = self.parts[part].hedge else { return };
        let number = self.jobs.next_attempt(f);
        let counted = self.counted(f);
        self.tallies[node as usize].came += counted;
        self.made_again.1 += counted;
        let child = self.split(f, number, Origin::Attempt);
        self.watch(child);
        let job = self.jobs.of(f);
        job.hedges += 1;
        if u32::from(job.hedges) < hedge.most {
            self.watch_to_hedge(f, hedge.after);
        }
        self.make_ready(child, Step::Breaker);
    }

    /// Nobody waits for that attempt any more.
    fn leave_alone(&mut self, child: u32, cancel: Cancel) {
        self.jobs.detach(child);
        if cancel != Cancel::Never {
            self.call_back(child, cancel == Cancel::Always);
        } else if self.is_lost(child) {
            self.drop_all(child);
        }
    }

    /// What of a job waits anywhere is gone. What is served stops if `served` says so; else it is left to itself, and
    /// the sender keeps waiting.
    fn call_back(&mut self, f: u32, served: bool) {
        let mut called = std::mem::take(&mut self.scratch);
        let mut freed = Vec::new();
        called.push(f);
        let mut seen = 0;
        while let Some(&f) = called.get(seen) {
            called.extend(self.jobs.children(f));
            seen += 1;
        }
        // Jobs that wait for attempts come before the attempts, so that it is known whether any is left.
        while let Some(f) = called.pop() {
            let job = self.jobs.get(f);
            let stays = match job.state {
                State::Split => job.child != NONE,
                State::Going | State::Waiting | State::Queued | State::Silent => false,
                State::Served => !served,
                State::Bound | State::Free => true,
            };
            if stays {
                self.jobs.of(f).called = true;
                self.hedge_no_more(f);
                continue;
            }
            if job.parent != NONE {
                self.jobs.detach(f);
            }
            if self.jobs.get(f).state == State::Served {
                freed.push(self.jobs.top(f).node);
            }
            self.drop_one(f);
        }
        self.scratch = called;
        // What was cancelled with it does not begin service on the servers that came free.
        for node in freed {
            self.fill_desk(node);
        }
    }

    /// Drops a job that will never be answered and was abandoned.
    pub(super) fn fell_silent(&mut self, f: u32) {
        let mut top = f;
        loop {
            if !self.is_lost(top) {
                return;
            }
            match self.jobs.get(top).parent {
                NONE => break,
                parent => top = parent,
            }
        }
        if !self.jobs.get(top).root || self.jobs.asked(top).slot == NONE {
            self.drop_all(top);
        }
    }

    /// Whether nothing will ever come of a job: it is silent, or waits for attempts that are, and makes no other.
    fn is_lost(&self, f: u32) -> bool {
        match self.jobs.get(f).state {
            State::Silent => return true,
            State::Split => {}
            _ => return false,
        }
        let mut asked = vec![f];
        while let Some(f) = asked.pop() {
            match self.jobs.get(f).state {
                State::Silent => {}
                State::Split => {
                    let frame = self.jobs.frames(f).last().copied();
                    let Some(frame) = frame else { return false };
                    let (part, copy) = self.nodes[frame.node as usize];
                    let part = &self.parts[part as usize];
                    asked.extend(self.jobs.children(f));
                    let more = if self.jobs.get(f).inside {
                        part.faults.as_ref().is_some_and(|faults| faults.next_change(copy) < Nanos::MAX)
                    } else {
                        let hedges = u32::from(self.jobs.get(f).hedges);
                        part.timeout.is_some() || part.hedge.is_some_and(|hedge| hedges < hedge.most)
                    };
                    if more {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// A job is dropped, with all its attempts.
    fn drop_all(&mut self, f: u32) {
        let mut dropped = std::mem::take(&mut self.scratch);
        dropped.push(f);
        while let Some(f) = dropped.pop() {
            while self.jobs.get(f).child != NONE {
                let child = self.jobs.get(f).child;
                self.jobs.detach(child);
                dropped.push(child);
            }
            self.drop_one(f);
        }
        self.scratch = dropped;
    }

    /// A job is dropped where it is: whatever counts it does so no more.
    fn drop_one(&mut self, f: u32) {
        let was = *self.jobs.get(f);
        let top = self.jobs.top(f).node;
        if was.state == State::Served {
            let (part, copy) = self.nodes[top as usize];
            if let PartKind::EventStation(stations) = &mut self.parts[part as usize].does {
                stations.stations[copy as usize].stop(&stations.rules, &mut self.jobs, f, self.now);
            }
        }
        for _ in 0..was.depth {
            let frame = *self.jobs.top(f);
            let (part, copy) = self.nodes[frame.node as usize];
            let (part, copy) = (part as usize, copy as usize);
            self.give_back(f, part, copy, None);
            if let Some(pass) = frame.pass {
                self.parts[part].breakers[copy].called_back(pass);
            }
            let does = &self.parts[part].does;
            if frame.from == Origin::Door
                && !matches!(does, PartKind::FifoStation(_) | PartKind::EventStation(_))
            {
                self.tallies[frame.node as usize].number(self.measured, frame.since, self.now);
                self.parts[part].series.spell(Lane::Number, frame.since, self.now);
            }
            self.jobs.pop(f);
        }
        self.is_spent(f, true);
        if was.root {
            let came = self.jobs.asked(f).came;
            self.little.left(came, self.now);
        }
        self.end(f);
        let (part, copy) = self.nodes[top as usize];
        let (part, copy) = (part as usize, copy as usize);
        match was.state {
            State::Waiting => {
                let PartKind::EventStation(stations) = &mut self.parts[part].does else { return };
                stations.stations[copy].called_back(&stations.rules, &self.jobs, self.now);
                self.tallies[top as usize].number(self.measured, was.at, self.now);
                self.parts[part].series.spell(Lane::Number, was.at, self.now);
                self.settle_desk(top);
            }
            State::Served => {
                self.tallies[top as usize].number(self.measured, was.at, self.now);
                self.parts[part].series.spell(Lane::Number, was.at, self.now);
                self.settle_desk(top);
            }
            State::Queued => {
                let PartKind::Balancer(balancing) = &mut self.parts[part].does else { return };
                let at = balancing.chooser(copy as u32);
                balancing.waiting[at].gone(&self.jobs);
            }
            State::Split => {
                if let Some(faults) = self.parts[part].faults.as_mut().filter(|_| was.inside) {
                    faults.inside[copy].gone(&self.jobs);
                }
            }
            _ => {}
        }
    }

    /// The client does not wait for the answer on that connection any more.
    pub(super) fn client_is_gone(&mut self, slot: u32) {
        let Some(request) = self.connections.get_mut(slot as usize).filter(|request| **request != NONE)
        else {
            return;
        };
        let request = std::mem::replace(request, NONE);
        let asked = self.jobs.request(request);
        asked.slot = NONE;
        let job = asked.job;
        if self.is_lost(job) {
            self.drop_all(job);
            self.settle();
        }
    }

    /// A part whose faults interrupt or slow what is in service goes down or comes up.
    pub(super) fn change(&mut self, node: u32) {
        let (part_number, copy) = self.nodes[node as usize];
        let (part_number, copy) = (part_number as usize, copy as usize);
        let part = &mut self.parts[part_number];
        let Some(faults) = &mut part.faults else { return };
        let up = faults.is_up(copy as u32, self.now, &mut part.series);
        let (next, lost) = (faults.next_change(copy as u32), faults.under_way == UnderWay::Lost);
        if next < Nanos::MAX {
            self.events.add(next, EventKind::Change, node, 0);
        }
        self.keep_pace(part_number, copy);
        if up || !lost {
            return;
        }
        let Some(faults) = &mut self.parts[part_number].faults else { return };
        let inside = faults.inside.get_mut(copy).map(|inside| inside.take_all(&self.jobs));
        for ticket in inside.unwrap_or_default() {
            while self.jobs.get(ticket.job).child != NONE {
                let child = self.jobs.get(ticket.job).child;
                // What waits here goes with the part; what has been sent on does not know.
                let waits = matches!(self.jobs.get(child).state, State::Queued | State::Going);
                if waits && self.jobs.top(child).node == node {
                    self.jobs.detach(child);
                    self.drop_one(child);
                } else {
                    self.leave_alone(child, Cancel::Never);
                }
            }
            self.resume(ticket.job, Verdict::Refused);
            self.make_ready(ticket.job, Step::Back);
        }
        let PartKind::EventStation(stations) = &mut self.parts[part_number].does else { return };
        let lost = stations.stations[copy].lose(&stations.rules, &mut self.jobs, self.now);
        for f in lost {
            self.is_spent(f, true);
            let job = self.jobs.of(f);
            job.busy = 0;
            (job.state, job.verdict) = (State::Bound, Verdict::Refused);
            let at = job.at;
            self.tallies[node as usize].number(self.measured, at, self.now);
            self.parts[part_number].series.spell(Lane::Number, at, self.now);
            self.make_ready(f, Step::Back);
        }
        self.settle_desk(node);
    }
}
