//! Targets by their outstanding requests, each number's in the order of the targets, where only steps of one occur.

use super::counts::Counts;

/// Bits in a word.
const WORD: usize = 64;
/// No set.
const NONE: u32 = u32::MAX;

/// One set of targets per number of outstanding requests, each as bits with bits above them: a bit of a layer says that a
/// word of the layer below is not empty. Up to 4,096 targets need two layers, up to 262,144 three; the first of a set, the
/// next after any, and a change touch one word of each. Sets are there while they are not empty, and used again after.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    /// The words of all sets, one after the other.
    words: Vec<u64>,
    /// Where each layer begins in a set, from the targets' own up to a single word.
    layers: Vec<usize>,
    /// Words of a set.
    size: usize,
    /// The set of each number of outstanding requests.
    set_of: Vec<u32>,
    /// Sets that are empty.
    free: Vec<u32>,
    /// The fewest outstanding requests.
    fewest: u32,
    targets: u32,
}

impl Levels {
    /// So many targets with nothing outstanding.
    pub(super) fn new(targets: u32) -> Levels {
        let (mut layers, mut size, mut bits) = (Vec::new(), 0, targets as usize);
        loop {
            layers.push(size);
            bits = bits.div_ceil(WORD);
            size += bits;
            if bits == 1 {
                break;
            }
        }
        let (words, set_of, free) = (Vec::new(), Vec::new(), Vec::new());
        let mut levels = Levels { words, layers, size, set_of, free, fewest: 0, targets };
        levels.refresh(&Counts::new(targets));
        levels
    }

    /// The first of those that have the fewest.
    #[inline]
    pub(super) fn first(&self) -> u32 {
        self.down(self.layers.len(), 0)
    }

    /// The first after `target` of those that have the fewest, going round.
    #[inline]
    pub(super) fn after(&self, target: u32) -> u32 {
        let set = self.fewest_set();
        let mut i = target as usize;
        for (depth, begin) in self.layers.iter().enumerate() {
            let later = (u64::MAX << (i % WORD)) << 1;
            let word = set[begin + i / WORD] & later;
            if word != 0 {
                return self.down(depth, i / WORD * WORD + word.trailing_zeros() as usize);
            }
            i /= WORD;
        }
        self.first()
    }

    /// A target that had `before` has one more.
    #[inline]
    pub(super) fn rose(&mut self, target: u32, before: u32) {
        self.insert(target, before + 1);
        if self.remove(target, before) && before == self.fewest {
            self.fewest = before + 1;
        }
    }

    /// A target has one less: `after`.
    #[inline]
    pub(super) fn fell(&mut self, target: u32, after: u32) {
        self.insert(target, after);
        self.remove(target, after + 1);
        self.fewest = self.fewest.min(after);
    }

    /// Sorted anew.
    pub(super) fn refresh(&mut self, counts: &Counts) {
        self.words.clear();
        self.set_of.clear();
        self.free.clear();
        self.fewest = u32::MAX;
        for target in 0..self.targets {
            let known = counts.known(target);
            self.insert(target, known);
            self.fewest = self.fewest.min(known);
        }
    }

    #[inline]
    fn fewest_set(&self) -> &[u64] {
        let begin = self.set_of[self.fewest as usize] as usize * self.size;
        &self.words[begin..begin + self.size]
    }

    /// The first target below bit `i` of that layer, in the set of the fewest.
    #[inline]
    fn down(&self, depth: usize, mut i: usize) -> u32 {
        let set = self.fewest_set();
        for begin in self.layers[..depth].iter().rev() {
            i = i * WORD + set[begin + i].trailing_zeros() as usize;
        }
        i as u32
    }

    #[inline]
    fn insert(&mut self, target: u32, known: u32) {
        let known = known as usize;
        if self.set_of.len() <= known {
            self.set_of.resize(known + 1, NONE);
        }
        if self.set_of[known] == NONE {
            self.set_of[known] = self.free.pop().unwrap_or_else(|| {
                self.words.resize(self.words.len() + self.size, 0);
                (self.words.len() / self.size - 1) as u32
            });
        }
        let set = &mut self.words[self.set_of[known] as usize * self.size..][..self.size];
        let mut i = target as usize;
        for begin in &self.layers {
            let word = &mut set[begin + i / WORD];
            let before = *word;
            *word |= 1 << (i % WORD);
            if before != 0 {
                return;
            }
            i /= WORD;
        }
    }

    /// Whether it was the last of its set.
    #[inline]
    fn remove(&mut self, target: u32, known: u32) -> bool {
        let slot = self.set_of[known as usize];
        let set = &mut self.words[slot as usize * self.size..][..self.size];
        let mut i = target as usize;
        for begin in &self.layers {
            let word = &mut set[begin + i / WORD];
            *word &= !(1 << (i % WORD));
            if *word != 0 {
                return false;
            }
            i /= WORD;
        }
        self.free.push(slot);
        self.set_of[known as usize] = NONE;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;

    /// Against a search through all, over a random walk that also sees exchanges; one, two and three layers.
    #[test]
    fn the_first_and_the_next_are_those_of_a_search() {
        let mut draws = Stream::new(3, "route").item(0);
        for (n, steps) in [(1, 200), (2, 400), (64, 3_000), (65, 3_000), (200, 8_000), (4_097, 300)] {
            let (mut counts, mut levels) = (Counts::new(n), Levels::new(n));
            for step in 0..steps {
                let target = (draws.bits() % u64::from(n)) as u32;
                if draws.bits() % 8 > 2 {
                    levels.rose(target, counts.started(target));
                } else if counts.own(target) > 0 {
                    levels.fell(target, counts.ended(target));
                }
                if step % 150 == 149 {
                    let free = levels.free.len();
                    assert_eq!(levels.words.len() / levels.size - free, distinct(&counts));
                    (0..n).for_each(|t| _ = counts.set_others(t, (draws.bits() % 3) as u32));
                    levels.refresh(&counts);
                }
                let least = (0..n).map(|t| counts.known(t)).min().unwrap();
                let truth: Vec<u32> = (0..n).filter(|&t| counts.known(t) == least).collect();
                assert_eq!(levels.first(), truth[0]);
                let from = (draws.bits() % u64::from(n)) as u32;
                let next = truth.iter().copied().find(|&t| t > from).unwrap_or(truth[0]);
                assert_eq!(levels.after(from), next, "after {from} of {truth:?}");
            }
        }
    }

    fn distinct(counts: &Counts) -> usize {
        let mut known: Vec<u32> = (0..counts.targets()).map(|t| counts.known(t)).collect();
        known.sort_unstable();
        known.dedup();
        known.len()
    }
}
