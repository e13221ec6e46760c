//! Power of d choices (Mitzenmacher 2001, "The power of two choices in randomized load balancing").

use super::counts::Counts;
use super::draw::{below, two_below};
use headway_base::random::Draws;
use headway_base::units::UnitError;
use std::sync::Arc;

/// Draws d different targets evenly and takes that of the least (outstanding + 1) / weight; of equals, the one drawn first.
#[derive(Clone, Debug)]
pub(super) struct PowerOfD {
    choices: u32,
    weights: Arc<[f64]>,
    /// The targets in order; out of it only during a choice. Empty where two draws at most are made.
    shuffled: Vec<u32>,
    /// What the shuffle traded; kept for its memory.
    trades: Vec<u32>,
}

impl PowerOfD {
    pub(super) fn new(weights: Arc<[f64]>, choices: u32) -> Result<PowerOfD, UnitError> {
        if choices == 0 {
            return Err(UnitError::new("0", "a number of choices: at least 1"));
        }
        let targets = weights.len() as u32;
        let choices = choices.min(targets);
        let shuffled = if choices > 2 { (0..targets).collect() } else { Vec::new() };
        Ok(PowerOfD { choices, weights, shuffled, trades: Vec::new() })
    }

    #[inline]
    pub(super) fn choose(&mut self, counts: &Counts, draws: &mut Draws) -> u32 {
        let targets = self.weights.len() as u32;
        match self.choices {
            1 => below(draws, targets),
            2 => {
                let (a, b) = two_below(draws, targets);
                if counts.load(a, &self.weights) <= counts.load(b, &self.weights) { a } else { b }
            }
            _ => self.choose_of_many(counts, draws),
        }
    }

    /// A shuffle that stops after d places (Fisher and Yates 1938, Durstenfeld 1964) and is undone afterwards, so that a
    /// choice depends on its own draws alone.
    fn choose_of_many(&mut self, counts: &Counts, draws: &mut Draws) -> u32 {
        let targets = self.shuffled.len() as u32;
        let (mut best, mut least) = (0, f64::INFINITY);
        self.trades.clear();
        for i in 0..self.choices {
            let j = i + below(draws, targets - i);
            self.shuffled.swap(i as usize, j as usize);
            self.trades.push(j);
            let target = self.shuffled[i as usize];
            let load = counts.load(target, &self.weights);
            if load < least {
                (best, least) = (target, load);
            }
        }
        for (i, &j) in self.trades.iter().enumerate().rev() {
            self.shuffled.swap(i, j as usize);
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;

    /// Of n targets with 0, 1, ..., n - 1 outstanding, number k is the least of d drawn with probability
    /// C(n-1-k, d-1) / C(n, d).
    #[test]
    fn the_least_of_d_different_ones_is_taken() {
        let (n, tries) = (6u32, 60_000u64);
        let mut counts = Counts::new(n);
        (0..n).for_each(|target| (0..target).for_each(|_| _ = counts.started(target)));
        let binomial = |n: u32, k: u32| (0..k).fold(1.0, |b, i| b * f64::from(n - i) / f64::from(i + 1));
        for d in 1..=n {
            let mut policy = PowerOfD::new(vec![1.0; n as usize].into(), d).unwrap();
            let mut had = vec![0u32; n as usize];
            for k in 0..tries {
                had[policy.choose(&counts, &mut Stream::new(u64::from(d), "route").item(k)) as usize] += 1;
            }
            for k in 0..n {
                let p = if n - 1 - k >= d - 1 { binomial(n - 1 - k, d - 1) / binomial(n, d) } else { 0.0 };
                let share = f64::from(had[k as usize]) / tries as f64;
                let error = (p * (1.0 - p) / tries as f64).sqrt();
                assert!((share - p).abs() <= 4.0 * error, "d = {d}, target {k}: {share}, theory {p}");
            }
        }
    }
}
