//! The calibrated target's station, driven through the client in virtual time, has the sojourn times of theory.

use crate::common::{LIMITS, plan, play};
use headway_base::dist;
use headway_testkit::{Generator, Network};
use headway_workload::model::{Model, Station};
use headway_workload::{Limits, Process};

/// `serve --service exp(1ms)` driven by `run -R 800`: M/M/1 at rho 0.8. Sojourn is exponential of mean 1/(mu - lambda) =
/// 5 ms, so p50 = 3.47 and p99 = 23.03 ms. Standard errors from 20 batches of 200 s.
#[test]
fn response_times_are_those_of_m_m_1() {
    let seconds = 4_000;
    let plan = plan(Process::Poisson, 800.0, seconds, 1);
    let service = dist::parse("exp(1ms)", &|_| Ok(Vec::new())).unwrap();
    let target = Network::new(&Model::station(Station::new(1, service)), &plan).unwrap();
    let limits = Limits { connections: 10_000, ..LIMITS };
    let kept = play(&plan, limits, target, Generator::default());
    let per_batch = kept.records.len() / 20;
    let mut rows: Vec<(i64, f64)> =
        kept.records.iter().map(|r| (r.intended.0, r.response().as_secs_f64() * 1e3)).collect();
    rows.sort_unstable_by_key(|r| r.0);
    let batches: Vec<Vec<f64>> = rows
        .chunks_exact(per_batch)
        .map(|batch| {
            let mut ms: Vec<f64> = batch.iter().map(|r| r.1).collect();
            ms.sort_unstable_by(f64::total_cmp);
            ms
        })
        .collect();
    let check = |what: &str, truth: f64, statistic: &dyn Fn(&[f64]) -> f64| {
        let values: Vec<f64> = batches.iter().map(|b| statistic(b)).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64;
        let se = (variance / values.len() as f64).sqrt();
        assert!((mean - truth).abs() < 4.0 * se, "{what}: {mean} +- {se}, theory {truth}");
    };
    check("mean", 5.0, &|b| b.iter().sum::<f64>() / b.len() as f64);
    check("p50", 5.0 * std::f64::consts::LN_2, &|b| b[b.len() / 2]);
    check("p99", 5.0 * 100f64.ln(), &|b| b[b.len() * 99 / 100]);
}
