//! The document's block on what was asked for.

use serde::{Deserialize, Serialize};

/// What was asked for. The caller fills it; nothing is computed from it except texts.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanSummary {
    /// Version of the rules by which a seed becomes arrivals.
    pub version: Option<u32>,
    /// Arrival process: `poisson`, `constant`, `uniform`, `gamma(2)`, `closed`, ...
    pub process: String,
    /// Coefficient of variation of the process's gaps; none where it has no such law.
    pub gap_cov: Option<f64>,
    /// Arrivals per second over the hold, of the whole plan and not of one shard.
    pub rate: Option<f64>,
    /// Length of the hold.
    pub duration_s: Option<f64>,
    /// Length of the warm-up that comes before it.
    pub warmup_s: Option<f64>,
    /// Length of the ramp.
    pub ramp_s: Option<f64>,
    /// All phases in order.
    pub phases: Vec<PlanPhase>,
    /// Number of requests of fixed work.
    pub requests: Option<u64>,
    /// Arrivals that the plan holds in its measured phase, where the caller counted them.
    pub arrivals: Option<u64>,
    /// Connection cap, over all threads and shards.
    pub connections: Option<u64>,
    /// Worker threads.
    pub threads: Option<u32>,
    /// The shard that this process ran, `i/N`; none for the whole plan.
    pub shard: Option<String>,
    /// Users of a closed workload.
    pub users: Option<u64>,
    /// Think time law as written.
    pub think: Option<String>,
    /// The target's address as written.
    pub target: Option<String>,
    /// Labels of the steps, in order.
    pub steps: Vec<String>,
    /// Thresholds as written.
    pub thresholds: Vec<String>,
    /// `--timeout`.
    pub timeout_s: Option<f64>,
    /// `--connect-timeout`.
    pub connect_timeout_s: Option<f64>,
    /// `--max-wait`.
    pub max_wait_s: Option<f64>,
    /// Flags that took the place of values of the scenario file, as given, secrets replaced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overridden: Vec<String>,
}

/// One phase of the plan.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanPhase {
    /// How long it lasts.
    pub length_s: f64,
    /// Rate at its beginning.
    pub from: f64,
    /// Rate at its end.
    pub to: f64,
    /// Whether it is sent and not counted.
    pub warmup: bool,
}
