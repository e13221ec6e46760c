//! A search of a system with a known knee, and the plain bisection that it is compared with.

use super::systems::System;
use headway_base::Nanos;
use headway_base::random::Stream;
use headway_engine::experiment::search::{in_virtual_time, probe, start_of};
use headway_engine::{Backend, Control, RunSpec, Sim};
use headway_stats::search::{Bounds, Criterion, Ended, Knee, Next, Search, Trial, Tried, length};

/// What half the width of the interval over its middle is to be: what `headway search` asks by default.
pub const PRECISION: f64 = 0.1;
/// The budget by default, seconds.
pub const DEFAULT_S: f64 = 180.0;
/// That of the bisection, whose lengths of trials were measured for it.
const BISECTED: f64 = 0.05;
/// The warm-up of a trial's plan.
const WARM_UP: Nanos = Nanos::from_millis(500);

/// What a search gave.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Result {
    /// Whether its last interval held the knee; an end that was not known holds it.
    pub held: bool,
    /// Half the width of the interval over its middle; none if it did not become as narrow as was asked.
    pub half: Option<f64>,
    /// The last interval, over the knee.
    pub interval: [Option<f64>; 2],
    /// The last estimate, over the knee, and the one after [`DEFAULT_S`].
    pub estimate: f64,
    /// That.
    pub by_default: f64,
    /// Requests in all.
    pub requests: u64,
    /// Trials.
    pub trials: usize,
    /// Seconds that it lasted.
    pub seconds: f64,
}

/// A first rate for the bisection: an eighth to a sixteenth of the knee, at random.
fn first(system: &System, seed: u64) -> f64 {
    let offset = Stream::new(seed, "lab-knee-start").item(0).open01();
    system.knee() / libm::exp2(3.0 + offset)
}

/// The seed of a trial.
fn of_trial(seed: u64, trial: usize) -> u64 {
    Stream::new(seed, "lab-knee-trial").bits(trial as u64, 0) >> 11
}

/// Searches it as `headway search` does with nothing but a threshold, for so many seconds at most.
///
/// # Errors
/// None: the systems are sound.
pub fn search(system: &System, seed: u64, budget_s: f64) -> anyhow::Result<Result> {
    let asked = system.asked()?;
    let criteria: Vec<Criterion> = asked.iter().map(|asked| asked.criterion).collect();
    let bounds = Bounds { from: 10.0, lowest: 0.1, to: None, precision: PRECISION };
    let mut search = Search::new(bounds);
    let play = system.play(50.0, of_trial(seed, usize::MAX), WARM_UP, Nanos::from_secs(5))?;
    let backend = Backend::Sim(Box::new(Sim::new(play.model)));
    let base = RunSpec { limits: play.limits, ..RunSpec::new(system.name, play.plan, 1_000_000) };
    let probed = probe(&base, &backend, &asked, &bounds, &Control::default(), |_| ())?;
    if let Some(start) = start_of(&probed) {
        search.expect(start);
    }
    let mut requests = probed.rows.iter().map(|row| row.requests).sum();
    let mut seconds = probed.took_s();
    let mut by_default = search.estimate();
    loop {
        let trials = search.tried().len();
        let rate = match search.next() {
            Next::Trial { rate } => rate,
            Next::Over(knee) => {
                let half = search.precision().filter(|_| matches!(knee, Knee::Within(_)));
                return Ok(result(system, &search, half, by_default, (requests, seconds)));
            }
        };
        let per_second = rate * f64::from(system.requests());
        let length = length(&criteria, per_second);
        if seconds + length.as_secs_f64() > budget_s {
            return Ok(result(system, &search, None, by_default, (requests, seconds)));
        }
        let play = system.play(rate, of_trial(seed, trials), WARM_UP, Nanos(3 * length.0))?;
        let trial = Trial::new(&criteria, per_second, length);
        let played = in_virtual_time(&play, &asked, &trial, &Control::default())?;
        requests += played.requests;
        let ended = played.trial.decided().map_or(Ended::Nothing, Ended::Decided);
        let took = played.reached.as_secs_f64();
        search.take(Tried::of(rate, ended, &played.trial, [seconds, took]));
        seconds += took;
        if seconds <= DEFAULT_S {
            by_default = search.estimate();
        }
    }
}

fn result(
    system: &System,
    search: &Search,
    half: Option<f64>,
    by_default: Option<f64>,
    (requests, seconds): (u64, f64),
) -> Result {
    let knee = system.knee();
    let [low, high] = search.interval();
    Result {
        held: low.is_none_or(|low| low <= knee) && high.is_none_or(|high| knee <= high),
        half,
        interval: [low, high].map(|end| end.map(|end| end / knee)),
        by_default: by_default.unwrap_or(f64::NAN) / knee,
        estimate: search.estimate().unwrap_or(f64::NAN) / knee,
        requests,
        trials: search.tried().len(),
        seconds,
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
            (Some(low), Some(high)) if (high - low) / (high + low) <= BISECTED => return rates,
            (Some(low), Some(high)) => 0.5 * (low + high),
            (Some(low), None) => 2.0 * low,
            (None, high) => 0.5 * high.unwrap_or(rate),
        };
    }
}
