//! Percentiles of a distribution: those that each has, and those that were asked for.

use super::{Interval, NotComputed, Spread, Summary};
use crate::metric::Aggregate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Percentiles that every distribution has.
pub const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// A percentile that was asked for.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Percentile {
    /// Which: 99.99.
    pub percent: f64,
    /// Its value.
    pub value: Option<f64>,
    /// Its 95 % interval.
    pub ci95: Option<Interval>,
}

/// The name of a percentile in the document: `p50`, `p999` for 99.9, `p99.99`.
pub fn percentile_key(percent: f64) -> String {
    if percent == 99.9 { "p999".to_owned() } else { format!("p{percent}") }
}

impl Spread {
    /// That percentile with its interval; none where it was not estimated.
    pub fn percentile(&self, percent: f64) -> Option<Percentile> {
        let ci = &self.ci95;
        let (value, ci95) = match percent {
            50.0 => (self.p50, ci.p50),
            90.0 => (self.p90, ci.p90),
            95.0 => (self.p95, ci.p95),
            99.0 => (self.p99, ci.p99),
            99.9 => (self.p999, ci.p999),
            _ => return self.percentiles.iter().find(|of| of.percent == percent).copied(),
        };
        Some(Percentile { percent, value, ci95 })
    }

    /// One of its numbers with its interval; none where it was not estimated.
    pub fn number(&self, of: Aggregate) -> Option<(Option<f64>, Option<Interval>)> {
        Some(match of {
            Aggregate::Percentile(percent) => {
                let Percentile { value, ci95, .. } = self.percentile(percent)?;
                (value, ci95)
            }
            Aggregate::Mean => (self.mean, self.ci95.mean),
            Aggregate::Min => (self.min, None),
            Aggregate::Max => (self.max, None),
            Aggregate::Count => (Some(self.n as f64), None),
            Aggregate::Rate => return None,
        })
    }
}

impl Summary {
    /// Takes the percentiles that were asked for from another summary of the same records. An interval is not taken where this
    /// summary has taken one back.
    pub fn take_percentiles(&mut self, from: Summary) {
        let mut from = from;
        let mut blocks = BTreeMap::new();
        from.each_spread(|_, path, spread, _| {
            blocks.insert(path.to_owned(), std::mem::take(spread));
        });
        self.each_spread(|_, path, to, missing| {
            if let Some(with) = blocks.remove(path) {
                take(path, to, with, missing, &from.not_computed);
            }
        });
    }
}

fn take(block: &str, to: &mut Spread, from: Spread, missing: &mut NotComputed, of: &NotComputed) {
    let path = |percent| format!("{block}.ci95.{}", percentile_key(percent));
    let taken_back = PERCENTILES.into_iter().find_map(|percent| {
        let interval = |spread: &Spread| spread.percentile(percent)?.ci95;
        let taken = interval(to).is_none() && interval(&from).is_some();
        missing.get(&path(percent)).filter(|_| taken).cloned()
    });
    to.percentiles = from.percentiles;
    for percentile in &mut to.percentiles {
        let key = percentile_key(percentile.percent);
        for (to, from) in [(&mut to.lower_bound, &from.lower_bound), (&mut to.stepped, &from.stepped)] {
            to.extend(from.get(&key).map(|is| (key.clone(), *is)));
        }
        let mut why = of.get(&path(percentile.percent)).cloned();
        if let Some(reason) = taken_back.as_ref().filter(|_| percentile.ci95.take().is_some()) {
            to.stepped.remove(&key);
            why = Some(reason.clone());
        }
        missing.extend(why.map(|why| (path(percentile.percent), why)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{Intervals, Stated};

    #[test]
    fn names_of_percentiles() {
        assert_eq!([50.0, 99.9, 99.99, 12.5].map(percentile_key), ["p50", "p999", "p99.99", "p12.5"]);
    }

    fn with(p99: Option<Interval>, asked: Vec<Percentile>) -> Summary {
        let ci95 = Intervals { p99, ..Intervals::default() };
        Summary {
            response: Spread { n: 9, p99: Some(2.0), ci95, percentiles: asked, ..Spread::default() },
            ..Summary::default()
        }
    }

    #[test]
    fn percentiles_of_another_summary_come_without_intervals_that_were_taken_back() {
        let p75 = Percentile { percent: 75.0, value: Some(1.0), ci95: Some([0.5, 1.5]) };
        let mut fresh = with(Some([1.5, 2.5]), vec![p75]);
        fresh.response.lower_bound.insert("p75".into(), true);
        let mut same = with(Some([1.5, 2.5]), Vec::new());
        same.take_percentiles(fresh.clone());
        assert_eq!(same, fresh);
        assert_eq!(same.response.percentile(75.0), Some(p75));
        assert_eq!(same.response.percentile(99.0).and_then(|of| of.ci95), Some([1.5, 2.5]));
        assert_eq!(same.response.percentile(98.0), None);
        let mut unsteady = with(None, Vec::new());
        unsteady.not_computed.insert("response.ci95.p99".into(), Stated::other("no steady state"));
        unsteady.take_percentiles(fresh);
        assert_eq!(unsteady.response.percentiles, [Percentile { ci95: None, ..p75 }]);
        assert_eq!(unsteady.not_computed["response.ci95.p75"], Stated::other("no steady state"));
    }
}
