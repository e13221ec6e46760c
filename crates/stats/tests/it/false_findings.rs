//! Findings that runs without the fault were once given. Each test makes such a run, and the like with the fault beside it.

use crate::world::{MS, World, answered, evidence, finding, outcome};
use headway_base::{Nanos, Record};
use headway_stats::DepartureBin;
use headway_stats::summary::evidence::{HeldBackBy, Loop};
use headway_stats::summary::{Evidence, Generator, LoadVerdict, PlanSummary, RuleOutcome};

/// Fifty requests, each of which waits 5 ms for its connection, under a cap.
fn waiting(cap: u64) -> HeldBackBy {
    let mut world = World::empty(5.0, 10);
    let at = |k: u64| 200 * MS * k as i64 + MS;
    let request = |k: u64| Record { wait: Nanos(5 * MS), ..answered(k, at(k), at(k) + 5 * MS, 8 * MS) };
    world.records = (0..50).map(request).collect();
    world.facts.plan = Some(PlanSummary { connections: Some(cap), ..PlanSummary::default() });
    let summary = world.analyse();
    let found = finding(&summary, "feedback").unwrap();
    let [Evidence::Loop(Loop::HeldBack { cause, .. })] = &found.evidence[..] else { panic!("{found:?}") };
    cause.clone()
}

#[test]
fn fifty_requests_do_not_use_up_a_cap_of_thousands() {
    assert_eq!(waiting(9_900), HeldBackBy::SetUp);
    assert_eq!(waiting(20), HeldBackBy::Either);
}

/// Requests that are stamped as they leave, one in ten of them 1 ms late.
fn stamped(here: Option<bool>) -> headway_stats::Summary {
    let mut world = World::poisson(1_000.0, 20, 3);
    let bin = |i: i64| DepartureBin {
        at: Nanos::from_millis(100 * i + 50),
        watched: 50,
        over: vec![(Nanos(MS), 5)],
        by_target: 0,
    };
    world.facts.departures = (0..200).map(bin).collect();
    world.facts.generator = Some(Generator { same_host_as_target: here, ..Generator::default() });
    world.analyse()
}

#[test]
fn no_uplink_holds_requests_back_that_stay_on_this_machine() {
    let here = stamped(Some(true));
    assert_eq!(outcome(&here, "departed-late"), RuleOutcome::NotApplicable);
    assert!(finding(&here, "uplink").is_none());
    assert_eq!(here.verdict.load, Some(LoadVerdict::Valid));
    for elsewhere in [Some(false), None] {
        let summary = stamped(elsewhere);
        assert!(finding(&summary, "uplink").is_some(), "{elsewhere:?}");
        assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid), "{elsewhere:?}");
    }
}

/// Responses of 100 ms, of which each hundredth request started late.
fn lagging(by: i64) -> headway_stats::Summary {
    let mut world = World::empty(100.0, 60);
    let at = |k: u64| 10 * MS * k as i64;
    let late = |k: u64| if k.is_multiple_of(100) { by } else { 20_000 };
    world.records = (0..6_000).map(|k| answered(k, at(k), at(k) + late(k), 100 * MS + late(k))).collect();
    world.poisson = false;
    world.analyse()
}

#[test]
fn a_lag_of_a_millisecond_is_no_twentieth_of_a_response_of_100() {
    let of = |summary: &headway_stats::Summary| -> Vec<(String, bool)> {
        let numbers = &summary.verdict.effect.as_ref().unwrap().numbers;
        let beyond = |most: Option<f64>| most.is_none_or(|most| most > 0.05);
        numbers
            .iter()
            .filter(|n| n.number.key() != "failed")
            .map(|n| (n.number.key(), beyond(n.effect[1])))
            .collect()
    };
    let slight = of(&lagging(MS));
    assert!(slight.len() >= 7 && slight.iter().all(|(_, beyond)| !beyond), "{slight:?}");
    let heavy = of(&lagging(40 * MS));
    assert!(heavy.iter().any(|(number, beyond)| number == "max" && *beyond), "{heavy:?}");
}

/// Requests in flight that fall from many to hardly any: a line through them falls by far more than their mean.
#[test]
fn what_falls_below_its_mean_is_not_said_to_fall_by_more_than_all_of_it() {
    let mut world = World::empty(1_000.0, 20);
    world.records = (0..20_000)
        .map(|k| {
            let at = MS * k as i64;
            // The first segments hold hundreds, the others one.
            let response = if k < 3_000 { 3_000 * MS - at + MS } else { MS };
            answered(k, at, at, response)
        })
        .collect();
    let summary = world.analyse();
    let Evidence::Loop(Loop::NotSteady { change, .. }) = evidence(&summary, "not-steady") else {
        panic!("{:?}", summary.verdict.findings)
    };
    assert!(*change < -1.0, "{change}");
}
