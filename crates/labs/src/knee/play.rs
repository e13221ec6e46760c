//! A search of a system with a known knee, and the plain bisection that it is compared with.

use super::systems::System;
use headway_base::Nanos;
use headway_base::random::Stream;
use headway_engine::Control;
use headway_engine::experiment::search::in_virtual_time;
use headway_stats::search::{Bounds, Criterion, Ended, Knee, Next, Search, Trial, Tried};

/// What half the width of the interval over its middle is to be.
pub const PRECISION: f64 = 0.05;
/// No trial is longer: a day.
const LONGEST: Nanos = Nanos::from_secs(24 * 3600);

/// What a search gave.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Result {
    /// Whether it ended with an interval as narrow as was asked, and that held the knee.
    pub held: bool,
    /// Half the width of the interval over its middle; none if it did not end.
    pub half: Option<f64>,
    /// Requests in all.
    pub requests: u64,
    /// Trials.
    pub trials: usize,
}

/// The first rate: an eighth to a sixteenth of the knee, at random.
fn first(system: &System, seed: u64) -> f64 {
    let offset = Stream::new(seed, "lab-knee-start").item(0).open01();
    system.knee() / libm::exp2(3.0 + offset)
}

/// The seed of a trial.
fn of_trial(seed: u64, trial: usize) -> u64 {
    Stream::new(seed, "lab-knee-trial").bits(trial as u64, 0) >> 11
}

fn holds(system: &System, [low, high]: [f64; 2]) -> bool {
    (low..=high).contains(&system.knee())
}

/// Searches it.
///
/// # Errors
/// None: the systems are sound.
pub fn search(system: &System, seed: u64) -> anyhow::Result<Result> {
    let asked = system.asked()?;
    let criteria: Vec<Criterion> = asked.iter().map(|asked| asked.criterion).collect();
    let from = first(system, seed);
    let mut search = Search::new(Bounds { from, lowest: from, to: None, precision: PRECISION });
    let (mut requests, mut begun) = (0, 0.0);
    loop {
        let trials = search.tried().len();
        let (rate, ask) = match search.next() {
            Next::Over(Knee::Within(interval)) => {
                return Ok(Result {
                    held: holds(system, interval),
                    half: search.precision(),
                    requests,
                    trials,
                });
            }
            Next::Over(_) => return Ok(Result { held: false, half: None, requests, trials }),
            Next::Trial { rate, ask } => (rate, ask),
        };
        let play = system.play(rate, of_trial(seed, trials), LONGEST)?;
        let trial = Trial::new(&criteria, rate * f64::from(system.requests), ask);
        let played = in_virtual_time(&play, &asked, &trial, &Control::default())?;
        requests += played.requests;
        let ended = played.trial.decided().map_or(Ended::Nothing, Ended::Decided);
        let took = played.reached.as_secs_f64();
        search.take(Tried::of(rate, ended, &played.trial, [begun, took]));
        begun += took;
    }
}

/// The rates of a plain bisection each of whose trials is right: they double until one fails.
pub fn bisected(system: &System, seed: u64) -> Vec<f64> {
    let (mut low, mut high, mut rate) = (None, None, first(system, seed));
    let mut rates = Vec::new();
    loop {
        rates.push(rate);
        if rate > system.knee() {
            high = Some(rate)
        } else {
            low = Some(rate)
        }
        rate = match (low, high) {
            (Some(low), Some(high)) if (high - low) / (high + low) <= PRECISION => return rates,
            (Some(low), Some(high)) => 0.5 * (low + high),
            (Some(low), None) => 2.0 * low,
            (None, high) => 0.5 * high.unwrap_or(rate),
        };
    }
}
