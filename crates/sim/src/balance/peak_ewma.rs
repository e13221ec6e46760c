//! Peak EWMA: the least product of recent latency and outstanding requests, of two drawn at random. As in Finagle
//! (com.twitter.finagle.loadbalancer, PeakEwma and P2C), with its constants.

use super::counts::Counts;
use super::draw::two_below;
use headway_base::Nanos;
use headway_base::random::Draws;
use headway_base::units::UnitError;
use std::sync::Arc;

/// What is said of a target that has requests outstanding but has not answered any: more than any latency.
const UNKNOWN_NS: f64 = (i64::MAX >> 16) as f64;

/// Draws two different targets evenly and takes that of the lower cost; of equals, the one drawn first.
///
/// A target's cost is its latency x (outstanding + 1) / weight. Its latency is an average in which what is t old counts
/// exp(-t / decay), except that a latency above the average takes its place at once ("peak"). Each look at a target ages its
/// average as a latency of zero would, so that one that was slow once is tried again. Failures count as answers do, however
/// fast: a target that fails fast looks good, as it does in Finagle.
#[derive(Clone, Debug)]
pub(super) struct PeakEwma {
    seen: Vec<Seen>,
    weights: Arc<[f64]>,
    decay_ns: f64,
}

/// What has been seen of a target.
#[derive(Clone, Copy, Debug)]
struct Seen {
    latency_ns: f64,
    at: Nanos,
}

impl Seen {
    #[inline]
    fn observe(&mut self, now: Nanos, latency_ns: f64, decay_ns: f64) {
        let old = libm::exp(-((now - self.at).0.max(0) as f64) / decay_ns);
        self.latency_ns = if latency_ns > self.latency_ns {
            latency_ns
        } else {
            self.latency_ns * old + latency_ns * (1.0 - old)
        };
        self.at = now;
    }
}

impl PeakEwma {
    pub(super) fn new(weights: Arc<[f64]>, decay: Nanos) -> Result<PeakEwma, UnitError> {
        if decay <= Nanos::ZERO {
            return Err(UnitError::new(&decay.to_string(), "a time constant of latencies: above 0, as 10s"));
        }
        let seen = vec![Seen { latency_ns: 0.0, at: Nanos::ZERO }; weights.len()];
        Ok(PeakEwma { seen, weights, decay_ns: decay.0 as f64 })
    }

    #[inline]
    pub(super) fn choose(&mut self, counts: &Counts, now: Nanos, draws: &mut Draws) -> u32 {
        if self.seen.len() == 1 {
            return 0;
        }
        let (a, b) = two_below(draws, self.seen.len() as u32);
        if self.cost(a, counts, now) <= self.cost(b, counts, now) { a } else { b }
    }

    fn cost(&mut self, target: u32, counts: &Counts, now: Nanos) -> f64 {
        let seen = &mut self.seen[target as usize];
        seen.observe(now, 0.0, self.decay_ns);
        let latency_ns = seen.latency_ns;
        let outstanding = f64::from(counts.known(target));
        if latency_ns == 0.0 && outstanding > 0.0 {
            UNKNOWN_NS + outstanding / self.weights[target as usize]
        } else {
            latency_ns * counts.load(target, &self.weights)
        }
    }

    /// An answer came after `took`.
    #[inline]
    pub(super) fn observe(&mut self, target: u32, now: Nanos, took: Nanos) {
        self.seen[target as usize].observe(now, took.0 as f64, self.decay_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;

    fn policy(decay: Nanos) -> PeakEwma {
        PeakEwma::new(vec![1.0; 2].into(), decay).unwrap()
    }

    #[test]
    fn peaks_count_at_once_and_fade() {
        let (mut policy, counts) = (policy(Nanos::from_secs(10)), Counts::new(2));
        let at = Nanos::from_secs;
        policy.observe(0, at(1), Nanos(1_000));
        assert_eq!(policy.seen[0].latency_ns, 1_000.0);
        // Ten seconds on, the old average counts 1/e.
        policy.observe(0, at(11), Nanos(100));
        let e = std::f64::consts::E;
        let average = 1_000.0 / e + 100.0 * (1.0 - 1.0 / e);
        assert!((policy.seen[0].latency_ns - average).abs() < 1e-9);
        policy.observe(0, at(11), Nanos(5_000));
        assert_eq!(policy.seen[0].latency_ns, 5_000.0);
        // A look ages it.
        assert!((policy.cost(0, &counts, at(21)) - 5_000.0 / e).abs() < 1e-9);
        assert!((policy.cost(0, &counts, at(21)) - 5_000.0 / e).abs() < 1e-9);
    }

    #[test]
    fn who_never_answered_comes_last_and_who_is_slow_is_avoided() {
        let (mut policy, mut counts) = (policy(Nanos::from_secs(10)), Counts::new(2));
        let choose = |policy: &mut PeakEwma, counts: &Counts| {
            let chosen: Vec<u32> = (0..64)
                .map(|k| policy.choose(counts, Nanos::from_millis(1), &mut Stream::new(1, "route").item(k)))
                .collect();
            (chosen.contains(&0), chosen.contains(&1))
        };
        assert_eq!(choose(&mut policy, &counts), (true, true));
        counts.started(0);
        policy.observe(1, Nanos(0), Nanos::from_secs(3_600));
        assert_eq!(choose(&mut policy, &counts), (false, true));
        policy.observe(0, Nanos(0), Nanos::from_secs(1_700));
        assert_eq!(choose(&mut policy, &counts), (true, false));
        counts.started(0);
        assert_eq!(choose(&mut policy, &counts), (false, true));
    }

    #[test]
    fn no_time_constant_is_refused() {
        assert!(PeakEwma::new(vec![1.0].into(), Nanos::ZERO).is_err());
    }
}
