//! Short ways to make plans, models and runs.

use base::dist::{self, Dist};
use base::sink::Kept;
use base::{Nanos, Profile, Rate, Record, RecordSink, Start};
use sim::{Generator, Network};
use workload::model::{Model, Station};
use workload::plan::Group;
use workload::{Limits, Plan, Process, Shard};

pub const LIMITS: Limits = Limits {
    connections: 10_000,
    max_wait: Nanos::from_secs(60),
    timeout: Nanos::from_secs(60),
    connect_timeout: Nanos::from_secs(60),
    drain: Nanos::from_secs(60),
};

/// One request per arrival, at that rate, all of it measured.
pub fn open(process: Process, rate: f64, seconds: i64, seed: u64) -> Plan {
    let length = Nanos::from_secs(seconds);
    let profile = Profile::new(&[base::Phase::hold(length, Rate(rate))]);
    Plan::of(seed, Group::open(process, profile), Nanos::ZERO, length)
}

pub fn law(text: &str) -> Dist {
    dist::parse(text, &|_| Err("no files here".to_owned())).unwrap()
}

/// So many servers with that service law.
pub fn servers(servers: u32, service: &str) -> Station {
    Station::new(servers, law(service))
}

/// Plays a plan by a perfect generator and keeps the records, in the order of their keys.
pub fn records(plan: &Plan, limits: Limits, model: &Model) -> Vec<Record> {
    let mut kept = Kept::default();
    let network = Network::new(model, plan).unwrap();
    sim::play(plan, Shard::WHOLE, limits, network, Generator::default(), &mut kept);
    assert!(kept.finished.is_some());
    kept.records.sort_by_key(|r| (r.k, r.intended));
    kept.records
}

/// Mean response time in seconds and number of the requests from number `from` on; keeps nothing else.
#[derive(Default)]
pub struct Mean {
    pub from: u64,
    pub n: u64,
    pub sum_s: f64,
}

impl RecordSink for Mean {
    fn start(&mut self, _: Start) {}
    fn record(&mut self, record: Record) {
        if record.k >= self.from {
            self.n += u64::from(record.count);
            self.sum_s += record.response().as_secs_f64();
        }
    }
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, _: Nanos) {}
}
