//! The demonstration of a stop: the system stands still once for 2 s, under an open and under a closed load of 18,000
//! requests.

use super::closed;
use super::system::{SERVERS, Times, reference, system};
use crate::bounds;
use headway_base::station::Stalls;
use headway_base::{Kind, Nanos, Phase, Profile, Rate, Record, RecordSink, Start};
use headway_sim::Generator;
use headway_workload::model::Station;
use headway_workload::plan::Group;
use headway_workload::{Plan, Process, Shard};

const REQUESTS: u64 = 18_000;
/// Requests per second of the open load.
const RATE: f64 = 300.0;
const AT: Nanos = Nanos::from_secs(20);

/// Mean, p50, p99 and longest response time in milliseconds of the open and of the closed load.
///
/// # Errors
/// A stop of no length.
pub fn play(length: Nanos, seed: u64) -> anyhow::Result<[[f64; 4]; 2]> {
    let stalls = Some(Stalls::once(AT, length)?);
    let end = Nanos::from_secs_f64(REQUESTS as f64 / RATE);
    let profile = Profile::new(&[Phase::hold(end, Rate(RATE))]);
    let plan = Plan::of(seed, Group::open(Process::PoissonFixedN, profile), Nanos::ZERO, end);
    let mut responses = Responses::default();
    let target = system(&plan, None, Station { stalls, ..reference()? })?;
    headway_sim::play(&plan, Shard::WHOLE, bounds::NONE, target, Generator::default(), &mut responses);
    let (closed, _) = closed::play(SERVERS, REQUESTS, stalls, seed)?;
    Ok([Times::new(responses.0), closed]
        .map(|times| [times.mean(), times.quantile(0.5), times.quantile(0.99), times.max()]))
}

/// The sink: response times.
#[derive(Default)]
struct Responses(Vec<Nanos>);

impl RecordSink for Responses {
    fn start(&mut self, _: Start) {}
    fn record(&mut self, record: Record) {
        if record.kind == Kind::Request {
            self.0.push(record.response());
        }
    }
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, _: Nanos) {}
}
