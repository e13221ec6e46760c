//! What became of the thresholds of a study: which hold where, and from where on they do not.
//!
//! Along a swept parameter the places are told in its order; of compared models, by their names. What stands behind each
//! outcome is told as that of a single run's threshold (`words::thresholds`).

use super::study::{Sentence, label};
use super::{Tone, findings, thresholds};
use crate::format::plural;
use crate::study::sweep::{Line, Sweep, sweep};
use headway_stats::study::Study;
use headway_stats::summary::{ThresholdOutcome, Why};

/// More changes along a parameter, or more names, are counted and not listed.
const MOST_RUNS: usize = 5;
const MOST_NAMES: usize = 8;

/// How outcomes are told in a sentence, what holds last.
const VERBS: [(ThresholdOutcome, &str); 4] = [
    (ThresholdOutcome::Crossed, "fails"),
    (ThresholdOutcome::NotJudged, "is not judged"),
    (ThresholdOutcome::Inconclusive, "is inconclusive"),
    (ThresholdOutcome::Passed, "holds"),
];

/// How thresholds are judged in a study.
pub const RULE: &str = "A threshold holds where the whole 95 % interval keeps to it, fails where none of it does, and is inconclusive \
                        between.";

/// Whether anything was demanded.
pub fn any(study: &Study) -> bool {
    !not_judged(study).is_empty() || study.points.iter().any(|point| !point.thresholds.is_empty())
}

fn not_judged(study: &Study) -> Vec<String> {
    findings::remarks(&study.unjudged, &study.not_judged)
}

/// The thresholds, as they were written.
pub fn texts(study: &Study) -> Vec<&str> {
    let most = study.points.iter().map(|point| &point.thresholds).max_by_key(|all| all.len());
    most.into_iter().flatten().map(|threshold| threshold.text.as_str()).collect()
}

/// A sentence for each threshold and each line of points along the swept parameter; none of a single point, of which its
/// numbers say all.
pub fn sentences(study: &Study) -> Vec<Sentence> {
    let mut all = Vec::new();
    if let Some(sweep) = sweep(study) {
        for (i, text) in texts(study).into_iter().enumerate() {
            for line in &sweep.lines {
                let place = if line.label.is_empty() { String::new() } else { format!(" ({})", line.label) };
                if let Some((tone, verdict)) = along(study, &sweep, line, i) {
                    all.push(Sentence { tone, text: format!("{text}{place} {verdict}.") });
                }
            }
        }
    }
    all.extend(not_judged(study).into_iter().map(|text| Sentence { tone: Tone::Warn, text }));
    all
}

/// A threshold at a point, with what it was judged on.
pub fn evidence(study: &Study) -> impl Iterator<Item = (ThresholdOutcome, String)> + '_ {
    study.points.iter().flat_map(move |point| {
        let place = if study.points.len() > 1 { format!("{}: ", label(study, point)) } else { String::new() };
        let judged = move |threshold| (thresholds::evidence(threshold), threshold);
        point.thresholds.iter().map(judged).map(move |(evidence, threshold)| {
            (threshold.outcome, format!("{place}{}; value {evidence}", threshold.text))
        })
    })
}

/// Values of the parameter at which the outcome is one.
struct Run<'a> {
    outcome: ThresholdOutcome,
    values: Vec<&'a str>,
    unsteady: bool,
}

/// Threshold number `i` along a line; none where it was never judged for want of points.
fn along(study: &Study, sweep: &Sweep, line: &Line, i: usize) -> Option<(Tone, String)> {
    let mut runs: Vec<Run> = Vec::new();
    for (value, point) in sweep.values.iter().zip(&line.points) {
        let Some(threshold) = point.and_then(|at| study.points.get(at)?.thresholds.get(i)) else { continue };
        let unsteady =
            threshold.reason.as_ref().is_some_and(|stated| matches!(stated.why, Why::NotSteady { .. }));
        match runs.last_mut().filter(|run| run.outcome == threshold.outcome) {
            Some(run) => {
                run.values.push(value);
                run.unsteady &= unsteady;
            }
            None => runs.push(Run { outcome: threshold.outcome, values: vec![value], unsteady }),
        }
    }
    let failed = runs.iter().any(|run| run.outcome == ThresholdOutcome::Crossed);
    let not_judged = runs.iter().any(|run| run.outcome == ThresholdOutcome::NotJudged);
    let tone = match () {
        () if failed && !study.is_swept() => Tone::Bad,
        () if not_judged => Tone::Warn,
        () => Tone::Plain,
    };
    let name = &sweep.name;
    let n = runs.iter().map(|run| run.values.len()).sum::<usize>();
    let text = match &runs[..] {
        [] => return None,
        [one] if n > 1 => {
            let all = if name == "model" { "models".to_owned() } else { format!("values of {name}") };
            format!("{} at all {n} {all}{}", verb(one.outcome), why(one))
        }
        runs if sweep.numeric && runs.len() <= MOST_RUNS => {
            let place = |(at, run): (usize, &Run)| {
                let (first, last) = (run.values[0], run.values[run.values.len() - 1]);
                let where_ = match (at, at + 1 == runs.len(), run.values.len()) {
                    (_, _, 1) => format!("at {name} {first}"),
                    (0, _, _) => format!("up to {name} {last}"),
                    (_, true, _) => format!("from {name} {first} on"),
                    _ => format!("from {name} {first} to {last}"),
                };
                format!("{} {where_}{}", verb(run.outcome), why(run))
            };
            runs.iter().enumerate().map(place).collect::<Vec<_>>().join(", ")
        }
        runs => by_outcome(sweep, runs, n),
    };
    Some((tone, text))
}

/// Where values have no order, or the outcomes have none.
fn by_outcome(sweep: &Sweep, runs: &[Run], n: usize) -> String {
    let judged = VERBS.iter().rev().filter_map(|(outcome, verb)| {
        let own = || runs.iter().filter(|run| run.outcome == *outcome);
        let values: Vec<&str> = own().flat_map(|run| run.values.iter().copied()).collect();
        let why = if own().all(|run| run.unsteady) { " (no steady state)" } else { "" };
        match values.len() {
            0 => None,
            _ if n <= MOST_NAMES && !sweep.numeric => Some(format!("{verb} for {}{why}", values.join(", "))),
            m => Some(format!("{verb} at {m} of {}{why}", plural(n as u64, "value"))),
        }
    });
    let all = judged.collect::<Vec<_>>().join(", ");
    if n <= MOST_NAMES && !sweep.numeric { all } else { format!("{all}, along {}", sweep.name) }
}

fn verb(of: ThresholdOutcome) -> &'static str {
    VERBS.iter().find(|(outcome, _)| *outcome == of).map_or("", |(_, verb)| verb)
}

fn why(run: &Run) -> &'static str {
    if run.unsteady { " (no steady state)" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ThresholdOutcome::{Crossed, Inconclusive, NotJudged, Passed};
    use headway_stats::study::{Parameter, Point};
    use headway_stats::summary::ThresholdResult;

    fn study(name: &str, values: &[&str], outcomes: &[ThresholdOutcome]) -> Study {
        let judged = |outcome| ThresholdResult {
            text: "p(99)<50".into(),
            outcome,
            reason: (outcome == NotJudged).then(|| Why::NotSteady { because: None }.into()),
            ..ThresholdResult::default()
        };
        let words = |of: &[&str]| of.iter().map(|word| headway_redact::clear(word)).collect::<Vec<_>>();
        let point = |(value, outcome): (&&str, &ThresholdOutcome)| Point {
            values: words(&[value]),
            thresholds: vec![judged(*outcome)],
            ..Point::default()
        };
        Study {
            parameters: vec![Parameter { name: headway_redact::clear(name), values: words(values) }],
            points: values.iter().zip(outcomes).map(point).collect(),
            ..Study::default()
        }
    }

    fn along_values(name: &str, values: &[&str], outcomes: &[ThresholdOutcome]) -> (Tone, String) {
        let mut all = sentences(&study(name, values, outcomes));
        assert_eq!(all.len(), 1, "{all:?}");
        let Sentence { tone, text } = all.remove(0);
        (tone, text)
    }

    #[test]
    fn a_crossing_is_told_where_it_is_in_the_order_of_the_values() {
        let rates = ["800", "100", "200", "300", "400", "500", "600", "700"];
        let outcomes = [NotJudged, Passed, Passed, Passed, Inconclusive, Crossed, Crossed, NotJudged];
        let text = "p(99)<50 holds up to rate 300, is inconclusive at rate 400, fails from rate 500 to 600, is not judged from \
                    rate 700 on (no steady state).";
        assert_eq!(along_values("rate", &rates, &outcomes), (Tone::Warn, text.into()));
        let (tone, text) = along_values("rate", &["1", "2", "3"], &[Passed, Crossed, Crossed]);
        assert_eq!((tone, text.as_str()), (Tone::Plain, "p(99)<50 holds at rate 1, fails from rate 2 on."));
        let (_, text) = along_values("rate", &["1", "2", "3"], &[Passed; 3]);
        assert_eq!(text, "p(99)<50 holds at all 3 values of rate.");
        let scattered = [Passed, Crossed, Passed, Crossed, Passed, Crossed, Inconclusive, Passed];
        let (_, text) = along_values("rate", &rates, &scattered);
        let counted = "p(99)<50 holds at 4 of 8 values, is inconclusive at 1 of 8 values, fails at 3 of 8 values, along rate.";
        assert_eq!(text, counted);
    }

    #[test]
    fn models_are_told_by_their_names() {
        let (tone, text) = along_values("model", &["a", "b", "c"], &[Passed, Crossed, Passed]);
        assert_eq!((tone, text.as_str()), (Tone::Bad, "p(99)<50 holds for a, c, fails for b."));
        let (_, text) = along_values("model", &["a", "b"], &[NotJudged, NotJudged]);
        assert_eq!(text, "p(99)<50 is not judged at all 2 models (no steady state).");
    }

    #[test]
    fn lines_are_told_apart_and_what_is_not_judged_is_said() {
        let mut of = study("rate", &["1", "2"], &[Passed, Crossed]);
        of.parameters.push(Parameter { name: "model".into(), values: vec!["even".into()] });
        of.points.iter_mut().for_each(|point| point.values.push("even".into()));
        assert_eq!(sentences(&of)[0].text, "p(99)<50 (even) holds at rate 1, fails at rate 2.");
        assert_eq!(texts(&of), ["p(99)<50"]);
        assert!(any(&of) && !any(&Study::default()));
        of.not_judged = vec![headway_stats::summary::Text::by_report("bytes: avg<1 is not judged.")];
        assert_eq!(sentences(&of).len(), 2);
    }
}
