//! Targets in order of their outstanding requests, where only steps of one up or down occur.

use super::counts::Counts;

/// An array sorted by outstanding requests, cut into one bucket per number. A target whose number changes by one trades
/// places with the one at the edge of its bucket, and the edge moves past it: O(1), whatever the numbers are. Within a
/// bucket the order is arbitrary.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    /// The targets, by outstanding requests.
    order: Vec<u32>,
    /// Where each target is in `order`.
    place: Vec<u32>,
    /// Where each bucket begins in `order`; beyond the fullest bucket there are two more, which are empty.
    begin: Vec<u32>,
}

impl Buckets {
    /// So many targets with nothing outstanding.
    pub(super) fn new(targets: u32) -> Buckets {
        let order: Vec<u32> = (0..targets).collect();
        Buckets { place: order.clone(), order, begin: vec![0, targets, targets] }
    }

    /// Those that have the fewest; there is always one.
    #[inline]
    pub(super) fn fewest(&self, counts: &Counts) -> &[u32] {
        let fewest = counts.known(self.order[0]) as usize;
        &self.order[..self.begin[fewest + 1] as usize]
    }

    /// A target that had `before` has one more.
    #[inline]
    pub(super) fn rose(&mut self, target: u32, before: u32) {
        let next = before as usize + 1;
        if self.begin.len() == next + 1 {
            self.begin.push(self.order.len() as u32);
        }
        self.begin[next] -= 1;
        self.swap(target, self.begin[next]);
    }

    /// A target has one less: `after`.
    #[inline]
    pub(super) fn fell(&mut self, target: u32, after: u32) {
        let bucket = after as usize + 1;
        self.swap(target, self.begin[bucket]);
        self.begin[bucket] += 1;
    }

    /// Swaps the target with the one at that place.
    #[inline]
    fn swap(&mut self, target: u32, to: u32) {
        let from = self.place[target as usize];
        let other = self.order[to as usize];
        self.order[to as usize] = target;
        self.order[from as usize] = other;
        self.place[other as usize] = from;
        self.place[target as usize] = to;
    }

    /// Sorted anew.
    pub(super) fn refresh(&mut self, counts: &Counts) {
        let targets = 0..self.order.len() as u32;
        let most = targets.clone().map(|target| counts.known(target)).max().unwrap_or(0) as usize;
        self.begin.clear();
        self.begin.resize(most + 3, 0);
        // How many each bucket has, at the next one's place but one; where that begins; and, as it fills, where it ends.
        targets.clone().for_each(|target| self.begin[counts.known(target) as usize + 2] += 1);
        (1..self.begin.len()).for_each(|i| self.begin[i] += self.begin[i - 1]);
        for target in targets {
            let place = &mut self.begin[counts.known(target) as usize + 1];
            self.order[*place as usize] = target;
            self.place[target as usize] = *place;
            *place += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;

    /// Against a search through all, over a random walk that also sees exchanges.
    #[test]
    fn the_fewest_are_those_of_a_search() {
        let mut counts = Counts::new(13);
        let mut buckets = Buckets::new(13);
        let mut draws = Stream::new(3, "route").item(0);
        for step in 0..20_000 {
            let target = (draws.bits() % 13) as u32;
            if draws.bits().is_multiple_of(2) {
                buckets.rose(target, counts.started(target));
            } else if counts.own(target) > 0 {
                buckets.fell(target, counts.ended(target));
            }
            if step % 1_000 == 999 {
                (0..13).for_each(|t| _ = counts.set_others(t, (draws.bits() % 40) as u32));
                buckets.refresh(&counts);
            }
            let least = (0..13).map(|t| counts.known(t)).min().unwrap();
            let mut found = buckets.fewest(&counts).to_vec();
            found.sort_unstable();
            let truth: Vec<u32> = (0..13).filter(|&t| counts.known(t) == least).collect();
            assert_eq!(found, truth, "step {step}");
        }
    }
}
