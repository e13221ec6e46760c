//! Loads that an audit may take for something else: pauses in independent arrivals, coarse clocks, a metronome among other
//! requests, a slow drift, users in rotation, a short ramp.
//!
//! Deliberately absent: what an audit ought to say of them; `said` has that.

use super::{Dice, Load, load, row};
use headway_base::random::Stream;
use headway_base::{Nanos, Record};

fn dice(name: &str, seed: u64) -> Dice {
    Dice(
        Stream::new(seed, "odd traffic")
            .item(name.bytes().fold(0, |sum, b| sum * 31 % 1_000_003 + u64::from(b))),
    )
}

const US: Nanos = Nanos(1_000);

/// Starts of a Poisson process of that rate, for so many seconds.
fn poisson(dice: &mut Dice, rate: f64, seconds: f64) -> Vec<f64> {
    let mut at = 0.0;
    std::iter::from_fn(|| {
        at += dice.exponential(1.0 / rate);
        (at < seconds).then_some(at)
    })
    .collect()
}

/// Rows of those starts, each of which takes about that long.
fn rows(dice: &mut Dice, starts: &[f64], mean: f64) -> Vec<Record> {
    starts.iter().map(|&at| row(at, at + dice.exponential(mean), 0, 0)).collect()
}

fn plain(dice: &mut Dice, mut starts: Vec<f64>) -> Load {
    starts.sort_unstable_by(f64::total_cmp);
    load(rows(dice, &starts, 0.005), 0, 1, US)
}

/// `n` stops of `length` seconds at random in Poisson arrivals; what is held up leaves at once, or the time is lost.
pub fn stops(seed: u64, rate: f64, seconds: f64, n: u64, length: f64, catches_up: bool) -> Load {
    let mut dice = dice("stops", seed);
    let part = seconds / n as f64;
    let stops: Vec<f64> = (0..n).map(|i| (i as f64 + dice.between(0.2, 0.8)) * part).collect();
    let mut starts = poisson(&mut dice, rate, seconds);
    for at in &mut starts {
        if catches_up {
            if let Some(stop) = stops.iter().find(|&&stop| *at >= stop && *at < stop + length) {
                *at = stop + length + (*at - stop) / 1000.0;
            }
        } else {
            *at += stops.iter().filter(|&&stop| *at >= stop).count() as f64 * length;
        }
    }
    plain(&mut dice, starts)
}

/// A generator that stands still for `length` seconds every `period`, and then sends what was held up.
pub fn regular_stops(seed: u64, rate: f64, seconds: f64, period: f64, length: f64) -> Load {
    let mut dice = dice("regular stops", seed);
    let mut starts = poisson(&mut dice, rate, seconds);
    for at in &mut starts {
        let phase = *at % period;
        if phase < length {
            *at += length - phase + phase / 1000.0;
        }
    }
    plain(&mut dice, starts)
}

/// Poisson arrivals of that rate for so many seconds, and none for so many, again and again; or for times that are exponential.
pub fn on_and_off(seed: u64, rate: f64, seconds: f64, on: f64, off: f64, regular: bool) -> Load {
    let mut dice = dice("on and off", seed);
    let mut starts = Vec::new();
    let mut at = 0.0;
    while at < seconds {
        let [lasts, then] = [on, off].map(|mean| if regular { mean } else { dice.exponential(mean) });
        starts.extend(poisson(&mut dice, rate, lasts).into_iter().map(|start| at + start));
        at += lasts + then;
    }
    plain(&mut dice, starts)
}

/// Poisson arrivals whose stamps are cut off to `grid` seconds; times taken are in microseconds, exponential or all the same.
pub fn coarse(seed: u64, rate: f64, n: f64, grid: f64, constant: bool) -> Load {
    let mut dice = dice("coarse", seed);
    let starts = poisson(&mut dice, rate, n / rate);
    let digit = Nanos::from_millis(1);
    let rows = starts.iter().map(|&at| {
        // The clock that stamps goes in steps; what it shows is cut off to the digits that are written.
        let at = Nanos(((at / grid).floor() * grid * 1e9).round() as i64 / digit.0 * digit.0);
        let took = Nanos(if constant { 5_000_000 } else { (dice.exponential(0.005) * 1e9) as i64 });
        Record { done: at + took, started: at.into(), sent: at.into(), intended: at, ..row(0.0, 0.0, 0, 0) }
    });
    let rows: Vec<Record> = rows.collect();
    Load { rows, users: Vec::new(), generators: 1, digit: US }
}

/// One request each `1 / metronome` seconds among Poisson arrivals.
pub fn metronome(seed: u64, metronome: f64, others: f64, seconds: f64) -> Load {
    let mut dice = dice("metronome", seed);
    let mut starts = poisson(&mut dice, others, seconds);
    let phase = dice.between(0.0, 1.0);
    starts.extend((0..(seconds * metronome) as u64 - 1).map(|k| (k as f64 + phase) / metronome));
    plain(&mut dice, starts)
}

/// Poisson arrivals whose rate goes as `of(t / seconds)` times `rate`.
pub fn drift(seed: u64, rate: f64, seconds: f64, of: impl Fn(f64) -> f64) -> Load {
    let mut dice = dice("drift", seed);
    let most = (0..=100).map(|i| of(f64::from(i) / 100.0)).fold(0.0, f64::max);
    let all = poisson(&mut dice, rate * most, seconds);
    let starts = all.into_iter().filter(|at| dice.between(0.0, most) < of(at / seconds)).collect();
    plain(&mut dice, starts)
}

/// Threads that take the next event of one shared Poisson schedule in turn; stamps of 1 ms.
pub fn rotation(seed: u64, rate: f64, n: f64, threads: u32, even: bool) -> Load {
    let mut dice = dice("rotation", seed);
    let starts = match even {
        true => (0..n as u64).map(|k| k as f64 / rate).collect(),
        false => poisson(&mut dice, rate, n / rate),
    };
    let rows = starts.iter().enumerate().map(|(k, &at)| row(at, at + 0.005, k as u32 % threads, 0));
    load(rows.collect(), u64::from(threads), 1, Nanos::from_millis(1))
}

/// Threads that take the next event of one shared Poisson schedule as they become free, the first that was before the others.
pub fn pool(seed: u64, rate: f64, n: f64, threads: usize, mean: f64) -> Load {
    let mut dice = dice("pool", seed);
    let starts = poisson(&mut dice, rate, n / rate);
    let mut free = vec![0.0_f64; threads];
    let mut all = Vec::new();
    for at in starts {
        let first = (0..threads).min_by(|&a, &b| free[a].total_cmp(&free[b])).expect("threads");
        let at = f64::max(at, free[first]);
        free[first] = at + dice.exponential(mean);
        all.push(row(at, free[first], first as u32, 0));
    }
    load(all, threads as u64, 1, Nanos::from_millis(1))
}

/// Two Poisson generators, the second of which begins and ends that much later.
pub fn two_generators(seed: u64, rate: f64, seconds: f64, later: f64) -> Load {
    let mut dice = dice("two generators", seed);
    let mut starts = poisson(&mut dice, rate, seconds);
    starts.extend(poisson(&mut dice, rate, seconds).into_iter().map(|at| at + later));
    plain(&mut dice, starts)
}

/// Threads of which `together` are released at once each time that so many wait (a rendezvous); stamps of 1 ms.
pub fn rendezvous(seed: u64, rounds: u64, together: u32) -> Load {
    let mut dice = dice("rendezvous", seed);
    let mut at = 0.0;
    let mut all = Vec::new();
    for _ in 0..rounds {
        let mut last = at;
        for user in 0..together {
            let done = at + 0.002 + dice.exponential(0.05);
            all.push(row(at + f64::from(user) * 1e-5, done, user, 0));
            last = done.max(last);
        }
        at = last + 0.1 + dice.exponential(0.02);
    }
    load(all, u64::from(together), 1, Nanos::from_millis(1))
}
