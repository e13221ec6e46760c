//! Requests that the target gave back without a look at them (HTTP/2: REFUSED_STREAM, or a GOAWAY that leaves them out) are sent again on
//! another connection, whatever their method (RFC 9113, 8.7), as other clients do.
//!
//! The request goes on: its instants and its deadline are those of the first time that it was sent. Each time that it was sent is a row of its own
//! ([`Kind::Attempt`]): those that were given back, and the one that it ended with. Deliberately absent: requests that failed in any other way. These are never sent again.

use super::connections::{ConnectionId, NONE, Way};
use super::in_flight::{Attempt, Phase};
use super::lifecycle::Sent;
use super::{Action, Client, RequestId, RequestKey, SessionControl, SessionId, UNKNOWN};
use crate::plan::Connections;
use headway_base::{Kind, Nanos, Outcome, Record, RecordSink, Stamp};

/// How often a request is sent again.
pub const MOST_TIMES_AGAIN: u8 = 2;

impl<S: RecordSink> Client<S> {
    /// Whether this request, which is under way, is sent again if the target gives it back ([`Outcome::RefusedStream`]).
    pub fn sends_again(&self, id: RequestId) -> bool {
        let group = match self.in_flight.noted(id) {
            Some(note) => note.group,
            None => self.in_flight.record(id).group,
        };
        let connecting = self.groups[usize::from(group)].connecting;
        !self.stopping && !connecting && self.in_flight.attempt(id).number < MOST_TIMES_AGAIN
    }

    /// The target gave this request back after `bytes` of an answer: it waits for another connection.
    #[cold]
    pub(super) fn give_back(&mut self, id: RequestId, bytes: u64, now: Nanos) -> Option<Action> {
        self.next_non_arrival = UNKNOWN;
        self.write_out(id);
        let (session, on) = (self.in_flight.session(id), self.in_flight.connection(id));
        let attempt = self.in_flight.attempt(id);
        let record = self.in_flight.record_mut(id);
        record.connection = self.connections.number(on);
        let row = Record {
            kind: Kind::Attempt,
            attempt: attempt.number,
            done: now,
            outcome: Outcome::RefusedStream,
            bytes_received: bytes,
            ..attempt.of(record)
        };
        record.first_byte = Stamp::NONE;
        self.write(row);
        let not_on = self.connections.number(on);
        self.in_flight.give_back(id, not_on);
        let origin = self.sessions.get(session).origin;
        self.held_mut(origin).again.push_back(id);
        self.set_free(on, session, now)
    }

    /// Sends a request again that was given back, if there is a connection for one.
    pub(super) fn send_again(&mut self, now: Nanos) -> Option<Action> {
        for origin in self.origins() {
            let Some(&id) = self.held_of(origin).again.front() else { continue };
            if let Some(action) = self.again_on(origin, id, now) {
                return Some(action);
            }
        }
        None
    }

    /// Whether one that was given back can be sent now.
    pub(super) fn can_send_again(&self) -> bool {
        self.origins().any(|origin| {
            self.held_of(origin).again.front().is_some_and(|&id| self.way_again(origin, id) != Way::Nowhere)
        })
    }

    /// Where it goes.
    fn way_again(&self, origin: u16, id: RequestId) -> Way {
        let session = self.in_flight.session(id);
        match self.sessions.get(session).connection {
            NONE => {
                let own = self.group_of(session).connections.are_own();
                self.connections.way_again(origin, self.in_flight.attempt(id).not_on, own)
            }
            own => Way::On(own),
        }
    }

    /// Whether any waits to be sent again.
    pub(super) fn any_given_back(&self) -> bool {
        self.held.iter().any(|held| !held.again.is_empty())
    }

    fn again_on(&mut self, origin: u16, id: RequestId, now: Nanos) -> Option<Action> {
        let session = self.in_flight.session(id);
        let action = match self.way_again(origin, id) {
            Way::Nowhere => return None,
            Way::On(on) => {
                match self.sessions.get(session).connection == on {
                    true => self.connections.load(on),
                    false => self.connections.take_this(on),
                }
                let attempt = Attempt { sent: now.into(), reused: true, ..self.in_flight.attempt(id) };
                self.in_flight.send_again(id, on, attempt);
                Action::Send(on, id, self.key_again(session))
            }
            Way::New => {
                let connections = self.group_of(session).connections;
                if let Some(idle) = self.connections.make_way(origin, connections.are_own()) {
                    return Some(Action::Disconnect(idle));
                }
                let own = connections == Connections::PerUser;
                let single = connections == Connections::PerRequest;
                let on = self.connections.open(origin, id, own.then_some(session), single);
                if own {
                    self.sessions.of(session).connection = on;
                }
                let attempt = Attempt { sent: Stamp::NONE, reused: false, ..self.in_flight.attempt(id) };
                let deadline = now.saturating_add(self.limits.connect_timeout);
                self.in_flight.connect_again(id, on, attempt, deadline);
                Action::Connect(on, origin)
            }
        };
        self.held_mut(origin).again.pop_front();
        self.note_full(now);
        Some(action)
    }

    /// The connection that was opened for it stands: what is sent there.
    pub(super) fn established_again(
        &mut self,
        id: RequestId,
        (connect, tls): (Nanos, Option<Nanos>),
        now: Nanos,
    ) -> RequestKey {
        let attempt = self.in_flight.attempt(id);
        let attempt = Attempt { sent: now.into(), connect: connect.into(), tls: tls.into(), ..attempt };
        self.in_flight.send_again(id, self.in_flight.connection(id), attempt);
        self.key_again(self.in_flight.session(id))
    }

    /// The time of one that waits to be sent again is over.
    pub(super) fn expire_given_back(&mut self, id: RequestId, now: Nanos) -> Option<Action> {
        let origin = self.sessions.get(self.in_flight.session(id)).origin;
        *self.given_up.entry((Outcome::Timeout, origin)).or_default() += 1;
        self.forget_given_back(id);
        let (session, _) = self.finish(id, Outcome::Timeout, now);
        self.go_on(session, Outcome::Timeout, Sent::Yes, SessionControl::Continue, now)
    }

    /// The row of the time at which a request ended that had been given back before; none where it was not sent since.
    pub(super) fn last_attempt(&self, id: RequestId, record: &Record) -> Option<Record> {
        let attempt = self.in_flight.attempt(id);
        (attempt.number > 0 && attempt.sent.is_some()).then(|| Record {
            kind: Kind::Attempt,
            attempt: attempt.number,
            ..attempt.of(record)
        })
    }

    /// It no longer waits to be sent again.
    pub(super) fn forget_given_back(&mut self, id: RequestId) {
        if self.in_flight.phase(id) == Phase::GivenBack {
            let origin = self.sessions.get(self.in_flight.session(id)).origin;
            self.held_mut(origin).again.retain(|&other| other != id);
        }
    }

    /// What the session's current request was the first time.
    fn key_again(&mut self, session: SessionId) -> RequestKey {
        let key = self.sending(session);
        let step = self.sessions.get(session).step;
        let redirected = self.group_of(session).journey.is_redirected(step);
        // Counted once already; a redirected one never is, and its number is that of the one before.
        if redirected {
            return key;
        }
        self.sessions.of(session).sent -= 1;
        RequestKey { ordinal: key.ordinal - 1, ..key }
    }

    /// The number of the connection that a request ends on.
    pub(super) fn number_of(&self, connection: ConnectionId, record: &Record) -> u32 {
        match (record.started.is_some(), connection) {
            (false, _) => u32::MAX,
            (true, NONE) => record.connection,
            (true, connection) => self.connections.number(connection),
        }
    }
}
