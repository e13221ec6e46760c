//! M/M/c with N users who think between: how long one of them is there (the machine-repair model; Palm 1947, Jackson 1963).

/// N users, each of whom thinks for an exponential time and is then served by one of c servers, first come first served.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mmcn {
    /// How many, at least 1.
    pub users: u32,
    /// Mean time to think, above zero.
    pub think: f64,
    /// Mean service.
    pub mean_service: f64,
    /// Servers.
    pub servers: u32,
}

impl Mmcn {
    /// How likely each number of others is that a user finds at the station: that of one user fewer in steady state (arrival theorem;
    /// Lavenberg and Reiser 1980), by the balance of flows from state to state.
    fn found(&self) -> Vec<f64> {
        let others = self.users - 1;
        let mut weights = vec![1.0f64];
        for n in 0..others {
            let come = f64::from(others - n) / self.think;
            let go = f64::from((n + 1).min(self.servers)) / self.mean_service;
            let next = weights[n as usize] * come / go;
            weights.push(next);
            // Only their ratios count.
            if next > 1e200 {
                weights.iter_mut().for_each(|weight| *weight /= 1e200);
            }
        }
        let all: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / all).collect()
    }

    /// Mean time at the station.
    pub fn sojourn_mean(&self) -> f64 {
        let ahead = |n: usize| (n as f64 + 1.0 - f64::from(self.servers)).max(0.0);
        let wait: f64 = self.found().iter().enumerate().map(|(n, p)| p * ahead(n)).sum();
        self.mean_service * (1.0 + wait / f64::from(self.servers))
    }

    /// Probability that it is longer than `t`: who finds all servers busy waits for as many services as there are ahead, at the rate of
    /// all servers, before its own.
    pub fn sojourn_beyond(&self, t: f64) -> f64 {
        let all = f64::from(self.servers) / self.mean_service;
        let alone = (-t / self.mean_service).exp();
        // Fewer than k services in t have probability `waiting`.
        let (mut waiting, mut term, mut beyond) = (0.0, (-all * t).exp(), alone);
        let mut total = 0.0;
        for (n, p) in self.found().into_iter().enumerate() {
            if n >= self.servers as usize {
                waiting += term;
                term *= all * t / (n + 1 - self.servers as usize) as f64;
                beyond = self.after(n + 1 - self.servers as usize, t, alone, waiting);
            }
            total += p * beyond;
        }
        total
    }

    /// P(E_k + S > t), where E_k is k stages at the rate of all servers and `waiting` is P(E_k > t).
    fn after(&self, k: usize, t: f64, alone: f64, waiting: f64) -> f64 {
        let (own, all) = (1.0 / self.mean_service, f64::from(self.servers) / self.mean_service);
        if self.servers == 1 {
            // One stage more at the same rate.
            let last = (1..=k).fold((-all * t).exp(), |term, i| term * all * t / i as f64);
            return waiting + last;
        }
        // P(E_k > t) + e^(-own t) (all / (all - own))^k P(k stages at the rate all - own end before t).
        let rate = all - own;
        let (mut term, mut fewer) = ((-rate * t).exp(), 0.0);
        for i in 0..k {
            fewer += term;
            term *= rate * t / (i + 1) as f64;
        }
        // 1 - fewer cancels where k is large against rate t; then the sum from k on is short.
        let at_least = if fewer < 0.9 {
            1.0 - fewer
        } else {
            let mut sum = 0.0;
            for i in k..k + 1_000 {
                sum += term;
                term *= rate * t / (i + 1) as f64;
                if term < 1e-18 * sum {
                    break;
                }
            }
            sum
        };
        waiting + alone * (all / rate).powi(k as i32) * at_least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::{Centre, Closed};

    #[test]
    fn its_mean_is_that_of_mean_value_analysis_and_the_integral_of_its_tail() {
        for (users, servers) in [(1, 1), (5, 1), (40, 1), (3, 4), (30, 4), (90, 7)] {
            let system = Mmcn { users, think: 0.3, mean_service: 0.02, servers };
            let centres = [Centre::Delay { demand: 0.3 }, Centre::Queue { demand: 0.02, servers }];
            let exact = Closed { centres: &centres }.with(users as usize).response;
            assert!((system.sojourn_mean() / exact - 1.0).abs() < 1e-9, "{users} {servers}");
            // By the midpoint rule.
            let step = 0.0005;
            let integral: f64 =
                (0..20_000).map(|i| system.sojourn_beyond((f64::from(i) + 0.5) * step) * step).sum();
            assert!((integral / exact - 1.0).abs() < 1e-4, "{users} {servers}: {integral} and {exact}");
        }
    }
}
