//! Common random numbers: models that are compared get the same requests with the same demands, so that their difference is
//! known better than either.

use crate::common::{Load, law};
use headway_base::dist::Law;
use headway_base::random::{Stream, streams};
use headway_base::sink::Kept;
use headway_base::{Nanos, Record};
use headway_sim::{Generator, Network};
use headway_stats::steady::paired;
use headway_workload::model::{
    Balancer, Discipline, Kind, Model, Part, Policy, Retry, Station, Ties, Timeout,
};
use headway_workload::{Limits, Shard};

const LIMITS: Limits = Limits {
    connections: 100_000,
    max_wait: Nanos::from_secs(60),
    timeout: Nanos::from_secs(60),
    connect_timeout: Nanos::from_secs(60),
    drain: Nanos::from_secs(60),
};

fn rows(model: &Model, rate: f64, seconds: f64, seed: u64) -> Vec<Record> {
    let plan = Load::poisson(rate).plan(seed, Nanos::from_secs_f64(seconds));
    let mut kept = Kept::default();
    let network = Network::new(model, &plan).unwrap();
    headway_sim::play(&plan, Shard::WHOLE, LIMITS, network, Generator::default(), &mut kept);
    kept.records.sort_by_key(|record| record.k);
    kept.records
}

/// Where nobody ever waits, a response is the demand.
#[test]
fn every_model_of_a_plan_draws_the_same_demands() {
    let service = "lognormal(4ms,1.3)";
    let roomy = |discipline| Station { discipline, ..Station::new(2_000, law(service)) };
    let plain = || Station::new(2_000, law(service));
    let pool = |policy| Model::balanced(policy, 7, plain());
    let around = |part: Part| Model::of(vec![part]);
    let station = || Part::new("station", Kind::Station(plain()));
    let again = Retry { attempts: 3, backoff: None, budget: None };
    let patience = Timeout { after: Nanos::from_secs(30), cancel: headway_workload::model::Cancel::Queued };
    let models = [
        ("first come first served", Model::station(plain())),
        ("last come first served", Model::station(roomy(Discipline::Lifo))),
        ("shared", Model::station(roomy(Discipline::Sharing))),
        ("priority", Model::station(roomy(Discipline::Priority { classes: vec![0], preemptive: true }))),
        ("random", pool(Policy::Random)),
        ("round robin", pool(Policy::RoundRobin)),
        ("least connections", pool(Policy::LeastConnections { ties: Ties::Random })),
        ("two choices", pool(Policy::PowerOfD { choices: 2 })),
        ("consistent hash", pool(Policy::ConsistentHash { bound: Some(1.25) })),
        ("retries", around(Part { retry: Some(again), ..station() })),
        ("patience", around(Part { timeout: Some(patience), ..station() })),
        (
            "two layers",
            Model::of(vec![
                Part::new("routers", Kind::Balancer(Balancer::new(Policy::Random, &[1]))),
                Part {
                    copies: 3,
                    ..Part::new("router", Kind::Balancer(Balancer::new(Policy::RoundRobin, &[2])))
                },
                Part { copies: 5, ..station() },
            ]),
        ),
    ];
    let first = rows(&models[0].1, 900.0, 3.0, 11);
    let draws = Stream::new(11, streams::SERVICE);
    assert!(first.len() > 2_400);
    for row in &first {
        let demand = Nanos::from_secs_f64(law(service).sample(&mut draws.item(row.k)));
        assert_eq!(row.response(), demand, "{row:?}");
    }
    for (name, model) in &models[1..] {
        let other = rows(model, 900.0, 3.0, 11);
        assert_eq!(other.len(), first.len(), "{name}");
        for (row, first) in other.iter().zip(&first) {
            assert_eq!((row.k, row.intended), (first.k, first.intended), "{name}");
            // What is shared is served in steps, each rounded to the nanosecond.
            let off = (row.response() - first.response()).0.abs();
            assert!(off <= 1, "{name}: {row:?} {first:?}");
        }
    }
    let other_seed = rows(&models[0].1, 900.0, 3.0, 12);
    assert!(other_seed.iter().zip(&first).all(|(a, b)| a.response() != b.response()));
}

/// Twenty runs of each of two models, under the same seeds and under others: by how much the interval of the difference is
/// narrower. Two choices draw what least connections does not, so they have less in common.
#[test]
fn differences_are_sharper_under_the_same_seeds() {
    let pool = |policy, service: &str| Model::balanced(policy, 10, Station::new(1, law(service)));
    let table = [
        (
            "ties",
            pool(Policy::LeastConnections { ties: Ties::First }, "exp(1ms)"),
            pool(Policy::LeastConnections { ties: Ties::Random }, "exp(1ms)"),
            3.0,
        ),
        (
            "choices",
            pool(Policy::PowerOfD { choices: 2 }, "exp(1ms)"),
            pool(Policy::LeastConnections { ties: Ties::Random }, "exp(1ms)"),
            1.5,
        ),
        ("slower by 2 %", pool(Policy::RoundRobin, "exp(1020us)"), pool(Policy::RoundRobin, "exp(1ms)"), 3.0),
        (
            "one queue or ten",
            Model::station(Station::new(10, law("exp(1ms)"))),
            pool(Policy::LeastConnections { ties: Ties::Random }, "exp(1ms)"),
            3.0,
        ),
    ];
    for (name, first, second, least) in table {
        let mean = |model: &Model, seed| {
            let rows = rows(model, 8_000.0, 0.5, seed);
            let counted: Vec<f64> =
                rows.iter().filter(|r| r.k >= 1_000).map(|r| r.response().as_secs_f64()).collect();
            counted.iter().sum::<f64>() / counted.len() as f64
        };
        let of = |model: &Model, seeds: std::ops::RangeInclusive<u64>| -> Vec<f64> {
            seeds.map(|seed| mean(model, seed)).collect()
        };
        let a = of(&first, 1..=20);
        let same = paired(&a, &of(&second, 1..=20)).unwrap();
        let others = paired(&a, &of(&second, 21..=40)).unwrap();
        let width = |[low, high]: [f64; 2]| high - low;
        let ratio = width(others.interval) / width(same.interval);
        println!("{name}: {same:?}, {ratio:.1} times as sharp as under other seeds");
        assert!(ratio > least && same.sharpened.unwrap() > least, "{name}: {ratio} {same:?} {others:?}");
    }
}
