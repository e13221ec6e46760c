//! Percentiles over the replications of a point: of the requests of all of them together.

use super::replication::Number;
use super::times::Times;
use stats::steady::{Shares, pooled};
use stats::summary::Interval;

/// The response times of all replications.
#[derive(Clone, Debug, Default)]
pub struct Together {
    times: Times,
    /// By number; none where a replication had none, or has not come.
    runs: Vec<Option<Run>>,
}

/// Those of one replication, counted up.
#[derive(Clone, Debug)]
struct Run {
    all: Shares,
    /// Of the requests that ended well, where some did not.
    well: Option<Shares>,
}

impl Run {
    fn shares(&self, of_well: bool) -> &Shares {
        self.well.as_ref().filter(|_| of_well).unwrap_or(&self.all)
    }
}

/// A percentile of all of them.
#[derive(Clone, PartialEq, Debug)]
pub struct Percentile {
    /// In seconds.
    pub value: f64,
    /// Whether it is only known to be at least this.
    pub lower_bound: bool,
    /// Its 95 % interval by the replications, and what each of them makes of it ([`pooled`]); none where too few requests lie
    /// beyond, or its upper end does beyond all that was seen.
    pub by_runs: Option<(Interval, Vec<f64>)>,
}

impl Percentile {
    /// What each replication makes of it, to be compared with what it makes of another point; none where that cannot be told.
    /// A lower bound has what each was by itself.
    pub fn as_numbers(&self, own: &[Number]) -> Vec<Number> {
        if self.lower_bound {
            return own.iter().map(|number| Number { lower_bound: true, ..*number }).collect();
        }
        let number = |&value: &f64| Number { value, interval: None, lower_bound: false };
        self.by_runs.iter().flat_map(|(_, runs)| runs.iter().map(number)).collect()
    }
}

impl Together {
    /// Takes those of replication number `r`.
    pub fn take(&mut self, r: u64, times: &Times) {
        let r = r as usize;
        if self.runs.len() <= r {
            self.runs.resize(r + 1, None);
        }
        let well = (times.well().n() < times.n()).then(|| Shares::of(times.well()));
        self.runs[r] = Some(Run { all: Shares::of(&times.all()), well });
        self.times.merge(times);
    }

    /// All of them.
    pub fn times(&self) -> &Times {
        &self.times
    }

    /// The percentile of that share, of the requests that ended well alone if `of_well` is set; none of nothing.
    pub fn percentile(&self, p: f64, of_well: bool) -> Option<Percentile> {
        let runs: Vec<&Shares> = self.runs.iter().flatten().map(|run| run.shares(of_well)).collect();
        let told = pooled(&runs, p)?;
        let (value, lower_bound) =
            if of_well { (told.value / 1e9, false) } else { self.times.quantiles([p])[0]? };
        let scaled = |([low, high], runs): (Interval, Vec<f64>)| {
            ([low / 1e9, high / 1e9], runs.into_iter().map(|run| run / 1e9).collect())
        };
        let by_runs = told.by_runs.map(scaled).filter(|([_, high], _)| {
            !lower_bound && (of_well || self.times.censored() == 0 || self.is_known_to(*high))
        });
        Some(Percentile { value, lower_bound, by_runs })
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
    use crate::simulate::order::How;

    /// Ten replications of 100 requests of 1 to 100 ms; in one of them the last two were given up.
    #[test]
    fn percentiles_are_those_of_all_requests() {
        let mut together = Together::default();
        for r in 0..10 {
            let mut times = Times::default();
            let how = |ms: u64| if r == 3 && ms > 98 { How::Censored } else { How::Well };
            (1..=100).for_each(|ms| times.push((ms + r) * 1_000_000, how(ms)));
            together.take(r, &times);
        }
        let median = together.percentile(0.5, false).unwrap();
        let ([low, high], runs) = median.by_runs.clone().unwrap();
        assert!((median.value / 0.055 - 1.0).abs() < 0.01 && low < median.value && median.value < high);
        assert!((runs.iter().sum::<f64>() / 10.0 - median.value).abs() < 1e-9 && runs[0] < runs[9]);
        let of_well = together.percentile(0.5, true).unwrap();
        assert!(of_well.value <= median.value && !of_well.lower_bound && of_well.by_runs.is_some());
        let far = together.percentile(0.999, false).unwrap();
        assert!(far.by_runs.is_none(), "one request lies beyond");
        assert_eq!(Together::default().percentile(0.5, false), None);
        assert_eq!(together.times().n(), 1_000);
    }
}
