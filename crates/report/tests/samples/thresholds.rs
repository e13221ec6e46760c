//! Runs that were held to thresholds.

use super::{clean, interrupted};
use stats::Summary;
use stats::summary::{
    Finding, GeneratorShare, Operator, Severity, ThresholdOutcome, ThresholdResult, ThresholdUnit,
};

/// A sound run with one threshold of each outcome and unit.
pub fn thresholds() -> Summary {
    let mut summary = clean();
    let n = 12_000;
    let of = |text: &str, value: Option<f64>, limit: f64, outcome: ThresholdOutcome| ThresholdResult {
        text: text.into(),
        limit,
        value,
        outcome,
        n: if value.is_some() { n } else { 0 },
        ..ThresholdResult::default()
    };
    let mut p99 = of("p(99) < 18", Some(0.017_4), 0.018, ThresholdOutcome::Passed);
    p99.interval = Some([0.016_1, 0.018_9]);
    p99.decided = Some(false);
    p99.reason = Some("the interval lies astride the limit: another run may come out the other way".into());
    let mut tail = of("p(99.99)<1s", Some(1.9), 1.0, ThresholdOutcome::Crossed);
    tail.lower_bound = true;
    let mut failed = of("failed: rate<0.05%", Some(0.000_83), 0.000_5, ThresholdOutcome::Crossed);
    failed.unit = ThresholdUnit::Share;
    let mut started = of("started: rate>=199", Some(200.0), 199.0, ThresholdOutcome::Passed);
    (started.unit, started.operator) = (ThresholdUnit::PerSecond, Operator::AtLeast);
    let mut size = of("bytes: max<1KiB", Some(512.0), 1024.0, ThresholdOutcome::Passed);
    size.unit = ThresholdUnit::Bytes;
    let mut count = of("failed: count==10", Some(10.0), 10.0, ThresholdOutcome::Passed);
    (count.unit, count.operator) = (ThresholdUnit::Count, Operator::Equal);
    let mut nothing = of("response{step:pay}: avg<5ms", None, 0.005, ThresholdOutcome::NotJudged);
    nothing.reason = Some("there was nothing to judge: no observations".into());
    // The generator's delays are a good part of the tail.
    let mut between = of("p(99)<12ms", summary.response.p99, 0.012, ThresholdOutcome::NotJudged);
    between.generator_share = Some([0.009_2, 0.016]);
    between.reason = Some("the generator's own delays move p(99) between 9.2 ms and 16 ms".into());
    summary.response.generator_share = Some(GeneratorShare {
        n: 12_000,
        mean: Some([0.003_41, 0.003_47]),
        p50: Some([0.002_4, 0.002_41]),
        p99: Some([0.009_2, 0.016]),
        p999: Some([0.013_7, 0.024]),
        ..GeneratorShare::default()
    });
    summary.thresholds = vec![p99, tail, failed, started, size, count, nothing, between];
    summary
}

/// Ended by a threshold that was crossed.
pub fn aborted() -> Summary {
    let mut summary = interrupted();
    summary.measured.aborted = true;
    summary.thresholds = vec![ThresholdResult {
        text: "failed: rate<1%".into(),
        limit: 0.01,
        unit: ThresholdUnit::Share,
        value: Some(0.012_4),
        outcome: ThresholdOutcome::Crossed,
        ended_run_at: Some(1.0),
        reason: Some("crossed after 1 s, which ended the run".into()),
        n: 241,
        ..ThresholdResult::default()
    }];
    summary.verdict.findings = vec![Finding {
        id: "aborted".into(),
        severity: Severity::Error,
        text: "The threshold failed: rate<1% was crossed after 1 s and ended the run: the numbers cover what fell due \
               until then."
            .into(),
        value: Some(0.012_4),
        limit: Some(0.01),
        at: vec![[1.0, 1.0]],
        n: 241,
        ..Finding::default()
    }];
    summary
}
