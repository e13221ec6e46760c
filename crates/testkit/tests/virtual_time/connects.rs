//! New connections: one for each request, and sockets that are kept connecting against a queue that fills, as a kernel's does.
//!
//! The law is that of S-Client (Banga and Druschel 1997): D sockets, each given up after T, make D/T + X attempts per second, X being what
//! the target accepts, however small that is.

use crate::common::LIMITS;
use crate::laws::check;
use crate::rig::{Played, Reply, Rig, play};
use headway_base::{Batch, Nanos, Outcome, Record, Rough};
use headway_stats::summary::{LoadVerdict, RuleId, RuleOutcome, Summary};
use headway_stats::{Analysis, Facts, Setup, UsersAsked, Workload};
use headway_testkit::{Connect, Generator};
use headway_workload::plan::{Connections, Group, Plan};
use headway_workload::users::Level;
use headway_workload::{Limits, Process, Shard};

const MS: fn(i64) -> Nanos = Nanos::from_millis;
const T: Nanos = Nanos::from_millis(500);
const BOUNDS: Limits = Limits { connections: 5_000, connect_timeout: T, ..LIMITS };

/// A queue of that many connections, of which so many are taken out per second; one that comes when it is full gets no answer.
struct AcceptQueue {
    room: i64,
    each: Nanos,
    /// When the last of those in it will have been taken out.
    empty_at: Nanos,
}

impl AcceptQueue {
    fn new(room: i64, per_second: f64) -> AcceptQueue {
        AcceptQueue { room, each: Nanos::from_secs_f64(1.0 / per_second), empty_at: Nanos::ZERO }
    }

    fn connect(&mut self, now: Nanos) -> Connect {
        let waiting = ((self.empty_at - now).0.max(0) + self.each.0 - 1) / self.each.0;
        if waiting >= self.room {
            return Connect::Silence;
        }
        self.empty_at = self.empty_at.max(now) + self.each;
        Connect::After(Nanos::from_micros(50))
    }
}

fn plan(sockets: u32, seconds: i64) -> Plan {
    let level = Level::hold(sockets, Nanos::from_secs(seconds));
    let end = level.end();
    Plan::of(7, Group::connecting(level), Nanos::ZERO, end)
}

fn against(plan: &Plan, connect: impl FnMut(Nanos) -> Connect, generator: Generator) -> Played {
    let reply = |_, _, _: &_| Reply::ok(MS(800));
    let played = Rig::new(plan, BOUNDS, connect, reply).with(generator).run();
    check(plan, &BOUNDS, &played);
    played
}

fn count(played: &Played, is: impl Fn(&Record) -> bool) -> f64 {
    played.kept.records.iter().filter(|r| is(r)).count() as f64
}

/// Attempts, and established connections, that began from one second to another.
fn within(played: &Played, from: i64, to: i64) -> (f64, f64) {
    let during =
        |at: Option<Nanos>| at.is_some_and(|at| (Nanos::from_secs(from)..Nanos::from_secs(to)).contains(&at));
    let stood = |r: &Record| Some(r.started.get()? + r.connect.get()?);
    (count(played, |r| during(r.started.get())), count(played, |r| during(stood(r))))
}

#[test]
fn attempts_are_sockets_over_the_timeout_and_what_is_accepted() {
    let queues = [(33, 130.0), (128, 130.0), (4, 7.0), (500, 2_000.0)];
    let small = queues.iter().flat_map(|queue| [12, 48].map(|sockets| (*queue, sockets, 12)));
    for ((room, accepts), sockets, seconds) in small.chain(queues.map(|queue| (queue, 972, 20))) {
        let mut queue = AcceptQueue::new(room, accepts);
        let played = against(&plan(sockets, seconds), |now| queue.connect(now), Generator::default());
        for from in [0, seconds / 4] {
            let (attempts, established) = within(&played, from, seconds);
            // Each socket may be in the middle of an attempt at the end, and begins at most T late.
            let d = f64::from(sockets);
            let law = d * (seconds - from) as f64 / 0.5 + established;
            assert!((attempts - law).abs() <= d, "{sockets} {room} {accepts}: {attempts} {law}");
        }
    }
}

#[test]
fn the_first_attempts_are_spread_evenly_over_the_timeout() {
    let played = against(&plan(48, 3), |_| Connect::Silence, Generator::default());
    let mut first: Vec<(u32, Nanos)> =
        played.kept.records.iter().filter(|r| r.k < 48).map(|r| (r.user, r.intended)).collect();
    first.sort_unstable();
    let expected: Vec<(u32, Nanos)> = (0..48).map(|u| (u, Nanos(T.0 * i64::from(u) / 48))).collect();
    assert_eq!(first, expected);
    // A socket that is given up begins anew at that very instant, so that each keeps its phase.
    assert!(
        played
            .kept
            .records
            .iter()
            .all(|r| r.intended == expected[r.user as usize].1 + Nanos((r.k / 48) as i64 * T.0))
    );
    assert!(played.kept.records.iter().all(|r| r.outcome == Outcome::ConnectTimeout && r.response() == T));
}

/// A target that refuses is not sent as many as the machine can make: each socket waits out its time.
#[test]
fn sockets_that_are_refused_wait_out_their_time() {
    for outcome in [Outcome::Refused, Outcome::LocalLimit, Outcome::Tls] {
        let played = against(&plan(40, 10), |_| Connect::Fails(MS(1), outcome), Generator::default());
        assert_eq!(count(&played, |r| r.outcome == outcome), 40.0 * 10.0 / 0.5, "{outcome:?}");
    }
}

#[test]
fn shards_share_the_sockets_out() {
    let mut all = Vec::new();
    for i in 0..4 {
        let plan = Plan { shard: Shard::new(i, 4).unwrap(), ..plan(10, 2) };
        let played = against(&plan, |_| Connect::Silence, Generator::default());
        all.extend(played.kept.records.iter().map(|r| (r.intended, r.k)));
    }
    all.sort_unstable();
    // One every 50 ms, in the order of the sockets.
    let expected: Vec<(Nanos, u64)> = (0..40).map(|k| (MS(50 * k), k as u64)).collect();
    assert_eq!(all, expected);
}

/// What is accepted is answered later than the timeout of an attempt, and holds no socket back.
#[test]
fn accepted_requests_go_on_by_themselves() {
    let mut queue = AcceptQueue::new(1_000, 40.0);
    let played = against(&plan(10, 10), |now| queue.connect(now), Generator::default());
    let ok = count(&played, |r| r.outcome == Outcome::Ok);
    assert!(ok > 1_000.0 && ok == count(&played, |r| r.connect.is_some()), "{ok}");
    assert!(played.most_open > 500, "{}", played.most_open);
}

/// At the cap on connections sockets are held back; the wait is told as such, and is no lateness.
#[test]
fn the_cap_holds_sockets_back_in_the_open() {
    let bounds = Limits { connections: 30, ..BOUNDS };
    let plan = plan(20, 10);
    let played = Rig::new(&plan, bounds, |_| Connect::After(MS(1)), |_, _, _| Reply::ok(MS(400))).run();
    check(&plan, &bounds, &played);
    assert_eq!(played.most_open, 30);
    assert!(count(&played, |r| r.wait > MS(10)) > 100.0);
    assert!(played.kept.records.iter().all(|r| r.lag().is_none_or(|lag| lag <= MS(1))));
}

#[test]
fn with_a_rate_attempts_keep_the_plan_whatever_is_accepted() {
    let mut plan = crate::common::plan(Process::Poisson, 400.0, 10, 5);
    plan.groups[0].connections = Connections::PerRequest;
    let played = {
        let mut queue = AcceptQueue::new(20, 50.0);
        Rig::new(&plan, BOUNDS, |now| queue.connect(now), |_, _, _| Reply::ok(MS(3))).run()
    };
    check(&plan, &BOUNDS, &played);
    let records = &played.kept.records;
    assert_eq!(records.len(), plan.arrivals().count());
    assert!(records.iter().all(|r| r.started.get() == Some(r.intended)), "each at its instant");
    assert!(records.iter().all(|r| r.count == 1 && !r.reused));
    let given_up = records.iter().filter(|r| r.outcome == Outcome::ConnectTimeout);
    assert!(given_up.clone().count() > 3_000 && given_up.into_iter().all(|r| r.done == r.intended + T));
    assert_eq!(played.lives.len(), records.len(), "one connection each");
}

/// Every request of users who stay opens its own connection too.
#[test]
fn users_open_a_connection_for_each_request() {
    let level = Level::hold(5, Nanos::from_secs(2));
    let journey = headway_workload::journey::Journey::single();
    let group = Group { connections: Connections::PerRequest, ..Group::closed(level, journey) };
    let played =
        play(&Plan::of(1, group, Nanos::ZERO, Nanos::from_secs(2)), BOUNDS, |_, _, _| Reply::ok(MS(10)));
    assert_eq!((played.lives.len(), played.kept.records.len()), (5 * 200, 5 * 200));
    assert_eq!(played.most_open, 5);
}

fn judged(
    sockets: u32,
    seconds: i64,
    generator: Generator,
    connect: impl FnMut(Nanos) -> Connect,
) -> Summary {
    judged_as(sockets, seconds, generator, connect, |_| ())
}

/// The same by the records as `told` leaves them.
fn judged_as(
    sockets: u32,
    seconds: i64,
    generator: Generator,
    connect: impl FnMut(Nanos) -> Connect,
    told: impl FnMut(&mut Record),
) -> Summary {
    let plan = plan(sockets, seconds);
    let played = against(&plan, connect, generator);
    let mut analysis = Analysis::new(Setup {
        labels: vec!["request".into()],
        measured: Nanos::ZERO..plan.end() + Nanos(1),
        workload: Workload::Connecting,
        users: Some(UsersAsked::hold(f64::from(sockets), plan.end())),
        connects: true,
        attempt: Some(MS(500)),
        ..Setup::default()
    });
    let headway_base::sink::Kept { starts, mut records, users, .. } = played.kept;
    records.iter_mut().for_each(told);
    analysis.batch(&Batch {
        source: 0,
        starts,
        records,
        users,
        hold_ups: Vec::new(),
        events: Vec::new(),
        watermark: Nanos::MAX,
        last: true,
    });
    let asked = headway_stats::summary::PlanSummary { connect_timeout_s: Some(0.5), ..Default::default() };
    analysis.finish(Facts { plan: Some(asked), ..Facts::default() })
}

fn rule(summary: &Summary, id: &RuleId) -> (RuleOutcome, f64) {
    let rule = summary.verdict.rules.iter().find(|rule| rule.rule == *id).unwrap();
    (rule.outcome, rule.value.unwrap())
}

fn held(summary: &Summary) -> (RuleOutcome, f64) {
    rule(summary, &RuleId::SocketsHeld)
}

#[test]
fn a_load_is_valid_if_its_sockets_kept_connecting() {
    let mut queue = AcceptQueue::new(33, 130.0);
    let summary = judged(100, 20, Generator::default(), |now| queue.connect(now));
    assert_eq!((summary.verdict.load, held(&summary)), (Some(LoadVerdict::Valid), (RuleOutcome::Pass, 1.0)));
    let connects = summary.connects.clone().unwrap();
    let rates = connects.per_s.unwrap();
    assert_eq!(connects.counts.attempts, connects.counts.established + connects.counts.timed_out + 100);
    let law = connects.expected_per_s.unwrap();
    assert!(
        (law - 200.0 - rates.established).abs() < 1e-6 && (rates.attempts - law).abs() < 5.0,
        "{connects:?}"
    );
    assert!((rates.established - 130.0).abs() < 2.5 && (rates.served - 130.0).abs() < 6.0, "{connects:?}");
    // Each is connecting all the time, but for the first half second in which they begin.
    assert!((connects.connecting.unwrap() - 98.75).abs() < 0.3, "{connects:?}");
    let established: u64 = summary.series.iter().filter_map(|row| row.established).sum();
    assert_eq!(established, connects.counts.established);
}

/// How a target answers an attempt that begins at an instant.
type Connects = Box<dyn FnMut(Nanos) -> Connect>;

/// Targets, each with a number of sockets that makes some hundred attempts a second against it.
fn targets() -> Vec<(&'static str, u32, Connects)> {
    let mut queue = AcceptQueue::new(33, 130.0);
    let mut n = 0;
    let mut slow = move || {
        n += 1;
        // From 50 to 350 ms, in no order.
        Connect::After(MS(50 + (n * 7_919) % 300))
    };
    vec![
        ("a full queue", 100, Box::new(|_| Connect::Silence)),
        ("a queue that moves", 100, Box::new(move |now| queue.connect(now))),
        ("a closed port", 100, Box::new(|_| Connect::Fails(MS(1), Outcome::Refused))),
        ("a target that accepts at once", 8, Box::new(|_| Connect::After(MS(10)))),
        ("a target that accepts slowly", 100, Box::new(move |_| slow())),
    ]
}

/// Pauses of that length, one in each `every`.
fn pauses(every: i64, length: i64) -> Generator {
    let at = |i: i64| (MS(30 + i * every), MS(30 + i * every + length));
    Generator { pauses: (0..20_000 / every).map(at).collect(), ..Generator::default() }
}

#[test]
fn generators_that_are_in_time_are_valid_against_every_target() {
    let cost = Nanos::from_micros(5);
    let costly = Generator { action_cost: cost, event_cost: cost, ..Generator::default() };
    for generator in [Generator::default(), costly] {
        for (name, sockets, connect) in targets() {
            let summary = judged(sockets, 20, generator.clone(), connect);
            assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{name}: {:?}", summary.verdict.rules);
            assert_eq!(rule(&summary, &RuleId::LateShare), (RuleOutcome::Pass, 0.0), "{name}");
            assert_eq!(rule(&summary, &RuleId::StoodStill), (RuleOutcome::Pass, 0.0), "{name}");
            assert_eq!(summary.verdict.lateness_s, Some(0.025), "a twentieth of the timeout");
        }
    }
}

#[test]
fn generators_that_stand_still_or_are_too_slow_are_not_valid_against_any_target() {
    let defects = [
        ("stands still for 43 of 430 ms", pauses(430, 43)),
        ("stands still for 129 of 430 ms", pauses(430, 129)),
        ("stands still for 110 of 1,100 ms", pauses(1_100, 110)),
        ("stands still for 330 of 1,100 ms", pauses(1_100, 330)),
        // 400 and more actions a second.
        ("has more to do than it can", Generator { action_cost: MS(4), ..Generator::default() }),
        ("wakes every 50 ms", Generator { tick: MS(50), ..Generator::default() }),
    ];
    let mut wrong = Vec::new();
    for (defect, generator) in defects {
        for (name, sockets, connect) in targets() {
            let summary = judged(sockets, 20, generator.clone(), connect);
            if summary.verdict.load != Some(LoadVerdict::Invalid) {
                let rules = [RuleId::LateShare, RuleId::SocketsHeld].map(|id| rule(&summary, &id));
                wrong.push((defect, name, summary.verdict.load, rules));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Pauses in step with the timeout. Sockets of a queue that moves gather after the pause, as they connect anew when they are accepted, and none is
/// due in the next one: the attempts are as many as they should be and hardly late, but the generator stood still.
#[test]
fn pauses_in_step_with_the_timeout_are_not_valid_against_any_target() {
    // 2, 6, 10 and 30 % of the time, all longer than the 25 ms that are forgiven.
    for (every, length) in [(2_000, 40), (500, 30), (500, 50), (500, 150), (1_000, 100), (1_000, 300)] {
        for (name, sockets, connect) in targets() {
            let summary = judged(sockets, 20, pauses(every, length), connect);
            let connects = summary.connects.as_ref().unwrap();
            let rules =
                [RuleId::LateShare, RuleId::SocketsHeld, RuleId::StoodStill].map(|id| rule(&summary, &id));
            if name == "a queue that moves" {
                let (attempts, law) = (connects.per_s.unwrap().attempts, connects.expected_per_s.unwrap());
                assert!((attempts / law - 1.0).abs() < 0.02, "{attempts} {law}");
            }
            // At least what the log says: less a look (2.5 ms), and rounded down by a seventeenth.
            let (stood, truth) = (rules[2].1, length as f64 / every as f64);
            let least = (length as f64 - 2.5) / every as f64 * 16.0 / 17.0;
            assert!(
                (0.95 * least..1.05 * truth).contains(&stood),
                "{length}/{every}, {name}: {stood} of {truth}"
            );
            println!("{length}/{every}, {name}: {:?} {rules:?}", summary.verdict.load);
            // Twenty segments of a second hold 0 or 4 % of theirs, of 2 %: the interval may reach down to 1 %.
            match summary.verdict.load {
                Some(LoadVerdict::Invalid) => {}
                Some(LoadVerdict::Inconclusive) if every == 2_000 => {}
                verdict => panic!("{length}/{every}, {name}: {verdict:?} {rules:?}"),
            }
        }
    }
}

/// A generator of a busy machine: held up at random for up to the time scale for a twentieth of the time, and once in the run for longer.
#[test]
fn hold_ups_of_a_busy_machine_are_not_taken_for_stalls() {
    let mut valid = 0;
    for seed in 0..8_i64 {
        for (name, sockets, connect) in targets() {
            let mut pauses: Vec<(Nanos, Nanos)> = (0..95)
                .map(|i| {
                    let draw = ((i * 7_919 + seed * 104_729) % 1_009) as f64 / 1_009.0;
                    let at = MS(30 + i * 200 + (150.0 * draw) as i64);
                    (at, at + MS(2 + (17.0 * draw) as i64))
                })
                .collect();
            pauses.push((MS(1_000 * (3 + seed % 10)) - MS(30), MS(1_000 * (3 + seed % 10))));
            pauses.sort_unstable();
            let summary = judged(sockets, 20, Generator { pauses, ..Generator::default() }, connect);
            let (outcome, stood) = rule(&summary, &RuleId::StoodStill);
            assert_eq!(outcome, RuleOutcome::Pass, "{seed}, {name}: {stood}");
            valid += usize::from(summary.verdict.load == Some(LoadVerdict::Valid));
        }
    }
    assert!(valid >= 24, "of 40, those of a target that accepts at once aside: {valid}");
}

/// A target, or the way to it, that stands still in step with the timeout gathers the attempts too; the generator did not stand still.
#[test]
fn a_target_that_stands_still_is_not_the_generator() {
    for (every, length) in [(500, 50), (500, 150)] {
        let held = |now: Nanos| {
            let into = now.0.rem_euclid(MS(every).0);
            let wait = (MS(length).0 - into).max(0);
            Connect::After(Nanos(wait) + Nanos::from_micros(50))
        };
        let mut queue = AcceptQueue::new(33, 130.0);
        let connect = |now: Nanos| match queue.connect(now) {
            Connect::After(_) => held(now),
            silence => silence,
        };
        let summary = judged(100, 20, Generator::default(), connect);
        assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:?}", summary.verdict.rules);
        assert_eq!(rule(&summary, &RuleId::StoodStill), (RuleOutcome::Pass, 0.0));
    }
}

/// A log of an earlier version does not say for how long the generator stood still: such a load is not shown to be VALID.
#[test]
fn a_log_that_does_not_tell_of_stalls_leaves_the_load_in_doubt() {
    let mut queue = AcceptQueue::new(33, 130.0);
    let summary = judged_as(
        100,
        20,
        Generator::default(),
        |now| queue.connect(now),
        |record| {
            record.stood_still = Rough::UNKNOWN;
        },
    );
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Inconclusive));
    let rule = summary.verdict.rules.iter().find(|rule| rule.rule == RuleId::StoodStill).unwrap();
    assert_eq!((rule.outcome, rule.value), (RuleOutcome::Undecided, None));
}

/// What passes all the same: no attempt is later than is forgiven, and the sockets lose less than 1 % of their time.
#[test]
fn short_pauses_are_forgiven_where_attempts_are_long() {
    for (name, sockets, connect) in targets() {
        let summary = judged(sockets, 20, pauses(100, 10), connect);
        // Against a target that accepts at once a tenth of the time is a tenth of the attempts.
        let expected = if sockets == 8 { LoadVerdict::Invalid } else { LoadVerdict::Valid };
        let rules = [RuleId::LateShare, RuleId::SocketsHeld].map(|id| rule(&summary, &id));
        assert_eq!(summary.verdict.load, Some(expected), "{name}: {rules:?}");
    }
}

/// Each socket keeps its place after a pause, so that attempts do not stay together and each pause shows.
#[test]
fn after_a_pause_attempts_are_spread_as_before() {
    let generator = Generator { pauses: vec![(MS(1_030), MS(1_230))], ..Generator::default() };
    let played = against(&plan(48, 6), |_| Connect::Silence, generator);
    let late = count(&played, |r| r.lag().is_some_and(|lag| lag > Nanos::ZERO));
    // 200 of 500 ms, and the sockets whose turn it was in them.
    assert!((late - 48.0 * 200.0 / 500.0).abs() <= 1.0, "{late}");
    let place = |r: &Record| Nanos(T.0 * i64::from(r.user) / 48 + (r.k / 48) as i64 * T.0);
    assert!(played.kept.records.iter().all(|r| r.intended == place(r)));
    let on_time = |r: &&Record| r.done == r.intended + T;
    let all = played.kept.records.iter().filter(|r| r.outcome == Outcome::ConnectTimeout);
    let given_up_late = all.clone().count() - all.filter(on_time).count();
    assert!(given_up_late > 0 && given_up_late < 25, "in the pause alone: {given_up_late}");
}
