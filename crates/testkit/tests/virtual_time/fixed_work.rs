//! Fixed work: so many sessions at once, or so many requests as fast as some users go; over when it is done.

use crate::common::{LIMITS, law};
use crate::laws::{by_session, check, session_rows};
use crate::rig::{Played, Reply, Rig, play, play_in_parts};
use headway_base::{Kind, Nanos, Outcome, Phase, Profile, Rate, Record};
use headway_testkit::Connect;
use headway_workload::journey::{Journey, Node};
use headway_workload::plan::{Connections, Group, LONGEST, Plan, Source};
use headway_workload::users::Level;
use headway_workload::{Limits, Process, RequestKey, SessionControl};
use std::sync::Arc;

const MS: fn(i64) -> Nanos = Nanos::from_millis;
const AT_ONCE: fn(Nanos) -> Connect = |_| Connect::After(Nanos::ZERO);

fn steps(n: u32, think: &str) -> Journey {
    Journey::new(&[Node::Ask { step: 0, repeat: n, think: None }], law(think)).unwrap()
}

/// `n` requests over `users`.
fn work(n: u64, users: u32, journey: Journey) -> Plan {
    let source = Source::Users { level: Arc::new(Level::hold(users, LONGEST)), requests: Some(n) };
    Plan::of(4, Group::of(source, journey, Connections::PerUser), Nanos::ZERO, LONGEST)
}

fn at_once(sessions: u64, journey: Journey, connections: Connections) -> Plan {
    Plan::of(4, Group::of(Source::AtOnce { sessions }, journey, connections), Nanos::ZERO, LONGEST)
}

fn requests(played: &Played) -> Vec<Record> {
    played.kept.records.iter().filter(|r| r.kind == Kind::Request).copied().collect()
}

/// Answers that differ, so that users do not go in step.
fn answer(_: Nanos, n: usize, _: &RequestKey) -> Reply {
    Reply::ok(Nanos::from_micros(4_000 + (n as i64 * 7_919) % 2_000))
}

#[test]
fn so_many_requests_are_made_and_no_more() {
    for (n, users) in [(1_000, 7), (5, 20), (20, 20), (1, 1), (0, 3)] {
        let plan = work(n, users, steps(3, "0s"));
        let played = play(&plan, LIMITS, answer);
        let rows = requests(&played);
        assert_eq!((rows.len() as u64, played.sends.len() as u64), (n, n), "{n} over {users}");
        assert!(rows.iter().all(|r| r.outcome == Outcome::Ok));
        let last = rows.iter().map(|r| r.done).max().unwrap_or(Nanos::ZERO);
        assert_eq!(played.ended, last, "over when the work is done");
    }
}

#[test]
fn shards_make_them_together_even_where_they_are_more_than_the_users() {
    for (n, users, shards) in [(1_000, 7, 3), (10, 2, 3), (11, 5, 4), (3, 1, 8), (2, 9, 3)] {
        let parts = play_in_parts(&work(n, users, steps(2, "1ms")), shards, LIMITS, answer);
        let made: usize = parts.iter().map(|played| requests(played).len()).sum();
        assert_eq!(made as u64, n, "{n} over {users} in {shards} parts");
    }
}

#[test]
fn a_thousand_at_once_are_all_due_at_zero() {
    let plan = at_once(1_000, steps(11, "0s"), Connections::PerUser);
    let played = play(&plan, LIMITS, answer);
    let first: Vec<Record> = by_session(&played, 0).values().map(|rows| rows[0]).collect();
    assert_eq!((first.len(), played.lives.len(), requests(&played).len()), (1_000, 1_000, 11_000));
    assert!(first.iter().all(|r| r.intended == Nanos::ZERO && r.started == Nanos::ZERO.into()));
    assert!(session_rows(&played, 0).values().all(|w| w.outcome == Outcome::Ok && w.intended == Nanos::ZERO));
    let parts = play_in_parts(&plan, 3, LIMITS, answer);
    let mut keys: Vec<u64> = parts.iter().flat_map(|played| by_session(played, 0).into_keys()).collect();
    keys.sort_unstable();
    assert_eq!(keys, (0..1_000).collect::<Vec<_>>());
}

/// 300 sessions through 20 connections of their own: the others wait their turn, and none of that is lag.
#[test]
fn through_few_connections_they_wait_their_turn() {
    for connections in [Connections::Shared, Connections::PerUser] {
        let plan = at_once(300, steps(4, "0s"), connections);
        let limits = Limits { connections: 20, ..LIMITS };
        let played = play(&plan, limits, |_, _, _| Reply::ok(MS(5)));
        let rows = requests(&played);
        assert_eq!((rows.len(), played.most_open), (1_200, 20));
        assert_eq!(played.ended, MS(300), "20 at a time, 5 ms each");
        assert!(rows.iter().all(|r| r.lag() == Some(Nanos::ZERO) && r.outcome == Outcome::Ok));
        let waited = rows.iter().map(|r| r.wait).max();
        assert_eq!(waited, Some(if connections == Connections::Shared { MS(70) } else { MS(280) }));
    }
}

/// More users than connections, and less work than users: when the work is done, those who wait never had any.
#[test]
fn users_who_wait_when_the_work_is_done_leave_without_a_trace() {
    let limits = Limits { connections: 5, max_wait: MS(20), ..LIMITS };
    for at in [vec![], vec![MS(10)]] {
        let plan = work(5, 30, steps(1, "0s"));
        let played = Rig::new(&plan, limits, AT_ONCE, |_, _, _| Reply::ok(MS(100))).interrupted_at(&at).run();
        check(&plan, &limits, &played);
        assert_eq!((requests(&played).len(), played.ended), (5, MS(100)));
    }
}

/// Users who think when the work is done do not keep it from being over.
#[test]
fn work_is_over_with_its_last_answer_whatever_users_think() {
    let played = play(&work(50, 10, steps(2, "exp(20s)")), LIMITS, answer);
    let last = requests(&played).iter().map(|r| r.done).max().unwrap();
    assert_eq!((requests(&played).len(), played.ended), (50, last));
}

#[test]
fn work_beside_other_groups_ends_when_all_are_done() {
    let mut plan = work(200, 4, steps(2, "1ms"));
    let profile = Profile::new(&[Phase::hold(Nanos::from_secs(1), Rate(50.0))]);
    plan.groups.push(Group::open(Process::Poisson, profile));
    plan.groups.extend(at_once(30, steps(2, "10ms"), Connections::Shared).groups);
    let played = play(&plan, LIMITS, answer);
    let of = |group: u16| requests(&played).iter().filter(|r| r.group == group).count();
    assert_eq!((of(0), of(1), of(2)), (200, plan.sessions_of(1, plan.shard).count(), 60));
    assert!(played.ended < Nanos::from_secs(2));
}

#[test]
fn work_whose_data_runs_out_stops() {
    let stops = |_: Nanos, n: usize, _: &RequestKey| match n {
        30.. => Reply::NotSent(Outcome::Check, SessionControl::StopGroup),
        _ => Reply::ok(MS(5)),
    };
    let played = play(&work(1_000, 4, steps(1, "1ms")), LIMITS, stops);
    assert!((31..=34).contains(&requests(&played).len()) && played.ended < MS(100));
}

/// One interrupt waits for answers, the second does not, in every kind of workload; the laws say that what had fallen due
/// has its one row.
#[test]
fn interrupts_end_every_kind() {
    let profile = || Profile::new(&[Phase::hold(Nanos::from_secs(1), Rate(300.0))]);
    let second = Nanos::from_secs(1);
    let arriving = |journey, connections| {
        let source = Source::Arrivals { process: Process::Poisson, profile: Arc::new(profile()) };
        Plan::of(4, Group::of(source, journey, connections), Nanos::ZERO, second)
    };
    let closed = |connections| {
        let group =
            Group { connections, ..Group::closed(Level::hold(40, second), steps(3, "uniform(0s,60ms)")) };
        Plan::of(4, group, Nanos::ZERO, second)
    };
    let (shared, own) = (Connections::Shared, Connections::PerUser);
    let plans = [
        arriving(Journey::single(), shared),
        arriving(steps(3, "exp(20ms)"), shared),
        arriving(steps(3, "exp(20ms)"), own),
        closed(shared),
        closed(own),
        work(2_000, 40, steps(3, "0s")),
        work(2_000, 40, steps(3, "exp(5ms)")),
        at_once(1_000, steps(3, "0s"), shared),
        at_once(1_000, steps(3, "exp(5ms)"), own),
    ];
    let limits = Limits { connections: 25, ..LIMITS };
    for (number, plan) in plans.iter().enumerate() {
        for ms in [0, 1, 20, 50, 77, 130] {
            let run = |at: &[Nanos]| {
                let played =
                    Rig::new(plan, limits, AT_ONCE, |_, _, _| Reply::ok(MS(40))).interrupted_at(at).run();
                check(plan, &limits, &played);
                played
            };
            let (once, twice) = (run(&[MS(ms)]), run(&[MS(ms), MS(ms + 15)]));
            let cancelled = requests(&twice).iter().filter(|r| r.outcome == Outcome::Cancelled).count();
            assert!(once.ended <= MS(ms + 40) && twice.ended <= MS(ms + 15), "plan {number} at {ms} ms");
            assert!(requests(&once).iter().all(|r| r.outcome != Outcome::Cancelled));
            let late = requests(&once).iter().filter(|r| r.done > MS(ms + 15)).count();
            assert_eq!(cancelled, late, "plan {number} at {ms} ms: what the second interrupt cut short");
        }
    }
}
