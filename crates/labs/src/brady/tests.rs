//! The published and the simulated figures, within 4 standard errors.

use super::cases::{self, Case, observe};
use super::*;
use crate::Range;

/// Plays the cases of a part whose names pass.
fn observed(part: Part, named: &[&str], replications: u64) -> Vec<Observed> {
    let mut cases = cases::all().unwrap();
    cases.retain(|case| case.part == part && (named.is_empty() || named.contains(&case.name.as_str())));
    assert!(!cases.is_empty(), "{part:?} {named:?}");
    observe(cases, 17, replications).unwrap()
}

/// Whether the mean is within 4 standard errors of a value that is the mean of `n` replications of the same spread, and
/// rounded to `rounding`.
fn near(what: &str, value: f64, n: f64, rounding: f64, range: Option<Range>) {
    let range = range.unwrap();
    let error = range.sd.unwrap() * (1.0 / n + 1.0 / range.n as f64).sqrt();
    let bound = 4.0 * error + 0.5 * rounding;
    assert!((range.mean - value).abs() <= bound, "{what}: {:.4}, {value} +- {bound:.4}", range.mean);
}

/// The steady values of users whose answers take no time, as theory has them and as an independent simulation has (to three
/// or four digits).
#[test]
fn few_users_are_more_regular_than_many() {
    let instant = observed(Part::Instant, &[], 20).remove(0);
    let simulated = [0.577, 0.774, 0.904, 0.9525, 0.974, 0.9915, 0.9976];
    for (k, value) in STEADY.into_iter().zip(simulated) {
        near(&format!("theory, {k}"), theory::instant(k), f64::INFINITY, 0.0, instant.cov(k));
        near(&format!("simulated, {k}"), value, 12.0, 1e-3, instant.cov(k));
    }
}

/// Every thread group of a calm test.
#[test]
fn independent_response_times_give_what_renewal_theory_says() {
    groups_agree(T1830, 12);
}

#[test]
#[ignore = "half a minute of computing when not optimised"]
fn independent_response_times_give_what_renewal_theory_says_in_every_test() {
    (0..TESTS.len()).for_each(|at| groups_agree(at, 20));
}

fn groups_agree(at: usize, replications: u64) {
    let test = &TESTS[at];
    let played = observed(Part::Independent, &[test.name], replications).remove(0);
    for (k, exact) in SIZES.iter().zip(users(test).cov(&SIZES)) {
        near(&format!("test {}, {k} users", test.name), exact, f64::INFINITY, 0.0, played.cov(*k));
    }
    // The paper's own tests are one replication each: rate and number of users are of theirs.
    let tps = Range::over(&played.all, |n| n.tps);
    near(
        &format!("test {}, tps", test.name),
        200.0 / (test.think_s + test.response_ms / 1e3),
        f64::INFINITY,
        0.0,
        tps,
    );
}

/// As the independent simulation has all 200 users: independent, paused, stalled; test 2100's models by group.
#[test]
#[ignore = "a minute of computing when not optimised"]
fn models_give_what_the_simulation_gave() {
    let simulated = [0.998, 0.994, 0.995, 0.997, 0.996, 0.996, 0.997];
    for (played, value) in observed(Part::Independent, &[], 20).iter().zip(simulated) {
        near(&format!("{} independent", played.case.name), value, 12.0, 1e-3, played.cov(200));
    }
    let simulated = [0.998, 0.996, 1.001, 1.007, 1.019, 1.076, 1.180];
    for (played, value) in observed(Part::Paused, &[], 20).iter().zip(simulated) {
        near(&format!("{} paused", played.case.name), value, 12.0, 1e-3, played.cov(200));
    }
    let simulated = [
        [0.602, 0.9251, 1.0216, 1.0877, 1.1457, 1.1989],
        [0.6424, 0.9313, 1.027, 1.082, 1.1297, 1.1732],
        [0.6464, 0.9478, 1.0441, 1.0938, 1.1373, 1.1736],
    ];
    for (played, values) in observed(Part::Model, &[], 20).iter().zip(simulated) {
        for (k, value) in COMPARED.into_iter().zip(values) {
            near(&format!("{}, {k} users", played.case.name), value, 12.0, 1e-3, played.cov(k));
        }
    }
    for played in observed(Part::Think, &[], 20) {
        near(&played.case.name, played.case.published.unwrap(), 12.0, 1e-2, played.cov(200));
    }
}

/// One replication of short tests, to see that the report holds together.
#[test]
fn the_report_fits() {
    let cases: Vec<Case> = cases::all()
        .unwrap()
        .into_iter()
        .map(|case| Case { setting: case.setting.clone().counted(120, 140), ..case })
        .collect();
    let observed = observe(cases, 1, 2).unwrap();
    let report = Brady.report(1, &observed);
    assert_eq!(report.tables.iter().map(|table| table.rows.len()).collect::<Vec<_>>(), [7, 24, 7, 14, 6, 9]);
    assert_eq!(report.notes.len(), 7);
    crate::text::tests::is_fit(&report);
}
