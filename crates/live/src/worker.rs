//! One worker: plays one shard of the plan over its own sockets, on time.
//!
//! The loop sleeps until shortly before the next due instant and polls the clock for the rest (how long before, and whether it
//! sleeps at all, [`Waiter`] says), and it looks for due arrivals after every event that it handles, not only when idle. It
//! does not poll while no connection is free, unless it is never to sleep: then nothing could be sent, and the core belongs
//! to others.

mod handshake;
mod responses;
mod sending;

use crate::address::Address;
use crate::clock::{Clock, unix_now};
use crate::connection::{Asked, Connection, Stage};
use crate::control::Control;
use crate::host;
use crate::names::{Places, Seen};
use crate::outcome::{connect_kind, connect_outcome, lacked};
use crate::protocols::Protocols;
use crate::proxy::Via;
use crate::reactor::{Completion, KernelStamp, Reactor};
use crate::requests::{InFlight, Requests, SessionStore};
use crate::run::Origin;
use crate::tls::TlsSetup;
use crate::transport::Transport;
use crate::wait::Waiter;
use crate::watch::{Doing, STALL, WorkerReport};
use headway_base::{KnownFailure, Nanos, Outcome, RecordSink, Short};
use headway_wire::{Carrier, Settings, StreamId, Tally};
use headway_workload::client::{ConnectionId, RequestId, SessionId};
use headway_workload::content::{Found, Reason};
use headway_workload::{Action, Client, ConnectionEvent, RequestEvent, SessionControl};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt::Display;
use std::io;
use std::net::IpAddr;
use std::num::NonZeroU64;
use std::sync::Arc;

/// The sink hears the time at least this often.
const TICK: Nanos = Nanos::from_millis(50);

/// Arrivals started in a row before answers are looked for, and after each answer: a generator that cannot keep up must
/// still read.
const STARTS_IN_A_ROW: u32 = 64;
const STARTS_PER_EVENT: u32 = 4;

/// Requests of one connection that wait to be sent together, at most: each waits for those after it to be made, some microseconds.
const CORKED_AT_ONCE: usize = 16;

const READ_BUFFER: usize = 64 << 10;

/// An origin, as workers share it.
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) addresses: Arc<Places>,
    pub(crate) via: Option<Via>,
    pub(crate) tls: Option<TlsSetup>,
    pub(crate) protocols: Protocols,
}

impl Place {
    pub(crate) fn of(origin: &Origin) -> Place {
        Place {
            name: origin.name.clone(),
            addresses: Arc::new(Places::new(&origin.addresses)),
            via: origin.via.clone(),
            tls: origin.tls.as_ref().map(|tls| tls.offering(origin.protocols.alpn())),
            protocols: origin.protocols.clone(),
        }
    }

    /// What an error says before the address that connections go to.
    pub(crate) fn whose(&self) -> &'static str {
        if self.via.is_some() { "the proxy " } else { "" }
    }

    /// Whether requests go to a proxy, which sends them on.
    pub(crate) fn forwards(&self) -> bool {
        matches!(self.via, Some(Via::Requests))
    }
}

/// What every worker of a run shares.
pub(crate) struct Shared {
    /// Where requests go, by number: the target first.
    pub(crate) origins: Vec<Place>,
    /// Whether connections are counted by where they go.
    pub(crate) counts_places: bool,
    /// Addresses of this machine that connections are opened from in turn; empty: whichever the system takes.
    pub(crate) sources: Vec<IpAddr>,
    pub(crate) requests: Requests,
    /// Whether the client is to hear of the head of each response and of each read that brings a piece of its body, as responses may not
    /// stand still.
    pub(crate) tells_progress: bool,
    pub(crate) settings: Settings,
    pub(crate) clock: Clock,
    /// Whether a plan that has begun is joined where it is.
    pub(crate) joins: bool,
    pub(crate) control: Control,
}

impl Shared {
    /// Requests at once that a connection to each origin is expected to take.
    pub(crate) fn expected_streams(&self) -> Vec<u32> {
        let one = |origin: &Place| {
            let expected = origin.protocols.expected(origin.tls.is_some());
            expected.map_or(1, |protocol| protocol.streams(&self.settings))
        };
        self.origins.iter().map(one).collect()
    }

    /// What the bytes travel in: to all origins the same.
    #[inline]
    pub(crate) fn carrier(&self) -> Carrier {
        self.origins[0].protocols.carrier()
    }

    /// What a reason begins with where there are several origins: which it is about.
    pub(crate) fn named(&self, origin: u16) -> Named<'_> {
        Named((self.origins.len() > 1).then(|| &*self.origins[usize::from(origin)].name))
    }
}

/// The origin that a reason is about, if there are several.
#[derive(Clone, Copy)]
pub(crate) struct Named<'s>(Option<&'s str>);

impl Display for Named<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |name| write!(f, "{name}: "))
    }
}

/// How long what was just received had lain in the socket. Both ends are wall time, read within a span in which nothing steps
/// that clock but by accident; a step back gives zero.
#[inline]
fn unread_since(stamp: KernelStamp) -> Nanos {
    Nanos((unix_now() - stamp.0).clamp(0, i128::from(i64::MAX)) as i64)
}

pub(crate) struct Worker<'a, S> {
    shared: &'a Shared,
    client: Client<S>,
    reactor: Reactor,
    connections: Vec<Option<Connection>>,
    /// What the client wants done next.
    todo: VecDeque<Action>,
    /// Whether what is to be sent on connections of several requests waits: as long as several are started in a row, so that one system
    /// call does for them.
    corked: bool,
    /// Connections with something that waits so.
    to_transmit: Vec<ConnectionId>,
    /// Connections on which the protocol has an event without bytes received.
    to_hear: Vec<ConnectionId>,
    /// When protocols want to be called.
    timers: BinaryHeap<Reverse<(Nanos, ConnectionId)>>,
    /// What the sessions keep.
    kept: SessionStore,
    /// Spare send buffers; at most one per connection is ever out.
    spare: Vec<Vec<u8>>,
    plain: Vec<u8>,
    report: WorkerReport,
    /// What connections that have ended had counted.
    ended: Tally,
    stops_heard: u8,
    tick_at: Nanos,
    waiter: Waiter<'a>,
    /// How long this thread had waited for a processor when that was last asked.
    starved: Option<Nanos>,
    /// Whether all that had happened was handled since the last connection was opened. While answers lie unread, a
    /// connection may already be free, and opening one costs ten times a look: without this, catching up after a stall
    /// opens connections by the hundred, is late for that, and opens more.
    looked: bool,
    /// Where connections go, by origin.
    places: Vec<Seen<'a>>,
    /// Whose turn it is of the addresses that connections are opened from.
    turn: usize,
    /// When it had looked last before it learned of what is handled now.
    unseen_since: Nanos,
    /// How long what is handled now had lain unread.
    unread: Short,
    /// When what is handled now reached this machine, as far as that is known.
    heard: Nanos,
    /// Events that a piece of a body ended, before they go to the client.
    found: Vec<Found>,
}

impl<'a, S: RecordSink> Worker<'a, S> {
    /// A worker on that reactor, which stands before any worker runs: a shard must not be missing because the system
    /// had no descriptor left for it.
    pub(crate) fn new(
        shared: &'a Shared,
        client: Client<S>,
        reactor: Reactor,
        waiter: Waiter<'a>,
    ) -> Worker<'a, S> {
        shared.control.register(reactor.waker());
        Worker {
            shared,
            client,
            reactor,
            connections: Vec::new(),
            todo: VecDeque::new(),
            corked: false,
            to_transmit: Vec::new(),
            to_hear: Vec::new(),
            timers: BinaryHeap::new(),
            kept: SessionStore::default(),
            spare: Vec::new(),
            plain: Vec::new(),
            report: WorkerReport::default(),
            ended: Tally::default(),
            stops_heard: 0,
            tick_at: Nanos(i64::MIN),
            waiter,
            starved: None,
            looked: false,
            places: shared.origins.iter().map(|origin| origin.addresses.seen()).collect(),
            turn: 0,
            unseen_since: Nanos::ZERO,
            unread: Short::ZERO,
            heard: Nanos::ZERO,
            found: Vec::new(),
        }
    }

    /// Plays the shard to its end.
    pub(crate) fn run(mut self) -> io::Result<WorkerReport> {
        // Sleep to the nanosecond asked for, not to the usual 50 us; where that is refused the lag shows it.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let before = host::scheduled();
        let mut buffer = vec![0; READ_BUFFER];
        if self.shared.joins {
            self.join();
        }
        let result = self.play(&mut buffer);
        let now = self.shared.clock.now();
        self.tell_strays(now);
        for id in 0..self.connections.len() {
            self.never_left(id as ConnectionId, now);
            self.count_surplus(id as ConnectionId);
        }
        self.client.finish_all(now);
        for (key, &n) in self.client.given_up() {
            let told = self.report.given_up.get(key).copied().unwrap_or(0);
            self.report.given_up.insert(*key, n.saturating_sub(told));
        }
        if let (Some(before), Some(after)) = (before, host::scheduled()) {
            self.report.runqueue_wait = Some(after.waited - before.waited);
            self.report.processor = Some(after.ran - before.ran);
        }
        self.report.wakeups = self.waiter.wakeups();
        result.map(|()| self.report)
    }

    /// Joins a plan that has begun. To write down what was missed takes time, in which more falls due: until no more than a moment is left.
    fn join(&mut self) {
        const MOMENT: Nanos = Nanos::from_micros(200);
        const TRIES: usize = 64;
        for _ in 0..TRIES {
            let now = self.shared.clock.now();
            if now <= Nanos::ZERO {
                return;
            }
            self.report.missed += self.client.join(now);
            self.report.joined = Some(now);
            if self.shared.clock.now() - now <= MOMENT {
                return;
            }
        }
    }

    fn play(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let mut now = self.shared.clock.now();
        let mut looked_at = now;
        let longest_sleep = self.client.longest_sleep();
        loop {
            let before = now;
            now = self.start_due(now, STARTS_IN_A_ROW);
            self.hear_stop(now);
            if now >= self.tick_at {
                self.client.tick(now);
                self.tick_at = now + TICK;
                self.note_starved(now);
                self.tell_strays(now);
            }
            self.lap(Doing::Handling, before, now, Nanos::ZERO);
            if self.client.is_done() && self.stops_heard == self.shared.control.asked() {
                return Ok(());
            }

            let before = now;
            let mut wake = self.client.wake_at().min(self.call_protocols(now));
            if self.client.is_poised() {
                wake -= self.waiter.horizon();
            }
            let meant = self.waiter.sleep((wake.min(self.tick_at) - now).min(longest_sleep));
            let any = self.reactor.wait(Some(meant))?;
            now = self.shared.clock.now();
            self.unseen_since = std::mem::replace(&mut looked_at, now);
            let doing = match (meant > Nanos::ZERO, any) {
                (true, _) => Doing::Sleeping,
                (false, false) => Doing::Polling,
                (false, true) => Doing::Handling,
            };
            self.lap(doing, before, now, meant);
            if doing == Doing::Sleeping {
                self.waiter.slept(meant, now - before, any, now);
            }

            let asked = before;
            self.looked = false;
            while let Some(completion) = self.reactor.next(buffer) {
                let before = now;
                now = self.shared.clock.now();
                self.handle(completion, buffer, now);
                now = self.start_due(now, STARTS_PER_EVENT);
                self.lap(Doing::Handling, before, now, Nanos::ZERO);
            }
            self.looked = true;
            self.client.caught_up(asked);
        }
    }

    #[inline]
    fn lap(&mut self, doing: Doing, from: Nanos, to: Nanos, meant: Nanos) {
        let over = self.report.lap(doing, from, to, meant);
        if doing == Doing::Handling {
            self.client.busy(to - from);
        }
        if over > STALL {
            self.client.stood_still(to - over, to);
        }
    }

    /// By the clock alone, a thread that waits for a processor looks asleep.
    fn note_starved(&mut self, now: Nanos) {
        let counts = host::scheduled();
        if let Some(counts) = counts {
            self.waiter.scheduled(now, counts);
        }
        let waited = counts.map(|counts| counts.waited);
        if let (Some(before), Some(now)) = (self.starved, waited) {
            self.client.busy(now - before);
        }
        self.starved = waited;
    }

    /// Performs what is due at `now`, at most `most` actions; returns the clock after the last.
    #[inline]
    fn start_due(&mut self, mut now: Nanos, most: u32) -> Nanos {
        let outer = std::mem::replace(&mut self.corked, true);
        for _ in 0..most {
            if self.client.would_open() && !self.looked {
                break;
            }
            let Some(action) = self.client.poll(now) else { break };
            self.looked &= !matches!(action, Action::Connect(..));
            self.act(action, now);
            let before = now;
            now = self.shared.clock.now();
            if matches!(action, Action::Send(..)) {
                self.report.sends += 1;
                self.report.send_time += now - before;
            }
        }
        self.uncork(outer, now);
        now
    }

    /// Sends what has waited, unless it is to wait on.
    #[inline]
    fn uncork(&mut self, outer: bool, now: Nanos) {
        if outer {
            return;
        }
        loop {
            while let Some(id) = self.to_transmit.pop() {
                self.transmit(id, now);
            }
            let Some(id) = self.to_hear.pop() else { break };
            self.answer(id, &[], now);
        }
        self.corked = false;
    }

    fn hear_stop(&mut self, now: Nanos) {
        while self.stops_heard < self.shared.control.asked() {
            self.stops_heard += 1;
            match self.stops_heard {
                1 => self.client.stop(now),
                _ => self.client.cancel(now),
            }
        }
    }

    /// Does what the client wants done, and what it wants done because of that.
    #[inline]
    fn act(&mut self, action: Action, now: Nanos) {
        self.perform(action, now);
        self.act_on_all(now);
    }

    #[inline]
    fn act_on_all(&mut self, now: Nanos) {
        while let Some(action) = self.todo.pop_front() {
            self.perform(action, now);
        }
    }

    #[inline]
    fn perform(&mut self, action: Action, now: Nanos) {
        match action {
            Action::Send(on, request, key) => self.send_request(on, request, &key, now),
            Action::Connect(id, origin) => self.open(id, origin, now),
            Action::Cancel(on, request) => self.cancel(on, request, now),
            Action::Disconnect(id) => self.disconnect(id, now),
        }
    }

    #[inline]
    fn connection(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.connections.get_mut(id as usize)?.as_mut()
    }

    /// Tells the client of a connection.
    #[inline]
    fn tell(&mut self, id: ConnectionId, event: ConnectionEvent, now: Nanos) {
        self.todo.extend(self.client.on_connection(id, event, now));
    }

    /// Tells the client of a request.
    #[inline]
    fn tell_of(&mut self, request: RequestId, event: RequestEvent, now: Nanos) {
        self.todo.extend(self.client.on_request(request, event, now));
    }

    fn disconnect(&mut self, id: ConnectionId, now: Nanos) {
        self.note_unanswered(id, now);
        self.never_left(id, now);
        while let Some(stream) = self.connection(id).and_then(|c| c.any_stream()) {
            self.missed(id, stream);
        }
        self.count_strays(id);
        self.count_surplus(id);
        self.reactor.close(id);
        self.connections[id as usize] = None;
    }

    /// Whether a connection that ends had bytes that nothing asked for.
    fn count_surplus(&mut self, id: ConnectionId) {
        let surplus =
            self.connection(id).and_then(|c| c.wire.as_ref()).is_some_and(|wire| wire.has_surplus());
        self.report.surplus += u64::from(surplus);
    }

    /// What a connection that ends has counted.
    fn count_strays(&mut self, id: ConnectionId) {
        let tally = self.connection(id).and_then(|c| c.wire.as_ref()).map(|wire| wire.tally());
        self.ended.add(tally.unwrap_or_default());
    }

    /// Notes what connections have counted until now.
    fn tell_strays(&mut self, now: Nanos) {
        if self.shared.carrier() != Carrier::Datagrams {
            return;
        }
        let mut all = self.ended;
        let open = self.connections.iter().flatten().filter_map(|connection| connection.wire.as_ref());
        open.for_each(|wire| all.add(wire.tally()));
        self.report.tallied(all, now);
    }

    /// A request is given up. What that costs is the protocol's affair.
    fn cancel(&mut self, on: ConnectionId, request: RequestId, now: Nanos) {
        self.never_left(on, now);
        let Some(stream) = self.connection(on).and_then(|c| c.stream_of(request)) else { return };
        self.note_mute(on);
        self.given_up(on, stream);
        self.note_capacity(on, now);
        self.transmit(on, now);
    }

    /// This connection takes no further request.
    fn drained(&mut self, id: ConnectionId, now: Nanos) {
        let told = self.connection(id).is_none_or(|c| std::mem::replace(&mut c.draining, true));
        if !told {
            self.tell(id, ConnectionEvent::Draining, now);
        }
    }

    /// Tells the client if the connection takes more or fewer requests at once than it has heard.
    #[inline]
    fn note_capacity(&mut self, id: ConnectionId, now: Nanos) {
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        let Some(wire) = &connection.wire else { return };
        let capacity = wire.capacity();
        // A connection of one request is of no more use if that was answered before all of it was sent (the next one would queue
        // behind the rest), nor any if its end is still to be read.
        let sound = match capacity {
            1 => self.reactor.is_sound(id) || connection.live() > 0,
            _ => !self.reactor.is_ending(id),
        };
        if capacity == 0 || !sound {
            return self.drained(id, now);
        }
        let settles = !connection.settled && wire.is_settled();
        connection.settled |= settles;
        if capacity != std::mem::replace(&mut connection.capacity, capacity) || settles {
            self.tell(id, ConnectionEvent::Capacity(capacity), now);
        }
    }

    fn open(&mut self, id: ConnectionId, origin: u16, now: Nanos) {
        self.report.connections += 1;
        let index = id as usize;
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        // There is always one.
        let Some(address) = self.places[usize::from(origin)].next() else { return };
        if self.shared.counts_places {
            self.report.went_to(&address);
        }
        let source = self.source();
        let connecting = self.reactor.connect(id, &address, source);
        self.connections[index] = Some(Connection::new(address, origin, now));
        if let Err(error) = connecting {
            self.connect_failed(id, &error, now);
        }
    }

    /// The address that the next connection is opened from.
    fn source(&mut self) -> Option<IpAddr> {
        let sources = &self.shared.sources;
        let source = sources.get(self.turn % sources.len().max(1)).copied();
        self.turn = self.turn.wrapping_add(1);
        source
    }

    fn connect_failed(&mut self, id: ConnectionId, error: &io::Error, now: Nanos) {
        let Some((address, origin)) = self.connection(id).map(|c| (c.address.clone(), c.origin)) else {
            return;
        };
        let outcome = connect_outcome(error, &address);
        self.note_lack(error, &address);
        let place = &self.shared.origins[usize::from(origin)];
        let named = self.shared.named(origin);
        let why = format_args!("{named}connecting to {}{address}: {error}", place.whose());
        let kind = connect_kind(error).map(|kind| match place.via {
            Some(_) => KnownFailure::ProxyRefused,
            None => kind,
        });
        self.report.reasons.add((outcome, 0), kind, why, None);
        self.tell(id, ConnectionEvent::Failed(outcome), now);
    }

    fn note_lack(&mut self, error: &io::Error, address: &Address) -> bool {
        let lack = lacked(error, address);
        lack.into_iter().for_each(|what| self.report.lack(what));
        lack.is_some()
    }

    /// Takes note of when the protocol wants to be called.
    #[inline]
    fn set_timer(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        let timer = connection.wire.as_ref().and_then(|wire| wire.poll_timeout()).unwrap_or(Nanos::MAX);
        if std::mem::replace(&mut connection.timer, timer) != timer && timer < Nanos::MAX {
            self.timers.push(Reverse((timer, id)));
        }
    }

    /// Calls the protocols that want to be called by now; when the next one does.
    #[inline]
    fn call_protocols(&mut self, now: Nanos) -> Nanos {
        while let Some(&Reverse((at, id))) = self.timers.peek() {
            if at > now {
                return at;
            }
            self.timers.pop();
            // An older wish, or of an older connection, is passed over.
            let Some(connection) = self.connection(id).filter(|c| c.timer == at) else { continue };
            connection.timer = Nanos::MAX;
            if let Some(wire) = &mut connection.wire {
                wire.handle_timeout(now);
            }
            self.answer(id, &[], now);
            self.act_on_all(now);
        }
        Nanos::MAX
    }

    /// The socket failed: what that means depends on what it was doing.
    fn failed(&mut self, id: ConnectionId, error: &io::Error, now: Nanos) {
        match self.connection(id).map(|c| (c.stage, c.live())) {
            None => {}
            Some((Stage::Connecting, _)) => self.connect_failed(id, error, now),
            Some((Stage::Tunnel, _)) => self.left_by_proxy(id, error, now),
            Some((Stage::Handshake, _)) => {
                self.handshake_failed(id, &format_args!("during the TLS handshake: {error}"), None, now);
            }
            Some((Stage::Ready, _)) if self.shared.carrier() == Carrier::Datagrams => {
                self.unreachable(id, error, now);
            }
            Some((Stage::Ready, 0)) => self.drained(id, now),
            Some((Stage::Ready, _)) => {
                let Some(address) = self.connection(id).map(|c| c.address.clone()) else { return };
                let lacks = self.note_lack(error, &address);
                let outcome = if lacks { Outcome::LocalLimit } else { Outcome::Reset };
                self.broken(id, outcome, error, now);
            }
        }
    }

    /// The system says that datagrams of this socket do not arrive (ICMP): not which, so that is how all end that are under way on it.
    fn unreachable(&mut self, id: ConnectionId, error: &io::Error, now: Nanos) {
        let Some(address) = self.connection(id).map(|c| c.address.clone()) else { return };
        let outcome = connect_outcome(error, &address);
        self.note_lack(error, &address);
        let why = format!("sending to {address}: {error}");
        let refused = error.kind() == io::ErrorKind::ConnectionRefused;
        if refused && self.connection(id).and_then(|c| c.any_stream()).is_none() {
            self.report.unreachable += 1;
        }
        while let Some(stream) = self.connection(id).and_then(|c| c.any_stream()) {
            if let Some((request, status)) = self.given_up(id, stream) {
                self.ends_badly(request, (outcome, status), connect_kind(error), &why, now);
            }
        }
        self.note_capacity(id, now);
    }

    /// The requests in flight on this connection end badly, and the connection with them.
    fn broken(&mut self, id: ConnectionId, outcome: Outcome, why: &dyn Display, now: Nanos) {
        let kind = self.closed_kind(id).filter(|_| outcome == Outcome::Reset);
        self.broken_as(id, outcome, kind, why, now);
    }

    /// The same, where the kind of the failure is known.
    fn broken_as(
        &mut self,
        id: ConnectionId,
        outcome: Outcome,
        kind: Option<KnownFailure>,
        why: &dyn Display,
        now: Nanos,
    ) {
        self.drained(id, now);
        while let Some(stream) = self.connection(id).and_then(|c| c.any_stream()) {
            if let Some((request, status)) = self.missed(id, stream) {
                self.ends_badly(request, (outcome, status), kind, why, now);
            }
        }
    }

    /// The kind of failure that the end of a connection is, where its outcome does not tell it.
    pub(super) fn closed_kind(&mut self, id: ConnectionId) -> Option<KnownFailure> {
        let plain_http = self.shared.requests.are_plain_http(self.origin(id));
        let mute = self.connection(id).is_some_and(|c| !c.begun);
        let forwards = self.place(id).forwards();
        let kind = if forwards { KnownFailure::ProxyClosed } else { KnownFailure::ClosedUnanswered };
        (plain_http && mute).then_some(kind)
    }

    /// The number of the origin that a connection leads to.
    fn origin(&mut self, id: ConnectionId) -> u16 {
        self.connection(id).map_or(0, |connection| connection.origin)
    }

    /// The origin that a connection leads to.
    fn place(&mut self, id: ConnectionId) -> &'a Place {
        &self.shared.origins[usize::from(self.origin(id))]
    }

    /// A request ends without a complete answer.
    fn ends_badly(
        &mut self,
        request: RequestId,
        how: (Outcome, u16),
        kind: Option<KnownFailure>,
        why: &dyn Display,
        now: Nanos,
    ) {
        let on = self.client.connection(request);
        let named = self.shared.named(self.origin(on));
        self.report.reasons.add(how, kind, format_args!("{named}{why}"), None);
        let ((outcome, status), then) = (how, SessionControl::Continue);
        self.tell_of(request, RequestEvent::Done { outcome, status, bytes_received: 0, then }, now);
    }

    #[cold]
    fn fails(&mut self, how: (Outcome, u16), reason: Reason) {
        self.report.reasons.add(how, reason.kind, &reason.same, Some(reason.whole));
    }

    /// The request on this stream gets no answer: which it is, and the status that had come.
    fn missed(&mut self, id: ConnectionId, stream: StreamId) -> Option<(RequestId, u16)> {
        let Asked { request, content, status, .. } = self.connection(id)?.take(stream)?;
        self.unanswered(&content);
        Some((request, status))
    }

    /// A request has no answer, and its session not what that was to give.
    fn unanswered(&mut self, content: &InFlight) {
        self.kept.missed(&self.shared.requests, content);
        self.note_leads(content.session());
    }

    /// Tells the client where links lead, after what the session has extracted may have changed.
    #[inline]
    fn note_leads(&mut self, session: SessionId) {
        if self.shared.requests.script().has_links() {
            self.client.lead(session, self.kept.leads(&self.shared.requests, session));
        }
    }

    #[inline]
    fn handle(&mut self, completion: Completion, buffer: &[u8], now: Nanos) {
        (self.unread, self.heard) = match &completion {
            Completion::Received(_, _, Some(stamp)) => {
                let unread = unread_since(*stamp);
                (unread.into(), now - unread)
            }
            // The end of an answer that ends with its connection is not stamped.
            Completion::Received(_, _, None) | Completion::Ended(_) => (Short::UNKNOWN, now),
            _ => (Short::ZERO, now),
        };
        self.client.read_late(self.unread);
        match completion {
            Completion::Received(id, bytes, _) => self.received(id, &buffer[..bytes], now),
            Completion::Connected(id, Ok(())) => self.connected(id, now),
            Completion::Connected(id, Err(error)) => self.connect_failed(id, &error, now),
            Completion::Ended(id) => self.hung_up(id, now),
            Completion::Failed(id, error) => self.failed(id, &error, now),
            Completion::Sent(id, buffer) => {
                self.spare.push(buffer);
                self.transmit(id, now);
            }
            Completion::Departed(_, departed) => {
                self.report.departures.push(now - departed.after, departed);
            }
            Completion::Woken | Completion::Accepted(_) | Completion::AcceptFailed(_) => {}
        }
        self.act_on_all(now);
    }

    #[inline]
    fn received(&mut self, id: ConnectionId, bytes: &[u8], now: Nanos) {
        let Some(connection) = self.connection(id) else { return };
        match connection.transport {
            Transport::Tls(_) => self.received_tls(id, bytes, now),
            Transport::Tunnel(_) => self.received_from_proxy(id, bytes, now),
            Transport::Plain => {
                if bytes.is_empty()
                    && let Some(wire) = &mut connection.wire
                {
                    wire.receive_empty();
                }
                self.answer(id, bytes, now);
            }
        }
    }
}
