//! M/M/1 and M/M/c, FIFO: Kleinrock (1975), "Queueing Systems I", sections 3.2 and 3.5; the sojourn's distribution
//! from Gross and Harris (1985), "Fundamentals of Queueing Theory", chapter 2 (the wait is 0 with probability 1 - C
//! and else exponential with rate c mu - lambda, and independent of the service).

/// c servers, one FIFO queue, Poisson arrivals, exponential service.
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

    /// One of `servers` servers with a queue each, over which Poisson arrivals of `rate` are spread at random: again
    /// Poisson (Kleinrock 1975, chapter 2), so an M/M/1 of that share of the rate.
    pub fn random_split(rate: f64, mean_service: f64, servers: u32) -> Mmc {
        Mmc::mm1(rate / f64::from(servers), mean_service)
    }

    /// Share of time that a server is busy; 1 or more when there is no steady state.
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

    /// Mean wait before service: C / (c mu - lambda).
    pub fn wait_mean(&self) -> f64 {
        if self.utilisation() >= 1.0 {
            return f64::INFINITY;
        }
        self.wait_probability() / self.drain()
    }

    /// Second moment of the wait under FIFO: 2 C / (c mu - lambda)^2.
    pub fn wait_second_moment(&self) -> f64 {
        if self.utilisation() >= 1.0 {
            return f64::INFINITY;
        }
        2.0 * self.wait_probability() / (self.drain() * self.drain())
    }

    /// Second moment of the wait when the last to come is served first, without preemption: FIFO's divided by
    /// 1 - rho, at the same mean (Vaulot 1954; Riordan 1961, "Delays for last-come first-served service"). Who waits does
    /// so for a busy period of one server with rate c mu, whose second moment is 2 / ((c mu)^2 (1 - rho)^3).
    pub fn lifo_wait_second_moment(&self) -> f64 {
        if self.utilisation() >= 1.0 {
            return f64::INFINITY;
        }
        self.wait_second_moment() / (1.0 - self.utilisation())
    }

    /// Mean sojourn time: wait and service.
    pub fn sojourn_mean(&self) -> f64 {
        self.mean_service + self.wait_mean()
    }

    /// Variance of the sojourn time under FIFO: that of the service and, independent of it, of the wait.
    pub fn sojourn_variance(&self) -> f64 {
        if self.utilisation() >= 1.0 {
            return f64::INFINITY;
        }
        let (wait, drain) = (self.wait_probability(), self.drain());
        self.mean_service * self.mean_service + wait * (2.0 - wait) / (drain * drain)
    }

    /// Standard deviation of the sojourn time under FIFO; of one server it is the mean.
    pub fn sojourn_sd(&self) -> f64 {
        self.sojourn_variance().sqrt()
    }

    /// Mean number present, waiting or in service (Little 1961).
    pub fn number_mean(&self) -> f64 {
        self.rate * self.sojourn_mean()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_at_80_percent() {
        let queue = Mmc::mm1(800.0, 0.001);
        assert!((queue.sojourn_mean() - 0.005).abs() < 1e-12);
        assert!((queue.sojourn_sd() - 0.005).abs() < 1e-12);
        assert!((queue.number_mean() - 4.0).abs() < 1e-12);
        // The sojourn time of M/M/1 is exponential.
        for p in [0.5, 0.9, 0.95, 0.99, 0.999] {
            let exact = -0.005 * (1.0f64 - p).ln();
            assert!((queue.sojourn_quantile(p) / exact - 1.0).abs() < 1e-9, "{p}");
        }
        assert!((queue.sojourn_quantile(0.5) - 3.4657e-3).abs() < 1e-7);
        assert!((queue.sojourn_quantile(0.99) - 23.026e-3).abs() < 1e-6);
    }

    #[test]
    fn several_servers_match_erlangs_table() {
        // Erlang C of 10 servers at 8 Erlang is 0.4092 (published tables).
        let queue = Mmc { rate: 8.0, mean_service: 1.0, servers: 10 };
        assert!((queue.wait_probability() - 0.4092).abs() < 1e-4);
        assert!((queue.sojourn_mean() - (1.0 + queue.wait_probability() / 2.0)).abs() < 1e-12);
        // The moments are integrals of the tail.
        let (mut mean, mut second) = (0.0, 0.0);
        for i in 0..400_000 {
            let t = (f64::from(i) + 0.5) * 1e-4;
            let tail = queue.sojourn_beyond(t) * 1e-4;
            mean += tail;
            second += 2.0 * t * tail;
        }
        assert!((mean - queue.sojourn_mean()).abs() < 1e-7, "{mean}");
        assert!((second - mean * mean - queue.sojourn_variance()).abs() < 1e-6, "{second}");
    }

    /// 250 servers of 200 ms at one arrival per ms, pooled in one, in groups of 25, and alone: figures computed
    /// elsewhere for the published comparison of balancers.
    #[test]
    fn pools_of_250_25_and_1_at_80_percent() {
        let queue = |servers: u32| Mmc { rate: f64::from(servers) / 250.0, mean_service: 200.0, servers };
        let pool = queue(250);
        assert!((pool.wait_probability() - 0.000_387_236).abs() < 5e-10);
        assert!((pool.sojourn_mean() - 200.002).abs() < 5e-4);
        for (p, published) in [(0.5, 138.631), (0.95, 599.148), (0.99, 921.036)] {
            assert!((pool.sojourn_quantile(p) - published).abs() < 6e-4, "{p}: {}", pool.sojourn_quantile(p));
        }
        let tenth = queue(25);
        assert!((tenth.wait_probability() - 0.209_103).abs() < 5e-7);
        assert!((tenth.wait_mean() - 8.3641).abs() < 5e-5);
        for (p, published) in [(0.5, 148.308), (0.95, 609.337), (0.99, 931.225)] {
            assert!(
                (tenth.sojourn_quantile(p) - published).abs() < 6e-4,
                "{p}: {}",
                tenth.sojourn_quantile(p)
            );
        }
        let alone = Mmc::random_split(1.0, 200.0, 250);
        assert!((alone.sojourn_mean() - 1000.0).abs() < 1e-9);
        for (p, published) in [(0.5, 693.147), (0.95, 2995.732), (0.99, 4605.170)] {
            assert!(
                (alone.sojourn_quantile(p) - published).abs() < 6e-4,
                "{p}: {}",
                alone.sojourn_quantile(p)
            );
        }
    }

    #[test]
    fn an_overloaded_queue_has_no_steady_state() {
        let queue = Mmc::mm1(2.0, 1.0);
        assert_eq!(queue.sojourn_mean(), f64::INFINITY);
        assert_eq!(queue.sojourn_variance(), f64::INFINITY);
        assert_eq!(queue.sojourn_quantile(0.5), f64::INFINITY);
        assert_eq!(queue.lifo_wait_second_moment(), f64::INFINITY);
    }
}
