//! What is going to happen, in the order of time; of two things due at once, the one written down first comes first.
//!
//! Events belong to slots (connections). Cancelling a slot makes its events void; they are skipped when they come up,
//! and swept out when they are more than the others, so that memory is bounded by what is pending.
//!
//! An event due no earlier than the last one in the lane joins the lane, which is then in order without any work; the
//! others go into a heap. What leaves a queue first come, first served, never sees the heap.
//!
//! Deliberately absent: what the events mean, and the current time.

use crate::steps::step;
use headway_base::Nanos;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// No event is due before it.
const NEVER: Nanos = Nanos(i64::MIN);

/// So many void events are left lying without a sweep.
const SWEEP_AT: usize = 64;

/// A calendar of events of type `E`, each of a slot.
#[derive(Clone, Debug)]
pub struct Calendar<E> {
    /// In the order of time.
    lane: VecDeque<Entry<E>>,
    /// When the last of the lane is due; before all instants where it is empty.
    last: Nanos,
    heap: BinaryHeap<Entry<E>>,
    slots: Vec<Slot>,
    /// When the first event is due, void or not; MAX if there is none.
    first: Nanos,
    /// Number of the next event, which decides between those due at once.
    next: u64,
    /// Events held whose slot has been cancelled since.
    void: usize,
    most_held: usize,
}

/// A slot's part in the calendar.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// How often it has been cancelled.
    life: u32,
    /// Its events that are not void.
    pending: u32,
}

#[derive(Clone, Debug)]
struct Entry<E> {
    at: Nanos,
    number: u64,
    slot: u32,
    life: u32,
    event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> (Nanos, u64) {
        step();
        (self.at, self.number)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The earliest is the greatest, because the heap has its greatest on top.
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> Default for Calendar<E> {
    fn default() -> Calendar<E> {
        Calendar {
            lane: VecDeque::new(),
            last: NEVER,
            heap: BinaryHeap::new(),
            slots: Vec::new(),
            first: Nanos::MAX,
            next: 0,
            void: 0,
            most_held: 0,
        }
    }
}

impl<E> Calendar<E> {
    /// Writes down that `event` happens to `slot` at `at`.
    #[inline]
    pub fn add(&mut self, at: Nanos, slot: u32, event: E) {
        let index = slot as usize;
        if index >= self.slots.len() {
            self.make_room(index);
        }
        let of = &mut self.slots[index];
        of.pending += 1;
        let entry = Entry { at, number: self.next, slot, life: of.life, event };
        self.next += 1;
        self.first = self.first.min(at);
        if self.last <= at {
            self.last = at;
            self.lane.push_back(entry);
        } else {
            self.heap.push(entry);
        }
        self.most_held = self.most_held.max(self.held());
    }

    #[cold]
    fn make_room(&mut self, index: usize) {
        self.slots.resize(index + 1, Slot::default());
    }

    /// When to look again: no event is due earlier; `Nanos::MAX` if none is left.
    #[inline]
    pub fn next_at(&self) -> Nanos {
        self.first
    }

    /// Takes the first event that is due by `now`, with its slot.
    #[inline]
    pub fn pop(&mut self, now: Nanos) -> Option<(u32, E)> {
        while self.first <= now {
            let entry = self.pop_first()?;
            self.note_first();
            let slot = &mut self.slots[entry.slot as usize];
            if slot.life == entry.life {
                slot.pending -= 1;
                return Some((entry.slot, entry.event));
            }
            self.void -= 1;
        }
        None
    }

    /// The first event, void or not.
    #[inline]
    fn pop_first(&mut self) -> Option<Entry<E>> {
        match (self.lane.front(), self.heap.peek()) {
            // The order of entries is that of the heap: the earlier is the greater.
            (Some(lane), Some(heap)) if lane < heap => self.heap.pop(),
            (None, _) => self.heap.pop(),
            (Some(_), _) => {
                let entry = self.lane.pop_front();
                if self.lane.is_empty() {
                    self.last = NEVER;
                }
                entry
            }
        }
    }

    #[inline]
    fn note_first(&mut self) {
        let at = |entry: Option<&Entry<E>>| entry.map_or(Nanos::MAX, |entry| entry.at);
        self.first = at(self.lane.front()).min(at(self.heap.peek()));
    }

    /// Nothing of what was to happen to `slot` will.
    pub fn cancel(&mut self, slot: u32) {
        let Some(of) = self.slots.get_mut(slot as usize).filter(|of| of.pending > 0) else { return };
        self.void += of.pending as usize;
        of.pending = 0;
        of.life = of.life.wrapping_add(1);
        if self.void > SWEEP_AT && self.void > self.held() / 2 {
            let slots = &self.slots;
            let lives = |entry: &Entry<E>| {
                step();
                slots[entry.slot as usize].life == entry.life
            };
            self.lane.retain(lives);
            self.heap.retain(lives);
            self.void = 0;
            self.note_first();
            self.last = self.lane.back().map_or(NEVER, |entry| entry.at);
        }
    }

    /// Events that are going to happen.
    pub fn pending(&self) -> usize {
        self.held() - self.void
    }

    fn held(&self) -> usize {
        self.lane.len() + self.heap.len()
    }

    /// Most events held at once so far, void ones among them.
    pub fn most_held(&self) -> usize {
        self.most_held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::random::Stream;

    #[test]
    fn events_come_in_the_order_of_time_and_at_one_instant_as_written() {
        let mut calendar = Calendar::default();
        for (at, event) in [(5, 'a'), (3, 'b'), (5, 'c'), (1, 'd'), (3, 'e')] {
            calendar.add(Nanos(at), 0, event);
        }
        assert_eq!((calendar.next_at(), calendar.pop(Nanos(0))), (Nanos(1), None));
        let order: String = std::iter::from_fn(|| calendar.pop(Nanos(9)).map(|(_, event)| event)).collect();
        assert_eq!(order, "dbeac");
        assert_eq!((calendar.next_at(), calendar.pending()), (Nanos::MAX, 0));
    }

    #[test]
    fn a_cancelled_slot_loses_its_events_and_no_other_does() {
        let mut calendar = Calendar::default();
        for slot in 0..3 {
            calendar.add(Nanos(10), slot, 1);
            calendar.add(Nanos(20), slot, 2);
        }
        assert_eq!(calendar.pop(Nanos(10)), Some((0, 1)));
        calendar.cancel(1);
        calendar.cancel(7);
        calendar.add(Nanos(15), 1, 3);
        let rest: Vec<_> = std::iter::from_fn(|| calendar.pop(Nanos(99))).collect();
        assert_eq!(rest, [(2, 1), (1, 3), (0, 2), (2, 2)]);
    }

    /// Against a sorted list, over a random mixture of adding, cancelling and taking; and what is held stays within twice
    /// what is pending.
    #[test]
    fn it_agrees_with_a_sorted_list_and_keeps_no_more_than_twice_what_is_pending() {
        let dice = Stream::new(1, "calendar");
        let mut calendar = Calendar::default();
        let mut list: Vec<(Nanos, u64, u32)> = Vec::new();
        let mut now = Nanos::ZERO;
        for k in 0..20_000 {
            let slot = (dice.bits(k, 1) % 500) as u32;
            match dice.bits(k, 0) % 8 {
                0..4 => {
                    let at = now + Nanos((dice.bits(k, 2) % 1_000) as i64);
                    calendar.add(at, slot, k);
                    list.push((at, k, slot));
                }
                4..6 => {
                    calendar.cancel(slot);
                    list.retain(|&(_, _, of)| of != slot);
                }
                _ => {
                    now += Nanos(3);
                    list.sort_unstable();
                    let due = list.first().copied().filter(|&(at, ..)| at <= now);
                    assert_eq!(calendar.pop(now), due.map(|(_, number, slot)| (slot, number)));
                    list.drain(..usize::from(due.is_some()));
                }
            }
            assert_eq!(calendar.pending(), list.len());
            let held = calendar.held();
            assert!(held <= 2 * list.len() + SWEEP_AT + 1, "{held} held, {} pending", list.len());
        }
        assert!(now > Nanos(1_000) && calendar.most_held() > 100);
    }
}
