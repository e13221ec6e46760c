//! Audits of other tools' results. The numbers of test 1830 are real (`audit_1830.py` computes them from the file); the
//! others are plausible and made by hand.

use super::arrivals;
use super::parts::{block, curves, dispersion, outcomes, series};
use headway_stats::Summary;
use headway_stats::summary::evidence::{Cause, Starts};
use headway_stats::summary::{
    Audit, AuditFile, Closed, Column, CountBin, CountCurve, Dispersion, Finding, HeadwayCurve, Ks, Measured,
    P99Off, Pattern, RateSummary, Resolution, SCHEMA, Severity, Source, StampsHow, Stated, Stream, Supported,
    Tables, Text, ThreadGroup, Verdict, Why,
};
use serde::Deserialize;

/// What `audit_1830.py` wrote.
#[derive(Deserialize)]
struct Test1830 {
    tables: Tables,
    thread_groups: Vec<ThreadGroup>,
    dispersion: Vec<Dispersion>,
    headway: HeadwayCurve,
    counts: CountCurve,
}

const SMALLEST: &str = "smallest x with F(x) >= p";

pub(super) fn finding(id: &str, severity: Severity, text: &str, value: f64, limit: f64, n: u64) -> Finding {
    Finding {
        id: id.into(),
        severity,
        text: Text::by_report(text),
        value: Some(value),
        limit: Some(limit),
        n,
        ..Finding::default()
    }
}

pub(super) fn file(path: &str, format: &str, description: &str, rows: u64) -> AuditFile {
    AuditFile {
        path: headway_redact::clear(path),
        format: format.into(),
        description: headway_redact::clear(description),
        stamps: "start".into(),
        stamps_how: Some(StampsHow::Format.into()),
        digit_s: 1e-3,
        rows,
        ..AuditFile::default()
    }
}

pub(super) fn audit(files: Vec<AuditFile>, digit_s: f64, rate: f64) -> Audit {
    Audit {
        files,
        dither_seed: 1,
        resolution: Resolution {
            digit_s,
            grid_s: digit_s,
            rate_x_q: Some(rate * digit_s),
            headways_decide: rate * digit_s <= 0.5,
            coarse_labels: 0,
        },
        first_start: Some("2012-03-16T01:30:03.1Z".into()),
        quantile_rule: SMALLEST.into(),
        percentiles: vec![90.0, 95.0, 99.0],
        ..Audit::default()
    }
}

/// A Poisson-like audit of `n` requests at `rate`, on which the others build.
pub(super) fn foreign(name: &str, n: u64, rate: f64, cov: f64, audit: Audit) -> Summary {
    let mut arrivals = arrivals(n, cov, 1.0);
    arrivals.intended = None;
    arrivals.ks.plan = None;
    arrivals.rate = Some(rate);
    arrivals.headway_mean = Some(1.0 / rate);
    arrivals.headway_sd = Some(cov / rate);
    for (quantile, in_means) in [
        (&mut arrivals.p50, 0.7),
        (&mut arrivals.p90, 2.3),
        (&mut arrivals.p95, 3.0),
        (&mut arrivals.p99, 4.6),
        (&mut arrivals.max, 13.8),
    ] {
        *quantile = Some(in_means / rate);
    }
    arrivals.resolution = Some(audit.resolution.grid_s);
    for row in &mut arrivals.dispersion {
        row.intended = None;
    }
    let length = n as f64 / rate;
    let mut curves = curves(n, 1.0, 0.97, cov);
    let headway = curves.headway.as_mut().expect("the sample has headways");
    headway.law = "exponential".into();
    headway.unit_s = 1.0 / rate;
    Summary {
        schema: SCHEMA.into(),
        source: Source::Import,
        name: headway_redact::Redactor::default().clear(name),
        command: Some(headway_redact::Redactor::default().clear(&format!("headway audit {name}"))),
        verdict: Verdict { pattern: Pattern::Independent, ..Verdict::default() },
        measured: Measured { to_s: length, n, ..Measured::default() },
        arrivals,
        rate: RateSummary {
            n,
            offered: None,
            started: Some(rate),
            throughput: Some(rate),
            ..RateSummary::default()
        },
        response: block(n, 0.0527, 2.9),
        outcomes: outcomes(&[("ok", n)]),
        series: series(60, rate, |_| 1.0),
        curves,
        audit: Some(audit),
        not_computed: [("verdict.load".into(), Why::NothingToCompare.into())].into(),
        ..Summary::default()
    }
}

/// A row of a table about `mean`, in whatever unit.
pub(super) fn column(label: &str, n: u64, rate: f64, mean: f64, cov: f64, failed: u64) -> Column {
    Column {
        label: headway_redact::clear(label),
        n,
        rate: Some(rate),
        median: Some(mean * 0.69),
        mean: Some(mean),
        sd: Some(mean * cov),
        cov: Some(cov),
        cov_se: Some(cov / (n as f64).sqrt()),
        cov_se_poisson: None,
        vmr: Some(mean * cov * cov),
        percentiles: vec![Some(mean * 2.3), Some(mean * 3.0), Some(mean * 4.6)],
        min: Some(mean * 0.001),
        max: Some(mean * 9.8),
        left_out: 0,
        failed,
        bytes_per_second: Some(rate * 1843.0),
    }
}

/// Tables of labels that share the load evenly.
pub(super) fn tables(labels: &[String], n: u64, rate: f64, cov: f64) -> Tables {
    let parts = labels.len().max(1) as u64;
    let rows = |headway: bool, mean: f64, cov: f64| {
        let part = |label: &String| {
            let mean = if headway { parts as f64 / rate } else { mean };
            column(label, n / parts - u64::from(headway), rate / parts as f64, mean, cov, 0)
        };
        let total =
            column("Total", n - u64::from(headway), rate, if headway { 1.0 / rate } else { mean }, cov, 0);
        labels.iter().map(part).chain([total]).collect()
    };
    Tables { headways: rows(true, 0.0, cov), response: rows(false, 0.0034, 1.0), ..Tables::default() }
}

/// Brady's test 1830: 200 JMeter threads, uniform think times from 0 to 12.5 s.
pub fn audit_1830() -> Summary {
    let real: Test1830 =
        serde_json::from_str(include_str!("audit_1830.json")).expect("the script wrote it in this shape");
    let mut audit = audit(
        vec![AuditFile {
            stamps_how: Some(StampsHow::ByElapsed { back: 12, stamps_back: 20_871, pairs: 46_110 }.into()),
            ..file("1830_AggRpt.csv", "jmeter-csv", "JMeter CSV, 10 columns without a header", 46_111)
        }],
        1e-3,
        31.73,
    );
    audit.selected = Some([120.0, 1320.0]);
    audit.outside = 8_038;
    audit.users = Some(200);
    audit.counts = Some(real.counts);
    audit.tables = real.tables;
    let (total, response) = (audit.tables.headways[6].clone(), audit.tables.response[6].clone());
    let mut summary = foreign("1830_AggRpt.csv", 38_073, 31.73, 1.0, audit);
    summary.command = Some("headway audit 1830_AggRpt.csv --from 120s --for 1200s".into());
    summary.arrivals.dispersion = real.dispersion;
    (summary.arrivals.cov, summary.arrivals.cov_se) = (total.cov, total.cov_se);
    (summary.arrivals.headway_mean, summary.arrivals.headway_sd) = (total.mean, total.sd);
    summary.arrivals.lag1 = Some(-0.0045);
    let ks = |d, p| Some(Ks { d, p, n: 38_072, cell_error: 0.0004, scaled: 195.1 * d });
    summary.arrivals.ks.exponential = ks(0.00412, 0.31);
    summary.arrivals.ks.exponential_as_stamped = ks(0.02038, 0.0);
    summary.response.mean = response.mean;
    summary.curves.headway = Some(real.headway);
    summary.verdict.findings = vec![finding(
        "fixed-population",
        Severity::Info,
        "Counts over 10.0 s vary less than independent users' would (index 0.400 instead of 1): a fixed number of users \
         cannot send more than each of them does.",
        0.3996,
        0.7396,
        119,
    )];
    summary.closed = Some(Closed {
        n: 38_073,
        users: Some(200.0),
        response: Some(0.052_743),
        think: Some(6.240_13),
        think_sd: Some(3.614_17),
        think_min: Some(0.0),
        think_max: Some(12.52),
        think_n: 37_873,
        rort: Some(0.008_381),
        n_little: Some(199.67),
        think_for_3_percent: Some(1.705_35),
        users_for_3_percent: Some(55.78),
        supported: Some(
            [10.0, 20.0, 30.0, 40.0, 50.0].map(|think| Supported { think, users: 31.73 * (think + 0.0527) }),
        ),
        in_flight_max: Some(14),
        all_waiting: Some(0.0),
        ..Closed::default()
    });
    summary.thread_groups = real.thread_groups;
    summary
}

/// The same in the layout of his tool.
pub fn audit_brady() -> Summary {
    let mut summary = audit_1830();
    summary.audit.as_mut().expect("it is an audit").quantile_rule = "brady".into();
    summary.command = Some("headway audit 1830_AggRpt.csv --from 120s --for 1200s --quantiles brady".into());
    summary
}

/// Vegeta at a constant 100/s.
pub fn audit_even() -> Summary {
    let mut files = vec![file("vegeta_100ps_10s.csv", "vegeta-csv", "vegeta CSV", 1_000)];
    files[0].tool = Some("vegeta 12.13.0".into());
    files[0].compression = Some("gz".into());
    files[0].digit_s = 1e-9;
    files[0].missing = vec!["When each request was due is not in it.".into()];
    let mut audit = audit(files, 1e-9, 100.0);
    audit.cause = Some("constant-rate".into());
    audit.tables = tables(&[], 1_000, 100.0, 0.0103);
    audit.counts = Some(CountCurve {
        interval_s: 0.02,
        n: 499,
        mean: 2.0,
        vmr: 0.004,
        empty: 0,
        bins: count_bins(499, 2.0, 9, |k| if k == 2 { 499 } else { 0 }),
    });
    let mut summary = foreign("vegeta_100ps_10s.csv", 1_000, 100.0, 0.0103, audit);
    summary.arrivals.dispersion = dispersion(0, |_| 0.02, 1.0);
    summary.verdict.pattern = Pattern::Even;
    summary.verdict.findings = vec![Finding {
        evidence: vec![Cause::ConstantRate { cov: 0.0103, cov_of_one: None }.into()],
        ..finding("constant-rate", Severity::Warning, "", 0.0103, 0.5, 999)
    }];
    summary.not_computed.insert("audit.estimated".into(), Why::NoQueue { waited: 12 }.into());
    let few = "fewer than 10 observations lie beyond it";
    summary.response.p999 = None;
    summary.not_computed.insert("response.p999".into(), Stated::other(few));
    summary.not_computed.insert("closed".into(), Why::UsersNotNamed.into());
    summary
}

/// k6 with whole seconds: nothing can be said of headways, and the run is too short for counts.
pub fn audit_coarse() -> Summary {
    let mut files = vec![file("k6.csv", "k6-csv", "k6 CSV", 4_002)];
    files[0].tool = Some("k6".into());
    files[0].stamps = "end".into();
    files[0].stamps_how = Some(StampsHow::Subtracted.into());
    files[0].digit_s = 1.0;
    files[0].left_out =
        vec![("samples of other metrics than requests".into(), 44_022), ("checks".into(), 12)];
    files[0].missing = vec!["Iterations that were interrupted are not in it; their requests are.".into()];
    files[0].finer = Some("K6_CSV_TIME_FORMAT=unix_nano".into());
    let mut audit = audit(files, 1.0, 66.7);
    audit.resolution.coarse_labels = 1;
    audit.tables = tables(&["http://127.0.0.1:8080/bars".into()], 4_002, 66.7, 8.1);
    let mut summary = foreign("k6.csv", 4_002, 66.7, 8.1, audit);
    summary.arrivals.cov_as_stamped = Some(8.1);
    summary.arrivals.cov = None;
    summary.arrivals.cov_se = None;
    summary.arrivals.lag1 = None;
    summary.arrivals.dispersion = Vec::new();
    summary.curves.headway = None;
    summary.verdict.pattern = Pattern::Undecided;
    let coarse = Starts::CoarseStamps { grid_s: 1.0, headway_s: 0.015, window_s: 10.0, finer: None };
    summary.verdict.findings = vec![Finding {
        evidence: vec![coarse.into()],
        ..finding("coarse-stamps", Severity::Warning, "", 66.7, 0.5, 4_002)
    }];
    let coarse = "rate x resolution is 66.7, above 0.5";
    summary.not_computed.insert("arrivals.cov".into(), Stated::other(coarse));
    summary.not_computed.insert("arrivals.lag1".into(), Stated::other(coarse));
    summary.not_computed.insert("arrivals.dispersion".into(), Why::NoWindow.into());
    summary
}

/// fortio with 50 threads in step.
pub fn audit_bunched() -> Summary {
    let mut files = vec![file("fortio.json", "fortio-log", "fortio access log", 30_000)];
    files[0].digit_s = 1e-6;
    let mut audit = audit(files, 1e-6, 500.0);
    audit.cause = Some("timer-ticks".into());
    audit.users = Some(50);
    audit.tables = tables(&["GET /".into(), "GET /bars".into()], 30_000, 500.0, 6.94);
    audit.estimated = Some(P99Off {
        n: 30_000,
        rate: 500.0,
        servers: vec![4, 5],
        busy: 0.763,
        service_mean: 0.0069,
        p50_observed: 0.0058,
        p50_replayed: 0.0061,
        p99_observed: 0.604,
        p99_replayed: 0.588,
        p99_independent: 0.456,
        off: 0.289,
        ci95: [0.183, 0.397],
        replications: 60,
    });
    let seen = |k| [24_000, 700, 200, 60, 20, 10, 5, 2, 1, 5_002].get(k as usize).copied().unwrap_or(0);
    audit.counts = Some(CountCurve {
        interval_s: 0.004,
        n: 30_000,
        mean: 2.0,
        vmr: 41.0,
        empty: 24_000,
        bins: count_bins(30_000, 2.0, 9, seen),
    });
    let mut summary = foreign("fortio.json", 30_000, 500.0, 6.94, audit);
    summary.outcomes = outcomes(&[("ok", 29_400), ("status", 590), ("timeout", 10)]);
    summary.response.censored = 10;
    summary.arrivals.dispersion = dispersion(0, |i| [3.1, 38.2, 47.1, 49.0][i], 1.0);
    summary.verdict.pattern = Pattern::Bunched;
    summary.verdict.findings = vec![finding(
        "timer-ticks",
        Severity::Warning,
        "Starts keep to the ticks of a timer of 100 ms (mean vector 0.98, 0 without ticks): 50.0 requests a tick leave \
         together. A generator that sleeps until each request is due would not do that.",
        0.98,
        0.6,
        29_999,
    )];
    summary.closed = Some(Closed {
        n: 29_990,
        users: Some(50.0),
        response: Some(0.0527),
        think: Some(0.0473),
        think_n: 29_950,
        rort: Some(0.527),
        n_little: Some(50.0),
        think_for_3_percent: Some(1.704),
        users_for_3_percent: Some(878.3),
        in_flight_max: Some(50),
        all_waiting: Some(0.31),
        ..Closed::default()
    });
    summary
}

/// Gatling's users: the pattern is that of their arrivals.
pub fn audit_sessions() -> Summary {
    let mut files = vec![file("simulation.log", "gatling-text", "Gatling simulation.log, text", 36_000)];
    files[0].tool = Some("Gatling 3.9.5".into());
    files[0].sessions = 12_000;
    let mut audit = audit(files, 1e-3, 20.0);
    audit.stream = Stream::Sessions;
    audit.success_only = true;
    audit.outside = 36;
    audit.tables = tables(&["list".into(), "add".into(), "pay".into()], 36_000, 60.0, 1.31);
    let mut summary = foreign("simulation.log", 12_000, 20.0, 1.004, audit);
    summary.outcomes = outcomes(&[("ok", 36_000)]);
    summary.verdict.findings = vec![Finding {
        id: "sessions-judged".into(),
        evidence: vec![Cause::SessionsJudged { sessions: 12_000, requests: 36_000 }.into()],
        ..Finding::default()
    }];
    summary
}

/// Poisson counts of that mean beside whatever was seen; the last bin holds all above.
fn count_bins(n: u64, mean: f64, last: u64, seen: impl Fn(u64) -> u64) -> Vec<CountBin> {
    let mut share = (-mean).exp();
    let mut left = 1.0;
    let bin = |count: u64| {
        let own = if count == last { left } else { share };
        left -= share;
        share *= mean / (count + 1) as f64;
        CountBin { count, observed: seen(count), expected: n as f64 * own }
    };
    (0..=last).map(bin).collect()
}
