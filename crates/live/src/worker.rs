//! One worker: plays one shard of the plan over its own sockets, on time.
//!
//! The loop sleeps until shortly before the next due instant and polls the clock for the rest (how long before, and whether it
//! sleeps at all, [`Waiter`] says), and it looks for due arrivals after every event that it handles, not only when idle. It
//! does not poll while no connection is free, unless it is never to sleep: then nothing could be sent, and the core belongs
//! to others.

use crate::address::Address;
use crate::clock::{Clock, unix_now};
use crate::control::Control;
use crate::host;
use crate::outcome::{connect_kind, connect_outcome, lacked};
use crate::reactor::{Completion, KernelStamp, Reactor, Submitted};
use crate::requests::{InFlight, Requests, SessionStore};
use crate::tls::{self, Inbound, Session, TlsSetup};
use crate::wait::Waiter;
use crate::watch::{Doing, STALL, WorkerReport};
use headway_base::{KnownFailure, Nanos, Outcome, RecordSink, Short};
use headway_wire::{ClientConnection, Opened, ResetReason, http1};
use headway_workload::client::{ConnectionId, RequestId};
use headway_workload::content::Reason;
use headway_workload::{Action, Client, ConnectionEvent, RequestEvent, RequestKey, SessionControl};
use std::fmt::Display;
use std::io;
use std::num::NonZeroU64;

/// The sink hears the time at least this often.
const TICK: Nanos = Nanos::from_millis(50);

/// Arrivals started in a row before answers are looked for, and after each answer: a generator that cannot keep up must
/// still read.
const STARTS_IN_A_ROW: u32 = 64;
const STARTS_PER_EVENT: u32 = 4;

const READ_BUFFER: usize = 64 << 10;

/// What every worker of a run shares.
pub(crate) struct Shared {
    pub(crate) address: Address,
    pub(crate) requests: Requests,
    pub(crate) limits: headway_wire::Limits,
    pub(crate) tls: Option<TlsSetup>,
    pub(crate) clock: Clock,
    pub(crate) control: Control,
}

/// How long what was just received had lain in the socket. Both ends are wall time, read within a span in which nothing steps
/// that clock but by accident; a step back gives zero.
#[inline]
fn unread_since(stamp: KernelStamp) -> Short {
    Nanos((unix_now() - stamp.0).clamp(0, i128::from(i64::MAX)) as i64).into()
}

struct Connection {
    wire: http1::Client,
    tls: Option<Box<Session>>,
    opened: Nanos,
    /// When TCP stood, where TLS is still being agreed on.
    established: Nanos,
    stage: Stage,
    status: u16,
    /// Whether bytes of an answer have come on it.
    begun: bool,
    /// The request under way, and what is read of its answer.
    asked: Option<(RequestId, InFlight)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Connecting,
    Handshake,
    InFlight,
    Idle,
}

pub(crate) struct Worker<'a, S> {
    shared: &'a Shared,
    client: Client<S>,
    reactor: Reactor,
    connections: Vec<Option<Connection>>,
    /// What the sessions keep.
    kept: SessionStore,
    /// Spare send buffers; at most one per connection is ever out.
    spare: Vec<Vec<u8>>,
    plain: Vec<u8>,
    report: WorkerReport,
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
            kept: SessionStore::default(),
            spare: Vec::new(),
            plain: Vec::new(),
            report: WorkerReport::default(),
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
            }
            self.lap(Doing::Handling, before, now, Nanos::ZERO);
            if self.client.is_done() && self.stops_heard == self.shared.control.asked() {
                return Ok(());
            }

            let before = now;
            let mut wake = self.client.wake_at();
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
        now
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

    #[inline]
    fn act(&mut self, action: Action, now: Nanos) {
        let mut next = Some(action);
        while let Some(action) = next {
            next = match action {
                Action::Send(on, id, key) => self.send_request(on, id, &key, now),
                Action::Connect(id) => self.open(id, now),
                Action::Cancel(on, _) => self.cancel(on, now),
                Action::Disconnect(id) => {
                    self.never_left(id, now);
                    self.missed(id);
                    self.reactor.close(id);
                    self.connections[id as usize] = None;
                    None
                }
            };
        }
    }

    /// The request under way on this connection is given up. In HTTP/1.1 that costs the connection, which would still carry the
    /// answer.
    fn cancel(&mut self, on: ConnectionId, now: Nanos) -> Option<Action> {
        self.never_left(on, now);
        self.missed(on);
        if let Some(connection) = &mut self.connections[on as usize] {
            connection.stage = Stage::Idle;
        }
        self.drained(on, now)
    }

    /// This connection takes no further request.
    fn drained(&mut self, id: ConnectionId, now: Nanos) -> Option<Action> {
        self.client.on_connection(id, ConnectionEvent::Draining, now)
    }

    fn open(&mut self, id: ConnectionId, now: Nanos) -> Option<Action> {
        self.report.connections += 1;
        let index = id as usize;
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        let connection = Connection {
            wire: http1::Client::new(self.shared.limits),
            tls: None,
            opened: now,
            established: now,
            stage: Stage::Connecting,
            status: 0,
            begun: false,
            asked: None,
        };
        self.connections[index] = Some(connection);
        let error = self.reactor.connect(id, &self.shared.address).err()?;
        self.connect_failed(id, &error, now)
    }

    fn connect_failed(&mut self, id: ConnectionId, error: &io::Error, now: Nanos) -> Option<Action> {
        let outcome = connect_outcome(error, &self.shared.address);
        self.note_lack(error);
        let why = format_args!("connecting to {}: {error}", self.shared.address);
        self.report.reasons.add((outcome, 0), connect_kind(error), why, None);
        self.client.on_connection(id, ConnectionEvent::Failed(outcome), now)
    }

    fn note_lack(&mut self, error: &io::Error) -> bool {
        let lack = lacked(error, &self.shared.address);
        lack.into_iter().for_each(|what| self.report.lack(what));
        lack.is_some()
    }

    #[inline]
    fn send_request(
        &mut self,
        id: ConnectionId,
        request: RequestId,
        key: &RequestKey,
        now: Nanos,
    ) -> Option<Action> {
        let connection = self.connections[id as usize].as_mut()?;
        connection.status = 0;
        let clock = &self.shared.clock;
        let opened = self.kept.ask(
            &self.shared.requests,
            key,
            || clock.unix_nanos(now),
            |bytes, asked| {
                connection.asked = Some((request, asked));
                connection.wire.open(bytes)
            },
        );
        match opened {
            Ok(Opened::Stream(_)) => connection.stage = Stage::InFlight,
            Ok(_) => return self.broken(id, Outcome::Reset, &"the connection takes no request", now),
            Err(refusal) => {
                connection.stage = Stage::Idle;
                let (outcome, then) = (refusal.outcome, refusal.then);
                self.fails((outcome, 0), refusal.reason);
                return self.client.on_request(request, RequestEvent::NotSent { outcome, then }, now);
            }
        }
        let mut out = self.spare.pop().unwrap_or_default();
        out.clear();
        connection.wire.poll_transmit(now, &mut out);
        let bytes = out.len() as u64;
        if let Some(tls) = &mut connection.tls {
            self.plain.clear();
            std::mem::swap(&mut self.plain, &mut out);
            if let Err(error) = tls.send(&self.plain).and_then(|()| tls.transmit(&mut out)) {
                return self.broken(id, Outcome::Tls, &error, now);
            }
        }
        self.client.on_request(request, RequestEvent::Sent(bytes), now);
        if self.report.departures.picks(now) {
            self.submit_watched(id, out, now);
        } else {
            self.submit(id, out);
        }
        None
    }

    /// Hands a request's bytes to the socket, and asks when they leave this machine.
    fn submit_watched(&mut self, id: ConnectionId, bytes: Vec<u8>, now: Nanos) {
        let (submitted, departed) = self.reactor.send_watched(id, bytes, KernelStamp(unix_now()));
        if let Some(departed) = departed {
            self.report.departures.push(now, departed);
        }
        if let Submitted::Done(buffer) = submitted {
            self.spare.push(buffer);
        }
    }

    /// A watched request that is under way on this connection is not waited for any longer: if it has not left this machine yet, it
    /// has stayed until now. Without any stamp so far the system may tell none, and nothing is known.
    fn never_left(&mut self, id: ConnectionId, now: Nanos) {
        if self.stage(id) != Some(Stage::InFlight) || !self.report.departures.is_known() {
            return;
        }
        if let Some(departed) = self.reactor.give_up_watch(id, KernelStamp(unix_now())) {
            self.report.departures.push(now - departed.after, departed);
        }
    }

    /// Hands bytes to the socket.
    #[inline]
    fn submit(&mut self, id: ConnectionId, bytes: Vec<u8>) {
        if let Submitted::Done(buffer) = self.reactor.send(id, bytes) {
            self.spare.push(buffer);
        }
    }

    /// The socket failed: what that means depends on what it was doing.
    fn failed(&mut self, id: ConnectionId, error: &io::Error, now: Nanos) -> Option<Action> {
        match self.connections[id as usize].as_ref()?.stage {
            Stage::Connecting => self.connect_failed(id, error, now),
            Stage::Handshake => {
                self.handshake_failed(id, &format_args!("during the TLS handshake: {error}"), None, now)
            }
            Stage::InFlight => {
                let outcome = if self.note_lack(error) { Outcome::LocalLimit } else { Outcome::Reset };
                self.broken(id, outcome, error, now)
            }
            Stage::Idle => self.drained(id, now),
        }
    }

    /// The request in flight on this connection ends badly, and the connection with it.
    fn broken(
        &mut self,
        id: ConnectionId,
        outcome: Outcome,
        why: &dyn Display,
        now: Nanos,
    ) -> Option<Action> {
        let status = self.connections[id as usize].as_ref().map_or(0, |c| c.status);
        self.report.reasons.add((outcome, status), None, why, None);
        let then = SessionControl::Continue;
        let request = self.missed(id);
        let closed = self.drained(id, now);
        let done = RequestEvent::Done { outcome, status, bytes_received: 0, then };
        request.and_then(|request| self.client.on_request(request, done, now)).or(closed)
    }

    #[cold]
    fn fails(&mut self, how: (Outcome, u16), reason: Reason) {
        self.report.reasons.add(how, reason.kind, &reason.same, Some(reason.whole));
    }

    /// The request under way on this connection, if there is one, gets no answer.
    fn missed(&mut self, id: ConnectionId) -> Option<RequestId> {
        let (request, asked) = self.connections[id as usize].as_mut()?.asked.take()?;
        self.kept.missed(&self.shared.requests, &asked);
        Some(request)
    }

    #[inline]
    fn handle(&mut self, completion: Completion, buffer: &[u8], now: Nanos) {
        self.client.read_late(match &completion {
            Completion::Received(_, _, Some(stamp)) => unread_since(*stamp),
            // The end of an answer that ends with its connection is not stamped.
            Completion::Received(_, _, None) | Completion::Ended(_) => Short::UNKNOWN,
            _ => Short::ZERO,
        });
        let action = match completion {
            Completion::Received(id, bytes, _) => self.received(id, &buffer[..bytes], now),
            Completion::Connected(id, Ok(())) => self.connected(id, now),
            Completion::Connected(id, Err(error)) => self.connect_failed(id, &error, now),
            Completion::Ended(id) => self.hung_up(id, now),
            Completion::Failed(id, error) => self.failed(id, &error, now),
            Completion::Sent(_, buffer) => {
                self.spare.push(buffer);
                None
            }
            Completion::Departed(_, departed) => {
                self.report.departures.push(now - departed.after, departed);
                None
            }
            Completion::Woken | Completion::Accepted(_) | Completion::AcceptFailed(_) => None,
        };
        if let Some(action) = action {
            self.act(action, now);
        }
    }

    fn connected(&mut self, id: ConnectionId, now: Nanos) -> Option<Action> {
        let connection = self.connections[id as usize].as_mut()?;
        connection.established = now;
        let Some(setup) = &self.shared.tls else {
            let connect = now - connection.opened;
            return self.established(id, connect, None, now);
        };
        connection.stage = Stage::Handshake;
        match setup.session() {
            Ok(session) => connection.tls = Some(Box::new(session)),
            Err(error) => return self.handshake_failed(id, &error, None, now),
        }
        self.flush_tls(id);
        None
    }

    fn handshake_failed(
        &mut self,
        id: ConnectionId,
        why: &dyn Display,
        kind: Option<KnownFailure>,
        now: Nanos,
    ) -> Option<Action> {
        self.report.reasons.add((Outcome::Tls, 0), kind, why, None);
        self.client.on_connection(id, ConnectionEvent::Failed(Outcome::Tls), now)
    }

    /// Sends what TLS itself has to say.
    fn flush_tls(&mut self, id: ConnectionId) {
        let Some(Some(Connection { tls: Some(tls), .. })) = self.connections.get_mut(id as usize) else {
            return;
        };
        let mut out = self.spare.pop().unwrap_or_default();
        out.clear();
        // Writing to a vector does not fail.
        let _ = tls.transmit(&mut out);
        if out.is_empty() {
            self.spare.push(out);
        } else {
            self.submit(id, out);
        }
    }

    #[inline]
    fn received(&mut self, id: ConnectionId, bytes: &[u8], now: Nanos) -> Option<Action> {
        if self.connections[id as usize].as_ref()?.tls.is_some() {
            return self.received_tls(id, bytes, now);
        }
        self.answer(id, bytes, now)
    }

    fn received_tls(&mut self, id: ConnectionId, bytes: &[u8], now: Nanos) -> Option<Action> {
        let connection = self.connections[id as usize].as_mut()?;
        let tls = connection.tls.as_mut()?;
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let inbound = tls.receive(bytes, &mut plain);
        let agreed = inbound.is_ok() && connection.stage == Stage::Handshake && !tls.is_handshaking();
        // Alerts about a certificate we refuse go out too.
        self.flush_tls(id);
        let mut action = if agreed { self.agreed(id, now) } else { None };
        // What was received before TLS ended, well or badly, counts.
        if action.is_none() && !plain.is_empty() {
            action = self.answer(id, &plain, now);
        }
        self.plain = plain;
        match (action, inbound) {
            (Some(action), _) => Some(action),
            (None, Ok(Inbound::Open)) => None,
            (None, Ok(Inbound::Closed)) => self.ended(id, now),
            (None, Err(error)) => self.tls_failed(id, &error, now),
        }
    }

    fn tls_failed(&mut self, id: ConnectionId, why: &rustls::Error, now: Nanos) -> Option<Action> {
        match self.stage(id)? {
            Stage::Connecting | Stage::Handshake => {
                self.handshake_failed(id, why, tls::failure_kind(why), now)
            }
            // The session was there, and broke.
            Stage::InFlight if self.begun(id) => self.broken(
                id,
                Outcome::Reset,
                &format_args!("TLS broke on a connection that had answered: {why}"),
                now,
            ),
            // In TLS 1.3 a server refuses a client, for want of a certificate for example, after the client's handshake.
            Stage::InFlight => self.broken(id, Outcome::Tls, why, now),
            Stage::Idle => self.drained(id, now),
        }
    }

    /// TLS is agreed on: the connection is ready, and its first request goes out.
    fn agreed(&mut self, id: ConnectionId, now: Nanos) -> Option<Action> {
        let connection = self.connections[id as usize].as_ref()?;
        let connect = connection.established - connection.opened;
        let tls = Some(now - connection.established);
        let action = self.established(id, connect, tls, now)?;
        self.act(action, now);
        None
    }

    fn established(
        &mut self,
        id: ConnectionId,
        connect: Nanos,
        tls: Option<Nanos>,
        now: Nanos,
    ) -> Option<Action> {
        let capacity = self.connections[id as usize].as_ref()?.wire.free_streams();
        self.client.on_connection(id, ConnectionEvent::Established { connect, tls, capacity }, now)
    }

    /// Whether bytes of an answer have come on this connection.
    fn begun(&self, id: ConnectionId) -> bool {
        self.connections.get(id as usize).and_then(Option::as_ref).is_some_and(|c| c.begun)
    }

    fn stage(&self, id: ConnectionId) -> Option<Stage> {
        self.connections.get(id as usize)?.as_ref().map(|c| c.stage)
    }

    /// Plain bytes of an answer.
    #[inline]
    fn answer(&mut self, id: ConnectionId, mut bytes: &[u8], now: Nanos) -> Option<Action> {
        let connection = self.connections[id as usize].as_mut()?;
        if let Some((request, _)) = connection.asked {
            connection.begun = true;
            self.client.on_request(request, RequestEvent::FirstByte, now);
        }
        while let Some(event) = connection.wire.receive(now, &mut bytes) {
            match event {
                headway_wire::Event::Head { status, head, .. } => {
                    connection.status = status;
                    if let Some((_, asked)) = &mut connection.asked {
                        asked.reader.head(self.shared.requests.script(), status, head.iter());
                    }
                }
                headway_wire::Event::Chunk { data, .. } => {
                    if let Some((_, asked)) = &mut connection.asked {
                        asked.reader.chunk(data);
                    }
                }
                headway_wire::Event::End { bytes_received, .. } => {
                    // Not if it was answered before all of it was sent (the next request would queue behind the
                    // rest), nor if the end that came with the answer is still to be read.
                    let reusable = connection.wire.is_reusable() && self.reactor.is_sound(id);
                    return self.finished(id, bytes_received, reusable, now);
                }
                headway_wire::Event::Reset { reason, .. } => return self.reset(id, reason, now),
                headway_wire::Event::GoAway => return self.drained(id, now),
            }
        }
        None
    }

    fn reset(&mut self, id: ConnectionId, reason: ResetReason, now: Nanos) -> Option<Action> {
        let outcome = match reason {
            ResetReason::Closed => Outcome::Reset,
            ResetReason::Protocol(_) => Outcome::Protocol,
            ResetReason::TooLarge(_) => Outcome::TooLarge,
        };
        self.broken(id, outcome, &reason, now)
    }

    /// The socket says that the target sends no more.
    fn hung_up(&mut self, id: ConnectionId, now: Nanos) -> Option<Action> {
        let connection = self.connections[id as usize].as_ref()?;
        if connection.tls.is_some() && connection.stage == Stage::InFlight {
            // TLS has not said so: anybody on the way could have cut the answer short.
            let why = "the connection was closed without the end of TLS, before the answer was complete";
            return self.broken(id, Outcome::Reset, &why, now);
        }
        self.ended(id, now)
    }

    /// The target says that it sends no more.
    fn ended(&mut self, id: ConnectionId, now: Nanos) -> Option<Action> {
        match self.stage(id)? {
            Stage::Connecting | Stage::Handshake => {
                let error = io::Error::new(io::ErrorKind::UnexpectedEof, "closed by the target");
                return self.failed(id, &error, now);
            }
            Stage::Idle => return self.drained(id, now),
            Stage::InFlight => {}
        }
        let connection = self.connections[id as usize].as_mut()?;
        match connection.wire.receive_end(now) {
            Some(headway_wire::Event::End { bytes_received, .. }) => {
                self.finished(id, bytes_received, false, now)
            }
            Some(headway_wire::Event::Reset { reason, .. }) => self.reset(id, reason, now),
            _ => self.broken(id, Outcome::Reset, &"the connection was closed before the answer", now),
        }
    }

    /// The answer on this connection is complete.
    #[inline]
    fn finished(
        &mut self,
        id: ConnectionId,
        bytes_received: u64,
        reusable: bool,
        now: Nanos,
    ) -> Option<Action> {
        let connection = self.connections[id as usize].as_mut()?;
        connection.stage = Stage::Idle;
        let status = connection.status;
        let (request, asked) = connection.asked.take()?;
        let response = now - self.client.intended(request);
        let unix = || self.shared.clock.unix_nanos(now);
        let reading = self.kept.answer(&self.shared.requests, asked, unix, response);
        let (outcome, then) = (reading.outcome, reading.then);
        if let Some(body) = reading.decoded {
            self.report.decoded(body);
        }
        if let Some(reason) = reading.reason {
            self.fails((outcome, status), reason);
        }
        let closed = if reusable { None } else { self.drained(id, now) };
        let done = RequestEvent::Done { outcome, status, bytes_received, then };
        self.client.on_request(request, done, now).or(closed)
    }
}
