//! A simulation: one clock, one generator, one target.
//!
//! The loop is that of an honest live worker: it looks for due arrivals after every event, not only when idle, and
//! sleeps until the next event that it knows of. Time passes only in sleep, in the generator's costs and in its pauses.
//!
//! Deliberately absent: the bytes of requests and answers, so that records have none.

use crate::calendar::Calendar;
use crate::generator::{Generator, Pauses};
use crate::pieces::{Came, InPieces};
use crate::target::{Answer, Answered, Connect, Target};
use headway_base::{EventKind, Nanos, Outcome, Record, RecordSink, ResponseEvent, Start};
use headway_workload::client::{ConnectionId, Part, RequestId, Streamed};
use headway_workload::{
    Action, Client, ConnectionEvent, Limits, Plan, RequestEvent, RequestKey, SessionControl, Shard,
};

/// So often the loop may go round at one instant before it is taken to stand still.
const MOST_ROUNDS: u32 = 10_000_000;

/// Runs a client against a target until every arrival has ended.
pub struct Simulation<S, T> {
    client: Client<S>,
    target: T,
    generator: Generator,
    pauses: Pauses,
    now: Nanos,
    calendar: Calendar<Occurrence>,
    /// How long each connection took to establish, by its slot.
    connects: Vec<Nanos>,
    /// Responses that come in pieces; none where the target's come whole.
    pieces: Option<Box<InPieces>>,
    /// Requests that have come to the target.
    requests: u64,
    /// Interrupts: at the first instant the client stops, at the second it cancels.
    interrupts: Vec<Nanos>,
    /// How many of them have been delivered.
    interrupted: usize,
    /// When the next is; MAX for never.
    interrupt_at: Nanos,
}

/// The calendar's slots: requests and connections take turns.
#[inline]
fn of_request(id: RequestId) -> u32 {
    id << 1
}

#[inline]
fn of_connection(id: ConnectionId) -> u32 {
    id << 1 | 1
}

/// What is going to happen to a connection or a request: in eight bytes, since that is what the calendar moves about.
#[derive(Clone, Copy, Debug)]
enum Occurrence {
    Connected,
    ConnectFailed(Outcome),
    FirstByte,
    /// A piece of the answer.
    Piece,
    /// The answer's last byte; with its first byte where that comes at the same instant.
    Answered {
        whole: bool,
        outcome: Outcome,
        status: u16,
        reusable: bool,
    },
}

impl<S: RecordSink, T: Target> Simulation<S, T> {
    /// A world at time zero.
    pub fn new(client: Client<S>, target: T, generator: Generator) -> Simulation<S, T> {
        let mut pauses = Pauses::new(&generator);
        let now = pauses.awake(Nanos::ZERO);
        Simulation {
            client,
            target,
            generator,
            pauses,
            now,
            calendar: Calendar::default(),
            connects: Vec::new(),
            pieces: None,
            requests: 0,
            interrupts: Vec::new(),
            interrupted: 0,
            interrupt_at: Nanos::MAX,
        }
    }

    /// With responses in the pieces of the target's laws; `wanted` says what the client makes of them, by step.
    fn in_pieces(mut self, plan: &Plan, wanted: Vec<Streamed>) -> Simulation<S, T> {
        let laws = self.target.pieces().cloned();
        self.pieces = laws.map(|laws| Box::new(InPieces::new(laws, plan, wanted)));
        self
    }

    /// Ctrl-C at these instants: the first stops, the second cancels.
    pub fn interrupted_at(mut self, at: &[Nanos]) -> Simulation<S, T> {
        self.interrupts = at.to_vec();
        self.note_interrupt();
        self
    }

    /// Plays until done, or until the sink has enough; returns when that was.
    ///
    /// # Panics
    /// If the client neither acts nor ends, or time stands still: a world that would hang fails instead.
    pub fn run(&mut self) -> Nanos {
        let (mut rounds, mut since) = (0, self.now);
        let ideal = self.generator.is_ideal();
        loop {
            if ideal {
                self.run_fast();
            }
            rounds = if self.now > since { 0 } else { rounds + 1 };
            since = self.now;
            assert!(rounds < MOST_ROUNDS, "the world stands still at {since}");
            let happened = self.step();
            if !happened {
                self.client.caught_up(self.now);
            }
            // What happens at the instant of an interrupt comes before it.
            while self.interrupt_at < self.now || !happened && self.interrupt_at == self.now {
                self.interrupt();
            }
            self.client.tick(self.now);
            if self.client.has_enough() {
                return self.now;
            }
            if let Some(action) = self.client.poll(self.now) {
                self.act(action);
            } else if self.client.is_done() {
                return self.now;
            } else {
                let next = self.client.wake_at().min(self.next_at()).min(self.interrupt_at);
                if happened && next <= self.now {
                    continue;
                }
                assert!(next < Nanos::MAX, "nothing will ever happen, and the client is not done");
                self.sleep(next);
            }
        }
    }

    /// The same for as long as there are only arrivals and answers to look after, and time passes only in sleep: what is next
    /// is then one of two, and each round does away with one at least.
    fn run_fast(&mut self) {
        loop {
            let (happens, arrives) = (self.next_at(), self.client.next_arrival());
            let next = happens.min(arrives);
            if next >= self.client.next_non_arrival().min(self.interrupt_at) || self.client.has_enough() {
                return;
            }
            self.now = self.now.max(next);
            if happens <= self.now {
                self.step();
            }
            self.client.tick(self.now);
            if arrives <= self.now
                && let Some((_, id, sending)) = self.client.start_calm(self.now)
            {
                self.send(id, &sending);
            } else if (arrives <= self.now || self.client.next_non_arrival() <= self.now)
                && let Some(action) = self.client.poll(self.now)
            {
                self.act(action);
            }
        }
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

    /// Requests that have come to the target.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Most events held in the calendar at once so far.
    pub fn most_held(&self) -> usize {
        self.calendar.most_held()
    }

    fn note_interrupt(&mut self) {
        self.interrupt_at = self.interrupts.get(self.interrupted).copied().unwrap_or(Nanos::MAX);
    }

    fn interrupt(&mut self) {
        match self.interrupted {
            0 => self.client.stop(self.now),
            _ => self.client.cancel(self.now),
        }
        self.interrupted += 1;
        self.note_interrupt();
    }

    /// Sleeps until `at`, or for no time if that is past; a timer's tick and pauses may make it longer.
    #[inline]
    fn sleep(&mut self, at: Nanos) {
        let at = at.max(self.now);
        let at = match self.generator.tick.0 {
            0 => at,
            tick => Nanos((at.0 + tick - 1).div_euclid(tick) * tick),
        };
        self.wake(at);
    }

    /// Goes on at `at`, or after the pause in which that lies.
    #[inline]
    fn wake(&mut self, at: Nanos) {
        self.now = self.pauses.awake(at);
        if self.now > at {
            self.client.stood_still(at, self.now);
        }
    }

    #[inline]
    fn spend(&mut self, cost: Nanos) {
        if cost > Nanos::ZERO {
            self.client.busy(cost);
            self.wake(self.now + cost);
        }
    }

    /// Tells the client of the next thing that has happened by now, if there is one.
    #[inline(always)]
    fn step(&mut self) -> bool {
        let (within, outside) = (self.target.next_at(), self.calendar.next_at());
        let first = within <= self.now && within < outside;
        let at = within.min(outside);
        if at <= self.now {
            self.client.read_late((self.now - at).into());
        }
        let answered = match if first { self.target.step(self.now) } else { None } {
            Some(answered) => answered,
            None => match self.calendar.pop(self.now) {
                Some((slot, Occurrence::Answered { whole: true, outcome, status, reusable: true })) => {
                    Answered { slot: slot >> 1, outcome, status }
                }
                Some((slot, happening)) => {
                    self.happened(slot >> 1, happening);
                    return true;
                }
                None => return false,
            },
        };
        self.answered(answered);
        true
    }

    /// Tells the client what comes less often than whole answers.
    fn happened(&mut self, id: u32, happening: Occurrence) {
        let action = match happening {
            Occurrence::Connected => {
                let connect = self.connects[id as usize];
                let event = ConnectionEvent::Established { connect, tls: None, capacity: 1, settled: true };
                self.client.on_connection(id, event, self.now)
            }
            Occurrence::ConnectFailed(outcome) => {
                self.client.on_connection(id, ConnectionEvent::Failed(outcome), self.now)
            }
            Occurrence::FirstByte => self.client.on_request(id, RequestEvent::FirstByte, self.now),
            Occurrence::Piece => self.piece(id),
            Occurrence::Answered { whole, outcome, status, reusable } => {
                if whole {
                    self.client.on_request(id, RequestEvent::FirstByte, self.now);
                }
                if !reusable {
                    let on = self.client.connection(id);
                    self.client.on_connection(on, ConnectionEvent::Draining, self.now);
                }
                let then = SessionControl::Continue;
                let done = RequestEvent::Done { outcome, status, bytes_received: 0, then };
                self.client.on_request(id, done, self.now)
            }
        };
        self.spend(self.generator.event_cost);
        if let Some(action) = action {
            self.act(action);
        }
    }

    /// A piece of an answer comes, the last one with its end.
    #[cold]
    fn piece(&mut self, id: RequestId) -> Option<Action> {
        let Came { first, wanted, at, next, status } = self.pieces.as_mut()?.came(id)?;
        if first {
            self.client.on_request(id, RequestEvent::FirstByte, self.now);
        }
        // Bytes are not simulated.
        let part = Part { kind: EventKind::Chunk, at, bytes: 0, count: 1, unread: (self.now - at).into() };
        let event = if wanted { RequestEvent::Part(part) } else { RequestEvent::Progress };
        self.client.on_request(id, event, self.now);
        match next {
            // Later pieces do not wait for the generator to read this one.
            Some(next) => {
                self.calendar.add(next, of_request(id), Occurrence::Piece);
                None
            }
            None => {
                let then = SessionControl::Continue;
                let done = RequestEvent::Done { outcome: Outcome::Ok, status, bytes_received: 0, then };
                self.client.on_request(id, done, self.now)
            }
        }
    }

    /// When something happens next, to a connection, to a request or within the target.
    #[inline]
    fn next_at(&self) -> Nanos {
        self.calendar.next_at().min(self.target.next_at())
    }

    /// Tells the client of a whole answer; one that comes in pieces begins.
    #[inline]
    fn answered(&mut self, Answered { slot, outcome, status }: Answered) {
        if outcome == Outcome::Ok
            && let Some(pieces) = &mut self.pieces
        {
            if let Some(first) = pieces.served(slot, status, self.now) {
                self.calendar.add(first, of_request(slot), Occurrence::Piece);
            }
            return;
        }
        let action = self.client.answered(slot, outcome, status, self.now);
        self.spend(self.generator.event_cost);
        if let Some(action) = action {
            self.act(action);
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Connect(id, _) => self.open(id),
            Action::Send(_, id, sending) => self.send(id, &sending),
            Action::Cancel(on, id) => {
                self.calendar.cancel(of_request(id));
                if !self.pieces.as_mut().is_some_and(|pieces| pieces.gone(id)) {
                    self.target.gone(self.now, id);
                }
                // As in HTTP/1.1, it costs the connection.
                let Some(close) = self.client.on_connection(on, ConnectionEvent::Draining, self.now) else {
                    return;
                };
                return self.act(close);
            }
            Action::Disconnect(id) => self.calendar.cancel(of_connection(id)),
        }
        self.spend(self.generator.action_cost);
    }

    #[inline(always)]
    fn send(&mut self, id: RequestId, sending: &RequestKey) {
        let answer = self.target.request(self.now, self.requests, id, sending);
        self.requests += 1;
        if let Some(pieces) = &mut self.pieces {
            pieces.sent(id, sending);
        }
        if let Answer::Comes { first_byte, done, outcome, status, reusable } = answer {
            let whole = first_byte >= done;
            if !whole {
                self.schedule(of_request(id), first_byte, Occurrence::FirstByte);
            }
            self.schedule(of_request(id), done, Occurrence::Answered { whole, outcome, status, reusable });
        }
    }

    fn open(&mut self, id: ConnectionId) {
        match self.target.connect(self.now) {
            Connect::After(connect) => {
                let slot = id as usize;
                if slot >= self.connects.len() {
                    self.connects.resize(slot + 1, Nanos::ZERO);
                }
                self.connects[slot] = connect;
                self.schedule(of_connection(id), connect, Occurrence::Connected);
            }
            Connect::Fails(after, outcome) => {
                self.schedule(of_connection(id), after, Occurrence::ConnectFailed(outcome))
            }
            Connect::Silence => {}
        }
    }

    #[inline]
    fn schedule(&mut self, slot: u32, after: Nanos, happening: Occurrence) {
        self.calendar.add(self.now.saturating_add(after), slot, happening);
    }
}

/// How a plan was played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Played {
    /// When the last request ended, since the plan's zero.
    pub ended: Nanos,
    /// Requests that came to the target.
    pub requests: u64,
    /// Most events that were pending at once: what the run needed memory for.
    pub most_held: usize,
    /// Whether it was stopped before its end, because the sink had enough: requests in flight have left no record.
    pub stopped: bool,
}

/// Plays `shard` of a plan against a target, to the end or until the sink has enough. The sink gets everything, also the end.
pub fn play<S: RecordSink, T: Target>(
    plan: &Plan,
    shard: Shard,
    limits: Limits,
    target: T,
    generator: Generator,
    sink: &mut S,
) -> Played {
    play_streaming(plan, shard, limits, Vec::new(), target, generator, sink)
}

/// The same for a plan whose steps, by number, have responses of which that is wanted.
pub fn play_streaming<S: RecordSink, T: Target>(
    plan: &Plan,
    shard: Shard,
    limits: Limits,
    streamed: Vec<Streamed>,
    target: T,
    generator: Generator,
    sink: &mut S,
) -> Played {
    let client = Client::new(plan, shard, limits, Lent(sink)).keeping_notes().streaming(streamed.clone());
    let mut world = Simulation::new(client, target, generator).in_pieces(plan, streamed);
    let ended = world.run();
    let stopped = !world.client.is_done();
    let played = Played { ended, requests: world.requests(), most_held: world.most_held(), stopped };
    if stopped {
        drop(world);
        sink.finish(ended);
    } else {
        world.finish();
    }
    played
}

/// A sink that the caller keeps.
struct Lent<'a, S>(&'a mut S);

impl<S: RecordSink> RecordSink for Lent<'_, S> {
    #[inline]
    fn start(&mut self, start: Start) {
        self.0.start(start);
    }
    #[inline]
    fn record(&mut self, record: Record) {
        self.0.record(record);
    }
    #[inline]
    fn event(&mut self, event: ResponseEvent) {
        self.0.event(event);
    }
    #[inline]
    fn users(&mut self, at: Nanos, change: i32) {
        self.0.users(at, change);
    }
    #[inline]
    fn stood_still(&mut self, from: Nanos, to: Nanos) {
        self.0.stood_still(from, to);
    }
    #[inline]
    fn tick(&mut self, now: Nanos) {
        self.0.tick(now);
    }
    #[inline]
    fn has_enough(&self) -> bool {
        self.0.has_enough()
    }
    #[inline]
    fn finish(&mut self, now: Nanos) {
        self.0.finish(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_calendar_moves_is_small() {
        assert!(size_of::<Occurrence>() <= 8, "{}", size_of::<Occurrence>());
    }
}
