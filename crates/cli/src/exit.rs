//! Exit codes, decided in one place, with the table that help and docs show. If several apply, the first of [`ORDER`] wins.

use crate::said;
use headway_engine::NotPlayed;
use headway_stats::Summary;
use headway_stats::comparison::{Comparison, Outcome as Condition};
use headway_stats::search::{Found, Outcome, Searched, TrialEnd};
use headway_stats::study::Study;
use headway_stats::summary::{LoadVerdict, Open, ThresholdOutcome, ThresholdResult};
use headway_workload::redact::{Cleared, Redactor};

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
/// Open for want of data, and `--strict` was given; or a search or a comparison that came to nothing.
pub const INCONCLUSIVE: u8 = 97;
/// The generator: it leaves a threshold open, or the load was INVALID and there is no threshold.
pub const INVALID: u8 = 98;
/// A threshold is crossed, or a condition of a comparison holds.
pub const CROSSED: u8 = 99;
/// Interrupted by the user; the report is written all the same.
pub const INTERRUPTED: u8 = 130;

/// Every code with what it means, as `--help`, README.md and docs/exit-codes.md have it.
pub const TABLE: [(u8, &str); 9] = [
    (FINE, "fine; with thresholds: all hold, also where the load is INVALID"),
    (
        FAILED,
        "it could not be done: target unreachable, input or output failed; without thresholds also: no request ended ok, or nothing was due",
    ),
    (USAGE, "a mistake in the command, the scenario or a file that it names"),
    (INCOMPLETE, "merge: shards, records or plays are missing"),
    (LATE, "too late for --start-at: nothing was sent"),
    (
        INCONCLUSIVE,
        "open for want of data, with --strict: a threshold that is not certain, without thresholds an INCONCLUSIVE load, a condition of compare; also a search that did not end",
    ),
    (
        INVALID,
        "the generator, not the target: no threshold is crossed and one is open because of the generator; without thresholds: the load was INVALID; search: the generator was the limit",
    ),
    (
        CROSSED,
        "a threshold is crossed, or is not certain and its value is beyond the limit; a condition of compare holds; a search found no knee: no rate holds, every rate does, or the target drifts",
    ),
    (INTERRUPTED, "interrupted; the report is still written"),
];

/// Which code wins where several apply, the first of these.
pub const ORDER: [u8; 9] =
    [USAGE, FAILED, INTERRUPTED, INCOMPLETE, LATE, CROSSED, INVALID, INCONCLUSIVE, FINE];

/// The order as a sentence.
pub fn order() -> String {
    let codes: Vec<String> = ORDER.iter().map(ToString::to_string).collect();
    format!("If several apply: {}.", codes.join(", "))
}

/// The table below the help of all verbs. No line is longer than a terminal is wide: what is broken here would be broken again.
pub fn help() -> String {
    const WIDTH: usize = 79;
    const INDENT: usize = 7;
    let mut text = "Start with: headway demo\n\nExit codes:".to_owned();
    for (code, meaning) in TABLE {
        let mut line = format!("  {code:<5}");
        for word in meaning.split(' ') {
            if line.len() + 1 + word.len() > WIDTH {
                text.push('\n');
                text.push_str(line.trim_end());
                line = " ".repeat(INDENT);
            }
            if line.len() > INDENT {
                line.push(' ');
            }
            line.push_str(word);
        }
        text.push('\n');
        text.push_str(&line);
    }
    format!("{text}\n{}", order())
}

/// An error and the code it ends in.
#[derive(Debug)]
pub struct Failure {
    error: anyhow::Error,
    /// How to exit.
    pub code: u8,
}

impl Failure {
    /// The user asked for what cannot be asked for.
    pub fn usage(error: impl Into<anyhow::Error>) -> Failure {
        Failure { error: error.into(), code: USAGE }
    }

    /// It could not be done, and this is how to exit.
    pub fn coded(error: impl Into<anyhow::Error>, code: u8) -> Failure {
        Failure { error: error.into(), code }
    }

    /// What to say, past the process's gate.
    pub fn said(&self) -> Cleared {
        said::cleared(&in_words(&self.error))
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
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Which of two codes wins.
pub fn first_of(one: u8, other: u8) -> u8 {
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
    if !summary.thresholds.is_empty() {
        return of_thresholds(&summary.thresholds, strict);
    }
    let ok = summary.outcomes.get("ok").is_some_and(|n| *n > 0);
    let done = ok || is_one_shard(summary) || by_design(summary);
    first_of(if done { FINE } else { FAILED }, of_verdict(summary, strict))
}

/// A shard of an open plan may have nothing to send.
fn is_one_shard(summary: &Summary) -> bool {
    summary.plan.as_ref().is_some_and(|plan| plan.shard.is_some())
}

/// Sockets that are kept connecting are given up by design.
fn by_design(summary: &Summary) -> bool {
    summary.connects.as_ref().is_some_and(|connects| connects.sockets.is_some())
}

/// The code that an audit leads to: a file in which all requests failed is a file that was read.
pub fn of_audit(summary: &Summary, strict: bool) -> u8 {
    of_verdict(summary, strict)
}

/// The code that thresholds lead to, whatever the load: what is certain first, then what the generator leaves open, then the values of what
/// is open for want of data.
pub fn of_thresholds<'a>(all: impl IntoIterator<Item = &'a ThresholdResult>, strict: bool) -> u8 {
    all.into_iter().map(|one| of_threshold(one, strict)).fold(FINE, first_of)
}

fn of_threshold(threshold: &ThresholdResult, strict: bool) -> u8 {
    use ThresholdOutcome::{Crossed, Inconclusive, NotJudged, Passed};
    let certain = threshold.open.is_none() && matches!(threshold.outcome, Passed | Crossed);
    let within = match threshold.outcome {
        Passed => true,
        Crossed => false,
        // What is not known to keep to its limit does not.
        Inconclusive | NotJudged => {
            let holds = |value| threshold.operator.holds(value, threshold.limit);
            threshold.value.is_some_and(holds) && !threshold.lower_bound
        }
    };
    match () {
        () if threshold.open == Some(Open::Generator) => INVALID,
        () if strict && !certain => INCONCLUSIVE,
        () if within => FINE,
        () => CROSSED,
    }
}

/// The code that a study leads to. A sweep is meant to cross its thresholds somewhere, and says where.
pub fn of_study(study: &Study, strict: bool) -> u8 {
    match study.is_swept() {
        true => FINE,
        false => of_thresholds(study.points.iter().flat_map(|point| &point.thresholds), strict),
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
        // A sweep is meant to cross its thresholds somewhere.
        Outcome::Swept if found.trials.iter().any(|row| row.ended == TrialEnd::NotSent) => INVALID,
        Outcome::Found | Outcome::Swept => FINE,
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
        Some(LoadVerdict::Inconclusive) if strict => INCONCLUSIVE,
        _ => FINE,
    }
}
