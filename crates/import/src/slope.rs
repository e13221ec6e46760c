//! The regression which separates starts from ends: of the time between two stamps of a thread on the times that the first
//! and the second request took.
//!
//! If the stamps are starts the slope on the second is 0, whether the thread thinks after each answer (the slope on the first
//! is 1) or keeps to a schedule (0). If they are ends it is 1. Rounding of the stamps adds noise to the regressand and
//! moves no slope. Deliberately absent: what follows.

use std::collections::HashMap;

/// Two requests of one thread, one after the other; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// Between their stamps.
    pub apart: f64,
    /// What each took.
    pub first: f64,
    pub second: f64,
    /// What each asked for: think times may depend on it, and so may the times taken.
    pub steps: (u16, u16),
}

/// The slope on the second request's time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Slope {
    pub value: f64,
    /// Standard error (delete-one jackknife over blocks).
    pub se: f64,
    /// Pairs behind it.
    pub n: u64,
}

const BLOCKS: usize = 20;
/// Fewest pairs.
const FEWEST: usize = 100;
/// Fewest pairs that asked for the same two things.
const FEWEST_ALIKE: f64 = 10.0;
/// Times above this quantile are left out: one of them would decide alone. To choose by what is regressed on biases nothing.
const KEPT: f64 = 0.99;
/// Stamps further apart than so many times the same quantile of their distances are of an interruption.
const INTERRUPTED: f64 = 10.0;
/// Standard errors: of Student's t with 19 degrees of freedom 1 in 1,000 lies outside 3.9.
const ERRORS: f64 = 4.0;
/// How far from its value a slope may be.
const NEAR: f64 = 0.5;

impl Slope {
    /// Whether the slope is that value and no other: its whole interval is nearer than a half.
    pub(crate) fn is(&self, value: f64) -> bool {
        (self.value - value).abs() + ERRORS * self.se < NEAR
    }
}

/// Sums of products within a block, about the means of pairs alike.
#[derive(Clone, Copy, Default)]
struct Products {
    apart_first: f64,
    apart_second: f64,
    first_first: f64,
    first_second: f64,
    second_second: f64,
}

impl Products {
    fn plus(&self, other: &Products, sign: f64) -> Products {
        Products {
            apart_first: self.apart_first + sign * other.apart_first,
            apart_second: self.apart_second + sign * other.apart_second,
            first_first: self.first_first + sign * other.first_first,
            first_second: self.first_second + sign * other.first_second,
            second_second: self.second_second + sign * other.second_second,
        }
    }

    fn slope(&self) -> Option<f64> {
        let both = self.first_first * self.second_second;
        let determinant = both - self.first_second * self.first_second;
        (both > 0.0 && determinant > 1e-6 * both).then(|| {
            (self.apart_second * self.first_first - self.apart_first * self.first_second) / determinant
        })
    }
}

/// The slope; none of few pairs, or where the times taken do not vary.
pub(crate) fn slope(mut pairs: Vec<Pair>) -> Option<Slope> {
    let quantile = |of: fn(&Pair) -> f64| {
        let mut sorted: Vec<f64> = pairs.iter().map(of).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.get((KEPT * sorted.len() as f64) as usize).copied().unwrap_or(0.0)
    };
    let (first, second, apart) = (quantile(|p| p.first), quantile(|p| p.second), quantile(|p| p.apart));
    pairs.retain(|p| p.first <= first && p.second <= second && p.apart <= INTERRUPTED * apart);
    let mut alike: HashMap<(u16, u16), [f64; 4]> = HashMap::new();
    for pair in &pairs {
        let sums = alike.entry(pair.steps).or_default();
        for (sum, x) in sums.iter_mut().zip([1.0, pair.apart, pair.first, pair.second]) {
            *sum += x;
        }
    }
    pairs.retain(|p| alike[&p.steps][0] >= FEWEST_ALIKE);
    if pairs.len() < FEWEST {
        return None;
    }
    let mut blocks = [Products::default(); BLOCKS];
    for (i, pair) in pairs.iter().enumerate() {
        let [n, apart, first, second] = alike[&pair.steps];
        let (apart, first, second) =
            (pair.apart - apart / n, pair.first - first / n, pair.second - second / n);
        let products = Products {
            apart_first: apart * first,
            apart_second: apart * second,
            first_first: first * first,
            first_second: first * second,
            second_second: second * second,
        };
        let block = &mut blocks[i * BLOCKS / pairs.len()];
        *block = block.plus(&products, 1.0);
    }
    let all = blocks.iter().fold(Products::default(), |sum, block| sum.plus(block, 1.0));
    let without: Vec<f64> = blocks.iter().filter_map(|block| all.plus(block, -1.0).slope()).collect();
    if without.len() < BLOCKS {
        return None;
    }
    let mean = without.iter().sum::<f64>() / BLOCKS as f64;
    let squares: f64 = without.iter().map(|b| (b - mean) * (b - mean)).sum();
    let se = (squares * (BLOCKS - 1) as f64 / BLOCKS as f64).sqrt();
    Some(Slope { value: all.slope()?, se, n: pairs.len() as u64 })
}
