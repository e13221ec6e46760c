use super::{Dist, Family, Law, Resolve, positive_time, show};
use crate::random::{Draws, Stream};
use crate::special;
use crate::units::UnitError;
use std::fmt;

/// Exponential: memoryless, CoV 1.
#[derive(Clone, PartialEq, Debug)]
pub struct Exponential {
    mean_s: f64,
}

impl Exponential {
    /// See [`Dist::sample_items`].
    #[inline]
    pub(super) fn sample_items(&self, stream: Stream, first: u64, of: &mut [f64]) {
        special::exponentials(stream, first, of);
        of.iter_mut().for_each(|x| *x *= self.mean_s);
    }
}

impl Law for Exponential {
    #[inline]
    fn sample(&self, draws: &mut Draws) -> f64 {
        self.mean_s * special::exponential(draws)
    }
    fn mean(&self) -> f64 {
        self.mean_s
    }
    fn variance(&self) -> f64 {
        self.mean_s * self.mean_s
    }
    fn cdf(&self, x: f64) -> f64 {
        -libm::expm1(-x.max(0.0) / self.mean_s)
    }
}

impl fmt::Display for Exponential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "exp({})", show(self.mean_s))
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "exp"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["mean"]
    }
    fn example(&self) -> &'static str {
        "exp(200ms)"
    }
    fn about(&self) -> &'static str {
        "exponential of that mean"
    }
    fn build(&self, arguments: &[&str], _: &Resolve<'_>) -> Result<Dist, UnitError> {
        Ok(Exponential { mean_s: positive_time(arguments[0])? }.into())
    }
}
