//! Exit codes, decided in one place. If several apply, the first of 2, 1, 130, 3, 98, 99, 97, 0 wins.

use headway_engine::NotPlayed;
use headway_stats::Summary;
use headway_stats::comparison::{Comparison, Outcome as Condition};
use headway_stats::search::{Found, Outcome, Searched};
use headway_stats::study::Study;
use headway_stats::summary::{LimitedBy, LoadVerdict, ThresholdOutcome};
use headway_workload::redact::Redactor;

/// All went well.
pub const FINE: u8 = 0;
/// It could not be done: target unreachable, input or output failed.
pub const FAILED: u8 = 1;
/// The command line, a scenario or a file that was given is wrong.
pub const USAGE: u8 = 2;
/// Shards or records of the run are missing.
pub const INCOMPLETE: u8 = 3;
/// The run came too late to join its plan: the code of sysexits.h for what may succeed another time.
pub const LATE: u8 = 75;
/// `--strict` was given, and the verdict on the load is INCONCLUSIVE or more than 1 % of the requests waited at the connection cap.
pub const INCONCLUSIVE: u8 = 97;
/// The load was INVALID.
pub const INVALID: u8 = 98;
/// A threshold was crossed, or could not be judged; a condition of a comparison holds.
pub const CROSSED: u8 = 99;
/// Interrupted by the user; the report is written all the same.
pub const INTERRUPTED: u8 = 130;

/// An error and the code it ends in.
#[derive(Debug)]
pub struct Failure {
    /// What to say.
    pub error: anyhow::Error,
    /// How to exit.
    pub code: u8,
}

impl Failure {
    /// The user asked for what cannot be asked for.
    pub fn usage(error: impl Into<anyhow::Error>) -> Failure {
        Failure { error: error.into(), code: USAGE }
    }

    /// The same without the secrets of what it quotes from elsewhere: a command of another tool, a document.
    pub fn hiding_foreign(self) -> Failure {
        let text = in_words(&self.error);
        Failure { error: anyhow::anyhow!("{}", Redactor::default().hide_foreign(&text)), code: self.code }
    }

    /// The same without secrets.
    pub fn hiding(self, redactor: &Redactor) -> Failure {
        Failure { error: anyhow::anyhow!("{}", redactor.hide(&in_words(&self.error))), code: self.code }
    }
}

/// Whatever failed on the way, unless the engine says otherwise, could not be done.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        let error = error.into();
        let code = match error.downcast_ref() {
            Some(headway_engine::Error::Usage(_)) => USAGE,
            Some(headway_engine::Error::NotPlayed(why)) => match why {
                NotPlayed::TooLate { .. } | NotPlayed::Over { .. } => LATE,
                // The shard is in good hands.
                NotPlayed::Superseded { .. } => FINE,
                NotPlayed::Interrupted => INTERRUPTED,
                // NotMet, and what is still to come.
                _ => FAILED,
            },
            Some(headway_engine::Error::Failed(_)) | None => FAILED,
        };
        Failure { error, code }
    }
}

/// An error and its causes on one line; a cause that the text before it already tells is not told again.
pub fn in_words(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Which of two codes wins.
pub fn first_of(one: u8, other: u8) -> u8 {
    const ORDER: [u8; 7] = [USAGE, FAILED, INTERRUPTED, INCOMPLETE, INVALID, CROSSED, INCONCLUSIVE];
    ORDER.into_iter().find(|code| [one, other].contains(code)).unwrap_or(FINE)
}

/// The code that a summary leads to.
pub fn of_summary(summary: &Summary, strict: bool) -> u8 {
    if summary.is_unreachable() {
        return FAILED;
    }
    if summary.measured.interrupted && !summary.measured.aborted {
        return INTERRUPTED;
    }
    of_verdict(summary, strict)
}

/// The code that an audit leads to: a file in which all requests failed is a file that was read.
pub fn of_audit(summary: &Summary, strict: bool) -> u8 {
    of_verdict(summary, strict)
}

/// The code that a study leads to. A sweep is meant to cross its thresholds somewhere, and says where.
pub fn of_study(study: &Study, strict: bool) -> u8 {
    let any = |wanted: &[ThresholdOutcome]| {
        let mut all = study.points.iter().flat_map(|point| &point.thresholds);
        all.any(|threshold| wanted.contains(&threshold.outcome))
    };
    match () {
        () if study.is_swept() => FINE,
        // As of a single run, what could not be judged has not been shown to hold.
        () if any(&[ThresholdOutcome::Crossed, ThresholdOutcome::NotJudged]) => CROSSED,
        () if strict && any(&[ThresholdOutcome::Inconclusive]) => INCONCLUSIVE,
        () => FINE,
    }
}

/// The code that a comparison leads to: what is not comparable is a mistake in the command.
pub fn of_comparison(comparison: &Comparison, strict: bool) -> u8 {
    let any = |wanted: &[Condition]| comparison.conditions.iter().any(|of| wanted.contains(&of.outcome));
    match () {
        () if headway_engine::compare::is_incomparable(comparison) => USAGE,
        () if any(&[Condition::Holds]) => CROSSED,
        // A gate that judged nothing has not been passed.
        () if any(&[Condition::NotJudged]) => INCONCLUSIVE,
        () if strict && any(&[Condition::Undecided]) => INCONCLUSIVE,
        () => FINE,
    }
}

/// The code that a search leads to: the worst of its targets.
pub fn of_search(searched: &Searched) -> u8 {
    searched.targets.iter().map(of_target).fold(FINE, first_of)
}

fn of_target(found: &Found) -> u8 {
    match found.outcome {
        Outcome::Found => FINE,
        Outcome::Interrupted => INTERRUPTED,
        Outcome::Unreachable | Outcome::Failed | Outcome::Unfinished => FAILED,
        Outcome::Budget | Outcome::Undecided => INCONCLUSIVE,
        Outcome::Generator => INVALID,
        // There is no such rate within what was asked.
        Outcome::Never | Outcome::Always | Outcome::NotMonotone | Outcome::Drifts => CROSSED,
    }
}

fn of_verdict(summary: &Summary, strict: bool) -> u8 {
    match summary.verdict.load {
        Some(LoadVerdict::Invalid) => INVALID,
        // What could not be judged for want of data has not been shown to hold.
        _ if summary.thresholds.iter().any(|t| t.outcome != ThresholdOutcome::Passed) => CROSSED,
        Some(LoadVerdict::Inconclusive) if strict => INCONCLUSIVE,
        _ if strict && summary.verdict.limited_by.as_ref().is_some_and(LimitedBy::matters) => INCONCLUSIVE,
        _ => FINE,
    }
}
