//! Simulated models: a pool behind balancers, and a station that is asked for too much. Plausible, not computed.

use super::clean;
use super::parts::{block, curves, outcomes, series, tail};
use stats::Summary;
use stats::summary::{
    CopyLoad, Finding, LittleIdentity, ModelPart, PartPoint, Severity, Simulation, Source, Steady,
};

/// A simulation with nothing that watched a generator.
fn simulated(name: &str, simulation: Simulation) -> Summary {
    let n = 12_000;
    let mut summary = clean();
    summary.source = Source::Sim;
    summary.name = name.into();
    summary.command = Some(format!("headway sim {name}.yaml --seed 42"));
    (summary.started_at, summary.generator) = (None, None);
    (summary.lag, summary.blocked) = (tail(n, [0.0; 4]), tail(n, [0.0; 4]));
    summary.outcomes = outcomes(&[("ok", n)]);
    summary.response = block(n, 0.243, 1.0);
    summary.response_ok = summary.response.clone();
    summary.service = summary.response.clone();
    summary.simulation = Some(simulation);
    summary
}

fn points(number: impl Fn(f64) -> f64, utilisation: Option<f64>, up: Option<f64>) -> Vec<PartPoint> {
    let point = |i: u32| {
        let at_s = 0.5 * f64::from(i) + 0.25;
        let wave = 1.0 + 0.03 * (at_s * 1.7).sin();
        PartPoint {
            at_s,
            utilisation: utilisation.map(|share| (share * wave).min(1.0)),
            number: number(at_s) * wave,
            up,
        }
    };
    (0..140).map(point).collect()
}

fn copies(n: u64, requests: u64, utilisation: Option<f64>, number: f64) -> Vec<CopyLoad> {
    let copy = |i: u64| {
        let more = 1.0 + 0.1 * (i as f64 * 2.3).sin();
        CopyLoad {
            requests: (requests as f64 / n as f64 * more) as u64,
            utilisation: utilisation.map(|share| share * more),
            number: number * more,
        }
    };
    (0..n.min(1_000)).map(copy).collect()
}

/// Ten routers over 60 servers, with retries before them; steady from 4 s on.
pub fn balanced() -> Summary {
    let routers = ModelPart {
        name: "routers".into(),
        kind: "balancer least-connections".into(),
        copies: 10,
        requests: 12_240,
        failed: 240,
        number: 4.86,
        by_copy: copies(10, 12_240, None, 4.86),
        series: points(|_| 4.86, None, Some(1.0)),
        ..ModelPart::default()
    };
    let dynos = ModelPart {
        name: "dynos".into(),
        kind: "station fifo".into(),
        copies: 60,
        servers: Some(1),
        requests: 12_240,
        failed: 240,
        offered: Some(0.667),
        utilisation: Some(0.672),
        number: 0.81,
        by_copy: copies(60, 12_240, Some(0.672), 0.81),
        series: points(|_| 0.81, Some(0.672), Some(0.98)),
        ..ModelPart::default()
    };
    let entry = ModelPart {
        name: "model".into(),
        kind: "pass".into(),
        copies: 1,
        requests: 12_000,
        number: 48.6,
        by_copy: copies(1, 12_000, None, 48.6),
        series: points(|_| 48.6, None, None),
        ..ModelPart::default()
    };
    simulated(
        "balanced",
        Simulation {
            steady: Steady {
                n: 12_000,
                found: true,
                cut: 640,
                cut_s: 4.2,
                mean: Some(0.243),
                ci95: Some([0.239, 0.247]),
                batch_lag1: Some(0.041),
                relaxation_s: Some(0.6),
                relaxations: Some(110.0),
                ..Steady::default()
            },
            parts: vec![entry, routers, dynos],
            attempts_per_request: Some(1.02),
            wasted: Some(0.0061),
            little: LittleIdentity { n: 12_000, area_s: 2916.412, sum_s: 2916.412, holds: true },
        },
    )
}

/// One station of four servers that is asked for a quarter more than it can do, and fills up.
pub fn overloaded_model() -> Summary {
    let station = ModelPart {
        name: "model".into(),
        kind: "station fifo".into(),
        copies: 1,
        servers: Some(4),
        requests: 12_000,
        offered: Some(1.25),
        utilisation: Some(1.0),
        number: 1_412.0,
        by_copy: copies(1, 12_000, Some(1.0 / 1.1), 1_412.0),
        series: points(|at| 40.0 * at, Some(1.0), None),
        ..ModelPart::default()
    };
    let mut summary = simulated(
        "overloaded",
        Simulation {
            steady: Steady { n: 12_000, cut: 9_000, cut_s: 52.5, ..Steady::default() },
            parts: vec![station],
            little: LittleIdentity { n: 12_000, area_s: 98_840.0, sum_s: 98_840.0, holds: true },
            ..Simulation::default()
        },
    );
    summary.response = block(12_000, 7.1, 0.4);
    summary.series = series(70, 200.0, |at| 1.0 + 400.0 * at);
    summary.curves = curves(12_000, 1.0, 1.0, 1.0);
    summary.verdict.findings = vec![Finding {
        id: "no-steady-state".into(),
        severity: Severity::Warning,
        text: "There is no steady state: model is asked for 1.25 times what its servers can do. The number of requests in it \
               grew by 40.1 per second (95 % interval 38.7 to 41.5). Response times tell how long the run was; ask for less, \
               or give it more servers."
            .into(),
        value: Some(40.1),
        interval: Some([38.7, 41.5]),
        limit: Some(0.0),
        n: 12_000,
        ..Finding::default()
    }];
    summary
}
