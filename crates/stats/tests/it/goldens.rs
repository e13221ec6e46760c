//! Against numpy and scipy: goldens/make.py writes what is read here.
//!
//! Quantiles come from cells a thousandth of their value wide and told as their middle: 0.05 % (0.0006 allowed for
//! the rounding of the middle). KS distances are taken at cell borders: they may be short by the stated cell error.

use crate::world::{World, answered};
use headway_base::Nanos;
use headway_stats::summary::Arrivals;
use headway_stats::{Analysis, Facts, PlanLaw};
use serde_json::Value;
use std::sync::Arc;
use std::sync::LazyLock;

static GOLDENS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../goldens/goldens.json")).unwrap());

fn number(v: &Value) -> f64 {
    v.as_f64().unwrap()
}

#[track_caller]
fn close(got: f64, expected: &Value, relative: f64) {
    let expected = number(expected);
    assert!((got - expected).abs() <= relative * expected.abs(), "got {got}, expected {expected}");
}

/// The golden's starts through the streaming interface, all of them as planned.
fn arrivals(name: &str, cdf: impl Fn(f64) -> f64 + Send + Sync + 'static) -> (Arrivals, &'static Value) {
    let golden = &GOLDENS[name];
    let mut world = World::empty(1000.0, 4);
    let started = golden["started"].as_array().unwrap();
    world.records = (0u64..)
        .zip(started)
        .map(|(k, at)| answered(k, at.as_i64().unwrap(), at.as_i64().unwrap(), 1))
        .collect();
    let last = world.records.last().unwrap().intended;
    let mut setup = world.setup(1);
    // All starts are measured; the windows of the golden end at 4 s.
    assert!(last < Nanos::from_secs(4), "{last}");
    let plan = setup.plan.take().unwrap();
    setup.plan = Some(PlanLaw { gap_cdf: Some(Arc::new(cdf)), ..plan });
    let mut analysis = Analysis::new(setup);
    world.feed(&mut analysis, 1);
    (analysis.finish(Facts::default()).arrivals, golden)
}

fn check(name: &str, cdf: impl Fn(f64) -> f64 + Send + Sync + 'static) {
    let (got, golden) = arrivals(name, cdf);
    assert_eq!(got.n, golden["n"].as_u64().unwrap());
    for (got, key) in [
        (got.headway_mean, "mean"),
        (got.headway_sd, "sd"),
        (got.cov, "cov"),
        (got.cov_se, "cov_se"),
        (got.skewness, "skewness"),
        (got.kurtosis, "kurtosis"),
        (got.min, "min"),
        (got.max, "max"),
    ] {
        close(got.unwrap(), &golden[key], 1e-9);
    }
    assert!((got.lag1.unwrap() - number(&golden["lag1"])).abs() < 1e-9);
    for (got, p) in [(got.p50, "0.5"), (got.p90, "0.9"), (got.p95, "0.95"), (got.p99, "0.99")] {
        close(got.unwrap(), &golden["quantiles"][p], 0.0006);
    }
    let plan = got.ks.plan.unwrap();
    let exact = number(&golden["ks_plan"]["d"]);
    assert!(plan.d <= exact + 1e-12 && plan.d >= exact - plan.cell_error, "{plan:?} {exact}");
    // The law of the bursty process is steep at 0, where one nanosecond is a cell.
    assert!(plan.cell_error < if name == "poisson" { 5e-4 } else { 0.006 });
    assert!((plan.p - number(&golden["ks_plan"]["p"])).abs() < 0.02, "{plan:?}");
    let fitted = got.ks.exponential.unwrap();
    let exact = number(&golden["ks_exponential"]["d"]);
    assert!(fitted.d <= exact + 1e-12 && fitted.d >= exact - fitted.cell_error, "{fitted:?} {exact}");
    close(fitted.scaled, &golden["ks_exponential"]["scaled"], 0.05);
    for (window, row) in golden["dispersion"].as_object().unwrap() {
        let window: f64 = window.parse().unwrap();
        let got = got.dispersion.iter().find(|r| (r.window - window).abs() < 1e-12).unwrap();
        close(got.index, &row["index"], 1e-9);
        close(got.se, &row["se"], 1e-12);
        assert_eq!(got.windows, row["windows"].as_u64().unwrap());
    }
}

#[test]
fn headways_of_a_poisson_process() {
    check("poisson", |x| -(-x).exp_m1());
}

#[test]
fn headways_of_a_bursty_renewal_process() {
    check("gamma", |x| if x > 0.0 { statrs::function::gamma::gamma_lr(0.25, 0.25 * x) } else { 0.0 });
}

#[test]
fn response_percentiles_and_their_intervals() {
    let golden = &GOLDENS["responses"];
    let mut world = World::empty(1000.0, 3);
    let values = golden["values"].as_array().unwrap();
    world.records = (0i64..)
        .zip(values)
        .map(|(k, x)| answered(k as u64, k * 1_000_000, k * 1_000_000, x.as_i64().unwrap()))
        .collect();
    let response = world.analyse().response;
    close(response.mean.unwrap(), &golden["mean"], 1e-12);
    close(response.sd.unwrap(), &golden["sd"], 1e-12);
    for (got, p) in
        [(response.p50, "0.5"), (response.p90, "0.9"), (response.p95, "0.95"), (response.p99, "0.99")]
    {
        close(got.unwrap(), &golden["quantiles"][p], 0.0006);
    }
    let ci = response.ci95;
    // The t point is good to 1e-9.
    (0..2).for_each(|i| close(ci.mean.unwrap()[i], &golden["ci_mean"][i], 1e-7));
    for (got, p) in [(ci.p50, "0.5"), (ci.p90, "0.9"), (ci.p95, "0.95")] {
        // Shares are taken at the borders of cells, one observation off at most: 1 % of the value here.
        (0..2).for_each(|i| close(got.unwrap()[i], &golden["ci_quantile"][p][i], 0.01));
    }
}

#[test]
fn points_of_the_laws_used() {
    for (degrees, t) in (1..).zip(GOLDENS["t975"].as_array().unwrap()) {
        close(headway_stats::intervals::t975(degrees), t, 1e-9);
    }
    for pair in GOLDENS["kolmogorov_sf"].as_array().unwrap() {
        assert!(
            (headway_stats::ks::kolmogorov_sf(number(&pair[0])) - number(&pair[1])).abs() < 1e-9,
            "{pair}"
        );
    }
    for row in GOLDENS["clopper_pearson"].as_array().unwrap() {
        let got =
            headway_stats::intervals::clopper_pearson(row[0].as_u64().unwrap(), row[1].as_u64().unwrap());
        assert!(
            (got[0] - number(&row[2])).abs() < 1e-9 && (got[1] - number(&row[3])).abs() < 1e-9,
            "{row} {got:?}"
        );
    }
}
