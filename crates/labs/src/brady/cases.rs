//! The settings that the lab plays, and what they gave.

use super::play::{Numbers, Setting, Stalls, play};
use super::published::{SIZES, T1830, T2100, TESTS, Test};
use crate::{Range, replicate};
use headway_base::Nanos;
use headway_base::units::UnitError;

/// What a setting is played for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Users alone: answers take no time.
    Instant,
    /// The seven tests with independent response times.
    Independent,
    /// The same with pauses of the generator of 100 ms, the more often the higher the rate.
    Paused,
    /// Other models of test 2100.
    Model,
    /// Fixed and uniform think times, with and without stalls.
    Think,
    /// Long after a single stall.
    After,
}

/// A setting with its place in the lab.
#[derive(Clone, Debug)]
pub struct Case {
    pub part: Part,
    pub name: String,
    /// CoV of all 200 users: as printed, or as an independent simulation has it.
    pub published: Option<f64>,
    pub setting: Setting,
}

/// Pauses of 100 ms per second over rate squared: what test 2100 needs (1/3.77 s at 159.16/s), and nearly nothing at the
/// lowest rate.
const PAUSES_PER_RATE_SQUARED: f64 = 1.0466e-5;
/// Pauses per second of 50 and 200 ms that give test 2100 about the same excess.
const PAUSES: [(i64, f64); 2] = [(50, 1.2385), (200, 0.061_84)];

/// A stall of 2 s, once a minute on average.
const MINUTELY: Stalls = Stalls::Random { gap: Nanos::from_secs(60), length: Nanos::from_secs(2) };
/// A stall of 3 s every ten minutes.
const RARE: Stalls = Stalls::Every { every: Nanos::from_secs(600), length: Nanos::from_secs(3) };
/// A single one, and what is counted long after it.
const SINGLE: Stalls = Stalls::Once { at: Nanos::from_secs(200), length: Nanos::from_secs(2) };
const LONG_AFTER_S: (i64, i64) = (1_020, 1_320);

/// How often the generator pauses in a test.
pub fn pauses_per_s(test: &Test) -> f64 {
    PAUSES_PER_RATE_SQUARED * test.tps * test.tps
}

/// Every setting.
///
/// # Errors
/// A law that cannot be.
pub fn all() -> Result<Vec<Case>, UnitError> {
    let mut cases = Vec::new();
    let mut add = |part, name: &str, published, setting| {
        cases.push(Case { part, name: name.to_owned(), published, setting });
    };
    add(Part::Instant, "instant answers", None, Setting::instant(&TESTS[T1830])?);
    for test in &TESTS {
        let independent = Setting::independent(test)?;
        add(Part::Independent, test.name, Some(test.cov), independent.clone());
        add(Part::Paused, test.name, Some(test.cov), independent.paused(pauses_per_s(test), 100));
    }
    let busiest = Setting::independent(&TESTS[T2100])?;
    for (length_ms, per_s) in PAUSES {
        let name = format!("generator pauses, {length_ms} ms");
        add(Part::Model, &name, None, busiest.clone().paused(per_s, length_ms));
    }
    add(Part::Model, "3 s stall every 600 s", None, busiest.clone().stalled(RARE));
    let calm = Setting::independent(&TESTS[T1830])?;
    for (test, uniform, simulated) in
        [("1830", calm.clone(), [0.992, 4.39, 0.995]), ("2100", busiest, [0.997, 3.23, 1.085])]
    {
        let fixed = uniform.clone().fixed_think()?;
        add(Part::Think, &format!("{test} fixed"), Some(simulated[0]), fixed.clone());
        add(Part::Think, &format!("{test} fixed, stalls"), Some(simulated[1]), fixed.stalled(MINUTELY));
        add(Part::Think, &format!("{test} uniform, stalls"), Some(simulated[2]), uniform.stalled(MINUTELY));
    }
    let (from, to) = LONG_AFTER_S;
    let calm = calm.stalled(SINGLE).counted(from, to);
    add(Part::After, "uniform", None, calm.clone());
    add(Part::After, "fixed", None, calm.clone().fixed_think()?);
    let instant = Setting::instant(&TESTS[T1830])?.fixed_think()?.stalled(SINGLE).counted(from, to);
    add(Part::After, "fixed, R = 0", None, instant);
    Ok(cases)
}

/// A setting and its replications.
#[derive(Clone, Debug)]
pub struct Observed {
    pub case: Case,
    pub all: Vec<Numbers>,
}

/// Plays every case so often.
///
/// # Errors
/// None: the settings are sound.
pub fn observe(cases: Vec<Case>, seed: u64, replications: u64) -> anyhow::Result<Vec<Observed>> {
    let played: Vec<anyhow::Result<Vec<Numbers>>> =
        replicate(seed, replications, |seed| cases.iter().map(|case| play(&case.setting, seed)).collect());
    let mut observed: Vec<Observed> =
        cases.iter().map(|case| Observed { case: case.clone(), all: Vec::new() }).collect();
    for replication in played {
        for (of, numbers) in observed.iter_mut().zip(replication?) {
            of.all.push(numbers);
        }
    }
    Ok(observed)
}

impl Observed {
    /// CoV of the first k users, k one of [`SIZES`].
    pub fn cov(&self, k: u32) -> Option<Range> {
        let at = SIZES.iter().position(|&size| size == k)?;
        Range::over(&self.all, |numbers| numbers.cov[at])
    }

    /// How fast CoV^2 - 1 grows with the number of users, in thousandths per user.
    pub fn slope(&self) -> Option<Range> {
        Range::over(&self.all, |numbers| slope(&numbers.cov))
    }
}

/// The least squares line through zero of CoV^2 - 1 over k, from 50 users on, in thousandths per user.
pub fn slope(cov: &[f64]) -> f64 {
    let points = SIZES.iter().zip(cov).filter(|(k, _)| **k >= 50);
    let (products, squares) = points.fold((0.0, 0.0), |(products, squares), (&k, cov)| {
        let k = f64::from(k);
        (products + k * (cov * cov - 1.0), squares + k * k)
    });
    1e3 * products / squares
}
