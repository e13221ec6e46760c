//! Closed runs: who was there, what follows by Little's law, and what the report says of such response times.

use super::play::{BASE, Told, closed};
use crate::world::{evidence, finding, outcome, rule};
use headway_base::Nanos;
use headway_stats::summary::evidence::{Loop, OpenLoad};
use headway_stats::summary::{Evidence, LoadVerdict, Pattern, ResponseKind, RuleOutcome};
use headway_stats::{Setup, UsersAsked, Workload};

const USERS: u32 = 20;

fn setup(sources: usize) -> Setup {
    let hold = Nanos::from_secs(60);
    Setup {
        labels: vec!["only".into()],
        sources,
        measured: Nanos::from_secs(10)..hold,
        workload: Workload::Closed,
        users: Some(UsersAsked::hold(f64::from(USERS), hold)),
        think_s: Some(0.05),
        ..Setup::default()
    }
}

fn told() -> Told {
    closed(USERS, 0.05, BASE, 25_000, 5)
}

#[test]
fn users_rate_and_times_obey_littles_law() {
    let summary = told().live(setup(1), &[]);
    let closed = summary.closed.as_ref().unwrap();
    assert_eq!(
        (closed.users, closed.users_mean, closed.think_specified),
        (Some(20.0), Some(20.0), Some(0.05))
    );
    let (think, n) = (closed.think_recovered.unwrap(), closed.think_n as f64);
    assert!((think - 0.05).abs() < 4.0 * 0.05 / n.sqrt(), "{think}");
    // N = X (Z + R) up to what is cut off at the borders of the phase.
    assert!((closed.n_little.unwrap() - 20.0).abs() < 0.1, "{closed:?}");
    let rort = closed.response.unwrap() / (closed.response.unwrap() + think);
    assert!((closed.rort.unwrap() - rort).abs() < 1e-9);
    assert!(closed.in_flight_max.unwrap() <= 20 && closed.all_waiting.unwrap() < 0.01);
    assert_eq!(summary.response_kind, Some(ResponseKind::Loop));
    assert!(
        summary.response_open.is_none() && summary.response_session.is_none() && summary.sessions.is_none()
    );
    let rows: Vec<_> = summary.series.iter().filter(|r| r.from_s >= 10.0 && r.to_s <= 60.0).collect();
    assert!(rows.iter().all(|r| r.users == Some(20.0)));
    let in_flight = rows.iter().map(|r| r.in_flight.unwrap()).sum::<f64>() / rows.len() as f64;
    let little = summary.rate.started.unwrap() * closed.response.unwrap();
    assert!((in_flight / little - 1.0).abs() < 0.01, "{in_flight} {little}");
}

#[test]
fn a_closed_load_is_judged_by_its_users_and_not_by_a_plan() {
    let summary = told().live(setup(1), &[]);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:#?}", summary.verdict.rules);
    assert_eq!(rule(&summary, "users-held").value, Some(1.0));
    assert_eq!(outcome(&summary, "effect"), RuleOutcome::Pass);
    for other in ["sent-share", "late-share", "bunching", "dispersion", "all-issued"] {
        assert_eq!(outcome(&summary, other), RuleOutcome::NotApplicable, "{other}");
    }
    // The pattern needs no plan: a single queue behind twenty thinking users hardly bunches their starts.
    assert_ne!(summary.verdict.pattern, Pattern::NotApplicable);
    assert!(summary.arrivals.cov.is_some() && summary.arrivals.intended.is_none());
    assert_eq!(summary.not_computed["arrivals.ks.plan"].why, headway_stats::summary::Why::NoPlan);
    let note = evidence(&summary, "closed-loop");
    assert!(
        matches!(note, Evidence::Loop(Loop::ClosedLoop { open: OpenLoad::Estimated { .. } })),
        "{note:?}"
    );
    assert!(finding(&summary, "feedback").is_none() && finding(&summary, "not-steady").is_none());
}

#[test]
fn a_user_who_goes_early_is_missed() {
    let mut told = told();
    told.users.push((Nanos::from_secs(35), -1));
    let summary = told.live(setup(1), &[]);
    let rule = rule(&summary, "users-held");
    assert!((rule.value.unwrap() - (1.0 - 0.05 / 2.0)).abs() < 1e-9, "{rule:?}");
    // One of twenty for half the time: 2.5 %, and the halves differ by so much that it is not sure.
    assert_ne!(rule.outcome, RuleOutcome::Pass);
    told.users.push((Nanos::from_secs(10), -5));
    let summary = told.live(setup(1), &[]);
    assert_eq!(outcome(&summary, "users-held"), RuleOutcome::Fail);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
}

#[test]
fn any_number_of_sources_and_the_log_give_the_same() {
    let one = told().live(setup(1), &[]);
    for sources in [2, 7] {
        assert_eq!(told().live(setup(sources), &[]), one, "{sources}");
    }
    // A log does not tell when users came and went: those who sent something count as there.
    let mut log = told().logged(setup(1), &[]);
    assert_eq!(rule(&log, "users-held").value, Some(1.0));
    assert!(log.not_computed.contains_key("series.users"));
    let (mut closed, seen) = (log.closed.take().unwrap(), one.closed.clone().unwrap());
    assert_eq!(closed.users_mean, None);
    closed.users_mean = seen.users_mean;
    assert_eq!(closed, seen);
    assert_eq!((log.response, log.arrivals), (one.response, one.arrivals));
    let mut told = told();
    told.records.retain(|r| r.user != 3);
    assert_eq!(rule(&told.logged(setup(1), &[]), "users-held").value, Some(0.95));
}
