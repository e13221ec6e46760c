//! N users who go round stations and think between: throughput and responses of a closed network of one class.
//!
//! What exact mean value analysis gives (Reiser and Lavenberg 1980). Computed by convolution (Buzen 1973), in which
//! nothing is subtracted: the queue-length probabilities of mean value analysis cancel at stations of several servers
//! near saturation (Reiser 1981). Each station's term is that of an open network fed at the throughput's upper bound,
//! with its peak put to 1, so that no sum overflows and only what is negligible underflows. Stations are FIFO with
//! exponential service, or any law under processor sharing (Baskett, Chandy, Muntz and Palacios 1975).
//!
//! Cost: stations squared times users squared. Absent: several classes.

/// What a user meets on its round.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Centre {
    /// Time that nobody has to wait for: thinking, a cable. Any law.
    Delay {
        /// Mean per round.
        demand: f64,
    },
    /// A station with a queue.
    Queue {
        /// Mean service per round: visits times the mean of one.
        demand: f64,
        /// Servers, at least 1.
        servers: u32,
    },
}

impl Centre {
    fn demand(self) -> f64 {
        match self {
            Centre::Delay { demand } | Centre::Queue { demand, .. } => demand,
        }
    }

    /// How many of `n` present are served at once.
    fn served(self, n: usize) -> f64 {
        match self {
            Centre::Delay { .. } => n as f64,
            Centre::Queue { servers, .. } => n.min(servers as usize) as f64,
        }
    }

    /// Throughput that it cannot exceed, however many users there are.
    fn ceiling(self) -> f64 {
        match self {
            Centre::Delay { .. } => f64::INFINITY,
            Centre::Queue { demand, servers } => f64::from(servers) / demand,
        }
    }
}

/// A closed network.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Closed<'a> {
    /// What each user meets on its round, in any order.
    pub centres: &'a [Centre],
}

/// What so many users give.
#[derive(Clone, PartialEq, Debug)]
pub struct ClosedLoad {
    /// Rounds per unit of time.
    pub throughput: f64,
    /// Mean time per round spent at the stations, delays excluded.
    pub response: f64,
    /// Each centre, in the order given.
    pub centres: Vec<CentreLoad>,
}

/// What one centre bears.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CentreLoad {
    /// Mean number present.
    pub number: f64,
    /// Mean time there per round.
    pub response: f64,
    /// Mean share of its servers that is busy; of a delay, the mean number there.
    pub utilisation: f64,
}

impl Closed<'_> {
    /// The steady state of `users` users. Without any demand the throughput is infinite.
    pub fn with(&self, users: usize) -> ClosedLoad {
        let round: f64 = self.centres.iter().map(|c| c.demand()).sum();
        let bound = self.centres.iter().fold(users as f64 / round, |least, c| least.min(c.ceiling()));
        let terms: Vec<_> = self.centres.iter().map(|&c| term(c, bound, users)).collect();
        let others = |k: usize| {
            let rest = terms.iter().enumerate().filter(|(i, _)| *i != k).map(|(_, t)| t);
            rest.fold(alone(users), |sum, t| convolve(&sum, t))
        };
        let all = terms.iter().fold(alone(users), |sum, t| convolve(&sum, t));
        let throughput = match users {
            0 => 0.0,
            _ if round == 0.0 => f64::INFINITY,
            _ => bound * all[users - 1] / all[users],
        };
        let centres: Vec<_> = (self.centres.iter().enumerate())
            .map(|(k, &centre)| match centre {
                _ if users == 0 || round == 0.0 => {
                    CentreLoad { number: 0.0, response: 0.0, utilisation: 0.0 }
                }
                Centre::Delay { demand } => {
                    let number = throughput * demand;
                    CentreLoad { number, response: demand, utilisation: number }
                }
                Centre::Queue { demand, servers } => {
                    let number = mean_number(&terms[k], &others(k));
                    let utilisation = throughput * demand / f64::from(servers);
                    CentreLoad { number, response: number / throughput, utilisation }
                }
            })
            .collect();
        let queues = self.centres.iter().zip(&centres).filter(|(c, _)| matches!(c, Centre::Queue { .. }));
        ClosedLoad { throughput, response: queues.map(|(_, load)| load.response).sum(), centres }
    }
}

/// Up to a factor, the probability of 0 to `users` at a centre that is fed `rate` from outside: peak 1, from there up and
/// down by p(n) = p(n-1) rate x demand / served(n).
fn term(centre: Centre, rate: f64, users: usize) -> Vec<f64> {
    let load = rate * centre.demand();
    let mut p = vec![0.0; users + 1];
    // A demand of 0 holds nobody; the load of a network without any demand is not a number.
    if load.is_nan() || load <= 0.0 {
        p[0] = 1.0;
        return p;
    }
    let peak = (load as usize).min(users);
    p[peak] = 1.0;
    (peak + 1..=users).for_each(|n| p[n] = p[n - 1] * load / centre.served(n));
    (1..=peak).rev().for_each(|n| p[n - 1] = p[n] * centre.served(n) / load);
    p
}

/// The term of no centre: nobody is there.
fn alone(users: usize) -> Vec<f64> {
    let mut p = vec![0.0; users + 1];
    p[0] = 1.0;
    p
}

fn convolve(a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..a.len()).map(|n| a[..=n].iter().zip(b[..=n].iter().rev()).map(|(a, b)| a * b).sum()).collect()
}

/// Mean number at a centre of this term when the others hold the rest of the users.
fn mean_number(term: &[f64], others: &[f64]) -> f64 {
    let weights = term.iter().zip(others.iter().rev()).map(|(t, o)| t * o);
    let (all, numbers) = weights.enumerate().fold((0.0, 0.0), |s, (n, w)| (s.0 + w, s.1 + n as f64 * w));
    numbers / all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::LoadDependent;

    /// Mean value analysis as its authors wrote it, for single servers and delays: R(N) = D (1 + Q(N - 1)).
    fn mva(demands: &[f64], think: f64, users: usize) -> (f64, Vec<f64>) {
        let mut numbers = vec![0.0; demands.len()];
        let mut solved = (0.0, numbers.clone());
        for n in 1..=users {
            let responses: Vec<f64> = demands.iter().zip(&numbers).map(|(d, q)| d * (1.0 + q)).collect();
            let throughput = n as f64 / (think + responses.iter().sum::<f64>());
            numbers = responses.iter().map(|r| throughput * r).collect();
            solved = (throughput, responses);
        }
        solved
    }

    fn queue(demand: f64) -> Centre {
        Centre::Queue { demand, servers: 1 }
    }

    /// The central server of Lazowska, Zahorjan, Graham and Sevcik (1984), "Quantitative System Performance": demands
    /// 0.605, 2.1 and 1.35 s, think time 15 s; three users by hand, more by mean value analysis.
    #[test]
    fn single_servers_agree_with_mean_value_analysis() {
        let demands = [0.605, 2.1, 1.35];
        let centres = [Centre::Delay { demand: 15.0 }, queue(0.605), queue(2.1), queue(1.35)];
        let network = Closed { centres: &centres };
        let three = network.with(3);
        assert!(
            (three.throughput - 0.1515).abs() < 5e-5 && (three.response - 4.799).abs() < 5e-3,
            "{three:?}"
        );
        for users in [1, 2, 10, 50, 400] {
            let solved = network.with(users);
            let (throughput, responses) = mva(&demands, 15.0, users);
            assert!((solved.throughput / throughput - 1.0).abs() < 1e-9, "{users}");
            for (centre, response) in solved.centres[1..].iter().zip(responses) {
                assert!((centre.response / response - 1.0).abs() < 1e-9, "{users}: {centre:?} {response}");
            }
            let total: f64 = solved.centres.iter().map(|c| c.number).sum();
            assert!((total / users as f64 - 1.0).abs() < 1e-9, "every user is somewhere: {total}");
        }
    }

    /// Machine repair with c repairers: a birth-death process of births (N - n) / Z (Gross and Harris 1985, chapter 2).
    #[test]
    fn one_station_of_several_servers_agrees_with_machine_repair() {
        for (users, servers, think, demand) in [(5, 2, 3.0, 1.0), (60, 8, 4.0, 1.0), (300, 250, 1.0, 4.0)] {
            let mut p = vec![1.0f64];
            for n in 1..=users {
                let births = (users - n + 1) as f64 / think;
                p.push(p[n - 1] * births * demand / n.min(servers) as f64);
            }
            let all: f64 = p.iter().sum();
            let number: f64 = p.iter().enumerate().map(|(n, p)| n as f64 * p).sum::<f64>() / all;
            let throughput = (users as f64 - number) / think;
            let centres =
                [Centre::Delay { demand: think }, Centre::Queue { demand, servers: servers as u32 }];
            let solved = Closed { centres: &centres }.with(users);
            assert!((solved.throughput / throughput - 1.0).abs() < 1e-10, "{users} {solved:?} {throughput}");
            assert!((solved.centres[1].number / number - 1.0).abs() < 1e-10);
            assert!((solved.response - (users as f64 / throughput - think)).abs() < 1e-9);
        }
    }

    /// K equal stations: N / (D (N + K - 1)); more servers than users: N / sum of D; very many users: the bottleneck.
    #[test]
    fn limits_have_closed_forms() {
        let equal = [queue(0.2); 5];
        for users in [1, 7, 100] {
            let exact = users as f64 / (0.2 * (users as f64 + 4.0));
            assert!(
                (Closed { centres: &equal }.with(users).throughput / exact - 1.0).abs() < 1e-12,
                "{users}"
            );
        }
        let roomy = [Centre::Queue { demand: 2.0, servers: 100 }, Centre::Delay { demand: 3.0 }];
        assert!((Closed { centres: &roomy }.with(80).throughput - 16.0).abs() < 1e-9);
        let tight =
            [Centre::Queue { demand: 2.0, servers: 100 }, Centre::Delay { demand: 30.0 }, queue(0.001)];
        let flooded = Closed { centres: &tight }.with(2000);
        assert!((flooded.throughput - 50.0).abs() < 1e-9 && (flooded.response - 10.0).abs() < 1e-6);
        assert_eq!(Closed { centres: &tight }.with(0).throughput, 0.0);
        assert_eq!(Closed { centres: &[queue(0.0)] }.with(3).throughput, f64::INFINITY);
    }

    /// Many users who think long are Poisson arrivals.
    #[test]
    fn many_users_who_think_long_are_an_open_source() {
        let centres = [Centre::Delay { demand: 1500.0 }, Centre::Queue { demand: 1.0, servers: 2 }];
        let solved = Closed { centres: &centres }.with(1500);
        let open = LoadDependent { rate: solved.throughput, speeds: &[1.0, 2.0], limit: None }.solve();
        assert!((solved.response / open.sojourn_mean() - 1.0).abs() < 5e-3, "{solved:?} {open:?}");
    }
}
