//! What a peer may make us hold or read: every buffer and every loop in this crate ends at one of these.

use std::fmt;

/// Bounds on one message (an answer for a client, a request for a server). What reaches beyond ends the connection as
/// too large; it is never cut silently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes of a head: first line, header lines and the empty line, informational (1xx) heads before it included.
    /// A partial head is buffered, so this bounds the memory of a connection. Default 64 KiB.
    pub head_bytes: usize,
    /// Header lines in a head; values above [`Limits::MAX_HEADERS`] count as that. Default 256.
    pub headers: usize,
    /// Bytes of a body, without its framing. Bodies are handed on and not held. Default 64 MiB.
    pub body_bytes: u64,
    /// Bytes of all trailer lines and chunk extensions of a message; they are skipped and not held. Default 16 KiB.
    pub trailer_bytes: u64,
}

impl Limits {
    /// The most header lines that can be asked for: they are parsed into an array on the stack.
    pub const MAX_HEADERS: usize = 256;

    /// The defaults of each field.
    pub const DEFAULT: Limits = Limits {
        head_bytes: 64 << 10,
        headers: Limits::MAX_HEADERS,
        body_bytes: 64 << 20,
        trailer_bytes: 16 << 10,
    };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

/// Which of the [`Limits`] a message broke.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Limit {
    /// [`Limits::head_bytes`].
    Head,
    /// [`Limits::headers`].
    Headers,
    /// [`Limits::body_bytes`].
    Body,
    /// [`Limits::trailer_bytes`].
    Trailers,
    /// What the server can put into a datagram: it has cut its answer, and says so.
    Datagram,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Head => "its head has too many bytes",
            Limit::Headers => "it has too many headers",
            Limit::Body => "its body has too many bytes",
            Limit::Datagram => "the server has truncated it to fit a datagram",
            Limit::Trailers => "its trailers and chunk extensions have too many bytes",
        })
    }
}
