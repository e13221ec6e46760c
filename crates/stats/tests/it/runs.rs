//! Whole runs: warm-up, pauses, interruption, censoring, several sources, and the conservation of counts.

use crate::world::{MS, World, answered, draws, evidence, finding};
use headway_base::{Kind, Nanos, Outcome, Phase, Rate, Record};
use headway_stats::summary::evidence::Run;
use headway_stats::summary::{self, Evidence, Summary};
use headway_stats::{Analysis, Facts};
use proptest::prelude::*;

#[test]
fn any_number_of_sources_gives_the_numbers_of_one() {
    let mut world = World::poisson(800.0, 6, 1);
    world.labels = vec!["a".into(), "b".into(), "c".into()];
    let world = world.with(|r| {
        r.step = (r.k * 7 % 3) as u16;
        if r.k % 17 == 0 {
            r.outcome = Outcome::Timeout;
        }
    });
    let one = world.analyse();
    assert_eq!(one.by_label.len(), 3);
    assert_eq!(one.arrivals.by_label.values().map(|l| l.n + 1).sum::<u64>(), one.arrivals.started);
    for sources in 2..=8 {
        assert_eq!(world.analyse_over(sources), one, "{sources}");
    }
}

#[test]
fn the_document_survives_a_round_trip() {
    let summary = World::poisson(300.0, 5, 2).analyse();
    let text = serde_json::to_string(&summary).unwrap();
    let back: Summary = serde_json::from_str(&text).unwrap();
    assert_eq!(back.schema, summary::SCHEMA);
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["verdict"]["load"], "VALID");
    assert_eq!(value["source"], "live");
    assert!(value["response"]["ci95"]["p999"].is_null());
    assert!(value["not_computed"]["response.ci95.p999"]["why"].is_string());
}

#[test]
fn warm_up_is_left_out_and_counted() {
    let mut world = World::poisson(1000.0, 10, 3);
    world.measured.start = Nanos::from_secs(2);
    let world = world.with(|r| {
        if r.intended < Nanos::from_secs(2) {
            r.done = r.intended + Nanos::from_secs(30);
        }
    });
    let summary = world.analyse();
    let warmup = world.records.iter().filter(|r| r.intended < Nanos::from_secs(2)).count() as u64;
    assert_eq!(summary.measured.warmup, warmup);
    assert_eq!(summary.measured.n + warmup, world.records.len() as u64);
    assert_eq!(summary.arrivals.n, summary.measured.n - 1, "the straddling headway is left out");
    assert!(summary.response.max < Some(1.0));
    assert_eq!(summary.series.iter().map(|r| r.started).sum::<u64>(), world.records.len() as u64);
}

#[test]
fn a_pause_is_no_headway_and_a_start_within_it_belongs_to_its_beginning() {
    let s = Nanos::from_secs;
    let mut world = World::poisson(1000.0, 30, 4);
    world.phases =
        vec![Phase::hold(s(10), Rate(1000.0)), Phase::pause(s(10)), Phase::hold(s(10), Rate(1000.0))];
    world.records.retain(|r| !(s(10)..s(20)).contains(&r.intended));
    let n = world.records.iter().filter(|r| r.intended < s(10)).count();
    // The last five before the pause start 100 ms late, within it.
    world.records[n - 5..n].iter_mut().for_each(|r| {
        r.started = (r.intended + Nanos(100 * MS)).into();
        r.sent = r.started;
    });
    let summary = world.analyse();
    assert_eq!(summary.arrivals.in_pause, 5);
    assert!(finding(&summary, "in-pause").is_some());
    // The plain CoV sees a headway of 10 s; the rescaled one does not, nor does dispersion.
    assert!(summary.arrivals.cov.unwrap() > 5.0);
    assert!(summary.arrivals.ks.plan.unwrap().p > 0.001, "{:?}", summary.arrivals.ks);
    let at_10ms = summary.arrivals.dispersion.iter().find(|d| d.window == 0.01).unwrap();
    assert!((at_10ms.index - 1.0).abs() < 4.0 * at_10ms.se, "{at_10ms:?}");
    assert!((1990..=2000).contains(&at_10ms.windows), "{at_10ms:?}");
    assert_ne!(summary.verdict.pattern, summary::Pattern::Bunched);
}

#[test]
fn a_ramp_within_the_measured_phase_is_not_bunching() {
    let s = Nanos::from_secs;
    let mut world = World::empty(1.0, 40);
    world.phases = vec![Phase::ramp(s(40), Rate(0.0), Rate(2000.0))];
    let profile = headway_base::Profile::new(&world.phases);
    let (mut at, mut draws) = (0.0, draws(5));
    for k in 0.. {
        at += crate::world::exponential(&mut draws);
        if at >= profile.total() {
            break;
        }
        let due = profile.inverse(at).0;
        world.records.push(answered(k, due, due, MS));
    }
    let summary = world.analyse();
    assert!(summary.arrivals.ks.plan.unwrap().p > 0.001, "{:?}", summary.arrivals.ks);
    for row in &summary.arrivals.dispersion {
        assert!((row.index - 1.0).abs() < 4.0 * row.se.max(0.01), "{row:?}");
    }
    assert_eq!(summary.verdict.pattern, summary::Pattern::Independent, "{:#?}", summary.arrivals.dispersion);
}

fn cut(at_s: f64) -> Summary {
    let mut world = World::poisson(500.0, 40, 6);
    let at = Nanos::from_secs_f64(at_s);
    world.records.retain(|r| r.intended < at);
    world.facts.interrupted_at = Some(at);
    world.analyse()
}

#[test]
fn an_interrupted_run_uses_the_segments_that_were_complete() {
    let summary = cut(13.0);
    assert!(summary.measured.interrupted && summary.measured.to_s == 13.0);
    assert!((summary.rate.started.unwrap() / 500.0 - 1.0).abs() < 0.05);
    assert!(summary.response.ci95.mean.is_some() && summary.response.ci95.p90.is_some());
    let interrupted = evidence(&summary, "interrupted");
    assert!(
        matches!(interrupted, Evidence::Run(Run::Interrupted { complete: 6, of: 20, .. })),
        "{interrupted:?}"
    );
    let summary = cut(9.0);
    assert!(summary.response.ci95.mean.is_none());
    assert!(matches!(
        summary.not_computed["response.ci95.mean"].why,
        headway_stats::summary::Why::Segments { filled: 4, of: 20, .. }
    ));
    assert!(summary.response.p90.is_some());
}

#[test]
fn requests_without_an_answer_make_lower_bounds() {
    // One in 50 is given up after 2 s; all others take at most 100 ms.
    let summary = World::poisson(500.0, 20, 7)
        .with(|r| {
            if r.k % 50 == 0 {
                (r.outcome, r.done) = (Outcome::Timeout, r.intended + Nanos::from_secs(2));
            }
        })
        .analyse();
    let response = &summary.response;
    assert!((response.p99.unwrap() - 2.0).abs() < 0.002);
    assert_eq!(response.lower_bound.get("p99"), Some(&true));
    assert_eq!(response.lower_bound.get("max"), Some(&true));
    assert_eq!(response.lower_bound.get("mean"), Some(&true));
    assert_eq!(response.lower_bound.get("p95"), None);
    assert!(response.ci95.p99.is_none() && response.ci95.p95.is_some());
    assert_eq!(summary.not_computed["response.ci95.p99"].why, headway_stats::summary::Why::GivenUp);
    assert!(response.ci95.mean.is_none() && summary.response_ok.ci95.mean.is_some());
    assert!(matches!(
        summary.not_computed["response.ci95.mean"].why,
        headway_stats::summary::Why::MeanGivenUp { given_up: 150..250, of: 9_000.. }
    ));
    assert!(summary.response_ok.lower_bound.is_empty() && summary.response_ok.p99 < Some(0.1));
    let Evidence::Run(Run::Censored { n, of: 10_000.., bounds }) = evidence(&summary, "censored") else {
        panic!("{:?}", summary.verdict.findings)
    };
    assert!(*n == response.censored && bounds.contains(&"p99".to_owned()), "{n} {bounds:?}");
    assert!(summary.curves.percentiles.response.iter().any(|p| p.lower_bound));
}

/// Given up early: the censored lie among the answered, and only Q_high shows that they may be longer.
#[test]
fn censored_values_below_a_quantile_still_raise_it() {
    let mut world = World::empty(1000.0, 10);
    world.records = (0..10_000)
        .map(|k| answered(k, k as i64 * MS, k as i64 * MS, (k as i64 % 1000 + 1) * 100_000))
        .collect();
    let world = world.with(|r| {
        if r.k % 10 == 0 {
            (r.outcome, r.done) = (Outcome::Reset, r.intended + Nanos(50_000));
        }
    });
    let response = world.analyse().response;
    // A tenth is known only to be longer than 50 us: the median may be anything from 45 to 55 ms.
    assert!((response.p50.unwrap() - 0.0445).abs() < 0.0006, "{response:?}");
    assert_eq!(response.lower_bound.get("p50"), Some(&true));
}

#[test]
fn starts_without_a_record_are_told() {
    let world = World::poisson(500.0, 10, 8);
    let mut analysis = Analysis::new(world.setup(1));
    let mut cut = world.clone();
    cut.records.truncate(100);
    cut.feed(&mut analysis, 1);
    let extra = headway_base::Start::arrival(Nanos::from_secs(9), Nanos::from_secs(9), 0);
    analysis.batch(&headway_base::Batch {
        starts: vec![extra],
        last: true,
        ..headway_base::Batch::default()
    });
    let snapshot = analysis.snapshot(Nanos::from_secs(9));
    assert_eq!((snapshot.started, snapshot.ended), (101, 100));
    let summary = analysis.finish(Facts::default());
    assert_eq!(finding(&summary, "unaccounted").unwrap().value, Some(1.0));
}

#[test]
fn nothing_at_all_is_a_summary_too() {
    let mut world = World::empty(10.0, 10);
    world.labels.clear();
    let summary = world.analyse_over(3);
    assert_eq!((summary.arrivals.n, summary.response.n, summary.rate.started), (0, 0, Some(0.0)));
    assert!(summary.not_computed.contains_key("response") && summary.not_computed.contains_key("arrivals"));
    world.measured = Nanos::ZERO..Nanos::ZERO;
    assert_eq!(world.analyse().measured.n, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Every request that fell due ends in exactly one count, whatever became of it and whichever user sent it.
    #[test]
    fn counts_add_up(
        rows in prop::collection::vec((0i64..10_000, 0u8..16, 0i64..3_000, 1u32..4), 0..120),
        sources in 1usize..5,
        warmup in 0i64..5,
    ) {
        let mut world = World::empty(10.0, 10);
        world.measured.start = Nanos::from_secs(warmup);
        let mut rows = rows;
        rows.sort_unstable();
        world.records = (0u64..).zip(&rows).map(|(k, &(due, outcome, response, count))| {
            let outcome = Outcome::from_code(outcome).unwrap();
            let due = due * MS;
            let mut record = answered(k, due, due, response * MS);
            record.outcome = outcome;
            if matches!(outcome, Outcome::Shed | Outcome::Unsent) {
                record = Record::never_started(k, Nanos(due), Nanos(due + response * MS), outcome);
                record.count = count;
            }
            record
        }).collect();
        let planned: u64 = world.records.iter().map(|r| u64::from(r.count)).sum();
        let summary = world.analyse_over(sources);
        let outcomes: u64 = summary.outcomes.values().sum();
        prop_assert_eq!(outcomes, summary.measured.n);
        prop_assert_eq!(outcomes + summary.measured.warmup + summary.measured.after, planned);
        // What was not sent has no times.
        let not_sent = |r: &&Record| r.is_not_sent();
        let all: u64 = world.records.iter().filter(not_sent).map(|r| u64::from(r.count)).sum();
        let measured = |r: &&Record| not_sent(r) && world.measured.contains(&r.arrived);
        let within: u64 = world.records.iter().filter(measured).map(|r| u64::from(r.count)).sum();
        prop_assert_eq!(summary.response.n, outcomes - within);
        prop_assert_eq!(summary.blocked.n, outcomes - within);
        prop_assert_eq!(summary.series.iter().map(|r| r.completed + r.failed).sum::<u64>(), planned);
        prop_assert_eq!(summary.series.iter().map(|r| r.n).sum::<u64>(), planned - all);
        if let Some(curve) = &summary.curves.headway {
            let binned: u64 = curve.bins.iter().map(|b| b.observed).sum::<u64>() + curve.tail.observed;
            prop_assert_eq!(binned, summary.arrivals.n);
            let expected: f64 = curve.bins.iter().map(|b| b.expected).sum::<f64>() + curve.tail.expected;
            prop_assert!((expected - summary.arrivals.n as f64).abs() < 1e-6);
        }
    }
}

#[test]
fn failures_are_counted_by_outcome_status_and_step() {
    let mut world = World::poisson(500.0, 4, 11);
    world.labels = vec!["list".into(), "add".into()];
    let mut expected = std::collections::BTreeMap::new();
    for (i, record) in world.records.iter_mut().enumerate() {
        record.step = (i % 2) as u16;
        (record.outcome, record.status) = match i % 20 {
            1..=3 => (Outcome::Status, 503),
            4 => (Outcome::Status, 429),
            5 => (Outcome::Check, 200),
            6 => (Outcome::Timeout, 0),
            _ => continue,
        };
        let step = world.labels[usize::from(record.step)].clone();
        let status = (record.status > 0).then_some(record.status);
        *expected.entry((record.outcome.name().to_owned(), status, Some(step))).or_insert(0) += 1;
    }
    let summary = world.analyse();
    let failures = &summary.failures;
    assert!(failures.is_sorted_by_key(|failure| std::cmp::Reverse(failure.n)), "{failures:?}");
    let counted = failures.iter().map(|f| ((f.outcome.clone(), f.status, f.step.clone()), f.n)).collect();
    assert_eq!(expected, counted);
    let failed: u64 = failures.iter().map(|failure| failure.n).sum();
    assert_eq!(failed, summary.outcomes.values().sum::<u64>() - summary.outcomes["ok"]);
    // One step needs no name.
    world.labels.truncate(1);
    world.records.iter_mut().for_each(|record| record.step = 0);
    assert!(world.analyse().failures.iter().all(|failure| failure.step.is_none()));
}

/// Attempts are rows beside those of their requests: they are told, and count as no request.
#[test]
fn requests_that_were_sent_again_are_a_finding_and_count_once() {
    let mut world = World::constant(100.0, 2);
    let before = world.analyse();
    assert!(finding(&before, "sent-again").is_none());
    let again = |attempt, outcome, k: usize| {
        let row = world.records[k];
        Record { kind: Kind::Attempt, attempt, outcome, done: row.intended, ..row }
    };
    let back = Outcome::RefusedStream;
    let rows = [
        again(0, back, 3),
        again(1, Outcome::Ok, 3),
        again(0, back, 7),
        again(1, back, 7),
        again(2, back, 7),
    ];
    world.records.extend(rows);
    world.records.sort_by_key(|row| row.done);
    let after = world.analyse();
    let told = evidence(&after, "sent-again");
    let Evidence::Run(Run::SentAgain { n: 2, of: 200, times: 3 }) = told else { panic!("{told:?}") };
    assert_eq!((after.outcomes, after.response), (before.outcomes, before.response));
}

/// Reports what came on connections after the end of a response, with how many were replaced for it.
#[test]
fn connections_that_were_replaced_for_surplus_bytes_are_a_finding() {
    let with = |surplus: Option<u64>| {
        let mut world = World::constant(100.0, 2);
        let generator =
            summary::Generator { connections_opened: Some(200), surplus, ..summary::Generator::default() };
        world.facts = Facts { generator: Some(generator), ..Facts::default() };
        world.analyse()
    };
    let Evidence::Run(Run::Surplus { n: 198, of: 200 }) = evidence(&with(Some(198)), "surplus") else {
        panic!("no such finding")
    };
    for none in [None, Some(0)] {
        assert!(finding(&with(none), "surplus").is_none());
    }
}
