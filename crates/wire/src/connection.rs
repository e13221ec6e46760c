//! The seam between a protocol and the owner of the socket: a timed, multiplexed client connection without I/O.
//!
//! The caller writes what [`poll_transmit`](ClientConnection::poll_transmit) gives, and hands over what it read with
//! [`receive`](ClientConnection::receive), which it calls until it returns none. Input and events are one call, a pull
//! parser: so a piece of a body is borrowed from the caller's read buffer and never copied, and no queue of events can
//! grow between the two.
//!
//! ```
//! use headway_base::Nanos;
//! use headway_wire::{ClientConnection, Event, Limits, Opened, Request, http1};
//!
//! let mut connection = http1::Client::new(Limits::DEFAULT);
//! let request = Request::builder("GET", "example.com", "/bars").build()?;
//! let Opened::Stream(_) = connection.open(&request.into()) else { panic!("a new connection has a free stream") };
//! let mut to_write = Vec::new();
//! assert!(connection.poll_transmit(Nanos::ZERO, &mut to_write));
//!
//! let mut read: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";
//! let mut body = Vec::new();
//! while let Some(event) = connection.receive(Nanos::ZERO, &mut read) {
//!     match event {
//!         Event::Begun { .. } => {}
//!         Event::Head { status, head, .. } => {
//!             assert_eq!((status, head.header("Content-Length")), (200, Some(&b"2"[..])));
//!         }
//!         Event::Chunk { data, .. } => body.extend_from_slice(data),
//!         Event::End { bytes_received, .. } => assert_eq!(bytes_received, 40),
//!         Event::Reset { reason, .. } => panic!("{reason}"),
//!         Event::GoAway => panic!("the peer gave the connection up"),
//!     }
//! }
//! assert_eq!(body, b"hi");
//! assert_eq!(connection.capacity(), 1);
//! # Ok::<(), headway_wire::RequestError>(())
//! ```

use std::fmt;

use headway_base::Nanos;

use crate::head::Head;
use crate::limits::Limit;
use crate::payload::{Payload, Unfit};

/// A stream (one request and its answer) within its connection: a small number, used again after the stream has ended. Below
/// the most streams that were ever open at once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StreamId(pub u32);

/// What came of the wish to send a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Opened {
    /// It has a stream; its bytes come with the next [`poll_transmit`](ClientConnection::poll_transmit).
    Stream(StreamId),
    /// All streams are taken: later, after one ended.
    Blocked,
    /// Never again on this connection.
    Closed,
    /// This protocol cannot say it.
    Unfit(Unfit),
}

/// Events of a connection, from the bytes it received.
///
/// A stream's events come in the order begun, head, chunks, end; a reset may take the place of any of them and is then the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event<'a> {
    /// The first bytes of an answer have come, if only of an informational one.
    Begun {
        /// Of this stream.
        stream: StreamId,
    },
    /// The head of the final answer; informational ones (1xx) are not reported. Plain bytes have none.
    Head {
        /// Of this stream.
        stream: StreamId,
        /// Its status code, 100 to 999; of DNS its code (RCODE), 0 to 15.
        status: u16,
        /// Its header lines.
        head: Head<'a>,
    },
    /// A piece of the body, never empty. Where a body is cut into pieces says nothing.
    Chunk {
        /// Of this stream.
        stream: StreamId,
        /// Without framing.
        data: &'a [u8],
    },
    /// The answer is complete, and the stream is free again if the connection is still reusable. An HTTP/1.1 connection
    /// is not where more bytes were read than the answer has.
    End {
        /// Of this stream.
        stream: StreamId,
        /// Bytes of the answer on this connection: heads (1xx included), framing and body.
        bytes_received: u64,
    },
    /// The stream ended without a complete answer. HTTP/1.1: the connection is of no more use either.
    Reset {
        /// Which stream.
        stream: StreamId,
        /// Why.
        reason: ResetReason,
    },
    /// The peer takes no further requests, though no stream was open: it closed, or sent unsolicited bytes. Comes at
    /// most once.
    GoAway,
}

/// Why a stream ended without a complete answer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum ResetReason {
    /// The peer closed before the answer was complete.
    #[error("the connection was closed before the response was complete")]
    Closed,
    /// The answer breaks the protocol.
    #[error("protocol error: {0}")]
    Protocol(ProtocolError),
    /// The answer is larger than the [`Limits`](crate::Limits) allow.
    #[error("the response is too large: {0}")]
    TooLarge(Limit),
    /// The peer has not looked at the request, and says so: HTTP/2's REFUSED_STREAM, or a GOAWAY that leaves this stream out.
    #[error("the server refused the request without looking at it ({0})")]
    Refused(&'static str),
    /// The peer ended this stream, with this code of RFC 9113, section 7.
    #[error("the server reset the stream: {0}")]
    ByPeer(ErrorCode),
}

/// A code of HTTP/2 for why a stream or a connection ends (RFC 9113, section 7).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ErrorCode(pub u32);

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            "NO_ERROR",
            "PROTOCOL_ERROR",
            "INTERNAL_ERROR",
            "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT",
            "STREAM_CLOSED",
            "FRAME_SIZE_ERROR",
            "REFUSED_STREAM",
            "CANCEL",
            "COMPRESSION_ERROR",
            "CONNECT_ERROR",
            "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ];
        match names.get(self.0 as usize) {
            Some(name) => f.write_str(name),
            None => write!(f, "code {:#x}", self.0),
        }
    }
}

/// How a peer broke the protocol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
pub enum ProtocolError {
    /// The answer does not begin with `HTTP/1.x` and a status code from 100 to 999.
    #[error("the response does not begin with an HTTP/1.x status line")]
    StatusLine,
    /// The answer begins like an alert of TLS (RFC 8446, 5.1 and 6): so servers that expect TLS answer plain HTTP.
    #[error("the response is a TLS alert and not HTTP")]
    TlsAlert,
    /// The answer is of another version than HTTP/1.0 or HTTP/1.1.
    #[error("the response is neither HTTP/1.0 nor HTTP/1.1")]
    Version,
    /// A header line is malformed.
    #[error("a header line is malformed")]
    Header,
    /// Content-Length is not a number below 2^64, or given twice with different values.
    #[error("Content-Length is invalid or contradicts itself")]
    ContentLength,
    /// Transfer-Encoding is empty, names chunked more than once, or stands beside a Content-Length without naming it.
    #[error("Transfer-Encoding is invalid or contradicts Content-Length")]
    TransferEncoding,
    /// A chunk's size line is malformed, or its size has more than 16 digits.
    #[error("a chunk's size line is malformed")]
    ChunkSize,
    /// A chunk does not end where its size says.
    #[error("a chunk does not end where its size says")]
    ChunkEnd,
    /// The trailer after the last chunk is malformed.
    #[error("the trailer after the last chunk is malformed")]
    Trailer,
    /// The peer switched protocols (101) without being asked to.
    #[error("the peer switched protocols, unasked")]
    Upgrade,
    /// The answer came before its request was sent.
    #[error("the response came before its request was sent")]
    Unsolicited,
    /// Frames of HTTP/2 that break RFC 9113, with the code that we end the stream or the connection with.
    #[error("the server broke HTTP/2: {0}")]
    Http2(ErrorCode),
    /// The peer closed an HTTP/2 connection with an error of ours, it says.
    #[error("the server closed the connection with {0}")]
    GoAway(ErrorCode),
    /// An answer of DNS that is none to the question.
    #[error("the response breaks DNS: {0}")]
    Dns(&'static str),
    /// An answer that is none of Redis' protocol.
    #[error("the response breaks the protocol of Redis (RESP): {0}")]
    Resp(&'static str),
    /// The peer makes us answer (pings, settings) and does not read the answers, or sends more frames without content than any use.
    #[error(
        "the server sends pings or settings and does not read what they ask for, or empty frames without end"
    )]
    Flood,
}

/// A timed, multiplexed client connection without I/O.
///
/// `now` is the caller's clock, never going backwards; protocols without timers ignore it.
pub trait ClientConnection: Send {
    /// Takes a stream for this request, if one is free.
    fn open(&mut self, payload: &Payload) -> Opened;

    /// Gives a stream up: no further events of it follow. What that costs, [`capacity`](ClientConnection::capacity) says: the
    /// whole connection in HTTP/1.1, nothing in HTTP/2, which may leave bytes to send.
    fn cancel(&mut self, stream: StreamId);

    /// Reads from `bytes`, what the peer sent, up to the next event; advances `bytes` over what it consumed.
    ///
    /// None means that all bytes were consumed and more are needed. Call until then, also with `bytes` empty: the end
    /// of an answer is an event of its own, and memory held for a head is released by the call after it.
    fn receive<'a, 'b: 'a>(&'a mut self, now: Nanos, bytes: &mut &'b [u8]) -> Option<Event<'a>>;

    /// An empty datagram came. Call [`ClientConnection::receive`] afterwards, as after any other.
    fn receive_empty(&mut self) {}

    /// The peer closed its sending half. Ends an answer that lasts until then, resets any other open stream, and is
    /// [`Event::GoAway`] where none is open. Call until it returns none.
    fn receive_end(&mut self, now: Nanos) -> Option<Event<'_>>;

    /// Whether [`receive`](ClientConnection::receive) has an event without further bytes: asked after what was to be sent was handed over.
    fn has_news(&self) -> bool {
        false
    }

    /// Appends to `buffer` the bytes to send now, of datagrams one; false if there are none. The caller sends them all, in order, before
    /// it asks again, and asks after each other call: a connection counts a request as sent when its bytes were handed over.
    fn poll_transmit(&mut self, now: Nanos, buffer: &mut Vec<u8>) -> bool;

    /// Bytes of this stream's request that were handed over so far: its head, framing and body.
    fn bytes_sent(&self, stream: StreamId) -> u64;

    /// When [`handle_timeout`](ClientConnection::handle_timeout) wants to be called; none: not at all. May change with
    /// each other call.
    fn poll_timeout(&self) -> Option<Nanos> {
        None
    }

    /// It is `now`, at or after the instant that [`poll_timeout`](ClientConnection::poll_timeout) named. May leave bytes
    /// to send.
    fn handle_timeout(&mut self, _now: Nanos) {}

    /// Requests that it takes at once, those under way among them; 0: no further one, though those under way go on.
    fn capacity(&self) -> u32;

    /// Whether the peer has said how many that may be. Until then [`capacity`](ClientConnection::capacity) is what any peer takes.
    fn is_settled(&self) -> bool {
        true
    }

    /// Whether bytes came that no request had asked for, so that the connection is of no more use. Plain bytes alone tell.
    fn has_surplus(&self) -> bool {
        false
    }

    /// Datagrams so far that were no answer, or came out of turn.
    fn tally(&self) -> Tally {
        Tally::default()
    }
}

/// Datagrams that were no answer, or not in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Answers to requests that were given up before.
    pub late: u64,
    /// Answers to requests that had theirs.
    pub duplicates: u64,
    /// Answers that came after one to a later request (RFC 4737, 3.3).
    pub reordered: u64,
    /// What belongs to no request that is remembered.
    pub unexpected: u64,
}

impl Tally {
    /// What has been added to an earlier one.
    pub fn since(self, earlier: Tally) -> Tally {
        Tally {
            late: self.late.saturating_sub(earlier.late),
            duplicates: self.duplicates.saturating_sub(earlier.duplicates),
            reordered: self.reordered.saturating_sub(earlier.reordered),
            unexpected: self.unexpected.saturating_sub(earlier.unexpected),
        }
    }

    /// Both together.
    pub fn add(&mut self, other: Tally) {
        self.late += other.late;
        self.duplicates += other.duplicates;
        self.reordered += other.reordered;
        self.unexpected += other.unexpected;
    }
}
