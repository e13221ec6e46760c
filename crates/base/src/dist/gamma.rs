use super::{Dist, Family, Law, Resolve, number_above, positive_time, show};
use crate::random::Draws;
use crate::special::{self, gamma_p};
use crate::units::UnitError;
use std::fmt;

/// Gamma, given by mean and CoV: shape 1/CoV^2.
#[derive(Clone, PartialEq, Debug)]
pub struct Gamma {
    mean_s: f64,
    cov: f64,
}

impl Gamma {
    /// The gamma law of that mean (seconds, above zero) and CoV (above zero).
    pub fn new(mean_s: f64, cov: f64) -> Gamma {
        Gamma { mean_s, cov }
    }

    fn shape(&self) -> f64 {
        1.0 / (self.cov * self.cov)
    }
}

impl Law for Gamma {
    fn sample(&self, draws: &mut Draws) -> f64 {
        let shape = self.shape();
        special::gamma(shape, draws) * self.mean_s / shape
    }
    fn mean(&self) -> f64 {
        self.mean_s
    }
    fn variance(&self) -> f64 {
        (self.mean_s * self.cov) * (self.mean_s * self.cov)
    }
    fn cdf(&self, x: f64) -> f64 {
        gamma_p(self.shape(), x * self.shape() / self.mean_s)
    }
}

impl fmt::Display for Gamma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gamma({},{})", show(self.mean_s), self.cov)
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "gamma"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["mean", "cov"]
    }
    fn example(&self) -> &'static str {
        "gamma(10ms,1.7)"
    }
    fn about(&self) -> &'static str {
        "gamma of that mean and CoV"
    }
    fn build(&self, arguments: &[&str], _: &Resolve<'_>) -> Result<Dist, UnitError> {
        Ok(Gamma::new(positive_time(arguments[0])?, number_above(arguments[1], 0.0)?).into())
    }
}
