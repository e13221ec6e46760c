//! Exit codes: which reason wins where several apply.

use headway_cli::exit::*;
use headway_stats::Summary;
use headway_stats::study::Study;
use headway_stats::summary::ThresholdResult;
use headway_stats::summary::{LimitedBy, LoadVerdict, Open, Operator, ThresholdOutcome};
use headway_workload::redact::clear;

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
    assert_eq!(of_summary(&summary(Inconclusive, false, &[("ok", 3)]), true), INCONCLUSIVE);
    assert_eq!(of_summary(&summary(Inconclusive, false, &[("ok", 3)]), false), FINE);
    // Nothing ended ok, whatever the reason, or nothing was due.
    for outcomes in [&[][..], &[("status", 5)], &[("timeout", 5)], &[("unsent", 9)], &[("shed", 2)]] {
        assert_eq!(of_summary(&summary(Inconclusive, false, outcomes), true), FAILED, "{outcomes:?}");
        assert_eq!(of_summary(&summary(Invalid, false, outcomes), false), FAILED, "{outcomes:?}");
    }
    assert_eq!(of_summary(&summary(Invalid, false, &[("ok", 1), ("refused", 1)]), false), INVALID);
    assert_eq!(of_summary(&summary(Invalid, true, &[]), false), INTERRUPTED);
    let mut capped = summary(Valid, false, &[("ok", 3)]);
    capped.verdict.limited_by = Some(LimitedBy { share: 0.02, tolerated: 0.01, ..LimitedBy::default() });
    // Who waited at the cap and left fails nothing.
    assert_eq!((of_summary(&capped, true), of_summary(&capped, false)), (FINE, FINE));
    assert_eq!(of_summary(&summary(Invalid, true, &[("refused", 2)]), false), FAILED);
    assert_eq!(
        of_summary(&summary(Invalid, false, &[("tls", 2), ("shed", 5), ("unsent", 1)]), false),
        FAILED
    );
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
            name: clear(name),
            values: values.iter().map(|value| clear(value)).collect(),
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
    // Without a value nothing is known to hold.
    assert_eq!(code("model", &["a", "b"], &[Passed, Inconclusive]), CROSSED);
    assert_eq!(of_study(&of("model", &["a"], &[Inconclusive]), true), INCONCLUSIVE);
    assert_eq!(of_study(&of("model", &["a"], &[Passed]), true), FINE);
}

/// A threshold `< 1` with this value.
fn threshold(outcome: ThresholdOutcome, open: Option<Open>, value: f64) -> ThresholdResult {
    let operator = Operator::Below;
    ThresholdResult { outcome, open, value: Some(value), operator, limit: 1.0, ..ThresholdResult::default() }
}

#[test]
fn thresholds_decide_whatever_the_load() {
    use LoadVerdict::{Inconclusive, Invalid, Valid};
    use ThresholdOutcome::{Crossed, NotJudged, Passed};
    let (generator, data) = (Some(Open::Generator), Some(Open::Data));
    let holds = threshold(Passed, None, 0.5);
    let crossed = threshold(Crossed, None, 2.0);
    let open = threshold(NotJudged, generator, 2.0);
    let within = threshold(Passed, data, 0.9);
    let beyond = threshold(Crossed, data, 1.1);
    for load in [Valid, Inconclusive, Invalid] {
        let code = |thresholds: &[&ThresholdResult], strict| {
            let mut s = summary(load, false, &[("ok", 3)]);
            s.thresholds = thresholds.iter().map(|&threshold| threshold.clone()).collect();
            of_summary(&s, strict)
        };
        for (thresholds, plain, strict) in [
            (&[&holds][..], FINE, FINE),
            (&[&holds, &crossed], CROSSED, CROSSED),
            (&[&open, &crossed], CROSSED, CROSSED),
            (&[&open, &holds], INVALID, INVALID),
            (&[&within, &holds], FINE, INCONCLUSIVE),
            (&[&beyond, &holds], CROSSED, INCONCLUSIVE),
            (&[&within, &open], INVALID, INVALID),
            (&[&within, &crossed], CROSSED, CROSSED),
        ] {
            assert_eq!((code(thresholds, false), code(thresholds, true)), (plain, strict), "{thresholds:?}");
        }
    }
    let mut cut_short = summary(Valid, true, &[("ok", 3)]);
    cut_short.thresholds = vec![crossed];
    assert_eq!(of_summary(&cut_short, false), INTERRUPTED);
    cut_short.measured.aborted = true;
    assert_eq!(of_summary(&cut_short, false), CROSSED);
    cut_short.outcomes = [("refused".to_owned(), 3)].into();
    assert_eq!(of_summary(&cut_short, false), FAILED);
}

#[test]
fn the_first_of_the_order_wins() {
    assert_eq!(order(), "If several apply: 2, 1, 130, 3, 75, 99, 98, 97, 0.");
    for (i, first) in ORDER.into_iter().enumerate() {
        for later in &ORDER[i..] {
            assert_eq!((first_of(first, *later), first_of(*later, first)), (first, first));
        }
    }
    let mut all = TABLE.map(|(code, _)| code);
    all.sort_unstable();
    let mut order = ORDER;
    order.sort_unstable();
    assert_eq!(all, order);
}

/// One table: in the help and docs/exit-codes.md.
#[test]
fn the_table_is_the_same_everywhere() {
    let read =
        |name: &str| std::fs::read_to_string(format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let help = words(&help());
    let text = read("docs/exit-codes.md");
    for (code, meaning) in TABLE {
        assert!(text.contains(&format!("- **{code}**: {meaning}\n")), "{code} {meaning}");
        assert!(help.contains(&format!("{code} {meaning}")), "{code}");
    }
    assert!(text.contains(&order()));
    assert!(help.ends_with(&order()));
}
