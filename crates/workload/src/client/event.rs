//! What the client and the world tell each other.

use super::ConnectionId;
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
    /// How long a connection may take to be ready, from started.
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
    /// that found no connection are not among them.
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
    /// It is over.
    EndSession,
    /// It is over, and its group begins no other: what all its sessions need has run out.
    StopGroup,
}

/// What the world is to do, at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Open this connection; then tell [`Event::Connected`] or [`Event::ConnectFailed`].
    Open(ConnectionId),
    /// Send that request on this connection; then tell how it went.
    Send(ConnectionId, RequestKey),
    /// Close this connection and forget it: no further events of it may follow.
    Close(ConnectionId),
}

/// What happened to a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// It is ready for its first request: established after `connect`, TLS agreed after another `tls`.
    Connected {
        /// Time from opening to established.
        connect: Nanos,
        /// Time of the TLS handshake, if there was one.
        tls: Option<Nanos>,
    },
    /// It could not be made ready. [`Outcome::LocalLimit`]: the generator had nothing left to open it with, and where that is
    /// told before anything else its request has not begun.
    ConnectFailed(Outcome),
    /// The request's bytes were handed over: how many.
    Sent(u64),
    /// The first byte of the answer came.
    FirstByte,
    /// The answer is complete, or went wrong: how, with which status, after how many bytes, and whether the connection
    /// may serve again.
    Done {
        /// How the request ended.
        outcome: Outcome,
        /// Status code, 0 without one.
        status: u16,
        /// Bytes received: head, framing, body.
        bytes_received: u64,
        /// Whether the connection may serve again.
        reusable: bool,
        /// How the session goes on.
        then: SessionControl,
    },
    /// Nothing was sent, because the request could not be made: the connection is as it was.
    NotSent {
        /// How the request ended.
        outcome: Outcome,
        /// How the session goes on.
        then: SessionControl,
    },
    /// An idle connection was closed by the target, or is of no more use.
    Closed,
}
