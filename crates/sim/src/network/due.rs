//! When what a balancer counts as outstanding is so no more.

use base::Nanos;
use dary_heap::QuaternaryHeap;
use std::cmp::Reverse;

/// A request that is outstanding no more.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// At which copy of the balancer.
    pub copy: u32,
    pub target: u32,
    /// How long its answer took; none for one that was called back.
    pub took: Option<Nanos>,
}

/// Ends to come, in the order of time; of two at one instant, the one written down first comes first.
///
/// The heap is one of words (instant, number, entry), so that four of them fit a cache line.
#[derive(Clone, Debug, Default)]
pub(super) struct Due {
    heap: QuaternaryHeap<Reverse<u128>>,
    next: u32,
    ends: Vec<End>,
    free: Vec<u32>,
}

impl Due {
    #[inline]
    pub(super) fn add(&mut self, at: Nanos, end: End) {
        let entry = match self.free.pop() {
            Some(entry) => {
                self.ends[entry as usize] = end;
                entry
            }
            None => {
                self.ends.push(end);
                (self.ends.len() - 1) as u32
            }
        };
        let word = u128::from(at.0 as u64) << 64 | u128::from(self.next) << 32 | u128::from(entry);
        self.next = self.next.wrapping_add(1);
        self.heap.push(Reverse(word));
    }

    /// The first that is due by `now`, and when.
    #[inline]
    pub(super) fn pop(&mut self, now: Nanos) -> Option<(Nanos, End)> {
        let Reverse(first) = self.heap.peek()?;
        let at = Nanos((first >> 64) as i64);
        if at > now {
            return None;
        }
        let Reverse(word) = self.heap.pop()?;
        let entry = word as u32;
        self.free.push(entry);
        Some((at, self.ends[entry as usize]))
    }
}
