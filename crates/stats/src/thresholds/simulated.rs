//! Thresholds of a simulated run that are not judged: on sizes, of which it has none, and, where it has no steady state, on what
//! would be another number in a longer run.
//!
//! What is of this run whatever its length is judged all the same: counts, what was started, and the generator's own lag.
//! Deliberately absent: when there is no steady state; findings know.

use super::{Aggregate, Metric};
use crate::summary::{Infinite, Source, Spread, Summary, ThresholdOutcome, ThresholdResult};

/// Why there are no sizes.
const NO_SIZES: &str = "nothing is sent in a simulation, and so nothing has a size";

/// Why there is no steady state, and why a mean has no interval.
pub(crate) const OVERLOADED: &str =
    "there is no steady state: a part of the model is asked for more than it can do";
pub(crate) const PILES_UP: &str = "there is no steady state: requests pile up throughout the measured phase";
pub(crate) const NOT_FOUND: &str = "no steady state was found";
pub(crate) const ENDLESS: &str = "the mean that it should hold is infinite";
pub(crate) const BOUNDLESS: &str = "the service times have too heavy a tail for an interval of the mean";

/// Whether this is a reason against intervals of means alone.
pub(crate) fn is_of_means(reason: &str) -> bool {
    [ENDLESS, BOUNDLESS].contains(&reason)
}

/// Whether a number would be another in a longer run, where there is no steady state.
pub fn hangs_on_length(metric: Metric, aggregate: Aggregate) -> bool {
    !matches!(metric, Metric::Lag | Metric::Started | Metric::Bytes) && aggregate != Aggregate::Count
}

impl Summary {
    /// Takes back the sizes of answers, which a simulation does not have, and what was said of them.
    pub(crate) fn take_back_sizes(&mut self) {
        self.bytes = Spread::default();
        self.not_computed.retain(|path, _| !path.starts_with("bytes"));
        self.not_computed.insert("bytes".into(), NO_SIZES.into());
        for (i, result) in self.thresholds.iter_mut().enumerate() {
            if metric(result) != Some(Metric::Bytes) {
                continue;
            }
            (result.value, result.interval, result.n) = (None, None, 0);
            (result.decided, result.lower_bound) = (None, false);
            (result.outcome, result.reason) = (ThresholdOutcome::NotJudged, Some(NO_SIZES.into()));
            self.not_computed.remove(&format!("thresholds.{i}.interval"));
        }
    }

    /// Takes back the judgement of thresholds that hang on a steady state, where this is the document of a simulation that
    /// found none. For thresholds that were judged anew on a document: a fresh one comes without them.
    pub fn hold_thresholds_to_a_steady_state(&mut self) {
        let reasons = [OVERLOADED, PILES_UP, NOT_FOUND, ENDLESS, BOUNDLESS];
        let told = |(path, reason): (&String, &String)| {
            let of_times = path.contains(".ci95");
            reasons.iter().copied().find(|known| of_times && *known == reason.as_str())
        };
        if self.source != Source::Sim {
            return;
        }
        if let Some(reason) = self.not_computed.iter().find_map(told) {
            self.unjudge(reason);
        }
    }

    /// Takes back the judgement of the thresholds that this reason speaks against, and their intervals.
    pub(crate) fn unjudge(&mut self, reason: &str) {
        let Summary { thresholds, not_computed, simulation, .. } = self;
        let of_means_alone = is_of_means(reason);
        let why = simulation.as_ref().and_then(|simulation| simulation.steady.why_not.as_ref());
        let why = match (reason, why) {
            (NOT_FOUND, Some(why)) => format!("{reason}: {why}"),
            (ENDLESS, _) => Infinite::MeanWait.against_the_mean().to_owned(),
            (BOUNDLESS, _) => Infinite::WaitVariance.against_the_mean().to_owned(),
            _ => reason.to_owned(),
        };
        for (i, result) in thresholds.iter_mut().enumerate() {
            let held = if of_means_alone { is_mean_time(result) } else { hangs(result) };
            if !held || result.outcome == ThresholdOutcome::NotJudged {
                continue;
            }
            result.outcome = ThresholdOutcome::NotJudged;
            result.reason = Some(why.clone());
            result.decided = None;
            if result.interval.take().is_some() {
                not_computed.insert(format!("thresholds.{i}.interval"), reason.to_owned());
            }
        }
    }
}

fn metric(result: &ThresholdResult) -> Option<Metric> {
    Metric::ALL.iter().find(|(name, _)| *name == result.metric).map(|(_, metric)| *metric)
}

fn hangs(result: &ThresholdResult) -> bool {
    let count = result.aggregate == Aggregate::Count.to_string();
    let aggregate = if count { Aggregate::Count } else { Aggregate::Mean };
    metric(result).is_some_and(|metric| hangs_on_length(metric, aggregate))
}

fn is_mean_time(result: &ThresholdResult) -> bool {
    result.aggregate == Aggregate::Mean.to_string() && is_time(result)
}

/// Whether it is of response times or their like.
pub(crate) fn is_time(result: &ThresholdResult) -> bool {
    let times = [Metric::Response, Metric::ResponseOk, Metric::Service, Metric::FirstByte];
    metric(result).is_some_and(|m| times.contains(&m))
}

/// The quantile that an aggregate names in the document; none of others.
pub(crate) fn percentile(aggregate: &str) -> Option<f64> {
    let p: f64 = aggregate.strip_prefix("p(")?.strip_suffix(')')?.parse().ok()?;
    Some(p / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{Simulation, Steady};
    use crate::thresholds::of_summary;
    use ThresholdOutcome::{Crossed, NotJudged, Passed};

    /// A document of a simulation whose intervals were taken back for that reason.
    fn judged(source: Source, reason: Option<&str>) -> Vec<ThresholdResult> {
        let mut summary = Summary { source, ..Summary::default() };
        let steady = Steady { why_not: Some("it drifts".into()), ..Steady::default() };
        summary.simulation = Some(Simulation { steady, ..Simulation::default() });
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
    fn sizes_are_not_judged() {
        let mut summary = Summary { source: Source::Sim, ..Summary::default() };
        summary.bytes = Spread { n: 9, mean: Some(0.0), max: Some(0.0), ..Spread::default() };
        summary.not_computed.insert("thresholds.0.interval".into(), "too few".into());
        let of = |text: &str| of_summary(&text.parse().unwrap(), &summary).unwrap();
        summary.thresholds = vec![of("bytes: avg<1KiB"), of("count>=0")];
        assert_eq!(summary.thresholds[0].outcome, Passed);
        summary.take_back_sizes();
        let [of_sizes, other] = &summary.thresholds[..] else { unreachable!() };
        assert_eq!((of_sizes.outcome, of_sizes.value, of_sizes.n), (NotJudged, None, 0));
        assert!(of_sizes.reason.as_ref().is_some_and(|reason| reason.contains("nothing has a size")));
        assert_eq!((other.outcome, summary.bytes.n), (Passed, 0));
        assert_eq!(summary.not_computed.keys().collect::<Vec<_>>(), ["bytes"]);
    }

    #[test]
    fn only_what_a_longer_run_would_tell_otherwise_is_not_judged() {
        let outcomes =
            |source, reason| judged(source, reason).iter().map(|result| result.outcome).collect::<Vec<_>>();
        let plain = [Passed, Crossed, Passed, Passed, Passed, Passed];
        assert_eq!(outcomes(Source::Sim, None), plain);
        assert_eq!(outcomes(Source::Live, Some(NOT_FOUND)), plain);
        assert_eq!(outcomes(Source::Sim, Some("too few segments")), plain);
        let own = [NotJudged, NotJudged, NotJudged, Passed, Passed, Passed];
        assert_eq!(outcomes(Source::Sim, Some(NOT_FOUND)), own);
        assert_eq!(outcomes(Source::Sim, Some(OVERLOADED)), own);
        for reason in [ENDLESS, BOUNDLESS] {
            let of_mean = outcomes(Source::Sim, Some(reason));
            assert_eq!(of_mean, [Passed, NotJudged, Passed, Passed, Passed, Passed], "{reason}");
        }
        let p99 = &judged(Source::Sim, Some(NOT_FOUND))[0];
        assert_eq!((p99.value, p99.interval, p99.decided), (Some(1.0), None, None));
        assert_eq!(p99.reason.as_deref(), Some("no steady state was found: it drifts"));
    }
}
