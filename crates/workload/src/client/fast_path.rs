//! The short way: requests that are each a session of its own, which arrives, over anybody's connection.
//!
//! The results are those of the general path, with fewer checks. As long as no request waits, no
//! timer or deadline comes up and an idle connection is there, a poll needs to know the next arrival alone.
//!
//! Where the world allows it ([`Client::keeping_notes`]), such a request has neither a session nor a record while it is under
//! way, only a note of what these would hold. They are written out when something happens to it that is more than a
//! whole answer: a first byte before the last, a timeout, the end of the run.

use super::group::Plain;
use super::pool::Note;
use super::sessions::{Session, State};
use super::{Client, ConnectionId, DeferredStart, NO_SESSION, RequestKey, SessionId, UNKNOWN};
use headway_base::{Nanos, Outcome, Record, RecordSink, Start};

impl<S: RecordSink> Client<S> {
    /// Nothing is to be done now: until when that stays so, arrivals apart.
    #[inline]
    pub(super) fn cache_next_event(&mut self) {
        let calm = !self.stopping && self.waiting.is_empty() && !self.pool.has_orphans();
        self.next_non_arrival = if calm { self.next_other_event() } else { UNKNOWN };
    }

    /// Where [`poll`](Client::poll) would say at `now` that the next arrival is sent, and it takes no more than a look at that
    /// arrival to know: what it would say. None: ask there.
    #[inline(always)]
    pub fn start_calm(&mut self, now: Nanos) -> Option<(ConnectionId, RequestKey)> {
        self.tell_start();
        let (due, number) = self.next;
        if due > now || now >= self.next_non_arrival {
            return None;
        }
        let group = &self.groups[number];
        let plain = group.plain?;
        let on_time = now <= self.last_start && group.stopped.is_none();
        let unhindered = self.full_since.is_none() && self.run.is_none();
        if !(on_time && unhindered) {
            return None;
        }
        let arrival = group.next?;
        let on = self.pool.take_idle()?;
        self.advance(number);
        let (k, intended, group, step) = (arrival.k, arrival.intended, number as u16, plain.step);
        let note = Note { k, intended, started: now, group, step };
        let deadline = now.saturating_add(self.limits.timeout);
        self.next_non_arrival = self.next_non_arrival.min(deadline);
        let start = Start::arrival(intended, now, step);
        let session = if self.notes {
            self.pool.note(on, note, deadline);
            self.sink.start(start);
            NO_SESSION
        } else {
            let session = self.begin_plain(&note, plain);
            self.pool.reuse(on, session, self.plain_record(&note), deadline);
            self.deferred_start = Some(DeferredStart { start, session, opens_session: false });
            session
        };
        if !self.pool.can_start() {
            self.full_since = Some(now);
            self.stalls.clear();
        }
        Some((on, RequestKey { session, k, user: k, step, group, ..RequestKey::default() }))
    }

    /// The session that a request is.
    #[inline]
    fn begin_plain(&mut self, note: &Note, plain: Plain) -> SessionId {
        self.sessions.begin(Session {
            began: note.started.into(),
            ordinal: 1,
            sent: 1,
            step: note.step,
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

    /// If of the request on this connection there is a note only, its session and record are written out.
    #[inline]
    pub(super) fn write_out(&mut self, id: ConnectionId) {
        if let Some(note) = self.pool.noted(id) {
            self.write_out_note(id, note);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_out_note(&mut self, id: ConnectionId, note: Note) {
        let Some(plain) = self.groups[usize::from(note.group)].plain else { return };
        let session = self.begin_plain(&note, plain);
        self.pool.write_out(id, session, self.plain_record(&note));
    }

    /// A noted request is answered as a whole.
    #[inline]
    pub(super) fn end_noted(
        &mut self,
        id: ConnectionId,
        note: &Note,
        outcome: Outcome,
        status: u16,
        now: Nanos,
    ) {
        let connection = self.pool.number(id);
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
        self.pool.release(id);
        self.came_free(now);
    }

    /// Whether the request on this connection, which is written out, is one of those.
    #[inline]
    pub(super) fn is_plain(&self, id: ConnectionId) -> bool {
        self.groups[usize::from(self.pool.request(id).group)].plain.is_some()
    }

    /// Such a request has ended: so has its session, and its connection is anybody's again.
    #[inline]
    pub(super) fn end_plain(&mut self, id: ConnectionId, outcome: Outcome, now: Nanos) {
        let session = self.finish(id, outcome, now);
        self.pool.release(id);
        self.came_free(now);
        self.sessions.end(session);
    }
}
