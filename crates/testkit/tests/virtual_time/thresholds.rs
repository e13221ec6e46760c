//! Thresholds on runs whose response times are known in advance.

use crate::common::{LIMITS, answers, plan, play};
use crate::verdict::setup;
use headway_base::{Batch, Nanos, Outcome};
use headway_stats::summary::{LoadVerdict, Open, Summary, ThresholdOutcome};
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
fn what_is_certain_is_said_of_an_invalid_load() {
    // Half of every second.
    let pauses = (0..40).map(|s| (MS(1_000 * s), MS(1_000 * s + 500))).collect();
    let generator = Generator { pauses, ..Generator::default() };
    let summary = judge(&["p(75)<6", "p(99)<10s", "p(99)<100ms", "started: count>1000"], generator);
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
    use ThresholdOutcome::{Crossed, NotJudged, Passed};
    let outcomes: Vec<_> = summary.thresholds.iter().map(|t| (t.outcome, t.open)).collect();
    // A quarter waited for the generator; 1 % waits for 1.8 s of a target's stall in any case.
    assert_eq!(outcomes[0], (NotJudged, Some(Open::Generator)));
    assert_eq!(outcomes[1], (Passed, None), "{:?}", summary.thresholds[1]);
    assert_eq!((outcomes[2].0, outcomes[3]), (Crossed, (Passed, None)), "{:?}", summary.thresholds[2]);
}

/// Before a target that rejects half of all requests at once, whatever their times.
#[test]
fn an_overloaded_target_crosses_its_share_of_failures_though_the_generator_was_late() {
    let plan = plan(Process::Poisson, 400.0, 30, 5);
    let target = answers(|_, n| {
        let (outcome, status, took) = match n % 100 < 52 {
            true => (Outcome::Status, 503, Nanos::from_micros(200)),
            false => (Outcome::Ok, 200, MS(400)),
        };
        Answer::Comes { first_byte: took, done: took, outcome, status, reusable: true }
    });
    let pauses = (1..30).map(|s| (MS(1_000 * s), MS(1_000 * s + 60))).collect();
    let kept = play(&plan, LIMITS, target, Generator { pauses, ..Generator::default() });
    let thresholds = ["failed: rate<1%", "failed: rate<60%", "failed: rate<51%"];
    let thresholds: Vec<Threshold> = thresholds.iter().map(|text| text.parse().unwrap()).collect();
    let mut analysis = Analysis::new(setup(&plan, 1)).judging(thresholds);
    let (starts, records) = (kept.starts, kept.records);
    analysis.batch(&Batch { starts, records, watermark: Nanos::MAX, last: true, ..Batch::default() });
    let summary = analysis.finish(Facts::default());
    assert_eq!(summary.verdict.load, Some(LoadVerdict::Invalid));
    use ThresholdOutcome::{Crossed, NotJudged, Passed};
    let outcomes: Vec<_> = summary.thresholds.iter().map(|t| t.outcome).collect();
    assert_eq!(outcomes, [Crossed, Passed, NotJudged], "{:?}", summary.thresholds);
    assert_eq!(summary.thresholds[0].open, None);
}
