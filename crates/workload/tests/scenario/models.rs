//! What a model reads as: networks of parts, in an order in which each leads to later ones only.

use crate::common::{mistakes, read_text, scenario};
use headway_base::Nanos;
use headway_workload::model::policies::{ALL, Options};
use headway_workload::model::words::Worded;
use headway_workload::model::{
    Backoff, Balancer, Branch, Breaker, Budget, Discipline, Hedge, Jitter, Kind, Knows, Model, Part, Policy,
    Retry, Ties, Timeout, Trip, UnderWay, When, WhileDown,
};

const REST: &str =
    "users: { arrive: { rate: 1/s } }\njourney: [{ get: /a, name: a }, { get: /b, name: b }, { get: /c }]\n";

fn millis(ms: i64) -> Nanos {
    Nanos(ms * 1_000_000)
}

/// The only model of a file.
#[track_caller]
fn model(text: &str) -> Model {
    scenario(&format!("{text}\n{REST}")).model().unwrap().clone()
}

/// Name, copies, whether they are shared, and what it leads to.
fn shape(part: &Part) -> (&str, u32, bool, Vec<usize>) {
    (&part.name, part.copies, part.shared, part.leads_to().collect())
}

#[track_caller]
fn balancer(part: &Part) -> &Balancer {
    match &part.kind {
        Kind::Balancer(balancer) => balancer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn named_parts_are_shared_and_come_after_what_leads_to_them() {
    let model = model(
        "model:
  parts:
    dynos: { copies: 250, service: exp(200ms), cable: 2ms }
    routers: { copies: 10, balancer: { policy: least-connections, ties: first }, to: dynos, hold: 1s, knows: { every: 100ms, cost: 2ms } }
  balancer: random
  to: routers
  accept: 200/s",
    );
    let shapes: Vec<_> = model.parts.iter().map(shape).collect();
    assert_eq!(
        shapes,
        [("balancer", 1, false, vec![1]), ("routers", 10, true, vec![2]), ("dynos", 250, true, vec![])]
    );
    assert_eq!(model.accept, Some(headway_base::Rate(200.0)));
    let routers = balancer(&model.parts[1]);
    assert_eq!(routers.policy, Policy::LeastConnections { ties: Ties::First });
    assert_eq!((routers.hold, routers.queue), (Some(millis(1000)), None));
    assert_eq!(routers.knows, Knows::Shared { every: millis(100), cost: millis(2) });
    let cable = model.parts[2].cable.as_ref().unwrap();
    assert_eq!((cable.out.to_string(), cable.back.to_string()), ("const(2ms)".into(), "const(2ms)".into()));
}

#[test]
fn parts_within_others_are_named_by_their_place_and_a_pool_has_copies() {
    let pools = model(
        "model: { balancer: random, to: { copies: 10, balancer: one-connection, queue: 3, pool: { servers: 25, service: 1ms, queue: lifo } } }",
    );
    let shapes: Vec<_> = pools.parts.iter().map(shape).collect();
    assert_eq!(
        shapes,
        [
            ("balancer", 1, false, vec![1]),
            ("balancer-2", 10, false, vec![2]),
            ("balancer-2.pool", 25, false, vec![])
        ]
    );
    assert_eq!(balancer(&pools.parts[1]).queue, Some(3));
    let Kind::Station(station) = &pools.parts[2].kind else { panic!() };
    assert_eq!((station.servers, &station.discipline, station.queue), (1, &Discipline::Lifo, None));
    let limited =
        model("model: { balancer: random, pool: { servers: 2, service: 1ms, queue: 7, discipline: ps } }");
    let Kind::Station(station) = &limited.parts[1].kind else { panic!() };
    assert_eq!((station.queue, &station.discipline), (Some(7), &Discipline::Sharing));
    assert_eq!((limited.parts[1].name.as_str(), limited.parts[1].copies), ("pool", 2));
}

#[test]
fn a_list_has_weights_and_keeps_its_order() {
    let model = model(
        "model:
  balancer: round-robin
  to: [{ part: late, weight: 3 }, { service: 1ms }, early, { part: { service: 2ms }, weight: 0.5 }]
  parts:
    early: { to: shared, timeout: 1s }
    late: { to: early }
    shared: { service: 3ms }",
    );
    let names: Vec<&str> = model.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["balancer", "late", "station", "early", "shared", "station-2"]);
    let weights: Vec<Branch> = balancer(&model.parts[0]).to.clone();
    let branch = |part, weight| Branch { part, weight };
    assert_eq!(weights, [branch(1, 3.0), branch(2, 1.0), branch(3, 1.0), branch(5, 0.5)]);
    for (at, part) in model.parts.iter().enumerate() {
        assert!(part.leads_to().all(|to| to > at), "{part:?}");
    }
    assert!(matches!(model.parts[1].kind, Kind::Pass(3)));
}

/// Weights that are equal say nothing, so that any policy may stand before them.
#[test]
fn weights_that_differ_are_for_policies_that_look_at_them() {
    let of = |family: &str, choices: &str, weight: &str| {
        read_text(&format!(
            "model: {{ balancer: {{ policy: {family}{choices} }}, to: [{{ part: {{ service: 1ms }}, weight: 2 }}, \
             {{ part: {{ service: 1ms }}, weight: {weight} }}] }}\n{REST}"
        ))
    };
    for family in ALL {
        assert!(of(family.name, "", "2").is_ok(), "{}", family.name);
        let weighs = (family.build)(&Options::default()).unwrap().weighs();
        assert_eq!(weighs, family.name != "one-connection");
        match of(family.name, "", "3") {
            Ok(_) => assert!(weighs, "{}", family.name),
            Err(shown) => {
                assert!(!weighs && shown.to_string().contains("does not look at weights"), "{shown}")
            }
        }
    }
    assert!(of("power-of-d", ", choices: 1", "3").is_err() && of("power-of-d", ", choices: 1", "2").is_ok());
}

#[test]
fn what_is_given_up_is_withdrawn_or_stopped() {
    use headway_workload::model::Cancel;
    for (word, cancel) in [
        ("true", Cancel::Queued),
        ("True", Cancel::Queued),
        ("queued", Cancel::Queued),
        ("always", Cancel::Always),
        ("false", Cancel::Never),
    ] {
        let model = model(&format!("model: {{ service: 1ms, timeout: {{ after: 1s, cancel: {word} }} }}"));
        assert_eq!(model.parts[0].timeout, Some(Timeout { after: millis(1000), cancel }), "{word}");
    }
}

#[test]
fn what_stands_around_a_part_has_short_spellings_and_long_ones() {
    let short = model(
        "model: { service: 1ms, retries: 3, timeout: 1s, hedge: 50ms, breaker: { failures: 5, open: 5s }, faults: { up: exp(20s), down: exp(1s) } }",
    );
    let part = &short.parts[0];
    assert_eq!(part.name, "target");
    assert_eq!(part.retry, Some(Retry { attempts: 3, backoff: None, budget: None }));
    assert_eq!(
        part.timeout,
        Some(Timeout { after: millis(1000), cancel: headway_workload::model::Cancel::Never })
    );
    assert_eq!(
        part.hedge,
        Some(Hedge { after: millis(50), most: 1, cancel: headway_workload::model::Cancel::Never })
    );
    assert_eq!(part.breaker, Some(Breaker { trip: Trip::InARow(5), open: millis(5000), probes: 1 }));
    let faults = part.faults.as_ref().unwrap();
    assert_eq!(
        (faults.while_down, faults.under_way, faults.together),
        (WhileDown::Error, UnderWay::Finish, false)
    );
    assert!(
        matches!(&faults.when, When::Alternating { lazy: false, up, .. } if up.to_string() == "exp(20s)")
    );
    let long = model(
        "model:
  service: 1ms
  cable: { out: exp(1ms), back: 2ms }
  retries: { attempts: 4, backoff: { base: 100ms, factor: 3, most: 10s, jitter: half }, budget: { share: 0.1, reserve: 20 } }
  timeout: { after: 1s, cancel: true }
  hedge: { after: 50ms, most: 2, cancel: true }
  breaker: { share: 0.5, of: 20, open: 5s, probes: 3 }
  faults: { at: 60s, for: 10s, answer: { slow: 10 }, together: true, under-way: lost }",
    );
    let part = &long.parts[0];
    let backoff = Backoff { base: millis(100), factor: 3.0, most: millis(10_000), jitter: Jitter::Half };
    let budget = Budget { share: 0.1, reserve: 20.0 };
    assert_eq!(part.retry, Some(Retry { attempts: 4, backoff: Some(backoff), budget: Some(budget) }));
    assert_eq!(
        part.timeout,
        Some(Timeout { after: millis(1000), cancel: headway_workload::model::Cancel::Queued })
    );
    assert_eq!(
        part.hedge,
        Some(Hedge { after: millis(50), most: 2, cancel: headway_workload::model::Cancel::Queued })
    );
    let trip = Trip::Share { share: 0.5, of: 20 };
    assert_eq!(part.breaker, Some(Breaker { trip, open: millis(5000), probes: 3 }));
    let faults = part.faults.as_ref().unwrap();
    assert_eq!(
        (faults.while_down, faults.under_way, faults.together),
        (WhileDown::Slow(10.0), UnderWay::Lost, true)
    );
    assert_eq!(faults.when, When::Once { at: millis(60_000), length: millis(10_000) });
    let least = model(
        "model: { service: 1ms, retries: { attempts: 2, backoff: { base: 10ms }, budget: { share: 0 } } }",
    );
    let retry = least.parts[0].retry.as_ref().unwrap();
    let backoff = Backoff { base: millis(10), factor: 2.0, most: millis(1000), jitter: Jitter::Full };
    assert_eq!((retry.backoff, retry.budget), (Some(backoff), Some(Budget { share: 0.0, reserve: 10.0 })));
}

#[test]
fn steps_without_a_class_come_after_those_with_one() {
    let model = model(
        "model: { service: 1ms, discipline: priority, classes: { b: 0, a: 4 }, preemptive: true, speed: [1, 1.8, 2.4] }",
    );
    let Kind::Station(station) = &model.parts[0].kind else { panic!() };
    assert_eq!(station.discipline, Discipline::Priority { classes: vec![4, 0, 5], preemptive: true });
    assert_eq!(station.speed, [1.0, 1.8, 2.4]);
}

#[test]
fn several_models_have_names() {
    let read = scenario(&format!(
        "models:\n  random: {{ balancer: random, pool: {{ service: 1ms }} }}\n  even: {{ service: 1ms }}\n{REST}"
    ));
    let names: Vec<&str> = read.models.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, read.model().is_none()), (vec!["random", "even"], true));
    let one = scenario(&format!("model: {{ service: 1ms }}\n{REST}"));
    assert_eq!((one.models[0].0.as_str(), one.models.len()), ("model", 1));
    assert!(scenario(REST).models.is_empty());
}

#[test]
fn every_policy_and_every_word_can_be_written() {
    for family in ALL {
        let text = |how: &str| format!("model: {{ balancer: {how}, pool: {{ servers: 4, service: 1ms }} }}");
        let plain = model(&text(family.name));
        assert_eq!(balancer(&plain.parts[0]).policy, (family.build)(&Options::default()).unwrap());
        let example = model(&text(family.example));
        let shown = balancer(&example.parts[0]).policy.to_string();
        assert_eq!(shown.split(',').next(), Some(family.name));
        let queue =
            format!("model: {{ queue: 4, balancer: {}, pool: {{ service: 1ms }} }}\n{REST}", family.name);
        assert_eq!(read_text(&queue).is_ok(), family.queues, "{queue}");
        for option in ["ties: first", "choices: 3", "decay: 1s", "bound: 2"] {
            let how = format!("{{ policy: {}, {option} }}", family.name);
            let takes = family.options.iter().any(|known| option.starts_with(known));
            assert_eq!(read_text(&format!("{}\n{REST}", text(&how))).is_ok(), takes, "{how}");
        }
    }
    for word in Discipline::WORDS {
        let classes = if word.name == "priority" { ", classes: { a: 0 }" } else { "" };
        let read = model(&format!("model: {{ service: 1ms, discipline: {}{classes} }}", word.name));
        let Kind::Station(station) = &read.parts[0].kind else { panic!() };
        assert_eq!(station.discipline.word(), word.value.word());
    }
}

#[test]
fn the_documentation_lists_every_policy_and_every_word() {
    let text = include_str!("../../../../docs/scenarios.md");
    for family in ALL {
        let row = format!("| `{}` | {} |", family.usage, family.about);
        assert!(text.contains(&row), "docs/scenarios.md lacks the row\n{row}");
    }
    let words = Discipline::WORDS.iter().map(|word| word.name);
    for word in
        words.chain(Jitter::WORDS.iter().map(|word| word.name)).chain(UnderWay::WORDS.iter().map(|w| w.name))
    {
        assert!(text.contains(&format!("`{word}`")), "docs/scenarios.md lacks `{word}`");
    }
}

#[test]
fn names_of_parts_within_others_differ_from_all_others() {
    let model = model(
        "model: { balancer: random, to: [{ service: 1ms }, station, { service: 1ms }, station-3], parts: { station: { service: 1ms }, station-3: { service: 1ms } } }",
    );
    let names: Vec<&str> = model.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["balancer", "station-2", "station", "station-4", "station-3"]);
}

#[test]
fn a_long_list_of_parts_is_read() {
    let parts = "{ service: 1ms }, ".repeat(20_000);
    let model = model(&format!("model: {{ balancer: random, to: [{parts}] }}"));
    assert_eq!((model.parts.len(), model.parts[20_000].name.as_str()), (20_001, "station-20000"));
}

#[test]
fn a_long_chain_of_names_is_refused_and_does_no_harm() {
    let parts: String = (0..5000).map(|n| format!("    p{n}: {{ to: p{} }}\n", n + 1)).collect();
    let shown =
        mistakes(&format!("model:\n  to: p0\n  parts:\n{parts}    p5000: {{ service: 1ms }}\n{REST}"));
    assert!(shown.contains("more than 64 parts") && shown.matches(" --> ").count() == 1, "{shown}");
}

#[test]
fn parts_deep_within_each_other_are_refused_and_do_no_harm() {
    let text =
        |depth| format!("model: {}{{ service: 1ms }}{}\n{REST}", "{ to: ".repeat(depth), " }".repeat(depth));
    for (depth, told) in [(21, "more than 20 parts within each other"), (70, "nested too deep")] {
        // The parser of YAML takes much stack without optimisation.
        let thread = std::thread::Builder::new().stack_size(32 << 20);
        let shown = thread.spawn(move || mistakes(&text(depth))).unwrap().join().unwrap();
        assert!(shown.contains(told), "{depth}: {shown}");
    }
    assert_eq!(scenario(&text(20)).model().unwrap().parts.len(), 21);
}
