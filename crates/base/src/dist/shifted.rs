use super::{Dist, Family, Law, Resolve, parse, show, time};
use crate::random::Draws;
use crate::units::UnitError;
use std::fmt;

/// A law and a fixed time before it: an overhead that every request has.
#[derive(Clone, PartialEq, Debug)]
pub struct Shifted {
    by_s: f64,
    law: Box<Dist>,
}

impl Shifted {
    /// The law that it changes.
    pub(super) fn law(&self) -> &Dist {
        &self.law
    }
}

impl Law for Shifted {
    #[inline]
    fn sample(&self, draws: &mut Draws) -> f64 {
        self.by_s + self.law.sample(draws)
    }
    fn mean(&self) -> f64 {
        self.by_s + self.law.mean()
    }
    fn variance(&self) -> f64 {
        self.law.variance()
    }
    fn cdf(&self, x: f64) -> f64 {
        if x < self.by_s { 0.0 } else { self.law.cdf(x - self.by_s) }
    }
    fn tail_index(&self) -> f64 {
        self.law.tail_index()
    }
}

impl fmt::Display for Shifted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shifted({},{})", show(self.by_s), self.law)
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "shifted"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["by", "distribution"]
    }
    fn example(&self) -> &'static str {
        "shifted(20ms,exp(100ms))"
    }
    fn about(&self) -> &'static str {
        "a fixed time and a draw of a distribution after it"
    }
    fn build(&self, arguments: &[&str], resolve: &Resolve<'_>) -> Result<Dist, UnitError> {
        Ok(Shifted { by_s: time(arguments[0])?, law: Box::new(parse(arguments[1], resolve)?) }.into())
    }
}
