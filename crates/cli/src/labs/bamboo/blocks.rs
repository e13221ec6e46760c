//! What timelike's author conjectured and did not simulate: router groups that fail as blocks against global routing.
//!
//! Total failure is equal: a dyno is down for the same share of the time, whether dynos fail each by itself or a router and
//! its dynos fail as a whole. What is under way in what fails is lost, and clients make requests again. All ways play the
//! same arrivals and demands.
//!
//! Deliberately absent: what is to be said about it (`blocks_notes`).

use super::system::{self, even, random};
use crate::labs::answers::{self, Seen};
use crate::labs::arrivals;
use base::dist::Law as _;
use base::units::UnitError;
use base::{Nanos, Rate};
use sim::Network;
use workload::Process;
use workload::model::{Model, Part, Ties};

/// The system and its load.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Dynos, and groups into which they are divided; as many routers, where there are several over all dynos.
    pub dynos: u32,
    pub groups: u32,
    /// Requests per second, of what the dynos can serve while none is down.
    pub loads: [f64; LOADS],
    /// How long a part that fails is up on average, and then down.
    pub up_s: f64,
    pub down_s: f64,
    /// Attempts of a request in all.
    pub attempts: u32,
    /// What comes first and is not counted, and then how long is.
    pub warmup: Nanos,
    pub counted: Nanos,
}

/// How many loads are compared.
pub const LOADS: usize = 3;

/// As the lab plays it.
pub const BLOCKS: Setting = Setting {
    dynos: 250,
    groups: 10,
    loads: [0.3, 0.6, 0.9],
    up_s: system::UP_S,
    down_s: system::DOWN_S,
    attempts: system::ATTEMPTS,
    warmup: Nanos::from_secs(20),
    counted: Nanos::from_secs(100),
};

/// Who gives the requests to the dynos, and what fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// One router over all; dynos fail.
    OneRouter,
    /// Several routers over all, each counts its own connections alone; dynos fail.
    Routers,
    /// Several routers with dynos of their own; dynos fail.
    Groups,
    /// The same, but each router fails, with all its dynos.
    Blocks,
}

/// Every way, in order.
pub const WAYS: [Way; 4] = [Way::OneRouter, Way::Routers, Way::Groups, Way::Blocks];

/// How many numbers a way has at a load.
pub const NUMBERS: usize = 6;
/// Share of the time that a dyno is down; share of the requests that succeed; quantiles of their response times in ms; share
/// of the work that is for nobody. Shares in percent.
pub const DOWN: usize = 0;
pub const OK: usize = 1;
pub const P50: usize = 2;
pub const P99: usize = 3;
pub const P999: usize = 4;
pub const WASTE: usize = 5;

/// What one replication gave: by load, by way.
pub type Played = [[[f64; NUMBERS]; WAYS.len()]; LOADS];

impl Way {
    /// What it is.
    pub fn name(self, setting: &Setting) -> String {
        let Setting { groups, .. } = setting;
        match self {
            Way::OneRouter => "1 router, dynos fail".to_owned(),
            Way::Routers => format!("{groups} routers, dynos fail"),
            Way::Groups => format!("{groups} groups, dynos fail"),
            Way::Blocks => format!("{groups} groups fail"),
        }
    }
}

impl Setting {
    /// Share of the time that a part that fails is down.
    pub fn down(&self) -> f64 {
        self.down_s / (self.up_s + self.down_s)
    }

    /// Requests per second at a load.
    ///
    /// # Errors
    /// None: the law of the service is sound.
    pub fn rate(&self, load: f64) -> Result<Rate, UnitError> {
        Ok(Rate(load * f64::from(self.dynos) / system::service()?.mean()))
    }

    /// The model of a way.
    ///
    /// # Errors
    /// Times up or down that are not above zero.
    pub fn model(&self, way: Way) -> Result<Model, UnitError> {
        let crashes = system::crashes(self.up_s, self.down_s)?;
        let clients = Part { retry: system::retry(self.attempts), ..Part::new("clients", random(1)) };
        let (routers, dynos, shared) = match way {
            Way::OneRouter => (1, self.dynos, false),
            Way::Routers => (self.groups, self.dynos, true),
            Way::Groups | Way::Blocks => (self.groups, self.dynos / self.groups, false),
        };
        let (router_faults, dyno_faults) = match way {
            Way::Blocks => (crashes, None),
            _ => (None, crashes),
        };
        let router = Part {
            copies: routers,
            cable: system::to_router()?,
            faults: router_faults,
            ..Part::new("router", even(Ties::Random, true, 2))
        };
        let pool = Part { shared, faults: dyno_faults, ..system::dynos(dynos)? };
        Ok(Model::of(vec![clients, router, pool]))
    }

    /// One replication.
    ///
    /// # Errors
    /// As [`Setting::model`].
    pub fn once(&self, seed: u64) -> anyhow::Result<Played> {
        let mut played = [[[f64::NAN; NUMBERS]; WAYS.len()]; LOADS];
        for (at_load, load) in played.iter_mut().zip(self.loads) {
            let plan = arrivals::until(Process::Poisson, self.rate(load)?, self.warmup + self.counted, seed);
            for (numbers, way) in at_load.iter_mut().zip(WAYS) {
                let mut network = Network::new(&self.model(way)?, &plan)?;
                let seen = answers::all(&plan, &mut network)?;
                let last = seen.iter().map(|seen| seen.due + seen.took).max().unwrap_or(plan.end);
                let observed = network.observed(last.max(plan.end));
                *numbers = self.numbers(&seen);
                let failing =
                    observed.parts.iter().find(|part| part.series.iter().any(|w| w.up_ns.is_some()));
                if let Some(part) = failing {
                    // Windows end with what happened last.
                    let copies = i128::from(part.copies);
                    let down: i128 = part
                        .series
                        .iter()
                        .filter_map(|window| {
                            Some(i128::from(window.to.0 - window.from.0) * copies - window.up_ns?)
                        })
                        .sum();
                    numbers[DOWN] = 100.0 * down as f64 / (observed.until.0 as f64 * copies as f64);
                }
                numbers[WASTE] = 100.0 * observed.wasted_ns as f64 / observed.busy_ns as f64;
            }
        }
        Ok(played)
    }

    /// Those of requests that were due while it counts.
    fn numbers(&self, seen: &[Seen]) -> [f64; NUMBERS] {
        let counted: Vec<&Seen> = seen.iter().filter(|seen| self.warmup <= seen.due).collect();
        let mut served: Vec<f64> =
            counted.iter().filter(|seen| seen.ok).map(|seen| 1e3 * seen.took.as_secs_f64()).collect();
        served.sort_unstable_by(f64::total_cmp);
        // The smallest x with F(x) >= p.
        let quantile = |p: f64| {
            let place = (p * served.len() as f64).ceil() as usize;
            served.get(place.max(1) - 1).copied().unwrap_or(f64::NAN)
        };
        let mut numbers = [f64::NAN; NUMBERS];
        numbers[OK] = 100.0 * served.len() as f64 / counted.len() as f64;
        for (number, p) in [(P50, 0.5), (P99, 0.99), (P999, 0.999)] {
            numbers[number] = quantile(p);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tenth of the system, for a few seconds.
    pub const SMALL: Setting = Setting {
        dynos: 20,
        groups: 4,
        warmup: Nanos::from_secs(5),
        counted: Nanos::from_secs(20),
        ..BLOCKS
    };

    #[test]
    fn numbers_are_of_what_was_counted_and_served() {
        let seen: Vec<Seen> = (0..20)
            .map(|i| Seen { due: Nanos::from_secs(i), took: Nanos::from_millis(10 * i), ok: i % 5 != 0 })
            .collect();
        // Of 5 to 19 three failed.
        let numbers = SMALL.numbers(&seen);
        assert_eq!((numbers[OK], numbers[P50], numbers[P99], numbers[P999]), (80.0, 120.0, 190.0, 190.0));
    }

    /// Where nothing fails and nobody waits, ways differ in nothing.
    #[test]
    fn ways_have_the_same_arrivals_and_demands() {
        let calm = Setting { up_s: 1e9, loads: [0.001; LOADS], ..SMALL };
        let played = calm.once(3).unwrap();
        for at_load in &played {
            for numbers in at_load {
                assert_eq!(numbers[OK..WASTE], played[0][0][OK..WASTE]);
                assert_eq!((numbers[OK], numbers[DOWN], numbers[WASTE]), (100.0, 0.0, 0.0));
            }
        }
    }

    /// Who is never up serves nobody.
    #[test]
    fn what_is_down_serves_nobody() {
        let down = Setting { up_s: 1e-6, down_s: 1e6, loads: [0.01; LOADS], ..SMALL };
        let played = down.once(3).unwrap();
        assert!(played[0].iter().all(|numbers| numbers[OK] == 0.0 && numbers[DOWN] > 99.0), "{played:?}");
    }
}
