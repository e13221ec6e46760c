//! The client: plays a plan over a pool of connections, without any I/O.
//!
//! A world (the live reactor, a simulator, a test with a virtual clock) asks [`Client::poll`] what to do now, does it,
//! and tells [`Client::on`] what happened; [`Client::wake_at`] says when to ask again if nothing happens. The client
//! knows arrivals, the connection cap, the pool, deadlines, and makes one [`Record`] of every arrival that fell due.
//!
//! In an open workload nothing here waits for an answer before an arrival starts, except at the connection cap. Those
//! that wait there are no queue: they are the stretch of the plan between the cursor and now, in order.
//!
//! Deliberately absent: clocks, sockets, bytes, and what an answer means beyond its outcome.

mod pool;

pub use pool::ConnectionId;

use crate::arrivals::Arrival;
use crate::plan::{Plan, SessionsOf};
use crate::shard::Shard;
use base::{Nanos, Outcome, Record, RecordSink, Stamp, Start};
use pool::{Phase, Pool};

/// How long after the end of the plan an arrival that fell due within it may still start. Long enough for the host's
/// usual hiccups, so that the last arrivals are not lost to one; beyond it, nothing new starts.
pub const GRACE: Nanos = Nanos::from_millis(10);

/// Rows that stand for runs of never-started arrivals span at most one cell of this length, so that counts over time
/// keep their place.
const RUN_CELL: Nanos = Nanos::from_millis(1);

/// The bounds that the client keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most connections of this shard open at once; at least 1.
    pub connections: u32,
    /// How long an arrival waits for a connection before it is shed.
    pub max_wait: Nanos,
    /// How long an answer may take, from sent.
    pub timeout: Nanos,
    /// How long a connection may take to be ready, from started.
    pub connect_timeout: Nanos,
}

/// A session's slot within its shard; used again after the session is over.
pub type SessionId = u32;

/// What is to be sent: which step of which session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sending {
    /// The session's slot.
    pub session: SessionId,
    /// Number of the session, from 0, over the whole plan of its group.
    pub k: u64,
    /// Number of the user (closed groups), else of the session.
    pub user: u64,
    /// Which round of the journey of this user, from 0.
    pub iteration: u32,
    /// How many requests the session has made before: 0 means that a new session begins in this slot.
    pub ordinal: u32,
    /// Which repeat of the step, from 0.
    pub repeat: u32,
    /// Number of the step.
    pub step: u16,
    /// Number of the group.
    pub group: u16,
}

/// How a session goes on after a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Then {
    /// By its journey.
    #[default]
    GoOn,
    /// It is over.
    EndSession,
    /// It is over, and its group begins no other: what all its sessions need has run out.
    StopGroup,
}

/// What the world is to do, at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Open this connection; then tell [`Event::Connected`] or [`Event::ConnectFailed`].
    Open(ConnectionId),
    /// Send that request on this connection; then tell how it went.
    Send(ConnectionId, Sending),
    /// Close this connection and forget it: nothing more is to be told of it.
    Close(ConnectionId),
}

/// What happened to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// It is ready for its first request: established after `connect`, TLS agreed after another `tls`.
    Connected {
        /// Time from opening to established.
        connect: Nanos,
        /// Time of the TLS handshake, if there was one.
        tls: Option<Nanos>,
    },
    /// It could not be made ready.
    ConnectFailed(Outcome),
    /// The request's bytes were handed over: how many.
    Sent(u64),
    /// The first byte of the answer came.
    FirstByte,
    /// The answer is complete, or went wrong: how, with which status, after how many bytes, and whether the connection
    /// may serve again.
    Done {
        /// How the request ended.
        outcome: Outcome,
        /// Status code, 0 without one.
        status: u16,
        /// Bytes received: head, framing, body.
        bytes_received: u64,
        /// Whether the connection may serve again.
        reusable: bool,
        /// How the session goes on.
        then: Then,
    },
    /// Nothing was sent, because the request could not be made: the connection is as it was.
    NotSent {
        /// How the request ended.
        outcome: Outcome,
        /// How the session goes on.
        then: Then,
    },
    /// An idle connection was closed by the target, or is of no more use.
    Closed,
}

/// Plays one shard of a plan. `S` takes what it observes.
#[derive(Debug)]
pub struct Client<S> {
    arrivals: SessionsOf,
    next: Option<Arrival>,
    pool: Pool,
    limits: Limits,
    /// Last instant at which an arrival may start.
    last_start: Nanos,
    /// When waiting for answers ends.
    give_up_at: Nanos,
    /// Since when the cap has been reached, as long as an arrival that fell due meanwhile is still to start.
    full_since: Option<Nanos>,
    stopping: bool,
    shard: u16,
    sink: S,
    /// A run of never-started arrivals not yet written down.
    run: Option<Record>,
    ended: bool,
}

impl<S: RecordSink> Client<S> {
    /// A client that plays `shard` of the plan within `limits` and tells `sink`.
    pub fn new(plan: &Plan, shard: Shard, limits: Limits, sink: S) -> Client<S> {
        let mut arrivals = plan.arrivals_of(shard);
        let next = arrivals.next();
        Client {
            next,
            arrivals,
            pool: Pool::new(limits.connections),
            last_start: plan.end() + GRACE,
            give_up_at: (plan.end() + GRACE).saturating_add(limits.timeout),
            limits,
            full_since: None,
            stopping: false,
            shard: shard.index() as u16,
            sink,
            run: None,
            ended: false,
        }
    }

    /// What to do at `now`, one action at a time; none: nothing until something happens or [`wake_at`](Client::wake_at).
    ///
    /// `now` is a clock read just before the call: it becomes the `started` stamp of the request whose first system
    /// call the returned action is.
    #[inline]
    pub fn poll(&mut self, now: Nanos) -> Option<Action> {
        if let Some(id) = self.pool.pop_expired(now) {
            return Some(self.expire(id, now));
        }
        match self.next {
            Some(arrival) if arrival.intended <= now || self.stopping => self.start(arrival, now),
            Some(_) => None,
            None => self.wind_down(now),
        }
    }

    /// When [`poll`](Client::poll) has something to do next if nothing happens; `Nanos::MAX` for never.
    #[inline]
    pub fn wake_at(&self) -> Nanos {
        let arrival = match self.next {
            Some(arrival) if self.pool.can_start() => arrival.intended,
            // At the cap nothing can start: the next thing due is giving up, not sending.
            Some(arrival) => {
                arrival.intended.saturating_add(self.limits.max_wait).min(self.last_start + Nanos(1))
            }
            None => self.give_up_at,
        };
        arrival.min(self.pool.next_deadline())
    }

    /// Whether the next thing due is a request that could go out on time: worth polling the clock for.
    #[inline]
    pub fn is_poised(&self) -> bool {
        self.next.is_some() && self.pool.can_start()
    }

    /// Whether the next start would open a connection, because none is idle. A world that may not have heard yet of
    /// answers that came does well to look first: opening costs many times a look.
    #[inline]
    pub fn would_open(&self) -> bool {
        !self.pool.has_idle()
    }

    /// Something happened to a connection; the answer is what to do about it at once.
    #[inline]
    pub fn on(&mut self, id: ConnectionId, event: Event, now: Nanos) -> Option<Action> {
        if event != Event::Closed && !self.pool.is_busy(id) {
            // Its request was given up (cancelled, unfinished), and the connection is about to be closed.
            return None;
        }
        match event {
            Event::FirstByte => {
                let request = self.pool.request_mut(id);
                if !request.first_byte.is_some() {
                    request.first_byte = now.into();
                }
                None
            }
            Event::Done { outcome, status, bytes_received, reusable, .. } => {
                let request = self.pool.request_mut(id);
                request.status = status;
                request.bytes_received = bytes_received;
                self.finish(id, outcome, now);
                if reusable {
                    self.pool.release(id);
                    self.came_free(now);
                    return None;
                }
                Some(self.close(id, now))
            }
            Event::NotSent { outcome, .. } => {
                self.pool.request_mut(id).sent = Stamp::NONE;
                self.finish(id, outcome, now);
                self.pool.release(id);
                self.came_free(now);
                None
            }
            Event::Sent(bytes) => {
                self.pool.request_mut(id).bytes_sent = bytes;
                None
            }
            Event::Connected { connect, tls } => {
                let request = self.pool.request_mut(id);
                request.connect = connect.into();
                request.tls = tls.into();
                request.sent = now.into();
                let sending = Sending { k: request.k, ..Sending::default() };
                self.pool.in_flight(id, now.saturating_add(self.limits.timeout));
                Some(Action::Send(id, sending))
            }
            Event::ConnectFailed(outcome) => {
                self.finish(id, outcome, now);
                Some(self.close(id, now))
            }
            Event::Closed => {
                self.pool.retire_idle(id);
                Some(Action::Close(id))
            }
        }
    }

    /// Tells the sink what time it is: at least ten times a second.
    pub fn tick(&mut self, now: Nanos) {
        self.sink.tick(now);
    }

    /// Stops sending: what is due and not started ends as unsent, what is in flight is waited for until its timeout.
    pub fn stop(&mut self, now: Nanos) {
        if !self.stopping {
            self.stopping = true;
            self.last_start = now;
            self.give_up_at = self.give_up_at.min(now.saturating_add(self.limits.timeout));
        }
    }

    /// Stops at once: what is in flight ends as cancelled.
    pub fn cancel(&mut self, now: Nanos) {
        self.stop(now);
        self.give_up_at = now;
        self.give_up(now, Outcome::Cancelled);
    }

    /// Whether every arrival that fell due has ended.
    pub fn is_done(&self) -> bool {
        self.next.is_none() && self.pool.busy() == 0
    }

    /// Requests in flight, and connections being opened for one.
    pub fn in_flight(&self) -> u32 {
        self.pool.busy()
    }

    /// Writes down what is left to write and closes the sink. Call once, when done; in flight is then unfinished.
    pub fn finish_all(&mut self, now: Nanos) -> &mut S {
        if !self.ended {
            self.ended = true;
            self.stop(now);
            while let Some(arrival) = self.next {
                self.never_start(arrival, now);
            }
            self.give_up(now, Outcome::Unfinished);
            self.flush_run();
            self.sink.finish(now);
        }
        &mut self.sink
    }

    fn advance(&mut self) {
        self.next = self.arrivals.next();
    }

    #[inline]
    fn start(&mut self, arrival: Arrival, now: Nanos) -> Option<Action> {
        if now > self.last_start || self.stopping {
            let mut next = Some(arrival);
            while let Some(arrival) = next {
                self.never_start(arrival, now);
                next = self.next;
            }
            return None;
        }
        if let Some(id) = self.pool.take_idle() {
            let mut record = self.begin(arrival, now);
            record.sent = now.into();
            record.reused = true;
            self.pool.reuse(id, record, now.saturating_add(self.limits.timeout));
            self.note_full(now);
            return Some(Action::Send(id, Sending { k: arrival.k, ..Sending::default() }));
        }
        if self.pool.can_open() {
            let record = self.begin(arrival, now);
            let id = self.pool.open(record, now.saturating_add(self.limits.connect_timeout));
            self.note_full(now);
            return Some(Action::Open(id));
        }
        let mut next = Some(arrival);
        while let Some(arrival) = next.filter(|a| a.intended.saturating_add(self.limits.max_wait) <= now) {
            self.write_never_started(arrival, now, Outcome::Shed);
            self.advance();
            next = self.next;
        }
        None
    }

    /// After a start: the cap may be reached now, or nobody be held back any more.
    #[inline]
    fn note_full(&mut self, now: Nanos) {
        let waiting = self.next.is_some_and(|next| next.intended <= now);
        self.full_since = match (self.pool.can_start(), waiting) {
            (false, true) => self.full_since.or(Some(now)),
            (false, false) => Some(now),
            (true, true) => self.full_since,
            (true, false) => None,
        };
    }

    /// An arrival starts: its record so far, told to the sink.
    #[inline]
    fn begin(&mut self, arrival: Arrival, now: Nanos) -> Record {
        self.flush_run();
        // It waited from when it was due, or from when the cap was reached if that was later: what was late before the
        // cap was reached is the generator's lateness.
        let wait = match self.full_since {
            Some(since) => (now - arrival.intended.max(since)).max(Nanos::ZERO),
            None => Nanos::ZERO,
        };
        self.advance();
        self.sink.start(Start { wait, ..Start::arrival(arrival.intended, now, 0) });
        Record {
            started: now.into(),
            wait,
            shard: self.shard,
            ..Record::never_started(arrival.k, arrival.intended, now, Outcome::Unfinished)
        }
    }

    /// An arrival that cannot start any more: unsent if it fell due by the time sending stopped, otherwise nothing.
    fn never_start(&mut self, arrival: Arrival, now: Nanos) {
        if arrival.intended <= self.last_start {
            let waited_out =
                arrival.intended.saturating_add(self.limits.max_wait) <= now && self.full_since.is_some();
            let outcome = if waited_out { Outcome::Shed } else { Outcome::Unsent };
            self.write_never_started(arrival, now, outcome);
            self.advance();
        } else {
            // Stopped early: what was not yet due never fell due.
            self.next = None;
        }
    }

    fn write_never_started(&mut self, arrival: Arrival, now: Nanos, outcome: Outcome) {
        if let Some(run) = &mut self.run {
            let cell = |at: Nanos| at.0.div_euclid(RUN_CELL.0);
            if run.outcome == outcome
                && run.k + u64::from(run.count) == arrival.k
                && cell(run.intended) == cell(arrival.intended)
                && run.count < u32::MAX
            {
                run.count += 1;
                run.done = now;
                return;
            }
        }
        self.flush_run();
        let mut record = Record::never_started(arrival.k, arrival.intended, now, outcome);
        record.shard = self.shard;
        self.run = Some(record);
    }

    fn flush_run(&mut self) {
        if let Some(run) = self.run.take() {
            self.sink.record(run);
        }
    }

    #[inline]
    fn finish(&mut self, id: ConnectionId, outcome: Outcome, now: Nanos) {
        let mut record = *self.pool.request_mut(id);
        record.done = now;
        record.outcome = outcome;
        record.connection = self.pool.number(id);
        self.sink.record(record);
    }

    fn expire(&mut self, id: ConnectionId, now: Nanos) -> Action {
        let outcome = match self.pool.phase(id) {
            Phase::Opening => Outcome::ConnectTimeout,
            _ => Outcome::Timeout,
        };
        self.finish(id, outcome, now);
        self.close(id, now)
    }

    fn close(&mut self, id: ConnectionId, now: Nanos) -> Action {
        self.pool.close(id);
        self.came_free(now);
        Action::Close(id)
    }

    /// A connection can be had again: unless an arrival has been waiting for it, nobody was held back.
    #[inline]
    fn came_free(&mut self, now: Nanos) {
        if self.full_since.is_some() && self.next.is_none_or(|next| next.intended > now) {
            self.full_since = None;
        }
    }

    /// No arrivals are left: idle connections are closed one by one, and at the end of patience the rest.
    fn wind_down(&mut self, now: Nanos) -> Option<Action> {
        self.flush_run();
        if now >= self.give_up_at {
            self.give_up(now, Outcome::Unfinished);
        }
        let id = self.pool.take_idle()?;
        self.pool.close(id);
        Some(Action::Close(id))
    }

    /// Everything in flight ends with that outcome; its connections then lie idle, for `wind_down` to close.
    fn give_up(&mut self, now: Nanos, outcome: Outcome) {
        for id in self.pool.busy_ids() {
            self.finish(id, outcome, now);
            self.pool.release(id);
        }
    }
}
