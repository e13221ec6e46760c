//! What comes back: events of the protocol, the end of a connection.

use super::Worker;
use crate::connection::{Asked, Stage, asked_of};
use headway_base::{KnownFailure, Nanos, Outcome, RecordSink};
use headway_wire::{Event, ProtocolError, ResetReason, StreamId};
use headway_workload::client::{ConnectionId, Part, RequestId};
use headway_workload::content::{Found, StreamReader};
use headway_workload::{RequestEvent, SessionControl};
use std::io;

impl<S: RecordSink> Worker<'_, S> {
    /// Plain bytes of answers; none: the protocol has done something by itself.
    #[inline]
    pub(super) fn answer(&mut self, id: ConnectionId, mut bytes: &[u8], mut now: Nanos) {
        let outer = std::mem::replace(&mut self.corked, true);
        let mut ends = 0;
        // Without bytes nothing was read now.
        let heard = if bytes.is_empty() { now } else { self.heard };
        let mut reads_on = None;
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
                        // The response has begun, and may stand still from now on.
                        let told = (self.shared.tells_progress || asked.content.stream.is_some())
                            .then_some(asked.request);
                        // Where the peer's windows held a part of the request back, that has been sent meanwhile.
                        let sent = wire.bytes_sent(stream);
                        if sent > asked.sent {
                            let request = asked.request;
                            self.tell_of(request, RequestEvent::Sent(sent), now);
                        }
                        if let Some(request) = told {
                            self.tell_of(request, RequestEvent::Progress, now);
                        }
                    }
                    continue;
                }
                Event::Chunk { stream, data } => {
                    if let Some(asked) = asked_of(&mut connection.asked, stream) {
                        asked.content.reader.chunk(data);
                        if let Some(reader) = &mut asked.content.stream {
                            reader.piece(data, &mut self.found);
                            let request = asked.request;
                            self.tell_found(request, heard, now);
                            let other = reads_on.replace(stream).filter(|&other| other != stream);
                            self.read_over(id, other, heard, now);
                        } else if self.shared.tells_progress {
                            let request = asked.request;
                            self.tell_of(request, RequestEvent::Progress, now);
                        }
                    }
                    continue;
                }
                Event::GoAway => {
                    self.drained(id, now);
                    continue;
                }
                Event::End { stream, bytes_received } => {
                    self.read_over(id, reads_on.take(), heard, now);
                    // Each answer is read in its turn, like those of connections of their own.
                    now = if ends > 0 { self.shared.clock.now() } else { now };
                    self.finished(id, stream, bytes_received, now);
                }
                Event::Reset { stream, reason } => {
                    self.read_over(id, reads_on.take(), heard, now);
                    self.reset(id, stream, reason, now);
                }
            }
            ends += 1;
            self.act_on_all(now);
        }
        self.read_over(id, reads_on, heard, now);
        self.note_capacity(id, now);
        self.transmit(id, now);
        self.uncork(outer, now);
    }

    /// One read has brought what it brings of this stream's body, if that is looked at.
    #[inline]
    fn read_over(&mut self, id: ConnectionId, stream: Option<StreamId>, heard: Nanos, now: Nanos) {
        let Some(stream) = stream else { return };
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        let Some(asked) = asked_of(&mut connection.asked, stream) else { return };
        let (request, found) =
            (asked.request, asked.content.stream.as_mut().and_then(StreamReader::read_over));
        self.found.extend(found);
        self.tell_found(request, heard, now);
    }

    /// Tells the client of the events that were found in what reached this machine at `heard`.
    #[cold]
    fn tell_found(&mut self, request: RequestId, heard: Nanos, now: Nanos) {
        let mut found = std::mem::take(&mut self.found);
        for Found { kind, bytes, count } in found.drain(..) {
            let part = Part { kind, at: heard, bytes, count, unread: self.unread };
            self.tell_of(request, RequestEvent::Part(part), now);
        }
        self.found = found;
    }

    pub(super) fn reset(&mut self, id: ConnectionId, stream: StreamId, reason: ResetReason, now: Nanos) {
        let outcome = match reason {
            ResetReason::Closed | ResetReason::ByPeer(_) => Outcome::Reset,
            ResetReason::Protocol(_) => Outcome::Protocol,
            ResetReason::TooLarge(_) => Outcome::TooLarge,
            ResetReason::Refused(_) => Outcome::RefusedStream,
        };
        let kind = match reason {
            // A proxy writes the status line itself.
            ResetReason::Protocol(
                ProtocolError::TlsAlert | ProtocolError::StatusLine | ProtocolError::Version,
            ) if self.place(id).forwards() => Some(KnownFailure::ProxyNotHttp),
            ResetReason::Protocol(ProtocolError::TlsAlert) => Some(KnownFailure::TlsExpected),
            ResetReason::Closed => self.closed_kind(id),
            _ => None,
        };
        if outcome == Outcome::RefusedStream && self.given_back(id, stream, now) {
            return;
        }
        let Some((request, status)) = self.missed(id, stream) else { return };
        self.note_capacity(id, now);
        self.ends_badly(request, (outcome, status), kind, &reason, now);
    }

    /// The target has given this request back without a look at it. Whether it is sent again: its session then keeps what it had.
    fn given_back(&mut self, id: ConnectionId, stream: StreamId, now: Nanos) -> bool {
        let Some(connection) = self.connections[id as usize].as_mut() else { return false };
        let asked = asked_of(&mut connection.asked, stream).map(|asked| asked.request);
        let Some(request) = asked.filter(|&request| self.client.sends_again(request)) else { return false };
        connection.take(stream);
        // First, so that it is not sent where it is given back again.
        self.note_capacity(id, now);
        let (outcome, then) = (Outcome::RefusedStream, SessionControl::Continue);
        self.tell_of(request, RequestEvent::Done { outcome, status: 0, bytes_received: 0, then }, now);
        true
    }

    /// The socket says that the target sends no more.
    pub(super) fn hung_up(&mut self, id: ConnectionId, now: Nanos) {
        let cut = self.connection(id).is_some_and(|c| c.transport.is_tls() && c.live() > 0);
        if cut {
            // TLS has not said so: anybody on the way could have cut the answer short.
            let why = "the connection was closed without the end of TLS, before the response was complete";
            return self.broken(id, Outcome::Reset, &why, now);
        }
        self.ended(id, now);
    }

    /// The target says that it sends no more.
    pub(super) fn ended(&mut self, id: ConnectionId, now: Nanos) {
        match self.connection(id).map(|c| (c.stage, c.live())) {
            None => return,
            Some((stage @ (Stage::Connecting | Stage::Tunnel | Stage::Handshake), _)) => {
                let by = if stage == Stage::Tunnel { "closed by it" } else { "closed by the target" };
                let error = io::Error::new(io::ErrorKind::UnexpectedEof, by);
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
        self.broken(id, Outcome::Reset, &"the connection was closed before the response", now);
    }

    /// The answer on this stream is complete.
    #[inline]
    pub(super) fn finished(&mut self, id: ConnectionId, stream: StreamId, bytes_received: u64, now: Nanos) {
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        let Some(Asked { request, content, status, .. }) = connection.take(stream) else { return };
        let response = now - self.client.intended(request);
        let unix = || self.shared.clock.unix_nanos(now);
        let session = content.session();
        let reading = self.kept.answer(&self.shared.requests, (content, status), unix, response);
        self.note_leads(session);
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
