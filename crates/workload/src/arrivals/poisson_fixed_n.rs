use super::{Family, Process, no_argument};
use headway_base::units::UnitError;

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "poisson-fixed-n"
    }
    fn usage(&self) -> &'static str {
        "poisson-fixed-n"
    }
    fn example(&self) -> &'static str {
        "poisson-fixed-n"
    }
    fn about(&self) -> &'static str {
        "independent users, exactly rate x time of them: sorted uniform instants"
    }
    fn build(&self, argument: Option<&str>) -> Result<Process, UnitError> {
        no_argument(self.name(), argument, Process::PoissonFixedN)
    }
    /// Each gap of n uniforms is 1 - (1 - x/n)^n, which the exponential is within 0.3/n of; they depend on each other
    /// through their sum.
    fn gap_cdf(&self, _: Process, x: f64) -> Option<f64> {
        Some(-libm::expm1(-x.max(0.0)))
    }
    fn gap_cov(&self, _: Process) -> f64 {
        1.0
    }
}
