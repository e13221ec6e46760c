//! Whether the target changed while it was searched: how fast it answered at one rate, earlier and later.
//!
//! The search measures a rate early, and returns to it from time to time. What is compared is the mean logarithm of the response
//! times: every response counts in it, and a few long ones do not decide it. These trials have a length that does not depend on what
//! they see; others end with a burst of slow responses, or for want of them, so that their last responses are no sample. Each gives
//! two points, its halves, with the variance of its batches, and a line by time is fitted to all of them by weighted least squares. As a
//! rate is compared with itself alone, nothing is assumed of how response times depend on the rate.
//!
//! It is asked after each trial: the level of one look is a part of that of all of them (Bonferroni's inequality).
//!
//! Deliberately absent: when the search returns (`knee`).

use super::batches::Parts;
use super::knee::Tried;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Standard errors beyond which time is taken to have an effect: a level of 5 % for both signs over 18 looks.
const Z: f64 = 3.0;
/// The smallest standard error of a pace: a shift of less than a per cent is none that a search looks for.
const FINEST: f64 = 0.003;

/// How fast a trial was answered, after its warm-up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pace {
    /// Mean natural logarithm of the response times in seconds, of its first and its second half; of what was given up, that of 65 s.
    pub halves: [f64; 2],
    /// The standard error of each, as of a normal distribution.
    pub error: f64,
}

impl Pace {
    /// Neighbours may depend on each other: the variance is raised by what the correlation of each part with the next shows. It has
    /// two degrees of freedom fewer than there are parts, and the quantile of Student's t for these.
    pub(super) fn of(parts: &Parts) -> Pace {
        let paces: Vec<f64> = parts.paces().collect();
        let (first, second) = paces.split_at(paces.len() / 2);
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let halves = [mean(first), mean(second)];
        // Around the mean of its half: a drift is no scatter.
        let off = |(half, part): (&f64, &[f64])| part.iter().map(|x| x - half).collect::<Vec<_>>();
        let off: Vec<f64> = halves.iter().zip([first, second]).flat_map(off).collect();
        let squares: f64 = off.iter().map(|x| x * x).sum();
        let next: f64 = off.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let follows = if squares > 0.0 { (next / squares).clamp(0.0, 0.9) } else { 0.0 };
        let degrees = off.len() as f64 - 2.0;
        let variance = squares / degrees * (1.0 + follows) / (1.0 - follows) / first.len() as f64;
        // Of a normal distribution 0.135 % are beyond three standard errors.
        let t = StudentsT::new(0.0, 1.0, degrees).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - 0.00135));
        Pace { halves, error: (variance.sqrt() * t / 3.0).max(FINEST) }
    }
}

/// How response times changed with time, at one rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Drift {
    /// Change of their mean logarithm per second; above zero: they grew.
    pub per_second: f64,
    /// The standard error of that.
    pub error: f64,
    /// The rate.
    pub rate: f64,
    /// The first and the last of its trials: seconds since the search began, and geometric mean of the response times in seconds.
    pub ends: [(f64, f64); 2],
}

impl Drift {
    /// Seconds from the first to the last of its trials.
    pub fn over_s(&self) -> f64 {
        self.ends[1].0 - self.ends[0].0
    }

    /// Whether it is more than chance, and more than the precision of a knee from the first of its trials to the last.
    pub fn matters(&self, precision: f64) -> bool {
        self.is_beyond(Z) && self.per_second.abs() * self.over_s() > precision
    }

    /// Whether it is more than so many standard errors.
    pub(super) fn is_beyond(&self, errors: f64) -> bool {
        self.per_second.abs() > errors * self.error
    }
}

/// What the trials say which look for it; none from fewer than two of them.
pub(super) fn drift(tried: &[Tried]) -> Option<Drift> {
    let looks: Vec<(&Tried, super::Pace)> = tried.iter().filter_map(|t| Some((t, t.pace?))).collect();
    let [first, .., last] = &looks[..] else { return None };
    let points: Vec<[f64; 3]> = looks
        .iter()
        .flat_map(|(t, pace)| {
            t.middles().into_iter().zip(pace.halves).map(|(at, y)| [at, y, pace.error.powi(-2)])
        })
        .collect();
    let sum = |of: &dyn Fn(&[f64; 3]) -> f64| points.iter().map(|p| p[2] * of(p)).sum::<f64>();
    let all = sum(&|_| 1.0);
    let [t0, y0] = [sum(&|p| p[0]) / all, sum(&|p| p[1]) / all];
    let squares = sum(&|p| (p[0] - t0).powi(2));
    let end = |(t, pace): &(&Tried, Pace)| {
        let [a, b] = t.middles();
        (0.5 * (a + b), (0.5 * (pace.halves[0] + pace.halves[1])).exp())
    };
    (squares > 0.0).then(|| Drift {
        per_second: sum(&|p| (p[0] - t0) * (p[1] - y0)) / squares,
        error: squares.sqrt().recip(),
        rate: first.0.rate,
        ends: [end(first), end(last)],
    })
}
