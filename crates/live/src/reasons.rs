//! Why requests failed, counted by distinct reason in bounded memory.

use headway_base::{KnownFailure, Outcome};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

/// Distinct reasons that are kept of each outcome.
pub const MOST_REASONS: usize = 16;

/// Why requests failed, by outcome: the first reasons that were met, with counts.
#[derive(Clone, Debug, Default)]
pub struct FailureReasons {
    rows: BTreeMap<Outcome, Vec<FailureReason>>,
    /// Requests that failed for other reasons.
    others: BTreeMap<Outcome, u64>,
    /// Holds a reason while it is looked for.
    text: String,
}

/// One reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailureReason {
    /// The status of the responses; 0 without one.
    pub status: u16,
    /// Its kind, where there is advice on it.
    pub kind: Option<KnownFailure>,
    /// What is the same for all requests that failed so.
    pub reason: String,
    /// The first of them: the same, or the reason with what that one met.
    pub example: String,
    /// How many.
    pub n: u64,
}

impl FailureReasons {
    /// Counts a request that failed for this reason; `example` says what it met besides.
    pub fn add(
        &mut self,
        (outcome, status): (Outcome, u16),
        kind: Option<KnownFailure>,
        reason: impl fmt::Display,
        example: Option<String>,
    ) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        // Writing to a text does not fail.
        let _ = write!(text, "{reason}");
        let kind = kind.or_else(|| KnownFailure::of(outcome, status));
        let rows = self.rows.entry(outcome).or_default();
        let known =
            rows.iter().position(|row| (row.status, row.kind) == (status, kind) && row.reason == text);
        match known {
            Some(at) => rows[at].n += 1,
            None if rows.len() < MOST_REASONS => {
                let example = example.unwrap_or_else(|| text.clone());
                rows.push(FailureReason { status, kind, reason: text.clone(), example, n: 1 });
            }
            None => *self.others.entry(outcome).or_default() += 1,
        }
        self.text = text;
    }

    /// The reasons, by outcome.
    pub fn rows(&self) -> impl Iterator<Item = (Outcome, &[FailureReason])> {
        self.rows.iter().map(|(&outcome, rows)| (outcome, rows.as_slice()))
    }

    /// Requests that failed for other reasons than these, by outcome.
    pub fn others(&self) -> &BTreeMap<Outcome, u64> {
        &self.others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK: (Outcome, u16) = (Outcome::Check, 200);

    fn counts(reasons: &FailureReasons, outcome: Outcome) -> Vec<(&str, u64)> {
        let rows = reasons.rows().find(|(of, _)| *of == outcome).map_or(&[][..], |(_, rows)| rows);
        rows.iter().map(|row| (row.reason.as_str(), row.n)).collect()
    }

    #[test]
    fn reasons_are_counted_apart_and_one_example_is_kept() {
        let mut reasons = FailureReasons::default();
        for i in 0..89 {
            let reason = if i < 22 { "no token" } else { "a wrong body" };
            reasons.add(CHECK, None, reason, Some(format!("{reason}, got {i}")));
        }
        reasons.add((Outcome::Status, 401), None, "no token", None);
        assert_eq!(counts(&reasons, Outcome::Check), [("no token", 22), ("a wrong body", 67)]);
        let (_, rows) = reasons.rows().find(|(of, _)| *of == Outcome::Check).unwrap();
        assert_eq!((rows[1].example.as_str(), rows[1].kind), ("a wrong body, got 22", None));
        let (_, rows) = reasons.rows().find(|(of, _)| *of == Outcome::Status).unwrap();
        assert_eq!((rows[0].kind, rows[0].example.as_str()), (Some(KnownFailure::Unauthorized), "no token"));
        assert!(reasons.others().is_empty());
    }

    #[test]
    fn statuses_and_kinds_keep_reasons_apart() {
        let mut reasons = FailureReasons::default();
        reasons.add((Outcome::Check, 200), None, "same", None);
        reasons.add((Outcome::Check, 201), None, "same", None);
        reasons.add((Outcome::Check, 200), Some(KnownFailure::EmptyBody), "same", None);
        assert_eq!(counts(&reasons, Outcome::Check), [("same", 1); 3]);
    }

    #[test]
    fn beyond_the_bound_requests_are_only_counted_and_none_is_lost() {
        let mut reasons = FailureReasons::default();
        for i in 0..40 {
            for _ in 0..=i {
                reasons.add(CHECK, None, format_args!("reason {i}"), None);
            }
        }
        let rows = counts(&reasons, Outcome::Check);
        assert_eq!((rows.len(), rows[15]), (MOST_REASONS, ("reason 15", 16)));
        let kept: u64 = rows.iter().map(|(_, n)| n).sum();
        assert_eq!(kept + reasons.others()[&Outcome::Check], (1..=40).sum::<u64>());
    }
}
