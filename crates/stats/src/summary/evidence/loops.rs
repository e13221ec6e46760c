//! Evidence on the loop between target and load.

use super::super::Interval;
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// What responses did to the load, and what response times are of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum Loop {
    /// Of `offered` requests of the sessions that share was sent within the measured phase.
    SessionsBehind { offered: f64, share: f64 },
    /// Something grew throughout the measured phase.
    PilesUp { what: Moving, by: f64, mean: f64 },
    /// The same of a simulation: how fast, and what besides the rate made work for its parts.
    PilesUpInModel {
        what: Moving,
        per_second: f64,
        ci95: Interval,
        attempts_per_request: Option<f64>,
        wasted: Option<f64>,
        down: Option<Cleared>,
    },
    /// A share of the arrivals found no free connection and waited.
    HeldBack { share: f64, longest_s: f64, cap: Option<u64>, cause: HeldBackBy },
    /// Something changed through the measured phase by that share of its mean (below zero: fell).
    NotSteady { what: Moving, change: f64, remedy: Remedy },
    /// Response times of a closed workload, and what an open one of the same rate would see.
    ClosedLoop { open: OpenLoad },
    /// Response times of fixed work.
    FixedWork { in_flight_max: Option<u64>, took_s: f64 },
}

/// What grows or changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Moving {
    /// The number of requests in flight.
    Requests,
    /// The number of active sessions.
    Sessions,
    /// The mean response time.
    ResponseTimes,
}

/// Why arrivals found no free connection.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence")]
pub enum HeldBackBy {
    /// The target, which took so many times as long then.
    Target { times: f64 },
    /// The cap: the mean number of connections in use.
    Cap { in_use: f64 },
    /// A target that had accepted a connection and not begun to speak HTTP/2 on it, which says how many requests it takes at once.
    Mute,
    /// Connections that were being set up: fewer than the cap were ever open.
    SetUp,
    /// The target or the cap.
    Either,
}

/// What to do about numbers that are not steady.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`")]
pub enum Remedy {
    /// Warm up until then, instead of the present end of the warm-up.
    WarmUp { until_s: f64, instead_of_s: f64 },
    /// Ask for less, or run longer: no stretch is steady, and the numbers rise.
    AskForLess,
    /// Run longer.
    RunLonger,
}

/// What a closed workload tells of an open one of the same rate.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
#[expect(missing_docs, reason = "fields are the numbers of the sentence: seconds by `_s`, shares of one")]
pub enum OpenLoad {
    /// Its 99th percentile, beside that of the closed one.
    Estimated { rate: f64, p99_s: f64, seen_p99_s: f64 },
    /// It would pile up: the target was busy for that share of the time.
    Unsustainable { busy: f64, rate: f64 },
    /// Nothing.
    NotKnown,
}
