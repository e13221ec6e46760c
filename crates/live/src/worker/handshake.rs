//! A connection from its first byte to ready: TCP, the tunnel through a proxy, TLS, the choice of the protocol.

use super::Worker;
use crate::connection::{Connection, Stage};
use crate::proxy::Via;
use crate::tls::{self, Inbound};
use crate::transport::Transport;
use crate::watch::STALL;
use headway_base::{KnownFailure, Nanos, Outcome, RecordSink};
use headway_wire::http1::tunnel::{Tunnel, TunnelError};
use headway_workload::ConnectionEvent;
use headway_workload::client::ConnectionId;
use std::fmt::Display;
use std::io;

impl<S: RecordSink> Worker<'_, S> {
    pub(super) fn connected(&mut self, id: ConnectionId, now: Nanos) {
        // That costs a system call, which is made only where it can have been long.
        let ago = if now - self.unseen_since > STALL { self.reactor.stood_for(id) } else { Nanos::ZERO };
        let place = self.place(id);
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        connection.established = (now - ago).max(connection.opened);
        if let Some(Via::Tunnel(asks)) = &place.via {
            connection.stage = Stage::Tunnel;
            let tunnel = Tunnel::new(self.shared.settings.limits);
            connection.transport = Transport::Tunnel(Box::new(tunnel));
            let mut out = self.spare.pop().unwrap_or_default();
            out.clear();
            out.extend_from_slice(asks);
            let _ = self.submit(id, out);
            return;
        }
        self.agree(id, now);
    }

    /// What the proxy says of the tunnel.
    pub(super) fn received_from_proxy(&mut self, id: ConnectionId, mut bytes: &[u8], now: Nanos) {
        let heard = now - self.unread.get().unwrap_or(Nanos::ZERO);
        let place = self.place(id);
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        let Transport::Tunnel(tunnel) = &mut connection.transport else { return };
        match tunnel.receive(&mut bytes) {
            None => return,
            Some(Err(error)) => return self.no_tunnel(id, error, now),
            Some(Ok(())) => {}
        }
        connection.transport = Transport::Plain;
        connection.established = heard.max(connection.established);
        if place.tls.is_some() && !bytes.is_empty() {
            let why = format!("the proxy {} sent more than the head of its response", connection.address);
            return self.opening_failed(id, Outcome::Protocol, &why, Some(KnownFailure::ProxySurplus), now);
        }
        self.agree(id, now);
        if !bytes.is_empty() {
            // As after a direct connection: the first request goes out before anything is read.
            self.act_on_all(now);
            self.answer(id, bytes, now);
        }
    }

    /// The proxy makes no tunnel.
    #[cold]
    fn no_tunnel(&mut self, id: ConnectionId, error: TunnelError, now: Nanos) {
        let (outcome, kind) = match error {
            // Some say 401 of a wrong password.
            TunnelError::Status(401 | 407) => (Outcome::Refused, KnownFailure::ProxyAuthentication),
            TunnelError::Status(500..) => (Outcome::Refused, KnownFailure::ProxyNoTarget),
            TunnelError::Status(_) => (Outcome::Refused, KnownFailure::ProxyForbids),
            TunnelError::Protocol(_) => (Outcome::Protocol, KnownFailure::ProxyNotHttp),
            TunnelError::TooLarge(_) => (Outcome::TooLarge, KnownFailure::ProxyNotHttp),
        };
        let Some(address) = self.connection(id).map(|c| c.address.clone()) else { return };
        let why = format_args!("the proxy {address} answered CONNECT: {error}");
        self.opening_failed(id, outcome, &why, Some(kind), now);
    }

    /// The connection ends before the proxy has said whether there is a tunnel.
    #[cold]
    pub(super) fn left_by_proxy(&mut self, id: ConnectionId, error: &io::Error, now: Nanos) {
        let Some(address) = self.connection(id).map(|c| c.address.clone()) else { return };
        let why = format_args!("the proxy {address} gave no complete response to CONNECT: {error}");
        self.opening_failed(id, Outcome::Reset, &why, Some(KnownFailure::ProxyClosed), now);
    }

    /// The connection leads to the target: TLS is agreed on, if it is spoken.
    fn agree(&mut self, id: ConnectionId, now: Nanos) {
        let place = self.place(id);
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        let Some(setup) = &place.tls else { return self.established(id, None, now) };
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
        self.opening_failed(id, Outcome::Tls, why, kind, now);
    }

    /// A connection does not become ready.
    fn opening_failed(
        &mut self,
        id: ConnectionId,
        outcome: Outcome,
        why: &dyn Display,
        kind: Option<KnownFailure>,
        now: Nanos,
    ) {
        let named = self.shared.named(self.origin(id));
        self.report.reasons.add((outcome, 0), kind, format_args!("{named}{why}"), None);
        if let Some(connection) = self.connection(id) {
            connection.failed = true;
        }
        self.tell(id, ConnectionEvent::Failed(outcome), now);
    }

    /// The client gives up a connection: if that is because TLS was answered by nothing until its time was over, or CONNECT not to its
    /// end, this says so.
    pub(super) fn note_unanswered(&mut self, id: ConnectionId, now: Nanos) {
        let most = self.client.limits().connect_timeout;
        let Some(connection) = self.connection(id).filter(|c| !c.failed && now - c.opened >= most) else {
            return;
        };
        let (kind, why) = match connection.stage {
            Stage::Handshake if connection.first.is_none() => {
                let why = format!("connected, and no answer to the beginning of TLS within {most}");
                (KnownFailure::TlsUnanswered, why)
            }
            Stage::Tunnel => {
                let proxy = &connection.address;
                let why = format!("the proxy {proxy} gave no complete response to CONNECT within {most}");
                (KnownFailure::ProxyUnanswered, why)
            }
            _ => return,
        };
        let origin = self.origin(id);
        let named = self.shared.named(origin);
        let why = format_args!("{named}{why}");
        self.report.reasons.add((Outcome::ConnectTimeout, 0), Some(kind), why, None);
        // Until the end, how many have a reason of their own.
        *self.report.given_up.entry((Outcome::ConnectTimeout, origin)).or_default() += 1;
    }

    /// The client gives up a request: if its connection of HTTP/2 has brought nothing since it was established, this says so.
    pub(super) fn note_mute(&mut self, id: ConnectionId) {
        // Asked to stop at once, it is not the target that was waited for.
        let mute = |c: &&mut Connection| !c.settled && c.wire.as_ref().is_some_and(|wire| !wire.is_settled());
        if self.stops_heard > 1 || self.connection(id).filter(mute).is_none() {
            return;
        }
        let (origin, most) = (self.origin(id), self.client.limits().timeout);
        let named = self.shared.named(origin);
        let why = format_args!("{named}connected, and no SETTINGS, with which HTTP/2 begins, within {most}");
        self.report.reasons.add((Outcome::Timeout, 0), Some(KnownFailure::Http2Unanswered), why, None);
        *self.report.given_up.entry((Outcome::Timeout, origin)).or_default() += 1;
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
            Some((Stage::Connecting | Stage::Tunnel | Stage::Handshake, ..))
                if tls::refuses_protocols(why) =>
            {
                let names = self.place(id).protocols.names();
                let why = format_args!("the server does not speak {names} (it says so in TLS)");
                self.handshake_failed(id, &why, None, now);
            }
            Some((Stage::Connecting | Stage::Tunnel | Stage::Handshake, ..)) => {
                let kind = self.refused_client(id, why).or_else(|| tls::failure_kind(why, first));
                match self.place(id).tls.as_ref().and_then(|tls| tls.disagreed(why)) {
                    Some(said) => self.handshake_failed(id, &said, kind, now),
                    None => self.handshake_failed(id, why, kind, now),
                }
            }
            Some((Stage::Ready, 0, _)) => self.drained(id, now),
            // The session was there, and broke.
            Some((Stage::Ready, _, true)) => {
                let why = format_args!("TLS broke on a connection that had answered: {why}");
                self.broken(id, Outcome::Reset, &why, now);
            }
            // In TLS 1.3 a server refuses a client, for want of a certificate for example, after the client's handshake.
            Some((Stage::Ready, _, false)) => {
                let kind = self.refused_client(id, why);
                self.broken_as(id, Outcome::Tls, kind, why, now);
            }
        }
    }

    fn refused_client(&mut self, id: ConnectionId, why: &rustls::Error) -> Option<KnownFailure> {
        self.place(id).tls.as_ref().and_then(|tls| tls.refused_client(why))
    }

    /// The connection is ready, after `tls` of agreeing on TLS: the protocol is known, and the first request goes out.
    pub(super) fn established(&mut self, id: ConnectionId, tls: Option<Nanos>, now: Nanos) {
        let (place, named) = (self.place(id), self.shared.named(self.origin(id)));
        let Some(connection) = self.connections[id as usize].as_mut() else { return };
        let Some(protocol) = place.protocols.chosen(connection.transport.alpn()) else {
            let why = format_args!(
                "{named}the server does not speak {} (it chose {} in TLS)",
                place.protocols.names(),
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
