//! What is kept of a metric that is taken from each row: its values by segment of the run, those that were given up apart.

use super::{Metric, Observation, Taken};
use crate::responses::{Sample, Strata};
use headway_base::Record;

/// The values of one metric.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    metric: Metric,
    take: fn(&Record) -> Observation,
    seen: Strata,
    censored: Strata,
}

impl Kept {
    /// Nothing yet; none of a metric that is taken otherwise.
    pub fn new(metric: Metric) -> Option<Kept> {
        let Taken::Row(take) = metric.taken else { return None };
        Some(Kept { metric, take, seen: Strata::default(), censored: Strata::default() })
    }

    /// All metrics that are taken from each row.
    pub fn all() -> Vec<Kept> {
        Metric::all().filter_map(Kept::new).collect()
    }

    /// Its metric.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    #[inline]
    pub fn push(&mut self, record: &Record, segment: usize) {
        match (self.take)(record) {
            Observation::Nothing => {}
            Observation::Seen(x) => self.seen.push(segment, x, record.count),
            Observation::Censored(x) => self.censored.push(segment, x, record.count),
        }
    }

    /// Count and mean of what was observed within a segment.
    pub fn mean(&self, segment: usize) -> Option<(u64, f64)> {
        self.seen.mean(segment)
    }

    /// Laid out for quantiles, with so many complete segments.
    pub fn sample(&self, filled: usize) -> Sample {
        Sample::new(&[&self.seen], &[&self.censored], filled)
    }
}
