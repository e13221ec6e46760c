use super::{Dist, Family, Law, Resolve, show, time};
use crate::random::Draws;
use crate::units::UnitError;
use std::fmt;

/// Uniform between two times.
#[derive(Clone, PartialEq, Debug)]
pub struct Uniform {
    from_s: f64,
    to_s: f64,
}

impl Law for Uniform {
    fn sample(&self, draws: &mut Draws) -> f64 {
        self.from_s + (self.to_s - self.from_s) * draws.open01()
    }
    fn mean(&self) -> f64 {
        0.5 * (self.from_s + self.to_s)
    }
    fn variance(&self) -> f64 {
        (self.to_s - self.from_s) * (self.to_s - self.from_s) / 12.0
    }
    fn cdf(&self, x: f64) -> f64 {
        ((x - self.from_s) / (self.to_s - self.from_s)).clamp(0.0, 1.0)
    }
}

impl fmt::Display for Uniform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "uniform({},{})", show(self.from_s), show(self.to_s))
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "uniform"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["from", "to"]
    }
    fn example(&self) -> &'static str {
        "uniform(0s,2s)"
    }
    fn about(&self) -> &'static str {
        "uniform between two times"
    }
    fn build(&self, arguments: &[&str], _: &Resolve<'_>) -> Result<Dist, UnitError> {
        let (from_s, to_s) = (time(arguments[0])?, time(arguments[1])?);
        if to_s <= from_s {
            return Err(UnitError::new(
                arguments[1],
                format!("a time after {}, and not before it", show(from_s)),
            ));
        }
        Ok(Uniform { from_s, to_s }.into())
    }
}
