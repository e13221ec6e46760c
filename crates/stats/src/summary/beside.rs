//! A recorded run next to simulated ones: what it saw, what it was asked for otherwise, and whether the two agree.
//!
//! Plain data. Deliberately absent: how it is computed (`headway_report::beside`), and what was asked of either in full.

use super::{CurvePoint, Evidence, Interval, LoadVerdict, Source, Spread, Text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A recorded run, and how a simulated one compares to it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Beside {
    /// The recorded run.
    pub run: Recorded,
    /// How the simulated one compares to it.
    pub against: Against,
}

/// What is kept of a recorded run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Recorded {
    /// Name of its folder or file.
    pub name: String,
    /// Where its records came from.
    pub source: Source,
    /// Whether it sent what it was asked to; none where nothing was asked, as of another tool's results.
    pub load: Option<LoadVerdict>,
    /// Whether it was cut short.
    pub interrupted: bool,
    /// Its response times, in seconds.
    pub response: Spread,
    /// Why `mean`, `p50`, `p90` or `p99` has no interval, in words; only those that have none.
    pub no_interval: BTreeMap<String, String>,
    /// Its percentile curve, to draw: percentiles from 0 to 100, values in seconds.
    pub curve: Vec<CurvePoint>,
    /// What else must be known of it: written by the report from `remarks`, and shown as read where there is none.
    pub notes: Vec<Text>,
    /// What `notes` are made from.
    #[serde(deserialize_with = "super::evidence::read", skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Evidence>,
}

/// How one simulated run, or one point of several, compares to the recorded run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Against {
    /// What was asked of one and not of the other; the seed is none of it.
    pub differs: Vec<Differs>,
    /// Mean, p50, p90 and p99 of the response time.
    pub compared: Vec<Compared>,
}

/// One thing that was asked for otherwise.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Differs {
    /// What it is: `rate`, `arrival process`, `groups`, ...
    pub what: String,
    /// Of the recorded run, in words.
    pub recorded: String,
    /// Of the simulated one.
    pub simulated: String,
}

/// A number of both.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Compared {
    /// Which: `mean`, `p50`, `p90` or `p99`.
    pub of: String,
    /// In the recorded run.
    pub recorded: Side,
    /// In the simulated one.
    pub simulated: Side,
    /// The recorded over the simulated; none where either is unknown, a lower bound, or zero.
    pub ratio: Option<f64>,
    /// Its 95 % interval, where both have one.
    pub ratio_ci95: Option<Interval>,
    /// Whether that interval holds 1; none where there is none.
    pub agree: Option<bool>,
    /// Why that is not told, in words.
    pub why_not: Option<String>,
}

/// A number of one of them, in seconds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Side {
    /// The number.
    pub value: Option<f64>,
    /// Its 95 % interval.
    pub ci95: Option<Interval>,
    /// Whether it is only known to be at least this.
    pub lower_bound: bool,
    /// Why it has no interval, in words.
    pub no_interval: Option<String>,
}
