//! Random: any target, by weight.

use super::draw::below;
use headway_base::random::Draws;
use std::sync::Arc;

/// Chooses target i with probability w_i / sum of w, whatever is outstanding.
#[derive(Clone, Debug)]
pub(super) enum Random {
    /// So many, all of one weight.
    Even(u32),
    /// Tables of the alias method (Walker 1977, built as in Vose 1991): a column is drawn evenly, then kept or exchanged
    /// for its alias.
    Weighted(Arc<[Column]>),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    /// Kept if 64 uniform bits are below this.
    keep: u64,
    alias: u32,
}

impl Random {
    pub(super) fn new(weights: &[f64]) -> Random {
        if weights.iter().all(|w| *w == weights[0]) {
            return Random::Even(weights.len() as u32);
        }
        // Weights are divided before they are added up, so that their sum is finite.
        let most = weights.iter().copied().fold(0.0, f64::max);
        let mean = weights.iter().map(|w| w / most).sum::<f64>() / weights.len() as f64;
        let mut left: Vec<f64> = weights.iter().map(|w| w / most / mean).collect();
        let (mut low, mut high): (Vec<usize>, Vec<usize>) = (0..left.len()).partition(|&i| left[i] < 1.0);
        let mut columns: Vec<Column> =
            (0..left.len()).map(|i| Column { keep: u64::MAX, alias: i as u32 }).collect();
        while let (Some(&to), Some(from)) = (high.last(), low.pop()) {
            columns[from] =
                Column { keep: (left[from] * 18_446_744_073_709_551_616.0) as u64, alias: to as u32 };
            left[to] -= 1.0 - left[from];
            if left[to] < 1.0 {
                high.pop();
                low.push(to);
            }
        }
        Random::Weighted(columns.into())
    }

    #[inline]
    pub(super) fn choose(&self, draws: &mut Draws) -> u32 {
        match self {
            Random::Even(n) => below(draws, *n),
            Random::Weighted(columns) => {
                let drawn = below(draws, columns.len() as u32);
                let Column { keep, alias } = columns[drawn as usize];
                if draws.bits() < keep { drawn } else { alias }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The probabilities that the tables stand for, against the weights.
    #[test]
    fn alias_tables_hold_the_weights() {
        for weights in [&[1.0, 2.0, 3.0, 4.0][..], &[1e-9, 1.0, 1e300], &[5.0, 1.0, 1.0], &[0.1, 0.2, 0.7]] {
            let Random::Weighted(columns) = Random::new(weights) else { panic!("{weights:?} are not even") };
            let n = weights.len() as f64;
            let mut share = vec![0.0; weights.len()];
            for (i, column) in columns.iter().enumerate() {
                let kept = column.keep as f64 / u64::MAX as f64;
                share[i] += kept / n;
                share[column.alias as usize] += (1.0 - kept) / n;
            }
            let sum: f64 = weights.iter().sum();
            for (share, weight) in share.iter().zip(weights) {
                assert!((share - weight / sum).abs() < 1e-12, "{weights:?}: {share}");
            }
        }
    }
}
