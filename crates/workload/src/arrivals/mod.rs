//! When: arrival processes as unit-mean renewal sequences, passed through the inverse of the cumulative rate.
//!
//! One file per process and the slice [`ALL`]; help, error messages and the conformance test iterate it. Every process
//! is described by the law of its unit gap, so that one generator, [`Arrivals`], serves all of them at any
//! [`Profile`], and the statistics know what to hold the starts against. Arrivals come one by one, or in batches.
//!
//! Absent: what is asked for at an arrival, and whether anybody is late.

mod batch;
mod constant;
mod gamma;
mod poisson;
mod poisson_fixed_n;
mod ticks;
mod trace;
mod uniform;

pub use batch::Sizes;
pub use trace::{Arriving, Logged, MOST_LOGGED, NoTrace, Trace, TraceOf};

use crate::shard::Shard;
use headway_base::random::{Draws, Stream, streams};
use headway_base::units::{UnitError, nearest};
use headway_base::{Nanos, Profile, special};
use std::fmt;

/// An arrival process, built and checked. Displays as it is written on the command line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Process {
    /// Independent users: exponential gaps.
    Poisson,
    /// Independent users, but exactly as many as expected: sorted uniform instants.
    PoissonFixedN,
    /// Evenly spaced.
    Constant,
    /// Gaps uniform on (0, 2/rate).
    Uniform,
    /// Gamma gaps of this CoV (above zero).
    Gamma {
        /// Coefficient of variation of the gaps.
        cov: f64,
    },
    /// Exponential gaps in whole ticks of a clock: several arrivals may be due at one instant.
    Ticks {
        /// Ticks to a gap on average, before rounding.
        mean: f64,
    },
    /// Several arrivals at each instant of a renewal process.
    Batch {
        /// By which the batches come.
        gaps: Renewal,
        /// How many arrivals a batch has.
        sizes: Sizes,
    },
}

/// The processes whose gaps are drawn independently of each other.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Renewal {
    /// As [`Process::Poisson`].
    Poisson,
    /// As [`Process::Constant`].
    Constant,
    /// As [`Process::Uniform`].
    Uniform,
    /// As [`Process::Gamma`].
    Gamma {
        /// Coefficient of variation of the gaps.
        cov: f64,
    },
    /// As [`Process::Ticks`].
    Ticks {
        /// Ticks to a gap on average, before rounding.
        mean: f64,
    },
}

impl Renewal {
    /// That process, if its gaps are drawn independently of each other.
    fn of(process: Process) -> Option<Renewal> {
        match process {
            Process::Poisson => Some(Renewal::Poisson),
            Process::Constant => Some(Renewal::Constant),
            Process::Uniform => Some(Renewal::Uniform),
            Process::Gamma { cov } => Some(Renewal::Gamma { cov }),
            Process::Ticks { mean } => Some(Renewal::Ticks { mean }),
            Process::PoissonFixedN | Process::Batch { .. } => None,
        }
    }

    /// Draws a gap of unit mean.
    #[inline(always)]
    fn unit_gap(self, draws: &mut Draws) -> f64 {
        match self {
            Renewal::Poisson => special::exponential(draws),
            Renewal::Constant => 1.0,
            Renewal::Uniform => 2.0 * draws.open01(),
            Renewal::Gamma { cov } => {
                let shape = 1.0 / (cov * cov);
                special::gamma(shape, draws) / shape
            }
            Renewal::Ticks { mean } => {
                let ticks = libm::floor(special::exponential(draws) * mean + 0.5);
                ticks / ticks::mean_ticks(mean)
            }
        }
    }
}

impl From<Renewal> for Process {
    fn from(renewal: Renewal) -> Process {
        match renewal {
            Renewal::Poisson => Process::Poisson,
            Renewal::Constant => Process::Constant,
            Renewal::Uniform => Process::Uniform,
            Renewal::Gamma { cov } => Process::Gamma { cov },
            Renewal::Ticks { mean } => Process::Ticks { mean },
        }
    }
}

/// What builds and describes one arrival process.
pub trait Family: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;
    /// How it is written, for help texts: `gamma(COV)`.
    fn usage(&self) -> &'static str;
    /// One example that can be read.
    fn example(&self) -> &'static str;
    /// One line for help texts.
    fn about(&self) -> &'static str;
    /// Builds it from the text between its brackets, if there was one.
    ///
    /// # Errors
    /// A missing, superfluous or impossible argument.
    fn build(&self, argument: Option<&str>) -> Result<Process, UnitError>;
    /// P(unit gap <= x) of a gap picked at random; none where there is no such law.
    fn gap_cdf(&self, process: Process, x: f64) -> Option<f64>;
    /// CoV of the unit gap.
    fn gap_cov(&self, process: Process) -> f64;
    /// Variance over mean of the number of arrivals in a window, in the limit of long windows: that of a renewal process is CoV^2
    /// (Cox 1962, section 4.5).
    fn dispersion(&self, process: Process) -> f64 {
        self.gap_cov(process) * self.gap_cov(process)
    }
    /// CoV of the gaps of one shard of `count`: of a renewal process CoV^2 = 1 + (c^2 - 1)/N (Cox 1962).
    fn thinned_cov(&self, process: Process, count: u32) -> f64 {
        let c = self.gap_cov(process);
        libm::sqrt(1.0 + (c * c - 1.0) / f64::from(count))
    }
}

/// Every process. Adding one: a file like its neighbours, an arm in [`Process`] and [`Renewal`], a line here.
pub const ALL: &[&dyn Family] = &[
    &poisson::Build,
    &poisson_fixed_n::Build,
    &constant::Build,
    &uniform::Build,
    &gamma::Build,
    &ticks::Build,
    &batch::Build,
];

impl Process {
    /// Reads a process: `poisson`, `gamma(2.5)`.
    ///
    /// # Errors
    /// An unknown name (with the nearest one), or an argument that does not fit.
    pub fn parse(text: &str) -> Result<Process, UnitError> {
        let trimmed = text.trim();
        let (name, argument) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((name, rest)) => {
                let inner = rest.strip_suffix(')').ok_or_else(|| {
                    UnitError::new(text, "an arrival process: the closing bracket is missing")
                })?;
                (name.trim(), Some(inner.trim()))
            }
        };
        let Some(family) = ALL.iter().find(|f| f.name().eq_ignore_ascii_case(name)) else {
            let usages: Vec<&str> = ALL.iter().map(|f| f.usage()).collect();
            let guess = nearest(name, ALL.iter().map(|f| f.name()))
                .map(|n| format!("; did you mean {n}?"))
                .unwrap_or_default();
            let wanted = format!("an arrival process: write one of {}{guess}", usages.join(" "));
            return Err(UnitError::new(text, wanted));
        };
        family.build(argument)
    }

    fn family(self) -> &'static dyn Family {
        match self {
            Process::Poisson => &poisson::Build,
            Process::PoissonFixedN => &poisson_fixed_n::Build,
            Process::Constant => &constant::Build,
            Process::Uniform => &uniform::Build,
            Process::Gamma { .. } => &gamma::Build,
            Process::Ticks { .. } => &ticks::Build,
            Process::Batch { .. } => &batch::Build,
        }
    }

    /// P(unit gap <= x) of a gap of the whole plan picked at random; none where there is no such law.
    pub fn gap_cdf(self, x: f64) -> Option<f64> {
        self.family().gap_cdf(self, x)
    }

    /// CoV of the whole plan's unit gap.
    pub fn gap_cov(self) -> f64 {
        self.family().gap_cov(self)
    }

    /// CoV of the unit gap of one shard of `count`.
    pub fn thinned_cov(self, count: u32) -> f64 {
        self.family().thinned_cov(self, count)
    }

    /// Index of dispersion of the counts of one shard of `count` over long windows: 1 + (I - 1)/N, as of any process of which each
    /// arrival is kept independently of the others (Cox and Isham 1980, section 4.3).
    pub fn thinned_dispersion(self, count: u32) -> f64 {
        1.0 + (self.family().dispersion(self) - 1.0) / f64::from(count)
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Process::Gamma { cov } => write!(f, "gamma({cov})"),
            Process::Ticks { mean } => write!(f, "ticks({mean})"),
            Process::Batch { gaps, sizes } => write!(f, "batch({},{sizes})", Process::from(*gaps)),
            other => f.write_str(other.family().name()),
        }
    }
}

/// For families without an argument.
fn no_argument(name: &str, argument: Option<&str>, process: Process) -> Result<Process, UnitError> {
    match argument {
        None => Ok(process),
        Some(a) => {
            Err(UnitError::new(&format!("{name}({a})"), format!("an arrival process: write just {name}")))
        }
    }
}

/// Arrivals that [`Arrivals::fill`] draws at once.
pub const BLOCK: usize = 64;

/// One arrival of the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Its number in the whole plan, from 0.
    pub k: u64,
    /// When it is due, since the plan's zero.
    pub intended: Nanos,
}

/// The arrivals of one shard of a plan, in order. Every shard walks the whole plan and keeps its own, so that all see
/// the same instants bit for bit; a step costs some nanoseconds.
#[derive(Clone, Debug)]
pub struct Arrivals {
    /// By which batches come; none for a process that has exactly as many arrivals as expected.
    gaps: Option<Renewal>,
    sizes: Sizes,
    profile: std::sync::Arc<Profile>,
    gap: Stream,
    size: Stream,
    keep: Stream,
    shard: Shard,
    next_k: u64,
    /// Number of the next batch: that of its arrival where each is one.
    next_batch: u64,
    /// Arrivals still to come of the batch before.
    left: u32,
    /// Place of arrival `next_k - 1` on the unit-rate scale.
    place: f64,
    /// Arrivals of a process that has exactly as many as expected.
    fixed_n: u64,
    /// Last place that still counts; a hair beyond the total, so that rounding does not lose the arrival on its border.
    last_place: f64,
    phase_hint: usize,
}

impl Arrivals {
    /// The arrivals of that shard.
    pub fn new(seed: u64, process: Process, profile: std::sync::Arc<Profile>, shard: Shard) -> Arrivals {
        let total = profile.total();
        let (gaps, sizes) = match process {
            Process::Batch { gaps, sizes } => (Some(gaps), sizes),
            process => (Renewal::of(process), Sizes::Constant(1)),
        };
        Arrivals {
            gaps,
            sizes,
            gap: Stream::new(seed, streams::GAP),
            size: Stream::new(seed, streams::BATCH),
            keep: Shard::stream(seed),
            shard,
            next_k: 0,
            next_batch: 0,
            left: 0,
            place: 0.0,
            fixed_n: libm::round(total) as u64,
            last_place: total * (1.0 + 1e-12),
            phase_hint: 0,
            profile,
        }
    }

    /// The next arrivals in place of those in `block`, a block of them or as many as are left: the same as one after the
    /// other, in less time, since their draws do not wait for each other. Of one shard among several it is the next alone:
    /// a worker that draws a block while it is sending must not walk the other shards' arrivals for microseconds.
    #[inline]
    pub fn fill(&mut self, block: &mut Vec<Arrival>) {
        block.clear();
        let one_by_one = self.gaps == Some(Renewal::Poisson) && self.sizes == Sizes::Constant(1);
        if !one_by_one || self.shard != Shard::WHOLE || self.place == f64::INFINITY {
            block.extend(self.take(if self.shard == Shard::WHOLE { BLOCK } else { 1 }));
            return;
        }
        let mut gaps = [0.0; BLOCK];
        special::exponentials(self.gap, self.next_batch, &mut gaps);
        for gap in gaps {
            self.place += gap;
            if self.place > self.last_place {
                self.place = f64::INFINITY;
                return;
            }
            let intended = self.profile.inverse_from(&mut self.phase_hint, self.place);
            block.push(Arrival { k: self.next_k, intended });
            self.next_k += 1;
            self.next_batch += 1;
        }
    }

    /// Moves `place` on to arrival `k`; false where there is none.
    #[inline]
    fn step(&mut self, k: u64) -> bool {
        let Some(gaps) = self.gaps else { return self.step_of_fixed(k) };
        if self.left > 0 {
            self.left -= 1;
            return true;
        }
        let batch = self.next_batch;
        self.next_batch += 1;
        let gap = gaps.unit_gap(&mut self.gap.item(batch));
        self.place += match self.sizes {
            Sizes::Constant(1) => gap,
            sizes => {
                self.left = sizes.sample(&mut self.size.item(batch)) - 1;
                gap * sizes.mean()
            }
        };
        self.place <= self.last_place
    }

    /// Sequential order statistics (Bentley and Saxe 1980): the least of m uniforms on what is left.
    fn step_of_fixed(&mut self, k: u64) -> bool {
        if k >= self.fixed_n {
            return false;
        }
        let left = (self.fixed_n - k) as f64;
        let uniform = self.gap.item(k).open01();
        self.place += (self.profile.total() - self.place) * -libm::expm1(libm::log(uniform) / left);
        self.place <= self.last_place
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    // A loop over a plan does little else: the draw belongs into it.
    #[inline(always)]
    fn next(&mut self) -> Option<Arrival> {
        loop {
            let k = self.next_k;
            if !self.step(k) {
                // The renewal sequence only grows: it stays beyond the end.
                (self.place, self.left) = (f64::INFINITY, 0);
                return None;
            }
            self.next_k += 1;
            if self.shard.keeps(self.keep, k) {
                let intended = self.profile.inverse_from(&mut self.phase_hint, self.place);
                return Some(Arrival { k, intended });
            }
        }
    }
}

#[cfg(test)]
mod tests;
