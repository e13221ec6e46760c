//! What is played of the experiments in virtual time, and how.

use super::accept_queue::{Load, Resend, Seen, System, play};
use super::published::{BURST_COSTS_MS, BURSTS, CAPACITY, COSTS_MS, MEANS, OVERLOAD, TIMEOUT_S};
use super::theory;
use headway_base::random::{Stream, streams};
use headway_base::{Nanos, Phase, Profile, Rate};
use headway_workload::arrivals::Arrivals;
use headway_workload::{Process, Shard};
use std::sync::Arc;

/// The accept queue that is asked for.
pub const BACKLOG: u32 = 128;
/// Simple clients.
pub const USERS: [u32; 8] = [1, 4, 16, 64, 130, 160, 256, 512];
/// Sockets of S-Clients.
pub const SOCKETS: [u32; 8] = [12, 24, 48, 96, 192, 384, 600, 972];
/// From an answer to the next SYN of a simple client: about what a client on the same machine takes.
const TURNAROUND: Nanos = Nanos::from_micros(100);

/// What one connect takes of a thread.
const CONNECT: Nanos = Nanos::from_micros(20);

/// When simple clients are observed: until then those that are not admitted have gone through the short intervals.
pub const SIMPLE_WINDOW: (Nanos, Nanos) = (Nanos::from_secs(60), Nanos::from_secs(120));
/// When S-Clients are.
const HELD_WINDOW: (Nanos, Nanos) = (Nanos::from_secs(10), Nanos::from_secs(50));
/// From one burst to the next; the first of four is not observed.
pub const PERIOD: Nanos = Nanos::from_secs(100);
const PERIODS: i64 = 4;

pub const TIMEOUT: Nanos = Nanos((TIMEOUT_S * 1e9) as i64);

/// The paper's server with a queue of [`BACKLOG`].
pub fn system(syn_cost: Nanos) -> System {
    System {
        capacity: Rate(CAPACITY),
        backlog: BACKLOG,
        syn_cost,
        turnaround: TURNAROUND,
        resend: Resend::DOUBLING,
        timers: None,
    }
}

/// Everything of one replication.
pub struct Played {
    /// By [`USERS`].
    pub simple: Vec<Seen>,
    /// By [`SOCKETS`].
    pub held: Vec<Seen>,
    /// By the sockets of [`OVERLOAD`], for each of [`COSTS_MS`].
    pub overload: Vec<[f64; 3]>,
    /// By each of [`BURST_COSTS_MS`] and [`MEANS`], for each of [`BURSTS`].
    pub bursts: Vec<[f64; 4]>,
}

impl Played {
    pub fn new(seed: u64) -> Played {
        Played {
            simple: simple_clients(seed),
            held: s_clients(seed),
            overload: with_costs(seed),
            bursts: with_bursts(seed),
        }
    }
}

fn cost(ms: f64) -> Nanos {
    Nanos::from_secs_f64(ms / 1e3)
}

pub fn simple_clients(seed: u64) -> Vec<Seen> {
    USERS.iter().map(|users| simple(&system(Nanos::ZERO), seed, *users, SIMPLE_WINDOW)).collect()
}

pub fn s_clients(seed: u64) -> Vec<Seen> {
    SOCKETS.iter().map(|sockets| held(&system(Nanos::ZERO), seed, *sockets)).collect()
}

pub fn with_costs(seed: u64) -> Vec<[f64; 3]> {
    let of = |sockets: u32| COSTS_MS.map(|ms| held(&system(cost(ms)), seed, sockets).served);
    OVERLOAD.iter().map(|(sockets, _)| of(*sockets)).collect()
}

fn with_bursts(seed: u64) -> Vec<[f64; 4]> {
    let cases = BURST_COSTS_MS.iter().flat_map(|ms| MEANS.map(|mean| (*ms, mean)));
    cases.map(|(ms, mean)| BURSTS.map(|pair| bursts(&system(cost(ms)), seed, mean, pair).served)).collect()
}

fn held(system: &System, seed: u64, sockets: u32) -> Seen {
    play(system, Load::Held { begin: starts(seed, sockets, TIMEOUT), timeout: TIMEOUT }, HELD_WINDOW)
}

/// Instants of a beginning, at random within that time.
fn starts(seed: u64, n: u32, within: Nanos) -> Vec<Nanos> {
    let stream = Stream::new(seed, streams::THINK);
    let mut all: Vec<Nanos> = (0..u64::from(n))
        .map(|i| Nanos::from_secs_f64(within.as_secs_f64() * stream.item(i).open01()))
        .collect();
    all.sort_unstable();
    all
}

/// Simple clients, which begin one after the other as fast as a thread connects.
pub fn simple(system: &System, seed: u64, users: u32, window: (Nanos, Nanos)) -> Seen {
    simple_with(system, seed, users, window, Arc::default())
}

/// The same with turnarounds that were measured.
pub fn simple_with(
    system: &System,
    seed: u64,
    users: u32,
    window: (Nanos, Nanos),
    turnarounds: Arc<[Nanos]>,
) -> Seen {
    let begin = starts(seed, users, Nanos(CONNECT.0 * i64::from(users)));
    play(system, Load::Simple { begin, turnarounds, seed }, window)
}

/// Poisson arrivals with bursts on a mean rate; observed from the second period on.
fn bursts(system: &System, seed: u64, mean: f64, pair: (f64, f64)) -> Seen {
    bursts_within(system, seed, mean, pair, PERIOD, (PERIOD, Nanos(PERIOD.0 * PERIODS)))
}

/// The same with a burst in each such period, in that window.
pub fn bursts_within(
    system: &System,
    seed: u64,
    mean: f64,
    pair: (f64, f64),
    period: Nanos,
    window: (Nanos, Nanos),
) -> Seen {
    let periods = (window.1.0 + period.0 - 1) / period.0;
    let profile = std::sync::Arc::new(profile(mean, pair, period, periods));
    let arrivals = Box::new(Arrivals::new(seed, Process::Poisson, profile, Shard::WHOLE));
    play(system, Load::Open { arrivals, timeout: TIMEOUT }, window)
}

/// The rate over time: in each period a burst comes last.
pub fn profile(mean: f64, pair: (f64, f64), period: Nanos, periods: i64) -> Profile {
    let (high, low) = theory::burst(mean, pair);
    let length = Nanos::from_secs_f64(period.as_secs_f64() * pair.1);
    let one = [Phase::hold(period - length, Rate(low)), Phase::hold(length, Rate(high))];
    let all: Vec<Phase> = (0..periods).flat_map(|_| one).collect();
    Profile::new(&all)
}
