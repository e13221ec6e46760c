//! One plan against one model: what became of each request.

use anyhow::ensure;
use base::{Nanos, Outcome, Phase, Profile, Rate, Record, RecordSink, Start};
use sim::{Generator, Target};
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

/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seen {
    /// When it was due, and sent.
    pub due: Nanos,
    /// How long the answer took.
    pub took: Nanos,
    /// Whether it was served.
    pub ok: bool,
}

/// Requests by that process at that rate until then.
pub fn until(process: Process, rate: Rate, end: Nanos, seed: u64) -> Plan {
    let group = Group::open(process, Profile::new(&[Phase::hold(end, rate)]));
    Plan::of(seed, group, Nanos::ZERO, end)
}

/// The first so many requests by that process at that rate, and those that are due at the same instant as the last.
pub fn first(process: Process, rate: Rate, requests: usize, seed: u64) -> Plan {
    // Twice as long as so many take on average is long enough for any number that is worth playing; so is more for few.
    let ample = Nanos::from_secs_f64((2.0 * requests as f64 + 100.0) / rate.0);
    let ample = until(process, rate, ample, seed);
    let last = ample.arrivals().nth(requests.saturating_sub(1));
    last.map_or(ample, |last| until(process, rate, last.intended + Nanos(1), seed))
}

/// Every request of the plan, in order of issue.
///
/// # Errors
/// One that was not answered.
pub fn all(plan: &Plan, target: impl Target) -> anyhow::Result<Vec<Seen>> {
    let mut sink = Sink::default();
    sim::play(plan, Shard::WHOLE, LIMITS, target, Generator::default(), &mut sink);
    let asked = sink.by_issue.len();
    let seen: Vec<Seen> = sink.by_issue.into_iter().flatten().collect();
    ensure!(seen.len() == asked, "{} of {asked} requests were answered", seen.len());
    Ok(seen)
}

#[derive(Default)]
struct Sink {
    by_issue: Vec<Option<Seen>>,
}

impl RecordSink for Sink {
    fn start(&mut self, _: Start) {}
    #[inline]
    fn record(&mut self, record: Record) {
        let Ok(at) = usize::try_from(record.k) else { return };
        if at >= self.by_issue.len() {
            self.by_issue.resize(at + 1, None);
        }
        if record.outcome.answered() {
            let ok = record.outcome == Outcome::Ok;
            self.by_issue[at] = Some(Seen { due: record.intended, took: record.response(), ok });
        }
    }
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, _: Nanos) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_ends_with_the_last_request_that_was_asked_for() {
        let rate = Rate(2_000.0 * (1.0_f64 / 3.0).sinh());
        let due = |n: usize| -> Vec<Nanos> {
            first(Process::Ticks { mean: 1.5 }, rate, n, 4)
                .arrivals()
                .map(|arrival| arrival.intended)
                .collect()
        };
        let many = due(100_000);
        assert!(many.iter().all(|at| at.0 % 1_000_000 == 0));
        assert!(many.windows(2).any(|pair| pair[0] == pair[1]));
        for n in [1, 999, 1_000, 1_001, 5_000] {
            let few = due(n);
            assert_eq!(few, many[..few.len()]);
            assert!(few.len() >= n && few[n - 1..].iter().all(|at| *at == few[n - 1]), "{n}");
        }
    }
}
