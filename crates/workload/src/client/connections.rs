//! The connections of one shard: slots, which of them can take a request, and how many are open.
//!
//! Shared connections are used most recently used first, and the one in use is filled before another, so that the set in use is as small
//! as the load allows. One that belongs to a session is held for that session instead.
//!
//! Deliberately absent: the requests that connections carry, and their deadlines ([`super::in_flight`]).

use super::{RequestId, SessionId};

/// A connection's slot within its shard; used again after the connection is closed.
pub type ConnectionId = u32;

/// No connection.
pub(super) const NONE: ConnectionId = ConnectionId::MAX;
/// No session: of a shared connection.
const SHARED: SessionId = SessionId::MAX;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Free,
    /// Being opened for that request.
    Opening(RequestId),
    Open,
    /// It takes no further request, and is closed when those under way have ended.
    Draining,
    /// Of no use to anybody: it is about to be closed.
    Orphan,
}

#[derive(Debug)]
struct Slot {
    state: State,
    /// Number of the connection, counted up over the run.
    number: u32,
    /// Requests under way on it, or waiting for it to open.
    carries: u32,
    /// Most of these at once.
    capacity: u32,
    /// Whether that is known.
    settled: bool,
    /// Whose own it is, or [`SHARED`].
    owner: SessionId,
    /// Whether it is for one request alone.
    single: bool,
}

impl Slot {
    /// Whether any session may send on it once it stands.
    #[inline]
    fn is_shared(&self) -> bool {
        self.owner == SHARED && !self.single
    }

    /// Whether any session may send on it now.
    #[inline]
    fn is_available(&self) -> bool {
        self.state == State::Open && self.is_shared() && self.carries < self.capacity
    }
}

#[derive(Debug)]
pub(super) struct Connections {
    slots: Vec<Slot>,
    /// Those that any session may send on now.
    available: Vec<ConnectionId>,
    /// How many of these carry nothing.
    idle: u32,
    orphans: Vec<ConnectionId>,
    free: Vec<ConnectionId>,
    /// Most open at once.
    cap: u32,
    open: u32,
    opened: u32,
    /// Requests at once that a connection is expected to take before it is established.
    expected: u32,
    /// Shared connections of which it is not known yet what they take: they are being opened, or have not heard.
    unsettled: u32,
    /// Whether a request goes to a connection of its own while there may be another one, and then to each in turn.
    spread: bool,
    /// Whose turn it is among those available.
    turn: usize,
}

impl Connections {
    pub(super) fn new(cap: u32) -> Connections {
        Connections {
            slots: Vec::new(),
            available: Vec::new(),
            idle: 0,
            orphans: Vec::new(),
            free: Vec::new(),
            cap: cap.max(1),
            open: 0,
            opened: 0,
            expected: 1,
            unsettled: 0,
            spread: false,
            turn: 0,
        }
    }

    /// Requests are spread over as many connections as there may be.
    pub(super) fn spread(&mut self) {
        self.spread = true;
    }

    /// A connection that is being opened is expected to take this many requests at once, at least 1: further ones wait for it.
    pub(super) fn expect(&mut self, requests: u32) {
        self.expected = requests.max(1);
    }

    #[inline]
    fn slot(&mut self, id: ConnectionId) -> &mut Slot {
        &mut self.slots[id as usize]
    }

    #[inline]
    pub(super) fn can_open(&self) -> bool {
        self.open < self.cap
    }

    /// Whether a request that can start goes to a connection that stands.
    #[inline]
    pub(super) fn has_available(&self) -> bool {
        let may_open = self.spread && self.idle == 0 && self.can_open();
        !self.available.is_empty() && !may_open
    }

    /// Whether a request can start: `own` on a new connection that is to be its session's, else on any.
    #[inline]
    pub(super) fn can_start(&self, own: bool) -> bool {
        if own {
            return self.can_open() || self.idle > 0;
        }
        // The first of several connections is opened alone, if the next requests will find room on it.
        let awaited = self.expected > 1 && self.unsettled > 0;
        self.has_available() || (self.can_open() && !awaited)
    }

    /// A connection with room for a request, which it carries from now on.
    #[inline]
    pub(super) fn take(&mut self) -> Option<ConnectionId> {
        if self.spread {
            return self.take_spread();
        }
        let &id = self.available.last()?;
        let slot = &mut self.slots[id as usize];
        self.idle -= u32::from(slot.carries == 0);
        slot.carries += 1;
        if slot.carries >= slot.capacity {
            self.available.pop();
        }
        Some(id)
    }

    /// The same where requests are spread: one that carries nothing, else none while another may be opened, else each in turn.
    fn take_spread(&mut self) -> Option<ConnectionId> {
        if !self.has_available() {
            return None;
        }
        let idle = self.available.iter().position(|&id| self.slots[id as usize].carries == 0);
        self.turn = idle.unwrap_or(self.turn) % self.available.len();
        let id = self.available[self.turn];
        let slot = &mut self.slots[id as usize];
        self.idle -= u32::from(slot.carries == 0);
        slot.carries += 1;
        if slot.carries >= slot.capacity {
            self.available.remove(self.turn);
        } else {
            self.turn += 1;
        }
        Some(id)
    }

    /// Closes a shared connection that carries nothing, if there is one.
    #[inline]
    pub(super) fn close_idle(&mut self) -> Option<ConnectionId> {
        if self.idle == 0 {
            return None;
        }
        let &id = self.available.iter().rev().find(|&&id| self.slots[id as usize].carries == 0)?;
        self.close(id);
        Some(id)
    }

    /// A new connection, to be opened for that request, which it carries; `owner`: whose own it is to be, if anybody's; `single`: it is
    /// for that request alone.
    pub(super) fn open(
        &mut self,
        request: RequestId,
        owner: Option<SessionId>,
        single: bool,
    ) -> ConnectionId {
        let slot = Slot {
            state: State::Opening(request),
            number: self.opened,
            carries: 1,
            capacity: 1,
            settled: false,
            owner: owner.unwrap_or(SHARED),
            single,
        };
        self.opened = self.opened.wrapping_add(1);
        self.open += 1;
        self.unsettled += u32::from(slot.is_shared());
        match self.free.pop() {
            Some(id) => {
                self.slots[id as usize] = slot;
                id
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as ConnectionId
            }
        }
    }

    /// The request that a connection is being opened for; none where it is not being opened.
    pub(super) fn opening_for(&self, id: ConnectionId) -> Option<RequestId> {
        match self.slots[id as usize].state {
            State::Opening(request) => Some(request),
            _ => None,
        }
    }

    /// It stands, and takes that many requests at once; `settled`: which is known, and will not soon be more.
    pub(super) fn established(&mut self, id: ConnectionId, capacity: u32, settled: bool) {
        if settled {
            self.settle(id);
            // What one connection takes, the next ones are expected to take.
            self.expected = self.expected.min(capacity.max(1));
        }
        let slot = self.slot(id);
        slot.state = if slot.single { State::Draining } else { State::Open };
        slot.capacity = capacity.max(1);
        if slot.is_available() {
            self.available.push(id);
        }
    }

    /// It takes that many requests at once from now on; those under way go on.
    pub(super) fn set_capacity(&mut self, id: ConnectionId, capacity: u32) {
        self.settle(id);
        let slot = self.slot(id);
        let was = slot.is_available();
        slot.capacity = capacity;
        let (is, carries) = (slot.is_available(), slot.carries);
        match (was, is) {
            (false, true) => {
                self.idle += u32::from(carries == 0);
                self.available.push(id);
            }
            (true, false) => self.withdraw(id),
            _ => {}
        }
    }

    /// Nobody sends on it any more.
    fn withdraw(&mut self, id: ConnectionId) {
        if let Some(at) = self.available.iter().rposition(|&other| other == id) {
            self.available.remove(at);
            self.idle -= u32::from(self.slots[id as usize].carries == 0);
        }
    }

    /// A request is sent on a connection that is its session's own.
    #[inline]
    pub(super) fn load(&mut self, id: ConnectionId) {
        self.slot(id).carries += 1;
    }

    /// A request on it has ended. Whether the connection is of no more use.
    #[inline]
    pub(super) fn unload(&mut self, id: ConnectionId) -> bool {
        let slot = &mut self.slots[id as usize];
        let was = slot.is_available();
        slot.carries -= 1;
        if !slot.is_available() {
            return slot.state == State::Draining && slot.carries == 0;
        }
        self.idle += u32::from(slot.carries == 0);
        if !was {
            self.available.push(id);
        }
        false
    }

    /// It takes no further request. Whether it is of no more use at once.
    pub(super) fn drain(&mut self, id: ConnectionId) -> bool {
        self.withdraw_if_available(id);
        self.settle(id);
        let slot = self.slot(id);
        if slot.state == State::Free {
            return false;
        }
        slot.state = State::Draining;
        slot.carries == 0
    }

    fn withdraw_if_available(&mut self, id: ConnectionId) {
        if self.slots[id as usize].is_available() {
            self.withdraw(id);
        }
    }

    /// Whether it takes no further request.
    #[inline]
    pub(super) fn is_draining(&self, id: ConnectionId) -> bool {
        self.slots[id as usize].state == State::Draining
    }

    /// Whose own it is; of no meaning where it is closed.
    pub(super) fn owner(&self, id: ConnectionId) -> Option<SessionId> {
        Some(self.slots[id as usize].owner).filter(|&owner| owner != SHARED)
    }

    /// Whether any session may send on it, if it has room.
    pub(super) fn is_open_to_all(&self, id: ConnectionId) -> bool {
        let slot = &self.slots[id as usize];
        slot.state == State::Open && slot.is_shared()
    }

    pub(super) fn number(&self, id: ConnectionId) -> u32 {
        self.slots[id as usize].number
    }

    /// Nobody needs it any more, with what it still carries, if anything: it is to be closed.
    pub(super) fn orphan(&mut self, id: ConnectionId) {
        self.withdraw_if_available(id);
        self.settle(id);
        self.slot(id).state = State::Orphan;
        self.orphans.push(id);
    }

    /// It is known what it takes, or no longer of interest.
    fn settle(&mut self, id: ConnectionId) {
        let slot = &mut self.slots[id as usize];
        let first = !std::mem::replace(&mut slot.settled, true);
        self.unsettled -= u32::from(first && slot.is_shared());
    }

    /// Whether one may have to be closed because nobody needs it.
    pub(super) fn has_orphans(&self) -> bool {
        !self.orphans.is_empty()
    }

    /// One that is to be closed because nobody needs it.
    #[inline]
    pub(super) fn take_orphan(&mut self) -> Option<ConnectionId> {
        while let Some(id) = self.orphans.pop() {
            if self.slots[id as usize].state == State::Orphan {
                return Some(id);
            }
        }
        None
    }

    /// It is gone.
    pub(super) fn close(&mut self, id: ConnectionId) {
        self.withdraw_if_available(id);
        self.settle(id);
        let slot = self.slot(id);
        if std::mem::replace(&mut slot.state, State::Free) == State::Free {
            return;
        }
        self.open -= 1;
        self.free.push(id);
    }
}
