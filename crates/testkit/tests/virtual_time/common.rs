//! Short ways to make plans and worlds.

use headway_base::dist::{self, Dist};
use headway_base::sink::Kept;
use headway_base::{Kind, Nanos, Outcome, Rate, Record};
use headway_testkit::{Connect, Generator, Scripted, Simulation, Target};
use headway_workload::{Client, Limits, Plan, Process, Shard};

pub const LIMITS: Limits = Limits {
    connections: 1_000,
    max_wait: Nanos::from_secs(30),
    timeout: Nanos::from_secs(30),
    connect_timeout: Nanos::from_secs(5),
    drain: Nanos::from_secs(30),
};

pub fn plan(process: Process, rate: f64, seconds: i64, seed: u64) -> Plan {
    Plan::ramp_and_hold(seed, process, Rate(rate), Nanos::ZERO, Nanos::ZERO, Nanos::from_secs(seconds))
}

/// Plays a plan against a target and keeps everything.
pub fn play(plan: &Plan, limits: Limits, target: impl Target, generator: Generator) -> Kept {
    let client = Client::new(plan, Shard::WHOLE, limits, Kept::default());
    let mut world = Simulation::new(client, target, generator);
    world.run();
    std::mem::take(world.finish())
}

/// A target that connects at once and answers by a function of the instant and the number.
pub fn answers<R: FnMut(Nanos, u64) -> headway_testkit::Answer>(request: R) -> impl Target {
    Scripted { connect: |_| Connect::After(Nanos::ZERO), request }
}

/// A law that needs no file.
pub fn law(text: &str) -> Dist {
    dist::parse(text, &|_| Err("no files here".to_owned())).unwrap()
}

pub fn requests(kept: &Kept) -> impl Iterator<Item = &Record> {
    kept.records.iter().filter(|r| r.kind == Kind::Request)
}

pub fn count(kept: &Kept, outcome: Outcome) -> u64 {
    requests(kept).filter(|r| r.outcome == outcome).map(|r| u64::from(r.count)).sum()
}

/// Requests in all, each counted once.
pub fn total(kept: &Kept) -> u64 {
    requests(kept).map(|r| u64::from(r.count)).sum()
}
