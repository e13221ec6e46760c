//! Collapsing batches: the course of a run in at most 8,192 sums, however long it becomes.
//!
//! Batches begin with one observation each; when as many are full as there may be, neighbours merge and the length
//! doubles (Fishman 1978, "Grouping observations in digital simulation"). From
//! then on at least half of them are full.

use serde::{Deserialize, Serialize};

/// Most full batches at once.
pub const MOST_BATCHES: usize = 8192;

/// The sums of equally many observations each, in order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Batches {
    /// Sums of the full batches.
    sums: Vec<f64>,
    /// Observations in a full batch, a power of 2.
    length: u64,
    /// Sum of the batch that is being filled, and the observations that it lacks.
    open: f64,
    lacking: u64,
}

impl Default for Batches {
    fn default() -> Batches {
        Batches::new()
    }
}

impl Batches {
    /// None yet.
    pub fn new() -> Batches {
        Batches { sums: Vec::with_capacity(MOST_BATCHES), length: 1, open: 0.0, lacking: 1 }
    }

    /// The next observation, in seconds; finite.
    #[inline]
    pub fn push(&mut self, value_seconds: f64) {
        self.open += value_seconds;
        self.lacking -= 1;
        if self.lacking == 0 {
            self.close();
        }
    }

    #[inline(never)]
    fn close(&mut self) {
        self.sums.push(self.open);
        self.open = 0.0;
        if self.sums.len() == MOST_BATCHES {
            for i in 0..MOST_BATCHES / 2 {
                self.sums[i] = self.sums[2 * i] + self.sums[2 * i + 1];
            }
            self.sums.truncate(MOST_BATCHES / 2);
            self.length *= 2;
        }
        self.lacking = self.length;
    }

    /// Observations in a full batch.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Sums of the full batches, in order.
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// Sum and count of what does not fill a batch yet.
    pub fn rest(&self) -> (f64, u64) {
        (self.open, self.length - self.lacking)
    }

    /// Observations so far.
    pub fn n(&self) -> u64 {
        self.sums.len() as u64 * self.length + self.rest().1
    }

    /// Batches that it takes to hold so many observations.
    pub fn holding(&self, observations: u64) -> usize {
        usize::try_from(observations.div_ceil(self.length)).unwrap_or(usize::MAX)
    }

    /// Mean without the first `batches` batches; what does not fill a batch yet is always kept. None if nothing is left.
    pub fn mean_after(&self, batches: usize) -> Option<f64> {
        let kept = self.sums.get(batches..).unwrap_or_default();
        let (rest, count) = self.rest();
        let n = kept.len() as u64 * self.length + count;
        (n > 0).then(|| (kept.iter().sum::<f64>() + rest) / n as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_sums_counts_and_order() {
        let mut batches = Batches::new();
        let n = 100_003u64;
        (0..n).for_each(|k| batches.push(k as f64));
        assert_eq!((batches.n(), batches.length()), (n, 16));
        assert_eq!(batches.sums().len() as u64, n / 16);
        for (i, sum) in batches.sums().iter().enumerate() {
            let first = 16.0 * i as f64;
            assert_eq!(*sum, 16.0 * first + 120.0, "{i}");
        }
        assert_eq!(batches.rest(), (100_000.0 + 100_001.0 + 100_002.0, 3));
        assert_eq!(batches.mean_after(0), Some((n - 1) as f64 / 2.0));
        assert_eq!(batches.mean_after(batches.holding(99_984)), Some((99_984 + n - 1) as f64 / 2.0));
        assert_eq!((batches.holding(99_984), batches.holding(99_985)), (6249, 6250));
        assert_eq!(batches.mean_after(6250), Some(100_001.0));
        assert_eq!(batches.mean_after(usize::MAX), Some(100_001.0), "the rest is always kept");
    }

    #[test]
    fn memory_stays() {
        let mut batches = Batches::new();
        assert_eq!(batches.mean_after(0), None);
        for k in 0..200_000 {
            batches.push(1.0);
            assert!(batches.sums().len() < MOST_BATCHES, "{k}");
            assert!(k < MOST_BATCHES || batches.sums().len() >= MOST_BATCHES / 2, "{k}");
        }
        assert_eq!(batches.sums.capacity(), MOST_BATCHES);
    }
}
