//! Which numbers are under way, and what became of those before.

use headway_base::answer::Field;

/// Numbers that are remembered at least.
const FEWEST: u64 = 1 << 10;
/// Numbers that are remembered, and requests under way, at most.
pub(super) const MOST: u64 = 1 << 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Not given to a request.
    Free,
    /// Under way, on that slot.
    Open(u32),
    Answered,
    GivenUp,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u64,
    state: State,
}

const FREE: Entry = Entry { number: 0, state: State::Free };

/// Whose answer a number is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whose {
    /// Of the request on that slot; `reordered`: one with a higher number was answered before (RFC 4737, 3.3).
    Open { slot: u32, reordered: bool },
    /// Of one that was answered before.
    Answered,
    /// Of one that was given up before.
    GivenUp,
    /// Of none that is remembered.
    Nobody,
}

/// Numbers of one socket, in the order that they are given out.
#[derive(Debug)]
pub(super) struct Numbers {
    /// By the low bits of the number.
    entries: Vec<Entry>,
    most: u64,
    /// The bits of a number that a datagram holds.
    held: u64,
    next: u64,
    open: u64,
    /// Above all numbers that were answered.
    answered_below: u64,
    /// The first that was given up after it was sent: its answer may still come.
    suspect: Option<u64>,
}

impl Numbers {
    /// For a field, and at most that many requests under way.
    pub(super) fn new(field: Field, most: u64) -> Numbers {
        let most = most.clamp(1, MOST).min(field.numbers());
        let size = most.next_power_of_two().min(FEWEST).max(FEWEST.min(field.numbers()));
        Numbers {
            entries: vec![FREE; size as usize],
            most,
            held: u64::MAX >> (64 - 8 * u32::from(field.width.clamp(1, 8))),
            next: 0,
            open: 0,
            answered_below: 0,
            suspect: None,
        }
    }

    /// Requests under way at once, at most.
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    fn at(&self, number: u64) -> usize {
        (number & (self.entries.len() as u64 - 1)) as usize
    }

    /// Whether the next number would be written as that of a request which was given up: its late answer would be taken for that to the
    /// next one. From then on the socket is of no more use.
    pub(super) fn are_spent(&self) -> bool {
        self.suspect.is_some_and(|suspect| self.next - suspect > self.held)
    }

    /// A number for the request on that slot, as its datagram has it; none if as many are under way as can be, or if they are spent.
    pub(super) fn take(&mut self, slot: u32) -> Option<u64> {
        if self.open >= self.most {
            return None;
        }
        if self.open * 2 >= self.entries.len() as u64 {
            self.grow();
        }
        // Some are free, since no more than `most` are open.
        while matches!(self.entries[self.at(self.next)].state, State::Open(_)) {
            self.next += 1;
        }
        if self.are_spent() {
            return None;
        }
        let (number, at) = (self.next, self.at(self.next));
        self.entries[at] = Entry { number, state: State::Open(slot) };
        self.next += 1;
        self.open += 1;
        Some(number)
    }

    fn grow(&mut self) {
        let size = (self.entries.len() * 2).min(MOST as usize);
        if size as u64 > self.held.saturating_add(1) || size == self.entries.len() {
            return;
        }
        let entries = std::mem::replace(&mut self.entries, vec![FREE; size]);
        for entry in entries.into_iter().filter(|entry| entry.state != State::Free) {
            let at = self.at(entry.number);
            self.entries[at] = entry;
        }
    }

    /// The slot of the request with that number, as its datagram has it, if it is under way.
    pub(super) fn open(&self, number: u64) -> Option<u32> {
        let entry = &self.entries[self.at(number)];
        match entry.state {
            State::Open(slot) if entry.number & self.held == number & self.held => Some(slot),
            _ => None,
        }
    }

    /// An answer came with that number, as its datagram has it.
    pub(super) fn answered(&mut self, number: u64) -> Whose {
        let (at, held) = (self.at(number), self.held);
        let entry = &mut self.entries[at];
        if entry.state == State::Free || entry.number & held != number & held {
            return Whose::Nobody;
        }
        match entry.state {
            State::Open(slot) => {
                entry.state = State::Answered;
                let reordered = entry.number < self.answered_below;
                self.answered_below = self.answered_below.max(entry.number + 1);
                self.open -= 1;
                Whose::Open { slot, reordered }
            }
            State::GivenUp => {
                // A second one is a duplicate.
                entry.state = State::Answered;
                Whose::GivenUp
            }
            State::Answered => Whose::Answered,
            State::Free => Whose::Nobody,
        }
    }

    /// The request with that number is not waited for any longer. One that was not sent gets no answer.
    pub(super) fn give_up(&mut self, number: u64, sent: bool) {
        let at = self.at(number);
        let entry = &mut self.entries[at];
        if entry.number == number && matches!(entry.state, State::Open(_)) {
            entry.state = State::GivenUp;
            self.open -= 1;
            if sent {
                self.suspect = Some(self.suspect.map_or(number, |first| first.min(number)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn field(width: u8) -> Field {
        Field { offset: 0, width }
    }

    #[test]
    fn what_comes_twice_late_or_out_of_turn() {
        let mut numbers = Numbers::new(field(8), 10);
        let all: Vec<u64> = (0..4).map(|slot| numbers.take(slot).unwrap()).collect();
        assert_eq!(numbers.answered(all[1]), Whose::Open { slot: 1, reordered: false });
        assert_eq!(numbers.answered(all[0]), Whose::Open { slot: 0, reordered: true });
        assert_eq!(numbers.answered(all[1]), Whose::Answered);
        numbers.give_up(all[2], true);
        assert_eq!(numbers.answered(all[2]), Whose::GivenUp);
        assert_eq!(numbers.answered(all[2]), Whose::Answered);
        assert_eq!(numbers.answered(all[3]), Whose::Open { slot: 3, reordered: false });
        assert_eq!(numbers.answered(99), Whose::Nobody);
        assert_eq!(numbers.answered(u64::MAX), Whose::Nobody);
    }

    #[test]
    fn every_bit_of_a_number_counts() {
        for width in 1..=8 {
            let mut numbers = Numbers::new(field(width), 10);
            let number = numbers.take(0).unwrap();
            for bit in 0..8 * u32::from(width) {
                assert_eq!(numbers.answered(number ^ 1 << bit), Whose::Nobody, "bit {bit} of {width} bytes");
            }
            assert_eq!(numbers.answered(number), Whose::Open { slot: 0, reordered: false });
        }
    }

    #[test]
    fn a_small_field_holds_as_many_as_it_tells_apart() {
        let mut numbers = Numbers::new(field(1), 1_000);
        assert_eq!(numbers.most(), 256);
        for slot in 0..256 {
            assert!(numbers.take(slot).is_some());
        }
        assert_eq!(numbers.take(256), None);
        assert_eq!(numbers.answered(7), Whose::Open { slot: 7, reordered: false });
        // Only that one is free again.
        assert_eq!(numbers.take(256).map(|number| number & 0xff), Some(7));
    }

    /// A late answer is not credited to a later request with the same number in its datagram.
    #[test]
    fn a_number_that_was_given_up_is_written_for_no_other_request() {
        for (width, numbers_of_it) in [(1, 256), (2, 65_536)] {
            let mut numbers = Numbers::new(field(width), 10);
            let first = numbers.take(0).unwrap();
            numbers.answered(first);
            let lost = numbers.take(1).unwrap();
            numbers.give_up(lost, true);
            let mut taken = 0;
            while let Some(number) = numbers.take(2) {
                assert_ne!(number & numbers.held, lost & numbers.held);
                numbers.answered(number);
                taken += 1;
            }
            assert_eq!((taken, numbers.are_spent()), (numbers_of_it - 1, true), "{width}");
            // What was not sent has no answer.
            let mut numbers = Numbers::new(field(width), 10);
            let unsent = numbers.take(0).unwrap();
            numbers.give_up(unsent, false);
            for _ in 0..3 * numbers_of_it {
                let number = numbers.take(1).unwrap();
                numbers.answered(number);
            }
        }
    }

    proptest! {
        #[test]
        fn every_number_is_somebodys_once(
            width in 1u8..4,
            most in 1u64..3_000,
            steps in prop::collection::vec((0u8..4, any::<prop::sample::Index>()), 1..4_000),
        ) {
            let mut numbers = Numbers::new(field(width), most);
            let held = field(width).numbers() - 1;
            let (mut open, mut slots) = (BTreeMap::new(), BTreeSet::new());
            for (i, (what, which)) in steps.into_iter().enumerate() {
                match what {
                    0 | 1 => match numbers.take(i as u32) {
                        Some(number) => {
                            prop_assert!(open.insert(number & held, (number, i as u32)).is_none());
                            slots.insert(i as u32);
                        }
                        None => prop_assert!(open.len() as u64 == numbers.most() || numbers.are_spent()),
                    },
                    _ if open.is_empty() => {}
                    _ => {
                        let written = *which.get(&open.keys().copied().collect::<Vec<_>>());
                        let (number, slot) = open.remove(&written).unwrap();
                        if what == 2 {
                            let whose = numbers.answered(written);
                            let is_its = matches!(whose, Whose::Open { slot: s, .. } if s == slot);
                            prop_assert!(is_its, "{:?}", whose);
                        } else {
                            numbers.give_up(number, true);
                            prop_assert_eq!(numbers.answered(written), Whose::GivenUp);
                        }
                        prop_assert_eq!(numbers.answered(written), Whose::Answered);
                    }
                }
            }
        }
    }
}
