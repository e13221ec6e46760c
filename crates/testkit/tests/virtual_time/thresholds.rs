//! Thresholds on runs whose response times are known in advance.

use crate::common::{LIMITS, answers, plan, play};
use crate::verdict::setup;
use headway_base::{Batch, Nanos, Outcome};
use headway_stats::summary::{LoadVerdict, Summary, ThresholdOutcome};
use headway_stats::{Analysis, Facts, Threshold};
use headway_testkit::{Answer, Generator};
use headway_workload::Process;

const MS: fn(i64) -> Nanos = Nanos::from_millis;

/// 200/s for 40 s against a target that takes 5 ms, stands still for a fifth of every tenth second, and fails one
/// request in fifty.
fn judge(texts: &[&str], generator: Generator) -> Summary {
    let plan = plan(Process::Poisson, 200.0, 40, 8);
    let target = answers(|now, n| {
        let second = now.0 % 10_000_000_000;
        let done = MS(5) + Nanos((2_000_000_000 - second).max(0));
        let outcome = if n % 50 == 0 { Outcome::Status } else { Outcome::Ok };
        Answer::Comes { first_byte: done, done, outcome, status: 200, reusable: true }
    });
    let kept = play(&plan, LIMITS, target, generator);
    let thresholds: Vec<Threshold> = texts.iter().map(|text| text.parse().unwrap()).collect();
    let mut analysis = Analysis::new(setup(&plan, 1)).judging(thresholds);
    let (starts, records) = (kept.starts, kept.records);
    analysis.batch(&Batch { starts, records, watermark: Nanos::MAX, last: true, ..Batch::default() });
    analysis.finish(Facts::default())
}

#[test]
fn open_users_see_the_stall_and_the_thresholds_say_so() {
    // A fifth of the users waits for up to 2 s, evenly: p(80 + x) is x/20 of 2 s, and 5 ms.
    let texts =
        ["p(75)<6", "p(90)<1100", "p(90)<900", "failed: rate<=2.5%", "failed: rate<1%", "service: p(75)<6"];
    let summary = judge(&texts, Generator::default());
    assert_ne!(summary.verdict.load, Some(LoadVerdict::Invalid));
    use ThresholdOutcome::{Crossed, Passed};
    let outcomes: Vec<ThresholdOutcome> = summary.thresholds.iter().map(|t| t.outcome).collect();
    assert_eq!(outcomes, [Passed, Passed, Crossed, Passed, Crossed, Passed]);
    // Of 8,000 users some 1,600 +- 36 waited: the tenth of all that waited longest begins within 4 errors of 1.005 s.
    let p90 = summary.thresholds[1].value.unwrap();
    let error = 4.0 * (8_000.0f64 * 0.1 * 0.9).sqrt() / 1_600.0 * 2.0;
    assert!((p90 - 1.005).abs() < error, "{p90} +- {error}");
}

#[test]
fn a_generator_that_stands_still_leaves_its_thresholds_unjudged() {
    // Half of every second.
    let pauses = (0..40).map(|s| (MS(1_000 * s), MS(1_000 * s + 500))).collect();
    let generator = Generator { pauses, ..Generator::default() };
    let summary = judge(&["p(75)<6", "failed: rate<1%"], generator);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
    assert!(summary.thresholds.iter().all(|t| t.outcome == ThresholdOutcome::NotJudged && t.value.is_some()));
}
