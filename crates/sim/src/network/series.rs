//! What a part did over time, in a bounded number of windows.
//!
//! Every observation is a spell, reported when it is over: an amount from one instant to another. It is kept as its two
//! edges, each in the window that it lies in, so that a spell costs the same whatever its length. Windows are powers of two
//! long; when a spell reaches beyond the last, neighbours are merged.

use headway_base::Nanos;

/// Windows at most.
pub(super) const MOST: usize = 512;
/// A first window is 2^20 ns long, about a millisecond.
const FIRST: u32 = 20;

/// The quantity of a spell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lane {
    /// Requests in the part.
    Number,
    /// Servers that serve.
    Busy,
    /// Copies that are down.
    Down,
}

/// Time-integrals of three lanes over windows.
#[derive(Clone, Debug)]
pub(super) struct Series {
    windows: Vec<[Sum; 3]>,
    /// Windows are 2^shift ns long.
    shift: u32,
}

/// Of one lane in one window.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    /// From the edges within it to its end.
    part: i64,
    /// By how much more there is after it than before.
    rise: i64,
}

impl Series {
    /// From zero on.
    pub(super) fn new() -> Series {
        Series { windows: Vec::new(), shift: FIRST }
    }

    /// One more, from `from` to `to`.
    #[inline]
    pub(super) fn spell(&mut self, lane: Lane, from: Nanos, to: Nanos) {
        self.spells(lane, from, to, 1);
    }

    /// One more in the part from `at` to `departs`, served from `begins` on.
    #[inline]
    pub(super) fn served(&mut self, at: Nanos, begins: Nanos, departs: Nanos) {
        if (departs.0 >> self.shift) as usize >= self.windows.len() {
            self.reach(departs);
        }
        self.edge(Lane::Number, at, 1);
        self.edge(Lane::Busy, begins, 1);
        self.edge(Lane::Number, departs, -1);
        self.edge(Lane::Busy, departs, -1);
    }

    /// So many more, from `from` to `to`.
    #[inline]
    pub(super) fn spells(&mut self, lane: Lane, from: Nanos, to: Nanos, times: i64) {
        if from >= to {
            return;
        }
        if (to.0 >> self.shift) as usize >= self.windows.len() {
            self.reach(to);
        }
        self.edge(lane, from, times);
        self.edge(lane, to, -times);
    }

    /// So many more from that instant on.
    #[inline(always)]
    fn edge(&mut self, lane: Lane, at: Nanos, times: i64) {
        let window = at.0 >> self.shift;
        let sum = &mut self.windows[window as usize][lane as usize];
        sum.part += (((window + 1) << self.shift) - at.0) * times;
        sum.rise += times;
    }

    /// There are windows up to that instant.
    #[inline(never)]
    pub(super) fn reach(&mut self, to: Nanos) {
        while (to.0 >> self.shift) as usize >= MOST {
            self.merge();
        }
        let last = (to.0 >> self.shift) as usize;
        if self.windows.len() <= last {
            self.windows.reserve(MOST - self.windows.len());
            self.windows.resize(last + 1, [Sum::default(); 3]);
        }
    }

    /// Windows twice as long.
    fn merge(&mut self) {
        let sums: Vec<[i64; 3]> = self.sums().collect();
        self.shift += 1;
        let merged = sums.chunks(2).map(|pair| {
            let sum = |lane: usize| pair.iter().map(|window| window[lane]).sum();
            [0, 1, 2].map(|lane| Sum { part: sum(lane), rise: 0 })
        });
        self.windows = merged.collect();
    }

    /// The integrals of each window, in order.
    fn sums(&self) -> impl Iterator<Item = [i64; 3]> + '_ {
        let (width, mut before) = (1i64 << self.shift, [0i64; 3]);
        self.windows.iter().map(move |window| {
            [0, 1, 2].map(|lane| {
                let sum = window[lane].part + before[lane] * width;
                before[lane] += window[lane].rise;
                sum
            })
        })
    }

    /// Each window that begins before `until`: from when to when, and the integrals.
    pub(super) fn windows(&self, until: Nanos) -> impl Iterator<Item = (Nanos, Nanos, [i64; 3])> + '_ {
        let width = 1i64 << self.shift;
        let starts = (0i64..).map(move |window| Nanos(window * width));
        let within = starts.zip(self.sums()).take_while(move |(from, _)| *from < until);
        within.map(move |(from, sums)| (from, Nanos(from.0 + width).min(until), sums))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;

    /// Against integrals computed one by one, over spells of all lengths; the windows merge on the way.
    #[test]
    fn windows_hold_the_integrals_of_what_was_told() {
        let mut draws = Stream::new(1, "series").item(0);
        let mut series = Series::new();
        let mut told = Vec::new();
        let mut now = 0i64;
        for _ in 0..3_000 {
            now += (draws.bits() % 3_000_000) as i64;
            let length = (draws.bits() % (1 << (draws.bits() % 33))) as i64;
            let times = 1 + (draws.bits() % 3) as i64;
            told.push((now, now + length, times));
            series.spells(Lane::Busy, Nanos(now), Nanos(now + length), times);
        }
        let windows: Vec<_> = series.windows(Nanos::MAX).collect();
        assert!((MOST / 4..=MOST).contains(&windows.len()), "{}", windows.len());
        for (from, to, sums) in &windows {
            let overlap = |&(a, b, times): &(i64, i64, i64)| (b.min(to.0) - a.max(from.0)).max(0) * times;
            assert_eq!(sums[Lane::Busy as usize], told.iter().map(overlap).sum::<i64>(), "from {from}");
            assert_eq!((sums[0], sums[2]), (0, 0));
        }
    }

    /// Nothing more happens, or nothing at all, and yet there are windows to the end; the last as long as it is.
    #[test]
    fn windows_reach_as_far_as_is_asked() {
        let end = Nanos::from_secs(70);
        for told in [None, Some(Nanos::from_secs(7))] {
            let mut series = Series::new();
            if let Some(to) = told {
                series.spells(Lane::Down, Nanos::from_secs(5), to, 3);
            }
            series.reach(end);
            let windows: Vec<_> = series.windows(end).collect();
            assert!((MOST / 4..=MOST).contains(&windows.len()), "{}", windows.len());
            assert!(windows.windows(2).all(|pair| pair[0].1 == pair[1].0));
            assert_eq!((windows[0].0, windows[windows.len() - 1].1), (Nanos::ZERO, end));
            let down: i64 = windows.iter().map(|(_, _, sums)| sums[Lane::Down as usize]).sum();
            assert_eq!(down, told.map_or(0, |_| 6_000_000_000));
        }
    }
}
