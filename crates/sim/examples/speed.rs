//! How fast the virtual world is: requests per second through client, calendar and network, on one core.
//!
//! `cargo run --release -p headway-sim --example speed [REQUESTS [PART OF A NAME]]`

use base::{Nanos, Phase, Profile, Rate, Record, RecordSink, Start, dist};
use sim::{Generator, Network};
use workload::model::{Discipline, Model, Policy, Station, Ties};
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

/// Plays so many requests at utilisation 0.8 of so many servers of mean service 1 ms.
#[expect(clippy::disallowed_types, reason = "a benchmark measures with a real clock")]
fn play(name: &str, model: &Model, servers: u32, requests: f64) -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(2).is_some_and(|part| !name.contains(&part)) {
        return Ok(());
    }
    let rate = 800.0 * f64::from(servers);
    let length = Nanos::from_secs_f64(requests / rate);
    let profile = Profile::new(&[Phase::hold(length, Rate(rate))]);
    let plan = Plan::of(1, Group::open(Process::Poisson, profile), Nanos::ZERO, length);
    let patience = Nanos::from_secs(30);
    let limits = Limits {
        connections: 1_000_000,
        max_wait: patience,
        timeout: patience,
        connect_timeout: patience,
        drain: patience,
    };
    let mut network = Network::new(model, &plan)?;
    let mut count = Count::default();
    let began = std::time::Instant::now();
    let played = sim::play(&plan, Shard::WHOLE, limits, &mut network, Generator::default(), &mut count);
    let took = began.elapsed().as_secs_f64();
    let observed = network.observed(played.ended);
    println!(
        "{name:<40} {:>6.2} million/s; mean response {:>7.3} ms; {} pending at most; Little's identity holds: {}",
        played.requests as f64 / took / 1e6,
        count.response_s / count.started as f64 * 1e3,
        played.most_held,
        observed.area_ns == observed.sum_ns
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let requests: f64 = std::env::args().nth(1).as_deref().unwrap_or("1e7").parse()?;
    let service = dist::parse("exp(1ms)", &|_| Err("no files here".to_owned()))?;
    let one = Station::new(1, service);
    let least = |ties| Policy::LeastConnections { ties };
    let sharing = Station { discipline: Discipline::Sharing, ..one.clone() };
    play("M/M/1 (theory 5 ms)", &Model::station(one.clone()), 1, requests)?;
    play("M/M/1, sharing (theory 5 ms)", &Model::station(sharing), 1, requests)?;
    for (name, policy) in [
        ("random over 250 (theory 5 ms)", Policy::Random),
        ("least connections over 250", least(Ties::Random)),
        ("least connections over 250, the first", least(Ties::First)),
        ("two choices over 250", Policy::PowerOfD { choices: 2 }),
    ] {
        play(name, &Model::balanced(policy, 250, one.clone()), 250, requests)?;
    }
    let many = Model::balanced(least(Ties::Random), 100_000, one);
    play("least connections over 100,000", &many, 100_000, requests)
}
