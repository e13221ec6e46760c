//! What follows from a number over several simulated runs: passed, crossed or inconclusive, by its interval.
//!
//! A single run is judged on its value, as in k6. Over replications the value is an estimate of what the model does, and its
//! interval says how far chance goes: what lies wholly within the limit passes, what lies wholly beyond it is crossed, and of
//! the rest more replications would tell. Deliberately absent: where the interval comes from.

use super::simulated::throughout;
use crate::metric::Aggregate;
use crate::summary::{Open, ThresholdOutcome, ThresholdResult, Why};

/// Sets outcome, reason, `open` and `decided` of a result from its interval. `against` says why it is not to be judged by it; what is
/// certain of it all the same follows from its `values` in the single runs. The interval of a lower bound, which ends nowhere, and of what is not judged are taken back. The smallest and the largest are judged
/// on their value; a percentile without an interval on what it is at least.
pub fn judge_runs(result: &mut ThresholdResult, values: &[f64], against: Option<Why>) {
    let held = against.is_some();
    let reason;
    (result.outcome, reason) = outcome(result, values, against);
    result.reason = reason.map(Why::into);
    let certain = matches!(result.outcome, ThresholdOutcome::Passed | ThresholdOutcome::Crossed);
    result.open = (!certain).then_some(Open::Data);
    if result.lower_bound || held {
        result.interval = None;
    }
    if held {
        result.at_least = None;
    }
    let decided = matches!(result.outcome, ThresholdOutcome::Passed | ThresholdOutcome::Crossed);
    result.decided = result.interval.map(|_| decided);
}

fn outcome(
    result: &ThresholdResult,
    values: &[f64],
    against: Option<Why>,
) -> (ThresholdOutcome, Option<Why>) {
    use ThresholdOutcome::{Crossed, Inconclusive, NotJudged, Passed};
    if let Some(why) = against {
        let beyond: Vec<bool> =
            values.iter().map(|value| !result.operator.holds(*value, result.limit)).collect();
        return match throughout(result, &beyond, &why) {
            Some(certain) => (Crossed, Some(certain)),
            None if why == Why::MeanInfinite && result.operator.is_upper() => (Crossed, Some(why)),
            None => (NotJudged, Some(why)),
        };
    }
    let Some(value) = result.value else {
        return (NotJudged, Some(Why::NoObservations));
    };
    let ThresholdResult { operator, limit, lower_bound, .. } = *result;
    if is_extreme(result) && !lower_bound {
        // A fact of the requests that were played, as in a single run.
        let why = Why::Extreme { largest: aggregate(result) == Some(Aggregate::Max) };
        return if operator.holds(value, limit) { (Passed, Some(why)) } else { (Crossed, Some(why)) };
    }
    let range = match (result.interval, result.at_least) {
        (Some([low, _]), _) if lower_bound => Some([low, f64::INFINITY]),
        (None, Some(low)) => Some([low, f64::INFINITY]),
        (None, None) if lower_bound && is_extreme(result) => Some([value, f64::INFINITY]),
        (interval, _) => interval,
    };
    let Some(range) = range else {
        let why = match lower_bound {
            true => Why::BoundUnknown,
            false if aggregate(result).and_then(Aggregate::quantile).is_none() => Why::SingleRun,
            false => Why::FewBeyond,
        };
        return (Inconclusive, Some(why));
    };
    let bounded = range[1] == f64::INFINITY;
    let told = || bounded.then_some(Why::AtLeast { value: range[0] });
    if operator.holds_throughout(range, limit) {
        (Passed, told())
    } else if operator.opposite().holds_throughout(range, limit) {
        (Crossed, told())
    } else if lower_bound {
        (Inconclusive, Some(Why::BoundUnknown))
    } else if bounded {
        (Inconclusive, Some(Why::FewBeyond))
    } else {
        (Inconclusive, Some(Why::IntervalHoldsLimit))
    }
}

fn aggregate(result: &ThresholdResult) -> Option<Aggregate> {
    Aggregate::of_threshold(&result.aggregate)
}

fn is_extreme(result: &ThresholdResult) -> bool {
    aggregate(result).is_some_and(Aggregate::is_extreme)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{Interval, Operator};
    use ThresholdOutcome::{Crossed, Inconclusive, NotJudged, Passed};

    fn judged(operator: Operator, interval: Option<Interval>, lower_bound: bool) -> ThresholdResult {
        let value = interval.map_or(Some(0.5), |[low, high]| Some((low + high) / 2.0));
        let mut result = ThresholdResult {
            operator,
            limit: 1.0,
            value,
            interval,
            lower_bound,
            ..ThresholdResult::default()
        };
        judge_runs(&mut result, &[], None);
        result
    }

    #[test]
    fn the_whole_interval_decides() {
        use Operator::{Above, AtLeast, AtMost, Below, Equal, Other};
        for (operator, below, astride, above, up_to, exactly) in [
            (Below, Passed, Inconclusive, Crossed, Inconclusive, Crossed),
            (AtMost, Passed, Inconclusive, Crossed, Passed, Passed),
            (Above, Crossed, Inconclusive, Passed, Crossed, Crossed),
            (AtLeast, Crossed, Inconclusive, Passed, Inconclusive, Passed),
            (Equal, Crossed, Inconclusive, Crossed, Inconclusive, Passed),
            (Other, Passed, Inconclusive, Passed, Inconclusive, Crossed),
        ] {
            let all = [
                ([0.8, 0.9], below),
                ([0.9, 1.1], astride),
                ([1.1, 1.2], above),
                ([0.9, 1.0], up_to),
                ([1.0, 1.0], exactly),
            ];
            for (interval, expected) in all {
                let seen = judged(operator, Some(interval), false);
                assert_eq!(seen.outcome, expected, "{interval:?} {operator} 1");
                assert_eq!(seen.decided, Some(expected != Inconclusive));
                assert_eq!(seen.reason.is_some(), expected == Inconclusive);
            }
        }
    }

    #[test]
    fn a_lower_bound_has_no_upper_end() {
        for (operator, interval, expected) in [
            (Operator::Below, [0.5, 0.6], Inconclusive),
            (Operator::Below, [1.5, 1.6], Crossed),
            (Operator::Above, [1.5, 1.6], Passed),
            (Operator::Above, [0.5, 0.6], Inconclusive),
            (Operator::Equal, [0.5, 1.6], Inconclusive),
        ] {
            let seen = judged(operator, Some(interval), true);
            assert_eq!((seen.outcome, seen.interval, seen.decided), (expected, None, None), "{operator}");
        }
    }

    #[test]
    fn without_an_interval_a_value_or_a_steady_state_nothing_is_decided() {
        let one = judged(Operator::Below, None, false);
        assert_eq!((one.outcome, one.decided), (Inconclusive, None));
        assert_eq!(one.reason, Some(Why::SingleRun.into()));
        let mut nothing = ThresholdResult::default();
        judge_runs(&mut nothing, &[], None);
        assert_eq!(nothing.outcome, NotJudged);
        let mut unsteady = judged(Operator::Below, Some([0.1, 0.2]), false);
        judge_runs(&mut unsteady, &[0.1, 0.2], Some(Why::PilesUp));
        assert_eq!((unsteady.outcome, unsteady.decided, unsteady.interval), (NotJudged, None, None));
        assert_eq!(unsteady.reason, Some(Why::PilesUp.into()));
    }
}
