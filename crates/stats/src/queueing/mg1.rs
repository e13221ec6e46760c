//! M/G/1: one server, Poisson arrivals, any service law.
//!
//! Mean by Pollaczek (1930) and Khinchine (1932); second moment of the wait by Takács (1962), "A single-server queue
//! with Poisson input"; LIFO without preemption by Wishart (1960) and Takács (1963), see Abate and Whitt (1997), "Limits
//! and approximations for the M/G/1 LIFO waiting-time distribution". Absent: the wait's distribution, which needs an
//! inversion of a transform.

/// One server with Poisson arrivals and a service law told by its first three moments.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mg1 {
    /// Arrivals per unit of time.
    pub rate: f64,
    /// Means of the service time, of its square and of its cube.
    pub moments: [f64; 3],
}

impl Mg1 {
    /// M/M/1: exponential service.
    pub fn exponential(rate: f64, mean_service: f64) -> Mg1 {
        let m = mean_service;
        Mg1 { rate, moments: [m, 2.0 * m * m, 6.0 * m * m * m] }
    }

    /// M/D/1: constant service.
    pub fn constant(rate: f64, service: f64) -> Mg1 {
        Mg1 { rate, moments: [service, service * service, service * service * service] }
    }

    /// Share of time that the server is busy; 1 or more when there is no steady state.
    pub fn utilisation(&self) -> f64 {
        self.rate * self.moments[0]
    }

    /// Mean wait before service, the same for FIFO, LIFO without preemption and random order:
    /// lambda m2 / (2 (1 - rho)) with m2 the second moment of the service.
    pub fn wait_mean(&self) -> f64 {
        let rho = self.utilisation();
        if rho >= 1.0 { f64::INFINITY } else { self.rate * self.moments[1] / (2.0 * (1.0 - rho)) }
    }

    /// Mean sojourn: wait and service.
    pub fn sojourn_mean(&self) -> f64 {
        self.moments[0] + self.wait_mean()
    }

    /// Second moment of the wait under FIFO: 2 w^2 + lambda m3 / (3 (1 - rho)) with w the mean wait and m3 the
    /// third moment of the service.
    pub fn wait_second_moment(&self) -> f64 {
        let rho = self.utilisation();
        if rho >= 1.0 {
            return f64::INFINITY;
        }
        let mean = self.wait_mean();
        2.0 * mean * mean + self.rate * self.moments[2] / (3.0 * (1.0 - rho))
    }

    /// Second moment of the wait under LIFO without preemption: FIFO's divided by 1 - rho.
    pub fn lifo_wait_second_moment(&self) -> f64 {
        let rho = self.utilisation();
        if rho >= 1.0 { f64::INFINITY } else { self.wait_second_moment() / (1.0 - rho) }
    }

    /// Variance of the sojourn under FIFO: wait and service are independent, for a request's own service begins after
    /// its wait. So it is under LIFO without preemption, with that discipline's second moment.
    pub fn sojourn_variance(&self) -> f64 {
        let (mean, wait) = (self.moments[0], self.wait_mean());
        if wait.is_infinite() {
            return f64::INFINITY;
        }
        self.wait_second_moment() - wait * wait + self.moments[1] - mean * mean
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::Mmc;
    use headway_base::random::Stream;
    use headway_base::special::exponential;

    #[test]
    fn exponential_service_is_mm1_and_constant_service_waits_half_as_long() {
        assert!((mg1_sojourn_mean(800.0, 0.001, 1.0) - 0.005).abs() < 1e-12);
        assert!((mg1_sojourn_mean(800.0, 0.001, 0.0) - 0.003).abs() < 1e-12);
        assert_eq!(mg1_sojourn_mean(1.0, 1.0, 0.0), f64::INFINITY);
        let (mg1, mm1) = (Mg1::exponential(0.8, 1.0), Mmc::mm1(0.8, 1.0));
        assert!((mg1.sojourn_mean() - mm1.sojourn_mean()).abs() < 1e-12);
        assert!((mg1.sojourn_variance() - mm1.sojourn_variance()).abs() < 1e-9);
        assert!((mg1.wait_second_moment() - mm1.wait_second_moment()).abs() < 1e-9);
        let md1 = Mg1::constant(0.8, 1.0);
        assert!((md1.wait_mean() - 0.5 * mm1.wait_mean()).abs() < 1e-12);
        assert_eq!(Mg1::constant(1.0, 1.0).sojourn_variance(), f64::INFINITY);
    }

    /// An arrival to M/M/1 that waits does so for a whole busy period, whose second moment is
    /// E[S^2] / (1 - rho)^3 (Takács 1962).
    #[test]
    fn lifo_waits_are_busy_periods() {
        for rho in [0.1, 0.5, 0.8, 0.95f64] {
            let expected = rho * 2.0 / (1.0 - rho).powi(3);
            let lifo = Mg1::exponential(rho, 1.0).lifo_wait_second_moment();
            assert!((lifo / expected - 1.0).abs() < 1e-12, "{rho}: {lifo}");
        }
    }

    /// M/D/1 at 60 % simulated FIFO and LIFO, 100 independent runs of 20,000 requests: moments of the wait within 4
    /// standard errors.
    #[test]
    fn moments_of_fifo_and_lifo_waits_agree_with_simulations() {
        let exact = Mg1::constant(0.6, 1.0);
        let runs: Vec<[f64; 3]> = (1..=100).map(|seed| waits_of_md1(0.6, 20_000, seed)).collect();
        let expected = [exact.wait_mean(), exact.wait_second_moment(), exact.lifo_wait_second_moment()];
        for (i, expected) in expected.into_iter().enumerate() {
            let n = runs.len() as f64;
            let mean = runs.iter().map(|r| r[i]).sum::<f64>() / n;
            let se = (runs.iter().map(|r| (r[i] - mean).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt();
            assert!((mean - expected).abs() < 4.0 * se, "{i}: {mean} +- {se} against {expected}");
        }
    }

    /// Mean of FIFO's wait, and the second moment of FIFO's and of LIFO's, over `n` requests from an empty start; LIFO
    /// by a stack of those that wait.
    fn waits_of_md1(rate: f64, n: usize, seed: u64) -> [f64; 3] {
        let mut draws = Stream::new(seed, "test").item(0);
        let mut at = 0.0;
        let arrivals: Vec<f64> = (0..n)
            .map(|_| {
                at += exponential(&mut draws) / rate;
                at
            })
            .collect();
        let (mut free, mut mean, mut fifo) = (0.0f64, 0.0, 0.0);
        for &at in &arrivals {
            let wait = (free - at).max(0.0);
            mean += wait;
            fifo += wait * wait;
            free = at + wait + 1.0;
        }
        let (mut stack, mut next, mut now, mut lifo) = (Vec::new(), 0, 0.0f64, 0.0);
        while next < n || !stack.is_empty() {
            if stack.is_empty() {
                now = now.max(arrivals[next]);
            }
            while next < n && arrivals[next] <= now {
                stack.push(arrivals[next]);
                next += 1;
            }
            if let Some(at) = stack.pop() {
                lifo += (now - at) * (now - at);
                now += 1.0;
            }
        }
        let count = n as f64;
        [mean / count, fifo / count, lifo / count]
    }
}
