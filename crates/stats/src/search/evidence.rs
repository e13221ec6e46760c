//! What a trial's batches prove about a share: whether it is below its limit, above it, or neither yet.
//!
//! Responses of a queue depend on each other, so n of them prove as much as n/d independent ones, where d is the design
//! effect: the variance of the counts of batches over that of independent observations (Kish 1965, "Survey sampling",
//! section 8.2). The exact limits of Clopper and Pearson (1934) are taken of that many, reduced for the degrees of freedom
//! which the variance has (Korn and Graubard 1998, "Confidence intervals for proportions with small expected number of
//! positive counts estimated from survey data", Survey Methodology 24).
//!
//! A trial well below its limit has few events beyond it or none, whose variance says nothing. So d is the largest of those
//! at the limit itself and at lower levels which between one and ten times the share are beyond: excursions above a lower
//! level last longer.

use super::batches::{Event, FEWEST_PARTS, LEVELS, Parts, level_ns};
use headway_base::Nanos;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::function::beta::beta_reg;

/// Levels up to which this many times the share are beyond tell of the dependence.
const TIMES: f64 = 10.0;
/// Independent observations that the dependence must leave before a share is taken to be below its limit, and above it: one excursion of a
/// queue may fill a short trial, and most of an overloaded one is beyond the limit.
const LEAST: [f64; 2] = [60.0, 12.0];

/// A share, as a trial shows it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Evidence {
    /// Observations after the warm-up.
    pub n: u64,
    /// Of them, the ones that count.
    pub hits: u64,
    /// The variance of the counts, as a multiple of that of independent observations; at least 1.
    pub design_effect: f64,
    /// Independent observations that prove as much.
    pub effective: f64,
}

/// What follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The share is below its limit.
    Below,
    /// It is above.
    Above,
}

impl Evidence {
    /// Of the event, whose share is to be at most `share`; `time`: the limit of a response time. `alpha`: the level at which it
    /// is going to be asked.
    pub(super) fn of(parts: &Parts, event: Event, share: f64, time: Option<Nanos>, alpha: f64) -> Evidence {
        let (n, hits) = (parts.n(), parts.sum(event));
        let own = design_effect(parts, event);
        let limit = time.map_or(f64::INFINITY, |time| time.0 as f64);
        let most = (TIMES * share).min(0.5);
        let mut effect = own;
        // From the limit down; the first level beyond which there are `most` is the last to be asked.
        for level in (0..LEVELS).rev().filter(|&level| level_ns(level) <= limit) {
            let beyond = parts.sum(Event::Level(level)) as f64 / n as f64;
            if beyond >= share && beyond < 0.9 {
                effect = effect.max(design_effect(parts, Event::Level(level)));
            }
            if beyond >= most {
                break;
            }
        }
        let effect = effect.max(1.0);
        let effective = n as f64 / effect / freedom(parts.len() - 1, alpha);
        Evidence { n, hits, design_effect: effect, effective }
    }

    /// The share that was seen.
    pub fn share(&self) -> f64 {
        self.hits as f64 / self.n as f64
    }

    /// Events, as independent ones.
    pub fn effective_hits(&self) -> f64 {
        self.share() * self.effective
    }

    /// On which side of `limit` the share is shown to be, at that level for each side.
    pub fn side(&self, limit: f64, below: f64, above: f64) -> Option<Side> {
        let (n, k) = (self.effective, self.effective_hits());
        // Probability of at least k hits, if the share were the limit.
        if k > 0.0 && self.share() > limit && beta_reg(k, n - k + 1.0, limit) <= above {
            // Neighbours depend on each other over the whole of a trial in which a backlog grows: most are beyond then.
            return (n >= LEAST[1] || self.share() >= 0.5 * (1.0 + limit)).then_some(Side::Above);
        }
        // Probability of at most k of them.
        if n >= LEAST[0] && self.share() < limit && 1.0 - beta_reg(k + 1.0, n - k, limit) <= below {
            return Some(Side::Below);
        }
        None
    }
}

/// The variance of the counts of parts over that of independent observations; 0 where nothing varies.
fn design_effect(parts: &Parts, event: Event) -> f64 {
    let (count, n) = (parts.len() as f64, parts.n() as f64);
    let mean = parts.sum(event) as f64 / count;
    let share = mean * count / n;
    let independent = mean * (1.0 - share);
    if independent <= 0.0 {
        return 0.0;
    }
    let squares: f64 = parts.of(event).map(|x| (x as f64 - mean) * (x as f64 - mean)).sum();
    squares / (count - 1.0) / independent
}

/// By which a variance with so few degrees of freedom reduces what is proved: (t/z)^2.
fn freedom(degrees: usize, alpha: f64) -> f64 {
    debug_assert!(degrees + 1 >= FEWEST_PARTS);
    let z = Normal::standard().inverse_cdf(1.0 - alpha);
    let t = StudentsT::new(0.0, 1.0, degrees as f64).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - alpha));
    (t / z) * (t / z)
}
