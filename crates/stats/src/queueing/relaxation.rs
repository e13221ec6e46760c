//! How long a queue remembers where it began: the time constant of its slowest exponential.
//!
//! M/M/1: 1 / (sqrt(mu) - sqrt(lambda))^2, exact (Morse 1955; Cohen 1982, "The Single Server Queue").
//! M/M/c: the larger of that with c mu in place of mu, which is how fast a queue drains (Karlin and McGregor 1958), and of
//! one service, which is how fast servers change hands. This is a heuristic: the exact value has
//! no closed form (van Doorn 1985), and over c from 1 to 250 and rho from 0.1 to 0.95 it is at most 6 % more. Other laws: M/M/c
//! times (ca^2 + cs^2) / 2, as for the Brownian motion that both approach under heavy load (Whitt 1989, "Planning
//! queueing simulations"); a heuristic too.

use super::Mmc;
use headway_base::dist::Law;

impl Mmc {
    /// Relaxation time: exact for one server, a heuristic at most 6 % too short for several. Infinite at a utilisation
    /// of 1 or more.
    pub fn relaxation_time(&self) -> f64 {
        if self.utilisation() >= 1.0 {
            return f64::INFINITY;
        }
        let root = (f64::from(self.servers) / self.mean_service).sqrt() - self.rate.sqrt();
        self.mean_service.max(1.0 / (root * root))
    }
}

/// Relaxation time of a queue of c servers whose gaps and services have these coefficients of variation: a heuristic,
/// never below one mean service.
pub fn relaxation_time(queue: Mmc, gap_cov: f64, service_cov: f64) -> f64 {
    let spread = (gap_cov * gap_cov + service_cov * service_cov) / 2.0;
    let time = queue.relaxation_time();
    if time.is_infinite() { time } else { (time * spread).max(queue.mean_service) }
}

/// Above this allowance for skew ([`skew_allowance`]) a single run has no interval of a mean, however long it is: with lognormal services of
/// CoV 3 (6.7) it held in 86 to 92 % of runs of 440,000 to 2,900,000 requests, with hyperexponential ones of CoV 4 (1.9) and
/// gamma ones of CoV 3 (1.3) in 92 to 95 % (docs/trust.md).
pub const TOO_SKEWED: f64 = 3.0;

/// How many times as long as before exponential services a run must be before services of this law for the interval of a mean to
/// hold as often: E S^3 E S / (1.5 (E S^2)^2), at least 1. A heuristic: the variance of the waits needs that third moment
/// (Pollaczek 1930), and coverage falls with it. 1 too of a law without one, of which no length is known.
pub fn skew_allowance(law: &impl Law) -> f64 {
    const STEP: f64 = 0.01;
    if law.tail_index() <= 3.0 {
        return 1.0;
    }
    // E S^k is the integral of k x^k (1 - F(x)) over ln x.
    let mean = law.mean();
    let (mut second, mut third) = (0.0, 0.0);
    for i in -2_000..=4_000 {
        let x = mean * (STEP * f64::from(i)).exp();
        let beyond = 1.0 - law.cdf(x);
        second += 2.0 * x * x * beyond * STEP;
        third += 3.0 * x * x * x * beyond * STEP;
    }
    let allowance = third * mean / (1.5 * second * second);
    if allowance.is_finite() { allowance.max(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second smallest eigenvalue of the generator of M/M/c with `places` places, by counting sign changes (Sturm)
    /// in its symmetric tridiagonal form.
    fn gap(queue: Mmc, places: usize) -> f64 {
        let death = |n: usize| n.min(queue.servers as usize) as f64 / queue.mean_service;
        let below = |x: f64| {
            let (mut count, mut q) = (0, 1.0);
            for n in 0..=places {
                let up = if n < places { queue.rate } else { 0.0 };
                let square = if n > 0 { queue.rate * death(n) } else { 0.0 };
                q = up + death(n) - x - square / q;
                q = if q == 0.0 { 1e-300 } else { q };
                count += usize::from(q < 0.0);
            }
            count
        };
        let (mut low, mut high) = (0.0, queue.rate + death(places));
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if below(middle) >= 2 { high = middle } else { low = middle }
        }
        high
    }

    #[test]
    fn skewed_services_ask_for_longer_runs() {
        let of = |law: &str| {
            let law: headway_base::dist::Dist =
                headway_base::dist::parse(law, &|_| Err(String::new())).unwrap();
            skew_allowance(&law)
        };
        assert_eq!((of("const(1ms)"), of("exp(20ms)").round(), of("pareto(1ms,2.5)")), (1.0, 1.0, 1.0));
        // (1 + 9)^3 / (1.5 (1 + 9)^2).
        let lognormal = of("lognormal(10ms,3)");
        assert!((lognormal / (10.0 / 1.5) - 1.0).abs() < 0.02, "{lognormal}");
        // E S^3 is 817 where E S is 1 and E S^2 is 17.
        let hyperexponential = of("hyperexp(10ms,4)");
        assert!((hyperexponential / 1.884 - 1.0).abs() < 0.02, "{hyperexponential}");
    }

    /// With K places the gap of M/M/1 is lambda + mu - 2 sqrt(lambda mu) cos(pi / (K + 1)) (Morse 1955).
    #[test]
    fn one_server_is_exact() {
        let queue = Mmc::mm1(0.8, 1.0);
        let finite = 1.8 - 2.0 * 0.8f64.sqrt() * (std::f64::consts::PI / 101.0).cos();
        assert!((gap(queue, 100) / finite - 1.0).abs() < 1e-9);
        assert!((queue.relaxation_time() - 89.72).abs() < 0.01);
        assert!((gap(queue, 2000) * queue.relaxation_time() - 1.0).abs() < 2e-3);
        // In the unit of the service: 200 ms at 80 % forgets in 18 s.
        assert!((Mmc::mm1(4.0, 0.2).relaxation_time() - 17.944).abs() < 1e-3);
    }

    #[test]
    fn several_servers_are_told_within_six_percent() {
        for servers in [2, 5, 10, 25, 100, 250] {
            for rho in [0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95f64] {
                let queue = Mmc { rate: rho * f64::from(servers), mean_service: 1.0, servers };
                let places = servers as usize + (60.0 / (1.0 - rho.sqrt())) as usize + 200;
                let exact = 1.0 / gap(queue, places);
                let ratio = exact / queue.relaxation_time();
                assert!((0.997..1.06).contains(&ratio), "{servers} {rho}: {ratio}");
            }
        }
    }

    #[test]
    fn other_laws_scale_it_and_overload_has_none() {
        let queue = Mmc::mm1(0.8, 1.0);
        assert_eq!(relaxation_time(queue, 1.0, 1.0), queue.relaxation_time());
        assert_eq!(relaxation_time(queue, 1.0, 0.0), 0.5 * queue.relaxation_time());
        assert_eq!(relaxation_time(queue, 0.0, 0.0), 1.0);
        assert_eq!(relaxation_time(Mmc::mm1(1.0, 1.0), 0.0, 0.0), f64::INFINITY);
    }
}
