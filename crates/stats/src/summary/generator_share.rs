//! How much of each response time the generator itself may have added.

use super::Interval;
use serde::{Deserialize, Serialize};

/// Both ends of each number of a block of response times, in its unit. The lower end is the number without the delays that the
/// generator may have added (its lag, and how long answers lay unread); the upper end is the number as measured. Of a
/// target that serves in order the number of a load without these delays lies between the two.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GeneratorShare {
    /// Number of observations.
    pub n: u64,
    /// Of the mean.
    pub mean: Option<Interval>,
    /// Of the median.
    pub p50: Option<Interval>,
    /// Of the 90th percentile.
    pub p90: Option<Interval>,
    /// Of the 95th percentile.
    pub p95: Option<Interval>,
    /// Of the 99th percentile.
    pub p99: Option<Interval>,
    /// Of the 99.9th percentile.
    pub p999: Option<Interval>,
    /// Of the largest.
    pub max: Option<Interval>,
}

impl GeneratorShare {
    /// Each number by its name in the document.
    pub fn all(&self) -> [(&'static str, Option<Interval>); 7] {
        let GeneratorShare { n: _, mean, p50, p90, p95, p99, p999, max } = *self;
        [("mean", mean), ("p50", p50), ("p90", p90), ("p95", p95), ("p99", p99), ("p999", p999), ("max", max)]
    }

    /// The numbers whose ends differ by more than 5 % of the lower end.
    pub fn marked(&self) -> impl Iterator<Item = (&'static str, Interval)> {
        let ends = self.all().into_iter().filter_map(|(name, ends)| Some((name, ends?)));
        ends.filter(|&(_, [low, high])| high > 1.05 * low)
    }
}
