//! Future events within the network, in the order of time; events of the same instant come in the order in which they were
//! added.
//!
//! An entry is 24 bytes in a 4-ary heap. Its subject may be gone when it is due: the receiver checks the
//! life that it was written for. Timers are often void (most responses come in time): their writer reports how many are, and
//! they are swept out when they outnumber the others.

use crate::steps::step;
use dary_heap::QuaternaryHeap;
use headway_base::Nanos;
use std::cmp::Ordering;

/// So many void entries are left lying without a sweep.
const SWEEP_AT: usize = 64;

/// What happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum EventKind {
    /// A job goes on.
    Go,
    /// A job has reached its timeout.
    Late,
    /// A job whose attempts take long makes another.
    Hedge,
    /// A station may have finished a request.
    Check,
    /// A failed request does not count any more.
    Release,
    /// A part goes down or comes up.
    Change,
    /// Copies of a balancer tell each other what they have outstanding.
    Exchange,
}

/// Something that happens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Event {
    pub at: Nanos,
    number: u32,
    pub what: EventKind,
    /// Which job, node, part or entry of a list.
    pub who: u32,
    /// The job's life.
    pub life: u32,
    /// How often a job had waited for attempts.
    pub round: u16,
}

impl Event {
    /// In order of time; of those due at once, as they were written, but where the number wraps.
    #[inline]
    fn key(&self) -> u128 {
        step();
        u128::from(self.at.0 as u64) << 32 | u128::from(self.number)
    }
}

/// The earliest is the greatest, because the heap has its greatest on top.
impl Ord for Event {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// PendingDepartures one by one, because the heap asks these, and they are one comparison each.
impl PartialOrd for Event {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
    #[inline]
    fn lt(&self, other: &Self) -> bool {
        self.key() > other.key()
    }
    #[inline]
    fn le(&self, other: &Self) -> bool {
        self.key() >= other.key()
    }
    #[inline]
    fn gt(&self, other: &Self) -> bool {
        self.key() < other.key()
    }
    #[inline]
    fn ge(&self, other: &Self) -> bool {
        self.key() <= other.key()
    }
}

/// The events to come.
#[derive(Clone, Debug, Default)]
pub(super) struct Events {
    heap: QuaternaryHeap<Event>,
    /// Number of the next, which decides between those due at once.
    next: u32,
    /// Entries that are known to be void.
    void: usize,
}

impl Events {
    #[inline]
    pub(super) fn add(&mut self, at: Nanos, what: EventKind, who: u32, life: u32) {
        self.add_in_round(at, what, who, life, 0);
    }

    #[inline]
    pub(super) fn add_in_round(&mut self, at: Nanos, what: EventKind, who: u32, life: u32, round: u16) {
        self.heap.push(Event { at, number: self.next, what, who, life, round });
        self.next = self.next.wrapping_add(1);
    }

    /// When to look again: nothing happens earlier; `Nanos::MAX` for never.
    #[inline]
    pub(super) fn next_at(&self) -> Nanos {
        self.heap.peek().map_or(Nanos::MAX, |event| event.at)
    }

    /// The first thing that happens by `now`.
    #[inline]
    pub(super) fn pop(&mut self, now: Nanos) -> Option<Event> {
        if self.next_at() > now { None } else { self.heap.pop() }
    }

    /// One more entry is void; those for which `stands` does not hold are swept out when they are many.
    #[inline]
    pub(super) fn is_void(&mut self, stands: impl Fn(&Event) -> bool) {
        self.void += 1;
        if self.void > SWEEP_AT && self.void > self.heap.len() / 2 {
            self.heap.retain(stands);
            self.void = 0;
        }
    }

    /// A void entry came up.
    #[inline]
    pub(super) fn void_came_up(&mut self) {
        self.void = self.void.saturating_sub(1);
    }

    /// Entries held, void ones among them.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.heap.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_small() {
        assert_eq!(size_of::<Event>(), 24);
    }

    #[test]
    fn events_come_in_the_order_of_time_and_at_one_instant_as_written() {
        let mut events = Events::default();
        for (at, who) in [(5, 0), (3, 1), (5, 2), (1, 3), (3, 4), (5, 5)] {
            events.add(Nanos(at), EventKind::Go, who, 0);
        }
        assert_eq!((events.next_at(), events.pop(Nanos(0))), (Nanos(1), None));
        let order: Vec<u32> = std::iter::from_fn(|| events.pop(Nanos(9)).map(|event| event.who)).collect();
        assert_eq!(order, [3, 1, 4, 0, 2, 5]);
    }

    #[test]
    fn void_entries_are_swept_out() {
        let mut events = Events::default();
        for who in 0..1_000 {
            events.add(Nanos(1_000), EventKind::Late, who, 0);
            if who % 10 != 0 {
                events.is_void(|event| event.who % 10 == 0);
            }
            let held = events.held();
            assert!(held <= 2 * (who as usize / 10 + 1) + SWEEP_AT + 10, "{held} after {who}");
        }
    }
}
