//! The rows: what balances the requests over the servers, as a model, and its formulas.

use super::published::{self, Figures};
use crate::latencies::{MEAN, MEDIAN, NUMBERS, P95, P99};
use headway_base::dist::{self, Dist};
use headway_base::units::UnitError;
use headway_stats::queueing::{Gim1, Mmc};
use headway_workload::model::{Balancer, Kind, Model, Part, Policy, Station, Ties};

/// The system and its load.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Requests per second, by a Poisson process.
    pub rate: f64,
    /// Mean service time in seconds; exponential.
    pub service_s: f64,
    /// Servers, each serving one request at a time.
    pub servers: u32,
    /// Balancers where there are several; they divide the servers.
    pub balancers: u32,
    /// Requests of a replication.
    pub requests: usize,
    /// How the steady state is found.
    pub long: Long,
}

/// Runs for the steady state.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    /// How many.
    pub runs: u64,
    /// Requests of each,
    pub requests: usize,
    /// of which so many come first and are left out. What is left is a multiple of the requests of a replication.
    pub warmup: usize,
}

/// As published.
pub const PUBLISHED: Setting = Setting {
    rate: 1_000.0,
    service_s: 0.2,
    servers: 250,
    balancers: 10,
    requests: 10_000,
    long: Long { runs: 20, requests: 1_000_000, warmup: 200_000 },
};

/// Who gives the requests to the servers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// One balancer that takes a server with the fewest connections.
    Even(Ties),
    /// One after the other.
    RoundRobin,
    /// Anyone.
    Random,
    /// At random to several even balancers over all servers; each counts its own connections alone.
    OnePool(Ties),
    /// At random to several even balancers with servers of their own.
    Pools(Ties),
    /// No balancer: the servers share a queue.
    OneQueue,
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub way: Way,
    /// As printed, where it is in the gist.
    pub published: Option<Figures>,
    /// Whether it is as the gist has it in every respect. Where it has other ties its figures stand beside the printed ones
    /// to be compared.
    pub faithful: bool,
}

const fn case(name: &'static str, way: Way, published: Option<Figures>, faithful: bool) -> Case {
    Case { name, way, published, faithful }
}

/// Every row, in order.
pub const CASES: [Case; 9] = [
    case("even", Way::Even(Ties::First), Some(published::EVEN), true),
    case("even, random ties", Way::Even(Ties::Random), Some(published::EVEN), false),
    case("round-robin", Way::RoundRobin, Some(published::ROUND_ROBIN), true),
    case("random", Way::Random, Some(published::RANDOM), true),
    case("ten even, one pool", Way::OnePool(Ties::First), Some(published::ONE_POOL), true),
    case("ten even, one pool, random ties", Way::OnePool(Ties::Random), Some(published::ONE_POOL), false),
    case("ten even, ten pools", Way::Pools(Ties::First), Some(published::POOLS), true),
    case("ten even, ten pools, random ties", Way::Pools(Ties::Random), Some(published::POOLS), false),
    case("one queue", Way::OneQueue, None, false),
];

impl Setting {
    /// The model of a row.
    ///
    /// # Errors
    /// A service time of zero.
    pub fn model(&self, way: Way) -> Result<Model, UnitError> {
        let station = Station::new(1, self.service()?);
        let even = |ties| Policy::LeastConnections { ties };
        Ok(match way {
            Way::Even(ties) => Model::balanced(even(ties), self.servers, station),
            Way::RoundRobin => Model::balanced(Policy::RoundRobin, self.servers, station),
            Way::Random => Model::balanced(Policy::Random, self.servers, station),
            Way::OnePool(ties) => self.two_levels(even(ties), self.servers, true, station),
            Way::Pools(ties) => self.two_levels(even(ties), self.servers / self.balancers, false, station),
            Way::OneQueue => Model::station(Station { servers: self.servers, ..station }),
        })
    }

    /// A balancer at random before the others, and these before servers: the same for all, or each with its own.
    fn two_levels(&self, policy: Policy, copies: u32, shared: bool, station: Station) -> Model {
        let first = Part::new("random", Kind::Balancer(Balancer::new(Policy::Random, &[1])));
        let even = Part::new("even", Kind::Balancer(Balancer::new(policy, &[2])));
        let pool = Part { copies, shared, ..Part::new("pool", Kind::Station(station)) };
        Model::of(vec![first, Part { copies: self.balancers, ..even }, pool])
    }

    fn service(&self) -> Result<Dist, UnitError> {
        dist::parse(&format!("exp({}s)", self.service_s), &|_| Err("a lab has no files".to_owned()))
    }

    /// Share of the servers' time that the load takes.
    pub fn utilisation(&self) -> f64 {
        self.one_queue().utilisation()
    }

    /// How long a server to which requests come at random remembers where it began, in seconds.
    pub fn relaxation_s(&self) -> f64 {
        self.one_of(self.servers).relaxation_time()
    }

    fn one_queue(&self) -> Mmc {
        Mmc { rate: self.rate, mean_service: self.service_s, servers: self.servers }
    }

    /// One of a number of equal stations of one server between which requests choose at random.
    fn one_of(&self, stations: u32) -> Mmc {
        Mmc::random_split(self.rate, self.service_s, stations)
    }

    /// The numbers of the steady state in milliseconds, where a formula has them.
    pub fn theory(&self, way: Way) -> [Option<f64>; NUMBERS] {
        if self.utilisation() >= 1.0 {
            return [None; NUMBERS];
        }
        match way {
            Way::RoundRobin => {
                let queue = Gim1::round_robin(self.rate, self.service_s, self.servers);
                placed(queue.sojourn_mean(), |p| queue.sojourn_quantile(p))
            }
            Way::Random => self.mmc(self.one_of(self.servers)),
            Way::OneQueue => self.mmc(self.one_queue()),
            Way::Even(_) | Way::OnePool(_) | Way::Pools(_) => [None; NUMBERS],
        }
    }

    fn mmc(&self, queue: Mmc) -> [Option<f64>; NUMBERS] {
        placed(queue.sojourn_mean(), |p| queue.sojourn_quantile(p))
    }
}

/// In the order of the numbers, from seconds.
fn placed(mean: f64, quantile: impl Fn(f64) -> f64) -> [Option<f64>; NUMBERS] {
    let mut numbers = [None; NUMBERS];
    for (at, p) in [(MEDIAN, 0.5), (P95, 0.95), (P99, 0.99)] {
        numbers[at] = Some(1e3 * quantile(p));
    }
    numbers[MEAN] = Some(1e3 * mean);
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures that were computed independently.
    #[test]
    fn formulas_are_of_the_rows_that_have_them() {
        let known = [
            (Way::Random, [693.147, 2995.732, 4605.170, 1000.000]),
            (Way::RoundRobin, [374.563, 1618.835, 2488.544, 540.380]),
            (Way::OneQueue, [138.631, 599.148, 921.036, 200.002]),
        ];
        for (way, expected) in known {
            let theory = PUBLISHED.theory(way);
            assert_eq!(theory.iter().flatten().count(), 4);
            for (at, expected) in [MEDIAN, P95, P99, MEAN].into_iter().zip(expected) {
                assert!((theory[at].unwrap() - expected).abs() < 1e-3, "{way:?}: {theory:?}");
            }
        }
        assert_eq!(PUBLISHED.theory(Way::Even(Ties::First)), [None; NUMBERS]);
        let overloaded = Setting { rate: 1_250.0, ..PUBLISHED };
        assert_eq!(overloaded.theory(Way::Random), [None; NUMBERS]);
        assert!((PUBLISHED.relaxation_s() - 17.944).abs() < 1e-3, "{}", PUBLISHED.relaxation_s());
    }

    /// Every model has the same servers.
    #[test]
    fn rows_differ_in_who_balances_alone() {
        for case in CASES {
            let model = PUBLISHED.model(case.way).unwrap();
            let last = model.parts.last().unwrap();
            let Kind::Station(station) = &last.kind else { panic!("{}", case.name) };
            let before: u32 = model.parts.iter().rev().skip(1).map(|part| part.copies).product();
            let copies = if last.shared { last.copies } else { before * last.copies };
            assert_eq!(copies * station.servers, PUBLISHED.servers, "{}", case.name);
        }
    }
}
