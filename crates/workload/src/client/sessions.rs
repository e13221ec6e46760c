//! The sessions and users of one shard: what each does at the moment, and when it wants to do something next.
//!
//! A thinking user costs a slot here and an entry in the heap of timers, some 150 bytes together; what its requests
//! hold and what answers meant is kept by the sender.

use super::connections::NONE;
use super::{ConnectionId, SessionId};
use crate::journey::Cursor;
use dary_heap::QuaternaryHeap;
use headway_base::{Nanos, Outcome, Stamp};
use std::cmp::Reverse;
use std::collections::HashMap;

/// What a session waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// The slot is free.
    Free,
    /// A user of a closed group is still to come (again).
    Away,
    /// A user thinks, and will be gone before the end of the think time.
    Leaving,
    /// The next request falls due when the timer comes up.
    Thinking,
    /// Its request is due and held back by the connection cap.
    Waiting,
    /// Its request is under way.
    Busy,
    /// The same, and the socket that connected for it connects for another request: this one is all that there is of the session.
    HandedOff,
}

/// One session that arrived, or one user of a closed group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Session {
    /// Number of the session over the whole plan of its group.
    pub k: u64,
    /// Number of the user of a closed group.
    pub user: u32,
    /// When its next request is due, or its present one was.
    pub due: Nanos,
    /// When the session, or this round of the journey, was due.
    pub arrived: Nanos,
    /// When its first request started.
    pub began: Stamp,
    /// When a user of a closed group is to be gone; never, for a session that arrived.
    pub leaves: Nanos,
    pub cursor: Cursor,
    /// Requests that started so far.
    pub ordinal: u32,
    /// Those of them that found a connection.
    pub sent: u32,
    /// Which round of the journey of this user.
    pub iteration: u32,
    pub repeat: u32,
    pub step: u16,
    pub group: u16,
    /// Whether its first request has ended, however it did.
    pub goes_on: bool,
    /// Where its next request goes, or its present one.
    pub origin: u16,
    /// The connection there that is its own, if it has one.
    pub connection: ConnectionId,
    pub state: State,
    /// How the first request that failed did.
    pub failed: Option<Outcome>,
}

impl Session {
    #[inline]
    pub(super) fn new(group: u16, k: u64, arrived: Nanos) -> Session {
        Session {
            k,
            user: 0,
            due: arrived,
            arrived,
            began: Stamp::NONE,
            leaves: Nanos::MAX,
            cursor: Cursor::default(),
            ordinal: 0,
            sent: 0,
            iteration: 0,
            repeat: 0,
            step: 0,
            group,
            goes_on: false,
            origin: 0,
            connection: NONE,
            state: State::Thinking,
            failed: None,
        }
    }
}

impl Session {
    /// The request that had begun has not: there was nothing to send.
    pub(super) fn did_not_begin(&mut self) {
        self.ordinal -= 1;
        if self.ordinal == 0 {
            self.began = Stamp::NONE;
        }
    }
}

/// When it comes up, its number among those of one instant, and whose it is: sixteen bytes, four to a cache line.
type Timer = Reverse<(Nanos, u32, SessionId)>;

/// Slots of sessions, used again when they are free, and the heap of their timers: at most one each.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    slots: Vec<Session>,
    free: Vec<SessionId>,
    timers: QuaternaryHeap<Timer>,
    /// Connections of their own to other origins than that of their request.
    parked: HashMap<(SessionId, u16), ConnectionId>,
    /// Steps whose next request goes to another origin than their journey says, and the number of that.
    leads: HashMap<SessionId, Vec<(u16, u16)>>,
    /// Timers so far: keeps those of one instant in the order in which they were set, but where the number wraps.
    set: u32,
}

impl Sessions {
    #[inline]
    pub(super) fn begin(&mut self, session: Session) -> SessionId {
        let id = self.slot(session);
        self.lead(id, Vec::new());
        id
    }

    #[inline]
    fn slot(&mut self, session: Session) -> SessionId {
        match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = session;
                id
            }
            None => {
                self.slots.push(session);
                (self.slots.len() - 1) as SessionId
            }
        }
    }

    #[inline]
    pub(super) fn end(&mut self, id: SessionId) {
        self.slots[id as usize].state = State::Free;
        self.free.push(id);
    }

    #[inline]
    pub(super) fn get(&self, id: SessionId) -> &Session {
        &self.slots[id as usize]
    }

    #[inline]
    pub(super) fn of(&mut self, id: SessionId) -> &mut Session {
        &mut self.slots[id as usize]
    }

    /// Requests of these steps of the session go to these origins from now on; those of others where the journey says.
    #[inline]
    pub(super) fn lead(&mut self, id: SessionId, leads: Vec<(u16, u16)>) {
        if !leads.is_empty() {
            self.leads.insert(id, leads);
        } else if !self.leads.is_empty() {
            self.leads.remove(&id);
        }
    }

    /// The origin of the session's request, if it is led to one.
    #[inline]
    pub(super) fn led(&self, id: SessionId) -> Option<u16> {
        if self.leads.is_empty() {
            return None;
        }
        let step = self.get(id).step;
        let lead = self.leads.get(&id)?.iter().find(|(of, _)| *of == step)?;
        Some(lead.1)
    }

    /// The session's request goes to that origin.
    #[inline]
    pub(super) fn turn_to(&mut self, id: SessionId, origin: u16) {
        let session = &mut self.slots[id as usize];
        if session.origin == origin {
            return;
        }
        let before = std::mem::replace(&mut session.origin, origin);
        if session.connection != NONE {
            self.parked.insert((id, before), session.connection);
        }
        session.connection = self.parked.remove(&(id, origin)).unwrap_or(NONE);
    }

    /// Its own connections to other origins, which are its own no longer.
    pub(super) fn take_parked(&mut self, id: SessionId) -> Vec<ConnectionId> {
        if self.parked.is_empty() {
            return Vec::new();
        }
        let most = self.parked.keys().map(|(_, origin)| *origin).max().unwrap_or(0);
        (0..=most).filter_map(|origin| self.parked.remove(&(id, origin))).collect()
    }

    /// That connection to that origin is its own no longer.
    pub(super) fn lose(&mut self, id: SessionId, origin: u16, connection: ConnectionId) {
        let session = &mut self.slots[id as usize];
        if session.connection == connection {
            session.connection = NONE;
        } else if self.parked.get(&(id, origin)) == Some(&connection) {
            self.parked.remove(&(id, origin));
        }
    }

    /// Those alive, users away included.
    pub(super) fn live(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Every session in this state.
    pub(super) fn all_in(&self, state: State) -> Vec<SessionId> {
        self.all_where(|session| session.state == state)
    }

    /// Every session of which that is true.
    pub(super) fn all_where(&self, is: impl Fn(&Session) -> bool) -> Vec<SessionId> {
        let ids = (0..).zip(&self.slots).filter(|(_, s)| s.state != State::Free && is(s));
        ids.map(|(id, _)| id).collect()
    }

    /// The session's timer comes up at that instant.
    pub(super) fn wake(&mut self, id: SessionId, at: Nanos, state: State) {
        self.of(id).state = state;
        self.timers.push(Reverse((at, self.set, id)));
        self.set = self.set.wrapping_add(1);
    }

    /// The earliest timer.
    #[inline]
    pub(super) fn next_timer(&self) -> Option<(Nanos, SessionId)> {
        self.timers.peek().map(|&Reverse((at, _, id))| (at, id))
    }

    /// A session whose timer has come up by `now`.
    #[inline]
    pub(super) fn pop_timer(&mut self, now: Nanos) -> Option<SessionId> {
        let (at, id) = self.next_timer()?;
        if at > now {
            return None;
        }
        self.timers.pop();
        Some(id)
    }

    /// Forgets the timers of sessions that have ended.
    pub(super) fn forget_timers_of_ended(&mut self) {
        let slots = &self.slots;
        self.timers.retain(|&Reverse((_, _, id))| slots[id as usize].state != State::Free);
    }

    /// Forgets all timers.
    pub(super) fn forget_timers(&mut self) {
        self.timers.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_user_costs_little() {
        let timer = size_of::<Timer>();
        assert_eq!(timer, 16);
        assert!(size_of::<Session>() + timer <= 160, "{} + {timer}", size_of::<Session>());
    }

    #[test]
    fn timers_come_up_in_order_and_slots_serve_again() {
        let mut sessions = Sessions::default();
        let ids: Vec<SessionId> = (0..4).map(|k| sessions.begin(Session::new(0, k, Nanos(0)))).collect();
        for (&id, at) in ids.iter().zip([30, 10, 10, 20]) {
            sessions.wake(id, Nanos(at), State::Thinking);
        }
        let order: Vec<SessionId> = std::iter::from_fn(|| sessions.pop_timer(Nanos(20))).collect();
        assert_eq!((order, sessions.next_timer()), (vec![1, 2, 3], Some((Nanos(30), 0))));
        sessions.end(2);
        assert_eq!(sessions.live(), 3);
        assert_eq!(sessions.begin(Session::new(0, 9, Nanos(0))), 2);
    }
}
