//! One worker: plays one shard of the plan over its own sockets, on time.
//!
//! The loop sleeps until shortly before the next due instant and polls the clock for the rest (how long before, and whether it
//! sleeps at all, [`Waiter`] says), and it looks for due arrivals after every event that it handles, not only when idle. It
//! does not poll while no connection is free, unless it is never to sleep: then nothing could be sent, and the core belongs
//! to others.

use crate::address::Address;
use crate::clock::{Clock, unix_now};
use crate::connection::{Asked, Connection, Stage, asked_of};
use crate::control::Control;
use crate::host;
use crate::outcome::{connect_kind, connect_outcome, lacked};
use crate::protocols::Protocols;
use crate::reactor::{Completion, KernelStamp, Reactor, Submitted};
use crate::requests::{Requests, SessionStore};
use crate::tls::{self, Inbound, TlsSetup};
use crate::transport::Transport;
use crate::wait::Waiter;
use crate::watch::{Doing, STALL, WorkerReport};
use headway_base::{KnownFailure, Nanos, Outcome, RecordSink, Short};
use headway_wire::{Carrier, Event, Opened, ResetReason, Settings, StreamId, Tally};
use headway_workload::client::{ConnectionId, RequestId};
use headway_workload::content::Reason;
use headway_workload::{Action, Client, ConnectionEvent, RequestEvent, RequestKey, SessionControl};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt::Display;
use std::io;
use std::num::NonZeroU64;

/// The sink hears the time at least this often.
const TICK: Nanos = Nanos::from_millis(50);

/// Arrivals started in a row before answers are looked for, and after each answer: a generator that cannot keep up must
/// still read.
const STARTS_IN_A_ROW: u32 = 64;
const STARTS_PER_EVENT: u32 = 4;

/// Requests of one connection that wait to be sent together, at most: each waits for those after it to be made, some microseconds.
const CORKED_AT_ONCE: usize = 16;

const READ_BUFFER: usize = 64 << 10;

/// What every worker of a run shares.
pub(crate) struct Shared {
    pub(crate) address: Address,
    pub(crate) requests: Requests,
    pub(crate) settings: Settings,
    pub(crate) tls: Option<TlsSetup>,
    pub(crate) protocols: Protocols,
    pub(crate) clock: Clock,
    pub(crate) control: Control,
}

impl Shared {
    /// Requests at once that a connection is expected to take.
    pub(crate) fn expected_streams(&self) -> u32 {
        let expected = self.protocols.expected(self.tls.is_some());
        expected.map_or(1, |protocol| protocol.streams(&self.settings))
    }
}

/// How long what was just received had lain in the socket. Both ends are wall time, read within a span in which nothing steps
/// that clock but by accident; a step back gives zero.
#[inline]
fn unread_since(stamp: KernelStamp) -> Short {
    Nanos((unix_now() - stamp.0).clamp(0, i128::from(i64::MAX)) as i64).into()
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
    /// Connections whose protocol has news without having received anything.
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
        }
    }

    /// Plays the shard to its end.
    pub(crate) fn run(mut self) -> io::Result<WorkerReport> {
        // Sleep to the nanosecond asked for, not to the usual 50 us; where that is refused the lag shows it.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let before = host::scheduled();
        let mut buffer = vec![0; READ_BUFFER];
        let result = self.play(&mut buffer);
        let now = self.shared.clock.now();
        self.tell_strays(now);
        for id in 0..self.connections.len() {
            self.never_left(id as ConnectionId, now);
        }
        self.client.finish_all(now);
        if let (Some(before), Some(after)) = (before, host::scheduled()) {
            self.report.runqueue_wait = Some(after.waited - before.waited);
            self.report.processor = Some(after.ran - before.ran);
        }
        self.report.wakeups = self.waiter.wakeups();
        result.map(|()| self.report)
    }

    fn play(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let mut now = self.shared.clock.now();
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
            let meant = self.waiter.sleep(wake.min(self.tick_at) - now);
            let any = self.reactor.wait(Some(meant))?;
            now = self.shared.clock.now();
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
            self.looked &= !matches!(action, Action::Connect(_));
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
            Action::Connect(id) => self.open(id, now),
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
        self.never_left(id, now);
        while let Some(stream) = self.connection(id).and_then(|c| c.any_stream()) {
            self.missed(id, stream);
        }
        self.count_strays(id);
        self.reactor.close(id);
        self.connections[id as usize] = None;
    }

    /// What a connection that ends has counted.
    fn count_strays(&mut self, id: ConnectionId) {
        let tally = self.connection(id).and_then(|c| c.wire.as_ref()).map(|wire| wire.tally());
        self.ended.add(tally.unwrap_or_default());
    }

    /// Notes what connections have counted until now.
    fn tell_strays(&mut self, now: Nanos) {
        if self.shared.protocols.carrier() != Carrier::Datagrams {
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

    fn open(&mut self, id: ConnectionId, now: Nanos) {
        self.report.connections += 1;
        let index = id as usize;
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        self.connections[index] = Some(Connection::new(now));
        if let Err(error) = self.reactor.connect(id, &self.shared.address) {
            self.connect_failed(id, &error, now);
        }
    }

    fn connect_failed(&mut self, id: ConnectionId, error: &io::Error, now: Nanos) {
        let outcome = connect_outcome(error, &self.shared.address);
        self.note_lack(error);
        let why = format_args!("connecting to {}: {error}", self.shared.address);
        self.report.reasons.add((outcome, 0), connect_kind(error), why, None);
        self.tell(id, ConnectionEvent::Failed(outcome), now);
    }

    fn note_lack(&mut self, error: &io::Error) -> bool {
        let lack = lacked(error, &self.shared.address);
        lack.into_iter().for_each(|what| self.report.lack(what));
        lack.is_some()
    }

    #[inline]
    fn send_request(&mut self, id: ConnectionId, request: RequestId, key: &RequestKey, now: Nanos) {
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        let Some(wire) = &mut connection.wire else { return };
        let clock = &self.shared.clock;
        let unix = || clock.unix_nanos(now);
        let opened = self.kept.ask(&self.shared.requests, key, unix, |request| wire.open(request));
        match opened {
            Ok((Opened::Stream(stream), content)) => {
                connection.put(stream, request, content);
                match (self.corked && connection.capacity > 1, connection.unsent.len()) {
                    (true, 1) => self.to_transmit.push(id),
                    (true, 2..CORKED_AT_ONCE) => {}
                    _ => self.transmit(id, now),
                }
            }
            Ok((_, content)) => {
                self.kept.missed(&self.shared.requests, &content);
                self.drained(id, now);
                let why = "the connection takes no further request";
                self.ends_badly(request, (Outcome::Reset, 0), None, &why, now);
            }
            Err(refusal) => {
                let (outcome, then) = (refusal.outcome, refusal.then);
                self.fails((outcome, 0), refusal.reason);
                self.tell_of(request, RequestEvent::NotSent { outcome, then }, now);
            }
        }
    }

    /// Hands what a connection has to say to its socket, if that takes it: what it does not take follows when it can.
    #[inline]
    fn transmit(&mut self, id: ConnectionId, now: Nanos) {
        while !self.reactor.is_sending(id) {
            let Some(connection) = self.connections[id as usize].as_mut() else { return };
            let Some(wire) = &mut connection.wire else { return };
            let mut out = self.spare.pop().unwrap_or_default();
            out.clear();
            let any = wire.poll_transmit(now, &mut out);
            if any && let Err(error) = connection.transport.wrap(&mut out, &mut self.plain) {
                return self.broken(id, Outcome::Tls, &error, now);
            }
            let watched = !connection.unsent.is_empty() && self.report.departures.picks(now);
            let told = self.tell_sent(id, now);
            if !any {
                self.spare.push(out);
                break;
            }
            if watched {
                self.submit_watched(id, out, now);
            } else if let Some(error) = self.submit(id, out) {
                self.not_taken(id, told, &error, now);
            }
        }
        self.set_timer(id);
        let news = self.connection(id).and_then(|c| c.wire.as_ref()).is_some_and(|wire| wire.has_news());
        if news && !self.to_hear.contains(&id) {
            self.to_hear.push(id);
        }
    }

    /// The system did not take a datagram: the request on that stream was not sent.
    #[cold]
    fn not_taken(&mut self, id: ConnectionId, stream: Option<StreamId>, error: &io::Error, now: Nanos) {
        let lack = self.note_lack(error);
        let Some((request, status)) = stream.and_then(|stream| self.given_up(id, stream)) else { return };
        let outcome = if lack { Outcome::LocalLimit } else { Outcome::Unsent };
        let why = format_args!("sending to {}: {error}", self.shared.address);
        self.report.reasons.add((outcome, status), None, why, None);
        let (bytes_received, then) = (0, SessionControl::Continue);
        self.tell_of(request, RequestEvent::Done { outcome, status, bytes_received, then }, now);
    }

    /// A request of a connection that goes on is not waited for any longer: which it is, and the status that had come.
    fn given_up(&mut self, id: ConnectionId, stream: StreamId) -> Option<(RequestId, u16)> {
        let missed = self.missed(id, stream);
        if let Some(wire) = self.connection(id).and_then(|c| c.wire.as_mut()) {
            wire.cancel(stream);
        }
        missed
    }

    /// Tells the client how many bytes its new requests have, as far as they were handed over; returns the last of them.
    #[inline]
    fn tell_sent(&mut self, id: ConnectionId, now: Nanos) -> Option<StreamId> {
        let mut told = None;
        let Connection { unsent, wire: Some(wire), asked, .. } = self.connections[id as usize].as_mut()?
        else {
            return None;
        };
        unsent.retain(|&stream| {
            let bytes = wire.bytes_sent(stream);
            if bytes == 0 {
                return true;
            }
            told = Some(stream);
            if let Some(asked) = asked_of(asked, stream) {
                asked.sent = bytes;
                self.client.on_request(asked.request, RequestEvent::Sent(bytes), now);
            }
            false
        });
        told
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

    /// Hands a request's bytes to the socket, and asks when they leave this machine.
    fn submit_watched(&mut self, id: ConnectionId, bytes: Vec<u8>, now: Nanos) {
        let (submitted, departed) = self.reactor.send_watched(id, bytes, KernelStamp(unix_now()));
        if let Some(departed) = departed {
            self.report.departures.push(now, departed);
        }
        // Datagrams are not watched.
        if let Submitted::Done(buffer) | Submitted::Refused(buffer, _) = submitted {
            self.spare.push(buffer);
        }
    }

    /// A watched request that is under way on this connection is not waited for any longer: if it has not left this machine yet, it
    /// has stayed until now. Without any stamp so far the system may tell none, and nothing is known.
    fn never_left(&mut self, id: ConnectionId, now: Nanos) {
        if self.connection(id).is_none_or(|c| c.live() == 0) || !self.report.departures.is_known() {
            return;
        }
        if let Some(departed) = self.reactor.give_up_watch(id, KernelStamp(unix_now())) {
            self.report.departures.push(now - departed.after, departed);
        }
    }

    /// Hands bytes to the socket; why a datagram was not taken.
    #[inline]
    fn submit(&mut self, id: ConnectionId, bytes: Vec<u8>) -> Option<io::Error> {
        match self.reactor.send(id, bytes) {
            Submitted::Done(buffer) => self.spare.push(buffer),
            Submitted::Pending => {}
            Submitted::Refused(buffer, error) => {
                self.spare.push(buffer);
                return Some(error);
            }
        }
        None
    }

    /// The socket failed: what that means depends on what it was doing.
    fn failed(&mut self, id: ConnectionId, error: &io::Error, now: Nanos) {
        match self.connection(id).map(|c| (c.stage, c.live())) {
            None => {}
            Some((Stage::Connecting, _)) => self.connect_failed(id, error, now),
            Some((Stage::Handshake, _)) => {
                self.handshake_failed(id, &format_args!("during the TLS handshake: {error}"), None, now);
            }
            Some((Stage::Ready, _)) if self.shared.protocols.carrier() == Carrier::Datagrams => {
                self.unreachable(id, error, now);
            }
            Some((Stage::Ready, 0)) => self.drained(id, now),
            Some((Stage::Ready, _)) => {
                let outcome = if self.note_lack(error) { Outcome::LocalLimit } else { Outcome::Reset };
                self.broken(id, outcome, error, now);
            }
        }
    }

    /// The system says that datagrams of this socket do not arrive (ICMP): not which, so that is how all end that are under way on it.
    fn unreachable(&mut self, id: ConnectionId, error: &io::Error, now: Nanos) {
        let outcome = connect_outcome(error, &self.shared.address);
        self.note_lack(error);
        let why = format_args!("sending to {}: {error}", self.shared.address).to_string();
        while let Some(stream) = self.connection(id).and_then(|c| c.any_stream()) {
            if let Some((request, status)) = self.given_up(id, stream) {
                self.ends_badly(request, (outcome, status), connect_kind(error), &why, now);
            }
        }
        self.note_capacity(id, now);
    }

    /// The requests in flight on this connection end badly, and the connection with them.
    fn broken(&mut self, id: ConnectionId, outcome: Outcome, why: &dyn Display, now: Nanos) {
        self.drained(id, now);
        while let Some(stream) = self.connection(id).and_then(|c| c.any_stream()) {
            if let Some((request, status)) = self.missed(id, stream) {
                self.ends_badly(request, (outcome, status), None, why, now);
            }
        }
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
        self.report.reasons.add(how, kind, why, None);
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
        self.kept.missed(&self.shared.requests, &content);
        Some((request, status))
    }

    #[inline]
    fn handle(&mut self, completion: Completion, buffer: &[u8], now: Nanos) {
        self.client.read_late(match &completion {
            Completion::Received(_, _, Some(stamp)) => unread_since(*stamp),
            // The end of an answer that ends with its connection is not stamped.
            Completion::Received(_, _, None) | Completion::Ended(_) => Short::UNKNOWN,
            _ => Short::ZERO,
        });
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

    fn connected(&mut self, id: ConnectionId, now: Nanos) {
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        connection.established = now;
        let Some(setup) = &self.shared.tls else { return self.established(id, None, now) };
        connection.stage = Stage::Handshake;
        match setup.session() {
            Ok(session) => connection.transport = Transport::Tls(Box::new(session)),
            Err(error) => return self.handshake_failed(id, &error, None, now),
        }
        self.flush_tls(id);
    }

    fn handshake_failed(
        &mut self,
        id: ConnectionId,
        why: &dyn Display,
        kind: Option<KnownFailure>,
        now: Nanos,
    ) {
        self.report.reasons.add((Outcome::Tls, 0), kind, why, None);
        self.tell(id, ConnectionEvent::Failed(Outcome::Tls), now);
    }

    /// Sends what TLS itself has to say.
    fn flush_tls(&mut self, id: ConnectionId) {
        let mut out = self.spare.pop().unwrap_or_default();
        out.clear();
        if let Some(connection) = self.connection(id) {
            connection.transport.transmit(&mut out);
        }
        if out.is_empty() {
            self.spare.push(out);
        } else {
            let _ = self.submit(id, out);
        }
    }

    #[inline]
    fn received(&mut self, id: ConnectionId, bytes: &[u8], now: Nanos) {
        match self.connection(id) {
            None => {}
            Some(connection) if connection.transport.is_tls() => self.received_tls(id, bytes, now),
            Some(_) => self.answer(id, bytes, now),
        }
    }

    fn received_tls(&mut self, id: ConnectionId, bytes: &[u8], now: Nanos) {
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let inbound = connection.transport.unwrap_into(bytes, &mut plain);
        let handshake = connection.stage == Stage::Handshake;
        let agreed = inbound.is_ok() && handshake && !connection.transport.is_handshaking();
        // Alerts about a certificate we refuse go out too.
        self.flush_tls(id);
        if agreed {
            let tls = self.connection(id).map(|c| now - c.established);
            self.established(id, tls, now);
            // The first request goes out before anything else is read.
            self.act_on_all(now);
        }
        // What was received before TLS ended, well or badly, counts.
        if !plain.is_empty() {
            self.answer(id, &plain, now);
        }
        self.plain = plain;
        match inbound {
            Ok(Inbound::Open) => {}
            Ok(Inbound::Closed) => self.ended(id, now),
            Err(error) => self.tls_failed(id, &error, now),
        }
    }

    fn tls_failed(&mut self, id: ConnectionId, why: &rustls::Error, now: Nanos) {
        match self.connection(id).map(|c| (c.stage, c.live(), c.begun)) {
            None => {}
            Some((Stage::Connecting | Stage::Handshake, ..)) if tls::refuses_protocols(why) => {
                let names = self.shared.protocols.names();
                let why = format_args!("the server does not speak {names} (it says so in TLS)");
                self.handshake_failed(id, &why, None, now);
            }
            Some((Stage::Connecting | Stage::Handshake, ..)) => {
                self.handshake_failed(id, why, tls::failure_kind(why), now);
            }
            Some((Stage::Ready, 0, _)) => self.drained(id, now),
            // The session was there, and broke.
            Some((Stage::Ready, _, true)) => {
                let why = format_args!("TLS broke on a connection that had answered: {why}");
                self.broken(id, Outcome::Reset, &why, now);
            }
            // In TLS 1.3 a server refuses a client, for want of a certificate for example, after the client's handshake.
            Some((Stage::Ready, _, false)) => self.broken(id, Outcome::Tls, why, now),
        }
    }

    /// The connection is ready, after `tls` of agreeing on TLS: the protocol is known, and the first request goes out.
    fn established(&mut self, id: ConnectionId, tls: Option<Nanos>, now: Nanos) {
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        let Some(protocol) = self.shared.protocols.chosen(connection.transport.alpn()) else {
            let why = format_args!(
                "the server does not speak {} (it chose {} in TLS)",
                self.shared.protocols.names(),
                connection.transport.alpn().map_or("nothing".into(), String::from_utf8_lossy),
            );
            self.report.reasons.add((Outcome::Tls, 0), None, why, None);
            return self.tell(id, ConnectionEvent::Failed(Outcome::Tls), now);
        };
        self.report.spoke(protocol.name());
        let wire = protocol.connect(&self.shared.settings);
        let (capacity, settled) = (wire.capacity().max(1), wire.is_settled());
        connection.settled = settled;
        connection.wire = Some(wire);
        connection.stage = Stage::Ready;
        connection.capacity = capacity;
        let connect = connection.established - connection.opened;
        self.tell(id, ConnectionEvent::Established { connect, tls, capacity, settled }, now);
    }

    /// Plain bytes of answers; none: the protocol has done something by itself.
    #[inline]
    fn answer(&mut self, id: ConnectionId, mut bytes: &[u8], mut now: Nanos) {
        let outer = std::mem::replace(&mut self.corked, true);
        let mut ends = 0;
        while let Some(connection) = self.connections[id as usize].as_mut() {
            // None: closed meanwhile, and perhaps being opened anew.
            let Some(wire) = connection.wire.as_mut() else { break };
            let Some(event) = wire.receive(now, &mut bytes) else { break };
            match event {
                Event::Begun { stream } => {
                    connection.begun = true;
                    if let Some(&mut Asked { request, .. }) = asked_of(&mut connection.asked, stream) {
                        self.tell_of(request, RequestEvent::FirstByte, now);
                    }
                    continue;
                }
                Event::Head { stream, status, head } => {
                    if let Some(asked) = asked_of(&mut connection.asked, stream) {
                        asked.status = status;
                        asked.content.reader.head(self.shared.requests.script(), status, head.iter());
                        // Where the peer's windows held a part of the request back, that has been sent meanwhile.
                        let sent = wire.bytes_sent(stream);
                        if sent > asked.sent {
                            let request = asked.request;
                            self.tell_of(request, RequestEvent::Sent(sent), now);
                        }
                    }
                    continue;
                }
                Event::Chunk { stream, data } => {
                    if let Some(asked) = asked_of(&mut connection.asked, stream) {
                        asked.content.reader.chunk(data);
                    }
                    continue;
                }
                Event::GoAway => {
                    self.drained(id, now);
                    continue;
                }
                Event::End { stream, bytes_received } => {
                    // Each answer is read in its turn, like those of connections of their own.
                    now = if ends > 0 { self.shared.clock.now() } else { now };
                    self.finished(id, stream, bytes_received, now);
                }
                Event::Reset { stream, reason } => self.reset(id, stream, reason, now),
            }
            ends += 1;
            self.act_on_all(now);
        }
        self.note_capacity(id, now);
        self.transmit(id, now);
        self.uncork(outer, now);
    }

    fn reset(&mut self, id: ConnectionId, stream: StreamId, reason: ResetReason, now: Nanos) {
        let outcome = match reason {
            ResetReason::Closed | ResetReason::ByPeer(_) => Outcome::Reset,
            ResetReason::Protocol(_) => Outcome::Protocol,
            ResetReason::TooLarge(_) => Outcome::TooLarge,
            ResetReason::Refused(_) => Outcome::RefusedStream,
        };
        let Some((request, status)) = self.missed(id, stream) else { return };
        self.note_capacity(id, now);
        self.ends_badly(request, (outcome, status), None, &reason, now);
    }

    /// The socket says that the target sends no more.
    fn hung_up(&mut self, id: ConnectionId, now: Nanos) {
        let cut = self.connection(id).is_some_and(|c| c.transport.is_tls() && c.live() > 0);
        if cut {
            // TLS has not said so: anybody on the way could have cut the answer short.
            let why = "the connection was closed without the end of TLS, before the answer was complete";
            return self.broken(id, Outcome::Reset, &why, now);
        }
        self.ended(id, now);
    }

    /// The target says that it sends no more.
    fn ended(&mut self, id: ConnectionId, now: Nanos) {
        match self.connection(id).map(|c| (c.stage, c.live())) {
            None => return,
            Some((Stage::Connecting | Stage::Handshake, _)) => {
                let error = io::Error::new(io::ErrorKind::UnexpectedEof, "closed by the target");
                return self.failed(id, &error, now);
            }
            Some((Stage::Ready, 0)) => return self.drained(id, now),
            Some((Stage::Ready, _)) => {}
        }
        // Whatever it still answers, it takes no further request.
        self.drained(id, now);
        loop {
            let Some(connection) = self.connections[id as usize].as_mut() else { return };
            let Some(wire) = connection.wire.as_mut() else { return };
            match wire.receive_end(now) {
                Some(Event::End { stream, bytes_received }) => self.finished(id, stream, bytes_received, now),
                Some(Event::Reset { stream, reason }) => self.reset(id, stream, reason, now),
                Some(_) => {}
                None => break,
            }
        }
        self.broken(id, Outcome::Reset, &"the connection was closed before the answer", now);
    }

    /// The answer on this stream is complete.
    #[inline]
    fn finished(&mut self, id: ConnectionId, stream: StreamId, bytes_received: u64, now: Nanos) {
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        let Some(Asked { request, content, status, .. }) = connection.take(stream) else { return };
        let response = now - self.client.intended(request);
        let unix = || self.shared.clock.unix_nanos(now);
        let reading = self.kept.answer(&self.shared.requests, content, unix, response);
        let (outcome, then) = (reading.outcome, reading.then);
        if let Some(body) = reading.decoded {
            self.report.decoded(body);
        }
        if let Some(reason) = reading.reason {
            self.fails((outcome, status), reason);
        }
        self.note_capacity(id, now);
        self.tell_of(request, RequestEvent::Done { outcome, status, bytes_received, then }, now);
    }
}
