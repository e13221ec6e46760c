//! A part of a plan: a thread is a shard, a machine is a shard.

use headway_base::random::{Stream, streams};
use headway_base::units::{UnitError, parse_count};
use std::fmt;

/// Shard `index` of `count`. It keeps session k iff hash(seed, "shard", k) mod count = index, in a random stream of
/// its own: bits shared with the gaps would skew each shard's headways although the union stays right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    index: u32,
    count: u32,
}

impl Shard {
    /// The whole plan.
    pub const WHOLE: Shard = Shard { index: 0, count: 1 };

    /// Shard `index` of `count`.
    ///
    /// # Errors
    /// Unless index < count <= 65,536.
    pub fn new(index: u32, count: u32) -> Result<Shard, UnitError> {
        if index < count && count <= 65_536 {
            Ok(Shard { index, count })
        } else {
            let text = format!("{index}/{count}");
            Err(UnitError::new(&text, "a shard: write i/N with 0 <= i < N <= 65536, for example 0/4"))
        }
    }

    /// Reads `i/N`.
    ///
    /// # Errors
    /// As [`Shard::new`], or not two whole numbers.
    pub fn parse(text: &str) -> Result<Shard, UnitError> {
        let bad = || UnitError::new(text, "a shard: write i/N with 0 <= i < N <= 65536, for example 0/4");
        let (index, count) = text.split_once('/').ok_or_else(bad)?;
        let whole = |t: &str| parse_count(t).ok().and_then(|n| u32::try_from(n).ok()).ok_or_else(bad);
        Shard::new(whole(index)?, whole(count)?)
    }

    /// Part `j` of `parts` of this shard. Parts of shards are shards: (i of N), part j of T = (i + N j) of (N T).
    ///
    /// # Errors
    /// As [`Shard::new`].
    pub fn part(self, j: u32, parts: u32) -> Result<Shard, UnitError> {
        Shard::new(self.index + self.count * j, self.count * parts)
    }

    /// Which one it is, from 0.
    pub const fn index(self) -> u32 {
        self.index
    }

    /// How many there are.
    pub const fn count(self) -> u32 {
        self.count
    }

    /// Whether session `k` of the plan with that seed is this shard's.
    #[inline]
    pub fn keeps(self, draws: Stream, k: u64) -> bool {
        self.count == 1 || Shard::owner(draws, k, self.count) == self.index
    }

    /// Which of `count` shards session `k` belongs to; `count` is not 0.
    #[inline]
    pub fn owner(draws: Stream, k: u64, count: u32) -> u32 {
        (draws.bits(k, 0) % u64::from(count)) as u32
    }

    /// The stream that [`keeps`](Shard::keeps) draws from.
    pub fn stream(seed: u64) -> Stream {
        Stream::new(seed, streams::SHARD)
    }

    /// This shard's part of a whole number that is split as evenly as integers allow: the first ones get one more.
    pub fn split(self, total: u32) -> u32 {
        self.split_u64(u64::from(total)) as u32
    }

    /// [`split`](Shard::split) of a larger number.
    pub fn split_u64(self, total: u64) -> u64 {
        let count = u64::from(self.count);
        total / count + u64::from(u64::from(self.index) < total % count)
    }

    /// How many of `n` requests this shard's users make, where each of all `users` makes the same number or one more.
    pub fn split_work(self, n: u64, users: u32) -> u64 {
        match u64::from(users) {
            0 => 0,
            users => n / users * self.split_u64(users) + self.split_u64(n % users),
        }
    }

    /// Whether user `u` of a closed group is this shard's: u mod N = i.
    pub fn keeps_user(self, u: u32) -> bool {
        u % self.count == self.index
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_has_one_shard_and_one_part_of_it() {
        let draws = Shard::stream(9);
        for k in 0..500 {
            let mut owners = Vec::new();
            for i in 0..6 {
                let shard = Shard::new(i, 6).unwrap();
                let parts: Vec<u32> = (0..4).filter(|&j| shard.part(j, 4).unwrap().keeps(draws, k)).collect();
                assert_eq!(parts.len(), usize::from(shard.keeps(draws, k)));
                owners.extend(parts);
            }
            assert_eq!(owners.len(), 1);
        }
    }

    #[test]
    fn a_whole_number_splits_evenly_and_completely() {
        for (total, count) in [(10, 3), (2, 2), (64, 64), (65, 64), (7, 1)] {
            let parts: Vec<u32> = (0..count).map(|i| Shard::new(i, count).unwrap().split(total)).collect();
            assert_eq!(parts.iter().sum::<u32>(), total);
            assert!(parts.iter().max().unwrap() - parts.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn work_splits_completely_and_by_users() {
        for (n, users) in [(101, 7), (100, 6), (3, 7), (0, 5), (5, 0)] {
            for count in [1, 2, 3, 8] {
                let shards = (0..count).map(|i| Shard::new(i, count).unwrap());
                let parts: Vec<u64> = shards.clone().map(|shard| shard.split_work(n, users)).collect();
                assert_eq!(
                    parts.iter().sum::<u64>(),
                    if users == 0 { 0 } else { n },
                    "{n} of {users} by {count}"
                );
                for (shard, part) in shards.zip(parts) {
                    let threads = (0..2).map(|j| shard.part(j, 2).unwrap().split_work(n, users));
                    assert_eq!(threads.sum::<u64>(), part, "{n} of {users}, {shard}");
                }
            }
        }
        // Users 1, 3 and 5 of 7 make 14 each, and user 1 one more.
        assert_eq!(Shard::new(1, 2).unwrap().split_work(101, 7), 43);
    }

    #[test]
    fn what_is_no_shard() {
        for bad in ["", "1", "2/2", "0/0", "-1/2", "a/b", "0/65537", "0/2/3"] {
            assert!(Shard::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(Shard::parse("1/4").unwrap().to_string(), "1/4");
    }
}
