//! Whether the measured phase was steady, and where it would have been.

use super::play::{BASE, Target, arrivals, poisson, single};
use crate::world::{evidence, finding};
use headway_base::{Nanos, Phase, Rate};
use headway_stats::summary::Evidence;
use headway_stats::summary::evidence::{Loop, Moving, Remedy};
use headway_stats::{Setup, Summary, Workload};

fn open(rate: f64, seconds: i64, target: Target, seed: u64) -> Summary {
    let phases = [Phase::hold(Nanos::from_secs(seconds), Rate(rate))];
    let told = single(&arrivals(&phases, seed), target, seed);
    let setup = Setup {
        labels: vec!["only".into()],
        measured: Nanos::ZERO..Nanos::from_secs(seconds),
        workload: Workload::Open,
        plan: Some(poisson(&phases)),
        ..Setup::default()
    };
    told.live(setup, &[])
}

#[test]
fn a_cold_target_is_not_steady_and_its_warm_up_is_named() {
    // 250 of 500 requests a second warm, three times as slow while cold: overloaded for the first 10 s or so.
    let cold = Target { cold: Some((2.0, 4_000.0)), ..BASE };
    let summary = open(250.0, 120, cold, 1);
    let note = finding(&summary, "not-steady").unwrap_or_else(|| panic!("{:#?}", summary.verdict.findings));
    let [Evidence::Loop(Loop::NotSteady { change, remedy: Remedy::WarmUp { until_s, .. }, .. })] =
        note.evidence[..]
    else {
        panic!("{note:?}")
    };
    assert_eq!(note.value, Some(change));
    assert!(note.value.unwrap() < -0.2 && note.interval.unwrap()[1] < -0.2);
    // At 250 requests a second a half-life of 4,000 requests is 16 s.
    assert!((10.0..=60.0).contains(&until_s), "{until_s}");
    assert!(finding(&summary, "feedback").is_none(), "what falls does not pile up");
}

#[test]
fn steady_loads_are_seldom_called_unsteady() {
    // Both ends of the slope's 95 % interval must lie beyond a fifth of the mean: of 20 runs at rho 0.6 none should.
    let called = (0..20).filter(|&seed| {
        let summary = open(300.0, 60, BASE, seed);
        finding(&summary, "not-steady").is_some() || finding(&summary, "feedback").is_some()
    });
    assert_eq!(called.count(), 0);
}

#[test]
fn an_overloaded_open_load_piles_up() {
    let summary = open(600.0, 60, BASE, 2);
    let note = finding(&summary, "feedback").unwrap();
    assert!(
        matches!(note.evidence[..], [Evidence::Loop(Loop::PilesUp { what: Moving::Requests, .. })]),
        "{note:?}"
    );
    // A hundred more than it can take come each second.
    let grown = note.value.unwrap() * 3_000.0;
    assert!((grown / 5_700.0 - 1.0).abs() < 0.2, "{grown}");
    let unsteady = evidence(&summary, "not-steady");
    assert!(
        matches!(unsteady, Evidence::Loop(Loop::NotSteady { remedy: Remedy::AskForLess, .. })),
        "{unsteady:?}"
    );
}
