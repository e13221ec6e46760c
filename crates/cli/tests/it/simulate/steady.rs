//! What is no steady state, and what follows for numbers and thresholds: what happens once, runs that are too short, means
//! that are infinite.

use super::demands::single;
use super::{LOAD, ask, played};
use headway_cli::settings::SimCommand;
use headway_stats::Summary;
use headway_stats::summary::Open;
use headway_stats::summary::ThresholdOutcome::{Crossed, NotJudged, Passed};

/// 80 requests a second for 100 s.
fn load() -> String {
    LOAD.replace("60/s", "80/s").replace("hold: 20s", "hold: 100s")
}

fn finding(summary: &Summary, id: &str) -> Option<String> {
    summary.verdict.findings.iter().find(|f| f.id == id.into()).map(headway_report::words::findings::text)
}

/// A stall of ten seconds at 40 s: MSER would leave out all up to its end, and the two models would be the same.
#[test]
fn what_happens_once_is_in_the_numbers_and_is_no_steady_state() {
    let models = "models:
  plain: { servers: 1, service: exp(5ms) }
  stalled: { servers: 1, service: exp(5ms), stalls: { at: 40s, for: 10s } }
  down: { servers: 1, service: exp(5ms), faults: { at: 40s, for: 10s } }
  slow: { servers: 1, service: exp(5ms), faults: { at: 40s, for: 10s, answer: { slow: 3 } } }
";
    let text = format!("{}{models}", load());
    let demands = ["--threshold", "p(99)<100ms", "--threshold", "failed: rate<5%"];
    let study = played(&text, &[&["--replications", "6"], &demands[..]].concat());
    let [plain, stalled, down, slow] = &study.points[..] else { panic!("{} points", study.points.len()) };
    assert_eq!((plain.found, &plain.why_not), (Some(true), &None));
    for (point, is) in [(stalled, "stalled"), (down, "down"), (slow, "slow")] {
        let why = format!("{} is {is} once, from 40.0 s on", point.busiest.as_deref().unwrap());
        let told = point.why_not.as_ref().map(headway_report::words::why::unsteady);
        assert_eq!((point.found, told), (Some(false), Some(why)));
        assert_eq!(point.cut_share, 0.0, "{is}: nothing of it is a warm-up");
    }
    // A tenth of the requests come while it stands still, and wait for up to ten seconds.
    assert!(stalled.response["p99"].mean > 7.0 && plain.response["p99"].mean < 0.1);
    // What begins and ends is judged over replications: it is the same in each.
    let judged = |i: usize| study.points[i].thresholds.iter().map(|t| t.outcome).collect::<Vec<_>>();
    assert_eq!([judged(0), judged(1), judged(2)], [[Passed, Passed], [Crossed, Passed], [Passed, Crossed]]);
    let of_stalled =
        text.replace("models:\n  plain: { servers: 1, service: exp(5ms) }\n  stalled:", "model:");
    let of_stalled = of_stalled.split("  down:").next().unwrap();
    let alone = single(of_stalled, &demands);
    assert!(finding(&alone, "no-steady-state").unwrap().contains("is stalled once, from 40.0 s on"));
    let p99 = &alone.thresholds[0];
    assert_eq!((p99.outcome, p99.open), (Crossed, Some(Open::Data)), "of a single run no interval holds");
}

/// M/M/1 at 0.98: 100 s are half a relaxation time. At 0.5 they are 850.
#[test]
fn a_beginning_is_no_steady_state() {
    let model = "model: { servers: 1, service: exp(10ms) }\n";
    let text = format!("{}{model}", load().replace("phases: [", "phases: [ { hold: 20s, warmup: true },"));
    let study = played(&text, &["--sweep", "rate=50,98", "--replications", "5", "--threshold", "avg<10s"]);
    let [long, short] = &study.points[..] else { panic!("{} points", study.points.len()) };
    assert_eq!((long.found, long.thresholds[0].outcome), (Some(true), Passed));
    assert_eq!((short.found, short.thresholds[0].outcome), (Some(false), NotJudged));
    assert!(
        matches!(short.why_not.as_ref().unwrap().why, headway_stats::summary::Unsteady::Beginning { .. }),
        "{:?}",
        short.why_not
    );
    let alone = single(&text.replace("80/s", "98/s"), &["--threshold", "avg<10s"]);
    assert_eq!((alone.thresholds[0].outcome, alone.thresholds[0].open), (Passed, Some(Open::Data)));
    assert!(finding(&alone, "no-steady-state").is_some() && finding(&alone, "short-run").is_some());
    // Up for ten minutes and down for one: forgotten after 54.5 s, far longer than any queue before this server remembers.
    let faults = text.replace("exp(10ms) }", "exp(1ms), faults: { up: exp(10m), down: exp(1m) } }");
    let study = played(&faults, &["--replications", "5", "--threshold", "failed: rate<50%"]);
    assert_eq!((study.points[0].found, study.points[0].thresholds[0].outcome), (Some(false), NotJudged));
}

/// Pareto of tail index 1.5: the mean service is three times the least, its variance is infinite, and so is the mean wait.
#[test]
fn an_infinite_mean_has_no_interval_and_is_not_compared() {
    let models = "models:
  a: { servers: 1, service: \"pareto(1ms,1.5)\" }
  b: { servers: 1, service: \"pareto(2ms,1.5)\" }
";
    let study = played(&format!("timeout: 1h\n{}{models}", load()), &["--replications", "4"]);
    for point in &study.points {
        assert_eq!(point.response["mean"].ci95, None);
        assert!(point.response["p50"].ci95.is_some());
        let notes = super::notes(point);
        assert!(notes.contains("mean response time is infinite"), "{notes}");
    }
    let of: Vec<&str> = study.differences.iter().map(|d| d.of.as_str()).collect();
    assert!(of.contains(&"p50") && !of.contains(&"mean"), "{of:?}");
    assert!(
        super::not_compared(&study).iter().any(|words| words.contains("at the mean: it is infinite")),
        "{:?}",
        study.uncompared
    );
}

/// Pareto of tail index 2.5 before one server: the mean is finite, and the variance of the waits is not. 48 % of the intervals of
/// the mean would hold it.
#[test]
fn an_infinite_variance_leaves_the_mean_without_an_interval() {
    let models = "models:
  a: { servers: 1, service: \"pareto(5ms,2.5)\" }
  b: { servers: 1, service: \"pareto(5ms,3.5)\" }
  shared: { servers: 1, service: \"pareto(5ms,2.5)\", discipline: sharing }
";
    let text = format!("timeout: 1h\n{}{models}", load());
    let demands = ["--threshold", "avg<10s", "--threshold", "p(50)<10s"];
    let study = played(&text, &[&["--replications", "4"], &demands[..]].concat());
    for (point, has) in study.points.iter().zip([false, true, true]) {
        assert_eq!(point.response["mean"].ci95.is_some(), has, "{:?}", point.values);
        assert!(point.response["p50"].ci95.is_some() && point.found == Some(true), "{point:?}");
        assert_eq!(point.not_computed.contains_key("response.mean.ci95"), !has);
        let notes = super::notes(point);
        assert_eq!(notes.contains("mean response time has no confidence interval"), !has, "{notes}");
        let outcomes: Vec<_> = point.thresholds.iter().map(|t| t.outcome).collect();
        assert_eq!(outcomes, [if has { Passed } else { NotJudged }, Passed]);
    }
    assert!(
        super::not_compared(&study)
            .iter()
            .any(|words| words.contains("at the mean: the service times have too heavy a tail"))
    );
    assert!(study.differences.iter().all(|d| d.of != "mean"), "both are compared with the first");
    let one = text.replace("models:\n  a:", "model:").replace("hold: 100s", "hold: 200s");
    let summary = single(one.split("  b:").next().unwrap(), &demands);
    assert_eq!((summary.response.ci95.mean, summary.response.ci95.p50.is_some()), (None, true));
    let reason = &summary.not_computed["response.ci95.mean"];
    assert_eq!(reason.why, headway_stats::summary::Why::HeavyTail);
    assert!(finding(&summary, "heavy-tail").unwrap().contains("no confidence interval"));
    assert_eq!(summary.simulation.as_ref().unwrap().steady.ci95, None);
    let of = [0, 1].map(|i| (summary.thresholds[i].outcome, summary.thresholds[i].open));
    assert_eq!(of, [(Passed, Some(Open::Data)), (Passed, None)]);
}

/// A single play of a study whose failures all come while it is cold, in what is left out as warm-up: the parts of what is left
/// have none, and yet the share of all is not known better than the exact limits of independent requests.
#[test]
fn a_share_is_never_known_better_than_by_independent_requests() {
    let model = "model: { servers: 1, service: exp(5ms), queue: 20, cold: { factor: 10, requests: 300 } }\n";
    let text = format!("{}{model}", load());
    assert!(matches!(ask(&text, &["--sweep", "rate=80"]), Ok(SimCommand::Study(_))));
    let study = played(&text, &["--sweep", "rate=80", "--threshold", "failed: rate<50%"]);
    let told = &study.points[0].thresholds[0];
    let (share, n) = (told.value.unwrap(), told.n as f64);
    let [low, high] = told.interval.unwrap();
    // The exact limits are wider than those of the normal law, 1.96 standard errors to either side.
    assert!(high - low > 2.0 * 1.95 * (share * (1.0 - share) / n).sqrt(), "{share} {low} {high}");
}

/// A single run of M/M/1 of 10 ms at 80 %, whose relaxation time is 0.897 s: means need 449 s, the 99th percentile 897 s.
#[test]
fn a_run_that_is_too_short_for_an_interval_has_none() {
    let of = |hold: &str, demands: &[&str]| {
        single(&format!("{}model: {{ service: exp(10ms) }}\n", load().replace("hold: 100s", hold)), demands)
    };
    let demands = ["--threshold", "avg<52ms", "--threshold", "p(99)<10s"];
    for (hold, mean, p99) in
        [("hold: 430s", false, false), ("hold: 460s", true, false), ("hold: 920s", true, true)]
    {
        let summary = of(hold, &demands);
        let ci = summary.response.ci95;
        assert_eq!((ci.mean.is_some(), ci.p95.is_some(), ci.p99.is_some()), (mean, mean, p99), "{hold}");
        let why = |path: &str| {
            summary
                .not_computed
                .get(path)
                .is_some_and(|of| matches!(of.why, headway_stats::summary::Why::ShortRun { .. }))
        };
        assert_eq!((why("response.ci95.mean"), why("response.ci95.p99")), (!mean, !p99), "{hold}");
        let intervals: Vec<bool> = summary.thresholds.iter().map(|t| t.interval.is_some()).collect();
        assert_eq!(intervals, [mean, p99], "{hold}");
        // Passed or crossed by their values all the same.
        assert!(summary.thresholds.iter().all(|t| t.outcome != NotJudged), "{:?}", summary.thresholds);
        let undecided = summary.thresholds.iter().filter(|t| t.decided.is_none()).count();
        assert_eq!(undecided, intervals.iter().filter(|known| !**known).count(), "{hold}");
    }
    // A sweep of single runs is held to the same.
    let text = format!("{}model: {{ service: exp(10ms) }}\n", load().replace("hold: 100s", "hold: 460s"));
    let study = played(&text, &["--sweep", "rate=40,80,90"]);
    let has =
        |of: &str| -> Vec<bool> { study.points.iter().map(|p| p.response[of].ci95.is_some()).collect() };
    assert_eq!((has("mean"), has("p99")), (vec![true, true, false], vec![true, false, false]));
}

/// Of lognormal services of CoV 3 the mean of a single run has no interval at any length; the median has one, and so has the mean
/// of several runs. Gamma services of the same CoV are not so skewed.
#[test]
fn a_single_run_of_very_skewed_services_has_no_interval_of_its_mean() {
    let text =
        |law: &str| format!("{}model:\n  service: {law}\n", load().replace("hold: 100s", "hold: 20000s"));
    let demands = ["--threshold", "avg<10s"];
    let summary = single(&text("lognormal(5ms,3)"), &demands);
    let ci = summary.response.ci95;
    assert_eq!((ci.mean, ci.p50.is_some()), (None, true));
    assert_eq!(summary.not_computed["response.ci95.mean"].why, headway_stats::summary::Why::TooSkewed);
    assert_eq!(summary.simulation.as_ref().map(|s| s.steady.ci95), Some(None));
    assert_eq!((summary.thresholds[0].interval, summary.thresholds[0].decided), (None, None));
    assert!(single(&text("gamma(5ms,3)"), &demands).response.ci95.mean.is_some());
    let study = |flags: &[&str]| played(&text("lognormal(5ms,3)").replace("20000s", "2000s"), flags);
    let alone = study(&["--sweep", "rate=20,40", "--threshold", "avg<10s"]);
    for point in &alone.points {
        assert_eq!(point.response["mean"].ci95, None);
        assert_eq!(point.not_computed["response.mean.ci95"].why, headway_stats::summary::Why::TooSkewed);
        assert_eq!(point.thresholds[0].interval, None);
    }
    assert!(study(&["--replications", "5"]).points[0].response["mean"].ci95.is_some());
}
