//! The least of many keys, with its ties, while single keys change.

/// A binary tree over keys in the order of their indices. A node holds the least key below it and how many have it, so
/// that the first, the k-th and the next of the least are found on one way down: O(log n) each, and for a change.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// Node 1 is the root; those below node i are 2i and 2i + 1; the leaves are the upper half.
    nodes: Vec<Node>,
    leaves: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Node {
    least: u64,
    ties: u32,
}

/// A leaf without a key.
const NONE: Node = Node { least: u64::MAX, ties: 0 };

impl Node {
    #[inline]
    fn of(left: Node, right: Node) -> Node {
        let least = left.least.min(right.least);
        let ties = |node: Node| if node.least == least { node.ties } else { 0 };
        Node { least, ties: ties(left) + ties(right) }
    }
}

impl Tournament {
    /// Over these keys, of which there is at least one; all below `u64::MAX`.
    pub(super) fn new(keys: impl ExactSizeIterator<Item = u64>) -> Tournament {
        let leaves = keys.len().next_power_of_two();
        let mut tree = Tournament { nodes: vec![NONE; 2 * leaves], leaves };
        tree.refill(keys);
        tree
    }

    /// All keys anew, as many as before.
    pub(super) fn refill(&mut self, keys: impl ExactSizeIterator<Item = u64>) {
        for (leaf, least) in self.nodes[self.leaves..].iter_mut().zip(keys) {
            *leaf = Node { least, ties: 1 };
        }
        for i in (1..self.leaves).rev() {
            self.nodes[i] = Node::of(self.nodes[2 * i], self.nodes[2 * i + 1]);
        }
    }

    /// Key `index` becomes `key`.
    #[inline]
    pub(super) fn set(&mut self, index: u32, key: u64) {
        let mut i = self.leaves + index as usize;
        self.nodes[i].least = key;
        while i > 1 {
            i /= 2;
            let node = Node::of(self.nodes[2 * i], self.nodes[2 * i + 1]);
            if self.nodes[i] == node {
                return;
            }
            self.nodes[i] = node;
        }
    }

    /// How many keys are the least; at least 1.
    #[inline]
    pub(super) fn ties(&self) -> u32 {
        self.nodes[1].ties
    }

    /// The index of the least key number `rank` (from 0) in order; `rank` is below [`ties`](Tournament::ties).
    #[inline]
    pub(super) fn nth(&self, rank: u32) -> u32 {
        self.down(1, rank)
    }

    /// The first index after `index` with the least key, going round.
    #[inline]
    pub(super) fn after(&self, index: u32) -> u32 {
        let mut i = self.leaves + index as usize;
        while i > 1 {
            if i.is_multiple_of(2) && self.nodes[i + 1].least == self.nodes[1].least {
                return self.down(i + 1, 0);
            }
            i /= 2;
        }
        self.down(1, 0)
    }

    #[inline]
    fn down(&self, from: usize, mut rank: u32) -> u32 {
        let least = self.nodes[1].least;
        let mut i = from;
        while i < self.leaves {
            i *= 2;
            let left = self.nodes[i];
            let there = if left.least == least { left.ties } else { 0 };
            if rank >= there {
                rank -= there;
                i += 1;
            }
        }
        (i - self.leaves) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;

    /// Against a search through all keys.
    #[test]
    fn ties_are_found_in_order_and_going_round() {
        let mut draws = Stream::new(9, "route").item(0);
        for n in [1usize, 2, 3, 7, 8, 9, 64, 65] {
            let mut keys = vec![0u64; n];
            let mut tree = Tournament::new(keys.iter().copied());
            for _ in 0..2_000 {
                let index = (draws.bits() % n as u64) as usize;
                keys[index] = draws.bits() % 3;
                tree.set(index as u32, keys[index]);
                let least = *keys.iter().min().unwrap();
                let truth: Vec<u32> = (0..n).filter(|&i| keys[i] == least).map(|i| i as u32).collect();
                let found: Vec<u32> = (0..tree.ties()).map(|rank| tree.nth(rank)).collect();
                assert_eq!(found, truth);
                let from = (draws.bits() % n as u64) as u32;
                let next = truth.iter().copied().find(|&i| i > from).unwrap_or(truth[0]);
                assert_eq!(tree.after(from), next, "after {from} of {truth:?}");
            }
            let mut anew = tree.clone();
            anew.refill(keys.iter().copied());
            assert_eq!(anew.nodes, tree.nodes);
        }
    }
}
