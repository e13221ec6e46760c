//! The recursion gives the calendar's records.
//!
//! Both interpret the model by themselves, and draw the same numbers.

use crate::common::{LIMITS, law};
use headway_base::sink::Kept;
use headway_base::station::Stalls;
use headway_base::{Nanos, Phase, Profile, Rate, Record, Stamp};
use headway_sim::lindley::{self, NeedsEventLoop};
use headway_sim::{Generator, Network};
use headway_workload::journey::{Journey, Node, no_think};
use headway_workload::model::{
    Balancer, Branch, Cold, Discipline, Kind, Knows, Model, Part, Policy, Station, Ties, Timeout,
};
use headway_workload::plan::{Connections, Group, Source};
use headway_workload::{Limits, Plan, Process, Shard};
use std::sync::Arc;

fn station(servers: u32, service: &str) -> Station {
    Station::new(servers, law(service))
}

/// Arrivals over a ramp, a hold, a pause and another hold, each asking for that step.
fn group(process: Process, rate: f64, step: u16) -> Group {
    let s = Nanos::from_secs;
    let profile = Profile::new(&[
        Phase::ramp(s(2), Rate(0.0), Rate(rate)),
        Phase::hold(s(5), Rate(rate)),
        Phase::pause(s(1)),
        Phase::hold(s(2), Rate(1.2 * rate)),
    ]);
    let journey = Journey::new(&[Node::Ask { step, repeat: 1, think: None }], no_think()).unwrap();
    let source = Source::Arrivals { process, profile: Arc::new(profile) };
    Group {
        name: headway_workload::redact::clear(&format!("step {step}")),
        ..Group::of(source, journey, Connections::Shared)
    }
}

fn plan(seed: u64, groups: Vec<Group>) -> Plan {
    let (measured_from, end) = (Nanos::ZERO, Nanos::from_secs(10));
    Plan { seed, groups, measured_from, end, shard: Shard::WHOLE }
}

fn by_calendar(plan: &Plan, model: &Model, limits: Limits) -> Kept {
    let mut kept = Kept::default();
    let mut network = Network::new(model, plan).unwrap();
    headway_sim::play(plan, Shard::WHOLE, limits, &mut network, Generator::default(), &mut kept);
    kept
}

/// Without what a recursion does not know.
fn without_connection(record: Record) -> Record {
    Record { connection: u32::MAX, connect: Stamp::NONE, reused: false, ..record }
}

/// Stations that the recursion can play.
fn models() -> Vec<(&'static str, Model)> {
    let stalls = Some(Stalls::new(Nanos::from_secs(3), Nanos::from_millis(400)).unwrap());
    let once = Some(Stalls::once(Nanos::from_secs(4), Nanos::from_millis(900)).unwrap());
    let cold = Some(Cold { factor: 5.0, requests: 300 });
    let steps = vec![(0, law("const(2ms)")), (3, law("uniform(1ms, 9ms)"))];
    let stations = [
        ("one server", station(1, "exp(8ms)")),
        ("three servers", station(3, "lognormal(20ms,1.5)")),
        ("no waiting", Station { queue: Some(0), ..station(2, "exp(20ms)") }),
        ("a short queue", Station { queue: Some(4), ..station(1, "gamma(9ms,0.5)") }),
        ("stalls", Station { stalls, ..station(1, "exp(5ms)") }),
        ("a stall and a queue", Station { stalls: once, queue: Some(30), ..station(2, "exp(15ms)") }),
        ("cold", Station { cold, ..station(2, "exp(8ms)") }),
        ("cold, with a queue", Station { cold, queue: Some(7), ..station(1, "exp(6ms)") }),
        ("steps", Station { steps, ..station(1, "exp(8ms)") }),
        ("everything at one instant", station(1, "const(0ms)")),
    ];
    let stations = stations.into_iter().map(|(what, station)| (what, Model::station(station)));
    stations.chain(networks()).collect()
}

/// Networks that it can play.
fn networks() -> Vec<(&'static str, Model)> {
    let pool = || station(1, "exp(40ms)");
    let part = |name: &'static str, copies: u32, kind: Kind| Part { copies, ..Part::new(name, kind) };
    let before = |balancer: Balancer| Part::new("balancer", Kind::Balancer(balancer));
    let uneven = |policy: Policy| {
        let branch = |part, weight| Branch { part, weight };
        let balancer = Balancer { to: vec![branch(1, 1.0), branch(2, 2.5)], ..Balancer::new(policy, &[]) };
        let small = part("small", 3, Kind::Station(pool()));
        let large = part("large", 2, Kind::Station(Station { queue: Some(3), ..station(2, "exp(30ms)") }));
        Model::of(vec![before(balancer), small, large])
    };
    // Ten routers over one pool, or each over its own; the way to them through a part that only hands on.
    let routers = |shared: bool, knows: Knows| {
        let router = Balancer { knows, ..Balancer::new(Policy::RoundRobin, &[3]) };
        Model::of(vec![
            Part::new("door", Kind::Pass(1)),
            before(Balancer::new(Policy::Random, &[2])),
            part("router", 10, Kind::Balancer(router)),
            Part { shared, ..part("pool", 4, Kind::Station(pool())) },
        ])
    };
    let hashed = Policy::ConsistentHash { bound: None };
    vec![
        ("random", Model::balanced(Policy::Random, 5, pool())),
        ("round-robin", Model::balanced(Policy::RoundRobin, 7, pool())),
        ("hashed", Model::balanced(hashed, 6, pool())),
        ("random, uneven", uneven(Policy::Random)),
        ("round-robin, uneven", uneven(Policy::RoundRobin)),
        ("hashed, uneven", uneven(hashed)),
        ("routers over one pool", routers(true, Knows::Own)),
        ("routers over one pool that know each other", routers(true, Knows::All)),
        ("routers over their own pools", routers(false, Knows::Own)),
    ]
}

#[test]
fn it_gives_the_records_of_the_calendar() {
    let two = || vec![group(Process::Poisson, 60.0, 0), group(Process::Gamma { cov: 2.0 }, 40.0, 3)];
    for (what, model) in models() {
        for seed in 1..=10 {
            let of = |groups: Vec<Group>| plan(seed, groups);
            for plan in [of(vec![group(Process::Poisson, 100.0, 0)]), of(two())] {
                assert!(lindley::supports(&plan, &model), "{what}");
                let mut got = Kept::default();
                let played = lindley::play(&plan, &model, LIMITS, &mut got).unwrap();
                let mut truth = by_calendar(&plan, &model, LIMITS);
                assert_eq!(got.starts, truth.starts, "{what}, seed {seed}");
                assert_eq!(got.finished, truth.finished, "{what}, seed {seed}");
                truth.records.sort_by_key(|r| (r.intended, r.group, r.k));
                assert!(truth.records.len() > 700 && played.requests == truth.records.len() as u64);
                for (got, truth) in got.records.into_iter().zip(truth.records) {
                    assert_eq!(got, without_connection(truth), "{what}, seed {seed}");
                }
            }
        }
    }
}

/// The same plan of one arrival each 10 ms, against limits that are just not reached, and that are.
#[test]
fn it_says_so_where_the_client_would_act() {
    let plan = plan(1, vec![group(Process::Constant, 100.0, 0)]);
    // Utilisation 1.08 in the end: the queue grows by 4 in a second and more.
    let model = Model::station(station(1, "const(9ms)"));
    let truth = by_calendar(&plan, &model, LIMITS);
    let longest = truth.records.iter().map(Record::response).max().unwrap();
    let inside = |at: Nanos| truth.records.iter().filter(|r| r.intended <= at && at < r.done).count();
    let most = truth.records.iter().map(|r| inside(r.intended)).max().unwrap() as u32;
    assert!(longest > Nanos::from_millis(30) && most > 3, "{longest} {most}");
    let played = |limits: Limits| lindley::play(&plan, &model, limits, &mut Kept::default()).is_ok();
    assert!(played(Limits { timeout: longest + Nanos(1), ..LIMITS }));
    assert!(!played(Limits { timeout: longest, ..LIMITS }));
    assert!(!played(Limits { connections: most - 1, ..LIMITS }));
    assert!(played(Limits { connections: 3 * most, ..LIMITS }));
    let early = Plan { end: Nanos::from_secs(9), ..plan.clone() };
    assert_eq!(lindley::play(&early, &model, LIMITS, &mut Kept::default()), Err(NeedsEventLoop));
}

#[test]
fn what_does_not_suit_is_not_played() {
    let open = |groups| plan(1, groups);
    let plain = || group(Process::Poisson, 100.0, 0);
    let model = Model::station(station(1, "exp(8ms)"));
    assert!(lindley::supports(&open(vec![plain()]), &model));

    let twice = Journey::new(&[Node::Ask { step: 0, repeat: 2, think: None }], no_think()).unwrap();
    let groups = [
        Group { journey: Arc::new(twice), ..plain() },
        Group { connections: Connections::PerUser, ..plain() },
        Group { source: Source::AtOnce { sessions: 10 }, ..plain() },
    ];
    for other in groups {
        let plan = open(vec![plain(), other.clone()]);
        assert!(!lindley::supports(&plan, &model), "{other:?}");
        let mut kept = Kept::default();
        assert_eq!(lindley::play(&plan, &model, LIMITS, &mut kept), Err(NeedsEventLoop));
        assert!(kept.starts.is_empty() && kept.finished.is_none());
    }
    let stations = [
        Station { discipline: Discipline::Lifo, ..station(1, "exp(8ms)") },
        Station { discipline: Discipline::Sharing, ..station(1, "exp(8ms)") },
        Station { speed: vec![1.0, 1.5], ..station(1, "exp(8ms)") },
    ];
    let slow = Model { accept: Some(Rate(10.0)), ..model.clone() };
    let counting = Policy::LeastConnections { ties: Ties::First };
    let mut given_up = Model::balanced(Policy::Random, 5, station(1, "exp(8ms)"));
    given_up.parts[1].timeout =
        Some(Timeout { after: Nanos::from_secs(1), cancel: headway_workload::model::Cancel::Never });
    let others = [slow, Model::balanced(counting, 5, station(1, "exp(8ms)")), given_up];
    for model in stations.into_iter().map(Model::station).chain(others) {
        assert!(!lindley::supports(&open(vec![plain()]), &model), "{model:?}");
    }
}
