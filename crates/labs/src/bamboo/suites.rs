//! timelike's later suites: what balances the requests over the dynos, as models, and what a replication of one gives.

use super::published::{self, Figures, NUMBERS};
use super::system::{self, even, random};
use crate::answers::{self, Seen};
use crate::{arrivals, latencies};
use headway_base::units::UnitError;
use headway_base::{Nanos, Rate};
use headway_sim::Network;
use headway_workload::model::{Balancer, Kind, Model, Part, Policy, Ties};
use headway_workload::{Plan, Process};

/// Places of the numbers that are not latencies.
pub const OK: usize = 6;
pub const REQUESTS: usize = 7;
pub const RESPONSES: usize = 8;

/// The system and its load. Gaps are exponential in whole milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Dynos.
    pub dynos: u32,
    /// Routers, where they are faulty.
    pub routers: u32,
    /// Requests of a replication,
    pub requests: usize,
    /// this number of milliseconds apart on average, before rounding.
    pub gap_ms: f64,
    /// The same for a single dyno.
    pub one_requests: usize,
    pub one_gap_ms: f64,
}

/// As in the suites.
pub const SUITES: Setting = Setting {
    dynos: 250,
    routers: 10,
    requests: 100_000,
    gap_ms: 1.5,
    one_requests: 10_000,
    one_gap_ms: 150.0,
};

/// Who gives the requests to the dynos.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Nobody: there is one.
    One,
    /// Anyone.
    Random,
    /// The same, behind a router's cable: what routers that know nothing of each other come to.
    FarRandom,
    /// One after the other.
    RoundRobin,
    /// One router by connections; the dynos may be faulty, and failures held.
    Even { ties: Ties, faulty: bool, hold: bool },
    /// The same over faulty dynos, failures held, with retries around it.
    Retried { ties: Ties },
    /// At random to a number of routers by connections, all over one pool; each counts its own connections alone.
    Bamboo { routers: u32, ties: Ties },
    /// At random to routers by connections that are faulty themselves and make requests again, over faulty dynos: one pool, or
    /// dynos of its own for each; `retried` says whether there are retries around all of it too.
    FaultyRouters { ties: Ties, retried: bool, blocks: bool },
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub way: Way,
    /// What the independent simulation gave for it.
    pub reference: Option<Figures>,
}

const fn case(name: &'static str, way: Way, reference: Option<Figures>) -> Case {
    Case { name, way, reference }
}

const fn one_router(ties: Ties, faulty: bool, hold: bool) -> Way {
    Way::Even { ties, faulty, hold }
}

const fn bamboo(routers: u32, ties: Ties) -> Way {
    Way::Bamboo { routers, ties }
}

const fn faulty_routers(ties: Ties, retried: bool, blocks: bool) -> Way {
    Way::FaultyRouters { ties, retried, blocks }
}

/// Numbers of routers over one pool, and how they are swept.
pub const SWEPT: [u32; 6] = [1, 3, 10, 30, 100, 1_000];

/// Every row, in order.
pub const CASES: [Case; 25] = [
    case("single dyno", Way::One, Some(published::ONE_DYNO)),
    case("random", Way::Random, Some(published::RANDOM)),
    case("round-robin", Way::RoundRobin, Some(published::ROUND_ROBIN)),
    case("min-conn", one_router(Ties::First, false, false), Some(published::EVEN)),
    case("min-conn, random ties", one_router(Ties::Random, false, false), Some(published::EVEN_RANDOM)),
    case("bamboo-2", bamboo(2, Ties::First), Some(published::BAMBOO_2)),
    case("bamboo-4", bamboo(4, Ties::First), None),
    case("bamboo-8", bamboo(8, Ties::First), None),
    case("bamboo-16", bamboo(16, Ties::First), Some(published::BAMBOO_16)),
    case("bamboo-2, random ties", bamboo(2, Ties::Random), Some(published::BAMBOO_2_RANDOM)),
    case("bamboo-4, random ties", bamboo(4, Ties::Random), None),
    case("bamboo-8, random ties", bamboo(8, Ties::Random), None),
    case("bamboo-16, random ties", bamboo(16, Ties::Random), Some(published::BAMBOO_16_RANDOM)),
    case("min-conn, faulty dynos", one_router(Ties::First, true, false), Some(published::FAULTY)),
    case(
        "min-conn, faulty dynos, random ties",
        one_router(Ties::Random, true, false),
        Some(published::FAULTY_RANDOM),
    ),
    case("min-conn, faulty dynos, hold 1 s", one_router(Ties::First, true, true), Some(published::HOLD)),
    case(
        "min-conn, faulty dynos, hold 1 s, random ties",
        one_router(Ties::Random, true, true),
        Some(published::HOLD_RANDOM),
    ),
    case(
        "min-conn, faulty dynos, hold 1 s, retries",
        Way::Retried { ties: Ties::First },
        Some(published::RETRIED),
    ),
    case(
        "min-conn, faulty dynos, hold 1 s, retries, random ties",
        Way::Retried { ties: Ties::Random },
        Some(published::RETRIED_RANDOM),
    ),
    case(
        "faulty routers, one pool",
        faulty_routers(Ties::First, false, false),
        Some(published::FAULTY_ROUTERS),
    ),
    case(
        "faulty routers, one pool, random ties",
        faulty_routers(Ties::Random, false, false),
        Some(published::FAULTY_ROUTERS_RANDOM),
    ),
    case(
        "retries, faulty routers, one pool",
        faulty_routers(Ties::First, true, false),
        Some(published::RETRIED_ROUTERS),
    ),
    case(
        "retries, faulty routers, one pool, random ties",
        faulty_routers(Ties::Random, true, false),
        Some(published::RETRIED_ROUTERS_RANDOM),
    ),
    case(
        "retries, faulty routers, blocks",
        faulty_routers(Ties::First, true, true),
        Some(published::RETRIED_BLOCKS),
    ),
    case(
        "retries, faulty routers, blocks, random ties",
        faulty_routers(Ties::Random, true, true),
        Some(published::RETRIED_BLOCKS_RANDOM),
    ),
];

/// What one replication of the sweep gave: by number of routers, and last of a choice at random.
pub type Swept = Vec<[f64; NUMBERS]>;

/// What one replication gave for each row, in order; none for one that was left out.
pub type Played = Vec<Option<[f64; NUMBERS]>>;

impl Setting {
    /// The model of a row.
    ///
    /// # Errors
    /// None: its laws are sound.
    pub fn model(&self, way: Way) -> Result<Model, UnitError> {
        let dynos = system::dynos(self.dynos)?;
        Ok(match way {
            Way::One => Model::of(vec![Part { copies: 1, ..dynos }]),
            Way::Random => Model::of(vec![Part::new("balancer", random(1)), dynos]),
            Way::RoundRobin => {
                let balancer = Kind::Balancer(Balancer::new(Policy::RoundRobin, &[1]));
                Model::of(vec![Part::new("balancer", balancer), dynos])
            }
            Way::FarRandom => Model::of(vec![
                Part { cable: system::to_router()?, ..Part::new("balancer", random(1)) },
                dynos,
            ]),
            Way::Retried { ties } => Model::of(vec![
                Part { retry: system::retry(system::ATTEMPTS), ..Part::new("router", even(ties, true, 1)) },
                Part { faults: system::timelike_faults()?, ..dynos },
            ]),
            Way::Even { ties, faulty, hold } => {
                let faults = if faulty { system::timelike_faults()? } else { None };
                Model::of(vec![Part::new("router", even(ties, hold, 1)), Part { faults, ..dynos }])
            }
            Way::Bamboo { routers, ties } => Model::of(vec![
                Part::new("random", random(1)),
                Part {
                    copies: routers,
                    cable: system::to_router()?,
                    ..Part::new("router", even(ties, false, 2))
                },
                Part { shared: true, ..dynos },
            ]),
            Way::FaultyRouters { ties, retried, blocks } => {
                let retry = system::retry(system::ATTEMPTS);
                let dynos = Part { faults: system::timelike_faults()?, ..dynos };
                let pool = match blocks {
                    true => Part { copies: self.dynos / self.routers, ..dynos },
                    false => Part { shared: true, ..dynos },
                };
                Model::of(vec![
                    Part { retry: retry.clone().filter(|_| retried), ..Part::new("random", random(1)) },
                    // The faults are around the router's own retries.
                    Part {
                        copies: self.routers,
                        cable: system::to_router()?,
                        faults: system::timelike_faults()?,
                        ..Part::new("faulty", Kind::Pass(2))
                    },
                    Part { retry, ..Part::new("router", even(ties, true, 3)) },
                    pool,
                ])
            }
        })
    }

    /// The requests of a row.
    fn plan(&self, way: Way, seed: u64) -> Plan {
        let gap_ms = if way == Way::One { self.one_gap_ms } else { self.gap_ms };
        // Such gaps have a mean of 1/(2 sinh(1/(2 gap))) ms: a tick is then a millisecond.
        let rate = Rate(2e3 * libm::sinh(0.5 / gap_ms));
        arrivals::first(Process::Ticks { mean: gap_ms }, rate, self.requests(way), seed)
    }

    fn requests(&self, way: Way) -> usize {
        if way == Way::One { self.one_requests } else { self.requests }
    }

    /// One replication of the sweep of routers, on the arrivals and demands of the rows.
    ///
    /// # Errors
    /// None: the models are sound.
    pub fn sweep(&self, seed: u64) -> anyhow::Result<Swept> {
        let plan = self.plan(Way::Random, seed);
        let ways = SWEPT.map(|routers| Way::Bamboo { routers, ties: Ties::Random });
        let play = |way| self.play(way, &plan);
        ways.into_iter().chain([Way::FarRandom]).map(play).collect()
    }

    /// Plays one way.
    fn play(&self, way: Way, plan: &Plan) -> anyhow::Result<[f64; NUMBERS]> {
        let seen = answers::all(plan, Network::new(&self.model(way)?, plan)?)?;
        let n = self.requests(way).min(seen.len());
        Ok(numbers(&seen[n / 4..n / 4 + n / 2]))
    }

    /// One replication of those rows for which `plays` holds.
    ///
    /// # Errors
    /// None: the models are sound.
    pub fn once(&self, seed: u64, plays: impl Fn(&Case) -> bool) -> anyhow::Result<Played> {
        let (one, many) = (self.plan(Way::One, seed), self.plan(Way::Random, seed));
        let play = |case: &Case| self.play(case.way, if case.way == Way::One { &one } else { &many });
        CASES.iter().map(|case| plays(case).then(|| play(case)).transpose()).collect()
    }
}

/// The numbers of a sample in order of issue. Rates are its size over the time from its first request (or answer) to its last.
fn numbers(sample: &[Seen]) -> [f64; NUMBERS] {
    let mut took: Vec<u64> = sample.iter().map(|seen| seen.took.0.unsigned_abs()).collect();
    let mut numbers = [f64::NAN; NUMBERS];
    numbers[..latencies::NUMBERS].copy_from_slice(&latencies::numbers(&mut took));
    let n = sample.len() as f64;
    let rate = |of: fn(&Seen) -> Nanos| {
        let (first, last) = (sample.iter().map(of).min(), sample.iter().map(of).max());
        first.zip(last).map_or(f64::NAN, |(first, last)| n / (last - first).as_secs_f64())
    };
    numbers[OK] = sample.iter().filter(|seen| seen.ok).count() as f64 / n;
    numbers[REQUESTS] = rate(|seen| seen.due);
    numbers[RESPONSES] = rate(|seen| seen.due + seen.took);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_sample() {
        let seen = |due: i64, took: i64, ok: bool| Seen {
            due: Nanos::from_millis(due),
            took: Nanos::from_millis(took),
            ok,
        };
        let numbers =
            numbers(&[seen(0, 30, true), seen(10, 4, false), seen(20, 40, true), seen(100, 26, true)]);
        assert_eq!(numbers[..2], [4.0, 28.0]);
        assert_eq!((numbers[latencies::MAX], numbers[latencies::MEAN], numbers[OK]), (40.0, 25.0, 0.75));
        assert!((numbers[REQUESTS] - 40.0).abs() < 1e-9 && (numbers[RESPONSES] - 4.0 / 0.112).abs() < 1e-9);
    }

    /// In timelike's distributed suites the dynos fail as well as the routers.
    #[test]
    fn behind_faulty_routers_dynos_are_faulty() {
        let distributed = |way: &Way| matches!(way, Way::FaultyRouters { .. });
        let ways: Vec<Way> = CASES.iter().map(|case| case.way).filter(distributed).collect();
        assert_eq!(ways.len(), 6);
        for way in ways {
            let model = SUITES.model(way).unwrap();
            let faulty: Vec<bool> = model.parts.iter().map(|part| part.faults.is_some()).collect();
            assert_eq!(faulty, [false, true, false, true], "{way:?}");
            let Way::FaultyRouters { retried, .. } = way else { continue };
            assert_eq!(model.parts[0].retry.is_some(), retried);
        }
    }

    /// Every model but that of one dyno has all dynos.
    #[test]
    fn rows_have_the_same_dynos() {
        for case in CASES.iter().filter(|case| case.way != Way::One) {
            let model = SUITES.model(case.way).unwrap();
            let last = model.parts.last().unwrap();
            let before: u32 = model.parts.iter().rev().skip(1).map(|part| part.copies).product();
            let copies = if last.shared { last.copies } else { before * last.copies };
            assert_eq!(copies, SUITES.dynos, "{}", case.name);
        }
    }
}
