//! The document that several simulated runs end in: `"schema": "headway.study/2"`. Models and values of parameters, each played
//! so often, with intervals over the replications, and models compared on the same draws.
//!
//! Plain data, as the summary of a single run: times in seconds, rates per second.

use crate::comparison::Comparison;
use crate::summary::evidence;
use crate::summary::{
    Evidence, Interval, NotComputed, PlanSummary, Stated, Text, ThresholdResult, Units, Unsteady,
};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the document's shape.
pub const SCHEMA: &str = "headway.study/2";

/// The parameter that chooses among the models.
pub const MODEL: &str = "model";

/// Several simulated runs.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Study {
    /// [`SCHEMA`].
    pub schema: String,
    /// Units of all numbers.
    pub units: Units,
    /// Name of the scenario.
    pub name: Cleared,
    /// The command line that produced this.
    pub command: Option<Cleared>,
    /// Seed of the first replication, from which those of the others come.
    pub seed: u64,
    /// How often each point was played.
    pub replications: u64,
    /// What is left out of each run as its warm-up.
    pub warmup: WarmUp,
    /// After how long the client gives up a response, in seconds; none where models or points differ in it.
    pub timeout_s: Option<f64>,
    /// Parameters that vary, in the order in which they were given; `model` among them where the scenario has several.
    pub parameters: Vec<Parameter>,
    /// One for each combination of their values, the last parameter fastest.
    pub points: Vec<Point>,
    /// Values of the points that lack plays, since the study was interrupted or shards of it are lost; they are not among `points`.
    pub missing: Vec<Vec<Cleared>>,
    /// Points that differ in nothing but the model, each against the first model, on the same draws.
    pub differences: Vec<Difference>,
    /// What the user noted of the study (`--note`), secrets replaced.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<Cleared, Cleared>,
    /// What of them is not told, and why: written by the report from `uncompared`, and shown as read where there is none.
    pub not_compared: Vec<Text>,
    /// What `not_compared` is made from.
    #[serde(deserialize_with = "evidence::read", skip_serializing_if = "Vec::is_empty")]
    pub uncompared: Vec<Evidence>,
    /// Thresholds of the file that no study can judge, and why: written by the report from `unjudged`, and shown as read where there
    /// is none.
    pub not_judged: Vec<Text>,
    /// What `not_judged` is made from.
    #[serde(deserialize_with = "evidence::read", skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<Evidence>,
    /// The points against a recorded run, the base; none where none was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<Comparison>,
}

impl Study {
    /// Whether anything but the model takes several values: such a study is meant to cross its thresholds somewhere.
    pub fn is_swept(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.name != MODEL && parameter.values.len() > 1)
    }
}

/// What is left out of a run before its numbers are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WarmUp {
    /// What MSER finds (White 1997) in the average of the first replications, the same of each; nothing where it finds no
    /// steady state.
    #[default]
    Mser,
    /// The warm-up phases of the scenario, and nothing more.
    Phases,
    /// Nothing: fixed work has no steady state.
    Nothing,
}

/// What varies.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Parameter {
    /// Its path in the scenario, `model`, or `rate`.
    pub name: Cleared,
    /// Its values, as they were written.
    pub values: Vec<Cleared>,
}

/// One combination of values.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Point {
    /// Values of the parameters, in their order.
    pub values: Vec<Cleared>,
    /// What was asked of it, as the summary of a run tells it; none in documents of former versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<PlanSummary>,
    /// Requests that were counted, all replications together.
    pub n: u64,
    /// Of those, the ones that ended without an answer: their response times are censored at the time they were given up.
    pub censored: u64,
    /// Numbers of the response time by name: `mean`, `p50`, `p90`, `p95`, `p99`, `p999`, `max`; of those that failed too.
    pub response: BTreeMap<String, Estimate>,
    /// Of the requests that ended well alone: `mean`, `p50`, `p99`.
    pub response_ok: BTreeMap<String, Estimate>,
    /// What each replication adds to `response` (by the same names), `failed` and `rate` (that of `goodput`): its linear contribution to the mean, the
    /// share or the percentile of all together (the mean of what they add is that), of a rate its own value. Studies of one seed are compared pair by pair by them.
    /// Absent with a single replication.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub by_replication: BTreeMap<String, Vec<f64>>,
    /// Requests per second that were asked for.
    pub offered: Option<Estimate>,
    /// Complete good answers per second.
    pub goodput: Option<Estimate>,
    /// Share of requests that did not end well.
    pub failed: Estimate,
    /// Share of the servers' time spent serving, of the part of the model that is asked for most.
    pub utilisation: Option<Estimate>,
    /// Work asked of that part per time and server: 1 or more means no steady state.
    pub load: Option<f64>,
    /// Name of that part.
    pub busiest: Option<Cleared>,
    /// Whether a steady state was found, of all replications together: by MSER in their average, if nothing else speaks against
    /// one. None where there is none to be found, or too little to tell.
    pub found: Option<bool>,
    /// What speaks against one; none where one was found.
    pub why_not: Option<Stated<Unsteady>>,
    /// Replications in which, each looked at alone, MSER finds one.
    pub steady: u64,
    /// Mean share of the run that was left out as warm-up.
    pub cut_share: f64,
    /// Sum of times in the model against the integral of the number in it: replications in which both agree.
    pub little_holds: u64,
    /// Response time that a share p of the requests does not exceed, all replications together: (p, seconds), to draw. It ends
    /// where requests without an answer begin to make it a lower bound.
    pub curve: Vec<(f64, f64)>,
    /// What was demanded of it, judged by intervals over the replications.
    pub thresholds: Vec<ThresholdResult>,
    /// Why an interval is not there, by its place: `response.mean.ci95`.
    pub not_computed: NotComputed,
    /// What else is to be known of it: written by the report from `remarks`, and shown as read where there is none.
    pub notes: Vec<Text>,
    /// What `notes` are made from.
    #[serde(deserialize_with = "evidence::read", skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Evidence>,
}

/// A number over the replications.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Estimate {
    /// Of a mean, a share or a percentile that of all requests together, which is no mean of the replications' own; of `max` the largest of all; of
    /// a rate the mean.
    pub mean: f64,
    /// Whether it is only known to be at least this, for requests without an answer; it has no interval then.
    pub lower_bound: bool,
    /// 95 % interval of `mean`: over replications, or with a single one by its parts; none where neither can be had.
    pub ci95: Option<Interval>,
    /// Whether the interval holds the truth more often than in 95 %, because single values have a large part of the requests, or because
    /// too few exact values were kept for so narrow an interval.
    pub stepped: bool,
    /// 5th and 95th percentile of the replications; none with fewer than 20.
    pub p05: Option<f64>,
    /// See `p05`.
    pub p95: Option<f64>,
}

/// Two models on the same draws.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Difference {
    /// Index of the point that is compared.
    pub point: usize,
    /// Index of the point that it is compared with.
    pub with: usize,
    /// Which number of the response time.
    pub of: String,
    /// Whether it is that of the requests that ended well alone, because more than 1 % failed or not as many in both.
    pub ok: bool,
    /// The first less the second, over the replications.
    pub difference: Estimate,
    /// By what factor the interval would be wider with draws of their own (from the correlation of the two).
    pub gain: Option<f64>,
}
