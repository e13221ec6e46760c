//! What a run says of the model behind it: no steady state, and a run that is too short for one.

use crate::world::{World, draws, exponential, finding};
use serde_json::Value;
use stats::Summary;
use stats::study::{Difference, Parameter, Point, Study};
use stats::summary::{CopyLoad, LoadVerdict, ModelPart, PartPoint, Severity, Simulation, Steady};

/// Poisson arrivals at 100/s over 60 s, with such a simulation.
fn run(simulation: Simulation) -> Summary {
    let mut world = World::poisson(100.0, 60, 1);
    world.facts.simulation = Some(simulation);
    world.analyse()
}

fn steady() -> Steady {
    let (n, cut, cut_s) = (6_000, 500, 5.0);
    Steady { n, found: true, cut, cut_s, relaxation_s: Some(0.05), ..Steady::default() }
}

/// A station with `growth` requests more each second over both of its copies.
fn station(offered: f64, growth: f64, failed: u64) -> ModelPart {
    let mut draws = draws(5);
    let mut at = 0.0;
    let mut number = || {
        at += 0.05 * growth + 0.1 * (exponential(&mut draws) - 1.0);
        at
    };
    let point =
        |i: u32, number| PartPoint { at_s: 0.1 * f64::from(i) + 0.05, number, ..PartPoint::default() };
    ModelPart {
        name: "dynos".into(),
        copies: 2,
        offered: Some(offered),
        requests: 6_000,
        failed,
        series: (0..600).map(|i| point(i, number())).collect(),
        ..ModelPart::default()
    }
}

#[test]
fn a_steady_run_that_is_long_enough_says_nothing() {
    let calm = Simulation { steady: steady(), parts: vec![station(0.8, 0.0, 10)], ..Simulation::default() };
    let summary = run(calm.clone());
    for absent in ["no-steady-state", "overloaded", "short-run"] {
        assert!(finding(&summary, absent).is_none(), "{absent}");
    }
    assert_eq!(summary.simulation, Some(calm));
}

#[test]
fn a_station_that_is_asked_for_too_much_is_named_with_how_fast_it_fills_up() {
    let not_found = Steady { found: false, relaxation_s: None, ..steady() };
    let parts = vec![station(0.4, 0.0, 0), station(1.25, 20.0, 0)];
    let summary = run(Simulation { steady: not_found, parts, ..Simulation::default() });
    let note = finding(&summary, "no-steady-state").unwrap();
    assert!(note.text.contains("dynos is asked for 1.25 times what its servers can do."), "{}", note.text);
    assert!(note.text.contains("in it grew by ") && note.text.contains("95 % interval"), "{}", note.text);
    // The walk's own noise over 60 s: two copies of 0.1 sqrt(600) requests; four standard errors of it.
    let [low, high] = note.interval.unwrap();
    assert!(low < note.value.unwrap() && note.value.unwrap() < high);
    assert!((note.value.unwrap() - 20.0).abs() < 4.0 * 2.0 * 0.1 * 600f64.sqrt() / 60.0, "{note:?}");
    assert_eq!(note.severity, Severity::Warning);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "the load was sent as asked all the same");
    assert!(finding(&summary, "overloaded").is_none() && finding(&summary, "not-steady").is_none());
}

#[test]
fn a_station_that_turns_requests_away_does_not_fill_up() {
    let parts = vec![station(1.0, 0.0, 1_200)];
    let summary = run(Simulation { steady: steady(), parts, ..Simulation::default() });
    let note = finding(&summary, "overloaded").unwrap();
    assert!(note.text.starts_with("dynos is asked for all that its servers can do."), "{}", note.text);
    assert!(note.text.contains("20 % of those that came to it failed"), "{}", note.text);
    assert!(finding(&summary, "no-steady-state").is_none());
}

#[test]
fn without_a_cut_in_the_first_half_there_is_no_steady_state_either() {
    let not_found = Steady { found: false, cut: 4_000, cut_s: 40.0, ..steady() };
    let of = |growth: f64, not_found: Steady| Simulation {
        steady: not_found,
        parts: vec![station(0.97, growth, 0)],
        ..Simulation::default()
    };
    let text =
        |growth: f64| finding(&run(of(growth, not_found.clone())), "no-steady-state").unwrap().text.clone();
    assert!(text(0.0).contains("6000 response times") && text(0.0).contains("No part"), "{}", text(0.0));
    assert!(text(20.0).contains("The number of requests in dynos grew by "), "{}", text(20.0));
    let unknown = Simulation { steady: Steady::default(), ..Simulation::default() };
    assert!(finding(&run(unknown), "no-steady-state").is_none(), "nothing was looked at");
}

#[test]
fn a_run_that_is_short_against_its_relaxation_time_says_what_length_would_do() {
    let of = |relaxation| Steady { relaxation_s: Some(relaxation), ..steady() };
    let note = |relaxation| {
        let summary = run(Simulation { steady: of(relaxation), ..Simulation::default() });
        finding(&summary, "short-run").cloned()
    };
    // 55 s are left after the cut.
    let short = note(20.0).unwrap();
    assert!((short.value.unwrap() - 2.75).abs() < 1e-12 && short.limit == Some(10.0), "{short:?}");
    assert_eq!(short.severity, Severity::Warning);
    for part in ["lasts 55 s: 2.75 relaxation times", "takes 20 s to forget", "at least 200 s after"] {
        assert!(short.text.contains(part), "{part}: {}", short.text);
    }
    let narrow = note(1.0).unwrap();
    assert_eq!((narrow.severity, narrow.limit), (Severity::Info, Some(500.0)));
    assert!(narrow.text.contains("in 384 s the mean of a single busy queue"), "{}", narrow.text);
    assert_eq!(note(0.109), None);
    assert_eq!(note(f64::INFINITY), None);
}

/// Names of all fields, at any depth.
fn fields(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                into.push(name.clone());
                fields(value, into);
            }
        }
        Value::Array(all) => all.iter().for_each(|value| fields(value, into)),
        _ => {}
    }
}

#[test]
fn every_field_of_a_simulation_and_of_a_study_is_documented() {
    let documented = include_str!("../../../../docs/summary.md");
    let part = ModelPart { by_copy: vec![CopyLoad::default()], ..station(0.5, 0.0, 0) };
    let study = Study {
        parameters: vec![Parameter::default()],
        points: vec![Point { utilisation: Some(Default::default()), ..Point::default() }],
        differences: vec![Difference::default()],
        ..Study::default()
    };
    let simulation = Simulation { parts: vec![part], ..Simulation::default() };
    let mut names = Vec::new();
    for value in [serde_json::to_value(simulation), serde_json::to_value(study)] {
        fields(&value.unwrap(), &mut names);
    }
    // What both documents share is told of the summary.
    for name in
        names.iter().filter(|name| !["schema", "units", "time", "rate", "size"].contains(&name.as_str()))
    {
        let told = documented.contains(&format!("`{name}`")) || documented.contains(&format!(".{name}`"));
        assert!(told, "{name} is not in docs/summary.md");
    }
}
