//! GI/M/1, FIFO: independent gaps of any law, exponential service, one server.
//!
//! An arrival finds n present with probability (1 - sigma) sigma^n, where sigma in (0, 1) solves
//! sigma = A*(mu (1 - sigma)) and A* is the Laplace-Stieltjes transform of the gaps; the sojourn is exponential with mean
//! 1 / (mu (1 - sigma)) (Kendall 1953; Kleinrock 1975, chapter 6). Absent: GI/M/c.

/// One server with independent gaps and exponential service, solved.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gim1 {
    mean_service: f64,
    /// 1 - sigma, the probability of finding the server idle: kept in place of sigma, for it is small under load.
    idle: f64,
}

impl Gim1 {
    /// From the complement of the gaps' transform: `ends_first(s)` = 1 - A*(s) is the probability that an exponential
    /// clock of rate `s` rings within a gap. `rate` is the inverse of the mean gap.
    pub fn new(rate: f64, mean_service: f64, ends_first: impl Fn(f64) -> f64) -> Gim1 {
        if rate * mean_service >= 1.0 {
            return Gim1 { mean_service, idle: 0.0 };
        }
        // (1 - A*(s)) / s falls, so idle = 1 - A*(mu idle) has one root in (0, 1].
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..120 {
            let middle = 0.5 * (low + high);
            if ends_first(middle / mean_service) > middle { low = middle } else { high = middle }
        }
        Gim1 { mean_service, idle: 0.5 * (low + high) }
    }

    /// E_k/M/1: gaps that are sums of `stages` (at least 1) equal exponentials, A*(s) = (1 + s / (k lambda))^-k.
    pub fn erlang(stages: u32, rate: f64, mean_service: f64) -> Gim1 {
        let k = f64::from(stages);
        Gim1::new(rate, mean_service, |s| -(-k * (s / (k * rate)).ln_1p()).exp_m1())
    }

    /// D/M/1: equal gaps, A*(s) = exp(-s / lambda).
    pub fn constant(rate: f64, mean_service: f64) -> Gim1 {
        Gim1::new(rate, mean_service, |s| -(-s / rate).exp_m1())
    }

    /// One of `servers` servers with a queue each, to which Poisson arrivals of `rate` go in turn: every n-th arrival
    /// comes after n exponentials, so E_n/M/1 of the n-th part of the rate.
    pub fn round_robin(rate: f64, mean_service: f64, servers: u32) -> Gim1 {
        Gim1::erlang(servers, rate / f64::from(servers), mean_service)
    }

    /// Probability that an arrival must wait.
    pub fn sigma(&self) -> f64 {
        1.0 - self.idle
    }

    /// Mean wait before service: sigma / (mu (1 - sigma)).
    pub fn wait_mean(&self) -> f64 {
        self.sigma() * self.sojourn_mean()
    }

    /// Mean of the sojourn, and its standard deviation too, for it is exponential: 1 / (mu (1 - sigma)).
    pub fn sojourn_mean(&self) -> f64 {
        self.mean_service / self.idle
    }

    /// Probability that the sojourn exceeds `t`.
    pub fn sojourn_beyond(&self, t: f64) -> f64 {
        (-t / self.sojourn_mean()).exp()
    }

    /// Sojourn that a share `p` in (0, 1) of requests does not exceed.
    pub fn sojourn_quantile(&self, p: f64) -> f64 {
        -self.sojourn_mean() * (-p).ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::Mmc;

    /// Round robin over 250 servers of 200 ms at one arrival per ms, and its limit: figures computed elsewhere for
    /// the published comparison of balancers.
    #[test]
    fn round_robin_over_250_servers_at_80_percent() {
        let turns = Gim1::round_robin(1.0, 200.0, 250);
        assert!((turns.sigma() - 0.629_89).abs() < 5e-6);
        assert!((turns.sojourn_mean() - 540.380).abs() < 5e-4);
        for (p, published) in [(0.5, 374.563), (0.95, 1618.835), (0.99, 2488.544)] {
            assert!((turns.sojourn_quantile(p) - published).abs() < 6e-4, "{p}");
            assert!((turns.sojourn_beyond(published) - (1.0 - p)).abs() < 1e-6, "{p}");
        }
        let equal = Gim1::constant(0.004, 200.0);
        assert!((equal.sigma() - 0.628_63).abs() < 5e-6);
        for (found, published) in [
            (equal.sojourn_mean(), 538.546),
            (equal.sojourn_quantile(0.5), 373.292),
            (equal.sojourn_quantile(0.95), 1613.340),
            (equal.sojourn_quantile(0.99), 2480.097),
        ] {
            assert!((found - published).abs() < 6e-4, "{found}");
        }
    }

    /// With two stages the equation is a cubic with the root 1; what remains is
    /// sigma^2 - (4 rho + 1) sigma + 4 rho^2 = 0.
    #[test]
    fn erlang_gaps_of_one_and_two_stages_have_closed_roots() {
        for rho in [1e-6, 0.1, 0.5, 0.8, 0.99, 0.999_999f64] {
            let one = Gim1::erlang(1, rho, 1.0);
            assert!((one.sojourn_mean() / Mmc::mm1(rho, 1.0).sojourn_mean() - 1.0).abs() < 1e-9, "{rho}");
            let two = Gim1::erlang(2, rho, 1.0).sigma();
            let root = 2.0 * rho + 0.5 - (2.0 * rho + 0.25).sqrt();
            assert!((two - root).abs() < 1e-12, "{rho}: {two} {root}");
        }
    }

    /// In heavy traffic the wait of D/M/1 is half that of M/M/1 (Kingman 1962).
    #[test]
    fn equal_gaps_halve_the_wait_under_heavy_load_and_none_remains_beyond_it() {
        let ratio = Gim1::constant(0.999_99, 1.0).wait_mean() / Mmc::mm1(0.999_99, 1.0).wait_mean();
        assert!((ratio - 0.5).abs() < 1e-4, "{ratio}");
        assert_eq!(Gim1::constant(1.0, 1.0).sojourn_mean(), f64::INFINITY);
        assert_eq!(Gim1::erlang(3, 2.0, 1.0).sojourn_quantile(0.5), f64::INFINITY);
    }
}
