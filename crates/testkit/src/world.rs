//! The virtual world: one clock, one generator, one target.

use crate::target::{Answer, Connect, Target};
use base::{Nanos, RecordSink};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use workload::{Action, Client, Event, Then};

/// The generator's own defects. The default has none.
#[derive(Clone, Debug, Default)]
pub struct Generator {
    /// What each action (connect, send, close) costs of its time.
    pub action_cost: Nanos,
    /// What each event (answer) costs of its time.
    pub event_cost: Nanos,
    /// It does not run from the first to the second instant of each: a stopped process, a pause for garbage.
    pub pauses: Vec<(Nanos, Nanos)>,
    /// Sleeps end only on multiples of this; zero for none.
    pub tick: Nanos,
}

impl Generator {
    fn awake(&self, now: Nanos) -> Nanos {
        self.pauses.iter().fold(now, |now, &(from, to)| if from <= now && now < to { to } else { now })
    }

    fn wake(&self, at: Nanos) -> Nanos {
        let at = match self.tick.0 {
            0 => at,
            tick => Nanos((at.0 + tick - 1).div_euclid(tick) * tick),
        };
        self.awake(at)
    }
}

type Entry = Reverse<(Nanos, u64)>;

/// Runs a client against a target until every arrival has ended.
pub struct World<S, T> {
    client: Client<S>,
    target: T,
    generator: Generator,
    now: Nanos,
    calendar: BinaryHeap<Entry>,
    /// What the calendar's entries stand for, by number; entries of closed connections are dropped.
    happenings: Vec<(u32, u32, Event)>,
    /// How often each connection slot has been closed.
    lives: Vec<u32>,
    requests: u64,
    /// Interrupts: at the first instant the client is told to stop, at the second to cancel.
    interrupts: Vec<Nanos>,
}

impl<S: RecordSink, T: Target> World<S, T> {
    /// A world at time zero.
    pub fn new(client: Client<S>, target: T, generator: Generator) -> World<S, T> {
        World {
            client,
            target,
            generator,
            now: Nanos::ZERO,
            calendar: BinaryHeap::new(),
            happenings: Vec::new(),
            lives: Vec::new(),
            requests: 0,
            interrupts: Vec::new(),
        }
    }

    /// Ctrl-C at these instants: the first stops, the second cancels.
    pub fn interrupted_at(mut self, at: &[Nanos]) -> World<S, T> {
        self.interrupts = at.to_vec();
        self
    }

    /// Plays until done; returns when that was.
    ///
    /// # Panics
    /// If the client neither acts nor ends: a test that would hang fails instead.
    pub fn run(&mut self) -> Nanos {
        let mut told_to_stop = 0;
        let mut idle_rounds = 0;
        loop {
            let before = self.now;
            while told_to_stop < self.interrupts.len() && self.interrupts[told_to_stop] <= self.now {
                match told_to_stop {
                    0 => self.client.stop(self.now),
                    _ => self.client.cancel(self.now),
                }
                told_to_stop += 1;
            }
            while let Some(action) = self.client.poll(self.now) {
                self.act(action);
                self.handle_one();
            }
            self.client.tick(self.now);
            if self.client.is_done() {
                break;
            }
            let mut next = self.client.wake_at();
            if let Some(&Reverse((at, _))) = self.calendar.peek() {
                next = next.min(at);
            }
            if let Some(&at) = self.interrupts.get(told_to_stop) {
                next = next.min(at);
            }
            assert!(next < Nanos::MAX, "nothing will ever happen, and the client is not done");
            self.now = self.generator.wake(next.max(self.now));
            // An honest loop looks for due arrivals after every event, not only when idle.
            while self.handle_one() {
                if let Some(action) = self.client.poll(self.now) {
                    self.act(action);
                }
            }
            idle_rounds = if self.now == before { idle_rounds + 1 } else { 0 };
            assert!(idle_rounds < 1_000_000, "the world stands still at {}", self.now);
        }
        self.now
    }

    /// The sink, once the client has written down what is left.
    pub fn finish(&mut self) -> &mut S {
        let now = self.now;
        self.client.finish_all(now)
    }

    /// The target.
    pub fn target(&mut self) -> &mut T {
        &mut self.target
    }

    /// Tells the client of the next thing that has happened by now, if there is one.
    fn handle_one(&mut self) -> bool {
        match self.calendar.peek() {
            Some(&Reverse((at, number))) if at <= self.now => {
                self.calendar.pop();
                let (id, life, event) = self.happenings[number as usize];
                if self.lives[id as usize] == life {
                    let action = self.client.on(id, event, self.now);
                    self.spend(self.generator.event_cost);
                    action.into_iter().for_each(|a| self.act(a));
                }
                true
            }
            _ => false,
        }
    }

    fn spend(&mut self, cost: Nanos) {
        self.now = self.generator.awake(self.now + cost);
    }

    fn schedule(&mut self, id: u32, after: Nanos, event: Event) {
        let number = self.happenings.len() as u64;
        self.happenings.push((id, self.lives[id as usize], event));
        self.calendar.push(Reverse((self.now + after, number)));
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Open(id) => {
                self.lives.resize(self.lives.len().max(id as usize + 1), 0);
                match self.target.connect(self.now) {
                    Connect::After(after) => {
                        self.schedule(id, after, Event::Connected { connect: after, tls: None });
                    }
                    Connect::Fails(after, outcome) => {
                        self.schedule(id, after, Event::ConnectFailed(outcome));
                    }
                    Connect::Silence => {}
                }
            }
            Action::Send(id, _) => {
                let answer = self.target.request(self.now, self.requests);
                self.requests += 1;
                if let Answer::Comes { first_byte, done, outcome, status, reusable } = answer {
                    self.schedule(id, first_byte, Event::FirstByte);
                    let bytes_received = 100;
                    let then = Then::GoOn;
                    self.schedule(id, done, Event::Done { outcome, status, bytes_received, reusable, then });
                }
            }
            Action::Close(id) => self.lives[id as usize] += 1,
        }
        self.spend(self.generator.action_cost);
    }
}
