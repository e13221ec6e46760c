//! M/M/1/K and M/M/c/K: a queue with a limit that turns arrivals away (Kleinrock 1975, sections 3.6 and 3.7; Gross and
//! Harris 1985, chapter 2). It has a steady state at any utilisation. With as many places as servers it is Erlang's loss
//! system.

use super::load_dependent::{Stationary, solve};

/// c servers and `places` places in all, those in service included.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mmck {
    /// Arrivals per unit of time, those turned away included; positive.
    pub rate: f64,
    /// Mean service time, exponential.
    pub mean_service: f64,
    /// Servers, at least 1.
    pub servers: u32,
    /// Most present at once, waiting and in service; 0 admits nobody.
    pub places: u64,
}

impl Mmck {
    /// One server.
    pub const fn mm1k(rate: f64, mean_service: f64, places: u64) -> Mmck {
        Mmck { rate, mean_service, servers: 1, places }
    }

    /// Mean number present, loss probability, throughput, and by [`Stationary::sojourn_mean`] the mean sojourn of those
    /// admitted. The cost grows with `places`.
    pub fn solve(&self) -> Stationary {
        let servers = u64::from(self.servers);
        let speed = |n: u64| n.min(servers) as f64 / self.mean_service;
        solve(self.rate, speed, servers, Some(self.places))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::Mmc;

    /// p(n) = (1 - rho) rho^n / (1 - rho^(K+1)), and uniform at rho = 1.
    #[test]
    fn one_server_has_a_closed_form() {
        for (rho, places) in [(0.5f64, 1), (0.8, 5), (0.99, 50), (1.25, 20), (3.0, 400)] {
            let solved = Mmck::mm1k(rho, 1.0, places).solve();
            let k = places as f64;
            let power = rho.powf(k + 1.0);
            let loss = (1.0 - rho) * rho.powf(k) / (1.0 - power);
            let number = rho / (1.0 - rho) - (k + 1.0) * power / (1.0 - power);
            assert!((solved.loss / loss - 1.0).abs() < 1e-10, "{rho} {places}: {solved:?}");
            assert!((solved.number / number - 1.0).abs() < 1e-10, "{rho} {places}: {solved:?}");
            // What is admitted is served, while the server is not idle.
            assert!((solved.throughput / (1.0 - solved.empty) - 1.0).abs() < 1e-10);
        }
        let even = Mmck::mm1k(1.0, 1.0, 9).solve();
        assert!((even.loss - 0.1).abs() < 1e-14 && (even.number - 4.5).abs() < 1e-13);
        assert!((even.sojourn_mean() - 5.0).abs() < 1e-13);
    }

    /// Erlang B of published tables: 5 lines at 3 Erlang 0.1101, 10 at 8 0.1217, 20 at 15 0.0456.
    #[test]
    fn as_many_places_as_servers_is_erlangs_loss_system() {
        for (servers, load, published) in [(5, 3.0, 0.1101), (10, 8.0, 0.1217), (20, 15.0, 0.0456)] {
            let solved = Mmck { rate: load, mean_service: 1.0, servers, places: u64::from(servers) }.solve();
            assert!((solved.loss - published).abs() < 5e-5, "{servers}: {}", solved.loss);
            assert!((solved.sojourn_mean() - 1.0).abs() < 1e-12, "nobody waits");
        }
    }

    #[test]
    fn many_places_are_as_good_as_no_limit_and_none_admits_nobody() {
        let solved = Mmck { rate: 8.0, mean_service: 1.0, servers: 10, places: 1_000_000_000 }.solve();
        let open = Mmc { rate: 8.0, mean_service: 1.0, servers: 10 };
        assert!((solved.sojourn_mean() / open.sojourn_mean() - 1.0).abs() < 1e-12);
        assert_eq!(solved.loss, 0.0);
        let shut = Mmck::mm1k(1.0, 1.0, 0).solve();
        assert_eq!((shut.loss, shut.throughput, shut.number), (1.0, 0.0, 0.0));
        // Overloaded twofold, one server gives all it has.
        let flooded = Mmck::mm1k(2.0, 1.0, 100_000).solve();
        assert!((flooded.throughput - 1.0).abs() < 1e-12 && (flooded.number - 99_999.0).abs() < 1e-6);
    }
}
