//! What the client and the world tell each other.

use super::{ConnectionId, Part, RequestId};
use headway_base::{Nanos, Outcome};

/// The bounds that the client keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most connections of this shard open at once; at least 1.
    pub connections: u32,
    /// How long a request waits for a connection before it is shed.
    pub max_wait: Nanos,
    /// How long an answer may take, from sent.
    pub timeout: Nanos,
    /// How long a connection may take to be ready, from started; of a socket that is kept connecting, from when it was due to connect.
    pub connect_timeout: Nanos,
    /// How long after the plan's end sessions that arrived in time may go on.
    pub drain: Nanos,
}

/// A session's slot within its shard; used again after the session is over.
pub type SessionId = u32;

/// No session: of a request that is one of its own, where the client keeps notes.
pub const NO_SESSION: SessionId = SessionId::MAX;

/// What is to be sent: which step of which session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RequestKey {
    /// The session's slot, or [`NO_SESSION`].
    pub session: SessionId,
    /// Number of the session, from 0, over the whole plan of its group.
    pub k: u64,
    /// Number of the user (closed groups), else of the session.
    pub user: u64,
    /// Which round of the journey of this user, from 0.
    pub iteration: u32,
    /// Number of requests of the session before this one: 0 means that a new session begins in this slot. Requests
    /// that found no connection are not among them, nor those that redirects led to: these have the number of the one that was
    /// redirected.
    pub ordinal: u32,
    /// Which repeat of the step, from 0.
    pub repeat: u32,
    /// Number of the step.
    pub step: u16,
    /// Number of the group.
    pub group: u16,
}

/// How a session goes on after a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SessionControl {
    /// By its journey.
    #[default]
    Continue,
    /// By the request that a redirect leads to, at the origin of that number and at once: a further one of the session, of the step that
    /// follows redirects of the present one ([`Journey::redirected`](crate::journey::Journey::redirected)). By its journey where that
    /// follows none.
    Redirect(u16),
    /// It is over.
    EndSession,
    /// It is over, and its group begins no other: what all its sessions need has run out.
    StopGroup,
}

/// What the world is to do, at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Open this connection, to the origin of that number; then tell [`ConnectionEvent::Established`] or [`ConnectionEvent::Failed`].
    Connect(ConnectionId, u16),
    /// Send this request on that connection; then tell how it went.
    Send(ConnectionId, RequestId, RequestKey),
    /// The answer to this request on that connection, which may have come meanwhile, is not waited for any longer: no further
    /// events of it may follow. If that costs the connection, tell [`ConnectionEvent::Draining`] now.
    Cancel(ConnectionId, RequestId),
    /// Close this connection and forget it: no further events of it may follow, nor of what it carries.
    Disconnect(ConnectionId),
}

/// What happened to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectionEvent {
    /// It is ready for its first request: established after `connect`, TLS agreed after another `tls`.
    Established {
        /// Time from opening to established, which may have been some time ago.
        connect: Nanos,
        /// Time of the TLS handshake, if there was one.
        tls: Option<Nanos>,
        /// Requests it takes at once, at least 1: HTTP/1.1 takes one.
        capacity: u32,
        /// Whether that is known. If not, [`ConnectionEvent::Capacity`] follows, and as long as it may take more requests none is opened
        /// beside it.
        settled: bool,
    },
    /// It could not be made ready. [`Outcome::LocalLimit`]: the generator had nothing left to open it with, and where that is
    /// told before anything else its request has not begun.
    Failed(Outcome),
    /// It takes that many requests at once from now on. Those under way may be more. One that takes none is draining.
    Capacity(u32),
    /// It takes no further request: the target closed it or is about to, or it is of no more use. Requests under way on it
    /// end as they end; with the last of them it is to be closed.
    Draining,
}

/// What happened to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestEvent {
    /// Its bytes were handed over: how many.
    Sent(u64),
    /// The first byte of the answer came.
    FirstByte,
    /// More of the answer came, where that is to be told ([`Streamed::idle`](super::Streamed)) and no part of it is.
    Progress,
    /// A part of the answer came, where these are events.
    Part(Part),
    /// The answer is complete, or went wrong: how, with which status, and after how many bytes.
    Done {
        /// How the request ended.
        outcome: Outcome,
        /// Status code, 0 without one.
        status: u16,
        /// Bytes received: head, framing, body.
        bytes_received: u64,
        /// How the session goes on.
        then: SessionControl,
    },
    /// Nothing was sent, because the request could not be made.
    NotSent {
        /// How the request ended.
        outcome: Outcome,
        /// How the session goes on.
        then: SessionControl,
    },
}
