use super::{Dist, Family, Law, Resolve};
use crate::random::Draws;
use crate::units::UnitError;
use std::fmt;
use std::sync::Arc;

/// Largest size of a file of times, bytes; a caller of [`super::parse`] reads no more.
pub const MOST_BYTES_OF_TIMES: usize = 256 << 20;

/// The values of a file, each as likely as the others.
#[derive(Clone, PartialEq, Debug)]
pub struct Empirical {
    file: Arc<str>,
    sorted_s: Arc<[f64]>,
}

impl Law for Empirical {
    fn sample(&self, draws: &mut Draws) -> f64 {
        // Multiply-shift (Lemire 2019): unbiased to 2^-64 times the number of values.
        let index = (u128::from(draws.bits()) * self.sorted_s.len() as u128) >> 64;
        self.sorted_s[index as usize]
    }
    fn mean(&self) -> f64 {
        self.sorted_s.iter().sum::<f64>() / self.sorted_s.len() as f64
    }
    fn variance(&self) -> f64 {
        let mean = self.mean();
        self.sorted_s.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / self.sorted_s.len() as f64
    }
    fn cdf(&self, x: f64) -> f64 {
        self.sorted_s.partition_point(|&v| v <= x) as f64 / self.sorted_s.len() as f64
    }
}

impl fmt::Display for Empirical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "empirical({})", self.file)
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "empirical"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["file"]
    }
    fn example(&self) -> &'static str {
        "empirical(times.txt)"
    }
    fn about(&self) -> &'static str {
        "the times in a file, one a line with their unit, each as likely as the others"
    }
    fn build(&self, arguments: &[&str], resolve: &Resolve<'_>) -> Result<Dist, UnitError> {
        let mut sorted_s = resolve(arguments[0]).map_err(|why| UnitError::new(arguments[0], why))?;
        if sorted_s.is_empty() || sorted_s.iter().any(|x| !(x.is_finite() && *x >= 0.0)) {
            return Err(UnitError::new(arguments[0], "a file of at least one time, none negative"));
        }
        sorted_s.sort_unstable_by(f64::total_cmp);
        Ok(Empirical { file: arguments[0].into(), sorted_s: sorted_s.into() }.into())
    }
}
