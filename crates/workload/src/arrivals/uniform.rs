use super::{Family, Process, no_argument};
use headway_base::units::UnitError;

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "uniform"
    }
    fn usage(&self) -> &'static str {
        "uniform"
    }
    fn example(&self) -> &'static str {
        "uniform"
    }
    fn about(&self) -> &'static str {
        "gaps uniform on (0, 2/rate)"
    }
    fn build(&self, argument: Option<&str>) -> Result<Process, UnitError> {
        no_argument(self.name(), argument, Process::Uniform)
    }
    fn gap_cdf(&self, _: Process, x: f64) -> Option<f64> {
        Some((0.5 * x).clamp(0.0, 1.0))
    }
    fn gap_cov(&self, _: Process) -> f64 {
        0.577_350_269_189_625_8 // 1/sqrt(3)
    }
}
