//! Intervals that would claim what is not so: taken back, with the reason in their place.
//!
//! Deliberately absent: when that is; findings know.

use super::{Interval, Intervals, Summary};
use std::collections::BTreeMap;

impl Summary {
    /// Takes the 95 % intervals of times back (all, or those of means alone) and says why in `not_computed`.
    pub(crate) fn withhold_intervals(&mut self, reason: &str, of_means_alone: bool) {
        let Summary { not_computed, simulation, by_label, .. } = self;
        let blocks = [
            ("response", Some(&mut self.response)),
            ("response_ok", Some(&mut self.response_ok)),
            ("response_open", self.response_open.as_mut()),
            ("response_session", self.response_session.as_mut()),
            ("service", Some(&mut self.service)),
            ("first_byte", Some(&mut self.first_byte)),
        ];
        for (block, spread) in blocks {
            let Some(spread) = spread else { continue };
            withhold(&mut spread.ci95, block, reason, of_means_alone, not_computed);
            if !of_means_alone {
                spread.stepped.clear();
            }
        }
        // A single label's are those of all.
        for label in by_label.values_mut() {
            let before = label.response.ci95;
            label.response.ci95 =
                if of_means_alone { Intervals { mean: None, ..before } } else { Intervals::default() };
        }
        if let Some(simulation) = simulation {
            take(&mut simulation.steady.ci95, "simulation.steady.ci95", reason, not_computed);
        }
    }
}

fn withhold(
    of: &mut Intervals,
    block: &str,
    reason: &str,
    of_means_alone: bool,
    not_computed: &mut BTreeMap<String, String>,
) {
    let Intervals { mean, p50, p90, p95, p99, p999 } = of;
    let all = [("mean", mean), ("p50", p50), ("p90", p90), ("p95", p95), ("p99", p99), ("p999", p999)];
    for (name, interval) in all.into_iter().take(if of_means_alone { 1 } else { 6 }) {
        take(interval, &format!("{block}.ci95.{name}"), reason, not_computed);
    }
}

fn take(
    interval: &mut Option<Interval>,
    path: &str,
    reason: &str,
    not_computed: &mut BTreeMap<String, String>,
) {
    if interval.take().is_some() {
        not_computed.insert(path.into(), reason.into());
    }
}
