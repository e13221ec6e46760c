//! An upper bound of the number in the system: cheaper than the number itself, and enough to show that a cap was not reached.
//!
//! Departures are counted by cells of time. A request that leaves in a cell counts as present to its end.

use headway_base::Nanos;

/// Cells kept: a power of two.
const CELLS: usize = 4_096;

/// Counts arrivals against a cap.
#[derive(Clone, Debug)]
pub(super) struct Presence {
    /// A cell is 2^shift nanoseconds long.
    shift: u32,
    /// Number of the cell of the last arrival.
    cell: i64,
    /// Departures by cell, modulo [`CELLS`].
    leaving: Box<[u32; CELLS]>,
    inside: u32,
    cap: u32,
}

impl Presence {
    /// Nobody, where `cap` may be there at once. The cells reach as far as `longest`, unless at `rate` arrivals per second so
    /// many would leave within one that the bound would be useless.
    pub(super) fn new(cap: u32, longest: Nanos, rate: f64) -> Presence {
        let cells = CELLS as i64 - 2;
        let reaching = (longest.0.max(1) as u64).div_ceil(cells as u64).next_power_of_two().ilog2();
        let telling = f64::from(cap.max(1)) / 4.0 / rate.max(1e-9) * 1e9;
        // Truncation saturates: at least a nanosecond.
        let telling = (telling as u64).clamp(1, 1 << 50).ilog2();
        let leaving = Box::new([0; CELLS]);
        Presence { shift: reaching.min(telling), cell: 0, leaving, inside: 0, cap }
    }

    /// A request arrives at `now` and leaves at `done`. Returns whether the cap was certainly not reached. Calls come in the order of time.
    #[inline]
    pub(super) fn admits(&mut self, now: Nanos, done: Nanos) -> bool {
        let (cell, last) = (now.0 >> self.shift, done.0 >> self.shift);
        if self.cell < cell {
            self.pass_to(cell);
        }
        if self.inside >= self.cap || last - cell >= CELLS as i64 {
            return false;
        }
        self.inside += 1;
        self.leaving[last as usize % CELLS] += 1;
        true
    }

    /// The cells before that one are over.
    fn pass_to(&mut self, cell: i64) {
        while self.inside > 0 && self.cell < cell {
            self.inside -= std::mem::take(&mut self.leaving[self.cell as usize % CELLS]);
            self.cell += 1;
        }
        self.cell = cell;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;
    use headway_base::special::exponential;

    /// It never admits where the cap is reached, and where it is far off it always does.
    #[test]
    fn it_errs_on_the_side_of_the_cap() {
        for (cap, rate, stay) in [(10, 100.0, 0.1), (40, 100.0, 0.1), (3, 10.0, 0.02), (1, 10.0, 0.05)] {
            let (gaps, stays) = (Stream::new(1, "gap"), Stream::new(1, "stay"));
            let mut presence = Presence::new(cap, Nanos::from_secs(30), rate);
            let (mut at, mut inside, mut admitted) = (0.0, Vec::<Nanos>::new(), 0);
            for k in 0..20_000 {
                at += exponential(&mut gaps.item(k)) / rate;
                let now = Nanos::from_secs_f64(at);
                let done = now + Nanos::from_secs_f64(stay * exponential(&mut stays.item(k)));
                inside.retain(|&leaves| leaves > now);
                if presence.admits(now, done) {
                    assert!(inside.len() < cap as usize, "{} of {cap} at {now}", inside.len());
                    inside.push(done);
                    admitted += 1;
                }
            }
            // On average a tenth, 10, 0.2 and 0.5 are there.
            assert!(admitted > 1_000 && (cap != 40 || admitted == 20_000), "{cap}: {admitted}");
        }
    }

    #[test]
    fn cells_reach_as_far_as_it_takes_or_are_as_short_as_the_cap_asks() {
        let mut calm = Presence::new(10_000, Nanos::from_secs(30), 800.0);
        assert!(calm.admits(Nanos::ZERO, Nanos::from_secs(30)));
        let mut busy = Presence::new(100, Nanos::from_secs(30), 1e6);
        assert!(1_i64 << busy.shift <= 25_000);
        assert!(busy.admits(Nanos::ZERO, Nanos::from_millis(50)));
        assert!(!busy.admits(Nanos::ZERO, Nanos::from_secs(30)));
    }
}
