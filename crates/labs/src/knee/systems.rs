//! Systems whose knee is known by a formula, and how long the trials of a plain bisection of each are.

use headway_base::dist;
use headway_base::{Nanos, Phase, Profile, Rate};
use headway_engine::experiment::search::{Asked, asked};
use headway_engine::simulate::Play;
use headway_stats::Threshold;
use headway_stats::queueing::{Mmc, Mmck};
use headway_workload::journey::{Journey, Node, no_think};
use headway_workload::model::{Model, Station};
use headway_workload::plan::{Connections, Group, Source};
use headway_workload::{Plan, Process};
use std::sync::Arc;

use Length::{AtLeast, Enough};

/// GETs and POST of a session of O'Hara's test.
const SESSION: u32 = 11;

/// A system and its thresholds.
#[derive(Clone, Copy, Debug)]
pub struct System {
    /// Its name.
    pub name: &'static str,
    /// Servers of its station.
    pub servers: u32,
    /// The law of its service times.
    pub service: &'static str,
    /// How many may wait.
    pub queue: Option<usize>,
    /// Requests of an arrival, one after the other.
    pub requests: u32,
    /// What must hold.
    pub threshold: &'static str,
    /// Its knee, arrivals per second.
    knee: fn() -> f64,
    /// Requests of each trial of the plain bisection.
    pub bisection: Length,
}

/// The shortest of [`LENGTHS`] with which a bisection holds the knee in at least 186 of 200 seeds, in requests, as far as it is known. Printed by
/// `cargo test --release -p headway-labs --lib lengths_of_the_bisection -- --ignored --nocapture`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// This one.
    Enough(u64),
    /// This one or a longer one: the one before it is too short.
    AtLeast(u64),
}

impl Length {
    /// What is known to be needed, requests.
    pub fn requests(self) -> u64 {
        let (Length::Enough(requests) | Length::AtLeast(requests)) = self;
        requests
    }
}

const fn system(
    name: &'static str,
    servers: u32,
    service: &'static str,
    threshold: &'static str,
    knee: fn() -> f64,
    bisection: Length,
) -> System {
    System { name, servers, service, queue: None, requests: 1, threshold, knee, bisection }
}

/// The requests of a session follow one another without a pause, all with one exponential law of service, first come first served: a network of
/// product form with classes (Baskett, Chandy, Muntz and Palacios 1975), in which each request finds what one of M/M/4 finds (Lavenberg and Reiser
/// 1980), at eleven times the rate of the sessions.
const fn session(name: &'static str, service: &'static str, knee: fn() -> f64, least: u64) -> System {
    System { requests: SESSION, ..system(name, 4, service, "p(99)<100ms", knee, AtLeast(least)) }
}

/// Lengths of trials of the bisection that are tried: a factor of 1.5 apart.
#[cfg(test)]
pub const LENGTHS: [u64; 16] = [
    40_000, 60_000, 90_000, 140_000, 200_000, 300_000, 450_000, 700_000, 1_000_000, 1_500_000, 2_250_000,
    3_400_000, 5_000_000, 7_500_000, 11_000_000, 17_000_000,
];

/// All of them.
pub const ALL: [System; 9] = [
    system(
        "M/M/1, p(99)<10ms",
        1,
        "exp(1ms)",
        "p(99)<10ms",
        || of_mmc(1, 0.001, 0.01, 0.01),
        Enough(1_500_000),
    ),
    system("M/M/1, p(90)<10ms", 1, "exp(1ms)", "p(90)<10ms", || of_mmc(1, 0.001, 0.01, 0.1), Enough(700_000)),
    system(
        "M/M/4, p(99)<100ms",
        4,
        "exp(8ms)",
        "p(99)<100ms",
        || of_mmc(4, 0.008, 0.1, 0.01),
        Enough(700_000),
    ),
    system("M/D/1, p(99)<10ms", 1, "const(1ms)", "p(99)<10ms", || of_md1(0.001, 0.01, 0.01), Enough(700_000)),
    System {
        queue: Some(10),
        ..system(
            "M/M/2/12, failed<1%",
            2,
            "exp(2ms)",
            "failed: rate<1%",
            || of_mmck(2, 0.002, 12, 0.01),
            Enough(450_000),
        )
    },
    session("O'Hara, Spring", "exp(7.728ms)", || of_session(0.0077280), 5_000_000),
    session("O'Hara, Ktor", "exp(4.9757ms)", || of_session(0.0049757), 2_250_000),
    session("O'Hara, Micronaut", "exp(4.5035ms)", || of_session(0.0045035), 3_400_000),
    session("O'Hara, Quarkus", "exp(2.1695ms)", || of_session(0.0021695), 7_500_000),
];

/// The rate at which a share of the responses of M/M/c is beyond `limit`, by bisection.
fn of_mmc(servers: u32, mean_service: f64, limit: f64, share: f64) -> f64 {
    root(f64::from(servers) / mean_service, |rate| {
        Mmc { rate, mean_service, servers }.sojourn_beyond(limit) - share
    })
}

/// The rate of sessions at which 1 % of their requests take more than 100 ms.
fn of_session(mean_service: f64) -> f64 {
    of_mmc(4, mean_service, 0.1, 0.01) / f64::from(SESSION)
}

/// The same of M/D/1.
fn of_md1(service: f64, limit: f64, share: f64) -> f64 {
    root(1.0 / service, |rate| md1_wait_beyond(rate * service, limit / service - 1.0) - share)
}

/// The share of M/D/1 that waits longer than `t` service times, at that load (Crommelin 1932). For a few service times: its terms alternate.
fn md1_wait_beyond(load: f64, t: f64) -> f64 {
    let term = |k: u32| {
        let x = load * (t - f64::from(k));
        let power = (1..=k).fold(1.0, |power, j| power * -x / f64::from(j));
        power * libm::exp(x)
    };
    1.0 - (1.0 - load) * (0..=t.floor() as u32).map(term).sum::<f64>()
}

/// The rate at which a share of the arrivals of M/M/c/K is turned away.
fn of_mmck(servers: u32, mean_service: f64, places: u64, share: f64) -> f64 {
    root(2.0 * f64::from(servers) / mean_service, |rate| {
        Mmck { rate, mean_service, servers, places }.solve().loss - share
    })
}

/// Where a rising function crosses zero between 0 and `most`.
fn root(most: f64, of: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if of(middle) > 0.0 { high = middle } else { low = middle }
    }
    0.5 * (low + high)
}

impl System {
    /// Its knee.
    pub fn knee(&self) -> f64 {
        (self.knee)()
    }

    /// Its thresholds.
    ///
    /// # Errors
    /// None: the threshold is sound.
    pub fn asked(&self) -> anyhow::Result<Vec<Asked>> {
        Ok(asked(&[self.threshold.parse::<Threshold>()?])?)
    }

    /// A play at that rate, for that long.
    ///
    /// # Errors
    /// None: the system is sound.
    pub fn play(&self, rate: f64, seed: u64, length: Nanos) -> anyhow::Result<Play> {
        let service = dist::parse(self.service, &|_| Err("a lab has no files".to_owned()))?;
        let station = Station { queue: self.queue, ..Station::new(self.servers, service) };
        let profile = Arc::new(Profile::new(&[Phase::hold(length, Rate(rate))]));
        let source = Source::Arrivals { process: Process::Poisson, profile };
        let journey = match self.requests {
            1 => Journey::single(),
            n => Journey::new(&[Node::Ask { step: 0, repeat: n, think: None }], no_think())?,
        };
        let plan = Plan::of(seed, Group::of(source, journey, Connections::Shared), Nanos::ZERO, length);
        Ok(Play { plan, limits: crate::bounds::NONE, model: Model::station(station) })
    }
}
