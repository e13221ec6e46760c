//! Fixed work: a thousand sessions at once.
//!
//! Figures are those of an independent simulation of the same system, means of 20 runs. The standard error of how long 11,000
//! requests of an exponential 8 ms take on four servers is 8 ms sqrt(11,000) / 4 = 0.21 s, 1 % of 21.97 s; what is proportional
//! to it has the same 1 %.

use super::play::{BASE, STEPS, Told, sessions};
use crate::world::{evidence, finding, outcome, rule};
use headway_base::Nanos;
use headway_stats::summary::evidence::Loop;
use headway_stats::summary::{Evidence, LoadVerdict, ResponseKind, RuleOutcome, Summary};
use headway_stats::{SessionAsked, Setup, Workload};

fn setup(sources: usize) -> Setup {
    Setup {
        labels: vec!["list".into(), "add".into()],
        sources,
        // It ends by itself.
        measured: Nanos::ZERO..Nanos::from_secs(24 * 3600),
        workload: Workload::FixedWork,
        asks_per_session: vec![SessionAsked { requests: f64::from(STEPS), think_s: 0.0 }],
        requests_asked: Some(11_000),
        ..Setup::default()
    }
}

fn told(cap: usize) -> Told {
    sessions(&[Nanos::ZERO; 1000], cap, BASE, 4)
}

/// Four standard errors of 1 %, and a tenth of a percent for the rounding of what is published.
fn near(value: Option<f64>, published: f64) {
    let value = value.unwrap();
    assert!((value / published - 1.0).abs() < 0.041, "{value} against {published}");
}

fn common(summary: &Summary) {
    let block = summary.sessions.as_ref().unwrap();
    assert_eq!((block.n, block.ok, block.requests_sent, block.requests_offered), (1000, 1000, 11_000, None));
    near(block.drain, 21.97);
    near(summary.rate.throughput, 500.8);
    assert_eq!(summary.measured.to_s, block.drain.unwrap());
    assert_eq!(rule(summary, "all-issued").value, Some(1.0));
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:#?}", summary.verdict.rules);
    assert!(summary.response.ci95.mean.is_none());
    assert_eq!(summary.not_computed["response.ci95.mean"].why, headway_stats::summary::Why::FixedWork);
    assert_eq!(summary.not_computed["closed.estimated"].why, headway_stats::summary::Why::FixedWork);
    assert!(matches!(evidence(summary, "fixed-work"), Evidence::Loop(Loop::FixedWork { .. })));
    assert!(finding(summary, "not-steady").is_none());
}

#[test]
fn without_a_cap_all_users_share_the_queue() {
    let summary = told(usize::MAX).live(setup(1), &[]);
    common(&summary);
    let block = summary.sessions.as_ref().unwrap();
    near(summary.response.mean, 1.9046);
    near(summary.response.p50, 1.9874);
    near(summary.response.p99, 2.1257);
    near(Some(block.first_sent["add"]), 17.92);
    assert_eq!((block.blocked.max, block.active_max), (Some(0.0), Some(1000)));
    assert!(finding(&summary, "feedback").is_none());
    let at = |s: f64| summary.series.iter().find(|r| r.from_s == s).unwrap().users.unwrap();
    assert!(at(10.0) == 1000.0 && at(21.0) < 500.0);
}

#[test]
fn a_pool_hides_the_wait_in_front_of_it() {
    let summary = told(200).live(setup(1), &[]);
    common(&summary);
    let block = summary.sessions.as_ref().unwrap();
    // Counted from when they were due, the first requests hold the wait that the others do not show.
    assert_eq!(summary.response_kind, Some(ResponseKind::Mixed));
    near(summary.response_session.as_ref().unwrap().mean, 0.3956);
    near(summary.service.mean, 0.3956);
    near(block.blocked.mean, 8.6095);
    near(block.blocked.max, 17.6097);
    near(Some(block.first_sent["add"]), 3.58);
    assert_eq!((block.blocked.n, block.active_max), (1000, Some(200)));
    let second = summary.series.iter().filter(|row| row.from_s >= 5.0 && row.to_s <= 6.0);
    let (n, sum) = second.fold((0, 0.0), |(n, sum), row| (n + 1, sum + row.waiting.unwrap()));
    let waiting = sum / f64::from(n);
    assert!(waiting > 500.0 && waiting < 800.0, "{waiting}");
    assert!(matches!(evidence(&summary, "feedback"), Evidence::Loop(Loop::HeldBack { .. })));
}

#[test]
fn work_left_undone_is_invalid_and_the_log_tells_the_same() {
    let mut short = told(200);
    let last = short.records.iter().rposition(|r| r.step == 1).unwrap();
    short.records.remove(last);
    let summary = short.live(setup(1), &[]);
    assert_eq!(rule(&summary, "all-issued").value, Some(10_999.0 / 11_000.0));
    assert_eq!(outcome(&summary, "all-issued"), RuleOutcome::Fail);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
    let whole = told(200);
    let one = whole.live(setup(1), &["p(99)<1s"]);
    assert_eq!(one.not_computed["thresholds.0.interval"].why, headway_stats::summary::Why::FixedWork);
    assert_eq!(whole.live(setup(4), &["p(99)<1s"]), one);
    assert_eq!(whole.logged(setup(1), &["p(99)<1s"]), one);
    let unknown = whole.live(Setup { requests_asked: None, ..setup(1) }, &[]);
    assert_eq!((outcome(&unknown, "all-issued"), unknown.verdict.load), (RuleOutcome::NotApplicable, None));
}
