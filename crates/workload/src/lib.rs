//! Who comes, when, and what they ask: plans, arrivals, shards, requests, and the client that plays them.
//!
//! Everything here is a function of its arguments. The plan says when arrival k is due; the [`client`] says, told what
//! time it is and what happened, what to do next; a world (sockets, a simulator, a test) does it.
//!
//! Deliberately absent: clocks, sockets, files, threads, wire formats.

pub mod arrivals;
pub mod client;
pub mod connect;
pub mod content;
pub mod journey;
pub mod model;
pub mod plan;
pub mod raw;
pub mod request;
pub mod scenario;
pub mod shard;
pub mod target;
pub mod users;
pub mod yaml;

pub use headway_redact as redact;

pub use arrivals::{Arrival, Arrivals, Process};
pub use client::{Action, Client, ConnectionEvent, Limits, RequestEvent, RequestKey, SessionControl};
pub use plan::Plan;
pub use request::Request;
pub use shard::Shard;
pub use target::Target;
