//! What a simulation can tell besides: whether it reached a steady state, and how the parts of the model fared.

use super::{Interval, Stated, Unsteady, Why};
use headway_redact::Cleared;
use serde::{Deserialize, Serialize};

/// A simulated run, seen from inside.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Simulation {
    /// What of the run is its warm-up, and the mean response time after it.
    pub steady: Steady,
    /// The parts of the model, in the order in which they are written; copies together.
    pub parts: Vec<ModelPart>,
    /// Attempts that parts with retries or hedging made for each request of the measured phase that came to them; none where
    /// nothing is made again.
    pub attempts_per_request: Option<f64>,
    /// Of the servers' time that went into requests of the measured phase, whenever they were served, the share of what nobody
    /// waited for any more: the client, or the part before, had given up when it was done.
    pub wasted: Option<f64>,
    /// Little's law, as an identity: both sides are counted apart.
    pub little: LittleIdentity,
}

/// Whether there is a steady state, and from when on.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Steady {
    /// Requests that were looked at, in the order in which they were due.
    pub n: u64,
    /// Whether a steady state was found: by MSER (White 1997) the warm-up is within the first half of the run, and nothing else
    /// speaks against one.
    pub found: bool,
    /// What does, in words that follow "none found:"; none where one was found.
    pub why_not: Option<Stated<Unsteady>>,
    /// Requests that belong to the warm-up, by MSER; left out of `mean`.
    pub cut: u64,
    /// When the last of them was due.
    pub cut_s: f64,
    /// Mean response time after it; requests without an answer, at most 1 %, count with the time until they were given up.
    pub mean: Option<f64>,
    /// Whether there are such requests, so that the mean would be larger had they been waited for.
    pub lower_bound: bool,
    /// Its 95 % interval by batch means.
    pub ci95: Option<Interval>,
    /// Correlation of neighbouring batches: near zero where they are long enough.
    pub batch_lag1: Option<f64>,
    /// How long the slowest part of the model takes to forget where it began: its relaxation time. Of stations, where a formula has
    /// that of every one (none with stalls or a limited queue, or where one is asked for all that it can do), and of faults that
    /// come and go.
    pub relaxation_s: Option<f64>,
    /// Length of the measured phase in relaxation times.
    pub relaxations: Option<f64>,
    /// How long the measured phase must last after its warm-up for a single run to have 95 % intervals of means and of percentiles up
    /// to the 95th: 500 relaxation times, more where service times are skewed. The 99th takes twice as long, the 99.9th twenty
    /// times. None where no relaxation time is known.
    pub trusted_s: Option<f64>,
    /// Whether service times are too skewed for the mean of a single run to have an interval, however long the run is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub skewed: bool,
    /// Period of a model that repeats itself (a stall or fault by the clock); none of others. It is steady over whole periods.
    pub period_s: Option<f64>,
}

/// What a service law has none of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Infinite {
    /// The mean service time is infinite: any load is more than the station can do.
    MeanService,
    /// The mean wait is infinite, because the variance of the service times is (Pollaczek 1930, Khinchine 1932; for other
    /// arrivals Kiefer and Wolfowitz 1956), although the load is below 1.
    MeanWait,
    /// The variance of the service times is infinite, and so that of the response times: their mean has no interval.
    ServiceVariance,
    /// The variance of the waits is infinite, because the service times have no third moment (of several servers: no moment of
    /// order 1 + 2/k, where k servers are more than the load needs): the mean response time has no interval (Kiefer and Wolfowitz
    /// 1956; Scheller-Wolf and Sigman 1997).
    WaitVariance,
}

impl Infinite {
    /// Whether a mean response time has no interval for it, although there is a steady state.
    pub fn leaves_no_interval(self) -> bool {
        self != Infinite::MeanService
    }

    /// Why the mean response time then has none.
    pub fn against_the_mean(self) -> Why {
        if self == Infinite::MeanWait { Why::MeanInfinite } else { Why::HeavyTail }
    }
}

/// A part of the model, all its copies together.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelPart {
    /// Its name.
    pub name: Cleared,
    /// `balancer`, `station` or `pass`, and for the first two the policy or discipline: `balancer random`.
    pub kind: String,
    /// How many there are.
    pub copies: u64,
    /// Servers of each copy; none unless it is a station.
    pub servers: Option<u64>,
    /// Requests that came to it, retries and hedges among them, of those that came to the model in the measured phase.
    pub requests: u64,
    /// Of those, the ones that it answered with a failure.
    pub failed: u64,
    /// Work asked of it per time and server in the measured phase: 1 or more means no steady state. None where it cannot be told
    /// beforehand: of what is no station, of users who wait for their answers, of steps with laws of their own, and behind
    /// retries, hedges, breakers, faults and timeouts that call back.
    pub offered: Option<f64>,
    /// What is infinite about its service times, or its waits; none where nothing is known to be.
    pub infinite: Option<Infinite>,
    /// Share of the servers' time in the measured phase that they were busy; a server that holds a request through a stall is. None unless it is a
    /// station.
    pub utilisation: Option<f64>,
    /// Requests in it, waiting or served, averaged over the measured phase and copies.
    pub number: f64,
    /// Each copy: at most the first 1,000.
    pub by_copy: Vec<CopyLoad>,
    /// Over the whole run, warm-up and drain too, all copies together.
    pub series: Vec<PartPoint>,
}

/// One copy of a part.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CopyLoad {
    /// Requests that came to it, of those that came to the model in the measured phase.
    pub requests: u64,
    /// Share of its servers' time that was spent serving in the measured phase.
    pub utilisation: Option<f64>,
    /// Requests in it, averaged over the measured phase.
    pub number: f64,
}

/// A stretch of time of a part.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PartPoint {
    /// Its middle.
    pub at_s: f64,
    /// Share of the servers' time that was spent serving.
    pub utilisation: Option<f64>,
    /// Requests in it, waiting or served, averaged over time and copies.
    pub number: f64,
    /// Share of the copies' time that they were up; none where nothing fails.
    pub up: Option<f64>,
}

/// Little's law (Little 1961) on the whole run, from its empty beginning to its end: the integral of the number of requests in
/// the model, and the sum of their times in it. The number is counted up when a request comes and down when it leaves, and
/// a request which has not left counts until the end. The times are what is written down of each request: from when it came to when
/// it left, or, if it is found in the model at the end, to then. So it checks that requests are neither forgotten nor let out
/// twice, and that each is let out at its own time; it does not check the numbers of the parts.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LittleIdentity {
    /// Requests that came to the model.
    pub n: u64,
    /// Integral of the number in the model over time, in request-seconds.
    pub area_s: f64,
    /// Sum of the times spent in it, in seconds.
    pub sum_s: f64,
    /// Whether they agree to the nanosecond.
    pub holds: bool,
}
