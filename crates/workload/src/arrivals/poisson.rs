use super::{Family, Process, no_argument};
use headway_base::units::UnitError;

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "poisson"
    }
    fn usage(&self) -> &'static str {
        "poisson"
    }
    fn example(&self) -> &'static str {
        "poisson"
    }
    fn about(&self) -> &'static str {
        "independent users: exponential gaps"
    }
    fn build(&self, argument: Option<&str>) -> Result<Process, UnitError> {
        no_argument(self.name(), argument, Process::Poisson)
    }
    fn gap_cdf(&self, _: Process, x: f64) -> Option<f64> {
        Some(-libm::expm1(-x.max(0.0)))
    }
    fn gap_cov(&self, _: Process) -> f64 {
        1.0
    }
}
