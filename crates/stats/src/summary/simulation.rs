//! What a simulation can tell besides: whether it reached a steady state, and how the parts of the model fared.

use super::Interval;
use serde::{Deserialize, Serialize};

/// A simulated run, seen from inside.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Simulation {
    /// What of the run is its warm-up, and the mean response time after it.
    pub steady: Steady,
    /// The parts of the model, in the order in which they are written; copies together.
    pub parts: Vec<ModelPart>,
    /// Attempts that parts with retries or hedging made for each request that came to them; none where nothing is made again.
    pub attempts_per_request: Option<f64>,
    /// Share of the servers' busy time that went into what nobody waited for any more.
    pub wasted: Option<f64>,
    /// Little's law, as an identity: both sides are counted apart.
    pub little: LittleIdentity,
}

/// Whether there is a steady state, and from when on.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Steady {
    /// Requests that were looked at, in the order in which they were due.
    pub n: u64,
    /// Whether a steady state was found: by MSER (White 1997) the warm-up is within the first half of the run, and nothing else
    /// speaks against one.
    pub found: bool,
    /// What does, in words that follow "none found:"; none where one was found.
    pub why_not: Option<String>,
    /// Requests that belong to the warm-up, by MSER; left out of `mean`.
    pub cut: u64,
    /// When the last of them was due.
    pub cut_s: f64,
    /// Mean response time after it.
    pub mean: Option<f64>,
    /// Its 95 % interval by batch means.
    pub ci95: Option<Interval>,
    /// Correlation of neighbouring batches: near zero where they are long enough.
    pub batch_lag1: Option<f64>,
    /// How long the slowest station of the model takes to forget where it began: its relaxation time, where a formula has it.
    pub relaxation_s: Option<f64>,
    /// Length of the run in relaxation times.
    pub relaxations: Option<f64>,
}

/// A part of the model, all its copies together.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelPart {
    /// Its name.
    pub name: String,
    /// `balancer`, `station` or `pass`, and for the first two the policy or discipline: `balancer random`.
    pub kind: String,
    /// How many there are.
    pub copies: u64,
    /// Servers of each copy; none unless it is a station.
    pub servers: Option<u64>,
    /// Requests that came to it, retries and hedges among them.
    pub requests: u64,
    /// Of those, the ones that it answered with a failure.
    pub failed: u64,
    /// Work asked of it per time and server, over the plan: 1 or more means no steady state. None unless it is a station.
    pub offered: Option<f64>,
    /// Share of the servers' time that was spent serving. None unless it is a station.
    pub utilisation: Option<f64>,
    /// Requests in it, waiting or served, averaged over time and copies.
    pub number: f64,
    /// Each copy: at most the first 1,000.
    pub by_copy: Vec<CopyLoad>,
    /// Over time, all copies together.
    pub series: Vec<PartPoint>,
}

/// One copy of a part.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CopyLoad {
    /// Requests that came to it.
    pub requests: u64,
    /// Share of its servers' time that was spent serving.
    pub utilisation: Option<f64>,
    /// Requests in it, averaged over time.
    pub number: f64,
}

/// A stretch of time of a part.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PartPoint {
    /// Its middle.
    pub at_s: f64,
    /// Share of the servers' time that was spent serving.
    pub utilisation: Option<f64>,
    /// Requests in it, waiting or served, averaged over time and copies.
    pub number: f64,
    /// Share of the copies' time that they were up; none where nothing fails.
    pub up: Option<f64>,
}

/// Little's law (Little 1961) on the whole run, from its empty beginning to its empty end: the integral of the number of
/// requests in the model, kept at each change, and the sum of their times in it.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LittleIdentity {
    /// Requests that came to the model.
    pub n: u64,
    /// Integral of the number in the model over time, in request-seconds.
    pub area_s: f64,
    /// Sum of the times spent in it, in seconds.
    pub sum_s: f64,
    /// Whether they agree to the nanosecond.
    pub holds: bool,
}
