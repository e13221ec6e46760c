//! Failures by outcome, status and message: how many, the first and the last.

use super::first_pass::Read;
use headway_base::{Nanos, Outcome, Record};
use headway_stats::summary::{Audit, FailureKind, MOST_FAILURES};
use headway_workload::redact::Redactor;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Failures being counted. The kinds are bounded by those of messages.
#[derive(Default)]
pub(super) struct Failed {
    kinds: HashMap<(Outcome, u16, u32), Seen>,
}

struct Seen {
    n: u64,
    first: Nanos,
    last: Nanos,
}

impl Failed {
    /// A failed request, in the order of starts.
    pub(super) fn push(&mut self, record: &Record) {
        let at = record.started.get().unwrap_or(record.intended);
        let kind = (record.outcome, record.status, record.repeat);
        let seen = self.kinds.entry(kind).or_insert(Seen { n: 0, first: at, last: at });
        seen.n += u64::from(record.count);
        seen.last = at;
    }

    /// Lists them, the most frequent first.
    pub(super) fn into_audit(self, audit: &mut Audit, read: &Read) {
        let mut kinds: Vec<_> = self.kinds.into_iter().collect();
        kinds.sort_by_key(|(kind, seen)| (Reverse(seen.n), seen.first, *kind));
        audit.more_failures = kinds.len().saturating_sub(MOST_FAILURES) as u64;
        let kind = |((outcome, status, message), seen): ((Outcome, u16, u32), Seen)| FailureKind {
            outcome: outcome.name().to_owned(),
            status,
            message: Redactor::default().clear_foreign(read.message_of(message).unwrap_or_default()),
            n: seen.n,
            first_s: seen.first.as_secs_f64(),
            last_s: seen.last.as_secs_f64(),
        };
        audit.failures = kinds.into_iter().take(MOST_FAILURES).map(kind).collect();
    }
}
