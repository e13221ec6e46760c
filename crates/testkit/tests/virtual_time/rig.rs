//! A world that distrusts the client: it does what it is told only where that makes sense, and fails where it does not.
//!
//! Beside what [`headway_testkit::Simulation`] can do, its target answers by the step and session asked for, says that nothing was
//! sent, ends sessions and groups, and closes idle connections.

use headway_base::sink::Kept;
use headway_base::{Nanos, Outcome};
use headway_testkit::{Connect, Generator};
use headway_workload::client::ConnectionId;
use headway_workload::{Action, Client, Event, Limits, Plan, RequestKey, SessionControl, Shard};
use std::collections::{BTreeMap, BTreeSet};

/// How a request goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reply {
    /// It is answered.
    Comes {
        /// Until the first byte, from the request.
        first: Nanos,
        /// Until the last.
        done: Nanos,
        outcome: Outcome,
        then: SessionControl,
        reusable: bool,
        /// So long after the answer the target closes the connection, if it then lies idle since.
        hangs_up: Option<Nanos>,
    },
    /// It cannot be made.
    NotSent(Outcome, SessionControl),
    /// Nothing ever comes back.
    Silence,
}

impl Reply {
    /// A good answer after that long.
    pub const fn ok(after: Nanos) -> Reply {
        Reply::ends(after, Outcome::Ok, SessionControl::Continue)
    }

    /// An answer after that long, of that outcome.
    pub const fn ends(after: Nanos, outcome: Outcome, then: SessionControl) -> Reply {
        Reply::Comes { first: after, done: after, outcome, then, reusable: true, hangs_up: None }
    }
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Played {
    pub kept: Kept,
    /// What was sent: when, on which of the connections in the order of their opening, what.
    pub sends: Vec<(Nanos, usize, RequestKey)>,
    /// When each connection was opened and closed.
    pub lives: Vec<(Nanos, Nanos)>,
    pub most_open: usize,
    /// Connections opened although the client had said that the next start needs none.
    pub unannounced: usize,
    pub ended: Nanos,
    /// Sessions (group, k) that an answer ended.
    pub told_to_end: BTreeSet<(u16, u64)>,
    /// When a group was told to stop, first.
    pub told_to_stop: BTreeMap<u16, Nanos>,
    /// When the client was told to stop.
    pub stopped: Option<Nanos>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Line {
    Closed,
    Opening,
    Idle,
    Busy(RequestKey),
}

#[derive(Clone, Copy, Debug)]
enum Happening {
    Tell(Event),
    HangUp,
}

pub struct Rig<C, R> {
    client: Client<Kept>,
    connect: C,
    request: R,
    generator: Generator,
    cap: usize,
    now: Nanos,
    /// By instant and number; with the connection's slot, its number over the run, and its uses so far.
    calendar: BTreeMap<(Nanos, usize), (ConnectionId, usize, u32, Happening)>,
    written: usize,
    /// By slot: state, number over the run, uses.
    lines: Vec<(Line, usize, u32)>,
    /// By slot of a session: what was sent last.
    last: Vec<Option<RequestKey>>,
    interrupts: Vec<Nanos>,
    played: Played,
}

impl<C, R> Rig<C, R>
where
    C: FnMut(Nanos) -> Connect,
    R: FnMut(Nanos, usize, &RequestKey) -> Reply,
{
    pub fn new(plan: &Plan, limits: Limits, connect: C, request: R) -> Rig<C, R> {
        Rig {
            client: Client::new(plan, plan.shard, limits, Kept::default()),
            connect,
            request,
            generator: Generator::default(),
            cap: limits.connections as usize,
            now: Nanos::ZERO,
            calendar: BTreeMap::new(),
            written: 0,
            lines: Vec::new(),
            last: Vec::new(),
            interrupts: Vec::new(),
            played: Played::default(),
        }
    }

    pub fn with(mut self, generator: Generator) -> Rig<C, R> {
        self.generator = generator;
        self
    }

    /// Ctrl-C at these instants: the first stops, the others cancel.
    pub fn interrupted_at(mut self, at: &[Nanos]) -> Rig<C, R> {
        self.interrupts = at.to_vec();
        self
    }

    /// Plays to the end, after which no connection may be open.
    pub fn run(mut self) -> Played {
        let (mut rounds, mut told) = (0, 0);
        loop {
            let before = self.now;
            while self.interrupts.get(told).is_some_and(|&at| at <= self.now) {
                match told {
                    0 => self.client.stop(self.now),
                    _ => self.client.cancel(self.now),
                }
                self.played.stopped.get_or_insert(self.now);
                told += 1;
            }
            let happened = self.step();
            if !happened {
                self.client.caught_up(self.now);
            }
            self.client.tick(self.now);
            let announced = self.client.would_open();
            if let Some(action) = self.client.poll(self.now) {
                self.played.unannounced += usize::from(matches!(action, Action::Open(_)) && !announced);
                self.act(action);
            } else if self.client.is_done() {
                break;
            } else {
                let wake = self.client.wake_at();
                assert!(wake > self.now, "nothing to do at {}, but to be woken at {wake}", self.now);
                if !happened {
                    let next = self.calendar.first_key_value().map_or(Nanos::MAX, |(key, _)| key.0);
                    let interrupt = self.interrupts.get(told).copied().unwrap_or(Nanos::MAX);
                    let next = wake.min(next).min(interrupt);
                    assert!(next < Nanos::MAX, "nothing will ever happen, and the client is not done");
                    self.sleep(next);
                }
            }
            rounds = if self.now > before { 0 } else { rounds + 1 };
            assert!(rounds < 200_000, "the world stands still at {before}");
        }
        assert_eq!((self.open(), self.client.in_flight()), (0, 0), "connections left behind");
        self.played.kept = std::mem::take(self.client.finish_all(self.now));
        self.played.ended = self.now;
        self.played
    }

    fn open(&self) -> usize {
        self.lines.iter().filter(|line| line.0 != Line::Closed).count()
    }

    fn awake(&self, at: Nanos) -> Nanos {
        self.generator.pauses.iter().fold(at, |at, &(from, to)| if from <= at && at < to { to } else { at })
    }

    fn sleep(&mut self, at: Nanos) {
        let tick = self.generator.tick.0.max(1);
        let at = Nanos((at.max(self.now).0 + tick - 1).div_euclid(tick) * tick);
        self.now = self.awake(at);
        if self.now > at {
            self.client.stood_still(at, self.now);
        }
    }

    fn spend(&mut self, cost: Nanos) {
        self.client.busy(cost);
        let at = self.now + cost;
        self.now = self.awake(at);
        if self.now > at {
            self.client.stood_still(at, self.now);
        }
    }

    fn step(&mut self) -> bool {
        let Some(entry) = self.calendar.first_entry().filter(|e| e.key().0 <= self.now) else { return false };
        let (id, number, uses, happening) = entry.remove();
        let (line, present, used) = self.lines[id as usize];
        if present != number || line == Line::Closed {
            return true;
        }
        let event = match happening {
            Happening::HangUp if line != Line::Idle || used != uses => return true,
            Happening::HangUp => Event::Closed,
            Happening::Tell(event) => event,
        };
        if let (Event::Done { then, .. }, Line::Busy(sending)) = (event, line) {
            self.lines[id as usize].0 = Line::Idle;
            self.note(then, &sending);
        }
        let action = self.client.on(id, event, self.now);
        self.spend(self.generator.event_cost);
        action.into_iter().for_each(|action| self.act(action));
        true
    }

    /// What an answer means for the session and its group.
    fn note(&mut self, then: SessionControl, sending: &RequestKey) {
        if then != SessionControl::Continue {
            self.played.told_to_end.insert((sending.group, sending.k));
        }
        if then == SessionControl::StopGroup {
            self.played.told_to_stop.entry(sending.group).or_insert(self.now);
        }
    }

    fn act(&mut self, action: Action) {
        let mut next = Some(action);
        while let Some(action) = next {
            next = match action {
                Action::Open(id) => self.connect(id),
                Action::Send(id, sending) => self.send(id, sending),
                Action::Close(id) => {
                    let (line, number, _) = self.lines[id as usize];
                    assert_ne!(line, Line::Closed, "closed twice");
                    self.played.lives[number].1 = self.now;
                    self.lines[id as usize].0 = Line::Closed;
                    None
                }
            };
            self.spend(self.generator.action_cost);
        }
    }

    fn connect(&mut self, id: ConnectionId) -> Option<Action> {
        let number = self.played.lives.len();
        self.played.lives.push((self.now, Nanos::MAX));
        match self.lines.get_mut(id as usize) {
            Some(line) => {
                assert_eq!(line.0, Line::Closed, "opened twice");
                *line = (Line::Opening, number, 0);
            }
            None => {
                assert_eq!(self.lines.len(), id as usize, "slots are used from the first on");
                self.lines.push((Line::Opening, number, 0));
            }
        }
        let open = self.open();
        assert!(open <= self.cap, "{open} connections open");
        self.played.most_open = self.played.most_open.max(open);
        match (self.connect)(self.now) {
            // The system says so at once.
            Connect::Fails(Nanos::ZERO, Outcome::LocalLimit) => {
                return self.client.on(id, Event::ConnectFailed(Outcome::LocalLimit), self.now);
            }
            Connect::After(connect) => self.tell_after(connect, id, Event::Connected { connect, tls: None }),
            Connect::Fails(after, outcome) => self.tell_after(after, id, Event::ConnectFailed(outcome)),
            Connect::Silence => {}
        }
        None
    }

    fn send(&mut self, id: ConnectionId, sending: RequestKey) -> Option<Action> {
        let slot = sending.session as usize;
        let in_flight =
            |line: &(Line, usize, u32)| matches!(line.0, Line::Busy(s) if s.session == sending.session);
        assert!(!self.lines.iter().any(in_flight), "two requests of one session at once");
        self.last.resize(self.last.len().max(slot + 1), None);
        match self.last[slot] {
            Some(last) if sending.ordinal > 0 => {
                let expected = (last.group, last.k, last.ordinal + 1);
                assert_eq!((sending.group, sending.k, sending.ordinal), expected, "who has the slot");
            }
            _ => assert_eq!(sending.ordinal, 0, "a session begins with its first request: {sending:?}"),
        }
        self.last[slot] = Some(sending);
        let line = &mut self.lines[id as usize];
        assert!(matches!(line.0, Line::Opening | Line::Idle), "sent on {line:?}");
        *line = (Line::Busy(sending), line.1, line.2 + 1);
        let (number, uses) = (line.1, line.2);
        let n = self.played.sends.len();
        self.played.sends.push((self.now, number, sending));
        match (self.request)(self.now, n, &sending) {
            Reply::Comes { first, done, outcome, then, reusable, hangs_up } => {
                let end = Event::Done { outcome, status: 200, bytes_received: 1, reusable, then };
                self.tell_after(first, id, Event::FirstByte);
                self.tell_after(done, id, end);
                if let Some(after) = hangs_up {
                    self.write(self.now + done + after, id, number, uses, Happening::HangUp);
                }
                None
            }
            Reply::NotSent(outcome, then) => {
                self.lines[id as usize].0 = Line::Idle;
                self.note(then, &sending);
                self.client.on(id, Event::NotSent { outcome, then }, self.now)
            }
            Reply::Silence => None,
        }
    }

    fn tell_after(&mut self, after: Nanos, id: ConnectionId, event: Event) {
        let (_, number, uses) = self.lines[id as usize];
        self.write(self.now + after, id, number, uses, Happening::Tell(event));
    }

    fn write(&mut self, at: Nanos, id: ConnectionId, number: usize, uses: u32, happening: Happening) {
        self.calendar.insert((at, self.written), (id, number, uses, happening));
        self.written += 1;
    }
}

/// Plays a plan against a target that connects at once.
pub fn play(plan: &Plan, limits: Limits, request: impl FnMut(Nanos, usize, &RequestKey) -> Reply) -> Played {
    let played = Rig::new(plan, limits, |_| Connect::After(Nanos::ZERO), request).run();
    crate::laws::check(plan, &limits, &played);
    played
}

/// Plays each part of a plan by itself.
pub fn play_in_parts(
    plan: &Plan,
    parts: u32,
    limits: Limits,
    request: impl Fn(Nanos, usize, &RequestKey) -> Reply,
) -> Vec<Played> {
    (0..parts)
        .map(|i| {
            let plan = Plan { shard: Shard::new(i, parts).unwrap(), ..plan.clone() };
            play(&plan, limits, &request)
        })
        .collect()
}
