//! Stations whose theory is known.

use crate::common::{LIMITS, Mean, open, servers};
use headway_base::Nanos;
use headway_sim::{Generator, Network};
use headway_workload::model::{Model, Station};
use headway_workload::{Process, Shard};

/// Mean sojourn time of M/M/c in mean services (Erlang 1917; Gross and Harris 1998, 2.3).
fn sojourn(c: u32, rho: f64) -> f64 {
    let load = f64::from(c) * rho;
    let (mut term, mut below) = (1.0, 0.0);
    for k in 1..=c {
        below += term;
        term *= load / f64::from(k);
    }
    let waits = term / (1.0 - rho);
    1.0 + waits / (below + waits) / (f64::from(c) * (1.0 - rho))
}

/// M/M/1 and M/M/4 at rho 0.8, by the mean over seeds 1 to 20: within 4 standard errors of the means of the seeds. The
/// first 4,000 arrivals, 35 relaxation times or more, are left out.
#[test]
fn markov_queues_have_the_sojourn_times_of_theory() {
    assert!((sojourn(1, 0.8) - 5.0).abs() < 1e-12 && (sojourn(2, 0.8) - 1.0 / 0.36).abs() < 1e-12);
    for c in [1, 4] {
        let means: Vec<f64> = (1..=20)
            .map(|seed| {
                let plan = open(Process::Poisson, 800.0 * f64::from(c), 25, seed);
                let network = Network::new(&Model::station(servers(c, "exp(1ms)")), &plan).unwrap();
                let mut mean = Mean { from: 4_000, ..Mean::default() };
                headway_sim::play(&plan, Shard::WHOLE, LIMITS, network, Generator::default(), &mut mean);
                mean.sum_s / mean.n as f64 * 1e3
            })
            .collect();
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let (error, truth) = ((variance / n).sqrt(), sojourn(c, 0.8));
        assert!((mean - truth).abs() < 4.0 * error, "M/M/{c}: {mean} +- {error}, theory {truth}");
    }
}

/// One server of 10 ms, an arrival every 2 ms, and two that may wait: of five that come while one is served, one begins
/// to wait in the place that came free, and four are turned away.
#[test]
fn who_finds_the_queue_full_is_turned_away_at_once() {
    let plan = open(Process::Constant, 500.0, 1, 1);
    let model = Model::station(Station { queue: Some(2), ..servers(1, "10ms") });
    let rows = crate::common::records(&plan, LIMITS, &model);
    let turned_away: Vec<_> = rows.iter().filter(|r| r.status == 503).collect();
    assert_eq!((rows.len(), turned_away.len()), (500, 398));
    assert!(
        turned_away
            .iter()
            .all(|r| r.response() == Nanos::from_micros(10) && r.outcome == headway_base::Outcome::Status)
    );
    assert!(rows.iter().all(|r| r.status == 503 || r.response() <= Nanos::from_millis(30)));
}
