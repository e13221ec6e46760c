//! The connections of one shard: slots, which of them can take a request, and how many are open.
//!
//! Shared connections are used most recently used first, and the one in use is filled before another, so that the set in use is as small
//! as the load allows. One that belongs to a session is held for that session instead. Each connection leads to one origin; the cap is
//! of all together. While there may be as many connections as origins in use, each of these can have one, whatever the others need. An origin
//! is in use from the first request on that is due there.
//!
//! Deliberately absent: the requests that connections carry, and their deadlines ([`super::in_flight`]).

use super::{RequestId, SessionId};
use headway_base::Nanos;

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

/// Where a request goes that was given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// On that connection, which is available.
    On(ConnectionId),
    /// On one that is opened for it.
    New,
    /// It waits.
    Nowhere,
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
    /// Where it leads.
    origin: u16,
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

/// The connections to one origin.
#[derive(Debug)]
struct Pool {
    /// Those that any session may send on now.
    available: Vec<ConnectionId>,
    /// How many of these carry nothing.
    idle: u32,
    /// Of all that are open, or being opened, those that lead there.
    open: u32,
    /// Requests at once that a connection is expected to take before it is established.
    expected: u32,
    /// Shared connections of which it is not known yet what they take: they are being opened, or have not heard.
    unsettled: u32,
    /// Whose turn it is among those available.
    turn: usize,
    /// Since when what the first of these takes is awaited, though it stands.
    unheard_since: Option<Nanos>,
    /// Whether a request to there has been due.
    in_use: bool,
}

impl Pool {
    const EMPTY: Pool = Pool {
        available: Vec::new(),
        idle: 0,
        open: 0,
        expected: 1,
        unsettled: 0,
        turn: 0,
        unheard_since: None,
        in_use: false,
    };
}

#[derive(Debug)]
pub(super) struct Connections {
    slots: Vec<Slot>,
    /// By origin.
    pools: Vec<Pool>,
    /// Origins in use.
    in_use: u32,
    /// Those of them to which no connection leads.
    bare: u32,
    /// Connections that drain.
    draining: u32,
    /// The one of them that drains for an origin to which none leads, or [`NONE`].
    makes_way: ConnectionId,
    orphans: Vec<ConnectionId>,
    free: Vec<ConnectionId>,
    /// Most open at once.
    cap: u32,
    open: u32,
    opened: u32,
    /// Whether a request goes to a connection of its own while there may be another one, and then to each in turn.
    spread: bool,
}

impl Connections {
    pub(super) fn new(cap: u32) -> Connections {
        Connections {
            slots: Vec::new(),
            pools: vec![Pool::EMPTY],
            in_use: 0,
            bare: 0,
            draining: 0,
            makes_way: NONE,
            orphans: Vec::new(),
            free: Vec::new(),
            cap: cap.max(1),
            open: 0,
            opened: 0,
            spread: false,
        }
    }

    /// There are so many origins at least.
    pub(super) fn reach(&mut self, origins: usize) {
        while self.pools.len() < origins {
            self.pools.push(Pool::EMPTY);
        }
    }

    /// A request to that origin is due, or was.
    #[inline]
    pub(super) fn begin_use(&mut self, origin: u16) {
        let pool = &mut self.pools[usize::from(origin)];
        if !std::mem::replace(&mut pool.in_use, true) {
            self.in_use += 1;
            self.bare += 1;
        }
    }

    pub(super) fn is_in_use(&self, origin: u16) -> bool {
        self.pool(origin).in_use
    }

    /// Whether each origin in use can have a connection while the others have theirs.
    pub(super) fn has_one_for_each(&self) -> bool {
        self.cap >= self.in_use
    }

    /// Requests are spread over as many connections as there may be.
    pub(super) fn spread(&mut self) {
        self.spread = true;
    }

    /// A connection that is being opened to that origin is expected to take this many requests at once, at least 1: further ones wait
    /// for it.
    pub(super) fn expect(&mut self, origin: u16, requests: u32) {
        self.pools[usize::from(origin)].expected = requests.max(1);
    }

    #[inline]
    fn slot(&mut self, id: ConnectionId) -> &mut Slot {
        &mut self.slots[id as usize]
    }

    #[inline]
    fn pool(&self, origin: u16) -> &Pool {
        &self.pools[usize::from(origin)]
    }

    /// Whether a connection to that origin may be opened. Where others in use have none, one of each is left to them.
    #[inline]
    pub(super) fn can_open(&self, origin: u16) -> bool {
        if self.pools.len() == 1 || !self.has_one_for_each() {
            return self.open < self.cap;
        }
        let others = self.bare - u32::from(self.pool(origin).in_use && self.pool(origin).open == 0);
        self.open + others < self.cap
    }

    /// Whether a request that can start goes to a connection that stands.
    #[inline]
    pub(super) fn has_available(&self, origin: u16) -> bool {
        let pool = self.pool(origin);
        let may_open = self.spread && pool.idle == 0 && self.can_open(origin);
        !pool.available.is_empty() && !may_open
    }

    /// Whether a request to that origin can start: `own` on a new connection that is to be its session's, else on any.
    #[inline]
    pub(super) fn can_start(&self, origin: u16, own: bool) -> bool {
        if own {
            return self.can_open(origin) || self.gives_way(origin, own).is_some();
        }
        // The first of several connections is opened alone, if the next requests will find room on it.
        let pool = self.pool(origin);
        let awaited = pool.expected > 1 && pool.unsettled > 0;
        self.has_available(origin)
            || (!awaited && (self.can_open(origin) || self.gives_way(origin, own).is_some()))
    }

    /// The origin of which a connection that carries nothing can be closed, so that one to `origin` can be opened. Its own, where the new
    /// one is to be its session's `own`; and no other's last one, if each can have one.
    #[inline]
    fn gives_way(&self, origin: u16, own: bool) -> Option<u16> {
        if own && self.pool(origin).idle > 0 {
            return Some(origin);
        }
        if self.pools.len() == 1 {
            return None;
        }
        let least = if self.has_one_for_each() { 2 } else { 1 };
        let others = (0..).zip(&self.pools).filter(|(other, _)| *other != origin);
        let can = others.filter(|(_, pool)| pool.idle > 0 && pool.open >= least);
        can.max_by_key(|(_, pool)| pool.idle).map(|(other, _)| other)
    }

    /// A connection to that origin with room for a request, which it carries from now on.
    #[inline]
    pub(super) fn take(&mut self, origin: u16) -> Option<ConnectionId> {
        if self.spread {
            return self.take_spread(origin);
        }
        let pool = &mut self.pools[usize::from(origin)];
        let &id = pool.available.last()?;
        let slot = &mut self.slots[id as usize];
        pool.idle -= u32::from(slot.carries == 0);
        slot.carries += 1;
        if slot.carries >= slot.capacity {
            pool.available.pop();
        }
        Some(id)
    }

    /// Where a request to that origin goes that was given back on the connection of the number `not_on`; `own` as in [`can_start`](Connections::can_start).
    pub(super) fn way_again(&self, origin: u16, not_on: u32, own: bool) -> Way {
        let pool = self.pool(origin);
        let opens = self.can_open(origin) || self.gives_way(origin, own).is_some();
        let idle = |id: ConnectionId| self.slots[id as usize].carries == 0;
        let fits = |&&id: &&ConnectionId| self.number(id) != not_on && (!self.spread || !opens || idle(id));
        match pool.available.iter().rev().find(fits) {
            Some(&other) if !own => Way::On(other),
            _ if !own && pool.expected > 1 && pool.unsettled > 0 => Way::Nowhere,
            _ if opens => Way::New,
            // There is no other, and none can be opened.
            _ => match pool.available.last() {
                Some(&same) if !own => Way::On(same),
                _ => Way::Nowhere,
            },
        }
    }

    /// A request goes out on that connection, which is available.
    pub(super) fn take_this(&mut self, id: ConnectionId) {
        let slot = &mut self.slots[id as usize];
        let pool = &mut self.pools[usize::from(slot.origin)];
        pool.idle -= u32::from(slot.carries == 0);
        slot.carries += 1;
        if slot.carries >= slot.capacity {
            pool.available.retain(|&other| other != id);
        }
    }

    /// Closes one that carries nothing, if none can be opened to that origin else.
    pub(super) fn make_way(&mut self, origin: u16, own: bool) -> Option<ConnectionId> {
        if self.can_open(origin) {
            return None;
        }
        self.close_idle_of(self.gives_way(origin, own)?)
    }

    /// The same where requests are spread: one that carries nothing, else none while another may be opened, else each in turn.
    fn take_spread(&mut self, origin: u16) -> Option<ConnectionId> {
        if !self.has_available(origin) {
            return None;
        }
        let pool = &mut self.pools[usize::from(origin)];
        let idle = pool.available.iter().position(|&id| self.slots[id as usize].carries == 0);
        pool.turn = idle.unwrap_or(pool.turn) % pool.available.len();
        let id = pool.available[pool.turn];
        let slot = &mut self.slots[id as usize];
        pool.idle -= u32::from(slot.carries == 0);
        slot.carries += 1;
        if slot.carries >= slot.capacity {
            pool.available.remove(pool.turn);
        } else {
            pool.turn += 1;
        }
        Some(id)
    }

    /// Closes a shared connection that carries nothing, if there is one.
    #[inline]
    pub(super) fn close_idle(&mut self) -> Option<ConnectionId> {
        let origin = (0..).zip(&self.pools).find(|(_, pool)| pool.idle > 0).map(|(origin, _)| origin)?;
        self.close_idle_of(origin)
    }

    /// Closes one that carries nothing so that one to that origin can be opened, if there is one; `own` as in
    /// [`can_start`](Connections::can_start).
    #[inline]
    pub(super) fn make_room(&mut self, origin: u16, own: bool) -> Option<ConnectionId> {
        if self.can_open(origin) || (!own && self.has_available(origin)) {
            return None;
        }
        self.close_idle_of(self.gives_way(origin, own)?)
    }

    /// Whether no connection leads to that origin, nor can be opened, though each origin can have one.
    pub(super) fn lacks_one(&self, origin: u16) -> bool {
        self.pool(origin).open == 0 && self.has_one_for_each() && !self.can_open(origin)
    }

    /// For an origin that lacks one: a connection of the origin that has most, which takes no further request from now on, and whether it is
    /// of no more use at once. None while any drains.
    pub(super) fn drain_one(&mut self) -> Option<(ConnectionId, bool)> {
        if self.draining > 0 {
            return None;
        }
        let (most, _) = (0..).zip(&self.pools).max_by_key(|(_, pool)| pool.open)?;
        let can = |slot: &Slot| slot.state == State::Open && slot.origin == most;
        let all = (0..).zip(&self.slots).filter(|(_, slot)| can(slot));
        let (id, _) = all.min_by_key(|(_, slot)| slot.carries)?;
        let useless = self.drain(id);
        self.makes_way = id;
        Some((id, useless))
    }

    /// Nobody needs the room of the one that drains for another origin any more: it takes requests again.
    pub(super) fn stay(&mut self) {
        let id = std::mem::replace(&mut self.makes_way, NONE);
        if id == NONE {
            return;
        }
        self.turn(id, State::Open);
        if self.slots[id as usize].is_available() {
            self.pool_of(id).available.push(id);
        }
    }

    fn close_idle_of(&mut self, origin: u16) -> Option<ConnectionId> {
        let all = &self.pool(origin).available;
        let &id = all.iter().rev().find(|&&id| self.slots[id as usize].carries == 0)?;
        self.close(id);
        Some(id)
    }

    /// A new connection to that origin, to be opened for that request, which it carries; `owner`: whose own it is to be, if anybody's;
    /// `single`: it is for that request alone.
    pub(super) fn open(
        &mut self,
        origin: u16,
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
            origin,
            single,
        };
        self.begin_use(origin);
        self.opened = self.opened.wrapping_add(1);
        self.open += 1;
        let pool = &mut self.pools[usize::from(origin)];
        self.bare -= u32::from(pool.open == 0);
        pool.open += 1;
        pool.unsettled += u32::from(slot.is_shared());
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
    pub(super) fn established(&mut self, id: ConnectionId, capacity: u32, settled: bool, now: Nanos) {
        if !settled {
            self.pool_of(id).unheard_since.get_or_insert(now);
        } else {
            self.settle(id);
            // What one connection takes, the next ones are expected to take.
            let pool = self.pool_of(id);
            pool.expected = pool.expected.min(capacity.max(1));
        }
        let single = self.slot(id).single;
        self.turn(id, if single { State::Draining } else { State::Open });
        let slot = self.slot(id);
        slot.capacity = capacity.max(1);
        if slot.is_available() {
            self.pool_of(id).available.push(id);
        }
    }

    /// Whether it stands and has not said what it takes.
    pub(super) fn is_mute(&self, id: ConnectionId) -> bool {
        let slot = &self.slots[id as usize];
        slot.state == State::Open && !slot.settled
    }

    /// What it takes is not known after the time of a whole response: requests to its origin do not wait to learn that, from it or others.
    pub(super) fn await_no_longer(&mut self, id: ConnectionId) {
        self.settle(id);
        self.pool_of(id).expected = 1;
    }

    /// An origin of which a connection has stood for so long without saying what it takes that nothing is to wait for that any more.
    pub(super) fn give_up_hearing(&mut self, longest: Nanos, now: Nanos) -> Option<u16> {
        for pool in self.pools.iter_mut().filter(|pool| pool.unsettled == 0) {
            pool.unheard_since = None;
        }
        let mut pools = (0..).zip(&mut self.pools);
        let since = |pool: &Pool| pool.unheard_since.is_some_and(|since| now - since >= longest);
        let (origin, pool) = pools.find(|(_, pool)| pool.expected > 1 && since(pool))?;
        pool.expected = 1;
        Some(origin)
    }

    /// It is in that state now; in which it was.
    fn turn(&mut self, id: ConnectionId, state: State) -> State {
        let was = std::mem::replace(&mut self.slot(id).state, state);
        if id == self.makes_way {
            self.makes_way = NONE;
        }
        self.draining += u32::from(state == State::Draining);
        self.draining -= u32::from(was == State::Draining);
        was
    }

    /// The pool of a connection.
    #[inline]
    fn pool_of(&mut self, id: ConnectionId) -> &mut Pool {
        &mut self.pools[usize::from(self.slots[id as usize].origin)]
    }

    /// Where it leads.
    #[inline]
    pub(super) fn origin(&self, id: ConnectionId) -> u16 {
        self.slots[id as usize].origin
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
                let pool = self.pool_of(id);
                pool.idle += u32::from(carries == 0);
                pool.available.push(id);
            }
            (true, false) => self.withdraw(id),
            _ => {}
        }
    }

    /// Nobody sends on it any more.
    fn withdraw(&mut self, id: ConnectionId) {
        let carries = self.slots[id as usize].carries;
        let pool = self.pool_of(id);
        if let Some(at) = pool.available.iter().rposition(|&other| other == id) {
            pool.available.remove(at);
            pool.idle -= u32::from(carries == 0);
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
        let pool = &mut self.pools[usize::from(slot.origin)];
        pool.idle += u32::from(slot.carries == 0);
        if !was {
            pool.available.push(id);
        }
        false
    }

    /// It takes no further request. Whether it is of no more use at once.
    pub(super) fn drain(&mut self, id: ConnectionId) -> bool {
        self.withdraw_if_available(id);
        self.settle(id);
        if self.slot(id).state == State::Free {
            return false;
        }
        self.turn(id, State::Draining);
        self.slot(id).carries == 0
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
        self.turn(id, State::Orphan);
        self.orphans.push(id);
    }

    /// It is known what it takes, or no longer of interest.
    fn settle(&mut self, id: ConnectionId) {
        let slot = &mut self.slots[id as usize];
        let first = !std::mem::replace(&mut slot.settled, true);
        let pool = &mut self.pools[usize::from(slot.origin)];
        pool.unsettled -= u32::from(first && slot.is_shared());
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
        if self.turn(id, State::Free) == State::Free {
            return;
        }
        self.open -= 1;
        self.free.push(id);
        let pool = self.pool_of(id);
        pool.open -= 1;
        self.bare += u32::from(pool.open == 0);
    }
}
