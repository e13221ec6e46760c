//! How often the intervals of a study hold the truth, where a formula has it: the listed cases play with every change, the long ones nightly.

use super::Play;
use super::point::{PointBuilder, PointResult};
use super::replication::{Replication, seed};
use headway_stats::queueing::Mmc;
use headway_stats::summary::Interval;
use headway_workload::Shard;
use headway_workload::scenario::{Surroundings, no_logs, parse};

/// A study with that number of replications.
struct Case {
    name: &'static str,
    rate: f64,
    seconds: u64,
    model: &'static str,
    replications: u64,
    truth: f64,
    interval: fn(&PointResult) -> Option<Interval>,
}

fn play(case: &Case) -> Play {
    let text = format!(
        "users: {{ arrive: {{ rate: {}/s }}, phases: [ {{ hold: {}s }} ] }}\njourney: [ {{ get: / }} ]\nmodel: {}\n",
        case.rate, case.seconds, case.model
    );
    let around = Surroundings { read: &|name| Err(name.to_owned()), env: &|_| None, log: &no_logs };
    let scenario = parse("s.yaml", &text, &around).unwrap();
    let plan = scenario.plan(1, Shard::WHOLE);
    let limits = crate::RunSpec::new("s", plan.clone(), 1_000).limits;
    Play { plan, limits, model: scenario.model().unwrap().clone(), streamed: Vec::new() }
}

fn point(play: &Play, replications: u64, own: u64) -> PointResult {
    let mut point = PointBuilder::new(replications, play, &[]);
    for r in 0..replications {
        let (replication, course) = Replication::play(play, seed(own, r), &|| false).unwrap().unwrap();
        point.take(r, replication, course);
    }
    point.finish(&[], play)
}

/// Of so many studies, how many had an interval, and how many of these held the truth, lay below it, and had an end that cannot be.
fn measured(case: &Case, trials: u64) -> [u64; 4] {
    let play = play(case);
    let mut seen = [0; 4];
    for trial in 0..trials {
        let Some([low, high]) = (case.interval)(&point(&play, case.replications, 1_000 + trial)) else {
            continue;
        };
        seen[0] += 1;
        seen[1] += u64::from(low <= case.truth && case.truth <= high);
        seen[2] += u64::from(high < case.truth);
        seen[3] += u64::from(low < 0.0 || low >= high);
    }
    println!(
        "{}: {} of {trials} told, {} held, {} below, {} ends that cannot be",
        case.name, seen[0], seen[1], seen[2], seen[3]
    );
    seen
}

/// Of trials of which 92 % hold the truth so few do by chance: four standard errors.
fn least(told: u64) -> f64 {
    told as f64 * 0.92 - 4.0 * (told as f64 * 0.92 * 0.08).sqrt()
}

fn hold(case: &Case, trials: u64) {
    let [told, held, _, impossible] = measured(case, trials);
    assert!(held as f64 >= least(told) && impossible == 0, "{}: {held} of {told}", case.name);
}

fn failed(point: &PointResult) -> Option<Interval> {
    point.point.failed.ci95
}

fn mean(point: &PointResult) -> Option<Interval> {
    point.point.response["mean"].ci95
}

/// Loss of M/M/1 with that number of places: (1 - a) a^k / (1 - a^(k + 1)).
fn loss(a: f64, places: i32) -> f64 {
    (1.0 - a) * a.powi(places) / (1.0 - a.powi(places + 1))
}

/// A busy second has more requests, and more of them fail: the mean of the plays' shares is 0.631. From empty the server is busy for 2/3 (1 - e^-30t) of
/// the time.
fn of_a_second(replications: u64) -> Case {
    Case {
        name: "failed, 1 s of M/M/1/1",
        rate: 20.0,
        seconds: 1,
        model: "{ servers: 1, service: exp(100ms), queue: 0 }",
        replications,
        truth: 2.0 / 3.0 * (1.0 - (1.0 - (-30f64).exp()) / 30.0),
        interval: failed,
    }
}

/// One failure in ten runs; one in each.
fn rare(places: u32, truth: f64) -> Case {
    Case {
        name: if places > 8 { "failed, one in 16,000" } else { "failed, one in 1,000" },
        rate: 50.0,
        seconds: 20,
        model: if places > 8 {
            "{ servers: 1, service: exp(10ms), queue: 12 }"
        } else {
            "{ servers: 1, service: exp(10ms), queue: 8 }"
        },
        replications: 20,
        truth,
        interval: failed,
    }
}

/// Pollaczek and Khinchine: E S (1 + a (1 + CoV^2) / (2 (1 - a))).
fn skewed(replications: u64, seconds: u64) -> Case {
    Case {
        name: "mean, lognormal services of CoV 3 at 0.7",
        rate: 70.0,
        seconds,
        model: "{ servers: 1, service: 'lognormal(10ms,3)' }",
        replications,
        truth: 0.01 * (1.0 + 0.7 * 10.0 / 0.6),
        interval: mean,
    }
}

fn plain(replications: u64, seconds: u64) -> Case {
    Case {
        name: "mean, M/M/1 at 0.8",
        rate: 80.0,
        seconds,
        model: "{ servers: 1, service: exp(10ms) }",
        replications,
        truth: Mmc::mm1(80.0, 0.01).sojourn_mean(),
        interval: mean,
    }
}

#[test]
fn means_of_short_plays_are_those_of_all_requests() {
    let case = of_a_second(2_000);
    let point = point(&play(&case), case.replications, 5);
    let [low, high] = failed(&point).unwrap();
    let error = (high - low) / 3.92;
    assert!(
        (point.point.failed.mean - case.truth).abs() < 4.0 * error && error < 0.005,
        "{:?}",
        point.point.failed
    );
    // What each play adds has that mean too.
    let added = &point.point.by_replication["failed"];
    assert!((added.iter().sum::<f64>() / 2_000.0 - point.point.failed.mean).abs() < 1e-12);
    let (all, added) = (&point.point.response["mean"], &point.point.by_replication["mean"]);
    assert!((added.iter().sum::<f64>() / 2_000.0 / all.mean - 1.0).abs() < 1e-9);
    hold(&of_a_second(20), 100);
}

#[test]
fn intervals_of_rare_failures_hold_and_end_where_shares_do() {
    hold(&rare(8, loss(0.5, 9)), 60);
    hold(&rare(12, loss(0.5, 13)), 60);
}

/// `TRIALS`: how many (500).
#[test]
#[ignore = "nightly: minutes"]
fn coverage_of_studies() {
    let trials = std::env::var("TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    for case in [of_a_second(20), of_a_second(5), rare(8, loss(0.5, 9)), rare(12, loss(0.5, 13))] {
        hold(&case, trials);
    }
    for case in
        [skewed(20, 200), skewed(10, 2_000), skewed(20, 2_000), plain(20, 30), plain(10, 60), plain(5, 60)]
    {
        hold(&case, trials.min(100_000 / case.seconds));
    }
}
