//! Stamps far from all others: a clock that was not set yet, a row written by something else. One such row, decades from
//! the test, would stretch it over all that time.
//!
//! Deliberately absent: what is merely late, or a second test in the same file; those are part of what was measured.

use headway_base::Nanos;
use std::collections::BTreeMap;
use std::ops::Range;

const HOUR: i64 = 3_600 * 1_000_000_000;
/// Empty hours that part two groups of rows, at least.
const APART: i64 = 24;
/// And at least so many times as long as the largest group lasts.
const TIMES: i64 = 10;
/// Share of all rows that may be far from the others; a single row may be of any [`FEWEST`].
const FEW: f64 = 0.01;
const FEWEST: u64 = 10;

/// Rows by the hour of their stamps: between 1990 and 2200 there are 1.8 million.
#[derive(Clone, Debug, Default)]
pub(super) struct Hours {
    current: (i64, u64),
    counts: BTreeMap<i64, u64>,
}

impl Hours {
    #[inline]
    pub(super) fn push(&mut self, at: Nanos) {
        let hour = at.0.div_euclid(HOUR);
        if hour == self.current.0 {
            self.current.1 += 1;
        } else {
            self.turn(hour);
        }
    }

    #[cold]
    fn turn(&mut self, hour: i64) {
        let (before, n) = std::mem::replace(&mut self.current, (hour, 1));
        if n > 0 {
            *self.counts.entry(before).or_default() += n;
        }
    }

    /// The time that holds all rows but the few far ones; none where there are no such.
    pub(super) fn near(&self) -> Option<Range<Nanos>> {
        let mut counts = self.counts.clone();
        *counts.entry(self.current.0).or_default() += self.current.1;
        counts.retain(|_, n| *n > 0);
        let all: u64 = counts.values().sum();
        // Groups of rows: first hour, last hour, rows.
        let mut groups: Vec<(i64, i64, u64)> = Vec::new();
        for (&hour, &n) in &counts {
            match groups.last_mut() {
                Some((_, last, rows)) if hour - *last <= APART => (*last, *rows) = (hour, *rows + n),
                _ => groups.push((hour, hour, n)),
            }
        }
        let &(first, last, _) = groups.iter().max_by_key(|g| g.2)?;
        let least = APART.max(TIMES * (last - first + 1));
        let is_far = |g: &&(i64, i64, u64)| g.0 - last > least || first - g.1 > least;
        let far: u64 = groups.iter().filter(is_far).map(|g| g.2).sum();
        let few = (FEW * all as f64).max(if all >= FEWEST { 1.0 } else { 0.0 });
        if far == 0 || far as f64 > few {
            return None;
        }
        let near = || groups.iter().filter(|g| !is_far(g));
        let from = near().map(|g| g.0).min()?;
        let to = near().map(|g| g.1).max()?;
        Some(Nanos(from * HOUR)..Nanos((to + 1) * HOUR))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(stamps: &[(i64, u64)]) -> Option<[i64; 2]> {
        let mut hours = Hours::default();
        for &(second, n) in stamps {
            (0..n).for_each(|_| hours.push(Nanos::from_secs(second)));
        }
        hours.near().map(|near| [near.start.0 / HOUR, near.end.0 / HOUR])
    }

    #[test]
    fn a_stamp_decades_away_is_far_and_a_second_test_is_not() {
        let (test, century) = (475_000 * 3_600 + 7, 1_139_544 * 3_600);
        assert_eq!(near(&[(test, 400), (century, 1), (test + 5_000, 3)]), Some([475_000, 475_002]));
        assert_eq!(near(&[(0, 1), (test, 400)]), Some([475_000, 475_001]));
        // Too many to leave out, too near, too few to tell, nothing.
        assert_eq!(near(&[(test, 400), (century, 5)]), None);
        assert_eq!(near(&[(test, 400), (test + 80_000, 1)]), None);
        assert_eq!(near(&[(test, 8), (century, 1)]), None);
        assert_eq!((near(&[(test, 400)]), near(&[])), (None, None));
        // A test of ten days may have a straggler a week later.
        let days: Vec<_> = (0..240).map(|hour| (test + 3_600 * hour, 10)).collect();
        assert_eq!(near(&[days.clone(), vec![(test + 17 * 86_400, 1)]].concat()), None);
        assert_eq!(near(&[days, vec![(century, 1)]].concat()), Some([475_000, 475_240]));
    }
}
