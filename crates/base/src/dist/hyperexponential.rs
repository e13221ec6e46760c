use super::{Dist, Family, Law, Resolve, number_above, positive_time, show};
use crate::random::Draws;
use crate::special;
use crate::units::UnitError;
use std::fmt;

/// Hyperexponential of two phases with balanced means (Whitt 1982): p1 m1 = p2 m2, given by mean and CoV > 1.
#[derive(Clone, PartialEq, Debug)]
pub struct HyperExponential {
    mean_s: f64,
    cov: f64,
    /// Probability of the first, shorter phase.
    p: f64,
}

impl HyperExponential {
    fn means(&self) -> (f64, f64) {
        (self.mean_s / (2.0 * self.p), self.mean_s / (2.0 * (1.0 - self.p)))
    }
}

impl Law for HyperExponential {
    fn sample(&self, draws: &mut Draws) -> f64 {
        let (short, long) = self.means();
        let mean = if draws.open01() < self.p { short } else { long };
        mean * special::exponential(draws)
    }
    fn mean(&self) -> f64 {
        self.mean_s
    }
    fn variance(&self) -> f64 {
        (self.mean_s * self.cov) * (self.mean_s * self.cov)
    }
    fn cdf(&self, x: f64) -> f64 {
        let (short, long) = self.means();
        let x = x.max(0.0);
        -self.p * libm::expm1(-x / short) - (1.0 - self.p) * libm::expm1(-x / long)
    }
}

impl fmt::Display for HyperExponential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hyperexp({},{})", show(self.mean_s), self.cov)
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "hyperexp"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["mean", "cov"]
    }
    fn example(&self) -> &'static str {
        "hyperexp(10ms,2)"
    }
    fn about(&self) -> &'static str {
        "two exponentials with balanced means, of that mean and CoV above 1"
    }
    fn build(&self, arguments: &[&str], _: &Resolve<'_>) -> Result<Dist, UnitError> {
        let (mean_s, cov) = (positive_time(arguments[0])?, number_above(arguments[1], 1.0)?);
        let c2 = cov * cov;
        let p = 0.5 * (1.0 + libm::sqrt((c2 - 1.0) / (c2 + 1.0)));
        Ok(HyperExponential { mean_s, cov, p }.into())
    }
}
