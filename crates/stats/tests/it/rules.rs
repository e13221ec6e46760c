//! Each rule passing, failing, and undecided; the pattern; and the findings that go with them.

use crate::world::{MS, World, answered, draws, evidence, exponential, finding, outcome, rule};
use headway_base::{Nanos, Outcome, Record, Stamp};
use headway_stats::summary::evidence::{HeldBackBy, Load, Loop, OpenRule, Reference, Run, Starts};
use headway_stats::summary::{
    Evidence, Generator, LoadVerdict, Pattern, PlanSummary, RuleId, RuleOutcome, Severity, Stall, Summary,
    WorkerTime,
};
use headway_stats::{DepartureBin, Workload};

use RuleOutcome::{Fail, NotApplicable, Pass, Undecided};

fn never(record: &mut Record, outcome: Outcome) {
    *record = Record::never_started(record.k, record.intended, record.intended + Nanos(MS), outcome);
}

fn delay(record: &mut Record, by: i64) {
    record.started = (record.intended + Nanos(by)).into();
    record.sent = record.started;
}

#[test]
fn poisson_traffic_sent_on_time_is_valid_and_independent() {
    let summary = World::poisson(2000.0, 40, 1).analyse();
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:#?}", summary.verdict);
    assert_eq!(summary.verdict.pattern, Pattern::Independent, "{:#?}", summary.arrivals);
    for id in ["sent-share", "late-share", "bunching", "dispersion"] {
        let id = RuleId::from(id);
        assert!(summary.verdict.rules.iter().filter(|r| r.rule == id).all(|r| r.outcome == Pass), "{id}");
    }
    assert_eq!(summary.verdict.rules.iter().filter(|r| r.rule == RuleId::Dispersion).count(), 4);
    assert_eq!(outcome(&summary, "users-held"), NotApplicable);
    assert_eq!(summary.verdict.findings, []);
}

#[test]
fn constant_traffic_is_valid_and_even() {
    let summary = World::constant(1000.0, 30).analyse();
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:#?}", summary.verdict);
    assert_eq!(summary.verdict.pattern, Pattern::Even);
    assert!(summary.arrivals.ks.plan.is_none());
    assert!(summary.not_computed.contains_key("arrivals.ks.plan"));
}

#[test]
fn missing_arrivals_fail_the_sent_share() {
    let summary_of = |every: u64, outcome| {
        World::poisson(1000.0, 20, 2)
            .with(|r| {
                if r.k % every == 0 {
                    never(r, outcome)
                }
            })
            .analyse()
    };
    let summary = |every| summary_of(every, Outcome::Unsent);
    let bad = summary(20);
    assert_eq!((outcome(&bad, "sent-share"), bad.verdict.load), (Fail, Some(LoadVerdict::Invalid)));
    let unsent = finding(&bad, "unsent").unwrap();
    assert!(unsent.severity == Severity::Error && !unsent.at.is_empty(), "{unsent:?}");
    let [Evidence::Load(Load::Unsent { n, of, gave_up: 0, others, .. })] = unsent.evidence[..] else {
        panic!("{unsent:?}")
    };
    assert!(n == others && of == bad.measured.n && of.div_ceil(20) == n, "{n} of {of}");
    assert_eq!(outcome(&summary(1000), "sent-share"), Pass);
    assert_eq!(outcome(&summary(100), "sent-share"), Undecided);
    // What the connection cap kept for good is missing too, by no fault of the generator's.
    let shed = summary_of(20, Outcome::Shed);
    let limited = shed.verdict.limited_by.as_ref().unwrap();
    assert_eq!((outcome(&shed, "sent-share"), shed.verdict.load), (Fail, Some(LoadVerdict::Invalid)));
    assert_eq!((limited.what.as_str(), shed.vouch().load), ("cap", Some(LoadVerdict::Valid)));
    assert_eq!(bad.vouch().load, Some(LoadVerdict::Invalid));
    assert!(limited.matters() && (limited.share - 0.05).abs() < 0.001 && limited.waited == 0, "{limited:?}");
    assert_eq!(finding(&shed, "unsent").unwrap().severity, Severity::Error);
}

#[test]
fn one_row_may_stand_for_many_that_never_started() {
    let mut world = World::constant(100.0, 10);
    let mut run = Record::never_started(500, Nanos::from_secs(5), Nanos::from_secs(6), Outcome::Unsent);
    run.count = 100;
    world.records.retain(|r| !(500..600).contains(&r.k));
    world.records.push(run);
    let summary = world.analyse();
    assert_eq!(summary.measured.n, 1000);
    assert_eq!(summary.outcomes["unsent"], 100);
    assert_eq!(rule(&summary, "sent-share").value, Some(0.9));
    assert_eq!((summary.response.n, summary.response.censored), (900, 0));
}

#[test]
fn late_arrivals_fail_the_late_share_and_say_when() {
    let late = |share: u64| {
        World::poisson(1000.0, 20, 3)
            .with(|r| {
                if r.k % 1000 < share {
                    delay(r, 3 * MS)
                }
            })
            .analyse()
    };
    let bad = late(50);
    assert_eq!((outcome(&bad, "late-share"), bad.verdict.load), (Fail, Some(LoadVerdict::Invalid)));
    assert_eq!(outcome(&late(1), "late-share"), Pass);
    assert_eq!(outcome(&late(10), "late-share"), Undecided);
    let found = finding(&bad, "late").unwrap();
    // The first 50 of each 1,000, and so one stretch a second.
    assert!((15..=22).contains(&found.at.len()), "{:?}", found.at);
    assert!((bad.lag.max.unwrap() - 0.003).abs() < 1e-6);
}

/// A request every other millisecond is watched; some stay in the machine's send queues in the second half of the run.
#[test]
fn requests_that_did_not_leave_the_machine_fail_the_rule_and_are_named() {
    let analysed = |late: u64, by_target: u64| {
        let mut world = World::poisson(1000.0, 20, 3);
        let bin = |i: i64| DepartureBin {
            at: Nanos::from_millis(100 * i + 50),
            watched: 50,
            over: vec![(Nanos(MS), if i < 100 { 0 } else { late }), (Nanos(5 * MS), late / 2)],
            by_target,
        };
        world.facts.departures = (0..300).map(bin).collect();
        world.facts.generator = Some(Generator::default());
        world.analyse()
    };
    let bad = analysed(5, 0);
    assert_eq!((outcome(&bad, "departed-late"), bad.verdict.load), (Fail, Some(LoadVerdict::Invalid)));
    let departures = bad.generator.as_ref().unwrap().departures.clone().unwrap();
    // What was sent after the measured phase is not counted.
    assert_eq!((departures.n, departures.late, departures.after_s), (10_000, 500, 0.001));
    let found = finding(&bad, "uplink").unwrap();
    let uplink = Load::Uplink { late: 500, n: 10_000, after_s: 0.001, bytes_per_s: departures.bytes_per_s };
    assert!(found.severity == Severity::Error && found.evidence == [uplink.into()], "{found:?}");
    assert!((found.at[0][0] - 10.0).abs() < 0.1, "{:?}", found.at);
    let sound = analysed(0, 0);
    assert_eq!((outcome(&sound, "departed-late"), sound.verdict.load), (Pass, Some(LoadVerdict::Valid)));
    assert!(finding(&sound, "uplink").is_none());
    assert_eq!(outcome(&analysed(1, 0), "departed-late"), Undecided);
    // A target that does not read is no defect of the load.
    let slow = analysed(0, 10);
    assert_eq!((outcome(&slow, "departed-late"), slow.verdict.load), (Pass, Some(LoadVerdict::Valid)));
    let window = evidence(&slow, "target-window");
    assert!(
        matches!(window, Evidence::Load(Load::TargetWindow { late: 2_000, n: 10_000, .. })),
        "{window:?}"
    );
    let untold = World::poisson(1000.0, 20, 3).analyse();
    assert_eq!(outcome(&untold, "departed-late"), NotApplicable);
}

#[test]
fn fifty_arrivals_prove_nothing() {
    let summary = World::constant(5.0, 10).analyse();
    assert_eq!(outcome(&summary, "late-share"), Undecided);
    assert_eq!(outcome(&summary, "bunching"), Undecided);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Inconclusive));
    let Evidence::Run(Run::Undecided { rules }) = evidence(&summary, "short-run") else {
        panic!("{:?}", summary.verdict.findings)
    };
    let late = OpenRule { rule: RuleId::LateShare, window_s: None, n: 50 };
    assert!(rules.contains(&late), "{rules:?}");
}

/// Starts held back to the next tick of 10 ms leave in bunches.
fn ticked(rate: f64, tick: i64) -> Summary {
    World::poisson(rate, 20, 4).with(|r| delay(r, (r.intended.0 / tick + 1) * tick - r.intended.0)).analyse()
}

#[test]
fn a_timer_tick_is_found_to_bunch() {
    let summary = ticked(1000.0, 10 * MS);
    assert_eq!(outcome(&summary, "bunching"), Fail);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
    assert_eq!(summary.verdict.pattern, Pattern::Bunched);
    let bunched = evidence(&summary, "bunched");
    assert!(
        matches!(bunched, Evidence::Load(Load::Bunched { off, .. }) if off.from == Reference::Plan && off.by > 0.0),
        "{bunched:?}"
    );
    let at_1ms = summary.verdict.rules.iter().find(|r| r.window == Some(0.001)).unwrap();
    assert_eq!(at_1ms.outcome, Fail);
}

#[test]
fn spacing_out_is_smoothed_or_where_sends_overlap_serialised() {
    let spaced = |send_cost: Option<Nanos>| {
        let mut world = World::poisson(100.0, 300, 5);
        let mut free = 0;
        world = world.with(|r| {
            let at = r.intended.0.max(free);
            free = at + 6 * MS;
            r.started = Nanos(at).into();
            r.sent = r.started;
        });
        world.facts.send_cost = send_cost;
        world.analyse()
    };
    let summary = spaced(None);
    assert_eq!((outcome(&summary, "bunching"), summary.verdict.load), (Fail, Some(LoadVerdict::Invalid)));
    assert!(finding(&summary, "smoothed").is_some() && finding(&summary, "serialised").is_none());
    let summary = spaced(Some(Nanos::from_millis(3)));
    assert_eq!(outcome(&summary, "bunching"), Pass);
    let found = finding(&summary, "serialised").unwrap();
    assert!(found.severity == Severity::Info && found.value < Some(-0.1), "{found:?}");
}

#[test]
fn waiting_for_connections_is_feedback_and_not_lateness() {
    let mut world = World::poisson(1000.0, 20, 6).with(|r| {
        // For a fifth of the run the target is slow and every arrival waits 5 ms.
        if (4_000..8_000).contains(&(r.intended.0 / MS)) {
            r.wait = Nanos(5 * MS);
            delay(r, 5 * MS + 2_000);
            r.first_byte = (r.intended + Nanos(65 * MS)).into();
            r.done = r.intended + Nanos(65 * MS);
        }
    });
    world.facts.plan = Some(PlanSummary { connections: Some(50), ..PlanSummary::default() });
    let summary = world.analyse();
    assert_eq!(outcome(&summary, "late-share"), Pass);
    let found = finding(&summary, "feedback").unwrap();
    assert!((found.value.unwrap() - 0.2).abs() < 0.02);
    let [Evidence::Loop(Loop::HeldBack { cap: Some(50), cause: HeldBackBy::Target { times }, .. })] =
        found.evidence[..]
    else {
        panic!("{found:?}")
    };
    assert!(times >= 2.0, "{times}");
    assert!((found.at[0][0] - 4.0).abs() < 0.1 && found.at.len() == 1, "{:?}", found.at);
    assert!((summary.blocked.max.unwrap() - 0.005).abs() < 1e-6);
}

#[test]
fn stalls_and_saturation_come_from_the_generators_report() {
    let mut world = World::poisson(500.0, 10, 7);
    let stall = |at_s, length_s| Stall { at_s, length_s, ..Stall::default() };
    world.facts.generator = Some(Generator {
        workers: vec![WorkerTime {
            handling: 9.0,
            polling: 0.5,
            sleeping: 0.5,
            runqueue_wait: None,
            processor: None,
        }],
        stalls: vec![stall(1.0, 0.004), stall(2.0, 0.0005), stall(3.0, 0.002), stall(40.0, 1.0)],
        same_host_as_target: Some(true),
        ..Generator::default()
    });
    let summary = world.analyse();
    let found = finding(&summary, "stall").unwrap();
    assert_eq!((found.n, found.value, found.at.len()), (2, Some(0.004), 2));
    assert!((finding(&summary, "saturated").unwrap().value.unwrap() - 0.9).abs() < 1e-12);
    assert!(finding(&summary, "same-host").is_some());
}

#[test]
fn failures_and_the_generators_own_limits_are_told() {
    let summary = World::poisson(500.0, 10, 8)
        .with(|r| match r.k % 50 {
            0 => r.outcome = Outcome::Status,
            1 => never(r, Outcome::LocalLimit),
            _ => {}
        })
        .analyse();
    assert!(finding(&summary, "errors").unwrap().severity == Severity::Warning);
    assert!(finding(&summary, "local-limit").unwrap().severity == Severity::Error);
    assert!(summary.response_ok.n < summary.response.n);
}

#[test]
fn a_foreign_log_has_a_pattern_and_no_load_verdict() {
    let mut world = World::poisson(2000.0, 40, 9);
    world.workload = Workload::Foreign;
    let summary = world.analyse();
    assert_eq!(summary.verdict.load, None);
    assert!(summary.not_computed.contains_key("verdict.load"));
    assert_eq!(summary.verdict.pattern, Pattern::Independent);
    assert!(summary.verdict.rules.iter().all(|r| r.outcome == NotApplicable));
    assert!(summary.arrivals.intended.is_none());
}

/// 100 users with part constant, part exponential think times are a fixed population.
#[test]
fn a_closed_test_looks_independent_up_close_and_fixed_from_afar() {
    let mut draws = draws(10);
    let mut next: std::collections::BinaryHeap<std::cmp::Reverse<i64>> =
        (0..100).map(|_| std::cmp::Reverse((exponential(&mut draws) * 5e8) as i64)).collect();
    let mut world = World::empty(200.0, 300);
    world.workload = Workload::Foreign;
    let mut k = 0;
    while let Some(std::cmp::Reverse(at)) = next.pop() {
        if at >= world.measured.end.0 {
            break;
        }
        world.records.push(answered(k, at, at, MS));
        next.push(std::cmp::Reverse(at + 250 * MS + (exponential(&mut draws) * 2.5e8) as i64));
        k += 1;
    }
    let summary = world.analyse();
    let cov = summary.arrivals.cov.unwrap();
    assert!((cov - 1.0).abs() < 0.05, "{cov}");
    assert!(finding(&summary, "fixed-population").is_some(), "{:?}", summary.arrivals.dispersion);
}

#[test]
fn blurred_stamps_leave_the_pattern_to_dispersion() {
    let mut world = World::poisson(2000.0, 40, 11).with(|r| {
        r.intended = Nanos(r.intended.0 / MS * MS);
        r.started = r.intended.into();
        r.sent = Stamp::NONE;
    });
    world.resolution = Nanos(MS);
    let summary = world.analyse();
    assert!(summary.arrivals.cov.unwrap() > 1.2 && summary.arrivals.cov_as_stamped.is_none());
    assert_eq!(summary.verdict.pattern, Pattern::Independent);
    let Evidence::Starts(Starts::CoarseStamps { window_s, .. }) = evidence(&summary, "coarse-stamps") else {
        panic!("{:?}", summary.verdict.findings)
    };
    assert!((window_s - 0.01).abs() < 1e-12, "{window_s}");
}

/// A hundred headways of independent users look regular or bunched often enough by chance: the pattern must not be sure of
/// it more often than its 95 % promise, within 4 standard errors of 200 trials.
#[test]
fn short_runs_of_independent_users_are_seldom_called_anything_else() {
    let called = |seed: u64| World::poisson(100.0, 1, seed).analyse().verdict.pattern;
    let wrong = (0..200).filter(|&seed| matches!(called(seed), Pattern::Even | Pattern::Bunched)).count();
    let most = 200.0 * 0.05 + 4.0 * (200.0f64 * 0.05 * 0.95).sqrt();
    assert!(wrong as f64 <= most, "{wrong} of 200");
    // And yet a metronome shows within a second.
    assert_eq!(World::constant(100.0, 1).analyse().verdict.pattern, Pattern::Even);
}
