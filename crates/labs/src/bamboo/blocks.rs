//! What timelike's author conjectured and did not simulate: router groups that fail as blocks against global routing.
//!
//! Total failure is equal: a dyno is down for the same share of the time, whether dynos fail each by itself or a router and
//! its dynos fail as a whole. What is under way in what fails is lost, and clients make requests again. All ways play the
//! same arrivals and demands.
//!
//! Deliberately absent: what is to be said about it (`blocks_notes`).

use super::system::{self, even, random};
use crate::answers::{self, Seen};
use crate::arrivals;
use headway_base::dist::Law as _;
use headway_base::units::UnitError;
use headway_base::{Nanos, Rate};
use headway_sim::Network;
use headway_workload::Process;
use headway_workload::model::{Balancer, Kind, Model, Part, PartId, Policy, Ties};
use headway_workload::redact::clear;

/// The system and its load.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Dynos, and groups into which they are divided; as many routers, where there are several over all dynos.
    pub dynos: u32,
    pub groups: u32,
    /// How many dynos a router has where groups overlap: a multiple of those of a group.
    pub overlap: u32,
    /// What is asked.
    pub loads: [Load; LOADS],
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
pub const LOADS: usize = 4;

/// How requests arrive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Load {
    /// Requests per second, of what the dynos can serve while none is down.
    pub share: f64,
    /// Coefficient of variation of the gaps between them: 1 is Poisson, more comes in bursts.
    pub cov: f64,
}

const fn poisson(share: f64) -> Load {
    Load { share, cov: 1.0 }
}

impl Load {
    /// As a row has it: `0.6`, `0.6 in bursts`.
    pub fn name(self) -> String {
        format!("{}{}", self.share, if self.cov == 1.0 { "" } else { " in bursts" })
    }

    /// As a sentence has it: `at 60 % of capacity`.
    pub fn words(self) -> String {
        format!("at {:.0} %{}", 100.0 * self.share, if self.cov == 1.0 { "" } else { " in bursts" })
    }

    fn process(self) -> Process {
        if self.cov == 1.0 { Process::Poisson } else { Process::Gamma { cov: self.cov } }
    }
}

/// As the lab plays it.
pub const BLOCKS: Setting = Setting {
    dynos: 250,
    groups: 10,
    overlap: 50,
    loads: [poisson(0.3), poisson(0.6), poisson(0.9), Load { share: 0.6, cov: 3.0 }],
    up_s: system::UP_S,
    down_s: system::DOWN_S,
    attempts: system::ATTEMPTS,
    warmup: Nanos::from_secs(20),
    counted: Nanos::from_secs(60),
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
    /// Several routers, each over its group and those after it; dynos fail.
    Overlap,
}

/// Every way, in order.
pub const WAYS: [Way; 5] = [Way::OneRouter, Way::Routers, Way::Groups, Way::Blocks, Way::Overlap];

/// How many numbers a way has at a load.
pub const NUMBERS: usize = 6;
/// Share of the time that a dyno is down; share of the requests that succeed; quantiles of their response times in ms; share
/// of the wasted work. Shares in percent.
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
        let Setting { groups, overlap, .. } = setting;
        match self {
            Way::OneRouter => "1 router, dynos fail".to_owned(),
            Way::Routers => format!("{groups} routers, dynos fail"),
            Way::Groups => format!("{groups} groups, dynos fail"),
            Way::Blocks => format!("{groups} groups fail"),
            Way::Overlap => format!("{groups} routers over {overlap} each, dynos fail"),
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
    pub fn rate(&self, load: Load) -> Result<Rate, UnitError> {
        Ok(Rate(load.share * f64::from(self.dynos) / system::service()?.mean()))
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
            Way::Overlap => return self.overlapping(),
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

    /// Routers whose groups overlap, in a ring.
    fn overlapping(&self) -> Result<Model, UnitError> {
        let (groups, each) = (self.groups as usize, self.dynos / self.groups);
        let covered = (self.overlap / each) as usize;
        let routers: Vec<PartId> = (1..=groups).collect();
        let kind = Kind::Balancer(Balancer::new(Policy::Random, &routers));
        let mut parts = vec![Part { retry: system::retry(self.attempts), ..Part::new("clients", kind) }];
        for router in 0..groups {
            let pools: Vec<PartId> = (0..covered).map(|i| 1 + groups + (router + i) % groups).collect();
            let policy = Policy::LeastConnections { ties: Ties::Random };
            let kind = Balancer { hold: Some(system::HOLD), ..Balancer::new(policy, &pools) };
            let name = format!("router {router}");
            parts.push(Part { cable: system::to_router()?, ..Part::new(clear(&name), Kind::Balancer(kind)) });
        }
        for pool in 0..groups {
            let faults = system::crashes(self.up_s, self.down_s)?;
            parts.push(Part {
                name: clear(&format!("dynos {pool}")),
                shared: true,
                faults,
                ..system::dynos(each)?
            });
        }
        Ok(Model::of(parts))
    }

    /// One replication.
    ///
    /// # Errors
    /// As [`Setting::model`].
    pub fn once(&self, seed: u64) -> anyhow::Result<Played> {
        let mut played = [[[f64::NAN; NUMBERS]; WAYS.len()]; LOADS];
        for (at_load, load) in played.iter_mut().zip(self.loads) {
            let plan = arrivals::until(load.process(), self.rate(load)?, self.warmup + self.counted, seed);
            for (numbers, way) in at_load.iter_mut().zip(WAYS) {
                let mut network = Network::new(&self.model(way)?, &plan)?;
                let seen = answers::all(&plan, &mut network)?;
                let last = seen.iter().map(|seen| seen.due + seen.took).max().unwrap_or(plan.end);
                let observed = network.observed(last.max(plan.end));
                *numbers = self.numbers(&seen);
                let (mut down, mut copies) = (0, 0);
                for part in &observed.parts {
                    // Windows end with what happened last.
                    let each = i128::from(part.copies);
                    let windows = part.series.iter().filter_map(|window| {
                        Some(i128::from(window.to.0 - window.from.0) * each - window.up_ns?)
                    });
                    let (n, sum) = windows.fold((0, 0), |(n, sum), down| (n + 1, sum + down));
                    copies += if n > 0 { each } else { 0 };
                    down += sum;
                }
                if copies > 0 {
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
        overlap: 10,
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

    /// Where nothing fails and no request waits, the arrangements do not differ.
    #[test]
    fn ways_have_the_same_arrivals_and_demands() {
        let calm = Setting { up_s: 1e9, loads: [poisson(0.001); LOADS], ..SMALL };
        let played = calm.once(3).unwrap();
        for at_load in &played {
            for numbers in at_load {
                assert_eq!(numbers[OK..WASTE], played[0][0][OK..WASTE]);
                assert_eq!((numbers[OK], numbers[DOWN], numbers[WASTE]), (100.0, 0.0, 0.0));
            }
        }
    }

    /// A dyno that is never up serves no request.
    #[test]
    fn what_is_down_serves_nobody() {
        let down = Setting { up_s: 1e-6, down_s: 1e6, loads: [poisson(0.01); LOADS], ..SMALL };
        let played = down.once(3).unwrap();
        assert!(played[0].iter().all(|numbers| numbers[OK] == 0.0 && numbers[DOWN] > 99.0), "{played:?}");
    }
}
