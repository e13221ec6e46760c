//! What follows from a number: whether it keeps to its limit, for certain or by its value, or whether the generator leaves that open.
//!
//! Both ends of the number (`ends`) and its interval on one side of the limit: certain. The ends on both sides: open because of the
//! generator, and not judged. The interval on both sides, or none to be had: open for want of data, and the value decides, as in k6. A
//! value that is a lower bound is beyond `< x` in any case: requests that were given up or refused must not make a system look fast.

use super::ends::Vouch;
use crate::metric::{Aggregate, NumberOf};
use crate::summary::{Ends, Interval, LoadVerdict, Open, ThresholdOutcome, ThresholdResult, Why};

/// Sets outcome, reason, `open` and `decided` of a result from its numbers, for a load of which that is known, and of which that share was
/// not sent.
pub fn judge(result: &mut ThresholdResult, vouch: Vouch, unsent: f64) {
    let limit = result.limit;
    result.decided = result.interval.map(|[low, high]| !(low..=high).contains(&limit));
    let of = result.number();
    let fact = of.is_none_or(|of| of.metric.is_fact(of.aggregate));
    if vouch.unbounded && !fact {
        result.ends = None;
    }
    let judged = Judged { result, of, vouch, unsent, fact }.outcome();
    let reason;
    (result.outcome, result.open, reason) = judged;
    result.reason = reason.map(Why::into);
}

type Outcome = (ThresholdOutcome, Option<Open>, Option<Why>);

struct Judged<'a> {
    result: &'a ThresholdResult,
    /// None of another version's.
    of: Option<NumberOf>,
    vouch: Vouch,
    unsent: f64,
    /// Nothing that the generator did makes it another number, and chance has no part in it.
    fact: bool,
}

impl Judged<'_> {
    fn outcome(&self) -> Outcome {
        use ThresholdOutcome::{Crossed, NotJudged, Passed};
        let ThresholdResult { operator, limit, .. } = *self.result;
        let ended = self.result.ended_run_at;
        let Some(value) = self.result.value else {
            return match ended {
                Some(_) => (Crossed, None, None),
                None if self.unsent > 0.0 => (NotJudged, Some(Open::Generator), Some(Why::NoObservations)),
                None => (NotJudged, Some(Open::Data), Some(Why::NoObservations)),
            };
        };
        let holds = operator.holds(value, limit);
        if let Some(at_s) = ended {
            return (Crossed, None, Some(Why::EndedRun { at_s, recovered: holds }));
        }
        let invalid = self.vouch.load == Some(LoadVerdict::Invalid);
        let ends = match self.result.ends {
            Some(ends) => ends,
            None if invalid && !self.fact => {
                return (NotJudged, Some(Open::Generator), Some(Why::InvalidLoad));
            }
            None => Ends::exactly(value),
        };
        let range = if self.result.lower_bound { [ends.low, f64::INFINITY] } else { ends.range() };
        let side = |range: Interval| match () {
            () if operator.holds_throughout(range, limit) => Some(Passed),
            () if operator.opposite().holds_throughout(range, limit) => Some(Crossed),
            () => None,
        };
        // Of a lower bound what lies beyond it is no doing of the generator's.
        let of_generator = if self.result.lower_bound { [ends.low, ends.low.max(value)] } else { range };
        if side(of_generator).is_none() {
            let why = Why::OwnDelays {
                low: ends.low,
                high: ends.high,
                unit: self.result.unit,
                unsent: self.unsent,
            };
            return (NotJudged, Some(Open::Generator), Some(why));
        }
        if let Some(certain) = side(self.chance(ends, value)) {
            return match self.undecided_load() {
                true => (certain, Some(Open::Data), Some(Why::LoadUndecided)),
                false => (certain, None, None),
            };
        }
        if self.result.lower_bound {
            let why = if holds { Why::BoundHolds } else { Why::BoundUnknown };
            return (Crossed, Some(Open::Data), Some(why));
        }
        let why = if self.result.interval.is_some() { Why::Astride } else { Why::FewToTell };
        (if holds { Passed } else { Crossed }, Some(Open::Data), Some(why))
    }

    /// Both ends of the number with what chance may add: the interval is moved as far as the ends are from the value.
    fn chance(&self, ends: Ends, value: f64) -> Interval {
        let r = self.result;
        let [low, high] = ends.range();
        let moved = |x: f64, end: f64| if value > 0.0 && end.is_finite() { x * (end / value) } else { end };
        let known = |of: NumberOf| of.aggregate.is_extreme() || of.aggregate == Aggregate::Count;
        if self.fact || self.of.is_some_and(known) {
            return [low, if r.lower_bound { f64::INFINITY } else { high }];
        }
        let (least, most) = match r.interval {
            Some([least, most]) => (Some(least), Some(most)),
            None => (r.at_least, r.at_most),
        };
        let bottom = least.map_or(f64::NEG_INFINITY, |least| moved(least, low));
        let top = most.map_or(f64::INFINITY, |most| moved(most, high));
        // A lower bound is known to be that much, whatever lies beyond it.
        match r.lower_bound {
            true => [bottom.max(low.min(value)), f64::INFINITY],
            false => [bottom, top],
        }
    }

    /// Nothing tells what it does to the number that a rule is undecided.
    fn undecided_load(&self) -> bool {
        self.vouch.load == Some(LoadVerdict::Inconclusive) && self.result.ends.is_none() && !self.fact
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Operator;
    use ThresholdOutcome::{Crossed, NotJudged, Passed};

    fn result(operator: &str, limit: f64, value: Option<f64>) -> ThresholdResult {
        let (_, operator) = *Operator::ALL.iter().find(|(name, _)| *name == operator).unwrap();
        let (metric, aggregate) = ("response".into(), "p(99)".into());
        ThresholdResult { operator, limit, value, metric, aggregate, ..ThresholdResult::default() }
    }

    fn of(load: LoadVerdict) -> Vouch {
        Vouch { load: Some(load), unbounded: false }
    }

    fn judged(mut result: ThresholdResult) -> ThresholdResult {
        judge(&mut result, of(LoadVerdict::Valid), 0.0);
        result
    }

    fn ends(low: f64, high: f64) -> Option<Ends> {
        Some(Ends { low, high: Some(high) })
    }

    #[test]
    fn a_fact_is_certain_by_its_value() {
        for (operator, below, same, above) in [
            ("<", Passed, Crossed, Crossed),
            ("<=", Passed, Passed, Crossed),
            (">", Crossed, Crossed, Passed),
            (">=", Crossed, Passed, Passed),
            ("==", Crossed, Passed, Crossed),
            ("!=", Passed, Crossed, Passed),
        ] {
            for (value, expected) in [(0.9, below), (1.0, same), (1.1, above)] {
                let mut seen = result(operator, 1.0, Some(value));
                seen.aggregate = "max".into();
                let seen = judged(seen);
                let all = (seen.outcome, seen.open, seen.reason, seen.decided);
                assert_eq!(all, (expected, None, None, None), "{value} {operator} 1");
                // Without an interval, or a bound, a percentile is judged by the value and is not certain.
                let seen = judged(result(operator, 1.0, Some(value)));
                assert_eq!((seen.outcome, seen.open), (expected, Some(Open::Data)));
                assert_eq!(seen.reason, Some(Why::FewToTell.into()));
            }
        }
    }

    #[test]
    fn an_interval_astride_the_limit_leaves_it_open_and_the_value_decides() {
        for (value, expected) in [(0.99, Passed), (1.01, Crossed)] {
            let mut seen = result("<", 1.0, Some(value));
            seen.interval = Some([0.95, 1.05]);
            let seen = judged(seen);
            assert_eq!((seen.outcome, seen.open, seen.decided), (expected, Some(Open::Data), Some(false)));
            assert_eq!(seen.reason, Some(Why::Astride.into()));
        }
        let mut clear = result("<", 1.0, Some(0.9));
        clear.interval = Some([0.85, 0.95]);
        let clear = judged(clear);
        assert_eq!(
            (clear.outcome, clear.open, clear.decided, clear.reason),
            (Passed, None, Some(true), None)
        );
    }

    #[test]
    fn both_ends_decide_whatever_the_verdict() {
        for load in [LoadVerdict::Valid, LoadVerdict::Inconclusive, LoadVerdict::Invalid] {
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
                (seen.ends, seen.interval) = (ends(0.85, 1.0), Some([1.0, 1.0]));
                judge(&mut seen, of(load), 0.0);
                assert_eq!(seen.outcome, expected, "{operator} {limit}");
                let unit = seen.unit;
                let why = Why::OwnDelays { low: 0.85, high: Some(1.0), unit, unsent: 0.0 };
                assert_eq!(seen.reason, (expected == NotJudged).then(|| why.into()));
                assert_eq!(seen.open, (expected == NotJudged).then_some(Open::Generator));
            }
        }
        // What ended the run, and what is known to be more than it says, stays crossed.
        let mut ended = result("<", 0.9, Some(1.0));
        (ended.ends, ended.ended_run_at) = (ends(0.8, 1.0), Some(3.0));
        assert_eq!(judged(ended).outcome, Crossed);
        let mut bound = result("<", 0.75, Some(1.0));
        (bound.ends, bound.lower_bound) = (ends(0.8, 1.0), true);
        let bound = judged(bound);
        assert_eq!((bound.outcome, bound.open), (Crossed, None));
    }

    #[test]
    fn without_an_upper_end_nothing_is_shown_to_hold() {
        for (limit, expected) in [(0.8, Crossed), (0.9, NotJudged), (100.0, NotJudged)] {
            let mut seen = result("<", limit, Some(1.0));
            (seen.ends, seen.interval) = (Some(Ends { low: 0.85, high: None }), Some([1.0, 1.0]));
            judge(&mut seen, of(LoadVerdict::Invalid), 0.3);
            assert_eq!(seen.outcome, expected, "{limit}");
        }
    }

    /// The interval goes with the end: what the generator may have added is in both of its ends.
    #[test]
    fn chance_is_added_to_both_ends() {
        for (limit, outcome, open) in [
            (0.80, Crossed, None),
            (0.83, Crossed, Some(Open::Data)),
            (1.06, Passed, Some(Open::Data)),
            (1.10, Passed, None),
        ] {
            let mut seen = result("<", limit, Some(1.0));
            (seen.ends, seen.interval) = (ends(0.9, 1.05), Some([0.9, 1.02]));
            let seen = judged(seen);
            assert_eq!((seen.outcome, seen.open), (outcome, open), "{limit}: {seen:?}");
        }
    }

    #[test]
    fn a_smaller_percentile_decides_a_larger_one() {
        let mut seen = result("<", 1.0, Some(5.0));
        (seen.aggregate, seen.at_least) = ("p(99)".into(), Some(1.2));
        let seen = judged(seen);
        assert_eq!((seen.outcome, seen.open, seen.decided), (Crossed, None, None));
        let mut seen = result("<", 1.0, Some(0.5));
        (seen.aggregate, seen.at_most) = ("p(99)".into(), Some(0.9));
        assert_eq!((judged(seen.clone()).outcome, judged(seen).open), (Passed, None));
    }

    #[test]
    fn a_lower_bound_passes_only_what_it_proves() {
        for (operator, value, expected, open) in [
            ("<", 0.5, Crossed, true),
            ("<=", 0.5, Crossed, true),
            ("<", 1.5, Crossed, false),
            (">", 1.5, Passed, false),
            (">=", 1.0, Passed, false),
            (">", 0.5, Crossed, true),
            ("==", 1.0, Crossed, true),
            ("==", 1.5, Crossed, false),
            ("!=", 1.5, Passed, false),
            ("!=", 0.5, Crossed, true),
        ] {
            let mut seen = result(operator, 1.0, Some(value));
            seen.lower_bound = true;
            let seen = judged(seen);
            assert_eq!((seen.outcome, seen.open.is_some()), (expected, open), "> {value} {operator} 1");
            assert_eq!(seen.reason.is_some(), open);
        }
    }

    #[test]
    fn where_nothing_bounds_what_the_generator_did_its_verdict_decides() {
        let with = |load, unbounded: bool| {
            let mut seen = result("<", 1.0, Some(2.0));
            (seen.interval, seen.ends) = (Some([1.9, 2.1]), unbounded.then(|| Ends::exactly(2.0)));
            judge(&mut seen, Vouch { load, unbounded }, 0.0);
            (seen.outcome, seen.open, seen.reason.map(|stated| stated.why))
        };
        assert_eq!(with(None, false), (Crossed, None, None));
        assert_eq!(with(Some(LoadVerdict::Valid), false), (Crossed, None, None));
        let undecided = (Crossed, Some(Open::Data), Some(Why::LoadUndecided));
        assert_eq!(with(Some(LoadVerdict::Inconclusive), false), undecided);
        let not = (NotJudged, Some(Open::Generator), Some(Why::InvalidLoad));
        assert_eq!(with(Some(LoadVerdict::Invalid), false), not);
        assert_eq!(with(Some(LoadVerdict::Invalid), true), not);
        // The generator's own lag, and what it sent, are what they are.
        let mut started = result(">", 1.0, Some(2.0));
        (started.metric, started.aggregate) = ("started".into(), "count".into());
        judge(&mut started, Vouch { load: Some(LoadVerdict::Invalid), unbounded: true }, 0.5);
        assert_eq!((started.outcome, started.open), (Passed, None));
    }

    #[test]
    fn without_a_value_there_is_nothing_to_judge() {
        for (unsent, open) in [(0.0, Open::Data), (0.2, Open::Generator)] {
            let mut nothing = result("<", 1.0, None);
            judge(&mut nothing, Vouch::default(), unsent);
            assert_eq!((nothing.outcome, nothing.open), (NotJudged, Some(open)));
            assert_eq!(nothing.reason, Some(Why::NoObservations.into()));
        }
    }

    #[test]
    fn what_ended_the_run_stays_crossed() {
        let mut ended = result("<", 1.0, Some(0.5));
        ended.ended_run_at = Some(3.0);
        let ended = judged(ended);
        assert_eq!((ended.outcome, ended.open), (Crossed, None));
        assert!(matches!(ended.reason.unwrap().why, Why::EndedRun { recovered: true, .. }));
    }
}
