//! The laws of every run, under any mixture of groups, journeys, limits, targets, generator defects and interrupts.

use crate::common::law;
use crate::laws;
use crate::rig::{Leads, Reply, Rig};
use headway_base::{Nanos, Outcome, Phase, Profile, Rate};
use headway_testkit::{Connect, Generator};
use headway_workload::journey::{Journey, Node};
use headway_workload::plan::{Connections, Group, LONGEST, OnFailure, Plan, Source};
use headway_workload::users::{Level, UserPhase};
use headway_workload::{Limits, Process, RequestKey, SessionControl, Shard};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::sync::Arc;

const MS: fn(i64) -> Nanos = Nanos::from_millis;

/// Those of all crates: none sets a seed of its own.
#[test]
fn property_tests_draw_from_a_seed_that_is_known() {
    let seed = ProptestConfig::default().rng_seed;
    assert_ne!(
        seed,
        RngSeed::Random,
        "cargo sets PROPTEST_RNG_SEED (.cargo/config.toml): run the tests with it"
    );
}

/// Think times above zero: users whose every request fails at once would otherwise never end.
fn think() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["1ms", "40ms", "uniform(1ms,30ms)", "exp(20ms)"])
}

fn node() -> impl Strategy<Value = Node> {
    let ask = (0u16..6, 1u32..4, prop::option::of(think())).prop_map(|(step, repeat, think)| Node::Ask {
        step,
        repeat,
        think: think.map(law),
    });
    let leaf = prop_oneof![4 => ask, 1 => think().prop_map(|t| Node::Pause(law(t)))];
    leaf.prop_recursive(2, 8, 3, |inner| {
        let nodes = prop::collection::vec(inner, 0..3);
        let way = (0.1f64..3.0, nodes.clone());
        prop_oneof![
            (1u32..3, nodes).prop_map(|(times, nodes)| Node::Repeat(times, nodes)),
            prop::collection::vec(way, 1..3).prop_map(Node::Choose),
        ]
    })
}

fn journey() -> impl Strategy<Value = Journey> {
    let any = (prop::collection::vec(node(), 1..4), think())
        .prop_filter_map("no request", |(nodes, think)| Journey::new(&nodes, law(think)).ok());
    let single = think().prop_map(|think| {
        Journey::new(&[Node::Ask { step: 0, repeat: 1, think: None }], law(think)).unwrap()
    });
    prop_oneof![4 => any, 1 => single]
}

fn level() -> impl Strategy<Value = Level> {
    let phase = (20i64..500, 0u32..7, 0u32..7).prop_map(|(ms, from, to)| UserPhase {
        length: MS(ms),
        from_users: f64::from(from),
        to_users: f64::from(to),
    });
    prop::collection::vec(phase, 1..5).prop_map(|phases| Level::new(&phases))
}

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        3 => (10.0f64..200.0, 100i64..1_000).prop_map(|(rate, ms)| Source::Arrivals {
            process: Process::Poisson,
            profile: Arc::new(Profile::new(&[Phase::hold(MS(ms), Rate(rate))])),
        }),
        1 => (0u64..40).prop_map(|sessions| Source::AtOnce { sessions }),
        3 => level().prop_map(|level| Source::Users { level: Arc::new(level), requests: None }),
        1 => (0u64..120, 1u32..12).prop_map(|(n, users)| Source::Users {
            level: Arc::new(Level::hold(users, LONGEST)),
            requests: Some(n),
        }),
    ]
}

fn group() -> impl Strategy<Value = Group> {
    let connections = vec![Connections::Shared, Connections::PerUser, Connections::PerRequest];
    let connections = prop::sample::select(connections);
    let connecting = level().prop_map(Group::connecting);
    let other = (source(), journey(), connections, any::<bool>(), prop::option::of(10i64..100)).prop_map(
        |(source, journey, connections, ends, pace)| {
            let on_failure = if ends { OnFailure::EndSession } else { OnFailure::Continue };
            let closed = matches!(source, Source::Users { .. });
            let pace = pace.filter(|_| closed).map(|ms| law(&format!("{ms}ms")));
            Group { on_failure, pace, ..Group::of(source, journey, connections) }
        },
    );
    prop_oneof![6 => other, 1 => connecting]
}

fn plan() -> impl Strategy<Value = Plan> {
    (any::<u64>(), prop::collection::vec(group(), 1..4), (0u32..3, 1u32..4)).prop_map(
        |(seed, groups, (index, count))| {
            let ends = |group: &Group| match &group.source {
                Source::Arrivals { profile, .. } => profile.end(),
                Source::Trace(trace) => trace.end,
                Source::Users { level, .. } | Source::Connecting { level } => level.end(),
                Source::AtOnce { .. } => LONGEST,
            };
            let end = groups.iter().map(ends).max().unwrap_or(Nanos::ZERO);
            let shard = Shard::new(index % count, count).unwrap();
            Plan { seed, groups, measured_from: Nanos::ZERO, end, shard }
        },
    )
}

fn reply() -> impl Strategy<Value = Reply> {
    let then = prop::sample::select(vec![
        SessionControl::Continue,
        SessionControl::Continue,
        SessionControl::Continue,
        SessionControl::EndSession,
    ]);
    use Outcome::{Check, Ok, RefusedStream, Status};
    let outcome = prop::sample::select(vec![Ok, Ok, Ok, Ok, Status, Status, Check, RefusedStream]);
    let comes = (0i64..50, 0i64..50, outcome, then, 0u8..8, prop::option::of(0i64..60)).prop_map(
        |(first, more, outcome, then, closes, hangs_up)| Reply::Comes {
            first: MS(first),
            done: MS(first + more),
            outcome,
            then,
            reusable: closes > 0,
            hangs_up: hangs_up.map(MS),
        },
    );
    let not_sent = prop::sample::select(vec![
        SessionControl::Continue,
        SessionControl::EndSession,
        SessionControl::StopGroup,
    ]);
    prop_oneof![
        12 => comes,
        1 => not_sent.prop_map(|then| Reply::NotSent(Outcome::Check, then)),
        1 => Just(Reply::ends(MS(5), Outcome::Ok, SessionControl::StopGroup)),
        1 => (0i64..40).prop_map(|after| Reply::Breaks(MS(after))),
        1 => Just(Reply::Silence),
    ]
}

/// What a connection that carries several requests at once can do beside: change how many.
fn reply_of_many() -> impl Strategy<Value = Reply> {
    let holds = (0i64..40, prop::sample::select(vec![0u32, 1, 2, 7, 200]));
    prop_oneof![12 => reply(), 1 => holds.prop_map(|(after, n)| Reply::Holds(MS(after), n))]
}

fn connect() -> impl Strategy<Value = Connect> {
    prop_oneof![
        8 => (0i64..20).prop_map(|t| Connect::After(MS(t))),
        1 => (0i64..20).prop_map(|t| Connect::Fails(MS(t), Outcome::Refused)),
        1 => (0i64..3).prop_map(|t| Connect::Fails(MS(t), Outcome::LocalLimit)),
        1 => Just(Connect::Silence),
    ]
}

fn generator() -> impl Strategy<Value = Generator> {
    let pause = (0i64..900, 1i64..300).prop_map(|(from, length)| (MS(from), MS(from + length)));
    let us = Nanos::from_micros;
    let defects = (0i64..1_000, 0i64..500, 0i64..5, prop::collection::vec(pause, 0..3)).prop_map(
        move |(action, event, tick, mut pauses)| {
            pauses.sort_unstable();
            Generator {
                action_cost: us(action),
                event_cost: us(event),
                tick: MS(tick),
                pauses,
                ..Generator::default()
            }
        },
    );
    prop_oneof![1 => Just(Generator::default()), 2 => defects]
}

fn limits() -> impl Strategy<Value = Limits> {
    (1u32..30, 1i64..120, 20i64..200).prop_map(|(connections, max_wait, drain)| Limits {
        connections,
        max_wait: MS(max_wait),
        timeout: MS(120),
        connect_timeout: MS(60),
        drain: MS(drain),
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn every_run_keeps_the_laws(
        plan in plan(),
        limits in limits(),
        replies in prop::collection::vec(reply(), 1..24),
        connects in prop::collection::vec(connect(), 1..10),
        generator in generator(),
        interrupts in prop::collection::vec(1i64..1_500, 0..3),
    ) {
        play(&plan, limits, (1, false), (&replies, &connects, &[]), generator, interrupts);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Also where a connection carries several requests, of which each can be given up by itself.
    #[test]
    fn every_run_over_connections_that_carry_many_keeps_the_laws(
        plan in plan(),
        limits in limits(),
        capacity in prop::sample::select(vec![3u32, 100]),
        spread in any::<bool>(),
        replies in prop::collection::vec(reply_of_many(), 1..24),
        connects in prop::collection::vec(connect(), 1..10),
        generator in generator(),
        interrupts in prop::collection::vec(1i64..1_500, 0..3),
    ) {
        play(&plan, limits, (capacity, spread), (&replies, &connects, &[]), generator, interrupts);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    /// Also where steps go to several origins, and where what was answered leads to some.
    #[test]
    fn every_run_over_several_origins_keeps_the_laws(
        plan in plan(),
        origins in prop::collection::vec(0u16..3, 6),
        limits in limits(),
        capacity in prop::sample::select(vec![1u32, 1, 3, 100]),
        spread in any::<bool>(),
        replies in prop::collection::vec(reply(), 1..24),
        connects in prop::collection::vec(connect(), 1..10),
        links in prop::collection::vec(prop::collection::vec((0u16..6, 0u16..4), 0..3), 0..4),
        generator in generator(),
        interrupts in prop::collection::vec(1i64..1_500, 0..3),
    ) {
        let mut plan = plan;
        for group in &mut plan.groups {
            group.journey = Arc::new(Journey::clone(&group.journey).reaching(&origins));
        }
        let spread = spread && capacity > 1;
        play(&plan, limits, (capacity, spread), (&replies, &connects, &links), generator, interrupts);
    }
}

/// Where one origin does not answer to connections, requests to the other start on time, and those that wait are not late by the generator.
#[test]
fn an_origin_that_does_not_answer_holds_back_its_own_requests_alone() {
    let group = |step: u16| {
        // The first connection is of the first group.
        let begins = MS(100 * i64::from(step));
        let phases = [Phase::hold(begins, Rate(0.0)), Phase::hold(MS(1_000) - begins, Rate(100.0))];
        let profile = Profile::new(&phases);
        let node = Node::Ask { step, repeat: 1, think: None };
        let journey = Journey::new(&[node], law("1ms")).unwrap().reaching(&[0, 1]);
        let source = Source::Arrivals { process: Process::Constant, profile: Arc::new(profile) };
        Group::of(source, journey, Connections::Shared)
    };
    let groups = vec![group(0), group(1)];
    let plan = Plan { seed: 1, groups, measured_from: Nanos::ZERO, end: MS(1_000), shard: Shard::WHOLE };
    let limits = Limits {
        connections: 8,
        max_wait: MS(2_000),
        timeout: MS(2_000),
        connect_timeout: MS(400),
        drain: Nanos::ZERO,
    };
    let mut opened = 0;
    let connect = |_: Nanos| {
        opened += 1;
        if opened == 1 { Connect::After(MS(1)) } else { Connect::Silence }
    };
    let request = |_: Nanos, _: usize, _: &_| Reply::ok(MS(2));
    let played = Rig::new(&plan, limits, connect, request).carrying(100).run();
    let of = |group: u16| played.kept.records.iter().filter(move |record| record.group == group);
    assert_eq!((of(0).count(), of(1).map(|record| record.count).sum::<u32>()), (100, 90));
    let held: Vec<_> = of(0)
        .filter(|record| record.outcome != Outcome::Ok || record.wait > MS(1))
        .map(|r| (r.k, r.outcome, r.wait))
        .collect();
    assert_eq!(held, [], "held back");
    assert!(of(1).all(|record| record.outcome != Outcome::Ok));
    let lags = of(1).filter_map(|record| Some(record.started.get()? - record.intended - record.wait));
    assert!(lags.max() <= Some(Nanos::ZERO), "a wait for an origin is the generator's");
}

/// A journey of one request, to either of two origins.
fn to_either() -> Journey {
    let ask = |step| vec![Node::Ask { step, repeat: 1, think: None }];
    Journey::new(&[Node::Choose(vec![(1.0, ask(0)), (1.0, ask(1))])], law("1ms")).unwrap().reaching(&[0, 1])
}

/// Sessions that arrive at that rate for three seconds, each to either of two origins.
fn either(rate: f64) -> Plan {
    let profile = Profile::new(&[Phase::hold(MS(3_000), Rate(rate))]);
    let source = Source::Arrivals { process: Process::Poisson, profile: Arc::new(profile) };
    let groups = vec![Group::of(source, to_either(), Connections::Shared)];
    Plan { seed: 4, groups, measured_from: Nanos::ZERO, end: MS(3_000), shard: Shard::WHOLE }
}

/// At the cap, all that a request waits for is a connection, whichever origin has them.
#[test]
fn a_wait_at_the_cap_of_all_origins_is_no_lag() {
    for connections in [1, 2, 3, 20] {
        let connect = |_: Nanos| Connect::After(MS(1));
        for (rate, hangs) in [(40.0, false), (60.0, true)] {
            let plan = either(rate);
            let timeout = MS(2_000);
            let limits = Limits {
                connections,
                max_wait: MS(5_000),
                timeout,
                connect_timeout: timeout,
                drain: Nanos::ZERO,
            };
            let request = |_: Nanos, _: usize, key: &RequestKey| {
                if hangs && key.step == 1 { Reply::Silence } else { Reply::ok(MS(50)) }
            };
            let played = Rig::new(&plan, limits, connect, request).run();
            laws::check(&plan, &limits, &played);
            laws::check_no_lag(&played);
            let waited = played.kept.records.iter().filter(|row| row.started.is_some() && row.wait > MS(1));
            assert_eq!(waited.count() > 0, connections <= 3 || hangs, "{connections} {hangs}");
        }
    }
}

/// No connection is kept for an origin that no request goes to; from its first request on one is, whatever the others need.
#[test]
fn a_connection_is_kept_for_an_origin_from_its_first_request_on() {
    let group = |step: u16, from: i64, rate: f64| {
        let phases = [Phase::hold(MS(from), Rate(0.0)), Phase::hold(MS(1_000 - from), Rate(rate))];
        let journey = Journey::new(&[Node::Ask { step, repeat: 1, think: None }], law("1ms")).unwrap();
        let profile = Arc::new(Profile::new(&phases));
        let source = Source::Arrivals { process: Process::Constant, profile };
        Group::of(source, journey.reaching(&[0, 1]), Connections::Shared)
    };
    let limits = Limits {
        connections: 2,
        max_wait: MS(5_000),
        timeout: MS(2_000),
        connect_timeout: MS(2_000),
        drain: Nanos::ZERO,
    };
    for capacity in [1, 4] {
        for (groups, first) in
            [(vec![group(0, 0, 400.0)], 0), (vec![group(0, 0, 400.0), group(1, 500, 10.0)], 1)]
        {
            let plan =
                Plan { seed: 1, groups, measured_from: Nanos::ZERO, end: MS(1_000), shard: Shard::WHOLE };
            let connect = |_: Nanos| Connect::After(MS(1));
            // As many are under way as two connections carry, at any time: none is ever idle.
            let request = |_: Nanos, _: usize, _: &RequestKey| Reply::ok(MS(5 * i64::from(capacity)));
            let rig = Rig::new(&plan, limits, connect, request);
            let rig = if capacity == 1 { rig } else { rig.carrying(capacity) };
            let played = rig.run();
            laws::check(&plan, &limits, &played);
            laws::check_no_lag(&played);
            assert_eq!(played.most_open, 2);
            let late = |row: &&headway_base::Record| row.group == 1 && row.started.is_some();
            let others: Vec<_> = played.kept.records.iter().filter(late).collect();
            assert_eq!(others.len(), first * 5, "{capacity}");
            assert!(others.iter().all(|row| row.wait <= MS(60)), "{capacity} {others:?}");
        }
    }
}

fn play(
    plan: &Plan,
    limits: Limits,
    (capacity, spread): (u32, bool),
    (replies, connects, links): (&[Reply], &[Connect], &[Leads]),
    generator: Generator,
    mut interrupts: Vec<i64>,
) {
    interrupts.sort_unstable();
    let at: Vec<Nanos> = interrupts.into_iter().map(MS).collect();
    let mut tried = 0;
    let connect = |_: Nanos| {
        tried += 1;
        connects[tried % connects.len()]
    };
    let request = |_: Nanos, n: usize, _: &_| replies[n % replies.len()];
    let rig = Rig::new(plan, limits, connect, request);
    let rig = if spread { rig.spreading(capacity) } else { rig.carrying(capacity) };
    let played = rig.with(generator).leading(links).interrupted_at(&at).run();
    laws::check(plan, &limits, &played);
}

/// A shared connection is filled before another is opened, and no more than that are; spread, they go over all there may be.
#[test]
fn a_connection_is_filled_before_another_is_opened_unless_requests_are_spread() {
    let burst = Group::of(
        Source::AtOnce { sessions: 250 },
        Journey::new(&[Node::Ask { step: 0, repeat: 1, think: None }], law("1ms")).unwrap(),
        Connections::Shared,
    );
    let plan = Plan {
        seed: 1,
        groups: vec![burst],
        measured_from: Nanos::ZERO,
        end: MS(1_000),
        shard: Shard::WHOLE,
    };
    let limits = Limits {
        connections: 10,
        max_wait: MS(500),
        timeout: MS(500),
        connect_timeout: MS(500),
        drain: Nanos::ZERO,
    };
    let connect = |_: Nanos| Connect::After(MS(10));
    let request = |_: Nanos, _: usize, _: &_| Reply::ok(MS(200));
    let played = Rig::new(&plan, limits, connect, request).carrying(100).run();
    laws::check(&plan, &limits, &played);
    assert_eq!((played.lives.len(), played.most_carried), (3, 100));
    // Those that the first connections had no room for waited for the next, which is not the generator's lateness.
    let waits = |from: i64| played.kept.records.iter().filter(|r| r.wait == MS(from)).count();
    // The second says 3 ms later than it stands how many it takes.
    assert_eq!((waits(0), waits(10), waits(23)), (1, 100, 100));

    let played = Rig::new(&plan, limits, connect, request).spreading(100).run();
    laws::check(&plan, &limits, &played);
    assert_eq!((played.lives.len(), played.most_carried), (10, 25));
}
