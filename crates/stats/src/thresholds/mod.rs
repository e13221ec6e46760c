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
pub(crate) use ends::Known;
pub use ends::{Vouch, is_at_cap};
pub use evaluate::judge;
pub(crate) use parse::Reader;
pub use parse::ThresholdError;
pub use runs::judge_runs;

pub use crate::metric::{Aggregate, Metric};

use crate::metric::Taken;
use crate::summary::{Operator, ThresholdResult, ThresholdUnit};
use headway_base::Nanos;
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

impl Threshold {
    /// Unit of its value and its limit.
    pub fn unit(&self) -> ThresholdUnit {
        self.metric.unit_of(self.aggregate)
    }

    /// Whether time alone may still mend it: a count or rate that must be reached. Such a threshold cannot end a run.
    fn may_recover(&self) -> bool {
        let upwards = matches!(self.operator, Operator::Above | Operator::AtLeast | Operator::Equal);
        matches!(self.metric.taken, Taken::Starts) || (self.aggregate == Aggregate::Count && upwards)
    }

    /// Its result before anything is known of its value.
    pub fn blank(&self) -> ThresholdResult {
        ThresholdResult {
            text: self.text.clone(),
            metric: self.metric.name.into(),
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
