//! Loads in which requests follow responses. What a delay does to such a load shows in the mean over many seeds only: it shifts all that
//! its user does later, so that two runs with the same draws differ by more than the delay.

use super::queues::{At, draws};
use super::world::{holds, ns, read};
use headway_base::special::exponential;
use headway_stats::effect::{Effect, Fate, Found, FromStart, HoldUp, Number, Place, Request, Tolerance};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Who asks: users who think before each request, or sessions that come by a plan.
#[derive(Clone, Copy)]
pub enum Who {
    Users(usize),
    /// Sessions a second, and requests of each.
    Sessions(f64, usize),
}

/// A load and its target: exponential think times (none at 0) and services, `servers` servers in order.
#[derive(Clone, Copy)]
pub struct Loop {
    pub name: &'static str,
    pub who: Who,
    pub think: f64,
    pub service: f64,
    pub servers: usize,
}

const fn users(name: &'static str, think: f64, service: f64, servers: usize) -> Loop {
    Loop { name, who: Who::Users(20), think, service, servers }
}

pub const CLOSED: [Loop; 6] = [
    users("think 1 s, exp(20ms)", 1.0, 0.02, 1),
    users("think 0.2 s, exp(10ms)", 0.2, 0.01, 1),
    users("think 0.1 s, exp(20ms) x4", 0.1, 0.02, 4),
    users("think 0.1 s, exp(2ms) x4", 0.1, 0.002, 4),
    users("think 0, exp(10ms) x4", 0.0, 0.01, 4),
    users("think 0.1 s, exp(100ms) x1000", 0.1, 0.1, 1_000),
];

const fn sessions(name: &'static str, per_s: f64, think: f64, service: f64, servers: usize) -> Loop {
    Loop { name, who: Who::Sessions(per_s, 5), think, service, servers }
}

pub const SESSIONS: [Loop; 4] = [
    sessions("20 sessions/s of 5, think 0.2 s, exp(5ms)", 20.0, 0.2, 0.005, 1),
    sessions("20 sessions/s of 5, think 0.2 s, exp(8ms)", 20.0, 0.2, 0.008, 1),
    sessions("20 sessions/s of 5, no think, exp(20ms) x4", 20.0, 0.0, 0.02, 4),
    sessions("20 sessions/s of 5, think 0.1 s, exp(100ms) x1000", 20.0, 0.1, 0.1, 1_000),
];

pub const HOLD_UPS: [&str; 5] = ["host", "per18", "delay10", "catchup", "one300"];

/// Length of each run, in seconds.
const LENGTH: f64 = 60.0;

/// Due, started, came, read; in seconds and in order of start.
type Row = [f64; 4];

/// Plays the load with these hold-ups, in which nothing is sent or read.
fn play(of: &Loop, holds: &[(f64, f64)], seed: u64) -> Vec<Row> {
    let (mut thinks, mut services, mut comes) =
        (draws(seed, "think"), draws(seed, "service"), draws(seed, "gap"));
    let mut free: BinaryHeap<Reverse<At>> = (0..of.servers).map(|_| Reverse(At(f64::MIN))).collect();
    // By start: due, and how many more of this session follow.
    let mut next: BinaryHeap<Reverse<(At, At, usize)>> = BinaryHeap::new();
    let mut think = move || exponential(&mut thinks) * of.think;
    match of.who {
        Who::Users(n) => {
            for _ in 0..n {
                let due = think();
                next.push(Reverse((At(read(due, holds)), At(due), usize::MAX)));
            }
        }
        Who::Sessions(per_s, each) => {
            let mut due = 0.0;
            loop {
                due += exponential(&mut comes) / per_s;
                if due >= LENGTH {
                    break;
                }
                next.push(Reverse((At(read(due, holds)), At(due), each - 1)));
            }
        }
    }
    let mut rows = Vec::new();
    while let Some(Reverse((At(start), At(due), left))) = next.pop() {
        if due >= LENGTH {
            continue;
        }
        let begins = free.pop().map_or(start, |Reverse(At(free))| free.max(start));
        let came = begins + exponential(&mut services) * of.service;
        free.push(Reverse(At(came)));
        let done = read(came, holds);
        rows.push([due, start, came, done]);
        if left > 0 {
            let due = done + think();
            next.push(Reverse((At(read(due, holds)), At(due), left - 1)));
        }
    }
    rows
}

fn judge(of: &Loop, rows: &[Row], holds: &[(f64, f64)]) -> Found {
    let request = |&[due, start, came, done]: &Row| Request {
        intended: ns(due),
        started: ns(start),
        answered: ns(came),
        done: ns(done),
        stamped: true,
        ok: true,
        fate: Fate::Served,
        counted: true,
    };
    let tolerance = Tolerance::default();
    match of.who {
        Who::Users(_) => {
            let mut found = FromStart::default();
            rows.iter().for_each(|row| found.push(&request(row)));
            found.finish(&tolerance).unwrap()
        }
        Who::Sessions(..) => {
            let mut effect = Effect::new(headway_stats::effect::BLOCK, Place::Elsewhere).with_starts();
            holds
                .iter()
                .for_each(|&(from, length)| effect.hold_up(HoldUp { from: ns(from), length: ns(length) }));
            rows.iter().for_each(|row| effect.push(&request(row)));
            effect.finish(&tolerance).unwrap()
        }
    }
}

/// Of a number: the means over seeds of what was measured, of the two ends and of the truth, and the standard error of the truth less what
/// was measured.
pub struct Cell {
    pub number: Number,
    pub measured: f64,
    pub ends: [f64; 2],
    pub truth: f64,
    pub error: f64,
}

impl Cell {
    /// By how many of its hundredths the truth lies outside of the ends.
    pub fn misses_by(&self) -> f64 {
        100.0 * (self.ends[0] - self.truth).max(self.truth - self.ends[1]).max(0.0) / self.truth
    }
}

/// What is said of that number of seeds.
pub fn cell(of: &Loop, kind: &str, seeds: u64) -> Vec<Cell> {
    let said: Vec<Vec<[f64; 4]>> = (0..seeds)
        .map(|seed| {
            let holds = holds(kind, LENGTH, seed + 1_000);
            let rows = play(of, &holds, seed);
            let mut truth: Vec<f64> = play(of, &[], seed).iter().map(|row| 1e9 * (row[3] - row[0])).collect();
            truth.sort_by(f64::total_cmp);
            let found = judge(of, &rows, &holds);
            let n = truth.len() as f64;
            let value = |number| match number {
                Number::Mean => truth.iter().sum::<f64>() / n,
                Number::Percentile(p) => truth[(f64::from(p) / 1e3 * n).ceil() as usize - 1],
                _ => 0.0,
            };
            NUMBERS
                .iter()
                .map(|&of| {
                    let number = found.numbers.iter().find(|number| number.number == of).unwrap();
                    let [low, high] = number.undisturbed;
                    [number.measured, low, high, value(of)]
                })
                .collect()
        })
        .collect();
    let cell = |(i, &number): (usize, &Number)| {
        let n = seeds as f64;
        let mean = |k: usize| said.iter().map(|run| run[i][k]).sum::<f64>() / n;
        let apart = |run: &Vec<[f64; 4]>| run[i][3] - run[i][0];
        let between = said.iter().map(apart).sum::<f64>() / n;
        let variance = said.iter().map(|run| (apart(run) - between).powi(2)).sum::<f64>() / (n - 1.0);
        let [measured, low, high, truth] = [0, 1, 2, 3].map(mean);
        Cell { number, measured, ends: [low, high], truth, error: (variance / n).sqrt() }
    };
    NUMBERS.iter().enumerate().map(cell).collect()
}

const NUMBERS: [Number; 5] = [
    Number::Mean,
    Number::Percentile(500),
    Number::Percentile(900),
    Number::Percentile(950),
    Number::Percentile(990),
];
