//! Distributions of times, in one grammar everywhere: `exp(200ms)`, `lognormal(5ms,2)`, `empirical(file)`.
//!
//! One file per family, and the slice [`ALL`] of what builds and describes them; help texts, error messages and the
//! conformance test below iterate that slice. A built distribution is the enum [`Dist`], so that a draw costs no
//! indirect call. Values are seconds.
//!
//! Absent: reading files. The values of an `empirical` come from the caller, through [`Resolve`].

mod constant;
mod empirical;
mod erlang;
mod exponential;
mod gamma;
mod hyperexponential;
mod lognormal;
mod normal;
mod pareto;
mod rounded;
mod shifted;
mod uniform;

pub use constant::Constant;
pub use empirical::{Empirical, MOST_BYTES_OF_TIMES};
pub use erlang::Erlang;
pub use exponential::Exponential;
pub use gamma::Gamma;
pub use hyperexponential::HyperExponential;
pub use lognormal::LogNormal;
pub use normal::Normal;
pub use pareto::Pareto;
pub use rounded::Rounded;
pub use shifted::Shifted;
pub use uniform::Uniform;

use crate::random::{Draws, Stream};
use crate::time::Nanos;
use crate::units::{UnitError, nearest, parse_count, parse_number, parse_time, split_outside_brackets};
use std::fmt;

/// A law of non-negative times, in seconds.
pub trait Law {
    /// One draw, in seconds, not negative.
    fn sample(&self, draws: &mut Draws) -> f64;
    /// Mean in seconds; may be infinite.
    fn mean(&self) -> f64;
    /// Variance in seconds squared; may be infinite.
    fn variance(&self) -> f64;
    /// Probability of at most `x` seconds.
    fn cdf(&self, x: f64) -> f64;
    /// Its tail index: moments of a lower order are finite, those of this order and of higher ones are not. Infinite where all are
    /// finite.
    fn tail_index(&self) -> f64 {
        f64::INFINITY
    }
}

macro_rules! dist {
    ($($name:ident),+) => {
        /// A distribution of times, built and checked. Displays in the grammar that it was parsed from.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Dist { $(
            #[doc = concat!("See [`", stringify!($name), "`].")]
            $name($name),
        )+ }

        impl Law for Dist {
            #[inline]
            fn sample(&self, draws: &mut Draws) -> f64 {
                // The law of most models, worth a way of its own.
                if let Dist::Exponential(law) = self { law.sample(draws) } else { self.sample_any(draws) }
            }
            fn mean(&self) -> f64 { match self { $(Dist::$name(d) => d.mean(),)+ } }
            fn variance(&self) -> f64 { match self { $(Dist::$name(d) => d.variance(),)+ } }
            fn cdf(&self, x: f64) -> f64 { match self { $(Dist::$name(d) => d.cdf(x),)+ } }
            fn tail_index(&self) -> f64 { match self { $(Dist::$name(d) => d.tail_index(),)+ } }
        }

        impl Dist {
            #[inline(never)]
            fn sample_any(&self, draws: &mut Draws) -> f64 { match self { $(Dist::$name(d) => d.sample(draws),)+ } }
        }

        impl fmt::Display for Dist {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self { $(Dist::$name(d) => fmt::Display::fmt(d, f),)+ }
            }
        }

        $(impl From<$name> for Dist { fn from(d: $name) -> Dist { Dist::$name(d) } })+
    };
}

dist!(
    Constant,
    Exponential,
    Uniform,
    Normal,
    LogNormal,
    Gamma,
    Pareto,
    Erlang,
    HyperExponential,
    Empirical,
    Shifted,
    Rounded
);

impl Dist {
    /// One draw as a span of time.
    #[inline(always)]
    pub fn sample_time(&self, draws: &mut Draws) -> Nanos {
        Nanos::from_secs_f64(self.sample(draws))
    }

    /// Draws of the items of a stream from number `first` on, one of each, in seconds: what [`Law::sample`] gives of each, in
    /// less time.
    #[inline]
    pub fn sample_items(&self, stream: Stream, first: u64, of: &mut [f64]) {
        if let Dist::Exponential(law) = self {
            law.sample_items(stream, first, of);
            return;
        }
        for (k, x) in (first..).zip(of) {
            *x = self.sample(&mut stream.item(k));
        }
    }

    /// What a reader of its text would take wrong: nothing in most cases. A normal law whose negative draws count as zero
    /// has a greater mean than it says; reported from 5 % on.
    pub fn misleads(&self) -> Option<String> {
        match self {
            Dist::Normal(law) => law.misleads(),
            Dist::Shifted(law) => law.law().misleads(),
            Dist::Rounded(law) => law.law().misleads(),
            _ => None,
        }
    }

    /// Coefficient of variation: standard deviation over mean; NaN for a mean of zero.
    pub fn cov(&self) -> f64 {
        libm::sqrt(self.variance()) / self.mean()
    }
}

/// Gives the values in a file that a text names, in seconds, or says why it cannot.
pub type Resolve<'a> = dyn Fn(&str) -> Result<Vec<f64>, String> + 'a;

/// What builds and describes one family of distributions.
pub trait Family: Sync {
    /// Its name in the grammar.
    fn name(&self) -> &'static str;
    /// Names of its arguments, in order.
    fn arguments(&self) -> &'static [&'static str];
    /// One example, in the grammar (one that needs no file, where there is one).
    fn example(&self) -> &'static str;
    /// One line for help texts.
    fn about(&self) -> &'static str;
    /// Builds it from its arguments, of which there are as many as [`arguments`](Family::arguments) names.
    ///
    /// # Errors
    /// An argument that is not of its kind or out of its range.
    fn build(&self, arguments: &[&str], resolve: &Resolve<'_>) -> Result<Dist, UnitError>;
}

/// Every family. Adding one: a file like its neighbours, a name in `dist!`, a line here.
pub const ALL: &[&dyn Family] = &[
    &constant::Build,
    &exponential::Build,
    &uniform::Build,
    &normal::Build,
    &lognormal::Build,
    &gamma::Build,
    &pareto::Build,
    &erlang::Build,
    &hyperexponential::Build,
    &empirical::Build,
    &shifted::Build,
    &rounded::Build,
];

/// Distributions may be so deep within each other.
const DEEPEST: usize = 4;

/// Reads a distribution: `exp(200ms)`, or a bare time, which is constant.
///
/// # Errors
/// An unknown family, a wrong number of arguments, or an argument out of range; the message says what would do.
pub fn parse(text: &str, resolve: &Resolve<'_>) -> Result<Dist, UnitError> {
    let trimmed = text.trim();
    let Some((name, rest)) = trimmed.split_once('(') else {
        let constant = parse_time(trimmed).map_err(|_| UnitError::new(text, grammar_hint(trimmed)))?;
        return Ok(Constant::new(constant).into());
    };
    if trimmed.matches('(').count() > DEEPEST {
        return Err(UnitError::new(text, format!("a distribution in at most {DEEPEST} pairs of brackets")));
    }
    let name = name.trim();
    let inner = rest.trim_end().strip_suffix(')').ok_or_else(|| {
        UnitError::new(
            text,
            format!("a distribution: the closing bracket is missing; {}", grammar_hint(name)),
        )
    })?;
    let family = ALL
        .iter()
        .find(|f| f.name().eq_ignore_ascii_case(name))
        .ok_or_else(|| UnitError::new(text, grammar_hint(name)))?;
    let arguments: Vec<&str> = split_outside_brackets(inner).map(str::trim).collect();
    if arguments.len() != family.arguments().len() {
        let wanted = format!(
            "a distribution that can be read: {} takes ({}), for example {}",
            family.name(),
            family.arguments().join(", "),
            family.example()
        );
        return Err(UnitError::new(text, wanted));
    }
    family.build(&arguments, resolve)
}

fn grammar_hint(name: &str) -> String {
    let names: Vec<&str> = ALL.iter().map(|f| f.name()).collect();
    let guess =
        nearest(name, names.iter().copied()).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
    format!("a distribution: write one of {}, for example exp(10ms), or a time{guess}", names.join(" "))
}

/// A positive time in seconds.
fn positive_time(text: &str) -> Result<f64, UnitError> {
    let seconds = time(text)?;
    if seconds > 0.0 { Ok(seconds) } else { Err(UnitError::new(text, "a time above zero")) }
}

/// A time in seconds.
fn time(text: &str) -> Result<f64, UnitError> {
    parse_time(text).map(Nanos::as_secs_f64)
}

/// A number above `floor`.
fn number_above(text: &str, floor: f64) -> Result<f64, UnitError> {
    parse_number(text)
        .ok()
        .filter(|&x| x > floor)
        .ok_or_else(|| UnitError::new(text, format!("a number above {floor}")))
}

/// A time in the shortest unit of the grammar that is exact.
fn show(seconds: f64) -> Nanos {
    Nanos::from_secs_f64(seconds)
}

/// A whole number from 1 up.
fn positive_count(text: &str) -> Result<u32, UnitError> {
    parse_count(text)
        .ok()
        .and_then(|n| u32::try_from(n).ok())
        .filter(|&n| n > 0)
        .ok_or_else(|| UnitError::new(text, "a whole number from 1 up"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn no_files(_: &str) -> Result<Vec<f64>, String> {
        Ok(vec![0.001, 0.002, 0.002, 0.010])
    }

    fn built(text: &str) -> Dist {
        parse(text, &no_files).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Every registered family: its example parses, displays as it was written and parses again, its draws have its
    /// mean, its variance and its cdf (Kolmogorov's distance), within 4 standard errors or the 1e-4 quantile.
    #[test]
    fn every_family_keeps_its_word() {
        const N: u64 = 200_000;
        for family in ALL {
            let dist = built(family.example());
            assert_eq!(built(&dist.to_string()), dist, "{}", family.name());
            assert_eq!(family.example().split('(').next(), Some(family.name()));
            let stream = Stream::new(7, family.name());
            let mut xs: Vec<f64> = (0..N).map(|k| dist.sample(&mut stream.item(k))).collect();
            xs.sort_unstable_by(f64::total_cmp);
            assert!(xs[0] >= 0.0);
            let n = N as f64;
            let mean = xs.iter().sum::<f64>() / n;
            let se = (dist.variance() / n).sqrt();
            assert!(
                (mean - dist.mean()).abs() <= 4.0 * se + 1e-12,
                "{dist}: mean {mean}, not {}",
                dist.mean()
            );
            let m = |p: i32| xs.iter().map(|x| (x - mean).powi(p)).sum::<f64>() / n;
            let (variance, fourth) = (m(2), m(4));
            let se = ((fourth - variance * variance).max(0.0) / n).sqrt();
            assert!((variance - dist.variance()).abs() <= 4.0 * se + 1e-15, "{dist}: variance {variance}");
            // Two-sided distance at the jumps; ties count once, from above and from below.
            let mut d: f64 = 0.0;
            for (i, pair) in xs.windows(2).enumerate() {
                if pair[0] < pair[1] {
                    let f = (i + 1) as f64 / n;
                    d = d
                        .max((f - dist.cdf(pair[0])).abs())
                        .max((f - dist.cdf(pair[1] * (1.0 - 1e-12))).abs());
                }
            }
            assert!(d <= 2.23 / n.sqrt(), "{dist}: distance {d}"); // Kolmogorov's 1e-4 quantile
        }
    }

    /// The tail index is that of the part which has one, and agrees with the moments that are known.
    #[test]
    fn moments_are_finite_below_the_tail_index() {
        for text in
            ["pareto(1ms,0.9)", "pareto(1ms,1.5)", "pareto(1ms,2)", "pareto(1ms,2.5)", "lognormal(5ms,9)"]
        {
            let law = built(text);
            for law in [law.clone(), built(&format!("shifted(1s,{law})"))] {
                assert_eq!(law.mean().is_finite(), law.tail_index() > 1.0, "{law}");
                assert_eq!(law.variance().is_finite(), law.tail_index() > 2.0, "{law}");
            }
        }
        assert_eq!(built("shifted(1s,pareto(1ms,2.5))").tail_index(), 2.5);
        assert_eq!(built("rounded(pareto(2ms,9),1ms)").tail_index(), 9.0);
        for all in ["hyperexp(1ms,4)", "empirical(times.txt)", "exp(1ms)", "gamma(1ms,3)", "5ms"] {
            assert_eq!(built(all).tail_index(), f64::INFINITY, "{all}");
        }
    }

    /// Draws are part of the plan: these values fix them.
    #[test]
    fn draws_are_the_ones_that_plans_were_made_with() {
        let stream = Stream::new(1, "golden");
        let got: Vec<String> = ALL
            .iter()
            .map(|f| format!("{} {:.15e}", f.name(), built(f.example()).sample(&mut stream.item(5))))
            .collect();
        assert_eq!(got.join("\n"), GOLDEN.trim(), "\n{}", got.join("\n"));
    }
    const GOLDEN: &str = include_str!("golden.txt");

    #[test]
    fn what_cannot_be_read_says_what_could() {
        let error = |text: &str| parse(text, &no_files).unwrap_err().to_string();
        assert!(error("expo(3ms)").contains("did you mean exp?"));
        assert!(error("exp(3ms").contains("bracket"));
        assert!(error("exp(3)").contains("a time"));
        assert!(error("gamma(3ms)").contains("gamma takes (mean, cov), for example gamma("));
        assert!(error("hyperexp(3ms,0.5)").contains("above 1"));
        assert!(error("uniform(3s,1s)").contains("not before"));
        assert!(error("shifted(20ms,expo(3ms))").contains("did you mean exp?"));
        assert!(error("rounded(exp(1s),1us)").contains("not so small"));
        let deep = format!("{}1s{}", "shifted(1s,".repeat(5), ")".repeat(5));
        assert!(error(&deep).contains("at most 4 pairs of brackets"));
        for deeper in ["shifted(1s,".repeat(5_000), "shifted".repeat(5_000), ")".repeat(5_000)] {
            assert!(error(&deeper).len() < 300, "{}", error(&deeper).len());
        }
        assert_eq!(built("5ms"), built("const(5ms)"));
    }
}
