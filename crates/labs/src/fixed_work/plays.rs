//! One replication of everything, and all of them by what they are of.

use super::closed;
use super::fixed::{self, Fixed};
use super::frameworks::{self, Framework, Listed};
use super::open::{self, Open, slope};
use super::published::{FEEDS, FRAMEWORKS, LOOPS, SATURATED};
use super::stop;
use super::system::reference;
use crate::{Range, replicate};
use headway_base::Nanos;
use headway_workload::Process;

/// Users per second of the open test: those published, and between them those that place the knees.
pub const RATES: [f64; 21] = [
    10.0, 20.0, 30.0, 36.0, 37.0, 38.0, 39.0, 40.0, 41.0, 42.0, 43.0, 44.0, 45.0, 46.0, 48.0, 50.0, 52.0,
    55.0, 60.0, 65.0, 70.0,
];
/// At this rate evenly spaced users are compared with Poisson ones.
pub const EVEN_AT: f64 = 43.0;
/// A response time that is still good, in milliseconds.
pub const BOUND_MS: f64 = 100.0;
/// Requests of a closed loop.
const LOOP: u64 = 50_000;
/// The stop.
const STOP: Nanos = Nanos::from_secs(2);

/// What is played: all, or in a test a part.
#[derive(Clone, Debug)]
pub struct Parts {
    pub fixed: bool,
    /// Requests of each closed loop; none: no loops.
    pub loops: u64,
    pub rates: Vec<f64>,
    pub stop: Nanos,
    pub frameworks: Vec<Framework>,
}

impl Parts {
    /// Everything.
    pub fn all() -> Parts {
        Parts { fixed: true, loops: LOOP, rates: RATES.to_vec(), stop: STOP, frameworks: FRAMEWORKS.to_vec() }
    }
}

/// One replication.
#[derive(Clone, Debug, Default)]
pub struct Played {
    /// In the order of [`FEEDS`].
    pub fixed: Vec<Fixed>,
    /// Requests/s, mean, p99, in the order of [`LOOPS`].
    pub loops: Vec<[f64; 3]>,
    /// By rate.
    pub open: Vec<(f64, Open)>,
    /// Evenly spaced users.
    pub even: Option<Open>,
    /// Mean, p50, p99, longest: open, closed.
    pub stop: [[f64; 4]; 2],
    /// In the order of [`FRAMEWORKS`].
    pub frameworks: Vec<Listed>,
}

/// Plays the parts so often.
///
/// # Errors
/// None: the settings are sound.
pub fn all(parts: &Parts, seed: u64, replications: u64) -> anyhow::Result<Vec<Played>> {
    replicate(seed, replications, |seed| once(parts, seed)).into_iter().collect()
}

fn once(parts: &Parts, seed: u64) -> anyhow::Result<Played> {
    let mut played = Played { stop: stop::play(parts.stop, seed)?, ..Played::default() };
    if parts.fixed {
        played.fixed =
            FEEDS.iter().map(|feed| fixed::play(feed, reference()?, seed)).collect::<anyhow::Result<_>>()?;
    }
    if parts.loops > 0 {
        for (users, _) in LOOPS {
            let (times, rate) = closed::play(users, parts.loops, None, seed)?;
            played.loops.push([rate, times.mean(), times.quantile(0.99)]);
        }
    }
    for &rate in &parts.rates {
        played.open.push((rate, open::play(Process::Poisson, rate, reference()?, seed)?));
        if rate == EVEN_AT {
            played.even = Some(open::play(Process::Constant, rate, reference()?, seed)?);
        }
    }
    played.frameworks =
        parts.frameworks.iter().map(|one| frameworks::play(one, seed)).collect::<anyhow::Result<_>>()?;
    Ok(played)
}

impl Played {
    /// The open test at that rate.
    pub fn at(&self, rate: f64) -> Option<&Open> {
        self.open.iter().find(|(at, _)| *at == rate).map(|(_, open)| open)
    }

    /// The highest rates with p99, and p99.99, within [`BOUND_MS`].
    pub fn knees(&self) -> [Option<f64>; 2] {
        open::knees(&self.open, BOUND_MS)
    }

    /// Growth of the mean and of p99 per user per second past saturation.
    pub fn slopes(&self) -> [f64; 2] {
        [3, 5].map(|number| {
            let points =
                SATURATED.iter().filter_map(|(rate, _)| Some((*rate, self.at(*rate)?.numbers[number])));
            slope(&points.collect::<Vec<_>>())
        })
    }
}

/// Of a number that not every replication has.
pub fn range(all: &[Played], of: impl Fn(&Played) -> Option<f64>) -> Option<Range> {
    Range::of(all.iter().filter_map(of).collect())
}

/// A number of the open test at a rate.
pub fn at(all: &[Played], rate: f64, of: impl Fn(&Open) -> f64) -> Option<Range> {
    range(all, |played| played.at(rate).map(&of))
}
