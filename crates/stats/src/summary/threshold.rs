//! The document's thresholds: what was demanded of the numbers, and whether it held.

use super::{Interval, Stated, Why};
use crate::metric::{Aggregate, Metric, NumberOf};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One threshold and what became of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ThresholdResult {
    /// As it was written: `p(99)<100`.
    pub text: Cleared,
    /// The metric that it speaks of, by its name in the registry: `response`, `failed`.
    pub metric: String,
    /// The step that it is limited to; null for all of them.
    pub step: Option<Cleared>,
    /// `p(99)`, `avg`, `min`, `max`, `rate` or `count`.
    pub aggregate: String,
    /// How the value is to stand to the limit.
    pub operator: Operator,
    /// The limit, in `unit`.
    pub limit: f64,
    /// Unit of value, interval and limit.
    pub unit: ThresholdUnit,
    /// The value that was judged.
    pub value: Option<f64>,
    /// Whether the value is a lower bound: requests without an answer would have raised it.
    pub lower_bound: bool,
    /// Its 95 % interval, where there is one; `not_computed` has the reason under `thresholds.N.interval`.
    pub interval: Option<Interval>,
    /// Where a percentile has no interval: what it is at least with 97.5 % certainty, from its own lower end or from that of a smaller
    /// percentile. Null where there is an interval, and where nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Where a number of a single run has no interval: what it is at most with 97.5 % certainty. Null where nothing is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Between what the number of the planned load lies, whatever the generator did; left out where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<Ends>,
    /// Whether the interval lies on one side of the limit; null without an interval.
    pub decided: Option<bool>,
    /// What follows.
    pub outcome: ThresholdOutcome,
    /// What leaves the outcome open; null where it is certain.
    pub open: Option<Open>,
    /// Why it was not judged, or what else to know about the outcome.
    pub reason: Option<Stated<Why>>,
    /// Seconds since the plan's zero at which it was crossed and ended the run; null where it did not.
    pub ended_run_at: Option<f64>,
    /// Number of observations behind the value.
    pub n: u64,
    /// Of a threshold that bounds response times from above: sessions that saw at least one beyond the bound. Null for other
    /// thresholds, and where there are no sessions of more than one request.
    pub sessions_over: Option<SessionsOver>,
}

impl ThresholdResult {
    /// The number that it speaks of; none of one that this version does not know.
    pub fn number(&self) -> Option<NumberOf> {
        let (metric, aggregate) = (Metric::named(&self.metric)?, Aggregate::of_threshold(&self.aggregate)?);
        Some(NumberOf { metric, aggregate })
    }
}

/// Sessions with at least one response time beyond a bound.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionsOver {
    /// Sessions that ended.
    pub n: u64,
    /// Of those, the ones with at least one request over the bound.
    pub over: u64,
    /// `over` / `n`; null without sessions.
    pub share: Option<f64>,
}

/// Between what the number of the planned load lies, in the unit of the threshold: without and with all that the generator may have done to
/// it. What was not sent counts as beyond.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ends {
    /// It is at least this.
    pub low: f64,
    /// It is at most this; null where no upper end is known.
    pub high: Option<f64>,
}

impl Ends {
    /// A number that the generator did not move.
    pub fn exactly(value: f64) -> Ends {
        Ends { low: value, high: Some(value) }
    }

    /// Both ends, the upper one infinite where none is known.
    pub fn range(self) -> Interval {
        [self.low, self.high.unwrap_or(f64::INFINITY)]
    }
}

/// What leaves a threshold open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Open {
    /// The generator may have moved the number to the other side of the limit.
    Generator,
    /// There are too few data, or the run has no steady state: the value decides, and another run may come out the other way.
    Data,
}

/// What a threshold says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdOutcome {
    /// The number keeps to the limit: for certain, or by its value where `open` is `data`.
    Passed,
    /// It does not, or is not known to (requests without an answer may have taken it beyond): for certain, or by its value where `open` is
    /// `data`.
    Crossed,
    /// Of several simulated runs: the interval holds the limit, or there is none.
    Inconclusive,
    /// There is nothing to judge, or what the generator did decides on which side of the limit the number lies, or a study found no steady
    /// state.
    #[default]
    NotJudged,
}

/// How a value is to stand to its limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Operator {
    /// Less than the limit.
    #[default]
    #[serde(rename = "<")]
    Below,
    /// At most the limit.
    #[serde(rename = "<=")]
    AtMost,
    /// More than the limit.
    #[serde(rename = ">")]
    Above,
    /// At least the limit.
    #[serde(rename = ">=")]
    AtLeast,
    /// Exactly the limit.
    #[serde(rename = "==")]
    Equal,
    /// Anything but the limit.
    #[serde(rename = "!=")]
    Other,
}

impl Operator {
    /// Every operator as it is written. Of two that begin alike the longer comes first.
    pub const ALL: [(&'static str, Operator); 6] = [
        ("<=", Operator::AtMost),
        ("<", Operator::Below),
        (">=", Operator::AtLeast),
        (">", Operator::Above),
        ("==", Operator::Equal),
        ("!=", Operator::Other),
    ];

    /// Whether a value stands so to the limit.
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Operator::Below => value < limit,
            Operator::AtMost => value <= limit,
            Operator::Above => value > limit,
            Operator::AtLeast => value >= limit,
            Operator::Equal => value == limit,
            Operator::Other => value != limit,
        }
    }
}

impl Operator {
    /// Whether every value of the interval stands so to the limit.
    pub fn holds_throughout(self, [low, high]: Interval, limit: f64) -> bool {
        match self {
            Operator::Below | Operator::AtMost => self.holds(high, limit),
            Operator::Above | Operator::AtLeast => self.holds(low, limit),
            Operator::Equal => low == limit && high == limit,
            Operator::Other => limit < low || limit > high,
        }
    }

    /// What holds where this does not.
    pub fn opposite(self) -> Operator {
        match self {
            Operator::Below => Operator::AtLeast,
            Operator::AtMost => Operator::Above,
            Operator::Above => Operator::AtMost,
            Operator::AtLeast => Operator::Below,
            Operator::Equal => Operator::Other,
            Operator::Other => Operator::Equal,
        }
    }

    /// Whether it bounds values from above.
    pub fn is_upper(self) -> bool {
        matches!(self, Operator::Below | Operator::AtMost)
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Operator::ALL.iter().find(|(_, operator)| operator == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

/// Unit of a threshold's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum ThresholdUnit {
    /// Seconds.
    #[default]
    #[serde(rename = "s")]
    Seconds,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Per second.
    #[serde(rename = "1/s")]
    PerSecond,
    /// A share of one.
    #[serde(rename = "share")]
    Share,
    /// A whole number of requests.
    #[serde(rename = "count")]
    Count,
}
