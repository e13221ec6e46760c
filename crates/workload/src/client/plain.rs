//! The short way: requests that are each a session of its own, which arrives, over anybody's connection.
//!
//! Nothing here happens otherwise than on the long way; it is found out with fewer questions. As long as nobody waits, no
//! timer or deadline comes up and an idle connection is there, a poll needs to know the next arrival alone.

use super::group::Plain;
use super::sessions::{Session, State};
use super::{Action, Client, ConnectionId, RESTLESS, Sending, Untold};
use base::{Nanos, Outcome, Record, RecordSink, Start};

impl<S: RecordSink> Client<S> {
    /// Nothing is to be done now: until when that stays so, arrivals apart.
    #[inline]
    pub(super) fn note_calm(&mut self) {
        let calm = !self.stopping && self.waiting.is_empty() && !self.pool.has_orphans();
        self.calm_until = if calm { self.next_besides() } else { RESTLESS };
    }

    /// [`poll`](Client::poll) while it is calm; none where that takes more than a look at the next arrival.
    #[inline]
    pub(super) fn poll_calm(&mut self, now: Nanos) -> Option<Option<Action>> {
        let (due, number) = self.next;
        if due > now {
            // At the very end there are connections to close.
            return (due < Nanos::MAX).then_some(None);
        }
        let group = &self.groups[number];
        let plain = group.plain?;
        let on_time = now <= self.last_start && group.stopped.is_none();
        let unhindered = self.full_since.is_none() && self.run.is_none() && self.pool.has_idle();
        if !(on_time && unhindered) {
            return None;
        }
        Some(self.start_plain(number, plain, now))
    }

    /// The next arrival of that group starts on an idle connection.
    #[inline]
    fn start_plain(&mut self, number: usize, plain: Plain, now: Nanos) -> Option<Action> {
        let on = self.pool.take_idle()?;
        let arrival = self.groups[number].next?;
        self.advance(number);
        let (k, intended, step) = (arrival.k, arrival.intended, plain.step);
        let session = self.sessions.begin(Session {
            began: now.into(),
            ordinal: 1,
            sent: 1,
            step,
            cursor: plain.cursor,
            state: State::Busy,
            ..Session::new(number as u16, k, intended)
        });
        let record = Record {
            started: now.into(),
            sent: now.into(),
            reused: true,
            group: number as u16,
            step,
            shard: self.shard,
            ..Record::never_started(k, intended, now, Outcome::Unfinished)
        };
        let deadline = now.saturating_add(self.limits.timeout);
        self.pool.reuse(on, session, record, deadline);
        self.calm_until = self.calm_until.min(deadline);
        if !self.pool.can_start() {
            self.full_since = Some(now);
        }
        self.untold = Some(Untold { start: Start::arrival(intended, now, step), session, comes: false });
        let (group, user) = (number as u16, k);
        Some(Action::Send(on, Sending { session, k, user, step, group, ..Sending::default() }))
    }

    /// Whether the request on this connection is one of those.
    #[inline]
    pub(super) fn is_plain(&self, id: ConnectionId) -> bool {
        self.groups[usize::from(self.pool.request(id).group)].plain.is_some()
    }

    /// Such a request has ended (with an answer of that status that came whole, if it says so): so has its session, and its
    /// connection is anybody's again.
    #[inline]
    pub(super) fn end_plain(&mut self, id: ConnectionId, outcome: Outcome, answer: Option<u16>, now: Nanos) {
        let session = self.finish_with(id, outcome, answer, now);
        self.pool.release(id);
        self.came_free(now);
        self.sessions.end(session);
    }
}
