//! Batches: several arrivals at each instant of a renewal process. The rate is that of the arrivals, so batches come at the rate over
//! their mean size. Gaps are drawn from the stream of gaps by number of the batch, sizes from a stream of their own.
//!
//! With sizes B and gaps of CoV c between batches: P(gap = 0) = 1 - 1/E[B]; CoV^2 of the gaps E[B] (1 + c^2) - 1; index of dispersion
//! of counts over long windows Var[B]/E[B] + c^2 E[B], which for Poisson batches is E[B^2]/E[B] (Cox and Isham 1980, "Point
//! Processes", section 3.1; the variance of a sum of a random number of terms).

use super::{Family, Process, Renewal};
use headway_base::random::Draws;
use headway_base::units::{UnitError, nearest, parse_count, parse_number, split_outside_brackets};
use std::fmt;

/// How many arrivals a batch has: whole numbers from 1 up.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Sizes {
    /// Always the same.
    Constant(u32),
    /// One, and another with the same probability after each.
    Geometric {
        /// Arrivals of a batch on average; at least 1.
        mean: f64,
    },
    /// Each of the whole numbers from one to another is as likely.
    Uniform(u32, u32),
}

/// Largest size that can be asked for, and largest mean.
const MOST: u32 = 10_000;

const NAMES: [&str; 3] = ["geometric", "const", "uniform"];

impl Sizes {
    /// Draws the size of a batch.
    #[inline]
    pub(super) fn sample(self, draws: &mut Draws) -> u32 {
        match self {
            Sizes::Constant(n) => n,
            // P(B > j) = (1 - 1/mean)^j.
            Sizes::Geometric { mean } if mean > 1.0 => {
                1 + libm::floor(libm::log(draws.open01()) / libm::log1p(-1.0 / mean)) as u32
            }
            Sizes::Geometric { .. } => 1,
            Sizes::Uniform(from, to) => from + (draws.open01() * f64::from(to - from + 1)) as u32,
        }
    }

    /// Arrivals of a batch on average.
    pub fn mean(self) -> f64 {
        match self {
            Sizes::Constant(n) => f64::from(n),
            Sizes::Geometric { mean } => mean,
            Sizes::Uniform(from, to) => 0.5 * (f64::from(from) + f64::from(to)),
        }
    }

    /// Variance of the size of a batch.
    pub fn variance(self) -> f64 {
        match self {
            Sizes::Constant(_) => 0.0,
            Sizes::Geometric { mean } => mean * (mean - 1.0),
            Sizes::Uniform(from, to) => {
                let several = f64::from(to - from + 1);
                (several * several - 1.0) / 12.0
            }
        }
    }

    /// E[z^B] for z from 0 to below 1.
    fn generating(self, z: f64) -> f64 {
        match self {
            Sizes::Constant(n) => libm::pow(z, f64::from(n)),
            Sizes::Geometric { mean } => z / (mean - (mean - 1.0) * z),
            Sizes::Uniform(from, to) => {
                let several = f64::from(to - from + 1);
                libm::pow(z, f64::from(from)) * (1.0 - libm::pow(z, several)) / (several * (1.0 - z))
            }
        }
    }

    fn parse(text: &str) -> Result<Sizes, UnitError> {
        let wanted = "how many arrive at once: write for example geometric(3), const(3) or uniform(1,5)";
        let (name, rest) = text.split_once('(').unwrap_or((text, ""));
        let name = name.trim().to_ascii_lowercase();
        if !NAMES.contains(&name.as_str()) {
            let guess = nearest(&name, NAMES).map(|n| format!("; did you mean {n}?"));
            return Err(UnitError::new(text, wanted.to_owned() + &guess.unwrap_or_default()));
        }
        let inner = rest.trim_end().strip_suffix(')').ok_or_else(|| UnitError::new(text, wanted))?;
        let arguments: Vec<&str> = inner.split(',').map(str::trim).collect();
        let whole = |text: &str| {
            let number = parse_count(text).ok().and_then(|n| u32::try_from(n).ok());
            let wanted = || UnitError::new(text, format!("a whole number from 1 to {MOST}"));
            number.filter(|n| (1..=MOST).contains(n)).ok_or_else(wanted)
        };
        match (name.as_str(), &arguments[..]) {
            ("geometric", &[mean]) => parse_number(mean)
                .ok()
                .filter(|mean| (1.0..=f64::from(MOST)).contains(mean))
                .map(|mean| Sizes::Geometric { mean })
                .ok_or_else(|| UnitError::new(mean, format!("a mean from 1 to {MOST}"))),
            ("const", &[n]) => Ok(Sizes::Constant(whole(n)?)),
            ("uniform", &[from, to]) => {
                let (least, most) = (whole(from)?, whole(to)?);
                match least <= most {
                    true => Ok(Sizes::Uniform(least, most)),
                    false => Err(UnitError::new(
                        text,
                        "sizes from the smaller to the larger: write for example uniform(1,5)",
                    )),
                }
            }
            _ => Err(UnitError::new(text, wanted)),
        }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sizes::Constant(n) => write!(f, "const({n})"),
            Sizes::Geometric { mean } => write!(f, "geometric({mean})"),
            Sizes::Uniform(from, to) => write!(f, "uniform({from},{to})"),
        }
    }
}

/// Gaps and sizes of a process of this family.
fn parts(process: Process) -> Option<(Process, Sizes)> {
    match process {
        Process::Batch { gaps, sizes } => Some((gaps.into(), sizes)),
        _ => None,
    }
}

pub(super) struct Build;

impl Family for Build {
    fn name(&self) -> &'static str {
        "batch"
    }
    fn usage(&self) -> &'static str {
        "batch(PROCESS,SIZE)"
    }
    fn example(&self) -> &'static str {
        "batch(poisson,geometric(3))"
    }
    fn about(&self) -> &'static str {
        "batches come by a process, each with several arrivals at one instant: SIZE is geometric(MEAN), const(N) or uniform(N,N)"
    }
    fn build(&self, argument: Option<&str>) -> Result<Process, UnitError> {
        let text = argument.unwrap_or("");
        let wanted = "batches: write for example batch(poisson,geometric(3))";
        let parts: Vec<&str> = split_outside_brackets(text).map(str::trim).collect();
        let [gaps, sizes] = parts[..] else { return Err(UnitError::new(text, wanted)) };
        // Found before it is read, so that brackets within brackets go no deeper.
        if gaps.to_ascii_lowercase().starts_with(self.name()) {
            return Err(UnitError::new(gaps, "a process by which batches come, which is none of batches"));
        }
        let of = Process::parse(gaps)?;
        let several = "a process by which batches come: of a fixed number of them the number of arrivals is not fixed; write poisson";
        let gaps = Renewal::of(of).ok_or_else(|| UnitError::new(gaps, several))?;
        Ok(Process::Batch { gaps, sizes: Sizes::parse(sizes)? })
    }
    /// Of a gap picked at random: it is 0 unless it is one between batches. Only with geometric sizes are gaps independent.
    fn gap_cdf(&self, process: Process, x: f64) -> Option<f64> {
        let (gaps, sizes) = parts(process)?;
        let mean = sizes.mean();
        if x < 0.0 { Some(0.0) } else { Some(1.0 - (1.0 - gaps.gap_cdf(x / mean)?) / mean) }
    }
    fn gap_cov(&self, process: Process) -> f64 {
        let Some((gaps, sizes)) = parts(process) else { return f64::NAN };
        libm::sqrt(sizes.mean() * (1.0 + gaps.gap_cov() * gaps.gap_cov()) - 1.0)
    }
    fn dispersion(&self, process: Process) -> f64 {
        let Some((gaps, sizes)) = parts(process) else { return f64::NAN };
        sizes.variance() / sizes.mean() + gaps.gap_cov() * gaps.gap_cov() * sizes.mean()
    }
    /// A shard has batches again: those of which it keeps an arrival, with probability q = 1 - E[(1 - 1/N)^B], whose gaps are
    /// thinned renewals, and of which it keeps E[B]/(N q).
    fn thinned_cov(&self, process: Process, count: u32) -> f64 {
        let Some((gaps, sizes)) = parts(process) else { return f64::NAN };
        let keeps = 1.0 / f64::from(count);
        let some = if count == 1 { 1.0 } else { 1.0 - sizes.generating(1.0 - keeps) };
        let between = 1.0 + some * (gaps.gap_cov() * gaps.gap_cov() - 1.0);
        libm::sqrt(sizes.mean() * keeps / some * (1.0 + between) - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;

    /// Mean, variance and generating function of the draws, within 4 standard errors.
    #[test]
    fn sizes_are_what_they_say() {
        const N: u64 = 100_000;
        for text in ["geometric(3)", "geometric(1)", "const(4)", "uniform(2,7)", "geometric(200)"] {
            let sizes = Sizes::parse(text).unwrap();
            assert_eq!(sizes.to_string(), text);
            let stream = Stream::new(9, text);
            let drawn: Vec<f64> = (0..N).map(|b| f64::from(sizes.sample(&mut stream.item(b)))).collect();
            assert!(drawn.iter().all(|&b| b >= 1.0));
            let mean_and_error = |of: &dyn Fn(f64) -> f64| {
                let n = N as f64;
                let mean = drawn.iter().map(|&b| of(b)).sum::<f64>() / n;
                let variance = drawn.iter().map(|&b| (of(b) - mean).powi(2)).sum::<f64>() / n;
                (mean, (variance / n).sqrt())
            };
            let close = |what: &str, (seen, error): (f64, f64), law: f64| {
                assert!((seen - law).abs() <= 4.0 * error + 1e-9, "{text}: {what} {seen}, not {law}");
            };
            close("mean", mean_and_error(&|b| b), sizes.mean());
            close("variance", mean_and_error(&|b| (b - sizes.mean()).powi(2)), sizes.variance());
            close("E[0.7^B]", mean_and_error(&|b| 0.7f64.powf(b)), sizes.generating(0.7));
        }
    }

    #[test]
    fn what_is_no_batch_says_what_is() {
        let error = |text: &str| Process::parse(text).unwrap_err().to_string();
        for (text, part) in [
            ("batch", "write for example batch(poisson,geometric(3))"),
            ("batch(poisson)", "write for example batch(poisson,geometric(3))"),
            ("batch(poisson,geometric(3)", "geometric(3), const(3) or uniform(1,5)"),
            ("batch(posson,geometric(3))", "did you mean poisson?"),
            ("batch(poisson,geometrc(3))", "did you mean geometric?"),
            ("batch(poisson,geometric(0.5))", "a mean from 1 to 10000"),
            ("batch(poisson,const(0))", "from 1 to 10000"),
            ("batch(poisson,const(2.5))", "from 1 to 10000"),
            ("batch(poisson,uniform(5,1))", "from the smaller to the larger"),
            ("batch(poisson,const(1,2))", "geometric(3), const(3) or uniform(1,5)"),
            ("batch(poisson-fixed-n,const(2))", "is not fixed; write poisson"),
            ("batch(batch(poisson,const(2)),const(2))", "none of batches"),
        ] {
            assert!(error(text).contains(part), "{text}: {}", error(text));
        }
        let deep = "batch(".repeat(10_000);
        assert!(Process::parse(&(deep + ")")).is_err());
        let spaced = Process::parse("batch( gamma(2.5) , uniform(1, 5) )").unwrap();
        assert_eq!(spaced.to_string(), "batch(gamma(2.5),uniform(1,5))");
    }
}
