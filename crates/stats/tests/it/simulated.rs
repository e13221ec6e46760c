//! What a run says of the model behind it: no steady state, and a run that is too short for one.

use crate::world::{MS, World, answered, draws, exponential, finding};
use headway_base::Nanos;
use headway_stats::Summary;
use headway_stats::study::{Difference, Parameter, Point, Study};
use headway_stats::summary::Open;
use headway_stats::summary::evidence::{GeneratorCause, Load, Loop, Model};
use headway_stats::summary::{
    CopyLoad, Evidence, Infinite, LoadVerdict, ModelPart, PartPoint, RuleId, Severity, Simulation, Source,
    Steady, ThresholdOutcome,
};
use serde_json::Value;

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
    let [Evidence::Model(Model::FillsUp { part, load: Some(1.25), parts: 1, growth: Some(growth) })] =
        &note.evidence[..]
    else {
        panic!("{note:?}")
    };
    assert!(part == "dynos" && growth.ci95[0] > 0.0, "{growth:?}");
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
    let sheds = Model::Sheds { part: "dynos".into(), load: Some(1.0), parts: 1, failed: 0.2 };
    assert_eq!(note.evidence, [sheds.into()]);
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
    let fastest = |growth: f64| {
        let summary = run(of(growth, not_found.clone()));
        match &finding(&summary, "no-steady-state").unwrap().evidence[..] {
            [Evidence::Model(Model::NoSteadyState { n: 6_000, fastest, .. })] => {
                fastest.as_ref().map(|grows| grows.part.clone())
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!((fastest(0.0), fastest(20.0).as_deref()), (None, Some("dynos")));
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
    let [Evidence::Model(Model::ShortRun { length_s, times, relaxation_s, beginning, needed_s, .. })] =
        short.evidence[..]
    else {
        panic!("{short:?}")
    };
    assert_eq!((length_s, times, relaxation_s, beginning, needed_s), (55.0, 2.75, 20.0, true, 200.0));
    let narrow = note(1.0).unwrap();
    assert_eq!((narrow.severity, narrow.limit), (Severity::Info, Some(500.0)));
    let [Evidence::Model(Model::ShortRun { mean_s, beginning: false, .. })] = narrow.evidence[..] else {
        panic!("{narrow:?}")
    };
    assert!((mean_s - 384.1).abs() < 0.1, "{mean_s}");
    assert_eq!(note(0.109), None);
    assert_eq!(note(f64::INFINITY), None);
}

#[test]
fn no_part_that_is_asked_for_too_much_forgets_how_it_began() {
    let parts = vec![station(0.3, 0.0, 0), station(1.4, 20.0, 0)];
    let steady = Steady { relaxation_s: Some(20.0), ..steady() };
    let summary = run(Simulation { steady, parts, ..Simulation::default() });
    let is_short = |of: &Evidence| matches!(of, Evidence::Model(Model::ShortRun { .. }));
    assert!(finding(&summary, "short-run").is_none_or(|note| !note.evidence.iter().any(is_short)));
}

/// 288 arrivals that start when they are due are too few for an interval, and in virtual time they need none.
#[test]
fn in_virtual_time_what_starts_when_it_is_due_is_as_asked_however_little_it_is() {
    let mut world = World::empty(4.8, 60);
    world.records = (0..288i64)
        .map(|k| {
            let at = k * 208 * MS + (k * k * 7919) % (100 * MS);
            answered(k as u64, at, at, 10 * MS)
        })
        .collect();
    let live = world.clone().analyse();
    assert_eq!(live.verdict.load, Some(LoadVerdict::Inconclusive), "clocks are never so exact");
    world.facts.source = Source::Sim;
    let exact = world.clone().analyse();
    assert_eq!(exact.verdict.load, Some(LoadVerdict::Valid), "{:?}", exact.verdict.rules);
    let rule = |id: RuleId| exact.verdict.rules.iter().find(|rule| rule.rule == id).unwrap();
    let sent = rule(RuleId::SentShare);
    assert_eq!((sent.interval, sent.n), (Some([1.0, 1.0]), 288));
    assert_eq!(rule(RuleId::Bunching).interval, Some([0.0, 0.0]));
    world.records[100].started = Nanos(world.records[100].intended.0 + 5 * MS).into();
    let late = world.analyse();
    assert_eq!(
        late.verdict.load,
        Some(LoadVerdict::Inconclusive),
        "one was late: an interval is needed again"
    );
}

#[test]
fn an_overloaded_simulation_claims_no_intervals_and_tells_its_cause_once() {
    let piling = |simulation: Simulation| {
        let mut world = World::poisson(100.0, 60, 1);
        world.facts.source = Source::Sim;
        world.facts.simulation = Some(simulation);
        // Each waits for 0.2 times as long as the run has lasted.
        for record in &mut world.records {
            record.done = Nanos(record.intended.0 + record.intended.0 / 5 + MS);
            record.first_byte = record.done.into();
        }
        world.analyse()
    };
    let not_found = Steady { found: false, relaxation_s: None, ..steady() };
    let over = piling(Simulation {
        steady: not_found.clone(),
        parts: vec![station(1.25, 20.0, 0)],
        ..Simulation::default()
    });
    assert!(finding(&over, "no-steady-state").is_some() && finding(&over, "feedback").is_none());
    assert_eq!((over.response.ci95.mean, over.response.ci95.p99), (None, None));
    assert_eq!(over.not_computed["response.ci95.mean"].why, headway_stats::summary::Why::Overloaded);
    // Of retries nobody knows beforehand what they ask for: the growth itself is told, with what made it, and only once.
    let mut again = station(0.0, 20.0, 0);
    again.offered = None;
    let retried = piling(Simulation {
        steady: not_found,
        parts: vec![again],
        attempts_per_request: Some(2.5),
        ..Simulation::default()
    });
    assert!(finding(&retried, "no-steady-state").is_none() && finding(&retried, "not-steady").is_none());
    let note = finding(&retried, "feedback").unwrap();
    let [Evidence::Loop(Loop::PilesUpInModel { attempts_per_request, ci95, .. })] = note.evidence[..] else {
        panic!("{note:?}")
    };
    assert!(attempts_per_request == Some(2.5) && ci95[0] > 0.0 && note.interval == Some(ci95), "{note:?}");
    assert_eq!(retried.not_computed["response.ci95.p50"].why, headway_stats::summary::Why::PilesUp);
}

#[test]
fn without_a_steady_state_a_threshold_on_a_time_is_decided_by_its_value_and_is_not_certain() {
    let of = |steady: Steady| {
        let mut world = World::poisson(100.0, 60, 1);
        world.facts.source = Source::Sim;
        world.facts.simulation = Some(Simulation { steady, ..Simulation::default() });
        let texts = ["p(99)<1s", "failed: rate<1%", "failed: count<1", "started: rate>50"];
        let thresholds = texts.iter().map(|text| text.parse().unwrap()).collect();
        let mut analysis = headway_stats::Analysis::new(world.setup(1)).judging(thresholds);
        world.feed(&mut analysis, 1);
        analysis.finish(world.facts.clone())
    };
    use ThresholdOutcome::Passed;
    let data = Some(Open::Data);
    let outcomes =
        |summary: &Summary| summary.thresholds.iter().map(|t| (t.outcome, t.open)).collect::<Vec<_>>();
    let calm = outcomes(&of(steady()));
    assert!(calm.iter().all(|(outcome, _)| *outcome == Passed) && calm[0].1.is_none(), "{calm:?}");
    let why_not = Some(
        headway_stats::summary::Unsteady::PlanVaries { what: headway_stats::summary::PlanPart::Rate }.into(),
    );
    let mut unsteady = of(Steady { found: false, why_not, ..steady() });
    assert_eq!(outcomes(&unsteady), [(Passed, data), (Passed, data), (Passed, None), (Passed, None)]);
    let p99 = unsteady.thresholds[0].clone();
    assert_eq!((p99.interval, p99.decided, p99.value.is_some()), (None, None, true));
    let reason = p99.reason.unwrap();
    assert!(matches!(reason.why, headway_stats::summary::Why::NotSteady { because: Some(_) }), "{reason:?}");
    assert!(unsteady.not_computed.contains_key("thresholds.0.interval"));
    // Judged anew on the stored document, as `headway report` does.
    unsteady.thresholds =
        vec![headway_stats::thresholds::of_summary(&"p(99)<1s".parse().unwrap(), &unsteady).unwrap()];
    assert_eq!(outcomes(&unsteady)[0].0, Passed);
    unsteady.hold_thresholds_to_a_steady_state();
    assert_eq!(outcomes(&unsteady), [(Passed, data)]);
}

#[test]
fn an_infinite_mean_is_called_one() {
    let of = |infinite, offered| {
        let part = ModelPart { infinite: Some(infinite), offered: Some(offered), ..station(0.2, 0.0, 0) };
        run(Simulation {
            steady: Steady { ci95: Some([0.1, 0.2]), ..steady() },
            parts: vec![part],
            ..Simulation::default()
        })
    };
    let wait = of(Infinite::MeanWait, 0.2);
    let infinite = Model::Infinite { part: "dynos".into(), what: Infinite::MeanWait };
    assert_eq!(finding(&wait, "heavy-tail").unwrap().evidence, [infinite.into()]);
    assert!(wait.response.ci95.mean.is_none() && wait.response.ci95.p50.is_some());
    assert_eq!(wait.simulation.unwrap().steady.ci95, None);
    assert!(wait.not_computed.contains_key("simulation.steady.ci95"));
    let service = of(Infinite::MeanService, f64::INFINITY);
    let note = finding(&service, "no-steady-state").unwrap();
    assert!(
        matches!(&note.evidence[..], [Evidence::Model(Model::FillsUp { part, load: None, .. })] if part == "dynos"),
        "{note:?}"
    );
}

#[test]
fn what_makes_a_simulated_generator_late_is_its_model() {
    let mut world = World::poisson(100.0, 60, 1);
    world.facts.source = Source::Sim;
    for record in world.records.iter_mut().step_by(10) {
        record.started = Nanos(record.intended.0 + 20 * MS).into();
        record.sent = record.started;
    }
    let summary = world.analyse();
    let note = finding(&summary, "late").unwrap();
    let pauses = |cause: &GeneratorCause| *cause == GeneratorCause::ModelPauses;
    assert!(
        matches!(&note.evidence[..], [Evidence::Load(Load::Late { cause, .. })] if pauses(cause)),
        "{note:?}"
    );
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
    let part = ModelPart {
        by_copy: vec![CopyLoad::default()],
        infinite: Some(Infinite::MeanWait),
        ..station(0.5, 0.0, 0)
    };
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
