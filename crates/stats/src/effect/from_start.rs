//! Loads in which each request is due after a response: a fixed number of users cannot come in bunches.
//!
//! What an undisturbed generator would have measured lies between the response as counted from the start and from the intended instant; a
//! queue that is replayed at the intended instants says nothing here, since these would have been others. Deliberately absent: what the
//! rate would have been.

use super::answers::Answers;
use super::{Basis, Found, Request, Tolerance, range};

/// Finds the effect of the generator's delays on a closed load.
#[derive(Clone, Debug, Default)]
pub struct FromStart {
    measured: Answers,
    starts: Answers,
}

/// The response as counted from the start to when it came, in nanoseconds.
pub(super) fn of(request: &Request) -> i64 {
    (request.answered - request.started).0
}

impl FromStart {
    /// Takes a request, in any order.
    pub fn push(&mut self, request: &Request) {
        if request.counted {
            self.measured.push((request.done - request.intended).0, request.ok);
            self.starts.push(of(request), request.ok);
        }
    }

    /// What was found; none of a load of no requests.
    pub fn finish(&self, tolerance: &Tolerance) -> Option<Found> {
        let measured = self.measured.counts();
        let members = [measured.clone(), self.starts.counts()];
        range::judge(&measured, &members, None, Basis::FromStart, tolerance)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fate, Number};
    use super::*;
    use crate::summary::RuleOutcome;
    use headway_base::Nanos;

    #[test]
    fn both_ends_and_half_of_the_difference() {
        let of = |lag_us: i64| {
            let mut found = FromStart::default();
            for k in 0..5_000 {
                let at = Nanos::from_millis(k);
                let (started, answered) =
                    (at + Nanos::from_micros(lag_us), at + Nanos::from_micros(lag_us + 1_000));
                let request = Request {
                    intended: at,
                    started,
                    answered,
                    done: answered + Nanos::from_micros(10),
                    stamped: true,
                    ok: true,
                    fate: Fate::Served,
                    counted: true,
                };
                found.push(&request);
            }
            found.finish(&Tolerance::default()).unwrap()
        };
        let found = of(200);
        let mean = found.numbers.iter().find(|n| n.number == Number::Mean).unwrap();
        assert_eq!((mean.basis, mean.measured), (Basis::FromStart, 1_210_000.0));
        assert_eq!(mean.undisturbed, [1_000_000.0 - 0.5 * 210_000.0, 1_210_000.0]);
        assert_eq!((found.outcome(), of(20).outcome()), (RuleOutcome::Undecided, RuleOutcome::Pass));
    }
}
