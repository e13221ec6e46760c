//! Closed users who are only turned away: a full station or an open breaker answers at once, and who does not think asks again.
//!
//! A simulation of that is legal, and mostly one of refusals. One rule for a single run and for the points of a study.

use crate::summary::evidence::Model;
use crate::summary::{Finding, Severity};
use headway_redact::Cleared;

/// From this share of refusals on a closed run is one of refusals.
const MOSTLY: f64 = 0.5;
/// Who hears no within so many seconds is turned away at once.
const AT_ONCE_S: f64 = 1e-3;
/// Refusals per second and user that no user brings about who thinks or backs off.
const AGAIN: f64 = 100.0;

/// Requests of closed users that were answered with a failure.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Refusals {
    /// How many.
    pub n: u64,
    /// Of how many requests.
    pub of: u64,
    /// Sum of their response times, in seconds.
    pub sum_s: f64,
    /// User-seconds in which they came about.
    pub user_seconds: f64,
}

impl Refusals {
    /// The finding, without its id, if the run is mostly one of refusals; `by` is the part that turned most of them away.
    pub fn finding(&self, by: Option<&Cleared>) -> Option<Finding> {
        let Refusals { n, of, sum_s, user_seconds } = *self;
        if n == 0 || of == 0 || user_seconds <= 0.0 {
            return None;
        }
        let (share, after, again) = (n as f64 / of as f64, sum_s / n as f64, n as f64 / user_seconds);
        (share >= MOSTLY && after <= AT_ONCE_S && again >= AGAIN).then(|| Finding {
            severity: Severity::Warning,
            evidence: vec![
                Model::TurnedAway { share, by: by.cloned(), after_s: after, per_user_s: again }.into(),
            ],
            value: Some(again),
            limit: Some(AGAIN),
            n,
            ..Finding::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::Evidence;

    #[test]
    fn a_run_is_one_of_refusals_where_most_are_quick_and_many() {
        let of = |n, sum_s, user_seconds| Refusals { n, of: 10_000, sum_s, user_seconds };
        // Nine in ten, after 10 us each, of a user in a second.
        let finding = of(9_000, 0.09, 1.0).finding(Some(&"desk".into())).unwrap();
        let [Evidence::Model(Model::TurnedAway { share, by, after_s, per_user_s })] = &finding.evidence[..]
        else {
            panic!("{finding:?}")
        };
        assert_eq!((*share, by.as_deref(), *per_user_s), (0.9, Some("desk"), 9_000.0));
        assert!((after_s - 1e-5).abs() < 1e-12, "{after_s}");
        assert_eq!((finding.value, finding.n, finding.limit), (Some(9_000.0), 9_000, Some(100.0)));
        assert!(of(5_000, 5.0, 50.0).finding(None).is_some(), "at every bound");
        for none in [
            of(4_999, 0.05, 1.0),
            of(5_000, 5.1, 1.0),
            of(5_000, 0.05, 50.1),
            of(0, 0.0, 1.0),
            of(9_000, 0.09, 0.0),
            Refusals::default(),
        ] {
            assert_eq!(none.finding(None), None, "{none:?}");
        }
    }
}
