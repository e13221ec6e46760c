//! Lines in the spectrum of the counts: a period that the starts keep, however weakly.
//!
//! Arrivals are counted in bins of about a quarter of a mean headway. Each block of bins gives a periodogram; of Poisson
//! arrivals its values, over their mean, are independent and exponential (Bartlett 1963, "The spectral analysis of point
//! processes"), and the mean over k blocks (Bartlett 1948) has a gamma law of shape k. A rate 1 + a cos(2 pi t / P)
//! adds a^2 n / 4 at 1/P, n the arrivals of a block. A line between two frequencies is seen in the sum of both.
//!
//! Memory: one block, however long the load. Deliberately absent: what follows from a line.

use realfft::{RealFftPlanner, num_complex::Complex};
use statrs::function::gamma::gamma_ur;
use std::f64::consts::PI;
use std::fmt;

/// Most bins of a block.
const BLOCK: i64 = 1 << 16;

/// A line has to be seen this often in a block.
const FEWEST_CYCLES: usize = 5;

/// Fewest arrivals of a block.
const FEWEST: f64 = 50.0;

/// A chance this small, over all frequencies, makes a line. At 1 % the lines alone would take up all that Poisson loads of
/// 30,000 arrivals may miss.
pub(crate) const CHANCE: f64 = 0.005;

/// A line of a comb may be so likely by chance, since it stands at a known place,
const LINE_OF_A_COMB: f64 = 1e-4;
/// and so many of them have to be seen.
const MOST_OF_A_COMB: f64 = 0.75;
/// The strongest line may be so many times the lowest.
const MOST_LINES: usize = 400;

/// Correlation of the counts with those a period later from which a load repeats itself.
const REPEATS: f64 = 0.7;

/// Counts of arrivals in bins, and the sum of the periodograms of complete blocks.
pub(crate) struct Spectrum {
    step: i64,
    end: i64,
    /// Bins per block.
    block: usize,
    /// Where the block that is being counted begins.
    begins: i64,
    counts: Vec<f32>,
    power: Vec<f64>,
    blocks: u64,
    arrivals: f64,
    within: u64,
    planner: RealFftPlanner<f32>,
}

impl Clone for Spectrum {
    fn clone(&self) -> Spectrum {
        let Spectrum { step, end, block, begins, blocks, arrivals, within, .. } = *self;
        // What a planner has planned is only remembered, and costs time and no result when it is planned again.
        let (counts, power, planner) = (self.counts.clone(), self.power.clone(), RealFftPlanner::new());
        Spectrum { step, end, block, begins, counts, power, blocks, arrivals, within, planner }
    }
}

impl fmt::Debug for Spectrum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spectrum")
            .field("step", &self.step)
            .field("blocks", &self.blocks)
            .finish_non_exhaustive()
    }
}

/// The strongest line.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Line {
    /// Of the lowest line of the comb that this one belongs to, in nanoseconds.
    pub period: f64,
    /// Relative amplitude: the rate goes as 1 + a cos(2 pi t / period).
    pub amplitude: f64,
    pub se: f64,
    /// Probability of such a line at any frequency of a Poisson process.
    pub p: f64,
    /// After how many nanoseconds the whole load repeats itself, if it does.
    pub repeats: Option<f64>,
}

impl Spectrum {
    /// Bins of `step` from `origin` to `end`, in nanoseconds.
    pub fn new(step: i64, origin: i64, end: i64) -> Spectrum {
        let step = step.max(1);
        let all = ((end as f64 - origin as f64) / step as f64) as i64;
        let blocks = all.saturating_add(BLOCK - 1) / BLOCK;
        let block = if blocks > BLOCK { BLOCK } else { all / blocks.max(1) };
        // Lengths of small prime factors are the fastest.
        let round = if block > 8_192 { 1_024 } else { 2 };
        Spectrum {
            step,
            end,
            block: (block / round * round) as usize,
            begins: origin,
            counts: Vec::new(),
            power: Vec::new(),
            blocks: 0,
            arrivals: 0.0,
            within: 0,
            planner: RealFftPlanner::new(),
        }
    }

    /// An arrival, not before the last one.
    #[inline]
    pub fn push(&mut self, at: i64) {
        if at >= self.end || self.block == 0 {
            return;
        }
        let mut bin = (at - self.begins).max(0) / self.step;
        if bin >= self.block as i64 {
            bin = self.next_block(bin);
        }
        if self.counts.is_empty() {
            self.counts.resize(self.block, 0.0);
        }
        self.counts[bin as usize] += 1.0;
        self.within += 1;
    }

    #[cold]
    fn next_block(&mut self, bin: i64) -> i64 {
        let passed = bin / self.block as i64;
        self.transform(self.block);
        // Blocks without an arrival have no power.
        self.blocks += (passed - 1) as u64;
        self.begins += passed * self.block as i64 * self.step;
        bin % self.block as i64
    }

    /// Adds the periodogram of the first `bins` bins.
    fn transform(&mut self, bins: usize) {
        self.blocks += 1;
        self.arrivals += self.within as f64;
        if self.within > 0 {
            let fft = self.planner.plan_fft_forward(bins);
            let mean = self.within as f32 / bins as f32;
            let input = &mut self.counts[..bins];
            input.iter_mut().for_each(|c| *c -= mean);
            let mut output = fft.make_output_vec();
            // It fails only for slices of a wrong length.
            if fft.process(input, &mut output).is_ok() {
                self.power.resize(output.len(), 0.0);
                for (sum, x) in self.power.iter_mut().zip(&output) {
                    *sum += f64::from(x.re).powi(2) + f64::from(x.im).powi(2);
                }
            }
        }
        self.within = 0;
        self.counts.fill(0.0);
    }

    /// Completes what is complete at that instant. A load shorter than a block is one.
    pub fn settle(&mut self, until: i64) {
        let bins = ((until.min(self.end) - self.begins) / self.step) as usize;
        if bins >= self.block && self.block > 0 && !self.counts.is_empty() {
            self.transform(self.block);
        } else if self.blocks == 0 && bins >= 4 * FEWEST_CYCLES && !self.counts.is_empty() {
            self.within = self.counts[..bins / 2 * 2].iter().sum::<f32>() as u64;
            self.block = bins / 2 * 2;
            self.transform(self.block);
        }
    }

    /// The strongest line, whether or not it is beyond chance; none of too few arrivals.
    pub fn line(&mut self) -> Option<Line> {
        let k = self.blocks as f64;
        let n = self.arrivals / k;
        if self.power.len() <= 2 * FEWEST_CYCLES || n < FEWEST {
            return None;
        }
        let at = |i: usize| self.power[i] / (k * n);
        // The last frequency has half as many degrees of freedom.
        let last = self.power.len() - 2;
        let (_, single) = above_neighbors(FEWEST_CYCLES..last, k, at, at);
        let (place, pair) = above_neighbors(FEWEST_CYCLES..last, k, at, |i| at(i) + at(i + 1));
        let level = level_near(place, last, k, at);
        let tried = 2.0 * (last - FEWEST_CYCLES) as f64;
        let p = beyond(k, k * single).min(beyond(2.0 * k, k * pair)) * tried;
        // Where it lies between the two frequencies, from their ratio.
        let [low, high] = [at(place) - level, at(place + 1) - level].map(|x| x.max(0.0).sqrt());
        let off = if low + high > 0.0 { high / (low + high) } else { 0.0 };
        let cycles = place as f64 + off;
        let lowest = if p < CHANCE { lowest_of_comb(cycles, last, k, at) } else { cycles };
        let sinc = |x: f64| if x == 0.0 { 1.0 } else { (PI * x).sin() / (PI * x) };
        let seen = sinc(off).powi(2) + sinc(1.0 - off).powi(2);
        let damped = sinc(cycles / self.block as f64);
        let power = (level * (pair - 2.0)).max(0.0);
        let line = Line {
            period: self.block as f64 * self.step as f64 / lowest,
            amplitude: (4.0 * power / n / seen).sqrt() / damped,
            se: (2.0 / (n * k) * (1.0 + 1.0 / power.max(0.1)) / seen).sqrt() / damped,
            p: p.min(1.0),
            repeats: None,
        };
        let repeats = (line.p < CHANCE).then(|| self.repeats()).flatten();
        Some(Line { repeats, ..line })
    }

    /// The shortest time after which the counts are the same again: the autocovariance is the transform of the spectrum
    /// (Wiener 1930, Khinchin 1934). Counts repeated after a part f of a bin more than i bins fall into bins i and i + 1.
    fn repeats(&mut self) -> Option<f64> {
        let mut spectrum: Vec<Complex<f32>> =
            self.power.iter().map(|&p| Complex::new(p as f32, 0.0)).collect();
        spectrum[0] = Complex::new(0.0, 0.0);
        let inverse = self.planner.plan_fft_inverse(self.block);
        let mut r = inverse.make_output_vec();
        inverse.process(&mut spectrum, &mut r).ok()?;
        let all = self.block as f32;
        let same = |i: usize| (r[i] + r[i + 1]) / r[0] / (1.0 - i as f32 / all);
        let first = (2..self.block / 2).find(|&i| same(i) > REPEATS as f32)?;
        // The bins over which the correlation is spread.
        let near = if same(first + 1) > same(first) { first + 1 } else { first };
        let [a, b] = [r[near], r[near + 1]].map(|x| f64::from(x.max(0.0)));
        Some((near as f64 + b / (a + b)) * self.step as f64)
    }
}

/// What returns once a period has lines at all its multiples, of which any may be the strongest, and the lowest may be too weak to
/// be seen (a pause and what it held up make good for each other over long times). So the period is told by how far apart lines
/// are: the strongest has `cycles` per block, and of its parts that is the smallest which has nearly all of its multiples
/// around the strongest as lines.
fn lowest_of_comb(cycles: f64, last: usize, k: f64, at: impl Fn(usize) -> f64 + Copy) -> f64 {
    let seen = |line: f64| {
        let place = line as usize;
        if place < 2 || place + 1 >= last {
            return None;
        }
        let pair = (place - 1..=place + 1).map(|i| at(i) + at(i + 1)).fold(0.0, f64::max);
        Some(beyond(2.0 * k, k * pair / level_near(place, last, k, at)) < LINE_OF_A_COMB)
    };
    let comb = |&parts: &usize| {
        let base = cycles / parts as f64;
        let around = (parts.div_ceil(2)..=parts + parts / 2).filter(|j| *j != parts);
        let lines: Vec<bool> = around.filter_map(|j| seen(base * j as f64)).collect();
        let n = lines.iter().filter(|&&line| line).count() as f64;
        base >= FEWEST_CYCLES as f64 && n > 0.0 && n >= MOST_OF_A_COMB * lines.len() as f64
    };
    let parts = (2..=MOST_LINES).rev().find(comb).unwrap_or(1);
    cycles / parts as f64
}

/// Probability that a gamma variate of this shape and unit scale is larger than `x`.
fn beyond(shape: f64, x: f64) -> f64 {
    if x > 0.0 && x.is_finite() { gamma_ur(shape, x) } else { f64::from(x <= 0.0) }
}

/// The continuous spectrum around a frequency, at least that of Poisson arrivals: the median of its neighbors over the median
/// of a gamma law of mean 1 and shape k (Wilson and Hilferty 1931). Clustered arrivals have more power at all low frequencies,
/// which is no line; harmonics of a line are too few to move a median.
fn level_near(i: usize, last: usize, k: f64, at: impl Fn(usize) -> f64) -> f64 {
    let reach = (i / 2).clamp(6, 64);
    let near = (i.saturating_sub(reach).max(1)..(i + reach + 1).min(last)).filter(|j| j.abs_diff(i) > 2);
    let mut powers: Vec<f64> = near.map(at).collect();
    powers.sort_unstable_by(f64::total_cmp);
    let median = powers.get(powers.len() / 2).copied().unwrap_or(1.0);
    (median / (1.0 - 1.0 / (9.0 * k)).powi(3)).max(1.0)
}

/// The frequency whose power is the largest in units of its neighborhood's level, and that ratio.
fn above_neighbors(
    frequencies: std::ops::Range<usize>,
    k: f64,
    at: impl Fn(usize) -> f64 + Copy,
    power: impl Fn(usize) -> f64,
) -> (usize, f64) {
    let (first, last) = (frequencies.start, frequencies.end);
    let mut order: Vec<usize> = frequencies.collect();
    order.sort_unstable_by(|&a, &b| power(b).total_cmp(&power(a)));
    let mut best = (first, 0.0);
    for i in order {
        // No level is below 1, so none that follows can exceed it.
        if power(i) <= best.1 {
            break;
        }
        let ratio = power(i) / level_near(i, last, k, at);
        best = if ratio > best.1 { (i, ratio) } else { best };
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::{Stream, open01};

    /// Independent headways of CoV 2 (a mixture of two exponentials) have no period, though their counts vary more than
    /// Poisson's at every low frequency: of 40 loads none has a line at 0.5 % each but by chance (2 is beyond 4 standard errors).
    #[test]
    fn clustered_arrivals_without_a_period_have_no_line() {
        let lines = (0..40).filter(|&seed| {
            let draws = Stream::new(seed, "clustered");
            let mut spectrum = Spectrum::new(250_000, 0, 8_000_000_000);
            let mut at = 0.0;
            for k in 0..20_000 {
                // Balanced means: CoV^2 = 4.
                let p = 0.5 * (1.0 - (3.0f64 / 5.0).sqrt());
                let rare = open01(draws.bits(k, 1)) < p;
                let mean = 1e6 / (2.0 * if rare { p } else { 1.0 - p });
                at += -open01(draws.bits(k, 0)).ln() * mean;
                spectrum.push(at as i64);
            }
            spectrum.settle(8_000_000_000);
            spectrum.line().is_some_and(|line| line.p < CHANCE)
        });
        assert!(lines.count() <= 2);
    }

    /// A Poisson process of unit rate thinned to 1 + a cos(2 pi t / period), over `n` mean headways; bins of an eighth.
    fn wave(n: f64, a: f64, period: f64, seed: u64) -> Line {
        let draws = Stream::new(seed, "test");
        let unit = 1e6;
        let end = (n * unit) as i64;
        let mut spectrum = Spectrum::new((unit / 8.0) as i64, 0, end);
        let (mut at, mut k) = (0.0, 0);
        loop {
            at -= open01(draws.bits(k, 0)).ln() / (1.0 + a);
            if at >= n {
                break;
            }
            if open01(draws.bits(k, 1)) * (1.0 + a) < 1.0 + a * (2.0 * PI * at / period + 1.0).cos() {
                spectrum.push((at * unit) as i64);
            }
            k += 1;
        }
        spectrum.settle(end);
        spectrum.line().unwrap()
    }

    /// Amplitude and period of a line in one block and in seven, on a frequency and between two: within 4 standard errors
    /// in the mean of 20.
    #[test]
    fn a_line_is_found_with_its_period_and_its_amplitude() {
        for (n, period) in [(12_000.0, 7.3), (12_000.0, 120.0), (110_000.0, 16.7)] {
            let lines: Vec<Line> = (0..20).map(|seed| wave(n, 0.2, period, seed)).collect();
            let mean = lines.iter().map(|l| l.amplitude).sum::<f64>() / 20.0;
            let se = lines[0].se / 20f64.sqrt();
            assert!((mean - 0.2).abs() < 4.0 * se, "{period}: {mean} +- {se}");
            for line in &lines {
                assert!(line.p < 1e-6 && (line.period / 1e6 / period - 1.0).abs() < 0.01, "{line:?}");
                assert_eq!(line.repeats, None);
            }
        }
    }

    /// By chance a line stands out in at most half a percent of Poisson loads: of 300 at most 1.5 + 4 sqrt(1.5).
    #[test]
    fn poisson_arrivals_have_a_line_as_often_as_stated() {
        let found = (0..300).filter(|&seed| wave(4_000.0, 0.0, 10.0, 1_000 + seed).p < CHANCE).count();
        assert!(found <= 6, "{found}");
    }

    /// The same 100 instants again and again, every second that is 997 bins and a third long.
    #[test]
    fn a_load_that_repeats_itself_is_seen_to() {
        let draws = Stream::new(3, "test");
        let period = 997.0 * 1e6 + 333_333.0;
        let mut block: Vec<f64> = (0..100).map(|k| open01(draws.bits(k, 0)) * period).collect();
        block.sort_by(f64::total_cmp);
        let mut spectrum = Spectrum::new(1_000_000, 0, (100.0 * period) as i64);
        (0..100).for_each(|i| block.iter().for_each(|t| spectrum.push((t + f64::from(i) * period) as i64)));
        spectrum.settle((100.0 * period) as i64);
        let line = spectrum.line().unwrap();
        assert!((line.repeats.unwrap() / period - 1.0).abs() < 1e-3, "{line:?} {period}");
    }
}
