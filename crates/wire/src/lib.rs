//! Wire protocols as state machines: bytes and instants in, events and bytes out.
//!
//! [`ClientConnection`] is the seam that the live client and the test kit share: a timed, multiplexed connection.
//! HTTP/1.1 is its one-stream case. Each [`Protocol`] has a folder of its own and a line in [`protocol::ALL`]; the folders also
//! hold the server halves that the calibrated target speaks.
//!
//! Deliberately absent: clocks, sockets, threads, files, TLS, connection pools, retries, redirects, cookies and content
//! codings. The owner of the socket moves the bytes; the owner of the user's journey reads the response.

pub mod bytes;
pub mod connection;
pub mod datagram;
pub mod dns;
pub mod head;
pub mod http1;
pub mod http2;
pub mod limits;
pub mod payload;
pub mod protocol;
pub mod request;
mod syntax;

pub use connection::{
    ClientConnection, ErrorCode, Event, Opened, ProtocolError, ResetReason, StreamId, Tally,
};
pub use head::Head;
pub use limits::{Limit, Limits};
pub use payload::{Payload, Unfit};
pub use protocol::{Carrier, Protocol, Settings};
pub use request::{Request, RequestBuilder, RequestError};
