//! The live world: the only crate with sockets, a real clock, threads, TLS and `unsafe`.
//!
//! [`run`] plays a plan against a target: one worker thread per shard, each with its own [`reactor`], its own
//! connections and its own sink; nothing is shared on the hot path. [`serve`] is the calibrated target on the same
//! reactor. [`wait`] sees to it that workers wake on time, and [`watch`] observes the generator itself: where its time went, and when it was held up.
//!
//! Deliberately absent: statistics, reports, simulation, log formats. What was observed goes to the caller's sinks.

pub mod address;
pub mod clock;
mod connection;
pub mod control;
pub mod departures;
pub mod host;
pub mod names;
pub mod namespace;
mod outcome;
pub mod protocols;
pub mod proxy;
pub mod reactor;
pub mod reasons;
pub mod requests;
pub mod run;
pub mod senders;
pub mod serve;
#[cfg(feature = "service")]
pub mod service;
pub mod site;
pub mod tcp_counters;
pub mod tls;
mod transport;
pub mod wait;
pub mod watch;
mod worker;

pub use address::{Address, ResolveError, resolve, resolve_by};
pub use clock::Clock;
pub use control::Control;
pub use protocols::Protocols;
pub use proxy::Via;
pub use requests::{Requests, RequestsError};
pub use run::{Config, Error, Origin, RunReport, run};
pub use tcp_counters::TcpCounters;
pub use watch::{Stall, WorkerReport};
