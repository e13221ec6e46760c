//! The short way: requests that are each a session of its own, which arrives, over anybody's connection.
//!
//! The results are those of the general path, with fewer checks. As long as no request waits, no
//! timer or deadline comes up and an idle connection is there, a poll needs to know the next arrival alone.
//!
//! Where the world allows it ([`Client::keeping_notes`]), such a request has neither a session nor a record while it is under
//! way, only a note of what these would hold. They are written out when something happens to it that is more than a
//! whole answer: a first byte before the last, a timeout, the end of the run.

use super::group::Plain;
use super::in_flight::Note;
use super::sessions::{Session, State};
use super::{Client, ConnectionId, DeferredStart, NO_SESSION, RequestId, RequestKey, SessionId, UNKNOWN};
use headway_base::{Nanos, Outcome, Record, RecordSink, Start};

impl<S: RecordSink> Client<S> {
    /// Nothing is to be done now: until when that stays so, arrivals apart.
    #[inline]
    pub(super) fn cache_next_event(&mut self) {
        let calm = !self.stopping
            && self.held.iter().all(|held| held.waiting.is_empty())
            && self.pending.is_empty()
            && !self.any_given_back()
            && !self.connections.has_orphans();
        self.next_non_arrival = if calm { self.next_other_event() } else { UNKNOWN };
    }

    /// Where [`poll`](Client::poll) would say at `now` that the next arrival is sent, and it takes no more than a look at that
    /// arrival to know: what it would say. None: ask there.
    #[inline(always)]
    pub fn start_calm(&mut self, now: Nanos) -> Option<(ConnectionId, RequestId, RequestKey)> {
        self.tell_start();
        let (due, number) = self.next;
        if due > now || now >= self.next_non_arrival {
            return None;
        }
        let group = &self.groups[number];
        let plain = group.plain?;
        let on_time = now <= self.last_start && group.stopped.is_none();
        let unhindered = self.held_of(plain.origin).full_since.is_none() && self.run.is_none();
        if !(on_time && unhindered) {
            return None;
        }
        let arrival = group.next?;
        let on = self.connections.take(plain.origin)?;
        self.advance(number);
        let (k, intended, group, step) = (arrival.k, arrival.intended, number as u16, plain.step);
        let note = Note { k, intended, started: now, group, step };
        let deadline = now.saturating_add(self.limits.timeout);
        self.next_non_arrival = self.next_non_arrival.min(deadline);
        let start = Start::arrival(intended, now, step);
        let (session, id) = if self.notes {
            let id = self.in_flight.note(on, note, deadline);
            self.sink.start(start);
            (NO_SESSION, id)
        } else {
            let session = self.begin_plain(&note, plain);
            let id = self.in_flight.send(on, session, self.plain_record(&note), deadline);
            self.deferred_start = Some(DeferredStart { start, session, opens_session: false });
            (session, id)
        };
        if self.held.len() > 1 {
            self.note_full_of_all(now);
        } else if !self.connections.can_start(plain.origin, false) {
            let held = self.held_mut(plain.origin);
            held.full_since = Some(now);
            held.stalls.clear();
        }
        Some((on, id, RequestKey { session, k, user: k, step, group, ..RequestKey::default() }))
    }

    /// The connection may have been what another origin needs.
    #[cold]
    #[inline(never)]
    fn note_full_of_all(&mut self, now: Nanos) {
        self.note_full(now);
    }

    /// The session that a request is.
    #[inline]
    fn begin_plain(&mut self, note: &Note, plain: Plain) -> SessionId {
        self.sessions.begin(Session {
            began: note.started.into(),
            ordinal: 1,
            sent: 1,
            step: note.step,
            origin: plain.origin,
            cursor: plain.cursor,
            state: State::Busy,
            ..Session::new(note.group, note.k, note.intended)
        })
    }

    /// The record of such a request under way.
    #[inline]
    fn plain_record(&self, note: &Note) -> Record {
        Record {
            started: note.started.into(),
            sent: note.started.into(),
            reused: true,
            group: note.group,
            step: note.step,
            shard: self.shard,
            ..Record::never_started(note.k, note.intended, note.started, Outcome::Unfinished)
        }
    }

    /// If there is only a note of this request, its session and record are written out.
    #[inline]
    pub(super) fn write_out(&mut self, id: RequestId) {
        if let Some(note) = self.in_flight.noted(id) {
            self.write_out_note(id, note);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_out_note(&mut self, id: RequestId, note: Note) {
        let Some(plain) = self.groups[usize::from(note.group)].plain else { return };
        let session = self.begin_plain(&note, plain);
        self.in_flight.write_out(id, session, self.plain_record(&note));
    }

    /// A noted request is answered as a whole.
    #[inline]
    pub(super) fn end_noted(
        &mut self,
        id: RequestId,
        note: &Note,
        outcome: Outcome,
        status: u16,
        now: Nanos,
    ) {
        let on = self.in_flight.connection(id);
        let connection = self.connections.number(on);
        let first_byte = now.into();
        let record = Record {
            first_byte,
            done: now,
            outcome,
            status,
            connection,
            unread: self.unread,
            ..self.plain_record(note)
        };
        self.sink.record(record);
        self.in_flight.end(id);
        self.connections.unload(on);
        self.came_free(self.connections.origin(on), now);
    }

    /// Whether this request, which is written out, is one of those.
    #[inline]
    pub(super) fn is_plain(&self, id: RequestId) -> bool {
        self.groups[usize::from(self.in_flight.record(id).group)].plain.is_some()
    }

    /// Such a request has ended: so has its session, and its connection is anybody's again.
    #[inline]
    pub(super) fn end_plain(&mut self, id: RequestId, outcome: Outcome, now: Nanos) {
        let (session, connection) = self.finish(id, outcome, now);
        self.connections.unload(connection);
        self.came_free(self.connections.origin(connection), now);
        self.sessions.end(session);
    }
}
