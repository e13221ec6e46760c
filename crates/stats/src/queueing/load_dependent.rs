//! One station whose speed depends on how many are there: a birth-death process with constant births.
//!
//! p(n) = p(n-1) lambda / s(n) (Kleinrock 1975, section 3.1), mean sojourn by Little's law over those admitted. It holds
//! for exponential service in any order of serving, and for any law of service under processor sharing and LIFO with
//! preemption (Chandy, Howard and Towsley 1977). Absent: births that depend on the state, see `closed`.

/// A station with Poisson arrivals and departures at a rate that depends on the number present.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoadDependent<'a> {
    /// Arrivals per unit of time, positive.
    pub rate: f64,
    /// s(1), s(2), ...: departures per unit of time with that many present, positive; the last holds beyond.
    pub speeds: &'a [f64],
    /// Most present at once: an arrival that finds that many is turned away. The cost of solving grows with it.
    pub limit: Option<u64>,
}

/// What a station does in the long run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stationary {
    /// Mean number present.
    pub number: f64,
    /// Probability that an arrival is turned away.
    pub loss: f64,
    /// Departures per unit of time.
    pub throughput: f64,
    /// Probability that nobody is there.
    pub empty: f64,
}

impl Stationary {
    /// Mean sojourn of those admitted.
    pub fn sojourn_mean(&self) -> f64 {
        self.number / self.throughput
    }

    /// Nothing bounds the queue, and the most that leaves per unit of time is `throughput`.
    fn unbounded(throughput: f64) -> Stationary {
        Stationary { number: f64::INFINITY, loss: 0.0, throughput, empty: 0.0 }
    }
}

impl LoadDependent<'_> {
    /// The stationary state; without a limit, an infinite number when arrivals are as fast as the last speed, or when
    /// there is no speed at all.
    pub fn solve(&self) -> Stationary {
        let settled = self.speeds.len();
        match self.speeds.last() {
            Some(_) => {
                solve(self.rate, |n| self.speeds[(n as usize).min(settled) - 1], settled as u64, self.limit)
            }
            None => Stationary::unbounded(0.0),
        }
    }
}

/// Sums of the unnormalised p(n) = w, scaled down together whenever they grow large.
#[derive(Default)]
struct Sums {
    all: f64,
    numbers: f64,
}

const LARGE: f64 = 1e200;

/// With `speed(n)` for n >= 1, constant from `settled` on.
pub(super) fn solve(rate: f64, speed: impl Fn(u64) -> f64, settled: u64, limit: Option<u64>) -> Stationary {
    let ratio = rate / speed(settled);
    if limit.is_none() && ratio >= 1.0 {
        return Stationary::unbounded(speed(settled));
    }
    let (mut w, mut empty, mut sums) = (1.0, 1.0, Sums { all: 1.0, numbers: 0.0 });
    let last = limit.unwrap_or(settled);
    for n in 1..=last {
        w *= rate / speed(n);
        sums.all += w;
        sums.numbers += n as f64 * w;
        if w > LARGE {
            w /= LARGE;
            empty /= LARGE;
            sums = Sums { all: sums.all / LARGE, numbers: sums.numbers / LARGE };
        }
        // From here on each is smaller than the one before: no sum changes any more.
        if n > settled && ratio < 1.0 && w * (n as f64) < 1e-20 * sums.all * (1.0 - ratio) {
            w = 0.0;
            break;
        }
    }
    let loss = match limit {
        Some(_) => w / sums.all,
        None => {
            // What lies beyond is geometric: sum over j >= 1 of ratio^j and of (last + j) ratio^j.
            let beyond = w * ratio / (1.0 - ratio);
            sums.all += beyond;
            sums.numbers += beyond * (last as f64 + 1.0 / (1.0 - ratio));
            0.0
        }
    };
    Stationary {
        number: sums.numbers / sums.all,
        loss,
        throughput: rate * (1.0 - loss),
        empty: empty / sums.all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queueing::Mmc;

    #[test]
    fn several_servers_are_a_station_that_speeds_up() {
        for (servers, load) in [(1, 0.8), (3, 2.9), (25, 20.0), (250, 200.0), (2000, 1900.0)] {
            let speeds: Vec<f64> = (1..=servers).map(f64::from).collect();
            let solved = LoadDependent { rate: load, speeds: &speeds, limit: None }.solve();
            let exact = Mmc { rate: load, mean_service: 1.0, servers };
            assert!((solved.sojourn_mean() / exact.sojourn_mean() - 1.0).abs() < 1e-10, "{servers}");
            assert_eq!((solved.throughput, solved.loss), (load, 0.0));
        }
    }

    /// Two speeds, slow with one present and twice as fast from two on: p(n) = p(0) 2 (r/2)^n for r = lambda / s(1), so
    /// the mean number is r / ((1 - r/2)^2 p(0)^-1) with p(0) = (1 - r/2) / (1 + r/2).
    #[test]
    fn two_speeds_have_a_closed_form() {
        let r = 1.2;
        let solved = LoadDependent { rate: r, speeds: &[1.0, 2.0], limit: None }.solve();
        assert!((solved.empty - 0.4 / 1.6).abs() < 1e-12);
        assert!((solved.number - r / (0.4 * 0.4) * (0.4 / 1.6)).abs() < 1e-12, "{solved:?}");
    }

    /// A station that gets slower the more are there, as a thrashing one does: balance of flows, state by state.
    #[test]
    fn a_thrashing_station_stays_bounded_only_by_its_limit() {
        let speeds = [10.0, 14.0, 15.0, 12.0, 8.0, 5.0];
        let open = LoadDependent { rate: 6.0, speeds: &speeds, limit: None }.solve();
        assert_eq!((open.number, open.throughput), (f64::INFINITY, 5.0));
        assert_eq!(open.sojourn_mean(), f64::INFINITY);
        let bounded = LoadDependent { rate: 6.0, speeds: &speeds, limit: Some(40) }.solve();
        let mut p = vec![1.0f64];
        (1..=40).for_each(|n: usize| p.push(p[n - 1] * 6.0 / speeds[n.min(6) - 1]));
        let all: f64 = p.iter().sum();
        let served: f64 = (1..=40).map(|n: usize| p[n] / all * speeds[n.min(6) - 1]).sum();
        assert!((bounded.throughput / served - 1.0).abs() < 1e-12, "what is admitted is served");
        assert!((bounded.loss - p[40] / all).abs() < 1e-12);
        assert!(LoadDependent { rate: 6.0, speeds: &[], limit: None }.solve().number.is_infinite());
    }
}
