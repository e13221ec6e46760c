//! Response times of some requests, counted by how they ended.
//!
//! A time without an answer is censored: a quantile is told as if these were the times themselves, and is a lower bound
//! where it would be more than 1 % larger, or unknown, were they as long as can be. Mean and greatest time are lower bounds
//! too: the mean where more than 1 % are censored, the greatest where a censored one is.

use super::order::How;
use headway_stats::steady::Histogram;
use headway_stats::summary::mean_is_lower_bound;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A quantile is exact if censored times, as long as can be, would move it by no more than this share.
const MOVED: f64 = 1.01;

/// Times in nanoseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CensoredHistogram {
    well: Histogram,
    answered: Option<Histogram>,
    censored: Option<Histogram>,
}

impl CensoredHistogram {
    /// One more.
    #[inline]
    pub fn push(&mut self, ns: u64, how: How) {
        match how {
            How::Well => self.well.push(ns),
            How::Answered => self.answered.get_or_insert_default().push(ns),
            How::Censored => self.censored.get_or_insert_default().push(ns),
        }
    }

    /// Adds those of another.
    pub fn merge(&mut self, other: &CensoredHistogram) {
        self.well.merge(&other.well);
        for (mine, theirs) in [(&mut self.answered, &other.answered), (&mut self.censored, &other.censored)] {
            if let Some(theirs) = theirs {
                mine.get_or_insert_default().merge(theirs);
            }
        }
    }

    /// Of the requests that ended well alone.
    pub fn well(&self) -> &Histogram {
        &self.well
    }

    /// Requests.
    pub fn n(&self) -> u64 {
        self.well.n() + self.answered.as_ref().map_or(0, Histogram::n) + self.censored()
    }

    /// Of these, the ones without an answer.
    pub fn censored(&self) -> u64 {
        self.censored.as_ref().map_or(0, Histogram::n)
    }

    /// Whether so many are without an answer that the mean is only a lower bound.
    pub fn mean_is_lower_bound(&self) -> bool {
        mean_is_lower_bound(self.censored(), self.n())
    }

    /// The greatest, in seconds, and whether it is a lower bound; none of nothing.
    pub fn max(&self) -> Option<(f64, bool)> {
        let censored = self.censored.as_ref().and_then(Histogram::max);
        let observed = self.answered.as_ref().and_then(Histogram::max).max(self.well.max());
        Some((observed.max(censored)? as f64 / 1e9, censored.is_some() && censored >= observed))
    }

    /// The smallest, in seconds, and whether it is a lower bound; none of nothing.
    pub fn min(&self) -> Option<(f64, bool)> {
        let censored = self.censored.as_ref().and_then(Histogram::min);
        let answered = self.answered.as_ref().and_then(Histogram::min);
        let observed = self.well.min().into_iter().chain(answered).min();
        let least = observed.into_iter().chain(censored).min()?;
        Some((least as f64 / 1e9, observed != Some(least)))
    }

    /// Quantiles in seconds, each with whether it is a lower bound; none of nothing.
    pub fn quantiles<const N: usize>(&self, shares: [f64; N]) -> [Option<(f64, bool)>; N] {
        self.quantiles_of(&shares).try_into().unwrap_or([None; N])
    }

    /// Those with an answer.
    fn observed(&self) -> Cow<'_, Histogram> {
        with(Cow::Borrowed(&self.well), self.answered.as_ref())
    }

    /// All of them, those without an answer as long as they were waited for.
    pub fn all(&self) -> Cow<'_, Histogram> {
        with(self.observed(), self.censored.as_ref())
    }

    /// See [`CensoredHistogram::quantiles`].
    pub fn quantiles_of(&self, shares: &[f64]) -> Vec<Option<(f64, bool)>> {
        let (observed, all) = (self.observed(), self.all());
        let is_lower_bound = |p: f64, low: f64| {
            // Of all, this share was answered by then.
            let p_observed = p * all.n() as f64 / observed.n().max(1) as f64;
            let high = (p_observed <= 1.0).then(|| observed.quantile(p_observed)).flatten();
            high.is_none_or(|high| high as f64 > low * MOVED)
        };
        let quantile = |&p: &f64| {
            let low = all.quantile(p)? as f64;
            Some((low / 1e9, self.censored() > 0 && is_lower_bound(p, low)))
        };
        shares.iter().map(quantile).collect()
    }
}

fn with<'a>(some: Cow<'a, Histogram>, others: Option<&Histogram>) -> Cow<'a, Histogram> {
    let Some(others) = others else { return some };
    let mut both = some.into_owned();
    both.merge(others);
    Cow::Owned(both)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 90 times of 1 to 90 us with an answer, 10 given up after 30 s.
    #[test]
    fn a_quantile_among_censored_times_is_a_lower_bound() {
        let mut times = CensoredHistogram::default();
        (1..=90).for_each(|us| times.push(us * 1_000, if us % 2 == 0 { How::Well } else { How::Answered }));
        (0..10).for_each(|_| times.push(30_000_000_000, How::Censored));
        let [p50, p90, p99] = times.quantiles([0.5, 0.9, 0.99]).map(Option::unwrap);
        assert!((p50.0 / 50e-6 - 1.0).abs() < 0.005 && !p50.1, "{p50:?}");
        assert!((p90.0 / 90e-6 - 1.0).abs() < 0.005 && !p90.1, "{p90:?}");
        assert!((p99.0 / 30.0 - 1.0).abs() < 0.005 && p99.1, "{p99:?}");
        assert_eq!(times.max(), Some((30.0, true)));
        assert_eq!(times.min(), Some((1e-6, false)));
        assert_eq!((times.n(), times.censored(), times.well().n()), (100, 10, 45));
        // Given up early, they might have come late: the median could be anything from 45 to 55.
        let mut early = CensoredHistogram::default();
        (1..=90).for_each(|us| early.push(us * 1_000, How::Well));
        (0..10).for_each(|_| early.push(1, How::Censored));
        assert!(early.quantiles([0.5])[0].unwrap().1);
        assert_eq!((early.max(), early.min()), (Some((90e-6, false)), Some((1e-9, true))));
        assert_eq!(CensoredHistogram::default().quantiles([0.5]), [None]);
    }
}
