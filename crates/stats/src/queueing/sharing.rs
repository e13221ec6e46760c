//! Processor sharing: all present are served at once, each at an equal share.
//!
//! The number present depends on the service law by its mean alone (Sakata, Noguchi and Oizumi 1969; Kleinrock 1976,
//! "Queueing Systems II", section 4.4), so means are those of M/M/c for any law, and a request of service x stays in
//! proportion to x (Cohen 1979, "The multiple phase service network with generalized processor sharing"). With c servers
//! a request is served at full speed as long as no more than c are there. Absent: the distribution of the sojourn, which
//! does depend on the law.

use super::Mmc;

/// Mean sojourn under processor sharing by `servers` servers; of one server E / (1 - rho).
pub fn ps_sojourn_mean(rate: f64, mean_service: f64, servers: u32) -> f64 {
    Mmc { rate, mean_service, servers }.sojourn_mean()
}

/// Mean sojourn of the requests whose service takes `x` alone; of one server x / (1 - rho).
pub fn ps_sojourn_of(x: f64, rate: f64, mean_service: f64, servers: u32) -> f64 {
    x / mean_service * ps_sojourn_mean(rate, mean_service, servers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;
    use headway_base::special::exponential;

    /// Two servers shared by requests of service 0.5 or 2.5 with equal probability, at 75 %: 60 independent runs of
    /// 4,000 requests, overall mean and the means of both kinds within 4 standard errors.
    #[test]
    fn means_agree_with_a_simulation_whatever_the_law() {
        let runs: Vec<[f64; 3]> = (1..=60).map(|seed| shared(1.0, 4000, seed)).collect();
        let expected =
            [ps_sojourn_mean(1.0, 1.5, 2), ps_sojourn_of(0.5, 1.0, 1.5, 2), ps_sojourn_of(2.5, 1.0, 1.5, 2)];
        for (i, expected) in expected.into_iter().enumerate() {
            let n = runs.len() as f64;
            let mean = runs.iter().map(|r| r[i]).sum::<f64>() / n;
            let se = (runs.iter().map(|r| (r[i] - mean).powi(2)).sum::<f64>() / (n * (n - 1.0))).sqrt();
            assert!((mean - expected).abs() < 4.0 * se, "{i}: {mean} +- {se} against {expected}");
        }
        assert!((ps_sojourn_of(3.0, 0.8, 1.0, 1) - 15.0).abs() < 1e-12);
        assert_eq!(ps_sojourn_mean(1.0, 1.0, 1), f64::INFINITY);
    }

    /// Mean sojourns of all, of the short and of the long, over `n` arrivals after 400 of warm-up.
    fn shared(rate: f64, n: usize, seed: u64) -> [f64; 3] {
        let mut draws = Stream::new(seed, "test").item(0);
        let mut present: Vec<(f64, f64, bool, bool)> = Vec::new(); // arrival, left, long, counted
        let mut sums = [[0.0; 2]; 2];
        let (mut now, mut arrival, mut arrived) = (0.0, exponential(&mut draws) / rate, 0);
        while arrived < n + 400 || !present.is_empty() {
            let speed = (2.0 / present.len() as f64).min(1.0);
            let least = present.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
            let leaves = now + least / speed;
            let arrives = if arrived < n + 400 { arrival } else { f64::INFINITY };
            let until = leaves.min(arrives);
            present.iter_mut().for_each(|p| p.1 -= (until - now) * speed);
            now = until;
            if arrives < leaves {
                let long = draws.open01() < 0.5;
                present.push((now, if long { 2.5 } else { 0.5 }, long, arrived >= 400));
                arrived += 1;
                arrival += exponential(&mut draws) / rate;
            } else {
                present.retain(|&(at, left, long, counted)| {
                    let gone = left <= 1e-9;
                    if gone && counted {
                        sums[usize::from(long)][0] += 1.0;
                        sums[usize::from(long)][1] += now - at;
                    }
                    !gone
                });
            }
        }
        let [short, long] = sums;
        [(short[1] + long[1]) / (short[0] + long[0]), short[1] / short[0], long[1] / long[0]]
    }
}
