use super::{Dist, Family, Law, Resolve, parse, positive_time, show};
use crate::random::Draws;
use crate::units::UnitError;
use std::fmt;

/// A law rounded to whole steps of a clock, halves up.
#[derive(Clone, PartialEq, Debug)]
pub struct Rounded {
    law: Box<Dist>,
    step_s: f64,
    mean_s: f64,
    variance_s2: f64,
}

/// Moments are sums over at most this number of steps.
const MOST_STEPS: u32 = 1_000_000;
/// What may lie beyond them.
const TAIL: f64 = 1e-12;

impl Rounded {
    /// With J the number of steps, E J = sum of P(J > j) and E J^2 = sum of (2 j + 1) P(J > j), and J > j where the law is at
    /// least (j + 1/2) steps.
    fn new(law: Dist, step_s: f64) -> Option<Rounded> {
        let beyond = |j: u32| 1.0 - law.cdf((f64::from(j) + 0.5) * step_s * (1.0 - 1e-14));
        let (mut mean, mut square) = (0.0, 0.0);
        for j in 0..MOST_STEPS {
            let p = beyond(j);
            if p < TAIL {
                let (mean_s, variance_s2) = (mean * step_s, (square - mean * mean) * step_s * step_s);
                return Some(Rounded { law: Box::new(law), step_s, mean_s, variance_s2 });
            }
            mean += p;
            square += (2.0 * f64::from(j) + 1.0) * p;
        }
        None
    }
}

impl Rounded {
    /// The law that it changes.
    pub(super) fn law(&self) -> &Dist {
        &self.law
    }
}

impl Law for Rounded {
    #[inline]
    fn sample(&self, draws: &mut Draws) -> f64 {
        libm::floor(self.law.sample(draws) / self.step_s + 0.5) * self.step_s
    }
    fn mean(&self) -> f64 {
        self.mean_s
    }
    fn variance(&self) -> f64 {
        self.variance_s2
    }
    fn cdf(&self, x: f64) -> f64 {
        if x < 0.0 {
            return 0.0;
        }
        let steps = libm::floor(x / self.step_s * (1.0 + 1e-14));
        self.law.cdf((steps + 0.5) * self.step_s * (1.0 - 1e-14))
    }
    fn tail_index(&self) -> f64 {
        self.law.tail_index()
    }
}

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rounded({},{})", self.law, show(self.step_s))
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "rounded"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["distribution", "step"]
    }
    fn example(&self) -> &'static str {
        "rounded(exp(3ms),1ms)"
    }
    fn about(&self) -> &'static str {
        "a distribution in whole steps of a clock"
    }
    fn build(&self, arguments: &[&str], resolve: &Resolve<'_>) -> Result<Dist, UnitError> {
        let (law, step) = (parse(arguments[0], resolve)?, positive_time(arguments[1])?);
        let wanted =
            "a step that is not so small: all but one in 10^12 of the values must be below a million steps";
        Rounded::new(law, step).map(Dist::from).ok_or_else(|| UnitError::new(arguments[1], wanted))
    }
}
