//! Both ends of each number of the response time: as measured, and without what the generator's own delays may have added.
//!
//! Deliberately absent: how that is found for each request (`delays`).

use crate::cells::{Cells, Segment};
use crate::moments::Sums;
use crate::setup::{Setup, Workload};
use crate::summary::{GeneratorShare, Interval, Spread, Why};
use crate::thresholds::Aggregate;

/// Largest share of requests of which it may not be known how long their answers lay unread.
const UNKNOWN: f64 = 0.01;

/// The response times that requests would have had at least, laid out for quantiles.
pub(crate) struct Least {
    cells: Cells,
    sums: Sums,
    min: u64,
    max: u64,
}

impl Least {
    pub fn new(kept: Vec<&Segment>) -> Option<Least> {
        let min = kept.iter().map(|s| s.min).min()?;
        let max = kept.iter().map(|s| s.max).max()?;
        let mut sums = Sums::default();
        kept.iter().for_each(|s| sums.merge(&s.sums));
        Some(Least { cells: Cells::of_segments(kept), sums, min, max })
    }

    /// How many.
    pub fn n(&self) -> u64 {
        self.sums.n
    }

    /// The lower end of a number whose upper end is `value`, in nanoseconds like it.
    pub fn end(&self, aggregate: Aggregate, value: f64) -> Option<f64> {
        let low = match aggregate {
            Aggregate::Percentile(p) => self.cells.quantile(p / 100.0)?.clamp(self.min, self.max) as f64,
            Aggregate::Mean => self.sums.mean()?,
            Aggregate::Min => self.min as f64,
            Aggregate::Max => self.max as f64,
            Aggregate::Rate | Aggregate::Count => return None,
        };
        Some(low.min(value))
    }
}

/// Why no such ends are given of a run; none if they are.
pub(crate) fn why_not(setup: &Setup, n: u64, unknown: u64) -> Option<Why> {
    match () {
        () if setup.workload != Workload::Open => Some(Why::DueFollows),
        () if setup.sharded => Some(Why::OtherShards),
        () if unknown as f64 > UNKNOWN * n as f64 => Some(Why::UnreadUnknown),
        () => None,
    }
}

/// Both ends of each number of a block whose values are given in units of `unit` nanoseconds.
pub(crate) fn shares(spread: &Spread, least: &Least, unit: f64) -> GeneratorShare {
    let both = |aggregate, value: Option<f64>| -> Option<Interval> {
        let high = value?;
        Some([least.end(aggregate, high * unit)? / unit, high])
    };
    let percentile = |p: f64, value| both(Aggregate::Percentile(p), value);
    GeneratorShare {
        n: least.sums.n,
        mean: both(Aggregate::Mean, spread.mean),
        p50: percentile(50.0, spread.p50),
        p90: percentile(90.0, spread.p90),
        p95: percentile(95.0, spread.p95),
        p99: percentile(99.0, spread.p99),
        p999: percentile(99.9, spread.p999),
        max: both(Aggregate::Max, spread.max),
    }
}
