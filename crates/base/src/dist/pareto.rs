use super::{Dist, Family, Law, Resolve, number_above, positive_time, show};
use crate::random::Draws;
use crate::units::UnitError;
use std::fmt;

/// Pareto: P(X > x) = (least/x)^shape. The mean is infinite up to shape 1, the variance up to shape 2.
#[derive(Clone, PartialEq, Debug)]
pub struct Pareto {
    least_s: f64,
    shape: f64,
}

impl Law for Pareto {
    fn sample(&self, draws: &mut Draws) -> f64 {
        self.least_s * libm::pow(draws.open01(), -1.0 / self.shape)
    }
    fn mean(&self) -> f64 {
        if self.shape > 1.0 { self.shape * self.least_s / (self.shape - 1.0) } else { f64::INFINITY }
    }
    fn variance(&self) -> f64 {
        let a = self.shape;
        if a > 2.0 {
            self.least_s * self.least_s * a / ((a - 1.0) * (a - 1.0) * (a - 2.0))
        } else {
            f64::INFINITY
        }
    }
    fn cdf(&self, x: f64) -> f64 {
        if x <= self.least_s { 0.0 } else { 1.0 - libm::pow(self.least_s / x, self.shape) }
    }
    fn tail_index(&self) -> f64 {
        self.shape
    }
}

impl fmt::Display for Pareto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pareto({},{})", show(self.least_s), self.shape)
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "pareto"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["least", "shape"]
    }
    fn example(&self) -> &'static str {
        "pareto(2ms,5)"
    }
    fn about(&self) -> &'static str {
        "Pareto: at least that time, tail index shape"
    }
    fn build(&self, arguments: &[&str], _: &Resolve<'_>) -> Result<Dist, UnitError> {
        Ok(Pareto { least_s: positive_time(arguments[0])?, shape: number_above(arguments[1], 0.0)? }.into())
    }
}
