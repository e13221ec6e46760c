//! Summaries made by hand, one for each thing that a report must show well. They are plausible, not computed: a
//! report does no statistics, so its samples need none.

mod audits;
mod loops;
mod models;
mod odd_audits;
mod parts;
mod thresholds;

pub use audits::{audit_1830, audit_brady, audit_bunched, audit_coarse, audit_even, audit_sessions};
pub use loops::{at_once, closed, fixed_work, overloaded, sessions, simulated};
pub use models::{balanced, overloaded_model};
pub use odd_audits::{audit_empty, audit_hostile, audit_merged};
pub use thresholds::{aborted, thresholds};

use parts::{block, curves, dispersion, generator, outcomes, plan, rule, series, tail};
use stats::Summary;
use stats::summary::{
    Against, Arrivals, Beside, Differs, Finding, Intended, Ks, KsPair, LabelSummary, LoadVerdict, Measured,
    Pattern, RateSummary, RuleOutcome, SCHEMA, ScaleEnd, Severity, Stall, ThresholdResult, Verdict,
};

/// A name and the summary it makes.
pub type Sample = (&'static str, fn() -> Summary);

/// Every sample.
pub const ALL: &[Sample] = &[
    ("clean", clean),
    ("constant", constant),
    ("saturated", saturated),
    ("stalled", stalled),
    ("refused", refused),
    ("thresholds", thresholds),
    ("aborted", aborted),
    ("interrupted", interrupted),
    ("empty", empty),
    ("hostile", hostile),
    ("sessions", sessions),
    ("overloaded", overloaded),
    ("closed", closed),
    ("fixed_work", fixed_work),
    ("at_once", at_once),
    ("simulated", simulated),
    ("balanced", balanced),
    ("overloaded_model", overloaded_model),
    ("audit_1830", audit_1830),
    ("audit_brady", audit_brady),
    ("audit_even", audit_even),
    ("audit_coarse", audit_coarse),
    ("audit_bunched", audit_bunched),
    ("audit_sessions", audit_sessions),
    ("audit_merged", audit_merged),
    ("audit_empty", audit_empty),
    ("audit_hostile", audit_hostile),
];

/// A run that is shown beside another, which was asked for another rate.
pub fn beside(mut summary: Summary, name: &str, other: &Summary) -> Summary {
    let run = report::beside::recorded(name, other);
    let rate = Differs { what: "rate".into(), recorded: "400/s".into(), simulated: "500/s".into() };
    let compared = report::beside::of_run(&run, &summary);
    summary.beside = Some(Beside { run, against: Against { differs: vec![rate], compared } });
    summary
}

/// A Poisson run in which all went well: VALID and independent.
pub fn clean() -> Summary {
    let n = 12_000;
    Summary {
        schema: SCHEMA.into(),
        name: "bars".into(),
        seed: Some(42),
        command: Some("headway run http://127.0.0.1:8080/bars -R 200/s -d 60s --seed 42".into()),
        started_at: Some("2026-03-14T09:26:53Z".into()),
        plan: Some(plan("poisson", 1.0, n)),
        verdict: Verdict {
            load: Some(LoadVerdict::Valid),
            limited_by: None,
            pattern: Pattern::Independent,
            pattern_scale_s: Some(0.8),
            pattern_scale_end: Some(ScaleEnd::Length),
            pattern_rules: vec![
                rule("cov", None, 1.003, [0.985, 1.021], [Some(0.95), Some(1.05)], RuleOutcome::Pass, n),
                rule("line", Some(0.21), 0.03, [0.01, 0.05], [None, Some(0.05)], RuleOutcome::Pass, n),
            ],
            findings: Vec::new(),
            rules: vec![
                rule("sent-share", None, 1.0, [1.0, 1.0], [Some(0.99), None], RuleOutcome::Pass, n),
                rule("late-share", None, 0.000_25, [0.0, 0.000_6], [None, Some(0.01)], RuleOutcome::Pass, n),
                rule(
                    "bunching",
                    None,
                    0.0003,
                    [-0.0011, 0.0017],
                    [Some(-0.1), Some(0.1)],
                    RuleOutcome::Pass,
                    n,
                ),
                rule(
                    "dispersion",
                    Some(0.01),
                    0.0011,
                    [-0.003, 0.0052],
                    [Some(-0.1), Some(0.1)],
                    RuleOutcome::Pass,
                    6000,
                ),
                rule(
                    "dispersion",
                    Some(0.1),
                    -0.0004,
                    [-0.0092, 0.0084],
                    [Some(-0.1), Some(0.1)],
                    RuleOutcome::Pass,
                    600,
                ),
                rule(
                    "dispersion",
                    Some(1.0),
                    0.0,
                    [-0.012, 0.012],
                    [Some(-0.1), Some(0.1)],
                    RuleOutcome::Pass,
                    60,
                ),
            ],
            ..Verdict::default()
        },
        measured: Measured { from_s: 10.0, to_s: 70.0, n, warmup: 2_003, ..Measured::default() },
        arrivals: arrivals(n, 1.0, 1.0),
        rate: RateSummary {
            n,
            offered: Some(200.0),
            started: Some(200.0),
            completed: Some(199.83),
            ..RateSummary::default()
        },
        lag: tail(n - 1, [18.4e-6, 61.2e-6, 0.000_412, 0.002_31]),
        blocked: tail(n, [0.0, 0.000_214, 0.000_398, 0.000_873]),
        response: block(n, 0.003_47, 1.0),
        response_ok: block(n - 10, 0.003_47, 1.0),
        service: block(n, 0.003_43, 0.97),
        first_byte: block(n, 0.003_4, 0.96),
        bytes: sizes(n - 10),
        outcomes: outcomes(&[("ok", n - 10), ("status", 10)]),
        by_label: [("list", 10_909), ("add", 1_091)].map(|(name, n)| (name.to_owned(), label(n))).into(),
        series: series(70, 200.0, |_| 1.0),
        curves: curves(n, 1.0, 0.97, 1.0),
        generator: Some(generator(0.08)),
        ..Summary::default()
    }
}

fn not_independent(summary: &mut Summary, pattern: Pattern) {
    let verdict = &mut summary.verdict;
    (verdict.pattern, verdict.pattern_scale_s, verdict.pattern_scale_end) = (pattern, None, None);
    verdict.pattern_rules.clear();
}

/// A metronome that was asked for: VALID and even.
pub fn constant() -> Summary {
    let mut summary = clean();
    summary.name = "metronome".into();
    summary.plan = Some(plan("constant", 0.0, 12_000));
    not_independent(&mut summary, Pattern::Even);
    summary.arrivals = arrivals(12_000, 0.004, 0.0);
    summary.arrivals.dispersion = dispersion(12_000, |_| 0.02, 0.01);
    summary.curves = curves(12_000, 1.0, 0.97, 0.0);
    summary.command =
        Some("headway run http://127.0.0.1:8080/bars -R 200/s -d 60s --arrivals constant".into());
    summary.verdict.findings = vec![Finding {
        id: "fixed-population".into(),
        severity: Severity::Info,
        text: "Counts over 1 s vary less than independent users' would (index 0.02 instead of 1).".into(),
        value: Some(0.02),
        limit: Some(0.5),
        n: 60,
        ..Finding::default()
    }];
    summary
}

/// A generator that could not keep up: INVALID, with stalls.
pub fn saturated() -> Summary {
    let mut summary = clean();
    let (n, started) = (1_200_000, 1_091_204);
    summary.name = "checkout".into();
    summary.plan = Some(plan("poisson", 1.0, n));
    summary.command = Some(
        "headway run 'https://shop.example.com/api/v1/checkout?currency=EUR&region=eu-central-1' -R 20k/s -d 60s \
         -c 2000 -H 'Authorization: Bearer example-token' --seed 42"
            .into(),
    );
    summary.measured.n = n;
    summary.rate = RateSummary {
        n,
        offered: Some(20_000.0),
        started: Some(18_186.7),
        completed: Some(18_120.4),
        ..RateSummary::default()
    };
    summary.arrivals = arrivals(started, 1.83, 1.0);
    summary.arrivals.dispersion = dispersion(started, |i| [1.02, 1.9, 14.2, 63.0][i], 1.0);
    summary.verdict.load = Some(LoadVerdict::Invalid);
    not_independent(&mut summary, Pattern::Bunched);
    summary.verdict.rules = vec![
        rule("sent-share", None, 0.9093, [0.884, 0.934], [Some(0.99), None], RuleOutcome::Fail, n),
        rule("late-share", None, 0.123, [0.094, 0.152], [None, Some(0.01)], RuleOutcome::Fail, started),
        rule("bunching", None, 2.35, [1.7, 3.0], [Some(-0.1), Some(0.1)], RuleOutcome::Fail, started),
        rule(
            "dispersion",
            Some(0.001),
            0.02,
            [-0.01, 0.05],
            [Some(-0.1), Some(0.1)],
            RuleOutcome::Pass,
            60_000,
        ),
        rule("dispersion", Some(0.1), 13.2, [6.1, 20.3], [Some(-0.1), Some(0.1)], RuleOutcome::Fail, 600),
        rule(
            "dispersion",
            Some(1.0),
            62.0,
            [-4.0, 128.0],
            [Some(-0.1), Some(0.1)],
            RuleOutcome::Undecided,
            60,
        ),
    ];
    summary.verdict.findings = vec![
        Finding {
            id: "saturated".into(),
            severity: Severity::Error,
            text: "A worker spent 96.4 % of its time handling events: the generator itself was the bottleneck, and \
                   sent 9.1 % less than asked."
                .into(),
            value: Some(0.964),
            limit: Some(0.8),
            n: 2,
            ..Finding::default()
        },
        Finding {
            id: "late".into(),
            severity: Severity::Error,
            text: "12.3 % of the arrivals were released more than 1 ms after they were due.".into(),
            value: Some(0.123),
            interval: Some([0.094, 0.152]),
            limit: Some(0.01),
            at: vec![[24.0, 29.5], [47.0, 52.0]],
            n: started,
        },
        Finding {
            id: "stall".into(),
            severity: Severity::Warning,
            text: "3 stalls of a worker over 1 ms, 1.44 s in all.".into(),
            value: Some(1.44),
            at: vec![[24.1, 25.2], [47.3, 47.6], [51.0, 51.04]],
            n: 3,
            ..Finding::default()
        },
    ];
    summary.lag = tail(started, [0.000_214, 0.341, 0.902, 1.13]);
    summary.response = block(n, 0.081, 9.0);
    summary.response_ok = block(1_087_224, 0.064, 7.0);
    summary.service = block(1_087_300, 0.0041, 1.1);
    summary.first_byte = block(1_087_300, 0.0039, 1.1);
    summary.blocked = tail(n, [0.0, 0.512, 1.04, 1.31]);
    summary.bytes = sizes(1_087_300);
    summary.by_label =
        [("list", 1_090_909), ("add", 109_091)].map(|(name, n)| (name.to_owned(), label(n))).into();
    summary.outcomes = outcomes(&[("ok", 1_087_224), ("status", 76), ("timeout", 3_904), ("shed", 108_796)]);
    let burst = |t: f64| if (24.0..29.0).contains(&t) || (47.0..52.0).contains(&t) { 60.0 } else { 1.2 };
    summary.series = series(70, 20_000.0, burst);
    summary.curves = curves(n, 12.0, 1.1, 1.83);
    let mut machine = generator(0.964);
    machine.same_host_as_target = Some(true);
    machine.stalls = [(24.1, 1.1, "off the processor"), (47.3, 0.3, "off the processor"), (51.0, 0.04, "")]
        .map(|(at_s, length_s, cause)| Stall {
            at_s,
            length_s,
            worker: 0,
            cause: (!cause.is_empty()).then(|| cause.to_owned()),
        })
        .into();
    machine.cap_hits = Some(108_796);
    summary.generator = Some(machine);
    summary
}

/// The target stood still: the load is VALID, the upper percentiles are lower bounds.
pub fn stalled() -> Summary {
    let mut summary = clean();
    summary.name = "stalling target".into();
    summary.response = block(12_000, 1.93, 8.0);
    summary.response.censored = 1_310;
    summary.response.p99 = Some(30.0);
    summary.response.p999 = Some(30.0);
    summary.response.max = Some(30.0);
    summary.response.ci95.p99 = None;
    summary.response.ci95.p999 = None;
    summary.response.lower_bound =
        ["mean", "p95", "p99", "p999", "max"].map(|name| (name.into(), true)).into();
    summary.response_ok = block(10_690, 0.0051, 1.2);
    let few = "20 batches of the indicator are needed and fewer hold a value beyond";
    summary.not_computed =
        ["response.ci95.p99", "response.ci95.p999"].map(|path| (path.into(), few.into())).into();
    summary.outcomes = outcomes(&[("ok", 10_690), ("timeout", 1_244), ("unfinished", 66)]);
    summary.series = series(70, 200.0, |t| if (40.0..47.0).contains(&t) { 4000.0 } else { 1.0 });
    for row in summary.series.iter_mut().filter(|row| (40.0..47.0).contains(&row.from_s)) {
        (row.failed, row.completed) = (row.completed, 0);
    }
    summary.curves = curves(12_000, 40.0, 1.2, 1.0);
    for point in summary.curves.percentiles.response.iter_mut().filter(|point| point.percentile > 89.0) {
        point.value = 30.0;
        point.lower_bound = true;
    }
    summary.verdict.findings = vec![Finding {
        id: "feedback".into(),
        severity: Severity::Warning,
        text: "No answer came back for 6.9 s although 1,384 requests were due: the target stood still."
            .into(),
        value: Some(6.9),
        at: vec![[40.0, 46.9]],
        n: 1_384,
        ..Finding::default()
    }];
    summary
}

/// Nobody listened.
pub fn refused() -> Summary {
    let mut summary = clean();
    summary.name = "http://127.0.0.1:9".into();
    summary.outcomes = outcomes(&[("refused", 12_000)]);
    for spread in
        [&mut summary.response_ok, &mut summary.service, &mut summary.first_byte, &mut summary.bytes]
    {
        *spread = Default::default();
    }
    summary.response = Default::default();
    summary.response.n = 12_000;
    summary.response.censored = 12_000;
    let none = "no request was answered";
    summary.not_computed = ["mean", "p50", "p90", "p95", "p99", "p999", "max"]
        .map(|name| (format!("response.{name}"), none.into()))
        .into();
    summary.rate.completed = Some(0.0);
    summary.by_label.clear();
    summary.curves.percentiles = Default::default();
    for row in &mut summary.series {
        (row.failed, row.completed) = (row.completed, 0);
        (row.p50, row.p99, row.max) = (None, None, None);
    }
    summary
}

/// Stopped by the user after a few seconds: too little to decide.
pub fn interrupted() -> Summary {
    let mut summary = clean();
    let n = 241;
    summary.measured = Measured { from_s: 0.0, to_s: 1.204, n, interrupted: true, ..Measured::default() };
    summary.verdict.load = Some(LoadVerdict::Inconclusive);
    not_independent(&mut summary, Pattern::Undecided);
    summary.verdict.pattern_rules = vec![
        rule("cov", None, 0.97, [0.85, 1.09], [Some(0.95), Some(1.05)], RuleOutcome::Undecided, n),
        rule("lag1", None, 0.02, [-0.11, 0.15], [Some(-0.1), Some(0.1)], RuleOutcome::Undecided, n),
    ];
    summary.verdict.pattern_needs = Some(8_700);
    let limits = [Some(-0.1), Some(0.1)];
    let mut bunching = rule("bunching", None, 0.04, [-0.13, 0.21], limits, RuleOutcome::Undecided, n);
    bunching.reason = Some("the interval lies astride the limit".into());
    summary.verdict.rules =
        vec![rule("sent-share", None, 1.0, [1.0, 1.0], [Some(0.99), None], RuleOutcome::Pass, n), bunching];
    summary.arrivals = arrivals(n, 0.97, 1.0);
    summary.arrivals.dispersion.truncate(2);
    summary.rate = RateSummary {
        n,
        offered: Some(200.2),
        started: Some(200.2),
        completed: Some(197.7),
        ..RateSummary::default()
    };
    summary.lag.n = n;
    summary.blocked.n = n;
    let few = "fewer than 10 observations lie beyond it";
    for (spread, name) in [(&mut summary.response, "response"), (&mut summary.service, "service")] {
        *spread = block(n, 0.003_6, 1.0);
        spread.p999 = None;
        spread.p99 = None;
        spread.ci95 = Default::default();
        for number in ["p99", "p999", "ci95.mean", "ci95.p50", "ci95.p90", "ci95.p95"] {
            let reason =
                if number.starts_with("ci95") { "20 batches are too few for so short a run" } else { few };
            summary.not_computed.insert(format!("{name}.{number}"), reason.into());
        }
    }
    summary.response_ok = summary.response.clone();
    summary.outcomes = outcomes(&[("ok", 238), ("cancelled", 2), ("unsent", 1)]);
    summary.by_label.clear();
    summary.series.truncate(2);
    summary.curves = curves(n, 1.0, 0.97, 1.0);
    summary
}

/// A run in which nothing fell due.
pub fn empty() -> Summary {
    Summary { schema: SCHEMA.into(), ..Summary::default() }
}

/// Names that attack the page and the terminal, and numbers at the ends of their ranges.
pub fn hostile() -> Summary {
    let mut summary = saturated();
    let attack = "</script><script>alert(1)</script><!-- \u{2028}\u{2029} & \"'><img src=x onerror=alert(2)> \
                  \x1b[2J\x07\u{202e}\0 ]]>";
    summary.name = format!("{attack}{}", "w".repeat(300));
    summary.command = Some(format!("headway run '{attack}' -H \"{}\"", "y".repeat(400)));
    summary.started_at = Some(attack.into());
    let plan = summary.plan.as_mut().expect("the sample has a plan");
    plan.target = Some(attack.into());
    plan.process = attack.into();
    plan.rate = Some(1e18);
    for phase in &mut plan.phases {
        (phase.from, phase.to) = (1e18, 1e18);
    }
    plan.steps = vec![attack.into(); 3];
    plan.connections = Some(u64::MAX);
    plan.arrivals = Some(u64::MAX);
    for finding in &mut summary.verdict.findings {
        finding.id = attack.into();
        finding.text = attack.repeat(3);
        finding.value = Some(-1e300);
        finding.interval = Some([f64::MIN, f64::MAX]);
        finding.at = vec![[1e9, 1e12]; 50];
        finding.n = u64::MAX;
    }
    for rule in &mut summary.verdict.rules {
        rule.reason = Some(attack.into());
        rule.value = Some(f64::MAX);
        rule.interval = Some([f64::MIN, f64::MAX]);
    }
    summary.thresholds = vec![ThresholdResult {
        text: attack.repeat(2),
        value: Some(f64::MAX),
        interval: Some([f64::MIN, f64::MAX]),
        limit: 1e-300,
        reason: Some(attack.into()),
        n: u64::MAX,
        ..ThresholdResult::default()
    }];
    summary.outcomes.insert(attack.into(), u64::MAX / 4);
    for i in 0..40 {
        summary.by_label.insert(format!("{attack}{i}\u{6f22}\u{5b57}"), label(1 << i));
    }
    summary.response = block(u64::MAX, 1e300, 1.0);
    summary.service = block(u64::MAX, 1e-300, 1.0);
    summary.lag = tail(u64::MAX, [-1e-9, 1e300, 5e300, f64::MAX]);
    summary.arrivals.cov = Some(1e300);
    summary.arrivals.started = u64::MAX;
    summary.rate.started = Some(f64::MAX);
    summary.not_computed.insert(attack.into(), attack.into());
    let machine = summary.generator.as_mut().expect("the sample has a generator");
    machine.waiting = Some(attack.into());
    machine.stalls[0].cause = Some(attack.into());
    machine.stalls[0].length_s = 1e300;
    summary.seed = Some(u64::MAX);
    summary
}

fn arrivals(n: u64, cov: f64, asked: f64) -> Arrivals {
    Arrivals {
        n: n - 1,
        started: n,
        rate: Some(200.0),
        headway_mean: Some(0.005),
        headway_sd: Some(0.005 * cov),
        cov: Some(cov),
        cov_se: Some(cov / (n as f64).sqrt()),
        cov_se_poisson: Some(1.0 / (n as f64).sqrt()),
        skewness: Some(2.0 * cov),
        kurtosis: Some(9.0 * cov),
        p50: Some(0.003_47),
        p90: Some(0.011_5),
        p95: Some(0.015),
        p99: Some(0.023),
        min: Some(4.6e-6),
        max: Some(0.0471),
        lag1: Some(0.003),
        ks: KsPair {
            plan: Some(Ks { d: 0.0061, p: 0.76, n: n - 1, cell_error: 0.001, scaled: 0.67 }),
            exponential: Some(Ks { d: 0.0064, p: 0.41, n: n - 1, cell_error: 0.001, scaled: 0.7 }),
            exponential_as_stamped: None,
        },
        dispersion: dispersion(n, |i| [0.998, 1.011, 0.973, 1.09][i], 1.0),
        resolution: Some(1e-9),
        intended: Some(Intended { n: n - 1, rate: Some(200.0), cov: Some(asked) }),
        ..Arrivals::default()
    }
}

fn label(n: u64) -> LabelSummary {
    let outcomes = outcomes(&[("ok", n - n / 300), ("status", n / 300)]);
    LabelSummary { n, response: block(n, 0.003_47, 1.0), outcomes }
}

fn sizes(n: u64) -> stats::summary::Spread {
    let mut spread = block(n, 1843.0, 0.1);
    spread.ci95 = Default::default();
    spread
}
