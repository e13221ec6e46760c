//! Answers that come in the order of their requests: those of a single server that is first come first served.

use super::job::NONE;
use crate::steps::step;
use headway_base::Nanos;
use std::collections::VecDeque;

/// Numbers of entries wrap here.
const NUMBERS: u32 = (1 << 31) - 1;

/// A request that the server has, and whose answer comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Served {
    pub came: Nanos,
    /// When its service begins and ends.
    pub begins: Nanos,
    pub departs: Nanos,
    /// When it is answered.
    pub done: Nanos,
    /// On which connection; [`NONE`] if it was abandoned.
    pub slot: u32,
}

/// Answers to come, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct InOrder {
    /// Seen by the books that are closed at the end, and by their tests.
    pub answers: VecDeque<Served>,
    /// Number of the first.
    first: u32,
    /// By connection: number of its last.
    last: Vec<u32>,
}

impl InOrder {
    /// One more comes, no earlier than the others.
    #[inline]
    pub(super) fn add(&mut self, served: Served) {
        debug_assert!(self.answers.back().is_none_or(|last| last.done <= served.done), "{served:?}");
        let slot = served.slot as usize;
        if slot >= self.last.len() {
            self.make_room(slot);
        }
        self.last[slot] = self.first.wrapping_add(self.answers.len() as u32) & NUMBERS;
        self.answers.push_back(served);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, slot: usize) {
        self.last.resize(slot + 1, 0);
    }

    /// When the first comes; `Nanos::MAX` for never.
    #[inline]
    pub(super) fn next_at(&self) -> Nanos {
        self.answers.front().map_or(Nanos::MAX, |first| first.done)
    }

    /// Takes the first.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Served> {
        step();
        let served = self.answers.pop_front()?;
        self.first = self.first.wrapping_add(1) & NUMBERS;
        Some(served)
    }

    /// Nobody waits on that connection any more.
    pub(super) fn forget(&mut self, slot: u32) {
        step();
        let Some(last) = self.last.get(slot as usize) else { return };
        let place = last.wrapping_sub(self.first) & NUMBERS;
        if let Some(served) = self.answers.get_mut(place as usize).filter(|served| served.slot == slot) {
            served.slot = NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also where numbers wrap, and for connections that wait for nothing.
    #[test]
    fn they_come_in_order_but_for_those_nobody_waits_for() {
        let at = |done: i64, slot: u32| {
            let done = Nanos(done);
            Served { came: Nanos::ZERO, begins: Nanos::ZERO, departs: done, done, slot }
        };
        let mut answers = InOrder { first: NUMBERS - 1, ..InOrder::default() };
        (0..5).for_each(|slot| answers.add(at(i64::from(slot) / 2, slot)));
        assert_eq!(answers.pop(), Some(at(0, 0)));
        [1, 3, 0, 9].into_iter().for_each(|slot| answers.forget(slot));
        assert_eq!(answers.next_at(), Nanos(0));
        answers.add(at(3, 1));
        answers.forget(4);
        let rest: Vec<_> = std::iter::from_fn(|| answers.pop()).collect();
        assert_eq!(rest, [at(0, NONE), at(1, 2), at(1, NONE), at(2, NONE), at(3, 1)]);
        assert_eq!((answers.next_at(), answers.first), (Nanos::MAX, 4));
    }
}
