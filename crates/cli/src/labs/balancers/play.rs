//! Replications: every row plays the same arrivals and demands, for both follow from the seed and the number of a request.

use super::cases::{CASES, Case, Setting, Way};
use crate::labs::latencies::{MAX, MIN, NUMBERS, numbers};
use crate::labs::replicate;
use anyhow::ensure;
use base::random::Stream;
use base::{Nanos, Phase, Profile, Rate, Record, RecordSink, Start};
use sim::{Generator, Network, recursion};
use workload::plan::Group;
use workload::{Limits, Plan, Process, Shard};

/// Longer than anything takes.
const ENDLESS: Nanos = Nanos::from_secs(24 * 3_600);

/// No bound that matters.
const LIMITS: Limits = Limits {
    connections: 10_000_000,
    max_wait: ENDLESS,
    timeout: ENDLESS,
    connect_timeout: ENDLESS,
    drain: ENDLESS,
};

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

/// So many arrivals, and none after the last.
fn plan(setting: &Setting, requests: usize, seed: u64) -> Plan {
    let rate = Rate(setting.rate);
    let until = |end: Nanos| {
        let group = Group::open(Process::Poisson, Profile::new(&[Phase::hold(end, rate)]));
        Plan::of(seed, group, Nanos::ZERO, end)
    };
    // Twice as long as so many take on average is long enough for any number that is worth playing; so is more for few.
    let ample = until(Nanos::from_secs_f64((2.0 * requests as f64 + 100.0) / setting.rate));
    let last = ample.arrivals().nth(requests.saturating_sub(1));
    last.map_or(ample, |last| until(last.intended + Nanos(1)))
}

/// The latencies of the first so many requests, in order of arrival, in nanoseconds: by recursion where that can be, which
/// gives the same and takes a fraction of the time.
fn latencies(setting: &Setting, way: Way, plan: &Plan, requests: usize) -> anyhow::Result<Vec<u64>> {
    let model = setting.model(way)?;
    let mut seen = Latencies::new(requests);
    if recursion::play(plan, &model, LIMITS, &mut seen).is_err() {
        seen = Latencies::new(requests);
        let target = Network::new(&model, plan)?;
        sim::play(plan, Shard::WHOLE, LIMITS, target, Generator::default(), &mut seen);
    }
    ensure!(seen.seen == requests, "{} of {requests} requests were answered", seen.seen);
    Ok(seen.by_arrival)
}

/// The sink.
struct Latencies {
    by_arrival: Vec<u64>,
    seen: usize,
}

impl Latencies {
    fn new(requests: usize) -> Latencies {
        Latencies { by_arrival: vec![0; requests], seen: 0 }
    }
}

impl RecordSink for Latencies {
    fn start(&mut self, _: Start) {}
    #[inline]
    fn record(&mut self, record: Record) {
        let place = usize::try_from(record.k).ok().and_then(|k| self.by_arrival.get_mut(k));
        if let Some(place) = place.filter(|_| record.outcome.answered()) {
            *place = record.response().0.unsigned_abs();
            self.seen += 1;
        }
    }
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, _: Nanos) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labs::balancers::cases::{Long, PUBLISHED};

    #[test]
    fn a_plan_has_as_many_arrivals_as_are_played() {
        for (requests, seed) in [(1, 1), (2, 2), (100, 3), (10_000, 4), (10_000, 5)] {
            let arrivals: Vec<_> = plan(&PUBLISHED, requests, seed).arrivals().collect();
            assert_eq!(arrivals.len(), requests, "seed {seed}");
            // The same as in a plan without end.
            let long: Vec<_> = plan(&PUBLISHED, requests + 1_000, seed).arrivals().take(requests).collect();
            assert_eq!(arrivals, long);
        }
    }

    /// The recursion takes the place of the calendar where it can, and changes nothing.
    #[test]
    fn recursion_and_calendar_give_the_same_latencies() {
        let plan = plan(&PUBLISHED, 3_000, 9);
        for way in [Way::Random, Way::RoundRobin, Way::OneQueue] {
            let model = PUBLISHED.model(way).unwrap();
            assert!(recursion::suits(&plan, &model), "{way:?}");
            let mut seen = Latencies::new(3_000);
            let target = Network::new(&model, &plan).unwrap();
            sim::play(&plan, Shard::WHOLE, LIMITS, target, Generator::default(), &mut seen);
            assert_eq!(seen.by_arrival, latencies(&PUBLISHED, way, &plan, 3_000).unwrap(), "{way:?}");
        }
    }

    /// One server that nobody waits for: latencies are demands. All but the warm-up are counted, in order.
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
