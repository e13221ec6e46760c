//! Thresholds in k6's grammar: what a user demands of the numbers, and whether it held.
//!
//! `[METRIC[{step:LABEL}]:] AGGREGATE OPERATOR LIMIT`, such as `p(99)<100` or `failed: rate<0.001`. [`parse`] reads one,
//! `kept` gathers what those by step need and measures them all, `sessions` counts the sessions beyond a bound, [`judge`]
//! says what follows from a number whose two ends `ends` knows, [`judge_runs`] what from one over several simulated runs, `simulated` what is not judged of a
//! simulation. What is certain is said, whatever the verdict on the load; where there are too few data to be certain the value decides, as
//! in k6, and the result says that it is not certain.
//!
//! Deliberately absent: stopping a run (its player does), exit codes, and formats of reports.

mod document;
mod ends;
mod evaluate;
pub(crate) mod measure;
mod parse;
mod runs;
mod sessions;
pub(crate) mod simulated;

pub use document::of_summary;
pub use ends::{Vouch, is_at_cap};
pub use evaluate::judge;
pub(crate) use parse::Reader;
pub use parse::ThresholdError;
pub use runs::judge_runs;
pub use simulated::hangs_on_length;
pub(crate) use simulated::{is_time, percentile};

use crate::summary::{Operator, ThresholdResult, ThresholdUnit};
use headway_base::Nanos;
use std::fmt;
use std::str::FromStr;

/// A threshold, read.
#[derive(Clone, PartialEq, Debug)]
pub struct Threshold {
    /// As it was written, without blanks around it.
    pub text: String,
    /// What it speaks of.
    pub metric: Metric,
    /// The step that it is limited to.
    pub step: Option<String>,
    /// Which number of it.
    pub aggregate: Aggregate,
    /// How that number is to stand to the limit.
    pub operator: Operator,
    /// The limit, in [`Threshold::unit`].
    pub limit: f64,
    /// Ends the run when it is crossed, from so long after the beginning of the measured phase on; none: it never does.
    pub abort_after: Option<Nanos>,
}

/// What a threshold speaks of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Metric {
    /// Response time of every request; those without an answer took longer than until they were given up.
    Response,
    /// Response time of successes.
    ResponseOk,
    /// Service time: from the first byte sent to the last received.
    Service,
    /// From the first byte sent to the first received.
    FirstByte,
    /// Release lag: the generator's own lateness.
    Lag,
    /// Time held back by the cap, the pool or connection set-up.
    Blocked,
    /// Size of the answers.
    Bytes,
    /// Requests that did not end as ok.
    Failed,
    /// Requests that started.
    Started,
}

impl Metric {
    /// Every metric by its name; the first name of a metric is its own, others are accepted.
    pub const ALL: [(&'static str, Metric); 10] = [
        ("response", Metric::Response),
        ("response_ok", Metric::ResponseOk),
        ("service", Metric::Service),
        ("first_byte", Metric::FirstByte),
        ("lag", Metric::Lag),
        ("blocked", Metric::Blocked),
        ("bytes", Metric::Bytes),
        ("failed", Metric::Failed),
        ("started", Metric::Started),
        ("rate", Metric::Started),
    ];

    /// Its name in the document.
    pub fn name(self) -> &'static str {
        Metric::ALL.iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| name)
    }
}

/// Which number of a metric.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Aggregate {
    /// The percentile, above 0 and below 100; `med` is 50.
    Percentile(f64),
    /// The mean: `avg` or `mean`.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Of `failed` the share among all requests, of `started` the number per second.
    Rate,
    /// How many.
    Count,
}

impl fmt::Display for Aggregate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Aggregate::Percentile(p) => write!(f, "p({p})"),
            Aggregate::Mean => f.write_str("avg"),
            Aggregate::Min => f.write_str("min"),
            Aggregate::Max => f.write_str("max"),
            Aggregate::Rate => f.write_str("rate"),
            Aggregate::Count => f.write_str("count"),
        }
    }
}

impl Threshold {
    /// Unit of its value and its limit.
    pub fn unit(&self) -> ThresholdUnit {
        unit(self.metric, self.aggregate)
    }

    /// Whether time alone may still mend it: a count or rate that must be reached. Such a threshold cannot end a run.
    fn may_recover(&self) -> bool {
        let upwards = matches!(self.operator, Operator::Above | Operator::AtLeast | Operator::Equal);
        self.metric == Metric::Started || (self.aggregate == Aggregate::Count && upwards)
    }

    /// Its result before anything is known of its value.
    pub fn blank(&self) -> ThresholdResult {
        ThresholdResult {
            text: self.text.clone(),
            metric: self.metric.name().into(),
            step: self.step.clone(),
            aggregate: self.aggregate.to_string(),
            operator: self.operator,
            limit: self.limit,
            unit: self.unit(),
            ..ThresholdResult::default()
        }
    }
}

impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Threshold, ThresholdError> {
        parse::threshold(text)
    }
}

fn unit(metric: Metric, aggregate: Aggregate) -> ThresholdUnit {
    match (metric, aggregate) {
        (_, Aggregate::Count) => ThresholdUnit::Count,
        (Metric::Failed, _) => ThresholdUnit::Share,
        (Metric::Started, _) => ThresholdUnit::PerSecond,
        (Metric::Bytes, _) => ThresholdUnit::Bytes,
        _ => ThresholdUnit::Seconds,
    }
}

/// The first threshold that names a step which is not among `steps`, as an error in words.
///
/// # Errors
/// There is one.
pub fn check_steps(thresholds: &[Threshold], steps: &[String]) -> Result<(), String> {
    for threshold in thresholds {
        let Some(step) = threshold.step.as_ref().filter(|step| !steps.contains(step)) else { continue };
        let known = || steps.iter().map(String::as_str);
        let hint = match headway_base::units::nearest(step, known()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are {}", known().collect::<Vec<_>>().join(", ")),
        };
        return Err(format!("threshold '{}': no step is called '{step}'; {hint}", threshold.text));
    }
    Ok(())
}
