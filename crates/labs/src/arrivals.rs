//! Plans of single requests at one rate: until an instant, or a number of them.

use headway_base::{Nanos, Phase, Profile, Rate};
use headway_workload::plan::Group;
use headway_workload::{Plan, Process};

/// Requests by that process at that rate until then.
pub fn until(process: Process, rate: Rate, end: Nanos, seed: u64) -> Plan {
    let group = Group::open(process, Profile::new(&[Phase::hold(end, rate)]));
    Plan::of(seed, group, Nanos::ZERO, end)
}

/// The first `n` requests by that process at that rate, and those that are due at the same instant as the last.
pub fn first(process: Process, rate: Rate, requests: usize, seed: u64) -> Plan {
    // Twice as long as so many take on average is long enough for any number that is worth playing; so is more for few.
    let ample = Nanos::from_secs_f64((2.0 * requests as f64 + 100.0) / rate.0);
    let ample = until(process, rate, ample, seed);
    let last = ample.arrivals().nth(requests.saturating_sub(1));
    last.map_or(ample, |last| until(process, rate, last.intended + Nanos(1), seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(process: Process, rate: Rate, requests: usize, seed: u64) -> Vec<Nanos> {
        first(process, rate, requests, seed).arrivals().map(|arrival| arrival.intended).collect()
    }

    /// As many as were asked for, the same as in a plan that goes on.
    #[test]
    fn a_plan_has_as_many_arrivals_as_are_asked_for() {
        for (n, seed) in [(1, 1), (2, 2), (100, 3), (10_000, 4), (10_000, 5)] {
            let few = due(Process::Poisson, Rate(1e3), n, seed);
            assert_eq!(few.len(), n, "seed {seed}");
            assert_eq!(few, due(Process::Poisson, Rate(1e3), n + 1_000, seed)[..n]);
        }
    }

    #[test]
    fn a_plan_ends_with_those_that_come_with_the_last() {
        let rate = Rate(2_000.0 * (1.0_f64 / 3.0).sinh());
        let ticks = |n| due(Process::Ticks { mean: 1.5 }, rate, n, 4);
        let many = ticks(100_000);
        assert!(many.iter().all(|at| at.0 % 1_000_000 == 0));
        assert!(many.windows(2).any(|pair| pair[0] == pair[1]));
        for n in [1, 999, 1_000, 1_001, 5_000] {
            let few = ticks(n);
            assert_eq!(few, many[..few.len()]);
            assert!(few.len() >= n && few[n - 1..].iter().all(|at| *at == few[n - 1]), "{n}");
        }
    }
}
