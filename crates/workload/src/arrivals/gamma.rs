use super::{Family, Process};
use headway_base::special::gamma_p;
use headway_base::units::{UnitError, parse_number};

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "gamma"
    }
    fn usage(&self) -> &'static str {
        "gamma(COV)"
    }
    fn example(&self) -> &'static str {
        "gamma(2.5)"
    }
    fn about(&self) -> &'static str {
        "gamma gaps of that CoV: below 1 smoother than independent users, above 1 burstier"
    }
    fn build(&self, argument: Option<&str>) -> Result<Process, UnitError> {
        let text = argument.unwrap_or("");
        parse_number(text)
            .ok()
            .filter(|cov| (0.01..=100.0).contains(cov))
            .map(|cov| Process::Gamma { cov })
            .ok_or_else(|| UnitError::new(text, "a CoV from 0.01 to 100: write for example gamma(2.5)"))
    }
    fn gap_cdf(&self, process: Process, x: f64) -> Option<f64> {
        let shape = 1.0 / (self.gap_cov(process) * self.gap_cov(process));
        Some(gamma_p(shape, shape * x))
    }
    fn gap_cov(&self, process: Process) -> f64 {
        match process {
            Process::Gamma { cov } => cov,
            _ => f64::NAN,
        }
    }
}
