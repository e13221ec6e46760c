//! The CoV of headways of k independent users, exactly, for users that begin anew after each request.
//!
//! A user's launches are a renewal process: think time Z plus response time R lie between two. Of k of them together a
//! headway exceeds t if one user's own gap does and the residual gaps of the others do (Palm 1943; Khintchine 1960):
//! P(H > t) = S(t) E(t)^(k-1), with S the survival function of Z + R, mu its mean and E(t) = (1/mu) int_t^inf S. This is
//! -(mu/k) d/dt E(t)^k, so that the mean is mu/k, the second moment (2 mu/k) int_0^inf E(t)^k dt, and
//!
//! CoV^2 = (2k/mu) int_0^inf E(t)^k dt - 1.
//!
//! For Z uniform and R = 0 this is (2k - 1)/(2k + 1). Launches stamped in multiples of g add g^2/6 to the variance of
//! a headway: the difference of two uniform errors.

use headway_base::special::normal_pdf;

/// Steps of the integral over time.
const STEPS: usize = 2_000;
/// The integral over the lognormal law extends this number of standard deviations of the logarithm to either side, in steps of:
const SIDES: f64 = 9.0;
const STEP: f64 = 0.05;

/// The CoV of headways of k users with instant answers.
pub fn instant(k: u32) -> f64 {
    let k = f64::from(k);
    ((2.0 * k - 1.0) / (2.0 * k + 1.0)).sqrt()
}

/// Users who think uniformly from 0 to twice a mean and wait for lognormal answers.
pub struct Users {
    /// Largest think time in seconds.
    longest_s: f64,
    /// Mean time from one launch to the next.
    mean_s: f64,
    /// Response times and their weights.
    responses: Vec<(f64, f64)>,
    /// Launches are stamped in multiples of this.
    stamp_s: f64,
}

impl Users {
    /// Mean think time in seconds; mean and standard deviation of response times; what stamps are multiples of.
    pub fn new(think_s: f64, response_s: f64, sd_s: f64, stamp_s: f64) -> Users {
        let variance = libm::log1p((sd_s / response_s) * (sd_s / response_s));
        let (mu, sigma) = (libm::log(response_s) - 0.5 * variance, libm::sqrt(variance));
        let steps = (2.0 * SIDES / STEP) as usize;
        let at = |i: usize| -SIDES + STEP * i as f64;
        let responses: Vec<(f64, f64)> =
            (0..=steps).map(|i| (libm::exp(mu + sigma * at(i)), STEP * normal_pdf(at(i)))).collect();
        let mean = responses.iter().map(|(r, weight)| r * weight).sum::<f64>();
        Users { longest_s: 2.0 * think_s, mean_s: think_s + mean, responses, stamp_s }
    }

    /// Share of the mean gap that lies beyond `t`: E[(Z + R - t)+] over the mean.
    fn beyond(&self, t: f64) -> f64 {
        let b = self.longest_s;
        let excess = |y: f64| match y {
            y if y >= 0.0 => b / 2.0 + y,
            y if y > -b => (b + y) * (b + y) / (2.0 * b),
            _ => 0.0,
        };
        let sum: f64 = self.responses.iter().map(|&(r, weight)| weight * excess(r - t)).sum();
        sum / self.mean_s
    }

    /// The CoV of headways of groups of that many users each.
    pub fn cov(&self, sizes: &[u32]) -> Vec<f64> {
        // t = c (x/(1 - x))^2 takes [0, 1) to all times, with most points where the headways of many users are.
        let scale = self.mean_s;
        let points: Vec<(f64, f64)> = (0..STEPS)
            .map(|i| {
                let x = (i as f64 + 0.5) / STEPS as f64;
                let y = x / (1.0 - x);
                let dt = 2.0 * scale * y / ((1.0 - x) * (1.0 - x)) / STEPS as f64;
                (self.beyond(scale * y * y), dt)
            })
            .collect();
        let cov = |&k: &u32| {
            let k = f64::from(k);
            let integral: f64 = points.iter().map(|&(beyond, dt)| libm::pow(beyond, k) * dt).sum();
            let stamp = k * self.stamp_s / self.mean_s;
            (2.0 * k / self.mean_s * integral - 1.0 + stamp * stamp / 6.0).sqrt()
        };
        sizes.iter().map(cov).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brady::published::SIZES;

    #[test]
    fn instant_answers_give_the_known_values() {
        let known = [(1, 0.577), (2, 0.775), (5, 0.905), (10, 0.951), (20, 0.975), (50, 0.990), (200, 0.998)];
        for (k, value) in known {
            assert!((instant(k) - value).abs() < 5e-4, "{k}");
        }
        let users = Users::new(6.25, 1e-9, 1e-10, 0.0);
        for (k, cov) in SIZES.iter().zip(users.cov(&SIZES)) {
            assert!((cov - instant(*k)).abs() < 1e-5, "{k}: {cov}");
        }
    }

    /// One user alone has the CoV of Z + R: variances add up.
    #[test]
    fn one_user_has_the_cov_of_his_own_gaps() {
        for (think, response, sd) in [(6.25, 0.053, 0.155), (1.0, 0.253, 0.536), (1.0, 3.0, 1.0)] {
            let cov = Users::new(think, response, sd, 0.0).cov(&[1])[0];
            let truth = (think * think / 3.0 + sd * sd).sqrt() / (think + response);
            assert!((cov - truth).abs() < 1e-4, "{cov} {truth}");
        }
    }

    /// Gaps of 1 ms that are stamped in whole milliseconds: the variance of the stamps is a sixth of their square.
    #[test]
    fn whole_milliseconds_add_to_the_variance() {
        let [coarse, fine] = [1e-3, 0.0].map(|stamp| Users::new(0.1, 1e-9, 1e-10, stamp).cov(&[100])[0]);
        assert!((coarse * coarse - fine * fine - 1.0 / 6.0).abs() < 1e-5, "{coarse} {fine}");
    }

    /// However slow the answers, users that do not know of each other come nearer to 1 from below as they become more.
    #[test]
    fn many_users_come_near_one() {
        for users in [Users::new(1.0, 0.253, 0.536, 0.0), Users::new(6.25, 0.053, 0.155, 0.0)] {
            let cov = users.cov(&SIZES);
            assert!(
                cov[3..].windows(2).all(|pair| pair[0] < pair[1]) && cov[23] < 1.0 && cov[23] > 0.99,
                "{cov:?}"
            );
        }
    }
}
