use super::{Family, Process};
use headway_base::units::{UnitError, parse_number};

pub(super) struct Build;

/// Mean of an exponential of mean `m` ticks in whole ticks, halves up: the sum of exp(-(j + 1/2)/m), which is
/// 1/(2 sinh(1/(2m))).
pub(super) fn mean_ticks(m: f64) -> f64 {
    0.5 / libm::sinh(0.5 / m)
}

impl Family for Build {
    fn name(&self) -> &'static str {
        "ticks"
    }
    fn usage(&self) -> &'static str {
        "ticks(MEAN)"
    }
    fn example(&self) -> &'static str {
        "ticks(1.5)"
    }
    fn about(&self) -> &'static str {
        "independent users seen through a coarse clock: exponential gaps of MEAN ticks on average, in whole ticks"
    }
    fn build(&self, argument: Option<&str>) -> Result<Process, UnitError> {
        let text = argument.unwrap_or("");
        let wanted = "a mean gap from 0.1 to 1000 ticks: write for example ticks(1.5)";
        parse_number(text)
            .ok()
            .filter(|mean| (0.1..=1000.0).contains(mean))
            .map(|mean| Process::Ticks { mean })
            .ok_or_else(|| UnitError::new(text, wanted))
    }
    fn gap_cdf(&self, process: Process, x: f64) -> Option<f64> {
        let Process::Ticks { mean } = process else { return None };
        if x < 0.0 {
            return Some(0.0);
        }
        let ticks = libm::floor(x * mean_ticks(mean) * (1.0 + 1e-12));
        Some(-libm::expm1(-(ticks + 0.5) / mean))
    }
    /// E J^2 of J whole ticks is the sum of (2 j + 1) exp(-(j + 1/2)/m).
    fn gap_cov(&self, process: Process) -> f64 {
        let Process::Ticks { mean } = process else { return f64::NAN };
        let (q, first) = (libm::exp(-1.0 / mean), mean_ticks(mean));
        let square = libm::sqrt(q) * (1.0 + q) / ((1.0 - q) * (1.0 - q));
        libm::sqrt(square - first * first) / first
    }
}
