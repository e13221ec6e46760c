//! Exponential service and Poisson arrivals: M/M/1, M/M/c, queues with a limit, random routing, and what the tests of this
//! binary can see.

use crate::common::{
    Effort, Known, Load, QUICK, Trial, both, law, loss, quantile, sojourn, variance, waiting,
};
use headway_stats::queueing::{Mmc, Mmck};
use headway_workload::model::{Model, Policy, Station};

/// A millisecond.
const MS: f64 = 1e-3;

fn known<'a>(queue: Mmc) -> Vec<Known<'a>> {
    vec![
        sojourn(queue.sojourn_mean()),
        variance(queue.sojourn_mean(), queue.sojourn_variance()),
        quantile("p50", 0.5, queue.sojourn_quantile(0.5)),
        quantile("p99", 0.99, queue.sojourn_quantile(0.99)),
        waiting(queue.wait_probability()),
    ]
}

fn station(servers: u32) -> Station {
    Station::new(servers, law("exp(1ms)"))
}

fn queue(name: &str, queue: Mmc) -> Trial<'_> {
    Trial {
        name,
        load: Load::poisson(queue.rate),
        model: Model::station(station(queue.servers)),
        relaxation: queue.relaxation_time(),
        demands: Some(law("exp(1ms)")),
    }
}

fn m_m_1(effort: Effort) {
    let mm1 = Mmc::mm1(700.0, MS);
    queue("M/M/1", mm1).agrees(effort, &known(mm1));
}

fn m_m_4(effort: Effort) {
    let mm4 = Mmc { rate: 2_800.0, mean_service: MS, servers: 4 };
    queue("M/M/4", mm4).agrees(effort, &known(mm4));
}

/// Hardly anybody waits: how many do tells more than how long all stay.
fn m_m_250(effort: Effort) {
    let mm250 = Mmc { rate: 230_000.0, mean_service: MS, servers: 250 };
    queue("M/M/250", mm250).agrees(effort, &known(mm250));
}

/// A third more than it can serve, and four may wait.
fn m_m_1_5(effort: Effort) {
    let solved = Mmck::mm1k(1_333.0, MS, 5).solve();
    let model = Model::station(Station { queue: Some(4), ..station(1) });
    let trial =
        Trial { name: "M/M/1/5", load: Load::poisson(1_333.0), model, relaxation: 10.0 * MS, demands: None };
    trial.agrees(effort, &[loss(solved.loss), sojourn(solved.sojourn_mean())]);
}

/// As much as it can serve, and six may wait.
fn m_m_4_10(effort: Effort) {
    let solved = Mmck { rate: 4_000.0, mean_service: MS, servers: 4, places: 10 }.solve();
    let model = Model::station(Station { queue: Some(6), ..station(4) });
    let trial =
        Trial { name: "M/M/4/10", load: Load::poisson(4_000.0), model, relaxation: 10.0 * MS, demands: None };
    trial.agrees(effort, &[loss(solved.loss), sojourn(solved.sojourn_mean())]);
}

/// Erlang's loss system: nobody waits.
fn m_m_10_10(effort: Effort) {
    let solved = Mmck { rate: 8_000.0, mean_service: MS, servers: 10, places: 10 }.solve();
    let model = Model::station(Station { queue: Some(0), ..station(10) });
    let trial =
        Trial { name: "M/M/10/10", load: Load::poisson(8_000.0), model, relaxation: MS, demands: None };
    trial.agrees(effort, &[loss(solved.loss), sojourn(solved.sojourn_mean())]);
}

/// Each of ten is an M/M/1 of its own.
fn random_over_ten(effort: Effort) {
    let each = Mmc::random_split(7_000.0, MS, 10);
    let trial = Trial {
        name: "random over 10 of M/M/1",
        load: Load::poisson(7_000.0),
        model: Model::balanced(Policy::Random, 10, station(1)),
        relaxation: each.relaxation_time(),
        demands: Some(law("exp(1ms)")),
    };
    trial.agrees(effort, &known(each));
}

both!(m_m_1, m_m_4, m_m_250, m_m_1_5, m_m_4_10, m_m_10_10, random_over_ten);

/// Theory of a service time that is 4 % longer than the simulated one: every number of it is refused.
#[test]
fn a_service_time_that_is_wrong_by_four_percent_is_seen() {
    let wrong = Mmc::mm1(700.0, 1.04 * MS);
    let seen = queue("M/M/1", Mmc::mm1(700.0, MS)).compare(QUICK, &known(wrong));
    assert!(seen.iter().all(|(_, _, distance)| distance.abs() > 4.0), "{seen:?}");
}
