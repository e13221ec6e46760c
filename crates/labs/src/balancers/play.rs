//! Replications: every row plays the same arrivals and demands, for both follow from the seed and the number of a request.

use super::cases::{CASES, Case, Setting, Way};
use crate::answers::{self, Answers};
use crate::latencies::{MAX, MIN, NUMBERS, numbers};
use crate::{arrivals, bounds, replicate};
use anyhow::ensure;
use headway_base::Rate;
use headway_base::random::Stream;
use headway_sim::{Network, lindley};
use headway_workload::{Plan, Process};

/// What one replication, or one long run, gave for each row.
pub type Played = Vec<[f64; NUMBERS]>;

/// Everything that was played.
#[derive(Clone, Debug)]
pub struct All {
    /// Of what.
    pub setting: Setting,
    /// From the first request to the last answer.
    pub replications: Vec<Played>,
    /// In the steady state; min and max are of as many requests as a replication has.
    pub long: Vec<Played>,
}

/// Plays the rows so often, and the long runs.
///
/// # Errors
/// A setting that cannot be: no servers, no service time.
pub fn all(setting: &Setting, seed: u64, replications: u64) -> anyhow::Result<All> {
    let long = setting.long;
    // Long runs have seeds of their own: the replications would else be their beginnings.
    let apart = Stream::new(seed, "lab-balancers-long").bits(0, 0);
    Ok(All {
        setting: *setting,
        replications: replicate(seed, replications, |seed| once(setting, &CASES, seed))
            .into_iter()
            .collect::<anyhow::Result<_>>()?,
        long: replicate(apart, long.runs, |seed| steadily(setting, seed))
            .into_iter()
            .collect::<anyhow::Result<_>>()?,
    })
}

/// One replication of these rows.
///
/// # Errors
/// As [`all`].
pub fn once(setting: &Setting, cases: &[Case], seed: u64) -> anyhow::Result<Played> {
    let plan = plan(setting, setting.requests, seed);
    cases
        .iter()
        .map(|case| Ok(numbers(&mut latencies(setting, case.way, &plan, setting.requests)?)))
        .collect()
}

/// One long run of each row.
fn steadily(setting: &Setting, seed: u64) -> anyhow::Result<Played> {
    let plan = plan(setting, setting.long.requests, seed);
    CASES
        .iter()
        .map(|case| {
            let mut latencies = latencies(setting, case.way, &plan, setting.long.requests)?;
            let counted = latencies.get_mut(setting.long.warmup..).unwrap_or_default();
            let windows: Vec<(u64, u64)> =
                counted.chunks_exact(setting.requests).filter_map(extremes).collect();
            let mut numbers = numbers(counted);
            let mean = |of: fn(&(u64, u64)) -> u64| {
                windows.iter().map(|window| of(window) as f64).sum::<f64>() / windows.len() as f64 / 1e6
            };
            (numbers[MIN], numbers[MAX]) = (mean(|window| window.0), mean(|window| window.1));
            Ok(numbers)
        })
        .collect()
}

fn extremes(window: &[u64]) -> Option<(u64, u64)> {
    Some((*window.iter().min()?, *window.iter().max()?))
}

/// So many arrivals.
fn plan(setting: &Setting, requests: usize, seed: u64) -> Plan {
    arrivals::first(Process::Poisson, Rate(setting.rate), requests, seed)
}

/// The latencies of the first `n` requests, in order of arrival, in nanoseconds: by a recursion where that can be, which
/// gives the same and takes a fraction of the time.
fn latencies(setting: &Setting, way: Way, plan: &Plan, requests: usize) -> anyhow::Result<Vec<u64>> {
    let model = setting.model(way)?;
    let (mut alone, mut through) = (Answers::default(), Answers::default());
    let seen = if lindley::play(plan, &model, bounds::NONE, &mut alone).is_ok() {
        alone.all()?
    } else if lindley::play_through(plan, &mut Network::new(&model, plan)?, bounds::NONE, &mut through)
        .is_ok()
    {
        through.all()?
    } else {
        answers::all(plan, Network::new(&model, plan)?)?
    };
    ensure!(seen.len() >= requests, "{} of {requests} requests were made", seen.len());
    Ok(seen[..requests].iter().map(|seen| seen.took.0.unsigned_abs()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balancers::cases::{Long, PUBLISHED};
    use headway_workload::model::Ties;

    /// The recursion takes the place of the calendar where it can, and changes nothing.
    #[test]
    fn recursion_and_calendar_give_the_same_latencies() {
        let plan = plan(&PUBLISHED, 3_000, 9);
        let ties = [Ties::First, Ties::Random, Ties::RoundRobin];
        let counting =
            ties.into_iter().flat_map(|ties| [Way::Even(ties), Way::OnePool(ties), Way::Pools(ties)]);
        for way in counting.chain([Way::Random, Way::RoundRobin, Way::OneQueue]) {
            let model = PUBLISHED.model(way).unwrap();
            let seen = answers::all(&plan, Network::new(&model, &plan).unwrap()).unwrap();
            let took: Vec<u64> = seen.iter().map(|seen| seen.took.0.unsigned_abs()).collect();
            assert_eq!(took, latencies(&PUBLISHED, way, &plan, 3_000).unwrap(), "{way:?}");
        }
    }

    /// One server without waiting: latencies are service times. All but the warm-up are counted, in order.
    #[test]
    fn extremes_are_those_of_windows() {
        let setting = Setting {
            rate: 1e-3,
            servers: 1,
            balancers: 1,
            requests: 10,
            long: Long { runs: 1, requests: 50, warmup: 20 },
            ..PUBLISHED
        };
        let plan = plan(&setting, 50, 8);
        let demands = latencies(&setting, Way::OneQueue, &plan, 50).unwrap();
        let mean =
            |of: fn(&[u64]) -> u64| (2..5).map(|i| of(&demands[10 * i..][..10])).sum::<u64>() as f64 / 3e6;
        let last = steadily(&setting, 8).unwrap().pop().unwrap();
        assert!((last[MIN] - mean(|w| *w.iter().min().unwrap())).abs() < 1e-9, "{last:?}");
        assert!((last[MAX] - mean(|w| *w.iter().max().unwrap())).abs() < 1e-9, "{last:?}");
        assert_eq!(numbers(&mut demands[20..].to_vec())[1..MAX], last[1..MAX]);
    }
}
