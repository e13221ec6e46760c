//! The numbers that are judged, of what was measured and of what a member says.

use crate::cells::{Cells, Digits};
use crate::moments::Sums;

/// A number of the response time, or the share that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// The mean.
    Mean,
    /// A percentile, in tenths of a percent.
    Percentile(u16),
    /// The longest.
    Max,
    /// The share that failed.
    Failed,
}

impl Number {
    /// Those that the rule judges.
    pub const JUDGED: [Number; 6] = [
        Number::Mean,
        Number::Percentile(500),
        Number::Percentile(900),
        Number::Percentile(950),
        Number::Percentile(990),
        Number::Failed,
    ];
    /// Those that have a range without a verdict.
    pub const SHOWN: [Number; 2] = [Number::Percentile(999), Number::Max];
}

/// Response times, of successes and of all others.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    digits: [Digits; 2],
    sums: [Sums; 2],
    max: [u64; 2],
    n: [u64; 2],
}

impl Default for Answers {
    fn default() -> Answers {
        let digits = || Digits::new(3);
        Answers { digits: [digits(), digits()], sums: Default::default(), max: [0; 2], n: [0; 2] }
    }
}

impl Answers {
    /// A response time in nanoseconds; negative ones count as none.
    #[inline]
    pub fn push(&mut self, response: i64, ok: bool) {
        let (response, side) = (response.max(0) as u64, usize::from(!ok));
        self.digits[side].push(response);
        self.sums[side].push(response, 1);
        self.max[side] = self.max[side].max(response);
        self.n[side] += 1;
    }

    pub fn n(&self) -> u64 {
        self.n[0] + self.n[1]
    }

    pub fn counts(&self) -> Counts {
        let of = |sides: &[usize]| {
            let mut sums = Sums::default();
            sides.iter().for_each(|&side| sums.merge(&self.sums[side]));
            Numbers {
                cells: Digits::cells(sides.iter().map(|&side| &self.digits[side])),
                mean: sums.mean().unwrap_or(0.0),
                max: sides.iter().map(|&side| self.max[side]).max().unwrap_or(0),
                factors: Vec::new(),
            }
        };
        let n = self.n();
        Counts {
            all: of(&[0, 1]),
            successes: of(&[0]),
            n,
            failed: if n > 0 { self.n[1] as f64 / n as f64 } else { 0.0 },
        }
    }
}

/// Response times laid out for numbers.
#[derive(Clone, Debug)]
pub struct Numbers {
    cells: Cells,
    mean: f64,
    max: u64,
    /// By what quantiles are multiplied, from which p on.
    factors: Vec<(f64, f64)>,
}

impl Numbers {
    /// That percentile, the smallest x with F(x) >= p, in nanoseconds; `p` in [0, 1].
    pub fn quantile(&self, p: f64) -> Option<f64> {
        Some(self.cells.quantile(p)?.min(self.max) as f64 * self.factor(p))
    }

    /// The mean, in nanoseconds.
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The longest, in nanoseconds.
    pub fn max(&self) -> f64 {
        self.max as f64 * self.factor(1.0)
    }

    fn factor(&self, p: f64) -> f64 {
        let i = self.factors.partition_point(|&(from, _)| from <= p).max(1);
        self.factors.get(i - 1).map_or(1.0, |&(_, factor)| factor)
    }
}

/// What was measured, or what a member says.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Response times of all requests.
    pub all: Numbers,
    /// Response times of those that succeeded.
    pub successes: Numbers,
    /// Requests.
    pub n: u64,
    /// Share that failed.
    pub failed: f64,
}

impl Counts {
    /// A number, in nanoseconds or as a share; none where there are too few requests.
    pub fn get(&self, number: Number) -> Option<f64> {
        match number {
            _ if self.n == 0 => None,
            Number::Mean => Some(self.all.mean),
            Number::Percentile(tenths) => self.all.quantile(f64::from(tenths) / 1_000.0),
            Number::Max => Some(self.all.max()),
            Number::Failed => Some(self.failed),
        }
    }

    /// The same, the mean and quantiles multiplied by how much those of `saw` exceed those of `again`: of a member whose replay at
    /// the actual starts does not quite give back what was seen.
    pub(super) fn scaled(mut self, saw: &Counts, again: &Counts) -> Counts {
        let by = |number| match (saw.get(number), again.get(number)) {
            (Some(saw), Some(again)) if again > 0.0 => saw / again,
            _ => 1.0,
        };
        let at = |tenths: u16| (f64::from(tenths) / 1_000.0, by(Number::Percentile(tenths)));
        let factors: Vec<_> = [500, 900, 950, 990].map(at).to_vec();
        for numbers in [&mut self.all, &mut self.successes] {
            numbers.mean *= by(Number::Mean);
            numbers.factors.clone_from(&factors);
        }
        self
    }
}
