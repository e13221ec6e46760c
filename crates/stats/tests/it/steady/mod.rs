//! One run or several against what is known of M/M/1 at 80 %: coverage of both kinds of interval, removal of a start far
//! from steady state, and what a push costs.
//!
//! Mean service 1 s, so that times are in services: sojourns of mean 5, relaxation time 89.7.

mod coverage;
mod percentiles;
mod speed;
mod warmup;

use headway_base::random::{Draws, Stream};
use headway_base::special::exponential;
use headway_stats::queueing::Mmc;
use headway_stats::steady::Batches;

const QUEUE: Mmc = Mmc::mm1(0.8, 1.0);

/// Lindley's recursion: a queue by the work that an arrival finds.
struct Run {
    draws: Draws,
    work: f64,
}

impl Run {
    /// The first arrival finds so much work.
    fn from(work: f64, seed: u64) -> Run {
        Run { draws: Stream::new(seed, "test").item(0), work }
    }

    fn play(self, requests: u64) -> Batches {
        let mut batches = Batches::new();
        self.sojourns().take(requests as usize).for_each(|sojourn| batches.push(sojourn));
        batches
    }

    fn sojourns(mut self) -> impl Iterator<Item = f64> {
        std::iter::from_fn(move || {
            let sojourn = self.work + exponential(&mut self.draws);
            self.work = (sojourn - exponential(&mut self.draws) / QUEUE.rate).max(0.0);
            Some(sojourn)
        })
    }
}
