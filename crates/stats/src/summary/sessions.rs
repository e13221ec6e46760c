//! The document's block on sessions that arrive: how many came, how they fared, and what their feedback withheld.
//!
//! Deliberately absent: response times of the requests within; they stand where those of all requests stand.

use super::Spread;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Sessions that were due in the measured phase.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sessions {
    /// Sessions due, started or not.
    pub n: u64,
    /// Of those, the ones whose first request started.
    pub started: u64,
    /// Ended with every request ok.
    pub ok: u64,
    /// Ended with a request that did not end as ok.
    pub failed: u64,
    /// Still under way when the run ended.
    pub unfinished: u64,
    /// From when a session was due to its end, over sessions of more than one request; those still under way are censored.
    pub duration: Spread,
    /// Requests that the sessions due would make within the measured phase if every answer were instant: those that they made
    /// and that would then have been due within it, and what sessions that were cut short still had to make. None where what a
    /// session is to do is not known.
    pub requests_offered: Option<f64>,
    /// Requests that started before the end of the measured phase, of sessions due within.
    pub requests_sent: u64,
    /// `requests_sent` over `requests_offered`.
    pub sent_share: Option<f64>,
    /// Sessions under way on average over the measured phase.
    pub active_mean: Option<f64>,
    /// Most sessions under way at once, at any time of the run, as seen every millisecond (less often in runs over 16 s).
    pub active_max: Option<u64>,
    /// Sessions under way at the end of the measured phase.
    pub active_at_end: Option<u64>,
    /// From the end of the measured phase to the last answer; 0 if that came before.
    pub drain: Option<f64>,
    /// When the first request of each step was sent, in seconds since the plan's zero, over the whole run. A step of which none
    /// was sent is left out.
    pub first_sent: BTreeMap<Cleared, f64>,
    /// When the first answer of each step came, in seconds since the plan's zero, over the whole run. A step without an
    /// answer is left out.
    pub first_response: BTreeMap<Cleared, f64>,
    /// How long sessions were held back before their first request could start.
    pub blocked: Held,
    /// How long requests were held back, over all of them.
    pub blocked_all: Held,
}

/// Time due but held back by the cap, the pool or connection set-up.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Held {
    /// Number of requests behind it.
    pub n: u64,
    /// Mean.
    pub mean: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}
