//! The document's block on attempts to connect, of a load in which each request opens a connection of its own.

use serde::{Deserialize, Serialize};

/// What became of attempts to connect within the measured phase, each counted by when it happened.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Connects {
    /// In all.
    #[serde(flatten)]
    pub counts: ConnectCounts,
    /// The same per second; null where the phase has no length.
    pub per_s: Option<ConnectRates>,
    /// Sockets that were to be kept connecting, on average; null where attempts arrive by a plan or by users.
    pub sockets: Option<f64>,
    /// Sockets that were connecting, on average: opened, and neither established nor given up.
    pub connecting: Option<f64>,
    /// Attempts per second that sockets kept connecting make: sockets / connect timeout + established per second (Banga and Druschel 1997).
    /// Null where none are.
    pub expected_per_s: Option<f64>,
    /// The counts interval by interval from the plan's zero; empty unless that was asked for (`--interval`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<ConnectRow>,
}

/// Counts of attempts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectCounts {
    /// Attempts that started.
    pub attempts: u64,
    /// Connections that were established.
    pub established: u64,
    /// Attempts that the target refused, or to which no route led.
    pub refused: u64,
    /// Attempts that were given up after the connect timeout.
    pub timed_out: u64,
    /// Attempts for which this machine had no descriptor, port or memory.
    pub local_limit: u64,
    /// Requests that failed in another way, before or after the connection was established.
    pub failed: u64,
    /// Requests that were answered.
    pub served: u64,
}

/// The counts per second.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectRates {
    /// Attempts that started.
    pub attempts: f64,
    /// Connections that were established.
    pub established: f64,
    /// Attempts that were refused.
    pub refused: f64,
    /// Attempts that were given up.
    pub timed_out: f64,
    /// Requests that were answered.
    pub served: f64,
}

/// Counts of attempts between two instants.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectRow {
    /// Seconds since the plan's zero at which the row begins.
    pub from_s: f64,
    /// At which it ends.
    pub to_s: f64,
    /// What happened within.
    #[serde(flatten)]
    pub counts: ConnectCounts,
}
