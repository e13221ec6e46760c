//! How a run stands, as observers are shown it: counts so far, and by label what has ended since the last snapshot.
//!
//! What is by label merges: snapshots of one run, in any order, or those of several machines.

use hdrhistogram::Histogram;
use headway_base::{Kind, Nanos, Outcome, Record};
use headway_workload::redact::Cleared;
use std::collections::BTreeMap;

/// Significant digits of the response times: they are within 0.1 %.
const DIGITS: u8 = 3;
/// Times below a microsecond are not distinguished.
const LOWEST_NS: u64 = 1_000;
/// Longer times count as an hour.
const HIGHEST_NS: u64 = 3_600_000_000_000;

/// How a run stands.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Snapshot {
    /// Counts so far, and response times of the last second.
    pub now: headway_base::Snapshot,
    /// What has ended since the last snapshot; without labels unless an observer wants them
    /// ([`wants_labels`](crate::Observer::wants_labels)).
    pub by_label: ByLabel,
}

/// What a run is on its way to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// The end of its plan.
    Until(Nanos),
    /// So many requests.
    Requests(u64),
    /// The end of work of which nobody knows how much it is.
    Done,
}

impl Goal {
    /// How far a run is, and of how much: milliseconds, or requests.
    pub fn reached(self, now: &headway_base::Snapshot) -> Option<(u64, u64)> {
        let ms = |at: Nanos| (at.0 / 1_000_000).max(0) as u64;
        match self {
            Goal::Until(end) => Some((ms(now.at), ms(end).max(1))),
            Goal::Requests(n) => Some((now.ended, n)),
            Goal::Done => None,
        }
    }
}

/// Requests that ended, by label.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ByLabel {
    /// One for each step, in the order of the steps.
    pub labels: Vec<Ended>,
}

/// Requests of one label that ended. Memory is bounded: at most 200 KiB each.
#[derive(Clone, PartialEq, Debug)]
pub struct Ended {
    /// The label.
    pub label: Cleared,
    /// Response times in nanoseconds of the requests that were sent, within 0.1 %; of one without a response, how long it was
    /// waited for.
    pub response: Histogram<u64>,
    /// How many ended how, those that were not sent among them.
    pub outcomes: BTreeMap<Outcome, u64>,
}

impl Ended {
    fn new(label: &Cleared) -> Ended {
        let response = Histogram::new_with_bounds(LOWEST_NS, HIGHEST_NS, DIGITS);
        Ended {
            label: label.clone(),
            response: response.unwrap_or_else(|error| unreachable!("these bounds are right: {error}")),
            outcomes: BTreeMap::new(),
        }
    }

    fn merge(&mut self, other: &Ended) {
        let merged = self.response.add(&other.response);
        debug_assert!(merged.is_ok(), "all have the same bounds");
        for (outcome, n) in &other.outcomes {
            *self.outcomes.entry(*outcome).or_default() += n;
        }
    }
}

impl ByLabel {
    /// None yet, of these labels.
    pub fn new(labels: &[Cleared]) -> ByLabel {
        ByLabel { labels: labels.iter().map(Ended::new).collect() }
    }

    /// Counts one request; sessions and attempts, which are made of requests, are passed over.
    pub fn record(&mut self, record: &Record) {
        let Some(of) = self.labels.get_mut(usize::from(record.step)) else { return };
        if record.kind != Kind::Request {
            return;
        }
        *of.outcomes.entry(record.outcome).or_default() += u64::from(record.count);
        if !record.is_not_sent() {
            of.response.saturating_record_n(record.response().0.max(0) as u64, u64::from(record.count));
        }
    }

    /// Adds what another has, label by label; labels that are not known yet are taken over.
    pub fn merge(&mut self, other: &ByLabel) {
        for theirs in &other.labels {
            match self.labels.iter_mut().find(|own| own.label == theirs.label) {
                Some(own) => own.merge(theirs),
                None => self.labels.push(theirs.clone()),
            }
        }
    }

    /// What there is, leaving nothing.
    pub(crate) fn take(&mut self) -> ByLabel {
        let taken = self.clone();
        for of in &mut self.labels {
            of.response.reset();
            of.outcomes.clear();
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headway_base::Stamp;

    fn record(step: u16, response: Nanos, outcome: Outcome) -> Record {
        let sent = Stamp::from(Nanos::ZERO);
        Record { started: sent, sent, step, ..Record::never_started(0, Nanos::ZERO, response, outcome) }
    }

    #[test]
    fn two_that_are_merged_are_the_whole() {
        let labels = ["a".into(), "b".into()];
        let (mut first, mut second, mut whole) =
            (ByLabel::new(&labels), ByLabel::new(&labels), ByLabel::new(&labels));
        for i in 0..5_000_i64 {
            let outcome = if i % 50 == 0 { Outcome::Timeout } else { Outcome::Ok };
            let record = record((i % 2) as u16, Nanos(900 * i * i), outcome);
            whole.record(&record);
            if i % 3 == 0 { first.record(&record) } else { second.record(&record) }
        }
        let mut merged = first.clone();
        merged.merge(&second);
        assert_eq!(merged, whole);
        second.merge(&first);
        assert_eq!(second, whole, "in either order");
        assert_eq!(whole.labels[0].response.len(), 2_500);
        assert_eq!(whole.labels[0].outcomes[&Outcome::Timeout], 100);
        let p50 = whole.labels[1].response.value_at_quantile(0.5) as f64;
        assert!((p50 / (900.0 * 2_499.0 * 2_499.0) - 1.0).abs() < 2e-3, "{p50}");
    }

    #[test]
    fn what_was_not_sent_counts_and_has_no_response_time() {
        let mut seen = ByLabel::new(&["a".into()]);
        let unsent = Record::never_started(0, Nanos::ZERO, Nanos::from_secs(1), Outcome::LocalLimit);
        seen.record(&Record { count: 4, ..unsent });
        seen.record(&record(0, Nanos::from_secs(7_200), Outcome::Ok));
        let of = &seen.labels[0];
        assert_eq!((of.outcomes[&Outcome::LocalLimit], of.response.len()), (4, 1));
        assert!(of.response.max() >= 3_600_000_000_000, "two hours count as one");
        assert_eq!(seen.take().labels[0].response.len(), 1);
        assert_eq!((seen.labels[0].response.len(), seen.labels[0].outcomes.len()), (0, 0));
    }
}
