use super::{Dist, Family, Law, Resolve, number_above, positive_time, show};
use crate::random::Draws;
use crate::special::{self, normal_cdf};
use crate::units::UnitError;
use std::fmt;

/// Lognormal, given by the mean and CoV of the time itself (not of its logarithm).
#[derive(Clone, PartialEq, Debug)]
pub struct LogNormal {
    mean_s: f64,
    cov: f64,
    mu: f64,
    sigma: f64,
}

impl Law for LogNormal {
    fn sample(&self, draws: &mut Draws) -> f64 {
        libm::exp(self.mu + self.sigma * special::normal(draws))
    }
    fn mean(&self) -> f64 {
        self.mean_s
    }
    fn variance(&self) -> f64 {
        (self.mean_s * self.cov) * (self.mean_s * self.cov)
    }
    fn cdf(&self, x: f64) -> f64 {
        if x <= 0.0 { 0.0 } else { normal_cdf((libm::log(x) - self.mu) / self.sigma) }
    }
}

impl fmt::Display for LogNormal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lognormal({},{})", show(self.mean_s), self.cov)
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "lognormal"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["mean", "cov"]
    }
    fn example(&self) -> &'static str {
        "lognormal(5ms,0.8)"
    }
    fn about(&self) -> &'static str {
        "lognormal of that mean and CoV"
    }
    fn build(&self, arguments: &[&str], _: &Resolve<'_>) -> Result<Dist, UnitError> {
        let (mean_s, cov) = (positive_time(arguments[0])?, number_above(arguments[1], 0.0)?);
        let variance = libm::log1p(cov * cov);
        let (mu, sigma) = (libm::log(mean_s) - 0.5 * variance, libm::sqrt(variance));
        Ok(LogNormal { mean_s, cov, mu, sigma }.into())
    }
}
