//! Closed loops without think time: N users ask again as soon as they are answered.

use super::system::{CAPACITY, SERVERS, SERVICE_S, Times, reference, system};
use crate::bounds::{self, ENDLESS};
use headway_base::special::gamma_p;
use headway_base::station::Stalls;
use headway_base::{Kind, Nanos, Record, RecordSink, Start};
use headway_sim::Generator;
use headway_workload::journey::Journey;
use headway_workload::model::Station;
use headway_workload::plan::{Connections, Group, LONGEST, Source};
use headway_workload::users::Level;
use headway_workload::{Plan, Shard};

/// Plays a number of requests of a number of users; response times and requests per second. The first request of each user is left
/// out: they all came at once.
///
/// # Errors
/// None: the system is sound.
pub fn play(users: u32, requests: u64, stalls: Option<Stalls>, seed: u64) -> anyhow::Result<(Times, f64)> {
    let level = std::sync::Arc::new(Level::hold(users, ENDLESS));
    let source = Source::Users { level, requests: Some(requests) };
    let group = Group::of(source, Journey::single(), Connections::PerUser);
    let plan = Plan::of(seed, group, Nanos::ZERO, LONGEST);
    let mut loops = Loops { users: u64::from(users), responses: Vec::new() };
    let target = system(&plan, None, Station { stalls, ..reference()? })?;
    let played =
        headway_sim::play(&plan, Shard::WHOLE, bounds::NONE, target, Generator::default(), &mut loops);
    Ok((Times::new(loops.responses), requests as f64 / played.ended.as_secs_f64()))
}

/// The sink.
struct Loops {
    users: u64,
    responses: Vec<Nanos>,
}

impl RecordSink for Loops {
    fn start(&mut self, _: Start) {}
    fn record(&mut self, record: Record) {
        // Rounds of user u are sessions u, u + N, ...
        if record.kind == Kind::Request && record.k >= self.users {
            self.responses.push(record.response());
        }
    }
    fn tick(&mut self, _: Nanos) {}
    fn finish(&mut self, _: Nanos) {}
}

/// Requests per second, mean and p99 in milliseconds, exactly.
///
/// Who comes back finds N - 1 others and all workers busy once N exceeds their number c: N - c services at the rate of all
/// workers come before its own. Its response time is Erlang(N - c) plus exponential.
pub fn theory(users: u32) -> [f64; 3] {
    let rate = f64::from(users.min(SERVERS)) / SERVICE_S;
    let mean = f64::from(users) / rate;
    let ahead = users.saturating_sub(SERVERS);
    let (mut low, mut high) = (0.0, 20.0 * mean + 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if at_most(ahead, middle) < 0.99 { low = middle } else { high = middle }
    }
    [rate, 1e3 * mean, 1e3 * high]
}

/// P(Erlang(n, capacity) + exp(service) <= t). The exponential part is integrated out: with m the rate of one worker and M
/// that of all, P(Erlang <= t) - e^(-m t) (M/(M - m))^n P(Erlang(n, M - m) <= t).
fn at_most(ahead: u32, t: f64) -> f64 {
    let (one, all) = (1.0 / SERVICE_S, CAPACITY);
    if ahead == 0 {
        return -libm::expm1(-one * t);
    }
    let n = f64::from(ahead);
    let factor = libm::exp(n * libm::log(all / (all - one)) - one * t);
    gamma_p(n, all * t) - factor * gamma_p(n, (all - one) * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At most 4 users never wait: p99 is that of the service. One more waits for one service of four workers first:
    /// P(R > t) = (4 e^-t - e^-4t)/3 in units of a service, 0.01 at t = 4.8928.
    #[test]
    fn the_theory_of_few_users() {
        for users in [1, 4] {
            let [rate, mean, p99] = theory(users);
            assert!((rate - f64::from(users) / SERVICE_S).abs() < 1e-9 && (mean - 8.0).abs() < 1e-9);
            assert!((p99 - 8.0 * 100f64.ln()).abs() < 1e-6);
        }
        let [_, mean, p99] = theory(5);
        assert!((mean - 10.0).abs() < 1e-9);
        let t = p99 / 8.0;
        assert!(((4.0 * (-t).exp() - (-4.0 * t).exp()) / 3.0 - 0.01).abs() < 1e-9, "{t}");
    }

    /// Many users: nearly normal about N services, by N - 4 exponentials of 2 ms and one of 8.
    #[test]
    fn the_theory_of_many_users() {
        let [_, mean, p99] = theory(1_000);
        let sd = (996.0 * 4.0 + 64.0_f64).sqrt();
        assert!((mean - 2_000.0).abs() < 1e-9 && ((p99 - mean) / sd - 2.35).abs() < 0.05, "{p99}");
    }
}
