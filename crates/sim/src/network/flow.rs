//! The way in: what a request meets on its way to a server.
//!
//! A job goes step by step, as far as it gets without waiting; no step calls another, so that no model is too deep for
//! the stack, and what fails at once and is made again at once goes round the loop.

use super::events::EventKind;
use super::job::{Frame, Origin, State, Verdict};
use super::numbers::item;
use super::part::PartKind;
use super::station::{Came, Order};
use super::{Network, REJECTION};
use headway_base::Nanos;
use headway_workload::model::{UnderWay, WhileDown};

/// Where a job is on its way: what it does next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Enters a node.
    Enter(u32),
    /// Makes an attempt: hedges and timeouts.
    Attempt,
    /// Asks the breaker.
    Breaker,
    /// Comes to what may be down.
    Faults,
    /// Comes to the part itself.
    Part,
    /// Is served.
    Served,
    /// Comes back from the part.
    Back,
    /// Comes back to the breaker.
    BackToBreaker,
    /// The attempt is over.
    Tried,
    /// Leaves the part.
    Leave,
    /// Leaves the network.
    Out,
}

impl Network {
    /// Advances the job as far as it gets, and then all jobs that can continue because of it.
    #[inline]
    pub(super) fn drive(&mut self, job: u32, step: Step) {
        let mut next = Some((job, step));
        while let Some((job, step)) = next {
            next = self.step(job, step);
        }
        if !self.ready.is_empty() {
            self.settle();
        }
    }

    /// Advances all jobs that can continue.
    pub(super) fn settle(&mut self) {
        while let Some((ticket, step)) = self.ready.pop_front() {
            let mut next = self.jobs.lives(ticket.job, ticket.life).then_some((ticket.job, step));
            while let Some((job, step)) = next {
                next = self.step(job, step);
            }
        }
    }

    /// The job can go on.
    pub(super) fn make_ready(&mut self, f: u32, step: Step) {
        self.ready.push_back((self.jobs.ticket(f), step));
    }

    #[inline]
    fn step(&mut self, f: u32, step: Step) -> Option<(u32, Step)> {
        match step {
            Step::Enter(node) => self.enter(f, node),
            Step::Attempt => self.attempt(f),
            Step::Breaker => self.ask_breaker(f),
            Step::Faults => self.meet_faults(f),
            Step::Part => self.meet_part(f),
            Step::Served => self.served(f),
            Step::Back => self.back(f),
            Step::BackToBreaker => self.back_to_breaker(f),
            Step::Tried => self.tried(f),
            Step::Leave => self.leave(f),
            Step::Out => self.out(f),
        }
    }

    /// The job goes on so much later.
    #[inline]
    pub(super) fn go(&mut self, f: u32, after: Nanos, state: State, step: Step) {
        let job = self.jobs.of(f);
        (job.state, job.next) = (state, step);
        let life = job.life;
        self.events.add(self.now.saturating_add(after), EventKind::Go, f, life);
    }

    #[inline]
    fn enter(&mut self, f: u32, node: u32) -> Option<(u32, Step)> {
        let frame = Frame::entering(node, self.now, Origin::Door);
        self.jobs.push(f, frame);
        let (part, copy) = self.nodes[node as usize];
        let counted = self.counted(f);
        let part = &mut self.parts[part as usize];
        if part.plain {
            self.tallies[node as usize].came += counted;
            return self.meet_part(f);
        }
        if let Some(bucket) = part.buckets.get_mut(copy as usize) {
            bucket.came();
        }
        if part.retry.is_some() || part.hedge.is_some() {
            self.made_again.0 += counted;
        }
        Some((f, Step::Attempt))
    }

    /// An attempt begins; where it may time out, it is a job of its own.
    fn attempt(&mut self, f: u32) -> Option<(u32, Step)> {
        let (node, part, _) = self.place(f);
        let counted = self.counted(f);
        self.tallies[node as usize].came += counted;
        let part = &self.parts[part];
        if part.retry.is_some() || part.hedge.is_some() {
            self.made_again.1 += counted;
        }
        if part.hedge.is_none() && part.timeout.is_none() {
            return Some((f, Step::Breaker));
        }
        let number = self.jobs.get(f).attempt;
        let hedge = part.hedge;
        let child = self.split(f, number, Origin::Attempt);
        if let Some(hedge) = hedge {
            self.watch_to_hedge(f, hedge.after);
        }
        self.watch(child);
        Some((child, Step::Breaker))
    }

    fn ask_breaker(&mut self, f: u32) -> Option<(u32, Step)> {
        let (_, part, copy) = self.place(f);
        let part = &mut self.parts[part];
        if let Some(breaker) = part.breakers.get_mut(copy) {
            let pass = breaker.allows(self.now);
            self.jobs.top(f).pass = pass;
            if pass.is_none() {
                self.jobs.of(f).verdict = Verdict::Refused;
                return Some((f, Step::BackToBreaker));
            }
        }
        if let Some(cable) = &part.cable {
            let (number, group) = self.jobs.number(f);
            let takes = cable.out.sample_time(&mut part.draws.out[group].item(number));
            if takes > Nanos::ZERO {
                self.go(f, takes, State::Going, Step::Faults);
                return None;
            }
        }
        Some((f, Step::Faults))
    }

    fn meet_faults(&mut self, f: u32) -> Option<(u32, Step)> {
        let (_, part, copy) = self.place(f);
        let part = &mut self.parts[part];
        let Some(faults) = &mut part.faults else { return Some((f, Step::Part)) };
        if !faults.is_up(copy as u32, self.now, &mut part.series) {
            match faults.while_down {
                WhileDown::Error => {
                    self.jobs.of(f).verdict = Verdict::Refused;
                    return Some((f, Step::Back));
                }
                WhileDown::Silence => {
                    self.jobs.of(f).state = State::Silent;
                    self.fell_silent(f);
                    return None;
                }
                WhileDown::Slow(_) => {}
            }
        }
        let is_station = matches!(part.does, PartKind::FifoStation(_) | PartKind::EventStation(_));
        if faults.under_way == UnderWay::Lost && !is_station {
            let number = self.jobs.get(f).attempt;
            let child = self.split(f, number, Origin::Inside);
            self.jobs.of(f).inside = true;
            let ticket = self.jobs.ticket(f);
            if let Some(faults) =
                &mut self.parts[self.nodes[self.jobs.top(f).node as usize].0 as usize].faults
            {
                faults.inside[copy].push(0, ticket);
            }
            return Some((child, Step::Part));
        }
        Some((f, Step::Part))
    }

    #[inline]
    fn meet_part(&mut self, f: u32) -> Option<(u32, Step)> {
        let (node, part, copy) = self.place(f);
        match &self.parts[part].does {
            PartKind::Forward(way) => Some((f, Step::Enter(way.first + copy as u32 * way.stride))),
            PartKind::Balancer(_) => self.choose(f, part, copy),
            PartKind::FifoStation(_) => self.line_up(f, part, copy),
            PartKind::EventStation(_) => self.come_to_desk(f, node, part, copy),
        }
    }

    /// Turned away: the answer takes a little.
    fn turn_away(&mut self, f: u32) -> Option<(u32, Step)> {
        self.jobs.of(f).verdict = Verdict::Refused;
        self.go(f, REJECTION, State::Bound, Step::Back);
        None
    }

    /// A balancer hands the job on, or keeps it until a target is free.
    #[inline]
    fn choose(&mut self, f: u32, part: usize, copy: usize) -> Option<(u32, Step)> {
        let part_number = part;
        let part = &mut self.parts[part];
        let PartKind::Balancer(balancing) = &mut part.does else { return None };
        balancing.keep_up(self.now);
        if let Some(over) = balancing.exchanging(self.now) {
            self.go(f, over - self.now, State::Going, Step::Part);
            return None;
        }
        let number = item(self.jobs.asked(f).id, self.jobs.get(f).attempt);
        let asked = self.jobs.asked(f);
        let mut draws = part.draws.route[usize::from(asked.group)].item(number);
        let at = balancing.chooser(copy as u32);
        if let Some(target) = balancing.choosers[at].choose(self.now, asked.key, &mut draws) {
            balancing.choosers[at].started(target);
            let node = balancing.node(copy as u32, target);
            let frame = self.jobs.top(f);
            (frame.target, frame.handed) = (target, self.now);
            return Some((f, Step::Enter(node)));
        }
        if balancing.limit.is_some_and(|limit| balancing.waiting[at].len() >= limit) {
            return self.turn_away(f);
        }
        self.jobs.of(f).state = State::Queued;
        balancing.waiting[at].push(0, self.jobs.ticket(f));
        if let Some((every, _)) = balancing.exchange.filter(|_| !balancing.armed) {
            balancing.armed = true;
            let next = Nanos((balancing.exchanged + 1).saturating_mul(every.0));
            self.events.add(next, EventKind::Exchange, part_number as u32, 0);
        }
        None
    }

    /// A target may be free for jobs that a balancer keeps: they continue, the first first.
    pub(super) fn hand_on(&mut self, part: usize, copy: usize) {
        let part_number = part;
        let part = &mut self.parts[part];
        let PartKind::Balancer(balancing) = &mut part.does else { return };
        let at = balancing.chooser(copy as u32);
        if let Some(over) = balancing.exchanging(self.now) {
            if !balancing.armed && balancing.waiting[at].len() > 0 {
                balancing.armed = true;
                self.events.add(over, EventKind::Exchange, part_number as u32, 0);
            }
            return;
        }
        while let Some(ticket) = balancing.waiting[at].first(&self.jobs) {
            let f = ticket.job;
            let number = item(self.jobs.asked(f).id, self.jobs.get(f).attempt);
            let asked = self.jobs.asked(f);
            let mut draws = part.draws.route[usize::from(asked.group)].item(number);
            let Some(target) = balancing.choosers[at].choose(self.now, asked.key, &mut draws) else { return };
            balancing.waiting[at].take_first(&self.jobs);
            balancing.choosers[at].started(target);
            let frame = self.jobs.top(f);
            (frame.target, frame.handed) = (target, self.now);
            // Where all copies share a chooser, the waiting job may have come to another copy.
            let own = self.nodes[frame.node as usize].1;
            self.jobs.of(f).state = State::Going;
            self.ready.push_back((self.jobs.ticket(f), Step::Enter(balancing.node(own, target))));
        }
    }

    /// A station that is first come first served: when the job leaves is known.
    #[inline]
    fn line_up(&mut self, f: u32, part: usize, copy: usize) -> Option<(u32, Step)> {
        let part = &mut self.parts[part];
        let PartKind::FifoStation(line) = &mut part.does else { return None };
        let (asked, attempt) = (self.jobs.asked(f), self.jobs.get(f).attempt);
        let mut draws = self.numbers.demand(asked.group, asked.id, attempt);
        let demand = line.demand(copy, asked.step, &mut draws);
        let Some((begins, departs)) = line.arrive(copy, self.now, demand) else { return self.turn_away(f) };
        let job = self.jobs.of(f);
        (job.at, job.begins) = (self.now, begins);
        self.go(f, departs - self.now, State::Bound, Step::Served);
        None
    }

    /// A station that acts by events.
    fn come_to_desk(&mut self, f: u32, node: u32, part: usize, copy: usize) -> Option<(u32, Step)> {
        // Who is done at this instant makes room first.
        if matches!(&self.parts[part].does, PartKind::EventStation(stations) if stations.stations[copy].armed <= self.now)
        {
            self.check_desk(node);
        }
        self.keep_pace(part, copy);
        let part = &mut self.parts[part];
        let PartKind::EventStation(stations) = &mut part.does else { return None };
        let (asked, attempt) = (self.jobs.asked(f), self.jobs.get(f).attempt);
        let mut draws = self.numbers.demand(asked.group, asked.id, attempt);
        let demand = stations.service.demand(asked.step, stations.stations[copy].admitted, &mut draws);
        let class = if stations.rules.order == Order::Class { stations.rules.class(asked.step) } else { 0 };
        let job = self.jobs.of(f);
        (job.at, job.left, job.class) = (self.now, demand.0 as f64, class);
        if stations.stations[copy].arrive(&stations.rules, &mut self.jobs, f, self.now) == Came::Full {
            return self.turn_away(f);
        }
        self.settle_desk(node);
        None
    }
}
