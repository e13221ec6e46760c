//! Do starts fall on the ticks of a clock?
//!
//! For a period T the starts are laid around a circle of circumference T; the length of their mean vector is near 1 if
//! they keep to one place of it, and about 1/sqrt(n) if they know nothing of T (Rayleigh 1919; Mardia and Jupp 2000,
//! section 6.3.1). It is taken within short stretches, so that a clock that is a little fast does not hide.

use std::f64::consts::TAU;

/// Periods of timers in use, in nanoseconds: kernel and language timers, wheels, pollers.
const PERIODS: [f64; 18] = [
    1e6, 2e6, 4e6, 5e6, 8e6, 10e6, 15.625e6, 16e6, 20e6, 25e6, 40e6, 50e6, 100e6, 200e6, 250e6, 500e6, 1e9,
    2e9,
];

/// Starts by which one stretch is judged, at least: more where that many do not span the periods needed.
const WITHIN: usize = 256;
/// Periods that a stretch must span.
const SPANS: f64 = 4.0;

/// Mean vectors shorter than this are no tick.
pub(crate) const CLEAR: f64 = 0.6;

/// The longest period whose ticks the starts keep to, with the length of the mean vector; none if there is none. Periods
/// under four times the resolution cannot be seen.
pub(crate) fn ticks(stretches: &[Vec<i64>], resolution: f64) -> Option<(f64, f64)> {
    PERIODS
        .iter()
        .rev()
        .filter(|&&period| period >= 4.0 * resolution)
        .filter_map(|&period| Some((period, concentration(stretches, period)?)))
        .find(|&(_, length)| length >= CLEAR)
}

/// Mean length of the mean vector over stretches that span at least four periods.
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

    #[test]
    fn a_tick_is_found_and_its_longest_period_told() {
        let batches: Vec<i64> =
            (0..500).flat_map(|tick| (0..10).map(move |i| tick * 5_000_000 + i * 3_000)).collect();
        let (period, length) = ticks(&[batches], 1.0).unwrap();
        assert_eq!(period, 5e6);
        assert!(length > 0.99);
        // The golden ratio's multiples spread evenly over every circle.
        let spread: Vec<i64> = (0..5_000).map(|k| (f64::from(k) * 1_618_033.988) as i64).collect();
        assert_eq!(ticks(std::slice::from_ref(&spread), 1.0), None);
        assert!(concentration(&[spread], 5e6).unwrap() < 0.1);
    }
}
