//! Systems whose knee is known: by a formula, or by long simulations that were made once.

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

/// GETs and POST of a session of O'Hara's test.
const SESSION: u32 = 11;

/// Where the knee of a system is known from.
#[derive(Clone, Copy, Debug)]
pub enum Truth {
    /// A formula.
    Formula(fn() -> f64),
    /// Long simulations: the rate, its standard error is below 0.3 %. Printed by `cargo test --release -p headway-labs --lib
    /// knees_by_simulation -- --ignored --nocapture`.
    Simulated(f64),
}

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
    pub truth: Truth,
    /// Requests of each trial of the plain bisection. With these it held the knee of M/M/1 (p99) in 176 of 200 seeds and that of M/M/4 in 173,
    /// so that the comparison favours it; of the others it is not measured.
    pub bisection: u64,
}

const fn system(
    name: &'static str,
    servers: u32,
    service: &'static str,
    threshold: &'static str,
    truth: Truth,
    bisection: u64,
) -> System {
    System { name, servers, service, queue: None, requests: 1, threshold, truth, bisection }
}

const fn session(name: &'static str, service: &'static str, truth: f64, bisection: u64) -> System {
    System {
        requests: SESSION,
        ..system(name, 4, service, "p(99)<100ms", Truth::Simulated(truth), bisection)
    }
}

/// All of them.
pub const ALL: [System; 9] = [
    system(
        "M/M/1, p(99)<10ms",
        1,
        "exp(1ms)",
        "p(99)<10ms",
        Truth::Formula(|| of_mmc(1, 0.001, 0.01, 0.01)),
        400_000,
    ),
    system(
        "M/M/1, p(90)<10ms",
        1,
        "exp(1ms)",
        "p(90)<10ms",
        Truth::Formula(|| of_mmc(1, 0.001, 0.01, 0.1)),
        80_000,
    ),
    system(
        "M/M/4, p(99)<100ms",
        4,
        "exp(8ms)",
        "p(99)<100ms",
        Truth::Formula(|| of_mmc(4, 0.008, 0.1, 0.01)),
        300_000,
    ),
    system("M/D/1, p(99)<10ms", 1, "const(1ms)", "p(99)<10ms", Truth::Simulated(MD1), 400_000),
    System {
        queue: Some(10),
        ..system(
            "M/M/2/12, failed<1%",
            2,
            "exp(2ms)",
            "failed: rate<1%",
            Truth::Formula(|| of_mmck(2, 0.002, 12, 0.01)),
            150_000,
        )
    },
    session("O'Hara, Spring", "exp(7.728ms)", OHARA[0], 300_000),
    session("O'Hara, Ktor", "exp(4.9757ms)", OHARA[1], 300_000),
    session("O'Hara, Micronaut", "exp(4.5035ms)", OHARA[2], 300_000),
    session("O'Hara, Quarkus", "exp(2.1695ms)", OHARA[3], 600_000),
];

/// By long simulations; see [`Truth::Simulated`].
const MD1: f64 = 773.4;
const OHARA: [f64; 4] = [42.7, 68.9, 76.5, 163.5];

/// The rate at which a share of the responses of M/M/c is beyond `limit`, by bisection.
fn of_mmc(servers: u32, mean_service: f64, limit: f64, share: f64) -> f64 {
    root(f64::from(servers) / mean_service, |rate| {
        Mmc { rate, mean_service, servers }.sojourn_beyond(limit) - share
    })
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
        match self.truth {
            Truth::Formula(of) => of(),
            Truth::Simulated(rate) => rate,
        }
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
