//! The connections of one shard: slots, the idle stack, and deadlines.
//!
//! Idle connections are used again most recently used first, so that the set in use is as small as the load allows. One that
//! belongs to a user is held for him instead.
//! Each connection has at most one entry in the heap of deadlines: it is looked at when it comes up and put back if the
//! deadline has moved on since, so that a request costs no heap operation.

use super::SessionId;
use headway_base::{Nanos, Record};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A connection's slot within its shard; used again after the connection is closed.
pub type ConnectionId = u32;

/// What a connection is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Free,
    Opening,
    Busy,
    /// Busy, and of its request there is a note only.
    Noted,
    Idle,
    /// Idle, but a user's own.
    Held,
    /// Its user is gone: it is about to be closed.
    Orphan,
}

/// A request that is a session of its own, as long as nothing more is needed of it: it went out as it started, on a connection
/// that had been used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Note {
    pub k: u64,
    pub intended: Nanos,
    pub started: Nanos,
    pub group: u16,
    pub step: u16,
}

impl Note {
    const NONE: Note = Note { k: 0, intended: Nanos::ZERO, started: Nanos::ZERO, group: 0, step: 0 };
}

/// One cache line, which is all that a noted request touches.
#[derive(Debug)]
#[repr(align(64))]
struct Slot {
    phase: Phase,
    /// Number of the connection, counted up over the run.
    number: u32,
    /// When the request or the opening is given up; MAX when idle.
    deadline: Nanos,
    /// When the heap's entry of this slot comes up; MAX if it has none. Entries of other instants are stale.
    watched: Nanos,
    /// Of a noted request.
    note: Note,
    /// Whose request it carries, or whose own it is; of no meaning where that is noted.
    session: SessionId,
}

#[derive(Debug)]
pub(super) struct Pool {
    slots: Vec<Slot>,
    /// By slot: the request it carries, but for one that is noted.
    records: Vec<Record>,
    idle: Vec<ConnectionId>,
    orphans: Vec<ConnectionId>,
    free: Vec<ConnectionId>,
    deadlines: BinaryHeap<Reverse<(Nanos, ConnectionId)>>,
    cap: u32,
    open: u32,
    busy: u32,
    opened: u32,
}

impl Pool {
    pub(super) fn new(cap: u32) -> Pool {
        Pool {
            slots: Vec::new(),
            records: Vec::new(),
            idle: Vec::new(),
            orphans: Vec::new(),
            free: Vec::new(),
            deadlines: BinaryHeap::new(),
            cap: cap.max(1),
            open: 0,
            busy: 0,
            opened: 0,
        }
    }

    fn slot(&mut self, id: ConnectionId) -> &mut Slot {
        &mut self.slots[id as usize]
    }

    #[inline]
    pub(super) fn can_open(&self) -> bool {
        self.open < self.cap
    }

    #[inline]
    pub(super) fn has_idle(&self) -> bool {
        !self.idle.is_empty()
    }

    #[inline]
    pub(super) fn can_start(&self) -> bool {
        self.has_idle() || self.can_open()
    }

    #[inline]
    pub(super) fn take_idle(&mut self) -> Option<ConnectionId> {
        self.idle.pop()
    }

    pub(super) fn busy(&self) -> u32 {
        self.busy
    }

    pub(super) fn busy_ids(&self) -> Vec<ConnectionId> {
        (0..self.slots.len() as ConnectionId).filter(|&id| self.is_busy(id)).collect()
    }

    /// Whether it carries a request, or is being opened for one.
    #[inline]
    pub(super) fn is_busy(&self, id: ConnectionId) -> bool {
        matches!(self.phase(id), Phase::Opening | Phase::Busy | Phase::Noted)
    }

    #[inline]
    pub(super) fn phase(&self, id: ConnectionId) -> Phase {
        self.slots[id as usize].phase
    }

    pub(super) fn number(&self, id: ConnectionId) -> u32 {
        self.slots[id as usize].number
    }

    #[inline]
    pub(super) fn session(&self, id: ConnectionId) -> SessionId {
        self.slots[id as usize].session
    }

    #[inline]
    pub(super) fn request(&self, id: ConnectionId) -> &Record {
        &self.records[id as usize]
    }

    #[inline]
    pub(super) fn request_mut(&mut self, id: ConnectionId) -> &mut Record {
        &mut self.records[id as usize]
    }

    /// When the request on this connection was due.
    #[inline]
    pub(super) fn intended(&self, id: ConnectionId) -> Nanos {
        match self.phase(id) {
            Phase::Noted => self.slots[id as usize].note.intended,
            _ => self.request(id).intended,
        }
    }

    /// A new connection, to be opened for that request.
    pub(super) fn open(&mut self, session: SessionId, record: Record, deadline: Nanos) -> ConnectionId {
        let number = self.opened;
        self.opened = self.opened.wrapping_add(1);
        let id = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                phase: Phase::Free,
                number,
                deadline: Nanos::MAX,
                watched: Nanos::MAX,
                note: Note::NONE,
                session,
            });
            self.records.push(record);
            (self.slots.len() - 1) as ConnectionId
        });
        self.open += 1;
        self.busy += 1;
        let slot = self.slot(id);
        slot.phase = Phase::Opening;
        slot.number = number;
        slot.session = session;
        self.records[id as usize] = record;
        self.watch(id, deadline);
        id
    }

    /// An idle connection (just taken, or held for that session) serves that request.
    #[inline]
    pub(super) fn reuse(&mut self, id: ConnectionId, session: SessionId, record: Record, deadline: Nanos) {
        self.busy += 1;
        let slot = self.slot(id);
        slot.phase = Phase::Busy;
        slot.session = session;
        self.records[id as usize] = record;
        self.watch(id, deadline);
    }

    /// An idle connection (just taken) serves a request of which that note is kept.
    #[inline]
    pub(super) fn note(&mut self, id: ConnectionId, note: Note, deadline: Nanos) {
        self.busy += 1;
        let slot = self.slot(id);
        slot.phase = Phase::Noted;
        slot.note = note;
        self.watch(id, deadline);
    }

    /// The note of the request on this connection, if there is no more of it.
    #[inline]
    pub(super) fn noted(&self, id: ConnectionId) -> Option<Note> {
        let slot = &self.slots[id as usize];
        (slot.phase == Phase::Noted).then_some(slot.note)
    }

    /// A noted request is written out.
    pub(super) fn write_out(&mut self, id: ConnectionId, session: SessionId, record: Record) {
        let slot = self.slot(id);
        slot.phase = Phase::Busy;
        slot.session = session;
        self.records[id as usize] = record;
    }

    /// An opened connection has sent its request.
    pub(super) fn in_flight(&mut self, id: ConnectionId, deadline: Nanos) {
        self.slot(id).phase = Phase::Busy;
        self.watch(id, deadline);
    }

    /// Its request has ended; it is free for the next.
    #[inline]
    pub(super) fn release(&mut self, id: ConnectionId) {
        self.busy -= 1;
        let slot = self.slot(id);
        slot.phase = Phase::Idle;
        slot.deadline = Nanos::MAX;
        self.idle.push(id);
    }

    /// Its request has ended; it stays its session's.
    #[inline]
    pub(super) fn hold(&mut self, id: ConnectionId) {
        self.busy -= 1;
        let slot = self.slot(id);
        slot.phase = Phase::Held;
        slot.deadline = Nanos::MAX;
    }

    /// A connection that was held becomes free.
    pub(super) fn orphan(&mut self, id: ConnectionId) {
        self.slot(id).phase = Phase::Orphan;
        self.orphans.push(id);
    }

    /// Whether one may have to be closed because no session holds it.
    pub(super) fn has_orphans(&self) -> bool {
        !self.orphans.is_empty()
    }

    /// One that is to be closed because no session holds it.
    #[inline]
    pub(super) fn take_orphan(&mut self) -> Option<ConnectionId> {
        while let Some(id) = self.orphans.pop() {
            if self.phase(id) == Phase::Orphan {
                return Some(id);
            }
        }
        None
    }

    /// It is gone, with whatever it carried.
    pub(super) fn close(&mut self, id: ConnectionId) {
        let slot = self.slot(id);
        let was = std::mem::replace(&mut slot.phase, Phase::Free);
        slot.deadline = Nanos::MAX;
        if was == Phase::Free {
            return;
        }
        self.open -= 1;
        self.busy -= u32::from(matches!(was, Phase::Opening | Phase::Busy | Phase::Noted));
        self.free.push(id);
    }

    /// An idle one is gone.
    pub(super) fn retire_idle(&mut self, id: ConnectionId) {
        if let Some(at) = self.idle.iter().rposition(|&i| i == id) {
            self.idle.remove(at);
        }
        self.close(id);
    }

    #[inline(always)]
    fn watch(&mut self, id: ConnectionId, deadline: Nanos) {
        let slot = self.slot(id);
        slot.deadline = deadline;
        // An entry that comes up too early is put back then; one that would come up too late is replaced now.
        if deadline < slot.watched {
            slot.watched = deadline;
            self.deadlines.push(Reverse((deadline, id)));
        }
    }

    /// The earliest instant at which a deadline may have passed.
    #[inline]
    pub(super) fn next_deadline(&self) -> Nanos {
        self.deadlines.peek().map_or(Nanos::MAX, |&Reverse((at, _))| at)
    }

    /// A connection whose deadline has passed by `now`.
    #[inline]
    pub(super) fn pop_expired(&mut self, now: Nanos) -> Option<ConnectionId> {
        while self.next_deadline() <= now {
            let Reverse((at, id)) = self.deadlines.pop()?;
            let slot = self.slot(id);
            if slot.watched != at {
                continue;
            }
            slot.watched = Nanos::MAX;
            match slot.deadline {
                Nanos::MAX => {}
                deadline if deadline <= now => return Some(id),
                deadline => {
                    slot.watched = deadline;
                    self.deadlines.push(Reverse((deadline, id)));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noted_request_touches_one_cache_line() {
        assert_eq!(size_of::<Slot>(), 64);
    }
}
