//! Intervals that would claim what is not so: taken back, with the reason in their place.
//!
//! Deliberately absent: when that is; findings know.

use super::{
    Interval, Intervals, NotComputed, Open, PERCENTILES, Spread, Summary, ThresholdOutcome, Why,
    percentile_key,
};
use crate::metric::{Aggregate, threshold_interval};
use crate::steady::Length;

impl Summary {
    /// Takes back the 95 % intervals of times that a single simulated run cannot have: those for which a run of that length is too
    /// short, where those of means need `trusted` (both in seconds, if that is known), and those of means where services are
    /// too skewed.
    pub(crate) fn withhold_of_single_run(&mut self, length: Option<(f64, f64)>, skewed: bool) {
        let why = |quantile: Option<f64>| {
            if skewed && quantile.is_none() {
                return Some(Why::TooSkewed);
            }
            let (length, trusted) = length?;
            let needs = trusted * quantile.map_or(1.0, Length::longer_for);
            (length < needs).then_some(Why::ShortRun { length_s: length, needed_s: needs })
        };
        self.withhold(why);
        let Summary { not_computed, thresholds, .. } = self;
        for (i, result) in thresholds.iter_mut().enumerate() {
            let Some(of) = result.number().filter(|of| of.metric.is_time()) else { continue };
            if let Some(reason) = why(of.aggregate.quantile()) {
                take(&mut result.interval, &threshold_interval(i), &reason, not_computed);
                // What was passed or crossed by its value stays so; how sure that is, is not known.
                let judged = matches!(result.outcome, ThresholdOutcome::Passed | ThresholdOutcome::Crossed);
                (result.decided, result.at_least, result.at_most) = (None, None, None);
                let known = of.aggregate.is_extreme() || of.aggregate == Aggregate::Count;
                let ended = result.ended_run_at.is_some() || (result.lower_bound && result.open.is_none());
                // Without a steady state no length of the run would do.
                let unsteady = result.reason.as_ref().is_some_and(|own| own.why.is_against_a_steady_state());
                if judged && !known && !ended && !unsteady {
                    (result.open, result.reason) = (Some(Open::Data), Some(reason.into()));
                }
            }
        }
    }

    /// Takes the 95 % intervals of times back (all, or those of means alone) and says why in `not_computed`.
    pub(crate) fn withhold_intervals(&mut self, reason: &Why, of_means_alone: bool) {
        self.withhold(|quantile| (quantile.is_none() || !of_means_alone).then(|| reason.clone()));
    }

    /// Gives this reason for every interval of a metric or a threshold that is missing.
    pub(crate) fn explain_missing_intervals(&mut self, reason: &Why) {
        let names = || ["mean".to_owned()].into_iter().chain(PERCENTILES.map(percentile_key));
        let mut paths: Vec<String> = (0..self.thresholds.len()).map(threshold_interval).collect();
        self.each_spread(|_, path, spread, _| {
            let asked = spread.percentiles.iter().map(|of| percentile_key(of.percent));
            paths.extend(names().chain(asked).map(|of| format!("{path}.ci95.{of}")));
        });
        paths.extend(names().map(|of| format!("sessions.duration.ci95.{of}")));
        for path in paths {
            if let Some(stated) = self.not_computed.get_mut(&path) {
                *stated = reason.clone().into();
            }
        }
    }

    /// Takes back each interval against which `why` has a reason: that of a quantile, or of a mean.
    fn withhold(&mut self, why: impl Fn(Option<f64>) -> Option<Why>) {
        self.each_spread(|metric, path, spread, missing| {
            if metric.is_time() {
                withhold_of(spread, path, &why, missing);
            }
        });
        // A single label's are those of all, and it says nothing of what it lacks.
        for label in self.by_label.values_mut() {
            withhold_of(&mut label.response, "", &why, &mut NotComputed::new());
        }
        let Summary { not_computed, simulation, .. } = self;
        if let Some((simulation, reason)) = simulation.as_mut().zip(why(None)) {
            take(&mut simulation.steady.ci95, "simulation.steady.ci95", &reason, not_computed);
        }
    }
}

/// Takes back the intervals of one block.
fn withhold_of(
    spread: &mut Spread,
    path: &str,
    why: &impl Fn(Option<f64>) -> Option<Why>,
    missing: &mut NotComputed,
) {
    let Intervals { mean, p50, p90, p95, p99, p999 } = &mut spread.ci95;
    let all = [
        ("mean", mean, None),
        ("p50", p50, Some(0.5)),
        ("p90", p90, Some(0.9)),
        ("p95", p95, Some(0.95)),
        ("p99", p99, Some(0.99)),
        ("p999", p999, Some(0.999)),
    ];
    for (name, interval, quantile) in all {
        if let Some(reason) = why(quantile) {
            take(interval, &format!("{path}.ci95.{name}"), &reason, missing);
            spread.stepped.remove(name);
        }
    }
    for percentile in &mut spread.percentiles {
        if let Some(reason) = why(Some(percentile.percent / 100.0)) {
            let key = percentile_key(percentile.percent);
            take(&mut percentile.ci95, &format!("{path}.ci95.{key}"), &reason, missing);
            spread.stepped.remove(&key);
        }
    }
}

fn take(interval: &mut Option<Interval>, path: &str, reason: &Why, not_computed: &mut NotComputed) {
    // An end beyond what was seen, and too few that are independent, follow from what keeps all intervals back.
    let open = not_computed.get(path).is_some_and(|stated| {
        matches!(stated.why, Why::EndBeyondLargest { .. } | Why::FewIndependent { .. })
    });
    if interval.take().is_some() || open {
        not_computed.insert(path.into(), reason.clone().into());
    }
}
