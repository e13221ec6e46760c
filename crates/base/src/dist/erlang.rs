use super::{Dist, Family, Law, Resolve, positive_count, positive_time, show};
use crate::random::Draws;
use crate::special::{self, gamma_p};
use crate::units::UnitError;
use std::fmt;

/// Erlang: the sum of k exponentials; CoV 1/sqrt(k).
#[derive(Clone, PartialEq, Debug)]
pub struct Erlang {
    k: u32,
    mean_s: f64,
}

impl Law for Erlang {
    fn sample(&self, draws: &mut Draws) -> f64 {
        let k = f64::from(self.k);
        special::gamma(k, draws) * self.mean_s / k
    }
    fn mean(&self) -> f64 {
        self.mean_s
    }
    fn variance(&self) -> f64 {
        self.mean_s * self.mean_s / f64::from(self.k)
    }
    fn cdf(&self, x: f64) -> f64 {
        let k = f64::from(self.k);
        gamma_p(k, x * k / self.mean_s)
    }
}

impl fmt::Display for Erlang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "erlang({},{})", self.k, show(self.mean_s))
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "erlang"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["k", "mean"]
    }
    fn example(&self) -> &'static str {
        "erlang(4,10ms)"
    }
    fn about(&self) -> &'static str {
        "sum of k exponentials, of that total mean"
    }
    fn build(&self, arguments: &[&str], _: &Resolve<'_>) -> Result<Dist, UnitError> {
        Ok(Erlang { k: positive_count(arguments[0])?, mean_s: positive_time(arguments[1])? }.into())
    }
}
