//! How long requests stayed in this machine after they were handed to the kernel: a sample of them, counted over time.
//!
//! A request that was written to a socket may lie in the socket's queue or in the network device's. Each watched request
//! costs a few system calls (some 3 us), so that at most a thousand a second are watched: every one, or every n-th.

use crate::reactor::Departure;
use headway_base::Nanos;

/// Bins are at first this wide, and doubled when there are more than [`MOST_BINS`].
const WIDTH: Nanos = Nanos::from_millis(100);
/// Most requests watched in that time: 0.3 % of a core.
const PER_WIDTH: u64 = 100;
const MOST_BINS: usize = 4_096;

/// Delays that are counted: longer than 1, 2, 5, 10, 20, 50, 100 ms.
pub const LEVELS: [Nanos; 7] = [
    Nanos::from_millis(1),
    Nanos::from_millis(2),
    Nanos::from_millis(5),
    Nanos::from_millis(10),
    Nanos::from_millis(20),
    Nanos::from_millis(50),
    Nanos::from_millis(100),
];

/// The watched requests of a stretch of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Bin {
    /// How many.
    pub watched: u32,
    /// Of those, how many left this machine so much later than they were handed over, for each of [`LEVELS`].
    pub over: [u32; LEVELS.len()],
    /// How many left over 1 ms later because the target did not read; not among `over`.
    pub by_target: u32,
}

/// The watched requests of one worker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Departures {
    /// How wide bins are; the first begins at the plan's zero.
    pub width: Nanos,
    /// By when they were handed over.
    pub bins: Vec<Bin>,
    /// The longest delay that was not the target's.
    pub longest: Nanos,
    /// One of this many requests is watched.
    every: u64,
    /// Requests that pass unwatched before the next that is watched.
    pass: u64,
    /// Requests since the last look at their rate, and those of them that were watched.
    sent: u64,
    picked: u64,
    looked: Nanos,
}

impl Default for Departures {
    fn default() -> Departures {
        Departures {
            width: WIDTH,
            bins: Vec::new(),
            longest: Nanos::ZERO,
            every: 1,
            pass: 0,
            sent: 0,
            picked: 0,
            looked: Nanos::ZERO,
        }
    }
}

impl Departures {
    /// Whether the system stamps departures at all.
    pub fn is_known(&self) -> bool {
        !self.bins.is_empty()
    }

    /// Whether the request sent at `now` is to be watched.
    #[inline]
    pub(crate) fn picks(&mut self, now: Nanos) -> bool {
        let span = now - self.looked;
        if span >= WIDTH {
            let per_width = self.sent as f64 * WIDTH.0 as f64 / span.0 as f64;
            self.every = (per_width / PER_WIDTH as f64).ceil().max(1.0) as u64;
            (self.sent, self.picked, self.looked) = (0, 0, now);
        }
        self.sent += 1;
        if self.pass > 0 || self.picked == PER_WIDTH {
            self.pass = self.pass.saturating_sub(1);
            return false;
        }
        self.picked += 1;
        self.pass = self.every - 1;
        true
    }

    /// A watched request that was handed over at `at`.
    pub(crate) fn push(&mut self, at: Nanos, departure: Departure) {
        let mut bin = (at.0.max(0) / self.width.0) as usize;
        while bin >= MOST_BINS {
            self.halve();
            bin /= 2;
        }
        if bin >= self.bins.len() {
            self.bins.resize(bin + 1, Bin::default());
        }
        let kept = &mut self.bins[bin];
        kept.watched += 1;
        if departure.by_peer {
            kept.by_target += u32::from(departure.after > LEVELS[0]);
            return;
        }
        self.longest = self.longest.max(departure.after);
        for (over, level) in kept.over.iter_mut().zip(LEVELS) {
            *over += u32::from(departure.after > level);
        }
    }

    fn halve(&mut self) {
        self.width = self.width + self.width;
        let pair = |pair: &[Bin]| {
            pair[1..].iter().fold(pair[0], |mut sum, bin| {
                sum.watched += bin.watched;
                sum.by_target += bin.by_target;
                sum.over.iter_mut().zip(bin.over).for_each(|(sum, over)| *sum += over);
                sum
            })
        };
        self.bins = self.bins.chunks(2).map(pair).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_a_second_are_watched_at_any_rate() {
        for (rate, expected) in [(200, 200), (900, 900), (5_000, 1_000), (90_000, 1_000)] {
            let mut departures = Departures::default();
            let picked = |k: &i64| departures.picks(Nanos(k * 1_000_000_000 / rate));
            let picked: Vec<i64> = (0..10 * rate).filter(picked).collect();
            let n = picked.len() as i64;
            assert!((97 * expected / 10..=10 * expected).contains(&n), "{rate}: {n}");
            // Once the rate is known they are spread over the time.
            let longest = picked.windows(2).map(|pair| pair[1] - pair[0]).skip(200).max().unwrap();
            assert!(longest * 1_000 <= 6 * rate.max(1_000), "{rate}: {longest}");
        }
    }

    #[test]
    fn bins_stay_few_and_lose_nothing() {
        let mut departures = Departures::default();
        for s in 0..100_000 {
            let (after, by_peer) = (Nanos::from_millis(s % 100), s % 10 == 3);
            departures.push(Nanos::from_secs(s), Departure { after, by_peer });
        }
        assert!(departures.bins.len() <= MOST_BINS && departures.width > Nanos::from_secs(20));
        let sum = |of: fn(&Bin) -> u32| departures.bins.iter().map(of).sum::<u32>();
        assert_eq!((sum(|b| b.watched), sum(|b| b.by_target)), (100_000, 10_000));
        // Of 0 to 99 ms, the ones that end in 3 left out.
        assert_eq!((sum(|b| b.over[0]), sum(|b| b.over[5])), (88_000, 44_000));
        assert_eq!(departures.longest, Nanos::from_millis(99));
    }
}
