//! The time of a target that stands still with the generator, and whether it did.

use super::HoldUp;
use super::block::{Block, View};
use headway_base::Nanos;
use std::cell::Cell;

/// Hold-ups of the generator, and the time that a target has which stands still in them.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// When each began, when it ended, and the length of all before it; as time of the target, its beginning.
    holds: Vec<Hold>,
    /// Length of those that are forgotten.
    before: i64,
    any: bool,
    last: i64,
}

#[derive(Clone, Copy, Debug)]
struct Hold {
    from: i64,
    to: i64,
    before: i64,
}

impl Clock {
    pub fn push(&mut self, hold_up: HoldUp) {
        let from = hold_up.from.0.max(self.last);
        let to = hold_up.from.0.saturating_add(hold_up.length.0);
        if to <= from {
            return;
        }
        let before = self.holds.last().map_or(self.before, |hold| hold.before + hold.to - hold.from);
        self.holds.push(Hold { from, to, before });
        self.last = to;
        self.any = true;
    }

    /// Whether there was any.
    pub fn any(&self) -> bool {
        self.any
    }

    /// What ended before that instant is not asked for any more.
    pub fn forget(&mut self, until: Option<i64>) {
        let Some(until) = until else { return };
        let gone = self.holds.partition_point(|hold| hold.to < until);
        if gone > 0 {
            let last = self.holds[gone - 1];
            self.before = last.before + last.to - last.from;
            self.holds.drain(..gone);
        }
    }

    /// Time of the target, at an instant; `at` is where the last one was found.
    #[inline]
    pub fn within(&self, instant: i64, at: &Cell<usize>) -> i64 {
        let mut i = at.get().min(self.holds.len());
        while self.holds.get(i).is_some_and(|hold| hold.from <= instant) {
            i += 1;
        }
        while i > 0 && self.holds[i - 1].from > instant {
            i -= 1;
        }
        at.set(i);
        match i.checked_sub(1).map(|i| self.holds[i]) {
            None => instant - self.before,
            Some(hold) => instant.min(hold.from) - hold.before + (instant - hold.to).max(0),
        }
    }

    /// The instant of a time of the target.
    #[inline]
    pub fn instant(&self, within: i64, at: &Cell<usize>) -> i64 {
        let mut i = at.get().min(self.holds.len());
        let begun = |hold: &Hold| hold.from - hold.before < within;
        while self.holds.get(i).is_some_and(begun) {
            i += 1;
        }
        while i > 0 && !begun(&self.holds[i - 1]) {
            i -= 1;
        }
        at.set(i);
        match i.checked_sub(1).map(|i| self.holds[i]) {
            None => within + self.before,
            Some(hold) => within + hold.before + hold.to - hold.from,
        }
    }

    /// The last hold-up that began before that instant: from, to.
    pub fn last_before(&self, instant: i64) -> Option<(i64, i64)> {
        let i = self.holds.partition_point(|hold| hold.from < instant).checked_sub(1)?;
        Some((self.holds[i].from, self.holds[i].to))
    }

    fn of(&self, from: i64, to: i64) -> impl Iterator<Item = &Hold> {
        let i = self.holds.partition_point(|hold| hold.from < from);
        self.holds[i..].iter().take_while(move |hold| hold.from < to)
    }
}

/// Whether the target stood still with the generator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StoodStill {
    No,
    Yes,
    Unknown,
}

/// Hold-ups in which responses came, and in how many a working target would have sent some at least.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    due: f64,
    got: f64,
    /// The hold-ups that were looked at began before this instant.
    until: Option<i64>,
}

impl Evidence {
    /// Looks at the hold-ups of a block.
    pub fn add(&mut self, block: &Block, clock: &Clock) {
        let Some((first, last)) = block.span() else { return };
        let mut took: Vec<i64> = block.sample(2_000).map(|i| block.took(i)).collect();
        if took.is_empty() {
            return;
        }
        let mean = took.iter().sum::<i64>() as f64 / took.len() as f64;
        let middle = took.len() / 2;
        let median = *took.select_nth_unstable(middle).1;
        let view = View::plain(block);
        let from = self.until.unwrap_or(first);
        for hold in clock.of(from, last) {
            let (began, ended) = (block.started_before(hold.from), view.ended_before(hold.from + 1));
            let there = began.saturating_sub(ended) as f64;
            let came =
                view.ended_before(hold.to - 1_000).saturating_sub(view.ended_before(hold.from + 1_000));
            let length = hold.to - hold.from;
            self.due += 0.5
                * if length > median {
                    f64::from(u8::from(there > 0.0))
                } else {
                    there * length as f64 / mean
                };
            self.got += f64::from(u8::from(came > 0));
        }
        self.until = Some(last);
    }

    pub fn stood_still(&self) -> StoodStill {
        if self.got > 0.1 * self.due && self.got > 0.0 {
            StoodStill::No
        } else if self.due >= 6.0 && self.got <= 0.02 * self.due {
            StoodStill::Yes
        } else {
            StoodStill::Unknown
        }
    }
}

/// An instant as nanoseconds.
pub(super) const fn ns(at: Nanos) -> i64 {
    at.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_stands_still_has_no_time_in_a_hold_up() {
        let mut clock = Clock::default();
        for (from, length) in [(1_000, 500), (5_000, 1_000)] {
            clock.push(HoldUp { from: Nanos(from), length: Nanos(length) });
        }
        let at = Cell::new(0);
        let within: Vec<i64> =
            [500, 1_000, 1_200, 1_500, 2_000, 5_500, 7_000].map(|t| clock.within(t, &at)).to_vec();
        assert_eq!(within, [500, 1_000, 1_000, 1_000, 1_500, 4_500, 5_500]);
        let back: Vec<i64> = within.iter().map(|&w| clock.instant(w, &at)).collect();
        assert_eq!(back, [500, 1_000, 1_000, 1_000, 2_000, 5_000, 7_000]);
        clock.forget(Some(3_000));
        assert_eq!((clock.within(7_000, &at), clock.instant(5_500, &at)), (5_500, 7_000));
    }
}
