//! A target that accepts late: it takes one connection, reads its request, works for a fixed time, and only then takes the next;
//! then it answers the first and closes it. So a place in the queue is free when the answer leaves, however fast its client connects
//! anew. Connections beyond its capacity wait in the kernel's accept queue; when that is full, the
//! kernel drops their SYNs. So do servers with one process for each of few connections.
//!
//! It is busy by the schedule of a single server: work that begins without a wait begins when the work before it ended, so that
//! what the system calls cost does not lower the capacity.

use super::{ACCEPT_PAUSE, ArrivalsLog};
use crate::address::Address;
use crate::clock::{Clock, unix_now};
use crate::control::Control;
use crate::reactor::receive::{Received, ask_for_stamps, receive};
use crate::reactor::socket::prepare;
use crate::reactor::{Listener, Waker, timespec};
use crate::tcp_counters::TcpCounters;
use headway_base::{Nanos, Rate};
use headway_wire::Limits;
use headway_wire::http1::{Rendered, Response, Server as Http, ServerEvent};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::io;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex};

/// How long it waits for a client that sends nothing, or reads nothing.
const PATIENCE: Nanos = Nanos::from_secs(1);

/// What the target is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SerialSettings {
    /// Connections served per second, at most; above zero. Each takes the inverse.
    pub capacity: Rate,
    /// Length of the accept queue that is asked of the kernel. Linux admits one more.
    pub backlog: u32,
    /// Bytes of an answer's body.
    pub body_bytes: u64,
}

/// What the target did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SerialReport {
    /// Connections accepted.
    pub accepted: u64,
    /// Of those, served: their request was read, worked for and answered.
    pub served: u64,
    /// Worked for, but the client took no answer.
    pub unanswered: u64,
    /// Closed by the client before its request was complete.
    pub gone: u64,
    /// Closed because no complete request came within a second.
    pub silent: u64,
    /// What could not be understood.
    pub malformed: u64,
    /// Connections that the system refused to hand over.
    pub refused: u64,
    /// SYNs and last segments of handshakes that met a full accept queue, of this or another listener in this network
    /// namespace; none: the system does not count them.
    pub overflows: Option<u64>,
}

/// A target that listens, and serves once it is [`run`](SerialServer::run).
pub struct SerialServer {
    listener: Listener,
    settings: SerialSettings,
    control: Control,
    waker: Waker,
    clock: Clock,
    log: Option<ArrivalsLog>,
    work: Nanos,
    answer: Rendered,
    buffer: Vec<u8>,
    report: SerialReport,
    notes: Option<Arc<Mutex<Vec<i128>>>>,
}

/// What came of reading a request.
enum Read {
    Request,
    Malformed(u16),
    Gone,
    Silent,
    /// It is to stop.
    Stopped,
}

impl SerialServer {
    /// Listens at `address` (port 0: a free one), over TCP.
    ///
    /// # Errors
    /// The address cannot be listened at, or the capacity is not above zero.
    pub fn bind(
        address: &Address,
        settings: SerialSettings,
        log: Option<ArrivalsLog>,
        control: Control,
    ) -> io::Result<SerialServer> {
        let rate = settings.capacity.per_second();
        if !(rate.is_finite() && rate > 0.0) {
            return Err(io::Error::other(format!(
                "a capacity of {rate} connections/s: it must be above zero"
            )));
        }
        let listener = Listener::bind(address, settings.backlog)?;
        if log.is_some() {
            // Its connections inherit it: bytes come before they are accepted.
            ask_for_stamps(listener.as_fd());
        }
        let other = |error: &dyn std::fmt::Display| io::Error::other(error.to_string());
        let answer = Response::new(200).map_err(|e| other(&e))?;
        let answer = answer.header("content-type", "text/plain").map_err(|e| other(&e))?;
        let waker = Waker::new()?;
        control.register(waker.clone());
        Ok(SerialServer {
            listener,
            settings,
            control,
            waker,
            clock: Clock::starting_in(Nanos::ZERO),
            log,
            work: Nanos::from_secs_f64(1.0 / rate),
            answer: answer.filler(settings.body_bytes, &b"headway "[..]).close().render(),
            buffer: vec![0; 64 << 10],
            report: SerialReport::default(),
            notes: None,
        })
    }

    /// Notes there when each answer leaves: the clock before it is written, in nanoseconds of Unix time. Each takes 16 bytes of memory.
    #[must_use]
    pub fn noting(mut self, notes: Arc<Mutex<Vec<i128>>>) -> SerialServer {
        self.notes = Some(notes);
        self
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        self.listener.address()
    }

    /// Serves until the control is asked to stop; then says what it did.
    ///
    /// # Errors
    /// The listener or the arrivals log failed.
    pub fn run(mut self) -> io::Result<SerialReport> {
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let counted = TcpCounters::read().ok();
        // When the work before it ended.
        let mut free_at = self.clock.now();
        let mut next = None;
        loop {
            let taken = next.take().map(|connection| (connection, false));
            let Some((connection, waited)) = taken.map_or_else(|| self.accept(), |taken| Ok(Some(taken)))?
            else {
                break;
            };
            self.report.accepted += 1;
            (free_at, next) = self.serve(&connection, waited, free_at)?;
        }
        if let Some(log) = &mut self.log {
            log.flush()?;
        }
        self.report.overflows = counted
            .zip(TcpCounters::read().ok())
            .map(|(before, after)| after.since(&before).listen_overflows);
        Ok(self.report)
    }

    /// The next connection, and whether it was waited for; none if it is to stop.
    fn accept(&mut self) -> io::Result<Option<(OwnedFd, bool)>> {
        let mut waited = false;
        while self.control.asked() == 0 {
            match self.listener.accept() {
                Ok(connection) => return Ok(Some((connection, waited))),
                Err(Errno::AGAIN) => {
                    waited = true;
                    self.wait(Some((self.listener.as_fd(), PollFlags::IN)), None)?;
                }
                Err(Errno::CONNABORTED | Errno::INTR) => {}
                // No descriptor, no memory.
                Err(_) => {
                    self.report.refused += 1;
                    self.wait(None, Some(ACCEPT_PAUSE))?;
                    waited = true;
                }
            }
        }
        Ok(None)
    }

    /// Serves a connection; returns when its work ended, or that of the one before it if there was none, and the next connection if
    /// one waited when the work ended.
    fn serve(
        &mut self,
        connection: &OwnedFd,
        mut waited: bool,
        free_at: Nanos,
    ) -> io::Result<(Nanos, Option<OwnedFd>)> {
        // Fails only where there is no delay to turn off.
        let _ = prepare(connection);
        let mut http = Http::new(Limits::DEFAULT);
        match self.read(connection, &mut http, &mut waited)? {
            Read::Request => {}
            Read::Malformed(status) => {
                self.report.malformed += 1;
                let mut out = Vec::new();
                if let Ok(response) = Response::new(status) {
                    http.respond(&response.close(), &mut out);
                }
                self.write(connection, &out)?;
                return Ok((free_at, None));
            }
            Read::Gone => {
                self.report.gone += 1;
                return Ok((free_at, None));
            }
            Read::Silent => {
                self.report.silent += 1;
                return Ok((free_at, None));
            }
            Read::Stopped => return Ok((free_at, None)),
        }
        let begins = if waited { self.clock.now() } else { free_at };
        let ends = begins.saturating_add(self.work);
        while self.control.asked() == 0 && self.clock.now() < ends {
            self.wait(None, Some(ends - self.clock.now()))?;
        }
        // A client that is answered may connect anew at once, and finds the place free. What the system refuses is asked for again after it.
        let next = if self.control.asked() == 0 { self.listener.accept().ok() } else { None };
        let mut out = Vec::new();
        http.respond_rendered(&self.answer, &mut out);
        if let Some(notes) = &self.notes
            && let Ok(mut notes) = notes.lock()
        {
            notes.push(unix_now());
        }
        let counter =
            if self.write(connection, &out)? { &mut self.report.served } else { &mut self.report.unanswered };
        *counter += 1;
        Ok((ends, next))
    }

    /// Reads a request to its end.
    fn read(&mut self, connection: &OwnedFd, http: &mut Http, waited: &mut bool) -> io::Result<Read> {
        let until = self.clock.now().saturating_add(PATIENCE);
        loop {
            let Received { bytes, stamp } = match receive(connection, &mut self.buffer, self.log.is_some()) {
                Ok(Received { bytes: 0, .. }) => return Ok(Read::Gone),
                Ok(received) => received,
                Err(Errno::AGAIN) => {
                    *waited = true;
                    let left = until - self.clock.now();
                    if left <= Nanos::ZERO {
                        return Ok(Read::Silent);
                    }
                    self.wait(Some((connection.as_fd(), PollFlags::IN)), Some(left))?;
                    if self.control.asked() != 0 {
                        return Ok(Read::Stopped);
                    }
                    continue;
                }
                Err(Errno::INTR) => continue,
                Err(_) => return Ok(Read::Gone),
            };
            let mut bytes = &self.buffer[..bytes];
            let mut wants_continue = false;
            while let Some(event) = http.receive(&mut bytes) {
                match event {
                    ServerEvent::Request { expect_continue, .. } => wants_continue = expect_continue,
                    ServerEvent::BodyChunk { .. } => wants_continue = false,
                    ServerEvent::Error { status } => return Ok(Read::Malformed(status)),
                    ServerEvent::RequestEnd => {
                        if let Some(log) = &mut self.log {
                            let (now, clock) = (self.clock.now(), &self.clock);
                            let unix = stamp.map(|stamp| stamp.0);
                            log.arrival(self.report.accepted - 1, unix, || clock.unix_nanos(now))?;
                        }
                        return Ok(Read::Request);
                    }
                }
            }
            if wants_continue {
                let mut out = Vec::new();
                http.send_continue(&mut out);
                self.write(connection, &out)?;
            }
        }
    }

    /// Sends all of it; false if the client is gone, or reads nothing.
    fn write(&self, connection: &OwnedFd, mut out: &[u8]) -> io::Result<bool> {
        while !out.is_empty() {
            match rustix::net::send(connection, out, rustix::net::SendFlags::NOSIGNAL) {
                Ok(sent) => out = &out[sent..],
                Err(Errno::AGAIN) => {
                    let until = self.clock.now().saturating_add(PATIENCE);
                    self.wait(Some((connection.as_fd(), PollFlags::OUT)), Some(PATIENCE))?;
                    if self.clock.now() >= until || self.control.asked() != 0 {
                        return Ok(false);
                    }
                }
                Err(Errno::INTR) => {}
                Err(_) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Until that descriptor is ready, it is to stop, or that time is over.
    fn wait(&self, on: Option<(BorrowedFd<'_>, PollFlags)>, time: Option<Nanos>) -> io::Result<()> {
        let timeout = time.map(timespec);
        let (fd, flags) = on.unwrap_or((self.waker.as_fd(), PollFlags::IN));
        let mut watched = [
            PollFd::from_borrowed_fd(self.waker.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(fd, flags),
        ];
        match poll(&mut watched, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// What the target is.
    pub fn settings(&self) -> &SerialSettings {
        &self.settings
    }
}
