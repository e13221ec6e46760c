//! Do starts fall on the ticks of a clock, and of which?
//!
//! For a period T the starts are laid around a circle of circumference T; the length of their mean vector is near 1 if
//! they keep to one place of it, and about 1/sqrt(n) if they know nothing of T (Rayleigh 1919; Mardia and Jupp 2000,
//! section 6.3.1). It is taken within short stretches, so that a clock that is a little fast does not hide, for periods a
//! quarter of a cycle per stretch apart: none between the shortest and the longest is missed.

use std::f64::consts::TAU;

/// Shortest and longest period that is looked for, in nanoseconds; none shorter than a fifth of the mean headway either.
const SHORTEST: f64 = 5e5;
const LONGEST: f64 = 1e10;
const RARE: f64 = 0.2;
/// A period must be so many times the resolution of the stamps.
const RESOLVED: f64 = 4.0;

/// Starts in a stretch by which periods are told, at least; more are thinned out.
const LEAST: usize = 128;
const MOST: usize = 1_024;
/// Periods that a stretch spans where there are enough starts, and at least.
const CYCLES: f64 = 64.0;
const FEWEST_CYCLES: f64 = 8.0;
/// Stretches by which a period is judged.
const STRETCHES: usize = 16;
/// Frequencies tried for each cycle of a stretch.
const FINE: f64 = 4.0;
/// And in an octave in all: a bound on the work.
const MOST_TRIED: f64 = 16_384.0;

/// Mean vectors shorter than this are no tick. That of 128 independent starts is as long with a probability of exp(-128 x
/// 0.36), 1e-20: not once in the hundred thousand frequencies tried.
pub(crate) const CLEAR: f64 = 0.6;
/// And so many times as long as that at the median of the frequencies around it: bunches that come at random are as far
/// from independent at all frequencies alike.
const ABOVE_OTHERS: f64 = 3.0;

/// Starts by which one stretch is judged at a known period, and periods that it must span.
const WITHIN: usize = 256;
const SPANS: f64 = 4.0;

/// The longest period whose ticks the starts keep to, in nanoseconds, with the length of the mean vector; none if there is
/// none. `mean`: the mean headway in nanoseconds.
pub(crate) fn ticks(stretches: &[Vec<i64>], resolution: f64, mean: f64) -> Option<(f64, f64)> {
    let shortest = SHORTEST.max(RESOLVED * resolution).max(RARE * mean);
    let octaves = (0..).map(|octave| LONGEST / f64::from(1u32 << octave));
    let mut octaves = octaves.take_while(|&longest| longest > shortest);
    octaves.find_map(|longest| in_octave(stretches, mean, (0.5 * longest).max(shortest), longest))
}

/// Stretches of starts, counted from their first, that span at least [`FEWEST_CYCLES`] of a period.
fn chosen(stretches: &[Vec<i64>], mean: f64, period: f64) -> Vec<Vec<f64>> {
    let wanted = LEAST.max((CYCLES * period / mean.max(1.0)).ceil() as usize);
    let pieces: Vec<&[i64]> = stretches
        .iter()
        .flat_map(|s| s.chunks_exact(wanted.min(s.len()).max(1)))
        .filter(|s| s.len() >= LEAST && (s[s.len() - 1] - s[0]) as f64 >= FEWEST_CYCLES * period)
        .collect();
    let every = pieces.len().div_ceil(STRETCHES).max(1);
    let thinned = |s: &[i64]| -> Vec<f64> {
        s.iter().step_by(s.len().div_ceil(MOST)).map(|at| (at - s[0]) as f64).collect()
    };
    let mut chosen: Vec<Vec<f64>> = pieces.into_iter().step_by(every).map(thinned).collect();
    // One with a long gap in it would ask for many more frequencies than the others.
    let mut spans: Vec<f64> = chosen.iter().map(|s| span(s)).collect();
    spans.sort_unstable_by(f64::total_cmp);
    let usual = spans.get(spans.len() / 2).copied().unwrap_or(0.0);
    chosen.retain(|s| span(s) <= 2.0 * usual);
    chosen
}

fn span(starts: &[f64]) -> f64 {
    starts.last().map_or(0.0, |last| *last)
}

/// The longest period from `shortest` to `longest` that the starts keep to.
fn in_octave(stretches: &[Vec<i64>], mean: f64, shortest: f64, longest: f64) -> Option<(f64, f64)> {
    let chosen = chosen(stretches, mean, longest);
    let lasts = chosen.iter().map(|s| span(s)).fold(0.0, f64::max);
    let (lowest, highest) = (1.0 / longest, 1.0 / shortest);
    let tried = (highest - lowest) * FINE * lasts;
    if chosen.is_empty() || tried > MOST_TRIED {
        return None;
    }
    // One further at each end, so that a peak at the border has a neighbour.
    let step = 1.0 / (FINE * lasts);
    let lengths = lengths(&chosen, lowest - step, step, tried as usize + 3);
    let mut sorted = lengths.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let usual = sorted[sorted.len() / 2];
    let first = lengths.iter().position(|&l| l >= CLEAR && l >= ABOVE_OTHERS * usual)?;
    // Up to the top of that peak, and nearer to it than one step.
    let top = (first..lengths.len() - 1).find(|&i| lengths[i + 1] <= lengths[i]).unwrap_or(first);
    const FINER: usize = 32;
    let around = lowest + (top as f64 - 2.0) * step;
    let finer = self::lengths(&chosen, around, step / FINER as f64, 2 * FINER + 1);
    let (i, length) = finer.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((1.0 / (around + i as f64 * step / FINER as f64), length))
}

/// Mean length of the mean vectors at frequencies in steps of `step`, `n` in all.
fn lengths(stretches: &[Vec<f64>], lowest: f64, step: f64, n: usize) -> Vec<f64> {
    let mut lengths = vec![0.0; n];
    for starts in stretches {
        let turn = |frequency: f64| {
            let angles = starts.iter().map(move |at| (at * frequency).fract() * TAU);
            angles.map(|angle| (angle.cos(), angle.sin())).collect::<Vec<_>>()
        };
        let (mut at, by) = (turn(lowest), turn(step));
        for length in &mut lengths {
            let (mut x, mut y) = (0.0, 0.0);
            for (z, by) in at.iter_mut().zip(&by) {
                x += z.0;
                y += z.1;
                *z = (z.0 * by.0 - z.1 * by.1, z.0 * by.1 + z.1 * by.0);
            }
            *length += x.hypot(y) / (starts.len() * stretches.len()) as f64;
        }
    }
    lengths
}

/// Mean length of the mean vector at a known period over stretches that span at least four of it.
pub(crate) fn concentration(stretches: &[Vec<i64>], period: f64) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0u32);
    let span = |s: &[i64]| s.first().zip(s.last()).map_or(0.0, |(first, last)| (last - first) as f64);
    let all: f64 = stretches.iter().map(|s| span(s)).sum();
    let starts: usize = stretches.iter().map(Vec::len).sum();
    let within = ((2.0 * SPANS * period / all.max(1.0) * starts as f64) as usize).max(WITHIN);
    for stretch in stretches.iter().flat_map(|s| s.chunks(within)) {
        let Some(first) = stretch.first() else { continue };
        if stretch.len() < within / 2 || span(stretch) < SPANS * period {
            continue;
        }
        let (mut x, mut y) = (0.0, 0.0);
        for at in stretch {
            let angle = ((at - first) as f64 / period).fract() * TAU;
            x += angle.cos();
            y += angle.sin();
        }
        sum += x.hypot(y) / stretch.len() as f64;
        n += 1;
    }
    (n > 0).then(|| sum / f64::from(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(period: f64, each: i64, n: i64) -> Vec<i64> {
        let tick = |k: i64| (k as f64 * period) as i64;
        (0..n).flat_map(|k| (0..each).map(move |i| tick(k) + i * 3_000)).collect()
    }

    /// Periods of no round number of milliseconds too, and one of a clock whose ticks are cut off to 1 ms.
    #[test]
    fn a_tick_of_any_period_is_found() {
        for period in [0.7e6, 3.0e6, 5e6, 7.3e6, 1e9 / 60.0, 16.7e6, 33.3e6, 61.8e6, 0.37e9, 1e9] {
            let starts = batches(period, 10, 500);
            let (found, length) = ticks(&[starts], 1.0, period / 10.0).expect("a tick");
            assert!((found / period - 1.0).abs() < 1e-3 && length > 0.98, "{period}: {found} {length}");
        }
        let coarse: Vec<i64> = batches(7.3e6, 4, 2_000).iter().map(|at| at / 1_000_000 * 1_000_000).collect();
        let (found, length) = ticks(&[coarse], 1e6, 7.3e6 / 4.0).expect("a tick");
        assert!((found / 7.3e6 - 1.0).abs() < 1e-3 && length > 0.9, "{found} {length}");
    }

    #[test]
    fn what_is_no_tick_is_none() {
        // The golden ratio's multiples spread evenly over every circle.
        let spread: Vec<i64> = (0..5_000)
            .map(|k| (f64::from(k) * 1_618_033.988) as i64 + i64::from(k * k % 7) * 900_000)
            .collect();
        assert!(concentration(&[spread], 5e6).unwrap() < 0.1);
        // Bunches of fifty at random instants, of which only a few are in a stretch.
        let mut state = 1u64;
        let mut at = 0;
        let mut bunches = Vec::new();
        for _ in 0..200 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            at += 100_000 + (state >> 34) as i64;
            bunches.extend((0..50).map(|i| at + i * 3_000));
        }
        let mean = at as f64 / bunches.len() as f64;
        assert_eq!(ticks(&[bunches], 1.0, mean), None);
    }
}
