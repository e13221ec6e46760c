//! A client that joins a plan which has begun: the zero stays, what fell due before is unsent, users and fixed work begin when they join.

use crate::common::{LIMITS, law};
use crate::rig::{Played, Reply, Rig};
use headway_base::sink::Kept;
use headway_base::{Kind, Nanos, Outcome, Phase, Profile, Rate, Record};
use headway_testkit::{Answer, Connect, Generator, Scripted, Simulation};
use headway_workload::journey::{Journey, Node};
use headway_workload::plan::{Connections, Group, LONGEST, Plan, Source};
use headway_workload::users::Level;
use headway_workload::{Client, Limits, Process, RequestKey, Shard};
use proptest::prelude::*;
use std::sync::Arc;

const MS: fn(i64) -> Nanos = Nanos::from_millis;

fn joined(plan: &Plan, limits: Limits, at: Nanos) -> (Played, u64) {
    let answer =
        |_: Nanos, n: usize, _: &RequestKey| Reply::ok(Nanos::from_micros(900 + n as i64 * 31 % 400));
    let (rig, missed) = Rig::new(plan, limits, |_| Connect::After(MS(1)), answer).joining(at);
    (rig.run(), missed)
}

fn requests(played: &Played) -> Vec<Record> {
    played.kept.records.iter().filter(|r| r.kind == Kind::Request).copied().collect()
}

fn steps(n: u32, think: &str) -> Journey {
    Journey::new(&[Node::Ask { step: 0, repeat: n, think: None }], law(think)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Invariant 3 for a shard that comes late, with one or two groups: the union of what it missed and what it sent is its plan.
    #[test]
    fn every_arrival_ends_once_and_what_fell_due_before_is_unsent(
        seed in any::<u64>(),
        rates in prop::collection::vec(20.0f64..3_000.0, 1..3),
        even in any::<bool>(),
        late_us in 0i64..1_300_000,
        again_us in 0i64..2_000,
        (count, index) in (1u32..5).prop_flat_map(|count| (Just(count), 0..count)),
        connections in 1u32..30,
        answer_ms in 0i64..40,
    ) {
        let process = if even { Process::Constant } else { Process::Poisson };
        let group = |rate: &f64| Group::open(process, Profile::new(&[Phase::hold(MS(1_000), Rate(*rate))]));
        let groups: Vec<Group> = rates.iter().map(group).collect();
        let plan = Plan { groups: groups.clone(), ..Plan::of(seed, groups[0].clone(), Nanos::ZERO, MS(1_000)) };
        let shard = Shard::new(index, count).unwrap();
        let late = Nanos::from_micros(late_us + again_us);
        let limits = Limits { connections, max_wait: MS(80), timeout: MS(120), connect_timeout: MS(60), drain: MS(200) };

        let mut client = Client::new(&plan, shard, limits, Kept::default());
        // What falls due while the missed ones are written down is missed too.
        let mut missed = client.join(Nanos::from_micros(late_us));
        missed += client.join(late);
        let generator = Generator { pauses: vec![(Nanos::ZERO, late)], ..Generator::default() };
        let target = Scripted { connect: |_| Connect::After(MS(2)), request: |_, _| Answer::ok(MS(answer_ms)) };
        let mut world = Simulation::new(client, target, generator);
        world.run();
        let kept = std::mem::take(world.finish());

        let mut before = 0;
        for (number, _) in groups.iter().enumerate() {
            let of: Vec<&Record> = kept.records.iter().filter(|r| usize::from(r.group) == number).collect();
            // Each row stands for consecutive arrivals of the shard's plan, the first of which it names.
            let mut ends: Vec<(u64, Record)> = Vec::new();
            let planned: Vec<_> = plan.sessions_of(number, shard).collect();
            for row in of {
                let first = planned.iter().position(|a| a.k == row.k).expect("it is planned");
                for arrival in &planned[first..first + row.count as usize] {
                    prop_assert_eq!(arrival.intended.0 / 1_000_000, row.intended.0 / 1_000_000, "within a millisecond");
                    ends.push((arrival.k, Record { intended: arrival.intended, ..*row }));
                }
            }
            ends.sort_unstable_by_key(|(k, _)| *k);
            prop_assert_eq!(ends.iter().map(|e| e.0).collect::<Vec<_>>(), planned.iter().map(|a| a.k).collect::<Vec<_>>());
            for ((k, row), arrival) in ends.iter().zip(&planned) {
                prop_assert_eq!((*k, row.intended), (arrival.k, arrival.intended), "the zero stays where it was");
                if arrival.intended < late {
                    before += 1;
                    prop_assert_eq!((row.outcome, row.started.get(), row.wait), (Outcome::Unsent, None, Nanos::ZERO));
                    prop_assert!(row.done >= row.intended && row.done <= late, "{:?}", row);
                } else {
                    prop_assert!(row.started.get().is_none_or(|at| at >= arrival.intended));
                    prop_assert!(row.lag().is_none_or(|lag| lag == Nanos::ZERO), "no burst at the join: {:?}", row);
                }
            }
        }
        prop_assert_eq!(missed, before);
    }
}

#[test]
fn arrivals_after_the_join_are_those_of_a_client_that_was_there() {
    let plan = crate::common::plan(Process::Poisson, 2_000.0, 3, 11);
    let late = MS(1_250);
    let (played, missed) = joined(&plan, LIMITS, late);
    let due: Vec<Nanos> = plan.arrivals().map(|a| a.intended).collect();
    let after: Vec<Nanos> = due.iter().copied().filter(|at| *at >= late).collect();
    assert_eq!(played.kept.starts.iter().map(|s| s.started).collect::<Vec<_>>(), after);
    assert_eq!(missed as usize, due.len() - after.len());
    // A row for each millisecond at most.
    let unsent = requests(&played).iter().filter(|r| r.outcome == Outcome::Unsent).count();
    assert!(unsent <= 1_250 && unsent > 1_000, "{unsent}");
}

#[test]
fn a_plan_that_is_over_is_unsent_as_a_whole() {
    let plan = crate::common::plan(Process::Constant, 100.0, 2, 1);
    let (played, missed) = joined(&plan, LIMITS, MS(2_500));
    let unsent: u64 = requests(&played).iter().map(|r| u64::from(r.count)).sum();
    assert_eq!((missed, unsent, played.sends.len()), (200, 200, 0));
}

#[test]
fn closed_users_begin_when_they_join_and_leave_when_they_would_have() {
    let level = Level::hold(12, MS(4_000));
    let plan = Plan::of(3, Group::closed(level, steps(2, "exp(30ms)")), Nanos::ZERO, MS(4_000));
    let (played, missed) = joined(&plan, LIMITS, MS(2_500));
    let came: Vec<Nanos> = played.kept.users.iter().filter(|u| u.1 == 1).map(|u| u.0).collect();
    assert_eq!((came, missed), (vec![MS(2_500); 12], 0));
    let rows = requests(&played);
    assert!(rows.len() > 300, "{}", rows.len());
    assert!(rows.iter().all(|r| r.intended >= MS(2_500) && r.lag() == Some(Nanos::ZERO)));
    assert!(played.ended >= MS(3_900) && played.ended <= MS(4_010), "{}", played.ended);
}

#[test]
fn fixed_work_is_done_whenever_it_begins() {
    let late = MS(1_700);
    let at_once = Source::AtOnce { sessions: 40 };
    let plan = Plan::of(4, Group::of(at_once, steps(3, "0s"), Connections::Shared), Nanos::ZERO, LONGEST);
    let (played, missed) = joined(&plan, LIMITS, late);
    let first: Vec<Record> = requests(&played).into_iter().filter(|r| r.repeat == 0).collect();
    assert_eq!((requests(&played).len(), first.len(), missed), (120, 40, 0));
    assert!(first.iter().all(|r| (r.intended, r.lag()) == (late, Some(Nanos::ZERO))));

    let users = Source::Users { level: Arc::new(Level::hold(7, LONGEST)), requests: Some(500) };
    let plan = Plan::of(4, Group::of(users, steps(1, "0s"), Connections::PerUser), Nanos::ZERO, LONGEST);
    let (played, missed) = joined(&plan, LIMITS, late);
    assert_eq!((requests(&played).len(), missed), (500, 0));
    assert!(requests(&played).iter().all(|r| r.intended >= late));
}

#[test]
fn sockets_that_are_kept_connecting_are_spread_from_the_join_on() {
    let source = Source::Connecting { level: Arc::new(Level::hold(10, MS(3_000))) };
    let group = Group::of(source, steps(1, "0s"), Connections::PerRequest);
    let plan = Plan::of(5, group, Nanos::ZERO, MS(3_000));
    let limits = Limits { connect_timeout: MS(500), ..LIMITS };
    let answer = |_: Nanos, _: usize, _: &RequestKey| Reply::ok(MS(1));
    let (rig, _) = Rig::new(&plan, limits, |_| Connect::Silence, answer).joining(MS(1_010));
    let played = rig.run();
    let mut first: Vec<Nanos> =
        requests(&played).iter().filter(|r| r.intended < MS(1_510)).map(|r| r.intended).collect();
    first.sort_unstable();
    assert_eq!(first, (0..10).map(|u| MS(1_010 + 50 * u)).collect::<Vec<_>>());
}
