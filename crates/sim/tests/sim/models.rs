//! What else a modelled target can do: stall, start cold, accept slowly, take its time over a step.

use crate::common::{LIMITS, law, open, records, servers};
use headway_base::sink::Kept;
use headway_base::station::Stalls;
use headway_base::{Nanos, Phase, Profile, Rate};
use headway_sim::{Generator, Network, RandomPauses};
use headway_workload::journey::{Journey, Node};
use headway_workload::model::{Cold, Model, Station};
use headway_workload::plan::{Connections, Group, Source};
use headway_workload::{Limits, Plan, Process, Shard};
use std::sync::Arc;

const MS: fn(i64) -> Nanos = Nanos::from_millis;

/// 100/s, 1 ms each, and no service from 20 to 22 s: arrival i of the stall leaves at 22 s + (i + 1) ms, until those who
/// waited are served.
#[test]
fn a_stall_of_two_seconds_holds_up_who_comes_in_it_and_who_queues_behind() {
    let stalls = Some(Stalls::parse("at=20s,for=2s").unwrap());
    let rows = records(
        &open(Process::Constant, 100.0, 30, 1),
        LIMITS,
        &Model::station(Station { stalls, ..servers(1, "1ms") }),
    );
    for row in &rows {
        let i = (row.intended.0 - 20_000_000_000) / 10_000_000;
        let truth = if i < 0 { MS(1) } else { MS(2_001 - 9 * i).max(MS(1)) };
        assert_eq!(row.response(), truth, "due at {}", row.intended);
    }
    assert_eq!(rows.len(), 3_000);
}

#[test]
fn a_cold_target_warms_up_by_what_it_has_served() {
    let cold = Some(Cold { factor: 2.4, requests: 400 });
    let rows = records(
        &open(Process::Constant, 10.0, 2_000, 1),
        LIMITS,
        &Model::station(Station { cold, ..servers(1, "10ms") }),
    );
    let demand = |served: usize| MS(10).as_secs_f64() * (1.0 + 2.4 * (-(served as f64) / 400.0).exp());
    for served in [0, 1, 400, 1_000, 19_999] {
        assert_eq!(rows[served].response(), Nanos::from_secs_f64(demand(served)), "{served}");
    }
    assert_eq!((rows[0].response(), rows[19_999].response()), (MS(34), MS(10)));
}

/// 999 connections asked for a millisecond apart, established 5 ms apart; then, after a rest, at once again.
#[test]
fn connections_are_accepted_one_after_the_other() {
    let phases =
        [Phase::hold(MS(1_000), Rate(1_000.0)), Phase::pause(MS(9_000)), Phase::hold(MS(1_000), Rate(2.0))];
    let plan = Plan::of(1, Group::open(Process::Constant, Profile::new(&phases)), Nanos::ZERO, MS(11_000));
    // Nobody is answered before the end, so that every request needs a connection of its own.
    let model = Model { accept: Some(Rate(200.0)), ..Model::station(servers(2_000, "20s")) };
    let rows = records(&plan, LIMITS, &model);
    assert_eq!(rows.len(), 1_002);
    for (i, row) in rows.iter().enumerate() {
        let waited = if i < 999 { MS(4 * i as i64) } else { Nanos::ZERO };
        assert_eq!((row.connect.get(), row.reused), (Some(waited), false), "{i}");
    }
}

#[test]
fn a_step_may_have_a_service_law_of_its_own() {
    let ask = |step| Node::Ask { step, repeat: 2, think: None };
    let journey = Journey::new(&[ask(0), ask(1), ask(2)], law("1s")).unwrap();
    let profile = Arc::new(Profile::new(&[Phase::hold(MS(5_000), Rate(0.5))]));
    let source = Source::Arrivals { process: Process::Constant, profile };
    let plan = Plan::of(1, Group::of(source, journey, Connections::Shared), Nanos::ZERO, MS(5_000));
    let model = Model::station(Station { steps: vec![(1, law("20ms"))], ..servers(1, "3ms") });
    let rows = records(&plan, LIMITS, &model);
    let asked: Vec<_> = rows.iter().filter(|r| r.kind == headway_base::Kind::Request).collect();
    assert_eq!(asked.len(), 12);
    for row in asked {
        assert_eq!(row.response(), [MS(3), MS(20), MS(3)][usize::from(row.step)]);
    }
}

/// Everything at once, twice: the same records; and others under another seed.
#[test]
fn a_run_is_a_function_of_its_settings() {
    let play = |seed: u64| {
        let station = Station {
            queue: Some(20),
            stalls: Some(Stalls::parse("every=7s,for=500ms").unwrap()),
            cold: Some(Cold { factor: 1.5, requests: 500 }),
            ..servers(2, "lognormal(4ms,2)")
        };
        let model = Model { accept: Some(Rate(300.0)), ..Model::station(station) };
        let generator = Generator {
            action_cost: Nanos::from_micros(20),
            event_cost: Nanos::from_micros(10),
            tick: Nanos::from_micros(100),
            random: Some(RandomPauses::new(law("exp(2s)"), law("exp(50ms)"), seed).unwrap()),
            ..Generator::default()
        };
        let limits = Limits { connections: 50, max_wait: MS(200), timeout: MS(300), ..LIMITS };
        let (plan, mut kept) = (open(Process::Poisson, 400.0, 60, seed), Kept::default());
        let network = Network::new(&model, &plan).unwrap();
        let played = headway_sim::play(&plan, Shard::WHOLE, limits, network, generator, &mut kept);
        (kept.records, kept.starts, played)
    };
    let (first, again, other) = (play(1), play(1), play(2));
    assert!(first == again && first != other);
    assert!(
        first.0.iter().any(|r| r.status == 503)
            && first.0.iter().any(|r| r.outcome == headway_base::Outcome::Timeout)
    );
}

#[test]
fn a_model_that_cannot_be_is_refused() {
    let plan = open(Process::Constant, 1.0, 1, 1);
    let error = |model: Model| Network::new(&model, &plan).unwrap_err().to_string();
    let sound = servers(1, "1ms");
    assert!(error(Model::station(Station { servers: 0, ..sound.clone() })).contains("at least 1"));
    assert!(
        error(Model { accept: Some(Rate(0.0)), ..Model::station(sound.clone()) })
            .contains("'0/s' is not a rate")
    );
    let cold = Some(Cold { factor: f64::NAN, requests: 1 });
    assert!(error(Model::station(Station { cold, ..sound.clone() })).contains("'factor: NaN, requests: 1'"));
    assert!(Network::new(&Model::station(sound), &plan).is_ok());
}
