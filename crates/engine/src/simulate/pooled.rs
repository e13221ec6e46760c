//! Percentiles of a point: of the requests of all its replications together, with intervals by how these differ; of a single one by
//! how its parts do.

use super::course::Trimmed;
use super::replication::Number;
use super::times::CensoredHistogram;
use headway_stats::steady::{ByRuns, MOST_SAMPLED, Shares, pooled};

/// Most exact values that are kept of a point, whatever the number of its replications.
const MOST_EXACT: usize = 1 << 22;
/// And so many of each replication are.
const LEAST_EXACT: usize = 256;

/// The response times of all replications.
#[derive(Clone, Debug, Default)]
pub struct PooledSample {
    times: CensoredHistogram,
    /// By number; none where a replication had none, or has not come. Of a single replication, its parts.
    runs: Vec<Option<Run>>,
}

/// Those of one replication, or of a part of a single one, counted up.
#[derive(Clone, Debug)]
pub struct Run {
    all: Shares,
    /// Of the requests that ended well, where some did not.
    well: Option<Shares>,
}

impl Run {
    /// What is left of one of so many replications.
    pub fn of(after: &Trimmed, replications: u64) -> Run {
        let most = (MOST_EXACT as u64 / replications.max(1)) as usize;
        let most = most.clamp(LEAST_EXACT, MOST_SAMPLED);
        let failed = after.all.well().n() < after.all.n();
        Run { all: after.shares(false, most), well: failed.then(|| after.shares(true, most)) }
    }

    /// The parts of a single one; none where there are too few for an interval.
    fn parts(after: &Trimmed) -> Vec<Run> {
        let failed = after.all.well().n() < after.all.n();
        let well = after.segments(true).filter(|_| failed).map(Some).chain(std::iter::repeat(None));
        after.segments(false).zip(well).map(|(all, well)| Run { all, well }).collect()
    }

    fn shares(&self, of_well: bool) -> &Shares {
        self.well.as_ref().filter(|_| of_well).unwrap_or(&self.all)
    }

    /// Its own percentile of that share, in seconds; none of nothing.
    pub fn percentile(&self, p: f64, of_well: bool) -> Option<f64> {
        Some(self.shares(of_well).quantile(p)? as f64 / 1e9)
    }
}

/// A percentile of all of them; in seconds.
#[derive(Clone, PartialEq, Debug)]
pub struct Percentile {
    /// The smallest x with F(x) >= p.
    pub value: f64,
    /// Whether it is only known to be at least this.
    pub lower_bound: bool,
    /// Its 95 % interval by the replications, and what each of them makes of it ([`pooled`]); none where too few requests lie
    /// beyond, or its upper end does beyond all that was seen.
    pub by_runs: Option<ByRuns>,
    /// The lower end of that interval, which is known of a lower bound too.
    pub at_least: Option<f64>,
}

impl Percentile {
    /// What each replication makes of it, to be compared with what it makes of another point; none where that cannot be told.
    /// A lower bound has what each was by itself.
    pub fn as_numbers(&self, own: &[Number]) -> Vec<Number> {
        if self.lower_bound {
            return own.iter().map(|number| Number { lower_bound: true, ..*number }).collect();
        }
        let number = |&value: &f64| Number { value, interval: None, lower_bound: false };
        self.by_runs.iter().flat_map(|of| of.runs.iter().map(number)).collect()
    }
}

impl PooledSample {
    /// Takes what is left of replication number `r` of so many.
    pub fn take(&mut self, r: u64, replications: u64, after: &Trimmed, run: Run) {
        self.times.merge(&after.all);
        if replications == 1 {
            self.runs = Run::parts(after).into_iter().map(Some).collect();
        }
        if self.runs.is_empty() || replications > 1 {
            let r = r as usize;
            if self.runs.len() <= r {
                self.runs.resize(r + 1, None);
            }
            self.runs[r] = Some(run);
        }
    }

    /// All of them.
    pub fn times(&self) -> &CensoredHistogram {
        &self.times
    }

    /// The percentile of that share, of the requests that ended well alone if `of_well` is set; none of nothing.
    pub fn percentile(&self, p: f64, of_well: bool) -> Option<Percentile> {
        let runs: Vec<&Shares> = self.runs.iter().flatten().map(|run| run.shares(of_well)).collect();
        let percentile = pooled(&runs, p)?;
        let lower_bound = !of_well && self.times.quantiles([p])[0]?.1;
        let by_runs = percentile.by_runs.map(|of| ByRuns {
            interval: of.interval.map(|ns| ns / 1e9),
            runs: of.runs.into_iter().map(|ns| ns / 1e9).collect(),
            ..of
        });
        let at_least = by_runs.as_ref().map(|of| of.interval[0]);
        let by_runs = by_runs.filter(|of| {
            !lower_bound && (of_well || self.times.censored() == 0 || self.is_known_to(of.interval[1]))
        });
        Some(Percentile { value: percentile.value / 1e9, lower_bound, by_runs, at_least })
    }

    /// Whether times up to that many seconds are told apart from those of requests that were given up.
    fn is_known_to(&self, seconds: f64) -> bool {
        let beyond = self.times.all().beyond((seconds * 1e9) as u64) as f64;
        let share = 1.0 - beyond / self.times.n() as f64;
        self.times.quantiles([share])[0].is_some_and(|(_, lower_bound)| !lower_bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::course::OutputSeries;
    use crate::simulate::order::{Ended, How};
    use headway_base::Nanos;

    /// Ten replications of 100 requests of 1 to 100 ms; in one of them the last two were given up.
    #[test]
    fn percentiles_are_those_of_all_requests() {
        let mut together = PooledSample::default();
        for r in 0..10 {
            let mut course = OutputSeries::default();
            let how = |ms: u64| if r == 3 && ms > 98 { How::Censored } else { How::Well };
            (1..=100).for_each(|ms| {
                let (due, response) = (Nanos(ms as i64), Nanos(((ms + r) * 1_000_000 + r * 90_000) as i64));
                course.push(Ended { due, arrived: due, response, how: how(ms), connected: true });
            });
            let after = course.after(0, false);
            together.take(r, 10, &after, Run::of(&after, 10));
        }
        let median = together.percentile(0.5, false).unwrap();
        let ByRuns { interval: [low, high], runs, .. } = median.by_runs.clone().unwrap();
        assert!((median.value - 0.055).abs() < 0.001 && low < median.value && median.value < high);
        assert!((runs.iter().sum::<f64>() / 10.0 - median.value).abs() < 1e-9 && runs[0] < runs[9]);
        let of_well = together.percentile(0.5, true).unwrap();
        assert!(of_well.value <= median.value && !of_well.lower_bound && of_well.by_runs.is_some());
        let far = together.percentile(0.999, false).unwrap();
        assert!(far.by_runs.is_none(), "one request lies beyond");
        assert_eq!(PooledSample::default().percentile(0.5, false), None);
        assert_eq!(together.times().n(), 1_000);
    }
}
