//! Requests that never left: they are not sent, whatever stopped them, and the verdict says so; and what the cap held back, which
//! is not the generator's doing.

use crate::common::{LIMITS, law};
use crate::laws;
use crate::rig::{Played, Reply, Rig};
use headway_base::{Batch, Kind, Nanos, Outcome, Phase, Profile, Rate, Record, Start, Trigger};
use headway_stats::summary::evidence::{FailedStep, Load, Loop, Run};
use headway_stats::summary::{
    Evidence, Finding, FindingId, LoadVerdict, RuleOutcome, Summary, ThresholdOutcome,
};
use headway_stats::{Analysis, Facts, PlanLaw, SessionAsked, Setup, UsersAsked, Workload};
use headway_testkit::{Connect, Generator};
use headway_workload::journey::{Journey, Node};
use headway_workload::plan::{Group, LONGEST, Plan, Source};
use headway_workload::users::Level;
use headway_workload::{Limits, Process, RequestKey, SessionControl};
use std::sync::Arc;

const MS: fn(i64) -> Nanos = Nanos::from_millis;
const SECONDS: i64 = 40;
const WORK: u64 = 4_000;
const STEPS: u32 = 3;
const KINDS: [Workload; 4] = [Workload::Open, Workload::Sessions, Workload::Closed, Workload::FixedWork];

/// Journeys take the steps 0, 1 and 2.
fn journey(think: &str) -> Journey {
    let ask = |step| Node::Ask { step, repeat: 1, think: None };
    Journey::new(&(0..STEPS as u16).map(ask).collect::<Vec<_>>(), law(think)).unwrap()
}

fn profile(rate: f64) -> Profile {
    Profile::new(&[Phase::hold(Nanos::from_secs(SECONDS), Rate(rate))])
}

fn plan(kind: Workload) -> Plan {
    let open = |rate| Group::open(Process::Poisson, profile(rate));
    let group = match kind {
        Workload::Sessions => Group { journey: Arc::new(journey("exp(20ms)")), ..open(60.0) },
        Workload::Closed => Group::closed(Level::hold(10, Nanos::from_secs(SECONDS)), journey("exp(50ms)")),
        Workload::FixedWork => Group {
            source: Source::Users { level: Arc::new(Level::hold(10, LONGEST)), requests: Some(WORK) },
            ..Group::closed(Level::hold(10, LONGEST), journey("0s"))
        },
        _ => open(200.0),
    };
    let end = if kind == Workload::FixedWork { LONGEST } else { Nanos::from_secs(SECONDS) };
    Plan::of(7, group, Nanos::ZERO, end)
}

fn setup(plan: &Plan, kind: Workload) -> Setup {
    let rate = if kind == Workload::Sessions { 60.0 } else { 200.0 };
    let arrives = matches!(kind, Workload::Open | Workload::Sessions);
    let labels = ["login", "basket", "pay"];
    Setup {
        labels: labels[..if kind == Workload::Open { 1 } else { 3 }].iter().map(|&l| l.into()).collect(),
        measured: plan.measured_from..plan.end() + Nanos(1),
        workload: kind,
        plan: arrives.then(|| PlanLaw {
            profile: profile(rate),
            gap_cdf: Some(Arc::new(|x| Process::Poisson.gap_cdf(x).unwrap())),
            gap_cov: 1.0,
            dispersion: 1.0,
            poisson: true,
        }),
        users: (kind == Workload::Closed).then(|| UsersAsked::hold(10.0, Nanos::from_secs(SECONDS))),
        asks_per_session: match kind {
            Workload::Sessions => vec![SessionAsked { requests: f64::from(STEPS), think_s: 0.02 }],
            _ => Vec::new(),
        },
        requests_asked: (kind == Workload::FixedWork).then_some(WORK),
        ..Setup::default()
    }
}

fn requests(played: &Played) -> impl Iterator<Item = &Record> {
    played.kept.records.iter().filter(|r| r.kind == Kind::Request)
}

fn judge(plan: &Plan, kind: Workload, played: &Played, thresholds: &[&str]) -> Summary {
    let thresholds = thresholds.iter().map(|text| text.parse().unwrap()).collect();
    let mut analysis = Analysis::new(setup(plan, kind)).judging(thresholds);
    let (starts, records, users) =
        (played.kept.starts.clone(), played.kept.records.clone(), played.kept.users.clone());
    analysis.batch(&Batch { starts, records, users, watermark: Nanos::MAX, last: true, ..Batch::default() });
    analysis.finish(Facts::default())
}

/// From the rows alone, in the order of a recomputed report.
fn recomputed(plan: &Plan, kind: Workload, played: &Played) -> Summary {
    let mut records = played.kept.records.clone();
    records.sort_by_key(|r| (r.started.get().unwrap_or(r.intended), r.k));
    let starts: Vec<Start> = requests_of(&records).filter_map(Record::start).collect();
    let mut analysis = Analysis::new(setup(plan, kind));
    analysis.batch(&Batch { starts, records, watermark: Nanos::MAX, last: true, ..Batch::default() });
    analysis.finish(Facts::default())
}

fn requests_of(records: &[Record]) -> impl Iterator<Item = &Record> {
    records.iter().filter(|r| r.kind == Kind::Request)
}

/// Every request over a connection of its own, of which one in `every` cannot be had, known after `late`.
fn play_without(kind: Workload, every: usize, outcome: Outcome, late: Nanos) -> (Plan, Played) {
    let plan = plan(kind);
    let mut tried = 0;
    let connect = move |_: Nanos| {
        tried += 1;
        let fails = tried % every == every / 2;
        if fails { Connect::Fails(late, outcome) } else { Connect::After(Nanos::ZERO) }
    };
    let answer = |_: Nanos, n: usize, _: &RequestKey| Reply::Comes {
        first: MS(2),
        done: MS(2) + Nanos((n as i64 * 7_919) % 2_000_000),
        outcome: Outcome::Ok,
        then: SessionControl::Continue,
        reusable: false,
        hangs_up: None,
    };
    let played = Rig::new(&plan, LIMITS, connect, answer).run();
    laws::check(&plan, &LIMITS, &played);
    (plan, played)
}

fn finding<'a>(summary: &'a Summary, id: &str) -> &'a Finding {
    let ids: Vec<&str> = summary.verdict.findings.iter().map(|f| f.id.as_str()).collect();
    summary
        .verdict
        .findings
        .iter()
        .find(|f| f.id == id.into())
        .unwrap_or_else(|| panic!("no {id} among {ids:?}"))
}

fn failed(summary: &Summary) -> Vec<&str> {
    let failed = summary.verdict.rules.iter().filter(|r| r.outcome == RuleOutcome::Fail);
    failed.map(|r| r.rule.as_str()).collect()
}

#[test]
fn what_a_local_limit_stops_is_not_sent_in_any_workload() {
    // A socket that cannot be had is known in the same instant; should it be known later, nothing changes.
    for (kind, late) in KINDS.into_iter().flat_map(|kind| [(kind, Nanos::ZERO), (kind, MS(1))]) {
        let (plan, played) = play_without(kind, 20, Outcome::LocalLimit, late);
        let summary = judge(&plan, kind, &played, &["failed: rate<0.1%"]);
        let all = requests(&played).count();
        let hits = requests(&played).filter(|r| r.outcome == Outcome::LocalLimit).count();
        assert!(hits * 22 > all && hits * 18 < all, "{kind:?}: {hits} of {all}");
        assert_eq!(hits + played.sends.len(), all, "{kind:?}");
        let never =
            |r: &Record| r.outcome == Outcome::LocalLimit && (r.sent.is_some() || r.started.is_some());
        assert_eq!(late == Nanos::ZERO, !requests(&played).any(never), "{kind:?}");
        for summary in [&summary, &recomputed(&plan, kind, &played)] {
            assert_eq!(
                summary.verdict.load,
                Some(LoadVerdict::Invalid),
                "{kind:?} {:?}",
                summary.verdict.rules
            );
            let rules = failed(summary);
            assert!(
                ["sent-share", "requests-sent", "all-issued"].iter().any(|r| rules.contains(r)),
                "{rules:?}"
            );
            assert_eq!(summary.response.n, played.sends.len() as u64, "{kind:?}");
            assert_eq!(summary.response.censored, 0, "{kind:?}");
            assert_eq!(summary.measured.n, all as u64, "{kind:?}");
            let limit = &finding(summary, "local-limit").evidence;
            let n_hits = hits as u64;
            assert!(
                matches!(limit[..], [Evidence::Run(Run::LocalLimit { n, .. })] if n == n_hits),
                "{kind:?} {limit:?}"
            );
            let unsent = &finding(summary, "unsent").evidence;
            assert!(
                matches!(unsent[..], [Evidence::Load(Load::Unsent { n, of, .. })] if (n, of) == (n_hits, all as u64)),
                "{kind:?} {unsent:?}"
            );
        }
        assert_eq!(
            (summary.thresholds[0].value, summary.thresholds[0].n),
            (Some(0.0), played.sends.len() as u64)
        );
    }
}

#[test]
fn one_request_in_two_thousand_does_not_spoil_a_load_but_fixed_work_is_exact() {
    for kind in KINDS {
        let (plan, played) = play_without(kind, 2_000, Outcome::LocalLimit, Nanos::ZERO);
        let load = judge(&plan, kind, &played, &[]).verdict.load;
        let expected = if kind == Workload::FixedWork { LoadVerdict::Invalid } else { LoadVerdict::Valid };
        assert_eq!(load, Some(expected), "{kind:?}");
    }
}

#[test]
fn what_the_target_refuses_was_sent() {
    for kind in KINDS {
        for outcome in [Outcome::Refused, Outcome::ConnectTimeout, Outcome::Tls, Outcome::Reset] {
            let (plan, played) = play_without(kind, 10, outcome, Nanos::ZERO);
            let summary = judge(&plan, kind, &played, &[]);
            assert_eq!(
                summary.verdict.load,
                Some(LoadVerdict::Valid),
                "{kind:?} {outcome:?} {:?}",
                summary.verdict.rules
            );
            assert_eq!(summary.response.n, requests(&played).count() as u64);
        }
    }
}

/// In one session of ten the login gives no token: the two steps after it have nothing to send. A response of theirs of 0 s
/// would pull the median of their label, and of all, to 0.
#[test]
fn a_step_without_its_value_is_unsent_and_in_no_percentile() {
    for kind in [Workload::Sessions, Workload::Closed] {
        let plan = plan(kind);
        let answer = |_: Nanos, _: usize, s: &RequestKey| match (s.step, s.k % 10) {
            (0, 3) => Reply::ends(MS(4), Outcome::Check, SessionControl::Continue),
            (1 | 2, 3) => Reply::NotSent(Outcome::Unsent, SessionControl::Continue),
            _ => Reply::ok(MS(4)),
        };
        let played = Rig::new(&plan, LIMITS, |_| Connect::After(Nanos::ZERO), answer).run();
        laws::check(&plan, &LIMITS, &played);
        let live =
            judge(&plan, kind, &played, &["failed{step:pay}: rate<0.1%", "response{step:pay}: min>=4"]);
        assert!(
            live.thresholds.iter().all(|t| t.outcome == ThresholdOutcome::NotJudged),
            "{:?}",
            live.thresholds
        );
        assert_eq!(live.thresholds[0].value, Some(0.0));
        assert!(live.thresholds[1].value.unwrap() > 0.0039, "{:?}", live.thresholds[1]);
        for summary in [&live, &recomputed(&plan, kind, &played)] {
            let count = |label: &str, outcome: &str| summary.by_label[label].outcomes.get(outcome).copied();
            let failed_logins = count("login", "check").unwrap();
            // The last sessions may be cut off by the end of the run.
            let unsent = count("basket", "unsent").unwrap() + count("pay", "unsent").unwrap();
            assert!(unsent > failed_logins && unsent <= 2 * failed_logins, "{unsent} {failed_logins}");
            for label in ["basket", "pay"] {
                let of = &summary.by_label[label];
                assert_eq!(of.n, of.outcomes.values().sum::<u64>());
                assert_eq!(of.response.n, of.outcomes["ok"]);
                assert!(of.response.min.unwrap() > 0.0039 && of.response.censored == 0, "{:?}", of.response);
            }
            assert!(summary.response.min.unwrap() > 0.0039 && summary.response.censored == 0);
            assert_eq!(summary.response.n + unsent, summary.measured.n);
            assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
            assert_eq!(failed(summary), ["requests-sent"]);
            let first = &summary.verdict.findings[0];
            assert_eq!(first.id, FindingId::UnsentSteps);
            let [Evidence::Load(Load::UnsentSteps { n, after, .. })] = &first.evidence[..] else {
                panic!("{first:?}")
            };
            let pay = |step: &FailedStep| step.step == "pay" && step.failed == "login";
            assert!(*n == unsent && after.iter().any(pay), "{first:?}");
            let feedback = summary.verdict.findings.iter().find(|f| f.id == FindingId::Feedback);
            let behind = |of: &Evidence| matches!(of, Evidence::Loop(Loop::SessionsBehind { .. }));
            assert!(feedback.is_none_or(|f| !f.evidence.iter().any(behind)), "{feedback:?}");
        }
        let kept = live.sessions.as_ref().map_or(0, |sessions| sessions.failed);
        assert!(kind != Workload::Sessions || kept > 0);
    }
}

fn capped(connections: u32, max_wait: Nanos) -> Limits {
    Limits { connections, max_wait, ..LIMITS }
}

fn play_at_cap(rate: f64, limits: Limits, service: Nanos, generator: Generator) -> (Summary, Played) {
    let group = Group::open(Process::Poisson, profile(rate));
    let plan = Plan::of(3, group, Nanos::ZERO, Nanos::from_secs(SECONDS));
    let played = Rig::new(&plan, limits, |_| Connect::After(Nanos::ZERO), |_, _, _| Reply::ok(service))
        .with(generator)
        .run();
    laws::check(&plan, &limits, &played);
    let mut analysis = Analysis::new(Setup {
        plan: Some(PlanLaw {
            profile: profile(rate),
            gap_cdf: Some(Arc::new(|x| Process::Poisson.gap_cdf(x).unwrap())),
            gap_cov: 1.0,
            dispersion: 1.0,
            poisson: true,
        }),
        ..setup(&plan, Workload::Open)
    });
    let (starts, records) = (played.kept.starts.clone(), played.kept.records.clone());
    analysis.batch(&Batch { starts, records, watermark: Nanos::MAX, last: true, ..Batch::default() });
    (analysis.finish(Facts::default()), played)
}

/// One connection at 100/s and 2.5 ms each (a load of a quarter): a fifth of the requests wait for over 1 ms. The verdict says
/// what the rows say.
#[test]
fn a_cap_that_holds_requests_back_is_said_and_makes_nothing_invalid() {
    let (summary, played) =
        play_at_cap(100.0, capped(1, Nanos::from_secs(30)), Nanos(2_500_000), Generator::default());
    let rows: Vec<&Record> = requests(&played).collect();
    let waited = rows.iter().filter(|r| r.wait > MS(1)).count();
    assert!(waited * 20 > rows.len(), "{waited} of {}", rows.len());
    let limited = summary.verdict.limited_by.as_ref().unwrap();
    assert_eq!((limited.what.as_str(), limited.waited, limited.given_up), ("cap", waited as u64, 0));
    assert!((limited.share - waited as f64 / rows.len() as f64).abs() < 1e-12 && limited.matters());
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:?}", summary.verdict.rules);
    // Without the cap nothing is limited.
    let (free, _) = play_at_cap(100.0, LIMITS, Nanos(2_500_000), Generator::default());
    assert_eq!((free.verdict.limited_by, free.verdict.load), (None, Some(LoadVerdict::Valid)));
}

/// Five times what one connection carries: nearly all is given up after a second, and the rest when the run ends. That is the
/// target's doing and the cap's, not the generator's, and the load is not the one that was planned.
#[test]
fn what_a_cap_keeps_for_good_is_no_fault_of_the_generator() {
    for workers_pause in [false, true] {
        // Two milliseconds here and there are as any host has them.
        let pauses = (1..SECONDS).map(|s| (MS(1_000 * s), MS(1_000 * s + 2))).collect();
        let generator =
            if workers_pause { Generator { pauses, ..Generator::default() } } else { Generator::default() };
        let (summary, played) = play_at_cap(100.0, capped(1, MS(1_000)), MS(50), generator);
        let shed = requests(&played).filter(|r| r.outcome == Outcome::Shed).count();
        let unsent: Vec<&Record> = requests(&played).filter(|r| r.outcome == Outcome::Unsent).collect();
        assert!(shed > 1_000 && unsent.iter().all(|r| r.wait > Nanos::ZERO), "{shed} {unsent:?}");
        let limited = summary.verdict.limited_by.as_ref().unwrap();
        assert!(limited.share > 0.9 && limited.given_up >= shed as u64, "{limited:?}");
        assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid), "{:?}", summary.verdict.rules);
        assert_eq!(summary.vouch().load, Some(LoadVerdict::Valid), "{:?}", summary.verdict.rules);
        let failed: Vec<_> =
            summary.verdict.rules.iter().filter(|rule| rule.outcome == RuleOutcome::Fail).collect();
        assert!(matches!(failed[..], [rule] if headway_stats::thresholds::is_at_cap(rule)), "{failed:?}");
        assert_eq!(summary.response.n, summary.measured.n, "what waited is in the percentiles");
        let unsent = &finding(&summary, "unsent").evidence;
        assert!(
            matches!(unsent[..], [Evidence::Load(Load::Unsent { gave_up, .. })] if gave_up >= shed as u64),
            "{unsent:?}"
        );
        let feedback = &finding(&summary, "feedback").evidence;
        assert!(
            feedback.iter().any(|of| matches!(of, Evidence::Loop(Loop::HeldBack { .. }))),
            "{feedback:?}"
        );
    }
}

/// The generator stands still for 300 ms in every two seconds. That its one connection carries a request when it does makes the
/// waits of those that fall due meanwhile no doing of the target.
#[test]
fn a_generator_that_stands_still_at_the_cap_is_not_excused_by_it() {
    let pauses: Vec<_> = (1..SECONDS / 2).map(|i| (MS(2_000 * i), MS(2_000 * i + 300))).collect();
    for (service, connections, max_wait) in
        [(MS(5), 1, Nanos::from_secs(30)), (MS(15), 2, Nanos::from_secs(30)), (MS(5), 1, MS(200))]
    {
        let generator = Generator { pauses: pauses.clone(), ..Generator::default() };
        let (summary, _) = play_at_cap(100.0, capped(connections, max_wait), service, generator);
        assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid), "{service} {:?}", summary.verdict.rules);
    }
}

/// Each request costs the generator 4 ms, and the plan has 500 a second: its four connections are used up because it reads too
/// late, not because the target answers late. In the second case it costs 40 us, and the target takes 12 ms.
#[test]
fn a_generator_that_cannot_keep_up_is_not_excused_by_the_cap_that_it_fills() {
    for (cost, valid) in [(MS(2), false), (Nanos::from_micros(20), true)] {
        let generator = Generator { action_cost: cost, event_cost: cost, ..Generator::default() };
        let service = if valid { MS(12) } else { MS(1) };
        let (summary, _) = play_at_cap(500.0, capped(4, Nanos::from_secs(30)), service, generator);
        let load = summary.vouch().load;
        assert_eq!(load == Some(LoadVerdict::Valid), valid, "{load:?} {:?}", summary.verdict.rules);
        // What the cap kept is missing in both.
        assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
        assert!(summary.arrivals.started < summary.measured.n, "both send less than is due");
    }
}

/// A session whose first request finds no descriptor goes on with its second: that one is a step, and the session arrived once.
#[test]
fn a_session_arrives_once_even_if_its_first_request_never_left() {
    let (_, played) = play_without(Workload::Sessions, 7, Outcome::LocalLimit, Nanos::ZERO);
    let first_lost: Vec<u64> = requests(&played)
        .filter(|r| r.outcome == Outcome::LocalLimit && r.due == Trigger::Arrival)
        .map(|r| r.k)
        .collect();
    assert!(first_lost.len() > 50);
    for k in first_lost {
        let dues: Vec<Trigger> = requests(&played).filter(|r| r.k == k).map(|r| r.due).collect();
        assert_eq!(dues.iter().filter(|&&due| due == Trigger::Arrival).count(), 1, "{k}: {dues:?}");
    }
}
