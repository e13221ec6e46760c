//! The client: plays a plan over connections, without any I/O.
//!
//! A world (the live reactor, a simulator, a test with a virtual clock) asks [`Client::poll`] what to do now, does it,
//! and tells [`Client::on_connection`] and [`Client::on_request`] what happened; [`Client::wake_at`] says when to ask again
//! if nothing happens. The client knows arrivals, users and their sessions, the connection cap, the connections and what
//! they carry, deadlines, and makes one [`Record`] of every request that fell due. One core plays open, partly open and
//! closed workloads and fixed work.
//!
//! A request under way has an identity of its own ([`RequestId`]), apart from the connection that carries it, which may carry
//! several. A request that is given up is cancelled; whether that costs the connection is the protocol's affair.
//!
//! No arrival waits for an answer before it starts, except at the connection cap. Arrivals that wait there are no queue:
//! they are the stretch of the plan between the cursor and now. Requests within sessions that wait are queued by session;
//! whichever fell due first starts first.
//!
//! Deliberately absent: clocks, sockets, bytes, and what a request holds or an answer means beyond its outcome.

mod again;
mod connections;
mod event;
mod fast_path;
mod group;
mod held;
mod in_flight;
mod lifecycle;
mod sessions;
mod shutdown;
mod stalls;
mod streamed;

pub use again::MOST_TIMES_AGAIN;
pub use connections::ConnectionId;
pub use event::{
    Action, ConnectionEvent, Limits, NO_SESSION, RequestEvent, RequestKey, SessionControl, SessionId,
};
pub use in_flight::RequestId;
pub use lifecycle::MIN_RETRY_DELAY;
pub use streamed::{Part, Streamed};

use crate::plan::{self, Plan};
use crate::shard::Shard;
use connections::{Connections, NONE};
use group::Group;
use headway_base::{Lateness, Nanos, Outcome, Record, RecordSink, Short, Stamp, Start};
use held::Held;
use in_flight::{InFlight, Phase};
use lifecycle::Sent;
use sessions::{Session, Sessions, State};
use stalls::Untold;
use std::collections::{BTreeMap, VecDeque};
use streamed::Streams;

/// How long after the end of the plan an arrival that fell due within it may still start. Long enough for the host's
/// usual hiccups, so that the last arrivals are not lost to one; beyond it, nothing new starts.
pub const GRACE: Nanos = Nanos::from_millis(10);

/// No instant is before this one.
const UNKNOWN: Nanos = Nanos(i64::MIN);

/// Plays one shard of a plan. `S` takes what it observes.
#[derive(Debug)]
pub struct Client<S> {
    groups: Vec<Group>,
    sessions: Sessions,
    /// What is due and cannot start, by origin.
    held: Vec<Held>,
    connections: Connections,
    in_flight: InFlight,
    /// What the world is to do next, before anything else.
    pending: VecDeque<Action>,
    limits: Limits,
    /// Last instant at which an arrival may start.
    last_start: Nanos,
    /// Last instant at which a request within a session that arrived may start.
    last_step: Nanos,
    /// When waiting for answers ends.
    give_up_at: Nanos,
    /// When the plan was joined: its zero, or later. No user of a closed group comes before.
    joined: Nanos,
    /// For how long the world stood still, where sockets are kept connecting.
    untold: Option<Untold>,
    stopping: bool,
    shard: u16,
    sink: S,
    /// Requests whose time was over, by how they ended and by origin.
    given_up: BTreeMap<(Outcome, u16), u64>,
    /// A run of never-started arrivals not yet written down.
    run: Option<Record>,
    /// A start that has not been passed to the sink: the caller may still report that there was nothing to send.
    deferred_start: Option<DeferredStart>,
    /// Before this instant there is nothing to look after but arrivals; [`UNKNOWN`] where that is not known.
    next_non_arrival: Nanos,
    /// When the next arrival of all groups is due (MAX: there is none), and of which it is: of those due at once that of the
    /// first group.
    next: (Nanos, usize),
    /// Where that arrival goes.
    next_origin: u16,
    /// Whether a note will do for a request that is a session of its own.
    notes: bool,
    /// How late the caller learned of the current event.
    unread: Short,
    /// Responses that come in parts.
    streams: Streams,
    ended: bool,
}

/// A start that has not been passed to the sink.
#[derive(Clone, Copy, Debug)]
struct DeferredStart {
    start: Start,
    session: SessionId,
    /// Whether a session, which is one to the sink, began with it.
    opens_session: bool,
}

/// Who is to start next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Who {
    /// The session at the head of those that wait.
    Waiting(SessionId),
    /// The next session of that group.
    Arrival(usize),
}

impl<S: RecordSink> Client<S> {
    /// A client that plays `shard` of the plan within `limits` and reports to `sink`.
    pub fn new(plan: &Plan, shard: Shard, limits: Limits, sink: S) -> Client<S> {
        // Users that are rejected at once retry at once: time has to pass in between.
        let limits = Limits { max_wait: limits.max_wait.max(Nanos(1)), ..limits };
        let groups: Vec<Group> = (0..plan.groups.len()).map(|g| Group::new(plan, g, shard)).collect();
        let untold = groups.iter().any(|group| group.connecting).then(Untold::default);
        let last_start = plan.end().saturating_add(GRACE);
        let sessions_go_on = groups.iter().any(|g| !g.is_closed() && g.has_sessions());
        let drain = if sessions_go_on { limits.drain } else { Nanos::ZERO };
        let last_step = last_start.saturating_add(drain);
        let mut client = Client {
            groups,
            sessions: Sessions::default(),
            held: vec![Held::default()],
            connections: Connections::new(limits.connections),
            in_flight: InFlight::default(),
            pending: VecDeque::new(),
            last_start,
            last_step,
            give_up_at: last_step.saturating_add(limits.timeout),
            limits,
            joined: Nanos::ZERO,
            untold,
            stopping: false,
            shard: shard.index() as u16,
            sink,
            given_up: BTreeMap::new(),
            run: None,
            deferred_start: None,
            next_non_arrival: UNKNOWN,
            next: (Nanos::MAX, 0),
            next_origin: 0,
            notes: false,
            unread: Short::ZERO,
            streams: Streams::default(),
            ended: false,
        };
        client.note_next();
        client.reach(plan.origins());
        client.expect_users(shard);
        client
    }

    /// The same for a caller that sends everything, so never reports [`Event::NotSent`], and keeps nothing for a session:
    /// a request that is a session of its own may then have none ([`NO_SESSION`]), and is passed to the sink as it starts.
    #[must_use]
    pub fn keeping_notes(mut self) -> Client<S> {
        self.notes = self.streams.is_empty();
        self
    }

    /// The same for a world in which a connection to each of the origins is expected to take that many requests at once: while one is
    /// being opened, further requests wait for it, and none is opened for each of them.
    #[must_use]
    pub fn expecting(mut self, streams: &[u32]) -> Client<S> {
        self.reach(streams.len());
        (0..).zip(streams).for_each(|(origin, &streams)| self.connections.expect(origin, streams));
        self
    }

    /// The same for a world in which each request opens a connection of its own, as far as there may be more and none stands idle;
    /// beyond that they are spread over those that stand.
    #[must_use]
    pub fn spreading(mut self) -> Client<S> {
        self.connections.spread();
        self
    }

    /// Joins at `now` a plan that has begun: what fell due before ends as unsent, and is returned as a number; users of closed groups and fixed work begin
    /// then. Arrivals keep their instants. To be called before anything else; again, where what fell due meanwhile is to be passed over too.
    pub fn join(&mut self, now: Nanos) -> u64 {
        let now = now.max(Nanos::ZERO);
        self.joined = now;
        self.groups.iter_mut().for_each(|group| group.join(now));
        self.note_next();
        let mut missed = 0;
        while self.next.0 < now {
            self.write_never_arrived(self.next.1, Outcome::Unsent, Nanos::ZERO, now);
            missed += 1;
        }
        self.flush_run();
        self.sessions.forget_timers();
        for user in self.sessions.all_in(State::Away) {
            self.expect_user(user, now);
        }
        missed
    }

    /// What to do at `now`, one action at a time; none: nothing until something happens or [`wake_at`](Client::wake_at).
    ///
    /// `now` is a clock read just before the call: it becomes the `started` stamp of the request whose first system
    /// call the returned action is.
    #[inline]
    pub fn poll(&mut self, now: Nanos) -> Option<Action> {
        self.tell_start();
        if now < self.next_non_arrival {
            if let Some((on, id, key)) = self.start_calm(now) {
                return Some(Action::Send(on, id, key));
            }
            // At the very end there are connections to close.
            let (due, _) = self.next;
            if now < due && due < Nanos::MAX {
                return None;
            }
        }
        self.poll_any(now)
    }

    /// [`poll`](Client::poll), whatever there is to do.
    fn poll_any(&mut self, now: Nanos) -> Option<Action> {
        self.next_non_arrival = UNKNOWN;
        if let Some(action) = self.pending.pop_front() {
            return Some(action);
        }
        if let Some(id) = self.in_flight.pop_expired(now) {
            return match self.in_flight.phase(id) {
                Phase::GivenBack => self.expire_given_back(id, now).or_else(|| self.poll_any(now)),
                _ => Some(self.expire(id, now)),
            };
        }
        if let Some(id) = self.connections.take_orphan() {
            return Some(self.close(id, now));
        }
        if let Some(action) = self.send_again(now) {
            return Some(action);
        }
        loop {
            while let Some(session) = self.sessions.pop_timer(now) {
                if let Some(action) = self.timer(session, now) {
                    return Some(action);
                }
            }
            if self.held.len() > 1 {
                match self.sort_out(now) {
                    (_, Some(action)) => return Some(action),
                    (true, None) => continue,
                    (false, None) => {}
                }
            }
            let Some((due, who)) = self.next_held() else { return self.wind_down(now) };
            if due > now && !self.stopping {
                self.cache_next_event();
                return None;
            }
            let action = if self.is_too_late(who, now) {
                self.never_start(who, now)
            } else if self.can_start(who) {
                self.start_next(who, now)
            } else if due.saturating_add(self.limits.max_wait) <= now {
                self.shed(who, now)
            } else {
                return None;
            };
            if action.is_some() {
                return action;
            }
        }
    }

    /// When [`poll`](Client::poll) has something to do next if nothing happens; `Nanos::MAX` for never.
    #[inline]
    pub fn wake_at(&self) -> Nanos {
        if !self.pending.is_empty() || self.can_send_again() {
            return Nanos::ZERO;
        }
        let held = match self.next_held() {
            None => Nanos::MAX,
            Some(_) if self.held.len() > 1 => self.wake_for_held(),
            Some((due, who)) if self.can_start(who) => due,
            // At the cap nothing can start: the next thing due is giving up, not sending.
            Some((due, who)) => self.patience_ends(due, who),
        };
        self.next_other_event().min(held)
    }

    /// When a request that was due then and cannot start is given up.
    #[inline]
    fn patience_ends(&self, due: Nanos, who: Who) -> Nanos {
        due.saturating_add(self.limits.max_wait).min(self.last_of(who).saturating_add(Nanos(1)))
    }

    /// When the next session arrives, whether it can start then or not; `Nanos::MAX` for never.
    #[inline]
    pub fn next_arrival(&self) -> Nanos {
        self.next.0
    }

    /// Before this instant nothing is to be done but at arrivals, unless something happens; before all instants where that is
    /// not known.
    #[inline]
    pub fn next_non_arrival(&self) -> Nanos {
        self.next_non_arrival
    }

    /// When a timer, a deadline or the end of patience comes up.
    #[inline]
    fn next_other_event(&self) -> Nanos {
        let timer = self.sessions.next_timer().map_or(Nanos::MAX, |(at, _)| at);
        timer.min(self.give_up_at).min(self.in_flight.next_deadline())
    }

    /// Whether the next thing due is a request that could go out on time: worth polling the clock for.
    #[inline]
    pub fn is_poised(&self) -> bool {
        let own = |(_, id): (Nanos, SessionId)| self.sessions.get(id).connection != NONE;
        match self.sessions.next_timer() {
            Some(timer) if own(timer) => true,
            Some((_, id)) => self.can_start(Who::Waiting(id)),
            None => self.next_held().is_some_and(|(_, who)| self.can_start(who)),
        }
    }

    /// Whether the next start would open a connection, because none is idle. A world that may not have heard yet of
    /// answers that came does well to look first: opening costs many times a look. Not where each request opens its own anyway.
    #[inline]
    pub fn would_open(&self) -> bool {
        // Of several origins, which one is next is known only when what cannot start is set aside or given up.
        if self.held.len() > 1 || self.any_given_back() {
            return true;
        }
        let held = self.next_held();
        let timer = self.sessions.next_timer().filter(|timer| held.is_none_or(|(due, _)| timer.0 <= due));
        let (has_own, who) = match (timer, held) {
            (Some((_, id)), _) => (self.sessions.get(id).connection != NONE, Who::Waiting(id)),
            (None, Some((_, who))) => (false, who),
            (None, None) => return false,
        };
        !has_own
            && match self.groups[usize::from(self.group_number(who))].connections {
                plan::Connections::PerRequest => false,
                plan::Connections::PerUser => true,
                plan::Connections::Shared => !self.connections.has_available(self.origin_of(who)),
            }
    }

    /// Events reported from now on had happened this long before: the caller's own delay, which goes into the records of the requests
    /// that end by it.
    #[inline]
    pub fn read_late(&mut self, by: Short) {
        self.unread = by;
    }

    /// Something happened to a connection; the answer is what to do about it at once.
    pub fn on_connection(&mut self, id: ConnectionId, event: ConnectionEvent, now: Nanos) -> Option<Action> {
        self.next_non_arrival = UNKNOWN;
        match event {
            ConnectionEvent::Established { connect, tls, capacity, settled } => {
                self.tell_start();
                let request = self.connections.opening_for(id)?;
                if self.in_flight.is_again(request) {
                    self.connections.established(id, capacity, settled, now);
                    if self.connections.is_open_to_all(id) && capacity > 1 {
                        self.came_free(self.connections.origin(id), now);
                    }
                    let key = self.established_again(request, (connect, tls), now);
                    return Some(Action::Send(id, request, key));
                }
                let record = self.in_flight.record_mut(request);
                record.connect = connect.into();
                record.tls = tls.into();
                record.sent = now.into();
                let stood = record.started.get().unwrap_or(now) + connect + tls.unwrap_or(Nanos::ZERO);
                self.in_flight.sent(request, now.saturating_add(self.limits.timeout));
                self.connections.established(id, capacity, settled, now);
                if self.connections.is_open_to_all(id) && capacity > 1 {
                    self.came_free(self.connections.origin(id), now);
                }
                if self.group_of(self.in_flight.session(request)).connecting {
                    self.hand_off(request, stood.min(now), now);
                }
                let key = self.sending(self.in_flight.session(request));
                Some(Action::Send(id, request, key))
            }
            ConnectionEvent::Failed(outcome) => {
                let request = self.connections.opening_for(id)?;
                if outcome == Outcome::LocalLimit {
                    self.take_back(request);
                } else {
                    self.tell_start();
                }
                Some(self.end_unsent(request, outcome, now))
            }
            ConnectionEvent::Capacity(capacity) if capacity > 0 => {
                self.tell_start();
                self.connections.set_capacity(id, capacity);
                if self.connections.is_open_to_all(id) {
                    self.came_free(self.connections.origin(id), now);
                }
                None
            }
            ConnectionEvent::Capacity(_) | ConnectionEvent::Draining => {
                self.tell_start();
                if !self.connections.drain(id) {
                    return None;
                }
                if !self.pending.is_empty() {
                    // Requests on it may have been given up whose cancelling is still to be asked for: that comes first.
                    self.connections.orphan(id);
                    return None;
                }
                if self.connections.owner(id).is_some() {
                    return Some(self.close(id, now));
                }
                // It was idle, so that no request has been waiting for it.
                self.connections.close(id);
                Some(Action::Disconnect(id))
            }
        }
    }

    /// Something happened to a request; the answer is what to do about it at once.
    #[inline]
    pub fn on_request(&mut self, id: RequestId, event: RequestEvent, now: Nanos) -> Option<Action> {
        if !self.in_flight.is_under_way(id) {
            // It was given up, and is about to be cancelled.
            return None;
        }
        self.write_out(id);
        match event {
            RequestEvent::FirstByte => {
                self.tell_start();
                // It may be that of an informational response (103), after which the target works on: the idle timeout waits for
                // progress.
                self.note_first_byte(id, now);
                None
            }
            RequestEvent::Part(part) => {
                self.tell_start();
                self.part(id, part, now);
                None
            }
            RequestEvent::Progress => {
                self.tell_start();
                self.progressed(id, now);
                None
            }
            RequestEvent::Done { outcome, status, bytes_received, then } => {
                self.tell_start();
                if outcome == Outcome::RefusedStream && self.sends_again(id) {
                    return self.give_back(id, bytes_received, now);
                }
                let record = self.in_flight.record_mut(id);
                record.status = status;
                record.bytes_received = bytes_received;
                record.unread = self.unread;
                self.end(id, outcome, then, now)
            }
            RequestEvent::NotSent { outcome, then } => {
                self.next_non_arrival = UNKNOWN;
                self.in_flight.record_mut(id).sent = Stamp::NONE;
                self.take_back(id);
                let (session, connection) = self.finish(id, outcome, now);
                let close = self.set_free(connection, session, now);
                let next = self.go_on(session, outcome, Sent::No, then, now);
                self.both(close, next)
            }
            RequestEvent::Sent(bytes) => {
                self.tell_start();
                self.in_flight.record_mut(id).bytes_sent = bytes;
                None
            }
        }
    }

    #[inline]
    fn note_first_byte(&mut self, id: RequestId, now: Nanos) {
        let record = self.in_flight.record_mut(id);
        if !record.first_byte.is_some() {
            record.first_byte = now.into();
        }
    }

    /// The whole answer came at once: [`RequestEvent::FirstByte`] and [`RequestEvent::Done`] in one, for worlds that read no
    /// bytes. The session goes on by its journey.
    #[inline]
    pub fn answered(&mut self, id: RequestId, outcome: Outcome, status: u16, now: Nanos) -> Option<Action> {
        self.tell_start();
        if outcome == Outcome::RefusedStream && self.in_flight.is_under_way(id) && self.sends_again(id) {
            return self.give_back(id, 0, now);
        }
        if let Some(note) = self.in_flight.noted(id)
            && !self.connections.is_draining(self.in_flight.connection(id))
        {
            self.end_noted(id, &note, outcome, status, now);
            return None;
        }
        if !self.in_flight.is_under_way(id) {
            return None;
        }
        self.write_out(id);
        self.note_first_byte(id, now);
        let record = self.in_flight.record_mut(id);
        record.status = status;
        record.unread = self.unread;
        self.end(id, outcome, SessionControl::Continue, now)
    }

    /// The answer to this request is complete, or went wrong.
    #[inline]
    fn end(&mut self, id: RequestId, outcome: Outcome, then: SessionControl, now: Nanos) -> Option<Action> {
        let plain = then == SessionControl::Continue && self.is_plain(id);
        if plain && !self.connections.is_draining(self.in_flight.connection(id)) {
            self.end_plain(id, outcome, now);
            return None;
        }
        self.next_non_arrival = UNKNOWN;
        let (session, connection) = self.finish(id, outcome, now);
        let close = self.set_free(connection, session, now);
        let next = self.go_on(session, outcome, Sent::Yes, then, now);
        self.both(close, next)
    }

    /// One after the other: a session may leave with one connection closed under it, and have another to close.
    #[inline]
    fn both(&mut self, first: Option<Action>, second: Option<Action>) -> Option<Action> {
        if first.is_some() {
            self.pending.extend(second);
        }
        first.or(second)
    }

    /// When this request was due.
    #[inline]
    pub fn intended(&self, id: RequestId) -> Nanos {
        self.in_flight.intended(id)
    }

    /// The connection that carries this request.
    #[inline]
    pub fn connection(&self, id: RequestId) -> ConnectionId {
        self.in_flight.connection(id)
    }

    /// Tells the sink what time it is: at least ten times a second.
    #[inline]
    pub fn tick(&mut self, now: Nanos) {
        self.tell_start();
        while let Some(origin) = self.connections.give_up_hearing(self.limits.connect_timeout, now) {
            self.next_non_arrival = UNKNOWN;
            self.came_free(origin, now);
        }
        self.sink.tick(now);
    }

    /// Whether the sink wants nothing more.
    #[inline]
    pub fn has_enough(&self) -> bool {
        self.sink.has_enough()
    }

    /// Whether every request that fell due has ended.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.next.0 == Nanos::MAX && self.is_deserted()
    }

    /// Whether there is no session, and no noted request, which would be one.
    #[inline]
    fn is_deserted(&self) -> bool {
        self.sessions.live() == 0 && self.in_flight.live() == 0
    }

    /// The bounds that it keeps.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Requests of these steps of the session go to the origins of these numbers, as what it extracted leads there; in place of what was told
    /// before. Those of other steps go where the journey says. Holds until the session, or round of a user, is over.
    #[inline]
    pub fn lead(&mut self, session: SessionId, leads: Vec<(u16, u16)>) {
        // Before the steps fall due: what is said of the next start rests on how many origins there are.
        let most = leads.iter().map(|(_, origin)| usize::from(*origin)).max().unwrap_or(0);
        self.reach(most + 1);
        self.sessions.lead(session, leads);
    }

    /// Requests whose time was over, by how they ended ([`Outcome::Timeout`], [`Outcome::IdleTimeout`],
    /// [`Outcome::ConnectTimeout`]) and the number of the origin that
    /// they went to.
    pub fn given_up(&self) -> &BTreeMap<(Outcome, u16), u64> {
        &self.given_up
    }

    /// Requests in flight, and connections being opened for one.
    pub fn in_flight(&self) -> u32 {
        self.in_flight.live()
    }

    /// Whether requests of that group without a connection open their own.
    #[inline]
    fn opens_own(&self, group: u16) -> bool {
        self.groups[usize::from(group)].connections.are_own()
    }

    /// Whether that request starts on a new connection, which is to be its session's or its own.
    #[inline]
    fn needs_own(&self, who: Who) -> bool {
        self.opens_own(self.group_number(who))
    }

    /// Whose request it is.
    #[inline]
    fn group_number(&self, who: Who) -> u16 {
        match who {
            Who::Waiting(id) => self.sessions.get(id).group,
            Who::Arrival(group) => group as u16,
        }
    }

    /// Where that request goes.
    #[inline]
    fn origin_of(&self, who: Who) -> u16 {
        match who {
            Who::Waiting(id) => self.sessions.get(id).origin,
            Who::Arrival(_) => self.next_origin,
        }
    }

    /// Whether there is a connection for that request, or can be.
    #[inline]
    fn can_start(&self, who: Who) -> bool {
        self.connections.can_start(self.origin_of(who), self.needs_own(who))
    }

    /// What is due or will be next, apart from timers: of those that wait and the next arrival of each group the one due
    /// first.
    #[inline]
    fn next_held(&self) -> Option<(Nanos, Who)> {
        if self.held.len() == 1 { self.next_held_of(0) } else { self.next_held_of_all() }
    }

    /// The next arrival of a group has been dealt with.
    #[inline(always)]
    fn advance(&mut self, group: usize) {
        self.groups[group].advance();
        self.note_next();
    }

    /// A group has another next arrival.
    #[inline]
    fn note_next(&mut self) {
        let due = |group: &Group| group.next.map_or(Nanos::MAX, |arrival| arrival.intended);
        if let [only] = &self.groups[..] {
            self.next = (due(only), 0);
        } else {
            let mut next = (Nanos::MAX, 0);
            for (number, group) in self.groups.iter().enumerate() {
                if due(group) < next.0 {
                    next = (due(group), number);
                }
            }
            self.next = next;
        }
        if self.held.len() > 1 {
            self.next_origin = self.groups[self.next.1].next_origin();
        }
    }

    /// Last instant at which that request may start.
    #[inline]
    fn last_of(&self, who: Who) -> Nanos {
        match who {
            Who::Arrival(group) => self.groups[group].stopped.unwrap_or(Nanos::MAX).min(self.last_start),
            Who::Waiting(id) if self.group_of(id).is_closed() => self.last_start,
            Who::Waiting(id) if self.is_set_aside(id) => {
                self.group_of(id).stopped.unwrap_or(Nanos::MAX).min(self.last_start)
            }
            Who::Waiting(_) => self.last_step,
        }
    }

    /// Whether that request cannot start any more: time is over, or its group has stopped before it began.
    #[inline]
    fn is_too_late(&self, who: Who, now: Nanos) -> bool {
        let refused = match who {
            Who::Arrival(group) => self.groups[group].refuses(0),
            Who::Waiting(id) => {
                let (group, session) = (self.group_of(id), self.sessions.get(id));
                // What was asked for is looked for to the end, wherever redirects lead.
                group.refuses(session.ordinal) && !group.journey.is_redirected(session.step)
            }
        };
        refused || self.stopping || now > self.last_of(who)
    }

    /// A request's deadline has passed.
    fn expire(&mut self, id: RequestId, now: Nanos) -> Action {
        self.write_out(id);
        let connecting = self.in_flight.phase(id) == Phase::Connecting;
        let all_over = self.in_flight.is_again(id) && self.in_flight.attempt(id).deadline <= now;
        let outcome = match connecting && !all_over {
            true => Outcome::ConnectTimeout,
            false if self.streams.stands_still(id, now) => Outcome::IdleTimeout,
            false => Outcome::Timeout,
        };
        let origin = self.connections.origin(self.in_flight.connection(id));
        *self.given_up.entry((outcome, origin)).or_default() += 1;
        if connecting {
            return self.end_unsent(id, outcome, now);
        }
        let (session, connection) = self.finish(id, outcome, now);
        // What it takes will not be known soon: nobody else is to wait for that.
        if self.connections.is_mute(connection) {
            self.connections.await_no_longer(connection);
            self.came_free(origin, now);
        }
        let close = self.set_free(connection, session, now);
        let next = self.go_on(session, outcome, Sent::Yes, SessionControl::Continue, now);
        self.pending.extend(close.into_iter().chain(next));
        Action::Cancel(connection, id)
    }

    /// The connection that was being opened for a request could not be had: both are over.
    fn end_unsent(&mut self, id: RequestId, outcome: Outcome, now: Nanos) -> Action {
        // It may have been, before it was given back.
        let before = self.in_flight.is_again(id) && outcome != Outcome::LocalLimit;
        let sent = if before { Sent::Yes } else { Sent::No };
        let (session, connection) = self.finish(id, outcome, now);
        let close = self.close(connection, now);
        let next = self.go_on(session, outcome, sent, SessionControl::Continue, now);
        self.pending.extend(next);
        close
    }

    /// If the start of this request is still deferred, nothing reached a socket: it has not begun.
    fn take_back(&mut self, id: RequestId) {
        let session = self.in_flight.session(id);
        if self.deferred_start.take_if(|deferred_start| deferred_start.session == session).is_some() {
            let record = self.in_flight.record_mut(id);
            (record.started, record.wait, record.reused) = (Stamp::NONE, Nanos::ZERO, false);
            self.sessions.of(session).did_not_begin();
        }
        self.tell_start();
    }

    /// Writes down how a request ended, and frees its slot; whose it was, and on which connection, which still carries it.
    #[inline]
    fn finish(&mut self, id: RequestId, outcome: Outcome, now: Nanos) -> (SessionId, ConnectionId) {
        let mut record = *self.in_flight.record(id);
        let (session, connection) = (self.in_flight.session(id), self.in_flight.connection(id));
        if outcome == Outcome::LocalLimit {
            // The write itself found no room: no byte of it left.
            record.sent = Stamp::NONE;
        }
        record.done = now;
        record.outcome = outcome;
        record.connection = self.number_of(connection, &record);
        if let Some(row) = self.last_attempt(id, &record) {
            self.write(row);
        }
        if !self.streams.is_empty() {
            self.ends_streamed(id, &record);
        }
        self.write(record);
        self.in_flight.end(id);
        (session, connection)
    }

    /// The row of a request, with a span for which the world stood still if there is one to tell.
    #[inline]
    fn write(&mut self, mut record: Record) {
        if let Some(untold) = &mut self.untold {
            record.stood_still = untold.tell();
        }
        self.sink.record(record);
    }

    fn close(&mut self, id: ConnectionId, now: Nanos) -> Action {
        let origin = self.connections.origin(id);
        if let Some(owner) = self.connections.owner(id) {
            self.sessions.lose(owner, origin, id);
        }
        self.connections.close(id);
        self.came_free(origin, now);
        Action::Disconnect(id)
    }

    /// A session's next request starts: its record so far, passed to the sink.
    #[inline]
    fn begin(&mut self, id: SessionId, now: Nanos) -> Record {
        self.flush_run();
        // What is late on a connection of its own is the generator's lateness.
        let Session { due, connection, origin, .. } = *self.sessions.get(id);
        let wait = if connection == NONE { self.waited(origin, due, now) } else { Nanos::ZERO };
        let record = Record { started: now.into(), wait, ..self.record(id, now, Outcome::Unfinished) };
        let Record { intended, arrived, step, due, .. } = record;
        let start = Start { intended, started: now, wait, arrived, step, due };
        let opens_session = self.began(id, now);
        self.tell_start();
        self.deferred_start = Some(DeferredStart { start, session: id, opens_session });
        record
    }

    /// The longest that the world is to sleep, so that it notices when it stood still while nothing was due: the eighth part of the lateness
    /// that an attempt forgives, and 1 ms at least, where sockets are kept connecting.
    pub fn longest_sleep(&self) -> Nanos {
        let forgiven = Lateness::of(self.limits.connect_timeout).length();
        self.untold.as_ref().map_or(Nanos::MAX, |_| Nanos(forgiven.0 / 8).max(Lateness::DEFAULT.length()))
    }

    /// Tells the sink of the last start.
    #[inline]
    fn tell_start(&mut self) {
        if let Some(DeferredStart { start, opens_session, .. }) = self.deferred_start.take() {
            self.sink.start(start);
            if opens_session {
                self.sink.users(start.started, 1);
            }
        }
    }
}
