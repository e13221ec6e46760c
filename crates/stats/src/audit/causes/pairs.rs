//! Do several generators know of each other, though they should not?
//!
//! The same seed on two generators gives the same headways in the same order; where one of them lost some requests, or
//! began elsewhere, most starts still fall together once one is shifted. Generators with regular headways that were
//! started together send at the same instants. All of this makes bunches that neither generator has by itself.

/// Headways of two generators that correlate more than this are the same sequence.
pub(super) const SAME: f64 = 0.8;
/// Generators whose headways vary less than this (CoV) send regularly: equal headways are then no sign of a seed.
const REGULAR: f64 = 0.2;
/// Starts of generators that vary more than this fall together for other reasons: the ticks of one timer, one target's stalls.
const IN_STEP: f64 = 0.5;
/// Fewest headways by which a pair is judged.
const FEWEST: usize = 30;
/// Starts closer than this share of a mean headway coincide.
const CLOSE: f64 = 0.05;
/// A first start may be missing in one file: sequences are compared shifted by up to so many.
const SHIFTS: usize = 3;

/// Two headways in a row that are alike in both vote for the shift between them; so many starts of one are laid over the
/// other, from so many places.
const LAID: usize = 512;
const PLACES: usize = 3;
/// Votes of one pair of headways: more fit where all are alike, and then there is nothing to be told.
const MOST_VOTES: usize = 256;
/// Starts closer than this share of a median headway are the same, or than so many steps of the stamps: each of two stamps
/// is cut off by up to one.
const ALIKE: f64 = 0.1;
const ALIKE_STEPS: f64 = 1.5;
/// Where chance gives more than this nothing can be told.
const CHANCE: f64 = 0.4;
/// The best shift must bring together so many times as many as the next: starts on a common tick fit at every tick.
const ONLY_ONE: f64 = 2.0;

/// The share of starts that must coincide where chance alone would give this one.
pub(super) fn beyond(chance: f64) -> f64 {
    0.5 + 0.5 * chance
}

/// What a pair has in common.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kin {
    /// Their headways are the same: correlation.
    SameSeed(f64),
    /// Their starts are the same once one is shifted: share of starts, the share that would by chance, and by how many
    /// nanoseconds the second is later.
    Shifted { share: f64, chance: f64, later: i64 },
    /// Their starts coincide: share of starts, and the share that would by chance.
    InStep(f64, f64),
}

/// The strongest kinship among the generators, with the numbers of the two.
pub(crate) fn kinship(firsts: &[Vec<i64>], resolution: f64) -> Option<(usize, usize, Kin)> {
    let (mut shifted, mut in_step) = (None, None);
    for (i, a) in firsts.iter().enumerate() {
        for (j, b) in firsts.iter().enumerate().skip(i + 1) {
            if a.len() <= FEWEST || b.len() <= FEWEST {
                continue;
            }
            if let Some(r) = same_headways(a, b).filter(|&r| r > SAME) {
                return Some((i, j, Kin::SameSeed(r)));
            }
            if shifted.is_none() {
                shifted = same_starts(a, b, resolution).map(|kin| (i, j, kin));
            }
            if in_step.is_none() {
                in_step =
                    coincide(a, b, resolution).map(|(share, chance)| (i, j, Kin::InStep(share, chance)));
            }
        }
    }
    shifted.or(in_step)
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

/// Whether one shift brings most starts of `a` together with one of `b`, and no other does; none where either is regular.
fn same_starts(a: &[i64], b: &[i64], resolution: f64) -> Option<Kin> {
    let (before, after) = (headways(a), headways(b));
    let (mean, cov) = mean_and_cov(&after);
    if mean_and_cov(&before).1 < REGULAR || cov < REGULAR || mean <= 0.0 {
        return None;
    }
    let mut sorted = after.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let alike = (ALIKE * sorted[sorted.len() / 2]).max(ALIKE_STEPS * resolution);
    let chance = 1.0 - (-2.0 * alike / mean).exp();
    if chance > CHANCE {
        return None;
    }
    let places = (0..PLACES).map(|place| place * (a.len().saturating_sub(LAID)) / (PLACES - 1));
    places.filter_map(|from| fits(a, b, from, alike, chance)).max_by(|x, y| {
        let share = |kin: &Kin| if let Kin::Shifted { share, .. } = kin { *share } else { 0.0 };
        share(x).total_cmp(&share(y))
    })
}

/// Lays up to [`LAID`] starts of `a` over those of `b`.
fn fits(a: &[i64], b: &[i64], from: usize, alike: f64, chance: f64) -> Option<Kin> {
    let a = &a[from..a.len().min(from + LAID)];
    let pair = |s: &[i64], i: usize| [(s[i + 1] - s[i]) as f64, (s[i + 2] - s[i + 1]) as f64];
    let mut index: Vec<(f64, usize)> = (0..b.len().saturating_sub(2)).map(|i| (pair(b, i)[0], i)).collect();
    index.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
    let mut votes: Vec<i64> = Vec::new();
    for i in 0..a.len().saturating_sub(2) {
        let [one, two] = pair(a, i);
        let begin = index.partition_point(|x| x.0 < one - alike);
        let near = index[begin..].iter().take_while(|x| x.0 <= one + alike);
        let near = near.filter(|x| (pair(b, x.1)[1] - two).abs() <= alike).take(MOST_VOTES);
        votes.extend(near.map(|x| b[x.1] - a[i]));
    }
    votes.sort_unstable();
    let best = most_voted(&votes, alike, None)?;
    let (share, n) = together(a, b, best, alike);
    let next = most_voted(&votes, alike, Some(best)).map_or(0.0, |next| together(a, b, next, alike).0);
    // At the edge two bunches are soon alike.
    (n >= FEWEST.max(a.len() / 2) && share > beyond(chance) && share >= ONLY_ONE * next)
        .then_some(Kin::Shifted { share, chance, later: best })
}

/// The middle of the most votes within twice `alike`, of those further than four times that from `but`.
fn most_voted(votes: &[i64], alike: f64, but: Option<i64>) -> Option<i64> {
    let mut best = (0, None);
    let mut from = 0;
    for (to, &vote) in votes.iter().enumerate() {
        while (vote - votes[from]) as f64 > 2.0 * alike {
            from += 1;
        }
        let middle = votes[(from + to) / 2];
        if to + 1 - from > best.0 && but.is_none_or(|but| middle.abs_diff(but) as f64 > 4.0 * alike) {
            best = (to + 1 - from, Some(middle));
        }
    }
    best.1
}

/// Share of the starts of `a` within the time of `b` that are near one of `b` once shifted, and how many there are.
fn together(a: &[i64], b: &[i64], shift: i64, alike: f64) -> (f64, usize) {
    let shifted = a.iter().map(|at| at + shift).filter(|at| (b[0]..=b[b.len() - 1]).contains(at));
    let (mut n, mut near) = (0usize, 0usize);
    for at in shifted {
        let i = b.partition_point(|&x| x < at);
        let neighbours = [b.get(i), i.checked_sub(1).and_then(|i| b.get(i))];
        n += 1;
        near += usize::from(neighbours.into_iter().flatten().any(|x| x.abs_diff(at) as f64 <= alike));
    }
    (near as f64 / n.max(1) as f64, n)
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
    if [a, b].iter().any(|starts| mean_and_cov(&headways(starts)).1 > IN_STEP) {
        return None;
    }
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

    /// One start in twenty lost on each side, the first ten or five hundred on one.
    #[test]
    fn one_seed_is_seen_through_losses_and_a_shift() {
        let plan = walk(1, 2_500);
        let lost = |nth: usize| plan.iter().enumerate().filter(move |(i, _)| i % 20 != nth).map(|(_, t)| *t);
        for skipped in [0, 10, 500] {
            let a: Vec<i64> = lost(3).take(2_048).collect();
            let b: Vec<i64> = lost(11).skip(skipped).take(2_048).map(|t| t + 777_777).collect();
            for (a, b, sign) in [(&a, &b, 1), (&b, &a, -1)] {
                let Some((0, 1, Kin::Shifted { share, chance, later })) =
                    kinship(&[a.clone(), b.clone()], 1.0)
                else {
                    panic!("{skipped} {sign}: {:?}", kinship(&[a.clone(), b.clone()], 1.0))
                };
                assert!(share > 0.9 && chance < 0.3 && (later - sign * 777_777).abs() < 5, "{share} {later}");
            }
        }
        // On the ticks of one timer independent starts fit at every tick.
        let ticked =
            |seed: u64| walk(seed, 1_000).iter().map(|t| t / 30_000_000 * 30_000_000).collect::<Vec<i64>>();
        assert_eq!(
            kinship(&[ticked(3), ticked(4)], 1.0).filter(|k| matches!(k.2, Kin::Shifted { .. })),
            None
        );
    }

    #[test]
    fn metronomes_in_step_are_told_from_those_that_are_not() {
        let metronome = |phase: i64| (0..500).map(|k| k * 100_000 + phase).collect::<Vec<i64>>();
        let found = kinship(&[metronome(0), metronome(300), metronome(600)], 1.0);
        assert!(matches!(found, Some((0, 1, Kin::InStep(share, _))) if share > 0.99), "{found:?}");
        assert_eq!(kinship(&[metronome(0), metronome(50_000)], 1.0), None);
    }
}
