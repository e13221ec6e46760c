use super::{Dist, Family, Law, Resolve, show};
use crate::random::Draws;
use crate::time::Nanos;
use crate::units::{UnitError, parse_time};
use std::fmt;

/// Always the same time.
#[derive(Clone, PartialEq, Debug)]
pub struct Constant {
    value_s: f64,
}

impl Constant {
    /// Always `value`.
    pub fn new(value: Nanos) -> Constant {
        Constant { value_s: value.as_secs_f64() }
    }
}

impl Law for Constant {
    fn sample(&self, _: &mut Draws) -> f64 {
        self.value_s
    }
    fn mean(&self) -> f64 {
        self.value_s
    }
    fn variance(&self) -> f64 {
        0.0
    }
    fn cdf(&self, x: f64) -> f64 {
        f64::from(x >= self.value_s)
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "const({})", show(self.value_s))
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "const"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["time"]
    }
    fn example(&self) -> &'static str {
        "const(10ms)"
    }
    fn about(&self) -> &'static str {
        "always the same"
    }
    fn build(&self, arguments: &[&str], _: &Resolve<'_>) -> Result<Dist, UnitError> {
        Ok(Constant::new(parse_time(arguments[0])?).into())
    }
}
