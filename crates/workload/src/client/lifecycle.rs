//! How sessions go: users come and go, rounds begin, requests fall due, start, and lead to the next.

use super::connections::NONE;
use super::group::Group;
use super::sessions::{Session, State};
use super::{Action, Client, ConnectionId, RequestId, RequestKey, SessionControl, SessionId, Who};
use crate::journey::Next;
use crate::plan::{self, OnFailure};
use crate::shard::Shard;
use headway_base::{Kind, Nanos, Outcome, Record, RecordSink, Trigger};

/// Least time until the next request of a session after one of which nothing was sent: a session without a connection, or with
/// nothing to send, and does not think would otherwise try again as fast as the machine goes.
pub const MIN_RETRY_DELAY: Nanos = Nanos::from_millis(1);

/// Whether a request went out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sent {
    Yes,
    No,
}

impl Sent {
    fn min_delay(self) -> Nanos {
        if self == Sent::No { MIN_RETRY_DELAY } else { Nanos::ZERO }
    }
}

impl<S: RecordSink> Client<S> {
    /// Every user of a closed group of this shard starts when the level has room for it.
    pub(super) fn expect_users(&mut self, shard: Shard) {
        for number in 0..self.groups.len() {
            let Some(level) = self.groups[number].level.clone() else { continue };
            for user in (0..level.most()).filter(|&u| shard.keeps_user(u)) {
                let session = Session { user, ..Session::new(number as u16, u64::from(user), Nanos::ZERO) };
                let id = self.sessions.begin(session);
                self.expect_user(id, Nanos(-1));
            }
        }
    }

    /// The user starts at the beginning of its next stay that ends after `after`, or never again.
    pub(super) fn expect_user(&mut self, id: SessionId, after: Nanos) {
        let session = *self.sessions.get(id);
        let group = &self.groups[usize::from(session.group)];
        let stay = group.level.as_ref().and_then(|level| level.stay(session.user, after));
        // A user that is still busy when it is to start again starts as soon as it is not.
        let offset = group.offset(session.user, self.limits.connect_timeout);
        let stay =
            stay.map(|stay| ((stay.from.max(self.joined) + offset).max(after), stay.to.min(self.last_start)));
        match stay.filter(|(from, _)| *from < self.last_start && !group.is_spent()) {
            Some((from, to)) => {
                let session = self.sessions.of(id);
                (session.due, session.leaves) = (from, to);
                self.sessions.wake(id, from, State::Away);
            }
            None => self.sessions.end(id),
        }
    }

    /// A timer came up.
    #[inline]
    pub(super) fn timer(&mut self, id: SessionId, now: Nanos) -> Option<Action> {
        match self.sessions.get(id).state {
            State::Away => {
                self.sink.users(now, 1);
                let from = self.sessions.get(id).due;
                self.begin_round(id, from, now)
            }
            State::Leaving => self.leave(id, now),
            State::Thinking => self.fall_due(id, now),
            State::Free | State::Waiting | State::Busy | State::HandedOff => None,
        }
    }

    /// The session's next request is due: it starts on a connection of its own, or takes its place among those that wait.
    #[inline]
    fn fall_due(&mut self, id: SessionId, now: Nanos) -> Option<Action> {
        if let Some(origin) = self.sessions.led(id) {
            self.sessions.turn_to(id, origin);
        }
        let own = self.sessions.get(id).connection;
        if own != NONE && !self.is_too_late(Who::Waiting(id), now) {
            let record = self.begin(id, now);
            self.connections.load(own);
            return Some(self.send_on(own, id, record, now));
        }
        let origin = self.sessions.get(id).origin;
        if !self.connections.can_open(origin) {
            self.release_others(id);
        }
        self.wait(id);
        None
    }

    /// Starts the request that is next, for which there is a connection. None if it came to nothing.
    #[inline]
    pub(super) fn start_next(&mut self, who: Who, now: Nanos) -> Option<Action> {
        let id = match who {
            Who::Waiting(id) => {
                if let Some(close) = self.make_room(who) {
                    return Some(close);
                }
                self.held_mut(self.sessions.get(id).origin).waiting.pop_front();
                id
            }
            Who::Arrival(group) => {
                if let Some(close) = self.make_room(who) {
                    return Some(close);
                }
                self.admit(group)?
            }
        };
        let Session { group, origin, .. } = *self.sessions.get(id);
        let connections = self.groups[usize::from(group)].connections;
        let record = self.begin(id, now);
        let action = match if connections.are_own() { None } else { self.connections.take(origin) } {
            Some(on) => self.send_on(on, id, record, now),
            None => {
                let own = connections == plan::Connections::PerUser;
                let single = connections == plan::Connections::PerRequest;
                let request = self.in_flight.next_id();
                let connection = self.connections.open(origin, request, own.then_some(id), single);
                if own {
                    self.sessions.of(id).connection = connection;
                }
                let deadline = match self.group_of(id).connecting {
                    true => self.attempt_over(record.intended, now),
                    false => now.saturating_add(self.limits.connect_timeout),
                };
                self.in_flight.connect(connection, id, record, deadline);
                Action::Connect(connection, origin)
            }
        };
        self.note_full(now);
        Some(action)
    }

    /// Where a request needs a connection that none can be opened for, an idle one of the others goes.
    #[inline]
    fn make_room(&mut self, who: Who) -> Option<Action> {
        self.connections.make_room(self.origin_of(who), self.needs_own(who)).map(Action::Disconnect)
    }

    /// The next session of the group comes; none if its journey holds no request for it.
    #[inline]
    pub(super) fn admit(&mut self, number: usize) -> Option<SessionId> {
        let arrival = self.groups[number].next?;
        self.advance(number);
        let group = &self.groups[number];
        let mut session = Session::new(number as u16, arrival.k, arrival.intended);
        let Next::Ask(ask) = group.journey.next(&mut session.cursor, group.draws, arrival.k) else {
            return None;
        };
        (session.step, session.repeat, session.origin) =
            (ask.step, ask.repeat, group.journey.origin(ask.step));
        Some(self.sessions.begin(session))
    }

    /// Sends on a connection that carries the request already.
    #[inline]
    fn send_on(&mut self, on: ConnectionId, id: SessionId, mut record: Record, now: Nanos) -> Action {
        record.sent = now.into();
        record.reused = true;
        let key = self.sending(id);
        let request = self.in_flight.send(on, id, record, now.saturating_add(self.limits.timeout));
        Action::Send(on, request, key)
    }

    /// The session's current request.
    pub(super) fn sending(&mut self, id: SessionId) -> RequestKey {
        let session = self.sessions.of(id);
        let group = &self.groups[usize::from(session.group)];
        let (closed, redirected) = (group.is_closed(), group.journey.is_redirected(session.step));
        let ordinal = session.sent - u32::from(redirected);
        session.sent += u32::from(!redirected);
        RequestKey {
            session: id,
            k: session.k,
            user: if closed { u64::from(session.user) } else { session.k },
            iteration: session.iteration,
            ordinal,
            repeat: session.repeat,
            step: session.step,
            group: session.group,
        }
    }

    /// The record of the session's present request, not started yet.
    pub(super) fn record(&self, id: SessionId, now: Nanos, outcome: Outcome) -> Record {
        let session = self.sessions.get(id);
        let due = match (self.group_of(id).is_closed(), session.goes_on) {
            (true, _) => Trigger::User,
            (false, false) => Trigger::Arrival,
            (false, true) => Trigger::Step,
        };
        Record {
            arrived: if due == Trigger::User { session.due } else { session.arrived },
            user: session.user,
            repeat: session.repeat,
            group: session.group,
            step: session.step,
            shard: self.shard,
            due,
            ..Record::never_started(session.k, session.due, now, outcome)
        }
    }

    pub(super) fn group_of(&self, id: SessionId) -> &Group {
        &self.groups[usize::from(self.sessions.get(id).group)]
    }

    /// The session's request has begun. Whether a session came with it, which is one to the sink.
    #[inline]
    pub(super) fn began(&mut self, id: SessionId, now: Nanos) -> bool {
        let session = self.sessions.of(id);
        session.state = State::Busy;
        session.ordinal += 1;
        let first = !session.began.is_some();
        if first {
            session.began = now.into();
        }
        let number = usize::from(session.group);
        let group = &mut self.groups[number];
        let opens_session = first && group.has_sessions() && !group.is_closed();
        // The work counts what is asked for, wherever that is found.
        let counts = !group.journey.is_redirected(session.step);
        if let Some(left) = group.left.as_mut().filter(|_| counts) {
            *left -= 1;
            if *left == 0 {
                self.dismiss(number, now);
            }
        }
        opens_session
    }

    /// A request on this connection has ended: it is free for another, or closed if it takes none.
    #[inline]
    pub(super) fn set_free(&mut self, id: ConnectionId, session: SessionId, now: Nanos) -> Option<Action> {
        if self.connections.unload(id) {
            return Some(self.close(id, now));
        }
        if self.sessions.get(session).connection != id {
            self.came_free(self.connections.origin(id), now);
        }
        None
    }

    /// The session's request ended like that, after `sent`: what comes next.
    #[inline]
    pub(super) fn go_on(
        &mut self,
        id: SessionId,
        outcome: Outcome,
        sent: Sent,
        then: SessionControl,
        now: Nanos,
    ) -> Option<Action> {
        let session = self.sessions.of(id);
        let number = usize::from(session.group);
        // That its data has run out, and what that means, the scenario says: no failure.
        let ends = matches!(then, SessionControl::EndSession | SessionControl::StopGroup);
        let passed_over = outcome == Outcome::Unsent && ends;
        if outcome != Outcome::Ok && !passed_over && session.failed.is_none() {
            session.failed = Some(outcome);
        }
        if then == SessionControl::StopGroup && self.groups[number].stopped.is_none() {
            self.groups[number].stop(now);
            self.note_next();
            self.dismiss(number, now);
        }
        let redirected = match then {
            SessionControl::Redirect(to) => {
                let step = self.groups[number].journey.redirected(self.sessions.get(id).step);
                step.map(|step| (step, to))
            }
            _ => None,
        };
        if let Some((step, to)) = redirected {
            let session = self.sessions.of(id);
            if self.stopping {
                session.failed.get_or_insert(Outcome::Unfinished);
                return self.session_over(id, Nanos::ZERO, now);
            }
            (session.step, session.goes_on) = (step, true);
            self.reach(usize::from(to) + 1);
            self.sessions.turn_to(id, to);
            return self.think_until(id, now, now);
        }
        let ends =
            ends || (outcome != Outcome::Ok && self.groups[number].on_failure == OnFailure::EndSession);
        if ends {
            return self.session_over(id, Nanos::ZERO, now);
        }
        let group = &self.groups[number];
        let session = self.sessions.of(id);
        match group.journey.next(&mut session.cursor, group.draws, session.k) {
            Next::Ask(_) if self.stopping || group.refuses(session.ordinal) => {
                session.failed.get_or_insert(Outcome::Unfinished);
                self.session_over(id, Nanos::ZERO, now)
            }
            Next::Ask(ask) => {
                (session.step, session.repeat, session.goes_on) = (ask.step, ask.repeat, true);
                self.sessions.turn_to(id, group.journey.origin(ask.step));
                self.think_until(id, now.saturating_add(ask.think.max(sent.min_delay())), now)
            }
            Next::Over(pause) => self.session_over(id, pause.max(sent.min_delay()), now),
        }
    }

    /// The session's next request is due at `due`, if it is still to be made then.
    fn think_until(&mut self, id: SessionId, due: Nanos, now: Nanos) -> Option<Action> {
        let closed = self.group_of(id).is_closed();
        let session = self.sessions.of(id);
        session.due = due;
        let leaves = session.leaves;
        if closed && due >= leaves {
            if leaves <= now {
                return self.leave(id, now);
            }
            self.sessions.wake(id, leaves, State::Leaving);
        } else if !closed && due > self.last_step {
            self.sessions.of(id).failed.get_or_insert(Outcome::Unfinished);
            // As long as the plan lasts the user is there, and thinks; afterwards a user without a further request is not awaited.
            if now >= self.last_start {
                return self.depart(id, now);
            }
            self.sessions.wake(id, self.last_start, State::Leaving);
        } else {
            self.sessions.wake(id, due, State::Thinking);
        }
        None
    }

    /// The journey is over: a user of a closed group begins the next after `pause`, a session that arrived is done.
    fn session_over(&mut self, id: SessionId, pause: Nanos, now: Nanos) -> Option<Action> {
        let session = *self.sessions.get(id);
        let group = &self.groups[usize::from(session.group)];
        if session.state == State::HandedOff {
            return self.leave(id, now);
        }
        if !group.is_closed() {
            return self.depart(id, now);
        }
        let base = match group.connecting {
            // An attempt that failed before its time is over is not replaced before then: a target that refuses would be sent as many as this
            // machine can make.
            true => match session.began.get() {
                Some(began) => self.attempt_over(session.due, began),
                None => now.saturating_add(self.limits.connect_timeout),
            },
            false => now.saturating_add(pause).max(session.arrived.saturating_add(group.pace(session.k))),
        };
        self.write_session(id, now);
        if self.stopping || self.group_of(id).is_spent() || session.leaves <= now {
            return self.leave(id, now);
        }
        self.next_round(id, base, now)
    }

    /// When the attempt of a socket that is kept connecting is given up, and the next one due: the connect timeout after it was due, so that
    /// sockets stay as far apart as they began. An attempt that began late lasts half of that at least.
    fn attempt_over(&self, due: Nanos, began: Nanos) -> Nanos {
        let timeout = self.limits.connect_timeout;
        due.max(began - Nanos(timeout.0 / 2)).saturating_add(timeout)
    }

    /// The socket that has connected for this request connects for the next one, which was due when its connection `stood`; the request goes on
    /// by itself.
    pub(super) fn hand_off(&mut self, request: RequestId, stood: Nanos, now: Nanos) {
        let socket = self.in_flight.session(request);
        let session = Session { state: State::HandedOff, ..*self.sessions.get(socket) };
        let alone = self.sessions.begin(session);
        self.in_flight.hand_over(request, alone);
        self.next_round(socket, stood, now);
    }

    /// A user begins the next journey at `base`.
    fn next_round(&mut self, id: SessionId, base: Nanos, now: Nanos) -> Option<Action> {
        let stride = self.group_of(id).stride;
        let next = self.sessions.of(id);
        next.iteration += 1;
        next.k = u64::from(next.user) + stride * u64::from(next.iteration);
        self.begin_round(id, base, now)
    }

    /// A user begins a journey at `from`, with a time to think before its first request.
    fn begin_round(&mut self, id: SessionId, from: Nanos, now: Nanos) -> Option<Action> {
        let group = &self.groups[usize::from(self.sessions.get(id).group)];
        let session = self.sessions.of(id);
        *session = Session {
            user: session.user,
            leaves: session.leaves,
            iteration: session.iteration,
            origin: session.origin,
            connection: session.connection,
            ..Session::new(session.group, session.k, from)
        };
        match group.journey.next(&mut session.cursor, group.draws, session.k) {
            Next::Ask(ask) => {
                (session.step, session.repeat) = (ask.step, ask.repeat);
                self.sessions.lead(id, Vec::new());
                self.sessions.turn_to(id, group.journey.origin(ask.step));
                self.think_until(id, from.saturating_add(ask.think), now)
            }
            // No journey is without a request: see `JourneyError::MayBeEmpty`.
            Next::Over(_) => self.leave(id, now),
        }
    }

    /// A user of a closed group goes, perhaps to come back.
    pub(super) fn leave(&mut self, id: SessionId, now: Nanos) -> Option<Action> {
        if self.sessions.get(id).state == State::HandedOff {
            self.sessions.end(id);
            return None;
        }
        if !self.group_of(id).is_closed() {
            return self.depart(id, now);
        }
        if self.sessions.get(id).ordinal > 0 {
            // In the middle of a round.
            self.sessions.of(id).failed.get_or_insert(Outcome::Unfinished);
            self.write_session(id, now);
        }
        self.sink.users(now, -1);
        let close = self.disown(id, now);
        let stride = self.group_of(id).stride;
        let session = self.sessions.of(id);
        session.iteration += 1;
        session.k = u64::from(session.user) + stride * u64::from(session.iteration);
        (session.ordinal, session.failed) = (0, None);
        if self.stopping {
            self.sessions.end(id);
        } else {
            let after = session.leaves.max(now);
            self.expect_user(id, after);
        }
        close
    }

    /// A session that arrived is over.
    pub(super) fn depart(&mut self, id: SessionId, now: Nanos) -> Option<Action> {
        let close = self.disown(id, now);
        self.write_session(id, now);
        if self.group_of(id).has_sessions() && self.sessions.get(id).began.is_some() {
            self.sink.users(now, -1);
        }
        self.sessions.end(id);
        close
    }

    /// The connections that are the session's own, idle now, are closed: those to other origins next.
    fn disown(&mut self, id: SessionId, now: Nanos) -> Option<Action> {
        self.release_others(id);
        let own = std::mem::replace(&mut self.sessions.of(id).connection, NONE);
        if own == NONE {
            return None;
        }
        let origin = self.connections.origin(own);
        self.connections.close(own);
        self.came_free(origin, now);
        Some(Action::Disconnect(own))
    }

    /// One row for a whole session, or round of a user's journey.
    fn write_session(&mut self, id: SessionId, now: Nanos) {
        let session = self.sessions.of(id);
        let (made, outcome) = (session.ordinal, session.failed.unwrap_or(Outcome::Ok));
        session.ordinal = 0;
        let session = *session;
        let group = self.group_of(id);
        if !group.has_sessions() || !session.began.is_some() {
            return;
        }
        let record = Record {
            started: session.began,
            user: session.user,
            repeat: made,
            group: session.group,
            shard: self.shard,
            kind: Kind::Session,
            due: if group.is_closed() { Trigger::User } else { Trigger::Arrival },
            ..Record::never_started(session.k, session.arrived, now, outcome)
        };
        self.sink.record(record);
    }
}
