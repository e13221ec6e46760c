//! Responses that the simulation has not collected yet.
//!
//! Thousands may be ready at one instant, and the simulation may give up their connections one by one before it has collected them all,
//! so nothing is searched for. A connection that is given up gets a new age, and responses to an older age are
//! skipped.

use crate::steps::step;
use crate::target::Answered;
use headway_base::Nanos;
use std::collections::VecDeque;

/// Answers and when they came, in that order.
#[derive(Clone, Debug, Default)]
pub(super) struct Outbox {
    /// With the age of the connection then. The first is never void.
    answers: VecDeque<(Nanos, Answered, u32)>,
    /// How often each connection has been given up while there were answers.
    ages: Vec<u32>,
}

impl Outbox {
    #[inline]
    fn age(&self, slot: u32) -> u32 {
        step();
        self.ages.get(slot as usize).copied().unwrap_or(0)
    }

    /// An answer comes.
    #[inline]
    pub(super) fn add(&mut self, at: Nanos, answered: Answered) {
        self.answers.push_back((at, answered, self.age(answered.slot)));
    }

    /// When the first came, if any is there.
    #[inline]
    pub(super) fn first_at(&self) -> Option<Nanos> {
        self.answers.front().map(|(at, ..)| *at)
    }

    /// Takes the first.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Answered> {
        let (_, answered, _) = self.answers.pop_front()?;
        self.pass_over();
        Some(answered)
    }

    /// Nobody waits for an answer on that connection any more.
    pub(super) fn gone(&mut self, slot: u32) {
        if self.answers.is_empty() {
            return;
        }
        let slot = slot as usize;
        if self.ages.len() <= slot {
            self.ages.resize(slot + 1, 0);
        }
        self.ages[slot] = self.ages[slot].wrapping_add(1);
        self.pass_over();
    }

    /// Void answers that have come to the front go.
    #[inline]
    fn pass_over(&mut self) {
        while self.answers.front().is_some_and(|(_, answered, age)| *age != self.age(answered.slot)) {
            self.answers.pop_front();
        }
    }

    /// Answers held, void ones among them.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.answers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Outcome;

    fn answer(slot: u32) -> Answered {
        Answered { slot, outcome: Outcome::Ok, status: 200 }
    }

    /// Six hundred thousand responses of one instant, each collected and its connection given up, as the simulation does: in no time, where a
    /// search through those that are left would make a hundred thousand million steps. Others are given up unheard.
    #[test]
    fn those_who_are_gone_are_not_searched_for() {
        let mut outbox = Outbox::default();
        let n = 600_000;
        (0..n).for_each(|slot| outbox.add(Nanos(1), answer(slot)));
        (0..n).filter(|slot| slot % 3 == 1).for_each(|slot| outbox.gone(slot));
        let mut heard = 0;
        while let Some(answered) = outbox.take() {
            assert!(answered.slot % 3 != 1, "{}", answered.slot);
            outbox.gone(answered.slot);
            heard += 1;
        }
        assert_eq!((heard, outbox.held(), outbox.first_at()), (n - n / 3, 0, None));
    }

    #[test]
    fn a_connection_that_is_used_again_hears_its_own_answer() {
        let mut outbox = Outbox::default();
        outbox.add(Nanos(1), answer(0));
        outbox.add(Nanos(2), answer(1));
        outbox.gone(1);
        outbox.add(Nanos(3), answer(1));
        outbox.gone(0);
        assert_eq!(outbox.first_at(), Some(Nanos(3)));
        assert_eq!((outbox.take().map(|answered| answered.slot), outbox.take()), (Some(1), None));
    }
}
