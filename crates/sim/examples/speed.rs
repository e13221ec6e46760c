//! How fast the virtual world is: requests per second of M/M/1 at rho 0.8, through client, calendar and model.
//!
//! `cargo run --release -p headway-sim --example speed [REQUESTS]`

use base::{Nanos, Phase, Profile, Rate, Record, RecordSink, Start, dist};
use sim::{Generator, Network};
use workload::model::{Model, Station};
use workload::plan::Group;
use workload::{Limits, Plan, Process, Shard};

/// Counts, as the least that a sink can do.
#[derive(Default)]
struct Count {
    started: u64,
    response_s: f64,
}

impl RecordSink for Count {
    fn start(&mut self, _: Start) {
        self.started += 1;
    }
    fn record(&mut self, record: Record) {
        self.response_s += record.response().as_secs_f64();
    }
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, _: Nanos) {}
}

#[expect(clippy::disallowed_types, reason = "a benchmark measures with a real clock")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let requests: f64 = std::env::args().nth(1).as_deref().unwrap_or("2e7").parse()?;
    let length = Nanos::from_secs_f64(requests / 800.0);
    let profile = Profile::new(&[Phase::hold(length, Rate(800.0))]);
    let plan = Plan::of(1, Group::open(Process::Poisson, profile), Nanos::ZERO, length);
    let service = dist::parse("exp(1ms)", &|_| Err("no files here".to_owned()))?;
    let network = Network::new(&Model::station(Station::new(1, service)), &plan)?;
    let patience = Nanos::from_secs(30);
    let limits = Limits {
        connections: 10_000,
        max_wait: patience,
        timeout: patience,
        connect_timeout: patience,
        drain: patience,
    };
    let mut count = Count::default();
    let began = std::time::Instant::now();
    let played = sim::play(&plan, Shard::WHOLE, limits, network, Generator::default(), &mut count);
    let took = began.elapsed().as_secs_f64();
    println!(
        "{} requests in {took:.2} s: {:.2} million/s; mean response {:.3} ms (theory 5); {} pending at most",
        played.requests,
        played.requests as f64 / took / 1e6,
        count.response_s / count.started as f64 * 1e3,
        played.most_held
    );
    Ok(())
}
