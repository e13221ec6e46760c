//! Balancers that look at their servers, against the chain of a few servers and the limit of very many.

use crate::chain;
use crate::common::{Effort, LONG, Load, Trial, both, law, loss, sojourn};
use headway_stats::queueing::{Mmc, Mmck};
use headway_workload::model::{Balancer, Kind, Model, Part, Policy, Station, Ties};

/// A millisecond.
const MS: f64 = 1e-3;

/// A policy over so many servers at 0.7 of what they can do. With a queue each they forget faster when balanced than when
/// not: M/M/1's relaxation time is enough.
fn pool(name: &str, policy: Policy, servers: u32) -> Trial<'_> {
    let rate = 700.0 * f64::from(servers);
    Trial {
        name,
        load: Load::poisson(rate),
        model: Model::balanced(policy, servers, Station::new(1, law("exp(1ms)"))),
        relaxation: Mmc::random_split(rate, MS, servers).relaxation_time(),
        demands: None,
    }
}

/// To the shortest of two and of three, whatever is done about ties: the servers are alike.
fn join_the_shortest(effort: Effort) {
    for (servers, most) in [(2, 40), (3, 16)] {
        let truth = MS
            * chain::sojourn(servers as usize, 0.7, most, |n| {
                (0..n.len()).map(|i| f64::from(u8::from(i == 0))).collect()
            });
        for ties in [Ties::First, Ties::Random, Ties::RoundRobin] {
            let name = format!("shortest of {servers}, ties {ties:?}");
            pool(&name, Policy::LeastConnections { ties }, servers).agrees(effort, &[sojourn(truth)]);
        }
    }
}

/// The shorter of two different ones out of three: the longest of them gets nothing, the shortest two thirds.
fn shorter_of_two_out_of_three(effort: Effort) {
    let truth = MS * chain::sojourn(3, 0.7, 20, |_| vec![2.0 / 3.0, 1.0 / 3.0, 0.0]);
    pool("shorter of 2 out of 3", Policy::PowerOfD { choices: 2 }, 3).agrees(effort, &[sojourn(truth)]);
}

/// An idle one of two if there is one (which of two does not matter), else anyone.
fn join_the_idle(effort: Effort) {
    let truth = MS * chain::sojourn(2, 0.7, 60, |n| if n[0] == 0 { vec![1.0, 0.0] } else { vec![0.5, 0.5] });
    pool("join the idle of 2", Policy::JoinIdleQueue, 2).agrees(effort, &[sojourn(truth)]);
}

/// A queue in the balancer and one request at each server: M/M/c.
fn one_connection_each(effort: Effort) {
    let queue = Mmc { rate: 3_500.0, mean_service: MS, servers: 5 };
    pool("one connection to each of 5", Policy::OneConnection, 5)
        .agrees(effort, &[sojourn(queue.sojourn_mean())]);
}

/// So many may wait in the balancer: M/M/c/K.
fn one_connection_each_and_room_for_six(effort: Effort) {
    let solved = Mmck { rate: 4_000.0, mean_service: MS, servers: 4, places: 10 }.solve();
    let balancer = Balancer { queue: Some(6), ..Balancer::new(Policy::OneConnection, &[1]) };
    let station = Part { copies: 4, ..Part::new("station", Kind::Station(Station::new(1, law("exp(1ms)")))) };
    let trial = Trial {
        name: "one connection to each of 4, six wait",
        load: Load::poisson(4_000.0),
        model: Model::of(vec![Part::new("balancer", Kind::Balancer(balancer)), station]),
        relaxation: 10.0 * MS,
        demands: None,
    };
    trial.agrees(effort, &[loss(solved.loss), sojourn(solved.sojourn_mean())]);
}

both!(
    join_the_shortest,
    shorter_of_two_out_of_three,
    join_the_idle,
    one_connection_each,
    one_connection_each_and_room_for_six,
);

/// Over very many servers the shorter of two leads to a mean sojourn of the sum over i of rho^(2^i - 2) (Mitzenmacher
/// 2001). Over n it differs by some c / n, up to terms in 1 / n^2 (Gast 2017): 100 and 1,000 servers cancel the first.
#[test]
#[ignore = "long: for release builds"]
fn shorter_of_two_out_of_very_many() {
    let limit: f64 = (1..=8).map(|i| 0.7f64.powi(2i32.pow(i) - 2)).sum::<f64>() * MS;
    let few = Effort { runs: 20, requests: 500_000.0, ..LONG };
    let [(small, small_error), (large, large_error)] = [100, 1_000].map(|servers| {
        let trial = pool("shorter of 2", Policy::PowerOfD { choices: 2 }, servers);
        let (mean, error, _) = trial.compare(few, &[sojourn(limit)])[0];
        (mean, error)
    });
    let extrapolated = (10.0 * large - small) / 9.0;
    let error = (10.0 * large_error).hypot(small_error) / 9.0;
    println!(
        "100: {small:.6e}, 1,000: {large:.6e}, extrapolated {extrapolated:.6e} +- {error:.1e}, limit {limit:.6e}"
    );
    assert!((extrapolated - limit).abs() < 4.0 * error && error < 2e-3 * limit);
    assert!(small > large, "fewer servers, fewer idle ones");
}
