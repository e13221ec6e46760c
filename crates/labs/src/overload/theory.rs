//! The laws of the experiments, in closed form: rates per second.

use super::accept_queue::System;
use headway_base::Nanos;

/// Served per second of a load of `rate` SYNs/s of which those that are not accepted cost the server `cost_s` each: all of it up
/// to the capacity; beyond, X solves X = C (1 - c (rate - X)), and is never below zero.
pub fn served(capacity: f64, cost_s: f64, rate: f64) -> f64 {
    if rate <= capacity {
        return rate;
    }
    (capacity * (1.0 - cost_s * rate) / (1.0 - cost_s * capacity)).max(0.0)
}

/// Served per second by S-Clients with that number of sockets: they drop `sockets / timeout` SYNs per second.
pub fn held(capacity: f64, cost_s: f64, sockets: u32, timeout_s: f64) -> f64 {
    (capacity * (1.0 - cost_s * f64::from(sockets) / timeout_s)).max(0.0)
}

/// The two rates of a load that has `times` the mean rate for a `share` of the time: then, and else.
pub fn burst(mean: f64, (times, share): (f64, f64)) -> (f64, f64) {
    (times * mean, mean * (1.0 - times * share) / (1.0 - share))
}

/// Served per second with bursts on a mean rate, when nothing of a burst is left over for the time after it.
pub fn fluid(capacity: f64, cost_s: f64, mean: f64, burst_of: (f64, f64)) -> f64 {
    let (high, low) = burst(mean, burst_of);
    burst_of.1 * served(capacity, cost_s, high) + (1.0 - burst_of.1) * served(capacity, cost_s, low)
}

/// Established per second by that number of simple clients: each waits for the work of the others and for its own turnaround.
pub fn simple(system: &System, users: u32) -> f64 {
    let capacity = system.capacity.per_second();
    let alone = f64::from(users) / (1.0 / capacity + system.turnaround.as_secs_f64());
    alone.min(capacity)
}

/// Retransmissions per second in the window, of users that are never admitted because the queue is full whenever they try.
pub fn resent(system: &System, users: u32, window: (Nanos, Nanos)) -> f64 {
    let outside = users.saturating_sub(system.admits());
    f64::from(outside) * system.resend.within(window) as f64 / (window.1 - window.0).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::super::published::{
        BURST_COSTS_MS, BURSTS, CAPACITY, COSTS_MS, FLUID, HELD, MEANS, OVERLOAD, TIMEOUT_S,
    };
    use super::*;

    #[test]
    fn the_laws_are_those_of_the_independent_simulation() {
        for (sockets, [syns, accepted]) in HELD {
            assert!((f64::from(sockets) / TIMEOUT_S + accepted - syns).abs() < 0.2, "{sockets}");
        }
        for (sockets, served) in OVERLOAD {
            for (cost, served) in COSTS_MS.iter().zip(served) {
                let law = held(CAPACITY, cost / 1e3, sockets, TIMEOUT_S);
                assert!((law - served).abs() < 0.2, "{sockets} at {cost} ms: {law}, {served}");
            }
        }
        for (cost, of_cost) in BURST_COSTS_MS.iter().zip(FLUID) {
            for (pair, of_pair) in BURSTS.iter().zip(of_cost) {
                for (mean, expected) in MEANS.iter().zip(of_pair) {
                    let law = fluid(CAPACITY, cost / 1e3, *mean, *pair);
                    assert!(
                        (law - expected).abs() <= 0.051,
                        "{cost} ms, {pair:?}, {mean}: {law}, {expected}"
                    );
                }
            }
        }
    }

    /// Of a rate that is not held by sockets the same follows: what is not served is dropped.
    #[test]
    fn what_is_served_solves_its_equation() {
        for (cost, rate) in [(0.0, 200.0), (5e-4, 300.0), (1e-3, 900.0)] {
            let x = served(CAPACITY, cost, rate);
            assert!((x - CAPACITY * (1.0 - cost * (rate - x))).abs() < 1e-9, "{cost} {rate}: {x}");
        }
        assert_eq!((served(CAPACITY, 1e-3, 129.0), served(CAPACITY, 1e-3, 5_000.0)), (129.0, 0.0));
    }
}
