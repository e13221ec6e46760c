//! The client on a virtual clock: every arrival that falls due ends as exactly one record, whatever the target does.

use crate::common::{LIMITS, answers, count, plan, play, total};
use headway_base::sink::Kept;
use headway_base::{Nanos, Outcome};
use headway_testkit::{Answer, Connect, Generator, Scripted, Simulation};
use headway_workload::{Client, Limits, Process, Shard};
use proptest::prelude::*;

const MS: fn(i64) -> Nanos = Nanos::from_millis;

#[test]
fn an_open_plan_is_sent_on_time_whatever_the_answers_take() {
    let plan = plan(Process::Poisson, 500.0, 4, 1);
    let kept = play(&plan, LIMITS, answers(|_, _| Answer::ok(MS(900))), Generator::default());
    let intended: Vec<Nanos> = plan.arrivals().map(|a| a.intended).collect();
    assert_eq!(kept.starts.iter().map(|s| s.started).collect::<Vec<_>>(), intended);
    assert!(kept.records.iter().all(|r| r.outcome == Outcome::Ok && r.response() == MS(900)));
    assert_eq!(kept.records.len(), intended.len());
    // 500/s for 0.9 s each keeps about 450 in use, the most recently used first.
    let connections = kept.records.iter().map(|r| r.connection).max().unwrap() + 1;
    assert!((400..600).contains(&connections), "{connections}");
    assert_eq!(kept.records.iter().filter(|r| !r.reused).count(), connections as usize);
}

/// A target that stands still for a second: open-loop arrivals keep coming, and those of that second wait it out.
#[test]
fn a_stall_of_a_second_shows_in_the_response_times() {
    let plan = plan(Process::Constant, 1000.0, 10, 1);
    let stall = (Nanos::from_secs(4), Nanos::from_secs(5));
    let target = answers(move |now, _| match now {
        at if stall.0 <= at && at < stall.1 => Answer::ok(stall.1 - at),
        _ => Answer::ok(Nanos::from_micros(100)),
    });
    let kept = play(&plan, Limits { connections: 5_000, ..LIMITS }, target, Generator::default());
    let mut response: Vec<Nanos> = kept.records.iter().map(|r| r.response()).collect();
    response.sort_unstable();
    // 1,000 of the 10,000 wait between 1 and 1,000 ms, evenly: p95 is 500 ms, p99 900 ms.
    assert_eq!(response.len(), 10_000);
    assert_eq!(
        (response[8_999], response[9_500 - 1], response[9_900 - 1]),
        (MS(0) + Nanos(100_000), MS(500), MS(900))
    );
}

#[test]
fn arrivals_at_the_cap_wait_in_order_and_are_blocked_not_late() {
    let plan = plan(Process::Constant, 100.0, 1, 1);
    // One connection, 30 ms each: a third of the arrivals can be served while they come.
    let limits = Limits { connections: 1, ..LIMITS };
    let kept = play(&plan, limits, answers(|_, _| Answer::ok(MS(30))), Generator::default());
    assert_eq!(total(&kept), 100);
    let order: Vec<u64> = kept.records.iter().filter(|r| r.started.is_some()).map(|r| r.k).collect();
    assert!(order.windows(2).all(|w| w[1] == w[0] + 1), "in order: {order:?}");
    for record in kept.records.iter().filter(|r| r.started.is_some()) {
        assert_eq!(record.lag(), Some(Nanos::ZERO), "{record:?}");
        assert_eq!(record.response(), record.blocked() + MS(30));
    }
    // When the last phase ends nothing new starts: the rest never does.
    let started = order.len() as u64;
    assert!((33..=35).contains(&started), "{started}");
    assert_eq!(count(&kept, Outcome::Unsent), 100 - started);
}

#[test]
fn whoever_waits_too_long_for_a_connection_is_shed() {
    let plan = plan(Process::Constant, 100.0, 2, 1);
    let limits = Limits { connections: 1, max_wait: MS(100), ..LIMITS };
    let kept = play(&plan, limits, answers(|_, _| Answer::ok(MS(300))), Generator::default());
    assert_eq!(total(&kept), 200);
    let shed: Vec<_> = kept.records.iter().filter(|r| r.outcome == Outcome::Shed).collect();
    assert!(shed.len() > 150, "{}", shed.len());
    for record in shed {
        assert!(record.response() >= MS(100) && record.response() < MS(111), "{record:?}");
        assert_eq!((record.started.get(), record.connection), (None, u32::MAX));
    }
    assert!(kept.records.iter().all(|r| r.wait <= MS(100)));
}

#[test]
fn lateness_before_the_cap_is_the_generators_and_at_the_cap_is_not() {
    // The generator stands still from 100 to 200 ms; 10 arrivals fall due. Two connections take the first two; the
    // others find the cap reached only then.
    let plan = plan(Process::Constant, 100.0, 1, 1);
    let limits = Limits { connections: 2, ..LIMITS };
    let generator = Generator { pauses: vec![(MS(101), MS(200))], ..Generator::default() };
    let kept = play(&plan, limits, answers(|_, _| Answer::ok(MS(5))), generator);
    let row = |k: u64| kept.records.iter().find(|r| r.k == k).unwrap();
    // Arrival 10 was due at 110 ms, started at 200: all of it lag.
    assert_eq!((row(10).lag(), row(10).wait), (Some(MS(90)), Nanos::ZERO));
    // Arrival 12, due at 130: the cap was reached at 200, a connection came free at 205.
    assert_eq!((row(12).lag(), row(12).wait), (Some(MS(70)), MS(5)));
    assert_eq!(row(50).lag(), Some(Nanos::ZERO));
}

#[test]
fn a_hung_server_times_out_and_frees_its_connections() {
    let plan = plan(Process::Constant, 10.0, 10, 1);
    let limits = Limits { connections: 5, timeout: MS(400), max_wait: MS(400), ..LIMITS };
    let kept = play(&plan, limits, answers(|_, _| Answer::Silence), Generator::default());
    assert_eq!((total(&kept), count(&kept, Outcome::Timeout)), (100, 100));
    assert!(kept.records.iter().all(|r| r.service() == Some(MS(400)) && r.first_byte.get().is_none()));
    assert!(kept.records.iter().all(|r| !r.reused), "a connection that timed out is not used again");
}

#[test]
fn connecting_takes_its_time_fails_or_hangs() {
    let plan = plan(Process::Constant, 10.0, 1, 1);
    let connect = |how: Connect| {
        let target = Scripted { connect: move |_| how, request: |_, _| Answer::ok(MS(1)) };
        play(&plan, LIMITS, target, Generator::default())
    };
    let slow = connect(Connect::After(MS(30)));
    let first = slow.records[0];
    assert_eq!((first.connect.get(), first.blocked(), first.service()), (Some(MS(30)), MS(30), Some(MS(1))));
    let refused = connect(Connect::Fails(MS(2), Outcome::Refused));
    assert_eq!(count(&refused, Outcome::Refused), 10);
    assert!(refused.records.iter().all(|r| r.sent.get().is_none() && r.response() == MS(2)));
    let hung = connect(Connect::Silence);
    assert_eq!(count(&hung, Outcome::ConnectTimeout), 10);
    assert!(hung.records.iter().all(|r| r.response() == LIMITS.connect_timeout));
}

#[test]
fn a_closing_target_gets_a_new_connection_each_time() {
    let plan = plan(Process::Constant, 100.0, 1, 1);
    let close =
        Answer::Comes { first_byte: MS(1), done: MS(2), outcome: Outcome::Ok, status: 200, reusable: false };
    let kept = play(&plan, LIMITS, answers(move |_, _| close), Generator::default());
    let mut numbers: Vec<u32> = kept.records.iter().map(|r| r.connection).collect();
    numbers.dedup();
    assert_eq!(numbers.len(), 100);
    assert!(kept.records.iter().all(|r| r.first_byte.get() == Some(r.done - MS(1))));
}

#[test]
fn one_interrupt_waits_for_answers_and_two_do_not() {
    let interrupted = |at: &[Nanos], answer: Nanos| {
        let plan = plan(Process::Constant, 100.0, 10, 1);
        let client = Client::new(&plan, Shard::WHOLE, LIMITS, Kept::default());
        let target = answers(move |_, _| Answer::ok(answer));
        let mut world = Simulation::new(client, target, Generator::default()).interrupted_at(at);
        let ended = world.run();
        (std::mem::take(world.finish()), ended)
    };
    let (once, ended) = interrupted(&[MS(1_005)], MS(500));
    assert_eq!((total(&once), count(&once, Outcome::Ok), ended), (100, 100, MS(1_500)));
    let (twice, ended) = interrupted(&[MS(1_005), MS(1_200)], MS(500));
    assert_eq!((total(&twice), ended), (100, MS(1_200)));
    assert_eq!(count(&twice, Outcome::Cancelled), 30, "sent from 0.71 to 1.00 s");
    // Waiting for answers has an end of its own.
    let (hung, ended) = interrupted(&[MS(1_005)], Nanos::from_secs(3_600));
    assert_eq!((total(&hung), count(&hung, Outcome::Ok)), (100, 0));
    assert!(ended <= MS(1_005) + LIMITS.timeout);
}

#[test]
fn a_generator_that_cannot_keep_up_says_what_it_did_not_send() {
    // Each action costs 1 ms, 2,000/s are asked: half can be sent over open connections, a quarter over new ones.
    let plan = plan(Process::Constant, 2_000.0, 2, 1);
    let generator = Generator { action_cost: MS(1), ..Generator::default() };
    let kept = play(&plan, LIMITS, answers(|_, _| Answer::ok(MS(1))), generator);
    assert_eq!(total(&kept), 4_000);
    let unsent = count(&kept, Outcome::Unsent);
    assert!((1_900..=3_010).contains(&unsent), "{unsent}");
    // They are rows of contiguous arrivals, none across a border of a millisecond.
    let rows: Vec<_> = kept.records.iter().filter(|r| r.outcome == Outcome::Unsent).collect();
    assert!(rows.len() as u64 <= unsent / 2 + 1, "{}", rows.len());
}

fn answer() -> impl Strategy<Value = Answer> {
    let more = prop_oneof![Just(0), 1i64..50];
    let comes = (0i64..50, more, 0u8..4, any::<bool>()).prop_map(|(first, more, kind, reusable)| {
        let (outcome, status) = match kind {
            0 => (Outcome::Status, 503),
            1 => (Outcome::Reset, 0),
            _ => (Outcome::Ok, 200),
        };
        let reusable = reusable && outcome != Outcome::Reset;
        Answer::Comes { first_byte: MS(first), done: MS(first + more), outcome, status, reusable }
    });
    prop_oneof![9 => comes, 1 => Just(Answer::Silence)]
}

fn connect() -> impl Strategy<Value = Connect> {
    prop_oneof![
        8 => (0i64..20).prop_map(|t| Connect::After(MS(t))),
        1 => (0i64..20).prop_map(|t| Connect::Fails(MS(t), Outcome::Refused)),
        1 => Just(Connect::Silence),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Invariant 3, and the bounds that the user set, under any mixture of answers, generator defects and interrupts; and a
    /// client that keeps notes tells the same.
    #[test]
    fn every_arrival_that_fell_due_ends_exactly_once(
        seed in any::<u64>(),
        rate in 20.0f64..400.0,
        connections in 1u32..30,
        script in prop::collection::vec(answer(), 1..20),
        connects in prop::collection::vec(connect(), 1..10),
        action_us in 0i64..3_000,
        tick_ms in 0i64..5,
        pause in (0i64..900, 1i64..300),
        interrupts in prop::collection::vec(1i64..1_500, 0..3),
    ) {
        let plan = plan(Process::Poisson, rate, 1, seed);
        let (max_wait, timeout, connect_timeout, drain) = (MS(80), MS(120), MS(60), MS(200));
        let limits = Limits { connections, max_wait, timeout, connect_timeout, drain };
        let mut at: Vec<Nanos> = interrupts.into_iter().map(MS).collect();
        at.sort_unstable();
        let generator = Generator {
            action_cost: Nanos::from_micros(action_us),
            tick: MS(tick_ms),
            pauses: vec![(MS(pause.0), MS(pause.0 + pause.1))],
            ..Generator::default()
        };
        let play = |client: Client<Kept>| {
            let mut tried = 0;
            let target = Scripted {
                connect: |_| { tried += 1; connects[tried % connects.len()] },
                request: |_, n| script[n as usize % script.len()],
            };
            let mut world = Simulation::new(client, target, generator.clone()).interrupted_at(&at);
            let ended = world.run();
            (std::mem::take(world.finish()), ended)
        };
        let client = || Client::new(&plan, Shard::WHOLE, limits, Kept::default());
        let (kept, ended) = play(client());
        let (noted, noted_ended) = play(client().keeping_notes());
        prop_assert_eq!((&noted, noted_ended), (&kept, ended));

        let mut keys: Vec<u64> = kept.records.iter().flat_map(|r| r.k..r.k + u64::from(r.count)).collect();
        keys.sort_unstable();
        let due: Vec<u64> = plan.arrivals().map(|a| a.k).collect();
        prop_assert_eq!(&keys[..], &due[..keys.len()], "each once, and a prefix of the plan");
        let stopped = at.first().copied().filter(|&t| t <= ended);
        if stopped.is_none() {
            prop_assert_eq!(keys.len(), due.len());
        }
        prop_assert!(plan.arrivals().skip(keys.len()).all(|a| stopped.is_some_and(|t| a.intended > t)));

        let started = kept.records.iter().filter(|r| r.started.is_some()).count();
        prop_assert_eq!(started, kept.starts.len());
        prop_assert!(kept.starts.windows(2).all(|w| w[0].started <= w[1].started && w[0].intended <= w[1].intended));
        prop_assert!(kept.finished.is_some());
        for record in &kept.records {
            let stamps = [Some(record.intended), record.started.get(), record.sent.get(), record.first_byte.get(), Some(record.done)];
            let known: Vec<Nanos> = stamps.into_iter().flatten().collect();
            prop_assert!(known.windows(2).all(|w| w[0] <= w[1]), "stamps in order: {:?}", record);
            prop_assert!(record.lag().is_none_or(|lag| lag >= Nanos::ZERO), "{:?}", record);
            prop_assert!(record.wait >= Nanos::ZERO);
        }
        // Never more connections at once than allowed: spans of use, counted by a sweep.
        let mut edges: Vec<(Nanos, i32)> = kept.records.iter()
            .filter_map(|r| r.started.get().map(|s| (s, r.done)))
            .flat_map(|(from, to)| [(from, 1), (to, -1)])
            .collect();
        edges.sort_unstable();
        let mut open = 0;
        for (_, step) in edges {
            open += step;
            prop_assert!(open <= connections as i32);
        }
    }
}
