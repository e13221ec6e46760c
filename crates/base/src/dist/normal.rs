use super::{Dist, Family, Law, Resolve, positive_time, show, time};
use crate::random::Draws;
use crate::special::{self, normal_cdf, normal_pdf};
use crate::units::UnitError;
use std::fmt;

/// Normal, with what would be negative counted as zero: a time cannot be less. Mean and variance are those of the
/// clamped law, and so differ from the arguments where the mean is less than about three standard deviations.
#[derive(Clone, PartialEq, Debug)]
pub struct Normal {
    mu_s: f64,
    sigma_s: f64,
}

impl Law for Normal {
    fn sample(&self, draws: &mut Draws) -> f64 {
        (self.mu_s + self.sigma_s * special::normal(draws)).max(0.0)
    }
    fn mean(&self) -> f64 {
        let z = self.mu_s / self.sigma_s;
        self.mu_s * normal_cdf(z) + self.sigma_s * normal_pdf(z)
    }
    fn variance(&self) -> f64 {
        let (z, mean) = (self.mu_s / self.sigma_s, self.mean());
        let second = (self.mu_s * self.mu_s + self.sigma_s * self.sigma_s) * normal_cdf(z)
            + self.mu_s * self.sigma_s * normal_pdf(z);
        second - mean * mean
    }
    fn cdf(&self, x: f64) -> f64 {
        if x < 0.0 { 0.0 } else { normal_cdf((x - self.mu_s) / self.sigma_s) }
    }
}

impl fmt::Display for Normal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "normal({},{})", show(self.mu_s), show(self.sigma_s))
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "normal"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["mean", "sd"]
    }
    fn example(&self) -> &'static str {
        "normal(20ms,15ms)"
    }
    fn about(&self) -> &'static str {
        "normal, negative draws counted as zero"
    }
    fn build(&self, arguments: &[&str], _: &Resolve<'_>) -> Result<Dist, UnitError> {
        Ok(Normal { mu_s: time(arguments[0])?, sigma_s: positive_time(arguments[1])? }.into())
    }
}
