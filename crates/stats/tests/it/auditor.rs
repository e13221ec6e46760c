//! The auditor on small loads whose numbers are known.

use crate::world::{MS, cleared, draws, evidence, exponential, finding, outcome, rule};
use headway_base::{Kind, Nanos, Outcome, Phase, Profile, Rate, Record, Stamp};
use headway_stats::audit::{AuditSetup, Auditor, QuantileRule};
use headway_stats::summary::evidence::{GeneratorCause, Load, Off, Reference};
use headway_stats::summary::{
    Column, Evidence, LoadVerdict, Pattern, RuleOutcome, Severity, Source, Stream, Summary,
};
use headway_stats::{Facts, PlanLaw, Setup, Workload};

/// Rows as a reader hands them over: ms stamps unless `grid` says otherwise, ends known, no bytes.
struct Audit {
    rows: Vec<Record>,
    seconds: i64,
    labels: usize,
    users: Vec<String>,
    plan: Option<PlanLaw>,
    change: fn(&mut AuditSetup),
}

fn row(started: i64, took: i64) -> Record {
    let at = Nanos(started);
    Record { started: at.into(), ..Record::never_started(0, at, Nanos(started + took), Outcome::Ok) }
}

impl Audit {
    fn of(seconds: i64, rows: impl IntoIterator<Item = Record>) -> Audit {
        let rows = rows.into_iter().collect();
        Audit { rows, seconds, labels: 1, users: Vec::new(), plan: None, change: |_| {} }
    }

    fn run(self) -> Summary {
        let resolution = Nanos(MS);
        let mut setup = AuditSetup {
            setup: Setup {
                labels: (0..self.labels).map(|i| cleared(&format!("label {i}"))).collect(),
                sources: 1,
                measured: Nanos::ZERO..Nanos::from_secs(self.seconds),
                workload: Workload::Foreign,
                plan: self.plan,
                resolution,
                rate: Some(self.rows.len() as f64 / self.seconds as f64),
                ..Setup::default()
            },
            users: self.users,
            generators: vec!["one".into()],
            label_counts: Vec::new(),
            stream: Stream::Requests,
            judged: Nanos::ZERO..Nanos::from_secs(self.seconds),
            ends: true,
            bytes: true,
            intended: false,
            behind: Nanos::ZERO,
            starts: self.rows.len() as u64,
            digit: resolution,
            dither_seed: 1,
            by_threads: Vec::new(),
            pages: Vec::new(),
            percentiles: vec![50.0, 90.0],
            quantiles: QuantileRule::Smallest,
            count_interval: None,
        };
        (self.change)(&mut setup);
        let mut auditor = Auditor::new(setup);
        self.rows.iter().for_each(|r| auditor.row(r));
        auditor.finish(Facts { source: Source::Import, ..Facts::default() })
    }
}

fn law(rate: f64, poisson: bool) -> Option<PlanLaw> {
    Some(PlanLaw {
        profile: Profile::new(&[Phase::hold(Nanos::from_secs(100_000), Rate(rate))]),
        gap_cdf: None,
        gap_cov: if poisson { 1.0 } else { 0.0 },
        dispersion: if poisson { 1.0 } else { 0.0 },
        poisson,
    })
}

fn poisson(rate: f64, seconds: i64, seed: u64) -> Audit {
    let (mut u, mut at) = (draws(seed), 0.0);
    let starts = std::iter::from_fn(move || {
        at += exponential(&mut u) / rate;
        Some((at * 1e3) as i64 * MS)
    });
    Audit::of(seconds, starts.take_while(|&at| at < seconds * 1000 * MS).map(|at| row(at, 3 * MS)))
}

fn constant(rate: i64, seconds: i64) -> Audit {
    Audit::of(seconds, (0..rate * seconds).map(|k| row(k * 1000 / rate * MS, 3 * MS)))
}

/// 500,000 starts: the count is told to 0.28 % and the CoV to 0.14 %, so that all rules can pass.
#[test]
fn a_load_of_the_expected_law_is_valid() {
    let summary = Audit { plan: law(50.0, true), ..poisson(50.0, 10_000, 1) }.run();
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:#?}", summary.verdict.rules);
    assert_eq!(summary.verdict.pattern, Pattern::Independent);
    let late = rule(&summary, "late-share");
    assert_eq!(late.outcome, RuleOutcome::NotApplicable);
    assert!(late.reason == Some(headway_stats::summary::Why::DueNotTold.into()));
    let share = rule(&summary, "sent-share");
    let half = 1.96 / 500_000f64.sqrt();
    assert!((share.interval.unwrap()[1] - share.value.unwrap() - half).abs() < 1e-9);
    // Over minutes a fixed number of users would show, which is told but is no defect.
    assert!(summary.verdict.rules.iter().all(|r| r.window.is_none_or(|w| w <= 1.0)));

    let summary = Audit { plan: law(100.0, false), ..constant(100, 60) }.run();
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Valid), "{:#?}", summary.verdict.rules);
    assert_eq!(summary.verdict.pattern, Pattern::Even);
}

#[test]
fn a_load_of_another_rate_or_law_is_invalid_and_a_short_one_undecided() {
    let summary = Audit { plan: law(100.0, true), ..constant(100, 60) }.run();
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
    assert_eq!(outcome(&summary, "bunching"), RuleOutcome::Fail);
    let smoothed = evidence(&summary, "smoothed");
    let expected = |off: &Off| off.from == Reference::Expectation;
    assert!(matches!(smoothed, Evidence::Load(Load::Smoothed { off }) if expected(off)), "{smoothed:?}");

    let summary = Audit { plan: law(100.0, false), ..poisson(100.0, 60, 2) }.run();
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
    let bunched = evidence(&summary, "bunched");
    let by = |cause: &GeneratorCause| *cause == GeneratorCause::InPattern;
    assert!(
        matches!(bunched, Evidence::Load(Load::Bunched { off, cause }) if expected(off) && by(cause)),
        "{bunched:?}"
    );

    for (rate, more) in [(110, 0.1), (90, -0.1)] {
        let summary = Audit { plan: law(100.0, false), ..constant(rate, 60) }.run();
        assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
        let off = evidence(&summary, "off-rate");
        assert!(
            matches!(off, Evidence::Load(Load::OffRate { share, .. }) if (share - more).abs() < 0.005),
            "{off:?}"
        );
    }

    let summary = Audit { plan: law(50.0, true), ..poisson(50.0, 60, 3) }.run();
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Inconclusive));
    assert!(finding(&summary, "short-run").is_some());
}

/// Where the file tells when requests were due the usual rules hold the starts against that.
#[test]
fn recorded_instants_of_being_due_are_held_against_the_starts() {
    let mut audit = poisson(200.0, 60, 4);
    audit.change = |setup| setup.intended = true;
    audit.plan = law(200.0, true);
    for (r, k) in audit.rows.iter_mut().zip(0..) {
        let late = if k % 10 == 0 { 5 * MS } else { 0 };
        r.started = (r.intended + Nanos(late)).into();
    }
    audit.rows.sort_by_key(|r| r.started.get());
    let summary = audit.run();
    assert_eq!(outcome(&summary, "late-share"), RuleOutcome::Fail);
    assert_eq!(outcome(&summary, "sent-share"), RuleOutcome::Pass);
    assert!(summary.arrivals.intended.is_some());
    // And without a plan nothing is judged by them, though the lag is told.
    let mut audit = poisson(200.0, 10, 4);
    audit.change = |setup| setup.intended = true;
    let summary = audit.run();
    assert_eq!((summary.verdict.load, summary.lag.n > 0), (None, true));
}

#[test]
fn without_them_lag_and_offered_rate_are_not_told() {
    let summary = poisson(200.0, 10, 5).run();
    assert_eq!((summary.lag.n, summary.blocked.n, summary.rate.offered), (0, 0, None));
    for path in ["lag", "blocked", "rate.offered", "verdict.load"] {
        assert!(summary.not_computed.contains_key(path), "{path}");
    }
}

fn column<'a>(columns: &'a [Column], label: &str) -> &'a Column {
    columns.iter().find(|c| c.label == label).unwrap()
}

#[test]
fn tables_tell_each_label_and_all() {
    // Two labels: one every 100 ms takes 10, 20, 30 ms ..., one at 50 ms and 450 ms fails.
    let mut rows: Vec<Record> =
        (0..10).map(|i| Record { bytes_received: 1_000, ..row(i * 100 * MS, (i + 1) * 10 * MS) }).collect();
    rows.extend([50, 450].map(|at| Record {
        step: 1,
        outcome: Outcome::Status,
        bytes_received: 500,
        first_byte: Nanos((at + 1) * MS).into(),
        ..row(at * MS, 1_000 * MS)
    }));
    rows.push(Record { bytes_received: 9_999, ..row(1_000 * MS, MS) });
    rows.sort_by_key(|r| r.intended);
    let summary = Audit { labels: 3, ..Audit::of(1, rows) }.run();
    let audit = summary.audit.as_ref().unwrap();
    let tables = &audit.tables;
    assert_eq!(audit.outside, 1);
    let names: Vec<_> = tables.headways.iter().map(|c| c.label.as_str()).collect();
    assert_eq!(names, ["label 0", "label 1", "Total"]);

    let first = column(&tables.headways, "label 0");
    // From 0 to the end of the last at 900 + 100 ms.
    assert_eq!((first.n, first.rate, first.median, first.min), (9, Some(9.0), Some(0.1), Some(0.1)));
    assert_eq!((first.cov, first.cov_se_poisson, first.failed), (Some(0.0), Some(1.0 / 3.0), 0));
    assert_eq!(first.bytes_per_second, Some(10_000.0));
    let total = column(&tables.headways, "Total");
    assert_eq!((total.n, total.failed, total.percentiles.as_slice()), (11, 2, &[Some(0.1), Some(0.1)][..]));
    assert_eq!((total.min, total.rate), (Some(0.05), Some(11.0 / 1.45)));

    let response = column(&tables.response, "label 0");
    assert!((response.mean.unwrap() - 0.055).abs() < 1e-12);
    assert!((response.sd.unwrap() - 0.030_276_503_5).abs() < 1e-9, "{response:?}");
    assert_eq!(response.median, Some(0.05));
    assert_eq!((response.n, response.min, response.max), (10, Some(0.01), Some(0.1)));
    let total = column(&tables.response, "Total");
    assert_eq!((total.n, total.max, total.cov_se_poisson), (12, Some(1.0), None));
    let bandwidth = column(&tables.bandwidth, "label 1");
    assert_eq!((bandwidth.n, bandwidth.mean), (2, Some(500.0)));
    assert_eq!(column(&tables.bytes, "Total").mean, Some(11_000.0 / 12.0));
    // The first byte is known of one label only; the other has a row without numbers.
    assert_eq!(
        (column(&tables.first_byte, "label 1").mean, column(&tables.first_byte, "label 0").n),
        (Some(0.001), 0)
    );
}

/// Two users in turn, one of them with a break.
#[test]
fn think_times_are_recovered_unless_users_overlap() {
    let users = || vec!["u-2".to_owned(), "u-1".to_owned()];
    let turn = |took: i64| {
        let of = move |user: u32| {
            (0..50).map(move |i| Record { user, ..row((i * 200 + i64::from(user) * 70) * MS, took) })
        };
        let mut rows: Vec<Record> = of(0).chain(of(1)).collect();
        rows.sort_by_key(|r| r.intended);
        Audit { users: users(), ..Audit::of(10, rows) }.run()
    };
    let summary = turn(30 * MS);
    let closed = summary.closed.unwrap();
    assert_eq!((closed.think_n, closed.users, closed.in_flight_max), (98, Some(2.0), Some(1)));
    assert!((closed.think.unwrap() - 0.17).abs() < 1e-9 && closed.think_sd.unwrap() < 1e-9);
    assert!((closed.rort.unwrap() - 0.15).abs() < 1e-9);
    let groups: Vec<_> = summary.thread_groups.iter().map(|g| (g.name.as_str(), g.users, g.n)).collect();
    assert_eq!(groups, [("1", 1, 49), ("1-2", 2, 99)]);
    // The first by number is the second by place: its headways are all 200 ms.
    assert_eq!(summary.thread_groups[0].headway_sd, Some(0.0));

    let summary = turn(250 * MS);
    assert!(summary.closed.unwrap().think.is_none());
    assert_eq!(
        summary.not_computed["closed.think"].why,
        headway_stats::summary::Why::SeveralAtOnce { overlap: 98, of: 98 }
    );
}

/// Sessions at random, each of five requests a millisecond apart.
#[test]
fn where_sessions_are_known_they_are_judged() {
    let audit = poisson(100.0, 1_000, 6);
    let mut rows = Vec::new();
    for r in &audit.rows {
        rows.push(Record { kind: Kind::Session, step: 0, ..*r });
        rows.extend((0..5).map(|i| row(r.intended.0 + i * MS, MS)));
    }
    rows.sort_by_key(|r| r.intended);
    let sessions = audit.rows.len() as u64;
    let requests =
        rows.iter().filter(|r| r.kind == Kind::Request && r.intended < Nanos::from_secs(1_000)).count()
            as u64;
    let of = |stream: fn(&mut AuditSetup)| {
        Audit { change: stream, ..Audit::of(1_000, rows.iter().copied()) }.run()
    };
    let judged = of(|setup| {
        setup.stream = Stream::Sessions;
        setup.setup.rate = Some(100.0);
    });
    assert_eq!(judged.verdict.pattern, Pattern::Independent, "{:?}", judged.arrivals.dispersion);
    assert_eq!((judged.arrivals.started, judged.rate.n), (sessions, requests));
    let told = finding(&judged, "sessions-judged").unwrap();
    assert_eq!((told.severity, told.n), (Severity::Info, sessions));
    let table = &judged.audit.as_ref().unwrap().tables.headways;
    assert_eq!(table.last().unwrap().n, requests - 1);
    assert_eq!(of(|_| {}).verdict.pattern, Pattern::Bunched);
}

#[test]
fn a_file_without_ends_has_no_response_times() {
    let mut audit = poisson(50.0, 60, 7);
    audit.change = |setup| setup.ends = false;
    for r in &mut audit.rows {
        (r.done, r.first_byte) = (r.intended, Stamp::NONE);
    }
    let summary = audit.run();
    assert!(
        summary.closed.is_none() && summary.response.n == 0 && summary.curves.percentiles.response.is_empty()
    );
    assert!(summary.audit.unwrap().tables.response.is_empty());
    assert_eq!(summary.not_computed["response"].why, headway_stats::summary::Why::EndsNotTold);
    assert_eq!(summary.not_computed.keys().filter(|k| k.starts_with("response.")).count(), 0);
}
