//! The document's block on what was asked for.

use headway_redact::Cleared;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was asked for. The caller fills it; nothing is computed from it except texts.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanSummary {
    /// Version of the rules by which a seed becomes arrivals.
    pub version: Option<u32>,
    /// What the plan makes. None in what was written before this key was; see [`PlanKind::of_process`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<PlanKind>,
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
    /// The log by which requests or sessions arrive; left out where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<PlanLog>,
    /// Number of requests of fixed work.
    pub requests: Option<u64>,
    /// Arrivals that the plan holds in its measured phase, where the caller counted them.
    pub arrivals: Option<u64>,
    /// Connection cap, over all threads and shards.
    pub connections: Option<u64>,
    /// The version of HTTP that was asked for: `1.1`, `2`, or `any` of these as the target prefers; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
    /// The proxy that requests went through, without user and password; left out where they went directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<Cleared>,
    /// `--dns-refresh`: how often the name that connections went to was read again; left out where it was read once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dns_refresh_s: Option<f64>,
    /// Most requests at once on a connection that takes several; left out where none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<u32>,
    /// Where an answer of plain bytes ends, or which datagram it is, as written; left out where the protocol says so itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Cleared>,
    /// Whether requests were to be spread over as many connections as there may be.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub spread: bool,
    /// Origins that requests went to besides the target, or that redirects might lead to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Cleared>,
    /// Whether requests named the trace that they were of (`--traceparent`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub traceparent: bool,
    /// Steps that look at redirects themselves, by number: theirs are expected; left out where there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redirects_expected: Vec<u16>,
    /// Worker threads.
    pub threads: Option<u32>,
    /// The shard that this process ran, `i/N`; none for the whole plan.
    pub shard: Option<String>,
    /// Users of a closed workload.
    pub users: Option<u64>,
    /// Sockets that are kept connecting, at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<u64>,
    /// Whether each request opens a connection of its own.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub new_connections: bool,
    /// Think time law as written.
    pub think: Option<String>,
    /// The target's address as written.
    pub target: Option<Cleared>,
    /// Labels of the steps, in order.
    pub steps: Vec<Cleared>,
    /// Thresholds as written.
    pub thresholds: Vec<Cleared>,
    /// `--timeout`.
    pub timeout_s: Option<f64>,
    /// How long a response that had begun could stand still; left out where it could for any time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout_s: Option<f64>,
    /// `--connect-timeout`.
    pub connect_timeout_s: Option<f64>,
    /// `--max-wait`.
    pub max_wait_s: Option<f64>,
    /// `--tolerance lateness=...`: the longest lateness that is forgiven, where lateness itself is judged; null where it was not set.
    #[serde(rename = "lateness_s", alias = "time_scale_s", skip_serializing_if = "Option::is_none")]
    pub time_scale_s: Option<f64>,
    /// `--tolerance effect=...`: by how much the generator's own delays may have moved a number; null where it was not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerated_effect: Option<f64>,
    /// `--tolerance sent-share=...`: the share of the plan that may stay unsent; null where it was not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerated_unsent: Option<f64>,
    /// Percentiles that reports show; empty: those that every distribution has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub percentiles: Vec<f64>,
    /// What the user noted of the run (`--note`), secrets replaced.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<Cleared, Cleared>,
    /// Flags that took the place of values of the scenario file, as given, secrets replaced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overridden: Vec<Cleared>,
}

/// A log that says when each request or session arrives.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanLog {
    /// The file, as it was named.
    pub file: Cleared,
    /// How many times as fast as it was logged.
    pub speed: f64,
    /// Arrivals, of the whole plan and not of one shard.
    pub arrivals: u64,
    /// Tells these instants from others: FNV-1a of the nanoseconds, 16 hexadecimal digits.
    pub fingerprint: String,
    /// Step of the log's stamps.
    pub resolution_s: f64,
    /// Whether arrivals were spread over that step: each to a random place within it.
    pub spread: bool,
    /// Rows that could not be read.
    pub unreadable: u64,
    /// Rows left out on purpose: of sessions, and requests that followed responses.
    pub left_out: u64,
    /// Whether each arrival is a request of the step that has the name of its label.
    pub own_requests: bool,
    /// Arrivals left out since no step has the name of their label.
    pub no_step: u64,
}

/// What a plan makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlanKind {
    /// Arrivals of one process, be there users who stay beside them or not.
    Arrivals,
    /// Arrivals of several processes that do not make one together.
    Mixed,
    /// Users who stay.
    Closed,
    /// A number of requests, by users who stay.
    FixedWork,
    /// A number of sessions which all begin at once.
    AtOnce,
    /// Sockets that are kept connecting.
    Connecting,
}

impl PlanKind {
    /// That of a document without one, which had it as the name of its process.
    pub fn of_process(name: &str) -> Option<PlanKind> {
        match name {
            "" => None,
            "mixed" => Some(PlanKind::Mixed),
            "closed" => Some(PlanKind::Closed),
            "fixed work" => Some(PlanKind::FixedWork),
            "at once" => Some(PlanKind::AtOnce),
            "connecting" => Some(PlanKind::Connecting),
            _ => Some(PlanKind::Arrivals),
        }
    }

    /// How it stands in place of the name of a process; none of arrivals, which have one.
    pub fn word(self) -> Option<&'static str> {
        match self {
            PlanKind::Arrivals => None,
            PlanKind::Mixed => Some("mixed"),
            PlanKind::Closed => Some("closed"),
            PlanKind::FixedWork => Some("fixed work"),
            PlanKind::AtOnce => Some("at once"),
            PlanKind::Connecting => Some("connecting"),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_an_older_document_is_found_by_its_word() {
        use PlanKind::{AtOnce, Closed, Connecting, FixedWork, Mixed};
        for kind in [Mixed, Closed, FixedWork, AtOnce, Connecting] {
            assert_eq!(PlanKind::of_process(kind.word().unwrap()), Some(kind));
        }
        assert_eq!(PlanKind::of_process("poisson"), Some(PlanKind::Arrivals));
        assert_eq!(PlanKind::of_process(""), None);
    }
}
