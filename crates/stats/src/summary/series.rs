//! The run over time, row by row, and each step of it.

use headway_base::Outcome;
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
    /// Connections that were established within; left out of the document unless each request opens one of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub established: Option<u64>,
    /// Requests that ended as ok within.
    pub completed: u64,
    /// Requests that ended otherwise within.
    pub failed: u64,
    /// These by outcome; left out of the document where there are none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<String, u64>,
    /// These by outcome and status code: `timeout`, `status 503`, `check 200`; the eight most frequent kinds of the run, and `status other`
    /// and the like for the rest. Left out of the document where there are none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub failure_kinds: BTreeMap<String, u64>,
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
    /// Where the time of these requests went, on average over those with a complete response; left out of the document where there are
    /// none, and of a simulation and of another tool's results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_split: Option<MeanParts>,
    /// Requests in flight on average: started and not ended.
    pub in_flight: Option<f64>,
    /// Requests that were due and held back by the connection cap, on average; none in an audit.
    pub waiting: Option<f64>,
    /// Users (closed) and sessions of more than one request (arriving) that were there on average; none in an open workload.
    pub users: Option<f64>,
}

/// The name of a kind of failure in [`SeriesRow::failure_kinds`]: by outcome and status code (0: none), or all further codes of an outcome.
pub fn failure_kind(outcome: Outcome, status: Option<u16>) -> String {
    match status {
        Some(0) => outcome.name().to_owned(),
        Some(status) => format!("{} {status}", outcome.name()),
        None => format!("{} {OTHER_STATUSES}", outcome.name()),
    }
}

/// Parts of response times in seconds: means, which add up to the mean response time.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MeanParts {
    /// Number of requests.
    pub n: u64,
    /// The generator's own lateness.
    pub lag: f64,
    /// Waiting for a connection: at the cap, or until one that is not its own was set up.
    pub wait: f64,
    /// Opening a connection.
    pub connect: f64,
    /// The TLS handshake.
    pub tls: f64,
    /// From the first byte sent to the first byte received.
    pub first_byte: f64,
    /// From there to the last byte.
    pub receive: f64,
}

/// What became of the requests of one step that were due between two instants.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LabelRow {
    /// Seconds since the plan's zero at which the row begins.
    pub from_s: f64,
    /// At which it ends.
    pub to_s: f64,
    /// Requests due within that were sent and have ended.
    pub n: u64,
    /// Of these, the ones that failed.
    pub failed: u64,
    /// Median response time, to 3 %.
    pub p50: Option<f64>,
    /// 99th percentile, to 3 %.
    pub p99: Option<f64>,
}
