//! Bytes in, bytes out: between the socket and the wire protocol, plain or through TLS. What a proxy says of a tunnel is before both.

use crate::tls::{Inbound, Session};
use headway_wire::http1::tunnel::Tunnel;
use std::io;

/// How a connection's bytes travel.
#[derive(Debug)]
pub(crate) enum Transport {
    Plain,
    Tls(Box<Session>),
    /// Nothing yet: the proxy is still to answer.
    Tunnel(Box<Tunnel>),
}

impl Transport {
    pub(crate) fn is_tls(&self) -> bool {
        matches!(self, Transport::Tls(_))
    }

    /// Turns what the protocol says, in `bytes`, into what the socket is to send; `spare` is room for one of them.
    pub(crate) fn wrap(&mut self, bytes: &mut Vec<u8>, spare: &mut Vec<u8>) -> io::Result<()> {
        let Transport::Tls(tls) = self else { return Ok(()) };
        spare.clear();
        std::mem::swap(spare, bytes);
        tls.send(spare)?;
        tls.transmit(bytes)
    }

    /// Appends what TLS itself has to say to the peer.
    pub(crate) fn transmit(&mut self, out: &mut Vec<u8>) {
        if let Transport::Tls(tls) = self {
            // Writing to a vector does not fail.
            let _ = tls.transmit(out);
        }
    }

    /// Whether TLS is still to be agreed on.
    pub(crate) fn is_handshaking(&self) -> bool {
        matches!(self, Transport::Tls(tls) if tls.is_handshaking())
    }

    /// The protocol that was agreed on in TLS, if any.
    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        match self {
            Transport::Plain | Transport::Tunnel(_) => None,
            Transport::Tls(tls) => tls.alpn(),
        }
    }

    /// Appends to `plain` what TLS makes of `bytes` from the socket, also what comes before an error. Without TLS the bytes are plain
    /// as they are, and need no such call.
    pub(crate) fn unwrap_into(
        &mut self,
        bytes: &[u8],
        plain: &mut Vec<u8>,
    ) -> Result<Inbound, rustls::Error> {
        match self {
            Transport::Plain | Transport::Tunnel(_) => Ok(Inbound::Open),
            Transport::Tls(tls) => tls.receive(bytes, plain),
        }
    }
}
