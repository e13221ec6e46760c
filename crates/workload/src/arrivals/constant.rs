use super::{Family, Process, no_argument};
use headway_base::units::UnitError;

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "constant"
    }
    fn usage(&self) -> &'static str {
        "constant"
    }
    fn example(&self) -> &'static str {
        "constant"
    }
    fn about(&self) -> &'static str {
        "evenly spaced, as most tools send; not like independent users"
    }
    fn build(&self, argument: Option<&str>) -> Result<Process, UnitError> {
        no_argument(self.name(), argument, Process::Constant)
    }
    fn gap_cdf(&self, _: Process, x: f64) -> Option<f64> {
        Some(f64::from(x >= 1.0))
    }
    fn gap_cov(&self, _: Process) -> f64 {
        0.0
    }
}
