//! Short ways to make plans, models and runs.

use headway_base::dist::{self, Dist};
use headway_base::sink::Kept;
use headway_base::{Nanos, Profile, Rate, Record, RecordSink, Start};
use headway_sim::{Answer, Generator, Network, Target};
use headway_workload::model::{Model, Station};
use headway_workload::plan::Group;
use headway_workload::{Limits, Plan, Process, RequestKey, Shard};

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
    let profile = Profile::new(&[headway_base::Phase::hold(length, Rate(rate))]);
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
    headway_sim::play(plan, Shard::WHOLE, limits, network, Generator::default(), &mut kept);
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

/// What becomes of requests of step 0 that come at these milliseconds, each on a connection of its own: when they are
/// answered, in microseconds, and the status. None: never.
pub fn asked(model: &Model, at: &[i64]) -> Vec<Option<(i64, u16)>> {
    let steps: Vec<(i64, u16)> = at.iter().map(|&at| (at, 0)).collect();
    asked_of(&mut network(model), &steps)
}

/// The network of a model, for a plan that does not matter.
pub fn network(model: &Model) -> Network {
    Network::new(model, &open(Process::Constant, 1.0, 60, 1)).unwrap()
}

/// What becomes of requests (when in milliseconds, of which step): as [`asked`].
pub fn asked_of(network: &mut Network, requests: &[(i64, u16)]) -> Vec<Option<(i64, u16)>> {
    let mut answers = vec![None; requests.len()];
    let mut now = Nanos::ZERO;
    let mut until = |network: &mut Network, end: Nanos, answers: &mut Vec<Option<(i64, u16)>>| {
        while network.next_at() <= end {
            // An answer that has come is told at once.
            now = network.next_at().max(now);
            if let Some(answered) = network.step(now) {
                assert_eq!(answers[answered.slot as usize], None);
                answers[answered.slot as usize] = Some((now.0 / 1_000, answered.status));
            }
        }
    };
    for (k, &(at, step)) in (0u32..).zip(requests) {
        let now = Nanos::from_millis(at);
        until(network, now, &mut answers);
        let sending =
            RequestKey { session: k, k: u64::from(k), user: u64::from(k), step, ..RequestKey::default() };
        match network.request(now, u64::from(k), k, &sending) {
            Answer::Comes { done, status, .. } => {
                answers[k as usize] = Some(((now + done).0 / 1_000, status))
            }
            Answer::Later => {}
            Answer::Silence => panic!("a network says nothing of it"),
        }
    }
    until(network, Nanos::from_secs(100), &mut answers);
    answers
}

/// Answers that are all good, in milliseconds.
pub fn good(ms: &[i64]) -> Vec<Option<(i64, u16)>> {
    ms.iter().map(|&ms| Some((ms * 1_000, 200))).collect()
}
