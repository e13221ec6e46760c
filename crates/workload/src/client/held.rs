//! What is due and cannot start, by the origin that it is for, and how long the cap has held it back: where one origin keeps its requests waiting, those to
//! others go on.
//!
//! Deliberately absent: arrivals that no origin has room for, which are the stretch of the plan between the cursor and now.

use super::sessions::State;
use super::stalls::Stalls;
use super::{Action, Client, RequestId, SessionId, Who};
use headway_base::{Nanos, RecordSink};
use std::collections::VecDeque;

/// The requests to one origin.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// Sessions whose request is due and held back, in the order in which they fell due.
    pub waiting: VecDeque<SessionId>,
    /// Requests that were given back, in the order in which they were, and wait for another connection.
    pub again: VecDeque<RequestId>,
    /// Since when no connection could be had, as long as a request that fell due meanwhile is still to start.
    pub full_since: Option<Nanos>,
    pub stalls: Stalls,
}

impl<S: RecordSink> Client<S> {
    /// There are so many origins at least.
    pub(super) fn reach(&mut self, origins: usize) {
        if self.held.len() < origins {
            self.held.resize_with(origins, Held::default);
            self.connections.reach(origins);
            self.note_next();
        }
    }

    #[inline]
    pub(super) fn held_of(&self, origin: u16) -> &Held {
        &self.held[usize::from(origin)]
    }

    #[inline]
    pub(super) fn held_mut(&mut self, origin: u16) -> &mut Held {
        &mut self.held[usize::from(origin)]
    }

    /// Every origin.
    #[inline]
    pub(super) fn origins(&self) -> std::ops::Range<u16> {
        0..self.held.len() as u16
    }

    /// What is due or will be next at that origin, apart from timers: of those that wait and the next arrival the one due first.
    #[inline]
    pub(super) fn next_held_of(&self, origin: u16) -> Option<(Nanos, Who)> {
        let (due, group) = self.next;
        let first = (due < Nanos::MAX && self.next_origin == origin).then_some((due, Who::Arrival(group)));
        match self.held_of(origin).waiting.front() {
            None => first,
            Some(&id) => {
                let due = self.sessions.get(id).due;
                Some(first.filter(|f| f.0 < due).unwrap_or((due, Who::Waiting(id))))
            }
        }
    }

    /// The same of several origins: of those of which the next can start the one due first, else the first of all. Where there are more
    /// origins than there may be connections, none passes another.
    pub(super) fn next_held_of_all(&self) -> Option<(Nanos, Who)> {
        let all = || self.origins().filter_map(|origin| self.next_held_of(origin));
        let first = all().min_by_key(|(due, who)| (*due, matches!(who, Who::Arrival(_))));
        if !self.connections.has_one_for_each() {
            return first;
        }
        let can = all().filter(|(_, who)| self.can_start(*who));
        can.min_by_key(|(due, who)| (*due, matches!(who, Who::Arrival(_)))).or(first)
    }

    /// When something is to be done about what is held back at several origins.
    pub(super) fn wake_for_held(&self) -> Nanos {
        let one = |(due, who)| match who {
            _ if self.may_start(who) || !self.connections.is_in_use(self.origin_of(who)) => due,
            _ => self.patience_ends(due, who),
        };
        let all = self.origins().filter_map(|origin| self.next_held_of(origin));
        all.map(one).min().unwrap_or(Nanos::MAX).min(self.set_aside_at())
    }

    /// Whether that request, the first to its origin, can start and is not to wait for one to another.
    fn may_start(&self, who: Who) -> bool {
        let passes = || {
            self.connections.has_one_for_each()
                || self.next_held_of_all().is_some_and(|(_, first)| first == who)
        };
        self.can_start(who) && passes()
    }

    /// Where there are more origins than there may be connections: the origin of what is first, which the cap has held back, and since when
    /// all the others have waited behind it.
    pub(super) fn line(&self, now: Nanos) -> Option<(u16, Nanos)> {
        if self.connections.has_one_for_each() {
            return None;
        }
        let (due, who) = self.next_held_of_all().filter(|(due, _)| *due <= now)?;
        let origin = self.origin_of(who);
        let full_since = self.held_of(origin).full_since;
        let since = full_since.or_else(|| (!self.can_start(who)).then_some(now))?;
        Some((origin, since.max(due)))
    }

    /// Whether a request to that origin is due, to which no connection leads, and none can be opened.
    fn lacks_one(&self, origin: u16, now: Nanos) -> bool {
        let due = || self.next_held_of(origin).filter(|(due, _)| *due <= now);
        self.connections.lacks_one(origin) && due().is_some_and(|(_, who)| !self.can_start(who))
    }

    fn any_can_start(&self) -> bool {
        let own = self.groups.iter().any(|group| group.connections.are_own());
        let can = |origin| {
            self.connections.can_start(origin, false) || own && self.connections.can_start(origin, true)
        };
        self.origins().any(can)
    }

    /// Of several origins: gives up what has waited too long, and sets aside an arrival that its origin holds back while others go on.
    /// Whether there is more of that to do.
    pub(super) fn sort_out(&mut self, now: Nanos) -> (bool, Option<Action>) {
        if let Some(id) = self.connections.take_orphan() {
            return (true, Some(self.close(id, now)));
        }
        if self.next.0 <= now {
            self.connections.begin_use(self.next_origin);
        }
        if !self.origins().any(|origin| self.lacks_one(origin, now)) {
            self.connections.stay();
        }
        self.note_full(now);
        for origin in self.origins() {
            let Some((due, who)) = self.next_held_of(origin) else { continue };
            if self.is_too_late(who, now) && (due <= now || self.stopping) {
                return (true, self.never_start(who, now));
            }
            if due > now || self.may_start(who) {
                continue;
            }
            if due.saturating_add(self.limits.max_wait) <= now {
                return (true, self.shed(who, now));
            }
            match who {
                Who::Waiting(id) if self.release_others(id) => return (true, None),
                Who::Waiting(_) | Who::Arrival(_) => {}
            }
            if self.lacks_one(origin, now)
                && let Some((id, useless)) = self.connections.drain_one()
            {
                return (true, useless.then(|| self.close(id, now)));
            }
        }
        if self.set_aside_at() <= now {
            self.set_aside(self.next.1);
            return (true, None);
        }
        (false, None)
    }

    /// When the next arrival is set aside: where its origin holds it back, whatever waits there before it, and others go on. Later
    /// arrivals, to any origin, come after it only then. `Nanos::MAX` for never.
    fn set_aside_at(&self) -> Nanos {
        let (due, group) = self.next;
        let held_back = due < Nanos::MAX && !self.can_start(Who::Arrival(group));
        if held_back && self.connections.has_one_for_each() && self.any_can_start() {
            due
        } else {
            Nanos::MAX
        }
    }

    /// An arrival waits as a session does.
    fn set_aside(&mut self, group: usize) {
        let Some(id) = self.admit(group) else { return };
        self.wait(id);
    }

    /// Whether a session that waits is an arrival that was set aside.
    pub(super) fn is_set_aside(&self, id: SessionId) -> bool {
        !self.group_of(id).is_closed() && !self.sessions.get(id).goes_on
    }

    /// The session's request waits for a connection.
    pub(super) fn wait(&mut self, id: SessionId) {
        let session = self.sessions.of(id);
        session.state = State::Waiting;
        let origin = session.origin;
        self.connections.begin_use(origin);
        self.held_mut(origin).waiting.push_back(id);
    }

    /// A session that waits keeps no connection of its own from others: they might wait for each other. Whether it had any.
    pub(super) fn release_others(&mut self, id: SessionId) -> bool {
        let others = self.sessions.take_parked(id);
        let any = !others.is_empty();
        others.into_iter().for_each(|other| self.connections.orphan(other));
        any
    }

    /// A connection to that origin can be had again: unless a request has been waiting for it, none was held back. Perhaps one to another
    /// origin in its place.
    #[inline]
    pub(super) fn came_free(&mut self, origin: u16, now: Nanos) {
        for other in self.origins() {
            if self.held_of(other).full_since.is_none() {
                continue;
            }
            if other != origin && !self.connections.can_start(other, false) {
                continue;
            }
            let held_back = self.holds_back(other, now);
            let held = self.held_mut(other);
            if held_back {
                held.stalls.freed();
            } else {
                held.full_since = None;
                held.stalls.clear();
            }
        }
    }

    /// After a start, and of several origins before each: the cap may be reached now, or no request be held back any more.
    #[inline]
    pub(super) fn note_full(&mut self, now: Nanos) {
        let line = self.line(now);
        for origin in self.origins() {
            let own = self.next_held_of(origin).is_some_and(|(_, who)| self.needs_own(who));
            let state = (self.connections.can_start(origin, own), self.holds_back(origin, now));
            let held = self.held_mut(origin);
            let before = held.full_since;
            held.full_since = match state {
                (false, true) => before.or(Some(now)),
                (false, false) => Some(now),
                (true, true) => before,
                (true, false) => None,
            };
            if let Some((first, since)) = line
                && first != origin
            {
                held.full_since = before.or(Some(since));
            }
            if held.full_since != before {
                held.stalls.clear();
            }
        }
    }

    /// How long a request due then has been held back by the cap: from when it was due, or from when the cap was reached if
    /// that was later. What was late before the cap was reached is the generator's lateness; so is what it stood still for
    /// meanwhile, if that is the larger part.
    #[inline]
    pub(super) fn waited(&self, origin: u16, due: Nanos, now: Nanos) -> Nanos {
        let held = self.held_of(origin);
        held.full_since.map_or(Nanos::ZERO, |since| held.stalls.less(since, due.max(since), now))
    }

    /// The same of one that is given up: nothing, if the larger part of it is the generator's doing.
    pub(super) fn waited_in_vain(&self, origin: u16, due: Nanos, now: Nanos) -> Nanos {
        let Some(since) = self.held_of(origin).full_since else { return Nanos::ZERO };
        let span = now - due.max(since);
        if self.waited(origin, due, now) < span { Nanos::ZERO } else { span.max(Nanos::ZERO) }
    }

    /// The world stood still, and looked at nothing, from one instant to another.
    #[inline]
    pub fn stood_still(&mut self, from: Nanos, to: Nanos) {
        self.sink.stood_still(from, to);
        for held in self.held.iter_mut().filter(|held| held.full_since.is_some()) {
            held.stalls.push(from, to);
        }
        if let Some(untold) = &mut self.untold {
            untold.push(to - from);
        }
    }

    /// The world was busy with what it does for the client for so long: handling what had happened, sending, or ready to do so
    /// without a processor.
    #[inline]
    pub fn busy(&mut self, length: Nanos) {
        for held in self.held.iter_mut().filter(|held| held.full_since.is_some()) {
            held.stalls.busy(length);
        }
    }

    /// The client knows all events up to `until`.
    #[inline]
    pub fn caught_up(&mut self, until: Nanos) {
        self.held.iter_mut().for_each(|held| held.stalls.settle(until));
    }

    /// Whether a request to that origin has fallen due and not started, or may have, behind an arrival to another.
    #[inline]
    pub(super) fn holds_back(&self, origin: u16, now: Nanos) -> bool {
        !self.held_of(origin).waiting.is_empty() || self.next.0 <= now
    }
}
