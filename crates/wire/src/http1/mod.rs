//! HTTP/1.0 and HTTP/1.1 (RFC 9112 over RFC 9110): a client with one stream, and a server for the calibrated target.
//!
//! `assembler` collects partial heads, `fields` reads the header lines that frame a message, `chunked` decodes chunks;
//! [`client`] and [`server`] are the two state machines, [`response`] renders what the server says.
//!
//! Deliberately absent: upgrades and tunnels (CONNECT), line folding (obsolete since 2014: a protocol error here),
//! content and transfer codings other than chunked, trailers for the caller (they are skipped), client pipelining.

mod assembler;
mod chunked;
pub mod client;
mod fields;
pub mod response;
pub mod server;

pub use client::Client;
pub use response::{Rendered, Response, ResponseError};
pub use server::{Server, ServerEvent};
