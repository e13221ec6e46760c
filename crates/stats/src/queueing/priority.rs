//! Classes with priority at one station: who is first is served first, FIFO within a class.
//!
//! Without preemption by Cobham (1954), "Priority assignment in waiting line problems"; with preemption and resumption by
//! White and Christie (1958), see Kleinrock (1976), "Queueing Systems II", chapter 3. Classes are given from the first
//! to the last. A class for which nothing is left waits for ever, and those before it still have a steady state.

use super::Mmc;

/// A class of requests: Poisson arrivals and a service law.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Class {
    /// Arrivals per unit of time.
    pub rate: f64,
    /// Mean service time.
    pub mean_service: f64,
    /// Coefficient of variation of the service time.
    pub service_cov: f64,
}

impl Class {
    /// Exponential service.
    pub const fn exponential(rate: f64, mean_service: f64) -> Class {
        Class { rate, mean_service, service_cov: 1.0 }
    }

    fn utilisation(&self) -> f64 {
        self.rate * self.mean_service
    }

    /// Mean of what is left of a service in progress, times the probability that one is: rho E[S^2] / (2 E[S]).
    fn residual(&self, utilisation: f64) -> f64 {
        utilisation * self.mean_service * (1.0 + self.service_cov * self.service_cov) / 2.0
    }
}

/// Mean waits before service of each class at one server without preemption:
/// W0 / ((1 - sigma_(k-1)) (1 - sigma_k)), where sigma_k is the utilisation of the classes up to k and W0 the residual
/// service that an arrival finds. An overloaded class takes what those before it leave, and counts so much in W0.
pub fn priority_waits(classes: &[Class]) -> Vec<f64> {
    let mut free = 1.0f64;
    let mut residual = 0.0;
    for class in classes {
        let used = class.utilisation().min(free);
        residual += class.residual(used);
        free -= used;
    }
    let mut sigma = 0.0;
    classes
        .iter()
        .map(|class| {
            let before = sigma;
            sigma += class.utilisation();
            wait(residual, before, sigma)
        })
        .collect()
}

/// The same with `servers` servers and one exponential service for all classes: W0 = C / (c mu) with Erlang's C of the
/// whole load (Cobham 1954). Where the whole load is 1 or more, all servers are always busy and C is 1.
pub fn priority_waits_mmc(rates: &[f64], mean_service: f64, servers: u32) -> Vec<f64> {
    let all = Mmc { rate: rates.iter().sum(), mean_service, servers };
    let residual = all.wait_probability() * mean_service / f64::from(servers);
    let mut sigma = 0.0;
    rates
        .iter()
        .map(|rate| {
            let before = sigma;
            sigma += rate * mean_service / f64::from(servers);
            wait(residual, before, sigma)
        })
        .collect()
}

/// Mean sojourns of each class at one server where a request of an earlier class interrupts at once and the interrupted
/// one goes on later: E_k / (1 - sigma_(k-1)) + W0_k / ((1 - sigma_(k-1)) (1 - sigma_k)), with W0_k the residual service of
/// the classes up to k alone.
pub fn preemptive_sojourns(classes: &[Class]) -> Vec<f64> {
    let (mut sigma, mut residual) = (0.0, 0.0);
    classes
        .iter()
        .map(|class| {
            let before = sigma;
            sigma += class.utilisation();
            residual += class.residual(class.utilisation());
            wait(residual, before, sigma) + class.mean_service / (1.0 - before).max(0.0)
        })
        .collect()
}

fn wait(residual: f64, before: f64, sigma: f64) -> f64 {
    if sigma >= 1.0 { f64::INFINITY } else { residual / ((1.0 - before) * (1.0 - sigma)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::{Mg1, mg1_sojourn_mean};

    /// The conservation law of Kleinrock (1965): priority moves waits about, but the sum of rho_k W_k stays FIFO's
    /// rho W0 / (1 - rho).
    #[test]
    fn the_sum_of_rho_times_wait_is_conserved() {
        let classes = [
            Class { rate: 0.2, mean_service: 1.0, service_cov: 0.0 },
            Class { rate: 0.1, mean_service: 2.0, service_cov: 1.0 },
            Class { rate: 1.0, mean_service: 0.4, service_cov: 2.5 },
        ];
        let waits = priority_waits(&classes);
        let sum: f64 = classes.iter().zip(&waits).map(|(c, w)| c.rate * c.mean_service * w).sum();
        // lambda E[S^2] / 2 = (0.2 + 0.1 x 8 + 1.0 x 0.16 x 7.25) / 2 = 1.08, rho 0.8.
        assert!((sum - 0.8 * 1.08 / 0.2).abs() < 1e-12, "{sum}");
        assert!(waits.is_sorted());
    }

    #[test]
    fn one_class_is_fifo() {
        let waits = priority_waits(&[Class { rate: 0.7, mean_service: 1.0, service_cov: 0.5 }]);
        assert!((waits[0] + 1.0 - mg1_sojourn_mean(0.7, 1.0, 0.5)).abs() < 1e-12);
        let queue = Mmc { rate: 8.0, mean_service: 1.0, servers: 10 };
        assert!((priority_waits_mmc(&[8.0], 1.0, 10)[0] - queue.wait_mean()).abs() < 1e-12);
        let split = priority_waits_mmc(&[1.0, 3.0, 4.0], 1.0, 10);
        let mean = (split[0] + 3.0 * split[1] + 4.0 * split[2]) / 8.0;
        assert!((mean - queue.wait_mean()).abs() < 1e-12, "{split:?}");
        let one: Vec<_> = [0.3, 0.5].map(|rate| Class::exponential(rate, 1.0)).into();
        for (general, markov) in priority_waits(&one).iter().zip(priority_waits_mmc(&[0.3, 0.5], 1.0, 1)) {
            assert!((general - markov).abs() < 1e-12);
        }
    }

    /// To the first class the others do not exist; and with one exponential law for all, the number present is that of
    /// M/M/1 in whatever order they are served.
    #[test]
    fn preemption_hides_the_later_classes_and_keeps_the_number_present() {
        let classes = [0.3, 0.2, 0.4].map(|rate| Class::exponential(rate, 1.0));
        let sojourns = preemptive_sojourns(&classes);
        assert!((sojourns[0] - Mmc::mm1(0.3, 1.0).sojourn_mean()).abs() < 1e-12);
        let number: f64 = classes.iter().zip(&sojourns).map(|(c, t)| c.rate * t).sum();
        assert!((number - Mmc::mm1(0.9, 1.0).number_mean()).abs() < 1e-12, "{sojourns:?}");
    }

    /// A saturated last class keeps the server busy without pause: the first waits the residual of whatever is served.
    #[test]
    fn an_overloaded_class_waits_for_ever_and_delays_the_others_by_one_service_at_most() {
        let flood = Class { rate: 50.0, mean_service: 1.0, service_cov: 0.0 };
        let waits = priority_waits(&[Class { rate: 0.4, mean_service: 1.0, service_cov: 0.0 }, flood]);
        assert!((waits[0] - 0.5 / 0.6).abs() < 1e-12, "{waits:?}");
        assert_eq!(waits[1], f64::INFINITY);
        assert!(waits[0] > Mg1::constant(0.4, 1.0).wait_mean());
        let sojourns = preemptive_sojourns(&[Class::exponential(0.4, 1.0), flood, flood]);
        assert!((sojourns[0] - 1.0 / 0.6).abs() < 1e-12);
        assert_eq!(sojourns[1..], [f64::INFINITY; 2]);
        let many = priority_waits_mmc(&[4.0, 50.0], 1.0, 10);
        assert!((many[0] - 0.1 / 0.6).abs() < 1e-12 && many[1].is_infinite());
    }
}
