//! Redirects that are followed: further requests of their sessions, which change neither the plan nor how much work there is.

use crate::common::LIMITS;
use crate::laws::{by_session, session_rows};
use crate::rig::{Played, Reply, Rig, play};
use headway_base::{Kind, Nanos, Outcome, Phase, Profile, Rate, Record, Trigger};
use headway_testkit::Connect;
use headway_workload::journey::{Journey, Node, no_think};
use headway_workload::plan::{Connections, Group, LONGEST, Plan, Source};
use headway_workload::users::Level;
use headway_workload::{Limits, Process, RequestKey, SessionControl};
use std::collections::HashMap;
use std::sync::Arc;

const MS: fn(i64) -> Nanos = Nanos::from_millis;
const AT_ONCE: fn(Nanos) -> Connect = |_| Connect::After(Nanos::ZERO);

fn follows(steps: u16) -> Journey {
    let ask = |step| Node::Ask { step, repeat: 1, think: None };
    Journey::new(&(0..steps).map(ask).collect::<Vec<_>>(), no_think()).unwrap().following(steps)
}

fn arriving(journey: Journey) -> Plan {
    let profile = Profile::new(&[Phase::hold(Nanos::from_secs(2), Rate(100.0))]);
    let group = Group { journey: Arc::new(journey), ..Group::open(Process::Poisson, profile) };
    Plan::of(5, group, Nanos::ZERO, Nanos::from_secs(2))
}

/// Every request of a step is redirected `times` over, each time after 5 ms.
fn redirects(times: u32) -> impl FnMut(Nanos, usize, &RequestKey) -> Reply {
    let mut led: HashMap<(u64, u32), u32> = HashMap::new();
    move |_, _, key| {
        let led = led.entry((key.k, key.ordinal)).or_default();
        *led += 1;
        let then = if *led <= times { SessionControl::Redirect(0) } else { SessionControl::Continue };
        Reply::ends(MS(5), Outcome::Ok, then)
    }
}

fn requests(played: &Played) -> Vec<Record> {
    played.kept.records.iter().filter(|r| r.kind == Kind::Request).copied().collect()
}

#[test]
fn they_are_further_requests_of_the_session_and_leave_the_plan_alone() {
    let plan = arriving(follows(2));
    let played = play(&plan, LIMITS, redirects(2));
    let intended: Vec<Nanos> = plan.arrivals().map(|a| a.intended).collect();
    let rows = requests(&played);
    let mut first: Vec<&Record> = rows.iter().filter(|r| r.due == Trigger::Arrival).collect();
    first.sort_unstable_by_key(|r| r.k);
    assert_eq!(first.iter().map(|r| r.intended).collect::<Vec<_>>(), intended);
    assert_eq!(first.iter().map(|r| r.started.get().unwrap()).collect::<Vec<_>>(), intended);
    for rows in by_session(&played, 0).values() {
        assert_eq!(rows.iter().map(|r| r.step).collect::<Vec<_>>(), [0, 2, 2, 1, 3, 3]);
        for pair in rows.windows(2) {
            assert_eq!((pair[1].intended, pair[1].due), (pair[0].done, Trigger::Step), "at once");
        }
    }
    assert!(session_rows(&played, 0).values().all(|w| (w.repeat, w.outcome) == (6, Outcome::Ok)));
    // What is sent is of the same place in the session, so that a body that is sent again holds the same values.
    for (_, _, key) in &played.sends {
        assert_eq!(key.ordinal, u32::from(key.step % 2), "{key:?}");
    }
}

#[test]
fn a_session_of_one_request_follows_them_too_and_is_a_session_then() {
    let played = play(&arriving(follows(1)), LIMITS, redirects(1));
    let sessions = by_session(&played, 0);
    assert!(sessions.len() > 100, "{}", sessions.len());
    assert!(sessions.values().all(|rows| rows.iter().map(|r| r.step).eq([0, 1])));
    assert_eq!(session_rows(&played, 0).len(), sessions.len());
    // Where they are not followed the same answers end the session.
    let journey = Journey::single();
    let played = play(&arriving(journey), LIMITS, redirects(1));
    assert!(requests(&played).iter().all(|r| r.step == 0 && r.due == Trigger::Arrival));
}

#[test]
fn the_work_counts_what_is_asked_for_and_not_where_redirects_lead() {
    for (n, users, connections, cap) in [
        (100, 7, Connections::PerUser, 100),
        (100, 7, Connections::Shared, 3),
        (5, 20, Connections::Shared, 2),
        (1, 1, Connections::PerRequest, 1),
    ] {
        let source = Source::Users { level: Arc::new(Level::hold(users, LONGEST)), requests: Some(n) };
        let plan = Plan::of(4, Group::of(source, follows(1), connections), Nanos::ZERO, LONGEST);
        let limits = Limits { connections: cap, ..LIMITS };
        let played = play(&plan, limits, redirects(3));
        let rows = requests(&played);
        let of = |step| rows.iter().filter(|r| r.step == step && r.outcome == Outcome::Ok).count() as u64;
        assert_eq!((of(0), of(1), rows.len() as u64), (n, 3 * n, 4 * n), "{n} by {users} over {cap}");
        assert!(session_rows(&played, 0).values().all(|w| w.outcome == Outcome::Ok));
    }
}

#[test]
fn an_interrupt_leaves_redirects_unfollowed_and_says_so() {
    let plan = arriving(follows(1));
    let played = Rig::new(&plan, LIMITS, AT_ONCE, redirects(1)).interrupted_at(&[MS(500)]).run();
    let wholes = session_rows(&played, 0);
    let cut = wholes.values().filter(|w| w.outcome == Outcome::Unfinished).count();
    assert!(wholes.values().all(|w| (w.repeat == 2) == (w.outcome == Outcome::Ok)), "{wholes:?}");
    assert!(wholes.len() > 20 && cut < 10, "{cut} of {}", wholes.len());
    assert!(requests(&played).iter().all(|r| r.started.get().is_some_and(|at| at <= MS(500))));
}

#[test]
fn a_plan_that_is_written_down_follows_them_when_it_is_read_back() {
    let plan = arriving(follows(3));
    let document = plan.document();
    assert_eq!(document.groups[0].redirected_from, Some(3));
    assert_eq!(document.plan().unwrap().groups[0].journey, plan.groups[0].journey);
    assert_eq!(arriving(Journey::single()).document().groups[0].redirected_from, None);
}
