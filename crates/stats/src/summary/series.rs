//! The run over time, row by row.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// In [`SeriesRow::statuses`] the name of the codes that have none.
pub const OTHER_STATUSES: &str = "other";

/// What happened between two instants.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SeriesRow {
    /// Seconds since the plan's zero at which the row begins.
    pub from_s: f64,
    /// At which it ends.
    pub to_s: f64,
    /// Arrivals that started within.
    pub started: u64,
    /// Requests that ended as ok within.
    pub completed: u64,
    /// Requests that ended otherwise within.
    pub failed: u64,
    /// These by outcome; left out of the document where there are none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<String, u64>,
    /// Responses that ended within by status code: the eight most frequent of the run, and [`OTHER_STATUSES`]. Left out of the document
    /// where there are none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub statuses: BTreeMap<String, u64>,
    /// Bytes of the responses that ended within, head and framing included, before TLS; none of a simulation and of another tool's
    /// results.
    pub bytes_received: Option<u64>,
    /// Requests due within that have ended: the sample of the four numbers below.
    pub n: u64,
    /// Median response time of those, to 3 %.
    pub p50: Option<f64>,
    /// 90th percentile, to 3 %.
    pub p90: Option<f64>,
    /// 99th percentile, to 3 %.
    pub p99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// Requests in flight on average: started and not ended.
    pub in_flight: Option<f64>,
    /// Requests that were due and held back by the connection cap, on average; none in an audit.
    pub waiting: Option<f64>,
    /// Users (closed) and sessions of more than one request (arriving) that were there on average; none in an open workload.
    pub users: Option<f64>,
}
