//! Partly open: sessions arrive by the plan, and go by the answers they get.

use crate::common::{LIMITS, law};
use crate::laws::{by_session, check, session_rows};
use crate::rig::{Played, Reply, Rig, play};
use headway_base::{Kind, Nanos, Outcome, Phase, Profile, Rate, Record, Trigger};
use headway_testkit::{Connect, Generator};
use headway_workload::journey::{Journey, Node, no_think};
use headway_workload::plan::{Connections, Group, LONGEST, OnFailure, Plan, Source};
use headway_workload::{Limits, Process, RequestKey, SessionControl};
use std::sync::Arc;

const MS: fn(i64) -> Nanos = Nanos::from_millis;
const AT_ONCE: fn(Nanos) -> Connect = |_| Connect::After(Nanos::ZERO);

fn ask(step: u16, repeat: u32) -> Node {
    Node::Ask { step, repeat, think: None }
}

fn arrive(process: Process, rate: f64, seconds: i64, journey: Journey) -> Group {
    let profile = Profile::new(&[Phase::hold(Nanos::from_secs(seconds), Rate(rate))]);
    Group { journey: Arc::new(journey), ..Group::open(process, profile) }
}

fn steps(n: u32, think: &str) -> Journey {
    Journey::new(&[ask(0, n)], law(think)).unwrap()
}

fn plan_of(groups: Vec<Group>, seconds: i64) -> Plan {
    let end = Nanos::from_secs(seconds);
    Plan { groups, ..Plan::of(5, Group::open(Process::Poisson, Profile::new(&[])), Nanos::ZERO, end) }
}

fn requests(played: &Played) -> Vec<Record> {
    played.kept.records.iter().filter(|r| r.kind == Kind::Request).copied().collect()
}

#[test]
fn sessions_arrive_by_the_plan_whatever_their_answers_take() {
    let plan = plan_of(vec![arrive(Process::Poisson, 30.0, 4, steps(3, "uniform(0s,200ms)"))], 4);
    let played = play(&plan, LIMITS, |_, _, _| Reply::ok(MS(300)));
    let intended: Vec<Nanos> = plan.arrivals().map(|a| a.intended).collect();
    let rows = requests(&played);
    let mut first: Vec<&Record> = rows.iter().filter(|r| r.due == Trigger::Arrival).collect();
    first.sort_unstable_by_key(|r| r.k);
    assert_eq!(first.iter().map(|r| r.started.get().unwrap()).collect::<Vec<_>>(), intended);
    assert_eq!(rows.len(), 3 * intended.len());
    assert!(rows.iter().all(|r| r.lag() == Some(Nanos::ZERO) && r.wait == Nanos::ZERO));
    let wholes = session_rows(&played, 0);
    assert!(wholes.values().all(|w| (w.repeat, w.outcome) == (3, Outcome::Ok)));
    // Users are there from their first start to their last answer.
    let times = |change: i32| {
        let mut at: Vec<Nanos> = played.kept.users.iter().filter(|u| u.1 == change).map(|u| u.0).collect();
        at.sort_unstable();
        at
    };
    let mut gone: Vec<Nanos> = wholes.values().map(|w| w.done).collect();
    gone.sort_unstable();
    assert_eq!((times(1), times(-1)), (intended, gone));
}

/// Each session would take 1.3 s: five answers of 100 ms, four thinks of 200 ms. Nothing starts later than half a second
/// of drain and the grace after the end.
#[test]
fn sessions_go_on_after_the_plan_for_the_drain_and_are_then_unfinished() {
    let plan = plan_of(vec![arrive(Process::Constant, 10.0, 1, steps(5, "200ms"))], 1);
    let limits = Limits { drain: MS(500), ..LIMITS };
    let played = play(&plan, limits, |_, _, _| Reply::ok(MS(100)));
    let wholes = session_rows(&played, 0);
    let last = MS(1_510);
    let mut unfinished = 0;
    for arrival in plan.arrivals() {
        let made = (0..5).filter(|&i| arrival.intended + MS(300 * i) <= last).count() as u32;
        let outcome = if made == 5 { Outcome::Ok } else { Outcome::Unfinished };
        let whole = wholes[&arrival.k];
        assert_eq!((whole.repeat, whole.outcome), (made, outcome), "{whole:?}");
        unfinished += u32::from(made < 5);
    }
    assert!((5..10).contains(&unfinished), "{unfinished}");
    assert!(played.ended <= last + MS(100));
    let none = play(&plan, Limits { drain: Nanos::ZERO, ..LIMITS }, |_, _, _| Reply::ok(MS(100)));
    assert!(requests(&none).iter().all(|r| r.started.get().unwrap() <= MS(1_010)));
}

#[test]
fn a_failure_ends_the_session_only_if_it_is_to() {
    let of = |on_failure| {
        let group = Group { on_failure, ..arrive(Process::Constant, 20.0, 1, steps(4, "10ms")) };
        let plan = plan_of(vec![group], 1);
        let fails = |_: Nanos, _: usize, s: &RequestKey| match s.repeat {
            1 => Reply::ends(MS(5), Outcome::Status, SessionControl::Continue),
            2 => Reply::ends(MS(5), Outcome::Check, SessionControl::Continue),
            _ => Reply::ok(MS(5)),
        };
        session_rows(&play(&plan, LIMITS, fails), 0)
    };
    let (on, ends) = (of(OnFailure::Continue), of(OnFailure::EndSession));
    assert_eq!((on.len(), ends.len()), (20, 20));
    assert!(on.values().all(|w| (w.repeat, w.outcome) == (4, Outcome::Status)));
    assert!(ends.values().all(|w| (w.repeat, w.outcome) == (2, Outcome::Status)));
}

#[test]
fn an_answer_can_end_its_session_well() {
    let plan = plan_of(vec![arrive(Process::Constant, 20.0, 1, steps(4, "10ms"))], 1);
    let ends = |_: Nanos, _: usize, s: &RequestKey| match (s.repeat, s.k % 2) {
        (1, 0) => Reply::ends(MS(5), Outcome::Ok, SessionControl::EndSession),
        _ => Reply::ok(MS(5)),
    };
    let wholes = session_rows(&play(&plan, LIMITS, ends), 0);
    let made = |k: &u64| if k.is_multiple_of(2) { 2 } else { 4 };
    assert!(wholes.iter().all(|(k, w)| (w.repeat, w.outcome) == (made(k), Outcome::Ok)));
}

#[test]
fn a_group_that_stops_begins_no_session_finishes_those_that_began_and_stops_no_other() {
    let group = |name: &'static str| Group {
        name: name.into(),
        ..arrive(Process::Constant, 50.0, 2, steps(3, "50ms"))
    };
    let plan = plan_of(vec![group("a"), group("b")], 2);
    let stops = |_: Nanos, _: usize, s: &RequestKey| match (s.group, s.k, s.repeat) {
        (0, 20, 0) => Reply::NotSent(Outcome::Check, SessionControl::StopGroup),
        _ => Reply::ok(MS(5)),
    };
    let played = play(&plan, LIMITS, stops);
    let (a, b) = (session_rows(&played, 0), session_rows(&played, 1));
    // Of session 20, which had nothing to send, there is the one request and no session.
    assert_eq!((a.len(), by_session(&played, 0).len(), b.len()), (20, 21, 100));
    assert!(a.values().all(|w| w.repeat == 3));
    assert!(b.values().all(|w| (w.repeat, w.outcome) == (3, Outcome::Ok)));
}

/// A thousand sessions at once through two connections: when the tenth stops the group, the others were due all the same.
#[test]
fn sessions_that_had_fallen_due_when_their_group_stopped_are_unsent() {
    let journey = steps(2, "0s");
    let group = Group::of(Source::AtOnce { sessions: 1_000 }, journey, Connections::Shared);
    let plan = Plan::of(1, group, Nanos::ZERO, LONGEST);
    let stops = |_: Nanos, _: usize, s: &RequestKey| match s.k {
        9 => Reply::NotSent(Outcome::Check, SessionControl::StopGroup),
        _ => Reply::ok(MS(5)),
    };
    let played = play(&plan, Limits { connections: 2, ..LIMITS }, stops);
    let sessions = by_session(&played, 0);
    assert_eq!(sessions.len(), 1_000);
    let unsent = sessions.values().filter(|rows| rows[0].outcome == Outcome::Unsent).count();
    let unmade = sessions.values().filter(|rows| rows[0].outcome == Outcome::Check).count();
    assert_eq!((unmade, unsent + session_rows(&played, 0).len()), (1, 999));
    assert!(unsent >= 989, "{unsent}");
}

#[test]
fn what_cannot_be_made_is_a_failed_request_that_leaves_its_connection_as_it_was() {
    let plan = plan_of(vec![arrive(Process::Constant, 20.0, 1, steps(3, "10ms"))], 1);
    let cannot = |_: Nanos, _: usize, s: &RequestKey| match s.repeat {
        1 => Reply::NotSent(Outcome::Check, SessionControl::Continue),
        _ => Reply::ok(MS(5)),
    };
    let played = play(&plan, LIMITS, cannot);
    assert_eq!(played.lives.len(), 1);
    let (not, sent): (Vec<Record>, Vec<Record>) = requests(&played).iter().partition(|r| r.repeat == 1);
    assert_eq!((not.len(), sent.len()), (20, 40));
    assert!(not.iter().all(|r| !r.sent.is_some() && !r.started.is_some() && r.outcome == Outcome::Check));
    assert!(sent.iter().all(|r| r.sent.is_some() && r.outcome == Outcome::Ok));
    assert!(session_rows(&played, 0).values().all(|w| (w.repeat, w.outcome) == (2, Outcome::Check)));
}

/// What the scenario says of data that run out is no failure.
#[test]
fn a_session_that_is_passed_over_has_not_failed() {
    let plan = plan_of(vec![arrive(Process::Constant, 20.0, 1, steps(3, "10ms"))], 1);
    let passed_over = |_: Nanos, _: usize, s: &RequestKey| match s.repeat {
        1 => Reply::NotSent(Outcome::Unsent, SessionControl::EndSession),
        _ => Reply::ok(MS(5)),
    };
    let played = play(&plan, LIMITS, passed_over);
    let rows = session_rows(&played, 0);
    assert!(rows.len() == 20 && rows.values().all(|w| (w.repeat, w.outcome) == (1, Outcome::Ok)));
}

#[test]
fn sessions_go_their_own_ways_and_groups_draw_for_themselves() {
    let ways = vec![(3.0, vec![ask(1, 2)]), (1.0, vec![ask(2, 1), Node::Pause(law("30ms")), ask(3, 1)])];
    let nodes = [ask(0, 1), Node::Repeat(2, vec![Node::Choose(ways)])];
    let journey = Journey::new(&nodes, law("exp(5ms)")).unwrap();
    let group = |name: &'static str| Group {
        name: name.into(),
        ..arrive(Process::Poisson, 100.0, 2, journey.clone())
    };
    let plan = plan_of(vec![group("a"), group("b"), group("c")], 2);
    let played = play(&plan, LIMITS, |_, _, _| Reply::ok(MS(2)));
    let of = |played: &Played, g: u16| {
        let rows = by_session(played, g);
        let first = rows.values().map(|r| r[0].intended).collect::<Vec<_>>();
        let steps = rows.values().map(|r| r.iter().map(|r| r.step).collect()).collect::<Vec<Vec<u16>>>();
        (rows.keys().copied().collect::<Vec<u64>>(), first, steps)
    };
    let groups = [of(&played, 0), of(&played, 1), of(&played, 2)];
    for (keys, first, steps) in &groups {
        assert_eq!(*keys, (0..keys.len() as u64).collect::<Vec<_>>(), "k counts within the group");
        assert!(steps.contains(&vec![0, 1, 1, 1, 1]) && steps.contains(&vec![0, 2, 3, 1, 1]));
        assert_eq!(groups.iter().filter(|g| g.1 == *first).count(), 1, "each its own arrivals");
        assert_eq!(groups.iter().filter(|g| g.2 == *steps).count(), 1, "each its own choices");
    }
    let alone = plan_of(vec![group("a")], 2);
    assert_eq!(of(&play(&alone, LIMITS, |_, _, _| Reply::ok(MS(2))), 0), groups[0], "as if alone");
}

/// Four connections of 20 ms each are 200 requests a second; 320 are asked for.
#[test]
fn at_the_cap_sessions_and_arrivals_start_in_order_of_being_due_and_wait_without_lag() {
    let plan = plan_of(
        vec![
            arrive(Process::Poisson, 40.0, 3, steps(3, "exp(30ms)")),
            arrive(Process::Poisson, 200.0, 3, Journey::single()),
        ],
        3,
    );
    let limits = Limits { connections: 4, ..LIMITS };
    let played = play(&plan, limits, |_, _, _| Reply::ok(MS(20)));
    assert!(played.kept.starts.is_sorted_by_key(|s| (s.started, s.intended)));
    assert!(played.kept.starts.is_sorted_by_key(|s| s.intended));
    let rows = requests(&played);
    assert!(rows.iter().all(|r| r.lag().is_none_or(|lag| lag == Nanos::ZERO)), "waiting is not lag");
    let waited = rows.iter().filter(|r| r.wait > MS(100)).count();
    assert!(waited > 200, "{waited}");
    assert_eq!((played.most_open, played.lives.len()), (4, 4));
}

#[test]
fn a_session_keeps_its_connection_and_closes_it_at_its_end() {
    let own =
        Group { connections: Connections::PerUser, ..arrive(Process::Constant, 50.0, 1, steps(3, "40ms")) };
    let played = play(&plan_of(vec![own], 1), LIMITS, |_, _, _| Reply::ok(MS(10)));
    let wholes = session_rows(&played, 0);
    let lives: Vec<(Nanos, Nanos)> = wholes.values().map(|w| (w.started.get().unwrap(), w.done)).collect();
    assert_eq!(played.lives, lives);
}

/// The open group's connections lie idle, and are all that the cap allows, when sessions come that need their own.
#[test]
fn an_idle_connection_of_others_makes_room_for_a_sessions_own() {
    let burst = Group::of(Source::AtOnce { sessions: 5 }, Journey::single(), Connections::Shared);
    let own =
        Group { connections: Connections::PerUser, ..arrive(Process::Constant, 20.0, 1, steps(2, "20ms")) };
    let plan = plan_of(vec![burst, own], 1);
    let played = play(&plan, Limits { connections: 5, ..LIMITS }, |_, _, _| Reply::ok(MS(1)));
    assert_eq!((played.most_open, requests(&played).len()), (5, 45));
    assert!(requests(&played).iter().all(|r| r.lag() == Some(Nanos::ZERO)));
    assert!(
        requests(&played).iter().filter(|r| r.due != Trigger::Arrival || r.k > 0).all(|r| r.wait <= MS(1))
    );
}

#[test]
fn a_connection_that_the_target_closes_while_its_session_thinks_is_replaced() {
    let own =
        Group { connections: Connections::PerUser, ..arrive(Process::Constant, 10.0, 1, steps(3, "50ms")) };
    let hangs_up = |_: Nanos, _: usize, _: &RequestKey| Reply::Comes {
        first: MS(1),
        done: MS(2),
        outcome: Outcome::Ok,
        then: SessionControl::Continue,
        reusable: true,
        hangs_up: Some(MS(20)),
    };
    let played = play(&plan_of(vec![own], 1), LIMITS, hangs_up);
    assert_eq!((played.lives.len(), requests(&played).len()), (30, 30));
    assert!(requests(&played).iter().all(|r| r.outcome == Outcome::Ok && !r.reused));
}

/// A session whose first request never reached the target still begins with memory of its own: what it sends first says
/// so. Every request has a connection of its own here, of which every third cannot be opened.
#[test]
fn a_session_that_could_not_connect_at_first_begins_with_what_it_sends_first() {
    let plan = plan_of(vec![arrive(Process::Constant, 20.0, 2, steps(4, "1ms"))], 2);
    let mut tried = 0;
    let connect = move |_: Nanos| {
        tried += 1;
        if tried % 3 == 0 { Connect::Fails(MS(1), Outcome::Refused) } else { Connect::After(MS(1)) }
    };
    let closes = |_: Nanos, _: usize, _: &RequestKey| Reply::Comes {
        first: MS(1),
        done: MS(1),
        outcome: Outcome::Ok,
        then: SessionControl::Continue,
        reusable: false,
        hangs_up: None,
    };
    let played = Rig::new(&plan, LIMITS, connect, closes).run();
    check(&plan, &LIMITS, &played);
    let refused_first = requests(&played)
        .iter()
        .filter(|r| r.outcome == Outcome::Refused && r.due == Trigger::Arrival)
        .count();
    assert!(refused_first > 5, "{refused_first}");
}

/// A step that is due on its session's own connection was not held back by the cap, although that is reached: that it
/// starts late is the generator's doing.
#[test]
fn lateness_on_a_sessions_own_connection_is_lag_at_the_cap_too() {
    let own = Group {
        connections: Connections::PerUser,
        ..Group::of(Source::AtOnce { sessions: 1 }, steps(3, "50ms"), Connections::PerUser)
    };
    let plan = plan_of(vec![own], 1);
    let generator = Generator { pauses: vec![(MS(55), MS(80))], ..Generator::default() };
    let limits = Limits { connections: 1, ..LIMITS };
    let played = Rig::new(&plan, limits, AT_ONCE, |_, _, _| Reply::ok(MS(10))).with(generator).run();
    check(&plan, &limits, &played);
    let rows = requests(&played);
    assert_eq!((rows[1].intended, rows[1].lag(), rows[1].wait), (MS(60), Some(MS(20)), Nanos::ZERO));
    assert_eq!(rows[2].lag(), Some(Nanos::ZERO));
}

/// The cap is no longer reached once the target has closed a connection that was held.
#[test]
fn lateness_after_a_held_connection_was_closed_is_lag() {
    let own = Group::of(Source::AtOnce { sessions: 1 }, steps(2, "100ms"), Connections::PerUser);
    let plan = plan_of(vec![own], 1);
    let generator = Generator { pauses: vec![(MS(105), MS(150))], ..Generator::default() };
    let limits = Limits { connections: 1, ..LIMITS };
    let hangs_up = |_: Nanos, _: usize, _: &RequestKey| Reply::Comes {
        first: MS(10),
        done: MS(10),
        outcome: Outcome::Ok,
        then: SessionControl::Continue,
        reusable: true,
        hangs_up: Some(MS(20)),
    };
    let played = Rig::new(&plan, limits, AT_ONCE, hangs_up).with(generator).run();
    check(&plan, &limits, &played);
    let rows = requests(&played);
    assert_eq!((rows[1].intended, rows[1].lag(), rows[1].wait), (MS(110), Some(MS(40)), Nanos::ZERO));
}

/// A pause of the generator over the end of the drain: what fell due in it is unsent, over whichever connection.
#[test]
fn nothing_starts_after_the_drain_over_own_connections_either() {
    let generator = Generator { pauses: vec![(MS(600), MS(5_000))], ..Generator::default() };
    let limits = Limits { drain: MS(500), ..LIMITS };
    for connections in [Connections::Shared, Connections::PerUser] {
        let group = Group { connections, ..arrive(Process::Constant, 10.0, 1, steps(9, "200ms")) };
        let plan = plan_of(vec![group], 1);
        let played =
            Rig::new(&plan, limits, AT_ONCE, |_, _, _| Reply::ok(MS(10))).with(generator.clone()).run();
        check(&plan, &limits, &played);
        let unsent = requests(&played).iter().filter(|r| r.outcome == Outcome::Unsent).count();
        assert!(unsent >= 5, "{unsent}");
    }
}

/// Sessions think, each with a connection of its own, while arrivals of another group need new ones: the client says so
/// before it opens them, so that a look for idle ones can come first.
#[test]
fn who_thinks_over_a_connection_of_his_own_hides_no_opening() {
    let own = Group::of(Source::AtOnce { sessions: 10 }, steps(2, "900ms"), Connections::PerUser);
    let plan = plan_of(vec![own, arrive(Process::Poisson, 100.0, 1, Journey::single())], 1);
    let played = play(&plan, LIMITS, |_, _, _| Reply::ok(MS(80)));
    assert!(played.lives.len() > 15, "{}", played.lives.len());
    assert_eq!(played.unannounced, 0);
}

#[test]
fn a_session_of_one_request_is_no_session_to_the_sink() {
    let journey = Journey::new(&[ask(3, 1)], no_think()).unwrap();
    let played = play(&plan_of(vec![arrive(Process::Poisson, 50.0, 1, journey)], 1), LIMITS, |_, _, _| {
        Reply::ok(MS(1))
    });
    assert!(
        played.kept.users.is_empty()
            && played.kept.records.iter().all(|r| (r.kind, r.step) == (Kind::Request, 3))
    );
}
