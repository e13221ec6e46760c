//! Percentiles of studies and what bounds them: differences finer than a bucket of the histogram, laws of few values, the largest, and
//! requests that were given up.

use super::played;
use headway_stats::study::{Difference, Study};
use headway_stats::summary::ThresholdOutcome::{self, Crossed, Inconclusive, Passed};

const LOAD: &str = "users: { arrive: { rate: 500/s }, phases: [ { hold: 40s } ] }\njourney: [ { get: / } ]\n";

fn study(model: &str, seed: u64, thresholds: &[&str]) -> Study {
    let demands = thresholds.iter().flat_map(|threshold| ["--threshold", threshold]);
    let flags: Vec<&str> = ["--replications", "20"].into_iter().chain(demands).collect();
    played(&format!("seed: {seed}\n{LOAD}{model}"), &flags)
}

fn outcomes(study: &Study) -> Vec<ThresholdOutcome> {
    study.points[0].thresholds.iter().map(|threshold| threshold.outcome).collect()
}

fn difference<'a>(study: &'a Study, of: &str) -> Option<&'a Difference> {
    study.differences.iter().find(|difference| difference.of == of)
}

/// A thousand servers, so that nothing waits: with the same draws the second response times are 1 % longer, and so are all their
/// percentiles. Every one lies in the same bucket of the histogram as the first, or in the next.
#[test]
fn a_difference_of_one_per_cent_is_told_as_it_is() {
    let model =
        "models:\n  a: { servers: 1000, service: exp(10ms) }\n  b: { servers: 1000, service: exp(10.1ms) }\n";
    let mut held = 0;
    for seed in 1..=3 {
        let study = study(model, seed, &[]);
        for (of, p) in [("p50", 0.5f64), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)] {
            let truth = -(1.0 - p).ln() * 1e-4;
            let told = difference(&study, of).unwrap().difference;
            let [low, high] = told.ci95.unwrap();
            held += u32::from(low <= truth && truth <= high);
            assert!(!told.stepped && (told.mean / truth - 1.0).abs() < 0.05, "{of}: {told:?} is not {truth}");
        }
        assert!(difference(&study, "max").is_none(), "the largest is no number of each run");
    }
    // Of 12, 95 %; four standard errors below are 8.
    assert!(held >= 9, "{held} of 12");
}

/// The median of a law of which one value holds 60 % is that value, to the nanosecond, and a threshold at it is decided.
#[test]
fn a_value_that_many_share_is_exact_and_marked() {
    let text = "model: { servers: 1000, service: 10.05ms }\n";
    let study = study(text, 1, &["p(50)<=10.05ms", "p(50)<10.05ms", "p(99)<=10.05ms"]);
    let p50 = study.points[0].response["p50"];
    assert_eq!((p50.mean, p50.ci95, p50.stepped), (0.01005, Some([0.01005; 2]), true));
    assert_eq!(outcomes(&study), [Passed, Crossed, Passed]);
}

#[test]
fn the_largest_is_that_of_all_replications() {
    let study = study(
        "model: { servers: 1000, service: exp(10ms) }\n",
        1,
        &["max<1s", "max<50ms", "response_ok: max<50ms"],
    );
    let response = &study.points[0].response;
    let (max, p999) = (response["max"], response["p999"]);
    // 400,000 requests: the mean of the largest is 10 ms x (ln 400,000 + 0.577) = 134.8 ms, its standard deviation 12.8.
    assert!((max.mean - 0.1348).abs() < 5.0 * 0.0128 && max.mean > p999.mean, "{max:?}");
    assert!(max.ci95.is_none() && max.p95.unwrap() <= max.mean && max.p05.unwrap() < max.mean);
    assert_eq!(outcomes(&study), [Passed, Crossed, Crossed]);
    let why = study.points[0].thresholds[0].reason.clone();
    assert_eq!(why, Some(headway_stats::summary::Why::Extreme { largest: true }.into()));
}

/// 400,000 requests: no interval of p99.999 (four lie beyond), and p50 alone is above the limit.
#[test]
fn a_percentile_is_at_least_what_smaller_ones_are() {
    let text = "model: { servers: 1000, service: exp(10ms) }\n";
    let study = study(text, 1, &["p(99.999)<5ms", "p(99.999)>40ms", "p(99.999)<1s"]);
    assert_eq!(outcomes(&study), [Crossed, Passed, Inconclusive]);
    let first = &study.points[0].thresholds[0];
    assert!(
        first.interval.is_none()
            && matches!(first.reason.as_ref().unwrap().why, headway_stats::summary::Why::AtLeast { .. }),
        "{first:?}"
    );
    // p99.9 is 69.1 ms, and the largest percentile that has an interval.
    assert!((first.at_least.unwrap() / 0.0691 - 1.0).abs() < 0.05, "{first:?}");
}

/// About one in 1,300 requests is given up after 72 ms (exp(-7.2)): the mean of what was waited is 10 ms x (1 - exp(-7.2)).
#[test]
fn a_mean_with_few_given_up_keeps_its_interval() {
    let text = "timeout: 72ms\nmodel: { servers: 1000, service: exp(10ms) }\n";
    let study = study(text, 1, &["avg<10.2ms", "avg<9.8ms"]);
    let point = &study.points[0];
    let (mean, judged) = (point.response["mean"], &point.thresholds[0]);
    assert!(point.censored > 100 && point.censored < 1_000, "{}", point.censored);
    assert!(mean.lower_bound, "without the timeout it were larger");
    assert_eq!((mean.ci95, Some(mean.mean)), (judged.interval, judged.value), "one number, one interval");
    let [low, high] = mean.ci95.unwrap();
    assert!(low < 0.01 && high > 0.00998 && high - low < 2e-4, "{mean:?}");
    assert_eq!(outcomes(&study), [Passed, Crossed]);
    assert!(super::notes(point).contains("got no response. The mean"), "{:?}", point.remarks);
}
