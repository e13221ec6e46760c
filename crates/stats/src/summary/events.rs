//! Numbers of the events of responses.

use super::Spread;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Events of the responses to requests of the measured phase, of steps with `stream:`.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Events {
    /// Of all of them.
    #[serde(flatten)]
    pub all: EventNumbers,
    /// By label of the step.
    pub by_label: BTreeMap<Cleared, EventNumbers>,
}

/// Numbers of some events.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EventNumbers {
    /// Number of events.
    pub n: u64,
    /// Requests that they are of, those without an event included.
    pub requests: u64,
    /// Those that came in one read with the event before them, by their stamp: they have no gap.
    pub coalesced: u64,
    /// Bytes of the bodies that they brought.
    pub bytes: u64,
    /// From when a request was due to its first event. A request that ended without one is censored.
    pub first: Spread,
    /// From an event to the next of the same response.
    pub gap: Spread,
}
