//! Consistent hashing (Karger, Lehman, Leighton, Panigrahy, Levine and Lewin 1997), if wanted with bounded loads
//! (Mirrokni, Thorup and Zadimoghaddam 2018).

use super::counts::Counts;
use headway_base::random::Stream;
use headway_base::units::UnitError;
use std::sync::Arc;

/// Points on the ring per target of mean weight: shares then differ by about 8 % between targets of one weight.
const POINTS: f64 = 160.0;
/// Points on the ring in all, or nearly: beyond 26,214 targets each has fewer, so that a ring takes about 70 MB at most.
const MOST_POINTS: f64 = 4_194_304.0;

/// Chooses the owner of the first point of the ring at or after the hash of the user.
///
/// With a bound b > 1, a target of weight w takes at most ceil(b (m + 1) w / W) of the m + 1 requests outstanding (W: sum of
/// weights); a request which finds one full goes on along the ring. The bounds add up to more than m + 1, so that some target is not full,
/// and 1/(b - 1)^2 steps are the order of what is expected. The ring depends on the number of targets and their weights
/// alone, not on a seed. One more target of mean weight takes over its share of users and moves no others, as long as each
/// has all its points.
#[derive(Clone, Debug)]
pub(super) struct ConsistentHash {
    ring: Arc<Ring>,
    /// For each target b w / W; none: no bound.
    bounds: Option<Arc<[f64]>>,
}

#[derive(Debug)]
struct Ring {
    /// In order.
    points: Vec<u64>,
    /// Whose each is.
    owners: Vec<u32>,
    /// For each value of a hash's upper bits, the index of the first point that has it or a higher one. There are as many
    /// values as points or fewer, down to half of them, so that the way from there to the point sought is a step or two.
    starts: Vec<u32>,
    /// A hash shifted by this leaves its upper bits.
    shift: u32,
}

impl Ring {
    fn new(weights: &[f64]) -> Ring {
        let n = weights.len() as f64;
        let per_target = POINTS.min(MOST_POINTS / n);
        let most = weights.iter().copied().fold(0.0, f64::max);
        let mean = weights.iter().map(|w| w / most).sum::<f64>() / n;
        let hash = Stream::new(0, "ring");
        let mut all = Vec::new();
        for (target, weight) in (0..).zip(weights) {
            let own = libm::round(per_target * (weight / most) / mean).max(1.0) as u64;
            all.extend((0..own).map(|j| (hash.bits(u64::from(target), j), target)));
        }
        all.sort_unstable();
        let (points, owners): (Vec<u64>, Vec<u32>) = all.into_iter().unzip();
        // One bit at least, so that the shift is one that a word has.
        let bits = points.len().ilog2().max(1);
        let shift = u64::BITS - bits;
        let mut starts = Vec::with_capacity(1 << bits);
        let mut i = 0;
        for upper in 0..1_u64 << bits {
            while points.get(i).is_some_and(|point| point >> shift < upper) {
                i += 1;
            }
            starts.push(i as u32);
        }
        Ring { points, owners, starts, shift }
    }

    /// Index of the first point at or after `at`, going round.
    #[inline]
    fn find(&self, at: u64) -> usize {
        let mut i = self.starts[(at >> self.shift) as usize] as usize;
        while self.points.get(i).is_some_and(|&point| point < at) {
            i += 1;
        }
        if i == self.points.len() { 0 } else { i }
    }
}

impl ConsistentHash {
    pub(super) fn new(weights: Arc<[f64]>, bound: Option<f64>) -> Result<ConsistentHash, UnitError> {
        if let Some(bound) = bound.filter(|b| !(b.is_finite() && *b > 1.0)) {
            return Err(UnitError::new(&bound.to_string(), "a bound of loads over their mean: above 1"));
        }
        let most = weights.iter().copied().fold(0.0, f64::max);
        let sum: f64 = weights.iter().map(|w| w / most).sum();
        let bounds = bound.map(|b| weights.iter().map(|w| b * (w / most) / sum).collect());
        Ok(ConsistentHash { ring: Arc::new(Ring::new(&weights)), bounds })
    }

    #[inline]
    pub(super) fn choose(&self, counts: &Counts, key: u64) -> u32 {
        let mut at = self.ring.find(Stream::new(0, "ring-key").bits(key, 0));
        let Some(bounds) = &self.bounds else { return self.ring.owners[at] };
        let all = counts.sum() as f64 + 1.0;
        let owners = &self.ring.owners;
        // Apart from rounding, some target is below the bound before the ring is round; otherwise the first is taken.
        for _ in 0..owners.len() {
            let owner = owners[at];
            if f64::from(counts.known(owner)) < libm::ceil(bounds[owner as usize] * all) {
                return owner;
            }
            at = if at + 1 == owners.len() { 0 } else { at + 1 };
        }
        owners[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(weights: &[f64], bound: Option<f64>) -> ConsistentHash {
        ConsistentHash::new(weights.into(), bound).unwrap()
    }

    /// Against a search through the points; from one point to many.
    #[test]
    fn the_first_point_at_or_after_a_hash_is_found() {
        for weights in [&[1.0][..], &[1.0, 1e6], &[1.0; 3], &[1.0; 100]] {
            let ring = Ring::new(weights);
            let hashes = (0..5_000).map(|k| Stream::new(1, "key").bits(k, 0)).chain([0, u64::MAX]);
            for at in hashes.chain(ring.points.clone()) {
                let truth = ring.points.partition_point(|&point| point < at);
                assert_eq!(ring.find(at), truth % ring.points.len(), "{at}");
            }
        }
        assert_eq!(Ring::new(&vec![1.0; 100_000]).points.len(), 4_200_000);
    }

    #[test]
    fn one_more_target_takes_its_share_and_moves_nobody_else() {
        let (ten, eleven) = (policy(&[1.0; 10], None), policy(&[1.0; 11], None));
        let (counts_10, counts_11) = (Counts::new(10), Counts::new(11));
        let mut moved = 0.0;
        for key in 0..20_000 {
            let (before, after) = (ten.choose(&counts_10, key), eleven.choose(&counts_11, key));
            assert!(after == before || after == 10, "key {key} went from {before} to {after}");
            moved += f64::from(u8::from(after == 10));
        }
        // The share of one target: mean 1/11, and a standard error of 1/sqrt(160) of that from the points of the ring,
        // besides that of 20,000 keys.
        let mean: f64 = 1.0 / 11.0;
        let error = mean * (1.0 / 160.0 + (1.0 - mean) / (20_000.0 * mean)).sqrt();
        assert!((moved / 20_000.0 - mean).abs() < 4.0 * error, "{moved}");
    }

    /// All requests of one user: a bound sends them on, and none has more than its bound of all that are outstanding.
    #[test]
    fn nobody_gets_more_than_the_bound() {
        let weights = [1.0, 1.0, 2.0, 4.0];
        let bounded = policy(&weights, Some(1.25));
        let mut counts = Counts::new(4);
        for m in 0..1_000 {
            let target = bounded.choose(&counts, 7);
            counts.started(target);
            let most = libm::ceil(1.25 * f64::from(m + 1) * weights[target as usize] / 8.0);
            assert!(f64::from(counts.known(target)) <= most, "{m}: {target}");
        }
        assert!((0..4).all(|target| counts.known(target) > 0));
        let unbounded = policy(&weights, None);
        let owner = unbounded.choose(&counts, 7);
        assert!((0..100).all(|_| unbounded.choose(&counts, 7) == owner));
    }

    #[test]
    fn a_bound_of_one_is_refused() {
        assert!(ConsistentHash::new(vec![1.0].into(), Some(1.0)).is_err());
        assert!(ConsistentHash::new(vec![1.0].into(), Some(f64::NAN)).is_err());
    }
}
