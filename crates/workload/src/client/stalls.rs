//! What the world itself did while the connection cap was reached: at times it stood still, or was busy, an answer may have lain
//! there unread, and a connection have been free.
//!
//! A wait at the cap is the generator's doing where stalls took up more than half of it, or where the world was busy for more
//! than four fifths of the time since the cap was reached: else the target's, and the cap's. Deliberately absent: when an answer
//! really came, which nothing tells.

use headway_base::machine::SATURATED;
use headway_base::{Nanos, Rough};

#[derive(Clone, Copy, Debug)]
struct Stall {
    from: Nanos,
    to: Nanos,
    /// Whether a connection came free right after it.
    freed: bool,
}

/// Since the cap was reached.
#[derive(Debug, Default)]
pub(super) struct Stalls {
    all: Vec<Stall>,
    busy: Nanos,
}

impl Stalls {
    pub(super) fn push(&mut self, from: Nanos, to: Nanos) {
        self.all.push(Stall { from, to, freed: false });
    }

    /// A connection came free.
    #[inline]
    pub(super) fn freed(&mut self) {
        self.all.iter_mut().for_each(|stall| stall.freed = true);
    }

    /// All that had happened by `until` is known: what freed no connection by then did no harm.
    #[inline]
    pub(super) fn settle(&mut self, until: Nanos) {
        if !self.all.is_empty() {
            self.all.retain(|stall| stall.freed || stall.to > until);
        }
    }

    /// The cap is reached from now on, or is no more.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.busy = Nanos::ZERO;
    }

    /// The world was busy for so long.
    #[inline]
    pub(super) fn busy(&mut self, length: Nanos) {
        self.busy += length;
    }

    /// How long a wait at the cap, which was reached at `since`, has lasted from `from` to `now`; less what was the generator's
    /// doing.
    #[inline]
    pub(super) fn less(&self, since: Nanos, from: Nanos, now: Nanos) -> Nanos {
        let span = (now - from).max(Nanos::ZERO);
        if self.busy.as_secs_f64() > SATURATED * (now - since).as_secs_f64() {
            return Nanos::ZERO;
        }
        if self.all.is_empty() {
            return span;
        }
        let within = |stall: &Stall| (stall.to.min(now) - stall.from.max(from)).max(Nanos::ZERO);
        let stalled: Nanos = self.all.iter().map(within).sum();
        if stalled.0.saturating_mul(2) > span.0 { (span - stalled).max(Nanos::ZERO) } else { span }
    }
}

/// Most spans that wait to be told.
const MOST_UNTOLD: usize = 64;

/// For how long the world stood still: one span for each row, the longest that no row reports yet. So long ones are reported soon, and
/// those that are left out, if there are more than rows, are the shortest.
#[derive(Debug, Default)]
pub(super) struct Untold {
    /// In order of length.
    spans: Vec<Rough>,
}

impl Untold {
    pub(super) fn push(&mut self, span: Nanos) {
        let span = Rough::from(span);
        if span == Rough::ZERO {
            return;
        }
        let at = self.spans.partition_point(|other| other.to_bits() < span.to_bits());
        self.spans.insert(at, span);
        if self.spans.len() > MOST_UNTOLD {
            self.spans.remove(0);
        }
    }

    #[inline]
    pub(super) fn tell(&mut self) -> Rough {
        self.spans.pop().unwrap_or(Rough::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_spans_are_told_first_and_once() {
        let mut untold = Untold::default();
        (0..200).for_each(|i| untold.push(Nanos::from_micros(500 + i * 7_919 % 200 * 1_000)));
        let told: Vec<Nanos> = (0..70).map(|_| untold.tell().get().unwrap()).collect();
        assert!(told.is_sorted_by(|a, b| a >= b), "{told:?}");
        let spans = told.iter().filter(|span| **span > Nanos::ZERO).count();
        assert_eq!((spans, told[69]), (MOST_UNTOLD, Nanos::ZERO));
        // The 64 longest of 0.5, 1.5, ..., 199.5 ms, each rounded down by a seventeenth at most.
        assert!(told[0] >= Nanos::from_millis(187) && told[63] >= Nanos::from_millis(128), "{told:?}");
    }

    #[test]
    fn a_wait_is_put_down_to_what_took_up_more_of_it() {
        let less = |stalls: &Stalls, from, to| stalls.less(Nanos(0), Nanos(from), Nanos(to)).0;
        let mut stalls = Stalls::default();
        assert_eq!((less(&stalls, 5, 25), less(&stalls, 25, 5)), (20, 0));
        stalls.push(Nanos(10), Nanos(20));
        assert_eq!((less(&stalls, 10, 29), less(&stalls, 10, 30), less(&stalls, 12, 20)), (9, 20, 0));
        stalls.freed();
        stalls.push(Nanos(30), Nanos(34));
        stalls.settle(Nanos(33));
        assert_eq!(less(&stalls, 10, 34), 10);
        stalls.settle(Nanos(34));
        assert_eq!((less(&stalls, 10, 34), less(&stalls, 10, 29)), (24, 9));
        stalls.clear();
        assert_eq!(less(&stalls, 10, 20), 10);
        stalls.busy(Nanos(16));
        assert_eq!((less(&stalls, 10, 20), less(&stalls, 10, 19)), (10, 0));
    }
}
