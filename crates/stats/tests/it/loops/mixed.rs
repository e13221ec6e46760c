//! Sessions that arrive beside closed users, each at a target of its own.

use super::play::{BASE, STEPS, Told, arrivals, closed, poisson, sessions};
use crate::world::{outcome, rule};
use headway_base::{Kind, Nanos, Phase, Rate, Trigger};
use headway_stats::summary::{LoadVerdict, ResponseKind, RuleOutcome};
use headway_stats::{SessionAsked, Setup, UsersAsked, Workload};

const USERS: u32 = 10;

fn phases() -> [Phase; 1] {
    [Phase::hold(Nanos::from_secs(60), Rate(20.0))]
}

fn setup(sources: usize) -> Setup {
    let end = Nanos::from_secs(60);
    Setup {
        labels: vec!["list".into(), "add".into(), "look".into()],
        sources,
        measured: Nanos::ZERO..end,
        workload: Workload::Sessions,
        plan: Some(poisson(&phases())),
        users: Some(UsersAsked::hold(f64::from(USERS), end)),
        asks_per_session: vec![SessionAsked { requests: f64::from(STEPS), think_s: 0.0 }],
        ..Setup::default()
    }
}

fn told() -> Told {
    let users = closed(USERS, 0.1, BASE, 5_500, 8);
    sessions(&arrivals(&phases(), 8), usize::MAX, BASE, 8).and(users, 2)
}

#[test]
fn each_kind_is_judged_by_its_own_rules() {
    let told = told();
    let summary = told.live(setup(1), &["p(99)<50ms"]);
    let of = |due: Trigger| {
        let rows = told.records.iter().filter(|r| r.kind == Kind::Request && r.due == due);
        rows.filter(|r| r.arrived < Nanos::from_secs(60)).count() as u64
    };
    let block = summary.sessions.as_ref().unwrap();
    // Numbers of users and sessions are those of their groups: k 3 of one is not k 3 of the other.
    assert_eq!((block.n, summary.arrivals.started), (of(Trigger::Arrival), of(Trigger::Arrival)));
    assert_eq!(summary.measured.n, of(Trigger::Arrival) + of(Trigger::Step) + of(Trigger::User));
    assert_eq!(summary.thresholds[0].sessions_over.unwrap().n, block.n);
    // Sessions that came are told together with the users, and are no users.
    let held = rule(&summary, "users-held");
    assert!((held.value.unwrap() - 1.0).abs() < 1e-9, "{held:?}");
    assert_eq!(outcome(&summary, "sent-share"), RuleOutcome::Pass);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:#?}", summary.verdict.rules);
    assert_eq!(summary.response_kind, Some(ResponseKind::Mixed));
    assert_eq!(summary.response_open.as_ref().unwrap().n, of(Trigger::Arrival));
    let closed = summary.closed.as_ref().unwrap();
    assert!((closed.think_recovered.unwrap() - 0.1).abs() < 4.0 * 0.1 / (closed.think_n as f64).sqrt());
    assert!((closed.users_mean.unwrap() - 10.0 - block.active_mean.unwrap()).abs() < 1e-9);
    assert_eq!(told.live(setup(3), &["p(99)<50ms"]), summary);
    let log = told.logged(setup(1), &["p(99)<50ms"]);
    assert_eq!((&log.sessions, &log.thresholds), (&summary.sessions, &summary.thresholds));
    assert_eq!(rule(&log, "users-held").value, Some(1.0));
}

#[test]
fn users_who_went_are_missed_beside_sessions_too() {
    let mut told = told();
    told.users.push((Nanos::from_secs(6), -1));
    let summary = told.live(setup(1), &[]);
    assert!((rule(&summary, "users-held").value.unwrap() - 0.91).abs() < 1e-9);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
}
