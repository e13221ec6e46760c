//! The calibrated target: an HTTP server whose queueing behaviour is known.
//!
//! Each request's demand is drawn from the service law; [`headway_base::station`] computes when it departs; the answer is
//! released at that instant. So the truth that a load test should find is that of the station (M/M/c for Poisson
//! arrivals and exponential demands), plus the cost of the loopback, which `const(0s)` shows alone. A target with
//! [`StateSettings`] keeps what is posted, and reads of it take longer the more it holds.
//!
//! One thread, so that nothing but the station queues. It writes down when each request came, by the kernel's own
//! stamp where there is one: a witness of the load that is independent of the generator.

mod connection;
mod datagrams;
mod log;
mod serial;
mod state;

pub use datagrams::{DatagramReport, DatagramServer, DatagramSettings};
pub use log::ArrivalsLog;
pub use serial::{SerialReport, SerialServer, SerialSettings};
pub use state::StateSettings;

use crate::address::Address;
use crate::clock::{Clock, UP_BEFORE};
use crate::control::Control;
use crate::reactor::{Completion, KernelStamp, Listener, Reactor, Submitted, Token};
use connection::{Connection, Event, Fixed, InPieces, Reply};
use headway_base::Nanos;
use headway_base::dist::{Dist, Law};
use headway_base::pieces::Pieces;
use headway_base::random::{Stream, open01, streams};
use headway_base::station::{Admission, Stalls, Station};
use headway_wire::StreamId;
use headway_wire::http1::Response;
use state::State;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::num::NonZeroU64;

/// Length of the accept queue unless another is asked for.
pub const BACKLOG: u32 = 4_096;

/// How long it takes no connections after the system refused one.
const ACCEPT_PAUSE: Nanos = Nanos::from_millis(100);

/// What the target is.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Law of the time each request takes of one server.
    pub service: Dist,
    /// How many servers share the queue.
    pub servers: u32,
    /// How many may wait; past it the answer is 503. None is no limit.
    pub queue: Option<usize>,
    /// Length of the accept queue that is asked of the kernel.
    pub backlog: u32,
    /// Regular interruptions of all service.
    pub stalls: Option<Stalls>,
    /// Share of requests (0 to 1) that are answered with 500, after their service.
    pub error_rate: f64,
    /// Bytes of the answer's body; of a target with state, the most that a list takes.
    pub body_bytes: u64,
    /// Good answers come in these pieces after their service, each of `body_bytes`; none: whole.
    pub events: Option<Pieces>,
    /// Keeps posted items, if given.
    pub state: Option<StateSettings>,
    /// Of the demands and the errors.
    pub seed: u64,
}

impl Settings {
    /// So many servers and that service law; a small body, and no faults.
    pub fn new(service: Dist, servers: u32, seed: u64) -> Settings {
        Settings {
            service,
            servers,
            queue: None,
            backlog: BACKLOG,
            stalls: None,
            error_rate: 0.0,
            body_bytes: 16,
            events: None,
            state: None,
            seed,
        }
    }
}

/// What the target did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServeReport {
    /// Connections taken.
    pub connections: u64,
    /// Requests received in full.
    pub requests: u64,
    /// Of those, answered with success: 200, with state also 201 and 204.
    pub ok: u64,
    /// Answered with 500, as asked.
    pub errors: u64,
    /// Answered with 503: the queue was full.
    pub rejected: u64,
    /// What could not be understood.
    pub malformed: u64,
    /// Answers whose client had gone.
    pub abandoned: u64,
    /// Connections that the system refused to take.
    pub refused: u64,
    /// With state: answered with 404 (no such item), 405 (method not allowed) or 507 (no room for more items).
    pub denied: u64,
    /// With state: items held at the end.
    pub items: u64,
}

/// A target that listens, and serves once it is [`run`](Server::run).
pub struct Server {
    reactor: Reactor,
    address: Address,
    settings: Settings,
    control: Control,
    clock: Clock,
    log: Option<ArrivalsLog>,
    station: Station,
    state: Option<State>,
    demand: Stream,
    error: Stream,
    event: Stream,
    ok: Fixed,
    /// What comes in pieces, where answers do.
    in_pieces: Option<InPieces>,
    failed: Fixed,
    full: Fixed,
    connections: Vec<Option<Connection>>,
    free: Vec<Token>,
    /// When which answer of which connection leaves.
    departures: BinaryHeap<Reverse<(Nanos, u64, Token)>>,
    /// Departures so far: keeps those of one instant in order, and distinguishes connections with the same token.
    departed: u64,
    spare: Vec<Vec<u8>>,
    accept_again_at: Option<Nanos>,
    report: ServeReport,
}

impl Server {
    /// Listens at `address` (port 0: a free one).
    ///
    /// # Errors
    /// The address cannot be listened at.
    pub fn bind(
        address: &Address,
        settings: Settings,
        log: Option<ArrivalsLog>,
        control: Control,
    ) -> io::Result<Server> {
        let listener = Listener::bind(address, settings.backlog)?;
        let address = listener.address().clone();
        let mut reactor = Reactor::new(log.is_some())?;
        control.register(reactor.waker());
        reactor.listen(listener)?;
        let response = |status: u16| {
            let response = Response::new(status).map_err(|e| io::Error::other(e.to_string()))?;
            response.header("content-type", "text/plain").map_err(|e| io::Error::other(e.to_string()))
        };
        let answer = |status: u16, body: u64| {
            Ok::<_, io::Error>(Fixed::of(&response(status)?.filler(body, &b"headway "[..])))
        };
        Ok(Server {
            station: Station::new(settings.servers, settings.queue, settings.stalls),
            state: settings.state.map(State::new),
            demand: Stream::new(settings.seed, streams::SERVICE),
            error: Stream::new(settings.seed, streams::ERROR),
            event: Stream::new(settings.seed, streams::EVENT),
            in_pieces: settings
                .events
                .as_ref()
                .map(|events| {
                    Ok::<_, io::Error>(InPieces::of(response(200)?, settings.body_bytes, events.count))
                })
                .transpose()?,
            ok: answer(200, settings.body_bytes)?,
            failed: answer(500, 0)?,
            full: answer(503, 0)?,
            reactor,
            address,
            settings,
            control,
            clock: Clock::starting_in(Nanos::ZERO),
            log,
            connections: Vec::new(),
            free: Vec::new(),
            departures: BinaryHeap::new(),
            departed: 0,
            spare: Vec::new(),
            accept_again_at: None,
            report: ServeReport::default(),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Serves until the control is asked to stop; then says what it did.
    ///
    /// # Errors
    /// The reactor or the arrivals log failed.
    pub fn run(mut self) -> io::Result<ServeReport> {
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        // Stalls are counted from here.
        self.clock = Clock::starting_in(Nanos::ZERO);
        let mut buffer = vec![0; 64 << 10];
        while self.control.asked() == 0 {
            let now = self.release_due();
            let wake = self.departures.peek().map(|&Reverse((at, ..))| at - UP_BEFORE);
            let wake = [wake, self.accept_again_at].into_iter().flatten().min();
            self.reactor.wait(wake.map(|at| (at - now).max(Nanos::ZERO)))?;
            while let Some(completion) = self.reactor.next(&mut buffer) {
                self.handle(completion, &buffer)?;
                self.release_due();
            }
        }
        if let Some(log) = &mut self.log {
            log.flush()?;
        }
        self.report.items = self.state.as_ref().map_or(0, State::items);
        Ok(self.report)
    }

    /// Sends the answers whose instant has come; returns the clock after the last.
    fn release_due(&mut self) -> Nanos {
        loop {
            let now = self.clock.now();
            if self.accept_again_at.is_some_and(|at| at <= now) {
                self.accept_again_at = None;
                // If it fails again, it is refused again and tried again.
                if self.reactor.resume_listening().is_err() {
                    self.accept_again_at = Some(now + ACCEPT_PAUSE);
                }
            }
            match self.departures.peek() {
                Some(&Reverse((at, number, token))) if at <= now => {
                    self.departures.pop();
                    match self.next_piece(token, number, at) {
                        Some(next) => self.departures.push(Reverse((next, number, token))),
                        None => self.answer(token, number),
                    }
                }
                _ => return now,
            }
        }
    }

    fn handle(&mut self, completion: Completion, buffer: &[u8]) -> io::Result<()> {
        match completion {
            Completion::Accepted(fd) => {
                let token = self.free.pop().unwrap_or(self.connections.len() as Token);
                if self.reactor.adopt(token, fd).is_err() {
                    self.free.push(token);
                    self.report.refused += 1;
                    return Ok(());
                }
                if self.connections.len() <= token as usize {
                    self.connections.resize_with(token as usize + 1, || None);
                }
                self.connections[token as usize] = Some(Connection::new(self.report.connections));
                self.report.connections += 1;
            }
            Completion::AcceptFailed(_) => {
                self.report.refused += 1;
                self.reactor.pause_listening();
                self.accept_again_at = Some(self.clock.now() + ACCEPT_PAUSE);
            }
            Completion::Received(token, bytes, stamp) => {
                let now = self.clock.now();
                self.received(token, &buffer[..bytes], now, stamp)?;
            }
            Completion::Sent(token, mut buffer) => {
                buffer.clear();
                self.transmit(token, buffer);
                self.close_if_over(token);
            }
            Completion::Ended(token) => {
                // Half-closed: what was asked for is still answered.
                if let Some(connection) = &mut self.connections[token as usize] {
                    connection.ended = true;
                }
                self.close_if_over(token);
            }
            Completion::Failed(token, _) => self.close(token),
            Completion::Connected(..) | Completion::Departed(..) | Completion::Woken => {}
        }
        Ok(())
    }

    fn received(
        &mut self,
        token: Token,
        bytes: &[u8],
        now: Nanos,
        stamp: Option<KernelStamp>,
    ) -> io::Result<()> {
        let Some(connection) = self.connections[token as usize].as_mut() else { return Ok(()) };
        let mut bytes = connection.begin(bytes);
        while let Some(event) = connection.receive(&mut bytes) {
            match event {
                Event::Request { stream, method, target, head, expect_continue } => {
                    let asked = self.state.as_ref().map(|_| State::asked(method, target, head));
                    connection.continue_wanted = expect_continue;
                    if let Some(asked) = asked {
                        connection.ask(stream, asked);
                    }
                }
                Event::Chunk { stream, data } => {
                    // It may be the connection's own.
                    let data = if self.state.is_some() { data.to_vec() } else { Vec::new() };
                    connection.continue_wanted = false;
                    if let (Some(state), Some(asked)) = (&mut self.state, connection.asked(stream)) {
                        state.receive(asked, &data);
                    }
                }
                Event::Reset { stream } => {
                    if let (Some(state), Some(asked)) = (&mut self.state, connection.take_asked(stream)) {
                        state.give_up(&asked);
                    }
                }
                Event::End { stream } => {
                    // A request arrives with the bytes that complete it.
                    connection.continue_wanted = false;
                    let number = self.report.requests;
                    self.report.requests += 1;
                    if let Some(log) = &mut self.log {
                        let unix = stamp.map(|s| s.0);
                        log.arrival(connection.number, unix, || self.clock.unix_nanos(now))?;
                    }
                    let mut draws = self.demand.item(number);
                    let demand = Nanos::from_secs_f64(self.settings.service.sample(&mut draws));
                    let asked = self.state.as_mut().zip(connection.take_asked(stream));
                    let cost = asked.as_ref().map_or(Nanos::ZERO, |(state, asked)| state.cost(asked));
                    let demand = demand.saturating_add(cost);
                    let (at, reply) = match self.station.arrive(now, demand) {
                        Admission::Rejected => (now, Reply::Full),
                        Admission::Departs(at)
                            if open01(self.error.bits(number, 0)) < self.settings.error_rate =>
                        {
                            (at, Reply::Failed)
                        }
                        Admission::Departs(at) => (at, Reply::Ok),
                    };
                    let reply = match (asked, reply) {
                        (Some((state, asked)), Reply::Ok) => Reply::State(state.apply(asked)),
                        (Some((state, asked)), failed) => {
                            state.give_up(&asked);
                            failed
                        }
                        (None, reply) => reply,
                    };
                    let (at, reply) = match (reply, &self.settings.events) {
                        (Reply::Ok, Some(laws)) => {
                            let mut coming = laws.of(self.event, number);
                            let first = coming.next(laws).unwrap_or_default();
                            (at.saturating_add(first), Reply::Pieces { coming, sending: None })
                        }
                        (reply, _) => (at, reply),
                    };
                    // Pipelined answers leave in the order of their requests, whole ones after those in pieces.
                    let at = if connection.is_in_order() { at.max(connection.last_departure) } else { at };
                    connection.last_departure = match (&reply, &self.settings.events) {
                        (Reply::Pieces { coming, .. }, Some(laws)) if connection.is_in_order() => {
                            at.saturating_add(laws.whole(coming.clone()))
                        }
                        _ => at,
                    };
                    connection.replies.push_back((self.departed, stream, reply));
                    self.departures.push(Reverse((at, self.departed, token)));
                    self.departed += 1;
                }
                Event::Malformed(status) => {
                    self.report.malformed += 1;
                    let at = now.max(connection.last_departure);
                    connection.replies.push_back((self.departed, StreamId(0), Reply::Malformed(status)));
                    self.departures.push(Reverse((at, self.departed, token)));
                    self.departed += 1;
                    break;
                }
            }
        }
        // With earlier answers under way it follows the last of them.
        let mut out = self.spare.pop().unwrap_or_default();
        out.clear();
        if connection.continue_wanted && connection.replies.is_empty() {
            connection.send_continue(&mut out);
        }
        self.transmit(token, out);
        self.close_if_over(token);
        Ok(())
    }

    /// Sends the piece that was due at `at` of the answer with that number, if it comes in pieces and has more to come: when the next is due.
    fn next_piece(&mut self, token: Token, number: u64, at: Nanos) -> Option<Nanos> {
        let laws = self.settings.events.as_ref()?;
        let in_pieces = self.in_pieces.as_ref()?;
        let connection = self.connections.get_mut(token as usize)?.as_mut()?;
        let place = connection.replies.iter().position(|&(n, ..)| n == number)?;
        let mut out = self.spare.pop().unwrap_or_default();
        out.clear();
        let next = connection.send_piece(place, in_pieces, laws, &mut out);
        self.transmit(token, out);
        next.map(|gap| at.saturating_add(gap))
    }

    /// The answer with that number leaves, if its client is still there; of one in pieces the last has left.
    fn answer(&mut self, token: Token, number: u64) {
        let Some(Some(connection)) = self.connections.get_mut(token as usize) else {
            self.report.abandoned += 1;
            return;
        };
        // A connection with this token that is younger than the answer has no such number.
        let at = connection.replies.iter().position(|&(n, ..)| n == number);
        let Some((_, stream, reply)) = at.and_then(|at| connection.replies.remove(at)) else {
            self.report.abandoned += 1;
            return;
        };
        let mut out = self.spare.pop().unwrap_or_default();
        out.clear();
        let (counter, answered) = match reply {
            Reply::Ok => (&mut self.report.ok, connection.respond_fixed(stream, &self.ok, &mut out)),
            Reply::Pieces { coming, sending } => (&mut self.report.ok, sending.is_some() && coming.is_over()),
            Reply::State(answer) => {
                let response = self.state.as_ref().map(|s| s.response(&answer, self.settings.body_bytes));
                if let Some(Ok(response)) = response {
                    let counter =
                        if response.status() < 300 { &mut self.report.ok } else { &mut self.report.denied };
                    (counter, connection.respond(stream, &response, &mut out))
                } else {
                    // Its headers came in a request, so HTTP takes them.
                    (&mut self.report.errors, connection.respond_fixed(stream, &self.failed, &mut out))
                }
            }
            Reply::Failed => {
                (&mut self.report.errors, connection.respond_fixed(stream, &self.failed, &mut out))
            }
            Reply::Full => {
                (&mut self.report.rejected, connection.respond_fixed(stream, &self.full, &mut out))
            }
            Reply::Malformed(status) => {
                if let Ok(response) = Response::new(status) {
                    connection.respond(stream, &response.close(), &mut out);
                }
                connection.ended = true;
                // It was counted when it came.
                (&mut 0, true)
            }
        };
        *(if answered { counter } else { &mut self.report.abandoned }) += 1;
        if connection.replies.is_empty() {
            connection.send_continue(&mut out);
        }
        self.transmit(token, out);
        self.close_if_over(token);
    }

    /// Hands `out` to the socket, and what the connection has to say by itself, as long as the socket takes it.
    fn transmit(&mut self, token: Token, mut out: Vec<u8>) {
        loop {
            let Some(Some(connection)) = self.connections.get_mut(token as usize) else { return };
            if !self.reactor.is_sending(token) {
                connection.transmit(&mut out);
            }
            if out.is_empty() {
                return self.spare.push(out);
            }
            match self.reactor.send(token, out) {
                Submitted::Done(buffer) | Submitted::Refused(buffer, _) => out = buffer,
                Submitted::Pending => return,
            }
            out.clear();
        }
    }

    /// Closes a connection that has no more to say.
    fn close_if_over(&mut self, token: Token) {
        let Some(Some(connection)) = self.connections.get_mut(token as usize) else { return };
        let over = connection.ended || connection.is_finished();
        if over && connection.replies.is_empty() && !self.reactor.is_sending(token) {
            self.close(token);
        }
    }

    fn close(&mut self, token: Token) {
        self.reactor.close(token);
        if let Some(connection) = self.connections[token as usize].take() {
            self.free.push(token);
            if let Some(state) = &mut self.state {
                connection.unfinished().for_each(|asked| state.give_up(asked));
            }
        }
    }
}
