//! What a protocol is to those who open connections, and the registry of those that there are.

use std::fmt;

use crate::connection::ClientConnection;
use crate::limits::Limits;
use crate::payload::{Payload, Unfit};
use crate::{bytes, datagram, dns, http1, http2};
use headway_base::Answer;

/// What connections of any protocol are made with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// What an answer may weigh.
    pub limits: Limits,
    /// Most requests under way at once on a connection that takes several, at least 1.
    pub streams: u32,
    /// What ends an answer, of protocols of plain bytes; none: as is usual for the protocol.
    pub answer: Option<Answer>,
}

/// What a protocol's bytes travel in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carrier {
    /// A stream: TCP, a Unix socket, TLS.
    Stream,
    /// Datagrams, each a message of its own.
    Datagrams,
}

/// A protocol: makes connections and describes them. A connection is chosen once, when TLS has been agreed on or at once
/// without TLS.
pub trait Protocol: fmt::Debug + Send + Sync {
    /// As reports name it, such as `HTTP/1.1`.
    fn name(&self) -> &'static str;

    /// As TLS names it (ALPN; RFC 7301), if it does.
    fn alpn(&self) -> Option<&'static [u8]> {
        None
    }

    /// Schemes of URLs that ask for it and nothing else.
    fn schemes(&self) -> &'static [&'static str] {
        &[]
    }

    /// What its bytes travel in.
    fn carrier(&self) -> Carrier {
        Carrier::Stream
    }

    /// What it sends for the bytes of a step: themselves, unless it writes them in a form of its own.
    ///
    /// # Errors
    /// Bytes that it has no form for.
    fn payload(&self, bytes: &[u8]) -> Result<Payload, Unfit> {
        Ok(Payload::Bytes(bytes.into()))
    }

    /// Whether a connection with these settings could send that; none: what differs between sessions, of which only the settings are
    /// known.
    ///
    /// # Errors
    /// What no such connection will ever send: [`ClientConnection::open`] says the same then.
    fn fits(&self, _payload: Option<&Payload>, _settings: &Settings) -> Result<(), Unfit> {
        Ok(())
    }

    /// Requests that a connection can be expected to take at once, before the peer has said anything; at least 1.
    fn streams(&self, settings: &Settings) -> u32;

    /// A connection that was just established.
    fn connect(&self, settings: &Settings) -> Box<dyn ClientConnection>;
}

/// The protocols, those that are preferred first.
pub static ALL: [&dyn Protocol; 5] =
    [&http2::Http2, &http1::Http1, &bytes::Bytes, &datagram::Datagrams, &dns::Dns];

/// The protocol of that name in TLS.
pub fn by_alpn(name: &[u8]) -> Option<&'static dyn Protocol> {
    ALL.into_iter().find(|protocol| protocol.alpn() == Some(name))
}

/// The protocol that URLs of this scheme ask for, where they ask for one.
pub fn by_scheme(scheme: &str) -> Option<&'static dyn Protocol> {
    ALL.into_iter().find(|protocol| protocol.schemes().contains(&scheme))
}
