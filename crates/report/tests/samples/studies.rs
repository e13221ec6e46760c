//! Studies made by hand: models compared, a sweep of two models with a point that is asked for too much, one that was
//! interrupted, a hostile one. Plausible, not computed.

use headway_stats::study::{Difference, Estimate, Parameter, Point, SCHEMA, Study, WarmUp};
use headway_stats::summary::evidence::{NoSteadyState, Remark};
use headway_stats::summary::{Grows, Unsteady, Why};

/// A name and the study it makes.
pub type Sample = (&'static str, fn() -> Study);

/// Every sample.
pub const STUDIES: &[Sample] = &[
    ("study_models", study_models),
    ("study_sweep", study_sweep),
    ("study_sweeps", study_sweeps),
    ("study_crowded", study_crowded),
    ("study_demands", study_demands),
    ("study_models_demands", study_models_demands),
    ("study_single", study_single),
    ("study_interrupted", study_interrupted),
    ("study_hostile", study_hostile),
    ("study_empty", study_empty),
];

fn words(of: &[&str]) -> Vec<headway_redact::Cleared> {
    of.iter().map(|word| headway_redact::clear(word)).collect()
}

pub fn parameter(name: &str, values: &[&str]) -> Parameter {
    Parameter { name: headway_redact::clear(name), values: words(values) }
}

/// Within 2 % of `mean` either way, and the replications within 10 %.
fn estimate(mean: f64) -> Estimate {
    let about = |share: f64| [mean * (1.0 - share), mean * (1.0 + share)];
    let [p05, p95] = about(0.1).map(Some);
    Estimate { mean, ci95: Some(about(0.02)), p05, p95, ..Estimate::default() }
}

/// A point of exponential response times about `mean`.
fn point(values: &[&str], mean: f64, load: f64) -> Point {
    let quantile = |p: f64| -mean * f64::ln(1.0 - p);
    let numbers =
        [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999), ("max", 0.9999)];
    let mut response: std::collections::BTreeMap<String, Estimate> =
        numbers.iter().map(|&(name, p)| (name.to_owned(), estimate(quantile(p)))).collect();
    response.insert("mean".into(), estimate(mean));
    let curve = (1..=80).map(|i| 1.0 - 0.9_f64.powi(i)).map(|p| (p, quantile(p))).collect();
    let rate = load * 1_250.0;
    let unsteady = load >= 1.0;
    Point {
        values: words(values),
        n: 200_000,
        response,
        offered: Some(estimate(rate)),
        goodput: Some(estimate(rate.min(1_250.0))),
        failed: Estimate { ci95: Some([0.0, 0.0]), p05: Some(0.0), p95: Some(0.0), ..Estimate::default() },
        utilisation: Some(estimate(load.min(0.98))),
        load: Some(load),
        busiest: Some("dynos".into()),
        found: Some(!unsteady),
        steady: if unsteady { 0 } else { 20 },
        cut_share: if unsteady { 0.0 } else { 0.08 },
        little_holds: 20,
        curve,
        ..Point::default()
    }
}

fn difference(study: &Study, point: usize, with: usize, of: &str, half: f64) -> Difference {
    let mean = study.points[point].response[of].mean - study.points[with].response[of].mean;
    let difference = Estimate { mean, ci95: Some([mean - half, mean + half]), ..Estimate::default() };
    Difference { point, with, of: of.into(), ok: false, difference, gain: Some(3.21) }
}

/// Three ways to balance on the same draws; one hardly differs from the first.
pub fn study_models() -> Study {
    let mut study = Study {
        schema: SCHEMA.into(),
        name: "balancers".into(),
        command: Some("headway sim balancers.yaml --replications 20 --seed 1".into()),
        seed: 1,
        replications: 20,
        parameters: vec![parameter("model", &["random", "round-robin", "even"])],
        points: vec![
            point(&["random"], 0.9, 0.8),
            point(&["round-robin"], 0.8992, 0.8),
            point(&["even"], 0.2431, 0.8),
        ],
        ..Study::default()
    };
    study.points[0].failed = Estimate { mean: 0.0124, ci95: Some([0.0119, 0.0129]), ..Estimate::default() };
    study.points[0].steady = 17;
    let pairs = [(1, 0.004), (2, 0.006)];
    study.differences = pairs
        .iter()
        .flat_map(|&(i, half)| {
            ["mean", "p50", "p90", "p99"]
                .map(|of| difference(&study, i, 0, of, half))
                .into_iter()
                .collect::<Vec<_>>()
        })
        .collect();
    study
}

/// Two models over four rates, the last of them beyond what the first can do.
pub fn study_sweep() -> Study {
    let rates = ["400", "800", "1200", "1600"];
    let loads = rates.map(|rate: &str| rate.parse::<f64>().expect("a number") / 1_250.0);
    let of = |model: &'static str, worth: f64| {
        let rows = rates.iter().zip(loads);
        rows.map(move |(rate, load)| {
            let mean = if load < 1.0 { 0.2 * (1.0 + worth * load / (1.0 - load)) } else { 12.0 * worth };
            point(&[model, rate], mean, load)
        })
        .collect::<Vec<_>>()
    };
    let mut study = Study {
        name: "pool".into(),
        parameters: vec![parameter("model", &["random", "least"]), parameter("rate", &rates)],
        points: [of("random", 1.0), of("least", 0.2)].concat(),
        warmup: WarmUp::Phases,
        ..study_models()
    };
    let growth = Grows { part: "dynos".into(), per_second: 350.0, ci95: [338.0, 362.0] };
    let grew = Remark::Unsteady {
        why: Unsteady::Growth { growth }.into(),
        is: NoSteadyState::Absent,
        nothing_left_out: false,
    };
    study.points[3].remarks = vec![grew.into()];
    study.command =
        Some("headway sim pool.yaml --sweep rate=400..1600/400 --replications 20 --seed 1".into());
    study.differences = (4..8).map(|i| difference(&study, i, i - 4, "mean", 0.005)).collect();
    study
}

/// A point for each combination of the values, all of them with the same numbers and held to the same threshold.
pub fn all_alike(parameters: Vec<Parameter>) -> Study {
    let mut rows: Vec<Vec<&str>> = vec![Vec::new()];
    for parameter in &parameters {
        let values = || parameter.values.iter().map(|value| value.as_str());
        rows =
            rows.iter().flat_map(|row| values().map(|value| [row.as_slice(), &[value]].concat())).collect();
    }
    let mut one = point(&[], 0.2, 0.5);
    one.thresholds = study_demands().points[0].thresholds[..1].to_vec();
    let points = rows.into_iter().map(|row| Point { values: words(&row), ..one.clone() }).collect();
    Study { points, parameters, name: "sweeps".into(), differences: Vec::new(), ..study_models() }
}

/// Two long paths over two values each.
pub fn study_sweeps() -> Study {
    all_alike(vec![
        parameter("users.buyers.think", &["0s", "1s"]),
        parameter("users.clerks.closed.count", &["1", "50"]),
    ])
}

/// Models and two paths that end alike: with columns named so there is no room for all numbers, with the values there is.
pub fn study_crowded() -> Study {
    all_alike(vec![
        parameter("model", &["random", "round-robin"]),
        parameter("users.buyers.think", &["500ms", "1s"]),
        parameter("users.clerks.think", &["500ms", "1s"]),
    ])
}

/// The same sweep, held to two thresholds; one of the file is not kept.
pub fn study_demands() -> Study {
    let mut study = study_sweep();
    for point in &mut study.points {
        let over = point.load.is_some_and(|load| load >= 1.0);
        let p99 = point.response["p99"];
        let blank = |text: &str| text.parse::<headway_stats::Threshold>().expect(text).blank();
        let mut first = blank("p(99)<3s");
        (first.value, first.interval, first.n) = (Some(p99.mean), p99.ci95, point.n);
        let mut second = blank("failed: rate<1%");
        (second.value, second.interval, second.n) =
            (Some(point.failed.mean), point.failed.ci95.or(Some([0.0, 0.0001])), point.n);
        let overload = Unsteady::Overload { part: "dynos".into(), load: Some(1.28), growth: None };
        let why = Why::NotSteady { because: Some(Box::new(overload.into())) };
        point.thresholds = vec![first, second];
        for result in &mut point.thresholds {
            headway_stats::thresholds::judge_runs(result, &[], over.then(|| why.clone()));
        }
    }
    study.unjudged = vec![Remark::NotJudged { threshold: "bytes: avg<1KiB".into() }.into()];
    study
}

/// Three models held to a threshold.
pub fn study_models_demands() -> Study {
    let demands = study_demands();
    let mut study = study_models();
    for (point, judged) in study.points.iter_mut().zip([3, 2, 0]) {
        point.thresholds = vec![demands.points[judged].thresholds[0].clone()];
    }
    study
}

/// One replication of each of two times: no spread, and an interval only where batch means have one.
pub fn study_single() -> Study {
    let mut study = Study {
        name: "think".into(),
        replications: 1,
        parameters: vec![parameter("users.think", &["500ms", "2s"])],
        points: vec![point(&["500ms"], 0.03, 0.7), point(&["2s"], 0.01, 0.2)],
        differences: Vec::new(),
        ..study_models()
    };
    for (i, point) in study.points.iter_mut().enumerate() {
        (point.steady, point.little_holds) = (1, 1);
        for of in point.response.values_mut() {
            (of.p05, of.p95) = (None, None);
            of.ci95 = of.ci95.filter(|_| i == 0);
        }
        (point.offered, point.load, point.busiest) = (None, None, None);
    }
    study
}

/// Of four points one was not played to its end.
pub fn study_interrupted() -> Study {
    let mut study = study_sweep();
    study.points.truncate(7);
    study.differences.truncate(3);
    study.missing = vec![words(&["least", "1600"])];
    study
}

/// Names that would break a page or drive a terminal, and an identity that does not hold.
pub fn study_hostile() -> Study {
    let attack = "</script><img src=x onerror=\"alert(1)\">\x1b[2J\u{202e}\u{2028}";
    let mut study = study_models();
    let gate = headway_redact::Redactor::default();
    (study.name, study.command) =
        (gate.clear(&attack.repeat(3)), Some(gate.clear(&format!("headway sim '{attack}'"))));
    study.parameters[0].values[2] = attack.into();
    study.points[2].values[0] = attack.into();
    study.points[2].remarks = vec![Remark::NotJudged { threshold: attack.into() }.into()];
    study.points[2].busiest = Some(attack.into());
    study.points[2].little_holds = 19;
    study
}

/// A document without anything.
pub fn study_empty() -> Study {
    Study { schema: SCHEMA.into(), ..Study::default() }
}
