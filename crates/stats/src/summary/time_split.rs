//! The document's block on the parts of a request's time that no other block has.
//!
//! Response time = `lag` + `blocked` (waiting for a connection, `connect`, `tls`) + `first_byte` + `receive`. Deliberately absent: the parts
//! that have blocks of their own.

use serde::{Deserialize, Serialize};

/// Parts of the time of requests.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TimeSplit {
    /// From opening a connection to established, over the connections that were opened for a request; null without any.
    pub connect: Option<TimePart>,
    /// The TLS handshake of these connections; null without TLS.
    pub tls: Option<TimePart>,
    /// From the first byte of a response to its end, over complete responses; null without any.
    pub receive: Option<TimePart>,
}

/// A distribution of spans, in seconds; percentiles to 0.05 %.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TimePart {
    /// Number of observations.
    pub n: u64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}
