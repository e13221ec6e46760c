//! Closed: users who begin their journey again and again, each request due when the answer before it came and the user
//! has thought.

use crate::common::{LIMITS, law};
use crate::laws::{by_session, check, session_rows, stays};
use crate::rig::{Played, Reply, Rig, play, play_in_parts};
use headway_base::dist::Dist;
use headway_base::random::Stream;
use headway_base::{Kind, Nanos, Outcome, Phase, Profile, Rate, Record, RecordSink, Start};
use headway_testkit::{Connect, Generator};
use headway_workload::journey::{Journey, Node, no_think};
use headway_workload::plan::{Connections, Group, Plan, Source};
use headway_workload::users::{Level, UserPhase};
use headway_workload::{Client, Limits, Process, RequestKey, SessionControl};

const MS: fn(i64) -> Nanos = Nanos::from_millis;
const AT_ONCE: fn(Nanos) -> Connect = |_| Connect::After(Nanos::ZERO);

fn ask(step: u16) -> Node {
    Node::Ask { step, repeat: 1, think: None }
}

/// A journey of `n` steps.
fn steps(n: u16, think: &str) -> Journey {
    Journey::new(&(0..n).map(ask).collect::<Vec<_>>(), law(think)).unwrap()
}

/// A plan of one closed group, over the time of its level.
fn plan(level: Level, journey: Journey) -> Plan {
    let end = level.end();
    Plan::of(3, Group::closed(level, journey), Nanos::ZERO, end)
}

fn with(mut plan: Plan, change: impl Fn(&mut Group)) -> Plan {
    plan.groups.iter_mut().for_each(change);
    plan
}

fn requests(played: &Played) -> Vec<Record> {
    played.kept.records.iter().filter(|r| r.kind == Kind::Request).copied().collect()
}

fn seconds(phases: &[(i64, f64, f64)]) -> Level {
    let phase = |&(s, from_users, to_users): &(i64, f64, f64)| UserPhase {
        length: Nanos::from_secs(s),
        from_users,
        to_users,
    };
    Level::new(&phases.iter().map(phase).collect::<Vec<_>>())
}

#[test]
fn users_come_and_go_as_the_level_says() {
    let level = seconds(&[
        (4, 0.0, 20.0),
        (2, 20.0, 20.0),
        (1, 35.0, 35.0),
        (2, 20.0, 20.0),
        (1, 0.0, 0.0),
        (3, 12.0, 3.0),
    ]);
    let plan = plan(level.clone(), steps(2, "exp(30ms)"));
    let played = play(&plan, LIMITS, |_, _, _| Reply::ok(MS(3)));
    let times = |change: i32| -> Vec<Nanos> {
        let mut at: Vec<Nanos> = played.kept.users.iter().filter(|u| u.1 == change).map(|u| u.0).collect();
        at.sort_unstable();
        at
    };
    let mut stays: Vec<_> = (0..level.most()).flat_map(|u| stays(&level, u)).collect();
    stays.sort_unstable_by_key(|s| s.from);
    assert_eq!(times(1), stays.iter().map(|s| s.from).collect::<Vec<_>>());
    // They go when their time is up, or when the answer comes that they wait for then.
    stays.sort_unstable_by_key(|s| s.to);
    let gone = times(-1);
    assert_eq!(gone.len(), stays.len());
    assert!(gone.iter().zip(&stays).all(|(at, stay)| stay.to <= *at && *at <= stay.to + MS(3)));
    assert!(played.ended <= level.end() + MS(3), "no user outlives the test");
    assert_eq!((level.most(), played.most_open), (35, 35));
}

/// What users think is drawn from its law: its mean within 4 standard errors, with a journey's rounds and their order
/// checked by the laws of every run.
#[test]
fn users_think_by_any_law_before_every_request() {
    for (text, mean, deviation) in
        [("50ms", 50.0, 0.0), ("uniform(20ms,80ms)", 50.0, 60.0 / 12f64.sqrt()), ("exp(50ms)", 50.0, 50.0)]
    {
        let plan = plan(Level::hold(10, Nanos::from_secs(60)), steps(3, text));
        let played = play(&plan, LIMITS, |_, _, _| Reply::ok(MS(10)));
        let mut thought: Vec<f64> = Vec::new();
        let mut done = [Nanos::ZERO; 10];
        for row in requests(&played) {
            let before = std::mem::replace(&mut done[row.user as usize], row.done);
            thought.push((row.intended - before).as_secs_f64() * 1e3);
            assert_eq!((row.lag(), row.wait), (Some(Nanos::ZERO), Nanos::ZERO));
        }
        let n = thought.len() as f64;
        let average = thought.iter().sum::<f64>() / n;
        // Thoughts that the end cut short are missing: at most one of each user.
        let error = 4.0 * deviation / n.sqrt() + 10.0 * 4.0 * mean / n + 1e-9;
        assert!(n > 9_000.0 && (average - mean).abs() <= error, "{text}: {average} of {n}");
    }
}

#[test]
fn a_pace_holds_the_next_round_back_until_its_time_has_come() {
    let pace = |text: &str, answer: Nanos| {
        let plan = plan(Level::hold(2, Nanos::from_secs(5)), steps(2, "10ms"));
        let plan = with(plan, |g| g.pace = Some(law(text)));
        let played = play(&plan, LIMITS, move |_, _, _| Reply::ok(answer));
        let rows = session_rows(&played, 0);
        let of = |user: u32| -> Vec<Nanos> {
            rows.values().filter(|r| r.user == user).map(|r| r.intended).collect()
        };
        [of(0), of(1)]
            .concat()
            .windows(2)
            .map(|w| w[1] - w[0])
            .filter(|&d| d > Nanos::ZERO)
            .collect::<Vec<_>>()
    };
    // A round takes 2 x (10 + 15) ms.
    let paced = pace("200ms", MS(15));
    assert!(paced.len() >= 46 && paced.iter().all(|&d| d == MS(200)), "{paced:?}");
    assert!(pace("30ms", MS(15)).iter().all(|&d| d == MS(50)), "a pace too short to keep holds nobody back");
    let drawn = pace("uniform(100ms,300ms)", MS(1));
    assert!(drawn.iter().all(|&d| MS(100) <= d && d <= MS(300)) && drawn.iter().any(|&d| d != drawn[0]));
}

#[test]
fn a_target_that_stands_still_stops_its_users_one_request_each() {
    let plan = plan(Level::hold(10, Nanos::from_secs(5)), steps(1, "0s"));
    let stall = (Nanos::from_secs(2), Nanos::from_secs(3));
    let played = play(&plan, LIMITS, |now, _, _| match now {
        at if stall.0 <= at && at < stall.1 => Reply::ok(stall.1 - at + MS(10)),
        _ => Reply::ok(MS(10)),
    });
    let rows = requests(&played);
    let in_it = |r: &&Record| stall.0 <= r.intended && r.intended < stall.1;
    assert_eq!(rows.iter().filter(in_it).count(), 10);
    assert!(rows.iter().filter(in_it).all(|r| r.response() == MS(1_010)));
    assert_eq!((rows.len(), played.most_open), (10 * 400, 10));
    assert!(rows.iter().all(|r| r.lag() == Some(Nanos::ZERO)));
}

#[test]
fn shards_of_users_are_together_the_whole() {
    let level = seconds(&[(2, 0.0, 11.0), (2, 11.0, 11.0), (1, 0.0, 0.0), (2, 4.0, 4.0)]);
    let plan = plan(level, steps(3, "uniform(0s,100ms)"));
    let plan = with(plan, |g| g.pace = Some(law("exp(200ms)")));
    let answer = |_: Nanos, _: usize, s: &RequestKey| Reply::ok(MS(1 + (s.k % 7) as i64));
    let rows = |played: &Played| -> Vec<_> {
        let of =
            |r: &Record| (r.k, r.kind as u8, r.step, r.intended, r.started.get(), r.done, r.user, r.repeat);
        let mut rows: Vec<_> = played.kept.records.iter().map(of).collect();
        rows.sort_unstable();
        rows
    };
    let whole = rows(&play(&plan, LIMITS, answer));
    let mut parts: Vec<_> = play_in_parts(&plan, 3, LIMITS, answer).iter().flat_map(rows).collect();
    parts.sort_unstable();
    assert_eq!(parts, whole);
    let mut keys: Vec<_> = whole.iter().map(|r| (r.0, r.1, r.2)).collect();
    keys.dedup();
    assert!(keys.len() == whole.len() && whole.len() > 500, "each request of each round once");
}

#[test]
fn a_pause_at_the_end_of_the_journey_comes_before_the_next_round() {
    let journey = Journey::new(&[ask(0), Node::Pause(law("300ms"))], law("20ms")).unwrap();
    let played =
        play(&plan(Level::hold(1, Nanos::from_secs(2)), journey), LIMITS, |_, _, _| Reply::ok(MS(10)));
    let due: Vec<Nanos> = requests(&played).iter().map(|r| r.intended).collect();
    assert_eq!(due, (0..6).map(|i| MS(20 + 330 * i)).collect::<Vec<_>>());
}

#[test]
fn users_share_connections_or_have_their_own() {
    let of = |connections| {
        let plan = with(plan(Level::hold(50, Nanos::from_secs(3)), steps(2, "uniform(50ms,150ms)")), |g| {
            g.connections = connections;
        });
        let played = play(&plan, LIMITS, |_, _, _| Reply::ok(MS(5)));
        (played.lives.len(), played.sends.len())
    };
    let (shared, own) = (of(Connections::Shared), of(Connections::PerUser));
    assert_eq!((own.0, own.1), (50, shared.1));
    assert!(shared.0 < 15, "{}", shared.0);
}

#[test]
fn users_go_on_after_connections_that_fail_and_answers_that_do_not_come() {
    let plan = plan(Level::hold(4, Nanos::from_secs(4)), steps(2, "30ms"));
    let mut tried = 0;
    let connect = |_: Nanos| {
        tried += 1;
        match tried % 4 {
            0 => Connect::Fails(MS(5), Outcome::Refused),
            1 => Connect::Silence,
            _ => Connect::After(MS(2)),
        }
    };
    let request =
        |_: Nanos, n: usize, _: &RequestKey| if n % 5 == 4 { Reply::Silence } else { Reply::ok(MS(5)) };
    let limits = Limits { timeout: MS(100), connect_timeout: MS(80), ..LIMITS };
    let played = Rig::new(&plan, limits, connect, request).run();
    check(&plan, &limits, &played);
    let rows = requests(&played);
    let of = |outcome| rows.iter().filter(|r| r.outcome == outcome).count();
    for outcome in [Outcome::Refused, Outcome::ConnectTimeout, Outcome::Timeout, Outcome::Ok] {
        assert!(of(outcome) > 15, "{outcome:?}: {}", of(outcome));
    }
    assert!(rows.iter().filter(|r| r.outcome == Outcome::Timeout).all(|r| r.service() == Some(MS(100))));
}

/// Users are away for a second, while the target takes three to answer what they asked before: what they do on coming
/// back is due when they have come back, and late by nothing.
#[test]
fn a_user_who_waits_over_his_next_coming_comes_when_the_answer_does() {
    let plan = plan(seconds(&[(1, 2.0, 2.0), (1, 0.0, 0.0), (4, 2.0, 2.0)]), steps(1, "100ms"));
    let slow = |now: Nanos, _: usize, _: &RequestKey| {
        Reply::ok(if MS(900) < now && now < MS(1_000) { MS(3_000) } else { MS(20) })
    };
    let played = play(&plan, LIMITS, slow);
    let rows = requests(&played);
    assert!(rows.iter().any(|r| r.done > MS(3_900)));
    assert!(rows.iter().all(|r| r.lag() == Some(Nanos::ZERO)), "{rows:?}");
}

/// Two users who do not think share one connection; who waits more than 10 ms is turned away and comes at once again.
#[test]
fn users_who_are_turned_away_come_again_and_nobody_is_woken_for_nothing() {
    let plan = with(plan(Level::hold(2, Nanos::from_secs(1)), steps(1, "0s")), |g| {
        g.connections = Connections::Shared;
    });
    let limits = Limits { connections: 1, max_wait: MS(10), ..LIMITS };
    let played = play(&plan, limits, |_, _, _| Reply::ok(MS(25)));
    let (shed, sent): (Vec<Record>, Vec<Record>) =
        requests(&played).iter().partition(|r| r.outcome == Outcome::Shed);
    // One each 25 ms, the last within the grace after the end.
    assert_eq!((sent.len(), shed.iter().all(|r| r.response() == MS(10))), (41, true));
    assert!(shed.len() >= 80, "{}", shed.len());
}

/// Where nobody waits at all, those who are turned away would come again and be turned away for ever at one instant.
#[test]
fn nobody_is_turned_away_twice_at_one_instant() {
    struct Few(usize);
    impl RecordSink for Few {
        fn start(&mut self, _: Start) {}
        fn record(&mut self, _: Record) {
            self.0 += 1;
            assert!(self.0 < 100, "turned away again and again");
        }
        fn tick(&mut self, _: Nanos) {}
        fn finish(&mut self, _: Nanos) {}
    }
    let plan = with(plan(Level::hold(3, Nanos::from_secs(1)), steps(1, "0s")), |g| {
        g.connections = Connections::Shared;
    });
    let limits = Limits { connections: 1, max_wait: Nanos::ZERO, ..LIMITS };
    let mut client = Client::new(&plan, plan.shard, limits, Few(0));
    for now in (0..10).map(Nanos) {
        while client.poll(now).is_some() {}
        assert!(client.wake_at() > now);
    }
}

/// Sessions that arrive may go on after the plan's end; the users of a closed group beside them may not.
#[test]
fn the_drain_of_sessions_is_not_for_users_who_wait() {
    let arriving = Source::Arrivals {
        process: Process::Constant,
        profile: Profile::new(&[Phase::hold(Nanos::from_secs(1), Rate(5.0))]).into(),
    };
    let mut plan = with(plan(Level::hold(6, Nanos::from_secs(1)), steps(1, "0s")), |g| {
        g.connections = Connections::Shared;
    });
    plan.groups.push(Group::of(arriving, steps(9, "10ms"), Connections::Shared));
    let limits = Limits { connections: 2, ..LIMITS };
    let played = play(&plan, limits, |_, _, _| Reply::ok(MS(100)));
    let late = requests(&played).into_iter().filter(|r| r.started.get() > Some(MS(1_010)));
    assert!(late.clone().count() > 10 && late.clone().all(|r| r.group == 1));
}

/// The generator stands still from before the end until after it: what fell due meanwhile does not start, although the
/// users have their connections.
#[test]
fn users_start_nothing_after_the_end() {
    for connections in [Connections::Shared, Connections::PerUser] {
        let plan = plan(Level::hold(5, Nanos::from_secs(1)), steps(2, "50ms"));
        let plan = with(plan, |g| g.connections = connections);
        let generator = Generator { pauses: vec![(MS(930), MS(3_000))], ..Generator::default() };
        let played = Rig::new(&plan, LIMITS, AT_ONCE, |_, _, _| Reply::ok(MS(10))).with(generator).run();
        check(&plan, &LIMITS, &played);
        let unsent = requests(&played).iter().filter(|r| r.outcome == Outcome::Unsent).count();
        assert_eq!(unsent, 5);
    }
}

/// When what all need runs out, only those in the middle of a round go on, to its end.
#[test]
fn users_of_a_group_that_stops_begin_no_other_round() {
    let plan = plan(Level::hold(20, Nanos::from_secs(10)), steps(2, "uniform(50ms,150ms)"));
    let stops = |now: Nanos, _: usize, s: &RequestKey| match (s.step, now) {
        (0, now) if now > MS(1_000) => Reply::NotSent(Outcome::Check, SessionControl::StopGroup),
        _ => Reply::ok(MS(1)),
    };
    let played = play(&plan, LIMITS, stops);
    let stop = played.told_to_stop[&0];
    let rows = requests(&played);
    assert_eq!(rows.iter().filter(|r| r.outcome == Outcome::Check).count(), 1);
    assert!(rows.iter().filter(|r| r.started.get() > Some(stop)).all(|r| r.step == 1));
    assert!(played.ended < MS(1_300), "{}", played.ended);
}

/// Four servers with exponential service times; requests queue in the order of their coming.
fn four_servers(law: Dist, seed: u64) -> impl FnMut(Nanos, usize, &RequestKey) -> Reply {
    let (mut free, draws) = ([Nanos::ZERO; 4], Stream::new(seed, "service of four"));
    move |now, n, _| {
        free.sort_unstable();
        free[0] = free[0].max(now) + law.sample_time(&mut draws.item(n as u64));
        Reply::ok(free[0] - now)
    }
}

/// O'Hara's table of closed loops: N users who do not think, four servers of 8 ms on average. Throughput (requests/s) and
/// mean response (ms), each within 4 standard errors of the mean of ten seeds, of the figures of an independent
/// simulation and of theory: min(N, 4) / 8 ms, and N over that.
#[test]
fn ohara_s_closed_loops_have_his_throughput_and_mean_and_show_no_knee() {
    for (users, throughput, response) in
        [(1, 125.1, 8.0), (4, 500.6, 8.0), (8, 500.6, 16.0), (50, 500.6, 99.9)]
    {
        let length = Nanos::from_secs(12);
        let runs = (1..=10).map(|seed| {
            let plan = Plan { seed, ..plan(Level::hold(users, length), Journey::single()) };
            let mut target = four_servers(law("exp(8ms)"), seed);
            let played = Rig::new(&plan, LIMITS, AT_ONCE, &mut target).run();
            assert_eq!(played.lives.len(), users as usize);
            // From the third second on all is as it stays.
            let rows = requests(&played);
            let ms = |r: &Record| r.response().as_secs_f64() * 1e3;
            let of: Vec<f64> =
                rows.iter().filter(|r| MS(2_000) <= r.done && r.done < length).map(ms).collect();
            (of.len() as f64 / 10.0, of.iter().sum::<f64>() / of.len() as f64)
        });
        let (rates, means): (Vec<f64>, Vec<f64>) = runs.unzip();
        let theory = f64::from(users.min(4)) / 8e-3;
        for (what, values, reference, theory) in [
            ("throughput", rates, throughput, theory),
            ("mean response", means, response, f64::from(users) / theory * 1e3),
        ] {
            let mean = values.iter().sum::<f64>() / 10.0;
            let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 9.0;
            let error = 4.0 * (variance / 10.0).sqrt();
            for truth in [reference, theory] {
                assert!((mean - truth).abs() < error, "{users}: {what} {mean} +- {error}, not {truth}");
            }
        }
    }
}

/// Interrupted at any instant, also when requests fall due at it over connections that are kept.
#[test]
fn interrupts_at_the_instant_of_a_request_leave_no_connection_behind() {
    let plan = plan(Level::hold(3, Nanos::from_secs(1)), steps(2, "20ms"));
    for connections in [Connections::Shared, Connections::PerUser] {
        let plan = with(plan.clone(), |g| g.connections = connections);
        for ms in 0..130 {
            for at in [vec![MS(ms)], vec![MS(ms), MS(ms + 3)]] {
                let played =
                    Rig::new(&plan, LIMITS, AT_ONCE, |_, _, _| Reply::ok(MS(10))).interrupted_at(&at).run();
                check(&plan, &LIMITS, &played);
                // All are first due at 20 ms, the interrupt's instant included, and again every 30 ms.
                let unsent = requests(&played).iter().filter(|r| r.outcome == Outcome::Unsent).count();
                assert_eq!(unsent, if ms % 30 == 20 { 3 } else { 0 }, "interrupted at {ms} ms");
            }
        }
    }
}

#[test]
fn no_think_is_a_loop_that_only_answers_pace() {
    let journey = Journey::new(&[ask(0), ask(1)], no_think()).unwrap();
    let played =
        play(&plan(Level::hold(1, Nanos::from_secs(1)), journey), LIMITS, |_, _, _| Reply::ok(MS(8)));
    let rows = by_session(&played, 0);
    assert_eq!((rows.len(), rows.values().map(Vec::len).sum::<usize>()), (63, 125));
    assert!(rows.values().flatten().all(|r| r.response() == MS(8)));
}
