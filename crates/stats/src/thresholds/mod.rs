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
pub use parse::ThresholdError;
pub(crate) use parse::{Reader, shown};
pub use runs::judge_runs;

pub use crate::metric::{Aggregate, Metric};

use crate::metric::Taken;
use crate::summary::{Operator, PlanSummary, ThresholdResult, ThresholdUnit};
use headway_base::Nanos;
use headway_redact::{Cleared, Redactor};
use std::fmt;
use std::str::FromStr;

/// A threshold, read. Its text and its step are what reports show, and have passed the gate.
#[derive(Clone, PartialEq, Debug)]
pub struct Threshold {
    /// As it was written, without blanks around it and without secrets.
    pub text: Cleared,
    /// What it speaks of.
    pub metric: Metric,
    /// The step that it is limited to, as reports call it.
    pub step: Option<Cleared>,
    /// Which number of it.
    pub aggregate: Aggregate,
    /// How that number is to stand to the limit.
    pub operator: Operator,
    /// The limit, in [`Threshold::unit`].
    pub limit: f64,
    /// Ends the run when it is crossed, from so long after the beginning of the measured phase on; none: it never does.
    pub abort_after: Option<Nanos>,
    typed: Typed,
}

/// What was typed, for a gate that knows more.
#[derive(Clone, PartialEq)]
struct Typed {
    text: String,
    step: Option<String>,
}

/// It may hold secrets.
impl fmt::Debug for Typed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typed").finish_non_exhaustive()
    }
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

impl Threshold {
    /// The same past another gate than the one that knows no values, on steps with these labels, which have passed it too: one that was typed
    /// as its label is stays so.
    #[must_use = "the threshold itself stays as it was"]
    pub fn past(&self, gate: &Redactor, labels: &[Cleared]) -> Threshold {
        let step = |typed: &String| {
            let same = labels.iter().find(|label| label.as_str() == typed);
            same.cloned().unwrap_or_else(|| gate.clear(typed))
        };
        let step = self.typed.step.as_ref().map(step);
        let text = parse::shown(&self.typed.text, self.typed.step.as_deref().zip(step.as_ref()));
        Threshold { text, step, ..self.clone() }
    }

    /// As it was typed: to be read again where the gate is known.
    pub fn typed(&self) -> &str {
        &self.typed.text
    }
}

/// By itself: past the gate that knows names of secrets, and no values.
impl FromStr for Threshold {
    type Err = ThresholdError;

    fn from_str(text: &str) -> Result<Threshold, ThresholdError> {
        parse::threshold(text, &Redactor::default())
    }
}

/// The thresholds that a recorded plan was held to, on its own steps.
///
/// # Errors
/// A text that is none.
pub fn of_plan(plan: &PlanSummary) -> Result<Vec<Threshold>, ThresholdError> {
    let read = |text: &Cleared| Ok(text.parse::<Threshold>()?.past(&Redactor::default(), &plan.steps));
    plan.thresholds.iter().map(read).collect()
}

/// The first threshold that names a step which is not among `steps`, as an error in words.
///
/// # Errors
/// There is one.
pub fn check_steps(thresholds: &[Threshold], steps: &[Cleared]) -> Result<(), String> {
    for threshold in thresholds {
        let Some(step) = threshold.step.as_ref().filter(|step| !steps.contains(step)) else { continue };
        let known = || steps.iter().map(Cleared::as_str);
        let hint = match headway_base::units::nearest(step, known()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("there are {}", known().collect::<Vec<_>>().join(", ")),
        };
        return Err(format!("threshold '{}': no step is called '{step}'; {hint}", threshold.text));
    }
    Ok(())
}
