//! A connection from its first byte to ready: TCP, TLS, the choice of the protocol.

use super::Worker;
use crate::connection::{Connection, Stage};
use crate::tls::{self, Inbound};
use crate::transport::Transport;
use crate::watch::STALL;
use headway_base::{KnownFailure, Nanos, Outcome, RecordSink};
use headway_workload::ConnectionEvent;
use headway_workload::client::ConnectionId;
use std::fmt::Display;

impl<S: RecordSink> Worker<'_, S> {
    pub(super) fn connected(&mut self, id: ConnectionId, now: Nanos) {
        // That costs a system call, which is made only where it can have been long.
        let ago = if now - self.unseen_since > STALL { self.reactor.stood_for(id) } else { Nanos::ZERO };
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        connection.established = (now - ago).max(connection.opened);
        let Some(setup) = &self.shared.tls else { return self.established(id, None, now) };
        connection.stage = Stage::Handshake;
        match setup.session() {
            Ok(session) => connection.transport = Transport::Tls(Box::new(session)),
            Err(error) => return self.handshake_failed(id, &error, None, now),
        }
        self.flush_tls(id);
    }

    pub(super) fn handshake_failed(
        &mut self,
        id: ConnectionId,
        why: &dyn Display,
        kind: Option<KnownFailure>,
        now: Nanos,
    ) {
        self.report.reasons.add((Outcome::Tls, 0), kind, why, None);
        if let Some(connection) = self.connection(id) {
            connection.failed = true;
        }
        self.tell(id, ConnectionEvent::Failed(Outcome::Tls), now);
    }

    /// The client gives up a connection: if that is because TLS was answered by nothing until its time was over, this says so.
    pub(super) fn note_unanswered(&mut self, id: ConnectionId, now: Nanos) {
        let most = self.client.limits().connect_timeout;
        let waits = |c: &Connection| c.stage == Stage::Handshake && c.first.is_none() && !c.failed;
        if self.connection(id).is_some_and(|c| waits(c) && now - c.opened >= most) {
            let why = format_args!("connected, and no answer to the beginning of TLS within {most}");
            let kind = Some(KnownFailure::TlsUnanswered);
            self.report.reasons.add((Outcome::ConnectTimeout, 0), kind, why, None);
        }
    }

    /// Sends what TLS itself has to say.
    pub(super) fn flush_tls(&mut self, id: ConnectionId) {
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

    pub(super) fn received_tls(&mut self, id: ConnectionId, bytes: &[u8], now: Nanos) {
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        let mut plain = std::mem::take(&mut self.plain);
        plain.clear();
        let inbound = connection.transport.unwrap_into(bytes, &mut plain);
        let handshake = connection.stage == Stage::Handshake;
        connection.first = connection.first.or(bytes.first().copied());
        let agreed = inbound.is_ok() && handshake && !connection.transport.is_handshaking();
        // Alerts about a certificate we refuse go out too.
        self.flush_tls(id);
        if agreed {
            let heard = now - self.unread.get().unwrap_or(Nanos::ZERO);
            let tls = self.connection(id).map(|c| (heard - c.established).max(Nanos::ZERO));
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

    pub(super) fn tls_failed(&mut self, id: ConnectionId, why: &rustls::Error, now: Nanos) {
        let first = self.connection(id).and_then(|c| c.first);
        match self.connection(id).map(|c| (c.stage, c.live(), c.begun)) {
            None => {}
            Some((Stage::Connecting | Stage::Handshake, ..)) if tls::refuses_protocols(why) => {
                let names = self.shared.protocols.names();
                let why = format_args!("the server does not speak {names} (it says so in TLS)");
                self.handshake_failed(id, &why, None, now);
            }
            Some((Stage::Connecting | Stage::Handshake, ..)) => {
                let kind = self.refused_client(why).or_else(|| tls::failure_kind(why, first));
                self.handshake_failed(id, why, kind, now);
            }
            Some((Stage::Ready, 0, _)) => self.drained(id, now),
            // The session was there, and broke.
            Some((Stage::Ready, _, true)) => {
                let why = format_args!("TLS broke on a connection that had answered: {why}");
                self.broken(id, Outcome::Reset, &why, now);
            }
            // In TLS 1.3 a server refuses a client, for want of a certificate for example, after the client's handshake.
            Some((Stage::Ready, _, false)) => {
                let kind = self.refused_client(why);
                self.broken_as(id, Outcome::Tls, kind, why, now);
            }
        }
    }

    fn refused_client(&self, why: &rustls::Error) -> Option<KnownFailure> {
        self.shared.tls.as_ref().and_then(|tls| tls.refused_client(why))
    }

    /// The connection is ready, after `tls` of agreeing on TLS: the protocol is known, and the first request goes out.
    pub(super) fn established(&mut self, id: ConnectionId, tls: Option<Nanos>, now: Nanos) {
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
}
