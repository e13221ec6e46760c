//! Thresholds of studies and of single simulated runs, and users who are only turned away.

use super::{LOAD, ONE, ask, play, played};
use headway_cli::exit;
use headway_cli::settings::SimCommand;
use headway_stats::Summary;
use headway_stats::study::{Point, Study};
use headway_stats::summary::FindingId;
use headway_stats::summary::Open;
use headway_stats::summary::ThresholdOutcome::{self, Crossed, Inconclusive, NotJudged, Passed};

/// 60 requests a second over 200 s, 20 s before.
fn long() -> String {
    LOAD.replace("[ { hold: 20s } ]", "[ { hold: 20s, warmup: true }, { hold: 200s } ]")
}

fn outcomes(point: &Point) -> Vec<ThresholdOutcome> {
    point.thresholds.iter().map(|threshold| threshold.outcome).collect()
}

pub(super) fn single(text: &str, flags: &[&str]) -> Summary {
    match ask(text, flags).unwrap_or_else(|error| panic!("{error:#}")) {
        SimCommand::Run(settings) => play(&settings),
        SimCommand::Study(_) | SimCommand::Part(_) => panic!("{flags:?} ask for a study"),
    }
}

fn study(text: &str, flags: &[&str], thresholds: &[&str]) -> Study {
    let demands = thresholds.iter().flat_map(|threshold| ["--threshold", threshold]);
    played(text, &flags.iter().copied().chain(demands).collect::<Vec<_>>())
}

/// Response times of M/M/1 are exponential (FIFO): p99 is ln(100) / (100 - rate) s, so 57.6, 92.1 and 230 ms.
#[test]
fn each_point_of_a_sweep_is_held_to_its_thresholds() {
    let sweep = ["--sweep", "rate=20,50,80,120", "--replications", "8"];
    let thresholds =
        ["p(99)<130ms", "p(50)>1ms", "failed: rate<1%", "started: rate<100/s", "failed: count<1"];
    let study = study(&format!("{}{ONE}", long()), &sweep, &thresholds);
    let all: Vec<Vec<ThresholdOutcome>> = study.points.iter().map(outcomes).collect();
    assert_eq!(all[0], [Passed; 5]);
    assert_eq!(all[1], [Passed; 5]);
    assert_eq!(all[2], [Crossed, Passed, Passed, Passed, Passed]);
    assert_eq!(
        all[3][..4],
        [Crossed, NotJudged, Crossed, Crossed],
        "p99 and the timeouts grow, and started does not hang on the length"
    );
    let p99 = &study.points[1].thresholds[0];
    let [low, high] = p99.interval.unwrap();
    // Student's t with 7 degrees: 2.365 standard errors to either side; four of them from the truth at most.
    let error = (high - low) / (2.0 * 2.365);
    assert!((p99.value.unwrap() - 100f64.ln() / 50.0).abs() < 4.0 * error, "{p99:?}");
    assert_eq!(
        (p99.value, p99.interval),
        (Some(study.points[1].response["p99"].mean), study.points[1].response["p99"].ci95)
    );
    assert_eq!(
        (p99.n, p99.decided, p99.unit),
        (study.points[1].n, Some(true), headway_stats::summary::ThresholdUnit::Seconds)
    );
    let why = headway_report::words::why::why(study.points[3].thresholds[0].reason.as_ref().unwrap());
    assert!(why.contains("in all 8 replications, and growing"), "{why}");
    assert!(why.contains("target is offered 1.20 times"), "{why}");
    assert_eq!(exit::of_study(&study, false), exit::FINE, "a sweep is meant to cross");
}

#[test]
fn a_single_point_that_crosses_a_threshold_exits_with_99() {
    let text = format!("{}{ONE}", long());
    let of = |threshold: &str| study(&text, &["--replications", "5"], &[threshold]);
    // p95 at 60/s: ln(20) / 40 s = 74.9 ms.
    let passed = of("p(95)<100");
    assert_eq!((outcomes(&passed.points[0]), exit::of_study(&passed, false)), (vec![Passed], exit::FINE));
    let crossed = of("p(95)<50");
    assert_eq!(
        (outcomes(&crossed.points[0]), exit::of_study(&crossed, false)),
        (vec![Crossed], exit::CROSSED)
    );
    let value = passed.points[0].thresholds[0].value.unwrap() * 1e3;
    let astride = of(&format!("p(95)<{value}ms"));
    assert_eq!(outcomes(&astride.points[0]), [Inconclusive]);
    assert_eq!(
        (exit::of_study(&astride, false), exit::of_study(&astride, true)),
        (exit::CROSSED, exit::INCONCLUSIVE),
        "the value decides, which is not below itself"
    );
    let unsteady = study(&text.replace("60/s", "150/s"), &["--replications", "3"], &["p(95)<10s"]);
    assert_eq!(
        (outcomes(&unsteady.points[0]), exit::of_study(&unsteady, false)),
        (vec![Crossed], exit::CROSSED)
    );
}

#[test]
fn a_single_replication_is_judged_by_the_intervals_within_it() {
    let thresholds =
        ["p(90)<200", "avg<20", "max<60s", "failed: rate<1%", "response_ok: p(50)<100", "count>10"];
    let study = study(&format!("{}{ONE}", long()), &["--sweep", "model.servers=1,2"], &thresholds);
    let expected = [Passed, Crossed, Passed, Passed, Passed, Inconclusive];
    assert_eq!(outcomes(&study.points[0]), expected);
    let count = &study.points[0].thresholds[5];
    assert!(
        count.reason == Some(headway_stats::summary::Why::SingleRun.into()) && count.value.is_some(),
        "{count:?}"
    );
}

/// What a file demands for its live runs as well is said not to be judged.
#[test]
fn what_no_study_keeps_is_said() {
    let text = format!("{LOAD}{ONE}thresholds: [ \"bytes: avg < 1KiB\", \"p(50) < 1s\" ]\n");
    let study = played(&text, &["--replications", "3"]);
    assert_eq!(outcomes(&study.points[0]), [Passed]);
    let not_judged = headway_report::words::findings::remarks(&study.unjudged, &study.not_judged);
    assert_eq!(not_judged.len(), 1);
    assert!(not_judged[0].starts_with("bytes: avg < 1KiB is not judged: a study keeps only"), "{study:?}");
}

/// No failure in 100 requests a run, 4 runs: fewer than 0.92 % with 97.5 % confidence, and no more is known.
#[test]
fn runs_without_a_failure_do_not_prove_that_there_are_none() {
    let text = LOAD.replace("[ { hold: 20s } ]", "[ { hold: 1s, warmup: true }, { hold: 2s } ]");
    let study =
        study(&format!("{text}{ONE}"), &["--replications", "4"], &["failed: rate<1%", "failed: rate<0.1%"]);
    let [loose, strict] = &study.points[0].thresholds[..] else { panic!("{study:?}") };
    assert_eq!((loose.value, strict.value), (Some(0.0), Some(0.0)));
    let [low, high] = strict.interval.unwrap();
    let exact = 1.0 - 0.025f64.powf(1.0 / strict.n as f64);
    assert!(low == 0.0 && (high - exact).abs() < 1e-9, "{high} {exact}");
    assert_eq!((loose.outcome, strict.outcome), (Passed, Inconclusive), "n = {}", strict.n);
}

/// M/M/1/6 at 150/s turns away a third of the requests, and is steady.
#[test]
fn what_is_turned_away_is_judged_where_nothing_grows() {
    let text = format!("{}{}", long(), ONE.replace("servers: 1", "servers: 1, queue: 5"));
    let text = text.replace("60/s", "150/s");
    let study = study(
        &text,
        &["--replications", "5"],
        &["failed: rate<10%", "failed: rate<50%", "response_ok: p(99)<1s"],
    );
    assert_eq!(outcomes(&study.points[0]), [Crossed, Passed, Passed]);
}

#[test]
fn fixed_work_is_judged_over_its_replications() {
    let text = format!(
        "seed: 1\nusers: {{ work: {{ requests: 2000, users: 10 }} }}\njourney: [ {{ get: / }} ]\n{ONE}"
    );
    // Ten in turn at a server of 10 ms: 100 ms each.
    let study = study(&text, &["--replications", "4"], &["avg<150", "avg<50"]);
    assert_eq!(outcomes(&study.points[0]), [Passed, Crossed]);
}

#[test]
fn a_single_run_without_a_steady_state_judges_only_what_does_not_hang_on_it() {
    let demands =
        ["--threshold", "p(99)<60s", "--threshold", "failed: count<1", "--threshold", "started: rate>100"];
    let of = |rate: &str| single(&format!("{}{ONE}", long()).replace("60/s", rate), &demands);
    let judged = |summary: &Summary| summary.thresholds.iter().map(|t| t.outcome).collect::<Vec<_>>();
    let calm = of("60/s");
    assert_eq!(judged(&calm), [Passed, Passed, Crossed]);
    let over = of("150/s");
    assert_eq!(judged(&over)[2], Passed);
    let p99 = &over.thresholds[0];
    assert!(p99.reason == Some(headway_stats::summary::Why::Overloaded.into()) && p99.interval.is_none());
    assert_eq!((p99.outcome, p99.open), (Crossed, Some(Open::Data)));
    assert_eq!(exit::of_summary(&over, false), exit::CROSSED);
    let ramp = LOAD.replace("[ { hold: 20s } ]", "[ { ramp: 20s, to: 60/s }, { hold: 20s } ]");
    let ramp = single(&format!("{ramp}{ONE}"), &demands);
    let reason = &ramp.thresholds[0].reason.as_ref().unwrap().why;
    let headway_stats::summary::Why::NotSteady { because: Some(because) } = reason else {
        panic!("{reason:?}")
    };
    assert!(matches!(because.why, headway_stats::summary::Unsteady::PlanVaries { .. }), "{because:?}");
}

/// Ten users over one server without room to wait.
fn crowd(think: &str, model: &str) -> Option<headway_stats::summary::Finding> {
    let text = format!(
        "seed: 3\nusers: {{ closed: {{ count: 10 }}, think: {think}, phases: [ {{ hold: 200ms }} ] }}\njourney: [ {{ get: / }} ]\n\
         model: {model}\n"
    );
    single(&text, &[]).verdict.findings.into_iter().find(|finding| finding.id == FindingId::TurnedAway)
}

#[test]
fn users_who_are_only_turned_away_are_named() {
    let full = "{ servers: 1, queue: 0, service: const(10ms) }";
    let note = crowd("0s", full).expect("nine of ten ask every 10 us");
    let text = headway_report::words::findings::text(&note);
    assert!(
        text.contains("turned away by target") && text.contains("each after 10.0 us on average"),
        "{text}"
    );
    assert!(text.contains("Give users a think time") && text.contains("backoff"), "{text}");
    // Nine tenths of 1e5 a second.
    assert!((note.value.unwrap() / 9e4 - 1.0).abs() < 0.01, "{note:?}");
    let open =
        "{ servers: 1, queue: 0, service: const(10ms), breaker: { failures: 5, open: 5s, probes: 1 } }";
    let note = crowd("0s", open).expect("all of them, while it is open");
    assert!((note.value.unwrap() / 1e5 - 1.0).abs() < 0.01, "{note:?}");
    for (think, model) in [
        // Who thinks, even shortly, is no such crowd.
        ("exp(20ms)", full),
        ("exp(1s)", full),
        // Who waits in a queue is not turned away; who is so behind a cable waits for the word of it.
        ("0s", "{ servers: 1, service: const(10ms) }"),
        ("0s", "{ servers: 1, queue: 0, service: const(10ms), cable: const(5ms) }"),
        ("0s", "{ servers: 1, queue: 9, service: const(10ms) }"),
    ] {
        assert_eq!(crowd(think, model), None, "{think}, {model}");
    }
}

#[test]
fn a_point_of_a_study_names_users_who_are_only_turned_away() {
    let text = "seed: 3\nusers: { closed: { count: 10 }, think: 0s, phases: [ { hold: 1s } ] }\njourney: [ { get: / } ]\n\
                model: { servers: 1, queue: 0, service: const(10ms) }\n";
    let study = played(text, &["--sweep", "model.queue=0,20"]);
    let notes = |i: usize| super::notes(&study.points[i]);
    assert!(
        notes(0).contains("refusals per user and second") && notes(0).contains("by target"),
        "{}",
        notes(0)
    );
    assert!(!notes(1).contains("refusals"), "{}", notes(1));
}

#[test]
fn who_arrives_and_is_turned_away_does_not_come_again() {
    let text =
        format!("{}{}", LOAD.replace("60/s", "1000/s"), ONE.replace("servers: 1", "servers: 1, queue: 0"));
    assert!(single(&text, &[]).verdict.findings.iter().all(|finding| finding.id != FindingId::TurnedAway));
}
