//! Index of dispersion of counts in windows of 10, 20, 40, ... mean headways that overlap by nine tenths.
//!
//! Ten steps make a window, and two steps of one length make a step of the next: memory and time per arrival do not grow with
//! the number of lengths. Over m windows that do not overlap the index of Poisson counts has the variance 2/(m-1) (Cox and
//! Lewis 1966, section 4.5); windows that overlap fully have 4/(3(m-1)), since the squared correlation of windows that
//! share a part s is s^2, whose integral over all shifts is 2/3 of a window. In tenths it is 1.34 in place of 4/3.
//!
//! Sums are kept by twentieths of the time, so that a stretch can be left out afterwards. Deliberately absent: verdicts.

use crate::intervals::SEGMENTS;
use crate::windows::FEWEST_WINDOWS;

/// Steps per window.
pub(crate) const STEPS: usize = 10;

/// Most lengths: the longest is 2^39 times the shortest.
const MOST: usize = 40;

/// Sums over the windows that end in one twentieth.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    windows: u64,
    c: f64,
    cc: f64,
}

/// Windows of one length.
#[derive(Clone, Debug)]
struct Level {
    /// Twentieths of the time per step.
    per_step: f64,
    ring: [u64; STEPS],
    slot: usize,
    sum: u64,
    /// Steps that are complete.
    closed: u64,
    /// The twentieth that the last of them belongs to, and with which step the next one begins.
    place: usize,
    edge: u64,
    /// The first of two steps that make one of the next length.
    carry: Option<u64>,
    tallies: [Tally; SEGMENTS],
}

impl Level {
    fn new(per_step: f64) -> Level {
        let tallies = [Tally::default(); SEGMENTS];
        Level {
            per_step,
            ring: [0; STEPS],
            slot: 0,
            sum: 0,
            closed: 0,
            place: 0,
            edge: 0,
            carry: None,
            tallies,
        }
    }

    /// Counts steps as complete.
    #[inline]
    fn advance(&mut self, steps: u64) {
        self.closed += steps;
        if self.closed >= self.edge {
            self.place = ((self.closed as f64 * self.per_step) as usize).min(SEGMENTS - 1);
            let last = self.place + 1 == SEGMENTS;
            self.edge = if last { u64::MAX } else { ((self.place + 1) as f64 / self.per_step).ceil() as u64 };
        }
    }

    /// Completes a step.
    #[inline]
    fn step(&mut self, count: u64) {
        self.sum = self.sum + count - self.ring[self.slot];
        self.ring[self.slot] = count;
        self.slot = if self.slot + 1 == STEPS { 0 } else { self.slot + 1 };
        self.advance(1);
        if self.closed >= STEPS as u64 {
            let c = self.sum as f64;
            let tally = &mut self.tallies[self.place];
            tally.windows += 1;
            tally.c += c;
            tally.cc += c * c;
        }
    }

    /// Completes steps without an arrival.
    fn empty(&mut self, mut steps: u64) {
        for _ in 0..steps.min(STEPS as u64) {
            self.step(0);
            steps -= 1;
        }
        while steps > 0 {
            // The step at the edge belongs to the next twentieth.
            self.advance(1);
            let some = self.edge.saturating_sub(self.closed + 1).min(steps - 1);
            self.tallies[self.place].windows += some + 1;
            self.closed += some;
            steps -= some + 1;
        }
    }
}

/// Counts of arrivals in windows of every length at once.
#[derive(Clone, Debug)]
pub(crate) struct Ladder {
    origin: i64,
    end: i64,
    step: i64,
    /// The step that is being counted, and where it ends.
    bin: i64,
    edge: i64,
    count: u64,
    levels: Vec<Level>,
}

/// What the windows of one length say.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Rung {
    /// Length in nanoseconds.
    pub window: i64,
    pub index: f64,
    /// How many windows fit beside each other.
    pub windows: f64,
}

impl Rung {
    /// Standard error of an index of 1, of which only a share of the windows are not repetitions.
    pub fn se(&self, share: f64) -> f64 {
        let m = self.windows * share - 1.0;
        if m > 1.0 { (4.0 / (3.0 * m)).sqrt() } else { f64::INFINITY }
    }
}

impl Ladder {
    /// Windows from `origin` to `end`, the shortest of ten steps, all in nanoseconds.
    pub fn new(step: i64, origin: i64, end: i64) -> Ladder {
        let step = step.max(1);
        let per_step = SEGMENTS as f64 * step as f64 / (end as f64 - origin as f64).max(1.0);
        let edge = origin.saturating_add(step);
        Ladder { origin, end, step, bin: 0, edge, count: 0, levels: vec![Level::new(per_step)] }
    }

    /// An arrival, not before the last one.
    #[inline]
    pub fn push(&mut self, at: i64) {
        if at >= self.end {
            return;
        }
        if at >= self.edge {
            self.close_until((at - self.origin) / self.step);
        }
        self.count += 1;
    }

    fn close_until(&mut self, bin: i64) {
        self.close(0, self.count);
        let empty = (bin - self.bin - 1) as u64;
        if empty < STEPS as u64 {
            (0..empty).for_each(|_| self.close(0, 0));
        } else {
            self.empty(empty);
        }
        (self.bin, self.count) = (bin, 0);
        self.edge = self.origin.saturating_add((bin + 1).saturating_mul(self.step));
    }

    /// Completes what is complete at that instant.
    pub fn settle(&mut self, until: i64) {
        let bin = (until.min(self.end) - self.origin) / self.step;
        if bin > self.bin {
            self.close_until(bin);
        }
    }

    /// The level of this place, which may be the next one to come.
    #[inline]
    fn level(&mut self, place: usize) -> &mut Level {
        if place == self.levels.len() {
            let per_step = self.levels[place - 1].per_step * 2.0;
            self.levels.push(Level::new(per_step));
        }
        &mut self.levels[place]
    }

    /// Completes a step of this level, and what it completes of the longer ones.
    #[inline]
    fn close(&mut self, from: usize, mut count: u64) {
        for place in from..MOST {
            let level = self.level(place);
            level.step(count);
            match level.carry.take() {
                None => {
                    level.carry = Some(count);
                    return;
                }
                Some(first) => count += first,
            }
        }
    }

    /// Completes steps of the shortest level without an arrival.
    fn empty(&mut self, mut steps: u64) {
        for place in 0..MOST {
            if steps == 0 {
                return;
            }
            let level = self.level(place);
            level.empty(steps);
            if let Some(first) = level.carry.take() {
                self.close(place + 1, first);
                steps -= 1;
            }
            self.levels[place].carry = (steps % 2 == 1).then_some(0);
            steps /= 2;
        }
    }

    /// Every length of which at least 30 windows fit beside each other, the shortest first, without the windows that
    /// touch one of these stretches and their neighbours in the same twentieth.
    pub fn rungs(&self, without: &[[i64; 2]]) -> Vec<Rung> {
        let length = (self.end as f64 - self.origin as f64).max(1.0);
        let place = |at: i64| {
            let share = (at - self.origin) as f64 / length * SEGMENTS as f64;
            (share.max(0.0) as usize).min(SEGMENTS - 1)
        };
        let rung = |(i, level): (usize, &Level)| {
            let window = self.step.saturating_mul(STEPS as i64).saturating_mul(1i64 << i);
            let mut all = Tally::default();
            for (j, tally) in level.tallies.iter().enumerate() {
                let touched =
                    |[from, to]: &[i64; 2]| (place(*from)..=place(to.saturating_add(window))).contains(&j);
                if !without.iter().any(touched) {
                    all.windows += tally.windows;
                    all.c += tally.c;
                    all.cc += tally.cc;
                }
            }
            let (n, windows) = (all.windows as f64, all.windows as f64 / STEPS as f64);
            if windows < FEWEST_WINDOWS as f64 || all.c == 0.0 {
                return None;
            }
            let mean = all.c / n;
            let variance = (all.cc / n - mean * mean).max(0.0) * windows / (windows - 1.0);
            Some(Rung { window, index: variance / mean, windows })
        };
        self.levels.iter().enumerate().map_while(rung).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::{Stream, open01};

    fn times(n: u64, mean: f64, seed: u64) -> Vec<i64> {
        let draws = Stream::new(seed, "test");
        let mut at = 0.0;
        (0..n)
            .map(|k| {
                at += -open01(draws.bits(k, 0)).ln() * mean;
                at as i64
            })
            .collect()
    }

    /// Of each length the index over all windows that begin on a step, counted one by one, with a pause of 700 steps within.
    #[test]
    fn counts_in_steps_are_those_of_windows_counted_one_by_one() {
        let mut times = times(20_000, 1e6, 1);
        times.iter_mut().skip(9_000).for_each(|t| *t += 700_000_000);
        let end = times[19_999] / 1_000_000 * 1_000_000;
        let mut ladder = Ladder::new(1_000_000, 0, end);
        times.iter().for_each(|&t| ladder.push(t));
        ladder.settle(end);
        let rungs = ladder.rungs(&[]);
        assert!(rungs.len() >= 6, "{rungs:?}");
        for (i, rung) in rungs.iter().enumerate() {
            let step = 1_000_000i64 << i;
            assert_eq!(rung.window, 10 * step);
            let counts: Vec<f64> = (0..=(end - rung.window) / step)
                .map(|k| {
                    let from = times.partition_point(|&t| t < k * step);
                    (times.partition_point(|&t| t < k * step + rung.window) - from) as f64
                })
                .collect();
            let n = counts.len() as f64;
            let mean = counts.iter().sum::<f64>() / n;
            let m = n / 10.0;
            let exact = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / n * m / (m - 1.0) / mean;
            assert!((rung.index / exact - 1.0).abs() < 1e-6, "{rung:?} {exact}");
        }
        // Without the pause the counts are those of Poisson arrivals; with it they are not.
        let pause = [times[8_999], times[9_000]];
        let (with, without) = (rungs[2], ladder.rungs(&[pause])[2]);
        assert!(
            with.index > 2.0 && (without.index - 1.0).abs() < 4.0 * without.se(1.0),
            "{with:?} {without:?}"
        );
    }

    /// The stated variance, 4/(3(m-1)): over 400 loads the spread of the index is its square root within 4 standard
    /// errors of a standard deviation (1/sqrt(800)), at windows whose counts are near normal.
    #[test]
    fn the_stated_error_is_the_spread_of_the_index() {
        let mut seen: Vec<Vec<Rung>> = Vec::new();
        for seed in 0..400 {
            let mut ladder = Ladder::new(1_000_000, 0, 8_000_000_000);
            times(8_400, 1e6, 100 + seed).iter().for_each(|&t| ladder.push(t));
            ladder.settle(8_000_000_000);
            seen.push(ladder.rungs(&[]));
        }
        for place in 1..4 {
            let z: Vec<f64> = seen.iter().map(|r| (r[place].index - 1.0) / r[place].se(1.0)).collect();
            let sd = (z.iter().map(|z| z * z).sum::<f64>() / 400.0).sqrt();
            assert!((sd - 1.0).abs() < 4.0 / 800f64.sqrt(), "{place}: {sd}");
        }
    }
}
