//! The requests of one shard that are under way: slots and deadlines.
//!
//! Each slot has at most one entry in the heap of deadlines: it is looked at when it comes up and put back if the deadline has moved
//! on since, so that a request costs no heap operation.

use super::connections::{ConnectionId, NONE};
use super::{NO_SESSION, SessionId};
use headway_base::{Nanos, Record, Stamp};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A request's slot within its shard, from its start to its end; used again afterwards.
pub type RequestId = u32;

/// What a request is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Free,
    /// Its connection is being opened.
    Connecting,
    Sent,
    /// Sent, and there is a note of it only.
    Noted,
    /// Sent, given back, and waiting for another connection.
    GivenBack,
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

/// One time that a request is sent, and how often it was before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attempt {
    pub number: u8,
    /// The number of the connection that gave it back.
    pub not_on: u32,
    /// Of this time; the record has those of the first time.
    pub sent: Stamp,
    pub connect: Stamp,
    pub tls: Stamp,
    pub reused: bool,
    /// When the request as a whole is given up.
    pub deadline: Nanos,
}

impl Attempt {
    const FIRST: Attempt = Attempt {
        number: 0,
        not_on: u32::MAX,
        sent: Stamp::NONE,
        connect: Stamp::NONE,
        tls: Stamp::NONE,
        reused: false,
        deadline: Nanos::MAX,
    };

    /// The row of this attempt, of a request with that record.
    pub(super) fn of(self, record: &Record) -> Record {
        if self.number == 0 {
            return *record;
        }
        let Attempt { sent, connect, tls, reused, .. } = self;
        let started =
            sent.get().map(|sent| sent - connect.get().unwrap_or_default() - tls.get().unwrap_or_default());
        Record { started: started.into(), wait: Nanos::ZERO, sent, connect, tls, reused, ..*record }
    }
}

/// One cache line, which is all that a noted request touches here.
#[derive(Debug)]
#[repr(align(64))]
struct Slot {
    phase: Phase,
    connection: ConnectionId,
    /// When it is given up; MAX when the slot is free.
    deadline: Nanos,
    /// When the heap's entry of this slot comes up; MAX if it has none. Entries of other instants are stale.
    watched: Nanos,
    /// Of a noted request.
    note: Note,
    /// Whose request it is; of no meaning where it is noted.
    session: SessionId,
}

#[derive(Debug, Default)]
pub(super) struct InFlight {
    slots: Vec<Slot>,
    /// By slot: the record so far, but for one that is noted.
    records: Vec<Record>,
    free: Vec<RequestId>,
    /// Of those that were given back once.
    again: HashMap<RequestId, Attempt>,
    deadlines: BinaryHeap<Reverse<(Nanos, RequestId)>>,
    live: u32,
}

impl InFlight {
    #[inline]
    fn slot(&mut self, id: RequestId) -> &mut Slot {
        &mut self.slots[id as usize]
    }

    /// The slot that the next request will have.
    #[inline]
    pub(super) fn next_id(&self) -> RequestId {
        self.free.last().copied().unwrap_or(self.slots.len() as RequestId)
    }

    /// A slot for a request on that connection.
    #[inline]
    fn begin(&mut self, connection: ConnectionId, phase: Phase, deadline: Nanos) -> RequestId {
        self.live += 1;
        let id = match self.free.pop() {
            Some(id) => id,
            None => self.make_room(),
        };
        let slot = self.slot(id);
        (slot.phase, slot.connection) = (phase, connection);
        self.watch(id, deadline);
        id
    }

    #[cold]
    fn make_room(&mut self) -> RequestId {
        self.slots.push(Slot {
            phase: Phase::Free,
            connection: 0,
            deadline: Nanos::MAX,
            watched: Nanos::MAX,
            note: Note::NONE,
            session: NO_SESSION,
        });
        self.records.push(Record::never_started(
            0,
            Nanos::ZERO,
            Nanos::ZERO,
            headway_base::Outcome::Unfinished,
        ));
        (self.slots.len() - 1) as RequestId
    }

    /// A request whose connection is being opened.
    pub(super) fn connect(
        &mut self,
        connection: ConnectionId,
        session: SessionId,
        record: Record,
        deadline: Nanos,
    ) -> RequestId {
        let id = self.begin(connection, Phase::Connecting, deadline);
        self.slot(id).session = session;
        self.records[id as usize] = record;
        id
    }

    /// A request that is sent at once.
    #[inline]
    pub(super) fn send(
        &mut self,
        connection: ConnectionId,
        session: SessionId,
        record: Record,
        deadline: Nanos,
    ) -> RequestId {
        let id = self.begin(connection, Phase::Sent, deadline);
        self.slot(id).session = session;
        self.records[id as usize] = record;
        id
    }

    /// A request that is sent at once, and of which that note is kept.
    #[inline]
    pub(super) fn note(&mut self, connection: ConnectionId, note: Note, deadline: Nanos) -> RequestId {
        let id = self.begin(connection, Phase::Noted, deadline);
        self.slot(id).note = note;
        id
    }

    /// It is another session's from now on.
    pub(super) fn hand_over(&mut self, id: RequestId, session: SessionId) {
        self.slot(id).session = session;
    }

    /// One whose connection was being opened is sent.
    pub(super) fn sent(&mut self, id: RequestId, deadline: Nanos) {
        self.slot(id).phase = Phase::Sent;
        self.watch(id, deadline);
    }

    /// A noted request is written out.
    pub(super) fn write_out(&mut self, id: RequestId, session: SessionId, record: Record) {
        let slot = self.slot(id);
        slot.phase = Phase::Sent;
        slot.session = session;
        self.records[id as usize] = record;
    }

    /// How it is being sent this time.
    #[inline]
    pub(super) fn attempt(&self, id: RequestId) -> Attempt {
        self.again.get(&id).copied().unwrap_or(Attempt::FIRST)
    }

    /// Its connection, of that number, carries it no longer: it waits for another.
    pub(super) fn give_back(&mut self, id: RequestId, not_on: u32) {
        let before = self.attempt(id);
        let slot = self.slot(id);
        slot.phase = Phase::GivenBack;
        slot.connection = NONE;
        let deadline = before.deadline.min(slot.deadline);
        let attempt = Attempt { number: before.number + 1, not_on, deadline, ..Attempt::FIRST };
        self.again.insert(id, attempt);
    }

    /// It is sent once more.
    pub(super) fn send_again(&mut self, id: RequestId, on: ConnectionId, attempt: Attempt) {
        self.again.insert(id, attempt);
        let slot = self.slot(id);
        (slot.phase, slot.connection) = (Phase::Sent, on);
        self.watch(id, attempt.deadline);
    }

    /// A connection is opened to send it once more.
    pub(super) fn connect_again(
        &mut self,
        id: RequestId,
        on: ConnectionId,
        attempt: Attempt,
        deadline: Nanos,
    ) {
        self.again.insert(id, attempt);
        let slot = self.slot(id);
        (slot.phase, slot.connection) = (Phase::Connecting, on);
        self.watch(id, deadline.min(attempt.deadline));
    }

    /// Whether it was given back before.
    #[inline]
    pub(super) fn is_again(&self, id: RequestId) -> bool {
        !self.again.is_empty() && self.again.contains_key(&id)
    }

    /// It has ended.
    #[inline]
    pub(super) fn end(&mut self, id: RequestId) {
        if !self.again.is_empty() {
            self.again.remove(&id);
        }
        let slot = self.slot(id);
        slot.phase = Phase::Free;
        slot.deadline = Nanos::MAX;
        self.live -= 1;
        self.free.push(id);
    }

    /// Requests under way, and those whose connection is being opened.
    #[inline]
    pub(super) fn live(&self) -> u32 {
        self.live
    }

    pub(super) fn ids(&self) -> Vec<RequestId> {
        (0..self.slots.len() as RequestId).filter(|&id| self.is_under_way(id)).collect()
    }

    #[inline]
    pub(super) fn is_under_way(&self, id: RequestId) -> bool {
        self.phase(id) != Phase::Free
    }

    #[inline]
    pub(super) fn phase(&self, id: RequestId) -> Phase {
        self.slots[id as usize].phase
    }

    #[inline]
    pub(super) fn connection(&self, id: RequestId) -> ConnectionId {
        self.slots[id as usize].connection
    }

    #[inline]
    pub(super) fn session(&self, id: RequestId) -> SessionId {
        self.slots[id as usize].session
    }

    #[inline]
    pub(super) fn record(&self, id: RequestId) -> &Record {
        &self.records[id as usize]
    }

    #[inline]
    pub(super) fn record_mut(&mut self, id: RequestId) -> &mut Record {
        &mut self.records[id as usize]
    }

    /// The note of a request, if there is no more of it.
    #[inline]
    pub(super) fn noted(&self, id: RequestId) -> Option<Note> {
        let slot = &self.slots[id as usize];
        (slot.phase == Phase::Noted).then_some(slot.note)
    }

    /// When it was due.
    #[inline]
    pub(super) fn intended(&self, id: RequestId) -> Nanos {
        self.noted(id).map_or_else(|| self.record(id).intended, |note| note.intended)
    }

    /// When it is given up.
    pub(super) fn deadline(&self, id: RequestId) -> Nanos {
        self.slots[id as usize].deadline
    }

    /// It is given up then, and not when that was said before.
    pub(super) fn put_off(&mut self, id: RequestId, deadline: Nanos) {
        self.watch(id, deadline);
    }

    #[inline(always)]
    fn watch(&mut self, id: RequestId, deadline: Nanos) {
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

    /// A request whose deadline has passed by `now`.
    #[inline]
    pub(super) fn pop_expired(&mut self, now: Nanos) -> Option<RequestId> {
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
