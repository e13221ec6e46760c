//! Do several generators know of each other, though they should not?
//!
//! The same seed on two generators gives the same headways in the same order; generators with regular headways that were
//! started together send at the same instants. Both make bunches that neither generator has by itself.

/// Headways of two generators that correlate more than this are the same sequence.
pub(super) const SAME: f64 = 0.8;
/// Generators whose headways vary less than this (CoV) send regularly: equal headways are then no sign of a seed.
const REGULAR: f64 = 0.2;
/// Fewest headways by which a pair is judged.
const FEWEST: usize = 30;
/// Starts closer than this share of a mean headway coincide.
const CLOSE: f64 = 0.05;
/// A first start may be missing in one file: sequences are compared shifted by up to so many.
const SHIFTS: usize = 3;

/// The share of starts that must coincide where chance alone would give this one.
pub(super) fn beyond(chance: f64) -> f64 {
    0.5 + 0.5 * chance
}

/// What a pair has in common.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kin {
    /// Their headways are the same: correlation.
    SameSeed(f64),
    /// Their starts coincide: share of starts, and the share that would by chance.
    InStep(f64, f64),
}

/// The strongest kinship among the generators, with the numbers of the two.
pub(crate) fn kinship(firsts: &[Vec<i64>], resolution: f64) -> Option<(usize, usize, Kin)> {
    let mut in_step: Option<(usize, usize, Kin)> = None;
    for (i, a) in firsts.iter().enumerate() {
        for (j, b) in firsts.iter().enumerate().skip(i + 1) {
            if a.len() <= FEWEST || b.len() <= FEWEST {
                continue;
            }
            if let Some(r) = same_headways(a, b).filter(|&r| r > SAME) {
                return Some((i, j, Kin::SameSeed(r)));
            }
            if in_step.is_none() {
                in_step =
                    coincide(a, b, resolution).map(|(share, chance)| (i, j, Kin::InStep(share, chance)));
            }
        }
    }
    in_step
}

fn headways(starts: &[i64]) -> Vec<f64> {
    starts.windows(2).map(|w| (w[1] - w[0]) as f64).collect()
}

fn mean_and_cov(x: &[f64]) -> (f64, f64) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let squares: f64 = x.iter().map(|v| (v - mean) * (v - mean)).sum();
    (mean, if mean > 0.0 { (squares / x.len() as f64).sqrt() / mean } else { 0.0 })
}

/// The largest correlation of the two sequences of headways, over small shifts; none where they are regular.
fn same_headways(a: &[i64], b: &[i64]) -> Option<f64> {
    let (a, b) = (headways(a), headways(b));
    if mean_and_cov(&a).1 < REGULAR || mean_and_cov(&b).1 < REGULAR {
        return None;
    }
    let shifted = |from_a: usize, from_b: usize| correlation(a.get(from_a..)?, b.get(from_b..)?);
    let right = (0..=SHIFTS).filter_map(|s| shifted(s, 0));
    let left = (1..=SHIFTS).filter_map(|s| shifted(0, s));
    right.chain(left).max_by(f64::total_cmp)
}

fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let n = a.len().min(b.len());
    if n < FEWEST {
        return None;
    }
    let (a, b) = (&a[..n], &b[..n]);
    let (mean_a, mean_b) = (mean_and_cov(a).0, mean_and_cov(b).0);
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x - mean_a, y - mean_b);
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    (aa > 0.0 && bb > 0.0).then(|| ab / (aa * bb).sqrt())
}

/// Share of starts of `a`, within the time that both send, that a start of `b` is close to; and what chance would give.
/// None unless it is clearly more than chance.
fn coincide(a: &[i64], b: &[i64], resolution: f64) -> Option<(f64, f64)> {
    let (from, to) = (a[0].max(b[0]), a[a.len() - 1].min(b[b.len() - 1]));
    let within =
        |starts: &[i64]| starts.iter().copied().filter(|&t| t >= from && t <= to).collect::<Vec<_>>();
    let (a, b) = (within(a), within(b));
    if a.len() < FEWEST || b.len() < FEWEST {
        return None;
    }
    let mean = (to - from) as f64 / b.len() as f64;
    let close = (CLOSE * mean).max(resolution);
    let near = |t: i64| {
        let i = b.partition_point(|&x| x < t);
        let distance = |x: Option<&i64>| x.map_or(f64::INFINITY, |&x| (x - t).abs() as f64);
        distance(b.get(i)).min(distance(i.checked_sub(1).and_then(|i| b.get(i)))) <= close
    };
    let share = a.iter().filter(|&&t| near(t)).count() as f64 / a.len() as f64;
    // Of regular starts at an unrelated phase as much as of random ones: the two stretches around each start.
    let chance = (2.0 * close / mean).min(1.0);
    (share > beyond(chance)).then_some((share, chance))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(seed: u64, n: usize) -> Vec<i64> {
        let mut state = seed;
        let mut at = 0;
        (0..n)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                at += 1_000 + (state >> 40) as i64;
                at
            })
            .collect()
    }

    #[test]
    fn one_seed_is_seen_through_an_offset_and_a_missing_start() {
        let a = walk(1, 500);
        let b: Vec<i64> = a.iter().skip(2).enumerate().map(|(i, t)| t + 777_777 + i as i64 % 5).collect();
        assert!(matches!(kinship(&[a.clone(), b], 1.0), Some((0, 1, Kin::SameSeed(r))) if r > 0.99));
        assert_eq!(kinship(&[a, walk(2, 500)], 1.0), None);
    }

    #[test]
    fn metronomes_in_step_are_told_from_those_that_are_not() {
        let metronome = |phase: i64| (0..500).map(|k| k * 100_000 + phase).collect::<Vec<i64>>();
        let found = kinship(&[metronome(0), metronome(300), metronome(600)], 1.0);
        assert!(matches!(found, Some((0, 1, Kin::InStep(share, _))) if share > 0.99), "{found:?}");
        assert_eq!(kinship(&[metronome(0), metronome(50_000)], 1.0), None);
    }
}
