//! What follows from a value: passed, crossed or not judged, and what else to know.
//!
//! Judged on the value, as in k6. A value that is a lower bound passes only where the bound alone suffices (`> x` with the
//! bound above x): requests that were given up or refused must not make a system look fast.

use crate::summary::{LoadVerdict, Operator, ThresholdOutcome, ThresholdResult, Why};

/// Sets outcome, reason and `decided` of a result from its numbers, for a load with this verdict.
pub fn judge(result: &mut ThresholdResult, load: Option<LoadVerdict>) {
    let limit = result.limit;
    result.decided = result.interval.map(|[low, high]| !(low..=high).contains(&limit));
    let reason;
    (result.outcome, reason) = outcome(result, load);
    result.reason = reason.map(Why::into);
}

fn outcome(result: &ThresholdResult, load: Option<LoadVerdict>) -> (ThresholdOutcome, Option<Why>) {
    use ThresholdOutcome::{Crossed, NotJudged, Passed};
    if load == Some(LoadVerdict::Invalid) {
        return (NotJudged, Some(Why::InvalidLoad));
    }
    let Some(value) = result.value else {
        return match result.ended_run_at {
            Some(_) => (Crossed, None),
            None => (NotJudged, Some(Why::NoObservations)),
        };
    };
    let holds = result.operator.holds(value, result.limit);
    if let Some(at) = result.ended_run_at {
        return (Crossed, Some(Why::EndedRun { at_s: at, recovered: holds }));
    }
    if result.lower_bound && !proven(result.operator, value, result.limit) {
        let why = holds.then_some(Why::BoundHolds);
        return (Crossed, why);
    }
    if let Some([low, high]) = result.generator_share
        && result.operator.holds(low, result.limit) != holds
    {
        let why = Why::OwnDelays { aggregate: result.aggregate.clone(), between_s: [low, high] };
        return (NotJudged, Some(why));
    }
    let astride = result.decided == Some(false);
    let why = astride.then_some(Why::Astride);
    (if holds { Passed } else { Crossed }, why)
}

/// Whether the threshold holds for every value from `bound` up.
fn proven(operator: Operator, bound: f64, limit: f64) -> bool {
    match operator {
        Operator::Above | Operator::Other => bound > limit,
        Operator::AtLeast => bound >= limit,
        Operator::Below | Operator::AtMost | Operator::Equal => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ThresholdOutcome::{Crossed, NotJudged, Passed};

    fn result(operator: &str, limit: f64, value: Option<f64>) -> ThresholdResult {
        let (_, operator) = *Operator::ALL.iter().find(|(name, _)| *name == operator).unwrap();
        ThresholdResult { operator, limit, value, ..ThresholdResult::default() }
    }

    fn judged(mut result: ThresholdResult) -> ThresholdResult {
        judge(&mut result, Some(LoadVerdict::Valid));
        result
    }

    #[test]
    fn the_value_decides() {
        for (operator, below, same, above) in [
            ("<", Passed, Crossed, Crossed),
            ("<=", Passed, Passed, Crossed),
            (">", Crossed, Crossed, Passed),
            (">=", Crossed, Passed, Passed),
            ("==", Crossed, Passed, Crossed),
            ("!=", Passed, Crossed, Passed),
        ] {
            for (value, expected) in [(0.9, below), (1.0, same), (1.1, above)] {
                let seen = judged(result(operator, 1.0, Some(value)));
                assert_eq!(
                    (seen.outcome, seen.reason, seen.decided),
                    (expected, None, None),
                    "{value} {operator} 1"
                );
            }
        }
    }

    #[test]
    fn an_interval_astride_the_limit_is_told_and_changes_nothing() {
        for (value, expected) in [(0.99, Passed), (1.01, Crossed)] {
            let mut seen = result("<", 1.0, Some(value));
            seen.interval = Some([0.95, 1.05]);
            let seen = judged(seen);
            assert_eq!((seen.outcome, seen.decided), (expected, Some(false)));
            assert_eq!(seen.reason, Some(Why::Astride.into()));
        }
        let mut clear = result("<", 1.0, Some(0.9));
        clear.interval = Some([0.85, 0.95]);
        let clear = judged(clear);
        assert_eq!((clear.outcome, clear.decided, clear.reason), (Passed, Some(true), None));
    }

    #[test]
    fn between_both_ends_nothing_is_judged() {
        for (operator, limit, expected) in [
            ("<", 0.8, Crossed),
            ("<", 0.9, NotJudged),
            ("<", 1.0, NotJudged),
            ("<", 1.1, Passed),
            ("<=", 1.0, Passed),
            (">", 0.9, NotJudged),
            (">", 0.8, Passed),
            (">", 1.0, Crossed),
        ] {
            let mut seen = result(operator, limit, Some(1.0));
            seen.aggregate = "p(99)".into();
            seen.generator_share = Some([0.85, 1.0]);
            let seen = judged(seen);
            assert_eq!(seen.outcome, expected, "{operator} {limit}");
            let why = Why::OwnDelays { aggregate: "p(99)".into(), between_s: [0.85, 1.0] };
            assert_eq!(seen.reason, (expected == NotJudged).then(|| why.into()));
        }
        // What ended the run, and what is known to be more than it says, stays crossed.
        let mut ended = result("<", 0.9, Some(1.0));
        (ended.generator_share, ended.ended_run_at) = (Some([0.8, 1.0]), Some(3.0));
        assert_eq!(judged(ended).outcome, Crossed);
        let mut bound = result("<", 0.9, Some(1.0));
        (bound.generator_share, bound.lower_bound) = (Some([0.8, 1.0]), true);
        assert_eq!(judged(bound).outcome, Crossed);
    }

    #[test]
    fn a_lower_bound_passes_only_what_it_proves() {
        for (operator, value, expected, told) in [
            ("<", 0.5, Crossed, true),
            ("<=", 0.5, Crossed, true),
            ("<", 1.5, Crossed, false),
            (">", 1.5, Passed, false),
            (">=", 1.0, Passed, false),
            (">", 0.5, Crossed, false),
            ("==", 1.0, Crossed, true),
            ("!=", 1.5, Passed, false),
            ("!=", 0.5, Crossed, true),
        ] {
            let mut seen = result(operator, 1.0, Some(value));
            seen.lower_bound = true;
            let seen = judged(seen);
            assert_eq!((seen.outcome, seen.reason.is_some()), (expected, told), "> {value} {operator} 1");
        }
    }

    #[test]
    fn without_a_load_or_a_value_there_is_nothing_to_judge() {
        let mut invalid = result("<", 1.0, Some(0.5));
        judge(&mut invalid, Some(LoadVerdict::Invalid));
        assert_eq!(invalid.outcome, NotJudged);
        assert_eq!(invalid.reason, Some(Why::InvalidLoad.into()));
        // Judged again under another verdict, nothing of the first is left.
        assert_eq!(judged(invalid).outcome, Passed);
        let nothing = judged(result("<", 1.0, None));
        assert_eq!(nothing.outcome, NotJudged);
        assert_eq!(nothing.reason, Some(Why::NoObservations.into()));
        for load in [None, Some(LoadVerdict::Inconclusive)] {
            let mut seen = result("<", 1.0, Some(2.0));
            judge(&mut seen, load);
            assert_eq!(seen.outcome, Crossed, "{load:?}");
        }
    }

    #[test]
    fn what_ended_the_run_stays_crossed() {
        let mut ended = result("<", 1.0, Some(0.5));
        ended.ended_run_at = Some(3.0);
        let ended = judged(ended);
        assert_eq!(ended.outcome, Crossed);
        assert!(matches!(ended.reason.unwrap().why, Why::EndedRun { recovered: true, .. }));
    }
}
