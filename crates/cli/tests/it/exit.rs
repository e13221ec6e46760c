//! Exit codes: which reason wins where several apply.

use headway_cli::exit::*;
use headway_stats::Summary;
use headway_stats::study::Study;
use headway_stats::summary::ThresholdResult;
use headway_stats::summary::{LimitedBy, LoadVerdict, ThresholdOutcome};

fn summary(load: LoadVerdict, interrupted: bool, outcomes: &[(&str, u64)]) -> Summary {
    let mut s = Summary::default();
    s.verdict.load = Some(load);
    s.measured.interrupted = interrupted;
    s.outcomes = outcomes.iter().map(|&(o, n)| (o.to_owned(), n)).collect();
    s
}

#[test]
fn causes_are_told_once() {
    let error = anyhow::anyhow!("no such file").context("x.csv: no such file").context("--out");
    assert_eq!(in_words(&error), "--out: x.csv: no such file");
}

#[test]
fn the_gravest_reason_wins() {
    use LoadVerdict::*;
    assert_eq!(of_summary(&summary(Valid, false, &[("ok", 3)]), true), FINE);
    assert_eq!(of_summary(&summary(Inconclusive, false, &[]), true), INCONCLUSIVE);
    assert_eq!(of_summary(&summary(Inconclusive, false, &[]), false), FINE);
    assert_eq!(of_summary(&summary(Invalid, false, &[("ok", 1), ("refused", 1)]), false), INVALID);
    assert_eq!(of_summary(&summary(Invalid, true, &[]), false), INTERRUPTED);
    let mut capped = summary(Valid, false, &[("ok", 3)]);
    capped.verdict.limited_by = Some(LimitedBy { share: 0.02, tolerated: 0.01, ..LimitedBy::default() });
    assert_eq!((of_summary(&capped, true), of_summary(&capped, false)), (INCONCLUSIVE, FINE));
    capped.verdict.limited_by = Some(LimitedBy { share: 0.01, tolerated: 0.01, ..LimitedBy::default() });
    assert_eq!(of_summary(&capped, true), FINE);
    assert_eq!(of_summary(&summary(Invalid, true, &[("refused", 2)]), false), FAILED);
    assert_eq!(
        of_summary(&summary(Invalid, false, &[("tls", 2), ("shed", 5), ("unsent", 1)]), false),
        FAILED
    );
    assert_eq!(of_summary(&summary(Invalid, false, &[("unsent", 9)]), false), INVALID);
    assert_eq!(of_audit(&summary(Valid, false, &[("refused", 2)]), false), FINE);
    assert_eq!(of_audit(&summary(Invalid, false, &[]), false), INVALID);
    assert_eq!(of_audit(&Summary::default(), true), FINE);
}

#[test]
fn a_sweep_may_cross_its_thresholds_and_a_single_point_may_not() {
    use ThresholdOutcome::*;
    use headway_stats::study::{Parameter, Point};
    let of = |name: &str, values: &[&str], outcomes: &[ThresholdOutcome]| Study {
        parameters: vec![Parameter {
            name: name.into(),
            values: values.iter().map(|&value| value.to_owned()).collect(),
        }],
        points: outcomes
            .iter()
            .map(|&outcome| Point {
                thresholds: vec![ThresholdResult { outcome, ..ThresholdResult::default() }],
                ..Point::default()
            })
            .collect(),
        ..Study::default()
    };
    let code =
        |name, values: &[&str], outcomes: &[ThresholdOutcome]| of_study(&of(name, values, outcomes), false);
    assert_eq!(code("rate", &["1", "2"], &[Passed, Crossed]), FINE);
    assert_eq!(code("rate", &["1"], &[Crossed]), CROSSED);
    assert_eq!(code("model", &["a", "b"], &[Passed, Crossed]), CROSSED);
    assert_eq!(code("model", &["a", "b"], &[Passed, NotJudged]), CROSSED);
    assert_eq!(code("model", &["a", "b"], &[Passed, Inconclusive]), FINE);
    assert_eq!(of_study(&of("model", &["a"], &[Inconclusive]), true), INCONCLUSIVE);
    assert_eq!(of_study(&of("model", &["a"], &[Passed]), true), FINE);
}

#[test]
fn thresholds_rank_between_the_load_and_doubts_about_it() {
    use LoadVerdict::*;
    use ThresholdOutcome::{Crossed, NotJudged, Passed};
    let with = |load, interrupted, outcomes: &[ThresholdOutcome]| {
        let mut s = summary(load, interrupted, &[("ok", 3)]);
        let of = |&outcome| ThresholdResult { outcome, ..ThresholdResult::default() };
        s.thresholds = outcomes.iter().map(of).collect();
        s
    };
    assert_eq!(of_summary(&with(Valid, false, &[Passed, Passed]), true), FINE);
    assert_eq!(of_summary(&with(Valid, false, &[Passed, Crossed]), false), CROSSED);
    assert_eq!(of_summary(&with(Valid, false, &[NotJudged]), false), CROSSED);
    assert_eq!(of_summary(&with(Inconclusive, false, &[Crossed]), true), CROSSED);
    assert_eq!(of_summary(&with(Inconclusive, false, &[Passed]), true), INCONCLUSIVE);
    assert_eq!(of_summary(&with(Invalid, false, &[NotJudged]), true), INVALID);
    let mut cut_short = with(Valid, true, &[Crossed]);
    assert_eq!(of_summary(&cut_short, false), INTERRUPTED);
    cut_short.measured.aborted = true;
    assert_eq!(of_summary(&cut_short, false), CROSSED);
    cut_short.outcomes = [("refused".to_owned(), 3)].into();
    assert_eq!(of_summary(&cut_short, false), FAILED);
}
