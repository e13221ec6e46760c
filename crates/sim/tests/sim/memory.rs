//! Memory is for what is pending, not for the length of the run. Of two servers, since a single one keeps its answers itself.

use crate::common::{LIMITS, Mean, open, servers};
use headway_base::Nanos;
use headway_sim::{Generator, Network, Played};
use headway_workload::model::Model;
use headway_workload::{Limits, Plan, Process, Shard};

fn play(plan: &Plan, limits: Limits, service: &str) -> (Played, Mean) {
    let network = Network::new(&Model::station(servers(2, service)), plan).unwrap();
    let mut mean = Mean::default();
    let played = headway_sim::play(plan, Shard::WHOLE, limits, network, Generator::default(), &mut mean);
    (played, mean)
}

/// In M/M/2 at rho 0.8 more than 200 are there together once in 1e19 arrivals.
#[test]
fn a_million_requests_need_room_for_those_in_the_system() {
    let (played, mean) = play(&open(Process::Poisson, 800.0, 1_250, 1), LIMITS, "exp(2ms)");
    assert!(mean.n > 990_000 && played.requests == mean.n, "{} of {}", played.requests, mean.n);
    assert!((20..200).contains(&played.most_held), "{}", played.most_held);
}

/// A target that gets twice what it can serve: its backlog grows without end, all its answers come too late, and
/// every connection is given up. What those still hold in the calendar is swept out.
#[test]
fn answers_to_connections_that_were_given_up_are_swept_out() {
    let second = Nanos::from_secs(1);
    let limits = Limits { connections: 500, timeout: second, max_wait: second, ..LIMITS };
    let (played, mean) = play(&open(Process::Constant, 400.0, 250, 1), limits, "10ms");
    assert_eq!((played.requests, mean.n), (100_000, 100_000));
    assert!((400..=2 * 500 + 65).contains(&played.most_held), "{}", played.most_held);
}
