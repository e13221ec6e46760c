//! Requests on their way out: opened, handed to the socket, watched, given up.

use super::{CORKED_AT_ONCE, Worker};
use crate::clock::unix_now;
use crate::connection::{Connection, asked_of};
use crate::reactor::{KernelStamp, Submitted};
use headway_base::{Nanos, Outcome, RecordSink};
use headway_wire::{Carrier, Opened, StreamId};
use headway_workload::client::{ConnectionId, RequestId};
use headway_workload::{RequestEvent, RequestKey, SessionControl};
use std::io;

impl<S: RecordSink> Worker<'_, S> {
    #[inline]
    pub(super) fn send_request(
        &mut self,
        id: ConnectionId,
        request: RequestId,
        key: &RequestKey,
        now: Nanos,
    ) {
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
                self.unanswered(&content);
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
    pub(super) fn transmit(&mut self, id: ConnectionId, now: Nanos) {
        while !self.reactor.is_sending(id) {
            let Some(connection) = self.connections[id as usize].as_mut() else { return };
            let Some(wire) = &mut connection.wire else { return };
            let mut out = self.spare.pop().unwrap_or_default();
            out.clear();
            let any = wire.poll_transmit(now, &mut out);
            if any && let Err(error) = connection.transport.wrap(&mut out, &mut self.plain) {
                return self.broken(id, Outcome::Tls, &error, now);
            }
            // Datagrams are not watched.
            let watched = !connection.unsent.is_empty()
                && self.shared.carrier() == Carrier::Stream
                && self.report.departures.picks(now);
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
    pub(super) fn not_taken(
        &mut self,
        id: ConnectionId,
        stream: Option<StreamId>,
        error: &io::Error,
        now: Nanos,
    ) {
        let Some(address) = self.connection(id).map(|c| c.address.clone()) else { return };
        let lack = self.note_lack(error, &address);
        let Some((request, status)) = stream.and_then(|stream| self.given_up(id, stream)) else { return };
        let outcome = if lack { Outcome::LocalLimit } else { Outcome::Unsent };
        let why = format_args!("sending to {address}: {error}");
        self.report.reasons.add((outcome, status), None, why, None);
        let (bytes_received, then) = (0, SessionControl::Continue);
        self.tell_of(request, RequestEvent::Done { outcome, status, bytes_received, then }, now);
    }

    /// A request of a connection that goes on is not waited for any longer: which it is, and the status that had come.
    pub(super) fn given_up(&mut self, id: ConnectionId, stream: StreamId) -> Option<(RequestId, u16)> {
        let missed = self.missed(id, stream);
        if let Some(wire) = self.connection(id).and_then(|c| c.wire.as_mut()) {
            wire.cancel(stream);
        }
        missed
    }

    /// Tells the client how many bytes its new requests have, as far as they were handed over; returns the last of them.
    #[inline]
    pub(super) fn tell_sent(&mut self, id: ConnectionId, now: Nanos) -> Option<StreamId> {
        let mut told = None;
        // Datagrams go out in the order of their requests, one each time.
        let one_by_one = self.shared.carrier() == Carrier::Datagrams;
        let Connection { unsent, wire: Some(wire), asked, .. } = self.connections[id as usize].as_mut()?
        else {
            return None;
        };
        let mut at = 0;
        while let Some(&stream) = unsent.get(at) {
            let bytes = wire.bytes_sent(stream);
            if bytes == 0 {
                if one_by_one {
                    break;
                }
                at += 1;
                continue;
            }
            unsent.remove(at);
            told = Some(stream);
            if let Some(asked) = asked_of(asked, stream) {
                asked.sent = bytes;
                self.client.on_request(asked.request, RequestEvent::Sent(bytes), now);
            }
            if one_by_one {
                break;
            }
        }
        told
    }

    /// Hands a request's bytes to the socket, and asks when they leave this machine.
    pub(super) fn submit_watched(&mut self, id: ConnectionId, bytes: Vec<u8>, now: Nanos) {
        let (submitted, departed) = self.reactor.send_watched(id, bytes, KernelStamp(unix_now()));
        if let Some(departed) = departed {
            self.report.departures.push(now, departed);
        }
        if let Submitted::Done(buffer) | Submitted::Refused(buffer, _) = submitted {
            self.spare.push(buffer);
        }
    }

    /// A watched request that is under way on this connection is not waited for any longer: if it has not left this machine yet, it
    /// has stayed until now. Without any stamp so far the system may tell none, and nothing is known.
    pub(super) fn never_left(&mut self, id: ConnectionId, now: Nanos) {
        if self.connection(id).is_none_or(|c| c.live() == 0) || !self.report.departures.is_known() {
            return;
        }
        if let Some(departed) = self.reactor.give_up_watch(id, KernelStamp(unix_now())) {
            self.report.departures.push(now - departed.after, departed);
        }
    }

    /// Hands bytes to the socket; why a datagram was not taken.
    #[inline]
    pub(super) fn submit(&mut self, id: ConnectionId, bytes: Vec<u8>) -> Option<io::Error> {
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
}
