//! Circuit breaker (Nygard 2007, "Release It!", section 5.2).

use headway_base::Nanos;
use headway_workload::model::{Breaker, Trip};

/// The state of one breaker: closed (everything goes through), open (nothing does), and half open (probes do, to see).
///
/// Closed, it counts failures; when they suffice it opens. After its time the next request finds it half open: up to
/// `probes` at once go through; the first of them that fails opens it anew, and as many successes close it, with nothing
/// counted. What was let through before the last change of state says nothing of the new one, and is ignored when it ends.
/// A probe that never ends keeps its place: a breaker before a part that may be silent needs a timeout around it.
#[derive(Clone, Debug)]
pub struct BreakerState {
    settings: Breaker,
    state: State,
    /// How often the state has changed.
    changes: u32,
    failures: Failures,
}

/// The leave that a request has to go through. It is handed back when the request ends: to
/// [`succeeded`](BreakerState::succeeded), [`failed`](BreakerState::failed) or [`called_back`](BreakerState::called_back).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pass(u32);

#[derive(Clone, Copy, Debug)]
enum State {
    Closed,
    Open { until: Nanos },
    HalfOpen { under_way: u32, successes: u32 },
}

/// What is counted while it is closed.
#[derive(Clone, Debug)]
enum Failures {
    /// So many in a row.
    InARow(u32),
    /// The last requests, as bits in a ring: set for failures. Bits of requests that have not come yet are not set.
    Last { ring: Vec<u64>, of: u32, at: u32, failed: u32 },
}

impl Failures {
    fn none(trip: Trip) -> Failures {
        match trip {
            Trip::InARow(_) => Failures::InARow(0),
            Trip::Share { of, .. } => {
                let of = of.max(1);
                Failures::Last { ring: vec![0; of.div_ceil(64) as usize], of, at: 0, failed: 0 }
            }
        }
    }

    fn add(&mut self, failure: bool) {
        match self {
            Failures::InARow(n) => *n = if failure { n.saturating_add(1) } else { 0 },
            Failures::Last { ring, of, at, failed } => {
                let (word, bit) = (&mut ring[*at as usize / 64], 1 << (*at % 64));
                *failed -= u32::from(*word & bit != 0);
                *failed += u32::from(failure);
                *word = if failure { *word | bit } else { *word & !bit };
                *at = if *at + 1 == *of { 0 } else { *at + 1 };
            }
        }
    }

    /// Whether they suffice. More than all cannot fail: a share of 1 takes all.
    fn suffice(&self, trip: Trip) -> bool {
        match (self, trip) {
            (Failures::InARow(n), Trip::InARow(most)) => *n >= most,
            (Failures::Last { of, failed, .. }, Trip::Share { share, .. }) => {
                f64::from(*failed) > share * f64::from(*of) || failed == of
            }
            (Failures::InARow(_), Trip::Share { .. }) | (Failures::Last { .. }, Trip::InARow(_)) => false,
        }
    }
}

impl BreakerState {
    /// Closed, with nothing counted.
    pub fn new(settings: &Breaker) -> BreakerState {
        let failures = Failures::none(settings.trip);
        BreakerState { settings: *settings, state: State::Closed, changes: 0, failures }
    }

    /// Whether a request that comes at `now` may go through; none: it fails at once.
    pub fn allows(&mut self, now: Nanos) -> Option<Pass> {
        if matches!(self.state, State::Open { until } if until <= now) {
            self.change(State::HalfOpen { under_way: 0, successes: 0 });
        }
        match &mut self.state {
            State::Closed => Some(Pass(self.changes)),
            State::Open { .. } => None,
            State::HalfOpen { under_way, .. } => {
                let probe = *under_way < self.settings.probes.max(1);
                *under_way += u32::from(probe);
                probe.then_some(Pass(self.changes))
            }
        }
    }

    /// A request that went through succeeded.
    pub fn succeeded(&mut self, pass: Pass) {
        if pass.0 != self.changes {
            return;
        }
        match &mut self.state {
            State::Closed => self.failures.add(false),
            State::Open { .. } => {}
            State::HalfOpen { under_way, successes } => {
                *under_way -= 1;
                *successes += 1;
                if *successes >= self.settings.probes {
                    self.failures = Failures::none(self.settings.trip);
                    self.change(State::Closed);
                }
            }
        }
    }

    /// A request that went through failed at `now`, or was given up.
    pub fn failed(&mut self, pass: Pass, now: Nanos) {
        if pass.0 != self.changes {
            return;
        }
        let opens = match self.state {
            State::Closed => {
                self.failures.add(true);
                self.failures.suffice(self.settings.trip)
            }
            State::Open { .. } => false,
            State::HalfOpen { .. } => true,
        };
        if opens {
            self.change(State::Open { until: now.saturating_add(self.settings.open) });
        }
    }

    /// A request that went through was cancelled for a reason that says nothing of the part (another answered first).
    pub fn called_back(&mut self, pass: Pass) {
        if let (State::HalfOpen { under_way, .. }, true) = (&mut self.state, pass.0 == self.changes) {
            *under_way -= 1;
        }
    }

    /// Whether it is closed.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    fn change(&mut self, state: State) {
        self.state = state;
        self.changes = self.changes.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaker(trip: Trip, probes: u32) -> BreakerState {
        BreakerState::new(&Breaker { trip, open: Nanos::from_secs(5), probes })
    }

    fn at(s: i64) -> Nanos {
        Nanos::from_secs(s)
    }

    /// One request after the other, each ended at once: + succeeded, - failed, x turned away.
    fn play(breaker: &mut BreakerState, now: Nanos, wanted: &str) {
        for (i, want) in wanted.chars().enumerate() {
            let pass = breaker.allows(now);
            assert_eq!(pass.is_none(), want == 'x', "request {i} of {wanted}");
            match (pass, want) {
                (Some(pass), '+') => breaker.succeeded(pass),
                (Some(pass), _) => breaker.failed(pass, now),
                (None, _) => {}
            }
        }
    }

    #[test]
    fn failures_in_a_row_open_it_and_a_success_closes_it() {
        let mut breaker = breaker(Trip::InARow(3), 1);
        play(&mut breaker, at(0), "--+--+---xx");
        play(&mut breaker, at(4), "x");
        play(&mut breaker, at(5), "-x");
        play(&mut breaker, at(9), "x");
        play(&mut breaker, at(10), "+--+---x");
        assert!(!breaker.is_closed());
    }

    #[test]
    fn a_share_is_of_the_last_requests_alone() {
        let mut breaker = breaker(Trip::Share { share: 0.5, of: 4 }, 1);
        play(&mut breaker, at(0), "--++--+-x");
        play(&mut breaker, at(5), "+--+++--+-x");
    }

    #[test]
    fn before_the_ring_is_full_what_has_not_been_counts_as_a_success() {
        play(&mut breaker(Trip::Share { share: 0.5, of: 4 }, 1), at(0), "---x");
        play(&mut breaker(Trip::Share { share: 1.0, of: 3 }, 1), at(0), "--+---x");
        let mut long = breaker(Trip::Share { share: 0.5, of: 130 }, 1);
        play(&mut long, at(0), &("-".repeat(65) + &"+".repeat(65)));
        // Sixty-five of the last 130 failed throughout, as each new failure takes the place of an old one.
        play(&mut long, at(0), &"-".repeat(65));
        play(&mut long, at(0), "-x");
    }

    #[test]
    fn so_many_probes_at_once_and_so_many_successes() {
        let mut breaker = breaker(Trip::InARow(1), 2);
        play(&mut breaker, at(0), "-x");
        let (first, second) = (breaker.allows(at(5)).unwrap(), breaker.allows(at(5)).unwrap());
        assert_eq!(breaker.allows(at(5)), None);
        breaker.succeeded(first);
        let third = breaker.allows(at(6)).unwrap();
        assert_eq!(breaker.allows(at(6)), None);
        breaker.called_back(third);
        assert!(breaker.allows(at(6)).is_some());
        breaker.succeeded(second);
        assert!(breaker.is_closed());
    }

    #[test]
    fn what_went_through_before_a_change_says_nothing_after_it() {
        let mut breaker = breaker(Trip::InARow(2), 1);
        let old: Vec<Pass> = (0..5).map(|_| breaker.allows(at(0)).unwrap()).collect();
        breaker.failed(old[0], at(1));
        breaker.failed(old[1], at(1));
        breaker.failed(old[2], at(3));
        assert_eq!(breaker.allows(at(5)), None);
        let probe = breaker.allows(at(6)).unwrap();
        breaker.failed(old[3], at(6));
        breaker.called_back(old[3]);
        assert_eq!(breaker.allows(at(6)), None);
        breaker.succeeded(old[4]);
        assert!(!breaker.is_closed());
        breaker.succeeded(probe);
        assert!(breaker.is_closed());
    }
}
