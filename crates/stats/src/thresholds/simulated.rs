//! Thresholds of simulated runs that are not certain, or not judged: on sizes, of which a simulation has none, and, where there is no steady
//! state, on what would be another number in a longer run.
//!
//! What is of this run whatever its length is certain all the same: counts, what was started, and the generator's own lag; so is what is beyond
//! its limit and grows.
//! Deliberately absent: when there is no steady state; findings know.

use super::Aggregate;
use crate::metric::{Metric, threshold_interval};
use crate::summary::{Open, Source, Summary, ThresholdOutcome, ThresholdResult, Why};

impl Summary {
    /// Takes back the judgement of thresholds that hang on a steady state, where this is the document of a simulation that
    /// found none. For thresholds that were judged anew on a document: a fresh one comes without them.
    pub fn hold_thresholds_to_a_steady_state(&mut self) {
        if self.source != Source::Sim {
            return;
        }
        if let Some(reason) = self.against_a_steady_state() {
            self.unjudge(&reason);
        }
    }

    /// Why there is no steady state, as the intervals of times tell.
    fn against_a_steady_state(&self) -> Option<Why> {
        let times = Metric::all().filter(|metric| metric.is_time());
        let mut reasons = times.flat_map(|metric| self.interval_reasons(metric)).map(|stated| &stated.why);
        reasons.find(|why| why.is_against_a_steady_state()).cloned()
    }

    /// Takes back the intervals of the thresholds that this reason speaks against, and says of each what is certain all the same: what grows
    /// with the length of the run, and is beyond the limit already, is beyond it in longer runs too; so is a mean that is infinite.
    pub(crate) fn unjudge(&mut self, reason: &Why) {
        let Summary { thresholds, not_computed, .. } = self;
        let of_means_alone = reason.is_of_means();
        for (i, result) in thresholds.iter_mut().enumerate() {
            let held = if of_means_alone { is_mean_time(result) } else { hangs(result) };
            let Some(value) = result.value.filter(|_| held && result.outcome != ThresholdOutcome::NotJudged)
            else {
                continue;
            };
            let within = result.operator.holds(value, result.limit) && !result.lower_bound;
            let infinite = *reason == Why::MeanInfinite && result.operator.is_upper();
            result.outcome = match within && !infinite {
                true => ThresholdOutcome::Passed,
                false => ThresholdOutcome::Crossed,
            };
            let beyond = !result.operator.holds(value, result.limit);
            (result.open, result.reason) = match throughout(result, &[beyond], reason) {
                Some(certain) => (None, Some(certain.into())),
                None if infinite => (None, Some(reason.clone().into())),
                None => (Some(Open::Data), Some(reason.clone().into())),
            };
            result.decided = None;
            (result.at_least, result.at_most) = (None, None);
            if result.interval.take().is_some() {
                not_computed.insert(threshold_interval(i), reason.clone().into());
            }
        }
    }
}

/// So many runs, all of them beyond the limit, are no chance: where half of them would be, one in 64.
const NO_CHANCE: usize = 6;

/// Without a steady state, and with the number `beyond` the limit or not in each run: the reason for which it is crossed for certain, if it
/// is. Every simulation begins empty, so that a number which has not come to rest is smaller than it will be.
pub(super) fn throughout(result: &ThresholdResult, beyond: &[bool], because: &Why) -> Option<Why> {
    let grows = because.grows();
    let all = !beyond.is_empty() && beyond.iter().all(|beyond| *beyond);
    let certain =
        all && result.operator.is_upper() && (grows || (beyond.len() >= NO_CHANCE && because.begins_empty()));
    certain.then(|| Why::Throughout {
        runs: beyond.len() as u64,
        grows,
        limit: result.limit,
        unit: result.unit,
        because: Box::new(because.clone().into()),
    })
}

fn hangs(result: &ThresholdResult) -> bool {
    result.number().is_some_and(|of| of.metric.hangs_on_length(of.aggregate))
}

fn is_mean_time(result: &ThresholdResult) -> bool {
    result.number().is_some_and(|of| of.metric.is_time() && of.aggregate == Aggregate::Mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Stated;
    use crate::thresholds::of_summary;
    use ThresholdOutcome::{Crossed, Passed};

    fn not_found() -> Why {
        Why::NotSteady { because: Some(Box::new(Stated::other("it drifts"))) }
    }

    /// A document of a simulation whose intervals were taken back for that reason.
    fn judged(source: Source, reason: Option<Why>) -> Vec<ThresholdResult> {
        let mut summary = Summary { source, ..Summary::default() };
        summary.response =
            crate::summary::Spread { n: 9, mean: Some(0.2), p99: Some(1.0), ..Default::default() };
        summary.response.ci95.p99 = Some([0.9, 1.1]);
        summary.outcomes = [("ok".into(), 9)].into();
        summary.arrivals.started = 9;
        let texts =
            ["p(99)<2s", "avg<100", "failed: rate<1%", "failed: count<1", "started: count>=9", "count>3"];
        let of = |text: &&str| of_summary(&text.parse().unwrap(), &summary).expect(text);
        summary.thresholds = texts.iter().map(of).collect();
        if let Some(reason) = reason {
            summary.not_computed.insert("response.ci95.mean".into(), reason.into());
        }
        summary.hold_thresholds_to_a_steady_state();
        summary.thresholds
    }

    #[test]
    fn only_what_a_longer_run_would_tell_otherwise_is_not_judged() {
        let outcomes =
            |source, reason| judged(source, reason).iter().map(|result| result.outcome).collect::<Vec<_>>();
        let plain = [Passed, Crossed, Passed, Passed, Passed, Passed];
        assert_eq!(outcomes(Source::Sim, None), plain);
        assert_eq!(outcomes(Source::Live, Some(not_found())), plain);
        assert_eq!(outcomes(Source::Sim, Some(Why::EmptySegments)), plain);
        let open = |source, reason: Why| {
            let all = judged(source, Some(reason));
            all.iter().map(|result| result.open.is_some()).collect::<Vec<_>>()
        };
        let own = [true, true, true, false, false, false];
        assert_eq!(outcomes(Source::Sim, Some(not_found())), plain);
        assert_eq!(open(Source::Sim, not_found()), own);
        // What grows, and is beyond its limit already, is crossed for certain.
        assert_eq!(outcomes(Source::Sim, Some(Why::Overloaded)), plain);
        assert_eq!(open(Source::Sim, Why::Overloaded), [true, false, true, false, false, false]);
        let crossed = &judged(Source::Sim, Some(Why::Overloaded))[1];
        let why = &crossed.reason.as_ref().unwrap().why;
        assert!(matches!(why, Why::Throughout { runs: 1, grows: true, limit: 0.1, .. }), "{why:?}");
        for (reason, mean_is_open) in [(Why::MeanInfinite, false), (Why::HeavyTail, true)] {
            assert_eq!(outcomes(Source::Sim, Some(reason.clone())), plain, "{reason:?}");
            assert_eq!(open(Source::Sim, reason.clone())[1], mean_is_open, "{reason:?}");
        }
        let p99 = &judged(Source::Sim, Some(not_found()))[0];
        assert_eq!((p99.value, p99.interval, p99.decided), (Some(1.0), None, None));
        assert_eq!(p99.reason, Some(not_found().into()));
    }
}
