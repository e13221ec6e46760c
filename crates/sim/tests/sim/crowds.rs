//! Thousands who do the same at one instant: what happens to each costs what it does when it is alone. A hundred thousand
//! make ten thousand million steps if each looks at all the others, which is minutes in place of seconds.

use crate::common::servers;
use base::{Nanos, Profile, Rate};
use sim::{Generator, Network, Played};
use workload::model::{Balancer, Faults, Kind, Model, Part, Policy, Timeout, UnderWay, When, WhileDown};
use workload::plan::Group;
use workload::{Limits, Plan, Process, Shard};

const N: u64 = 100_000;

/// So many requests within a second, each on a connection of its own, by clients who wait for it.
fn play(model: &Model) -> (Played, Network, Vec<u16>) {
    let second = Nanos::from_secs(1);
    let profile = Profile::new(&[base::Phase::hold(second, Rate(N as f64))]);
    let plan = Plan::of(1, Group::open(Process::Constant, profile), Nanos::ZERO, second);
    let hour = Nanos::from_secs(3_600);
    let limits =
        Limits { connections: 1_000_000, max_wait: hour, timeout: hour, connect_timeout: hour, drain: hour };
    let mut network = Network::new(model, &plan).unwrap();
    let mut kept = base::sink::Kept::default();
    let played = sim::play(&plan, Shard::WHOLE, limits, &mut network, Generator::default(), &mut kept);
    (played, network, kept.records.iter().map(|record| record.status).collect())
}

fn fails_at(at: Nanos) -> Option<Faults> {
    let when = When::Once { at, length: Nanos::from_secs(1) };
    Some(Faults { when, together: false, while_down: WhileDown::Error, under_way: UnderWay::Lost })
}

/// All are in a part that dies: they are answered at one instant, and their connections are given up.
#[test]
fn a_crowd_that_is_lost_at_once() {
    let station = Part::new("station", Kind::Station(servers(200_000, "60s")));
    let pass = Part { faults: fails_at(Nanos::from_secs(2)), ..Part::new("pass", Kind::Pass(1)) };
    let (played, _, statuses) = play(&Model::of(vec![pass, station]));
    assert_eq!((played.requests, statuses.len() as u64), (N, N));
    assert!(statuses.iter().all(|&status| status == 503));
    assert!(played.ended < Nanos::from_secs(3));
}

/// All are called back one by one from a part that would lose them.
#[test]
fn a_crowd_that_is_called_back() {
    let balancer = Kind::Balancer(Balancer::new(Policy::Random, &[2]));
    let watched = Part {
        timeout: Some(Timeout { after: Nanos::from_secs(2), cancel: true }),
        ..Part::new("watched", Kind::Pass(1))
    };
    let fails = Part { faults: fails_at(Nanos::from_secs(3_000)), ..Part::new("balancer", balancer) };
    let (played, network, statuses) =
        play(&Model::of(vec![watched, fails, Part::new("station", Kind::Station(servers(1, "1s")))]));
    // The last that is served is for nobody, and its two flights are there until it is done.
    assert!(played.requests == N && network.under_way() <= 2, "{}", network.under_way());
    let late = statuses.iter().filter(|&&status| status == 504).count() as u64;
    assert_eq!((late, statuses.len() as u64), (N - 2, N));
}
