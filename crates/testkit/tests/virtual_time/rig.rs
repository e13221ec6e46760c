//! A world that distrusts the client: it does what it is told only where that makes sense, and fails where it does not.
//!
//! Beside what [`headway_testkit::Simulation`] can do, its target answers by the step and session asked for, says that nothing was
//! sent, ends sessions and groups, closes connections, with or without what they carry, and has them carry several requests at once.

use headway_base::sink::Kept;
use headway_base::{EventKind, Nanos, Outcome, Short};
use headway_testkit::{Connect, Generator};
use headway_workload::client::{ConnectionId, Part, RequestId, SessionId, Streamed};
use headway_workload::journey::Journey;
use headway_workload::plan::Connections;
use headway_workload::{
    Action, Client, ConnectionEvent, Limits, Plan, RequestEvent, RequestKey, SessionControl, Shard,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Steps that are led to another origin than their journey says, and its number.
pub type Leads = Vec<(u16, u16)>;

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
        /// So long after the answer the target takes no more on the connection; where it carries one request at a time, if it
        /// then lies idle since.
        hangs_up: Option<Nanos>,
    },
    /// The connection breaks after that long, and ends this request and all others that it carries.
    Breaks(Nanos),
    /// From then on the connection takes that many requests at once; this one is answered.
    Holds(Nanos, u32),
    /// It cannot be made.
    NotSent(Outcome, SessionControl),
    /// A body comes in pieces of 10 bytes, so long after the request each; the end comes last, or never.
    Pieces(&'static [Nanos], Option<Nanos>),
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
    /// The number of the origin that each leads to.
    pub places: Vec<u16>,
    pub most_open: usize,
    /// Connections opened although the client had said that the next start needs none.
    pub unannounced: usize,
    /// Connections opened although an open one had room, or carried nothing where requests are spread; counted where all are shared.
    pub needless: usize,
    /// Most requests on one connection at once.
    pub most_carried: usize,
    pub ended: Nanos,
    /// Sessions (group, k) that an answer ended.
    pub told_to_end: BTreeSet<(u16, u64)>,
    /// When a group was told to stop, first.
    pub told_to_stop: BTreeMap<u16, Nanos>,
    /// When the client was told to stop.
    pub stopped: Option<Nanos>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Closed,
    Opening,
    Open,
    Draining,
}

#[derive(Clone, Debug)]
struct Line {
    state: State,
    /// Where it leads.
    origin: u16,
    /// Number over the run.
    number: usize,
    /// Requests so far.
    uses: u32,
    capacity: u32,
    /// What it carries, with the number of each request over the run.
    carries: BTreeMap<RequestId, (usize, RequestKey)>,
}

#[derive(Clone, Copy, Debug)]
enum Happening {
    Connection(ConnectionEvent),
    /// To the request of that number over the run.
    Request(RequestId, usize, RequestEvent),
    /// A piece of the answer to the request of that number over the run.
    Piece(RequestId, usize),
    /// The last event of a request, after which the connection may take no more.
    Ends(RequestId, usize, Outcome, SessionControl, bool),
    HangUp(u32),
    Break,
    Holds(u32),
}

pub struct Rig<C, R> {
    client: Client<Kept>,
    connect: C,
    request: R,
    generator: Generator,
    cap: usize,
    now: Nanos,
    /// Requests that a connection takes at once.
    capacity: u32,
    /// Whether requests are spread over connections.
    spread: bool,
    /// By instant and number; with the connection's slot and its number over the run.
    calendar: BTreeMap<(Nanos, usize), (ConnectionId, usize, Happening)>,
    written: usize,
    /// By slot.
    lines: Vec<Line>,
    /// How many of them are not closed.
    open: usize,
    /// Whether all connections are shared.
    shared: bool,
    /// By group.
    journeys: Vec<Arc<Journey>>,
    /// Requests that some connection carries, and whose each is.
    carried: BTreeMap<RequestId, SessionId>,
    /// The same the other way round.
    sending: BTreeMap<SessionId, RequestId>,
    /// Requests that were given back and are to be sent again: what was sent, and on which connection.
    returned: BTreeMap<RequestId, (RequestKey, ConnectionId)>,
    /// By slot of a session: what was sent last.
    last: Vec<Option<RequestKey>>,
    /// Where answers lead their sessions, in turns.
    links: Vec<Leads>,
    /// The same by session, as the client was told last.
    leads: BTreeMap<SessionId, Leads>,
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
            capacity: 1,
            spread: false,
            now: Nanos::ZERO,
            calendar: BTreeMap::new(),
            written: 0,
            lines: Vec::new(),
            open: 0,
            journeys: plan.groups.iter().map(|group| group.journey.clone()).collect(),
            shared: plan.groups.iter().all(|group| group.connections == Connections::Shared),
            carried: BTreeMap::new(),
            sending: BTreeMap::new(),
            returned: BTreeMap::new(),
            last: Vec::new(),
            links: Vec::new(),
            leads: BTreeMap::new(),
            interrupts: Vec::new(),
            played: Played::default(),
        }
    }

    pub fn with(mut self, generator: Generator) -> Rig<C, R> {
        self.generator = generator;
        self
    }

    /// Connections take that many requests at once. More than one: giving a request up does not cost the connection.
    pub fn carrying(mut self, capacity: u32) -> Rig<C, R> {
        self.client = self.client.expecting(&[capacity]);
        self.capacity = capacity;
        self
    }

    /// The same, and requests are spread over as many connections as there may be.
    pub fn spreading(mut self, capacity: u32) -> Rig<C, R> {
        self.client = self.client.spreading();
        (self.capacity, self.spread) = (capacity, true);
        self
    }

    /// The plan is joined at that instant; how many arrivals were missed.
    pub fn joining(mut self, at: Nanos) -> (Rig<C, R>, u64) {
        let missed = self.client.join(at);
        self.now = at;
        (self, missed)
    }

    /// Responses of the steps, by number, are looked at so.
    pub fn streaming(mut self, steps: &[Streamed]) -> Rig<C, R> {
        self.client = self.client.streaming(steps.to_vec());
        self
    }

    /// Answers lead steps of their sessions so, in turns.
    pub fn leading(mut self, links: &[Leads]) -> Rig<C, R> {
        self.links = links.to_vec();
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
                self.played.unannounced += usize::from(matches!(action, Action::Connect(..)) && !announced);
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
                    self.sleep(next.min(self.now.saturating_add(self.client.longest_sleep())));
                }
            }
            rounds = if self.now > before { 0 } else { rounds + 1 };
            assert!(rounds < 200_000, "the world stands still at {before}");
        }
        assert_eq!((self.open, self.client.in_flight()), (0, 0), "connections left behind");
        self.played.kept = std::mem::take(self.client.finish_all(self.now));
        self.played.ended = self.now;
        self.played
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
        let (on, number, happening) = entry.remove();
        let line = &mut self.lines[on as usize];
        if line.number != number || line.state == State::Closed {
            return true;
        }
        let actions = match happening {
            Happening::Connection(event) => {
                if line.state == State::Opening && matches!(event, ConnectionEvent::Established { .. }) {
                    line.state = State::Open;
                }
                vec![self.client.on_connection(on, event, self.now)]
            }
            Happening::Request(id, n, event) => match line.carries.get(&id) {
                Some(&(carried, _)) if carried == n => vec![self.client.on_request(id, event, self.now)],
                _ => return true,
            },
            Happening::Piece(id, n) => match line.carries.get(&id) {
                Some(&(carried, _)) if carried == n => {
                    let (kind, at, unread) = (EventKind::Chunk, self.now, Short::ZERO);
                    let part = Part { kind, at, bytes: 10, count: 1, unread };
                    vec![self.client.on_request(id, RequestEvent::Part(part), self.now)]
                }
                _ => return true,
            },
            Happening::Ends(id, n, outcome, then, reusable) => match line.carries.get(&id) {
                Some(&(carried, key)) if carried == n => {
                    self.lift(on, id);
                    if outcome == Outcome::RefusedStream && self.client.sends_again(id) {
                        // As of a connection that is about to end: that is told first.
                        let drained = if reusable { None } else { self.drain(on) };
                        self.returned.insert(id, (key, on));
                        let given_back = self.end(id, outcome, SessionControl::Continue);
                        self.spend(self.generator.event_cost);
                        drained.into_iter().chain(given_back).for_each(|action| self.act(action));
                        return true;
                    }
                    self.note(then, &key);
                    let leads = self.links.get(n % self.links.len().max(1)).cloned();
                    if let Some(leads) = leads.filter(|_| !self.journeys[usize::from(key.group)].is_single())
                    {
                        self.leads.insert(key.session, leads.clone());
                        self.client.lead(key.session, leads);
                    }
                    let drained = if reusable { None } else { self.drain(on) };
                    vec![self.end(id, outcome, then), drained]
                }
                _ => return true,
            },
            Happening::HangUp(uses) => {
                let idle = line.carries.is_empty() && line.uses == uses;
                if line.state != State::Open || self.capacity == 1 && !idle {
                    return true;
                }
                vec![self.drain(on)]
            }
            Happening::Break => {
                let carried: Vec<RequestId> = line.carries.keys().copied().collect();
                carried.iter().for_each(|&id| self.lift(on, id));
                let mut actions = vec![self.drain(on)];
                for id in carried {
                    actions.push(self.end(id, Outcome::Reset, SessionControl::Continue));
                }
                actions
            }
            Happening::Holds(capacity) => {
                // One that takes none any more stays so.
                line.capacity = if line.capacity == 0 { 0 } else { capacity };
                vec![self.client.on_connection(on, ConnectionEvent::Capacity(capacity), self.now)]
            }
        };
        self.spend(self.generator.event_cost);
        actions.into_iter().flatten().for_each(|action| self.act(action));
        true
    }

    /// A connection carries this request no more, if it did.
    fn lift(&mut self, on: ConnectionId, id: RequestId) {
        if self.lines[on as usize].carries.remove(&id).is_some()
            && let Some(session) = self.carried.remove(&id)
        {
            self.sending.remove(&session);
        }
    }

    fn drain(&mut self, on: ConnectionId) -> Option<Action> {
        self.lines[on as usize].state = State::Draining;
        self.client.on_connection(on, ConnectionEvent::Draining, self.now)
    }

    fn end(&mut self, id: RequestId, outcome: Outcome, then: SessionControl) -> Option<Action> {
        let done = RequestEvent::Done { outcome, status: 200, bytes_received: 1, then };
        self.client.on_request(id, done, self.now)
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
                Action::Connect(id, origin) => self.connect(id, origin),
                Action::Send(on, id, key) => self.send(on, id, key),
                Action::Cancel(on, id) => {
                    self.lift(on, id);
                    let is_open = self.lines[on as usize].state != State::Closed;
                    if self.capacity == 1 && is_open { self.drain(on) } else { None }
                }
                Action::Disconnect(id) => {
                    let line = &mut self.lines[id as usize];
                    assert_ne!(line.state, State::Closed, "closed twice");
                    assert!(line.carries.is_empty(), "closed with what it carries: {line:?}");
                    self.open -= 1;
                    self.played.lives[line.number].1 = self.now;
                    line.state = State::Closed;
                    None
                }
            };
            self.spend(self.generator.action_cost);
        }
    }

    fn connect(&mut self, id: ConnectionId, origin: u16) -> Option<Action> {
        let number = self.played.lives.len();
        let most = |line: &Line| if self.spread { line.capacity.min(1) } else { line.capacity } as usize;
        let open = |line: &Line| line.state == State::Open && line.origin == origin;
        let refuses = |on: usize| self.returned.values().any(|(_, by)| *by as usize == on);
        let room = |(on, line): (usize, &Line)| open(line) && line.carries.len() < most(line) && !refuses(on);
        self.played.needless += usize::from(self.shared && self.lines.iter().enumerate().any(room));
        self.played.lives.push((self.now, Nanos::MAX));
        self.played.places.push(origin);
        let capacity = self.capacity;
        let opening =
            Line { state: State::Opening, origin, number, uses: 0, capacity, carries: BTreeMap::new() };
        match self.lines.get_mut(id as usize) {
            Some(line) => {
                assert_eq!(line.state, State::Closed, "opened twice");
                *line = opening;
            }
            None => {
                assert_eq!(self.lines.len(), id as usize, "slots are used from the first on");
                self.lines.push(opening);
            }
        }
        self.open += 1;
        assert!(self.open <= self.cap, "{} connections open", self.open);
        self.played.most_open = self.played.most_open.max(self.open);
        match (self.connect)(self.now) {
            // The system says so at once.
            Connect::Fails(Nanos::ZERO, Outcome::LocalLimit) => {
                let failed = ConnectionEvent::Failed(Outcome::LocalLimit);
                return self.client.on_connection(id, failed, self.now);
            }
            Connect::After(connect) => {
                // Every other one that takes several says so a little later.
                let settled = capacity == 1 || self.spread || number.is_multiple_of(2);
                let now = if settled { capacity } else { 1 };
                self.lines[id as usize].capacity = now;
                let event = ConnectionEvent::Established { connect, tls: None, capacity: now, settled };
                self.write(connect, id, Happening::Connection(event));
                if !settled {
                    self.write(connect + Nanos::from_millis(3), id, Happening::Holds(capacity));
                }
            }
            Connect::Fails(after, outcome) => {
                self.write(after, id, Happening::Connection(ConnectionEvent::Failed(outcome)));
            }
            Connect::Silence => {}
        }
        None
    }

    fn send(&mut self, on: ConnectionId, id: RequestId, key: RequestKey) -> Option<Action> {
        let slot = key.session as usize;
        assert_eq!(self.carried.insert(id, key.session), None, "two requests of one name at once");
        assert_eq!(self.sending.insert(key.session, id), None, "two requests of one session at once");
        self.last.resize(self.last.len().max(slot + 1), None);
        let again = self.returned.remove(&id).is_some_and(|(before, _)| before == key);
        match self.last[slot] {
            Some(_) if again => {}
            Some(last) if key.ordinal > 0 => {
                // What a redirect leads to has the number of the request that was redirected.
                let led = self.journeys[usize::from(key.group)].is_redirected(key.step);
                let expected = (last.group, last.k, last.ordinal + u32::from(!led));
                assert_eq!((key.group, key.k, key.ordinal), expected, "who has the slot");
            }
            _ => assert_eq!(key.ordinal, 0, "a session begins with its first request: {key:?}"),
        }
        if key.ordinal == 0 && !again {
            self.leads.remove(&key.session);
        }
        self.last[slot] = Some(key);
        let n = self.played.sends.len();
        let line = &mut self.lines[on as usize];
        assert_eq!(line.state, State::Open, "sent on {line:?}");
        let led =
            self.leads.get(&key.session).and_then(|leads| leads.iter().find(|(step, _)| *step == key.step));
        let origin =
            led.map_or_else(|| self.journeys[usize::from(key.group)].origin(key.step), |lead| lead.1);
        assert_eq!(line.origin, origin, "{key:?} sent on {line:?}");
        assert!(line.carries.len() < line.capacity as usize, "more than it takes: {line:?}");
        line.uses += 1;
        line.carries.insert(id, (n, key));
        self.played.most_carried = self.played.most_carried.max(line.carries.len());
        let (number, uses) = (line.number, line.uses);
        self.played.sends.push((self.now, number, key));
        match (self.request)(self.now, n, &key) {
            Reply::Comes { first, done, outcome, then, reusable, hangs_up } => {
                self.write(first, on, Happening::Request(id, n, RequestEvent::FirstByte));
                self.write(done, on, Happening::Ends(id, n, outcome, then, reusable));
                if let Some(after) = hangs_up {
                    self.write(done + after, on, Happening::HangUp(uses));
                }
                None
            }
            Reply::NotSent(outcome, then) => {
                self.lift(on, id);
                self.note(then, &key);
                self.client.on_request(id, RequestEvent::NotSent { outcome, then }, self.now)
            }
            Reply::Breaks(after) => {
                self.write(after, on, Happening::Break);
                None
            }
            Reply::Holds(after, capacity) => {
                self.write(after, on, Happening::Holds(capacity));
                let then = SessionControl::Continue;
                self.write(after, on, Happening::Ends(id, n, Outcome::Ok, then, true));
                None
            }
            Reply::Pieces(pieces, done) => {
                for (i, &after) in pieces.iter().enumerate() {
                    if i == 0 {
                        self.write(after, on, Happening::Request(id, n, RequestEvent::FirstByte));
                    }
                    self.write(after, on, Happening::Piece(id, n));
                }
                if let Some(done) = done {
                    let (outcome, then) = (Outcome::Ok, SessionControl::Continue);
                    self.write(done, on, Happening::Ends(id, n, outcome, then, true));
                }
                None
            }
            Reply::Silence => None,
        }
    }

    fn write(&mut self, after: Nanos, on: ConnectionId, happening: Happening) {
        let number = self.lines[on as usize].number;
        self.calendar.insert((self.now + after, self.written), (on, number, happening));
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
