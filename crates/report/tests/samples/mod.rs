//! Summaries for the tests of the outputs. Those of runs are computed: each is the simulated run of the scenario of its name
//! in this folder. What only a live run has (the generator's block, an interruption) is added by hand and holds no number that
//! follows from another.

mod audits;
mod odd_audits;
mod parts;
mod runs;

pub use audits::{audit_1830, audit_brady, audit_bunched, audit_coarse, audit_even, audit_sessions};
pub use odd_audits::{audit_empty, audit_hostile, audit_merged};
pub use runs::{
    aborted, at_once, balanced, clean, closed, constant, failed, fixed_work, interrupted, overloaded,
    overloaded_model, refused, saturated, sessions, simulated, stalled, thresholds,
};

use headway_base::KnownFailure;
use headway_stats::Summary;
use headway_stats::summary::evidence::Run;
use headway_stats::summary::{
    Arrivals, Failure, FailureReason, Intended, Ks, KsPair, LabelRow, LabelSummary, SCHEMA, ShardCoverage,
    Stall, Stated, Text, ThresholdResult,
};
use parts::{block, dispersion, generator, outcomes, tail};

/// A name and the summary it makes.
pub type Sample = (&'static str, fn() -> Summary);

/// Every sample.
pub const ALL: &[Sample] = &[
    ("clean", clean),
    ("constant", constant),
    ("saturated", saturated),
    ("stalled", stalled),
    ("refused", refused),
    ("failed", failed),
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

/// A run in which nothing fell due.
pub fn empty() -> Summary {
    Summary { schema: SCHEMA.into(), ..Summary::default() }
}

/// Names that attack the page and the terminal, and numbers at the ends of their ranges.
pub fn hostile() -> Summary {
    let mut summary = saturated();
    let attack = "</script><script>alert(1)</script><!-- \u{2028}\u{2029} & \"'><img src=x onerror=alert(2)> \
                  \x1b[2J\x07\u{202e}\0 ]]>";
    let gate = headway_redact::Redactor::default();
    summary.name = gate.clear(&format!("{attack}{}", "w".repeat(300)));
    summary.command = Some(gate.clear(&format!("headway run '{attack}' -H \"{}\"", "y".repeat(400))));
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
        let failure =
            Run::LogLost { lost: u64::MAX, written: 1, error: headway_redact::clear(&attack.repeat(2)) };
        finding.evidence = vec![failure.into()];
        finding.value = Some(-1e300);
        finding.interval = Some([f64::MIN, f64::MAX]);
        finding.at = vec![[1e9, 1e12]; 50];
        finding.n = u64::MAX;
    }
    for rule in &mut summary.verdict.rules {
        rule.reason = Some(Stated::other(attack));
        rule.value = Some(f64::MAX);
        rule.interval = Some([f64::MIN, f64::MAX]);
    }
    summary.thresholds = vec![ThresholdResult {
        text: headway_redact::clear(&attack.repeat(2)),
        value: Some(f64::MAX),
        interval: Some([f64::MIN, f64::MAX]),
        limit: 1e-300,
        reason: Some(Stated::other(attack)),
        n: u64::MAX,
        ..ThresholdResult::default()
    }];
    summary.outcomes.insert(attack.into(), u64::MAX / 4);
    let failure = Failure {
        outcome: attack.into(),
        status: Some(u16::MAX),
        step: Some(attack.into()),
        n: u64::MAX / 4,
    };
    summary.failures = vec![failure];
    summary.shards = vec![ShardCoverage {
        shard: attack.into(),
        host: Some(attack.repeat(2)),
        planned: Some(u64::MAX),
        sent: u64::MAX,
        records: u64::MAX,
        without_record: u64::MAX,
        ..ShardCoverage::default()
    }];
    let reason = FailureReason {
        outcome: attack.into(),
        status: Some(u16::MAX),
        kind: Some(KnownFailure::MissingVariable),
        reason: attack.into(),
        example: headway_redact::Redactor::default().clear(&attack.repeat(3)),
        n: u64::MAX / 4,
        ..FailureReason::default()
    };
    summary.failure_reasons.rows = vec![reason; 3];
    summary.failure_reasons.others.insert(attack.into(), u64::MAX);
    for i in 0..40 {
        let mut of = label(1 << i);
        of.series = [0.0, 1.0].map(|from_s| extreme_row(from_s, i)).to_vec();
        summary.by_label.insert(headway_redact::clear(&format!("{attack}{i}\u{6f22}\u{5b57}")), of);
    }
    summary.response = block(u64::MAX, 1e300, 1.0);
    summary.service = block(u64::MAX, 1e-300, 1.0);
    summary.lag = tail(u64::MAX, [-1e-9, 1e300, 5e300, f64::MAX]);
    summary.arrivals.cov = Some(1e300);
    summary.arrivals.started = u64::MAX;
    summary.rate.started = Some(f64::MAX);
    summary.not_computed.insert(attack.into(), Stated::other(attack));
    let mut machine = generator(0.964);
    (machine.wait, machine.waiting) = (None, Some(Text::by_report(attack)));
    machine.stalls = vec![Stall { at_s: 24.1, length_s: 1e300, worker: 0, cause: Some(attack.into()) }];
    summary.generator = Some(machine);
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

fn extreme_row(from_s: f64, i: i32) -> LabelRow {
    let value = Some(10f64.powi(15 * i - 300));
    LabelRow { from_s, to_s: from_s + 1.0, n: u64::MAX, failed: u64::MAX / 3, p50: value, p99: value }
}

fn label(n: u64) -> LabelSummary {
    let outcomes = outcomes(&[("ok", n - n / 300), ("status", n / 300)]);
    LabelSummary { n, response: block(n, 0.003_47, 1.0), outcomes, ..LabelSummary::default() }
}
