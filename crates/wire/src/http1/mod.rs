//! HTTP/1.0 and HTTP/1.1 (RFC 9112 over RFC 9110): a client with one stream, and a server for the calibrated target.
//!
//! `assembler` collects partial heads, `fields` reads the header lines that frame a message, `chunked` decodes chunks;
//! [`client`] and [`server`] are the two state machines, [`response`] renders what the server says, [`tunnel`] asks a proxy for a tunnel.
//!
//! Deliberately absent: upgrades, line folding (obsolete since 2014: a protocol error here),
//! content and transfer codings other than chunked, trailers for the caller (they are skipped), client pipelining.

mod assembler;
mod chunked;
pub mod client;
mod fields;
pub mod response;
pub mod server;
pub mod tunnel;

pub use client::Client;
pub use response::{Rendered, Response, ResponseError};
pub use server::{InPieces, Server, ServerEvent};

use crate::protocol::{Protocol, Settings};
use crate::syntax::push_line;
use crate::{ClientConnection, Request};

/// HTTP/1.1: one request at a time on a connection.
#[derive(Debug)]
pub struct Http1;

impl Protocol for Http1 {
    fn name(&self) -> &'static str {
        "HTTP/1.1"
    }

    fn alpn(&self) -> Option<&'static [u8]> {
        Some(b"http/1.1")
    }

    fn streams(&self, _settings: &Settings) -> u32 {
        1
    }

    fn connect(&self, settings: &Settings) -> Box<dyn ClientConnection> {
        Box::new(Client::new(settings.limits))
    }
}

/// The bytes of a request: head and body.
pub(crate) fn render(request: &Request) -> Vec<u8> {
    let body = request.body();
    let mut bytes = Vec::with_capacity(256 + body.len());
    for part in [request.method(), " ", request.target(), " HTTP/1.1\r\n"] {
        bytes.extend_from_slice(part.as_bytes());
    }
    let (name, host) = request.host_line();
    push_line(&mut bytes, name, host);
    for (name, value) in request.fields() {
        push_line(&mut bytes, name, &value);
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(body);
    bytes
}
