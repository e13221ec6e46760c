//! A stratified sample of a sequence: all of it while it is short, then one of each stride of 2, 4, 8, ... in order.
//!
//! Which one of a stride is drawn from the stride's number alone, so that two models on the same draws keep the same requests, and
//! no period of the sequence falls in step with the strides. Deliberately absent: what is sampled.

use headway_base::random::{Stream, streams};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Most values at once.
pub const MOST_SAMPLED: usize = 65_536;

/// Which of a stride.
const PICKS: Stream = Stream::new(0, streams::PICK);

/// At most [`MOST_SAMPLED`] values of a sequence, and at least half as many of one that is longer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample<T> {
    values: Vec<T>,
    /// Values of the sequence for each one kept, a power of 2.
    stride: u64,
    /// How many of the open stride have come, and which of them is kept.
    come: u64,
    pick: u64,
}

impl<T> Default for Sample<T> {
    fn default() -> Sample<T> {
        Sample { values: Vec::new(), stride: 1, come: 0, pick: 0 }
    }
}

impl<T: Copy> Sample<T> {
    /// The next value.
    #[inline]
    pub fn push(&mut self, value: T) {
        if self.come == self.pick {
            self.values.push(value);
        }
        self.come += 1;
        if self.come == self.stride {
            self.close();
        }
    }

    #[inline]
    fn close(&mut self) {
        self.come = 0;
        if self.stride > 1 || self.values.len() == MOST_SAMPLED {
            self.next();
        }
    }

    #[inline(never)]
    fn next(&mut self) {
        if self.values.len() == MOST_SAMPLED {
            thin(&mut self.values, 2, self.stride);
            self.stride *= 2;
        }
        self.pick = PICKS.bits(self.values.len() as u64, self.stride) % self.stride;
    }

    /// Whether it holds all of the sequence so far, and will not when one more has come.
    pub fn is_full(&self) -> bool {
        self.stride == 1 && self.values.len() + 1 == MOST_SAMPLED
    }

    /// What is kept of these places of the sequence, counted from 0, in order.
    pub fn of(&self, places: Range<u64>) -> &[T] {
        let place =
            |at: u64| usize::try_from(at.div_ceil(self.stride)).unwrap_or(usize::MAX).min(self.values.len());
        self.values.get(place(places.start)..place(places.end)).unwrap_or_default()
    }
}

/// Keeps one of each so many values.
fn thin<T: Copy>(values: &mut Vec<T>, of: usize, level: u64) {
    let kept = values.len() / of;
    for i in 0..kept {
        values[i] = values[of * i + PICKS.bits(i as u64, level) as usize % of];
    }
    values.truncate(kept);
}

/// At most so many (at least 1) of these, spread over them.
pub fn at_most<T: Copy>(values: &[T], most: usize) -> Vec<T> {
    let mut values = values.to_vec();
    let of = values.len().div_ceil(most.max(1));
    if of > 1 {
        thin(&mut values, of, 0);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each stride, the order kept, and none of them preferred: of a sequence of period 2 about half are of each kind.
    #[test]
    fn a_long_sequence_keeps_one_of_each_stride() {
        for n in [10u64, 65_535, 65_536, 65_537, 300_000, 1_000_003] {
            let mut sample = Sample::default();
            (0..n).for_each(|k| sample.push(k));
            let stride = sample.stride;
            assert_eq!((stride == 1, sample.is_full()), (n < MOST_SAMPLED as u64, n == 65_535), "{n}");
            let kept = sample.of(0..n);
            assert!(kept.iter().enumerate().all(|(i, k)| k / stride == i as u64), "{n}");
            assert!((n / stride..=n.div_ceil(stride)).contains(&(kept.len() as u64)), "{n}");
            assert!(kept.len() <= MOST_SAMPLED && (stride == 1 || kept.len() >= MOST_SAMPLED / 2), "{n}");
            if stride > 1 {
                let odd = kept.iter().filter(|k| *k % 2 == 1).count() as f64;
                let half = kept.len() as f64 / 2.0;
                assert!((odd - half).abs() < 4.0 * (half / 2.0).sqrt(), "{n}: {odd} of {}", kept.len());
            }
            assert!(sample.of(n / 3..n / 2).iter().all(|k| (n / 3..n / 2 + stride).contains(k)));
            let few = at_most(kept, 1_000);
            assert!(few.len() <= 1_000 && few.is_sorted() && few.len() >= kept.len().min(1_000) / 2);
        }
    }
}
