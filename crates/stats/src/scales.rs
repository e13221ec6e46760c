//! What the pattern needs of the instants themselves: counts over ever longer windows, the spectrum, whole seconds.
//!
//! Lengths are multiples of the mean headway. Where no rate is known beforehand the first few thousand instants wait until
//! they tell it. Where the plan's rate varies, instants are those of the plan's cumulative rate, on which it is constant.
//! Deliberately absent: headways, and verdicts.

use crate::ladder::Ladder;
use crate::spectrum::{Line, Spectrum};
use headway_base::Nanos;

/// So many instants tell the rate where nothing else does.
const TELLING: usize = 4_096;

/// Bins of the spectrum per mean headway.
const BINS: f64 = 4.0;

/// Counts of the judged stream.
#[derive(Clone, Debug)]
pub(crate) struct Scales {
    origin: i64,
    end: i64,
    grid: i64,
    waiting: Vec<i64>,
    kept: Option<Kept>,
    pub seconds: Seconds,
    /// The strongest line of the spectrum; known once all is settled.
    pub line: Option<Line>,
}

#[derive(Clone, Debug)]
struct Kept {
    ladder: Ladder,
    spectrum: Spectrum,
}

impl Kept {
    /// For steps of windows of this length in nanoseconds, or the next whole multiple of the grid, and this mean headway.
    fn new(step: f64, mean: f64, scales: &Scales) -> Kept {
        let grid = scales.grid as f64;
        let ladder = ((step / grid).ceil().max(1.0) * grid) as i64;
        let bin = ((mean / BINS / grid).floor().max(1.0) * grid) as i64;
        Kept {
            ladder: Ladder::new(ladder, scales.origin, scales.end),
            spectrum: Spectrum::new(bin, scales.origin, scales.end),
        }
    }

    #[inline]
    fn push(&mut self, at: i64) {
        self.ladder.push(at);
        self.spectrum.push(at);
    }
}

impl Scales {
    /// Counts from `origin` to `end` of stamps on this grid. `rate`: arrivals per second, where it is known beforehand.
    pub fn new(origin: Nanos, end: Nanos, grid: Nanos, rate: Option<f64>) -> Scales {
        let (origin, end, grid) = (origin.0, end.0.max(origin.0), grid.0.max(1));
        let seconds = Seconds::new(origin, end, grid);
        let mut scales = Scales { origin, end, grid, waiting: Vec::new(), kept: None, seconds, line: None };
        if let Some(rate) = rate.filter(|&r| r > 0.0 && r.is_finite()) {
            let mean = 1e9 / rate;
            // Cutting down to whole nanoseconds must not make a window shorter than ten mean headways.
            scales.kept = Some(Kept::new(mean.ceil(), mean, &scales));
        }
        scales
    }

    /// An arrival, not before the last one.
    #[inline]
    pub fn push(&mut self, at: i64) {
        match &mut self.kept {
            Some(kept) => kept.push(at),
            None => self.wait(at),
        }
    }

    #[cold]
    fn wait(&mut self, at: i64) {
        self.waiting.push(at);
        if self.waiting.len() == TELLING {
            self.tell();
        }
    }

    fn tell(&mut self) {
        let [first, .., last] = self.waiting[..] else { return };
        let mean = ((last - first) as f64 / (self.waiting.len() - 1) as f64).max(1.0);
        // Half as long, for the rate to come may be higher.
        let mut kept = Kept::new(mean / 2.0, mean, self);
        self.waiting.drain(..).for_each(|at| kept.push(at));
        self.kept = Some(kept);
    }

    /// To be called after the last arrival: completes what is complete at that instant.
    pub fn settle(&mut self, until: i64) {
        if self.kept.is_none() {
            self.tell();
        }
        if let Some(kept) = &mut self.kept {
            kept.ladder.settle(until);
            kept.spectrum.settle(until);
            self.line = kept.spectrum.line();
        }
    }

    pub fn ladder(&self) -> Option<&Ladder> {
        self.kept.as_ref().map(|kept| &kept.ladder)
    }
}

/// Parts of a second at which whole seconds may begin.
const PARTS: i64 = 100;
const PART: i64 = 10_000_000;

/// Fewest seconds that tell whether each has the same number of arrivals, and the fewest arrivals in each.
const FEWEST_SECONDS: f64 = 20.0;
const FEWEST_IN_ONE: f64 = 10.0;

/// Whether the same number of arrivals falls into each second, wherever seconds begin: a schedule that is made anew for
/// each second does that. Counts in hundredths.
#[derive(Clone, Debug)]
pub(crate) struct Seconds {
    origin: i64,
    end: i64,
    part: i64,
    /// Where the part that is being counted ends.
    edge: i64,
    count: u64,
    ring: Vec<u64>,
    sum: u64,
    /// By the part at which they begin: seconds, counts, squares.
    tallies: Vec<[f64; 3]>,
    /// A second without an arrival, or stamps too coarse.
    never: bool,
}

impl Seconds {
    fn new(origin: i64, end: i64, grid: i64) -> Seconds {
        let parts = PARTS as usize;
        Seconds {
            origin,
            end,
            part: 0,
            edge: origin.saturating_add(PART),
            count: 0,
            ring: vec![0; parts],
            sum: 0,
            tallies: vec![[0.0; 3]; parts],
            never: PART % grid != 0,
        }
    }

    /// An arrival, not before the last one.
    #[inline]
    pub fn push(&mut self, at: i64) {
        if self.never || at >= self.end {
            return;
        }
        if at >= self.edge {
            let part = (at - self.origin) / PART;
            self.never |= part - self.part > PARTS;
            while self.part < part && !self.never {
                let place = (self.part % PARTS) as usize;
                self.sum = self.sum + self.count - self.ring[place];
                self.ring[place] = self.count;
                if self.part >= PARTS - 1 {
                    let c = self.sum as f64;
                    let tally = &mut self.tallies[place];
                    *tally = [tally[0] + 1.0, tally[1] + c, tally[2] + c * c];
                }
                self.part += 1;
                self.count = 0;
            }
            self.edge = self.origin.saturating_add((part + 1).saturating_mul(PART));
        }
        self.count += 1;
    }

    /// How many arrivals every second has; none where the number varies. Seconds that begin up to a hundredth earlier or
    /// later lose and gain a few.
    pub fn each(&self) -> Option<u64> {
        let enough = |t: &&[f64; 3]| !self.never && t[0] >= FEWEST_SECONDS && t[1] >= FEWEST_IN_ONE * t[0];
        let varies = |t: &[f64; 3]| (t[2] / t[0] - (t[1] / t[0]).powi(2)).max(0.0) / (t[1] / t[0]);
        let steady = self.tallies.iter().filter(enough).min_by(|a, b| varies(a).total_cmp(&varies(b)))?;
        (varies(steady) < 0.03).then(|| (steady[1] / steady[0]).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::{Stream, open01};

    /// 100 starts in each second, at random within, of a file that begins in the middle of one; and as many Poisson ones.
    #[test]
    fn the_same_number_in_each_second_is_seen_wherever_seconds_begin() {
        let draws = Stream::new(1, "test");
        for fixed in [true, false] {
            let mut seconds = Seconds::new(377_000_000, i64::MAX, 1);
            let mut at: Vec<f64> = (0..6_000u64)
                .map(|k| {
                    open01(draws.bits(k, 0)) * if fixed { 1.0 } else { 60.0 }
                        + if fixed { (k / 100) as f64 } else { 0.0 }
                })
                .collect();
            at.sort_by(f64::total_cmp);
            at.iter().map(|t| (t * 1e9) as i64).filter(|&t| t >= 377_000_000).for_each(|t| seconds.push(t));
            assert_eq!(seconds.each(), fixed.then_some(100));
        }
    }
}
