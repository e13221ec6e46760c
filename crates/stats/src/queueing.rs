//! Closed formulas of queues, to hold simulations and measurements against.
//!
//! Sources: M/M/1 and M/M/c from Kleinrock (1975), "Queueing Systems I", sections 3.2 and 3.5 (Erlang C); M/G/1 by
//! Pollaczek (1930) and Khinchine (1932). All discipline FIFO, steady state; utilisation must be below 1, else the
//! results are infinite. Deliberately absent: networks, priorities, and anything that needs a simulation.

/// c servers, Poisson arrivals, exponential service. Times in the unit of `mean_service`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mmc {
    /// Arrivals per unit of time.
    pub rate: f64,
    /// Mean service time.
    pub mean_service: f64,
    /// Servers, at least 1.
    pub servers: u32,
}

impl Mmc {
    /// One server.
    pub const fn mm1(rate: f64, mean_service: f64) -> Mmc {
        Mmc { rate, mean_service, servers: 1 }
    }

    /// Share of time that a server is busy.
    pub fn utilisation(&self) -> f64 {
        self.rate * self.mean_service / f64::from(self.servers)
    }

    /// Probability that an arrival must wait (Erlang C), by the stable recursion of Erlang B.
    pub fn wait_probability(&self) -> f64 {
        let (load, rho) = (self.rate * self.mean_service, self.utilisation());
        if rho >= 1.0 {
            return 1.0;
        }
        let mut b = 1.0;
        for k in 1..=self.servers {
            b = load * b / (f64::from(k) + load * b);
        }
        b / (1.0 - rho * (1.0 - b))
    }

    /// Mean sojourn time: wait and service.
    pub fn sojourn_mean(&self) -> f64 {
        if self.utilisation() >= 1.0 {
            return f64::INFINITY;
        }
        self.mean_service + self.wait_probability() / self.drain()
    }

    /// Probability that the sojourn time exceeds `t`.
    pub fn sojourn_beyond(&self, t: f64) -> f64 {
        if self.utilisation() >= 1.0 {
            return 1.0;
        }
        let (mu, drain, wait) = (1.0 / self.mean_service, self.drain(), self.wait_probability());
        // With rate drain == mu (always so for one server when load is 0) the two exponentials fall together.
        let both = if (drain - mu).abs() < 1e-9 * mu {
            (1.0 + mu * t) * (-mu * t).exp()
        } else {
            (drain * (-mu * t).exp() - mu * (-drain * t).exp()) / (drain - mu)
        };
        (1.0 - wait) * (-mu * t).exp() + wait * both
    }

    /// Sojourn time that a share `p` in (0, 1) of requests does not exceed, by bisection.
    pub fn sojourn_quantile(&self, p: f64) -> f64 {
        if self.utilisation() >= 1.0 {
            return f64::INFINITY;
        }
        let (mut low, mut high) = (0.0, self.mean_service);
        while self.sojourn_beyond(high) > 1.0 - p {
            high *= 2.0;
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if self.sojourn_beyond(middle) > 1.0 - p { low = middle } else { high = middle }
        }
        0.5 * (low + high)
    }

    /// Rate at which the queue drains while all servers are busy: c mu - lambda.
    fn drain(&self) -> f64 {
        f64::from(self.servers) / self.mean_service - self.rate
    }
}

/// Mean sojourn time of one server with any service law of that mean and coefficient of variation (Pollaczek and
/// Khinchine): E + rho E (1 + cov^2) / (2 (1 - rho)).
pub fn mg1_sojourn_mean(rate: f64, mean_service: f64, service_cov: f64) -> f64 {
    let rho = rate * mean_service;
    if rho >= 1.0 {
        return f64::INFINITY;
    }
    mean_service + rho * mean_service * (1.0 + service_cov * service_cov) / (2.0 * (1.0 - rho))
}

/// Users that together send `rate` requests per unit of time when each waits `response` for its answer and then thinks for
/// `think`, both on average: rate x (Z + R) by Little's law (Little 1961).
pub fn users_for(rate: f64, response: f64, think: f64) -> f64 {
    rate * (think + response)
}

/// R/(Z + R): the share of a user's cycle that it spends waiting (Brady and Gunther 2016).
pub fn waiting_share(response: f64, think: f64) -> f64 {
    response / (think + response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_at_80_percent() {
        let queue = Mmc::mm1(800.0, 0.001);
        assert!((queue.sojourn_mean() - 0.005).abs() < 1e-12);
        // The sojourn time of M/M/1 is exponential.
        for p in [0.5, 0.9, 0.95, 0.99, 0.999] {
            let exact = -0.005 * (1.0f64 - p).ln();
            assert!((queue.sojourn_quantile(p) / exact - 1.0).abs() < 1e-9, "{p}");
        }
        assert!((queue.sojourn_quantile(0.5) - 3.4657e-3).abs() < 1e-7);
        assert!((queue.sojourn_quantile(0.99) - 23.026e-3).abs() < 1e-6);
        assert!((mg1_sojourn_mean(800.0, 0.001, 1.0) - 0.005).abs() < 1e-12);
        assert!((mg1_sojourn_mean(800.0, 0.001, 0.0) - 0.003).abs() < 1e-12);
    }

    /// Brady (2012), figure 17: R of his seven tests with the think times that he set, and rates where all its digits
    /// match.
    #[test]
    fn users_and_waiting_shares_of_bradys_tests() {
        let tests = [
            (12.5, 0.053_17, 0.42, 199.72, 15.91),
            (6.25, 0.052_74, 0.84, 199.99, 31.73),
            (2.5, 0.074_97, 2.91, 199.71, 77.56),
            (1.0, 0.253_38, 20.22, 199.49, 159.16),
        ];
        for (think, response, percent, users, rate) in tests {
            assert_eq!(format!("{:.2}", 100.0 * waiting_share(response, think)), format!("{percent:.2}"));
            assert_eq!(format!("{:.2}", users_for(rate, response, think)), format!("{users:.2}"));
        }
    }

    #[test]
    fn several_servers_match_erlangs_table() {
        // Erlang C of 10 servers at 8 Erlang is 0.4092 (published tables).
        let queue = Mmc { rate: 8.0, mean_service: 1.0, servers: 10 };
        assert!((queue.wait_probability() - 0.4092).abs() < 1e-4);
        assert!((queue.sojourn_mean() - (1.0 + queue.wait_probability() / 2.0)).abs() < 1e-12);
        // The mean is the integral of the tail.
        let integral: f64 =
            (0..200_000).map(|i| queue.sojourn_beyond((f64::from(i) + 0.5) * 1e-4) * 1e-4).sum();
        assert!((integral - queue.sojourn_mean()).abs() < 1e-4, "{integral}");
    }

    #[test]
    fn an_overloaded_queue_has_no_steady_state() {
        assert_eq!(Mmc::mm1(2.0, 1.0).sojourn_mean(), f64::INFINITY);
        assert_eq!(Mmc::mm1(2.0, 1.0).sojourn_quantile(0.5), f64::INFINITY);
        assert_eq!(mg1_sojourn_mean(1.0, 1.0, 0.0), f64::INFINITY);
    }
}
