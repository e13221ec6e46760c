//! When what a balancer counts as outstanding is so no more.

use super::flight::NONE;
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
    /// The connection that is answered with it, if one is.
    pub on: u32,
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
    /// Writes one down: its entry.
    #[inline]
    pub(super) fn add(&mut self, at: Nanos, end: End) -> u32 {
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
        entry
    }

    /// Nobody waits for the answer that comes with that entry.
    pub(super) fn forget(&mut self, entry: u32) {
        self.ends[entry as usize].on = NONE;
    }

    /// When the first is due; `Nanos::MAX` for never.
    #[inline]
    pub(super) fn next_at(&self) -> Nanos {
        self.heap.peek().map_or(Nanos::MAX, |Reverse(first)| Nanos((first >> 64) as i64))
    }

    /// The first that is due by `now`, and when.
    #[inline]
    pub(super) fn pop(&mut self, now: Nanos) -> Option<(Nanos, End)> {
        let at = self.next_at();
        if at > now || self.heap.is_empty() {
            return None;
        }
        let Reverse(word) = self.heap.pop()?;
        let entry = word as u32;
        self.free.push(entry);
        Some((at, self.ends[entry as usize]))
    }
}
