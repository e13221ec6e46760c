//! Closed probes: 1, 2, 4, ... users without think time, until throughput stops growing. They tell the capacity, the service time and the
//! number of servers, and from these a model tells where trials begin. They prove nothing of the knee, but for one thing: what one user alone
//! breaks, no rate of arrivals meets.
//!
//! Deliberately absent: who plays them.

use super::evidence::Side;
use serde::{Deserialize, Serialize};
use statrs::function::beta::beta_reg;

/// Throughput that grows by less than this share, twice, has stopped growing.
const GROWTH: f64 = 0.12;
const TWICE: usize = 2;
/// Probes stop beyond this share of failures.
const FAILED: f64 = 0.01;
/// Fewest responses with status 429 that tell of a target that limits rates.
const FEWEST_LIMITED: u64 = 5;
/// Most users.
const MOST: u32 = 1_024;
/// A probe lasts so many seconds at least, and at most, whatever has ended by then.
pub const SECONDS: [f64; 2] = [1.0, 5.0];
/// Requests of the first probe, and for each user of the others, at least.
const ALONE: u64 = 400;
const EACH: u64 = 12;
const LEAST: u64 = 100;
/// Level at which one user alone shows a threshold to be broken; the same requests are no sample of a queue, and are independent.
const LEVEL: f64 = 0.001;

/// A probe.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ProbeRow {
    /// Users without think time.
    pub users: u32,
    /// Requests that ended per second.
    pub per_second: f64,
    /// Mean response time of those that ended well, seconds.
    pub response_s: f64,
    /// Requests that ended.
    pub requests: u64,
    /// Of them, those that failed.
    pub failed: u64,
    /// Of these, responses with status 429: the target limits rates.
    pub limited: u64,
    /// Seconds that it took.
    pub took_s: f64,
}

/// What all probes say.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Probed {
    /// The probes, in order.
    pub rows: Vec<ProbeRow>,
    /// Requests per second at most, by these; null while throughput still grows, as where `--to` ends the probes.
    pub capacity: Option<f64>,
    /// Response time of one user alone, seconds.
    pub service_s: f64,
    /// Servers of a station with that capacity and service time.
    pub servers: u32,
    /// Of one user alone, requests beyond the limit that is met least, and how many are allowed.
    pub alone: [f64; 2],
    /// The threshold that one user alone breaks, if there is one: its place among them, from 0.
    pub broken: Option<usize>,
    /// The first estimate of the knee by a model of these, arrivals per second, and its slope there (logarithms); it places trials and proves nothing.
    pub expected: Option<[f64; 2]>,
}

impl ProbeRow {
    /// Whether more failed than lets probes go on.
    pub fn fails(&self) -> bool {
        self.failed as f64 > FAILED * self.requests as f64
    }

    /// Requests per second that ended, where the target limited them.
    pub fn limited_at(&self) -> Option<f64> {
        is_limited(self.limited, self.requests).then(|| self.requests as f64 / self.took_s.max(1e-9))
    }
}

impl Probed {
    /// How many users the next probe has, and how many of its requests end at least; none: they are over. `most` requests per second are
    /// not to be exceeded.
    pub fn next(&self, most: Option<f64>) -> Option<(u32, u64)> {
        let Some(last) = self.rows.last() else { return Some((1, ALONE)) };
        let failed = last.fails();
        let faster = most.is_some_and(|most| 2.0 * last.per_second > most);
        let slow = self
            .rows
            .windows(2)
            .rev()
            .take_while(|pair| pair[1].per_second < (1.0 + GROWTH) * pair[0].per_second);
        let users = 2 * last.users;
        let over = failed || faster || users > MOST || self.broken.is_some() || slow.count() >= TWICE;
        (!over).then_some((users, (EACH * u64::from(users)).max(LEAST)))
    }

    /// Takes a probe.
    pub fn take(&mut self, row: ProbeRow) {
        if row.users == 1 {
            self.service_s = row.response_s;
        }
        self.rows.push(row);
        self.capacity = match &self.rows[..] {
            // What it still served when the rest failed.
            [.., a, b] if b.fails() => Some(a.per_second.max(b.per_second)).filter(|most| *most > 0.0),
            [.., a, b] if b.per_second < (1.0 + GROWTH) * a.per_second => {
                Some((0.5 * (a.per_second + b.per_second)).max(a.per_second))
            }
            // It still grows.
            _ => None,
        };
        let servers = self.capacity.map_or(1.0, |capacity| (capacity * self.service_s).round());
        self.servers = servers.clamp(1.0, 1e6) as u32;
    }

    /// Seconds that they took.
    pub fn took_s(&self) -> f64 {
        self.rows.iter().map(|row| row.took_s).sum()
    }
}

/// Whether that number of responses with status 429 among `n` requests shows a target that limits rates.
pub fn is_limited(limited: u64, n: u64) -> bool {
    limited >= FEWEST_LIMITED && limited as f64 > FAILED * n as f64
}

/// Whether so many of `n` independent requests of one user show a share to be above its limit.
pub fn alone(beyond: u64, n: u64, limit: f64) -> Option<Side> {
    let (k, n) = (beyond as f64, n as f64);
    (k > 0.0 && k > limit * n && beta_reg(k, n - k + 1.0, limit) <= LEVEL).then_some(Side::Above)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(users: u32, per_second: f64) -> ProbeRow {
        ProbeRow { users, per_second, response_s: 0.008, requests: 1_000, failed: 0, limited: 0, took_s: 1.0 }
    }

    #[test]
    fn probes_end_when_throughput_no_longer_grows() {
        let mut probed = Probed::default();
        assert_eq!(probed.next(None), Some((1, 400)));
        for (users, per_second) in [(1, 129.0), (2, 242.0), (4, 507.0), (8, 511.0)] {
            probed.take(row(users, per_second));
            assert_eq!(probed.next(None).map(|next| next.0), Some(2 * users));
        }
        probed.take(row(16, 483.0));
        assert_eq!((probed.next(None), probed.servers), (None, 4));
        assert!((probed.capacity.unwrap() - 511.0).abs() < 1.0);
    }

    #[test]
    fn probes_stay_below_what_was_allowed_and_stop_at_failures() {
        let mut probed = Probed::default();
        probed.take(row(1, 129.0));
        assert_eq!(probed.next(Some(200.0)), None);
        // Where they end because of that, and it still grows, the capacity is not known.
        assert_eq!(probed.capacity, None);
        assert_eq!(probed.next(Some(300.0)), Some((2, 100)));
        probed.take(ProbeRow { failed: 11, ..row(2, 250.0) });
        assert_eq!((probed.next(None), probed.capacity), (None, Some(250.0)));
    }

    #[test]
    fn one_user_alone_breaks_a_threshold() {
        assert_eq!(alone(4, 400, 0.01), None);
        assert_eq!(alone(9, 400, 0.01), None);
        assert_eq!(alone(16, 400, 0.01), Some(Side::Above));
        assert_eq!(alone(3, 3, 0.01), Some(Side::Above));
    }
}
