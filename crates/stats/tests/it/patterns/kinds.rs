//! Kinds of made traffic of one arrival per unit of time on average, whose true effects are known.

use crate::world::exponential;
use headway_base::random::Draws;
use std::f64::consts::TAU;

/// Makes arrivals up to this time, from a random point on.
pub type Make = fn(&mut Draws, f64) -> Vec<f64>;

fn until(end: f64, mut next: impl FnMut() -> f64) -> Vec<f64> {
    let mut at = 0.0;
    std::iter::from_fn(|| {
        at += next();
        (at < end).then_some(at)
    })
    .collect()
}

fn sorted(mut times: Vec<f64>) -> Vec<f64> {
    times.sort_by(f64::total_cmp);
    times
}

pub fn poisson(u: &mut Draws, end: f64) -> Vec<f64> {
    until(end, || exponential(u))
}

/// Gamma variate of shape 1 or more and unit scale (Marsaglia and Tsang 2000); below 1 by their boost.
fn gamma_variate(u: &mut Draws, shape: f64) -> f64 {
    let boost = if shape < 1.0 { u.open01().powf(1.0 / shape) } else { 1.0 };
    let d = if shape < 1.0 { shape + 1.0 } else { shape } - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(u);
        let v = (1.0 + c * x).powi(3);
        if v > 0.0 && u.open01().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return boost * d * v;
        }
    }
}

fn normal(u: &mut Draws) -> f64 {
    (-2.0 * u.open01().ln()).sqrt() * (TAU * u.open01()).cos()
}

pub fn gamma(u: &mut Draws, end: f64, cov: f64) -> Vec<f64> {
    let shape = 1.0 / (cov * cov);
    until(end, || gamma_variate(u, shape) / shape)
}

pub fn uniform_gaps(u: &mut Draws, end: f64) -> Vec<f64> {
    until(end, || 2.0 * u.open01())
}

/// Headways of CoV 1 that are not exponential.
pub fn lognormal(u: &mut Draws, end: f64) -> Vec<f64> {
    let s = 2f64.ln().sqrt();
    until(end, || (s * normal(u) - 0.5 * s * s).exp())
}

/// Several at once at a constant rate.
pub fn batches(end: f64, size: usize) -> Vec<f64> {
    let n = (end / size as f64) as usize;
    (0..n).flat_map(|i| std::iter::repeat_n((i * size) as f64, size)).collect()
}

/// Ten at once, at random.
pub fn random_batches(u: &mut Draws, end: f64) -> Vec<f64> {
    until(end, || 10.0 * exponential(u)).into_iter().flat_map(|at| std::iter::repeat_n(at, 10)).collect()
}

/// Pages at random, each followed by nine assets within three units of time.
pub fn pages(u: &mut Draws, end: f64) -> Vec<f64> {
    let pages = until(end, || 10.0 * exponential(u));
    let assets: Vec<f64> =
        pages.iter().flat_map(|at| (0..9).map(|_| at + 3.0 * u.open01()).collect::<Vec<_>>()).collect();
    sorted(pages.into_iter().chain(assets).collect())
}

/// Several streams of constant rate with phases of their own.
pub fn constants(u: &mut Draws, end: f64, streams: usize) -> Vec<f64> {
    let period = streams as f64;
    let one = |phase: f64| (0..(end / period) as usize).map(move |i| phase + i as f64 * period);
    sorted((0..streams).flat_map(|_| one(u.open01() * period).collect::<Vec<_>>()).collect())
}

/// Users that think for a constant time and wait for an exponential one, a hundredth as long.
pub fn constant_think(u: &mut Draws, end: f64, users: usize) -> Vec<f64> {
    let turn = users as f64;
    let mut times = Vec::new();
    for _ in 0..users {
        let mut at = u.open01() * turn;
        while at < end {
            times.push(at);
            at += turn / 1.01 * (1.0 + 0.01 * exponential(u));
        }
    }
    sorted(times)
}

/// Users that think for a uniform time; what they do in the first turns is left out.
pub fn uniform_think(u: &mut Draws, end: f64, users: usize) -> Vec<f64> {
    let turn = users as f64;
    let mut times = Vec::new();
    for _ in 0..users {
        let mut at = -3.0 * turn;
        while at < end {
            at += 2.0 * turn * u.open01();
            times.push(at);
        }
    }
    sorted(times.into_iter().filter(|&at| (0.0..end).contains(&at)).collect())
}

/// A Poisson process whose rate follows a sine.
pub fn sine(u: &mut Draws, end: f64, amplitude: f64, period: f64) -> Vec<f64> {
    let most = 1.0 + amplitude;
    let phase = u.open01();
    let all = until(end, || exponential(u) / most);
    all.into_iter()
        .filter(|t| u.open01() * most < 1.0 + amplitude * (TAU * (t / period + phase)).sin())
        .collect()
}

/// A Poisson process whose rate changes between two values at random.
pub fn modulated(u: &mut Draws, end: f64, amplitude: f64, mean: f64) -> Vec<f64> {
    let most = 1.0 + amplitude;
    let (mut high, mut change) = (true, mean * exponential(u));
    let all = until(end, || exponential(u) / most);
    all.into_iter()
        .filter(|&t| {
            while t > change {
                (high, change) = (!high, change + mean * exponential(u));
            }
            u.open01() * most < if high { 1.0 + amplitude } else { 1.0 - amplitude }
        })
        .collect()
}

/// Poisson arrivals held up until the next tick.
pub fn ticks(u: &mut Draws, end: f64, tick: f64) -> Vec<f64> {
    poisson(u, end).into_iter().map(|t| (t / tick).ceil() * tick).collect()
}

/// Exponential headways that follow each other with this correlation: EAR(1) (Gaver and Lewis 1980).
pub fn correlated(u: &mut Draws, end: f64, rho: f64) -> Vec<f64> {
    let mut gap = exponential(u);
    until(end, || {
        gap = rho * gap + if u.open01() < rho { 0.0 } else { exponential(u) };
        gap
    })
}

/// The same arrivals again and again.
pub fn repeated(u: &mut Draws, end: f64, size: usize) -> Vec<f64> {
    let period = size as f64;
    let block = sorted((0..size).map(|_| u.open01() * period).collect());
    (0..(end / period) as usize).flat_map(|i| block.iter().map(move |t| t + i as f64 * period)).collect()
}

/// The same number in each stretch of so many, at random within.
pub fn fixed_counts(u: &mut Draws, end: f64, size: usize) -> Vec<f64> {
    let period = size as f64;
    let blocks = (end / period) as usize;
    sorted((0..blocks * size).map(|k| ((k / size) as f64 + u.open01()) * period).collect())
}
