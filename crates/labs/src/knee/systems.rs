//! Systems whose knee is known by a formula, and how long the trials of a plain bisection of each are.

use headway_base::dist;
use headway_base::{Nanos, Phase, Profile, Rate};
use headway_engine::experiment::search::{Asked, asked};
use headway_engine::simulate::Play;
use headway_stats::Threshold;
use headway_stats::queueing::{Mmc, Mmck};
use headway_workload::journey::{Journey, Node, no_think};
use headway_workload::model::{Discipline, Model, Station};
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
    /// How many requests of an arrival follow one another at each step: of as many steps as there are numbers.
    pub steps: &'static [u32],
    /// The law of the second step, where there are two.
    pub second: Option<&'static str>,
    /// Whether all that is there is served at once, each more slowly.
    pub shared: bool,
    /// What must hold.
    pub threshold: &'static str,
    /// Its knee, arrivals per second.
    knee: fn() -> f64,
    /// Requests of each trial of the plain bisection; none where that was not measured.
    pub bisection: Option<Length>,
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
    bisection: Option<Length>,
) -> System {
    System {
        name,
        servers,
        service,
        queue: None,
        steps: &[1],
        second: None,
        shared: false,
        threshold,
        knee,
        bisection,
    }
}

/// A system whose limit is what its p99 is at four fifths of its capacity: by the mean of four simulations of three million requests.
const fn at_four_fifths(
    name: &'static str,
    servers: u32,
    service: &'static str,
    threshold: &'static str,
    knee: fn() -> f64,
) -> System {
    system(name, servers, service, threshold, knee, None)
}

/// The requests of a session follow one another without a pause, all with one exponential law of service, first come first served: a network of
/// product form with classes (Baskett, Chandy, Muntz and Palacios 1975), in which each request finds what one of M/M/4 finds (Lavenberg and Reiser
/// 1980), at eleven times the rate of the sessions.
const fn session(name: &'static str, service: &'static str, knee: fn() -> f64, least: u64) -> System {
    System { steps: &[SESSION], ..system(name, 4, service, "p(99)<100ms", knee, Some(AtLeast(least))) }
}

/// Lengths of trials of the bisection that are tried: a factor of 1.5 apart.
#[cfg(test)]
pub const LENGTHS: [u64; 16] = [
    40_000, 60_000, 90_000, 140_000, 200_000, 300_000, 450_000, 700_000, 1_000_000, 1_500_000, 2_250_000,
    3_400_000, 5_000_000, 7_500_000, 11_000_000, 17_000_000,
];

/// All of them.
pub const ALL: [System; 15] = [
    system("M/M/4, p(99)<60ms", 4, "exp(8ms)", "p(99)<60ms", || of_mmc(4, 0.008, 0.06, 0.01), None),
    system(
        "M/M/1, p(99)<10ms",
        1,
        "exp(1ms)",
        "p(99)<10ms",
        || of_mmc(1, 0.001, 0.01, 0.01),
        Some(Enough(1_500_000)),
    ),
    system(
        "M/M/1, p(90)<10ms",
        1,
        "exp(1ms)",
        "p(90)<10ms",
        || of_mmc(1, 0.001, 0.01, 0.1),
        Some(Enough(700_000)),
    ),
    system(
        "M/M/4, p(99)<100ms",
        4,
        "exp(8ms)",
        "p(99)<100ms",
        || of_mmc(4, 0.008, 0.1, 0.01),
        Some(Enough(700_000)),
    ),
    system(
        "M/D/1, p(99)<10ms",
        1,
        "const(1ms)",
        "p(99)<10ms",
        || of_md1(0.001, 0.01, 0.01),
        Some(Enough(700_000)),
    ),
    System {
        queue: Some(10),
        ..system(
            "M/M/2/12, failed<1%",
            2,
            "exp(2ms)",
            "failed: rate<1%",
            || of_mmck(2, 0.002, 12, 0.01),
            Some(Enough(450_000)),
        )
    },
    at_four_fifths("M/M/16, p99 at .8", 16, "exp(8ms)", "p(99)<37.87ms", || of_mmc(16, 0.008, 0.03787, 0.01)),
    at_four_fifths("M/G/1 lognormal, CoV 2", 1, "lognormal(1ms,2)", "p(99)<75.86ms", || 800.0),
    at_four_fifths("M/G/1 hyperexponential, CoV 3", 1, "hyperexp(1ms,3)", "p(99)<124ms", || 800.0),
    System {
        shared: true,
        ..at_four_fifths("M/M/1 processor sharing", 1, "exp(1ms)", "p(99)<36.74ms", || 800.0)
    },
    System {
        steps: &[1, 1],
        second: Some("exp(14ms)"),
        ..at_four_fifths("two steps, one slow", 4, "exp(2ms)", "p(99)<67.17ms", || 200.0)
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

    /// Requests of an arrival.
    pub fn requests(&self) -> u32 {
        self.steps.iter().sum()
    }

    /// A play at that rate, for that long after a warm-up.
    ///
    /// # Errors
    /// None: the system is sound.
    pub fn play(&self, rate: f64, seed: u64, warm_up: Nanos, length: Nanos) -> anyhow::Result<Play> {
        let law = |text: &str| dist::parse(text, &|_| Err("a lab has no files".to_owned()));
        let steps = self.second.map(|second| Ok::<_, anyhow::Error>((1, law(second)?))).transpose()?;
        let discipline = if self.shared { Discipline::Sharing } else { Discipline::default() };
        let station = Station {
            queue: self.queue,
            steps: steps.into_iter().collect(),
            discipline,
            ..Station::new(self.servers, law(self.service)?)
        };
        let end = warm_up + length;
        let profile = Arc::new(Profile::new(&[Phase::hold(end, Rate(rate))]));
        let source = Source::Arrivals { process: Process::Poisson, profile };
        let ask =
            |(step, repeat): (usize, &u32)| Node::Ask { step: step as u16, repeat: *repeat, think: None };
        let journey = match self.steps {
            [1] => Journey::single(),
            steps => Journey::new(&steps.iter().enumerate().map(ask).collect::<Vec<_>>(), no_think())?,
        };
        let plan = Plan::of(seed, Group::of(source, journey, Connections::Shared), warm_up, end);
        Ok(Play { plan, limits: crate::bounds::NONE, model: Model::station(station), streamed: Vec::new() })
    }
}
