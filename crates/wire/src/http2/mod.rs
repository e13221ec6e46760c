//! HTTP/2 (RFC 9113) over the `h2` library: a client of many streams, and a server for the calibrated target.
//!
//! The library expects to be polled by a runtime and to own its socket. Here it owns a pipe in memory (`pipe`), is
//! polled by hand after bytes came or a request was opened, and never sleeps. `frames` reads the heads of the frames that go
//! by, for what the library does not tell: bytes by stream, the first byte of an answer, where a GOAWAY draws its line.
//!
//! Deliberately absent: server push (refused), CONNECT, priorities, upgrades from HTTP/1.1, trailers for the caller (they are
//! read and dropped).

pub mod client;
mod empty;
mod frames;
mod pipe;
mod rendered;
pub mod server;
mod slots;

pub use client::Client;
pub(crate) use rendered::Rendered;
pub use server::Server;

use crate::ClientConnection;
use crate::protocol::{Protocol, Settings};

/// What a client sends first (RFC 9113, 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// HTTP/2: many requests at once on a connection.
#[derive(Debug)]
pub struct Http2;

impl Protocol for Http2 {
    fn name(&self) -> &'static str {
        "HTTP/2"
    }

    fn alpn(&self) -> Option<&'static [u8]> {
        Some(b"h2")
    }

    fn streams(&self, settings: &Settings) -> u32 {
        settings.streams.clamp(1, client::ASSUMED_STREAMS)
    }

    fn connect(&self, settings: &Settings) -> Box<dyn ClientConnection> {
        Box::new(Client::new(settings))
    }
}
