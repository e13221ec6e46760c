use super::{Dist, Family, Law, Resolve, positive_time, show, time};
use crate::random::Draws;
use crate::special::{self, normal_cdf, normal_pdf};
use crate::units::UnitError;
use std::fmt;

/// Normal, with what would be negative counted as zero: a time cannot be less. Mean and variance are those of the
/// clamped law, and so differ from the arguments where the mean is less than about three standard deviations.
#[derive(Clone, PartialEq, Debug)]
pub struct Normal {
    mu_s: f64,
    sigma_s: f64,
}

/// Above this share the mean of the clamped law is distinguished from the argument.
const OFF: f64 = 0.05;
/// Up to this ratio of standard deviation to mean the clamped mean is within that share: 1.04995 at 0.846.
const MOST_SD: f64 = 0.84;

impl Normal {
    /// What is wrong with taking the argument for the mean.
    pub(super) fn misleads(&self) -> Option<String> {
        let mean = self.mean();
        (mean > self.mu_s * (1.0 + OFF)).then(|| {
            let instead = match self.mu_s > 0.0 {
                true => format!(
                    "a standard deviation of at most {}, or for example gamma({},{})",
                    show(round(self.mu_s * MOST_SD)),
                    show(self.mu_s),
                    (100.0 * self.sigma_s / self.mu_s).round() / 100.0
                ),
                false => format!("for example exp({})", show(round(mean))),
            };
            format!(
                "{self} has a mean of {}, because negative draws count as 0: write {instead}",
                show(round(mean))
            )
        })
    }
}

/// Three digits.
fn round(seconds: f64) -> f64 {
    let scale = libm::pow(10.0, 2.0 - libm::floor(libm::log10(seconds.abs().max(1e-12))));
    (seconds * scale).round() / scale
}

impl Law for Normal {
    fn sample(&self, draws: &mut Draws) -> f64 {
        (self.mu_s + self.sigma_s * special::normal(draws)).max(0.0)
    }
    fn mean(&self) -> f64 {
        let z = self.mu_s / self.sigma_s;
        self.mu_s * normal_cdf(z) + self.sigma_s * normal_pdf(z)
    }
    fn variance(&self) -> f64 {
        let (z, mean) = (self.mu_s / self.sigma_s, self.mean());
        let second = (self.mu_s * self.mu_s + self.sigma_s * self.sigma_s) * normal_cdf(z)
            + self.mu_s * self.sigma_s * normal_pdf(z);
        second - mean * mean
    }
    fn cdf(&self, x: f64) -> f64 {
        if x < 0.0 { 0.0 } else { normal_cdf((x - self.mu_s) / self.sigma_s) }
    }
}

impl fmt::Display for Normal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "normal({},{})", show(self.mu_s), show(self.sigma_s))
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "normal"
    }
    fn arguments(&self) -> &'static [&'static str] {
        &["mean", "sd"]
    }
    fn example(&self) -> &'static str {
        "normal(20ms,15ms)"
    }
    fn about(&self) -> &'static str {
        "normal, negative draws counted as zero"
    }
    fn build(&self, arguments: &[&str], _: &Resolve<'_>) -> Result<Dist, UnitError> {
        Ok(Normal { mu_s: time(arguments[0])?, sigma_s: positive_time(arguments[1])? }.into())
    }
}

#[cfg(test)]
mod tests {
    use crate::dist::parse;

    /// E max(0, X) of a normal law: mu Phi(z) + sigma phi(z), z = mu/sigma.
    #[test]
    fn a_mean_that_is_not_the_one_written_is_told() {
        let misleads = |text: &str| parse(text, &|_| Ok(Vec::new())).unwrap().misleads();
        assert_eq!(misleads("normal(20ms,15ms)"), None);
        assert_eq!(misleads("normal(100ms,84ms)"), None);
        let said = misleads("normal(1ms,5ms)").unwrap();
        assert!(said.starts_with("normal(1ms,5ms) has a mean of 2.53ms,"), "{said}");
        assert!(
            said.ends_with("write a standard deviation of at most 840us, or for example gamma(1ms,5)"),
            "{said}"
        );
        assert!(misleads("shifted(5ms,normal(0s,1ms))").unwrap().contains("mean of 399us"));
        assert!(misleads("normal(100ms,86ms)").is_some() && misleads("gamma(1ms,5)").is_none());
    }
}
