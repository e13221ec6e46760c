//! Round robin: one after the other, by weight.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Takes turns, from target 0 on.
#[derive(Clone, Debug)]
pub(super) enum RoundRobin {
    /// All of one weight.
    Even {
        /// Whose turn it is.
        next: u32,
        targets: u32,
    },
    /// Request number k (from 0) of a target of weight w is due at (k + 1/2) / w on a clock of the policy's own, and the
    /// earliest is next, the lower number among equals: the divisor method of Webster and Sainte-Lague. So each target's
    /// share is right at any time to about a request, and its requests are spread evenly: weights 5, 1, 1 give 0 0 0 1 2
    /// 0 0. A heap gives the earliest in logarithmic time, where the smooth round robin of nginx looks at all targets.
    Weighted {
        /// When it is due next (bits of a positive number, which are in its order), which target, and its requests so far.
        due: BinaryHeap<Reverse<(u64, u32, u64)>>,
        weights: Arc<[f64]>,
    },
}

impl RoundRobin {
    pub(super) fn new(weights: Arc<[f64]>) -> RoundRobin {
        if weights.iter().all(|w| *w == weights[0]) {
            return RoundRobin::Even { next: 0, targets: weights.len() as u32 };
        }
        let due = weights.iter().enumerate().map(|(i, &w)| Reverse((due(0, w), i as u32, 0))).collect();
        RoundRobin::Weighted { due, weights }
    }

    #[inline]
    pub(super) fn choose(&mut self) -> u32 {
        match self {
            RoundRobin::Even { next, targets } => {
                let chosen = *next;
                *next = if chosen + 1 == *targets { 0 } else { chosen + 1 };
                chosen
            }
            RoundRobin::Weighted { due: heap, weights } => {
                let Some(mut earliest) = heap.peek_mut() else { return 0 };
                let Reverse((_, target, requests)) = *earliest;
                *earliest = Reverse((due(requests + 1, weights[target as usize]), target, requests + 1));
                target
            }
        }
    }
}

/// When request number `k` of a target of that weight is due.
fn due(k: u64, weight: f64) -> u64 {
    ((k as f64 + 0.5) / weight).to_bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(weights: &[f64], n: usize) -> Vec<u32> {
        let mut policy = RoundRobin::new(weights.into());
        (0..n).map(|_| policy.choose()).collect()
    }

    #[test]
    fn turns_are_in_order_and_spread() {
        assert_eq!(turns(&[2.0, 2.0, 2.0], 7), [0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(turns(&[5.0, 1.0, 1.0], 14), [0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 1, 2, 0, 0]);
        assert_eq!(turns(&[1.0, 2.0], 6), [1, 0, 1, 1, 0, 1]);
    }

    #[test]
    fn at_any_time_each_has_its_share_to_a_request() {
        let weights = [0.3, 2.0, 7.0, 1.0, 1.0];
        let sum: f64 = weights.iter().sum();
        let mut had = [0.0; 5];
        for (k, target) in turns(&weights, 5_000).into_iter().enumerate() {
            had[target as usize] += 1.0;
            for (had, weight) in had.iter().zip(weights) {
                let fair = (k + 1) as f64 * weight / sum;
                assert!((had - fair).abs() <= 1.5, "after {k}: {had} of {fair}");
            }
        }
    }
}
