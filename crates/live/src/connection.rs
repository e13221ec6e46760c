//! One connection of a worker: how its bytes travel, the protocol on it, and which stream carries which request.

use crate::address::Address;
use crate::requests::InFlight;
use crate::transport::Transport;
use headway_base::Nanos;
use headway_wire::{ClientConnection, StreamId};
use headway_workload::client::RequestId;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Connecting,
    /// The proxy was asked for a tunnel.
    Tunnel,
    Handshake,
    Ready,
}

/// A request under way, and what is read of its answer.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) request: RequestId,
    pub(crate) content: InFlight,
    pub(crate) status: u16,
    /// Bytes of it that the client has heard of.
    pub(crate) sent: u64,
}

/// The request that a stream carries.
#[inline]
pub(crate) fn asked_of(asked: &mut [Option<Asked>], stream: StreamId) -> Option<&mut Asked> {
    asked.get_mut(stream.0 as usize)?.as_mut()
}

pub(crate) struct Connection {
    /// Where it goes.
    pub(crate) address: Address,
    /// The number of the origin that it leads to.
    pub(crate) origin: u16,
    pub(crate) transport: Transport,
    /// None until it is known which is spoken.
    pub(crate) wire: Option<Box<dyn ClientConnection>>,
    pub(crate) opened: Nanos,
    /// When TCP stood, or the tunnel through the proxy.
    pub(crate) established: Nanos,
    pub(crate) stage: Stage,
    /// The first byte that came in place of a handshake of TLS, or of one.
    pub(crate) first: Option<u8>,
    /// Whether its handshake has failed, as the client has heard.
    pub(crate) failed: bool,
    /// Whether bytes of an answer have come on it.
    pub(crate) begun: bool,
    /// Requests at once, as the client has heard.
    pub(crate) capacity: u32,
    /// Whether that is what the peer says.
    pub(crate) settled: bool,
    /// Whether the client has heard that it takes no more.
    pub(crate) draining: bool,
    /// When the protocol wants to be called; MAX: not at all.
    pub(crate) timer: Nanos,
    /// Requests under way, by stream.
    pub(crate) asked: Vec<Option<Asked>>,
    live: u32,
    /// Streams whose first bytes have not been handed over yet.
    pub(crate) unsent: Vec<StreamId>,
}

impl Connection {
    pub(crate) fn new(address: Address, origin: u16, now: Nanos) -> Connection {
        Connection {
            address,
            origin,
            transport: Transport::Plain,
            wire: None,
            opened: now,
            established: now,
            stage: Stage::Connecting,
            first: None,
            failed: false,
            begun: false,
            capacity: 0,
            settled: false,
            draining: false,
            timer: Nanos::MAX,
            asked: Vec::new(),
            live: 0,
            unsent: Vec::new(),
        }
    }

    /// Requests under way.
    pub(crate) fn live(&self) -> u32 {
        self.live
    }

    /// That stream carries this request.
    pub(crate) fn put(&mut self, stream: StreamId, request: RequestId, content: InFlight) {
        let index = stream.0 as usize;
        if self.asked.len() <= index {
            self.asked.resize_with(index + 1, || None);
        }
        self.asked[index] = Some(Asked { request, content, status: 0, sent: 0 });
        self.live += 1;
        self.unsent.push(stream);
    }

    /// The request of this stream, which carries it no longer.
    pub(crate) fn take(&mut self, stream: StreamId) -> Option<Asked> {
        let asked = self.asked.get_mut(stream.0 as usize)?.take()?;
        self.unsent.retain(|&unsent| unsent != stream);
        self.live -= 1;
        Some(asked)
    }

    /// The stream that carries this request.
    pub(crate) fn stream_of(&self, request: RequestId) -> Option<StreamId> {
        let at = self.asked.iter().position(|asked| asked.as_ref().is_some_and(|a| a.request == request))?;
        Some(StreamId(at as u32))
    }

    /// Any stream that carries a request.
    pub(crate) fn any_stream(&self) -> Option<StreamId> {
        if self.live == 0 {
            return None;
        }
        Some(StreamId(self.asked.iter().position(Option::is_some)? as u32))
    }
}
