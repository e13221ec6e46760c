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

    /// The reasons of all workers together, texts as `hide` leaves them: of each outcome the most frequent ones, and how many
    /// requests failed for others. What a worker had no room for is among the others, also where another one has it.
    pub fn merged<'a>(
        all: impl IntoIterator<Item = &'a FailureReasons>,
        hide: impl Fn(&str) -> String,
    ) -> FailureReasons {
        let mut merged = FailureReasons::default();
        for reasons in all {
            for (&outcome, n) in &reasons.others {
                *merged.others.entry(outcome).or_default() += n;
            }
            for (&outcome, rows) in &reasons.rows {
                let into = merged.rows.entry(outcome).or_default();
                for row in rows {
                    let reason = hide(&row.reason);
                    let key = (row.status, row.kind, reason.as_str());
                    match into
                        .iter_mut()
                        .find(|known| (known.status, known.kind, known.reason.as_str()) == key)
                    {
                        Some(known) => known.n += row.n,
                        None => {
                            into.push(FailureReason { example: hide(&row.example), reason, ..row.clone() })
                        }
                    }
                }
            }
        }
        for (&outcome, rows) in &mut merged.rows {
            // Stable: of as many, those that were met first.
            rows.sort_by_key(|row| std::cmp::Reverse(row.n));
            let rest: u64 = rows.drain(rows.len().min(MOST_REASONS)..).map(|row| row.n).sum();
            if rest > 0 {
                *merged.others.entry(outcome).or_default() += rest;
            }
        }
        merged
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

    fn plain(text: &str) -> String {
        text.to_owned()
    }

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
        let merged = FailureReasons::merged([&reasons], plain);
        assert_eq!(counts(&merged, Outcome::Check), [("a wrong body", 67), ("no token", 22)]);
        let (_, rows) = merged.rows().find(|(of, _)| *of == Outcome::Check).unwrap();
        assert_eq!((rows[0].example.as_str(), rows[0].kind), ("a wrong body, got 22", None));
        let (_, rows) = merged.rows().find(|(of, _)| *of == Outcome::Status).unwrap();
        assert_eq!((rows[0].kind, rows[0].example.as_str()), (Some(KnownFailure::Unauthorized), "no token"));
        assert!(merged.others().is_empty());
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
        let worker = |from: usize| {
            let mut reasons = FailureReasons::default();
            for i in from..from + 40 {
                for _ in 0..=i {
                    reasons.add(CHECK, None, format_args!("reason {i}"), None);
                }
            }
            reasons
        };
        let (a, b) = (worker(0), worker(8));
        assert_eq!(counts(&a, Outcome::Check).len(), MOST_REASONS);
        let merged = FailureReasons::merged([&a, &b], plain);
        let rows = counts(&merged, Outcome::Check);
        // One worker has 0 to 15, the other 8 to 23: 8 to 15 come twice, and 0 to 7 are the rarest.
        assert_eq!((rows.len(), rows[0], rows[15]), (MOST_REASONS, ("reason 15", 32), ("reason 16", 17)));
        let all: u64 = (0..40).chain(8..48).map(|i| i + 1).sum();
        let kept: u64 = rows.iter().map(|(_, n)| n).sum();
        assert_eq!(kept + merged.others()[&Outcome::Check], all);
    }

    #[test]
    fn reasons_which_differ_by_a_secret_are_one() {
        let worker = |secret: &str| {
            let mut reasons = FailureReasons::default();
            reasons.add(CHECK, None, format_args!("wrong {secret}"), None);
            reasons
        };
        let hide = |text: &str| text.replace("hunter2", "<redacted>").replace("swordfish", "<redacted>");
        let merged = FailureReasons::merged([&worker("hunter2"), &worker("swordfish")], hide);
        assert_eq!(counts(&merged, Outcome::Check), [("wrong <redacted>", 2)]);
    }
}
