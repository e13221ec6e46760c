//! Sessions that arrive: what was asked for and what could be sent, who was still there, and which response times are open.
//!
//! Figures are those of an independent simulation of the same system (four servers, exponential 8 ms, sessions of ten
//! requests and one more, users per second rising for 30 s and held for 120 s), means of 20 runs. The largest error of a single
//! run is in its number of sessions: sqrt(rate x 135 s), about 1.1 % of it at 60 a second.

use super::play::{BASE, STEPS, Told, arrivals, poisson, sessions};
use crate::world::{evidence, finding, outcome, rule};
use headway_base::{Kind, Nanos, Outcome, Phase, Rate, Record, Trigger};
use headway_stats::summary::evidence::{Loop, Moving, Remedy, Run};
use headway_stats::summary::{Evidence, LoadVerdict, ResponseKind, RuleOutcome, SeriesRow};
use headway_stats::{SessionAsked, Setup, Summary, Workload};
use std::sync::LazyLock;

fn phases(rate: f64) -> [Phase; 2] {
    let s = Nanos::from_secs;
    [Phase::ramp(s(30), Rate(0.0), Rate(rate)), Phase::hold(s(120), Rate(rate))]
}

fn setup(rate: f64, sources: usize) -> Setup {
    Setup {
        labels: vec!["list".into(), "add".into()],
        sources,
        measured: Nanos::from_secs(30)..Nanos::from_secs(150),
        workload: Workload::Sessions,
        plan: Some(poisson(&phases(rate))),
        asks_per_session: vec![SessionAsked { requests: f64::from(STEPS), think_s: 0.0 }],
        ..Setup::default()
    }
}

/// At 36 a second.
static BELOW: LazyLock<(Told, Summary)> = LazyLock::new(|| {
    let told = told(36.0);
    let summary = told.live(setup(36.0, 1), &[]);
    (told, summary)
});

fn told(rate: f64) -> Told {
    sessions(&arrivals(&phases(rate), 3), usize::MAX, BASE, 3)
}

#[test]
fn below_capacity_nothing_is_withheld() {
    let summary = &BELOW.1;
    let block = summary.sessions.as_ref().unwrap();
    assert_eq!((block.n, block.n, block.failed + block.unfinished), (block.started, block.ok, 0));
    assert!((block.sent_share.unwrap() - 1.0).abs() < 0.002, "{block:?}");
    assert_eq!(block.requests_offered, Some(block.n as f64 * 11.0));
    assert!(block.active_at_end.unwrap() < 30 && block.drain.unwrap() < 2.0);
    // Eleven times 13.2 ms.
    assert!((block.duration.mean.unwrap() / 0.145 - 1.0).abs() < 0.1, "{:?}", block.duration);
    assert_eq!(block.duration.n, block.n);
    assert!(block.first_sent["add"] < block.first_response["add"]);
    assert_eq!(
        (block.blocked.n, block.blocked.mean, block.blocked_all.n),
        (block.n, Some(0.0), 11 * block.n)
    );
    for absent in ["feedback", "not-steady", "closed-loop", "fixed-work"] {
        assert!(finding(summary, absent).is_none(), "{absent}: {:?}", finding(summary, absent));
    }
    // 390 requests a second of 400 asked: as many as sessions came.
    let asked = summary.rate.offered.unwrap();
    assert!((summary.rate.started.unwrap() / asked - 1.0).abs() < 0.002);
}

#[test]
fn beyond_capacity_sessions_start_on_target_and_their_requests_do_not() {
    let told = told(60.0);
    let summary = told.live(setup(60.0, 1), &[]);
    let block = summary.sessions.as_ref().unwrap();
    assert_eq!(told.logged(setup(60.0, 1), &[]).sessions.as_ref(), Some(block));
    assert_eq!(block.n, block.started, "what counts sessions alone sees nothing");
    assert!((block.sent_share.unwrap() - 0.795).abs() < 4.0 * 0.011, "{block:?}");
    // 3,080 users: capacity takes 45.5 of the 60 a second, and the rest is left with the error of all that came.
    assert!(
        (block.active_at_end.unwrap() as f64 - 3080.0).abs() < 4.0 * (60.0f64 * 135.0).sqrt(),
        "{block:?}"
    );
    assert!(block.active_max.unwrap() >= block.active_at_end.unwrap());
    // What is left at the end takes about that many eleventh parts of their requests at 500 a second.
    assert!(block.drain.unwrap() > 20.0, "{block:?}");
    let feedback = finding(&summary, "feedback").unwrap();
    assert_eq!(feedback.value, block.sent_share);
    let grew = |of: &Evidence| matches!(of, Evidence::Loop(Loop::PilesUp { what: Moving::Sessions, .. }));
    assert!(feedback.evidence.iter().any(grew), "{feedback:?}");
    let unsteady = evidence(&summary, "not-steady");
    assert!(
        matches!(unsteady, Evidence::Loop(Loop::NotSteady { remedy: Remedy::AskForLess, .. })),
        "{unsteady:?}"
    );
    // The generator did what it was asked for.
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:#?}", summary.verdict.rules);
}

#[test]
fn the_plan_is_that_of_sessions_and_not_of_their_requests() {
    let summary = &BELOW.1;
    let block = summary.sessions.as_ref().unwrap();
    assert_eq!((summary.arrivals.started, summary.arrivals.n), (block.n, block.n - 1));
    assert_eq!(rule(summary, "sent-share").n, block.n);
    assert_eq!(rule(summary, "late-share").n, 11 * block.n);
    assert!((summary.arrivals.cov.unwrap() - 1.0).abs() < 4.0 * summary.arrivals.cov_se_poisson.unwrap());
    assert!(summary.arrivals.ks.plan.unwrap().p > 0.001);
    assert_eq!(summary.measured.n, 11 * block.n);
    assert_eq!(outcome(summary, "users-held"), RuleOutcome::NotApplicable);
    // Open: the first of each session; the other ten wait for the one before.
    assert_eq!(summary.response_kind, Some(ResponseKind::Mixed));
    let open = summary.response_open.as_ref().unwrap();
    let session = summary.response_session.as_ref().unwrap();
    assert_eq!((open.n, session.n, summary.response.n), (block.n, 10 * block.n, 11 * block.n));
    let mean = (open.mean.unwrap() + 10.0 * session.mean.unwrap()) / 11.0;
    assert!((mean - summary.response.mean.unwrap()).abs() < 1e-9);
    assert!(open.ci95.mean.is_some());
}

#[test]
fn users_active_follow_from_littles_law() {
    let summary = &BELOW.1;
    let block = summary.sessions.as_ref().unwrap();
    let little = block.n as f64 / 120.0 * block.duration.mean.unwrap();
    assert!((block.active_mean.unwrap() / little - 1.0).abs() < 0.02, "{block:?} {little}");
    let closed = summary.closed.as_ref().unwrap();
    assert!((closed.users_mean.unwrap() - block.active_mean.unwrap()).abs() < 1e-9);
    assert!(closed.users.is_none() && closed.estimated.is_none());
    let held = |row: &&SeriesRow| row.from_s >= 30.0 && row.to_s <= 150.0;
    let rows: Vec<f64> = summary.series.iter().filter(held).filter_map(|r| r.users).collect();
    let mean = rows.iter().sum::<f64>() / rows.len() as f64;
    assert!((mean / block.active_mean.unwrap() - 1.0).abs() < 1e-9);
}

#[test]
fn sessions_of_the_warm_up_take_all_their_requests_with_them() {
    let mut told = BELOW.0.clone();
    let end = Nanos::from_secs(30);
    // One that was due just before, and made nearly all of its requests afterwards.
    let k = told.records.iter().filter(|r| r.arrived < end).map(|r| r.k).max().unwrap();
    let before = &BELOW.1;
    for record in told.records.iter_mut().filter(|r| r.k == k && r.due == Trigger::Step) {
        record.outcome = Outcome::Status;
    }
    assert_eq!(told.live(setup(36.0, 1), &[]).outcomes, before.outcomes);
    for record in told.records.iter_mut().filter(|r| r.k == k + 1 && r.kind == Kind::Request) {
        record.outcome = Outcome::Status;
    }
    assert_eq!(told.live(setup(36.0, 1), &[]).outcomes["status"], 11);
}

#[test]
fn any_number_of_sources_and_the_log_give_the_same() {
    let told = told(40.0);
    let limits = ["p(99)<100ms", "response{step:add}: max<100ms", "p(50)<1s", "failed: rate<1%"];
    let one = told.live(setup(40.0, 1), &limits);
    for sources in [2, 5] {
        assert_eq!(told.live(setup(40.0, sources), &limits), one, "{sources}");
    }
    assert_eq!(told.logged(setup(40.0, 1), &limits), one);
}

#[test]
fn thresholds_tell_how_many_sessions_saw_a_response_beyond_them() {
    let told = told(40.0);
    let summary =
        told.live(setup(40.0, 1), &["p(99)<60ms", "response{step:add}: max<60ms", "lag: p(99)<1ms"]);
    let phase = Nanos::from_secs(30)..Nanos::from_secs(150);
    let over = |step: Option<u16>| {
        let rows = told.records.iter().filter(|r| r.kind == Kind::Request && phase.contains(&r.arrived));
        let slow =
            rows.filter(|r| step.is_none_or(|s| s == r.step) && r.response() >= Nanos::from_millis(60));
        slow.map(|r| r.k).collect::<std::collections::BTreeSet<_>>().len() as u64
    };
    let seen: Vec<_> = summary.thresholds.iter().map(|t| t.sessions_over).collect();
    let sessions = summary.sessions.unwrap().n;
    for (seen, step) in seen.iter().zip([None, Some(1)]) {
        let seen = seen.unwrap();
        assert_eq!((seen.n, seen.over), (sessions, over(step)));
        assert!(seen.over > 0 && seen.share == Some(seen.over as f64 / sessions as f64));
    }
    assert_eq!(seen[2], None);
}

#[test]
fn of_a_run_cut_short_it_is_not_told_what_was_asked() {
    let at = Nanos::from_secs(90);
    let mut told = BELOW.0.clone();
    told.records.retain(|r| r.done < at);
    let summary = told.cut_short(setup(36.0, 1), at);
    let block = summary.sessions.as_ref().unwrap();
    assert_eq!((block.sent_share, summary.rate.offered), (None, None));
    assert_eq!(summary.not_computed["sessions.requests_offered"].why, headway_stats::summary::Why::CutShort);
    assert!(summary.not_computed.contains_key("rate.offered"));
    // Sixty seconds of the hold were complete, which are ten segments.
    assert!(finding(&summary, "feedback").is_none() && block.active_mean.is_some());
    let interrupted = evidence(&summary, "interrupted");
    assert!(
        matches!(interrupted, Evidence::Run(Run::Interrupted { complete: 10, of: 20, .. })),
        "{interrupted:?}"
    );
}

/// With think times the sessions that begin late cannot make all of their requests, whatever the target does.
#[test]
fn what_a_session_could_not_have_sent_is_not_asked_of_it() {
    let mut told = told(30.0);
    // Each request a second after the one before.
    for record in &mut told.records {
        let steps = if record.kind == Kind::Session { STEPS - 1 } else { record.repeat };
        let later = Nanos::from_secs(i64::from(steps));
        let from = if record.kind == Kind::Session { Nanos::ZERO } else { later };
        record.intended += from;
        record.started = record.started.get().map(|at| at + from).into();
        record.sent = record.sent.get().map(|at| at + from).into();
        record.done += later;
    }
    let thinking = |think_s| told.live(Setup { think_s, ..setup(30.0, 1) }, &[]);
    let summary = thinking(Some(1.0));
    let share = summary.sessions.as_ref().unwrap().sent_share.unwrap();
    assert!((share - 1.0).abs() < 0.005, "{share}");
    assert!(finding(&summary, "feedback").is_none(), "{:?}", finding(&summary, "feedback"));
    // What they made tells it without the law of their think times.
    let unaware = thinking(None);
    assert!((unaware.sessions.as_ref().unwrap().sent_share.unwrap() - 1.0).abs() < 0.005);
    assert!(finding(&unaware, "feedback").is_none(), "{:?}", finding(&unaware, "feedback"));
}

/// Of a target that is fast enough, sessions stand for what they made: one in ten goes on after its first request here, and
/// fewer or more than a tenth of them may.
#[test]
fn sessions_that_end_early_by_themselves_withhold_nothing() {
    for (outcome, seed) in [(Outcome::Ok, 5), (Outcome::Status, 6)] {
        let mut told = sessions(&arrivals(&phases(5.0), seed), usize::MAX, BASE, seed);
        let short = |r: &Record| !r.k.is_multiple_of(10);
        told.records.retain(|r| !short(r) || r.due == Trigger::Arrival);
        let first: std::collections::HashMap<u64, Nanos> = told
            .records
            .iter()
            .filter(|r| r.kind == Kind::Request && r.due == Trigger::Arrival)
            .map(|r| (r.k, r.done))
            .collect();
        for record in told.records.iter_mut().filter(|r| short(r)) {
            record.outcome = outcome;
            if record.kind == Kind::Session {
                (record.done, record.repeat) = (first[&record.k], 1);
            }
        }
        // On average three of its requests, as a plan may say, and two as it happened.
        let setup = || Setup {
            asks_per_session: vec![SessionAsked { requests: 3.0, think_s: 0.0 }],
            ..setup(5.0, 1)
        };
        let summary = told.live(setup(), &[]);
        let block = summary.sessions.as_ref().unwrap();
        assert_eq!(block.requests_offered, Some(summary.measured.n as f64), "{block:?}");
        assert!(block.sent_share.unwrap() <= 1.0 && block.sent_share.unwrap() > 0.99, "{block:?}");
        assert!(finding(&summary, "feedback").is_none(), "{:?}", finding(&summary, "feedback"));
        assert_eq!(told.logged(setup(), &[]).sessions, summary.sessions);
    }
}

/// A phase that begins with nobody fills up with sessions that think: nothing piles up at the target.
#[test]
fn sessions_that_fill_an_empty_phase_are_no_backlog() {
    let mut told =
        sessions(&arrivals(&[Phase::hold(Nanos::from_secs(60), Rate(20.0))], 7), usize::MAX, BASE, 7);
    let mut made: std::collections::HashMap<u64, i64> = std::collections::HashMap::new();
    told.records.sort_by_key(|r| (r.kind == Kind::Session, r.intended));
    for record in &mut told.records {
        let n = made.entry(record.k).or_default();
        let later = Nanos::from_secs(4 * if record.kind == Kind::Session { *n - 1 } else { *n });
        *n += 1;
        if record.kind == Kind::Request {
            record.intended += later;
            record.started = record.started.get().map(|at| at + later).into();
            record.sent = record.sent.get().map(|at| at + later).into();
        }
        record.done += later;
    }
    let setup = || Setup {
        measured: Nanos::ZERO..Nanos::from_secs(60),
        plan: Some(poisson(&[Phase::hold(Nanos::from_secs(60), Rate(20.0))])),
        asks_per_session: vec![SessionAsked { requests: f64::from(STEPS), think_s: 4.0 }],
        ..setup(20.0, 1)
    };
    let summary = told.live(setup(), &[]);
    assert!(summary.sessions.as_ref().unwrap().active_at_end.unwrap() > 600);
    assert!(finding(&summary, "feedback").is_none(), "{:?}", finding(&summary, "feedback"));
    let Evidence::Loop(Loop::NotSteady { what: Moving::Requests, change, remedy }) =
        evidence(&summary, "not-steady")
    else {
        panic!("{:?}", summary.verdict.findings)
    };
    assert!(*change > 0.0 && !matches!(remedy, Remedy::WarmUp { .. }), "{change} {remedy:?}");

    // Cut short in the middle of a think time, they go on owing nothing; the row's end is the last answer.
    let end = Nanos::from_secs(60);
    told.records.retain(|r| r.kind == Kind::Session || r.intended < end);
    let mut last: std::collections::HashMap<u64, (u32, Nanos)> = std::collections::HashMap::new();
    for record in told.records.iter().filter(|r| r.kind == Kind::Request) {
        let (made, done) = last.entry(record.k).or_insert((0, record.done));
        (*made, *done) = (*made + 1, record.done.max(*done));
    }
    for record in told.records.iter_mut().filter(|r| r.kind == Kind::Session && r.done >= end) {
        record.outcome = Outcome::Unfinished;
        (record.repeat, record.done) = last[&record.k];
    }
    let cut = told.live(setup(), &[]).sessions.unwrap();
    assert!(cut.unfinished > 600 && cut.requests_offered == Some(cut.requests_sent as f64), "{cut:?}");
}
