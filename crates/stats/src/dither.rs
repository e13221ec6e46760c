//! Stamps spread over the step of the grid that they were cut off to, for statistics that cannot take ties.
//!
//! A stamp cut off to a grid of step q may have been anywhere in [stamp, stamp + q): a uniform draw puts it there
//! again. Arrivals of a Poisson process are then distributed as before they were cut off, because given their number in
//! a step they lie in it independently and uniformly. Of other traffic the spread hides what happened within a step, so
//! it decides only where the mean headway is two steps or more.

use crate::cells::Fine;
use headway_base::Nanos;
use headway_base::random::{Stream, streams};

/// Stamps of one step that are kept.
const MOST: u64 = 1 << 16;

/// Headways of dithered stamps.
#[derive(Clone, Debug)]
pub(crate) struct Dither {
    step: i64,
    draws: Stream,
    k: u64,
    /// The stamps of one step of the grid, already spread, and where the step ends.
    waiting: Vec<i64>,
    /// How many there are; they are not kept beyond [`MOST`].
    here: u64,
    edge: i64,
    before: Option<i64>,
    pub gaps: Fine,
    total: u64,
}

impl Dither {
    /// None where stamps are as fine as instants can be told.
    pub fn new(step: Nanos, seed: u64) -> Option<Dither> {
        (step > Nanos(1)).then(|| Dither {
            step: step.0,
            draws: Stream::new(seed, streams::DITHER),
            k: 0,
            waiting: Vec::new(),
            here: 0,
            edge: i64::MIN,
            before: None,
            gaps: Fine::new(),
            total: 0,
        })
    }

    /// A stamp, not before the last one.
    #[inline]
    pub fn push(&mut self, at: i64) {
        if at >= self.edge {
            self.settle();
            self.edge = at.saturating_add(self.step);
        }
        let share = u128::from(self.draws.bits(self.k, 0)) * self.step as u128;
        self.k += 1;
        self.here += 1;
        if self.here <= MOST {
            self.waiting.push(at + (share >> 64) as i64);
        }
    }

    /// The next stamp does not follow the last one.
    pub fn interrupt(&mut self) {
        self.settle();
        self.before = None;
    }

    /// Orders what waits. To be called after the last stamp.
    pub fn settle(&mut self) {
        let n = std::mem::take(&mut self.here);
        let mut waiting = std::mem::take(&mut self.waiting);
        if n > MOST {
            self.settle_many(n);
        } else {
            waiting.sort_unstable();
            waiting.iter().for_each(|&at| self.stamp(at));
        }
        waiting.clear();
        self.waiting = waiting;
    }

    /// The ordered uniform draws of one step, one after the other: what lies beyond the first i of n shrinks by U^(1/(n-i))
    /// (Devroye 1986, V.3).
    fn settle_many(&mut self, n: u64) {
        let from = self.edge - self.step;
        let mut beyond = 1.0;
        for i in 0..n {
            let bits = self.draws.bits(self.k - n + i, 1) >> 11;
            let draw = (bits as f64 + 0.5) / (1u64 << 53) as f64;
            beyond *= draw.powf(1.0 / (n - i) as f64);
            self.stamp(from + ((1.0 - beyond) * self.step as f64) as i64);
        }
    }

    fn stamp(&mut self, at: i64) {
        if let Some(before) = self.before {
            let gap = (at - before).max(0) as u64;
            self.gaps.push(gap, 1);
            self.total += gap;
        }
        self.before = Some(at);
    }

    /// Mean headway in nanoseconds; NaN without any.
    pub fn mean(&self, n: u64) -> f64 {
        self.total as f64 / n as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many that they are not kept: n draws in a step have n - 1 gaps of a mean of step/(n + 1), and the share of gaps above
    /// x is (1 - x/step)^n.
    #[test]
    fn very_many_stamps_of_one_step_are_spread_without_being_kept() {
        let (n, step) = (4 * MOST, 1 << 40);
        let mut dither = Dither::new(Nanos(step), 3).unwrap();
        (0..n).for_each(|_| dither.push(0));
        assert!(dither.waiting.capacity() as u64 <= MOST);
        dither.settle();
        let cells = dither.gaps.cells();
        assert_eq!(cells.n(), n - 1);
        let expected = step as f64 / (n + 1) as f64;
        // The mean of n spacings varies by their common sum alone, the quantiles by sqrt(p (1 - p)/n).
        assert!((dither.mean(n - 1) / expected - 1.0).abs() < 1e-4, "{}", dither.mean(n - 1));
        for p in [0.1_f64, 0.5, 0.9] {
            let got = cells.quantile(p).unwrap() as f64 / expected;
            let truth = -(1.0 - p).ln();
            let error = (p / (1.0 - p) / n as f64).sqrt();
            assert!((got - truth).abs() < 4.0 * error + 1e-3 * truth, "{p}: {got}, {truth}");
        }
    }

    #[test]
    fn stamps_of_one_step_are_spread_over_it_and_put_into_order() {
        let mut dither = Dither::new(Nanos(1000), 5).unwrap();
        for step in 0..2_000 {
            (0..10).for_each(|_| dither.push(step * 1000));
        }
        dither.settle();
        let cells = dither.gaps.cells();
        assert_eq!(cells.n(), 19_999);
        // Ten in a step of 1000: a mean of 100, and no gap as long as two steps.
        assert!((dither.mean(cells.n()) - 100.0).abs() < 0.1);
        assert!(dither.gaps.max < 2_000 && cells.quantile(0.5).unwrap() > 50);
        // An interruption takes one headway away.
        let mut apart = Dither::new(Nanos(1000), 5).unwrap();
        [0, 5_000].iter().for_each(|&at| {
            apart.push(at);
            apart.interrupt();
        });
        assert_eq!(apart.gaps.cells().n(), 0);
        assert!(Dither::new(Nanos(1), 5).is_none());
    }
}
